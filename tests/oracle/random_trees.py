# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms without loops, written with SymPy as its users write them.

``random_tree(seed)`` describes a tree of 2 to 10 bodies; which joints, speeds, loads, parameters and ways of
writing them occur is drawn from the seed.  It can be built twice:

- ``complete=True``, for SymPy's KanesMethod: every point has its velocity set (SymPy needs that), angular
  velocities are in the speeds where that is simple, kinematical equations are solved where SymPy would be slow;
- ``complete=False``, for the package under test: the same mechanism, but velocities are set, found by SymPy's
  theorems, queried or left to the positions, and all else is in one of its equivalent forms, by a second draw.

Both have the same symbols, so one set of numbers serves both.  Draws use ``random()`` alone, the one method whose
sequence Python guarantees: a seed means the same tree on every version.
"""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sympy as sm
import sympy.physics.mechanics as me

T = TypeVar("T")

#: What a tree may contain; ``tree["kinds"]`` counts them.
KINDS = (
    *("pin", "pin_general_axis", "pin_irrational_axis", "slider", "slider_general_axis"),
    *("universal", "ball", "free", "fixed_frame", "serial", "branched", "six_or_more_bodies"),
    *("particle", "rigid_body", "shared_frame", "inertia_about_other_point", "inertia_in_other_frame"),
    *("rates", "angle_rates_of_ball", "omega_speeds", "body_velocity_speeds", "absolute_speeds", "absolute_angles"),
    *("mixed_speeds", "mixed_speeds_in_q", "mixed_speeds_in_t", "shuffled_order"),
    *("gravity", "point_load", "torque_pair", "spring", "damper", "drag", "nonlinear_load", "load_in_t", "input"),
    *("prescribed_function", "prescribed_input", "prescribed_translation"),
    *("symbols", "rationals", "floats", "awkward_names"),
)

#: Ways of writing one thing; ``tree["styles"]`` counts them.
STYLES = (
    *("velocity_vector", "velocity_theorem", "velocity_queried", "velocity_left_out"),
    *("rate_as_speed", "rate_as_derivative", "kinematics_solved", "kinematics_implicit"),
    *("load_tuple", "load_object", "pathway", "bodies_out_of_order"),
)

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
#: Directions with rational components: (numerators, denominator).
DIRECTIONS = (((3, 4, 0), 5), ((0, -4, 3), 5), ((2, 1, 2), 3), ((-1, 2, 2), 3), ((2, 3, 6), 7), ((1, 8, -4), 9))
#: Integer quaternions: each gives a rational rotation matrix.
QUATERNIONS = ((1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 2), (2, 1, 0, 0), (1, 1, 1, 1), (1, 2, 2, 0), (3, 1, -1, 2))
#: Body-fixed sequences, each with an interval of its middle angle away from the singular attitude.
SEQUENCES = (("123", (-0.9, 0.9)), ("321", (-0.9, 0.9)), ("312", (-0.9, 0.9)), ("313", (0.5, 2.4)))
SPAN = (-1.1, 1.1)
#: Joints on the longest way from the ground to a body, and to a body that a spring is fixed to.
MAX_DEPTH, SPRING_DEPTH = 4, 2
#: Prescribed motions.
DRIVES = ("prescribed_function", "prescribed_input", "prescribed_translation")
#: Names that are words of C or of the generated code, or no identifiers at all.
AWKWARD = ("double", "int", "x", "p", "c", "out", "work", "z1", "a b", "m'", "\\mu_{1}", "*/", 'l"', "%d", "über", "0")

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

    def decimal(self, low: float, high: float) -> float:
        """A number of four decimals: short to store."""
        return round(low + self._random() * (high - low), 4)

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.integer(0, len(items) - 1)]

    def weighted(self, weights: dict[T, float]) -> T:
        left = self._random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        raise AssertionError("the weights add up to less than their sum")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        order = sorted(range(len(items)), key=[self._random() for _ in items].__getitem__)
        return [items[k] for k in order]


@dataclass
class Coordinate:
    """A coordinate, the speed that goes with it, and the interval its value is drawn from."""

    q: sm.Expr
    #: None for the fourth parameter of a quaternion
    u: sm.Expr | None
    span: tuple[float, float] = SPAN
    #: its joint has written its kinematical equation; the others' come last, and may mix them
    solved: bool = False
    #: of a pin's angle: the pins between it and the ground, whose rates an absolute speed includes
    pins_before: tuple[Coordinate, ...] = ()


@dataclass
class Link:
    """A body, or the ground, as later joints and loads see it."""

    frame: me.ReferenceFrame
    point: me.Point
    coordinates: tuple[Coordinate, ...] = ()
    pins: tuple[Coordinate, ...] = ()
    #: the joint's axis, and the frames that a torque about it acts on and reacts on
    motor: tuple[me.Vector, me.ReferenceFrame, me.ReferenceFrame] | None = None
    depth: int = 0
    children: int = 0
    centre: me.Point | None = None
    #: the body of the link as SymPy's joints take it, and the joint of SymPy's that holds it
    body: me.RigidBody | me.Particle | None = None
    joint: Any = None


def combine(coefficients: Iterable[sm.Expr], frame: me.ReferenceFrame) -> me.Vector:
    return sum((c * e for c, e in zip(coefficients, frame, strict=True)), me.Vector(0))


class Tree:
    """A mechanism while it grows.

    Everything that decides *what* it is comes from ``draw``, in the same order in both copies; how it is
    written comes from ``style``.
    """

    def __init__(self, seed: int, complete: bool) -> None:
        self.draw, self.style, self.complete = Draw(seed), Draw(seed + 1_000_003), complete
        self.kinds: Counter[str] = Counter()
        self.styles: Counter[str] = Counter()
        self.values: dict[sm.Symbol, sm.Rational] = {}
        self.coordinates: list[Coordinate] = []
        self.kdes: list[sm.Expr] = []
        self.bodies: list[me.Particle | me.RigidBody] = []
        self.loads: list[Any] = []
        self.inputs: list[sm.Expr] = []
        self.prescribed: list[sm.Expr] = []
        self.N, self.O = me.ReferenceFrame("N"), me.Point("O")
        self.O.set_vel(self.N, 0)
        self.velocity_known = {self.O}
        self.sliding: set[tuple[me.Point, me.ReferenceFrame]] = set()  # points that move in a frame
        self.ground = Link(self.N, self.O)
        self.links: list[Link] = []
        self.quaternions: list[tuple[Coordinate, ...]] = []
        self.drives = DRIVES

        draw = self.draw
        self.n_bodies = draw.weighted({2: 20, 3: 28, 4: 24, 5: 11, 6: 6, 7: 4, 8: 3, 9: 2, 10: 2})
        # SymPy's time grows steeply with general axes and joints of three degrees of freedom: large trees are plain
        self.plain = self.n_bodies > 5
        self.drive_chance = 0.05 if self.plain else 0.15
        self.numbers = draw.weighted({"symbols": 5, "rationals": 2, "floats": 1, "awkward_names": 0.7})
        self.speeds = draw.weighted({"rates": 4, "absolute_speeds": 2, "absolute_angles": 1.5, "mixed_speeds": 2.5})
        self.awkward = draw.shuffled(AWKWARD) if self.numbers == "awkward_names" else []
        self.kinds[self.numbers] += 1

    # ---------------------------------------------------------------- numbers

    def number(self, name: str, low: float, high: float) -> sm.Expr:
        """A parameter: a symbol, a rational or a float, as the tree has it; never zero."""
        value = sm.Rational(self.draw.integer(round(10 * low), round(10 * high)) or 1, 10)
        if self.numbers == "rationals":
            return value
        if self.numbers == "floats":  # SymPy adds Floats in 15 digits, so the oracle's copy has their exact values
            return sm.Rational(float(value)) if self.complete else sm.Float(float(value))
        symbol = sm.Symbol(self.awkward.pop() if self.awkward else name)
        self.values[symbol] = value
        return symbol

    def vector(self, name: str, frame: me.ReferenceFrame, low: float, high: float) -> me.Vector:
        """A constant vector in ``frame``, of one to three components."""
        present = [self.draw.chance(0.5) for _ in range(3)]
        present[self.draw.integer(0, 2)] = True
        parts = zip("xyz", present, strict=True)
        return combine([self.number(name + k, low, high) if yes else 0 for k, yes in parts], frame)

    def coordinate(self, **more: Any) -> Coordinate:
        k = len(self.coordinates) + 1
        self.coordinates.append(Coordinate(*me.dynamicsymbols(f"q{k} u{k}"), **more))
        return self.coordinates[-1]

    def rate(self, c: Coordinate) -> sm.Expr:
        """q̇: in the speeds where the tree's speeds make that short, else as a derivative."""
        if self.speeds == "mixed_speeds" or not (self.complete or self.style.chance(0.5)):
            self.styles["rate_as_derivative"] += 1
            return c.q.diff(t)
        self.styles["rate_as_speed"] += 1
        if self.speeds == "absolute_speeds" and c.pins_before:
            return c.u - c.pins_before[-1].u
        return c.u

    # ---------------------------------------------------------------- points and frames

    def fixed_point(self, name: str, origin: me.Point, offset: me.Vector, frame: me.ReferenceFrame) -> me.Point:
        """A point at rest relative to ``origin`` in ``frame``."""
        point = origin.locatenew(name, offset)
        way = self.way_of_velocity(point, origin)
        if way == "velocity_theorem":
            point.v2pt_theory(origin, self.N, frame)
        elif way == "velocity_vector":
            point.set_vel(self.N, origin.vel(self.N) + frame.ang_vel_in(self.N).cross(offset))
        if (origin, frame) in self.sliding:
            self.sliding.add((point, frame))
        return point

    def moving_point(
        self, name: str, origin: me.Point, offset: me.Vector, frame: me.ReferenceFrame, relative: me.Vector
    ) -> me.Point:
        """A point of velocity ``relative`` to ``origin`` in ``frame``."""
        point = origin.locatenew(name, offset)
        way = self.way_of_velocity(point, origin)
        # the theorem of one point asks for an origin at rest in the frame; bodies that share a frame may slide in it
        if way == "velocity_theorem" and (origin, frame) not in self.sliding:
            point.set_vel(frame, relative)
            if frame is not self.N:
                point.v1pt_theory(origin, self.N, frame)
        elif way in ("velocity_theorem", "velocity_vector"):
            carried = origin.vel(self.N) + frame.ang_vel_in(self.N).cross(offset)
            point.set_vel(self.N, carried + relative)
        self.sliding.add((point, frame))
        return point

    def way_of_velocity(self, point: me.Point, origin: me.Point) -> str:
        """How the user lets a point's velocity be known; where SymPy is asked, it answers here."""
        ways = {"velocity_left_out": 4, "velocity_queried": 0.5}
        if origin in self.velocity_known:  # else the theorems would make SymPy compute the origin's as well
            ways |= {"velocity_vector": 2, "velocity_theorem": 3}
        way = "velocity_theorem" if self.complete else self.style.weighted(ways)
        self.styles[way] += 1
        if way == "velocity_queried":
            with warnings.catch_warnings():  # SymPy warns that several points would do, and stores what it found
                warnings.simplefilter("ignore", UserWarning)
                point.vel(self.N)
        if way != "velocity_left_out":
            self.velocity_known.add(point)
        return way

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

    def axis(self, frame: me.ReferenceFrame, joint: str) -> tuple[me.Vector, str]:
        """A direction in ``frame`` for a joint, and the kind of joint that it makes."""
        kind = self.draw.weighted({"": 6, "_general_axis": 2, "_irrational_axis": 0.4 if joint == "pin" else 0})
        if self.plain or not kind:
            return combine(self.draw.one_of(AXES), frame), joint
        if kind == "_irrational_axis":  # SymPy makes it a unit vector
            return combine(self.draw.one_of(((1, 1, 0), (0, 1, -1))), frame), joint + kind
        numerators, denominator = self.draw.one_of(DIRECTIONS)
        return combine([sm.Rational(n, denominator) for n in numerators], frame), joint + kind

    def mount(self, i: int, parent: Link) -> tuple[me.ReferenceFrame, me.Point]:
        """Where joint i sits on its parent: at an offset, perhaps turned, perhaps on a prescribed motion."""
        frame, point = parent.frame, parent.point
        if parent is not self.ground or self.draw.chance(0.4):
            point = self.fixed_point(f"J{i}", point, self.vector(f"j{i}", frame, -0.9, 0.9), frame)
        if self.draw.chance(0.1 if self.plain else 0.25):
            self.kinds["fixed_frame"] += 1
            frame = self.fixed_frame(f"F{i}", frame)
        if len(self.prescribed) < 2 and self.draw.chance(self.drive_chance):
            return self.drive(i, frame, point)
        return frame, point

    def drive(self, i: int, frame: me.ReferenceFrame, point: me.Point) -> tuple[me.ReferenceFrame, me.Point]:
        """A prescribed motion: a rotation as a function of time, or a rotation or translation given from outside."""
        kind = self.draw.one_of(self.drives)
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

    # ---------------------------------------------------------------- joints

    def turn(self, name: str, base: me.ReferenceFrame, axis: me.Vector, c: Coordinate) -> me.ReferenceFrame:
        """A frame turned by a coordinate; its angular velocity in ``base`` is SymPy's (in q̇) or in the speeds."""
        frame = me.ReferenceFrame(name)
        frame.orient_axis(base, axis, c.q)
        speed = self.rate(c)
        if speed != c.q.diff(t):
            frame.set_ang_vel(base, speed * axis.normalize())
        return frame

    def pin(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        bare = frame is parent.frame  # a fixed or driven frame in between would not act on an absolute angle
        absolute = bare and self.speeds == "absolute_angles" and self.draw.chance(0.8)
        base = self.N if absolute else frame
        axis, kind = self.axis(base, "pin")
        self.kinds.update([kind, "absolute_angles"] if absolute else [kind])
        c = self.coordinate(pins_before=parent.pins)
        body = self.turn(f"B{i}", base, axis, c)
        return Link(body, point, (c,), (*parent.pins, c), (axis, body, parent.frame))

    def slider(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        axis, kind = self.axis(frame, "slider")
        self.kinds[kind] += 1
        c = self.coordinate()
        end = self.moving_point(f"P{i}", point, c.q * axis, frame, self.rate(c) * axis)
        if self.draw.chance(0.5):
            self.kinds["shared_frame"] += 1
            return Link(frame, end, (c,), parent.pins)
        return Link(self.fixed_frame(f"B{i}", frame), end, (c,), parent.pins)

    def universal(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """Two successive axes, with a massless cross between them."""
        self.kinds["universal"] += 1
        one, other = self.draw.shuffled(AXES)[:2]
        first, second = (self.coordinate(span=(-0.9, 0.9)) for _ in range(2))
        cross = self.turn(f"U{i}", frame, combine(one, frame), first)
        body = self.turn(f"B{i}", cross, combine(other, cross), second)
        return Link(body, point, (first, second), parent.pins, (combine(other, cross), body, cross))

    def ball(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        self.kinds["ball"] += 1
        body, angles = self.attitude(i, frame)
        return Link(body, point, angles, parent.pins)

    def free(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """Six degrees of freedom; the speeds of the translation are rates, or the velocity in body axes."""
        self.kinds["free"] += 1
        places = tuple(self.coordinate() for _ in range(3))
        body, angles = self.attitude(i, frame)
        offset = combine([c.q for c in places], frame)
        if frame is self.N and self.draw.chance(0.6) and (point, frame) not in self.sliding:
            self.kinds["body_velocity_speeds"] += 1
            origin = point.locatenew(f"P{i}", offset)
            velocity = combine([c.u for c in places], body)
            if self.complete or self.style.chance(0.5):
                origin.set_vel(self.N, velocity)
                self.velocity_known.add(origin)
            rates = combine([c.q.diff(t) for c in places], self.N)
            if self.solved_kinematics():
                self.kdes += [c.q.diff(t) - velocity.dot(e) for c, e in zip(places, self.N, strict=True)]
            else:
                self.kdes += [c.u - rates.dot(e) for c, e in zip(places, body, strict=True)]
            for c in places:
                c.solved = True
        else:
            origin = self.moving_point(f"P{i}", point, offset, frame, combine([self.rate(c) for c in places], frame))
        return Link(body, origin, (*places, *angles), parent.pins)

    def attitude(self, i: int, frame: me.ReferenceFrame) -> tuple[me.ReferenceFrame, tuple[Coordinate, ...]]:
        """A frame turned by three body-fixed angles; its speeds are ω in body axes, or the angles' rates."""
        sequence, middle = self.draw.one_of(SEQUENCES)
        angles = tuple(self.coordinate(span=span) for span in (SPAN, middle, SPAN))
        body = me.ReferenceFrame(f"B{i}")
        body.orient_body_fixed(frame, [c.q for c in angles], sequence)
        omega = body.ang_vel_in(frame)  # in the angles' rates
        if self.draw.chance(0.75):
            self.kinds["omega_speeds"] += 1
            speeds = [c.u for c in angles]
            if self.solved_kinematics():
                self.kdes += me.kinematic_equations(speeds, [c.q for c in angles], "body", sequence)
            else:
                self.kdes += [u - omega.dot(e) for u, e in zip(speeds, body, strict=True)]
            body.set_ang_vel(frame, combine(speeds, body))
            for c in angles:
                c.solved = True
        else:
            self.kinds["angle_rates_of_ball"] += 1
            body.set_ang_vel(frame, omega.subs({c.q.diff(t): self.rate(c) for c in angles}))
        return body, angles

    def solved_kinematics(self) -> bool:
        solved = self.complete or self.style.chance(0.5)
        self.styles["kinematics_solved" if solved else "kinematics_implicit"] += 1
        return solved

    # ---------------------------------------------------------------- bodies

    def add_body(self, i: int, link: Link, joint: str) -> None:
        """Give a link its mass; a particle only where the joint turns it about no axis through its place."""
        frame = link.frame
        if joint == "slider" and self.draw.chance(0.5):
            self.add_particle(i, link, link.point)
        elif joint == "pin" and self.draw.chance(0.3):  # a bob on a massless rod
            bob = combine([self.number(f"c{i}{k}", 0.3, 0.9) for k in "xyz"], frame)
            self.add_particle(i, link, self.fixed_point(f"C{i}", link.point, bob, frame))
        else:
            self.add_rigid_body(i, link)

    def add_particle(self, i: int, link: Link, point: me.Point) -> None:
        self.kinds["particle"] += 1
        link.centre = point
        self.bodies.append(me.Particle(f"body{i}", point, self.number(f"m{i}", 0.3, 3)))

    def add_rigid_body(self, i: int, link: Link) -> None:
        self.kinds["rigid_body"] += 1
        frame, centre = link.frame, link.point
        if self.draw.chance(0.8):
            centre = self.fixed_point(f"C{i}", centre, self.vector(f"c{i}", frame, -0.9, 0.9), frame)
        axes, about = frame, centre
        if not self.plain and self.draw.chance(0.12):
            self.kinds["inertia_in_other_frame"] += 1
            axes = self.fixed_frame(f"I{i}", frame)
        if not self.plain and self.draw.chance(0.12):
            self.kinds["inertia_about_other_point"] += 1
            about = self.fixed_point(f"A{i}", centre, self.number(f"a{i}", 0.1, 0.2) * frame.x, frame)
        mass = self.number(f"m{i}", 0.3, 3)
        inertia = [self.number(f"I{i}{k}", 0.5, 1.2) for k in ("xx", "yy", "zz")]
        if self.draw.chance(0.6):
            inertia += [self.number(f"I{i}{k}", 0.1, 0.2) for k in ("xy", "yz", "zx")]
        link.centre = centre
        self.bodies.append(me.RigidBody(f"body{i}", centre, frame, mass, (me.inertia(axes, *inertia), about)))

    # ---------------------------------------------------------------- loads

    def load(self, on: me.Point | me.ReferenceFrame, vector: me.Vector) -> None:
        if self.style.chance(0.3):
            self.styles["load_object"] += 1
            self.loads.append(me.Force(on, vector) if isinstance(on, me.Point) else me.Torque(on, vector))
        else:
            self.styles["load_tuple"] += 1
            self.loads.append((on, vector))

    def magnitude(self, name: str, link: Link) -> sm.Expr:
        """A force or torque that is constant, an input, or a function of time, of a rate or of a coordinate."""
        kind = self.draw.weighted({"": 1, "input": 2, "load_in_t": 1, "drag": 1.5, "nonlinear_load": 1.5})
        c, k = self.draw.one_of(link.coordinates), self.number(f"k{name}", 0.5, 4)
        if kind:
            self.kinds[kind] += 1
        if kind == "input":
            self.inputs.append(me.dynamicsymbols(f"F{name}"))
            return self.inputs[-1]
        if kind == "load_in_t":
            return k * sm.cos(self.number(f"w{name}", 0.5, 3) * t)
        if kind == "drag":
            return -k * self.draw.one_of((c.u, c.u, c.q.diff(t)))
        if kind == "nonlinear_load":
            laws = (-sm.Abs(c.u) * c.u, -(c.q**3), sm.exp(-c.q), sm.atan(c.u), sm.sqrt(1 + c.q**2))
            return k * self.draw.one_of(laws)
        return k

    def add_gravity(self) -> None:
        self.kinds["gravity"] += 1
        down, g = self.draw.one_of((-self.N.z, -self.N.y, self.N.x)), self.number("g", 9.8, 9.8)
        for body in self.bodies:
            self.load(body.masscenter, body.mass * g * down)

    def add_point_load(self, k: int) -> None:
        self.kinds["point_load"] += 1
        link, other = self.draw.one_of(self.links), self.draw.one_of(self.links)
        offset = self.vector(f"s{k}", link.frame, -0.5, 0.5)
        point = self.fixed_point(f"S{k}", link.centre, offset, link.frame)
        frame = self.draw.one_of((link.frame, self.N, self.N if self.plain else other.frame))
        self.load(point, self.magnitude(f"p{k}", link) * combine(self.draw.one_of(AXES), frame))

    def add_motor(self, k: int) -> None:
        """A torque about a joint's axis, with its reaction on the other side."""
        joints = [link for link in self.links if link.motor]
        if joints:
            self.kinds["torque_pair"] += 1
            link = self.draw.one_of(joints)
            axis, on, reaction = link.motor
            torque = self.magnitude(f"m{k}", link) * axis
            self.load(on, torque)
            self.load(reaction, -torque)

    def add_spring(self, k: int) -> None:
        """A spring, perhaps with a damper, along the line between points of two bodies, or a body and the ground."""
        near = [link for link in self.links if link.depth <= SPRING_DEPTH]
        link, other = self.draw.shuffled(near)[:2] if len(near) > 1 else (near[0], None)
        tip = self.fixed_point(f"T{k}", link.centre, self.number(f"s{k}", 0.1, 0.3) * link.frame.x, link.frame)
        if other and self.draw.chance(0.5):
            base = other.centre
        else:  # out of the mechanism's reach, so that the length is never zero
            base = self.fixed_point(f"G{k}", self.O, self.number(f"r{k}", 5, 6) * self.N.x, self.N)
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
        else:
            self.load(tip, tension / length * reach)
            self.load(base, -tension / length * reach)

    # ---------------------------------------------------------------- speeds

    def add_kinematics(self) -> None:
        """Kinematical equations of the coordinates whose joints have not written them."""
        open_ones = [c for c in self.coordinates if not c.solved]
        if self.speeds == "mixed_speeds":
            self.kdes += self.mixed_kinematics(open_ones)
            return
        for c in open_ones:
            speed = c.q.diff(t)
            if self.speeds == "absolute_speeds" and c.pins_before:
                self.kinds["absolute_speeds"] += 1
                speed += sum(before.q.diff(t) for before in c.pins_before)
            else:
                self.kinds["rates"] += 1
            self.kdes.append(speed - c.u if self.style.chance(0.5) else c.u - speed)

    def mixed_kinematics(self, coordinates: list[Coordinate]) -> list[sm.Expr]:
        """u = P L q̇ + b(t): L lower triangular, so always regular, some entries functions of q; P a permutation."""
        equations = []
        speeds = self.draw.shuffled([c.u for c in coordinates])
        for row, (u, c) in enumerate(zip(speeds, coordinates, strict=True)):
            self.kinds["mixed_speeds"] += 1
            speed = self.draw.one_of((1, 1, 2, sm.Rational(1, 2))) * c.q.diff(t)
            for other in coordinates[:row]:
                if self.draw.chance(min(0.6, 2 / len(coordinates))):
                    entry = sm.Rational(self.draw.one_of((-3, -2, -1, 1, 2, 3)), self.draw.one_of((1, 2)))
                    if self.draw.chance(0.25):
                        self.kinds["mixed_speeds_in_q"] += 1
                        entry *= self.draw.one_of((sm.cos(c.q), sm.sin(other.q), other.q))
                    speed += entry * other.q.diff(t)
            if self.draw.chance(0.1):
                self.kinds["mixed_speeds_in_t"] += 1
                speed += sm.sin(t) / 2
            equations.append(u - speed)
        return equations

    # ---------------------------------------------------------------- the whole

    def grow(self) -> dict[str, Any]:
        for i in range(1, self.n_bodies + 1):
            self.add_link(i)
        draw = self.draw
        heads = (self.ground, *self.links)
        self.kinds["branched" if any(link.children > 1 for link in heads) else "serial"] += 1
        if self.n_bodies >= 6:
            self.kinds["six_or_more_bodies"] += 1
        falls = draw.chance(0.85)
        if falls:
            self.add_gravity()
        for k in range(draw.integer(0 if falls else 1, 2)):
            self.add_point_load(k + 1)
        for k in range(draw.integer(0, 2)):
            self.add_motor(k + 1)
        for k in range(draw.integer(0, 1)):
            self.add_spring(k + 1)
        self.add_kinematics()

        coordinates, kdes = self.coordinates, self.kdes
        q, u = [c.q for c in coordinates], [c.u for c in coordinates if c.u is not None]
        if draw.chance(0.4):
            self.kinds["shuffled_order"] += 1
            coordinates, u, kdes = draw.shuffled(coordinates), draw.shuffled(u), draw.shuffled(kdes)
            q = [c.q for c in coordinates]
        bodies = self.bodies
        if self.style.chance(0.3):
            self.styles["bodies_out_of_order"] += 1
            bodies = self.style.shuffled(bodies)
        return {
            "frame": self.N,
            "origin": self.O,
            "q": q,
            "u": u,
            "kdes": kdes,
            "bodies": bodies,
            "loads": self.loads,
            "parameters": self.values,
            "inputs": self.inputs,
            "prescribed": self.prescribed,
            "spans": [c.span for c in coordinates],
            "unit": [[q.index(c.q) for c in quaternion] for quaternion in self.quaternions],
            "kinds": self.kinds,
            "styles": self.styles,
        }

    def add_link(self, i: int) -> None:
        parents = [self.ground, *(link for link in self.links if link.depth < MAX_DEPTH)]
        which = self.draw.weighted({k: 1.0 if k else 0.5 for k in range(len(parents))})
        parent = parents[which] if self.links else self.ground
        joints = {"pin": 6.0, "slider": 3.0}
        if not self.plain:
            joints["universal"] = 1.2
        # three degrees of freedom in one joint cost SymPy most: two such joints at most, one in a large tree
        if self.kinds["ball"] + self.kinds["free"] < (1 if self.n_bodies > 4 else 2):
            joints["ball"] = 1.2 if parent.depth < 2 else 0
            joints["free"] = 1.2 if parent is self.ground else 0.2 if parent.depth == 1 and not self.plain else 0
        joint = self.draw.weighted(joints)
        link = getattr(self, joint)(i, parent, *self.mount(i, parent))
        link.depth = parent.depth + 1
        parent.children += 1
        self.links.append(link)
        self.add_body(i, link, joint)


def random_tree(seed: int, *, complete: bool = False) -> dict[str, Any]:
    """The mechanism of a seed: ``frame, q, u, kdes, bodies, loads`` as KanesMethod takes them, and

    ``parameters``: {symbol: value};
    ``inputs``: forces and torques given from outside;
    ``prescribed``: motions given from outside, with their first two derivatives;
    ``origin``: a point at rest;
    ``spans``: for each q the interval of its values, away from singular attitudes;
    ``unit``: for each quaternion the places of its parameters in q;
    ``kinds``, ``styles``: how often each of KINDS and STYLES occurs.
    """
    return Tree(seed, complete).grow()


def random_state(tree: dict[str, Any], seed: int) -> dict[str, Any]:
    """Time, coordinates, speeds, inputs and prescribed motions (value, rate, second rate), in short decimals.

    Quaternions are of unit length, as far as doubles can be.
    """
    draw = Draw(seed)
    t, q = draw.decimal(0, 2), [draw.decimal(*span) for span in tree["spans"]]
    for places in tree.get("unit", ()):
        length = math.sqrt(sum(q[k] ** 2 for k in places))
        for k in places:
            q[k] /= length
    return {
        "t": t,
        "q": q,
        "u": [draw.decimal(-2, 2) for _ in tree["u"]],
        "inputs": [draw.decimal(-5, 5) for _ in tree.get("inputs", ())],
        "prescribed": [[draw.decimal(-1.5, 1.5) for _ in range(3)] for _ in tree.get("prescribed", ())],
    }
