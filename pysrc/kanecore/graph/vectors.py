# SPDX-License-Identifier: BSD-3-Clause
"""Products of vectors whose components are nodes, for whatever is made of vectors on the graph."""

from __future__ import annotations

from collections.abc import Sequence

from .scalars import Graph

__all__ = ["cross", "dot"]


def dot(g: Graph, a: Sequence[int], b: Sequence[int]) -> int:
    return g.sum(g.mul(x, y) for x, y in zip(a, b, strict=True))


def cross(g: Graph, a: Sequence[int], b: Sequence[int]) -> tuple[int, int, int]:
    return (
        g.sub(g.mul(a[1], b[2]), g.mul(a[2], b[1])),
        g.sub(g.mul(a[2], b[0]), g.mul(a[0], b[2])),
        g.sub(g.mul(a[0], b[1]), g.mul(a[1], b[0])),
    )
