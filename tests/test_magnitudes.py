# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.magnitudes: no value, at any state and with any parameters, is larger than its bound."""

import math
import random

import pytest
import sympy as sm

from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, Graph
from kanecore.graph.magnitudes import Bounds
from kanecore.graph.sympy_bridge import FromSympy

q, p = sm.symbols("q p")
INF = math.inf

CASES = {
    "number": (sm.Rational(-7, 2), 3.5),
    "parameter": (p, INF),
    "coordinate": (2 * q, INF),
    "sine": (sm.sin(p * q), 1.0),
    "sum of bounded": (1 + 2 * sm.cos(q), 3.0),
    "product of bounded": (3 * sm.cos(q) * sm.sin(p), 3.0),
    "bounded beside a parameter": (sm.cos(q) + p, INF),
    "parameter times bounded": (p * sm.cos(q), INF),
    "square below": (1 / (2 + q**2), 0.5),
    "root below": (1 / sm.sqrt(4 + p**2), 0.5),
    "never zero below": (sm.cos(q) / (3 + sm.sin(q)), 0.5),
    "perhaps zero below": (1 / sm.cos(q), INF),
    "exponential": (sm.exp(q), INF),
    "falls": (1 / (1 + sm.exp(q)), 1.0),
    "inverse": (sm.atan(p) + sm.atan2(p, q), 1.5 * math.pi),
    "branches": (sm.Piecewise((sm.sin(q), q < p), (2, True)), 2.0),
    "clipped": (sm.Min(sm.Max(q, -1), 3), 3.0),
    "magnitude": (sm.Abs(sm.sin(q) - 4), 5.0),
    "root": (sm.sqrt(sm.cos(q) + 3), 2.0),
    "power": ((1 + sm.cos(q)) ** sm.Rational(7, 3), 2.0 ** (7 / 3)),
    "tangent": (sm.tan(q), INF),
}


@pytest.mark.parametrize("name", CASES)
def test_bound(name: str) -> None:
    expression, expected = CASES[name]
    g = Graph()
    symbols = {q: g.symbol("q", COORDINATE), p: g.symbol("p", PARAMETER)}
    node = FromSympy(g, symbols.__getitem__)(expression)
    bound = Bounds(g)
    assert bound(node) == pytest.approx(expected, rel=1e-14)
    low, high = bound.interval(node)
    draw = random.Random(name)
    for size in (1.0, 30.0, 500.0):
        values = {"q": draw.uniform(-size, size), "p": draw.uniform(-size, size)}
        [value] = evaluate(g, [node], values)
        assert low - 1e-14 * abs(value) <= value <= high + 1e-14 * abs(value)


def test_components_of_a_unit_quaternion_are_bounded() -> None:
    g = Graph()
    e = tuple(g.symbol(f"e{i}", COORDINATE) for i in range(4))
    free = g.add(e[0], e[1])
    assert Bounds(g)(free) == INF
    g.unit.append(e)
    assert Bounds(g)(free) == 2.0


def test_shared_expressions_take_no_time() -> None:
    g = Graph()
    node = g.cos(g.symbol("q", COORDINATE))
    for _ in range(300):
        node = g.mul(g.constant(0.25), g.add(node, g.add(node, g.square(node))))
    assert Bounds(g)(node) <= 1.0


def test_a_difference_of_what_lies_apart() -> None:
    g = Graph()
    c, above = g.cos(g.symbol("q", COORDINATE)), g.add(g.constant(3), g.sin(g.symbol("p", PARAMETER)))
    assert Bounds(g).interval(g.sub(c, above)) == (-5.0, -1.0)
