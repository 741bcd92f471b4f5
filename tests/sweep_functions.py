# SPDX-License-Identifier: BSD-3-Clause
"""What `test_parameter_sweeps.py` calls in other processes, which import this file."""

import os
import threading
import time
from typing import Any

import kanecore as kc


class Failure(Exception):
    """It says what it was made of in a way of its own, so that pickle cannot load it."""

    def __init__(self, number: int, *, why: str) -> None:
        super().__init__(f"{number} {why}")


class Attributes(Exception):
    def __init__(self, message: str, *, number: int = 0) -> None:
        super().__init__(message)
        self.number = number


def square(case: float) -> float:
    return case * case


def various(case: Any) -> Any:
    """Does what the case says."""
    if case == "raise":
        raise Attributes("as told", number=7)
    if case == "unloadable":
        raise Failure(3, why="that cannot be loaded")
    if case == "function":
        return lambda: case
    if case == "attribute":
        error = Attributes("as told", number=8)
        vars(error)["lock"] = threading.Lock()
        raise error
    if case == "exit":
        raise SystemExit(2)
    if case == "die":
        time.sleep(0.3)
        os._exit(1)
    return case


def end(dyn: kc.CompiledModel, case: dict[str, float]) -> Any:
    """The last state of a run from a start by name; a speed of 13 ends it before."""
    steps = 3 if case.get("omega1") == 13.0 else 10_000
    return dyn.simulate((0.0, 0.5), case, max_steps=steps).x[-1]


def run(dyn: kc.CompiledModel, case: dict[str, float]) -> kc.Trajectory:
    return dyn.simulate((0.0, 0.5), case, inputs=lambda t, x: [0.1, 0.0, t])


def where(dyn: kc.CompiledModel, case: float) -> tuple[int, float]:
    """The process, and the kinetic energy."""
    time.sleep(0.05)
    return os.getpid(), float(dyn.kinetic_energy(0.0, [0.1, case]))
