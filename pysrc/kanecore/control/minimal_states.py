# SPDX-License-Identifier: BSD-3-Clause
"""Minimal states of a linear system: independent errors around a state on the constraints, δx = T z + T_r δr, z = S δx.

The linearized constraints ∂φ/∂q δq + ∂φ/∂r δr = 0 and ∂c/∂q δq + ∂c/∂u δu + ∂c/∂r δr = 0 leave free
n_q − n_unit − rank ∂φ/∂q coordinates and n_u − rank ∂c/∂u speeds.  The choice of the free ones changes only names.

Derivatives of the outputs, along directions on the constraints, are exact unless an output depends on multipliers.
Multipliers of redundant constraints are defined only on the constraints, so differences of high order are taken between
states projected to the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_state import ConstraintState
from kanecore.control.error_states import ErrorStates
from kanecore.errors import ModelError, StateError
from kanecore.rank import coordinate_units, independent_rows, pivots, size_of
from kanecore.run.numerical_derivatives import derivative
from kanecore.tolerances import NOISE, RANK

__all__ = ["Reduction", "constraint_slopes", "error_sizes", "error_units", "output_slopes", "reduction"]

Array = npt.NDArray[np.float64]

_NOTHING = 1e-30  # zero in the metric of the masses; a nanometre of an atom is larger
_UNCERTAIN = 1e2  # times the difference of results with two steps: a smaller derivative is rounding of zero


@dataclass(frozen=True)
class Reduction:
    """Independent errors z around a state.

    Attributes
    ----------
    errors : ErrorStates
        All errors; z is a part of them.
    x : ndarray, (n_x,)
    independent, dependent : ndarray of int
        Indices of the errors z, and of the errors that follow from z.
    tangent : ndarray, (n_x, n)
        The matrix T.
    input_tangent : ndarray, (n_x, n_r)
        The matrix T_r: the effect of inputs in constraints on the dependent errors.
    units, sizes : ndarray, (n,)
        Unit of each z in the metric of the masses, and its large change.
    """

    errors: ErrorStates
    x: Array
    independent: npt.NDArray[np.intp]
    dependent: npt.NDArray[np.intp]
    tangent: Array
    input_tangent: Array
    units: Array
    sizes: Array

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.errors.names[i] for i in self.independent)

    @property
    def dependent_names(self) -> tuple[str, ...]:
        return tuple(self.errors.names[i] for i in self.dependent)

    @property
    def rows(self) -> Array:
        """The matrix S, (n, n_x)."""
        return self.errors.rows(self.x)[self.independent]

    def turning(self, xdot: Array) -> Array:
        """Derivative dS/dt due to the changing reference of a quaternion: (n, n_x)."""
        return self.errors.turning(xdot)[self.independent]

    def between(self, x: Array) -> Array:
        """The independent errors z of states (..., n_x)."""
        return self.errors.between(x, self.x)[..., self.independent]


def reduction(state: ConstraintState) -> Reduction:
    """Find the independent errors around a state that is on the constraints.

    These are the errors of q_ind and u_ind if the others follow from them at this state; otherwise pivots in the metric
    of the masses choose them.
    """
    dyn, errors = state.dyn, ErrorStates(state.dyn)
    columns, n, n_q, end = errors.columns(state.x), len(errors.names), errors.n_coordinates, errors.end_of_speeds
    units, slopes = error_units(state, errors), constraint_slopes(state)
    rows = np.hstack([slopes[:, : dyn.n_x] @ columns, slopes[:, dyn.n_x :]])
    follow = np.eye(n, n + dyn.n_r)  # maps to all errors from the independent errors, and from the inputs
    coordinates = slice(0, 0) if dyn.unit else slice(n_q - dyn.n_q_dependent, n_q)
    dependent = list[int]()
    for part, own, named in (
        (rows[: dyn.n_configuration], slice(0, n_q), coordinates),
        (rows[dyn.n_configuration :], slice(n_q, end), slice(end - dyn.n_u_dependent, end)),
    ):
        part = part / size_of(part[:, own] * units[own])[:, np.newaxis]
        chosen = _dependent(part[:, own] * units[own], np.arange(n)[named] - own.start) + own.start
        follow[chosen] = 0.0
        change = part[:, :n] @ follow
        change[:, n:] += part[:, n:]
        scaled = part[:, chosen] * units[chosen]
        follow[chosen] = -units[chosen, np.newaxis] * (np.linalg.pinv(scaled, rcond=RANK) @ change)
        dependent += chosen.tolist()
    independent = np.delete(np.arange(n), dependent)
    return Reduction(
        errors=errors,
        x=state.x,
        independent=independent,
        dependent=np.array(dependent, dtype=np.intp),
        tangent=columns @ follow[:, independent],
        input_tangent=columns @ follow[:, n:],
        units=units[independent],
        sizes=error_sizes(errors, units, errors.values(state.x))[independent],
    )


def error_units(state: ConstraintState, errors: ErrorStates) -> Array:
    """Units of the errors, in the metric of the masses; 1 for a coordinate that no speed moves, and for a state."""
    n_q, speeds = state.dyn.n_q, state.speed_units
    rates = errors.rows(state.x)[: errors.n_coordinates, :n_q] @ state.rates[0]
    coordinates = coordinate_units(rates, speeds)
    return np.concatenate([np.where(coordinates > 0.0, coordinates, 1.0), speeds, np.ones(state.dyn.n_z)])


def error_sizes(errors: ErrorStates, units: Array, values: Array) -> Array:
    """Reference magnitude of each error: its value plus the largest value of all, in its unit.

    For speeds, the largest coordinate counts as a change in one unit of time.  Each state counts alone, since states
    may have different units, as a pressure and a current.
    """
    n_q, end = errors.n_coordinates, errors.end_of_speeds
    parts = np.split(values / units, [n_q, end])
    of_coordinates, of_speeds = (float(np.max(part, initial=0.0)) for part in parts[:2])
    places = np.arange(len(values))
    beside = np.where(places < n_q, of_coordinates, max(of_coordinates, of_speeds))
    beside[end:] = parts[2]
    return values + np.where(beside > _NOTHING, beside * units, 1.0)


def constraint_slopes(state: ConstraintState) -> Array:
    """The slopes ∂(φ, c)/∂(x, r)."""
    dyn = state.dyn
    if not (dyn.n_constraints or dyn.n_configuration):
        return np.zeros((0, dyn.n_x + dyn.n_r))
    return np.asarray(dyn.kernels.constraint_slopes(state.t, state.x, **state.values))


def _dependent(rows: Array, named: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Columns that follow from the others, for rows and columns of equal size: the named columns if possible."""
    rank = len(independent_rows(rows))
    if len(named) == rank == len(independent_rows(rows[:, named])):
        return named
    return pivots(rows, rank)


def output_slopes(state: ConstraintState, dx: Array, dr: Array, dudot: Array, sizes: Array) -> Array:
    """∂y/∂x dx + ∂y/∂r dr + ∂y/∂u̇ du̇ at a state, (n_outputs, n), for n directions dx (n_x, n), dr, du̇ (n_u, n).

    An entry is zero if its terms cancel to rounding, as for an accelerometer that is tilted in free fall.
    ``sizes`` (n,) of the directions are large changes.
    """
    dyn = state.dyn
    if not dyn.n_outputs:
        return np.zeros((0, dx.shape[1]))
    udot = dyn.udot(state.t, state.x, r=state.r, p=state.p)
    try:
        slopes = dyn.kernels.output_slopes(state.t, state.x, udot, r=state.r, p=state.p)
    except ModelError:  # an output depends on multipliers
        return _by_differences(state, dx, dr, sizes)
    directions = np.vstack([dx, dr, dudot])
    total, terms = slopes @ directions, np.abs(slopes) @ np.abs(directions)
    return np.asarray(np.where(np.abs(total) > NOISE * terms, total, 0.0))


def _by_differences(state: ConstraintState, dx: Array, dr: Array, sizes: Array) -> Array:
    dyn = state.dyn
    inputs = np.asarray(dyn.names.resolved("input", {} if state.r is None else state.r))
    directions = np.vstack([dx, dr]).T

    def along(steps: Array) -> Array:
        moved = steps[..., np.newaxis] * directions
        x, r = state.x + moved[..., : dyn.n_x], inputs + moved[..., dyn.n_x :]
        if dyn.n_constraints:
            x = _where_defined(dyn.kernels.project, state.t, x, r, state.p)
        return _where_defined(dyn.outputs, state.t, x, r, state.p)

    slope = derivative(along, sizes)
    clear = np.abs(slope.value) > _UNCERTAIN * slope.uncertainty
    return np.ascontiguousarray(np.where(clear, slope.value, 0.0).T)


def _where_defined(kernel: Any, t: float, x: Array, r: Array, p: Any) -> Array:
    """A kernel at several states, NaN where it is undefined."""
    try:
        return np.asarray(kernel(t, x, r=r, p=p))
    except StateError as error:
        if error.out is None:
            raise
        return np.asarray(error.out)
