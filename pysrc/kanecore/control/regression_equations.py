# SPDX-License-Identifier: BSD-3-Clause
"""Linear equations of measured motion, Y δπ + Y_j θ = −e, their least squares and standard errors.

The noise of the generalized force of each speed has a separate variance σ_i².  With A = (XᵀX)⁻¹, the columns X of the
base parameters at all states, and the projection P to the motions that constraints allow,

    cov = A (Σ_i σ_i² X_iᵀ X_i) A,      E Σ_k ê_ki² = Σ_l T_il σ_l²,    T_il = Σ_kk' (P − X A Xᵀ)²_(ki)(k'l)

so the variances follow from the residuals ê of all speeds (C. R. Rao, *Journal of the American Statistical Association*
67, 1972).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints
from kanecore.control.inverse_dynamics import all_values
from kanecore.control.physical_inertia import sizes, solid
from kanecore.rank import connected, equilibrated, independent_columns, speed_units
from kanecore.run.call_arguments import real_array
from kanecore.tolerances import EPSILON, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Equations", "Found"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

_AT_ONCE = 1024  # number of states with rows in memory at the same time
_SOME = 8  # number of states used to find equations that share a parameter
_NOTHING = 1e-12
"""A smaller column is rounding, and counts as zero.

There are three comparisons: for bodies, with the largest column of the same unit and body; for joints, with the column
before projection to the allowed motions; and, multiplied by the usual size of its parameter, with the terms of the
equations.
"""
_STILL = 1e-6  # floor of the terms of a speed at rest, relative to the largest connected terms by mass
_CLEAN = 1e2  # times ε and the condition: smaller coefficients, relative to the largest of a column, are rounding
_LEFT = 0.5  # degrees of freedom of a residual: with fewer an equation gives no variance


@dataclass(frozen=True)
class Found:
    """Base parameters, as changes from the model's.

    Attributes
    ----------
    absent : ndarray of bool
        Columns of bodies that are zero at all states.
    weights : ndarray
        At other base parameters the squared residual is larger by |``weights @ difference``|².
    """

    independent: tuple[int, ...]
    matrix: Array
    change: Array
    errors: Array
    condition: float
    absent: npt.NDArray[np.bool_]
    weights: Array


@dataclass(frozen=True)
class Equations:
    """Y δπ + Y_j θ = −e at all states, each state multiplied by its weight, (N,)."""

    dyn: Evaluator
    x: Array
    udot: Array
    r: Array | None
    t: Array
    chosen: Numbers
    deviations: Array | None
    weights: Array | None = None

    @classmethod
    def of(cls, dyn: Evaluator, x: Any, udot: Any, r: Any, t: Any, chosen: Numbers, deviations: Any) -> Equations:
        every = "a row for each state"
        states = real_array("x", x, (None, dyn.n_x), meaning=every, finite=False)
        rates = real_array("udot", udot, (None, dyn.n_u), meaning=every, finite=False)
        if not len(states):
            raise ValueError("x has no rows: give the states at which the generalized forces were measured")
        n = len(states)
        times = real_array("t", t, finite=False)
        inputs = None if r is None else all_values(dyn, "input", r)
        parts = {"udot": rates, "t": times, **({} if inputs is None else {"r": inputs})}
        for name, array in parts.items():
            if name == "udot" or array.ndim == (1 if name == "t" else 2):
                if len(array) != n:
                    raise ValueError(f"x has {n} rows and {name} has {len(array)}: give one for each state")
            elif array.ndim > (0 if name == "t" else 1):
                raise ValueError(f"{name} has shape {array.shape}, and x has shape {states.shape}")
        for name, array in {"x": states, **parts}.items():
            finite = np.isfinite(array)
            if not finite.all():
                row = f" in row {int(np.argwhere(~finite)[0][0])}" if array.ndim and len(array) == n else ""
                raise ValueError(f"{name} holds a number that is not finite{row}")
        if inputs is not None:
            inputs = np.broadcast_to(inputs, (n, dyn.n_r))
        given = None
        if deviations is not None:
            given = real_array("deviations", deviations, (dyn.n_u,), meaning="one for each speed")
            if not (given > 0.0).all():
                raise ValueError(f"deviations is {given.tolist()}; they must be positive")
        return cls(dyn, states, rates, inputs, times, chosen, given)

    def rows(self, k: Any) -> Equations:
        """The equations at some states."""
        r, weights = (None if a is None else a[k] for a in (self.r, self.weights))
        return replace(self, x=self.x[k], udot=self.udot[k], r=r, t=self.times(k), weights=weights)

    def times(self, k: Any) -> Any:
        """Times of a state, or of several."""
        return self.t[k] if self.t.ndim else self.t

    @property
    def some(self) -> Constraints:
        return Constraints(self.dyn, self.times(slice(None)), self.x, self.r)

    def _places(self) -> Iterator[slice]:
        """Blocks of states."""
        return (slice(first, first + _AT_ONCE) for first in range(0, len(self.x), _AT_ONCE))

    def parts(self) -> Iterator[tuple[Array, Array, Constraints]]:
        """[Y, Y_j] and e, in blocks of states."""
        for k in self._places():
            at = self.times(k), self.x[k], self.udot[k]
            r = None if self.r is None else self.r[k]
            columns = np.asarray(self.dyn.regressor(*at, r=r))
            if len(self.chosen):
                more = np.asarray(self.dyn.joint_regressor(*at, r=r))[..., self.chosen]
                columns = np.concatenate([columns, more], axis=-1)
            missing = np.asarray(self.dyn.inverse_dynamics(*at, r=r))
            finite = np.isfinite(columns).all(axis=(-2, -1)) & np.isfinite(missing).all(axis=-1)
            if not finite.all():
                row = k.start + int(np.argmin(finite))
                raise ValueError(f"the equations are not finite at the state in row {row}")
            if self.weights is not None:
                columns = columns * self.weights[k, np.newaxis, np.newaxis]
                missing = missing * self.weights[k, np.newaxis]
            yield columns, missing, Constraints(self.dyn, at[0], at[1], r)

    @cached_property
    def terms(self) -> Array:
        """Magnitude of the terms of each speed's equation at each state, |M| |u̇| + |f|: (N, n_u)."""
        parts = []
        for k in self._places():
            at = self.times(k), self.x[k]
            r = None if self.r is None else self.r[k]
            matrix = np.abs(self.dyn.mass_matrix(*at, r=r))
            parts.append(np.einsum("kij,kj->ki", matrix, np.abs(self.udot[k])) + np.abs(self.dyn.forcing(*at, r=r)))
        return np.concatenate(parts)

    @cached_property
    def _terms(self) -> Array:
        """Root mean square of the terms; for a speed at rest a share of that of the speeds with the same parameters."""
        with np.errstate(over="ignore"):
            total = np.mean(self.terms**2, axis=0)
        if not np.isfinite(total).all():
            raise ValueError("x and udot are so large that squares of the generalized forces are not finite")
        terms, some = np.sqrt(total), self.rows(slice(0, _SOME))
        columns, _, at = next(some.parts())
        mass = np.mean(np.abs(at.mass).reshape(-1, self.dyn.n_u, self.dyn.n_u), axis=0)
        units, shared = speed_units(mass, np.zeros((0, self.dyn.n_u))), np.sum(np.abs(columns), axis=0)
        together = connected((shared @ shared.T + mass) > 0.0)
        terms = np.maximum(terms, _STILL * np.max(np.where(together, terms * units, 0.0), axis=1) / units)
        return np.where(terms > 0.0, terms, 1.0)

    @property
    def sizes(self) -> Array:
        """Divisors of the equations of the speeds."""
        return self._terms if self.deviations is None else self.deviations

    @staticmethod
    def _allowed(at: Constraints, sizes: Array) -> Array | None:
        """Orthonormal basis of the allowed motions, in speeds times sizes; None if all motions are allowed."""
        if not at.dyn.n_constraints:
            return None
        _, s, of_columns = np.linalg.svd(equilibrated(at.rows, 1.0 / sizes))
        rank = np.sum(s > RANK * np.max(s, axis=-1, keepdims=True, initial=0.0), axis=-1)
        lost = np.arange(len(sizes)) < rank[:, np.newaxis]
        return np.asarray(np.swapaxes(np.where(lost[..., np.newaxis], 0.0, of_columns), -1, -2))

    def _triangle(self) -> tuple[Array, Array, Array, int]:
        """R of the QR factorization of all rows and −e, norms of columns, and the number of rows that count.

        Norms of columns are given before projection, and as root mean squares with each row divided by its terms.
        """
        sizes, shares = self.sizes, np.zeros(self.dyn.n_bodies * 10 + len(self.chosen))
        n = self.dyn.n_bodies * 10 + len(self.chosen)
        triangle, norms, count = np.zeros((0, n + 1)), np.zeros(n), 0
        for columns, missing, at in self.parts():
            rows = np.concatenate([columns, -missing[..., np.newaxis]], axis=-1) / sizes[:, np.newaxis]
            norms += np.sum(rows[..., :-1] ** 2, axis=(0, 1))
            shares += np.sum((columns / self._terms[:, np.newaxis]) ** 2, axis=(0, 1))
            allowed = self._allowed(at, sizes)
            if allowed is None:
                count += rows.shape[0] * rows.shape[1]
            else:
                count += int(np.sum(allowed.any(axis=-2)))
                rows = np.swapaxes(allowed, -1, -2) @ rows
            triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, rows.reshape(-1, n + 1)]), mode="r"))
        triangle = np.vstack([triangle, np.zeros((max(0, n + 1 - len(triangle)), n + 1))])
        return triangle, np.sqrt(norms), np.sqrt(shares / len(self.x)), count

    def least_squares(self, start: Array, tolerance: float) -> Found:
        """Base parameters; ValueError unless there are more equations."""
        triangle, before, shares, count = self._triangle()
        size = np.linalg.norm(triangle[:, :-1], axis=0)
        limit = before.copy()
        of_bodies = limit[: start.size].reshape(-1, 10)
        for kind in (slice(0, 1), slice(1, 4), slice(4, 10)):
            of_bodies[:, kind] = np.max(of_bodies[:, kind], axis=1, keepdims=True)
        there = (size > _NOTHING * limit) & (size > 0.0)
        there[: start.size] &= shares[: start.size] * sizes(solid(start)).ravel() > _NOTHING
        scaled = np.where(there, triangle[:, :-1] / np.where(there, size, 1.0), 0.0)
        independent = independent_columns(scaled, tolerance, start.size)
        rank = len(independent)
        if count <= rank:
            raise ValueError(
                f"{len(self.x)} states give {count} equations, and {rank} base parameters or more follow from them: "
                "give more states, of a motion in which all joints move"
            )
        chosen = scaled[:, independent]
        q, upper = np.linalg.qr(chosen)
        condition = float(np.linalg.cond(chosen)) if rank else 1.0
        inverse = np.linalg.inv(upper)
        weights = inverse @ (q.T @ scaled)
        largest = np.max(np.abs(weights), axis=0, initial=1.0, keepdims=True)
        weights[np.abs(weights) <= _CLEAN * EPSILON * condition * largest] = 0.0
        matrix = weights * size / size[independent][:, np.newaxis]
        matrix[:, independent] = np.eye(rank)
        change = inverse @ (q.T @ triangle[:, -1])
        errors = self._standard_errors(independent, size[independent], inverse, change, count)
        return Found(
            independent=tuple(map(int, independent)),
            matrix=matrix,
            change=change / size[independent],
            errors=errors / size[independent],
            condition=condition,
            absent=before[: start.size] == 0.0,
            weights=upper * size[independent],
        )

    def _standard_errors(self, chosen: Numbers, scale: Array, inverse: Array, change: Array, count: int) -> Array:
        """Standard errors of the chosen parameters times ``scale``, with a variance for each speed.

        ``inverse`` is the inverse of R in X = Q R, so that A = R⁻¹ R⁻ᵀ and the rows of X R⁻¹ are orthonormal.  If
        states have weights w of soft_l1, the noise is that of w² ê, which outliers do not enlarge, and A is divided by
        the mean of its derivative, w⁶, relative to that of w² (Huber, *Robust Statistics*, 1981, section 7.6).
        """
        n, sizes = self.dyn.n_u, self.sizes[:, np.newaxis]
        squares, leverages = np.zeros(n), np.zeros((n, len(chosen), len(chosen)))
        shares = np.zeros((n, n))  # Σ_k P_il² − 2 P_il (X A Xᵀ)_il
        for k, (columns, missing, at) in zip(self._places(), self.parts(), strict=True):
            own = columns[..., chosen] / (scale * sizes)
            rest = missing / sizes[:, 0] + own @ change
            allowed = self._allowed(at, sizes[:, 0])
            projector = np.eye(n) if allowed is None else allowed @ np.swapaxes(allowed, -1, -2)
            rest, own = (projector @ rest[..., np.newaxis])[..., 0], projector @ own @ inverse
            hat = own @ np.swapaxes(own, -1, -2)
            shares += np.sum(np.broadcast_to(projector, hat.shape) * (projector - 2.0 * hat), axis=0)
            if self.weights is not None:
                rest, own = rest * self.weights[k, np.newaxis], own / self.weights[k, np.newaxis, np.newaxis]
            squares += np.sum(rest**2, axis=0)
            leverages += np.moveaxis(own, 0, 2) @ np.moveaxis(own, 0, 1)
        flat = leverages.reshape(n, -1)
        expected = shares + flat @ flat.T
        variances = _not_negative(expected, squares)
        pooled = float(np.sum(squares)) / (count - len(chosen))
        variances = np.where(np.diag(expected) > _LEFT, variances, pooled)
        covariance = inverse @ np.tensordot(variances, leverages, 1) @ inverse.T
        slope = 1.0
        if self.weights is not None:  # one of the equations of a state decides its weight
            slope = float((np.sum(self.weights**6) / np.sum(self.weights**2) + n - 1) / n)
        return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0.0)) / slope)

    def rests(self, change: Array) -> Array:
        """Residuals of all equations after a change of [π, θ], projected on the allowed motions: (N, n_u)."""
        found = []
        for columns, missing, at in self.parts():
            found.append(self.project((missing + columns @ change)[..., np.newaxis], at)[..., 0])
        return np.concatenate(found)

    def missing(self, r: Array) -> Array:
        """The residual e with other inputs, projected on the allowed motions: (N, n_u)."""
        at = Constraints(self.dyn, self.times(slice(None)), self.x, r)
        found = np.asarray(self.dyn.inverse_dynamics(at.t, at.x, self.udot, r=r))
        return self.project(found[..., np.newaxis], at)[..., 0]

    def project(self, columns: Array, at: Constraints) -> Array:
        """Columns of equations, (..., n_u, n), projected on the allowed motions."""
        allowed, sizes = self._allowed(at, self.sizes), self.sizes[:, np.newaxis]
        return columns if allowed is None else allowed @ (np.swapaxes(allowed, -1, -2) @ (columns / sizes)) * sizes


def _not_negative(matrix: Array, values: Array) -> Array:
    """The least-squares solution without negative values; values that would be negative are zero."""
    kept = np.ones(len(values), dtype=bool)
    while True:
        found = np.zeros(len(values))
        found[kept] = np.linalg.lstsq(matrix[:, kept], values, rcond=RANK)[0]
        if not (found < 0.0).any():
            return found
        kept &= found >= 0.0
