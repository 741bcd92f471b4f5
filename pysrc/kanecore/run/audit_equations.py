# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about the equations of motion: M, f, u̇, λ, reactions, power, and derivatives of the equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.run.audit_bodies import Bodies
from kanecore.run.audit_rows import BY_DIFFERENCES, BY_FORMULA, BY_SOLUTION, NotApplicable, Row, judged, verdict
from kanecore.run.constraints import Constraints
from kanecore.run.metric import size_of

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-6  # of the largest, in the metric of the masses: terms that are smaller are compared with this
_NEAR = 1e-3  # of the sizes of coordinates and speeds: how far off the constraints a state is brought back from
_LIGHT = 1e-4  # of what acts on any body: what acts on one is compared with at least this
_DEFINITE = 1e-13  # of the largest eigenvalue: a smaller one is rounding


def _in_units(b: Bodies, terms: Array) -> Array:
    """Terms of equations, (n, n_u), none much smaller than the largest in the metric of the masses."""
    units = b.states.at.speed_units
    largest = np.max(terms * units, axis=-1, keepdims=True, initial=0.0)
    return np.asarray(terms + _SMALL * largest / units)


def _mass_matrix(name: str, b: Bodies) -> Row:
    """F* is affine in u̇: its differences are exact."""
    states, change = b.states, b.states.loose
    ahead, behind = (states.call("generalized_inertia_forces", udot) for udot in (change, -change))
    products = states.at.mass * change[..., np.newaxis, :]
    terms = np.sum(np.abs(products), axis=-1) + np.abs(ahead) + np.abs(behind)
    difference = np.sum(products, axis=-1) + 0.5 * (ahead - behind)
    return _of_speeds(name, b, difference, terms, "M is not -∂F*/∂u̇")


def _of_speeds(name: str, b: Bodies, difference: Array, terms: Array, reason: str, needed: float = BY_FORMULA) -> Row:
    """A row of an equation for each speed, (..., n, n_u)."""
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
    """At random u̇ and λ, of the size of forces."""
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
    """Σ |M_ij u̇_j| and the terms of F: what forces that vanish are compared with."""
    return np.asarray(np.sum(np.abs(b.states.at.mass * b.states.udot[:, np.newaxis, :]), axis=-1)) + b.load_terms()


def _solved(name: str, b: Bodies) -> Row:
    states, at = b.states, b.states.at
    udot, f = states.call("udot"), states.call("forcing")
    products = at.mass * udot[:, np.newaxis, :]
    difference, terms = np.sum(products, axis=-1) - f, np.sum(np.abs(products), axis=-1) + np.abs(f)
    if b.dyn.n_constraints:
        forces = at.rows * states.call("multipliers")[..., np.newaxis]
        difference -= np.sum(forces, axis=1)
        terms += np.sum(np.abs(forces), axis=1)
    return _of_speeds(name, b, difference, terms, "M u̇ is not f + Gᵀλ", BY_SOLUTION)


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
    parts = np.concatenate([states.qdot, states.call("udot")], axis=-1)
    whole, labels = states.call("rhs"), [*b.dyn.coordinate_names, *b.dyn.speed_names]
    terms = np.abs(parts) + np.abs(whole)
    return judged(name, whole - parts, terms, BY_FORMULA, labels=labels, reason="it is not [q̇, u̇]")


# ----------------------------------------------------------------------------------------------------- constraints


def _constraint_rates(name: str, b: Bodies) -> Row:
    """d/dt of φ and c along any motion, also one that they do not allow."""
    states, dyn, at = b.states, b.dyn, b.states.at
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    udot = states.loose[0]
    motion, still = np.concatenate([states.qdot, udot], axis=-1), np.concatenate([states.qdot, np.zeros_like(udot)], -1)
    rates = states.slope("velocity_residual", motion, 1.0, states.input_rates)
    n = dyn.n_velocity
    products = at.rows[:, :n] * udot[:, np.newaxis, :]
    results = [
        (
            rates.value - np.sum(products, axis=-1) - at.bias[:, :n],
            np.sum(np.abs(products), axis=-1) + np.abs(at.bias[:, :n]) + np.abs(rates.value),
            rates.uncertainty,
        )
    ]
    labels = list(dyn.constraint_names[:n])
    if dyn.n_configuration:
        moved = states.slope("configuration_residual", still)
        terms = np.abs(at.configuration_jacobian * states.qdot[:, np.newaxis, :])
        given = np.einsum("nij,nj->ni", at.configuration_jacobian, states.qdot)
        results.append((moved.value - given, np.sum(terms, axis=-1) + np.abs(moved.value), moved.uncertainty))
        labels += [f"∂φ/∂q of {name}" for name in dyn.configuration_names]
    difference, size, gaps = (np.concatenate(part, axis=-1) for part in zip(*results, strict=True))
    size = size + _SMALL * np.max(size, axis=-1, keepdims=True)
    reason = "G u̇ + γ is not the derivative of the constraint"
    return judged(name, difference, size, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _projection(name: str, b: Bodies) -> Row:
    """States near those that were drawn are brought back to the constraints."""
    states, dyn = b.states, b.dyn
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(3)
    near = states.x + _NEAR * states.sizes * rng.uniform(-1.0, 1.0, states.x.shape)
    for quaternion in dyn.unit:
        near[:, list(quaternion)] = states.x[:, list(quaternion)]
    at = Constraints(dyn, states.t, states.call("_project", x=near), states.r)
    reached = np.isfinite(at.x).all(axis=-1)
    if not reached.any():
        raise NotApplicable("no state nearby is brought back")
    residuals = np.concatenate([at.configuration_residual, at.velocity_residual], axis=-1)[reached]
    sizes = at.term_sizes[reached]
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    sizes = sizes + _SMALL * np.max(sizes, axis=0)
    return judged(name, residuals, sizes, BY_FORMULA, labels=labels, reason="a state is not brought back to it")


def _rank(name: str, b: Bodies) -> Row:
    dyn, states = b.dyn, b.states
    if not dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    fact = f"rank {states.rank} of {dyn.n_constraints} rows"
    if states.rank < dyn.n_constraints:
        fact += f", {dyn.n_constraints - states.rank} redundant: multipliers of least norm"
    typical = dyn.check(states.x[0], states.t[0], r=states.r[0]).typical_rank  # type: ignore[attr-defined]
    if typical > states.rank:
        fact = f"the rank is {states.rank} at random states, and {typical} nearby"
    return verdict(name, typical <= states.rank, fact)


# --------------------------------------------------------------------------------------------- reactions and power


def _balances(b: Bodies, on_children: Array) -> tuple[Array, Array]:
    """Force and moment about the mass centre of each body by joints, (n, n_bodies, 6), and their sizes."""
    joints, places = b.states.call("_joint_positions"), b.states.call("_positions")[:, b.point]
    total, sizes = np.zeros((len(joints), len(b.point), 6)), np.zeros((len(joints), len(b.point), 2))
    for i, (parent, child, _) in enumerate(b.joints):
        for body, sign in ((child, 1.0), (parent, -1.0)):
            if body >= 0:
                force, torque = sign * on_children[:, i, :3], sign * on_children[:, i, 3:]
                _act(total[:, body], sizes[:, body], force, torque, joints[:, i] - places[:, body])
    return total, sizes


def _act(total: Array, sizes: Array, force: Array, torque: Array, arm: Array) -> None:
    """Add a force and a torque, (n, 3), to a body's (n, 6), and how large they are to (n, 2)."""
    total[:, :3] += force
    total[:, 3:] += torque + np.cross(arm, force)
    sizes[:, 0] += np.linalg.norm(force, axis=-1)
    sizes[:, 1] += np.linalg.norm(torque, axis=-1) + np.linalg.norm(arm, axis=-1) * np.linalg.norm(force, axis=-1)


def _loads_on_bodies(b: Bodies, vectors: Array) -> tuple[Array, Array]:
    """Force and moment about the mass centre of each body by loads, (n, n_bodies, 6), and their sizes."""
    places = b.states.call("_positions")
    total, sizes = np.zeros((len(places), len(b.point), 6)), np.zeros((len(places), len(b.point), 2))
    nothing = np.zeros((len(places), 3))
    for i, (kind, place, *_) in enumerate(b.loads):
        if (body := b.acts_on[i]) >= 0:
            arm = nothing if kind else places[:, place] - places[:, b.point[body]]
            force, torque = (nothing, vectors[:, i]) if kind else (vectors[:, i], nothing)
            _act(total[:, body], sizes[:, body], force, torque, arm)
    return total, sizes


def _reactions(name: str, b: Bodies) -> Row:
    """Loads, reactions, constraints and inertia of each body by itself add up to nothing."""
    udot = b.states.call("udot")
    given = _reaction_kernel(b)
    total, sizes = _balances(b, given)
    for part, size in (_loads_on_bodies(b, b.load_vectors(udot)), _attached(b)):
        total, sizes = total + part, sizes + size
    rates = b.momentum_rates(udot)
    total, sizes = total - rates.value, sizes + _norms(rates.value)
    sizes[..., 1] += _reach(b) * sizes[..., 0]  # forces that cancel leave a reaction of rounding, at a joint's arm
    difference = _norms(total)
    gaps = np.stack([np.max(rates.uncertainty[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))], axis=-1)
    sizes += _LIGHT * np.max(sizes, axis=1, keepdims=True)
    held = _held(b)
    reason = "loads, reactions and inertia forces of the body are not in balance"
    labels = [b.body_names[i] for i in held]
    difference, sizes, gaps = difference[:, held], sizes[:, held], gaps[:, held]
    return judged(name, difference, sizes, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _reach(b: Bodies) -> Array:
    """How far the farthest joint of each body is from its mass centre, (n, n_bodies)."""
    joints, places = b.states.call("_joint_positions"), b.states.call("_positions")[:, b.point]
    reach = np.zeros(places.shape[:2])
    for i, (parent, child, _) in enumerate(b.joints):
        for body in (parent, child):
            if body >= 0:
                reach[:, body] = np.maximum(reach[:, body], np.linalg.norm(joints[:, i] - places[:, body], axis=-1))
    return reach


def _held(b: Bodies) -> list[int]:
    """The bodies that a joint holds: what the ground does to a wheel that stands on it is no reaction of the model."""
    held = [child for _, child, free in b.joints if not free]
    if not held:
        raise NotApplicable("no joint holds a body")
    return held


def _reaction_kernel(b: Bodies) -> Array:
    if why := b.dyn._why_not("reactions"):
        raise NotApplicable(why)
    if b.adrift:
        raise NotApplicable("positions of points do not tell where they are")
    return b.states.call("reactions")


def _attached(b: Bodies) -> tuple[Array, Array]:
    """What constraints do to each body, by their multipliers."""
    if not b.dyn.n_constraints:
        zero = np.zeros((len(b.states.t), len(b.point), 6))
        return zero, _norms(zero)
    terms = b.states.call("_attached_wrenches") * b.states.call("multipliers")[:, np.newaxis, np.newaxis, :]
    return np.sum(terms, axis=-1), np.sum(_norms(np.moveaxis(terms, -1, 0)), axis=0)


def _norms(wrenches: Array) -> Array:
    """Sizes of forces and of torques: (..., 2)."""
    return np.stack([np.linalg.norm(wrenches[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))], axis=-1)


def _reaction_slopes(name: str, b: Bodies) -> Row:
    """Reactions of unit multipliers balance what the constraints do to each body."""
    if not b.dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    _reaction_kernel(b)
    slopes, wrenches = b.states.call("_reaction_slopes"), b.states.call("_attached_wrenches")
    held = _held(b)
    difference, size = [], []
    for row in range(b.dyn.n_constraints):
        total, terms = _balances(b, slopes[..., row])
        terms = np.max(terms + _norms(wrenches[..., row]), axis=1, keepdims=True)
        part = np.where(terms > 0.0, _norms(total + wrenches[..., row]) / np.where(terms > 0.0, terms, 1.0), 0.0)
        difference.append(np.max(part[:, held], axis=(1, 2)))
        size.append(np.ones(len(part)))
    reason = "reactions of a unit multiplier are not in balance"
    parts, sizes = np.stack(difference, axis=1), np.stack(size, axis=1)
    return judged(name, parts, sizes, BY_FORMULA, labels=b.dyn.constraint_names, reason=reason)


def _power(name: str, b: Bodies) -> Row:
    b.require_accelerations()
    states, udot = b.states, b.states.call("udot")
    rates = [states.rate(kernel, udot) for kernel in ("kinetic_energy", "potential_energy")]
    given = states.call("power", udot)
    difference = sum(rate.value for rate in rates) - given
    parts = np.sum(np.abs(states.call("momenta") * udot), axis=-1) if b.dyn._has("momenta") else 0.0
    if b.dyn.n_constraints:  # their power vanishes on the constraints, where u̇ is large as well
        forces = states.at.rows * states.call("multipliers")[..., np.newaxis]
        parts = parts + np.sum(np.abs(forces * states.u[:, np.newaxis, :]), axis=(1, 2))
    terms = sum(np.abs(rate.value) for rate in rates) + np.abs(given) + parts
    gaps = sum(rate.uncertainty for rate in rates)
    reason = "d(T + U)/dt is not the power of loads, drives and constraints"
    return judged(name, np.asarray(difference), np.asarray(terms), BY_DIFFERENCES, uncertainty=gaps, reason=reason)


# ----------------------------------------------------------------------------------------------------- derivatives


def _linearization(name: str, b: Bodies) -> Row:
    """A δx + B δr beside differences of rhs."""
    states, dyn = b.states, b.dyn
    if dyn.n_constraints > states.rank:
        raise NotApplicable("redundant constraints contradict each other off the constraints")
    rng = np.random.default_rng(1)
    dx = states.sizes * rng.uniform(-1.0, 1.0, (2, *states.x.shape))
    dr = rng.uniform(-1.0, 1.0, (2, *states.r.shape))
    a, input_part = dyn.linearize(states.t, states.x, r=states.r)  # type: ignore[attr-defined]
    products = a * dx[..., np.newaxis, :]
    pushes = input_part * dr[..., np.newaxis, :]
    slope = states.slope("rhs", dx, 0.0, dr)
    difference = np.sum(products, axis=-1) + np.sum(pushes, axis=-1) - slope.value
    terms = np.sum(np.abs(products), axis=-1) + np.sum(np.abs(pushes), axis=-1) + np.abs(slope.value)
    labels = [f"the rate of {name}" for name in (*dyn.coordinate_names, *dyn.speed_names)]
    difference, terms, gaps = (part.reshape(-1, dyn.n_x) for part in (difference, terms, slope.uncertainty))
    return _by_entries(name, difference, terms, gaps, labels, "A δx + B δr is not the change of rhs")


def _by_entries(name: str, difference: Array, terms: Array, gaps: Array, labels: list[str], reason: str) -> Row:
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _constraint_slopes(name: str, b: Bodies) -> Row:
    states, dyn = b.states, b.dyn
    if not (dyn.n_configuration or dyn.n_velocity):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(2)
    dx, dr = states.sizes * rng.uniform(-1.0, 1.0, states.x.shape), rng.uniform(-1.0, 1.0, states.r.shape)
    products = states.call("_constraint_slopes") * np.concatenate([dx, dr], axis=-1)[:, np.newaxis, :]
    slopes = [states.slope(kernel, dx, 0.0, dr) for kernel in ("configuration_residual", "velocity_residual")]
    value, gaps = (
        np.concatenate(part, axis=-1) for part in zip(*((s.value, s.uncertainty) for s in slopes), strict=True)
    )
    terms = np.sum(np.abs(products), axis=-1) + np.abs(value)
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    return _by_entries(name, np.sum(products, axis=-1) - value, terms, gaps, labels, "it is not the derivative of φ, c")


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("mass matrix M = -∂F*/∂u̇", _mass_matrix),
    ("M symmetric", _symmetric),
    ("M positive definite where motions are allowed", _definite),
    ("forcing f = F + F* at u̇ = 0", _forcing),
    ("inverse dynamics = M u̇ - f", _inverse_dynamics),
    ("coordinate forces: Yᵀ Q = F", _coordinate_forces),
    ("residual = [f - M u̇ + Gᵀλ, φ, c]", _residual),
    ("M u̇ = f + Gᵀλ", _solved),
    ("G u̇ + γ = 0", _constrained),
    ("rhs = [q̇, u̇]", _rhs),
    ("G u̇ + γ = dc/dt", _constraint_rates),
    ("rank of G", _rank),
    ("projection reaches the constraints", _projection),
    ("free bodies with reactions = Newton-Euler", _reactions),
    ("power = d(T + U)/dt", _power),
    ("linearization = differences of rhs", _linearization),
    ("slopes of constraints = differences", _constraint_slopes),
    ("slopes of reactions = free bodies", _reaction_slopes),
)
"""The rows, and how each is found."""
