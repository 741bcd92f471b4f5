# SPDX-License-Identifier: BSD-3-Clause
"""Loads in place of their makers: of cables, of contacts, of friction of joints, in this order.

Each may stand on loads of those before, and friction on the reactions of joints under all of them.
"""

from __future__ import annotations

from kanecore.derive.forces.contact_forces import with_contacts
from kanecore.derive.forces.friction_torques import with_joint_friction
from kanecore.derive.forces.tendons import with_tendons
from kanecore.describe.description import Description

__all__ = ["explicit_loads"]


def explicit_loads(d: Description) -> Description:
    """The description without tendons, contacts and frictions of joints, whose loads, states and outputs it holds.

    Raises
    ------
    ModelError
        A load has no direction, a contact or a joint is none that a load can be made for, or names clash.
    """
    return with_joint_friction(with_contacts(with_tendons(d)))
