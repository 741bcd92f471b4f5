# SPDX-License-Identifier: BSD-3-Clause
"""The description of a model, on the graph: the input of the derivation, free of SymPy.

Vectors stand as the user wrote them, as sums of components in several frames; nothing is multiplied out.  Frames and
points are numbered so that each comes after its parent; frame 0 is the inertial frame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kanecore.describe.load_makers import Contact, JointFriction
from kanecore.describe.reaction_terms import ReactionTerms
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Graph
from kanecore.graph.vectors import Matrix, Vector
from kanecore.shapes import Shape

__all__ = [
    "Attachment",
    "Body",
    "Constraint",
    "Description",
    "FirstOrder",
    "Frame",
    "GeneralizedForce",
    "Image",
    "Joint",
    "Load",
    "Point",
    "Range",
    "Tendon",
    "bake",
    "duplicate",
    "fed_back",
    "fingerprint",
    "momentum_name",
    "unlisted",
    "without_auxiliary",
]


@dataclass(frozen=True)
class Frame:
    """Axes that turn.

    Attributes
    ----------
    name : str
    parent : int
        The frame that it is oriented from, −1 of the inertial frame; if it is not ``oriented``, the frame in whose axes
        the components of its vectors are written.
    rotation : Matrix
        ``v_parent = rotation @ v_frame``.
    angular_parent : int
        The frame that ``angular_velocity`` is relative to.
    angular_velocity : Vector
    oriented : bool
        False if the angular velocity alone is known.
    """

    name: str
    parent: int
    rotation: Matrix
    angular_parent: int
    angular_velocity: Vector
    oriented: bool = True


@dataclass(frozen=True)
class Point:
    """A point of a tree of points.

    Attributes
    ----------
    name : str
    parent : int
        The point that it is located from, −1 of the root of its tree.
    position : Vector
        From the parent.
    velocity : Vector or None
        In the inertial frame, if the user set it.
    """

    name: str
    parent: int
    position: Vector
    velocity: Vector | None


@dataclass(frozen=True)
class Body:
    """A particle or a rigid body.

    Attributes
    ----------
    name : str
    point : int
        The mass centre.
    frame : int
        The frame that a rigid body is fixed in, −1 of a particle.
    mass : int
    inertia : tuple of (frame, 3×3 components)
        Tensors whose sum is the inertia about the inertia point.
    about : Vector
        The position of the inertia point from the mass centre.
    potential : int
        Its potential energy, SymPy's ``body.potential_energy``, which replaces no load.
    """

    name: str
    point: int
    frame: int
    mass: int
    inertia: tuple[tuple[int, Matrix], ...]
    about: Vector
    potential: int


@dataclass(frozen=True)
class Load:
    """A force or a torque.

    Attributes
    ----------
    kind : {"force", "torque"}
    at : int
        The point that a force acts at, or the frame that a torque acts on.
    vector : Vector
    number : int
        Its place in the user's list.
    body : int or None
        The body on which it acts, −1 for the inertial frame; None for the owner of the point or frame.
    """

    kind: str
    at: int
    vector: Vector
    number: int
    body: int | None = None


@dataclass(frozen=True)
class GeneralizedForce:
    """Force of which only the generalized forces are known, such as that of a freed constraint or of dissipation.

    Attributes
    ----------
    name : str
    components : tuple of int
        Of the speeds, then of the auxiliary speeds.
    kind : {"configuration", "velocity", "acceleration", "dissipation", "reduction"}
        Of the constraint: one on velocities tells those of auxiliary speeds; or of no constraint.
    """

    name: str
    components: tuple[int, ...]
    kind: str

    @property
    def is_constraint(self) -> bool:
        """Test whether it is the force of a freed constraint."""
        return self.kind not in ("dissipation", "reduction")

    @property
    def title(self) -> str:
        """Name in reports."""
        return f"{self.name} of a freed constraint" if self.is_constraint else self.name


@dataclass(frozen=True)
class Tendon:
    """A force along a line through points; `kanecore.derive.forces.tendons` makes loads of it before all else is
    derived.

    Attributes
    ----------
    points : tuple of int
    length, rate : int
        The symbols of the line's length, and of its rate, in ``force``.
    force : int
        Positive where it pushes.
    number : int
        Its place in the user's list of loads.
    """

    points: tuple[int, ...]
    length: int
    rate: int
    force: int
    number: int


@dataclass(frozen=True)
class Constraint:
    """An expression equal to zero.

    Attributes
    ----------
    kind : {"configuration", "velocity", "acceleration"}
        φ(q, t), c(q, u, t), or an expression linear in u̇.
    node : int
        The expression.
    name : str
        The user's, or kind and number.
    """

    kind: str
    node: int
    name: str


@dataclass(frozen=True)
class Attachment:
    """Action of a row of G: λ times a vector on the child, and its opposite on the parent.

    Attributes
    ----------
    row : int or str
        Number of a row of G, or the name of the constraint that is a row of G, if it is one.
    kind : {"force", "torque"}
    child, parent : int
        Bodies; a parent of −1 is the inertial frame.
    child_at, parent_at : int
        The points that forces act at, or the frames that torques act on.
    vector : Vector
    """

    row: int | str
    kind: str
    child: int
    child_at: int
    parent: int
    parent_at: int
    vector: Vector


@dataclass(frozen=True)
class Joint:
    """Joint that holds a body.

    Attributes
    ----------
    name : str
    parent, child : int
        Bodies; a parent of −1 is the inertial frame.
    point : int
        The joint point.
    free : bool
        Whether the child is located from there by two coordinates or more, so that the joint may hold nothing.
    """

    name: str
    parent: int
    child: int
    point: int
    free: bool = False


@dataclass(frozen=True)
class Range:
    """Values that an output, a state or an input has in motions: an equilibrium beyond them is none.

    Attributes
    ----------
    name : str
    low, high : float
    why : str
        What keeps it there, and how to find another equilibrium, for messages.
    """

    name: str
    low: float
    high: float
    why: str


@dataclass(frozen=True)
class FirstOrder:
    """Equations of motion that are solved already, u̇ = f(q, u, t, r), as the canonical ones are.

    Attributes
    ----------
    derivatives : tuple of int
        The nodes of u̇.
    kinetic, potential, power : int
        T, U, and d(T + U)/dt at u̇.
    lagrangian : int
        L, in q and u.
    pivots : tuple of (pivot, diagonal entry, number of the speed)
        Pivots by which the solution divided: the equations hold where each pivot is not small beside its diagonal
        entry.
    """

    derivatives: tuple[int, ...]
    kinetic: int
    potential: int
    power: int
    lagrangian: int
    pivots: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Description:
    """A whole model.  ``inputs`` and ``parameters`` are the nodes of r and p.

    Attributes
    ----------
    graph : Graph
        Where all scalars are nodes.
    name : str
    coordinates, speeds, accelerations : tuple of int
        The nodes of q, u, u̇; the last ``n_q_dependent`` and ``n_u_dependent`` depend on the others.
    rates : tuple of int
        The nodes of q̇, solved, in q, u and t.
    time : int
    input_rates : tuple of int
        Number of the input that is the derivative of each input, or −1.
    coordinate_names, speed_names, input_names, parameter_names : tuple of str
    prescribed : frozenset of int
        Numbers of the inputs that move frames or points, with their derivatives.
    frames, points, bodies, loads : tuple
        A load's ``number``, not its place here, is that of the user's list.
    potentials : tuple of int
        Potential energies in place of forces.
    lagrangian : int or None
        L(q, q̇, t, r) in place of bodies; the speeds are q̇.
    first_order : FirstOrder or None
        Equations in place of bodies, loads and a Lagrangian.
    outputs : tuple of (name, node)
    shown_points, shown_frames : tuple of int
        Points and frames for the kernels of positions, velocities and partial velocities.
    origin : int
        The point that the user wants positions to be measured from; −1: none was named, and
        `kanecore.derive.position_origin` finds one.
    joints : tuple of Joint
        One for each body, in their order.
    unit : tuple of (e0, e1, e2, e3)
        The places in q of unit quaternions.
    constraints : tuple of Constraint
    n_q_dependent, n_u_dependent : int
    auxiliary : tuple of int
        Speeds that bring reactions in evidence, and are zero.
    auxiliary_names : tuple of str
    attachments : tuple of Attachment
    tendons : tuple of Tendon
    contacts : tuple of load_makers.Contact
    guess : tuple of (place in x, value)
        Where a state on the constraints is looked for.
    left_out_parameters, left_out_inputs : tuple of str
        Names that occur only in parts without effect on the motion.
    generalized_forces : tuple of GeneralizedForce
    shapes : tuple of (body, Shape)
        How bodies look in pictures, and the ground, which is -1; their sizes may be names of parameters.
    functions : tuple of str
        Names of functions in C, whose addresses a compiled model is given in this order.
    loads_of_reactions : tuple of int
        Numbers of loads whose reactions are found with the motion, and may not exist.
    found_with_motion : bool
        These reactions are those of the motion of the model at a state, not of any other u̇.
    reaction_terms : ReactionTerms or None
        Equations by which they are found.
    frictions : tuple of load_makers.JointFriction
    states : tuple of int
        Nodes of z; x = [q, u, z].
    state_rates : tuple of int
        Nodes of ż, in t, x, r, u̇ and multipliers.
    state_names : tuple of str
    ranges : tuple of Range
    """

    graph: Graph
    name: str
    coordinates: tuple[int, ...]
    rates: tuple[int, ...]
    speeds: tuple[int, ...]
    accelerations: tuple[int, ...]
    time: int
    inputs: tuple[int, ...]
    input_rates: tuple[int, ...]
    parameters: tuple[int, ...]
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    input_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    prescribed: frozenset[int]
    frames: tuple[Frame, ...]
    points: tuple[Point, ...]
    bodies: tuple[Body, ...]
    loads: tuple[Load, ...]
    potentials: tuple[int, ...]
    outputs: tuple[tuple[str, int], ...]
    shown_points: tuple[int, ...]
    shown_frames: tuple[int, ...]
    origin: int = -1
    joints: tuple[Joint, ...] = ()
    unit: tuple[tuple[int, int, int, int], ...] = ()
    constraints: tuple[Constraint, ...] = ()
    n_q_dependent: int = 0
    n_u_dependent: int = 0
    auxiliary: tuple[int, ...] = ()
    auxiliary_names: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    contacts: tuple[Contact, ...] = ()
    guess: tuple[tuple[int, float], ...] = ()
    left_out_parameters: tuple[str, ...] = ()
    left_out_inputs: tuple[str, ...] = ()
    lagrangian: int | None = None
    first_order: FirstOrder | None = None
    generalized_forces: tuple[GeneralizedForce, ...] = ()
    shapes: tuple[tuple[int, Shape], ...] = ()
    functions: tuple[str, ...] = ()
    loads_of_reactions: tuple[int, ...] = ()
    found_with_motion: bool = False
    reaction_terms: ReactionTerms | None = None
    frictions: tuple[JointFriction, ...] = ()
    states: tuple[int, ...] = ()
    state_rates: tuple[int, ...] = ()
    state_names: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()

    @property
    def x(self) -> tuple[int, ...]:
        """The nodes of x = [q, u, z]."""
        return (*self.coordinates, *self.speeds, *self.states)

    @property
    def x_names(self) -> tuple[str, ...]:
        """The names of all entries of x."""
        return (*self.coordinate_names, *self.speed_names, *self.state_names)

    @property
    def n_x(self) -> int:
        """Length of x."""
        return len(self.coordinates) + len(self.speeds) + len(self.states)


def momentum_name(coordinate: str) -> str:
    """The name of the generalized momentum of a coordinate."""
    return f"p_{coordinate}"


def rate_name(coordinate: str) -> str:
    """The name of the speed that is the rate of a coordinate."""
    return f"{coordinate}_d"


def fingerprint(d: Description) -> str:
    """Hash that two descriptions share only if they are equal, node by node."""
    g = d.graph
    parts: list[object] = [g.nodes, g.depends, g.unit]
    for each in fields(d):
        value = getattr(d, each.name)
        if each.name != "graph":
            parts.append(sorted(value) if isinstance(value, frozenset) else value)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def duplicate(d: Description) -> Description:
    """Copy of a description on a graph of its own."""
    return replace(d, graph=d.graph.clone())


def bake(d: Description, values: Mapping[str, float]) -> Description:
    """The description with some parameters replaced by numbers: zeros and ones fold.

    ModelError if a number makes something undefined, such as a division by zero.
    """
    try:
        return _baked(d, values)
    except (ArithmeticError, ValueError) as error:
        constants = ", ".join(f"{name} = {values[name]!r}" for name in d.parameter_names if name in values)
        raise ModelError(f"with the constants {constants} the model is not defined: {error}") from None


def _baked(d: Description, values: Mapping[str, float]) -> Description:
    g = Graph()
    swap = {
        node: g.constant(float(values[name]))
        for node, name in zip(d.parameters, d.parameter_names, strict=True)
        if name in values
    }
    g.unit = [tuple(g.symbol(d.graph.nodes[i][1], d.graph.depends[i]) for i in group) for group in d.graph.unit]
    remaining = [i for i, name in enumerate(d.parameter_names) if name not in values]
    image = Image(d.graph, g, swap).description(d)
    return replace(
        image,
        parameters=tuple(image.parameters[i] for i in remaining),
        parameter_names=tuple(d.parameter_names[i] for i in remaining),
        shapes=tuple((body, shape.with_numbers(values)) for body, shape in d.shapes),
    )


def without_auxiliary(d: Description) -> Description:
    """The description with the auxiliary speeds zero, on the same graph; they are still listed."""
    if not d.auxiliary:
        return d
    image = Image(d.graph, d.graph, dict.fromkeys(d.auxiliary, 0))
    return replace(image.description(d), auxiliary=d.auxiliary)


def unlisted(d: Description, symbols: Collection[int]) -> Description:
    """The description without some parameters and inputs in its lists."""
    inputs = [n for n, i in enumerate(d.inputs) if i not in symbols]
    parameters = [n for n, i in enumerate(d.parameters) if i not in symbols]
    place = {n: k for k, n in enumerate(inputs)}
    return replace(
        d,
        inputs=tuple(d.inputs[n] for n in inputs),
        input_names=tuple(d.input_names[n] for n in inputs),
        input_rates=tuple(place.get(d.input_rates[n], -1) for n in inputs),
        prescribed=frozenset(place[n] for n in d.prescribed if n in place),
        parameters=tuple(d.parameters[n] for n in parameters),
        parameter_names=tuple(d.parameter_names[n] for n in parameters),
    )


def fed_back(d: Description, laws: Mapping[int, int]) -> Description:
    """The description with expressions in place of some inputs of loads, outputs and rates of states.

    ModelError if one of these inputs stands in a constraint.
    """
    if not laws:
        return d
    names = dict(zip(d.inputs, d.input_names, strict=True))
    for constraint in d.constraints:
        for node in laws.keys() & set(d.graph.below([constraint.node])):
            raise ModelError(
                f"{names[node]} in {constraint.name} is given by feedback, which is for inputs of loads, rates of "
                "states and outputs: write the law into the constraint"
            )
    return Image(d.graph, d.graph, laws).description(unlisted(d, laws))


def without_bodies(d: Description) -> Description:
    """The description without bodies, loads and the geometry they stand in, for equations that were formed of them."""
    return replace(
        d,
        frames=d.frames[:1],
        points=(),
        bodies=(),
        joints=(),
        loads=(),
        potentials=(),
        generalized_forces=(),
        attachments=(),
        unit=(),
        shown_points=(),
        shown_frames=(),
        origin=-1,
        shapes=(),
        reaction_terms=None,
    )


class Image:
    """Copy of nodes of one graph in another, with replacements for some nodes."""

    def __init__(self, source: Graph, target: Graph, swap: Mapping[int, int]) -> None:
        self._source, self._target, self._swap = source, target, swap

    def nodes(self, items: Sequence[int]) -> tuple[int, ...]:
        return tuple(self._target.copy(self._source, items, self._swap))

    def node(self, item: int) -> int:
        return self.nodes([item])[0]

    def vector(self, v: Vector) -> Vector:
        parts = ((f, self.nodes(components)) for f, components in v)
        return tuple((f, (x, y, z)) for f, (x, y, z) in parts if any((x, y, z)))

    def matrix(self, m: Matrix) -> Matrix:
        rows = [self.nodes(row) for row in m]
        return tuple((row[0], row[1], row[2]) for row in rows)  # type: ignore[return-value]

    def frame(self, f: Frame) -> Frame:
        return replace(f, rotation=self.matrix(f.rotation), angular_velocity=self.vector(f.angular_velocity))

    def point(self, p: Point) -> Point:
        velocity = None if p.velocity is None else self.vector(p.velocity)
        return replace(p, position=self.vector(p.position), velocity=velocity)

    def body(self, b: Body) -> Body:
        return replace(
            b,
            mass=self.node(b.mass),
            inertia=tuple((f, self.matrix(m)) for f, m in b.inertia),
            about=self.vector(b.about),
            potential=self.node(b.potential),
        )

    def tendon(self, x: Tendon) -> Tendon:
        length, rate, force = self.nodes((x.length, x.rate, x.force))
        return replace(x, length=length, rate=rate, force=force)

    def first_order(self, e: FirstOrder) -> FirstOrder:
        energies = self.nodes((e.kinetic, e.potential, e.power, e.lagrangian))
        pivots = tuple((*self.nodes((pivot, diagonal)), speed) for pivot, diagonal, speed in e.pivots)
        return FirstOrder(self.nodes(e.derivatives), *energies, pivots)  # type: ignore[arg-type, call-arg]

    def description(self, d: Description) -> Description:
        """A description with every node replaced by its image."""
        return replace(
            d,
            graph=self._target,
            auxiliary=self.nodes(d.auxiliary),
            coordinates=self.nodes(d.coordinates),
            rates=self.nodes(d.rates),
            speeds=self.nodes(d.speeds),
            accelerations=self.nodes(d.accelerations),
            states=self.nodes(d.states),
            state_rates=self.nodes(d.state_rates),
            time=self.node(d.time),
            inputs=self.nodes(d.inputs),
            parameters=self.nodes(d.parameters),
            frames=tuple(map(self.frame, d.frames)),
            points=tuple(map(self.point, d.points)),
            bodies=tuple(map(self.body, d.bodies)),
            loads=tuple(replace(x, vector=self.vector(x.vector)) for x in d.loads),
            potentials=self.nodes(d.potentials),
            generalized_forces=tuple(replace(x, components=self.nodes(x.components)) for x in d.generalized_forces),
            outputs=tuple((name, self.node(node)) for name, node in d.outputs),
            constraints=tuple(replace(each, node=self.node(each.node)) for each in d.constraints),
            attachments=tuple(replace(a, vector=self.vector(a.vector)) for a in d.attachments),
            tendons=tuple(map(self.tendon, d.tendons)),
            lagrangian=None if d.lagrangian is None else self.node(d.lagrangian),
            first_order=None if d.first_order is None else self.first_order(d.first_order),
            reaction_terms=None if d.reaction_terms is None else d.reaction_terms.mapped(self.nodes),
        )
