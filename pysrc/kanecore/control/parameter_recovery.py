# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of a model that give its bodies certain inertial parameters.

π is a function of masses, mass centres and inertias, in most models of degree two at most in each, so that central
differences with long steps are exact.  Parameters that affect more than π, such as the length of a link, keep their
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints
from kanecore.control.physical_inertia import sizes
from kanecore.errors import NonFiniteError
from kanecore.tolerances import EQUAL, NOISE, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["realised"]

Array = npt.NDArray[np.float64]

_STEPS = 50
_LARGEST = 1e8  # largest damping, for slopes of size one
_LADDER = 10.0 ** np.arange(0, 31, 3)  # steps of a parameter that is zero; the first step that changes π is taken
_SHOWN = 1e-4  # least change of π that counts, relative to the entry
_STATES = 8  # states at which the effects of a parameter are found


def realised(
    dyn: Evaluator, at: Constraints, udot: Array, wanted: Array, matrix: Array, values: Array, weights: Array
) -> dict[str, float]:
    """Values of parameters, by name, for which π or ``matrix @ π`` is equal, or else nearest, to the wanted value.

    Empty if π depends on no parameters, or Newton's method finds none.

    Parameters
    ----------
    at, udot
        Some states and accelerations, with the current parameters.
    wanted : ndarray, (n_bodies, 10)
    matrix, values
        Matrix and values of base parameters.
    weights
        Weights of these values in their least squares.
    """
    search = _Search(dyn, at, udot)
    if not len(search.free):
        return {}
    size = np.where(sizes(wanted) > 0.0, sizes(wanted), 1.0).ravel()
    search.measure(size)
    found, missed = search.solve(np.diag(1.0 / size), wanted.ravel() / size)
    if missed > EQUAL:
        scale = (np.abs(matrix) @ size)[:, np.newaxis]
        found, missed = search.solve(matrix / scale, values / scale[:, 0])
    if missed > EQUAL:
        found, missed = search.least_squares(weights @ matrix, weights @ values)
    if not np.isfinite(missed):
        return {}
    return {dyn.parameter_names[j]: float(found[j]) for j in search.free}


class _Search:
    """Newton's method in the parameters that affect only π."""

    def __init__(self, dyn: Evaluator, at: Constraints, udot: Array) -> None:
        self._dyn, self._start = dyn, np.array(dyn.kernels.values("parameter"))
        lead = np.ndim(at.t)
        self._times = np.asarray(at.t)[:_STATES] if lead else at.t
        self._x, self._udot = at.x[:_STATES], udot[:_STATES]
        self._r = at.r[:_STATES] if np.ndim(at.r) == 2 else at.r
        self._steps = 0.5 * np.abs(self._start)
        self._steps[self._steps == 0.0] = 1.0
        known = np.isfinite(self._start)
        self._lengthen(np.flatnonzero((self._start == 0.0) & known))
        slopes = self._slopes(self._start, np.flatnonzero(known))
        moving = np.flatnonzero(known)[(slopes != 0.0).any(axis=0)]
        self.free = np.array([j for j in moving if self._acts_on_bodies_alone(int(j))], dtype=np.intp)

    def _of(self, p: Array) -> Array:
        """The values π, (..., 10 n_bodies)."""
        first = self._r[0] if np.ndim(self._r) == 2 else self._r
        found = np.asarray(self._dyn.inertial_parameters(0.0, self._x[0], r=first, p=p))
        return found.reshape(*p.shape[:-1], 10 * len(self._dyn.bodies))

    def _lengthen(self, zeros: npt.NDArray[np.intp]) -> None:
        """Steps of zero parameters that are long enough to change π visibly, in any units."""
        before = self._of(self._start)
        size = sizes(before.reshape(-1, 10)).ravel()
        for j in zeros:
            for step in _LADDER:
                p = self._start.copy()
                p[j] = step
                try:
                    change = np.abs(self._of(p) - before)
                except NonFiniteError:
                    break
                if (change > _SHOWN * size).any():
                    self._steps[j] = step
                    break

    def _slopes(self, p: Array, places: npt.NDArray[np.intp]) -> Array:
        """∂π/∂p, (10 n_bodies, places)."""
        steps = np.zeros((len(places), len(p)))
        steps[range(len(places)), places] = self._steps[places]
        change = self._of(p + steps) - self._of(p - steps)
        size = np.maximum(np.abs(self._of(p)), np.max(np.abs(change), axis=0, initial=0.0))
        change = np.where(np.abs(change) > NOISE * size, change, 0.0)
        return np.asarray(change.T / (2.0 * self._steps[places]))

    def _acts_on_bodies_alone(self, j: int) -> bool:
        """Test whether a change of a parameter does not affect the regressor, other terms and constraints."""
        other = self._start.copy()
        other[j] += self._steps[j]
        before, after = self._equations(self._start), self._equations(other)
        return all(
            bool((np.abs(a - b) <= EQUAL * np.max(np.maximum(size, other_size), initial=0.0)).all())
            for (a, size), (b, other_size) in zip(before, after, strict=True)
        )

    def _equations(self, p: Array) -> list[tuple[Array, Array]]:
        """Y, M u̇ − f − Y π and G, each with the magnitude of its terms."""
        dyn, at = self._dyn, (self._times, self._x)
        y = np.asarray(dyn.regressor(*at, self._udot, r=self._r, p=p))
        forces = np.asarray(dyn.inverse_dynamics(*at, self._udot, r=self._r, p=p))
        inertial = self._of(p)
        found = [(y, np.abs(y)), (forces - y @ inertial, np.abs(forces) + np.abs(y) @ np.abs(inertial))]
        if dyn.n_constraints:
            rows = np.asarray(dyn.constraint_jacobian(*at, r=self._r, p=p))
            found.append((rows, np.abs(rows)))
        return found

    def measure(self, size: Array) -> None:
        """Choose the unit of each parameter so that it changes some entry of π by that entry's size."""
        slopes = np.abs(self._slopes(self._start, self.free)) / size[:, np.newaxis]
        self._units = 1.0 / np.max(slopes, axis=0)

    def solve(self, matrix: Array, values: Array) -> tuple[Array, float]:
        """Parameters p near the model's with ``matrix @ π(p) = values``, and the largest residual."""
        p, units, best = self._start.copy(), self._units, (self._start, np.inf)
        for _ in range(_STEPS):
            rest = values - matrix @ self._of(p)
            missed = float(np.max(np.abs(rest), initial=0.0))
            if not np.isfinite(missed) or (best[1] <= EQUAL and missed > 0.5 * best[1]):
                break
            best = min(best, (p.copy(), missed), key=lambda each: each[1])
            slopes = matrix @ self._slopes(p, self.free) * units
            p[self.free] += units * np.linalg.lstsq(slopes, rest, rcond=RANK)[0]
        return best

    def least_squares(self, matrix: Array, values: Array) -> tuple[Array, float]:
        """Parameters p of least |matrix @ π(p) − values|, and the largest residual, by Levenberg and Marquardt."""
        p, damping = self._start.copy(), 1e-3
        rest = values - matrix @ self._of(p)
        for _ in range(_STEPS):
            slopes = matrix @ self._slopes(p, self.free)
            size = np.linalg.norm(slopes, axis=0)
            size = np.where(size > 0.0, size, 1.0)
            before = float(np.linalg.norm(rest))
            while damping < _LARGEST:
                rows = np.vstack([slopes / size, np.sqrt(damping) * np.eye(len(size))])
                step = np.linalg.lstsq(rows, np.concatenate([rest, np.zeros(len(size))]), rcond=None)[0]
                trial = p.copy()
                trial[self.free] += step / size
                left = values - matrix @ self._of(trial)
                if np.linalg.norm(left) < before:
                    break
                damping *= 4.0
            else:
                break
            p, rest, damping = trial, left, 0.1 * damping
            if before - np.linalg.norm(rest) <= EQUAL * before:
                break
        return p, float(np.max(np.abs(rest), initial=0.0))
