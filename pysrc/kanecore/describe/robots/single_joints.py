# SPDX-License-Identifier: BSD-3-Clause
"""Joints with one coordinate: names of coordinates, speeds and efforts, mimics, springs, damping, dry friction.

Coordinate, speed and effort of joint J are ``q_J``, ``u_J`` and ``tau_J``; `joint_motions` names those of other joints.
"""

from __future__ import annotations

from collections.abc import Mapping

from kanecore.describe.builder import Builder
from kanecore.graph.expression_graph import Op
from kanecore.graph.vectors import Components, cross, dot

from .number_nodes import number
from .placed_links import FramePoint
from .robot import Joint
from .robot_options import RobotOptions

__all__ = ["SingleJoints", "wrench_pair"]


class SingleJoints:
    """Nodes of joints with one coordinate each.

    Parameters
    ----------
    builder : Builder
    joints : mapping of str to Joint
        All joints, among them those that others follow.
    options : RobotOptions
        Of damping and parameters.
    friction : float or None
        The speed over which dry friction turns; None: joints have none.
    armature : mapping of str to float
        Reflected inertias of rotors, kg m² or kg, by joint.
    """

    def __init__(
        self,
        builder: Builder,
        joints: Mapping[str, Joint],
        options: RobotOptions,
        friction: float | None,
        armature: Mapping[str, float],
    ) -> None:
        self._builder, self._joints, self._options, self._friction = builder, joints, options, friction
        self._armature = armature
        self.values: dict[str, float] = {}  # of parameters
        self._states: dict[str, tuple[int, int]] = {}

    def state(self, joint: Joint) -> tuple[int, int]:
        """Nodes of q and u; a joint that follows another one has those of that joint, scaled."""
        b, g = self._builder, self._builder.graph
        if joint.name in self._states:  # another one follows it, and came before
            return self._states[joint.name]
        if joint.mimic is None:
            q, u = b.coordinate(f"q_{joint.name}"), b.speed(f"u_{joint.name}")
            b.rate(q, u)
        else:
            leader_q, leader_u = self.state(self._joints[joint.mimic.joint])  # which may come later
            factor = g.constant(joint.mimic.multiplier)
            q = g.add(g.mul(factor, leader_q), g.constant(joint.mimic.offset))
            u = g.mul(factor, leader_u)
        self._states[joint.name] = q, u
        return q, u

    def _acceleration(self, joint: Joint) -> int:
        """The node of the derivative of the joint's speed."""
        if joint.mimic is None:
            return self._builder.acceleration(self.state(joint)[1])
        g = self._builder.graph
        return g.mul(g.constant(joint.mimic.multiplier), self._acceleration(self._joints[joint.mimic.joint]))

    def effort(self, joint: Joint, q: int, u: int) -> int:
        """Effort of the actuator and of the joint's spring, less its damping, friction and the inertia of its rotor."""
        b, g = self._builder, self._builder.graph
        effort = b.input(f"tau_{joint.name}") if joint.driven else 0
        if joint.stiffness:
            stretched = g.sub(q, number(b, joint.rest))
            effort = g.sub(effort, g.mul(g.constant(joint.stiffness), stretched))
        if self._options.damping and joint.damping:
            effort = g.sub(effort, g.mul(g.constant(joint.damping), u))
        if self._friction is not None and joint.friction:
            turned = g.call(Op.TANH, g.mul(g.constant(1.0 / self._friction), u))
            effort = g.sub(effort, g.mul(g.constant(joint.friction), turned))
        if joint.name in self._armature:
            effort = g.sub(effort, g.mul(self._rotor(joint.name), self._acceleration(joint)))
        return effort

    def _rotor(self, joint: str) -> int:
        """The node of a reflected inertia, a number or a parameter."""
        if not self._options.parameters:
            return number(self._builder, self._armature[joint])
        self.values[f"armature_{joint}"] = self._armature[joint]
        return self._builder.parameter(f"armature_{joint}")


def wrench_pair(
    b: Builder,
    child: FramePoint,
    joint: FramePoint,
    arm: Components,
    force: Components,
    torque: Components,
    parent: int,
) -> None:
    """Add a force and a torque on a child, in its axes, and the opposite ones on the parent's frame.

    Parameters
    ----------
    child, joint : FramePoint
        The child's, and those that the child moves from.
    arm : components
        The child's point from the joint's, in axes of the joint.
    force, torque : components
        In axes of the child.
    parent : int
        Frame of the parent; on the inertial one nothing acts.
    """
    g = b.graph
    b.force(child.point, ((child.frame, force),))
    b.torque(child.frame, ((child.frame, torque),))
    if parent == b.inertial:
        return
    turned = b.frames[child.frame].rotation  # relative to that of the joint
    fx, fy, fz = (g.neg(dot(g, row, force)) for row in turned)
    tx, ty, tz = (g.neg(node) for node in torque)
    b.force(joint.point, ((joint.frame, (fx, fy, fz)),))
    b.torque(parent, ((child.frame, (tx, ty, tz)), (joint.frame, cross(g, arm, (fx, fy, fz)))))
