# SPDX-License-Identifier: BSD-3-Clause
"""ANYmal C, a robot with four legs of three joints each, of ANYbotics.

Source: the URDF file of https://github.com/ANYbotics/anymal_c_simple_description, as example-robot-data ships it;
robots/anymal_c.urdf says what was left out.  Nothing holds the feet: what does is a matter of ``loops=`` or of forces.
Licence of the data: BSD-3-Clause, Copyright 2020, ANYbotics AG.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import robot_file
from ._dimensions import FLOATING_BASE, of_hinges

if TYPE_CHECKING:
    from kanecore.model import Model

NUMBERS_HAVE_UNITS = True

PARAMETERS: dict[str, float] = {}

#: Angles of abduction, hip and knee that stand, and the legs: left or right, fore or hind.
STANDING = {"LF": (-0.1, 0.7, -1.0), "RF": (0.1, 0.7, -1.0), "LH": (-0.1, -0.7, 1.0), "RH": (0.1, -0.7, 1.0)}
JOINTS = tuple(f"{leg}_{joint}" for leg in STANDING for joint in ("HAA", "HFE", "KFE"))

DIMENSIONS = FLOATING_BASE | of_hinges(JOINTS)

STATE = (
    dict.fromkeys((name for name in DIMENSIONS if name[0] in "qu"), 0.0)
    | {"q_base_z": 0.5406, "q_base_e0": 1.0}
    | {
        f"q_{joint}": angle
        for joint, angle in zip(JOINTS, (angle for leg in STANDING.values() for angle in leg), strict=True)
    }
)


def build() -> Model:
    """The robot on a floating base, torques of the joints as inputs; masses and inertias are numbers."""
    from kanecore.model import Model

    return Model.from_urdf(robot_file("anymal_c"), floating_base=True)
