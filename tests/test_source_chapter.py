# SPDX-License-Identifier: BSD-3-Clause
"""The results of the chapter "Generalized Forces" of J. K. Moore, *Learn Multibody Dynamics*.

Each test names its place.  Where the chapter has a misprint, the test says which.
"""

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.gallery_systems import gallery_system
from source_expressions import (
    NOTHING,
    UP,
    active,
    agree,
    by_frame,
    by_point,
    equal,
    inertial,
    noncontributing,
    part_of,
    turned,
)
from sweep import part

import kanecore as kc
from kanecore.gallery import double_pendulum, rolling_disc, rotating_tube, two_rods

t = me.dynamicsymbols._t
q1, q2, u1, u2 = me.dynamicsymbols("q1:3 u1:3")
m, m1, m2, g, k, length, L, L1, L2 = sm.symbols("m m1 m2 g k l L L1 L2")


# ------------------------------------------------------------------- a rod on a line, partial velocities by hand
def test_sliding_rod_partial_velocities() -> None:
    """Chapter, "Partial Velocities": of A n_x, 0; of B n_x, L (sin q2 n_x − cos q2 n_y); ω1, ω2 are 0, n_z."""
    N, R = me.ReferenceFrame("N"), me.ReferenceFrame("R")
    R.orient_axis(N, q2, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    A = origin.locatenew("A", q1 * N.x)
    B = A.locatenew("B", -L * R.x)
    kd_eqs = [q1.diff() - u1, q2.diff() - u2]
    model = kc.Model(N, [q1, q2], [u1, u2], kd_eqs, bodies=[me.Particle("B", B, m)], points=[A], frames=[R])
    along = sm.Matrix([1, 0, 0])
    assert equal(by_point(model)["A"][0], sm.Matrix.hstack(along, NOTHING))
    assert equal(by_point(model)["B"][0], sm.Matrix.hstack(along, L * sm.Matrix([sm.sin(q2), -sm.cos(q2), 0])))
    assert equal(by_frame(model)["R"][0], sm.Matrix.hstack(NOTHING, UP))


# --------------------------------------------------------------------------------------- double simple pendulum
def test_double_pendulum_partial_velocities() -> None:
    """Chapter, "Generalized Active Forces": of P1 l a_x and 0, of P2 l a_x and l b_x; no remainders."""
    (a_x, _), (b_x, _) = turned(q1), turned(q2)
    points = by_point(double_pendulum.build())
    assert equal(points["P1"][0], sm.Matrix.hstack(length * a_x, NOTHING))
    assert equal(points["P2"][0], sm.Matrix.hstack(length * a_x, length * b_x))
    assert all(equal(remainder, NOTHING) for _, remainder in points.values())


def test_double_pendulum_generalized_active_forces() -> None:
    """Chapter, "Generalized Active Forces": F1 and F2; the tensions T1 and T2 are not in them."""
    model = double_pendulum.build()
    assert equal(active(model), [-(m1 + m2) * g * length * sm.sin(q1), -m2 * g * length * sm.sin(q2)])
    assert noncontributing(model) == {"T1", "T2"}


def test_tensions_contribute_to_each_particle_alone() -> None:
    """Chapter, "Generalized Active Forces": v·R of one particle holds T2, the sum over both does not."""
    tension2 = me.dynamicsymbols("T2")
    first, second = active(part_of("double_pendulum", "P1")), active(part_of("double_pendulum", "P2"))
    assert equal(first[0], -m1 * g * length * sm.sin(q1) - tension2 * length * sm.sin(q1 - q2))
    assert equal(second[0], -m2 * g * length * sm.sin(q1) + tension2 * length * sm.sin(q1 - q2))
    assert noncontributing(part_of("double_pendulum", "P1")) == {"T1"}


# ---------------------------------------------------------------------------------- two rods with torsion springs
inertia = m * length**2 / 12


def test_two_rods_partial_velocities() -> None:
    """Chapter, "Generalized Active Forces on a Rigid Body": l/2 a_y and 0 of A_o, l a_y and 0 of B_o."""
    _, a_y = turned(q1)
    points = by_point(two_rods.build())
    assert equal(points["A_o"][0], sm.Matrix.hstack(length / 2 * a_y, NOTHING))
    assert equal(points["B_o"][0], sm.Matrix.hstack(length * a_y, NOTHING))
    assert all(equal(remainder, NOTHING) for _, remainder in points.values())


def test_two_rods_partial_angular_velocities() -> None:
    """Chapter, "Generalized Active Forces on a Rigid Body": n_z and 0 of A, n_z and a_x of B."""
    a_x, _ = turned(q1)
    frames = by_frame(two_rods.build())
    assert equal(frames["A"][0], sm.Matrix.hstack(UP, NOTHING))
    assert equal(frames["B"][0], sm.Matrix.hstack(UP, a_x))
    assert all(equal(remainder, NOTHING) for _, remainder in frames.values())


def test_two_rods_generalized_active_forces() -> None:
    """Chapter, "Generalized Active Forces on a Rigid Body": (F1, F2)_A, (F1, F2)_B and their sums."""
    weight = m * g * length * sm.sin(q1)
    assert equal(active(part_of("two_rods", "A")), [-weight / 2 - k * q1, 0])
    assert equal(active(part_of("two_rods", "B")), [-weight, -k * q2])
    assert equal(active(two_rods.build()), [-sm.Rational(3, 2) * weight - k * q1, -k * q2])


def test_two_rods_generalized_inertia_forces() -> None:
    """Chapter, "Generalized Inertia Forces": (F1*, F2*)_A, (F1*, F2*)_B and their sums."""
    s, c = sm.sin(q2), sm.cos(q2)
    of_a = [-(m * length**2 / 4 + inertia) * u1.diff(t), 0]
    of_b = [
        -(m * length**2 + inertia * c**2) * u1.diff(t) + 2 * inertia * s * c * u1 * u2,
        -inertia * u2.diff(t) - inertia * s * c * u1**2,
    ]
    assert equal(inertial(part_of("two_rods", "A")), of_a)
    assert equal(inertial(part_of("two_rods", "B")), of_b)
    assert equal(inertial(two_rods.build()), [a + b for a, b in zip(of_a, of_b, strict=True)])


def test_two_rods_inertia_forces_as_the_chapter_makes_them() -> None:
    """Chapter, "Generalized Inertia Forces": R* = −m a and T* = −(α·I + ω × I·ω), by SymPy's vectors, projected."""
    system = gallery_system("two_rods")
    N, speeds, (a, b) = system["frame"], system["u"], system["bodies"]
    a.masscenter.set_vel(N, length / 2 * u1 * a.frame.y)
    b.masscenter.set_vel(N, length * u1 * a.frame.y)
    expected = [sm.S.Zero, sm.S.Zero]
    for body in (a, b):
        v, w = body.masscenter.vel(N), body.frame.ang_vel_in(N)
        force = -body.mass * body.masscenter.acc(N)
        tensor = body.central_inertia
        torque = -(body.frame.ang_acc_in(N).dot(tensor) + me.cross(w, tensor).dot(w))
        for r, speed in enumerate(speeds):
            expected[r] += v.diff(speed, N).dot(force) + w.diff(speed, N).dot(torque)
    in_speeds = {q1.diff(t): u1, q2.diff(t): u2}
    assert equal(inertial(two_rods.build()), [me.msubs(e, in_speeds) for e in expected])


def test_two_rods_accelerations() -> None:
    """Chapter, "Generalized Inertia Forces": a and α by SymPy, as in R* and T*, are those of the package.

    The package's R* and T* of each body, at random numbers; it gives them in inertial axes.
    """
    system = gallery_system("two_rods")
    N = system["frame"]
    values = {"m": 0.8, "g": 9.81, "k": 1.3, "l": 0.5}
    dyn = kc.compile(two_rods.build(), parameters=values)
    state, udot = np.array([0.4, -0.7, 1.1, 0.6]), np.array([0.3, -0.9])
    numbers = dict(zip([q1, q2, u1, u2], state, strict=True)) | {sm.Symbol(x): value for x, value in values.items()}
    in_speeds = {q1.diff(t): u1, q2.diff(t): u2}
    accelerations = dict(zip([u1.diff(t), u2.diff(t)], udot, strict=True))
    for i, body in enumerate(system["bodies"]):
        body.masscenter.set_vel(N, (length if i else length / 2) * u1 * system["bodies"][0].frame.y)
        w, tensor = body.frame.ang_vel_in(N), body.central_inertia
        force = -body.mass * body.masscenter.acc(N)
        torque = -(body.frame.ang_acc_in(N).dot(tensor) + me.cross(w, tensor).dot(w))
        expected = [
            float(me.msubs(x, in_speeds).xreplace(accelerations).xreplace(numbers))
            for vector in (force, torque)
            for x in vector.to_matrix(N)
        ]
        np.testing.assert_allclose(dyn.inertia_forces(0.0, state, udot)[i], expected, rtol=0, atol=1e-13)


def test_inertia_of_a_thin_rod() -> None:
    """Chapter, "Generalized Inertia Forces": m l²/12 about any axis normal to its length through its centre."""
    x = sm.Symbol("x")
    assert sm.integrate(m / length * x**2, (x, -length / 2, length / 2)) == inertia


# -------------------------------------------------------------------------------------------------- general statements
def test_newton_euler_equations() -> None:
    """Chapter, "Introduction": F = dp/dt and M = dH/dt of one rigid body, H about its mass centre, in inertial axes."""
    dyn = kc.load("free_body")
    rng = np.random.default_rng(3)
    x = np.append(rng.uniform(-1.0, 1.0, 7), rng.uniform(-2.0, 2.0, 6))
    x[list(dyn.unit[0])] /= np.linalg.norm(x[list(dyn.unit[0])])
    r = rng.uniform(-1.0, 1.0, dyn.n_r)
    h, rate = 1e-5, dyn.rhs(0.0, x, r=r)
    change = (dyn.body_momenta(0.0, x + h * rate)[0] - dyn.body_momenta(0.0, x - h * rate)[0]) / (2 * h)
    given = -dyn.inertia_forces(0.0, x, rate[7:], r=r)[0]
    np.testing.assert_allclose(change, given, rtol=0, atol=1e-8 * np.abs(given).max())


@pytest.mark.parametrize("name", ["rotating_tube", "rolling_disc", "chaplygin_sleigh"])
def test_velocities_are_linear_in_the_speeds(name: str) -> None:
    """Chapter, "Partial Velocities": v = Σ v_r u_r + v_t, ω = Σ ω_r u_r + ω_t, and v_r = ∂v/∂u_r.

    By momenta, which are m v: differences of a linear function are its derivatives for steps of any size.
    """
    dyn = kc.load(name)
    rng = np.random.default_rng(5)
    x, r = rng.uniform(0.3, 1.0, dyn.n_x), rng.uniform(-1.0, 1.0, dyn.n_r)
    masses = [dyn.parameters[k] for k in (("m1", "m2") if name == "rotating_tube" else ("m",))]
    partials = dyn.partial_velocities(0.0, x, r=r)
    remainders = dyn.partial_velocities(0.0, x, r=r, remainder=True)
    found = partials.transpose(0, 2, 1) @ x[dyn.n_q :] + remainders
    centres = {"rotating_tube": ("P1", "P2"), "rolling_disc": ("C",), "chaplygin_sleigh": ("G",)}[name]
    bodies = [dyn.points.index(point) for point in centres]
    for body, mass, point in zip(dyn.body_momenta(0.0, x, r=r), masses, bodies, strict=True):
        np.testing.assert_allclose(found[point], body[:3] / mass, rtol=0, atol=1e-12)
        for k in range(dyn.n_u):
            further = x.copy()
            further[dyn.n_q + k] += 10.0
            step = dyn.body_momenta(0.0, further, r=r)[bodies.index(point)][:3] / mass - body[:3] / mass
            np.testing.assert_allclose(partials[point, k], step / 10.0, rtol=0, atol=1e-12)


def pulled_sleigh() -> kc.Model:
    """Chaplygin's sleigh with a force at a point of it, which F_r of the dependent speed holds as well."""
    N, B = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    (x, y, turn), (v, w, s) = me.dynamicsymbols("x y theta"), me.dynamicsymbols("v w s")
    pull, a = me.dynamicsymbols("f"), sm.Symbol("a")
    B.orient_axis(N, turn, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    knife = origin.locatenew("A", x * N.x + y * N.y)
    knife.set_vel(N, v * B.x + s * B.y)
    centre, hook = knife.locatenew("G", a * B.x), knife.locatenew("H", length * B.y)
    cos, sin = sm.cos(turn), sm.sin(turn)
    return kc.Model(
        *(N, [x, y, turn], [v, w], [x.diff() - v * cos + s * sin, y.diff() - v * sin - s * cos, turn.diff() - w]),
        u_dependent=[s],
        velocity_constraints=[s - a * w / 2],  # two knife edges in one: A_n is not zero
        bodies=[me.RigidBody("sleigh", centre, B, m, (me.inertia(B, 0, 0, m * length**2), centre))],
        forcelist=[(hook, pull * N.x + B.y)],
        points=[hook],
        frames=[B],
        name="pulled sleigh",
    )


def a_n(model: kc.Model) -> tuple[int, sm.Matrix, sm.Matrix]:
    """p, and u̇_r = A_n u̇_s + b from the rows of G."""
    G = sm.Matrix(model.symbolic("constraint_jacobian", nested=True))
    bias = sm.Matrix(model.symbolic("constraint_bias", nested=True))
    p = model.n_u - G.rows
    inverse = G[:, p:].inv()
    return p, -inverse * G[:, :p], -inverse * bias


NONHOLONOMIC = {"pulled sleigh": pulled_sleigh, "rolling disc": rolling_disc.build}


@pytest.mark.parametrize("name", NONHOLONOMIC)
def test_nonholonomic_partial_velocities(name: str) -> None:
    """Chapter, "Nonholonomic Partial Velocities": ṽ_r = v_r + [v_{p+1} ... v_n] A_n ê_r, and so ω̃_r."""
    model = NONHOLONOMIC[name]()
    p, A, _ = a_n(model)
    for kernel in ("partial_velocities", "partial_angular_velocities"):
        holonomic = model.symbolic(kernel, nested=True)
        for all_of_them, found in zip(holonomic, model.symbolic(kernel, nested=True, nonholonomic=True), strict=True):
            assert found.shape == (3, p)
            assert agree(found, all_of_them[:, :p] + all_of_them[:, p:] * A)


@pytest.mark.parametrize("kernel", ["generalized_active_forces", "generalized_inertia_forces"])
@pytest.mark.parametrize("name", part(NONHOLONOMIC, ["pulled sleigh"]))
def test_nonholonomic_generalized_forces(name: str, kernel: str) -> None:
    """Chapter, "Nonholonomic Generalized Active Forces", "... Inertia Forces": F̃_r = F_r + [F_{p+1} ... F_n] A_n ê_r.

    The section on inertia forces says "generalized active forces can be formed" where inertia forces are meant.
    """
    model = NONHOLONOMIC[name]()
    p, A, b = a_n(model)
    rates = sm.Matrix([u.diff(t) for u in model.speeds])
    on_the_constraints = dict(zip(rates[p:, :], A * rates[:p, :] + b, strict=True))
    holonomic = sm.Matrix(model.symbolic(kernel, nested=True))
    found = sm.Matrix(model.symbolic(kernel, nested=True, nonholonomic=True))
    expected = holonomic[:p, :] + A.T * holonomic[p:, :]
    assert agree(found.xreplace(on_the_constraints), expected.xreplace(on_the_constraints))


def test_units_of_generalized_active_forces() -> None:
    """Chapter, "Generalized Active Forces": force × length where speeds are angular rates, else force."""
    c = sm.Symbol("c")
    for model, power in ((double_pendulum.build(), 2), (rotating_tube.build(), 1)):
        for force in active(model):
            lengths = [x for x in (length, g, L1, L2, q1, q2) if power == 1 or x not in (q1, q2)]
            assert equal(force.subs({x: c * x for x in lengths}, simultaneous=True), c**power * force)
