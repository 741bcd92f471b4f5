# SPDX-License-Identifier: BSD-3-Clause
"""Appell's and Hamel's particle: under gravity, with the constraint ẋ² + ẏ² = c² ż², which is nonlinear in the speeds.

Source: P. Appell 1911; G. Hamel, *Theoretische Mechanik*, Springer 1949; J. I. Neimark & N. A. Fufaev, *Dynamics of
Nonholonomic Systems*, AMS 1972, chapter IV: the limit of a machine with a wheel and a thread.  By the rule of Appell
and Chetaev, which is that of Kane's complex nonholonomic systems, the particle moves on a straight line with
z̈ = −g/(1 + c²) as long as it is not at rest; at rest the constraint has no direction.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import vector
from ._dimensions import ACCELERATION, LENGTH, MASS, NUMBER, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 1.5, "g": 9.81, "c": 0.7}

# Falling, at 0.7 of the speed of fall across: c |u3| = 0.7 · 1.0.
STATE = {"x": 0.0, "y": 0.0, "z": 0.0, "u1": 0.42, "u2": 0.56, "u3": -1.0}

DIMENSIONS = of("m", MASS) | of("g", ACCELERATION) | of("c", NUMBER) | of("x y z", LENGTH) | of("u1 u2 u3", VELOCITY)


def build() -> Model:
    """The particle in Cartesian coordinates; u3 depends on u1 and u2."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    m, g, c = sm.symbols("m g c")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    place = origin.locatenew("P", vector(q, ground))
    particle = me.Particle("particle", place, m)
    along = 2 * (u[0] * ground.x + u[1] * ground.y - c**2 * u[2] * ground.z)  # ∂/∂u of the constraint
    return Model(
        ground,
        q,
        u[:2],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        u_dependent=u[2:],
        velocity_constraints=[u[0] ** 2 + u[1] ** 2 - c**2 * u[2] ** 2],
        bodies=[particle],
        attach={0: (particle, place, ground, origin, along)},
        forcelist=[(place, -m * g * ground.z)],
        name="appell_hamel",
    )
