# SPDX-License-Identifier: BSD-3-Clause
"""Kinematic tree of a robot: each joint is one frame, whose axis is one of the frame's own; fixed links are merged.

Names: the coordinates, speeds and efforts of joint J are ``q_J``, ``u_J``, ``tau_J``.  Of several they end in ``_x``,
``_y``, ``_z`` for displacements, ``_e0`` to ``_e3`` for a unit quaternion, ``_rx``, ``_ry``, ``_rz`` for rotations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.builder import Builder
from kanecore.describe.description import Description
from kanecore.describe.joints import GROUND, Attachments
from kanecore.describe.load_makers import Contact, Surface
from kanecore.describe.reading import Reading
from kanecore.errors import ModelError, unknown_name, warn
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.vectors import Components, Matrix, Vector, cross, dot, neg
from kanecore.shapes import Box, Cylinder, Shape, Sphere

from .ground_contacts import ALL_SHAPES, laws, touching
from .urdf_file import BEYOND, Closure, Inertial, Joint, LineSpring, Pose, Robot, finite, product
from .velocity_rows import constrain_velocities

__all__ = ["described_robot"]

Array = npt.NDArray[np.float64]

_AXES = np.eye(3)
_BASE = "base"  # the joint of a floating base
_LOOPS = ("point", "weld")
_AXES_OF = ("world", "link")
_ROUNDING = 1e-15  # of an inertia about a point, from which that about the mass centre is found
_SHAPES: dict[str, Callable[..., Shape]] = {"box": Box, "cylinder": Cylinder, "sphere": Sphere}


@dataclass
class _Place:
    """Place of a link: in a frame of the description, from a point of it."""

    frame: int
    point: int
    pose: Pose  # of the link in that frame, from that point
    carrier: str  # the link that the frame was made for
    own_frame: int = -1  # of the link itself, as it is named
    own_point: int = -1


@dataclass(frozen=True)
class _End:
    """A frame and a point of a link, at which it is joined to another one."""

    frame: int
    point: int


@dataclass
class _Carried:
    """Masses that move with a frame: their sum, first moments and inertias about the frame's point."""

    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))


def described_robot(
    robot: Robot,
    *,
    floating_base: bool,
    gravity: Sequence[float],
    parameters: bool,
    damping: bool,
    friction: float | None,
    loops: Sequence[Any],
    contacts: Any = None,
    forces: Any = (),
    torques: Any = (),
    velocity_constraints: Any = (),
) -> Reading:
    """The description of a robot, values of its parameters, and notes for the report.

    The options are those of `Model.from_urdf`.
    """
    if not isinstance(loops, Sequence) or isinstance(loops, (str, bytes)):
        raise ModelError(
            f'loops is {loops!r}; it must be a list, such as [("left foot", "right foot", "point")], or []'
        )
    assembly = _Assembly(robot, gravity, parameters, damping, friction)
    assembly.place_root(floating_base)
    for joint in robot.joints:
        assembly.add(joint)
    assembly.warn_of_massless()
    assembly.add_bodies()
    for closure in robot.closures:
        assembly.close_by(closure)
    for number, loop in enumerate(loops):
        assembly.close(number, loop)
    assembly.attach()
    for spring in robot.springs:
        assembly.stretch(spring)
    assembly.touch(contacts)
    assembly.push(forces)
    assembly.twist(torques)
    constrain_velocities(assembly.builder, velocity_constraints)
    return Reading(assembly.description(), values=assembly.values, folder=robot.folder, notes=tuple(assembly.notes()))


class _Assembly:
    """A description, joint by joint."""

    def __init__(
        self,
        robot: Robot,
        gravity: Sequence[float],
        parameters: bool,
        damping: bool,
        friction: float | None,
    ) -> None:
        self._robot = robot
        try:
            components = [] if isinstance(gravity, (str, bytes)) else [finite(g) for g in gravity]
        except TypeError:  # one number, None
            components = []
        self._gravity = [g for g in components if g is not None]
        if len(components) != 3 or len(self._gravity) != 3:
            raise ModelError(f"gravity is {gravity!r}; it must be three finite numbers, such as (0, 0, -9.81)")
        turning = finite(friction)
        if friction is not None and (turning is None or turning * BEYOND < 1.0):
            raise ModelError(
                f"friction is {friction!r}; it is None, or the speed over which dry friction turns, such as 0.01"
            )
        self._named, self._damping, self._friction = parameters, damping, turning
        self.builder = Builder(robot.name, "world" if "world" not in robot.links else "inertial")
        self.values: dict[str, float] = {}
        self._collides = False  # the shapes of the file touch the ground
        self._places: dict[str, _Place] = {}
        self._moved_by = {joint.child: joint.name for joint in robot.joints}
        self._carried: dict[str, _Carried] = {}
        self._world = 0  # the point at rest
        self._states: dict[str, tuple[int, int]] = {}  # nodes of q and u of joints that have one each
        self._actions: list[tuple[str, str, int, int, Vector]] = []  # of rows of loops, as Builder.attach takes them

    def description(self) -> Description:
        """Description; joints that follow from points get the name of the file's joint that moves the link."""
        d = self.builder.description()
        joints = (replace(joint, name=self._moved_by[d.bodies[joint.child].name]) for joint in d.joints)
        return replace(d, joints=tuple(joints))

    def notes(self) -> Iterator[str]:
        """Notes on parts that the description lacks."""
        if not any(self._gravity):
            yield "no gravity"
        losses = {"damping": self._damping, "friction": self._friction is not None}
        for loss, read in losses.items():
            joints = [joint.name for joint in self._robot.joints if getattr(joint, loss)]
            if joints and not read:
                how = "damping=True" if loss == "damping" else "friction=0.01, the speed over which it turns,"
                others = f" and {len(joints) - 1} more" * (len(joints) > 1)
                yield f"{loss} of joint {joints[0]}{others} is ignored: {how} reads it"
        n = self._robot.n_collisions
        if n and not self._collides:
            elements = "1 collision element of the file is" if n == 1 else f"{n} collision elements of the file are"
            yield f"{elements} ignored: nothing is in contact but what loops=[...] and contacts={...} hold"

    # --------------------------------------------------------------------------------------------------- places

    def place_root(self, floating: bool) -> None:
        b, root = self.builder, self._robot.root
        here = Pose(np.eye(3), np.zeros(3))
        if not floating:
            origin = self._world = b.point(root, velocity=())
            b.origin(origin)
            frame = b.frame(root, b.inertial)
            b.angular_velocity(frame, ())
            self._places[root] = _Place(b.inertial, origin, here, root, frame, origin)
            b.show([origin], [frame])
            return
        self._world = b.point("world", velocity=())
        b.origin(self._world)
        taken = {joint.name for joint in self._robot.joints}
        name = next(n for n in (_BASE, "floating_base", "the floating base") if n not in taken)
        self._moved_by[root] = name
        self._places[root] = self._floating(root, name, b.inertial, 0, here, efforts=False)

    def add(self, joint: Joint) -> None:
        """A joint and its child."""
        parent = self._places[joint.parent]
        at = parent.pose @ joint.origin
        if joint.kind == "fixed":
            self._places[joint.child] = self._fixed(joint.child, parent, at)
        elif joint.kind == "spherical":
            self._places[joint.child] = self._spherical(joint, parent, at)
        elif joint.kind == "floating":
            self._places[joint.child] = self._floating(joint.child, joint.name, parent.frame, parent.point, at)
        elif joint.kind == "planar":
            self._places[joint.child] = self._planar(joint, parent, at)
        else:
            self._places[joint.child] = self._single(joint, parent, at)

    def _fixed(self, link: str, parent: _Place, at: Pose) -> _Place:
        place = _Place(parent.frame, parent.point, at, parent.carrier)
        self._name(link, place)
        return place

    def _name(self, link: str, place: _Place) -> None:
        """Give a link a frame and a point of its own, if it has none."""
        b = self.builder
        if place.own_frame < 0:
            place.own_frame = b.frame(link, place.frame, _numbers(b, place.pose.rotation))
            b.angular_velocity(place.own_frame, ())
        if place.own_point < 0:
            place.own_point = b.point(link, place.point, _vector(b, place.frame, place.pose.position))
        b.show([place.own_point], [place.own_frame])

    def _single(self, joint: Joint, parent: _Place, at: Pose) -> _Place:
        """Add a joint with one coordinate, about or along an axis of its frame."""
        b = self.builder
        turns = joint.kind != "prismatic"
        q, u = self._state(joint)
        own = _own_axes(joint.axis)
        k, sign = _along(product(own, joint.axis))
        along = self._axis_vector(k, sign, u)
        fixed = product(at.rotation, own.T)  # v_parent's frame = fixed @ v_own, where q = 0
        rotation = _product(b, fixed, _turn(b, k, sign, q)) if turns else _numbers(b, fixed)
        as_named = np.array_equal(own, np.eye(3))
        frame = b.frame(joint.child if as_named else f"{joint.name} axes", parent.frame, rotation)
        b.angular_velocity(frame, ((frame, along),) if turns else ())
        position = _vector(b, parent.frame, at.position)
        reaction = -1
        if not turns:
            reaction = b.point(f"{joint.name} origin", parent.point, position)
            position = (*position, (frame, self._axis_vector(k, sign, q)))
        point = b.point(joint.child, parent.point, position)
        effort = self._effort(joint, q, u)
        load = ((frame, self._axis_vector(k, sign, effort)),)
        opposite = ((frame, self._axis_vector(k, -sign, effort)),)
        if turns:
            b.torque(frame, load)
            if parent.frame:
                b.torque(parent.frame, opposite)
        else:
            b.force(point, load)
            if parent.frame:
                b.force(reaction, opposite)
        place = _Place(frame, point, Pose(own, np.zeros(3)), joint.child, frame if as_named else -1, point)
        self._name(joint.child, place)
        return place

    def _axis_vector(self, k: int, sign: float, node: int) -> Components:
        x = node if sign > 0.0 else self.builder.graph.neg(node)
        return (x, 0, 0) if k == 0 else (0, x, 0) if k == 1 else (0, 0, x)

    def _planar(self, joint: Joint, parent: _Place, at: Pose) -> _Place:
        """Add two displacements in the plane normal to the axis, and a turn about it; speeds in the child's axes."""
        b, g, name = self.builder, self.builder.graph, joint.name
        own = _own_axes(joint.axis, k=2)
        x, y, r = (b.coordinate(f"q_{name}_{each}") for each in ("x", "y", "r"))
        vx, vy, wr = (b.speed(f"u_{name}_{each}") for each in ("x", "y", "r"))
        c, s = g.cos(r), g.sin(r)
        b.rate(x, g.sub(g.mul(c, vx), g.mul(s, vy)))
        b.rate(y, g.add(g.mul(s, vx), g.mul(c, vy)))
        b.rate(r, wr)
        fixed = product(at.rotation, own.T)
        plane = b.frame(f"{name} plane", parent.frame, _numbers(b, fixed))
        b.angular_velocity(plane, ())
        as_named = np.array_equal(own, np.eye(3))
        frame = b.frame(joint.child if as_named else f"{name} axes", plane, _turn(b, 2, 1.0, r))
        b.angular_velocity(frame, ((frame, (0, 0, wr)),))
        origin = b.point(f"{name} origin", parent.point, _vector(b, parent.frame, at.position))
        point = b.point(joint.child, origin, ((plane, (x, y, 0)),))
        fx, fy, tr = (b.input(f"tau_{name}_{each}") for each in ("x", "y", "r"))
        self._pair((frame, point), (plane, origin), (x, y, 0), (fx, fy, 0), (0, 0, tr), parent.frame)
        place = _Place(frame, point, Pose(own, np.zeros(3)), joint.child, frame if as_named else -1, point)
        self._name(joint.child, place)
        return place

    def _spherical(self, joint: Joint, parent: _Place, at: Pose) -> _Place:
        """Add a ball joint: a unit quaternion, and the angular velocity in the child's axes."""
        b, name = self.builder, joint.name
        e = [b.coordinate(f"q_{name}_e{i}") for i in range(4)]
        b.unit(*e)
        w = [b.speed(f"u_{name}_r{each}") for each in "xyz"]
        _turn_quaternion(b, e, w)
        frame = b.frame(joint.child, parent.frame, _product(b, at.rotation, _of_quaternion(b, e)))
        b.angular_velocity(frame, ((frame, _triple(w)),))
        point = b.point(joint.child, parent.point, _vector(b, parent.frame, at.position))
        torque = _triple([b.input(f"tau_{name}_r{each}") for each in "xyz"])
        b.torque(frame, ((frame, torque),))
        if parent.frame:
            b.torque(parent.frame, ((frame, neg(b.graph, torque)),))
        place = _Place(frame, point, Pose(np.eye(3), np.zeros(3)), joint.child, frame, point)
        self._name(joint.child, place)
        return place

    def _floating(
        self, link: str, name: str, parent_frame: int, parent_point: int, at: Pose, efforts: bool = True
    ) -> _Place:
        """Add a floating joint: six speeds in the link's axes, a position in the joint's, a unit quaternion."""
        b, g = self.builder, self.builder.graph
        position = [b.coordinate(f"q_{name}_{each}") for each in "xyz"]
        e = [b.coordinate(f"q_{name}_e{i}") for i in range(4)]
        b.unit(*e)
        v = [b.speed(f"u_{name}_{each}") for each in "xyz"]
        w = [b.speed(f"u_{name}_r{each}") for each in "xyz"]
        turned = _of_quaternion(b, e)
        for i in range(3):
            b.rate(position[i], dot(g, turned[i], v))
        _turn_quaternion(b, e, w)
        joint_frame, joint_point = parent_frame, parent_point
        if not (np.array_equal(at.rotation, np.eye(3)) and not at.position.any()):
            joint_frame = b.frame(f"{name} origin", parent_frame, _numbers(b, at.rotation))
            b.angular_velocity(joint_frame, ())
            joint_point = b.point(f"{name} origin", parent_point, _vector(b, parent_frame, at.position))
        frame = b.frame(link, joint_frame, turned)
        b.angular_velocity(frame, ((frame, (w[0], w[1], w[2])),))
        point = b.point(link, joint_point, ((joint_frame, (position[0], position[1], position[2])),))
        place = _Place(frame, point, Pose(np.eye(3), np.zeros(3)), link, frame, point)
        if efforts:
            f = [b.input(f"tau_{name}_{each}") for each in "xyz"]
            t = [b.input(f"tau_{name}_r{each}") for each in "xyz"]
            where = position[0], position[1], position[2]
            force, torque = (f[0], f[1], f[2]), (t[0], t[1], t[2])
            self._pair((frame, point), (joint_frame, joint_point), where, force, torque, parent_frame)
        self._name(link, place)
        return place

    def _pair(
        self,
        child: tuple[int, int],
        joint: tuple[int, int],
        where: Components,
        force: Components,
        torque: Components,
        parent: int,
    ) -> None:
        """Add a force and a torque on a child, in its axes, and the opposite ones on the parent.

        ``child`` and ``joint`` are frame and point each, ``where`` is the child from the joint, in axes of that.
        """
        b, g = self.builder, self.builder.graph
        frame, point = child
        b.force(point, ((frame, force),))
        b.torque(frame, ((frame, torque),))
        if parent == b.inertial:
            return
        turned = b.frames[frame].rotation  # relative to that of the joint
        fx, fy, fz = (g.neg(dot(g, row, force)) for row in turned)
        tx, ty, tz = (g.neg(node) for node in torque)
        b.force(joint[1], ((joint[0], (fx, fy, fz)),))
        b.torque(parent, ((frame, (tx, ty, tz)), (joint[0], cross(g, where, (fx, fy, fz)))))

    # --------------------------------------------------------------------------------------- states and efforts

    def _state(self, joint: Joint) -> tuple[int, int]:
        """Nodes of q and u; a joint that follows another one has those of that joint, scaled."""
        b, g = self.builder, self.builder.graph
        if joint.name in self._states:  # another one follows it, and came before
            return self._states[joint.name]
        if joint.mimic is None:
            q, u = b.coordinate(f"q_{joint.name}"), b.speed(f"u_{joint.name}")
            b.rate(q, u)
        else:
            leader_q, leader_u = self._leader(joint)
            factor = g.constant(joint.mimic.multiplier)
            q = g.add(g.mul(factor, leader_q), g.constant(joint.mimic.offset))
            u = g.mul(factor, leader_u)
        self._states[joint.name] = q, u
        return q, u

    def _leader(self, joint: Joint) -> tuple[int, int]:
        assert joint.mimic is not None
        if joint.mimic.joint not in self._states:  # it comes later
            self._state(next(other for other in self._robot.joints if other.name == joint.mimic.joint))
        return self._states[joint.mimic.joint]

    def _effort(self, joint: Joint, q: int, u: int) -> int:
        """Effort of the actuator and of the joint's spring, less its damping and friction."""
        b, g = self.builder, self.builder.graph
        effort = b.input(f"tau_{joint.name}")
        if joint.stiffness:
            stretched = g.sub(q, _number(b, joint.rest))
            effort = g.sub(effort, g.mul(g.constant(joint.stiffness), stretched))
        if self._damping and joint.damping:
            effort = g.sub(effort, g.mul(g.constant(joint.damping), u))
        if self._friction is not None and joint.friction:
            turned = g.call(Op.TANH, g.mul(g.constant(1.0 / self._friction), u))
            effort = g.sub(effort, g.mul(g.constant(joint.friction), turned))
        return effort

    # --------------------------------------------------------------------------------------------------- bodies

    def warn_of_massless(self) -> None:
        """Warn of joints that carry neither mass nor inertia."""
        carries = {name for name, link in self._robot.links.items() if _resists(link.inertial)}
        for joint in reversed(self._robot.joints):
            if joint.child in carries:
                carries.add(joint.parent)
            elif joint.kind != "fixed" and joint.mimic is None:
                warn(
                    f"link {joint.child!r} moves by joint {joint.name!r}, and nothing there has mass or inertia: its "
                    "acceleration is not determined, and asking for it will be a SingularError"
                )

    def add_bodies(self) -> None:
        for name, link in self._robot.links.items():
            place = self._places[name]
            if place.frame == 0:
                self._show(-1, name, place.pose, np.zeros(3))
                continue
            if link.inertial is None:
                continue
            if self._named:
                self._named_body(name, link.inertial, place)
            else:
                _carry(self._carried.setdefault(place.carrier, _Carried()), link.inertial, place.pose)
        for name, carried in self._carried.items():
            self._merged_body(name, carried)

    def _merged_body(self, name: str, carried: _Carried) -> None:
        """All that moves with one frame, as numbers."""
        b, place = self.builder, self._places[name]
        centre = carried.moment / carried.mass if carried.mass > 0.0 else np.zeros(3)
        central = carried.inertia - carried.mass * (product(centre, centre) * np.eye(3) - np.outer(centre, centre))
        if np.max(np.abs(central)) <= _ROUNDING * np.max(np.abs(carried.inertia)):
            central = np.zeros((3, 3))  # points of mass in one place
        if not carried.mass and not central.any():
            return
        point = b.point(f"{name} mass centre", place.point, _vector(b, place.frame, centre))
        mass = b.constant(carried.mass)
        tensor = ((place.frame, _numbers(b, 0.5 * (central + central.T))),)
        body = b.body(name, point, mass, frame=place.frame, inertia=tensor)
        self._weigh(point, mass)
        for link in self._robot.links:
            if self._places[link].carrier == name:
                self._show(body, link, self._places[link].pose, centre)

    def _show(self, body: int, link: str, pose: Pose, centre: Array) -> None:
        """Add the shapes of a link to pictures of a body (−1: the ground), with the pose in its axes."""
        for visual in self._robot.links[link].visuals:
            at = pose @ visual.pose
            if visual.kind == "mesh":
                shape = Shape("Mesh", visual.sizes, file=visual.file)
            else:
                shape = _SHAPES[visual.kind](*visual.sizes)
            self.builder.shape(body, shape.moved(at.rotation, at.position - centre))

    def _named_body(self, name: str, inertial: Inertial, place: _Place) -> None:
        """A link with parameters of its own."""
        b = self.builder

        def parameter(letter: str, value: float) -> int:
            self.values[f"{letter}_{name}"] = float(value)
            return b.parameter(f"{letter}_{name}")

        mass = parameter("m", inertial.mass)
        x, y, z = (parameter(f"c{k}", v) for k, v in zip("xyz", inertial.centre, strict=True))
        xx, xy, xz, yy, yz, zz = (
            parameter(f"I{'xyz'[i]}{'xyz'[j]}", inertial.inertia[i, j])
            for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        )
        frame = place.own_frame
        point = b.point(f"{name} mass centre", place.own_point, ((frame, (x, y, z)),))
        tensor = ((frame, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))),)
        body = b.body(name, point, mass, frame=frame, inertia=tensor)
        self._weigh(point, mass)
        self._show(body, name, Pose(np.eye(3), np.zeros(3)), inertial.centre)

    def _weigh(self, point: int, mass: int) -> None:
        b, g = self.builder, self.builder.graph
        x, y, z = (g.mul(mass, g.constant(component)) if component else 0 for component in self._gravity)
        if any(self._gravity):
            b.force(point, ((b.inertial, (x, y, z)),))

    # ---------------------------------------------------------------------------------------------------- loops

    def close(self, number: int, loop: Any) -> None:
        """Close a loop: (link, link, "point") or (link, link, "weld"), or (link, place in the world, "point")."""
        if not isinstance(loop, Sequence) or isinstance(loop, str) or len(loop) != 3 or str(loop[2]) not in _LOOPS:
            raise ModelError(
                f'loops[{number}] is {loop!r}; it must be (link, link, "point") or (link, link, "weld"), or with a '
                'place in the world (link, (x, y, z), "point")'
            )
        first, second, kind = loop
        if isinstance(second, str):
            name, places = f"{kind} of {first} and {second}", [self._known(first), self._known(second)]
            _refuse_same(name, places)
            ends = [_End(place.own_frame, place.own_point) for place in places]
            self._join(ends, name, "" if kind == "point" else "xyz")
        else:
            self._pin(number, loop)

    def close_by(self, closure: Closure) -> None:
        """Close a loop by a joint of the file, whose rows begin with its name."""
        _refuse_same(closure.name, [self._known(link) for link, _ in closure.ends])
        ends = [self._end(link, pose, closure.name) for link, pose in closure.ends]
        turned = "" if closure.kind == "point" else "xyz"
        if closure.axis is not None:  # of axes whose z is that of the joint
            turned, own = "xy", _own_axes(closure.axis, k=2)
            ends = [_End(self._turned(end.frame, own.T, f"{closure.name} axes"), end.point) for end in ends]
        self._join(ends, closure.name, turned)

    def stretch(self, spring: LineSpring) -> None:
        """Add a spring and damper on the line between two points."""
        b, g = self.builder, self.builder.graph
        points = [self._end(link, pose, spring.name).point for link, pose in spring.ends]
        length, rate = b.line()
        stretched = g.sub(length, _number(b, spring.rest))
        pull = g.add(g.mul(_number(b, spring.stiffness), stretched), g.mul(_number(b, spring.damping), rate))
        b.tendon(points, g.neg(pull), kind="spring")

    def _end(self, link: str, pose: Pose, name: str) -> _End:
        """A pose in the axes of a link."""
        place, point = self._known(link), self._known(link).own_point
        if pose.position.any():
            vector = _vector(self.builder, place.own_frame, pose.position)
            point = self.builder.point(f"{name} on {link}", point, vector)
        return _End(self._turned(place.own_frame, pose.rotation, f"{name} on {link}"), point)

    def _turned(self, frame: int, rotation: Array, name: str) -> int:
        """A frame that is fixed in another one."""
        if np.array_equal(rotation, np.eye(3)):
            return frame
        turned = self.builder.frame(name, frame, _numbers(self.builder, rotation))
        self.builder.angular_velocity(turned, ())
        return turned

    def _known(self, link: Any) -> _Place:
        if not isinstance(link, str) or link not in self._places:
            raise ModelError(unknown_name("link is called", str(link), self._places).args[0])
        return self._places[link]

    def _join(self, ends: Sequence[_End], name: str, turned: str) -> None:
        """Make two points coincide, and axes agree as well: rows of rotations about axes of the frames.

        A row of points is a component of the second from the first, in the axes of the first; its multiplier is that of
        the force on the second.  A row of rotations is the product of two axes, which are normal to each other; its
        multiplier is that of the torque on the second.
        """
        b, g, (first, second) = self.builder, self.builder.graph, ends
        p, q = self._position(first.point), self._position(second.point)
        between = [g.sub(y, x) for x, y in zip(p, q, strict=True)]
        own = self._orientation(first.frame)
        for k in range(3):
            axis = [own[i][k] for i in range(3)]
            row = f"{name}, {'xyz'[k]}"
            b.constraint("configuration", dot(g, axis, between), row)
            self._actions.append((row, "force", second.point, first.point, ((first.frame, _axis_nodes(g, k)),)))
            # the row turns with the first: where the points are apart, its force on it acts at the second point
            self._actions.append((row, "torque", first.frame, 0, ((0, cross(g, _triple(axis), _triple(between))),)))
        other = self._orientation(second.frame)
        for about, i, j, sign in (("x", 2, 1, -1), ("y", 2, 0, 1), ("z", 0, 1, 1)):
            if about not in turned:
                continue
            a, c = _triple([own[k][j] for k in range(3)]), _triple([other[k][i] for k in range(3)])
            a = a if sign > 0 else neg(g, a)
            row = f"{name}, {about} rotation"
            b.constraint("configuration", dot(g, a, c), row)
            self._actions.append((row, "torque", second.frame, first.frame, ((0, cross(g, c, a)),)))

    def _pin(self, number: int, loop: Any) -> None:
        """Pin the origin of a link to a place in the world, by forces in the world's axes."""
        name, place, kind = loop
        link = self._known(name)
        spot = _spot(place)
        if kind != "point" or spot is None:
            raise ModelError(
                f'loops[{number}] is {loop!r}; a link comes with another one, or with three finite numbers and "point"'
            )
        b, g = self.builder, self.builder.graph
        for k, (x, value) in enumerate(zip(self._position(link.own_point), spot.tolist(), strict=True)):
            row = f"{name}, {'xyz'[k]}"
            b.constraint("configuration", g.sub(x, _number(b, float(value))), row)
            self._actions.append((row, "force", link.own_point, self._world, ((0, _axis_nodes(g, k)),)))

    def attach(self) -> None:
        """Say on which bodies the rows of loops act, for reactions."""
        b = self.builder
        owners = Attachments(b.graph, b.frames, b.points, b.bodies) if self._actions else None
        for row, kind, child, parent, vector in self._actions:
            assert owners is not None
            owner = owners.body_at if kind == "force" else owners.body_of
            below, above = (owner(child), child), (owner(parent), parent)
            if below[0] == GROUND:
                below, above = above, below
                vector = tuple((frame, neg(b.graph, v)) for frame, v in vector)
            if below[0] != GROUND:
                b.attach(row, kind, below, above, vector)

    def _orientation(self, frame: int) -> list[list[int]]:
        """The rotation of a frame, v_inertial = R v."""
        b, g = self.builder, self.builder.graph
        rows = [[g.one if i == j else 0 for j in range(3)] for i in range(3)]
        chain = []
        while frame:
            chain.append(frame)
            frame = b.frames[frame].parent
        for number in reversed(chain):
            m = b.frames[number].rotation
            rows = [[dot(g, row, column) for column in zip(*m, strict=True)] for row in rows]
        return rows

    def _position(self, point: int) -> list[int]:
        """The position of a point, in inertial axes."""
        b, g = self.builder, self.builder.graph
        parts: list[list[int]] = [[], [], []]
        for frame, components in b.position(point):
            turned = self._orientation(frame)
            for i in range(3):
                parts[i].append(dot(g, turned[i], components))
        return [g.sum(part) for part in parts]

    # ------------------------------------------------------------------------------------- contacts and forces

    def touch(self, contacts: Any) -> None:
        """Let links touch the ground z = 0: their origins, or the shapes by which they collide."""
        given = laws(contacts, self._robot, math.hypot(*self._gravity))
        for link, law in given.items():
            if link != ALL_SHAPES:
                self._contact(link, self._places[link].own_point, law["radius"], law)
        if ALL_SHAPES not in given:
            return
        self._collides = True
        for link in [name for name in self._robot.links if name not in given and self._places[name].frame]:
            spots = [spot for shape in self._robot.links[link].collisions for spot in touching(link, shape)]
            for i, (place, radius) in enumerate(spots):
                name = link if len(spots) == 1 else f"{link}_{i}"
                carrier = self._places[link]
                vector = _vector(self.builder, carrier.own_frame, place)
                point = self.builder.point(f"{name} contact", carrier.own_point, vector)
                self._contact(name, point, radius, given[ALL_SHAPES])

    def _contact(self, name: str, point: int, radius: float, law: dict[str, float]) -> None:
        b = self.builder
        ground = Surface("plane", self._world, b.inertial, ((0, 0, 1),))
        sizes = {each: _number(b, law[each]) for each in Contact.NODES if each != "radius"}
        b.contact(Contact(name, point, _number(b, radius), ground, **sizes))

    def push(self, forces: Any) -> None:
        """Add forces on points of links as inputs."""
        b, says = self.builder, '(link, (x, y, z)), or (link, (x, y, z), "link"), the point in the axes of the link'
        for name, parts in _named_loads("forces", forces, says):
            link, place, axes = (*parts, (0.0, 0.0, 0.0), "world")[:3] if len(parts) == 1 else (*parts, "world")[:3]
            spot = _spot(place)
            if spot is None or axes not in _AXES_OF or len(parts) > 3:
                raise ModelError(f"forces[{name!r}] is {parts!r}; it must be {says}")
            own = self._known(link).own_frame
            end = self._end(link, Pose(np.eye(3), spot), f"force {name}")
            force = _triple([b.input(f"f_{name}_{axis}") for axis in "xyz"])
            b.force(end.point, ((b.inertial if axes == "world" else own, force),))

    def twist(self, torques: Any) -> None:
        """Add torques on links as inputs."""
        b, says = self.builder, 'a link, or (link, "link"), in the axes of the link'
        for name, parts in _named_loads("torques", torques, says):
            link, axes = (*parts, "world")[:2]
            if axes not in _AXES_OF or len(parts) > 2:
                raise ModelError(f"torques[{name!r}] is {parts!r}; it must be {says}")
            own = self._known(link).own_frame
            torque = _triple([b.input(f"t_{name}_{axis}") for axis in "xyz"])
            b.torque(own, ((b.inertial if axes == "world" else own, torque),))


# ------------------------------------------------------------------------------------------------------ numbers


def _refuse_same(loop: str, places: Sequence[_Place]) -> None:
    """ModelError for a loop between two links that move as one."""
    if len({place.frame for place in places}) < 2:
        raise ModelError(f"{loop}: both links move with {places[0].carrier!r}, and a loop joins two that do not")


def _spot(place: Any) -> Array | None:
    """Three numbers that are a place; None if they are none."""
    try:
        numbers = np.asarray(place)
    except ValueError:  # lists of several lengths
        return None
    is_place = numbers.shape == (3,) and numbers.dtype.kind in "iuf" and bool(np.all(np.abs(numbers) <= BEYOND))
    return numbers.astype(np.float64) if is_place else None


def _named_loads(argument: str, given: Any, says: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and places of loads: of a list of links, or by name."""
    if isinstance(given, Mapping):
        for name, place in given.items():
            parts = (place,) if isinstance(place, str) else place
            if not isinstance(name, str) or not isinstance(parts, Sequence) or not parts:
                raise ModelError(f"{argument}[{name!r}] is {place!r}; it must be {says}")
            yield name, tuple(parts)
        return
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise ModelError(
            f'{argument} is {given!r}; it must be a list of links, such as ["left foot"], a mapping of names, or []'
        )
    yield from ((link, (link,)) for link in given)


def _resists(inertial: Inertial | None) -> bool:
    return inertial is not None and (inertial.mass > 0.0 or bool(inertial.inertia.any()))


def _carry(carried: _Carried, inertial: Inertial, pose: Pose) -> None:
    """Add the inertia of a link to the masses that move with its frame."""
    centre = product(pose.rotation, inertial.centre) + pose.position
    central = product(product(pose.rotation, inertial.inertia), pose.rotation.T)
    carried.mass += inertial.mass
    carried.moment += inertial.mass * centre
    carried.inertia += central + inertial.mass * (product(centre, centre) * np.eye(3) - np.outer(centre, centre))


def _along(axis: Array) -> tuple[int, float]:
    """Number and sign of the coordinate axis that equals an axis."""
    k = int(np.argmax(np.abs(axis)))
    return k, 1.0 if axis[k] > 0.0 else -1.0


def _own_axes(axis: Array, k: int | None = None) -> Array:
    """Rows of a rotation to axes that include the joint axis; the axes of the link if possible."""
    at, sign = _along(axis)
    if np.count_nonzero(axis) == 1 and (k is None or (k == at and sign > 0.0)):
        return np.eye(3)
    helper = _AXES[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= math.sqrt(product(x, x))
    return np.array([x, np.cross(axis, x), axis])


def _triple(nodes: Sequence[int]) -> Components:
    x, y, z = nodes
    return x, y, z


def _axis_nodes(g: Graph, k: int) -> Components:
    """Coordinate axis k."""
    return _triple([g.one if i == k else 0 for i in range(3)])


def _number(b: Builder, value: float) -> int:
    return 0 if value == 0.0 else b.constant(int(value) if value in (1.0, -1.0) else float(value))


def _numbers(b: Builder, matrix: Array) -> Matrix:
    x, y, z = ((_number(b, m[0]), _number(b, m[1]), _number(b, m[2])) for m in matrix)
    return x, y, z


def _vector(b: Builder, frame: int, v: Array) -> Vector:
    return ((frame, (_number(b, v[0]), _number(b, v[1]), _number(b, v[2]))),) if v.any() else ()


def _turn(b: Builder, k: int, sign: float, angle: int) -> Matrix:
    """The rotation about coordinate axis k."""
    g = b.graph
    c, s = g.cos(angle), g.sin(angle)
    s = s if sign > 0.0 else g.neg(s)
    one = g.one
    if k == 0:
        return (one, 0, 0), (0, c, g.neg(s)), (0, s, c)
    if k == 1:
        return (c, 0, s), (0, one, 0), (g.neg(s), 0, c)
    return (c, g.neg(s), 0), (s, c, 0), (0, 0, one)


def _product(b: Builder, fixed: Array, turned: Matrix) -> Matrix:
    g, left = b.graph, _numbers(b, fixed)
    rows = [[dot(g, row, column) for column in zip(*turned, strict=True)] for row in left]
    x, y, z = ((row[0], row[1], row[2]) for row in rows)
    return x, y, z


def _turn_quaternion(b: Builder, e: Sequence[int], w: Sequence[int]) -> None:
    """Set the rates of a quaternion with an angular velocity in the axes that it turns."""
    g = b.graph
    half = g.constant(0.5)
    rates = (
        [(-1, 1, 0), (-1, 2, 1), (-1, 3, 2)],
        [(1, 0, 0), (1, 2, 2), (-1, 3, 1)],
        [(1, 0, 1), (1, 3, 0), (-1, 1, 2)],
        [(1, 0, 2), (1, 1, 1), (-1, 2, 0)],
    )
    for node, terms in zip(e, rates, strict=True):
        parts = [g.mul(e[i], w[j]) if sign > 0 else g.neg(g.mul(e[i], w[j])) for sign, i, j in terms]
        b.rate(node, g.mul(half, g.sum(parts)))


def _of_quaternion(b: Builder, e: Sequence[int]) -> Matrix:
    """v_parent = R v of e0 + e1 i + e2 j + e3 k, of norm 1."""
    g = b.graph
    two = g.constant(2)

    def twice(*terms: tuple[int, int, int]) -> int:
        parts = [g.mul(e[i], e[j]) if sign > 0 else g.neg(g.mul(e[i], e[j])) for sign, i, j in terms]
        return g.mul(two, g.sum(parts))

    def diagonal(i: int, j: int) -> int:
        return g.sub(g.one, twice((1, i, i), (1, j, j)))

    return (
        (diagonal(2, 3), twice((1, 1, 2), (-1, 0, 3)), twice((1, 1, 3), (1, 0, 2))),
        (twice((1, 1, 2), (1, 0, 3)), diagonal(1, 3), twice((1, 2, 3), (-1, 0, 1))),
        (twice((1, 1, 3), (-1, 0, 2)), twice((1, 2, 3), (1, 0, 1)), diagonal(1, 2)),
    )
