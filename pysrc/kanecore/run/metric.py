# SPDX-License-Identifier: BSD-3-Clause
"""Rows, coordinates and speeds of different units beside each other: the metric of the masses.

A speed times √M_jj is a number of one unit, whatever the speed is; so are the coordinates that such speeds change, and
the rows of G in these columns.  In this metric rows are compared, ranks are counted and least changes are least, so
that nothing depends on the units of a model.  ``emit/runtime/saddle.h`` does the same in C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["allowed", "coordinate_units", "even", "extents", "rank_of", "rates", "size_of", "speed_units"]

Array = npt.NDArray[np.float64]


def speed_units(dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike, rows: Array, **values: Any) -> Array:
    """1/√|M_jj|, (..., n_u): how much of each speed is one unit; of one that moves no mass as its rows tell."""
    weights = np.abs(np.diagonal(dyn.mass_matrix(t, x, **values), axis1=-2, axis2=-1))
    heavy = weights > 0.0
    units = np.where(heavy, 1.0 / np.sqrt(np.where(heavy, weights, 1.0)), 0.0)
    if not heavy.all():
        size = size_of(np.abs(rows) * units[..., np.newaxis, :])[..., np.newaxis]
        largest = np.max(np.abs(rows) / size, axis=-2, initial=0.0)
        light = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 1.0)
        units = np.where(heavy, units, light)
    return np.asarray(units)


def coordinate_units(dyn: Kernels, t: float, x: Array, units: Array, **values: Any) -> Array:
    """How far each coordinate goes at units of the speeds, (n_q,); 0 for one that no speed moves."""
    return np.asarray(np.linalg.norm(rates(dyn, t, x[: dyn.n_q], **values)[0] * units, axis=-1))


def extents(values: Array, units: Array) -> Array:
    """What is large for each coordinate or speed: its value, and what the largest of all is in its unit."""
    moved = units > 0.0
    largest = np.max(np.abs(values[moved]) / units[moved], initial=0.0)
    return np.asarray(np.abs(values) + (largest * units if largest > 0.0 else 1.0))


def rates(dyn: Kernels, t: float, q: Array, **values: Any) -> tuple[Array, Array]:
    """Y (n_q, n_u) and z (n_q,) of q̇ = Y u + z."""
    states = np.zeros((dyn.n_u + 1, dyn.n_x))
    states[:, : dyn.n_q] = q
    states[1:, dyn.n_q :] = np.eye(dyn.n_u)
    qdot = dyn.qdot(t, states, **values)
    return (qdot[1:] - qdot[0]).T, qdot[0]


def size_of(rows: Array) -> Array:
    """The largest entry of each row; 1 for a row of zeros."""
    size = np.max(np.abs(rows), axis=-1, initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def even(rows: Array, units: Array) -> Array:
    """Rows of equal size, in columns of equal units."""
    scaled = rows * units[..., np.newaxis, :]
    return np.asarray(scaled / size_of(scaled)[..., np.newaxis])


def rank_of(rows: Array, units: Array) -> int:
    """The rank of one matrix."""
    if not rows.size:
        return 0
    s = np.linalg.svd(even(rows, units), compute_uv=False)
    return int(np.sum(s > RANK * s[0])) if s[0] > 0.0 else 0


def allowed(rows: Array, units: Array) -> Array:
    """An orthonormal basis, in units, of what rows leave free: (n, n − rank)."""
    _, s, right = np.linalg.svd(even(rows, units))
    return np.asarray(right[np.sum(s > RANK * np.max(s, initial=0.0)) :].T)
