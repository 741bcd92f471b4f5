# SPDX-License-Identifier: BSD-3-Clause
"""Thin disc that rolls on a horizontal plane without slip.

Source: T. R. Kane & D. A. Levinson, *Dynamics: Theory and Applications*, McGraw-Hill 1985, problems 8.3, 9.3, 10.2 and
11.5, with its symbols: q1 the heading, q2 the lean from the vertical, q3 the spin; (q4, q5) is the point of contact in
the plane; u1, u2, u3 are the components of the angular velocity in axes that lean with the disc but do not spin: b_x
along its track, b_y from the contact to the centre, b_z its axis.  u4 and u5, the rates of q4 and q5, depend on them.
At q2 = ±π/2 the disc lies flat and the coordinates fail.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanecore.shapes import Disc

from ._building_blocks import vector
from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"g": 9.81, "m": 2.1, "R": 0.35}

# Rolling in a circle: u4 = −R (u3 − u2 tan q2) cos q1, and u5 likewise with the sine.
STATE = {
    "q1": 0.0,
    "q2": 0.1,
    "q3": 0.0,
    "q4": 0.0,
    "q5": 0.0,
    "u1": 0.05,
    "u2": 0.4,
    "u3": -4.0,
    "u4": 1.414046854091963,
    "u5": 0.0,
}

DIMENSIONS = (
    of("m", MASS)
    | of("R q4 q5", LENGTH)
    | of("g", ACCELERATION)
    | of("q1 q2 q3", ANGLE)
    | of("u1 u2 u3", RATE)
    | of("u4 u5", VELOCITY)
)


def build() -> Model:
    """The disc with its weight; the two constraints say that the material point in contact is at rest."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin, tan

    from kanecore.model import Model

    q1, q2, q3, q4, q5 = q = me.dynamicsymbols("q1:6")
    u1, u2, u3, u4, u5 = me.dynamicsymbols("u1:6")
    g, m, radius = sm.symbols("g m R")

    ground, heading, lean, disc = (me.ReferenceFrame(name) for name in ("N", "A", "B", "C"))
    heading.orient_axis(ground, ground.z, q1)
    lean.orient_axis(heading, heading.x, sm.pi / 2 - q2)
    disc.orient_axis(lean, lean.z, q3)
    disc.set_ang_vel(ground, vector((u1, u2, u3), lean))
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    contact = origin.locatenew("P", q4 * ground.x + q5 * ground.y)
    centre = contact.locatenew("C", radius * lean.y)
    rim = contact.locatenew("T", me.Vector(0))  # the disc's point that is in contact now
    rim.set_vel(ground, u4 * ground.x + u5 * ground.y + radius * (u3 - u2 * tan(q2)) * heading.x)
    inertia = me.inertia(lean, m * radius**2 / 4, m * radius**2 / 4, m * radius**2 / 2)
    body = me.RigidBody("disc", centre, disc, m, (inertia, centre))
    return Model(
        ground,
        q,
        [u1, u2, u3],
        [
            u1 + q2.diff(),
            u2 - q1.diff() * cos(q2),
            u3 - q1.diff() * sin(q2) - q3.diff(),
            u4 - q4.diff(),
            u5 - q5.diff(),
        ],
        u_dependent=[u4, u5],
        velocity_constraints=[rim.vel(ground).dot(e) for e in (ground.x, ground.y)],
        bodies=[body],
        attach={i: (body, rim, ground, origin, e) for i, e in enumerate((ground.x, ground.y))},
        forcelist=[(centre, -m * g * ground.z)],
        shapes={body: Disc(radius)},
        name="rolling_disc",
    )
