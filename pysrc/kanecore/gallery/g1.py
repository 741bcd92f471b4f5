# SPDX-License-Identifier: BSD-3-Clause
"""G1, a humanoid with 29 joints, of Unitree.

Source: the URDF file of https://github.com/unitreerobotics/unitree_ros, robots/g1_description, as example-robot-data
ships it; robots/g1.urdf says what was left out.  Nothing holds the feet: what does is a matter of ``loops=`` or of
forces.  Licence of the data: BSD-3-Clause, Copyright (c) Unitree Robotics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import robot_file
from ._dimensions import FLOATING_BASE, of_hinges

if TYPE_CHECKING:
    from kanecore.model import Model

NUMBERS_HAVE_UNITS = True

PARAMETERS: dict[str, float] = {}

_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
JOINTS = (
    *(f"{side}_{joint}_joint" for side in ("left", "right") for joint in _LEG),
    *(f"waist_{joint}_joint" for joint in ("yaw", "roll", "pitch")),
    *(f"{side}_{joint}_joint" for side in ("left", "right") for joint in _ARM),
)

#: Angles that stand, on level feet, the forearms lifted; the others are zero.
STANDING = {
    **dict.fromkeys(("left_hip_pitch_joint", "right_hip_pitch_joint"), -0.1),
    **dict.fromkeys(("left_knee_joint", "right_knee_joint"), 0.3),
    **dict.fromkeys(("left_ankle_pitch_joint", "right_ankle_pitch_joint"), -0.2),
    **dict.fromkeys(("left_elbow_joint", "right_elbow_joint"), 0.9),
    "left_shoulder_roll_joint": 0.2,
    "right_shoulder_roll_joint": -0.2,
}

DIMENSIONS = FLOATING_BASE | of_hinges(JOINTS)

STATE = (
    dict.fromkeys((name for name in DIMENSIONS if name[0] in "qu"), 0.0)
    | {"q_base_z": 0.7842, "q_base_e0": 1.0}
    | {f"q_{joint}": angle for joint, angle in STANDING.items()}
)


def build() -> Model:
    """The robot on a floating base, torques of the joints as inputs; masses and inertias are numbers."""
    from kanecore.model import Model

    return Model.from_urdf(robot_file("g1"), floating_base=True)
