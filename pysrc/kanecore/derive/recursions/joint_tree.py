# SPDX-License-Identifier: BSD-3-Clause
"""Joint trees: links and joint rates of a mechanism, found from the velocities of its bodies.

A link is a frame with an origin that moves with it.  Suppose that the velocities of all bodies follow from relative
motions of links, and that each relative motion is a sum of fixed axes times scalars w.  Then the mass matrix in w comes
from composite bodies (:mod:`.mass_matrix`), for any speeds u of the user: w = S u + s with S square,

    M_u = Sᵀ M_w S,    f_u = Sᵀ f_w,    M_w y = f_w,    S u̇ = y,

with f at u̇ = 0, so that Ṡ and ṡ are not needed.

A link that turns about an axis may have its origin anywhere on it.  Origins are moved to where the offset from the
parent has fewer components, since composite and articulated bodies then take fewer operations.  Denavit and Hartenberg
put the origin at the foot of the common normal (*Journal of Applied Mechanics* 22, 1955).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kanecore.derive.forces.generalized_forces import central_inertia
from kanecore.derive.kinematics import Kinematics
from kanecore.derive.recursions.spatial_inertia import Symmetric, plus, shift, steiner
from kanecore.graph.calculus import accumulate, is_affine
from kanecore.graph.expression_graph import PARAMETER, SPEED, Graph, Op
from kanecore.graph.vectors import IDENTITY, ZERO, Components, Matrix, add, matmul, matvec, scale, sub, transposed, unit
from kanecore.graph.zero_tests import equal, is_regular

__all__ = [
    "JointTree",
    "Link",
    "Rate",
    "axes_of_links",
    "joint_tree",
    "pairs",
    "turns_freely",
    "with_moved_origins",
]


@dataclass(frozen=True)
class Rate:
    """A scalar w of a joint's motion: the link turns about ``axis`` (or slides along it) by ``axis`` · w."""

    node: int
    axis: Components
    turns: bool


@dataclass
class Link:
    """A frame with an origin; ``offset`` is the origin from the parent's, in the parent's axes.

    A body that moves freely is one link: it turns by ``motion``, and its origin moves by the rates ``slides``.
    """

    frame: int
    parent: int
    offset: Components
    rotation: list[Matrix]  # to the parent's axes, factor by factor
    motion: Components = ZERO  # relative to the parent, in the link's axes
    turns: bool = True  # whether ``motion`` is an angular velocity, or else a velocity
    point: int = -1  # the point at the origin, -1 without one
    slides: list[Rate] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    mass: int = 0
    moment: Components = ZERO  # Σ m c
    inertia: Symmetric = (0, 0, 0, 0, 0, 0)  # about the origin


@dataclass(frozen=True)
class JointTree:
    """Links, each after its parent, and S = ∂w/∂u, a row for each joint rate."""

    links: list[Link]
    jacobian: list[list[int]]

    @property
    def is_square(self) -> bool:
        """Test whether there are as many joint rates as speeds; mimic joints give more."""
        return len(self.jacobian) == len(self.jacobian[0])

    @property
    def rates(self) -> list[int]:
        return [rate.node for link in self.links for rate in link.rates]

    @property
    def longest(self) -> int:
        """Largest number of rates on one path from the root."""
        depth: list[int] = []
        for link in self.links:
            depth.append(len(link.rates) + (depth[link.parent] if link.parent >= 0 else 0))
        return max(depth)

    def rates_before(self, members: Iterable[int]) -> list[int]:
        """For each rate of some links, parents first, the index of the rate that carries it, or −1."""
        before: list[int] = []
        last: dict[int, int] = {}
        for i in members:
            above = self.links[i].parent
            while above > 0 and not self.links[above].rates:
                above = self.links[above].parent
            carrier = last.get(above, -1)
            for _ in self.links[i].rates:
                before.append(carrier)
                carrier = len(before) - 1
            last[i] = carrier
        return before

    @property
    def parts(self) -> list[int]:
        """For each link the first link of its part of the tree; a link on the ground begins a part."""
        parts = [0]
        for i, link in enumerate(self.links[1:], 1):
            parts.append(parts[link.parent] or i)
        return parts

    def first_turning(self, part: int) -> int:
        """The first link that turns in a part of the tree; the first link if none turns."""
        own = (i for i, p in enumerate(self.parts) if p == part)
        return next((i for i in own if any(rate.turns for rate in self.links[i].rates)), part)

    def rates_of(self, link: int) -> slice:
        """Indices of a link's rates among the rates of all links."""
        first = self.first_rates[link]
        return slice(first, first + len(self.links[link].rates))

    @property
    def first_rates(self) -> list[int]:
        """The number of the first rate of each link."""
        return list(itertools.accumulate((len(link.rates) for link in self.links[:-1]), initial=0))


def turns_freely(g: Graph, link: Link) -> bool:
    """Test whether a link turns about three of its own axes at once, whatever its coordinates of orientation."""
    axes = [rate.axis for rate in link.rates if rate.turns]
    if len(axes) != 3 or any(g.depends[x] & ~PARAMETER for axis in axes for x in axis):
        return False
    return (not link.slides or link.parent == 0) and is_regular(g, axes)


def pairs(before: Sequence[int]) -> int:
    """Number of pairs of a rate with itself or a rate that carries it: entries in the lower triangle of M."""
    depth: list[int] = []
    for i in before:
        depth.append(1 + (depth[i] if i >= 0 else 0))
    return sum(depth)


def axes_of_links(g: Graph, tree: JointTree) -> list[Matrix]:
    """The rotation from each link's axes to the axes of the first link that turns in its part of the tree."""
    frames: dict[int, Matrix] = {0: IDENTITY}
    for part in dict.fromkeys(tree.parts[1:]):
        i = tree.first_turning(part)
        matrix = frames[i] = IDENTITY
        while i != part:
            for r in tree.links[i].rotation:
                matrix = matmul(g, matrix, transposed(r))
            i = tree.links[i].parent
            frames[i] = matrix
    for i, link in enumerate(tree.links):
        if i not in frames:
            matrix = frames[link.parent]
            for r in reversed(link.rotation):
                matrix = matmul(g, matrix, r)
            frames[i] = matrix
    return [frames[i] for i in range(len(tree.links))]


def joint_tree(k: Kinematics) -> JointTree | None:
    """The tree; None if velocities do not follow from a tree (then the mass matrix is formed by columns)."""
    if not k.from_positions():
        return None
    builder = _Builder(k)
    for i in range(len(k.description.bodies)):
        builder.add_body(i)
    return builder.finish()


class _Builder:
    def __init__(self, k: Kinematics) -> None:
        self.k, self.g = k, k.graph
        self.links: list[Link] = [Link(0, -1, ZERO, [])]
        self._pinned: dict[tuple[int, Components, int], int] = {}  # (link, place in it, frame) -> link turning there
        self._place: dict[int, tuple[int, Components]] = {}  # point -> (link it is fixed in, position in it)

    def place(self, point: int) -> tuple[int, Components]:
        """The link in which a point is fixed, and the point's position there."""
        points = self.k.description.points
        above = []
        while point >= 0 and point not in self._place:
            above.append(point)
            point = points[point].parent
        place = self._place[point] if point >= 0 else (0, ZERO)
        for point in reversed(above):
            position, rates = points[point].position, self.k.displacement_rate(point)
            for n in sorted(range(len(rates)), key=lambda n: position[n][0]):
                frame, vector = position[n]
                place = self._along(place, frame, vector, rates[n][1])
            self._place[point] = place
        return place

    def _along(
        self, start: tuple[int, Components], frame: int, vector: Components, rate: Components
    ) -> tuple[int, Components]:
        link, position = self._turned(start, frame)
        position = add(self.g, position, vector)
        if rate == ZERO:
            return link, position
        self.links.append(Link(frame, link, position, [], rate, turns=False))
        return len(self.links) - 1, ZERO

    def _turned(self, start: tuple[int, Components], frame: int) -> tuple[int, Components]:
        """The link with the given frame at a point of another link; several frames may turn there in sequence."""
        link, position = start
        for f in reversed(self._turning(frame, self.links[link].frame)):
            if self.links[link].frame != f:
                link, position = self._pin(link, position, f), ZERO
        return link, position

    def _pin(self, link: int, position: Components, frame: int) -> int:
        """The link that turns with a frame at a place of another link."""
        key = (link, position, frame)
        pinned = self._pinned.get(key)
        if pinned is None:
            k, parent = self.k, self.links[link].frame
            omega = sub(self.g, k.omega[frame], k.resolve(k.omega[parent], parent, frame))
            motion = self._relative(frame, parent, omega)
            self.links.append(Link(frame, link, position, k.rotation(frame, parent), motion))
            pinned = self._pinned[key] = len(self.links) - 1
        return pinned

    def _turning(self, frame: int, ancestor: int) -> list[int]:
        """The frames that turn on the path from an ancestor to a frame, in this order."""
        f, turning = frame, []
        while f not in (ancestor, 0):
            if self.k.relative[f]:
                turning.append(f)
            f = self.k.description.frames[f].angular_parent
        return [frame, *turning[1:]] if f == ancestor else [frame]

    def _relative(self, frame: int, parent: int, difference: Components) -> Components:
        """The ω of ``frame`` in ``parent``, from the terms between them if both lie on one chain of frames."""
        k = self.k
        chain, f = [], frame
        while f != parent and f != 0:
            chain.append(f)
            f = k.description.frames[f].angular_parent
        if f != parent:
            return difference
        total = ZERO
        for f in chain:
            for h, w in k.relative[f]:
                total = add(self.g, total, k.resolve(w, h, frame))
        return total

    def add_body(self, number: int) -> None:
        g, k = self.g, self.k
        body = k.description.bodies[number]
        start = self.place(body.point)
        index, centre = self._turned(start, body.frame) if body.frame >= 0 else start
        link = self.links[index]
        h = scale(g, body.mass, centre)
        inertia = steiner(g, centre, h)
        if body.frame >= 0:
            tensor = central_inertia(k, number)
            own: Symmetric = (tensor[0][0], tensor[1][1], tensor[2][2], tensor[0][1], tensor[1][2], tensor[2][0])
            inertia = plus(g, own, inertia)
        link.bodies.append(number)
        link.mass = g.add(link.mass, body.mass)
        link.moment = add(g, link.moment, h)
        link.inertia = plus(g, link.inertia, inertia)

    def finish(self) -> JointTree | None:
        """The tree of all bodies added; None if the speeds do not follow from its joint rates w = S u + w_t.

        S is square and regular, or S is constant with more rows than columns, as for gears and mimic joints.
        """
        g, d = self.g, self.k.description
        self._join_free_bodies()
        self._find_points()
        self._choose_rates()
        rates = [rate for link in self.links for rate in link.rates]
        if len(rates) < len(d.speeds) or any(g.depends[x] & SPEED for r in rates for x in r.axis):
            return None
        nodes = [rate.node for rate in rates]
        if not is_affine(g, nodes, lambda i: g.depends[i] & SPEED):
            return None
        jacobian = [accumulate(g, [(node, 1)], d.speeds) for node in nodes]
        if len(rates) > len(d.speeds):
            usable = not any(g.depends[x] & ~PARAMETER for row in jacobian for x in row)
        else:
            usable = is_regular(g, jacobian)
        return JointTree(self.links, jacobian) if usable else None

    def _join_free_bodies(self) -> None:
        """Join two links if the first slides by speeds that are components in the axes of the second, which turns.

        The motion of all that a free body carries is then resolved in the body's axes.
        """
        joined: dict[int, int] = {}
        for i, link in enumerate(self.links):
            children = [n for n, other in enumerate(self.links) if other.parent == i]
            if link.turns or link.bodies or len(children) != 1:
                continue
            child = self.links[children[0]]
            if child.turns and child.offset == ZERO and all(at == ZERO for n, at in self._place.values() if n == i):
                child.slides = self._slides(link, child)
                if child.slides:
                    child.parent, child.offset, joined[i] = link.parent, link.offset, children[0]
        kept = [n for n in range(len(self.links)) if n not in joined]
        number = {old: new for new, old in enumerate(kept)} | {-1: -1}
        number |= {old: number[child] for old, child in joined.items()}
        self.links = [self.links[n] for n in kept]
        for link in self.links:
            link.parent = number[link.parent]
        self._place = {point: (number[n], at) for point, (n, at) in self._place.items()}

    def _slides(self, link: Link, child: Link) -> list[Rate]:
        """Speeds that are the components of a sliding motion in the child's axes; empty if there are no such speeds."""
        g, speeds = self.g, self.k.description.speeds
        rotation = IDENTITY
        for r in child.rotation:
            rotation = matmul(g, r, rotation)
        slopes = [accumulate(g, [(x, 1)], speeds) for x in link.motion]
        along = {u: slope for u, slope in zip(speeds, zip(*slopes, strict=True), strict=True) if any(slope)}
        axes = {u: self._column(slope, rotation) for u, slope in along.items()}
        if len(axes) != 3 or set(axes.values()) != {0, 1, 2}:
            return []
        others = [x for other in self.links if other is not link for x in other.motion]
        if not along.keys().isdisjoint(g.below(others)):
            return []
        return [Rate(u, unit(axis), turns=False) for u, axis in axes.items()]

    def _column(self, slope: Components, rotation: Matrix) -> int:
        """The column of a rotation that equals a slope, at random states; −1 if there is none."""
        columns = enumerate(zip(*rotation, strict=True))
        equals = (j for j, column in columns if equal(self.g, zip(slope, column, strict=True), otherwise=False))
        return next(equals, -1)

    def _find_points(self) -> None:
        """Find a point at the origin of each link, or, for a link that turns there, at the same place in its parent."""
        points = {place: point for point, place in reversed(self._place.items())}
        for i, link in enumerate(self.links):
            in_parent = (link.parent, link.offset)
            link.point = points.get((i, ZERO), points.get(in_parent, -1) if link.turns else -1)
            if link.point < 0 and link.turns and link.offset == ZERO and i:
                link.point = self.links[link.parent].point

    def _choose_rates(self) -> None:
        """Choose the user's q̇ and u as rates if only this joint depends on them; else the components of its motion."""
        slopes = [self._slopes(link.motion) for link in self.links]
        uses = Counter(atom for axes in slopes for atom in axes)
        for link, axes in zip(self.links, slopes, strict=True):
            motion, turns = link.motion, link.turns
            components = [i for i in range(3) if motion[i] and self.g.depends[motion[i]] & SPEED]
            if all(uses[atom] == 1 for atom in axes) and len(axes) <= len(components):
                own = [Rate(atom, axis, turns) for atom, axis in axes.items()]
                own.sort(key=self._followed, reverse=True)
            else:
                own = [Rate(motion[i], unit(i), turns) for i in components]
            link.rates = [*link.slides, *own]

    def _followed(self, rate: Rate) -> int:
        """Number of coordinates that turn the axis of a rate in its link, those of the link's later rates."""
        return len(set(self.g.below(rate.axis)).intersection(self.k.description.coordinates))

    def _slopes(self, motion: Components) -> dict[int, Components]:
        """Derivatives of a motion by each q̇ and u in it."""
        g, d = self.g, self.k.description
        atoms = [a for a in dict.fromkeys([*d.rates, *d.speeds]) if g.nodes[a][0] is not Op.NEG]
        slopes: dict[int, Components] = {}
        for i in range(3):
            if motion[i]:
                for atom, slope in zip(atoms, accumulate(g, [(motion[i], 1)], atoms, SPEED), strict=True):
                    if slope:
                        x, y, z = slopes.get(atom, ZERO)
                        slopes[atom] = (slope if i == 0 else x, slope if i == 1 else y, slope if i == 2 else z)
        return slopes


STEEP = 0.5  # least component of an axis along which its point is moved to zero


def with_moved_origins(g: Graph, tree: JointTree) -> JointTree:
    """Tree with moved origins, if offsets then have fewer components; a moved origin has no ``point``."""
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
    """Shift of a link's origin along its axis, and the new offset; shift 0 if no component is saved."""
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
