# SPDX-License-Identifier: BSD-3-Clause
"""Masses of the geoms of an MJCF file, and the inertia of a body that follows from them or from its <inertial>."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product

from .mjcf_poses import At, principal

__all__ = ["SIZES", "Mass", "offset", "primitive", "together", "turned"]

Array = npt.NDArray[np.float64]

SIZES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
"""Shapes with a mass, and how many sizes they have."""


@dataclass(frozen=True)
class Mass:
    """A mass, its principal inertias (3,), and the pose of their axes in the body."""

    mass: float
    inertia: Array
    at: At


def primitive(kind: str, sizes: Sequence[float]) -> tuple[float, Array]:
    """Volume of a shape, and the principal inertias (3,) of a unit of its mass."""
    a, b, c = (*sizes, 0.0, 0.0, 0.0)[:3]
    if kind == "sphere":
        return 4 * math.pi * a**3 / 3, np.full(3, 0.4 * a * a)
    if kind == "ellipsoid":
        return 4 * math.pi * a * b * c / 3, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5
    if kind == "box":
        return 8 * a * b * c, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 3
    height = 2 * b
    across, along = (3 * a * a + height * height) / 12, a * a / 2
    if kind == "cylinder":
        return math.pi * a * a * height, np.array([across, across, along])
    ball = 4 * a / (4 * a + 3 * height)  # share of the two ends
    ends = 0.4 * a * a
    across = (1 - ball) * across + ball * (ends + height * (3 * a + 2 * height) / 8)
    return math.pi * (a * a * height + 4 * a**3 / 3), np.array([across, across, (1 - ball) * along + ball * ends])


def turned(inertia: Array, quaternion: Array) -> Array:
    """The tensor of principal inertias in turned axes."""
    axes = from_unit_quaternion(quaternion)
    return np.asarray(product(axes * inertia, axes.T))


def offset(mass: float, place: Array) -> Array:
    """The tensor of a mass at a place."""
    return np.asarray(mass * (product(place, place) * np.eye(3) - np.outer(place, place)))


def together(masses: Sequence[Mass]) -> Mass:
    """Several masses as one."""
    if len(masses) == 1:
        return masses[0]
    total = math.fsum(each.mass for each in masses)
    centre = np.array(sum(each.mass * each.at[0] for each in masses)) / total
    tensor = sum(turned(each.inertia, each.at[1]) + offset(each.mass, each.at[0] - centre) for each in masses)
    inertia, axes = principal(np.asarray(tensor))
    return Mass(total, inertia, (centre, axes))
