# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.calculus: what derivatives cost and mean; their values against mpmath: test_random_programs.py."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sm

from kanecore.graph.calculus import Tangent, accumulate, derivatives, is_affine
from kanecore.graph.evaluation import count, evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, Graph, Op
from kanecore.graph.sympy_bridge import FromSympy


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
    sqrt, sin, cos, log, pow = np.sqrt, np.sin, np.cos, np.log, np.float_power


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


x, v, p = sm.symbols("x v p")
#: Powers, and their derivatives at x = 0 with p = 3/2.
POWERS = {
    sm.Abs(x) ** sm.Rational(3, 2): 0,
    -(sm.Abs(x) ** 1.5) * sm.sign(x): 0,
    x * sm.sqrt(x**2): 0,
    x * sm.sqrt(p**2 * x**2): 0,
    x * sm.sqrt(sm.Abs(x)): 0,
    (v + 2 * x) * sm.sqrt(sm.Abs(-1.5 * v - 3.0 * x)) * x: 0,
    3 * (v - x) * sm.sqrt(sm.Abs(x - v)) * x: 0,
    2 * v * x * sm.sqrt(sm.Abs(v)) * sm.Abs(x) ** sm.Rational(1, 3): 0,
    x**2 / sm.sqrt(sm.Abs(x)): 0,
    x**3 * (x**2) ** sm.Rational(-3, 4): 0,
    (x**2) ** sm.Rational(3, 4): 0,
    (x**2) ** (p / 2): 0,
    (x**2) ** sm.Rational(3, 2): 0,
    sm.Abs(x) ** 2.5: 0,
    sm.Abs(x) ** sm.Rational(7, 3): 0,
    sm.Abs(x) ** 3: 0,
    sm.Abs(x) ** p: 0,
    x * sm.Abs(x) ** (p - 1): 0,
    x * sm.Abs(x) ** (p - sm.Rational(3, 2)): 1,
    sm.Abs(x) ** (p + x): 0,
    x**1.5: 0,
    x ** sm.Rational(5, 2) - x: -1,
    x**p: 0,
    sm.Max(x, 0) ** 1.5: 0,
    sm.Piecewise((-(sm.Abs(x) ** 1.5), x < 0), (x**2.5, True)): 0,
    sm.sqrt(x**4): 0,
    x * sm.Abs(x): 0,
    sm.sqrt(x): math.inf,
}


@pytest.mark.parametrize("expression", POWERS, ids=str)
def test_powers_have_their_derivative_at_zero(g: Graph, expression: Any) -> None:
    """Forward and reverse, there and beside it; the second derivative of those above the square."""
    symbols = {x: g.symbol("x", COORDINATE), v: g.symbol("v", SPEED), p: g.symbol("p", PARAMETER)}
    root = FromSympy(g, symbols.__getitem__)(expression)
    node = symbols[x]
    forward, reverse = Tangent(g, {node: g.one}).of(root), accumulate(g, [(root, g.one)], [node])[0]
    at = {"x": 0.0, "v": 0.0, "p": 1.5}
    with np.errstate(divide="ignore", invalid="ignore"):  # in branches that are not taken
        assert evaluate(g, [forward, reverse], at, Ieee) == [POWERS[expression]] * 2
    h = 1e-6
    for place in (0.4, 1.7):
        up, down = (evaluate(g, [root], {"x": place + k, "v": -0.3, "p": 1.5})[0] for k in (h, -h))
        values = evaluate(g, [forward, reverse], {"x": place, "v": -0.3, "p": 1.5})
        assert values == pytest.approx([(up - down) / (2 * h)] * 2, rel=1e-8)


@pytest.mark.parametrize(
    "expression", [sm.atan2(x * v, v + x**2), sm.atan2(v, x), sm.atan2(x, v), sm.Min(x, x * v)], ids=str
)
def test_slopes_of_functions_of_two(g: Graph, expression: Any) -> None:
    """Forward and reverse, in both arguments, against SymPy's."""
    symbols, at = {x: g.symbol("x", COORDINATE), v: g.symbol("v", SPEED)}, {"x": 0.7, "v": -0.3}
    root = FromSympy(g, symbols.__getitem__)(expression)
    expected = [float(expression.diff(z).subs({x: 0.7, v: -0.3})) for z in symbols]
    forward = [Tangent(g, {node: g.one}).of(root) for node in symbols.values()]
    reverse = accumulate(g, [(root, g.one)], list(symbols.values()))
    assert evaluate(g, [*forward, *reverse], at) == pytest.approx(expected * 2, rel=1e-12)


@pytest.mark.parametrize("expression", [sm.Abs(x) ** 2.5, x**2.5, sm.Abs(x) ** 3, x**2 * sm.sqrt(sm.Abs(x)), x**4])
def test_second_derivatives_at_zero(g: Graph, expression: Any) -> None:
    """They enter γ of a constraint, and the linearization of one."""
    node = g.symbol("x", COORDINATE)
    along = Tangent(g, {node: g.one})
    slope = along.of(FromSympy(g, {x: node}.__getitem__)(expression))
    assert evaluate(g, [along.of(slope), *accumulate(g, [(slope, g.one)], [node])], {"x": 0.0}, Ieee) == [0.0, 0.0]


def test_drag_at_rest(g: Graph) -> None:
    """|v| v has the derivative 0 at v = 0, although |v| has none; that stays no number."""
    a, b = g.symbol("a", SPEED), g.symbol("b", SPEED)
    speed = g.sqrt(g.add(g.square(a), g.square(b)))
    at_rest = {"a": 0.0, "b": 0.0}
    drag = accumulate(g, [(g.mul(speed, a), g.one)], [a, b], limits=True)
    weak = g.mul(g.power(g.add(g.square(a), g.square(b)), Fraction(1, 4)), a)  # of size √|v| v
    weak = accumulate(g, [(weak, g.one)], [a, b], limits=True)
    alone = accumulate(g, [(speed, g.one)], [a, b], limits=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        assert evaluate(g, [*drag, *weak], at_rest, Ieee) == [0.0] * 4
        assert all(map(math.isnan, evaluate(g, alone, at_rest, Ieee)))
    at = {"a": 3.0, "b": 4.0}
    assert evaluate(g, drag, at) == pytest.approx([5.0 + 9.0 / 5.0, 12.0 / 5.0])
    assert evaluate(g, weak, at) == pytest.approx([5.0**0.5 * (1 + 4.5 / 25), 5.0**0.5 * 6.0 / 25])


def test_derivatives_take_what_is_shorter(g: Graph) -> None:
    """Many rows of one function of x are differentiated along x, a row of many symbols backwards."""
    x = [g.symbol(f"x{i}", COORDINATE) for i in range(6)]
    inner = g.sin(g.mul(g.square(x[0]), g.cos(x[0])))
    rows = [g.mul(g.constant(k), g.square(g.add(inner, g.constant(k)))) for k in range(2, 9)]
    product = g.one
    for each in x:
        product = g.mul(product, g.sin(each))
    for nodes, wrt, tangents in ((rows, x[:1], True), ([product], x, False)):
        gradients = [slope for node in nodes for slope in accumulate(g, [(node, g.one)], wrt, limits=True)]
        found = derivatives(g, nodes, wrt, most=1_000)
        assert (count(g, found)["total"] < count(g, gradients)["total"]) == tangents
        assert found == gradients or tangents
        assert derivatives(g, nodes, wrt, most=1) == gradients
        at = {f"x{i}": 0.3 + 0.1 * i for i in range(6)}
        assert evaluate(g, found, at) == pytest.approx(evaluate(g, gradients, at), rel=1e-14)


@pytest.mark.parametrize("divides", [False, True])
def test_derivatives_keep_limits(g: Graph, divides: bool) -> None:
    """A power that vanishes with its factor leaves rows to gradients, which know the limit; a divisor does not."""
    x, y = g.symbol("x", SPEED), g.symbol("y", SPEED)
    root = g.sqrt(g.mul(g.square(x), g.add(g.one, g.square(y))))
    rows = [
        g.div(g.mul(g.constant(k), y), root) if divides else g.mul(g.mul(g.constant(k), x), root) for k in range(2, 9)
    ]
    gradients = [slope for node in rows for slope in accumulate(g, [(node, g.one)], [x, y], limits=True)]
    found = derivatives(g, rows, [x, y], most=1_000)
    assert (found != gradients) == divides
    if not divides:
        with np.errstate(invalid="ignore", divide="ignore"):
            assert evaluate(g, found, {"x": 0.0, "y": 0.5}, Ieee) == [0.0] * len(found)
