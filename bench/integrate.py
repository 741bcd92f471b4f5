# SPDX-License-Identifier: BSD-3-Clause
"""Time of an integration, and the error at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import models
import numpy as np
import peers
import report
import shared
import sides
import tasks
from scipy.integrate import solve_ivp

import kanecore as kc

QUESTION = (
    "how long does an integration take [ms], how far is its end from that at a tolerance of 1e-13, and how far its "
    "energy from that of the start?"
)
TOLERANCE = 1e-8
REPEATS = 7


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion from x0 to the time ``end`` under the inputs of the task; ``tolerance`` is relative and absolute.

    ``conserves`` says that T + U stays.
    """

    task: tasks.Task
    x0: np.ndarray
    end: float
    tolerance: float = TOLERANCE
    conserves: bool = False

    def by_scipy(self, rhs: Callable[[float, np.ndarray], np.ndarray]) -> np.ndarray:
        """The state at the end, by DOP853 in Python."""
        options: Mapping[str, Any] = {"method": "DOP853", "rtol": self.tolerance, "atol": self.tolerance}
        return solve_ivp(rhs, (0.0, self.end), self.x0, **options).y[:, -1]

    def ours(self, method: str, tolerance: float | None = None) -> np.ndarray:
        """The state at the end alone, as all sides give it: nobody pays for interpolants."""
        return self._run(method, tolerance or self.tolerance, t_eval=[self.end], dense_output=False).x[-1]

    def _run(self, method: str, tolerance: float, **kept: Any) -> kc.Trajectory:
        control = {"method": method, "rtol": tolerance, "atol": tolerance}
        return self.task.dyn.simulate((0.0, self.end), self.x0, **control, **kept)

    def energy(self, x: np.ndarray) -> float:
        return float(self.task.dyn.kinetic_energy(0.0, x) + self.task.dyn.potential_energy(0.0, x))

    @cached_property
    def largest(self) -> float:
        """Kinetic energy of the motion, at a step of ours."""
        return float(np.max(self.task.dyn.kinetic_energy(0.0, self._run("dop853", self.tolerance).x)))

    def drift(self, end: np.ndarray) -> float | str:
        """Drift of the energy, in units of that; nothing where it is not conserved."""
        return abs(self.energy(end) - self.energy(self.x0)) / self.largest if self.conserves else ""


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a motion and side."""
    rows = []
    for problem in _problems(smallest):
        rows += _rows(problem, 2 if smallest else REPEATS)
    return {"integration": rows}


def _problems(smallest: bool) -> list[Problem]:
    """Motions that forget little of their start, so that their ends can be compared."""
    if smallest:
        return [_problem(models.robot(), 0.2), _problem(models.linkage(), 0.2), _cart(2, 0.2)]
    ends = {models.robot: 2.0, models.arm: 1.0, models.disc: 5.0, models.bicycle: 2.0, models.linkage: 5.0}
    return [_problem(make(), end) for make, end in ends.items()] + [
        _problem(models.squeezer(), 0.03),
        _cart(5, 10.0),
    ]


def _problem(mechanism: models.Mechanism, end: float) -> Problem:
    task = tasks.prebuilt(mechanism)
    x0 = task.dyn.consistent(0.0, task.dyn.state(**mechanism.start)) if mechanism.start else 0.5 * task.x[0]
    return Problem(task, x0, end)


def _cart(n: int, end: float) -> Problem:
    """A chain that is let go beside a cart on which no force acts: bent, and half a radian from where it hangs."""
    task = tasks.compiled_once(models.chain(n), next(iter(shared.compilers())), driven=False)
    x0 = np.zeros(task.dyn.n_x)
    x0[1], x0[2 : n + 1] = 0.5 - math.pi / 2, 0.2
    return Problem(task, x0, end, conserves=True)


def _rows(problem: Problem, repeats: int) -> list[report.Row]:
    truth = problem.ours("dop853", 1e-13)
    runs: list[tuple[str, Callable[[], np.ndarray]]] = [
        ("kanecore dop853", lambda: problem.ours("dop853")),
        ("kanecore dopri5", lambda: problem.ours("dopri5")),
    ]
    theirs, missing = peers.sides("integrate", problem)
    ends = {name: run() for name, run in [*runs, *theirs]}
    offered = [_side(name, run, ends[name], truth) for name, run in [*runs, *theirs]]
    rows = sides.in_milliseconds(sides.rows(problem.task.name, offered, missing, repeats))
    drifts = {f"{problem.task.name}: {name}": problem.drift(end) for name, end in ends.items()}
    return [row | {"drift": drifts.get(row["case"], "")} for row in rows]


def _side(name: str, run: Callable[[], np.ndarray], end: np.ndarray, truth: np.ndarray) -> sides.Side:
    error = float(np.linalg.norm(end - truth) / np.linalg.norm(truth))
    return sides.Side(name, [sides.repeated(run)], None, error=error)


if __name__ == "__main__":
    report.main("integrate", QUESTION, measure)
