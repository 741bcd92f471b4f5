# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of a graph in floating point of any precision, and the counting of its operations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .scalars import Graph, Op

__all__ = ["count", "evaluate", "node_value", "real"]

_FUNCTIONS = {
    Op.SQRT: "sqrt",
    Op.EXP: "exp",
    Op.LOG: "log",
    Op.SIN: "sin",
    Op.COS: "cos",
    Op.TAN: "tan",
    Op.ASIN: "asin",
    Op.ACOS: "acos",
    Op.ATAN: "atan",
    Op.SINH: "sinh",
    Op.COSH: "cosh",
    Op.TANH: "tanh",
    Op.ASINH: "asinh",
    Op.ACOSH: "acosh",
    Op.ATANH: "atanh",
    Op.ERF: "erf",
}


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
    """The value of one node that is no symbol, from the values ``z`` of its operands."""
    op = node[0]
    if op is Op.ADD:
        return z[node[1]] + z[node[2]]
    if op is Op.SUB:
        return z[node[1]] - z[node[2]]
    if op is Op.MUL:
        return z[node[1]] * z[node[2]]
    if op is Op.NEG:
        return -z[node[1]]
    if op is Op.CONST:
        return real(ctx, node[1])
    if op is Op.DIV:
        return z[node[1]] / z[node[2]]
    if op in _FUNCTIONS:
        return getattr(ctx, _FUNCTIONS[op])(z[node[1]])
    if op is Op.PI:
        return real(ctx, ctx.pi)
    if op is Op.POW:  # Python's own ** would go on with complex numbers
        return math.pow(z[node[1]], z[node[2]]) if ctx is math else z[node[1]] ** z[node[2]]
    if op is Op.ATAN2:
        return ctx.atan2(z[node[1]], z[node[2]])
    if op is Op.ABS:
        return abs(z[node[1]])
    if op is Op.SIGN:
        return real(ctx, int(z[node[1]] > 0) - int(z[node[1]] < 0))
    if op is Op.FLOOR:
        return real(ctx, ctx.floor(z[node[1]]))
    if op is Op.MIN:
        return min(z[node[1]], z[node[2]])
    if op is Op.MAX:
        return max(z[node[1]], z[node[2]])
    if op is Op.LT:
        return real(ctx, z[node[1]] < z[node[2]])
    if op is Op.LE:
        return real(ctx, z[node[1]] <= z[node[2]])
    if op is Op.EQ:
        return real(ctx, z[node[1]] == z[node[2]])
    if op is Op.SELECT:
        return z[node[2]] if z[node[1]] else z[node[3]]
    raise AssertionError(op)


def count(g: Graph, roots: Iterable[int], known: Collection[int] = ()) -> dict[str, int]:
    """Operations below ``roots``: ``{"add", "mul", "div", "sqrt", "total", "sincos", "functions", "neg"}``.

    ``total`` is + − × ÷ √, one each.  A sine and a cosine of one argument are one ``sincos``; negations and functions
    are counted apart.  What depends on constants alone is not counted, as it is folded when C is written; nor are
    ``known`` nodes.
    """
    n = {"add": 0, "mul": 0, "div": 0, "sqrt": 0, "total": 0, "sincos": 0, "functions": 0, "neg": 0}
    angles: set[int] = set()
    for i in g.below(roots):
        if not g.depends[i] or i in known:
            continue
        node = g.nodes[i]
        op = node[0]
        if op is Op.ADD or op is Op.SUB:
            n["add"] += 1
        elif op is Op.MUL:
            n["mul"] += 1
        elif op is Op.DIV:
            n["div"] += 1
        elif op is Op.SQRT:
            n["sqrt"] += 1
        elif op is Op.NEG:
            n["neg"] += 1
        elif op is Op.SIN or op is Op.COS:
            angles.add(node[1])
        elif (half := g.half_integer(i)) is not None:
            n["sqrt"] += 1
            n["mul"] += half[1]
        elif op is not Op.SYM:
            n["functions"] += 1
    n["sincos"] = len(angles)
    n["total"] = n["add"] + n["mul"] + n["div"] + n["sqrt"]
    return n
