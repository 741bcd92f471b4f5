# SPDX-License-Identifier: BSD-3-Clause
"""Sides that do the same work: checked against ours, timed in turns, one row each with the ratio ours / theirs.

The time of a ratio is the least of many.  A side that was compiled in several ways, or lies at several places in
memory, is measured in each, and its best counts.
"""

from __future__ import annotations

import ctypes
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    errors = [side.error if side.result is None else difference(side.result, ours.result) for side in sides]
    good = [i for i, e in enumerate(errors) if not (sides[i].result is not None and e > AGREE)]
    calls = [(i, batch) for i in good for batch in sides[i].batches]
    timings = clock.interleaved([batch for _, batch in calls], repeats)
    best: dict[str, tuple[float, float, int]] = {}
    for (i, _), took in zip(calls, timings, strict=True):
        least, median = (ns / sides[i].per for ns in took)
        best[sides[i].name] = min(best.get(sides[i].name, (np.inf, np.inf, i)), (least, median, i))
    out = []
    for name, (least, median, i) in best.items():
        row: Row = {"case": f"{work}: {name}", "compiler": sides[i].compiler, "ns_min": least, "ns": median}
        row["ours/it"] = best[ours.name][0] / least if name != ours.name else ""
        out.append(row | {"ops": sides[i].operations, "error": errors[i]})
    empty: Row = {"compiler": "", "ns_min": NOT_COMPARED, "ns": "", "ours/it": "", "ops": "", "error": ""}
    names = [side.name for side in sides]
    for i in sorted(set(range(len(sides))) - set(good)):
        if names[i] not in best:
            out.append({"case": f"{work}: {names[i]}", **empty, "ns_min": "differs", "error": errors[i]})
    return out + [{"case": f"{work}: {peer}", **empty} for peer in missing]


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
    """What a kernel in C takes: states, a row a call, inputs, constants, the shape of a result, numbers of scratch."""

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
