# SPDX-License-Identifier: BSD-3-Clause
"""FMUs: FMPy's validation, their motion beside `simulate`, derivatives, events, modes, wrong uses."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.build.compiler import find_compiler
from kanecore.cli import main
from kanecore.export.units import rate_of, unit_of

fmpy = pytest.importorskip("fmpy")
from fmpy.build import build_platform_binary  # noqa: E402
from fmpy.fmi2 import (  # noqa: E402
    FMU2Model,
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    fmi2StepFinishedTYPE,
)
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

VERSIONS = ("2.0", "3.0")
FLOW = {  # an open chain with outputs, with inputs, a loop, quaternions with outputs, rolling
    "planar_2r": {"q1": 0.4, "q2": -0.3},
    "cart_pole": {"theta": 0.4, "omega": 0.3},
    "four_bar": None,
    "quadrotor": {"w1": 0.3, "w3": -0.2, "z": 1.0},
    "rolling_disc": None,
}


def loaded(name: str) -> tuple[Any, np.ndarray]:
    """A gallery model with inputs that are not zero, and a state on its constraints."""
    dyn, given = kc.load(name), FLOW.get(name)
    if given is None:
        given = getattr(import_module(f"kanecore.gallery.{name}"), "STATE", {})
    for k, key in enumerate(dyn.input_names):
        dyn.inputs[key] = 0.05 * (k + 1)
    return dyn, dyn.consistent(0.0, dyn.state(given))


@dataclass
class Opened:
    """An instance of an FMU by FMPy, with the value references by name."""

    fmu: Any
    vr: dict[str, int]
    dyn: Any
    version: str
    messages: list[str]

    @property
    def states(self) -> list[int]:
        return [self.vr[name] for name in (*self.dyn.coordinate_names, *self.dyn.speed_names)]

    @property
    def slopes(self) -> list[int]:
        return [self.vr[f"der({name})"] for name in (*self.dyn.coordinate_names, *self.dyn.speed_names)]

    def get(self, references: list[int]) -> np.ndarray:
        return np.array((self.fmu.getReal if self.version == "2.0" else self.fmu.getFloat64)(references))

    def put(self, references: list[int], values: Any) -> None:
        (self.fmu.setReal if self.version == "2.0" else self.fmu.setFloat64)(references, list(values))

    def begin(self, tolerance: float | None = None) -> None:
        """To event mode, or to the first step."""
        if self.version == "2.0":
            self.fmu.setupExperiment(startTime=0.0, tolerance=tolerance)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=0.0, tolerance=tolerance)
        self.fmu.exitInitializationMode()

    def update(self) -> bool:
        """An event iteration; whether states changed."""
        if self.version == "2.0":
            return bool(self.fmu.newDiscreteStates()[3])
        return bool(self.fmu.updateDiscreteStates()[3])

    def set_states(self, x: np.ndarray) -> None:
        values = np.ascontiguousarray(x)
        self.fmu.setContinuousStates(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values))

    def get_states(self) -> np.ndarray:
        values = np.zeros(self.dyn.n_x)
        self.fmu.getContinuousStates(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values))
        return values

    def jacobian(self, unknowns: list[int], knowns: list[int]) -> np.ndarray:
        columns = []
        for known in knowns:
            columns.append(self.fmu.getDirectionalDerivative(unknowns, [known], [1.0]))
        return np.array(columns).T


@contextmanager
def opened(path: Path, dyn: Any, *, steps: bool = False) -> Iterator[Opened]:
    """The FMU of a model, instantiated for model exchange, or for co-simulation."""
    description = fmpy.read_model_description(str(path))
    version, folder = description.fmiVersion, fmpy.extract(str(path))
    messages: list[str] = []
    kinds = {"2.0": (FMU2Model, FMU2Slave), "3.0": (FMU3Model, FMU3Slave)}[version]
    identifier = (description.coSimulation if steps else description.modelExchange).modelIdentifier
    fmu = kinds[steps](guid=description.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="one")
    if version == "2.0":

        def tell(environment: Any, name: Any, status: Any, category: Any, message: bytes) -> None:
            messages.append(message.decode())

        callbacks = fmi2CallbackFunctions()
        callbacks.logger = fmi2CallbackLoggerTYPE(tell)
        callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(0)
        callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(0)
        callbacks.stepFinished = fmi2StepFinishedTYPE(0)
        fmu.instantiate(callbacks=callbacks)
    else:

        def log(environment: Any, status: Any, category: Any, message: bytes) -> None:
            messages.append(message.decode())

        fmu.instantiate(logMessage=log)
    vr = {v.name: v.valueReference for v in description.modelVariables}
    try:
        yield Opened(fmu, vr, dyn, version, messages)
    finally:
        fmu.freeInstance()


# ------------------------------------------------------------------------------------ the motion of gallery models


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FLOW)
def test_motion_is_that_of_simulate(name: str, version: str, tmp_path: Path) -> None:
    dyn, x0 = loaded(name)
    path = dyn.export_fmu(tmp_path / f"{name}.fmu", version=version, x0=x0)
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


@pytest.mark.parametrize("version", VERSIONS)
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
@pytest.mark.parametrize("name", ["quadrotor", "four_bar", "slider_crank"])
def test_directional_derivatives(name: str, version: str, tmp_path: Path) -> None:
    dyn, x = loaded(name)
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
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


@pytest.mark.parametrize("version", VERSIONS)
def test_outputs_with_multipliers_are_differentiated_by_differences(version: str, tmp_path: Path) -> None:
    (x, y), (u, v), (m, g, a) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v"), sm.symbols("m g a")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    place = origin.locatenew("P", x * frame.x + y * frame.y)
    place.set_vel(frame, u * frame.x + v * frame.y)
    model = kc.Model(
        frame,
        [x],
        [u],
        [x.diff() - u, y.diff() - v],
        q_dependent=[y],
        u_dependent=[v],
        configuration_constraints=[y - a * x**2],
        bodies=[me.Particle("bead", place, m)],
        forcelist=[(place, -m * g * frame.y)],
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
@pytest.mark.parametrize("name", ["four_bar", "rolling_disc", "free_body"])
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


@pytest.mark.parametrize("version", VERSIONS)
def test_what_cannot_drift_asks_for_nothing(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
    description = fmpy.read_model_description(str(path))
    assert not description.modelExchange.needsCompletedIntegratorStep
    assert "drift limit" not in [v.name for v in description.modelVariables]


def test_a_start_off_the_constraints_comes_back(tmp_path: Path) -> None:
    dyn, x = loaded("four_bar")
    path = dyn.export_fmu(tmp_path / "it.fmu", x0=x)
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
def test_calls_out_of_place_are_errors(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("four_bar")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
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
def test_saved_states(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("quadrotor")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
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


@pytest.mark.parametrize("version", VERSIONS)
def test_several_instances(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
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


@pytest.mark.parametrize("version", VERSIONS)
def test_singular_states_are_named(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x)
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


# ------------------------------------------------------------------------------------------- what is written


def pendulum(coordinate: str = "theta", speed: str = "omega", mass: str = "m", **more: Any) -> tuple[kc.Model, Any]:
    t = me.dynamicsymbols._t
    q, u, m = sm.Function(coordinate)(t), sm.Function(speed)(t), sm.Symbol(mass)
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    arm = frame.orientnew("A", "Axis", [q, frame.z])
    arm.set_ang_vel(frame, u * frame.z)
    origin.set_vel(frame, 0)
    bob = origin.locatenew("P", -sm.Symbol("l") * arm.y)
    weight = [(bob, -m * sm.Symbol("g") * frame.y)]
    bodies = [me.Particle("bob", bob, m)]
    return kc.Model(frame, [q], [u], [q.diff() - u], bodies=bodies, forcelist=weight, **more), q


@pytest.mark.parametrize("version", VERSIONS)
def test_any_names(version: str, tmp_path: Path) -> None:
    length = sm.Symbol("l")
    outputs = {"l": 2 * length, 'der(\u03b8 <&> "x")': 3 * length, "a\nb": length, "l (output)": 4 * length}
    model, q = pendulum('\u03b8 <&> "x"', "'", "time", outputs=outputs, name="int main(){} \x01 \u00e9")
    dyn = kc.compile(model)
    dyn.parameters = {"time": 1.0, "l": 0.5, "g": 9.8}
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, units={q: "deg", "time": "kg", "g": "smoot/s2"})
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    names = [v.name for v in description.modelVariables]
    assert len(set(names)) == len(names)
    assert {'\u03b8 <&> "x"', "'", "time", "l", "der(')", "a\\u000ab"} <= set(names)
    by_reference = {v.valueReference: v for v in description.modelVariables}
    assert by_reference[0].causality == "independent"
    assert by_reference[0].name == "time (independent variable)"
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=0.1, output=names[5:9])
    assert sorted(found[-1].tolist()[1:]) == [0.5, 1.0, 1.5, 2.0]
    assert description.coSimulation.modelIdentifier.isidentifier()


def test_units(tmp_path: Path) -> None:
    model, _ = pendulum()
    dyn = kc.compile(model)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    units = {"theta": "rad", "omega": "rad/s", "l": "cm", "g": "m/s2", "m": "stone"}
    description = fmpy.read_model_description(str(dyn.export_fmu(tmp_path / "it.fmu", units=units)))
    defined = {unit.name: unit.baseUnit for unit in description.unitDefinitions}
    given = {v.name: v.unit for v in description.modelVariables}
    assert given == {**units, "time": "s", "der(theta)": "rad/s", "der(omega)": "rad/s2"}
    assert defined["stone"] is None
    assert (defined["cm"].m, defined["cm"].factor) == (1, 0.01)
    assert (defined["rad/s2"].rad, defined["rad/s2"].s) == (1, -2)


@pytest.mark.parametrize(
    ("name", "factor", "powers"),
    [
        ("kg.m2/s2", 1.0, {"kg": 1, "m": 2, "s": -2}),
        ("N*m", 1.0, {"kg": 1, "m": 2, "s": -2}),
        ("N.m.s/rad", 1.0, {"kg": 1, "m": 2, "s": -1, "rad": -1}),
        ("W/(m2.K)", 1.0, {"kg": 1, "s": -3, "K": -1}),
        ("m^2", 1.0, {"m": 2}),
        ("s-1", 1.0, {"s": -1}),
        ("1/s", 1.0, {"s": -1}),
        ("km/h", 1.0 / 3.6, {"m": 1, "s": -1}),
        ("rpm", np.pi / 30.0, {"rad": 1, "s": -1}),
        ("1", 1.0, {}),
        ("furlong", 1.0, None),
        ("10", 1.0, None),
        ("m/", 1.0, None),
    ],
)
def test_units_are_read(name: str, factor: float, powers: dict[str, int] | None) -> None:
    unit = unit_of(name)
    assert unit.powers == powers
    assert unit.factor == pytest.approx(factor)


def test_units_of_rates() -> None:
    assert [rate_of(unit_of(name)).name for name in ("m", "m/s", "km/h")] == ["m/s", "m/s2", "km/(h.s)"]
    assert rate_of(unit_of("furlong")) is None


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    one, two = (dyn.export_fmu(tmp_path / f"{i}.fmu", x0=x, cc="none").read_bytes() for i in (1, 2))
    assert one == two
    dyn.parameters["m"] = 0.123
    changed = dyn.export_fmu(tmp_path / "1.fmu", x0=x, cc="none").read_bytes()
    assert changed != one


def test_dependencies_are_those_that_move(tmp_path: Path) -> None:
    """No derivative of a state or output with respect to what it is said not to depend on."""
    dyn, x = loaded("quadrotor")
    path = dyn.export_fmu(tmp_path / "it.fmu", x0=x)
    description = fmpy.read_model_description(str(path))
    with opened(path, dyn) as one:
        one.begin()
        knowns = [*one.states, *(one.vr[key] for key in dyn.input_names)]
        for unknown in [*description.derivatives, *description.outputs]:
            row = one.jacobian([unknown.variable.valueReference], knowns)[0]
            named = {v.valueReference for v in unknown.dependencies}
            assert {known for known, slope in zip(knowns, row, strict=True) if slope} <= named
        assert sum(len(u.dependencies) for u in description.derivatives) < len(description.derivatives) * len(knowns)


# ---------------------------------------------------------------------------------------------- wrong use


def test_wrong_use(tmp_path: Path) -> None:
    dyn, path = kc.load("four_bar"), tmp_path / "it.fmu"
    for wrong, words in (
        ({"path": tmp_path / "it.zip"}, "ends in .fmu"),
        ({"path": tmp_path / "missing" / "it.fmu"}, "there is no folder"),
        ({"version": "1.0"}, "'2.0' or '3.0'"),
        ({"method": "rk4"}, "'dop853'"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"drift": -1.0}, "drift is -1.0"),
        ({"x0": [0.1, 0.2, 0.3, 0.0, 0.0, 0.0]}, "does not satisfy the constraints"),
        ({"x0": [0.1, 0.2]}, "one state of 6"),
        ({"units": {"q1": " "}}, "unit of 'q1'"),
    ):
        with pytest.raises(ValueError, match=words):
            dyn.export_fmu(**{"path": path, **wrong})
    with pytest.raises(KeyError, match=r"'qq1'.*did you mean 'q1'"):
        dyn.export_fmu(path, units={"qq1": "rad"})
    for units in ({"q1": 1}, ["rad"]):
        with pytest.raises(TypeError, match="unit"):
            dyn.export_fmu(path, units=units)
    folder = tmp_path / "folder.fmu"
    folder.mkdir()
    with pytest.raises(ValueError, match="a folder"):
        dyn.export_fmu(folder)
    assert [item.name for item in tmp_path.iterdir()] == ["folder.fmu"]


def test_what_has_no_value_is_named(tmp_path: Path) -> None:
    dyn = kc.compile(pendulum()[0])
    dyn.parameters["l"] = 1.0
    with pytest.raises(kc.ModelError, match="the parameters g, m never got a value"):
        dyn.export_fmu(tmp_path / "it.fmu")
    with pytest.raises(kc.ModelError, match="the inputs theta, theta_d, theta_dd never got a value"):
        kc.load("rotating_tube").export_fmu(tmp_path / "it.fmu")
    assert not list(tmp_path.iterdir())


def test_callables_are_refused(tmp_path: Path) -> None:
    t = me.dynamicsymbols._t
    q, f = sm.Function("theta")(t), sm.Function("f")
    functions = {f: kc.CFunction(*(ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value,) * 4)}
    model, _ = pendulum(functions=functions, outputs={"height": f(q)})
    dyn = kc.compile(model)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    with pytest.raises(kc.ModelError, match=r"cannot become an FMU: it calls f by address"):
        dyn.export_fmu(tmp_path / "it.fmu")


def test_an_existing_file_is_replaced_by_a_whole_one(tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    path = tmp_path / "it.fmu"
    path.write_text("old")
    with pytest.raises(kc.CompileError):
        dyn.export_fmu(path, x0=x, cc="false")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["it.fmu"]
    assert zipfile.is_zipfile(dyn.export_fmu(path, x0=x, cc="none"))


def test_without_a_compiler_it_holds_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanecore.export.fmu.is_there", lambda: False)
    dyn, _ = loaded("cart_pole")
    with pytest.warns(kc.KanecoreWarning, match="C sources alone"):
        path = dyn.export_fmu(tmp_path / "it.fmu")
    assert not [name for name in zipfile.ZipFile(path).namelist() if name.startswith("binaries")]
    assert validate_fmu(str(path)) == []


@pytest.mark.parametrize("real", ["double", "float"])
def test_models_in_floats_and_without_a_compiler(real: str, tmp_path: Path) -> None:
    """The FMU is in doubles, whatever the numbers of the model are."""
    dyn = kc.compile(pendulum()[0], real=real, cc="none" if real == "double" else None)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    path = dyn.export_fmu(tmp_path / "it.fmu", x0={"theta": 0.5})
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=1.0, output=["theta"])
    exact = kc.compile(pendulum()[0], parameters={"m": 1.0, "l": 0.5, "g": 9.8}).simulate((0.0, 1.0), [0.5, 0.0])
    assert found["theta"][-1] == pytest.approx(exact.x[-1, 0], abs=2e-6)


# --------------------------------------------------------------------------------------------------- sources


def compiled(folder: Path, *words: str) -> None:
    """Runs the compiler on C99 with all warnings as errors."""
    command = [*find_compiler(), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and "sanitize" in done.stderr:
        pytest.skip(f"this compiler has no sanitizers: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["four_bar", "quadrotor"])
def test_sources_under_sanitizers(name: str, version: str, root: Path, tmp_path: Path) -> None:
    """The listed sources, without warnings; memory is taken for instances and copies of states, and given back."""
    dyn, x = loaded(name)
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x, cc="none")
    folder = tmp_path / "it"
    zipfile.ZipFile(path).extractall(folder)
    description = fmpy.read_model_description(str(folder))
    sources = description.buildConfigurations[0].sourceFileSets[0].sourceFiles
    assert {item.name for item in (folder / "sources").glob("*.c")} == set(sources)
    here, sanitizers = folder / "sources", ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    counted = [f"-D{name}=counted_{name}" for name in ("malloc", "calloc", "free")]
    compiled(here, "-c", "-include", "stdlib.h", *counted, *sanitizers, *sources)
    objects = [str(Path(source).with_suffix(".o")) for source in sources]
    face = ["-DFMI2"] if version == "2.0" else []
    compiled(here, *face, "-I.", *sanitizers, str(root / "tests/c/fmu_run.c"), *objects, "-o", "run", "-lm")
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([str(here / "run")], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


# FMPy leaves its folder to the collector of garbage, which warns.
@pytest.mark.packaging
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("version", VERSIONS)
def test_fmpy_builds_the_sources(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("four_bar")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x, cc="none")
    folder = tmp_path / "it"
    zipfile.ZipFile(path).extractall(folder)
    if shutil.which("cmake") is None:
        pytest.skip("FMPy builds with CMake")
    build_platform_binary(folder, generator="Unix Makefiles")
    found = fmpy.simulate_fmu(str(folder), fmi_type="CoSimulation", stop_time=0.5, output=["q1"])
    assert found["q1"][-1] == pytest.approx(dyn.simulate((0.0, 0.5), x).x[-1, 0], abs=1e-6)


def test_the_library_exports_fmi_alone(tmp_path: Path) -> None:
    path = loaded("cart_pole")[0].export_fmu(tmp_path / "it.fmu")
    (name,) = [name for name in zipfile.ZipFile(path).namelist() if name.startswith("binaries")]
    library = ctypes.CDLL(zipfile.ZipFile(path).extract(name, tmp_path))
    assert library.fmi3GetVersion
    for hidden in ("kc_get_model", "kc_integrate", "kc_fmu_new"):
        with pytest.raises(AttributeError):
            getattr(library, hidden)


# ----------------------------------------------------------------------------------------------- command line


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.fmu"
    words = ["--fmi-version", "2.0", "--parameter", "m=0.25", "--input", "F=0.5", "--state", "theta=0.3"]
    assert main(["export", "cart_pole", "--fmu", str(path), *words, "--unit", "theta=rad"]) == 0
    assert str(path) in capsys.readouterr().out
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    variables = {v.name: v for v in description.modelVariables}
    assert description.fmiVersion == "2.0"
    assert [float(variables[name].start) for name in ("m", "F", "theta", "x")] == [0.25, 0.5, 0.3, 0.0]
    assert variables["theta"].unit == "rad"
    assert {name: variables[name].unit for name in ("I", "b", "g", "F", "v")} == {
        "I": "kg.m2",
        "b": "kg/s",
        "g": "m/s2",
        "F": "kg.m/s2",
        "v": "m/s",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rotating_tube"], "never got a value"),
        (["cart_pole", "--parameter", "zz=1"], "'zz'"),
        (["cart_pole", "--parameter", "m"], "it must be NAME=VALUE"),
        (["cart_pole", "--parameter", "m=heavy"], "must be a number"),
        (["cart_pole", "--input", "zz=1"], "'zz'"),
        (["cart_pole", "--unit", "zz=m"], "'zz'"),
        (["cart_pole", "--state", "zz=1"], "'zz'"),
    ],
)
def test_command_line_refuses(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *words, "--fmu", str(tmp_path / "it.fmu")]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_wants_a_place_for_it(tmp_path: Path) -> None:
    for name in (tmp_path / "it.zip", tmp_path / "missing" / "it.fmu"):
        with pytest.raises(SystemExit, match="2"):
            main(["export", "cart_pole", "--fmu", str(name)])


def test_parameters_that_are_baked_in_are_none(tmp_path: Path) -> None:
    dyn = kc.compile(pendulum()[0], parameters={"m": 1.0, "l": 0.5, "g": 9.8}, bake=True)
    path = dyn.export_fmu(tmp_path / "it.fmu", x0={"theta": 0.3})
    description = fmpy.read_model_description(str(path))
    assert not [v for v in description.modelVariables if v.causality == "parameter"]
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=0.5, output=["theta"])
    assert found["theta"][-1] == pytest.approx(dyn.simulate((0.0, 0.5), {"theta": 0.3}).x[-1, 0], abs=1e-6)


def test_the_licence_goes_along(root: Path, tmp_path: Path) -> None:
    path = loaded("cart_pole")[0].export_fmu(tmp_path / "it.fmu", cc="none")
    text = zipfile.ZipFile(path).read("documentation/licenses/LICENSE.kanecore.txt").decode()
    assert text == (root / "LICENSE").read_text(encoding="utf-8")
