# SPDX-License-Identifier: BSD-3-Clause
"""Check of prescribed motions against the rates that the user gave as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError, warn

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.motion.batch_rows import Rows
    from kanecore.motion.run_inputs import RunInputs

__all__ = ["warn_of_other_rates", "warn_of_other_rates_in_rows"]

Array = npt.NDArray[np.float64]

_FAR = 0.5  # relative to the extents of a motion and of its rate's integral: interpolation errs less


def warn_of_other_rates(dyn: Evaluator, inputs: RunInputs, interval: tuple[float, float], x0: Array, p: Array) -> None:
    """Warn if r_i changed in a run otherwise than by r_k, the input that is its derivative.

    The comparison is between r_i(t) − r_i(t_0) and ∫ r_k dt, so that constant or interpolated values pass.  Slopes of a
    function are compared as well, at some of the times at which the run called it: the function is not called again,
    and functions in C are not checked.  There is no warning for an input that does not affect ẋ, such as the angle of a
    turntable.
    """
    pairs = _pairs(dyn)
    if not pairs or interval[0] == interval[1]:
        return
    for i, k in _of_cubics(inputs, pairs) if inputs.function is None else _of_function(inputs, pairs):
        r = inputs(interval[0], x0) if inputs.function is None else inputs.seen[0][1]
        _warn_where_it_matters(dyn, interval[0], x0, r, p, (i, k))


def warn_of_other_rates_in_rows(rows: Rows, steps: int) -> None:
    """Warn in the same way of inputs that are constant over steps of ``rows.dt``, by the first contradictory row."""
    if not (pairs := _pairs(rows.dyn)):
        return
    r = np.asarray(rows.r, dtype=np.float64)
    length = rows.dt * (steps if r.shape[-2] == 1 else 1)
    for i, k in pairs:
        if r.shape[-2] == 1:  # constant inputs
            moved, way = np.zeros_like(r[..., i]), length * r[..., k]
        else:
            moved, way = r[..., 1:, i] - r[..., :1, i], length * np.cumsum(r[..., :-1, k], axis=-1)
        places = np.argwhere(np.broadcast_to(_differ(moved, way), rows.shape))
        if len(places):
            row = rows.at(tuple(places[0]))
            _warn_where_it_matters(rows.dyn, float(row.t0), row.x, row.r[0], row.p, (i, k))


def _pairs(dyn: Evaluator) -> list[tuple[int, int]]:
    """Pairs of an input and its rate among the inputs."""
    return [(i, k) for i, k in enumerate(dyn.input_rates) if k >= 0]


def _of_cubics(inputs: RunInputs, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pairs that differ, by exact integrals."""
    h, c = np.diff(inputs.knots)[:, np.newaxis], inputs.coefficients
    way = np.cumsum(np.sum(c * h[..., np.newaxis] ** np.arange(1, 5) / np.arange(1, 5), axis=-1), axis=0)
    ends = np.sum(c * h[..., np.newaxis] ** np.arange(4), axis=-1)
    for i, k in pairs:
        # in the middle of a jump at a knot, as for held samples
        moved = np.append((ends[:-1, i] + c[1:, i, 0]) / 2.0, ends[-1, i]) - c[0, i, 0]
        if _differ(moved, way[:, k]):
            yield i, k


def _of_function(inputs: RunInputs, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pairs of a function that differ at its calls in a run, by their integrals and most slopes between two calls."""
    if len(inputs.seen) < 3:
        return
    start, r, end, later = (np.array(each) for each in zip(*inputs.seen, strict=True))
    order = np.argsort(start, kind="stable")
    for i, k in pairs:
        rates = (r[:, k] + later[:, k]) / 2.0
        slopes = (later[:, i] - r[:, i]) / (end - start)
        size = np.maximum(np.abs(slopes), np.abs(rates))
        fast = np.abs(later[:, k] - r[:, k]) > _FAR * np.maximum(np.abs(later[:, k]), np.abs(r[:, k]))
        off = (np.abs(slopes - rates) > _FAR * size) & ~fast
        way = np.cumsum((r[order[1:], k] + r[order[:-1], k]) / 2.0 * np.diff(start[order]))
        moved = r[order, i]
        if _differ(moved - moved[0], np.append(0.0, way)) and np.mean(off) > 0.5:
            yield i, k


def _differ(change: Array, integral: Array) -> npt.NDArray[np.bool_]:
    """Mask of pairs of curves, along the last axis, that differ by more than a share of their extent."""
    with np.errstate(invalid="ignore", over="ignore"):
        reached = np.max(np.abs(change), axis=-1) + np.max(np.abs(integral), axis=-1)
        return np.asarray(np.max(np.abs(change - integral), axis=-1) > _FAR * reached)


def _warn_where_it_matters(dyn: Evaluator, t: float, x: Array, r: Array, p: Array, pair: tuple[int, int]) -> None:
    if not all(_matters(dyn, t, x, r, p, i) for i in pair):
        return
    name, rate = (dyn.input_names[i] for i in pair)
    warn(
        f"input {rate!r} is the derivative of {name!r}, and the values given for both contradict each other: {name!r} "
        f"does not change at the rate {rate!r}. In simulate a kc.Signal of kind 'cubic' for {name!r} gives its rates "
        f"as well; functions, and arrays of values, must give all of them"
    )


def _matters(dyn: Evaluator, t: float, x: Array, r: Array, p: Array, i: int) -> bool:
    """Test whether ẋ depends on an input at a state."""
    r = np.repeat(np.asarray(r, dtype=np.float64)[np.newaxis], 3, axis=0)
    size = 1.0 + abs(r[0, i])
    r[:, i] += [0.0, 0.37 * size, -0.59 * size]
    try:
        rates = dyn.rhs(t, np.repeat(x[np.newaxis], 3, axis=0), r=r, p=p)
    except KanecoreError:
        return True
    return bool((rates != rates[0]).any())
