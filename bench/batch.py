# SPDX-License-Identifier: BSD-3-Clause
"""Time of u̇ for each of the 4096 states of one call."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import models
import numpy as np
import peak
import peers
import report
import shared
import sides
import tasks
from clock import REPEATS, interleaved

import kanecore as kc

QUESTION = "how long does u̇ take per state [ns], of 4096 in one call?"
THREADS = 2
MANY = (4096, 65536)  # states of a call


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a model and side; the first of a model is ours on one thread. Then one row a number of states."""
    rows = []
    for task in _smallest_tasks() if smallest else _tasks():
        theirs, missing = peers.sides("batch", task)
        rows += sides.rows(task.name, [*ours(task), *theirs], missing, 3 if smallest else REPEATS)
    arm = models.robot() if smallest else models.arm()
    threads = [_threads(arm, n, 3 if smallest else REPEATS) for n in (MANY[:1] if smallest else MANY)]
    return {"u̇ per state": rows, "two threads": threads}


def _smallest_tasks() -> list[tasks.Task]:
    return [tasks.prebuilt(models.robot()), tasks.prebuilt(models.disc())]


def _tasks() -> Iterator[tasks.Task]:
    compilers = list(shared.compilers())
    yield tasks.compiled(models.arm(), False, compilers, 1)
    gallery = (models.arm(), models.tree(), models.chain(20), models.robot(), models.bicycle(), models.disc())
    for mechanism in (*gallery, models.panda(), models.quadruped(), models.humanoid()):
        yield tasks.compiled(mechanism, True, compilers, 1)


def ours(task: tasks.Task) -> list[sides.Side]:
    """One call on one thread and on two, in single precision, and the scalar kernel in a loop in C."""
    offered: list[sides.Side] = []
    for compiler, (dyn, *_) in task.compiled.items():
        names = {"dyn": dyn, "out": np.empty((len(task.rows), dyn.n_u))}
        result = dyn.udot(0.0, task.rows)
        facts = {"result": result, "compiler": compiler, "operations": dyn.info["operations"]["udot"]}
        offered.append(sides.rowwise("kanecore", "dyn.udot(0.0, x, out=out)", task.rows, names, **facts))
        if "threads" in inspect.signature(dyn.udot).parameters:
            statement = f"dyn.udot(0.0, x, out=out, threads={THREADS})"
            offered.append(sides.rowwise(f"kanecore, {THREADS} threads", statement, task.rows, names, **facts))
    if "real" in inspect.signature(kc.compile).parameters:
        offered.append(_single(task))
    scalar = tasks.ours_in_c(task)
    return offered + [sides.Side("kanecore, scalar kernel", s.batches, None, s.compiler, s.operations) for s in scalar]


def _threads(mechanism: models.Mechanism, n: int, repeats: int) -> report.Row:
    """u̇ of n states on one thread and on two, in turns with loops of multiply-adds on both cores.

    ``loops`` is how much longer two of these take side by side than one alone: 1 where both cores are ours.
    """
    dyn = tasks.compiled_once(mechanism, next(iter(shared.compilers()))).dyn
    x = np.tile(models.states(dyn.n_x), (n // models.N_STATES, 1))
    out = np.empty((n, dyn.n_u))
    loop = _loop()
    with ThreadPoolExecutor(THREADS) as pool:
        calls: list[Callable[[int], float]] = [
            sides.repeated(lambda: dyn.udot(0.0, x, out=out)),
            sides.repeated(lambda: dyn.udot(0.0, x, out=out, threads=THREADS)),
            loop,
            lambda rounds: max(pool.map(loop, [rounds] * THREADS)),
        ]
        one, two, alone, together = (took.least for took in interleaved(calls, repeats))
    row: report.Row = {"case": f"{mechanism.name}, {n} states", "one": one / n, "two": two / n}
    return row | {"two/one": two / one, "loops": together / alone}


def _loop() -> Callable[[int], float]:
    """Rounds of the multiply-adds of peak.c."""
    text = Path(__file__).with_name("peak.c").read_text(encoding="utf-8")
    (probe,) = shared.copies(shared.library(text, next(iter(shared.compilers())), peak.FLAGS), 1)
    probe.vectors.restype, probe.vectors.argtypes = ctypes.c_double, [ctypes.c_long]
    return probe.vectors


def _single(task: tasks.Task) -> sides.Side:
    """float32 in and out, with its difference from double as the error."""
    mechanism = task.mechanism
    dyn = kc.compile(mechanism.build(), parameters=mechanism.parameters, bake=task.numbers, real="float")
    dyn.inputs.update(zip(dyn.input_names, task.r, strict=True))
    x = task.rows.astype(np.float32)
    names = {"dyn": dyn, "out": np.empty((len(x), dyn.n_u), dtype=np.float32)}
    side = sides.rowwise("kanecore, float", "dyn.udot(0.0, x, out=out)", x, names, result=dyn.udot(0.0, x))
    return sides.Side(side.name, side.batches, None, per=side.per, error=sides.difference(side.result[:64], task.udot))


if __name__ == "__main__":
    report.main("batch", QUESTION, measure)
