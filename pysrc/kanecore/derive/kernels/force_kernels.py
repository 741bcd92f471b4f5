# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of forces: partial velocities, generalized active and inertia forces, joint reactions, auxiliary equations.

Kane & Levinson 1985, sections 2.14, 4.4 and 4.11.  Further kernels give each body and each load separately, in inertial
axes.  `kanecore.audit.audit` uses these, since they are as the user wrote them: loads are not moved to other points,
nor multiplied by partial velocities.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kanecore.derive.constraint_rows import Row
from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.generalized_forces import (
    Wrenches,
    active_forces,
    at_rest,
    central_inertia,
    coordinate_forces,
    inertia_forces,
    inertial_part,
    unrelated,
)
from kanecore.derive.forces.joint_reactions import attached_loads, misattached, numbered, reactions, unknown_rows
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.derive.kernels.kinematic_kernels import flat
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.describe.description import Attachment, duplicate
from kanecore.describe.joints import GROUND
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import SPEED
from kanecore.graph.vectors import ZERO, Components, add, cross, dot, matmul, matvec, neg, scale, sub, transposed
from kanecore.graph.zero_tests import is_combination

__all__: list[str] = []


def _missing(d: Derivation) -> str:
    """Missing part of the description: bodies, or the places of forces; empty if no part is missing."""
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


def _attachments(d: Derivation) -> tuple[Attachment, ...]:
    """Places at which rows of G act, by the numbers of the rows."""
    return numbered(d.description.attachments, d.rows)


def _unattached(d: Derivation) -> str:
    """Reason why constraints give no reactions: a row is not attached, or acts otherwise than attached; else empty."""
    attachments, rows = _attachments(d), d.rows
    if message := unknown_rows(attachments, rows):
        return message
    for i, row in enumerate(rows):
        acting = [a for a in attachments if a.row == i]
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
    forces = reactions(d.kinematics, d.description.accelerations, d.multiplier_symbols, _attachments(d))
    return Derived(tuple(forces), after_udot=True, with_multipliers=bool(d.description.constraints))


@derives("reaction_slopes", applies=lambda d: bool(d.description.constraints) and not d.missing("reactions"))
def _reaction_slopes(d: Derivation) -> Derived:
    forces = reactions(d.kinematics, [0] * len(d.description.speeds), d.multiplier_symbols, _attachments(d))
    slopes = [Tangent(d.graph, {x: d.graph.one}).of for x in d.multiplier_symbols]
    return Derived(tuple(slope(x) for x in forces for slope in slopes))


def _has_terms(d: Derivation) -> bool:
    return d.description.reaction_terms is not None


@derives("reaction_shares", applies=_has_terms)
def _reaction_shares(d: Derivation) -> Derived:
    terms = d.description.reaction_terms
    if terms is None:
        return Derived(())
    return Derived(tuple(x for start, row in zip(terms.start, terms.slopes, strict=True) for x in (start, *row)))


@derives("share_laws", applies=_has_terms)
def _share_laws(d: Derivation) -> Derived:
    terms, g = d.description.reaction_terms, d.graph
    if terms is None:
        return Derived(())
    given = dict(zip(terms.symbols, d.vector_symbols(len(terms.symbols)), strict=True))
    rows = []
    for law, power in zip(terms.laws, terms.powers, strict=True):
        rows += g.substitute([law, *accumulate(g, [(law, g.one)], terms.symbols), power], given)
    return Derived(tuple(rows))


def _unwritten(d: Derivation) -> str:
    """Message about forces along auxiliary speeds with unknown places; empty if all places are known."""
    attachments, moved = _attachments(d), _moved_with_auxiliary(d)
    if message := unknown_rows(attachments, d.rows):
        return message
    for i, row in enumerate(d.rows):
        acting = [a for a in attachments if a.row == i]
        if moved.isdisjoint(j for j, x in enumerate(row.jacobian) if x) or _tells(d, row):
            continue
        if not acting:
            of, way = {
                "configuration": ("is an equation of coordinates", "its derivative"),
                "velocity": ("is the derivative of an equation of coordinates", "it"),
                "acceleration": ("is an equation of accelerations", "what it is the derivative of"),
            }[row.kind]
            return (
                f"{row.name} {of}, and {_untold(d)}: write {way} into velocity_constraints, "
                "with the velocities that hold auxiliary speeds (point.vel(frame).dot(direction) of the points that it "
                "joins), or say where it acts: "
                f"Model(attach={{{i}: (child, child_point, parent, parent_point, vector)}})"
            )
        if message := misattached(d.kinematics, i, row, acting):
            return message
    return _unplaced(d, moved)


def _tells(d: Derivation, row: Row) -> bool:
    """Test whether a row was written with velocities, so that its terms in auxiliary speeds are known.

    A row that follows from equations of coordinates, and has no auxiliary speed, may be only their derivative.
    """
    if row.kind != "velocity":
        return False
    written = next(each.node for each in d.freed.constraints if each.kind == "velocity" and each.name == row.name)
    slopes = accumulate(d.graph, [(written, d.graph.one)], d.freed.auxiliary, SPEED)
    return any(slopes) or not is_combination(d.graph, row.jacobian, d.constraints.rates)


def _untold(d: Derivation) -> str:
    away = " and ".join(d.freed.auxiliary_names)
    return f"does not tell what {away} would change in it, along which its force acts as well"


def _unplaced(d: Derivation, moved: set[int]) -> str:
    """Message about potentials, and freed constraints that were not attached: they give generalized forces only."""
    description, k = d.description, d.kinematics
    for number, energy in enumerate(description.potentials):
        slopes = active_forces(k, (), [energy])
        if not moved.isdisjoint(j for j, x in enumerate(slopes) if x):
            return (
                f"potential {number} {_untold(d)}: write it into forcelist, as the forces at points, or torques on "
                "frames, that it stands for"
            )
    for force in description.generalized_forces:
        if force.kind != "velocity" and not moved.isdisjoint(
            j for j, x in enumerate(force.components[: len(description.speeds)]) if x
        ):
            return (
                f"{force.name} is the force of a freed {force.kind} constraint, which {_untold(d)}: say in "
                "Model(attach={row: ...}) where it acts, before it is freed"
            )
    return ""


def _moved_with_auxiliary(d: Derivation) -> set[int]:
    """Speeds that move the same points and frames as auxiliary speeds."""
    k, freed, moved = Kinematics(d.freed), d.freed, set[int]()
    velocities = [k.inertial_velocity(i) for i in range(len(freed.points))]
    for velocity in (*velocities, *(k.inertial_omega(i) for i in range(len(freed.frames)))):
        held = set(d.graph.below(list(velocity)))
        if not held.isdisjoint(freed.auxiliary):
            moved |= {j for j, u in enumerate(freed.speeds) if u in held}
    return moved


@derives("auxiliary_forces", applies=lambda d: bool(d.description.auxiliary), missing=_unwritten)
def _auxiliary_forces(d: Derivation) -> Derived:
    """F_r + F*_r + (Gᵀλ)_r for the auxiliary speeds, with zero for these: the equations of reactions.

    Partial velocities come first, then the speeds vanish (Kane & Levinson 1985, section 4.9).  (Gᵀλ)_r comes from a
    velocity constraint as written or, if its row was attached, from its forces at the points.
    """
    g, freed = d.graph, d.freed
    k, loads = Kinematics(freed), list(freed.loads)
    written = {each.name: each.node for each in freed.constraints if each.kind == "velocity"}
    attachments = numbered(freed.attachments, d.rows)
    along = [(given.components[len(freed.speeds) :], g.one) for given in freed.generalized_forces]
    for i, (row, force) in enumerate(zip(d.rows, d.multiplier_symbols, strict=True)):
        slopes = accumulate(g, [(written.get(row.name, 0), g.one)], freed.auxiliary, SPEED)
        if any(slopes):
            along.append((tuple(slopes), force))
        else:
            loads += attached_loads(g, [a for a in attachments if a.row == i], force, -1)
    wrenches = inertia_forces(k, Accelerations(k, freed.accelerations), Wrenches(k, loads))
    forces = accumulate(g, wrenches.weights(), freed.auxiliary, SPEED)
    for components, force in along:
        forces = [g.add(f, g.mul(x, force)) for f, x in zip(forces, components, strict=True)]
    roots = g.substitute(forces, dict.fromkeys(freed.auxiliary, 0))
    return Derived(tuple(roots), after_udot=True, with_multipliers=bool(freed.constraints))


@derives("auxiliary_partials", applies=lambda d: bool(d.description.auxiliary), missing=_unwritten)
def _auxiliary_partials(d: Derivation) -> Derived:
    """Partials of points, then of frames, (3) each in inertial axes; then the power of a unit multiplier of each row.

    An audit multiplies the partials by the loads as written.
    """
    g, freed = d.graph, d.freed
    k = Kinematics(freed)
    velocity, omega = map(k.inertial_velocity, freed.shown_points), map(k.inertial_omega, freed.shown_frames)
    moving = [x for v in (*velocity, *omega) for x in v]
    written = {each.name: each.node for each in freed.constraints if each.kind == "velocity"}
    attachments = numbered(freed.attachments, d.rows)
    for i, row in enumerate(d.rows):
        acting = [a for a in attachments if a.row == i]
        moving.append(g.sum(_relative(k, a) for a in acting) if acting else written.get(row.name, 0))
    roots = [slope for x in moving for slope in accumulate(g, [(x, g.one)], freed.auxiliary, SPEED)]
    return Derived(tuple(g.substitute(roots, dict.fromkeys(freed.auxiliary, 0))))


def _relative(k: Kinematics, a: Attachment) -> int:
    """The velocity of the child relative to the parent along the vector of a row's force."""
    g, vector = k.graph, k.resolve_all(a.vector, 0)
    moves = k.inertial_velocity if a.kind == "force" else k.inertial_omega
    return dot(g, sub(g, moves(a.child_at), moves(a.parent_at)), vector)


def _no_forces(d: Derivation) -> str:
    if d.description.first_order is not None:
        return "its equations are of first order, in q and p: ask the model that they were made of"
    return ""


def _missing_coordinate_forces(d: Derivation) -> str:
    return _no_forces(d) or unrelated(duplicate(d.description))


def _velocities(d: Derivation) -> list[Components]:
    return [d.kinematics.inertial_velocity(p) for p in d.description.shown_points]


def _angular_velocities(d: Derivation) -> list[Components]:
    return [d.kinematics.inertial_omega(f) for f in d.description.shown_frames]


def _partials(d: Derivation, vectors: Iterable[Components]) -> Derived:
    """∂v/∂u_r, for each vector and speed."""
    tangents = [Tangent(d.graph, {u: 1}).of for u in d.description.speeds]
    return Derived(tuple(of(x) for v in vectors for of in tangents for x in v))


def _remainders(d: Derivation, vectors: Iterable[Components]) -> Derived:
    """Values of the vectors at u = 0."""
    at_rest = dict.fromkeys(d.description.speeds, 0)
    return Derived(tuple(x for v in vectors for x in d.graph.substitute(v, at_rest)))


@derives("partial_velocities", missing=_no_forces)
def _partial_velocities(d: Derivation) -> Derived:
    return _partials(d, _velocities(d))


@derives("velocity_remainders")
def _velocity_remainders(d: Derivation) -> Derived:
    return _remainders(d, _velocities(d))


@derives("partial_angular_velocities", missing=_no_forces)
def _partial_angular_velocities(d: Derivation) -> Derived:
    return _partials(d, _angular_velocities(d))


@derives("angular_velocity_remainders")
def _angular_velocity_remainders(d: Derivation) -> Derived:
    return _remainders(d, _angular_velocities(d))


@derives("generalized_active_forces", missing=_no_forces)
def _generalized_active_forces(d: Derivation) -> Derived:
    return Derived(tuple(d.formulation.active_forces()))


@derives("generalized_inertia_forces", missing=_no_forces)
def _generalized_inertia_forces(d: Derivation) -> Derived:
    return Derived(tuple(d.formulation.inertia_forces(d.description.accelerations)))


@derives("coordinate_forces", missing=_missing_coordinate_forces)
def _coordinate_forces(d: Derivation) -> Derived:
    return Derived(tuple(coordinate_forces(d.description, d.formulation.active_forces())))


@derives("equations_residual")
def _equations_residual(d: Derivation) -> Derived:
    """F + Gᵀλ − M u̇, φ and c: residuals of dynamics, geometry and motion, at any u̇ and λ."""
    g, description = d.graph, d.description
    balance = d.residual(description.accelerations)
    for row, force in zip(d.rows, d.multiplier_symbols, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    given = [*d.constraints.configuration, *d.constraints.values] if description.constraints else []
    return Derived((*balance, *given))


@derives("load_vectors")
def _load_vectors(d: Derivation) -> Derived:
    return flat(d.kinematics.resolve_all(load.vector, 0) for load in at_rest(d.kinematics, d.description.loads))


@derives("body_momenta")
def _body_momenta(d: Derivation) -> Derived:
    k, g, vectors = d.kinematics, d.graph, []
    for i, body in enumerate(d.description.bodies):
        vectors.append(scale(g, body.mass, k.inertial_velocity(body.point)))
        about = matvec(g, central_inertia(k, i), k.omega[body.frame]) if body.frame >= 0 else ZERO
        vectors.append(k.resolve(about, body.frame, 0) if body.frame >= 0 else ZERO)
    return flat(vectors)


@derives("inertia_forces")
def _inertia_forces(d: Derivation) -> Derived:
    k, vectors = d.kinematics, []
    accelerations = Accelerations(k, d.description.accelerations)
    for i, body in enumerate(d.description.bodies):
        wrench = inertia_forces(k, accelerations, Wrenches(k), [i])
        vectors.append(k.resolve(wrench.force[body.point], k.home[body.point], 0))
        vectors.append(k.resolve(wrench.torque[body.frame], body.frame, 0) if body.frame >= 0 else ZERO)
    return flat(vectors)


@derives("masses")
def _masses(d: Derivation) -> Derived:
    """For each body the mass, nine entries of the tensor, and its reference point (3), in the body's axes."""
    k, g, roots = d.kinematics, d.graph, []
    for body in d.description.bodies:
        total = (ZERO, ZERO, ZERO)
        for f, tensor in body.inertia:
            for r in k.rotation(f, body.frame):
                tensor = matmul(g, matmul(g, r, tensor), transposed(r))
            total = tuple(add(g, a, b) for a, b in zip(total, tensor, strict=True))  # type: ignore[assignment]
        about = k.resolve_all(body.about, body.frame) if body.about else ZERO
        roots += [body.mass, *(x for row in total for x in row), *about]
    return Derived(tuple(roots))


@derives("potentials", applies=lambda d: bool(d.description.potentials))
def _potentials(d: Derivation) -> Derived:
    return Derived(d.description.potentials)


@derives("inertial_loads", missing=lambda d: "" if d.has_inertial_loads else "no load of it holds u̇")
def _inertial_loads(d: Derivation) -> Derived:
    k, loads = d.kinematics, d.description.loads
    return flat(
        k.resolve_all(part.vector, 0)
        for load in loads
        for part in [*inertial_part(k, [load], d.description.accelerations), replace(load, vector=())][:1]
    )


@derives("attached_wrenches", missing=lambda d: d.missing("reactions"))
def _attached_wrenches(d: Derivation) -> Derived:
    k, g, rows = d.kinematics, d.graph, range(len(d.rows))
    wrench = {(i, row): (ZERO, ZERO) for i in range(len(d.description.bodies)) for row in rows}
    for a in _attachments(d):
        vector = k.resolve_all(a.vector, 0)
        for body, place, v in ((a.child, a.child_at, vector), (a.parent, a.parent_at, neg(g, vector))):
            if body == GROUND:
                continue
            force, moment = wrench[body, int(a.row)]
            if a.kind == "force":
                arm = k.between(d.description.bodies[body].point, place)
                force, moment = add(g, force, v), add(g, moment, cross(g, arm, v))
            else:
                moment = add(g, moment, v)
            wrench[body, int(a.row)] = force, moment
    flat = {key: (*force, *moment) for key, (force, moment) in wrench.items()}
    bodies = range(len(d.description.bodies))
    return Derived(tuple(flat[i, row][j] for i in bodies for j in range(6) for row in rows))
