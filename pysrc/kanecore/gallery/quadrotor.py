# SPDX-License-Identifier: BSD-3-Clause
"""Quadrotor: a rigid body with four rotors that push along its axis b_z.

Source: D. Mellinger & V. Kumar, "Minimum snap trajectory generation and control for quadrotors", ICRA 2011, section
III: each rotor gives a thrust F_i and, against its spin, a torque k F_i.  The rotors are at the corners of a square, at
±d along b_x and b_y, in the order front right, back right, back left, front left; those across each other spin alike.
So they do on the Crazyflie 2.0, whose values are used: J. Förster, *System Identification of the Crazyflie 2.0 Nano
Quadrocopter*, bachelor thesis, ETH Zürich 2015: mass, full inertia tensor, arm of 46 mm and ratio k.  The attitude is
a unit quaternion e0 ... e3; the speeds are the angular velocity in the body's axes, which a gyroscope measures, and
the velocity in inertial axes.  Rotors have no inertia of their own, and there is no other resistance of the air.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from ._building_blocks import vector
from ._dimensions import ACCELERATION, FORCE, INERTIA, LENGTH, MASS, NUMBER, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "m": 0.028,
    "d": 0.046 / sqrt(2),
    "k": 0.005964552,
    "Ixx": 16.571710e-6,
    "Iyy": 16.655602e-6,
    "Izz": 29.261652e-6,
    "Ixy": 0.830806e-6,
    "Iyz": 1.800197e-6,
    "Izx": 0.718277e-6,
}
# Corners of the rotors in units of d, and the sense of the torque on the body: against that of the spin.
ROTORS = ((1, -1, -1), (-1, -1, 1), (-1, 1, -1), (1, 1, 1))

DIMENSIONS = (
    of("m", MASS)
    | of("Ixx Iyy Izz Ixy Iyz Izx", INERTIA)
    | of("d k x y z", LENGTH)
    | of("g", ACCELERATION)
    | of("e0 e1 e2 e3", NUMBER)
    | of("w1 w2 w3", RATE)
    | of("v_x v_y v_z", VELOCITY)
    | of("F1 F2 F3 F4", FORCE)
)


def build() -> Model:
    """The quadrotor with the thrusts F1 ... F4 as inputs.

    Outputs: what an accelerometer at the mass centre measures, acceleration less gravity in the body's axes, and what a
    gyroscope does.
    """
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model
    from kanecore.shapes import Box

    place = me.dynamicsymbols("x y z")
    quaternion = me.dynamicsymbols("e0:4")
    w, v = me.dynamicsymbols("w1:4"), me.dynamicsymbols("v_x v_y v_z")
    thrusts = me.dynamicsymbols("F1:5")
    g, mass, d, k = sm.symbols("g m d k")

    ground, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    body.orient_quaternion(ground, quaternion)
    body.set_ang_vel(ground, vector(w, body))
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("C", vector(place, ground))
    centre.set_vel(ground, vector(v, ground))
    inertia = me.inertia(body, *sm.symbols("Ixx Iyy Izz Ixy Iyz Izx"))
    loads = [(centre, -mass * g * ground.z)]
    for i, (thrust, (x, y, sense)) in enumerate(zip(thrusts, ROTORS, strict=True), 1):
        hub = centre.locatenew(f"R{i}", d * (x * body.x + y * body.y))
        loads += [(hub, thrust * body.z), (body, sense * k * thrust * body.z)]
    felt = vector([v_i.diff() for v_i in v], ground) + g * ground.z
    return Model(
        ground,
        [*place, *quaternion],
        [*w, *v],
        [
            *(x.diff() - v_i for x, v_i in zip(place, v, strict=True)),
            *me.kinematic_equations(w, quaternion, "quaternion"),
        ],
        bodies=[me.RigidBody("body", centre, body, mass, (inertia, centre))],
        forcelist=loads,
        shapes={"body": Box(0.03, 0.03, 0.006)},
        inputs=thrusts,
        outputs={f"acc_{a}": felt.dot(e) for a, e in zip("xyz", body, strict=True)}
        | {f"gyro_{a}": w_i for a, w_i in zip("xyz", w, strict=True)},
        name="quadrotor",
    )
