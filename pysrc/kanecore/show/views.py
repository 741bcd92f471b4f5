# SPDX-License-Identifier: BSD-3-Clause
"""From where a mechanism is seen: in the plane that its points keep, else in space."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.show.scene import Scene

__all__ = ["View", "chosen"]

Array = npt.NDArray[np.float64]
OBLIQUE = (20.0, -65.0)  # elevation and azimuth in degrees, of what moves in space
IN_PLANE = 1e-9  # of the size of what is shown: rounding of places, which are sums of some lengths
PLANES = ("xy", "xz", "yz")
NORMALS = (2, 1, 0)


@dataclass(frozen=True)
class View:
    """What goes to the right and up in a picture.

    Attributes
    ----------
    axes : tuple of str
        The axes to the right and up in a plane, such as ("x", "y") or ("y", "-x"); empty in space.
    elevation, azimuth : float
        Where the eye is, in degrees above the plane of x and y, and from x about z; used in space.
    """

    axes: tuple[str, ...]
    elevation: float = 0.0
    azimuth: float = 0.0

    @property
    def planar(self) -> bool:
        return bool(self.axes)

    @property
    def basis(self) -> Array:
        """The directions to the right, up and to the eye, (3, 3) by rows."""
        if self.axes:
            right, up = (_direction(axis) for axis in self.axes)
            return np.stack([right, up, np.cross(right, up)])
        e, a = radians(self.elevation), radians(self.azimuth)
        right, eye = np.array([-sin(a), cos(a), 0.0]), np.array([cos(e) * cos(a), cos(e) * sin(a), sin(e)])
        return np.stack([right, np.cross(eye, right), eye])


def chosen(view: Any, scene: Scene) -> View:
    """The view that was asked for; else the plane that all points keep, in which all bodies turn; else an oblique one.

    Parameters
    ----------
    view : None, str or (elevation, azimuth)
    scene : Scene
        At several states.
    """
    if view is None:
        plane = _plane(scene)
        return View(tuple(plane)) if plane else View((), *OBLIQUE)
    if isinstance(view, str):
        axes = re.fullmatch(r"(-?[xyz])(-?[xyz])", view)
        if axes and axes[1][-1] != axes[2][-1]:
            return View((axes[1], axes[2]))
    elif np.shape(view) == (2,) and np.isfinite(np.asarray(view, dtype=float)).all():
        return View((), float(view[0]), float(view[1]))
    raise ValueError(
        f"view is {view!r}: give axes to the right and up, such as 'xy' or 'y-x', or (elevation, azimuth) in degrees"
    )


def _plane(scene: Scene) -> str:
    """The axes of the plane that all places keep while no body tilts against it; empty where there is none."""
    places, axes, size = scene.places.reshape(-1, 3), scene.axes[..., scene.rigid, :, :], scene.size
    for plane, normal in zip(PLANES, NORMALS, strict=True):
        tilts = np.ptp(axes[..., normal, :], axis=0) if len(scene.rigid) else np.zeros(1)
        if np.ptp(places[:, normal]) <= IN_PLANE * size and (tilts <= IN_PLANE).all():
            return plane
    return ""


def _direction(axis: str) -> Array:
    direction = np.zeros(3)
    direction["xyz".index(axis[-1])] = -1.0 if axis.startswith("-") else 1.0
    return direction
