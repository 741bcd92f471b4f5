# SPDX-License-Identifier: BSD-3-Clause
"""Formulations: sources of M u̇ = f and of the energies.

A formulation is made of bodies and loads (:mod:`.kane_equations`, Kane's method), of a Lagrangian
(:mod:`.lagrange_equations`), or of solved equations (`Solved`: u̇ = f(q, u, t, r), M is 1).  All further results follow
from M, f and the constraints, whatever the formulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from kanecore.derive.forces.energies import Energy
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import FirstOrder
from kanecore.graph.calculus import accumulate
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.expression_graph import SPEED, Graph
from kanecore.graph.factorization import factorized_solve

__all__ = ["ARTICULATED", "Formulation", "Solution", "Solved", "factorized", "named_pivots"]

ARTICULATED = "articulated bodies"


@dataclass(frozen=True)
class Solution:
    """Expressions of u̇ and the method in words; ``waiting`` is the length of their longest chain of operations."""

    method: str
    udot: Derived
    waiting: int = 0

    def time(self, g: Graph) -> int:
        """Cost of the solution, in operations."""
        return count_in_call(g, self.udot.roots) + self.waiting


class Formulation(Protocol):
    """A source of the equations of motion, on the graph.

    Attributes
    ----------
    method : str
        Method of forming M, in words.
    metric : list of list of nodes
        M without the loads in u̇: the symmetric metric of projections.
    forcing : list of nodes
        The right-hand side f of M u̇ = f: the residual at u̇ = 0.
    energy : Energy
        The potential energy of the loads.
    kinetic_energy, potential_energy : node
    lagrangian : node
        L, minus the potential energy of loads.
    kinetic_part : node
        The sum L + U, the part of L with speeds; T for bodies.
    power : node
        d(T + U)/dt at u̇, minus the power of the forces of constraint.
    has_gravity : bool
        Whether every body with mass has its weight in one uniform field.
    pivots : sequence of (pivot, diagonal entry, number of the speed)
        Conditions on all expressions, as in `Derived`.
    """

    @property
    def method(self) -> str: ...
    @property
    def metric(self) -> list[list[int]]: ...
    @property
    def forcing(self) -> list[int]: ...
    @property
    def energy(self) -> Energy: ...
    @property
    def kinetic_energy(self) -> int: ...
    @property
    def lagrangian(self) -> int: ...
    @property
    def kinetic_part(self) -> int: ...
    @property
    def potential_energy(self) -> int: ...
    @property
    def power(self) -> int: ...
    @property
    def has_gravity(self) -> bool: ...
    @property
    def pivots(self) -> tuple[tuple[int, int, int], ...]: ...

    def momenta(self) -> list[int]:
        """∂T/∂u; for a Lagrangian ∂L/∂u."""
        ...

    def active_forces(self) -> list[int]:
        """F_r at u̇ = 0."""
        ...

    def inertia_forces(self, udot: Sequence[int]) -> list[int]:
        """F*_r for given u̇, with the part of the loads that is linear in u̇."""
        ...

    def residual(self, udot: Sequence[int]) -> list[int]:
        """F_r + F*_r for given u̇."""
        ...

    def solutions(self, forcing: Sequence[int]) -> Iterator[Solution]:
        """Solutions u̇ of M u̇ = ``forcing``, for models without constraints and loads in u̇."""
        ...


def factorized(g: Graph, method: str, mass_matrix: Sequence[Sequence[int]], forcing: Sequence[int]) -> Solution:
    """The solution of M u̇ = f from the factorization of M in the user's speeds."""
    udot, pivots = factorized_solve(g, mass_matrix, forcing)
    return Solution(f"{method}, LᵀDL", Derived(tuple(udot), named_pivots(pivots, range(len(forcing)))))


def named_pivots(pivots: Sequence[tuple[int, int]], speeds: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Pivots and their diagonal entries with the numbers of the speeds, for messages."""
    return tuple((pivot, diagonal, i) for i, (pivot, diagonal) in zip(speeds, pivots, strict=True))


class Solved:
    """Formulation of solved equations, without forces; see `kanecore.derive.formulations.formulation.Formulation`."""

    method, has_gravity = "equations of first order", False

    def __init__(self, k: Kinematics, first_order: FirstOrder) -> None:
        self.kinematics, self.graph, self._given = k, k.graph, first_order
        self.forcing = list(first_order.derivatives)
        self.kinetic_energy, self.potential_energy = first_order.kinetic, first_order.potential
        self.power = first_order.power
        self.lagrangian, self.pivots = first_order.lagrangian, first_order.pivots

    @property
    def kinetic_part(self) -> int:
        return self.graph.add(self.lagrangian, self.potential_energy)

    @cached_property
    def metric(self) -> list[list[int]]:
        n = len(self.forcing)
        return [[int(i == j) for j in range(n)] for i in range(n)]

    @cached_property
    def energy(self) -> Energy:
        return Energy(self.kinematics)

    def residual(self, udot: Sequence[int]) -> list[int]:
        return [self.graph.sub(f, a) for f, a in zip(self.forcing, udot, strict=True)]

    def momenta(self) -> list[int]:
        return accumulate(self.graph, [(self.lagrangian, self.graph.one)], self.kinematics.description.speeds, SPEED)

    def active_forces(self) -> list[int]:
        return self.forcing

    def inertia_forces(self, udot: Sequence[int]) -> list[int]:
        return [self.graph.neg(a) for a in udot]

    def solutions(self, forcing: Sequence[int]) -> Iterator[Solution]:
        yield Solution(self.method, Derived(tuple(forcing)))
