# SPDX-License-Identifier: BSD-3-Clause
"""Poses in MJCF: a position and a unit quaternion, cosine first; orientations in their five forms; principal axes.

Where a choice is free it is that of MuJoCo's compiler: signs of quaternions, axes of inertias that are equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanecore.describe.robots.rigid_poses import from_unit_quaternion, product

from .mjcf_values import ORIENTATIONS, Values, fault

__all__ = ["SAME", "At", "along_z", "composed", "oriented", "principal", "quaternion_product", "unit"]

Array = npt.NDArray[np.float64]
At = tuple[Array, Array]
"""A position and a quaternion."""

SAME: At = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
_SMALLEST = 1e-14  # of a vector that has a direction
_ROUNDING = 4e-15  # of the largest entry of a tensor


def unit(vector: Sequence[float] | Array) -> Array:
    """A vector of length 1; the zero vector remains zero."""
    v = np.array(vector, dtype=float)
    size = math.sqrt(product(v, v))
    return v * 0.0 if size * size < _SMALLEST else v if abs(size - 1.0) <= _SMALLEST else v / size


def quaternion_product(a: Array, b: Array) -> Array:
    """The turn b, then a."""
    return np.array(
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    )


def composed(outer: At, inner: At) -> At:
    """A pose in a frame, from that frame's own."""
    place = outer[0] + product(from_unit_quaternion(outer[1]), inner[0])
    return place, quaternion_product(outer[1], inner[1])


def along_z(direction: Array) -> Array:
    """The shortest turn of z to a unit vector."""
    axis = np.array([-direction[1], direction[0], 0.0])
    sine = math.sqrt(product(axis, axis))
    axis = np.array([1.0, 0.0, 0.0]) if sine < 1e-10 else axis / sine
    half = 0.5 * math.atan2(sine, direction[2])
    return np.array([math.cos(half), *(math.sin(half) * axis)])


def oriented(values: Values, degrees: bool, sequence: str) -> At:
    """Position and quaternion of an element, whose orientation has one of five forms."""
    return np.array(values.numbers("pos")), _orientation(values, math.pi / 180 if degrees else 1.0, sequence)


def _orientation(values: Values, scale: float, sequence: str) -> Array:
    given = next((name for name in ORIENTATIONS if name in values), None)
    if given is None:
        return SAME[1]
    v = np.array(values.numbers(given))
    if given == "quat":
        return unit(v)
    if given == "euler":
        return _euler(values, v * scale, sequence)
    x = unit(v[:3])
    if not x.any():
        raise fault(values.element, f"{given} of <{values.element.tag}> begins with a vector without a direction")
    if given == "zaxis":
        return along_z(x)
    if given == "axisangle":
        half = 0.5 * v[3] * scale
        return np.array([math.cos(half), *(math.sin(half) * x)])
    y = unit(v[3:] - product(x, v[3:]) * x)
    if not y.any():
        raise fault(values.element, f"xyaxes of <{values.element.tag}> are along one line")
    return _from_axes(x, y, np.cross(x, y))


def _euler(values: Values, angles: Array, sequence: str) -> Array:
    if len(sequence) != 3 or not set(sequence.lower()) <= set("xyz"):
        raise fault(values.element, f"eulerseq is {sequence!r}; it must be three of x, y, z, X, Y, Z")
    turned = SAME[1]
    for letter, angle in zip(sequence, angles, strict=True):
        single = np.array([math.cos(0.5 * angle), 0.0, 0.0, 0.0])
        single["xyz".index(letter.lower()) + 1] = math.sin(0.5 * angle)
        turned = quaternion_product(turned, single) if letter.islower() else quaternion_product(single, turned)
    return unit(turned)


def _from_axes(x: Array, y: Array, z: Array) -> Array:
    """The quaternion of a frame: its largest part from the trace, the others from sums and differences."""
    m = np.array([x, y, z]).T
    k = -1 if m.trace() > 0 else 0 if m[0, 0] > max(m[1, 1], m[2, 2]) else 1 if m[1, 1] > m[2, 2] else 2
    if k < 0:
        w = 0.5 * math.sqrt(1 + m.trace())
        turn = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
        return unit([w, *(0.25 * each / w for each in turn)])
    i, j = (k + 1) % 3, (k + 2) % 3
    q = np.zeros(4)
    q[k + 1] = 0.5 * math.sqrt(1 + m[k, k] - m[i, i] - m[j, j])
    q[0] = 0.25 * (m[j, i] - m[i, j]) / q[k + 1]
    q[i + 1], q[j + 1] = (0.25 * (m[k, n] + m[n, k]) / q[k + 1] for n in (i, j))
    return unit(q)


def principal(tensor: Array, tolerance: float = _ROUNDING) -> tuple[Array, Array]:
    """Principal inertias (3,), the largest first, and the quaternion of their axes: Jacobi's method.

    Where inertias are equal the axes are a choice, and the fluid's forces depend on it: it is that of MuJoCo, as the
    tolerance is, relative to the largest entry.
    """
    q, small = SAME[1], tolerance * float(np.max(np.abs(tensor)))
    for _ in range(500):
        axes = from_unit_quaternion(q)
        d = product(product(axes.T, tensor), axes)
        away = {(0, 1): abs(d[0, 1]), (0, 2): abs(d[0, 2]), (1, 2): abs(d[1, 2])}
        row, column = (
            (0, 1) if away[0, 1] > max(away[0, 2], away[1, 2]) else (0, 2) if away[0, 2] > away[1, 2] else (1, 2)
        )
        if away[row, column] <= small:
            break
        ratio = (d[column, column] - d[row, row]) / (2 * d[row, column])
        tangent = (1.0 if ratio >= 0 else -1.0) / (abs(ratio) + math.sqrt(1 + ratio * ratio))
        cosine = 1 / math.sqrt(1 + tangent * tangent)
        k = 3 - row - column
        sine = (
            abs(tangent) * cosine / math.sqrt(2 + 2 * cosine) * (-1.0 if (ratio >= 0) == (k != 1) else 1.0)
        )  # of half
        single = np.zeros(4)
        single[0], single[k + 1] = math.sqrt(1 - sine * sine), sine
        q = unit(quaternion_product(q, unit(single)))
    inertias = [float(each) for each in np.diag(d)]
    for k in (0, 1, 0):  # sort
        if inertias[k] + small < inertias[k + 1]:
            inertias[k], inertias[k + 1] = inertias[k + 1], inertias[k]
            single = np.zeros(4)
            single[0] = single[(k + 2) % 3 + 1] = math.sqrt(0.5)
            q = unit(quaternion_product(q, single))
    return np.array(inertias), q
