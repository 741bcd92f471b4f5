# SPDX-License-Identifier: BSD-3-Clause
"""Motion constraints in the form G u̇ + γ = 0, and what is left of the equations of motion after simple elimination.

A velocity constraint c(q, u, t) = 0, linear in u or not, is differentiated once, a configuration constraint
φ(q, t) = 0 twice:

    G = ∂c/∂u,    γ = ∂c/∂q q̇ + ∂c/∂t    (c = φ̇ for a configuration constraint)

(Kane & Levinson 1985, section 2.13; where u is not linear the constraint is a complex nonholonomic one).
Rows follow each other as: velocity constraints, configuration constraints whose derivative is not among these,
acceleration constraints that are no derivatives of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.sample import Sample, deciding
from kanecore.graph.scalars import ACCELERATION, COORDINATE, PARAMETER, SPEED, Graph, Op
from kanecore.tolerances import EPSILON, EQUAL, FEASIBLE, ROUNDING, SOLVED

from .kinematics import Kinematics

__all__ = ["Constraints", "Reduced", "Row", "magnitude", "reduced", "sums", "whole"]

SMALLEST_PIVOT = 0.1
"""Of its row, in the metric of the masses: with a smaller pivot a row is solved at run time.  In a closed chain of 30
links, pivots of 1/155 of their rows cost three digits."""


@dataclass(frozen=True)
class Row:
    """One row of G u̇ + γ = 0.

    ``value`` is that of the constraint on velocities, −1 for one on accelerations; ``position`` that of the constraint
    on coordinates of which it is the derivative, −1 for others.
    """

    name: str
    kind: str
    jacobian: tuple[int, ...]
    bias: int
    value: int
    position: int = -1


class Constraints:
    """The constraints of a description, on the graph.

    Attributes
    ----------
    configuration : list of nodes
        φ, in the order given.
    rates : list of tuple of nodes
        ∂φ̇/∂u of each, whether or not it is a row of G; zeros where φ̇ vanishes identically, as of e·e − 1 where the
        kinematical equations keep a quaternion at its length.
    rows : list of Row
    """

    def __init__(self, k: Kinematics) -> None:
        self.kinematics = k
        g, d = k.graph, k.description
        given = {
            kind: [c for c in d.constraints if c.kind == kind] for kind in ("velocity", "configuration", "acceleration")
        }
        self.configuration = [c.node for c in given["configuration"]]
        self.rows = [self._row(c.name, c.kind, c.node) for c in given["velocity"]]
        self.rates: list[tuple[int, ...]] = []
        filed = [[*row.jacobian, row.value] for row in self.rows]
        for c in given["configuration"]:
            row = self._row(c.name, c.kind, k.rate.of(c.node))
            self.rates.append(row.jacobian)
            unit = {d.coordinates[i] for group in d.unit for i in group}  # of length one at random states
            if _vanish(g, [c.node]) and unit.isdisjoint(g.below([c.node])):
                self.rows.append(row)  # keeps its number, and takes no part
            elif row.value and not _is_combination(g, [*row.jacobian, row.value], filed):
                self.rows.append(replace(row, position=c.node))
        levels = [[*row.jacobian, row.bias] for row in self.rows]
        for c in given["acceleration"]:
            slopes = accumulate(g, [(c.node, g.one)], d.accelerations, ACCELERATION)
            [bias] = g.substitute([c.node], dict.fromkeys(d.accelerations, 0))
            if _vanish(g, [*slopes, bias]):
                self.rows.append(Row(c.name, c.kind, (0,) * len(slopes), 0, -1))
            elif not _is_combination(g, [*slopes, bias], levels):
                self.rows.append(Row(c.name, c.kind, tuple(slopes), bias, -1))

    def _row(self, name: str, kind: str, value: int) -> Row:
        k, g, d = self.kinematics, self.kinematics.graph, self.kinematics.description
        slope = [Tangent(g, {u: g.one}).of(value) for u in d.speeds]
        if _vanish(g, [value, *slope]):
            return Row(name, kind, (0,) * len(slope), 0, 0)
        return Row(name, kind, tuple(slope), k.rate.of(value), value)

    @property
    def values(self) -> list[int]:
        """Values of the rows on velocities."""
        return [row.value for row in self.rows if row.value >= 0]

    @property
    def do_work(self) -> bool:
        """Whether constraint forces may do work: where a constraint is not linear and homogeneous in u.

        Of a homogeneous one, G u = 0, and (Gᵀλ)·u is nothing.
        """
        g, d = self.kinematics.graph, self.kinematics.description
        at_rest = g.substitute(self.values, dict.fromkeys(d.speeds, 0))
        return (
            any(row.value < 0 for row in self.rows)
            or any(at_rest)
            or not is_affine(g, self.values, lambda i: g.depends[i] & SPEED)
        )

    @property
    def shared(self) -> list[str]:
        """Rows that follow from others at random states: these share their multipliers, which nothing determines."""
        g, rows = self.kinematics.graph, [row.jacobian for row in self.rows]
        return [
            row.name
            for i, row in enumerate(self.rows)
            if any(row.jacobian) and _is_combination(g, row.jacobian, [*rows[:i], *rows[i + 1 :]])
        ]

    @property
    def opposed(self) -> list[tuple[str, str]]:
        """Pairs of constraints on velocities that contradict each other wherever they are: c and c + 1.

        Their coefficients are multiples, and what is left of the values is neither zero nor moved by any state.
        """
        g, d = self.kinematics.graph, self.kinematics.description
        rows = [row for row in self.rows if row.value >= 0 and any(row.jacobian)]
        nodes = [x for row in rows for x in (*row.jacobian, row.value)]
        states = deciding(g, nodes, 1)
        if not states:
            return []
        fixed = {i: states[0](i) for i in (*d.parameters, *d.inputs, d.time)}
        states.append(Sample(g, 99, fixed))

        def left(a: Row, b: Row, s: Sample) -> float | None:
            """What is left of the value of b when a is taken off."""
            j = max(range(len(a.jacobian)), key=lambda k: abs(s(a.jacobian[k])))
            factor = s(b.jacobian[j]) / s(a.jacobian[j])
            size = max(abs(s(x)) for x in b.jacobian)
            if any(abs(s(y) - factor * s(x)) > EQUAL * size for x, y in zip(a.jacobian, b.jacobian, strict=True)):
                return None
            rest, terms = s(b.value) - factor * s(a.value), abs(s(b.value)) + abs(factor * s(a.value))
            return rest if abs(rest) > EQUAL * terms else None

        result = []
        for k, b in enumerate(rows):
            for a in rows[:k]:
                first, second = (left(a, b, s) for s in states)
                if first is not None and second is not None and abs(first - second) <= EQUAL * abs(first):
                    result.append((a.name, b.name))
        return result

    @property
    def sizes(self) -> list[int]:
        """What each φ, then each c, is summed from: residuals are compared with these.

        The terms of the sum, and what the rounding of the coordinates and speeds themselves does to it, weighed so
        that `SOLVED` of the sizes covers it: two points 100 m apart, far from the origin, are as far apart as their
        coordinates tell.  At most `FEASIBLE` of the terms is put down to rounding.
        """
        g, d = self.kinematics.graph, self.kinematics.description
        weight = g.constant(8 * EPSILON / SOLVED)
        result = []
        for values, symbols, level in (
            (self.configuration, d.coordinates, COORDINATE),
            (self.values, d.speeds, SPEED),
        ):
            for value in values:
                slopes = accumulate(g, [(value, g.one)], symbols, level)
                noise = g.sum(g.call(Op.ABS, g.mul(a, x)) for a, x in zip(slopes, symbols, strict=True))
                terms = _terms(g, value)
                most = g.mul(g.constant(FEASIBLE / SOLVED), terms)
                result.append(g.binary(Op.MIN, g.add(terms, g.mul(weight, noise)), most))
        return result

    @property
    def configuration_jacobian(self) -> list[int]:
        """∂φ/∂q, row by row."""
        g, d = self.kinematics.graph, self.kinematics.description
        return [x for phi in self.configuration for x in accumulate(g, [(phi, g.one)], d.coordinates, COORDINATE)]

    @property
    def linear(self) -> bool:
        """Whether G depends on no speed."""
        g = self.kinematics.graph
        return not any(g.depends[x] & SPEED for row in self.rows for x in row.jacobian)


def _is_combination(g: Graph, row: Sequence[int], others: Sequence[Sequence[int]]) -> bool:
    """Whether a row is a linear combination of others at random states."""
    if not others:
        return False
    states = deciding(g, [x for r in (row, *others) for x in r], 2)
    return bool(states) and all(_rank(s, (*others, row)) == _rank(s, others) for s in states)


def _rank(state: Sample, rows: Sequence[Sequence[int]]) -> int:
    """At one state, by elimination with the largest pivots: what rounding explains is zero."""
    left = [([state(x) for x in row], [state.rounding(x) for x in row]) for row in rows]
    size = [max(map(abs, values), default=0.0) or 1.0 for values, _ in left]
    rank = 0
    while True:
        pivots = [
            (abs(x) / size[i], i, j)
            for i, (values, errors) in enumerate(left)
            for j, (x, error) in enumerate(zip(values, errors, strict=True))
            if abs(x) > ROUNDING * error
        ]
        if not pivots:
            return rank
        rank += 1
        _, i, j = max(pivots)
        (values, errors), size[i:] = left.pop(i), size[i + 1 :]
        for row, error in left:
            factor = row[j] / values[j]
            doubt = (error[j] + abs(factor) * errors[j]) / abs(values[j])
            for k, (x, e) in enumerate(zip(values, errors, strict=True)):
                error[k] += abs(factor) * e + doubt * abs(x) + EPSILON * (abs(row[k]) + abs(factor * x))
                row[k] -= factor * x
            row[j] = 0.0


@dataclass(frozen=True)
class Reduced:
    """u̇ = P v + p with v what is left of u̇ after rows with constant pivots are solved; M v = f + Gᵀλ, G v + γ = 0.

    ``kept`` are the numbers of the speeds that are left, ``rows`` those of the rows of G; ``projection`` holds P row by
    row of u̇, ``offset`` p; ``sums`` are bounds of what the coefficients are sums of, zeros for rows that cannot be
    lost.  It holds where no node of ``limits`` is positive: elsewhere some pivot is small beside its row.
    """

    kept: tuple[int, ...]
    rows: tuple[int, ...]
    projection: tuple[tuple[int, ...], ...]
    offset: tuple[int, ...]
    mass_matrix: tuple[tuple[int, ...], ...]
    forcing: tuple[int, ...]
    jacobian: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    sums: tuple[int, ...]
    limits: tuple[int, ...]


def reduced(
    g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row], prefer: Sequence[int]
) -> Reduced:
    """Eliminate on the graph what has a constant coefficient in some row, while it leads the row.

    ``prefer`` are the numbers of the speeds to eliminate first: those the user calls dependent.
    """
    n = len(forcing)
    left = {i: ({j: x for j, x in enumerate(row.jacobian) if x}, row.bias) for i, row in enumerate(rows)}
    solved: dict[int, tuple[dict[int, int], int]] = {}  # u̇_j = Σ coefficients u̇_k + offset
    limits: list[int] = []
    while True:
        best = None
        for i, (row, _) in left.items():
            for j, x in row.items():
                if g.value(x) is None or not _leads(g, _excesses(g, mass_matrix, row, j)):
                    continue
                fill = (len(row) - 1) * sum(1 for r, _ in left.values() if j in r)
                key = (j not in prefer, fill, i, j)
                if best is None or key < best:
                    best = key
        if best is None:
            break
        i, j = best[2:]
        row, bias = left.pop(i)
        limits += [x for x in _excesses(g, mass_matrix, row, j) if g.depends[x]]
        pivot = row.pop(j)
        expression = {k: g.neg(g.div(x, pivot)) for k, x in row.items()}, g.neg(g.div(bias, pivot))
        solved = {k: _put(g, e, j, expression) for k, e in solved.items()}
        left = {k: _put(g, e, j, expression) for k, e in left.items()}
        solved[j] = expression
    kept = [j for j in range(n) if j not in solved]
    projection, offset = [], []
    for j in range(n):
        coefficients, rest = solved.get(j, ({j: g.one}, 0))
        projection.append(tuple(coefficients.get(k, 0) for k in kept))
        offset.append(rest)
    carried = [g.sub(forcing[i], g.sum(g.mul(mass_matrix[i][j], offset[j]) for j in range(n))) for i in range(n)]
    half = [
        [g.sum(g.mul(mass_matrix[i][j], projection[j][c]) for j in range(n)) for c in range(len(kept))]
        for i in range(n)
    ]
    square = [[0] * len(kept) for _ in kept]
    for a in range(len(kept)):
        for b in range(a + 1):
            square[a][b] = square[b][a] = g.sum(g.mul(projection[i][a], half[i][b]) for i in range(n))
    force = [g.sum(g.mul(projection[i][a], carried[i]) for i in range(n)) for a in range(len(kept))]
    remaining = [i for i in sorted(left) if not _vanish(g, [*left[i][0].values(), left[i][1]])]
    jacobian = tuple(tuple(left[i][0].get(k, 0) for k in kept) for i in remaining)
    return Reduced(
        tuple(kept),
        tuple(remaining),
        tuple(projection),
        tuple(offset),
        tuple(map(tuple, square)),
        tuple(force),
        jacobian,
        tuple(left[i][1] for i in remaining),
        tuple(x for row in jacobian for x in sums(g, row)),
        tuple(_largest(g, [x for x in limits if g.depends[x] & PARAMETER == g.depends[x]]))
        + tuple(_largest(g, [x for x in limits if g.depends[x] & ~PARAMETER])),
    )


def whole(g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row]) -> Reduced:
    """The same with nothing eliminated, for what `reduced` does not hold for."""
    n = len(forcing)
    unit = tuple(tuple(int(i == j) for j in range(n)) for i in range(n))
    jacobian = tuple(row.jacobian for row in rows)
    return Reduced(
        tuple(range(n)),
        tuple(range(len(rows))),
        unit,
        (0,) * n,
        tuple(map(tuple, mass_matrix)),
        tuple(forcing),
        jacobian,
        tuple(row.bias for row in rows),
        tuple(x for row in jacobian for x in sums(g, row)),
        (),
    )


def _vanish(g: Graph, nodes: Sequence[int]) -> bool:
    """Whether nothing is left of them but rounding, at random states: they are zero everywhere."""
    states = deciding(g, nodes, 2)
    return bool(states) and all(s.vanishes(x) for s in states for x in nodes)


def sums(g: Graph, row: Sequence[int]) -> list[int]:
    """What each coefficient of a row is a sum of, in magnitude; zeros where one of them is a number."""
    if any(x and not g.depends[x] for x in row):
        return [0] * len(row)
    known = dict[int, int]()
    return [magnitude(g, x, known) if x else 0 for x in row]


def magnitude(g: Graph, root: int, known: dict[int, int]) -> int:
    """A bound of a node: sums of magnitudes, products of them, 1 for a sine."""
    for i in g.below([root], stop=known):
        op, *args = g.nodes[i]
        if i in known:
            continue
        if op in (Op.ADD, Op.SUB):
            known[i] = g.add(known[args[0]], known[args[1]])
        elif op is Op.MUL:
            known[i] = g.mul(known[args[0]], known[args[1]])
        elif op is Op.DIV:
            known[i] = g.div(known[args[0]], g.call(Op.ABS, args[1]))
        elif op is Op.NEG:
            known[i] = known[args[0]]
        elif op in (Op.SIN, Op.COS):
            known[i] = g.one
        else:
            known[i] = g.call(Op.ABS, i)
    return known[root]


def _terms(g: Graph, root: int, nested: bool = False) -> int:
    """The magnitudes of what a node is summed from, added: of products with sines and cosines the largest they can be.

    Sums within the terms of a sum (``nested``) stand for what they are: two points that are 100 m apart, far from the
    origin; what rounding leaves of those that vanish is counted.  A function is as large as its argument makes it.
    """
    total, left, summands = 0, [root], []
    while left:
        op, *args = g.nodes[left[-1]]
        term = left.pop()
        if op in (Op.ADD, Op.SUB, Op.NEG):
            left += args
        else:
            summands.append(term)
    inner = nested or len(summands) > 1
    for term in summands:
        total = g.add(total, _largest_product(g, term, inner))
    return total


def _largest_product(g: Graph, root: int, nested: bool) -> int:
    """The magnitude of a product: 1 for sines and cosines, and for sums what `_terms` says."""
    result, left = g.one, [(root, False)]
    while left:
        node, inverse = left.pop()
        op, *args = g.nodes[node]
        if op is Op.MUL:
            left += [(x, inverse) for x in args]
        elif op is Op.DIV:
            left += [(args[0], inverse), (args[1], not inverse)]
        elif op is Op.NEG:
            left.append((args[0], inverse))
        elif inverse:
            result = g.div(result, g.call(Op.ABS, node))
        elif op in (Op.ADD, Op.SUB) and nested:
            rounding = g.mul(g.constant(SOLVED), _terms(g, node, nested))
            result = g.mul(result, g.add(g.call(Op.ABS, node), rounding))
        elif op in (Op.ADD, Op.SUB):
            result = g.mul(result, _terms(g, node))
        elif op in (Op.SYM, Op.CONST):
            result = g.mul(result, g.call(Op.ABS, node))
        elif op not in (Op.SIN, Op.COS):
            size = g.call(Op.ABS, node)
            if len(args) == 1 and not nested:  # to first order, f'(a) times what a is summed from
                slope = Tangent(g, {args[0]: g.one}).of(node)
                size = g.add(size, g.mul(g.call(Op.ABS, slope), _terms(g, args[0])))
            result = g.mul(result, size)
    return result


def _excesses(g: Graph, mass_matrix: Sequence[Sequence[int]], row: Mapping[int, int], j: int) -> list[int]:
    """Positive where the pivot of column j is small beside another coefficient, in the metric of the masses.

    u̇_j = −a_k u̇_k multiplies rounding errors of u̇_k by |a_k| √(M_jj / M_kk) / |pivot|.
    """
    least, pivot, weight = g.constant(SMALLEST_PIVOT**2), g.square(row[j]), mass_matrix[j][j]
    return [
        g.sub(g.mul(g.mul(least, g.square(x)), weight), g.mul(pivot, mass_matrix[k][k]))
        for k, x in row.items()
        if k != j
    ]


def _leads(g: Graph, excesses: Sequence[int]) -> bool:
    """Whether a pivot is large enough at a random state."""
    states = deciding(g, excesses, 1)
    return all(s(x) <= 0.0 for s in states for x in excesses)


def _largest(g: Graph, nodes: Sequence[int]) -> list[int]:
    """The maximum of some nodes, as a list of at most one."""
    result: list[int] = []
    for x in dict.fromkeys(nodes):
        result = [g.binary(Op.MAX, result[0], x)] if result else [x]
    return result


def _put(g: Graph, e: tuple[dict[int, int], int], j: int, by: tuple[dict[int, int], int]) -> tuple[dict[int, int], int]:
    """A linear expression with one of its unknowns replaced."""
    coefficients, rest = e
    factor = coefficients.get(j)
    if not factor:
        return e
    result = {k: x for k, x in coefficients.items() if k != j}
    for k, x in by[0].items():
        total = g.add(result.pop(k, 0), g.mul(factor, x))
        if total:
            result[k] = total
    return result, g.add(rest, g.mul(factor, by[1]))
