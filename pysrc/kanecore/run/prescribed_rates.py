# SPDX-License-Identifier: BSD-3-Clause
"""Rates of prescribed motions that were given beside these, and say something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError, warn

if TYPE_CHECKING:
    from kanecore.run.inputs import RunInputs
    from kanecore.run.problem import InitialValueProblem

__all__ = ["warn_of_other_rates"]

Array = npt.NDArray[np.float64]

_FAR = 0.5  # of what a motion and the integral of its rate reach: no interpolation of samples is as far off
_SAMPLES = 33  # of a function
_NEAR = 1e-6  # of the run: between neighbours of a sample


def warn_of_other_rates(problem: InitialValueProblem, times: Array, states: Array) -> None:
    """A KanecoreWarning where r_i moves otherwise than r_k, an input that is its derivative, says.

    Compared are r_i(t) − r_i(t_0) and ∫ r_k dt, so that values which are held or interpolated pass; of a function also
    its slopes.  Nothing is said of an input on which ẋ does not depend, such as the angle of a turntable.
    """
    dyn, inputs = problem.dyn, problem.inputs
    pairs = [(i, k) for i, k in enumerate(dyn.input_rates) if k >= 0]
    if not pairs or problem.t0 == problem.t1:
        return
    wrong = _of_function(problem, times, states, pairs) if inputs.function is not None else _of_cubics(inputs, pairs)
    for i, k in wrong:
        if _matters(problem, i) and _matters(problem, k):
            name, rate = dyn.input_names[i], dyn.input_names[k]
            warn(
                f"input {rate!r} is the derivative of {name!r}, and the values given for both contradict each other: "
                f"{name!r} does not move as {rate!r} says. A kc.Signal of kind 'cubic' for {name!r} alone gives its "
                "rates; a function gives all of them"
            )


def _of_cubics(inputs: RunInputs, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pairs that differ, by integrals that are exact."""
    h, c = np.diff(inputs.knots)[:, np.newaxis], inputs.coefficients
    way = np.cumsum(np.sum(c * h[..., np.newaxis] ** np.arange(1, 5) / np.arange(1, 5), axis=-1), axis=0)
    ends = np.sum(c * h[..., np.newaxis] ** np.arange(4), axis=-1)
    for i, k in pairs:
        # in the middle of a jump at a knot, as that of samples that are held
        moved = np.append((ends[:-1, i] + c[1:, i, 0]) / 2.0, ends[-1, i]) - c[0, i, 0]
        if _differ(moved, way[:, k]):
            yield i, k


def _of_function(
    problem: InitialValueProblem, times: Array, states: Array, pairs: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Pairs that differ, at samples of a function: by their integrals, and by most of its slopes."""
    near = _NEAR * (problem.t1 - problem.t0)
    t = np.linspace(problem.t0 + near, problem.t1 - near, _SAMPLES)
    order = np.argsort(times)
    x = np.stack([np.interp(t, times[order], column[order]) for column in states.T], axis=-1)
    try:
        before, r, after = (problem.inputs(t + h, x) for h in (-near, 0.0, near))
    except Exception:  # a function with a state of its own, which has seen its last time: the run is over, and counts
        return
    for i, k in pairs:
        way = np.append(0.0, np.cumsum((r[1:, k] + r[:-1, k]) / 2.0 * np.diff(t)))
        slopes = (after[:, i] - before[:, i]) / (2.0 * near)
        size = np.maximum(np.abs(slopes), np.abs(r[:, k]))
        off = np.abs(slopes - r[:, k]) > _FAR * size
        if _differ(r[:, i] - r[0, i], way) and np.mean(off) > 0.5:
            yield i, k


def _differ(moved: Array, way: Array) -> bool:
    reached = np.max(np.abs(moved)) + np.max(np.abs(way))
    return bool(np.max(np.abs(moved - way)) > _FAR * reached)


def _matters(problem: InitialValueProblem, i: int) -> bool:
    """Whether ẋ depends on an input, at the start."""
    dyn, t, x = problem.dyn, problem.t0, problem.x0
    r = np.repeat(problem.inputs(t, x)[np.newaxis], 3, axis=0)
    size = 1.0 + abs(r[0, i])
    r[:, i] += [0.0, 0.37 * size, -0.59 * size]
    try:
        rates = dyn.rhs(t, np.repeat(x[np.newaxis], 3, axis=0), r=r, p=problem.p)
    except KanecoreError:
        return True
    return bool((rates != rates[0]).any())
