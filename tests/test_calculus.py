# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.calculus: forward = reverse = differences at 50 digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.evaluate import evaluate
from kanecore.graph.scalars import COORDINATE, PARAMETER, SPEED, Graph, Op

mp = mpmath.mp
NAMES = "xyz"
# of a safe argument: |sin| keeps what follows in the domain of everything
SMOOTH = (Op.SIN, Op.COS, Op.TAN, Op.ATAN, Op.EXP, Op.SINH, Op.COSH, Op.TANH, Op.ABS)
index = st.integers(0, 10**6)
steps = st.one_of(
    st.tuples(st.sampled_from((*SMOOTH, Op.NEG, "root", "arc", "log", "inverse", "cube", "third")), index),
    st.tuples(st.sampled_from((Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.ATAN2, "quotient", "power")), index, index),
    st.tuples(st.just(Op.SELECT), index, index, index),
)
programs = st.lists(steps, min_size=1, max_size=14)
states = st.lists(st.fractions(-2, 2, max_denominator=997).filter(bool), min_size=3, max_size=3)


def run(g: Graph, program: list[tuple[Any, ...]]) -> list[int]:
    """The steps on a graph, each kept inside its domain; constants among the operands."""
    z = [*(g.symbol(name, COORDINATE) for name in NAMES), g.constant(Fraction(2, 3)), g.constant(-2)]

    def bounded(a: int) -> int:
        return g.sin(a)

    def positive(a: int) -> int:
        return g.add(g.constant(Fraction(3, 2)), g.sin(a))

    for op, *where in program:
        a, *rest = (z[k % len(z)] for k in where)
        if op == "root":
            z.append(g.sqrt(positive(a)))
        elif op == "arc":
            z.append(g.call(Op.ASIN if a % 2 else Op.ACOS, g.mul(g.constant(Fraction(9, 10)), bounded(a))))
        elif op == "log":
            z.append(g.call(Op.LOG, positive(a)))
        elif op == "inverse":
            z.append(g.div(g.one, positive(a)))
        elif op == "cube":
            z.append(g.power(bounded(a), 3))
        elif op == "third":
            z.append(g.power(positive(a), Fraction(-1, 3)))
        elif op == "quotient":
            z.append(g.div(a, positive(rest[0])))
        elif op == "power":
            z.append(g.pow(positive(a), bounded(rest[0])))
        elif op is Op.SELECT:
            z.append(g.select(g.binary(Op.LT, a, rest[0]), rest[1], rest[0]))
        elif op in SMOOTH:
            z.append(g.call(op, bounded(a)))
        else:
            z.append(g.rebuild((op,), [a, *rest]))
    return z


def values(g: Graph, roots: list[int], state: list[Any]) -> list[Any]:
    return evaluate(g, roots, dict(zip(NAMES, state, strict=True)), mp)


def jumps(g: Graph, roots: list[int], state: list[Any]) -> bool:
    """Whether some choice below the roots is a close one, so that a difference would straddle it."""
    pairs = [g.operands(i)[:2] for i in g.below(roots) if g.nodes[i][0] in (Op.LT, Op.MIN, Op.MAX, Op.ATAN2)]
    pairs += [(g.operands(i)[0], 0) for i in g.below(roots) if g.nodes[i][0] in (Op.ABS, Op.ATAN2)]
    flat = values(g, [i for pair in pairs for i in pair], state)
    return any(abs(a - b) < 1e-6 for a, b in zip(flat[::2], flat[1::2], strict=True))


@settings(max_examples=150)
@given(programs, states)
def test_forward_reverse_and_differences_agree(program: list[tuple[Any, ...]], state: list[Fraction]) -> None:
    g = Graph()
    z = run(g, program)
    root, seeds = z[-1], z[:3]
    with mpmath.workdps(50):
        assume(not jumps(g, [root], list(state)))
        x = [mp.mpf(v.numerator) / v.denominator for v in state]
        assume(abs(values(g, [root], x)[0]) < 1e8)
        forward = values(g, [Tangent(g, {s: g.one}).of(root) for s in seeds], x)
        reverse = values(g, accumulate(g, [(root, g.one)], seeds), x)
        for k in range(3):
            h = mp.mpf("1e-12")  # central: error h², 1e-24
            up, down = ([v + s * h * (i == k) for i, v in enumerate(x)] for s in (1, -1))
            difference = (values(g, [root], up)[0] - values(g, [root], down)[0]) / (2 * h)
            size = max(1, abs(difference))
            assert abs(forward[k] - difference) <= mp.mpf("1e-12") * size
            assert abs(forward[k] - reverse[k]) <= mp.mpf("1e-35") * size


@settings(max_examples=50)
@given(programs, states)
def test_weights_add_up(program: list[tuple[Any, ...]], state: list[Fraction]) -> None:
    """Σ w_i ∂y_i/∂x in one pass is the sum of the passes; the weights are not differentiated."""
    g = Graph()
    z = run(g, program)
    weights = [(y, w) for y, w in zip(z[-3:], z[:3], strict=True)]
    together = accumulate(g, weights, z[:3])
    alone = [accumulate(g, [(y, g.one)], z[:3]) for y, _ in weights]
    sums = [g.sum(g.mul(w, d[j]) for (_, w), d in zip(weights, alone, strict=True)) for j in range(3)]
    with mpmath.workdps(50):
        assume(not jumps(g, z, list(state)))
        for a, b in zip(values(g, together, list(state)), values(g, sums, list(state)), strict=True):
            assert abs(a - b) <= mp.mpf("1e-30") * max(1, abs(b))


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
