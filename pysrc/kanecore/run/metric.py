# SPDX-License-Identifier: BSD-3-Clause
"""Rows, coordinates and speeds of different units beside each other: the metric of the masses.

A speed times √M_jj is a number of one unit, whatever the speed is; so are the coordinates that such speeds change, and
the rows of G in these columns.  In this metric rows are compared, ranks are counted and least changes are least, so
that nothing depends on the units of a model.  ``emit/runtime/saddle.h`` does the same in C.

Functions of arrays alone; `kanecore.run.constraints` evaluates the kernels that they need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EQUAL, INDEPENDENT, NOISE, RANK

__all__ = [
    "NEAR",
    "clear",
    "coordinate_units",
    "equilibrated",
    "extents",
    "independent_rows",
    "null_space",
    "pivots",
    "rank_of",
    "size_of",
    "speed_units",
]

Array = npt.NDArray[np.float64]

NEAR = 1e-2
"""Of `extents`: how far away from a state rows are looked at again."""


def speed_units(mass: Array, rows: Array) -> Array:
    """1/√|M_jj|, (..., n_u): how much of each speed is one unit; of one that moves no mass as its rows tell."""
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
    """How far each coordinate goes at units of the speeds, with slopes ∂q̇/∂u, (..., n_q); 0 where no speed moves it."""
    return np.asarray(np.linalg.norm(slopes * units[..., np.newaxis, :], axis=-1))


def extents(values: Array, units: Array) -> Array:
    """What is large for each coordinate or speed: its value, and what the largest of all is in its unit."""
    moved = units > 0.0
    largest = np.max(np.abs(values[moved]) / units[moved], initial=0.0)
    return np.asarray(np.abs(values) + (largest * units if largest > 0.0 else 1.0))


def clear(entries: Array, scaled: Array) -> Array:
    """The entries of a matrix but for those that are nothing beside their row or all, as scaled to equal units."""
    size = np.abs(scaled)
    limit = np.maximum(EQUAL * np.max(size, axis=1, keepdims=True, initial=0.0), NOISE * np.max(size, initial=0.0))
    return np.where(size > limit, entries, 0.0)


def size_of(rows: Array) -> Array:
    """The largest entry of each row; 1 for a row of zeros."""
    size = np.max(np.abs(rows), axis=-1, initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def equilibrated(rows: Array, units: Array) -> Array:
    """Rows of equal size, in columns of equal units."""
    scaled = rows * units[..., np.newaxis, :]
    return np.asarray(scaled / size_of(scaled)[..., np.newaxis])


def independent_rows(scaled: Array, count: int | None = None) -> list[int]:
    """Rows of a matrix that all others follow from, by elimination with the largest pivots.

    It decides as ``kc_reduce`` of ``emit/runtime/saddle.h`` does for the kernels.

    Parameters
    ----------
    scaled : (m, n)
        Rows of equal size, in columns of equal units; rows that are small beside it are no pivots.
    count : int, optional
        How many rows count, of a G of which that is known: pivots beyond it must be clear, not only no rounding.
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
    """The rank of one matrix, scaled as the kernels do it, which decide the same."""
    scaled = rows * _power_of_two(units)
    sizes = np.maximum(size_of(scaled), np.finfo(np.float64).tiny)
    return len(independent_rows(scaled * _power_of_two(1.0 / sizes)[:, np.newaxis], count))


def _power_of_two(x: Array) -> Array:
    """The least that is not smaller, or 0: a factor that rounds nothing."""
    mantissa, exponent = np.frexp(x)
    return np.where(x > 0.0, np.ldexp(1.0, exponent - (mantissa == 0.5)), 0.0)


def pivots(rows: Array, rank: int) -> npt.NDArray[np.intp]:
    """Columns of a matrix, as many as its rank, each as far from those before as can be; of equal ones the last."""
    rest, chosen = rows.copy(), list[int]()
    for _ in range(rank):
        sizes = np.linalg.norm(rest, axis=0)
        chosen.append(int(np.flatnonzero(sizes >= (1.0 - EQUAL) * np.max(sizes))[-1]))
        direction = rest[:, chosen[-1]] / sizes[chosen[-1]]
        rest -= np.outer(direction, direction @ rest)
    return np.array(sorted(chosen), dtype=np.intp)


def null_space(rows: Array, units: Array) -> Array:
    """An orthonormal basis, in units, of what the rows of one matrix leave free: (n, n − rank)."""
    _, _, of_columns = np.linalg.svd(equilibrated(rows, units))
    return np.asarray(of_columns[rank_of(rows, units) :].T)
