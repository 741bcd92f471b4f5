# SPDX-License-Identifier: BSD-3-Clause
"""The velocities of all points of a rigid body: ω is bound to the instantaneous axis as a force is to its line."""

from __future__ import annotations

from typing import Any

from sympy.physics.vector import Point, ReferenceFrame, Vector

from kanecore.errors import ModelError

from . import sympy_vectors
from .arguments import expect
from .screws import Screw

__all__ = ["VelocityField"]


class VelocityField:
    """The velocities of the points of a rigid body, v^P = v^Q + ω × r^{QP} (Kane & Levinson 1985, section 2.7).

    As a set of vectors it is ω, bound to a line through Q, with the free vector v^Q: v^P is its moment about P.

    Parameters
    ----------
    frame : ReferenceFrame
        A frame that is fixed in the body.
    point : Point
        A point Q of the body.
    inertial : ReferenceFrame
        The frame that velocities are relative to.

    Raises
    ------
    ModelError
        The point has no velocity, or the frame no angular velocity, in ``inertial``.

    Notes
    -----
    Orientations, positions and velocities are taken as they were set, and v^Q where none was set is that of the nearest
    point that has one, and the derivative of the position.  Nothing is stored in the SymPy objects.
    """

    def __init__(self, frame: Any, point: Any, inertial: Any) -> None:
        expect(frame, ReferenceFrame, "frame", "ReferenceFrame")
        expect(point, Point, "point", "Point")
        expect(inertial, ReferenceFrame, "inertial", "ReferenceFrame")
        self._names = frame.name, inertial.name
        omega = sympy_vectors.angular_velocities(frame, inertial) or [Vector(0)]
        self._screw = Screw([(point, part) for part in omega], [sympy_vectors.velocity(point, inertial)])

    @property
    def angular_velocity(self) -> Any:
        """ω."""
        return self._screw.resultant

    def velocity(self, at: Any) -> Any:
        """The velocity v^Q + ω × r^{QP} of the point of the body that is at ``at``, which may move in the body."""
        expect(at, Point, "at", "Point")
        return self._screw.moment(at)

    def reduction(self, at: Any) -> tuple[Any, Any]:
        """(ω, v), from which the velocities of all points follow."""
        return self.angular_velocity, self.velocity(at)

    def instantaneous_screw(self) -> tuple[Any, Any]:
        """(Point, v): a point of the instantaneous axis, which is parallel to ω, and the velocity along the axis.

        The point is the one that is nearest to Q: r = ω × v / ω², v_axis = (ω·v / ω²) ω.  ``point.pos_from(Q)`` works,
        and no point of the user's knows of it.

        Raises
        ------
        ModelError
            ω = 0: all points have the same velocity.
        """
        if self._screw.is_couple:
            raise ModelError(
                f"frame {self._names[0]} does not turn in {self._names[1]}: all points have one velocity, and there is "
                "no instantaneous axis; write velocity(at)"
            )
        return self._screw.axis("instantaneous_axis")

    def __repr__(self) -> str:
        return f"VelocityField(frame {self._names[0]}, point {self._screw.origin.name}, in {self._names[1]})"
