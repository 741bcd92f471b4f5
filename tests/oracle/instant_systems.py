# SPDX-License-Identifier: BSD-3-Clause
"""Published mechanisms of which something is true only at an instant, as their authors wrote them."""

from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

System = dict[str, Any]


def rolling_disc(*, spun: bool = True, lean_inertia: bool = True) -> System:
    """A disc that rolls without slip on a plane: SymPy's documentation, "A rolling disc using Kane's method".

    The velocity of the contact point C is set to zero, although C moves; the disc's inertia is written in the frame L,
    which leans but does not spin.  ``spun=False`` leaves the disc without any orientation: only its angular velocity is
    known, which is all that matters.
    """
    q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1 q2 q3 u1 u2 u3")
    r, m, g = sm.symbols("r m g")
    N, Y, L, R = (me.ReferenceFrame(name) for name in "NYLR")
    Y.orient_axis(N, N.z, q1)
    L.orient_axis(Y, Y.x, q2)
    if spun:
        R.orient_axis(L, L.y, q3)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    lean = L.ang_vel_in(N)
    C = me.Point("C")
    C.set_vel(N, 0)
    Dmc = C.locatenew("Dmc", r * L.z)
    Dmc.set_vel(N, R.ang_vel_in(N) ^ (r * L.z))
    frame = L if lean_inertia else R
    body = me.RigidBody("disc", Dmc, R, m, (me.inertia(frame, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), Dmc))
    spin = q3.diff() * L.y
    kdes = [((lean + spin) & axis) - u for axis, u in zip(L, (u1, u2, u3), strict=True)]
    return {
        "frame": N,
        "q": [q1, q2, q3],
        "u": [u1, u2, u3],
        "kdes": kdes,
        "bodies": [body],
        "loads": [(Dmc, -m * g * Y.z)],
        "parameters": {r: 0.3, m: 1.7, g: 9.81},
    }


def ball_on_turntable(*, oriented: bool) -> System:
    """A homogeneous ball that rolls without slip on a turntable (Weltner, Am. J. Phys. 47, 984, 1979).

    Nobody needs its attitude: it has none, or one that has nothing to do with its angular velocity.
    """
    x, y, u1, u2, u3 = me.dynamicsymbols("x y u1 u2 u3")
    m, r, spin = sm.symbols("m r Omega")
    N, B = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    if oriented:
        B.orient_axis(N, N.x + N.y, x)
    B.set_ang_vel(N, u1 * N.x + u2 * N.y + u3 * N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    G = origin.locatenew("G", x * N.x + y * N.y + r * N.z)
    contact = me.cross(spin * N.z, x * N.x + y * N.y)
    G.set_vel(N, contact + me.cross(B.ang_vel_in(N), r * N.z))
    inertia = me.inertia(B if oriented else N, *[2 * m * r**2 / 5] * 3)
    velocity = G.vel(N)
    return {
        "frame": N,
        "q": [x, y],
        "u": [u1, u2, u3],
        "kdes": [x.diff() - (velocity & N.x), y.diff() - (velocity & N.y)],
        "bodies": [me.RigidBody("ball", G, B, m, (inertia, G))],
        "loads": [],
        "parameters": {m: 0.4, r: 0.05, spin: 3.0},
    }


def carried_wheels(*, where: str) -> System:
    """The cart of Kane & Levinson's kind: a wheel on a fork, spinning; its inertia in the wheel, the fork, or the cart.

    Written in the cart's axes a wheel's inertia is not constant in the wheel when the fork is turned: SymPy takes the
    derivative of the dyadic as it stands, and so does kanecore.
    """
    x, turn, spin, v, w, s = me.dynamicsymbols("x delta theta v w s")
    M, m, a, b, g = sm.symbols("M m a b g")
    I1, I2, J, k = sm.symbols("I1 I2 J k")
    N, F, W = me.ReferenceFrame("N"), me.ReferenceFrame("F"), me.ReferenceFrame("W")
    F.orient_axis(N, N.z, turn)
    F.set_ang_vel(N, w * N.z)
    W.orient_axis(F, F.y, spin)
    W.set_ang_vel(F, s * F.y)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    cart = origin.locatenew("cart", x * N.x)
    cart.set_vel(N, v * N.x)
    axle = cart.locatenew("axle", a * F.x - b * F.z)
    written = {"wheel": W, "fork": F, "cart": N}[where]
    wheel = me.RigidBody("wheel", axle, W, m, (me.inertia(written, I1, I2, I1), axle))
    fork = me.RigidBody("fork", cart, F, M, (me.inertia(F, J, J, J), cart))
    return {
        "frame": N,
        "q": [x, turn, spin],
        "u": [v, w, s],
        "kdes": [x.diff() - v, turn.diff() - w, spin.diff() - s],
        "bodies": [wheel, fork],
        "loads": [(axle, m * g * (N.x / 5 - N.z)), (F, -k * turn * N.z)],  # on an incline
        "parameters": {M: 2.0, m: 0.5, a: 0.3, b: 0.2, g: 9.81, I1: 0.02, I2: 0.04, J: 0.1, k: 3.0},
    }


def wheel_without_spin_angle() -> System:
    """A wheeled inverted pendulum whose wheels turn only in their angular velocity (Pathak et al., IEEE TRO 21, 2005).

    The wheel's frame is the body's, its angular velocity is not: vectors written in it must not be differentiated as
    if it turned with the wheel, nor the other way round.
    """
    x, pitch, v, w = me.dynamicsymbols("x phi v w")
    mb, mw, h, r, Ib, Iw, g, e = sm.symbols("m_b m_w h r I_b I_w g e")
    N, A, W = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.ReferenceFrame("W")
    A.orient_axis(N, N.y, pitch)
    A.set_ang_vel(N, w * N.y)
    W.orient_axis(A, A.y, 0)
    W.set_ang_vel(N, v / r * N.y)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    axle = origin.locatenew("axle", x * N.x + r * N.z)
    axle.set_vel(N, v * N.x)
    mass = axle.locatenew("mass", h * A.z)
    valve = axle.locatenew("valve", e * W.z)  # turns with the wheel: its velocity is v e / r at this instant
    return {
        "frame": N,
        "q": [x, pitch],
        "u": [v, w],
        "kdes": [x.diff() - v, pitch.diff() - w],
        "bodies": [
            me.RigidBody("body", mass, A, mb, (me.inertia(A, Ib, Ib, Ib), mass)),
            me.RigidBody("wheels", axle, W, mw, (me.inertia(W, Iw / 2, Iw, Iw / 2), axle)),
            me.Particle("valve", valve, mw / 10),
        ],
        "loads": [(mass, -mb * g * N.z), (valve, -mw / 10 * g * N.z)],
        "parameters": {mb: 10.0, mw: 2.0, h: 0.4, r: 0.1, Ib: 0.3, Iw: 0.01, g: 9.81, e: 0.08},
    }


def resting_points_and_loops() -> System:
    """A compound pendulum with two fixed points, a loop of positions, two bodies on one frame, massless ones between,
    and loads with Float, Rational, pi, Abs, exp and half-integer powers (a Hertz contact: Johnson, *Contact Mechanics*,
    1985, section 4.2)."""
    q, p, u, w = me.dynamicsymbols("q p u w")
    m, length, k, g = sm.symbols("m l k g")
    N, A, idle, B = (me.ReferenceFrame(name) for name in ("N", "A", "idle", "B"))
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, u * N.z)
    idle.orient_axis(A, A.z, sm.pi / 3)
    B.orient_axis(idle, idle.x, p)
    B.set_ang_vel(idle, w * idle.x)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    wall = origin.locatenew("wall", 2 * length * N.x)
    wall.set_vel(N, 0)
    knee = origin.locatenew("knee", length * A.x)
    rod = origin.locatenew("rod", length / 2 * A.x)
    knee.set_pos(rod, length / 2 * A.x)  # closes a loop of positions
    idle_point = knee.locatenew("between", length / 5 * idle.y)
    tip = idle_point.locatenew("tip", length * B.y)
    gap = sm.Rational(3, 2) * length - length * sm.sin(q)
    contact = k * sm.Abs(gap) ** sm.Rational(3, 2) * sm.exp(-0.1 * sm.Abs(u))
    return {
        "frame": N,
        "q": [q, p],
        "u": [u, w],
        "kdes": [q.diff() - u, p.diff() - w],
        "bodies": [
            me.RigidBody("rod", rod, A, m, (me.inertia(A, 0, m * length**2 / 12, m * length**2 / 12), rod)),
            me.RigidBody("pan", knee, A, 0.25, (me.inertia(A, 0.01, 0.02, sm.Float("0.03")), knee)),
            me.Particle("bob", tip, sm.Rational(1, 3) * m),
        ],
        "loads": [(knee, -contact * N.x), (rod, m * g * N.x), (wall, contact * N.x), (idle, sm.pi * k * p * idle.x)],
        "parameters": {m: 1.2, length: 0.8, k: 4.0, g: 9.81},
    }


def described(system: System, **options: Any) -> kc.Model:
    return kc.Model(
        *(system[name] for name in ("frame", "q", "u", "kdes")),
        bodies=system["bodies"],
        forcelist=system["loads"],
        **options,
    )
