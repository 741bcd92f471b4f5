# SPDX-License-Identifier: BSD-3-Clause
"""The results that the package's source documents print, one by one, as SymPy expressions.

Lecture notes
    Lecture notes on generalized forces after Kane & Levinson 1985, *Dynamics: Theory and Applications*, with SymPy.
LMD
    J. K. Moore, *Learn Multibody Dynamics*, chapter "Generalized Forces".
Slides
    Lecture slides on analytical dynamics (d'Alembert, Lagrange, liberation of constraints).

Where a document has a misprint, the test says which and holds the right result.
"""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.gallery_systems import gallery_system

import kanecore as kc
from kanecore.gallery import double_pendulum, rod_gravity, rotating_tube, two_rods, wire_particle

t = me.dynamicsymbols._t
q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1:4 u1:4")
theta = me.dynamicsymbols("theta")
m, m1, m2, g, k, k1, k2, length, L1, L2 = sm.symbols("m m1 m2 g k k1 k2 l L1 L2")
NOTHING = sm.zeros(3, 1)
UP = sm.Matrix([0, 0, 1])


def turned(angle: Any) -> tuple[sm.Matrix, sm.Matrix]:
    """First and second axis of a frame that is turned by an angle about the inertial z, in inertial axes."""
    s, c = sm.sin(angle), sm.cos(angle)
    return sm.Matrix([c, s, 0]), sm.Matrix([-s, c, 0])


def equal(a: Any, b: Any) -> bool:
    """Whether two expressions, lists of them or matrices are equal, by SymPy's simplify."""
    left, right = (list(x) if isinstance(x, (list, sm.MatrixBase)) else [x] for x in (a, b))
    return len(left) == len(right) and all(sm.simplify(x - y) == 0 for x, y in zip(left, right, strict=True))


def by_point(model: kc.Model) -> dict[str, tuple[sm.Matrix, sm.Matrix]]:
    """Partial velocities, a column for each speed, and remainder of every point."""
    partials = model.symbolic("partial_velocities", nested=True)
    remainders = model.symbolic("velocity_remainders", nested=True)
    names = [model.description.points[i].name for i in model.description.shown_points]
    return {name: (v, remainders[:, i]) for i, (name, v) in enumerate(zip(names, partials, strict=True))}


def by_frame(model: kc.Model) -> dict[str, tuple[sm.Matrix, sm.Matrix]]:
    """Partial angular velocities, a column for each speed, and remainder of every frame."""
    partials = model.symbolic("partial_angular_velocities", nested=True)
    remainders = model.symbolic("angular_velocity_remainders", nested=True)
    names = [model.description.frames[i].name for i in model.description.shown_frames]
    return {name: (w, remainders[:, i]) for i, (name, w) in enumerate(zip(names, partials, strict=True))}


def active(model: kc.Model) -> list[Any]:
    """F_r."""
    return list(model.symbolic("generalized_active_forces", nested=True))


def inertial(model: kc.Model) -> list[Any]:
    """F_r*."""
    return list(model.symbolic("generalized_inertia_forces", nested=True))


def equations(model: kc.Model) -> list[Any]:
    """−(F_r + F_r*), equal to zero in every motion."""
    return list(model.symbolic("inverse_dynamics", nested=True))


def noncontributing(model: kc.Model) -> set[str]:
    return {str(x).removesuffix("(t)") for x in model.noncontributing}


def part_of(name: str, *bodies: str) -> kc.Model:
    """A gallery model with some of its bodies only, and the loads at their mass centres and on their frames."""
    system = gallery_system(name)
    kept = [body for body in system["bodies"] if body.name in bodies]
    acted_on = [x for body in kept for x in (body.masscenter, getattr(body, "frame", None))]
    loads = [(at, load) for at, load in system["loads"] if at in acted_on]
    assert len(kept) == len(bodies)
    return kc.Model(system["frame"], system["q"], system["u"], system["kdes"], bodies=kept, forcelist=loads)


# ------------------------------------------------------------- lecture notes, examples 3 and 5: two particles in a tube
def tube_as_printed() -> kc.Model:
    """The cells of the lecture notes: SymPy's KanesMethod, velocities in q̇, forces of the tube as plain symbols."""
    T12, T13, T22, T23 = sm.symbols("T12 T13 T22 T23")
    A = me.ReferenceFrame("A")
    T = me.ReferenceFrame("T", indices=["1", "2", "3"])
    T.orient(A, "axis", [theta - sm.pi / 2, A.z])
    origin, P1, P2 = me.Point("O"), me.Point("P_1"), me.Point("P_2")
    origin.set_vel(A, 0)
    P1.set_pos(origin, (L1 + q1) * T.x)
    P1.set_vel(A, ((L1 + q1) * T.x).dt(A))
    P2.set_pos(origin, (L1 + L2 + q2) * T.x)
    P2.set_vel(A, ((L1 + L2 + q2) * T.x).dt(A))
    loads = [
        (P1, -k1 * q1 * T.x),
        (P1, k2 * (q2 - q1) * T.x),
        (P1, T12 * T.y),
        (P1, T13 * T.z),
        (P1, m1 * g * (-A.y)),
        (P2, -k2 * (q2 - q1) * T.x),
        (P2, T22 * T.y),
        (P2, T23 * T.z),
        (P2, m2 * g * (-A.y)),
    ]
    bodies = [me.Particle("P1", P1, m1), me.Particle("P2", P2, m2)]
    kane = me.KanesMethod(A, q_ind=[q1, q2], u_ind=[u1, u2], kd_eqs=[q1.diff() - u1, q2.diff() - u2])
    kane.kanes_equations(bodies, loads)
    return kc.Model.from_kane(kane)


@pytest.fixture(scope="module", params=["gallery", "as printed"])
def tube(request: pytest.FixtureRequest) -> kc.Model:
    return rotating_tube.build() if request.param == "gallery" else tube_as_printed()


def test_tube_partial_velocities() -> None:
    """Lecture notes, example 3: v1 and v2 of P1 are t1 and 0, of P2 0 and t1; the rest of v is along t2."""
    t1, t2 = turned(theta)
    points = by_point(rotating_tube.build())
    for name, partials, distance in (
        ("P1", [t1, NOTHING], L1 + q1),
        ("P2", [NOTHING, t1], L1 + L2 + q2),
    ):
        found, remainder = points[name]
        assert equal(found, sm.Matrix.hstack(*partials)), name
        assert equal(remainder, distance * theta.diff(t) * t2), name


def test_tube_contributions_of_each_particle() -> None:
    """Lecture notes, example 3: (F1)_P1, (F2)_P1, (F1)_P2, (F2)_P2.

    The prose has k2 (q2 − q1) t2 for the second spring's force on P1 once; it acts along t1, as in its R1.
    """
    weight1, weight2 = m1 * g * sm.cos(theta), m2 * g * sm.cos(theta)
    assert equal(active(part_of("rotating_tube", "P1")), [-k1 * q1 + k2 * (q2 - q1) + weight1, 0])
    assert equal(active(part_of("rotating_tube", "P2")), [0, -k2 * (q2 - q1) + weight2])


def test_tube_generalized_active_forces(tube: kc.Model) -> None:
    """Lecture notes, example 3, output 32: F1 and F2."""
    first = g * m1 * sm.cos(theta) - k1 * q1 + k2 * (-q1 + q2)
    second = g * m2 * sm.cos(theta) - k2 * (-q1 + q2)
    assert equal(active(tube), [first, second])


def test_tube_generalized_inertia_forces(tube: kc.Model) -> None:
    """Lecture notes, example 5, output 35: F1* and F2*."""
    first = m1 * (L1 + q1) * theta.diff(t) ** 2 - m1 * u1.diff(t)
    second = m2 * (L1 + L2 + q2) * theta.diff(t) ** 2 - m2 * u2.diff(t)
    assert equal(inertial(tube), [first, second])


def test_tube_forces_do_not_contribute(tube: kc.Model) -> None:
    """Lecture notes, example 3, remark: the unknown forces of the tube contribute nothing to F1 and F2."""
    assert noncontributing(tube) == {"T12", "T13", "T22", "T23"}
    assert {str(x) for x in tube.parameters} == {"m1", "m2", "k1", "k2", "L1", "L2", "g"}
    assert set(tube.inputs) == {theta, theta.diff(t), theta.diff(t, 2)}


def test_tube_equations_of_motion(tube: kc.Model) -> None:
    """Lecture notes, examples 3 and 5 together: F_r + F_r* = 0."""
    swing = theta.diff(t) ** 2
    first = m1 * u1.diff(t) - m1 * (L1 + q1) * swing - m1 * g * sm.cos(theta) + k1 * q1 - k2 * (q2 - q1)
    second = m2 * u2.diff(t) - m2 * (L1 + L2 + q2) * swing - m2 * g * sm.cos(theta) + k2 * (q2 - q1)
    assert equal(equations(tube), [first, second])


# ------------------------------------------------------------------ lecture notes, example 4: a rod in a gravity field
G, M, L = sm.symbols("G M L")
SIN2 = G * M * m * L**2 / (8 * q2**3) * sm.sin(2 * q3)


def test_rod_partial_velocities() -> None:
    """Lecture notes, example 4: v1, v2, v3 of B* are q2 a2, a1, 0."""
    a1, a2 = turned(q1)
    found, remainder = by_point(rod_gravity.build())["B*"]
    assert equal(found, sm.Matrix.hstack(q2 * a2, a1, NOTHING))
    assert equal(remainder, NOTHING)


def test_rod_partial_angular_velocities() -> None:
    """Lecture notes, example 4: ω1, ω2, ω3 are a3, 0, a3; so ω = (u1 + u3) a3, printed as (u1 + u2) a3."""
    found, remainder = by_frame(rod_gravity.build())["B"]
    assert equal(found, sm.Matrix.hstack(UP, NOTHING, UP))
    assert equal(remainder, NOTHING)


def test_rod_generalized_active_forces() -> None:
    """Lecture notes, example 4: F1 = 0, F2, F3.

    The document prints T and F3 with the opposite sign, and L²/(8 q2) for L²/(8 q2³) in a term of F1; only the
    sign here agrees with its F1 = 0.
    """
    first, second, third = active(rod_gravity.build())
    assert equal(first, 0)
    assert equal(second, -G * M * m / q2**2 * (1 + L**2 / (8 * q2**2) * (2 - 3 * sm.sin(q3) ** 2)))
    assert equal(third, -SIN2)


def test_rod_torque_as_printed_contradicts_its_result() -> None:
    """Lecture notes, example 4: q2 a2·R = G M m L²/(8 q2³) sin 2q3, which +T would double and −T cancels."""
    system = gallery_system("rod_gravity")
    (force,) = (load for load in system["loads"] if isinstance(load[0], me.Point))
    model = kc.Model(
        system["frame"], system["q"], system["u"], system["kdes"], bodies=system["bodies"], forcelist=[force]
    )
    assert equal(active(model)[0], SIN2)
    assert equal(active(model)[2], 0)


def test_rod_forces_have_the_potential_of_gravitation() -> None:
    """F_r = −∂U/∂q_r, with U = −∫ G m dM/r along the rod to second order in L/q2: from Newton's law, not the notes."""
    s = sm.Symbol("s")
    inverse = sum((-s) ** n / q2 ** (n + 1) * sm.legendre(n, sm.cos(q3)) for n in range(3))
    potential = -G * m * sm.integrate(M / L * inverse, (s, -L / 2, L / 2))
    assert equal(active(rod_gravity.build()), [-potential.diff(q) for q in (q1, q2, q3)])


# ------------------------------------------------------------------- LMD: a rod on a line, partial velocities by hand
def test_sliding_rod_partial_velocities() -> None:
    """LMD, "Partial Velocities": v1, v2 of A are n_x, 0; of B n_x, L (sin q2 n_x − cos q2 n_y); ω1, ω2 are 0, n_z."""
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


# --------------------------------------------------------------------------------------- LMD: double simple pendulum
def test_double_pendulum_partial_velocities() -> None:
    """LMD, "Generalized Active Forces": of P1 l a_x and 0, of P2 l a_x and l b_x; no remainders."""
    (a_x, _), (b_x, _) = turned(q1), turned(q2)
    points = by_point(double_pendulum.build())
    assert equal(points["P1"][0], sm.Matrix.hstack(length * a_x, NOTHING))
    assert equal(points["P2"][0], sm.Matrix.hstack(length * a_x, length * b_x))
    assert all(equal(remainder, NOTHING) for _, remainder in points.values())


def test_double_pendulum_generalized_active_forces() -> None:
    """LMD, "Generalized Active Forces": F1 and F2; the tensions T1 and T2 are not in them."""
    model = double_pendulum.build()
    assert equal(active(model), [-(m1 + m2) * g * length * sm.sin(q1), -m2 * g * length * sm.sin(q2)])
    assert noncontributing(model) == {"T1", "T2"}


def test_tensions_contribute_to_each_particle_alone() -> None:
    """LMD, "Generalized Active Forces": v·R of one particle holds T2, the sum over both does not."""
    tension2 = me.dynamicsymbols("T2")
    first, second = active(part_of("double_pendulum", "P1")), active(part_of("double_pendulum", "P2"))
    assert equal(first[0], -m1 * g * length * sm.sin(q1) - tension2 * length * sm.sin(q1 - q2))
    assert equal(second[0], -m2 * g * length * sm.sin(q1) + tension2 * length * sm.sin(q1 - q2))
    assert noncontributing(part_of("double_pendulum", "P1")) == {"T1"}


# ---------------------------------------------------------------------------------- LMD: two rods with torsion springs
inertia = m * length**2 / 12


def test_two_rods_partial_velocities() -> None:
    """LMD, "Generalized Active Forces on a Rigid Body": l/2 a_y and 0 of A_o, l a_y and 0 of B_o."""
    _, a_y = turned(q1)
    points = by_point(two_rods.build())
    assert equal(points["A_o"][0], sm.Matrix.hstack(length / 2 * a_y, NOTHING))
    assert equal(points["B_o"][0], sm.Matrix.hstack(length * a_y, NOTHING))
    assert all(equal(remainder, NOTHING) for _, remainder in points.values())


def test_two_rods_partial_angular_velocities() -> None:
    """LMD, "Generalized Active Forces on a Rigid Body": n_z and 0 of A, n_z and a_x of B."""
    a_x, _ = turned(q1)
    frames = by_frame(two_rods.build())
    assert equal(frames["A"][0], sm.Matrix.hstack(UP, NOTHING))
    assert equal(frames["B"][0], sm.Matrix.hstack(UP, a_x))
    assert all(equal(remainder, NOTHING) for _, remainder in frames.values())


def test_two_rods_generalized_active_forces() -> None:
    """LMD, "Generalized Active Forces on a Rigid Body": (F1, F2)_A, (F1, F2)_B and their sums."""
    weight = m * g * length * sm.sin(q1)
    assert equal(active(part_of("two_rods", "A")), [-weight / 2 - k * q1, 0])
    assert equal(active(part_of("two_rods", "B")), [-weight, -k * q2])
    assert equal(active(two_rods.build()), [-sm.Rational(3, 2) * weight - k * q1, -k * q2])


def test_two_rods_generalized_inertia_forces() -> None:
    """LMD, "Generalized Inertia Forces": (F1*, F2*)_A, (F1*, F2*)_B and their sums."""
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
    """LMD, "Generalized Inertia Forces": R* = −m a and T* = −(α·I + ω × I·ω), by SymPy's vectors, projected."""
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


# ----------------------------------------------------------------------------- slides: particle on a wire, liberation
R = sm.Symbol("R")
r, z, v_r, omega, v_z = me.dynamicsymbols("r z v_r omega v_z")
N_r, N_z = me.dynamicsymbols("N_r N_z")


def freed_particle(weight: bool = True) -> kc.Model:
    """The particle without the wire: cylindrical coordinates r, theta, z, and the wire's reactions as forces."""
    N, E = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    E.orient_axis(N, theta, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", r * E.x + z * N.z)
    reaction = N_r * E.x + N_z * N.z
    q, u = [r, theta, z], [v_r, omega, v_z]
    return kc.Model(
        N,
        q,
        u,
        [a.diff() - b for a, b in zip(q, u, strict=True)],
        bodies=[me.Particle("particle", P, m)],
        forcelist=[(P, m * g * N.x + reaction if weight else reaction)],
    )


def test_freed_particle_energies() -> None:
    """Slides, liberation: T = m/2 (ṙ² + r² θ̇² + ż²), U = −m g r cos θ."""
    model = freed_particle()
    assert equal(model.symbolic("kinetic_energy", nested=True), m / 2 * (v_r**2 + r**2 * omega**2 + v_z**2))
    assert equal(model.symbolic("potential_energy", nested=True), -m * g * r * sm.cos(theta))


def test_freed_particle_reactions_as_generalized_forces() -> None:
    """Slides, liberation: Q_r = N_r, Q_θ = 0, Q_z = N_z."""
    assert equal(active(freed_particle(weight=False)), [N_r, 0, N_z])


def test_freed_particle_equations() -> None:
    """Slides, liberation: the three equations of Lagrange."""
    radial = m * v_r.diff(t) - m * r * omega**2 - m * g * sm.cos(theta) - N_r
    circular = m * r**2 * omega.diff(t) + 2 * m * r * v_r * omega + m * g * r * sm.sin(theta)
    lateral = m * v_z.diff(t) - N_z
    assert equal(equations(freed_particle()), [radial, circular, lateral])


def test_wire_put_back_gives_its_reactions() -> None:
    """Slides, liberation: with r = R, z = 0, N_r = −m (R θ̇² + g cos θ), N_z = 0, θ̈ = −(g/R) sin θ."""
    on_the_wire = {v_r.diff(t): 0, v_z.diff(t): 0, v_r: 0, v_z: 0, r: R, z: 0}
    radial, circular, lateral = (sm.simplify(me.msubs(e, on_the_wire)) for e in equations(freed_particle()))
    assert equal(sm.solve(radial, N_r)[0], -m * (R * omega**2 + g * sm.cos(theta)))
    assert sm.solve(lateral, N_z) == [0]
    assert equal(sm.solve(circular, omega.diff(t))[0], -g / R * sm.sin(theta))


def test_wire_particle() -> None:
    """Slides, liberation: the bound particle, θ̈ = −(g/R) sin θ, and reactions that do not contribute (Q_θ = 0)."""
    model = wire_particle.build()
    u = model.speeds[0]
    _, along = turned(theta)
    assert equal(by_point(model)["P"][0], R * along)
    assert equal(active(model), [-m * g * R * sm.sin(theta)])
    assert equal(inertial(model), [-m * R**2 * u.diff(t)])
    assert equal(model.symbolic("udot", nested=True), [-g / R * sm.sin(theta)])
    assert noncontributing(model) == {"N_r", "N_z"}
