# SPDX-License-Identifier: BSD-3-Clause
"""The results of the chapter "Generalized Forces" of J. K. Moore, *Learn Multibody Dynamics*.

Each test names its place.  Where the chapter has a misprint, the test says which.
"""

from __future__ import annotations

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
    inertial,
    noncontributing,
    part_of,
    turned,
)

import kanecore as kc
from kanecore.gallery import double_pendulum, two_rods

t = me.dynamicsymbols._t
q1, q2, u1, u2 = me.dynamicsymbols("q1:3 u1:3")
m, m1, m2, g, k, length, L = sm.symbols("m m1 m2 g k l L")


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
