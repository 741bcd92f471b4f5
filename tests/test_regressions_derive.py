# SPDX-License-Identifier: BSD-3-Clause
"""Models that once came out wrong, or were refused without cause."""

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from oracle.sympy_oracle import KaneOracle, to_doubles

import kanecore as kc
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import PARAMETER, SPEED, Graph
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.random_samples import Sample

t = me.dynamicsymbols._t


def assert_agrees_with_sympy(system: dict[str, Any], x: list[float], time: float = 0.4) -> kc.CompiledModel:
    names = ("frame", "q", "u", "kdes")
    model = kc.Model(*(system[name] for name in names), bodies=system["bodies"], forcelist=system["loads"])
    dyn = kc.compile(model, parameters=system["parameters"])
    n = len(system["q"])
    expected = to_doubles(KaneOracle(system)({"t": time, "q": x[:n], "u": x[n:]}))
    for name, values in (("forcing", expected["f"]), ("qdot", expected["qdot"]), ("udot", expected["udot"])):
        np.testing.assert_allclose(getattr(dyn, name)(time, x), values, rtol=1e-11, err_msg=name)
    return dyn


# ------------------------------------------------------------------------------------------ kinematical equations
@pytest.mark.parametrize("scales", [(1e-6, 1.0, 1e6), (1e-12, 1e-12, 1e-12)])
def test_units_do_not_make_equations_singular(scales: tuple[float, ...]) -> None:
    g = Graph()
    entry = [[g.symbol(("a", i, j), PARAMETER) for j in range(3)] for i in range(3)]
    matrix = [[g.mul(a, g.constant(s)) for a, s in zip(row, scales, strict=True)] for row in entry]
    right = [g.symbol(("b", i), SPEED) for i in range(3)]
    x = solve(g, matrix, right)
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-1, 1, (3, 3)), rng.uniform(-1, 1, 3)
    values = {("a", i, j): a[i, j] for i in range(3) for j in range(3)} | {("b", i): b[i] for i in range(3)}
    np.testing.assert_allclose(evaluate(g, x, values), np.linalg.solve(a * scales, b), rtol=1e-10)


def test_a_parameter_beside_a_large_number_is_not_zero() -> None:
    g = Graph()
    length, one, zero = g.symbol("L", PARAMETER), g.one, g.zero
    right = [g.symbol("u1", SPEED), g.symbol("u2", SPEED)]
    x = solve(g, [[one, zero], [g.constant(1e10), length]], right)
    np.testing.assert_allclose(evaluate(g, x, {"L": 2.0, "u1": 3.0, "u2": 5.0}), [3.0, (5.0 - 3e10) / 2])


def test_a_tiny_exact_number_is_no_pivot() -> None:
    g = Graph()
    tiny = g.constant(Fraction(1, 10**13))
    right = [g.symbol("u1", SPEED), g.symbol("u2", SPEED)]
    x = solve(g, [[tiny, g.one], [g.one, g.one]], right)
    np.testing.assert_allclose(evaluate(g, x, {"u1": 0.7, "u2": 0.2}), [-0.5, 0.7], rtol=1e-12)


def test_what_cancels_is_singular_in_any_units() -> None:
    g = Graph()
    q = g.symbol("q", PARAMETER)
    s, c = g.sin(q), g.cos(q)
    one = g.add(g.square(s), g.square(c))
    for scale in (1e-12, 1.0, 1e12):
        k = g.constant(scale)
        with pytest.raises(Singular):
            solve(g, [[g.mul(k, one), g.mul(k, c)], [g.mul(k, one), g.mul(k, g.mul(one, c))]], [g.one, g.zero])


def test_rounding_is_bounded_by_the_terms() -> None:
    g = Graph()
    q = g.symbol("q", PARAMETER)
    nothing = g.sub(g.add(g.square(g.sin(q)), g.square(g.cos(q))), g.sqrt(g.add(g.one, g.mul(q, g.constant(1e-30)))))
    something = g.sub(g.add(g.one, g.constant(1e-9)), g.mul(q, g.div(g.one, g.add(q, g.constant(1e-3)))))
    for seed in range(5):
        assert Sample(g, seed).vanishes(nothing)
        assert not Sample(g, seed).vanishes(something)
        assert not Sample(g, seed).vanishes(g.mul(g.constant(1e-200), q))


def test_speeds_in_small_units() -> None:
    """Four joint rates mixed into speeds, three of them in thousandths: det S is 1e-9 beside the rows of S."""
    N, P = ground()
    frame, n = N, 4
    q, u = me.dynamicsymbols("q1:5"), me.dynamicsymbols("u1:5")
    bodies = []
    for i in range(n):
        B = me.ReferenceFrame(f"B{i}")
        B.orient_axis(frame, (frame.x, frame.y, frame.z)[i % 3], q[i])
        P = P.locatenew(f"P{i}", B.x + B.y / 2)
        bodies.append(me.RigidBody(f"b{i}", P, B, 1, (me.inertia(B, 1, 2, 2), P)))
        frame = B
    rng = np.random.default_rng(3)
    a = rng.uniform(-1, 1, (n, n)) + 3 * np.eye(n)
    unit = [1e-3] * 3 + [1.0]
    kd = [u[i] - sum(unit[j] * (a[i, j] + sm.sin(q[j]) / 3) * q[j].diff(t) for j in range(n)) for i in range(n)]
    dyn = kc.compile(kc.Model(N, q, u, kd, bodies=bodies))
    x = rng.uniform(-1, 1, 2 * n)
    s = (a + np.sin(x[:n]) / 3) * unit
    np.testing.assert_allclose(s @ dyn.qdot(0.0, x), x[n:], rtol=1e-11)
    m, f, udot = dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x), dyn.udot(0.0, x)
    assert np.linalg.norm(m @ udot - f) <= 1e-12 * (np.linalg.norm(m) * np.linalg.norm(udot) + np.linalg.norm(f))


# ------------------------------------------------------------------------------------------------ inertia, points
def test_an_inertia_that_changes_in_its_body() -> None:
    """A tensor in axes that turn in the body, about a point that moves in it: T* holds dI/dt·ω, as in SymPy."""
    N, origin = ground()
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    A, B = me.ReferenceFrame("A"), me.ReferenceFrame("B")
    A.orient_axis(N, N.z, q[0])
    B.orient_axis(A, A.x, q[1])
    G = origin.locatenew("G", q[2] * A.x + 2 * B.y)
    Q = G.locatenew("Q", A.y / 3 + B.z / 5)
    G.vel(N)
    Q.vel(N)
    body = me.RigidBody("b", G, B, 2, (me.inertia(A, 3, 4, 5) + me.inertia(B, 1, 2, 3, 0.1), Q))
    kd = [q[0].diff(t) - u[0] - u[1], q[1].diff(t) - 2 * u[1], q[2].diff(t) - u[2]]
    loads = [(G, -20 * N.y), (B, u[0] * A.x)]
    system = {"frame": N, "q": q, "u": u, "kdes": kd, "bodies": [body], "loads": loads, "parameters": {}}
    x = np.array([0.3, -0.7, 0.9, 1.1, -0.4, 0.6])
    dyn = assert_agrees_with_sympy(system, list(x))

    # and the energy grows by the power of the loads, less half the work of dI/dt·ω, which T holds already
    rate, udot = dyn.rhs(0.4, x), dyn.udot(0.4, x)

    def energy(h: float) -> float:
        return float(dyn.kinetic_energy(0.4, x + h * rate) + dyn.potential_energy(0.4, x + h * rate))

    h = 1e-4
    slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert float(dyn.power(0.4, x, udot)) == pytest.approx(slope, rel=1e-8)


def test_a_wheels_inertia_in_its_fork_costs_nothing() -> None:
    def operations(axes: str) -> int:
        N, origin = ground()
        q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
        fork, wheel = me.ReferenceFrame("fork"), me.ReferenceFrame("wheel")
        fork.orient_body_fixed(N, (q[0], q[1], 0), "ZXY")
        wheel.orient_axis(fork, fork.y, q[2])
        G = origin.locatenew("G", fork.z)
        frame = fork if axes == "fork" else wheel
        body = me.RigidBody("b", G, wheel, 2, (me.inertia(frame, 2, 3, 2), G))
        model = kc.Model(N, q, u, rates(q, u), bodies=[body])
        forces = model.derivation.kernel("generalized_inertia_forces").roots
        return len(model.derivation.graph.below(forces))

    assert operations("fork") < 1.5 * operations("wheel")


def test_every_group_of_points_has_its_root() -> None:
    """P hangs on origin; S moves as the user says, and T is located from it without a velocity of its own."""
    N, origin = ground()
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q[2])
    P, S = origin.locatenew("P", q[0] * N.x), me.Point("S")
    S.set_vel(N, u[1] * N.y)
    T = S.locatenew("T", 2 * A.x)
    bodies = [me.Particle("p", P, 1), me.Particle("s", T, 3)]
    kd = rates(q, u)
    dyn = kc.compile(kc.Model(N, q, u, kd, bodies=bodies, forcelist=[(T, N.y)]))
    angle, w = 0.8, 1.3
    x = [0.1, 0.2, angle, 0.3, 0.4, w]
    c, s = 2 * math.cos(angle), 2 * math.sin(angle)
    np.testing.assert_allclose(dyn.mass_matrix(0.0, x), [[1, 0, 0], [0, 3, 3 * c], [0, 3 * c, 12]], rtol=1e-14)
    np.testing.assert_allclose(dyn.forcing(0.0, x), [0, 1 + 3 * s * w * w, c], rtol=1e-14, atol=1e-15)


def test_of_two_angular_velocities_as_near_it_is_sympys() -> None:
    """A frame oriented from C and turning in A, both one step from N: the neighbour that it knew first."""
    N, origin = ground()
    u = me.dynamicsymbols("u1:4")
    A, C, D = (me.ReferenceFrame(name) for name in "ACD")
    A.orient_axis(N, N.z, sm.pi / 2)
    C.orient_axis(N, N.x, 0)
    A.set_ang_vel(N, 3 * u[0] * N.x)
    C.set_ang_vel(N, u[0] * N.x)
    D.orient_axis(C, C.z, 0)
    D.set_ang_vel(C, u[1] * C.y + u[2] * C.z)
    D.set_ang_vel(A, 5 * u[1] * C.y)
    expected = [D.ang_vel_in(N).dot(axis) for axis in N]
    model = kc.Model(N, [], u, [], bodies=[me.RigidBody("b", origin, D, 1, (me.inertia(D, 1, 2, 3), origin))])
    (partial,) = model.symbolic("partial_angular_velocities", nested=True)
    assert list(partial * sm.Matrix(u)) == expected


# ------------------------------------------------------------------------------------------------------- energies
def test_a_bodys_potential_energy_on_a_moving_base() -> None:
    """The loads that it describes are found although a prescribed motion does work on the mass too."""
    N, origin = ground()
    q, u, z = *me.dynamicsymbols("q u"), me.dynamicsymbols("z")
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    P = origin.locatenew("P", z * N.y + A.x)
    height = z + sm.sin(q)
    particle = me.Particle("p", P, 2)
    particle.potential_energy = 20 * height + 3 * height**2
    loads = [(P, -6 * height * N.y), (P, -20 * N.y)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dyn = kc.compile(kc.Model(N, [q], [u], [q.diff(t) - u], bodies=[particle], forcelist=loads))
        h = 0.3 + math.sin(0.5)
        u_ = dyn.potential_energy(0.0, [0.5, 0.0], r={"z": 0.3, "z_d": 0.0, "z_dd": 0.0})
    assert float(u_) == pytest.approx(20 * h + 3 * h * h, rel=1e-14)


def test_a_bodys_potential_energy_with_an_input() -> None:
    """For the power its input is constant, unless its rate is an input too; the work of a run holds what it does."""
    N, origin = ground()
    q, u, r = *me.dynamicsymbols("q u"), me.dynamicsymbols("r")
    P = origin.locatenew("P", q * N.x)
    particle = me.Particle("p", P, 2)
    particle.potential_energy = 3 * (q - r) ** 2
    arguments = (N, [q], [u], [q.diff(t) - u])
    options = {"bodies": [particle], "forcelist": [(P, -6 * (q - r) * N.x)]}
    held = kc.Model(*arguments, **options)
    assert held.inputs == (r,)
    dyn = kc.compile(held)
    assert dyn.power(0.0, [0.5, 0.7], [0.0], r={"r": 0.2}) == 0.0
    run = dyn.simulate((0.0, 2.0), [0.5, 0.7], inputs={"r": math.sin}, rtol=1e-10, atol=1e-10)
    assert run.energy_drift < 1e-8
    model = kc.Model(*arguments, **options, outputs={"rate": r.diff(t)})
    assert model.inputs == (r, r.diff(t))
    power = kc.compile(model).power(0.0, [0.5, 0.7], [0.0], r={"r": 0.2, "r_d": 0.9})
    assert float(power) == pytest.approx(-6 * 0.3 * 0.9, rel=1e-14)


@pytest.mark.parametrize("first", [0, 3])
def test_angular_velocity_of_the_last_frame_of_a_chain(first: int) -> None:
    """Set in N, it makes the last frame the nearest neighbour of the one that it is oriented from."""
    q, u = me.dynamicsymbols("q1:5"), me.dynamicsymbols("u1:5")
    N, origin = ground()
    frames = [N]
    for k in range(4):
        frame = me.ReferenceFrame(f"A{k}")
        frame.orient_axis(frames[-1], frames[-1].z, q[k])
        frames.append(frame)
    frames[-1].set_ang_vel(N, sum(u) * N.z)
    bodies = [me.RigidBody(f.name, origin, f, 1, (me.inertia(f, 1, 1, 1), origin)) for f in frames[1:]]
    kdes = rates(q, u)
    dyn = kc.compile(kc.Model(N, q, u, kdes, bodies=bodies[first:] + bodies[:first]))
    lower = np.tril(np.ones((4, 4)))
    np.testing.assert_allclose(dyn.mass_matrix(0.0, np.ones(8)), lower.T @ lower, rtol=1e-14)
