# SPDX-License-Identifier: BSD-3-Clause
"""Views of a mechanism: in the plane in which its points move, otherwise in space."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError
from kanecore.show.scene import Scene

__all__ = ["View", "around", "chosen"]

Array = npt.NDArray[np.float64]
OBLIQUE = (20.0, -65.0)  # elevation and azimuth in degrees, for motion in space
IN_PLANE = 2e-14  # relative to the size of the picture: rounding of places, which are sums of lengths
NEARBY = (5e-2, 5e-5, 5e-8)  # change of coordinates to test whether the motion keeps a plane
SAMPLES = 6
PLANES = ("xy", "xz", "yz")
NORMALS = (2, 1, 0)


@dataclass(frozen=True)
class View:
    """Axes that point to the right and up in a picture.

    Attributes
    ----------
    axes : tuple of str
        The axes to the right and up in a plane, such as ("x", "y") or ("y", "-x"); empty in space.
    elevation, azimuth : float
        Direction of the eye in space, in degrees above the horizontal plane, and about the vertical.
    up : str
        The axis that points up in space, such as "z" or "-y".
    """

    axes: tuple[str, ...]
    elevation: float = 0.0
    azimuth: float = 0.0
    up: str = "z"

    @property
    def planar(self) -> bool:
        return bool(self.axes)

    @property
    def vertical(self) -> int:
        """The number of the axis that points up in space."""
        return "xyz".index(self.up[-1])

    @property
    def sign(self) -> int:
        """Sign of the axis that points up: −1 if it is the opposite of an axis."""
        return -1 if self.up.startswith("-") else 1

    @property
    def basis(self) -> Array:
        """The directions to the right, up and to the eye, (3, 3) by rows."""
        if self.axes:
            right, up = (_direction(axis) for axis in self.axes)
            return np.stack([right, up, np.cross(right, up)])
        e, a = radians(self.sign * self.elevation), radians(self.azimuth)
        right, eye = np.array([-sin(a), cos(a), 0.0]), np.array([cos(e) * cos(a), cos(e) * sin(a), sin(e)])
        rows = np.stack([self.sign * right, self.sign * np.cross(eye, right), eye])
        return np.roll(rows, self.vertical - 2, axis=1)  # as matplotlib with a vertical axis other than z


def around(scene_at: Callable[[Array, Array], Scene], t: float, x: Array, units: Sequence[Sequence[int]]) -> Scene:
    """The scene of a state and of random states near it, the same in each call.

    If these are outside of the model's domain, nearer states are taken, since the units of x are unknown.

    Parameters
    ----------
    scene_at : callable
        ``scene_at(t, x)`` of times (N,) and states (N, n_x).
    t, x : float and ndarray, (n_x,)
    units : sequence of four int
        The places in x of unit quaternions.
    """
    for distance in NEARBY:
        try:
            return scene_at(*_near(t, x, units, distance))
        except KanecoreError:
            continue
    return scene_at(np.array([t]), x[np.newaxis])


def _near(t: float, x: Array, units: Sequence[Sequence[int]], distance: float) -> tuple[Array, Array]:
    """Times (N,) and states (N, n_x)."""
    random = np.random.default_rng(0)
    steps = random.uniform(-distance, distance, (SAMPLES, 1 + len(x)))
    steps[0] = 0.0
    states = x + steps[:, 1:] * np.maximum(1.0, np.abs(x))
    for places in units:
        quaternion = states[1:, list(places)]
        states[1:, list(places)] = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return t + steps[:, 0], states


def chosen(view: Any, *scenes: Scene) -> View:
    """The user's view, or the plane in which all bodies move and turn, or else an oblique view.

    Parameters
    ----------
    view : None, str or (elevation, azimuth[, up])
    *scenes : Scene
        Scenes, each at several states.
    """
    if view is None:
        plane = next((plane for plane in PLANES if all(_keeps(scene, plane) for scene in scenes)), "")
        return View(tuple(plane)) if plane else View((), *OBLIQUE)
    if isinstance(view, str):
        axes = re.fullmatch(r"(-?[xyz])(-?[xyz])", view)
        if axes and axes[1][-1] != axes[2][-1]:
            return View((axes[1], axes[2]))
    elif isinstance(view, Sequence) and len(view) in (2, 3):
        *angles, up = view if len(view) == 3 else (*view, "z")
        real = all(isinstance(angle, Real) and np.isfinite(float(angle)) for angle in angles)
        if real and isinstance(up, str) and re.fullmatch("-?[xyz]", up):
            return View((), float(angles[0]), float(angles[1]), up)
    raise ValueError(
        f"view is {view!r}: give axes to the right and up, such as 'xy' or 'y-x', or (elevation, azimuth) in "
        "degrees, and the axis that points up if it is not z: (20, 30, '-y')"
    )


def _keeps(scene: Scene, plane: str) -> bool:
    """Test whether all places move parallel to a plane, and no body tilts against it."""
    normal = NORMALS[PLANES.index(plane)]
    leaves = np.ptp(scene.places[..., normal], axis=0)
    tilts = np.ptp(scene.axes[..., scene.rigid, :, :][..., normal, :], axis=0)
    return bool((leaves <= IN_PLANE * scene.size).all() and (tilts <= IN_PLANE).all())


def _direction(axis: str) -> Array:
    direction = np.zeros(3)
    direction["xyz".index(axis[-1])] = -1.0 if axis.startswith("-") else 1.0
    return direction
