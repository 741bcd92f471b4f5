# SPDX-License-Identifier: BSD-3-Clause
"""Integration from Python: against SciPy, closed forms and conserved quantities; every input; every wrong call."""

import pickle
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import kanecore as kc
from kanecore.build import compile_library
from kanecore.compiled_model import CompiledModel

X0 = np.array([0.3, 0.4, 0.5, 1.0, -1.0, 0.2])


@pytest.fixture(scope="module")
def rrp():
    return kc.load("rrp")


@pytest.fixture
def tube():
    return kc.load("rotating_tube")


@pytest.fixture(scope="module")
def oscillator():
    """M q'' = -k q + F, T + U conserved without F."""
    q, u, force = me.dynamicsymbols("q u F")
    m, k = sm.symbols("m k")
    model = mass_point({q: u}, m, [force], potentials=[k * q**2 / 2])
    return kc.compile(model, parameters={m: 2.0, k: 2.0 * 1.7**2})


def test_dopri5_takes_scipys_steps(rrp):
    options = {"rtol": 1e-7, "atol": 1e-9, "first_step": 1e-2}
    ours = rrp.simulate((0, 5), X0, method="dopri5", **options)
    theirs = solve_ivp(rrp.rhs, (0, 5), X0, method="RK45", dense_output=True, **options)
    assert len(ours.t) == len(theirs.t)
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-9)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-7, atol=1e-9)
    times = np.linspace(0, 5, 77)
    np.testing.assert_allclose(ours(times), theirs.sol(times).T, rtol=1e-7, atol=1e-9)


def test_semi_implicit_euler_keeps_the_energy(oscillator):
    """The symplectic method: an error of the energy of h w / 2 at most, after thousands of periods."""
    h, frequency = 1e-2, 1.7
    sol = oscillator.simulate((0.0, 1e4), [1.0, 0.0], method="euler", dt=h)
    energy = sol.x[:, 1] ** 2 + (frequency * sol.x[:, 0]) ** 2
    assert np.max(np.abs(energy / energy[0] - 1.0)) < 1.1 * h * frequency
    q, u = 1.0, 0.0
    for k in range(5):
        u -= h * frequency**2 * q
        q += h * u
        np.testing.assert_allclose(sol.x[k + 1], [q, u], rtol=1e-14)


@pytest.mark.parametrize("method", ["euler", "dopri5"])
def test_constraints_are_kept_by_every_method(method):
    dyn = kc.load("four_bar")
    options = {"dt": 1e-3} if method == "euler" else {}
    sol = dyn.simulate((0.0, 1.0), dyn.consistent(0.0, [0.8, 1.0, 1.2, 0.3, 0.0, 0.0]), method=method, **options)
    assert sol.constraint_drift < 1e-12
    assert np.max(np.abs(dyn.configuration_residual(0.5, sol(0.5)))) < 1e-12


def test_dop853_takes_scipys_steps(rrp):
    options = {"rtol": 1e-10, "atol": 1e-10, "first_step": 1e-2}  # SciPy's own first step depends on the unit of time
    ours = rrp.simulate((0, 5), X0, **options)
    theirs = solve_ivp(rrp.rhs, (0, 5), X0, method="DOP853", dense_output=True, **options)
    assert ours.nfev == theirs.nfev
    assert ours.success
    assert ours.status == 0
    assert (ours.njev, ours.nlu) == (0, 0)
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-5)  # rounding, magnified by the error estimate
    times = np.linspace(0, 5, 77)
    np.testing.assert_allclose(ours.sol(times), theirs.sol(times).T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("span", [(0.0, 5.0), (5.0, 0.0)])
@pytest.mark.parametrize("times", [None, [1.1, 1.2, 4.0]], ids=["ends", "chosen"])
def test_only_interpolants_that_serve_cost_evaluations(rrp, span, times):
    """Three each, as in SciPy; the states are the same."""
    options = {"rtol": 1e-10, "atol": 1e-10, "first_step": 1e-2, "t_eval": times and sorted(times, reverse=span[0] > 0)}
    kept = rrp.simulate(span, X0, **options, dense_output=True)
    ours = rrp.simulate(span, X0, **options, dense_output=False)
    theirs = solve_ivp(rrp.rhs, span, X0, method="DOP853", **options)
    assert ours.nfev == theirs.nfev < kept.nfev - 2 * kept.n_steps
    np.testing.assert_array_equal(ours.x, kept.x)


def test_rk4_is_of_fourth_order(oscillator):
    def error(dt):
        sol = oscillator.simulate((0, 3), [1.0, 0.0], method="rk4", dt=dt)
        return abs(sol.x[-1, 0] - np.cos(1.7 * 3))

    assert error(0.01) / error(0.005) == pytest.approx(16, rel=0.05)


@pytest.mark.parametrize("options", [{"method": "rk4", "dt": 1e-3}, {"rtol": 1e-11, "atol": 1e-11}])
def test_energy_is_kept(rrp, options):
    sol = rrp.simulate((0, 3), X0, **options)
    assert sol.energy_drift < 1e-11
    assert np.ptp(sol.energy) < 1e-10 * np.max(np.abs(sol.energy))


def test_backwards(oscillator):
    sol = oscillator.simulate((2, -1), [np.cos(3.4), -1.7 * np.sin(3.4)], rtol=1e-11, atol=1e-11)
    assert np.all(np.diff(sol.t) < 0)
    np.testing.assert_allclose(sol.q[:, 0], np.cos(1.7 * sol.t), atol=1e-8)
    np.testing.assert_allclose(sol.sol(0.5), [np.cos(0.85), -1.7 * np.sin(0.85)], atol=1e-8)


def test_t_eval_and_shapes_of_the_interpolant(rrp):
    times = np.linspace(0, 2, 21)
    sol = rrp.simulate((0, 2), X0, t_eval=times, rtol=1e-10, atol=1e-10)
    assert np.array_equal(sol.t, times)
    assert sol.x.shape == (21, 6)
    assert sol.q.shape == (21, 3)
    assert sol.u.shape == (21, 3)
    assert sol.r.shape == (21, 3)
    assert sol.outputs.shape == (21, 3)
    assert sol.energy.shape == (21,)
    assert sol.sol(0.5).shape == (6,)
    assert sol.sol(np.zeros((2, 3))).shape == (2, 3, 6)
    assert np.array_equal(sol.sol(0.0), X0)
    assert np.array_equal(sol.sol(times), sol.x)
    with pytest.raises(ValueError, match=r"from 0\.0 to 2\.0"):
        sol.sol(2.1)


def test_steps_end_where_the_interpolant_does(rrp):
    sol = rrp.simulate((0, 2), X0)
    assert np.array_equal(sol.sol(sol.t), sol.x)
    inner = sol.t[1:-1]
    np.testing.assert_allclose(sol.sol(inner - 1e-12), sol.x[1:-1], atol=1e-9)


def forced(oscillator, inputs, t1=3.0, **options):
    return oscillator.simulate((0, t1), [0.0, 0.0], rtol=1e-11, atol=1e-11, inputs=inputs, **options)


def test_inputs_held(oscillator):
    """A constant force F on an oscillator at rest: q = F/k (1 − cos ω t)."""
    w, k = 1.7, 2.0 * 1.7**2
    for given in ([3.0], {"F": 3.0}, kc.Signal([0, 1], [3.0, 3.0])):
        sol = forced(oscillator, given)
        np.testing.assert_allclose(sol.q[:, 0], 3 / k * (1 - np.cos(w * sol.t)), atol=1e-9)
        assert sol.energy_drift < 1e-9
    switched = forced(oscillator, kc.Signal([0, np.pi / w], [3.0, 0.0]))
    late = switched.t > np.pi / w
    np.testing.assert_allclose(switched.q[late, 0], 3 / k * -2 * np.cos(w * switched.t[late]), atol=1e-8)
    assert switched.energy_drift < 1e-9
    assert np.pi / w in switched.t  # steps end on the jump


def test_inputs_joined_by_lines(oscillator):
    """A ramp F = a t: q = a/k (t − sin(ω t)/ω)."""
    w, k = 1.7, 2.0 * 1.7**2
    sol = forced(oscillator, kc.Signal([0, 3], [0.0, 6.0], kind="linear"))
    np.testing.assert_allclose(sol.q[:, 0], 2 / k * (sol.t - np.sin(w * sol.t) / w), atol=1e-9)
    np.testing.assert_allclose(sol.r[:, 0], 2 * sol.t)


def test_inputs_by_a_function(oscillator):
    """Resonance F = sin ω t: q = (sin ω t − ω t cos ω t) / (2 k)."""
    w, k = 1.7, 2.0 * 1.7**2
    seen = []

    def push(t, x):
        seen.append(x.shape)
        return [np.sin(w * t)]

    sol = forced(oscillator, push)
    np.testing.assert_allclose(sol.q[:, 0], (np.sin(w * sol.t) - w * sol.t * np.cos(w * sol.t)) / 2 / k, atol=1e-9)
    assert set(seen) == {(2,)}
    assert sol.energy_drift < 1e-9


def test_work_of_a_damper_is_counted(oscillator):
    sol = forced(oscillator, lambda t, x: [1.0 - 0.8 * x[1]])
    assert np.ptp(sol.energy) > 1e-3
    assert sol.energy_drift < 1e-9


def test_prescribed_motion_has_the_rates_of_its_signal(tube):
    times = np.linspace(0, 2, 201)
    law = 0.4 + 0.6 * np.sin(2.1 * times)
    full = np.column_stack([law, 1.26 * np.cos(2.1 * times), -2.646 * np.sin(2.1 * times)])
    ours = tube.simulate((0, 2), [0.01, 0.02, 0, 0], inputs=kc.Signal(times, law, kind="cubic"))
    exact = tube.simulate(
        (0, 2),
        [0.01, 0.02, 0, 0],
        inputs=lambda t, x: [0.4 + 0.6 * np.sin(2.1 * t), 1.26 * np.cos(2.1 * t), -2.646 * np.sin(2.1 * t)],
    )
    table = tube.simulate((0, 2), [0.01, 0.02, 0, 0], inputs=kc.Signal(times, full, kind="linear"))
    np.testing.assert_allclose(ours.x[-1], exact.x[-1], atol=1e-6)
    np.testing.assert_allclose(table.x[-1], exact.x[-1], atol=1e-3)
    assert exact.energy_drift < 1e-8  # the drive's work is counted
    assert ours.energy_drift < 1e-7


def test_inputs_of_a_mapping_are_merged(rrp):
    """Numbers, tables of different knots and kinds, and current values, against the one function that they mean."""
    held = kc.Signal([0.0, 0.37, 1.1], [2.0, -1.0, 0.5])
    curve = kc.Signal(np.linspace(-1, 3, 17), np.sin(np.linspace(-1, 3, 17)), kind="cubic")
    line = kc.Signal([0.0, 0.5, 1.1, 2.0], [0.0, 3.0, -2.0, 1.0], kind="linear")
    accurate = {"rtol": 1e-11, "atol": 1e-11}
    for span in ((0, 2), (2, 0)):
        ours = rrp.simulate(span, X0, inputs={"tau1": held, "tau2": curve, "f3": line}, **accurate)
        table = np.column_stack([signal(ours.t)[:, 0] for signal in (held, curve, line)])
        ends = np.isin(ours.t, held.knots)  # a jump belongs to both sides
        np.testing.assert_allclose(ours.r[~ends], table[~ends], atol=1e-13)
        assert {0.37, 0.5, 1.1} <= set(ours.t)
        assert np.isin(curve.knots[(curve.knots > 0) & (curve.knots < 2)], ours.t).all()
        assert ours.energy_drift < 1e-9
    try:
        rrp.inputs["tau1"] = 1.5
        some = rrp.simulate((0, 2), X0, inputs={me.dynamicsymbols("tau2"): curve, "f3": sm.Rational(1, 2)}, **accurate)
    finally:
        rrp.inputs["tau1"] = 0.0
    whole = rrp.simulate((0, 2), X0, inputs=lambda t, x: [1.5, curve(t)[0], 0.5], max_step=0.02, **accurate)
    np.testing.assert_allclose(some.x[-1], whole.x[-1], atol=1e-7)


def test_rates_of_a_mapping(tube):
    times = np.linspace(0, 2, 201)
    law = kc.Signal(times, 0.4 + 0.6 * np.sin(2.1 * times), kind="cubic")
    start = [0.01, 0.02, 0, 0]
    alone = tube.simulate((0, 2), start, inputs=law)
    assert np.array_equal(tube.simulate((0, 2), start, inputs={"theta": law}).x, alone.x)
    # a rate that is given counts, and those above it are its own
    speed = kc.Signal([0, 2], [1.0, 2.0], kind="linear")
    with pytest.warns(kc.KanecoreWarning, match="'theta' does not change at the rate 'theta_d'"):
        given = tube.simulate((0, 2), start, inputs={"theta": law, "theta_d": speed})
    np.testing.assert_allclose(given.r[:, 1], 1 + given.t / 2)
    np.testing.assert_allclose(given.r[:, 2], 0.5)
    # a constant does not move
    still = tube.simulate((0, 2), start, inputs={"theta": 0.3})
    assert (still.r == [0.3, 0.0, 0.0]).all()
    with pytest.raises(ValueError, match=r"'theta' of .* never set: .*or inputs=\{'theta'"):
        tube.simulate((0, 2), start, inputs={"theta_d": 0.3})


def test_a_function_does_not_tell_its_rates(tube):
    with pytest.raises(
        ValueError, match="'theta' by a function, and 'theta_d' is its derivative: give the derivative as well"
    ):
        tube.simulate((0, 1), [0, 0, 0, 0], inputs={"theta": np.sin})
    rates = {"theta": np.sin, "theta_d": np.cos, "theta_dd": lambda t: -np.sin(t)}
    assert tube.simulate((0, 1), [1, 0, 0, 0], inputs=rates).r[-1] == pytest.approx([np.sin(1), np.cos(1), -np.sin(1)])


@pytest.mark.parametrize("options", [{}, {"t_eval": [0.0, 0.25, 0.5, 1.0]}])
@pytest.mark.parametrize("forwards", [True, False])
def test_a_held_value_that_begins_where_a_run_ends(oscillator, forwards, options):
    """At all knots, the ends of the run too, inputs and outputs are those of the value that begins there."""
    held = kc.Signal([0.0, 0.5, 1.0], [1.0, 2.0, 5.0])
    t_eval = options.get("t_eval")
    times = {} if t_eval is None else {"t_eval": t_eval if forwards else t_eval[::-1]}
    sol = oscillator.simulate((0.0, 1.0) if forwards else (1.0, 0.0), [0.1, 0.0], inputs={"F": held}, **times)
    np.testing.assert_array_equal(sol["F"], held(sol.t)[:, 0])
    again = sol.at([0.0, 0.5, 1.0]) if t_eval is None else sol[[0, -1]]
    np.testing.assert_array_equal(again["F"], held(again.t)[:, 0])
    longer = oscillator.simulate((0.0, 2.0), [0.1, 0.0], inputs={"F": held}, t_eval=[1.0])
    assert longer["F"] == 5.0


@pytest.mark.parametrize("kind", ["zoh", "linear"])
def test_a_signal_too_rough_for_its_rates(tube, kind):
    with pytest.raises(ValueError, match=r"too rough for theta_d.*cubic"):
        tube.simulate((0, 1), [0, 0, 0, 0], inputs=kc.Signal([0, 1], [0.0, 1.0], kind=kind))


def test_prescribed_motion_must_be_given(tube):
    with pytest.raises(ValueError, match="theta"):
        tube.simulate((0, 1), [0, 0, 0, 0])


def test_parameters_for_one_run(oscillator):
    sol = oscillator.simulate((0, 1), [1.0, 0.0], parameters={"k": 2.0 * 2.5**2}, rtol=1e-11, atol=1e-11)
    assert sol.q[-1, 0] == pytest.approx(np.cos(2.5), abs=1e-9)
    assert oscillator.parameters["k"] == 2.0 * 1.7**2
    kept = sol.energy_drift
    assert kept < 1e-9


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (((0, 1), X0[:5]), {}, ValueError, r"x0 has shape \(5,\), expected \(6,\): one state"),
        (((0, 1), [np.nan] * 6), {}, ValueError, "x0 .* not finite"),
        (((0, 1), ["a"] * 6), {}, TypeError, "x0 must be real numbers, got dtype"),
        (((0, np.inf), X0), {}, ValueError, "t_span .* not finite"),
        ((3.0, X0), {}, ValueError, "t_span is 3.0"),
        (((0, 1), X0), {"method": "heun"}, ValueError, "'dop853', 'dopri5', 'euler', 'radau', 'rk4'"),
        (((0, 1), X0), {"method": "rk4"}, ValueError, "dt="),
        (((0, 1), X0), {"method": "rk4", "dt": -0.1}, ValueError, "positive"),
        (((0, 1), X0), {"method": "rk4", "dt": 0.1, "first_step": 0.1}, ValueError, "adaptive"),
        (((0, 1), X0), {"dt": 0.1}, ValueError, "fixed steps"),
        (((0, 1), X0), {"first_step": 0.0}, ValueError, "positive"),
        (((0, 1), X0), {"rtol": 0.0}, ValueError, "rtol"),
        (((0, 1), X0), {"atol": [1e-8] * 5}, ValueError, r"atol has shape \(5,\)"),
        (((0, 1), X0), {"max_step": 0.0}, ValueError, "max_step"),
        (((0, 1), X0), {"max_step": 1e-300}, ValueError, r"max_step is 1e-300; .* 8\.88\d*e-16 at least"),
        (((0, 1), X0), {"method": "rk4", "dt": 1e-300}, ValueError, r"dt is 1e-300, .* at least 8\.88\d*e-16"),
        (((0, 1), X0), {"max_steps": 0}, ValueError, "max_steps"),
        (((0, 10**400), X0), {}, ValueError, r"t_span is \(0, 10+\); it must be \(start, end\)"),
        (((0, 1), X0), {"method": "rk4", "dt": 10**400}, ValueError, "dt is 10+; it must be positive"),
        (((0, 1), X0), {"sample_time": 10**400}, TypeError, "sample_time is 10+; it must be one number"),
        (((0, 1), X0), {"max_steps": 2**70}, ValueError, r"max_steps is 1180591620717411303424; it must be at .* most"),
        (((0, 1), X0), {"max_steps": 2.5}, TypeError, "max_steps is 2.5; it must be a whole number"),
        (((0, 1), X0), {"method": "DOP853"}, ValueError, "'rosenbrock_w': write 'dop853'"),
        (((0, 1), X0), {"t_eval": [0.5, 2.0]}, ValueError, "within t_span"),
        (((0, 1), X0), {"t_eval": [0.5, 0.2]}, ValueError, "sorted"),
        (((0, 1), X0), {"inputs": [0.0]}, ValueError, r"inputs has shape \(1,\), expected .*3\): inputs tau1"),
        (((0, 1), X0), {"inputs": np.zeros((2, 2))}, ValueError, r"inputs has shape \(2, 2\), expected .*3\)"),
        (((0, 1), X0), {"inputs": [0.0, np.inf, 0.0]}, ValueError, "input 'tau2' is not finite in inputs"),
        (((0, 1), X0), {"inputs": {"tau": 1.0}}, KeyError, "no input of 'rrp' is called 'tau'; did you mean"),
        (((0, 1), X0), {"parameters": {"m9": 1.0}}, KeyError, "no parameter of 'rrp' is called 'm9'; there are"),
        (((0, 1), X0), {"parameters": {"m1": "1"}}, TypeError, r"parameters\['m1'\] must be a real number, got '1'"),
        (((0, 1), X0), {"inputs": {"tau1": lambda t, x, r: 0.0}}, TypeError, r"'tau1' takes 3 .* f\(t\) or f\(t, x\)"),
        (((0, 1), X0), {"inputs": {"tau1": lambda t: [0.0, 1.0]}}, ValueError, r"'tau1' returned shape \(2,\)"),
        (((0, 1), X0), {"inputs": {"tau1": lambda t: 1j}}, TypeError, "input 'tau1' returned .* real numbers"),
        (((0, 1), X0), {"inputs": {"tau1": kc.Signal([0, 5], np.zeros((2, 2)))}}, ValueError, "'tau1' has 2 columns"),
        (((0, 1), X0), {"inputs": {"tau1": kc.Signal([1, 5], [0, 0])}}, ValueError, "input 'tau1': the signal has"),
        (((0, 1), X0), {"inputs": lambda t, x: {"tau1": 0.0}}, ValueError, r"mapping.* \(3,\), .*tau1, .* this order"),
        (((0, 1), X0), {"inputs": kc.Signal([0, 0.5], np.zeros((2, 3)), kind="linear")}, ValueError, "extend"),
        (((0, 1), X0), {"inputs": kc.Signal([0, 5], np.zeros((2, 2)))}, ValueError, "2 columns"),
        (((0, 1), X0), {"inputs": lambda t, x: [0.0]}, ValueError, r"shape \(1,\)"),
        (
            ((0, 1), X0),
            {"inputs": lambda t, x: np.zeros(3) + 1j},
            TypeError,
            r"inputs\(t, x\) .* complex128; .* \.real",
        ),
        (
            ((0, 1), X0),
            {"inputs": lambda t, x: [np.complex64(1j), 0.0, 0.0]},
            TypeError,
            "real numbers, got dtype comp",
        ),
        (((0, 1), X0), {"inputs": lambda t, x: ["1", "2", "3"]}, TypeError, "real numbers, got dtype <U1"),
        (((0, 1), X0), {"inputs": lambda t, x: [None, "2", 1j]}, TypeError, "inputs.* must be real numbers"),
        (((0, 1), X0), {"inputs": lambda t, x: [None, None, 1j]}, TypeError, r"returned at t = 0\.0 must be real"),
        (((0, 1), X0), {"inputs": lambda t, x: np.array(["1", 2, 3], object)}, TypeError, "got '1' among them"),
        (((0, 1), X0), {"inputs": lambda t, x: [np.datetime64("2020"), 0, 0]}, TypeError, "got .*2020.* among them"),
        (((0, 1), X0), {"inputs": lambda t, x: [10**400, 0, 0]}, ValueError, "inputs.* must be real numbers: int too"),
        (((0, 1), X0), {"inputs": lambda t, x: [0, [1, 2], 0]}, ValueError, "inputs.* is not an array of numbers"),
        (((0, 1), X0), {"t_eval": np.array([0.1, 0.2]) + 0j}, TypeError, "t_eval must be real numbers"),
        (((0, 1), X0), {"inputs": lambda t, x: [0.0, np.nan, 0.0]}, ValueError, "not finite"),
    ],
)
def test_wrong_calls(rrp, arguments, options, error, words):
    with pytest.raises(error, match=words):
        rrp.simulate(*arguments, **options)


def test_a_run_keeps_its_own_values(oscillator):
    p, r = np.array([oscillator.parameters[name] for name in oscillator.parameter_names]), np.array([1.0])
    sol = oscillator.simulate((0, 1), [1.0, 0.0], parameters=p, inputs=r)
    p[:], r[:] = 7.0, 7.0
    assert sol.energy_drift < 1e-8
    assert (sol.r == 1.0).all()


def test_errors_of_the_input_function_arrive(rrp):
    def broken(t, x):
        if t > 0.1:
            raise LookupError("no entry")
        return [0.0, 0.0, 0.0]

    with pytest.raises(LookupError, match="no entry"):
        rrp.simulate((0, 1), X0, inputs=broken)


@pytest.mark.parametrize(
    ("t", "values", "kind", "words"),
    [
        ([0], [1.0], "zoh", "two times"),
        ([0, 1], [1.0], "zoh", "values has shape"),
        ([0, 0], [1.0, 2.0], "zoh", "increase"),
        ([0, 1], [1.0, np.nan], "zoh", "finite"),
        ([0, 1], [1.0, 2.0], "spline", "'cubic'"),
    ],
)
def test_wrong_signals(t, values, kind, words):
    with pytest.raises(ValueError, match=words):
        kc.Signal(t, values, kind=kind)


@pytest.mark.parametrize("sample_time", [None, 0.1])
def test_functions_in_a_mapping(rrp, sample_time):
    signal, gain = kc.Signal([0, 1], [0.0, 2.0], kind="linear"), 0.3
    given = {"tau1": np.sin, "tau2": lambda t, x: -gain * x[4], "f3": signal}
    found = rrp.simulate((0, 1), X0, inputs=given, sample_time=sample_time)
    whole = rrp.simulate((0, 1), X0, inputs=lambda t, x: [np.sin(t), -gain * x[4], 2.0 * t], sample_time=sample_time)
    np.testing.assert_allclose(found.x[-1], whole.x[-1], rtol=1e-9)
    np.testing.assert_allclose(found.r[-1], whole.r[-1], rtol=1e-9)


def test_signals_of_complex_numbers():
    with pytest.raises(
        TypeError, match=r"values of a signal must be real numbers, got dtype complex128; .* take \.real"
    ):
        kc.Signal([0, 1], np.array([1.0, 2.0]) + 0j)


def test_signals_are_what_they_say():
    times, values = np.array([0.0, 1.0, 2.5]), np.array([[1.0, 4.0], [2.0, 0.0], [-1.0, 3.0]])
    assert np.array_equal(kc.Signal(times, values)([0.0, 0.9, 1.0, 7.0]), values[[0, 0, 1, 2]])
    np.testing.assert_allclose(kc.Signal(times, values, kind="linear")(0.5), [1.5, 2.0])
    cubic = kc.Signal(np.linspace(0, 3, 40), np.sin(np.linspace(0, 3, 40)), kind="cubic")
    at = np.linspace(0, 3, 17)
    np.testing.assert_allclose(cubic(at)[:, 0], np.sin(at), atol=1e-6)
    assert repr(cubic) == "<Signal of kind 'cubic': 1 column, t = 0 ... 3>"
    assert repr(kc.Signal(times, values)) == "<Signal of kind 'zoh': 2 columns, t = 0 ... inf>"
    assert cubic([]).shape == (0, 1)
    for outside in (-0.1, [1.0, 3.1], np.nan):
        with pytest.raises(ValueError, match=r"the signal has t = 0\.0 to 3\.0"):
            cubic(outside)


@pytest.mark.parametrize("n", [2, 3, 4, 60])
def test_cubic_signals_are_not_a_knot_splines(n):
    rng = np.random.default_rng(n)
    times, values = np.cumsum(rng.uniform(0.01, 3.0, n)), rng.normal(size=(n, 2))
    ours = kc.Signal(times, values, kind="cubic")
    theirs = CubicSpline(times, values)
    at = np.linspace(times[0], times[-1], 301)
    np.testing.assert_allclose(ours(at), theirs(at), rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def fall():
    """A particle on a polar path towards a centre of attraction with 1/r³ force: falls into r = 0 in finite time."""
    r, v = me.dynamicsymbols("r v")
    m, k = sm.symbols("m k")
    model = mass_point({r: v}, m, [-k / r**3])
    return kc.compile(model, parameters={m: 1.0, k: 1.0})


def test_a_run_that_cannot_go_on_keeps_its_trajectory(fall):
    with pytest.raises(kc.IntegrationError) as caught:
        fall.simulate((0, 5), [1.0, 0.0])
    sol = caught.value.trajectory
    assert not sol.success
    assert sol.status == -1
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-3)  # r = sqrt(1 − t²)
    early = sol.t < 0.99
    np.testing.assert_allclose(sol.q[early, 0], np.sqrt(1 - sol.t[early] ** 2), atol=1e-6)


def test_max_steps(rrp):
    with pytest.raises(kc.IntegrationError, match="max_steps") as caught:
        rrp.simulate((0, 100), X0, max_steps=5)
    sol = caught.value.trajectory
    assert sol.n_steps + sol.n_rejected == 5
    assert len(sol.t) == sol.n_steps + 1


def test_a_singular_mass_matrix():
    """Without mass at its elbow a double pendulum has no inertia across the line of its links."""
    dyn = kc.load("double_pendulum")
    dyn.parameters["m1"] = 0.0
    with pytest.raises(kc.SingularError, match="u") as caught:
        dyn.simulate((0, 5), [0.3, 0.3, 0.0, 0.0])
    assert caught.value.t == 0.0
    assert caught.value.row in (0, 1)
    with pytest.raises((kc.SingularError, kc.IntegrationError), match="t = "):
        dyn.simulate((0, 5), [0.2, 0.3, 1.0, 0.0], method="rk4", dt=1e-2)


@pytest.mark.compiler
def test_a_singular_mass_matrix_on_the_way(root):
    """A pole on a cart without mass, led through the vertical at constant speed, where nothing holds the cart."""
    text = (root / "tests/cmodels/cartpole.c").read_text(encoding="utf-8")
    dyn = CompiledModel({"all": compile_library(text, name="cartpole").path}, source={})
    dyn.parameters.update({"mc": 0.0, "m": 1.0, "l": 1.0, "g": 9.81, "k": 0.0})

    def lead(t, x):
        return [9.81 * np.tan(x[1]) - np.sin(x[1]) * x[3] ** 2, 0.0]

    with pytest.raises(kc.SingularError, match=r"'cart and pole' became singular just after .* 'sdot'") as caught:
        dyn.simulate((0, 2), [0.0, 0.5, 0.0, -1.0], inputs=lead, method="rk4", dt=0.1)
    assert caught.value.t == pytest.approx(0.4)
    assert caught.value.x[1] == pytest.approx(0.1)
    assert caught.value.row == 0


@pytest.fixture(scope="module")
def tumblers(root):
    """A free rigid body, and the same without a word that its quaternion has norm 1."""
    text = (root / "tests/cmodels/tumbler.c").read_text(encoding="utf-8")
    flags = ["-fvisibility=default", "-fvisibility=default -DN_UNIT=0"]
    return [CompiledModel({"all": compile_library(text, cflags=f, name="tumbler").path}, source={}) for f in flags]


TUMBLE = np.array([0.0, 0.1, -0.5, 0.7, 0.5, 0.3, 1.1, -0.4])  # turns, e1, e2, e3, e0, then the angular velocity


def off_sphere(x):
    return np.abs(np.linalg.norm(x[:, 1:5], axis=1) - 1.0).max()


def test_what_a_function_does_to_its_state_stays_there():
    """A controller may write on x; what it writes reaches neither the start, nor the run, nor what follows from it."""

    def tidy(t, x):
        return -3.0 * x[3:]

    def untidy(t, x):
        speeds = x[3:].copy()
        x -= 1.0
        return -3.0 * speeds

    dyn, x0 = kc.load("rrp"), np.array([0.1, 0.2, 0.5, 0.0, 0.0, 0.0])
    for options in ({}, {"method": "rk4", "dt": 0.01}, {"method": "radau"}, {"sample_time": 0.05}):
        one, other = (dyn.simulate((0, 0.2), x0, inputs=inputs, **options) for inputs in (tidy, untidy))
        np.testing.assert_array_equal(other.x, one.x)
        np.testing.assert_array_equal(other.r, one.r)


def test_inputs_of_a_controller_with_a_state_of_its_own():
    """They are not made up after the run, when the controller would give others: its samples are kept."""

    class Integrator:
        def __init__(self):
            self.sum = 0.0

        def __call__(self, t, x):
            self.sum += 0.01
            return [self.sum, 0.0, 0.0]

    dyn, x0 = kc.load("rrp"), np.array([0.1, 0.2, 0.5, 0.0, 0.0, 0.0])
    sol = dyn.simulate((0, 0.2), x0, inputs=Integrator(), method="rk4", dt=0.01)
    for what in ("r", "energy", "outputs"):
        with pytest.raises(ValueError, match=r"an internal state, .* sample_time"):
            getattr(sol, what)
    assert pickle.loads(pickle.dumps(sol)).x.shape == sol.x.shape
    sampled = dyn.simulate((0, 0.2), x0, inputs=Integrator(), method="rk4", dt=0.01, sample_time=0.05)
    assert np.unique(sampled.r[:, 0]).size > 2


def test_a_trajectory_that_is_edited_keeps_its_interpolants():
    """As with SciPy t and x are the user's: angles may be turned, and time shifted."""
    dyn, x0 = kc.load("rrp"), [0.1, 0.2, 0.5, 3.0, 0.0, 0.0]
    times = np.linspace(0.0, 0.2, 21)
    for options in ({}, {"method": "rk4", "dt": 0.01}, {"t_eval": times}):
        sol = dyn.simulate((0, 0.2), x0, **options)
        before = sol(times)
        sol.x[:, 0] %= 0.05
        sol.t += 100.0
        np.testing.assert_array_equal(sol(times), before)


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rtol": 1e-13, "atol": 1e-13}, 1e-11),
        pytest.param({"method": "rk4", "dt": 0.02}, 1e-6, marks=pytest.mark.long),
    ],
    ids=["dop853", "rk4"],
)
def test_quaternions_stay_normalized(tumblers, options, error):
    """1,000 s of tumbling about the middle axis: on the sphere everywhere, as SciPy, and H is at rest in space."""
    dyn, free = tumblers
    assert dyn.unit == ((4, 1, 2, 3),)
    sol = dyn.simulate((0, 1000), TUMBLE, **options)
    times = np.linspace(0, 1000, 20_001)
    chosen = dyn.simulate((0, 1000), TUMBLE, t_eval=times, **options)
    dense = sol.sol(times)
    assert np.array_equal(chosen.x, dense)
    assert np.array_equal(sol.sol(sol.t), sol.x)
    assert max(off_sphere(sol.x), off_sphere(dense)) < 1e-15
    theirs = solve_ivp(free.rhs, (0, 1000), TUMBLE, method="DOP853", rtol=1e-13, atol=1e-13)
    assert np.abs(np.linalg.norm(theirs.y[1:5], axis=0) - 1.0).max() > 1e-13  # it drifts where nobody holds it
    np.testing.assert_allclose(sol.x[-1], theirs.y[:, -1], atol=error)
    momentum = sol.outputs[0]
    np.testing.assert_allclose(sol.outputs, np.tile(momentum, (len(sol.t), 1)), atol=error)
    np.testing.assert_allclose(dyn.outputs(times, dense), np.tile(momentum, (len(times), 1)), atol=error)
    assert sol.energy_drift < error


def spin_error(dyn, **options):
    """Steps of 20 s of a body with I1 = I2, and their largest error.

    Its attitude turns about H at the rate |H|/I1 and about its own axis at w3 (1 - I3/I1).
    """
    inertia, axial = 1.0, 2.5
    turns, q0, w = TUMBLE[0], TUMBLE[1:5], TUMBLE[5:]
    p = {"I1": inertia, "I2": inertia, "I3": axial}
    sol = dyn.simulate((0, 20), TUMBLE, parameters=p, **options)
    t = np.concatenate([sol.t, np.linspace(0, 20, 101)])
    start = Rotation.from_quat(q0)
    momentum = start.apply([inertia, inertia, axial] * w)
    own = np.outer(t, [0.0, 0.0, w[2] * (1.0 - axial / inertia)])
    exact = (Rotation.from_rotvec(np.outer(t, momentum / inertia)) * start * Rotation.from_rotvec(own)).as_quat()
    x = sol.sol(t)
    np.testing.assert_allclose(x[:, 0], turns + w[2] * t, atol=1e-11)
    exact *= np.sign(np.sum(exact * x[:, 1:5], axis=1, keepdims=True))  # both signs are one attitude
    return sol.n_steps, np.abs(x[:, 1:5] - exact).max()


@pytest.mark.compiler
def test_normalizing_keeps_the_order(tumblers):
    """Hairer, Lubich & Wanner, Geometric Numerical Integration, 2006, section IV.4."""
    dyn, free = tumblers
    for dt in (0.1, 0.05, 0.025):
        error = spin_error(dyn, method="rk4", dt=dt)[1]
        assert error / spin_error(dyn, method="rk4", dt=dt / 2)[1] == pytest.approx(16, rel=0.1)
        assert error < 1.01 * spin_error(free, method="rk4", dt=dt)[1]
    (coarse, loose), (fine, tight) = (spin_error(dyn, rtol=tol, atol=tol) for tol in (1e-6, 1e-12))
    assert np.log(loose / tight) / np.log(fine / coarse) == pytest.approx(8, abs=0.7)
    assert tight < 1e-11
    assert tight < 1.01 * spin_error(free, rtol=1e-12, atol=1e-12)[1]


@pytest.mark.compiler
@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_normalizing_takes_no_evaluation(tumblers, method):
    held, free = (dyn.simulate((0, 5), TUMBLE, rtol=1e-6, method=method) for dyn in tumblers)
    assert held.n_steps == free.n_steps
    assert held.nfev == free.nfev
    assert off_sphere(held.x) < 1e-15
    assert off_sphere(free.x) > 1e-9


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "dt": 0.1}])
def test_a_quaternion_is_projected_at_the_start(tumblers, options):
    near = TUMBLE.copy()
    near[1:5] *= 1.0 + 5e-7
    dyn = tumblers[0]
    sol = dyn.simulate((0, 1), near, **options)
    np.testing.assert_allclose(sol.x[0], TUMBLE, rtol=0, atol=1e-15)
    assert np.array_equal(sol.sol(0.0), sol.x[0])
    assert near[1] == 0.1 * (1.0 + 5e-7)  # the caller's own is left as it was


@pytest.mark.compiler
def test_what_is_no_unit_quaternion(tumblers):
    dyn, free = tumblers
    wrong = TUMBLE.copy()
    wrong[1:5] *= 1.1
    words = r"quaternion \(e0, e1, e2, e3\) has norm 1\.1\d* in x0; it must be 1: divide by its norm"
    with pytest.raises(ValueError, match=words):
        dyn.simulate((0, 1), wrong)
    with pytest.raises(ValueError, match=r"norm 0\.0 in x0; .* without rotation it is \(1, 0, 0, 0\)"):
        dyn.simulate((0, 1), np.zeros(8))
    assert free.simulate((0, 1), wrong).success


def test_ctrl_c_stops_a_run(rrp):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rrp.simulate((0, 2e4), X0, method="rk4", dt=1e-2)  # 2e6 steps: seconds and 0.3 GB, if nothing stops it
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


SMALL = """
import resource
import kanecore as kc
dyn = kc.load("rrp")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000,) * 2)
try:
    dyn.simulate((0, 1e6), [0.3, 0.4, 0.5, 1.0, -1.0, 0.2], method="rk4", dt=1e-2)
except MemoryError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as in Linux")
def test_no_memory_says_what_to_do():
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, check=True)
    assert re.match(r"no memory for more than \d+ steps of 152 bytes: split the run, .*larger steps", done.stdout)


def test_help_is_at_hand(rrp):
    assert "t_eval : array_like" in rrp.simulate.__doc__


def test_threads_integrate_side_by_side(rrp):
    expected = rrp.simulate((0, 5), X0).x
    results = [None] * 4

    def work(i):
        results[i] = rrp.simulate((0, 5), X0).x

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(expected, x) for x in results)
