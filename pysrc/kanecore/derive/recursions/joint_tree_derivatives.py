# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of joint trees by closed recursions (``emit/runtime/tree_derivatives.h``).

The recursions differentiate the motion of joints with one rate each; derivatives of the loads come from the graph.  All
joints run through one loop.  The same derivatives written out would outgrow a processor's instruction cache.

A link may *turn freely*: by three rates at once about its own axes, as in a ball joint, with any coordinates q of
orientation.  Derivatives by small turns θ about these axes come from the recursions, and derivatives by q from θ:

    ∂/∂q = Σ ∂/∂θ_b ∂θ_b/∂q,    [∂θ/∂q]× = Rᵀ ∂R/∂q.

A body that moves freely may have its velocity in inertial axes, by three slides before it, or in its own axes, as one
link with six rates.  A link that turns by angles and their rates is three joints, one after the other.  All vectors are
in the axes of the first link that turns, and gravity is an acceleration −γ of the base in these axes.
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
from kanecore.graph.linear_equations import solve
from kanecore.graph.vectors import (
    IDENTITY,
    ZERO,
    Components,
    Matrix,
    add,
    cross,
    matmul,
    matvec,
    neg,
    scale,
    sub,
    transposed,
)
from kanecore.graph.zero_tests import equal

from .joint_tree import JointTree, Link, axes_of_links, pairs, turns_freely
from .spatial_inertia import Symmetric, plus, rotated, shift

__all__ = ["Forest", "Tree", "forest"]

Inertial = tuple[int, Components, Symmetric]  # mass, first moment and inertia


@dataclass(frozen=True)
class Tree:
    """A tree of joints, depth first: each joint is carried by an earlier one, or by the ground.

    For each joint ``parent`` is the index of the joint that carries it, or −1, ``first`` the index of the first of the
    joints that move its link at once, and ``speed`` the index of its speed.  The first ``free`` joints are slides of a
    free root, which affect no result.  ``columns`` are the columns of the linearization with derivatives of
    accelerations: by displacements of the other joints, by all speeds, then by other variables of loads.  A
    displacement that is no coordinate is −1; ``turned`` gives its derivatives by coordinates as (place in ``columns``,
    coordinate).  ``forces`` are the generalized forces of the joints without weights in a uniform field, and ``slopes``
    are their derivatives.
    """

    free: int
    parent: tuple[int, ...]
    first: tuple[int, ...]
    speed: tuple[int, ...]
    columns: tuple[int, ...]
    turned: Mapping[tuple[int, int], int]
    forces: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]

    @property
    def limb_ends(self) -> tuple[int, ...]:
        """The end of each joint's subtree: the index after the last joint that it carries."""
        ends = list(range(1, len(self.parent) + 1))
        for i in reversed(range(len(self.parent))):
            if self.parent[i] >= 0:
                ends[self.parent[i]] = max(ends[self.parent[i]], ends[i])
        return tuple(ends)

    @property
    def runs(self) -> list[tuple[int, int, int]]:
        """Runs of adjacent columns: first column, its place among all columns, number of columns."""
        runs: list[tuple[int, int, int]] = []
        for i, column in enumerate(self.columns):
            if runs and column == runs[-1][1] + runs[-1][2] and i == runs[-1][0] + runs[-1][2]:
                runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
            elif column >= 0:
                runs.append((i, column, 1))
        return runs


@dataclass(frozen=True)
class Forest:
    """Independent trees on the ground.

    ``joints`` are, for each joint in axes common to its tree, [axis of turning, velocity at the reference point of
    moments; mass, first moment and inertia of the bodies fixed to its link]; then for each tree the acceleration of its
    base, and its ``turned`` vectors.  ``rates`` are the entries of ∂q̇ by (row, column).
    """

    trees: tuple[Tree, ...]
    joints: tuple[int, ...]
    rates: Mapping[tuple[int, int], int]

    @property
    def roots(self) -> tuple[int, ...]:
        return (*self.joints, *self.loads, *self.rates.values())

    @property
    def loads(self) -> tuple[int, ...]:
        """Forces of each tree, then their slopes row by row, all padded to multiples of eight."""
        rows: list[int] = []
        for tree in self.trees:
            for row in (tree.forces, *tree.slopes):
                rows += (*row, *[0] * (-len(row) % 8))
        return tuple(rows)

    @property
    def pairs(self) -> int:
        """Number of pairs of a joint with itself or a joint that carries it."""
        return sum(pairs(tree.parent) for tree in self.trees)


def forest(bodies: Bodies) -> Forest | None:
    """The trees of a model without constraints; None if the recursions do not apply.

    Every speed must be the rate of one joint, and of one coordinate unless its link turns freely.  The axes of a link
    must be fixed in the link, or belong to consecutive turns.  Masses and the field of gravity may depend on parameters
    only.
    """
    tree, k = bodies.tree, bodies.kinematics
    if tree is None or not (_speeds_are_rates(k, tree) and _moves_by_rates(k, tree) and _is_rigid(bodies)):
        return None
    g = k.graph
    frames = axes_of_links(g, tree)
    places = _places(g, tree, frames)
    joints: list[int] = []
    trees: list[Tree] = []
    bases: list[int] = []
    for part in dict.fromkeys(tree.parts[1:]):
        members = _depth_first(tree, part)
        joints += _joints(g, tree, members, frames, places)
        if rated := [i for i in members if tree.links[i].rates]:
            trees.append(_tree(bodies, tree, rated))
            bases += matvec(g, frames[part], _base(bodies, tree.links[part]))
    turned = [x for each in trees for x in each.turned.values()]
    return Forest(tuple(trees), (*joints, *bases, *turned), _slopes_of_rates(g, k.description))


# ------------------------------------------------------------------------------------------- which models have them
def _speeds_are_rates(k: Kinematics, tree: JointTree) -> bool:
    """Test whether every speed is the rate of one joint, and of one coordinate unless its link turns freely."""
    g, d = k.graph, k.description
    rows = [[j for j, x in enumerate(row) if x] for row in tree.jacobian]
    if not (tree.is_square and all(len(row) == 1 and tree.jacobian[i][row[0]] == 1 for i, row in enumerate(rows))):
        return False
    speeds = [d.speeds[row[0]] for row in rows]
    free = {u for i, link in enumerate(tree.links) if turns_freely(g, link) for u in speeds[tree.rates_of(i)]}
    return all(d.rates.count(u) == 1 for u in d.speeds if u not in free)


def _moves_by_rates(k: Kinematics, tree: JointTree) -> bool:
    """Test whether all is at rest when all speeds vanish, and rates move their links at once or in order."""
    g, d = k.graph, k.description
    nodes = [x for b in d.bodies for x in (*k.velocity[b.point], *(k.omega[b.frame] if b.frame > 0 else ()))]
    in_order = (turns_freely(g, link) or _turns_in_order(g, d, link) for link in tree.links)
    return not any(g.substitute(nodes, dict.fromkeys(d.speeds, 0))) and all(in_order)


def _turns_in_order(g: Graph, d: Description, link: Link) -> bool:
    """Test whether each rate of a link turns earlier axes a by a × b, with b its axis."""
    pairs: list[tuple[int, int]] = []
    for i, rate in enumerate(link.rates):
        after = {other.node: other.axis for other in link.rates[i + 1 :] if other.turns}
        change = [cross(g, rate.axis, after[qdot]) if qdot in after else ZERO for qdot in d.rates]
        for j, x in enumerate(rate.axis):
            pairs += zip(accumulate(g, [(x, g.one)], d.coordinates), (c[j] for c in change), strict=True)
    return equal(g, pairs, otherwise=False)


def _is_rigid(bodies: Bodies) -> bool:
    """Test whether masses and gravity depend only on parameters, and places only on parameters and coordinates."""
    assert bodies.tree is not None
    links = bodies.tree.links
    fixed = [x for link in links for x in (link.mass, *link.moment, *link.inertia)]
    moving = [x for link in links for x in (*link.offset, *(x for r in link.rotation for row in r for x in row))]
    g = bodies.graph
    return _depend_on(g, [*fixed, *bodies.field], PARAMETER) and _depend_on(g, moving, PARAMETER | COORDINATE)


def _depend_on(g: Graph, nodes: Sequence[int], levels: int) -> bool:
    return not any(g.depends[x] & ~levels for x in nodes)


# -------------------------------------------------------------------------------------------------- where links are
def _places(g: Graph, tree: JointTree, frames: Sequence[Matrix]) -> list[Components]:
    """The origin of each link, from the origin of the first link that turns in its part.

    So the place of a vehicle on its map does not affect the rounding of its moments.
    """
    links = tree.links
    places: dict[int, Components] = {0: ZERO}
    for part in dict.fromkeys(tree.parts[1:]):
        i = tree.first_turning(part)
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
    """A link and all that it carries, depth first."""
    carried = [_depth_first(tree, i) for i, link in enumerate(tree.links) if link.parent == root]
    return [root, *itertools.chain.from_iterable(carried)]


# ------------------------------------------------------------------------------------ what is added to the recursions
def _slopes_of_rates(g: Graph, d: Description) -> dict[tuple[int, int], int]:
    """Nonzero entries of ∂q̇/∂(q, u, r)."""
    every = [*d.x, *d.inputs]
    rows = [accumulate(g, [(rate, g.one)], every, limits=True) for rate in d.rates]
    return {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row) if x}


def _base(bodies: Bodies, root: Link) -> Components:
    """The acceleration −γ of the base, which acts as gravity, in the axes of a link on the ground."""
    g, base = bodies.graph, neg(bodies.graph, bodies.field)
    for r in reversed(root.rotation):
        base = matvec(g, transposed(r), base)
    return base


def _turns(g: Graph, d: Description, link: Link) -> list[list[int]]:
    """Turns of a link about the axes of its three rates for each coordinate: [δθ]× = Rᵀ δR."""
    rotation = IDENTITY
    for r in link.rotation:
        rotation = matmul(g, r, rotation)
    columns = transposed(rotation)
    rows = [
        accumulate(g, list(zip(columns[j], columns[k], strict=True)), d.coordinates)
        for j, k in ((1, 2), (2, 0), (0, 1))
    ]
    axes = [rate.axis for rate in link.rates if rate.turns]
    about = [solve(g, [*zip(*axes, strict=True)], column) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*about, strict=True)]


# -------------------------------------------------------------------------------------------------------- one tree
def _joints(
    g: Graph, tree: JointTree, members: Sequence[int], frames: Sequence[Matrix], places: Sequence[Components]
) -> list[int]:
    """Axis of each joint, and the inertia of its link; the inertia belongs to the link's last joint."""
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
    """The joints of a tree of links, of which some have rates."""
    d, links, g = bodies.kinematics.description, tree.links, bodies.graph
    first: list[int] = []
    speed: list[int] = []
    displacements: list[int] = []  # of all joints except the slides of a free root
    turned: dict[tuple[int, int], int] = {}
    for i in members:
        start, at_once = len(first), turns_freely(g, links[i])
        for row in tree.jacobian[tree.rates_of(i)]:
            first.append(start if at_once else len(first))
            speed.append(next(j for j, x in enumerate(row) if x))
        if at_once:
            for turn in _turns(g, d, links[i]):
                turned |= {(len(displacements), k): x for k, x in enumerate(turn) if x}
                displacements.append(-1)
        else:
            displacements += [d.rates.index(d.speeds[u]) for u in speed[start:]]
    own = [*displacements, *(len(d.coordinates) + u for u in speed)]
    every = [*d.x, *d.inputs]
    forces = [bodies.other_forces[u] for u in speed]
    slopes = [accumulate(g, [(force, g.one)], every, limits=True) for force in forces]
    others = [j for j in range(len(every)) if j not in own and any(row[j] for row in slopes)]
    columns = (*own, *others)
    return Tree(
        free=len(links[members[0]].slides),
        parent=tuple(tree.rates_before(members)),
        first=tuple(first),
        speed=tuple(speed),
        columns=columns,
        turned=turned,
        forces=tuple(forces),
        slopes=tuple(tuple(0 if j < 0 else row[j] for j in columns) for row in slopes),
    )
