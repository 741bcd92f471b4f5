# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.graph.linear_equations: solved by structure, and right by exact arithmetic."""

import random
from fractions import Fraction

import mpmath
import pytest
import sympy as sm
from hypothesis import assume, given
from hypothesis import strategies as st
from sweep import examples, part

from kanecore.graph.evaluation import count, evaluate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, Graph, Op
from kanecore.graph.linear_equations import CRAMER_MAX, Singular, solve

mp = mpmath.mp


def solved(entries: list[list[object]], right: list[object], state: dict[str, Fraction]) -> list[Fraction]:
    """Solve on the graph with names as symbols, and evaluate at a state, to 40 digits."""
    g = Graph()
    node = {name: g.symbol(name, COORDINATE) for name in state}

    def read(e: object) -> int:
        return node[e] if isinstance(e, str) else g.constant(e)  # type: ignore[arg-type]

    x = solve(g, [[read(e) for e in row] for row in entries], [read(e) for e in right])
    with mpmath.workdps(60):
        return evaluate(g, x, state, mp)


def check(entries: list[list[object]], right: list[object], state: dict[str, Fraction]) -> None:
    def number(e: object) -> sm.Rational:
        value = Fraction(state[e] if isinstance(e, str) else e)  # type: ignore[arg-type]
        return sm.Rational(value.numerator, value.denominator)

    exact = sm.Matrix([[number(e) for e in row] for row in entries]).LUsolve(sm.Matrix([number(e) for e in right]))
    with mpmath.workdps(60):
        for a, b in zip(solved(entries, right, state), exact, strict=True):
            assert abs(a - mp.mpf(b.p) / b.q) <= mp.mpf("1e-40") * max(1, abs(b))


rationals = st.fractions(-3, 3, max_denominator=9)


@examples(150)
@given(st.integers(1, 5), st.data())
def test_against_exact_elimination(n: int, data: st.DataObject) -> None:
    """Zeros, numbers and symbols in any arrangement; the determinant is far from zero at the state compared at."""
    names = [f"s{k}" for k in range(4)]
    state = dict(zip(names, data.draw(st.lists(rationals, min_size=4, max_size=4)), strict=True))
    entry = st.one_of(st.just(0), st.just(0), rationals, st.sampled_from(names))
    entries = data.draw(st.lists(st.lists(entry, min_size=n, max_size=n), min_size=n, max_size=n))
    right = data.draw(st.lists(entry, min_size=n, max_size=n))
    symbol = dict(zip(names, sm.symbols(names), strict=True))
    general = sm.Matrix([[symbol.get(e, e) for e in row] for row in entries])
    determinant = general.det(method="berkowitz").expand()
    if determinant == 0:
        with pytest.raises(Singular):
            solved(entries, right, state)
        return
    assume(determinant.subs({symbol[k]: v for k, v in state.items()}) != 0)
    try:
        check(entries, right, state)
    except ZeroDivisionError:
        assume(False)  # a pivot that is a single symbol vanishes at this state, in a row of its own


def test_identity_costs_nothing() -> None:
    g = Graph()
    x = [g.symbol(f"x{i}", COORDINATE) for i in range(3)]
    identity = [[int(i == j) for j in range(3)] for i in range(3)]
    assert solve(g, identity, x) == x
    permuted = [identity[1], identity[2], identity[0]]
    assert solve(g, permuted, x) == [x[2], x[0], x[1]]


def test_triangles_need_no_cramer() -> None:
    g = Graph()
    s = [g.symbol(f"s{i}", COORDINATE) for i in range(6)]
    x = solve(g, [[s[0], 0, 0], [s[1], s[2], 0], [s[3], s[4], s[5]]], [1, 1, 1])
    assert count(g, x)["div"] == 3
    assert count(g, x)["total"] <= 11


def test_blocks_stay_apart() -> None:
    """Two coupled pairs of unknowns: two determinants of 2 × 2, and no product over both."""
    g = Graph()
    s = [g.symbol(f"s{i}", COORDINATE) for i in range(8)]
    x = solve(g, [[s[0], s[1], 0, 0], [s[2], s[3], 0, 0], [0, 0, s[4], s[5]], [0, 0, s[6], s[7]]], [1, 1, 1, 1])
    assert set(g.symbols(x[:2])) == {"s0", "s1", "s2", "s3"}
    assert count(g, x)["mul"] == 4


def test_a_block_that_needs_another() -> None:
    a, b, c, d, e = (Fraction(k, 7) for k in (3, -5, 8, 2, -4))
    state = {"a": a, "b": b, "c": c, "d": d, "e": e}
    check([["a", "b", 0], ["c", "d", 0], ["e", "a", "b"]], ["d", "e", "a"], state)


def test_symbolic_pivot_that_vanishes_somewhere_is_not_trusted() -> None:
    """The 2 × 2 block [[a, b], [c, d]] is regular where a = 0; a fixed pivot a would not be."""
    check([["a", "b"], ["c", "d"]], [1, 2], {"a": Fraction(0), "b": Fraction(2), "c": Fraction(3), "d": Fraction(5)})


@pytest.mark.parametrize("n", [CRAMER_MAX, CRAMER_MAX + 2])
def test_full_blocks(n: int) -> None:
    draw = random.Random(n)
    names = [[f"s{i}{j}" for j in range(n)] for i in range(n)]
    state = {name: Fraction(draw.randint(-50, 50), 7) for row in names for name in row}
    check(names, [Fraction(draw.randint(-9, 9)) for _ in range(n)], state)


@pytest.mark.long
def test_a_large_block_is_regular_wherever_its_matrix_is() -> None:
    """With any one entry zero, and with the diagonal zero: no entry was trusted to be a pivot."""
    n = CRAMER_MAX + 1
    draw = random.Random(1)
    names = [[f"s{i}{j}" for j in range(n)] for i in range(n)]
    state = {name: Fraction(draw.randint(1, 50), 7) for row in names for name in row}
    right: list[object] = [Fraction(draw.randint(-9, 9)) for _ in range(n)]
    for i in range(n):
        for j in range(n):
            check(names, right, state | {f"s{i}{j}": Fraction(0)})
    check(names, right, state | {f"s{i}{i}": Fraction(0) for i in range(n)})


@pytest.mark.parametrize(
    ("entries", "undetermined"),
    [
        ([[1, 0], [1, 0]], {1}),
        ([["a", "b"], ["a", "b"]], {0, 1}),
        ([[1, 2], [2, 4]], {0, 1}),
        ([["a", "b", 0], [0, 0, "c"], [0, 0, "a"]], {0, 1}),
    ],
)
def test_singular_by_structure_or_by_value(entries: list[list[object]], undetermined: set[int]) -> None:
    state = {"a": Fraction(2, 3), "b": Fraction(5, 7), "c": Fraction(1, 9)}
    right: list[object] = [1] * len(entries)
    with pytest.raises(Singular) as error:
        solved(entries, right, state)
    assert error.value.column in undetermined


def test_singular_by_a_trigonometric_identity() -> None:
    """sin² + cos² − 1: no rule sees it, the random states do."""
    g = Graph()
    q = g.symbol("q", COORDINATE)
    s, c = g.sin(q), g.cos(q)
    with pytest.raises(Singular):
        solve(g, [[s, c], [g.mul(g.add(g.square(s), g.square(c)), s), c]], [1, 1])


def test_small_units_are_not_singular() -> None:
    """What vanishes is judged beside the row that it stands in."""
    assert solved([[1e-30]], [1e-30], {}) == [1]
    small = Fraction(1, 10**12)
    check([[small, "a"], [0, small]], [1, 1], {"a": Fraction(3)})
    g = Graph()
    a, b = (g.mul(g.constant(1e-12), g.symbol(n, COORDINATE)) for n in "ab")
    assert len(solve(g, [[a, b], [g.neg(b), a]], [1, 1])) == 2


def test_rounding_is_no_pivot() -> None:
    """0.1 + 0.2 − 0.3 is not zero in floating point, and no equation for an unknown."""
    with pytest.raises(Singular):
        solved([[1, 1.0], [0.3, 0.1 + 0.2]], [1, 2], {})


def test_entries_that_random_states_cannot_reach() -> None:
    """The arc cosine of 3 q is defined for |q| < 1/3 only: states are drawn until it is."""
    g = Graph()
    q = g.symbol("q", COORDINATE)
    a = g.call(Op.ACOS, g.mul(g.constant(3), q))
    assert solve(g, [[a]], [1]) == [g.div(1, a)]
    nowhere = g.sqrt(g.sub(g.constant(-1), g.square(q)))
    assert solve(g, [[nowhere]], [1]) == [g.div(1, nowhere)]


def accuracy(entries: list[list[object]], state: dict[str, float], right: list[str]) -> tuple[float, float]:
    """The error of doubles, in units of what rounding of each row beside its largest entry explains; the condition.

    That is what elimination with pivots promises.
    """
    g = Graph()
    node = {name: g.symbol(name, PARAMETER) for name in state}

    def read(e: object) -> int:
        return node[e] if isinstance(e, str) else g.constant(e)  # type: ignore[arg-type]

    x = evaluate(g, solve(g, [[read(e) for e in row] for row in entries], [node[b] for b in right]), state)
    with mpmath.workdps(80):
        n = len(entries)
        a = mp.matrix([[state[e] if isinstance(e, str) else e for e in row] for row in entries])
        b = mp.matrix([state[e] for e in right])
        inverse = a**-1
        exact = inverse * b
        size = mp.fsum(map(abs, exact))
        terms = [max(abs(a[i, j]) for j in range(n)) * size + abs(b[i]) for i in range(n)]
        explained = max(mp.fsum(abs(inverse[i, j]) * terms[j] for j in range(n)) for i in range(n))
        error = max(abs(x[i] - exact[i]) for i in range(n))
        return float(error / (2.0**-53 * explained)), float(explained / size)


@pytest.mark.parametrize("n", part(range(2, 9), [2, 3, 6]))
@pytest.mark.parametrize("p", [1e8, 1e-8, 1e12, 1e-12])
def test_a_parameter_of_any_size_in_any_place(n: int, p: float) -> None:
    """Beside numbers, or beside coordinates: as accurate as the entries are, as with pivots chosen by numbers."""
    for seed in range(6):
        draw = random.Random(f"{n} {p} {seed}")
        state = {"p": p} | {f"s{k}": draw.uniform(-1.0, 1.0) for k in range(n)}
        state |= {f"u{k}": draw.uniform(0.3, 1.0) for k in range(n)}
        right = [f"u{k}" for k in range(n)]
        while True:
            others = [1, 1, -1, 2, 3] if seed % 2 else [f"s{k}" for k in range(n)]
            entries: list[list[object]] = [
                ["p" if draw.random() < 0.3 else draw.choice([0, *others]) for _ in range(n)] for _ in range(n)
            ]
            try:
                error, condition = accuracy(entries, state, right)
            except (Singular, ArithmeticError, TypeError):  # mpmath's own word for a singular matrix
                continue
            if condition < 1e5:
                break
        assert error < 5.0, (entries, error)


@pytest.mark.parametrize("p", [1e-12, 1e-8, 1.0, 1e8, 1e12])
@pytest.mark.parametrize(
    "entries",
    [
        [[1, "p"], ["p", 2]],
        [[1, "p", "p"], ["p", 1, 0], [0, 1, "p"]],
        [["p", 1, 1], [1, "p", 0], [1, 0, 1]],
        [["p", 2, 1, "p"], [1, "p", 3, 1], [1, 1, "p", 1], ["p", 0, 1, 2]],
    ],
)
def test_a_number_beside_a_parameter_is_no_pivot(entries: list[list[object]], p: float) -> None:
    state = {"p": p} | {f"u{k}": 0.3 + 0.4 * k for k in range(len(entries))}
    error, _ = accuracy(entries, state, [f"u{k}" for k in range(len(entries))])
    assert error < 5.0


def test_rows_that_a_large_parameter_makes_nearly_equal() -> None:
    """The terms in p² of the determinant cancel: elimination keeps all digits, and so do steps of refinement."""
    g = Graph()
    p = g.symbol("p", PARAMETER)
    one, two, three = map(g.constant, (1, 2, 3))
    x = solve(g, [[p, p, one], [p, g.mul(two, p), two], [g.mul(two, p), g.mul(three, p), one]], [one, two, one])
    for size in (1.0, 1e8, 1e12):
        got = evaluate(g, x, {"p": size})
        exact = sm.Matrix([[size, size, 1], [size, 2 * size, 2], [2 * size, 3 * size, 1]]).applyfunc(sm.nsimplify)
        exact = exact.LUsolve(sm.Matrix([1, 2, 1]))
        assert got == pytest.approx([float(e) for e in exact], rel=1e-12, abs=1e-14 * float(max(map(abs, exact))))


def test_bounded_entries_cost_no_refinement() -> None:
    """Direction cosines have a bound: Cramer's rule alone, as for body-fixed components of an angular velocity."""
    g = Graph()
    angles = [g.symbol(f"q{i}", COORDINATE) for i in range(9)]
    free = [[angles[3 * i + j] for j in range(3)] for i in range(3)]
    right = [g.symbol(f"u{i}", SPEED) for i in range(3)]
    bounded = count(g, solve(g, [[g.cos(x) for x in row] for row in free], right))["total"]
    assert bounded < 0.5 * count(g, solve(g, free, right))["total"]
    large = [[g.symbol(f"c{i}{j}", COORDINATE) for j in range(8)] for i in range(8)]
    right = [g.symbol(f"u{i}", SPEED) for i in range(8)]
    bounded = count(g, solve(g, [[g.cos(x) for x in row] for row in large], right))["total"]
    assert bounded < 0.7 * count(g, solve(g, large, right))["total"]
