# SPDX-License-Identifier: BSD-3-Clause
"""States on the constraints, from ones that need not be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, NonFiniteError, SingularError
from kanecore.run.constraints import misses, named, normalise, residual_names
from kanecore.run.metric import coordinate_units, extents, size_of, speed_units
from kanecore.run.rank import refuse_flat_rows, warn_of_count
from kanecore.tolerances import INDEPENDENT, NOISE, RANK, SOLVED

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["consistent", "state_of"]

Array = npt.NDArray[np.float64]

_DECIDES = 1e-6  # of dependent columns: Newton's method ends at the root of rounding from a dead point
_ITERATIONS = 60
_DAMPING = (0.0, *(10.0**k for k in range(-3, 25)))  # of Newton's steps, beside the largest singular value squared
_NUDGES = (0.1, 0.3, 1.0)  # of dependent ones that a dead point does not let move


def consistent(
    dyn: Kernels,
    t: float,
    x: npt.ArrayLike,
    keep: str | None = "independent",
    *,
    r: Any = None,
    p: Any = None,
) -> Array:
    """A state on the constraints, from one that need not be: (n_x,).

    Parameters
    ----------
    t : float
    x : array_like, (n_x,)
    keep : {"independent", None}
        ``"independent"``: q_ind and u_ind stay, the dependent ones are solved for, starting from their values in x.
        Where they do not follow from these (a dead point, dependent ones that the model was described without), and
        with None: all may move, in steps of least change, weighted by mass.
    r, p : optional
        Inputs and parameters, as of the kernels.

    Raises
    ------
    ModelError
        No state on the constraints was found near x, or for the independent ones; with the residuals by name.
    SingularError
        The mass matrix of the motions that the constraints allow is singular.
    ValueError, TypeError, KeyError
        As the kernels.
    """
    if keep not in ("independent", None):
        raise ValueError(f"keep is {keep!r}; it must be 'independent' or None")
    given = state_of(dyn, t, x)
    values = {"r": r, "p": p}
    normalise(dyn, given)
    if not (dyn.n_constraints or dyn.n_configuration):
        return given
    result = None
    if keep is not None:
        result = _dependent(dyn, t, given, values)
    if result is None:
        result = _nearest(dyn, t, given, values)
    refuse_flat_rows(dyn, t, result, **values)
    warn_of_count(dyn, p)
    return result


def state_of(dyn: Kernels, t: float, x: npt.ArrayLike) -> Array:
    """A copy of one state; ValueError or TypeError where it is none."""
    given = np.array(x)
    if given.dtype.kind not in "fiub":
        raise TypeError(f"x must be real numbers, got dtype {given.dtype}")
    if given.shape != (dyn.n_x,):
        raise ValueError(f"x has shape {given.shape}; it must be ({dyn.n_x},), one state")
    if not np.isfinite(given).all():
        raise ValueError(f"x is {given.tolist()}, which is not finite")
    if not np.isfinite(t):
        raise ValueError(f"t is {t!r}, which is not finite")
    return given.astype(np.float64)


def _dependent(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> Array | None:
    """The dependent coordinates and speeds for given independent ones; None where these do not decide them."""
    found: Array | None = x.copy()
    if dyn.n_configuration:
        found = _kept(dyn, "coordinates", t, x, slice(dyn.n_q - dyn.n_q_dependent, dyn.n_q), values)
        if found is not None and any(abs(np.linalg.norm(found[list(e)]) - 1.0) > NOISE for e in dyn.unit):
            return None  # the coordinates that stay are no part of a unit quaternion
    if found is not None and dyn.n_velocity:
        found = _kept(dyn, "speeds", t, found, slice(dyn.n_x - dyn.n_u_dependent, dyn.n_x), values)
    return found


def _kept(dyn: Kernels, level: str, t: float, x: Array, at: slice, values: dict[str, Any]) -> Array | None:
    """Solve for x[at] alone, from their values or, where that leads nowhere, from others nearby.

    None where they are not decided by the rest, at the solution or where it was looked for.
    """
    columns, units = _units(dyn, level, t, x, values)
    found, decided = _newton(dyn, level, t, x, at, values)
    rng = np.random.default_rng(0)
    for nudge in _NUDGES if found is None else ():
        other = x.copy()
        far = extents(x[columns], units)[at.start - columns.start : at.stop - columns.start]
        other[at] += nudge * rng.uniform(-1.0, 1.0, at.stop - at.start) * far
        found, there = _newton(dyn, level, t, other, at, values)
        if found is not None:
            decided = there
            break
    if found is None and decided:
        names = [*dyn.coordinate_names, *dyn.speed_names]
        first = 0 if level == "coordinates" else dyn.n_q
        kept = ", ".join(
            f"{name} = {value:.6g}" for name, value in zip(names[first : at.start], x[first:], strict=False)
        )
        left = named(dyn, t, x, SOLVED, **values)
        raise ModelError(
            f"no {', '.join(names[at])} of {dyn.name!r} was found at t = {float(t)!r} for {kept}: what is left: "
            f"{left}; the constraints may allow none: start from other values of the dependent ones, or let all move, "
            "with keep=None"
        )
    return found if decided else None


def _newton(
    dyn: Kernels, level: str, t: float, x: Array, at: slice | None, values: dict[str, Any]
) -> tuple[Array | None, bool]:
    """Solve φ = 0, or c = 0, for x[at] by Newton steps of least norm, shortened after Levenberg and Marquardt.

    The solution, None where it stalls; and whether the columns ``at`` have the rank of all coordinates or speeds, which
    None stands for, there or where it stalled at the start.
    """
    coordinates = level == "coordinates"
    columns, units = _units(dyn, level, t, x, values)
    rows_of_level = slice(0, dyn.n_configuration) if coordinates else slice(dyn.n_configuration, None)
    whole = at is None
    at = columns if at is None else at
    part = slice(at.start - columns.start, at.stop - columns.start)

    def residual(x: Array) -> Array:
        kernel = dyn.configuration_residual if coordinates else dyn.velocity_residual
        return kernel(t, x, **values)

    def jacobian(x: Array) -> Array:
        """Rows in columns of equal units."""
        if not coordinates:
            return np.asarray(dyn.constraint_jacobian(t, x, **values)[: dyn.n_velocity] * units)
        rows = dyn.configuration_jacobian(t, x, **values)
        if whole:  # changes along a unit quaternion are none
            for quaternion in dyn.unit:
                places = list(quaternion)
                rows[:, places] -= np.outer(rows[:, places] @ x[places], x[places])
        return rows * units

    def solved(x: Array) -> bool:
        return bool(np.max(misses(dyn, t, x, **values)[rows_of_level], initial=0.0) <= SOLVED)

    x = x.copy()
    found, rows = residual(x), jacobian(x)
    first = rows
    # beyond the rows that count a direction must be clear: redundant rows leave small ones near the solution
    number = min(rows[:, part].shape)
    least = np.where(np.arange(number) < dyn._count(values.get("p")), RANK, INDEPENDENT)
    for _ in range(_ITERATIONS):
        scale = size_of(rows)
        size = float(np.linalg.norm(found / scale))
        if size == 0.0:
            break
        left, s, right = np.linalg.svd(rows[:, part] / scale[:, np.newaxis], full_matrices=False)
        along, largest = left.T @ (found / scale), np.max(s, initial=0.0)
        for damping in _DAMPING:
            trial = x.copy()
            inverse = np.divide(s, s**2 + damping * largest**2, out=np.zeros_like(s), where=s > least * largest)
            trial[at] -= units[part] * (right.T @ (inverse * along))
            if whole:
                normalise(dyn, trial)
            try:
                now, rows_now = residual(trial), jacobian(trial)
            except NonFiniteError:  # a step so long that the constraints are not defined there
                continue
            left_over = float(np.linalg.norm(now / scale))
            if left_over < size:
                break
        else:
            break  # rounding, or stuck
        x, found, rows = trial, now, rows_now
        if not left_over < 0.5 * size and solved(x):
            break
    if solved(x):
        return x, _decide(rows, part)
    return None, _decide(first, part)


def _units(dyn: Kernels, level: str, t: float, x: Array, values: dict[str, Any]) -> tuple[slice, Array]:
    """The places of all coordinates or speeds in x, and their units."""
    units = speed_units(dyn, t, x, dyn.constraint_jacobian(t, x, **values), **values)
    if level == "speeds":
        return slice(dyn.n_q, dyn.n_x), units
    places = coordinate_units(dyn, t, x, units, **values)
    return slice(0, dyn.n_q), np.where(places > 0.0, places, 1.0)


def _decide(rows: Array, part: slice) -> bool:
    """Whether some columns have the rank of all."""
    rows = rows / size_of(rows)[:, np.newaxis]
    some, every = (int(np.sum(np.linalg.svd(a, compute_uv=False) > _DECIDES)) for a in (rows[:, part], rows))
    return some == every


def _nearest(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> Array:
    """The state of least change that is on the constraints."""
    try:
        near = np.asarray(dyn._project(t, x, **values))
        if np.max(misses(dyn, t, near, **values), initial=0.0) <= SOLVED:
            return near
    except SingularError:
        pass
    # from further away, or where no motion leads there: damped steps to a configuration, then to speeds
    found: Array | None = x
    if dyn.n_configuration:
        found, _ = _newton(dyn, "coordinates", t, x, None, values)
    if found is not None and dyn.n_velocity:
        found, _ = _newton(dyn, "speeds", t, found, None, values)
    if found is not None:
        try:
            return np.asarray(dyn._project(t, found, **values))
        except SingularError as singular:
            if singular.row < dyn.n_u and np.max(misses(dyn, t, found, **values), initial=0.0) <= SOLVED:
                raise  # no constraint, but the mass matrix
            x = found
    error = misses(dyn, t, x, **values)
    left = named(dyn, t, x, SOLVED, **values)
    rows = (dyn.configuration_jacobian(t, x, **values), dyn.constraint_jacobian(t, x, **values)[: dyn.n_velocity])
    size = np.concatenate([np.max(np.abs(part), axis=-1, initial=0.0) for part in rows])
    stationary = [
        name for name, e, z in zip(residual_names(dyn), error, size, strict=True) if z == 0.0 and abs(e) > SOLVED
    ]
    hint = "do they contradict each other with these parameters? Otherwise start from a better guess"
    if stationary:
        hint = f"all coefficients of {stationary[0]!r} vanish there, so that no direction leads on: start elsewhere"
    raise ModelError(
        f"no state of {dyn.name!r} near t = {float(t)!r}, x = {x.tolist()!r} satisfies its constraints; what is left "
        f"there: {left}; {hint}"
    )
