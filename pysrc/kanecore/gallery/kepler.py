# SPDX-License-Identifier: BSD-3-Clause
"""Kepler's problem: a particle that a fixed mass attracts, in the plane of its orbit.

Source: H. Goldstein, C. Poole & J. Safko, *Classical Mechanics*, 3rd edition, section 3.7.  r and theta are polar
coordinates about the attracting mass, whose gravitational parameter G M is mu.  theta is cyclic: p_theta = m r² θ̇ is
conserved, and so are the energy, with U = −m mu / r, and the vector of Laplace, Runge and Lenz.  The values are those
of a spacecraft of two tonnes about the asteroid Bennu.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 2000.0, "mu": 4.89}

DIMENSIONS = (
    of("m", MASS) | of("mu", (3, 0, -2)) | of("r", LENGTH) | of("theta", ANGLE) | of("v", VELOCITY) | of("w", RATE)
)


def build() -> Model:
    """The particle, with v = ṙ and w = θ̇."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    r, theta, v, w = me.dynamicsymbols("r theta v w")
    m, mu = sm.symbols("m mu")

    ground, radial = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    radial.orient_axis(ground, ground.z, theta)
    focus = me.Point("O")
    focus.set_vel(ground, 0)
    place = focus.locatenew("P", r * radial.x)
    particle = me.Particle("particle", place, m)
    particle.potential_energy = -m * mu / r  # of the force below
    return Model(
        ground,
        [r, theta],
        [v, w],
        [r.diff() - v, theta.diff() - w],
        bodies=[particle],
        forcelist=[(place, -m * mu / r**2 * radial.x)],
        name="kepler",
    )
