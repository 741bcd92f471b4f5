# SPDX-License-Identifier: BSD-3-Clause
"""Joint rates of long trees, from which loops fill the mass matrix (``emit/runtime/composite_bodies.h``).

M_ij is the power, at rate i, of the momentum that all bodies that joint j carries have at a rate of one (Featherstone,
*Rigid Body Dynamics Algorithms*, 2008, table 6.2).  Where M is written out, as :mod:`.mass_matrix` does, every pair of
joints takes operations of its own; here every joint does, and the pairs run through one piece of code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, add, matvec

from .joint_tree import JointTree, axes_of_links
from .mass_matrix import composite_momenta

__all__ = ["CompositeRates", "composite_rates"]


@dataclass(frozen=True)
class CompositeRates:
    """The joint rates of a tree.

    Attributes
    ----------
    before : tuple of int
        The number of the rate that carries each one, or −1.
    speed : tuple of int
        The number of the user's speed that each rate is.
    numbers : tuple of nodes
        Fifteen of each rate: its axis, turning and then sliding; the origin of its link from that of the rate before;
        the momentum of all that it carries at a rate of one, the moment about the origin and then the momentum.  All in
        axes that a tree shares.
    """

    before: tuple[int, ...]
    speed: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def pattern(self) -> list[int]:
        """The rows of M, as bits: each speed is connected with the speeds of the joints that carry it."""
        rows = [0] * len(self.speed)
        for i, row in enumerate(self.speed):
            while i >= 0:
                column = self.speed[i]
                rows[row] |= 1 << column
                rows[column] |= 1 << row
                i = self.before[i]
        return rows


def composite_rates(g: Graph, tree: JointTree) -> CompositeRates:
    """The rates of a tree, each of them one of the user's speeds."""
    frames, momenta, numbers = axes_of_links(g, tree), composite_momenta(g, tree), list[int]()
    for i, link in enumerate(tree.links):
        from_before = _from_rate_before(g, tree, frames, i)
        for rate, (momentum, moment) in zip(link.rates, momenta[tree.rates_of(i)], strict=True):
            axis = matvec(g, frames[i], rate.axis)
            numbers += (*axis, *ZERO) if rate.turns else (*ZERO, *axis)
            numbers += (*from_before, *matvec(g, frames[i], moment), *matvec(g, frames[i], momentum))
            from_before = ZERO
    speed = tuple(next(j for j, x in enumerate(row) if x) for row in tree.jacobian)
    return CompositeRates(tuple(tree.rates_before(range(len(tree.links)))), speed, tuple(numbers))


def _from_rate_before(g: Graph, tree: JointTree, frames: Sequence[Matrix], i: int) -> Components:
    """The origin of a link from that of the last link before it that has rates."""
    place = ZERO
    while i > 0:
        link = tree.links[i]
        place, i = add(g, place, matvec(g, frames[link.parent], link.offset)), link.parent
        if tree.links[i].rates:
            break
    return place
