# SPDX-License-Identifier: BSD-3-Clause
"""Modes of linear equations ż = A z + B δr, by the names of the states, and the uncontrollable modes.

λ is uncontrollable if wᵀ A = λ wᵀ and wᵀ B = 0 for some w (Popov, Belevitch & Hautus; Kailath, *Linear Systems*,
1980, section 6.2).  All such w lie in the largest subspace W with Wᵀ B = 0 and Wᵀ A = A_w Wᵀ.  So W is computed, and
the eigenvalues of A_w are the λ.  Repeated eigenvalues, which rounding scatters, do not affect W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.rank import connected, pivots
from kanecore.tolerances import EPSILON, EQUAL, NOISE

__all__ = ["Mode", "balance", "eigenvalues", "in_units", "modes_of", "unreached"]

Array = npt.NDArray[np.float64]
Eigen = npt.NDArray[np.float64] | npt.NDArray[np.complex128]

_NONE = np.zeros(0, dtype=np.complex128)
_SWEEPS = 5  # sweeps of balancing; units within a factor of two suffice
_SHOWN = 0.2  # least part of a state in a mode to be named, relative to the largest, in the metric of the masses
_NAMES = 3  # largest number of named states


@dataclass(frozen=True)
class Mode:
    """Mode with the eigenvalue λ = −ζ ω ± i ω √(1 − ζ²); for a pair, with positive imaginary part.

    Attributes
    ----------
    eigenvalue : complex
    frequency : float
        ω = |λ|, rad/s.
    damping : float
        ζ = −Re λ / |λ|; NaN for λ = 0.
    states : tuple of str
        Names of the states with the largest parts in the mode, the largest first, in the metric of the masses.
    vector : ndarray, (n,)
        The eigenvector A v = λ v, in the units of the states; for an uncontrollable mode wᵀ A = λ wᵀ.  For k equal
        eigenvalues the k vectors are a basis of (A − λ)^k v = 0.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    states: tuple[str, ...]
    vector: npt.NDArray[np.complex128]

    @property
    def value(self) -> str:
        """The eigenvalue, or the pair, with five digits."""
        imaginary = f" ± {self.eigenvalue.imag:.5g}i" if self.eigenvalue.imag else ""
        return f"{self.eigenvalue.real:.5g}{imaginary}"


def balance(a: Array, units: Array, n_coordinates: int, n_first_order: int = 0) -> Array:
    """Units in which coordinates and speeds change alike, from the units in the metric of the masses.

    Only the unit of time is free there.  It is chosen from A, so that results do not depend on the user's unit.  Units
    of the last ``n_first_order`` states are free, and make the row and column of each in A equally large (Osborne
    1960).
    """
    end = len(units) - n_first_order
    units = np.concatenate([_balanced(a[:end, :end], units[:end], n_coordinates), units[end:]])
    for _ in range(_SWEEPS if n_first_order else 0):
        for i in range(end, len(units)):
            others = np.arange(len(units)) != i
            scaled = np.abs(in_units(a, units))
            row, column = np.max(scaled[i, others], initial=0.0), np.max(scaled[others, i], initial=0.0)
            units[i] *= np.sqrt(row / column) if row > 0.0 and column > 0.0 else 1.0
    return units


def _balanced(a: Array, units: Array, n_coordinates: int) -> Array:
    scaled, n = np.abs(in_units(a, units)), n_coordinates
    rates, forces, growth, damping = (
        float(np.max(part, initial=0.0)) for part in (scaled[:n, n:], scaled[n:, :n], scaled[:n, :n], scaled[n:, n:])
    )
    fastest = max(np.sqrt(rates * forces), growth, damping)
    time = rates / fastest if rates > 0.0 and fastest > 0.0 else 1.0
    return np.concatenate([units[:n] * time, units[n:]])


def in_units(a: Array, units: Array) -> Array:
    """A for states in some units, without tiny rounding errors, by which LAPACK would scale."""
    scaled = a / units[:, np.newaxis] * units
    return np.where(np.abs(scaled) > EPSILON**2 * np.max(np.abs(scaled), initial=0.0), scaled, 0.0)


def modes_of(a: Array, units: Array, names: tuple[str, ...]) -> tuple[Mode, ...]:
    """All modes, the fastest growing first."""
    scaled = in_units(a, units)
    parts = _parts(scaled != 0.0)
    within = [scaled[np.ix_(part, part)] for part in parts]
    return _sorted(*_joined(parts, [_eigen(matrix, matrix) for matrix in within]), units, names)


def _joined(
    parts: list[npt.NDArray[np.intp]], found: list[tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]]
) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """Eigenvalues and vectors for all states, from those of parts."""
    values = np.concatenate([each for each, _ in found] or [_NONE])
    vectors = np.zeros((sum(map(len, parts)), len(values)), dtype=np.complex128)
    first = 0
    for part, (_, own) in zip(parts, found, strict=True):
        vectors[part, first : first + own.shape[1]] = own
        first += own.shape[1]
    return values, np.asarray(vectors, dtype=np.complex128)


def unreached(a: Array, b: Array, units: Array, names: tuple[str, ...], rounding: Array) -> tuple[Mode, ...]:
    """The modes wᵀ A = λ wᵀ, wᵀ B = 0; columns of B within their ``rounding``, (n, m), are zero."""
    scaled = in_units(a, units)
    columns, noise = (np.abs(m) / units[:, np.newaxis] for m in (b, rounding))
    sizes = np.max(columns, axis=0, initial=0.0)
    acts = sizes > np.max(noise, axis=0, initial=0.0)
    columns = (b / units[:, np.newaxis])[:, acts] / sizes[acts]
    parts = _parts((scaled != 0.0) | (np.abs(columns) @ np.abs(columns.T) > 0.0))
    found = [_unreached(scaled[np.ix_(part, part)], columns[part]) for part in parts]
    return _sorted(*_joined(parts, found), 1.0 / units, names)


def _unreached(scaled: Array, columns: Array) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """The λ and w of a part, in equal units and columns of equal size."""
    basis, size = _null_rows(columns, _norm(columns)), _norm(scaled)
    while basis.shape[1]:
        moved = scaled.T @ basis
        inside = _null_rows((moved - basis @ (basis.T @ moved)).T, size)
        if inside.shape[1] == basis.shape[1]:
            break
        basis = basis @ inside
    # a basis of vectors with few states: the modes, for equal eigenvalues
    leading = pivots(basis.T, basis.shape[1])
    basis = basis @ np.linalg.inv(basis[leading])
    within = (scaled.T @ basis)[leading]
    values, vectors = _eigen(np.where(np.abs(within) > NOISE * size, within, 0.0), scaled)
    return values, np.asarray(basis @ vectors, dtype=np.complex128)


def rounded(values: Any, matrix: Array) -> npt.NDArray[np.complex128]:
    """Eigenvalues with zero for real or imaginary parts within rounding of the matrix."""
    limit = NOISE * _norm(matrix)
    parts = (np.where(np.abs(part) > limit, part, 0.0) for part in (values.real, values.imag))
    return np.asarray(next(parts) + 1j * next(parts))


def eigenvalues(matrix: Array) -> npt.NDArray[np.complex128]:
    """Eigenvalues; for the null space, such as a body's free motion, they are exactly zero."""
    return np.concatenate([_values_of(matrix[np.ix_(part, part)]) for part in _parts(matrix != 0.0)] or [_NONE])


def _values_of(matrix: Array) -> npt.NDArray[np.complex128]:
    """Eigenvalues of one part."""
    _, inside, outside = _split(matrix)
    return rounded(np.concatenate([np.zeros(inside.shape[1]), np.linalg.eigvals(outside.T @ matrix @ outside)]), matrix)


def _parts(links: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Parts of connected states; rates are compared within a part only."""
    together = connected(links)
    return [np.flatnonzero(row) for i, row in enumerate(together) if np.argmax(row) == i]


def _split(matrix: Array) -> tuple[Array, Array, Array]:
    """A on its generalized null space, an orthonormal basis of that space, and a basis of its orthogonal complement.

    The first vectors have A v = 0, the next have A v in the space of the first, and so on, to rounding of A: the
    eigenvalues of a chain of two would be square roots of rounding errors (Kublanovskaya, *USSR Computational
    Mathematics and Mathematical Physics* 6, 1966).
    """
    size, inside, outside = _norm(matrix), np.zeros((len(matrix), 0)), np.eye(len(matrix))
    while outside.shape[1]:
        more = outside @ _null_rows((outside.T @ matrix @ outside).T, size, NOISE)
        if not more.shape[1]:
            break
        inside = np.hstack([inside, more])
        outside = np.linalg.qr(inside, mode="complete")[0][:, inside.shape[1] :]
    return inside.T @ matrix @ inside, inside, outside


def _eigen(matrix: Array, whole: Array) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """Eigenvalues and vectors of a matrix, or of a part of one; for k equal ones a basis of (A − λ)^k v = 0."""
    null, inside, outside = _split(matrix)
    values, beside = np.linalg.eig(outside.T @ matrix @ outside)
    vectors = outside @ beside.astype(np.complex128)
    for i, value in enumerate(values):  # a vector of A itself: its part in the null space follows
        shift = null - value * np.eye(len(null))
        vectors[:, i] -= inside @ np.linalg.solve(shift, inside.T @ (matrix @ vectors[:, i]))
        vectors[:, i] /= np.linalg.norm(vectors[:, i])
    values = rounded(np.concatenate([np.zeros(len(null)), values]), whole)
    vectors = np.hstack([inside.astype(np.complex128), vectors])
    for value in np.unique(values.real[values.imag == 0.0]):
        equal = np.flatnonzero(values == value)
        if len(equal) > 1:
            if len(null) and value == 0.0 and len(equal) == len(null):
                basis = inside.T
            else:
                power = np.linalg.matrix_power(matrix - value * np.eye(len(matrix)), len(equal))
                basis = np.linalg.svd(power)[2][-len(equal) :]
            # a basis of vectors with few states
            vectors[:, equal] = np.linalg.solve(basis[:, pivots(basis, len(equal))], basis).T
    return values, np.asarray(vectors, dtype=np.complex128)


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0


def _null_rows(matrix: Array, size: float, tolerance: float = EQUAL) -> Array:
    """Orthonormal basis of the w with wᵀ M = 0, to rounding relative to a size."""
    of_rows, s, _ = np.linalg.svd(matrix)
    return np.asarray(of_rows[:, int(np.sum(s > tolerance * size)) :])


def _sorted(
    values: npt.NDArray[np.complex128], vectors: Eigen, units: Array, names: tuple[str, ...]
) -> tuple[Mode, ...]:
    order = sorted((i for i in range(len(values)) if values[i].imag >= 0.0), key=lambda i: -values[i].real)
    return tuple(_mode(complex(values[i]), vectors[:, i], units, names) for i in order)


def _mode(value: complex, vector: Eigen, units: Array, names: tuple[str, ...]) -> Mode:
    parts = np.abs(vector)
    largest = [i for i in np.argsort(-parts, kind="stable") if parts[i] > _SHOWN * np.max(parts)][:_NAMES]
    frequency = abs(value)
    damping = 0.0 - value.real / frequency if frequency > 0.0 else float("nan")
    return Mode(value, frequency, damping, tuple(names[i] for i in largest), (vector * units).astype(np.complex128))
