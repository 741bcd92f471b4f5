# SPDX-License-Identifier: BSD-3-Clause
"""FMUs that run: their motion beside `simulate`, derivatives, events, modes, failures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from fmu_instances import FLOW, VERSIONS, FMU3Model, exported, fmpy, loaded, opened, pendulum, validate_fmu
from mechanisms import mass_point
from sweep import part

import kanecore as kc

pytestmark = pytest.mark.compiler


# ------------------------------------------------------------------------------------ the motion of gallery models
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", part(FLOW, ["four_bar", "planar_2r"]))
def test_motion_is_that_of_simulate(name: str, version: str) -> None:
    dyn, x0, path = exported(name, version)
    assert validate_fmu(str(path)) == []
    end, names = 1.0, [*dyn.coordinate_names, *dyn.speed_names, *dyn.output_names]
    sol = dyn.simulate((0.0, end), x0, rtol=1e-11, atol=1e-11, t_eval=np.linspace(0.0, end, 11))
    expected = np.hstack([sol.x, dyn.outputs(sol.t, sol.x) if dyn.n_outputs else np.zeros((11, 0))])
    for kind, tolerance in (("ModelExchange", 1e-5), ("CoSimulation", 1e-6)):
        found = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=end, output_interval=end / 10, relative_tolerance=1e-9, output=names
        )
        last = np.searchsorted(found["time"], sol.t - 1e-9)  # an event writes a time twice
        rows = np.array([found[key][last] for key in names]).T
        assert np.max(np.abs(rows - expected) / (1.0 + np.abs(expected))) < tolerance, kind


@pytest.mark.parametrize("version", part(VERSIONS, ["2.0"]))
def test_signals_drive_it(version: str, tmp_path: Path) -> None:
    """An input that varies, which FMPy holds from one output to the next, and a parameter that it sets."""
    dyn = kc.load("cart_pole")
    path = dyn.export_fmu(tmp_path / "cart.fmu", version=version, x0={"theta": 0.2})
    times = np.linspace(0.0, 1.0, 201)
    force = np.array(list(zip(times, np.sin(3.0 * times), strict=True)), dtype=[("time", float), ("F", float)])
    sol = dyn.simulate(
        (0.0, 1.0),
        {"theta": 0.2},
        inputs=lambda t, x: [np.sin(3.0 * t)],
        sample_time=5e-3,
        parameters={"m": 0.3},
        t_eval=[1.0],
    )
    for kind, tolerance in (("ModelExchange", 2e-3), ("CoSimulation", 1e-6)):  # CVODE steps beyond outputs
        found = fmpy.simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=1.0,
            output_interval=5e-3,
            relative_tolerance=1e-8,
            input=force,
            start_values={"m": 0.3},
            output=["theta"],
        )
        assert found["theta"][-1] == pytest.approx(sol.x[-1, 1], abs=tolerance)


def test_a_prescribed_motion_goes_on_by_its_rates(tmp_path: Path) -> None:
    dyn = kc.load("rotating_tube")
    dyn.inputs.update(theta=0.3, theta_d=2.0, theta_dd=0.5)
    x0 = dyn.state()
    path = dyn.export_fmu(tmp_path / "tube.fmu")

    def motion(t: float, x: np.ndarray) -> list[float]:
        return [0.3 + 2.0 * t + 0.25 * t**2, 2.0 + 0.5 * t, 0.5]

    sol = dyn.simulate((0.0, 0.5), x0, inputs=motion, t_eval=[0.5])
    with opened(path, dyn, steps=True) as one:
        one.begin()
        one.fmu.doStep(0.0, 0.5)
        assert one.get(one.states) == pytest.approx(sol.x[-1], abs=1e-7)


# ------------------------------------------------------------------------------------------------- derivatives
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", part(["quadrotor", "four_bar", "slider_crank"], ["four_bar"]))
def test_directional_derivatives(name: str, version: str) -> None:
    dyn, x, path = exported(name, version)
    with opened(path, dyn) as one:
        one.begin()
        inputs, outputs = ([one.vr[key] for key in keys] for keys in (dyn.input_names, dyn.output_names))
        parameters = [one.vr[key] for key in dyn.parameter_names]
        a, b = dyn.linearize(0.0, x)
        found = one.jacobian(one.slopes, [*one.states, *inputs])
        assert found == pytest.approx(np.hstack([a, b]), rel=1e-11, abs=1e-11)
        by_p = one.jacobian(one.slopes, parameters)
        assert by_p == pytest.approx(dyn.rhs_parameter_jacobian(0.0, x), rel=1e-11, abs=1e-11)
        assert one.jacobian(one.slopes, [one.vr["time"]])[:, 0] == pytest.approx(dyn.rhs_time_derivative(0.0, x))
        assert one.jacobian(one.states, one.states) == pytest.approx(np.eye(dyn.n_x))
        if outputs:
            by_x = one.jacobian(outputs, [*one.states, *inputs])
            assert by_x == pytest.approx(dyn.output_jacobian(0.0, x), rel=1e-11, abs=1e-11)
            columns = one.jacobian(outputs, [*parameters, one.vr["time"]])[:, :-1]
            for column, key in zip(columns.T, dyn.parameter_names, strict=True):
                h = 1e-4 * (abs(dyn.parameters[key]) or 1e-3)
                sides = [dyn.outputs(0.0, x, p={key: dyn.parameters[key] + s * h}) for s in (1, -1)]
                assert column == pytest.approx((sides[0] - sides[1]) / (2 * h), rel=1e-6, abs=1e-6)
        some, seed = [one.slopes[-1], one.slopes[0], *outputs[:1]], [0.3, -2.0]
        both = one.fmu.getDirectionalDerivative(some, [one.states[1], parameters[0]], seed)
        assert both == pytest.approx(one.jacobian(some, [one.states[1], parameters[0]]) @ seed)
        if version == "3.0":
            weights = np.arange(1.0, 1.0 + len(some))
            knowns = [*one.states, *inputs, *parameters]
            back = one.fmu.getAdjointDerivative(some, knowns, list(weights), nSensitivity=len(knowns))
            assert back == pytest.approx(weights @ one.jacobian(some, knowns))
        with pytest.raises(Exception, match="status 3"):
            one.fmu.getDirectionalDerivative([one.states[0]], [one.slopes[0]], [1.0])


def test_outputs_by_parameters_and_time_are_exact(tmp_path: Path) -> None:
    """At constant u̇ and through it; a parameter that is zero as well."""
    t, (mass, length, g, d) = me.dynamicsymbols._t, sm.symbols("m l g d")
    q, u = (sm.Function(name)(t) for name in ("theta", "omega"))
    outputs = {"product": mass**2 * t * q, "felt": length * u.diff() + d * t**2}
    dyn = kc.compile(pendulum(outputs=outputs)[0])
    dyn.parameters = {"m": 0.7, "l": 0.5, "g": 9.8, "d": 0.0}
    path = dyn.export_fmu(tmp_path / "it.fmu", x0={"theta": 0.3})
    with opened(path, dyn) as one:
        one.begin()
        one.fmu.enterContinuousTimeMode()
        one.fmu.setTime(2.0)
        knowns = [one.vr[name] for name in ("time", "m", "l", "g", "d")]
        found = one.jacobian([one.vr["product"], one.vr["felt"]], knowns)
    felt = -g * sm.sin(q) + d * t**2
    values = {t: 2.0, q: 0.3, mass: 0.7, length: 0.5, g: 9.8, d: 0.0}
    exact = [
        [sm.diff(y.subs(q, 0.3), k).subs(values) for k in (t, mass, length, g, d)] for y in (mass**2 * t * q, felt)
    ]
    assert found == pytest.approx(np.array(exact, dtype=float), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("version", part(VERSIONS, ["2.0"]))
def test_outputs_with_multipliers_are_differentiated_by_differences(version: str, tmp_path: Path) -> None:
    (x, y), (u, v), (m, g, a) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v"), sm.symbols("m g a")
    model = mass_point(
        {x: u, y: v},
        m,
        [0, -m * g],
        q_dependent=[y],
        u_dependent=[v],
        configuration_constraints=[y - a * x**2],
        outputs={"wire": kc.multiplier(0)},
    )
    dyn = kc.compile(model)
    dyn.parameters = {"m": 0.5, "g": 9.8, "a": 0.7}
    start = dyn.consistent(0.0, dyn.state(x=0.3, u=0.2))
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=start)
    assert validate_fmu(str(path)) == []
    with opened(path, dyn) as one:
        one.begin()
        knowns = [*one.states, *(one.vr[key] for key in dyn.parameter_names)]
        found, h = one.jacobian([one.vr["wire"]], knowns)[0], 1e-6
        for i, slope in enumerate(found[: dyn.n_x]):
            step = h * np.eye(dyn.n_x)[i]
            sides = dyn.outputs(0.0, np.array([start + step, start - step]))[:, 0]
            assert slope == pytest.approx((sides[0] - sides[1]) / (2 * h), rel=1e-6, abs=1e-6)
        assert one.get([one.vr["wire"]]) == pytest.approx(dyn.outputs(0.0, start))  # all values are as before


# ---------------------------------------------------------------------------------------- events and constraints
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", part(["four_bar", "rolling_disc", "free_body"], ["free_body"]))
def test_constrained_states_change_in_event_mode_alone(name: str, version: str, tmp_path: Path) -> None:
    dyn, x = loaded(name)
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x, drift=1e-5)
    with opened(path, dyn) as one:
        one.begin()
        assert not one.update()  # the start is on the constraints
        one.fmu.enterContinuousTimeMode()
        rng = np.random.default_rng(0)
        for size, expected in ((1e-7, False), (1e-2, True)):
            off = x + size * rng.standard_normal(dyn.n_x)
            one.set_states(off)
            assert bool(one.fmu.completedIntegratorStep()[0]) is expected
            assert (one.get_states() == off).all()  # whatever it asks for, it changes nothing
            one.fmu.enterEventMode()
            assert one.update() is expected
            if expected:
                back = one.get_states()
                assert np.max(np.abs(back - off)) < 0.2
                for residual in (dyn.configuration_residual, dyn.velocity_residual):
                    if np.size(found := residual(0.0, back)):
                        assert np.max(np.abs(found)) < 1e-10
                for quaternion in dyn.unit:
                    assert np.linalg.norm(back[list(quaternion)]) == pytest.approx(1.0, abs=1e-14)
                assert not one.update()  # once
            one.fmu.enterContinuousTimeMode()


@pytest.mark.parametrize("version", part(VERSIONS, ["3.0"]))
def test_what_cannot_drift_asks_for_nothing(version: str) -> None:
    _, _, path = exported("cart_pole", version)
    description = fmpy.read_model_description(str(path))
    assert not description.modelExchange.needsCompletedIntegratorStep
    assert "drift limit" not in [v.name for v in description.modelVariables]


def test_a_start_off_the_constraints_comes_back() -> None:
    dyn, x, path = exported("four_bar")
    with opened(path, dyn, steps=True) as one:
        one.put([one.vr["q2"]], [x[1] + 1e-3])
        one.begin()
        assert np.max(np.abs(dyn.configuration_residual(0.0, one.get(one.states)))) < 1e-12
    with opened(path, dyn, steps=True) as one:
        one.put([one.vr["d"]], [100.0])  # no such linkage closes
        with pytest.raises(Exception, match="status 3"):
            one.begin()
        assert "constraint" in one.messages[-1]


# ------------------------------------------------------------------------------------- modes, states, failures
@pytest.mark.parametrize("version", VERSIONS)
def test_calls_out_of_place_are_errors(version: str) -> None:
    dyn, x, path = exported("four_bar", version)
    with opened(path, dyn) as one:

        def refused(call: Any, *arguments: Any) -> None:
            before = len(one.messages)
            with pytest.raises(Exception, match="status 3"):
                call(*arguments)
            assert len(one.messages) == before + 1

        refused(one.fmu.exitInitializationMode)
        refused(one.fmu.enterEventMode)
        refused(one.set_states, x)
        one.begin()
        refused(one.put, [one.vr["q1"]], [0.5])  # a state, while it runs
        refused(one.put, [one.vr["der(q1)"]], [0.5])
        refused(one.put, [one.vr["time"]], [0.5])
        refused(one.put, [one.vr["tau"]], [np.nan])
        refused(one.put, [10_000], [0.5])
        refused(one.get, [10_000])
        refused(one.set_states, x)  # in event mode
        one.put([one.vr["m1"], one.vr["tau"]], [2.0, 0.3])  # a parameter may be tuned here
        one.fmu.enterContinuousTimeMode()
        refused(one.put, [one.vr["m1"]], [2.0])
        one.put([one.vr["tau"]], [0.4])
        refused(one.set_states, x[:-1])
        expected = dyn.rhs(0.0, x, r={"tau": 0.4}, p={"m1": 2.0})
        assert one.get(one.slopes) == pytest.approx(expected, rel=1e-12)
        one.fmu.terminate()
        refused(one.set_states, x)
        one.fmu.reset()
        one.begin()
        assert one.get(one.slopes) == pytest.approx(dyn.rhs(0.0, x), rel=1e-12)


@pytest.mark.parametrize("version", VERSIONS)
def test_saved_states(version: str) -> None:
    dyn, _, path = exported("quadrotor", version)
    with opened(path, dyn, steps=True) as one:
        prefix = "FMUstate" if version == "2.0" else "FMUState"
        one.begin()
        one.fmu.doStep(0.0, 0.1)
        saved = getattr(one.fmu, f"get{prefix}")()
        text = getattr(one.fmu, f"serialize{prefix}")(saved)
        one.put([one.vr["m"]], [3.0])
        one.fmu.doStep(0.1, 0.2)
        changed = one.get(one.states)
        getattr(one.fmu, f"set{prefix}")(saved)
        one.fmu.doStep(0.1, 0.2)
        first = one.get(one.states)
        assert np.abs(first - changed).max() > 1e-3
        other = getattr(one.fmu, "deSerializeFMUstate" if version == "2.0" else "deserializeFMUState")(text)
        getattr(one.fmu, f"set{prefix}")(other)
        one.fmu.doStep(0.1, 0.2)
        assert (one.get(one.states) == first).all()
        for state in (saved, other):
            getattr(one.fmu, f"free{prefix}")(state)


@pytest.mark.parametrize("version", part(VERSIONS, ["3.0"]))
def test_several_instances(version: str) -> None:
    dyn, x, path = exported("cart_pole", version)
    with opened(path, dyn, steps=True) as one, opened(path, dyn, steps=True) as two:
        for instance, mass in ((one, 0.5), (two, 2.0)):
            instance.put([instance.vr["m"]], [mass])
            instance.begin(tolerance=1e-10)
        for t in (0.0, 0.1):
            one.fmu.doStep(t, 0.1)
            two.fmu.doStep(t, 0.1)
        for instance, mass in ((one, 0.5), (two, 2.0)):
            expected = dyn.simulate((0.0, 0.2), x, parameters={"m": mass}).x[-1]
            assert instance.get(instance.states) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("version", part(VERSIONS, ["2.0"]))
def test_singular_states_are_named(version: str) -> None:
    dyn, _, path = exported("cart_pole", version)
    weightless = {"M": 0.0, "m": 0.0, "I": 0.0}
    with opened(path, dyn) as one:
        one.put([one.vr[key] for key in weightless], weightless.values())
        one.begin()
        for call in (lambda: one.get(one.slopes), lambda: one.jacobian(one.slopes, one.states)):
            with pytest.raises(Exception, match="status 2"):
                call()
            assert "the mass matrix is singular, no pivot for the speed" in one.messages[-1]
        one.put([one.vr["M"], one.vr["I"]], [1.0, 1.0])  # and is well again
        assert np.isfinite(one.get(one.slopes)).all()
    with opened(path, dyn, steps=True) as one:
        one.put([one.vr[key] for key in weightless], weightless.values())
        one.begin()
        with pytest.raises(Exception, match="status 3"):
            one.fmu.doStep(0.0, 0.1)
        assert one.messages
        with pytest.raises(Exception, match="status 3"):
            one.fmu.doStep(0.0, 0.1)
        one.fmu.reset()
        one.begin()
        one.fmu.doStep(0.0, 0.1)
        with pytest.raises(Exception, match="status 3"):  # time goes on
            one.fmu.doStep(0.0, 0.1)
        with pytest.raises(Exception, match="status 3"):
            one.fmu.doStep(0.1, -0.1)


def test_another_models_token_is_refused(tmp_path: Path) -> None:
    dyn, _ = loaded("cart_pole")
    path = dyn.export_fmu(tmp_path / "it.fmu")
    description = fmpy.read_model_description(str(path))
    fmu = FMU3Model(
        guid="{another}", unzipDirectory=fmpy.extract(str(path)), modelIdentifier="cart_pole", instanceName="one"
    )
    messages: list[str] = []
    with pytest.raises(Exception, match="instantiate"):
        fmu.instantiate(logMessage=lambda *arguments: messages.append(arguments[-1].decode()))
    assert description.guid in messages[0]
    assert "{another}" in messages[0]
