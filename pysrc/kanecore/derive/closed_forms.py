# SPDX-License-Identifier: BSD-3-Clause
"""Closed forms of u̇, of λ and of the matrices of linearized equations, by Cramer's rule.

With the bordered matrix K of M u̇ − Gᵀλ = f and G u̇ = −γ, every unknown is a quotient of two determinants.  Closed
forms are for readers, and for a few unknowns; programs factorize (:mod:`.derivation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import ACCELERATION, Graph
from kanecore.graph.vectors import dot
from kanecore.graph.zero_tests import vanish

from .derivation import Derivation
from .linearized_equations import VARIABLES

__all__ = ["closed_form"]

SPEEDS = 3  # largest number of speeds for which u̇ is written out
UNKNOWNS = 5  # largest number of speeds and multipliers
LONGEST = 400  # largest number of nodes of results for readers

Matrix = list[list[int]]


def closed_form(derivation: Derivation, kernel: str, at: Mapping[int, int]) -> tuple[Graph, list[int]] | None:
    """A copy of the graph with the results of a kernel; None for kernels without closed form and too many unknowns.

    Parameters
    ----------
    at : mapping of nodes to nodes
        Replacements of symbols after all derivatives are formed.

    Returns
    -------
    (Graph, roots) or None
        None also if K is singular, as with redundant rows of G.
    """
    find = KERNELS.get(kernel)
    n = len(derivation.description.speeds)
    if find is None or n > SPEEDS or n + len(derivation.rows) > UNKNOWNS or derivation.missing(kernel):
        return None
    if kernel == "multipliers" and not derivation.rows:
        return None
    solved = _Solved(derivation)
    if solved.singular:
        return None
    g, roots = solved.graph, find(solved)
    roots = g.substitute(roots, at) if at else roots
    return (g, roots) if len(g.below(roots)) <= LONGEST else None


class _Solved:
    """The solution of the equations of motion, on a copy of the graph.

    Attributes
    ----------
    blocks : list of _Block
        Equations of K; different blocks have no unknown in common.
    singular : bool
    """

    def __init__(self, derivation: Derivation) -> None:
        mass, self.rows, self.forcing = derivation.mass_matrix, derivation.rows, derivation.forcing
        self.balance = derivation.residual(derivation.description.accelerations)
        self.derivation, self.description = derivation, derivation.description
        self.multipliers = derivation.multiplier_symbols
        g = self.graph = derivation.graph.clone()
        self.matrix = [[*line, *(g.neg(row.jacobian[i]) for row in self.rows)] for i, line in enumerate(mass)] + [
            [*row.jacobian, *(0 for _ in self.rows)] for row in self.rows
        ]
        self.blocks = _blocks(self.matrix)
        self.singular = any(
            len(block.rows) != len(block.columns) or vanish(g, [_determinant(g, block.of(self.matrix))])
            for block in self.blocks
        )

    def unknowns(self, right: Sequence[int]) -> list[int]:
        """Solution of K x = right."""
        g, found = self.graph, [0] * len(self.matrix)
        for block in self.blocks:
            k, b = block.of(self.matrix), [right[i] for i in block.rows]
            below = _determinant(g, k)
            for j, column in enumerate(block.columns):
                replaced = [[*row[:j], x, *row[j + 1 :]] for row, x in zip(k, b, strict=True)]
                found[column] = g.div(_determinant(g, replaced), below)
        return found

    def motion(self) -> list[int]:
        """The entries of u̇, then those of λ."""
        return self.unknowns([*self.forcing, *(self.graph.neg(row.bias) for row in self.rows)])

    def rates(self) -> list[int]:
        d, motion = self.description, self.motion()
        held = dict(zip([*d.accelerations, *self.multipliers], motion, strict=True))
        return [*d.rates, *motion[: len(d.speeds)], *self.graph.substitute(list(d.state_rates), held)]

    def slopes(self, kernel: str) -> list[int]:
        """∂ẋ/∂s row by row, from M du̇ − Gᵀ dλ = ∂R and G du̇ = −∂S at constant u̇ and λ."""
        g, d = self.graph, self.description
        wrt, balance = VARIABLES[kernel](d), list(self.balance)
        for row, force in zip(self.rows, self.multipliers, strict=True):
            balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
        levels = [g.neg(g.add(row.bias, dot(g, row.jacobian, d.accelerations))) for row in self.rows]
        slopes = [accumulate(g, [(node, g.one)], wrt, limits=True) for node in (*balance, *levels)]
        held = [*d.accelerations, *self.multipliers]
        of_states = [accumulate(g, [(node, g.one)], [*wrt, *held], limits=True) for node in d.state_rates]
        if any(g.depends[x] & ACCELERATION for line in (*slopes, *of_states) for x in line):
            motion = dict(zip(held, self.motion(), strict=True))
            slopes, of_states = ([g.substitute(line, motion) for line in lines] for lines in (slopes, of_states))
        columns = [self.unknowns(column) for column in zip(*slopes, strict=True)]
        rates = [x for rate in d.rates for x in accumulate(g, [(rate, g.one)], wrt, limits=True)]
        of_speeds = [column[i] for i in range(len(d.speeds)) for column in columns]
        n = len(wrt)
        through = [g.add(line[j], dot(g, line[n:], column)) for line in of_states for j, column in enumerate(columns)]
        return [*rates, *of_speeds, *through]


KERNELS: Mapping[str, Callable[[_Solved], list[int]]] = {
    "rhs": _Solved.rates,
    "udot": lambda solved: solved.motion()[: len(solved.description.speeds)],
    "multipliers": lambda solved: solved.motion()[len(solved.description.speeds) :],
    "linearize": lambda solved: solved.slopes("linearize"),
    "rhs_time_derivative": lambda solved: solved.slopes("rhs_time_derivative"),
    "rhs_parameter_jacobian": lambda solved: solved.slopes("rhs_parameter_jacobian"),
}


@dataclass
class _Block:
    """Equations of a system that share unknowns, and these unknowns."""

    rows: list[int]
    columns: list[int]

    def of(self, matrix: Matrix) -> Matrix:
        return [[matrix[i][j] for j in self.columns] for i in self.rows]


def _blocks(matrix: Matrix) -> list[_Block]:
    found: list[_Block] = []
    for i, row in enumerate(matrix):
        columns = {j for j, x in enumerate(row) if x}
        joined = _Block([i], sorted(columns))
        for block in [block for block in found if columns.intersection(block.columns)]:
            found.remove(block)
            joined = _Block([*block.rows, *joined.rows], sorted({*block.columns, *joined.columns}))
        found.append(joined)
    return found


def _determinant(g: Graph, rows: Sequence[Sequence[int]]) -> int:
    """The determinant by expansion along the sparsest row; equal minors are the same node."""
    if not rows:
        return g.one
    i = min(range(len(rows)), key=lambda k: sum(map(bool, rows[k])))
    rest, total = [*rows[:i], *rows[i + 1 :]], 0
    for j, x in enumerate(rows[i]):
        if x:
            term = g.mul(x, _determinant(g, [[*row[:j], *row[j + 1 :]] for row in rest]))
            total = g.sub(total, term) if (i + j) % 2 else g.add(total, term)
    return total
