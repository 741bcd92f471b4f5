# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about derivatives: of u̇ by parameters and t, of outputs, C and g, and the regressors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, BY_SOLUTION, NotApplicable, Row, judged
from kanecore.rank import speed_units
from kanecore.run.numerical_derivatives import Slope, derivative

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]


def _parameters(name: str, b: Bodies) -> Row:
    """Row for ∂ẋ/∂p δp, with t as one more parameter, against differences of rhs."""
    states, dyn = b.states, b.dyn
    if dyn.n_constraints > states.rank:
        raise NotApplicable("redundant constraints contradict each other off the constraints")
    p = dyn.kernels.values("parameter")
    change = np.append(np.random.default_rng(1).uniform(0.5, 1.0, dyn.n_p) * np.abs(p), 1.0)

    def rhs(tau: Array) -> Array:
        moved = p + tau[..., np.newaxis] * change[:-1]
        return np.asarray(dyn.rhs(states.t + tau, states.x, r=states.r, p=moved))

    slope = derivative(rhs, np.ones(len(states.x)))
    columns = [states.call("rhs_parameter_jacobian"), states.call("rhs_time_derivative")[..., np.newaxis]]
    products = np.concatenate(columns, axis=-1) * change
    return _of_slope(name, products, slope, "they are not the change of rhs with parameters and t")


def _outputs(name: str, b: Bodies) -> Row:
    """Row for ∂y/∂x δx + ∂y/∂r δr against differences of the outputs."""
    states, dyn = b.states, b.dyn
    if not dyn.n_outputs:
        raise NotApplicable("there are no outputs")
    if dyn.n_constraints > states.rank:
        raise NotApplicable("redundant constraints contradict each other off the constraints")
    rng = np.random.default_rng(1)
    dx = states.tangent(states.sizes * rng.uniform(-1.0, 1.0, states.x.shape))
    dr = rng.uniform(-1.0, 1.0, states.r.shape)
    products = states.call("output_jacobian") * np.concatenate([dx, dr], axis=-1)[..., np.newaxis, :]
    return _of_slope(name, products, states.slope("outputs", dx, 0.0, dr), "it is not the change of the outputs")


def _output_slopes(name: str, b: Bodies) -> Row:
    """∂y/∂(x, r) at constant u̇, and ∂y/∂u̇ ∂u̇/∂(x, r)."""
    states, dyn = b.states, b.dyn
    if not dyn.n_outputs:
        raise NotApplicable("there are no outputs")
    direct, by_udot = np.split(states.call("output_slopes", states.call("udot")), [dyn.n_x + dyn.n_r], axis=-1)
    udot, given = states.call("linearize")[:, dyn.names.speeds], states.call("output_jacobian")
    change = np.concatenate([states.sizes, np.ones(dyn.n_r)])
    difference = (direct + by_udot @ udot - given) @ change
    terms = (np.abs(direct) + np.abs(by_udot) @ np.abs(udot) + np.abs(given)) @ change
    return judged(name, difference, terms, BY_SOLUTION, reason="they do not add up to it")


def _of_slope(name: str, products: Array, slope: Slope, reason: str) -> Row:
    difference = np.sum(products, axis=-1) - slope.value
    terms = np.sum(np.abs(products), axis=-1) + np.abs(slope.value)
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=slope.uncertainty, reason=reason)


def _coriolis(name: str, b: Bodies) -> Row:
    """Row for C u against −F* at u̇ = 0, and C + Cᵀ against Ṁ by differences."""
    states = b.states
    matrix = states.call("coriolis_matrix")
    slope = states.rate("mass_matrix", np.zeros_like(states.udot))
    products = matrix * states.u[..., np.newaxis, :]
    forces = states.call("generalized_inertia_forces", np.zeros_like(states.udot))
    flat = (len(states.x), -1)
    both = (matrix + np.swapaxes(matrix, 1, 2)).reshape(flat)
    difference = np.concatenate([np.sum(products, axis=-1) + forces, both - slope.value.reshape(flat)], axis=-1)
    # cancelling components are compared with the others, in the metric of the masses
    units = speed_units(states.call("mass_matrix"), matrix)
    of_forces, of_entries = np.sum(np.abs(products), axis=-1) + np.abs(forces), np.abs(matrix).reshape(flat)
    pairs = (units[:, :, np.newaxis] * units[:, np.newaxis, :]).reshape(flat)
    terms = np.concatenate([_floored(of_forces, units), np.abs(both) + _floored(of_entries, pairs)], axis=-1)
    gaps = np.concatenate([np.zeros_like(forces), slope.uncertainty.reshape(flat)], axis=-1)
    reason = "C u is not -F* at u̇ = 0, or C + Cᵀ not dM/dt"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, reason=reason)


def _floored(sizes: Array, units: Array) -> Array:
    """Sizes, plus the largest size at each state, in their own units."""
    return np.asarray(sizes + np.max(sizes * units, axis=-1, keepdims=True, initial=0.0) / units)


def _regressor(name: str, b: Bodies) -> Row:
    """Row for Y π against −F* without the loads that depend on u̇, and the weights."""
    if b.has_inertial_loads:
        raise NotApplicable("loads hold udot")
    states = b.states
    parameters = states.call("inertial_parameters").reshape(len(states.x), 1, -1)
    products = states.call("regressor", states.udot) * parameters
    forces, weights = states.call("generalized_inertia_forces", states.udot), states.call("gravity_forces")
    if b.dyn.n_potentials:
        raise NotApplicable("potential energies stand for forces, weights or others")
    difference = np.sum(products, axis=-1) + forces - weights
    terms = np.sum(np.abs(products), axis=-1) + np.abs(forces) + np.abs(weights)
    size = np.max(terms, axis=-1, keepdims=True, initial=0.0)
    return judged(name, difference, np.maximum(terms, 1e-3 * size), BY_FORMULA, reason="Y π is not -F* and the weights")


def _joint_regressor(name: str, b: Bodies) -> Row:
    """Row for the columns against Wᵀ q̇, Wᵀ sign q̇ and Wᵀ q̈, with q̈ by differences."""
    states, dyn = b.states, b.dyn
    found = states.call("joint_regressor", states.udot).reshape(-1, dyn.n_u, dyn.n_q, 3)
    w, second = states.at.rates[0], states.rate("qdot", states.udot)
    of_members = np.isin(np.arange(dyn.n_q), [place for quaternion in dyn.unit for place in quaternion])
    w = np.where(of_members[:, np.newaxis], 0.0, w)
    forces = np.stack([states.qdot, np.sign(states.qdot), second.value], axis=-1)
    size = np.abs(forces)
    size[..., 2] += np.einsum("nij,nj->ni", np.abs(w), np.abs(states.udot))
    columns = np.swapaxes(w, 1, 2)[..., np.newaxis]
    difference = found - columns * forces[:, np.newaxis]
    gaps = np.zeros_like(difference)
    gaps[..., 2] = np.abs(columns[..., 0]) * second.uncertainty[:, np.newaxis]
    terms = np.abs(found) + np.abs(columns) * size[:, np.newaxis]
    flat = (len(found), -1)
    difference, terms, gaps = (each.reshape(flat) for each in (difference, terms, gaps))
    reason = "columns are not Wᵀ q̇, Wᵀ sign q̇, Wᵀ q̈"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, reason=reason)


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("∂ẋ/∂p, ∂ẋ/∂t = differences of rhs", _parameters),
    ("output jacobian = differences of outputs", _outputs),
    ("output slopes at u̇ = output jacobian", _output_slopes),
    ("C u = -F* at u̇ = 0, C + Cᵀ = dM/dt", _coriolis),
    ("regressor: Y π = -F* + g", _regressor),
    ("joint regressor = Wᵀ q̇, Wᵀ sign q̇, Wᵀ q̈", _joint_regressor),
)
"""The rows, and how each is found."""
