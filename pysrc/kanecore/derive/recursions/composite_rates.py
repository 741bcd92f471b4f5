# SPDX-License-Identifier: BSD-3-Clause
"""Joint rates of long trees, from which loops fill the mass matrix (``emit/runtime/composite_bodies.h``).

M_ij is the power, at a unit of rate i, of the momentum at a unit of rate j of all bodies that joint j carries
(Featherstone, *Rigid Body Dynamics Algorithms*, 2008, table 6.2).  If M is written out, as by :mod:`.mass_matrix`,
every pair of joints has its own operations.  Here only every joint has, and all pairs run through the same loop.
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
        For each rate the index of the rate that carries it, or −1.
    speed : tuple of int
        For each rate the index of the user's speed that it equals.
    numbers : tuple of nodes
        Fifteen for each rate, in axes common to a tree: [axis of turning (3), axis of sliding (3), origin of its link
        from the origin of the previous rate (3), moment about the origin (3) and momentum (3) of all that it carries,
        at a unit rate].
    """

    before: tuple[int, ...]
    speed: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def pattern(self) -> list[int]:
        """The rows of M, as bits: a speed is connected with the speeds of the joints that carry it."""
        rows = [0] * len(self.speed)
        for i, row in enumerate(self.speed):
            while i >= 0:
                column = self.speed[i]
                rows[row] |= 1 << column
                rows[column] |= 1 << row
                i = self.before[i]
        return rows


def composite_rates(g: Graph, tree: JointTree) -> CompositeRates:
    """The rates of a tree, each equal to one of the user's speeds."""
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
    """The origin of a link from the origin of its nearest ancestor with rates."""
    place = ZERO
    while i > 0:
        link = tree.links[i]
        place, i = add(g, place, matvec(g, frames[link.parent], link.offset)), link.parent
        if tree.links[i].rates:
            break
    return place
