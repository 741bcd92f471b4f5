# SPDX-License-Identifier: BSD-3-Clause
"""Reference points of positions, and the points with motions that no position determines."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from kanecore.describe.description import Description
from kanecore.describe.frame_paths import Ancestry
from kanecore.errors import ModelError
from kanecore.graph.vectors import ZERO, Components, add, sub
from kanecore.graph.zero_tests import vanish

from .kinematics import Kinematics
from .velocity_contradictions import excused

__all__ = ["Whereabouts", "check_origin"]


def check_origin(k: Kinematics) -> None:
    """Raise ModelError if the user's origin moves, or is not connected to any shown point."""
    d = k.description
    if d.origin < 0:
        return
    name, inertial, location = d.points[d.origin].name, d.frames[0].name, Ancestry([p.parent for p in d.points])
    if k.source[d.origin] == "set" or not vanish(k.graph, k.velocity[d.origin]):
        raise ModelError(
            f"origin={name} is not at rest in {inertial}: name a point with position and velocity at rest, as after "
            f"O.set_vel({inertial}, 0)"
        )
    if not any(location.common(d.origin, point) >= 0 for point in d.shown_points):
        raise ModelError(
            f"origin={name} is no point of {d.name!r}: no positions lead from it to "
            f"{', '.join(d.points[point].name for point in d.shown_points) or 'any other'}; locate these from it"
        )


class Whereabouts:
    """The places of all points of a description.

    Parameters
    ----------
    freed : Description
        The description with its auxiliary speeds, which show the set velocities.
    k : Kinematics
        Kinematics of the description without auxiliary speeds.

    Attributes
    ----------
    unoriented : list of bool
        For each frame: its angular velocity does not follow from an orientation.
    adrift : list of bool
        For each point: its velocity does not follow from a position, since it is located from a point with a set
        velocity, or from a moving contact.
    origin : int
        The reference point of positions: the user's, or else the point at rest from which most bodies are located; −1
        without one.
    """

    def __init__(self, freed: Description, k: Kinematics) -> None:
        self._k = k
        d = k.description
        self._location = Ancestry([point.parent for point in d.points])
        points, frames = excused(freed, k)
        self.unoriented: list[bool] = []
        for i, frame in enumerate(d.frames):
            self.unoriented.append(i > 0 and (self.unoriented[frame.parent] or not frame.oriented or i in frames))
        self.adrift: list[bool] = []
        self._led: list[bool] = []  # points located from a point at rest, and from no moving contact
        for i, point in enumerate(d.points):
            above, at_rest = point.parent, k.velocity[i] == ZERO
            led = self._led[above] if above >= 0 else at_rest
            adrift = self.adrift[above] if above >= 0 else not at_rest
            self._led.append(led and i not in points)
            self.adrift.append(adrift or i in points or any(self.unoriented[f] for f, _ in point.position))
        self.origin = d.origin if d.origin >= 0 else self._likely_origin()

    def _likely_origin(self) -> int:
        """The root at rest from which most mass centres are located; the first of several such roots.

        A moving contact does not qualify: points located from it do not move as their positions change.
        """
        d = self._k.description
        places = [body.point for body in d.bodies] or d.shown_points
        located = Counter(self._location.start(point, -1) for point in places)
        reached = Counter(self._location.start(point, -1) for point in places if self._led[point])
        roots = [i for i, point in enumerate(d.points) if point.parent < 0 and self._led[i]]
        return max((i for i in roots if reached[i] or not located[i]), key=reached.__getitem__, default=-1)

    def measured_from(self, point: int) -> int:
        """The origin or, if the point is not located from there, the point's root."""
        return self._location.start(point, self.origin)

    def position(self, point: int) -> Components:
        """Position of a point from its reference point, in inertial axes."""
        return self._positions[point]

    @cached_property
    def _positions(self) -> dict[int, Components]:
        """Positions of all points, each added to its parent's position, so that points of a chain share their sums."""
        k, points, places = self._k, self._k.description.points, {}
        if self.origin >= 0:
            here = ZERO
            for i in self._location.chain(self.origin):
                places[i] = here
                here = sub(k.graph, here, k.resolve_all(points[i].position, 0))
        for i, point in enumerate(points):
            if i not in places:
                above = places.get(point.parent, ZERO)
                places[i] = add(k.graph, above, k.resolve_all(point.position, 0))
        return places
