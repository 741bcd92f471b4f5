# SPDX-License-Identifier: BSD-3-Clause
"""Ways from one frame or point to others: SymPy stores neighbours, and no tree."""

from __future__ import annotations

from typing import Any

__all__ = ["distances", "nearest_first"]


def nearest_first(start: Any, adjacent: Any) -> dict[Any, Any]:
    """``{node: predecessor}`` of all that ``start`` reaches, ``start`` its own predecessor, nearest first.

    Of paths of one length it is the one that SymPy takes: each node's first neighbour that lies on any.
    """
    distance = distances(start, adjacent)
    before = {node: next(k for k in adjacent(node) if distance.get(k) == n - 1) for node, n in distance.items() if n}
    return {start: start} | before


def distances(start: Any, adjacent: Any) -> dict[Any, int]:
    """How many steps each node is from ``start``, nearest first."""
    distance = {start: 0}
    queue = [start]
    for node in queue:
        for other in adjacent(node):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance
