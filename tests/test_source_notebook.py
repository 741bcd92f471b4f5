# SPDX-License-Identifier: BSD-3-Clause
"""The results of the notebook: lecture notes on generalized forces by P. V. Gomes (CEFET-RJ), after Kane & Levinson.

Each test names its place.  Where the notebook has a misprint, the test says which and holds the right result.
"""

from __future__ import annotations

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.gallery_systems import gallery_system
from source_expressions import (
    NOTHING,
    UP,
    active,
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
from kanecore.gallery import rod_gravity, rotating_tube

t = me.dynamicsymbols._t
q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1:4 u1:4")
theta = me.dynamicsymbols("theta")
m, m1, m2, g, k, k1, k2, L1, L2 = sm.symbols("m m1 m2 g k k1 k2 L1 L2")


# ------------------------------------------------------------- examples 3 and 5: two particles in a tube
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
    """Notebook, example 3: v1 and v2 of P1 are t1 and 0, of P2 0 and t1; the rest of v is along t2."""
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
G, M, L = sm.symbols("G M L")
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
