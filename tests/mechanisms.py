# SPDX-License-Identifier: BSD-3-Clause
"""The mechanisms that tests share, each described with SymPy as a user would.

A builder returns a `kc.Model`; its keyword arguments go to the model, so that a test adds what it is about: outputs,
inputs, constraints, a name.  `PARAMETERS` holds values for all symbols that stand here, so all are compiled by ::

    dyn = compiled(pendulum(outputs={"height": ...}))

Symbols are shared as well: ``m``, ``l``, ``g``, ... of `SYMBOLS` are what the builders use.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

__all__ = [
    "PARAMETERS",
    "Pieces",
    "carriage",
    "chain",
    "compiled",
    "free_body",
    "ground",
    "knife_edge",
    "links",
    "mass_point",
    "moving_point",
    "on_a_line",
    "particle",
    "pendulum",
    "pendulum_in_a_plane",
    "plane_body",
    "rates",
    "rolling_disc",
    "slider",
    "stiff",
]

m, l, g, k, c, r = sm.symbols("m l g k c r")  # noqa: E741
t = me.dynamicsymbols._t

PARAMETERS = {m: 1.3, l: 0.8, g: 9.81, k: 3.1, c: 0.3, r: 0.4}
"""A mass, a length, gravity, a stiffness, a distance or damping, a radius."""


def compiled(model: kc.Model, values: dict[Any, float] | None = None, **options: Any) -> kc.CompiledModel:
    """With `PARAMETERS`, as far as the model has them, and further ``values``; ``options`` of `kc.compile`."""
    known = {symbol: value for symbol, value in PARAMETERS.items() if symbol in model.parameters}
    return kc.compile(model, parameters={**known, **(values or {})}, **options)


def ground() -> tuple[Any, Any]:
    """An inertial frame N, and a point O at rest in it."""
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    return frame, origin


def rates(q: Iterable[Any], u: Iterable[Any]) -> list[Any]:
    """The kinematical equations q̇ = u."""
    return [a.diff(t) - b for a, b in zip(q, u, strict=True)]


def moving_point(motion: Mapping[Any, Any]) -> tuple[Any, Any, Any]:
    """N and O at rest, and a point P at x N.x + y N.y + z N.z, ``motion`` {x: ẋ, ...}."""
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", sum((a * e for a, e in zip(motion, N, strict=False)), me.Vector(0)))
    P.set_vel(N, sum((a * e for a, e in zip(motion.values(), N, strict=False)), me.Vector(0)))
    return N, O, P


def mass_point(motion: Mapping[Any, Any], mass: Any = m, force: Sequence[Any] = (), **options: Any) -> kc.Model:
    """A particle of this mass at `moving_point`; ``force``: components of a force on it along N.x, N.y, N.z.

    Independent are the coordinates and speeds that ``q_dependent`` and ``u_dependent`` do not name.
    """
    N, _, P = moving_point(motion)
    q = [x for x in motion if x not in options.get("q_dependent", ())]
    u = [x for x in motion.values() if x not in options.get("u_dependent", ())]
    load = sum((a * e for a, e in zip(force, N, strict=False)), me.Vector(0))
    options = {"forcelist": [(P, load)] if force else [], **options}
    return kc.Model(N, q, u, rates(motion, motion.values()), bodies=[me.Particle("P", P, mass)], **options)


def particle(dimension: int = 3, loads: Callable[..., list[Any]] | None = None, **options: Any) -> kc.Model:
    """A particle P of mass m at x, y, z, speeds u1, u2, u3 their rates; ``loads(P, N)``.

    ``dependent=(n_q, n_u)``: so many of the last coordinates and speeds depend on the others.
    """
    q, u = me.dynamicsymbols("x y z")[:dimension], me.dynamicsymbols("u1:4")[:dimension]
    N, _, P = moving_point(dict(zip(q, u, strict=True)))
    n_q, n_u = (dimension - n for n in options.pop("dependent", (0, 0)))
    options = {"q_dependent": q[n_q:], "u_dependent": u[n_u:], "forcelist": loads(P, N) if loads else [], **options}
    return kc.Model(N, q[:n_q], u[:n_u], rates(q, u), bodies=[me.Particle("P", P, m)], **options)


def on_a_line(name: str, force: Any, parameters: dict[Any, float], **options: Any) -> kc.CompiledModel:
    """A particle of 1 kg at q with speed u, and a force of q, u and t on it; compiled."""
    q, u = me.dynamicsymbols("q u")
    return kc.compile(mass_point({q: u}, 1, [force(q, u)], name=name, **options), parameters=parameters)


def slider(height: Any = 0, **options: Any) -> kc.Model:
    """A bead of mass m on a wire y = height(x) under gravity along -y, pushed along x by the input F; speed u = ẋ."""
    x, u, F = me.dynamicsymbols("x u F")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", x * N.x + height * N.y)
    options = {"forcelist": [(P, F * N.x - m * g * N.y)], "name": "slider", **options}
    return kc.Model(N, [x], [u], rates([x], [u]), bodies=[me.Particle("bead", P, m)], **options)


def pendulum(velocity: Any = None, spin: Any = None, **options: Any) -> kc.Model:
    """A bob of mass m at l A.x, A turned by q about N.z, gravity along N.x, speed u = q̇, no inputs.

    ``velocity(A)`` and ``spin(N, A)`` are what the user sets of the bob and of A.
    """
    q, u = me.dynamicsymbols("q u")
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    if spin:
        A.set_ang_vel(N, spin(N, A))
    P = O.locatenew("P", l * A.x)
    if velocity:
        P.set_vel(N, velocity(A))
    options = {"forcelist": [(P, m * g * N.x)], "name": "pendulum", **options}
    return kc.Model(N, [q], [u], rates([q], [u]), bodies=[me.Particle("bob", P, m)], **options)


def pendulum_in_a_plane(form: str = "plain", **options: Any) -> kc.Model:
    """The same in x and y, gravity along x, a force F along y, x² + y² = l²; y and its rate depend.

    ``form``: "filed" gives the derivative of the constraint as well, "twice" gives the constraint twice.
    """
    x, y, u1, u2, F = me.dynamicsymbols("x y u1 u2 F")
    circle = x**2 + y**2 - l**2
    rows: dict[str, Any] = {"configuration_constraints": [circle] * (2 if form == "twice" else 1)}
    if form == "filed":
        rows["velocity_constraints"] = [2 * x * u1 + 2 * y * u2]
    options = {"dependent": (1, 1), "name": "pendulum", **rows, **options}
    return particle(2, lambda P, N: [(P, m * g * N.x + F * N.y)], **options)


def chain(n: int = 2, *, absolute: bool = False, **options: Any) -> kc.Model:
    """n particles of mass m on massless rods of length l in a plane, gravity along N.x: for n = 2 a double pendulum.

    Angles q1, q2, ... of each rod from the one before, or ``absolute``: from N.x; speeds their rates.
    """
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    N, point = ground()
    frame, bodies = N, []
    for i in range(n):
        rod = me.ReferenceFrame(f"A{i + 1}")
        rod.orient_axis(N if absolute else frame, N.z, q[i])
        rod.set_ang_vel(N if absolute else frame, u[i] * N.z)
        point, frame = point.locatenew(f"P{i + 1}", l * rod.x), rod
        bodies.append(me.Particle(f"bob{i + 1}", point, m))
    options = {"forcelist": [(body.point, m * g * N.x) for body in bodies], "name": "chain", **options}
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, **options)


def carriage(n: int, **options: Any) -> kc.Model:
    """A carriage on a line that carries n four-bars: 3n + 1 coordinates, and two rows for each loop."""
    frame, origin = ground()
    s, v = me.dynamicsymbols("s v")
    car = origin.locatenew("car", s * frame.x)
    car.set_vel(frame, v * frame.x)
    bodies, loads, loops = [me.Particle("car", car, 10 * m)], [], {}
    q, u, dependent = [s], [v], []
    for i in range(n):
        tip = first = car.locatenew(f"stand{i}", i * l * frame.x)
        first.set_vel(frame, v * frame.x)
        for letter, share in zip("abc", (1, 2, 1), strict=True):
            angle, rate = me.dynamicsymbols(f"{letter}{i} w{letter}{i}")
            bar, start = me.ReferenceFrame(f"{letter}{i}"), tip
            bar.orient_axis(frame, frame.z, angle)
            bar.set_ang_vel(frame, rate * frame.z)
            centre, tip = (start.locatenew(f"{letter}{k}{i}", share * l / k * bar.x) for k in (2, 1))
            for point in (centre, tip):
                point.v2pt_theory(start, frame, bar)
            inertia = me.inertia(bar, 0, 0, m * (share * l) ** 2 / 12)
            bodies.append(me.RigidBody(f"bar {letter}{i}", centre, bar, share * m, (inertia, centre)))
            loads.append((centre, -share * m * g * frame.y))
            (q if letter == "a" else dependent).append(angle)
            (u if letter == "a" else options.setdefault("u_dependent", [])).append(rate)
        gap = tip.pos_from(first) - 2 * l * frame.x
        loops |= {f"x{i}": gap.dot(frame.x), f"y{i}": gap.dot(frame.y)}
    given = {"bodies": bodies, "forcelist": loads, "q_dependent": dependent, "configuration_constraints": loops}
    kd_eqs = rates([*q, *dependent], [*u, *options["u_dependent"]])
    return kc.Model(frame, q, u, kd_eqs, **given, **{"name": f"carriage{n}", **options})


def links(masses: Sequence[Any] = (sm.Symbol("m1"),), **options: Any) -> kc.Model:
    """Bodies in space on universal joints, q1, q2, ...: inertias about the joints, all terms of Euler's equations."""
    q, u = me.dynamicsymbols(f"q1:{2 * len(masses) + 1}"), me.dynamicsymbols(f"u1:{2 * len(masses) + 1}")
    N, O = ground()  # noqa: E741
    frame, joint, bodies = N, O, []
    for i, mass in enumerate(masses):
        A, B = me.ReferenceFrame(f"A{i}"), me.ReferenceFrame(f"B{i}")
        A.orient_axis(frame, q[2 * i], frame.x)
        A.set_ang_vel(frame, u[2 * i] * frame.x)
        B.orient_axis(A, q[2 * i + 1], A.y)
        B.set_ang_vel(A, u[2 * i + 1] * A.y)
        centre = joint.locatenew(f"C{i}", -c * B.z + c / 5 * B.x)
        inertia = me.inertia(B, mass * l**2, 1.2 * mass * l**2, 0.6 * mass * l**2, 0.1 * mass * l**2)
        bodies.append(me.RigidBody(f"link{i}", centre, B, mass, (inertia, joint)))
        frame, joint = B, joint.locatenew(f"J{i}", -l * B.z)
    loads = [(body.masscenter, -body.mass * g * N.z) for body in bodies]
    loads += [(B, -k * q[-1] * A.y), (A, k * q[-1] * A.y), (bodies[-1].masscenter, -k * u[0] * N.y)]
    options = {"forcelist": loads, "name": "links", **options}
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, **options)


def plane_body(
    corners: Sequence[tuple[float, float]], mass: Any, inertia: Any, weight: Any, push: Any = 0, **options: Any
) -> kc.Model:
    """A body in the plane x, y, mass centre C, points "c0", "c1", ... in its axes; the push is along x at c0."""
    frame, origin = ground()
    q, u = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    axes, centre = me.ReferenceFrame("A"), origin.locatenew("C", q[0] * frame.x + q[1] * frame.y)
    axes.orient_axis(frame, frame.z, q[2])
    axes.set_ang_vel(frame, u[2] * frame.z)
    centre.set_vel(frame, u[0] * frame.x + u[1] * frame.y)
    points = [centre.locatenew(f"c{i}", a * axes.x + b * axes.y) for i, (a, b) in enumerate(corners)]
    body = me.RigidBody("body", centre, axes, mass, (me.inertia(axes, 0, 0, inertia), centre))
    loads = [(centre, -weight * frame.y), *([(points[0], push * frame.x)] if push else [])]
    given = {"bodies": [body], "forcelist": loads, "points": points, "name": "body", **options}
    return kc.Model(frame, q, u, rates(q, u), **given)


def free_body(loads: Callable[..., list[Any]] | None = None, **options: Any) -> kc.Model:
    """A rigid body B with its mass centre C at x, y, z and body-fixed angles 1-2-3; speeds: ω in B, then v in N.

    ``loads(C, B, N)``; principal moments m l² (1, 1.2, 0.6).
    """
    q, u = me.dynamicsymbols("q1:4 x y z"), me.dynamicsymbols("u1:7")
    N, O = ground()  # noqa: E741
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(N, q[:3], "123")
    omega = B.ang_vel_in(N)
    B.set_ang_vel(N, sum((a * e for a, e in zip(u[:3], B, strict=True)), me.Vector(0)))
    C = O.locatenew("C", sum((a * e for a, e in zip(q[3:], N, strict=True)), me.Vector(0)))
    C.set_vel(N, sum((a * e for a, e in zip(u[3:], N, strict=True)), me.Vector(0)))
    body = me.RigidBody("body", C, B, m, (me.inertia(B, m * l**2, 1.2 * m * l**2, 0.6 * m * l**2), C))
    kd_eqs = [omega.dot(e) - a for e, a in zip(B, u, strict=False)] + rates(q[3:], u[3:])
    return kc.Model(N, q, u, kd_eqs, bodies=[body], forcelist=loads(C, B, N) if loads else [], **options)


def knife_edge(side: Any = None, **options: Any) -> kc.Model:
    """A particle of mass m on a blade at x, y with heading q; its velocity is v A.x, set by the user, A turns at w.

    Chaplygin's sleigh with its mass centre on the blade.  A force F along A.x and a torque T about N.z are inputs.
    """
    q, x, y, v, w, F, T = me.dynamicsymbols("q x y v w F T")
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, w * N.z)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, v * A.x + (side * A.y if side is not None else 0))
    body = me.RigidBody("sleigh", P, A, m, (me.inertia(A, 0, 0, m * l**2), P))
    kd_eqs = [q.diff(t) - w, x.diff(t) - v * sm.cos(q), y.diff(t) - v * sm.sin(q)]
    options = {"forcelist": [(P, F * A.x), (A, T * N.z)], "name": "knife_edge", **options}
    return kc.Model(N, [q, x, y], [v, w], kd_eqs, bodies=[body], **options)


def rolling_disc(**options: Any) -> kc.Model:
    """SymPy's documentation, "Rolling disc, with Kane's method": yaw, lean, spin; speeds ω in the lean frame L."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, C = me.ReferenceFrame("N"), me.Point("C")
    Y = N.orientnew("Y", "Axis", [q[0], N.z])
    L = Y.orientnew("L", "Axis", [q[1], Y.x])
    R = L.orientnew("R", "Axis", [q[2], L.y])
    omega = R.ang_vel_in(N)
    R.set_ang_vel(N, sum((a * e for a, e in zip(u, L, strict=True)), me.Vector(0)))
    C.set_vel(N, 0)
    centre = C.locatenew("Dmc", r * L.z)
    centre.v2pt_theory(C, N, R)
    body = me.RigidBody("disc", centre, R, m, (me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), centre))
    kd_eqs = [(omega - R.ang_vel_in(N)).dot(e) for e in L]
    options = {"forcelist": [(centre, -m * g * Y.z)], "name": "rolling_disc", **options}
    return kc.Model(N, q, u, kd_eqs, bodies=[body], **options)


class Pieces:
    """A pendulum in pieces, which a test takes apart: bob P of mass m at l A.x, weight m g along N.x."""

    def __init__(self) -> None:
        self.q, self.u, self.F = me.dynamicsymbols("q u F")
        self.m, self.g, self.l, self.c = m, g, l, c
        self.N, self.O = ground()
        self.A = me.ReferenceFrame("A")
        self.A.orient_axis(self.N, self.N.z, self.q)
        self.A.set_ang_vel(self.N, self.u * self.N.z)
        self.P = self.O.locatenew("P", l * self.A.x)
        self.body = me.Particle("bob", self.P, m)
        self.weight = (self.P, m * g * self.N.x)

    def model(self, *loads: Any, **changes: Any) -> kc.Model:
        """All of it with further loads, or with other arguments."""
        arguments = {
            "frame": self.N,
            "q_ind": [self.q],
            "u_ind": [self.u],
            "kd_eqs": [self.q.diff() - self.u],
            "bodies": [self.body],
            "forcelist": [self.weight, *loads],
        }
        return kc.Model(**{**arguments, **changes})


@cache
def stiff(wall: float, bristle: float, lag: float) -> kc.CompiledModel:
    """A pendulum with bristles in its pin that meets a wall at 0.3 rad, and a load that lags behind its speed."""
    N, O = ground()  # noqa: E741
    q, u, z = me.dynamicsymbols("q u z")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C = O.locatenew("C", -0.4 * A.y)
    C.v2pt_theory(O, N, A)
    rod = me.RigidBody("rod", C, A, 1.5, (me.inertia(A, 0, 0, 0.05), C))
    law: dict[str, Any] = {"mu": 0.2, "pin_radius": 0.03, "bristle_stiffness": bristle, "bristle_damping": 1.0}
    model = kc.Model(
        *(N, [q], [u], [q.diff() - u]),
        bodies=[rod],
        forcelist=[
            (C, -1.5 * 9.81 * N.y),
            (A, -(z + wall * sm.Max(0, q - 0.3) ** 3) * N.z),
            kc.JointFriction("pin", **law),
        ],
        joints={"pin": (N, rod, O)},
        states={z: (u - z) / lag},
    )
    return kc.compile(model, cc="none")
