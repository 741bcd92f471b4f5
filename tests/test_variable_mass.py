# SPDX-License-Identifier: BSD-3-Clause
"""Masses that depend on coordinates, time or inputs: −(m a + ṁ v), as SymPy's KanesMethod forms it."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.on_graph import OnGraph
from sweep import every

import kanecore as kc

t = me.dynamicsymbols._t
q = q1, q2, q3 = me.dynamicsymbols("q1:4")
u = u1, u2, u3 = me.dynamicsymbols("u1:4")
M = me.dynamicsymbols("M")
m, g, b, J, k = sm.symbols("m g b J k")
VALUES = {m: 1.3, g: 9.81, b: 0.8, J: 2.5, k: 6.0}
KD = rates(q, u)

MASSES = {
    "of a coordinate": m * (2 + sm.sin(q1)),
    "of two": m + k * q1**2 * sm.cos(q3) ** 2,
    "of time": m * sm.exp(-t / 3),
    "of time and a coordinate": m * (3 + sm.cos(q2 - t)),
    "an input": M,
    "of an input": m * (1 + M**2) + q2**2,
}


def system(mass: Any) -> tuple[Any, list[Any], list[Any]]:
    """A particle of that mass in the plane, and a rod hinged to it, its inertia about the hinge, of that mass too."""
    N, origin = ground()
    A = N.orientnew("A", "Axis", [q3, N.z])
    A.set_ang_vel(N, u3 * N.z)
    P = origin.locatenew("P", q1 * N.x + q2 * N.y)
    P.set_vel(N, u1 * N.x + u2 * N.y)
    C = P.locatenew("C", b * A.x)
    C.v2pt_theory(P, N, A)
    bodies = [me.Particle("B", P, mass), me.RigidBody("R", C, A, mass + m, (me.inertia(A, J, J, 2 * J), P))]
    loads = [(P, -mass * g * N.y), (C, -(mass + m) * g * N.y), (P, -k * q1 * N.x - u2 * N.y)]
    return N, bodies, loads


def model(mass: Any, **options: Any) -> kc.Model:
    N, bodies, loads = system(mass)
    return kc.Model(N, q, u, KD, bodies=bodies, forcelist=loads, **options)


@pytest.mark.parametrize("name", every(2, MASSES))
def test_against_sympy(name: str) -> None:
    mass = MASSES[name]
    N, bodies, loads = system(mass)
    found = model(mass)
    kane = me.KanesMethod(N, q, u, KD)
    _, frstar = kane.kanes_equations(bodies, loads)
    rng = np.random.default_rng(list(name.encode()))
    moving = [*q, *u, *(x.diff() for x in u), *found.inputs]
    assert found.inputs == ((M, M.diff()) if mass.has(M) else ())
    state = {**dict(zip(moving, rng.uniform(0.2, 1.2, len(moving)), strict=True)), **VALUES, t: 0.7}
    on = OnGraph(found, {str(s): state[s] for s in found.parameters})
    x, udot = [state[s] for s in (*q, *u)], [state[s.diff()] for s in u]
    r = dict(zip(on.input_names, [state[s] for s in found.inputs], strict=True))
    rates = {x.diff(): y for x, y in zip(q, u, strict=True)}
    for kernel, given, expected in (
        ("mass_matrix", (), kane.mass_matrix),
        ("forcing", (), kane.forcing),
        ("generalized_inertia_forces", (udot,), frstar),
    ):
        numbers = sm.Matrix(expected).xreplace(rates).doit().xreplace(state).evalf()
        result = np.ravel(getattr(on, kernel)(0.7, x, *given, r=r))
        np.testing.assert_allclose(result, np.array(numbers, dtype=float).ravel(), rtol=1e-12, atol=1e-13)


@pytest.fixture(scope="module")
def bucket() -> kc.CompiledModel:
    """A mass that depends on where it is and on time, with a drive that moves its guide."""
    mass = m * (3 + sm.sin(q1) + sm.cos(t))
    N, bodies, loads = system(mass)
    drive = me.dynamicsymbols("drive")
    origin = me.Point("pivot")
    origin.set_vel(N, 0)
    hung = origin.locatenew("hung", q2 * N.x + drive * N.y)
    hung.set_vel(N, u2 * N.x + drive.diff() * N.y)
    bodies.append(me.Particle("hung", hung, m * (2 + q2**2)))
    return kc.compile(kc.Model(N, q, u, KD, bodies=bodies, forcelist=loads), parameters=VALUES)


def test_power_along_a_motion(bucket: kc.CompiledModel) -> None:
    """d(T + U)/dt by differences of order 4, half ṁ v² and the drive's work with it."""
    x = np.array([0.3, -0.6, 0.8, 0.7, -1.1, 0.9])
    start, h = 0.4, 1e-3
    assert bucket.input_names == ("drive", "drive_d", "drive_dd")

    def drive(s: float) -> Any:
        return np.array([np.sin(s), np.cos(s), -np.sin(s)])

    def energy(d: float) -> float:
        """Along a line with the direction of the motion."""
        z, s = x + d * bucket.rhs(start, x, r=drive(start)), start + d
        return float(bucket.kinetic_energy(s, z, r=drive(s)) + bucket.potential_energy(s, z, r=drive(s)))

    expected = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    power = bucket.power(start, x, bucket.udot(start, x, r=drive(start)), r=drive(start))
    assert power == pytest.approx(expected, rel=1e-9)
    sol = bucket.simulate((0.0, 2.0), x, inputs=lambda s, _: drive(s), rtol=1e-10, atol=1e-10)
    assert sol.energy_drift < 1e-7


def test_reactions_and_linearization(bucket: kc.CompiledModel) -> None:
    """The joint of the free particle holds nothing but what its own balance leaves; A against differences."""
    x, r = np.array([0.3, -0.6, 0.8, 0.7, -1.1, 0.9]), np.array([0.2, 0.5, -0.1])
    a, _ = bucket.linearize(0.4, x, r=r)
    h = 1e-5
    columns = [(bucket.rhs(0.4, x + h * e, r=r) - bucket.rhs(0.4, x - h * e, r=r)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(a, np.transpose(columns), rtol=1e-7, atol=1e-8)
    reactions = bucket.reactions(0.4, x, r=r, named=True)["hung"]
    M2 = 1.3 * (2 + x[1] ** 2)
    growth = 1.3 * 2 * x[1] * x[4]
    udot = bucket.udot(0.4, x, r=r)
    expected = M2 * np.array([udot[1], r[2], 0.0]) + growth * np.array([x[4], r[1], 0.0])
    np.testing.assert_allclose(reactions[:3], expected, rtol=1e-12, atol=1e-13)


def test_the_mass_of_a_body_that_an_input_gives_must_be_given() -> None:
    made = model(M)
    assert made.inputs == (M, M.diff())
    assert "of a mass that changes: its inertia force is −(m a + ṁ v)" in " ".join(made.report().split())
    assert made.derivation.description.prescribed == {0, 1}
    constant = model(m).report()
    assert "ṁ" not in constant
