# SPDX-License-Identifier: BSD-3-Clause
"""Rotation of vectors: components in one frame and in another.

Components stay in the frame in which they were written.  Vectors are rotated from frame to frame along the tree only
when needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from kanecore.describe.description import Description
from kanecore.describe.frame_paths import Ancestry
from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, Vector, add, dot, matvec, scale, transposed, unit
from kanecore.tolerances import NOISE

__all__ = ["Rotations"]


class Rotations:
    """Rotations between the frames of a description.

    Attributes
    ----------
    to_parent, from_parent : list of matrix
        For each frame R with v_parent = R v, and its transpose.
    rounded : list of str
        Frames with snapped entries: values within rounding of an integer were replaced by it.
    """

    def __init__(self, d: Description) -> None:
        self.description = d
        self.graph = d.graph
        self.rounded: list[str] = []
        self.to_parent = [self._snapped(i) for i in range(len(d.frames))]
        self.from_parent = [transposed(r) for r in self.to_parent]
        self._orientation = Ancestry([frame.parent for frame in d.frames])
        self._resolved: dict[tuple[Components, int, int], Components] = {}
        self._rows: dict[tuple[int, int, int], Components] = {}

    def _snapped(self, i: int) -> Matrix:
        """Rotation of a frame to its parent, without rounding errors of its numbers."""
        g, frame = self.graph, self.description.frames[i]
        rows = []
        for row in frame.rotation:
            nearest = [_nearest_integer(g, entry) for entry in row]
            if nearest != list(row) and frame.name not in self.rounded:
                self.rounded.append(frame.name)
            rows.append(tuple(nearest))
        return tuple(rows)  # type: ignore[return-value]

    def path(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Frames to climb from ``start`` to the common ancestor, and to descend from there to ``end``."""
        return self._orientation.path(start, end)

    def common(self, frames: Sequence[int]) -> int:
        """The nearest common ancestor of some frames."""
        return reduce(self._orientation.common, frames)

    def resolve(self, v: Components, start: int, end: int) -> Components:
        """The components in frame ``end`` of a vector given in frame ``start``."""
        if start == end or v == ZERO:
            return v
        key = (v, start, end)
        result = self._resolved.get(key)
        if result is None:
            up, down = self.path(start, end)
            middle = self.description.frames[up[-1]].parent if up else start
            result = self._lowered(self._raised(v, up, middle), down, middle)
            self._resolved[key] = result
        return result

    def _raised(self, v: Components, up: list[int], ancestor: int) -> Components:
        if self._far(v, up):
            g = self.graph
            turned = tuple(dot(g, self._row(k, ancestor, up[0]), v) for k in range(3))
            return _without_rounding(g, turned, v)  # type: ignore[arg-type]
        for f in up:
            v = self._turned(self.to_parent[f], v)
        return v

    def _lowered(self, v: Components, down: list[int], ancestor: int) -> Components:
        if self._far(v, down):
            total = ZERO
            for k in range(3):
                if v[k]:
                    total = add(self.graph, total, scale(self.graph, v[k], self._row(k, ancestor, down[-1])))
            return _without_rounding(self.graph, total, v)
        for f in down:
            v = self._turned(self.from_parent[f], v)
        return v

    def _turned(self, rotation: Matrix, v: Components) -> Components:
        return _without_rounding(self.graph, matvec(self.graph, rotation, v), v)

    @staticmethod
    def _far(v: Components, path: list[int]) -> bool:
        """Test whether shared direction cosines cost less than rotations from frame to frame."""
        return len(path) > 3 or (len(path) > 1 and sum(1 for x in v if x) == 1)

    def _row(self, k: int, ancestor: int, f: int) -> Components:
        """Components in frame f of the k-th axis of an ancestor, by one rotation from the components in f's parent."""
        above = []
        while f != ancestor and (k, ancestor, f) not in self._rows:
            above.append(f)
            f = self.description.frames[f].parent
        row = unit(k) if f == ancestor else self._rows[k, ancestor, f]
        for f in reversed(above):
            row = self._rows[k, ancestor, f] = self._turned(self.from_parent[f], row)
        return row

    def resolve_all(self, vector: Vector, end: int) -> Components:
        """A sum of components in several frames, in one frame."""
        total = ZERO
        for f, v in vector:
            total = add(self.graph, total, self.resolve(v, f, end))
        return total

    def rotation(self, start: int, end: int) -> list[Matrix]:
        """Factors, first applied first, of the rotation that takes components in ``start`` to components in ``end``."""
        up, down = self.path(start, end)
        return [self.to_parent[f] for f in up] + [self.from_parent[f] for f in down]


def _nearest_integer(g: Graph, entry: int) -> int:
    """Entry of a rotation matrix; the integer if it equals one to rounding."""
    value = g.value(entry)
    if not isinstance(value, float) or not 0.0 < abs(value - round(value)) <= NOISE:
        return entry
    return g.constant(round(value))


def _without_rounding(g: Graph, turned: Components, v: Components) -> Components:
    """Components after a rotation, with zero for numbers within the rounding of the components before."""
    size = max(_size(g, x) for x in v)
    x, y, z = (0 if 0.0 < _size(g, i) <= NOISE * size else i for i in turned)
    return x, y, z


def _size(g: Graph, entry: int) -> float:
    """Magnitude of a node that is a number; 0 for any other node."""
    value = g.value(entry)
    return abs(float(value)) if isinstance(value, int | float) else 0.0
