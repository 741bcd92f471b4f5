# SPDX-License-Identifier: BSD-3-Clause
"""Rotary inverted pendulum: a motor turns an arm about the vertical, a pendulum swings across the end of the arm.

Source: B. S. Cazzolato & Z. Prime, "On the Dynamics of the Furuta Pendulum", *Journal of Control Science and
Engineering* 2011, article 528341, with its symbols: the arm (1) of length L1 turns by theta1 about the vertical, the
pendulum (2) by theta2 about the arm's own axis, from hanging; mass centres at l1 and l2 from the joints; viscous
friction b1 and b2; central principal moments of inertia of both, x along each link, z of the arm vertical, z of the
pendulum along its hinge.  The speeds are the joint rates.  The values are those of rods of the size of a common
laboratory device.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, TORSIONAL_FRICTION, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "m1": 0.095,
    "m2": 0.024,
    "L1": 0.085,
    "l1": 0.0425,
    "l2": 0.0645,
    "b1": 1.5e-3,
    "b2": 5.0e-5,
    "J1xx": 1.2e-6,
    "J1yy": 5.78e-5,
    "J1zz": 5.78e-5,
    "J2xx": 2.7e-7,
    "J2yy": 3.342e-5,
    "J2zz": 3.342e-5,
}

DIMENSIONS = (
    of("m1 m2", MASS)
    | of("J1xx J1yy J1zz J2xx J2yy J2zz", INERTIA)
    | of("L1 l1 l2", LENGTH)
    | of("b1 b2", TORSIONAL_FRICTION)
    | of("g", ACCELERATION)
    | of("theta1 theta2", ANGLE)
    | of("omega1 omega2", RATE)
    | of("tau", TORQUE)
)


def build() -> Model:
    """The pendulum with joint rates as speeds, the motor's torque tau as input."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    theta1, theta2, omega1, omega2, torque = me.dynamicsymbols("theta1 theta2 omega1 omega2 tau")
    g, m1, m2, arm_length, l1, l2, b1, b2 = sm.symbols("g m1 m2 L1 l1 l2 b1 b2")

    base, arm, pendulum = (me.ReferenceFrame(name) for name in "NAB")
    arm.orient_axis(base, base.z, theta1)
    arm.set_ang_vel(base, omega1 * base.z)
    pendulum.orient_axis(arm, arm.x, theta2)
    pendulum.set_ang_vel(arm, omega2 * arm.x)
    origin = me.Point("O")
    origin.set_vel(base, 0)
    elbow = origin.locatenew("E", arm_length * arm.x)
    centre1 = origin.locatenew("G1", l1 * arm.x)
    centre2 = elbow.locatenew("G2", -l2 * pendulum.z)

    inertia1 = me.inertia(arm, *sm.symbols("J1xx J1yy J1zz"))
    inertia2 = me.inertia(pendulum, *sm.symbols("J2zz J2yy J2xx"))  # the source's x, y, z are −b_z, b_y, b_x
    friction = b2 * omega2 * arm.x
    return Model(
        base,
        [theta1, theta2],
        [omega1, omega2],
        [theta1.diff() - omega1, theta2.diff() - omega2],
        bodies=[
            me.RigidBody("arm", centre1, arm, m1, (inertia1, centre1)),
            me.RigidBody("pendulum", centre2, pendulum, m2, (inertia2, centre2)),
        ],
        forcelist=[
            (centre1, -m1 * g * base.z),
            (centre2, -m2 * g * base.z),
            (arm, (torque - b1 * omega1) * base.z + friction),
            (pendulum, -friction),
        ],
        name="furuta_pendulum",
    )
