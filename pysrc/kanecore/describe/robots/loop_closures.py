# SPDX-License-Identifier: BSD-3-Clause
"""Closed loops of a robot: constraints on coordinates by which points and axes of two links coincide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanecore.describe.joints import GROUND, Attachments
from kanecore.errors import ModelError
from kanecore.graph.vectors import Vector, cross, dot, neg

from .number_nodes import axis_components, number, triple
from .placed_links import FramePoint, PlacedLinks, refuse_same
from .rigid_poses import Pose, direction
from .robot import CLOSURES, Closure
from .robot_options import three_numbers

__all__ = ["Loops"]

_AXIAL = ("hinge", "slider", "cylinder")
_SAYS = (
    '(link, link, "point"), (link, link, "weld"), (link, link, "hinge", axis), with "slider" or "cylinder" in place of '
    '"hinge", or with a place in the world (link, (x, y, z), "point")'
)


class Loops:
    """Rows of the loops of one robot."""

    def __init__(self, links: PlacedLinks) -> None:
        self._links = links
        self._actions: list[tuple[str, str, int, int, Vector]] = []  # of rows, as Builder.attach takes them
        self._resting = {("force", links.world)}  # points and frames of the ground, also where a body has its joint

    def close_by(self, closure: Closure) -> None:
        """Close a loop by a joint, whose rows begin with its name."""
        links = self._links
        refuse_same(closure.name, [links.known(link) for link, _ in closure.ends])
        ends = [links.end(link, pose, closure.name) for link, pose in closure.ends]
        self._join(ends, closure.name, *CLOSURES[closure.kind])

    def close(self, position: int, loop: Any) -> None:
        """Close a loop of the user's; ``loops`` as in `kanecore.Model.from_urdf`.

        Parameters
        ----------
        position : int
            Its number in the list, which messages name.
        """
        parts = tuple(loop) if isinstance(loop, Sequence) and not isinstance(loop, str) else ()
        kind = parts[2] if len(parts) > 2 and isinstance(parts[2], str) else ""
        if kind not in CLOSURES or len(parts) - 3 not in ((1, 2) if kind in _AXIAL else (0,)):
            raise ModelError(f"loops[{position}] is {loop!r}; it must be {_SAYS}")
        first, second, *_ = parts
        if not isinstance(second, str):
            self._pin(position, parts)
            return
        axes = [three_numbers(axis) for axis in parts[3:]]
        if any(axis is None or not axis.any() for axis in axes):
            raise ModelError(
                f"loops[{position}] is {loop!r}; the axis of a {kind} is three finite numbers, not all zero, in the "
                "axes of each link, or one for each of the two"
            )
        poses = [Pose.about(direction(axis)) for axis in axes if axis is not None] or [Pose.same()]
        self.close_by(Closure(f"{kind} of {first} and {second}", ((first, poses[0]), (second, poses[-1])), kind))

    def _join(self, ends: Sequence[FramePoint], name: str, moved: str, turned: str) -> None:
        """Make two points coincide in directions ``moved`` of the first frame, and rotations about axes vanish.

        A row of points is a component of the second from the first, in the axes of the first; its multiplier is that of
        the force on the second.  A row of rotations is the product of two axes, which are normal to each other; its
        multiplier is that of the torque on the second.
        """
        b, g, (first, second) = self._links.builder, self._links.builder.graph, ends
        for end in ends:
            self._resting |= {("force", end.point), ("torque", end.frame)} if end.rests else set()
        p, q = self._links.position(first.point), self._links.position(second.point)
        between = [g.sub(y, x) for x, y in zip(p, q, strict=True)]
        own = self._links.orientation(first.frame)
        for k, letter in enumerate(moved):
            axis = [own[i][k] for i in range(3)]
            row = f"{name}, {letter}"
            b.constraint("configuration", dot(g, axis, between), row)
            self._actions.append((row, "force", second.point, first.point, ((first.frame, axis_components(g, k)),)))
            # the row turns with the first: where the points are apart, its force on it acts at the second point
            self._actions.append((row, "torque", first.frame, 0, ((0, cross(g, triple(axis), triple(between))),)))
        other = self._links.orientation(second.frame)
        for about, i, j, sign in (("x", 2, 1, -1), ("y", 2, 0, 1), ("z", 0, 1, 1)):
            if about not in turned:
                continue
            a, c = triple([own[k][j] for k in range(3)]), triple([other[k][i] for k in range(3)])
            a = a if sign > 0 else neg(g, a)
            row = f"{name}, {about} rotation"
            b.constraint("configuration", dot(g, a, c), row)
            self._actions.append((row, "torque", second.frame, first.frame, ((0, cross(g, c, a)),)))

    def _pin(self, position: int, loop: Any) -> None:
        """Pin the origin of a link to a place in the world, by forces in the world's axes."""
        name, place, kind, *_ = loop
        link = self._links.known(name)
        spot = three_numbers(place)
        if kind != "point" or spot is None:
            raise ModelError(
                f"loops[{position}] is {loop!r}; a link comes with another one, or with three finite numbers and "
                '"point"'
            )
        b, g = self._links.builder, self._links.builder.graph
        for k, (x, value) in enumerate(zip(self._links.position(link.own_point), spot.tolist(), strict=True)):
            row = f"{name}, {'xyz'[k]}"
            b.constraint("configuration", g.sub(x, number(b, float(value))), row)
            self._actions.append((row, "force", link.own_point, self._links.world, ((0, axis_components(g, k)),)))

    def attach(self) -> None:
        """Say on which bodies the rows of loops act, for reactions; all bodies are there."""
        b = self._links.builder
        owners = Attachments(b.graph, b.frames, b.points, b.bodies) if self._actions else None
        for row, kind, child, parent, vector in self._actions:
            assert owners is not None
            owner = owners.body_at if kind == "force" else owners.body_of
            below, above = ((GROUND if (kind, at) in self._resting else owner(at), at) for at in (child, parent))
            if below[0] == GROUND:
                below, above = above, below
                vector = tuple((frame, neg(b.graph, v)) for frame, v in vector)
            if below[0] != GROUND:
                b.attach(row, kind, below, above, vector)
