# SPDX-License-Identifier: BSD-3-Clause
"""Frames as the user turned them, and the vectors that are written in their axes.

Only what the user wrote is read: adjacent orientations, angular velocities that were set.  Nothing is queried by
``ang_vel_in`` or ``dcm``, and no vector is expressed in another frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sm
from sympy.physics.vector import Vector as SymVector

from kanecore.describe.builder import IDENTITY, Builder
from kanecore.errors import ModelError
from kanecore.graph.vectors import Components, Matrix, Vector

from . import vector_internals
from .reactions import INERTIAL_AXES
from .symbols import Symbols
from .vector_algebra import nearest_first

__all__ = ["FrameReader"]


class FrameReader:
    """Reader of ReferenceFrames, which numbers each when something is first written in it.

    Attributes
    ----------
    inertial : ReferenceFrame
    index : dict of ReferenceFrame to number
    oriented_from : dict of ReferenceFrame to ReferenceFrame
        The way to the inertial frame by orientations, of all frames that have one.
    """

    def __init__(self, builder: Builder, symbols: Symbols, inertial: Any, known: Mapping[Any, int]) -> None:
        self._builder, self._symbols, self.inertial = builder, symbols, inertial
        self.index: dict[Any, int] = {inertial: Builder.inertial, **known}
        self.oriented_from = self._reached(vector_internals.neighbours)
        self._turns_in = self._reached(vector_internals.angular_velocities)
        self._being_read: set[Any] = set()

    def _reached(self, adjacent: Any) -> dict[Any, Any]:
        """The frames that the known ones reach, each with the one before."""
        return {
            frame: before for known in reversed(self.index) for frame, before in nearest_first(known, adjacent).items()
        }

    # ----------------------------------------------------------------- vectors
    def matrix(self, m: Any, where: str) -> Matrix:
        rows = [tuple(self._symbols.node(e, where) for e in m.row(i)) for i in range(3)]
        return tuple(rows)  # type: ignore[return-value]

    def vector(self, v: Any, where: str, stage: str = "kinematics") -> Vector:
        """A vector that stands at a place, as a part of something, as `Symbols.node` takes them."""
        if isinstance(v, (int, sm.Integer)) and v == 0:
            return ()
        if not isinstance(v, SymVector):
            raise ModelError(
                f"{where} is {v!r}, not a Vector: write it with the axes of a frame, such as 2*{self.inertial.name}.x"
            )
        parts = []
        for column, frame in vector_internals.terms(v):
            if not isinstance(column, sm.MatrixBase):
                raise ModelError(f"{where} holds {column}, which is not a finite real number")
            components: Components = tuple(self._symbols.node(e, where, stage) for e in column)  # type: ignore[assignment]
            if any(components):
                parts.append((self.number(frame, where), components))
        return tuple(parts)

    # ------------------------------------------------------------------ frames
    def number(self, frame: Any, where: str, oriented: bool = True) -> int:
        """Number of a frame; ``oriented``: components in its axes are needed, not only its angular velocity."""
        if frame is INERTIAL_AXES:
            return Builder.inertial
        if self._is_known(frame, oriented):
            return self.index[frame]
        for above in reversed(self._unread(frame)):
            self._read(above, where, oriented and above is frame)
        return self.index[frame]

    def _is_known(self, frame: Any, oriented: bool) -> bool:
        return frame in self.index and (frame in self.oriented_from or not oriented)

    def _unread(self, frame: Any) -> list[Any]:
        """A frame and its parents, in orientation or angular velocity, that have no number yet."""
        above = [frame]
        while True:
            frame = above[-1]
            parents = self.oriented_from if frame in self.oriented_from else self._turns_in
            parent = parents.get(frame)
            if parent is None or parent in self.index or parent in self._being_read:
                return above
            above.append(parent)

    def _read(self, frame: Any, where: str, oriented: bool) -> None:
        """Add a frame to the description; its parents are there already."""
        if self._is_known(frame, oriented):
            return
        parent, angular_parent = self._parents(frame, where, oriented)
        self._being_read.add(frame)
        if parent is not None and self._leads_back(angular_parent):
            angular_parent = parent
        turns_in = self.number(angular_parent, where, oriented=False)
        here, spin = f"the orientation of frame {frame.name}", f"the angular velocity of frame {frame.name}"
        velocity = vector_internals.angular_velocities(frame)[angular_parent]
        if parent is None:  # components in its axes are those in the axes that its angular velocity is written in
            axes = next((f for _, f in vector_internals.terms(velocity)), self.inertial)
            turned, rotation = self.number(axes, spin), IDENTITY
        else:
            turned = self.number(parent, where)
            rotation = self.matrix(vector_internals.neighbours(parent)[frame], here)
        self.index[frame] = self._builder.frame(
            frame.name, turned, rotation, angular_parent=turns_in, oriented=parent is not None
        )
        # after the frame has its number, because its angular velocity may be written in it
        self._builder.angular_velocity(self.index[frame], self.vector(velocity, spin))
        self._being_read.discard(frame)

    def _parents(self, frame: Any, where: str, oriented: bool) -> tuple[Any, Any]:
        """Parent of a frame in orientation, if any, and in angular velocity."""
        parent, angular_parent = self.oriented_from.get(frame), self._turns_in.get(frame)
        if parent is None and frame.name == self.inertial.name:
            raise ModelError(
                f"{where} is written in another frame that is named {frame.name} as well: use the ReferenceFrame that "
                "the model was given as its inertial frame"
            )
        if parent is None and (oriented or angular_parent is None):
            raise ModelError(
                f"frame {frame.name} in {where} is not oriented with respect to the inertial frame "
                f"{self.inertial.name}: write {frame.name}.orient_axis(...) or another orient method"
            )
        if angular_parent is None:
            raise ModelError(
                f"frame {frame.name} in {where} has no angular velocity: write {frame.name}.set_ang_vel(...)"
            )
        return parent, angular_parent

    def _leads_back(self, frame: Any) -> bool:
        """Test whether a frame is oriented from one that is being read.

        The shortest way from the inertial frame by angular velocities may go through a frame to the one that it is
        oriented from, where a user set the angular velocity of the last of a chain.
        """
        parent = self.oriented_from.get(frame)
        while frame not in self._being_read and parent is not None and parent is not frame:
            frame, parent = parent, self.oriented_from.get(parent)
        return frame in self._being_read
