# SPDX-License-Identifier: BSD-3-Clause
"""Knife edge on an inclined plane: a skate under its mass centre, which cannot slip sideways.

Source: J. I. Neimark & N. A. Fufaev, *Dynamics of Nonholonomic Systems*, AMS 1972; A. M. Bloch, *Nonholonomic
Mechanics and Control*, Springer 2003, section 1.6.  (x, y) is the point of contact, x down the slope of angle alpha,
theta the heading; the speeds are their rates.  All three speeds stand as independent ones: which of them depends on
the others the package finds at every state, since none of ux and uy can be it at all headings.  A skate that turns
does not slide down on the average but drifts across the slope, along a cycloid.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 2.4, "I": 0.35, "g": 9.81, "alpha": 0.25}

STATE = {"x": 0.0, "y": 0.0, "theta": 0.0, "ux": 0.0, "uy": 0.0, "w": 1.7}

DIMENSIONS = (
    of("m", MASS)
    | of("I", INERTIA)
    | of("g", ACCELERATION)
    | of("alpha theta", ANGLE)
    | of("x y", LENGTH)
    | of("ux uy", VELOCITY)
    | of("w", RATE)
)


def build() -> Model:
    """The skate with its weight."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.model import Model

    x, y, theta, ux, uy, w = me.dynamicsymbols("x y theta ux uy w")
    m, moment, g, alpha = sm.symbols("m I g alpha")

    slope, skate = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    skate.orient_axis(slope, slope.z, theta)
    skate.set_ang_vel(slope, w * slope.z)
    origin = me.Point("O")
    origin.set_vel(slope, 0)
    contact = origin.locatenew("A", x * slope.x + y * slope.y)
    body = me.RigidBody("skate", contact, skate, m, (me.inertia(skate, 0, 0, moment), contact))
    return Model(
        slope,
        [x, y, theta],
        [ux, uy, w],
        [x.diff() - ux, y.diff() - uy, theta.diff() - w],
        velocity_constraints=[uy * cos(theta) - ux * sin(theta)],
        bodies=[body],
        attach={0: (body, contact, slope, origin, skate.y)},
        forcelist=[(contact, m * g * (sin(alpha) * slope.x - cos(alpha) * slope.z))],
        name="knife_edge",
    )
