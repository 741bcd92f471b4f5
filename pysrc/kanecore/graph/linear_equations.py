# SPDX-License-Identifier: BSD-3-Clause
"""Linear equations on the graph, solved by structure.

Straight-line code cannot choose pivots by their numbers. So rows with one unknown are solved first. Next are constant
pivots, sparsest row and column first (Markowitz), if they are not small beside their rows at any state and with any
parameters. The remaining equations form coupled blocks. A block is solved by Cramer's rule or, if it is large, by
orthogonal columns. Neither needs a choice, and both fail only where the block is truly singular.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from kanecore.tolerances import NOISE

from .expression_graph import Graph
from .magnitudes import Bounds
from .random_samples import samples

__all__ = ["Singular", "determinant", "matching", "solve", "solve_in_order"]

CRAMER_MAX = 6  # n·2ⁿ products: 384 for 6
LEADS = 0.25  # least pivot, as a share of its row's bound: rounding of the other entries grows by four at most
REFINED = 2  # steps of refinement of blocks without bounds: at entries of 1e12 one step loses digits, two lose none


class Singular(ArithmeticError):
    """There is no unique solution; ``column`` is the index of an unknown that the equations do not determine."""

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


def solve(g: Graph, matrix: Sequence[Sequence[int]], right: Sequence[int]) -> list[int]:
    """The nodes x of ``matrix @ x = right``; raises :class:`Singular`.

    Three random states with finite values decide whether a pivot or block vanishes identically. Without such states it
    counts as nonzero.
    """
    elimination = _Elimination(g, matrix, right)
    while (pivot := elimination.best_pivot()) is not None:
        elimination.eliminate(*pivot)
    elimination.solve_blocks()
    elimination.substitute_back()
    return [elimination.solution[j] for j in range(len(matrix))]


def determinant(g: Graph, matrix: Sequence[Sequence[int]]) -> int:
    """The node of a small determinant, n·2ⁿ products."""
    n = len(matrix)
    return _minors(g, matrix, n).get((1 << n) - 1, 0)


def solve_in_order(g: Graph, matrix: Sequence[Sequence[int]], right: Sequence[int]) -> tuple[list[int], int]:
    """The nodes x of ``matrix @ x = right``, and the determinant, by Gaussian elimination with pivots on the diagonal.

    It takes a third of the operations of :func:`solve`, but pivots may be small: use it in iterations that correct
    themselves.
    """
    rows, x = [list(row) for row in matrix], list(right)
    n, product = len(rows), g.one
    for k, above in enumerate(rows):
        product = g.mul(product, above[k])
        inverse = g.div(g.one, above[k])
        above[k + 1 :] = [g.mul(inverse, a) for a in above[k + 1 :]]
        x[k] = g.mul(inverse, x[k])
        for i in range(k + 1, n):
            factor = rows[i][k]
            for j in range(k + 1, n):
                rows[i][j] = g.sub(rows[i][j], g.mul(factor, above[j]))
            x[i] = g.sub(x[i], g.mul(factor, x[k]))
    for k in reversed(range(n)):
        x[k] = g.sub(x[k], g.sum(g.mul(rows[k][j], x[j]) for j in range(k + 1, n)))
    return x, product


class _Elimination:
    """Linear equations in which one unknown after the other is eliminated.

    Attributes
    ----------
    rows : list of dict
        The nonzero coefficients of each equation by column.
    right : list of nodes
    free_rows, free_columns : set of int
        Equations that are not solved yet, and their unknowns.
    pivots : list of (row, column)
        In the order of elimination.
    solution : dict
        Nodes of the unknowns by column.
    """

    def __init__(self, g: Graph, matrix: Sequence[Sequence[int]], right: Sequence[int]) -> None:
        self.graph = g
        self.rows = [{j: a for j, a in enumerate(row) if a} for row in matrix]
        self.right = list(right)
        self.free_rows, self.free_columns = set(range(len(matrix))), set(range(len(matrix)))
        self.pivots: list[tuple[int, int]] = []
        self.solution: dict[int, int] = {}
        self._states = samples(g, [a for row in self.rows for a in row.values()], 3, first=11)
        self._size = [max((abs(s(a)) for s in self._states for a in row.values()), default=1.0) for row in self.rows]
        self._bound = Bounds(g)

    def _vanishes(self, node: int, scale: float) -> bool:
        value = self.graph.value(node)
        if value is not None:
            return not value or (isinstance(value, float) and abs(value) <= NOISE * scale)
        return bool(self._states) and all(s.vanishes(node) for s in self._states)

    def best_pivot(self) -> tuple[int, int] | None:
        """Row and column of the pivot with the fewest products of elimination; None if no pivot is safe."""
        best = min(self._safe_pivots(), default=None)
        return None if best is None else best[1:]

    def _safe_pivots(self) -> Iterator[tuple[int, int, int]]:
        """Number of products of elimination, row and column of each safe pivot."""
        uses = Counter(j for i in self.free_rows for j in self.rows[i])
        for i in sorted(self.free_rows):
            row = self.rows[i]
            if not row:
                raise Singular(min(self.free_columns))
            largest = max(map(self._bound, row.values()))
            for j, a in sorted(row.items()):
                value = self.graph.value(a)
                leads = len(row) == 1 or (value is not None and abs(float(value)) >= LEADS * largest)
                if leads and not self._vanishes(a, self._size[i]):
                    yield (len(row) - 1) * (uses[j] - 1), i, j

    def eliminate(self, i: int, j: int) -> None:
        """Solve equation i for unknown j, and eliminate j from the other equations."""
        g, rows, right = self.graph, self.rows, self.right
        self.free_rows.discard(i)
        self.free_columns.discard(j)
        self.pivots.append((i, j))
        pivot = rows[i][j]
        for k in sorted(self.free_rows):
            a = rows[k].pop(j, 0)
            if not a:
                continue
            if len(rows[i]) == 1:  # j itself: divided by its coefficient at the end
                right[k] = g.sub(right[k], g.mul(a, g.div(right[i], pivot)))
                continue
            factor = g.div(a, pivot)
            for column, entry in rows[i].items():
                if column != j:
                    difference = g.sub(rows[k].get(column, 0), g.mul(factor, entry))
                    if difference:
                        rows[k][column] = difference
                    else:
                        rows[k].pop(column, None)
            right[k] = g.sub(right[k], g.mul(factor, right[i]))

    def solve_blocks(self) -> None:
        """Solve the coupled equations, which have no safe pivot."""
        g, x = self.graph, self.solution
        for rows, columns in _blocks({i: sorted(self.rows[i]) for i in sorted(self.free_rows)}, self.free_columns):
            for i in rows:
                for j, a in self.rows[i].items():
                    if j in x:
                        self.right[i] = g.sub(self.right[i], g.mul(a, x[j]))
            block = [[self.rows[i].get(j, 0) for j in columns] for i in rows]
            size = [self._size[i] for i in rows]
            solution = _coupled(g, block, [self.right[i] for i in rows], size, self._bound, self._vanishes)
            if solution is None:
                raise Singular(columns[0])
            x.update(zip(columns, solution, strict=True))

    def substitute_back(self) -> None:
        g, x = self.graph, self.solution
        for i, j in reversed(self.pivots):
            total = self.right[i]
            for column, a in self.rows[i].items():
                if column != j:
                    total = g.sub(total, g.mul(a, x[column]))
            x[j] = g.div(total, self.rows[i][j])


def matching(rows: Mapping[int, Iterable[int]]) -> dict[int, int]:
    """``{column: row}``, a largest matching of rows with their columns, by augmenting paths."""
    match: dict[int, int] = {}
    for start in rows:
        seen: set[int] = set()
        way: list[tuple[int, Iterator[int]]] = [(start, iter(rows[start]))]  # rows with their columns still to try
        taken: list[int] = []  # the column that leads from each row of the path to the next
        while way:
            column = next((j for j in way[-1][1] if j not in seen), None)
            if column is None:
                way.pop()
                if taken:
                    taken.pop()
                continue
            seen.add(column)
            taken.append(column)
            if column not in match:
                for (row, _), j in zip(way, taken, strict=True):
                    match[j] = row
                break
            way.append((match[column], iter(rows[match[column]])))
    return match


def _blocks(columns_of: Mapping[int, Sequence[int]], free_columns: set[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Rows and columns of coupled blocks; each block needs earlier blocks only."""
    row_of = matching(columns_of)
    if len(row_of) < len(columns_of):
        raise Singular(min(free_columns - set(row_of)))
    column_of = {i: j for j, i in row_of.items()}
    for rows in _components({i: [row_of[j] for j in columns] for i, columns in columns_of.items()}):
        yield rows, [column_of[i] for i in rows]


def _components(needs: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Strongly connected components of the relation "i needs k", in an order of evaluation (Tarjan 1972)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    unassigned: dict[int, None] = {}  # to a component, in the order of their indices
    way: list[tuple[int, Iterator[int]]] = []

    def enter(i: int) -> None:
        index[i] = low[i] = len(index)
        unassigned[i] = None
        way.append((i, iter(needs[i])))

    for start in needs:
        if start not in index:
            enter(start)
        while way:
            i, following = way[-1]
            k = next(following, None)
            if k is None:
                way.pop()
                if way:
                    above = way[-1][0]
                    low[above] = min(low[above], low[i])
                if low[i] == index[i]:
                    component = [unassigned.popitem()[0]]
                    while component[-1] != i:
                        component.append(unassigned.popitem()[0])
                    yield sorted(component)
            elif k not in index:
                enter(k)
            elif k in unassigned:
                low[i] = min(low[i], index[k])


Vanishes = Callable[[int, float], bool]
Solver = Callable[[Sequence[int]], list[int]]


def _coupled(
    g: Graph, a: list[list[int]], b: list[int], size: list[float], bound: Bounds, vanishes: Vanishes
) -> list[int] | None:
    """The solution of one coupled block; None if it is singular.

    If an entry has no bound, as a parameter or a coordinate, its products lose digits, which iterative refinement
    recovers: b − a x is right to rounding row by row, whatever the scales of rows and columns (Higham, *Accuracy and
    Stability of Numerical Algorithms*, 2nd ed. 2002, chapter 12).  Cramer's rule for two unknowns loses no digits
    (section 1.10.1).
    """
    n = len(a)
    largest = [max(map(bound, row)) for row in a]
    safe = n <= 2 or math.isfinite(max(largest))
    if n > CRAMER_MAX:
        solver = _orthogonal(g, a, largest, vanishes)
    else:
        determinant = _minors(g, a, n).get((1 << n) - 1, 0)
        if vanishes(determinant, math.prod(size)):
            return None
        solver = _cramer(g, a, determinant) if safe else _adjugate(g, a, determinant)
    if solver is None:
        return None
    x = solver(b)
    for _ in range(0 if safe else REFINED):
        residual = [g.sub(right, _dot(g, row, x)) for row, right in zip(a, b, strict=True)]
        x = [g.add(old, step) for old, step in zip(x, solver(residual), strict=True)]
    return x


def _cramer(g: Graph, a: list[list[int]], determinant: int) -> Solver:
    """Solution det(a with column j replaced by b) / det(a): the least operations for one right-hand side."""
    n = len(a)

    def solver(b: Sequence[int]) -> list[int]:
        x = []
        for j in range(n):
            replaced = [[b[i] if k == j else a[i][k] for k in range(n)] for i in range(n)]
            x.append(g.div(_minors(g, replaced, n).get((1 << n) - 1, 0), determinant))
        return x

    return solver


def _adjugate(g: Graph, a: list[list[int]], determinant: int) -> Solver:
    """Solution adj(a) b / det(a): one adjugate serves several right-hand sides."""
    n = len(a)
    adjugate = [[0] * n for _ in range(n)]
    for i in range(n):
        minors = _minors(g, a[:i] + a[i + 1 :], n)
        for j in range(n):
            minor = minors.get((1 << n) - 1 - (1 << j), 0)
            adjugate[j][i] = g.neg(minor) if (i + j) % 2 else minor
    return lambda b: [g.div(_dot(g, row, b), determinant) for row in adjugate]


def _minors(g: Graph, rows: Sequence[Sequence[int]], n: int) -> dict[int, int]:
    """``{columns as bits: determinant}`` of rows n wide, by Laplace expansion, minors shared between the terms."""
    minors: dict[int, int] = {0: 1}
    for row in reversed(rows):
        larger: dict[int, int] = {}
        for columns, minor in minors.items():
            sign = 1
            for j in range(n):
                if columns >> j & 1:
                    sign = -sign
                    continue
                term = g.mul(row[j], minor)
                if term:
                    key = columns | 1 << j
                    larger[key] = (g.add if sign > 0 else g.sub)(larger.get(key, 0), term)
        minors = larger
    return minors


def _orthogonal(g: Graph, a: list[list[int]], largest: list[float], vanishes: Vanishes) -> Solver | None:
    """Solution by a = Q R, orthogonal columns Q and ones on the diagonal of R, by the modified Gram–Schmidt process.

    The process needs no pivots and no square roots. With the right-hand side as one more column it is backward stable
    (Björck, *Numerical Methods for Least Squares Problems*, 1996, section 2.4.3).  Scales of columns do not matter.
    Rows are scaled to one size: by a power of two where they have a bound, else by their norm at run time.
    """
    n = len(a)
    factors = [
        g.constant(Fraction(2) ** -round(math.log2(size)))
        if math.isfinite(size)
        else g.div(g.one, g.sqrt(_dot(g, row, row)))
        for row, size in zip(a, largest, strict=True)
    ]
    columns = [[g.mul(f, row[j]) for f, row in zip(factors, a, strict=True)] for j in range(n)]
    upper = [[0] * n for _ in range(n)]
    inverses: list[int] = []
    for k in range(n):
        square = _dot(g, columns[k], columns[k])
        if vanishes(square, 1.0):
            return None
        inverses.append(g.div(g.one, square))
        for j in range(k + 1, n):
            upper[k][j] = g.mul(_dot(g, columns[k], columns[j]), inverses[k])
            columns[j] = [g.sub(x, g.mul(upper[k][j], y)) for x, y in zip(columns[j], columns[k], strict=True)]

    def solver(b: Sequence[int]) -> list[int]:
        residual = [g.mul(f, right) for f, right in zip(factors, b, strict=True)]
        x = []
        for column, inverse in zip(columns, inverses, strict=True):
            x.append(g.mul(_dot(g, column, residual), inverse))
            residual = [g.sub(y, g.mul(x[-1], z)) for y, z in zip(residual, column, strict=True)]
        for k in range(n - 1, -1, -1):
            x[k] = g.sub(x[k], _dot(g, upper[k][k + 1 :], x[k + 1 :]))
        return x

    return solver


def _dot(g: Graph, u: Sequence[int], v: Sequence[int]) -> int:
    return g.sum(g.mul(x, y) for x, y in zip(u, v, strict=True))
