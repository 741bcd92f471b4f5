# SPDX-License-Identifier: BSD-3-Clause
"""How large the terms are that a node is summed from.

Beside that size it is judged whether a sum that cancels is zero: a residual of a constraint, or a coefficient of a row
that is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.calculus import Tangent
from kanecore.graph.scalars import Graph, Op
from kanecore.tolerances import SOLVED

__all__ = ["magnitude", "sums", "terms"]

LARGEST_COSINE = 2.0  # the sum of two terms, c₁ c₂ − s₁ s₂, in magnitude


def sums(g: Graph, row: Sequence[int]) -> list[int]:
    """What each coefficient of a row is a sum of, in magnitude; zeros where one of them is a number."""
    if any(x and not g.depends[x] for x in row):
        return [0] * len(row)
    known = dict[int, int]()
    return [magnitude(g, x, known) if x else 0 for x in row]


def magnitude(g: Graph, root: int, known: dict[int, int]) -> int:
    """A bound of a node: sums of magnitudes, products of them, 1 for a sine.

    Sums of sines and cosines alone are taken for direction cosines: however many frames turn in each other, these are
    at most 1, and their bounds would double with each frame.
    """
    for i in g.below([root], stop=known):
        op, *args = g.nodes[i]
        if i in known:
            continue
        if op in (Op.ADD, Op.SUB):
            total = g.add(known[args[0]], known[args[1]])
            known[i] = g.constant(min(value, LARGEST_COSINE)) if (value := g.value(total)) is not None else total
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


def terms(g: Graph, root: int) -> int:
    """The magnitudes of what a node is summed from, added: of products with sines and cosines the largest they can be.

    Sums within the terms of a sum stand for what they are: two points that are 100 m apart, far from the origin; what
    rounding leaves of those that vanish is counted.  A function is as large as its argument makes it.
    """
    return _terms(g, root, False, {})


def _terms(g: Graph, root: int, nested: bool, known: dict[tuple[int, bool], int]) -> int:
    """The same, in the terms of a sum (``nested``) or not; each sum once, since many may hold it."""
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
        total = g.add(total, _largest_product(g, term, inner, known))
    known[root, nested] = total
    return total


def _largest_product(g: Graph, root: int, nested: bool, known: dict[tuple[int, bool], int]) -> int:
    """The magnitude of a product: 1 for sines and cosines, and for sums what `terms` says."""
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
            rounding = g.mul(g.constant(SOLVED), _terms(g, node, nested, known))
            result = g.mul(result, g.add(g.call(Op.ABS, node), rounding))
        elif op in (Op.ADD, Op.SUB):
            result = g.mul(result, _terms(g, node, nested, known))
        elif op in (Op.SYM, Op.CONST):
            result = g.mul(result, g.call(Op.ABS, node))
        elif op not in (Op.SIN, Op.COS):
            size = g.call(Op.ABS, node)
            if len(args) == 1 and not nested:  # to first order, f'(a) times what a is summed from
                slope = Tangent(g, {args[0]: g.one}).of(node)
                size = g.add(size, g.mul(g.call(Op.ABS, slope), _terms(g, args[0], nested, known)))
            result = g.mul(result, size)
    return result
