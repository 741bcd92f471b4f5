# SPDX-License-Identifier: BSD-3-Clause
"""How large a node may become at any state, with any parameters.

Linear solution (:mod:`.linear`) chooses pivots by these bounds.  Numbers at one state, or with some parameters, cannot
tell how small a pivot becomes elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .scalars import Graph, Op

__all__ = ["Bounds"]

Interval = tuple[float, float]

ALL = (-math.inf, math.inf)
_RANGE: dict[str, Interval] = {
    Op.SYM: ALL,
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


def _times(x: float, y: float) -> float:
    return x * y if x and y else 0.0


def _product(a: Interval, b: Interval) -> Interval:
    products = [_times(x, y) for x in a for y in b]
    return min(products), max(products)


def _square(a: Interval) -> Interval:
    low, high = _product(a, a)
    return max(low, 0.0), high


def _quotient(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0.0 <= b[1]:
        return ALL
    quotients = [_times(x, 1.0 / y) for x in a for y in b]
    return min(quotients), max(quotients)


def _power(base: Interval, exponent: Interval) -> Interval:
    """Of a base that is not negative: another has no power."""
    if not exponent[0] == exponent[1] > 0.0:
        return ALL
    return _raised(base[0], exponent[0]), _raised(base[1], exponent[0])


def _raised(x: float, exponent: float) -> float:
    try:
        return math.pow(max(x, 0.0), exponent)
    except OverflowError:
        return math.inf


# The interval of a result from those of its operands.
_RULES: dict[str, Callable[..., Interval]] = {
    Op.ADD: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    Op.SUB: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    Op.NEG: lambda a: (-a[1], -a[0]),
    Op.MUL: _product,
    Op.DIV: _quotient,
    Op.SQRT: lambda a: (math.sqrt(max(a[0], 0.0)), math.sqrt(max(a[1], 0.0))),
    Op.POW: _power,
    Op.ABS: lambda a: (max(a[0], -a[1], 0.0), max(-a[0], a[1])),
    Op.MIN: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    Op.MAX: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    Op.SELECT: lambda condition, a, b: (min(a[0], b[0]), max(a[1], b[1])),
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
        """The least and the greatest value of a node."""
        intervals = self._interval
        if i in intervals:
            return intervals[i]
        for k in self.graph.below([i], stop=intervals):
            if k not in intervals:
                low, high = self._of(k)
                # ∞ − ∞ and the like: nothing is known
                intervals[k] = (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
        return intervals[i]

    def _of(self, i: int) -> Interval:
        op, *args = self.graph.nodes[i]
        if op is Op.CONST:
            return float(args[0]), float(args[0])
        if op in _RANGE:
            return _RANGE[op]
        if op not in _RULES:
            return ALL
        if op is Op.MUL and args[0] == args[1]:
            return _square(self._interval[args[0]])
        return _RULES[op](*(self._interval[k] for k in args))
