# SPDX-License-Identifier: BSD-3-Clause
"""Bodies with their masses and inertias, joints, and attachments of the rows of G, as SymPy or the user has them.

Bodies that are the ground itself are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import sympy as sm
from sympy.physics.mechanics import Particle, RigidBody
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame
from sympy.physics.vector import Dyadic
from sympy.physics.vector import Vector as SymVector

from kanecore.describe.builder import Builder
from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.arguments import expect
from kanecore.describe.from_sympy.read_frames import FrameReader
from kanecore.describe.from_sympy.read_points import PointReader
from kanecore.describe.from_sympy.symbols import Symbols
from kanecore.describe.from_sympy.vector_algebra import distances, is_steady, nearest_first
from kanecore.describe.joints import GROUND
from kanecore.errors import ModelError
from kanecore.graph.vectors import Matrix

__all__ = ["Bodies", "BodyReader", "JointReader"]


@dataclass(frozen=True)
class Bodies:
    """The bodies of a model.

    Attributes
    ----------
    frame : ReferenceFrame
        The inertial frame.
    moving : tuple of Particle or RigidBody
        Bodies that can move, in the user's order.
    ground : frozenset of Point
        Mass centres of those that are the ground.
    """

    frame: Any
    moving: tuple[Any, ...]
    ground: frozenset[Any]

    @classmethod
    def of(cls, listed: Sequence[Any], frame: Any, needed: bool = True) -> Bodies:
        """Read the user's list of bodies, with the inertial frame; ModelError if bodies are needed and none moves."""
        _check(listed)
        moving = tuple(b for b in listed if not _is_ground(b, frame))
        if needed and not listed:
            raise ModelError(
                "a model needs at least one body: pass bodies=[Particle(...), RigidBody(...)]; for forces and "
                "kinematics alone, without motion, say so by bodies=[]"
            )
        if needed and not moving:
            raise ModelError("a model needs at least one body that can move: pass bodies=[Particle(...), ...]")
        return cls(frame, moving, frozenset(b.masscenter for b in listed if b not in moving))

    def number(self, body: Any, role: str, where: str) -> int:
        """Number of a body, or GROUND for the inertial frame if the role is "parent"."""
        number = next((i for i, b in enumerate(self.moving) if b is body), None)
        fixed = body is self.frame or getattr(body, "masscenter", None) in self.ground
        if number is None and role == "parent" and fixed:
            return GROUND
        if number is None:
            owner = next((b.name for b in self.moving if getattr(b, "frame", None) is body), None)
            raise ModelError(
                f"the {role} of {where} is {getattr(body, 'name', body)}, which is not in bodies"
                + (f" nor the inertial frame {self.frame.name}" if role == "parent" else "")
                + (f": write the body {owner}, not its frame" if owner else "")
            )
        return number

    def named(self, key: Any, argument: str) -> int:
        """Number of a body that is given itself, or by its name."""
        names = [str(body.name) for body in self.moving]
        here = [i for i, body in enumerate(self.moving) if body is key or names[i] == key]
        if len(here) == 1:
            return here[0]
        if here:
            raise ModelError(f"{argument} names {key!r}, and {len(here)} bodies have this name: give the body itself")
        name = str(getattr(key, "name", key))
        near = get_close_matches(name, names, 1)
        hint = f"; is {near[0]!r} meant?" if near else ""
        raise ModelError(f"{argument} names {name!r}, and the bodies that move are {', '.join(names)}{hint}")


def _check(listed: Sequence[Any]) -> None:
    for i, body in enumerate(listed):
        if not (isinstance(body, (Particle, RigidBody)) or hasattr(body, "masscenter")):
            raise ModelError(f"bodies[{i}] is {body!r}, neither a Particle nor a RigidBody")
        expect(body.masscenter, SymPoint, f"the mass centre of body {body.name}", "Point")
        if any(body is other for other in listed[:i]):
            raise ModelError(f"body {body.name} is listed twice: its inertia would be counted twice")


def _is_rigid(body: Any) -> bool:
    return hasattr(body, "frame") and hasattr(body, "inertia")


def _is_ground(body: Any, frame: Any) -> bool:
    """Test whether a body is the inertial frame itself, as in every System: at rest, it has no part in the motion.

    Its mass centre was set to rest, or is fixed in the inertial frame to a point that was.  Nothing of it is read.
    """
    if not _is_rigid(body) or body.frame is not frame:
        return False

    def fixed_to(point: Any) -> Iterator[Any]:
        """Points whose position from another is constant as written in the inertial frame."""
        return (p for p, v in vector_internals.positions(point).items() if is_steady(v, frame))

    own = vector_internals.velocities(body.masscenter).get(frame)
    if own is not None:
        return not vector_internals.terms(own)
    velocities = (vector_internals.velocities(p).get(frame) for p in distances(body.masscenter, fixed_to))
    return any(v is not None and not vector_internals.terms(v) for v in velocities)


class BodyReader:
    """Reader of Particles, RigidBodies, and objects with their attributes."""

    def __init__(self, builder: Builder, symbols: Symbols, frames: FrameReader, points: PointReader) -> None:
        self._builder, self._symbols, self._frames, self._points = builder, symbols, frames, points

    def read(self, body: Any) -> None:
        """Add a body to the description."""
        where = f"body {body.name}"
        mass = self._symbols.node(body.mass, f"the mass of {where}")
        point = self._points.number(body.masscenter, where)
        potential = self._symbols.node(body.potential_energy, f"the potential energy of {where}")
        if not _is_rigid(body):
            self._builder.body(body.name, point, mass, potential=potential)
            return
        frame = self._frames.number(body.frame, where, oriented=False)
        try:
            dyadic, inertia_point = body.inertia
        except (TypeError, ValueError):
            raise ModelError(f"the inertia of {where} is {body.inertia!r}: give (Dyadic, Point)") from None
        inertia = self._tensors(dyadic, f"the inertia of {where}")
        offset = _position(inertia_point, body.masscenter, where)
        about = self._frames.vector(offset, f"the inertia point of {where}")
        self._builder.body(body.name, point, mass, frame=frame, inertia=inertia, about=about, potential=potential)

    def _tensors(self, dyadic: Any, where: str) -> list[tuple[int, Matrix]]:
        """Parts of an inertia dyadic, each with the number of the frame in whose axes it is written."""
        if not isinstance(dyadic, Dyadic):
            raise ModelError(f"{where} is {dyadic!r}, not a Dyadic: make it with sympy.physics.mechanics.inertia")
        entries: dict[Any, list[list[Any]]] = {}
        for measure, axis, other_axis in dyadic.args:
            (a, frame), (b, other) = *vector_internals.terms(axis), *vector_internals.terms(other_axis)
            if frame is not other:
                raise ModelError(
                    f"{where} mixes the axes of frames {frame.name} and {other.name}: write it in one frame"
                )
            square = entries.setdefault(frame, [[0] * 3 for _ in range(3)])
            for i in range(3):
                for j in range(3):
                    square[i][j] += measure * a[i] * b[j]
        tensors = []
        for frame, square in entries.items():
            matrix = sm.Matrix(square)
            isotropic = matrix == square[0][0] * sm.eye(3)  # that of a ball is the same in all axes
            tensors.append((self._frames.number(frame, where, not isotropic), self._frames.matrix(matrix, where)))
        return tensors


def _position(point: Any, origin: Any, where: str) -> Any:
    """The position of an inertia point from a mass centre."""
    total = SymVector(0)
    if point == origin:
        return total
    parent = nearest_first(origin, vector_internals.positions)
    if point not in parent:
        raise ModelError(
            f"the inertia point {point.name} of {where} has no position path to its mass centre {origin.name}"
        )
    while point is not origin:
        total = total + vector_internals.positions(point)[parent[point]]
        point = parent[point]
    return total


class JointReader:
    """Reader of joints and attachments, after the bodies and constraints."""

    def __init__(self, builder: Builder, frames: FrameReader, points: PointReader, bodies: Bodies) -> None:
        self._builder, self._frames, self._points, self._bodies = builder, frames, points, bodies

    def joint(self, name: str, joint: Any) -> None:
        """Read a joint of ``joints={name: (parent, child, point)}``."""
        where = f"joint {name}"
        try:
            parent, child, point = joint
        except (TypeError, ValueError):
            raise ModelError(f"{where} is {joint!r}: give (parent, child, point)") from None
        above = self._bodies.number(parent, "parent", where)
        below = self._bodies.number(child, "child", where)
        expect(point, SymPoint, f"the point of {where}", "Point")
        self._builder.joint(name, above, below, self._points.number(point, where))

    def attachment(self, row: Any, item: Any) -> None:
        """Read an item of ``attach={row: (child, child_point, parent, parent_point, vector)}``."""
        where, row = f"attach={{{row!r}: ...}}", self._builder.row(row)
        try:
            child, child_at, parent, parent_at, vector = item
        except (TypeError, ValueError):
            raise ModelError(f"{where} is {item!r}: give (child, child_point, parent, parent_point, vector)") from None
        kind = "torque" if isinstance(child_at, SymFrame) else "force"
        for place in (child_at, parent_at):
            if not isinstance(place, SymFrame if kind == "torque" else SymPoint):
                raise ModelError(f"{where} acts at {place!r}: give two points for a force, two frames for a torque")
        below = self._bodies.number(child, "child", where)
        above = self._bodies.number(parent, "parent", where)
        number = self._frames.number if kind == "torque" else self._points.number
        places = [number(place, where) for place in (child_at, parent_at)]
        force = self._frames.vector(vector, where)
        self._builder.attach(row, kind, (below, places[0]), (above, places[1]), force)
