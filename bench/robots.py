# SPDX-License-Identifier: BSD-3-Clause
"""Robots of URDF files for packages that know joints: what is fixed is merged, by arithmetic of its own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from recursions import STRAIGHT, Body, Robot

from kanecore.describe.from_urdf.urdf_file import read_urdf
from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.robot import Inertial

GRAVITY = (0.0, 0.0, -9.81)
BASE = -1  # the number of the root


class _Place(NamedTuple):
    """The body that a link is part of, and its pose there."""

    body: int
    pose: Pose


def of_urdf(source: str | Path, floating: bool) -> Robot:
    """The robot of a file, whose joints have one coordinate each and follow nobody, in the order of the tree.

    Each body's axes are its link's, unless the joint's axis is none of those, or against it.
    """
    robot = read_urdf(source, mimic=False)
    places = {robot.root: _Place(BASE, Pose(np.eye(3), np.zeros(3)))}
    seats: list[tuple[int, bool, int, Pose]] = []
    for joint in robot.joints:
        parent = places[joint.parent]
        at = parent.pose @ joint.origin
        if joint.kind == "fixed":
            places[joint.child] = _Place(parent.body, at)
            continue
        axis, turned = _own_axes(joint.axis)
        places[joint.child] = _Place(len(seats), Pose(turned, np.zeros(3)))
        seats.append((parent.body, joint.kind != "prismatic", axis, at @ Pose(turned.T, np.zeros(3))))
    parts: dict[int, list[np.ndarray]] = {}
    for name, (body, pose) in places.items():
        if inertial := robot.links[name].inertial:
            parts.setdefault(body, []).append(_spatial(inertial, pose))
    bodies = []
    for i, (parent, turns, axis, at) in enumerate(seats):
        place = at.position.tolist(), at.rotation.tolist()
        bodies.append(Body(parent, turns, axis, *place, *_merged(parts.get(i, []))))
    return Robot(bodies, list(GRAVITY), _merged(parts.get(BASE, [])) if floating else None)


def _own_axes(axis: np.ndarray) -> tuple[int, np.ndarray]:
    """The number of a coordinate axis, and the rotation from the link's axes to those where the joint's axis is it."""
    k = int(np.argmax(np.abs(axis)))
    if axis[k] == 1.0:
        return k, np.array(STRAIGHT)
    other = np.eye(3)[(k + 1) % 3]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return 2, np.array([first, np.cross(axis, first), axis])


def _spatial(inertial: Inertial, pose: Pose) -> np.ndarray:
    """The integral of x xᵀ dm, x = (place, 1), in the axes of the body: (4, 4), and sums over links."""
    second = 0.5 * np.trace(inertial.inertia) * np.eye(3) - inertial.inertia
    moved = np.eye(4)
    moved[:3, :3], moved[:3, 3] = pose.rotation, pose.rotation @ inertial.centre + pose.position
    central = np.zeros((4, 4))
    central[:3, :3], central[3, 3] = second, inertial.mass
    return moved @ central @ moved.T


def _merged(parts: list[np.ndarray]) -> tuple[float, list[float], list[list[float]]]:
    """Mass, centre and central inertia."""
    total = sum(parts, np.zeros((4, 4)))
    mass = float(total[3, 3])
    centre = total[:3, 3] / mass if mass else np.zeros(3)
    second = total[:3, :3] - mass * np.outer(centre, centre)
    return mass, centre.tolist(), (np.trace(second) * np.eye(3) - second).tolist()
