# SPDX-License-Identifier: BSD-3-Clause
"""Fits of recordings: known truth, the optimum and errors of another method, coverage, and what cannot be told."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded
from mechanisms import ground

import kanecore as kc

pytest.importorskip("casadi", reason="pip install casadi")
optimize = pytest.importorskip("scipy.optimize")
stats = pytest.importorskip("scipy.stats")

Array = npt.NDArray[np.float64]
T = np.linspace(0.0, 4.0, 201)
F = 2.0 * np.sin(3.0 * T)
START = {"theta": 1.0}


def pole(kind: Any = "linear", **parameters: float) -> kc.Trajectory:
    """Motion of a cart with a pole, by a force that is known."""
    dyn = loaded("cart_pole")
    options = {"t_eval": T, "parameters": parameters, "rtol": 1e-10, "atol": 1e-12}
    return dyn.simulate((0.0, 4.0), dyn.state(START), inputs={"F": kc.Signal(T, F, kind)}, **options)


def noisy(sol: kc.Trajectory, names: str, sigma: float, seed: int = 1) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"t": sol.t, **{name: sol[name] + sigma * rng.normal(size=sol.t.size) for name in names.split()}}


@pytest.fixture(scope="module")
def recorded() -> dict[str, Array]:
    return {**noisy(pole(), "x theta", 0.01), "F": F}


def test_optimum_and_errors_are_those_of_shooting(recorded: dict[str, Array]) -> None:
    """From three times the truth the optimum of single shooting from the truth, and its standard errors."""
    dyn = loaded("cart_pole")
    found = dyn.fit(recorded, {"b": 0.3, "l": 0.9}, sigma=0.01, starts=3)
    inputs = kc.Signal(T, F, kind="linear")

    def shot(z: Array, sensitivities: Any = None) -> kc.Trajectory:
        p = dict(zip(("b", "l"), z[:2], strict=True))
        options = {"inputs": inputs, "parameters": p, "t_eval": T, "rtol": 1e-9, "atol": 1e-10}
        return dyn.simulate((0.0, 4.0), z[2:], sensitivities=sensitivities, **options)

    def missed(z: Array) -> Array:
        return np.concatenate([shot(z)["x"] - recorded["x"], shot(z)["theta"] - recorded["theta"]])

    best = optimize.least_squares(missed, [0.1, 0.3, *dyn.state(START)], x_scale=0.1, xtol=1e-12, ftol=1e-12)
    sol = shot(best.x, ["p", "x0"])
    assert sol.sensitivities is not None
    columns = [sol.sensitivity_names.index(name) for name in ("b", "l")] + [*range(dyn.n_p, dyn.n_p + 4)]
    slopes = sol.sensitivities[:, :2][:, :, columns].transpose(1, 0, 2).reshape(-1, 6)
    errors = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)) * 2 * best.cost / (best.fun.size - 6))
    assert found.success
    assert found.message == "solved"
    np.testing.assert_allclose([*found.parameters.values(), *found.start], best.x, rtol=0, atol=0.01 * errors.min())
    np.testing.assert_allclose(list(found.standard_errors.values()), errors[:2], rtol=1e-3)
    np.testing.assert_allclose(found.start_errors, errors[2:], rtol=1e-2)
    assert found.cost == pytest.approx(2 * best.cost / 0.01**2, rel=1e-5)
    np.testing.assert_allclose(found.residuals["x"], found.x[:, 0] - recorded["x"], rtol=0, atol=1e-12)
    assert all(low < true < high for true, (low, high) in zip((0.1, 0.3), found.intervals.values(), strict=True))
    text = str(found)
    assert re.search(r"cart_pole: 2 parameters from 201 samples; solved", text)
    assert re.search(r"l  0\.30\d+ ± 0\.000\d+   95 %: 0\.29\d+ \.\.\. 0\.30\d+", text)


@pytest.mark.parametrize("kind", ["zoh", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("linear", "cubic"))])
def test_without_noise_the_truth(kind: Any) -> None:
    """Inputs are followed between samples, and where they jump."""
    sol = pole(kind, l=0.35)
    recording = {"t": T, "x": sol["x"], "theta": sol["theta"]}
    found = loaded("cart_pole").fit(
        recording, ["l"], inputs={"F": kc.Signal(T, F, kind)}, start={"x": 0, "v": 0}, steps=4
    )
    assert found.parameters["l"] == pytest.approx(0.35, rel=2e-8)
    np.testing.assert_allclose(found.x, sol.x, rtol=0, atol=1e-7)
    assert found.start_errors[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_what_the_recording_does_not_tell(recorded: dict[str, Array]) -> None:
    """Four parameters of the pole and the cart have one combination that no motion tells; it stays where it was."""
    dyn = loaded("cart_pole")
    with pytest.warns(kc.KanecoreWarning, match="the recording does not tell I"):
        found = dyn.fit(recorded, ["I", "M", "b", "l", "m"], starts=1)
    assert not found.success
    assert "does not tell I" in found.message
    [direction] = found.undetermined
    assert {*direction} == {"I", "M", "l", "m"}
    assert found.standard_errors["b"] < 0.01
    assert np.isinf([found.standard_errors[name] for name in direction]).all()
    assert found.parameters["m"] == pytest.approx(0.2, rel=0.05)
    # along it the mass matrix and the forces, divided by the mass of both, stay: M + m, m l, I + m l²
    M, m, l, I = (dyn.parameters[name] for name in "MmlI")  # noqa: E741
    weights = {"M": M, "m": m, "l": l, "I": I}
    change = {name: direction[name] * weights[name] for name in direction}
    total, moment = change["M"] + change["m"], change["m"] * l + m * change["l"]
    inertia = change["I"] + change["m"] * l**2 + 2 * m * l * change["l"]
    assert [moment / (m * l), inertia / (I + m * l**2)] == pytest.approx([total / (M + m)] * 2, abs=0.02)


@pytest.mark.filterwarnings("error")
def test_what_is_known_to_rounding() -> None:
    """exp(60 t) tells a parameter to many digits, from a start that is known: no variance is negative."""
    y, v = me.dynamicsymbols("y v")
    p, t = sm.Symbol("p"), me.dynamicsymbols._t
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", y * N.x)
    P.set_vel(N, v * N.x)
    push = 3600 * y - (3600 + p**2) * sm.sin(p * t)
    model = kc.Model(N, [y], [v], [y.diff() - v], bodies=[me.Particle("P", P, 1)], forcelist=[(P, push * N.x)])
    times = np.linspace(0, 1, 60)
    seen = np.sin(np.pi * times) + 0.05 * np.random.default_rng(0).normal(size=60)
    found = kc.compile(model, parameters={p: 1.0}).fit(
        {"t": times, "y": seen}, {"p": 3.0}, start={"y": 0.0, "v": np.pi}, starts=1
    )
    assert found.parameters["p"] == pytest.approx(np.pi, rel=1e-6)
    assert found.standard_errors["p"] < 1e-6


@pytest.mark.long
def test_a_wrong_model_is_no_success(recorded: dict[str, Array]) -> None:
    found = loaded("cart_pole").fit(recorded, ["l"], parameters={"b": 1.0}, starts=3)
    assert not found.success
    assert re.search(r"the model misses the recording by [\d.]+ σ", found.message)


@pytest.mark.long
def test_inputs_with_noise(recorded: dict[str, Array]) -> None:
    """A force that was measured with noise is found with the motion, nearer to the truth than its measurement."""
    measured = F + 0.1 * np.random.default_rng(5).normal(size=F.size)
    recording = {**noisy(pole(), "x theta", 1e-5), "F": measured}
    found = loaded("cart_pole").fit(recording, ["F", "l"], sigma={"F": 0.1, "x": 1e-5, "theta": 1e-5})
    assert found.success
    assert list(found.parameters) == ["l"]
    assert abs(found.parameters["l"] - 0.3) < 3 * found.standard_errors["l"] < 0.003
    assert np.std(found.r[:, 0] - F) < 0.7 * np.std(measured - F)


@pytest.mark.long
def test_missing_samples_and_uneven_times(recorded: dict[str, Array]) -> None:
    kept = np.sort(np.random.default_rng(2).choice(T.size, 150, replace=False))
    recording = {name: values[kept].copy() for name, values in recorded.items()}
    recording["x"][20:60] = np.nan
    found = loaded("cart_pole").fit(recording, ["b", "l"], starts=2)
    assert found.success
    assert np.isnan(found.residuals["x"]).sum() == 40
    assert abs(found.parameters["l"] - 0.3) < 3 * found.standard_errors["l"]


@pytest.mark.long
def test_a_motor_from_its_speed_alone() -> None:
    """A pendulum with a motor, whose current is a first-order state; held voltages; the start of the angle is found."""
    q, w, i, v = me.dynamicsymbols("q w i v")
    b, k = sm.symbols("b k")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, w * N.z)
    P = O.locatenew("P", -0.4 * A.y)
    P.v2pt_theory(O, N, A)
    model = kc.Model(
        N,
        [q],
        [w],
        [q.diff() - w],
        bodies=[me.Particle("bob", P, 0.5)],
        forcelist=[(P, -5 * N.y), (A, (k * i - b * w) * N.z)],
        states={i: (v - 2 * i - k * w) / 0.05},
    )
    dyn = kc.compile(model, parameters={b: 0.02, k: 0.3})
    voltage = {"v": kc.Signal([0, 1, 2, 3], [3.0, -4.0, 6.0, -2.0])}
    sol = dyn.simulate((0.0, 4.0), dyn.state(q=0.2), t_eval=T, inputs=voltage, rtol=1e-9)
    for names in ("w", "q i"):
        found = dyn.fit(noisy(sol, names, 0.01), {b: 0.1, k: 0.1}, inputs=voltage)
        assert found.success, found.message
        errors = [abs(found.parameters[name] - true) for name, true in (("b", 0.02), ("k", 0.3))]
        assert all(error < 3 * limit for error, limit in zip(errors, found.standard_errors.values(), strict=True))
        assert abs(found.start[0] - 0.2) < 4 * found.start_errors[0]


@pytest.mark.long
def test_a_loop_from_its_crank_alone() -> None:
    """The weight of a four-bar's links, from noisy angles of all, and of the crank alone."""
    dyn = loaded("four_bar")
    x0 = dyn.consistent(0.0, dyn.state(q1=0.9, q2=0.5, q3=1.6), None)
    sol = dyn.simulate((0.0, 3.0), x0, t_eval=np.linspace(0.0, 3.0, 301), rtol=1e-9)
    recording = noisy(sol, "q1 q2 q3", 0.003)
    for names in (["q1", "q2", "q3"], ["q1"]):
        guess = dict(zip(dyn.coordinate_names, x0, strict=False))
        part = {name: recording[name] for name in ["t", *names]}
        found = dyn.fit(part, {"g": 3.0}, guess=guess)
        assert found.success, found.message
        assert abs(found.parameters["g"] - 9.81) < 3 * found.standard_errors["g"] < 0.02
        assert max(found.misfit.values()) < 1.1
    found = dyn.fit(recording, {"L2": 0.8, "L3": 0.6, "g": 8.0})  # lengths of which the loop does not close
    assert found.success, found.message
    errors = np.abs(np.subtract(list(found.parameters.values()), [1.0, 0.8, 9.81]))
    assert (errors < 3.5 * np.array(list(found.standard_errors.values()))).all()
    whole = dict(zip([*dyn.coordinate_names, *dyn.speed_names], x0, strict=True))
    found = dyn.fit(recording, {"g": 9.0}, start=whole, starts=1)
    assert found.success, found.message
    assert found.start_errors.max() < 1e-9
    with pytest.raises(ValueError, match="start does not satisfy the constraints"):
        dyn.fit(recording, {"g": 9.0}, start=whole | {"q2": x0[1] + 0.1}, starts=1)


@pytest.mark.long
def test_chaos_and_positions_of_outputs() -> None:
    """A double pendulum that tumbles; and an arm whose tip is recorded."""
    dyn = loaded("double_pendulum")
    sol = dyn.simulate((0.0, 6.0), dyn.state(q1=2.0, q2=2.5), t_eval=np.linspace(0.0, 6.0, 301), rtol=1e-10)
    found = dyn.fit(noisy(sol, "q1 q2", 0.01), {"m2": 2.4, "l": 0.2})
    assert found.success, found.message
    assert found.parameters == pytest.approx({"m2": 0.8, "l": 0.5}, rel=5e-3)
    arm = loaded("planar_2r")
    t = np.linspace(0.0, 3.0, 301)
    x0 = arm.state(q1=-1.2, q2=1.2)

    def torques(time: float, x: Array) -> Array:
        wanted = np.array([-1.2 + 0.4 * np.sin(3 * time), 1.2 + 0.5 * np.sin(5 * time)])
        return np.array([20.0, 6.0]) * (wanted - x[:2]) - np.array([4.0, 1.0]) * x[2:]

    sol = arm.simulate((0.0, 3.0), x0, inputs=torques, t_eval=t, rtol=1e-9)
    inputs = kc.Signal(t, sol.r, kind="cubic")
    tip = noisy(sol, "tip_x tip_y", 0.001)
    found = arm.fit(tip, {"m1": 6.0, "m2": 1.0}, inputs=inputs, guess={"q1": -1.0, "q2": 1.0})
    assert found.success, found.message
    assert all(abs(found.parameters[k] - arm.parameters[k]) < 3 * found.standard_errors[k] for k in found.parameters)


@pytest.mark.long
def test_coverage() -> None:
    """Intervals of 95 % hold the truth in 95 of 100 recordings, as the binomial distribution allows; errors as said."""
    dyn, clean = loaded("cart_pole"), pole()
    inside, errors = np.zeros(2), []
    for seed in range(100):
        found = dyn.fit({**noisy(clean, "x theta", 0.01, seed), "F": F}, ["b", "l"], starts=1, sigma=0.01)
        values, deviations = (np.array(list(each.values())) for each in (found.parameters, found.standard_errors))
        errors.append((values - [0.1, 0.3]) / deviations)
        inside += [low < true < high for true, (low, high) in zip((0.1, 0.3), found.intervals.values(), strict=True)]
    assert (inside >= stats.binom.ppf(1e-3, 100, 0.95)).all()
    assert (inside <= 100).all()
    assert np.abs(np.mean(errors, axis=0)).max() < 0.35
    assert np.std(errors, axis=0) == pytest.approx([1.0, 1.0], abs=0.25)


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({"t": None}, {}, TypeError, "recorded must be a mapping by name that holds 't'"),
        ({"t": T[::-1]}, {}, ValueError, "recorded['t'] must hold at least 8 times, and increase"),
        ({"x": F[1:]}, {}, ValueError, "recorded['x'] has shape (200,)"),
        ({"phi": F}, {}, KeyError, "is called 'phi'"),
        ({"x": np.full(T.size, np.nan)}, {}, ValueError, "recorded['x'] holds no number"),
        ({"F": np.where(T > 1, np.nan, F)}, {}, ValueError, "recorded['F'] holds NaN"),
        ({}, {"inputs": {"F": 1.0}}, ValueError, "input 'F' is in recorded and in inputs"),
        ({"F": None}, {"inputs": lambda t, x: [1.0]}, TypeError, "inputs of a fit are numbers and signals"),
        ({}, {"unknown": ["q"]}, KeyError, "is called 'q'"),
        ({}, {"unknown": {"l": (2.0, 1.0)}}, ValueError, "unknown['l'] is (2.0, 1.0); low must be below high"),
        ({}, {"start": {"x": (1.0, 1.0)}}, ValueError, "start['x'] is (1.0, 1.0); low must be below high"),
        ({}, {"sigma": -0.1}, ValueError, "sigma is"),
        ({}, {"sigma": {"v": 0.1}}, ValueError, "sigma holds 'v', which was not recorded"),
        ({"x": None, "theta": None}, {}, ValueError, "recorded holds no coordinate, speed, state or output"),
        ({}, {"starts": 0}, ValueError, "starts is 0; it must be at least 1"),
    ],
)
def test_arguments(change: Any, options: Any, error: type[Exception], message: str) -> None:
    recording = {
        name: values for name, values in {"t": T, "x": F, "theta": F, "F": F, **change}.items() if values is not None
    }
    with pytest.raises(error, match=re.escape(message)):
        loaded("cart_pole").fit(recording, **{"unknown": ["l"], **options})
