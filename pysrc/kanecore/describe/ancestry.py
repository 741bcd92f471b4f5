# SPDX-License-Identifier: BSD-3-Clause
"""The way between two frames, or two points, along their tree: relative motion needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["Ancestry"]


class Ancestry:
    """Items in trees.  Finding a way takes as long as the way is, not as the chain to the root is.

    Parameters
    ----------
    parents : sequence of int
        The parent of each item, −1 of a root; each item comes after its parent.
    """

    def __init__(self, parents: Sequence[int]) -> None:
        self.parents = parents
        self._depth: list[int] = []
        for parent in parents:
            self._depth.append(self._depth[parent] + 1 if parent >= 0 else 0)

    def path(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Items to climb from ``start`` to below the common ancestor, and to descend from there to ``end``.

        Where there is none, both lists hold their root.
        """
        up, down = [], []
        while start != end:
            if end < 0 or (start >= 0 and self._depth[start] >= self._depth[end]):
                up.append(start)
                start = self.parents[start]
            else:
                down.append(end)
                end = self.parents[end]
        return up, down[::-1]

    def common(self, a: int, b: int) -> int:
        """The nearest common ancestor, −1 where there is none."""
        up, _ = self.path(a, b)
        return self.parents[up[-1]] if up else a

    def start(self, item: int, origin: int) -> int:
        """Where the way to an item starts: at an origin, −1 for none, where one leads from it, else at its root."""
        *_, root = self.chain(item)
        return origin if origin >= 0 and self.common(origin, item) >= 0 else root

    def chain(self, item: int) -> Iterator[int]:
        """An item and its ancestors, up to the root."""
        while item >= 0:
            yield item
            item = self.parents[item]
