# SPDX-License-Identifier: BSD-3-Clause
"""Things that roll and slide: ``constraints`` are the rows that hold them, linear in the speeds.

The models are without them.  Of Appell's and Hamel's particle the row is linear in the speeds' rates.
"""

import sympy as sm
import sympy.physics.mechanics as me
from sympy import cos, sin

from .particles import System, inertial, published_parameters, system, turned


def appell_hamel() -> System:
    """Particle with the constraint ẋ² + ẏ² = c² ż², nonlinear in the speeds (Appell 1911, Hamel 1949)."""
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    m, g, c = sm.symbols("m g c")
    N, origin = inertial()
    P = origin.locatenew("P", sum((x * e for x, e in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((v * e for v, e in zip(u, N, strict=True)), me.Vector(0)))
    result = system(N, q, u, [me.Particle("P", P, m)], [(P, -m * g * N.z)], {m: 1.5, g: 9.81, c: 0.7})
    return result | {"constraints": [u[0] * u[0].diff() + u[1] * u[1].diff() - c**2 * u[2] * u[2].diff()]}


def skate_incline() -> System:
    """Knife edge below the mass centre, on a plane inclined by al, x down the slope; speeds forward, yaw, sideways."""
    x, y, th, v, w, s = me.dynamicsymbols("x y th v w s")
    m, moment, a, al, g = sm.symbols("m I a al g")
    N, origin = inertial()
    B = turned("B", N, N.z, th, w)
    A = origin.locatenew("A", x * N.x + y * N.y)
    A.set_vel(N, v * B.x + s * B.y)
    G = A.locatenew("G", a * B.x)
    G.v2pt_theory(A, N, B)
    body = me.RigidBody("S", G, B, m, (me.inertia(B, 0, 0, moment), G))
    values = {m: 2.4, moment: 0.35, a: 0.0, al: 0.25, g: 9.81}
    result = system(N, [x, y, th], [v, w, s], [body], [(G, m * g * sin(al) * N.x)], values)
    kdes = [x.diff() - v * cos(th) + s * sin(th), y.diff() - v * sin(th) - s * cos(th), th.diff() - w]
    return result | {"kdes": kdes, "constraints": [s]}


def sphere_incline() -> System:
    """Homogeneous sphere on a plane inclined by al that may turn at the rate W; the sphere's speeds are ω in N."""
    q = x, y, *angles = me.dynamicsymbols("x y a b c")
    u = wx, wy, wz, ux, uy = me.dynamicsymbols("wx wy wz ux uy")
    m, R, W, g, al = sm.symbols("m R W g al")
    N, origin = inertial()
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(N, angles, "XYZ")
    omega = B.ang_vel_in(N)
    kdes = [x.diff() - ux, y.diff() - uy, *(s - omega.dot(e) for s, e in zip((wx, wy, wz), N, strict=True))]
    B.set_ang_vel(N, wx * N.x + wy * N.y + wz * N.z)
    C = origin.locatenew("C", x * N.x + y * N.y + R * N.z)
    C.set_vel(N, ux * N.x + uy * N.y)
    moment = sm.Rational(2, 5) * m * R**2
    sphere = me.RigidBody("S", C, B, m, (me.inertia(N, moment, moment, moment), C))  # written in N: it is isotropic
    values = {m: 0.31, R: 0.04, W: 0.0, g: 9.81, al: 0.3}
    result = system(N, q, u, [sphere], [(C, m * g * (sin(al) * N.x - cos(al) * N.z))], values)
    return result | {"kdes": kdes, "constraints": [ux - R * wy + W * y, uy + R * wx - W * x]}


def unicycle() -> System:
    """Vertical disk of heading th and spin ph, with a driving and a steering torque (Bloch, section 1.4)."""
    x, y, th, ph, ux, uy, uth, uph = me.dynamicsymbols("x y th ph ux uy uth uph")
    m, R, spin, steer, Tph, Tth = sm.symbols("m R I J Tph Tth")
    N, origin = inertial()
    A = turned("A", N, N.z, th, uth)
    B = turned("B", A, A.y, ph, uph)
    C = origin.locatenew("C", x * N.x + y * N.y + R * N.z)
    C.set_vel(N, ux * N.x + uy * N.y)
    disk = me.RigidBody("disk", C, B, m, (me.inertia(A, steer, spin, steer), C))  # in its carrier's axes
    values = {m: 1.3, R: 0.25, spin: 0.04, steer: 0.021, Tph: 0.3, Tth: -0.05}
    result = system(N, [x, y, th, ph], [uth, uph, ux, uy], [disk], [(B, Tph * A.y), (A, Tth * N.z)], values)
    kdes = [x.diff() - ux, y.diff() - uy, th.diff() - uth, ph.diff() - uph]
    return result | {"kdes": kdes, "constraints": [ux - R * uph * cos(th), uy - R * uph * sin(th)]}


def lmd_snakeboard() -> System:
    """Snakeboard: a board with two trucks, all of mass m and inertia I; u3 = l q̇3 / 2 (Learn Multibody Dynamics)."""
    q, (u1, u2, u3, u4, u5) = me.dynamicsymbols("q1:6"), me.dynamicsymbols("u1:6")
    length, moment, m = sm.symbols("l I m")
    N, origin = inertial()
    A = turned("A", N, N.z, q[2], 2 * u3 / length)
    B, C = turned("B", A, A.z, q[3], u4), turned("C", A, A.z, q[4], u5)
    board = origin.locatenew("Ao", q[0] * N.x + q[1] * N.y)
    board.set_vel(N, u1 * N.x + u2 * N.y)
    front, rear = board.locatenew("Bo", length / 2 * A.x), board.locatenew("Co", -length / 2 * A.x)
    bodies = []
    for point, frame in ((board, A), (front, B), (rear, C)):
        if point is not board:
            point.v2pt_theory(board, N, A)
        bodies.append(me.RigidBody(frame.name, point, frame, m, (me.inertia(frame, 0, 0, moment), point)))
    result = system(N, q, [u3, u4, u5, u1, u2], bodies, [], {length: 0.7, moment: 0.1, m: 1.0})
    rates = [u1, u2, 2 * u3 / length, u4, u5]
    kdes = [rate - coordinate.diff() for rate, coordinate in zip(rates, q, strict=True)]
    return result | {"kdes": kdes, "constraints": [front.vel(N).dot(B.y), rear.vel(N).dot(C.y)]}


def whipple_linear_benchmark() -> System:
    """Carvallo-Whipple bicycle in the coordinates of Meijaard et al. 2007: x forward, y to the right, z down.

    Yaw psi, roll phi, pitch th of the rear frame, steer delta, wheel angles thR, thF; (x, y) is the rear contact.
    The last constraint is the rate of the condition that the front wheel touches the ground.
    """
    q = x, y, psi, phi, delta, thR, thF, th = me.dynamicsymbols("x y psi phi delta thR thF th")
    rates = ux, uy, upsi, uphi, udelta, uR, uF, uth = me.dynamicsymbols("ux uy upsi uphi udelta uthR uthF uth")
    values = published_parameters("whipple_linear_benchmark")
    p = {symbol.name: symbol for symbol in values}
    w, c, rR, rF = (p[name] for name in ("w", "c", "rR", "rF"))
    Tphi, Tdelta = me.dynamicsymbols("Tphi Tdelta")
    N, origin = inertial()
    A1 = turned("A1", N, N.z, psi, upsi)
    A2 = turned("A2", A1, A1.x, phi, uphi)
    B = turned("B", A2, A2.y, th, uth)
    S = turned("S", B, B.y, p["lam"], sm.S.Zero)
    H = turned("H", S, S.z, delta, udelta)
    Hb = turned("Hb", H, H.y, -p["lam"], sm.S.Zero)  # handlebar frame: along B when delta is zero
    R, F = turned("R", B, B.y, thR, uR), turned("F", Hb, Hb.y, thF, uF)

    contact = origin.locatenew("P", x * N.x + y * N.y)
    contact.set_vel(N, ux * N.x + uy * N.y)
    rear = contact.locatenew("Rc", -rR * A2.z)
    rear.set_vel(N, contact.vel(N) + A2.ang_vel_in(N).cross(-rR * A2.z))
    frame = rear.locatenew("Bm", p["xB"] * B.x + (p["zB"] + rR) * B.z)
    steer = rear.locatenew("K", (w + c) * B.x + rR * B.z)
    handlebar = steer.locatenew("Hm", (p["xH"] - w - c) * Hb.x + p["zH"] * Hb.z)
    front = steer.locatenew("Fc", -c * Hb.x - rF * Hb.z)
    for point, start, carrier in ((frame, rear, B), (steer, rear, B), (handlebar, steer, Hb), (front, steer, Hb)):
        point.v2pt_theory(start, N, carrier)

    down = Hb.y.dot(N.z)
    radius = rF * (N.z - down * Hb.y) / sm.sqrt(1 - down**2)  # from the front wheel's centre to its lowest point
    slip_rear = rear.vel(N) + R.ang_vel_in(N).cross(rR * A2.z)
    slip_front = front.vel(N) + F.ang_vel_in(N).cross(radius)
    constraints = [slip_rear.dot(A1.x), slip_rear.dot(A1.y), *(slip_front.dot(e) for e in (A1.x, A1.y, N.z))]

    wheel_rear = me.inertia(B, p["IRxx"], p["IRyy"], p["IRxx"])  # wheels' tensors are in the frames that carry them
    wheel_front = me.inertia(Hb, p["IFxx"], p["IFyy"], p["IFxx"])
    tensor_frame = me.inertia(B, p["IBxx"], p["IByy"], p["IBzz"], 0, 0, p["IBxz"])
    tensor_handlebar = me.inertia(Hb, p["IHxx"], p["IHyy"], p["IHzz"], 0, 0, p["IHxz"])
    bodies = [
        me.RigidBody("rear wheel", rear, R, p["mR"], (wheel_rear, rear)),
        me.RigidBody("rear frame", frame, B, p["mB"], (tensor_frame, frame)),
        me.RigidBody("front frame", handlebar, Hb, p["mH"], (tensor_handlebar, handlebar)),
        me.RigidBody("front wheel", front, F, p["mF"], (wheel_front, front)),
    ]
    loads = [(body.masscenter, body.mass * p["g"] * N.z) for body in bodies]
    loads += [(B, Tphi * A1.x), (B, -Tdelta * S.z), (Hb, Tdelta * S.z)]
    u = [uphi, udelta, uR, ux, uy, upsi, uF, uth]
    result = system(N, q, u, bodies, loads, values)
    kdes = [coordinate.diff() - rate for coordinate, rate in zip(q, rates, strict=True)]
    return result | {"kdes": kdes, "inputs": [Tphi, Tdelta], "constraints": constraints}
