# SPDX-License-Identifier: BSD-3-Clause
"""What a user adds to a robot from a file, in SymPy: loads, states, outputs, feedback, functions, by the robot's parts.

The parts are SymPy's objects by their names in the model.  Points and frames are those of the robot as they are: SymPy
knows no positions and orientations between them, and users may locate points and orient frames of their own from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import sympy as sm
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame

from kanecore.describe.builder import Builder
from kanecore.describe.reading import Reading, nothing_more
from kanecore.errors import unknown_name

from .arguments import Arguments
from .reader import Reader
from .symbols import function_of_time

__all__ = ["Additions", "RobotParts"]

Reread: TypeAlias = Callable[[Reading], Reading]


class PartsByName(Mapping[str, Any]):
    """SymPy's objects of one kind, each made when it is asked for; KeyError with the nearest name for others.

    Attributes
    ----------
    numbers : dict of object to int
        Of those that were asked for, the numbers or nodes in the description.
    """

    def __init__(self, kind: str, numbers: Mapping[str, int], make: Callable[[str], Any]) -> None:
        self._kind, self._numbers, self._make = kind, numbers, make
        self._made: dict[str, Any] = {}

    @property
    def numbers(self) -> dict[Any, int]:
        return {part: self._numbers[name] for name, part in self._made.items()}

    def __getitem__(self, name: str) -> Any:
        if name not in self._numbers:
            raise unknown_name(f"{self._kind} of the robot is called", str(name), self._numbers)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"


class RobotParts:
    """The robot, as functions in arguments of `kanecore.Model.from_urdf` and `from_mjcf` get it.

    Attributes
    ----------
    points, frames : mapping of str to Point, of str to ReferenceFrame
        Of all links, sites and mass centres, and the inertial ones.
    coordinates, speeds, states, inputs : mapping of str to function of time
    parameters : mapping of str to Symbol
    """

    def __init__(self, builder: Builder) -> None:
        def symbols(kind: str, nodes: Mapping[int, str]) -> PartsByName:
            names = {name: node for node, name in nodes.items()}
            return PartsByName(kind, names, sm.Symbol if kind == "parameter" else function_of_time)

        self.points = PartsByName("point", builder.named_points(), SymPoint)
        self.frames = PartsByName("frame", builder.named_frames(), SymFrame)
        self.coordinates = symbols("coordinate", builder.coordinates)
        self.speeds = symbols("speed", builder.speeds)
        self.states = symbols("state", builder.states)
        self.inputs = symbols("input", builder.inputs.names)
        self.parameters = symbols("parameter", builder.parameters)


@dataclass(frozen=True)
class Additions:
    """Arguments of `kanecore.Model` that a robot takes as well: each as there, or a function of `RobotParts`."""

    forcelist: Any = None
    states: Any = None
    outputs: Any = None
    feedback: Any = None
    functions: Any = None

    def add_to(self, builder: Builder) -> Reread:
        """Add all to a description; returned is what completes its reading."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if all(value is None for value in given.values()):
            return nothing_more(builder)
        parts = RobotParts(builder)
        values = {name: value(parts) if callable(value) else value for name, value in given.items()}
        inertial = parts.frames[builder.frames[builder.inertial].name]
        q, u = ([function_of_time(name) for name in names.values()] for names in (builder.coordinates, builder.speeds))
        arguments = Arguments(frame=inertial, q_ind=q, u_ind=u, kd_eqs=[], name=builder.name, **values)
        reader = Reader(arguments, builder, points=parts.points.numbers, frames=parts.frames.numbers)
        return reader.read_further()
