# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion of a Lagrangian L(q, q̇, t, r), any function of the rates (Goldstein, Poole & Safko, *Classical
Mechanics*, 3rd ed. 2002, sections 1.4, 2.4 and 2.7).

With u = q̇ and p = ∂L/∂u,

    dp/dt = ∂L/∂q + Q + Gᵀλ,        M = ∂²L/∂u∂u,        f = ∂L/∂q + Q − (∂p/∂q) u − ∂p/∂t,

where Q are the generalized forces of loads in addition to L.  Energies come from Jacobi's function h = p·u − L:

    U = −L at u = 0,        T = h − U,        d(T + U)/dt = Q·u − ∂L/∂t,

where inputs are functions of time.  For L = T − U of a mechanism without time in its positions, they are T and U.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kanecore.derive.forces.energies import Energy, power
from kanecore.derive.forces.generalized_forces import (
    Wrenches,
    active_forces,
    at_rest,
    generalized_forces,
    inertial_part,
)
from kanecore.derive.kinematics import Kinematics
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import COORDINATE, SPEED
from kanecore.graph.vectors import dot

from .formulation import Solution, factorized

__all__ = ["Lagrange"]


class Lagrange:
    """Formulation by a Lagrangian: see `kanecore.derive.formulations.formulation.Formulation`.

    Attributes
    ----------
    lagrangian : node
        L, minus the potential energy of loads that have one.
    """

    method, has_gravity, pivots = "second derivatives of the Lagrangian", False, ()

    def __init__(self, k: Kinematics, lagrangian: int) -> None:
        self.kinematics, self.graph, self._given = k, k.graph, lagrangian
        self._speeds = k.description.speeds

    # ----------------------------------------------------------------- forces
    def momenta(self) -> list[int]:
        return self._momenta

    @cached_property
    def _momenta(self) -> list[int]:
        """The momenta p = ∂L/∂u."""
        return accumulate(self.graph, [(self._given, self.graph.one)], self._speeds, SPEED)

    def _slopes(self, node: int) -> list[int]:
        return accumulate(self.graph, [(node, self.graph.one)], self.kinematics.description.coordinates, COORDINATE)

    def residual(self, udot: Sequence[int]) -> list[int]:
        """The sum ∂L/∂q − dp/dt + Q for given u̇."""
        k, d, g = self.kinematics, self.kinematics.description, self.graph
        wrenches = Wrenches(k, [*at_rest(k, d.loads), *inertial_part(k, d.loads, udot)])
        forces = [g.add(a, b) for a, b in zip(self._balance(udot), generalized_forces(wrenches), strict=True)]
        return [
            g.add(a, b) for a, b in zip(forces, active_forces(k, (), d.potentials, d.generalized_forces), strict=True)
        ]

    def _balance(self, udot: Sequence[int]) -> list[int]:
        """The sum ∂L/∂q − dp/dt."""
        k, g = self.kinematics, self.graph
        along = Tangent(g, {**k.seeds, **{u: a for u, a in zip(self._speeds, udot, strict=True) if a}}).of
        return [g.sub(slope, along(p)) for slope, p in zip(self._slopes(self._given), self._momenta, strict=True)]

    @cached_property
    def forcing(self) -> list[int]:
        return self.residual([0] * len(self._speeds))

    def conservative(self) -> list[int]:
        """The forces −∂U/∂q of U = −L at u = 0."""
        return self._slopes(self._at_rest)

    def inertial(self, udot: Sequence[int]) -> list[int]:
        """Terms of Lagrange's equations at given u̇ without the conservative forces."""
        return [self.graph.sub(a, b) for a, b in zip(self._balance(udot), self.conservative(), strict=True)]

    def active_forces(self) -> list[int]:
        k, d = self.kinematics, self.kinematics.description
        forces = active_forces(k, at_rest(k, d.loads), d.potentials, d.generalized_forces)
        return [self.graph.add(a, b) for a, b in zip(forces, self.conservative(), strict=True)]

    def inertia_forces(self, udot: Sequence[int]) -> list[int]:
        k = self.kinematics
        loads = generalized_forces(Wrenches(k, inertial_part(k, k.description.loads, udot)))
        return [self.graph.add(a, b) for a, b in zip(self.inertial(udot), loads, strict=True)]

    # --------------------------------------------------------------- energies
    @cached_property
    def energy(self) -> Energy:
        return Energy(self.kinematics)

    @cached_property
    def _at_rest(self) -> int:
        return self.graph.substitute([self._given], dict.fromkeys(self._speeds, 0))[0]

    @property
    def lagrangian(self) -> int:
        return self.graph.sub(self._given, self.energy.potential)

    @property
    def kinetic_energy(self) -> int:
        return self.graph.sub(dot(self.graph, self._momenta, self._speeds), self.kinetic_part)

    @property
    def kinetic_part(self) -> int:
        return self.graph.sub(self._given, self._at_rest)

    @property
    def potential_energy(self) -> int:
        return self.graph.sub(self.energy.potential, self._at_rest)

    @property
    def power(self) -> int:
        """Q·u − ∂L/∂t, for loads without a potential, with the power of moving potentials."""
        k, g = self.kinematics, self.graph
        in_time = {i: rate for i, rate in k.seeds.items() if i not in k.description.coordinates}
        return g.sub(power(k, self.energy), Tangent(g, in_time).of(self._given))

    # ------------------------------------------------------------ mass matrix
    @cached_property
    def metric(self) -> list[list[int]]:
        """The symmetric matrix ∂²L/∂u∂u, from its lower half."""
        matrix = [[0] * len(self._speeds) for _ in self._speeds]
        for i, p in enumerate(self._momenta):
            row = accumulate(self.graph, [(p, self.graph.one)], self._speeds[: i + 1], SPEED)
            for j, entry in enumerate(row):
                matrix[i][j] = matrix[j][i] = entry
        return matrix

    def solutions(self, forcing: Sequence[int]) -> Iterator[Solution]:
        yield factorized(self.graph, self.method, self.metric, forcing)
