# SPDX-License-Identifier: BSD-3-Clause
"""Forces that are bound to lines, and torques: what they amount to, before any motion is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import sympy as sm
from sympy.physics.vector import Point, Vector

from kanecore.errors import ModelError

from .arguments import expect
from .screws import Screw

__all__ = ["ForceSystem", "as_vector"]


class ForceSystem:
    """A set S of forces, each bound to its line of action, and of torques, which are free vectors.

        R = Σ F_i,        M^{S/P} = Σ r^{P P_i} × F_i + Σ T_j,        M^{S/P} = M^{S/Q} + r^{PQ} × R

    (Kane & Levinson 1985, sections 5.1 to 5.3).  In the ``forcelist`` of a `Model`, ``(frame, system)`` is a load: its
    forces act at their points, and its torques on that frame.

    Parameters
    ----------
    forces : sequence of (Point, Vector)
        Vectors that are bound to a line through a point.
    torques : sequence of Vector, optional
        Torques of couples, which are bound to no point.

    Raises
    ------
    ModelError
        Of an empty system, a force without a point, points or frames that are not connected, and what is no Vector.

    Notes
    -----
    Whether something vanishes is decided by numbers, beside the terms that it is summed from: symbols stand for
    positive numbers, as parameters of a `Model` do, and functions of time for any.  The SymPy objects are not changed,
    and not asked for ``vel`` or ``dcm``; results are not simplified.

    Examples
    --------
    ``kc.ForceSystem([(P1, F1), (P2, F2)], torques=[T]).equivalent(Q)``
    """

    def __init__(self, forces: Sequence[tuple[Any, Any]] = (), torques: Sequence[Any] = ()) -> None:
        bound = [_bound(item, i) for i, item in enumerate(_listed(forces, "forces"))]
        free = [as_vector(v, f"torques[{i}]") for i, v in enumerate(_listed(torques, "torques"))]
        if not bound and not free:
            raise ModelError("the ForceSystem is empty: give forces, [(point, vector), ...], or torques=[...]")
        self._screw = Screw(bound, free)

    @property
    def forces(self) -> tuple[tuple[Any, Any], ...]:
        """The bound vectors, (point, vector) each."""
        return self._screw.bound

    @property
    def torques(self) -> tuple[Any, ...]:
        """The free vectors."""
        return self._screw.free

    @property
    def resultant(self) -> Any:
        """R = Σ F_i."""
        return self._screw.resultant

    def moment(self, about: Any) -> Any:
        """M = Σ r × F_i + Σ T_j, r from ``about`` to a point of each line of action."""
        expect(about, Point, "about", "Point")
        return self._screw.moment(about)

    def is_couple(self) -> bool:
        """Whether R = 0, for all values of the symbols; then the moment is the same about every point."""
        return self._screw.is_couple

    @property
    def torque(self) -> Any:
        """The torque of a couple: its moment about any point.

        Raises
        ------
        ModelError
            The system is no couple: its moment depends on the point.
        """
        if not self.is_couple():
            raise ModelError(
                f"the forces are no couple: their resultant is {self.resultant}, and their moment depends on the "
                "point; write moment(about)"
            )
        return self._screw.moment(self._screw.origin) if self.forces else sum(self.torques, Vector(0))

    def equivalent(self, at: Any) -> tuple[Any, Any]:
        """(R, M): the force through a point, and the torque, that are equivalent to the system."""
        return self.resultant, self.moment(at)

    def central_axis(self) -> tuple[Any, Any]:
        """(Point, M): a point of the line about whose points the moment is least, and that moment, parallel to R.

        The line goes through the point along R, and the point is the one that is nearest to that of the first force:
        r = R × M / R², M_axis = (R·M / R²) R (Poinsot).  ``point.pos_from(P)`` of any point of the system works, and no
        point of the user's knows of it.

        Raises
        ------
        ModelError
            The system is a couple, which has the same moment everywhere.
        """
        self._refuse_couple("has no central axis")
        return self._screw.axis("central_axis")

    def line_of_action(self) -> tuple[Any, Any]:
        """(Point, R): the one bound vector that the system is equivalent to, R·M = 0.

        Raises
        ------
        ModelError
            There is none: the system is a couple or a wrench.
        """
        self._refuse_couple("has no line of action")
        if not self._screw.is_one_vector:
            raise ModelError(
                "the system has no line of action: it is a wrench, with a moment along its resultant about every "
                "point; write central_axis() or equivalent(at)"
            )
        return self._screw.axis("line_of_action")[0], self.resultant

    def _refuse_couple(self, why: str) -> None:
        if self.is_couple():
            raise ModelError(
                f"the system {why}: it is a couple, whose resultant is zero, and whose torque is the same about every "
                "point; write torque"
            )

    def __add__(self, other: Any) -> ForceSystem:
        """Both together."""
        if not isinstance(other, ForceSystem):
            return NotImplemented
        return ForceSystem([*self.forces, *other.forces], [*self.torques, *other.torques])

    def __neg__(self) -> ForceSystem:
        """The reaction: the opposite forces on the same lines, and the opposite torques."""
        return ForceSystem([(point, -v) for point, v in self.forces], [-v for v in self.torques])

    def __repr__(self) -> str:
        forces = ", ".join(f"({point.name}, {v})" for point, v in self.forces)
        torques = f", torques=[{', '.join(map(str, self.torques))}]" if self.torques else ""
        return f"ForceSystem([{forces}]{torques})"


def _listed(items: Any, argument: str) -> list[Any]:
    if isinstance(items, (Vector, Mapping, Set, str)) or not isinstance(items, Iterable):
        what = "(point, vector)" if argument == "forces" else "vectors"
        raise ModelError(f"{argument} of a ForceSystem is {items!r}: write a list of {what}")
    return list(items)


def _bound(item: Any, number: int) -> tuple[Any, Any]:
    """A point and a vector, checked."""
    what = f"forces[{number}]"
    if isinstance(item, Vector):
        raise ModelError(
            f"{what} is {item}, a vector without a point: write (point, vector), and list the torques of couples in "
            "torques=[...]"
        )
    try:
        point, vector = item
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {item!r}: write (point, vector)") from None
    expect(point, Point, f"the point of {what}", "Point")
    return point, as_vector(vector, what)


def as_vector(v: Any, what: str) -> Any:
    """A Vector; SymPy takes 0 for one as well."""
    if isinstance(v, Vector):
        return v
    if isinstance(v, (int, sm.Integer)) and v == 0:
        return Vector(0)
    raise ModelError(f"{what} is {v!r}, not a Vector: write it with the axes of a frame, such as 2*N.x")
