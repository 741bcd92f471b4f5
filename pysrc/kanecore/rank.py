# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of matrices at numbers, independent columns, and the metric of the masses in which rows are compared.

Among equivalent sets of independent columns the first ones are chosen.  A QR factorization that took every column with
any remainder would take columns whose remainder is a millionth, as of an axis that a file gives with seven digits.  The
next columns would then hold nothing but the rounding of that remainder.  With the largest column first this cannot
happen, but then the choice of columns is arbitrary.  As a compromise, the next pivot is the first column that is not
much smaller than the largest (Golub & Van Loan, *Matrix Computations*, 4th ed., 2013, section 5.4).

A speed times √M_jj has the same unit for every speed.  So have the coordinates that such speeds change, and the rows of
G in these columns.  In this metric of the masses rows are compared, ranks are counted and changes are minimised, so
that nothing depends on the units of a model.  ``emit/runtime/constraint_solver.h`` does the same in C.

Functions of arrays alone; `kanecore.constraints.constraint_values` evaluates the kernels that they need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EPSILON, EQUAL, INDEPENDENT, NOISE, RANK

__all__ = [
    "NEAR",
    "cancelled",
    "clear",
    "connected",
    "connected_columns",
    "coordinate_units",
    "equilibrated",
    "extents",
    "independent_columns",
    "independent_rows",
    "null_space",
    "pivots",
    "rank_of",
    "size_of",
    "speed_units",
]

_MUCH = 1e-3  # of the largest that is left: a column that is smaller waits
_ROUNDING = 1e2  # times ε, relative to the smallest pivot before: smaller entries are rounding, scaled up by it


def independent_columns(
    columns: npt.NDArray[np.float64], tolerance: float, n: int | None = None
) -> npt.NDArray[np.intp]:
    """Numbers of independent columns from which the others follow, in rising order.

    Parameters
    ----------
    tolerance : float
        A column follows from others if its part that is orthogonal to them, relative to its size, is less than this.
    n : int, optional
        As many columns as possible are taken from the first n, before later ones are looked at.
    """
    sizes = np.linalg.norm(columns, axis=0)
    rest = columns / np.where(sizes > 0.0, sizes, 1.0)
    found, least = list[int](), 1.0
    for group in (slice(0, n), slice(n, None)) if n is not None else (slice(None),):
        first = group.start or 0
        while True:
            sizes = np.linalg.norm(rest[:, group], axis=0)
            largest = float(np.max(sizes, initial=0.0))
            if largest <= max(tolerance, _ROUNDING * EPSILON / least):
                break
            j = first + int(np.flatnonzero(sizes >= _MUCH * largest)[0])
            axis = rest[:, j] / sizes[j - first]
            rest -= np.outer(axis, axis @ rest)
            rest -= np.outer(axis, axis @ rest)  # once more, against rounding
            rest[:, found] = rest[:, [j]] = 0.0
            found.append(j)
            least = min(least, largest)
    return np.array(sorted(found), dtype=np.intp)


Array = npt.NDArray[np.float64]

NEAR = 1e-2
"""Relative to `extents`: the distance from a state at which rows are looked at again."""


def speed_units(mass: Array, rows: Array) -> Array:
    """Units of the speeds, 1/√|M_jj|, (..., n_u); a speed that moves no mass has one from its rows."""
    weights = np.abs(np.diagonal(mass, axis1=-2, axis2=-1))
    heavy = weights > 0.0
    units = np.where(heavy, 1.0 / np.sqrt(np.where(heavy, weights, 1.0)), 0.0)
    if not heavy.all():
        size = size_of(np.abs(rows) * units[..., np.newaxis, :])[..., np.newaxis]
        largest = np.max(np.abs(rows) / size, axis=-2, initial=0.0)
        light = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 1.0)
        units = np.where(heavy, units, light)
    return np.asarray(units)


def coordinate_units(slopes: Array, units: Array) -> Array:
    """Units of coordinates, from those of the speeds and slopes ∂q̇/∂u, (..., n_q); 0 if no speed moves one."""
    return np.asarray(np.linalg.norm(slopes * units[..., np.newaxis, :], axis=-1))


def extents(values: Array, units: Array) -> Array:
    """Reference magnitude of each coordinate or speed: its value plus the largest of all, in its unit."""
    moved = units > 0.0
    largest = np.max(np.abs(values[moved]) / units[moved], initial=0.0)
    return np.asarray(np.abs(values) + (largest * units if largest > 0.0 else 1.0))


def clear(entries: Array, scaled: Array) -> Array:
    """Matrix without entries that are tiny relative to their row or to all with which it is connected.

    ``scaled`` are the entries in equal units.
    """
    size = np.abs(scaled)
    largest = size.max(axis=1, keepdims=True, initial=0.0)
    beside = np.max(np.where(connected_columns(size > 0.0), size.max(axis=0, initial=0.0), 0.0), axis=1, initial=0.0)
    return np.where(size > np.maximum(EQUAL * largest, NOISE * beside[:, np.newaxis]), entries, 0.0)


def connected_columns(present: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Columns with which each row is connected, by entries that are present in rows and columns: (m, n)."""
    numbers = present.astype(np.float64)
    return np.asarray(numbers @ connected(numbers.T @ numbers > 0.0) > 0.0)


def connected(links: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Test of each pair of n things, (n, n): ``links`` (n, n) of either direction connect them, also by others."""
    reached = links | links.T | np.eye(len(links), dtype=bool)
    while True:
        further = (reached.astype(np.float64) @ reached) > 0.0
        if (further == reached).all():
            return reached
        reached = further


def size_of(rows: Array) -> Array:
    """The largest entry of each row; 1 for a row of zeros."""
    size = np.max(np.abs(rows), axis=-1, initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def cancelled(rows: Array, terms: Array, units: Array) -> npt.NDArray[np.bool_]:
    """Test of each row: all that is left of the terms of its entries is rounding, (..., m).

    It decides as ``kc_cancel`` of ``emit/runtime/constraint_solver.h`` does.

    Parameters
    ----------
    rows, terms : (..., m, n)
        Entries, and the magnitudes of the terms that they are sums of; 0 where these are not known.
    units : (..., n)
    """
    left, size = (np.max(np.abs(x) * units[..., np.newaxis, :], axis=-1, initial=0.0) for x in (rows, terms))
    return np.asarray((size > 0.0) & (left <= RANK * size))


def equilibrated(rows: Array, units: Array) -> Array:
    """Rows of equal size, in columns of equal units."""
    scaled = rows * units[..., np.newaxis, :]
    return np.asarray(scaled / size_of(scaled)[..., np.newaxis])


def independent_rows(scaled: Array, count: int | None = None) -> list[int]:
    """Rows of a matrix that all others follow from, by elimination with the largest pivots.

    It decides as ``kc_reduce`` of ``emit/runtime/constraint_solver.h`` does for the kernels.

    Parameters
    ----------
    scaled : (m, n)
        Rows of equal size, in columns of equal units; smaller rows are no pivots.
    count : int, optional
        How many rows count, if that is known: further pivots must be clear, not only larger than rounding.
    """
    rest, found = scaled.copy(), list[int]()
    while rest.size and len(found) < len(rest):
        i, j = np.unravel_index(int(np.argmax(np.abs(rest))), rest.shape)
        if not abs(rest[i, j]) > (RANK if count is None or len(found) < count else INDEPENDENT):
            break
        found.append(int(i))
        rest = rest - np.outer(rest[:, j] / rest[i, j], rest[i])
        rest[found], rest[:, j] = 0.0, 0.0
    return found


def rank_of(rows: Array, units: Array, count: int | None = None) -> int:
    """Rank of one matrix, scaled and decided as in the kernels."""
    scaled = rows * _power_of_two(units)
    sizes = np.maximum(size_of(scaled), np.finfo(np.float64).tiny)
    scaled = scaled * _power_of_two(1.0 / sizes)[:, np.newaxis]
    if all_independent(scaled):
        return len(scaled)
    return len(independent_rows(scaled, count))


def all_independent(rows: Array) -> bool:
    """Test whether elimination surely finds a pivot in every row, by the least singular value σ.

    After k pivots the entries left differ from the matrix by one of rank k, so that their norm is at least σ, and the
    largest of them at least σ/√(m n).
    """
    m, n = rows.shape
    if not 0 < m <= n:
        return not m
    return bool(np.linalg.svd(rows, compute_uv=False)[-1] > 2.0 * INDEPENDENT * np.sqrt(m * n))


def _power_of_two(x: Array) -> Array:
    """Least power of two that is not smaller, or 0: a factor without rounding."""
    mantissa, exponent = np.frexp(x)
    return np.where(x > 0.0, np.ldexp(1.0, exponent - (mantissa == 0.5)), 0.0)


def pivots(rows: Array, rank: int) -> npt.NDArray[np.intp]:
    """Independent columns of a matrix, as many as its rank, each farthest from those before; of equal ones the last."""
    rest, chosen = rows.copy(), list[int]()
    for _ in range(rank):
        sizes = np.linalg.norm(rest, axis=0)
        chosen.append(int(np.flatnonzero(sizes >= (1.0 - EQUAL) * np.max(sizes))[-1]))
        direction = rest[:, chosen[-1]] / sizes[chosen[-1]]
        rest -= np.outer(direction, direction @ rest)
    return np.array(sorted(chosen), dtype=np.intp)


def null_space(rows: Array, units: Array) -> Array:
    """Orthonormal basis, in units, of the null space of one matrix: (n, n − rank)."""
    _, _, of_columns = np.linalg.svd(equilibrated(rows, units))
    return np.asarray(of_columns[rank_of(rows, units) :].T)
