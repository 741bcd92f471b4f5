# SPDX-License-Identifier: BSD-3-Clause
"""Curves of MuJoCo's muscles: active force by length and by velocity, passive force, time constants of activation.

Source: the documentation of MuJoCo 4.0, "Modeling", section "Muscle actuators", and ``engine_util_misc`` there.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Graph, Op

__all__ = ["activation_rate", "active_force", "passive_force"]

_SMALLEST = 1e-15


def _by_range(g: Graph, x: int, cases: Sequence[tuple[float, int]], beyond: int) -> int:
    """The value of the first case whose end is not below x."""
    result = beyond
    for end, value in reversed(cases):
        result = g.select(g.binary(Op.LE, x, g.constant(end)), value, result)
    return result


def _half_square(g: Graph, x: int, start: float, end: float) -> int:
    """½ ((x − start)/(end − start))²."""
    part = g.mul(g.sub(x, g.constant(start)), g.constant(1.0 / (end - start)))
    return g.mul(g.constant(0.5), g.mul(part, part))


def active_force(g: Graph, length: int, velocity: int, prm: Sequence[float]) -> int:
    """Active force at full activation, relative to the peak: by normalized length, times by normalized velocity."""
    low, high, peak = float(prm[4]), float(prm[5]), float(prm[8])
    a, b = 0.5 * (low + 1), 0.5 * (1 + high)
    by_length = _by_range(
        *(g, length),
        [
            (low, 0),
            (a, _half_square(g, length, low, a)),
            (1.0, g.sub(g.one, _half_square(g, length, 1.0, a))),
            (b, g.sub(g.one, _half_square(g, length, 1.0, b))),
            (high, _half_square(g, length, high, b)),
        ],
        beyond=0,
    )
    y = peak - 1
    rising, eased = g.add(velocity, g.one), g.sub(g.constant(y), velocity)
    eccentric = g.sub(g.constant(peak), g.mul(g.mul(eased, eased), g.constant(1.0 / y)))
    by_velocity = _by_range(
        g, velocity, [(-1.0, 0), (0.0, g.mul(rising, rising)), (y, eccentric)], beyond=g.constant(peak)
    )
    return g.mul(by_length, by_velocity)


def passive_force(g: Graph, length: int, prm: Sequence[float]) -> int:
    """Passive force relative to the peak, by normalized length."""
    b, largest = 0.5 * (1 + float(prm[5])), g.constant(float(prm[7]))
    line = g.add(g.constant(0.5), g.mul(g.sub(length, g.constant(b)), g.constant(1.0 / (b - 1))))
    cases = [(1.0, 0), (b, g.mul(largest, _half_square(g, length, 1.0, b)))]
    return _by_range(g, length, cases, beyond=g.mul(largest, line))


def activation_rate(g: Graph, control: int, activation: int, prm: Sequence[float]) -> int:
    """ȧ = (c − a)/τ, with τ of activation or of deactivation, and a smooth change between them over ``prm[2]``."""
    c = _clamped(g, control, 0.0, 1.0)
    a = _clamped(g, activation, 0.0, 1.0)
    scale = g.add(g.constant(0.5), g.mul(g.constant(1.5), a))
    up, down = g.mul(g.constant(float(prm[0])), scale), g.div(g.constant(float(prm[1])), scale)
    difference = g.sub(c, activation)
    if prm[2] < _SMALLEST:
        tau = g.select(g.binary(Op.LT, activation, c), up, down)
    else:
        x = _clamped(g, g.add(g.mul(difference, g.constant(1.0 / float(prm[2]))), g.constant(0.5)), 0.0, 1.0)
        smooth = g.add(g.mul(x, g.sub(g.mul(g.constant(6), x), g.constant(15))), g.constant(10))
        smooth = g.mul(g.mul(x, g.mul(x, x)), smooth)
        tau = g.add(down, g.mul(g.sub(up, down), smooth))
    return g.div(difference, g.binary(Op.MAX, tau, g.constant(_SMALLEST)))


def _clamped(g: Graph, x: int, low: float, high: float) -> int:
    return g.binary(Op.MIN, g.binary(Op.MAX, x, g.constant(low)), g.constant(high))
