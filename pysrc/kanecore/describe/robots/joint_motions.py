# SPDX-License-Identifier: BSD-3-Clause
"""Joints of a robot in the description: each is a frame, whose axis is one of the frame's own; fixed links are merged.

Names: the coordinates, speeds and efforts of joint J are ``q_J``, ``u_J``, ``tau_J``.  Of several they end in ``_x``,
``_y``, ``_z`` for displacements, ``_e0`` to ``_e3`` for a unit quaternion, ``_rx``, ``_ry``, ``_rz`` for rotations.
"""

from __future__ import annotations

import numpy as np

from kanecore.describe.builder import Builder
from kanecore.graph.vectors import dot, neg

from .number_nodes import (
    constant_matrix,
    constant_vector,
    free_rates,
    from_quaternion,
    product_with,
    signed_axis,
    triple,
    turn,
    turn_quaternion,
)
from .placed_links import FramePoint, PlacedLink, PlacedLinks
from .rigid_poses import Pose, along, axes_of_plane, joint_axes, product
from .robot import Joint
from .single_joints import SingleJoints, wrench_pair

__all__ = ["add_floating", "add_joint", "hold_root"]


def hold_root(links: PlacedLinks, root: str) -> None:
    """Place the root at rest, at the origin and in the axes of the ground."""
    b = links.builder
    origin = links.world = b.point(root, velocity=())
    b.origin(origin)
    frame = b.frame(root, b.inertial)
    b.angular_velocity(frame, ())
    links.by_name[root] = PlacedLink(b.inertial, origin, Pose.same(), root, frame, origin)
    b.show([origin], [frame])


def add_joint(links: PlacedLinks, joint: Joint, singles: SingleJoints, in_world: bool) -> None:
    """Add a joint and its child; its parent is placed, ``in_world`` as in `add_floating`."""
    b, parent = links.builder, links.by_name[joint.parent]
    at = parent.pose @ joint.origin
    if joint.kind == "floating":
        add_floating(links, joint.child, joint.name, FramePoint(parent.frame, parent.point), at, in_world, joint.driven)
        return
    if joint.kind == "fixed":
        placed = PlacedLink(parent.frame, parent.point, at, parent.carrier)
    elif joint.kind == "spherical":
        placed = _spherical(b, joint, parent, at)
    elif joint.kind == "planar":
        placed = _planar(b, joint, parent, at)
    else:
        placed = _single(b, joint, parent, at, singles)
    links.by_name[joint.child] = placed
    links.name(joint.child, placed)


def _single(b: Builder, joint: Joint, parent: PlacedLink, at: Pose, singles: SingleJoints) -> PlacedLink:
    """Add a joint with one coordinate, about or along an axis of its frame."""
    g, turns = b.graph, joint.kind != "prismatic"
    q, u = singles.state(joint)
    own = joint_axes(joint.axis)
    k, sign = along(product(own, joint.axis))
    velocity = signed_axis(g, k, sign, u)
    fixed = product(at.rotation, own.T)  # v_parent's frame = fixed @ v_own, where q = 0
    rotation = product_with(b, fixed, turn(b, k, sign, q)) if turns else constant_matrix(b, fixed)
    as_named = np.array_equal(own, np.eye(3))
    frame = b.frame(joint.child if as_named else f"{joint.name} axes", parent.frame, rotation)
    b.angular_velocity(frame, ((frame, velocity),) if turns else ())
    position = constant_vector(b, parent.frame, at.position)
    reaction = -1
    if not turns:
        reaction = b.point(f"{joint.name} origin", parent.point, position)
        position = (*position, (frame, signed_axis(g, k, sign, q)))
    point = b.point(joint.child, parent.point, position)
    effort = singles.effort(joint, q, u)
    load = ((frame, signed_axis(g, k, sign, effort)),)
    opposite = ((frame, signed_axis(g, k, -sign, effort)),)
    if not effort:
        pass
    elif turns:
        b.torque(frame, load)
        if parent.frame:
            b.torque(parent.frame, opposite)
    else:
        b.force(point, load)
        if parent.frame:
            b.force(reaction, opposite)
    return PlacedLink(frame, point, Pose(own, np.zeros(3)), joint.child, frame if as_named else -1, point)


def _planar(b: Builder, joint: Joint, parent: PlacedLink, at: Pose) -> PlacedLink:
    """Add two displacements normal to the axis, and a turn about it; speeds along directions that turn with it."""
    g, name = b.graph, joint.name
    own = axes_of_plane(joint.axis)
    x, y, r = (b.coordinate(f"q_{name}_{each}") for each in ("x", "y", "r"))
    vx, vy, wr = (b.speed(f"u_{name}_{each}") for each in ("x", "y", "r"))
    c, s = g.cos(r), g.sin(r)
    b.rate(x, g.sub(g.mul(c, vx), g.mul(s, vy)))
    b.rate(y, g.add(g.mul(s, vx), g.mul(c, vy)))
    b.rate(r, wr)
    fixed = product(at.rotation, own.T)
    plane = b.frame(f"{name} plane", parent.frame, constant_matrix(b, fixed))
    b.angular_velocity(plane, ())
    as_named = np.array_equal(own, np.eye(3))
    frame = b.frame(joint.child if as_named else f"{name} axes", plane, turn(b, 2, 1.0, r))
    b.angular_velocity(frame, ((frame, (0, 0, wr)),))
    origin = b.point(f"{name} origin", parent.point, constant_vector(b, parent.frame, at.position))
    point = b.point(joint.child, origin, ((plane, (x, y, 0)),))
    fx, fy, tr = (b.input(f"tau_{name}_{each}") for each in ("x", "y", "r"))
    child, base = FramePoint(frame, point), FramePoint(plane, origin)
    wrench_pair(b, child, base, (x, y, 0), (fx, fy, 0), (0, 0, tr), parent.frame)
    return PlacedLink(frame, point, Pose(own, np.zeros(3)), joint.child, frame if as_named else -1, point)


def _spherical(b: Builder, joint: Joint, parent: PlacedLink, at: Pose) -> PlacedLink:
    """Add a ball joint: a unit quaternion, and the angular velocity in the child's axes."""
    name = joint.name
    e = [b.coordinate(f"q_{name}_e{i}") for i in range(4)]
    b.unit(*e)
    w = [b.speed(f"u_{name}_r{each}") for each in "xyz"]
    turn_quaternion(b, e, w)
    frame = b.frame(joint.child, parent.frame, product_with(b, at.rotation, from_quaternion(b, e)))
    b.angular_velocity(frame, ((frame, triple(w)),))
    point = b.point(joint.child, parent.point, constant_vector(b, parent.frame, at.position))
    torque = triple([b.input(f"tau_{name}_r{each}") for each in "xyz"])
    b.torque(frame, ((frame, torque),))
    if parent.frame:
        b.torque(parent.frame, ((frame, neg(b.graph, torque)),))
    return PlacedLink(frame, point, Pose.same(), joint.child, frame, point)


def add_floating(
    links: PlacedLinks,
    link: str,
    name: str,
    parent: FramePoint,
    at: Pose,
    in_world: bool,
    efforts: bool = True,
) -> None:
    """Add a link that floats: a position in the axes of the joint, a unit quaternion, six speeds.

    Parameters
    ----------
    link, name : str
        The link, and its joint.
    parent : FramePoint
        From which it floats.
    at : Pose
        Of the joint there.
    in_world : bool
        Whether the velocity is in the axes of the position, else in those of the link.
    efforts : bool
        Whether it has a force and a torque as inputs.
    """
    b, g = links.builder, links.builder.graph
    q = [b.coordinate(f"q_{name}_{each}") for each in ("x", "y", "z", "e0", "e1", "e2", "e3")]
    u = [b.speed(f"u_{name}_{each}") for each in ("x", "y", "z", "rx", "ry", "rz")]
    turned, position, w = free_rates(b, q, u, in_world), q[:3], u[3:]
    base = parent
    if not (at.turns_nothing and not at.position.any()):
        frame = b.frame(f"{name} origin", parent.frame, constant_matrix(b, at.rotation))
        b.angular_velocity(frame, ())
        point = b.point(f"{name} origin", parent.point, constant_vector(b, parent.frame, at.position))
        base = FramePoint(frame, point)
    frame = b.frame(link, base.frame, turned)
    b.angular_velocity(frame, ((frame, triple(w)),))
    point = b.point(link, base.point, ((base.frame, triple(position)),))
    if efforts:
        force = triple([b.input(f"tau_{name}_{each}") for each in "xyz"])
        torque = triple([b.input(f"tau_{name}_r{each}") for each in "xyz"])
        if in_world:
            force = triple([dot(g, column, force) for column in zip(*turned, strict=True)])
        wrench_pair(b, FramePoint(frame, point), base, triple(position), force, torque, parent.frame)
    placed = links.by_name[link] = PlacedLink(frame, point, Pose.same(), link, frame, point)
    links.name(link, placed)
