# SPDX-License-Identifier: BSD-3-Clause
"""Frames and points of a robot's links in the description, as joint after joint is added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.builder import Builder
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.vectors import dot

from .number_nodes import constant_matrix, constant_vector
from .rigid_poses import Pose

__all__ = ["FramePoint", "PlacedLink", "PlacedLinks", "refuse_same"]

Array = npt.NDArray[np.float64]


@dataclass
class PlacedLink:
    """Place of a link: in a frame of the description, from a point of it.

    Attributes
    ----------
    frame, point : int
    pose : Pose
        Of the link in that frame, from that point.
    carrier : str
        The link that the frame was made for.
    own_frame, own_point : int
        Of the link itself, as it is named; −1 until `PlacedLinks.name` makes them.
    """

    frame: int
    point: int
    pose: Pose
    carrier: str
    own_frame: int = -1
    own_point: int = -1


@dataclass(frozen=True)
class FramePoint:
    """A frame and a point of a link, at which it is joined to another one or pushed; whether the link is the ground."""

    frame: int
    point: int
    rests: bool = False


class PlacedLinks:
    """The links that are in the description.

    Attributes
    ----------
    builder : Builder
    by_name : dict of str to PlacedLink
    world : int
        The point at rest.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.by_name: dict[str, PlacedLink] = {}
        self.world = 0

    def known(self, link: Any) -> PlacedLink:
        """Place of a link; ModelError with the nearest name if there is none of this name."""
        if not isinstance(link, str) or link not in self.by_name:
            raise ModelError(unknown_name("link is called", str(link), self.by_name).args[0])
        return self.by_name[link]

    def name(self, link: str, placed: PlacedLink) -> None:
        """Give a link a frame and a point of its own, if it has none, and show them."""
        b = self.builder
        if placed.own_frame < 0:
            placed.own_frame = b.frame(link, placed.frame, constant_matrix(b, placed.pose.rotation))
            b.angular_velocity(placed.own_frame, ())
        if placed.own_point < 0:
            placed.own_point = b.point(link, placed.point, constant_vector(b, placed.frame, placed.pose.position))
        b.show([placed.own_point], [placed.own_frame])

    def end(self, link: str, pose: Pose, name: str) -> FramePoint:
        """Frame and point of a pose in the axes of a link; new ones are called ``name`` on the link."""
        placed, point = self.known(link), self.known(link).own_point
        if pose.position.any():
            vector = constant_vector(self.builder, placed.own_frame, pose.position)
            point = self.builder.point(f"{name} on {link}", point, vector)
        frame = self.turned(placed.own_frame, pose.rotation, f"{name} on {link}")
        return FramePoint(frame, point, placed.frame == self.builder.inertial)

    def turned(self, frame: int, rotation: Array, name: str) -> int:
        """A frame that is fixed in another one; the other one itself, if there is no turn between them."""
        if np.array_equal(rotation, np.eye(3)):
            return frame
        turned = self.builder.frame(name, frame, constant_matrix(self.builder, rotation))
        self.builder.angular_velocity(turned, ())
        return turned

    def orientation(self, frame: int) -> list[list[int]]:
        """Nodes of the rotation of a frame, v_inertial = R v."""
        b, g = self.builder, self.builder.graph
        rows = [[g.one if i == j else 0 for j in range(3)] for i in range(3)]
        chain = []
        while frame:
            chain.append(frame)
            frame = b.frames[frame].parent
        for number in reversed(chain):
            m = b.frames[number].rotation
            rows = [[dot(g, row, column) for column in zip(*m, strict=True)] for row in rows]
        return rows

    def position(self, point: int) -> list[int]:
        """Nodes of the position of a point, in inertial axes."""
        b, g = self.builder, self.builder.graph
        parts: list[list[int]] = [[], [], []]
        for frame, components in b.position(point):
            turned = self.orientation(frame)
            for i in range(3):
                parts[i].append(dot(g, turned[i], components))
        return [g.sum(part) for part in parts]


def refuse_same(loop: str, links: Sequence[PlacedLink]) -> None:
    """ModelError for a loop between two links that move as one."""
    if len({placed.frame for placed in links}) < 2:
        raise ModelError(f"{loop}: both links move with {links[0].carrier!r}, and a loop joins two that do not")
