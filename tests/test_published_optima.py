# SPDX-License-Identifier: BSD-3-Clause
"""Optimal motions beside optima of books, papers and manuals, and beside closed forms."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded
from mechanisms import ground, mass_point
from scipy.integrate import quad, quad_vec, simpson, solve_bvp
from scipy.linalg import expm, solve_continuous_are
from scipy.optimize import brentq
from sweep import part

import kanecore as kc

pytest.importorskip("casadi", reason="pip install casadi")

S = me.dynamicsymbols
T = me.dynamicsymbols._t
REST = {"q": 0, "u": 0}
PI = float(np.pi)
x, v, F = S("x v F")
FROM, TO = {"x": 0, "v": 0}, {"x": 1, "v": 0}


def block(force: Any = F, mass: Any = 1, name: str = "block") -> kc.CompiledModel:
    """A particle at x with the speed v, pushed by a force with the input F."""
    return kc.compile(mass_point({x: v}, mass, [force], name=name))


def system(name: str, rates: dict[Any, Any]) -> kc.CompiledModel:
    """First-order equations, beside a particle at rest."""
    q, u = S("q u")
    return kc.compile(mass_point({q: u}, 1, states=rates, name=name))


# ------------------------------------------------------------------------------------------------ a particle on a line
def least_time() -> tuple[Any, float]:
    """F from its highest to its lowest value: 2 sqrt(distance) (Kirk, *Optimal Control Theory*, 1970, 5.4)."""
    return block().optimize((0.1, 10), start=FROM, end=TO, final_cost="t", bounds={"F": (-1, 1)}), 2.0


def least_time_of_opensim() -> tuple[Any, float]:
    """A mass of 2 kg, 1 m, forces to 50 N: sqrt(4 m d / F) = 0.4 s (OpenSim Moco, example of a sliding mass)."""
    return block(mass=2).optimize((0.1, 5), start=FROM, end=TO, final_cost=T, bounds={F: (-50, 50)}), 0.4


def least_time_against_damping() -> tuple[Any, float]:
    """v̇ = F − v over 2 m: pushed for a, then braked for log(2 − exp(−a)); a by the distance."""
    a = brentq(lambda a: a - np.log(2 - np.exp(-a)) - 2, 0.1, 10)
    found = block(F - v).optimize(
        (0.1, 20), start=FROM, end={"x": 2, "v": 0}, final_cost="t", bounds={"F": (-1, 1)}, intervals=200
    )
    return found, float(a + np.log(2 - np.exp(-a)))


def least_effort() -> tuple[Any, float]:
    """12 (Kelly, *SIAM Review* 59, 2017, the block that moves a unit distance)."""
    return block().optimize(1.0, start=FROM, end=TO, cost="F**2", intervals=4), 12.0


def time_and_effort() -> tuple[Any, float]:
    """∫ 1 + F² dt = t + 12 / t³ is least at t = √6."""
    t = 36.0**0.25
    return block().optimize((0.1, 20), start=FROM, end=TO, cost="1 + F**2"), t + 12 / t**3


def limited_excursion() -> tuple[Any, float]:
    """4/(9 l) with x <= l = 1/9 (Bryson & Ho, *Applied Optimal Control*, 1975, 3.11)."""
    ends = {"start": {"x": 0, "v": 1}, "end": {"x": 0, "v": -1}}
    return block().optimize(1.0, **ends, cost="F**2/2", bounds={"x": (None, 1 / 9)}, intervals=90), 4.0


def soft_landing() -> tuple[Any, float]:
    """Least impulse from 10 m with −2 m/s, thrust to 3, weight 1.5: fall, then full thrust (Meditch 1964)."""
    fall = max(np.roots([-1.5, -4.0, 10.0 - 4.0 / 3.0]).real)
    found = block(F - 1.5).optimize(
        (1, 10), start={"x": 10, "v": -2}, end={"x": 0, "v": 0}, cost="F", bounds={"F": (0, 3)}, guess={"duration": 4}
    )
    return found, 3 * (2 + 1.5 * fall) / 1.5


def interception() -> tuple[Any, float]:
    """The place 2 + t/2 is reached at t²/2: an end that depends on t."""
    found = block().optimize((0.1, 20), start=FROM, end={"x - 2 - t/2": 0}, final_cost="t", bounds={"F": (-1, 1)})
    return found, 0.5 + float(np.sqrt(4.25))


def power_from_waves() -> tuple[Any, float]:
    """At best F²/(8 c) on average (Falnes, *Ocean Waves and Oscillating Systems*, 2002, chapter 6)."""
    dyn = block(3 * sm.cos(2 * T) - F - 0.8 * v - 9 * x)
    return dyn.optimize(PI, periodic=True, cost="-F*v", method="legendre-2"), -9 / (8 * 0.8) * PI


# ------------------------------------------------------------------------------------------------- first-order systems
def oscillator() -> kc.CompiledModel:
    w = S("w")
    return system("oscillator", {x: v, v: w - x})


def oscillator_in_least_time() -> tuple[Any, float]:
    """From (2, 0) to rest is half a circle about (1, 0): π (Pontryagin et al. 1962, example 2 of section 5)."""
    ends = {"start": {"x": 2, "v": 0, **REST}, "end": {"x": 0, "v": 0}}
    return oscillator().optimize((0.5, 10), **ends, final_cost="t", bounds={"w": (-1, 1)}), PI


def oscillator_with_least_effort() -> tuple[Any, float]:
    """eᵀ W⁻¹ e with the Gramian W of the equations."""
    A, b, e = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([0.0, 1.0]), np.array([1.0, 0.0])
    gramian = quad_vec(lambda s: np.outer(expm(A * s) @ b, expm(A * s) @ b), 0, 3)[0]
    exact = float(e @ np.linalg.solve(gramian, e))
    return oscillator().optimize(3.0, start={"x": 0, "v": 0, **REST}, end={"x": 1, "v": 0}, cost="w**2"), exact


def regulator() -> tuple[Any, float]:
    """∫ x² + w² of ẋ = w from 1 with a free end: tanh T, by Riccati's equation."""
    w = S("w")
    return system("integrator", {x: w}).optimize(2.0, start={"x": 1, **REST}, cost="x**2 + w**2"), float(np.tanh(2.0))


def brachistochrone() -> tuple[Any, float]:
    """The cycloid from (0, 0) to (10, 5)."""
    y, a = S("y a")
    g = 9.81
    dyn = system("brachistochrone", {x: v * sm.sin(a), y: v * sm.cos(a), v: g * sm.cos(a)})
    turn = brentq(lambda s: (s - np.sin(s)) / (1 - np.cos(s)) - 2.0, 0.1, 6.2)
    found = dyn.optimize(
        (0.1, 10),
        start={"x": 0, "y": 0, "v": 0, **REST},
        end={"x": 10, "y": 5},
        final_cost="t",
        bounds={"a": (0, 3.2)},
        guess={"a": 0.8, "duration": 2.0, "v": [0, 10]},
    )
    return found, turn * float(np.sqrt(5.0 / (1 - np.cos(turn)) / g))


def van_der_pol() -> tuple[Any, float]:
    """2.867259538 (TOMLAB PROPT's manual, case study "Van der Pol oscillator")."""
    y, w = S("y w")
    dyn = system("van der Pol", {x: (1 - y**2) * x - y + w, y: x})
    start = {"x": 0, "y": 1, **REST}
    return dyn.optimize(
        5.0, start=start, cost="x**2 + y**2 + w**2", bounds={"w": (-0.3, 1)}, intervals=100
    ), 2.867259538


def orbit_raising() -> tuple[Any, float]:
    """Radius 1.525 (Moyer & Pinkham 1964; Bryson & Ho 1975, 2.5)."""
    r, u, a = S("r u_r a")
    push = 0.1405 / (1 - 0.0749 * T)
    rates = {r: u, u: v**2 / r - 1 / r**2 + push * sm.sin(a), v: -u * v / r + push * sm.cos(a)}
    found = system("orbit", rates).optimize(
        3.32,
        start={"r": 1, "u_r": 0, "v": 1, **REST},
        end={"u_r": 0, "v*sqrt(r)": 1},
        final_cost="-r",
        bounds={"a": (0, 2 * PI)},
        guess={"a": [0.5, 5.5], "r": [1, 1.5], "v": [1, 0.8]},
    )
    return found, -1.5253


def linear_tangent_steering() -> tuple[Any, float]:
    """0.55457088 s (Betts, *Practical Methods for Optimal Control*, 2010, example 4.1; COPS 3, particle steering)."""
    y, vx, vy, a = S("y v_x v_y a")
    dyn = system("steering", {x: vx, y: vy, vx: 100 * sm.cos(a), vy: 100 * sm.sin(a)})
    found = dyn.optimize(
        (0.01, 5),
        start=dict.fromkeys(("x", "y", "v_x", "v_y"), 0) | REST,
        end={"y": 5, "v_x": 45, "v_y": 0},
        final_cost="t",
        bounds={"a": (-PI / 2, PI / 2)},
        guess={"duration": 1.0},
    )
    return found, 0.55457088


def rayleigh() -> tuple[Any, float]:
    """29.376 (Jacobson & Mayne, *Differential Dynamic Programming*, 1970), beside Pontryagin's equations."""
    y, w = S("y w")
    dyn = system("Rayleigh", {x: y, y: -x + y * (1.4 - 0.14 * y**2) + 4 * w})
    found = dyn.optimize(2.5, start={"x": -5, "y": -5, **REST}, cost="w**2 + x**2", tol=1e-7)

    def rates(_: Any, z: Any) -> Any:  # states and costates, with w = −2 λ_y
        x, y, of_x, of_y = z
        change = -x + y * (1.4 - 0.14 * y**2) - 8 * of_y
        return np.array([y, change, -2 * x + of_y, -of_x - of_y * (1.4 - 0.42 * y**2)])

    times = np.linspace(0, 2.5, 2001)
    guess = np.vstack([found.at(times)["x"], found.at(times)["y"], np.zeros((2, times.size))])
    exact = solve_bvp(rates, lambda a, b: np.r_[a[:2] + 5, b[2:]], times, guess, tol=1e-8, max_nodes=9000)
    assert exact.success, exact.message
    of_x, of_w = exact.sol(times)[0], -2 * exact.sol(times)[3]
    cost = float(simpson(of_w**2 + of_x**2, x=times))
    assert cost == pytest.approx(29.376, abs=5e-4)
    return found, cost


def robot_arm() -> tuple[Any, float]:
    """9.14138 by 200 trapezoidal intervals (Dolan, Moré & Munson, *Benchmarking Optimization ... COPS 3.0*, 2004)."""
    rho, theta, phi, a, b, c, fa, fb, fc = S("rho theta phi a b c f_a f_b f_c")
    inertia = ((5 - rho) ** 3 + rho**3) / 3
    rates = {rho: a, theta: b, phi: c, a: fa / 5, b: fb / (inertia * sm.sin(phi) ** 2), c: fc / inertia}
    rest = dict.fromkeys("abc", 0)
    found = system("arm of COPS", rates).optimize(
        (1, 20),
        start={"rho": 4.5, "theta": 0, "phi": PI / 4, **rest, **REST},
        end={"rho": 4.5, "theta": 2 * PI / 3, "phi": PI / 4, **rest},
        final_cost="t",
        bounds=dict.fromkeys(("f_a", "f_b", "f_c"), (-1, 1)),
        method="trapezoidal",
        intervals=200,
        tol=1e-3,
    )
    assert found.optimize(method="hermite-simpson", tol=1e-5).cost == pytest.approx(9.1409, abs=5e-5)
    return found, 9.14138


def goddard() -> tuple[Any, float]:
    """Height 1.01283 of a rocket, with a singular arc (Dolan, Moré & Munson, COPS 3.0, Goddard's rocket)."""
    h, m = S("h m")
    drag = 310 * v**2 * sm.exp(-500 * (h - 1))
    found = system("Goddard", {h: v, v: (F - drag) / m - 1 / h**2, m: -2 * F}).optimize(
        (0.05, 0.5),
        start={"h": 1, "v": 0, "m": 1, **REST},
        end={"m": 0.6},
        final_cost="-h",
        bounds={"F": (0, 3.5), "m": (0.6, 1), "v": (0, None), "h": (1, None)},
        guess={"duration": 0.2, "h": [1, 1.01], "v": [0, 0.1, 0], "m": [1, 0.6], "F": 1.7},
        tol=1e-4,
    )
    return found, -1.01283


def zermelo() -> tuple[Any, float]:
    """5.46 (Bryson & Ho 1975, 2.7: a ship in a current that grows with the distance from the shore)."""
    y, a = S("y a")
    dyn = system("Zermelo", {x: sm.cos(a) - y, y: sm.sin(a)})
    ends = {"start": {"x": 3.66, "y": -1.86, **REST}, "end": {"x": 0, "y": 0}}
    return dyn.optimize((0.5, 20), **ends, final_cost="t", guess={"duration": 5, "a": [2, 4]}), 5.46


def turns_and_a_straight() -> tuple[Any, float]:
    """Left, straight, left: π + 2 (Dubins, *American Journal of Mathematics* 79, 1957)."""
    y, a, w = S("y a w")
    found = system("Dubins", {x: sm.cos(a), y: sm.sin(a), a: w}).optimize(
        (1, 20),
        start={"x": 0, "y": 0, "a": 0, **REST},
        end={"x": 0, "y": 4, "a": PI},
        final_cost="t",
        bounds={"w": (-1, 1)},
        guess={"duration": 5, "x": [0, 1, 1, 0]},
    )
    return found, PI + 2


def largest_area() -> tuple[Any, float]:
    """Dido's problem: a closed line of length 1 surrounds at most 1/(4 π)."""
    y, a, area = S("y a area")
    rates = {x: sm.cos(a), y: sm.sin(a), area: (x * sm.sin(a) - y * sm.cos(a)) / 2}
    found = system("Dido", rates).optimize(
        1.0,
        start={"x": 0, "y": 0, "area": 0, **REST},
        periodic=["x", "y"],
        final_cost="-area",
        guess={"a": [0, 2 * PI], "x": [0, 0.16, 0, -0.16, 0], "y": [0, 0.1, 0.3, 0.1, 0]},
    )
    return found, -1 / (4 * PI)


def nonholonomic_integrator() -> tuple[Any, float]:
    """2 π for z = 1 by ż = x ẏ − y ẋ: a circle (Brockett, *New Directions in Applied Mathematics*, 1982)."""
    y, z, a, b = S("y z a b")
    found = system("Brockett", {x: a, y: b, z: x * b - y * a}).optimize(
        1.0,
        start={"x": 0, "y": 0, "z": 0, **REST},
        end={"x": 0, "y": 0, "z": 1},
        cost="a**2 + b**2",
        guess={"x": [0, 0.3, 0, -0.3, 0], "y": [0, 0.1, 0.4, 0.1, 0]},
    )
    return found, 2 * PI


def soap_film() -> tuple[Any, float]:
    """The catenoid between two circles of radius 1 at a distance of 1 (Bryson & Ho 1975, page 64)."""
    y, w = S("y w")
    c = brentq(lambda c: c * np.cosh(0.5 / c) - 1, 0.5, 2)
    found = system("film", {y: w}).optimize(
        1.0, start={"y": 1, **REST}, end={"y": 1}, cost="y*sqrt(1 + w**2)", guess={"y": 0.9}
    )
    return found, float(c**2 / 2 * (np.sinh(1 / c) + 1 / c))


def hypersensitive() -> tuple[Any, float]:
    """Fast at both ends (Rao & Mease 1999); each end by the Hamilton-Jacobi equation for an infinite time."""
    w = S("w")
    start = quad(lambda s: -(s**3) + np.sqrt(s**6 + s**2), 0, 1.0)[0]
    end = quad(lambda s: s**3 + np.sqrt(s**6 + s**2), 0, 1.5)[0]
    dyn = system("hypersensitive", {x: -(x**3) + w})
    return dyn.optimize(50.0, start={"x": 1, **REST}, end={"x": 1.5}, cost="(x**2 + w**2)/2", tol=1e-7), start + end


# ---------------------------------------------------------------------------------------------------------- mechanisms
def two_masses() -> tuple[Any, float]:
    """xᵀ P x with Riccati's P: two masses and a spring, one of them pushed, for a long time."""
    y, w = S("y w")
    N, O = ground()  # noqa: E741
    P, Q = O.locatenew("P", x * N.x), O.locatenew("Q", y * N.x)
    loads = [(P, (F + 3 * (y - x)) * N.x), (Q, -3 * (y - x) * N.x)]
    bodies = [me.Particle("a", P, 1), me.Particle("b", Q, 2)]
    dyn = kc.compile(kc.Model(N, [x, y], [v, w], [x.diff() - v, y.diff() - w], bodies=bodies, forcelist=loads))
    A, B = dyn.linearize(0.0, dyn.state())
    start = np.array([1, -0.5, 0.2, 0])
    exact = start @ solve_continuous_are(A, B, np.eye(4), [[1.0]]) @ start
    return dyn.optimize(25.0, start=start, cost="x**2 + y**2 + v**2 + w**2 + F**2", tol=1e-6), float(exact)


def great_circle() -> tuple[Any, float]:
    """12 φ² from rest to rest along the arc φ between two points of a sphere, a constraint."""
    y, z, u, vy, w, fx, fy, fz = S("y z u v_y w F_x F_y F_z")
    sphere = {"q_dependent": [z], "u_dependent": [w], "configuration_constraints": [x**2 + y**2 + z**2 - 1]}
    dyn = kc.compile(mass_point({x: u, y: vy, z: w}, 1, [fx, fy, fz], name="on a sphere", **sphere))
    a, b = np.array([-0.5, 0, np.sqrt(0.75)]), np.array([0.5, 0.3, np.sqrt(0.66)])
    end = {**dict(zip("xyz", b.tolist(), strict=True)), "u": 0, "v_y": 0}
    found = dyn.optimize(1.0, start=[*a, 0, 0, 0], end=end, cost="F_x**2 + F_y**2 + F_z**2")
    return found, float(12 * np.arccos(a @ b) ** 2)


def parallelogram() -> tuple[Any, float]:
    """12 (J Δq)² / T³: a closed loop whose effective inertia is constant."""
    dyn = loaded("four_bar")
    values = {"L1": 0.4, "L2": 1.0, "L3": 0.4, "d": 1.0, "g": 0.0, "m1": 1.1, "m2": 2.3, "m3": 1.7}
    p = {**dyn.parameters, **values}
    start = dyn.consistent(0.0, dyn.state(q1=PI / 3, q3=PI / 3), p=p)
    found = dyn.optimize(1.0, start=start, end={"q1": 2 * PI / 3, "u1": 0}, cost="tau**2", parameters=p)
    return found, 12 * ((1.1 / 3 + 2.3 + 1.7 / 3) * 0.4**2 * PI / 3) ** 2


def ball_on_a_turntable() -> tuple[Any, float]:
    """Pushed as v̇ = 2/7 Ω n × v + 5/7 F/m (Weltner, *American Journal of Physics* 47, 1979): eᵀ W⁻¹ e by Gramian."""
    y, ux, uy, wx, wy, wz, fx, fy = S("y u_x u_y w_x w_y w_z F_x F_y")
    m, radius, turn = 0.31, 0.04, 2.3
    N, O = ground()  # noqa: E741
    B = me.ReferenceFrame("B")
    B.orient_axis(N, N.z, 0)
    B.set_ang_vel(N, wx * N.x + wy * N.y + wz * N.z)
    C = O.locatenew("C", x * N.x + y * N.y + radius * N.z)
    C.set_vel(N, ux * N.x + uy * N.y)
    slip = C.vel(N) + B.ang_vel_in(N).cross(-radius * N.z) - turn * (x * N.y - y * N.x)
    J = sm.Rational(2, 5) * m * radius**2
    model = kc.Model(
        N,
        [x, y],
        [wx, wy, wz],
        [x.diff() - ux, y.diff() - uy],
        u_dependent=[ux, uy],
        velocity_constraints=[slip.dot(N.x), slip.dot(N.y)],
        bodies=[me.RigidBody("ball", C, B, m, (me.inertia(N, J, J, J), C))],
        forcelist=[(C, fx * N.x + fy * N.y)],
        name="pushed ball",
    )
    dyn = kc.compile(model)
    start = dyn.consistent(0.0, dyn.state(x=0.2, y=-0.1), ["x", "y", "u_x", "u_y", "w_z"])
    end = {"x": -0.2, "y": 0.2, "u_x": 0, "u_y": 0}
    A, push = np.zeros((4, 4)), np.zeros((4, 2))
    A[:2, 2:], A[2:, 2:], push[2:] = np.eye(2), 2 / 7 * turn * np.array([[0, -1], [1, 0]]), 5 / 7 / m * np.eye(2)
    W = quad_vec(lambda s: expm(A * s) @ push @ push.T @ expm(A * s).T, 0, 3)[0]
    e = np.array([-0.4, 0.3, 0, 0])
    return dyn.optimize(3.0, start=start, end=end, cost="F_x**2 + F_y**2"), float(e @ np.linalg.solve(W, e))


def spacecraft() -> kc.CompiledModel:
    """A body with moments of inertia of 1, its attitude a quaternion."""
    e, w, tau = S("e0:4"), S("w1:4"), S("tau1:4")
    N, O = ground()  # noqa: E741
    B = me.ReferenceFrame("B")
    B.orient_quaternion(N, e)
    B.set_ang_vel(N, sum((a * b for a, b in zip(w, B, strict=True)), me.Vector(0)))
    torque = sum((a * b for a, b in zip(tau, B, strict=True)), me.Vector(0))
    body = me.RigidBody("craft", O, B, 1, (me.inertia(B, 1, 1, 1), O))
    rates = me.kinematic_equations(w, e, "quaternion")
    return kc.compile(kc.Model(N, e, w, rates, bodies=[body], forcelist=[(B, torque)], name="spacecraft"))


def turn_with_least_effort() -> tuple[Any, float]:
    """12 φ² / T³ about an axis, for equal moments of inertia."""
    dyn = spacecraft()
    end = {"e0": 0, "e1": 0.6, "e2": 0, "e3": 0.8, "w1": 0, "w2": 0, "w3": 0}
    return dyn.optimize(2.0, start=dyn.state(e0=1), end=end, cost="tau1**2 + tau2**2 + tau3**2"), 12 * PI**2 / 8


def turn_in_least_time() -> tuple[Any, float]:
    """3.2430 in place of 2 √π about an axis (Bilimoria & Wie, *J. Guidance, Control, and Dynamics* 16, 1993, 446)."""
    dyn, half = spacecraft(), np.linspace(0, PI / 2, 21)
    found = dyn.optimize(
        (1, 6),
        start=dyn.state(e0=1),
        end={"e0": 0, "e1": 0, "e2": 0, "e3": 1, "w1": 0, "w2": 0, "w3": 0},
        final_cost="t",
        bounds=dict.fromkeys(("tau1", "tau2", "tau3"), (-1, 1)),
        guess={"duration": 3.4, "e0": np.cos(half), "e3": np.sin(half)},
        tol=1e-4,
    )
    return found, 3.2430


def swing_up_of_kelly() -> tuple[Any, float]:
    """Cart-pole of Kelly 2017, section 6, beside Pontryagin's equations by SciPy's `solve_bvp`."""
    theta, w = S("theta w")
    m, M, length, g = 0.3, 1.0, 0.5, 9.81
    N, O = ground()  # noqa: E741
    cart = O.locatenew("cart", x * N.x)
    cart.set_vel(N, v * N.x)
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, theta)
    A.set_ang_vel(N, w * N.z)
    bob = cart.locatenew("bob", -length * A.y)
    bob.v2pt_theory(cart, N, A)
    bodies = [me.Particle("cart", cart, M), me.Particle("bob", bob, m)]
    loads = [(cart, F * N.x), (bob, -m * g * N.y)]
    dyn = kc.compile(kc.Model(N, [x, theta], [v, w], [x.diff() - v, theta.diff() - w], bodies=bodies, forcelist=loads))
    found = dyn.optimize(
        2.0,
        start=dyn.state(),
        end={"x": 1, "theta": PI, "v": 0, "w": 0},
        cost=F**2,
        bounds={"F": (-20, 20), "x": (-2, 2)},
        tol=1e-7,
    )

    def rates(t: Any, z: Any) -> Any:  # states and costates, with F = -λᵀ B / 2
        y = z[:4].T
        B = dyn.linearize(0.0, y, r=np.zeros((len(y), 1)))[1][..., 0]
        r = -np.sum(z[4:].T * B, axis=1)[:, np.newaxis] / 2
        A = dyn.linearize(0.0, y, r=r)[0]
        return np.vstack([dyn.rhs(0.0, y, r=r).T, -np.einsum("nij,ni->nj", A, z[4:].T).T])

    start, end = np.zeros(4), np.array([1.0, PI, 0.0, 0.0])
    times = np.linspace(0, 2, 401)
    costates = found.multipliers["costates"]
    guess = np.vstack([found(times).T, *(np.interp(times, 2.0 * found.edges[:-1], row) for row in costates)])
    exact = solve_bvp(rates, lambda a, b: np.r_[a[:4] - start, b[:4] - end], times, guess, tol=1e-8, max_nodes=20000)
    assert exact.success
    B = dyn.linearize(0.0, exact.y[:4].T, r=np.zeros((exact.x.size, 1)))[1][..., 0]
    force = -np.sum(exact.y[4:].T * B, axis=1) / 2
    return found, float(simpson(force**2, x=exact.x))


OPTIMA = {
    least_time: 1e-6,
    least_time_of_opensim: 1e-6,
    least_time_against_damping: 2e-5,
    least_effort: 1e-12,
    time_and_effort: 1e-9,
    limited_excursion: 1e-6,
    soft_landing: 1e-6,
    interception: 1e-6,
    power_from_waves: 1e-8,
    oscillator_in_least_time: 1e-4,
    oscillator_with_least_effort: 1e-6,
    regulator: 1e-7,
    brachistochrone: 1e-8,
    linear_tangent_steering: 1e-8,
    rayleigh: 1e-6,
    van_der_pol: 1e-6,
    robot_arm: 5e-6,
    orbit_raising: 5e-5,
    goddard: 2e-5,
    zermelo: 5e-4,
    turns_and_a_straight: 2e-6,
    largest_area: 2e-6,
    nonholonomic_integrator: 1e-6,
    soap_film: 1e-8,
    hypersensitive: 5e-6,
    two_masses: 5e-6,
    great_circle: 1e-6,
    parallelogram: 1e-9,
    ball_on_a_turntable: 1e-6,
    turn_with_least_effort: 1e-6,
    turn_in_least_time: 3e-5,
    swing_up_of_kelly: 1e-5,
}


@pytest.mark.parametrize("problem", part(list(OPTIMA), [least_effort, brachistochrone, linear_tangent_steering]))
def test_known_optima(problem: Any) -> None:
    found, expected = problem()
    assert found.success, found.message
    assert found.cost == pytest.approx(expected, rel=OPTIMA[problem])
