# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.sympy_bridge: both ways, every function, and errors that name what is not known."""

import functools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sm
from hypothesis import given
from hypothesis import strategies as st
from sweep import examples

from kanecore.errors import ModelError
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, Graph
from kanecore.graph.sympy_bridge import FromSympy, to_sympy

x, y, z = SYMBOLS = sm.symbols("x y z", real=True)
STATE = {"x": Fraction(3, 7), "y": Fraction(-5, 11), "z": Fraction(8, 13)}
POINT = {s: sm.Rational(v.numerator, v.denominator) for s, v in zip(SYMBOLS, STATE.values(), strict=True)}
mp = mpmath.mp

EXPRESSIONS = [
    x + y - z,
    3 * x / (7 * y),
    -x * y**-2,
    (x + y) / (x - z),
    2 / x,
    sm.sin(x) * sm.cos(y) + sm.tan(z),
    sm.asin(x) + sm.acos(y) + sm.atan(z),
    sm.atan2(x, y) + sm.atan2(y, -z),
    sm.exp(x) * sm.log(z),
    sm.sinh(x) + sm.cosh(y) * sm.tanh(z),
    sm.asinh(x) + sm.acosh(2 + x) * sm.atanh(y),
    sm.erf(x) * sm.erf(3 * y) + sm.erfc(y) + sm.sinc(z) + sm.sinc(0 * z),
    sm.sec(x) + sm.csc(y) * sm.cot(z) + sm.sech(x) + sm.csch(y) * sm.coth(z),
    sm.asec(2 + x) + sm.acsc(2 + y) * sm.acot(y) + sm.asech(z) + sm.acsch(x) * sm.acoth(2 + z),
    sm.Heaviside(x) * z + sm.Heaviside(y) * x + sm.Heaviside(x - x * y / y, 1) + sm.Heaviside(y, 0),
    sm.floor(7 * x) + sm.ceiling(7 * y) * sm.frac(9 * z) + sm.Mod(z, x) + sm.Mod(y, x),
    sm.sqrt(x) + x ** sm.Rational(3, 2) + z ** sm.Rational(-5, 2),
    x ** sm.Rational(1, 3) * z**-1.25,
    x**z + sm.E**y,
    x**7 - y**-3,
    sm.Abs(y) * sm.sign(y),
    sm.Min(x, y, z) + 2 * sm.Max(x, y),
    sm.pi * x + sm.E * y + sm.GoldenRatio * z,
    sm.Rational(22, 7) * x + sm.Float("0.1", 30) * y + 4,
    sm.Piecewise((x, x > y), (y, True)),
    sm.Piecewise((x, x < y), (y, y <= z), (z, True)),
    sm.Piecewise((x, (x > 0) & (y > 0)), (y, (x > 1) | (y < 0)), (z, True)),
    sm.Piecewise((x, sm.Not(sm.And(x > 0, z > 0))), (y, sm.Ne(x, y)), (z, True)),
    sm.Piecewise((x, sm.Eq(x, y)), (y, sm.Or(x > y, sm.And(y > z, x > z))), (z, True)),
]


def read(e: Any) -> tuple[Graph, int]:
    g = Graph()
    return g, FromSympy(g, lambda s: g.symbol(str(s), COORDINATE))(e)


def value(g: Graph, node: int) -> Any:
    with mpmath.workdps(40):
        return evaluate(g, [node], STATE, mp)[0]


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_value_is_sympys_there_and_back(e: Any) -> None:
    """SymPy → graph → SymPy → graph, nested or with intermediates, which are put back in reverse."""
    g, node = read(e)
    with mpmath.workdps(40):
        expected = mp.mpf(sm.N(e.subs(POINT), 40))
        assert abs(value(g, node) - expected) < mp.mpf("1e-14") * max(1, abs(expected))  # a float is a double
    for nested in (False, True):
        intermediates, (back,) = to_sympy(g, [node], {str(s): s for s in SYMBOLS}, nested)
        assert not (nested and intermediates)
        for s, inner in reversed(intermediates):
            back = back.xreplace({s: inner})
        assert abs(value(*read(back)) - value(g, node)) < mp.mpf("1e-14")


leaves = st.one_of(
    st.sampled_from(SYMBOLS),
    st.integers(-4, 4).map(sm.Integer),
    st.fractions(-2, 2, max_denominator=5).map(lambda f: sm.Rational(f.numerator, f.denominator)),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: ab[0] + ab[1]),
        st.tuples(inner, inner).map(lambda ab: ab[0] * ab[1]),
        inner.map(sm.sin),
        inner.map(sm.cos),
        inner.map(lambda a: sm.sqrt(1 + a**2)),
        inner.map(lambda a: 1 / (2 + sm.sin(a))),
        inner.map(lambda a: a**3),
    ),
    max_leaves=12,
)


@examples(60)
@given(trees)
def test_any_expression(e: Any) -> None:
    g, node = read(e)
    with mpmath.workdps(40):
        expected = mp.mpf(sm.N(e.subs(POINT), 40))
        assert abs(value(g, node) - expected) <= mp.mpf("1e-30") * (1 + abs(expected))
        (back,) = to_sympy(g, [node], {str(s): s for s in SYMBOLS}, nested=True)[1]
        assert abs(mp.mpf(sm.N(back.subs(POINT), 40)) - expected) <= mp.mpf("1e-30") * (1 + abs(expected))


def test_every_subexpression_is_read_once() -> None:
    """And nesting is not limited by what people write."""
    inner = sm.sin(x * y)
    g, _ = read(inner + inner**2 + sm.cos(inner))
    assert sum(node[0] == "sin" for node in g.nodes) == 1
    g, node = read(functools.reduce(lambda e, _: sm.sin(e) + 1, range(90), x))
    assert len(g.below([node])) == 182


def test_numbers_stay_exact() -> None:
    g, node = read(sm.Rational(1, 3))
    assert g.value(node) == Fraction(1, 3)
    for number in (2, 2.0, np.int64(2), np.float32(2), Fraction(2)):
        g, node = read(number)
        assert g.value(node) == 2
    g, node = read(sm.Float(0.1))
    assert g.value(node) == 0.1
    assert to_sympy(g, [node], {})[1] == [sm.Float(0.1)]


def test_intermediates_avoid_the_users_names() -> None:
    g = Graph()
    a, b = g.symbol("a", COORDINATE), g.symbol("b", COORDINATE)
    shared = g.mul(a, b)
    used = {"a": sm.Symbol("z1"), "b": sm.Symbol("z2")}
    intermediates, (e,) = to_sympy(g, [g.add(g.sin(shared), shared)], used)
    assert [str(s) for s, _ in intermediates] == ["z3"]
    assert e == sm.sin(sm.Symbol("z3")) + sm.Symbol("z3")


@pytest.mark.parametrize(
    ("e", "words"),
    [
        (sm.gamma(x), ["gamma", "gamma(x)"]),
        (sm.DiracDelta(x), ["DiracDelta"]),
        (sm.besselj(0, x), ["besselj"]),
        (sm.Integral(x, y), ["Integral"]),
        (sm.MatrixSymbol("X", 3, 3)[0, 0], ["MatrixElement", "X[0, 0]"]),
        (sm.Piecewise((x, x > 0)), ["no value if all conditions are false", "(value, True)"]),
        (sm.Piecewise((x, sm.Contains(x, sm.Interval(0, 1))), (y, True)), ["condition", "Contains"]),
        (sm.zoo, ["zoo", "finite"]),
        (sm.nan, ["nan", "finite"]),
        (sm.oo * x, ["oo", "finite"]),
        (sm.I * x, ["I", "finite real"]),
        (sm.asin(2) * x, ["asin(2)", "finite real"]),
        (sm.Pow(-2, sm.Rational(1, 3)), ["(-2)**(1/3)", "finite real"]),
        (sm.exp(1000), ["exp(1000)", "finite"]),
        (sm.Float(1e200) * sm.exp(600), ["exp(600)", "finite"]),
        (sm.Integer(10) ** 400, ["1000", "finite"]),
        (sm.Float("1e400"), ["finite"]),
        (1 / sm.Add(x, -x, evaluate=False), ["identically zero"]),
        (sm.true, ["True"]),
        ("x", ["x", "no SymPy expression"]),
        ([x], ["[x]", "no SymPy expression"]),
        (sm.Matrix([x]), ["Matrix([[x]])", "no SymPy expression"]),
        (None, ["None"]),
    ],
    ids=str,
)
def test_what_is_not_known_names_itself(e: Any, words: list[str]) -> None:
    g = Graph()
    reader = FromSympy(g, lambda s: g.symbol(str(s), COORDINATE))
    with pytest.raises(ModelError) as error, reader.at("the mass of body b"):
        reader(e)
    assert reader.where == "the expression"
    for word in [*words, "the mass of body b"]:
        assert word in str(error.value)
