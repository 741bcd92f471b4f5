# SPDX-License-Identifier: BSD-3-Clause
"""Bricard's mechanism: five rods and the ground in a loop of six hinges, which moves though a count says it cannot.

Source: R. Bricard, "Mémoire sur la théorie de l'octaèdre articulé", *Journal de mathématiques pures et appliquées* 3
(1897) 113-148; with the dimensions of problem A04 of the IFToMM benchmark library (M. González, D. Dopico, U. Lugrís &
J. Cuadrado, "A benchmarking system for MBS simulation software", *Multibody System Dynamics* 16 (2006) 179-190): rods
of length L and mass m with a square section of width h, gravity along -n_y.  At zero angles the rods and the ground are
six edges of a cube, along x, y, z, -x, -y and -z one after the other, and each hinge is along the third direction of
the two that meet there.  The sixth hinge, between the last rod and the ground, is cut: three rows close the positions
and two the axes.  The five rows are independent everywhere but where the loop is closed, and four of them there: that
one is redundant shows at numbers only.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"g": 9.81, "m": 1.0, "L": 1.0, "h": 0.1}

STATE = {
    "q1": 0.0,
    "q2": 0.0,
    "q3": 0.0,
    "q4": 0.0,
    "q5": 0.0,
    "u1": 0.0,
    "u2": 0.0,
    "u3": 0.0,
    "u4": 0.0,
    "u5": 0.0,
}

# Direction of each rod with its sign, and axis of the hinge before it; then the hinge that is cut.
RODS = ((0, 1, 1), (1, 1, 2), (2, 1, 0), (0, -1, 1), (1, -1, 2))
CUT_AXIS = 0

DIMENSIONS = (
    of("m", MASS) | of("L h", LENGTH) | of("g", ACCELERATION) | of("q1 q2 q3 q4 q5", ANGLE) | of("u1 u2 u3 u4 u5", RATE)
)


def build() -> Model:
    """The mechanism; all five angles stand as independent ones, since any of them may fail to tell the others."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q, u = me.dynamicsymbols("q1:6"), me.dynamicsymbols("u1:6")
    g, m, length, width = sm.symbols("g m L h")
    along, across = m * width**2 / 6, m * (length**2 + width**2) / 12

    ground = frame = me.ReferenceFrame("N")
    origin = joint = me.Point("O")
    origin.set_vel(ground, 0)
    bodies, loads = [], []
    for k, (direction, sign, axis) in enumerate(RODS):
        rod = me.ReferenceFrame(f"A{k + 1}")
        rod.orient_axis(frame, list(frame)[axis], q[k])
        rod.set_ang_vel(frame, u[k] * list(frame)[axis])
        ahead = sign * length * list(rod)[direction]
        centre = joint.locatenew(f"C{k + 1}", ahead / 2)
        inertia = me.inertia(rod, *(along if i == direction else across for i in range(3)))
        bodies.append(me.RigidBody(f"rod{k + 1}", centre, rod, m, (inertia, centre)))
        loads.append((centre, -m * g * ground.y))
        joint, frame = joint.locatenew(f"P{k + 1}", ahead), rod
    gap = joint.pos_from(origin) - length * ground.z
    hinge, sides = list(ground)[CUT_AXIS], [e for i, e in enumerate(frame) if i != CUT_AXIS]
    attach = {i: (bodies[-1], joint, ground, origin, e) for i, e in enumerate(ground)}
    attach |= {3 + i: (bodies[-1], frame, ground, ground, e.cross(hinge)) for i, e in enumerate(sides)}
    return Model(
        ground,
        q,
        u,
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        configuration_constraints=[*(gap.dot(e) for e in ground), *(hinge.dot(e) for e in sides)],
        bodies=bodies,
        attach=attach,
        forcelist=loads,
        name="bricard",
    )
