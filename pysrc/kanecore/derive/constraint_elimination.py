# SPDX-License-Identifier: BSD-3-Clause
"""Elimination of constraints on the graph, and the smaller systems that are solved at run time.

Rows of G with a constant pivot are solved before C is emitted.  The remaining equations of M u̇ = f + Gᵀλ, G u̇ + γ = 0
are solved at run time, with pivots chosen then (``emit/runtime/constraint_solver.h``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanecore.derive.constraint_rows import Row
from kanecore.derive.kernel_registry import Derived
from kanecore.graph.expression_graph import ACCELERATION, PARAMETER, Graph, Op
from kanecore.graph.magnitudes import magnitude, sums
from kanecore.graph.zero_tests import deciding, vanish
from kanecore.tolerances import INDEPENDENT

__all__ = ["Reduced", "Solving", "reduced", "solving", "whole"]

SMALLEST_PIVOT = 0.1
"""Smallest pivot relative to its row, now and originally, in the metric of the masses.  With a smaller pivot a
row is solved at run time.  In a closed chain of 30 links, pivots of 1/155 of their rows cost three digits.
"""


@dataclass(frozen=True)
class Reduced:
    """Equations M v = f + Gᵀλ, G v + γ = 0 of the u̇ that stay independent after rows with constant pivots are solved.

    All of u̇ are P v + p.  ``speeds`` are the indices of the speeds of v, ``rows`` those of the remaining rows of G,
    ``solved`` those of the rows that were solved; further rows vanish.  ``projection`` is P row by row, ``offset`` is
    p.  ``sums`` are bounds of the terms of the coefficients of G, zeros for rows that stay independent.  The equations
    are valid where no node of ``limits`` is positive.  Elsewhere a pivot is small relative to its row, or a row of G
    nearly cancels, so the rank must be decided with all rows.
    """

    speeds: tuple[int, ...]
    rows: tuple[int, ...]
    solved: tuple[int, ...]
    projection: tuple[tuple[int, ...], ...]
    offset: tuple[int, ...]
    mass_matrix: tuple[tuple[int, ...], ...]
    forcing: tuple[int, ...]
    jacobian: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    sums: tuple[int, ...]
    limits: tuple[int, ...]

    def all_from(self, g: Graph, v: Sequence[int]) -> list[int]:
        """All entries of u̇ = P v + p."""
        return [
            g.add(p, g.sum(g.mul(x, y) for x, y in zip(row, v, strict=True)))
            for row, p in zip(self.projection, self.offset, strict=True)
        ]


@dataclass(frozen=True)
class _Affine:
    """An expression Σ a_k u̇_k + b: the nonzero coefficients by the indices of the speeds, and b.

    ``cancelled`` are terms of coefficients with a number as sum, and the index of the speed.  Relative to these terms
    the sum may be rounding, or the tiny remainder of a row that follows from other rows.
    """

    coefficients: dict[int, int]
    offset: int
    cancelled: tuple[tuple[int, int], ...] = ()

    def with_value(self, g: Graph, j: int, value: _Affine) -> _Affine:
        """The expression with u̇_j replaced."""
        factor = self.coefficients.get(j)
        if not factor:
            return self
        coefficients, cancelled = {k: x for k, x in self.coefficients.items() if k != j}, list(self.cancelled)
        for k, x in value.coefficients.items():
            before, term = coefficients.pop(k, 0), g.mul(factor, x)
            total = g.add(before, term)
            if before and not g.depends[total]:
                cancelled += [(k, before), (k, term)]
            if total:
                coefficients[k] = total
        return _Affine(coefficients, g.add(self.offset, g.mul(factor, value.offset)), tuple(cancelled))

    def solved_for(self, g: Graph, j: int) -> _Affine:
        """Solution u̇_j of the equation: this expression = 0."""
        pivot = self.coefficients[j]
        coefficients = {k: g.neg(g.div(x, pivot)) for k, x in self.coefficients.items() if k != j}
        return _Affine(coefficients, g.neg(g.div(self.offset, pivot)))


def reduced(
    g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row], prefer: Sequence[int]
) -> Reduced:
    """Eliminate on the graph every speed that has a constant, leading coefficient in a row.

    ``prefer`` are the indices of the speeds to eliminate first, the user's dependent speeds.
    """
    open_rows = {i: _Affine({j: x for j, x in enumerate(r.jacobian) if x}, r.bias) for i, r in enumerate(rows)}
    solved: dict[int, _Affine] = {}  # u̇_j in terms of others
    limits, pivots = list[int](), list[int]()
    while True:
        best = min(_pivots(g, mass_matrix, open_rows, prefer), default=None)
        if best is None:
            return _projected(g, mass_matrix, forcing, solved, open_rows, pivots, limits)
        i, j = best[2:]
        row = open_rows.pop(i)
        pivots.append(i)
        limits += [x for x in _excesses(g, mass_matrix, row, j) if g.depends[x]]
        value = row.solved_for(g, j)
        solved = {k: e.with_value(g, j, value) for k, e in solved.items()}
        open_rows = {k: e.with_value(g, j, value) for k, e in open_rows.items()}
        solved[j] = value


def _pivots(
    g: Graph, mass_matrix: Sequence[Sequence[int]], rows: Mapping[int, _Affine], prefer: Sequence[int]
) -> Iterator[tuple[bool, int, int, int]]:
    """Constants that lead their row, as (is not preferred, number of products, row, speed); the least is the best.

    The products are those of the elimination.
    """
    for i, row in rows.items():
        for j, x in row.coefficients.items():
            if g.value(x) is not None and _leads(g, _excesses(g, mass_matrix, row, j)):
                products = (len(row.coefficients) - 1) * sum(1 for r in rows.values() if j in r.coefficients)
                yield j not in prefer, products, i, j


def _projected(
    g: Graph,
    mass_matrix: Sequence[Sequence[int]],
    forcing: Sequence[int],
    solved: Mapping[int, _Affine],
    open_rows: Mapping[int, _Affine],
    pivots: Sequence[int],
    limits: Sequence[int],
) -> Reduced:
    """Equations of the speeds that are not eliminated: PᵀM P, Pᵀ(f − M p), and the remaining rows."""
    n = len(forcing)
    speeds = [j for j in range(n) if j not in solved]
    m = len(speeds)
    values = [solved.get(j, _Affine({j: g.one}, 0)) for j in range(n)]
    projection = [tuple(value.coefficients.get(k, 0) for k in speeds) for value in values]
    offset = [value.offset for value in values]
    moved = [j for j in range(n) if offset[j]]
    columns = [[(j, values[j].coefficients[k]) for j in range(n) if k in values[j].coefficients] for k in speeds]
    carried = [g.sub(forcing[i], g.sum(g.mul(mass_matrix[i][j], offset[j]) for j in moved)) for i in range(n)]
    half = [[g.sum(g.mul(row[j], x) for j, x in column if row[j]) for column in columns] for row in mass_matrix]
    square = [[0] * m for _ in speeds]
    for a in range(m):
        for b in range(a + 1):
            square[a][b] = square[b][a] = g.sum(g.mul(x, half[i][b]) for i, x in columns[a] if half[i][b])
    force = [g.sum(g.mul(x, carried[i]) for i, x in column) for column in columns]
    remaining = {
        i: row for i, row in sorted(open_rows.items()) if not vanish(g, [*row.coefficients.values(), row.offset])
    }
    jacobian = tuple(tuple(row.coefficients.get(k, 0) for k in speeds) for row in remaining.values())
    weights = {k: square[a][a] for a, k in enumerate(speeds)}
    losses = [_loss(g, mass_matrix, weights, row) for row in remaining.values()]
    limits = [*limits, *(x for x in losses if (value := g.value(x)) is None or value > 0)]
    return Reduced(
        speeds=tuple(speeds),
        rows=tuple(remaining),
        solved=tuple(sorted(pivots)),
        projection=tuple(projection),
        offset=tuple(offset),
        mass_matrix=tuple(map(tuple, square)),
        forcing=tuple(force),
        jacobian=jacobian,
        bias=tuple(row.offset for row in remaining.values()),
        sums=tuple(x for row in jacobian for x in sums(g, row)),
        limits=(
            *_largest(g, [x for x in limits if g.depends[x] & PARAMETER == g.depends[x]]),
            *_largest(g, [x for x in limits if g.depends[x] & ~PARAMETER]),
        ),
    )


def whole(g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row]) -> Reduced:
    """System without elimination, for states at which `reduced` is not valid."""
    n = len(forcing)
    jacobian = tuple(row.jacobian for row in rows)
    return Reduced(
        speeds=tuple(range(n)),
        rows=tuple(range(len(rows))),
        solved=(),
        projection=tuple(tuple(int(i == j) for j in range(n)) for i in range(n)),
        offset=(0,) * n,
        mass_matrix=tuple(map(tuple, mass_matrix)),
        forcing=tuple(forcing),
        jacobian=jacobian,
        bias=tuple(row.bias for row in rows),
        sums=tuple(x for row in jacobian for x in sums(g, row)),
        limits=(),
    )


def _excesses(g: Graph, mass_matrix: Sequence[Sequence[int]], row: _Affine, j: int) -> list[int]:
    """Excess over the limit: positive if the pivot of column j is small beside another coefficient, by the masses.

    u̇_j = −a_k u̇_k multiplies rounding errors of u̇_k by |a_k| √(M_jj / M_kk) / |pivot|.
    """
    least, pivot, weight = g.constant(SMALLEST_PIVOT**2), g.square(row.coefficients[j]), mass_matrix[j][j]
    beside = [(k, x) for k, x in row.coefficients.items() if k != j]
    return [
        g.sub(g.mul(g.mul(least, g.square(x)), weight), g.mul(pivot, mass_matrix[k][k]))
        for k, x in (*beside, *row.cancelled)
    ]


def _loss(g: Graph, mass_matrix: Sequence[Sequence[int]], weights: Mapping[int, int], row: _Affine) -> int:
    """Loss by cancellation: positive if a row is small beside the terms that cancelled in it; 0 without cancellation.

    Both are compared in the metric of the masses: M for the cancelled terms, the ``weights`` for the rest.
    """
    heavy = [(mass_matrix[k][k], x) for k, x in row.cancelled if mass_matrix[k][k]]
    if not heavy or not all(weights[k] for k in row.coefficients):  # a column without mass counts like the others
        return 0
    before = _largest(g, [g.div(g.square(x), weight) for weight, x in heavy])
    left = _largest(g, [g.div(g.square(x), weights[k]) for k, x in row.coefficients.items()])
    return g.sub(g.mul(g.constant(INDEPENDENT**2), sum(before)), sum(left))


def _leads(g: Graph, excesses: Sequence[int]) -> bool:
    """Test whether a pivot is large enough at a random state."""
    states = deciding(g, excesses, 1)
    return all(s(x) <= 0.0 for s in states for x in excesses)


def _largest(g: Graph, nodes: Sequence[int]) -> list[int]:
    """The maximum of some nodes, as a list of at most one."""
    result: list[int] = []
    for x in dict.fromkeys(nodes):
        result = [g.binary(Op.MAX, result[0], x)] if result else [x]
    return result


@dataclass(frozen=True)
class Solving:
    """Linear system for u̇, with pivots that are chosen at run time.

    ``system`` is [M (n, n), f (n), G (m, n), γ (m), bounds (m, n) of the terms of the entries of G].  ``known`` and the
    unknowns v give the ``result`` u̇, if this is not v itself.  ``doubt`` (m) is the magnitude of the terms of each γ.
    ``speeds`` and ``rows`` are the indices of the entries of v and of the rows of G.
    """

    speeds: tuple[int, ...]
    rows: tuple[int, ...]
    system: tuple[int, ...]
    known: tuple[int, ...]
    unknowns: tuple[int, ...]
    result: tuple[int, ...]
    doubt: tuple[int, ...]
    limits: tuple[int, ...]

    @property
    def derived(self) -> Derived:
        """Expressions computed for u̇ before and after the linear solution."""
        return Derived((*self.system, *self.known, *self.result), limits=self.limits)

    @property
    def sums(self) -> tuple[int, ...]:
        """The bounds at the end of ``system``."""
        return self.system[len(self.system) - len(self.speeds) * len(self.rows) :]


def solving(g: Graph, e: Reduced) -> Solving:
    """The system of the equations that an elimination leaves."""
    unknowns = [g.symbol(("v", i), ACCELERATION) for i in range(len(e.speeds))]
    known = dict.fromkeys(x for x in (*(x for row in e.projection for x in row), *e.offset) if g.depends[x])
    result = e.all_from(g, unknowns)
    system = [*(x for row in e.mass_matrix for x in row), *e.forcing]
    system += [*(x for row in e.jacobian for x in row), *e.bias, *e.sums]
    sizes = dict[int, int]()
    return Solving(
        speeds=e.speeds,
        rows=e.rows,
        system=tuple(system),
        known=tuple(known),
        unknowns=tuple(unknowns),
        result=tuple(result),
        doubt=tuple(magnitude(g, x, sizes) for x in e.bias),
        limits=e.limits,
    )
