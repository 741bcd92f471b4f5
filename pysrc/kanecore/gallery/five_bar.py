# SPDX-License-Identifier: BSD-3-Clause
"""Five-bar linkage: a planar parallel robot with two driven rods on the ground and two that meet at the tool.

Source: X.-J. Liu, J. Wang & G. Pritschow, "Kinematics, singularity and workspace of planar 5R symmetrical parallel
mechanisms", *Mechanism and Machine Theory* 41 (2006) 145-169; masses are added and the numbers are this project's.
Rods 1 and 2 in series start at the origin, rods 3 and 4 at (d, 0); the loop is cut at the tool, where 2 and 4 meet.
The coordinates are joint angles: q1 and q3 from n_x, q2 and q4 from the rod before; gravity along -n_y.  Torques tau1
and tau3 drive rods 1 and 3.  Where rods 2 and 4 are in line q2 and q4 cease to follow from q1 and q3, but another pair
decides.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import chain
from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "d": 0.3,
    "L1": 0.35,
    "L2": 0.55,
    "L3": 0.35,
    "L4": 0.55,
    "m1": 0.7,
    "m2": 0.6,
    "m3": 0.7,
    "m4": 0.6,
}

STATE = {
    "q1": 2.2,
    "q3": 0.9,
    "q2": -1.3592876162755987,
    "q4": 1.3765308175931454,
    "u1": 0.6,
    "u3": -0.4,
    "u2": -0.8815102572286933,
    "u4": 0.7919571525644077,
}

DIMENSIONS = (
    of("m1 m2 m3 m4", MASS)
    | of("L1 L2 L3 L4 d", LENGTH)
    | of("g", ACCELERATION)
    | of("q1 q2 q3 q4", ANGLE)
    | of("u1 u2 u3 u4", RATE)
    | of("tau1 tau3", TORQUE)
)


def build() -> Model:
    """The robot with the torques at its two driven rods as inputs; outputs: where its tool is."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("q1:5"), me.dynamicsymbols("u1:5")
    torques = me.dynamicsymbols("tau1 tau3")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    pivot = origin.locatenew("D", sm.Symbol("d") * ground.x)
    left = chain(ground, origin, (1, 2), q[:2], u[:2], relative=True)
    right = chain(ground, pivot, (3, 4), q[2:], u[2:], relative=True)
    gap, tool = left.end.pos_from(right.end), left.end.pos_from(origin)
    return Model(
        ground,
        [q[0], q[2]],
        [u[0], u[2]],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        q_dependent=[q[1], q[3]],
        configuration_constraints=[gap.dot(ground.x), gap.dot(ground.y)],
        u_dependent=[u[1], u[3]],
        bodies=[*left.bodies, *right.bodies],
        attach={
            i: (left.bodies[-1], left.end, right.bodies[-1], right.end, e) for i, e in enumerate((ground.x, ground.y))
        },
        forcelist=[
            *left.loads,
            *right.loads,
            (left.frames[0], torques[0] * ground.z),
            (right.frames[0], torques[1] * ground.z),
        ],
        inputs=torques,
        outputs={"tool_x": tool.dot(ground.x), "tool_y": tool.dot(ground.y)},
        shapes=left.shapes | right.shapes,
        name="five_bar",
    )
