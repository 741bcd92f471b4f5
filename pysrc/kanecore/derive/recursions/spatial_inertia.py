# SPDX-License-Identifier: BSD-3-Clause
"""Inertia tensors on the graph, symmetric, as six components; joint trees add, shift and rotate them."""

from __future__ import annotations

from fractions import Fraction

from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, add, dot, matmul, matvec, transposed, unit

__all__ = ["Symmetric", "matrix", "plus", "rotated", "rotated_block", "second_moments", "shift", "steiner", "times"]

HALF = Fraction(1, 2)
Symmetric = tuple[int, int, int, int, int, int]  # xx, yy, zz, xy, yz, zx


def plus(g: Graph, a: Symmetric, b: Symmetric) -> Symmetric:
    return tuple(g.add(x, y) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def times(g: Graph, s: Symmetric, v: Components) -> Components:
    return matvec(g, matrix(s), v)


def matrix(s: Symmetric) -> Matrix:
    xx, yy, zz, xy, yz, zx = s
    return ((xx, xy, zx), (xy, yy, yz), (zx, yz, zz))


def second_moments(g: Graph, inertia: Matrix) -> Matrix:
    """Second moments of mass S = ½ tr(I) 1 − I = ∫ ρ ρᵀ dm for an inertia tensor I."""
    half_trace = g.mul(g.constant(HALF), g.add(g.add(inertia[0][0], inertia[1][1]), inertia[2][2]))
    return tuple(  # type: ignore[return-value]
        tuple(g.sub(half_trace if i == j else 0, inertia[i][j]) for j in range(3)) for i in range(3)
    )


def steiner(g: Graph, r: Components, h: Components) -> Symmetric:
    """The inertia of a particle at r with first moment h, which is parallel to r: (r·h) 1 − r hᵀ."""
    x, y, z = g.mul(r[0], h[0]), g.mul(r[1], h[1]), g.mul(r[2], h[2])
    return (
        g.add(y, z),
        g.add(z, x),
        g.add(x, y),
        g.neg(g.mul(r[0], h[1])),
        g.neg(g.mul(r[1], h[2])),
        g.neg(g.mul(r[2], h[0])),
    )


def shift(g: Graph, p: Components, k: Components, h: Components) -> Symmetric:
    """Change of an inertia with first moment h by a shift p, k = h + m p: p·(h + k) 1 − (p kᵀ + h pᵀ)."""
    if p == ZERO:
        return (0, 0, 0, 0, 0, 0)
    s = add(g, k, h)
    x, y, z = (g.mul(a, b) for a, b in zip(p, s, strict=True))

    def off(i: int, j: int) -> int:
        return g.neg(g.add(g.mul(p[i], k[j]), g.mul(h[i], p[j])))

    return (g.add(y, z), g.add(z, x), g.add(x, y), off(0, 1), off(1, 2), off(2, 0))


def _elementary(g: Graph, r: Matrix) -> tuple[int, int, int] | None:
    """``(axis, cosine, sine)`` of a rotation by an angle about one of the axes, else None."""
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        if r[axis] == unit(axis) and r[i][axis] == 0 and r[j][axis] == 0:
            cosine, sine = r[i][i], r[j][i]
            if r[j][j] == cosine and r[i][j] == g.neg(sine):
                return axis, cosine, sine
    return None


def rotated(g: Graph, r: Matrix, inertia: Symmetric) -> Symmetric:
    """The tensor R I Rᵀ; about a coordinate axis with 8 products, by sin (I_ii − I_jj) + 2 cos I_ij."""
    xx, yy, zz, xy, yz, zx = inertia
    full = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
    turn = _elementary(g, r)
    if turn is not None:
        k, cos, sin = turn
        i, j = (k + 1) % 3, (k + 2) % 3
        e = g.add(g.mul(sin, g.sub(full[i][i], full[j][j])), g.mul(cos, g.add(full[i][j], full[i][j])))
        p = g.mul(sin, e)
        ii, jj = g.sub(full[i][i], p), g.add(full[j][j], p)
        ij = g.sub(g.mul(cos, e), full[i][j])
        ik = g.sub(g.mul(cos, full[i][k]), g.mul(sin, full[j][k]))
        jk = g.add(g.mul(sin, full[i][k]), g.mul(cos, full[j][k]))
        full[i][i], full[j][j] = ii, jj
        full[i][j] = full[j][i] = ij
        full[i][k] = full[k][i] = ik
        full[j][k] = full[k][j] = jk
    else:
        m: Matrix = tuple(tuple(row) for row in full)  # type: ignore[assignment]
        half = matmul(g, r, m)
        for a in range(3):
            for b in range(a, 3):
                full[a][b] = full[b][a] = dot(g, half[a], r[b])
    return (full[0][0], full[1][1], full[2][2], full[0][1], full[1][2], full[2][0])


def rotated_block(g: Graph, r: Matrix, block: Matrix) -> Matrix:
    """Product R B Rᵀ; about a coordinate axis only the symmetric part of B in the plane is rotated."""
    if all(block[a][b] == block[b][a] for a in range(3) for b in range(a)):
        return matrix(rotated(g, r, (block[0][0], block[1][1], block[2][2], block[0][1], block[1][2], block[2][0])))
    turn = _elementary(g, r)
    if turn is None:
        return matmul(g, matmul(g, r, block), transposed(r))
    k, cos, sin = turn
    i, j = (k + 1) % 3, (k + 2) % 3
    full = [list(row) for row in block]
    e = g.add(g.mul(sin, g.sub(block[i][i], block[j][j])), g.mul(cos, g.add(block[i][j], block[j][i])))
    p, q = g.mul(sin, e), g.mul(cos, e)
    full[i][i], full[j][j] = g.sub(block[i][i], p), g.add(block[j][j], p)
    full[i][j], full[j][i] = g.sub(q, block[j][i]), g.sub(q, block[i][j])
    full[i][k] = g.sub(g.mul(cos, block[i][k]), g.mul(sin, block[j][k]))
    full[j][k] = g.add(g.mul(sin, block[i][k]), g.mul(cos, block[j][k]))
    full[k][i] = g.sub(g.mul(cos, block[k][i]), g.mul(sin, block[k][j]))
    full[k][j] = g.add(g.mul(sin, block[k][i]), g.mul(cos, block[k][j]))
    x, y, z = ((row[0], row[1], row[2]) for row in full)
    return x, y, z
