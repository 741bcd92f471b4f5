# SPDX-License-Identifier: BSD-3-Clause
"""Which body hangs on which, and where: the joints of the bodies as the points and frames tell them.

A point belongs to a body if its place in it is constant: the positions between it and the mass centre are constant
vectors of the body's frame.  On the path of points from a body's mass centre to the origin, the first point that
belongs to another body, or to the inertial frame, is the joint point, and its owner is the parent.  Massless frames
and points in between are part of the joint; what acts on them acts on the child.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.scalars import PARAMETER, Graph

from .description import Body, Frame, Joint, Point

__all__ = ["GROUND", "Attachments"]

GROUND = -1  # the inertial frame, as a parent
ANYWHERE = -2  # the frame of a displacement of length zero
MOVING = -3  # ... of one that is constant in no frame


class Attachments:
    """Who owns each point and frame of a model, and the joints that follow.

    Parameters
    ----------
    joints : sequence of Joint
        Those the user gave; the others follow from the points.
    """

    def __init__(
        self,
        graph: Graph,
        frames: Sequence[Frame],
        points: Sequence[Point],
        bodies: Sequence[Body],
        joints: Sequence[Joint] = (),
    ) -> None:
        self.graph, self.frames, self.points, self.bodies = graph, frames, points, bodies
        self._rigid = self._rigid_frames()
        self._edge = [self._edge_frame(p) for p in points]
        self._ground = self._ground_points()
        self._owned = [self._body_points(i) for i in range(len(bodies))]
        self._given = {joint.child: joint for joint in joints}
        self._found: dict[int, Joint | None] = {}  # None while it is looked for
        self.joints = tuple(self._joint(i) for i in range(len(bodies)))

    # ---------------------------------------------------------------- geometry
    def _constant(self, nodes: Sequence[int]) -> bool:
        return not any(self.graph.depends[i] & ~PARAMETER for i in nodes)

    def _rigid_frames(self) -> list[int]:
        """For each frame the first that it is fixed in."""
        result = [0]
        for i, frame in enumerate(self.frames[1:], 1):
            fixed = (
                not frame.angular_velocity
                and self._constant([x for row in frame.rotation for x in row])
                and result[frame.parent] == result[frame.angular_parent]
            )
            result.append(result[frame.parent] if fixed else i)
        return result

    def _edge_frame(self, point: Point) -> int:
        """The frame in which the position of a point from its parent is constant."""
        if not all(self._constant(v) for _, v in point.position):
            return MOVING
        frames = {self._rigid[f] for f, _ in point.position}
        return MOVING if len(frames) > 1 else next(iter(frames), ANYWHERE)

    def path(self, point: int) -> list[int]:
        """Points from one to the origin of its tree."""
        result = []
        while point >= 0:
            result.append(point)
            point = self.points[point].parent
        return result

    def _ground_points(self) -> set[int]:
        """Points at rest."""
        found: set[int] = set()
        for i, point in enumerate(self.points):
            if point.parent < 0:
                at_rest = point.velocity == ()
            else:
                at_rest = point.parent in found and self._edge[i] in (0, ANYWHERE)
            if at_rest:
                found.add(i)
        return found

    def _body_points(self, body: int) -> set[int]:
        """Points that are fixed in a body, in reach of its mass centre along points that are."""
        b = self.bodies[body]
        own = {ANYWHERE} if b.frame < 0 else {ANYWHERE, self._rigid[b.frame]}
        root = b.point
        while self.points[root].parent >= 0 and self._edge[root] in own:
            root = self.points[root].parent
        found = {root}
        for i in range(root + 1, len(self.points)):
            if self.points[i].parent in found and self._edge[i] in own:
                found.add(i)
        return found

    # ------------------------------------------------------------------- joints
    def _joint(self, body: int) -> Joint:
        joint = self._given.get(body) or self._found.get(body)
        if joint is None:
            self._found[body] = None
            parent, point = self._parent(body)
            joint = self._found[body] = Joint(self._name(body), parent, body, point)
        return joint

    def _name(self, body: int) -> str:
        """The child's name, with a number where it is another's as well."""
        taken = {j.name for j in (*self._given.values(), *self._found.values()) if j is not None}
        name, number = self.bodies[body].name, 2
        while name in taken:
            name, number = f"{self.bodies[body].name}_{number}", number + 1
        return name

    def _parent(self, body: int) -> tuple[int, int]:
        path = self.path(self.bodies[body].point)
        for point in path:
            owner = self._nearest(point, [i for i in self._owners(point) if self._may_carry(i, body)])
            if owner is not None:
                return owner, point
        return GROUND, path[-1]

    def _owners(self, point: int) -> list[int]:
        return [i for i, owned in enumerate(self._owned) if point in owned]

    def _may_carry(self, body: int, child: int) -> bool:
        """No body carries itself; of bodies that are one piece the first carries the others."""
        return not (body > child and self._owned[body] == self._owned[child]) and not self._hangs_on(body, child)

    def _hangs_on(self, body: int, other: int) -> bool:
        """Whether a body is another, or hangs on it: directly or not, as far as that is known yet."""
        while body != GROUND:
            if body == other or (body in self._found and self._found[body] is None):
                return True
            body = self._joint(body).parent
        return False

    def _nearest(self, point: int, owners: Sequence[int]) -> int | None:
        """Of several owners of a point: whose mass centre it is, or with whose frame it moves; the ground; any."""
        bodies, edge = self.bodies, self._edge[point]
        for i in owners:
            if bodies[i].point == point:
                return i
        for i in owners:
            if bodies[i].frame >= 0 and edge == self._rigid[bodies[i].frame]:
                return i
        if point in self._ground:
            return GROUND
        return owners[0] if owners else None

    # -------------------------------------------------------------------- loads
    def body_at(self, point: int) -> int:
        """The body that a force at a point acts on, or GROUND."""
        owner = self._nearest(point, self._owners(point))
        if owner is not None:
            return owner
        for i, body in enumerate(self.bodies):  # a massless point of a joint: the child's
            path = self.path(body.point)
            if point in path and path.index(point) < path.index(self._end(self.joints[i], path)):
                return i
        above = self.path(point)[1:]
        return self.body_at(above[0]) if above else GROUND

    @staticmethod
    def _end(joint: Joint, path: Sequence[int]) -> int:
        return joint.point if joint.point in path else path[-1]

    def body_of(self, frame: int) -> int:
        """The body that a torque on a frame acts on, or GROUND."""
        rigid = self._rigid[frame]
        if rigid == 0:
            return GROUND
        for i, body in enumerate(self.bodies):
            if body.frame >= 0 and self._rigid[body.frame] == rigid:
                return i
        for i, body in enumerate(self.bodies):  # a massless frame of a joint: the child's
            f = body.frame
            while f > 0:
                f = self.frames[f].angular_parent
                if self._rigid[f] == rigid:
                    return i
                if any(b.frame >= 0 and self._rigid[b.frame] == self._rigid[f] for b in self.bodies):
                    break
        return self.body_of(self.frames[frame].angular_parent)
