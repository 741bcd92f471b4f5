# SPDX-License-Identifier: BSD-3-Clause
"""Motion constraints in the form G u̇ + γ = 0.

A velocity constraint c(q, u, t) = 0, linear in u or not, is differentiated once, a configuration constraint
φ(q, t) = 0 twice:

    G = ∂c/∂u,    γ = ∂c/∂q q̇ + ∂c/∂t    (c = φ̇ for a configuration constraint)

(Kane & Levinson 1985, section 2.13; where u is not linear the constraint is a complex nonholonomic one).
Rows follow each other as: velocity constraints, configuration constraints whose derivative is not among these,
acceleration constraints that are no derivatives of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.decide import deciding, vanish
from kanecore.graph.sample import Sample
from kanecore.graph.scalars import ACCELERATION, COORDINATE, SPEED, Graph, Op
from kanecore.tolerances import EPSILON, EQUAL, FEASIBLE, ROUNDING, SOLVED

from .kinematics import Kinematics
from .magnitudes import terms

__all__ = ["Constraints", "Row"]


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
        unit = {d.coordinates[i] for group in d.unit for i in group}  # of length one at random states
        self.configuration = [
            0 if vanish(g, [c.node]) and unit.isdisjoint(g.below([c.node])) else c.node for c in given["configuration"]
        ]
        self.rows = [self._row(c.name, c.kind, c.node) for c in given["velocity"]]
        self.rates: list[tuple[int, ...]] = []
        filed = [[*row.jacobian, row.value] for row in self.rows]
        for c, node in zip(given["configuration"], self.configuration, strict=True):
            row = self._row(c.name, c.kind, k.rate.of(node))
            self.rates.append(row.jacobian)
            if not node:
                self.rows.append(row)  # keeps its number, and takes no part
            elif row.value and not _is_combination(g, [*row.jacobian, row.value], filed):
                self.rows.append(replace(row, position=node))
        levels = [[*row.jacobian, row.bias] for row in self.rows]
        for c in given["acceleration"]:
            slopes = accumulate(g, [(c.node, g.one)], d.accelerations, ACCELERATION)
            [bias] = g.substitute([c.node], dict.fromkeys(d.accelerations, 0))
            if vanish(g, [*slopes, bias]):
                self.rows.append(Row(c.name, c.kind, (0,) * len(slopes), 0, -1))
            elif not _is_combination(g, [*slopes, bias], levels):
                self.rows.append(Row(c.name, c.kind, tuple(slopes), bias, -1))

    def _row(self, name: str, kind: str, value: int) -> Row:
        k, g, d = self.kinematics, self.kinematics.graph, self.kinematics.description
        slope = [Tangent(g, {u: g.one}).of(value) for u in d.speeds]
        if vanish(g, [value, *slope]):
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
        """Pairs of constraints on velocities that contradict each other whatever the numbers are: c and c + 1.

        Their coefficients are multiples, and what is left of the values is a number other than zero.
        """
        g = self.kinematics.graph
        rows = [row for row in self.rows if row.value >= 0 and any(row.jacobian)]
        states = deciding(g, [x for row in rows for x in (*row.jacobian, row.value)], 2)
        if not states:
            return []

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
                size = terms(g, value)
                most = g.mul(g.constant(FEASIBLE / SOLVED), size)
                result.append(g.binary(Op.MIN, g.add(size, g.mul(weight, noise)), most))
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
