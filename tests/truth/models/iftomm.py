# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of the IFToMM library of computational benchmark problems."""

import sympy as sm
import sympy.physics.mechanics as me

from .particles import System, inertial, system, turned


def iftomm_a05_flyball() -> System:
    """Stiff flyball governor (A05): the couplers are replaced by spring-dampers.

    Reconstructed from the public description: shaft and rods 1 × 0.01 × 0.01 m, slider a cube of 0.1 m, density 3000
    kg/m³, two 5 kg point masses at the rods' ends, k = 8e5 N/m, c = 4e4 N s/m, natural length 0.5 m.  Reduced to four
    degrees of freedom: psi (shaft), s (slider below the top pivot), a1, a2 (rods from the downward vertical).  The
    rods are pinned at the top of the shaft; the spring-dampers go from the rods' middles to the slider's centre.
    """
    psi, s, a1, a2 = q = me.dynamicsymbols("psi s a1 a2")
    u = u1, u2, u3, u4 = me.dynamicsymbols("u1 u2 u3 u4")
    mr, ms, mp, Jx, Jz, Is, L, k, c, l0, g, Jsh, msh = sm.symbols("mr ms mp Jx Jz Is L k c l0 g Jsh msh")
    N, origin = inertial()
    S = turned("S", N, N.z, psi, u1)
    A, B = turned("A", S, -S.y, a1, u3), turned("B", S, S.y, a2, u4)
    C = origin.locatenew("C", -s * S.z)
    C.set_vel(N, -u2 * S.z)
    bodies = [
        me.RigidBody("shaft", origin, S, msh, (me.inertia(S, Jsh, Jsh, Jz), origin)),
        me.RigidBody("slider", C, S, ms, (me.inertia(S, Is, Is, Is), C)),
    ]
    loads = [(C, -ms * g * N.z)]
    for name, rod in (("1", A), ("2", B)):
        G, E = origin.locatenew("G" + name, -L / 2 * rod.z), origin.locatenew("E" + name, -L * rod.z)
        G.v2pt_theory(origin, N, rod)
        E.v2pt_theory(origin, N, rod)
        bodies.append(me.RigidBody("rod" + name, G, rod, mr, (me.inertia(rod, Jx, Jx, Jz), G)))
        bodies.append(me.Particle("m" + name, E, mp))
        loads += [(G, -mr * g * N.z), (E, -mp * g * N.z)]
        reach = G.pos_from(C).express(S)
        length = sm.sqrt(sum(reach.dot(e) ** 2 for e in S))
        stretching = (G.vel(N) - C.vel(N)).dot(reach) / length
        force = -(k * (length - l0) + c * stretching) / length * reach
        loads += [(G, force), (C, -force)]
    bar, along = 0.3 * (1 + 0.0001) / 12, 0.3 * 0.0002 / 12  # central moments of a rod, across and along
    values = {mr: 0.3, ms: 3.0, mp: 5.0, Jx: bar, Jz: along, Is: 3 * 0.02 / 12, L: 1.0, k: 8e5, c: 4e4, l0: 0.5}
    return system(N, q, u, bodies, loads, values | {g: 9.81, Jsh: bar, msh: 0.3})


def iftomm_a01_pendulum() -> System:
    """Pendulum in Cartesian coordinates (A01), its rod cut: x² + y² = L² is the constraint."""
    x, y, u1, u2 = me.dynamicsymbols("x y u1 u2")
    m, L, g = sm.symbols("m L g")
    N, origin = inertial()
    P = origin.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u1 * N.x + u2 * N.y)
    values = {m: 1.0, L: 1.0, g: 9.81}
    result = system(N, [y, x], [u2, u1], [me.Particle("P", P, m)], [(P, -m * g * N.y)], values)
    return result | {"constraints": [2 * x * u1 + 2 * y * u2]}
