# SPDX-License-Identifier: BSD-3-Clause
"""Arm with two revolute joints in a vertical plane.

Source: M. W. Spong, S. Hutchinson & M. Vidyasagar, *Robot Modeling and Control*, Wiley 2006, section 7.4, planar elbow
manipulator: lengths l1, l2, mass centres at lc1, lc2 along the links, gravity along -n_y.  There the angles are q1 from
the horizontal and q2 from link 1, as here.  The values are this project's.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "l1": 0.55,
    "l2": 0.4,
    "lc1": 0.25,
    "lc2": 0.2,
    "m1": 3.2,
    "m2": 1.7,
    "I1": 0.085,
    "I2": 0.037,
}

DIMENSIONS = (
    of("m1 m2", MASS)
    | of("I1 I2", INERTIA)
    | of("l1 l2 lc1 lc2", LENGTH)
    | of("g", ACCELERATION)
    | of("q1 q2", ANGLE)
    | of("u1 u2", RATE)
    | of("tau1 tau2", TORQUE)
)


def build() -> Model:
    """The arm with joint rates as speeds and joint torques as inputs; outputs: where its tip is."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u, torques = (me.dynamicsymbols(f"{name}1:3") for name in ("q", "u", "tau"))
    g, *masses = sm.symbols("g m1 m2")

    ground = me.ReferenceFrame("N")
    origin = joint = me.Point("O")
    origin.set_vel(ground, 0)
    bodies, loads = [], []
    frame = ground
    for i, mass in enumerate(masses):
        length, to_centre, moment = sm.symbols(f"l{i + 1} lc{i + 1} I{i + 1}")
        link = me.ReferenceFrame(f"B{i + 1}")
        link.orient_axis(frame, frame.z, q[i])
        link.set_ang_vel(frame, u[i] * frame.z)
        loads.append((link, torques[i] * ground.z))
        if frame is not ground:
            loads.append((frame, -torques[i] * ground.z))
        centre = joint.locatenew(f"C{i + 1}", to_centre * link.x)
        bodies.append(me.RigidBody(f"link{i + 1}", centre, link, mass, (me.inertia(link, 0, moment, moment), centre)))
        loads.append((centre, -mass * g * ground.y))
        joint, frame = joint.locatenew(f"P{i + 1}", length * link.x), link
    tip = joint.pos_from(origin)
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        inputs=torques,
        outputs={"tip_x": tip.dot(ground.x), "tip_y": tip.dot(ground.y)},
        name="planar_2r",
    )
