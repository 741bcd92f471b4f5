# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms that are described without SymPy, for tests of `kanecore.describe.builder`."""

from fractions import Fraction

from kanecore.describe.builder import Builder
from kanecore.describe.description import Description, Image
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.vectors import Components, Matrix, Vector

__all__ = ["MODELS", "about_z", "copied", "pendulum"]


def about_z(g: Graph, angle: int) -> Matrix:
    """v_parent = rotation @ v_frame of a frame that is turned about the z that both share."""
    c, s = g.cos(angle), g.sin(angle)
    return (c, g.neg(s), 0), (s, c, 0), (0, 0, 1)


def about_x(g: Graph, angle: int) -> Matrix:
    c, s = g.cos(angle), g.sin(angle)
    return (1, 0, 0), (0, c, g.neg(s)), (0, s, c)


def pendulum() -> Builder:
    """All of a pendulum of one particle, for tests to add to."""
    b = Builder("pendulum")
    g, q, u = b.graph, b.coordinate("q"), b.speed("u")
    b.rate(q, u)
    rod = b.frame("A", b.inertial, about_z(g, q))
    b.angular_velocity(rod, ((rod, (0, 0, u)),))
    origin = b.point("O", velocity=())
    bob = b.point("P", origin, ((rod, (b.parameter("l"), 0, 0)),))
    b.body("bob", bob, b.parameter("m"))
    return b


def double_pendulum() -> Description:
    """Two particles, a torque on the upper rod, a spring and a damper from the ground to the lower particle."""
    b = Builder("double_pendulum")
    g = b.graph
    q, u = [b.coordinate(f"q{i}") for i in (1, 2)], [b.speed(f"u{i}") for i in (1, 2)]
    m1, m2, length, gravity, stiffness, damping = (b.parameter(n) for n in ("m1", "m2", "l", "g", "k", "c"))
    torque = b.input("T")
    frames = []
    for name, angle, speed in zip("AB", q, u, strict=True):
        b.rate(angle, speed)
        frames.append(b.frame(name, b.inertial, about_z(g, angle)))
        b.angular_velocity(frames[-1], ((b.inertial, (0, 0, speed)),))
    origin = b.point("O", velocity=())
    hook = b.point("H", origin, ((b.inertial, (length, 0, 0)),))
    first = b.point("P1", origin, ((frames[0], (0, g.neg(length), 0)),))
    second = b.point("P2", first, ((frames[1], (0, g.neg(length), 0)),))
    for name, point, mass in (("P1", first, m1), ("P2", second, m2)):
        b.body(name, point, mass)
        b.force(point, ((b.inertial, (0, g.neg(g.mul(mass, gravity)), 0)),))
    b.torque(frames[0], ((b.inertial, (0, 0, torque)),))
    stretch, rate = b.line()
    b.tendon([hook, second], g.neg(g.add(g.mul(stiffness, stretch), g.mul(damping, rate))))
    b.output("height", g.mul(length, g.cos(q[0])))
    b.list_in_order([gravity, m1, m2, length, stiffness, damping], [torque])
    return b.description()


def pendulum_on_a_base() -> Description:
    """A rigid pendulum whose pivot moves as s(t), its inertia given about the pivot; a torsion spring."""
    b = Builder("pendulum_on_a_base")
    g, q, u = b.graph, b.coordinate("q"), b.speed("u")
    b.rate(q, u)
    mass, inertia, length, stiffness = (b.parameter(n) for n in ("m", "I", "l", "k"))
    s = b.input("s")
    frame = b.frame("A", b.inertial, about_z(g, q))
    b.angular_velocity(frame, ((frame, (0, 0, u)),))
    origin = b.point("O", velocity=())
    pivot = b.point("S", origin, ((b.inertial, (s, 0, 0)),))
    centre = b.point("C", pivot, ((frame, (length, 0, 0)),))
    tensor = ((frame, ((0, 0, 0), (0, inertia, 0), (0, 0, inertia))),)
    about = ((frame, (g.neg(length), 0, 0)),)
    b.body("rod", centre, mass, frame=frame, inertia=tensor, about=about)
    b.potential(g.mul(g.constant(Fraction(1, 2)), g.mul(stiffness, g.square(q))))
    b.joint("pin", -1, 0, pivot)
    b.show(points=[pivot])
    b.origin(b.point("wall", origin, ((b.inertial, (length, 0, 0)),)))
    return b.description()


def rolling_disc() -> Description:
    """The disc of the gallery, described with the same scalars."""
    b = Builder("rolling_disc")
    g = b.graph
    q = [b.coordinate(f"q{i}") for i in range(1, 6)]
    u = [b.speed(f"u{i}", dependent=i > 3) for i in range(1, 6)]
    gravity, mass, radius = (b.parameter(n) for n in ("g", "m", "R"))
    heading_rate = g.div(u[1], g.cos(q[1]))
    spin = g.sub(u[2], g.mul(heading_rate, g.sin(q[1])))
    for x, rate in zip(q, (heading_rate, g.neg(u[0]), spin, u[3], u[4]), strict=True):
        b.rate(x, rate)
    heading = b.frame("A", b.inertial, about_z(g, q[0]))
    b.angular_velocity(heading, ((heading, (0, 0, heading_rate)),))
    half_turn = g.mul(g.constant(Fraction(1, 2)), g.pi)
    lean = b.frame("B", heading, about_x(g, g.sub(half_turn, q[1])))
    b.angular_velocity(lean, ((lean, (u[0], 0, 0)),))
    disc = b.frame("C", lean, about_z(g, q[2]), angular_parent=b.inertial)
    b.angular_velocity(disc, ((lean, (u[0], u[1], u[2])),))
    origin = b.point("O", velocity=())
    contact = b.point("P", origin, ((b.inertial, (q[3], q[4], 0)),))
    centre = b.point("C", contact, ((lean, (0, radius, 0)),))
    slip = g.mul(radius, spin)
    velocity: Vector = ((b.inertial, (u[3], u[4], 0)), (heading, (slip, 0, 0)))
    rim = b.point("T", contact, velocity=velocity)
    along = g.mul(g.constant(Fraction(1, 2)), g.mul(mass, g.square(radius)))
    across = g.mul(g.constant(Fraction(1, 2)), along)
    tensor = ((lean, ((across, 0, 0), (0, across, 0), (0, 0, along))),)
    body = b.body("disc", centre, mass, frame=disc, inertia=tensor)
    b.force(centre, ((b.inertial, (0, 0, g.neg(g.mul(mass, gravity)))),))
    for row, (v, turned) in enumerate(((u[3], g.cos(q[0])), (u[4], g.sin(q[0])))):
        b.constraint("velocity", g.add(v, g.mul(slip, turned)))
        axis: Components = (1, 0, 0) if row == 0 else (0, 1, 0)
        b.attach(row, "force", (body, rim), (-1, origin), ((b.inertial, axis),))
    b.list_in_order([radius, gravity, mass], [])
    return b.description()


def copied(d: Description) -> tuple[Description, Description]:
    """A description said again, piece by piece, as a transform of models says it; and what it should be."""
    b = Builder(d.name, d.frames[0].name)
    image = Image(d.graph, b.graph, copied_symbols(d, b))
    state = (*d.coordinates, *d.speeds)
    for x, rate in zip(d.coordinates, d.rates, strict=True):
        b.rate(image.node(x), image.node(rate))
    for group in d.unit:
        b.unit(*image.nodes([d.coordinates[i] for i in group]))
    for place, value in d.guess:
        b.guess(image.node(state[place]), value)
    copy_places(d, b, image)
    for c in d.constraints:
        b.constraint(c.kind, image.node(c.node), c.name)
    for a in d.attachments:
        b.attach(a.row, a.kind, (a.child, a.child_at), (a.parent, a.parent_at), image.vector(a.vector))
    for load in d.loads:
        add = b.force if load.kind == "force" else b.torque
        add(load.at, image.vector(load.vector), load.number)
    for energy in d.potentials:
        b.potential(image.node(energy))
    for name, node in d.outputs:
        b.output(name, image.node(node))
    b.show(d.shown_points, d.shown_frames)
    if d.origin >= 0:
        b.origin(d.origin)
    for body, shape in d.shapes:
        b.shape(body, shape)
    b.left_out(d.left_out_parameters, d.left_out_inputs)
    return b.description(), image.description(d)


def copied_symbols(d: Description, b: Builder) -> dict[int, int]:
    """All symbols of a description, made anew: the new nodes by the old ones."""
    swap = {d.time: b.time}
    n_q, n_u = len(d.coordinates) - d.n_q_dependent, len(d.speeds) - d.n_u_dependent
    for i, (node, name) in enumerate(zip(d.coordinates, d.coordinate_names, strict=True)):
        swap[node] = b.coordinate(name, dependent=i >= n_q)
    for i, (node, name) in enumerate(zip(d.speeds, d.speed_names, strict=True)):
        swap[node] = b.speed(name, dependent=i >= n_u)
    swap.update((node, b.acceleration(swap[u])) for node, u in zip(d.accelerations, d.speeds, strict=True))
    swap.update((node, b.auxiliary(name)) for node, name in zip(d.auxiliary, d.auxiliary_names, strict=True))
    swap.update((node, b.parameter(name)) for node, name in zip(d.parameters, d.parameter_names, strict=True))
    swap.update((node, b.input(name)) for node, name in zip(d.inputs, d.input_names, strict=True))
    for i, k in enumerate(d.input_rates):
        if k >= 0:
            b.rate(swap[d.inputs[i]], swap[d.inputs[k]])
    for node, (op, *key) in enumerate(d.graph.nodes):
        if op is Op.SYM and key[0][0] == "λ":
            swap[node] = b.multiplier(key[0][1])
    return swap


def copy_places(d: Description, b: Builder, image: Image) -> None:
    """Frames, points, bodies and joints."""
    for f in map(image.frame, d.frames[1:]):
        b.frame(f.name, f.parent, f.rotation, angular_parent=f.angular_parent, oriented=f.oriented)
    for i, f in enumerate(map(image.frame, d.frames)):
        if i:
            b.angular_velocity(i, f.angular_velocity)
    for p in map(image.point, d.points):
        b.point(p.name, p.parent, p.position, velocity=p.velocity)
    for x in map(image.body, d.bodies):
        b.body(x.name, x.point, x.mass, frame=x.frame, inertia=x.inertia, about=x.about, potential=x.potential)
    for j in d.joints:
        b.joint(j.name, j.parent, j.child, j.point, free=j.free)


MODELS = {f.__name__: f for f in (double_pendulum, pendulum_on_a_base, rolling_disc)}
