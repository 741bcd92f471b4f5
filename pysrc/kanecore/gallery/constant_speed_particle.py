# SPDX-License-Identifier: BSD-3-Clause
"""Particle under gravity that is kept at a constant speed V: ẋ² + ẏ² + ż² = V², nonlinear in the speeds.

Source: the isokinetic constraint of D. J. Evans, W. G. Hoover, B. H. Failor, B. Moran & A. J. C. Ladd, "Nonequilibrium
molecular dynamics via Gauss's principle of least constraint", *Physical Review A* 28 (1983) 1016-1021, here for one
particle in a uniform field.  The force of constraint is along the velocity: u̇ = −g n_z + g (u_z/V²) u, so that
u_z = −V tanh(g (t − t0)/V), and the direction of the horizontal velocity stays.  No choice of a dependent speed serves
for ever; all three stand as independent ones, and the package chooses.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import vector
from ._dimensions import ACCELERATION, LENGTH, MASS, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.5, "g": 9.81, "V": 2.6}

# Thrown upwards: 2.6 times the unit vector (0.48, 0.36, 0.8).
STATE = {"x": 0.0, "y": 0.0, "z": 0.0, "u1": 1.248, "u2": 0.936, "u3": 2.08}

DIMENSIONS = of("m", MASS) | of("g", ACCELERATION) | of("x y z", LENGTH) | of("V u1 u2 u3", VELOCITY)


def build() -> Model:
    """The particle in Cartesian coordinates."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    m, g, speed = sm.symbols("m g V")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    place = origin.locatenew("P", vector(q, ground))
    particle = me.Particle("particle", place, m)
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        velocity_constraints=[u[0] ** 2 + u[1] ** 2 + u[2] ** 2 - speed**2],
        bodies=[particle],
        attach={0: (particle, place, ground, origin, 2 * vector(u, ground))},
        forcelist=[(place, -m * g * ground.z)],
        name="constant_speed_particle",
    )
