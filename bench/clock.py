# SPDX-License-Identifier: BSD-3-Clause
"""Time, always as the least and the median of repeats: of a Python call, of a kernel in C, of the reference loops."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kanecore.build import compile_library

REPEATS = 21
BATCH_SECONDS = 2e-3  # long enough for the clock, short enough to fall between interruptions


class Timing(NamedTuple):
    """Least and median of repeats, in the unit of its maker."""

    least: float
    median: float


def timing(samples: list[float]) -> Timing:
    return Timing(min(samples), statistics.median(samples))


def nanoseconds(batch: Callable[[int], float], repeats: int = REPEATS) -> Timing:
    """Time of one call [ns], where ``batch(n)`` makes n of them and returns seconds."""
    n = 1
    while (took := batch(n)) < BATCH_SECONDS:
        n = max(2 * n, int(n * BATCH_SECONDS / max(took, 1e-9)))
    return timing([1e9 * batch(n) / n for _ in range(repeats)])


@cache
def _loops() -> ctypes.CDLL:
    text = (Path(__file__).with_name("loop.c")).read_text(encoding="utf-8")
    library = ctypes.CDLL(compile_library(text, cflags="-fvisibility=default", name="bench_loop").path)
    pointer, number = ctypes.c_void_p, ctypes.c_long
    library.time_kernel.argtypes = [pointer, number, number, number, *[pointer] * 5]
    for function in (library.time_chain, library.time_sin):
        function.argtypes = [number]
    for function in (library.time_kernel, library.time_chain, library.time_sin):
        function.restype = ctypes.c_double
    return library


def kernel_nanoseconds(
    address: int, states: np.ndarray, inputs: np.ndarray, prepared: np.ndarray, n_work: int, n_out: int, repeats: int
) -> Timing:
    """One call in C [ns], the rows of ``states`` in turn."""
    work, out = np.zeros(n_work), np.empty(max(n_out, 1))
    arrays = [np.ascontiguousarray(a, dtype=np.float64) for a in (states, inputs, prepared, work, out)]
    addresses = [a.ctypes.data for a in arrays]
    time_kernel, (n_states, stride) = _loops().time_kernel, arrays[0].shape
    return nanoseconds(lambda n: time_kernel(address, n, n_states, stride, *addresses), repeats)


def reference() -> dict[str, float]:
    """Least times of the reference loops [ns]: 1000 dependent multiply-adds, and one sine of libm."""
    loops = _loops()
    return {"chain_ns": nanoseconds(loops.time_chain).least, "sin_ns": nanoseconds(loops.time_sin).least}
