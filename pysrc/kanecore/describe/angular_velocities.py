# SPDX-License-Identifier: BSD-3-Clause
"""Angular velocities by speeds: SymPy writes components in q̇ that were meant as speeds."""

from __future__ import annotations

from collections.abc import Collection

from kanecore.graph.expression_graph import COORDINATE, SPEED, Graph
from kanecore.graph.vectors import Vector
from kanecore.graph.zero_tests import deciding

__all__ = ["in_speeds"]


def in_speeds(g: Graph, speeds: Collection[int], velocity: Vector) -> Vector:
    """Angular velocity with speeds in place of components that equal them numerically.

    If a user defines speeds as the components, SymPy holds these in q̇.  With q̇ in u they become long.  For a quaternion
    they are correct on the unit sphere alone: SymPy holds |e|² u.
    """
    return tuple(
        (frame, (_in_speed(g, speeds, x), _in_speed(g, speeds, y), _in_speed(g, speeds, z)))
        for frame, (x, y, z) in velocity
    )


def _in_speed(g: Graph, speeds: Collection[int], node: int) -> int:
    if not g.depends[node] & SPEED or not g.depends[node] & COORDINATE:
        return node
    below = set(g.below([node]))
    states = deciding(g, [node], 2)
    for speed in speeds:
        if speed in below and states:
            for candidate, difference in ((speed, g.sub(node, speed)), (g.neg(speed), g.add(node, speed))):
                if all(s.vanishes(difference) for s in states):
                    return candidate
    return node
