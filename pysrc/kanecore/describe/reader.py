# SPDX-License-Identifier: BSD-3-Clause
"""Reads SymPy mechanics objects into a :class:`~kanecore.describe.description.Description`.

Only what the user wrote is read: adjacent orientations, positions, velocities that were set.  Nothing is queried by
``vel``, ``acc`` or ``dcm``, and no vector is expressed in another frame.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sm
from sympy.physics.mechanics import (
    ActuatorBase,
    ForceActuator,
    LinearPathway,
    ObstacleSetPathway,
    Particle,
    RigidBody,
)
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame
from sympy.physics.vector import Dyadic
from sympy.physics.vector import Vector as SymVector

from kanecore.errors import ModelError
from kanecore.graph.calculus import is_affine
from kanecore.graph.decide import deciding, equal
from kanecore.graph.scalars import ACCELERATION, COORDINATE, PARAMETER, SPEED, Graph, Op

from . import sympy_access
from .description import (
    Attachment,
    Body,
    Components,
    Constraint,
    Description,
    Frame,
    Joint,
    Load,
    Matrix,
    Point,
    Tendon,
    Vector,
)
from .joints import GROUND, Attachments
from .mentioned import mentioned
from .quaternions import find_quaternions
from .symbols import Symbols, function_name, input_name

__all__ = ["Reader"]

NOWHERE: Vector = ()
IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Reader:
    """One reading of one model; :meth:`read` gives the description and the symbols behind its names."""

    def __init__(
        self,
        frame: Any,
        q: Sequence[Any],
        u: Sequence[Any],
        kd_eqs: Sequence[Any],
        name: str,
        auxiliary: Sequence[Any] = (),
        lists: Sequence[str] = ("q_ind", "u_ind"),
    ) -> None:
        if not isinstance(frame, SymFrame):
            raise ModelError(f"frame must be the inertial ReferenceFrame, not {frame!r}")
        self.graph = Graph()
        self.name = name
        self.frame = frame
        self.symbols = Symbols(self.graph, q, u, auxiliary, lists)
        self.kd_eqs = list(kd_eqs)

    # ----------------------------------------------------------------- vectors
    def matrix(self, m: Any, where: str) -> Matrix:
        self.symbols.where = where
        rows = [tuple(self.symbols.node(e) for e in m.row(i)) for i in range(3)]
        return tuple(rows)  # type: ignore[return-value]

    def vector(self, v: Any, where: str) -> Vector:
        if isinstance(v, (int, sm.Integer)) and v == 0:
            return ()
        if not isinstance(v, SymVector):
            raise ModelError(
                f"{where} is {v!r}, not a Vector: write it with the axes of a frame, such as 2*{self.frame.name}.x"
            )
        parts = []
        for column, frame in sympy_access.terms(v):
            if not isinstance(column, sm.MatrixBase):
                raise ModelError(f"{where} holds {column}, which is not a finite real number")
            self.symbols.where = where
            components: Components = tuple(self.symbols.node(e) for e in column)  # type: ignore[assignment]
            if any(components):
                parts.append((self._frame(frame, where), components))
        return tuple(parts)

    # ------------------------------------------------------------------ frames
    def _survey(self) -> None:
        """Parents of all frames that the inertial frame reaches, by orientation and by angular velocity."""
        self._orientation_parent = _breadth_first(self.frame, sympy_access.neighbours)
        self._angular_parent = _breadth_first(self.frame, sympy_access.angular_velocities)
        self.frames: list[Frame] = [Frame(self.frame.name, -1, IDENTITY, -1, ())]
        self.frame_index: dict[Any, int] = {self.frame: 0}
        self._reading: set[Any] = set()

    def _frame(self, frame: Any, where: str, oriented: bool = True) -> int:
        """The number of a frame; ``oriented``: components in its axes are wanted, not its angular velocity alone."""
        index = self.frame_index.get(frame)
        if index is not None and not (oriented and frame not in self._orientation_parent):
            return index
        for above in reversed(self._unread(frame)):
            index = self._read_frame(above, where, oriented and above is frame)
        assert index is not None
        return index

    def _unread(self, frame: Any) -> list[Any]:
        """A frame and those that it is oriented from, or turns in, and that have no number yet."""
        above = [frame]
        while True:
            frame = above[-1]
            parents = self._orientation_parent if frame in self._orientation_parent else self._angular_parent
            parent = parents.get(frame)
            if parent is None or parent in self.frame_index or parent in self._reading:
                return above
            above.append(parent)

    def _read_frame(self, frame: Any, where: str, oriented: bool) -> int:
        """The number of a frame that had none; all that it is oriented from have theirs."""
        index = self.frame_index.get(frame)
        if index is not None and not (oriented and frame not in self._orientation_parent):
            return index
        parent = self._orientation_parent.get(frame)
        if parent is None and frame.name == self.frame.name:
            raise ModelError(
                f"{where} is written in another frame that is named {frame.name} as well: use the ReferenceFrame that "
                "the model was given as its inertial frame"
            )
        if parent is None and (oriented or frame not in self._angular_parent):
            raise ModelError(
                f"frame {frame.name} in {where} is not oriented with respect to the inertial frame {self.frame.name}: "
                f"write {frame.name}.orient_axis(...) or another orient method"
            )
        angular_parent = self._angular_parent.get(frame)
        if angular_parent is None:
            raise ModelError(
                f"frame {frame.name} in {where} has no angular velocity: write {frame.name}.set_ang_vel(...)"
            )
        self._reading.add(frame)
        if parent is not None and self._leads_back(angular_parent):
            angular_parent = parent
        below = self._frame(angular_parent, where, oriented=False)
        stage, self.symbols.stage = self.symbols.stage, "kinematics"
        here, spin = f"the orientation of frame {frame.name}", f"the angular velocity of frame {frame.name}"
        given = sympy_access.angular_velocities(frame)[angular_parent]
        if parent is None:  # components in its axes are those in the axes that its angular velocity is written in
            axes = next((f for _, f in sympy_access.terms(given)), self.frame)
            turned, rotation = self._frame(axes, spin), IDENTITY
        else:
            turned = self._frame(parent, where)
            rotation = self.matrix(sympy_access.neighbours(parent)[frame], here)
        index = len(self.frames)
        self.frame_index[frame] = index
        self.frames.append(Frame(frame.name, turned, rotation, below, ()))
        # after the frame has its number, because its angular velocity may be written in it
        velocity = self._in_speeds(self.vector(given, spin))
        self._check_position((i for row in rotation for i in row), here)
        self._check_velocity(velocity, spin)
        self.frames[index] = Frame(frame.name, turned, rotation, below, velocity, parent is not None)
        self._reading.discard(frame)
        self.symbols.stage, self.symbols.where = stage, where
        return index

    def _leads_back(self, frame: Any) -> bool:
        """Whether a frame is oriented from one that is being read.

        The shortest way from the inertial frame by angular velocities may go through a frame to the one that it is
        oriented from, where a user set the angular velocity of the last of a chain.
        """
        parent = self._orientation_parent.get(frame)
        while frame not in self._reading and parent is not None and parent is not frame:
            frame, parent = parent, self._orientation_parent.get(parent)
        return frame in self._reading

    def _in_speeds(self, velocity: Vector) -> Vector:
        """An angular velocity with speeds in place of components that equal them, as numbers tell.

        Where a user defines speeds as the components, SymPy holds these in q̇, and q̇ in u is a long way round; for a
        quaternion it is right on the unit sphere alone (there ω is |e|² u).
        """
        return tuple((f, (self._in_speed(a), self._in_speed(b), self._in_speed(c))) for f, (a, b, c) in velocity)

    def _in_speed(self, node: int) -> int:
        g = self.graph
        if not g.depends[node] & SPEED or not g.depends[node] & COORDINATE:
            return node
        below = set(g.below([node]))
        states = deciding(g, [node], 2)
        for speed in self.symbols.speeds:
            if speed in below and states:
                for candidate, difference in ((speed, g.sub(node, speed)), (g.neg(speed), g.add(node, speed))):
                    if all(s.vanishes(difference) for s in states):
                        return candidate
        return node

    def _check_position(self, nodes: Iterable[int], what: str) -> None:
        if any(self.graph.depends[i] & SPEED for i in nodes):
            raise ModelError(f"{what} holds speeds: it may hold coordinates, inputs, parameters and time")

    def _check_velocity(self, vector: Vector, what: str) -> None:
        depends = self.graph.depends
        if not is_affine(self.graph, [i for _, v in vector for i in v], lambda i: depends[i] & SPEED):
            raise ModelError(f"{what} is not linear in the speeds: choose speeds in which it is")

    def _check_load(self, nodes: Iterable[int], what: str) -> None:
        depends = self.graph.depends
        if not is_affine(self.graph, nodes, lambda i: depends[i] & ACCELERATION):
            raise ModelError(
                f"{what} is not affine in the derivatives of the speeds, which are solved from linear equations: write "
                "it as a + b*u1.diff() + ..., a and b without derivatives of speeds, or make it an input"
            )

    # ------------------------------------------------------------------ points
    def _survey_points(self, needed: Sequence[Any], still: Collection[Any]) -> None:
        self.points: list[Point] = []
        self.point_index: dict[Any, int] = {}
        self._point_parent: dict[Any, Any] = {}
        for point in needed:  # each group of connected points has a root of its own
            if point not in self._point_parent:
                group = _breadth_first(point, sympy_access.positions)
                root = self._root(group, [p for p in needed if p in group], still)
                if root is not None:
                    self._point_parent.update(_breadth_first(root, sympy_access.positions))

    def _root(self, group: Collection[Any], needed: Sequence[Any], still: Collection[Any]) -> Any:
        """The origin: of connected points one at rest in the inertial frame, else one whose velocity was set.

        Of several the ground's mass centre; else one that is no moving contact, as far as signs tell: a contact at
        x n_x + y n_y was located from a fixed point, not that from the contact.  Then the one nearest to all that is
        ``needed``, so that no order matters.
        """
        set_velocity = {p: v for p in group if (v := sympy_access.velocities(p).get(self.frame)) is not None}
        known = [p for p, v in set_velocity.items() if not sympy_access.terms(v)] or list(set_velocity)
        if len(known) < 2:
            return known[0] if known else None
        ways = {p: _breadth_first(p, sympy_access.positions) for p in known}

        def rank(point: Any) -> tuple[bool, int, int, str]:
            contact = sum(self._is_located(point, ways[other]) for other in known)
            distance = _distances(point, sympy_access.positions)
            return point not in still, contact, sum(distance[p] for p in needed), point.name

        return min(known, key=rank)

    def _is_located(self, point: Any, way: Mapping[Any, Any]) -> bool:
        """Whether what changes in a point's position in the axes of the inertial frame bears no minus signs."""
        total = 0
        while way[point] is not point:
            for column, frame in sympy_access.terms(sympy_access.positions(point)[way[point]]):
                if frame is self.frame:
                    moving = (e for e in column if e.has(self.symbols.t))
                    total += sum(-1 if e.could_extract_minus_sign() else 1 for e in moving)
            point = way[point]
        return total > 0

    def _point(self, point: Any, where: str) -> int:
        """The number of a point, after those of all that it is located from."""
        above, p = [], point
        while p is not None and p not in self.point_index:
            above.append(p)
            parent = self._point_parent.get(p)
            p = None if parent is p else parent
        for p in reversed(above):
            self._read_point(p, where)
        return self.point_index[point]

    def _read_point(self, point: Any, where: str) -> None:
        stage, self.symbols.stage = self.symbols.stage, "kinematics"
        parent = self._point_parent.get(point)
        set_velocity = sympy_access.velocities(point).get(self.frame)
        if parent is None and set_velocity is None:
            raise ModelError(
                f"point {point.name} of {where} has no position path to a point with a known velocity, and no velocity "
                f"of its own: locate it with locatenew or set_pos from the origin O, and write "
                f"O.set_vel({self.frame.name}, 0)"
            )
        if parent is None or parent is point:
            number, position = -1, NOWHERE
        else:
            number = self.point_index[parent]
            position = self.vector(sympy_access.positions(point)[parent], f"the position of point {point.name}")
        velocity = None
        if set_velocity is not None:
            velocity = self.vector(set_velocity, f"the velocity of point {point.name}")
        self._check_position((i for _, v in position for i in v), f"the position of point {point.name}")
        self._check_velocity(velocity or NOWHERE, f"the velocity of point {point.name}")
        self.point_index[point] = len(self.points)
        self.points.append(Point(point.name, number, position, velocity))
        self.symbols.stage, self.symbols.where = stage, where

    # ------------------------------------------------------------------ bodies
    def _body(self, body: Any) -> Body:
        where = f"body {body.name}"
        mass = self.symbols.node(body.mass, f"the mass of {where}")
        point = self._point(body.masscenter, where)
        potential = self.symbols.node(body.potential_energy, f"the potential energy of {where}")
        frame, inertia, about = -1, [], NOWHERE
        if _is_rigid(body):
            frame = self._frame(body.frame, where, oriented=False)
            try:
                dyadic, inertia_point = body.inertia
            except (TypeError, ValueError):
                raise ModelError(f"the inertia of {where} is {body.inertia!r}: give (Dyadic, Point)") from None
            inertia = self._dyadic(dyadic, f"the inertia of {where}")
            if inertia_point != body.masscenter:
                about = self.vector(_position(inertia_point, body.masscenter, where), f"the inertia point of {where}")
        if self.graph.depends[mass] & SPEED:
            raise ModelError(f"the mass of {where} holds speeds: it may hold coordinates, inputs, parameters and time")
        if any(self.graph.depends[i] & ~PARAMETER for _, m in inertia for row in m for i in row):
            raise ModelError(
                f"the inertia of {where} must be constant in the axes it is written in, and holds coordinates, speeds, "
                "inputs or time: what changes it moves in the body, and is a body of its own"
            )
        return Body(body.name, point, frame, mass, tuple(inertia), about, potential)

    def _dyadic(self, dyadic: Any, where: str) -> list[tuple[int, Matrix]]:
        if not isinstance(dyadic, Dyadic):
            raise ModelError(f"{where} is {dyadic!r}, not a Dyadic: make it with sympy.physics.mechanics.inertia")
        entries: dict[Any, list[list[Any]]] = {}
        for measure, left, right in dyadic.args:
            (a, frame), (b, other) = *sympy_access.terms(left), *sympy_access.terms(right)
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
            tensors.append((self._frame(frame, where, not isotropic), self.matrix(matrix, where)))
        for f, tensor in tensors:
            if not self._symmetric(tensor):
                raise ModelError(
                    f"{where} is not symmetric in frame {self.frames[f].name}: make it with "
                    "sympy.physics.mechanics.inertia"
                )
        return tensors

    def _symmetric(self, tensor: Matrix) -> bool:
        """By structure, else by numbers."""
        pairs = [(tensor[i][j], tensor[j][i]) for i, j in ((0, 1), (1, 2), (2, 0))]
        return equal(self.graph, pairs, [i for row in tensor for i in row], otherwise=True)

    # -------------------------------------------------------------------- read
    def read(
        self,
        bodies: Sequence[Any],
        forcelist: Sequence[Any],
        potentials: Sequence[Any],
        outputs: Mapping[str, Any],
        points: Sequence[Any],
        frames: Sequence[Any],
        parameters: Sequence[Any] | None,
        inputs: Sequence[Any] | None,
        feedback: Mapping[Any, Any],
        joints: Mapping[str, Any],
        unit: Sequence[Any],
        constraints: Mapping[str, Mapping[str, Any]],
        attach: Mapping[int, Any],
    ) -> Description:
        self._survey()
        symbols = self.symbols
        symbols.feed_back(feedback)
        symbols.allow(parameters, inputs)
        oriented = ((f, parent) for f, parent in self._orientation_parent.items() if f is not parent)
        quaternions = find_quaternions(symbols, oriented, unit)
        self.graph.unit = [tuple(symbols.coordinates[i] for i in q.places) for q in quaternions]
        symbols.solve_kinematics(self.kd_eqs)
        self._check_bodies(bodies)
        tendons = [(i, item) for i, item in enumerate(forcelist) if _is_tendon(item)]
        loads = [(i, x) for i, item in enumerate(forcelist) if not _is_tendon(item) for x in _loads(item, i)]
        for point in points:
            _expect(point, SymPoint, "an item of points", "Point")
        for frame in frames:
            _expect(frame, SymFrame, "an item of frames", "ReferenceFrame")
        moving = [b for b in bodies if not self._is_ground(b)]
        if not moving:
            raise ModelError("a model needs at least one body that can move: pass bodies=[Particle(...), ...]")
        still = {b.masscenter for b in bodies if b not in moving}
        # a System's gravity pulls at its ground as well
        loads = [load for load in loads if load[1][1] not in still]
        needed = [b.masscenter for b in moving] + [at for _, (kind, at, _) in loads if kind == "force"]
        needed += [*points, *(point for _, actuator in tendons for point in actuator.pathway.attachments)]
        self._survey_points(needed, still)
        body_list = [self._body(b) for b in moving]
        constraint_list = self._constraints(constraints)
        joint_list = self._joints(joints, moving, still)
        attachments = [
            self._attachment(_row(key, len(constraint_list)), item, moving, still)
            for key, given in attach.items()
            for item in (given if isinstance(given, list) else [given])
        ]
        self.symbols.stage = "load"
        load_list = []
        self.tendons = [self._tendon(number, actuator) for number, actuator in tendons]
        for number, (kind, at, vector) in loads:
            where = f"load {number} on {'point' if kind == 'force' else 'frame'} {at.name}"
            index = self._point(at, where) if kind == "force" else self._frame(at, where, oriented=False)
            value = self.vector(vector, where)
            self._check_load((i for _, v in value for i in v), where)
            for part in self._steady_part_first(value) if kind == "force" else [value]:
                if part:
                    load_list.append(Load(kind, index, part, number))
        self.symbols.stage = "potential"
        energies = [self.symbols.node(e, f"potential {i}") for i, e in enumerate(potentials)]
        for i, node in enumerate(energies):
            self._check_position([node], f"potential {i}")
        forces = [x.at for x in load_list if x.kind == "force"]
        torques = [x.at for x in load_list if x.kind == "torque"]
        shown_points = _unique([b.point for b in body_list], forces, [self._point(p, "points") for p in points])
        rigid = [b.frame for b in body_list if b.frame >= 0]
        used = [q.places for q in quaternions if q.frame is None or q.frame in self.frame_index]
        shown_frames = _unique(rigid, torques, [self._frame(f, "frames", False) for f in frames])
        self.symbols.stage = "output"
        output_list = tuple((str(n), self._output(str(n), e)) for n, e in outputs.items())
        symbols.check_feedback()
        symbols.warn_of_misspelt()
        self._complete([*energies, *(b.potential for b in body_list)], constraint_list, body_list)

        base = sorted({x for x, _ in symbols.inputs}, key=function_name)
        if inputs is not None:
            base = [x for x in inputs if not isinstance(x, sm.Derivative) and x not in feedback]
        keys = [(x, order) for x in base for order in range(symbols.orders.get(x, 0) + 1)]
        constants = sorted(symbols.parameters, key=str) if parameters is None else list(parameters)
        nodes = tuple(symbols.input(*key) for key in keys)
        rate_of = tuple(keys.index((x, k + 1)) if (x, k + 1) in keys else -1 for x, k in keys)
        self.input_symbols = tuple(symbols.rate(*key) for key in keys)
        self.parameter_symbols = tuple(constants)
        functions = [function_name(x) for x in (*symbols.q, *symbols.u, *base)]
        _check_names(
            [self.name, *map(str, constants), *functions, *map(str, outputs)],
            [f.name for f in self.frames],
            [p.name for p in self.points],
            [b.name for b in body_list],
            [str(name) for name in joints],
            [c.name for c in constraint_list],
        )
        return Description(
            graph=self.graph,
            name=self.name,
            coordinates=tuple(symbols.coordinates),
            rates=tuple(symbols.rates),
            speeds=tuple(symbols.speeds),
            accelerations=tuple(symbols.accelerations),
            time=symbols.time,
            inputs=nodes,
            input_rates=rate_of,
            parameters=tuple(symbols.parameters[s] for s in constants),
            coordinate_names=tuple(map(function_name, symbols.q)),
            speed_names=tuple(map(function_name, symbols.u)),
            input_names=tuple(input_name(x, k) for x, k in keys),
            parameter_names=tuple(map(str, constants)),
            prescribed=frozenset(i for i, (x, _) in enumerate(keys) if x in symbols.prescribed),
            frames=tuple(self.frames),
            points=tuple(self.points),
            bodies=tuple(body_list),
            loads=tuple(load_list),
            potentials=tuple(energies),
            outputs=output_list,
            shown_points=shown_points,
            shown_frames=shown_frames,
            joints=Attachments(self.graph, self.frames, self.points, body_list, joint_list).joints,
            unit=tuple(used),
            constraints=tuple(constraint_list),
            auxiliary=tuple(symbols.auxiliary_nodes),
            auxiliary_names=tuple(map(function_name, symbols.auxiliary)),
            attachments=tuple(attachments),
        )

    def _output(self, name: str, e: Any) -> int:
        if isinstance(e, (sm.MatrixBase, sm.MatrixExpr, SymVector, Dyadic, sm.NDimArray, np.ndarray, list, tuple)):
            what = "vector" if isinstance(e, SymVector) else "matrix" if hasattr(e, "shape") else type(e).__name__
            component = f"{name}_x: v.dot({self.frame.name}.x)" if what == "vector" else f"{name}_0: m[0]"
            raise ModelError(f"output {name} is a {what}: give one scalar a component, such as {{{component}, ...}}")
        return self.symbols.node(e, f"output {name}")

    def set_accelerations(self) -> Iterator[tuple[str, int, int, list[tuple[int, Any]]]]:
        """(kind, number, frame that it was set in, [(frame, 3×1 matrix), ...]) of what is set, and not read."""
        for point, at in self.point_index.items():
            value = sympy_access.accelerations(point).get(self.frame)
            if value is not None:
                yield "point", at, 0, self._known_terms(value)
        for frame, at in self.frame_index.items():
            for other, value in sympy_access.angular_accelerations(frame).items():
                if self.frame_index.get(other, at) < at:  # SymPy stores that of the other in it as well
                    yield "frame", at, self.frame_index[other], self._known_terms(value)

    def _known_terms(self, vector: Any) -> list[tuple[int, Any]]:
        return [(self.frame_index[f], column) for column, f in sympy_access.terms(vector) if f in self.frame_index]

    def left_out(
        self, bodies: Sequence[Any], forcelist: Sequence[Any], places: Sequence[Any], kept: Collection[Any]
    ) -> tuple[Any, ...]:
        """Symbols and functions of time that stand somewhere, and are none of those ``kept``; sorted by name."""

        def name(x: Any) -> str:
            return str(x) if isinstance(x, sm.Symbol) else function_name(x)

        found = mentioned(self.frame, bodies, forcelist, places, self.symbols.has_read)
        found |= {*self.parameter_symbols, *(x for x in self.input_symbols if not isinstance(x, sm.Derivative))}
        taken = {function_name(x) for x in (*self.symbols.q, *self.symbols.u, *self.symbols.auxiliary)}
        taken |= {str(self.symbols.t), *(name(x) for x in kept if not isinstance(x, sm.Derivative))}
        names = {x: name(x) for x in found}
        return tuple(sorted({n: s for s, n in names.items() if n not in taken}.values(), key=names.__getitem__))

    # -------------------------------------------------------------- constraints
    def _constraints(self, given: Mapping[str, Mapping[str, Any]]) -> list[Constraint]:
        result: list[Constraint] = []
        for kind, expressions in given.items():
            self.symbols.stage = "acceleration" if kind == "acceleration" else "kinematics"
            for name, e in expressions.items():
                if any(name == other.name for other in result):
                    raise ModelError(f"two constraints are named {name!r}: give each a name of its own")
                if isinstance(e, sm.Eq):
                    raise ModelError(f"{name} is {e}: write it as an expression that vanishes, {e.lhs - e.rhs}")
                node = self.symbols.node(e, name)
                self._check_constraint(kind, node, f"{name}, {e},")
                result.append(Constraint(kind, node, name))
        self.symbols.stage = "kinematics"
        return result

    def _check_constraint(self, kind: str, node: int, what: str) -> None:
        g = self.graph
        depends = g.depends[node]
        if node == 0:  # a component of a planar loop across its plane: a row of zeros
            return
        if kind == "configuration":
            if depends & SPEED:
                raise ModelError(f"{what} holds speeds: it is a velocity constraint")
            if not depends & COORDINATE:
                raise ModelError(f"{what} holds no coordinate: nothing that moves can satisfy it")
        elif kind == "velocity":
            if not depends & SPEED:
                where = (
                    "it is a configuration constraint" if depends & COORDINATE else "nothing that moves can satisfy it"
                )
                raise ModelError(f"{what} holds no speed: {where}")
        elif not depends & ACCELERATION:
            raise ModelError(f"{what} holds no derivative of a speed: it is a velocity constraint")
        elif not is_affine(g, [node], lambda i: g.depends[i] & ACCELERATION):
            raise ModelError(f"{what} is not linear in the derivatives of the speeds")

    # ------------------------------------------------------------------- joints
    def _is_ground(self, body: Any) -> bool:
        """Whether a body is the inertial frame itself, as in every System: at rest, it has no part in the motion.

        Its mass centre was set to rest, or is fixed in the inertial frame to a point that was.  Nothing of it is read.
        """
        if not _is_rigid(body) or body.frame is not self.frame:
            return False

        own = sympy_access.velocities(body.masscenter).get(self.frame)
        if own is not None:
            return not sympy_access.terms(own)
        velocities = (sympy_access.velocities(p).get(self.frame) for p in _distances(body.masscenter, self._fixed_to))
        return any(v is not None and not sympy_access.terms(v) for v in velocities)

    def _fixed_to(self, point: Any) -> Iterator[Any]:
        """Points whose position from another is written as constant in the inertial frame."""
        return (p for p, v in sympy_access.positions(point).items() if self._is_steady(v))

    def _is_steady(self, vector: Any) -> bool:
        """Whether a vector is constant in the axes of the inertial frame, in which it is written."""
        return all(
            frame is self.frame and not any(e.has(self.symbols.t) for e in column)
            for column, frame in sympy_access.terms(vector)
        )

    def _body_number(self, body: Any, what: str, where: str, bodies: Sequence[Any], ground: Collection[Any]) -> int:
        """Of a body, or GROUND for the inertial frame where ``what`` is a parent."""
        number = next((i for i, b in enumerate(bodies) if b is body), None)
        fixed = body is self.frame or getattr(body, "masscenter", None) in ground
        if number is None and what == "parent" and fixed:
            return GROUND
        if number is None:
            raise ModelError(
                f"the {what} of {where} is {getattr(body, 'name', body)}, which is not in bodies"
                + (f" nor the inertial frame {self.frame.name}" if what == "parent" else "")
            )
        return number

    def _attachment(self, row: int, item: Any, bodies: Sequence[Any], ground: Collection[Any]) -> Attachment:
        where = f"attach={{{row}: ...}}"
        try:
            child, child_at, parent, parent_at, vector = item
        except (TypeError, ValueError):
            raise ModelError(f"{where} is {item!r}: give (child, child_point, parent, parent_point, vector)") from None
        kind = "torque" if isinstance(child_at, SymFrame) else "force"
        for place in (child_at, parent_at):
            if not isinstance(place, SymFrame if kind == "torque" else SymPoint):
                raise ModelError(f"{where} acts at {place!r}: give two points for a force, two frames for a torque")
        numbers = [
            self._body_number(child, "child", where, bodies, ground),
            self._body_number(parent, "parent", where, bodies, ground),
        ]
        read = self._frame if kind == "torque" else self._point
        places = [read(place, where) for place in (child_at, parent_at)]
        return Attachment(row, kind, numbers[0], places[0], numbers[1], places[1], self.vector(vector, where))

    def _joints(self, joints: Mapping[str, Any], bodies: Sequence[Any], ground: Collection[Any]) -> list[Joint]:
        result: list[Joint] = []
        for name, joint in joints.items():
            where = f"joint {name}"
            try:
                parent, child, point = joint
            except (TypeError, ValueError):
                raise ModelError(f"{where} is {joint!r}: give (parent, child, point)") from None
            numbers = [
                self._body_number(parent, "parent", where, bodies, ground),
                self._body_number(child, "child", where, bodies, ground),
            ]
            _expect(point, SymPoint, f"the point of {where}", "Point")
            if any(other.child == numbers[1] for other in result):
                raise ModelError(f"body {child.name} is the child of two joints: {where} closes a loop")
            result.append(Joint(str(name), numbers[0], numbers[1], self._point(point, where)))
        parents = {joint.child: joint.parent for joint in result}
        for joint in result:
            above = joint.parent
            while above in parents and above != joint.child:
                above = parents[above]
            if above == joint.child:
                raise ModelError(f"joint {joint.name} hangs on itself: its parent is carried by its child")
        return result

    def _tendon(self, number: int, actuator: Any) -> Tendon:
        where = f"load {number}, a {type(actuator).__name__}"
        points = tuple(self._point(point, where) for point in actuator.pathway.attachments)
        length, rate = sm.Dummy("length", positive=True), sm.Dummy("rate", real=True)
        nodes = self.symbols.stand_in(length, COORDINATE), self.symbols.stand_in(rate, COORDINATE | SPEED)
        force = self.symbols.node(sympy_access.force_along(actuator, length, rate), where)
        self._check_load([force], f"{where},")
        return Tendon(points, *nodes, force, number)

    def _steady_part_first(self, force: Vector) -> list[Vector]:
        """A force as what is constant in the inertial frame, such as a weight, and the rest."""
        steady: Components = (0, 0, 0)
        rest = []
        for f, v in force:
            if f == 0:
                parts = [self._steady(x) for x in v]
                steady = (parts[0][0], parts[1][0], parts[2][0])
                v = (parts[0][1], parts[1][1], parts[2][1])
            if any(v):
                rest.append((f, v))
        return [((0, steady),) if any(steady) else (), tuple(rest)]

    def _steady(self, node: int) -> tuple[int, int]:
        """The summands of a node that depend on parameters alone, and the others."""
        g, summed, stack = self.graph, set(), [node]
        while stack:
            i = stack.pop()
            if i not in summed:
                summed.add(i)
                op, *args = g.nodes[i]
                if g.depends[i] & ~PARAMETER and op in (Op.NEG, Op.ADD, Op.SUB):
                    stack += args
        parts: dict[int, tuple[int, int]] = {}
        for i in sorted(summed):  # operands first
            op, *args = g.nodes[i]
            if not g.depends[i] & ~PARAMETER:
                parts[i] = (i, 0)
            elif op is Op.NEG:
                steady, rest = parts[args[0]]
                parts[i] = (g.neg(steady), g.neg(rest))
            elif op is Op.ADD or op is Op.SUB:
                (a, x), (b, y) = parts[args[0]], parts[args[1]]
                parts[i] = (g.add(a, b), g.add(x, y)) if op is Op.ADD else (g.sub(a, b), g.sub(x, y))
            else:
                parts[i] = (0, i)
        return parts[node]

    def _complete(self, energies: Sequence[int], constraints: Sequence[Constraint], bodies: Sequence[Body]) -> None:
        """Let the symbols know where inputs stand, so that their rates follow them."""
        place = [i for f in self.frames for row in f.rotation for i in row]
        place += [i for p in self.points for _, v in p.position for i in v]
        rate = [i for f in self.frames for _, v in f.angular_velocity for i in v]
        rate += [i for p in self.points for _, v in p.velocity or () for i in v]
        place += [c.node for c in constraints if c.kind == "configuration"]
        rate += [c.node for c in constraints if c.kind == "velocity"]
        rate += [b.mass for b in bodies]
        self.symbols.complete(place, rate, energies)

    def _check_bodies(self, bodies: Sequence[Any]) -> None:
        for i, body in enumerate(bodies):
            if not (isinstance(body, (Particle, RigidBody)) or hasattr(body, "masscenter")):
                raise ModelError(f"bodies[{i}] is {body!r}, neither a Particle nor a RigidBody")
            _expect(body.masscenter, SymPoint, f"the mass centre of body {body.name}", "Point")
            if any(body is other for other in bodies[:i]):
                raise ModelError(f"body {body.name} is listed twice: its inertia would be counted twice")
        if not bodies:
            raise ModelError("a model needs at least one body: pass bodies=[Particle(...), RigidBody(...)]")


def _check_names(*lists: list[str]) -> None:
    """Any name will do that can be a C string in UTF-8."""
    for name in (name for names in lists for name in names):
        if "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
            raise ModelError(f"the name {name!r} holds a NUL or half a surrogate pair: choose another")


def _is_rigid(body: Any) -> bool:
    return hasattr(body, "frame") and hasattr(body, "inertia")


def _expect(item: Any, kind: type, argument: str, what: str) -> None:
    if not isinstance(item, kind):
        raise ModelError(f"{argument} is {item!r}, which is no {what}")


def _is_tendon(item: Any) -> bool:
    """An actuator along straight lines, whose loads are formed on the graph."""
    if not isinstance(item, ForceActuator) or type(item).to_loads is not ForceActuator.to_loads:
        return False
    return type(item.pathway) in (LinearPathway, ObstacleSetPathway)


def _loads(item: Any, i: int) -> list[tuple[str, Any, Any]]:
    return [_load(x, i) for x in item.to_loads()] if isinstance(item, ActuatorBase) else [_load(item, i)]


def _row(key: Any, count: int) -> int:
    """The number of a row of G, of at most ``count``."""
    try:
        row = -1 if isinstance(key, bool) else operator.index(key)
    except TypeError:
        row = -1
    if not 0 <= row < count:
        rows = "there are no constraints" if not count else f"0 to {count - 1}" if count > 1 else "0 alone"
        raise ModelError(f"attach={{{key!r}: ...}}: the key is the number of a row of the constraint Jacobian, {rows}")
    return row


def _load(item: Any, i: int) -> tuple[str, Any, Any]:
    try:
        at, vector = item
    except (TypeError, ValueError):
        raise ModelError(
            f"forcelist[{i}] is {item!r}: a load is (Point, force), (ReferenceFrame, torque) or an actuator"
        ) from None
    if isinstance(at, SymPoint):
        return "force", at, vector
    if isinstance(at, SymFrame):
        return "torque", at, vector
    raise ModelError(f"forcelist[{i}] acts on {at!r}: a force acts on a Point, a torque on a ReferenceFrame")


def _unique(*lists: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(i for items in lists for i in items))


def _breadth_first(start: Any, adjacent: Any) -> dict[Any, Any]:
    """``{node: predecessor}`` of all that ``start`` reaches, ``start`` its own predecessor, nearest first.

    Of paths of one length it is the one that SymPy takes: each node's first neighbour that lies on any.
    """
    distance = _distances(start, adjacent)
    before = {node: next(k for k in adjacent(node) if distance.get(k) == n - 1) for node, n in distance.items() if n}
    return {start: start} | before


def _distances(start: Any, adjacent: Any) -> dict[Any, int]:
    """How many steps each node is from ``start``, nearest first."""
    distance = {start: 0}
    queue = [start]
    for node in queue:
        for other in adjacent(node):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def _position(point: Any, origin: Any, where: str) -> Any:
    parent = _breadth_first(origin, sympy_access.positions)
    if point not in parent:
        raise ModelError(
            f"the inertia point {point.name} of {where} has no position path to its mass centre {origin.name}"
        )
    total = SymVector(0)
    while point is not origin:
        total = total + sympy_access.positions(point)[parent[point]]
        point = parent[point]
    return total
