# SPDX-License-Identifier: BSD-3-Clause
"""Explicit loads of cables, of contacts, and of friction of joints, in this order.

Each kind may depend on the loads of earlier kinds: friction depends on the reactions of joints to all other loads.
"""

from __future__ import annotations

from kanecore.derive.forces.contact_forces import with_contacts
from kanecore.derive.forces.friction_torques import with_joint_friction
from kanecore.derive.forces.tendons import with_tendons
from kanecore.describe.description import Description

__all__ = ["explicit_loads"]


def explicit_loads(d: Description) -> Description:
    """The description in which tendons, contacts and joint frictions are replaced by their loads, states and outputs.

    Raises
    ------
    ModelError
        A load has no direction, a load cannot be made for a contact or a joint, or names clash.
    """
    return with_joint_friction(with_contacts(with_tendons(d)))
