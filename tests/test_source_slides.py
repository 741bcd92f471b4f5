# SPDX-License-Identifier: BSD-3-Clause
"""The results of the slides "Dinámica analítica", Mecánica Racional, Universidad de Sevilla.

Each test names its section.  Where the slides have a misprint, the test says which and holds the right result.
"""

from __future__ import annotations

import sympy as sm
import sympy.physics.mechanics as me
from source_expressions import active, by_point, equal, equations, inertial, noncontributing, turned

import kanecore as kc
from kanecore.gallery import wire_particle

t = me.dynamicsymbols._t
theta = me.dynamicsymbols("theta")
m, g = sm.symbols("m g")


# ----------------------------------------------------------------------------- particle on a wire, liberation
R = sm.Symbol("R")
r, z, v_r, omega, v_z = me.dynamicsymbols("r z v_r omega v_z")
N_r, N_z = me.dynamicsymbols("N_r N_z")


def freed_particle(weight: bool = True) -> kc.Model:
    """The particle without the wire: cylindrical coordinates r, theta, z, and the wire's reactions as forces."""
    N, E = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    E.orient_axis(N, theta, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", r * E.x + z * N.z)
    reaction = N_r * E.x + N_z * N.z
    q, u = [r, theta, z], [v_r, omega, v_z]
    return kc.Model(
        N,
        q,
        u,
        [a.diff() - b for a, b in zip(q, u, strict=True)],
        bodies=[me.Particle("particle", P, m)],
        forcelist=[(P, m * g * N.x + reaction if weight else reaction)],
    )


def test_freed_particle_energies() -> None:
    """Slides, liberation: T = m/2 (ṙ² + r² θ̇² + ż²), U = −m g r cos θ."""
    model = freed_particle()
    assert equal(model.symbolic("kinetic_energy", nested=True), m / 2 * (v_r**2 + r**2 * omega**2 + v_z**2))
    assert equal(model.symbolic("potential_energy", nested=True), -m * g * r * sm.cos(theta))


def test_freed_particle_reactions_as_generalized_forces() -> None:
    """Slides, liberation: Q_r = N_r, Q_θ = 0, Q_z = N_z."""
    assert equal(active(freed_particle(weight=False)), [N_r, 0, N_z])


def test_freed_particle_equations() -> None:
    """Slides, liberation: the three equations of Lagrange."""
    radial = m * v_r.diff(t) - m * r * omega**2 - m * g * sm.cos(theta) - N_r
    circular = m * r**2 * omega.diff(t) + 2 * m * r * v_r * omega + m * g * r * sm.sin(theta)
    lateral = m * v_z.diff(t) - N_z
    assert equal(equations(freed_particle()), [radial, circular, lateral])


def test_wire_put_back_gives_its_reactions() -> None:
    """Slides, liberation: with r = R, z = 0, N_r = −m (R θ̇² + g cos θ), N_z = 0, θ̈ = −(g/R) sin θ."""
    on_the_wire = {v_r.diff(t): 0, v_z.diff(t): 0, v_r: 0, v_z: 0, r: R, z: 0}
    radial, circular, lateral = (sm.simplify(me.msubs(e, on_the_wire)) for e in equations(freed_particle()))
    assert equal(sm.solve(radial, N_r)[0], -m * (R * omega**2 + g * sm.cos(theta)))
    assert sm.solve(lateral, N_z) == [0]
    assert equal(sm.solve(circular, omega.diff(t))[0], -g / R * sm.sin(theta))


def test_wire_particle() -> None:
    """Slides, liberation: the bound particle, θ̈ = −(g/R) sin θ, and reactions that do not contribute (Q_θ = 0)."""
    model = wire_particle.build()
    u = model.speeds[0]
    _, along = turned(theta)
    assert equal(by_point(model)["P"][0], R * along)
    assert equal(active(model), [-m * g * R * sm.sin(theta)])
    assert equal(inertial(model), [-m * R**2 * u.diff(t)])
    assert equal(model.symbolic("udot", nested=True), [-g / R * sm.sin(theta)])
    assert noncontributing(model) == {"N_r", "N_z"}
