# SPDX-License-Identifier: BSD-3-Clause
"""Time from a description to the motion of least squared inputs between two states, beside opty."""

from __future__ import annotations

import os
import tempfile
import time
from importlib import import_module
from typing import Any

import kanecore.optimal.solution
import numpy as np
import report
import sympy.physics.mechanics  # noqa: F401  # imports are no part of any time

import kanecore as kc
import kanecore._compile
import kanecore.export.casadi_text
import kanecore.model

QUESTION = "how long does it take from a description to the motion of least squared inputs between two states?"
CASES = {
    "cart_pole": (2.0, {}, {"theta": np.pi}),
    "planar_2r": (2.0, {"q1": -np.pi / 2}, {"q1": np.pi / 2}),
    "furuta_pendulum": (2.0, {}, {"theta2": np.pi}),
    "rrp": (2.0, {"d3": 0.2}, {"theta1": 1.0, "theta2": 0.5, "d3": 0.3}),
    "quadrotor": (2.0, {}, {"x": 1.0, "y": 1.0, "z": 1.0}),
    "arm7": (2.0, {}, dict(zip([f"q{i}" for i in range(1, 8)], 0.5 * (-1.0) ** np.arange(7), strict=True))),
}
INTERVALS = 100


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Seconds to build and to solve, iterations, and the optimum, of the same program: backward Euler.

    ``build`` is from the gallery's module to the first iteration, with an empty cache; ``warm`` with a full one.
    ``default`` is what users get: Hermite and Simpson's rule, with the mesh refined to an interval error of 1e-5.
    """
    return {name: _rows(name, 10 if smallest else INTERVALS) for name in ([*CASES][:1] if smallest else CASES)}


def _rows(name: str, n: int) -> list[report.Row]:
    duration, first, last = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("KANECORE_CACHE_DIR")
        os.environ["KANECORE_CACHE_DIR"] = folder
        try:
            rows = _ours(name, duration, first, last, n)
        finally:
            os.environ.pop("KANECORE_CACHE_DIR")
            os.environ |= {} if before is None else {"KANECORE_CACHE_DIR": before}
    try:
        rows.append(_opty(name, duration, first, last, n))
    except ImportError:
        rows.append({"case": "opty", "build": "not compared"})
    theirs = rows[-1]
    for row in rows[:-1]:
        if "optimum" in theirs and abs(row["optimum"] / theirs["optimum"] - 1.0) < 1e-6:
            row |= {f"{key}/opty": row[key] / theirs[key] for key in ("build", "solve")}
    return rows


def _ours(name: str, duration: float, first: Any, last: Any, n: int) -> list[report.Row]:
    rows = []
    for case in ("backward Euler", "warm", "default"):
        begin = time.perf_counter()
        module = import_module(f"kanecore.gallery.{name}")
        dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
        start, end = dyn.state(first), dyn.state(last)
        names = [*dyn.coordinate_names, *dyn.speed_names]
        guess = dict(zip(names, np.linspace(start, end, n + 1).T, strict=True))
        if case != "default":
            options: Any = {"method": "backward-euler", "intervals": n, "refinements": 0}
        else:
            options = {}
        found = dyn.optimize(
            duration, start=start, end=dict(zip(names, end, strict=True)), guess=guess,
            cost=" + ".join(f"{r}**2" for r in dyn.input_names), **options,
        )  # fmt: skip
        solve = found.seconds["functions"] + found.seconds["solver"]
        seconds = time.perf_counter() - begin - solve - found.seconds["check"]
        rows.append(_row(case, seconds, solve, found.seconds["functions"], found.iterations, found.cost))
        rows[-1]["interval_error"] = found.interval_error
    return rows


def _opty(name: str, duration: float, first: Any, last: Any, n: int) -> report.Row:
    from peers import opty

    begin = time.perf_counter()
    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    dyn = kc.load(name)
    start, end = dyn.state(first), dyn.state(last)
    values = {symbol: dyn.parameters[symbol.name] for symbol in model.parameters}
    problem = opty.least_inputs(model, values, duration, (start, end), None, n)
    build = time.perf_counter() - begin
    guess = np.concatenate([np.linspace(start, end, n + 1).T.ravel(), np.full((n + 1) * dyn.n_r, 0.1)])
    _, found = problem.solve(guess)
    row = _row("opty", build, problem.seconds, problem.functions, problem.iterations, found["obj_val"])
    return row if found["status"] == 0 else row | {"case": f"opty, status {found['status']}"}


def _row(case: str, build: float, solve: float, functions: float, iterations: int, optimum: float) -> report.Row:
    row: report.Row = {"case": case, "build": build, "solve": solve, "functions": functions}
    return row | {"iterations": iterations, "optimum": optimum}


if __name__ == "__main__":
    print(report.run("optimal_motions", QUESTION, measure, False))
