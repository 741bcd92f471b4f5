# SPDX-License-Identifier: BSD-3-Clause
"""Reactions of joints, and auxiliary equations."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.kane import Wrenches, generalized_forces, inertia_forces
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.derive.reactions import reactions
from kanecore.derive.registry import Derived, derives
from kanecore.derive.vectors import neg
from kanecore.describe.description import Load
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.decide import equal
from kanecore.graph.scalars import SPEED

__all__: list[str] = []


def _missing(d: Derivation) -> str:
    """What the description lacks: bodies, and where forces act."""
    if not d.description.bodies:
        return "it has no bodies that joints hold; constraints of a Lagrangian have multipliers"
    if d.description.potentials:
        return "potentials=[...] give generalized forces alone: write them into forcelist, as forces at points"
    return _unattached(d) if d.description.constraints else ""


def _unattached(d: Derivation) -> str:
    """What keeps constraints from giving reactions: a row that nobody attached, or that does not act as said."""
    description, g, k, rows = d.description, d.graph, d.kinematics, d.constraints.rows
    for a in description.attachments:
        if a.row >= len(rows):
            names = ", ".join(row.name for row in rows)
            return f"attach={{{a.row}: ...}} names no row of G, which has {len(rows)}: {names}"
    for i, row in enumerate(rows):
        acting = [a for a in description.attachments if a.row == i]
        if not acting:
            return (
                f"no equation tells where {row.name} acts: say so in "
                f"Model(attach={{{i}: (child, child_point, parent, parent_point, vector)}})"
            )
        wrenches = Wrenches(k)
        for a in acting:
            wrenches.add_load(Load(a.kind, a.child_at, a.vector, -1))
            wrenches.add_load(Load(a.kind, a.parent_at, tuple((f, neg(g, v)) for f, v in a.vector), -1))
        given = generalized_forces(wrenches)
        if not equal(g, zip(given, row.jacobian, strict=True), (*given, *row.jacobian), otherwise=True):
            return (
                f"attach={{{i}: ...}} does not act as {row.name}: the generalized force of its vector is not "
                "the row of G; check sign and length of the vector, and the points: one of a contact needs the "
                "velocity of the body's point that touches, by set_vel"
            )
    return ""


@derives("reactions", missing=_missing)
def _reactions(d: Derivation) -> Derived:
    forces = reactions(d.kinematics, d.description.accelerations, d.multiplier_symbols)
    return Derived(tuple(forces), after_udot=True, with_multipliers=bool(d.description.constraints))


@derives("reaction_slopes", applies=lambda d: bool(d.description.constraints) and not d.missing("reactions"))
def _reaction_slopes(d: Derivation) -> Derived:
    forces = reactions(d.kinematics, [0] * len(d.description.speeds), d.multiplier_symbols)
    slopes = [Tangent(d.graph, {x: d.graph.one}).of for x in d.multiplier_symbols]
    return Derived(tuple(slope(x) for x in forces for slope in slopes))


@derives("auxiliary_forces", applies=lambda d: bool(d.description.auxiliary))
def _auxiliary_forces(d: Derivation) -> Derived:
    """F_r + F*_r + (Gᵀλ)_r for the auxiliary speeds, these being zero: the equations that give reactions.

    Partial velocities come first, then the speeds vanish (Kane & Levinson 1985, section 4.9).
    """
    g, freed = d.graph, d.freed
    k = Kinematics(freed)
    wrenches = inertia_forces(k, Accelerations(k, freed.accelerations), Wrenches(k, freed.loads))
    forces = accumulate(g, wrenches.weights(), freed.auxiliary, SPEED)
    if freed.constraints:
        given = {constraint.name: constraint.node for constraint in freed.constraints if constraint.kind == "velocity"}
        for row, force in zip(d.constraints.rows, d.multiplier_symbols, strict=True):
            if row.name in given:
                slopes = accumulate(g, [(given[row.name], g.one)], freed.auxiliary, SPEED)
                forces = [g.add(f, g.mul(x, force)) for f, x in zip(forces, slopes, strict=True)]
    roots = g.substitute(forces, dict.fromkeys(freed.auxiliary, 0))
    return Derived(tuple(roots), after_udot=True, with_multipliers=bool(freed.constraints))
