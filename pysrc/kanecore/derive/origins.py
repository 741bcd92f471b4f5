# SPDX-License-Identifier: BSD-3-Clause
"""Origins of links, moved along the axes of their joints to where offsets have fewer components.

A link that turns about an axis may have its origin anywhere on it.  Where the offset from its parent lacks a component,
composite and articulated bodies take fewer operations: Denavit and Hartenberg put theirs at the foot of the common
normal (*Journal of Applied Mechanics* 22, 1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanecore.describe.description import Components
from kanecore.graph.scalars import PARAMETER, Graph

from .inertias import plus, shift
from .tree import JointTree, Link
from .vectors import add, matvec, scale

__all__ = ["with_moved_origins"]

STEEP = 0.5  # of an axis: the component along which its point is moved to zero


def with_moved_origins(g: Graph, tree: JointTree) -> JointTree:
    """The same masses on the same joints, if offsets have fewer components then; moved origins are no ``point``."""
    links = _moved_along(g, tree)
    return JointTree(links, tree.jacobian) if _components(links) < _components(tree.links) else tree


def _components(links: Sequence[Link]) -> int:
    return sum(1 for link in links for x in link.offset if x)


def _moved_along(g: Graph, tree: JointTree) -> list[Link]:
    links = [replace(link) for link in tree.links]
    for i, link in enumerate(links):
        length, link.offset = _moved(g, link)
        if not length:
            continue
        link.point = -1
        back = scale(g, g.neg(length), link.rates[0].axis)
        moment = add(g, link.moment, scale(g, link.mass, back))
        link.inertia = plus(g, link.inertia, shift(g, back, moment, link.moment))
        link.moment = moment
        for other in links[i + 1 :]:
            if other.parent == i:
                other.offset = add(g, other.offset, back)
    return links


def _moved(g: Graph, link: Link) -> tuple[int, Components]:
    """How far along its axis the origin of a link goes, and its offset then; 0 where no component is saved."""
    stays = 0, link.offset
    if link.parent <= 0 or len(link.rates) != 1 or not link.rates[0].turns:
        return stays
    axis = link.rates[0].axis
    for r in link.rotation:
        axis = matvec(g, r, axis)
    if any(g.depends[x] & ~PARAMETER for x in (*link.offset, *axis)):
        return stays
    ways = [stays]
    for j, (along, place) in enumerate(zip(axis, link.offset, strict=True)):
        slope = g.value(along)
        if place and slope is not None and abs(float(slope)) > STEEP:
            length = g.neg(g.div(place, along))
            offset = add(g, link.offset, scale(g, length, axis))
            ways.append((length, tuple(0 if i == j else x for i, x in enumerate(offset))))  # type: ignore[arg-type]
    return min(ways, key=lambda way: sum(1 for x in way[1] if x))
