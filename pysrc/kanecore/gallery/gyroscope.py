# SPDX-License-Identifier: BSD-3-Clause
"""Gyroscope: a rotor in two gimbals, balanced, the inertia of all three bodies counted.

Source: K. Magnus, *Kreisel: Theorie und Anwendungen*, Springer 1971, the gyroscope in gimbals.  The outer gimbal turns
by psi about the vertical n_z, the inner one by theta about a_x of the outer, the rotor by phi about b_y of the inner.
The three axes meet in O; they are perpendicular at theta = 0, and at theta = ±π/2 the first and the last are one.  The
speeds are the joint rates.  Torques tau_outer, tau_inner and tau_motor act at the joints, each on a body and back on
what carries it.  The values are those of a brass rotor in two aluminium rings.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, INERTIA, MASS, RATE, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "m_outer": 0.3,
    "m_inner": 0.2,
    "m_rotor": 1.0,
    "A_x": 1.35e-3,
    "A_y": 2.7e-3,
    "A_z": 1.35e-3,
    "B_x": 5.6e-4,
    "B_y": 5.6e-4,
    "B_z": 1.12e-3,
    "C_axial": 1.8e-3,
    "C_across": 9.33e-4,
}

DIMENSIONS = (
    of("m_outer m_inner m_rotor", MASS)
    | of("A_x A_y A_z B_x B_y B_z C_across C_axial", INERTIA)
    | of("psi theta phi", ANGLE)
    | of("u1 u2 u3", RATE)
    | of("tau_outer tau_inner tau_motor", TORQUE)
)


def build() -> Model:
    """The gyroscope with the torques at its three axes as inputs."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q = me.dynamicsymbols("psi theta phi")
    u = me.dynamicsymbols("u1:4")
    torques = me.dynamicsymbols("tau_outer tau_inner tau_motor")
    axial, across = sm.symbols("C_axial C_across")
    masses = sm.symbols("m_outer m_inner m_rotor")

    ground, outer, inner, rotor = (me.ReferenceFrame(name) for name in "NABC")
    joints = [(ground, ground.z, outer), (outer, outer.x, inner), (inner, inner.y, rotor)]
    tensors = (sm.symbols("A_x:z"), sm.symbols("B_x:z"), (across, axial, across))
    centre = me.Point("O")
    centre.set_vel(ground, 0)
    bodies, loads = [], []
    for k, (carrier, axis, frame) in enumerate(joints):
        frame.orient_axis(carrier, axis, q[k])
        frame.set_ang_vel(carrier, u[k] * axis)
        loads.append((frame, torques[k] * axis))
        if carrier is not ground:
            loads.append((carrier, -torques[k] * axis))
        name = str(masses[k]).removeprefix("m_")
        bodies.append(me.RigidBody(name, centre, frame, masses[k], (me.inertia(frame, *tensors[k]), centre)))
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        bodies=bodies,
        forcelist=loads,
        inputs=torques,
        name="gyroscope",
    )
