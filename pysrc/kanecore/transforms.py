# SPDX-License-Identifier: BSD-3-Clause
"""Links that homogeneous transforms place, and loads on them, for `kanecore.Model.from_transforms`."""

from __future__ import annotations

from kanecore.describe.from_transforms.homogeneous_transforms import Link, angular_velocity_matrix, dh, link_pose
from kanecore.describe.from_transforms.link_loads import LinkLoad

__all__ = ["Link", "LinkLoad", "angular_velocity_matrix", "dh", "link_pose"]
