# SPDX-License-Identifier: BSD-3-Clause
"""Stewart platform: a plate on six legs, each a cylinder with a piston, with a force in each leg.

Source: V. E. Gough 1956 and D. Stewart, "A platform with six degrees of freedom", *Proceedings of the Institution of
Mechanical Engineers* 180 (1965) 371-386; legs with mass, a universal joint at the base and a ball joint at the plate,
as B. Dasgupta & T. S. Mruthyunjaya, "A Newton-Euler formulation for the inverse dynamics of the Stewart platform
manipulator", *Mechanism and Machine Theory* 33 (1998) 1135-1152, have them; the numbers are this project's.

Joints on the base and on the plate are on circles of radius rb and rp at ±beta and ±gamma from three directions, 120°
apart, of the base's ones those between the plate's.  A leg turns by a about the base's n_x and by b about its own n_y;
d is the distance between its joints.  The cylinder's mass centre is at lc from the base joint, the piston's at lp from
the plate's.  The plate has coordinates of its own, the place of its mass centre and a quaternion e0 ... e3, with the
velocity in inertial axes and the angular velocity in its own as speeds; the joints of all six legs with the plate are
cut, 18 constraints for 24 speeds.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from kanecore.shapes import Disc

from ._building_blocks import vector
from ._dimensions import ACCELERATION, ANGLE, FORCE, INERTIA, LENGTH, MASS, NUMBER, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "g": 9.81,
    "rb": 0.5,
    "rp": 0.3,
    "beta": pi / 12,
    "gamma": pi / 10,
    "m": 12.0,
    "Ixx": 0.28,
    "Iyy": 0.3,
    "Izz": 0.55,
    "mc": 1.5,
    "lc": 0.22,
    "Jc": 0.024,
    "Jc_axial": 0.0009,
    "mp": 0.8,
    "lp": 0.2,
    "Jp": 0.011,
    "Jp_axial": 0.0001,
}

STATE = {
    "x": 0.02,
    "y": -0.03,
    "z": 0.55,
    "e0": 0.9906818782854048,
    "e1": 0.04953409391427024,
    "e2": -0.07925455026283239,
    "e3": 0.09906818782854047,
    "a1": -0.4526131468430504,
    "b1": -0.05861454062450693,
    "d1": 0.6571460338041085,
    "a2": 0.37659685511363195,
    "b2": -0.11676726804319756,
    "d2": 0.6553205078571918,
    "a3": 0.40016195443484487,
    "b3": -0.3589490538692751,
    "d3": 0.6538160685098267,
    "a4": 0.010591539694068222,
    "b4": 0.4353425646563915,
    "d4": 0.5838388475938819,
    "a5": 0.272007726232317,
    "b5": 0.5671767872083983,
    "d5": 0.6108399347934863,
    "a6": -0.2920703613420547,
    "b6": -0.2013803518432345,
    "d6": 0.5492941765181566,
    "vx": 0.1,
    "vy": 0.05,
    "vz": -0.04,
    "wx": 0.3,
    "wy": -0.2,
    "wz": 0.4,
    "ua1": -0.22327877941651333,
    "ub1": 0.17127551350867715,
    "ud1": 0.06957631318393072,
    "ua2": -0.23304617563982677,
    "ub2": 0.041166436721788664,
    "ud2": -0.013090440806533812,
    "ua3": -0.0004072325881920129,
    "ub3": -0.02081690042822111,
    "ud3": 0.01960341286126215,
    "ua4": 0.10271909095728897,
    "ub4": 0.09168599129593259,
    "ud4": -0.024528887036989896,
    "ua5": 0.08996714007071607,
    "ub5": 0.4054812119812536,
    "ud5": 0.004548282731705225,
    "ua6": -0.17023744557692982,
    "ub6": 0.3804164932137114,
    "ud6": -0.1437398508583308,
}

DIMENSIONS = (
    of("m mc mp", MASS)
    | of("Ixx Iyy Izz Jc Jc_axial Jp Jp_axial", INERTIA)
    | of("rb rp lc lp x y z", LENGTH)
    | of("beta gamma", ANGLE)
    | of("g", ACCELERATION)
    | of("e0 e1 e2 e3", NUMBER)
    | of("vx vy vz", VELOCITY)
    | of("wx wy wz", RATE)
    | {f"{name}{i}": d for i in range(1, 7) for name, d in (("a", ANGLE), ("b", ANGLE), ("d", LENGTH), ("f", FORCE))}
    | {f"{name}{i}": d for i in range(1, 7) for name, d in (("ua", RATE), ("ub", RATE), ("ud", VELOCITY))}
)


def build() -> Model:
    """The platform with the forces of its six legs as inputs, positive where they push."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.model import Model

    place, quaternion = me.dynamicsymbols("x y z"), me.dynamicsymbols("e0:4")
    v, w = me.dynamicsymbols("vx vy vz"), me.dynamicsymbols("wx wy wz")
    legs = range(1, 7)
    q = [me.dynamicsymbols(f"a{i} b{i} d{i}") for i in legs]
    u = [me.dynamicsymbols(f"ua{i} ub{i} ud{i}") for i in legs]
    forces = me.dynamicsymbols("f1:7")
    g, base_radius, plate_radius, beta, gamma, m = sm.symbols("g rb rp beta gamma m")
    mc, lc, jc, jc_axial, mp, lp, jp, jp_axial = sm.symbols("mc lc Jc Jc_axial mp lp Jp Jp_axial")

    ground, plate = me.ReferenceFrame("N"), me.ReferenceFrame("P")
    plate.orient_quaternion(ground, quaternion)
    plate.set_ang_vel(ground, vector(w, plate))
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("G", vector(place, ground))
    centre.set_vel(ground, vector(v, ground))
    bodies = [
        me.RigidBody("plate", centre, plate, m, (me.inertia(plate, *sm.symbols("Ixx Iyy Izz")), centre)),
    ]
    loads, rows = [], []
    for i, ((a, b, d), (ua, ub, _), force) in enumerate(zip(q, u, forces, strict=True)):
        third, side = sm.pi * sm.Rational(2 * (i // 2), 3), 1 if i % 2 else -1
        on_base = third + side * (sm.pi / 3 - beta)
        on_plate = third + side * gamma
        foot = origin.locatenew(f"B{i + 1}", base_radius * (cos(on_base) * ground.x + sin(on_base) * ground.y))
        ball = centre.locatenew(f"Q{i + 1}", plate_radius * (cos(on_plate) * plate.x + sin(on_plate) * plate.y))
        cross, leg = me.ReferenceFrame(f"U{i + 1}"), me.ReferenceFrame(f"L{i + 1}")
        cross.orient_axis(ground, ground.x, a)
        cross.set_ang_vel(ground, ua * ground.x)
        leg.orient_axis(cross, cross.y, b)
        leg.set_ang_vel(cross, ub * cross.y)
        cylinder, piston = foot.locatenew(f"C{i + 1}", lc * leg.z), foot.locatenew(f"D{i + 1}", (d - lp) * leg.z)
        bodies += [
            me.RigidBody(f"cylinder{i + 1}", cylinder, leg, mc, (me.inertia(leg, jc, jc, jc_axial), cylinder)),
            me.RigidBody(f"piston{i + 1}", piston, leg, mp, (me.inertia(leg, jp, jp, jp_axial), piston)),
        ]
        loads += [(piston, force * leg.z), (cylinder, -force * leg.z)]
        end = foot.locatenew(f"E{i + 1}", d * leg.z)
        rows += [(bodies[0], ball, bodies[-1], end, e) for e in ground]
    loads += [(body.masscenter, -body.mass * g * ground.z) for body in bodies]
    q_legs, u_legs = [x for leg in q for x in leg], [x for leg in u for x in leg]
    return Model(
        ground,
        [*place, *quaternion],
        [*v, *w],
        [
            *(x.diff() - rate for x, rate in zip([*place, *q_legs], [*v, *u_legs], strict=True)),
            *me.kinematic_equations(w, quaternion, "quaternion"),
        ],
        q_dependent=q_legs,
        configuration_constraints=[ball.pos_from(end).dot(e) for _, ball, _, end, e in rows],
        u_dependent=u_legs,
        bodies=bodies,
        attach=dict(enumerate(rows)),
        forcelist=loads,
        inputs=forces,
        shapes={"plate": Disc("rp")},
        name="stewart",
    )
