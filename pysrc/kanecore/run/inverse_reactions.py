# SPDX-License-Identifier: BSD-3-Clause
"""Reactions at any u̇ and λ, from those of the motion.

The kernel `reactions` holds the loads and multipliers of u̇ = M⁻¹(f + Gᵀλ).  At another u̇ each body lacks what its
inertia force and torque, and loads that hold u̇, change by; the joint below carries that for all bodies that hang on it
(Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 5.3).  At another λ it is ∂R/∂λ δλ.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.run.constraints import Constraints
from kanecore.run.places import TORQUE, numbers

__all__ = ["reactions_at"]

Array = npt.NDArray[np.float64]


def reactions_at(at: Constraints, udot: Array, multipliers: Array) -> Array:
    """What each joint does to its child: force, and torque about the joint point, (..., n_joints, 6).

    Raises
    ------
    ModelError
        The model has no reactions, or positions do not tell where its points are.
    SingularError
        The motion, from which this begins, is not defined.
    """
    dyn, values = at.dyn, at.values
    wrenches = np.asarray(dyn.reactions(at.t, at.x, **values))
    motion = np.asarray(dyn.udot(at.t, at.x, **values))
    if dyn._table_info.get("adrift"):
        raise ModelError(f"reactions of {dyn.name!r} at a given udot need points whose positions tell where they are")
    change = _lacking(at, udot) - _lacking(at, motion)
    if dyn.n_constraints:
        rates = multipliers - dyn.multipliers(at.t, at.x, **values)
        change = change + (dyn._reaction_slopes(at.t, at.x, **values) @ rates[..., np.newaxis, :, np.newaxis])[..., 0]
    return wrenches + change


def _lacking(at: Constraints, udot: Array) -> Array:
    """What the inertia of all bodies that hang on a joint, and loads that hold u̇, ask of it: (..., n_joints, 6)."""
    dyn, values = at.dyn, at.values
    vectors = np.asarray(dyn.inertia_forces(at.t, at.x, udot, **values))
    points, joint_points = dyn.positions(at.t, at.x, **values), dyn.joint_positions(at.t, at.x, **values)
    centres = points[..., numbers(dyn._table_info.get("bodies", []), 2)[:, 0], :]
    # wrenches by body, each about its own point: those of inertia, then those of loads
    acting = [(body, centres[..., body, :], vectors[..., body, :]) for body in range(dyn.n_bodies)]
    loads = numbers(dyn._table_info.get("loads", []), 4)
    if len(loads) and dyn._has("inertial_loads"):
        added = np.asarray(dyn._inertial_loads(at.t, at.x, udot, **values))
        for row, (kind, place, _, body) in enumerate(loads):
            nothing = np.zeros_like(added[..., row, :])
            parts = (nothing, added[..., row, :]) if kind == TORQUE else (added[..., row, :], nothing)
            arm = centres[..., body, :] if kind == TORQUE else points[..., place, :]
            acting.append((body, arm, np.concatenate(parts, axis=-1)))
    hanging = _hanging(numbers(dyn._table_info.get("joints", []), 3))
    result = np.zeros((*vectors.shape[:-2], dyn.n_joints, 6))
    for body, place, wrench in acting:
        for joint in np.flatnonzero(hanging[:, body]) if body >= 0 else ():
            force = wrench[..., :3]
            result[..., joint, :3] -= force
            result[..., joint, 3:] -= wrench[..., 3:] + np.cross(place - joint_points[..., joint, :], force)
    return result


def _hanging(joints: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Which bodies hang on each joint: (n_joints, n_bodies)."""
    parents = dict(zip(joints[:, 1].tolist(), joints[:, 0].tolist(), strict=True))
    hanging = np.zeros((len(joints), len(parents)), dtype=bool)
    below = {child: joint for joint, child in enumerate(joints[:, 1].tolist())}
    for body in parents:
        carrier = body
        while carrier >= 0:
            hanging[below[carrier], body] = True
            carrier = parents[carrier]
    return hanging
