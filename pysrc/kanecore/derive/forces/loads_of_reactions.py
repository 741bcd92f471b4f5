# SPDX-License-Identifier: BSD-3-Clause
"""Loads that depend on reactions N which in turn depend on the motion: friction μ|N| of joints, rails and tyres.

Let s be the parts of loads that depend on reactions.  The equations of motion M u̇ = f₀ + B s + Gᵀλ, G u̇ = −γ, and the
equations of the reactions are linear in u̇, λ, N and s.  They give

    N = α + β s        from one factorization and k + 1 right-hand sides
    s = h(N)           by Newton's method from s = 0, with J = 1 − (∂h/∂N) β

On the graph these are `TURNS` steps without branches; linear h needs one step.  The solution is the one connected with
zero friction: det J is 1 without friction, and must be positive at all steps.  If it is not, or if the steps do not
converge, loads are NaN; a node gives the reason as a ``kc_status``, and calls raise a SingularError that names the
loads.  There bodies jam, or jump without impact (Painlevé; F. Génot & B. Brogliato, *New results on Painlevé
paradoxes*, 1999).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanecore.graph.calculus import accumulate, is_affine
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.linear_equations import determinant, solve, solve_in_order
from kanecore.graph.vectors import dot
from kanecore.statuses import BY_WORD

__all__ = ["Affine", "Shares", "friction_free_determinant", "not_a_number", "not_positive", "status_where"]

TURNS = 5
OWN_SLOPES = 3  # steps with a new Jacobian: later steps are small, and reuse the last Jacobian


class Shares:
    """Parts of loads that depend on reactions, each replaced by a symbol.

    Attributes
    ----------
    parts : dict of symbol to node
        s and h(N).
    """

    def __init__(self, g: Graph, reactions: Sequence[int]) -> None:
        self.graph = g
        self.parts: dict[int, int] = {}
        self._above = set().union(*(g.above(i) for i in reactions), reactions)
        self._done: dict[int, int] = {}

    def of(self, node: int, keep: Collection[int]) -> int:
        """A component of a load, linear in the symbols of its parts, and in the reactions to ``keep``."""
        if node not in self._above or node in keep:
            return node
        if node not in self._done:
            self._done[node] = self._split(node, keep)
        return self._done[node]

    def _split(self, i: int, keep: Collection[int]) -> int:
        g, node = self.graph, self.graph.nodes[i]
        op, args = node[0], g.operands(i)
        moving = [a in self._above for a in args]
        linear = (
            op in (Op.ADD, Op.SUB, Op.NEG)
            or (op is Op.MUL and not all(moving))
            or (op is Op.DIV and not moving[1])
            or (op is Op.SELECT and not moving[0])
        )
        if not linear:
            return self.symbol(i)
        return g.rebuild(node, [self.of(a, keep) for a in args])

    def symbol(self, node: int) -> int:
        """The symbol of one part."""
        symbol = self.graph.symbol(("share", node), self.graph.depends[node])
        self.parts[symbol] = node
        return symbol


@dataclass(frozen=True)
class Affine:
    """N = α + β s with s = h(N), on a graph.

    Attributes
    ----------
    reactions : sequence of nodes
        The symbols N in ``laws``.
    start : sequence of nodes
        α, the reactions without friction.
    slopes : sequence of sequence of nodes
        β, a row for each reaction.
    laws : sequence of nodes
        h.
    """

    graph: Graph
    reactions: Sequence[int]
    start: Sequence[int]
    slopes: Sequence[Sequence[int]]
    laws: Sequence[int]

    def at(self, s: Sequence[int]) -> dict[int, int]:
        """N for given s."""
        g = self.graph
        return {
            n: g.add(a, g.sum(g.mul(b, x) for b, x in zip(row, s, strict=True)))
            for n, a, row in zip(self.reactions, self.start, self.slopes, strict=True)
        }

    @cached_property
    def _changes(self) -> list[list[int]]:
        """The Jacobian J in the symbols N."""
        g = self.graph
        columns = list(zip(*self.slopes, strict=True))
        gradients = [accumulate(g, [(law, g.one)], self.reactions) for law in self.laws]
        return [
            [g.sub(g.constant(int(i == j)), dot(g, gradient, column)) for j, column in enumerate(columns)]
            for i, gradient in enumerate(gradients)
        ]

    def jacobian(self, values: Mapping[int, int]) -> list[list[int]]:
        """J = 1 − (∂h/∂N) β at given N."""
        return [self.graph.substitute(row, values) for row in self._changes]

    @property
    def is_explicit(self) -> bool:
        """Test whether h does not depend on reactions that s changes."""
        return all(x == int(i == j) for i, row in enumerate(self._changes) for j, x in enumerate(row))

    @property
    def is_linear(self) -> bool:
        return is_affine(self.graph, self.laws, set().union(*map(self.graph.above, self.reactions)).__contains__)

    def solution(self) -> tuple[list[int], int]:
        """The nodes of s and of a ``kc_status``, the reason if s is NaN, as it is not connected with zero friction."""
        g, s = self.graph, [0] * len(self.laws)
        unended: list[int] = []
        if self.is_explicit or self.is_linear:
            values = self.at(s)
            jacobian = self.jacobian(values)
            conditions = not_positive(g, determinant(g, jacobian))
            s = [g.neg(step) for step in solve(g, jacobian, self._residuals(s, values))]
        else:
            s, conditions, unended = self._by_newton()
        fault = status_where(g, conditions, "jammed", status_where(g, unended, "unconverged"))
        if not fault:
            return s, 0
        wrong = g.binary(Op.LT, 0, fault)
        return [g.select(wrong, not_a_number(g, x), x) for x in s], fault

    def _by_newton(self) -> tuple[list[int], list[int], list[int]]:
        """The shares s after the last step; conditions of the end of a branch; conditions of too few steps.

        A step corrects the errors by small pivots of the previous step.
        """
        g, s = self.graph, [0] * len(self.laws)
        conditions, steps = list[int](), list[int]()
        jacobian: list[list[int]] = []
        for turn in range(TURNS):
            values = self.at(s)
            if turn < OWN_SLOPES:
                jacobian = self.jacobian(values)
            steps, size = solve_in_order(g, jacobian, self._residuals(s, values))
            conditions += not_positive(g, size)
            s = [g.sub(x, step) for x, step in zip(s, steps, strict=True)]
        return s, conditions, [self._is_far(steps, s)]

    def _residuals(self, s: Sequence[int], values: Mapping[int, int]) -> list[int]:
        g = self.graph
        return [g.sub(x, h) for x, h in zip(s, g.substitute(list(self.laws), values), strict=True)]

    def _is_far(self, steps: Sequence[int], s: Sequence[int]) -> int:
        """The condition that the last step was not small."""
        g = self.graph
        last, size = (g.sum(g.call(Op.ABS, x) for x in each) for each in (steps, s))
        return g.binary(Op.LT, g.mul(g.last_step(), size), last)


def friction_free_determinant(affine: Affine) -> int:
    """The determinant det J at the reactions without friction; for linear h it is the same everywhere."""
    return determinant(affine.graph, affine.jacobian(affine.at([0] * len(affine.laws))))


def not_positive(g: Graph, node: int) -> list[int]:
    """The condition node ≤ 0, as a list; empty for a positive number."""
    value = g.value(node)
    return [] if value is not None and value > 0 else [g.binary(Op.LE, node, 0)]


def status_where(g: Graph, conditions: Iterable[int], word: str, otherwise: int = 0) -> int:
    """The node of a status, which is set if any of several conditions is true.

    All conditions are joined in one number, which loads read once: a choice for each condition would double the work of
    derivatives.
    """
    status = g.constant(BY_WORD[word].code)
    for condition in dict.fromkeys(conditions):
        otherwise = g.select(condition, status, otherwise)
    return otherwise


def not_a_number(g: Graph, node: int) -> int:
    """A node that is NaN for all values of x: the root of −1 − x², which costs no call of a function."""
    return g.sqrt(g.sub(g.constant(-1), g.square(node)))
