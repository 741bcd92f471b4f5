# SPDX-License-Identifier: BSD-3-Clause
"""Cart on a rail with a pole hinged to it, the benchmark of control.

Source: *Control Tutorials for MATLAB and Simulink*, University of Michigan, "Inverted Pendulum: System Modeling", with
its symbols and values: a cart of mass M with viscous friction b, pushed by the force F; a pole of mass m and central
moment of inertia I, its mass centre at the distance l from the hinge: a uniform rod of length 2 l.  theta is the pole's
angle from hanging, counterclockwise, so that it is upright at π; the speeds are v = ẋ and omega = θ̇.
Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, FORCE, FRICTION, INERTIA, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"M": 0.5, "m": 0.2, "b": 0.1, "l": 0.3, "I": 0.006, "g": 9.8}

DIMENSIONS = (
    of("M m", MASS)
    | of("I", INERTIA)
    | of("l x", LENGTH)
    | of("b", FRICTION)
    | of("g", ACCELERATION)
    | of("theta", ANGLE)
    | of("v", VELOCITY)
    | of("omega", RATE)
    | of("F", FORCE)
)


def build() -> Model:
    """Cart and pole, the force F on the cart as input."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model
    from kanecore.shapes import Box

    x, theta, v, omega, force = me.dynamicsymbols("x theta v omega F")
    cart_mass, m, b, length, inertia, g = sm.symbols("M m b l I g")

    ground, pole = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    pole.orient_axis(ground, ground.z, theta)
    pole.set_ang_vel(ground, omega * ground.z)
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    hinge = origin.locatenew("C", x * ground.x)
    hinge.set_vel(ground, v * ground.x)
    centre = hinge.locatenew("G", -length * pole.y)
    bodies = [
        me.Particle("cart", hinge, cart_mass),
        me.RigidBody("pole", centre, pole, m, (me.inertia(pole, inertia, 0, inertia), centre)),
    ]
    loads = [
        (hinge, (force - b * v) * ground.x),
        (hinge, -cart_mass * g * ground.y),
        (centre, -m * g * ground.y),
    ]
    return Model(
        ground,
        [x, theta],
        [v, omega],
        [x.diff() - v, theta.diff() - omega],
        bodies=bodies,
        forcelist=loads,
        shapes={"cart": Box(0.2, 0.1, 0.1)},
        name="cart_pole",
    )
