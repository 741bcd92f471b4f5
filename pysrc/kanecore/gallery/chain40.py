# SPDX-License-Identifier: BSD-3-Clause
"""Chain of 40 equal links that hangs in a vertical plane.

Source: the n-pendulum of textbooks, such as H. Baruh, *Analytical Dynamics*, McGraw-Hill 1999, with uniform slender
rods; its coordinates are the angles between neighbours, so that a method whose work grows as n³ shows.  In the limit of
many links it is Bernoulli's hanging chain, with the natural frequencies j √(g / 4 L), j a zero of the Bessel function
J0.  The values make a chain of 2 m and 1 kg.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = 40
PARAMETERS = {"g": 9.81, "l": 2 / LINKS, "m": 1 / LINKS, "I": 2**2 / LINKS**3 / 12}

DIMENSIONS = (
    of("g", ACCELERATION)
    | of("l", LENGTH)
    | of("m", MASS)
    | of("I", INERTIA)
    | {f"q{i}": ANGLE for i in range(1, LINKS + 1)}
    | {f"u{i}": RATE for i in range(1, LINKS + 1)}
)


def build(n: int = LINKS) -> Model:
    """The chain with ``n`` links; q1 is the first one's angle from the vertical, u_i = q̇_i."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    g, length, mass, moment = sm.symbols("g l m I")

    ground = frame = me.ReferenceFrame("N")
    joint = me.Point("O")
    joint.set_vel(ground, 0)
    bodies, loads = [], []
    for i in range(n):
        link = me.ReferenceFrame(f"B{i + 1}")
        link.orient_axis(frame, frame.z, q[i])
        link.set_ang_vel(frame, u[i] * frame.z)
        centre = joint.locatenew(f"C{i + 1}", -length / 2 * link.y)
        bodies.append(me.RigidBody(f"link{i + 1}", centre, link, mass, (me.inertia(link, moment, 0, moment), centre)))
        loads.append((centre, -mass * g * ground.y))
        joint, frame = joint.locatenew(f"P{i + 1}", -length * link.y), link
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        name=f"chain{n}",
    )
