# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of joint trees by closed recursions (``emit/runtime/tree_derivatives.h``).

The recursions differentiate the motion of joints, each of one rate about an axis that is fixed in its link; derivatives
of the loads come from the graph.  All joints run through one piece of code.  The same derivatives written out would
outgrow a processor's instruction cache.

A tree may have a *free root*: a body that moves freely, with its six speeds in its own axes.  In root axes nothing of
the tree depends on where the root is and how it is turned, but for gravity, which is an acceleration of the base,
a = −Rᵀγ.  A free root takes up any acceleration of its base, so ∂u̇/∂q = −∂a/∂q in the rows of its three slides and
zero in all others, whatever coordinates describe the rotation R.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanecore.derive.formulations.kane_equations import Bodies
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, Graph
from kanecore.graph.vectors import (
    ZERO,
    Components,
    Matrix,
    add,
    cross,
    matvec,
    neg,
    scale,
    sub,
    transposed,
)

from .joint_tree import JointTree, Link, axes_of_links, is_free, pairs
from .spatial_inertia import Symmetric, plus, rotated, shift

__all__ = ["Forest", "Tree", "forest"]

Inertial = tuple[int, Components, Symmetric]  # mass, first moment and inertia


@dataclass(frozen=True)
class Tree:
    """Joints of which each is carried by one before it, or by the ground.

    For each joint ``parent`` is the number of the joint that carries it, or −1, and ``speed`` that of its speed.
    Joints stand depth first; the first ``free`` are those of a free root, and have no coordinates of their own.
    ``columns`` are the columns of the linearization on which accelerations depend: coordinates of the joints, their
    speeds, then others.  ``forces`` are the generalized forces without weights in a uniform field, joint by joint, and
    ``slopes`` their derivatives.
    """

    free: int
    parent: tuple[int, ...]
    speed: tuple[int, ...]
    columns: tuple[int, ...]
    forces: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]

    @property
    def limb_ends(self) -> tuple[int, ...]:
        """The end of each joint's subtree: the number after the last joint that it carries."""
        ends = list(range(1, len(self.parent) + 1))
        for i in reversed(range(len(self.parent))):
            if self.parent[i] >= 0:
                ends[self.parent[i]] = max(ends[self.parent[i]], ends[i])
        return tuple(ends)

    @property
    def runs(self) -> list[tuple[int, int, int]]:
        """Runs of adjacent columns: the first, its place among all columns, and their number."""
        runs: list[tuple[int, int, int]] = []
        for i, column in enumerate(self.columns):
            if runs and column == runs[-1][1] + runs[-1][2]:
                runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
            else:
                runs.append((i, column, 1))
        return runs


@dataclass(frozen=True)
class Forest:
    """Trees that stand on the ground side by side.

    ``joints`` are the axis of each joint (turning, then velocity at the point that moments are taken about) and mass,
    first moment and inertia of the bodies fixed behind it, in inertial or root axes; then the acceleration of the base
    of each tree.  ``others`` are entries of the linearization, (row, column), that are added to those of the trees: ∂q̇,
    and what a free root gains from its base.
    """

    trees: tuple[Tree, ...]
    joints: tuple[int, ...]
    others: Mapping[tuple[int, int], int]

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.joints, *self.loads, *self.others.values())

    @property
    def loads(self) -> tuple[int, ...]:
        """Forces of each tree, then their slopes row by row, each filled up to a multiple of eight."""
        rows: list[int] = []
        for tree in self.trees:
            rows += tree.forces
            for slopes in tree.slopes:
                rows += (*slopes, *[0] * (-len(slopes) % 8))
        return tuple(rows)

    @property
    def pairs(self) -> int:
        """Number of pairs of a joint and one that carries it, or itself."""
        return sum(pairs(tree.parent) for tree in self.trees)


def forest(bodies: Bodies) -> Forest | None:
    """The trees of a model without constraints, or None if it is made otherwise.

    Every speed must be the rate of one joint, and of one coordinate unless the joint is of a free root; every axis must
    be fixed in its link, and masses and the field of gravity may depend on parameters alone.
    """
    tree, k = bodies.tree, bodies.kinematics
    if tree is None or not (_speeds_are_rates(tree, k.description) and _moves_by_rates(k, tree) and _is_rigid(bodies)):
        return None
    g, parts = k.graph, _parts(tree)
    frames = axes_of_links(g, tree)
    places = _places(g, tree, parts, frames)
    joints: list[int] = []
    trees: list[Tree] = []
    bases: list[int] = []
    others = _slopes_of_rates(g, k.description)
    for part in dict.fromkeys(parts[1:]):
        members = _depth_first(tree, part)
        joints += _joints(g, tree, members, frames, places)
        if rated := [i for i in members if tree.links[i].rates]:
            trees.append(_tree(bodies, tree, rated))
            base = _base(bodies, tree.links[part])
            bases += base
            if is_free(tree.links[part]):
                others |= _gained(g, k.description, tree, part, base)
    return Forest(tuple(trees), (*joints, *bases), others)


# ------------------------------------------------------------------------------------------- which models have them
def _speeds_are_rates(tree: JointTree, d: Description) -> bool:
    """Test whether every speed is the rate of one joint, and of one coordinate unless the joint is of a free root."""
    rows = [[j for j, x in enumerate(row) if x] for row in tree.jacobian]
    if not (tree.is_square and all(len(row) == 1 and tree.jacobian[i][row[0]] == 1 for i, row in enumerate(rows))):
        return False
    speeds = [d.speeds[row[0]] for row in rows]
    of_roots = {u for i, link in enumerate(tree.links) if is_free(link) for u in speeds[tree.rates_of(i)]}
    return all(d.rates.count(u) == 1 for u in d.speeds if u not in of_roots)


def _moves_by_rates(k: Kinematics, tree: JointTree) -> bool:
    """Test whether nothing moves when all speeds vanish, and every axis is fixed in its link."""
    g, d = k.graph, k.description
    nodes = [x for b in d.bodies for x in (*k.velocity[b.point], *(k.omega[b.frame] if b.frame > 0 else ()))]
    axes = [x for link in tree.links for rate in link.rates for x in rate.axis]
    return not any(g.substitute(nodes, dict.fromkeys(d.speeds, 0))) and _depend_on(g, axes, PARAMETER)


def _is_rigid(bodies: Bodies) -> bool:
    """Test whether masses and gravity depend on parameters alone, and places on parameters and coordinates alone."""
    assert bodies.tree is not None
    links = bodies.tree.links
    fixed = [x for link in links for x in (link.mass, *link.moment, *link.inertia)]
    moving = [x for link in links for x in (*link.offset, *(x for r in link.rotation for row in r for x in row))]
    g = bodies.graph
    return _depend_on(g, [*fixed, *bodies.field], PARAMETER) and _depend_on(g, moving, PARAMETER | COORDINATE)


def _depend_on(g: Graph, nodes: Sequence[int], levels: int) -> bool:
    return not any(g.depends[x] & ~levels for x in nodes)


# -------------------------------------------------------------------------------------------------- where links are
def _parts(tree: JointTree) -> list[int]:
    """First link in the part of the tree of each link: links that stand on the ground begin a part."""
    parts = [0]
    for i, link in enumerate(tree.links[1:], 1):
        parts.append(parts[link.parent] or i)
    return parts


def _places(g: Graph, tree: JointTree, parts: Sequence[int], frames: Sequence[Matrix]) -> list[Components]:
    """The origin of each link, from that of the first link that turns in its part.

    So the place of a vehicle on its map has no part in the rounding of its moments.
    """
    links = tree.links
    places: dict[int, Components] = {0: ZERO}
    for part in dict.fromkeys(parts[1:]):
        turning = (i for i, p in enumerate(parts) if p == part and any(rate.turns for rate in links[i].rates))
        i = next(turning, part)
        places[i] = ZERO
        while i != part:
            j = links[i].parent
            places[j] = sub(g, places[i], matvec(g, frames[j], links[i].offset))
            i = j
    for i, link in enumerate(links):
        if i not in places:
            places[i] = add(g, places[link.parent], matvec(g, frames[link.parent], link.offset))
    return [places[i] for i in range(len(links))]


def _depth_first(tree: JointTree, root: int) -> list[int]:
    """A link and all that it carries, each limb to its end."""
    carried = [_depth_first(tree, i) for i, link in enumerate(tree.links) if link.parent == root]
    return [root, *itertools.chain.from_iterable(carried)]


# ------------------------------------------------------------------------------------ what is added to the recursions
def _slopes_of_rates(g: Graph, d: Description) -> dict[tuple[int, int], int]:
    """Entries of ∂q̇/∂(q, u, r) that are not zero."""
    every = [*d.x, *d.inputs]
    rows = [accumulate(g, [(rate, g.one)], every, limits=True) for rate in d.rates]
    return {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row) if x}


def _base(bodies: Bodies, root: Link) -> Components:
    """The acceleration of the base that acts as gravity does, −γ, in the axes of a free root or of the ground."""
    g, base = bodies.graph, neg(bodies.graph, bodies.field)
    if is_free(root):
        for r in reversed(root.rotation):
            base = matvec(g, transposed(r), base)
    return base


def _gained(g: Graph, d: Description, tree: JointTree, root: int, base: Components) -> dict[tuple[int, int], int]:
    """Entries of ∂u̇/∂(q, u, r) of a free root that its base brings, −∂a: those of its slides."""
    every = [*d.x, *d.inputs]
    found = {}
    for rate, row in zip(tree.links[root].rates, tree.jacobian[tree.rates_of(root)], strict=True):
        if not rate.turns:
            along = next(x for x, axis in zip(base, rate.axis, strict=True) if axis)
            speed = next(j for j, x in enumerate(row) if x)
            for column, x in enumerate(accumulate(g, [(along, g.one)], every, limits=True)):
                if x:
                    found[len(d.coordinates) + speed, column] = g.neg(x)
    return found


# -------------------------------------------------------------------------------------------------------- one tree
def _joints(
    g: Graph, tree: JointTree, members: Sequence[int], frames: Sequence[Matrix], places: Sequence[Components]
) -> list[int]:
    """Axis of each joint, and the inertia fixed behind it: that of a link goes with the link's last joint."""
    axes: list[tuple[Components, Components]] = []
    carried: list[Inertial] = []
    last: dict[int, int] = {}
    for i in members:
        link, frame, place = tree.links[i], frames[i], places[i]
        for rate in link.rates:
            along = matvec(g, frame, rate.axis)
            axes.append((along, cross(g, place, along)) if rate.turns else (ZERO, along))
            carried.append((0, ZERO, (0, 0, 0, 0, 0, 0)))
        last[i] = len(axes) - 1 if link.rates else last.get(link.parent, -1)
        if last[i] >= 0:
            own = matvec(g, frame, link.moment)
            moment = add(g, own, scale(g, link.mass, place))
            inertia = plus(g, rotated(g, frame, link.inertia), shift(g, place, moment, own))
            mass, h, total = carried[last[i]]
            carried[last[i]] = (g.add(mass, link.mass), add(g, h, moment), plus(g, total, inertia))
    pairs = zip(axes, carried, strict=True)
    return [x for (turn, slide), (mass, h, inertia) in pairs for x in (*turn, *slide, mass, *h, *inertia)]


def _tree(bodies: Bodies, tree: JointTree, members: Sequence[int]) -> Tree:
    """One part of the tree, of which some links have rates."""
    d, links, g = bodies.kinematics.description, tree.links, bodies.graph
    rows = [row for i in members for row in tree.jacobian[tree.rates_of(i)]]
    speed = [next(j for j, x in enumerate(row) if x) for row in rows]
    free = len(links[members[0]].rates) if is_free(links[members[0]]) else 0
    own = [*(d.rates.index(d.speeds[u]) for u in speed[free:]), *(len(d.coordinates) + u for u in speed)]
    every = [*d.x, *d.inputs]
    forces = [bodies.other_forces[u] for u in speed]
    slopes = [accumulate(g, [(force, g.one)], every, limits=True) for force in forces]
    others = [j for j in range(len(every)) if j not in own and any(row[j] for row in slopes)]
    columns = (*own, *others)
    return Tree(
        free=free,
        parent=tuple(tree.rates_before(members)),
        speed=tuple(speed),
        columns=columns,
        forces=tuple(forces),
        slopes=tuple(tuple(row[j] for j in columns) for row in slopes),
    )
