# SPDX-License-Identifier: BSD-3-Clause
"""RRP robot: a turning column, a tilting arm, a bar that slides along it.

Source: lecture notes on dynamics of multibody systems with redundant coordinates, example of a serial mechanism
(homogeneous transforms, φ and Λ of the RRP robot).  Joint 1 turns about z0 by theta1, joint 2 about x1 by theta2 at
the height h + l1, joint 3 slides along y2 by d3; mass centres at l1g on the column, l2g on the arm and
l2 + d3 − l3 + l3g from joint 2 on the bar.  Here it is a tree with three speeds.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, FORCE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "h": 0.2,
    "l1": 0.5,
    "l2": 0.6,
    "l3": 0.5,
    "l1g": 0.25,
    "l2g": 0.3,
    "l3g": 0.25,
    "m1": 8.0,
    "m2": 5.0,
    "m3": 2.0,
    "I1x": 0.20,
    "I1y": 0.20,
    "I1z": 0.04,
    "I2x": 0.16,
    "I2y": 0.01,
    "I2z": 0.16,
    "I3x": 0.045,
    "I3y": 0.002,
    "I3z": 0.045,
}

DIMENSIONS = (
    of("m1 m2 m3", MASS)
    | of("I1x I1y I1z I2x I2y I2z I3x I3y I3z", INERTIA)
    | of("h l1 l1g l2 l2g l3 l3g d3", LENGTH)
    | of("g", ACCELERATION)
    | of("theta1 theta2", ANGLE)
    | of("omega1 omega2", RATE)
    | of("v3", VELOCITY)
    | of("tau1 tau2", TORQUE)
    | of("f3", FORCE)
)


def build() -> Model:
    """The robot with joint rates as speeds and joint torques tau1, tau2 and force f3 as inputs."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    theta1, theta2, d3 = q = me.dynamicsymbols("theta1 theta2 d3")
    omega1, omega2, _ = u = me.dynamicsymbols("omega1 omega2 v3")
    tau1, tau2, f3 = me.dynamicsymbols("tau1 tau2 f3")
    g, h, l1, l2, l3, l1g, l2g, l3g = sm.symbols("g h l1 l2 l3 l1g l2g l3g")
    masses = sm.symbols("m1:4")

    base = me.ReferenceFrame("N")
    column, arm = me.ReferenceFrame("B1"), me.ReferenceFrame("B2")
    column.orient_axis(base, base.z, theta1)
    column.set_ang_vel(base, omega1 * base.z)
    arm.orient_axis(column, column.x, theta2)
    arm.set_ang_vel(column, omega2 * column.x)

    origin = me.Point("O")
    origin.set_vel(base, 0)
    foot = origin.locatenew("O1", h * base.z)
    shoulder = foot.locatenew("O2", l1 * column.z)
    centres = (
        foot.locatenew("G1", l1g * column.z),
        shoulder.locatenew("G2", l2g * arm.y),
        shoulder.locatenew("G3", (l2 + d3 - l3 + l3g) * arm.y),
    )
    frames = (column, arm, arm)
    bodies = []
    for i, (centre, frame, mass) in enumerate(zip(centres, frames, masses, strict=True), 1):
        inertia = me.inertia(frame, *sm.symbols(f"I{i}x I{i}y I{i}z"))
        bodies.append(me.RigidBody(f"link{i}", centre, frame, mass, (inertia, centre)))
    loads = [(body.masscenter, -body.mass * g * base.z) for body in bodies]
    loads += [(column, tau1 * base.z), (arm, tau2 * column.x), (column, -tau2 * column.x)]
    carrier = shoulder.locatenew("slide", l2 * arm.y)  # where the motor of joint 3 pushes back on the arm
    loads += [(centres[2], f3 * arm.y), (carrier, -f3 * arm.y)]
    return Model(
        base,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        inputs=[tau1, tau2, f3],
        outputs={
            f"tip_{axis}": centres[2].pos_from(origin).dot(vector) for axis, vector in zip("xyz", base, strict=True)
        },
        name="rrp",
    )
