# SPDX-License-Identifier: BSD-3-Clause
"""Homogeneous ball that rolls without slip on a horizontal table which turns at a constant rate.

Source: J. I. Neimark & N. A. Fufaev, *Dynamics of Nonholonomic Systems*, AMS 1972; K. Weltner, "Stable circular orbits
of freely moving balls on rotating discs", *American Journal of Physics* 47 (1979) 984-986: wherever it starts, the
ball goes round a circle at 2/7 of the table's rate W.  The constraints are not homogeneous in the speeds, so that the
table does work on the ball.  (x, y) is the ball's centre, its attitude the quaternion e0 ... e3; the speeds are the
angular velocity in inertial axes and the rates of x and y, which depend on it.  The weight does not contribute and is
left out.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanecore.shapes import Sphere

from ._building_blocks import vector
from ._dimensions import LENGTH, MASS, NUMBER, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.31, "R": 0.04, "W": 2.3}

STATE = {
    "x": 0.2,
    "y": -0.1,
    "e0": 1.0,
    "e1": 0.0,
    "e2": 0.0,
    "e3": 0.0,
    "wx": 5.0,
    "wy": 3.0,
    "wz": 1.0,
    "ux": 0.35,
    "uy": 0.26,
}

DIMENSIONS = (
    of("m", MASS) | of("R x y", LENGTH) | of("e0 e1 e2 e3", NUMBER) | of("W wx wy wz", RATE) | of("ux uy", VELOCITY)
)


def build() -> Model:
    """The ball; the constraints say that at the contact it has the velocity of the table."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    x, y = me.dynamicsymbols("x y")
    e0, *e = me.dynamicsymbols("e0:4")
    omega, (ux, uy) = me.dynamicsymbols("wx wy wz"), me.dynamicsymbols("ux uy")
    m, radius, rate = sm.symbols("m R W")

    ground, ball = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    ball.orient_quaternion(ground, (e0, *e))
    spin, axis = vector(omega, ground), vector(e, ground)
    ball.set_ang_vel(ground, spin)
    turn = (e0 * spin + spin.cross(axis)) / 2  # of the vector part, with the angular velocity in inertial axes
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("C", x * ground.x + y * ground.y + radius * ground.z)
    touch = centre.locatenew("T", -radius * ground.z)  # the ball's point that is in contact now
    touch.set_vel(ground, ux * ground.x + uy * ground.y + spin.cross(-radius * ground.z))
    moment = sm.Rational(2, 5) * m * radius**2
    slip = touch.vel(ground) - rate * (x * ground.y - y * ground.x)
    body = me.RigidBody("ball", centre, ball, m, (me.inertia(ground, moment, moment, moment), centre))
    return Model(
        ground,
        [x, y, e0, *e],
        omega,
        [
            x.diff() - ux,
            y.diff() - uy,
            e0.diff() + spin.dot(axis) / 2,
            *(e_i.diff() - turn.dot(n_i) for e_i, n_i in zip(e, ground, strict=True)),
        ],
        u_dependent=[ux, uy],
        velocity_constraints=[slip.dot(ground.x), slip.dot(ground.y)],
        bodies=[body],
        attach={i: (body, touch, ground, origin, e) for i, e in enumerate((ground.x, ground.y))},
        shapes={body: Sphere(radius)},
        name="ball_turntable",
    )
