# SPDX-License-Identifier: BSD-3-Clause
"""How many rows of G count.

Their rank at states on the constraints is a fact of the parameters, and found when these are prepared (``kc_count`` in
``emit/runtime/closure.h``).  At a state where rows are lost, neighbours on the constraints tell a dead point from a
part of the manifold on which fewer rows are independent; what they say holds for that call, and is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError, warn
from kanecore.run.constraints import normalise
from kanecore.run.metric import allowed, coordinate_units, even, extents, rank_of, size_of, speed_units
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["count_near", "neighbours", "refuse_flat_rows", "typical_rank", "warn_of_count"]

Array = npt.NDArray[np.float64]

_told: WeakKeyDictionary[Kernels, set[int]] = WeakKeyDictionary()  # the counts of which a model was warned

_NEAR = 1e-2  # how far away rows are looked at again, of what is large for each coordinate and speed
_THIN = 1e-4  # of a row's usual size around: where it is smaller at all states on the constraints it says nothing
_FLAT = 1e-6  # residual of a row there that follows from the others
_STEPS = 20  # of Newton's method, to find such a place


def count_near(dyn: Kernels, t: float, x: Array, **values: Any) -> int:
    """How many rows count at x: as with these parameters in general, unless fewer are independent all around x.

    ModelError where that is since a row says nothing.
    """
    count = dyn._count(values.get("p"))
    here, typical = _ranks(dyn, t, x, values)
    if typical is None or typical >= count:
        return count
    _refuse_flat_rows(dyn, t, x, here, typical, values)
    return typical


def warn_of_count(dyn: Kernels, p: Any) -> None:
    """Warn, once a model, where the description calls more or fewer speeds dependent than rows of G count."""
    count, named = dyn._count(p), dyn.n_u_dependent
    told = _told.setdefault(dyn, set())
    if not named or count == named or count in told:
        return
    told.add(count)
    speeds, rows = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((named, "speed"), (count, "row")))
    if count < named:
        why = f"of the others nothing follows: name {count} in u_dependent"
    else:
        why = (
            "configuration constraints that do not follow from the velocity constraints filed beside them count as "
            "well. All of them are satisfied here; SymPy's KanesMethod would satisfy the latter alone. Name "
            f"{count} speeds in u_dependent, or leave out what is too much"
        )
    independent = "is independent" if count == 1 else "are independent"
    warn(f"u_dependent of {dyn.name!r} names {speeds}, and {rows} of its constraints {independent}: {why}")


def typical_rank(dyn: Kernels, t: float, x: Array, **values: Any) -> int | None:
    """The rank of G at states on the constraints near x, and at x; None where none were found."""
    return _ranks(dyn, t, x, values)[1] if dyn.n_constraints else 0


def _ranks(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> tuple[int, int | None]:
    """The rank of G at x, without rows that are nothing beside their size at states nearby; and the typical rank."""
    places = _around(dyn, t, x, values)
    size = np.max(size_of(np.multiply(*_rows(dyn, t, places, values))), axis=0)[:, np.newaxis]

    def rank(y: Array) -> int:
        rows, units = _rows(dyn, t, y, values)
        return rank_of(np.where(np.abs(rows * units) > _THIN * size, rows, 0.0), units[0])

    here, around = rank(x), _projected(dyn, t, places, values)
    return here, max(here, *(rank(y) for y in around)) if around else None


def _rows(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> tuple[Array, Array]:
    """G, (..., n_constraints, n_u), and units of the speeds, (..., 1, n_u)."""
    rows = dyn.constraint_jacobian(t, x, **values)
    return rows, speed_units(dyn, t, x, rows, **values)[..., np.newaxis, :]


def _around(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> Array:
    """Some states nearby, (6, n_x)."""
    far = _NEAR * _extents(dyn, t, x, values)
    found = x + far * np.random.default_rng(0).uniform(-1.0, 1.0, (6, dyn.n_x))
    for y in found:
        normalise(dyn, y)
    return found


def _extents(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> Array:
    rows = dyn.constraint_jacobian(t, x, **values)
    units = speed_units(dyn, t, x, rows, **values)
    places = coordinate_units(dyn, t, x, units, **values)
    return np.concatenate([extents(x[: dyn.n_q], places), extents(x[dyn.n_q :], units)])


def neighbours(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> list[Array]:
    """Some states on the constraints nearby."""
    return _projected(dyn, t, _around(dyn, t, x, values), values) if dyn.n_constraints else []


def _projected(dyn: Kernels, t: float, places: Array, values: dict[str, Any]) -> list[Array]:
    found: list[Array] = []
    for y in places:
        try:
            found.append(np.asarray(dyn._project(t, y, **values)))
        except SingularError:
            continue
        if len(found) == 3:
            break
    return found


def refuse_flat_rows(dyn: Kernels, t: float, x: Array, **values: Any) -> None:
    """Refuse rows that are lost wherever they hold, and yet do not follow from the others.

    x² + y² = 0 says that x = y = 0, and its rate says nothing.  A redundant row holds wherever the others do.

    Raises
    ------
    ModelError
        With the row's name.
    """
    if dyn.n_constraints:
        _refuse_flat_rows(dyn, t, x, *_ranks(dyn, t, x, values), values)


def _refuse_flat_rows(dyn: Kernels, t: float, x: Array, here: int, typical: int | None, values: dict[str, Any]) -> None:
    if here == min(dyn.n_constraints, dyn.n_u) or here < (here if typical is None else typical):
        return  # nothing is lost, or at a dead point

    def places(y: Array) -> tuple[Array, Array, Array]:
        phi, slopes = dyn.configuration_residual(t, y, **values), dyn.configuration_jacobian(t, y, **values)
        return phi, slopes, dyn._constraint_sizes(t, y, **values)[: dyn.n_configuration]

    def speeds(y: Array) -> tuple[Array, Array, Array]:
        slopes = dyn.constraint_jacobian(t, y, **values)[: dyn.n_velocity]
        return (
            dyn.velocity_residual(t, y, **values),
            slopes,
            dyn._constraint_sizes(t, y, **values)[dyn.n_configuration :],
        )

    units = _rows(dyn, t, x, values)[1][0]
    far = _extents(dyn, t, x, values)
    for level, part, scale, called in (
        (places, slice(0, dyn.n_q), coordinate_units(dyn, t, x, units, **values), dyn.configuration_names),
        (speeds, slice(dyn.n_q, dyn.n_x), units, dyn.constraint_names),
    ):
        kept = _independent(even(level(x)[1], scale))
        left = np.abs(_beside(level, dyn, x, part, scale, far, kept))
        worst = int(np.argmax(left)) if left.size else -1
        if worst >= 0 and left[worst] > _FLAT:
            raise ModelError(
                f"{called[worst]!r} of {dyn.name!r} says nothing of motions wherever it holds (its coefficients vanish "
                "there, or are those of other rows), and yet does not follow from the others: a square, such as "
                "x**2 + y**2 for x = y = 0, or two surfaces that touch; write a row of first powers for each component"
            )


def _beside(level: Any, dyn: Kernels, x: Array, part: slice, scale: Array, far: Array, kept: list[int]) -> Array:
    """What is left of the rows that are not ``kept``, beside their terms, at a state near by at which the kept hold."""
    rows = level(x)[1]
    if len(kept) == len(rows):
        return np.zeros(0)
    y = x.copy()
    free = allowed(rows, scale)
    along = free @ (free.T @ np.random.default_rng(2).uniform(-1.0, 1.0, rows.shape[1]))
    y[part] += _NEAR * along * far[part]
    normalise(dyn, y)
    for _ in range(_STEPS):
        found, rows, _ = level(y)
        scaled = rows[kept] * scale
        size = np.max(np.abs(scaled), axis=-1, initial=0.0, keepdims=True)
        size = np.where(size > 0.0, size, 1.0)
        step = scale * (np.linalg.pinv(scaled / size, rcond=RANK) @ (found[kept] / size[:, 0]))
        y[part] -= step
        normalise(dyn, y)
        if np.max(np.abs(step) / far[part], initial=0.0) < _NEAR * _FLAT:
            break
    found, rows, sizes = level(y)
    beside = np.maximum(sizes, np.max(np.abs(rows) * far[part], axis=-1, initial=0.0))
    left = np.divide(found, beside, out=np.zeros_like(found), where=found != 0.0)
    left[kept] = 0.0
    return np.asarray(left)


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
