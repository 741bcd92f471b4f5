# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion of bodies and loads, by Kane's method.

Generalized active and inertia forces come from :mod:`.generalized_forces`; the mass matrix, and solutions of M u̇ = f,
from the recursions that :mod:`.recursion_choice` chooses among.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kanecore.derive.forces.energies import Energy, kinetic_energy, momenta, power
from kanecore.derive.forces.generalized_forces import (
    Wrenches,
    active_forces,
    at_rest,
    generalized_forces,
    inertia_forces,
    inertial_part,
    uniform_gravity,
)
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.derive.recursions.composite_rates import CompositeRates
from kanecore.derive.recursions.inertia_regrouping import Regrouped
from kanecore.derive.recursions.joint_tree import JointTree
from kanecore.derive.recursions.recursion_choice import Recursions
from kanecore.describe.description import Load
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.vectors import neg

from .formulation import Solution

__all__ = ["Bodies"]


class Bodies:
    """Formulation of bodies and loads: see `kanecore.derive.formulations.formulation.Formulation`."""

    pivots = ()

    def __init__(self, k: Kinematics) -> None:
        self.kinematics, self.graph, self.recursions = k, k.graph, Recursions(k)
        self.field, self._weights = uniform_gravity(k)

    # ----------------------------------------------------------------- forces
    def residual(self, udot: Sequence[int]) -> list[int]:
        """F_r + F*_r for given u̇, from the original or regrouped inertias, whichever takes fewer operations."""
        inertias = [None] if self.recursions.regrouped is None else [self.recursions.regrouped, None]
        ways = [self._residual(udot, each) for each in inertias]
        return min(ways, key=lambda forces: count_in_call(self.graph, forces))

    def _residual(self, udot: Sequence[int], regrouped: Regrouped | None) -> list[int]:
        """F_r + F*_r from these inertias; a uniform field γ enters as an acceleration −γ of all bodies, at no cost."""
        k, d = self.kinematics, self.kinematics.description
        loads = self._other_loads
        wrenches = Wrenches(k, [*at_rest(k, loads), *inertial_part(k, loads, udot)])
        accelerations = Accelerations(k, udot, neg(self.graph, self.field))
        if regrouped is None:
            inertia_forces(k, accelerations, wrenches)
        else:
            inertia_forces(k, accelerations, wrenches, regrouped.others)
            regrouped.inertia_forces(k, accelerations, wrenches)
        forces = generalized_forces(wrenches)
        if d.potentials or d.generalized_forces:
            others = active_forces(k, (), d.potentials, d.generalized_forces)
            forces = [self.graph.add(a, b) for a, b in zip(forces, others, strict=True)]
        return forces

    @property
    def _other_loads(self) -> list[Load]:
        """All loads except the weights in the uniform field."""
        return [load for i, load in enumerate(self.kinematics.description.loads) if i not in self._weights]

    @cached_property
    def other_forces(self) -> list[int]:
        """F_r at u̇ = 0 of all loads except the weights in the uniform field."""
        k, d = self.kinematics, self.kinematics.description
        return active_forces(k, at_rest(k, self._other_loads), d.potentials, d.generalized_forces)

    @cached_property
    def forcing(self) -> list[int]:
        return self.residual([0] * len(self.kinematics.description.speeds))

    def momenta(self) -> list[int]:
        return momenta(self.kinematics)

    def active_forces(self) -> list[int]:
        k, d = self.kinematics, self.kinematics.description
        return active_forces(k, at_rest(k, d.loads), d.potentials, d.generalized_forces)

    def inertia_forces(self, udot: Sequence[int]) -> list[int]:
        k = self.kinematics
        accelerations = Accelerations(k, udot)
        wrenches = Wrenches(k, inertial_part(k, k.description.loads, udot))
        return generalized_forces(inertia_forces(k, accelerations, wrenches))

    @property
    def has_gravity(self) -> bool:
        return bool(self._weights)

    # --------------------------------------------------------------- energies
    @cached_property
    def energy(self) -> Energy:
        return Energy(self.kinematics)

    @property
    def kinetic_energy(self) -> int:
        return kinetic_energy(self.kinematics)

    @property
    def lagrangian(self) -> int:
        return self.graph.sub(self.kinetic_energy, self.potential_energy)

    @property
    def kinetic_part(self) -> int:
        return self.kinetic_energy

    @property
    def potential_energy(self) -> int:
        return self.energy.potential

    @property
    def power(self) -> int:
        return power(self.kinematics, self.energy)

    # ------------------------------------------------------------ mass matrix
    @property
    def method(self) -> str:
        return self.recursions.formed.method

    @property
    def metric(self) -> list[list[int]]:
        """The mass matrix of the bodies, without loads: T = ½ uᵀM u."""
        return self.recursions.formed.matrix

    @property
    def tree(self) -> JointTree | None:
        """The tree of joints."""
        return self.recursions.tree

    @property
    def composite_rates(self) -> CompositeRates | None:
        """Joint rates from which loops fill M; None if M is written out."""
        return self.recursions.composite_rates

    def solutions(self, forcing: Sequence[int]) -> Iterator[Solution]:
        return self.recursions.solutions(forcing)
