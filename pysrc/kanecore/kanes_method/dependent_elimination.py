# SPDX-License-Identifier: BSD-3-Clause
"""Elimination of dependent speeds from Kane's equations, as in SymPy's KanesMethod, and auxiliary equations.

From each x_r of all speeds, x_independent + A_rsᵀ x_dependent remains (Kane & Levinson 1985, section 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import (
    Wrenches,
    active_forces,
    at_rest,
    generalized_forces,
    inertia_forces,
    inertial_part,
)
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import SPEED

__all__ = ["KanesForm"]


class KanesForm:
    """F_r + F*_r of the independent speeds, then of the auxiliary ones; lists of nodes.

    Parameters
    ----------
    derivation : Derivation
    dependence : sequence of rows
        A_rs: the derivatives of each dependent speed by the independent and the auxiliary ones.
    """

    def __init__(self, derivation: Derivation, dependence: Sequence[Sequence[int]]) -> None:
        self.derivation = derivation
        self._dependence = dependence
        self._n_independent = len(derivation.description.speeds) - len(dependence)

    def _eliminated(self, values: Sequence[int]) -> list[int]:
        """Quantities of the remaining speeds after elimination of the dependent speeds."""
        p = self._n_independent
        return [self._with_dependent(x, r, values[p:]) for r, x in enumerate(values[:p])]

    def _with_dependent(self, x: int, r: int, dependent: Sequence[int]) -> int:
        g = self.derivation.graph
        return g.sum([x, *(g.mul(row[r], y) for row, y in zip(self._dependence, dependent, strict=True))])

    # ---------------------------------------------------------- independent speeds
    @cached_property
    def _all_active(self) -> list[int]:
        k, d = self.derivation.kinematics, self.derivation.description
        return active_forces(k, at_rest(k, d.loads), d.potentials)

    def _all_inertia(self, udot: Sequence[int]) -> list[int]:
        k, d = self.derivation.kinematics, self.derivation.description
        wrenches = Wrenches(k, inertial_part(k, d.loads, udot))
        return generalized_forces(inertia_forces(k, Accelerations(k, udot), wrenches))

    @cached_property
    def active(self) -> list[int]:
        """F_r."""
        return self._eliminated(self._all_active)

    @cached_property
    def mass_matrix(self) -> list[list[int]]:
        """M of F*_r = −(M u̇ + n), with a row for each independent speed and a column for each speed."""
        columns = [self._eliminated(column) for column in zip(*self.derivation.mass_matrix, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    @cached_property
    def inertia(self) -> list[int]:
        """F*_r = −(M u̇ + n)."""
        g, udot = self.derivation.graph, self.derivation.description.accelerations
        remainder = self._eliminated(self._all_inertia([0] * len(udot)))
        moving = [g.sum(g.mul(x, a) for x, a in zip(row, udot, strict=True)) for row in self.mass_matrix]
        return [g.sub(n, m) for n, m in zip(remainder, moving, strict=True)]

    @cached_property
    def forcing(self) -> list[int]:
        """F_r + F*_r at u̇ = 0, with fewer operations than the sum."""
        return self._eliminated(self.derivation.forcing)

    # ------------------------------------------------------------ auxiliary speeds
    @cached_property
    def _freed(self) -> Kinematics:
        return Kinematics(self.derivation.freed)

    def _of_auxiliary(self, wrenches: Wrenches, of_speeds: Sequence[int]) -> list[int]:
        """The generalized forces of the auxiliary speeds, which are zero after partial velocities are formed."""
        g, d, p = self.derivation.graph, self.derivation.freed, self._n_independent
        forces = accumulate(g, wrenches.weights(), d.auxiliary, SPEED)
        forces = g.substitute(forces, dict.fromkeys(d.auxiliary, 0))
        return [self._with_dependent(x, p + r, of_speeds[p:]) for r, x in enumerate(forces)]

    @cached_property
    def auxiliary_active(self) -> list[int]:
        """F_r of the auxiliary speeds."""
        k = self._freed
        return self._of_auxiliary(Wrenches(k, at_rest(k, k.description.loads)), self._all_active)

    @cached_property
    def auxiliary_inertia(self) -> list[int]:
        """F*_r of the auxiliary speeds."""
        k = self._freed
        udot = k.description.accelerations
        wrenches = Wrenches(k, inertial_part(k, k.description.loads, udot))
        inertia_forces(k, Accelerations(k, udot), wrenches)
        return self._of_auxiliary(wrenches, self._all_inertia(udot))
