# SPDX-License-Identifier: BSD-3-Clause
"""Interval arithmetic (Moore, *Interval Analysis*, 1966): the least and the greatest value of a result.

The bounds serve choices between algorithms, and are not rounded outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["ALL", "Interval", "anything", "power", "product", "quotient", "square", "within"]

Interval = tuple[float, float]

ALL = (-math.inf, math.inf)


def anything(*_: Interval) -> Interval:
    """No bound is known."""
    return ALL


def within(low: float, high: float) -> Callable[..., Interval]:
    """The rule of an operation with results in the same interval for all operands."""
    return lambda *_: (low, high)


def _times(x: float, y: float) -> float:
    return x * y if x and y else 0.0


def product(a: Interval, b: Interval) -> Interval:
    products = [_times(x, y) for x in a for y in b]
    return min(products), max(products)


def square(a: Interval) -> Interval:
    low, high = product(a, a)
    return max(low, 0.0), high


def quotient(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0.0 <= b[1]:
        return ALL
    quotients = [_times(x, 1.0 / y) for x in a for y in b]
    return min(quotients), max(quotients)


def power(base: Interval, exponent: Interval) -> Interval:
    """Interval of a power with base ≥ 0, as a real power needs; ALL unless the exponent is one positive number."""
    if not exponent[0] == exponent[1] > 0.0:
        return ALL
    return _raised(base[0], exponent[0]), _raised(base[1], exponent[0])


def _raised(x: float, exponent: float) -> float:
    try:
        return math.pow(max(x, 0.0), exponent)
    except OverflowError:
        return math.inf
