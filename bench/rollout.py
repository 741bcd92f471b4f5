# SPDX-License-Identifier: BSD-3-Clause
"""Time of a step of RK4 where many motions go on side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import models
import numpy as np
import peers
import report
import shared
import sides
import tasks

QUESTION = "how long does a step of RK4 take [ns], of 1024 motions of 100 steps in one call?"
MOTIONS, STEPS, DT = 1024, 100, 1e-3
THREADS = 2
REPEATS = 15


@dataclass(frozen=True, eq=False)
class Work:
    """Motions of a task from ``x0`` (motions, n_x), under its inputs."""

    task: tasks.Task
    x0: np.ndarray
    steps: int

    def ours(self, threads: int = 1) -> Callable[[], np.ndarray]:
        """All states, (motions, steps + 1, n_x)."""
        out = np.empty((len(self.x0), self.steps + 1, self.x0.shape[1]))
        return lambda: self.task.dyn.rollout(self.x0, dt=DT, steps=self.steps, threads=threads, out=out)

    def one_by_one(self) -> np.ndarray:
        """The states at the ends of some runs of `simulate`: those of the first motions."""
        span = (0.0, self.steps * DT)
        runs = [self.task.dyn.simulate(span, x, method="rk4", dt=DT, t_eval=span[1:]) for x in self.x0[:16]]
        return np.array([run.x[-1] for run in runs])

    def side(
        self, name: str, run: Callable[[], np.ndarray], ends: np.ndarray, motions: int | None = None
    ) -> sides.Side:
        """One way; ``ends`` are the last states of some motions."""
        truth = self.ours()()[: len(ends), -1]
        per = (motions or len(self.x0)) * self.steps
        return sides.Side(name, [sides.repeated(run)], None, per=per, error=sides.difference(ends, truth))


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a model and side; the first of a model is ours on one thread."""
    rows = []
    for work in [_work(tasks.prebuilt(models.robot()), 2, 10)] if smallest else _works():
        rows += _rows(work, 3 if smallest else REPEATS)
    return {"a step of RK4": rows}


def _works() -> Iterator[Work]:
    compiler = list(shared.compilers())[:1]
    for mechanism in (models.arm(), models.robot(), models.tree()):
        yield _work(tasks.compiled(mechanism, True, compiler, 1))
    for mechanism in (models.arm(), models.disc()):
        yield _work(tasks.prebuilt(mechanism))


def _work(task: tasks.Task, motions: int = MOTIONS, steps: int = STEPS) -> Work:
    return Work(task, np.resize(task.x, (motions, task.dyn.n_x)), steps)


def _rows(work: Work, repeats: int) -> list[report.Row]:
    one, two = work.ours(), work.ours(THREADS)
    alone = work.one_by_one()
    theirs, missing = peers.sides("rollout", work)
    offered = [
        work.side("kanecore", one, one()[:, -1]),
        work.side(f"kanecore, {THREADS} threads", two, two()[:, -1]),
        work.side("kanecore, simulate", work.one_by_one, alone, len(alone)),
    ]
    return sides.rows(work.task.name, [*offered, *theirs], missing, repeats)


if __name__ == "__main__":
    report.main("rollout", QUESTION, measure)
