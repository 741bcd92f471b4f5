# SPDX-License-Identifier: BSD-3-Clause
"""Loads that depend on reactions of joints and on multipliers, against closed forms."""

from typing import Any, Literal

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point
from numpy.testing import assert_allclose
from sweep import part

import kanecore as kc
from kanecore.graph.evaluation import count

G = 9.81
m, mu = sm.symbols("m mu")
lam, R = kc.multiplier, kc.reaction


# ------------------------------------------------------------------------------------------- journal bearing
def journal(friction: Any) -> kc.Model:
    """A pendulum of mass 3.2 and central inertia 0.11, at 0.35 from a pin of radius 0.03, with its friction."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("q u")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    C = O.locatenew("C", -0.35 * A.y)
    C.v2pt_theory(O, N, A)
    body = me.RigidBody("rod", C, A, 3.2, (me.inertia(A, 0, 0, 0.11), C))
    given = friction(A, N, u)
    loads = [(C, -3.2 * G * N.y), *(given if isinstance(given, list) else [given])]
    return kc.Model(
        *(N, [q], [u], [q.diff() - u]),
        bodies=[body],
        forcelist=loads,
        joints={"hinge": (N, body, O)},
        outputs={"size": R("hinge").force.magnitude()},
    )


def pendulum(friction: Any) -> kc.CompiledModel:
    return kc.compile(journal(friction), parameters={mu: 0.22})


def swing(q: float, u: float) -> tuple[float, float]:
    """q̈, |R|: the root of (J a + m g d sin q)² = (μ ρ)² |R|² for which friction acts against u."""
    J, k, d = 0.11 + 3.2 * 0.35**2, 0.22 * 0.03, 0.35
    torque, normal = 3.2 * G * d * np.sin(q), 3.2 * (d * u**2 + G * np.cos(q))
    b = 2 * (J * torque - k**2 * 3.2**2 * d * G * np.sin(q))
    c = torque**2 - k**2 * ((3.2 * G * np.sin(q)) ** 2 + normal**2)
    roots = np.roots([J**2 - (k * 3.2 * d) ** 2, b, c])
    [a] = [x for x in roots if np.sign(J * x + torque) == -np.sign(u)]
    return a, np.hypot(3.2 * (d * a + G * np.sin(q)), normal)


@pytest.mark.parametrize("by_name", [True, False])
def test_pendulum_in_a_journal_bearing(by_name: bool) -> None:
    """Friction circle μ ρ |R| (Meriam & Kraige, *Statics*, section 6/6)."""
    if by_name:
        dyn = pendulum(lambda A, N, u: kc.JointFriction("hinge", mu=mu, pin_radius=0.03, transition_velocity=1e-3))
    else:
        dyn = pendulum(lambda A, N, u: (A, -mu * 0.03 * R("hinge", N).force.magnitude() * sm.sign(u) * N.z))
    for state in ((0.7, 1.3), (0.7, -1.3), (2.6, -4.0)):
        found = [*dyn.udot(0.0, state), *dyn.outputs(0.0, state)]
        assert_allclose(found, swing(*state), rtol=1e-13)
    h = 1e-5
    slopes = [(swing(0.7 + h, 1.3)[0] - swing(0.7 - h, 1.3)[0]) / (2 * h)]
    slopes += [(swing(0.7, 1.3 + h)[0] - swing(0.7, 1.3 - h)[0]) / (2 * h)]
    assert_allclose(dyn.linearize(0.0, [0.7, 1.3])[0][1], slopes, rtol=1e-7)


def test_bristles_of_a_bearing_hold_within_the_friction_circle() -> None:
    """At sin θ < μ ρ/d it stays, with σ₀ z = −d sin θ/(μ ρ); turning, with |σ₀ z| = 1, all of μ ρ |R| acts."""
    law = {"mu": mu, "pin_radius": 0.03, "bristle_stiffness": 2e4, "bristle_damping": 2500}
    dyn = pendulum(lambda A, N, u: kc.JointFriction("hinge", **law))
    assert dyn.state_names == ("hinge_bristle",)
    assert_allclose(dyn.udot(0.0, [0.7, 1.3, 1 / 2e4])[0], swing(0.7, 1.3)[0], rtol=1e-13)
    early, late = dyn.simulate((0.0, 20.0), {"q": 0.015}, method="rosenbrock", rtol=1e-9, t_eval=[10.0, 20.0]).x
    assert abs(late[0] - early[0]) < 1e-9
    assert_allclose(2e4 * late[2], -0.35 * np.sin(late[0]) / (0.22 * 0.03), rtol=1e-6)
    limit = np.arcsin(0.22 * 0.03 / 0.35)
    held = dyn.equilibrium({"q": 0.99 * limit}, fixed=["q"])
    assert_allclose(2e4 * held.state["hinge_bristle"], -np.sin(0.99 * limit) / np.sin(limit), rtol=1e-9)
    with pytest.raises(kc.ModelError, match=r"no motion .*hinge_utilization = 1.01,.*friction of joint hinge .* slips"):
        dyn.equilibrium({"q": 1.01 * limit}, fixed=["q"])
    assert abs(dyn.equilibrium({"q": 0.5}, fixed={"hinge_bristle": 0.0}).state["q"]) < 1e-12
    with pytest.raises(kc.ModelError, match=r"'hinge_bristle' is a state of bristles .* write one friction for a"):
        pendulum(lambda A, N, u: [kc.JointFriction("hinge", **law)] * 2)


# -------------------------------------------------------------------------------------------------- braking
def vehicle(front: Any, rear: Any) -> kc.CompiledModel:
    """A vehicle whose wheels, a = 1.15 before and b = 1.45 behind the mass centre, 0.52 below it, stay on the road."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x z theta"), me.dynamicsymbols("v w omega")
    A = N.orientnew("A", "Axis", [q[2], N.y])
    A.set_ang_vel(N, u[2] * N.y)
    C = O.locatenew("C", q[0] * N.x + q[1] * N.z)
    C.set_vel(N, u[0] * N.x + u[1] * N.z)
    wheels = [C.locatenew(name, at * A.x - 0.52 * A.z) for name, at in (("F", 1.15), ("R", -1.45))]
    for wheel in wheels:
        wheel.v2pt_theory(C, N, A)
    model = kc.Model(
        *(N, q, u, [x.diff() - y for x, y in zip(q, u, strict=True)]),
        bodies=[me.RigidBody("car", C, A, m, (me.inertia(A, 0, 2000, 0), C))],
        forcelist=[(C, -m * G * N.z), (wheels[0], -front * N.x), (wheels[1], -rear * N.x)],
        configuration_constraints={n: w.pos_from(O).dot(N.z) for n, w in zip(("front", "rear"), wheels, strict=True)},
        outputs={"front": lam("front"), "rear": lam(1)},
    )
    return kc.compile(model, parameters={m: 1350.0})


def on_two_floors() -> kc.Model:
    """A block on a floor that is listed twice, with friction on one of them."""
    (x, y), (v, w), a = me.dynamicsymbols("x y"), me.dynamicsymbols("v w"), sm.Symbol("a")
    return mass_point(
        {x: v, y: w},
        m,
        [-mu * sm.Abs(lam("floor")) * sm.sign(v), -m * G],
        configuration_constraints={"wall": x - 2 * y, "floor": y, "carpet": a * y},
    )


BRAKING = np.array([0.0, 0.52, 0.0, 20.0, 0.0, 0.0])


def shares(total: float) -> np.ndarray[Any, Any]:
    """N_f and N_r at a total braking force."""
    return np.array([1350 * G * 1.45 + 0.52 * total, 1350 * G * 1.15 - 0.52 * total]) / 2.6


@pytest.mark.parametrize(
    ("front", "rear", "expected"),
    [
        (0.85 * lam("front"), 0, -0.85 * G * 1.45 / (2.6 - 0.85 * 0.52)),
        (0, 0.85 * sm.Abs(lam("rear")), -0.85 * G * 1.15 / (2.6 + 0.85 * 0.52)),
        (0.85 * lam(0), 0.85 * sm.Abs(lam(1)), -0.85 * G),
    ],
)
def test_braking_with_load_transfer(front: Any, rear: Any, expected: float) -> None:
    dyn = vehicle(front, rear)
    assert dyn.udot(0.0, BRAKING)[0] == pytest.approx(expected, rel=1e-13)
    assert_allclose(dyn.outputs(0.0, BRAKING), shares(-1350 * expected), rtol=1e-12)


def test_tyres_that_are_not_linear_in_their_load() -> None:
    """F = μ₀ N − e N² on both axles: a quadratic equation in the total force."""
    dyn = vehicle(*(1.05 * N - 2.6e-5 * N**2 for N in (lam("front"), lam("rear"))))
    (a0, a1), (b0, b1) = ((np.polyfit([0, 1], [shares(0)[i], shares(1)[i]], 1))[::-1] for i in (0, 1))
    quadratic = [-2.6e-5 * (a1**2 + b1**2), 1.05 * (a1 + b1) - 5.2e-5 * (a0 * a1 + b0 * b1) - 1]
    roots = np.roots([*quadratic, 1.05 * (a0 + b0) - 2.6e-5 * (a0**2 + b0**2)])
    assert dyn.udot(0.0, BRAKING)[0] == pytest.approx(-min(roots, key=abs) / 1350, rel=1e-10)


@pytest.mark.parametrize("size", [lambda x: x, sm.Abs])
def test_a_front_axle_that_dives_through_the_road(size: Any) -> None:
    """For μ > (a + b)/h the determinant is negative: no solution is connected with the one without brakes."""
    dyn = vehicle(5.5 * size(lam("front")), 0)
    with pytest.raises(kc.SingularError, match=r"load 1 of .*depends on reactions"):
        dyn.udot(0.0, BRAKING)
    with pytest.raises(kc.SingularError, match=r"load 1 of .*depends on reactions"):
        dyn.simulate((0.0, 0.1), BRAKING)


# ----------------------------------------------------------------------------------------- drum, tube, rod
def test_rope_over_a_drum() -> None:
    """Euler and Eytelwein: S2 = S1 exp(−μ π)."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    P = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    for point, speed in zip(P, u, strict=True):
        point.set_vel(N, speed * N.x)
    k = sm.exp(mu * sm.pi)
    model = kc.Model(
        *(N, q, u, [x.diff() - y for x, y in zip(q, u, strict=True)]),
        bodies=[me.Particle("A", P[0], 2.6), me.Particle("B", P[1], 1.1)],
        forcelist=[(P[0], 2.6 * G * N.x), (P[1], 1.1 * G * N.x), (P[1], -(1 - 1 / k) * lam("rope") * N.x)],
        configuration_constraints={"rope": q[0] + q[1] - 3},
    )
    dyn = kc.compile(model, parameters={mu: 0.2})
    ratio = np.exp(0.2 * np.pi)
    expected = G * (2.6 - 1.1 * ratio) / (2.6 + 1.1 * ratio)
    assert_allclose(dyn.udot(0.0, [1.0, 2.0, 0.5, -0.5]), [expected, -expected], rtol=1e-13)


@pytest.mark.parametrize("law", ["force", "acceleration"])
def test_feedback_of_what_is_measured(law: str) -> None:
    """Masses 1 and 2 on a rope, ẍ (1 + 2) = F + 3, with F = k λ, λ = −2 ẍ, or F = k ẍ."""
    N, O = ground()  # noqa: E741
    q, u, (force, k) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), (me.dynamicsymbols("F"), sm.Symbol("k"))
    points = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    for point, speed in zip(points, u, strict=True):
        point.set_vel(N, speed * N.x)
    model = kc.Model(
        *(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
        bodies=[me.Particle(p.name, p, i + 1) for i, p in enumerate(points)],
        forcelist=[(points[0], (force + 3) * N.x)],
        configuration_constraints={"rope": q[0] + q[1]},
        feedback={force: k * (lam("rope") if law == "force" else u[0].diff())},
        outputs={"F": force},
    )
    dyn, x = kc.compile(model, parameters={k: 0.3}), [1, -1, 0.5, -0.5]
    expected = 3 / (3 + 0.6) if law == "force" else 3 / (3 - 0.3)
    assert_allclose(dyn.udot(0.0, x), [expected, -expected], rtol=1e-14)
    assert_allclose(dyn.outputs(0.0, x), [-0.6 * expected if law == "force" else 0.3 * expected], rtol=1e-14)


def rod(size: Any, coefficient: float = 0.4, cc: str | None = None) -> kc.CompiledModel:
    """A rod of mass 1.3 and half-length 0.5 that slides on one end P; w lifts it (Génot & Brogliato 1999)."""
    N, O = ground()  # noqa: E741
    x, angle, v, omega, w, F = me.dynamicsymbols("x theta v omega w F")
    A = N.orientnew("A", "Axis", [angle, N.z])
    A.set_ang_vel(N, omega * N.z)
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, v * N.x + w * N.y)
    C = P.locatenew("C", 0.5 * A.x)
    C.v2pt_theory(P, N, A)
    model = kc.Model(
        *(N, [x, angle], [v, omega], [x.diff() - v, angle.diff() - omega]),
        bodies=[me.RigidBody("rod", C, A, 1.3, (me.inertia(A, 0, 0, 1.3 * 0.25 / 3), C))],
        forcelist=[(C, -1.3 * G * N.y), (P, F * N.y - mu * size(F) * sm.sign(v) * N.x)],
        u_auxiliary=[w],
        reactions=[F],
        outputs={"F": F},
    )
    return kc.compile(model, parameters={mu: coefficient}, cc=cc)


@pytest.mark.parametrize("size", [lambda x: x, sm.Abs])
def test_sliding_rod(size: Any) -> None:
    """Newton's and Euler's equations, 1 + 3 cos θ (cos θ − μ sin θ) > 0; beyond, the rod jams or jumps (Painlevé)."""
    dyn = rod(size)
    omega, c, s = -0.7, np.cos(1.0), np.sin(1.0)
    for way in (1.0, -1.0):
        friction = 0.4 * way
        matrix = [[1.3, -0.65 * s, friction], [0.0, 0.65 * c, -1.0], [0.0, 1.3 / 12, 0.5 * (c + friction * s)]]
        right = [0.65 * c * omega**2, 0.65 * s * omega**2 - 1.3 * G, 0.0]
        *expected, force = np.linalg.solve(matrix, right)
        state = [0.0, 1.0, 2.0 * way, omega]
        assert_allclose(dyn.udot(0.0, state), expected, rtol=1e-12)
        assert_allclose(dyn.outputs(0.0, state), [force], rtol=1e-12)
    rough = rod(size, 2.2)
    assert 1 + 3 * c * (c - 2.2 * s) < 0
    assert np.isfinite(rough.udot(0.0, [0.0, 1.0, 2.0, omega])).all()
    with pytest.raises(kc.SingularError, match=r"load 1 of .*Painlevé"):
        rough.udot(0.0, [0.0, 1.0, -2.0, omega])


SLIDING = [0.0, 1.0, -2.0, 0.0]


@pytest.mark.parametrize(("way", "count"), [(1.0, 2), (-1.0, 0)])
def test_all_solutions_of_the_sliding_rod(way: float, count: int) -> None:
    """F = a/(1 + b) of F > 0 and a/(1 − b) of F < 0, as a and b = ±3 μ sin θ cos θ/(1 + 3 cos² θ) allow."""
    dyn, c, s = rod(sm.Abs, 2.2), np.cos(1.0), np.sin(1.0)
    a, b = 1.3 * G / (1 + 3 * c**2), 3 * 2.2 * way * s * c / (1 + 3 * c**2)
    expected = [x for x in (a / (1 + b), a / (1 - b)) if (x > 0) == (x == a / (1 + b))]
    found = dyn.check([0.0, 1.0, 2.0 * way, 0.0]).solutions
    assert found is not None
    assert len(found) == len(expected) == count
    assert_allclose([each.reactions["F"] for each in found], expected, rtol=1e-12)
    assert_allclose([each.determinant for each in found], [1 + b, 1 - b][:count], rtol=1e-12)
    assert [each.connected for each in found] == [True, False][:count]


@pytest.mark.parametrize(
    ("size", "coefficient", "words"),
    [
        (sm.Abs, 0.4, "loads of reactions: unique, F = "),
        (sm.Abs, 2.2, "loads of reactions: no solution"),
        (lambda x: x, 2.2, "loads of reactions: 1 solution: F = -"),
    ],
)
def test_a_check_says_what_solutions_there_are(size: Any, coefficient: float, words: str) -> None:
    assert words in str(rod(size, coefficient).check(SLIDING))


def test_signs_that_were_taken_for_granted() -> None:
    """A rod that whirls would have to be pulled down: μF then drives, μ|F| does not."""
    whirling = [0.0, 1.0, 2.0, 9.0]
    assert rod(lambda x: x).check(whirling).signs_taken == ("F",)
    assert "signs taken for granted: a load is linear in F" in str(rod(lambda x: x).check(whirling))
    assert rod(sm.Abs).check(whirling).signs_taken == rod(lambda x: x).check([0.0, 1.0, 2.0, 0.0]).signs_taken == ()
    assert rod(sm.Abs).outputs(0.0, whirling)[0] < 0


@pytest.mark.parametrize("compiler", part([None, "none"], ["none"]))
def test_statuses_in_rollouts_and_lanes(compiler: str | None) -> None:
    """With a compiler, in lanes, and by the machine: 14 of rows that jam."""
    dyn = rod(sm.Abs, 2.2, cc=compiler)
    states = np.tile([0.0, 1.0, 2.0, 0.0], (20, 1))
    states[[3, 17], 2] = -2.0
    with pytest.raises(kc.SingularError, match="no accelerations satisfy both: it hits without impact") as caught:
        dyn.udot(0.0, states)
    assert (caught.value.status, caught.value.rows.tolist()) == ("jammed", [3, 17])
    _, status = dyn.rollout(states, dt=1e-3, steps=2, return_status=True)
    assert np.flatnonzero(status.codes == 14).tolist() == [3, 17]


def test_a_run_that_comes_to_jam() -> None:
    """Brakes that are pulled ever harder: the determinant 1 − 5.5 t h/(a + b) vanishes at 0.909 s."""
    dyn = vehicle(5.5 * me.dynamicsymbols._t * sm.Abs(lam("front")), 0)
    assert_allclose(dyn.check(BRAKING, 0.5).solutions[0].determinant, 1 - 5.5 * 0.5 * 0.52 / 2.6, rtol=1e-12)
    with pytest.raises(kc.SingularError, match=r"load 1 of .* no solution is connected") as ended:
        dyn.simulate((0.0, 2.0), BRAKING, method="rk4", dt=0.01)
    assert (ended.value.status, ended.value.row) == ("jammed", 4)
    assert ended.value.trajectory.t[-1] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vehicle(lam("left"), 0), "multiplier.'left'. names no row of G, which has 2: front, rear"),
        (lambda: vehicle(lam(2), 0), r"multiplier\(2\), and the rows of G are numbered from 0: front, rear"),
        (on_two_floors, "load 0.*multipliers of floor, carpet, as each.*leave one out"),
        (lambda: vehicle(R("hinge").force.magnitude(), 0), "no equation tells where front acts"),
        (lambda: pendulum(lambda A, N, u: (A, R("hing").torque)), "joint.*hing.*hinge"),
        (lambda: kc.JointFriction("hinge", pin_radius=1, transition_velocity=1), "mu of .*write mu=0.2"),
        (lambda: kc.JointFriction("hinge", mu=1, pin_radius=1, bristle_stiffness=1), "bristle_damping .* is missing"),
        (
            lambda: kc.JointFriction("h", mu=1, pin_radius=1, transition_velocity=1, bristle_damping=1),
            "transition_velocity and bristle_stiffness .*: leave one out",
        ),
        (lambda: R(3), "give the name of a joint"),
        (lambda: R("pin").force.dot(me.ReferenceFrame("A").x), r"A and inertial axes \(write kc.reaction.*, N\)\)"),
    ],
)
def test_wrong_use(make: Any, words: str) -> None:
    with pytest.raises((kc.ModelError, KeyError, ValueError), match=words):
        make()


def test_derivatives_take_operations_in_proportion() -> None:
    """Newton's steps are differentiated as one line: each condition on its own would double second derivatives."""
    pin = kc.JointFriction("hinge", mu=mu, pin_radius=0.03, transition_velocity=1e-3)
    derivation = journal(lambda A, N, u: pin).derivation
    forcing, second = (
        count(derivation.graph, derivation.kernel(kernel).roots)["total"] for kernel in ("forcing", "hessian_products")
    )
    assert second < 40 * forcing


# ------------------------------------------------------------------------------------------- pins in space
def arm(pins: bool) -> kc.CompiledModel:
    """Two links on pins that are not parallel; the friction of the second by kc.JointFriction, or written out."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    A = N.orientnew("A", "Axis", [q[0], N.z])
    A.set_ang_vel(N, u[0] * N.z)
    pin = (3 * A.x + 4 * A.z) / 5  # friction about it acts on the first pin as well
    B = A.orientnew("B", "Axis", [q[1], pin])
    B.set_ang_vel(A, u[1] * pin)
    bodies, loads, place = [], [], O
    for name, frame in (("a", A), ("b", B)):
        centre = place.locatenew(name.upper(), 0.3 * frame.y + 0.2 * frame.z)
        centre.v2pt_theory(place, N, frame)
        bodies.append(me.RigidBody(name, centre, frame, 1.2, (me.inertia(frame, 0.03, 0.02, 0.04), centre)))
        loads.append((centre, -1.2 * G * N.y))
        elbow = place
        place = centre
    sizes = {"pin_radius": 0.02, "bending_arm": 0.1, "friction_arm": 0.03, "preload": 0.05, "transition_velocity": 0.2}
    if pins:
        loads.append(kc.JointFriction("elbow", mu=mu, **sizes))
    else:
        force, torque = R("elbow", N).force, R("elbow", N).torque
        across = [(v - v.dot(pin) * pin).magnitude() for v in (force, torque)]
        size = mu * (0.02 * (across[0] + across[1] / 0.1) + 0.03 * sm.Abs(force.dot(pin))) + 0.05
        friction = -size * sm.tanh(u[1] * 0.02 / 0.2) * pin
        loads += [(B, friction), (A, -friction)]
    joints = {"shoulder": (N, bodies[0], O), "elbow": (bodies[0], bodies[1], elbow)}
    model = kc.Model(
        N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)], bodies=bodies, forcelist=loads, joints=joints
    )
    return kc.compile(model, parameters={mu: 0.3})


def test_all_parts_of_the_friction_of_a_pin() -> None:
    """With what acts on the parent: against the same law in SymPy's vectors."""
    by_name, written = arm(pins=True), arm(pins=False)
    for x in ([0.4, 0.7, 1.5, -2.0], [-1.0, 0.2, -0.5, 3.0]):
        assert_allclose(by_name.udot(0.0, x), written.udot(0.0, x), rtol=1e-11)
    assert np.max(np.abs(by_name.udot(0.0, x, p={"mu": 0.0}) - by_name.udot(0.0, x))) > 0.05


@pytest.mark.compiler
@pytest.mark.parametrize("kernel", ["udot", pytest.param("linearize", marks=pytest.mark.long)])
def test_floats_solve_where_doubles_do(kernel: str) -> None:
    """Newton's last step in floats is no smaller than their rounding: to four digits of u̇, and without a refusal."""
    law = {"mu": mu, "pin_radius": 0.03, "transition_velocity": 1e-3}
    model = journal(lambda A, N, u: kc.JointFriction("hinge", **law))
    double, single = (
        kc.compile(model, parameters={mu: 0.3}, real="double", cc="none"),
        kc.compile(model, parameters={mu: 0.3}, real="float"),
    )
    x = np.random.default_rng(0).uniform([-3.0, -5.0], [3.0, 5.0], (300, 2)).astype(np.float32)
    true, found = (dyn.kernels.method(kernel)(0.0, x) for dyn in (double, single))
    assert_allclose(found, true, rtol=1e-4, atol=1e-4)


def steep_brake(steep: sm.Symbol) -> kc.Model:
    """Two masses on a rope, whose tension turns a brake on within 1/steep of 1 N."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    points = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    for point, speed in zip(points, u, strict=True):
        point.set_vel(N, speed * N.x)
    brake = 8 * sm.tanh(steep * (lam("rope") + 1))
    loads = [(points[0], (1.3 + brake) * N.x), (points[1], N.x)]
    return kc.Model(
        *(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)]),
        bodies=[me.Particle(p.name, p, 1) for p in points],
        forcelist=loads,
        configuration_constraints={"rope": q[0] + q[1]},
        outputs={"rope": lam("rope")},
    )


@pytest.mark.parametrize("real", ["double", pytest.param("float", marks=pytest.mark.compiler)])
def test_steps_that_do_not_end(real: Literal["double", "float"]) -> None:
    """A law so steep that Newton's steps jump to and fro: an error, though one solution exists."""
    steep = sm.Symbol("steep")
    dyn = kc.compile(steep_brake(steep), parameters={steep: 0.1}, real=real)
    force = dyn.outputs(0.0, [1, -1, 0, 0])[0]
    assert force == pytest.approx(-(2.3 + 8 * np.tanh(0.1 * (force + 1))) / 2, rel=1e-12 if real == "double" else 1e-6)
    with pytest.raises(kc.SingularError, match=r"load 0 of .*steps did not reach its solution") as caught:
        dyn.udot(0.0, [1, -1, 0, 0], p={"steep": 50.0})
    assert caught.value.status == "unconverged"
    if real == "float":
        return  # a check needs doubles
    [only] = dyn.check([1, -1, 0, 0], p={"steep": 50.0}).solutions
    force = only.reactions["multiplier('rope')"]
    assert force == pytest.approx(-(2.3 + 8 * np.tanh(50 * (force + 1))) / 2, rel=1e-9)
