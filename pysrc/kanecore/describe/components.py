# SPDX-License-Identifier: BSD-3-Clause
"""The components of a vector in the axes of one frame, where a description needs them before anything is derived."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.scalars import Graph
from kanecore.graph.vectors import dot

from .ancestry import Ancestry
from .description import Components, Frame, Vector

__all__ = ["components"]


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
