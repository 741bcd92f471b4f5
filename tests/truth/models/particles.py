# SPDX-License-Identifier: BSD-3-Clause
"""Systems of particles, each function the model of the case of its name in ../cases."""

import json
from pathlib import Path
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

t = me.dynamicsymbols._t
System = dict[str, Any]


def published_parameters(case: str) -> dict[sm.Symbol, float]:
    """The parameters that a case lists."""
    path = Path(__file__).parents[1] / "cases" / f"{case}.json"
    values = json.loads(path.read_text(encoding="utf-8"))["parameters"]
    return {sm.Symbol(name): value for name, value in values.items()}


def inertial(name: str = "N") -> tuple[me.ReferenceFrame, me.Point]:
    frame, origin = me.ReferenceFrame(name), me.Point("O")
    origin.set_vel(frame, 0)
    return frame, origin


def turned(name: str, base: me.ReferenceFrame, axis: me.Vector, angle: sm.Expr, rate: sm.Expr) -> me.ReferenceFrame:
    """A frame turned by an angle, its angular velocity given in the speeds."""
    frame = me.ReferenceFrame(name)
    frame.orient_axis(base, axis, angle)
    frame.set_ang_vel(base, rate * axis)
    return frame


def system(frame: me.ReferenceFrame, q: list, u: list, bodies: list, loads: list, parameters: dict) -> System:
    """A system whose speeds are the coordinates' rates."""
    kdes = [coordinate.diff() - speed for coordinate, speed in zip(q, u, strict=True)]
    return {
        "frame": frame,
        "q": list(q),
        "u": list(u),
        "kdes": kdes,
        "bodies": bodies,
        "loads": loads,
        "parameters": parameters,
    }


def bead_hoop() -> System:
    """Bead on a hoop of radius R that turns at the rate W about its vertical diameter; th from the bottom."""
    th, u = me.dynamicsymbols("th u")
    m, R, W, g = sm.symbols("m R W g")
    N, origin = inertial()
    H = turned("H", N, N.z, W * t, W)
    r = R * (sm.sin(th) * H.x - sm.cos(th) * H.z)
    P = origin.locatenew("P", r)
    P.set_vel(N, R * u * (sm.cos(th) * H.x + sm.sin(th) * H.z) + (W * N.z).cross(r))
    values = {m: 0.4, R: 0.5, W: 5.1, g: 9.81}
    return system(N, [th], [u], [me.Particle("P", P, m)], [(P, -m * g * N.z)], values)


def double_pendulum() -> System:
    """Two point masses on massless rods in a plane, absolute angles from the downward vertical."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    m1, m2, l1, l2, g = sm.symbols("m1 m2 l1 l2 g")
    N, origin = inertial()
    A, B = turned("A", N, N.z, q1, u1), turned("B", N, N.z, q2, u2)
    P = origin.locatenew("P", l1 * A.x)
    P.v2pt_theory(origin, N, A)
    R = P.locatenew("R", l2 * B.x)
    R.v2pt_theory(P, N, B)
    bodies = [me.Particle("P", P, m1), me.Particle("R", R, m2)]
    loads = [(P, m1 * g * N.x), (R, m2 * g * N.x)]
    return system(N, [q1, q2], [u1, u2], bodies, loads, {m1: 1.3, m2: 0.7, l1: 0.9, l2: 1.1, g: 9.81})


def n_pendulum(n: int) -> System:
    """n point masses on massless rods in a plane, absolute angles from the downward vertical."""
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    m, length, g = sm.symbols("m l g")
    N, P = inertial()
    bodies, loads = [], []
    for i in range(n):
        A = turned(f"A{i + 1}", N, N.z, q[i], u[i])
        R = P.locatenew(f"P{i + 1}", length * A.x)
        R.v2pt_theory(P, N, A)
        bodies.append(me.Particle(f"P{i + 1}", R, m))
        loads.append((R, m * g * N.x))
        P = R
    return system(N, q, u, bodies, loads, {m: 0.8, length: 0.6, g: 9.81})


def foucault() -> System:
    """Particle in a plane that turns at the rate W, on a spring to the centre; x, y in the turning frame."""
    x, y, u1, u2 = me.dynamicsymbols("x y u1 u2")
    m, k, W = sm.symbols("m k W")
    N, origin = inertial()
    R = turned("R", N, N.z, W * t, W)
    r = x * R.x + y * R.y
    P = origin.locatenew("P", r)
    P.set_vel(N, u1 * R.x + u2 * R.y + (W * N.z).cross(r))
    return system(N, [x, y], [u1, u2], [me.Particle("P", P, m)], [(P, -k * r)], {m: 2.0, k: 5.3, W: 0.21})


def kepler() -> System:
    """Particle attracted by a fixed centre with the force mu m / r², in polar coordinates."""
    r, th, u1, u2 = me.dynamicsymbols("r th u1 u2")
    m, mu = sm.symbols("m mu")
    N, origin = inertial()
    B = turned("B", N, N.z, th, u2)
    P = origin.locatenew("P", r * B.x)
    P.set_vel(N, u1 * B.x + r * u2 * B.y)
    return system(N, [r, th], [u1, u2], [me.Particle("P", P, m)], [(P, -mu * m / r**2 * B.x)], {m: 1.7, mu: 1.0})


def pleiades() -> System:
    """Seven stars in a plane that attract each other."""
    n = 7
    x, y, u, v = (me.dynamicsymbols(f"{name}1:{n + 1}") for name in "xyuv")
    G, m = sm.Symbol("G"), sm.symbols(f"m1:{n + 1}")
    N, origin = inertial()
    points = [origin.locatenew(f"P{i + 1}", x[i] * N.x + y[i] * N.y) for i in range(n)]
    loads = []
    for i, P in enumerate(points):
        P.set_vel(N, u[i] * N.x + v[i] * N.y)
        for j in range(n):
            if j != i:
                dx, dy = x[j] - x[i], y[j] - y[i]
                pull = G * m[i] * m[j] / (dx**2 + dy**2) ** sm.Rational(3, 2)
                loads.append((P, pull * (dx * N.x + dy * N.y)))
    bodies = [me.Particle(f"S{i + 1}", P, m[i]) for i, P in enumerate(points)]
    return system(N, [*x, *y], [*u, *v], bodies, loads, {G: 1.0} | {m[i]: i + 1.0 for i in range(n)})


def rotating_tube() -> System:
    """Two particles with springs in a tube that turns in a vertical plane by th0 + A sin(om t)."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    m1, m2, k1, k2, L1, L2, g, th0, A, om = sm.symbols("m1 m2 k1 k2 L1 L2 g th0 A om")
    theta = th0 + A * sm.sin(om * t)
    N, origin = inertial()
    B = turned("B", N, N.z, theta, theta.diff(t))
    P1, P2 = origin.locatenew("P1", (L1 + q1) * B.x), origin.locatenew("P2", (L1 + L2 + q2) * B.x)
    P1.set_vel(N, u1 * B.x + theta.diff(t) * (L1 + q1) * B.y)
    P2.set_vel(N, u2 * B.x + theta.diff(t) * (L1 + L2 + q2) * B.y)
    bodies = [me.Particle("P1", P1, m1), me.Particle("P2", P2, m2)]
    spring = k2 * (q2 - q1) * B.x
    loads = [(P1, m1 * g * N.x - k1 * q1 * B.x + spring), (P2, m2 * g * N.x - spring)]
    values = {m1: 1.2, m2: 0.7, k1: 60.0, k2: 45.0, L1: 0.3, L2: 0.25, g: 9.81, th0: 0.4, A: 0.6, om: 2.1}
    return system(N, [q1, q2], [u1, u2], bodies, loads, values)


def spherical_pendulum() -> System:
    """Point mass on a massless rod in space: th from the downward vertical, ph the azimuth."""
    th, ph, u1, u2 = me.dynamicsymbols("th ph u1 u2")
    m, length, g = sm.symbols("m l g")
    N, origin = inertial()
    A = turned("A", N, N.z, ph, u2)
    B = turned("B", A, -A.y, th, u1)
    P = origin.locatenew("P", -length * B.z)
    P.v2pt_theory(origin, N, B)
    values = {m: 1.2, length: 0.9, g: 9.81}
    return system(N, [th, ph], [u1, u2], [me.Particle("P", P, m)], [(P, -m * g * N.z)], values)
