# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.calculus: what derivatives cost and mean; their values against mpmath: test_random_programs.py."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.evaluate import evaluate
from kanecore.graph.scalars import COORDINATE, PARAMETER, SPEED, Graph, Op


@pytest.fixture
def g() -> Graph:
    return Graph()


def test_structural_zeros_cost_nothing(g: Graph) -> None:
    x, y, m = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE), g.symbol("m", PARAMETER)
    root = g.mul(m, g.sin(y))
    assert Tangent(g, {x: g.one}).of(root) == 0
    assert accumulate(g, [(root, g.one)], [x, y])[0] == 0
    assert Tangent(g, {x: g.one}).of(g.call(Op.SIGN, x)) == 0


def test_time_derivative(g: Graph) -> None:
    q, u, t = g.symbol("q", COORDINATE), g.symbol("u", SPEED), g.symbol("t", 2)
    rate = Tangent(g, {q: u, t: g.one})
    assert rate.of(g.mul(t, q)) == g.add(q, g.mul(t, u))
    assert rate.of(g.sin(q)) == g.mul(g.cos(q), u)
    assert rate.of(u) == 0


def test_inner_nodes_may_be_variables(g: Graph) -> None:
    """Derivatives with respect to an expression, as those of a velocity with respect to a solved q̇."""
    x, y = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE)
    inner = g.mul(x, y)
    root = g.add(g.square(inner), x)
    assert accumulate(g, [(root, g.one)], [inner, x]) == [g.add(inner, inner), g.one]


class Ieee:
    """Doubles that go on with infinities and NaN, as C does."""

    mpf = np.float64
    sqrt = np.sqrt


def test_a_dead_branch_does_not_poison(g: Graph) -> None:
    """A weight of 0 on the branch not taken would meet the NaN or the infinity that its derivative is."""
    x, k = g.symbol("x", COORDINATE), g.symbol("k", PARAMETER)
    contact = g.mul(k, g.select(g.binary(Op.LE, x, 0), x, g.power(x, Fraction(5, 2))))
    at_least = g.mul(k, g.binary(Op.MAX, g.sqrt(x), g.one))
    for root, place, slope in ((contact, -2.0, 3.0), (at_least, 0.0, 0.0)):
        forward, reverse = Tangent(g, {x: g.one}).of(root), accumulate(g, [(root, g.one)], [x])[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = evaluate(g, [forward, reverse], {"x": place, "k": 3.0}, Ieee)
        assert values == [slope, slope]


def test_is_affine(g: Graph) -> None:
    q, u, v = g.symbol("q", COORDINATE), g.symbol("u", SPEED), g.symbol("v", SPEED)

    def affine(i: int) -> bool:
        return is_affine(g, [i], lambda k: g.depends[k] & SPEED)

    assert affine(g.add(g.mul(g.sin(q), u), g.div(v, g.cos(q))))
    assert affine(g.select(g.binary(Op.LT, q, 0), u, g.neg(v)))
    for i in (g.mul(u, v), g.sin(u), g.div(q, u), g.select(g.binary(Op.LT, u, 0), q, v), g.call(Op.ABS, u)):
        assert not affine(i)
