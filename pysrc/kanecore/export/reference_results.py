# SPDX-License-Identifier: BSD-3-Clause
"""Reference results of kernels at a few states, and the tolerance for another computation of them.

The condition of a number is its largest change if all numbers from which it is computed change by one unit of their
last digit.  A computation with other rounding differs by a small multiple of the condition (Higham, *Accuracy and
Stability of Numerical Algorithms*, 2nd ed. 2002, section 1.6).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.audit.audit_states import random_states
from kanecore.errors import KanecoreError, KanecoreWarning, StateError
from kanecore.kernels import Kernel
from kanecore.tolerances import EPSILON, NOISE

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Vector", "Vectors"]

Array = npt.NDArray[np.float64]

STATES = 3
_LONGEST, _SHORTEST = 2.0**-10, 2.0**-30  # steps in time, s
_RESOLVED = 1e-2  # of a number and its change: what two steps of half the length may differ by
_CHANGES = 8  # with random signs, of all numbers at once, for each size
_SIZES = (2.0**-24, 2.0**-50)  # of the changes, relative to the numbers
_ROUNDING = 1e-2  # a result that rounding changes by more, relative to its largest number, is a rounded zero
_UNITS = 1000  # in the last digit of all that a result depends on: how far another computation may be off


@dataclass(frozen=True)
class Vector:
    """Result of a function: the state at which it is computed, and the tolerance for another computation."""

    function: str
    t: float
    x: Array
    r: Array
    expected: Array
    near: Array


class Vectors:
    """Reference results of one model.

    Parameters
    ----------
    dyn : Evaluator
        Model that computes in doubles.
    epsilon : float
        The distance from 1 to the next number of the type that others compute with.

    Attributes
    ----------
    p : ndarray, (n_p,)
        The parameters of all results.
    rank : int
        Number of rows of G that count at the states, if it differs from the one that ``prepare`` finds; else -1.
    digits_left : dict
        Number of correct decimal digits of each function's result at the worst of the vectors found so far, if all
        that the function reads is rounded to the type.
    step_length : float
        Length of steps in time, s, a power of two that the motion at all states allows.
    beyond : str or None
        Value that is too large or too small for a number of the type, at a state that therefore serves no test.
    """

    def __init__(self, dyn: Evaluator, epsilon: float) -> None:
        self._dyn, self._epsilon = dyn, epsilon
        self._type = np.float32 if epsilon > EPSILON else np.float64
        self.p = self._rounded(dyn.kernels.values("parameter"))
        self._rng = np.random.default_rng(0)
        self.digits_left: dict[str, float] = {}
        self.rank = -1
        self.step_length = _LONGEST
        self.beyond: str | None = None

    def _rounded(self, values: Any) -> Array:
        """Round values to the type."""
        return np.asarray(values, dtype=self._type).astype(np.float64)

    def states(self) -> list[tuple[float, Array, Array]]:
        """Random (t, x, r) on the constraints; none if none was found."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KanecoreWarning)
            try:
                found = random_states(self._dyn, STATES, None, 0)
            except KanecoreError:
                return []
        if self._dyn.n_constraints and found.rank != int(self._dyn.prepare(self.p)[-1]):
            self.rank = found.rank
        places = [
            (float(self._rounded(t)), self._rounded(x), self._rounded(r))
            for t, x, r in zip(found.t, found.x, found.r, strict=True)
        ]
        places = [place for place in places if self._holds(*place)]
        while self.step_length > _SHORTEST and not all(self._resolves(*place) for place in places):
            self.step_length /= 2
        return places

    def _resolves(self, t: float, x: Array, r: Array) -> bool:
        """Test whether steps resolve the motion, as they do not beyond the stability of the method at a stiff wall."""
        h = self.step_length

        def end(t: float, x: Array, h: float) -> Array:
            return _step(self._dyn, h, False, np.asarray(t), x, r, self.p)

        try:
            whole = end(t, x, h)
            halves = end(t + h / 2, end(t, x, h / 2), h / 2)
        except StateError:
            return False
        near = _RESOLVED * (np.abs(x) + np.abs(whole - x)) + NOISE * np.max(np.abs(whole), initial=0.0)
        return bool((np.abs(halves - whole) <= near).all())

    def _holds(self, t: float, x: Array, r: Array) -> bool:
        """Test whether the type can hold M's diagonal and udot: otherwise no solution has digits."""
        limits = np.finfo(self._type)
        try:
            pivots = np.diagonal(self._dyn.mass_matrix(t, x, r=r, p=self.p))
            results = {"M's diagonal": pivots, "udot": self._dyn.udot(t, x, r=r, p=self.p)}
        except StateError:
            return True
        small = [*pivots[(pivots != 0.0) & (np.abs(pivots) < float(limits.tiny))]]
        large = {name: np.max(np.abs(values), initial=0.0) for name, values in results.items()}
        too_large = [f"{name} is {size:.1e}" for name, size in large.items() if size > float(limits.max)]
        if too_large or small:
            self.beyond = [*too_large, *(f"M's diagonal holds {size:.1e}" for size in small)][0]
        return not (too_large or small)

    def step(self, slopes: bool, t: float, x: Array, r: Array) -> Vector | None:
        """Expected result of a step in time; its derivatives follow the state, if wanted."""
        name = "take_step_jacobian" if slopes else "take_step"
        return self.of(name, partial(_step, self._dyn, self.step_length, slopes), t, x, r)

    def of_kernel(self, kernel: Kernel, t: float, x: Array, r: Array) -> Vector | None:
        """None if there is no result at this state."""
        dyn = self._dyn
        sizes = {f"n_{name}": size for name, size in dyn.sizes.items()}
        n = dyn.n_u * kernel.reads_udot + dyn.n_constraints * kernel.reads_multipliers + sum(kernel.further(sizes))
        beyond = self._rounded(self._rng.uniform(-1.0, 1.0, n))
        function = _function(dyn, kernel)
        n_x = dyn.n_x
        places = [n_x, n_x + dyn.n_u] if kernel.reads_multipliers else [n_x]

        def call(t: Array, x: Array, r: Array, p: Array) -> Array:
            further = [] if not kernel.beyond else [x[..., n_x:]] if kernel.internal else np.split(x, places, -1)[1:]
            values = function(t, x[..., :n_x], *further, r=r, p=p)
            return np.asarray(values).reshape(*np.shape(t), -1)

        return self.of(kernel.name, call, t, np.concatenate([x, beyond]), r)

    def of(
        self, name: str, call: Callable[[Array, Array, Array, Array], Array], t: float, x: Array, r: Array
    ) -> Vector | None:
        """Expected result of any function of t, x, r, p."""
        numbers = np.concatenate([[t], x, r, self.p])
        signs = self._rng.choice([-1.0, 1.0], (1 + 2 * _CHANGES, len(numbers)))
        sizes = np.repeat([0.0, *_SIZES], [1, _CHANGES, _CHANGES])[:, np.newaxis]
        arguments = np.split(numbers * (1.0 + sizes * signs), np.cumsum([1, len(x), len(r)]), axis=-1)
        try:
            values = call(arguments[0][:, 0], *arguments[1:])
        except StateError:
            return None
        if not (np.abs(values) <= float(np.finfo(self._type).max)).all():
            return None
        expected = values[0]
        # large changes show the condition, small ones the effect of rounding inside
        spread = np.max(np.abs(values[1:] - expected) / sizes[1:], axis=0, initial=0.0)
        largest = np.max(np.abs(expected), initial=0.0)
        near = _UNITS * self._epsilon * (spread + np.abs(expected) + largest)
        changed = np.max(spread, initial=0.0) / largest if largest > 0.0 else 0.0
        if changed < _ROUNDING / EPSILON:  # else only rounding of zero
            digits = -np.log10(max(self._epsilon * changed, self._epsilon))
            self.digits_left[name] = min(digits, self.digits_left.get(name, np.inf))
        return Vector(name, t, x, r, expected, near)


def _step(dyn: Evaluator, h: float, slopes: bool, t: Array, x: Array, r: Array, p: Array) -> Array:
    """Results of `step`, (..., n_x), or of `step_jacobian`, with flat rows, of exported C (``c_files/step.c``)."""
    n, sides = dyn.n_x, dyn.n_x + dyn.n_r
    start = np.eye(n, sides)
    inputs = np.broadcast_to(np.eye(dyn.n_r, sides, n), (*x.shape[:-1], dyn.n_r, sides))
    slope, total = np.zeros_like(x), np.zeros_like(x)
    change, sum_of_changes = np.zeros((*x.shape, sides)), np.zeros((*x.shape, sides))
    for reach, weight in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
        time, place = t + reach * h, x + reach * h * slope
        if slopes:
            moved = np.concatenate([start + reach * h * change, inputs], axis=-2)
            change = dyn.kernels.linearize(time, place, r=r, p=p) @ moved
            sum_of_changes = sum_of_changes + weight * change
        slope = dyn.rhs(time, place, r=r, p=p)
        total = total + weight * slope
    end, jacobian = x + h * total, start + h * sum_of_changes
    for quaternion in map(list, dyn.unit):
        length = np.linalg.norm(end[..., quaternion], axis=-1, keepdims=True)
        unit = end[..., quaternion] / length
        rows = jacobian[..., quaternion, :]
        along = np.einsum("...i,...ij->...j", unit, rows)
        jacobian[..., quaternion, :] = (rows - unit[..., np.newaxis] * along[..., np.newaxis, :]) / length[
            ..., np.newaxis
        ]
        end[..., quaternion] = unit
    return np.concatenate([end, jacobian.reshape(*x.shape[:-1], -1)], axis=-1) if slopes else end


def _function(dyn: Evaluator, kernel: Kernel) -> Callable[..., Any]:
    """The method that calls a kernel."""
    if kernel.remainder_of:
        method = getattr(dyn, kernel.remainder_of)
        return lambda *arguments, **named: method(*arguments, remainder=True, **named)
    found: Callable[..., Any] = dyn.kernels.method(kernel.name)
    return found
