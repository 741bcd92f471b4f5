# SPDX-License-Identifier: BSD-3-Clause
"""Marks of rigid contacts in films and plots: colours of their modes, arrows of their forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.show.scene import Scene

__all__ = ["STRUCK", "ContactMarks", "mode_colour"]

Array = npt.NDArray[np.float64]

STRUCK = "#c0392b"  # impacts
WIDE, NARROW = 3.0, 0.12  # half lengths of planes, relative to the size of the picture
_COLOURS = {"open": "#d0d3d8", "slide": "#e67e22", "slide +": "#e67e22", "slide -": "#c9a227"}
_HOLDS = "#2e9e5b"  # what neither opens nor slides


def mode_colour(mode: str) -> str:
    """The colour of a mode: open pale, sliding orange, or ochre where it slides back, else green."""
    return _COLOURS.get(mode, _HOLDS)


@dataclass(frozen=True)
class ContactMarks:
    """Contacts of a run in the frames of a film.

    Attributes
    ----------
    points : sequence of str or None
        The point at which each contact is drawn, if it has one.
    modes : ndarray of str, (N, n)
        Mode of each contact in each frame.
    forces : ndarray, (N, n, 3)
        Forces on these points in inertial axes, N.
    gaps : ndarray, (N, n)
        Heights of the points over their planes, m.
    axes : ndarray, (N, n, 3, 3)
        Normals of the planes, and one or two directions along them.
    resting : sequence of bool
        Whether a plane has the axes of the ground; others belong to bodies.
    times : sequence of float
        Start times of modes, and the end of the run.
    spans : mapping of str to sequence of str
        Modes of each contact by name, between these times.
    strikes : mapping of str to ndarray
        Times of the impacts of each contact.
    """

    points: Sequence[str | None]
    modes: npt.NDArray[np.str_]
    forces: Array
    gaps: Array
    axes: Array
    resting: Sequence[bool]
    times: Sequence[float]
    spans: Mapping[str, Sequence[str]]
    strikes: Mapping[str, Array]

    @property
    def words(self) -> list[str]:
        """All modes that occur."""
        return list(dict.fromkeys(word for each in self.spans.values() for word in each))

    @property
    def arrows(self) -> Array:
        """The forces relative to the largest, (N, n, 3)."""
        largest = float(np.max(np.linalg.norm(self.forces, axis=-1), initial=0.0))
        return self.forces / (largest or 1.0)

    def struck(self, t: Array, seconds: float) -> npt.NDArray[np.bool_]:
        """Whether a contact had an impact in the last seconds before each of some times, (N, n)."""
        counts = [[np.searchsorted(at, end, "right") for at in self.strikes.values()] for end in (t - seconds, t)]
        return np.asarray(np.diff(counts, axis=0)[0].T > 0)

    def plane(self, i: int, places: Array, size: float) -> Array:
        """Corners of a line or a square on the plane of a contact, under its place, (N, k, 3); grounds are wide."""
        normal, along, across = (self.axes[:, i, k] for k in range(3))
        foot = places - self.gaps[:, i, np.newaxis] * normal
        half = size * (WIDE if self.resting[i] and not across.any() else NARROW)
        corners = ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))[: 5 if across.any() else 2]
        return np.stack([foot + half * (a * along + b * across) for a, b in corners], axis=1)

    def data(self, scene: Scene, unit: float, struck: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Data for the player: modes by number, arrows in thousandths, planes in units."""
        words = self.words
        numbers = {word: i for i, word in enumerate(words)}
        return {
            "names": list(self.spans),
            "places": [-1 if point is None else scene.place(point) for point in self.points],
            "planes": [self._plane_data(i, scene, unit) for i in range(len(self.points))],
            "words": words,
            "colours": [mode_colour(word) for word in words],
            "modes": [[numbers[word] for word in row] for row in self.modes.tolist()],
            "arrows": np.rint(1000.0 * self.arrows).astype(int).reshape(len(self.modes), -1).tolist(),
            "struck": struck.astype(int).tolist(),
            "times": list(self.times),
            "spans": [[numbers[word] for word in each] for each in self.spans.values()],
            "strikes": [at.tolist() for at in self.strikes.values()],
        }

    def _plane_data(self, i: int, scene: Scene, unit: float) -> Any:
        """Corners in each frame, or of all frames together if they rest."""
        point = self.points[i]
        if point is None:
            return []
        corners = np.rint(self.plane(i, scene.places[:, scene.place(point)], scene.size) / unit).astype(int)
        return (corners if np.ptp(corners, axis=0).any() else corners[:1]).tolist()
