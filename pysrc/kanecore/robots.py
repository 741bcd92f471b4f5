# SPDX-License-Identifier: BSD-3-Clause
"""States of robots in the order of Pinocchio, for those who have a model of the same URDF file there.

Pinocchio orders joints by their names along the tree, quaternions as (x, y, z, w), and has cos and sin of an unlimited
joint in place of its angle.  Velocities are linear before angular ones, in the axes of the link; those of a model with
``free_velocity="world"``, and of `Model.from_mjcf`, are turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["from_pinocchio", "to_pinocchio"]

Array = npt.NDArray[np.float64]

_DISPLACEMENTS = ("x", "y", "z")
_QUATERNION = ("e1", "e2", "e3", "e0")
_FREE = ("x", "y", "z", "rx", "ry", "rz")


def to_pinocchio(dyn: Evaluator, x: npt.ArrayLike, model: Any) -> tuple[Array, Array]:
    """The configuration q and the velocity v of Pinocchio for states of a robot.

    Parameters
    ----------
    dyn : CompiledModel
        Model of `Model.from_urdf`, with ``mimic=False`` where the file has joints that mimic others, or of
        `Model.from_mjcf`.
    x : array_like, (..., n_x)
    model : pinocchio.Model
        ``pinocchio.buildModelFromUrdf(path)``, with a JointModelFreeFlyer where the base floats, or
        ``buildModelFromMJCF(path)``.

    Returns
    -------
    q, v : ndarray, (..., nq), (..., nv)

    Raises
    ------
    KeyError
        The two have different joints.
    ModelError
        A planar joint has another axis than z: Pinocchio ignores it, and its model is another mechanism.
    """
    state = np.asarray(x, dtype=np.float64)
    q, v = np.zeros((*state.shape[:-1], model.nq)), np.zeros((*state.shape[:-1], model.nv))
    for joint, coordinates, speeds in _joints(dyn, model):
        values = state[..., coordinates]
        if joint.nq == len(coordinates) + 1:  # the last one is an angle
            values = np.concatenate([values[..., :-1], np.cos(values[..., -1:]), np.sin(values[..., -1:])], axis=-1)
        q[..., joint.idx_q : joint.idx_q + joint.nq] = values
        ours = state[..., speeds]
        back = values * [1, 1, 1, -1, -1, -1, 1] if len(speeds) == 6 else values
        v[..., joint.idx_v : joint.idx_v + joint.nv] = _velocity(dyn, coordinates, speeds, back, ours)
    return q, v


def from_pinocchio(dyn: Evaluator, q: npt.ArrayLike, v: npt.ArrayLike, model: Any) -> Array:
    """The states x, (..., n_x), of a robot for configurations and velocities of Pinocchio; as `to_pinocchio`."""
    configuration, velocity = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    x = np.zeros((*np.broadcast_shapes(configuration.shape[:-1], velocity.shape[:-1]), dyn.n_x))
    for joint, coordinates, speeds in _joints(dyn, model):
        values = configuration[..., joint.idx_q : joint.idx_q + joint.nq]
        if joint.nq == len(coordinates) + 1:
            angle = np.arctan2(values[..., -1:], values[..., -2:-1])
            values = np.concatenate([values[..., :-2], angle], axis=-1)
        x[..., coordinates] = values
        theirs = velocity[..., joint.idx_v : joint.idx_v + joint.nv]
        x[..., speeds] = _velocity(dyn, coordinates, speeds, values, theirs)
    return x


def _velocity(dyn: Evaluator, coordinates: list[int], speeds: list[int], values: Array, velocity: Array) -> Array:
    """The velocity of a joint; that of a free one is turned by its quaternion, where ours is in the world."""
    if len(speeds) < 6 or not _is_in_world(dyn, coordinates, speeds):
        return velocity
    linear, axis, w = velocity[..., :3], values[..., 3:6], values[..., 6:7]
    turned = linear + 2.0 * np.cross(axis, np.cross(axis, linear) + w * linear)
    return np.concatenate([turned, np.broadcast_to(velocity[..., 3:], turned.shape)], axis=-1)


def _is_in_world(dyn: Evaluator, coordinates: list[int], speeds: list[int]) -> bool:
    """Test whether the velocity along x is the rate of the coordinate x also where the link is turned about z."""
    x = np.array(dyn.names.state({}))
    x[coordinates[3:]] = 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)
    x[speeds[0]] = 1.0
    return bool(np.asarray(dyn.qdot(0.0, x))[coordinates[0]] > 0.5)


def _joints(dyn: Evaluator, model: Any) -> Iterator[tuple[Any, list[int], list[int]]]:
    """Joints of Pinocchio, in its order, and the places of their coordinates and speeds in x."""
    places = {name: i for i, name in enumerate(dyn.names.x)}

    def found(names: list[str]) -> list[int]:
        for name in names:
            if name not in places:
                raise unknown_name(f"coordinate or speed of {dyn.name!r} is called", name, places)
        return [places[name] for name in names]

    for number in range(1, model.njoints):
        name, joint = model.names[number], model.joints[number]
        if joint.nv == 6:
            name = name if f"q_{name}_x" in places else "base"
            yield (
                joint,
                found([f"q_{name}_{k}" for k in (*_DISPLACEMENTS, *_QUATERNION)]),
                found([f"u_{name}_{k}" for k in _FREE]),
            )
        elif joint.nv == 3 and f"q_{name}_e0" in places:
            yield joint, found([f"q_{name}_{k}" for k in _QUATERNION]), found([f"u_{name}_{k}" for k in _FREE[3:]])
        elif joint.nv == 3:
            _refuse_turned_plane(dyn, model, number, places[f"u_{name}_r"] - dyn.n_q if f"u_{name}_r" in places else -1)
            yield joint, found([f"q_{name}_{k}" for k in "xyr"]), found([f"u_{name}_{k}" for k in "xyr"])
        else:
            yield joint, found([f"q_{name}"]), found([f"u_{name}"])


def _refuse_turned_plane(dyn: Evaluator, model: Any, number: int, speed: int) -> None:
    """Raise ModelError for a planar joint whose axis is not z; other joints are at 0 where the axes are compared."""
    if speed < 0:
        return
    axis, joint = np.array([0.0, 0.0, 1.0]), number
    while joint > 0:
        axis, joint = np.asarray(model.jointPlacements[joint].rotation) @ axis, int(model.parents[joint])
    turned = np.asarray(dyn.partial_angular_velocities(0.0, dyn.names.state({})))[:, speed]
    moving = turned[np.any(turned != 0.0, axis=-1)]
    if len(moving) and not np.allclose(moving[0], axis, rtol=0, atol=1e-9):
        here, there = (x.round(6).tolist() for x in (moving[0], axis))
        raise ModelError(
            f"planar joint {model.names[number]!r} turns about {here} in {dyn.name!r}, and about {there} in Pinocchio, "
            "which ignores the axis of planar joints: its model is another mechanism; write <axis xyz='0 0 1'/> in the "
            "file, and turn the <origin>"
        )
