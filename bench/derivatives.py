# SPDX-License-Identifier: BSD-3-Clause
"""Time of derivatives of ẋ and of the places of all bodies in C, and of products and second derivatives from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import models
import numpy as np
import peers
import report
import shared
import sides
import slopes
import tasks
from clock import REPEATS, interleaved, kernel_batch, kernel_nanoseconds, reference
from sides import repeated

import kanecore as kc

QUESTION = "how long do ∂ẋ/∂(x, r), positions and orientations take in C, products and ∂²ẋ/∂(x, r)² from Python [ns]?"
KERNELS = ("rhs", "linearize", "positions", "orientations")
PRODUCTS = ("rhs", "rhs_tangent", "rhs_gradient", "linearize")
IN_C, FROM_PYTHON = "derivatives beside rhs, in C", "derivatives from Python"
BESIDE = {
    "derivatives": ("derivatives beside peers, from Python", slopes.in_python),
    "derivatives_in_c": ("derivatives beside peers, in C", slopes.in_c),
    "derivatives_in_batch": ("derivatives beside peers, a state of a batch", slopes.in_batch),
}
STEP = 1e-6
SHORT = 2_000  # operations of rhs: of longer ones CasADi's Hessians take a minute to compile


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One table, one row a model and kernel; the smallest run takes prebuilt models, the whole one compiles."""
    if smallest:
        return {
            "derivatives in C": [
                _row(kc.load(name), name, kernel, 5) for name in ("rrp", "arm7") for kernel in KERNELS
            ],
            IN_C: _multiples("rrp", 5),
            FROM_PYTHON: _calls("rrp", 5, 2),
            **_beside([models.robot()], ["linearize", "rhs_jvp"], 5),
        }
    rows = []
    for mechanism in (models.arm(), models.tree(), models.chain(5), models.chain(20)):
        dyn = kc.compile(mechanism.build(), parameters=mechanism.parameters, cache=False)
        rows += [_row(dyn, mechanism.name, kernel, REPEATS) for kernel in KERNELS]
    shown = ("arm7", "panda", "anymal_c", "g1", "four_bar", "five_bar_bodies", "stewart_platform")
    in_c = [row for name in shown for row in _multiples(name, REPEATS)]
    calls = [row for name in ("arm7", "four_bar", "anymal_c") for row in _calls(name, REPEATS, 100)]
    robots = [models.arm(), models.panda(), models.quadruped(), models.humanoid()]
    return {"derivatives in C": rows, IN_C: in_c, FROM_PYTHON: calls, **_beside(robots, slopes.KERNELS, REPEATS)}


def _beside(robots: Iterable[models.Mechanism], kernels: Iterable[str], repeats: int) -> dict[str, list[report.Row]]:
    """Derivatives of u̇, M⁻¹ and products beside those of packages that differentiate recursions."""
    tables: dict[str, list[report.Row]] = {title: [] for title, _ in BESIDE.values()}
    for mechanism in robots:
        task = tasks.compiled_once(mechanism, next(iter(shared.compilers())))
        for kernel in kernels:
            work = slopes.Work(task, kernel)
            for area, (title, ours) in BESIDE.items():
                mine = ours(work)
                theirs, missing = peers.sides(area, work)
                tables[title] += sides.rows(f"{mechanism.name}, {kernel}", [mine, *theirs], missing, repeats)
    return tables


def _multiples(name: str, repeats: int) -> list[report.Row]:
    """Kernels in C in turns; ``rhs`` is how many calls of rhs they take, ``column`` one of linearize in products."""
    dyn = kc.load(name)
    x, v = _start(dyn), np.linspace(-1.0, 1.0, dyn.n_x)
    dyn.rhs_jvp(0.0, x, v), dyn.rhs_vjp(0.0, x, v), dyn.linearize(0.0, x)  # compiles their groups
    row = np.concatenate([x, np.zeros(dyn.n_u + dyn.n_constraints), v, np.zeros(dyn.n_r)])
    inputs, work, out = np.zeros(dyn.n_r), np.zeros(dyn.n_work), np.zeros(dyn.n_x * (dyn.n_x + dyn.n_r))
    calls = [kernel_batch(dyn.address(kernel), row[None], inputs, dyn.prepared, work, out) for kernel in PRODUCTS]
    took = dict(zip(PRODUCTS, interleaved(calls, repeats), strict=True))
    rows: list[report.Row] = []
    for kernel, t in took.items():
        times = {"ns": t.median, "ns_min": t.least, "rhs": t.least / took["rhs"].least}
        operations = dyn.info["operations"].get(kernel, "")
        rows.append({"case": f"{name}: {kernel}", **times, "column": "", "ops": operations})
    rows[-1]["column"] = took["linearize"].least / (dyn.n_x + dyn.n_r) / took["rhs_tangent"].least
    return rows


def _start(dyn: kc.CompiledModel) -> np.ndarray:
    start = np.zeros(dyn.n_x)
    for unit in dyn.unit:
        start[list(unit)] = 0.5
    return dyn.consistent(0.0, start + 0.1 * models.states(dyn.n_x)[0], None)


def _calls(name: str, repeats: int, steps: int) -> list[report.Row]:
    """Calls with one state, measured in turns; ``rhs`` is how many calls of rhs they take."""
    dyn = kc.load(name)
    x = _start(dyn)
    calls = _products(dyn, x) | _through_casadi(dyn, x) | _rollouts(dyn, x, steps)
    for call in calls.values():
        call(), call()  # compile their groups, the second time in lanes
    took = dict(zip(calls, interleaved([repeated(call) for call in calls.values()], repeats), strict=True))
    least = took["rhs"].least
    return [
        {"case": f"{name}: {call}", "ns": t.median, "ns_min": t.least, "rhs": t.least / least}
        for call, t in took.items()
    ]


def _products(dyn: kc.CompiledModel, x: np.ndarray) -> dict[str, Callable[[], Any]]:
    v, udot = np.linspace(-1.0, 1.0, dyn.n_x), np.linspace(-1.0, 1.0, dyn.n_u)
    out = np.zeros((dyn.n_x, dyn.n_x)), np.zeros((dyn.n_x, dyn.n_r))
    calls: dict[str, Callable[[], Any]] = {
        "rhs": lambda: dyn.rhs(0.0, x),
        "rhs_jvp": lambda: dyn.rhs_jvp(0.0, x, v),
        "rhs_vjp": lambda: dyn.rhs_vjp(0.0, x, v),
        "rhs_hessian": lambda: dyn.rhs_hessian(0.0, x, v),
        "inverse_dynamics_jvp": lambda: dyn.jvp("inverse_dynamics", 0.0, x, udot, v),
        "inverse_dynamics_vjp": lambda: dyn.vjp("inverse_dynamics", 0.0, x, udot, udot),
        "linearize": lambda: dyn.linearize(0.0, x),
        "linearize(out=)": lambda: dyn.linearize(0.0, x, out=out),
        "mass_matrix_inverse": lambda: dyn.mass_matrix_inverse(0.0, x),
    }
    return calls


def _through_casadi(dyn: kc.CompiledModel, x: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The same second derivatives by the function that we make for CasADi, of short equations and where it is there."""
    if not find_spec("casadi") or dyn.info["operations"]["rhs"] > SHORT:
        return {}
    import casadi as ca

    state, inputs, p = (ca.MX.sym(name, n) for name, n in (("x", dyn.n_x), ("r", dyn.n_r), ("p", dyn.n_p)))
    weights = ca.DM(np.linspace(-1.0, 1.0, dyn.n_x))
    hessian, _ = ca.hessian(ca.dot(weights, dyn.casadi()(0.0, state, inputs, p)), ca.vertcat(state, inputs))
    f = ca.Function("hessian", [state, inputs, p], [ca.densify(hessian)])
    out = np.zeros((dyn.n_x + dyn.n_r,) * 2)
    given = (x, np.zeros(dyn.n_r), np.array(list(dyn.parameters.values())))
    buffer, trigger = f.buffer()
    for i, array in enumerate(given):
        buffer.set_arg(i, memoryview(array))
    buffer.set_res(0, memoryview(out.reshape(-1)))

    def call(_: Any = (buffer, given, out)) -> None:  # which CasADi knows by their addresses alone
        trigger()

    call()
    ours = dyn.rhs_hessian(0.0, x, np.linspace(-1.0, 1.0, dyn.n_x))
    assert np.allclose(out, ours, rtol=1e-9, atol=1e-9 * np.abs(ours).max())
    return {"rhs_hessian through CasADi": call}


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
