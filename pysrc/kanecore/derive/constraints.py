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

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.sample import Sample, deciding, samples
from kanecore.graph.scalars import ACCELERATION, COORDINATE, SPEED, Graph, Op

from .kinematics import Kinematics

__all__ = ["Constraints", "Reduced", "Row", "reduced"]

SMALL = 1e-3  # a constant this small beside its row is no pivot
SAME = 1e-9  # what is left of a row, beside its size, after others are taken off: rounding
GUESSES, NEWTON = 4, 50  # states on the configuration constraints that are looked for, and steps towards each
STRIDE = 0.5  # the longest of these steps
CLOSED = 1e-12  # what is left of φ there, in units of the coordinates


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
            if row.value and not _is_combination(g, [*row.jacobian, row.value], filed):
                self.rows.append(replace(row, position=c.node))
        levels = [[*row.jacobian, row.bias] for row in self.rows]
        for c in given["acceleration"]:
            slopes = accumulate(g, [(c.node, g.one)], d.accelerations, ACCELERATION)
            [bias] = g.substitute([c.node], dict.fromkeys(d.accelerations, 0))
            if not _is_combination(g, [*slopes, bias], levels):
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

    def typical_rank(self, parameters: Mapping[str, float]) -> int:
        """The rank of G at some state on the configuration constraints, or where none is found at any state.

        A loop may close redundantly by its dimensions alone (Bricard's): its rows are independent everywhere but where
        it is closed.  Parameters that are not given are drawn at random, as is what the guess does not say.
        """
        g = self.kinematics.graph
        rows = [row.jacobian for row in self.rows]
        entries = [x for row in rows for x in row]
        closed = [self._closed(seed, parameters) for seed in range(GUESSES if self.configuration else 0)]
        states = [state for state in closed if state] or list(samples(g, entries, 1))
        ranks = [_rank([state.all(row) for row in rows]) for state in states if _finite(state, entries)]
        return max(ranks, default=len(rows))

    def _closed(self, seed: int, parameters: Mapping[str, float]) -> Sample | None:
        """A state at which φ vanishes, by Newton's method from a guess; None where that leads to none."""
        d, g = self.kinematics.description, self.kinematics.graph
        known = {
            i: parameters[name] for i, name in zip(d.parameters, d.parameter_names, strict=True) if name in parameters
        }
        draw = Sample(g, seed)
        q = np.array([draw(i) for i in d.coordinates])
        for place, value in d.guess:
            if place < len(q):
                q[place] = value + 1e-2 * seed * q[place]
        slopes = [accumulate(g, [(phi, g.one)], d.coordinates, COORDINATE) for phi in self.configuration]
        before = math.inf
        for _ in range(NEWTON):
            for quaternion in d.unit:
                q[list(quaternion)] /= np.linalg.norm(q[list(quaternion)])
            state = Sample(g, seed, {**known, **dict(zip(d.coordinates, q.tolist(), strict=True))})
            error = np.array(state.all(self.configuration))
            rows = np.array([state.all(row) for row in slopes])
            if not (np.isfinite(error).all() and np.isfinite(rows).all()):
                return None
            size = np.max(np.abs(rows), axis=1)
            size = np.where(size > 0.0, size, 1.0)
            left = float(np.max(np.abs(error / size)))
            if left <= CLOSED and not left < 0.1 * before:
                return state
            before = left
            step = np.linalg.pinv(rows / size[:, np.newaxis], rcond=SAME) @ (error / size)
            q -= step * min(1.0, STRIDE / float(np.max(np.abs(step), initial=STRIDE)))
        return None


def _is_combination(g: Graph, row: Sequence[int], others: Sequence[Sequence[int]]) -> bool:
    """Whether a row is a linear combination of others at random states."""
    if not others:
        return False
    states = deciding(g, [x for r in (row, *others) for x in r], 2)
    return bool(states) and all(
        _rank([s.all(r) for r in (*others, row)]) == _rank([s.all(r) for r in others]) for s in states
    )


def _finite(state: Sample, nodes: Sequence[int]) -> bool:
    return all(math.isfinite(state(i)) for i in nodes)


def _rank(rows: Sequence[Sequence[float]]) -> int:
    """By elimination with full pivots, in rows of equal size."""
    left = []
    for row in rows:
        size = max(map(abs, row), default=0.0)
        left.append([x / size for x in row] if size else list(row))
    rank = 0
    while left and left[0]:
        i, j = max(((i, j) for i in range(len(left)) for j in range(len(left[0]))), key=lambda p: abs(left[p[0]][p[1]]))
        pivot = left.pop(i)
        if abs(pivot[j]) <= SAME:
            break
        rank += 1
        left = [[a - row[j] / pivot[j] * b for a, b in zip(row, pivot, strict=True)] for row in left]
    return rank


@dataclass(frozen=True)
class Reduced:
    """u̇ = P v + p with v what is left of u̇ after rows with constant pivots are solved; M v = f + Gᵀλ, G v + γ = 0.

    ``kept`` are the numbers of the speeds that are left, ``rows`` those of the rows of G; ``projection`` holds P row by
    row of u̇, ``offset`` p; ``sizes`` are bounds of the rows' coefficients, as they were before others were put into
    them: what is small beside these is rounding.  They are 0 for rows that cannot be lost.
    """

    kept: tuple[int, ...]
    rows: tuple[int, ...]
    projection: tuple[tuple[int, ...], ...]
    offset: tuple[int, ...]
    mass_matrix: tuple[tuple[int, ...], ...]
    forcing: tuple[int, ...]
    jacobian: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    sizes: tuple[int, ...]


def reduced(
    g: Graph, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int], rows: Sequence[Row], prefer: Sequence[int]
) -> Reduced:
    """Eliminate on the graph what has a constant coefficient in some row: it is the same at every state.

    ``prefer`` are the numbers of the speeds to eliminate first: those the user calls dependent.
    """
    n = len(forcing)
    left = {i: ({j: x for j, x in enumerate(row.jacobian) if x}, row.bias) for i, row in enumerate(rows)}
    solved: dict[int, tuple[dict[int, int], int]] = {}  # u̇_j = Σ coefficients u̇_k + offset
    while True:
        best = None
        for i, (row, _) in left.items():
            for j, x in row.items():
                value = g.value(x)
                if value is None or not _leads(g, row, float(value)):
                    continue
                fill = (len(row) - 1) * sum(1 for r, _ in left.values() if j in r)
                key = (j not in prefer, fill, i, j)
                if best is None or key < best:
                    best = key
        if best is None:
            break
        i, j = best[2:]
        row, bias = left.pop(i)
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
    return Reduced(
        tuple(kept),
        tuple(remaining),
        tuple(projection),
        tuple(offset),
        tuple(map(tuple, square)),
        tuple(force),
        tuple(tuple(left[i][0].get(k, 0) for k in kept) for i in remaining),
        tuple(left[i][1] for i in remaining),
        tuple(_size(g, rows[i].jacobian, left[i][0].values()) for i in remaining),
    )


def _vanish(g: Graph, nodes: Sequence[int]) -> bool:
    """Whether nothing is left of them but rounding, at random states: they are zero everywhere."""
    states = deciding(g, nodes, 2)
    return bool(states) and all(s.vanishes(x) for s in states for x in nodes)


def _size(g: Graph, row: Sequence[int], left: Iterable[int]) -> int:
    """What the largest coefficient of a row is a sum of, in magnitude; 0 where one that is left of it is a number."""
    if any(x and not g.depends[x] for x in left):
        return 0
    result, known = 0, dict[int, int]()
    for x in row:
        if x:
            size = _magnitude(g, x, known)
            result = g.binary(Op.MAX, result, size) if result else size
    return result


def _magnitude(g: Graph, root: int, known: dict[int, int]) -> int:
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


def _leads(g: Graph, row: dict[int, int], value: float) -> bool:
    """Whether a constant is not small beside the other coefficients of its row, at a random state."""
    states = deciding(g, list(row.values()), 1)
    size = max((abs(s(x)) for s in states for x in row.values()), default=1.0)
    return abs(value) > SMALL * size


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
