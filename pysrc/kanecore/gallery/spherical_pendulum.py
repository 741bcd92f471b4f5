# SPDX-License-Identifier: BSD-3-Clause
"""Spherical pendulum: a particle on a massless rod that swings about a fixed point, in space.

Source: L. D. Landau & E. M. Lifshitz, *Mechanics*, 3rd edition, section 14, problem 1.  theta is the angle of the rod
from the downward vertical, phi the angle of its plane about the vertical, which is cyclic: p_phi = m l² sin²θ φ̇, the
angular momentum about the vertical, is conserved.  theta = 0 is a singularity of these angles.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.4, "l": 0.6, "g": 9.81}

DIMENSIONS = of("m", MASS) | of("l", LENGTH) | of("g", ACCELERATION) | of("theta phi", ANGLE) | of("u1 u2", RATE)


def build() -> Model:
    """The particle, with u1 = θ̇ and u2 = φ̇."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    theta, phi, u1, u2 = me.dynamicsymbols("theta phi u1 u2")
    m, length, g = sm.symbols("m l g")

    ground, plane, rod = (me.ReferenceFrame(name) for name in "NAB")
    plane.orient_axis(ground, ground.z, phi)
    rod.orient_axis(plane, -plane.y, theta)
    pivot = me.Point("O")
    pivot.set_vel(ground, 0)
    bob = pivot.locatenew("P", -length * rod.z)
    return Model(
        ground,
        [theta, phi],
        [u1, u2],
        [theta.diff() - u1, phi.diff() - u2],
        bodies=[me.Particle("bob", bob, m)],
        forcelist=[(bob, -m * g * ground.z)],
        name="spherical_pendulum",
    )
