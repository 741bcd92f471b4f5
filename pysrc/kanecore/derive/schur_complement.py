# SPDX-License-Identifier: BSD-3-Clause
"""Solutions u̇, λ of M u̇ − Gᵀλ = f, G u̇ = −γ on the graph, for several right-hand sides: by the Schur complement of M.

All rows of G count as independent here; in other solutions numbers decide this at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Graph
from kanecore.graph.factorization import factorized_columns
from kanecore.graph.linear_equations import solve

__all__ = ["SchurComplement"]


class SchurComplement:
    """M⁻¹Gᵀ and the Schur complement G M⁻¹Gᵀ, common to all right-hand sides."""

    def __init__(
        self, g: Graph, mass: Sequence[Sequence[int]], jacobian: Sequence[Sequence[int]], symmetric: bool
    ) -> None:
        self.graph, self._symmetric, self._mass, self._jacobian = g, symmetric, mass, jacobian
        self._columns = self._solutions(mass, jacobian)
        self._coupling = [[self._dot(row, column) for column in self._columns] for row in jacobian]

    def _solutions(self, matrix: Sequence[Sequence[int]], sides: Sequence[Sequence[int]]) -> list[list[int]]:
        if self._symmetric:
            return factorized_columns(self.graph, matrix, sides)[0]
        return [solve(self.graph, matrix, side) for side in sides]

    def _dot(self, a: Sequence[int], b: Sequence[int]) -> int:
        g = self.graph
        return g.sum(g.mul(x, y) for x, y in zip(a, b, strict=True))

    def accelerations(self, forcing: Sequence[int], bias: Sequence[int]) -> list[int]:
        """The solution u̇ and λ, with G M⁻¹Gᵀ λ = −γ − G M⁻¹ f."""
        g = self.graph
        [free] = self._solutions(self._mass, [forcing])
        if not self._columns:
            return free
        right = [g.neg(g.add(b, self._dot(row, free))) for b, row in zip(bias, self._jacobian, strict=True)]
        [multipliers] = self._solutions(self._coupling, [right])
        columns = list(zip(*self._columns, strict=True))
        return [*(g.add(x, self._dot(row, multipliers)) for x, row in zip(free, columns, strict=True)), *multipliers]
