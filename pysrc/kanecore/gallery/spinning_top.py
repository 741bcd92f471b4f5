# SPDX-License-Identifier: BSD-3-Clause
"""Heavy symmetric top with a fixed point, in Euler's angles.

Source: H. Goldstein, C. Poole & J. Safko, *Classical Mechanics*, 3rd edition, section 5.7.  phi turns about the
vertical, theta about the line of nodes, psi about the top's axis (3-1-3); theta = 0 is a singularity of these angles.
The speeds are the components of the angular velocity along the top's own axes, u_i = ω·b_i, a choice after Kane &
Levinson 1985 under which the dynamical equations are Euler's.  I1 and I3 are central moments of inertia, across the
axis and about it: the transverse moment about the fixed point is I1 + m l².  The values are those of a disc on a thin
stem.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 0.1, "l": 0.03, "I1": 2.33e-5, "I3": 4.5e-5, "g": 9.81}

DIMENSIONS = (
    of("m", MASS)
    | of("I1 I3", INERTIA)
    | of("l", LENGTH)
    | of("g", ACCELERATION)
    | of("phi theta psi", ANGLE)
    | of("u1 u2 u3", RATE)
)


def build() -> Model:
    """The top with body-fixed components of its angular velocity as speeds."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    phi, theta, psi = q = me.dynamicsymbols("phi theta psi")
    u = me.dynamicsymbols("u1:4")
    m, length, transverse, axial, g = sm.symbols("m l I1 I3 g")

    ground, top = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    top.orient_body_fixed(ground, q, "313")
    top.set_ang_vel(ground, sum((u_i * axis for u_i, axis in zip(u, top, strict=True)), me.Vector(0)))
    tip = me.Point("O")
    tip.set_vel(ground, 0)
    centre = tip.locatenew("G", length * top.z)
    rates = (
        phi.diff() * sm.sin(theta) * sm.sin(psi) + theta.diff() * sm.cos(psi),
        phi.diff() * sm.sin(theta) * sm.cos(psi) - theta.diff() * sm.sin(psi),
        phi.diff() * sm.cos(theta) + psi.diff(),
    )
    return Model(
        ground,
        q,
        u,
        [u_i - rate for u_i, rate in zip(u, rates, strict=True)],
        bodies=[me.RigidBody("top", centre, top, m, (me.inertia(top, transverse, transverse, axial), centre))],
        forcelist=[(centre, -m * g * ground.z)],
        name="spinning_top",
    )
