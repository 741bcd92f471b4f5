# SPDX-License-Identifier: BSD-3-Clause
"""Outputs as the user wrote them: scalars, and the components of vectors, points and matrices by names of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sm
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame
from sympy.physics.vector import Dyadic, vsstrrepr
from sympy.physics.vector import Vector as SymVector

from kanecore.describe.builder import Builder
from kanecore.describe.frame_paths import components
from kanecore.errors import ModelError
from kanecore.graph.vectors import Vector

from .read_frames import FrameReader
from .read_points import PointReader
from .symbols import Symbols

__all__ = ["OutputReader", "output_points"]


@dataclass(frozen=True)
class Component:
    """A component of a vector or of the position of a point, for people: its expression may be long."""

    item: Any
    axis: Any

    def __str__(self) -> str:
        of = self.item.name if isinstance(self.item, SymPoint) else f"({vsstrrepr(self.item)})"
        return f"{of} along {self.axis}"

    def xreplace(self, swap: Mapping[Any, Any]) -> Component:
        return Component(self.item.xreplace(swap) if isinstance(self.item, SymVector) else self.item, self.axis)


def output_points(outputs: Mapping[Any, Any]) -> list[Any]:
    """Points whose positions are outputs."""
    items = [_shown_in(e)[0] for e in outputs.values()]
    return [item for item in items if isinstance(item, SymPoint)]


def _shown_in(e: Any) -> tuple[Any, Any]:
    """Object of an output, and the frame in which it is shown; None for the frame if the user gave none."""
    pair = isinstance(e, tuple) and len(e) == 2 and isinstance(e[0], (SymVector, SymPoint))
    return e if pair else (e, None)


class OutputReader:
    """Adds the outputs to the description.

    Attributes
    ----------
    written : dict
        The user's text for each scalar, by its name.
    """

    def __init__(self, builder: Builder, symbols: Symbols, frames: FrameReader, points: PointReader) -> None:
        self._builder, self._symbols, self._frames, self._points = builder, symbols, frames, points
        self.written: dict[str, Any] = {}

    def read(self, name: str, e: Any) -> None:
        """Read one entry of ``outputs``."""
        for key, node, written in self._scalars(name, e):
            self._builder.output(key, node)
            self.written[key] = written

    def _scalars(self, name: str, e: Any) -> Iterator[tuple[str, int, Any]]:
        """(name, node, as written): name_x, name_y, name_z of a vector, name_0 or name_0_1 of a matrix."""
        where = f"output {name}"
        item, frame = _shown_in(e)
        if isinstance(item, (SymVector, SymPoint)):
            frame = self._frames.inertial if frame is None else frame
            if not isinstance(frame, SymFrame):
                raise ModelError(f"{where} is to be shown in {frame!r}, which is no ReferenceFrame")
            target = self._frames.number(frame, where)
            nodes = components(self._builder.graph, self._builder.frames, self._vector(where, item), target)
            for axis, node, direction in zip("xyz", nodes, frame, strict=True):
                yield f"{name}_{axis}", node, Component(item, direction)
        elif isinstance(item, sm.MatrixBase):
            flat = 1 in item.shape
            for i, entry in enumerate(item.flat()):
                key = f"{name}_{i}" if flat else f"{name}_{i // item.cols}_{i % item.cols}"
                yield key, self._symbols.node(entry, f"output {key}", "output"), entry
        else:
            _check_scalar(where, item)
            yield name, self._symbols.node(item, where, "output"), sm.sympify(item)

    def _vector(self, where: str, item: Any) -> Vector:
        """Vector, or position of a point from its reference point."""
        if isinstance(item, SymPoint):
            return self._builder.position(self._points.number(item, where))
        return self._frames.vector(item, where, "output")


def _check_scalar(where: str, e: Any) -> None:
    """Raise ModelError if an output is no scalar and has no components in a known order."""
    if isinstance(e, (sm.MatrixExpr, Dyadic, sm.NDimArray, list, tuple)) or hasattr(e, "shape"):
        raise ModelError(
            f"{where} is a {type(e).__name__}: write a scalar, a Vector or a Point, alone or with the frame that it is "
            "shown in as (vector, frame), or a Matrix"
        )
