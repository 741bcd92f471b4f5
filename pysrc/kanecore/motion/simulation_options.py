# SPDX-License-Identifier: BSD-3-Clause
"""The options of `simulate`: reading and checks, with errors that say what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.motion.scipy_and_sundials import OUTSIDE_METHODS
from kanecore.run.call_arguments import real_array

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    "Recording",
    "gains",
    "longest_step",
    "one_run_only",
    "own_methods_only",
    "positive_count",
    "recording",
    "result_times",
    "sample_period",
    "span",
    "step_length",
    "step_limit",
    "tolerances",
]

Array = npt.NDArray[np.float64]

_SMALLEST_RTOL = 100 * np.finfo(np.float64).eps
_ROOM = 1 << 30  # largest number of bytes for the steps of a run
_ROOM_BESIDE_TIMES = 32_000_000  # largest number of bytes for steps in addition to the states at t_eval


@dataclass(frozen=True)
class Recording:
    """Options for the parts of a run to keep.

    Attributes
    ----------
    times : ndarray, optional
        Times of requested states; None: the ends of the steps.
    interpolants : bool
        Whether the interpolants of the steps are kept.
    room : int
        Largest number of bytes for the kept parts.
    drop : bool
        Whether steps without room are dropped; otherwise lack of room ends the run.
    """

    times: Array | None
    interpolants: bool
    room: int
    drop: bool


def recording(times: Array | None, dense_output: bool | None) -> Recording:
    """Options for the parts of a run to keep, from the times and the option dense_output."""
    interpolants = dense_output is None or bool(dense_output)
    if times is None or dense_output:
        return Recording(times, interpolants, _ROOM, drop=False)
    return Recording(times, interpolants, _ROOM_BESIDE_TIMES if dense_output is None else 0, drop=True)


def span(t_span: Iterable[float]) -> tuple[float, float]:
    """Start and end of a run."""
    try:
        t0, t1 = (float(t) for t in t_span)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"t_span is {t_span!r}; it must be (start, end)") from None
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise ValueError(f"t_span is {t_span!r}, which is not finite")
    return t0, t1


def spans_of_rows(t_span: npt.ArrayLike) -> tuple[Array, Array]:
    """Starts and ends of runs by row, (...) each."""
    spans = real_array("t_span", t_span)
    if spans.shape[-1] != 2:
        raise ValueError(f"t_span has shape {spans.shape}; by row it must be (..., 2), start and end of each")
    return spans[..., 0], spans[..., 1]


def step_length(method: str, dt: float | None, first_step: float | None, smallest: float) -> float:
    """Check the length of fixed steps, or of the first adaptive step; return 0 for an automatic step."""
    fixed = _has_fixed_steps(method)
    if fixed and first_step is not None:
        raise ValueError(f"first_step is for adaptive methods: give the step of {method!r} as dt")
    if not fixed and dt is not None:
        raise ValueError(f"dt is for fixed steps: method='rk4', dt={dt!r}; for {method!r} use rtol, atol or max_step")
    value = dt if fixed else first_step
    if value is None:
        if fixed:
            raise ValueError(f"method {method!r} needs its step: dt=...")
        return 0.0
    if not 0 < value <= sys.float_info.max:
        raise ValueError(f"{'dt' if fixed else 'first_step'} is {value!r}; it must be positive, also backwards in time")
    if fixed and value < smallest:
        raise ValueError(f"dt is {value!r}, which is lost in t at the ends of t_span: it must be at least {smallest!r}")
    return float(value)


def _has_fixed_steps(method: str) -> bool:
    """Test whether the method of this name has fixed steps; ValueError if there is no such method."""
    if method in OUTSIDE_METHODS:
        return False
    if method not in _motion.METHODS:
        near, names = str(method).lower(), [*_motion.METHODS, *OUTSIDE_METHODS]
        known = ", ".join(map(repr, sorted(names)))
        hint = f": write {near!r}" if near in names else ""
        raise ValueError(f"method is {method!r}; it must be one of {known}{hint}")
    return not _motion.METHODS[method]


def one_run_only(method: str, **arguments: object) -> None:
    """ValueError for options that several runs at once do not have."""
    if method not in _motion.METHODS:
        raise ValueError(
            f"{method!r} is a method of another package, for one run: for several at once use one of kanecore's own"
        )
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} is for one run, and x0, inputs or parameters have leading axes: see kc.sweep")


def own_methods_only(method: str, **arguments: object) -> None:
    """ValueError for options that methods of other packages do not have."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name} is for kanecore's own methods, and {method!r} is another package's: use method='rosenbrock', "
                "which is for stiff systems too"
            )


def longest_step(max_step: float, smallest: float) -> float:
    """Check the longest step of adaptive methods."""
    if not (max_step > 0 and max_step >= smallest):
        raise ValueError(f"max_step is {max_step!r}; it must be positive, and {smallest!r} at least: less is lost in t")
    return float(max_step)


def sample_period(sample_time: float | None, smallest: float) -> float:
    """Sampling period of inputs; 0 without sampling."""
    if sample_time is None:
        return 0.0
    try:
        period = float(sample_time)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"sample_time is {sample_time!r}; it must be one number") from None
    if not (np.isfinite(period) and period > 0 and period >= smallest):
        raise ValueError(
            f"sample_time is {sample_time!r}; it must be positive, and {smallest!r} at least: less is lost in t"
        )
    return period


def step_limit(max_steps: int | None) -> int:
    """Largest number of steps that an adaptive method may try; 0 for any number."""
    return 0 if max_steps is None else positive_count("max_steps", max_steps)


def positive_count(name: str, value: int) -> int:
    """Check a whole number, at least 1; the name is for messages."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None
    if not 1 <= number <= sys.maxsize:
        raise ValueError(f"{name} is {value!r}; it must be at least 1, and at most {sys.maxsize}")
    return number


METHOD = "dop853"
"""The default method of a run."""

RTOL = 1e-8
"""The default relative tolerance."""

ATOL = 1e-8
"""The default absolute tolerance."""

MAX_STEPS = 10_000_000
"""Largest number of steps of a run."""


def tolerances(dyn: Evaluator, rtol: float, atol: Values) -> tuple[float, Array]:
    """Check the relative tolerance, limited by rounding, and the absolute tolerances of all entries of a state."""
    n = dyn.n_x
    if isinstance(atol, Mapping):
        named = np.full(n, ATOL)
        for i, value in dyn.names.by_number("state", atol, "atol").items():
            named[i] = value
        atol = named
    absolute = real_array("atol", np.full(n, atol) if np.ndim(atol) == 0 else atol, (n,), meaning="one for each state")
    if not (np.isfinite(rtol) and rtol > 0 and (absolute >= 0).all()):
        raise ValueError(f"rtol must be positive and atol not negative; they are {rtol!r} and {atol!r}")
    return max(float(rtol), _SMALLEST_RTOL), absolute


def gains(baumgarte: tuple[float, float]) -> tuple[float, float]:
    """Check the gains of Baumgarte's terms, α and β."""
    try:
        alpha, beta = (float(gain) for gain in baumgarte)
    except (TypeError, ValueError):
        raise ValueError(f"baumgarte is {baumgarte!r}; it must be (alpha, beta)") from None
    if not (0.0 <= alpha < np.inf and 0.0 <= beta < np.inf):
        raise ValueError(f"baumgarte is {baumgarte!r}; the gains must be finite and not negative")
    return alpha, beta


def result_times(t_eval: npt.ArrayLike, t0: float | Array, t1: float | Array) -> Array:
    """Times of requested states, (N,); with spans by row (..., N)."""
    times = real_array("t_eval", t_eval, finite=False)
    low, high = np.minimum(t0, t1)[..., np.newaxis], np.maximum(t0, t1)[..., np.newaxis]
    if not np.ndim(t0) and (times.ndim != 1 or not ((times >= low) & (times <= high)).all()):
        raise ValueError(f"t_eval must be one-dimensional and lie within t_span, {low.item()} to {high.item()}")
    if times.ndim < 1 or not ((times >= low) & (times <= high)).all():
        raise ValueError("t_eval must be (N,) or (..., N), and every row of it lie within that of t_span")
    if not (np.diff(times) * np.where(np.asarray(t1) >= t0, 1.0, -1.0)[..., np.newaxis] > 0).all():
        raise ValueError("t_eval must be sorted in the direction of t_span, without repetitions")
    return times
