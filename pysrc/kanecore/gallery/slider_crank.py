# SPDX-License-Identifier: BSD-3-Clause
"""Slider-crank: crank and connecting rod, uniform, and a piston on a horizontal guide.

Source: the mechanism of engines as in textbooks, for instance J. J. Uicker, G. R. Pennock & J. E. Shigley, *Theory of
Machines and Mechanisms*, Oxford 2003; its numbers are this project's.  The crank (1) turns about the origin; the
piston, a particle of mass ms at the end of the connecting rod (2), stays on n_x.  The guide is cut, and the multiplier
is its force along n_y on the piston.  Angles from n_x, gravity along -n_y.  Inputs are a torque tau on the crank and a
force F of the gas along n_x on the piston.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import chain
from ._dimensions import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"g": 9.81, "L1": 0.15, "L2": 0.5, "m1": 0.8, "m2": 1.3, "ms": 0.9}

STATE = {
    "q1": 0.8,
    "q2": -0.21690361472599184,
    "u1": 12.0,
    "u2": -2.5683238519975027,
}

DIMENSIONS = (
    of("m1 m2 ms", MASS)
    | of("L1 L2", LENGTH)
    | of("g", ACCELERATION)
    | of("q1 q2", ANGLE)
    | of("u1 u2", RATE)
    | of("F", FORCE)
    | of("tau", TORQUE)
)


def build() -> Model:
    """The slider-crank with the angle of the connecting rod dependent on that of the crank."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    torque, force = me.dynamicsymbols("tau F")
    g, mass = sm.symbols("g ms")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    rods = chain(ground, origin, (1, 2), q, u)
    piston = me.Particle("piston", rods.end, mass)
    return Model(
        ground,
        q[:1],
        u[:1],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        q_dependent=q[1:],
        configuration_constraints=[rods.end.pos_from(origin).dot(ground.y)],
        u_dependent=u[1:],
        bodies=[*rods.bodies, piston],
        attach={0: (piston, rods.end, ground, origin, ground.y)},
        forcelist=[
            *rods.loads,
            (rods.end, force * ground.x - mass * g * ground.y),
            (rods.frames[0], torque * ground.z),
        ],
        outputs={"stroke": rods.end.pos_from(origin).dot(ground.x)},
        shapes=rods.shapes,
        name="slider_crank",
    )
