# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.evaluation: operations counted as the design says, values in any precision; sampling."""

import math
from fractions import Fraction

import mpmath
import pytest

from kanecore.graph.evaluation import count, evaluate
from kanecore.graph.expression_graph import COORDINATE, INPUT, PARAMETER, SPEED, Graph, Op
from kanecore.graph.random_samples import Sample, samples


@pytest.fixture
def g() -> Graph:
    return Graph()


def test_counts_by_kind(g: Graph) -> None:
    """+ − × ÷ √ one each make the total; negations, sines with cosines, and functions apart."""
    x, y = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE)
    s, c = g.sin(x), g.cos(x)
    roots = [
        g.add(g.mul(s, y), g.mul(c, y)),
        g.neg(g.sub(g.div(x, y), g.sqrt(y))),
        g.call(Op.EXP, g.sin(y)),
        g.binary(Op.ATAN2, x, y),
    ]
    assert count(g, roots) == {
        "add": 2,
        "mul": 2,
        "div": 1,
        "sqrt": 1,
        "total": 6,
        "sincos": 2,
        "functions": 2,
        "neg": 0 if g.nodes[roots[1]][0] is Op.SUB else 1,
    }


def test_what_is_shared_counts_once(g: Graph) -> None:
    x, y = g.symbol("x", COORDINATE), g.symbol("y", COORDINATE)
    product = g.mul(x, y)
    assert count(g, [product, product, g.add(product, x), g.add(product, y)])["total"] == 3


def test_constants_cost_nothing(g: Graph) -> None:
    x = g.symbol("x", COORDINATE)
    angle = g.div(g.pi, g.constant(3))
    assert count(g, [g.mul(g.add(g.sin(angle), g.sqrt(g.constant(2))), x)]) == {
        **dict.fromkeys(("add", "div", "sqrt", "sincos", "functions", "neg"), 0),
        "mul": 1,
        "total": 1,
    }


def test_a_fused_multiply_add_is_two_operations(g: Graph) -> None:
    a, b, c = (g.symbol(n, COORDINATE) for n in "abc")
    assert count(g, [g.add(g.mul(a, b), c)])["total"] == 2


def test_float64_and_mpmath(g: Graph) -> None:
    x = g.symbol("x", COORDINATE)
    root = g.mul(g.pi, g.power(g.add(x, g.constant(Fraction(1, 3))), Fraction(1, 3)))
    (double,) = evaluate(g, [root], {"x": 0.7})
    with mpmath.workdps(40):
        (exact,) = evaluate(g, [root], {"x": Fraction(7, 10)}, mpmath.mp)
        assert abs(exact - mpmath.pi * mpmath.cbrt(mpmath.mpf(31) / 30)) < mpmath.mpf("1e-38")
    assert double == pytest.approx(float(exact), rel=1e-15)


def test_doubles_stay_real(g: Graph) -> None:
    """Python's own ** would give a complex number."""
    x = g.symbol("x", COORDINATE)
    with pytest.raises(ValueError, match="domain"):
        evaluate(g, [g.power(x, Fraction(1, 3))], {"x": -0.5})


def test_a_symbol_without_value(g: Graph) -> None:
    with pytest.raises(KeyError, match="x"):
        evaluate(g, [g.symbol("x", COORDINATE)], {})


def test_samples_depend_on_key_and_seed_only(g: Graph) -> None:
    other = Graph()
    other.symbol("first", SPEED)
    keys = [("p", "m", PARAMETER), ("q", "q1", COORDINATE), ("u", "u1", SPEED), ("r", "F", INPUT)]
    one, two, third = Sample(g, 1), Sample(other, 1), Sample(g, 2)
    for kind, name, level in keys:
        i, j = g.symbol((kind, name), level), other.symbol((kind, name), level)
        assert one(i) == two(j) != third(i)
        assert 0.2 <= abs(one(i)) <= 1.7
        assert one(i) > 0 or level != PARAMETER


def test_sample_is_nan_where_there_is_no_value(g: Graph) -> None:
    m = g.symbol("m", PARAMETER)
    nowhere = g.add(g.call(Op.LOG, g.neg(m)), g.sqrt(g.neg(m)))
    assert math.isnan(Sample(g)(nowhere))
    assert math.isnan(Sample(g)(g.sin(g.power(g.neg(m), Fraction(1, 3)))))
    assert samples(g, [nowhere], 3) == []


def test_samples_are_drawn_until_finite(g: Graph) -> None:
    q = g.symbol("q", COORDINATE)
    node = g.call(Op.ASIN, g.mul(g.constant(2), q))
    found = samples(g, [node], 3)
    assert len(found) == 3
    assert all(abs(s(q)) < 0.5 for s in found)
    assert len({s(q) for s in found}) == 3


def test_half_powers_are_a_root_and_products(g: Graph) -> None:
    found = count(g, [g.power(g.symbol("x", COORDINATE), Fraction(5, 2))])
    assert (found["sqrt"], found["mul"], found["functions"]) == (1, 2, 0)
