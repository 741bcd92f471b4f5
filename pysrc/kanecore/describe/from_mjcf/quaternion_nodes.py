# SPDX-License-Identifier: BSD-3-Clause
"""Quaternions of nodes, cosine first: products, conjugates, rotation vectors, and the turn between two bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanecore.describe.mjcf_compiler.mujoco_enumerations import BALL, FREE, HINGE
from kanecore.describe.robots.number_nodes import number, triple
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.vectors import Components, dot

from .body_tree import BodyTree

__all__ = ["conjugate", "product_of", "quaternion_numbers", "rotation_vector", "turn_of_body"]

_NEAR = 1e-4  # of the square of the sine of half an angle: below it the series of the arc sine has all digits
_ARC_SINE = (5 / 112, 3 / 40, 1 / 6, 1.0)  # asin(x)/x in powers of x², the highest first


def quaternion_numbers(tree: BodyTree, values: Sequence[float]) -> list[int]:
    """Nodes of four numbers."""
    return [number(tree.builder, float(x)) for x in values]


def conjugate(g: Graph, e: Sequence[int]) -> list[int]:
    """The turn back."""
    return [e[0], *(g.neg(x) for x in e[1:])]


def product_of(g: Graph, a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The turn b, followed by a: of R_a R_b."""
    vector = [
        g.sum(
            [
                g.mul(a[0], b[i + 1]),
                g.mul(a[i + 1], b[0]),
                g.sub(g.mul(a[j + 1], b[k + 1]), g.mul(a[k + 1], b[j + 1])),
            ]
        )
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]
    return [g.sub(g.mul(a[0], b[0]), dot(g, triple(a[1:]), triple(b[1:]))), *vector]


def rotation_vector(g: Graph, e: Sequence[int]) -> Components:
    """The shortest rotation vector of a quaternion of norm 1."""
    w, v = e[0], triple(e[1:])
    n2 = dot(g, v, v)
    n = g.sqrt(n2)
    # angle / sine of its half: a series where that is small, so that derivatives exist where nothing is turned
    series = 0
    for coefficient in _ARC_SINE:
        series = g.add(g.constant(2 * coefficient), g.mul(n2, series))
    exact = g.div(g.mul(g.constant(2), g.binary(Op.ATAN2, n, g.call(Op.ABS, w))), n)
    factor = g.select(g.binary(Op.LT, n2, g.constant(_NEAR)), series, exact)
    factor = g.select(g.binary(Op.LT, w, 0), g.neg(factor), factor)
    return triple([g.mul(factor, x) for x in v])


def turn_of_body(tree: BodyTree, body: int, home: int) -> list[int]:
    """The quaternion of a body, seen from a body ``home`` that carries it."""
    m, b, g = tree.m, tree.builder, tree.builder.graph
    if body == home:
        return [g.one, 0, 0, 0]
    first, start = int(m.body_jntadr[body]), turn_of_body(tree, int(m.body_parentid[body]), home)
    turned = product_of(g, start, quaternion_numbers(tree, m.body_quat[body]))
    for j in range(first, first + int(m.body_jntnum[body])):
        kind, k = int(m.jnt_type[j]), int(m.jnt_qposadr[j])
        if kind == FREE:
            turned = tree.q[k + 3 : k + 7]
        elif kind == BALL:
            turned = product_of(g, turned, tree.q[k : k + 4])
        elif kind == HINGE:
            half = g.mul(g.constant(0.5), g.sub(tree.q[k], number(b, float(m.qpos0[k]))))
            c, s = g.cos(half), g.sin(half)
            turned = product_of(g, turned, [c, *(g.mul(number(b, float(x)), s) for x in np.array(m.jnt_axis[j]))])
    return turned
