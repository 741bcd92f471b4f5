# SPDX-License-Identifier: BSD-3-Clause
"""Constrained models at run time: u̇, multipliers, Kane's nonholonomic quantities, consistent states, motions."""

import itertools
import pickle
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, g, ground, l, m, particle, rates
from scipy.integrate import solve_ivp
from sweep import part
from test_truth import CASES, CONSTRAINED
from test_truth import compiled as truth

import kanecore as kc
from kanecore.constraints.constraint_values import residuals
from kanecore.gallery import bricard, four_bar

#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
(x, y), (u1, u2, u3) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:4")
MASS, G, LENGTH = 2.0, 9.81, 1.5


# ------------------------------------------------------------------------------------------------- models
def falling(dimension: int, values: dict[Any, float] | None = None, **arguments: Any) -> kc.CompiledModel:
    """A particle in Cartesian coordinates under gravity along -y."""
    model = particle(dimension, lambda P, N: [(P, -m * g * N.y)], **arguments)
    return compiled(model, {m: MASS, **(values or {})})


def pendulum(form: str = "plain", **arguments: Any) -> kc.CompiledModel:
    """A particle held at the distance l from the origin, in x and y; SymPy's users give the derivative as well."""
    circle = x**2 + y**2 - l**2
    rows: dict[str, Any] = {"configuration_constraints": [circle] * (2 if form == "twice" else 1)}
    if form == "filed":
        rows["velocity_constraints"] = [2 * x * u1 + 2 * y * u2]
    return falling(2, {l: LENGTH}, dependent=(1, 1), name="pendulum", **(rows | arguments))


def swinging(angle: float, rate: float) -> Array:
    """The state of `pendulum` at an angle from straight down."""
    s, c = np.sin(angle), np.cos(angle)
    return LENGTH * np.array([s, -c, rate * c, rate * s])


def linkage() -> tuple[kc.CompiledModel, Array]:
    """The four-bar linkage of the gallery, closed by configuration constraints, and a state; q1, u1 are independent."""
    return kc.load("four_bar"), np.array(list(four_bar.STATE.values()))


@cache
def disc() -> kc.CompiledModel:
    """SymPy's rolling disc with speeds of its contact point: yaw, lean and spin are all its coordinates."""
    q, u, r = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:7"), sm.Symbol("r")
    N, C = me.ReferenceFrame("N"), me.Point("C")
    Y = N.orientnew("Y", "Axis", [q[0], N.z])
    L = Y.orientnew("L", "Axis", [q[1], Y.x])
    R = L.orientnew("R", "Axis", [q[2], L.y])
    omega = R.ang_vel_in(N)
    R.set_ang_vel(N, sum((s * e for s, e in zip(u[:3], L, strict=True)), me.Vector(0)))
    axes = (L.x, Y.z.cross(L.x), Y.z)
    C.set_vel(N, sum((s * e for s, e in zip(u[3:], axes, strict=True)), me.Vector(0)))
    centre = C.locatenew("Dmc", r * L.z)
    centre.v2pt_theory(C, N, R)
    body = me.RigidBody("disc", centre, R, m, (me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), centre))
    model = kc.Model(
        *(N, q, u[:3], [(R.ang_vel_in(N) - omega).dot(e) for e in L]),
        u_dependent=u[3:],
        velocity_constraints=[C.vel(N).dot(e) for e in axes],
        bodies=[body],
        forcelist=[(centre, -m * g * Y.z)],
        points=[centre],
        frames=[R],
    )
    return compiled(model)


@cache
def sleigh() -> kc.CompiledModel:
    """Chaplygin's sleigh: a knife edge at the distance a behind the mass centre; x, y of the mass centre."""
    th, w = me.dynamicsymbols("th w")
    moment, a = sm.symbols("I a")
    N, O = ground()  # noqa: E741
    B = N.orientnew("B", "Axis", [th, N.z])
    B.set_ang_vel(N, w * N.z)
    centre = O.locatenew("G", x * N.x + y * N.y)
    centre.set_vel(N, u1 * N.x + u2 * N.y)
    edge = centre.locatenew("A", -a * B.x)
    edge.v2pt_theory(centre, N, B)
    model = kc.Model(
        *(N, [x, y, th], [u1, w], rates([x, y, th], [u1, u2, w])),
        u_dependent=[u2],
        velocity_constraints=[edge.vel(N).dot(B.y)],
        bodies=[me.RigidBody("sleigh", centre, B, m, (me.inertia(B, 0, 0, moment), centre))],
    )
    return compiled(model, {m: 2.0, moment: 0.3, a: 0.4})


def cranks() -> kc.CompiledModel:
    """A coupler on three equal parallel cranks: off its constraints six rows of rank 6, on them of rank 5.

    Each crank has a length of its own, so that the numbers alone tell.
    """
    q, u = [x, y, *me.dynamicsymbols("th a b c")], me.dynamicsymbols("u1:7")
    d, *lengths = sm.symbols("d l1:4")
    N, O = ground()  # noqa: E741
    B = N.orientnew("B", "Axis", [q[2], N.z])
    B.set_ang_vel(N, u[2] * N.z)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    bodies, closed = [me.RigidBody("coupler", P, B, m, (me.inertia(B, 0, 0, m * d**2 / 3), P))], []
    for i, length in enumerate(lengths):
        A = N.orientnew(f"A{i}", "Axis", [q[3 + i], N.z])
        A.set_ang_vel(N, u[3 + i] * N.z)
        pivot = O.locatenew(f"V{i}", (i - 1) * d * N.x)
        pivot.set_vel(N, 0)
        centre = pivot.locatenew(f"C{i}", length / 2 * A.x)
        centre.v2pt_theory(pivot, N, A)
        bodies.append(me.RigidBody(f"crank {i}", centre, A, m, (me.inertia(A, 0, 0, m * length**2 / 12), centre)))
        gap = (i - 1) * d * N.x + length * A.x - (x * N.x + y * N.y + (i - 1) * d * B.x)
        closed += [gap.dot(N.x), gap.dot(N.y)]
    loads = [(body.masscenter, -m * g * N.y) for body in bodies]
    model = kc.Model(N, q, u, rates(q, u), configuration_constraints=closed, bodies=bodies, forcelist=loads)
    return compiled(model, {m: 1.0, d: 0.5, **dict.fromkeys(lengths, 0.8)})


# -------------------------------------------------------------------------------- u̇, multipliers, forces
@pytest.mark.parametrize("form", ["plain", "filed", "twice"])
def test_pendulum_in_two_coordinates(form: str) -> None:
    """θ̈ = −g/l sin θ in x and y, and the tension m (g cos θ + l θ̇²): 2 l λ with the row 2x u̇1 + 2y u̇2; its motion."""
    dyn = pendulum(form)
    for angle, rate in ((0.7, 1.3), (np.pi / 2, -2.0), (-3.0, 0.1), (0.0, 4.0)):
        state, turn = swinging(angle, rate), -G / LENGTH * np.sin(angle)
        s, c = np.sin(angle), np.cos(angle)
        udot = [LENGTH * (turn * c - rate**2 * s), LENGTH * (turn * s + rate**2 * c)]
        np.testing.assert_allclose(dyn.udot(0.0, state), udot, rtol=0, atol=1e-13 * (G + LENGTH * rate**2))
        force = dyn.multipliers(0.0, state)
        assert -2 * LENGTH * np.sum(force) == pytest.approx(MASS * (G * c + LENGTH * rate**2), rel=1e-12)
        np.testing.assert_allclose(force, force[0], rtol=1e-13)  # of rows that repeat: those of least norm
    assert dyn.n_constraints == len(dyn.constraint_names) == (2 if form == "twice" else 1)
    found = dyn.check(swinging(0.3, 1.0))
    assert (found.rank, found.dof, found.integrable) == (1, 1, True)
    assert found.redundant == (("configuration constraint 1",) if form == "twice" else ())
    assert ("redundant: configuration constraint 1" in str(found)) is (form == "twice")

    def exact(_: float, z: Array) -> list[float]:
        return [z[1], -G / LENGTH * np.sin(z[0])]

    times = np.linspace(0.0, 10.0, 11)
    angle = solve_ivp(exact, (0.0, 10.0), [0.7, 1.3], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y
    sol = dyn.simulate((0.0, 10.0), swinging(0.7, 1.3), rtol=1e-11, atol=1e-12, t_eval=times)
    np.testing.assert_allclose(sol.x, [swinging(*z) for z in angle.T], rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", part(CONSTRAINED, ["appell_hamel", "iftomm_a01_pendulum", "lmd_four_bar"]))
def test_both_forms_of_the_equations(name: str) -> None:
    """M u̇ = f + Gᵀλ, G u̇ + γ = 0, and F̃ + F̃* = 0 where the dependent speeds are known, at random states."""
    dyn, rng = truth(name), np.random.default_rng(3)
    for _ in range(4):
        state = rng.uniform(-1.0, 1.0, dyn.n_x)
        if name == "andrews_squeezer":
            state[: dyn.n_q] = CASES[name]["converged_q_t1"]
        state = dyn.consistent(0.0, state, None)
        udot, multipliers = dyn.udot(0.0, state), dyn.multipliers(0.0, state)
        M, f, rows = dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state), dyn.constraint_jacobian(0.0, state)
        size = np.max(np.abs(M @ udot)) + np.max(np.abs(f))
        assert np.max(np.abs(M @ udot - f - rows.T @ multipliers)) < 1e-10 * size
        left = (rows @ udot + dyn.constraint_bias(0.0, state)) / np.max(np.abs(rows), axis=1)
        assert np.max(np.abs(left)) < 1e-10 * (1 + np.max(np.abs(udot)))
        if dyn.n_u_dependent:
            active = dyn.generalized_active_forces(0.0, state, nonholonomic=True)
            inertia = dyn.generalized_inertia_forces(0.0, state, udot, nonholonomic=True)
            assert np.max(np.abs(active + inertia)) < 1e-10 * size


def test_sleigh_moves_as_chaplygin_says() -> None:
    """v̇ = a ω², ω̇ = −m a v ω / (I + m a²) of the blade (Bloch, Nonholonomic Mechanics and Control, 2015, 1.7)."""
    dyn, (mass, moment, a) = sleigh(), (2.0, 0.3, 0.4)
    x0 = dyn.consistent(0.0, [0.1, 0.2, 0.3, 0.7, 1.1, 0.0])

    def exact(_: float, z: Array) -> list[float]:
        v, w = z
        return [a * w**2, -mass * a * v * w / (moment + mass * a**2)]

    v0, times = float(x0[3] * np.cos(0.3) + x0[5] * np.sin(0.3)), [3.0, 10.0]
    reference = solve_ivp(exact, (0.0, 10.0), [v0, x0[4]], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times)
    sol = dyn.simulate((0.0, 10.0), x0, rtol=1e-11, atol=1e-12, t_eval=times)
    forward = sol.x[:, 3] * np.cos(sol.x[:, 2]) + sol.x[:, 5] * np.sin(sol.x[:, 2])
    np.testing.assert_allclose(forward, reference.y[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol.x[:, 4], reference.y[1], rtol=0, atol=1e-9)


def test_nonholonomic_partial_velocities_of_the_disc() -> None:
    """v = Σ ṽ_r u_r + ṽ_t of independent speeds; the centre of a rolling disc has ω × r L.z (Kane & Levinson, 2.14)."""
    dyn, rng = disc(), np.random.default_rng(0)
    states = np.array([dyn.consistent(0.0, rng.uniform(-1.0, 1.0, 9)) for _ in range(6)]).reshape(2, 3, -1)
    u = states[..., 3:6]
    partials = dyn.partial_velocities(0.0, states, nonholonomic=True)
    remainder = dyn.partial_velocities(0.0, states, nonholonomic=True, remainder=True)
    assert (partials.shape, remainder.shape) == ((2, 3, 1, 3, 3), (2, 3, 1, 3))
    full = np.einsum("...prk,...r->...pk", dyn.partial_velocities(0.0, states), states[..., 3:])
    np.testing.assert_allclose(np.einsum("...prk,...r->...pk", partials, u) + remainder, full, atol=1e-13)
    angular = dyn.partial_angular_velocities(0.0, states, nonholonomic=True)
    omega = np.einsum("...frk,...r->...fk", angular, u)
    yaw, lean = states[..., 0], states[..., 1]
    up = np.stack([np.sin(yaw) * np.sin(lean), -np.cos(yaw) * np.sin(lean), np.cos(lean)], axis=-1)
    np.testing.assert_allclose(full[..., 0, :], np.cross(omega[..., 0, :], 0.4 * up), atol=1e-13)
    assert np.array_equal(dyn.partial_accelerations(0.0, states), partials)
    assert np.array_equal(dyn.partial_angular_accelerations(0.0, states), angular)
    out = np.empty((2, 3, 3))
    assert dyn.generalized_active_forces(0.0, states, nonholonomic=True, out=out) is out
    for i in np.ndindex(2, 3):
        np.testing.assert_allclose(out[i], dyn.generalized_active_forces(0.0, states[i], nonholonomic=True), atol=1e-13)
    # without coordinates of the contact nobody can say whether the disc's place follows from its attitude
    found = dyn.check()
    assert (found.rank, found.dof, found.integrable) == (3, 3, None)


def test_partial_accelerations_of_a_constraint_that_is_not_linear_in_the_speeds() -> None:
    """A particle at constant speed, u1² + u2² = s²: ã_1 = (1, −u1/u2)."""
    s = sm.Symbol("s")
    dyn = falling(2, {s: 5.0}, dependent=(0, 1), velocity_constraints=[u1**2 + u2**2 - s**2])
    state = [0.0, 0.0, 3.0, 4.0]
    np.testing.assert_allclose(dyn.partial_accelerations(0.0, state), [[[1.0, -0.75, 0.0]]], atol=1e-15)
    [force] = dyn.generalized_active_forces(0.0, state, nonholonomic=True)
    assert force == pytest.approx(MASS * G * 0.75, rel=1e-14)
    # only the part of gravity across the motion is felt: u̇ = −g (−u2 u1, u1²)/s²
    np.testing.assert_allclose(dyn.udot(0.0, state), [G * 12 / 25, -G * 9 / 25], rtol=1e-13)
    assert dyn.check(state).integrable is None


def test_dead_point_of_the_named_set() -> None:
    """u̇ needs no dependent set; Kane's nonholonomic quantities do, and say which speeds were lost."""
    dyn, state = pendulum(), swinging(np.pi / 2, 1.0)
    state[1] = state[2] = 0.0
    assert np.isfinite(dyn.udot(0.0, state)).all()
    with pytest.raises(kc.SingularError, match=r"dependent speeds u2 of 'pendulum'.*dead point") as caught:
        dyn.generalized_active_forces(0.0, [swinging(0.1, 1.0), state], nonholonomic=True)
    assert caught.value.rows.tolist() == [1]
    with pytest.raises(kc.ModelError, match=r"[56] of the 6 .*name one speed there"):
        cranks().partial_velocities(0.0, np.zeros(12), nonholonomic=True)


# ------------------------------------------------------------------------------------- consistent states
def test_consistent_keeps_what_is_independent() -> None:
    dyn, guess = pendulum(), swinging(0.7, 1.3) + np.array([0.1, 0.2, -0.1, 0.3])
    found = dyn.consistent(0.0, guess)
    assert found[[0, 2]].tolist() == guess[[0, 2]].tolist()
    assert found[1] == pytest.approx(-np.sqrt(LENGTH**2 - guess[0] ** 2), abs=1e-14)  # the root next to the guess
    assert found[3] == pytest.approx(-found[0] * found[2] / found[1], abs=1e-13)


def test_consistent_makes_the_least_change() -> None:
    """The projection of a point on a circle, and of its velocity on the tangent: one mass, so lengths as they are."""
    dyn, guess, direction = pendulum(), np.array([1.2, -1.6, 0.5, 0.1]), np.array([0.6, -0.8])
    found = dyn.consistent(0.0, guess, keep=None)
    np.testing.assert_allclose(found[:2], LENGTH * direction, atol=1e-12)
    np.testing.assert_allclose(found[2:], guess[2:] - direction * (direction @ guess[2:]), atol=1e-12)


def test_projection_weighs_speeds_by_mass() -> None:
    """min ½ δuᵀ M δu with G (u + δu) = 0: M δu = Gᵀ μ."""
    dyn, state = linkage()
    state[3:] += [0.3, -0.2, 0.1]
    M, rows = dyn.mass_matrix(0.0, state), dyn.constraint_jacobian(0.0, state)
    n, n_c = dyn.n_u, dyn.n_constraints
    system = np.block([[M, -rows.T], [rows, np.zeros((n_c, n_c))]])
    change = np.linalg.solve(system, np.concatenate([np.zeros(n), -rows @ state[3:]]))[:n]
    np.testing.assert_allclose(dyn.consistent(0.0, state, None)[3:] - state[3:], change, atol=1e-12)


def test_consistent_from_rough_guesses() -> None:
    """A closed loop; a dead point, where y says nothing of x; |v|² = V² and u1 u2 + sin(x) u3 = 0."""
    dyn, _ = linkage()
    found = dyn.consistent(0.0, [0.5, 0.0, 2.0, 1.0, 0.0, 0.0])
    assert np.max(np.abs(residuals(dyn, 0.0, found))) < 1e-12
    assert tuple(found[[0, 3]]) == (0.5, 1.0)
    with pytest.warns(kc.KanecoreWarning, match="changed independent values of 'pendulum', x from 1.5"):
        found = pendulum().consistent(0.0, [LENGTH, 0.1, 0.3, 0.4])
    np.testing.assert_allclose(residuals(pendulum(), 0.0, found), 0.0, atol=1e-12)
    assert np.max(np.abs(found)) < 2.0
    V = sm.Symbol("V")
    dyn = falling(3, {V: 1.7}, velocity_constraints=[u1**2 + u2**2 + u3**2 - V**2, u1 * u2 + sm.sin(x) * u3])
    rng = np.random.default_rng(5)
    for _ in range(50):
        found = dyn.consistent(0.0, rng.uniform(-3.0, 3.0, dyn.n_x), None)
        assert np.max(np.abs(dyn.velocity_residual(0.0, found))) < 1e-12


def test_consistent_keeps_what_is_named() -> None:
    """A rolling disc: the spin, a speed of the contact point, which tells the spin, but not two such speeds."""
    dyn, x = kc.load("rolling_disc"), np.array([0.3, 0.2, 0.0, 0.5, 0.0, 0.1, 0.4, -4.0, 8.0, 8.0])
    for keep in (["u3"], ["u4"], ["u5", "u2", "q4"], ["u4", "u1"], [sm.Symbol("u3")], dyn.speed_names[:3], []):
        found = dyn.consistent(0.0, x, keep)
        assert np.max(np.abs(residuals(dyn, 0.0, found))) < 1e-13
        for name in map(str, keep):
            place = [*dyn.coordinate_names, *dyn.speed_names].index(name)
            assert found[place] == x[place]
    np.testing.assert_array_equal(dyn.consistent(0.0, x, ["u1", "u2", "u3"]), dyn.consistent(0.0, x))
    with pytest.raises(kc.ModelError, match=r"u4 = 8, u5 = 8 cannot all stay at t = .*, as keep asks"):
        dyn.consistent(0.0, x, ["u5", "u4"])
    with pytest.raises(KeyError, match="no coordinate or speed of 'rolling_disc' is called 'u9'"):
        dyn.consistent(0.0, x, ["u9"])


def tied(constrained: bool) -> kc.CompiledModel:
    """A body by a unit quaternion, whose place x is the component of its axis along N.y."""
    N, O = ground()  # noqa: E741
    e, w, v = me.dynamicsymbols("e0:4"), me.dynamicsymbols("w1:4"), me.dynamicsymbols("v")
    B = N.orientnew("B", "Quaternion", e)
    B.set_ang_vel(N, w[0] * B.x + w[1] * B.y + w[2] * B.z)
    half = sm.Matrix([[-e[1], -e[2], -e[3]], [e[0], -e[3], e[2]], [e[3], e[0], -e[1]], [-e[2], e[1], e[0]]]) / 2
    P = O.locatenew("P", x * N.x)
    kinematics = [*(sm.Matrix(e).diff(me.dynamicsymbols._t) - half * sm.Matrix(w)), x.diff() - v]
    body = me.RigidBody("body", P, B, 1, (me.inertia(B, 1, 2, 3), P))
    rows = {"tie": x - B.x.dot(N.y)} if constrained else {}
    return compiled(
        kc.Model(N, [*e, x], [*w, v], kinematics, bodies=[body], configuration_constraints=rows, name="tied")
    )


def test_consistent_keeps_components_of_unit_quaternions() -> None:
    """The norm is a row as others are: a state exists for each component, and stands beside what is named."""
    start = np.array([1.0, 0.3, 0.2, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0])
    for constrained, keep in itertools.product(
        (True, False), (["x"], ["e1"], ["e2", "x"], ["e3", "e1"], ["w1", "e0", "v"], [])
    ):
        dyn = tied(constrained)
        given = start if "e0" not in keep else np.array([0.9, *start[1:]])
        found = dyn.consistent(0.0, given, keep)
        for name in keep:
            place = [*dyn.coordinate_names, *dyn.speed_names].index(name)
            assert found[place] == given[place]
        assert np.linalg.norm(found[:4]) == pytest.approx(1.0, abs=1e-15)
        if constrained:
            assert np.max(np.abs(residuals(dyn, 0.0, found))) < 1e-14
    at_rest = [1.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0]
    found = dyn.consistent(0.0, at_rest, ["e0", "e1", "e2", "e3"])
    np.testing.assert_array_equal(found[:4], at_rest[:4])
    for keep, said in (
        (["e0", "e1"], r"e0 = 1, e1 = 0.3 cannot stay, as keep asks: the unit .* norm 1: divide by its norm"),
        (["e1"], r"e1 = 0.3 cannot stay, .* norm 1: start from other values than e0 = 0, e2 = 0, e3 = 0"),
    ):
        with pytest.raises(kc.ModelError, match=said):
            dyn.consistent(0.0, start if len(keep) > 1 else [0, 0.3, 0, 0, 0, 0, 0, 0, 0], keep)


@pytest.mark.parametrize("mass", [1e10, 1e14, 1e20])
@pytest.mark.parametrize("keep", ["independent", None, ["v0"]])
def test_consistent_of_masses_far_apart(mass: float, keep: Any) -> None:
    """v0 − v1 = 0 and v0 − v1 + v2/1000 = 0: v2 = 0, though beside the light ones √m v2 is large."""
    N, O = ground()  # noqa: E741
    q, v = me.dynamicsymbols("q0:3"), me.dynamicsymbols("v0:3")
    points = [O.locatenew(f"P{i}", s * N.x) for i, s in enumerate(q)]
    for point, s in zip(points, v, strict=True):
        point.set_vel(N, s * N.x)
    bodies = [me.Particle(point.name, point, m) for point, m in zip(points, (1, 1, mass), strict=True)]
    for kind, s in (("velocity", v), ("configuration", q)):
        rows = {f"{kind}_constraints": [s[0] - s[1], s[0] - s[1] + s[2] / 1000]}
        dyn = compiled(kc.Model(N, q, v, [a.diff() - b for a, b in zip(q, v, strict=True)], bodies=bodies, **rows))
        found = dyn.consistent(0.0, [0.4, 0.2, 0.1, 1.0, 0.5, 0.1], keep)
        assert abs(found[5]) < 1e-12
        assert found[3] == pytest.approx(found[4], rel=1e-14)
        assert np.max(np.abs(residuals(dyn, 0.0, found))) < 1e-14


def test_consistent_says_what_independent_one_it_changed() -> None:
    """u1 + x u2 = 2, from which u2 follows but for x = 0; without dependent speeds none is independent."""
    row = u1 + x * u2 - 2
    dyn, free = (falling(2, {}, dependent=(0, n), velocity_constraints=[row], name="bead") for n in (1, 0))
    dead, alive = [0.0, 0.0, 1.0, 3.0], [0.5, 0.0, 1.0, 3.0]
    with pytest.warns(kc.KanecoreWarning, match=r"changed independent values of 'bead', u1 from 1 to 2: .*keep="):
        np.testing.assert_allclose(dyn.consistent(0.0, dead)[2:], [2.0, 3.0], rtol=1e-15)
    np.testing.assert_allclose(dyn.consistent(0.0, alive)[2:], [1.0, 2.0], rtol=1e-15)
    np.testing.assert_allclose(dyn.consistent(0.0, alive, [u2])[2:], [0.5, 3.0], rtol=1e-15)
    np.testing.assert_allclose(dyn.consistent(0.0, alive, ["u1"])[2:], [1.0, 2.0], rtol=1e-15)
    np.testing.assert_allclose(free.consistent(0.0, alive)[2:], [0.6, 2.8], rtol=1e-15)


def test_consistent_of_a_free_model_changes_nothing() -> None:
    dyn = kc.load("double_pendulum")
    state = np.arange(dyn.n_x) / 10
    assert np.array_equal(dyn.consistent(0.0, state), state)
    assert dyn.n_constraints == 0
    assert dyn.constraint_jacobian(0.0, state).shape == (0, dyn.n_u)
    assert dyn.check(state).dof == dyn.n_u


def test_no_state_satisfies_the_constraints() -> None:
    """Bars of 0.4, 1 and 0.8 do not reach over 9."""
    dyn, guess = linkage()
    dyn.parameters["d"] = 9.0
    with pytest.raises(kc.ModelError, match=r"no state .* near t = 0.0.*'configuration constraint [01]' \("):
        dyn.consistent(0.0, guess, None)
    with pytest.raises(kc.ModelError, match=r"no q2, q3 .* for q1 = 0.9: the remaining residuals are 'conf.*keep=None"):
        dyn.consistent(0.0, guess)
    with pytest.raises(ValueError, match=r"keep is 'all'"):
        dyn.consistent(0.0, guess, "all")
    with pytest.raises(ValueError, match=r"shape \(5,\)"):
        dyn.consistent(0.0, np.zeros(5))


def test_a_loop_that_closes_redundantly() -> None:
    """Three equal cranks: (3 m l²/3 + m l²) ä = −(3/2 + 1) m g l cos a, found once the rank at a closed loop is."""
    angle, rate, length = -0.9, 0.5, 0.8
    s, c = np.sin(angle), np.cos(angle)
    state = [length * c, length * s, 0, *[angle] * 3, -length * rate * s, length * rate * c, 0, *[rate] * 3]
    expected = pytest.approx(-G * 2.5 * c / (2 * length), rel=1e-12)
    # before any check: of one state, of several, with parameters of the call, in a workspace
    dyn = cranks()
    fresh, values = pickle.dumps(dyn), list(dyn.parameters.values())
    assert dyn.udot(0.0, state)[3] == expected
    assert pickle.loads(fresh).rhs([0.0, 1.0], [state, state])[1, 9] == expected
    assert pickle.loads(fresh).udot(0.0, state, p=values)[3] == expected
    ws = pickle.loads(fresh).workspace()
    ws.x = state
    assert ws.rhs()[9] == expected
    assert np.isnan(pickle.loads(fresh).udot(0.0, np.full(12, np.nan))).all()

    udot = dyn.udot(0.0, state)
    assert np.array_equal(pickle.loads(pickle.dumps(dyn)).udot(0.0, state), udot)
    assert np.array_equal(dyn.udot(0.0, [state, state], p=[values] * 2), [udot, udot])
    found = dyn.check(state)
    assert (found.rank, found.typical_rank, found.dof, len(found.redundant)) == (5, 5, 1, 1)
    sol = dyn.simulate((0.0, 1.0), state, rtol=1e-10, atol=1e-10)
    rk4 = dyn.simulate((0.0, 1.0), state, method="rk4", dt=0.01)
    np.testing.assert_allclose(rk4.x[-1], sol.x[-1], atol=1e-7)
    assert max(sol.constraint_drift, rk4.constraint_drift) < 1e-10
    assert sol.energy_drift < 1e-8


def test_prebuilt_bricard_knows_its_rank() -> None:
    """At states on the constraints to 1e-8 only, at which five rows are independent by numbers."""
    dyn, state = kc.load("bricard"), np.array(list(bricard.STATE.values()))
    beside = state + 1e-8 * (np.arange(dyn.n_x) < dyn.n_q)
    np.testing.assert_allclose(dyn.udot(0.0, beside), dyn.udot(0.0, state), rtol=1e-5)


# ------------------------------------------------------------------------------------- multipliers in outputs
def test_multipliers_in_outputs() -> None:
    """The tension −2 l λ of the pendulum in x and y; u̇ and λ together."""
    dyn = pendulum(outputs={"tension": -2 * l * kc.multiplier(0), "push": u1.diff() + kc.multiplier(0)})
    state = swinging(0.7, 1.3)
    tension, push = dyn.outputs(0.0, state)
    assert tension == pytest.approx(MASS * (G * np.cos(0.7) + LENGTH * 1.3**2), rel=1e-12)
    assert push == pytest.approx(dyn.udot(0.0, state)[0] + dyn.multipliers(0.0, state)[0], rel=1e-12)
    sol = dyn.simulate((0.0, 1.0), state)
    np.testing.assert_allclose(sol.outputs, dyn.outputs(0.0, sol.x), rtol=1e-12)


def test_multipliers_that_are_not_there() -> None:
    with pytest.raises(kc.ModelError, match=r"multiplier\(1\), and the rows of G .*: configuration constraint 0"):
        pendulum(outputs={"force": kc.multiplier(1)})
    with pytest.raises(kc.ModelError, match=r"multiplier\(0\) in acceleration constraint 0: .* outputs alone"):
        pendulum(acceleration_constraints=[u1.diff(t) - kc.multiplier(0)])
    with pytest.raises(kc.ModelError, match=r"multiplier\('first'\) names no row of G"):
        pendulum(outputs={"force": kc.multiplier("first")})
    for row in (-1, 0.5, "", True):
        with pytest.raises(ValueError, match="number of a row of G"):
            kc.multiplier(row)


# -------------------------------------------------------------------------------------------------- motion
@pytest.mark.parametrize(
    ("name", "method"),
    part(
        itertools.product(["pendulum", "disc", "sleigh", "four-bar"], ["dop853", "rk4"]),
        [("pendulum", "dop853"), ("disc", "dop853"), ("sleigh", "rk4"), ("four-bar", "dop853")],
    ),
)
def test_projection_keeps_the_constraints_and_the_energy(name: str, method: str) -> None:
    """Residuals below 1e-10 along 5 s, between the steps too; the energy drifts no more than without projection."""
    dyn, guess = {
        "pendulum": lambda: (pendulum(), swinging(2.0, 1.0)),
        "disc": lambda: (disc(), [0.1, 0.3, 0.0, 0.2, 6.0, 0.4, 0.0, 0.0, 0.0]),
        "sleigh": lambda: (sleigh(), [0.0, 0.0, 0.3, 1.0, 2.0, 0.0]),
        "four-bar": linkage,
    }[name]()
    x0 = dyn.consistent(0.0, guess)
    step: dict[str, Any] = {"dt": 0.002} if method == "rk4" else {}
    sol = dyn.simulate((0.0, 5.0), x0, method=method, **step)
    free = dyn.simulate((0.0, 5.0), x0, method=method, project=False, **step)
    assert sol.constraint_drift < 1e-10
    between = np.linspace(0.0, 5.0, 333)
    assert np.max(np.abs(residuals(dyn, between, sol(between)))) < 1e-10
    assert sol.energy_drift < 1.2 * free.energy_drift + 1e-12
    if (name, method) == ("pendulum", "dop853"):
        assert 1e-10 < free.constraint_drift < 1e-5
        assert np.max(np.abs(residuals(dyn, 4.87, free(4.87)))) > 1e-12


def test_constraint_that_follows_a_signal() -> None:
    """A particle on a vertical line that is moved along x as a cubic spline says: y falls freely."""
    dyn = falling(2, configuration_constraints=[x - me.dynamicsymbols("d")])
    assert dyn.input_names == ("d", "d_d", "d_dd")
    knots = np.linspace(0.0, 2.0, 9)
    moved = kc.Signal(knots, np.sin(2.0 * knots), kind="cubic")
    start = {"d": float(moved(0.0)[0]), "d_d": float((moved(1e-7) - moved(0.0))[0] / 1e-7), "d_dd": 0.0}
    x0, times = dyn.consistent(0.0, np.zeros(4), None, r=start), np.linspace(0.0, 2.0, 29)
    for options in ({}, {"method": "rk4", "dt": 0.01}):
        sol = dyn.simulate((0.0, 2.0), x0, inputs={"d": moved}, t_eval=times, **options)
        np.testing.assert_allclose(sol.x[:, 0], moved(times)[:, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(sol.x[:, 1], -G / 2 * times**2, rtol=0, atol=1e-6)
        assert sol.constraint_drift < 1e-12
    by_function = dyn.simulate((0.0, 2.0), np.zeros(4), inputs=lambda t, x: [t**2, 2.0 * t, 2.0], t_eval=times)
    np.testing.assert_allclose(by_function.x[:, 0], times**2, rtol=0, atol=1e-14)


def test_baumgarte() -> None:
    """φ̈ + 2 α φ̇ + β² φ = 0 from a start off the circle: φ = φ₀ (1 + α t) exp(−α t) for α = β; ċ + 2 α c = 0."""
    dyn, gain, exactly = pendulum(), 3.0, {"rtol": 1e-13, "atol": 1e-14, "project": False}
    x0 = swinging(0.7, 1.3)
    x0[:2] *= 1.0 + 3e-7
    start, times = dyn.configuration_residual(0.0, x0).item(), np.linspace(0.0, 3.0, 7)
    sol = dyn.simulate((0.0, 3.0), x0, t_eval=times, baumgarte=(gain, gain), **exactly)
    expected = start * (1.0 + gain * times) * np.exp(-gain * times)
    np.testing.assert_allclose(dyn.configuration_residual(times, sol.x)[:, 0], expected, rtol=0, atol=1e-3 * start)
    # a knife edge that starts with a sideways speed below what is refused
    dyn, x0 = sleigh(), sleigh().consistent(0.0, [0.0, 0.0, 0.3, 1.0, 2.0, 0.0])
    x0[5] += 5e-7
    start = dyn.velocity_residual(0.0, x0).item()
    sol = dyn.simulate((0.0, 1.0), x0, baumgarte=(2.0, 0.0), **exactly)
    assert dyn.velocity_residual(1.0, sol.x[-1]).item() == pytest.approx(start * np.exp(-4.0), rel=1e-3)


def test_start_off_the_constraints() -> None:
    """It is refused, and what the tolerance allows is projected away."""
    x0 = swinging(0.7, 1.3)
    message = r"x0 .* at t = 0.5: .*'configuration constraint 0' \(0\.\d+\); .*dyn.consistent\(0.5, x0\)"
    with pytest.raises(ValueError, match=message):
        pendulum().simulate((0.5, 1.0), x0 + np.array([0.2, 0.0, 0.0, 0.0]))
    sol = pendulum().simulate((0.0, 1.0), x0 * (1 + 1e-7))
    assert np.max(np.abs(residuals(pendulum(), 0.0, sol.x[0]))) < 1e-14


def test_a_lost_row_is_named() -> None:
    dyn, centre = pendulum(), [0.0, 0.0, 1.0, 0.0]
    with pytest.raises(kc.SingularError, match=r"udot: 'configuration constraint 0' of 'pendulum' is lost") as caught:
        dyn.udot(0.3, centre)
    assert (caught.value.t, caught.value.x.tolist()) == (0.3, centre)
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, [swinging(0.1, 0.2), centre])
    assert caught.value.rows.tolist() == [1]
    np.testing.assert_array_equal(caught.value.out[0], dyn.udot(0.0, swinging(0.1, 0.2)))


T = me.dynamicsymbols._t


@pytest.mark.parametrize("method", ["dop853", "rosenbrock", "rk4"])
@pytest.mark.parametrize(
    ("row", "begins"), [(sm.Piecewise((u1, T > 1), (u2, True)), 1.0), (sm.Piecewise((1, x > 1.5), (0, True)) * u1, 1.5)]
)
def test_a_row_that_begins_to_hold(row: Any, begins: float, method: str) -> None:
    """It asks for a jump: the run ends there, at the speeds of before, and names the row."""
    dyn = falling(2, velocity_constraints={"rail": row}, name="cart")
    step: dict[str, Any] = {"dt": 0.01} if method == "rk4" else {}
    with pytest.raises(kc.IntegrationError, match=r"'cart' ask for a jump .* does not satisfy 'rail' there") as caught:
        dyn.simulate((0.0, 3.0), [0.0, 0.0, 1.0, 0.0], method=method, **step)
    reached = caught.value.trajectory
    assert reached.t[-1] == pytest.approx(begins, abs=1e-9 if not step else 0.02)
    assert reached.x[-1, 2] == pytest.approx(1.0, abs=1e-12)


def test_a_motion_that_comes_to_no_later_time() -> None:
    """On a circle that shrinks to a point, with an angular momentum: 1/(1 − t) turns, in ever smaller steps."""
    dyn = falling(2, configuration_constraints={"ring": x**2 + y**2 - (1 - T) ** 2})
    with pytest.raises(kc.SingularError, match=r"'ring' .* is lost just after t = 0\.99") as caught:
        dyn.simulate((0.0, 2.0), [1.0, 0.0, -1.0, 0.5])
    assert len(caught.value.trajectory.t) < 50_000


def test_speeds_that_jump_with_held_inputs() -> None:
    """They are meant: a speed that is prescribed by samples."""
    v = me.dynamicsymbols("v")
    dyn = falling(2, velocity_constraints=[u1 - v], inputs=[v])
    signal = kc.Signal([0.0, 1.0, 2.0], [1.0, 3.0, 3.0], kind="zoh")
    for options in ({}, {"method": "rk4", "dt": 0.1}):
        sol = dyn.simulate((0.0, 2.0), [0.0, 0.0, 1.0, 0.0], inputs={"v": signal, "v_d": 0.0}, **options)
        np.testing.assert_allclose(sol.x[-1, [0, 2]], [4.0, 3.0], rtol=1e-12)


def test_workspace_evaluates_constraints() -> None:
    dyn, state = pendulum(), swinging(0.7, 1.3)
    ws = dyn.workspace()
    ws.x = state
    for name in ("rhs", "multipliers", "constraint_jacobian", "configuration_residual", "velocity_residual"):
        assert np.array_equal(getattr(ws, name)(), getattr(dyn, name)(0.0, state)), name


def test_configuration_jacobian_against_differences() -> None:
    (dyn, state), h = linkage(), 1e-6
    state += 0.1
    ends = [dyn.configuration_residual(0.0, state + sign * h * np.eye(6)[:3]) for sign in (1, -1)]
    np.testing.assert_allclose(dyn.configuration_jacobian(0.0, state), (ends[0] - ends[1]).T / (2 * h), atol=1e-9)
