# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms without loops, written with SymPy as its users write them.

``random_tree(seed)`` describes a tree of 2 to 10 bodies: which joints, speeds, loads, parameters and ways of
writing it occur is drawn from the seed.  It is built twice from one seed:

- ``complete=True``, for SymPy's KanesMethod: every point has its velocity set (SymPy needs that), angular
  velocities are in the speeds where that is simple, kinematical equations are solved where SymPy would be slow;
- ``complete=False``, for the package under test: the same mechanism, with velocities set, found by SymPy's
  theorems, queried, or left to the positions, and the equivalent forms of everything else, by a second draw.

Both have the same symbols, so one set of numbers serves both.  Draws use ``random()`` alone, the one method
whose sequence Python guarantees, so a seed means the same tree on every version.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import sympy as sm
import sympy.physics.mechanics as me

T = TypeVar("T")

#: What a tree may contain; ``tree["kinds"]`` counts these, and the tests assert that each occurs.
KINDS = (
    *("pin", "pin_general_axis", "pin_irrational_axis", "slider", "slider_general_axis"),
    *("universal", "ball", "free", "fixed_frame", "branched", "serial", "six_or_more_bodies"),
    *("particle", "rigid_body", "shared_frame", "inertia_about_other_point", "inertia_in_other_frame"),
    *("rates", "omega_speeds", "body_velocity_speeds", "absolute_speeds", "absolute_angles"),
    *("mixed_speeds", "mixed_speeds_in_q", "mixed_speeds_in_t", "shuffled_order"),
    *("gravity", "point_load", "torque_pair", "spring", "damper", "drag", "nonlinear_load", "load_in_t"),
    *("input", "prescribed_function", "prescribed_input", "prescribed_translation"),
    *("symbols", "rationals", "floats"),
)

#: Ways of writing the same thing, counted in ``tree["styles"]`` of the incomplete copy.
STYLES = (
    *("velocity_vector", "velocity_theorem", "velocity_queried", "velocity_left_out"),
    *("omega_in_speeds", "omega_in_rates", "kinematics_solved", "kinematics_implicit"),
    *("load_tuple", "load_object", "pathway"),
)

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
#: Pythagorean directions: unit vectors with rational components, (numerators, denominator).
DIRECTIONS = (
    ((3, 4, 0), 5),
    ((0, -4, 3), 5),
    ((2, 1, 2), 3),
    ((-1, 2, 2), 3),
    ((2, 3, 6), 7),
    ((1, 8, -4), 9),
)
#: Integer quaternions, each a rational rotation matrix.
QUATERNIONS = ((1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 2), (2, 1, 0, 0), (1, 1, 1, 1), (1, 2, 2, 0), (3, 1, -1, 2))
#: (sequence, range of its middle angle, away from the singular attitude)
BODY_SEQUENCES = (("123", (-0.9, 0.9)), ("321", (-0.9, 0.9)), ("312", (-0.9, 0.9)), ("313", (0.5, 2.4)))

t = me.dynamicsymbols._t


class Draw:
    """Draws that depend on the seed alone, not on the version of Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.integer(0, len(items) - 1)]

    def weighted(self, weights: dict[T, float]) -> T:
        left = self._random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return item

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return [item for _, _, item in sorted((self._random(), i, item) for i, item in enumerate(items))]

    def decimal(self, low: float, high: float) -> float:
        """A number of four decimals: short to store, a double all the same."""
        return round(low + self._random() * (high - low), 4)


@dataclass
class Link:
    """What a later joint, load or spring needs to know of a body (or of the ground)."""

    frame: me.ReferenceFrame
    point: me.Point
    depth: int = 0
    #: coordinates of the pins on the way from the ground, whose rates an absolute speed adds up
    pins: tuple[sm.Expr, ...] = ()
    children: int = 0
    coordinates: tuple[sm.Expr, ...] = ()
    #: (axis, frames) of the joint's own torque: on the body, and on the body before it
    motor: tuple[me.Vector, me.ReferenceFrame, me.ReferenceFrame] | None = None


@dataclass
class Coordinate:
    """A coordinate, the speed that goes with it and where its value may lie."""

    q: sm.Expr
    u: sm.Expr
    #: "rate": free to be mixed with others; "solved": its joint has written its own kinematical equation
    role: str = "rate"
    pins_before: tuple[sm.Expr, ...] = ()
    is_pin: bool = False
    span: tuple[float, float] = (-1.1, 1.1)


@dataclass
class Tree:
    """A tree while it grows; ``description`` is what the caller gets."""

    seed: int
    complete: bool
    draw: Draw = field(init=False)
    style: Draw = field(init=False)
    kinds: Counter[str] = field(default_factory=Counter)
    styles: Counter[str] = field(default_factory=Counter)
    values: dict[sm.Symbol, sm.Rational] = field(default_factory=dict)
    coordinates: list[Coordinate] = field(default_factory=list)
    kdes: list[sm.Expr] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    loads: list[Any] = field(default_factory=list)
    inputs: list[sm.Expr] = field(default_factory=list)
    prescribed: list[sm.Expr] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = Draw(self.seed)
        self.style = Draw(self.seed + 1_000_003)
        self.N = me.ReferenceFrame("N")
        self.O = me.Point("O")
        self.O.set_vel(self.N, 0)
        self.velocity_known = {self.O}
        self.ground = Link(self.N, self.O)
        self.links: list[Link] = []
        self.sites: list[tuple[me.Point, me.ReferenceFrame, int, int]] = []

    # ------------------------------------------------------------------ numbers

    def number(self, name: str, low: float, high: float) -> sm.Expr:
        """A parameter: a symbol with a value, a rational, or a decimal fraction, as the tree's kind says."""
        tenths = self.draw.integer(round(10 * low), round(10 * high))
        value = sm.Rational(tenths or 1, 10)
        if self.parameter_kind == "rationals":
            return value
        if self.parameter_kind == "floats":  # SymPy adds Floats in 15 digits: the oracle gets their exact values
            return sm.Rational(float(value)) if self.complete else sm.Float(float(value))
        symbol = sm.Symbol(name)
        self.values[symbol] = value
        return symbol

    def vector(self, name: str, frame: me.ReferenceFrame, low: float = -0.9, high: float = 0.9) -> me.Vector:
        """A constant vector in ``frame`` with at least one component."""
        present = [self.draw.chance(0.5) for _ in range(3)]
        present[self.draw.integer(0, 2)] = True
        parts = zip("xyz", frame, present, strict=True)
        return sum((self.number(name + k, low, high) * e for k, e, yes in parts if yes), me.Vector(0))

    def coordinate(self, pins_before: tuple[sm.Expr, ...] = (), **more: Any) -> Coordinate:
        k = len(self.coordinates) + 1
        new = Coordinate(*me.dynamicsymbols(f"q{k} u{k}"), pins_before=pins_before, **more)
        self.coordinates.append(new)
        return new

    def rate(self, c: Coordinate) -> sm.Expr:
        """q̇ of a coordinate: in the speeds where the tree's speeds make that short, else as a derivative."""
        if self.speed_kind == "mixed_speeds" or (not self.complete and self.style.chance(0.5)):
            self.styles["omega_in_rates"] += 1
            return c.q.diff(t)
        self.styles["omega_in_speeds"] += 1
        if self.speed_kind == "absolute_speeds" and c.is_pin and c.pins_before:
            before = next(b for b in self.coordinates if b.q == c.pins_before[-1])
            return c.u - before.u
        return c.u

    # ------------------------------------------------------------------ points and frames

    def fixed_point(self, name: str, origin: me.Point, offset: me.Vector, frame: me.ReferenceFrame) -> me.Point:
        """A point fixed in ``frame``, as ``origin`` is."""
        point = origin.locatenew(name, offset)
        way = self.velocity_style(origin)
        if way == "velocity_theorem":
            point.v2pt_theory(origin, self.N, frame)
        elif way == "velocity_vector":
            point.set_vel(self.N, origin.vel(self.N) + frame.ang_vel_in(self.N).cross(offset))
        self.note(way, point)
        return point

    def moving_point(
        self, name: str, origin: me.Point, offset: me.Vector, frame: me.ReferenceFrame, relative: me.Vector
    ) -> me.Point:
        """A point that moves with velocity ``relative`` in ``frame``, in which ``origin`` is fixed."""
        point = origin.locatenew(name, offset)
        way = self.velocity_style(origin)
        if way == "velocity_theorem":
            point.set_vel(frame, relative)
            if frame is not self.N:
                point.v1pt_theory(origin, self.N, frame)
        elif way == "velocity_vector":
            carried = frame.ang_vel_in(self.N).cross(offset)
            point.set_vel(self.N, origin.vel(self.N) + carried + relative)
        self.note(way, point)
        return point

    def velocity_style(self, origin: me.Point) -> str:
        if self.complete:
            return "velocity_theorem"
        weights = {"velocity_left_out": 4.0, "velocity_queried": 0.5}
        if origin in self.velocity_known:  # else SymPy would have to compute, and store, the origin's as well
            weights |= {"velocity_vector": 2.0, "velocity_theorem": 3.0}
        return self.style.weighted(weights)

    def note(self, way: str, point: me.Point) -> None:
        self.styles[way] += 1
        if way == "velocity_queried":
            point.vel(self.N)  # SymPy differentiates the position, and stores the result as if it were set
        if way != "velocity_left_out":
            self.velocity_known.add(point)

    def axis(self, frame: me.ReferenceFrame, kind: str) -> tuple[me.Vector, str]:
        """A direction fixed in ``frame`` for a joint of ``kind``, and the kind of joint it makes."""
        pick = self.draw.weighted({"": 6.0, "_general_axis": 2.0, "_irrational_axis": 0.5})
        if self.simple or not pick or (kind == "slider" and pick == "_irrational_axis"):
            components: Sequence[sm.Expr] = [sm.Integer(c) for c in self.draw.one_of(AXES)]
            pick = ""
        elif pick == "_general_axis":
            numerators, denominator = self.draw.one_of(DIRECTIONS)
            components = [sm.Rational(c, denominator) for c in numerators]
        else:
            components = [c / sm.sqrt(2) for c in self.draw.one_of(((1, 1, 0), (0, 1, -1)))]
        return sum((c * e for c, e in zip(components, frame, strict=True)), me.Vector(0)), kind + pick

    def mount(self, i: int, parent: Link) -> tuple[me.ReferenceFrame, me.Point]:
        """Where joint i sits on its parent: offset, perhaps turned, perhaps driven along a prescribed motion."""
        frame, point = parent.frame, parent.point
        if parent is not self.ground or self.draw.chance(0.4):
            point = self.fixed_point(f"J{i}", point, self.vector(f"j{i}", frame), frame)
        if self.draw.chance(0.1 if self.simple else 0.25):
            frame = self.fixed_frame(f"F{i}", frame)
            self.kinds["fixed_frame"] += 1
        if len(self.prescribed) < 2 and self.draw.chance(self.drive_chance):
            frame, point = self.drive(i, frame, point)
        return frame, point

    def fixed_frame(self, name: str, parent: me.ReferenceFrame) -> me.ReferenceFrame:
        w, x, y, z = self.draw.one_of(QUATERNIONS)
        rotation = sm.Matrix(
            [
                [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ]
        )
        frame = me.ReferenceFrame(name)
        frame.orient_explicit(parent, rotation / sm.Integer(w * w + x * x + y * y + z * z))
        return frame

    def drive(self, i: int, frame: me.ReferenceFrame, point: me.Point) -> tuple[me.ReferenceFrame, me.Point]:
        kind = self.draw.one_of(("prescribed_function", "prescribed_input", "prescribed_translation"))
        self.kinds[kind] += 1
        if kind == "prescribed_function":
            motion = self.number(f"W{i}", 0.4, 2) * t
            if self.draw.chance(0.5):
                motion += self.number(f"A{i}", 0.2, 0.8) * sm.sin(self.number(f"w{i}", 0.5, 3) * t)
        else:
            motion = me.dynamicsymbols(f"theta{i}")
            self.prescribed.append(motion)
        axis, _ = self.axis(frame, "drive")
        if kind == "prescribed_translation":
            return frame, self.moving_point(f"D{i}", point, motion * axis, frame, motion.diff(t) * axis)
        driven = me.ReferenceFrame(f"D{i}")
        driven.orient_axis(frame, axis, motion)
        return driven, point

    # ------------------------------------------------------------------ joints

    def pin(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        plain = frame is parent.frame  # a fixed or driven frame between them would have no effect
        absolute = plain and self.speed_kind == "absolute_angles" and self.draw.chance(0.8)
        base = self.N if absolute else frame
        axis, kind = self.axis(base, "pin")
        self.kinds[kind] += 1
        c = self.coordinate(pins_before=parent.pins, is_pin=True)
        body = me.ReferenceFrame(f"B{i}")
        body.orient_axis(base, axis, c.q)
        speed = self.rate(c)
        if speed != c.q.diff(t):
            body.set_ang_vel(base, speed * axis)
        if absolute:
            self.kinds["absolute_angles"] += 1
        return Link(body, point, pins=(*parent.pins, c.q), coordinates=(c.q,), motor=(axis, body, parent.frame))

    def slider(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        axis, kind = self.axis(frame, "slider")
        self.kinds[kind] += 1
        c = self.coordinate()
        end = self.moving_point(f"P{i}", point, c.q * axis, frame, self.rate(c) * axis)
        if self.draw.chance(0.5):
            self.kinds["shared_frame"] += 1
            body = frame
        else:
            body = self.fixed_frame(f"B{i}", frame)
        return Link(body, end, pins=parent.pins, coordinates=(c.q,))

    def universal(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        self.kinds["universal"] += 1
        first, second = self.draw.shuffled(AXES)[:2]
        cross, body = me.ReferenceFrame(f"U{i}"), me.ReferenceFrame(f"B{i}")
        coordinates = []
        for base, end, direction in ((frame, cross, first), (cross, body, second)):
            c = self.coordinate(span=(-0.9, 0.9))
            axis = list(base)[direction.index(1)]
            end.orient_axis(base, axis, c.q)
            speed = self.rate(c)
            if speed != c.q.diff(t):
                end.set_ang_vel(base, speed * axis)
            coordinates.append(c.q)
        return Link(body, point, pins=parent.pins, coordinates=tuple(coordinates), motor=(axis, body, cross))

    def ball(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        self.kinds["ball"] += 1
        body, angles = self.attitude(i, frame)
        return Link(body, point, pins=parent.pins, coordinates=tuple(c.q for c in angles))

    def attitude(self, i: int, frame: me.ReferenceFrame) -> tuple[me.ReferenceFrame, list[Coordinate]]:
        """A frame turned by three body-fixed angles; its speeds are ω in body axes, or the angles' rates."""
        sequence, middle = self.draw.one_of(BODY_SEQUENCES)
        angles = [self.coordinate(span=middle if k == 1 else (-1.1, 1.1)) for k in range(3)]
        body = me.ReferenceFrame(f"B{i}")
        body.orient_body_fixed(frame, [c.q for c in angles], sequence)
        if self.draw.chance(0.75):
            self.kinds["omega_speeds"] += 1
            speeds, coordinates = [c.u for c in angles], [c.q for c in angles]
            if self.solved_kinematics():
                self.kdes += me.kinematic_equations(speeds, coordinates, "body", sequence)
            else:
                omega = body.ang_vel_in(frame)
                self.kdes += [u - omega.dot(e) for u, e in zip(speeds, body, strict=True)]
            body.set_ang_vel(frame, sum((u * e for u, e in zip(speeds, body, strict=True)), me.Vector(0)))
            for c in angles:
                c.role = "solved"
        elif self.speed_kind != "mixed_speeds" and (self.complete or self.style.chance(0.5)):
            rates = {c.q.diff(t): c.u for c in angles}
            body.set_ang_vel(frame, body.ang_vel_in(frame).subs(rates))
        return body, angles

    def solved_kinematics(self) -> bool:
        solved = self.complete or self.style.chance(0.5)
        self.styles["kinematics_solved" if solved else "kinematics_implicit"] += 1
        return solved

    def free(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """Six degrees of freedom; the speeds of the translation are rates, or the velocity in body axes."""
        self.kinds["free"] += 1
        places = [self.coordinate() for _ in range(3)]
        body, angles = self.attitude(i, frame)
        offset = sum((c.q * e for c, e in zip(places, frame, strict=True)), me.Vector(0))
        if frame is self.N and self.draw.chance(0.6):
            self.kinds["body_velocity_speeds"] += 1
            velocity = sum((c.u * e for c, e in zip(places, body, strict=True)), me.Vector(0))
            origin = point.locatenew(f"P{i}", offset)
            if self.complete or self.style.chance(0.5):
                origin.set_vel(self.N, velocity)
                self.note("velocity_vector", origin)
            else:
                self.note("velocity_left_out", origin)
            if self.solved_kinematics():
                self.kdes += [c.q.diff(t) - velocity.dot(e) for c, e in zip(places, self.N, strict=True)]
            else:
                rate = sum((c.q.diff(t) * e for c, e in zip(places, self.N, strict=True)), me.Vector(0))
                self.kdes += [c.u - rate.dot(e) for c, e in zip(places, body, strict=True)]
            for c in places:
                c.role = "solved"
        else:
            relative = sum((self.rate(c) * e for c, e in zip(places, frame, strict=True)), me.Vector(0))
            origin = self.moving_point(f"P{i}", point, offset, frame, relative)
        # the torque-free pins before a free body have no say in its attitude
        return Link(body, origin, coordinates=tuple(c.q for c in (*places, *angles)))

    # ------------------------------------------------------------------ bodies

    def body(self, i: int, link: Link, joint: str) -> None:
        """Give a link its mass: a particle where the joint leaves it no rotation of its own that needs inertia."""
        frame = link.frame
        if joint == "slider" and self.draw.chance(0.5):
            self.kinds["particle"] += 1
            self.bodies.append(me.Particle(f"body{i}", link.point, self.number(f"m{i}", 0.3, 3)))
            self.sites.append((link.point, frame, i, link.depth))
            return
        if joint == "pin" and self.draw.chance(0.3):  # a bob on a massless rod, off the axis
            self.kinds["particle"] += 1
            components = [e * self.number(f"c{i}{k}", 0.3, 0.9) for k, e in zip("xyz", frame, strict=True)]
            bob = self.fixed_point(f"C{i}", link.point, sum(components[:2], components[2]), frame)
            self.bodies.append(me.Particle(f"body{i}", bob, self.number(f"m{i}", 0.3, 3)))
            self.sites.append((bob, frame, i, link.depth))
            return
        self.kinds["rigid_body"] += 1
        centre = link.point
        if self.draw.chance(0.8):
            centre = self.fixed_point(f"C{i}", link.point, self.vector(f"c{i}", frame), frame)
        mass = self.number(f"m{i}", 0.3, 3)
        axes = frame
        if not self.simple and self.draw.chance(0.12):
            self.kinds["inertia_in_other_frame"] += 1
            axes = self.fixed_frame(f"I{i}", frame)
        moments = [self.number(f"I{i}{k}", 0.5, 1.2) for k in ("xx", "yy", "zz")]
        products = [self.number(f"I{i}{k}", 0.1, 0.2) for k in ("xy", "yz", "zx")] if self.draw.chance(0.6) else []
        about = centre
        if not self.simple and self.draw.chance(0.12):
            self.kinds["inertia_about_other_point"] += 1
            about = self.fixed_point(f"A{i}", centre, self.number(f"a{i}", 0.1, 0.2) * frame.x, frame)
        inertia = (me.inertia(axes, *moments, *products), about)
        self.bodies.append(me.RigidBody(f"body{i}", centre, frame, mass, inertia))
        self.sites.append((centre, frame, i, link.depth))

    # ------------------------------------------------------------------ loads

    def load(self, target: Any, vector: me.Vector) -> None:
        if not self.complete and self.style.chance(0.3):
            self.styles["load_object"] += 1
            kind = me.Torque if isinstance(target, me.ReferenceFrame) else me.Force
            self.loads.append(kind(target, vector))
        else:
            self.styles["load_tuple"] += 1
            self.loads.append((target, vector))

    def add_gravity(self) -> None:
        if not self.draw.chance(0.85):
            return
        self.kinds["gravity"] += 1
        down = self.draw.one_of((-self.N.z, -self.N.y, self.N.x))
        g = self.number("g", 9.8, 9.8)
        for body in self.bodies:
            self.load(body.masscenter, body.mass * g * down)

    def magnitude(self, name: str, link: Link) -> sm.Expr:
        """A force or torque: constant, an input, of time, viscous, or nonlinear in a coordinate or its rate."""
        weights = {"constant": 1.0, "input": 2.0, "load_in_t": 1.0, "drag": 1.5, "nonlinear_load": 1.5}
        kind = self.draw.weighted(weights)
        strength = self.number(f"k{name}", 0.5, 4)
        q = self.draw.one_of(link.coordinates)
        c = next(c for c in self.coordinates if c.q == q)
        if kind != "constant":
            self.kinds[kind] += 1
        if kind == "input":
            force = me.dynamicsymbols(f"F{name}")
            self.inputs.append(force)
            return force
        if kind == "load_in_t":
            return strength * sm.cos(self.number(f"w{name}", 0.5, 3) * t)
        if kind == "drag":
            return -strength * (c.u if self.draw.chance(0.7) else q.diff(t))
        if kind == "nonlinear_load":
            laws = (-strength * sm.Abs(c.u) * c.u, -strength * q**3, strength * sm.exp(-q), strength * sm.atan(c.u))
            return self.draw.one_of(laws)
        return strength

    def add_point_load(self, k: int) -> None:
        index = self.draw.integer(0, len(self.links) - 1)
        link, (centre, frame, i, _) = self.links[index], self.sites[index]
        self.kinds["point_load"] += 1
        point = self.fixed_point(f"S{k}", centre, self.vector(f"s{k}", frame, -0.5, 0.5), frame)
        direction = list(self.draw.one_of((frame, self.N)))[self.draw.integer(0, 2)]
        self.load(point, self.magnitude(f"p{k}", link) * direction)

    def add_motor(self, k: int) -> None:
        """A torque between a body and the one before it, about the axis of their joint."""
        joints = [link for link in self.links if link.motor]
        if not joints:
            return
        link = self.draw.one_of(joints)
        axis, on, reaction = link.motor
        self.kinds["torque_pair"] += 1
        torque = self.magnitude(f"m{k}", link) * axis
        self.load(on, torque)
        self.load(reaction, -torque)

    def add_spring(self, k: int) -> None:
        """A spring, perhaps with a damper, along the line between points of two bodies or a body and the ground."""
        near = [site for site in self.sites if site[3] <= self.spring_depth]
        if not near:
            return
        centre, frame, i, _ = self.draw.one_of(near)
        others = [site for site in near if site[2] != i]
        tip = self.fixed_point(f"T{k}", centre, self.number(f"t{k}", 0.1, 0.3) * frame.x, frame)
        base: me.Point
        if others and self.draw.chance(0.5):
            base = self.draw.one_of(others)[0]
        else:  # away from everything, so that the length is never zero
            base = self.fixed_point(f"G{k}", self.O, self.number(f"g{k}", 5, 6) * self.N.x, self.N)
        self.kinds["spring"] += 1
        reach = tip.pos_from(base)
        length = reach.magnitude()
        tension = -self.number(f"ks{k}", 1, 9) * (length - self.number(f"ls{k}", 0.2, 0.6))
        if self.draw.chance(0.5):
            self.kinds["damper"] += 1
            tension -= self.number(f"cs{k}", 0.2, 2) * length.diff(t)
        if not self.complete and self.style.chance(0.3):
            self.styles["pathway"] += 1
            self.loads += me.LinearPathway(tip, base).to_loads(tension)
            return
        self.load(tip, tension / length * reach)
        self.load(base, -tension / length * reach)

    # ------------------------------------------------------------------ speeds

    def add_kinematics(self) -> None:
        """Kinematical equations of the coordinates whose joints have not written their own."""
        rates = [c for c in self.coordinates if c.role == "rate"]
        if self.speed_kind == "mixed_speeds":
            self.kdes += self.mixed_kinematics(rates)
            return
        for c in rates:
            speed = c.q.diff(t)
            if self.speed_kind == "absolute_speeds" and c.is_pin:
                speed = sum((q.diff(t) for q in c.pins_before), speed)
                self.kinds["absolute_speeds"] += bool(c.pins_before)
            else:
                self.kinds["rates"] += 1
            self.kdes.append(speed - c.u if self.style.chance(0.5) else c.u - speed)

    def mixed_kinematics(self, rates: list[Coordinate]) -> list[sm.Expr]:
        """u = P L q̇ + b: L unit lower triangular, some entries functions of q; P a permutation."""
        equations = []
        order = self.draw.shuffled([c.u for c in rates])
        for row, (u, c) in enumerate(zip(order, rates, strict=True)):
            speed = self.draw.one_of((1, 1, 2, sm.Rational(1, 2))) * c.q.diff(t)
            for other in rates[:row]:
                if not self.draw.chance(min(0.6, 2 / len(rates))):
                    continue
                entry: sm.Expr = sm.Rational(self.draw.one_of((-3, -2, -1, 1, 2, 3)), self.draw.one_of((1, 2)))
                if self.draw.chance(0.25):
                    self.kinds["mixed_speeds_in_q"] += 1
                    entry *= self.draw.one_of((sm.cos(c.q), sm.sin(other.q), other.q))
                speed += entry * other.q.diff(t)
            if self.draw.chance(0.1):
                self.kinds["mixed_speeds_in_t"] += 1
                speed += sm.sin(t) / 2
            self.kinds["mixed_speeds"] += 1
            equations.append(u - speed)
        return equations

    # ------------------------------------------------------------------ the whole

    def grow(self) -> dict[str, Any]:
        draw = self.draw
        n_bodies = draw.weighted({2: 26, 3: 30, 4: 22, 5: 9, 6: 5, 7: 3, 8: 2, 9: 1.5, 10: 1.5})
        #: SymPy's time grows steeply with depth and with general axes: large trees are shallow and plain
        self.simple = n_bodies > 4
        max_depth = {2: 2, 3: 3, 4: 3, 5: 3}.get(n_bodies, 2)
        self.spring_depth = 1 if self.simple else 2
        self.drive_chance = 0.15 if n_bodies < 6 else 0.05
        self.parameter_kind = draw.weighted({"symbols": 5.0, "rationals": 2.0, "floats": 1.0})
        self.speed_kind = draw.weighted(
            {"rates": 4.0, "absolute_speeds": 2.0, "absolute_angles": 1.5, "mixed_speeds": 2.0}
        )
        self.kinds[self.parameter_kind] += 1
        self.kinds["six_or_more_bodies"] += n_bodies >= 6
        spatial = 1 if self.simple else 2  # balls and free bodies are dear
        for i in range(1, n_bodies + 1):
            parents = [self.ground, *(link for link in self.links if link.depth < max_depth)]
            parent = draw.weighted({k: (0.5 if p is self.ground else 1.0) for k, p in enumerate(parents)})
            link_parent = parents[parent] if self.links else self.ground
            weights = {"pin": 6.0, "slider": 3.0}
            if not self.simple:
                weights["universal"] = 1.2
            if spatial:
                weights |= {"ball": 1.2} if link_parent.depth < 2 else {}
                weights |= {"free": 1.0} if link_parent is self.ground else {}
                weights |= {"free": 0.2} if link_parent.depth == 1 and n_bodies < 4 else {}
            joint = draw.weighted(weights)
            spatial -= joint in ("ball", "free")
            frame, point = self.mount(i, link_parent)
            link = getattr(self, joint)(i, link_parent, frame, point)
            link.depth = link_parent.depth + 1
            link_parent.children += 1
            self.links.append(link)
            self.body(i, link, joint)
        branched = any(link.children > 1 for link in (self.ground, *self.links))
        self.kinds["branched" if branched else "serial"] += 1
        self.add_gravity()
        for k in range(1, 1 + draw.integer(0 if self.kinds["gravity"] else 1, 2)):
            self.add_point_load(k)
        for k in range(1, 1 + draw.integer(0, 2)):
            self.add_motor(k)
        for k in range(1, 1 + draw.integer(0, 1)):
            self.add_spring(k)
        self.add_kinematics()
        return self.description()

    def description(self) -> dict[str, Any]:
        coordinates = [c.q for c in self.coordinates]
        speeds = [c.u for c in self.coordinates]
        kdes = self.kdes
        if self.draw.chance(0.4):
            self.kinds["shuffled_order"] += 1
            coordinates = self.draw.shuffled(coordinates)
            speeds = self.draw.shuffled(speeds)
            kdes = self.draw.shuffled(kdes)
        spans = {c.q: c.span for c in self.coordinates}
        return {
            "frame": self.N,
            "q": coordinates,
            "u": speeds,
            "kdes": kdes,
            "bodies": self.bodies,
            "loads": self.loads,
            "parameters": self.values,
            "inputs": self.inputs,
            "prescribed": self.prescribed,
            "spans": [spans[q] for q in coordinates],
            "kinds": self.kinds,
            "styles": self.styles,
        }


def random_tree(seed: int, *, complete: bool = False) -> dict[str, Any]:
    """The mechanism of a seed: ``frame, q, u, kdes, bodies, loads`` as KanesMethod takes them, and

    ``parameters``  {symbol: exact value}
    ``inputs``      forces and torques given from outside
    ``prescribed``  dynamicsymbols that are given with their first two derivatives
    ``spans``       for each q, the interval its value is drawn from (away from singular attitudes)
    ``kinds``, ``styles``   how often each of KINDS and STYLES occurs
    """
    return Tree(seed, complete).grow()


def random_state(tree: dict[str, Any], seed: int) -> dict[str, Any]:
    """Time, coordinates, speeds, inputs and prescribed motions (value, rate, second rate), in short decimals."""
    draw = Draw(seed)
    return {
        "t": draw.decimal(0, 2),
        "q": [draw.decimal(*span) for span in tree["spans"]],
        "u": [draw.decimal(-2, 2) for _ in tree["u"]],
        "inputs": [draw.decimal(-5, 5) for _ in tree["inputs"]],
        "prescribed": [[draw.decimal(-1.5, 1.5) for _ in range(3)] for _ in tree["prescribed"]],
    }
