# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion u̇ = f(q, u, t, r) that are solved already: M is 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kanecore.describe.description import FirstOrder
from kanecore.graph.calculus import accumulate
from kanecore.graph.scalars import SPEED

from .energy import Energy
from .formulation import Solution
from .kinematics import Kinematics
from .registry import Derived

__all__ = ["Solved"]


class Solved:
    """A formulation: see `kanecore.derive.formulation.Formulation`; nothing in it is a force."""

    method, has_gravity = "equations of first order", False

    def __init__(self, k: Kinematics, given: FirstOrder) -> None:
        self.kinematics, self.graph, self._given = k, k.graph, given
        self.forcing = list(given.derivatives)
        self.kinetic_energy, self.potential_energy, self.power = given.kinetic, given.potential, given.power
        self.lagrangian, self.pivots = given.lagrangian, given.pivots

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
