# SPDX-License-Identifier: BSD-3-Clause
"""Time and steps of a stiff integration, and the error at its end.

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
    """One row a motion, tolerance and method; and one a motion and method of others."""
    rows, ratios = [], []
    for make in [PROBLEMS["damped_pendulum"]] if smallest else PROBLEMS.values():
        problem = make()
        truth = problem.run("rosenbrock", 1e-12).x[-1, 0]
        found = [
            _rows(problem, tolerance, truth, 2 if smallest else REPEATS)
            for tolerance in TOLERANCES[: 2 if smallest else None]
        ]
        rows += [row for each in found for row in each]
        ratios += _ratios(problem.dyn.name, found)
    return {"stiff integration": rows, "ours over theirs at equal errors": ratios}


def _ratios(motion: str, found: list[list[report.Row]]) -> list[report.Row]:
    """Ratios of steps and times for the error of theirs at each tolerance; the geometric mean over the tolerances.

    Steps and times go with powers of the error: between two of our tolerances a line of logarithms says ours, beyond
    the first or last one the line of the nearest two.
    """
    names = [str(row["case"]).rpartition(": ")[2] for row in found[0]]
    columns = {name: [rows[i] for rows in found] for i, name in enumerate(names)}
    ours = columns[names[0]]
    rows = []
    for name in names[1:]:
        row: report.Row = {"case": f"{motion}: {name}"}
        for of, key in (("steps", "steps"), ("ms", "ms_min")):
            at = [
                _at(float(row["error"]), [float(r["error"]) for r in ours], [float(r[key]) for r in ours])
                for row in columns[name]
            ]
            theirs = [float(r[key]) for r in columns[name]]
            row[of] = float(np.exp(np.mean(np.log(at) - np.log(theirs))))
        rows.append(row)
    return rows


def _at(error: float, errors: list[float], values: list[float]) -> float:
    """The value at an error, by the line of logarithms through its neighbours."""
    order = np.argsort(errors)
    x, y = np.log(errors)[order], np.log(values)[order]
    i = int(np.clip(np.searchsorted(x, np.log(error)), 1, len(x) - 1))
    return float(np.exp(y[i - 1] + (y[i] - y[i - 1]) * (np.log(error) - x[i - 1]) / (x[i] - x[i - 1])))


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
