# SPDX-License-Identifier: BSD-3-Clause
"""``linearize``: against differences of high order, SymPy's Linearizer, and the benchmark of the bicycle."""

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import gallery_states
import mechanisms
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, moving_point, particle
from sweep import part
from truth.models import truth_system

import kanecore as kc
from kanecore.derive import linearized_equations
from kanecore.gallery import MODELS

Array = npt.NDArray[np.float64]
#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
t = me.dynamicsymbols._t

#: Their rows depend on each other on the constraints alone: off them u̇ is not defined, and has no differences.
REDUNDANT = ("bricard",)
#: Central differences of order 10: f′(x) h = Σ w_k (f(x + k h) − f(x − k h)), Fornberg 1988.
WEIGHTS = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)


def module(name: str) -> Any:
    return import_module(f"kanecore.gallery.{name}")


@cache
def compiled(name: str) -> kc.CompiledModel:
    return kc.load(name)


def some_state(name: str) -> Array:
    """On the constraints, in motion; near the model's own state where it has one."""
    dyn, rng = compiled(name), np.random.default_rng(list(name.encode()))
    given = getattr(module(name), "STATE", None)
    x = rng.uniform(-1.0, 1.0, dyn.n_x)
    if given is not None:
        noise = 0.1 * x
        x = np.array([given[k] for k in (*dyn.coordinate_names, *dyn.speed_names)])
        x = x + noise * np.where(np.arange(dyn.n_x) < dyn.n_q, 1.0, 1.0 + np.abs(x))
    return dyn.consistent(0.3, x, None, r=some_inputs(dyn))


def some_inputs(dyn: kc.CompiledModel) -> Array:
    return np.linspace(1.0, -0.6, dyn.n_r)


def slopes(f: Callable[[Array], Array], z: Array, h: float) -> Array:
    """∂f/∂z by differences of order 10."""
    result = np.zeros((len(f(z)), len(z)))
    for i, step in enumerate(h * np.maximum(1.0, np.abs(z))):
        e = np.zeros(len(z))
        e[i] = step
        for k, w in enumerate(WEIGHTS, 1):
            result[:, i] += w * (f(z + k * e) - f(z - k * e)) / step
    return result


def differences(f: Callable[[Array], Array], z: Array) -> tuple[Array, Array]:
    """∂f/∂z and how far two steps are from each other, entry by entry: what is to be believed."""
    fine, coarse = slopes(f, z, 2e-3), slopes(f, z, 6e-3)
    return fine, np.abs(fine - coarse)


def check(found: Array, f: Callable[[Array], Array], z: Array) -> None:
    """To 1e-8 of the largest derivative of the same row; the differences themselves must be that good."""
    expected, doubt = differences(f, z)
    assert found.shape == expected.shape
    size = np.maximum(1.0, np.max(np.abs(expected), axis=1, initial=0.0))[:, np.newaxis]
    assert np.max(doubt / size, initial=0.0) < 1e-8, "the differences are not good enough"
    assert np.max(np.abs(found - expected) / size, initial=0.0) < 1e-8


@pytest.mark.parametrize("name", part(sorted({*MODELS} - {*REDUNDANT}), ["four_bar", "rolling_disc", "free_body"]))
def test_against_differences(name: str) -> None:
    """A and B of the whole gallery; of constrained models all of x varies, off the constraints as well.

    Unit quaternions stay units to first order: with others a rotation is none, and what u̇ is then says nothing.
    """
    dyn, x = compiled(name), some_state(name)
    r, P = some_inputs(dyn), np.eye(dyn.n_x)
    for unit in dyn.unit:
        P[np.ix_(unit, unit)] -= np.outer(x[list(unit)], x[list(unit)])
    A, B = dyn.linearize(0.3, x, r=r)
    assert A.shape == (dyn.n_x, dyn.n_x)
    assert B.shape == (dyn.n_x, dyn.n_r)
    check(A @ P, lambda z: dyn.rhs(0.3, x + P @ (z - x), r=r), x)
    check(B, lambda z: dyn.rhs(0.3, x, r=z), r)


@pytest.mark.compiler
def test_redundant_rows_have_derivatives_along_the_constraints() -> None:
    """Beside the constraints Bricard's rows are independent, and differences through such states are others."""
    dyn, h = kc.load("bricard"), 1e-5
    x, rng = gallery_states.some_state("bricard"), np.random.default_rng(0)
    A, _ = dyn.linearize(0.0, x)
    for direction in rng.normal(size=(3, dyn.n_x)):
        ahead, behind = (dyn.consistent(0.0, x + s * direction, keep=None) for s in (h, -h))
        change = dyn.rhs(0.0, ahead) - dyn.rhs(0.0, behind)
        assert np.allclose(change, A @ (ahead - behind), rtol=0.0, atol=1e-7 * np.max(np.abs(ahead - behind)))
    beside = [dyn.rhs(0.0, x + h * e) - dyn.rhs(0.0, x - h * e) for e in np.eye(dyn.n_x)]
    assert np.max(np.abs(np.array(beside).T / (2 * h) - A)) > 1.0


def test_columns_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long linearizations take several columns in lanes; nine are more than fit."""
    (x, y, z), (u, v, w), pushes = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4"), me.dynamicsymbols("F1:4")
    forces = [pushes[0] * sm.sin(y) - u * v, pushes[1] * x * z - y**3 * w, sm.exp(x) * v**2 - pushes[2] * y * u]

    def model() -> kc.Model:
        return particle(3, lambda P, N: [(P, force * e) for force, e in zip(forces, N, strict=True)])

    dyn = mechanisms.compiled(model(), cc="none")
    monkeypatch.setattr(linearized_equations, "UNROLLED", -1)
    in_lanes = mechanisms.compiled(model(), cache=False)
    state, r = np.random.default_rng(1).uniform(-1.0, 1.0, dyn.n_x), some_inputs(dyn)
    assert dyn.n_x + dyn.n_r == 9
    for found, expected in zip(in_lanes.linearize(0.3, state, r=r), dyn.linearize(0.3, state, r=r), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


MINIMAL = ["four_bar", "rolling_disc"]


@pytest.mark.parametrize("name", part([*MINIMAL, "appell_hamel", "whipple_bicycle", "five_bar", "car"], MINIMAL))
def test_minimal_against_differences(name: str) -> None:
    """The independent ones vary, the others follow from the constraints: ``consistent`` finds them."""
    dyn, x = compiled(name), some_state(name)
    r, q, u = some_inputs(dyn), dyn.n_q - dyn.n_q_dependent, dyn.n_u - dyn.n_u_dependent
    kept = [*range(q), *range(dyn.n_q, dyn.n_q + u)]
    A, B = dyn.linearize(0.3, x, r=r, minimal=True)
    assert A.shape == (q + u, q + u)
    assert B.shape == (q + u, dyn.n_r)

    def rates(z: Array) -> Array:
        y = x.copy()
        y[kept] = z
        return np.asarray(dyn.rhs(0.3, dyn.consistent(0.3, y, r=r), r=r)[kept])

    check(A, rates, x[kept])
    check(B, lambda z: dyn.rhs(0.3, x, r=z)[kept], r)


def test_minimal_with_a_constraint_that_an_input_moves() -> None:
    """A pendulum of prescribed length: x, ẋ follow from y, ẏ and the length and its rate, which B must hold."""
    (x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
    length = me.dynamicsymbols("length")
    system, parts = pendulum()
    model = kc.Model(
        *(system["frame"], parts["q_ind"], parts["u_ind"]),
        kd_eqs=system["kdes"],
        q_dependent=[x],
        u_dependent=[u1],
        configuration_constraints=[x**2 + y**2 - length**2],
        velocity_constraints=[x * u1 + y * u2 - length * length.diff(t)],
        bodies=system["bodies"],
        forcelist=system["loads"],
    )
    dyn = kc.compile(model, parameters={"m": 1.3, "g": 9.81})
    assert dyn.input_names == ("F", "length", "length_d", "length_dd")
    r = np.array([0.7, 1.2, 0.4, -0.3])
    state = dyn.consistent(0.0, [0.5, 1.0, 0.6, 0.0], r=r)

    def rates(z: Array, r: Array) -> Array:
        z = np.array([z[0], state[1], z[1], state[3]])
        return np.asarray(dyn.rhs(0.0, dyn.consistent(0.0, z, r=r), r=r)[[0, 2]])

    A, B = dyn.linearize(0.0, state, r=r, minimal=True)
    check(A, lambda z: rates(z, r), state[[0, 2]])
    check(B, lambda z: rates(state[[0, 2]], z), r)
    assert np.max(np.abs(B - dyn.linearize(0.0, state, r=r)[1][[0, 2]])) > 0.1, "the constraint must matter"


# ------------------------------------------------------------------------------------------- SymPy's Linearizer
def sympy_linearized(
    system: dict[str, Any], parts: dict[str, Any], x: Array, rates: Array
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A and B of KanesMethod.to_linearizer at a state and its rates."""
    kane = me.KanesMethod(
        *(system["frame"], parts["q_ind"], parts["u_ind"]),
        kd_eqs=system["kdes"],
        **{key: value for key, value in parts.items() if key not in ("q_ind", "u_ind")},
    )
    kane.kanes_equations(system["bodies"], system["loads"])
    linearizer = kane.to_linearizer()
    names = [*kane.q, *kane.u]
    point = dict(zip([name.diff(t) for name in names], map(sm.Float, rates), strict=True))
    point |= dict(zip(names, map(sm.Float, x), strict=True)) | system["parameters"]
    A, B = linearizer.linearize(op_point=point, A_and_B=True)
    return np.array(A.evalf(), float), np.array(B.evalf(), float).reshape(A.rows, -1)  # SymPy's empty B has no rows


def compared(system: dict[str, Any], parts: dict[str, Any], guess: npt.ArrayLike, limit: float) -> None:
    model = kc.Model(
        *(system["frame"], parts["q_ind"], parts["u_ind"]),
        kd_eqs=system["kdes"],
        bodies=system["bodies"],
        forcelist=system["loads"],
        **{key: value for key, value in parts.items() if key not in ("q_ind", "u_ind")},
    )
    dyn = kc.compile(model, parameters={symbol: system["parameters"][symbol] for symbol in model.parameters})
    x = dyn.consistent(0.0, guess)
    expected = sympy_linearized(system, parts, x, dyn.rhs(0.0, x))
    for found, matrix in zip(dyn.linearize(0.0, x, minimal=True), expected, strict=True):
        assert found.shape == matrix.shape
        np.testing.assert_allclose(found, matrix, rtol=0, atol=limit * max(1.0, np.max(np.abs(matrix), initial=0.0)))


def pendulum() -> tuple[dict[str, Any], dict[str, Any]]:
    """SymPy's documentation, "Nonminimal coordinates pendulum", with a force along x as input."""
    (x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
    m, g, length = sm.symbols("m g l")
    F = me.dynamicsymbols("F")
    N, _, P = moving_point({x: u1, y: u2})
    circle = x**2 + y**2 - length**2
    system = {
        "frame": N,
        "kdes": [x.diff(t) - u1, y.diff(t) - u2],
        "bodies": [me.Particle("P", P, m)],
        "loads": [(P, m * g * N.x + F * N.y)],
        "parameters": {m: 1.3, g: 9.81, length: 0.8, F: 0.0},
    }
    parts = {
        "q_ind": [y],
        "u_ind": [u2],
        "q_dependent": [x],
        "u_dependent": [u1],
        "configuration_constraints": [circle],
        "velocity_constraints": [2 * x * u1 + 2 * y * u2],
    }
    return system, parts


@pytest.mark.parametrize("guess", [[0.0, 0.8, 0.0, 0.0], [0.3, 0.7, 0.5, 0.0]])
def test_pendulum_against_sympys_linearizer(guess: list[float]) -> None:
    system, parts = pendulum()
    compared(system, parts, guess, 1e-12)


@pytest.mark.long
@pytest.mark.parametrize("speed", part([0.0, 3.0], [3.0]))
def test_rolling_disc_against_sympys_linearizer(speed: float) -> None:
    """SymPy's documentation, "A rolling disc, with Kane's method and constraint forces", with its contact point."""
    q1, q2, q3, q4, q5 = q = me.dynamicsymbols("q1:6")
    u = me.dynamicsymbols("u1:6")
    r, m, g = sm.symbols("r m g")
    N, O = ground()  # noqa: E741
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    R.set_ang_vel(N, sum((s * e for s, e in zip(u[:3], L, strict=True)), me.Vector(0)))
    contact = O.locatenew("C", q4 * N.x + q5 * N.y)
    contact.set_vel(N, u[3] * N.x + u[4] * N.y)
    centre = contact.locatenew("D", r * L.z)
    slip = u[3] * N.x + u[4] * N.y
    yaw, lean = q1.diff(t), q2.diff(t)
    omega = yaw * N.z + lean * Y.x + q3.diff(t) * L.y
    frame_rate = yaw * N.z + lean * Y.x
    kdes = [(R.ang_vel_in(N) - omega).dot(e) for e in L] + [q4.diff(t) - u[3], q5.diff(t) - u[4]]
    rates = sm.solve(kdes, [x.diff(t) for x in q], dict=True)[0]
    velocity = slip + frame_rate.cross(r * L.z)
    velocity = sum((velocity.dot(e).subs(rates) * e for e in L), me.Vector(0))
    centre.set_vel(N, velocity)
    rolling = velocity + R.ang_vel_in(N).cross(-r * L.z)
    system = {
        "frame": N,
        "kdes": kdes,
        "loads": [(centre, -m * g * Y.z)],
        "bodies": [
            me.RigidBody("disc", centre, R, m, (me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), centre))
        ],
        "parameters": {r: 0.4, m: 1.7, g: 9.81},
    }
    parts = {
        "q_ind": q,
        "u_ind": u[:3],
        "u_dependent": u[3:],
        "velocity_constraints": [sm.trigsimp(rolling.dot(e)) for e in (Y.x, Y.y)],
    }
    guess = [0.2, 0.1, 0.3, 0.0, 0.0, 0.1 * speed, speed, 0.2 * speed, 0.0, 0.0]
    compared(system, parts, guess, 1e-11)


@pytest.mark.long
def test_four_bar_against_sympys_linearizer() -> None:
    """Learn Multibody Dynamics, the four-bar linkage, closed by configuration constraints."""
    system = truth_system("lmd_four_bar")
    q, u = system["q"], system["u"]
    la, lb, lc, ln = sm.symbols("la lb lc ln")
    angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
    closed = [
        sum(length * f(angle) for length, angle in zip((la, lb, lc), angles, strict=True)) - end
        for f, end in ((sm.cos, ln), (sm.sin, 0))
    ]
    speeds = {x.diff(t): s for x, s in zip(q, u, strict=True)}
    parts = {
        "q_ind": q[:1],
        "q_dependent": q[1:],
        "u_ind": u[:1],
        "u_dependent": u[1:],
        "configuration_constraints": closed,
        "velocity_constraints": [row.diff(t).subs(speeds) for row in closed],
    }
    case = json.loads((Path(__file__).parent / "truth" / "cases" / "lmd_four_bar.json").read_text())
    compared(system, parts, [*case["samples"][0]["q"], 1.5, 0.0, 0.0], 1e-11)


# -------------------------------------------------------------------------------------------- the bicycle
BENCHMARK = json.loads((Path(__file__).parent / "truth" / "cases" / "whipple_linear_benchmark.json").read_text())


def straight(v: float) -> tuple[Array, Array]:
    """A (4, 4) and B (4, 2) of (φ, δ, φ̇, δ̇) straight ahead at the speed v, from ``minimal=True``."""
    dyn, p = compiled("whipple_bicycle"), BENCHMARK["parameters"]
    names = [*dyn.coordinate_names, *dyn.speed_names]
    state = dict.fromkeys(names, 0.0) | {"uthR": -v / p["rR"], "uthF": -v / p["rF"], "ux": v}
    A, B = dyn.linearize(0.0, [state[name] for name in names], minimal=True)
    kept = [*names[: dyn.n_q - dyn.n_q_dependent], *names[dyn.n_q : dyn.n_x - dyn.n_u_dependent]]
    order = [kept.index(name) for name in ("phi", "delta", "uphi", "udelta")]
    torques = [dyn.input_names.index(name) for name in ("Tphi", "Tdelta")]
    return A[np.ix_(order, order)], B[np.ix_(order, torques)]


@pytest.mark.long
def test_bicycle_matrices() -> None:
    """M q̈ + v C1 q̇ + (g K0 + v² K2) q = f: Meijaard, Papadopoulos, Ruina & Schwab 2007, to 1e-10."""
    g = BENCHMARK["parameters"]["g"]
    A, B = straight(0.0)
    M = np.linalg.inv(B[2:])
    np.testing.assert_allclose(M, BENCHMARK["M"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(-M @ A[2:, :2] / g, BENCHMARK["K0"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(A[2:, 2:], 0.0, rtol=0, atol=1e-10)
    for v in (1.0, 4.6, 10.0):
        A, B = straight(v)
        np.testing.assert_allclose(B[2:], np.linalg.inv(M), rtol=0, atol=1e-10)
        np.testing.assert_allclose(-M @ A[2:, 2:] / v, BENCHMARK["C1"], rtol=0, atol=1e-10)
        stiffness = (-M @ A[2:, :2] - g * np.array(BENCHMARK["K0"])) / v**2
        np.testing.assert_allclose(stiffness, BENCHMARK["K2"], rtol=0, atol=1e-10)
        np.testing.assert_allclose(A[:2], [[0, 0, 1, 0], [0, 0, 0, 1]], rtol=0, atol=1e-14)


@pytest.mark.parametrize("v", sorted(map(int, BENCHMARK["eigenvalues"])))
def test_bicycle_eigenvalues(v: int) -> None:
    """The paper's Table 2, v = 0 ... 10 m/s, to 1e-10."""
    expected = []
    for value in BENCHMARK["eigenvalues"][str(v)]:
        expected += [complex(*value), complex(value[0], -value[1])] if isinstance(value, list) else [complex(value)]
    found = np.linalg.eigvals(straight(float(v))[0])
    assert len(expected) == 4
    assert max(min(abs(found - value)) for value in expected) < 1e-10
    assert max(min(abs(np.array(expected) - value)) for value in found) < 1e-10


# ------------------------------------------------------------------------------------------------- calls
@pytest.mark.parametrize("minimal", [False, True])
@pytest.mark.parametrize("name", part(["cart_pole", "four_bar", "whipple_bicycle"], ["cart_pole", "four_bar"]))
def test_leading_axes_broadcast(name: str, minimal: bool) -> None:
    dyn, x = compiled(name), some_state(name)
    rng = np.random.default_rng(5)
    x = np.array([dyn.consistent(0.0, x + 0.01 * rng.uniform(-1, 1, dyn.n_x)) for _ in range(6)]).reshape(2, 3, -1)
    r, times = rng.uniform(-1, 1, (3, dyn.n_r)), np.array([[0.1], [0.4]])
    p = np.array(list(dyn.parameters.values()))
    A, B = dyn.linearize(times, x, r=r, p=p, minimal=minimal)
    n = dyn.n_x - minimal * (dyn.n_q_dependent + dyn.n_u_dependent)
    assert A.shape == (2, 3, n, n)
    assert B.shape == (2, 3, n, dyn.n_r)
    for i, j in np.ndindex(2, 3):
        one = dyn.linearize(times[i, 0], x[i, j], r=r[j], minimal=minimal)
        np.testing.assert_allclose(A[i, j], one[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(B[i, j], one[1], rtol=1e-12, atol=1e-12)
    changed = dyn.linearize(0.1, x[0, 0], r=r[0], p=1.1 * p, minimal=minimal)[0]
    assert np.max(np.abs(changed - A[0, 0])) > 1e-3


def test_results_share_no_memory() -> None:
    dyn, x = compiled("cart_pole"), some_state("cart_pole")
    A, B = dyn.linearize(0.0, x)
    A[:], B[:] = 7.0, 7.0
    again = dyn.linearize(0.0, x)
    assert not np.any(again[0] == 7.0)
    assert not np.any(again[1] == 7.0)


def test_minimal_of_a_free_model_is_all_of_it() -> None:
    dyn, x = compiled("cart_pole"), some_state("cart_pole")
    for one, other in zip(dyn.linearize(0.0, x), dyn.linearize(0.0, x, minimal=True), strict=True):
        assert np.array_equal(one, other)


def test_prescribed_motion_and_its_rates_are_inputs() -> None:
    """Rotating tube of the source document: u̇ᵢ = (Σ L + qᵢ) θ̇² + g cos θ + ... of the prescribed θ, θ̇, θ̈."""
    dyn, x = compiled("rotating_tube"), some_state("rotating_tube")
    assert dyn.input_names == ("theta", "theta_d", "theta_dd")
    angle, rate = 0.3, 0.7
    _, B = dyn.linearize(0.0, x, r=[angle, rate, 0.2])
    p = module("rotating_tube").PARAMETERS
    along = np.array([p["L1"] + x[0], p["L1"] + p["L2"] + x[1]])
    np.testing.assert_allclose(B[2:, 0], -p["g"] * np.sin(angle) * np.ones(2), rtol=1e-12)
    np.testing.assert_allclose(B[2:, 1], 2 * rate * along, rtol=1e-12)
    np.testing.assert_allclose(B[2:, 2], 0.0, atol=1e-15)
    assert not B[:2].any()


# ------------------------------------------------------------------------------------------------ errors
def test_minimal_needs_named_dependent_ones() -> None:
    (x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
    system, parts = pendulum()
    model = kc.Model(
        *(system["frame"], [x, y], [u1, u2]),
        kd_eqs=system["kdes"],
        configuration_constraints=parts["configuration_constraints"],
        bodies=system["bodies"],
        forcelist=system["loads"],
        name="pendulum",
    )
    dyn = kc.compile(model, parameters={"m": 1.0, "g": 9.81, "l": 1.0})
    state = [0.6, -0.8, 0.4, 0.3]
    assert dyn.linearize(0.0, state)[0].shape == (4, 4)
    with pytest.raises(kc.ModelError, match=r"determine 1 coordinates .* 0 are named in q_dependent"):
        dyn.linearize(0.0, state, minimal=True)


def test_minimal_at_a_dead_point_says_so() -> None:
    """x, dependent, is not decided by y at the top of the circle."""
    system, parts = pendulum()
    model = kc.Model(
        *(system["frame"], parts["q_ind"], parts["u_ind"]),
        kd_eqs=system["kdes"],
        q_dependent=parts["q_dependent"],
        u_dependent=parts["u_dependent"],
        configuration_constraints=parts["configuration_constraints"],
        bodies=system["bodies"],
        forcelist=system["loads"],
    )
    dyn = kc.compile(model, parameters={"m": 1.0, "g": 9.81, "l": 1.0})
    top = [1.0, 0.0, 0.0, 0.5]  # y, x, ẏ, ẋ
    assert np.isfinite(dyn.linearize(0.0, top)[0]).all()
    for x in (0.0, 6e-17):  # cos(π/2) in floating point
        with pytest.raises(kc.SingularError, match=r"dependent coordinates x .*dead point") as caught:
            dyn.linearize(0.3, [[np.nan, 0.0, 0.0, 0.0], [0.6, 0.8, 0.4, -0.3], [1.0, x, 0.0, 0.5]], minimal=True)
        assert (caught.value.t, caught.value.x.tolist(), caught.value.rows.tolist()) == (0.3, [1.0, x, 0.0, 0.5], [2])
        with pytest.raises(kc.SingularError, match=r"dependent speeds .*dead point"):
            dyn.generalized_active_forces(0.3, [1.0, x, 0.0, 0.5], nonholonomic=True)


def test_minimal_of_states_that_are_not_finite() -> None:
    """A row that holds NaN is NaN, as without ``minimal``; the others are what they are alone."""
    dyn, good = compiled("four_bar"), some_state("four_bar")
    bad = good.copy()
    bad[0] = np.nan
    for many, alone in zip(
        dyn.linearize(0.3, [bad, good], minimal=True), dyn.linearize(0.3, good, minimal=True), strict=True
    ):
        assert np.isnan(many[0]).any()
        np.testing.assert_array_equal(many[1], alone)
    assert np.isnan(dyn.linearize(0.3, bad, minimal=True)[0]).any()
    assert np.isnan(dyn.linearize(0.3, bad)[0]).any()


def test_singular_states() -> None:
    """Where the constraints are lost: with t, x and the row."""
    dyn = compiled("four_bar")
    centre = np.zeros((2, 6))
    centre[0] = some_state("four_bar")
    stretched = dict(zip(dyn.parameter_names, dyn.parameters.values(), strict=True))
    stretched |= {"L1": 1.0, "L2": 1.0, "L3": 1.0, "d": 1.0}  # a rhombus, folded flat
    with pytest.raises(kc.SingularError, match="configuration constraint") as caught:
        dyn.linearize(0.0, centre, p=stretched)
    assert caught.value.rows.tolist() == [1]


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [(np.zeros(3), ValueError, "shape"), (["a"] * 4, TypeError, "x"), (np.zeros(4, complex), TypeError, "x")],
)
def test_wrong_states(x: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compiled("cart_pole").linearize(0.0, x)


def test_wrong_inputs_and_parameters() -> None:
    dyn, x = compiled("cart_pole"), some_state("cart_pole")
    with pytest.raises(ValueError, match="r has shape"):
        dyn.linearize(0.0, x, r=np.zeros(2))
    with pytest.raises(KeyError, match="nothing"):
        dyn.linearize(0.0, x, p={"nothing": 1.0})
    with pytest.raises(TypeError):
        dyn.linearize(0.0, x, True)


def test_powers_at_rest() -> None:
    """Springs and drag that are no polynomials have the slope 0 at q = u = 0; beside it that of differences."""
    N, origin = ground()
    q, u = me.dynamicsymbols("q1:9"), me.dynamicsymbols("u1:9")
    p = sm.Symbol("p")
    forces = [
        -3 * sm.Abs(q[0]) ** 1.5 * sm.sign(q[0]),
        sm.Abs(q[1]) ** sm.Rational(3, 2),
        -q[2] * sm.sqrt(q[2] ** 2) - u[2] * sm.sqrt(sm.Abs(u[2])),
        -p * u[3] * sm.Abs(u[3]) ** (p - 1),
        sm.Max(-q[4], 0) ** 2.5,
        *(-x * sm.sqrt(u[5] ** 2 + u[6] ** 2 + u[7] ** 2) for x in u[5:]),
    ]
    bodies, loads = [], []
    for i, force in enumerate(forces):
        point = origin.locatenew(f"P{i}", q[i] * N.x)
        point.set_vel(N, u[i] * N.x)
        bodies.append(me.Particle(f"B{i}", point, 1))
        loads.append((point, force * N.x))
    kd_eqs = [a.diff() - b for a, b in zip(q, u, strict=True)]
    dyn = kc.compile(kc.Model(N, q, u, kd_eqs, bodies=bodies, forcelist=loads), parameters={p: 1.25})
    a, _ = dyn.linearize(0.0, np.zeros(16))
    np.testing.assert_array_equal(a, np.eye(16, k=8))
    x = np.linspace(-0.9, 1.2, 16)
    a, _ = dyn.linearize(0.0, x)
    np.testing.assert_allclose(a, slopes(lambda z: dyn.rhs(0.0, z), x, 1e-3), atol=1e-9)


@pytest.mark.parametrize("minimal", [False, True])
def test_into_arrays_of_the_caller(minimal: bool) -> None:
    dyn, x = compiled("four_bar"), some_state("four_bar")
    states = np.stack([x, x])
    expected = dyn.linearize(0.0, states, minimal=minimal)
    A, B = (np.full(matrix.shape, np.nan) for matrix in expected)
    found = dyn.linearize(0.0, states, minimal=minimal, out=(A, B))
    assert found[0] is A
    assert found[1] is B
    np.testing.assert_array_equal(A, expected[0])
    np.testing.assert_array_equal(B, expected[1])
    strided = np.zeros((*A.shape, 2))[..., 0]
    np.testing.assert_array_equal(dyn.linearize(0.0, states, minimal=minimal, out=(strided, B))[0], expected[0])
    expected = dyn.linearize(0.0, x, minimal=minimal)
    views = dyn.linearize(0.0, 0.9 * x)
    apart = tuple(np.full(matrix.shape, np.nan, order=order) for matrix, order in zip(expected, "CF", strict=True))
    for pair in (apart, views) if not minimal else (apart,):
        for found, matrix in zip(dyn.linearize(0.0, x, minimal=minimal, out=pair), expected, strict=True):
            np.testing.assert_array_equal(found, matrix)


@pytest.mark.parametrize("name", ["kepler", "cart_pole"])
def test_plain_arrays_take_the_short_way(name: str) -> None:
    """B of a model without inputs has no columns, and no strides: it is plain all the same."""
    dyn, x = compiled(name), some_state(name)
    n = dyn.n_x
    expected = dyn.linearize(0.0, x)
    wide = np.full((n, n + dyn.n_r + 1), np.nan)
    for a, b in ((np.empty((n, n)), np.zeros((n, dyn.n_r))), (wide[:, :n], wide[:, n:-1])):
        a[...] = np.nan
        assert dyn.kernels.linearize_into(0.0, x, None, None, a, b)
        np.testing.assert_array_equal(a, expected[0])
        np.testing.assert_array_equal(b, expected[1])
    assert np.isnan(wide[:, -1]).all()
    for a, b in (
        (np.zeros((n, n)), np.zeros((n - 1, dyn.n_r))),
        (np.zeros((n, n - 1)), np.zeros((n, dyn.n_r))),
        (np.zeros((n, n), order="F"), np.zeros((n, dyn.n_r))),
        (np.zeros((n, n), np.float32), np.zeros((n, dyn.n_r))),
    ):
        assert not dyn.kernels.linearize_into(0.0, x, None, None, a, b)
        assert not a.any()


def test_arrays_that_cannot_take_the_result() -> None:
    dyn, x = compiled("cart_pole"), np.zeros(4)
    frozen = np.zeros((4, 4))
    frozen.setflags(write=False)
    both = np.zeros((4, 5))
    for out, message in (
        (np.zeros((4, 5)), r"out must be two arrays, \(A, B\)"),
        ((np.zeros((4, 4)),), r"out must be two arrays"),
        ((np.zeros((4, 3)), np.zeros((4, 2))), r"A of out must be a float64 array of shape \(4, 4\)"),
        ((np.zeros((4, 5)), np.zeros((4, 1))), r"A of out must be a float64 array of shape \(4, 4\)"),
        ((np.zeros((4, 4)), np.zeros((4, 1), np.float32)), r"B of out must be a float64 array of shape \(4, 1\)"),
        ((frozen, np.zeros((4, 1))), r"A of out .* can be written to"),
        ((both[:, :4], both[:, 3:4]), "share memory"),
    ):
        with pytest.raises(ValueError, match=message):
            dyn.linearize(0.0, x, out=out)
    assert not both.any()
