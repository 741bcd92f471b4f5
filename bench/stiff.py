# SPDX-License-Identifier: BSD-3-Clause
"""How long does a stiff integration take, in how many steps, and how far is its end from the truth?

All sides have the compiled right-hand side and the exact Jacobian matrix of the same model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import clock
import numpy as np
import report
import sides
from stiff_problems import PROBLEMS, Problem

QUESTION = "how long does a stiff integration take [ms], in how many steps, and how far is its first coordinate off?"
TOLERANCES = (1e-4, 1e-6, 1e-8)
REPEATS = 5
METHODS = ("rosenbrock", "auto", "radau", "bdf", "cvode")


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a motion, tolerance and method."""
    rows = []
    for make in [PROBLEMS["damped_pendulum"]] if smallest else PROBLEMS.values():
        problem = make()
        truth = problem.run("rosenbrock", 1e-12).x[-1, 0]
        for tolerance in TOLERANCES[:1] if smallest else TOLERANCES:
            rows += _rows(problem, tolerance, truth, 2 if smallest else REPEATS)
    return {"stiff integration": rows}


def _rows(problem: Problem, tolerance: float, truth: float, repeats: int) -> list[report.Row]:
    there = [name for name in METHODS if name != "cvode" or find_spec("sksundae") is not None]
    runs: list[Callable[[], object]] = [lambda name=name: problem.run(name, tolerance) for name in there]  # type: ignore[misc]
    timings = clock.interleaved([sides.repeated(run) for run in runs], repeats)
    rows = []
    for name, took in zip(there, timings, strict=True):
        sol = problem.run(name, tolerance)
        row: report.Row = {"case": f"{problem.dyn.name}, {tolerance:.0e}: {name}", "ms_min": took.least * 1e-6}
        row |= {"ours/it": timings[0].least / took.least, "steps": sol.n_steps, "nfev": sol.nfev, "njev": sol.njev}
        rows.append(row | {"error": float(np.abs(sol.x[-1, 0] - truth))})
    return rows


if __name__ == "__main__":
    report.main("stiff", QUESTION, measure)
