# SPDX-License-Identifier: BSD-3-Clause
"""Rotations given by numbers: what their products leave of zero is zero."""

from __future__ import annotations

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc

TILTED = sm.Matrix(
    [
        [0.36, -0.8, 0.48],
        [0.48, 0.6, 0.64],
        [-0.8, 0.0, 0.6],
    ]
)


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
