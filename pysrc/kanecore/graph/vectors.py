# SPDX-License-Identifier: BSD-3-Clause
"""Vectors and 3×3 matrices whose entries are nodes, and their arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Graph, Op

__all__ = [
    "IDENTITY",
    "ZERO",
    "Components",
    "Matrix",
    "Vector",
    "add",
    "cross",
    "dot",
    "length",
    "matmul",
    "matvec",
    "neg",
    "scale",
    "sub",
    "transposed",
    "unit",
]


Components = tuple[int, int, int]
Matrix = tuple[Components, Components, Components]
Vector = tuple[tuple[int, Components], ...]  # ((frame, components in it), ...)


def dot(g: Graph, a: Sequence[int], b: Sequence[int]) -> int:
    return g.sum(g.mul(x, y) for x, y in zip(a, b, strict=True) if x and y)


def length(g: Graph, a: Sequence[int]) -> int:
    """The length √(a·a), with derivative 0 at a = 0 in all units; a condition would double derivatives."""
    present = [x for x in a if x]
    if len(present) == 1:
        return g.call(Op.ABS, present[0])
    square = dot(g, present, present)
    sign = g.call(Op.SIGN, square)  # 0 or 1
    at_zero = g.call(Op.ABS, g.sub(g.one, sign))  # a separate node: sums of three terms are evaluated in any order
    return g.mul(sign, g.sqrt(g.add(square, at_zero)))


def cross(g: Graph, a: Sequence[int], b: Sequence[int]) -> tuple[int, int, int]:
    return (
        g.sub(g.mul(a[1], b[2]), g.mul(a[2], b[1])),
        g.sub(g.mul(a[2], b[0]), g.mul(a[0], b[2])),
        g.sub(g.mul(a[0], b[1]), g.mul(a[1], b[0])),
    )


ZERO: Components = (0, 0, 0)
IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def unit(axis: int) -> Components:
    return (int(axis == 0), int(axis == 1), int(axis == 2))


def add(g: Graph, a: Components, b: Components) -> Components:
    return (g.add(a[0], b[0]), g.add(a[1], b[1]), g.add(a[2], b[2]))


def sub(g: Graph, a: Components, b: Components) -> Components:
    return (g.sub(a[0], b[0]), g.sub(a[1], b[1]), g.sub(a[2], b[2]))


def neg(g: Graph, a: Components) -> Components:
    return (g.neg(a[0]), g.neg(a[1]), g.neg(a[2]))


def scale(g: Graph, s: int, a: Components) -> Components:
    return (g.mul(s, a[0]), g.mul(s, a[1]), g.mul(s, a[2]))


def matvec(g: Graph, m: Matrix, v: Components) -> Components:
    return (dot(g, m[0], v), dot(g, m[1], v), dot(g, m[2], v))


def transposed(m: Matrix) -> Matrix:
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def matmul(g: Graph, a: Matrix, b: Matrix) -> Matrix:
    x, y, z = transposed(b)
    return (
        (dot(g, a[0], x), dot(g, a[0], y), dot(g, a[0], z)),
        (dot(g, a[1], x), dot(g, a[1], y), dot(g, a[1], z)),
        (dot(g, a[2], x), dot(g, a[2], y), dot(g, a[2], z)),
    )
