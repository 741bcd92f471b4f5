# SPDX-License-Identifier: BSD-3-Clause
"""Motion constraints in the form G u̇ + γ = 0.

A velocity constraint c(q, u, t) = 0, linear in u or not, is differentiated once, a configuration constraint
φ(q, t) = 0 twice:

    G = ∂c/∂u,    γ = ∂c/∂q q̇ + ∂c/∂t    (c = φ̇ for a configuration constraint)

(Kane & Levinson 1985, section 2.13).  A constraint that is nonlinear in u is a complex nonholonomic one.
The order of rows is: velocity constraints; configuration constraints, unless their derivative is among these;
acceleration constraints that are no derivatives of other constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanecore.describe.description import Constraint
from kanecore.graph.calculus import Tangent, accumulate, is_affine
from kanecore.graph.expression_graph import ACCELERATION, COORDINATE, SPEED, Op
from kanecore.graph.magnitudes import terms
from kanecore.graph.random_samples import Sample
from kanecore.graph.zero_tests import adds_up, combinations, deciding, is_combination, vanish
from kanecore.tolerances import EPSILON, EQUAL, FEASIBLE, SOLVED

from .kinematics import Kinematics

__all__ = ["Constraints", "Row"]


@dataclass(frozen=True)
class Row:
    """One row of G u̇ + γ = 0.

    ``value`` is the node of the constraint on velocities, −1 for a constraint on accelerations.  If the row is the
    derivative of a constraint on coordinates, ``position`` is the node of this constraint, else −1.
    """

    name: str
    kind: str
    jacobian: tuple[int, ...]
    bias: int
    value: int
    position: int = -1


class Constraints:
    """Constraints of a description on the graph: the ``chosen`` ones, or all.

    Attributes
    ----------
    configuration : list of nodes
        φ, in the order given.
    rates : list of tuple of nodes
        ∂φ̇/∂u of each φ, whether or not it is a row of G.  If φ̇ vanishes identically, they are zeros: for e·e − 1, if
        the kinematical equations keep the length of the quaternion.
    rows : list of Row
    """

    def __init__(self, k: Kinematics, chosen: Sequence[Constraint] | None = None) -> None:
        self.kinematics = k
        self._sizes: dict[float, list[int]] = {}
        g, d = k.graph, k.description
        given = {
            kind: [each for each in (d.constraints if chosen is None else chosen) if each.kind == kind]
            for kind in ("velocity", "configuration", "acceleration")
        }
        unit = {d.coordinates[i] for group in d.unit for i in group}  # of length one at random states

        def holds_always(node: int) -> bool:
            return vanish(g, [node]) and unit.isdisjoint(g.below([node]))

        self.configuration = [0 if holds_always(phi.node) else phi.node for phi in given["configuration"]]
        self.rows = [self.row_of(velocity) for velocity in given["velocity"]]
        self.rates: list[tuple[int, ...]] = []
        self._add_rates(given["configuration"])
        self._add_accelerations(given["acceleration"])

    def row_of(self, constraint: Constraint) -> Row:
        """Row of one constraint, whether or not it is a row of G."""
        if constraint.kind == "velocity":
            return self._row(constraint, constraint.node)
        if constraint.kind == "configuration":
            return self._row(constraint, self.kinematics.rate.of(constraint.node))
        g, d = self.kinematics.graph, self.kinematics.description
        slopes = accumulate(g, [(constraint.node, g.one)], d.accelerations, ACCELERATION)
        [bias] = g.substitute([constraint.node], dict.fromkeys(d.accelerations, 0))
        if vanish(g, [*slopes, bias]):
            return Row(constraint.name, constraint.kind, (0,) * len(slopes), 0, -1)
        return Row(constraint.name, constraint.kind, tuple(slopes), bias, -1)

    def _row(self, constraint: Constraint, value: int) -> Row:
        """The row of a constraint on velocities, or of the rate of a constraint on coordinates."""
        k, g, d = self.kinematics, self.kinematics.graph, self.kinematics.description
        held = set(g.below([value]))
        slope = [Tangent(g, {u: g.one}).of(value) if u in held else 0 for u in d.speeds]
        if vanish(g, [value, *slope]):
            return Row(constraint.name, constraint.kind, (0,) * len(slope), 0, 0)
        return Row(constraint.name, constraint.kind, tuple(slope), k.rate.of(value), value)

    def _add_rates(self, configuration: Sequence[Constraint]) -> None:
        """Add the rows φ̇ that are not among the user's constraints on velocities."""
        g, k = self.kinematics.graph, self.kinematics
        given = [[*row.jacobian, row.value] for row in self.rows]
        for constraint, phi in zip(configuration, self.configuration, strict=True):
            row = self._row(constraint, k.rate.of(phi))
            self.rates.append(row.jacobian)
            if not phi:
                self.rows.append(row)  # a row that keeps its index but has no effect
            elif row.value and not is_combination(g, [*row.jacobian, row.value], given):
                self.rows.append(replace(row, position=phi))

    def _add_accelerations(self, accelerations: Sequence[Constraint]) -> None:
        """Add the rows on accelerations that are no derivatives of other rows."""
        g = self.kinematics.graph
        derivatives = [[*row.jacobian, row.bias] for row in self.rows]
        for row in map(self.row_of, accelerations):
            entries = [*row.jacobian, row.bias]
            if not any(entries) or not is_combination(g, entries, derivatives):
                self.rows.append(row)

    @property
    def values(self) -> list[int]:
        """Values of the rows on velocities."""
        return [row.value for row in self.rows if row.value >= 0]

    @property
    def do_work(self) -> bool:
        """Test whether constraint forces may do work: if a constraint is not linear and homogeneous in u.

        A homogeneous constraint gives G u = 0, so (Gᵀλ)·u = 0.
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
        """Rows that follow from other rows at random states; their multipliers are not determined."""
        rows = [row for row in self.rows if any(row.jacobian)]
        return [rows[i].name for i in combinations(self.kinematics.graph, [row.jacobian for row in rows])]

    @property
    def opposed(self) -> list[tuple[str, str]]:
        """Pairs of constraints on velocities that contradict each other for all numbers, such as c and c + 1.

        Their coefficients are proportional, and their scaled values differ by a nonzero number.
        """
        g = self.kinematics.graph
        rows = [row for row in self.rows if row.value >= 0 and any(row.jacobian)]
        states = deciding(g, [x for row in rows for x in (*row.jacobian, row.value)], 2)
        pairs = []
        for k, b in enumerate(rows):
            for a in rows[:k]:
                gaps = [_gap(a, b, s) for s in states]
                if gaps and _is_one_number(gaps):
                    pairs.append((a.name, b.name))
        return pairs

    def sizes(self, tolerance: float) -> list[int]:
        """Magnitude of the terms of each φ, then of each c, times ``tolerance`` the bounds of residuals.

        The effect of rounding in coordinates and speeds is added, weighted so that `SOLVED` times the magnitude covers
        it: far from the origin, the distance of two points is only as exact as their coordinates.  At most the share
        `FEASIBLE` of the terms counts as rounding.
        """
        if tolerance not in self._sizes:
            self._sizes[tolerance] = self._sizes_beside(tolerance)
        return self._sizes[tolerance]

    def _sizes_beside(self, tolerance: float) -> list[int]:
        g, d = self.kinematics.graph, self.kinematics.description
        weight = g.constant(8 * EPSILON / SOLVED)
        result = []
        for values, symbols, level in (
            (self.configuration, d.coordinates, COORDINATE),
            (self.values, d.speeds, SPEED),
        ):
            for value in values:
                slopes = accumulate(g, [(value, g.one)], symbols, level)
                noise = g.sum(g.call(Op.ABS, g.mul(a, x)) for a, x in zip(slopes, symbols, strict=True) if a)
                size = terms(g, value, tolerance)
                largest = g.mul(g.constant(FEASIBLE / SOLVED), size)
                result.append(g.binary(Op.MIN, g.add(size, g.mul(weight, noise)), largest))
        return result

    @property
    def configuration_jacobian(self) -> list[int]:
        """Derivatives ∂φ/∂q, row by row."""
        g, d = self.kinematics.graph, self.kinematics.description
        return [x for phi in self.configuration for x in accumulate(g, [(phi, g.one)], d.coordinates, COORDINATE)]

    @property
    def linear(self) -> bool:
        """Test whether G depends on no speed."""
        g = self.kinematics.graph
        return not any(g.depends[x] & SPEED for row in self.rows for x in row.jacobian)


def _gap(a: Row, b: Row, state: Sample) -> float | None:
    """Value of b minus a multiple of a; None if coefficients are not proportional, or if the difference is zero."""
    j = max(range(len(a.jacobian)), key=lambda k: abs(state(a.jacobian[k])))
    factor = state(b.jacobian[j]) / state(a.jacobian[j])
    size = max(abs(state(x)) for x in b.jacobian)
    if any(abs(state(y) - factor * state(x)) > EQUAL * size for x, y in zip(a.jacobian, b.jacobian, strict=True)):
        return None
    scaled = factor * state(a.value)
    return None if adds_up([state(b.value), -scaled]) else state(b.value) - scaled


def _is_one_number(values: Sequence[float | None]) -> bool:
    first = values[0]
    return first is not None and all(x is not None and abs(x - first) <= EQUAL * abs(first) for x in values)
