# SPDX-License-Identifier: BSD-3-Clause
"""Random mechanisms of SymPy's joints, actuators and pathways, of quaternions and of every function in a load.

``random_joint_tree(seed)`` describes a tree of 2 to 6 links like :func:`random_trees.random_tree`.  Some are a
``System`` of joints alone, with its gravity and actuators; the others mix joints that SymPy makes with joints written
out, on bodies that perhaps move by a prescribed motion.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

from .random_trees import AXES, DIRECTIONS, DRIVES, MAX_DEPTH, SPAN, Coordinate, Link, Tree, combine, t

SYMPY_JOINTS = ("pin_joint", "prismatic_joint", "cylindrical_joint", "planar_joint", "spherical_joint", "weld_joint")

#: Laws of a force in a coordinate and a speed.
FUNCTIONS: dict[str, Callable[[sm.Expr, sm.Expr], sm.Expr]] = {
    "abs": lambda q, u: -sm.Abs(u) * u,
    "sign": lambda q, u: -sm.sign(u),
    "sqrt": lambda q, u: sm.sqrt(1 + q**2),
    "half_integer_power": lambda q, u: (1 + q**2) ** sm.Rational(3, 2) / (2 + u**2) ** sm.Rational(1, 2),
    "rational_power": lambda q, u: (2 + sm.sin(q)) ** sm.Rational(2, 3) - (1 + u**2) ** sm.Rational(-4, 3),
    "exp": lambda q, u: sm.exp(-q),
    "log": lambda q, u: sm.log(2 + q**2),
    "tan": lambda q, u: sm.tan(q / 2),
    "asin_acos": lambda q, u: sm.asin(sm.sin(q) / 2) + sm.acos(u / 4),
    "atan": lambda q, u: sm.atan(u),
    "atan2": lambda q, u: sm.atan2(sm.sin(q), u),
    "hyperbolic": lambda q, u: sm.sinh(q) - sm.cosh(u / 2),
    "tanh": lambda q, u: -sm.tanh(4 * u),
    "piecewise": lambda q, u: sm.Piecewise((-q * (1 + u / 2), q > 0), (sm.Rational(1, 3), q < -1), (q**2, True)),
    "heaviside": lambda q, u: sm.Heaviside(q) * q - sm.Heaviside(-u, 0),
    "min_max": lambda q, u: sm.Min(q, sm.Rational(1, 2)) + sm.Max(u, -1, q),
}

#: What a tree may contain; ``tree["kinds"]`` counts them.
JOINT_KINDS = (
    *("system", "system_gravity", "joints_and_frames", *SYMPY_JOINTS),
    *("spherical_body", "spherical_space", "amounts_in_other_order", "particle_on_joint"),
    *("interframe_vector", "interframe_frame", "parent_point", "child_point", "joint_axis_default"),
    *("joint_axis_basis", "joint_axis_general", "joint_axis_irrational", "own_coordinates", "default_coordinates"),
    *("explicit_dcm", "body_fixed", "space_fixed", "quaternion", "quaternion_speeds", "quaternion_rates", "free"),
    *("inertia_about_other_point", "inertia_in_other_frame", "inertia_in_carrier", "inertia_in_inertial_frame"),
    *("inertia_that_varies", "bodies_on_one_frame", "universal", "moving_point", "massless_body"),
    *("wire", "geared", "omega_in_inertial_frame"),
    *("linear_spring", "linear_damper", "force_actuator", "duffing_spring", "friction"),
    *("linear_pathway", "obstacle_pathway", "torque_actuator", "torque_at_pin_joint", "torque_on_ground"),
    *DRIVES,
    *(f"load_{name}" for name in FUNCTIONS),
)

SEQUENCES = ("123", "132", "213", "231", "312", "321", "121", "131", "212", "232", "313", "323")


def middle_span(sequence: str) -> tuple[float, float]:
    """Values of the middle angle that keep away from the singular attitude."""
    return (0.5, 2.4) if sequence[0] == sequence[2] else (-0.9, 0.9)


class JointTree(Tree):
    """A mechanism while it grows."""

    def __init__(self, seed: int, complete: bool) -> None:
        super().__init__(seed, complete)
        draw = self.draw
        self.n_bodies = draw.weighted({2: 20, 3: 30, 4: 25, 5: 10, 6: 5})
        self.plain, self.drive_chance = False, 0.2
        self.whole = draw.chance(0.4)
        self.kinds["system" if self.whole else "joints_and_frames"] += 1
        self.speeds = "rates" if self.whole else draw.weighted({"rates": 3, "mixed_speeds": 1})
        self.actuators: list[Any] = []
        self.joints: list[Any] = []
        inertia = me.inertia(self.N, *(self.number(f"I0{k}", 1, 2) for k in "xyz"))
        self.ground.body = me.RigidBody("ground", self.O, self.N, self.number("m0", 1, 9), (inertia, self.O))
        self.gravity = me.Vector(0)

    # ---------------------------------------------------------------- links

    def add_link(self, i: int) -> None:
        parents = [link for link in self.links if link.depth < MAX_DEPTH and not isinstance(link.body, me.Particle)]
        parents.append(self.ground)
        parent = self.draw.one_of(parents) if self.links else self.ground
        joints = {"pin_joint": 3.0, "prismatic_joint": 2.5, "cylindrical_joint": 2.0, "planar_joint": 2.0}
        joints["spherical_joint"] = 2.5
        if self.links:
            joints["weld_joint"] = 1.5
        if not self.whole:
            joints |= {"pin": 5.0, "slider": 1.0, "universal": 2.5, "explicit": 2.5, "ball": 5.0}
            joints |= {"wire": 1.5, "geared": 2.0}
            joints["free"] = 2.5 if parent is self.ground else 0.5
        name = self.draw.weighted(joints)
        if name in SYMPY_JOINTS:
            link = self.by_joint(i, parent, name)
        else:
            self.drives = DRIVES
            link = getattr(self, name)(i, parent, *self.mount(i, parent))
            self.add_body(i, link, name)
            link.body = me.RigidBody(f"carrier{i}", link.point, link.frame)  # what a joint of SymPy's may sit on
        if name in ("slider", "wire"):  # its point moves in its frame, and SymPy's joints would say that it does not
            link.body = me.Particle(f"end{i}", link.point)
        link.depth = parent.depth + 1
        parent.children += 1
        self.links.append(link)
        if isinstance(link.body, me.RigidBody) and self.draw.chance(0.2):
            self.add_passenger(i, link)

    def add_passenger(self, i: int, link: Link, solid: bool = False) -> None:
        """One more body on the frame of a link: ``solid`` where nothing else resists a rotation of the frame."""
        self.kinds["bodies_on_one_frame"] += 1
        seat = self.fixed_point(f"E{i}", link.point, self.vector(f"e{i}", link.frame, -0.8, 0.8), link.frame)
        mass = self.number(f"n{i}", 0.2, 2)
        if not solid and self.draw.chance(0.5):
            self.bodies.append(me.Particle(f"passenger{i}", seat, mass))
        else:
            moments = [self.number(f"J{i}{k}", 0.5, 1.2) for k in "xyz"]
            tensor = me.inertia(link.frame, *moments)
            self.bodies.append(me.RigidBody(f"passenger{i}", seat, link.frame, mass, (tensor, seat)))

    def by_joint(self, i: int, parent: Link, name: str) -> Link:
        """A link held by one of SymPy's joints: on a body of the system, or on any point and frame."""
        if self.whole:
            carrier = parent.body
        else:
            self.drives = DRIVES[:2]  # SymPy's joints take it that their point does not move in their frame
            frame, point = self.mount(i, parent)
            carrier = me.RigidBody(f"H{i}", point, frame)
        child = self.child(i, name)
        options: dict[str, Any] = {}
        for side, body in (("parent", carrier), ("child", child)):
            frame = getattr(body, "frame", None)
            if frame is None:  # of a particle
                options["child_interframe"] = frame = me.ReferenceFrame(f"B{i}")
            elif kind := self.draw.weighted({"": 5, "interframe_vector": 2, "interframe_frame": 2}):
                self.kinds[kind] += 1
                along = kind == "interframe_vector"
                turned = self.direction(frame)[0] if along else self.fixed_frame(f"{side}{i}", frame)
                options[f"{side}_interframe"] = turned
            if self.draw.chance(0.6):
                self.kinds[f"{side}_point"] += 1
                offset = self.vector(f"{side[0]}{i}", frame, -0.8, 0.8)
                named = body.masscenter.locatenew(f"{side}_point{i}", offset)
                options[f"{side}_point"] = offset if isinstance(body, me.Particle) or self.style.chance(0.5) else named
        joint = getattr(self, f"make_{name}")(f"J{i}", carrier, child, options)
        self.kinds[name] += 1
        self.joints.append(joint)
        coordinates = tuple(c for c in self.coordinates if c.q in list(joint.coordinates))
        if not self.whole:
            self.kdes += list(joint.kdes)
            self.bodies.append(child)
        for c in coordinates:
            c.solved = True
        motor = None
        if name in ("pin_joint", "cylindrical_joint"):
            motor = joint.joint_axis, joint.child_interframe, joint.parent_interframe
        return Link(
            joint.child_interframe if isinstance(child, me.Particle) else child.frame,
            joint.child_point,
            coordinates or parent.coordinates or tuple(self.coordinates[:1]),
            motor=motor,
            centre=child.masscenter,
            body=child,
            joint=joint,
        )

    def child(self, i: int, joint: str) -> me.RigidBody | me.Particle:
        """The body of a link that a joint of SymPy's will hold: its place is not known yet."""
        centre, mass = me.Point(f"C{i}"), self.number(f"m{i}", 0.3, 3)
        if joint == "prismatic_joint" and self.draw.chance(0.4):
            self.kinds["particle_on_joint"] += 1
            return me.Particle(f"body{i}", centre, mass)
        frame = me.ReferenceFrame(f"B{i}")
        axes, about = frame, centre
        if self.draw.chance(0.2):
            self.kinds["inertia_in_other_frame"] += 1
            axes = self.fixed_frame(f"I{i}", frame)
        if self.draw.chance(0.2):
            self.kinds["inertia_about_other_point"] += 1
            about = centre.locatenew(f"A{i}", self.number(f"a{i}", 0.1, 0.2) * frame.y)
        return me.RigidBody(f"body{i}", centre, frame, mass, (me.inertia(axes, *self.moments(i)), about))

    def moments(self, i: int) -> list[sm.Expr]:
        inertia = [self.number(f"I{i}{k}", 0.5, 1.2) for k in ("xx", "yy", "zz")]
        if self.draw.chance(0.5):
            inertia += [self.number(f"I{i}{k}", 0.1, 0.2) for k in ("xy", "yz", "zx")]
        return inertia

    # ---------------------------------------------------------------- SymPy's joints

    def direction(self, frame: me.ReferenceFrame) -> tuple[me.Vector, str]:
        kind = self.draw.weighted({"basis": 3, "general": 2, "irrational": 0.7})
        if kind == "basis":
            return combine(self.draw.one_of(AXES), frame), kind
        if kind == "irrational":
            return combine(self.draw.one_of(((1, 1, 0), (0, 1, -1), (1, 1, 1))), frame), kind
        numerators, denominator = self.draw.one_of(DIRECTIONS)
        return combine([sm.Rational(n, denominator) for n in numerators], frame), kind

    def given(self, n: int, spans: Sequence[tuple[float, float]] | None = None) -> list[Coordinate] | None:
        """Coordinates and speeds that the user names, or None: SymPy names them."""
        if self.draw.chance(0.3):
            self.kinds["default_coordinates"] += 1
            return None
        self.kinds["own_coordinates"] += 1
        return [self.coordinate(span=span) for span in spans or [SPAN] * n]

    def adopt(self, joint: Any, spans: Sequence[tuple[float, float]] | None = None) -> Any:
        """Keep the coordinates that SymPy has named."""
        known, n = {c.q for c in self.coordinates}, len(joint.coordinates)
        for q, u, span in zip(joint.coordinates, joint.speeds, spans or [SPAN] * n, strict=True):
            if q not in known:
                self.coordinates.append(Coordinate(q, u, span))
        return joint

    def about_axis(self, make: Any, n: int, name: str, carrier: Any, child: Any, options: dict[str, Any]) -> Any:
        if self.draw.chance(0.8):
            options["joint_axis"], kind = self.direction(carrier.frame)
            self.kinds[f"joint_axis_{kind}"] += 1
        else:
            self.kinds["joint_axis_default"] += 1
        if mine := self.given(n):
            if n == 1:
                options |= {"coordinates": mine[0].q, "speeds": mine[0].u}
            else:
                turn, slide = mine
                options |= {"rotation_coordinate": turn.q, "rotation_speed": turn.u}
                options |= {"translation_coordinate": slide.q, "translation_speed": slide.u}
        return self.adopt(make(name, carrier, child, **options))

    def make_pin_joint(self, *arguments: Any) -> Any:
        return self.about_axis(me.PinJoint, 1, *arguments)

    def make_prismatic_joint(self, *arguments: Any) -> Any:
        return self.about_axis(me.PrismaticJoint, 1, *arguments)

    def make_cylindrical_joint(self, *arguments: Any) -> Any:
        return self.about_axis(me.CylindricalJoint, 2, *arguments)

    def make_planar_joint(self, name: str, carrier: Any, child: Any, options: dict[str, Any]) -> Any:
        if mine := self.given(3):
            turn, *places = mine
            options |= {"rotation_coordinate": turn.q, "rotation_speed": turn.u}
            options |= {"planar_coordinates": [c.q for c in places], "planar_speeds": [c.u for c in places]}
        return self.adopt(me.PlanarJoint(name, carrier, child, **options))

    def make_spherical_joint(self, name: str, carrier: Any, child: Any, options: dict[str, Any]) -> Any:
        kind, sequence = self.draw.one_of(("body", "space")), self.draw.one_of(SEQUENCES)
        self.kinds[f"spherical_{kind}"] += 1
        spans = [SPAN, middle_span(sequence), SPAN]
        if mine := self.given(3, spans):
            options |= {"coordinates": [c.q for c in mine], "speeds": [c.u for c in mine]}
            if self.draw.chance(0.4):  # the first and the last angle change places
                self.kinds["amounts_in_other_order"] += 1
                options["amounts"] = [c.q for c in mine[::-1]]
        rot_order = self.style.one_of((int(sequence), sequence, sequence.translate(str.maketrans("123", "XYZ"))))
        joint = me.SphericalJoint(name, carrier, child, rot_type=kind.upper(), rot_order=rot_order, **options)
        return self.adopt(joint, spans)

    def make_weld_joint(self, name: str, carrier: Any, child: Any, options: dict[str, Any]) -> Any:
        return me.WeldJoint(name, carrier, child, **options)

    # ---------------------------------------------------------------- orientations written out

    def explicit(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """A matrix that the user has written: Rodrigues' formula about any axis."""
        self.kinds["explicit_dcm"] += 1
        c = self.coordinate()
        numerators, denominator = self.draw.one_of((*DIRECTIONS, ((0, 0, 1), 1), ((0, 1, 0), 1)))
        x, y, z = (sm.Rational(n, denominator) for n in numerators)
        cross = sm.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        rotation = sm.eye(3) + sm.sin(c.q) * cross + (1 - sm.cos(c.q)) * cross * cross
        body = me.ReferenceFrame(f"B{i}")
        if self.style.chance(0.5):
            body.orient_explicit(frame, rotation)
        else:
            body.orient_dcm(frame, rotation.T)
        if self.speeds != "mixed_speeds" and self.style.chance(0.5):
            body.set_ang_vel(frame, self.rate(c) * combine((x, y, z), frame))
        return Link(body, point, (c,))

    def geared(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """A frame whose angle is a function of its coordinate and of another one."""
        self.kinds["geared"] += 1
        others = [c for c in self.coordinates if c.u is not None]
        c = self.coordinate()
        angle = self.draw.one_of((2, sm.Rational(1, 3))) * c.q
        if others and self.draw.chance(0.7):
            angle += self.draw.one_of((-1, sm.Rational(1, 2))) * self.draw.one_of(others).q
        elif self.draw.chance(0.5):
            angle += c.q**3 / 6
        body = me.ReferenceFrame(f"B{i}")
        body.orient_axis(frame, self.direction(frame)[0], angle)
        return Link(body, point, (c,))

    def wire(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        """A bead on a curve of its carrier."""
        self.kinds["wire"] += 1
        c, size = self.coordinate(), self.number(f"w{i}", 0.4, 0.9)
        shapes = (c.q, size * sm.cos(c.q), size * c.q**2), (size * sm.sin(2 * c.q), sm.sqrt(1 + c.q**2), sm.exp(c.q))
        place = self.draw.shuffled(self.draw.one_of(shapes))
        rates = [x.diff(c.q) * self.rate(c) for x in place]
        bead = self.moving_point(f"P{i}", point, combine(place, frame), frame, combine(rates, frame))
        return Link(frame, bead, (c,))

    def attitude(self, i: int, frame: me.ReferenceFrame) -> tuple[me.ReferenceFrame, tuple[Coordinate, ...]]:
        kind = self.draw.weighted({"body_fixed": 3, "space_fixed": 3, "quaternion": 4})
        self.kinds[kind] += 1
        body = me.ReferenceFrame(f"B{i}")
        absolute = frame is not self.N and self.draw.chance(0.3)  # the speeds are then ω in the inertial frame
        if kind == "quaternion":
            return body, self.quaternion(i, frame, body, absolute)
        sequence = self.draw.one_of(SEQUENCES)
        angles = tuple(self.coordinate(span=span) for span in (SPAN, middle_span(sequence), SPAN))
        orient = body.orient_body_fixed if kind == "body_fixed" else body.orient_space_fixed
        orient(frame, [c.q for c in angles], sequence)
        omega = body.ang_vel_in(frame)  # in the angles' rates
        if absolute or self.draw.chance(0.6):
            speeds = [c.u for c in angles]
            if absolute:
                self.kinds["omega_in_inertial_frame"] += 1
                whole = omega + frame.ang_vel_in(self.N)
                self.kdes += [u - whole.dot(e) for u, e in zip(speeds, body, strict=True)]
            elif self.solved_kinematics():
                self.kdes += me.kinematic_equations(speeds, [c.q for c in angles], kind.split("_")[0], sequence)
            else:
                self.kdes += [u - omega.dot(e) for u, e in zip(speeds, body, strict=True)]
            body.set_ang_vel(self.N if absolute else frame, combine(speeds, body))
            for c in angles:
                c.solved = True
        elif self.speeds == "rates":
            body.set_ang_vel(frame, omega.xreplace({c.q.diff(t): self.rate(c) for c in angles}))
        return body, angles

    def quaternion(
        self, i: int, frame: me.ReferenceFrame, body: me.ReferenceFrame, absolute: bool
    ) -> tuple[Coordinate, ...]:
        """Four parameters of unit length with ė = E ω / 2; the speeds are ω, or the absolute ω, in body axes."""
        scalar = Coordinate(me.dynamicsymbols(f"e{i}"), None, SPAN, solved=True)
        self.coordinates.append(scalar)
        others = tuple(self.coordinate() for _ in range(3))
        self.quaternions.append((scalar, *others))
        e, speeds = [c.q for c in (scalar, *others)], [c.u for c in others]
        body.orient_quaternion(frame, e)
        turning = list(speeds)
        if absolute:
            self.kinds["omega_in_inertial_frame"] += 1
            carried = frame.ang_vel_in(self.N)
            turning = [u - carried.dot(b) for u, b in zip(speeds, body, strict=True)]
            body.set_ang_vel(self.N, combine(speeds, body))
        elif self.draw.chance(0.7):
            self.kinds["quaternion_speeds"] += 1
            body.set_ang_vel(frame, combine(speeds, body))
        else:
            self.kinds["quaternion_rates"] += 1  # SymPy's angular velocity, in the rates of the parameters
        if self.style.chance(0.5):
            self.kdes += me.kinematic_equations(turning, e, "quaternion")
        else:
            e0, e1, e2, e3 = e
            E = sm.Matrix([[-e1, -e2, -e3], [e0, -e3, e2], [e3, e0, -e1], [-e2, e1, e0]])
            self.kdes += list(sm.Matrix(e).diff(t) - E * sm.Matrix(turning) / 2)
        for c in others:
            c.solved = True
        return others

    # ---------------------------------------------------------------- bodies of links written out

    def pin(self, i: int, parent: Link, frame: me.ReferenceFrame, point: me.Point) -> Link:
        link = super().pin(i, parent, frame, point)
        link.pins = ()
        self.carried = frame, link.motor[0]
        return link

    def add_body(self, i: int, link: Link, joint: str) -> None:
        if joint == "universal" and self.draw.chance(0.5):  # what it carries has the mass
            self.kinds["massless_body"] += 1
            link.centre = link.point
            self.add_passenger(i, link, solid=True)
        elif joint == "pin" and self.draw.chance(0.7):
            self.add_wheel(i, link)
        else:
            super().add_body(i, link, joint)

    def add_wheel(self, i: int, link: Link) -> None:
        """A body whose inertia is written in its carrier's axes or in the inertial ones; it may vary with time."""
        carrier, axis = self.carried
        one, other = self.number(f"I{i}a", 0.5, 1.2), self.number(f"I{i}t", 0.5, 1.2)
        kind = self.draw.one_of(("inertia_in_carrier", "inertia_in_inertial_frame", "inertia_that_varies"))
        self.kinds[kind] += 1
        components = axis.to_matrix(carrier)
        if kind == "inertia_in_inertial_frame":
            tensor = me.inertia(self.N, one, one, one)
        elif kind == "inertia_in_carrier":  # symmetric about the axis: ε 1 + (ι − ε) n n
            n = components / sm.sqrt(components.dot(components))
            full = other * sm.eye(3) + (one - other) * n * n.T
            tensor = me.inertia(carrier, full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[1, 2], full[2, 0])
        else:
            tensor = me.inertia(carrier, *self.moments(i))
        link.centre = self.fixed_point(f"C{i}", link.point, self.number(f"c{i}", 0.2, 0.6) * axis, link.frame)
        mass = self.number(f"m{i}", 0.3, 3)
        self.bodies.append(me.RigidBody(f"body{i}", link.centre, link.frame, mass, (tensor, link.centre)))

    # ---------------------------------------------------------------- loads

    def magnitude(self, name: str, link: Link) -> sm.Expr:
        kind = self.draw.weighted({"constant": 1, "input": 1, "load_in_t": 1, "function": 7})
        c, k = self.draw.one_of(link.coordinates), self.number(f"k{name}", 0.5, 4)
        if kind == "function":
            laws = self.draw.shuffled(list(FUNCTIONS))[:2]
            self.kinds.update(f"load_{law}" for law in laws)
            speed = c.u if self.whole or self.draw.chance(0.7) else c.q.diff(t)
            return k * sum(FUNCTIONS[law](c.q, speed) for law in laws)
        if kind == "input":
            self.inputs.append(me.dynamicsymbols(f"F{name}"))
            return self.inputs[-1]
        return k * sm.cos(self.number(f"w{name}", 0.5, 3) * t) if kind == "load_in_t" else k

    def add_gravity(self) -> None:
        if not self.whole:
            super().add_gravity()
            return
        self.kinds["system_gravity"] += 1
        down, g = self.draw.one_of((-self.N.z, -self.N.y, self.N.x)), self.number("g", 9.8, 9.8)
        self.gravity = g * down

    def add_point_load(self, k: int) -> None:
        if self.draw.chance(0.6):
            super().add_point_load(k)
            return
        self.kinds["moving_point"] += 1  # it travels along a line in its body: with time, or with a coordinate
        link = self.draw.one_of(self.links)
        way, c = self.number(f"s{k}", 0.2, 0.6), self.draw.one_of(link.coordinates)
        along = combine(self.draw.one_of(AXES), link.frame)
        if self.draw.chance(0.5):
            place, rate = way * sm.sin(2 * t), 2 * way * sm.cos(2 * t)
        else:
            place, rate = way * sm.sin(c.q), way * sm.cos(c.q) * c.q.diff(t)
        point = self.moving_point(f"S{k}", link.centre, place * along, link.frame, rate * along)
        self.load(point, self.magnitude(f"p{k}", link) * combine(self.draw.one_of(AXES), self.N))

    def add_motor(self, k: int) -> None:
        joints = [link for link in self.links if link.motor]
        if not joints:
            return
        link = self.draw.one_of(joints)
        axis, on, reaction = link.motor
        torque = self.magnitude(f"m{k}", link)
        if isinstance(link.joint, me.PinJoint) and self.draw.chance(0.6):
            self.kinds["torque_at_pin_joint"] += 1
            self.actuators.append(me.TorqueActuator.at_pin_joint(torque, link.joint))
        elif self.draw.chance(0.5):
            self.kinds["torque_actuator"] += 1
            self.actuators.append(me.TorqueActuator(torque, axis, on, reaction))
        else:
            self.kinds["torque_on_ground"] += 1
            self.actuators.append(me.TorqueActuator(torque, axis, on, self.N if self.draw.chance(0.5) else None))

    def add_spring(self, k: int) -> None:
        """A spring, damper or actuator between two points, straight or around obstacles."""
        near = [link for link in self.links if link.depth <= 2]
        link, other = self.draw.shuffled(near)[:2] if len(near) > 1 else (near[0], None)
        tip = self.fixed_point(f"T{k}", link.centre, self.number(f"s{k}", 0.1, 0.3) * link.frame.x, link.frame)
        # out of the mechanism's reach, so that no length is ever zero
        far = self.fixed_point(f"G{k}", self.O, self.number(f"r{k}", 8, 9) * self.N.x, self.N)
        if other and self.draw.chance(0.4) and other.frame is not link.frame:
            self.kinds["obstacle_pathway"] += 1
            pathway = me.ObstacleSetPathway(tip, far, other.centre)
        elif self.draw.chance(0.3):
            self.kinds["obstacle_pathway"] += 1
            further = self.fixed_point(f"D{k}", far, self.number(f"d{k}", 1, 2) * self.N.y, self.N)
            pathway = me.ObstacleSetPathway(tip, far, further)
        else:
            self.kinds["linear_pathway"] += 1
            pathway = me.LinearPathway(tip, far)
        kind = self.draw.one_of(("linear_spring", "linear_damper", "force_actuator", "duffing_spring", "friction"))
        self.kinds[kind] += 1
        stiffness, rest = self.number(f"ks{k}", 1, 9), self.number(f"ls{k}", 0.2, 0.6)
        if kind == "linear_spring":
            actuator = me.LinearSpring(stiffness, pathway, rest)
        elif kind == "linear_damper":
            actuator = me.LinearDamper(stiffness, pathway)
        elif kind == "duffing_spring":
            actuator = me.DuffingSpring(stiffness, rest, pathway, rest)
        elif kind == "friction":
            actuator = self.friction(stiffness, rest, pathway)
        else:
            actuator = me.ForceActuator(self.magnitude(f"a{k}", link), pathway)
        self.actuators.append(actuator)

    def friction(self, normal: sm.Expr, mu: sm.Expr, pathway: Any) -> Any:
        """Coulomb's friction with Stribeck's and a viscous part: SymPy 1.14 has it as an actuator."""
        slow, viscous, static = sm.Rational(1, 2), sm.Rational(1, 5), 2 * mu
        if hasattr(me, "CoulombKineticFriction"):
            return me.CoulombKineticFriction(mu, normal, pathway, v_s=slow, sigma=viscous, mu_s=static)
        v = pathway.extension_velocity
        dry = (mu + (static - mu) * sm.exp(-((v / slow) ** 2))) * normal
        return me.ForceActuator(-dry * sm.sign(v) - viscous * v, pathway)

    # ---------------------------------------------------------------- the whole

    def grow(self) -> dict[str, Any]:
        result = super().grow()
        if not self.whole:
            return result | {"loads": [*self.loads, *(load for a in self.actuators for load in a.to_loads())]}
        system = me.System.from_newtonian(self.ground.body)
        system.add_joints(*self.joints)
        system.add_bodies(*self.bodies)
        system.add_loads(*self.loads)
        if self.gravity != 0:
            system.apply_uniform_gravity(self.gravity)
        system.add_actuators(*self.actuators)
        q, spans = list(system.q), {c.q: c.span for c in self.coordinates}
        loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
        return result | {
            "system": system,
            "q": q,
            "u": list(system.u),
            "kdes": list(system.kdes),
            "bodies": list(system.bodies),
            "loads": loads,
            "spans": [spans[x] for x in q],
        }


def random_joint_tree(seed: int, *, complete: bool = False) -> dict[str, Any]:
    """The mechanism of a seed, as :func:`random_trees.random_tree` gives it; perhaps its ``system`` as well."""
    with warnings.catch_warnings():  # SymPy warns where it finds a velocity that several points would give
        warnings.simplefilter("ignore", UserWarning)
        return JointTree(seed, complete).grow()
