# SPDX-License-Identifier: BSD-3-Clause
"""The equations of a joint tree solved in O(n) operations, by articulated bodies.

This is the articulated-body algorithm (Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 7.3) at rest and
without gravity, since the right-hand side includes velocities and gravity.  The inertia of a link is stored as the
blocks of the 6×6 matrix [J H; Hᵀ M] for (ω, v).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, add, cross, dot, matmul, matvec, transposed

from .joint_tree import JointTree, Link
from .mass_matrix import composite_sizes
from .spatial_inertia import rotated_block

__all__ = ["articulated_solve"]

Block = list[list[int]]


@dataclass(frozen=True)
class _Step:
    """Solution for a joint rate: ``start`` − ``scaled`` · a, with the link's acceleration a without this rate."""

    row: int
    axis: list[int]
    scaled: list[int]
    start: int


def articulated_solve(
    g: Graph, tree: JointTree, right: Sequence[int], whole: JointTree | None = None
) -> tuple[list[int], list[tuple[int, int]]]:
    """Solve M_w y = f_w; return y, and the pivots as ``(pivot, bound of the diagonal entry of M_w)``.

    ``whole`` is the tree with the original inertias of its links, and ``tree`` the tree with regrouped inertias.
    """
    steps, pivots = _inwards(g, tree, right, composite_sizes(g, (whole or tree).links))
    return _outwards(g, tree.links, steps, len(right)), pivots


def _inwards(
    g: Graph, tree: JointTree, right: Sequence[int], sizes: Sequence[tuple[int, int]]
) -> tuple[list[list[_Step]], list[tuple[int, int]]]:
    """Pass from the last link to the first; return the steps of each link, by rate, and the pivots."""
    links, first = tree.links, tree.first_rates
    inertia: list[Block] = [_spatial(g, link) for link in links]
    bias: list[list[int]] = [[0] * 6 for _ in links]
    steps: list[list[_Step]] = [[] for _ in links]
    pivots: list[tuple[int, int]] = [(0, 0)] * len(right)
    for i in range(len(links) - 1, -1, -1):
        matrix, p = inertia[i], bias[i]
        for row, rate in reversed(list(enumerate(links[i].rates, first[i]))):
            axis = [*rate.axis, 0, 0, 0] if rate.turns else [0, 0, 0, *rate.axis]
            column = [dot(g, line, axis) for line in matrix]
            pivot = dot(g, axis, column)
            pivots[row] = (pivot, sizes[i][rate.turns])
            inverse = g.div(g.one, pivot) if pivot else 0
            residual = g.sub(right[row], dot(g, axis, p))
            scaled = [g.mul(inverse, x) for x in column]
            start = g.mul(inverse, residual)
            matrix = _symmetric_less(g, matrix, scaled, column)
            p = [g.add(x, g.mul(y, residual)) for x, y in zip(p, scaled, strict=True)]
            along, *more = (k for k, x in enumerate(axis) if x)
            if not more and axis[along] in (g.one, g.neg(g.one)):
                # Along the rate there is no inertia left, and the force is the given force.
                matrix = [[0 if along in (k, m) else x for m, x in enumerate(line)] for k, line in enumerate(matrix)]
                p[along], scaled[along] = g.mul(axis[along], right[row]), axis[along]
            steps[i].insert(0, _Step(row, axis, scaled, start))
        j = links[i].parent
        if j >= 0:
            matrix, p = _to_parent(g, links[i], matrix, p)
            inertia[j] = [
                [g.add(x, y) for x, y in zip(r, s, strict=True)] for r, s in zip(inertia[j], matrix, strict=True)
            ]
            bias[j] = [g.add(x, y) for x, y in zip(bias[j], p, strict=True)]
    return steps, pivots


def _outwards(g: Graph, links: Sequence[Link], steps: Sequence[Sequence[_Step]], n: int) -> list[int]:
    """Pass from the first link to the last: the joint rates y, from the acceleration (α, a) of each link."""
    y = [0] * n
    motion: list[list[int]] = []
    for link, own in zip(links, steps, strict=True):
        a = _from_parent(g, link, motion[link.parent]) if link.parent >= 0 else [0] * 6
        for step in own:
            y[step.row] = g.sub(step.start, dot(g, step.scaled, a))
            a = [g.add(x, g.mul(s, y[step.row])) for x, s in zip(a, step.axis, strict=True)]
        motion.append(a)
    return y


def _from_parent(g: Graph, link: Link, a: Sequence[int]) -> list[int]:
    """Acceleration (α, a) of a link with its joint at rest, from the acceleration of its parent."""
    turn: Components = (a[0], a[1], a[2])
    move = add(g, (a[3], a[4], a[5]), cross(g, turn, link.offset))
    for r in reversed(link.rotation):
        turn, move = matvec(g, transposed(r), turn), matvec(g, transposed(r), move)
    return [*turn, *move]


def _spatial(g: Graph, link: Link) -> Block:
    """[I [h]×; [h]×ᵀ m 1] of a rigid link about its origin, for (ω, v)."""
    xx, yy, zz, xy, yz, zx = link.inertia
    h, m = link.moment, link.mass
    hx = [[0, g.neg(h[2]), h[1]], [h[2], 0, g.neg(h[0])], [g.neg(h[1]), h[0], 0]]
    top = [[xx, xy, zx, *hx[0]], [xy, yy, yz, *hx[1]], [zx, yz, zz, *hx[2]]]
    bottom = [[hx[0][i], hx[1][i], hx[2][i], *(m if i == j else 0 for j in range(3))] for i in range(3)]
    return top + bottom


def _symmetric_less(g: Graph, matrix: Block, scaled: list[int], column: list[int]) -> Block:
    """The symmetric matrix ``matrix − scaled columnᵀ``; equal entries are computed once."""
    result = [row[:] for row in matrix]
    for i in range(6):
        for j in range(i, 6):
            value = g.sub(matrix[i][j], g.mul(scaled[i], column[j]))
            result[i][j] = result[j][i] = value
    return result


def _to_parent(g: Graph, link: Link, matrix: Block, p: list[int]) -> tuple[Block, list[int]]:
    """An articulated inertia and bias about the parent's origin, in the parent's axes."""
    top: Matrix = tuple(tuple(row[:3]) for row in matrix[:3])  # type: ignore[assignment]
    side: Matrix = tuple(tuple(row[3:]) for row in matrix[:3])  # type: ignore[assignment]
    low: Matrix = tuple(tuple(row[3:]) for row in matrix[3:])  # type: ignore[assignment]
    turn: Components = (p[0], p[1], p[2])
    force: Components = (p[3], p[4], p[5])
    for r in link.rotation:
        top, side, low = (rotated_block(g, r, block) for block in (top, side, low))
        turn, force = matvec(g, r, turn), matvec(g, r, force)
    d = link.offset
    if d != ZERO:
        dx: Matrix = ((0, g.neg(d[2]), d[1]), (d[2], 0, g.neg(d[0])), (g.neg(d[1]), d[0], 0))
        # H' = H + [d]× M;  J' = J + [d]× Hᵀ + H' [d]×ᵀ, symmetric
        moved = _sum(g, side, matmul(g, dx, low))
        change = _sum(g, matmul(g, dx, transposed(side)), matmul(g, moved, transposed(dx)))
        top = tuple(  # type: ignore[assignment]
            tuple(g.add(top[i][j], change[min(i, j)][max(i, j)]) for j in range(3)) for i in range(3)
        )
        side = moved
        turn = add(g, turn, cross(g, d, force))
    full = [[*top[i], *side[i]] for i in range(3)]
    full += [[side[0][i], side[1][i], side[2][i], *low[i]] for i in range(3)]
    return full, [*turn, *force]


def _sum(g: Graph, a: Matrix, b: Matrix) -> Matrix:
    return (add(g, a[0], b[0]), add(g, a[1], b[1]), add(g, a[2], b[2]))
