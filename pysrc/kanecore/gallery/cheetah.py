# SPDX-License-Identifier: BSD-3-Clause
"""Half of a cheetah that runs in a plane: a back leg and a front leg, whose joints have springs, dampers and armature.

Source: the MJCF file of the DeepMind Control Suite (Tassa et al. 2018, arXiv 1801.00690), dm_control/suite/cheetah.xml
of https://github.com/google-deepmind/dm_control, after Wawrzyński 2009; robots/cheetah.xml says what was left out.
Nothing holds the feet: what does is a matter of ``contacts=``.  Licence of the data: Apache-2.0, Copyright 2017 The
dm_control Authors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import robot_file
from ._dimensions import ANGLE, LENGTH, NUMBER, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

NUMBERS_HAVE_UNITS = True

PARAMETERS: dict[str, float] = {}

LEGS = ("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot")

DIMENSIONS = (
    of("q_rootx q_rootz", LENGTH)
    | of("u_rootx u_rootz", VELOCITY)
    | {f"q_{joint}": ANGLE for joint in ("rooty", *LEGS)}
    | {f"u_{joint}": RATE for joint in ("rooty", *LEGS)}
    | dict.fromkeys(LEGS, NUMBER)
)


def build() -> Model:
    """The cheetah, torques in units of their gears as inputs; outputs: the forces of the motors."""
    from kanecore.describe.mjcf_compiler.mjcf_compiler import compile_mjcf
    from kanecore.model import Model

    return Model.from_mjcf(compile_mjcf(robot_file("cheetah")))  # the same bits with MuJoCo and without
