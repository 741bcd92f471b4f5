# SPDX-License-Identifier: BSD-3-Clause
"""Car with front-wheel steering whose axles do not slip sideways: the single-track model at low speed.

Source: the kinematic car of A. De Luca, G. Oriolo & C. Samson, "Feedback control of a nonholonomic car-like robot", in
J.-P. Laumond (ed.), *Robot Motion Planning and Control*, Springer 1998: θ̇ = (v/l) tan φ, with the masses added.
(x, y) is the middle of the rear axle, theta the heading, phi the angle of the front wheels, l the wheelbase; the mass
centre of the body is at the distance b ahead of the rear axle.  The speeds are the forward velocity v of the rear axle,
the rate of steering s, and the sideways velocity n of the rear axle and the rate of turn w, which the constraints
give.  Inputs are the driving force F along the body at the rear axle and the torque tau between body and front axle.
The values are those of a middle-sized car.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanecore.shapes import Box

from ._dimensions import ANGLE, FORCE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 1350.0, "I": 2200.0, "m_f": 80.0, "I_f": 18.0, "l": 2.65, "b": 1.2}

# w = v tan(phi)/l
STATE = {
    "x": 0.0,
    "y": 0.0,
    "theta": 0.0,
    "phi": 0.3,
    "v": 5.0,
    "s": 0.1,
    "n": 0.0,
    "w": 0.5836533011502325,
}

DIMENSIONS = (
    of("m m_f", MASS)
    | of("I I_f", INERTIA)
    | of("l b x y", LENGTH)
    | of("theta phi", ANGLE)
    | of("v n", VELOCITY)
    | of("s w", RATE)
    | of("F", FORCE)
    | of("tau", TORQUE)
)


def build() -> Model:
    """The car as a body and its front axle, in the plane."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.model import Model

    x, y, theta, phi, v, s, n, w = me.dynamicsymbols("x y theta phi v s n w")
    force, torque = me.dynamicsymbols("F tau")
    m, moment, front_mass, front_moment, wheelbase, b = sm.symbols("m I m_f I_f l b")

    ground, body, wheels = (me.ReferenceFrame(name) for name in "NBW")
    body.orient_axis(ground, ground.z, theta)
    body.set_ang_vel(ground, w * ground.z)
    wheels.orient_axis(body, body.z, phi)
    wheels.set_ang_vel(body, s * body.z)
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    rear = origin.locatenew("R", x * ground.x + y * ground.y)
    rear.set_vel(ground, v * body.x + n * body.y)
    centre = rear.locatenew("G", b * body.x)
    front = rear.locatenew("F", wheelbase * body.x)
    front_velocity = v * body.x + (n + wheelbase * w) * body.y
    bodies = [
        me.RigidBody("body", centre, body, m, (me.inertia(body, 0, 0, moment), centre)),
        me.RigidBody("front_axle", front, wheels, front_mass, (me.inertia(wheels, 0, 0, front_moment), front)),
    ]
    return Model(
        ground,
        [x, y, theta, phi],
        [v, s],
        [
            x.diff() - v * cos(theta) + n * sin(theta),
            y.diff() - v * sin(theta) - n * cos(theta),
            theta.diff() - w,
            phi.diff() - s,
        ],
        u_dependent=[n, w],
        velocity_constraints=[n, front_velocity.dot(wheels.y)],
        bodies=bodies,
        attach={0: (bodies[0], rear, ground, origin, body.y), 1: (bodies[1], front, ground, origin, wheels.y)},
        forcelist=[(rear, force * body.x), (wheels, torque * ground.z), (body, -torque * ground.z)],
        inputs=[force, torque],
        shapes={"body": Box(4.2, 1.7, 0.5), "front_axle": Box(0.65, 0.25, 0.65)},
        name="car",
    )
