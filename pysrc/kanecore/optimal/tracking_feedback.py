# SPDX-License-Identifier: BSD-3-Clause
"""Feedback that keeps a mechanism on a motion: a time-varying linear quadratic regulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.control.linearization import linearize
from kanecore.motion.trajectory import Trajectory

__all__ = ["TrackingFeedback"]

Array = npt.NDArray[np.float64]

_STEPS = 400  # of the equation of the gains, at least
_FINAL = 100.0  # by which the end counts more than a second on the way


class TrackingFeedback:
    """Inputs r(t, x) = r*(t) + K(t) (x*(t) − x) along a motion, within ranges: `OptimalMotion.feedback`.

    Attributes
    ----------
    t : ndarray, (N,)
    gains : ndarray, (N, n_r, n_x)
        K at these times, linear between them.
    """

    def __init__(self, motion: Trajectory, intervals: int, limits: Array, Q: Any, R: Any, final: Any) -> None:
        problem, n = motion.problem, max(_STEPS, 4 * intervals)
        dyn, h = problem.dyn, (problem.t1 - problem.t0) / n
        self.t = np.linspace(problem.t0, problem.t1, n + 1)
        there = motion.at(self.t)
        A, B = (np.asarray(part) for part in linearize(dyn, self.t, there.x, r=there.r, p=problem.p))
        q, w = _weights("Q", Q, there.x), _weights("R", R, there.r)
        S = _FINAL * q if final is None else _weights("final", final, there.x)
        # S = Y X⁻¹ of the linear equations Ẋ = A X − B R⁻¹ Bᵀ Y, Ẏ = −Q X − Aᵀ Y, in steps backwards
        through, back = B @ np.linalg.solve(w, B.swapaxes(1, 2)), np.broadcast_to(q, A.shape)
        H = np.block([[A, -through], [-back, -A.swapaxes(1, 2)]])
        steps = _exponential(-h / 2.0 * (H[1:] + H[:-1]))
        self.gains, m = np.empty((n + 1, dyn.n_r, dyn.n_x)), dyn.n_x
        for k in reversed(range(n + 1)):
            self.gains[k] = np.linalg.solve(w, B[k].T @ S)
            if k:
                ahead = steps[k - 1] @ np.vstack([np.eye(m), S])
                S = np.linalg.solve(ahead[:m].T, ahead[m:].T)
                S = (S + S.T) / 2.0
        self._motion, self._limits = motion, limits.T

    def __call__(self, t: float, x: Array) -> Array:
        t = min(max(t, self.t[0]), self.t[-1])
        k = min(int(np.searchsorted(self.t, t, side="right")) - 1, len(self.t) - 2)
        part = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        gain = (1.0 - part) * self.gains[k] + part * self.gains[k + 1]
        there = self._motion.at(t)
        return np.asarray(np.clip(there.r[0] + gain @ (there.x[0] - x), *self._limits))


def _exponential(matrices: Array) -> Array:
    """The exponential of each matrix, by eight terms of its series and squares."""
    squares = max(0, int(np.ceil(np.log2(1e-12 + 4.0 * np.max(np.linalg.norm(matrices, axis=(1, 2)))))))
    small, result = matrices / 2.0**squares, np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for k in range(8, 0, -1):
        result = np.eye(matrices.shape[-1]) + small @ result / k
    for _ in range(squares):
        result = result @ result
    return np.asarray(result)


def _weights(name: str, matrix: Any, values: Array) -> Array:
    """A matrix of weights, or of its diagonal; by default each column of values counts by its range."""
    n = values.shape[1]
    if matrix is None:
        size = np.ptp(values, axis=0)
        return np.diag(1.0 / np.where(size > 1e-9 * np.max(size, initial=0.0), size, 1.0) ** 2)
    array = np.asarray(matrix, dtype=np.float64)
    if array.shape not in ((n,), (n, n)):
        raise ValueError(f"{name} has shape {array.shape}; it must be ({n},), a diagonal, or ({n}, {n})")
    return np.diag(array) if array.ndim == 1 else array
