# SPDX-License-Identifier: BSD-3-Clause
"""Snakeboard: a board on two trucks that turn, whose wheels do not slip sideways.

Source: J. K. Moore, *Learn Multibody Dynamics*, chapter on equations of motion with nonholonomic constraints, with its
symbols; the device of J. Ostrowski, A. Lewis, R. Murray & J. Burdick, "Nonholonomic mechanics and locomotion: the
snakeboard example", ICRA 1994.  (q1, q2) is the middle of the board, q3 its heading, q4 and q5 the angles of the front
and the rear truck from it; board and trucks have the mass m and the moment of inertia I.  The speeds are the rates,
but u3 = l q̇3/2.  u1 and u2 depend on the others; where both trucks turn alike they cannot (the board then moves
straight, u3 = 0), and the package takes others.  Torques tau_B and tau_C turn the trucks.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"l": 0.7, "I": 0.1, "m": 1.0}

# u1 and u2 from the rest: the board turns about the point where the axles meet.
STATE = {
    "q1": 0.0,
    "q2": 0.0,
    "q3": 0.0,
    "q4": 0.3,
    "q5": -0.2,
    "u3": 0.5,
    "u4": 0.1,
    "u5": -0.05,
    "u1": 1.952948452245825,
    "u2": 0.10411774989864184,
}

DIMENSIONS = (
    of("m", MASS)
    | of("I", INERTIA)
    | of("l q1 q2", LENGTH)
    | of("q3 q4 q5", ANGLE)
    | of("u1 u2 u3", VELOCITY)
    | of("u4 u5", RATE)
    | of("tau_B tau_C", TORQUE)
)


def build() -> Model:
    """The snakeboard with the torques at its trucks as inputs."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q = me.dynamicsymbols("q1:6")
    u1, u2, u3, u4, u5 = me.dynamicsymbols("u1:6")
    torques = me.dynamicsymbols("tau_B tau_C")
    length, moment, m = sm.symbols("l I m")

    ground, board = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    board.orient_axis(ground, ground.z, q[2])
    board.set_ang_vel(ground, 2 * u3 / length * ground.z)
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    middle = origin.locatenew("Ao", q[0] * ground.x + q[1] * ground.y)
    velocity = u1 * ground.x + u2 * ground.y
    bodies = [me.RigidBody("board", middle, board, m, (me.inertia(board, 0, 0, moment), middle))]
    loads: list[tuple[me.ReferenceFrame, me.Vector]] = []
    slips: list[sm.Expr] = []
    attach = {}
    for name, end, angle, rate, torque in (("B", 1, q[3], u4, torques[0]), ("C", -1, q[4], u5, torques[1])):
        truck = me.ReferenceFrame(name)
        truck.orient_axis(board, board.z, angle)
        truck.set_ang_vel(board, rate * board.z)
        axle = middle.locatenew(f"{name}o", end * length / 2 * board.x)
        bodies.append(me.RigidBody(f"truck_{name}", axle, truck, m, (me.inertia(truck, 0, 0, moment), axle)))
        loads += [(truck, torque * ground.z), (board, -torque * ground.z)]
        attach[len(slips)] = bodies[-1], axle, ground, origin, truck.y
        slips.append((velocity + end * u3 * board.y).dot(truck.y))
    return Model(
        ground,
        q,
        [u3, u4, u5],
        [u1 - q[0].diff(), u2 - q[1].diff(), u3 - length * q[2].diff() / 2, u4 - q[3].diff(), u5 - q[4].diff()],
        u_dependent=[u1, u2],
        velocity_constraints=slips,
        bodies=bodies,
        attach=attach,
        forcelist=loads,
        inputs=torques,
        name="snakeboard",
    )
