# SPDX-License-Identifier: BSD-3-Clause
"""Consistent states: states on the constraints.

A user's states must satisfy the constraints, for example initial states of runs, of searches, and of linear systems;
they are checked here.  Other states are projected to the constraints: with dependent coordinates and speeds for given
independent ones, or to the nearest state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.constraint_state import RATE, ConstraintState, refuse_flat_rows, warn_of_count
from kanecore.constraints.constraint_values import normalise, radians
from kanecore.constraints.newton_iteration import Newton, Places, Solution, units_of
from kanecore.errors import ModelError, SingularError, warn
from kanecore.rank import extents
from kanecore.run.call_arguments import leading, real_array, state_vector
from kanecore.tolerances import EQUAL, FEASIBLE, SOLVED

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["consistent", "consistent_state", "feasible_state", "normalized", "on_constraints", "state_of"]

Array = npt.NDArray[np.float64]


def normalized(dyn: Evaluator, x: Array, argument: str) -> Array:
    """The states with their unit quaternions divided by their norms, which must be 1 to rounding: (..., n_x)."""
    result = x.copy()
    for quaternion in dyn.unit:
        places = list(quaternion)
        norms = np.linalg.norm(x[..., places], axis=-1, keepdims=True)
        wrong = norms[~(np.abs(norms - 1.0) <= FEASIBLE)].tolist()
        if wrong:
            names = ", ".join(dyn.coordinate_names[i] for i in places)
            hint = "divide by its norm" if wrong[0] else "without rotation it is (1, 0, 0, 0)"
            raise ValueError(f"the unit quaternion ({names}) has norm {wrong[0]!r} in {argument}; it must be 1: {hint}")
        result[..., places] = x[..., places] / norms
    return result


def on_constraints(start: ConstraintState, argument: str) -> ConstraintState:
    """The state on the constraints nearest to a state that must satisfy them; ValueError if it does not."""
    dyn, t, x = start.dyn, start.t, start.x
    if not start.satisfied(FEASIBLE):
        raise ValueError(
            f"{argument} does not satisfy the constraints of {dyn.name!r} at t = {t!r}: "
            f"{start.described_misses(FEASIBLE)}; the residuals must be below {FEASIBLE} of their terms: "
            f"start from dyn.consistent({t!r}, {argument})"
        )
    near = start.projected if len(start.misses) else start
    refuse_flat_rows(near)
    if near.contradictions:
        raise ModelError(
            f"{' and '.join(map(repr, near.contradictions))} of {dyn.name!r} contradict each other at t = {t!r}, "
            f"{argument} = {x.tolist()!r}: no accelerations satisfy them together; leave out redundant rows"
        )
    warn_of_count(near)
    return near


_NUDGES = (0.1, 0.3, 1.0)  # changes of dependent values that cannot move at a dead point


@method("Constraints", doubles=True)
def consistent(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    keep: str | Iterable[Any] | None = "independent",
    *,
    r: Any = None,
    p: Any = None,
) -> Array:
    """States on the constraints, from states that need not satisfy them: (..., n_x).

    Parameters
    ----------
    t : float, or array_like (...)
    x : array_like, (..., n_x), or mapping by name
        Rows are independent of each other; rows of measured motion may be far from the constraints.
    keep : {"independent", None}, or iterable of names
        ``"independent"``: q_ind and u_ind stay, and the dependent values are solved for, starting from their values in
        x.  If they do not follow from q_ind and u_ind, as at a dead point, all may change, and a KanecoreWarning names
        the changed ones of q_ind and u_ind.  If the model was described without dependent coordinates and speeds, all
        may change, without a warning.
        Names or symbols of coordinates and speeds: these stay.  All others may change, in steps of least change; unit
        quaternions keep the norm 1, by their components that are not named.
        None: all may change, in steps of least change, weighted by mass.
    r : array_like, (..., n_r), or mapping by name, optional
        Inputs, as for the kernels.
    p : array_like, (n_p,), or mapping by name, optional
        Parameters, common to all rows.

    Warns
    -----
    KanecoreWarning
        An angle changed by more than half a turn: Newton's method ended on another closure than the nearest one.  Or
        independent values changed, as above.

    Raises
    ------
    ModelError
        No state on the constraints was found near x, or for the values that stay; the message has the residuals by
        name, and the row.  Or the named components of a unit quaternion allow no norm of 1.
    SingularError
        The mass matrix of the motions that the constraints allow is singular.
    ValueError, TypeError, KeyError
        Errors of the kernels.  KeyError if a name in keep is neither a coordinate nor a speed.
    """
    kept, states = _kept(dyn, keep), real_array("x", dyn.names.as_state(x, "x"))
    if states.shape[-1:] != (dyn.n_x,):
        raise ValueError(f"x has shape {states.shape}, expected (..., {dyn.n_x})")
    inputs = None if r is None else dyn.names.rows("input", r, "r")
    shape = leading(t=np.shape(t), x=states.shape[:-1], r=() if inputs is None else inputs.shape[:-1])
    if not shape:
        return _brought(state_of(dyn, cast("float", t), x, r, p), kept)
    times = np.broadcast_to(real_array("t", t), shape)
    states = np.broadcast_to(states, (*shape, dyn.n_x))
    rows = None if inputs is None else np.broadcast_to(inputs, (*shape, dyn.n_r))
    result = np.empty((*shape, dyn.n_x))
    for place in np.ndindex(shape):
        values = None if rows is None else rows[place]
        try:
            result[place] = _brought(state_of(dyn, float(times[place]), states[place], values, p), kept)
        except (ModelError, SingularError) as error:
            error.args = (f"x[{', '.join(map(str, place))}]: {error.args[0]}", *error.args[1:])
            raise
    return result


_HALF = 0.5  # half a turn in turns, the largest unit of angles


def _brought(state: ConstraintState, keep: str | Places | None) -> Array:
    """A state on the constraints, with a warning if an angle changed by more than half a turn."""
    result = consistent_state(state, keep).x.copy()
    part = slice(0, state.dyn.n_q)
    moved = np.abs(result[part] - state.x[part])
    if not (moved > _HALF).any():
        return result
    radian = radians(state)
    turns = np.divide(moved, 2.0 * np.pi * radian, out=np.zeros_like(moved), where=radian > 0.0)
    if (turns > _HALF).any():
        changes = ", ".join(
            f"{state.dyn.coordinate_names[i]} from {state.x[i]:.6g} to {result[i]:.6g}, {turns[i]:.3g} turns"
            for i in np.flatnonzero(turns > _HALF)
        )
        warn(
            f"consistent of {state.dyn.name!r} went far at t = {float(state.t)!r}: {changes}; this state is on the "
            "constraints, but there may be a nearer one: start from other values of what is solved for"
        )
    return result


def _kept(dyn: Evaluator, keep: str | Iterable[Any] | None) -> str | Places | None:
    """Places in a state of the names in keep."""
    if keep is None or (isinstance(keep, str) and keep == "independent"):
        return keep
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise ValueError(f"keep is {keep!r}; it must be 'independent', None, or a list of coordinates and speeds")
    found = [dyn.names.found(("coordinate", "speed"), key) for key in keep]
    places = [number + (dyn.n_q if what == "speed" else 0) for what, number in found]
    return np.unique(np.array(places, dtype=np.intp)) if places else None


def state_of(dyn: Evaluator, t: float, x: Values, r: Any = None, p: Any = None, argument: str = "x") -> ConstraintState:
    """One state, unchanged; ValueError or TypeError for another argument."""
    array = state_vector(dyn, x, argument)
    if np.ndim(t):
        raise TypeError(f"t must be one number, got {t!r}")
    return ConstraintState(dyn, float(real_array("t", t)), array, r, p)


def feasible_state(
    dyn: Evaluator, t: float, x: Values, r: Any = None, p: Any = None, argument: str = "x"
) -> ConstraintState:
    """The projection of a state that must satisfy the constraints; ValueError or TypeError if it does not."""
    given = state_of(dyn, t, x, r, p, argument)
    return on_constraints(given.moved(normalized(dyn, given.x, argument)), argument)


def consistent_state(state: ConstraintState, keep: str | Places | None) -> ConstraintState:
    """State on the constraints that `consistent` returns, with its computed facts; ``keep`` as places."""
    dyn = state.dyn
    stay = _staying(dyn) if isinstance(keep, str) else np.array([] if keep is None else keep, dtype=np.intp)
    start = state.moved(_of_unit_norm(dyn, state.x, stay))
    if not (dyn.n_constraints or dyn.n_configuration):
        return start
    if keep is None:
        result = _nearest(start)
    elif isinstance(keep, str):
        independent = _independent(dyn)
        found = _with_these_kept(start, independent, follow=True)
        result = found or _nearest(start)
        if found is None:
            _warn_of_changes(start, result, independent)
    else:
        kept = _with_these_kept(start, keep, follow=False)
        if kept is None:
            raise _not_independent(start, keep)
        result = kept
    refuse_flat_rows(result)
    warn_of_count(result)
    return result


# ------------------------------------------------------------------------------- independent ones stay


def _independent(dyn: Evaluator) -> Places:
    """Places of q_ind and u_ind in a state."""
    coordinates = range(dyn.n_q - dyn.n_q_dependent)
    return np.array([*coordinates, *range(dyn.n_q, dyn.n_q + dyn.n_u - dyn.n_u_dependent)], dtype=np.intp)


def _of_unit_norm(dyn: Evaluator, x: Array, kept: Places) -> Array:
    """State with unit quaternions of norm 1; only components that need not stay are changed.

    ModelError if no values of these components give norm 1, or if all are zero, so that the values are ambiguous.
    """
    result = x.copy()
    normalise(dyn, result)
    for quaternion in dyn.unit:
        places = np.array(quaternion, dtype=np.intp)
        held, free = places[np.isin(places, kept)], places[~np.isin(places, kept)]
        if not len(held):
            continue
        left, size = 1.0 - float(np.sum(x[held] ** 2)), float(np.linalg.norm(x[free]))
        if left < -FEASIBLE or (left > FEASIBLE and size == 0.0):
            names = dyn.coordinate_names
            said, others = (", ".join(f"{names[i]} = {x[i]:.6g}" for i in each) for each in (held, free))
            hint = f"start from other values than {others}" if len(free) and left > 0.0 else "divide by its norm"
            raise ModelError(
                f"{said} cannot stay, as keep asks: the unit quaternion ({', '.join(names[i] for i in quaternion)}) "
                f"has norm 1: {hint}"
            )
        if len(free):
            result[held] = x[held]
            result[free] = x[free] * (np.sqrt(max(left, 0.0)) / size if size else 0.0)
    return result


def _staying(dyn: Evaluator) -> Places:
    """Places of q_ind and u_ind, without unit quaternions that are independent as a whole, which are normalized."""
    places = _independent(dyn)
    whole = [i for quaternion in dyn.unit if set(quaternion) <= {*places.tolist()} for i in quaternion]
    return np.setdiff1d(places, whole)


def _with_these_kept(start: ConstraintState, kept: Places, *, follow: bool) -> ConstraintState | None:
    """State with the given coordinates and speeds; None without one, or if others must ``follow`` and do not."""
    dyn, state = start.dyn, start
    unknowns = np.delete(np.arange(dyn.n_x), kept)
    if dyn.n_configuration:
        solution = _dependent(state, "coordinates", unknowns[unknowns < dyn.n_q], follow)
        if solution is None:
            return None
        state = solution
    if dyn.n_velocity:
        speeds = unknowns[(unknowns >= dyn.n_q) & (unknowns < dyn.n_q + dyn.n_u)]
        return _dependent(state, "speeds", speeds, follow)
    return state


def _warn_of_changes(start: ConstraintState, result: ConstraintState, independent: Places) -> None:
    """Warn of independent coordinates and speeds that changed, as the dependent ones do not follow from them."""
    dyn = start.dyn
    named = np.where(independent < dyn.n_q, dyn.n_q_dependent, dyn.n_u_dependent)
    names = [*dyn.names.x]
    moved = np.abs(result.x - start.x) > EQUAL * start.extents
    changes = ", ".join(
        f"{names[i]} from {start.x[i]:.6g} to {result.x[i]:.6g}" for i in independent[named > 0] if moved[i]
    )
    if changes:
        warn(
            f"consistent changed independent values of {dyn.name!r}, {changes}: at this state the dependent ones do "
            "not follow from them. keep=[...] names the values that stay; keep=None lets all change, without this "
            "warning"
        )


def _not_independent(start: ConstraintState, kept: Places) -> ModelError:
    """Error if the values that should stay violate constraints for all other values; it names these constraints."""
    dyn, missed = start.dyn, _missed_with(start, kept)
    names = [*dyn.names.x]
    hint = "keep fewer of them, or others"
    rates = [name for name in missed if name.startswith(RATE)]
    if rates and set(dyn.constraint_names[: dyn.n_velocity]) - set(dyn.configuration_names):
        hint += f"; the {rates[0]} does not follow from the velocity constraints, so that it counts as well"
    return ModelError(
        f"{', '.join(f'{names[i]} = {start.x[i]:.6g}' for i in kept)} cannot all stay at t = {float(start.t)!r}, as "
        f"keep asks: with these values no others satisfy {', '.join(map(repr, missed)) or 'the constraints'} of "
        f"{dyn.name!r}; {hint}"
    )


def _missed_with(start: ConstraintState, kept: Places) -> list[str]:
    """Names of the constraints that are not satisfied where Newton's method ends with some values kept."""
    state, unknowns = start, np.delete(np.arange(start.dyn.n_x), kept)
    for kind in ("coordinates", "speeds"):
        part = state.level(kind).part
        state = Newton(state, kind, unknowns[(part.start <= unknowns) & (unknowns < part.stop)]).solve().last
        names = state.residual_names[slice(state.dyn.n_configuration) if kind == "coordinates" else slice(None)]
        if missed := [name for name, miss in zip(names, state.misses, strict=False) if miss > SOLVED]:
            return missed
    return []


def _dependent(
    start: ConstraintState, kind: Literal["coordinates", "speeds"], unknowns: Places, follow: bool
) -> ConstraintState | None:
    """Solve for the unknowns only, from their values or, if this fails, from values nearby.

    None if there are no unknowns, or if the other values do not determine them: because no solution was found, or at
    the solution if they must ``follow``.
    """
    solution = Newton(start, kind, unknowns).solve()
    if solution.state is None:
        solution = _from_nearby(start, kind, unknowns) or solution
    if not follow and solution.state is not None:
        return solution.state
    if not solution.decided or (solution.state is None and not len(unknowns)):
        return None
    if solution.state is None:
        raise _no_dependent_ones(start, start.level(kind).part, unknowns)
    return solution.state


def _from_nearby(start: ConstraintState, kind: Literal["coordinates", "speeds"], unknowns: Places) -> Solution | None:
    """The first solution from other values of the unknowns, at increasing distances; None if there is none."""
    level, rng = start.level(kind), np.random.default_rng(0)
    first = level.part.start
    far = extents(start.x[level.part], units_of(level))[unknowns - first]
    for nudge in _NUDGES:
        x = start.x.copy()
        x[unknowns] += nudge * rng.uniform(-1.0, 1.0, len(far)) * far
        solution = Newton(start.moved(x), kind, unknowns).solve()
        if solution.state is not None:
            return solution
    return None


def _no_dependent_ones(start: ConstraintState, part: slice, unknowns: Places) -> ModelError:
    """Error if no values of the unknowns were found for the other coordinates or speeds."""
    dyn = start.dyn
    names = [*dyn.names.x]
    independent = ", ".join(
        f"{names[i]} = {start.x[i]:.6g}" for i in range(part.start, part.stop) if i not in unknowns.tolist()
    )
    return ModelError(
        f"no {', '.join(names[i] for i in unknowns)} of {dyn.name!r} was found at t = {float(start.t)!r} for "
        f"{independent}: the remaining residuals are {start.described_misses(SOLVED)}; perhaps the constraints allow "
        "none: start from other values of the dependent ones, or let all change, with keep=None"
    )


# -------------------------------------------------------------------------------------------- all may move


def _nearest(start: ConstraintState) -> ConstraintState:
    """State on the constraints with the least change."""
    try:
        if start.projected.satisfied(SOLVED):
            return start.projected
    except SingularError:
        pass
    # from far away, or if no motion leads to the constraints: damped steps to a configuration, then to speeds
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
            raise  # the mass matrix is singular, not the constraints
        raise _no_state(state) from None


def _no_state(state: ConstraintState) -> ModelError:
    """Error if no state on the constraints was found, with the residuals of the last state, and advice."""
    sizes = np.concatenate([np.max(np.abs(level.slopes), axis=-1, initial=0.0) for level in state.levels])
    stationary = [
        name
        for name, miss, size in zip(state.residual_names, state.misses, sizes, strict=True)
        if size == 0.0 and abs(miss) > SOLVED
    ]
    hint = "do they contradict each other with these parameters? If not, start from a better guess"
    if stationary:
        hint = f"all coefficients of {stationary[0]!r} are zero there, so that no direction is defined: start elsewhere"
    return ModelError(
        f"no state of {state.dyn.name!r} near t = {float(state.t)!r}, x = {state.x.tolist()!r} satisfies its "
        f"constraints; the remaining residuals are {state.described_misses(SOLVED)}; {hint}"
    )
