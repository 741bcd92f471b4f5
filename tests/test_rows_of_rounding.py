# SPDX-License-Identifier: BSD-3-Clause
"""Rows of constraints that numeric rotations leave of zero."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from numpy.testing import assert_allclose

import kanecore as kc

TILTED = sm.Matrix(
    [
        [0.36, -0.8, 0.48],
        [0.48, 0.6, 0.64],
        [-0.8, 0.0, 0.6],
    ]
)


def hinge(size: float, number: int, kind: str = "configuration", turn: float = 0.7) -> kc.Model:
    """Two rods on one numerically tilted axis, whose frames are turned by an angle about it; ``number`` rows."""
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, O = ground()  # noqa: E741
    seats = [me.ReferenceFrame("F"), me.ReferenceFrame("G")]
    first = np.array(TILTED, dtype=float) @ np.array(sm.rot_ccw_axis1(0.3), dtype=float)
    for seat, angle in zip(seats, (0.0, turn), strict=True):
        seat.orient_explicit(N, sm.Matrix(first @ np.array(sm.rot_ccw_axis3(angle), dtype=float)))
    frames, bodies, loads = [], [], []
    for i, (seat, mass) in enumerate(zip(seats, (1.0, 2.0), strict=True)):
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(seat, seat.z, q[i])
        frame.set_ang_vel(N, u[i] * seat.z)
        C = O.locatenew(f"C{i}", 0.5 * size * frame.x)
        C.v2pt_theory(O, N, frame)
        moment = me.inertia(frame, 0.1 * size**2, 0.2 * size**2, 0.2 * size**2)
        bodies.append(me.RigidBody(f"b{i}", C, frame, mass, (moment, C)))
        loads.append((C, -9.81 * size * mass * N.x))
        frames.append(frame)
    A, B = frames
    rows = [size * row for row in (B.x.dot(A.y), B.z.dot(A.x), B.z.dot(A.y))[:number]]
    if kind == "velocity":
        speeds = dict(zip([each.diff() for each in q], u, strict=True))
        rows = [row.diff(me.dynamicsymbols._t).xreplace(speeds) for row in rows]
    constraints: dict[str, Any] = {f"{kind}_constraints": rows}
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, **constraints)


@pytest.mark.parametrize(("size", "kind"), [(1.0, "configuration"), (2000.0, "configuration"), (2000.0, "velocity")])
def test_hinge_in_numeric_axes(size: float, kind: str) -> None:
    """Rows across the axis of a hinge are no rank, in metres and in millimetres."""
    one = kc.compile(hinge(size, 1, kind), cc="none")
    with pytest.warns(kc.KanecoreWarning, match=rf"{kind} constraint [12].* is made of rounding") as said:
        three = kc.compile(hinge(size, 3, kind), cc="none")
    assert len(said) == 2
    x = one.consistent(0.0, [0.9, 0.2, 0.4, 0.4])
    three.check(x)
    assert_allclose(three.udot(0.0, x), one.udot(0.0, x), rtol=1e-12)
    assert_allclose(three.constraint_jacobian(0.0, x)[1:], 0.0)


def pair(*rows: sm.Expr) -> kc.Model:
    """Two beads on a line."""
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, O = ground()  # noqa: E741
    bodies = []
    for i in range(2):
        P = O.locatenew(f"P{i}", q[i] * N.x)
        P.set_vel(N, u[i] * N.x)
        bodies.append(me.Particle(f"b{i}", P, 1.0))
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, configuration_constraints=rows)


def test_what_counts_as_rounding() -> None:
    """A constant that is rounding is a row of zeros; a tiny fraction is a factor; parameters are no rounding."""
    q1, q2 = me.dynamicsymbols("q1:3")
    d, e = sm.symbols("d e")
    with pytest.warns(kc.KanecoreWarning, match="is made of rounding"):
        dyn = kc.compile(pair(q1 - q2, sm.Float(3e-18)), cc="none")
    assert not dyn.constraint_jacobian(0.0, np.zeros(4))[1].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = kc.compile(pair(sm.Rational(1, 2**60) * (q1 - q2)), cc="none")
        kc.compile(pair(1e-9 * (q1 - q2)), cc="none")
        with pytest.raises(kc.ModelError, match="holds no coordinate"):
            pair(sm.Float(3e-9))
    assert scaled.constraint_jacobian(0.0, np.zeros(4)).any()
    with (
        pytest.warns(kc.KanecoreWarning, match="is made of rounding"),
        pytest.raises(kc.ModelError, match="holds no coordinate"),
    ):
        pair(d - e + 1e-17 * sm.sin(q1))


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
