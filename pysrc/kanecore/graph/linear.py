# SPDX-License-Identifier: BSD-3-Clause
"""Linear equations on the graph, solved by structure.

Straight-line code cannot look at numbers to choose its pivots.  So: rows with one unknown first, then constant pivots
(sparsest row and column first, after Markowitz) that are not small beside their rows at any state, with any parameters;
what is left falls into coupled blocks, each solved by Cramer's rule or, where it is large, by orthogonal columns.
Neither needs a choice, and both fail only where the block is truly singular.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from kanecore.tolerances import NOISE

from .bounds import Bounds
from .sample import samples
from .scalars import Graph

__all__ = ["Singular", "matching", "solve"]

CRAMER_MAX = 6  # n·2ⁿ products: 384 for 6
LEADS = 0.25  # of the bound of its row a pivot must be: it multiplies what is rounding in the others by four at most
REFINED = 2  # steps of refinement of blocks without bounds: at entries of 1e12 one leaves some digits, two leave none


class Singular(ArithmeticError):
    """No unique solution; ``column`` is the number of an unknown that the equations do not determine."""

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


def solve(g: Graph, matrix: Sequence[Sequence[int]], right: Sequence[int]) -> list[int]:
    """The nodes x of ``matrix @ x = right``; raises :class:`Singular`.

    Whether a pivot or block vanishes identically is judged at three random states at which all is finite; where there
    are none it is taken not to.
    """
    n = len(matrix)
    rows = [{j: a for j, a in enumerate(row) if a} for row in matrix]
    b = list(right)
    states = samples(g, [a for row in rows for a in row.values()], 3, first=11)
    size = [max((abs(s(a)) for s in states for a in row.values()), default=1.0) for row in rows]
    bound = Bounds(g)
    order: list[tuple[int, int, int]] = []  # (row, column, pivot)
    free_rows, free_columns = set(range(n)), set(range(n))

    def vanishes(i: int, scale: float) -> bool:
        value = g.value(i)
        if value is not None:
            return not value or (isinstance(value, float) and abs(value) <= NOISE * scale)
        return bool(states) and all(s.vanishes(i) for s in states)

    while free_rows:
        best: tuple[int, int, int, int] | None = None
        count = dict.fromkeys(free_columns, 0)
        for i in free_rows:
            for j in rows[i]:
                if j in free_columns:
                    count[j] += 1
        for i in sorted(free_rows):
            columns = [j for j in rows[i] if j in free_columns]
            if not columns:
                raise Singular(min(free_columns))
            largest = max(bound(rows[i][j]) for j in columns)
            for j in sorted(columns):
                value = g.value(rows[i][j])
                leads = len(columns) == 1 or (value is not None and abs(float(value)) >= LEADS * largest)
                if not leads or vanishes(rows[i][j], size[i]):
                    continue
                fill = (len(columns) - 1) * (count[j] - 1)
                if best is None or fill < best[0]:
                    best = (fill, i, j, rows[i][j])
        if best is None:
            break
        _, i, j, pivot = best
        free_rows.discard(i)
        free_columns.discard(j)
        order.append((i, j, pivot))
        for k in sorted(free_rows):
            a = rows[k].pop(j, 0)
            if not a:
                continue
            if len(rows[i]) == 1:  # the unknown itself: it is divided once
                b[k] = g.sub(b[k], g.mul(a, g.div(b[i], pivot)))
                continue
            factor = g.div(a, pivot)
            for c, entry in rows[i].items():
                if c != j and c in free_columns:
                    new = g.sub(rows[k].get(c, 0), g.mul(factor, entry))
                    if new:
                        rows[k][c] = new
                    else:
                        rows[k].pop(c, None)
            b[k] = g.sub(b[k], g.mul(factor, b[i]))

    x: dict[int, int] = {}
    for block_rows, block_columns in _blocks(rows, sorted(free_rows), free_columns):
        for i in block_rows:
            for j, a in rows[i].items():
                if j in x:
                    b[i] = g.sub(b[i], g.mul(a, x[j]))
        small = [[rows[i].get(j, 0) for j in block_columns] for i in block_rows]
        solution = _coupled(g, small, [b[i] for i in block_rows], [size[i] for i in block_rows], bound, vanishes)
        if solution is None:
            raise Singular(block_columns[0])
        x.update(zip(block_columns, solution, strict=True))
    for i, j, pivot in reversed(order):
        total = b[i]
        for c, a in rows[i].items():
            if c != j:
                total = g.sub(total, g.mul(a, x[c]))
        x[j] = g.div(total, pivot)
    return [x[j] for j in range(n)]


def matching(rows: Mapping[int, Iterable[int]]) -> dict[int, int]:
    """``{column: row}``: as many rows as possible, each with one of its columns to itself (augmenting paths)."""
    match: dict[int, int] = {}
    for start in rows:
        seen: set[int] = set()
        way: list[tuple[int, Iterator[int]]] = [(start, iter(rows[start]))]  # rows, each with what is left of it
        taken: list[int] = []  # the column that led from each row on the way to the next
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


def _blocks(
    rows: Sequence[dict[int, int]], free_rows: Sequence[int], free_columns: set[int]
) -> list[tuple[list[int], list[int]]]:
    """Coupled blocks of the equations that are left, in an order in which each needs only earlier ones."""
    match = matching({i: [j for j in sorted(rows[i]) if j in free_columns] for i in free_rows})
    if len(match) < len(free_rows):
        raise Singular(min(free_columns - set(match)))
    column_of = {i: j for j, i in match.items()}
    # Tarjan's strongly connected components of "row i needs the unknown that row k is matched to"
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    blocks: list[tuple[list[int], list[int]]] = []

    def needs(i: int) -> Iterator[int]:
        return (match[j] for j in sorted(rows[i]) if j in match)

    waiting: set[int] = set()  # what is on the stack
    for start in free_rows:
        way: list[tuple[int, Iterator[int]]] = []
        following = start if start not in index else None
        while way or following is not None:
            if following is not None:
                index[following] = low[following] = len(index)
                stack.append(following)
                waiting.add(following)
                way.append((following, needs(following)))
                following = None
            i, left = way[-1]
            for k in left:
                if k not in index:
                    following = k
                    break
                if k in waiting:
                    low[i] = min(low[i], index[k])
            if following is not None:
                continue
            way.pop()
            if way:
                low[way[-1][0]] = min(low[way[-1][0]], low[i])
            if low[i] == index[i]:
                block = [stack.pop()]
                while block[-1] != i:
                    block.append(stack.pop())
                waiting.difference_update(block)
                block.sort()
                blocks.append((block, [column_of[k] for k in block]))
    return blocks


Vanishes = Callable[[int, float], bool]
Solver = Callable[[Sequence[int]], list[int]]


def _coupled(
    g: Graph, a: list[list[int]], b: list[int], size: list[float], bound: Bounds, vanishes: Vanishes
) -> list[int] | None:
    """The solution of one coupled block; None where it is singular.

    Where an entry has no bound (a parameter, a coordinate) the digits that its products lose are won back by iterative
    refinement: b − a x is right to rounding row by row, whatever the scales of rows and columns (Higham, *Accuracy and
    Stability of Numerical Algorithms*, 2nd ed. 2002, chapter 12).  Cramer's rule for two unknowns loses none (section
    1.10.1).
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
            replaced = [[b[i] if c == j else a[i][c] for c in range(n)] for i in range(n)]
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

    It takes no pivots and no square roots, and with the right-hand side as one more column it is backward stable
    (Björck, *Numerical Methods for Least Squares Problems*, 1996, section 2.4.3).  Scales of columns have no part in
    that; rows are brought to one size, by a power of two where they have a bound, else by their norm at run time.
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
        left = [g.mul(f, x) for f, x in zip(factors, b, strict=True)]
        x = []
        for column, inverse in zip(columns, inverses, strict=True):
            x.append(g.mul(_dot(g, column, left), inverse))
            left = [g.sub(y, g.mul(x[-1], z)) for y, z in zip(left, column, strict=True)]
        for k in range(n - 1, -1, -1):
            x[k] = g.sub(x[k], _dot(g, upper[k][k + 1 :], x[k + 1 :]))
        return x

    return solver


def _dot(g: Graph, u: Sequence[int], v: Sequence[int]) -> int:
    return g.sum(g.mul(x, y) for x, y in zip(u, v, strict=True))
