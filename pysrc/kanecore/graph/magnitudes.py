# SPDX-License-Identifier: BSD-3-Clause
"""Magnitudes of nodes: bounds at any state, and the magnitude of the terms of a sum.

The solver of linear equations (:mod:`.linear_equations`) chooses pivots by the bounds, which are valid for any state
and any parameters. Numbers at one state, or with some parameters, do not show how small a pivot becomes elsewhere.

The magnitude of the terms decides whether a sum that cancels is zero: a residual of a constraint, or a coefficient of a
dependent row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.intervals import ALL, Interval, square
from kanecore.graph.operations import OPERATIONS
from kanecore.tolerances import EPSILON

__all__ = ["Bounds", "magnitude", "sums", "terms"]


class Bounds:
    """Bounds of nodes by interval arithmetic (:mod:`.intervals`), for all parameters and states.

    ``Bounds(g)(i)`` is the least upper bound of |node i| that the rules find: infinity for a parameter or a coordinate,
    1 for a sine or a component of a unit quaternion, 3 for ``1 + 2 cos q``. The bounds serve choices between
    algorithms, and are not rounded outwards.  ``symbols`` is the largest magnitude of symbols.
    """

    def __init__(self, g: Graph, symbols: float = math.inf) -> None:
        self.graph, self._symbols = g, (-symbols, symbols)
        self._interval: dict[int, Interval] = {i: (-1.0, 1.0) for group in g.unit for i in group}

    def __call__(self, i: int) -> float:
        low, high = self.interval(i)
        return max(-low, high)

    def interval(self, i: int) -> Interval:
        """The least and the greatest value of a node."""
        intervals = self._interval
        if i in intervals:
            return intervals[i]
        for k in self.graph.below([i], stop=intervals):
            if k not in intervals:
                low, high = self._of(k)
                # ∞ − ∞ or similar: no bound is known
                intervals[k] = (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
        return intervals[i]

    def _of(self, i: int) -> Interval:
        op, *args = self.graph.nodes[i]
        if op is Op.CONST:
            return float(args[0]), float(args[0])
        if op is Op.SYM:
            return self._symbols
        if op is Op.MUL and args[0] == args[1]:
            return square(self._interval[args[0]])
        return OPERATIONS[op].bounds(*(self._interval[k] for k in args)) if op in OPERATIONS else ALL


LARGEST_COSINE = 2.0  # bound of |c₁ c₂| + |s₁ s₂|, the two terms of a cosine of a sum


def sums(g: Graph, row: Sequence[int]) -> list[int]:
    """Magnitude of the terms of each coefficient of a row; all zeros if a coefficient is a number."""
    if any(x and not g.depends[x] for x in row):
        return [0] * len(row)
    known = dict[int, int]()
    return [magnitude(g, x, known) if x else 0 for x in row]


def magnitude(g: Graph, root: int, known: dict[int, int]) -> int:
    """A bound of the node, from sums and products of magnitudes; 1 for a sine.

    Sums of sines and cosines alone count as direction cosines, which are at most 1. Without this rule their bounds
    would double with each frame of a chain. The rule does not apply if a term is larger, as the number of a length in a
    small unit.
    """
    for i in g.below([root], stop=known):
        op, *args = g.nodes[i]
        if i in known:
            continue
        if op in (Op.ADD, Op.SUB):
            total = g.add(known[args[0]], known[args[1]])
            numbers = [value for k in args if (value := g.value(known[k])) is not None]
            cosines = len(numbers) == len(args) and max(numbers) <= LARGEST_COSINE
            known[i] = g.constant(min(sum(numbers), LARGEST_COSINE)) if cosines else total
        elif op is Op.MUL:
            known[i] = g.mul(known[args[0]], known[args[1]])
        elif op is Op.DIV:
            known[i] = g.div(known[args[0]], g.call(Op.ABS, args[1]))
        elif op is Op.NEG:
            known[i] = known[args[0]]
        elif op in (Op.SIN, Op.COS):
            known[i] = g.one
        else:
            known[i] = g.call(Op.ABS, i)
    return known[root]


def terms(g: Graph, root: int, tolerance: float) -> int:
    """Sum of the magnitudes of a node's terms; sines and cosines in products count as 1.

    A sum within a term, such as the distance of two points far from the origin, counts with its value. If that value
    vanishes, as the distance of two points that a loop joins, its rounding counts, so that ``tolerance`` times the
    result covers it. For a function the terms of its argument count, to first order.
    """
    return _terms(g, root, False, 8 * EPSILON / tolerance, {})


def _terms(g: Graph, root: int, nested: bool, share: float, known: dict[tuple[int, bool], int]) -> int:
    """Magnitude of the terms of a node, within a sum (``nested``) or not; kept, since many nodes may share a sum."""
    if (root, nested) in known:
        return known[root, nested]
    total, pending, summands = 0, [root], []
    while pending:
        term = pending.pop()
        op, *args = g.nodes[term]
        if op in (Op.ADD, Op.SUB, Op.NEG):
            pending += args
        else:
            summands.append(term)
    inner = nested or len(summands) > 1
    for term in summands:
        total = g.add(total, _largest_product(g, term, inner, share, known))
    known[root, nested] = total
    return total


def _largest_product(g: Graph, root: int, nested: bool, share: float, known: dict[tuple[int, bool], int]) -> int:
    """Magnitude of a product, with 1 for sines and cosines, and `terms` for sums."""
    result, pending = g.one, [(root, False)]
    while pending:
        node, inverse = pending.pop()
        op, *args = g.nodes[node]
        if op is Op.MUL:
            pending += [(x, inverse) for x in args]
        elif op is Op.DIV:
            pending += [(args[0], inverse), (args[1], not inverse)]
        elif op is Op.NEG:
            pending.append((args[0], inverse))
        elif inverse:
            result = g.div(result, g.call(Op.ABS, node))
        elif op in (Op.ADD, Op.SUB) and nested:
            rounding = g.mul(g.constant(share), _terms(g, node, nested, share, known))
            result = g.mul(result, g.add(g.call(Op.ABS, node), rounding))
        elif op in (Op.ADD, Op.SUB):
            result = g.mul(result, _terms(g, node, nested, share, known))
        elif op in (Op.SYM, Op.CONST):
            result = g.mul(result, g.call(Op.ABS, node))
        elif op not in (Op.SIN, Op.COS):
            size = g.call(Op.ABS, node)
            if len(args) == 1 and not nested:  # to first order, f'(a) times the terms of a
                slope = Tangent(g, {args[0]: g.one}).of(node)
                size = g.add(size, g.mul(g.call(Op.ABS, slope), _terms(g, args[0], nested, share, known)))
            result = g.mul(result, size)
    return result
