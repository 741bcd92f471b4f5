# SPDX-License-Identifier: BSD-3-Clause
"""ForceSystem and VelocityField: sets of vectors that are bound to lines, with resultant, moment and central axis.

Forces on a body are bound to lines, and its angular velocity is bound to the instantaneous axis in the same way.

    R = Σ v_i,        M^P = Σ r^{P P_i} × v_i + Σ T_j,        M^P = M^Q + r^{PQ} × R,

v_i bound to a line through P_i, and T_j free (Kane & Levinson 1985, sections 4.1 and 4.2).  The points where |M| is
least are the central axis, on which M is parallel to R (Poinsot).  Forces need no motion for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.vector import Point, ReferenceFrame, Vector

from kanecore.describe.from_sympy import vector_algebra, vector_internals
from kanecore.describe.from_sympy.arguments import expect
from kanecore.describe.from_sympy.quaternions import quaternion_order
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, TIME, Graph
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.graph.vectors import cross, dot
from kanecore.graph.zero_tests import BRANCHING, vanish

__all__ = ["ForceSystem", "Screw", "VelocityField", "as_vector"]


class Screw:
    """A resultant, and a moment about every point.

    Parameters
    ----------
    bound : sequence of (Point, Vector)
        Vectors that are bound to lines through these points.
    free : sequence of Vector

    Raises
    ------
    ModelError
        Points or frames are not connected.
    """

    def __init__(self, bound: Sequence[tuple[Any, Any]], free: Sequence[Any] = ()) -> None:
        self.bound, self.free = tuple(bound), tuple(free)
        vectors = [*self.free]
        for point, v in self.bound:
            vectors += [v, *vector_algebra.position_steps(point, self.origin)]
        frames = [frame for v in vectors for _, frame in vector_internals.terms(v)]
        for frame in frames:
            vector_algebra.rotations(frame, frames[0])

    @property
    def origin(self) -> Any:
        """The point that the central axis is located from."""
        return self.bound[0][0]

    @property
    def resultant(self) -> Any:
        return sum((v for _, v in self.bound), Vector(0))

    def moment(self, about: Any) -> Any:
        """The moment about a point."""
        moments = (vector_algebra.cross(vector_algebra.position(point, about), v) for point, v in self.bound)
        return sum(moments, sum(self.free, Vector(0)))

    @property
    def is_couple(self) -> bool:
        """Test whether the resultant is zero, at random values."""
        return _OnGraph(self).is_couple

    @property
    def is_one_vector(self) -> bool:
        """Test whether the moment along the resultant is zero, at random values."""
        return _OnGraph(self).is_one_vector

    def axis(self, name: str) -> tuple[Any, Any]:
        """The point of the central axis that is nearest to the origin, r = R × M / R², and the moment along it.

        The point knows where it is; the points of the user do not know of it.
        """
        r, m = self.resultant, self.moment(self.origin)
        square = vector_algebra.dot(r, r)
        foot = Point(name)
        vector_internals.positions(foot)[self.origin] = vector_algebra.cross(r, m) / square
        return foot, Vector(0) if self.is_one_vector else vector_algebra.dot(r, m) / square * r


class _OnGraph:
    """Resultant and moment on a graph, in the axes of one frame.

    Each number is multiplied by a symbol, of force or of length, so that no numbers are added to one whose rounding is
    unknown: 0.1 + 0.2 − 0.3 is zero.
    """

    def __init__(self, screw: Screw) -> None:
        g = self._graph = Graph()
        self._read = FromSympy(g, self._leaf, where="the vectors")
        self._axes: Any = None
        strength, length = g.symbol("strength", PARAMETER), g.symbol("length", PARAMETER)
        self._resultant, self._moment = [0, 0, 0], [0, 0, 0]
        for v in screw.free:
            self._add(self._moment, self._components(v, g.mul(strength, length)))
        for point, v in screw.bound:
            components, arm = self._components(v, strength), [0, 0, 0]
            for step in vector_algebra.position_steps(point, screw.origin):
                self._add(arm, self._components(step, length))
            self._add(self._resultant, components)
            self._add(self._moment, cross(g, arm, components))

    def _leaf(self, e: Any) -> int:
        """Read symbols as numbers, positive if not declared negative; functions of time may have any sign."""
        g, key = self._graph, sm.srepr(e)
        if e.is_Symbol:
            node = g.symbol(key, TIME if e == vector_internals.time() else PARAMETER)
            return g.neg(node) if e.is_negative else node
        return g.symbol(key, COORDINATE)

    def _components(self, vector: Any, unit: int) -> list[int]:
        """The components in the common axes, times a unit."""
        g, total = self._graph, [0, 0, 0]
        for column, frame in vector_internals.terms(vector):
            self._axes = self._axes or frame
            components = [g.mul(self._read(x), unit) for x in column]
            for matrix in vector_algebra.rotations(frame, self._axes):
                rows = [[self._read(x) for x in row] for row in matrix.tolist()]
                self._find_quaternion(matrix, [x for row in rows for x in row])
                components = [dot(g, row, components) for row in rows]
            self._add(total, components)
        return total

    def _find_quaternion(self, matrix: Any, entries: Sequence[int]) -> None:
        """Make random values those of a rotation: four numbers that are a quaternion have norm one."""
        g, functions = self._graph, matrix.atoms(AppliedUndef)
        names = functions if matrix.free_symbols == {vector_internals.time()} else matrix.free_symbols - functions
        members = tuple(self._read(x) for x in sorted(names, key=sm.default_sort_key))
        if len(members) == 4 and members not in g.unit and quaternion_order(g, entries, members):
            g.unit.append(members)

    def _add(self, total: list[int], summand: Sequence[int]) -> None:
        total[:] = (self._graph.add(a, b) for a, b in zip(total, summand, strict=True))

    def _vanish(self, nodes: Sequence[int]) -> bool:
        """Test whether nodes are zero; nodes that branch, such as |x|, count as independent unknowns."""
        g = self._graph
        unknown = {i: g.symbol(("branch", i), COORDINATE) for i in g.below(nodes) if g.nodes[i][0] in BRANCHING}
        return vanish(g, g.substitute(nodes, unknown))

    @property
    def is_couple(self) -> bool:
        return self._vanish(self._resultant)

    @property
    def is_one_vector(self) -> bool:
        return self._vanish([dot(self._graph, self._resultant, self._moment)])


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
        omega = vector_algebra.angular_velocities(frame, inertial) or [Vector(0)]
        self._screw = Screw([(point, part) for part in omega], [vector_algebra.velocity(point, inertial)])

    @property
    def angular_velocity(self) -> Any:
        """ω."""
        return self._screw.resultant

    def velocity(self, at: Any) -> Any:
        """Velocity v^Q + ω × r^{QP} of the point of the body at the place of ``at``, which may move in the body."""
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


class ForceSystem:
    """A set S of forces, each bound to its line of action, and of torques, which are free vectors.

        R = Σ F_i,        M^{S/P} = Σ r^{P P_i} × F_i + Σ T_j,        M^{S/P} = M^{S/Q} + r^{PQ} × R

    (Kane & Levinson 1985, sections 4.1 to 4.3).  In the ``forcelist`` of a `Model`, ``(frame, system)`` is a load: its
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
        The system is empty, a force has no point, points or frames are not connected, or an item is no Vector.

    Notes ----- Numbers decide whether a sum vanishes, relative to its terms: symbols are positive numbers, as
    parameters of a `Model` are, and functions of time have any value.  The SymPy objects are not modified, and their
    ``vel`` and ``dcm`` are not called; results are not simplified.

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
        """True if R = 0 for all values of the symbols; then the moment is the same about every point."""
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
        """(Point, R): the single bound vector to which the system is equivalent, R·M = 0.

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
        """Union of both systems."""
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


def as_vector(v: Any, subject: str) -> Any:
    """A Vector; SymPy takes 0 for one as well."""
    if isinstance(v, Vector):
        return v
    if isinstance(v, (int, sm.Integer)) and v == 0:
        return Vector(0)
    raise ModelError(f"{subject} is {v!r}, not a Vector: write it with the axes of a frame, such as 2*N.x")
