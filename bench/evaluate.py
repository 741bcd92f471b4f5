# SPDX-License-Identifier: BSD-3-Clause
"""Time of a kernel in C, and the time that a call from Python adds."""

from __future__ import annotations

import ctypes
import timeit
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import models
import numpy as np
import peers
import report
import shared
import sides
import tasks
from clock import REPEATS, Timing, kernel_nanoseconds, nanoseconds, reference

import kanecore as kc

QUESTION = "how long does a kernel take in C [ns], and what does calling it from Python add?"
KERNELS = ("rhs", "udot", "mass_matrix", "forcing")
FROM_PYTHON = {
    *("arm7", "tree30", "rrp", "whipple_bicycle", "rolling_disc", "cart 5 relative", "cart 20 relative"),
    *("panda", "quadruped", "humanoid"),
}
FROM_PYTHON_SMALLEST = {"rrp"}
FEW_SPEEDS = 10  # up to here the group of forces is compiled as well, for a second way to u̇


class Case(NamedTuple):
    """A compiled model under the name of its row."""

    name: str
    dyn: kc.CompiledModel


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Table of kernels, one row a model and kernel; table of calls of rhs from Python, one row a model; and u̇ beside
    the peers, in C and from Python, one row a model and side.

    The smallest run takes prebuilt models of the gallery, the whole one compiles for this very processor.
    """
    repeats = 5 if smallest else REPEATS
    kernels, calls = [], []
    for case in _smallest_cases() if smallest else _cases():
        x, r = models.states(case.dyn.n_x), models.inputs(case.dyn.n_r)
        case.dyn.inputs.update(zip(case.dyn.input_names, r, strict=True))
        errors = _errors(case.dyn, x)
        times = {kernel: _in_c(case.dyn, kernel, x, repeats) for kernel in KERNELS}
        chain = reference()["chain_ns"]
        kernels += [_kernel_row(case, kernel, took, chain, errors) for kernel, took in times.items()]
        calls.append(_call_row(case, x, times["rhs"], repeats))
    in_c, in_python = _beside(smallest, repeats)
    return {"kernels in C": kernels, "rhs from Python": calls, "u̇ in C": in_c, "u̇ from Python": in_python}


def _smallest_cases() -> list[Case]:
    return [Case(name, kc.load(name)) for name in ("rrp", "arm7")]


def _cases() -> list[Case]:
    mechanisms = [models.robot(), models.cart(5), models.arm(), models.cart(20), models.chain(20), models.chain(40)]
    cases = [Case("arm7 prebuilt", kc.load("arm7"))]
    for mechanism in mechanisms:
        cases.append(Case(mechanism.name, _compiled(mechanism)))
    cases.append(Case("arm7 baked", _compiled(models.arm(), bake=True)))
    return cases


def _compiled(mechanism: models.Mechanism, bake: bool = False) -> kc.CompiledModel:
    """Compiled anew: where a library happens to lie in physical memory changes the time of a long kernel by up to one
    half, and a cached one would keep its place from run to run.
    """
    return kc.compile(mechanism.build(), parameters=mechanism.parameters, bake=bake, cache=False)


# Beside the peers ----------------------------------------------------------------------------------------


def _beside(smallest: bool, repeats: int) -> tuple[list[report.Row], list[report.Row]]:
    """u̇ in C of all mechanisms, and from Python of those that have peers there."""
    in_c, in_python = [], []
    for task in _smallest_tasks() if smallest else _tasks():
        theirs, missing = peers.sides("in_c", task)
        in_c += sides.rows(task.name, [*tasks.ours_in_c(task), *theirs], missing, repeats)
        if task.mechanism.name in (FROM_PYTHON_SMALLEST if smallest else FROM_PYTHON):
            theirs, missing = peers.sides("in_python", task)
            in_python += sides.rows(task.name, [*_ours_in_python(task), *theirs], missing, repeats)
    return in_c, in_python


def _smallest_tasks() -> list[tasks.Task]:
    return [tasks.prebuilt(models.robot()), tasks.prebuilt(models.arm())]


def _tasks() -> Iterator[tasks.Task]:
    """One at a time: a task holds its libraries."""
    compilers = list(shared.compilers())
    yield tasks.compiled(models.arm(), False, compilers)
    for mechanism in models.all_of_them():
        yield tasks.compiled(mechanism, True, compilers)


STYLES = {
    "kanecore udot(out=)": "dyn.udot(0.0, x, out=out)",
    "kanecore udot(r=, out=)": "dyn.udot(0.0, x, r=r, out=out)",
    "kanecore rhs(out=)": "dyn.rhs(0.0, x, out=xdot)",
}


def _ours_in_python(task: tasks.Task) -> list[sides.Side]:
    """u̇ into an array, with inputs as an argument, and ẋ."""
    offered, states = [], list(task.x)
    for name, statement in STYLES.items():
        for compiler, (dyn, *_) in task.compiled.items():
            names = {"dyn": dyn, "r": task.r, "out": np.empty(dyn.n_u), "xdot": np.empty(dyn.n_x)}
            facts = {"result": task.udot, "compiler": compiler}
            offered.append(sides.in_python(name, statement, states, names, **facts))
    return offered


# In C ----------------------------------------------------------------------------------------------------


def _in_c(dyn: kc.CompiledModel, kernel: str, x: np.ndarray, repeats: int) -> Timing:
    n_out = int(np.size(getattr(dyn, kernel)(0.0, x[0])))
    inputs = np.array([dyn.inputs[name] for name in dyn.input_names])
    return kernel_nanoseconds(dyn.address(kernel), x, inputs, dyn.prepared, dyn.n_work, n_out, repeats)


def _kernel_row(case: Case, kernel: str, took: Timing, chain: float, errors: Mapping[str, Any]) -> report.Row:
    operations, sincos = (case.dyn.info[key].get(kernel, 0) for key in ("operations", "sincos"))
    row: report.Row = {"case": f"{case.name}: {kernel}", "ns": took.median, "ns_min": took.least}
    row |= {"ops": operations, "sincos": sincos, "ns_per_op": took.median / max(operations, 1)}
    row["chains"] = took.least / chain
    return row | errors


def _errors(dyn: kc.CompiledModel, x: np.ndarray) -> dict[str, Any]:
    """The residual of M u̇ = f, the difference between two kernels that hold u̇, and that between u̇ and the inverse
    dynamics, which is derived apart from M and f; the largest at all states.
    """
    mass_matrix, udot, forcing = dyn.mass_matrix(0.0, x), dyn.udot(0.0, x), dyn.forcing(0.0, x)
    errors: dict[str, Any] = {"residual": models.residual(mass_matrix, udot, forcing)}
    errors["rhs_udot"] = float(np.abs(dyn.rhs(0.0, x)[:, dyn.n_q :] - udot).max())
    errors["inverse"] = ""
    if dyn.n_u <= FEW_SPEEDS:
        left = np.linalg.norm(dyn.inverse_dynamics(0.0, x, udot), axis=-1)
        errors["inverse"] = float(np.max(left / np.linalg.norm(forcing, axis=-1)))
    return errors


# From Python ---------------------------------------------------------------------------------------------


def _call_row(case: Case, x: np.ndarray, in_c: Timing, repeats: int) -> report.Row:
    """Calls as users write them, in a loop over the states; a workspace stays at one state.

    The ``+`` columns are what a call adds to the kernel in C, less the empty ``loop``: of the least times, since the
    medians of two loops on a busy machine have no meaningful difference.
    """
    dyn, ws = case.dyn, case.dyn.workspace()
    ws.x[:], ws.r[:] = x[0], [dyn.inputs[name] for name in dyn.input_names]
    out, work, prepared, inputs = np.empty(dyn.n_x), np.zeros(dyn.n_work), dyn.prepared, np.array(ws.r)
    pointers = [array.ctypes.data for array in (inputs, prepared, work, out)]
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address("rhs"))
    names = {"dyn": dyn, "ws": ws, "out": out, "kernel": kernel, "pointers": pointers}
    addresses = [row.ctypes.data for row in x]

    calls = {
        "loop": _call("pass", list(x), names, repeats),
        "out": _call("dyn.rhs(0.0, x, out=out)", list(x), names, repeats),
        "allocating": _call("dyn.rhs(0.0, x)", list(x), names, repeats),
        "workspace": _call("ws.rhs()", list(x), names, repeats),
        "ctypes": _call("kernel(0.0, x, *pointers)", addresses, names, repeats),
    }
    row: report.Row = {"case": case.name, "c": in_c.median}
    row |= {name: took.median for name, took in calls.items()}
    row |= {f"+{name}": took.least - calls["loop"].least - in_c.least for name, took in calls.items() if name != "loop"}
    row |= {f"{name}_min": took.least for name, took in calls.items()}
    return row


def _call(statement: str, states: list[Any], names: Mapping[str, Any], repeats: int) -> Timing:
    """One statement [ns], for each x of the states in turn."""
    timer = timeit.Timer(f"for x in states: {statement}", globals={**names, "states": states})
    took = nanoseconds(timer.timeit, repeats)
    return Timing(took.least / len(states), took.median / len(states))


if __name__ == "__main__":
    report.main("evaluate", QUESTION, measure)
