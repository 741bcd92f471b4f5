# SPDX-License-Identifier: BSD-3-Clause
"""Reactions of joints, and auxiliary equations."""

from __future__ import annotations

from kanecore.derive.attached import misattached, unknown_rows
from kanecore.derive.derivation import Derivation
from kanecore.derive.kane import Wrenches, inertia_forces
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.derive.reactions import reactions
from kanecore.derive.registry import Derived, derives
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.scalars import SPEED

__all__: list[str] = []


def _missing(d: Derivation) -> str:
    """What the description lacks: bodies, and where forces act."""
    if not d.description.bodies:
        return "it has no bodies that joints hold; constraints of a Lagrangian have multipliers"
    if d.description.potentials:
        return "potentials=[...] give generalized forces alone: write them into forcelist, as forces at points"
    if d.description.generalized_forces:
        names = ", ".join(force.name for force in d.description.generalized_forces)
        return (
            f"no equation tells where {names} of freed constraints acts: say so in Model(attach={{row: ...}}), before "
            "they are freed"
        )
    return _unattached(d) if d.description.constraints else ""


def _unattached(d: Derivation) -> str:
    """What keeps constraints from giving reactions: a row that nobody attached, or that does not act as said."""
    description, rows = d.description, d.constraints.rows
    if message := unknown_rows(description.attachments, rows):
        return message
    for i, row in enumerate(rows):
        acting = [a for a in description.attachments if a.row == i]
        if not acting:
            return (
                f"no equation tells where {row.name} acts: say so in "
                f"Model(attach={{{i}: (child, child_point, parent, parent_point, vector)}})"
            )
        if message := misattached(d.kinematics, i, row, acting):
            return message
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
    for given in freed.generalized_forces:
        components = given.components[len(freed.speeds) :]
        forces = [g.add(f, x) for f, x in zip(forces, components, strict=True)]
    if freed.constraints:
        nodes = {constraint.name: constraint.node for constraint in freed.constraints if constraint.kind == "velocity"}
        for row, force in zip(d.constraints.rows, d.multiplier_symbols, strict=True):
            if row.name in nodes:
                slopes = accumulate(g, [(nodes[row.name], g.one)], freed.auxiliary, SPEED)
                forces = [g.add(f, g.mul(x, force)) for f, x in zip(forces, slopes, strict=True)]
    roots = g.substitute(forces, dict.fromkeys(freed.auxiliary, 0))
    return Derived(tuple(roots), after_udot=True, with_multipliers=bool(freed.constraints))
