# SPDX-License-Identifier: BSD-3-Clause
"""Poses of rigid frames in numbers, and the products of 3 × 3 matrices and vectors that they take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    *("Pose", "along", "axes_of_plane", "cleaned", "direction", "from_unit_quaternion", "joint_axes"),
    *("product", "roll_pitch_yaw"),
]

Array = npt.NDArray[np.float64]

_AXES = np.eye(3)
_EXACT = 1e-15  # entries of a rotation that are nearer to 0 or 1 are meant to be that


def product(a: Array, b: Array) -> Any:
    """The product of small matrices and vectors, with its sums in order of the index.

    NumPy's ``@`` asks BLAS, which rounds differently on different processors: the same file would give other C.
    """
    if b.ndim == 2:
        return np.stack([product(a, column) for column in b.T], axis=-1)
    total = a[..., 0] * b[0]
    for k in range(1, len(b)):
        total = total + a[..., k] * b[k]
    return total


@dataclass(frozen=True)
class Pose:
    """A frame in another: v_other = rotation @ v + position, rotation (3, 3), position (3,), m."""

    rotation: Array
    position: Array

    @classmethod
    def same(cls) -> Pose:
        """Pose of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def about(cls, axis: Array) -> Pose:
        """Pose whose z is along a unit vector."""
        return cls(axes_of_plane(axis).T, np.zeros(3))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(product(self.rotation, other.rotation), product(self.rotation, other.position) + self.position)

    def inverse(self) -> Pose:
        """Pose of the other frame in this one."""
        back = self.rotation.T
        return Pose(back, -product(back, self.position) + 0.0)

    @property
    def turns_nothing(self) -> bool:
        return np.array_equal(self.rotation, np.eye(3))


def roll_pitch_yaw(rpy: Sequence[float]) -> Array:
    """Rotation about the fixed axes x, y, z by roll, pitch and yaw, rad: v_parent = R v."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return cleaned(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )


def from_unit_quaternion(quaternion: Array) -> Array:
    """Rotation of a quaternion that is not zero, cosine first, by its direction: v_parent = R v."""
    w, x, y, z = quaternion / math.sqrt(product(quaternion, quaternion))
    return cleaned(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    )


def cleaned(numbers: Array) -> Array:
    """Entries of a rotation without the rounding errors of 0 and 1."""
    near = np.round(numbers)
    return np.where(np.abs(numbers - near) < _EXACT, near, numbers) + 0.0


def direction(axis: Array) -> Array:
    """Unit vector along an axis of any length; zeros for one of length zero."""
    axis = axis / (np.max(np.abs(axis)) or 1.0)  # squares of small numbers are zero
    return cleaned(axis / (math.sqrt(product(axis, axis)) or 1.0))


def along(axis: Array) -> tuple[int, float]:
    """Number and sign of the coordinate axis that a unit vector equals, or is nearest to."""
    k = int(np.argmax(np.abs(axis)))
    return k, 1.0 if axis[k] > 0.0 else -1.0


def axes_of_plane(axis: Array) -> Array:
    """Rows x, y and the axis of a rotation: the axes of the link, turned the shortest way that brings z to the axis.

    About x where the axis is −z.
    """
    x, y, z = axis.tolist()
    across = math.hypot(x, y)
    if across == 0.0:
        return np.diag([1.0, z, z])
    c, s, far = x / across, y / across, 1.0 - z
    return cleaned(np.array([[1.0 - c * c * far, -c * s * far, -x], [-c * s * far, 1.0 - s * s * far, -y], [x, y, z]]))


def joint_axes(axis: Array) -> Array:
    """Rows of a rotation to axes of which one is along the joint's; the axes of the link if possible."""
    if np.count_nonzero(axis) == 1:
        return np.eye(3)
    helper = _AXES[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= math.sqrt(product(x, x))
    return np.array([x, np.cross(axis, x), axis])
