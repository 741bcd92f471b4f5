# SPDX-License-Identifier: BSD-3-Clause
"""FMUs by FMPy, for the tests of FMUs: instances, and models to export."""

import ctypes
import functools
import tempfile
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

__all__ = [
    "FLOW",
    "VERSIONS",
    "FMU3Model",
    "build_platform_binary",
    "exported",
    "fmpy",
    "loaded",
    "opened",
    "pendulum",
    "validate_fmu",
]

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


FILES = tempfile.TemporaryDirectory(prefix="kanecore-fmus-")


def exported(name: str, version: str = "3.0") -> tuple[Any, np.ndarray, Path]:
    """A gallery model and its state as `loaded` gives them, with its FMU, which several tests open."""
    return *loaded(name), _written(name, version)


@functools.cache
def _written(name: str, version: str) -> Path:
    dyn, x = loaded(name)
    return dyn.export_fmu(Path(FILES.name, f"{name}-{version}.fmu"), version=version, x0=x)


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
