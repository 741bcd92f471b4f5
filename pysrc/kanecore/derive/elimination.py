# SPDX-License-Identifier: BSD-3-Clause
"""Elimination on the graph: rows of G with a constant pivot are solved before anything is emitted.

What is left of M u̇ = f + Gᵀλ, G u̇ + γ = 0 is smaller, and is solved at run time (``emit/runtime/saddle.h``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanecore.graph.decide import deciding, vanish
from kanecore.graph.scalars import PARAMETER, Graph, Op

from .constraints import Row
from .magnitudes import sums

__all__ = ["Reduced", "reduced", "whole"]

SMALLEST_PIVOT = 0.1
"""Of its row, in the metric of the masses: with a smaller pivot a row is solved at run time.  In a closed chain of 30
links, pivots of 1/155 of their rows cost three digits."""


@dataclass(frozen=True)
class Reduced:
    """u̇ = P v + p with v what is left of u̇ after rows with constant pivots are solved; M v = f + Gᵀλ, G v + γ = 0.

    ``kept`` are the numbers of the speeds that are left, ``rows`` those of the rows of G; ``projection`` holds P row by
    row of u̇, ``offset`` p; ``sums`` are bounds of what the coefficients are sums of, zeros for rows that cannot be
    lost.  It holds where no node of ``limits`` is positive: elsewhere some pivot is small beside its row.
    """

    kept: tuple[int, ...]
    rows: tuple[int, ...]
    projection: tuple[tuple[int, ...], ...]
    offset: tuple[int, ...]
    mass_matrix: tuple[tuple[int, ...], ...]
    forcing: tuple[int, ...]
    jacobian: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    sums: tuple[int, ...]
    limits: tuple[int, ...]


def reduced(
    g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row], prefer: Sequence[int]
) -> Reduced:
    """Eliminate on the graph what has a constant coefficient in some row, while it leads the row.

    ``prefer`` are the numbers of the speeds to eliminate first: those the user calls dependent.
    """
    n = len(forcing)
    left = {i: ({j: x for j, x in enumerate(row.jacobian) if x}, row.bias) for i, row in enumerate(rows)}
    solved: dict[int, tuple[dict[int, int], int]] = {}  # u̇_j = Σ coefficients u̇_k + offset
    limits: list[int] = []
    while True:
        best = None
        for i, (row, _) in left.items():
            for j, x in row.items():
                if g.value(x) is None or not _leads(g, _excesses(g, mass_matrix, row, j)):
                    continue
                fill = (len(row) - 1) * sum(1 for r, _ in left.values() if j in r)
                key = (j not in prefer, fill, i, j)
                if best is None or key < best:
                    best = key
        if best is None:
            break
        i, j = best[2:]
        row, bias = left.pop(i)
        limits += [x for x in _excesses(g, mass_matrix, row, j) if g.depends[x]]
        pivot = row.pop(j)
        expression = {k: g.neg(g.div(x, pivot)) for k, x in row.items()}, g.neg(g.div(bias, pivot))
        solved = {k: _put(g, e, j, expression) for k, e in solved.items()}
        left = {k: _put(g, e, j, expression) for k, e in left.items()}
        solved[j] = expression
    kept = [j for j in range(n) if j not in solved]
    projection, offset = [], []
    for j in range(n):
        coefficients, rest = solved.get(j, ({j: g.one}, 0))
        projection.append(tuple(coefficients.get(k, 0) for k in kept))
        offset.append(rest)
    carried = [g.sub(forcing[i], g.sum(g.mul(mass_matrix[i][j], offset[j]) for j in range(n))) for i in range(n)]
    half = [
        [g.sum(g.mul(mass_matrix[i][j], projection[j][c]) for j in range(n)) for c in range(len(kept))]
        for i in range(n)
    ]
    square = [[0] * len(kept) for _ in kept]
    for a in range(len(kept)):
        for b in range(a + 1):
            square[a][b] = square[b][a] = g.sum(g.mul(projection[i][a], half[i][b]) for i in range(n))
    force = [g.sum(g.mul(projection[i][a], carried[i]) for i in range(n)) for a in range(len(kept))]
    remaining = [i for i in sorted(left) if not vanish(g, [*left[i][0].values(), left[i][1]])]
    jacobian = tuple(tuple(left[i][0].get(k, 0) for k in kept) for i in remaining)
    return Reduced(
        tuple(kept),
        tuple(remaining),
        tuple(projection),
        tuple(offset),
        tuple(map(tuple, square)),
        tuple(force),
        jacobian,
        tuple(left[i][1] for i in remaining),
        tuple(x for row in jacobian for x in sums(g, row)),
        tuple(_largest(g, [x for x in limits if g.depends[x] & PARAMETER == g.depends[x]]))
        + tuple(_largest(g, [x for x in limits if g.depends[x] & ~PARAMETER])),
    )


def whole(g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row]) -> Reduced:
    """The same with nothing eliminated, for what `reduced` does not hold for."""
    n = len(forcing)
    unit = tuple(tuple(int(i == j) for j in range(n)) for i in range(n))
    jacobian = tuple(row.jacobian for row in rows)
    return Reduced(
        tuple(range(n)),
        tuple(range(len(rows))),
        unit,
        (0,) * n,
        tuple(map(tuple, mass_matrix)),
        tuple(forcing),
        jacobian,
        tuple(row.bias for row in rows),
        tuple(x for row in jacobian for x in sums(g, row)),
        (),
    )


def _excesses(g: Graph, mass_matrix: Sequence[Sequence[int]], row: Mapping[int, int], j: int) -> list[int]:
    """Positive where the pivot of column j is small beside another coefficient, in the metric of the masses.

    u̇_j = −a_k u̇_k multiplies rounding errors of u̇_k by |a_k| √(M_jj / M_kk) / |pivot|.
    """
    least, pivot, weight = g.constant(SMALLEST_PIVOT**2), g.square(row[j]), mass_matrix[j][j]
    return [
        g.sub(g.mul(g.mul(least, g.square(x)), weight), g.mul(pivot, mass_matrix[k][k]))
        for k, x in row.items()
        if k != j
    ]


def _leads(g: Graph, excesses: Sequence[int]) -> bool:
    """Whether a pivot is large enough at a random state."""
    states = deciding(g, excesses, 1)
    return all(s(x) <= 0.0 for s in states for x in excesses)


def _largest(g: Graph, nodes: Sequence[int]) -> list[int]:
    """The maximum of some nodes, as a list of at most one."""
    result: list[int] = []
    for x in dict.fromkeys(nodes):
        result = [g.binary(Op.MAX, result[0], x)] if result else [x]
    return result


def _put(g: Graph, e: tuple[dict[int, int], int], j: int, by: tuple[dict[int, int], int]) -> tuple[dict[int, int], int]:
    """A linear expression with one of its unknowns replaced."""
    coefficients, rest = e
    factor = coefficients.get(j)
    if not factor:
        return e
    result = {k: x for k, x in coefficients.items() if k != j}
    for k, x in by[0].items():
        total = g.add(result.pop(k, 0), g.mul(factor, x))
        if total:
            result[k] = total
    return result, g.add(rest, g.mul(factor, by[1]))
