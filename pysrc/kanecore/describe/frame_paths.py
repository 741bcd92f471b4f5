# SPDX-License-Identifier: BSD-3-Clause
"""Paths along trees of frames and points, and components of vectors along them.

The path between two frames, or two points, is needed for relative motion.  The components of a vector in the axes of
one frame are found here if a description needs them before anything is derived.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from kanecore.describe.description import Frame
from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import Components, Vector, dot

__all__ = ["Ancestry", "components"]


class Ancestry:
    """Items in trees.  Finding a path takes time by the length of the path, not of the chain to the root.

    Parameters
    ----------
    parents : sequence of int
        The parent of each item, −1 of a root; each item comes after its parent.
    """

    def __init__(self, parents: Sequence[int]) -> None:
        self.parents = parents
        self._depth = {-1: -1}  # of the items asked for, and of those above them

    def path(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Items to climb from ``start`` to below the common ancestor, and to descend from there to ``end``.

        Where there is none, both lists hold their root.
        """
        up, down = [], []
        while start != end:
            if end < 0 or (start >= 0 and self.depth(start) >= self.depth(end)):
                up.append(start)
                start = self.parents[start]
            else:
                down.append(end)
                end = self.parents[end]
        return up, down[::-1]

    def depth(self, item: int) -> int:
        """The number of ancestors of an item."""
        way = list(itertools.takewhile(lambda i: i not in self._depth, self.chain(item)))
        for i in reversed(way):
            self._depth[i] = self._depth[self.parents[i]] + 1
        return self._depth[item]

    def common(self, a: int, b: int) -> int:
        """The nearest common ancestor, −1 where there is none."""
        up, _ = self.path(a, b)
        return self.parents[up[-1]] if up else a

    def start(self, item: int, origin: int) -> int:
        """Start of the path to an item: the origin (−1: none given) if a path leads from it, else the item's root."""
        *_, root = self.chain(item)
        return origin if origin >= 0 and self.common(origin, item) >= 0 else root

    def chain(self, item: int) -> Iterator[int]:
        """An item and its ancestors, up to the root."""
        while item >= 0:
            yield item
            item = self.parents[item]


def components(g: Graph, frames: Sequence[Frame], vector: Vector, target: int) -> Components:
    """A sum of components in several frames in the axes of frame ``target``."""
    orientation = Ancestry([frame.parent for frame in frames])
    total = (0, 0, 0)
    for f, v in vector:
        up, down = orientation.path(f, target)
        for i in up:
            a, b, c = frames[i].rotation
            v = (dot(g, a, v), dot(g, b, v), dot(g, c, v))
        for i in down:
            a, b, c = zip(*frames[i].rotation, strict=True)
            v = (dot(g, a, v), dot(g, b, v), dot(g, c, v))
        total = (g.add(total[0], v[0]), g.add(total[1], v[1]), g.add(total[2], v[2]))
    return total
