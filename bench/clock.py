# SPDX-License-Identifier: BSD-3-Clause
"""Time, always as the least and the median of repeats: of a Python call, of a kernel in C, of the reference loops."""

from __future__ import annotations

import ctypes
import statistics
import timeit
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kanecore.build import compile_library

REPEATS = 61
BATCH_SECONDS = 5e-4  # long enough for the clock, short enough to fall between interruptions


class Timing(NamedTuple):
    """Least and median of repeats, in the unit of its maker."""

    least: float
    median: float


def timing(samples: list[float]) -> Timing:
    return Timing(min(samples), statistics.median(samples))


def nanoseconds(batch: Callable[[int], float], repeats: int = REPEATS) -> Timing:
    """Time of one call [ns], where ``batch(n)`` makes n of them and returns seconds."""
    return interleaved([batch], repeats)[0]


def _calls(batch: Callable[[int], float]) -> int:
    """Number of calls that last long enough."""
    n = 1
    while (took := batch(n)) < BATCH_SECONDS:
        n = max(2 * n, int(n * BATCH_SECONDS / max(took, 1e-9)))
    return n


@cache
def _loops() -> ctypes.CDLL:
    text = (Path(__file__).with_name("loop.c")).read_text(encoding="utf-8")
    library = ctypes.CDLL(compile_library(text, cflags="-fvisibility=default", name="bench_loop").path)
    pointer, number = ctypes.c_void_p, ctypes.c_long
    library.time_kernel.argtypes = [pointer, number, number, number, *[pointer] * 5]
    library.time_each.argtypes = [*library.time_kernel.argtypes, pointer]
    library.time_each.restype = None
    for function in (library.time_chain, library.time_sin):
        function.argtypes = [number]
    for function in (library.time_kernel, library.time_chain, library.time_sin):
        function.restype = ctypes.c_double
    return library


def interleaved(batches: Sequence[Callable[[int], float]], repeats: int = REPEATS) -> list[Timing]:
    """Times of one call each [ns], measured in turns, so that a change of clock or load meets all alike."""
    counts = [_calls(batch) for batch in batches]
    samples: list[list[float]] = [[] for _ in batches]
    for _ in range(repeats):
        for batch, n, times in zip(batches, counts, samples, strict=True):
            times.append(1e9 * batch(n) / n)
    return [timing(times) for times in samples]


def kernel_batch(
    address: int, states: np.ndarray, inputs: np.ndarray, prepared: np.ndarray, work: np.ndarray, out: np.ndarray
) -> Callable[[int], float]:
    """Calls in C, the rows of ``states`` in turn; all arrays are contiguous float64, and live as long as the result."""
    arrays = (states, inputs, prepared, work, out)
    time_kernel, n_states, stride = _loops().time_kernel, len(states), states[0].size
    return lambda n: time_kernel(address, n, n_states, stride, *(a.ctypes.data for a in arrays))


def kernel_each(
    address: int, states: np.ndarray, inputs: np.ndarray, prepared: np.ndarray, work: np.ndarray, out: np.ndarray
) -> Callable[[np.ndarray], None]:
    """As `kernel_batch`, each call timed by itself; without an address nothing is called, and the clock timed alone."""
    arrays = (states, inputs, prepared, work, out)
    time_each, n_states, stride = _loops().time_each, len(states), states[0].size

    def each(seconds: np.ndarray) -> None:
        pointers = (a.ctypes.data for a in arrays)
        time_each(address, len(seconds), n_states, stride, *pointers, seconds.ctypes.data)

    return each


def empty_each() -> Callable[[np.ndarray], None]:
    """The clock alone, call by call."""
    nothing = np.zeros((1, 2))
    return kernel_each(0, nothing, nothing, nothing, nothing, nothing)


def statement_batch(statement: str, states: Sequence[Any], names: Mapping[str, Any]) -> Callable[[int], float]:
    """Rounds of a statement of Python, once for each x of the states."""
    return timeit.Timer(f"for x in states: {statement}", globals={**names, "states": states}).timeit


def kernel_nanoseconds(
    address: int, states: np.ndarray, inputs: np.ndarray, prepared: np.ndarray, n_work: int, n_out: int, repeats: int
) -> Timing:
    """One call in C [ns], the rows of ``states`` in turn."""
    arrays = (states, inputs, prepared, np.zeros(n_work), np.empty(max(n_out, 1)))
    states, inputs, prepared, work, out = (np.ascontiguousarray(a, dtype=np.float64) for a in arrays)
    return nanoseconds(kernel_batch(address, states, inputs, prepared, work, out), repeats)


def reference() -> dict[str, float]:
    """Least times of the reference loops [ns]: 1000 dependent multiply-adds, and one sine of libm."""
    loops = _loops()
    return {"chain_ns": nanoseconds(loops.time_chain).least, "sin_ns": nanoseconds(loops.time_sin).least}
