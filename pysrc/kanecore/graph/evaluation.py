# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of a graph in floating point of any precision, and the counting of its operations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from kanecore.tolerances import LAST_STEP

from .expression_graph import PARAMETER, Given, Graph, Op
from .operations import OPERATIONS

__all__ = ["count", "count_in_call", "evaluate", "node_value", "real"]

_IN_TOTAL = {op for op, row in OPERATIONS.items() if row.counted in ("add", "mul", "div", "sqrt")}


def evaluate(g: Graph, roots: Sequence[int], values: Mapping[Any, Any], ctx: Any = math) -> list[Any]:
    """The values of ``roots``.

    Parameters
    ----------
    values : mapping
        Symbol key to number, for every symbol below ``roots``.
    ctx : module or context
        ``math`` for float64, ``mpmath.mp`` for any precision (the oracle of the tests): it offers ``sqrt``, ``sin``,
        ``pi`` and so on.
    """
    z: dict[int, Any] = {}
    for i in g.below(roots):
        node = g.nodes[i]
        z[i] = real(ctx, values[node[1]]) if node[0] is Op.SYM else node_value(node, z, ctx)
    return [z[i] for i in roots]


def real(ctx: Any, value: Any) -> Any:
    """A number as the context's real number."""
    if ctx is math:
        return float(value)
    return ctx.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else ctx.mpf(value)


def node_value(node: tuple[Any, ...], z: Mapping[int, Any], ctx: Any = math) -> Any:
    """Value of a node other than a symbol, from the values ``z`` of its operands."""
    op = node[0]
    if op is Op.CONST:
        return real(ctx, node[1])
    if op is Op.PI:
        return real(ctx, ctx.pi)
    if op is Op.LAST_STEP:
        return real(ctx, LAST_STEP)
    args = [z[k] for k in node[1:]]
    if isinstance(op, Given):
        return op.data.value(op.orders, args, partial(real, ctx))
    row = OPERATIONS[op]
    value = getattr(ctx, op)(*args) if row.value is None else row.value(*args)
    return real(ctx, value) if row.whole else value


def count(g: Graph, roots: Iterable[int], known: Collection[int] = ()) -> dict[str, int]:
    """Operations below ``roots``: ``{"add", "mul", "div", "sqrt", "total", "sincos", "functions", "neg"}``.

    ``total`` counts + − × ÷ √. A sine and a cosine of the same argument are one ``sincos``; negations and functions
    are counted separately. Operations on constants alone are not counted, as they are folded when C is written. Nor are
    ``known`` nodes.
    """
    n = {"add": 0, "mul": 0, "div": 0, "sqrt": 0, "total": 0, "sincos": 0, "functions": 0, "neg": 0}
    angles: set[int] = set()
    for i in g.below(roots):
        if not g.depends[i] or i in known:
            continue
        op, *operands = g.nodes[i]
        if op is Op.SYM:
            continue
        counted = OPERATIONS[op].counted if op in OPERATIONS else "functions"  # one that is given by data
        if counted == "sincos":
            angles.add(operands[0])
        elif counted == "functions" and (half := g.half_integer(i)) is not None:
            n["sqrt"] += 1
            n["mul"] += half[1]
        else:
            n[counted] += 1
    n["sincos"] = len(angles)
    n["total"] = n["add"] + n["mul"] + n["div"] + n["sqrt"]
    return n


def count_in_call(g: Graph, roots: Iterable[int]) -> int:
    """Number of operations + − × ÷ √ below ``roots`` in a call; operations on parameters alone are prepared before."""
    return sum(1 for i in g.below(roots) if g.depends[i] & ~PARAMETER and g.nodes[i][0] in _IN_TOTAL)
