# SPDX-License-Identifier: BSD-3-Clause
"""Antiderivatives on the graph, of the few kinds of expressions that springs and fields have.

An expression is a sum of products. A product has constants, a power or a function of some y, and dy/dx. Quotients and
products of sums are first multiplied out to this form. Other expressions have no antiderivative here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from .calculus import Tangent
from .expression_graph import Graph, Op
from .operations import OPERATIONS, log_of_size

__all__ = ["Powers", "antiderivative", "factors", "product", "summands"]

TERMS_MAX = 64  # largest number of terms of products of sums that are multiplied out

HALF = Fraction(1, 2)
Powers = dict[int, Fraction]


def antiderivative(g: Graph, node: int, x: int) -> int | None:
    """Node whose derivative with respect to the symbol x is ``node``; None if no rule gives a finite one."""
    try:
        return _of_sum(g, node, x)
    except (ArithmeticError, ValueError):  # constants folded to infinity or NaN
        return None


def _of_sum(g: Graph, node: int, x: int) -> int | None:
    holders = {i for i in g.below([node]) if i == x}
    for i in g.below([node]):
        if any(k in holders for k in g.operands(i)):
            holders.add(i)
    terms = [(sign, factors(g, term)) for sign, term in summands(g, node)]
    total, done = 0, 0
    while terms:
        sign, powers = terms.pop()
        done += 1
        if done > TERMS_MAX:
            return None
        whole = _of_product(g, powers, x, holders)
        if whole is not None:
            total = g.add(total, g.mul(g.constant(sign), whole))
            continue
        parts = _multiplied_out(g, powers, holders)
        if parts is None:
            return None
        terms += [(sign * other, each) for other, each in parts]
    return total


def summands(g: Graph, node: int) -> list[tuple[int, int]]:
    """Summands of a node, as (sign, term)."""
    result, stack = [], [(1, node)]
    while stack:
        sign, i = stack.pop()
        op, *args = g.nodes[i]
        if op is Op.NEG:
            stack.append((-sign, args[0]))
        elif op is Op.ADD or op is Op.SUB:
            stack += [(-sign if op is Op.SUB else sign, args[1]), (sign, args[0])]
        elif i:
            result.append((sign, i))
    return result


def factors(g: Graph, node: int) -> Powers:
    """Exponents of the factors of a product, by node."""
    result: Powers = {}
    stack = [(node, Fraction(1))]
    while stack:
        i, power = stack.pop()
        op, *args = g.nodes[i]
        exponent = g.value(args[1]) if op is Op.POW else None
        if op in (Op.MUL, Op.DIV) and power.denominator == 1:
            stack += [(args[0], power), (args[1], power if op is Op.MUL else -power)]
        elif op is Op.NEG and power.denominator == 1:
            result[g.neg(g.one)] = result.get(g.neg(g.one), Fraction(0)) + power
            stack.append((args[0], power))
        elif op is Op.SQRT:
            stack.append((args[0], power * HALF))
        elif isinstance(exponent, int | Fraction):
            stack.append((args[0], power * exponent))
        else:
            result[i] = result.get(i, Fraction(0)) + power
    return {i: power for i, power in result.items() if power}


def product(g: Graph, powers: Powers) -> int:
    """Node of a product, from the result of `factors`; the same for the same factors in any order."""
    total = g.one
    for i, power in sorted(powers.items()):
        each = g.power(i, abs(power))
        total = g.mul(total, each) if power > 0 else g.div(total, each)
    return total


def _of_product(g: Graph, powers: Powers, x: int, holders: set[int]) -> int | None:
    """Antiderivative of a constant, or of a constant times dy/dx times a power or function of y; or None."""
    constant = {i: power for i, power in powers.items() if i not in holders}
    moving = {i: power for i, power in powers.items() if i in holders}
    if not moving:
        return g.mul(product(g, constant), x)
    slope = Tangent(g, {x: g.one}).of
    for base, power in moving.items():
        rest = {i: n for i, n in moving.items() if i != base}
        for y, whole in _inner(g, base, power):
            rate = factors(g, slope(y)) if slope(y) else {}
            if rate and {i: n for i, n in rate.items() if _holds(g, i, x)} == rest:
                beside = {i: -n for i, n in rate.items() if i not in rest}
                return g.mul(g.mul(product(g, constant), product(g, beside)), whole)
    return None


def _inner(g: Graph, base: int, power: Fraction) -> Iterator[tuple[int, int]]:
    """(y, F(y)) where the power of a factor is dF/dy."""
    op, *args = g.nodes[base]
    if power == -1:
        yield base, log_of_size(g, base)
    else:
        yield base, g.div(g.power(base, power + 1), g.constant(power + 1))
    row = OPERATIONS.get(op)
    if power == 1 and row is not None and row.antiderivative is not None:
        yield args[0], row.antiderivative(g, args[0])


def _holds(g: Graph, node: int, x: int) -> bool:
    return x in g.below([node])


def _multiplied_out(g: Graph, powers: Powers, holders: set[int]) -> list[tuple[int, Powers]] | None:
    """A product with one of its sums multiplied out; None if it has none."""
    for base, power in powers.items():
        if base in holders and power > 0 and power.denominator == 1 and g.nodes[base][0] in (Op.ADD, Op.SUB):
            others = {**powers, base: power - 1}
            result = []
            for sign, term in summands(g, base):
                each = dict(others)
                for i, more in factors(g, term).items():
                    each[i] = each.get(i, Fraction(0)) + more
                result.append((sign, {i: p for i, p in each.items() if p}))
            return result
    return None
