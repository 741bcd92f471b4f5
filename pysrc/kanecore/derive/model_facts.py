# SPDX-License-Identifier: BSD-3-Clause
"""Facts of a model in its C table: sizes, unused parameters, places of bodies and loads.

Parameters that a kernel does not read need no values in its calls.  Sizes have the names of the C table and of the
shapes of kernels.  Bodies, loads and joints refer to the shown points and frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.joint_reactions import is_free, numbered
from kanecore.describe.description import Description
from kanecore.describe.frame_paths import Ancestry
from kanecore.describe.joints import Attachments
from kanecore.kernels import KERNELS

__all__ = ["places", "sizes_of", "unread"]

_COUNTED = [kernel.name for kernel in KERNELS if kernel.counts]  # kernels that need the rank of G


def unread(derivation: Derivation, kernels: Iterable[str]) -> dict[str, int]:
    """Parameters that no result of a kernel depends on, as bits, by kernel; kernels that read all are left out.

    Kernels that need the rank of G read the constraints, and M, the metric of projections to the constraints.
    """
    g, d = derivation.graph, derivation.description
    every = (1 << len(d.parameters)) - 1
    roots = {name: set(_roots(derivation, name)) for name in kernels}
    nodes = sorted(set().union(*roots.values()))
    read = dict(zip(nodes, g.reads(nodes, list(d.parameters)), strict=True))
    result = {}
    for name, own in roots.items():
        bits = every & ~reduce(or_, (read[i] for i in own), 0)
        if bits:
            result[name] = bits
    return result


def _roots(derivation: Derivation, name: str) -> list[int]:
    d = derivation.description
    if name == "rhs":
        return [*_roots(derivation, "udot"), *d.rates, *d.state_rates]
    if name == "project":
        parts = list(derivation.projections.values())
    else:
        parts = [derivation.at_run_time(name) or derivation.kernel(name)]
    roots = [i for part in parts for i in (*part.roots, *(x for pivot in part.pivots for x in pivot[:2]))]
    if parts[0].after_udot:
        roots += _roots(derivation, "udot")
        if parts[0].with_multipliers:
            roots += derivation.kernel("multipliers").roots
    if d.constraints and name in _COUNTED:
        roots += [x for part in derivation.projections.values() for x in part.roots]
        roots += derivation.kernel("constraint_jacobian").roots
        roots += derivation.constraints.configuration
    return roots


def sizes_of(derivation: Derivation) -> dict[str, int]:
    """``n_q``, ``n_u``, ..., ``n_velocity``."""
    d = derivation.description
    n_q, n_u = len(d.coordinates), len(d.speeds)
    rows = (0, 0, 0)
    if d.constraints:
        constraints = derivation.constraints
        rows = len(constraints.rows), len(constraints.configuration), len(constraints.values)
    return {
        "n_q": n_q,
        "n_u": n_u,
        "n_x": d.n_x,
        "n_p": len(d.parameters),
        "n_r": len(d.inputs),
        "n_points": len(d.shown_points),
        "n_frames": len(d.shown_frames),
        "n_outputs": len(d.outputs),
        "n_joints": len(d.joints),
        "n_bodies": len(d.bodies),
        "n_loads": len(d.loads),
        "n_potentials": len(d.potentials),
        "n_unit": len(d.unit),
        "n_constraints": rows[0],
        "n_configuration": rows[1],
        "n_velocity": rows[2],
        "n_auxiliary": len(d.auxiliary),
        "n_q_dependent": d.n_q_dependent,
        "n_u_dependent": d.n_u_dependent,
        "n_z": len(d.states),
        "n_reactions": len(d.reaction_terms.symbols) if d.reaction_terms else 0,
        "n_shares": len(d.reaction_terms.laws) if d.reaction_terms else 0,
    }


def places(derivation: Derivation) -> dict[str, Any]:
    """The facts by name, for ``info`` of a model's table; points and frames by their indices among the shown ones.

    ``bodies``: mass centre and frame, -1 for a particle.  ``loads``: 0 for a force, 1 for a torque; the point or the
    frame; the number in the user's list; the body, -1 for the inertial frame.  ``joints``: parent, child, and whether
    the joint is free.  ``inertial``: the name of the inertial frame.  ``origin``: the name of the model's origin, if
    there is one.  ``roots``: for each point the index of its reference point; empty if all have the same.  ``origins``:
    for each point the name of its reference point, empty if its velocity is not the derivative of a position from
    there.  ``unlocated``: inputs that are multipliers of freed constraints with unknown places.  ``untold``: in a model
    with auxiliary speeds, rows of G with neither terms in these speeds nor a place.  ``adrift``: points with motions
    that no position determines, since they are located from a point with a set velocity, or from a contact.
    ``instant``: points that are located, or set in motion, in axes with an angular velocity unlike their orientation's:
    their accelerations are derivatives of vectors as written.  ``unoriented``: frames with rotations that no
    orientation determines.  ``namesakes``: frames with the name of the inertial frame.  ``tree``: for each point, then
    for each joint point, the nearest of these points that it is located from, -1 without one.  ``loose``: starts of
    chains of these points that no joint connects to their reference.  ``massless``: for each speed that moves no body,
    the parts that it moves, in words.  ``shapes``: body, kind, sizes, axis; if moved, the place; for a mesh, place and
    file.  ``dissipation``: a Lagrangian has generalized forces in addition.
    """
    d = derivation.description
    point, frame = ({at: n for n, at in enumerate(shown)} for shown in (d.shown_points, d.shown_frames))
    owner = Attachments(d.graph, d.frames, d.points, d.bodies, d.joints)
    return {
        "bodies": [[point[b.point], frame[b.frame] if b.frame >= 0 else -1] for b in d.bodies],
        "loads": [
            [*((0, point[x.at]) if x.kind == "force" else (1, frame[x.at])), x.number, owner.acted_on(x)]
            for x in d.loads
        ],
        "joints": [[joint.parent, joint.child, int(is_free(derivation.kinematics, joint))] for joint in d.joints],
        "unlocated": [d.input_names.index(x.name) for x in d.generalized_forces if x.is_constraint],
        **({"dissipation": True} if not all(x.is_constraint for x in d.generalized_forces) else {}),
        **_untold(derivation),
        **_positions(derivation),
        **_loose(derivation),
        **_tree(derivation),
        "massless": _massless(derivation),
        "shapes": [
            [
                body,
                shape.kind,
                list(shape.sizes),
                shape.axis,
                *([list(shape.place)] if shape.place or shape.file else []),
            ]
            + [shape.file] * bool(shape.file)
            for body, shape in d.shapes
        ],
    }


def _untold(derivation: Derivation) -> dict[str, Any]:
    if not derivation.description.auxiliary:
        return {}
    acting = {a.row for a in numbered(derivation.description.attachments, derivation.rows)}
    return {"untold": [i for i, row in enumerate(derivation.rows) if row.kind != "velocity" and i not in acting]}


def _positions(derivation: Derivation) -> dict[str, Any]:
    d, k, whereabouts = derivation.description, derivation.kinematics, derivation.whereabouts
    starts = [whereabouts.measured_from(point) for point in d.shown_points]
    number = {start: i for i, start in enumerate(dict.fromkeys(starts))}
    known = [k.reaches(point) for point in d.shown_points]
    return {
        "inertial": d.frames[0].name,
        "origin": d.points[whereabouts.origin].name if whereabouts.origin >= 0 else "",
        "roots": [number[start] for start in starts] if len(number) > 1 else [],
        "origins": [d.points[start].name if sure else "" for start, sure in zip(starts, known, strict=True)],
    }


def _tree(derivation: Derivation) -> dict[str, Any]:
    d = derivation.description
    places = [*d.shown_points, *(joint.point for joint in d.joints)]
    number = {place: n for n, place in reversed(list(enumerate(places)))}
    location = Ancestry([point.parent for point in d.points])
    tree = []
    for n, place in enumerate(places):
        from_here = location.chain(place)
        if number[place] == n:  # otherwise the place has an index already
            next(from_here)
        tree.append(next((number[above] for above in from_here if above in number), -1))
    loose: set[int] = set()
    for joint in d.joints:
        if is_free(derivation.kinematics, joint):
            above = set(location.chain(joint.point))
            own = [i for i in location.chain(d.bodies[joint.child].point) if i in number and i not in above]
            loose.update(number[i] for i in own[-1:])
    return {"tree": tree, "loose": sorted(loose)}


def _loose(derivation: Derivation) -> dict[str, Any]:
    d, adrift, unoriented = derivation.description, derivation.whereabouts.adrift, derivation.whereabouts.unoriented
    wandering = [i for i in range(len(d.points)) if _is_written_in(d, i, unoriented)]
    return {
        "adrift": [n for n, point in enumerate(d.shown_points) if adrift[point]],
        "instant": [n for n, point in enumerate(d.shown_points) if point in wandering],
        "unoriented": [n for n, frame in enumerate(d.shown_frames) if unoriented[frame]],
        "namesakes": [n for n, i in enumerate(d.shown_frames) if i and d.frames[i].name == d.frames[0].name],
    }


def _massless(derivation: Derivation) -> dict[str, str]:
    d, k, g = derivation.description, derivation.kinematics, derivation.graph
    heavy = [x for b in d.bodies if b.mass for x in k.velocity[b.point]]
    turned = [b for b in d.bodies if b.frame >= 0 and any(x for _, m in b.inertia for row in m for x in row)]
    moved = set(g.below([*heavy, *(x for b in turned for x in k.omega[b.frame])]))
    idle = [(speed, name) for speed, name in zip(d.speeds, d.speed_names, strict=True) if speed not in moved]
    if not idle or not d.bodies:
        return {}
    places = [(d.frames[i].name, k.omega[i]) for i in d.shown_frames]
    places += [(d.points[i].name, k.velocity[i]) for i in d.shown_points]
    depends = [(name, set(g.below(components))) for name, components in places]
    points = {d.points[i].name for i in d.shown_points}
    moving: dict[str, str] = {}
    for speed, name in idle:
        found = sorted(
            dict.fromkeys(place for place, on in depends if speed in on), key=lambda each: each not in points
        )
        if found:  # the links of a robot, which are also points, come first
            moving[name] = ", ".join([*map(repr, found[:3]), *["..."] * (len(found) > 3)])
    return moving


def _is_written_in(d: Description, point: int, frames: Sequence[bool]) -> bool:
    """Test whether a point, or an ancestor, has a position or velocity written in some frames."""
    while point >= 0:
        here = d.points[point]
        if any(frames[f] for f, _ in (*here.position, *(here.velocity or ()))):
            return True
        point = here.parent
    return False
