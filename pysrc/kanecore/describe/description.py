# SPDX-License-Identifier: BSD-3-Clause
"""What a model says, on the graph: the input of the derivation, free of SymPy.

Vectors stand as the user wrote them, as sums of components in several frames; nothing is multiplied out.  Frames and
points are numbered so that each comes after its parent; frame 0 is the inertial frame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kanecore.errors import ModelError
from kanecore.graph.scalars import Graph

__all__ = [
    "Attachment",
    "Body",
    "Components",
    "Constraint",
    "Description",
    "Frame",
    "Image",
    "Joint",
    "Load",
    "Matrix",
    "Point",
    "Tendon",
    "Vector",
    "bake",
    "duplicate",
    "fingerprint",
    "without_auxiliary",
]

Components = tuple[int, int, int]
Matrix = tuple[Components, Components, Components]
Vector = tuple[tuple[int, Components], ...]  # ((frame, components in it), ...)


@dataclass(frozen=True)
class Frame:
    """``v_parent = rotation @ v_frame``; ``angular_velocity`` is that of the frame in ``angular_parent``.

    Of a frame that is not ``oriented`` the angular velocity alone is known; its components are those in its parent.
    """

    name: str
    parent: int
    rotation: Matrix
    angular_parent: int
    angular_velocity: Vector
    oriented: bool = True


@dataclass(frozen=True)
class Point:
    """A point at ``position`` from ``parent`` (−1: the root of its tree), with the velocity the user set, if any."""

    name: str
    parent: int
    position: Vector
    velocity: Vector | None


@dataclass(frozen=True)
class Body:
    """A particle (``frame`` −1) or a rigid body with its inertia tensor about ``inertia_point``.

    ``inertia`` holds ``(frame, 3×3 components)`` pairs whose sum it is; ``about`` is the position of the inertia
    point from the mass centre; ``potential`` is SymPy's ``body.potential_energy``.
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
    """A force at a point or a torque on a frame; ``number`` is its place in the user's list."""

    kind: str  # "force" or "torque"
    at: int
    vector: Vector
    number: int


@dataclass(frozen=True)
class Tendon:
    """A force along a line through points, positive where it pushes; ``length`` and ``rate`` stand for the line's.

    ``kanecore.derive.tendons`` makes loads of it, before anything else is derived.
    """

    points: tuple[int, ...]
    length: int
    rate: int
    force: int
    number: int


@dataclass(frozen=True)
class Constraint:
    """An expression that vanishes: φ(q, t) ("configuration"), c(q, u, t) ("velocity"), or one linear in u̇
    ("acceleration"); ``name`` says which of the user's it is.
    """

    kind: str
    node: int
    name: str


@dataclass(frozen=True)
class Attachment:
    """How a row of G acts: λ times a vector as a force at a point of the child, or a torque on its frame, and its
    opposite on the parent (−1: the inertial frame).
    """

    row: int
    kind: str  # "force" or "torque"
    child: int
    child_at: int
    parent: int
    parent_at: int
    vector: Vector


@dataclass(frozen=True)
class Joint:
    """What holds a body: number of the parent (−1: the inertial frame) and the child, and the joint point.

    A ``free`` joint is where the body is located from, by two coordinates or more; what it holds, the loads tell.
    """

    name: str
    parent: int
    child: int
    point: int
    free: bool = False


@dataclass(frozen=True)
class Description:
    """A whole model.

    ``coordinates``, ``rates``, ``speeds``, ``accelerations`` are the nodes of q, q̇ (solved, in q, u, t), u, u̇;
    ``inputs`` those of r; ``input_rates[i]`` is the number of the input that is the derivative of input i, or −1.
    ``joints`` has one joint for each body, in their order; ``unit`` holds the places in q of unit quaternions.
    Of the coordinates and speeds the last ``n_q_dependent`` and ``n_u_dependent`` are dependent; ``auxiliary`` are the
    speeds that bring reactions in evidence and are zero themselves.
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
    joints: tuple[Joint, ...] = ()
    unit: tuple[tuple[int, int, int, int], ...] = ()
    constraints: tuple[Constraint, ...] = ()
    n_q_dependent: int = 0
    n_u_dependent: int = 0
    auxiliary: tuple[int, ...] = ()
    auxiliary_names: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    guess: tuple[tuple[int, float], ...] = ()  # (place in x, value)
    left_out_parameters: tuple[str, ...] = ()  # names that stand only in what has no part in the motion
    left_out_inputs: tuple[str, ...] = ()


def fingerprint(d: Description) -> str:
    """A hash that two descriptions share only if they say the same, node by node."""
    g = d.graph
    parts: list[object] = [g.nodes, g.depends, g.unit]
    for each in fields(d):
        value = getattr(d, each.name)
        if each.name != "graph":
            parts.append(sorted(value) if isinstance(value, frozenset) else value)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def duplicate(d: Description) -> Description:
    """The same description on a graph of its own."""
    return replace(d, graph=d.graph.clone())


def bake(d: Description, values: Mapping[str, float]) -> Description:
    """The description with some parameters replaced by numbers: zeros and ones fold.

    ModelError where a number makes something undefined, such as a division by zero.
    """
    try:
        return _baked(d, values)
    except (ArithmeticError, ValueError) as error:
        given = ", ".join(f"{name} = {values[name]!r}" for name in d.parameter_names if name in values)
        raise ModelError(f"with the constants {given} the model is not defined: {error}") from None


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
    )


def without_auxiliary(d: Description) -> Description:
    """The description with the auxiliary speeds zero, on the same graph; they are still listed."""
    if not d.auxiliary:
        return d
    image = Image(d.graph, d.graph, dict.fromkeys(d.auxiliary, 0))
    return replace(image.description(d), auxiliary=d.auxiliary)


class Image:
    """Nodes of one graph in another, where some have a replacement, and what is made of them."""

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
            time=self.node(d.time),
            inputs=self.nodes(d.inputs),
            parameters=self.nodes(d.parameters),
            frames=tuple(map(self.frame, d.frames)),
            points=tuple(map(self.point, d.points)),
            bodies=tuple(map(self.body, d.bodies)),
            loads=tuple(replace(x, vector=self.vector(x.vector)) for x in d.loads),
            potentials=self.nodes(d.potentials),
            outputs=tuple((name, self.node(node)) for name, node in d.outputs),
            constraints=tuple(replace(each, node=self.node(each.node)) for each in d.constraints),
            attachments=tuple(replace(a, vector=self.vector(a.vector)) for a in d.attachments),
            tendons=tuple(map(self.tendon, d.tendons)),
        )
