# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about the equations of motion: M, f, u̇, λ, power, and the linearization."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, BY_SOLUTION, NotApplicable, Row, judged, verdict
from kanecore.rank import size_of

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-6  # floor for the comparison of small terms, relative to the largest, in the metric of the masses
_DEFINITE = 1e-13  # relative to the largest eigenvalue: a smaller one is rounding


def _in_units(b: Bodies, terms: Array) -> Array:
    """Terms of equations, (n, n_u), with a floor relative to the largest in the metric of the masses."""
    units = b.states.at.speed_units
    largest = np.max(terms * units, axis=-1, keepdims=True, initial=0.0)
    return np.asarray(terms + _SMALL * largest / units)


def _mass_matrix(name: str, b: Bodies) -> Row:
    """Row for M against −∂F*/∂u̇; F* is affine in u̇, so differences are exact."""
    states, change = b.states, b.states.loose
    ahead, behind = (states.call("generalized_inertia_forces", udot) for udot in (change, -change))
    products = states.at.mass * change[..., np.newaxis, :]
    terms = np.sum(np.abs(products), axis=-1) + np.abs(ahead) + np.abs(behind)
    difference = np.sum(products, axis=-1) + 0.5 * (ahead - behind)
    return _of_speeds(name, b, difference, terms, "M is not -∂F*/∂u̇")


def _of_speeds(name: str, b: Bodies, difference: Array, terms: Array, reason: str, needed: float = BY_FORMULA) -> Row:
    """A row about equations of the speeds, (..., n, n_u)."""
    labels = [f"the equation of {speed}" for speed in b.dyn.speed_names]
    size = _in_units(b, terms)
    if difference.ndim == 3:
        difference, size = (part.reshape(-1, part.shape[-1]) for part in (difference, size))
    return judged(name, difference, size, needed, labels=labels, reason=reason)


def _symmetric(name: str, b: Bodies) -> Row:
    if b.has_inertial_loads:
        raise NotApplicable("loads hold udot")
    mass, units = b.states.at.mass, b.states.at.speed_units
    scaled = mass * units[:, :, np.newaxis] * units[:, np.newaxis, :]
    size = np.max(np.abs(scaled), axis=(1, 2), keepdims=True)
    return judged(name, scaled - np.swapaxes(scaled, 1, 2), size, BY_FORMULA, reason="it is not")


def _definite(name: str, b: Bodies) -> Row:
    if b.has_inertial_loads:
        raise NotApplicable("loads hold udot")
    allowed = b.states.allowed
    if not allowed.shape[-1]:
        raise NotApplicable("the constraints allow no motion")
    masses = np.swapaxes(allowed, 1, 2) @ b.states.at.mass @ allowed
    values = np.linalg.eigvalsh(0.5 * (masses + np.swapaxes(masses, 1, 2)))
    smallest = float(np.min(values[:, 0] / np.max(np.abs(values), axis=-1)))
    reason = f"the smallest eigenvalue is {smallest:.1e} of the largest, in the metric of the masses"
    return verdict(name, smallest > _DEFINITE, reason)


def _forcing(name: str, b: Bodies) -> Row:
    states = b.states
    zero = np.zeros_like(states.u)
    active, inertia = states.call("generalized_active_forces"), states.call("generalized_inertia_forces", zero)
    f = states.call("forcing")
    terms = np.abs(active) + np.abs(inertia) + np.abs(f) + _inertial_terms(b)
    return _of_speeds(name, b, f - active - inertia, terms, "f is not F + F* at u̇ = 0")


def _inverse_dynamics(name: str, b: Bodies) -> Row:
    states = b.states
    given, f = states.call("inverse_dynamics", states.udot), states.call("forcing")
    products = states.at.mass * states.udot[:, np.newaxis, :]
    terms = np.sum(np.abs(products), axis=-1) + np.abs(f) + b.load_terms()
    return _of_speeds(name, b, given - np.sum(products, axis=-1) + f, terms, "it is not M u̇ - f")


def _coordinate_forces(name: str, b: Bodies) -> Row:
    states, rates = b.states, b.states.at.rates[0]
    given, active = states.call("coordinate_forces"), states.call("generalized_active_forces")
    products = rates * given[..., np.newaxis]
    terms = np.sum(np.abs(products), axis=1) + np.abs(active) + _inertial_terms(b)
    return _of_speeds(name, b, np.sum(products, axis=1) - active, terms, "Yᵀ Q is not F")


def _residual(name: str, b: Bodies) -> Row:
    """Row for the residual at random u̇ and λ, of the size of forces."""
    states, dyn, at = b.states, b.dyn, b.states.at
    udot, rng = states.loose[0], np.random.default_rng(5)
    products = at.mass * udot[:, np.newaxis, :]
    force = np.max(np.abs(products) * at.speed_units[..., np.newaxis], axis=(1, 2))[:, np.newaxis]
    sizes = np.max(size_of(at.rows * at.speed_units[:, np.newaxis, :]), axis=0)  # a row may vanish at a state
    multipliers = rng.uniform(-1.0, 1.0, at.bias.shape) * force / sizes
    pulls, f = at.rows * multipliers[..., np.newaxis], states.call("forcing")
    expected = [f - np.sum(products, axis=-1) + np.sum(pulls, axis=1), at.configuration_residual, at.velocity_residual]
    terms = np.sum(np.abs(products), axis=-1) + np.abs(f) + np.sum(np.abs(pulls), axis=1) + b.load_terms()
    given = states.call("equations_residual", udot, multipliers)
    labels = [f"the equation of {speed}" for speed in dyn.speed_names]
    labels += [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    difference = given - np.concatenate(expected, axis=-1)
    terms = np.concatenate([_in_units(b, terms), at.term_sizes], axis=-1)
    terms += np.where(terms > 0.0, 0.0, np.max(terms, axis=0))
    return judged(name, difference, terms, BY_FORMULA, labels=labels, reason="it is not [f - M u̇ + Gᵀλ, φ, c]")


def _inertial_terms(b: Bodies) -> Array:
    """Magnitude Σ |M_ij u̇_j| plus the terms of F, for comparison of vanishing forces."""
    return np.asarray(np.sum(np.abs(b.states.at.mass * b.states.udot[:, np.newaxis, :]), axis=-1)) + b.load_terms()


def _solved(name: str, b: Bodies) -> Row:
    return _equations(name, b, b.states.call("udot"), np.zeros_like(b.states.udot), "M u̇ is not f + Gᵀλ")


def _pushed(name: str, b: Bodies) -> Row:
    """Row for u̇ under τ = M δ: u̇ changes by the allowed δ, and constraint forces are the same."""
    tau = np.sum(b.states.at.mass @ b.states.allowed, axis=-1)
    return _equations(name, b, b.states.call("forward_dynamics", tau), tau, "M u̇ is not f + τ + Gᵀλ")


def _equations(name: str, b: Bodies, udot: Array, tau: Array, reason: str) -> Row:
    states, at = b.states, b.states.at
    products, f = at.mass * udot[:, np.newaxis, :], states.call("forcing")
    difference = np.sum(products, axis=-1) - f - tau
    terms = np.sum(np.abs(products), axis=-1) + np.abs(f) + np.abs(tau)
    if b.dyn.n_constraints:
        forces = at.rows * states.call("multipliers")[..., np.newaxis]
        difference -= np.sum(forces, axis=1)
        terms += np.sum(np.abs(forces), axis=1)
    return _of_speeds(name, b, difference, terms, reason, BY_SOLUTION)


def _constrained(name: str, b: Bodies) -> Row:
    if not b.dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    products = b.states.at.rows * b.states.call("udot")[:, np.newaxis, :]
    difference = np.sum(products, axis=-1) + b.states.at.bias
    terms = np.sum(np.abs(products), axis=-1) + np.abs(b.states.at.bias)
    terms += _SMALL * np.max(terms, axis=0)  # a row may vanish at a state
    return judged(name, difference, terms, BY_SOLUTION, labels=b.dyn.constraint_names, reason="u̇ breaks the constraint")


def _rhs(name: str, b: Bodies) -> Row:
    states = b.states
    parts = states.motion(states.call("udot"))
    whole, labels = states.call("rhs"), [*b.dyn.names.x]
    terms = np.abs(parts) + np.abs(whole)
    return judged(name, whole - parts, terms, BY_FORMULA, labels=labels, reason="it is not [q̇, u̇, ż]")


def _power(name: str, b: Bodies) -> Row:
    b.require_accelerations()
    states, udot = b.states, b.states.call("udot")
    rates = [states.rate(kernel, udot) for kernel in ("kinetic_energy", "potential_energy")]
    given = states.call("power", udot)
    difference = sum(rate.value for rate in rates) - given
    parts = np.sum(np.abs(states.call("momenta") * udot), axis=-1) if b.dyn.kernels.has("momenta") else 0.0
    if b.dyn.n_constraints:  # their power vanishes on the constraints, even for large u̇
        forces = states.at.rows * states.call("multipliers")[..., np.newaxis]
        parts = parts + np.sum(np.abs(forces * states.u[:, np.newaxis, :]), axis=(1, 2))
    terms = sum(np.abs(rate.value) for rate in rates) + np.abs(given) + parts
    gaps = sum(rate.uncertainty for rate in rates)
    reason = "d(T + U)/dt is not the power of loads, drives and constraints"
    return judged(name, np.asarray(difference), np.asarray(terms), BY_DIFFERENCES, uncertainty=gaps, reason=reason)


def _linearization(name: str, b: Bodies) -> Row:
    """Row for A δx + B δr against differences of rhs."""
    states, dyn = b.states, b.dyn
    if dyn.n_constraints > states.rank:
        raise NotApplicable("redundant constraints contradict each other off the constraints")
    if why := dyn.kernels.why_not("linearize"):
        raise NotApplicable(why)
    rng = np.random.default_rng(1)
    dx = states.tangent(states.sizes * rng.uniform(-1.0, 1.0, (2, *states.x.shape)))
    dr = rng.uniform(-1.0, 1.0, (2, *states.r.shape))
    a, input_part = dyn.linearize(states.t, states.x, r=states.r)  # type: ignore[attr-defined]
    products = a * dx[..., np.newaxis, :]
    pushes = input_part * dr[..., np.newaxis, :]
    slope = states.slope("rhs", dx, 0.0, dr)
    difference = np.sum(products, axis=-1) + np.sum(pushes, axis=-1) - slope.value
    terms = np.sum(np.abs(products), axis=-1) + np.sum(np.abs(pushes), axis=-1) + np.abs(slope.value)
    labels = [f"the rate of {name}" for name in dyn.names.x]
    difference, terms, gaps = (part.reshape(-1, dyn.n_x) for part in (difference, terms, slope.uncertainty))
    reason = "A δx + B δr is not the change of rhs"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("mass matrix M = -∂F*/∂u̇", _mass_matrix),
    ("M symmetric", _symmetric),
    ("M positive definite where motions are allowed", _definite),
    ("forcing f = F + F* at u̇ = 0", _forcing),
    ("inverse dynamics = M u̇ - f", _inverse_dynamics),
    ("coordinate forces: Yᵀ Q = F", _coordinate_forces),
    ("residual = [f - M u̇ + Gᵀλ, φ, c]", _residual),
    ("M u̇ = f + Gᵀλ", _solved),
    ("forward dynamics: M u̇ = f + τ + Gᵀλ", _pushed),
    ("G u̇ + γ = 0", _constrained),
    ("rhs = [q̇, u̇]", _rhs),
    ("power = d(T + U)/dt", _power),
    ("linearization = differences of rhs", _linearization),
)
"""The rows, and how each is found."""
