# SPDX-License-Identifier: BSD-3-Clause
"""Builder of a description, for any reader of mechanisms, so that each rule about mechanisms is checked in one place.

Nothing here is SymPy's: scalars are nodes of :attr:`Builder.graph`; frames, points and bodies are numbers.  A vector
is a sum ((frame, (x, y, z)), ...) of components, as it was written; nothing is multiplied out.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanecore.errors import ModelError, warn
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import ACCELERATION, COORDINATE, PARAMETER, SPEED
from kanecore.graph.vectors import Matrix, Vector
from kanecore.graph.zero_tests import negligible
from kanecore.shapes import Shape

from .angular_velocities import in_speeds
from .checks import (
    check_constraint,
    check_count,
    check_dependent,
    check_dissipation,
    check_energy,
    check_inertia,
    check_lagrangian,
    check_load,
    check_matrix,
    check_name,
    check_nodes,
    check_number,
    check_output_names,
    check_pair,
    check_place,
    check_ring,
    check_rotation,
    check_symbols,
    check_unused,
    check_vector,
    check_velocity,
)
from .description import (
    Attachment,
    Body,
    Constraint,
    Description,
    FirstOrder,
    Frame,
    GeneralizedForce,
    Joint,
    Load,
    Point,
    Range,
    Tendon,
)
from .frame_paths import Ancestry
from .gravity import steady_part_first
from .joints import GROUND, Attachments
from .load_makers import Contact, JointFriction
from .variables import Variables, input_name

__all__ = ["Builder"]

IDENTITY: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
KINDS = ("configuration", "velocity", "acceleration")


class Builder(Variables):
    """One description, piece by piece; :meth:`description` is the last step.

    Each piece comes after those to which it refers: a frame after its parent, a load after its point, an attachment
    after the constraints.  A wrong piece raises ModelError when it is added.

    Symbols, constraints, joints and outputs are found by their names, and each has one of its own.  Frames, points and
    bodies are found by their numbers, and may share a name, as in SymPy.

    Parameters
    ----------
    name : str
        Name of the model.
    inertial : str
        Name of the inertial frame, which has number 0.

    Attributes
    ----------
    graph, time
        Where all scalars are made, and the node of t.
    frames, points, bodies, constraints : list
        Items that were added so far.

    Examples
    --------
    A pendulum::

        b = Builder("pendulum")
        g, q, u = b.graph, b.coordinate("q"), b.speed("u")
        b.rate(q, u)
        mass, length, gravity = (b.parameter(name) for name in ("m", "l", "g"))
        cos, sin = g.cos(q), g.sin(q)
        A = b.frame("A", b.inertial, ((cos, g.neg(sin), 0), (sin, cos, 0), (0, 0, 1)))
        b.angular_velocity(A, ((A, (0, 0, u)),))
        O = b.point("O", velocity=())
        P = b.point("P", O, ((A, (length, 0, 0)),))
        b.body("bob", P, mass)
        b.force(P, ((b.inertial, (0, g.neg(g.mul(mass, gravity)), 0)),))
        description = b.description()
    """

    inertial = 0

    def __init__(self, name: str, inertial: str = "N") -> None:
        super().__init__()
        check_name(name)
        check_name(inertial)
        self.name = name
        self.frames = [Frame(inertial, -1, IDENTITY, -1, ())]
        self.points: list[Point] = []
        self.bodies: list[Body] = []
        self.constraints: list[Constraint] = []
        self._spinning: set[int] = {0}  # frames with a known angular velocity
        self._loads: list[Load] = []
        self._n_loads = 0
        self._tendons: list[Tendon] = []
        self._contacts: list[Contact] = []
        self._frictions: list[JointFriction] = []
        self._potentials: list[int] = []
        self._lagrangian: int | None = None
        self._dissipation: int | None = None
        self._first_order: FirstOrder | None = None
        self._needs_bodies = True
        self._outputs: list[tuple[str, int]] = []
        self._shown_points: list[int] = []
        self._shown_frames: list[int] = []
        self._origin = -1
        self._left_out: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # parameters, inputs
        self._joints: list[Joint] = []
        self._shapes: list[tuple[int, Shape]] = []
        self._attachments: list[Attachment] = []
        self._ranges: list[Range] = []

    # ------------------------------------------------------------------ places
    def _check_frame(self, number: int, subject: str, least: int = 0) -> None:
        check_number(number, self.frames, "frame", subject, least)

    def _check_point(self, number: int, subject: str, least: int = 0) -> None:
        check_number(number, self.points, "point", subject, least)

    def _check_body(self, number: int, subject: str, least: int = 0) -> None:
        check_number(number, self.bodies, "body", subject, least)

    def _components(self, vector: Vector, subject: str) -> list[int]:
        check_vector(self.graph, vector, self.frames, subject)
        return [node for _, components in vector for node in components]

    def frame(
        self,
        name: str,
        parent: int,
        rotation: Matrix = IDENTITY,
        *,
        angular_parent: int | None = None,
        oriented: bool = True,
    ) -> int:
        """The number of a new frame, ``v_parent = rotation @ v_frame``.

        Parameters
        ----------
        angular_parent : int, optional
            The frame that its angular velocity is relative to, if not ``parent``.
        oriented : bool
            False if only the angular velocity is known: then components are in the axes of ``parent``.
        """
        check_name(name)
        turns_in = parent if angular_parent is None else angular_parent
        self._check_frame(parent, f"the parent of frame {name}")
        self._check_frame(turns_in, f"the angular parent of frame {name}")
        what = f"the orientation of frame {name}"
        check_matrix(self.graph, rotation, what)
        check_place(self.graph, [i for row in rotation for i in row], what)
        check_rotation(self.graph, rotation, what)
        self.frames.append(Frame(name, parent, rotation, turns_in, (), oriented))
        return len(self.frames) - 1

    def angular_velocity(self, frame: int, vector: Vector) -> None:
        """Set the angular velocity of a frame in its ``angular_parent``; it may be written in the frame's own axes."""
        self._check_frame(frame, "the frame of an angular velocity", 1)
        f = self.frames[frame]
        if frame in self._spinning:
            raise ModelError(f"frame {f.name} has two angular velocities: give it one")
        what = f"the angular velocity of frame {f.name}"
        check_velocity(self.graph, self._components(vector, what), what)
        self._spinning.add(frame)
        self.frames[frame] = replace(f, angular_velocity=in_speeds(self.graph, self.speeds, vector))

    def point(self, name: str, parent: int = -1, position: Vector = (), *, velocity: Vector | None = None) -> int:
        """The number of a new point.

        Parameters
        ----------
        parent : int
            The point that it is located from; −1: it is an origin, and has a ``velocity``.
        velocity : Vector, optional
            In the inertial frame; default: the derivative of the position.
        """
        check_name(name)
        self._check_point(parent, f"the parent of point {name}", -1)
        if parent < 0 and velocity is None:
            raise ModelError(f"point {name} is located from no other, and has no velocity: give it one of them")
        what = f"the position of point {name}"
        check_place(self.graph, self._components(position, what), what)
        if velocity is not None:
            what = f"the velocity of point {name}"
            check_velocity(self.graph, self._components(velocity, what), what)
        self.points.append(Point(name, parent, position, velocity))
        return len(self.points) - 1

    # ------------------------------------------------------------------ bodies
    def body(
        self,
        name: str,
        point: int,
        mass: int,
        *,
        frame: int = -1,
        inertia: Sequence[tuple[int, Matrix]] = (),
        about: Vector = (),
        potential: int = 0,
    ) -> int:
        """Add a particle, or a rigid body that is fixed in a frame; return its number.

        Parameters
        ----------
        inertia : sequence of (frame, 3×3 matrix)
            The tensors whose sum is its inertia.
        about : Vector
            Position from the mass centre of the point that the inertia is about.
        potential : int
            Its potential energy, which replaces no load.
        """
        check_name(name)
        self._check_point(point, f"the point of body {name}")
        self._check_frame(frame, f"the frame of body {name}", -1)
        check_nodes(self.graph, [mass], f"the mass of body {name}")
        check_energy(self.graph, [mass], f"the mass of body {name}")
        if frame < 0 and (inertia or about):
            raise ModelError(f"body {name} has an inertia and no frame: a rigid body is fixed in one")
        self._check_tensors(inertia, f"the inertia of body {name}")
        self._components(about, f"the inertia point of body {name}")
        check_nodes(self.graph, [potential], f"the potential energy of body {name}")
        self.bodies.append(Body(name, point, frame, mass, tuple(inertia), about, potential))
        return len(self.bodies) - 1

    def without_bodies(self) -> None:
        """Declare that there are no bodies: only forces and kinematics are needed, and no motion."""
        self._needs_bodies = False

    def _check_tensors(self, inertia: Sequence[tuple[int, Matrix]], subject: str) -> None:
        for tensor in inertia:
            check_pair(tensor, f"a tensor of {subject}", "(frame, 3×3 matrix)")
            self._check_frame(tensor[0], f"a frame of {subject}")
            check_matrix(self.graph, tensor[1], f"a tensor of {subject}")
        check_inertia(self.graph, [(self.frames[f].name, m) for f, m in inertia], subject)

    def joint(self, name: str, parent: int, child: int, point: int, *, free: bool = False) -> None:
        """Add a joint that holds a body on another or on the ground (−1); other joints follow from the points."""
        check_name(name)
        check_unused(name, (joint.name for joint in self._joints), "joints")
        self._check_body(parent, f"the parent of joint {name}", GROUND)
        self._check_body(child, f"the child of joint {name}")
        self._check_point(point, f"the point of joint {name}")
        if any(other.child == child for other in self._joints):
            raise ModelError(f"body {self.bodies[child].name} is the child of two joints: joint {name} closes a loop")
        self._joints.append(Joint(name, parent, child, point, free))

    # ------------------------------------------------------------------- loads
    def _number(self, number: int | None) -> int:
        number = self._n_loads if number is None else number
        check_count(number, "the number of a load")
        self._n_loads = max(self._n_loads, number + 1)
        return number

    def force(self, point: int, vector: Vector, number: int | None = None) -> None:
        """Add a force at a point; ``number`` is its place in the user's list, if that holds others as well."""
        self._check_point(point, "the point of a force")
        number = self._number(number)
        what = f"load {number} on point {self.points[point].name}"
        check_load(self.graph, self._components(vector, what), what)
        parts = steady_part_first(self.graph, self.frames, vector)
        self._loads += [Load("force", point, part, number) for part in parts]

    def torque(self, frame: int, vector: Vector, number: int | None = None) -> None:
        """Add a torque on a frame; ``number`` is its place in the user's list, if that holds others as well."""
        self._check_frame(frame, "the frame of a torque")
        number = self._number(number)
        what = f"load {number} on frame {self.frames[frame].name}"
        check_load(self.graph, self._components(vector, what), what)
        if vector:
            self._loads.append(Load("torque", frame, vector, number))

    def line(self) -> tuple[int, int]:
        """Nodes of the length of a line through points and of its rate, for the force of the next tendon."""
        n = len(self._tendons)
        length = self.graph.symbol(("stands in", "length", n), COORDINATE)
        return length, self.graph.symbol(("stands in", "rate", n), COORDINATE | SPEED)

    def tendon(self, points: Sequence[int], force: int, number: int | None = None, kind: str = "tendon") -> None:
        """Add a force along a line through points, positive where it pushes, in terms of the nodes of :meth:`line`.

        ``kind`` names it in messages.
        """
        number = self._number(number)
        if len(points) < 2:
            raise ModelError(f"load {number}, a {kind}, has a line through {len(points)} points: give two or more")
        for point in points:
            self._check_point(point, f"a point of load {number}, a {kind},")
        check_nodes(self.graph, [force], f"load {number}, a {kind},")
        check_load(self.graph, [force], f"load {number}, a {kind},")
        self._tendons.append(Tendon(tuple(points), *self.line(), force, number))

    def contact(self, contact: Contact) -> None:
        """Add a compliant contact; its outputs are ``NAME_depth``, ``NAME_normal``, and ``NAME_force_x``, ... ."""
        what = f"contact {contact.name}"
        check_name(contact.name)
        check_unused(contact.name, (other.name for other in self._contacts), "contacts")
        self._check_point(contact.point, f"the point of {what}")
        surface = contact.surface
        self._check_point(surface.point, f"the point of the {surface.kind} of {what}", -1)
        self._check_frame(surface.frame, f"the frame of the {surface.kind} of {what}")
        nodes = [*(getattr(contact, name) for name in Contact.NODES), surface.radius, *surface.velocity]
        nodes += [node for axis in surface.axes for node in axis]
        check_nodes(self.graph, nodes, what)
        if any(self.graph.depends[i] & ACCELERATION for i in nodes):
            raise ModelError(f"{what} holds derivatives of speeds: write it without them")
        self._contacts.append(replace(contact, number=self._number(contact.number)))

    def friction(self, friction: JointFriction) -> None:
        """Add friction of a joint by its reaction."""
        what = f"the friction of joint {friction.joint}"
        check_nodes(self.graph, [getattr(friction, name) for name in JointFriction.NODES], what)
        self._frictions.append(replace(friction, number=self._number(friction.number)))

    def potential(self, energy: int) -> None:
        """Add a potential energy, in place of its forces."""
        what = f"potential {len(self._potentials)}"
        check_nodes(self.graph, [energy], what)
        check_energy(self.graph, [energy], what)
        self._potentials.append(energy)

    def lagrangian(self, node: int) -> None:
        """Set a function L(q, q̇, t, r) in place of bodies; the speeds are q̇, and loads may be given beside it."""
        check_nodes(self.graph, [node], "the Lagrangian")
        if self._lagrangian is not None:
            raise ModelError("a model has one Lagrangian: add the two")
        check_lagrangian(self.graph, node, self.speeds)
        self._lagrangian = node

    def dissipation(self, node: int) -> None:
        """Set a function R(q, q̇, t, r) beside a Lagrangian, of the forces Q = −∂R/∂q̇; the speeds are q̇."""
        check_nodes(self.graph, [node], "the dissipation function")
        if self._lagrangian is None or self._dissipation is not None:
            raise ModelError("one dissipation function stands beside a Lagrangian, which comes first: add several")
        check_dissipation(self.graph, node, self.speeds)
        self._dissipation = node

    # -------------------------------------------------------------- constraints
    def constraint(self, kind: str, node: int, name: str | None = None, written: object = "") -> None:
        """An expression equal to zero.

        Parameters
        ----------
        kind : {"configuration", "velocity", "acceleration"}
        name : str, optional
            Default: its kind and number.
        written : object
            The expression as it was written, for messages: its str, which may be long, is made for these alone.
        """
        if kind not in KINDS:
            raise ModelError(f"there are no constraints of kind {kind!r}: the kinds are {', '.join(KINDS)}")
        if name is None:
            name = f"{kind} constraint {sum(other.kind == kind for other in self.constraints)}"
        check_name(name)
        check_unused(name, (other.name for other in self.constraints), "constraints")
        what = _Subject(name, written)
        check_nodes(self.graph, [node], what)
        if node != self.graph.zero and self._is_rounding(node):
            if written:
                warn(
                    f"{what} is what rounding leaves of numbers of size 1: it is taken for zero, and says nothing of "
                    "motions; leave it out, or if it is meant, multiply it by a large number"
                )
            node = self.graph.zero
        check_constraint(self.graph, kind, node, what)
        self.constraints.append(Constraint(kind, node, name))

    def _is_rounding(self, node: int) -> bool:
        """Test whether a constraint is rounding alone: two axes at right angles, by numbers, leave 5e-17 sin q."""
        return negligible(self.graph, node, [i for p in self.points for _, v in p.position for i in v])

    def row(self, key: Any) -> int | str:
        """A row of G for an attachment: the name of a constraint, or a number less than theirs."""
        names = [each.name for each in self.constraints]
        if isinstance(key, str) and key in names:
            return key
        try:
            row = -1 if isinstance(key, bool) else operator.index(key)
        except TypeError:
            row = -1
        if not 0 <= row < len(names):
            rows = ", ".join(f"{i} ({name})" for i, name in enumerate(names)) or "and there are none"
            raise ModelError(
                f"attach={{{key!r}: ...}}: the key is the number of a row of the constraints, or its name: {rows}"
            )
        return row

    def attach(self, row: Any, kind: str, child: tuple[int, int], parent: tuple[int, int], vector: Vector) -> None:
        """Set where a row of G acts: λ times a vector on the child, and its opposite on the parent.

        Parameters
        ----------
        kind : {"force", "torque"}
        child, parent : (body, point), of a torque (body, frame)
            A parent of −1 is the ground.
        """
        number = self.row(row)
        if kind not in ("force", "torque"):
            raise ModelError(f"attach={{{row}: ...}} is a {kind!r}: it is a force or a torque")
        for side, name, least in ((child, "child", 0), (parent, "parent", GROUND)):
            what = f"the {name} of attach={{{row}: ...}}"
            check_pair(side, what, "(body, point) for a force, (body, frame) for a torque")
            self._check_body(side[0], f"the body of {what}", least)
            if kind == "force":
                self._check_point(side[1], f"the point of {what}")
            else:
                self._check_frame(side[1], f"the frame of {what}")
        self._components(vector, f"attach={{{row}: ...}}")
        self._attachments.append(Attachment(number, kind, *child, *parent, vector))

    def range(self, name: str, low: float, high: float, why: str) -> None:
        """Set the values that a state or an input has in motions; ``why`` is for messages."""
        self._ranges.append(Range(name, low, high, why))

    # ----------------------------------------------------------------- results
    def solved(self, derivatives: Sequence[int]) -> None:
        """Set u̇ of all speeds, in place of bodies; such a model has no energies."""
        check_nodes(self.graph, derivatives, "solved()")
        zero = self.constant(0)
        self._first_order = FirstOrder(tuple(derivatives), zero, zero, zero, zero, ())

    @property
    def n_loads(self) -> int:
        """Number of loads so far, the number of the next one."""
        return self._n_loads

    def named_points(self) -> dict[str, int]:
        """Points by name; of several with one name the one that is shown, as those of links and mass centres are."""
        shown = (*(body.point for body in self.bodies), *self._shown_points)
        return {self.points[i].name: i for i in (*reversed(range(len(self.points))), *shown)}

    def named_frames(self) -> dict[str, int]:
        """Frames by name; of several with one name the one that is shown, as those of links are."""
        return {self.frames[i].name: i for i in (*reversed(range(len(self.frames))), *self._shown_frames)}

    def output(self, name: str, node: int) -> None:
        """Add a result of the kernel ``outputs``."""
        check_name(name)
        check_unused(name, (other for other, _ in self._outputs), "outputs")
        check_nodes(self.graph, [node], f"output {name}")
        self._outputs.append((name, node))

    def show(self, points: Sequence[int] = (), frames: Sequence[int] = ()) -> None:
        """Add points and frames to the results of kernels, beside mass centres, bodies and those of loads."""
        for point in points:
            self._check_point(point, "an item of points")
        for frame in frames:
            self._check_frame(frame, "an item of frames")
        self._shown_points += points
        self._shown_frames += frames

    def origin(self, point: int) -> None:
        """Set the point from which positions are measured; default: the point at rest from which most bodies start."""
        self._check_point(point, "the origin")
        self._origin = point

    def position(self, point: int) -> Vector:
        """Position of a point from the named origin if it is located from that, else from its root."""
        self._check_point(point, "the point of a position")
        location = Ancestry([p.parent for p in self.points])
        up, down = location.path(location.start(point, self._origin), point)
        back = [
            (f, (self.graph.neg(x), self.graph.neg(y), self.graph.neg(z)))
            for i in up
            for f, (x, y, z) in self.points[i].position
        ]
        return (*back, *(part for i in down for part in self.points[i].position))

    def shape(self, body: int, shape: Shape) -> None:
        """Add the shape of a body, for pictures; -1 is the ground."""
        if body != -1:
            self._check_body(body, f"the body of a {shape.kind}")
        self._shapes.append((body, shape))

    def left_out(self, parameters: Sequence[str], inputs: Sequence[str]) -> None:
        """Name symbols that occur only in parts without effect, such as the ground: users may set them."""
        for name in (*parameters, *inputs):
            check_name(name)
        self._left_out = tuple(parameters), tuple(inputs)

    # ------------------------------------------------------------- description
    def derivatives_needed(self) -> dict[int, int]:
        """Number of derivatives in the equations of each input that is no derivative itself.

        Two where an input moves a point, one where it is a velocity.  A potential and a Lagrangian are differentiated
        by coordinates alone, and a coordinate that moves nothing, such as a current, has no acceleration; nor does the
        rate of one enter an acceleration where the velocity of all that it moves was set.
        """
        return self.inputs.orders(self.graph, (*self._differentiated(), (self.inputs.names, 0)))

    def _differentiated(self) -> list[tuple[list[int], int]]:
        """Nodes, and how often the equations of motion differentiate them by time."""
        places = list(self._places())
        moving = set(self.graph.below(list(self._places(velocities_set=False))))
        rates = [rate for x, rate in self.rates.items() if x in moving]
        return [(places, 2), ([*self._velocities(), *rates], 1)]

    def _places(self, velocities_set: bool = True) -> Iterator[int]:
        """Nodes that are differentiated twice; those of points whose velocity was set as well, or without."""
        yield from (i for f in self.frames for row in f.rotation for i in row)
        points = (p for p in self.points if velocities_set or p.velocity is None)
        yield from (i for p in points for _, v in p.position for i in v)
        yield from (each.node for each in self.constraints if each.kind == "configuration")

    def _velocities(self) -> Iterator[int]:
        """Nodes that are differentiated once, with the rates of coordinates."""
        yield from (i for f in self.frames for _, v in f.angular_velocity for i in v)
        yield from (i for p in self.points for _, v in p.velocity or () for i in v)
        yield from (each.node for each in self.constraints if each.kind == "velocity")
        yield from (b.mass for b in self.bodies)
        yield from self._momenta()

    def _momenta(self) -> list[int]:
        """Nodes of ∂L/∂q̇."""
        if self._lagrangian is None:
            return []
        return accumulate(self.graph, [(self._lagrangian, self.graph.one)], list(self.speeds), SPEED)

    def description(self, reactions: Collection[int] = ()) -> Description:
        """Description of all pieces, with the derivatives of inputs and the joints that follow from them.

        ``reactions`` are inputs that the auxiliary equations will determine, which outputs may be named after.
        ModelError if something is missing, or holds a symbol that has no value there; warnings of dependent
        coordinates that nothing determines.
        """
        self._check_complete()
        self._complete_inputs()
        d = self._assembled()
        check_symbols(d, self.multiplier_nodes)
        check_output_names(d, reactions)
        check_dependent(d)
        return d

    def _generalized_forces(self) -> tuple[GeneralizedForce, ...]:
        """The forces −∂R/∂q̇ of a dissipation function."""
        if self._dissipation is None:
            return ()
        slopes = accumulate(self.graph, [(self._dissipation, self.graph.one)], list(self.speeds), SPEED)
        return (GeneralizedForce("the dissipation function", tuple(map(self.graph.neg, slopes)), "dissipation"),)

    def _check_complete(self) -> None:
        if self._lagrangian is not None:
            self._check_lagrangian()
        elif not self.bodies and self._first_order is None and self._needs_bodies:
            raise ModelError("a model needs at least one body that can move: add one")
        elif not self._needs_bodies and self.constraints:
            raise ModelError(
                "bodies=[] takes no constraints, because their rows are compared in the metric of masses: leave "
                "them out, and list all speeds as independent; F_r and partial velocities belong to all of them"
            )
        if not self.speeds:
            raise ModelError("a model has at least one generalized speed: add one")
        for x, name in self.coordinates.items():
            if x not in self.rates:
                raise ModelError(f"coordinate {name} has no rate: give one rate for each coordinate")
        self._check_moving_rates()
        for x, name in self.states.items():
            if x not in self.state_rates:
                raise ModelError(f"state {name} has no rate: give one rate for each state")
        for number, f in enumerate(self.frames):
            turning = not f.oriented or any(self.graph.depends[i] & ~PARAMETER for row in f.rotation for i in row)
            if turning and number not in self._spinning:
                raise ModelError(f"frame {f.name} turns and has no angular velocity: give it one")
        check_ring(self._joints)
        self._check_shapes()

    def _check_moving_rates(self) -> None:
        """Check that rates of coordinates are linear in the speeds, where they make partial velocities or forces."""
        energies = [*self._potentials, *(body.potential for body in self.bodies)]
        moving = set(self.graph.below([*self._places(), *energies]))
        for x, rate in self.rates.items():
            if x in moving:
                check_velocity(self.graph, [rate], f"the rate of coordinate {self.coordinates[x]}")

    def _check_shapes(self) -> None:
        for body, shape in self._shapes:
            for size in shape.sizes:
                if isinstance(size, str) and size not in self.parameters.values():
                    raise ModelError(
                        f"the shape of {self.bodies[body].name} has the size {size}, which is no parameter of the "
                        "model: write a number, or list it in parameters=[...]"
                    )

    def _check_lagrangian(self) -> None:
        if self.bodies:
            names = ", ".join(body.name for body in self.bodies)
            raise ModelError(f"a Lagrangian replaces bodies, and {names} would count twice: give one or the other")
        if self.auxiliary_speeds:
            raise ModelError(
                "auxiliary speeds bring reactions in evidence on points of bodies, and a Lagrangian does not tell "
                "the velocities of points: describe the bodies instead"
            )
        if list(self.rates.values()) != list(self.speeds):
            raise ModelError("the speeds of a Lagrangian are the derivatives of its coordinates, in their order")

    def _complete_inputs(self) -> None:
        needed = self.derivatives_needed()
        for base, name in [(i, self.inputs.names[i]) for i in self.inputs.bases()]:
            chain = self.inputs.chain(base)
            for order in range(len(chain), needed[base] + 1):
                chain.append(self.input(input_name(name, order)))
                self.rate(chain[-2], chain[-1])

    def _shown(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Points and frames of the bodies, then of loads, then those that the user asked for."""
        at = {kind: [load.at for load in self._loads if load.kind == kind] for kind in ("force", "torque")}
        rigid = [b.frame for b in self.bodies if b.frame >= 0]
        points = dict.fromkeys([*(b.point for b in self.bodies), *at["force"], *self._shown_points])
        return tuple(points), tuple(dict.fromkeys([*rigid, *at["torque"], *self._shown_frames]))

    def _assembled(self) -> Description:
        inputs = [i for base in self.inputs.bases() for i in self.inputs.chain(base)]
        place = {node: n for n, node in enumerate(inputs)}
        moving = self.inputs.orders(self.graph, self._differentiated())
        in_state = {x: n for n, x in enumerate((*self.coordinates, *self.speeds, *self.states))}
        shown_points, shown_frames = self._shown()
        return Description(
            graph=self.graph,
            name=self.name,
            coordinates=tuple(self.coordinates),
            rates=tuple(self.rates[x] for x in self.coordinates),
            speeds=tuple(self.speeds),
            accelerations=tuple(map(self.acceleration, self.speeds)),
            time=self.time,
            inputs=tuple(inputs),
            input_rates=tuple(place.get(self.inputs.derivative.get(i, -1), -1) for i in inputs),
            parameters=tuple(self.parameters),
            coordinate_names=tuple(self.coordinates.values()),
            speed_names=tuple(self.speeds.values()),
            input_names=tuple(self.inputs.names[i] for i in inputs),
            parameter_names=tuple(self.parameters.values()),
            prescribed=frozenset(place[i] for base in moving for i in self.inputs.chain(base)),
            frames=tuple(self.frames),
            points=tuple(self.points),
            bodies=tuple(self.bodies),
            loads=tuple(self._loads),
            tendons=tuple(self._tendons),
            contacts=tuple(self._contacts),
            frictions=tuple(self._frictions),
            potentials=tuple(self._potentials),
            outputs=tuple(self._outputs),
            shown_points=shown_points,
            shown_frames=shown_frames,
            origin=self._origin,
            joints=Attachments(self.graph, self.frames, self.points, self.bodies, self._joints).joints,
            unit=tuple(_places(in_state, quaternion) for quaternion in self.units),
            constraints=tuple(self.constraints),
            n_q_dependent=len(self.dependent & self.coordinates.keys()),
            n_u_dependent=len(self.dependent & self.speeds.keys()),
            auxiliary=tuple(self.auxiliary_speeds),
            auxiliary_names=tuple(self.auxiliary_speeds.values()),
            attachments=tuple(self._attachments),
            left_out_parameters=self._left_out[0],
            left_out_inputs=self._left_out[1],
            guess=tuple((n, self.guesses[x]) for x, n in in_state.items() if x in self.guesses),
            lagrangian=self._lagrangian,
            generalized_forces=self._generalized_forces(),
            first_order=self._first_order,
            shapes=tuple(self._shapes),
            functions=tuple(self.functions),
            states=tuple(self.states),
            state_rates=tuple(self.state_rates[x] for x in self.states),
            state_names=tuple(self.states.values()),
            ranges=tuple(self._ranges),
        )


class _Subject:
    """A constraint as the subject of a message."""

    def __init__(self, name: str, written: object) -> None:
        self._name, self._written = name, written

    def __str__(self) -> str:
        text = str(self._written)
        return f"{self._name}, {text}," if text else self._name


def _places(in_state: Mapping[int, int], quaternion: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    e0, e1, e2, e3 = (in_state[x] for x in quaternion)
    return e0, e1, e2, e3
