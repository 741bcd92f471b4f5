# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and joints of a compiled MuJoCo model as frames and points: coordinates qpos, speeds qvel, in MuJoCo's order.

A body may have several joints, each about an anchor of its own.  A free joint has its velocity in the world and its
angular velocity in the body; a ball joint its angular velocity in the body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.builder import Builder
from kanecore.describe.mjcf_compiler.mujoco_enumerations import BALL, FREE, HINGE, SLIDE
from kanecore.describe.robots.number_nodes import (
    constant_matrix,
    constant_vector,
    free_rates,
    from_quaternion,
    number,
    product_with,
    signed_axis,
    triple,
    turn,
    turn_quaternion,
)
from kanecore.describe.robots.placed_links import PlacedLink, PlacedLinks
from kanecore.describe.robots.rigid_poses import Pose, along, cleaned, from_unit_quaternion, joint_axes, product
from kanecore.graph.vectors import neg

from .mujoco_source import Names
from .named_numbers import NamedNumbers

__all__ = ["BodyTree"]

Array = npt.NDArray[np.float64]


@dataclass
class BodyTree:
    """The tree in the description.

    Attributes
    ----------
    q, u : list of nodes
        Coordinates and speeds, at MuJoCo's addresses.
    efforts : list of lists of nodes
        Generalized forces of each speed, which `apply` adds as loads.
    """

    m: Any
    names: Names
    links: PlacedLinks
    numbers: NamedNumbers
    q: list[int] = field(default_factory=list)
    u: list[int] = field(default_factory=list)
    efforts: list[list[int]] = field(default_factory=list)
    _pushes: list[tuple[int, int, Callable[[list[int]], None]]] = field(default_factory=list)

    @property
    def builder(self) -> Builder:
        return self.links.builder

    def add_all(self) -> None:
        """Add the world and all bodies."""
        b = self.builder
        world = self.links.world = b.point("world", velocity=())
        b.origin(world)
        frame = b.frame("world", b.inertial)
        b.angular_velocity(frame, ())
        self.links.by_name[self.name(0)] = PlacedLink(b.inertial, world, Pose.same(), self.name(0), frame, world)
        for body in range(1, self.m.nbody):
            self._add(body)

    def dof(self, i: int) -> str:
        """The name of a speed without its ``u_``: its joint, and its axis where the joint has several."""
        return self.builder.speeds[self.u[i]].removeprefix("u_")

    def name(self, body: int) -> str:
        """The name of a body."""
        return self.names("body", body)

    def placed(self, body: int) -> PlacedLink:
        return self.links.by_name[self.name(body)]

    def _add(self, body: int) -> None:
        m, name = self.m, self.name(body)
        parent = self.placed(int(m.body_parentid[body]))
        at = parent.pose @ Pose(from_unit_quaternion(m.body_quat[body]), np.array(m.body_pos[body]))
        place = PlacedLink(parent.frame, parent.point, at, parent.carrier)
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        for j in range(first, first + count):
            add = {FREE: self._free, BALL: self._ball, SLIDE: self._slide, HINGE: self._hinge}[int(m.jnt_type[j])]
            place = add(j, place, name if j == first + count - 1 else "")
        self.links.by_name[name] = place
        self.links.name(name, place)

    # ------------------------------------------------------------------------------------------------- joints
    def _state(self, joint: str, coordinates: list[str], speeds: list[str]) -> tuple[list[int], list[int]]:
        b = self.builder
        q = [b.coordinate(f"q_{joint}{each}") for each in coordinates]
        u = [b.speed(f"u_{joint}{each}") for each in speeds]
        for node, value in zip(q, self.m.qpos0[len(self.q) :], strict=False):
            if value:
                b.guess(node, value)
        self.q += q
        self.u += u
        self.efforts += [[] for _ in u]
        return q, u

    def _single(self, j: int) -> tuple[str, int, int, int]:
        """Name of a joint with one coordinate, its displacement, its speed and its address."""
        b, address = self.builder, int(self.m.jnt_qposadr[j])
        joint = self.names("jnt", j)
        [q], [u] = self._state(joint, [""], [""])
        b.rate(q, u)
        return joint, b.graph.sub(q, number(b, float(self.m.qpos0[address]))), u, len(self.u) - 1

    def _hinge(self, j: int, place: PlacedLink, body: str) -> PlacedLink:
        b, g = self.builder, self.builder.graph
        joint, angle, u, i = self._single(j)
        axis, anchor = cleaned(np.array(self.m.jnt_axis[j])), np.array(self.m.jnt_pos[j])
        own = joint_axes(axis)
        k, sign = along(product(own, axis))
        same = bool(body) and np.array_equal(own, np.eye(3))
        rotation = product_with(b, product(place.pose.rotation, own.T), turn(b, k, sign, angle))
        frame = b.frame(body if same else f"{joint} axes", place.frame, rotation)
        b.angular_velocity(frame, ((frame, signed_axis(g, k, sign, u)),))
        centred = same and not anchor.any()
        position = product(place.pose.rotation, anchor) + place.pose.position
        point = b.point(body if centred else f"{joint} anchor", place.point, constant_vector(b, place.frame, position))

        def push(efforts: list[int]) -> None:
            b.torque(frame, ((frame, signed_axis(g, k, sign, efforts[0])),))
            if place.frame:
                b.torque(place.frame, ((frame, signed_axis(g, k, -sign, efforts[0])),))

        self._pushes.append((i, 1, push))
        pose = Pose(own, -product(own, anchor) + 0.0)
        return PlacedLink(frame, point, pose, body, frame if same else -1, point if centred else -1)

    def _slide(self, j: int, place: PlacedLink, body: str) -> PlacedLink:
        b, g = self.builder, self.builder.graph
        joint, displacement, _, i = self._single(j)
        axis = cleaned(np.array(self.m.jnt_axis[j]))
        own = joint_axes(axis)
        k, sign = along(product(own, axis))
        same = bool(body) and np.array_equal(own, np.eye(3))
        frame = b.frame(
            body if same else f"{joint} axes",
            place.frame,
            constant_matrix(b, product(place.pose.rotation, own.T)),
        )
        b.angular_velocity(frame, ())
        start = b.point(f"{joint} origin", place.point, constant_vector(b, place.frame, place.pose.position))
        moved = ((frame, signed_axis(g, k, sign, displacement)),)
        point = b.point(body if same else f"{joint} slider", start, moved)

        def push(efforts: list[int]) -> None:
            b.force(point, ((frame, signed_axis(g, k, sign, efforts[0])),))
            if place.frame:
                b.force(start, ((frame, signed_axis(g, k, -sign, efforts[0])),))

        self._pushes.append((i, 1, push))
        return PlacedLink(frame, point, Pose(own, np.zeros(3)), body, frame if same else -1, point if same else -1)

    def _ball(self, j: int, place: PlacedLink, body: str) -> PlacedLink:
        b, g = self.builder, self.builder.graph
        joint, anchor = self.names("jnt", j), np.array(self.m.jnt_pos[j])
        e, w = self._state(joint, [f"_e{i}" for i in range(4)], [f"_r{axis}" for axis in "xyz"])
        b.unit(*e)
        turn_quaternion(b, e, w)
        frame = b.frame(
            body or f"{joint} axes", place.frame, product_with(b, place.pose.rotation, from_quaternion(b, e))
        )
        b.angular_velocity(frame, ((frame, triple(w)),))
        position = product(place.pose.rotation, anchor) + place.pose.position
        centred = bool(body) and not anchor.any()
        point = b.point(body if centred else f"{joint} anchor", place.point, constant_vector(b, place.frame, position))

        def push(efforts: list[int]) -> None:
            b.torque(frame, ((frame, triple(efforts)),))
            if place.frame:
                b.torque(place.frame, ((frame, neg(g, triple(efforts))),))

        self._pushes.append((len(self.u) - 3, 3, push))
        return PlacedLink(frame, point, Pose(np.eye(3), -anchor), body, frame if body else -1, point if centred else -1)

    def _free(self, j: int, place: PlacedLink, body: str) -> PlacedLink:
        b = self.builder
        joint = self.names("jnt", j)
        q, u = self._state(
            joint,
            [*(f"_{axis}" for axis in "xyz"), *(f"_e{i}" for i in range(4))],
            [*(f"_{axis}" for axis in "xyz"), *(f"_r{axis}" for axis in "xyz")],
        )
        frame = b.frame(body or f"{joint} axes", b.inertial, free_rates(b, q, u, in_world=True))
        b.angular_velocity(frame, ((frame, triple(u[3:])),))
        point = b.point(body or f"{joint} origin", self.links.world, ((b.inertial, triple(q[:3])),))

        def push(efforts: list[int]) -> None:
            b.force(point, ((b.inertial, triple(efforts[:3])),))
            b.torque(frame, ((frame, triple(efforts[3:])),))

        self._pushes.append((len(self.u) - 6, 6, push))
        return PlacedLink(frame, point, Pose.same(), body, frame if body else -1, point if body else -1)

    # ------------------------------------------------------------------------------------------------ efforts
    def apply(self) -> None:
        """Add the generalized forces as loads, each as an action and its reaction."""
        for first, count, push in self._pushes:
            total = [self.builder.graph.sum(efforts) for efforts in self.efforts[first : first + count]]
            if any(total):
                push(total)
