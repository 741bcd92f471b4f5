# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method for constraints on coordinates, or on speeds, from far away and with redundant rows.

A step is the solution of least norm, by a truncated singular value decomposition.  It is damped after Levenberg and
Marquardt if the whole step does not reduce the residual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_state import ConstraintState
from kanecore.constraints.constraint_values import Level, normalise
from kanecore.errors import NonFiniteError
from kanecore.rank import independent_rows, size_of
from kanecore.tolerances import NOISE, RANK, SOLVED

__all__ = ["Newton", "Places", "Solution"]

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_DECIDES = 1e-6  # least size relative to the terms of a column: near a dead point Newton's method ends at a distance √ε
_ITERATIONS = 60
_DAMPING = (0.0, *(10.0**k for k in range(-3, 25)))  # relative to the largest singular value squared


@dataclass(frozen=True)
class Solution:
    """Result of Newton's method.

    Attributes
    ----------
    state : ConstraintState or None
        State on the constraints; None if the iteration stalled.
    decided : bool
        Whether the rows restrict only the unknowns, at ``state`` or, if the iteration stalled, at the start: a
        combination of rows without the unknowns has no other variable either.
    last : ConstraintState
        State at which the iteration ended.
    """

    state: ConstraintState | None
    decided: bool
    last: ConstraintState


@dataclass(frozen=True)
class _Iterate:
    """A state with the residual f of its level, and the ``jacobian`` ∂f/∂y by all y, in columns of equal units."""

    state: ConstraintState
    residual: Array
    jacobian: Array


class Newton:
    """Newton's method for φ = 0, or c = 0, from a given state.

    Parameters
    ----------
    start : ConstraintState
    kind : {"coordinates", "speeds"}
    unknowns : (k,) of ints, optional
        Places of the unknowns in a state; default: all coordinates or speeds.  Unit quaternions keep norm 1: if some
        components of a quaternion are unknown, its norm is a row.
    """

    def __init__(
        self, start: ConstraintState, kind: Literal["coordinates", "speeds"], unknowns: Places | None = None
    ) -> None:
        level = start.level(kind)
        self._start, self._kind, self._all_move = start, kind, unknowns is None
        self._unknowns = np.arange(level.part.start, level.part.stop) if unknowns is None else unknowns
        self._columns = self._unknowns - level.part.start
        self._units = units_of(level)
        places = set(self._unknowns.tolist())
        of_coordinates = kind == "coordinates" and not self._all_move
        self._norms = [list(e) for e in start.dyn.unit if of_coordinates and not places.isdisjoint(e)]

    def solve(self) -> Solution:
        """Iterate in the metric of the masses; if that stalls, in units from the rows themselves.

        If one speed moves a mass 10¹⁴ times larger than other speeds, its coefficients are as small as rounding in the
        metric of the masses, and its rows appear as rows of the other speeds.
        """
        solution = self._iterated()
        if solution.state is None and len(self._columns):
            slopes = np.abs(self._start.level(self._kind).slopes)
            of_columns = np.max(slopes / size_of(slopes)[:, np.newaxis], axis=0, initial=0.0)
            self._units = np.divide(1.0, of_columns, out=np.ones_like(of_columns), where=of_columns > 0.0)
            other = self._iterated()
            return solution if other.state is None else other
        return solution

    def _iterated(self) -> Solution:
        """Iterate until the constraints are satisfied and the residual is no longer halved, or no step reduces it."""
        first = iterate = self._iterate(self._start)
        for _ in range(_ITERATIONS):
            scale = size_of(iterate.jacobian)
            size = _norm(iterate, scale)
            following = self._step(iterate, scale, size) if size > 0.0 else None
            if following is None:  # solved, rounding, or stuck
                break
            iterate = following
            if not _norm(iterate, scale) < 0.5 * size and self._solved(iterate):
                break
        if self._solved(iterate):
            return Solution(iterate.state, self._decided(iterate), iterate.state)
        return Solution(None, self._decided(first), iterate.state)

    def _step(self, iterate: _Iterate, scale: Array, size: float) -> _Iterate | None:
        """End of the first step, with increasing damping, that reduces the residual; None if none does."""
        rows = iterate.jacobian[:, self._columns] / scale[:, np.newaxis]
        of_rows, s, of_columns = np.linalg.svd(rows, full_matrices=False)
        along, largest = of_rows.T @ (iterate.residual / scale), np.max(s, initial=0.0)
        # beyond the rank a direction must be clear: redundant rows give small singular values near the solution
        kept = np.arange(len(s)) < len(independent_rows(rows, self._start.count + len(self._norms)))
        for damping in _DAMPING:
            inverse = np.divide(s, s**2 + damping * largest**2, out=np.zeros_like(s), where=kept)
            x = iterate.state.x.copy()
            x[self._unknowns] -= self._units[self._columns] * (of_columns.T @ (inverse * along))
            if self._all_move:
                normalise(iterate.state.dyn, x)
            try:
                trial = self._iterate(iterate.state.moved(x))
            except NonFiniteError:  # the step is so long that the constraints are undefined at its end
                continue
            if _norm(trial, scale) < size:
                return trial
        return None

    def _iterate(self, state: ConstraintState) -> _Iterate:
        level = state.level(self._kind)
        residual, jacobian = level.residual, level.slopes
        for places in self._norms:  # (e·e − 1)/2 = 0
            e = state.x[places]
            row = np.zeros(jacobian.shape[1])
            row[places] = e
            residual, jacobian = np.append(residual, (e @ e - 1.0) / 2.0), np.vstack([jacobian, row])
        if self._all_move and self._kind == "coordinates":  # no change along a unit quaternion
            jacobian = jacobian.copy()
            for quaternion in state.dyn.unit:
                places = list(quaternion)
                jacobian[:, places] -= np.outer(jacobian[:, places] @ state.x[places], state.x[places])
        return _Iterate(state, residual, jacobian * self._units)

    def _solved(self, iterate: _Iterate) -> bool:
        norms = np.abs(iterate.residual[len(iterate.residual) - len(self._norms) :])
        misses = iterate.state.level(self._kind).misses
        return bool(np.max(misses, initial=0.0) <= SOLVED and np.max(norms, initial=0.0) <= NOISE)

    def _decided(self, iterate: _Iterate) -> bool:
        equal = iterate.jacobian / size_of(iterate.jacobian)[:, np.newaxis]
        of_rows, s, _ = np.linalg.svd(equal[:, self._columns])
        silent = of_rows[:, int(np.sum(s > _DECIDES)) :].T  # combinations of rows without the unknowns
        others = np.delete(equal, self._columns, axis=1)
        terms = np.abs(silent) @ np.abs(others)  # relative to each column: the mass of its speed does not matter
        return bool((np.abs(silent @ others) <= np.maximum(_DECIDES * terms, RANK)).all())


def units_of(level: Level) -> Array:
    """Units of all coordinates or speeds; 1 for a coordinate that no speed moves."""
    return np.where(level.units > 0.0, level.units, 1.0)


def _norm(iterate: _Iterate, scale: Array) -> float:
    return float(np.linalg.norm(iterate.residual / scale))
