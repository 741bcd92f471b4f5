# SPDX-License-Identifier: BSD-3-Clause
"""Particle on a smooth circular wire in a vertical plane, with the wire's reactions in the list of loads.

Source: lecture slides on analytical dynamics, the example of the principle of liberation.  theta is the angle of the
particle, seen from the centre, from the downward vertical n_x, and u = θ̇.  The wire pushes with N_r along the radius
and N_z across its plane; both are perpendicular to the only partial velocity, so they do not contribute.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.2, "R": 0.3, "g": 9.81}

DIMENSIONS = of("m", MASS) | of("R", LENGTH) | of("g", ACCELERATION) | of("theta", ANGLE) | of("u", RATE)


def build() -> Model:
    """The particle with its one coordinate; θ̈ = −(g/R) sin θ."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    theta, u = me.dynamicsymbols("theta u")
    radial_push, lateral_push = me.dynamicsymbols("N_r N_z")
    m, radius, g = sm.symbols("m R g")

    ground, polar = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    polar.orient_axis(ground, ground.z, theta)
    centre = me.Point("O")
    centre.set_vel(ground, 0)
    place = centre.locatenew("P", radius * polar.x)
    return Model(
        ground,
        [theta],
        [u],
        [theta.diff() - u],
        bodies=[me.Particle("particle", place, m)],
        forcelist=[(place, m * g * ground.x), (place, radial_push * polar.x + lateral_push * ground.z)],
        name="wire_particle",
    )
