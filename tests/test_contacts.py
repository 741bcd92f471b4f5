# SPDX-License-Identifier: BSD-3-Clause
"""Compliant contacts against closed forms of restitution and of a sliding ball, SciPy, momenta and differences."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, rates
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kanecore as kc

M, R, K, D, MU, VT, G = sm.symbols("m R k d mu v_t g")
N, O = ground()  # noqa: E741


def falling(**options: Any) -> kc.Model:
    """A ball above the plane z = 0."""
    z, w = me.dynamicsymbols("z w")
    P = O.locatenew("P", z * N.z)
    P.set_vel(N, w * N.z)
    contact = kc.Contact(P, R, on=kc.Plane(O, 2 * N.z), stiffness=K, dissipation=D, **options)
    loads = [(P, -M * G * N.z), contact]
    return kc.Model(N, [z], [w], [z.diff() - w], bodies=[me.Particle("ball", P, M)], forcelist=loads, name="drop")


DROP = {M: 0.8, G: 0.0, K: 2e6, D: 0.3, R: 0.05}


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_restitution_has_its_closed_form(speed: float) -> None:
    """Without gravity d v_i − ln(1 + d v_i) = −d v_o − ln(1 − d v_o), whatever k and n are (Hunt & Crossley 1975)."""
    d = DROP[D]
    exact = brentq(
        lambda v: d * speed - np.log1p(d * speed) + d * v + np.log1p(-d * v), 1e-6, speed, xtol=1e-15, rtol=1e-15
    )
    touch = kc.Event("P_depth", reset=lambda t, x: x)
    for exponent in (1.5, 2.2):
        dyn = compiled(falling(exponent=exponent), DROP)
        sol = dyn.simulate((0.0, 0.5), [0.06, -speed], rtol=1e-10, atol=1e-12, events=touch)
        assert_allclose(sol.x[-1, 1], exact, rtol=1e-8)


def test_ball_lies_at_the_depth_that_carries_its_weight() -> None:
    dyn = compiled(falling(), {**DROP, G: 9.81})
    depth = (0.8 * 9.81 / 2e6) ** (2 / 3)
    x = [0.05 - depth, 0.0]
    assert_allclose(dyn.udot(0.0, x), 0.0, atol=1e-12)
    assert dyn.output_names == ("P_depth", "P_normal", "P_force_x", "P_force_y", "P_force_z")
    assert_allclose(dyn.outputs(0.0, x), [depth, 0.8 * 9.81, 0.0, 0.0, 0.8 * 9.81], rtol=1e-12)
    apart = dyn.outputs(0.0, [0.06, -1.0])
    assert_allclose(apart[0], -0.01)
    assert_array_equal(apart[1:], 0.0)


def test_force_of_gait2d() -> None:
    """F_y = k d³ (1 − c v_y) and F_x = −μ F_y (2/(1 + exp(−v_x/v_s)) − 1) of van den Bogert's model: v_t = 2 v_s."""
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    law = {"stiffness": 5e7, "exponent": 3, "dissipation": 0.85, "mu": 1, "transition_velocity": 0.02}
    contact = kc.Contact(P, on=kc.Plane(O, N.y), **law, name="toe")
    model = kc.Model(
        N, [x, y], [u, v], rates([x, y], [u, v]), bodies=[me.Particle("p", P, 12)], forcelist=[contact], name="toe"
    )
    force = compiled(model).outputs(0.0, [0.0, -0.012, 0.02, -0.1])[2:4]
    assert_allclose(force, [-71.39488255592, 93.744], rtol=1e-12)


def ball(name: str) -> tuple[Any, ...]:
    """Coordinates, speeds, kinematical equations, centre and body of a sphere in space; ω in axes of N."""
    q, u = me.dynamicsymbols(f"x{name} y{name} z{name}"), me.dynamicsymbols(f"u{name} v{name} w{name}")
    e, p = me.dynamicsymbols(f"e{name}0:4"), me.dynamicsymbols(f"p{name}0:3")
    A = N.orientnew(f"A{name}", "Quaternion", e)
    A.set_ang_vel(N, sum((a * axis for a, axis in zip(p, N, strict=True)), me.Vector(0)))
    P = O.locatenew(f"P{name}", sum((a * axis for a, axis in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((a * axis for a, axis in zip(u, N, strict=True)), me.Vector(0)))
    spread = sm.Matrix([[-e[1], -e[2], -e[3]], [e[0], e[3], -e[2]], [-e[3], e[0], e[1]], [e[2], -e[1], e[0]]]) / 2
    body = me.RigidBody(f"ball{name}", P, A, M, (me.inertia(A, *[sm.Rational(2, 5) * M * R**2] * 3), P))
    return [*q, *e], [*u, *p], rates([*q, *e], [*u, *(spread * sm.Matrix(p))]), P, body


SLIDING: dict[str, Any] = {"mu": MU, "transition_velocity": VT}


def test_ball_slides_then_rolls() -> None:
    """Homogeneous ball: it slides on a parabola for 2 |s|/(7 μ g), and rolls at v₀ − 2/7 s from then on."""
    q, u, kd, P, body = ball("")
    contact = kc.Contact(P, R, on=kc.Plane(O, N.z), stiffness=K, dissipation=D, **SLIDING)
    model = kc.Model(N, q, u, kd, bodies=[body], forcelist=[contact, (P, -M * G * N.z)], name="billiard")
    m, r, g, mu = 0.17, 0.028, 9.81, 0.21
    dyn = compiled(model, {M: m, R: r, G: g, K: 1e6, D: 2.0, MU: mu, VT: 1e-4})
    v, w = np.array([1.8, 0.4]), np.array([-22.0, -15.0, 30.0])
    slip = np.array([v[0] - r * w[1], v[1] + r * w[0]])
    size = np.linalg.norm(slip)
    slides = 2 * size / (7 * mu * g)
    start = [0.0, 0.0, r - (m * g / 1e6) ** (2 / 3), 1.0, 0.0, 0.0, 0.0, *v, 0.0, *w]
    sol = dyn.simulate((0.0, 0.5), start, method="rosenbrock", rtol=1e-7, atol=1e-9, t_eval=[0.5 * slides, 0.5])
    e = slip / size
    assert_allclose(sol.x[0, :2], v * slides / 2 - mu * g * slides**2 / 8 * e, atol=1e-6)
    rolling = v - 2 / 7 * slip
    assert_allclose(sol.x[1, 7:9], rolling, atol=1e-6)
    assert_allclose(sol.x[1, 10:13], [-rolling[1] / r, rolling[0] / r, 30.0], atol=1e-4)


def test_balls_that_collide_keep_their_momenta_and_lose_energy() -> None:
    q1, u1, kd1, P1, body1 = ball("a")
    q2, u2, kd2, P2, body2 = ball("b")
    contact = kc.Contact(P1, R, on=kc.Sphere(P2, R), stiffness=K, dissipation=D, **SLIDING)
    model = kc.Model(N, q1 + q2, u1 + u2, kd1 + kd2, bodies=[body1, body2], forcelist=[contact], name="collision")
    m, r = 0.17, 0.028
    dyn = compiled(model, {M: m, R: r, K: 1e6, D: 0.3, MU: 0.3, VT: 1e-3})
    x = np.zeros(26)
    x[[3, 10]], x[:3], x[14:20], x[23:] = 1.0, [-0.06, 0.01, 0.004], [1.0, 0.1, -0.2, 3.0, 5.0, -7.0], [1.0, -2.0, 3.0]
    sol = dyn.simulate((0.0, 0.03), x, rtol=1e-8, atol=1e-10)

    def momenta(x: Any) -> Any:
        (r1, r2), (v1, v2) = (x[:3], x[7:10]), (x[14:17], x[20:23])
        spin = 0.4 * m * r**2 * (x[17:20] + x[23:26])
        return np.array([m * (v1 + v2), m * np.cross(r1, v1) + m * np.cross(r2, v2) + spin])

    assert sol["Pa_depth"].max() > 5e-4
    assert_allclose(momenta(sol.x[-1]), momenta(x), atol=1e-14)
    assert dyn.kinetic_energy(0.0, sol.x[-1]) < 0.95 * dyn.kinetic_energy(0.0, x)
    assert (
        abs(sol.energy[-1] - sol.energy[0] - (dyn.kinetic_energy(0.0, sol.x[-1]) - dyn.kinetic_energy(0.0, x))) < 1e-12
    )


def on_a_slope(angle: float, force: Any = 0, **law: Any) -> kc.CompiledModel:
    """A block of 2 kg that lies on a slope, under a force along it; x is along the slope."""
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    weight = 2 * 9.81 * (np.sin(angle) * N.x - np.cos(angle) * N.y)
    contact = kc.Contact(P, on=kc.Plane(O, N.y), stiffness=1e5, exponent=1, dissipation=1, **law)
    loads = [contact, (P, weight + force * N.x)]
    model = kc.Model(N, [x, y], [u, v], rates([x, y], [u, v]), bodies=[me.Particle("p", P, 2)], forcelist=loads)
    return compiled(model)


BRISTLES = {"bristle_stiffness": 1e4, "bristle_damping": 2 * np.sqrt(1e4 / 9.81)}


def test_bristles_hold_on_a_slope() -> None:
    """A block comes to rest and stays where regularised friction creeps: z = tan α/σ₀, with nothing left of u̇ and ż."""
    angle, lies = 0.3, 2 * 9.81 * np.cos(0.3) / 1e5
    holds = on_a_slope(angle, mu=0.6, **BRISTLES)
    assert holds.state_names == ("P_bristle_1",)
    z = np.tan(angle) / 1e4
    assert_allclose(holds.rhs(0.0, [z, -lies, 0.0, 0.0, z]), 0.0, atol=1e-12)
    sol = holds.simulate((0.0, 5.0), {"y": -lies}, method="rosenbrock", rtol=1e-9, atol=1e-12)
    creeps = on_a_slope(angle, mu=0.6, transition_velocity=1e-3)
    other = creeps.simulate((0.0, 5.0), {"y": -lies}, method="rosenbrock")
    assert abs(sol.x[-1, 0] - sol(2.0)[0]) < 1e-10 < 1e-3 < other.x[-1, 0] - other(2.0)[0]
    assert_allclose(sol.x[-1, 4], z, rtol=1e-6)
    slides = holds.rhs(0.0, [0.0, -lies, 1.0, 0.0, 0.6 / 1e4])
    assert_allclose(slides[[2, 4]], [9.81 * (np.sin(angle) - 0.6 * np.cos(angle)), 0.0], atol=1e-10)


@pytest.mark.parametrize("until", [10.0, pytest.param(40.0, marks=pytest.mark.long)])
def test_stick_and_slip_of_canudas_de_wit(until: float) -> None:
    """Figure 4 of the paper of 1995: 1 kg on a spring of 2 N/m that is drawn at 0.1 m/s, against SciPy's Radau."""
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    t, g = me.dynamicsymbols._t, 9.81
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    law = {"mu": 1 / g, "mu_static": 1.5 / g, "stribeck_velocity": 1e-3}
    law |= {"bristle_stiffness": 1e5 / g, "bristle_damping": np.sqrt(1e5) / g}
    contact = kc.Contact(P, on=kc.Plane(O, N.y), stiffness=1e5, exponent=1, **law)
    loads = [contact, (P, -g * N.y + (2 * (0.1 * t - x) - 0.4 * u) * N.x)]
    dyn = compiled(kc.Model(N, [x, y], [u, v], rates([x, y], [u, v]), bodies=[me.Particle("p", P, 1)], forcelist=loads))

    def paper(t: float, w: Any) -> list[float]:
        position, speed, z = w
        slope = speed - 1e5 * abs(speed) / (1 + 0.5 * np.exp(-((speed / 1e-3) ** 2))) * z
        return [speed, 2 * (0.1 * t - position) - 1e5 * z - np.sqrt(1e5) * slope - 0.4 * speed, slope]

    times = np.linspace(0.0, until, 9)
    exact = solve_ivp(paper, (0.0, until), [0.0, 0.0, 0.0], "Radau", times, rtol=1e-8, atol=1e-11)
    sol = dyn.simulate((0.0, until), {"y": -g / 1e5}, method="rosenbrock", t_eval=times, rtol=1e-8, atol=1e-10)
    assert exact.y[0, -1] > 0.6  # it has slipped
    assert_allclose(sol.x[:, 0], exact.y[0], atol=2e-6)


def test_bristles_lie_along_the_surface() -> None:
    """On a hill: F = F_n (n − P (σ₀ z + σ₁ ż)) with P = 1 − n nᵀ; apart, z decays with σ₀/σ₁."""
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u v w")
    P = O.locatenew("P", sum((a * axis for a, axis in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((a * axis for a, axis in zip(u, N, strict=True)), me.Vector(0)))
    contact = kc.Contact(P, on=kc.Sphere(O, 1), stiffness=1e5, mu=0.6, **BRISTLES, name="hill")
    model = kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("p", P, 2)], forcelist=[contact])
    dyn = compiled(model)
    assert dyn.state_names == ("hill_bristle_1", "hill_bristle_2", "hill_bristle_3")
    n, v, z = np.array([0.36, 0.48, 0.8]), np.array([0.02, -0.01, 0.003]), np.array([1e-5, 2e-5, -3e-5])
    x = [*(0.999 * n), *v, *z]
    s = v - n * (n @ v)
    slope = s - 1e4 * np.linalg.norm(s) / 0.6 * z
    assert_allclose(dyn.zdot(0.0, x), slope, rtol=1e-12)
    pull = 1e4 * z + BRISTLES["bristle_damping"] * slope
    normal = 1e5 * 1e-3**1.5
    assert_allclose(dyn.outputs(0.0, x)[2:5], normal * (n - pull + n * (n @ pull)), rtol=1e-9)
    assert_allclose(dyn.outputs(0.0, x)[5], 1e4 * np.linalg.norm(z - n * (n @ z)) / 0.6, rtol=1e-12)
    apart = [*(1.001 * n), *v, *z]
    assert_allclose(dyn.zdot(0.0, apart), -1e4 / BRISTLES["bristle_damping"] * z, rtol=1e-12)
    assert dyn.outputs(0.0, apart)[5] == 0.0


@pytest.mark.parametrize("law", [{"mu": 0.5}, {"mu": 0.3, "mu_static": 0.5, "stribeck_velocity": 1e-3}])
def test_bristles_of_an_equilibrium_hold_what_friction_carries(law: dict[str, float]) -> None:
    """A block rests on a slope up to tan α = μ_s; beyond it slides, though z = tan α/σ₀ solves ẋ = 0 as well."""
    start, pull = {"y": -2 * 9.81 / 1e5}, me.dynamicsymbols("pull")
    rests = on_a_slope(np.arctan(0.499), **law, **BRISTLES).equilibrium(start)
    assert_allclose(rests.state["P_bristle_1"], 0.499 / 1e4, rtol=1e-9)
    for slope in (0.501, 3.0):
        dyn = on_a_slope(np.arctan(slope), pull, **law, **BRISTLES)
        said = rf"P_utilization = {slope / 0.5:.4g}, outside \[0, 1\]: the friction of contact P .*'P_bristle_1': 0"
        with pytest.raises(kc.ModelError, match=said):
            dyn.equilibrium(start)
        with pytest.raises(kc.ModelError, match=r"not balanced: .*d/dt u"):
            dyn.equilibrium(start, fixed={"P_bristle_1": 0.0})
    slides = dyn.equilibrium(start, fixed={"u": -0.3}, inputs=[pull])
    assert_allclose(dyn.outputs(0.0, slides.x, r=slides.r)[-1], law["mu"] / 0.5, rtol=1e-9)


def beside_a_pin(way: str, axis: tuple[int, int, int], surface: str) -> kc.CompiledModel:
    """A rod on a pin J touches the ground, which is reached through points of the axis or of the rod."""
    O, q, u = me.Point("O"), *me.dynamicsymbols("q u")  # noqa: E741
    pin, rest = sum((c * e for c, e in zip(axis, N, strict=True)), me.Vector(0)), 0.5 * N.x - 0.12 * N.y
    A = N.orientnew("A", "Axis", [q, pin])
    A.set_ang_vel(N, u * pin / pin.magnitude())
    J = O.locatenew("J", 0.3 * N.x)
    C, tip = J.locatenew("C", 0.4 * A.x), J.locatenew("tip", 0.8 * A.x)
    K = J.locatenew("K", sum((c * e for c, e in zip(axis, A, strict=True)), me.Vector(0)) / 15)
    S = J.locatenew("S", rest)
    if way == "the rod":
        tip = C.locatenew("end", 0.4 * A.x)
        S = tip.locatenew("S", rest - 0.8 * A.x)
    for point in {"the pin": (J,), "the axis": (K,), "both": (K, O), "the rod": (O,)}[way]:
        point.set_vel(N, 0)
    on = kc.Sphere(S, 0.32) if surface == "sphere" else kc.Plane(S, N.y)
    touch = kc.Contact(tip, 0.15, on=on, stiffness=1000, mu=0.3, transition_velocity=0.01)
    spring = me.ForceActuator(30, me.LinearPathway(S, C))
    body = me.RigidBody("rod", C, A, 1.3, (me.inertia(A, 0.01, 0.02, 0.03), C))
    forces = [touch, (K, 3 * N.x - N.z), (S, 5 * N.y), spring]
    return compiled(kc.Model(N, [q], [u], [q.diff() - u], bodies=[body], forcelist=forces, name="pin"))


@pytest.mark.parametrize("axis", [(0, 0, 3), (2, 1, 2)])
@pytest.mark.parametrize("way", ["the axis", "both", "the rod"])
def test_points_of_the_ground_are_reached_through_bodies(way: str, axis: tuple[int, int, int]) -> None:
    """The ground does not turn with the body whose points lead to it, and forces on it are no loads of the joint."""
    for surface in ("sphere", "plane"):
        ours, plain = (beside_a_pin(each, axis, surface) for each in (way, "the pin"))
        x = [-0.02, 0.7]
        assert_allclose(ours.udot(0.0, x), plain.udot(0.0, x), rtol=1e-12)
        assert_allclose(ours.reactions(0.0, x), plain.reactions(0.0, x), rtol=1e-11, atol=1e-12)
        assert plain.outputs(0.0, x)[1] > 1.0


def on_a_plate(**options: Any) -> kc.Model:
    """A free plate in a plane, and a particle that falls on the side of it away from its middle."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    s, p = me.dynamicsymbols("a b c"), me.dynamicsymbols("f g h")
    A = N.orientnew("A", "Axis", [s[2], N.z])
    A.set_ang_vel(N, p[2] * N.z)
    C, P = O.locatenew("C", s[0] * N.x + s[1] * N.y), O.locatenew("P", q[0] * N.x + q[1] * N.y)
    C.set_vel(N, p[0] * N.x + p[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    top = C.locatenew("top", 0.1 * A.y)
    bodies = [me.RigidBody("plate", C, A, 2.0, (me.inertia(A, 0, 0, 0.3), C)), me.Particle("p", P, 0.5)]
    contact = kc.Contact(P, on=kc.Plane(top, A.y), stiffness=1e5, dissipation=0.2, **options)
    return kc.Model(N, [*q, *s], [*u, *p], rates([*q, *s], [*u, *p]), bodies=bodies, forcelist=[contact], name="plate")


def test_a_moving_plane_gets_the_opposite_force_where_it_is_touched() -> None:
    dyn = compiled(on_a_plate(mu=0.4, transition_velocity=0.01))
    x = np.array([0.4, 0.099, 0.02, 0.0, 0.01, 1.0, -2.0, 0.3, 0.1, -0.5])
    a = dyn.udot(0.0, x)
    assert dyn.outputs(0.0, x)[1] > 1.0
    assert_allclose(0.5 * a[:2] + 2.0 * a[2:4], 0.0, atol=1e-12)
    (px, py), (cx, cy) = x[:2], x[2:4]
    spin = 0.5 * (px * a[1] - py * a[0]) + 2.0 * (cx * a[3] - cy * a[2]) + 0.3 * a[4]
    assert_allclose(spin, 0.0, atol=1e-12)
    # δ̇ in the damping is the derivative of the depth
    h = 1e-6
    depths = [dyn.outputs(0.0, dyn.simulate((0.0, s * h), x).x[-1])[0] for s in (-1, 1)]
    closing = (depths[1] - depths[0]) / (2 * h)
    depth, normal = dyn.outputs(0.0, x)[:2]
    assert_allclose(normal, 1e5 * depth**1.5 * (1 + 0.2 * closing), rtol=1e-7)


def test_a_belt_drags_what_lies_on_it() -> None:
    x, u, belt = *me.dynamicsymbols("x u"), sm.Symbol("belt")
    P = O.locatenew("P", x * N.x - 0.001 * N.y)
    P.set_vel(N, u * N.x)
    on = kc.Plane(O, N.y, velocity=belt * N.x)
    contact = kc.Contact(P, on=on, stiffness=K, exponent=1, mu=MU, transition_velocity=VT)
    model = kc.Model(N, [x], [u], [x.diff() - u], bodies=[me.Particle("p", P, 1)], forcelist=[contact], name="belt")
    dyn = compiled(model, {K: 1e4, MU: 0.5, VT: 0.1, belt: 2.0})
    for speed in (0.0, 1.95, 2.0, 5.0):
        assert_allclose(dyn.udot(0.0, [0.0, speed]), 5.0 * np.tanh((2.0 - speed) / 0.1), rtol=1e-12)


def test_height_field() -> None:
    """A slope of data is the plane; on a hill the force is normal to it, and the depth that of the tangent plane."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)

    def dropped(on: Any) -> kc.CompiledModel:
        contact = kc.Contact(P, 0.1, on=on, stiffness=1e4, dissipation=0.5, mu=0.3, transition_velocity=0.1)
        body = me.Particle("p", P, 1)
        return compiled(kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=[contact], name="hill"))

    slope = 0.4
    plane = dropped(kc.Plane(O, N.y - slope * N.x))
    data = dropped(kc.HeightField(kc.Spline([-1.0, 0.0, 1.0], [-slope, 0.0, slope])))
    x = [0.3, 0.12 + 0.09, 0.5, -0.2]
    assert_allclose(data.outputs(0.0, x), plane.outputs(0.0, x), rtol=1e-12)
    hill = dropped(kc.HeightField(kc.Spline([-1.0, 0.0, 1.0], [1.0, 0.0, 1.0])))  # h = x²
    depth, normal, *force = hill.outputs(0.0, [0.3, 0.15, 0.0, 0.0])
    n = np.array([-0.6, 1.0]) / np.hypot(0.6, 1.0)
    assert_allclose(depth, 0.1 + (0.09 - 0.15) * n[1], rtol=1e-12)
    assert_allclose(force[:2], normal * n, rtol=1e-12)


def test_height_field_of_two_arguments_rises_along_z() -> None:
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u v w")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y + q[2] * N.z)
    P.set_vel(N, u[0] * N.x + u[1] * N.y + u[2] * N.z)
    xs, ys = np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 0.5, 1.0])
    street = kc.Spline(xs, ys, 0.2 * xs[:, None] + 0.3 * ys)
    contact = kc.Contact(P, on=kc.HeightField(street), stiffness=1e4)
    body = me.Particle("p", P, 1)
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=[contact], name="street"))
    depth, _, *force = dyn.outputs(0.0, [0.5, 0.5, 0.2, 0.0, 0.0, 0.0])
    n = np.array([-0.2, -0.3, 1.0]) / np.sqrt(1.13)
    assert_allclose(depth, 0.05 * n[2], rtol=1e-12)
    assert_allclose(force, 1e4 * depth**1.5 * n, rtol=1e-12)


@pytest.mark.parametrize("smooth", [None, 1e-3])
def test_derivatives_are_those_of_the_force(smooth: float | None) -> None:
    dyn = compiled(on_a_plate(mu=0.4, transition_velocity=0.01, smooth=smooth))
    for height, speed in ((0.099, -2.0), (0.0999, 0.0), (0.3, -1.0)):  # pressed, sticking, far away
        x = np.array([0.4, height, 0.02, 0.0, 0.01, 0.3 * speed, speed, 0.3 * speed, 0.1 * speed, 0.0])
        A, _ = dyn.linearize(0.0, x)
        h = 1e-7
        differences = [(dyn.rhs(0.0, x + h * e) - dyn.rhs(0.0, x - h * e)) / (2 * h) for e in np.eye(10)]
        assert_allclose(A, np.transpose(differences), atol=1e-5 * max(np.abs(A).max(), 1.0))


def test_derivatives_are_finite_where_bodies_touch_and_stick() -> None:
    dyn = compiled(on_a_plate(mu=0.4, transition_velocity=0.01))
    for height in (0.1, 1.1, 0.099):
        x = np.r_[0.4, height, np.zeros(8)]
        assert np.isfinite(dyn.linearize(0.0, x)[0]).all()
        assert np.isfinite(dyn.rhs_vjp(0.0, x, np.ones(10))).all()


def test_smooth_force_nears_the_exact_one() -> None:
    x = [0.4, 0.098, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    exact = compiled(on_a_plate()).outputs(0.0, x)[1]
    errors = [compiled(on_a_plate(smooth=s)).outputs(0.0, x)[1] / exact - 1.0 for s in (1e-4, 1e-5)]
    assert 0.0 < errors[1] < 0.011 * errors[0] < 1e-4


@pytest.mark.compiler
def test_rollouts_compiled_code_and_machine_have_the_same_bits() -> None:
    model = on_a_plate(mu=0.4, transition_velocity=0.01)
    dyn, machine = compiled(model), kc.compile(model, cc="none")
    x = np.array([[0.4, 0.11, 0.02, 0.0, 0.01, 1.0, -2.0 - i, 0.3, 0.1, -0.5] for i in range(9)])
    X = dyn.rollout(x, dt=1e-4, steps=100)
    assert_array_equal(machine.rollout(x, dt=1e-4, steps=100), X)
    assert_array_equal(dyn.rollout(x[4:5], dt=1e-4, steps=100)[0], X[4])
    assert dyn.outputs(0.0, X[4])[:, 1].max() > 10.0


P = O.locatenew("P", 0)
PLANE = kc.Plane(O, N.y)
LAW: dict[str, Any] = {"on": PLANE, "stiffness": 1e6}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kc.Contact(N, **LAW), "the point of a Contact is N, which is no Point"),
        (lambda: kc.Contact(P, stiffness=1e6), r"on of contact P is None: write on=kc.Plane"),
        (lambda: kc.Contact(P, on=O, stiffness=1e6), r"on of contact P is O: write on=kc.Plane"),
        (lambda: kc.Contact(P, on=PLANE), "stiffness of contact P is missing: write stiffness=1e6"),
        (lambda: kc.Contact(P, -1, **LAW), "radius of contact P is -1: it must be a finite number, at least 0"),
        (lambda: kc.Contact(P, on=PLANE, stiffness="hard"), "stiffness of contact P is 'hard': write a number"),
        (lambda: kc.Contact(P, on=PLANE, stiffness=0), "stiffness of contact P is 0: it must be .* more than 0"),
        (lambda: kc.Contact(P, **LAW, exponent=0.5), "exponent of contact P is 0.5: .* at least 1"),
        (lambda: kc.Contact(P, **LAW, dissipation=np.inf), "dissipation of contact P is inf: it must be a finite"),
        (lambda: kc.Contact(P, **LAW, mu=0.5), "transition_velocity of contact P is missing"),
        (lambda: kc.Contact(P, **LAW, transition_velocity=0.1), "mu of contact P is missing: write mu=0.8, or"),
        (lambda: kc.Contact(P, **LAW, mu=0.5, transition_velocity=0), "transition_velocity of contact P is 0"),
        (lambda: kc.Contact(P, **LAW, smooth=0), "smooth of contact P is 0: .* more than 0"),
        (lambda: kc.Contact(P, **LAW, mu=1, bristle_damping=1), "bristle_damping of contact P is of bristles: write"),
        (lambda: kc.Contact(P, **LAW, bristle_stiffness=1), "mu of contact P is missing: bristles carry"),
        (lambda: kc.Contact(P, **LAW, mu=1, bristle_stiffness=1), "bristle_damping of contact P is missing: write"),
        (lambda: kc.Contact(P, **LAW, mu=1, transition_velocity=1, bristle_stiffness=1), "P: .*: leave one out"),
        (lambda: kc.Contact(P, **LAW, mu=1, mu_static=2, **BRISTLES), "mu_static and stribeck_velocity .* go together"),
        (lambda: kc.Plane(N, N.y), "the point of a Plane is N, which is no Point"),
        (lambda: kc.Plane(O, 1), "normal of a Plane is 1, not a Vector"),
        (lambda: kc.Plane(O, 0 * N.x), "normal of a Plane is 0: write it in the axes of one frame"),
        (lambda: kc.Contact(P, on=kc.Sphere(O, 0), stiffness=1e6), r"radius of contact P is 0, .*: points never touch"),
        (lambda: kc.Sphere(O, -1), "radius of a Sphere is -1"),
        (lambda: kc.HeightField(lambda x: x), r"height of a HeightField is .*: write kc.Spline"),
        (lambda: kc.HeightField(kc.Spline([0, 1], [0, 1]), axes=[N.x]), "axes of a HeightField are 1: write 2 vectors"),
    ],
)
def test_wrong_arguments_are_named(make: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        make()


def test_names_of_contacts_and_outputs_are_their_own() -> None:
    z, w = me.dynamicsymbols("z w")
    P = O.locatenew("P", z * N.z)
    P.set_vel(N, w * N.z)
    contact = kc.Contact(P, on=kc.Plane(O, N.z), stiffness=1.0)

    def model(loads: list[Any], **options: Any) -> kc.Model:
        bodies = [me.Particle("ball", P, M)]
        return kc.Model(N, [z], [w], [z.diff() - w], bodies=bodies, forcelist=loads, **options)

    with pytest.raises(kc.ModelError, match="'P'"):
        model([contact, contact])
    with pytest.raises(kc.ModelError, match="output 'P_depth' is an output of a contact: rename it"):
        model([contact], outputs={"P_depth": z})
    lifted = kc.Contact(P, on=kc.Plane(O, N.z, velocity=N.x + N.z), stiffness=1.0)
    with pytest.raises(kc.ModelError, match="contact P: the velocity of its plane has a part along the normal"):
        model([lifted])


def test_a_plane_that_turns_with_a_body_is_written_in_its_axes() -> None:
    s, p = me.dynamicsymbols("a b c"), me.dynamicsymbols("f g h")
    A = N.orientnew("A", "Axis", [s[2], N.z])
    A.set_ang_vel(N, p[2] * N.z)
    C, P = O.locatenew("C", s[0] * N.x + s[1] * N.y), O.locatenew("P", 0)
    C.set_vel(N, p[0] * N.x + p[1] * N.y)
    plate = me.RigidBody("plate", C, A, 2.0, (me.inertia(A, 0, 0, 0.3), C))
    contact = kc.Contact(P, on=kc.Plane(C, N.y), stiffness=1e5)
    with pytest.raises(
        kc.ModelError, match=r"contact P: the plane moves with body frame A, .* in the axes of that frame"
    ):
        kc.Model(N, s, p, rates(s, p), bodies=[plate], forcelist=[contact])
