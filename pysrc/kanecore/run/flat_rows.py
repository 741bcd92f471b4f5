# SPDX-License-Identifier: BSD-3-Clause
"""Rows that say nothing of motions wherever they hold, and yet follow from no others.

x² + y² = 0 says that x = y = 0, and its rate says nothing.  A redundant row holds wherever the others do; these do not:
that tells one from the other, at a state nearby that satisfies the other rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.run.constraints import Constraints, Level, normalise
from kanecore.run.metric import NEAR, equilibrated, independent_rows, null_space, size_of
from kanecore.tolerances import RANK

__all__ = ["flat_row"]

Array = npt.NDArray[np.float64]

_FLAT = 1e-6  # residual of a row there that follows from the others
_STEPS = 20  # of Newton's method, to such a place


def flat_row(state: Constraints, extents: Array) -> str | None:
    """The name of a row that is lost at a state and does not hold where the others do; None where there is none.

    ``extents``, (n_x,), is what is large for each coordinate and speed.
    """
    for level in state.levels:
        independent = independent_rows(equilibrated(level.slopes, level.units))
        if len(independent) == len(level.slopes):
            continue
        misses = _misses_where_these_hold(level, independent, extents[level.part])
        worst = int(np.argmax(misses))
        if misses[worst] > _FLAT:
            return level.names[worst]
    return None


def _misses_where_these_hold(level: Level, rows: list[int], far: Array) -> Array:
    """|f| of all rows beside their terms, at a state nearby where some of them hold, which count as 0."""
    near = _where_these_hold(level, rows, far)
    beside = np.maximum(near.term_sizes, np.max(np.abs(near.slopes) * far, axis=-1, initial=0.0))
    size = np.abs(near.residual)
    misses = np.divide(size, beside, out=np.zeros_like(size), where=size != 0.0)
    misses[rows] = 0.0
    return np.asarray(misses)


def _where_these_hold(level: Level, rows: list[int], far: Array) -> Level:
    """A state a little along what all rows leave free, at which some of them hold: by Gauss and Newton."""
    dyn, part, units = level.at.dyn, level.part, level.units
    x = level.at.x.copy()
    free = null_space(level.slopes, units)
    x[part] += NEAR * (free @ (free.T @ np.random.default_rng(2).uniform(-1.0, 1.0, len(far)))) * far
    normalise(dyn, x)
    for _ in range(_STEPS):
        near = level.moved(x)
        scaled = near.slopes[rows] * units
        size = size_of(scaled)
        step = units * (np.linalg.pinv(scaled / size[:, np.newaxis], rcond=RANK) @ (near.residual[rows] / size))
        x[part] -= step
        normalise(dyn, x)
        if np.max(np.abs(step) / far, initial=0.0) < NEAR * _FLAT:
            break
    return level.moved(x)
