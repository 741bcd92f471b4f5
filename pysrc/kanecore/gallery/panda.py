# SPDX-License-Identifier: BSD-3-Clause
"""Panda, an arm with seven joints and a hand with two fingers, of Franka Emika.

Source: the URDF file of franka_description, https://github.com/frankaemika/franka_ros, as example-robot-data ships it;
robots/panda.urdf says what was left out.  The second finger mimics the first.  Licence of the data: Apache-2.0,
Copyright 2023 Franka Robotics GmbH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import robot_file
from ._dimensions import of_hinges, of_parameters, of_sliders

if TYPE_CHECKING:
    from kanecore.model import Model

NUMBERS_HAVE_UNITS = True

READY = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
"""Angles of the arm, bent, the hand pointing down."""

ARM = tuple(f"panda_joint{i}" for i in range(1, 8))
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")


def build() -> Model:
    """The arm with joint rates as speeds, efforts as inputs, and masses, mass centres and inertias as parameters."""
    from kanecore.model import Model

    return Model.from_urdf(robot_file("panda"), parameters=True)


STATE = (
    {f"q_{joint}": angle for joint, angle in zip(ARM, READY, strict=True)}
    | {f"q_{FINGERS[0]}": 0.02}
    | {f"u_{joint}": 0.0 for joint in (*ARM, FINGERS[0])}
)


def __getattr__(name: str) -> dict[str, Any]:
    """PARAMETERS and DIMENSIONS, read from the file when they are asked for: that takes SymPy, STATE does not."""
    if name == "PARAMETERS":
        value: dict[str, Any] = dict(build().values)
    elif name == "DIMENSIONS":
        value = of_hinges(ARM) | of_sliders(FINGERS) | of_parameters(build().values)
        del value[f"q_{FINGERS[1]}"], value[f"u_{FINGERS[1]}"]  # it follows the other
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
