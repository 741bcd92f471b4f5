# SPDX-License-Identifier: BSD-3-Clause
"""Time of derivatives of ẋ and of the places of all bodies in C, and of products and second derivatives from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import models
import numpy as np
import peers
import report
import shared
import sides
import tasks
from clock import REPEATS, interleaved, kernel_nanoseconds, reference
from sides import repeated

import kanecore as kc

QUESTION = "how long do ∂ẋ/∂(x, r), positions and orientations take in C, products and ∂²ẋ/∂(x, r)² from Python [ns]?"
KERNELS = ("rhs", "linearize", "positions", "orientations")
FROM_PYTHON = "derivatives from Python"
BESIDE = "derivatives beside peers, from Python"
STEP = 1e-6


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One table, one row a model and kernel; the smallest run takes prebuilt models, the whole one compiles."""
    if smallest:
        return {
            "derivatives in C": [
                _row(kc.load(name), name, kernel, 5) for name in ("rrp", "arm7") for kernel in KERNELS
            ],
            FROM_PYTHON: _calls("rrp", 5, 2),
            BESIDE: _beside(models.arm(), 5),
        }
    rows = []
    for mechanism in (models.arm(), models.tree(), models.chain(5), models.chain(20)):
        dyn = kc.compile(mechanism.build(), parameters=mechanism.parameters, cache=False)
        rows += [_row(dyn, mechanism.name, kernel, REPEATS) for kernel in KERNELS]
    calls = [row for name in ("arm7", "four_bar", "anymal_c") for row in _calls(name, REPEATS, 100)]
    robots = (models.arm, models.panda, models.quadruped, models.humanoid)
    beside = [row for robot in robots for row in _beside(robot(), REPEATS)]
    return {"derivatives in C": rows, FROM_PYTHON: calls, BESIDE: beside}


def _beside(mechanism: models.Mechanism, repeats: int) -> list[report.Row]:
    """[A, B] and M⁻¹ beside those of packages that differentiate recursions."""
    task = tasks.compiled_once(mechanism, next(iter(shared.compilers())))
    dyn, rows = task.dyn, []
    for kernel in ("linearize", "mass_matrix_inverse"):
        call = getattr(dyn, kernel)
        result = np.array([call(0.0, x)[0] if kernel == "linearize" else call(0.0, x) for x in task.x])
        result = result[:, dyn.n_q :] if kernel == "linearize" else result
        facts = {"result": result, "operations": dyn.info["operations"].get(kernel, "")}
        ours = sides.in_python("kanecore", "call(0.0, x)", list(task.x), {"call": call}, **facts)
        theirs, missing = peers.sides("derivatives", (kernel, task))
        rows += sides.rows(f"{mechanism.name}, {kernel}", [ours, *theirs], missing, repeats)
    return rows


def _calls(name: str, repeats: int, steps: int) -> list[report.Row]:
    """Calls with one state, measured in turns; ``rhs`` is how many calls of rhs they take."""
    dyn = kc.load(name)
    start = np.zeros(dyn.n_x)
    for unit in dyn.unit:
        start[list(unit)] = 0.5
    x = dyn.consistent(0.0, start + 0.1 * models.states(dyn.n_x)[0], None)
    calls = _products(dyn, x) | _rollouts(dyn, x, steps)
    for call in calls.values():
        call(), call()  # compile their groups, the second time in lanes
    took = dict(zip(calls, interleaved([repeated(call) for call in calls.values()], repeats), strict=True))
    least = took["rhs"].least
    return [
        {"case": f"{name}: {call}", "ns": t.median, "ns_min": t.least, "rhs": t.least / least}
        for call, t in took.items()
    ]


def _products(dyn: kc.CompiledModel, x: np.ndarray) -> dict[str, Callable[[], Any]]:
    v = np.linspace(-1.0, 1.0, dyn.n_x)
    calls: dict[str, Callable[[], Any]] = {
        "rhs": lambda: dyn.rhs(0.0, x),
        "rhs_jvp": lambda: dyn.rhs_jvp(0.0, x, v),
        "rhs_vjp": lambda: dyn.rhs_vjp(0.0, x, v),
        "rhs_hessian": lambda: dyn.rhs_hessian(0.0, x, v),
        "linearize": lambda: dyn.linearize(0.0, x),
        "mass_matrix_inverse": lambda: dyn.mass_matrix_inverse(0.0, x),
    }
    return calls


def _rollouts(dyn: kc.CompiledModel, x: np.ndarray, steps: int) -> dict[str, Callable[[], Any]]:
    """Calls of rollouts and of their gradients, of one row and of 512, by name."""
    weights, rows = np.ones(dyn.n_x), np.tile(x, (512, 1))
    calls: dict[str, Callable[[], Any]] = {}
    for name, start in (("", x), (", 512 rows", rows)):
        calls[f"rollout{name}"] = lambda start=start: dyn.rollout(start, dt=1e-3, steps=steps)
        calls[f"rollout_vjp{name}"] = lambda start=start: dyn.rollout_vjp(start, None, weights, dt=1e-3, steps=steps)
    calls["rollout_vjp by parameters, 512 rows"] = lambda: dyn.rollout_vjp(
        rows, None, weights, dt=1e-3, steps=steps, by_parameters=True
    )
    return calls


def _row(dyn: kc.CompiledModel, name: str, kernel: str, repeats: int) -> report.Row:
    x, r = models.states(dyn.n_x), models.inputs(dyn.n_r)
    dyn.inputs.update(zip(dyn.input_names, r, strict=True))
    n_out = dyn.n_x * (dyn.n_x + dyn.n_r) if kernel == "linearize" else int(np.size(getattr(dyn, kernel)(0.0, x[0])))
    dyn.linearize(0.0, x[0])  # compiles its group
    took = kernel_nanoseconds(dyn.address(kernel), x, r, dyn.prepared, dyn.n_work, n_out, repeats)
    row: report.Row = {"case": f"{name}: {kernel}", "ns": took.median, "ns_min": took.least}
    row["ops"] = dyn.info["operations"].get(kernel, "")
    row["chains"] = took.least / reference()["chain_ns"]
    row["error"] = _error(dyn, x[0]) if kernel == "linearize" else ""
    return row


def _error(dyn: kc.CompiledModel, x: np.ndarray) -> float:
    """The difference of ∂ẋ/∂x from central differences, beside its largest entry."""
    slopes, _ = dyn.linearize(0.0, x)
    step = STEP * np.eye(dyn.n_x)
    differences = (dyn.rhs(0.0, x + step) - dyn.rhs(0.0, x - step)).T / (2 * STEP)
    return float(np.abs(slopes - differences).max() / np.abs(slopes).max())


if __name__ == "__main__":
    report.main("derivatives", QUESTION, measure)
