# SPDX-License-Identifier: BSD-3-Clause
"""Bead on a smooth circular hoop that turns about its vertical diameter at a constant rate.

Source: J. R. Taylor, *Classical Mechanics*, examples 7.6 and 7.7.  theta is the angle of the bead, seen from the
centre, from the downward vertical; the hoop has turned by W t.  The constraint depends on time: the hoop's drive does
work and T + U changes, while the Hamiltonian T₂ − T₀ + U is conserved.  Beyond W² = g/R the lowest point is unstable
and the bead rests, seen from the hoop, at cos θ = g/(W² R).  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.05, "R": 0.2, "W": 10.0, "g": 9.81}

DIMENSIONS = (
    of("m", MASS) | of("R", LENGTH) | of("W", RATE) | of("g", ACCELERATION) | of("theta", ANGLE) | of("u", RATE)
)


def build() -> Model:
    """The bead with its one coordinate; θ̈ = (W² cos θ − g/R) sin θ."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    theta, u = me.dynamicsymbols("theta u")
    m, radius, rate, g = sm.symbols("m R W g")

    ground, hoop, polar = (me.ReferenceFrame(name) for name in "NHE")
    hoop.orient_axis(ground, ground.z, rate * sm.Symbol("t"))
    polar.orient_axis(hoop, -hoop.y, theta)
    centre = me.Point("O")
    centre.set_vel(ground, 0)
    bead = centre.locatenew("P", -radius * polar.z)
    return Model(
        ground,
        [theta],
        [u],
        [theta.diff() - u],
        bodies=[me.Particle("bead", bead, m)],
        forcelist=[(bead, -m * g * ground.z)],
        name="rotating_hoop",
    )
