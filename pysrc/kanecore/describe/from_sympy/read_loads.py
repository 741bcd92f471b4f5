# SPDX-License-Identifier: BSD-3-Clause
"""Forces, torques and actuators of a ``forcelist``: those along straight lines keep their force as one scalar."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sm
from sympy.physics.mechanics import ActuatorBase, ForceActuator, LinearPathway, ObstacleSetPathway
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame

from kanecore.describe import load_makers
from kanecore.describe.builder import Builder
from kanecore.describe.frame_paths import components
from kanecore.describe.reading import Actuator
from kanecore.errors import ModelError
from kanecore.graph.vectors import Components

from . import vector_internals
from .contacts import Contact, HeightField, Plane
from .force_systems import ForceSystem
from .joint_friction import JointFriction
from .read_frames import FrameReader
from .read_points import PointReader
from .symbols import Symbols

__all__ = ["LoadReader", "Loads", "is_tendon", "powered", "single_loads"]


@dataclass(frozen=True)
class Loads:
    """Loads of a forcelist, each with its number there.

    Attributes
    ----------
    actuators : (number, actuator along straight lines)
    contacts : (number, Contact)
    frictions : (number, JointFriction)
    pairs : (number, "force" or "torque", Point or ReferenceFrame, vector)
    """

    actuators: tuple[tuple[int, Any], ...]
    contacts: tuple[tuple[int, Contact], ...]
    frictions: tuple[tuple[int, JointFriction], ...]
    pairs: tuple[tuple[int, str, Any, Any], ...]

    @classmethod
    def of(cls, forcelist: Sequence[Any]) -> Loads:
        numbered = list(enumerate(forcelist))
        return cls(
            tuple((i, item) for i, item in numbered if is_tendon(item)),
            tuple((i, item) for i, item in numbered if isinstance(item, Contact)),
            tuple((i, item) for i, item in numbered if isinstance(item, JointFriction)),
            tuple((i, *pair) for i, item in numbered if not _is_whole(item) for pair in _pairs(item, i)),
        )

    def without(self, ground: Collection[Any]) -> Loads:
        """Loads without those on mass centres of the ground, such as those of a System's gravity."""
        pairs = tuple(pair for pair in self.pairs if pair[2] not in ground)
        return Loads(self.actuators, self.contacts, self.frictions, pairs)

    def points(self) -> Iterator[Any]:
        """Points at which forces act."""
        yield from (at for _, kind, at, _ in self.pairs if kind == "force")
        for _, contact in self.contacts:
            yield from contact.points()

    def pathways(self) -> Iterator[Any]:
        """Points through which the lines of actuators go."""
        yield from (point for _, actuator in self.actuators for point in actuator.pathway.attachments)


def is_tendon(item: Any) -> bool:
    """Test whether an item is an actuator along straight lines, whose loads are formed on the graph."""
    if not isinstance(item, ForceActuator) or type(item).to_loads is not ForceActuator.to_loads:
        return False
    return type(item.pathway) in (LinearPathway, ObstacleSetPathway)


def powered(forcelist: Sequence[Any]) -> Iterator[Actuator]:
    """Actuators along pathways whose loads SymPy makes, with their forces and extension velocities."""
    for number, item in enumerate(forcelist):
        way = getattr(item, "pathway", None)
        if isinstance(item, ActuatorBase) and way is not None and hasattr(item, "force") and not is_tendon(item):
            kind = type(item).__name__
            yield Actuator(number, f"load {number}, a {kind}", type(way).__name__, item.force, way.extension_velocity)


def _is_whole(item: Any) -> bool:
    """Test whether the loads of an item are formed on the graph."""
    return is_tendon(item) or isinstance(item, (Contact, JointFriction))


def _pairs(item: Any, number: int) -> list[tuple[str, Any, Any]]:
    items = _loads_of(item, number) if isinstance(item, ActuatorBase) else [item]
    return [_pair(x, number) for load in items for x in single_loads(load)]


def _loads_of(actuator: Any, number: int) -> Sequence[Any]:
    try:
        return actuator.to_loads()  # type: ignore[no-any-return]
    except NotImplementedError as error:
        raise ModelError(
            f"load {number}, a {type(actuator).__name__}: SymPy cannot form its loads: {error} A radius of a cylinder "
            "or a sphere that is a Rational or a symbol works, a Float does not: write Rational(1, 2) for 0.5"
        ) from None


def single_loads(item: Any) -> list[Any]:
    """A load of a forcelist, that of a ForceSystem as (Point, force) and (ReferenceFrame, torque)."""
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[1], ForceSystem):
        frame, system = item
        if isinstance(frame, SymFrame):
            return [*system.forces, *((frame, torque) for torque in system.torques)]
    return [item]


def _pair(item: Any, number: int) -> tuple[str, Any, Any]:
    try:
        at, vector = item
    except (TypeError, ValueError):
        raise ModelError(
            f"forcelist[{number}] is {item!r}: a load is (Point, force), (ReferenceFrame, torque), "
            "(ReferenceFrame, ForceSystem), an actuator, a Contact or a JointFriction"
        ) from None
    if isinstance(vector, ForceSystem):
        raise ModelError(f"forcelist[{number}] acts on {at!r}: a ForceSystem acts on the ReferenceFrame of a body")
    if isinstance(at, SymPoint):
        return "force", at, vector
    if isinstance(at, SymFrame):
        return "torque", at, vector
    raise ModelError(f"forcelist[{number}] acts on {at!r}: a force acts on a Point, a torque on a ReferenceFrame")


class LoadReader:
    """Reader of loads: first the actuators along lines; ``first`` is the number of the first item of the list."""

    def __init__(
        self, builder: Builder, symbols: Symbols, frames: FrameReader, points: PointReader, first: int = 0
    ) -> None:
        self._builder, self._symbols, self._frames, self._points = builder, symbols, frames, points
        self._first = first

    def read(self, loads: Loads) -> None:
        for number, actuator in loads.actuators:
            self._tendon(number, actuator)
        for number, contact in loads.contacts:
            self._contact(number, contact)
        for number, friction in loads.frictions:
            self._friction(number, friction)
        for number, kind, at, vector in loads.pairs:
            self._load(number, kind, at, vector)

    def _tendon(self, number: int, actuator: Any) -> None:
        kind = type(actuator).__name__
        where = f"load {number}, a {kind}"
        points = [self._points.number(point, where) for point in actuator.pathway.attachments]
        length, rate = sm.Dummy("length", positive=True), sm.Dummy("rate", real=True)
        for symbol, node in zip((length, rate), self._builder.line(), strict=True):
            self._symbols.stand_in(symbol, node)
        force = self._symbols.node(vector_internals.force_along(actuator, length, rate), where, "load")
        self._builder.tendon(points, force, self._first + number, kind)

    def _load(self, number: int, kind: str, at: Any, vector: Any) -> None:
        where = f"load {number} on {'point' if kind == 'force' else 'frame'} {at.name}"
        if kind == "force":
            point = self._points.number(at, where)
            self._builder.force(point, self._frames.vector(vector, where, "load"), self._first + number)
        else:
            frame = self._frames.number(at, where, oriented=False)
            self._builder.torque(frame, self._frames.vector(vector, where, "load"), self._first + number)

    def _friction(self, number: int, friction: JointFriction) -> None:
        nodes = self._nodes(friction, load_makers.JointFriction.NODES, f"the friction of joint {friction.joint}")
        self._builder.friction(load_makers.JointFriction(friction.joint, number=self._first + number, **nodes))

    def _contact(self, number: int, contact: Contact) -> None:
        where = f"contact {contact.name}"
        point, surface = self._points.number(contact.point, where), self._surface(contact.on, where)
        nodes = self._nodes(contact, load_makers.Contact.NODES, where)
        number += self._first
        self._builder.contact(load_makers.Contact(contact.name, point=point, surface=surface, number=number, **nodes))

    def _nodes(self, maker: Any, names: Sequence[str], where: str) -> dict[str, int]:
        """Nodes of the numbers and expressions of a maker of loads, by name."""
        return {name: self._symbols.node(getattr(maker, name), where, "load") for name in names}

    def _surface(self, on: Any, where: str) -> load_makers.Surface:
        if isinstance(on, Plane):
            frame, normal = self._in_one_frame(on.normal, f"the normal of {where}")
            point = self._points.number(on.point, where)
            velocity: Components = (0, 0, 0)
            if on.velocity is not None:
                vector = self._frames.vector(on.velocity, f"the velocity of the plane of {where}", "load")
                velocity = components(self._builder.graph, self._builder.frames, vector, frame)
            return load_makers.Surface("plane", point, frame, (normal,), velocity)
        if isinstance(on, HeightField):
            n, inertial = on.height.n_arguments, self._frames.inertial
            default = (inertial.x, inertial.y, inertial.z)[: n + 1]
            axes = [self._in_one_frame(axis, f"the axes of {where}") for axis in on.axes or default]
            if len({frame for frame, _ in axes}) > 1:
                raise ModelError(f"the axes of {where} are of several frames: write those of one")
            point = -1 if on.point is None else self._points.number(on.point, where)
            directions = tuple(axis for _, axis in axes)
            return load_makers.Surface("height field", point, axes[0][0], directions, height=on.height)
        radius = self._symbols.node(on.radius, where, "load")
        return load_makers.Surface("sphere", self._points.number(on.point, where), radius=radius)

    def _in_one_frame(self, vector: Any, where: str) -> tuple[int, Components]:
        parts = self._frames.vector(vector, where, "load")
        if len(parts) != 1:
            raise ModelError(f"{where} is {vector}: write a vector in the axes of one frame, such as N.y")
        return parts[0]
