# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.expression_graph: equal expressions are one node; its rules; their values: test_random_programs.py."""

import math
from fractions import Fraction

import pytest

from kanecore.emit.c_target import C
from kanecore.graph.calculus import Tangent
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, TIME, Graph, Op
from kanecore.graph.intervals import within
from kanecore.graph.magnitudes import Bounds
from kanecore.graph.operations import OPERATIONS, Operation
from kanecore.program.instructions import Compute, Operand, Value


@pytest.fixture
def g() -> Graph:
    return Graph()


def symbols(g: Graph, names: str = "x y z") -> list[int]:
    return [g.symbol(name, COORDINATE) for name in names.split()]


# ------------------------------------------------------------------------------------------------------ nodes
def test_equal_expressions_are_one_node(g: Graph) -> None:
    x, y, z = symbols(g)
    assert g.symbol("x", COORDINATE) == x
    assert g.add(g.mul(x, y), z) == g.add(z, g.mul(y, x))
    assert g.sin(g.add(x, y)) == g.sin(g.add(y, x))
    assert g.constant(1.0) == g.constant(Fraction(1)) == g.constant(1) == g.one
    assert g.constant(-0.0) == g.zero == 0


def test_operands_are_older_than_their_node(g: Graph) -> None:
    x, y, z = symbols(g)
    g.div(g.sin(g.mul(x, y)), g.sqrt(g.add(z, g.pow(x, y))))
    assert all(k < i for i in range(len(g.nodes)) for k in g.operands(i))


def test_constants_must_be_finite(g: Graph) -> None:
    for value in (math.inf, -math.inf, math.nan):
        with pytest.raises(OverflowError, match="not a finite number"):
            g.constant(value)


def test_depends_is_the_union_of_levels(g: Graph) -> None:
    m, q, u, t = (g.symbol(*s) for s in (("m", PARAMETER), ("q", COORDINATE), ("u", SPEED), ("t", TIME)))
    assert g.depends[g.mul(m, g.sin(q))] == PARAMETER | COORDINATE
    assert g.depends[g.select(g.binary(Op.LT, t, q), u, m)] == PARAMETER | COORDINATE | SPEED | TIME
    assert g.depends[g.add(g.pi, g.one)] == 0


def test_clone_grows_apart(g: Graph) -> None:
    x, y, _ = symbols(g)
    other = g.clone()
    total = other.add(x, y)
    assert total == len(g.nodes)
    assert g.mul(x, y) == total
    assert (other.nodes[total][0], g.nodes[total][0]) == (Op.ADD, Op.MUL)


def test_copy_keeps_levels_and_replaces(g: Graph) -> None:
    x, y, z = symbols(g)
    root = g.add(g.mul(x, y), g.sin(z))
    other = Graph()
    (image,) = other.copy(g, [root], {z: 0})
    assert other.nodes[image] == (Op.MUL, other.symbol("x", 0), other.symbol("y", 0))
    assert other.depends[image] == COORDINATE
    assert g.substitute([root], {x: g.zero, z: y}) == [g.sin(y)]


def test_below_and_above(g: Graph) -> None:
    x, y, z = symbols(g)
    product = g.mul(x, y)
    root = g.sin(product)
    assert g.below([root]) == [x, y, product, root]
    assert g.below([root], stop={product: None}) == [product, root]
    assert list(g.symbols([root, z])) == ["x", "y", "z"]
    assert g.above(x) == {x, product, root}


# ------------------------------------------------------------------------------------------------------ rules
def test_sums(g: Graph) -> None:
    x, y, _ = symbols(g)
    assert g.add(x, 0) == g.add(0, x) == x
    assert g.sub(x, x) == g.add(x, g.neg(x)) == 0
    assert g.sub(0, x) == g.neg(x)
    assert g.neg(g.neg(x)) == x
    assert g.add(x, g.neg(y)) == g.sub(x, y)
    assert g.sub(y, x) == g.neg(g.sub(x, y))
    assert g.sum([]) == 0
    assert g.value(g.add(g.constant(Fraction(1, 3)), g.constant(Fraction(1, 6)))) == Fraction(1, 2)


def test_products_and_quotients(g: Graph) -> None:
    x, y, _ = symbols(g)
    assert g.mul(x, 0) == g.div(0, x) == 0
    assert g.mul(x, 1) == g.div(x, 1) == x
    assert g.div(x, x) == 1
    assert g.mul(g.neg(x), g.neg(y)) == g.mul(x, y)
    assert g.mul(g.constant(-2), x) == g.neg(g.mul(g.constant(2), x))
    assert g.div(g.neg(x), y) == g.div(x, g.neg(y)) == g.neg(g.div(x, y))
    assert g.div(x, g.constant(3)) == g.mul(g.constant(Fraction(1, 3)), x)
    with pytest.raises(ZeroDivisionError, match="identically zero"):
        g.div(x, g.sub(y, y))


def test_powers_are_unrolled(g: Graph) -> None:
    x, y, _ = symbols(g)
    square = g.mul(x, x)
    assert g.power(x, 0) == 1
    assert g.power(x, 5) == g.mul(x, g.mul(square, square))
    assert g.power(x, -2) == g.div(1, square)
    assert g.power(x, Fraction(1, 2)) == g.power(x, 0.5) == g.sqrt(x)
    assert g.nodes[g.pow(x, g.constant(Fraction(1, 3)))][0] is Op.POW
    assert g.pow(x, g.constant(2)) == square
    assert g.nodes[g.pow(x, y)] == (Op.POW, x, y)


def test_exact_roots(g: Graph) -> None:
    assert g.value(g.sqrt(g.constant(Fraction(9, 4)))) == Fraction(3, 2)
    assert g.nodes[g.sqrt(g.constant(2))][0] is Op.SQRT
    assert g.value(g.sqrt(g.constant(0.3))) == math.sqrt(0.3)


def test_functions_of_constants(g: Graph) -> None:
    assert (g.sin(0), g.cos(0), g.call(Op.EXP, 0), g.call(Op.ASIN, 0)) == (0, 1, 1, 0)
    assert g.value(g.sin(g.constant(0.5))) == math.sin(0.5)
    assert g.value(g.sin(g.constant(2))) is None, "sin 2 stays exact until C is written"
    assert g.value(g.call(Op.ABS, g.constant(-3))) == 3
    assert g.value(g.call(Op.SIGN, g.constant(Fraction(-1, 2)))) == -1
    for op, value in ((Op.LOG, -0.3), (Op.ASIN, 1.5), (Op.EXP, 1000.5)):
        with pytest.raises((ValueError, OverflowError)):
            g.call(op, g.constant(value))


def test_parity(g: Graph) -> None:
    x, _, _ = symbols(g)
    minus = g.neg(x)
    assert g.sin(minus) == g.neg(g.sin(x))
    assert g.cos(minus) == g.cos(x)
    assert g.call(Op.ABS, minus) == g.call(Op.ABS, x)
    assert g.call(Op.SIGN, minus) == g.neg(g.call(Op.SIGN, x))
    assert g.call(Op.TANH, g.constant(-2)) == g.neg(g.call(Op.TANH, g.constant(2)))


def test_choices(g: Graph) -> None:
    x, y, z = symbols(g)
    assert g.select(x, y, y) == y
    assert g.select(1, y, z) == y
    assert g.select(0, y, z) == z
    assert g.binary(Op.MIN, x, x) == x
    assert g.binary(Op.MAX, g.constant(2), g.constant(3)) == g.constant(3)
    assert g.binary(Op.LT, g.constant(2), g.constant(3)) == 1


def test_one_row_makes_an_operation(g: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folding, value, derivative, bounds and C."""

    def partials(g: Graph, i: int, a: int) -> list[tuple[int, int]]:
        root = g.div(g.constant(-2), g.sqrt(g.pi))
        return [(a, g.mul(root, g.call(Op.EXP, g.neg(g.square(a)))))]

    row = Operation("erfc", 1, at_zero=1, bounds=within(0.0, 2.0), partials=partials, c="erfc")
    monkeypatch.setitem(OPERATIONS, "erfc", row)
    (x, *_) = symbols(g)
    node = g.call("erfc", x)
    assert g.call("erfc", g.zero) == g.one
    assert g.value(g.call("erfc", g.constant(0.5))) == math.erfc(0.5)
    slope = Tangent(g, {x: g.one}).of(node)
    at, below = evaluate(g, [node, slope], {"x": 0.3}), evaluate(g, [node], {"x": 0.3 - 1e-7})
    assert at[0] == math.erfc(0.3)
    assert at[1] == pytest.approx((at[0] - below[0]) / 1e-7, rel=1e-6)
    assert Bounds(g)(node) == 2.0
    assert C().compute(Compute("erfc", Value(2), (Operand(Value(1)),))) == "const double z2 = erfc(z1);"
