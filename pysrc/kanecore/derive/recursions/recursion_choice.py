# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the recursions, of least work, that form M of bodies and that solve M u̇ = f.

M comes from composite bodies of a tree of joints, with original or regrouped inertias, or column by column.  It is
written out, or filled by loops.  u̇ comes from the factors of M in the user's speeds or in joint rates, or from
articulated bodies.  `Recursions.solutions` offers these, and `quickest` chooses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanecore.derive.formulations.formulation import ARTICULATED, Solution, factorized, named_pivots
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.kinematics import Kinematics
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.expression_graph import Graph
from kanecore.graph.factorization import factorized_solve, products
from kanecore.graph.linear_equations import Singular, matching, solve

from .articulated_bodies import articulated_solve
from .composite_rates import CompositeRates, composite_rates
from .inertia_regrouping import Regrouped, regrouped
from .joint_tree import JointTree, joint_tree, pairs, with_moved_origins
from .mass_matrix import column_mass_matrix, composite_mass_matrix, composite_momenta

__all__ = ["Formed", "Recursions", "quickest"]

COMPOSITE, COLUMNS = "composite bodies", "columns"
ARTICULATED_MIN = 10  # least number of speeds; with fewer, M and its factorization are always faster
# Operations on an articulated body wait for the previous body.  Measured on chains of 8 to 20 links, the wait for each
# rate equals 90 operations for motion in a plane, and 50 in space.  With 60 the faster recursion was chosen for all
# these chains except one, for which the choice was 3 % slower.
WAITING = 60
# Largest number of products of a factorization, for each speed.  With more, the factorization is not derived, as the
# effort grows with the cube of the number of speeds: articulated bodies take a third of its operations in space, and
# less in the plane.
FACTORIZED_MAX = 500
# Largest number of pairs of joint rates in which one carries the other.  With more pairs, loops fill M: measured on
# chains of 60 links, a call takes 0.8 of the time in space and 1.35 in the plane, and the compiler 0.6 in both.
WRITTEN_OUT = 2_000


@dataclass(frozen=True)
class Formed:
    """The mass matrix, and the method that formed it."""

    method: str
    matrix: list[list[int]]

    def operations(self, g: Graph) -> int:
        return count_in_call(g, [x for row in self.matrix for x in row])


class Recursions:
    """The recursions available for bodies, each derived on first use.

    Attributes
    ----------
    kinematics : Kinematics
    graph : Graph
    """

    def __init__(self, k: Kinematics) -> None:
        self.kinematics, self.graph = k, k.graph

    @cached_property
    def tree(self) -> JointTree | None:
        """The tree of joints; None if bodies are connected otherwise."""
        return joint_tree(self.kinematics)

    @cached_property
    def regrouped(self) -> Regrouped | None:
        """The tree with regrouped inertias."""
        return None if self.tree is None else regrouped(self.kinematics, self.tree)

    @cached_property
    def _composed(self) -> JointTree:
        """Tree for composite bodies: inertias regrouped and origins moved if that takes fewer operations."""
        assert self.tree is not None
        trees = [self.tree] if self.regrouped is None else [self.regrouped.tree, self.tree]
        return with_moved_origins(self.graph, min(trees, key=self._composing))

    def _composing(self, tree: JointTree) -> int:
        momenta = composite_momenta(self.graph, tree)
        return count_in_call(self.graph, [x for pair in momenta for vector in pair for x in vector])

    @cached_property
    def _joint_mass_matrix(self) -> list[list[int]]:
        return composite_mass_matrix(self.graph, self._composed)

    @cached_property
    def composite_rates(self) -> CompositeRates | None:
        """Joint rates from which loops fill M; None if M is written out, as it is short, or S is no permutation."""
        tree = self.tree
        if tree is None or not _is_permutation(tree.jacobian) or pairs(self._rates_before) <= WRITTEN_OUT:
            return None
        return composite_rates(self.graph, self._composed)

    @property
    def _rates_before(self) -> list[int]:
        """For each joint rate the index of the rate that carries it, or −1."""
        assert self.tree is not None
        return self.tree.rates_before(range(len(self.tree.links)))

    @cached_property
    def _speeds_are_rates(self) -> bool:
        """Test whether S is the identity: the user's speeds are the joint rates, in their order."""
        assert self.tree is not None
        entries = ((i, j, x) for i, row in enumerate(self.tree.jacobian) for j, x in enumerate(row))
        return self.tree.is_square and all(x == int(i == j) for i, j, x in entries)

    @cached_property
    def formed(self) -> Formed:
        """Mass matrix in the user's speeds, by the method with fewer operations."""
        if self.tree is None:
            return Formed(COLUMNS, column_mass_matrix(self.kinematics))
        joint, s = self._joint_mass_matrix, self.tree.jacobian
        if self._speeds_are_rates:
            return Formed(COMPOSITE, joint)
        if _is_permutation(s):
            order = [next(i for i, row in enumerate(s) if row[j]) for j in range(len(s))]
            return Formed(COMPOSITE, [[joint[a][b] for b in order] for a in order])
        g = self.graph
        n = len(s[0])
        columns = [[(k, row[j]) for k, row in enumerate(s) if row[j]] for j in range(n)]
        half = [[g.sum(g.mul(row[k], x) for k, x in column if row[k]) for column in columns] for row in joint]
        square = [[0] * n for _ in range(n)]
        for i, column in enumerate(columns):
            for j in range(i + 1):
                square[i][j] = square[j][i] = g.sum(g.mul(x, half[k][j]) for k, x in column if half[k][j])
        ways = [Formed(COMPOSITE, square), Formed(COLUMNS, column_mass_matrix(self.kinematics))]
        return min(ways, key=lambda way: way.operations(g))

    def solutions(self, forcing: Sequence[int]) -> Iterator[Solution]:
        """Solutions for u̇, from M in the user's speeds and from the tree of joints.

        M in the user's speeds is left out if it equals M of the joint rates, or belongs to a long tree in another
        order.
        """
        if self.tree is None or not (self._speeds_are_rates or self.composite_rates):
            yield factorized(self.graph, self.formed.method, self.formed.matrix, forcing)
        if self.tree is not None and self.tree.is_square:
            yield from self._in_joint_rates(self.tree, forcing)

    def _in_joint_rates(self, tree: JointTree, forcing: Sequence[int]) -> Iterator[Solution]:
        """Solutions from the mass matrix of the joint tree: S u̇ = y with M_w y = f_w, f = Sᵀ f_w."""
        g, s = self.graph, tree.jacobian
        # each joint rate gets the name of a speed in it
        rate_of = matching({i: [j for j, x in enumerate(row) if x] for i, row in enumerate(s)})
        numbers = sorted(rate_of, key=rate_of.__getitem__)
        try:
            right = forcing if self._speeds_are_rates else solve(g, list(zip(*s, strict=True)), forcing)
        except Singular:  # equal to rounding: the user's speeds may be used
            return
        n, solutions = len(right), []
        if n < ARTICULATED_MIN or products(self._rates_before) <= FACTORIZED_MAX * n:
            solutions.append((f"{COMPOSITE}, LᵀDL", factorized_solve(g, self._joint_mass_matrix, right), 0))
        if n >= ARTICULATED_MIN:
            waiting = WAITING * tree.longest
            solutions.append((ARTICULATED, articulated_solve(g, self._composed, right, tree), waiting))
        for method, (y, pivots), waiting in solutions:
            udot = y if self._speeds_are_rates else solve(g, s, y)
            yield Solution(method, Derived(tuple(udot), named_pivots(pivots, numbers)), waiting)


def quickest(g: Graph, solutions: Iterable[Solution]) -> Solution:
    """The solution of least time, by its number of operations and by the waiting of their longest chain."""
    return min(solutions, key=lambda solution: solution.time(g))


def _is_permutation(s: Sequence[Sequence[int]]) -> bool:
    return len(s) == len(s[0]) and all(sum(1 for x in row if x) == 1 and sum(row) == 1 for row in s)
