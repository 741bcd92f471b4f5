# SPDX-License-Identifier: BSD-3-Clause
"""The longest of a million calls, as a control loop would see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import clock
import models
import numpy as np
import peers
import report
import shared
import sides
import tasks

QUESTION = "how long does each of many calls of u̇ in C take [ns], clock included: quantiles and the worst?"
CALLS = 1_000_000
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "worst": 1.0}


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a model and side; the empty loop reads the clock and calls nothing."""
    seconds = np.empty(10_000 if smallest else CALLS)
    rows = []
    for task in _smallest_tasks() if smallest else _tasks():
        theirs, missing = peers.sides("control", task)
        offered = [*tasks.ours_in_c(task), *theirs]
        rows += [_row(f"{task.name}: empty loop", clock.empty_each(), seconds)]
        best: dict[str, report.Row] = {}
        for side in offered:
            if sides.difference(side.result, task.udot) <= sides.AGREE:
                row = _row(f"{task.name}: {side.name}", side.each, seconds) | {"compiler": side.compiler}
                best[side.name] = min(best.get(side.name, row), row, key=lambda r: r["p50"])
        rows += best.values()
        rows += [{"case": f"{task.name}: {peer}", "p50": sides.NOT_COMPARED} for peer in missing]
    return {"calls one by one": rows}


def _smallest_tasks() -> list[tasks.Task]:
    return [tasks.prebuilt(models.robot())]


def _tasks() -> Iterator[tasks.Task]:
    for mechanism in (models.arm(), models.tree(), models.bicycle(), models.squeezer()):
        yield tasks.compiled(mechanism, True, list(shared.compilers()), 1)


def _row(name: str, each: Callable[[np.ndarray], None], seconds: np.ndarray) -> report.Row:
    each(seconds[:1000])  # wakes caches and predictors
    each(seconds)
    values = np.quantile(seconds, list(QUANTILES.values()))
    row = {"case": name} | {label: 1e9 * float(v) for label, v in zip(QUANTILES, values, strict=True)}
    return row | {"p99.9/p50": row["p99.9"] / row["p50"]}


if __name__ == "__main__":
    report.main("control", QUESTION, measure)
