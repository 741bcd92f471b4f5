# SPDX-License-Identifier: BSD-3-Clause
"""The results of the notebook: lecture notes on generalized forces by P. V. Gomes (CEFET-RJ), after Kane & Levinson.

Each test names its place.  Where the notebook has a misprint, the test says which and holds the right result.
"""

from typing import Any

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
    equations,
    inertial,
    noncontributing,
    part_of,
    turned,
)

import kanecore as kc
from kanecore.gallery import appell_hamel, rod_gravity, rotating_tube

pytestmark = pytest.mark.long  # what Kane's method gives is claimed by test_truth.py and the random mechanisms

t = me.dynamicsymbols._t
q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1:4 u1:4")
theta = me.dynamicsymbols("theta")
m, m1, m2, g, k, k1, k2, L1, L2 = sm.symbols("m m1 m2 g k k1 k2 L1 L2")
G, M, L = sm.symbols("G M L")


# ------------------------------------------------------------------ moments, bound vectors, resultants, couples
N = me.ReferenceFrame("N", indices=["1", "2", "3"])


def bound_vectors() -> tuple[kc.ForceSystem, me.Point, me.Point]:
    """Three bound vectors in general position, with symbols, and points P and Q."""
    a, b, c = sm.symbols("a b c")
    P = me.Point("P")
    Q = P.locatenew("Q", a * N.x - 2 * b * N.y + c * N.z)
    places = (b * N.x + N.z, c * N.y - a * N.z, 3 * N.x)
    vectors = (a * N.x + N.y, -c * N.z + b * N.x, 2 * N.y - a * N.z)
    bound = [(P.locatenew(f"A{i}", r), v) for i, (r, v) in enumerate(zip(places, vectors, strict=True))]
    return kc.ForceSystem(bound), P, Q


def components(vector: me.Vector) -> sm.Matrix:
    return vector.to_matrix(N)


def test_any_point_of_the_line_of_action() -> None:
    """Notebook, introduction: p^{AB} × v = p^{AC} × v for every C on the line through B along v."""
    system, P, _ = bound_vectors()
    step = sm.Symbol("s")
    moved = [(point.locatenew(f"{point.name}'", step * v), v) for point, v in system.forces]
    assert equal(components(kc.ForceSystem(moved).moment(P)), components(system.moment(P)))
    for (point, v), (other, _) in zip(system.forces, moved, strict=True):
        assert equal(components(point.pos_from(P).cross(v)), components(other.pos_from(P).cross(v)))


def test_resultant_and_moment() -> None:
    """Notebook, "Momento em relação a um ponto": R = Σ v_i, and the moment of S about P is the sum of p_i × v_i."""
    system, P, _ = bound_vectors()
    resultant = sum((v for _, v in system.forces), me.Vector(0))
    moment = sum((point.pos_from(P).cross(v) for point, v in system.forces), me.Vector(0))
    assert equal(components(system.resultant), components(resultant))
    assert equal(components(system.moment(P)), components(moment))


def test_change_of_point() -> None:
    """Notebook, "Momento em relação a um ponto": M^{S/P} = M^{S/Q} + r^{PQ} × R."""
    system, P, Q = bound_vectors()
    moved = system.moment(Q) + Q.pos_from(P).cross(system.resultant)
    assert equal(components(system.moment(P)), components(moved))


def attraction() -> tuple[kc.ForceSystem, me.Point, sm.Symbol]:
    """Example 1: F1 and F2 at P1 and P2, Q at the distance s from their mass centre."""
    s = sm.Symbol("s")
    Q = me.Point("Q")
    P1, P2 = Q.locatenew("P1", (3 * L - s) * N.y), Q.locatenew("P2", -(3 * L + s) * N.y)
    F1 = G * M * m / (64 * L**2) * N.x
    F2 = G * M * m / (100 * L**2) * (4 * N.x + 3 * N.y) / 5
    return kc.ForceSystem([(P1, F1), (P2, F2)]), Q, s


def test_attraction_moment() -> None:
    """Notebook, example 1, outputs 8 and 10: M^Q; the prose below them prints −3L + s once for −3L − s."""
    system, Q, s = attraction()
    scale = G * M * m / L**2
    printed = -sm.Rational(8, 1000) * scale * (-3 * L - s) - scale * (3 * L - s) / 64
    assert agree(components(system.moment(Q)), [0, 0, printed])
    prose = -sm.Rational(8, 1000) * scale * (-3 * L + s) - scale * (3 * L - s) / 64
    assert sm.solve(prose, s) != sm.solve(printed, s)


def test_attraction_point_of_zero_moment() -> None:
    """Notebook, example 1, output 12: s = 0.968253968253968 L, which is 61/63 L."""
    system, Q, s = attraction()
    assert sm.solve(system.moment(Q).dot(N.z), s) == [sm.Rational(61, 63) * L]
    assert pytest.approx(0.968253968253968, abs=1e-15) == 61 / 63


def test_attraction_follows_newtons_law() -> None:
    """Notebook, example 1: F1 and F2 as given are those of gravitation, P at 8 L n1 + 3 L n2 from the mass centre."""
    system, Q, s = attraction()
    attracting = Q.locatenew("P", (3 * L - s) * N.y + 8 * L * N.x)
    for point, force in system.forces:
        r = components(attracting.pos_from(point))
        assert agree(components(force), G * M * m * r / (r.dot(r)) ** sm.Rational(3, 2))


def couple() -> tuple[kc.ForceSystem, dict[str, me.Point]]:
    """Example 2: forces along the closed way A, B, C, D, each k times its side."""
    a, b, c = sm.symbols("a b c")
    C = me.Point("C")
    D = C.locatenew("D", b * N.x - a * N.y)
    A = D.locatenew("A", -c * N.z)
    B = A.locatenew("B", a * N.y)
    forces = [k * a * N.y, k * (-b * N.x + c * N.z), k * (b * N.x - a * N.y), -k * c * N.z]
    return kc.ForceSystem(list(zip((A, B, C, D), forces, strict=True))), {"A": A, "B": B, "C": C, "D": D}


def test_couple_of_four_forces() -> None:
    """Notebook, example 2, output 15: R = 0; the forces are as long as the sides AB, BC, CD, DA, times k."""
    system, points = couple()
    assert system.is_couple()
    assert equal(components(system.resultant), [0, 0, 0])
    ends = [points[x] for x in "ABCDA"]
    for (point, force), end in zip(system.forces, ends[1:], strict=True):
        assert equal(components(force), k * components(end.pos_from(point)))


def test_torque_of_the_couple() -> None:
    """Notebook, example 2, output 16: T = k (2 c a n1 + b c n2 + a b n3), about every point.

    The prose prints b n2 for b c n2, which has not the dimension of the others.  It takes r1 = b n1 − c n3, to B, and
    the code b n1 − a n2 − c n3, to A: both are on the line of F1.
    """
    a, b, c = sm.symbols("a b c")
    system, points = couple()
    expected = k * sm.Matrix([2 * c * a, b * c, a * b])
    assert equal(components(system.torque), expected)
    for about in (*points.values(), points["C"].locatenew("X", 3 * N.x - a * N.z)):
        assert equal(components(system.moment(about)), expected)
    (_, F1), _, _, (D, F4) = system.forces
    assert D is points["D"]
    for first in (b * N.x - c * N.z, b * N.x - a * N.y - c * N.z):
        assert equal(components(first.cross(F1) + (b * N.x - a * N.y).cross(F4)), expected)
    alone = kc.ForceSystem(system.forces[1:3])
    assert equal(components(alone.moment(points["C"])), [0, 0, 0])  # "the moments of F2 and F3 about C are zero"


def test_simple_couple() -> None:
    """Notebook, "Binários e Torques": two vectors with R = 0 are equal and opposite, and M is the same anywhere."""
    x, y, z = v = sm.symbols("x y z")
    w = sm.symbols("x1 y1 z1")
    P = me.Point("P")
    Q = P.locatenew("Q", x * N.x + N.y)
    first, second = (sum((c * e for c, e in zip(part, N, strict=True)), me.Vector(0)) for part in (v, w))
    assert not kc.ForceSystem([(P, first), (Q, second)]).is_couple()
    (opposite,) = sm.solve(components(first + second), w, dict=True)
    assert opposite == {w[0]: -x, w[1]: -y, w[2]: -z}
    pair = kc.ForceSystem([(P, first), (Q, -first)])
    assert pair.is_couple()
    assert equal(components(pair.moment(P)), components(pair.moment(Q)))


# ------------------------------------------------------------- examples 3 and 5: two particles in a tube
def tube_as_printed(method: Any) -> tuple[Any, Any, Any]:
    """Cells 17 to 37 of the notebook: the method, velocities in q̇, the tube's forces plain symbols; Fr, Frstar."""
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
    kane = method(A, q_ind=[q1, q2], u_ind=[u1, u2], kd_eqs=[q1.diff() - u1, q2.diff() - u2])
    assert agree(P1.vel(A).to_matrix(T), [q1.diff(), (L1 + q1) * theta.diff(), 0])  # output 22
    assert agree(P2.vel(A).to_matrix(T), [q2.diff(), (L1 + L2 + q2) * theta.diff(), 0])  # output 24
    return kane, *kane.kanes_equations(bodies, loads)


@pytest.fixture(scope="module", params=["gallery", "as printed"])
def tube(request: pytest.FixtureRequest) -> kc.Model:
    return (
        rotating_tube.build() if request.param == "gallery" else kc.Model.from_kane(tube_as_printed(me.KanesMethod)[0])
    )


def test_tube_with_the_method_replaced() -> None:
    """Notebook, examples 3 and 5, outputs 32 and 35: `kanecore.KanesMethod` in the notebook's own cells."""
    _, found, inertia_found = tube_as_printed(kc.KanesMethod)
    _, printed, inertia_printed = tube_as_printed(me.KanesMethod)
    assert equal(found, printed)
    assert equal(inertia_found, inertia_printed)


def test_tube_partial_velocities() -> None:
    """Notebook, example 3: v1 and v2 of P1 are t1 and 0, of P2 0 and t1; the rest of v is along t2."""
    t1, t2 = turned(theta)
    points = by_point(rotating_tube.build())
    for name, partials, distance in (("P1", [t1, NOTHING], L1 + q1), ("P2", [NOTHING, t1], L1 + L2 + q2)):
        found, remainder = points[name]
        assert equal(found, sm.Matrix.hstack(*partials)), name
        assert equal(remainder, distance * theta.diff(t) * t2), name


def test_tube_contributions_of_each_particle() -> None:
    """Notebook, example 3: (F1)_P1, (F2)_P1, (F1)_P2, (F2)_P2.

    The prose has k2 (q2 − q1) t2 for the second spring's force on P1 once; it acts along t1, as in its R1.
    """
    weight1, weight2 = m1 * g * sm.cos(theta), m2 * g * sm.cos(theta)
    assert equal(active(part_of("rotating_tube", "P1")), [-k1 * q1 + k2 * (q2 - q1) + weight1, 0])
    assert equal(active(part_of("rotating_tube", "P2")), [0, -k2 * (q2 - q1) + weight2])


def test_tube_generalized_active_forces(tube: kc.Model) -> None:
    """Notebook, example 3, output 32: F1 and F2."""
    first = g * m1 * sm.cos(theta) - k1 * q1 + k2 * (-q1 + q2)
    second = g * m2 * sm.cos(theta) - k2 * (-q1 + q2)
    assert equal(active(tube), [first, second])


def test_tube_generalized_inertia_forces(tube: kc.Model) -> None:
    """Notebook, example 5, output 35: F1* and F2*."""
    first = m1 * (L1 + q1) * theta.diff(t) ** 2 - m1 * u1.diff(t)
    second = m2 * (L1 + L2 + q2) * theta.diff(t) ** 2 - m2 * u2.diff(t)
    assert equal(inertial(tube), [first, second])


def test_tube_forces_do_not_contribute(tube: kc.Model) -> None:
    """Notebook, example 3, remark: the unknown forces of the tube contribute nothing to F1 and F2."""
    assert noncontributing(tube) == {"T12", "T13", "T22", "T23"}
    assert {str(x) for x in tube.parameters} == {"m1", "m2", "k1", "k2", "L1", "L2", "g"}
    assert set(tube.inputs) == {theta, theta.diff(t), theta.diff(t, 2)}


def test_tube_equations_of_motion(tube: kc.Model) -> None:
    """Notebook, examples 3 and 5 together: F_r + F_r* = 0."""
    swing = theta.diff(t) ** 2
    first = m1 * u1.diff(t) - m1 * (L1 + q1) * swing - m1 * g * sm.cos(theta) + k1 * q1 - k2 * (q2 - q1)
    second = m2 * u2.diff(t) - m2 * (L1 + L2 + q2) * swing - m2 * g * sm.cos(theta) + k2 * (q2 - q1)
    assert equal(equations(tube), [first, second])


# ------------------------------------------------------------------ example 4: a rod in a gravity field
SIN2 = G * M * m * L**2 / (8 * q2**3) * sm.sin(2 * q3)


def test_rod_partial_velocities() -> None:
    """Notebook, example 4: v1, v2, v3 of B* are q2 a2, a1, 0."""
    a1, a2 = turned(q1)
    found, remainder = by_point(rod_gravity.build())["B*"]
    assert equal(found, sm.Matrix.hstack(q2 * a2, a1, NOTHING))
    assert equal(remainder, NOTHING)


def test_rod_partial_angular_velocities() -> None:
    """Notebook, example 4: ω1, ω2, ω3 are a3, 0, a3; so ω = (u1 + u3) a3, printed as (u1 + u2) a3."""
    found, remainder = by_frame(rod_gravity.build())["B"]
    assert equal(found, sm.Matrix.hstack(UP, NOTHING, UP))
    assert equal(remainder, NOTHING)


def test_rod_generalized_active_forces() -> None:
    """Notebook, example 4: F1 = 0, F2, F3.

    The document prints T and F3 with the opposite sign, and L²/(8 q2) for L²/(8 q2³) in a term of F1; only the
    sign here agrees with its F1 = 0.
    """
    first, second, third = active(rod_gravity.build())
    assert equal(first, 0)
    assert equal(second, -G * M * m / q2**2 * (1 + L**2 / (8 * q2**2) * (2 - 3 * sm.sin(q3) ** 2)))
    assert equal(third, -SIN2)


def test_rod_torque_as_printed_contradicts_its_result() -> None:
    """Notebook, example 4: q2 a2·R = G M m L²/(8 q2³) sin 2q3, which +T would double and −T cancels."""
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


# ---------------------------------------------------------------------------------------------------------- definitions
def particles_on_a_body(rigid: bool) -> tuple[kc.Model, list[sm.Matrix]]:
    """Four particles fixed in a frame on a turning arm, or the rigid body that they are; and r_i from its centre."""
    ground, arm, frame = (me.ReferenceFrame(name) for name in "NAB")
    arm.orient_axis(ground, ground.z, q1)
    frame.orient_body_fixed(arm, [q2, q3, 0], "123")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("G", L * arm.y)
    masses = [1, 2, 3, 4]
    places = [frame.x, frame.y - frame.x / 2, 2 * frame.z, -frame.y / 2 - 3 * frame.z / 2]
    assert sum((mass * r for mass, r in zip(masses, places, strict=True)), me.Vector(0)) == 0
    points = [centre.locatenew(f"P{i}", r) for i, r in enumerate(places)]
    bodies: list[Any] = [me.Particle(point.name, point, mass) for mass, point in zip(masses, points, strict=True)]
    if rigid:
        tensor = sum(
            (
                mass
                * (r.dot(r) * (frame.x.outer(frame.x) + frame.y.outer(frame.y) + frame.z.outer(frame.z)) - r.outer(r))
                for mass, r in zip(masses, places, strict=True)
            ),
            me.Dyadic(0),
        )
        bodies = [me.RigidBody("B", centre, frame, sum(masses), (tensor, centre))]
    q, u = [q1, q2, q3], [u1, u2, u3]
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    return kc.Model(ground, q, u, rates, bodies=bodies), [r.to_matrix(ground) for r in places]


def test_inertia_torque_of_the_particles() -> None:
    """Notebook, "Forças de Inércia Generalizadas": Σ m_i of a rigid body gives v_r·R* + ω_r·T*, T* = −α·I − ω × I·ω.

    T* is defined by −Σ m_i r_i × a_i; its second form holds because F_r* of the body is that of its particles.
    """
    body, _ = particles_on_a_body(rigid=True)
    particles, _ = particles_on_a_body(rigid=False)
    assert agree(inertial(body), inertial(particles))


def test_inertia_torque_is_that_of_the_definition() -> None:
    """Notebook, "Forças de Inércia Generalizadas": T* = −Σ m_i r_i × a^{P_i}, and R* = −M a*, by numbers."""
    compiled = {rigid: kc.compile(particles_on_a_body(rigid)[0], parameters={L: 0.7}) for rigid in (True, False)}
    rng = np.random.default_rng(2)
    x, udot = rng.uniform(-1.0, 1.0, 6), rng.uniform(-1.0, 1.0, 3)
    ((*found,),) = compiled[True].inertia_forces(0.0, x, udot)
    forces = compiled[False].inertia_forces(0.0, x, udot)[:, :3]  # −m_i a_i
    _, arms = particles_on_a_body(rigid=True)
    at = dict(zip((q1, q2, q3), x[:3], strict=True))
    torque = sum(np.cross(np.array(r.xreplace(at), float)[:, 0], f) for r, f in zip(arms, forces, strict=True))
    np.testing.assert_allclose(found[:3], forces.sum(axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[3:], torque, rtol=0, atol=1e-12)


def test_particle_of_a_complex_nonholonomic_system() -> None:
    """Notebook, "Forças Ativas", "... de Inércia": F̃̃_r = Σ ã̃_r·R, F̃̃_r* = Σ ã̃_r·R*, ã̃_r = ∂a/∂u̇_r.

    The particle of Appell and Hamel: u3 = ±√(u1² + u2²)/c, so ∂a/∂u̇_r = n_r + u_r/(c² u3) n3.  Inertia forces are
    printed with ṽ_r where ã̃_r is meant; and "simple holonomic system" with F̃_r is a nonholonomic one.
    """
    model = appell_hamel.build()
    w1, w2, w3 = model.speeds
    c = sm.Symbol("c")
    (found,) = model.symbolic("partial_accelerations", nested=True)
    expected = sm.Matrix([[1, 0], [0, 1], [w1 / (c**2 * w3), w2 / (c**2 * w3)]])
    assert equal(list(found), list(expected))
    force = sm.Matrix([0, 0, -m * g])
    projected = model.symbolic("generalized_active_forces", nested=True, nonholonomic=True)
    assert equal(list(projected), list(expected.T * force))
    rates = sm.Matrix([w.diff(t) for w in model.speeds])
    projected = model.symbolic("generalized_inertia_forces", nested=True, nonholonomic=True)
    third = {rates[2]: (w1 * rates[0] + w2 * rates[1]) / (c**2 * w3)}
    assert equal([x.xreplace(third) for x in projected], list((expected.T * (-m * rates)).xreplace(third)))


def test_rigid_body_of_a_complex_nonholonomic_system() -> None:
    """Notebook, "Forças Atuando em um Corpo Rígido": (F̃̃_r)_B = α̃̃_r·T + ã̃_r^Q·R, with α̃̃_r = ∂α/∂u̇_r.

    A body in a plane that turns the faster the faster it moves, u1² + u2² = L² u3².  The notebook prints ṽ̃_r^Q for the
    partial acceleration, and counts all r to n.
    """
    ground, frame, origin = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    frame.orient_axis(ground, ground.z, q3)
    origin.set_vel(ground, 0)
    centre = origin.locatenew("G", q1 * ground.x + q2 * ground.y)
    point = centre.locatenew("Q", L1 * frame.x)
    f1, f2, torque = me.dynamicsymbols("f1 f2 tau")
    model = kc.Model(
        *(ground, [q1, q2, q3], [u1, u2], [a.diff() - b for a, b in zip((q1, q2, q3), (u1, u2, u3), strict=True)]),
        u_dependent=[u3],
        velocity_constraints=[u1**2 + u2**2 - L**2 * u3**2],
        bodies=[me.RigidBody("B", centre, frame, m, (me.inertia(frame, 0, 0, m * L**2), centre))],
        forcelist=[(point, f1 * ground.x + f2 * ground.y), (frame, torque * ground.z)],
        points=[point],
        frames=[frame],
    )
    turn = sm.Matrix([[u1, u2]]) / (L**2 * u3)
    alpha = UP * turn
    _, across = turned(q3)
    expected = sm.Matrix([[1, 0], [0, 1], [0, 0]]) + L1 * across * turn
    names = [model.description.points[i].name for i in model.description.shown_points]
    found = model.symbolic("partial_accelerations", nested=True)[names.index("Q")]
    assert agree(found, expected)
    assert agree(model.symbolic("partial_angular_accelerations", nested=True)[-1], alpha)
    projected = alpha.T * UP * torque + expected.T * sm.Matrix([f1, f2, 0])
    assert agree(model.symbolic("generalized_active_forces", nested=True, nonholonomic=True), projected)


@pytest.mark.long
def test_forces_on_a_rigid_body() -> None:
    """Notebook, "Forças Atuando em um Corpo Rígido": (F_r)_B = ω_r·T + v_r^Q·R, of the rod of example 4, Q = B*."""
    model, system = rod_gravity.build(), gallery_system("rod_gravity")
    (force,) = (load.to_matrix(system["frame"]) for at, load in system["loads"] if isinstance(at, me.Point))
    (torque,) = (load.to_matrix(system["frame"]) for at, load in system["loads"] if not isinstance(at, me.Point))
    v, w = by_point(model)["B*"][0], by_frame(model)["B"][0]
    assert equal(active(model), [w[:, r].dot(torque) + v[:, r].dot(force) for r in range(3)])
