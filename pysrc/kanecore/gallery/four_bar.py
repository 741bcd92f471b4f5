# SPDX-License-Identifier: BSD-3-Clause
"""Four-bar linkage of uniform rods in a vertical plane: a crank that can turn fully, a coupler and a rocker.

Source: the linkage of textbooks, for instance F. M. Amirouche, *Fundamentals of Multibody Dynamics*, Birkhäuser 2006;
its numbers are this project's.  The crank (1) is pinned to the ground at the origin, the rocker (3) at (d, 0), the
coupler (2) joins their ends; the loop is cut between coupler and rocker.  Angles from n_x, gravity along -n_y, a torque
tau on the crank.  The crank is shorter than the others and L1 + L_max < the sum of the other two (Grashof), so that it
turns fully; the pair (q2, q3) follows q1 all the way.  The multipliers are the force of the rocker on the coupler.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import chain
from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"g": 9.81, "d": 1.2, "L1": 0.4, "L2": 1.0, "L3": 0.8, "m1": 1.1, "m2": 2.3, "m3": 1.7}

STATE = {
    "q1": 0.9,
    "q2": 0.5041603562435434,
    "q3": 1.6656580617601964,
    "u1": 2.0,
    "u2": -0.6043265156313713,
    "u3": 0.42029972588908193,
}

DIMENSIONS = (
    of("m1 m2 m3", MASS)
    | of("L1 L2 L3 d", LENGTH)
    | of("g", ACCELERATION)
    | of("q1 q2 q3", ANGLE)
    | of("u1 u2 u3", RATE)
    | of("tau", TORQUE)
)


def build() -> Model:
    """The linkage with the angles of coupler and rocker dependent on that of the crank."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    torque = me.dynamicsymbols("tau")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    pivot = origin.locatenew("D", sm.Symbol("d") * ground.x)
    driven = chain(ground, origin, (1, 2), q[:2], u[:2])
    rocker = chain(ground, pivot, (3,), q[2:], u[2:])
    gap = driven.end.pos_from(rocker.end)
    return Model(
        ground,
        q[:1],
        u[:1],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        q_dependent=q[1:],
        configuration_constraints=[gap.dot(ground.x), gap.dot(ground.y)],
        u_dependent=u[1:],
        bodies=[*driven.bodies, *rocker.bodies],
        attach={
            i: (driven.bodies[-1], driven.end, rocker.bodies[-1], rocker.end, e)
            for i, e in enumerate((ground.x, ground.y))
        },
        forcelist=[*driven.loads, *rocker.loads, (driven.frames[0], torque * ground.z)],
        shapes=driven.shapes | rocker.shapes,
        name="four_bar",
    )
