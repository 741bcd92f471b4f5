# SPDX-License-Identifier: BSD-3-Clause
"""How large a node may become at any state: what numbers at one state, or at some parameters, cannot tell."""

from __future__ import annotations

import math

from .scalars import Graph, Op

__all__ = ["Bounds"]

Interval = tuple[float, float]

ALL = (-math.inf, math.inf)
_RANGE: dict[str, Interval] = {
    Op.PI: (math.pi, math.pi),
    Op.SIN: (-1.0, 1.0),
    Op.COS: (-1.0, 1.0),
    Op.TANH: (-1.0, 1.0),
    Op.ERF: (-1.0, 1.0),
    Op.SIGN: (-1.0, 1.0),
    Op.ASIN: (-math.pi / 2, math.pi / 2),
    Op.ATAN: (-math.pi / 2, math.pi / 2),
    Op.ACOS: (0.0, math.pi),
    Op.ATAN2: (-math.pi, math.pi),
    Op.LT: (0.0, 1.0),
    Op.LE: (0.0, 1.0),
    Op.EQ: (0.0, 1.0),
    Op.COSH: (1.0, math.inf),
    Op.EXP: (0.0, math.inf),
    Op.ACOSH: (0.0, math.inf),
}


class Bounds:
    """Bounds of nodes by interval arithmetic (Moore, *Interval Analysis*, 1966), whatever the parameters and the state.

    ``Bounds(g)(i)`` is the least number, as far as the rules know, that |node i| never exceeds: infinity for a
    parameter or a coordinate, 1 for a sine or a component of a unit quaternion, 3 for ``1 + 2 cos q``.  The bounds are
    meant for choices, and are not rounded outwards.
    """

    def __init__(self, g: Graph) -> None:
        self.graph = g
        self._interval: dict[int, Interval] = {i: (-1.0, 1.0) for group in g.unit for i in group}

    def __call__(self, i: int) -> float:
        low, high = self.interval(i)
        return max(-low, high)

    def interval(self, i: int) -> Interval:
        """(least, greatest) value of a node."""
        found = self._interval
        if i in found:
            return found[i]
        for k in self.graph.below([i], stop=found):
            if k not in found:
                low, high = self._of(k)
                # ∞ − ∞ and the like: nothing is known
                found[k] = (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
        return found[i]

    def _of(self, i: int) -> Interval:
        op, *args = self.graph.nodes[i]
        if op in _RANGE:
            return _RANGE[op]
        if op is Op.CONST:
            return float(args[0]), float(args[0])
        if op is Op.SYM:
            return ALL
        a, *others = (self._interval[k] for k in args)
        b = others[0] if others else ALL
        if op is Op.ADD:
            return a[0] + b[0], a[1] + b[1]
        if op is Op.SUB:
            return a[0] - b[1], a[1] - b[0]
        if op is Op.NEG:
            return -a[1], -a[0]
        if op is Op.MUL:
            products = [_product(x, y) for x in a for y in b]
            # a square, of dependent factors, is not negative
            return max(min(products), 0.0) if args[0] == args[1] else min(products), max(products)
        if op is Op.DIV:
            if b[0] <= 0.0 <= b[1]:
                return ALL
            quotients = [_product(x, 1.0 / y) for x in a for y in b]
            return min(quotients), max(quotients)
        if op is Op.SQRT:
            return math.sqrt(max(a[0], 0.0)), math.sqrt(max(a[1], 0.0))
        if op is Op.ABS:
            return max(a[0], -a[1], 0.0), max(-a[0], a[1])
        if op is Op.MIN or op is Op.MAX:
            choose = min if op is Op.MIN else max
            return choose(a[0], b[0]), choose(a[1], b[1])
        if op is Op.SELECT:
            c = others[1]
            return min(b[0], c[0]), max(b[1], c[1])
        if op is Op.POW and b[0] == b[1] > 0.0:  # of a base that is not negative, as elsewhere it has no value
            return _power(a[0], b[0]), _power(a[1], b[0])
        return ALL


def _product(x: float, y: float) -> float:
    return x * y if x and y else 0.0


def _power(x: float, exponent: float) -> float:
    try:
        return math.pow(max(x, 0.0), exponent)
    except OverflowError:
        return math.inf
