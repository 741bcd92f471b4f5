# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of trajectories: those of the steps that were taken, and of the motions that they follow."""

import ctypes
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point, on_a_line
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from sweep import every, part

import kanecore as kc
from kanecore import _motion

Array = npt.NDArray[np.float64]

ALL = ["x0", "p", "r"]
LOOSE = {"rtol": 1e-4, "atol": 1e-4}
METHODS: dict[str, dict[str, Any]] = {
    "rk4": {"dt": 0.02},
    "euler": {"dt": 0.02},
    "dop853": {},
    "dopri5": LOOSE,
    "rosenbrock": LOOSE,
    "rosenbrock_w": LOOSE,
}
# A tree, inputs that are forces, unit quaternions, and closed loops, of which one may pass its dead points.
MODELS = ("rrp", "cart_pole", "free_body", "four_bar", "slider_crank")
TOLERANCE = {"four_bar": 2e-8}  # of the others 3e-9: differences through a projection


def some_start(dyn: kc.CompiledModel, rng: np.random.Generator) -> Array:
    x = rng.uniform(-0.5, 0.5, dyn.n_x)
    for quaternion in dyn.unit:
        places = list(quaternion)
        x[places] = [1.0, 0.1, 0.2, 0.3]
        x[places] /= np.linalg.norm(x[places])
    return np.asarray(dyn.consistent(0.0, x)) if dyn.n_constraints else x


def values(dyn: kc.CompiledModel) -> Array:
    return np.array([dyn.parameters[name] for name in dyn.parameter_names], dtype=np.float64)


class Replay:
    """The steps of a run, taken again from other starts, with other parameters and inputs."""

    def __init__(self, dyn: kc.CompiledModel, method: str, steps: Array, times: Array | None) -> None:
        self._dyn, self._method, self._steps, self._times = dyn, method, steps, times

    def __call__(self, x0: Array, p: Array, r: Any) -> Array:
        """The states at the ends of the steps, or at the times: (N, n_x)."""
        dyn, x = self._dyn, x0.copy()
        for quaternion in dyn.unit:
            places = list(quaternion)
            x[places] /= np.linalg.norm(x[places])
        if dyn.n_constraints:
            x = np.asarray(dyn.kernels.project(self._steps[0], x, r=inputs_at(r, self._steps[0]), p=p))
        states = [x]
        for start, end in zip(self._steps[:-1], self._steps[1:], strict=True):
            length = abs(end - start)
            fixed = self._method in ("rk4", "euler")
            control = {"dt": length} if fixed else {"rtol": 1e12, "atol": 1e12, "first_step": length}
            sol = dyn.simulate((start, end), x, method=self._method, parameters=p, inputs=r, **control)
            assert sol.n_steps == 1
            x = sol.x[-1]
            if self._times is None:
                states.append(x)
            else:
                states += [sol(t) for t in self._times[(self._times > start) & (self._times <= end)]]
        return np.array(states)


def inputs_at(r: Any, t: float) -> Array:
    return np.asarray(r(t) if isinstance(r, kc.Signal) else r)


def agree(dyn: kc.CompiledModel, method: str, x0: Array, r: Array, times: Array | None, **options: Any) -> float:
    """The largest difference between sensitivities and differences of replayed steps, beside the largest of these."""
    p, rng, small = values(dyn), np.random.default_rng(7), 1e-4
    sol = dyn.simulate((0.0, 1.0), x0, method=method, inputs=r, t_eval=times, sensitivities=ALL, **options)
    assert sol.sensitivities is not None
    assert sol.sensitivity_names == (*dyn.coordinate_names, *dyn.speed_names, *dyn.parameter_names, *dyn.input_names)
    replay, first = Replay(dyn, method, sol._steps, times), sol.sensitivities[0, :, : dyn.n_x]
    worst = 0.0
    for kind in range(3):
        dx, dp, dr = np.zeros(dyn.n_x), np.zeros(dyn.n_p), np.zeros(dyn.n_r)
        if kind == 0:
            dx = first @ rng.standard_normal(dyn.n_x)
        elif kind == 1:
            dp = rng.standard_normal(dyn.n_p) * np.abs(p)
        else:
            dr = rng.standard_normal(dyn.n_r)
        if not (dx.any() or dp.any() or dr.any()):
            continue
        ends = [replay(x0 + k * small * dx, p + k * small * dp, r + k * small * dr) for k in (-2, -1, 1, 2)]
        differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * small)
        found = sol.sensitivities @ np.concatenate([dx, dp, dr])
        worst = max(worst, float(np.max(np.abs(found - differences)) / np.max(np.abs(differences))))
    return worst


# ----------------------------------------------------------------------------------------------- the steps themselves
@pytest.mark.parametrize("method", part(METHODS, ["dop853", "rosenbrock"]))
@pytest.mark.parametrize("name", part(MODELS, ["four_bar"]))
def test_they_are_the_slopes_of_the_steps(name: str, method: str) -> None:
    dyn, rng = kc.load(name), np.random.default_rng(3)
    x0, r = some_start(dyn, rng), rng.uniform(-0.1, 0.1, dyn.n_r)
    assert agree(dyn, method, x0, r, None, **METHODS[method]) < TOLERANCE.get(name, 3e-9)


@pytest.mark.parametrize("method", part(METHODS, ["rosenbrock"]))
def test_between_steps_they_are_those_of_the_interpolants(method: str) -> None:
    times = np.array([0.0, 0.013, 0.31, 0.317, 0.52, 0.99, 1.0])
    for name in ("cart_pole", "free_body", "four_bar"):
        dyn, rng = kc.load(name), np.random.default_rng(4)
        x0, r = some_start(dyn, rng), rng.uniform(-0.1, 0.1, dyn.n_r)
        assert agree(dyn, method, x0, r, times, **METHODS[method]) < (1e-7 if name == "four_bar" else 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", ["bricard", "five_bar_bodies"])
def test_projections_that_bend(name: str) -> None:
    """Of redundant constraints and of many speeds: a projection is straight only very near to the constraints."""
    dyn = kc.load(name)
    rng = np.random.default_rng(3)
    x0, r = some_start(dyn, rng), np.zeros(dyn.n_r)
    sol = dyn.simulate((0.0, 0.1), x0, inputs=r, sensitivities=["x0"])
    assert sol.sensitivities is not None
    first, small = sol.sensitivities[0], 1e-5
    ends = np.array([dyn.kernels.project(0.0, x0 + k * small * np.eye(dyn.n_x), r=r) for k in (-2, -1, 1, 2)])
    differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]).T / (12 * small)
    assert_allclose(first, differences, rtol=0, atol=2e-8 * np.max(np.abs(first)))
    assert_allclose(first @ first, first, rtol=0, atol=2e-8 * np.max(np.abs(first)))


@pytest.mark.parametrize(("turns", "off"), [(0, 0.0), (0, 1e-9), (1600, 0.3)])
def test_at_rest_and_after_many_turns(turns: int, off: float) -> None:
    """What is a small change of speeds that are rounding, or of an angle of 1e4 rad?"""
    dyn = kc.load("four_bar")
    x0 = dyn.equilibrium().x + np.array([off + 2 * np.pi * turns, 0, 0, 0, 0, 0])
    x0, p = np.asarray(dyn.consistent(0.0, x0)), values(dyn)
    sol = dyn.simulate((0, 0.5), x0, sensitivities=["x0"])
    assert sol.sensitivities is not None
    replay, small = Replay(dyn, "dop853", sol._steps, None), 1e-5
    direction = sol.sensitivities[0] @ np.array([1.0, -0.5, 0.3, 0.4, 0.2, -0.6])
    ends = [replay(x0 + k * small * direction, p, np.zeros(dyn.n_r)) for k in (-2, -1, 1, 2)]
    differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * small)
    within = (3e-6 if turns else 1e-8) * np.max(np.abs(differences))
    assert_allclose(sol.sensitivities @ direction, differences, rtol=0, atol=within)


def test_light_beside_heavy() -> None:
    """A particle of 1e-9 kg hangs on one of 1 kg, by rods: what is a small change of its place?"""
    names = "x1 y1 x2 y2", "u1 v1 u2 v2"
    (x1, y1, x2, y2), (u1, v1, u2, v2) = map(me.dynamicsymbols, names)
    frame, origin = ground()
    heavy, light = (
        origin.locatenew("H", x1 * frame.x + y1 * frame.y),
        origin.locatenew("L", x2 * frame.x + y2 * frame.y),
    )
    heavy.set_vel(frame, u1 * frame.x + v1 * frame.y)
    light.set_vel(frame, u2 * frame.x + v2 * frame.y)
    mass, length = 1e-9, sm.Symbol("l")
    model = kc.Model(
        *(frame, [x1, y1, x2, y2], [u1, v1, u2, v2]),
        [x1.diff() - u1, y1.diff() - v1, x2.diff() - u2, y2.diff() - v2],
        bodies=[me.Particle("H", heavy, 1), me.Particle("L", light, mass)],
        forcelist=[(heavy, -9.81 * frame.y), (light, -9.81 * mass * frame.y)],
        configuration_constraints={"upper": x1**2 + y1**2 - 1, "lower": (x2 - x1) ** 2 + (y2 - y1) ** 2 - length**2},
        name="rods",
    )
    dyn = kc.compile(model, parameters={length: 1.0})
    x0 = np.asarray(dyn.consistent(0.0, [0.6, -0.8, 1.4, -1.4, 0.2, 0.1, 0.1, -0.3], None))
    assert agree(dyn, "dop853", x0, np.zeros(0), None) < 1e-8


def test_the_motion_itself_is_the_same() -> None:
    dyn = kc.load("cart_pole")
    x0, times = some_start(dyn, np.random.default_rng(0)), np.linspace(0, 2, 7)
    plain, found = (dyn.simulate((0, 2), x0, t_eval=times, sensitivities=wanted) for wanted in (None, ["p"]))
    assert_array_equal(plain.x, found.x)
    assert plain.sensitivities is None
    assert plain.sensitivity_names is None
    assert found.sensitivities is not None
    assert found.sensitivities.shape == (7, dyn.n_x, dyn.n_p)


def test_columns_come_in_the_order_of_the_list() -> None:
    dyn = kc.load("cart_pole")
    x0 = some_start(dyn, np.random.default_rng(0))
    every = dyn.simulate((0, 1), x0, sensitivities=ALL)
    other = dyn.simulate((0, 1), x0, sensitivities=["r", "x0"])
    assert every.sensitivities is not None
    assert other.sensitivities is not None
    assert every.sensitivity_names is not None
    assert other.sensitivity_names == (*dyn.input_names, *dyn.coordinate_names, *dyn.speed_names)
    places = [every.sensitivity_names.index(name) for name in other.sensitivity_names]
    assert_allclose(other.sensitivities, every.sensitivities[..., places], rtol=1e-14, atol=1e-14)
    copy = pickle.loads(pickle.dumps(other))
    assert_array_equal(copy.sensitivities, other.sensitivities)


def test_steps_in_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run goes through memory in parts."""
    dyn = kc.load("rrp")
    x0, times = some_start(dyn, np.random.default_rng(1)), np.linspace(0, 1, 23)
    whole = dyn.simulate((0, 1), x0, method="rk4", dt=0.01, t_eval=times, sensitivities=["x0"])
    monkeypatch.setattr("kanecore.motion.derivatives.sensitivities._ROOM", 8 * 6 * 6 * 24 * 7)
    parts = dyn.simulate((0, 1), x0, method="rk4", dt=0.01, t_eval=times, sensitivities=["x0"])
    assert whole.sensitivities is not None
    assert parts.sensitivities is not None
    assert_allclose(parts.sensitivities, whole.sensitivities, rtol=1e-13, atol=1e-13)


# ------------------------------------------------------------------------------------------------------ closed forms
def test_a_linear_oscillator() -> None:
    """S = exp(A t), and by p what differentiation of the closed form gives."""
    k, c = sm.symbols("k c")
    dyn = on_a_line("oscillator", lambda q, u: -k * q - c * u, {k: 4.0, c: 0.3})
    x0, times = np.array([0.7, -0.2]), np.linspace(0.0, 5.0, 6)
    sol = dyn.simulate((0, 5), x0, t_eval=times, rtol=1e-12, atol=1e-12, sensitivities=["x0", "p"])
    assert sol.sensitivities is not None

    def state(t: float, c_: float, k_: float) -> Array:
        return np.asarray(expm(t * np.array([[0, 1], [-k_, -c_]])) @ x0)

    h = 1e-3
    for i, t in enumerate(times):
        assert_allclose(sol.sensitivities[i, :, :2], expm(t * np.array([[0, 1], [-4.0, -0.3]])), rtol=0, atol=2e-11)
        by_c, by_k = (
            (state(t, 0.3 - 2 * a, 4 - 2 * b) - 8 * state(t, 0.3 - a, 4 - b) + 8 * state(t, 0.3 + a, 4 + b)
             - state(t, 0.3 + 2 * a, 4 + 2 * b)) / (12 * h)
            for a, b in ((h, 0), (0, h))
        )  # fmt: skip
        assert dyn.parameter_names == ("c", "k")
        assert_allclose(sol.sensitivities[i, :, 2:], np.column_stack([by_c, by_k]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", every(2, ["double_pendulum", "furuta_pendulum", "cart_pole"]))
def test_variational_equations_by_scipy(name: str) -> None:
    """Ṡ = A S + ∂ẋ/∂(p, r), integrated beside the motion by a method of another package."""
    dyn, rng = kc.load(name), np.random.default_rng(5)
    x0, p, r = some_start(dyn, rng), values(dyn), np.full(dyn.n_r, 0.2)
    n, m = dyn.n_x, dyn.n_x + dyn.n_p + dyn.n_r

    def rates(t: float, y: Array) -> Array:
        x, s = y[:n], y[n:].reshape(n, m)
        a, b = dyn.linearize(t, x, r=r)
        change = a @ s
        change[:, n : n + dyn.n_p] += dyn.rhs_parameter_jacobian(t, x, r=r)
        change[:, n + dyn.n_p :] += b
        return np.concatenate([dyn.rhs(t, x, r=r), change.ravel()])

    start = np.concatenate([x0, np.hstack([np.eye(n), np.zeros((n, m - n))]).ravel()])
    other = solve_ivp(rates, (0, 2), start, method="DOP853", rtol=1e-11, atol=1e-11).y[n:, -1].reshape(n, m)
    sol = dyn.simulate((0, 2), x0, inputs=r, parameters=p, rtol=1e-12, atol=1e-12, sensitivities=ALL)
    assert sol.sensitivities is not None
    assert_allclose(sol.sensitivities[-1], other, rtol=0, atol=1e-8 * np.max(np.abs(other)))


def test_canonical_flows_are_symplectic() -> None:
    """Sᵀ J S = J of Hamilton's equations (Hairer, Lubich & Wanner 2006, theorem VI.2.4)."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    frame, origin = ground()
    first, second = frame.orientnew("A", "Axis", [q1, frame.z]), frame.orientnew("B", "Axis", [q2, frame.z])
    first.set_ang_vel(frame, u1 * frame.z)
    second.set_ang_vel(frame, u2 * frame.z)
    elbow = origin.locatenew("E", -first.y)
    tip = elbow.locatenew("T", -second.y)
    elbow.v2pt_theory(origin, frame, first)
    tip.v2pt_theory(elbow, frame, second)
    bodies = [me.Particle("E", elbow, 1), me.Particle("T", tip, 2)]
    loads = [(elbow, -10 * frame.y), (tip, -20 * frame.y)]
    rates = [q1.diff() - u1, q2.diff() - u2]
    model = kc.Model(frame, [q1, q2], [u1, u2], rates, bodies=bodies, forcelist=loads, name="double")
    dyn = kc.compile(model.canonical())
    sol = dyn.simulate((0, 2), [1.0, 0.5, 0.3, -0.4], rtol=1e-12, atol=1e-12, sensitivities=["x0"])
    assert sol.sensitivities is not None
    s, zero, one = sol.sensitivities[-1], np.zeros((2, 2)), np.eye(2)
    j = np.block([[zero, one], [-one, zero]])
    assert np.max(np.abs(s)) > 3.0
    assert_allclose(s.T @ j @ s, j, rtol=0, atol=1e-9)


def test_there_and_back() -> None:
    """S backwards undoes S, along the directions that the constraints allow."""
    for name in ("cart_pole", "four_bar", "free_body"):
        dyn = kc.load(name)
        x0 = some_start(dyn, np.random.default_rng(2))
        there = dyn.simulate((0, 1), x0, rtol=1e-12, atol=1e-12, sensitivities=["x0"])
        back = dyn.simulate((1, 0), there.x[-1], rtol=1e-12, atol=1e-12, sensitivities=["x0"])
        assert there.sensitivities is not None
        assert back.sensitivities is not None
        product = back.sensitivities[-1] @ there.sensitivities[-1]
        assert_allclose(product, there.sensitivities[0], rtol=0, atol=1e-7 * np.max(np.abs(there.sensitivities)))


@pytest.mark.parametrize("method", ["dop853", "rosenbrock"])
def test_chosen_times_and_events_backwards(method: str) -> None:
    """Of an oscillator: S = exp(A t), and x1 = 0 at dτ = −S1 / x2; a reset turns what came before it over."""
    k = sm.symbols("k")
    dyn = on_a_line("backwards", lambda q, u: -k * q, {k: 4.0})
    x0, times = np.array([0.7, -0.2]), np.linspace(0.0, -2.0, 9)
    options: dict[str, Any] = {"t_eval": times, "rtol": 1e-10, "atol": 1e-10, "sensitivities": ["x0"]}
    tolerance = {"rtol": 0, "atol": 1e-7}

    def expected(t: float) -> Array:
        return np.asarray(expm(t * np.array([[0, 1], [-4.0, 0.0]])))

    sol = dyn.simulate((0, -2), x0, method=method, events=kc.Event(lambda t, x: x[0]), **options)
    assert sol.sensitivities is not None
    assert sol.t_events_sensitivities is not None
    for t, found in zip(times, sol.sensitivities, strict=True):
        assert_allclose(found, expected(t), **tolerance)
    assert len(sol.t_events[0]) == 1
    for t, x, found in zip(sol.t_events[0], sol.y_events[0], sol.t_events_sensitivities[0], strict=True):
        assert_allclose(found, -expected(t)[0] / x[1], **tolerance)
    turned = dyn.simulate(
        (0, -2), x0, method=method, events=kc.Event(lambda t, x: x[0], reset=lambda t, x: -x), **options
    )
    assert turned.sensitivities is not None
    for t, found in zip(times, turned.sensitivities, strict=True):
        assert_allclose(found, expected(t) * (1 if t > sol.t_events[0][0] else -1), **tolerance)


def test_starts_vary_along_constraints_that_inputs_move() -> None:
    """∂x(0)/∂x0 where q1 s + q2 = 1, and s is prescribed: differences of the projection."""
    q, u, s = me.dynamicsymbols("q1 q2"), me.dynamicsymbols("u1 u2"), me.dynamicsymbols("s")
    row = {"configuration_constraints": [q[0] * s + q[1] - 1]}
    dyn = kc.compile(mass_point(dict(zip(q, u, strict=True)), 2, **row, name="moved by s"))
    signal = kc.Signal([0.0, 0.5, 1.0], [2.0, 2.4, 3.5], kind="cubic")
    r = np.array([signal.cubics_about(np.zeros(1), 0, order)[0, 0] for order in range(3)])
    x0 = np.asarray(dyn.consistent(0.0, [0.3, 0.4, 0.5, 0.6], None, r=r))
    sol = dyn.simulate((0.0, 0.1), x0, inputs={"s": signal}, sensitivities=["x0"])
    assert sol.sensitivities is not None
    h = 1e-5
    differences = [
        (dyn.kernels.project(0.0, x0 + h * one, r=r) - dyn.kernels.project(0.0, x0 - h * one, r=r)) / (2 * h)
        for one in np.eye(4)
    ]
    assert_allclose(sol.sensitivities[0], np.array(differences).T, rtol=0, atol=1e-8)


def test_starts_vary_along_constraints_alone() -> None:
    """∂x(0)/∂x0 is the projector onto what the constraints allow: rows of their slopes times it vanish."""
    dyn = kc.load("four_bar")
    x0 = some_start(dyn, np.random.default_rng(2))
    sol = dyn.simulate((0, 0.1), x0, sensitivities=["x0"])
    assert sol.sensitivities is not None
    first = sol.sensitivities[0]
    slopes = np.asarray(dyn.kernels.constraint_slopes(0.0, sol.x[0]))[:, : dyn.n_x]
    assert_allclose(slopes @ first, 0, atol=1e-8 * np.max(np.abs(slopes)))
    assert_allclose(first @ first, first, rtol=0, atol=1e-9)
    assert round(np.trace(first)) == dyn.n_x - np.linalg.matrix_rank(slopes)


# ------------------------------------------------------------------------------------------------------------ inputs
@pytest.mark.parametrize("kind", ["zoh", "linear", "cubic"])
@pytest.mark.parametrize("method", ["dop853", "rosenbrock", "rk4"])
def test_signals(method: str, kind: str) -> None:
    """Inputs vary by constants that are added to them, from knot to knot."""
    dyn, knots, table = kc.load("cart_pole"), np.array([0.0, 0.3, 0.45, 1.0]), np.array([1.0, -2.0, 4.0, 0.5])
    x0, small = some_start(dyn, np.random.default_rng(6)), 1e-4
    control = METHODS["rk4"] if method == "rk4" else {"rtol": 1e-5, "atol": 1e-5}
    sol = dyn.simulate((0, 1), x0, method=method, inputs=kc.Signal(knots, table, kind), sensitivities=["r"], **control)
    assert sol.sensitivities is not None
    replay, p = Replay(dyn, method, sol._steps, None), values(dyn)
    ends = [replay(x0, p, kc.Signal(knots, table + k * small, kind)) for k in (-2, -1, 1, 2)]
    differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * small)
    assert_allclose(sol.sensitivities[..., 0], differences, rtol=0, atol=1e-9 * np.max(np.abs(differences)))


@pytest.mark.parametrize("forward", [1, -1])
def test_a_stiff_run_that_changes_its_method(forward: int) -> None:
    """Van der Pol's oscillator, by "auto", beside an explicit method with tiny steps; and the same in the past."""
    mu = sm.Symbol("mu")
    dyn = on_a_line("van der Pol", lambda q, u: forward * mu * (1 - q**2) * u - q, {mu: 100.0})
    span = 0, forward * 60
    sol = dyn.simulate(span, [2.0, 0.0], method="auto", rtol=1e-9, atol=1e-9, sensitivities=["x0", "p"])
    assert "rosenbrock from" in sol.message
    exact = dyn.simulate(span, [2.0, 0.0], rtol=1e-12, atol=1e-12, sensitivities=["x0", "p"])
    assert sol.sensitivities is not None
    assert exact.sensitivities is not None
    assert_allclose(sol.sensitivities[-1], exact.sensitivities[-1], rtol=1e-5, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ events
def ball() -> tuple[kc.CompiledModel, dict[str, Any]]:
    """A ball that falls, with its coefficient of restitution among the parameters, and its symbols."""
    z, w = me.dynamicsymbols("z w")
    g, e = sm.symbols("g e")
    frame, origin = ground()
    point = origin.locatenew("P", z * frame.y)
    point.set_vel(frame, w * frame.y)
    bodies, loads = [me.Particle("P", point, 1)], [(point, -g * frame.y)]
    outputs = {"height": z, "e times height": e * z}
    model = kc.Model(frame, [z], [w], [z.diff() - w], bodies=bodies, forcelist=loads, outputs=outputs, name="ball")
    return kc.compile(model, parameters={g: 9.81, e: 0.8}), {"z": z, "w": w, "e": e}


def bounced(values: Array, t: float) -> tuple[Array, Array]:
    """The state of the ball at t in closed form, and the times of its bounces, for z0, w0, e, g."""
    z0, w0, e, g = values
    speed = np.sqrt(w0**2 + 2 * g * z0)
    times = [(w0 + speed) / g]
    speed *= e
    while times[-1] + 2 * speed / g < t:
        times.append(times[-1] + 2 * speed / g)
        speed *= e
    s = t - times[-1]
    return np.array([speed * s - g * s * s / 2, speed - g * s]), np.array(times)


HEIGHT = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.POINTER(ctypes.c_double))(lambda t, x: x[0])


@pytest.mark.parametrize("source", ["expression", "name", "output", "scaled output", "function", "address"])
def test_a_bouncing_ball(source: str) -> None:
    dyn, symbols = ball()
    z, w, e = symbols["z"], symbols["w"], symbols["e"]
    exprs = {
        "expression": z * (2 + sm.cos(w)),
        "name": "z",
        "output": "height",
        "scaled output": "e times height",
        "function": lambda t, x: x[0],
        "address": HEIGHT,
    }
    event = kc.Event(exprs[source], direction=-1, reset={w: -e * w})
    at, end, times = np.array([1.0, 0.5, 0.8, 9.81]), 2.0, np.array([0.0, 1.0, 1.9, 2.0])
    sol = dyn.simulate((0, end), at[:2], t_eval=times, events=event, sensitivities=["x0", "p"])
    assert sol.sensitivities is not None
    assert sol.t_events_sensitivities is not None
    assert sol.y_events_sensitivities is not None
    assert sol.sensitivity_names == ("z", "w", "e", "g")
    small = 1e-3
    for j in range(4):
        moved = [bounced(at + k * small * np.eye(4)[j], end) for k in (-2, -1, 1, 2)]
        states, bounces = zip(*moved, strict=True)
        by_state = (states[0] - 8 * states[1] + 8 * states[2] - states[3]) / (12 * small)
        by_times = (bounces[0] - 8 * bounces[1] + 8 * bounces[2] - bounces[3]) / (12 * small)
        assert_allclose(sol.sensitivities[-1, :, j], by_state, rtol=1e-8, atol=1e-9)
        assert_allclose(sol.t_events_sensitivities[0][:, j], by_times, rtol=1e-8, atol=1e-10)
    # at the varying times of its zeros the ball is on the ground
    assert_allclose(sol.y_events_sensitivities[0][:, 0], 0.0, atol=1e-10)


def test_resets_by_functions() -> None:
    """What a function of Python makes of the state is differentiated along the directions that occur."""
    dyn, symbols = ball()
    w = symbols["w"]
    by_function, by_expression = (
        dyn.simulate((0, 2), [1.0, 0.5], events=kc.Event("z", direction=-1, reset=reset), sensitivities=["x0", "p"])
        for reset in (lambda t, x: [x[0], -0.8 * x[1]], {w: sm.Rational(-4, 5) * w})
    )
    assert by_function.sensitivities is not None
    assert by_expression.sensitivities is not None
    assert_allclose(by_function.sensitivities, by_expression.sensitivities, rtol=1e-9, atol=1e-10)


def test_events_that_change_nothing() -> None:
    """The time at which a thrown ball is highest is w0/g, and the height there z0 + w0²/(2 g)."""
    dyn, _ = ball()
    for times in (None, [0.0, 2.0]):
        sol = dyn.simulate((0, 2), [1.0, 9.0], events=[kc.Event("w")], t_eval=times, sensitivities=["x0", "p"])
        assert sol.t_events_sensitivities is not None
        assert sol.y_events_sensitivities is not None
        assert_allclose(sol.t_events_sensitivities[0], [[0, 1 / 9.81, 0, -9 / 9.81**2]], atol=1e-12)
        assert_allclose(
            sol.y_events_sensitivities[0], [[[1, 9 / 9.81, 0, -81 / (2 * 9.81**2)], [0, 0, 0, 0]]], atol=1e-11
        )


def test_a_terminal_event() -> None:
    """The state at the end is that at a held time, as everywhere; at the time that varies it is another matter."""
    dyn, _ = ball()
    event = kc.Event("z", terminal=True, direction=-1)
    sol = dyn.simulate((0, 9), [1.0, 0.5], events=event, sensitivities=["x0"])
    assert sol.sensitivities is not None
    assert sol.y_events_sensitivities is not None
    assert_allclose(sol.sensitivities[-1], [[1, sol.t[-1]], [0, 1]], atol=1e-12)
    speed = np.sqrt(0.25 + 2 * 9.81)
    assert_allclose(sol.y_events_sensitivities[0][0], [[0, 0], [-9.81 / speed, -0.5 / speed]], atol=1e-12)


def test_simultaneous_events_and_a_reset_that_changes_nothing() -> None:
    """Two events at one time: the jump is that of their product; and u -> 3 u at u = 0 is one although x stays."""
    dyn, symbols = ball()
    z, w = symbols["z"], symbols["w"]
    twice = [kc.Event("z", direction=-1, reset={w: -w / 2}), kc.Event(2 * z, direction=-1, reset={w: w / 2})]
    once = kc.Event("z", direction=-1, reset={w: -w / 4})
    both, one = (dyn.simulate((0, 0.7), [1.0, 0.5], events=e, sensitivities=["x0", "p"]) for e in (twice, once))
    assert both.sensitivities is not None
    assert one.sensitivities is not None
    assert_allclose(both.sensitivities[-1], one.sensitivities[-1], rtol=1e-10, atol=1e-10)

    rest = on_a_line("at rest", lambda q, u: sm.Integer(0), {})
    u = me.dynamicsymbols("u")
    event = kc.Event(me.dynamicsymbols._t - 1, reset={u: 3 * u})
    sol = rest.simulate((0, 2), [1.0, 0.0], events=event, sensitivities=["x0"])
    assert sol.sensitivities is not None
    assert_allclose(sol.sensitivities[-1], [[1, 4], [0, 3]], atol=1e-12)


def test_events_on_constraints() -> None:
    """A dumbbell strikes the ground with a tip: through dyn.impact, beside differences of the whole run."""
    x, y, th, ux, uy, om = me.dynamicsymbols("x y theta u_x u_y omega")
    frame, origin = ground()
    rod = frame.orientnew("A", "Axis", [th, frame.z])
    rod.set_ang_vel(frame, om * frame.z)
    tip = origin.locatenew("tip", x * frame.x + y * frame.y)
    other = tip.locatenew("other", rod.x)
    tip.set_vel(frame, ux * frame.x + uy * frame.y)
    other.v2pt_theory(tip, frame, rod)
    bodies = [me.Particle("tip", tip, 1), me.Particle("other", other, 2)]
    model = kc.Model(
        *(frame, [x, y, th], [ux, uy, om], [x.diff() - ux, y.diff() - uy, th.diff() - om]),
        bodies=bodies,
        forcelist=[(tip, -9.81 * frame.y), (other, -19.62 * frame.y)],
        configuration_constraints={"rail": x + sm.cos(th) * sm.Rational(2, 3)},
        outputs={"tip falls": tip.vel(frame).dot(frame.y)},
        name="dumbbell",
    )
    dyn = kc.compile(model)
    x0 = np.asarray(dyn.consistent(0.0, [0.0, 0.5, 0.7, 0.0, 0.0, 0.6], None))
    event = kc.Event("y", direction=-1, reset=lambda t, x: dyn.impact(t, x, "tip falls", 0.5))

    def end(start: Array) -> Array:
        start = np.asarray(dyn.kernels.project(0.0, start))
        return dyn.simulate((0, 0.5), start, events=event, rtol=1e-12, atol=1e-12).x[-1]

    sol = dyn.simulate((0, 0.5), x0, events=event, rtol=1e-12, atol=1e-12, sensitivities=["x0"])
    assert sol.t_events is not None
    assert len(sol.t_events[0]) == 1
    assert sol.sensitivities is not None
    for direction in (sol.sensitivities[0] @ np.random.default_rng(1).standard_normal((dyn.n_x, 3))).T:
        h = 1e-4
        ends = [end(x0 + k * h * direction) for k in (-2, -1, 1, 2)]
        differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert_allclose(sol.sensitivities[-1] @ direction, differences, rtol=0, atol=1e-7 * np.max(np.abs(differences)))


def test_no_columns_and_events() -> None:
    """Of a model without parameters ∂/∂p has no columns, also where events are."""
    dyn = on_a_line("free of parameters", lambda q, u: -q, {})
    sol = dyn.simulate((0, 4), [1.0, 0.0], events=kc.Event("u", direction=1, reset={"q": 2.0}), sensitivities=["p"])
    assert sol.sensitivities is not None
    assert sol.y_events_sensitivities is not None
    assert sol.sensitivities.shape == (len(sol.t), 2, 0)
    assert sol.y_events_sensitivities[0].shape == (1, 2, 0)


def test_long_runs_keep_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a plain run with t_eval drops them."""
    monkeypatch.setattr("kanecore.motion.simulation_options._ROOM_BESIDE_TIMES", 1000)
    dyn, x0 = kc.load("cart_pole"), np.array([0.1, 0.2, 0.0, 0.0])
    plain, found = (dyn.simulate((0, 1), x0, t_eval=[0.0, 1.0], sensitivities=wanted) for wanted in (None, ["x0"]))
    with pytest.raises(ValueError, match="did not keep its steps"):
        plain(0.2)
    every = dyn.simulate((0, 1), x0, sensitivities=["x0"])
    assert found.sensitivities is not None
    assert every.sensitivities is not None
    assert_array_equal(found.sensitivities, every.sensitivities[[0, -1]])


def test_a_function_whose_reset_is_a_mapping() -> None:
    dyn, symbols = ball()

    def falls(t: float, x: Array) -> float:
        return float(x[0])

    falls.reset = {symbols["w"]: -symbols["w"]}  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="into one"):
        dyn.simulate((0, 1), [1.0, 0.0], events=falls)


def test_resets_on_constraints_that_move() -> None:
    """A particle on a rail that rises: the state after a reset is brought to where the rail is at the varying time."""
    x, y, ux, uy = me.dynamicsymbols("x y u_x u_y")
    time = me.dynamicsymbols._t
    model = mass_point(
        {x: ux, y: uy},
        1,
        [0, -9.81],
        configuration_constraints={"rail": y - 0.7 * sm.sin(time) - x / 2 - x**2 / 5},
        name="rising rail",
    )
    dyn = kc.compile(model)
    x0 = np.asarray(dyn.consistent(0.0, [0.0, 0.0, 3.5, 0.0], None))
    up = 0.7 * sm.cos(time) - ux / 2 * (sm.Rational(1, 2) + 2 * x / 5)
    event = kc.Event(x - 0.3, direction=1, reset={ux: -ux / 2, uy: up})
    sol = dyn.simulate((0, 0.6), x0, events=event, rtol=1e-12, atol=1e-12, sensitivities=["x0"])
    assert sol.t_events is not None
    assert len(sol.t_events[0]) == 1
    assert sol.sensitivities is not None
    for direction in (sol.sensitivities[0] @ np.random.default_rng(1).standard_normal((dyn.n_x, 3))).T:
        h = 1e-4
        starts = [np.asarray(dyn.kernels.project(0.0, x0 + k * h * direction)) for k in (-2, -1, 1, 2)]
        ends = [dyn.simulate((0, 0.6), start, events=event, rtol=1e-12, atol=1e-12).x[-1] for start in starts]
        differences = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert_allclose(sol.sensitivities[-1] @ direction, differences, rtol=0, atol=1e-8 * np.max(np.abs(differences)))


# ------------------------------------------------------------------------------------------------------------ errors
@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"sensitivities": "x0"}, TypeError, "list of 'x0', 'p', 'r'"),
        ({"sensitivities": ["m"]}, ValueError, "has 'm'; it must have only"),
        ({"sensitivities": []}, ValueError, "at most once"),
        ({"sensitivities": ["p", "p"]}, ValueError, "at most once"),
        ({"inputs": lambda t, x: [0.0]}, ValueError, "pass a Signal"),
        ({"inputs": lambda t, x: [0.0], "sample_time": 0.1}, ValueError, "pass a Signal"),
        ({"method": "radau"}, ValueError, "use method='rosenbrock'"),
        ({"dense_output": False}, ValueError, "leave out dense_output"),
        ({"x0": np.zeros((2, 4))}, ValueError, "sensitivities is for one run"),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], says: str) -> None:
    dyn = kc.load("cart_pole")
    arguments: dict[str, Any] = {"x0": np.zeros(4), "sensitivities": ["x0"]} | options
    with pytest.raises(error, match=says):
        dyn.simulate((0, 1), **arguments)


def test_baumgarte_has_no_derivatives() -> None:
    dyn = kc.load("four_bar")
    with pytest.raises(ValueError, match="project=True in place of baumgarte"):
        dyn.simulate((0, 1), some_start(dyn, np.random.default_rng(0)), baumgarte=(1, 1), sensitivities=["x0"])


def test_a_function_that_jumps_has_no_rate() -> None:
    """Of sign(w) nobody can tell when it is zero from how it changes there; the run is kept."""
    dyn, symbols = ball()
    event = kc.Event(sm.sign(symbols["w"]), terminal=True)
    with pytest.raises(kc.IntegrationError, match="has the rate 0") as caught:
        dyn.simulate((0, 1), [1.0, 1.0], events=event, sensitivities=["x0"])
    assert caught.value.trajectory.t[-1] == pytest.approx(1 / 9.81, abs=1e-12)


def test_every_method_is_differentiated() -> None:
    """A method more needs a tableau, or steps of its own in StepSlopes, and a row above."""
    assert {*METHODS, "auto", "auto_w"} == set(_motion.METHODS)


def test_tableaux_are_those_of_the_steps() -> None:
    """Rows of a tableau sum to c, and its last one to 1: what differentiates a step reads the numbers it is made of."""
    for method in ("rk4", "dopri5", "dop853", "auto"):
        tableau = _motion.Tableau(method)
        assert tableau.a is not None
        assert tableau.c is not None
        assert_allclose(tableau.a.sum(axis=1), tableau.c, atol=1e-14)
    ends = _motion.Tableau("dop853").interpolant(np.array([0.0, 1.0]))
    assert_allclose(ends[:, 3:], 0.0, atol=1e-13)
    assert_allclose(ends[:, :3], [[1, 0, 0], [0, 0, 1]], atol=1e-14)
