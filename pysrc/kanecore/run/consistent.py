# SPDX-License-Identifier: BSD-3-Clause
"""States on the constraints, from any state: dependent ones for given independent ones, or the nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.constraints import normalise
from kanecore.run.metric import extents
from kanecore.run.newton import Newton, Solution, units_of
from kanecore.run.rank import refuse_flat_rows, warn_of_count
from kanecore.tolerances import NOISE, SOLVED

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["consistent", "consistent_state", "state_of"]

Array = npt.NDArray[np.float64]

_NUDGES = (0.1, 0.3, 1.0)  # of dependent ones that a dead point does not let move


def consistent(
    dyn: Kernels,
    t: float,
    x: _Values,
    keep: str | None = "independent",
    *,
    r: Any = None,
    p: Any = None,
) -> Array:
    """A state on the constraints, from one that need not be: (n_x,).

    Parameters
    ----------
    t : float
    x : array_like, (n_x,), or mapping by name
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
    return consistent_state(state_of(dyn, t, x, r, p), keep).x.copy()


def state_of(dyn: Kernels, t: float, x: _Values, r: Any = None, p: Any = None) -> ConstraintState:
    """One state, as it was given; ValueError or TypeError where it is none."""
    array = np.array(dyn._as_state(x))
    if array.dtype.kind not in "fiub":
        raise TypeError(f"x must be real numbers, got dtype {array.dtype}")
    if array.shape != (dyn.n_x,):
        raise ValueError(f"x has shape {array.shape}; it must be ({dyn.n_x},), one state")
    if not np.isfinite(array).all():
        raise ValueError(f"x is {array.tolist()}, which is not finite")
    if np.ndim(t) or np.asarray(t).dtype.kind not in "fiub":
        raise TypeError(f"t must be one number, got {t!r}")
    if not np.isfinite(t):
        raise ValueError(f"t is {t!r}, which is not finite")
    return ConstraintState(dyn, t, array, r, p)


def consistent_state(state: ConstraintState, keep: str | None) -> ConstraintState:
    """The state on the constraints that `consistent` returns, with all that is known of it."""
    dyn, x = state.dyn, state.x.copy()
    normalise(dyn, x)
    start = state.moved(x)
    if not (dyn.n_constraints or dyn.n_configuration):
        return start
    result = None if keep is None else _with_independent_ones(start)
    if result is None:
        result = _nearest(start)
    refuse_flat_rows(result)
    warn_of_count(result)
    return result


# ------------------------------------------------------------------------------- independent ones stay


def _with_independent_ones(start: ConstraintState) -> ConstraintState | None:
    """The dependent coordinates and speeds for given independent ones; None where these do not decide them."""
    dyn, state = start.dyn, start
    if dyn.n_configuration:
        solution = _dependent(state, "coordinates", slice(dyn.n_q - dyn.n_q_dependent, dyn.n_q))
        if solution is None or any(abs(np.linalg.norm(solution.x[list(e)]) - 1.0) > NOISE for e in dyn.unit):
            return None  # or the coordinates that stay are no part of a unit quaternion
        state = solution
    if dyn.n_velocity:
        return _dependent(state, "speeds", slice(dyn.n_x - dyn.n_u_dependent, dyn.n_x))
    return state


def _dependent(
    start: ConstraintState, kind: Literal["coordinates", "speeds"], unknowns: slice
) -> ConstraintState | None:
    """Solve for the unknowns alone, from their values or, where that leads nowhere, from others nearby.

    None where they are not decided by the rest, at the solution or where it was looked for, or there are none.
    """
    solution = Newton(start, kind, unknowns).solve()
    if solution.state is None:
        solution = _from_nearby(start, kind, unknowns) or solution
    if not solution.decided or (solution.state is None and unknowns.start == unknowns.stop):
        return None
    if solution.state is None:
        raise _no_dependent_ones(start, start.level(kind).part.start, unknowns)
    return solution.state


def _from_nearby(start: ConstraintState, kind: Literal["coordinates", "speeds"], unknowns: slice) -> Solution | None:
    """The first solution from other values of the unknowns, further and further away; None where there is none."""
    level, rng = start.level(kind), np.random.default_rng(0)
    first = level.part.start
    far = extents(start.x[level.part], units_of(level))[unknowns.start - first : unknowns.stop - first]
    for nudge in _NUDGES:
        x = start.x.copy()
        x[unknowns] += nudge * rng.uniform(-1.0, 1.0, len(far)) * far
        solution = Newton(start.moved(x), kind, unknowns).solve()
        if solution.state is not None:
            return solution
    return None


def _no_dependent_ones(start: ConstraintState, first: int, unknowns: slice) -> ModelError:
    """The error where no values of the unknowns were found for those from the first coordinate or speed on."""
    dyn = start.dyn
    names = [*dyn.coordinate_names, *dyn.speed_names]
    independent = ", ".join(
        f"{name} = {value:.6g}" for name, value in zip(names[first : unknowns.start], start.x[first:], strict=False)
    )
    return ModelError(
        f"no {', '.join(names[unknowns])} of {dyn.name!r} was found at t = {float(start.t)!r} for {independent}: what "
        f"is left: {start.described_misses(SOLVED)}; the constraints may allow none: start from other values of the "
        "dependent ones, or let all move, with keep=None"
    )


# -------------------------------------------------------------------------------------------- all may move


def _nearest(start: ConstraintState) -> ConstraintState:
    """The state of least change that is on the constraints."""
    try:
        if start.projected.satisfied(SOLVED):
            return start.projected
    except SingularError:
        pass
    # from further away, or where no motion leads there: damped steps to a configuration, then to speeds
    state: ConstraintState | None = start
    if start.dyn.n_configuration:
        state = Newton(start, "coordinates").solve().state
    if state is not None and start.dyn.n_velocity:
        state = Newton(state, "speeds").solve().state
    if state is None:
        raise _no_state(start)
    try:
        return state.projected
    except SingularError as singular:
        if singular.row < start.dyn.n_u and state.satisfied(SOLVED):
            raise  # no constraint, but the mass matrix
        raise _no_state(state) from None


def _no_state(state: ConstraintState) -> ModelError:
    """The error where no state on the constraints was found: what is missed at the last one, and what to do."""
    sizes = np.concatenate([np.max(np.abs(level.slopes), axis=-1, initial=0.0) for level in state.levels])
    stationary = [
        name
        for name, miss, size in zip(state.residual_names, state.misses, sizes, strict=True)
        if size == 0.0 and abs(miss) > SOLVED
    ]
    hint = "do they contradict each other with these parameters? Otherwise start from a better guess"
    if stationary:
        hint = f"all coefficients of {stationary[0]!r} vanish there, so that no direction leads on: start elsewhere"
    return ModelError(
        f"no state of {state.dyn.name!r} near t = {float(state.t)!r}, x = {state.x.tolist()!r} satisfies its "
        f"constraints; what is left there: {state.described_misses(SOLVED)}; {hint}"
    )
