# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about reactions: each body, cut free, is in balance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kanecore.run.audit_bodies import Bodies
from kanecore.run.audit_rows import BY_DIFFERENCES, BY_FORMULA, NotApplicable, Row, judged

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]

_LIGHT = 1e-4  # of what acts on any body: what acts on one is compared with at least this


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


def _reaction_kernel(b: Bodies) -> Array:
    if why := b.dyn._why_not("reactions"):
        raise NotApplicable(why)
    if b.adrift:
        raise NotApplicable("positions of points do not tell where they are")
    return b.states.call("reactions")


def _held(b: Bodies) -> list[int]:
    """The bodies that a joint holds: what the ground does to a wheel that stands on it is no reaction of the model."""
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
    """Add a force and a torque, (n, 3), to a body's (n, 6), and how large they are to (n, 2)."""
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
    """What constraints do to each body, by their multipliers."""
    if not b.dyn.n_constraints:
        zero = np.zeros((len(b.states.t), len(b.point), 6))
        return zero, _norms(zero)
    terms = b.states.call("_attached_wrenches") * b.states.call("multipliers")[:, np.newaxis, np.newaxis, :]
    return np.sum(terms, axis=-1), np.sum(_norms(np.moveaxis(terms, -1, 0)), axis=0)


def _reach(b: Bodies) -> Array:
    """How far the farthest joint of each body is from its mass centre, (n, n_bodies)."""
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


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("free bodies with reactions = Newton-Euler", _reactions),
    ("slopes of reactions = free bodies", _reaction_slopes),
)
"""The rows, and how each is found."""
