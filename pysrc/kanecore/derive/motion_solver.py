# SPDX-License-Identifier: BSD-3-Clause
"""Solutions u̇, λ of M u̇ − Gᵀλ = f, G u̇ = −γ on the graph, for several right-hand sides: by elimination, in order.

It takes for granted what numbers decide at run time, which rows are independent.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Graph
from kanecore.graph.factorization import factorized_solve
from kanecore.graph.linear_equations import solve

__all__ = ["MotionSolver"]


class MotionSolver:
    """Factors of M and of G M⁻¹Gᵀ, which all right-hand sides share."""

    def __init__(
        self, g: Graph, mass: Sequence[Sequence[int]], jacobian: Sequence[Sequence[int]], symmetric: bool
    ) -> None:
        self.graph, self._symmetric = g, symmetric
        self._mass, self._jacobian = [list(row) for row in mass], jacobian
        self._columns = [self._free(list(row)) for row in jacobian]  # M⁻¹Gᵀ
        self._coupling = [[self._dot(row, column) for column in self._columns] for row in jacobian]

    def _free(self, right: list[int]) -> list[int]:
        if self._symmetric:
            return factorized_solve(self.graph, self._mass, right)[0]
        return solve(self.graph, self._mass, right)

    def _dot(self, a: Sequence[int], b: Sequence[int]) -> int:
        g = self.graph
        return g.sum(g.mul(x, y) for x, y in zip(a, b, strict=True))

    def accelerations(self, forcing: Sequence[int], bias: Sequence[int]) -> list[int]:
        """u̇ and λ, with G M⁻¹Gᵀ λ = −γ − G M⁻¹ f."""
        g = self.graph
        free = self._free(list(forcing))
        if not self._columns:
            return free
        right = [g.neg(g.add(b, self._dot(row, free))) for b, row in zip(bias, self._jacobian, strict=True)]
        if self._symmetric:
            multipliers = factorized_solve(g, self._coupling, right)[0]
        else:
            multipliers = solve(g, self._coupling, right)
        columns = list(zip(*self._columns, strict=True))
        return [*(g.add(x, self._dot(row, multipliers)) for x, row in zip(free, columns, strict=True)), *multipliers]
