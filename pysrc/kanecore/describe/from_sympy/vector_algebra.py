# SPDX-License-Identifier: BSD-3-Clause
"""Algebra of SymPy's vectors, frames and points that stores nothing in them.

SymPy's own products, ``vel`` and ``dcm`` keep their results in the user's frames and points.  Here these are only read.
SymPy stores the neighbours of a frame or point, and no tree; so paths between them are searched here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sympy as sm
from sympy.physics.vector import Vector

from kanecore.describe.from_sympy import vector_internals
from kanecore.errors import ModelError

__all__ = [
    "angular_velocities",
    "cross",
    "distances",
    "dot",
    "is_steady",
    "nearest_first",
    "position",
    "position_steps",
    "positions",
    "rotations",
    "velocity",
]


def nearest_first(start: Any, adjacent: Any) -> dict[Any, Any]:
    """``{node: predecessor}`` of all that ``start`` reaches, ``start`` its own predecessor, nearest first.

    Of paths of one length it is the one that SymPy takes: each node's first neighbour that lies on any.
    """
    distance = distances(start, adjacent)
    before = {node: next(k for k in adjacent(node) if distance.get(k) == n - 1) for node, n in distance.items() if n}
    return {start: start} | before


def distances(start: Any, adjacent: Any) -> dict[Any, int]:
    """Distance of each node from ``start`` in steps, nearest first."""
    distance = {start: 0}
    queue = [start]
    for node in queue:
        for other in adjacent(node):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def rotations(frame: Any, target: Any) -> list[Any]:
    """Matrices that carry components from the axes of one frame to those of another, in order."""
    before = nearest_first(target, vector_internals.neighbours)
    if frame not in before:
        raise ModelError(
            f"frames {frame.name} and {target.name} are not connected: orient one from the other, such as by "
            f"{frame.name}.orient_axis({target.name}, ...)"
        )
    return [vector_internals.neighbours(above)[below] for below, above in _way(before, frame)]


def _way(before: Mapping[Any, Any], start: Any) -> Iterator[tuple[Any, Any]]:
    """The steps from ``start`` to where ``before`` begins."""
    while before[start] is not start:
        yield start, before[start]
        start = before[start]


def _expressed(column: Any, frame: Any, target: Any) -> Any:
    for matrix in rotations(frame, target):
        column = matrix * column
    return column


def _in_axes(column: Any, frame: Any) -> Any:
    return column[0] * frame.x + column[1] * frame.y + column[2] * frame.z


def cross(a: Any, b: Any) -> Any:
    """The vector a × b, in the axes that ``a`` is written in."""
    result = Vector(0)
    for v, frame in vector_internals.terms(a):
        for w, other in vector_internals.terms(b):
            result += _in_axes(v.cross(_expressed(w, other, frame)), frame)
    return result


def dot(a: Any, b: Any) -> Any:
    """The number a · b."""
    return sm.Add(
        *(
            v.dot(_expressed(w, other, frame))
            for v, frame in vector_internals.terms(a)
            for w, other in vector_internals.terms(b)
        )
    )


def is_steady(vector: Any, frame: Any) -> bool:
    """Test whether a vector is constant in the axes of a frame, in which it is written."""
    t = vector_internals.time()
    return all(axes is frame and not any(e.has(t) for e in column) for column, axes in vector_internals.terms(vector))


def positions(points: Iterable[Any]) -> dict[Any, dict[Any, Any]]:
    """The positions, from their neighbours, of points and of all that these lead to.

    A point that its neighbours do not know is that of a central axis, which must not modify the user's points.
    """
    known: dict[Any, dict[Any, Any]] = {}
    queue = list(points)
    for point in queue:
        if point not in known:
            known[point] = dict(vector_internals.positions(point))
            queue += known[point]
    for point, neighbours in known.items():
        for other in [p for p in neighbours if point not in known[p]]:
            known[other][point] = -neighbours[other]
    return known


def position_steps(point: Any, other: Any) -> list[Any]:
    """Vectors whose sum is the position of a point from another."""
    known = positions([point, other])
    before = nearest_first(other, known.__getitem__)
    if point not in before:
        raise ModelError(
            f"points {point.name} and {other.name} are not connected: locate one from the other with locatenew or "
            "set_pos"
        )
    return [known[below][above] for below, above in _way(before, point)]


def position(point: Any, other: Any) -> Any:
    """The position of a point from another."""
    return sum(position_steps(point, other), Vector(0))


def angular_velocities(frame: Any, other: Any) -> list[Any]:
    """Vectors whose sum is the angular velocity of a frame in another."""
    before = nearest_first(other, vector_internals.angular_velocities)
    if frame not in before:
        raise ModelError(
            f"frame {frame.name} has no angular velocity in {other.name}: orient it, or write "
            f"{frame.name}.set_ang_vel({other.name}, ...)"
        )
    return [vector_internals.angular_velocities(below)[above] for below, above in _way(before, frame)]


def velocity(point: Any, inertial: Any) -> Any:
    """Velocity of a point: that of the nearest point with a set velocity, and the derivative of the vector between."""
    for origin in nearest_first(point, positions([point]).__getitem__):
        known = vector_internals.velocities(origin).get(inertial)
        if known is not None:
            return known + _derivative(position(point, origin), inertial)
    raise ModelError(
        f"point {point.name} has no velocity in {inertial.name}: locate it from a point O whose velocity is set, "
        f"O.set_vel({inertial.name}, 0)"
    )


def _derivative(vector: Any, frame: Any) -> Any:
    """The derivative of a vector in a frame."""
    result = Vector(0)
    for column, axes in vector_internals.terms(vector):
        result += _in_axes(column.diff(vector_internals.time()), axes)
        for omega in angular_velocities(axes, frame):
            result += cross(omega, _in_axes(column, axes))
    return result
