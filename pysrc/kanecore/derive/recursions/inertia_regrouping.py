# SPDX-License-Identifier: BSD-3-Clause
"""Regrouping of inertias: masses that may belong to either of two links move to the first, to save operations.

Points on the axis of a joint are fixed in both its links.  So masses there may belong to either link without effect on
the motion.  A link that turns about an axis gives its parent its mass, at a point of the axis, and the first moment
along the axis and the second moment ∫ z² dm.  A link that turns about a point in any other way gives its mass.  A link
that slides gives all second moments, as directions are fixed in both links.  A link that does not move in its parent
gives all (Gautier & Khalil, *IEEE Transactions on Robotics and Automation* 6, 1990: the base parameters of a tree).
The ground ignores masses.

If the link has no negative mass, the remaining link has none either: cancellation occurs in ∫ z² dm only.  All terms
depend on parameters only, and are prepared.  Regrouped inertias are for M and f only: energies, momenta and reactions
are computed from the original bodies.  Weights move with the masses if they form a field of gravity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kanecore.derive.forces.generalized_forces import Wrenches, rotational_torque
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.graph.expression_graph import PARAMETER, Graph
from kanecore.graph.vectors import ZERO, Components, Matrix, add, cross, matvec, neg, scale, unit

from .joint_tree import JointTree, Link
from .spatial_inertia import Symmetric, matrix, plus, rotated, second_moments, shift

__all__ = ["Regrouped", "regrouped"]

HALF = Fraction(1, 2)
NOTHING: Symmetric = (0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Masses:
    """A mass, its first moment and its inertia, about the origin of a link and in its axes."""

    mass: int = 0
    first: Components = ZERO
    inertia: Symmetric = NOTHING

    @property
    def nodes(self) -> tuple[int, ...]:
        return (self.mass, *self.first, *self.inertia)

    def plus(self, g: Graph, other: Masses) -> Masses:
        first, inertia = add(g, self.first, other.first), plus(g, self.inertia, other.inertia)
        return Masses(g.add(self.mass, other.mass), first, inertia)

    def moved(self, g: Graph, rotation: Sequence[Matrix], offset: Components) -> Masses:
        """Masses about the origin of the parent, in its axes."""
        h, inertia = self.first, self.inertia
        for r in rotation:
            h, inertia = matvec(g, r, h), rotated(g, r, inertia)
        k = add(g, h, scale(g, self.mass, offset))
        return Masses(self.mass, k, plus(g, inertia, shift(g, offset, k, h)))


@dataclass(frozen=True)
class Held:
    """Final masses of a link; if ``axis`` is given, no mass is left on it."""

    link: Link
    masses: Masses
    axis: int | None

    def changed(self) -> Link:
        return replace(self.link, mass=self.masses.mass, moment=self.masses.first, inertia=self.masses.inertia)

    def second(self, g: Graph) -> Matrix:
        """The second moments of mass S = ½ tr(I) 1 − I."""
        inertia = matrix(self.masses.inertia)
        second = [list(row) for row in second_moments(g, inertia)]
        if self.axis is not None:
            i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
            second[i][i], second[j][j], second[self.axis][self.axis] = inertia[j][j], inertia[i][i], 0
        return tuple(map(tuple, second))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Regrouped:
    """Tree with regrouped inertias of links, with the same M and f.

    Attributes
    ----------
    tree : JointTree
    held : list of Held
        Masses of the changed links.
    others : list of int
        Numbers of the bodies of all other links.
    """

    tree: JointTree
    held: list[Held]
    others: list[int]

    def inertia_forces(self, k: Kinematics, accelerations: Accelerations, wrenches: Wrenches) -> None:
        """Add the forces of the changed links: −(m a + U h) at the origin, −(h × a + I·α + ω × I·ω) about it."""
        g = k.graph
        for held in self.held:
            point, frame, masses = held.link.point, held.link.frame, held.masses
            home, a, h = k.home[point], accelerations.acceleration[point], masses.first
            force = scale(g, masses.mass, a)
            torque = rotational_torque(k, accelerations, frame, matrix(masses.inertia), held.second(g))
            if h != ZERO:
                force = add(g, force, k.resolve(matvec(g, accelerations.matrix(frame), h), frame, home))
                torque = add(g, torque, cross(g, h, k.resolve(a, home, frame)))
            wrenches.add_force(point, neg(g, force))
            wrenches.add_torque(frame, neg(g, torque))


def regrouped(k: Kinematics, tree: JointTree) -> Regrouped | None:
    """The tree with regrouped inertias; None if no inertia can move."""
    g, links = k.graph, tree.links
    masses = [_masses(k, link) for link in links]
    axes: dict[int, int | None] = {}
    for i in range(len(links) - 1, 0, -1):
        link, own, above = links[i], masses[i], masses[links[i].parent]
        if own is None or above is None or not (k.omega_fits[link.frame] and k.omega_fits[links[link.parent].frame]):
            continue
        given, rest, axis = _divided(g, link, own)
        if any(given.nodes):
            masses[i], axes[i] = rest, axis
            masses[link.parent] = above.plus(g, given.moved(g, link.rotation, link.offset))
            axes[link.parent] = None
    held = {i: Held(links[i], own, axes[i]) for i in sorted(axes) if (own := masses[i]) is not None}
    others = [number for i, link in enumerate(links) if i not in held for number in link.bodies]
    changed = [held[i].changed() if i in held else link for i, link in enumerate(links)]
    return Regrouped(replace(tree, links=changed), [held[i] for i in held if i], others) if held else None


def _masses(k: Kinematics, link: Link) -> Masses | None:
    """Masses of a link; None if they are not constant in the link, or if no point is at its origin."""
    total = Masses(link.mass, link.moment, link.inertia)
    steady = _constant(k.graph, total.nodes) and (link.point >= 0 or link.parent < 0)
    return total if steady else None


def _constant(g: Graph, nodes: Iterable[int]) -> bool:
    return not any(g.depends[x] & ~PARAMETER for x in nodes)


def _divided(g: Graph, link: Link, masses: Masses) -> tuple[Masses, Masses, int | None]:
    """Masses that a link gives to its parent, masses that it keeps, and the axis without remaining mass."""
    moving = [i for i in range(3) if link.motion[i]]
    if moving and not link.turns:
        return Masses(inertia=masses.inertia), replace(masses, inertia=NOTHING), None
    if not _constant(g, link.offset):
        return Masses(), masses, None
    if not moving:
        whole = all(_is_axis(g, link, axis) for axis in range(3))
        return (masses, Masses(), None) if whole else (Masses(), masses, None)
    if len(moving) > 1 or not _is_axis(g, link, moving[0]):
        return Masses(masses.mass), replace(masses, mass=0), None
    return (*_on_axis(g, masses, moving[0]), moving[0])


def _is_axis(g: Graph, link: Link, axis: int) -> bool:
    """Test whether an axis of the link is fixed in the parent."""
    direction = unit(axis)
    for r in link.rotation:
        direction = matvec(g, r, direction)
    return _constant(g, direction)


def _on_axis(g: Graph, masses: Masses, axis: int) -> tuple[Masses, Masses]:
    """Masses equivalent to masses on an axis through the origin, and the rest, with the same moment about the axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    inertia, half = list(masses.inertia), g.constant(HALF)
    about, difference = inertia[axis], g.sub(inertia[i], inertia[j])
    second = g.mul(half, g.add(g.sub(inertia[i], about), inertia[j]))  # ∫ z² dm
    inertia[i], inertia[j] = g.mul(half, g.add(about, difference)), g.mul(half, g.sub(about, difference))
    given, kept = [*masses.first], [*masses.first]
    given[i], given[j], kept[axis] = 0, 0, 0
    handed = [second if each in (i, j) else 0 for each in range(6)]
    return Masses(masses.mass, tuple(given), tuple(handed)), Masses(0, tuple(kept), tuple(inertia))  # type: ignore[arg-type]
