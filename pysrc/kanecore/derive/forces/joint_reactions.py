# SPDX-License-Identifier: BSD-3-Clause
"""Reactions of joints, and of rows of G on the bodies on which they act.

A row of G acts by the forces λ·vector on the child and −λ·vector on the parent, which are compared with the row.

Reactions at the joints of a tree come from a Newton–Euler pass over the bodies with u̇ known.  It goes from the last
body to the first.  Loads R at Q and T act on a body, and it acts by reactions F_c, T_c on its children at their joint
points P_c.  The reaction of the joint at P on the body, in addition to the loads of the model, is

    F = m a + ṁ v − Σ R + Σ F_c,
    T = İω + I·α + ω × I·ω + (C − P) × (m a + ṁ v) − Σ [T + (Q − P) × R] + Σ [T_c + (P_c − P) × F_c]

(Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section 5.3).  This is true for any choice of speeds, while
generalized forces along absolute angles are no joint torques.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kanecore.derive.constraint_rows import Row
from kanecore.derive.forces.generalized_forces import Wrenches, generalized_forces, inertia_torque, momentum_rate
from kanecore.derive.kinematics import Accelerations, Kinematics
from kanecore.describe.description import Attachment, Joint, Load
from kanecore.describe.joints import GROUND, Attachments
from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import Graph
from kanecore.graph.random_samples import samples
from kanecore.graph.vectors import ZERO, Components, add, cross, neg, scale
from kanecore.graph.zero_tests import equal, span
from kanecore.tolerances import EQUAL

__all__ = ["attached_loads", "is_free", "misattached", "numbered", "reactions", "unknown_rows"]


def attached_loads(g: Graph, acting: Iterable[Attachment], multiplier: int, number: int) -> list[Load]:
    """Loads of a row at its attachments, with the same number in the user's list."""
    loads = []
    for a in acting:
        vector = tuple((f, scale(g, multiplier, v)) for f, v in a.vector)
        opposite = tuple((f, neg(g, v)) for f, v in vector)
        loads.append(Load(a.kind, a.child_at, vector, number, a.child))
        loads.append(Load(a.kind, a.parent_at, opposite, number, a.parent))
    return loads


def numbered(attachments: Iterable[Attachment], rows: Sequence[Row]) -> tuple[Attachment, ...]:
    """Attachments with numbers of rows of G in place of names; constraints without a row are left out."""
    numbers = {row.name: i for i, row in enumerate(rows)}
    known = (a for a in attachments if not isinstance(a.row, str) or a.row in numbers)
    return tuple(replace(a, row=numbers[a.row]) if isinstance(a.row, str) else a for a in known)


def unknown_rows(attachments: Iterable[Attachment], rows: Sequence[Row]) -> str:
    """Error message for an attachment to a row that G does not have; empty if there is none."""
    for a in attachments:
        if isinstance(a.row, int) and a.row >= len(rows):
            names = ", ".join(row.name for row in rows)
            return f"attach={{{a.row}: ...}} names no row of G, which has {len(rows)}: {names}"
    return ""


def misattached(k: Kinematics, number: int, row: Row, acting: Iterable[Attachment]) -> str:
    """Error message for attachments with another generalized force than their row; empty if all agree."""
    g = k.graph
    given = generalized_forces(Wrenches(k, attached_loads(g, acting, g.one, -1)))
    if equal(g, zip(given, row.jacobian, strict=True), (*given, *row.jacobian), otherwise=True):
        return ""
    return (
        f"attach={{{number}: ...}} does not act as {row.name}: the generalized force of its vector is not the row of "
        "G; check sign and length of the vector, and the points: a contact point needs the velocity of the body's "
        "touching point, by set_vel"
    )


def reactions(
    k: Kinematics, udot: Sequence[int], multipliers: Sequence[int] = (), attachments: Sequence[Attachment] = ()
) -> list[int]:
    """Force and torque on the child of each joint, in inertial axes: 6 nodes a joint.

    Constraints act at their ``attachments``, which have numbers of rows, by their multipliers.
    """
    balance = _Balance(k, Accelerations(k, udot))
    balance.add_loads()
    balance.add_constraints(multipliers, attachments)
    balance.carry_to_ground()
    for i, joint in enumerate(k.description.joints):
        if is_free(k, joint):
            balance.force[i] = balance.torque[i] = ZERO
    return [x for pair in zip(balance.force, balance.torque, strict=True) for v in pair for x in v]


class _Balance:
    """Force F and torque T of each body at its joint; the sums start from m a + ṁ v and İω + I·α + ω × I·ω."""

    def __init__(self, k: Kinematics, accelerations: Accelerations) -> None:
        d = k.description
        self.kinematics, self.graph, self.description = k, k.graph, d
        self._owner = Attachments(k.graph, d.frames, d.points, d.bodies, d.joints)
        self.force, self.torque = [ZERO] * len(d.bodies), [ZERO] * len(d.bodies)
        for i, body in enumerate(d.bodies):
            self._add_force(i, body.point, k.resolve(momentum_rate(k, accelerations, i), k.home[body.point], 0))
            if body.frame >= 0:
                self._add_torque(i, k.resolve(inertia_torque(k, accelerations, i), body.frame, 0))

    def _add_force(self, body: int, point: int, force: Components) -> None:
        """A force on a body at a point, moved to its joint."""
        g, joint = self.graph, self.description.joints[body].point
        self.force[body] = add(g, self.force[body], force)
        self._add_torque(body, cross(g, self.kinematics.between(joint, point), force))

    def _add_torque(self, body: int, torque: Components) -> None:
        self.torque[body] = add(self.graph, self.torque[body], torque)

    def add_loads(self) -> None:
        g, k, owner = self.graph, self.kinematics, self._owner
        for load in self.description.loads:
            body = owner.acted_on(load)
            if body == GROUND:
                continue
            vector = neg(g, k.resolve_all(load.vector, 0))
            if load.kind == "force":
                self._add_force(body, load.at, vector)
            else:
                self._add_torque(body, vector)

    def add_constraints(self, multipliers: Sequence[int], attachments: Sequence[Attachment]) -> None:
        g, k = self.graph, self.kinematics
        for a in attachments:
            vector = scale(g, multipliers[int(a.row)], k.resolve_all(a.vector, 0))
            for body, place, v in ((a.child, a.child_at, neg(g, vector)), (a.parent, a.parent_at, vector)):
                if body != GROUND and a.kind == "force":
                    self._add_force(body, place, v)
                elif body != GROUND:
                    self._add_torque(body, v)

    def carry_to_ground(self) -> None:
        """Add the reactions of children to their parents, starting with the bodies farthest from the ground."""
        joints = self.description.joints
        for i in _children_first([joint.parent for joint in joints]):
            parent = joints[i].parent
            if parent != GROUND:
                self._add_force(parent, joints[i].point, self.force[i])
                self._add_torque(parent, self.torque[i])


def is_free(k: Kinematics, joint: Joint) -> bool:
    """Test whether a joint constrains nothing, so that its body moves freely.

    A body moves freely if its position is free in space.  It also counts as free if its position is free in a plane,
    and it turns about two axes or more, as a wheel on the ground, or no load of the model acts out of the plane.  A
    trolley on rails and a puck on a table do not move freely.
    """
    if not joint.free:
        return False
    d = k.description
    body = d.bodies[joint.child]
    places, n = _span(k, k.inertial_velocity(body.point))
    if n != 2:
        return n > 2
    turns = _span(k, k.inertial_omega(body.frame))[1] if body.frame >= 0 else 0
    if turns >= 2:
        return True
    loads = [(load.kind, k.resolve_all(load.vector, 0)) for load in d.loads]
    for s in samples(k.graph, [x for _, v in loads for x in v], 2):
        for kind, vector in loads:
            v = np.array(s.values(vector))
            outside = abs(places[2] @ v) if kind == "force" else np.max(np.abs(places[:2] @ v))
            if outside > EQUAL * np.max(np.abs(v)):
                return False
    return True


def _span(k: Kinematics, velocity: Components) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], int]:
    """Three axes as rows, and n: the first n axes span the partial derivatives of a velocity by the speeds."""
    g = k.graph
    tangents = [Tangent(g, {u: g.one}).of for u in k.description.speeds]
    partials = [[of(x) for x in velocity] for of in tangents]
    states = samples(g, [x for v in partials for x in v], 1)
    if not states:
        return np.eye(3), 3
    return span(np.transpose([states[0].values(v) for v in partials]))


def _children_first(parents: Sequence[int]) -> list[int]:
    """Numbers of the joints, the farthest from the ground first."""
    depth: dict[int, int] = {GROUND: 0}
    for i in range(len(parents)):
        above = []
        while i not in depth:
            above.append(i)
            i = parents[i]
        for n, k in enumerate(reversed(above), depth[i] + 1):
            depth[k] = n
    return sorted(range(len(parents)), key=depth.__getitem__, reverse=True)
