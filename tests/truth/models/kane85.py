# SPDX-License-Identifier: BSD-3-Clause
"""Problems of T. R. Kane & D. A. Levinson, Dynamics: Theory and Applications, McGraw-Hill 1985."""

import sympy as sm
import sympy.physics.mechanics as me

from .particles import System, inertial, system, t, turned


def kane85_8_1_A() -> System:
    return panes("A")


def kane85_8_1_E() -> System:
    return panes("E")


def kane85_8_1_Q() -> System:
    return panes("q")


def panes(speeds: str) -> System:
    """Problems 8.1, 8.15, 10.1, 11.1: two particles on a light rod between panes of glass that turn about A.y.

    Speeds: components of the first particle's velocity in A or in E and the rod's rate, or the coordinates' rates.
    """
    q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1 q2 q3 u1 u2 u3")
    g, L, m1, m2, omega, C, f1, f2 = sm.symbols("g L m1 m2 omega C f1 f2")
    A, origin = inertial("A")
    B, E = me.ReferenceFrame("B"), me.ReferenceFrame("E")
    B.orient_axis(A, A.y, omega * t)
    E.orient_axis(B, B.z, q3)
    place = q1 * B.x + q2 * B.y
    P1 = origin.locatenew("P1", place)
    P2 = P1.locatenew("P2", L * E.x)
    v1 = q1.diff() * B.x + q2.diff() * B.y + (omega * B.y).cross(place)
    P1.set_vel(A, v1)
    P2.set_vel(A, v1 + (omega * B.y + q3.diff() * B.z).cross(L * E.x))
    rod = P1, P2
    bodies = [me.Particle("P1", P1, m1), me.Particle("P2", P2, m2)]
    forces = (f1 * B.z + C * E.x - m1 * g * B.y, f2 * B.z - C * E.x - m2 * g * B.y)
    values = {g: 9.81, L: 0.7, m1: 1.3, m2: 0.8, omega: 1.9, C: 2.5, f1: 0.3, f2: -0.4}
    result = system(A, [q1, q2, q3], [u1, u2, u3], bodies, list(zip(rod, forces, strict=True)), values)
    if speeds in ("A", "E"):
        axes = A if speeds == "A" else E
        result["kdes"] = [u1 - v1.dot(axes.x), u2 - v1.dot(axes.y), u3 - q3.diff()]
    return result


def kane85_8_3() -> System:
    """Problem 8.3, first part: a thin disk that does not yet roll; u1, u2, u3 are ω in the axes of B."""
    q = q1, q2, q3, q4, q5 = me.dynamicsymbols("q1:6")
    u = u1, u2, u3, u4, u5 = me.dynamicsymbols("u1:6")
    g, m, R, Px, Py, Pz = sm.symbols("g m R Px Py Pz")
    A, origin = inertial("A")
    yawed, B, C = (me.ReferenceFrame(name) for name in ("Y", "B", "C"))
    yawed.orient_axis(A, A.z, q1)
    B.orient_axis(yawed, yawed.x, sm.pi / 2 - q2)
    C.orient_axis(B, B.z, q3)
    carrier = q1.diff() * A.z - q2.diff() * yawed.x
    spin = carrier + q3.diff() * B.z
    omega = u1 * B.x + u2 * B.y + u3 * B.z
    C.set_ang_vel(A, omega)
    kdes = [w - spin.dot(e) for w, e in zip((u1, u2, u3), B, strict=True)] + [u4 - q4.diff(), u5 - q5.diff()]
    rates = sm.solve(kdes, [x.diff() for x in q])
    centre = origin.locatenew("Cs", q4 * A.x + q5 * A.y + R * B.y)
    centre.set_vel(A, u4 * A.x + u5 * A.y + carrier.subs(rates).cross(R * B.y))
    contact = centre.locatenew("Ch", -R * B.y)
    contact.set_vel(A, centre.vel(A) + omega.cross(-R * B.y))
    inertia = me.inertia(B, m * R**2 / 4, m * R**2 / 4, m * R**2 / 2)  # of the instant: B does not spin with the disk
    disk = me.RigidBody("disk", centre, C, m, (inertia, centre))
    loads = [(contact, Px * A.x + Py * A.y + Pz * A.z), (centre, -m * g * A.z)]
    values = {g: 9.81, m: 2.1, R: 0.35, Px: 0.7, Py: -0.2, Pz: 1.1}
    return system(A, q, u, [disk], loads, values) | {"kdes": kdes}


def kane85_8_7() -> System:
    """Problems 8.7, 10.15: a truss of rods lumped into six particles; u_i = L q̇_i."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    g, m, L, Q, R, S = sm.symbols("g m L Q R S")
    N, P = inertial()
    points = []
    for i, (angle, speed, side) in enumerate(
        (angle, speed, side) for angle, speed, side in zip(q, u, (1, -1, 1), strict=True) for _ in range(2)
    ):
        point = P.locatenew(f"P{i + 1}", L / 2 * (sm.cos(angle) * N.x + side * sm.sin(angle) * N.y))
        point.set_vel(N, P.vel(N) + speed / 2 * (-sm.sin(angle) * N.x + side * sm.cos(angle) * N.y))
        points.append(point)
        P = point
    masses = [6 * m, 5 * m] * 3
    sideways = [0, S, 0, -Q, 0, R]
    loads = [(p, mass * g * N.x + f * N.y) for p, mass, f in zip(points, masses, sideways, strict=True)]
    bodies = [me.Particle(p.name, p, mass) for p, mass in zip(points, masses, strict=True)]
    values = {g: 9.81, m: 0.4, L: 1.3, Q: 2.0, R: -3.0, S: 1.5}
    kdes = [speed - L * angle.diff() for speed, angle in zip(u, q, strict=True)]
    return system(N, q, u, bodies, loads, values) | {"kdes": kdes}


def kane85_8_8() -> System:
    """Problems 8.8, 9.6: a block on two elastic beams, small displacements q1, q2 of its ends."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    b, g, m, L, E, second_moment, J = sm.symbols("b g m L E I J")
    N, origin = inertial()
    B = turned("B", N, N.y, -(q2 - q1) / (2 * b), -(u2 - u1) / (2 * b))
    centre = origin.locatenew("Bs", -(q1 + q2) / 2 * N.x)
    P1, P2 = origin.locatenew("P1", -q1 * N.x - b * N.z), origin.locatenew("P2", -q2 * N.x + b * N.z)
    centre.set_vel(N, -(u1 + u2) / 2 * N.x)
    P1.set_vel(N, -u1 * N.x)
    P2.set_vel(N, -u2 * N.x)
    stiffness = 12 * E * second_moment / L**3

    def shear(i: sm.Expr, j: sm.Expr) -> sm.Expr:
        return stiffness * (i - L / 2 * (j - i) / (2 * b))

    def moment(i: sm.Expr, j: sm.Expr) -> sm.Expr:
        return stiffness * L * (L / 3 * (j - i) / (2 * b) - i / 2)

    block = me.RigidBody("B", centre, B, m, (me.inertia(N, 0, J, 0), centre))
    loads = [
        (P1, shear(q1, q2) * N.x),
        (centre, -m * g * N.x),
        (P2, shear(q2, q1) * N.x),
        (B, (moment(q1, q2) - moment(q2, q1)) * N.y),
    ]
    values = {b: 0.2, g: 9.81, m: 3.0, L: 1.1, E: 50.0, second_moment: 0.02, J: 0.15}
    return system(N, [q1, q2], [u1, u2], [block], loads, values)


def kane85_8_9() -> System:
    """Problems 8.9, 9.7: a rod whose ends slide on a circular wire, with tangential forces s TA and s TB."""
    q1, u1 = me.dynamicsymbols("q1 u1")
    g, m, r, theta, s, TA, TB = sm.symbols("g m r theta s TA TB")
    N, origin = inertial()
    C = turned("C", N, N.x, q1, u1)
    A, B = me.ReferenceFrame("A"), me.ReferenceFrame("B")
    A.orient_axis(C, C.x, -theta)
    B.orient_axis(C, C.x, theta)
    end_a, end_b = origin.locatenew("A", -r * A.z), origin.locatenew("B", -r * B.z)
    centre = origin.locatenew("Rs", -r * (A.z + B.z) / 2)
    for point in (end_a, end_b, centre):
        point.v2pt_theory(origin, N, C)
    moment = m * (2 * r * sm.sin(theta)) ** 2 / 12
    rod = me.RigidBody("R", centre, C, m, (me.inertia(C, moment, 0, moment), centre))
    loads = [(centre, -m * g * N.z), (end_a, -s * TA * A.y), (end_b, -s * TB * B.y)]
    values = {g: 9.81, m: 1.2, r: 0.6, theta: 0.7, s: 1.0, TA: 0.3, TB: 0.4}
    return system(N, [q1], [u1], [rod], loads, values)


def kane85_8_18() -> System:
    """Problem 8.18 (b): a body with a fixed point and a full inertia tensor; the speeds are ω in body axes."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    m, *tensor = sm.symbols("m I11 I22 I33 I12 I23 I31")
    result = body_with_fixed_point(q, u, "ZXZ", m, tensor, omega_speeds=True)
    values = [1.5, 1.0, 2.3, 2.9, 0.2, -0.15, 0.31]
    return result | {"parameters": dict(zip([m, *tensor], values, strict=True))}


def kane85_10_6_qdot() -> System:
    """Problems 10.6, 10.13 (a): a body with a fixed point, body-three angles 1-2-3, their rates as speeds."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    m, *moments = sm.symbols("m I1 I2 I3")
    result = body_with_fixed_point(q, u, "XYZ", m, moments, omega_speeds=False)
    return result | {"parameters": dict(zip([m, *moments], [1.5, 1.0, 2.3, 2.9], strict=True))}


def body_with_fixed_point(q: list, u: list, sequence: str, m: sm.Symbol, tensor: list, *, omega_speeds: bool) -> System:
    A, origin = inertial("A")
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(A, q, sequence)
    omega = B.ang_vel_in(A)
    kdes = [speed - angle.diff() for speed, angle in zip(u, q, strict=True)]
    if omega_speeds:
        kdes = [speed - omega.dot(e) for speed, e in zip(u, B, strict=True)]
        B.set_ang_vel(A, sum((speed * e for speed, e in zip(u, B, strict=True)), me.Vector(0)))
    else:
        B.set_ang_vel(A, omega.subs({angle.diff(): speed for angle, speed in zip(q, u, strict=True)}))
    body = me.RigidBody("B", origin, B, m, (me.inertia(B, *tensor), origin))
    return system(A, q, u, [body], [], {}) | {"kdes": kdes}


def kane85_9_11() -> System:
    """Problem 9.11: a pendulum with a spring of stiffness 5 m g / L, of natural length Lp, that starts horizontal."""
    q1, u1 = me.dynamicsymbols("q1 u1")
    L, Lp, m, g = sm.symbols("L Lp m g", positive=True)
    N, origin = inertial()
    A = turned("A", N, N.x, q1, u1)
    P = origin.locatenew("P", -L * A.z)
    P.v2pt_theory(origin, N, A)
    along, up = Lp + L * sm.sin(q1), L - L * sm.cos(q1)
    length = sm.sqrt(along**2 + up**2)
    spring = -5 * m * g / L * (length - Lp) / length * (along * N.y + up * N.z)
    loads = [(P, -m * g * N.z), (P, spring)]
    return system(N, [q1], [u1], [me.Particle("P", P, m)], loads, {L: 0.9, Lp: 0.9, m: 1.1, g: 9.81})


def kane85_9_13() -> System:
    """Problem 9.13: two blocks with springs k1, k2 and dashpots alpha (second to ground) and beta (between them)."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    alpha, beta, k1, k2, m1, m2, L1, L2 = sm.symbols("alpha beta k1 k2 m1 m2 L1 L2")
    N, origin = inertial()
    B1 = origin.locatenew("B1", (L1 + q1) * N.x)
    B2 = B1.locatenew("B2", (L2 + q2) * N.x)
    B1.set_vel(N, u1 * N.x)
    B2.set_vel(N, (u1 + u2) * N.x)
    between = k2 * q2 + beta * u2
    loads = [(B1, (between - k1 * q1) * N.x), (B2, -(between + alpha * (u1 + u2)) * N.x)]
    bodies = [me.Particle("B1", B1, m1), me.Particle("B2", B2, m2)]
    values = {alpha: 0.3, beta: 0.5, k1: 20.0, k2: 31.0, m1: 1.0, m2: 2.0, L1: 0.4, L2: 0.6}
    return system(N, [q1, q2], [u1, u2], bodies, loads, values)


def kane85_9_14() -> System:
    """Problem 9.14: a free body in a viscous medium, force -beta v and torque -alpha ω."""
    q, u = me.dynamicsymbols("q1:7"), me.dynamicsymbols("u1:7")
    alpha, beta, m, I1, I2, I3 = sm.symbols("alpha beta m I1 I2 I3")
    A, origin = inertial("A")
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(A, q[:3], "XYZ")
    omega = B.ang_vel_in(A).subs({q[i].diff(): u[i] for i in range(3)})
    B.set_ang_vel(A, omega)
    P = origin.locatenew("P", q[3] * A.x + q[4] * A.y + q[5] * A.z)
    P.set_vel(A, u[3] * A.x + u[4] * A.y + u[5] * A.z)
    body = me.RigidBody("B", P, B, m, (me.inertia(B, I1, I2, I3), P))
    loads = [(P, -beta * P.vel(A)), (B, -alpha * omega)]
    return system(A, q, u, [body], loads, {alpha: 0.3, beta: 0.5, m: 1.5, I1: 1.0, I2: 2.0, I3: 2.5})


def kane85_10_5() -> System:
    """Problem 10.5: a thin plate, a right triangle with legs a and b, hung by two axes."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    m, a, b = sm.symbols("m a b")
    N, origin = inertial()
    A = turned("A", N, -N.y, q1, u1)
    B = turned("B", A, -A.x, q2, u2)
    centre = origin.locatenew("Bs", (2 * a * B.x - b * B.y) / 3)
    centre.v2pt_theory(origin, N, B)
    inertia = me.inertia(B, m * b**2 / 18, m * a**2 / 18, m * (a**2 + b**2) / 18, m * a * b / 36, 0, 0)
    plate = me.RigidBody("B", centre, B, m, (inertia, centre))
    return system(N, [q1, q2], [u1, u2], [plate], [], {m: 1.4, a: 0.8, b: 0.5})


def kane85_8_6() -> System:
    """Problems 8.6, 9.4: a planar four-bar linkage of massless links, particles at two joints, x down."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    L1, L2, L3, L4, g, m1, m2 = sm.symbols("L1 L2 L3 L4 g m1 m2")
    A, origin = inertial("A")
    along = [sm.cos(angle) * A.x + sm.sin(angle) * A.y for angle in q]
    across = [-sm.sin(angle) * A.x + sm.cos(angle) * A.y for angle in q]
    P1 = origin.locatenew("P1", L1 * along[0])
    P2 = P1.locatenew("P2", L2 * along[1])
    P1.set_vel(A, L1 * u[0] * across[0])
    P2.set_vel(A, P1.vel(A) + L2 * u[1] * across[1])
    gap = P2.vel(A) - L3 * u[2] * across[2]
    bodies = [me.Particle("P1", P1, m1), me.Particle("P2", P2, m2)]
    values = {L1: 1.0, L2: 2.2, L3: 1.8, L4: 1.5, g: 9.81, m1: 0.7, m2: 1.4}
    result = system(A, q, u, bodies, [(P1, m1 * g * A.x), (P2, m2 * g * A.x)], values)
    return result | {"constraints": [gap.dot(A.x), gap.dot(A.y)]}


def kane85_8_10_gears() -> System:
    """Problem 8.10: a gear train of 60, 30, 30, 61 and 20 teeth, torques TB and TE on its ends."""
    q, u = me.dynamicsymbols("q1 q2 q3 q5"), me.dynamicsymbols("u1 u2 u3 u5")
    TB, TE, JB, JE = sm.symbols("TB TE JB JE")
    A, origin = inertial("A")
    B = turned("B", A, A.x, q[0], u[0])
    E = turned("E", A, A.x, q[0] - q[1] - q[3], u[0] - u[1] - u[3])
    bodies = [
        me.RigidBody(frame.name, origin, frame, sm.S.One, (me.inertia(frame, J, J, J), origin))
        for frame, J in ((B, JB), (E, JE))
    ]
    values = {TB: 1.7, TE: -0.6, JB: 0.2, JE: 0.3}
    result = system(A, q, u, bodies, [(B, TB * A.x), (E, TE * A.x)], values)
    constraints = [30 * u[1] - 30 * u[2], 20 * u[3] - 61 * u[2], 60 * (u[1] - u[0]) - 61 * u[2]]
    return result | {"constraints": constraints}


def kane85_rolling_disk() -> System:
    """Problems 8.3, 10.2, 11.5: the disk of problem 8.3 and the two rows with which it rolls."""
    result = kane85_8_3()
    A, (contact, _) = result["frame"], result["loads"][0]
    return result | {"constraints": [contact.vel(A).dot(A.x), contact.vel(A).dot(A.y)]}
