# SPDX-License-Identifier: BSD-3-Clause
"""Sites of a compiled MuJoCo model: points and frames of bodies, their positions and velocities in the world."""

from __future__ import annotations

import numpy as np

from kanecore.describe.robots.number_nodes import constant_vector, number, triple
from kanecore.describe.robots.placed_links import FramePoint
from kanecore.describe.robots.rigid_poses import Pose, from_unit_quaternion
from kanecore.graph.vectors import Components, Matrix, dot

from .body_tree import BodyTree
from .body_velocities import BodyVelocities
from .quaternion_nodes import conjugate, product_of, quaternion_numbers, rotation_vector, turn_of_body

__all__ = ["Sites"]


class Sites:
    """Sites by number; each is a point of the description, which has the name of the site."""

    def __init__(self, tree: BodyTree, velocities: BodyVelocities) -> None:
        self._tree, self._m, self._velocities = tree, tree.m, velocities
        self._points: dict[int, int] = {}
        self._frames: dict[int, int] = {}

    def add_all(self) -> None:
        """Add the points of all sites, and show them."""
        self._tree.builder.show([self.point(s) for s in range(self._m.nsite)])

    def body(self, site: int) -> int:
        """The body that carries a site."""
        return int(self._m.site_bodyid[site])

    def point(self, site: int) -> int:
        """The point of a site."""
        if site not in self._points:
            tree = self._tree
            placed = tree.placed(self.body(site))
            where = constant_vector(tree.builder, placed.own_frame, np.array(self._m.site_pos[site]))
            self._points[site] = tree.builder.point(tree.names("site", site), placed.own_point, where)
        return self._points[site]

    def end(self, site: int) -> FramePoint:
        """Point and axes of a site."""
        if site not in self._frames:
            tree = self._tree
            own, turned = tree.placed(self.body(site)).own_frame, from_unit_quaternion(self._m.site_quat[site])
            self._frames[site] = tree.links.turned(own, turned, tree.names("site", site))
        return FramePoint(self._frames[site], self.point(site))

    def pose(self, site: int) -> Pose:
        """Pose of a site in the axes of its body."""
        return Pose(from_unit_quaternion(self._m.site_quat[site]), np.array(self._m.site_pos[site]))

    def position(self, site: int) -> Components:
        """Position in the world."""
        return triple(self._tree.links.position(self.point(site)))

    def between(self, first: int, second: int) -> Components:
        """Position of the second site from the first, in the world."""
        g = self._tree.builder.graph
        x, y = self.position(first), self.position(second)
        return triple([g.sub(b, a) for a, b in zip(x, y, strict=True)])

    def orientation(self, site: int) -> Matrix:
        """Axes in the world, in columns."""
        x, y, z = (triple(row) for row in self._tree.links.orientation(self.end(site).frame))
        return x, y, z

    def rotation(self, first: int, second: int, home: int) -> Components:
        """Rotation vector of the second site seen from the first, whose bodies a body ``home`` carries."""
        tree, g = self._tree, self._tree.builder.graph
        a, b = (
            product_of(g, turn_of_body(tree, self.body(s), home), quaternion_numbers(tree, self._m.site_quat[s]))
            for s in (first, second)
        )
        return rotation_vector(g, product_of(g, conjugate(g, a), b))

    def velocity(self, site: int, home: int = 0) -> Components:
        """Velocity relative to a body that carries the site, in the axes of the world."""
        place = triple([number(self._tree.builder, float(x)) for x in self._m.site_pos[site]])
        return self._in_world(site, self._velocities.at(self.body(site), place, home))

    def angular_velocity(self, site: int, home: int = 0) -> Components:
        """The angular velocity of its body, likewise."""
        return self._in_world(site, self._velocities.of(self.body(site), home)[1])

    def _in_world(self, site: int, v: Components) -> Components:
        own = self._tree.links.orientation(self._tree.placed(self.body(site)).own_frame)
        return triple([dot(self._tree.builder.graph, row, v) for row in own])
