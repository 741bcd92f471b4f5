# SPDX-License-Identifier: BSD-3-Clause
"""Inertias that two links may hold alike, moved to the first of them: fewer operations of M and f.

Points on the axis of a joint are fixed in both its links.  So it makes no difference to the motion which of them holds
masses there: a link that turns about an axis hands over to its parent its mass, at a point of the axis, the first
moment along the axis and the second one, ∫ z² dm.  One that turns in any other way about a point hands over its mass,
one that slides all second moments, as directions are fixed in both, and one that does not move in its parent all that
it has (Gautier & Khalil, *IEEE Transactions on Robotics and Automation* 6, 1990: the base parameters of a tree).  The
ground needs none of it.

Second moments of mass are handed over, not moments of inertia: they add without cancelling, and what stays is as
positive as it was.  All this depends on parameters alone, and is prepared.  It holds for M and f only: energies,
momenta and reactions are those of the bodies as they are.  Weights move along where a field of gravity stands for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kanecore.describe.description import Components, Matrix
from kanecore.graph.scalars import PARAMETER, Graph

from .inertias import Symmetric, matrix, plus, rotated
from .kane import Wrenches, central_inertia, rotational_torque
from .kinematics import Accelerations, Kinematics
from .tree import JointTree, Link
from .vectors import ZERO, add, cross, matvec, neg, scale, unit

__all__ = ["Regrouped", "regrouped"]

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Masses:
    """A mass, its first moment and its second moments, about the origin of a link and in its axes."""

    mass: int = 0
    first: Components = ZERO
    second: Symmetric = (0, 0, 0, 0, 0, 0)

    @property
    def nodes(self) -> tuple[int, ...]:
        return (self.mass, *self.first, *self.second)

    def plus(self, g: Graph, other: Masses) -> Masses:
        first, second = add(g, self.first, other.first), plus(g, self.second, other.second)
        return Masses(g.add(self.mass, other.mass), first, second)

    def moved(self, g: Graph, rotation: Sequence[Matrix], offset: Components) -> Masses:
        """The same about the origin of the parent, in its axes."""
        h, second = self.first, self.second
        for r in rotation:
            h, second = matvec(g, r, h), rotated(g, r, second)
        k = add(g, h, scale(g, self.mass, offset))
        change = tuple(
            g.add(g.mul(offset[i], k[j]), g.mul(h[i], offset[j]))
            for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
        )
        return Masses(self.mass, k, plus(g, second, change))  # type: ignore[arg-type]

    def inertia(self, g: Graph) -> Symmetric:
        """The inertia tensor, tr(S) 1 − S of the second moments S."""
        xx, yy, zz, xy, yz, zx = self.second
        return (g.add(yy, zz), g.add(zz, xx), g.add(xx, yy), g.neg(xy), g.neg(yz), g.neg(zx))


@dataclass(frozen=True, eq=False)
class Regrouped:
    """A tree of which the links hold other inertias, with the same M and f.

    Attributes
    ----------
    tree : JointTree
    masses : list of (link, Masses)
        What is left of those that changed.
    others : list of int
        Numbers of the bodies of all other links.
    """

    tree: JointTree
    masses: list[tuple[Link, Masses]]
    others: list[int]

    def inertia_forces(self, k: Kinematics, accelerations: Accelerations, wrenches: Wrenches) -> None:
        """Add those of the links that changed: −(m a + U h) at the origin, −(h × a + ∫ ρ × (U ρ) dm) about it."""
        g = k.graph
        for link, masses in self.masses:
            home, frame = k.home[link.point], link.frame
            a, h = accelerations.acceleration[link.point], masses.first
            force = k.resolve(matvec(g, accelerations.matrix(frame), h), frame, home) if h != ZERO else ZERO
            wrenches.add_force(link.point, neg(g, add(g, scale(g, masses.mass, a), force)))
            torque = rotational_torque(k, accelerations, frame, matrix(masses.inertia(g)), matrix(masses.second))
            if h != ZERO:
                torque = add(g, torque, cross(g, h, k.resolve(a, home, frame)))
            wrenches.add_torque(frame, neg(g, torque))


def regrouped(k: Kinematics, tree: JointTree) -> Regrouped | None:
    """The tree with inertias handed over where that leaves fewer; None where none are."""
    g, links = k.graph, tree.links
    masses = [_masses(k, link) for link in links]
    changed: set[int] = set()
    for i in range(len(links) - 1, 0, -1):
        link, own, above = links[i], masses[i], masses[links[i].parent]
        if own is None or above is None or not (k.omega_fits[link.frame] and k.omega_fits[links[link.parent].frame]):
            continue
        given, rest = _divided(g, link, own)
        if any(given.nodes):
            masses[i] = rest
            masses[link.parent] = above.plus(g, given.moved(g, link.rotation, link.offset))
            changed |= {i, link.parent}
    if not changed:
        return None
    new = []
    for i, link in enumerate(links):
        own = masses[i] if i in changed else None
        new.append(link if own is None else replace(link, mass=own.mass, moment=own.first, inertia=own.inertia(g)))
    others = [number for i, link in enumerate(links) if i not in changed for number, _ in link.bodies]
    pairs = [(links[i], own) for i in sorted(changed - {0}) if (own := masses[i]) is not None]
    return Regrouped(replace(tree, links=new), pairs, others)


def _masses(k: Kinematics, link: Link) -> Masses | None:
    """What a link holds; None where that is not constant in it, or where no point is its origin."""
    g, total = k.graph, Masses()
    if link.point < 0 and link.parent >= 0:
        return None
    for number, centre in link.bodies:
        body, central = k.description.bodies[number], Masses()
        if body.frame >= 0:
            central = Masses(second=_second_moments(g, central_inertia(k, number)))
        total = total.plus(g, central).plus(g, Masses(body.mass).moved(g, (), centre))
    return None if any(g.depends[x] & ~PARAMETER for x in total.nodes) else total


def _second_moments(g: Graph, inertia: Matrix) -> Symmetric:
    """S = ½ tr(I) 1 − I; what nearly cancels in a slender body is subtracted first."""

    def along(i: int) -> int:
        j, k = (i + 1) % 3, (i + 2) % 3
        return g.mul(g.constant(HALF), g.add(g.sub(inertia[j][j], inertia[i][i]), inertia[k][k]))

    xy, yz, zx = (g.neg(inertia[i][j]) for i, j in ((0, 1), (1, 2), (2, 0)))
    return (along(0), along(1), along(2), xy, yz, zx)


def _divided(g: Graph, link: Link, masses: Masses) -> tuple[Masses, Masses]:
    """What a link hands over, and what it keeps."""
    steady = not any(
        g.depends[x] & ~PARAMETER for x in (*link.offset, *(x for r in link.rotation for y in r for x in y))
    )
    moving = [i for i in range(3) if link.motion[i]]
    if not moving:
        return (masses, Masses()) if steady else (Masses(), masses)
    if not link.turns:
        return Masses(second=masses.second), Masses(masses.mass, masses.first)
    if any(g.depends[x] & ~PARAMETER for x in link.offset):
        return Masses(), masses
    if len(moving) > 1 or not _is_axis(g, link, moving[0]):
        return Masses(masses.mass), replace(masses, mass=0)
    return _on_axis(masses, moving[0])


def _is_axis(g: Graph, link: Link, axis: int) -> bool:
    """Whether an axis of the link is fixed in the parent."""
    direction = unit(axis)
    for r in link.rotation:
        direction = matvec(g, r, direction)
    return not any(g.depends[x] & ~PARAMETER for x in direction)


def _on_axis(masses: Masses, axis: int) -> tuple[Masses, Masses]:
    """What lies on an axis through the origin, and the rest."""

    def only(values: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        kept = tuple(0 if i == axis else x for i, x in enumerate(values))
        return tuple(x if i == axis else 0 for i, x in enumerate(values)), kept

    (first, rest), (second, remaining) = only(masses.first), only(masses.second)
    return (
        Masses(masses.mass, first, second),  # type: ignore[arg-type]
        Masses(0, rest, remaining),  # type: ignore[arg-type]
    )
