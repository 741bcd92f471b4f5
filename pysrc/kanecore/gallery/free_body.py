# SPDX-License-Identifier: BSD-3-Clause
"""Free rigid body, its attitude a unit quaternion.

Source: T. R. Kane, P. W. Likins & D. A. Levinson, *Spacecraft Dynamics*, McGraw-Hill 1983, sections 1.3 and 1.13 for
Euler parameters and their rates.  e0 is the cosine of half the angle of rotation, e1, e2, e3 are along its axis.  The
speeds are components in the body's axes: w1, w2, w3 of its angular velocity, v1, v2, v3 of its mass centre's velocity.
Inputs are a force on the mass centre, in inertial axes, and a torque, in the body's; gravity is along -n_z.  The values
are those of a uniform block of 0.1 × 0.2 × 0.3 m.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import vector
from ._dimensions import ACCELERATION, FORCE, INERTIA, LENGTH, MASS, NUMBER, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "m": 6.0,
    "Ixx": 0.065,
    "Iyy": 0.05,
    "Izz": 0.025,
    "Ixy": 0.0,
    "Iyz": 0.0,
    "Izx": 0.0,
}

DIMENSIONS = (
    of("m", MASS)
    | of("Ixx Iyy Izz Ixy Iyz Izx", INERTIA)
    | of("g", ACCELERATION)
    | of("x y z", LENGTH)
    | of("e0 e1 e2 e3", NUMBER)
    | of("w1 w2 w3", RATE)
    | of("v1 v2 v3", VELOCITY)
    | of("F_x F_y F_z", FORCE)
    | of("T1 T2 T3", TORQUE)
)


def build() -> Model:
    """The body with seven coordinates and six speeds; any mass and any central inertia."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    place = me.dynamicsymbols("x y z")
    quaternion = me.dynamicsymbols("e0:4")
    w, v = me.dynamicsymbols("w1:4"), me.dynamicsymbols("v1:4")
    forces, torques = me.dynamicsymbols("F_x F_y F_z"), me.dynamicsymbols("T1:4")
    g, mass = sm.symbols("g m")

    ground, body = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    body.orient_quaternion(ground, quaternion)
    body.set_ang_vel(ground, vector(w, body))
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("C", vector(place, ground))
    velocity = vector(v, body)
    centre.set_vel(ground, velocity)
    inertia = me.inertia(body, *sm.symbols("Ixx Iyy Izz Ixy Iyz Izx"))
    kd_eqs = [x.diff() - velocity.dot(e) for x, e in zip(place, ground, strict=True)]
    return Model(
        ground,
        [*place, *quaternion],
        [*w, *v],
        [*kd_eqs, *me.kinematic_equations(w, quaternion, "quaternion")],
        bodies=[me.RigidBody("body", centre, body, mass, (inertia, centre))],
        forcelist=[(centre, vector(forces, ground) - mass * g * ground.z), (body, vector(torques, body))],
        inputs=[*forces, *torques],
        name="free_body",
    )
