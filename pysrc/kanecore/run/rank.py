# SPDX-License-Identifier: BSD-3-Clause
"""How many rows of G count: their rank at states on the constraints.

A loop may close redundantly by its dimensions alone: its rows are independent everywhere but on the constraints.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError
from kanecore.run.constraints import RANK, current_rank, even, normalise, rank_of, size_of

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["count_rank", "neighbours", "refuse_flat_rows", "settle_rank"]

Array = npt.NDArray[np.float64]

_NEAR = 1e-2  # how far away rows are looked at again
_FLAT = 1e-6  # residual of a row there that follows from the others
_STEPS = 20  # of Newton's method, to find such a place


def count_rank(dyn: CompiledModel, t: float, x: Array, **values: Any) -> int:
    """The rank of G at states on the constraints near x; it is less at x itself where x is a dead point.

    Raises
    ------
    ModelError
        A row is lost wherever it holds, and does not follow from the others.
    """
    if not dyn.n_constraints:
        return 0
    now = current_rank(dyn, values.get("p"))
    with contextlib.suppress(SingularError):
        x = np.asarray(dyn._project(t, x, **values))
    rows = dyn.constraint_jacobian(t, x, **values)
    if not np.isfinite(rows).all() or (here := rank_of(rows)) == now:
        return now
    around = [rank_of(dyn.constraint_jacobian(t, y, **values)) for y in neighbours(dyn, t, x, values)]
    typical = max([here, *around])
    if here == typical:
        refuse_flat_rows(dyn, t, x, typical, values)
    return typical


def settle_rank(dyn: CompiledModel, t: float, x: Array, **values: Any) -> int:
    """Count, and tell the model."""
    typical = count_rank(dyn, t, x, **values)
    if typical != current_rank(dyn, values.get("p")):
        dyn._set_rank(typical)
    return typical


def neighbours(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> list[Array]:
    """Some states on the constraints nearby."""
    rng = np.random.default_rng(0)
    found: list[Array] = []
    for _ in range(6 if dyn.n_constraints else 0):
        y = x + _NEAR * rng.uniform(-1.0, 1.0, dyn.n_x) * (1.0 + np.abs(x))
        normalise(dyn, y)
        try:
            found.append(np.asarray(dyn._project(t, y, **values)))
        except SingularError:
            continue
        if len(found) == 3:
            break
    return found


def refuse_flat_rows(dyn: CompiledModel, t: float, x: Array, typical: int, values: dict[str, Any]) -> None:
    """Refuse rows that are lost wherever they hold, and yet do not follow from the others.

    x² + y² = 0 says that x = y = 0, and its rate says nothing.  A redundant row holds wherever the others do.
    """
    if rank_of(dyn.constraint_jacobian(t, x, **values)) < typical:
        return  # a dead point

    def places(y: Array) -> tuple[Array, Array]:
        return dyn.configuration_residual(t, y, **values), dyn.configuration_jacobian(t, y, **values)

    def speeds(y: Array) -> tuple[Array, Array]:
        rows = dyn.constraint_jacobian(t, y, **values)[: dyn.n_velocity]
        return dyn.velocity_residual(t, y, **values), rows

    places_names = [f"configuration constraint {i}" for i in range(dyn.n_configuration)]
    for level, part, names in (
        (places, slice(0, dyn.n_q), places_names),
        (speeds, slice(dyn.n_q, dyn.n_x), dyn.constraint_names),
    ):
        kept = _independent(even(level(x)[1]))
        left = np.abs(_beside(level, dyn, x, part, kept))
        worst = int(np.argmax(left)) if left.size else -1
        if worst >= 0 and left[worst] > _FLAT:
            raise ModelError(
                f"{names[worst]!r} of {dyn.name!r} says nothing of motions wherever it holds (its coefficients vanish "
                "there, or are those of other rows), and yet does not follow from the others: a square, such as "
                "x**2 + y**2 for x = y = 0, or two surfaces that touch; write a row of first powers for each component"
            )


def _beside(level: Any, dyn: CompiledModel, x: Array, part: slice, kept: list[int]) -> Array:
    """Residuals of the rows that are not ``kept``, zero for others, at a state nearby at which the kept ones hold."""
    _, rows = level(x)
    if len(kept) == len(rows):
        return np.zeros(0)
    y = x.copy()
    along = _allowed(rows) @ np.random.default_rng(2).uniform(-1.0, 1.0, rows.shape[1])
    y[part] += _NEAR * along * (1.0 + np.abs(x[part]))
    normalise(dyn, y)
    for _ in range(_STEPS):
        found, rows = level(y)
        size = size_of(rows)
        step = np.linalg.pinv((rows / size[:, np.newaxis])[kept], rcond=RANK) @ (found / size)[kept]
        y[part] -= step
        normalise(dyn, y)
        if np.max(np.abs(step), initial=0.0) < _NEAR * _FLAT:
            break
    found, rows = level(y)
    left = found / size_of(rows)
    left[kept] = 0.0
    return np.asarray(left)


def _allowed(rows: Array) -> Array:
    """The projector onto the directions along which rows do not change."""
    _, s, right = np.linalg.svd(even(rows))
    free = right[np.sum(s > RANK) :]
    return np.asarray(free.T @ free)


def _independent(rows: Array) -> list[int]:
    """Rows that all others depend on, by elimination with the largest pivots."""
    left, kept = rows.copy(), list[int]()
    while left.size:
        i, j = np.unravel_index(int(np.argmax(np.abs(left))), left.shape)
        if not abs(left[i, j]) > RANK:
            break
        kept.append(int(i))
        left = left - np.outer(left[:, j] / left[i, j], left[i])
        left[kept] = 0.0
    return kept
