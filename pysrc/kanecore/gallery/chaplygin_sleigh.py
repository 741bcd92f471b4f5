# SPDX-License-Identifier: BSD-3-Clause
"""Chaplygin's sleigh: a body on a horizontal plane, held by a knife edge that cannot slip sideways.

Source: S. A. Chaplygin 1911; J. I. Neimark & N. A. Fufaev, *Dynamics of Nonholonomic Systems*, AMS 1972; A. M. Bloch,
*Nonholonomic Mechanics and Control*, Springer 2003, section 1.7.  The knife is at A = (x, y), the mass centre at the
distance a ahead of it, theta the heading.  The speeds are the forward velocity v of A, the rate of turn w, and the
sideways velocity s of A, which the constraint makes zero: the sleigh loses its turn to forward motion though nothing
takes its energy, v̇ = a w², ẇ = −m a v w/(I + m a²).  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, INERTIA, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 2.4, "I": 0.35, "a": 0.3}

STATE = {"x": 0.0, "y": 0.0, "theta": 0.0, "v": 0.2, "w": 3.0, "s": 0.0}

DIMENSIONS = (
    of("m", MASS) | of("I", INERTIA) | of("a x y", LENGTH) | of("theta", ANGLE) | of("v s", VELOCITY) | of("w", RATE)
)


def build() -> Model:
    """The sleigh, free of loads."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.model import Model

    x, y, theta, v, w, s = me.dynamicsymbols("x y theta v w s")
    m, moment, a = sm.symbols("m I a")

    ground, sleigh = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    sleigh.orient_axis(ground, ground.z, theta)
    sleigh.set_ang_vel(ground, w * ground.z)
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    knife = origin.locatenew("A", x * ground.x + y * ground.y)
    knife.set_vel(ground, v * sleigh.x + s * sleigh.y)
    centre = knife.locatenew("G", a * sleigh.x)
    body = me.RigidBody("sleigh", centre, sleigh, m, (me.inertia(sleigh, 0, 0, moment), centre))
    return Model(
        ground,
        [x, y, theta],
        [v, w],
        [
            x.diff() - v * cos(theta) + s * sin(theta),
            y.diff() - v * sin(theta) - s * cos(theta),
            theta.diff() - w,
        ],
        u_dependent=[s],
        velocity_constraints=[knife.vel(ground).dot(sleigh.y)],
        bodies=[body],
        attach={0: (body, knife, ground, origin, sleigh.y)},
        name="chaplygin_sleigh",
    )
