# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about constraints and reactions.

Constraints: rates and derivatives, the rank of G, the projection to the constraints.  Reactions: each free body is in
balance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_FORMULA, FAILS, NotApplicable, Row, judged, verdict
from kanecore.constraints.constraint_check import check
from kanecore.constraints.constraint_values import Constraints

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_SMALL = 1e-6  # floor for the comparison of small terms, relative to the largest
_NEAR = 1e-3  # distance off the constraints to project from, relative to the sizes of coordinates and speeds


def _constraint_rates(name: str, b: Bodies) -> Row:
    """Row for d/dt of φ and c along any motion, also off the constraints."""
    states, dyn, at = b.states, b.dyn, b.states.at
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    udot = states.loose[0]
    motion, still = states.motion(udot), np.concatenate([states.qdot, np.zeros_like(udot)], -1)
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


def _constraint_slopes(name: str, b: Bodies) -> Row:
    states, dyn = b.states, b.dyn
    if not (dyn.n_configuration or dyn.n_velocity):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(2)
    dx, dr = states.sizes * rng.uniform(-1.0, 1.0, states.x.shape), rng.uniform(-1.0, 1.0, states.r.shape)
    products = states.call("constraint_slopes") * np.concatenate([dx, dr], axis=-1)[:, np.newaxis, :]
    slopes = [states.slope(kernel, dx, 0.0, dr) for kernel in ("configuration_residual", "velocity_residual")]
    value, gaps = (
        np.concatenate(part, axis=-1) for part in zip(*((s.value, s.uncertainty) for s in slopes), strict=True)
    )
    terms = np.sum(np.abs(products), axis=-1) + np.abs(value)
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    difference, reason = np.sum(products, axis=-1) - value, "it is not the derivative of φ, c"
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _rank(name: str, b: Bodies) -> Row:
    dyn, states = b.dyn, b.states
    if not dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    fact = f"rank {states.rank} of {dyn.n_constraints} rows"
    if states.rank < dyn.n_constraints:
        fact += f", {dyn.n_constraints - states.rank} redundant: multipliers of least norm"
    typical = check(dyn, states.x[0], states.t[0], r=states.r[0]).typical_rank
    if typical > states.rank:
        fact = f"the rank is {states.rank} at random states, and {typical} nearby"
    return verdict(name, typical <= states.rank, fact)


def _projection(name: str, b: Bodies) -> Row:
    """Row for the projection of states near the random ones to the constraints."""
    states, dyn = b.states, b.dyn
    if not (dyn.n_velocity or dyn.n_configuration):
        raise NotApplicable("there are no constraints on coordinates or speeds")
    rng = np.random.default_rng(3)
    near = states.x + _NEAR * states.sizes * rng.uniform(-1.0, 1.0, states.x.shape)
    for quaternion in dyn.unit:
        near[:, list(quaternion)] = states.x[:, list(quaternion)]
    at = Constraints(dyn, states.t, states.call("project", x=near), states.r)
    reached = np.isfinite(at.x).all(axis=-1)
    if not reached.any():
        raise NotApplicable("no state nearby was projected")
    residuals = np.concatenate([at.configuration_residual, at.velocity_residual], axis=-1)[reached]
    sizes = at.term_sizes[reached]
    labels = [*dyn.configuration_names, *dyn.constraint_names[: dyn.n_velocity]]
    sizes = sizes + _SMALL * np.max(sizes, axis=0)
    return judged(name, residuals, sizes, BY_FORMULA, labels=labels, reason="a state is not projected to it")


_CONSTRAINTS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("G u̇ + γ = dc/dt", _constraint_rates),
    ("slopes of constraints = differences", _constraint_slopes),
    ("rank of G", _rank),
    ("projection reaches the constraints", _projection),
)
"""The rows, and how each is found."""


_NOTHING = 1e-9  # relative to the largest entry: rounding, if nothing moves
_LIGHT = 1e-4  # relative to the largest load on any body: floor for the comparison of loads


def _reactions(name: str, b: Bodies) -> Row:
    """Row for the balance of each free body: loads, reactions, constraints and inertia add up to zero."""
    udot = b.udot
    given = _reaction_kernel(b)
    total, sizes = _balances(b, given)
    for part, size in (_loads_on_bodies(b, b.load_vectors(udot)), _attached(b)):
        total, sizes = total + part, sizes + size
    rates = b.rates_of_motion
    total, sizes = total - rates.value, sizes + _norms(rates.value)
    sizes[..., 1] += _reach(b) * sizes[..., 0]  # cancelling forces leave rounding, with a joint's arm
    difference = _norms(total)
    gaps = np.stack([np.max(rates.uncertainty[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))], axis=-1)
    sizes += _LIGHT * np.max(sizes, axis=1, keepdims=True)
    held = _held(b)
    reason = "loads, reactions and inertia forces of the body are not in balance"
    labels = [b.body_names[i] for i in held]
    difference, sizes, gaps = difference[:, held], sizes[:, held], gaps[:, held]
    return judged(name, difference, sizes, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _reaction_slopes(name: str, b: Bodies) -> Row:
    """Row for the balance of reactions to unit multipliers with the forces of constraints on each body."""
    if not b.dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    _reaction_kernel(b)
    slopes, wrenches = b.states.call("reaction_slopes"), b.states.call("attached_wrenches")
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


def _reaction_kernel(b: Bodies) -> Array:
    if why := b.dyn.kernels.why_not("reactions"):
        raise NotApplicable(why)
    if b.adrift:
        raise NotApplicable("positions of points do not tell where they are")
    return b.states.call("reactions")


def _held(b: Bodies) -> list[int]:
    """Bodies with a constraining joint; the ground's force on a wheel is no reaction of the model."""
    held = [child for _, child, free in b.joints if not free]
    if not held:
        raise NotApplicable("no joint holds a body")
    return held


def _balances(b: Bodies, on_children: Array) -> tuple[Array, Array]:
    """Force and moment about the mass centre of each body by joints, (n, n_bodies, 6), and their sizes."""
    joints, places = b.states.call("joint_positions"), b.states.call("positions")[:, b.point]
    total, sizes = np.zeros((len(joints), len(b.point), 6)), np.zeros((len(joints), len(b.point), 2))
    for i, (parent, child, _) in enumerate(b.joints):
        for body, sign in ((child, 1.0), (parent, -1.0)):
            if body >= 0:
                force, torque = sign * on_children[:, i, :3], sign * on_children[:, i, 3:]
                _act(total[:, body], sizes[:, body], force, torque, joints[:, i] - places[:, body])
    return total, sizes


def _act(total: Array, sizes: Array, force: Array, torque: Array, arm: Array) -> None:
    """Add a force and a torque, (n, 3), to a body's (n, 6), and their magnitudes to (n, 2)."""
    total[:, :3] += force
    total[:, 3:] += torque + np.cross(arm, force)
    sizes[:, 0] += np.linalg.norm(force, axis=-1)
    sizes[:, 1] += np.linalg.norm(torque, axis=-1) + np.linalg.norm(arm, axis=-1) * np.linalg.norm(force, axis=-1)


def _loads_on_bodies(b: Bodies, vectors: Array) -> tuple[Array, Array]:
    """Force and moment about the mass centre of each body by loads, (n, n_bodies, 6), and their sizes."""
    places = b.states.call("positions")
    total, sizes = np.zeros((len(places), len(b.point), 6)), np.zeros((len(places), len(b.point), 2))
    nothing = np.zeros((len(places), 3))
    for i, (kind, place, *_) in enumerate(b.loads):
        if (body := b.acts_on[i]) >= 0:
            arm = nothing if kind else places[:, place] - places[:, b.point[body]]
            force, torque = (nothing, vectors[:, i]) if kind else (vectors[:, i], nothing)
            _act(total[:, body], sizes[:, body], force, torque, arm)
    return total, sizes


def _attached(b: Bodies) -> tuple[Array, Array]:
    """Wrenches of the constraint forces on each body, and the magnitudes of their terms."""
    if not b.dyn.n_constraints:
        zero = np.zeros((len(b.states.t), len(b.point), 6))
        return zero, _norms(zero)
    terms = b.states.call("attached_wrenches") * b.states.call("multipliers")[:, np.newaxis, np.newaxis, :]
    return np.sum(terms, axis=-1), np.sum(_norms(np.moveaxis(terms, -1, 0)), axis=0)


def _reach(b: Bodies) -> Array:
    """Distance of the farthest joint of each body from its mass centre, (n, n_bodies)."""
    joints, places = b.states.call("joint_positions"), b.states.call("positions")[:, b.point]
    reach = np.zeros(places.shape[:2])
    for i, (parent, child, _) in enumerate(b.joints):
        for body in (parent, child):
            if body >= 0:
                reach[:, body] = np.maximum(reach[:, body], np.linalg.norm(joints[:, i] - places[:, body], axis=-1))
    return reach


def _norms(wrenches: Array) -> Array:
    """Sizes of forces and of torques: (..., 2)."""
    return np.stack([np.linalg.norm(wrenches[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))], axis=-1)


def _auxiliary_forces(name: str, b: Bodies) -> Row:
    """Virtual power of all forces along auxiliary speeds, at the motion's u̇ and λ (Kane & Levinson 1985, 4.9)."""
    if not b.dyn.n_auxiliary:
        raise NotApplicable("there are no auxiliary speeds")
    if why := b.dyn.kernels.why_not("auxiliary_forces"):
        raise NotApplicable(why)
    b.require_bodies()
    if b.unlocated:  # freed constraints with unknown places
        r = b.states.r.copy()
        r[:, b.unlocated] = 0.0
        b = Bodies(replace(b.states, r=r))
    states, n_points, n_frames = b.states, len(b.dyn.points), len(b.dyn.frames)
    partials = states.call("auxiliary_partials")
    places = partials[:, : 3 * (n_points + n_frames)].reshape(len(partials), n_points + n_frames, 3, -1)
    points, frames, rows = places[:, :n_points], places[:, n_points:], partials[:, 3 * (n_points + n_frames) :]
    if row := _untold_row(b, points, frames):
        return Row(name, FAILS, reason="nobody told what its force along the auxiliary speeds is", worst=row)
    udot = b.udot
    rates = b.rates_of_motion
    moved = [frames[:, at] if kind else points[:, at] for kind, at, *_ in b.loads]
    turned = np.zeros((len(partials), len(b.point), *places.shape[2:]))
    turned[:, b.frame >= 0] = frames[:, b.frame[b.frame >= 0]]
    works = [
        -np.einsum("nbc,nbca->nba", rates.value[..., :3], points[:, b.point]),
        -np.einsum("nbc,nbca->nba", rates.value[..., 3:], turned),
    ]
    if moved:
        works.append(np.einsum("nlc,nlca->nla", b.load_vectors(udot), np.stack(moved, axis=1)))
    if b.dyn.n_constraints:
        works.append(states.call("multipliers")[..., np.newaxis] * rows)
    parts, given = np.concatenate(works, axis=1), states.call("auxiliary_forces")
    gaps = np.einsum("nbc,nbca->na", rates.uncertainty[..., :3], np.abs(points[:, b.point]))
    gaps += np.einsum("nbc,nbca->na", rates.uncertainty[..., 3:], np.abs(turned))
    terms = np.sum(np.abs(parts), axis=1) + np.abs(given)
    reason = "they are not the virtual power of loads, inertia forces and constraints along auxiliary speeds"
    labels = [f"auxiliary speed {i}" for i in range(b.dyn.n_auxiliary)]
    difference = given - np.sum(parts, axis=1)
    return judged(name, difference, terms, BY_DIFFERENCES, uncertainty=gaps, labels=labels, reason=reason)


def _untold_row(b: Bodies, points: Array, frames: Array) -> str:
    """Name of a row of G that acts on points moved by auxiliary speeds, without terms in these; empty if none does."""
    if not (untold := b.dyn.facts.untold):
        return ""
    moves = np.zeros(b.states.u.shape, dtype=bool)
    for kernel, by_auxiliary in (("partial_velocities", points), ("partial_angular_velocities", frames)):
        partials = np.linalg.norm(b.states.call(kernel), axis=-1)
        joined = (by_auxiliary != 0.0).any(axis=(2, 3))[..., np.newaxis] & (
            partials > _NOTHING * np.max(partials, initial=0.0)
        )
        moves |= joined.any(axis=1)
    rows = np.abs(b.states.call("constraint_jacobian"))[:, untold]
    acts = (rows > _NOTHING * np.max(rows, initial=0.0)) & moves[:, np.newaxis]
    return next((b.dyn.constraint_names[untold[int(i)]] for i in np.flatnonzero(acts.any(axis=(0, 2)))), "")


_REACTIONS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("free bodies with reactions = Newton-Euler", _reactions),
    ("slopes of reactions = free bodies", _reaction_slopes),
    ("auxiliary forces = virtual power along u_aux", _auxiliary_forces),
)
"""The rows, and how each is found."""

CHECKS = (*_CONSTRAINTS, *_REACTIONS)
