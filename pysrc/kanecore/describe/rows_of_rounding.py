# SPDX-License-Identifier: BSD-3-Clause
"""Rows of constraints that are only the rounding of the numbers from which they were formed.

Two axes that are parallel by a numeric rotation have a product of 1e-16 where exact ones have 0.  SymPy folds such
products before a row arrives here, and a row of nothing but rounding looks as every other does.  It would count as
rank, since rows may have any scale.

A row is formed from directions, which are of size 1, and from positions.  Floats that are not larger than `NOISE` of
the largest of these are rounding.  Integers and fractions are exact: a row with a tiny fraction as factor is a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanecore.errors import warn
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.vectors import Vector
from kanecore.tolerances import NOISE

__all__ = ["without_rounding"]


def without_rounding(g: Graph, node: int, level: int, positions: Iterable[Vector], what: object) -> int:
    """The row without its terms in which something moves, if these are all rounding, which a warning says.

    Parameters
    ----------
    level : int
        What moves: the bits of coordinates, of speeds, or of their derivatives.
    positions : iterable of Vector
        Positions of points of the mechanism.
    what : object
        The row, as the subject of the message.

    Returns
    -------
    int
        The node itself; the rest, if the terms that move are rounding; 0 if this is rounding as well.
    """
    terms = _terms(g, node)
    still = [x for x in terms if not g.depends[x] & level]
    size = _largest(g, [x for x in terms if g.depends[x] & level] or still, exact=False)
    beside = max(1.0, _largest(g, [x for position in positions for _, v in position for x in v], exact=True))
    if not 0.0 < size <= NOISE * beside:
        return node
    warn(
        f"{what} is made of rounding: its numbers, {size:.2g} or less where anything moves, are what numeric rotations "
        f"leave of zero, beside directions of 1 and positions of {beside:.3g}. They count as zero; write a number that "
        "is meant as a sympy.Rational"
    )
    if _largest(g, still, exact=False) <= NOISE * beside:
        return 0
    return g.sum(x if sign > 0 else g.neg(x) for x, sign in terms.items() if x in still)


def _terms(g: Graph, node: int) -> dict[int, int]:
    """Summands of a node, each with its sign."""
    result, pending = dict[int, int](), [(node, 1)]
    while pending:
        term, sign = pending.pop()
        op, *operands = g.nodes[term]
        if op in (Op.ADD, Op.SUB, Op.NEG):
            pending += zip(operands, (-sign if op is Op.NEG else sign, -sign if op is Op.SUB else sign), strict=False)
        else:
            result[term] = sign
    return result


def _largest(g: Graph, nodes: Sequence[int], *, exact: bool) -> float:
    """The largest product of numbers in some nodes, with 1 for all else.

    Integers and fractions count if ``exact``, and are 1 otherwise.
    """
    sizes = dict[int, float]()
    for i in g.below(nodes):
        op, *operands = g.nodes[i]
        if op is Op.CONST:
            number = operands[0]
            sizes[i] = abs(float(number)) if exact or isinstance(number, float) or not number else 1.0
        elif op in (Op.ADD, Op.SUB, Op.NEG, Op.ABS):
            sizes[i] = max(sizes[x] for x in operands)
        elif op is Op.MUL:
            sizes[i] = sizes[operands[0]] * sizes[operands[1]]
        elif op is Op.DIV:
            sizes[i] = sizes[operands[0]] / (sizes[operands[1]] or 1.0)
        else:
            sizes[i] = 1.0
    return max((sizes[x] for x in nodes), default=0.0)
