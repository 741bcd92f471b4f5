# SPDX-License-Identifier: BSD-3-Clause
"""The graph against mpmath: random programs of every operation, done directly and through the graph's rules.

A program is a list of steps ``(operation, operand, ...)``; an operand is the number of an earlier value, the first of
which are three symbols, π and three constants.  `sensible` does the steps one after the other in mpmath, by no rules,
and leaves out those that this state allows no digits for: outside a domain, or near a pole or a jump, where rounding
decides.
"""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep import examples

from kanecore.functions.splines import Spline
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import COORDINATE, Given, Graph, Op
from kanecore.graph.sympy_bridge import FromSympy, to_sympy

mp = mpmath.mp
DIGITS = 50
NAMES = "xyz"
CONSTANTS = (2, -3, Fraction(1, 7))
NEAR = mpmath.mpf("1e-2")  # to a pole, a jump, the edge of a domain
LARGE = mpmath.mpf("1e4")

Step = tuple[Any, ...]
Program = list[Step]

# What each operation computes, and whether it may: direct(values) with operands as mpmath numbers.
LEAVES = {Op.SYM, Op.PI, Op.LAST_STEP, Op.CONST}
UNARY: dict[str, Callable[[Any], Any]] = {
    Op.NEG: lambda a: -a,
    Op.SQRT: mp.sqrt,
    Op.EXP: mp.exp,
    Op.LOG: mp.log,
    Op.SIN: mp.sin,
    Op.COS: mp.cos,
    Op.TAN: mp.tan,
    Op.ASIN: mp.asin,
    Op.ACOS: mp.acos,
    Op.ATAN: mp.atan,
    Op.SINH: mp.sinh,
    Op.COSH: mp.cosh,
    Op.TANH: mp.tanh,
    Op.ASINH: mp.asinh,
    Op.ACOSH: mp.acosh,
    Op.ATANH: mp.atanh,
    Op.ERF: mp.erf,
    Op.ABS: abs,
    Op.SIGN: mp.sign,
    Op.FLOOR: mp.floor,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.POW: lambda a, b: a**b,
    Op.ATAN2: mp.atan2,
    Op.MIN: min,
    Op.MAX: max,
    Op.LT: lambda a, b: mp.mpf(a < b),
    Op.LE: lambda a, b: mp.mpf(a <= b),
    Op.EQ: lambda a, b: mp.mpf(a == b),
}
KNOTS = (-1.5, -0.25, 0.5, 1.75)
STREET = Spline(KNOTS, (0.5, -1.0, 0.25, 2.0))
HILLS = Spline(KNOTS, KNOTS[:3], [[0.5, 1.5, -1.0], [2.0, 0.0, 0.75], [-0.5, 1.0, 1.0], [0.0, 0.25, -2.0]])
# Values and slopes at either end, by Hermite's polynomials in (x − x₀) / h.
HERMITE = ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))


def weights(knots: Sequence[float], x: Any, order: int) -> tuple[int, list[Any]]:
    """The piece that holds x, and what a derivative there takes of f and f' at one end, and of those at the other."""
    i = max(k for k in range(len(knots) - 1) if k == 0 or knots[k] <= x)
    h = mp.mpf(knots[i + 1]) - knots[i]
    s = (x - knots[i]) / h
    sums = (sum(a * mp.ff(n, order) * s ** max(n - order, 0) for n, a in enumerate(p)) for p in HERMITE)
    return i, [total * h ** (k % 2 - order) for k, total in enumerate(sums)]


def street(order: int) -> Callable[[Any], Any]:
    def value(x: Any) -> Any:
        i, w = weights(KNOTS, x, order)
        return sum(a * mp.mpf(b) for a, b in zip(w, STREET.hermite[i : i + 2].flat, strict=True))

    return value


def hills(orders: tuple[int, int]) -> Callable[[Any, Any], Any]:
    def value(x: Any, y: Any) -> Any:
        (i, v), (j, w) = weights(KNOTS, x, orders[0]), weights(KNOTS[:3], y, orders[1])
        four = itertools.product(range(4), repeat=2)
        return sum(v[a] * w[b] * mp.mpf(HILLS.hermite[i + a // 2, j + b // 2, a % 2, b % 2]) for a, b in four)

    return value


# Functions that are given by data.
GIVEN: dict[Given, Callable[..., Any]] = {
    **{Given("street", STREET, (k,)): street(k) for k in range(3)},
    **{Given("hills", HILLS, orders): hills(orders) for orders in ((0, 0), (1, 0), (1, 1), (0, 2))},
}
CHOICES = (Op.LT, Op.LE, Op.EQ, Op.MIN, Op.MAX)
DOMAINS: dict[Any, Callable[..., bool]] = {
    Op.SQRT: lambda a: a > NEAR,
    Op.LOG: lambda a: a > NEAR,
    Op.EXP: lambda a: abs(a) < 9,
    Op.SINH: lambda a: abs(a) < 9,
    Op.COSH: lambda a: abs(a) < 9,
    Op.TAN: lambda a: abs(mp.cos(a)) > NEAR,
    Op.ASIN: lambda a: abs(a) < 1 - NEAR,
    Op.ACOS: lambda a: abs(a) < 1 - NEAR,
    Op.ATANH: lambda a: abs(a) < 1 - NEAR,
    Op.ACOSH: lambda a: a > 1 + NEAR,
    Op.ABS: lambda a: abs(a) > NEAR,
    Op.SIGN: lambda a: abs(a) > NEAR,
    Op.FLOOR: lambda a: abs(a - mp.nint(a)) > NEAR,
    Op.DIV: lambda a, b: abs(b) > NEAR,
    Op.POW: lambda a, b: a > NEAR and abs(b) < 9,
    Op.ATAN2: lambda a, b: abs(a) > NEAR or b > NEAR,
    **dict.fromkeys(CHOICES, lambda a, b: abs(a - b) > NEAR),
    **dict.fromkeys(GIVEN, lambda *x: all(abs(a) < 9 and abs(a - knot) > NEAR for a in x for knot in KNOTS)),
}
EXPONENTS = (*range(-3, 5), Fraction(1, 2), Fraction(-3, 2), Fraction(5, 2), Fraction(1, 3), Fraction(-2, 7))

index = st.one_of(st.integers(0, 40), st.integers(-3, -1))  # any value; one of the last
comparisons = st.sampled_from((Op.LT, Op.LE, Op.EQ))
numbers = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=7))
states = st.lists(st.fractions(-2, 2, max_denominator=97).filter(bool), min_size=3, max_size=3)
steps = st.one_of(
    *(st.tuples(st.just(op), index) for op in UNARY),
    *(st.tuples(st.just(op), index, index) for op in BINARY),
    *(st.tuples(st.just(f), *[index] * f.data.n_arguments) for f in GIVEN),
    st.tuples(st.just("power"), index, st.sampled_from(EXPONENTS)),
    st.tuples(st.just(Op.SELECT), index, index, comparisons, index, index),
    # of a value with itself
    *(index.map(lambda i, op=op: (op, i, i)) for op in CHOICES),
    st.tuples(index, comparisons, index, index).map(lambda s: (Op.SELECT, s[0], *s)),
    st.tuples(st.just(Op.CONST), numbers),
)
programs = st.lists(steps, min_size=3, max_size=20)


def direct(step: Step, z: Sequence[Any]) -> Any:
    """The value of a step from the values of those before it."""
    op, *arguments = step
    if op is Op.CONST:
        return real(arguments[0])
    if op == "power":
        return z[arguments[0] % len(z)] ** real(arguments[1])
    if op is Op.SELECT:
        a, b, yes, no = (z[k % len(z)] for k in (*arguments[:2], *arguments[3:]))
        return yes if BINARY[arguments[2]](a, b) else no
    return {**UNARY, **BINARY, **GIVEN}[op](*(z[k % len(z)] for k in arguments))


def allowed(step: Step, z: Sequence[Any]) -> bool:
    """Whether this state gives the step a value that rounding leaves as it is."""
    op, *arguments = step
    if op is Op.CONST:
        return True
    if op == "power":
        base, exponent = z[arguments[0] % len(z)], Fraction(arguments[1])
        return bool(base > NEAR or (exponent.denominator == 1 and (exponent >= 0 or base < -NEAR)))
    if op is Op.SELECT:
        a, b, op, *_ = arguments
        arguments = [a, b]
    places = [k % len(z) for k in arguments]
    if op in CHOICES and len(set(places)) == 1:
        return True  # of a value with itself
    return op not in DOMAINS or bool(DOMAINS[op](*(z[k] for k in places)))


def real(value: Any) -> Any:
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, (int, Fraction)) else value


def beginning(state: Sequence[Any]) -> list[Any]:
    return [*map(real, state), +mp.pi, *map(real, CONSTANTS)]


def sensible(program: Program, state: Sequence[Fraction]) -> tuple[Program, list[Any]]:
    """The steps that this state allows, and all values: those of `beginning`, and theirs.

    Where the first operand of a step does not do, the next one is tried.
    """
    kept, z = [], beginning(state)
    for op, *arguments in program:
        tries = (
            [arguments] if op is Op.CONST else [[(arguments[0] + i) % len(z), *arguments[1:]] for i in range(len(z))]
        )
        for tried in tries:
            step = (op, *tried)
            if allowed(step, z) and abs(value := direct(step, z)) < LARGE:
                kept.append(step)
                z.append(value)
                break
    return kept, z


def rerun(program: Program, state: Sequence[Any]) -> list[Any]:
    """The values at another state, the steps being given."""
    z = beginning(state)
    for step in program:
        z.append(direct(step, z))
    return z


def on_graph(g: Graph, program: Program) -> list[int]:
    z = [*(g.symbol(name, COORDINATE) for name in NAMES), g.pi, *map(g.constant, CONSTANTS)]
    for op, *arguments in program:
        if op is Op.CONST:
            z.append(g.constant(arguments[0]))
        elif op == "power":
            z.append(g.power(z[arguments[0] % len(z)], arguments[1]))
        elif op is Op.SELECT:
            a, b, yes, no = (z[k % len(z)] for k in (*arguments[:2], *arguments[3:]))
            z.append(g.select(g.binary(arguments[2], a, b), yes, no))
        else:
            z.append(g.rebuild((op,), [z[k % len(z)] for k in arguments]))
    return z


def values(g: Graph, roots: Sequence[int], state: Sequence[Any], **more: Any) -> list[Any]:
    return evaluate(g, roots, {**dict(zip(NAMES, state, strict=True)), **more}, mp)


def assert_equal(found: Sequence[Any], expected: Sequence[Any], tolerance: str = "1e-28") -> None:
    size = max(1, *map(abs, expected))
    for a, b in zip(found, expected, strict=True):
        assert abs(a - b) <= mp.mpf(tolerance) * size


def test_every_operation_is_drawn() -> None:
    """An operation that is new needs a line above."""
    operations = {value for name, value in vars(Op).items() if name.isupper()}
    assert operations == {*LEAVES, *UNARY, *BINARY, Op.SELECT}


@pytest.mark.long
def test_most_steps_are_sensible() -> None:
    """What is left out must not be what is tested: of each operation, some steps remain."""
    remain: dict[Any, int] = dict.fromkeys([*UNARY, *BINARY, *GIVEN, "power", Op.SELECT], 0)

    @settings(max_examples=300)
    @given(programs, states)
    def draw(program: Program, state: list[Fraction]) -> None:
        for step in sensible(program, state)[0]:
            if step[0] in remain:
                remain[step[0]] += 1

    draw()
    assert min(remain.values()) >= 1, remain


@examples(1000)
@given(programs, states)
def test_rules_keep_the_value(program: Program, state: list[Fraction]) -> None:
    """Every step is compared, not only the last."""
    with mpmath.workdps(DIGITS):
        program, expected = sensible(program, state)
        g = Graph()
        nodes = on_graph(g, program)
        found = values(g, nodes, state)
        assert_equal(found, expected)
        # a node knows what it depends on: without values for the rest it keeps its own
        fixed = [(i, v) for i, v in zip(nodes, found, strict=True) if not g.depends[i]]
        assert evaluate(g, [i for i, _ in fixed], {}, mp) == [v for _, v in fixed]
        # operands are older than their node, and equal expressions are one node
        assert all(k < i for i in range(len(g.nodes)) for k in g.operands(i))
        assert len(set(g.nodes)) == len(g.nodes)
        assert on_graph(g, program) == nodes


@examples(400)
@given(programs, states)
def test_float64_agrees_with_mpmath(program: Program, state: list[Fraction]) -> None:
    with mpmath.workdps(DIGITS):
        program, expected = sensible(program, state)
    g = Graph()
    nodes = on_graph(g, program)
    found = evaluate(g, nodes, dict(zip(NAMES, state, strict=True)))
    assert all(isinstance(value, float) for value in found)
    assert_equal(found, expected, "1e-8")


@examples(200)
@given(programs, programs, states)
def test_copies_keep_the_value(program: Program, other: Program, state: list[Fraction]) -> None:
    with mpmath.workdps(DIGITS):
        (program, expected), (other, _) = sensible(program, state), sensible(other, state)
        g = Graph()
        nodes = on_graph(g, program)
        n_nodes = len(g.nodes)

        clone = g.clone()
        on_graph(clone, other)  # grows by itself
        assert len(g.nodes) == n_nodes
        assert (clone.nodes[:n_nodes], clone.depends[:n_nodes]) == (g.nodes, g.depends)
        assert_equal(values(clone, nodes, state), expected)

        elsewhere = Graph()
        on_graph(elsewhere, other)  # so that numbers differ
        copied = elsewhere.copy(g, nodes, {})
        assert_equal(values(elsewhere, copied, state), expected)
        assert [elsewhere.depends[i] for i in copied] == [g.depends[i] for i in nodes]


@examples(200)
@given(programs, states, index)
def test_substitution_keeps_the_value(program: Program, state: list[Fraction], where: int) -> None:
    """Of a symbol by an expression, and of an expression by a symbol, that have its value."""
    with mpmath.workdps(DIGITS):
        program, expected = sensible(program, state)
        g = Graph()
        nodes = on_graph(g, program)
        x, y = nodes[:2]
        shifted = g.add(y, g.constant(state[0] - state[1]))
        replaced = g.substitute(nodes, {x: shifted})
        assert_equal(values(g, replaced, state), expected)
        assert x not in g.below(replaced)

        k = where % len(nodes)
        w = g.symbol("w", COORDINATE)
        replaced = g.substitute(nodes, {nodes[k]: w})
        assert replaced[k] == w
        assert_equal(values(g, replaced, state, w=expected[k]), expected)


@examples(400)
@given(programs, states)
def test_derivatives_are_mpmaths(program: Program, state: list[Fraction]) -> None:
    """Forward and reverse, against mpmath's differences of the steps done directly."""
    with mpmath.workdps(DIGITS):
        program, _ = sensible(program, state)
        g = Graph()
        nodes = on_graph(g, program)
        root, seeds = nodes[-1], nodes[:3]
        at = beginning(state)[:3]

        def last(*x: Any) -> Any:
            return rerun(program, x)[-1]

        expected = [mp.diff(last, at, [int(i == k) for i in range(3)]) for k in range(3)]
        forward = values(g, [Tangent(g, {s: g.one}).of(root) for s in seeds], state)
        reverse = values(g, accumulate(g, [(root, g.one)], seeds), state)
        assert_equal(forward, expected, "1e-15")
        assert_equal(reverse, forward)


@examples(100)
@given(programs, states)
def test_weighted_derivatives_add_up(program: Program, state: list[Fraction]) -> None:
    """Σ w_i ∂y_i/∂x in one pass is the sum of the passes; the weights are not differentiated."""
    with mpmath.workdps(DIGITS):
        program, _ = sensible(program, state)
        g = Graph()
        nodes = on_graph(g, program)
        weights, wrt = list(zip(nodes[-3:], nodes[:3], strict=True)), nodes[:3]
        together = accumulate(g, weights, wrt)
        alone = [accumulate(g, [(y, g.one)], wrt) for y, _ in weights]
        sums = [g.sum(g.mul(w, d[j]) for (_, w), d in zip(weights, alone, strict=True)) for j in range(3)]
        assert_equal(values(g, together, state), values(g, sums, state))


@examples(200)
@given(programs, states, st.booleans())
def test_sympy_and_back_keeps_the_value(program: Program, state: list[Fraction], nested: bool) -> None:
    """Graph → SymPy, evaluated by mpmath; → graph again.

    Comparisons stand in conditions only, as in SymPy, which has no value for functions that are data.
    """
    program = [step for step in program[:10] if step[0] not in (Op.LT, Op.LE, Op.EQ, *GIVEN)]
    symbols = dict(zip(NAMES, sm.symbols("x y z", real=True), strict=True))
    with mpmath.workdps(DIGITS):
        program, expected = sensible(program, state)
        g = Graph()
        nodes = on_graph(g, program)
        intermediates, expressions = to_sympy(g, nodes, symbols, nested)
        for s, inner in reversed(intermediates):
            expressions = [e.xreplace({s: inner}) for e in expressions]
        evaluated = sm.lambdify(list(symbols.values()), expressions, "mpmath")(*expected[:3])
        assert_equal(evaluated, expected)

        again = Graph()
        read = FromSympy(again, lambda s: again.symbol(str(s), COORDINATE))
        assert_equal(values(again, [read(e) for e in expressions], state), expected)


@pytest.mark.parametrize("value", [0.5, -1.75, 0.1, 1.375])
@pytest.mark.parametrize("op", sorted(UNARY))
def test_floats_fold_as_doubles(op: str, value: float) -> None:
    """A constant that is a double folds to what double arithmetic gives, within two ulps; else it raises."""
    g = Graph()
    exact = UNARY[op](mp.mpf(value))
    if isinstance(exact, mpmath.mpc) and op is not Op.SQRT:
        with pytest.raises(ValueError, match=r"domain|expected a"):
            g.rebuild((op,), [g.constant(value)])
    elif not isinstance(exact, mpmath.mpc):
        folded = g.value(g.rebuild((op,), [g.constant(value)]))
        assert folded is not None
        assert float(folded) == pytest.approx(float(exact), rel=5e-16)
