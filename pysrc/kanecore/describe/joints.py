# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and joints: the tree of bodies that reactions and recursions need, found from the user's points.

A point belongs to a body if its position from the mass centre is a constant vector of the body's frame.  On the path of
points from a body's mass centre to the origin, the first that belongs to another body, or to the inertial frame, is
the joint point, and its owner is the parent.  Massless frames and points in between are part of the joint; what acts on
them acts on the child.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, Graph, Op
from kanecore.graph.random_samples import samples
from kanecore.graph.vectors import Matrix, Vector
from kanecore.graph.zero_tests import span, vanish
from kanecore.tolerances import EQUAL

from .description import Body, Frame, Joint, Load, Point
from .frame_paths import Ancestry, components

__all__ = ["GROUND", "Attachments"]

GROUND = -1  # the inertial frame, as a parent
NOWHERE = -2  # the piece of a particle, which has no axes

Place = dict[int, list[Counter[int]]]  # in the axes of each piece three components, as how often each summand is in it
BITS = 64  # of the fingerprint of a position


class Attachments:
    """Owners of the points and frames of a model, and the joints that follow.

    Frames that are fixed in each other are one piece, and the piece is known by its first frame.

    Parameters
    ----------
    joints : sequence of Joint
        Joints that the user gave; the others follow from the points.
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
        self._axes: list[Matrix] = []  # of each frame, in the axes of its piece
        self._find_pieces()
        self._location = Ancestry([point.parent for point in points])
        self._number_downwards()
        self._find_positions()
        self._given = {joint.child: joint for joint in joints}
        self._taken = {joint.name for joint in joints}
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
                    tuple(g.sum(g.mul(row[k], frame.rotation[k][column]) for k in range(3)) for column in range(3))
                    for row in above
                )
                self._piece.append(self._piece[parent])
                self._axes.append(tuple(rows))  # type: ignore[arg-type]
            else:
                self._piece.append(i)
                self._axes.append(((1, 0, 0), (0, 1, 0), (0, 0, 1)))

    def _place(self, vector: Vector) -> Place:
        """Vector as summands, which may cancel: (q + l) − q is l, which the graph does not simplify."""
        g, result = self.graph, Place()
        for f, v in vector:
            components = result.setdefault(self._piece[f], [Counter(), Counter(), Counter()])
            for total, row in zip(components, self._axes[f], strict=True):
                for factor, node in zip(row, v, strict=True):
                    for summand, times in self._summands(node):
                        total[g.mul(factor, summand)] += times
        return result

    def _summands(self, node: int) -> Iterator[tuple[int, int]]:
        """Summands of a node, each with its sign."""
        stack = [(node, 1)]
        while stack:
            node, sign = stack.pop()
            op, *args = self.graph.nodes[node]
            if op is Op.NEG:
                stack.append((args[0], -sign))
            elif op is Op.ADD or op is Op.SUB:
                stack += [(args[1], -sign if op is Op.SUB else sign), (args[0], sign)]
            elif node:
                yield node, sign

    def _fingerprints(self, place: Place) -> tuple[int, dict[int, int]]:
        """Sums of random numbers, one for each summand and axis, which are equal for equal vectors.

        Returned are those of the whole vector, and of its constant part in each piece.
        """
        total, constant = 0, {}
        for piece, axes in place.items():
            steady = 0
            for axis, summands in enumerate(axes):
                for node, times in summands.items():
                    number = times * Random(f"{piece} {axis} {node}").getrandbits(BITS)
                    total += number
                    steady += number if self._constant([node]) else 0
            constant[piece] = steady % 2**BITS
        return total % 2**BITS, constant

    def _find_positions(self) -> None:
        """Find the frames in which each point is fixed, by fingerprints of positions, which also tell trees apart.

        The vector between two points is constant in a piece if their positions, less the parts constant in it, are
        equal.  Bodies of one piece that are fixed in each other are one group.
        """
        position: list[int] = []
        self._steady: dict[int, list[tuple[int, int]]] = {}  # of each piece: points, constant part of their vectors
        for i, point in enumerate(self.points):
            before = position[point.parent] if point.parent >= 0 else Random(f"root {i}").getrandbits(BITS)
            moved, steady = self._fingerprints(self._place(point.position))
            position.append((before + moved) % 2**BITS)
            for piece, value in steady.items():
                self._steady.setdefault(piece, []).append((i, value))
        self._position = np.array(position, np.uint64)[np.argsort(self._order)]  # those below a point follow it
        still = self._without_constant(0)
        roots = {still[i] for i, point in enumerate(self.points) if point.parent < 0 and point.velocity == ()}
        self._rests = [value in roots for value in still]
        self._groups: list[list[int]] = []
        self._group = [0] * len(self.bodies)
        self._fixed_in: list[list[int]] = [[] for _ in self.points]  # groups
        pieces: dict[int, list[int]] = {}
        for i in range(len(self.bodies)):
            pieces.setdefault(self._body_piece(i), []).append(i)
        for piece, bodies in pieces.items():
            rest, group_at = self._without_constant(piece), {}
            for i in bodies:
                value = rest[self.bodies[i].point]
                if value not in group_at:
                    group_at[value] = len(self._groups)
                    self._groups.append([])
                    for place in np.flatnonzero(rest == value).tolist():
                        self._fixed_in[place].append(group_at[value])
                self._group[i] = group_at[value]
                self._groups[group_at[value]].append(i)

    def _without_constant(self, piece: int) -> Any:
        """Fingerprints of the positions of all points, without the part that is constant in a piece."""
        rest = self._position.copy()
        for i, value in self._steady.get(piece, ()):
            rest[self._order[i] : self._end[i]] -= np.uint64(value)
        return rest[self._order]

    def _number_downwards(self) -> None:
        """Number the points so that all that hang on a point follow it, and note where they end."""
        size = [1] * len(self.points)
        for i in range(len(self.points) - 1, -1, -1):
            if self.points[i].parent >= 0:
                size[self.points[i].parent] += size[i]
        self._order: list[int] = []
        free: list[int] = []
        end = 0
        for i, point in enumerate(self.points):
            if point.parent < 0:
                start, end = end, end + size[i]
            else:
                start = free[point.parent]
                free[point.parent] += size[i]
            self._order.append(start)
            free.append(start + 1)
        self._end = [a + n for a, n in zip(self._order, size, strict=True)]

    def _is_on(self, point: int, path_of: int) -> bool:
        """Test whether a point is on the path of another to its origin."""
        return self._order[point] <= self._order[path_of] < self._end[point]

    def path(self, point: int) -> Iterator[int]:
        """Points from one to the origin of its tree."""
        return self._location.chain(point)

    def _moves_with(self, point: int) -> int:
        """The frame of the last displacement on the way to a point."""
        return next((self.points[i].position[-1][0] for i in self.path(point) if self.points[i].position), 0)

    def _body_piece(self, body: int) -> int:
        frame = self.bodies[body].frame
        return NOWHERE if frame < 0 else self._piece[frame]

    def _owners(self, point: int) -> list[int]:
        """Bodies to which a point belongs; within one piece the one with which it moves, or is located from."""
        result: dict[int, int] = {}
        for i in self._belongs(point):
            piece = self._body_piece(i)
            key = -3 - i if piece == NOWHERE else piece  # a particle is no piece with others
            if key not in result or self._closer(point, i, result[key]):
                result[key] = i
        return list(result.values())

    def _closer(self, point: int, i: int, other: int) -> bool:
        """Test whether frames show that a point is of body i, not of another in one piece with it."""
        a, b = self.bodies[i], self.bodies[other]
        for frame in self._chain(self._moves_with(point)):
            if (a.frame == frame) != (b.frame == frame):
                return a.frame == frame
        return False

    def _owner(self, point: int, owners: Sequence[int]) -> int | None:
        """The owner of a point among several: the body whose mass centre it is, or with which it was made to move."""
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
        return GROUND if self._rests[point] else next(iter(owners), None)

    def _leads(self, path: Sequence[int]) -> int:
        """The frame of the first displacement on the way down a path."""
        return next((self.points[i].position[0][0] for i in reversed(path) if self.points[i].position), NOWHERE)

    # ------------------------------------------------------------------- joints
    def _joint(self, body: int) -> Joint:
        if body in self._given:
            return self._given[body]
        parent, point = self._parent(body)
        return Joint(self._name(body), parent, body, point, parent == GROUND and self._moves_freely(body, point))

    def _moves_freely(self, body: int, point: int) -> bool:
        """Test whether a body is placed by two coordinates or more: it floats, or stands anywhere on the ground.

        These stand in the components of its position in one set of axes.  A body that slides has one there; a body that
        turns about the point has none, or a constant distance from it.  A point without a position may have such a
        velocity.
        """
        g = self.graph
        up, down = self._location.path(self.bodies[body].point, point)
        vectors = [self.points[i].position for i in (*up, *down)]
        components: dict[int, list[int]] = {}
        for vector, sign in zip(vectors, [1] * len(up) + [-1] * len(down), strict=True):
            for piece, summands in self._place(vector).items():
                total = components.setdefault(piece, [0, 0, 0])
                for axis, terms in enumerate(summands):
                    for node, times in terms.items():
                        total[axis] = g.add(total[axis], g.mul(g.constant(sign * times), node))
        if any(self._spans_a_plane(v, COORDINATE) for v in components.values()):
            return True
        return any(self._spans_a_plane(v, SPEED) for _, v in self.points[point].velocity or ())

    def _spans_a_plane(self, components: Sequence[int], level: int) -> bool:
        """Test whether components depend on two symbols of a level or more, independently, not as a turning rod."""
        g = self.graph
        symbols = [i for i in g.below(components) if g.nodes[i][0] is Op.SYM and g.depends[i] & level]
        if len(symbols) < 2:
            return False
        length = g.sum(g.square(x) for x in components)
        rows = [accumulate(g, [(x, g.one)], symbols) for x in (*components, length)]
        states = samples(g, [x for row in rows for x in row], 1)
        if not states:
            return False
        *slopes, stretching = np.array([states[0].values(row) for row in rows])
        size = np.max(np.abs(slopes), axis=0)  # of each symbol: they need not have one unit
        if np.all(np.abs(stretching) <= EQUAL * size * max(map(abs, states[0].values(components)))):
            return False  # a rod that turns
        return span(slopes)[1] > 1

    def _without_rings(self) -> Iterator[Joint]:
        """Joints, with every ring of joints opened at its first joint from the ground."""
        grounded: set[int] = {GROUND}
        for joint in self._joints:
            above, passed = joint.parent, set()
            while above not in grounded and above != joint.child and above not in passed:
                passed.add(above)
                above = self._joints[above].parent
            if above in grounded:
                grounded |= passed
            if above == joint.child and joint.child < min(passed, default=joint.child + 1):
                *_, origin = self.path(self.bodies[joint.child].point)
                yield Joint(
                    joint.name,
                    GROUND,
                    joint.child,
                    origin,
                    joint.child not in self._given and self._moves_freely(joint.child, origin),
                )
            else:
                yield joint

    def _name(self, body: int) -> str:
        """Child's name, with a number if another joint has it as well."""
        name, number = self.bodies[body].name, 2
        while name in self._taken:
            name, number = f"{self.bodies[body].name}_{number}", number + 1
        self._taken.add(name)
        return name

    def _parent(self, body: int) -> tuple[int, int]:
        frame, point = self.bodies[body].frame, GROUND
        chain = self._chain(frame)
        for point in self.path(self.bodies[body].point):
            owner = self._carrier(point, chain, body)
            if owner is not None:
                return owner, point
            chain = itertools.chain((f for f, _ in reversed(self.points[point].position)), self._chain(frame))
        return GROUND, point

    def _chain(self, frame: int) -> Iterator[int]:
        """A frame and those from which it is oriented, or in which it turns if it is not oriented."""
        while frame >= 0:
            yield frame
            f = self.frames[frame]
            frame = f.parent if f.oriented else f.angular_parent

    def _carrier(self, point: int, chain: Iterable[int], child: int) -> int | None:
        """Choose the owner of a point that carries a body.

        The carrier is the owner whose frame comes first on the way to the child; else the owner whose mass centre the
        point is; else the owner that the point was made to move with; else a particle there; else the ground.
        """
        at_rest, apart = self._rests[point], self.bodies[child].point != point
        owners = [i for i in self._belongs(point) if i != child]
        for frame in chain if owners else ():
            for i in self._in_frame(owners, frame):
                if self._may_carry(i, child):
                    return i
            if frame == 0 and at_rest:
                return GROUND
        owners = [i for i in self._owners(point) if self._may_carry(i, child)]
        centres = [i for i in owners if apart and self.bodies[i].point == point]
        particles = [i for i in owners if apart and self.bodies[i].frame < 0]
        carriers = [*centres, *self._in_frame(owners, self._moves_with(point)), *particles]
        return carriers[0] if carriers else GROUND if at_rest else None

    def _belongs(self, point: int) -> list[int]:
        """Bodies in which a point is fixed, the nearest first; bodies at rest only if it is located from them."""
        fixed: list[int] = []
        for group in self._fixed_in[point]:
            bodies = self._groups[group]
            if self._body_piece(bodies[0]) == 0 and self._rests[self.bodies[bodies[0]].point]:
                bodies = [i for i in bodies if self._is_on(self.bodies[i].point, point)]
            fixed += bodies
        if len(fixed) < 2:
            return fixed
        places = {place: n for n, place in enumerate(self.path(point))}
        return sorted(fixed, key=lambda i: (places.get(self.bodies[i].point, len(places)), i))

    def _in_frame(self, bodies: Sequence[int], frame: int) -> list[int]:
        """Bodies to which a frame belongs, then those in one piece with it."""
        same = [i for i in bodies if self.bodies[i].frame == frame]
        return same + [i for i in bodies if i not in same and self._body_piece(i) == self._piece[frame]]

    def _may_carry(self, body: int, child: int) -> bool:
        """Test whether a body may carry another: not itself; in one piece the one that locates it, else the first."""
        if body == child or not self._one_piece(body, child):
            return body != child
        a, b = self.bodies[body].point, self.bodies[child].point
        if a == b or not (self._is_on(a, b) or self._is_on(b, a)):
            return body < child
        return self._is_on(a, b)

    def _one_piece(self, a: int, b: int) -> bool:
        """Test whether two bodies are fixed in each other; a particle has no axes to be fixed in."""
        if self._body_piece(a) == NOWHERE:
            a, b = b, a
        if self._body_piece(b) not in (NOWHERE, self._body_piece(a)):
            return False
        return self._group[a] in self._fixed_in[self.bodies[b].point]

    # -------------------------------------------------------------------- loads
    def acted_on(self, load: Load) -> int:
        """The body that a load acts on, GROUND where it acts on none."""
        if load.body is not None:
            return load.body
        return self.body_at(load.at) if load.kind == "force" else self.body_of(load.at)

    def body_at(self, point: int) -> int:
        """The body that a force at a point acts on, or GROUND."""
        owner = self._owner(point, self._owners(point))
        if owner is not None:
            return owner
        moves_with = self._moves_with(point)
        owned = {0, *map(self._body_piece, range(len(self.bodies)))}
        if self._piece[moves_with] in owned and self._stands(point):  # in another one it would be part of a joint
            return GROUND
        rest = self._without_constant(self._piece[moves_with])
        for i, body in enumerate(self.bodies):  # a massless part of a joint: the child's
            for other in self.path(body.point):
                if other == self.joints[i].point:
                    break
                if other == point or rest[other] == rest[point]:
                    return i
        return self.body_of(moves_with)

    def _stands(self, point: int) -> bool:
        """Test whether a point has a constant position in inertial axes, though frames lead to it that turn.

        So has a point of the ground that is located from one on the axis about which a body turns.
        """
        g, path = self.graph, list(self.path(point))
        if self.points[path[-1]].velocity != ():
            return False
        way = tuple(part for i in path for part in self.points[i].position)
        if any(not self.frames[f].oriented and self._piece[f] for axes, _ in way for f in self._chain(axes)):
            return False
        position = components(g, self.frames, way, 0)
        moving = [i for i in g.below(position) if g.nodes[i][0] is Op.SYM and not self._constant([i])]
        return vanish(g, [slope for x in position for slope in accumulate(g, [(x, g.one)], moving)])

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
