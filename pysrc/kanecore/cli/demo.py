# SPDX-License-Identifier: BSD-3-Clause
"""``kanecore demo``: the RRP robot, from its SymPy description to a picture of its motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kanecore._compile import compile
from kanecore.compiled_model import CompiledModel
from kanecore.emit.kernel_groups import emit_group
from kanecore.gallery import rrp
from kanecore.motion.trajectory import Trajectory
from kanecore.whole_files import whole_file

__all__ = ["run"]

Array = npt.NDArray[np.float64]
T = TypeVar("T")

START = np.array([0.0, 0.6, 0.5, 0.0, 0.0, 0.0])  # theta1, theta2, d3, and their rates
TARGET = np.array([1.5, 1.0, 0.8])
STIFFNESS = np.array([15.0, 60.0, 80.0])
DAMPING = np.array([8.0, 20.0, 25.0])
KERNELS = ["energies", "bodies"]  # kernels beyond the core, for the drift of the energy and the picture
REPEATS = 20000
POSES = np.array([0.0, 0.3, 0.6, 1.0, 1.5, 6.0])  # s, of the picture
VIEW = (22.0, -35.0)


def run(picture: Path) -> None:
    """Describe, derive, compile, evaluate and simulate the robot; print each stage with its time, save a picture."""
    print("RRP robot: a turning column, a tilting arm, a bar that slides along it")
    model = _stage("describe with SymPy", rrp.build)
    emitted = _stage("derive, write C", lambda: emit_group(model.description, "core"))
    operations = emitted.operations["udot"]["total"]
    print(f"    forward dynamics in {operations} operations, {len(emitted.text) // 1024} kB of C")
    dyn = _stage("compile, load", lambda: compile(model, parameters=rrp.PARAMETERS, kernels=KERNELS))
    print(f"    {_maker(dyn)}")

    out = np.empty(dyn.n_x)
    dyn.rhs(0.0, START, out=out)
    print(f"evaluate at rest: qdot, udot = {np.array2string(out, precision=4, suppress_small=True)}")
    print(f"    {_cost(lambda: dyn.rhs(0.0, START, out=out)):.0f} ns per call from Python")

    def control(t: float, x: Array) -> Array:
        return np.asarray(STIFFNESS * (TARGET - x[:3]) - DAMPING * x[3:] + weight, dtype=np.float64)

    weight = -dyn.forcing(0.0, np.concatenate([TARGET, np.zeros(3)]))  # the torques that hold the robot at the target
    sol = _stage("simulate 6 s with a controller in Python", lambda: dyn.simulate((0.0, 6.0), START, inputs=control))
    print(f"    {sol.n_steps} steps, {sol.nfev} evaluations, end at q = {np.round(sol.q[-1], 4).tolist()}")
    print(f"    energy drift {sol.energy_drift:.1e} of the largest kinetic energy, work of the motors counted")
    free = _stage("simulate 6 s without motors", lambda: dyn.simulate((0.0, 6.0), START, rtol=1e-10, atol=1e-10))
    print(f"    {free.n_steps} steps, {free.nfev} evaluations, energy drift {free.energy_drift:.1e}")
    figure = _picture(dyn, sol)  # ImportError where matplotlib is missing
    with whole_file(picture) as place:
        figure.savefig(place, dpi=120)
    print(f"picture saved as {picture}")


def _picture(dyn: CompiledModel, sol: Trajectory) -> Any:
    """Picture of the robot on its path, next to its coordinates, speeds and energy error over time."""
    figure = sol.plot()
    figure.set_size_inches(13.0, 7.0)
    figure.get_layout_engine().set(rect=(0.42, 0.0, 0.58, 1.0))
    space = figure.add_axes((-0.04, 0.0, 0.5, 1.0), projection="3d", facecolor="none")
    dyn.draw(sol(POSES), ax=space, labels=False, loads=False, view=VIEW)
    return figure


def _stage(name: str, work: Callable[[], T]) -> T:
    start = time.perf_counter()
    result = work()
    print(f"{name}: {1e3 * (time.perf_counter() - start):.1f} ms")
    return result


def _maker(dyn: CompiledModel) -> str:
    """Phrase about the compilation of a model."""
    if dyn.info.get("machine"):
        return "as code for the machine, without a C compiler"
    cached = all(group["from_cache"] for group in dyn.info["build"].values())
    return "from the cache of compiled models" if cached else "by the C compiler; next time from the cache"


def _cost(call: Callable[[], object]) -> float:
    """Nanoseconds per call, without the cost of the loop; the least of five runs."""

    def run(f: Callable[[], object]) -> float:
        start = time.perf_counter()
        for _ in range(REPEATS):
            f()
        return (time.perf_counter() - start) / REPEATS * 1e9

    nothing = min(run(lambda: None) for _ in range(5))
    return max(0.0, min(run(call) for _ in range(5)) - nothing)
