# SPDX-License-Identifier: BSD-3-Clause
"""Methods of SciPy and SUNDIALS by a word of `simulate`: as these packages run them, with all that runs have."""

import re
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point
from scipy.integrate import solve_ivp
from sweep import part

import kanecore as kc
from kanecore.compiled_model import CompiledModel
from kanecore.motion import scipy_and_sundials, simulation_options

without_sundials = pytest.mark.skipif(find_spec("sksundae") is None, reason="scikit-sundae is not installed")
METHODS = ["radau", "bdf", pytest.param("cvode", marks=without_sundials)]
TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def spring() -> CompiledModel:
    """A particle on a spring, pulled by F."""
    q, u, force = me.dynamicsymbols("q u F")
    k, d = sm.symbols("k d")
    model = mass_point({q: u}, 1, [force - k * q - d * u * (1 + q**2)], name="spring")
    return kc.compile(model, parameters={k: 1e4, d: 1e3})


@pytest.fixture(scope="module")
def four_bar() -> CompiledModel:
    return kc.load("four_bar")


@pytest.fixture(scope="module")
def start(four_bar: CompiledModel) -> Any:
    return four_bar.consistent(0.0, [0.8, 1.0, 1.2, 0.3, 0.0, 0.0])


@pytest.mark.parametrize(("method", "name"), [("radau", "Radau"), ("bdf", "BDF")])
def test_runs_are_scipys(spring: CompiledModel, method: str, name: str) -> None:
    ours = spring.simulate((0.0, 2.0), [1.0, 0.0], method=method, rtol=1e-6, atol=1e-8)
    theirs = solve_ivp(
        spring.rhs,
        (0.0, 2.0),
        [1.0, 0.0],
        method=name,
        jac=lambda t, x: spring.linearize(t, x)[0],
        rtol=1e-6,
        atol=1e-8,
        dense_output=True,
    )
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-9)
    np.testing.assert_allclose(ours.y, theirs.y, rtol=1e-9, atol=1e-15)
    assert (ours.nfev, ours.njev, ours.nlu) == (theirs.nfev, theirs.njev, theirs.nlu)
    times = np.linspace(0.0, 2.0, 333)
    np.testing.assert_allclose(ours(times), theirs.sol(times).T, rtol=1e-6, atol=1e-8)
    assert f"steps of {method}," in repr(ours)


@pytest.mark.parametrize("method", METHODS)
def test_error_follows_the_tolerance(spring: CompiledModel, method: str) -> None:
    exact = spring.simulate((0.0, 2.0), [1.0, 0.0], method="rosenbrock", rtol=1e-12, atol=1e-14).x[-1, 0]
    for tolerance in (1e-4, 1e-7):
        sol = spring.simulate((0.0, 2.0), [1.0, 0.0], method=method, rtol=tolerance, atol=tolerance)
        assert abs(sol.x[-1, 0] - exact) < 30 * tolerance


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_what_is_asked_for(spring: CompiledModel, method: str) -> None:
    """Chosen times, longest and first steps, parameters, backwards, no way at all."""
    x0, span = [1.0, 0.0], (0.0, 0.5)
    times = np.linspace(0.0, 0.5, 41)
    sol = spring.simulate(span, x0, method=method, **TIGHT)
    chosen = spring.simulate(span, x0, method=method, t_eval=times, dense_output=False, **TIGHT)
    np.testing.assert_array_equal(chosen.x, sol(times))
    with pytest.raises(ValueError, match="did not keep its steps"):
        chosen(0.1)
    np.testing.assert_array_equal(sol(sol.t), sol.x)
    assert np.diff(spring.simulate(span, x0, method=method, max_step=0.01).t).max() < 0.01 * (1 + 1e-12)
    assert spring.simulate(span, x0, method=method, first_step=1e-9, rtol=1e-3).t[1] == pytest.approx(1e-9)
    soft = spring.simulate(span, x0, method=method, parameters={"k": 4.0, "d": 0.0}, **TIGHT)
    np.testing.assert_allclose(soft.x[-1], [np.cos(1.0), -2.0 * np.sin(1.0)], atol=1e-6)
    back = spring.simulate((0.5, 0.0), soft.x[-1], method=method, parameters={"k": 4.0, "d": 0.0}, **TIGHT)
    np.testing.assert_allclose(back.x[-1], x0, atol=1e-6)
    nowhere = spring.simulate((1.0, 1.0), x0, method=method)
    np.testing.assert_array_equal(nowhere.x, [x0])
    np.testing.assert_array_equal(nowhere(1.0), x0)


@pytest.mark.parametrize("method", part(METHODS, METHODS[:1]))
@pytest.mark.parametrize(
    ("kind", "span"), part([("zoh", (0.0, 3.0)), ("linear", (3.0, 0.0)), ("cubic", (0.0, 3.0))], [("zoh", (0.0, 3.0))])
)
def test_methods_begin_anew_where_inputs_jump(spring: CompiledModel, method: str, kind: Any, span: Any) -> None:
    signal = kc.Signal([0.0, 0.5, 1.0, 1.0625, 2.0, 3.0], [0.0, 3.0, 3.0, -40.0, 2.0, 1.0], kind=kind)
    p = {"k": 9.0, "d": 0.0}
    exact = spring.simulate(span, [0.4, 0.0], inputs=signal, parameters=p, rtol=1e-12, atol=1e-12)
    sol = spring.simulate(span, [0.4, 0.0], inputs=signal, parameters=p, method=method, **TIGHT)
    np.testing.assert_allclose(sol.x[-1], exact.x[-1], rtol=1e-5, atol=1e-6)
    corners = {"zoh": {0.5, 1.0625, 2.0}, "linear": {0.5, 1.0, 1.0625, 2.0}, "cubic": set()}[kind]
    on_steps = corners | ({1.0} if kind == "zoh" else set())
    assert corners <= set(sol.t)
    assert {0.5, 1.0, 1.0625, 2.0} & set(sol.t) <= on_steps
    times = np.linspace(0.0, 3.0, 100)
    np.testing.assert_allclose(sol(times), exact(times), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_inputs_by_a_function(spring: CompiledModel, method: str) -> None:
    """Its derivative is unknown, so that the methods take differences."""
    law = {"inputs": lambda t, x: [1e3 * (np.sin(t) - x[0])]}
    sol = spring.simulate((0.0, 2.0), [0.1, 0.0], method=method, **law, **TIGHT)
    exact = spring.simulate((0.0, 2.0), [0.1, 0.0], rtol=1e-11, atol=1e-11, **law)
    np.testing.assert_allclose(sol.x[-1], exact.x[-1], rtol=1e-5)


@pytest.mark.parametrize("method", part(METHODS, METHODS[:1]))
def test_only_what_is_handed_out_is_on_the_constraints(four_bar: CompiledModel, start: Any, method: str) -> None:
    """The method's own states drift as the tolerance allows, and the drift is told."""
    exact = four_bar.simulate((0.0, 0.5), start, rtol=1e-12, atol=1e-12)
    between = np.linspace(0.0, 0.5, 77)
    drifts = []
    for tolerance in (1e-5, 1e-8):
        options_: dict[str, Any] = {"method": method, "rtol": tolerance, "atol": tolerance}
        sol = four_bar.simulate((0.0, 0.5), start, **options_)
        assert np.max(np.abs(four_bar.configuration_residual(sol.t, sol.x))) < 1e-12
        assert np.max(np.abs(four_bar.configuration_residual(between, sol(between)))) < 1e-12
        chosen = four_bar.simulate((0.0, 0.5), start, t_eval=between, **options_)
        np.testing.assert_allclose(chosen.x, sol(between), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(sol.x[-1], exact.x[-1], atol=1e3 * tolerance)
        drifts.append(sol.constraint_drift)
    assert 1e-12 < drifts[1] < drifts[0] / 10 < 1e-3
    free = four_bar.simulate((0.0, 0.5), start, method=method, project=False, rtol=1e-5, atol=1e-5)
    assert np.max(np.abs(four_bar.configuration_residual(free.t, free.x))) > 1e-9
    held = four_bar.simulate((0.0, 0.5), start, method=method, project=False, baumgarte=(30.0, 30.0), **TIGHT)
    np.testing.assert_allclose(held.x[-1], exact.x[-1], atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_unit_quaternions(method: str) -> None:
    dyn = kc.load("free_body")
    x0 = np.zeros(dyn.n_x)
    x0[list(dyn.unit[0])] = [0.6, 0.0, 0.8, 0.0]
    x0[dyn.n_q :] = np.linspace(-1.0, 2.0, dyn.n_u)
    sol = dyn.simulate((0.0, 2.0), x0, method=method, rtol=1e-8, atol=1e-8)
    times = np.linspace(0.0, 2.0, 50)
    for states in (sol.x, sol(times)):
        assert np.abs(np.linalg.norm(states[:, list(dyn.unit[0])], axis=1) - 1.0).max() < 1e-14
    np.testing.assert_allclose(sol.x[-1], dyn.simulate((0.0, 2.0), x0, rtol=1e-12, atol=1e-12).x[-1], atol=1e-5)


@pytest.mark.parametrize("method", part(METHODS, METHODS[:1]))
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, kc.SingularError])
def test_what_ends_a_run_leaves_what_was_reached(spring: CompiledModel, method: str, error: Any) -> None:
    """Ctrl-C, and errors of the input function."""

    def inputs(t: float, x: Any) -> list[float]:
        if t > 1.0:
            raise error("enough")
        return [np.sin(5.0 * t)]

    with pytest.raises(error, match="enough") as caught:
        spring.simulate((0.0, 2.0), [0.1, 0.0], method=method, inputs=inputs)
    reached = caught.value.trajectory
    assert not reached.success
    assert 0.5 < reached.t[-1] <= 1.0
    assert np.isfinite(reached(0.4)).all()


@pytest.mark.parametrize("method", METHODS)
def test_limits(spring: CompiledModel, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kc.IntegrationError, match="max_steps") as caught:
        spring.simulate((0.0, 2.0), [1.0, 0.0], method=method, max_steps=5)
    assert caught.value.trajectory.n_steps == 5
    monkeypatch.setattr(simulation_options, "_ROOM", 2000)
    with pytest.raises(kc.IntegrationError, match="2000 bytes, all that a run may keep"):
        spring.simulate((0.0, 2.0), [1.0, 0.0], method=method)
    monkeypatch.setattr(simulation_options, "_ROOM_BESIDE_TIMES", 2000)
    sol = spring.simulate((0.0, 2.0), [1.0, 0.0], method=method, t_eval=[0.0, 1.0, 2.0])
    assert sol.x.shape == (3, 2)
    with pytest.raises(ValueError, match="did not keep its steps"):
        sol(0.5)


@pytest.mark.long
@pytest.mark.parametrize("method", part(METHODS, METHODS[:1]))
def test_a_singularity_on_the_way(method: str) -> None:
    """u' = u² + 1 ends at π / 2, and an arm stretched out with a massless link is singular."""
    q, u = me.dynamicsymbols("q u")
    model = mass_point({q: u}, 1, [u**2 + 1])
    with pytest.raises(kc.IntegrationError) as caught:
        kc.compile(model).simulate((0.0, 2.0), [0.0, 0.0], method=method)
    assert caught.value.trajectory.t[-1] == pytest.approx(np.pi / 2, rel=1e-3)


def test_a_package_that_is_missing(spring: CompiledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scipy_and_sundials, "find_spec", lambda module: None)
    for method, package in (("radau", "scipy"), ("bdf", "scipy"), ("cvode", "scikit-sundae")):
        words = f"'{method}' comes from {package}: pip install scipy scikit-sundae"
        with pytest.raises(ImportError, match=re.escape(words)):
            spring.simulate((0.0, 1.0), [1.0, 0.0], method=method)


@without_sundials
def test_states_before_the_last_step_of_cvode() -> None:
    """SUNDIALS has none, and the package pairs the time with another state; there is an error instead."""
    equations = scipy_and_sundials.Equations(lambda t, x: np.array([x[1], -100.0 * x[0]]), None)
    steps = scipy_and_sundials.Steps(1e-6, np.full(2, 1e-9), 0.0, np.inf)
    stepper = scipy_and_sundials.stepper_of("cvode", equations, (0.0, np.array([1.0, 0.0])), 2.0, steps)
    for _ in range(20):
        before = stepper.t
        assert stepper.step()
    reached = stepper.t
    within = stepper.within(np.array([before, 0.5 * (before + reached)]))
    assert within[:, 0] == pytest.approx(np.cos(10.0 * np.array([before, 0.5 * (before + reached)])), abs=1e-4)
    with pytest.raises(kc.KanecoreError, match=r"cvode went to t = .* no state at t = 0.001, .* method='bdf'"):
        stepper.within(np.array([0.001]))
