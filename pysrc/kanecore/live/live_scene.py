# SPDX-License-Identifier: BSD-3-Clause
"""The scene of a live page at the start, and the places at which the mouse can pull bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.run.state_pictures import scene_of
from kanecore.show.drawings import AXIS
from kanecore.show.movies import drawn
from kanecore.show.viewpoints import around, chosen

__all__ = ["LiveScene"]

Array = npt.NDArray[np.float64]

PINNED = 1e-9  # largest change of a constant distance in nearby states, relative to the size of the picture
SOLIDS = "Box", "Capsule", "Cylinder", "Disc", "Ellipsoid", "Sphere"  # the kinds of solids.js
SMALLEST = 1e-5  # resolution of points of shapes, relative to the size of the picture


class LiveScene:
    """Scene of a model at the start of a page.

    Parameters
    ----------
    dyn : CompiledModel
    t : float
    x, r, p : ndarray
        State, inputs and parameters at the start.
    view
        As for `CompiledModel.draw`.
    trace : str or sequence of str
        Points, bodies or joints with a drawn path.
    follow : str, optional
        Point, body or joint that stays in the middle.
    ground : float, optional
        Height of the ground along the axis that points up in the picture, m.
    """

    def __init__(
        self, dyn: Any, t: float, x: Array, r: Array, p: Array, view: Any, trace: Any, follow: Any, ground: float | None
    ) -> None:
        self._dyn, self._p, self._ground = dyn, p, ground
        self.scene = scene_of(dyn, t, x, r, p, loads=False)
        self._nearby = around(lambda t, x: scene_of(dyn, t, x, r, p, loads=False), t, x, dyn.unit)
        self.view = chosen(view, self._nearby)
        several = isinstance(trace, Sequence) and not isinstance(trace, str)
        self.traces = tuple(map(self.scene.place, trace if several else [trace]))
        self.follow = -1 if follow is None else self.scene.place(follow)

    def follow_unless_pinned(self, name: str) -> None:
        """Follow a point, body or joint, unless a body turns about a place at rest: then it does not go away."""
        places, near = self._nearby.places, PINNED * self.scene.size
        resting = np.flatnonzero(np.max(np.ptp(places, axis=0), axis=-1) <= near)
        arms = np.linalg.norm(places[:, resting, None] - places[:, None, self.scene.centres], axis=-1)
        if not np.any(np.ptp(arms, axis=0) <= near):
            self.follow = self.scene.place(name)

    def data(self) -> dict[str, Any]:
        """The scene as data for ``picture.js``, in metres."""
        scene, facts = self.scene, self._dyn.facts
        points = np.concatenate([part.reshape(-1, 3) for part in (scene.places, *scene.shapes, *self._reach())])
        low, high = points.min(axis=0), points.max(axis=0)
        if self._ground is not None:
            up = self._up()
            middle = (low + high) / 2.0
            points = np.vstack([points, middle + (self._ground - up @ middle) * up])
            low, high = points.min(axis=0), points.max(axis=0)
        if self.follow >= 0:  # as far on both sides of what stays in the middle
            centre = scene.places[self.follow]
            reach = np.maximum(high - centre, centre - low)
            low, high = centre - reach, centre + reach
        return {
            **drawn(scene, self.view, self.traces, labels=not scene.crowded),
            "low": low.tolist(),
            "high": high.tolist(),
            "radius": float(np.max(np.linalg.norm(points - (low + high) / 2.0, axis=-1))),
            "axis": AXIS * scene.size,
            "follow": self.follow,
            "ground": self._ground,
            "shapes": self._shapes(),
            "solids": self._solids(),
            "bodies": facts.bodies,
            "handles": self._handles(facts.joints),
        }

    def _up(self) -> Array:
        if self.view.planar:
            return np.asarray(self.view.basis[1])
        return np.asarray(self.view.sign * np.eye(3)[self.view.vertical])

    def _reach(self) -> list[Array]:
        """For a plane motion about a place at rest, a square about the origin in which the farthest place can turn."""
        if not self.view.planar or self.follow >= 0:
            return []
        farthest = float(np.max(np.linalg.norm(self.scene.places, axis=-1)))
        right, up = self.view.basis[:2]
        return [farthest * np.stack([right, -right, up, -up])]

    def _shapes(self) -> list[Any]:
        """Body, points and kind of each line, and slopes of the points by parameters that are sizes of the shape."""
        lines = [(each.body, line, each.shape.kind) for each in self.scene.outlines for line in each.lines]
        step = SMALLEST * self.scene.size
        result: list[list[Any]] = [[body, _rounded(line, step), kind, []] for body, line, kind in lines]
        for number, name in enumerate(self._dyn.parameter_names):
            if not any(name in shape[2] for shape in self._dyn.facts.shapes):
                continue
            larger = self._p.copy()
            larger[number] *= 2.0  # lines are linear in the sizes
            state = np.zeros(self._dyn.n_x)
            for places in self._dyn.unit:
                state[places[0]] = 1.0
            grown = scene_of(self._dyn, 0.0, state, None, larger, loads=False)
            moved = [line for outline in grown.outlines for line in outline.lines]
            for shape, (_, before, _), after in zip(result, lines, moved, strict=True):
                slope = (after - before) / self._p[number]
                if np.any(slope):
                    shape[3].append([number, np.round(slope, 6).tolist()])
        return result

    def _solids(self) -> list[Any]:
        """Body, kind, sizes, axis and place of each shape with a surface."""
        shapes = [(each.body, each.shape) for each in self.scene.outlines]
        return [[body, s.kind, s.sizes, s.axis, s.place] for body, s in shapes if s.kind in SOLIDS]

    def _handles(self, joints: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """Places at which the mouse can pull, each with its body."""
        scene = self.scene
        centres = [(place, body) for body, place in enumerate(scene.centres)]
        at_joints = [(place, child) for place, (_, child, *_) in zip(scene.joints, joints, strict=True) if child >= 0]
        return [*centres, *at_joints]


def _rounded(line: Array, step: float) -> Any:
    digits = max(0, int(np.ceil(-np.log10(step)))) if step > 0.0 else 6
    return np.round(line, digits).tolist()
