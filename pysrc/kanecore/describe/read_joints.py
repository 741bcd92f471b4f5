# SPDX-License-Identifier: BSD-3-Clause
"""Joints that the user named, and how the rows of G act on bodies."""

from __future__ import annotations

from typing import Any

from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame

from kanecore.errors import ModelError

from .arguments import expect
from .builder import Builder
from .read_bodies import Bodies
from .read_frames import FrameReader
from .read_points import PointReader

__all__ = ["JointReader"]


class JointReader:
    """Adds joints and attachments to the description, after the bodies and constraints."""

    def __init__(self, builder: Builder, frames: FrameReader, points: PointReader, bodies: Bodies) -> None:
        self._builder, self._frames, self._points, self._bodies = builder, frames, points, bodies

    def joint(self, name: str, joint: Any) -> None:
        """Of ``joints={name: (parent, child, point)}``."""
        where = f"joint {name}"
        try:
            parent, child, point = joint
        except (TypeError, ValueError):
            raise ModelError(f"{where} is {joint!r}: give (parent, child, point)") from None
        above = self._bodies.number(parent, "parent", where)
        below = self._bodies.number(child, "child", where)
        expect(point, SymPoint, f"the point of {where}", "Point")
        self._builder.joint(name, above, below, self._points.number(point, where))

    def attachment(self, row: Any, item: Any) -> None:
        """Of ``attach={row: (child, child_point, parent, parent_point, vector)}``."""
        row = self._builder.row(row)
        where = f"attach={{{row}: ...}}"
        try:
            child, child_at, parent, parent_at, vector = item
        except (TypeError, ValueError):
            raise ModelError(f"{where} is {item!r}: give (child, child_point, parent, parent_point, vector)") from None
        kind = "torque" if isinstance(child_at, SymFrame) else "force"
        for place in (child_at, parent_at):
            if not isinstance(place, SymFrame if kind == "torque" else SymPoint):
                raise ModelError(f"{where} acts at {place!r}: give two points for a force, two frames for a torque")
        below = self._bodies.number(child, "child", where)
        above = self._bodies.number(parent, "parent", where)
        number = self._frames.number if kind == "torque" else self._points.number
        places = [number(place, where) for place in (child_at, parent_at)]
        force = self._frames.vector(vector, where)
        self._builder.attach(row, kind, (below, places[0]), (above, places[1]), force)
