# SPDX-License-Identifier: BSD-3-Clause
"""Equilibria and steady motions of a mechanism, with the inputs that they need (trim)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import (
    consistent_state,
    feasible_state,
    state_of,
)
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.constraints.constraint_values import radians
from kanecore.control.equilibrium_solver import Balance, Iterate, feasible, rate_slopes
from kanecore.control.error_states import ErrorStates
from kanecore.control.minimal_states import constraint_slopes, error_units
from kanecore.control.modes import balance
from kanecore.errors import ModelError, SingularError
from kanecore.rank import clear, equilibrated, null_space, size_of
from kanecore.run.call_arguments import values_of
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import RANK, SOLVED

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Equilibrium", "equilibrium"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

_STEPS = 50  # of Newton's method
_SHORT = 1e-6  # relative to the largest input: after such a step the residual of Newton's method is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(PrintedResult):
    """An equilibrium or a steady motion; ``str()`` lists it by name.

    Attributes
    ----------
    name : str
        Name of the model.
    t : float
    x, r : ndarray, (n_x,), (n_r,)
        The state and the inputs.
    state, inputs : dict of str to float
        State and inputs by name.
    moving : dict of str to float
        Coordinates and speeds that change, with their rates.
    """

    name: str
    t: float
    x: Array
    r: Array
    state: dict[str, float]
    inputs: dict[str, float]
    moving: dict[str, float]

    def __str__(self) -> str:
        lines = [f"{self.name} at t = {self.t:g}, {'in steady motion' if self.moving else 'in equilibrium'}"]
        lines += [f"{name} = {value:.6g}" for name, value in {**self.state, **self.inputs}.items()]
        lines += [f"d/dt {name} = {value:.6g}" for name, value in self.moving.items()]
        return "\n".join(lines)


@method("Control and derivatives", doubles=True)
def equilibrium(
    dyn: Evaluator,
    x0: Values | None = None,
    *,
    fixed: Any = None,
    inputs: Any = None,
    steady: Any = None,
    sizes: Any = None,
    t: float = 0.0,
    p: Any = None,
) -> Equilibrium:
    """A state near x0, and inputs, at which u̇ = 0, q̇ = 0 and ż = 0, on the constraints.

    q̇ = 0 is required of coordinates on which u̇, ż, a constraint, or the rate of such a coordinate depends.  Other
    coordinates may change steadily, such as the distance that a cart has travelled.  The search may change all of x,
    and the named inputs.  Each step of Newton's method is the smallest change in the mass-weighted norm, so unaffected
    coordinates do not change.

    Parameters
    ----------
    x0 : array_like, (n_x,), or mapping by name, optional
        Initial state on the constraints; default: zeros, or the guess of the model, and no rotation.
    fixed : names, or mapping of names to values, optional
        Coordinates, speeds and inputs that keep their values in x0, or have given values.
    inputs : names, or mapping of names to values, optional
        Inputs that may change, from their current values or from given ones. All others keep their current values;
        a derivative of an input that was never set is 0.
    steady : names, optional
        Coordinates and speeds with zero rates in a steady motion, in place of those above.  If no speed is named, all
        u̇ vanish.
    sizes : float, or mapping of names to numbers, optional
        If several sets of the free inputs balance the state, the set with the least sum of (r / size)² is taken: 1.0
        for the least norm or, for example, the limit of each motor.  If u̇ is not linear in the inputs, the minimum may
        be local.  Default: the set nearest to the current values, each input in units of its effect on u̇.
    t : float
    p : optional
        Parameters, as for the kernels.

    Returns
    -------
    Equilibrium

    Raises
    ------
    ModelError
        No equilibrium was found; the message names the rates that do not vanish, and their size.  Or the equilibrium
        cannot be reached by a motion: bristles of `Contact` and `JointFriction` carry more than friction can, or
        muscles of SymPy are activated below 0 or above 1.  User-defined states have no known limits.
    KeyError
        The model has no such name.
    ValueError, TypeError
        x0 is off the constraints, or is no state; a name is both fixed and free.

    Examples
    --------
    ``dyn.equilibrium(x0, fixed={"x": 1.0}, inputs=["F"])`` holds a cart at x = 1 and looks for the force that keeps it.
    ``dyn.equilibrium(x0, inputs=dyn.input_names, sizes=1.0)`` holds a robot on four feet with torques of least norm.
    ``dyn.equilibrium(x0, fixed={"phi": 0.1, "uthR": -15.0}, inputs=["Tdelta"], steady=["phi", "delta", "uphi", ...])``
    leans a bicycle into a turn of constant speed, and finds the steering angle and torque.
    """
    start, sought = _posed(dyn, x0, fixed, inputs, steady, t, p)
    compared = None if sizes is None else _sizes(dyn, sizes, sought.inputs)
    first, end = sought.solve(start)
    if (unbalanced := end.unbalanced(first)).any():
        failed = end
        first, end = replace(sought, by_forces=True).solve(start)
        if end.unbalanced(first).any():
            raise _unbalanced(failed, unbalanced)
    x, r = end.state.x.copy(), np.array(end.state.r)
    if compared is not None:
        r[sought.inputs] = _least(end, compared)
    _refuse_unreached(dyn, float(t), x, r, end.state.p)
    names = [*dyn.names.x]
    return Equilibrium(
        name=dyn.name,
        t=float(t),
        x=x,
        r=r,
        state=dict(zip(names, x.tolist(), strict=True)),
        inputs=dict(zip(dyn.input_names, r.tolist(), strict=True)),
        moving={names[place]: rate for place, rate in end.moving(first)},
    )


def _posed(
    dyn: Evaluator, x0: Values | None, fixed: Any, inputs: Any, steady: Any, t: float, p: Any
) -> tuple[ConstraintState, Balance]:
    """Start of a search, and its equations."""
    held = values_of(dyn, "fixed", fixed, ("state", "input"))
    free = {i: value for (_, i), value in values_of(dyn, "inputs", inputs, ("input",)).items()}
    of_states = {i: value for (kind, i), value in held.items() if kind == "state"}
    of_inputs = {i: value for (kind, i), value in held.items() if kind == "input"}
    for i in free.keys() & of_inputs.keys():
        raise ValueError(f"{dyn.input_names[i]!r} is both fixed and among the inputs that may change")
    never_set = np.isnan(dyn.kernels.values("input"))
    at_rest = {k: 0.0 for k in dyn.input_rates if k >= 0 and never_set[k]}
    given = at_rest | {i: value for i, value in {**free, **of_inputs}.items() if value is not None}
    r = dyn.names.resolved("input", {dyn.input_names[i]: value for i, value in given.items()})
    start = _start(dyn, x0, t, np.asarray(r), np.asarray(dyn.names.resolved("parameter", {} if p is None else p)))
    places = np.array(sorted(of_states), dtype=np.intp)
    values = np.array([start.x[i] if of_states[i] is None else of_states[i] for i in places], dtype=np.float64)
    changing = np.array(sorted(free), dtype=np.intp)
    rates = _needed(start, changing) if steady is None else _named_rates(dyn, steady)
    sought = Balance(rates, places, values, changing, np.append(radians(start), np.zeros(dyn.n_u + dyn.n_z)))
    x = start.x.copy()
    x[places] = values
    try:
        return feasible(start, x, np.asarray(start.r)), sought
    except SingularError:  # the fixed values are far from here: Newton's steps lead there
        return start, sought


def _sizes(dyn: Evaluator, sizes: Any, inputs: Numbers) -> Array:
    """A size for each input that may change."""
    if isinstance(sizes, Real) or (isinstance(sizes, np.ndarray) and sizes.ndim == 0):
        sizes = {dyn.input_names[i]: sizes for i in inputs}
    named = {i: value for (_, i), value in values_of(dyn, "sizes", sizes, ("input",)).items()}
    names = [repr(dyn.input_names[i]) for i in inputs]
    if named.keys() != set(inputs.tolist()):
        raise ValueError(f"sizes must name the inputs that may change, {', '.join(names) or 'of which there are none'}")
    for i, value in named.items():
        if value is None or value <= 0.0:
            raise ValueError(f"sizes[{dyn.input_names[i]!r}] must be a positive number, not {value!r}")
    return np.array([named[i] for i in inputs.tolist()], dtype=np.float64)


def _least(end: Iterate, sizes: Array) -> Array:
    """The inputs with the least sum of (r / size)² among all inputs with the same rates.

    If u̇ is linear in the inputs, one step finds them; otherwise Newton's method does, with steps that keep the rates.
    """
    inputs, rates, wanted, iterate = end.sought.inputs, end.sought.rates, end.rates, end
    if not len(inputs):
        return np.zeros(0)
    weights = np.max(sizes) / sizes
    for _ in range(_STEPS):
        state, errors = iterate.state, iterate.errors
        rows = error_units(state, errors)[rates]
        slopes = rate_slopes(state, inputs)[rates, len(errors.names) :] / rows[:, np.newaxis]
        units = 1.0 / size_of(slopes.T)
        scaled = slopes * units
        # Without sizes, which may differ by any factor, the message names the inputs and speeds that keep the rates.
        free = null_space(clear(slopes, scaled), units) * units[:, np.newaxis]
        free /= size_of(free.T)
        r = np.array(state.r)
        before = r[inputs].copy()
        r[inputs] += units * (np.linalg.pinv(scaled, RANK) @ ((wanted - iterate.rates) / rows))
        r[inputs] += free @ np.linalg.lstsq(free * weights[:, np.newaxis], -r[inputs] * weights, rcond=None)[0]
        if np.max(np.abs(r[inputs] - before) * weights) <= _SHORT * np.max(np.abs(r[inputs]) * weights):
            return r[inputs]
        iterate = Iterate(end.sought, ConstraintState(state.dyn, state.t, state.x, r, state.p))
        if not np.isfinite(iterate.rates).all():
            break
    raise ModelError(
        "an equilibrium was found, but not the one with the least sum of (r / size)²: the rates are not linear in "
        "these inputs. Leave out sizes, or start from other inputs"
    )


def _start(dyn: Evaluator, x0: Values | None, t: float, r: Array, p: Array) -> ConstraintState:
    if x0 is not None:
        return feasible_state(dyn, t, x0, r, p, "x0")
    x = np.zeros(dyn.n_x)
    for quaternion in dyn.unit:
        x[quaternion[0]] = 1.0
    for place, value in dyn.facts.guess.items():
        x[int(place)] = value
    return consistent_state(state_of(dyn, t, x, r, p), "independent")


# ---------------------------------------------------------------------------------------- rates that vanish


def _named_rates(dyn: Evaluator, steady: Any) -> Numbers:
    """Errors with zero rates in a steady motion."""
    places = [i for _, i in values_of(dyn, "steady", steady, ("state",))]
    if all(place < dyn.n_q for place in places):
        places += range(dyn.n_q, dyn.n_x)
    return ErrorStates(dyn).of_places(places)


def _needed(start: ConstraintState, inputs: Numbers) -> Numbers:
    """Errors with zero rates in an equilibrium: speeds, states, and coordinates that rates or constraints depend on."""
    errors = ErrorStates(start.dyn)
    n_q, n = errors.n_coordinates, len(errors.names)
    rates, constraints = _dependence(start, inputs)
    needed = rates[n_q:].any(axis=0) | constraints
    while True:  # if the rate of a needed coordinate depends on another one, this is needed as well
        more = needed | rates[:n_q][needed].any(axis=0)
        if (more == needed).all():
            return np.concatenate([np.flatnonzero(needed), np.arange(n_q, n)])
        needed = more


def _dependence(start: ConstraintState, inputs: Numbers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Test whether rates of errors, and constraints, depend on each coordinate, at states nearby."""
    errors, n_q = ErrorStates(start.dyn), ErrorStates(start.dyn).n_coordinates
    rates = np.zeros((len(errors.names), n_q), dtype=bool)
    constraints = np.zeros(n_q, dtype=bool)
    rng, strong = np.random.default_rng(0), _strong(start, inputs)
    for x in (start.x, *start.nearby.x):
        r = np.array(start.r)
        r[inputs] += rng.uniform(0.5, 1.5, len(inputs)) * strong
        try:
            state = feasible(start, x, r)
            slopes = rate_slopes(state, inputs)[:, : len(errors.names)]
        except (SingularError, FloatingPointError):
            continue
        units = balance(slopes, error_units(state, errors), n_q, start.dyn.n_z)
        scaled = slopes / units[:, np.newaxis] * units
        rates |= clear(scaled, scaled)[:, :n_q] != 0.0
        rows = equilibrated(constraint_slopes(state)[:, : start.dyn.n_x] @ errors.columns(state.x), units)
        constraints |= clear(rows, rows)[:, :n_q].any(axis=0)
    return rates, constraints


def _strong(start: ConstraintState, inputs: Numbers) -> Array:
    """Inputs that change rates by as much as the current inputs, or as a unit of an error."""
    errors = ErrorStates(start.dyn)
    units, n = error_units(start, errors), len(errors.names)
    slopes = np.abs(rate_slopes(start, inputs)) / units[:, np.newaxis]
    rates = np.abs(errors.rows(start.x) @ start.dyn.rhs(start.t, start.x, **start.values)) / units
    of_others = np.max(rates, initial=0.0) or np.max(slopes[:, :n] * units, initial=0.0)
    of_inputs = np.max(slopes[:, n:], axis=0, initial=0.0)
    beside = np.divide(of_others, of_inputs, out=np.ones_like(of_inputs), where=of_inputs > 0.0)
    return np.asarray(np.abs(np.asarray(start.r)[inputs]) + beside)


# ------------------------------------------------------------------------------------------------- failure


def _refuse_unreached(dyn: Evaluator, t: float, x: Array, r: Array, p: Array) -> None:
    """Raise ModelError for an equilibrium outside the ranges of states, inputs and outputs in motions."""
    ranges = dyn.facts.ranges
    if not ranges:
        return
    names = (*dyn.names.x, *dyn.input_names, *dyn.output_names)
    values = dict(zip(names, (*x, *r, *dyn.outputs(t, x, r=r, p=p)), strict=True))
    beyond = [
        f"{name} = {values[name]:.4g}, outside [{low:g}, {high:g}]: {why}"
        for name, low, high, why in ranges
        if not low - SOLVED * (high - low) <= values[name] <= high + SOLVED * (high - low)
    ]
    if beyond:
        raise ModelError(f"no motion of {dyn.name!r} reaches the equilibrium that was found: there {'; '.join(beyond)}")


def _unbalanced(end: Iterate, unbalanced: npt.NDArray[np.bool_]) -> ModelError:
    """Error that names the rates that do not vanish, the largest first."""
    dyn, errors, sought = end.state.dyn, end.errors, end.sought
    names = [*dyn.names.x]
    labels = [f"d/dt {errors.names[i]} = {value:.4g}" for i, value in zip(sought.rates, end.residual, strict=False)]
    labels += [
        f"{names[place]} = {end.state.x[place]:.6g} in place of {value:.6g}"
        for place, value in zip(sought.held, sought.values, strict=True)
    ]
    worst = [labels[i] for i in np.argsort(-end.misses, kind="stable") if unbalanced[i]]
    free = [dyn.input_names[i] for i in sought.inputs]
    may = f"with {', '.join(free)} free" if free else "with no input free"
    return ModelError(
        f"no equilibrium of {dyn.name!r} was found {may}; not balanced: {', '.join(worst)}, at x = "
        f"{end.state.x.tolist()!r}: free more inputs, fix fewer values, or start elsewhere"
    )
