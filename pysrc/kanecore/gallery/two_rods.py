# SPDX-License-Identifier: BSD-3-Clause
"""Two thin rods pinned one on the other about perpendicular axes, with torsion springs.

Source: J. K. Moore, *Learn Multibody Dynamics*, chapter "Generalized Forces", after Kane & Levinson 1985.  Rod A turns
by q1 about n_z through its end O; rod B turns by q2 about a_x, its own mass centre B_o pinned to the other end of A.
Both have mass m and length l, both springs the stiffness k and no torque at zero angle; gravity is along n_x, and
u_i = q̇_i.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.5, "l": 0.4, "k": 2.0, "g": 9.81}

DIMENSIONS = (
    of("m", MASS) | of("l", LENGTH) | of("k", TORQUE) | of("g", ACCELERATION) | of("q1 q2", ANGLE) | of("u1 u2", RATE)
)


def build() -> Model:
    """Both rods, each spring's torque on a rod and back on what carries it."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    m, length, k, g = sm.symbols("m l k g")

    ground, a, b = (me.ReferenceFrame(name) for name in "NAB")
    a.orient_axis(ground, ground.z, q1)
    a.set_ang_vel(ground, u1 * ground.z)
    b.orient_axis(a, a.x, q2)
    b.set_ang_vel(a, u2 * a.x)
    pivot = me.Point("O")
    pivot.set_vel(ground, 0)
    centre_a = pivot.locatenew("A_o", length / 2 * a.x)
    centre_b = pivot.locatenew("B_o", length * a.x)

    inertia = m * length**2 / 12
    bodies = [
        me.RigidBody("A", centre_a, a, m, (me.inertia(a, 0, inertia, inertia), centre_a)),
        me.RigidBody("B", centre_b, b, m, (me.inertia(b, inertia, 0, inertia), centre_b)),
    ]
    loads = [
        (centre_a, m * g * ground.x),
        (centre_b, m * g * ground.x),
        (a, -k * q1 * ground.z + k * q2 * a.x),
        (b, -k * q2 * a.x),
    ]
    return Model(
        ground,
        [q1, q2],
        [u1, u2],
        [q1.diff() - u1, q2.diff() - u2],
        bodies=bodies,
        forcelist=loads,
        points=[centre_b.locatenew(f"B_{i}", sign * length / 2 * b.y) for i, sign in ((1, -1), (2, 1))],
        name="two_rods",
    )
