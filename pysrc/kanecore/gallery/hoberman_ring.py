# SPDX-License-Identifier: BSD-3-Clause
"""Hoberman's ring: pairs of bent scissor links around a circle, which opens and closes as a whole.

Source: C. Hoberman, "Radial expansion/retraction truss structures", US patent 5,024,031, 1991; Z. You & S. Pellegrino,
"Foldable bar structures", *International Journal of Solids and Structures* 34 (1997) 1825-1847.  The numbers are this
project's.  The ring lies on a smooth table.  Each link is a uniform bar of length L with a pin at either end, and one
beside its middle, at the distance (L/2) tan(π/n), where it crosses its partner.  The ends of a pair are on two radii of
the ring, 2π/n apart, at any angle δ between its links: so n pairs close to a ring, whose crossings are on a circle of
radius L cos(δ/2) / sin(2π/n).

x#, y# are the crossing of a pair, alpha# and beta# the angles of its links from n_x, δ = alpha# - beta#.  An outer and
an inner pin join each pair to the next one, clockwise, with two rows each: 31 loops for 32 pairs.  The last pair meets
the first one by itself, and pins there would be redundant.  The first pair's coordinates are independent.  Each
crossing has a spring with the moment k cot δ, which lets no pair become flat, a damper c, and a motor whose torque tau,
the input, makes δ larger and the ring smaller.  The angular momentum is constant: the smaller the ring, the faster it
turns.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from math import cos, pi, sin, tan
from typing import TYPE_CHECKING, Any

from kanecore.shapes import Rod

from ._dimensions import ANGLE, LENGTH, MASS, RATE, TORQUE, TORSIONAL_FRICTION, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PAIRS = 32
PARAMETERS = {"L": 1.0, "m": 5.0, "k": 300.0, "c": 2.0}


def closed(delta: float, turning: float, n: int = PAIRS) -> dict[str, float]:
    """Coordinates and speeds of a ring about the origin that turns at constant size, of links as in ``PARAMETERS``."""
    size = PARAMETERS["L"] * cos(delta / 2) / sin(2 * pi / n)
    state: dict[str, float] = {}
    for i in range(1, n + 1):
        aside = -2 * pi / n * (i - 1)
        x, y = -size * sin(aside), size * cos(aside)
        state |= {f"x{i}": x, f"y{i}": y, f"alpha{i}": aside + delta / 2, f"beta{i}": aside - delta / 2}
        state |= {f"vx{i}": -turning * y, f"vy{i}": turning * x, f"walpha{i}": turning, f"wbeta{i}": turning}
    return state


STATE = closed(0.7, 0.5)

DIMENSIONS = (
    of("L", LENGTH)
    | of("m", MASS)
    | of("k tau", TORQUE)
    | of("c", TORSIONAL_FRICTION)
    | {
        f"{name}{i}": dimension
        for i in range(1, PAIRS + 1)
        for names, dimension in (
            ("x y", LENGTH),
            ("alpha beta", ANGLE),
            ("vx vy", VELOCITY),
            ("walpha wbeta", RATE),
        )
        for name in names.split()
    }
)


def build(n: int = PAIRS) -> Model:
    """The ring with ``n`` pairs of links, a and b; a leads to the next outer pin, b to the next inner one."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    torque = me.dynamicsymbols("tau")
    length, mass, stiffness, damping = sm.symbols("L m k c")
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    q: list[Any] = []
    u: list[Any] = []
    bodies, loads, ends = [], [], []
    for i in range(1, n + 1):
        x, y, alpha, beta = me.dynamicsymbols(f"x{i} y{i} alpha{i} beta{i}")
        vx, vy, w_alpha, w_beta = me.dynamicsymbols(f"vx{i} vy{i} walpha{i} wbeta{i}")
        q, u = [*q, x, y, alpha, beta], [*u, vx, vy, w_alpha, w_beta]
        crossing = origin.locatenew(f"C{i}", x * ground.x + y * ground.y)
        crossing.set_vel(ground, vx * ground.x + vy * ground.y)
        moment = (torque + stiffness * sm.cot(alpha - beta) - damping * (w_alpha - w_beta)) * ground.z
        for name, angle, rate, load in (("a", alpha, w_alpha, moment), ("b", beta, w_beta, -moment)):
            link = me.ReferenceFrame(f"{name}{i}")
            link.orient_axis(ground, ground.z, angle)
            link.set_ang_vel(ground, rate * ground.z)
            centre = crossing.locatenew(f"G{name}{i}", -length / 2 * tan(pi / n) * link.y)
            inertia = me.inertia(link, 0, 0, mass * length**2 / 12)
            bodies.append(me.RigidBody(link.name, centre, link, mass, (inertia, centre)))
            loads.append((link, load))
            ends.append(
                (centre.locatenew(f"P{link}", length / 2 * link.x), centre.locatenew(f"Q{link}", -length / 2 * link.x))
            )
    rows: dict[str, Any] = {}
    attach: dict[Any, Any] = {}
    for i in range(1, n):
        a, b, next_a, next_b = range(2 * i - 2, 2 * i + 2)
        for pin, one, other in (("outer", a, next_b), ("inner", b, next_a)):
            here, there = ends[one][0], ends[other][1]
            for axis, e in zip("xy", ground, strict=False):
                rows[f"{pin}{i}_{axis}"] = here.pos_from(there).dot(e)
                attach[f"{pin}{i}_{axis}"] = (bodies[one], here, bodies[other], there, e)
    return Model(
        ground,
        q[:4],
        u[:4],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        q_dependent=q[4:],
        configuration_constraints=rows,
        u_dependent=u[4:],
        bodies=bodies,
        attach=attach,
        forcelist=loads,
        inputs=[torque],
        outputs={"radius": length * sm.cos((q[2] - q[3]) / 2) / sin(2 * pi / n), "turning": (u[2] + u[3]) / 2},
        guess=closed(1.5, 0.0, n),
        shapes={each: Rod(length) for each in bodies},
        name="hoberman_ring",
    )
