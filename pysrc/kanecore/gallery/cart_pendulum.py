# SPDX-License-Identifier: BSD-3-Clause
"""Cart on a rail with a chain of n links, all angles measured from the horizontal.

Source: the n-link pendulum on a cart of ``sympy.physics.mechanics.models`` and of PyDy's benchmarks: a cart of mass m0
driven by the force F, massless rods of lengths l0 ... with particles m1 ... at their ends.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = 3
PARAMETERS = {
    "g": 9.81,
    **{f"l{i}": 1 / LINKS for i in range(LINKS)},
    **{f"m{i}": 0.5 if i == 0 else 0.01 + 0.09 * i / LINKS for i in range(LINKS + 1)},
}

DIMENSIONS = (
    of("g", ACCELERATION)
    | of("q0", LENGTH)
    | of("u0", VELOCITY)
    | of("F", FORCE)
    | {f"l{i}": LENGTH for i in range(LINKS)}
    | {f"m{i}": MASS for i in range(LINKS + 1)}
    | {f"q{i}": ANGLE for i in range(1, LINKS + 1)}
    | {f"u{i}": RATE for i in range(1, LINKS + 1)}
)


def build(n: int = LINKS) -> Model:
    """The cart with ``n`` links; q0 is its place, u_i = q̇_i."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols(f"q0:{n + 1}"), me.dynamicsymbols(f"u0:{n + 1}")
    force, g = me.dynamicsymbols("F"), sm.Symbol("g")
    masses, lengths = sm.symbols(f"m0:{n + 1}"), sm.symbols(f"l0:{n}")

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    joint = origin.locatenew("P0", q[0] * ground.x)
    bodies = [me.Particle("cart", joint, masses[0])]
    for i in range(n):
        link = me.ReferenceFrame(f"B{i}")
        link.orient_axis(ground, ground.z, q[i + 1])
        link.set_ang_vel(ground, u[i + 1] * ground.z)
        joint = joint.locatenew(f"P{i + 1}", lengths[i] * link.x)
        bodies.append(me.Particle(f"bob{i + 1}", joint, masses[i + 1]))
    loads = [(bodies[0].masscenter, force * ground.x)]
    loads += [(body.masscenter, -body.mass * g * ground.y) for body in bodies]
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        name=f"cart_pendulum_{n}",
    )
