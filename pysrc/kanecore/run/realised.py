# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of a model that give its bodies some inertial parameters.

π is a function of masses, mass centres and inertias, in most models of degree two at most in each, so that central
differences over long steps are exact.  Parameters on which more than π depends, such as the length of a link, stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.run.constraints import Constraints
from kanecore.run.physical import sizes
from kanecore.tolerances import EQUAL, NOISE

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["realised"]

Array = npt.NDArray[np.float64]

_STEPS = 30
_STATES = 8  # at which it is seen on what a parameter acts


def realised(
    dyn: Kernels, at: Constraints, udot: Array, wanted: Array, matrix: Array, values: Array
) -> dict[str, float]:
    """Values of parameters, by name, at which π is as wanted, or else ``matrix @ π = values``, by least change.

    Empty where neither can be.

    Parameters
    ----------
    at, udot
        Some states, and accelerations: at the current parameters.
    wanted : ndarray, (n_bodies, 10)
    matrix, values
        As of `nearest_physical`.
    """
    search = _Search(dyn, at, udot)
    if not len(search.free):
        return {}
    size = sizes(wanted).ravel()
    whole = search.solve(np.eye(wanted.size), wanted.ravel(), size)
    found = search.solve(matrix, values, np.abs(matrix) @ size) if whole is None else whole
    if found is None:
        return {}
    return {dyn.parameter_names[j]: float(found[j]) for j in search.free}


class _Search:
    """Newton's method in the parameters on which π alone depends."""

    def __init__(self, dyn: Kernels, at: Constraints, udot: Array) -> None:
        self._dyn, self._start = dyn, np.array(dyn._values("parameter"))
        lead = np.ndim(at.t)
        self._t = np.asarray(at.t)[:_STATES] if lead else at.t
        self._x, self._udot = at.x[:_STATES], udot[:_STATES]
        self._r = at.r[:_STATES] if np.ndim(at.r) == 2 else at.r
        self._steps = 0.5 * np.abs(self._start)
        self._steps[self._steps == 0.0] = 1.0
        known = np.isfinite(self._start)
        slopes = self._slopes(self._start, np.flatnonzero(known))
        moving = np.flatnonzero(known)[(slopes != 0.0).any(axis=0)]
        self.free = np.array([j for j in moving if self._acts_on_bodies_alone(int(j))], dtype=np.intp)

    def _of(self, p: Array) -> Array:
        """π, (..., 10 n_bodies)."""
        first = self._r[0] if np.ndim(self._r) == 2 else self._r
        found = np.asarray(self._dyn.inertial_parameters(0.0, self._x[0], r=first, p=p))
        return found.reshape(*p.shape[:-1], -1)

    def _slopes(self, p: Array, places: npt.NDArray[np.intp]) -> Array:
        """∂π/∂p, (10 n_bodies, places)."""
        steps = np.zeros((len(places), len(p)))
        steps[range(len(places)), places] = self._steps[places]
        change = self._of(p + steps) - self._of(p - steps)
        size = np.maximum(np.abs(self._of(p)), np.max(np.abs(change), axis=0, initial=0.0))
        change = np.where(np.abs(change) > NOISE * size, change, 0.0)
        return np.asarray(change.T / (2.0 * self._steps[places]))

    def _acts_on_bodies_alone(self, j: int) -> bool:
        """Whether the regressor, what else acts, and the constraints stay as they are where one parameter changes."""
        other = self._start.copy()
        other[j] += self._steps[j]
        before, after = self._equations(self._start), self._equations(other)
        return all(
            bool((np.abs(a - b) <= EQUAL * np.max(np.maximum(size, other_size), initial=0.0)).all())
            for (a, size), (b, other_size) in zip(before, after, strict=True)
        )

    def _equations(self, p: Array) -> list[tuple[Array, Array]]:
        """Y, M u̇ − f − Y π and G, each beside what it is summed from."""
        dyn, at = self._dyn, (self._t, self._x)
        y = np.asarray(dyn.regressor(*at, self._udot, r=self._r, p=p))
        forces = np.asarray(dyn.inverse_dynamics(*at, self._udot, r=self._r, p=p))
        inertial = self._of(p)
        found = [(y, np.abs(y)), (forces - y @ inertial, np.abs(forces) + np.abs(y) @ np.abs(inertial))]
        if dyn.n_constraints:
            rows = np.asarray(dyn.constraint_jacobian(*at, r=self._r, p=p))
            found.append((rows, np.abs(rows)))
        return found

    def solve(self, matrix: Array, values: Array, size: Array) -> Array | None:
        """The p with ``matrix @ π(p) = values``, to rounding of some sizes; None where that is not reached."""
        p, size = self._start.copy(), np.where(size > 0.0, size, 1.0)
        units, last = self._steps[self.free], np.inf
        for _ in range(_STEPS):
            rest = (values - matrix @ self._of(p)) / size
            missed = float(np.max(np.abs(rest), initial=0.0))
            if missed <= NOISE or (missed <= EQUAL and missed > 0.5 * last) or not np.isfinite(missed):
                break
            slopes = matrix @ self._slopes(p, self.free) * units / size[:, np.newaxis]
            p[self.free] += units * np.linalg.lstsq(slopes, rest, rcond=None)[0]
            last = missed
        return p if missed <= EQUAL else None
