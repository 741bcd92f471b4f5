# SPDX-License-Identifier: BSD-3-Clause
"""The description of a robot: root, joints, bodies, loops, springs, contacts and forces, in this order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kanecore.describe.builder import Builder
from kanecore.describe.description import Description
from kanecore.describe.reading import Addition, Reading, nothing_more
from kanecore.errors import ModelError

from .forces_on_links import add_forces, add_spring, add_torques
from .ground_contacts import add_contacts
from .joint_motions import add_floating, add_joint, hold_root
from .link_masses import add_bodies, warn_of_massless
from .loop_closures import Loops
from .placed_links import FramePoint, PlacedLinks
from .rigid_poses import Pose
from .robot import SINGLE, Robot
from .robot_options import RobotOptions
from .single_joints import SingleJoints
from .tree_checks import check_names
from .velocity_rows import constrain_velocities

__all__ = ["described_robot", "named_joints"]

_BASES = ("base", "floating_base", "the floating base")
"""Names of the joint of a floating base: the first that no joint has."""


def described_robot(robot: Robot, options: RobotOptions, addition: Addition = nothing_more) -> Reading:
    """The description of a robot, values of its parameters, and notes for the report.

    Parameters
    ----------
    addition : Addition
        What the user adds to the description.

    Raises
    ------
    ModelError
        An option is not what it must be, or names a link that the robot does not have.
    """
    loops_of_user, gravity, friction = options.checked_loops(), options.checked_gravity(), options.checked_friction()
    in_world = options.checked_velocity() == "world"
    builder = Builder(robot.name, "world" if "world" not in robot.links else "inertial")
    links, moved_by = PlacedLinks(builder), {joint.child: joint.name for joint in robot.joints}
    by_name = {joint.name: joint for joint in robot.joints}
    base = next(name for name in _BASES if name not in by_name) if options.floating_base else None
    check_names(robot, base)
    if base:
        moved_by[robot.root] = base
        links.world = builder.point("world", velocity=())
        builder.origin(links.world)
        ground = FramePoint(builder.inertial, links.world)
        add_floating(links, robot.root, base, ground, Pose.same(), in_world, efforts=False)
    else:
        hold_root(links, robot.root)
    armature = options.checked_armature({joint.name: joint.armature for joint in robot.joints if joint.kind in SINGLE})
    singles = SingleJoints(builder, by_name, options, friction, armature)
    for joint in robot.joints:
        add_joint(links, joint, singles, in_world)
    values = singles.values | add_bodies(links, robot, gravity, options.parameters)
    if not builder.bodies:
        raise _motionless(robot, base)
    warn_of_massless(robot, base, armature)
    loops = Loops(links)
    for closure in robot.closures:
        loops.close_by(closure)
    for position, loop in enumerate(loops_of_user):
        loops.close(position, loop)
    loops.attach()
    for spring in robot.springs:
        add_spring(links, spring)
    collides = add_contacts(links, robot, options.contacts, math.hypot(*gravity))
    add_forces(links, options.forces)
    add_torques(links, options.torques)
    constrain_velocities(builder, options.velocity_constraints)
    complete = addition(builder)
    notes = tuple(_notes(robot, options, any(gravity), collides))
    d = named_joints(builder.description(), moved_by)
    return complete(Reading(d, values=values, folder=robot.folder, notes=notes))


def _motionless(robot: Robot, base: str | None) -> ModelError:
    """The error of a robot of which no body moves."""
    moved = [(base, robot.root)] if base else []
    moved += [(joint.name, joint.child) for joint in robot.joints if joint.kind != "fixed"]
    for joint, link in moved:
        return ModelError(
            f"{robot.where}, {robot.links[link].place}: joint {joint!r} moves link {link!r}, and nothing that moves "
            "has mass or inertia: give the link an inertia"
        )
    return ModelError(
        f"{robot.where}, {robot.links[robot.root].place}: no joint moves a link: floating_base=True lets the root "
        f"{robot.root!r} move, where it has an inertia; or give a joint another type than fixed"
    )


def named_joints(d: Description, moved_by: Mapping[str, str]) -> Description:
    """The description in which joints that follow from points have the names of the robot's joints, by body.

    A body that no joint of the robot moves keeps the name that follows from its points.
    """
    joints = (replace(joint, name=moved_by.get(d.bodies[joint.child].name, joint.name)) for joint in d.joints)
    return replace(d, joints=tuple(joints))


def _notes(robot: Robot, options: RobotOptions, has_gravity: bool, collides: bool) -> Iterator[str]:
    """Notes on parts of the file that the description lacks."""
    if not has_gravity:
        yield "no gravity"
    losses = {"damping": options.damping, "friction": options.friction is not None}
    for loss, is_read in losses.items():
        joints = [joint.name for joint in robot.joints if getattr(joint, loss)]
        if joints and not is_read:
            how = "damping=True" if loss == "damping" else "friction=0.01, the speed over which it turns,"
            others = f" and {len(joints) - 1} more" * (len(joints) > 1)
            yield f"{loss} of joint {joints[0]}{others} is ignored: {how} reads it"
    n = robot.n_collisions
    if n and not collides:
        elements = "1 collision element of the file is" if n == 1 else f"{n} collision elements of the file are"
        yield f"{elements} ignored: nothing is in contact but what loops=[...] and contacts={{...}} hold"
