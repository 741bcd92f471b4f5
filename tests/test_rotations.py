# SPDX-License-Identifier: BSD-3-Clause
"""Rotations given by numbers: what their products leave of zero is zero."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc

Array = npt.NDArray[np.float64]

TILTED = sm.Matrix([[0.36, -0.8, 0.48], [0.48, 0.6, 0.64], [-0.8, 0.0, 0.6]])

TILT = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]


def test_products_of_numeric_rotations() -> None:
    """An axis that is carried through two numeric rotations that undo each other has its own components again."""
    q, u = me.dynamicsymbols("q u")
    N, O = ground()  # noqa: E741
    frames = [N]
    turned = np.array(TILTED, dtype=float) @ np.array(sm.rot_ccw_axis1(0.3), dtype=float)
    for i, rotation in enumerate((turned, turned.T)):
        frames.append(me.ReferenceFrame(f"F{i}"))
        frames[-1].orient_explicit(frames[-2], sm.Matrix(rotation))
    body_frame = me.ReferenceFrame("B")
    body_frame.orient_axis(frames[-1], frames[-1].z, q)
    body_frame.set_ang_vel(N, u * frames[-1].z)
    C = O.locatenew("C", 0.5 * body_frame.x)
    C.v2pt_theory(O, N, body_frame)
    body = me.RigidBody("b", C, body_frame, 1.0, (me.inertia(body_frame, 0.1, 0.2, 0.2), C))
    model = kc.Model(N, [q], [u], rates([q], [u]), bodies=[body], points=[C])
    dyn = kc.compile(model, cc="none")
    assert dyn.position("C", 0.0, [0.3, 0.2])[2] == 0.0


@pytest.mark.parametrize("length", [1.0, 0.05, 2e3, 1e-9])
def test_rows_of_a_hinge_about_an_axis_by_numbers(length: float) -> None:
    """Two rods on one tilted axis: of the rows that hold them together two are rounding, in any unit of length."""

    def accelerations(n_rows: int, n_large: int) -> Array:
        q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
        N, O = ground()  # noqa: E741
        axes, bodies, loads = list[Any](), list[Any](), list[Any]()
        for i, angle in enumerate((0.0, 0.7)):
            fixed, rod = me.ReferenceFrame(f"F{i}"), me.ReferenceFrame(f"B{i}")
            fixed.orient_explicit(N, sm.Matrix(TILT @ np.array(sm.rot_ccw_axis3(angle), dtype=float)))
            rod.orient_axis(fixed, fixed.z, q[i])
            rod.set_ang_vel(N, u[i] * fixed.z)
            C = O.locatenew(f"C{i}", length / 2 * rod.x)
            C.v2pt_theory(O, N, rod)
            inertia = me.inertia(rod, *(k * length**2 for k in (0.1, 0.2, 0.2)))
            bodies.append(me.RigidBody(f"b{i}", C, rod, 1.0 + i, (inertia, C)))
            loads.append((C, -9.81 * (1.0 + i) * length * N.x))
            axes.append(rod)
        A, B = axes
        rows = [B.x.dot(A.y), B.z.dot(A.x), B.z.dot(A.y)][:n_rows]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, configuration_constraints=rows)
        assert sum("what rounding leaves" in str(each.message) for each in caught) == n_rows - n_large
        dyn = kc.compile(model, cc="none")
        x = dyn.consistent(0.0, [0.9, 0.2, 0, 0], keep=["q1"])
        assert dyn.check(x).rank == 1
        return np.asarray(dyn.udot(0.0, x))

    np.testing.assert_allclose(accelerations(3, 1), accelerations(1, 1), rtol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 2.0**-60, 2.0**40])
def test_lengths_by_numbers_are_no_rounding(unit: float) -> None:
    """A bar that slides in a corner: its rows are lengths, however small their numbers are."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q[2])
    A.set_ang_vel(N, u[2] * N.z)
    C = O.locatenew("C", unit * (q[0] * N.x + q[1] * N.y))
    C.set_vel(N, unit * (u[0] * N.x + u[1] * N.y))
    ends = [C.locatenew(f"E{i}", sign * 0.5 * unit * A.x) for i, sign in enumerate((-1, 1))]
    body = me.RigidBody("b", C, A, 1.0, (me.inertia(A, 0, 0, unit**2 / 12), C))
    rows = [ends[0].pos_from(O).dot(N.x), ends[1].pos_from(O).dot(N.y)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kc.Model(N, q, u, rates(q, u), bodies=[body], configuration_constraints=rows)
    assert kc.compile(model, cc="none").check([0.5, 0.0, 0.0, 0, 0, 0]).rank == 2
