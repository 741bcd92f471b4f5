# SPDX-License-Identifier: BSD-3-Clause
"""Reader of SymPy mechanics objects, which makes a :class:`~kanecore.describe.reading.Reading`.

The reader says what SymPy's objects mean; :class:`~kanecore.describe.builder.Builder` assembles and checks it.  Only
what the user wrote is read: adjacent orientations, positions, velocities that were set.  Nothing is queried by
``vel``, ``acc`` or ``dcm``, and no vector is expressed in another frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import sympy as sm
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame

from kanecore.describe.builder import Builder
from kanecore.describe.checks import check_load
from kanecore.describe.description import fed_back
from kanecore.describe.reading import Reading, SetAcceleration
from kanecore.errors import ModelError
from kanecore.shapes import Shape

from . import vector_internals
from .arguments import Arguments, expect
from .first_order_states import activations
from .kinematical_equations import solve_kinematics
from .quaternions import Quaternion, find_quaternions
from .read_bodies import Bodies, BodyReader, JointReader
from .read_frames import FrameReader
from .read_loads import LoadReader, Loads, powered
from .read_outputs import OutputReader, output_points
from .read_points import PointReader
from .symbols import Symbols, function_name
from .unused_symbols import left_out

__all__ = ["Reader"]


class Reader:
    """One reading of one model, by :meth:`read`, or of what is added to a robot, by :meth:`read_further`.

    Parameters
    ----------
    arguments : Arguments
    builder : Builder, optional
        Of a robot, with its coordinates and speeds; default: a new one.
    points, frames : dict of Point to int, of ReferenceFrame to int
        Those that the builder has.
    """

    def __init__(
        self,
        arguments: Arguments,
        builder: Builder | None = None,
        *,
        points: Mapping[Any, int] = MappingProxyType({}),
        frames: Mapping[Any, int] = MappingProxyType({}),
    ) -> None:
        self._arguments = a = arguments.as_lists()
        if not isinstance(a.frame, SymFrame):
            raise ModelError(f"frame must be the inertial ReferenceFrame, not {a.frame!r}")
        self._builder = Builder(a.name, a.frame.name) if builder is None else builder
        self._symbols = Symbols(self._builder, a)
        self._frames = FrameReader(self._builder, self._symbols, a.frame, frames)
        self._points = PointReader(self._builder, self._symbols, self._frames, points)
        self._outputs = OutputReader(self._builder, self._symbols, self._frames, self._points)

    def read(self) -> Reading:
        """The description with all that a model asks for; the order of the steps is that of the graph's nodes."""
        a, pieces = self._arguments, (self._builder, self._symbols, self._frames, self._points)
        quaternions = self._read_kinematics()
        bodies, loads = self._survey()
        body_reader = BodyReader(*pieces)
        for body in bodies.moving:
            body_reader.read(body)
        self._read_lagrangian()
        self._read_constraints()
        self._read_joints(bodies)
        self._read_shapes(bodies)
        LoadReader(*pieces).read(loads)
        self._read_potentials()
        self._builder.show(points=[self._points.number(p, "points") for p in a.points])
        if a.origin is not None:
            self._builder.origin(self._points.number(a.origin, "origin"))
        self._keep_units(quaternions)
        self._builder.show(frames=[self._frames.number(f, "frames", oriented=False) for f in a.frames])
        self._read_outputs_and_rates()
        self._read_guess()
        self._complete()
        return self._reading()

    def read_further(self) -> Callable[[Reading], Reading]:
        """Add loads, states, outputs and feedback to the builder's robot; returned is what completes its reading."""
        a, b, symbols = self._arguments, self._builder, self._symbols
        before = {*b.parameters, *b.inputs.names}
        symbols.feed_back(a.feedback)
        loads = Loads.of(a.forcelist)
        self._points.survey([*loads.points(), *loads.pathways(), *output_points(a.outputs)], ())
        LoadReader(b, symbols, self._frames, self._points, b.n_loads).read(loads)
        laws = symbols.laws_of_builder()
        self._read_outputs_and_rates()
        self._complete()
        new = frozenset((*b.parameters, *b.inputs.names)) - before

        def completed(reading: Reading) -> Reading:
            d = fed_back(reading.description, laws)
            for load in d.loads if laws else ():
                check_load(d.graph, [x for _, v in load.vector for x in v], f"load {load.number}, by feedback,")
            return replace(
                reading,
                description=d,
                symbols=symbols.by_name(),
                frames={frame.name: frame for frame in self._frames.index},
                time=symbols.t,
                laws=a.feedback,
                functions=a.functions,
                written=self._outputs.written,
                n_loads=b.n_loads,
                undeclared=new.intersection((*d.parameters, *d.inputs)),
            )

        return completed

    # ------------------------------------------------------------------- steps
    def _read_kinematics(self) -> list[Quaternion]:
        """Laws of feedback, declared symbols, q̇; the quaternions among the coordinates."""
        a, symbols = self._arguments, self._symbols
        symbols.feed_back(a.feedback)
        symbols.allow(a.parameters, a.inputs, a.reactions)
        oriented = ((f, parent) for f, parent in self._frames.oriented_from.items() if f is not parent)
        quaternions = find_quaternions(symbols, oriented, a.unit)
        symbols.graph.unit = [self._members(quaternion) for quaternion in quaternions]
        for x, rate in zip(symbols.coordinates, solve_kinematics(symbols, a.kd_eqs), strict=True):
            self._builder.rate(x, rate)
        return quaternions

    def _members(self, quaternion: Quaternion) -> tuple[int, int, int, int]:
        e0, e1, e2, e3 = (self._symbols.coordinates[i] for i in quaternion.places)
        return e0, e1, e2, e3

    def _survey(self) -> tuple[Bodies, Loads]:
        """Collect bodies and loads before any of them is read: all points must be known by then."""
        a = self._arguments
        if not a.needs_bodies:
            self._builder.without_bodies()
        bodies = Bodies.of(a.bodies, a.frame, needed=a.needs_bodies)
        loads = Loads.of(a.forcelist).without(bodies.ground)
        for point in a.points:
            expect(point, SymPoint, "an item of points", "Point")
        for frame in a.frames:
            expect(frame, SymFrame, "an item of frames", "ReferenceFrame")
        if a.origin is not None:
            expect(a.origin, SymPoint, "origin", "Point")
        needed = [*(body.masscenter for body in bodies.moving), *loads.points(), *a.points, *loads.pathways()]
        needed += [*output_points(a.outputs), *([] if a.origin is None else [a.origin])]
        self._points.survey(needed, bodies.ground)
        return bodies, loads

    def _read_lagrangian(self) -> None:
        a = self._arguments
        if a.lagrangian is None:
            return
        self._builder.lagrangian(self._scalar(a.lagrangian, "the Lagrangian", "lagrangian"))
        if a.dissipation is None:
            return
        self._builder.dissipation(self._scalar(a.dissipation, "the dissipation function", "dissipation"))

    def _scalar(self, e: Any, where: str, stage: str) -> int:
        if isinstance(e, (bool, sm.logic.boolalg.Boolean)) or not isinstance(e, (int, float, sm.Expr)):
            raise ModelError(f"{where} is {e!r}, which is no expression of a scalar: write one, such as T - U")
        return self._symbols.node(e, where, stage)

    def _read_constraints(self) -> None:
        for kind, expressions in self._arguments.constraints.items():
            stage = "acceleration" if kind == "acceleration" else "kinematics"
            for name, e in expressions.items():
                if isinstance(e, sm.Eq):
                    raise ModelError(f"{name} is {e}: write it as an expression equal to zero, {e.lhs - e.rhs}")
                self._builder.constraint(kind, self._symbols.node(e, name, stage), name, e)

    def _read_joints(self, bodies: Bodies) -> None:
        reader = JointReader(self._builder, self._frames, self._points, bodies)
        for name, joint in self._arguments.joints.items():
            reader.joint(str(name), joint)
        for row, items in self._arguments.attach.items():
            for item in items if isinstance(items, list) else [items]:
                reader.attachment(row, item)

    def _read_shapes(self, bodies: Bodies) -> None:
        for key, shape in self._arguments.shapes.items():
            expect(shape, Shape, f"the shape of {getattr(key, 'name', key)}", "shape, such as kanecore.shapes.Disc(r)")
            self._builder.shape(bodies.named(key, "shapes"), shape)

    def _read_potentials(self) -> None:
        for i, e in enumerate(self._arguments.potentials):
            self._builder.potential(self._symbols.node(e, f"potential {i}", "potential"))

    def _keep_units(self, quaternions: Sequence[Quaternion]) -> None:
        """Declare unit quaternions: those that the user named, and those of frames that are read."""
        for quaternion in quaternions:
            if quaternion.frame is None or quaternion.frame in self._frames.index:
                self._builder.unit(*self._members(quaternion))

    def _read_outputs_and_rates(self) -> None:
        for name, e in self._arguments.outputs.items():
            self._outputs.read(str(name), e)
        for z, node in zip(self._symbols.z, self._symbols.states, strict=True):
            if node not in self._builder.state_rates:
                self._builder.rate(node, self._symbols.rate_of_state(z))

    def _read_guess(self) -> None:
        """Numbers by coordinates and speeds, or by their names."""
        state = [*self._symbols.q, *self._symbols.u]
        nodes = [*self._symbols.coordinates, *self._symbols.speeds]
        names = [function_name(x) for x in state]
        for key, value in self._arguments.guess.items():
            if key not in state and key not in names:
                raise ModelError(f"guess holds {key}, which is neither a coordinate nor a speed")
            self._builder.guess(nodes[state.index(key) if key in state else names.index(key)], value)

    def _complete(self) -> None:
        """Complete the symbols after all is read: check them, and list parameters and inputs in order."""
        a, symbols = self._arguments, self._symbols
        symbols.check_feedback()
        symbols.check_functions()
        symbols.warn_of_misspelt()
        inputs = symbols.complete_inputs(None if a.inputs is None else [*a.inputs, *a.reactions])
        parameters = symbols.in_order() if a.parameters is None else a.parameters
        for x, (name, e) in activations(a.states, a.forcelist).items():
            if x in (*symbols.q, *symbols.z, *inputs):
                hint = f"fixed={{{function_name(e)!r}: 0.0}} looks for an equilibrium without it"
                self._builder.range(
                    function_name(x), 0.0, 1.0, f"the muscle {name} is activated between 0 and 1; {hint}"
                )
        self._builder.list_in_order([symbols.parameters[s] for s in parameters], [symbols.inputs[x, 0] for x in inputs])

    # --------------------------------------------------------------------- results
    def _reading(self) -> Reading:
        a, symbols = self._arguments, self._symbols
        reactions = symbols.reactions()
        d = self._builder.description(reactions)
        return Reading(
            d,
            symbols=symbols.by_name(),
            frames={frame.name: frame for frame in self._frames.index},
            time=symbols.t,
            laws=a.feedback,
            functions=a.functions,
            written=self._outputs.written,
            n_loads=len(a.forcelist),
            left_out=left_out(a, symbols),
            undeclared=frozenset(
                (*(d.parameters if a.parameters is None else ()), *(d.inputs if a.inputs is None else ()))
            ).difference(reactions),
            reactions=reactions,
            set_accelerations=tuple(self._set_accelerations()),
            actuators=tuple(powered(a.forcelist)),
            read_again=symbols.read_again,
        )

    def _set_accelerations(self) -> Iterator[SetAcceleration]:
        """Accelerations that are set, and not read."""
        for point, at in self._points.index.items():
            value = vector_internals.accelerations(point).get(self._frames.inertial)
            if value is not None:
                yield "point", at, 0, self._known_terms(value)
        frames = self._frames.index
        for frame, at in frames.items():
            for other, value in vector_internals.angular_accelerations(frame).items():
                if frames.get(other, at) < at:  # SymPy stores that of the other in it as well
                    yield "frame", at, frames[other], self._known_terms(value)

    def _known_terms(self, vector: Any) -> list[tuple[int, Any]]:
        frames = self._frames.index
        return [(frames[f], column) for column, f in vector_internals.terms(vector) if f in frames]
