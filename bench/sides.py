# SPDX-License-Identifier: BSD-3-Clause
"""Sides that do the same work: checked against ours, timed in turns, one row each with the ratio ours / theirs.

The time of a ratio is the least of many.  A side that was compiled in several ways, or lies at several places in
memory, is measured in each, and its best counts.
"""

from __future__ import annotations

import ctypes
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import clock
import numpy as np
from report import Row

AGREE = 1e-9  # relative; beyond, a peer does something else
LINE = 64  # bytes
NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Side:
    """One way to do a work.

    ``batches`` make n calls each and return seconds; ``result`` is what it gave at all states, None where nothing is to
    be checked; ``per`` are the states of one call.  ``error`` stands in the stead of a difference from ours;
    ``each`` makes as many calls as its array has places, and fills in the seconds of each.
    """

    name: str
    batches: Sequence[Callable[[int], float]]
    result: np.ndarray | None = None
    compiler: str = ""
    operations: int | str = ""
    per: int = 1
    error: float | str = ""
    each: Callable[[np.ndarray], None] | None = None


def rows(work: str, sides: Sequence[Side], missing: Sequence[str], repeats: int) -> list[Row]:
    """The first side is ours; names of peers that are not installed make rows without time."""
    ours = sides[0]
    checked = [replace(side, error=_error(side, ours)) for side in sides]
    best = _best([side for side in checked if _agrees(side)], repeats)
    table = []
    for name, (took, side) in best.items():
        row: Row = {"case": f"{work}: {name}", "compiler": side.compiler, "ns_min": took.least, "ns": took.median}
        row["ours/it"] = "" if name == ours.name else best[ours.name][0].least / took.least
        table.append(row | {"ops": side.operations, "error": side.error})
    different = {side.name: side.error for side in checked if side.name not in best}
    table += [_untimed(f"{work}: {name}", "differs", error) for name, error in different.items()]
    return table + rows_of_missing(work, missing)


def _error(side: Side, ours: Side) -> float | str:
    return side.error if side.result is None else difference(side.result, ours.result)


def _agrees(side: Side) -> bool:
    """A side without result has an error of its own, which is no difference."""
    return side.result is None or side.error <= AGREE


def _best(sides: Sequence[Side], repeats: int) -> dict[str, tuple[clock.Timing, Side]]:
    """The fastest of the sides of one name, and of the places of each; time of a state, in ns."""
    calls = [(side, batch) for side in sides for batch in side.batches]
    timings = clock.interleaved([batch for _, batch in calls], repeats)
    best: dict[str, tuple[clock.Timing, Side]] = {}
    for (side, _), took in zip(calls, timings, strict=True):
        took = clock.Timing(took.least / side.per, took.median / side.per)
        best[side.name] = min(best.get(side.name, (took, side)), (took, side), key=lambda pair: pair[0].least)
    return best


def rows_of_missing(work: str, missing: Sequence[str]) -> list[Row]:
    """Rows without time, of packages that are not installed."""
    return [_untimed(f"{work}: {package}", NOT_COMPARED) for package in missing]


def _untimed(case: str, why: str, error: float | str = "") -> Row:
    return {"case": case, "compiler": "", "ns_min": why, "ns": "", "ours/it": "", "ops": "", "error": error}


def in_milliseconds(rows: Sequence[Row]) -> list[Row]:
    """The rows of a slow work."""
    names = {"ns": "ms", "ns_min": "ms_min"}
    times = [{name: row[name] / 1e6 for name in names if isinstance(row[name], float)} for row in rows]
    return [{names.get(k, k): v for k, v in (row | ms).items()} for row, ms in zip(rows, times, strict=True)]


def difference(theirs: np.ndarray, ours: np.ndarray) -> float:
    """The largest over states of ‖theirs − ours‖ / ‖ours‖."""
    theirs, ours = (np.asarray(a, dtype=float).reshape(len(ours), -1) for a in (theirs, ours))
    off = np.linalg.norm(theirs - ours, axis=1) / np.linalg.norm(ours, axis=1)
    return float(off.max()) if np.isfinite(off).all() else np.inf


KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)


class Arrays(NamedTuple):
    """Arguments of a kernel in C: states, a row a call, inputs, constants, shape of the result, numbers of scratch."""

    x: np.ndarray
    r: np.ndarray
    c: np.ndarray
    out: Sequence[int]
    n_work: int = 2


def in_c(name: str, addresses: Sequence[int], arrays: Arrays, **facts: Any) -> Side:
    """A side with the signature of a kernel of ours, at several places in memory."""
    x, r, c = map(_aligned, arrays[:3])
    out, work = _aligned(np.zeros(arrays.out)), _aligned(np.zeros(max(arrays.n_work, 2)))
    kernel, result = KERNEL(addresses[0]), []
    for row in x:
        kernel(0.0, row.ctypes.data, r.ctypes.data, c.ctypes.data, work.ctypes.data, out.ctypes.data)
        result.append(out.copy())
    batches = [clock.kernel_batch(address, x, r, c, work, out) for address in addresses]
    each = clock.kernel_each(addresses[0], x, r, c, work, out)
    return Side(name, batches, np.array(result), each=each, **facts)


def _aligned(a: np.ndarray) -> np.ndarray:
    """A contiguous copy that starts where a cache line does, as vectors in C want it."""
    room = np.empty(a.size + LINE // 8)
    start = -room.ctypes.data % LINE // 8
    out = room[start : start + a.size].reshape(a.shape)
    out[...] = a
    return out


def in_python(name: str, statement: str, states: Sequence[Any], names: dict[str, Any], **facts: Any) -> Side:
    """A side that Python calls: a statement, for each ``x`` of the states in turn."""
    return Side(name, [clock.statement_batch(statement, states, names)], per=len(states), **facts)


def repeated(run: Callable[[], Any]) -> Callable[[int], float]:
    """A batch of runs."""
    return timeit.Timer(run).timeit


def rowwise(name: str, statement: str, x: np.ndarray, names: dict[str, Any], **facts: Any) -> Side:
    """A side that Python calls once for all states, which are ``x``; a row of the result for each."""
    return Side(name, [clock.statement_batch(statement, [x], names)], per=len(facts["result"]), **facts)
