# SPDX-License-Identifier: BSD-3-Clause
"""Friction of joints by their reactions: loads in symbols of these, for :mod:`.determined_reactions`.

The torque μ (r_p (F_r + T_b/l_b) + r_f |F_a|) + T_0, times tanh(ω r_p/v_t), acts against ω, with the parts of the
reaction across the axis (F_r, T_b) and along it (F_a).  With bristles, σ₀ z + σ₁ ż replaces the tanh; z is a state with
ż = s − σ₀ |s| z, and s = ω r_p (Canudas de Wit et al. 1995).
"""

from __future__ import annotations

from dataclasses import replace

from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description, Load
from kanecore.describe.joints import GROUND
from kanecore.describe.load_makers import JointFriction
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.calculus import Tangent
from kanecore.graph.expression_graph import ACCELERATION, STATE, Op
from kanecore.graph.vectors import ZERO, Components, dot, length, neg, scale, sub
from kanecore.graph.zero_tests import equal

from .bristles import Bristle, Bristles, utilization, with_bristles

__all__ = ["with_joint_friction"]


def with_joint_friction(d: Description) -> Description:
    """Description in which joint frictions are replaced by their loads."""
    if not d.frictions:
        return d
    k, loads, bristles = Kinematics(d), [*d.loads], list[Bristles]()
    for friction in d.frictions:
        loads += _loads(k, friction, bristles)
    loads.sort(key=lambda load: load.number)
    d = with_bristles(d, bristles, "joint", "write one friction for a joint")
    return replace(d, loads=tuple(loads), frictions=())


def _loads(k: Kinematics, friction: JointFriction, bristles: list[Bristles]) -> list[Load]:
    """The torque on the child and its opposite on the parent; a state of bristles is added to ``bristles``."""
    g, d = k.graph, k.description
    names = [joint.name for joint in d.joints]
    if friction.joint not in names:
        raise unknown_name("joint", friction.joint, names)
    joint = d.joints[names.index(friction.joint)]
    child = d.bodies[joint.child].frame
    parent = 0 if joint.parent == GROUND else d.bodies[joint.parent].frame
    if child < 0 or parent < 0:
        raise ModelError(
            f"joint {friction.joint} joins a particle, which does not turn: friction of joints is about an axis; make "
            "it a RigidBody"
        )
    omega = sub(g, k.resolve(k.omega[child], child, child), k.resolve(k.omega[parent], parent, child))
    axis = _axis(k, omega, friction.joint)
    symbols = [g.symbol(("R", friction.joint, i), ACCELERATION) for i in range(6)]
    force = k.resolve((symbols[0], symbols[1], symbols[2]), 0, child)
    moment = k.resolve((symbols[3], symbols[4], symbols[5]), 0, child)
    pressed = _across(k, force, axis)
    if friction.bending_arm:
        pressed = g.add(pressed, g.div(_across(k, moment, axis), friction.bending_arm))
    along = g.mul(friction.friction_arm, g.call(Op.ABS, dot(g, force, axis)))
    size = g.add(g.mul(friction.mu, g.add(g.mul(friction.pin_radius, pressed), along)), friction.preload)
    slip = g.mul(dot(g, omega, axis), friction.pin_radius)
    if friction.bristle_stiffness:
        bristle = _bristle(k, friction, slip)
        used = utilization(g, [g.mul(friction.bristle_stiffness, bristle.state)], g.one)
        bristles.append(Bristles(friction.joint, [bristle], used))
        share = bristle.pull(g, friction.bristle_stiffness, friction.bristle_damping)
    else:
        share = g.call(Op.TANH, g.div(slip, friction.transition_velocity))
    torque = scale(g, g.neg(g.mul(size, share)), axis)
    loads = [Load("torque", child, ((child, torque),), friction.number or 0)]
    if parent:
        loads.append(Load("torque", parent, ((child, neg(g, torque)),), friction.number or 0))
    return loads


def _bristle(k: Kinematics, friction: JointFriction, slip: int) -> Bristle:
    """Deflection z of the bristles, and ż = s − σ₀ |s| z."""
    g, name = k.graph, f"{friction.joint}_bristle"
    z = g.symbol(("z", name), STATE)
    return Bristle(name, z, g.sub(slip, g.mul(g.mul(friction.bristle_stiffness, length(g, [slip])), z)))


def _axis(k: Kinematics, omega: Components, joint: str) -> Components:
    """Unit vector of the only axis of a joint, resolved as its angular velocity."""
    g = k.graph
    partials = []
    for u in k.description.speeds:
        of = Tangent(g, {u: g.one}).of
        partials.append((of(omega[0]), of(omega[1]), of(omega[2])))
    turning = [v for v in partials if v != ZERO]
    if not turning:
        raise ModelError(f"joint {joint} does not turn: friction of joints is about the axis of a pin")
    first = min(turning, key=lambda v: len(g.below(v)))
    size = g.sqrt(dot(g, first, first))
    axis = (g.div(first[0], size), g.div(first[1], size), g.div(first[2], size))
    pairs = [(x, y) for v in turning for x, y in zip(v, scale(g, dot(g, v, axis), axis), strict=True)]
    if not equal(g, pairs, [x for pair in pairs for x in pair], otherwise=False):
        raise ModelError(f"joint {joint} turns about several axes: friction of joints is about the axis of a pin")
    return axis


def _across(k: Kinematics, v: Components, axis: Components) -> int:
    """Size of the part of a vector across an axis."""
    g = k.graph
    part = sub(g, v, scale(g, dot(g, v, axis), axis))
    return length(g, part)
