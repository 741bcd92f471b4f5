# SPDX-License-Identifier: BSD-3-Clause
"""Links in the inertial frame: SymPy's frame and points of each, and its velocities in terms of q̇."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.from_sympy import vector_internals

from .homogeneous_transforms import GROUND, Step, Velocity, skew

__all__ = ["Motion", "along", "motions_of"]


def along(components: Any, frame: Any) -> Any:
    """The vector with three components along the axes of a frame."""
    return me.Vector([(sm.Matrix(components), frame)])


@dataclass(frozen=True)
class Motion:
    """A link.

    Attributes
    ----------
    number : int
        Its place in the user's list, from 1.
    parent : Motion or None
        None: the ground.
    frame, point, centre
        SymPy's frame, its origin and the mass centre.
    rotation, place : 3×3 and 3×1 matrices
        R and d of its transform from the ground.
    angular, origin, central : Velocity
        ω, and the velocities of origin and mass centre, in the link's axes.
    """

    step: Step
    number: int
    parent: Motion | None
    ground: Any
    frame: Any
    point: Any
    centre: Any
    rotation: sm.Matrix
    place: sm.Matrix
    angular: Velocity
    origin: Velocity
    central: Velocity

    @classmethod
    def on(cls, parent: Motion | None, step: Step, number: int, base: tuple[Any, Any], located: Any) -> Motion:
        """Place a link on another, or on the ground, whose frame and point are ``base``.

        ``located``: coordinates of the mass centre, if it has some of its own.
        """
        ground, origin_of_ground = base
        before = (parent.frame, parent.point) if parent else base
        rotation, place = (parent.rotation, parent.place) if parent else (sm.eye(3), sm.zeros(3, 1))
        angular, origin = (parent.angular, parent.origin) if parent else (Velocity.zero(), Velocity.zero())
        turned, d = step.rotation.T, step.displacement
        origin = (origin + angular.through(-skew(d))).through(turned) + step.origin
        angular = angular.through(turned) + step.angular
        frame = me.ReferenceFrame(step.link.name)
        vector_internals.orient(frame, before[0], step.rotation)
        way = along(d, before[0]) if step.reach is None else along(step.reach, frame)
        point = before[1].locatenew(f"{step.link.name} origin", way)
        from_point, arm = (origin_of_ground, along(located, ground)) if located else (point, along(step.centre, frame))
        return cls(
            *(step, number, parent, ground, frame, point),
            centre=from_point.locatenew(f"{step.link.name} centre", arm),
            rotation=rotation * step.rotation,
            place=place + rotation * d,
            angular=angular,
            origin=origin,
            central=origin + angular.through(-skew(step.centre)) + step.slide,
        )

    def turn(self, rate: Callable[[Any], Any]) -> None:
        """Give the frame its angular velocity in that of the parent."""
        parent = self.parent.frame if self.parent else self.ground
        self.frame.set_ang_vel(parent, along(self.step.angular.total(rate), self.frame))

    def set_velocities(self, velocity: sm.Matrix, angular: sm.Matrix) -> None:
        """Give the mass centre and the frame velocities of their own, in the link's axes."""
        self.frame.set_ang_vel(self.ground, along(angular, self.frame))
        self.centre.set_vel(self.ground, along(velocity, self.frame))

    def velocity_at(self, point: sm.Matrix, velocity: sm.Matrix, angular: sm.Matrix) -> sm.Matrix:
        """The velocity of a point of the link, from those of mass centre and link, all in the link's axes."""
        arm = point - self.step.centre
        return velocity + angular.cross(arm) + arm.diff(vector_internals.time())

    def material_point(self, place: sm.Matrix) -> Any:
        """SymPy's point of the link at a place in its axes."""
        point = self.centre.locatenew(f"{self.step.link.name} point", along(place - self.step.centre, self.frame))
        velocity = vector_internals.velocities(self.centre).get(self.ground)
        if velocity is not None:
            arm = point.pos_from(self.centre)
            slide = along((place - self.step.centre).diff(vector_internals.time()), self.frame)
            point.set_vel(
                self.ground, velocity + vector_internals.angular_velocities(self.frame)[self.ground].cross(arm) + slide
            )
        return point

    def body(self) -> Any:
        link, i = self.step.link, self.step.inertia
        tensor = me.inertia(self.frame, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[1, 2], i[2, 0])
        return me.RigidBody(link.name, self.centre, self.frame, link.mass, (tensor, self.centre))


def motions_of(steps: Sequence[Step], names: Sequence[str], located: Mapping[str, Any]) -> dict[str, Motion]:
    """Motions of the links by name, in the order of ``names``; each step comes after the one that carries it.

    ``located``: the mass centres that have coordinates of their own, by link.
    """
    base = me.ReferenceFrame("N"), me.Point("O")
    base[1].set_vel(base[0], 0)
    motions: dict[str, Motion] = {}
    for step in steps:
        parent = None if step.link.parent == GROUND else motions[str(step.link.parent)]
        name = step.link.name
        motions[name] = Motion.on(parent, step, names.index(name) + 1, base, located.get(name))
    return {name: motions[name] for name in names}
