# SPDX-License-Identifier: BSD-3-Clause
"""The mass matrix: by composite bodies, or column by column.

For a joint tree M comes from composite bodies: each is all that a joint carries, frozen (Featherstone, *Rigid Body
Dynamics Algorithms*, 2008, section 6.2).

For velocities that follow no joint tree M comes column by column, M_rs = Σ m v_r·v_s + ω_r·I·ω_s: the partial
velocities of speed s by a forward tangent, their momenta as weights, and one reverse accumulation for all r.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from kanecore.derive.forces.generalized_forces import central_inertia
from kanecore.derive.kinematics import Kinematics
from kanecore.derive.recursions.joint_tree import JointTree, Link
from kanecore.derive.recursions.spatial_inertia import HALF, Symmetric, plus, rotated, shift, times
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import SPEED, Graph
from kanecore.graph.vectors import Components, add, cross, dot, matvec, scale

__all__ = ["column_mass_matrix", "composite_mass_matrix", "composite_momenta", "composite_sizes", "composites"]


def composite_mass_matrix(g: Graph, tree: JointTree) -> list[list[int]]:
    """The mass matrix in the joint rates: M_ij from the momentum, per unit of rate j, of all that joint j carries."""
    links, n, first = tree.links, len(tree.rates), tree.first_rates
    momenta = composite_momenta(g, tree)
    matrix = [[0] * n for _ in range(n)]
    for i in range(len(links) - 1, -1, -1):
        for column in range(first[i], first[i] + len(links[i].rates)):
            force, torque = momenta[column]
            j = i
            while True:
                for row, along in enumerate(links[j].rates, first[j]):
                    if row <= column:
                        value = dot(g, along.axis, torque if along.turns else force)
                        matrix[row][column] = matrix[column][row] = value
                if links[j].parent < 0:
                    break
                for r in links[j].rotation:
                    force, torque = matvec(g, r, force), matvec(g, r, torque)
                torque = add(g, torque, cross(g, links[j].offset, force))
                j = links[j].parent
    return matrix


def composite_momenta(g: Graph, tree: JointTree) -> list[tuple[Components, Components]]:
    """Momentum of all that each joint rate moves, per unit of it, and its moment about the link's origin."""
    result = []
    for link, (mass, h, inertia) in zip(tree.links, composites(g, tree.links), strict=True):
        for rate in link.rates:
            if rate.turns:
                result.append((cross(g, rate.axis, h), times(g, inertia, rate.axis)))
            else:
                result.append((scale(g, mass, rate.axis), cross(g, h, rate.axis)))
    return result


def composites(g: Graph, links: Sequence[Link]) -> list[tuple[int, Components, Symmetric]]:
    """Mass, first moment and inertia, about each link's origin and in its axes, of the link and all it carries."""
    total = [(link.mass, link.moment, link.inertia) for link in links]
    for i in range(len(links) - 1, 0, -1):
        mass, h, inertia = total[i]
        for r in links[i].rotation:
            h, inertia = matvec(g, r, h), rotated(g, r, inertia)
        p = links[i].offset
        k = add(g, h, scale(g, mass, p))
        inertia = plus(g, inertia, shift(g, p, k, h))
        j = links[i].parent
        total[j] = (g.add(total[j][0], mass), add(g, total[j][1], k), plus(g, total[j][2], inertia))
    return total


def composite_sizes(g: Graph, links: Sequence[Link]) -> list[tuple[int, int]]:
    """Mass and ∫ r·r dm about the link's origin, of each link with all it carries: bounds of inertias."""
    half = g.constant(HALF)
    total = [(x.mass, x.moment, g.mul(half, g.sum(x.inertia[:3]))) for x in links]
    for i in range(len(links) - 1, 0, -1):
        mass, h, square = total[i]
        for r in links[i].rotation:
            h = matvec(g, r, h)
        p, j = links[i].offset, links[i].parent
        k = add(g, h, scale(g, mass, p))
        square = g.add(square, dot(g, p, add(g, h, k)))
        total[j] = (g.add(total[j][0], mass), add(g, total[j][1], k), g.add(total[j][2], square))
    return [(mass, square) for mass, _, square in total]


def column_mass_matrix(k: Kinematics) -> list[list[int]]:
    """The mass matrix in the user's speeds."""
    g, d = k.graph, k.description
    n = len(d.speeds)
    inertias = [central_inertia(k, i) if b.frame >= 0 else None for i, b in enumerate(d.bodies)]
    matrix = [[0] * n for _ in range(n)]
    velocities = [[*k.velocity[b.point], *(k.omega[b.frame] if b.frame >= 0 else ())] for b in d.bodies]
    read = iter(g.reads([x for each in velocities for x in each], d.speeds))
    moved_by = [reduce(or_, [next(read) for _ in each]) for each in velocities]
    for s, speed in enumerate(d.speeds):
        partial = Tangent(g, {speed: g.one}).of
        weights: list[tuple[int, int]] = []
        for body, inertia, speeds in zip(d.bodies, inertias, moved_by, strict=True):
            if not speeds >> s & 1:
                continue
            v = k.velocity[body.point]
            momentum = scale(g, body.mass, (partial(v[0]), partial(v[1]), partial(v[2])))
            weights += zip(v, momentum, strict=True)
            if inertia is not None:
                w = k.omega[body.frame]
                weights += zip(w, matvec(g, inertia, (partial(w[0]), partial(w[1]), partial(w[2]))), strict=True)
        for r, entry in enumerate(accumulate(g, weights, d.speeds[: s + 1], SPEED)):
            matrix[r][s] = matrix[s][r] = entry
    return matrix
