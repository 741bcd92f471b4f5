# SPDX-License-Identifier: BSD-3-Clause
"""Which body hangs on which, and where: the joints of the bodies as the points and frames tell them.

A point belongs to a body if its position from the mass centre is a constant vector of the body's frame.  On the path of
points from a body's mass centre to the origin, the first that belongs to another body, or to the inertial frame, is
the joint point, and its owner is the parent.  Massless frames and points in between are part of the joint; what acts on
them acts on the child.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kanecore.graph.scalars import PARAMETER, Graph, Op

from .description import Body, Frame, Joint, Matrix, Point, Vector

__all__ = ["GROUND", "Attachments"]

GROUND = -1  # the inertial frame, as a parent
NOWHERE = -2

Place = dict[int, Any]  # a position: in the axes of each piece three components, as counters of summands


class Attachments:
    """Who owns each point and frame of a model, and the joints that follow.

    Frames that are fixed in each other are one piece, known by the first of them.

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
        self._piece: list[int] = []
        self._axes: list[Matrix] = []  # of each frame, in those of its piece
        self._find_pieces()
        self._root: list[int] = []
        self._place: list[Place] = []  # from the root
        self._find_places()
        self._given = {joint.child: joint for joint in joints}
        self._joints: list[Joint] = []
        for i in range(len(bodies)):
            self._joints.append(self._joint(i))
        self.joints = tuple(self._without_rings())

    # ------------------------------------------------------------------ places
    def _constant(self, nodes: Sequence[int]) -> bool:
        return not any(self.graph.depends[i] & ~PARAMETER for i in nodes)

    def _find_pieces(self) -> None:
        g = self.graph
        for i, frame in enumerate(self.frames):
            parent, entries = frame.parent, [x for row in frame.rotation for x in row]
            fixed = i and not frame.angular_velocity and self._constant(entries)
            if fixed and self._piece[parent] == self._piece[frame.angular_parent]:
                above = self._axes[parent]
                rows = (
                    tuple(g.sum(g.mul(r[k], frame.rotation[k][c]) for k in range(3)) for c in range(3)) for r in above
                )
                self._piece.append(self._piece[parent])
                self._axes.append(tuple(rows))  # type: ignore[arg-type]
            else:
                self._piece.append(i)
                self._axes.append(((1, 0, 0), (0, 1, 0), (0, 0, 1)))

    def _find_places(self) -> None:
        for i, point in enumerate(self.points):
            above = point.parent
            self._root.append(self._root[above] if above >= 0 else i)
            self._place.append(self._moved(self._place[above] if above >= 0 else {}, point.position))

    def _moved(self, place: Place, vector: Vector) -> Place:
        g, result = self.graph, dict(place)
        for f, v in vector:
            piece, rows = self._piece[f], self._axes[f]
            components = [Counter(c) for c in result.pop(piece, ((), (), ()))]
            for total, row in zip(components, rows, strict=True):
                for factor, node in zip(row, v, strict=True):
                    for summand, times in self._summands(node):
                        total[g.mul(factor, summand)] += times
            if any(n for c in components for n in c.values()):
                result[piece] = tuple(components)
        return result

    def _summands(self, node: int) -> Iterator[tuple[int, int]]:
        """What a node is the sum of, each with its sign: (q + l) − q is l, which the graph does not see."""
        op, *args = self.graph.nodes[node]
        if op is Op.NEG:
            yield from ((i, -n) for i, n in self._summands(args[0]))
        elif op is Op.ADD or op is Op.SUB:
            yield from self._summands(args[0])
            yield from ((i, -n if op is Op.SUB else n) for i, n in self._summands(args[1]))
        elif node:
            yield node, 1

    def _fixed(self, a: int, b: int, piece: int) -> bool:
        """Whether the vector between two points is constant in a piece (NOWHERE: zero)."""
        p, q, none = self._place[a], self._place[b], ((), (), ())
        if self._root[a] != self._root[b]:
            return False
        for k in p.keys() | q.keys():
            if k != piece and p.get(k) == q.get(k):
                continue
            for x, y in zip(p.get(k, none), q.get(k, none), strict=True):
                difference = Counter(x)
                difference.subtract(y)
                left = [node for node, n in difference.items() if n]
                if left and (k != piece or not self._constant(left)):
                    return False
        return True

    def path(self, point: int) -> Iterator[int]:
        """Points from one to the origin of its tree."""
        while point >= 0:
            yield point
            point = self.points[point].parent

    def _at_rest(self, point: int) -> bool:
        root = self._root[point]
        return self.points[root].velocity == () and self._fixed(root, point, 0)

    def _moves_with(self, point: int) -> int:
        """The frame of the last displacement on the way to a point."""
        return next((self.points[i].position[-1][0] for i in self.path(point) if self.points[i].position), 0)

    def _body_piece(self, body: int) -> int:
        frame = self.bodies[body].frame
        return NOWHERE if frame < 0 else self._piece[frame]

    def _owners(self, point: int) -> list[int]:
        """Bodies that a point belongs to, of those in one piece the one that it is located from."""
        path = list(self.path(point))
        result: dict[int, int] = {}
        for i in self._belongs(point):
            piece = self._body_piece(i)
            key = -3 - i if piece == NOWHERE else piece  # a particle is no piece with others
            if key not in result or self._closer(i, result[key], path):
                result[key] = i
        return list(result.values())

    def _closer(self, i: int, other: int, path: Sequence[int]) -> bool:
        """Whether a point with this path is of body i, not another of its piece: by frames, next by points."""
        a, b = self.bodies[i], self.bodies[other]
        for frame in self._chain(self._moves_with(path[0])):
            if (a.frame == frame) != (b.frame == frame):
                return a.frame == frame
        places = [path.index(body.point) if body.point in path else len(path) for body in (a, b)]
        return places[0] < places[1]

    def _owner(self, point: int, owners: Sequence[int]) -> int | None:
        """Of several owners of a point the one whose mass centre it is, or with which it was made to move."""
        for i in owners:
            if self.bodies[i].point == point:
                return i
        if not self.points[point].position:  # put where another point is: it is of the body that is located from it
            for i in owners:
                path = list(self.path(self.bodies[i].point))
                if point in path and self._leads(path[: path.index(point)]) in (self.bodies[i].frame, NOWHERE):
                    return i
        for i in self._in_frame(owners, self._moves_with(point)):
            return i
        return GROUND if self._at_rest(point) else next(iter(owners), None)

    def _leads(self, path: Sequence[int]) -> int:
        """The frame of the first displacement on the way down a path."""
        return next((self.points[i].position[0][0] for i in reversed(path) if self.points[i].position), NOWHERE)

    # ------------------------------------------------------------------- joints
    def _joint(self, body: int) -> Joint:
        if body in self._given:
            return self._given[body]
        parent, point = self._parent(body)
        return Joint(self._name(body), parent, body, point)

    def _without_rings(self) -> Iterator[Joint]:
        """The joints, of those that lead back to themselves the first from the ground."""
        for joint in self._joints:
            above, known = joint.parent, set()
            while above not in (GROUND, joint.child) and above not in known:
                known.add(above)
                above = self._joints[above].parent
            if above == joint.child and joint.child < min(known, default=joint.child + 1):
                *_, origin = self.path(self.bodies[joint.child].point)
                yield Joint(joint.name, GROUND, joint.child, origin)
            else:
                yield joint

    def _name(self, body: int) -> str:
        """The child's name, with a number where it is another's as well."""
        taken = {j.name for j in (*self._given.values(), *self._joints)}
        name, number = self.bodies[body].name, 2
        while name in taken:
            name, number = f"{self.bodies[body].name}_{number}", number + 1
        return name

    def _parent(self, body: int) -> tuple[int, int]:
        frame, point = self.bodies[body].frame, GROUND
        chain = list(self._chain(frame))
        for point in self.path(self.bodies[body].point):
            owner = self._carrier(point, chain, body)
            if owner is not None:
                return owner, point
            chain = [f for f, _ in reversed(self.points[point].position)] + list(self._chain(frame))
        return GROUND, point

    def _chain(self, frame: int) -> Iterator[int]:
        """A frame and those that it is oriented from, or turns in where it is not oriented."""
        while frame >= 0:
            yield frame
            f = self.frames[frame]
            frame = f.parent if f.oriented else f.angular_parent

    def _carrier(self, point: int, chain: Sequence[int], child: int) -> int | None:
        """Which owner of a point carries a body.

        The one whose frame comes first among those that lead to the child; else whose mass centre it is; else the one
        that the point was made to move with; else a particle there; else the ground.
        """
        at_rest, apart = self._at_rest(point), self.bodies[child].point != point
        owners = [i for i in self._belongs(point) if self._may_carry(i, child)]
        for frame in chain:
            for i in self._in_frame(owners, frame):
                return i
            if frame == 0 and at_rest:
                return GROUND
        owners = [i for i in self._owners(point) if self._may_carry(i, child)]
        centres = [i for i in owners if apart and self.bodies[i].point == point]
        particles = [i for i in owners if apart and self.bodies[i].frame < 0]
        found = [*centres, *self._in_frame(owners, self._moves_with(point)), *particles]
        return found[0] if found else GROUND if at_rest else None

    def _belongs(self, point: int) -> list[int]:
        """Bodies that a point is fixed in; those at rest only where it is located from them."""
        path = list(self.path(point))
        return [
            i
            for i, b in enumerate(self.bodies)
            if self._fixed(b.point, point, self._body_piece(i))
            and (b.point in path or self._body_piece(i) != 0 or not self._at_rest(b.point))
        ]

    def _in_frame(self, bodies: Sequence[int], frame: int) -> list[int]:
        """Those bodies whose frame it is, then those in one piece with it."""
        same = [i for i in bodies if self.bodies[i].frame == frame]
        return same + [i for i in bodies if i not in same and self._body_piece(i) == self._piece[frame]]

    def _may_carry(self, body: int, child: int) -> bool:
        """No body carries itself; in one piece the one that the other is located from carries it, else the first."""
        if body == child or not self._one_piece(body, child):
            return body != child
        a, b = self.bodies[body].point, self.bodies[child].point
        if a == b or not (a in self.path(b) or b in self.path(a)):
            return body < child
        return a in self.path(b)

    def _one_piece(self, a: int, b: int) -> bool:
        pieces = {self._body_piece(a), self._body_piece(b)} - {NOWHERE}
        piece = pieces.pop() if pieces else NOWHERE
        return not pieces and self._fixed(self.bodies[a].point, self.bodies[b].point, piece)

    # -------------------------------------------------------------------- loads
    def body_at(self, point: int) -> int:
        """The body that a force at a point acts on, or GROUND."""
        owner = self._owner(point, self._owners(point))
        if owner is not None:
            return owner
        for i, body in enumerate(self.bodies):  # a massless part of a joint: the child's
            for other in self.path(body.point):
                if other == self.joints[i].point:
                    break
                if other == point or self._fixed(other, point, self._piece[self._moves_with(point)]):
                    return i
        return self.body_of(self._moves_with(point))

    def body_of(self, frame: int) -> int:
        """The body that a torque on a frame acts on, or GROUND."""
        for pieces in (False, True):
            for i, body in enumerate(self.bodies):
                if body.frame == frame or (pieces and body.frame > 0 and self._piece[body.frame] == self._piece[frame]):
                    return i
        if self._piece[frame] == 0:
            return GROUND
        owned = {self._body_piece(i) for i in range(len(self.bodies))}
        for i, body in enumerate(self.bodies):  # a massless frame of a joint: the child's
            f = self.frames[body.frame].parent if body.frame > 0 else -1
            while f > 0 and self._piece[f] not in owned:
                if self._piece[f] == self._piece[frame]:
                    return i
                f = self.frames[f].parent
        return self.body_of(self.frames[frame].parent)
