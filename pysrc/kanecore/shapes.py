# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of bodies, for pictures alone: ``kc.Model(..., shapes={"wheel": kc.shapes.Disc(r)})``.

A shape is a few lines in the axes of its body, about the mass centre.  Its sizes are lengths: numbers, or parameters of
the model, as symbols or by name, whose current values a picture takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Box", "Capsule", "Cylinder", "Disc", "Ellipsoid", "Rod", "Shape", "Sphere"]

Array = npt.NDArray[np.float64]
AXES = "xyz"
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 49)


@dataclass(frozen=True)
class Shape:
    """Shape of a body, as `Box`, `Capsule`, `Cylinder`, `Disc`, `Ellipsoid`, `Rod` and `Sphere` make it.

    Attributes
    ----------
    kind : str
    sizes : tuple of float or str
        Lengths in m, or names of parameters.
    axis : {"x", "y", "z"}
        The axis of the body along which the shape is aligned.
    place : tuple of float
        Where it is moved to: nine numbers of a rotation, row by row, and three of an offset; or none.
    file : str
        File of a ``Mesh``, as a URDF names it; its sizes are the scales along x, y, z.
    """

    kind: str
    sizes: tuple[float | str, ...]
    axis: str = "z"
    place: tuple[float, ...] = ()
    file: str = ""

    def __post_init__(self) -> None:
        if self.axis not in tuple(AXES):
            raise ValueError(f"axis of a {self.kind} is {self.axis!r}: it must be 'x', 'y' or 'z'")
        object.__setattr__(self, "sizes", tuple(_size(self.kind, size) for size in self.sizes))

    def with_numbers(self, values: Mapping[str, float]) -> Shape:
        """The shape with numbers in place of some parameters."""
        return replace(self, sizes=tuple(values.get(s, s) if isinstance(s, str) else s for s in self.sizes))

    def moved(self, rotation: npt.ArrayLike, offset: npt.ArrayLike) -> Shape:
        """The shape turned, v_body = rotation @ v, and then shifted from the mass centre, in m."""
        numbers = [*np.asarray(rotation, dtype=np.float64).reshape(9), *np.asarray(offset, dtype=np.float64).reshape(3)]
        return replace(self, place=tuple(map(float, numbers)))

    def lines(self) -> tuple[Array, ...]:
        """Lines of the shape, (k, 3) each; the sizes must be numbers.  A mesh has none here: they are in its file."""
        sizes = tuple(map(float, self.sizes))
        return self.put([line[:, _ORDER[self.axis]] for line in _LINES.get(self.kind, _nothing)(*sizes)])

    def put(self, lines: Iterable[Array]) -> tuple[Array, ...]:
        """Lines where the shape is moved to."""
        if not self.place:
            return tuple(lines)
        rotation, offset = np.reshape(self.place[:9], (3, 3)), np.array(self.place[9:])
        return tuple(line @ rotation.T + offset for line in lines)


def _size(kind: str, size: Any) -> float | str:
    """A number, or the name of a parameter."""
    if isinstance(size, str) or getattr(size, "is_Symbol", False):
        return str(size)
    try:
        value = float(size)
    except (TypeError, ValueError):
        raise TypeError(
            f"a size of a {kind} is {size!r}: it must be a number or a parameter of the model; an expression can be "
            "a parameter of its own"
        ) from None
    if not 0.0 < value < np.inf:
        raise ValueError(f"a size of a {kind} is {size!r}: it must be a positive length")
    return value


def Disc(r: Any, axis: str = "z") -> Shape:
    """A disc of radius r that turns about an axis of its body, with two diameters that show how it turns."""
    return Shape("Disc", (r,), axis)


def Box(a: Any, b: Any, c: Any) -> Shape:
    """A box with the edges a, b, c along x, y, z of its body."""
    return Shape("Box", (a, b, c))


def Cylinder(r: Any, length: Any, axis: str = "z") -> Shape:
    """A cylinder of radius r along an axis of its body."""
    return Shape("Cylinder", (r, length), axis)


def Capsule(r: Any, length: Any, axis: str = "z") -> Shape:
    """A cylinder of radius r along an axis of its body, with half a sphere at either end, beyond its length."""
    return Shape("Capsule", (r, length), axis)


def Ellipsoid(a: Any, b: Any, c: Any) -> Shape:
    """An ellipsoid with the semi-axes a, b, c along x, y, z of its body, by three ellipses."""
    return Shape("Ellipsoid", (a, b, c))


def Sphere(r: Any) -> Shape:
    """A sphere of radius r, by three great circles."""
    return Shape("Sphere", (r,))


def Rod(length: Any, axis: str = "x") -> Shape:
    """A thin rod along an axis of its body, the mass centre in its middle."""
    return Shape("Rod", (length,), axis)


# Each is written about z.
def _circle(r: float, height: float = 0.0) -> Array:
    return np.stack([r * np.cos(_ANGLES), r * np.sin(_ANGLES), np.full_like(_ANGLES, height)], axis=-1)


def _disc(r: float) -> list[Array]:
    return [_circle(r), np.array([[-r, 0.0, 0.0], [r, 0.0, 0.0]]), np.array([[0.0, -r, 0.0], [0.0, r, 0.0]])]


def _box(a: float, b: float, c: float) -> list[Array]:
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) / 2.0
    faces = [np.column_stack([square, np.full(5, side)]) for side in (-0.5, 0.5)]
    edges = [np.stack([faces[0][i], faces[1][i]]) for i in range(4)]
    return [line * np.array([a, b, c]) for line in (*faces, *edges)]


def _cylinder(r: float, length: float) -> list[Array]:
    ends = [_circle(r, side * length) for side in (-0.5, 0.5)]
    return [*ends, *(np.stack([ends[0][i], ends[1][i]]) for i in (0, 12, 24, 36))]


def _capsule(r: float, length: float) -> list[Array]:
    arc = np.linspace(0.0, np.pi, 24)  # half of an outline, which has as many points as a circle
    half = np.stack([r * np.cos(arc), np.zeros(24), r * np.sin(arc) + length / 2.0], axis=-1)
    outline = np.concatenate([half, -half, half[:1]])
    return [*(_circle(r, side * length) for side in (-0.5, 0.5)), outline, outline[:, [1, 0, 2]]]


def _ellipsoid(a: float, b: float, c: float) -> list[Array]:
    return [_circle(1.0)[:, order] * np.array([a, b, c]) for order in _ORDER.values()]


def _sphere(r: float) -> list[Array]:
    return _ellipsoid(r, r, r)


def _nothing(*_: float) -> list[Array]:
    return []


def _rod(length: float) -> list[Array]:
    return [np.array([[0.0, 0.0, -length / 2.0], [0.0, 0.0, length / 2.0]])]


_ORDER = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}
"""Which components of a line about z are those along x, y, z of the body, by the axis that z becomes."""

_LINES: dict[str, Callable[..., list[Array]]] = {
    "Disc": _disc,
    "Box": _box,
    "Capsule": _capsule,
    "Cylinder": _cylinder,
    "Ellipsoid": _ellipsoid,
    "Sphere": _sphere,
    "Rod": _rod,
}
