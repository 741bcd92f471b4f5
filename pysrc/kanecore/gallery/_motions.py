# SPDX-License-Identifier: BSD-3-Clause
"""The motion that each mechanism of the gallery is shown in: on its page of the documentation, and live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kanecore as kc

__all__ = ["MOTIONS", "Motion"]


@dataclass(frozen=True)
class Motion:
    """Where a mechanism starts, how long it is watched, and from where.

    Attributes
    ----------
    end : float
        Seconds of the motion.
    start : dict
        Coordinates and speeds by name; others are those of the module's STATE, or zero.
    inputs : dict
        Values or signals by name; others are zero.
    view : optional
        As of ``draw``.
    ground : float, optional
        Height of the ground of a live page, m.
    follow : str, optional
        The body in the middle of a live page.
    text : str, optional
        Words of a live page.
    plotted : sequence of str, optional
        What is plotted over time, states and outputs by name.  Default: the coordinates.
    parameters : dict
        Values by name, in place of the module's.
    hold : dict, optional
        The state near which a live page holds the mechanism by feedback, as ``start`` says it.
    units : dict, optional
        Units by name, where a module does not write them with its numbers.
    """

    end: float
    start: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    view: Any = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    hold: Mapping[str, float] | None = None
    units: Mapping[str, Any] | None = None
    ground: float | None = None
    follow: str | None = None
    text: str | None = None
    plotted: Sequence[str] = ()


def _bent(*angles: float) -> dict[str, float]:
    return {f"q{i}": angle for i, angle in enumerate(angles, 1)}


TURN = kc.Signal([0.0, 1.0, 2.0], [[0.6], [1.8], [3.0]], kind="cubic")
TIMES, SHAKE = np.linspace(0.0, 8.0, 401), 2 * np.pi / 3.6  # three waves in 3.6 s, after a rest
WAVES = SHAKE * np.clip(TIMES - 0.4, 0.0, 3.6)
PARTS = ((3, 2), (4, -1), (2, -1))
TABLE = {  # 0.12 sin 3w sin² w/2 and its rates, exactly zero at the start
    "s": 0.03 * sum(c * np.sin(k * WAVES) for k, c in PARTS),
    "s_d": 0.03 * SHAKE * sum(c * k * np.cos(k * WAVES) for k, c in PARTS),
    "s_dd": -0.03 * SHAKE**2 * sum(c * k**2 * np.sin(k * WAVES) for k, c in PARTS),
}
TOUCHING = "Without its contacts, since a page computes no impacts: a film of kc.Modes shows the motion with them."
LEAP = {"u_base_x": 0.5, "u_base_z": 2.5}
MOTIONS = {
    "rrp": Motion(0.4, {"theta1": 0.5, "theta2": 0.6, "d3": 0.6, "omega1": 1.0, "v3": 1.5}, view=(20, 15)),
    "rotating_tube": Motion(2.0, {"q1": 0.1, "q2": 0.15}, {"theta": TURN}, view="y-x"),
    "double_pendulum": Motion(4.0, {"q1": 1.5, "q2": -0.3}),
    "rod_gravity": Motion(7e3, {"q2": 7e6, "q3": 1.0, "u1": 1.1e-3, "u3": 1.1e-3}, parameters={"L": 3e6}),
    "two_rods": Motion(2.0, {"q1": 0.4, "q2": 0.6}, view=(20, 30, "-x")),
    "wire_particle": Motion(2.0, {"theta": 2.0}, view="y-x"),
    "cart_pendulum": Motion(2.0, {"q0": 0.2, "q1": 1.2, "q2": 1.9, "q3": 1.4}),
    "cart_pole": Motion(4.0, {"x": 0.2, "theta": 2.8}),
    "furuta_pendulum": Motion(2.0, {"theta1": 0.6, "theta2": 2.8}, view=(20, -65), hold={"theta2": np.pi}),
    "spinning_top": Motion(2.0, {"phi": 0.8, "theta": 0.5, "u3": 150.0}, view=(20, -65)),
    "spherical_pendulum": Motion(4.0, {"theta": 0.7, "phi": 0.5}, view=(15, -65)),
    "kepler": Motion(2.4e4, {"r": 246.0, "w": 6.8e-4}),
    "rotating_hoop": Motion(1.5, {"theta": 0.9}, view=(10, -75)),
    "gyroscope": Motion(2.0, {"theta": 0.5, "u1": 0.5, "u2": 1.0, "u3": 6.0}),
    "arm7": Motion(1.0, _bent(0.4, 0.9, 0.2, -1.2, 0.3, 0.8, 0.0), view=(20, -65)),
    "planar_2r": Motion(2.0, _bent(0.4, 0.9)),
    "ur5e": Motion(1.0, _bent(0.3, -1.1, 1.4, -0.6, 0.4, 0.0), view=(20, -65)),
    "puma560": Motion(1.0, _bent(0.3, 0.8, -2.2, 0.3, 0.5, 0.0), view=(20, -65)),
    "iiwa14": Motion(1.0, _bent(0.4, 0.9, 0.2, -1.2, 0.3, 0.8, 0.0), view=(20, -65)),
    "panda": Motion(1.0, view=(20, -65)),
    "anymal_c": Motion(0.6, LEAP | {"u_LF_KFE": 2.0, "u_RF_KFE": 2.0, "u_base_ry": -1.0}, view=(15, -65)),
    "g1": Motion(0.6, LEAP | {"u_left_hip_pitch_joint": -3.0, "u_right_hip_pitch_joint": 3.0}, view=(10, -40)),
    "cheetah": Motion(
        0.6,
        {"u_rootx": 2.0, "u_rootz": 2.5, "q_bthigh": -0.4, "q_fthigh": -0.6, "q_fshin": 0.5, "u_rooty": -1.0},
        follow="torso",
    ),
    "free_body": Motion(0.7, {"w1": 0.3, "w2": 8.0, "w3": 0.1, "v1": 1.0, "v3": 3.5}),
    "quadrotor": Motion(
        0.4,
        {"e0": 1.0, "e1": 0.2, "e2": 0.1, "w3": 3.0},
        dict.fromkeys(("F1", "F2", "F3", "F4"), 0.08),
        hold={"e0": 1.0},
    ),
    "biped": Motion(
        0.3,
        {
            "x": 0.3,
            "z": 0.85,
            "pitch": 0.1,
            "hip_left": -0.5,
            "knee_left": 0.3,
            "ankle_left": 0.1,
            "hip_right": 0.3,
            "knee_right": 0.4,
            "ankle_right": 0.3,
        },
    ),
    "tree30": Motion(0.6, {f"q{i}": 0.2 for i in range(1, 31)}, view=(15, -30)),
    "chain40": Motion(2.0, {f"q{i}": 0.06 for i in range(1, 41)}),
    "rolling_disc": Motion(3.0, view=(20, -65), ground=0.0, follow="disc"),
    "ball_turntable": Motion(6.0),
    "chaplygin_sleigh": Motion(4.0),
    "knife_edge": Motion(4.0),
    "snakeboard": Motion(4.0),
    "whipple_bicycle": Motion(0.6, view=(10, 75, "-z"), ground=0.0, follow="rear_frame"),
    "car": Motion(4.0),
    "appell_hamel": Motion(1.0),
    "constant_speed_particle": Motion(1.0),
    "rrp_redundant": Motion(0.4, view=(20, 15), hold={}),
    "four_bar": Motion(4.0),
    "slider_crank": Motion(2.0),
    "five_bar": Motion(1.0),
    "five_bar_bodies": Motion(1.0),
    "andrews_squeezer": Motion(0.05),
    "hoberman_ring": Motion(4.0, plotted=("radius", "turning")),
    "bricard": Motion(6.0, view=(20, -60)),
    "stewart": Motion(0.3, view=(15, -65), hold={}),
    "stewart_platform": Motion(0.3, view=(15, -65), hold={}),
    "woodpecker": Motion(
        0.3, {"phi_M": -0.0006 / 0.0058, "phi_S": -0.2788, "v": -0.3411, "omega_S": -7.4583}, text=TOUCHING
    ),
    "rocking_block": Motion(
        8.0, {"y": 0.9}, {name: kc.Signal(TIMES, s, kind="cubic") for name, s in TABLE.items()}, text=TOUCHING
    ),
    "capture": Motion(
        16.0,
        {"x_1": -2.4, "y_1": -0.2, "theta_1": 0.85, "v_x1": 0.25, "omega_1": -0.2, "omega_2": 0.02},
        text=TOUCHING,
    ),
}
