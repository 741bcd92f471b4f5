# SPDX-License-Identifier: BSD-3-Clause
"""Uniform rod in a plane, attracted by a particle that is fixed in that plane.

Source: lecture notes on generalized forces after Kane & Levinson, example 4.  The particle, of mass m, is at the
origin; q1 and q2 are polar coordinates of the rod's mass centre, q3 is the angle of the rod, of mass M and length L,
from the radial line, and u_r = q̇_r.  To second order in L/q2 the attraction is a force R at the mass centre, with the
torque

    T = −G M m L² / (8 q2³) sin 2 q3 a3.

The document prints T with the opposite sign, which contradicts its own F1 = 0: gravitation has no moment about the
particle, q2 a2·R + a3·T = 0.  The values are those of a satellite with a long boom about the Earth.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"G": 6.6743e-11, "M": 150.0, "m": 5.9722e24, "L": 30.0}

DIMENSIONS = (
    of("M m", MASS)
    | of("L q2", LENGTH)
    | of("q1 q3", ANGLE)
    | of("u2", VELOCITY)
    | of("u1 u3", RATE)
    | of("G", (3, -1, -2))
)


def build() -> Model:
    """The rod, with three degrees of freedom in the plane."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q1, q2, q3 = q = me.dynamicsymbols("q1:4")
    u1, u2, u3 = u = me.dynamicsymbols("u1:4")
    constant, mass, attracting, length = sm.symbols("G M m L")

    ground, radial, rod = (me.ReferenceFrame(name) for name in "NAB")
    radial.orient_axis(ground, ground.z, q1)
    radial.set_ang_vel(ground, u1 * ground.z)
    rod.orient_axis(radial, radial.z, q3)
    rod.set_ang_vel(radial, u3 * radial.z)
    particle = me.Point("P")
    particle.set_vel(ground, 0)
    centre = particle.locatenew("B*", q2 * radial.x)
    centre.set_vel(ground, u2 * radial.x + u1 * q2 * radial.y)

    inertia = mass * length**2 / 12
    body = me.RigidBody("B", centre, rod, mass, (me.inertia(rod, 0, inertia, inertia), centre))
    attraction = constant * mass * attracting / q2**2
    small = length**2 / (8 * q2**2)
    force = -attraction * ((1 + small * (2 - 3 * sm.sin(q3) ** 2)) * radial.x - small * sm.sin(2 * q3) * radial.y)
    torque = -attraction * q2 * small * sm.sin(2 * q3) * radial.z
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=[body],
        forcelist=[(centre, force), (rod, torque)],
        points=[centre.locatenew(f"E{i}", sign * length / 2 * rod.x) for i, sign in ((1, -1), (2, 1))],
        name="rod_gravity",
    )
