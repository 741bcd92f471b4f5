# SPDX-License-Identifier: BSD-3-Clause
"""Points as the user located them.  SymPy does not say from which point another one is located: it is worked out here.

Only positions and velocities that the user set are read; nothing is queried by ``vel`` or ``pos_from``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kanecore.describe.builder import Builder
from kanecore.errors import ModelError
from kanecore.graph.vectors import Vector

from . import vector_algebra, vector_internals
from .read_frames import FrameReader
from .symbols import Symbols
from .vector_algebra import distances, is_steady, nearest_first

__all__ = ["PointReader"]


class PointReader:
    """Reader of Points; a point is numbered after the points from which it is located.

    Attributes
    ----------
    index : dict of Point to number
    """

    def __init__(self, builder: Builder, symbols: Symbols, frames: FrameReader, known: Mapping[Any, int]) -> None:
        self._builder, self._symbols, self._frames = builder, symbols, frames
        self.index: dict[Any, int] = dict(known)
        self._located_from: dict[Any, Any] = {}
        self._positions: dict[Any, dict[Any, Any]] = {}

    # ----------------------------------------------------------------- origins
    def survey(self, needed: Sequence[Any], at_rest: Collection[Any]) -> None:
        """Find the point from which each point is located.

        Parameters
        ----------
        needed : sequence of Point
            Points that the mechanism needs.
        at_rest : collection of Point
            Mass centres of the ground.
        """
        self._positions = vector_algebra.positions(needed)
        for point in needed:  # each group of connected points has a root of its own
            if point not in self._located_from:
                group = nearest_first(point, self._positions.__getitem__)
                root = self._root(group, [p for p in needed if p in group], at_rest)
                if root is not None:
                    self._located_from.update(nearest_first(root, self._positions.__getitem__))

    def _root(self, group: Collection[Any], needed: Sequence[Any], at_rest: Collection[Any]) -> Any:
        """The origin: a point that is known, else one at rest in the inertial frame, else one whose velocity was set.

        Among several it is the ground's mass centre; else one that is no moving contact, as far as signs show: a
        contact at x n_x + y n_y was located from a fixed point, not that point from the contact; else one that inertial
        vectors join to other points.  Then the one nearest to all ``needed`` points is taken, so that no order matters.
        """
        if known := [p for p in group if p in self.index]:
            return known[0]
        set_velocity = {p: v for p in group if (v := self._velocity(p)) is not None}
        resting = [p for p, v in set_velocity.items() if not vector_internals.terms(v)]
        if resting and not any(map(self._stands, resting)):
            resting += [p for p in group if p not in set_velocity and self._stands(p) and self._rests(p)]
        origins = resting or list(set_velocity)
        if len(origins) < 2:
            return origins[0] if origins else None
        ways = {p: nearest_first(p, self._positions.__getitem__) for p in origins}

        def rank(point: Any) -> tuple[bool, int, bool, int, str]:
            contact = sum(self._is_located(point, ways[other]) for other in origins)
            distance = distances(point, self._positions.__getitem__)
            far = sum(distance[p] for p in needed)
            return point not in at_rest, contact, not self._stands(point), far, point.name

        return min(origins, key=rank)

    def _velocity(self, point: Any) -> Any:
        return vector_internals.velocities(point).get(self._frames.inertial)

    def _stands(self, point: Any) -> bool:
        """Test whether a constant vector in inertial axes joins a point to another."""
        vectors = self._positions[point].values()
        return any(vector_internals.terms(v) and is_steady(v, self._frames.inertial) for v in vectors)

    def _rests(self, point: Any) -> bool:
        """Test whether the velocity of a point that was not set vanishes, as that of a pin on the axis of a body."""
        try:
            moves = vector_algebra.velocity(point, self._frames.inertial)
        except ModelError:  # of a point that the model may not need, in a frame whose angular velocity nobody set
            return False
        return all(e.equals(0) for column, _ in vector_internals.terms(moves) for e in column)

    def _is_located(self, point: Any, next_points: Mapping[Any, Any]) -> bool:
        """Test whether terms that change, in a point's position in inertial axes, bear mostly no minus signs."""
        total = 0
        while next_points[point] is not point:
            for column, frame in vector_internals.terms(self._positions[point][next_points[point]]):
                if frame is self._frames.inertial:
                    moving = (e for e in column if e.has(self._symbols.t))
                    total += sum(-1 if e.could_extract_minus_sign() else 1 for e in moving)
            point = next_points[point]
        return total > 0

    # ------------------------------------------------------------------ points
    def number(self, point: Any, where: str) -> int:
        """Number of a point; the points from which it is located come first."""
        above, p = [], point
        while p is not None and p not in self.index:
            above.append(p)
            parent = self._located_from.get(p)
            p = None if parent is p else parent
        for p in reversed(above):
            self._read(p, where)
        return self.index[point]

    def _read(self, point: Any, where: str) -> None:
        parent, set_velocity = self._located_from.get(point), self._velocity(point)
        if parent is None and set_velocity is None:
            raise ModelError(
                f"point {point.name} of {where} has no position path to a point with a known velocity, and no velocity "
                f"of its own: locate it with locatenew or set_pos from the origin O, and write "
                f"O.set_vel({self._frames.inertial.name}, 0)"
            )
        number = -1
        position: Vector = ()
        velocity = None
        if parent is not None and parent is not point:
            number = self.index[parent]
            offset = self._positions[point][parent]
            position = self._frames.vector(offset, f"the position of point {point.name}")
        if set_velocity is not None:
            velocity = self._frames.vector(set_velocity, f"the velocity of point {point.name}")
        elif number < 0:
            velocity = ()  # an origin whose rest follows from others
        self.index[point] = self._builder.point(point.name, number, position, velocity=velocity)
