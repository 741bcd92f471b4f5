# SPDX-License-Identifier: BSD-3-Clause
"""Reactions of joints, and auxiliary equations."""

from __future__ import annotations

from kanecore.derive.attached import attached_loads, misattached, unknown_rows
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


def _unwritten(d: Derivation) -> str:
    """What keeps constraints from having forces along auxiliary speeds: nobody said where one on coordinates acts."""
    attachments, moved = d.description.attachments, _moved_with_auxiliary(d)
    if message := unknown_rows(attachments, d.rows):
        return message
    for i, row in enumerate(d.rows):
        acting = [a for a in attachments if a.row == i]
        if row.kind != "configuration" or moved.isdisjoint(j for j, x in enumerate(row.jacobian) if x):
            continue
        if not acting:
            return (
                f"{row.name} is an equation of coordinates, and does not tell what "
                f"{' and '.join(d.freed.auxiliary_names)} would change in it, along which its force acts as well: "
                "write its derivative into velocity_constraints, with the velocities that hold auxiliary speeds "
                "(point.vel(frame).dot(direction) of the points that it joins), or say where it acts: "
                f"Model(attach={{{i}: (child, child_point, parent, parent_point, vector)}})"
            )
        if message := misattached(d.kinematics, i, row, acting):
            return message
    return ""


def _moved_with_auxiliary(d: Derivation) -> set[int]:
    """The speeds that move what auxiliary speeds move: points and frames whose velocities hold these."""
    k, freed, moved = Kinematics(d.freed), d.freed, set[int]()
    velocities = [k.inertial_velocity(i) for i in range(len(freed.points))]
    for velocity in (*velocities, *(k.inertial_omega(i) for i in range(len(freed.frames)))):
        held = set(d.graph.below(list(velocity)))
        if not held.isdisjoint(freed.auxiliary):
            moved |= {j for j, u in enumerate(freed.speeds) if u in held}
    return moved


@derives("auxiliary_forces", applies=lambda d: bool(d.description.auxiliary), missing=_unwritten)
def _auxiliary_forces(d: Derivation) -> Derived:
    """F_r + F*_r + (Gᵀλ)_r for the auxiliary speeds, these being zero: the equations that give reactions.

    Partial velocities come first, then the speeds vanish (Kane & Levinson 1985, section 4.9).  (Gᵀλ)_r is that of a
    velocity constraint as it is written, and where a row was attached that of its forces at the points.
    """
    g, freed = d.graph, d.freed
    k, loads = Kinematics(freed), list(freed.loads)
    written = {each.name: each.node for each in freed.constraints if each.kind == "velocity"}
    along = [(given.components[len(freed.speeds) :], g.one) for given in freed.generalized_forces]
    for i, (row, force) in enumerate(zip(d.rows, d.multiplier_symbols, strict=True)):
        slopes = accumulate(g, [(written.get(row.name, 0), g.one)], freed.auxiliary, SPEED)
        if any(slopes):
            along.append((tuple(slopes), force))
        else:
            loads += attached_loads(g, [a for a in freed.attachments if a.row == i], force, -1)
    wrenches = inertia_forces(k, Accelerations(k, freed.accelerations), Wrenches(k, loads))
    forces = accumulate(g, wrenches.weights(), freed.auxiliary, SPEED)
    for components, force in along:
        forces = [g.add(f, g.mul(x, force)) for f, x in zip(forces, components, strict=True)]
    roots = g.substitute(forces, dict.fromkeys(freed.auxiliary, 0))
    return Derived(tuple(roots), after_udot=True, with_multipliers=bool(freed.constraints))
