# SPDX-License-Identifier: BSD-3-Clause
"""Tendons of a compiled MuJoCo model: length, rate, and the generalized forces of a pull along them.

A fixed tendon is a sum of joint coordinates, Σ cᵢ qᵢ.  A spatial one runs through sites, in branches between pulleys,
each of which counts by its divisor.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kanecore.describe.robots.number_nodes import number, triple
from kanecore.errors import warn
from kanecore.graph.expression_graph import Op
from kanecore.graph.vectors import dot

from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .passive_forces import Flags, damper, spring
from .sites import Sites

__all__ = ["Tendon", "add_armature", "add_tendons"]

_JOINT, _PULLEY = 1, 2  # of ``wrap_type``


@dataclass
class Tendon:
    """A tendon in the description.

    Attributes
    ----------
    length, rate : int
        Nodes.
    forces : list of nodes
        Generalized forces on the length, positive where they lengthen it; `apply` makes them loads.
    coefficients : dict of int to float
        Of a fixed tendon, by the number of the speed.
    branches : list of (divisor, sites)
        Of a spatial one.
    """

    length: int
    rate: int
    forces: list[int] = field(default_factory=list)
    coefficients: dict[int, float] = field(default_factory=dict)
    branches: list[tuple[float, list[int]]] = field(default_factory=list)

    def apply(self, tree: BodyTree, sites: Sites) -> None:
        """Add the forces: to the efforts of joints, or along the lines between sites."""
        b, g = tree.builder, tree.builder.graph
        total = g.sum(self.forces)
        if not total:
            return
        for i, coefficient in self.coefficients.items():
            tree.efforts[i].append(g.mul(g.constant(coefficient), total))
        for divisor, places in self.branches:
            if len(places) > 1:
                b.tendon([sites.point(s) for s in places], g.div(total, number(b, divisor)))


def add_tendons(tree: BodyTree, sites: Sites, velocities: BodyVelocities, flags: Flags) -> list[Tendon]:
    """The tendons, with the forces of their springs and dampers and with their armature."""
    m, b, g = tree.m, tree.builder, tree.builder.graph
    tendons = []
    for t in range(m.ntendon):
        start, end = int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t])
        fixed = m.wrap_type[start] == _JOINT
        tendon = _fixed(tree, range(start, end)) if fixed else _spatial(tree, sites, velocities, range(start, end))
        low, high = (number(b, float(x)) for x in m.tendon_lengthspring[t])
        if "spring" not in flags.off and (m.tendon_stiffness[t] or np.any(m.tendon_stiffnesspoly[t])):
            stretched = g.sub(tendon.length, low)
            if low != high:  # a dead band
                over, under = g.sub(tendon.length, high), g.sub(tendon.length, low)
                stretched = g.add(g.binary(Op.MAX, over, 0), g.binary(Op.MIN, under, 0))
            tendon.forces.append(
                g.neg(spring(g, number(b, m.tendon_stiffness[t]), m.tendon_stiffnesspoly[t], stretched))
            )
        if "damper" not in flags.off and (m.tendon_damping[t] or np.any(m.tendon_dampingpoly[t])):
            loss = number(b, m.tendon_damping[t])
            tendon.forces.append(g.neg(damper(g, loss, m.tendon_dampingpoly[t], tendon.rate)))
        if m.tendon_armature[t]:
            add_armature(tree, tendon, float(m.tendon_armature[t]), f"tendon {tree.names('tendon', t)!r}")
        tendons.append(tendon)
    return tendons


def add_armature(tree: BodyTree, tendon: Tendon, armature: float, owner: str) -> None:
    """Add the inertia a Jᵀ J u̇ of the length of a fixed tendon, as MuJoCo has it.

    Entries of M stand only between a speed and those before it on its chain of bodies.  So MuJoCo leaves out what
    joins two branches, and this model does, since states and gains are exchanged; a warning says so.
    """
    b, g, apart = tree.builder, tree.builder.graph, list[str]()
    for i, c in tendon.coefficients.items():
        pulled = []
        for j, other in tendon.coefficients.items():
            if _on_one_chain(tree.m, i, j):
                pulled.append(g.mul(g.constant(other), b.acceleration(tree.u[j])))
            elif i < j:
                apart.append(f"{b.speeds[tree.u[i]]} and {b.speeds[tree.u[j]]}")
        tree.efforts[i].append(g.neg(g.mul(g.constant(armature * c), g.sum(pulled))))
    if apart:
        warn(
            f"armature of {owner} joins two branches of the tree, by {', '.join(apart)}: MuJoCo leaves this out of its "
            "mass matrix, and so does this model, that the two have the same accelerations"
        )


def _on_one_chain(m: Any, i: int, j: int) -> bool:
    """Test whether of two speeds one is that of a body that carries the other's, or of the same joint."""
    low, high = sorted((i, j))
    while high > low:
        high = int(m.dof_parentid[high])
    return high == low


def _fixed(tree: BodyTree, wraps: Sequence[int]) -> Tendon:
    m, g = tree.m, tree.builder.graph
    length, rate, coefficients = [], [], dict[int, float]()
    for i in wraps:
        j = int(m.wrap_objid[i])
        c, address = float(m.wrap_prm[i]), int(m.jnt_dofadr[j])
        length.append(g.mul(g.constant(c), tree.q[int(m.jnt_qposadr[j])]))
        rate.append(g.mul(g.constant(c), tree.u[address]))
        coefficients[address] = coefficients.get(address, 0.0) + c
    return Tendon(g.sum(length), g.sum(rate), coefficients=coefficients)


def _spatial(tree: BodyTree, sites: Sites, velocities: BodyVelocities, wraps: Sequence[int]) -> Tendon:
    m, g = tree.m, tree.builder.graph
    branches: list[tuple[float, list[int]]] = [(1.0, [])]
    for i in wraps:
        if m.wrap_type[i] == _PULLEY:
            branches.append((float(m.wrap_prm[i]), []))
        else:
            branches[-1][1].append(int(m.wrap_objid[i]))
    length, rate = [], []
    for divisor, places in branches:
        for first, second in itertools.pairwise(places):
            span = sites.between(first, second)
            size = g.sqrt(dot(g, span, span))
            change = triple([g.sub(y, x) for x, y in zip(sites.velocity(first), sites.velocity(second), strict=True)])
            length.append(g.div(size, g.constant(divisor)))
            rate.append(g.div(g.div(dot(g, span, change), size), g.constant(divisor)))
    return Tendon(g.sum(length), g.sum(rate), branches=branches)
