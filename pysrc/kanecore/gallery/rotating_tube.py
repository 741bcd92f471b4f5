# SPDX-License-Identifier: BSD-3-Clause
"""Two particles with springs in a smooth tube that turns in a vertical plane in a prescribed way.

Source: lecture notes on generalized forces after Kane & Levinson, examples 3 and 5.  The tube makes the angle
theta(t) with the vertical, a motion that the user prescribes with its rates; the springs k1 (pivot to particle 1) and
k2 (1 to 2) have natural lengths L1 and L2, and q1, q2 are the displacements from there.  The forces of the tube on the
particles do not contribute.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, STIFFNESS, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m1": 1.2, "m2": 0.7, "k1": 60.0, "k2": 45.0, "L1": 0.3, "L2": 0.25, "g": 9.81}

DIMENSIONS = (
    of("m1 m2", MASS)
    | of("k1 k2", STIFFNESS)
    | of("L1 L2 q1 q2", LENGTH)
    | of("g", ACCELERATION)
    | of("u1 u2", VELOCITY)
    | of("theta", ANGLE)
    | of("theta_d", RATE)
    | of("theta_dd", (0, 0, -2))
)


def build() -> Model:
    """Both particles, with the tube's forces T12, T13, T22, T23 listed and found to be noncontributing."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q1, q2, u1, u2, theta = me.dynamicsymbols("q1 q2 u1 u2 theta")
    m1, m2, k1, k2, length1, length2, g = sm.symbols("m1 m2 k1 k2 L1 L2 g")
    t12, t13, t22, t23 = me.dynamicsymbols("T12 T13 T22 T23")

    ground, tube = me.ReferenceFrame("N"), me.ReferenceFrame("T")
    tube.orient_axis(ground, ground.z, theta)
    pivot = me.Point("O")
    pivot.set_vel(ground, 0)
    first = pivot.locatenew("P1", (length1 + q1) * tube.x)
    second = pivot.locatenew("P2", (length1 + length2 + q2) * tube.x)
    spring = k2 * (q2 - q1) * tube.x
    loads = [
        (first, m1 * g * ground.x - k1 * q1 * tube.x + spring),
        (second, m2 * g * ground.x - spring),
        (first, t12 * tube.y + t13 * tube.z),
        (second, t22 * tube.y + t23 * tube.z),
    ]
    return Model(
        ground,
        [q1, q2],
        [u1, u2],
        [q1.diff() - u1, q2.diff() - u2],
        bodies=[me.Particle("P1", first, m1), me.Particle("P2", second, m2)],
        forcelist=loads,
        name="rotating_tube",
    )
