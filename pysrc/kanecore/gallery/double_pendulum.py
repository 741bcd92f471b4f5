# SPDX-License-Identifier: BSD-3-Clause
"""Double simple pendulum, with the tensions of its strings in the list of loads.

Source: J. K. Moore, *Learn Multibody Dynamics*, chapter "Generalized Forces", after Kane & Levinson 1985; both angles
from the vertical.  The tensions T1 and T2 are noncontributing: they do not appear in F1 and F2.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m1": 1.0, "m2": 0.8, "l": 0.5, "g": 9.81}

DIMENSIONS = of("m1 m2", MASS) | of("l", LENGTH) | of("g", ACCELERATION) | of("q1 q2", ANGLE) | of("u1 u2", RATE)


def build() -> Model:
    """The pendulum with absolute angles."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q1, q2, u1, u2, tension1, tension2 = me.dynamicsymbols("q1 q2 u1 u2 T1 T2")
    m1, m2, length, g = sm.symbols("m1 m2 l g")

    ground, upper, lower = (me.ReferenceFrame(name) for name in "NAB")
    upper.orient_axis(ground, ground.z, q1)
    lower.orient_axis(ground, ground.z, q2)
    pivot = me.Point("O")
    pivot.set_vel(ground, 0)
    first = pivot.locatenew("P1", -length * upper.y)
    second = first.locatenew("P2", -length * lower.y)
    loads = [
        (first, -m1 * g * ground.y + tension1 * upper.y - tension2 * lower.y),
        (second, -m2 * g * ground.y + tension2 * lower.y),
    ]
    return Model(
        ground,
        [q1, q2],
        [u1, u2],
        [q1.diff() - u1, q2.diff() - u2],
        bodies=[me.Particle("P1", first, m1), me.Particle("P2", second, m2)],
        forcelist=loads,
        name="double_pendulum",
    )
