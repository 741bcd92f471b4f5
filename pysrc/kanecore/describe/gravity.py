# SPDX-License-Identifier: BSD-3-Clause
"""Gravity: a force split into its steady part and the rest, since weights are recognised as loads of their own."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import PARAMETER, Graph, Op
from kanecore.graph.vectors import Components, Vector

from .description import Frame
from .frame_paths import components

__all__ = ["steady_part_first"]


def steady_part_first(g: Graph, frames: Sequence[Frame], force: Vector) -> list[Vector]:
    """Split a force into its part that is constant in inertial axes, and the rest; zero parts are left out.

    Terms in frames fixed by parameters count as constant too, such as the vertical above a slope.
    """
    steady: Components = (0, 0, 0)
    rest = []
    for frame, v in force:
        if _stays(g, frames, frame):
            (along_x, x), (along_y, y), (along_z, z) = (_split(g, component) for component in v)
            constant = components(g, frames, ((frame, (along_x, along_y, along_z)),), 0)
            steady = (g.add(steady[0], constant[0]), g.add(steady[1], constant[1]), g.add(steady[2], constant[2]))
            v = (x, y, z)
        if any(v):
            rest.append((frame, v))
    parts = [((0, steady),) if any(steady) else (), tuple(rest)]
    return [part for part in parts if part]


def _stays(g: Graph, frames: Sequence[Frame], number: int) -> bool:
    """Test whether a frame, and all that it is oriented from, never turns."""
    while number > 0:
        frame = frames[number]
        varies = any(g.depends[x] & ~PARAMETER for row in frame.rotation for x in row)
        if varies or not frame.oriented or frame.angular_velocity:
            return False
        number = frame.parent
    return True


def _split(g: Graph, node: int) -> tuple[int, int]:
    """Summands of a node that depend on parameters alone, and the others."""
    summed, stack = set(), [node]
    while stack:
        i = stack.pop()
        if i not in summed:
            summed.add(i)
            op, *args = g.nodes[i]
            if g.depends[i] & ~PARAMETER and op in (Op.NEG, Op.ADD, Op.SUB):
                stack += args
    parts: dict[int, tuple[int, int]] = {}
    for i in sorted(summed):  # operands first
        op, *args = g.nodes[i]
        if not g.depends[i] & ~PARAMETER:
            parts[i] = (i, 0)
        elif op is Op.NEG:
            steady, rest = parts[args[0]]
            parts[i] = (g.neg(steady), g.neg(rest))
        elif op is Op.ADD or op is Op.SUB:
            (a, x), (b, y) = parts[args[0]], parts[args[1]]
            parts[i] = (g.add(a, b), g.add(x, y)) if op is Op.ADD else (g.sub(a, b), g.sub(x, y))
        else:
            parts[i] = (0, i)
    return parts[node]
