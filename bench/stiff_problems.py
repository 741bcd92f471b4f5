# SPDX-License-Identifier: BSD-3-Clause
"""Stiff motions, for `stiff.py` and for the tests of the package."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.biomechanics as bm
import sympy.physics.mechanics as me

import kanecore as kc

__all__ = ["PROBLEMS", "Problem", "arm", "damped_pendulum", "elastic_arm", "van_der_pol"]


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion from x0 to the time ``end``."""

    dyn: kc.CompiledModel
    x0: np.ndarray
    end: float
    inputs: kc.Signal | None = None

    def run(self, method: str, tolerance: float) -> kc.Trajectory:
        """With what the method gives at the end alone, so that nobody pays for interpolants."""
        options = {"rtol": tolerance, "atol": tolerance, "t_eval": [self.end], "dense_output": False}
        return self.dyn.simulate((0.0, self.end), self.x0, method=method, inputs=self.inputs, **options)


def van_der_pol() -> Problem:
    """Its oscillator as a particle on a line, mu = 1000; two relaxations."""
    q, u = me.dynamicsymbols("q u")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    point = origin.locatenew("P", q * frame.x)
    point.set_vel(frame, u * frame.x)
    mu = sm.Symbol("mu")
    load = (point, (mu * (1 - q**2) * u - q) * frame.x)
    body = me.Particle("P", point, 1)
    model = kc.Model(frame, [q], [u], [q.diff() - u], bodies=[body], forcelist=[load], name="van der Pol")
    return Problem(kc.compile(model, parameters={mu: 1e3}), np.array([2.0, 0.0]), 2000.0)


def damped_pendulum() -> Problem:
    """A pendulum of 1 kg and 1 m, whose damper of 1e5 N m s lets it creep down."""
    q, u = me.dynamicsymbols("q u")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    rod = frame.orientnew("A", "axis", (q, frame.z))
    rod.set_ang_vel(frame, u * frame.z)
    bob = origin.locatenew("P", rod.x)
    bob.set_vel(frame, u * rod.y)
    damping = sm.Symbol("c")
    loads = [(bob, 9.81 * frame.x), (rod, -damping * u * frame.z)]
    body = me.Particle("P", bob, 1)
    model = kc.Model(frame, [q], [u], [q.diff() - u], bodies=[body], forcelist=loads, name="damped pendulum")
    return Problem(kc.compile(model, parameters={damping: 1e5}), np.array([1.0, 0.0]), 1e5)


# An arm with two muscles ------------------------------------------------------------------------------------


class AroundElbow(me.PathwayBase):
    """A muscle's way around a pulley at the elbow: straight on both sides, with an arc that grows with the angle.

    By virtual work its tension is a torque between the upper arm and the lower one.
    """

    def __init__(
        self,
        ends: tuple[me.Point, me.Point],
        distances: tuple[Any, Any],
        arms: tuple[me.ReferenceFrame, me.ReferenceFrame],
        axis: me.Vector,
        radius: sm.Expr,
        angle: sm.Expr,
    ) -> None:
        """With the distances of the ends from the elbow, whose angle is that about the axis."""
        super().__init__(*ends)
        self.distances, self.arms, self.axis, self.radius, self.angle = distances, arms, axis, radius, angle

    @property
    def length(self) -> sm.Expr:
        straight = sum(sm.sqrt(d**2 - self.radius**2) for d in self.distances)
        return straight + self.radius * (self.angle + sum(sm.asin(self.radius / d) for d in self.distances))

    @property
    def extension_velocity(self) -> sm.Expr:
        return self.radius * self.angle.diff(me.dynamicsymbols._t)

    def to_loads(self, force: sm.Expr) -> list[me.Torque]:
        """Those of a force that drives the ends apart where it is positive."""
        upper, lower = self.arms
        torque = force * self.radius * self.axis
        return [me.Torque(lower, torque), me.Torque(upper, -torque)]


ARM = dict.fromkeys(["F_M_max_biceps", "F_M_max_triceps"], 500.0) | dict.fromkeys(["lC", "lD"], 0.3)
ARM |= {"dx": 0.31, "dy": 0.15, "dz": -0.31, "lA": 0.2, "mA": 1.0, "mC": 2.3, "mD": 1.7, "g": 9.81, "k": 5.0, "c": 0.5}
ARM |= {
    "r": 0.03,
    "l_M_opt_biceps": 0.18,
    "l_M_opt_triceps": 0.18,
    "l_T_slack_biceps": 0.165,
    "l_T_slack_triceps": 0.195,
}


def arm_model(tendons: bm.MusculotendonFormulation) -> kc.Model:
    """The arm that moves a lever of SymPy's documentation, "Biomechanical Model Example".

    Biceps and triceps are those of De Groote et al. (2016).  Their states, the activations a and with elastic tendons
    the tensions, are coordinates without a speed: first-order equations such as a' = f(a, e) are kinematical equations.
    The excitations e are inputs.  The moments of inertia are the source's, although no solid body has them.
    """
    q, u = me.dynamicsymbols("q1:5"), me.dynamicsymbols("u1:5")
    dx, dy, dz, g, k, c, r = sm.symbols("dx dy dz g k c r")
    lengths, masses = sm.symbols("lA lC lD"), sm.symbols("mA mC mD")
    ground, lever, shoulder_frame, upper, lower = (me.ReferenceFrame(name) for name in "NABCD")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    pivot = origin.locatenew("Ao", dx * ground.x)
    shoulder = origin.locatenew("P2", dy * ground.y + dz * ground.z)
    turns = [(ground, lever, ground.z), (ground, shoulder_frame, ground.y)]
    turns += [(shoulder_frame, upper, shoulder_frame.z), (upper, lower, upper.y)]
    for (parent, frame, axis), angle, speed in zip(turns, q, u, strict=True):
        frame.orient_axis(parent, axis, angle)
        frame.set_ang_vel(parent, speed * axis)
    grip = pivot.locatenew("P1", lengths[0] * lever.y)
    elbow = shoulder.locatenew("P3", lengths[1] * upper.z)
    hand = elbow.locatenew("P4", lengths[2] * lower.z)
    ends = shoulder.locatenew("Cm", lengths[1] / 3 * upper.z), elbow.locatenew("Dm", lengths[2] / 3 * lower.z)
    centres = pivot, shoulder.locatenew("Co", lengths[1] / 2 * upper.z), elbow.locatenew("Do", lengths[2] / 2 * lower.z)
    bodies = []
    for name, frame, centre, mass, length in zip(
        ("lever", "upper arm", "lower arm"), (lever, upper, lower), centres, masses, lengths, strict=True
    ):
        across, along = mass * length**2 / 12, mass * length**2 / 2
        moments = (across, along, across) if frame is lever else (across, across, along)
        bodies.append(me.RigidBody(name, centre, frame, mass, (me.inertia(frame, *moments), centre)))
    ways = {
        "biceps": me.LinearPathway(*ends),
        "triceps": AroundElbow(ends, (lengths[1] * 2 / 3, lengths[2] / 3), (upper, lower), upper.y, r, q[3]),
    }
    muscles = [
        bm.MusculotendonDeGroote2016.with_defaults(
            name,
            way,
            bm.FirstOrderActivationDeGroote2016.with_defaults(name),
            musculotendon_dynamics=tendons,
        )
        for name, way in ways.items()
    ]
    states = [(x, rate) for muscle in muscles for x, rate in zip(muscle.x, muscle.rhs(), strict=True)]
    first_order = [x.diff() - rate for x, rate in states]
    weights = [(body.masscenter, body.mass * g * ground.z) for body in bodies[1:]]
    return kc.Model(
        ground,
        [q[0], *(x for x, _ in states)],
        [u[0]],
        [*(angle.diff() - speed for angle, speed in zip(q, u, strict=True)), *first_order],
        q_dependent=q[1:],
        u_dependent=u[1:],
        configuration_constraints=list(hand.pos_from(grip).to_matrix(ground)),
        bodies=bodies,
        forcelist=[*muscles, *weights, (lever, (-k * q[0] - c * u[0]) * ground.z)],
        inputs=[muscle.r[0] for muscle in muscles],
        name="arm",
    )


def _arm(tendons: bm.MusculotendonFormulation, parameters: dict[str, float], rest: float, **muscles: float) -> Problem:
    """From rest at a lever angle of 5 degrees; the biceps is excited by 0.8 from 0.5 to 1.5 s, else all by ``rest``."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no solid body")
        dyn = kc.compile(arm_model(tendons), parameters=parameters)
    angles = {"q1": 5.0, "q2": -10.0, "q3": 0.0, "q4": 75.0}  # the last three are a guess
    guess = {name: np.deg2rad(angle) for name, angle in angles.items()}
    # the inputs are e and their rates, which are zero between the jumps
    resting = {name: 0.0 if name.endswith("_d") else rest for name in dyn.input_names}
    rows = [list((resting | excited).values()) for excited in ({}, {"e_biceps": 0.8}, {}, {})]
    x0 = dyn.consistent(0.0, dyn.state(**guess, **muscles), r=resting)
    return Problem(dyn, x0, 3.0, kc.Signal([0.0, 0.5, 1.5, 3.0], rows))


def arm() -> Problem:
    """As SymPy's documentation has it, with rigid tendons: hardly stiff."""
    return _arm(bm.MusculotendonFormulation.RIGID_TENDON, ARM, 0.0)


def elastic_arm() -> Problem:
    """With elastic tendons: the fastest eigenvalue is between -4e3 and -1.4e4 1/s all along.

    The muscles are never without activation, by which their equations divide.  The tendon of the biceps is shorter:
    beside the source's its fibres would be a third as long as they like.
    """
    resting = dict.fromkeys(["a_biceps", "a_triceps"], 0.05) | dict.fromkeys(
        ["F_T_tilde_biceps", "F_T_tilde_triceps"], 0.02
    )
    tendons = bm.MusculotendonFormulation.TENDON_FORCE_EXPLICIT
    return _arm(tendons, ARM | {"l_T_slack_biceps": 0.1}, 0.05, **resting)


#: All of them, by name.
PROBLEMS = {make.__name__: make for make in (van_der_pol, damped_pendulum, arm, elastic_arm)}
