# SPDX-License-Identifier: BSD-3-Clause
"""Carvallo's and Whipple's bicycle, nonlinear: rear frame with a rigid rider, front frame, two knife-edged wheels.

Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina & A. L. Schwab, "Linearized dynamics equations for the balance and
steer of a bicycle: a benchmark and review", *Proceedings of the Royal Society A* 463 (2007) 1955-1982, with its
parameters (Table 1) and axes: x forward, y to the right, z down.  (x, y) is the contact of the rear wheel, psi the yaw,
phi the roll to the right, th the pitch of the rear frame (zero upright), delta the steer to the right, thR and thF the
turns of the wheels about their axles: rolling forwards they are negative.  The speeds are the rates.  The pitch follows
from the front wheel's touching the ground, of which the rate is the fifth constraint after the four of rolling; uphi,
udelta and uthR are independent.  Inputs are the roll torque Tphi on the rear frame and the steer torque Tdelta between
the frames.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from kanecore.shapes import Disc

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "w": 1.02,
    "c": 0.08,
    "lam": pi / 10,
    "g": 9.81,
    "rR": 0.3,
    "mR": 2.0,
    "IRxx": 0.0603,
    "IRyy": 0.12,
    "xB": 0.3,
    "zB": -0.9,
    "mB": 85.0,
    "IBxx": 9.2,
    "IByy": 11.0,
    "IBzz": 2.8,
    "IBxz": 2.4,
    "xH": 0.9,
    "zH": -0.7,
    "mH": 4.0,
    "IHxx": 0.05892,
    "IHyy": 0.06,
    "IHzz": 0.00708,
    "IHxz": -0.00756,
    "rF": 0.35,
    "mF": 3.0,
    "IFxx": 0.1405,
    "IFyy": 0.28,
}

STATE = {
    "x": 0.0,
    "y": 0.0,
    "psi": 0.0,
    "phi": 0.05,
    "delta": 0.04,
    "thR": 0.0,
    "thF": 0.0,
    "th": -0.00016679032163810658,
    "uphi": 0.1,
    "udelta": -0.2,
    "uthR": -15.0,
    "ux": 4.499812709130766,
    "uy": 0.0,
    "upsi": 0.15335999105336548,
    "uthF": -12.86617329174837,
    "uth": 0.000624302897446108,
}

DIMENSIONS = (
    of("mR mB mH mF", MASS)
    | of("IRxx IRyy IBxx IByy IBzz IBxz IHxx IHyy IHzz IHxz IFxx IFyy", INERTIA)
    | of("w c rR rF xB zB xH zH x y", LENGTH)
    | of("g", ACCELERATION)
    | of("lam psi phi delta thR thF th", ANGLE)
    | of("ux uy", VELOCITY)
    | of("uphi udelta uthR upsi uthF uth", RATE)
    | of("Tphi Tdelta", TORQUE)
)


def build() -> Model:
    """The bicycle with the torques of roll and steer as inputs."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q = x, y, psi, phi, delta, roll_rear, roll_front, th = me.dynamicsymbols("x y psi phi delta thR thF th")
    rates = me.dynamicsymbols("ux uy upsi uphi udelta uthR uthF uth")
    ux, uy, upsi, uphi, udelta, u_rear, u_front, uth = rates
    roll_torque, steer_torque = me.dynamicsymbols("Tphi Tdelta")
    p = {name: sm.Symbol(name) for name in PARAMETERS}
    offset = p["w"] + p["c"]  # of the steer axis on the ground

    ground, heading, leaning, rear_frame, tilted, steered, front_frame, rear_wheel, front_wheel = (
        me.ReferenceFrame(name) for name in ("N", "A1", "A2", "B", "S", "S1", "H", "R", "F")
    )
    for frame, carrier, axis, angle, rate in (
        (heading, ground, ground.z, psi, upsi),
        (leaning, heading, heading.x, phi, uphi),
        (rear_frame, leaning, leaning.y, th, uth),
        (tilted, rear_frame, rear_frame.y, p["lam"], 0),
        (steered, tilted, tilted.z, delta, udelta),
        (front_frame, steered, steered.y, -p["lam"], 0),  # along the rear frame when delta is zero
        (rear_wheel, rear_frame, rear_frame.y, roll_rear, u_rear),
        (front_wheel, front_frame, front_frame.y, roll_front, u_front),
    ):
        frame.orient_axis(carrier, axis, angle)
        frame.set_ang_vel(carrier, rate * axis)

    origin = me.Point("O")
    origin.set_vel(ground, 0)
    contact = origin.locatenew("P", x * ground.x + y * ground.y)
    rear = contact.locatenew("Ro", -p["rR"] * leaning.z)
    rider = rear.locatenew("Bo", p["xB"] * rear_frame.x + (p["zB"] + p["rR"]) * rear_frame.z)
    steer = rear.locatenew("K", offset * rear_frame.x + p["rR"] * rear_frame.z)
    handlebar = steer.locatenew("Ho", (p["xH"] - offset) * front_frame.x + p["zH"] * front_frame.z)
    front = steer.locatenew("Fo", -p["c"] * front_frame.x - p["rF"] * front_frame.z)

    # velocities of the axles, and of the points of the wheels on the ground
    contact.set_vel(ground, ux * ground.x + uy * ground.y)
    rear.set_vel(ground, contact.vel(ground) + leaning.ang_vel_in(ground).cross(-p["rR"] * leaning.z))
    for point, start, carrier in (
        (rider, rear, rear_frame),
        (steer, rear, rear_frame),
        (handlebar, steer, front_frame),
        (front, steer, front_frame),
    ):
        point.v2pt_theory(start, ground, carrier)
    sink = front_frame.y.dot(ground.z)
    upright = sm.sqrt(1 - sink**2)
    lowest = p["rF"] / upright * (ground.z - sink * front_frame.y)
    touching = []
    for name, axle, wheel, arm in (("Rt", rear, rear_wheel, p["rR"] * leaning.z), ("Ft", front, front_wheel, lowest)):
        touching.append(axle.locatenew(name, arm))
        touching[-1].set_vel(ground, axle.vel(ground) + wheel.ang_vel_in(ground).cross(arm))

    tensors = {
        "rear_wheel": (rear, rear_frame, rear_wheel, "R", (p["IRxx"], p["IRyy"], p["IRxx"])),
        "rear_frame": (rider, rear_frame, rear_frame, "B", (p["IBxx"], p["IByy"], p["IBzz"], 0, 0, p["IBxz"])),
        "front_frame": (handlebar, front_frame, front_frame, "H", (p["IHxx"], p["IHyy"], p["IHzz"], 0, 0, p["IHxz"])),
        "front_wheel": (front, front_frame, front_wheel, "F", (p["IFxx"], p["IFyy"], p["IFxx"])),
    }
    bodies = [
        me.RigidBody(name, centre, frame, p[f"m{letter}"], (me.inertia(axes, *tensor), centre))
        for name, (centre, axes, frame, letter, tensor) in tensors.items()
    ]
    loads = [(body.masscenter, body.mass * p["g"] * ground.z) for body in bodies]
    loads += [(rear_frame, roll_torque * heading.x - steer_torque * tilted.z), (front_frame, steer_torque * tilted.z)]
    along = heading.x, heading.y
    rows = [(bodies[0], touching[0], ground, origin, e) for e in along]
    rows += [(bodies[3], touching[1], ground, origin, e) for e in (*along, ground.z)]
    return Model(
        ground,
        q[:-1],
        [uphi, udelta, u_rear],
        [q_i.diff() - u_i for q_i, u_i in zip(q, rates, strict=True)],
        q_dependent=[th],
        configuration_constraints=[front.pos_from(origin).dot(ground.z) + p["rF"] * upright],
        u_dependent=[ux, uy, upsi, u_front, uth],
        velocity_constraints=[point.vel(ground).dot(e) for point in touching for e in along],
        bodies=bodies,
        attach=dict(enumerate(rows)),
        forcelist=loads,
        inputs=[roll_torque, steer_torque],
        shapes={"rear_wheel": Disc(p["rR"], "y"), "front_wheel": Disc(p["rF"], "y")},
        name="whipple_bicycle",
    )
