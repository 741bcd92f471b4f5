# SPDX-License-Identifier: BSD-3-Clause
"""Arm with 7 revolute joints in space, each body with a full inertia tensor.

Source: masses, mass centres, principal moments and joint placement like those of the KUKA LBR iiwa 14 as it circulates
in public URDF files, rounded, the inertia tensors turned a little so that no product of inertia vanishes; its dynamics
was computed independently with Pinocchio 4.1.0 (tests/truth).  Licence: BSD-3-Clause.
"""

from __future__ import annotations

import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.model import Model

# One line a body: offset of its joint from the previous one, in the previous body's axes; the rotation of the joint's
# axes to those; mass; mass centre; central inertia xx, yy, zz, xy, yz, zx.  Every joint turns about its own z axis.
BODIES = (
    (
        (0, 0, 0.1575),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        5.76,
        (0.002, -0.03, 0.12),
        (0.032717432, 0.033287244, 0.012595324, 8.577e-05, -0.000393638, 0.002423038),
    ),
    (
        (0, 0, 0.2025),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
        6.35,
        (0.0003, 0.059, 0.042),
        (0.030403956, 0.029616103, 0.011879941, -0.000291098, -0.003828687, -0.001279791),
    ),
    (
        (0, 0.2045, 0),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
        3.5,
        (0.001, 0.03, 0.13),
        (0.024437428, 0.023604284, 0.008358288, -0.000442947, 0.001771232, 0.003026712),
    ),
    (
        (0, 0, 0.2155),
        ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
        3.5,
        (0.0012, 0.067, 0.034),
        (0.016993285, 0.015788003, 0.006618712, -6.3153e-05, -0.002446683, -0.000264005),
    ),
    (
        (0, 0.1845, 0),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
        3.5,
        (0.0001, 0.021, 0.076),
        (0.009978808, 0.008370503, 0.004840689, 0.000162311, 0.001137227, -0.000261381),
    ),
    (
        (0, 0, 0.2155),
        ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
        1.8,
        (0.0015, 0.0006, 0.0004),
        (0.004871682, 0.004697294, 0.003631024, 2.7116e-05, 0.000116768, 0.000156634),
    ),
    (
        (0, 0.081, 0),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
        1.2,
        (0.003, 0.002, 0.02),
        (0.001187715, 0.001104854, 0.001007431, 2.0675e-05, 7.307e-06, 3.7093e-05),
    ),
)

_AXES, _TENSOR = "xyz", ("xx", "yy", "zz", "xy", "yz", "zx")
PARAMETERS = {"g": 9.81}
for _i, (_offset, _, _mass, _centre, _inertia) in enumerate(BODIES, 1):
    PARAMETERS |= {f"d{_i}{a}": float(v) for a, v in zip(_AXES, _offset, strict=True) if v}
    PARAMETERS |= {f"m{_i}": _mass} | {f"c{_i}{a}": v for a, v in zip(_AXES, _centre, strict=True)}
    PARAMETERS |= {f"I{_i}{a}": v for a, v in zip(_TENSOR, _inertia, strict=True)}


def build() -> Model:
    """The arm with joint rates as speeds and joint torques tau1 ... tau7 as inputs; every number is a parameter."""
    n = len(BODIES)
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    torques = me.dynamicsymbols(f"tau1:{n + 1}")
    gravity = sm.Symbol("g")

    ground = frame = me.ReferenceFrame("N")
    joint = me.Point("O")
    joint.set_vel(ground, 0)
    bodies, loads = [], []
    for i, (offset, rotation, _, _, _) in enumerate(BODIES, 1):
        place = sum(
            (sm.Symbol(f"d{i}{a}") * e for a, v, e in zip(_AXES, offset, frame, strict=True) if v), me.Vector(0)
        )
        joint = joint.locatenew(f"J{i}", place)
        seat, body_frame = me.ReferenceFrame(f"S{i}"), me.ReferenceFrame(f"B{i}")
        seat.orient_explicit(frame, sm.Matrix(rotation))
        body_frame.orient_axis(seat, seat.z, q[i - 1])
        body_frame.set_ang_vel(seat, u[i - 1] * seat.z)
        loads.append((body_frame, torques[i - 1] * seat.z))
        if frame is not ground:
            loads.append((frame, -torques[i - 1] * seat.z))
        centre = joint.locatenew(
            f"C{i}", sum((sm.Symbol(f"c{i}{a}") * e for a, e in zip(_AXES, body_frame, strict=True)), me.Vector(0))
        )
        inertia = me.inertia(body_frame, *(sm.Symbol(f"I{i}{a}") for a in _TENSOR))
        mass = sm.Symbol(f"m{i}")
        bodies.append(me.RigidBody(f"body{i}", centre, body_frame, mass, (inertia, centre)))
        loads.append((centre, -mass * gravity * ground.z))
        frame = body_frame
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        inputs=torques,
        name="arm7",
    )
