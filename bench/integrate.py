# SPDX-License-Identifier: BSD-3-Clause
"""How long does an integration take, and how far is its end from the truth?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import models
import numpy as np
import peers
import report
import sides
import tasks
from scipy.integrate import solve_ivp

QUESTION = "how long does an integration take [ms], and how far is its end from that at a tolerance of 1e-13?"
TOLERANCE = 1e-8
REPEATS = 7


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion from x0 to the time ``end`` under the inputs of the task; ``tolerance`` is relative and absolute."""

    task: tasks.Task
    x0: np.ndarray
    end: float
    tolerance: float = TOLERANCE

    def by_scipy(self, rhs: Callable[[float, np.ndarray], np.ndarray]) -> np.ndarray:
        """The state at the end, by DOP853 in Python."""
        options: Mapping[str, Any] = {"method": "DOP853", "rtol": self.tolerance, "atol": self.tolerance}
        return solve_ivp(rhs, (0.0, self.end), self.x0, **options).y[:, -1]

    def ours(self, method: str, tolerance: float | None = None) -> np.ndarray:
        tolerances = {"rtol": tolerance or self.tolerance, "atol": tolerance or self.tolerance}
        return self.task.dyn.simulate((0.0, self.end), self.x0, method=method, **tolerances).x[-1]


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a motion and side."""
    rows = []
    for problem in _problems(smallest):
        rows += _rows(problem, 2 if smallest else REPEATS)
    return {"integration": rows}


def _problems(smallest: bool) -> list[Problem]:
    """Motions that forget little of their start, so that their ends can be compared."""
    if smallest:
        return [_problem(models.robot(), 0.2), _problem(models.linkage(), 0.2)]
    ends = {models.robot: 2.0, models.arm: 1.0, models.disc: 5.0, models.bicycle: 2.0, models.linkage: 5.0}
    return [_problem(make(), end) for make, end in ends.items()] + [_problem(models.squeezer(), 0.03)]


def _problem(mechanism: models.Mechanism, end: float) -> Problem:
    task = tasks.prebuilt(mechanism)
    x0 = task.dyn.consistent(0.0, task.dyn.state(**mechanism.start)) if mechanism.start else 0.5 * task.x[0]
    return Problem(task, x0, end)


def _rows(problem: Problem, repeats: int) -> list[report.Row]:
    truth = problem.ours("dop853", 1e-13)
    runs: list[tuple[str, Callable[[], np.ndarray]]] = [
        ("kanecore dop853", lambda: problem.ours("dop853")),
        ("kanecore dopri5", lambda: problem.ours("dopri5")),
    ]
    theirs, missing = peers.sides("integrate", problem)
    offered = [_side(name, run, truth) for name, run in [*runs, *theirs]]
    return sides.in_milliseconds(sides.rows(problem.task.name, offered, missing, repeats))


def _side(name: str, run: Callable[[], np.ndarray], truth: np.ndarray) -> sides.Side:
    error = float(np.linalg.norm(run() - truth) / np.linalg.norm(truth))
    return sides.Side(name, [sides.repeated(run)], None, error=error)


if __name__ == "__main__":
    report.main("integrate", QUESTION, measure)
