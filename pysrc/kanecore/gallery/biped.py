# SPDX-License-Identifier: BSD-3-Clause
"""Planar biped: a torso, free in the sagittal plane, and two legs of thigh, shank and foot.

Source: D. A. Winter, *Biomechanics and Motor Control of Human Movement*, 4th edition, Wiley 2009: masses, mass centres
and central radii of gyration of table 4.1, which counts head, arms and trunk as one; lengths of figure 4.1, after
Drillis & Contini.  They are fractions of the body's mass and height, and of the segment's length, here of a person of
70 kg and 1.75 m.  x is forward, z up; all joints turn about n_y, so that knees bend with positive angles, hips and
ankles with negative ones.  At zero the person stands upright, the feet ahead of the ankles and as high.  There is no
ground: its forces would be loads at the feet.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    import sympy.physics.mechanics as me

    from kanecore.model import Model


PERSON_MASS, HEIGHT = 70.0, 1.75
# Of mass, of height; of the length: mass centre from the proximal end, central radius of gyration.
SEGMENTS = {
    "torso": (0.678, 0.818 - 0.530, 0.626, 0.496),
    "thigh": (0.100, 0.530 - 0.285, 0.433, 0.323),
    "shank": (0.0465, 0.285 - 0.039, 0.433, 0.302),
    "foot": (0.0145, 0.152, 0.5, 0.475),
}
PARAMETERS = {"g": 9.81}
for _name, (_mass, _length, _centre, _gyration) in SEGMENTS.items():
    PARAMETERS |= {
        f"m_{_name}": _mass * PERSON_MASS,
        f"c_{_name}": _centre * _length * HEIGHT,
        f"I_{_name}": _mass * PERSON_MASS * (_gyration * _length * HEIGHT) ** 2,
    }
    if _name in ("thigh", "shank"):
        PARAMETERS[f"l_{_name}"] = _length * HEIGHT

DIMENSIONS = (
    of("g", ACCELERATION)
    | of("x z", LENGTH)
    | of("v_x v_z", VELOCITY)
    | of("pitch", ANGLE)
    | of("omega", RATE)
    | {f"{quantity}_{name}": d for name in SEGMENTS for quantity, d in (("m", MASS), ("c", LENGTH), ("I", INERTIA))}
    | of("l_thigh l_shank", LENGTH)
    | {
        f"{prefix}{joint}_{side}": d
        for joint in ("hip", "knee", "ankle")
        for side in ("left", "right")
        for prefix, d in (("", ANGLE), ("omega_", RATE), ("tau_", TORQUE))
    }
)


def build() -> Model:
    """The biped with joint torques, each on a segment and back on the one above, as inputs.

    q: place x, z of the hips, pitch of the torso, then hip, knee and ankle of the left and of the right leg; u = q̇.
    Outputs: where the mass centre of the whole is.
    """
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    joints = [f"{joint}_{side}" for side in ("left", "right") for joint in ("hip", "knee", "ankle")]
    q = me.dynamicsymbols(["x", "z", "pitch", *joints])
    u = me.dynamicsymbols(["v_x", "v_z", "omega", *(f"omega_{name}" for name in joints)])
    torques = dict(zip(joints, me.dynamicsymbols([f"tau_{name}" for name in joints]), strict=True))
    angles, rates = dict(zip(joints, q[3:], strict=True)), dict(zip(joints, u[3:], strict=True))

    ground = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    hips = origin.locatenew("H", q[0] * ground.x + q[1] * ground.z)
    hips.set_vel(ground, u[0] * ground.x + u[1] * ground.z)
    torso = me.ReferenceFrame("T")
    torso.orient_axis(ground, ground.y, q[2])
    torso.set_ang_vel(ground, u[2] * ground.y)
    trunk = _segment("torso", "", hips, torso, torso.z)
    bodies, loads, carried = [trunk], [], {"root": (ground, trunk, hips)}
    for side in ("left", "right"):
        joint, frame, carrier = hips, torso, trunk
        for name, segment in (("hip", "thigh"), ("knee", "shank"), ("ankle", "foot")):
            here = f"{name}_{side}"
            moved = me.ReferenceFrame(f"{segment}_{side}")
            moved.orient_axis(frame, frame.y, angles[here])
            moved.set_ang_vel(frame, rates[here] * frame.y)
            loads += [(moved, torques[here] * ground.y), (frame, -torques[here] * ground.y)]
            body = _segment(segment, f"_{side}", joint, moved, moved.x if segment == "foot" else -moved.z)
            bodies.append(body)
            carried[here] = (carrier, body, joint)
            if segment != "foot":
                joint = joint.locatenew(f"{segment}_end_{side}", -sm.Symbol(f"l_{segment}") * moved.z)
            frame, carrier = moved, body
    loads += [(body.masscenter, -body.mass * sm.Symbol("g") * ground.z) for body in bodies]
    mass = sum(body.mass for body in bodies)
    centre = sum((body.mass / mass * body.masscenter.pos_from(origin) for body in bodies), me.Vector(0))
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        inputs=list(torques.values()),
        joints=carried,
        outputs={"centre_x": centre.dot(ground.x), "centre_z": centre.dot(ground.z)},
        name="biped",
    )


def _segment(name: str, side: str, joint: me.Point, frame: me.ReferenceFrame, along: me.Vector) -> me.RigidBody:
    """A segment whose mass centre lies ``along`` from its proximal joint."""
    import sympy as sm
    import sympy.physics.mechanics as me

    mass, distance, moment = sm.symbols(f"m_{name} c_{name} I_{name}")
    centre = joint.locatenew(f"C_{name}{side}", distance * along)
    inertia = me.inertia(frame, moment, moment, moment)  # only yy matters in the plane
    return me.RigidBody(f"{name}{side}", centre, frame, mass, (inertia, centre))
