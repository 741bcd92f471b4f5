# SPDX-License-Identifier: BSD-3-Clause
"""LᵀDL factorization by structure, and linear equations solved by it."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.tolerances import CERTAIN, RANK

from .expression_graph import Graph

__all__ = ["factorized_columns", "factorized_solve", "inverted", "products"]


def products(parents: Sequence[int]) -> int:
    """Number of products of a factorization, from the parent of each row, −1 for none."""
    ancestors: list[int] = []
    for i in parents:
        ancestors.append(ancestors[i] + 1 if i >= 0 else 0)
    return sum(n * (n + 3) // 2 for n in ancestors)


def factorized_solve(
    g: Graph, matrix: Sequence[Sequence[int]], right: Sequence[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Solve ``matrix @ x = right`` for one right side; return x, and the pivots of `factorized_columns`."""
    columns, pivots = factorized_columns(g, matrix, [right])
    return columns[0], pivots


def factorized_columns(
    g: Graph, matrix: Sequence[Sequence[int]], sides: Sequence[Sequence[int]]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Solve ``matrix @ x = right`` for several right sides and one symmetric positive definite matrix.

    M = LᵀDL is formed from the last row to the first, which keeps the zeros of branched trees (Featherstone 2008,
    section 6.5).

    Returns
    -------
    columns : list of list of nodes
        The x of each right side.
    pivots : list of (D_ii, M_ii)
        M is singular to rounding unless D_ii > 64 n ε M_ii for all i.
    """
    n = len(matrix)
    a = [list(row) for row in matrix]
    columns = [list(right) for right in sides]
    lower: list[dict[int, int]] = [{} for _ in range(n)]
    pivots = []
    inverses = []
    for k in range(n - 1, -1, -1):
        pivot = a[k][k]
        pivots.append((pivot, matrix[k][k]))
        inverse = g.div(g.one, pivot) if pivot else 0
        inverses.append(inverse)
        row = [i for i in range(k) if a[k][i]]
        for i in row:
            lower[k][i] = g.mul(a[k][i], inverse)
        for i in row:
            for j in row:
                if j <= i:
                    a[i][j] = g.sub(a[i][j], g.mul(lower[k][i], a[k][j]))
        for x in columns:
            for i in row:
                x[i] = g.sub(x[i], g.mul(lower[k][i], x[k]))
    pivots.reverse()
    inverses.reverse()
    for x in columns:
        for k in range(n):
            value = g.mul(inverses[k], x[k])
            for i, factor in lower[k].items():
                value = g.sub(value, g.mul(factor, x[i]))
            x[k] = value
    return columns, pivots


def inverted(g: Graph, matrix: Sequence[Sequence[int]]) -> tuple[list[int], list[tuple[int, int]], int]:
    """The inverse of a symmetric positive definite matrix, row by row, with its pivots and a test of its condition.

    Returns
    -------
    inverse : list of nodes
    pivots : list of (D_ii, M_ii)
        As for `factorized_columns`.
    doubt : node
        Positive where the condition may exceed 1 / (`CERTAIN` `RANK`). It is that of the matrix S, scaled to ones on
        the diagonal: the largest eigenvalue of S is at most n, and the smallest at least 1 / tr S⁻¹.
    """
    n = len(matrix)
    inverse, pivots = [[0] * n for _ in range(n)], list[tuple[int, int]]()
    for j in range(n):
        column, pivots = factorized_solve(g, matrix, [int(i == j) for i in range(n)])
        for i in range(j + 1):
            inverse[i][j] = inverse[j][i] = column[i]
    trace = g.sum(g.mul(inverse[i][i], matrix[i][i]) for i in range(n))
    doubt = g.sub(trace, g.constant(1 / (CERTAIN * RANK * max(n, 1))))
    return [x for row in inverse for x in row], pivots, doubt
