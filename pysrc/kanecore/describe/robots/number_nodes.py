# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, vectors and rotations of a robot as nodes of the graph: constants, turns about an axis, unit quaternions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanecore.describe.builder import Builder
from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import Components, Matrix, Vector, dot

__all__ = [
    *(
        "axis_components",
        "constant_matrix",
        "constant_vector",
        "free_rates",
        "from_quaternion",
        "number",
        "product_with",
        "signed_axis",
    ),
    *("triple", "turn", "turn_quaternion"),
]

Array = npt.NDArray[np.float64]


def number(b: Builder, value: float) -> int:
    """Node of a number."""
    return 0 if value == 0.0 else b.constant(int(value) if value in (1.0, -1.0) else float(value))


def triple(nodes: Sequence[int]) -> Components:
    """Three nodes as components."""
    x, y, z = nodes
    return x, y, z


def axis_components(g: Graph, k: int) -> Components:
    """Coordinate axis k."""
    return triple([g.one if i == k else 0 for i in range(3)])


def signed_axis(g: Graph, k: int, sign: float, node: int) -> Components:
    """A node times coordinate axis k, or times its opposite."""
    x = node if sign > 0.0 else g.neg(node)
    return (x, 0, 0) if k == 0 else (0, x, 0) if k == 1 else (0, 0, x)


def constant_matrix(b: Builder, matrix: Array) -> Matrix:
    """Nodes of a (3, 3) matrix."""
    x, y, z = ((number(b, m[0]), number(b, m[1]), number(b, m[2])) for m in matrix)
    return x, y, z


def constant_vector(b: Builder, frame: int, v: Array) -> Vector:
    """Vector with components (3,) in the axes of a frame."""
    return ((frame, (number(b, v[0]), number(b, v[1]), number(b, v[2]))),) if v.any() else ()


def turn(b: Builder, k: int, sign: float, angle: int) -> Matrix:
    """The rotation about coordinate axis k, or about its opposite: v_parent = R v."""
    g = b.graph
    c, s = g.cos(angle), g.sin(angle)
    s = s if sign > 0.0 else g.neg(s)
    one = g.one
    if k == 0:
        return (one, 0, 0), (0, c, g.neg(s)), (0, s, c)
    if k == 1:
        return (c, 0, s), (0, one, 0), (g.neg(s), 0, c)
    return (c, g.neg(s), 0), (s, c, 0), (0, 0, one)


def product_with(b: Builder, fixed: Array, turned: Matrix) -> Matrix:
    """The product of a matrix of numbers and one of nodes."""
    g, left = b.graph, constant_matrix(b, fixed)
    rows = [[dot(g, row, column) for column in zip(*turned, strict=True)] for row in left]
    x, y, z = ((row[0], row[1], row[2]) for row in rows)
    return x, y, z


def turn_quaternion(b: Builder, e: Sequence[int], w: Sequence[int]) -> None:
    """Set the rates of a quaternion (e0, ..., e3) with an angular velocity in the axes that it turns."""
    g = b.graph
    half = g.constant(0.5)
    rates = (
        [(-1, 1, 0), (-1, 2, 1), (-1, 3, 2)],
        [(1, 0, 0), (1, 2, 2), (-1, 3, 1)],
        [(1, 0, 1), (1, 3, 0), (-1, 1, 2)],
        [(1, 0, 2), (1, 1, 1), (-1, 2, 0)],
    )
    for node, terms in zip(e, rates, strict=True):
        parts = [g.mul(e[i], w[j]) if sign > 0 else g.neg(g.mul(e[i], w[j])) for sign, i, j in terms]
        b.rate(node, g.mul(half, g.sum(parts)))


def free_rates(b: Builder, q: Sequence[int], u: Sequence[int], in_world: bool) -> Matrix:
    """Set the rates of a position and a unit quaternion, q (7,), with a velocity and an angular velocity, u (6,).

    The angular velocity is in the axes that turn, the velocity in these as well, or in those of the position.

    Returns
    -------
    Matrix
        The rotation by the quaternion.
    """
    b.unit(*q[3:])
    turned = from_quaternion(b, q[3:])
    for x, v, row in zip(q[:3], u[:3], turned, strict=True):
        b.rate(x, v if in_world else dot(b.graph, row, u[:3]))
    turn_quaternion(b, q[3:], u[3:])
    return turned


def from_quaternion(b: Builder, e: Sequence[int]) -> Matrix:
    """The rotation of e0 + e1 i + e2 j + e3 k, of norm 1: v_parent = R v."""
    g = b.graph
    two = g.constant(2)

    def twice(*terms: tuple[int, int, int]) -> int:
        parts = [g.mul(e[i], e[j]) if sign > 0 else g.neg(g.mul(e[i], e[j])) for sign, i, j in terms]
        return g.mul(two, g.sum(parts))

    def diagonal(i: int, j: int) -> int:
        return g.sub(g.one, twice((1, i, i), (1, j, j)))

    return (
        (diagonal(2, 3), twice((1, 1, 2), (-1, 0, 3)), twice((1, 1, 3), (1, 0, 2))),
        (twice((1, 1, 2), (1, 0, 3)), diagonal(1, 3), twice((1, 2, 3), (-1, 0, 1))),
        (twice((1, 1, 3), (-1, 0, 2)), twice((1, 2, 3), (1, 0, 1)), diagonal(1, 2)),
    )
