# SPDX-License-Identifier: BSD-3-Clause
"""Sets of vectors that are bound to lines: forces on a body, and its angular velocity, are both such a set.

    R = Σ v_i,        M^P = Σ r^{P P_i} × v_i + Σ T_j,        M^P = M^Q + r^{PQ} × R,

v_i bound to a line through P_i, and T_j free (Kane & Levinson 1985, sections 5.1 and 5.2).  The points where |M| is
least are the central axis, on which M is parallel to R (Poinsot).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.vector import Point, Vector

from kanecore.graph.decide import BRANCHING, vanish
from kanecore.graph.scalars import COORDINATE, PARAMETER, TIME, Graph
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.graph.vectors import cross, dot

from . import sympy_access, sympy_vectors
from .quaternions import quaternion_order

__all__ = ["Screw"]


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
            vectors += [v, *sympy_vectors.position_steps(point, self.origin)]
        frames = [frame for v in vectors for _, frame in sympy_access.terms(v)]
        for frame in frames:
            sympy_vectors.rotations(frame, frames[0])

    @property
    def origin(self) -> Any:
        """The point that the central axis is located from."""
        return self.bound[0][0]

    @property
    def resultant(self) -> Any:
        return sum((v for _, v in self.bound), Vector(0))

    def moment(self, about: Any) -> Any:
        """The moment about a point."""
        moments = (sympy_vectors.cross(sympy_vectors.position(point, about), v) for point, v in self.bound)
        return sum(moments, sum(self.free, Vector(0)))

    @property
    def is_couple(self) -> bool:
        """Whether the resultant is zero, at random values."""
        return _OnGraph(self).is_couple

    @property
    def is_one_vector(self) -> bool:
        """Whether the moment along the resultant is zero, at random values."""
        return _OnGraph(self).is_one_vector

    def axis(self, name: str) -> tuple[Any, Any]:
        """The point of the central axis that is nearest to the origin, r = R × M / R², and the moment along it.

        The point knows where it is; the points of the user do not know of it.
        """
        r, m = self.resultant, self.moment(self.origin)
        square = sympy_vectors.dot(r, r)
        foot = Point(name)
        sympy_access.positions(foot)[self.origin] = sympy_vectors.cross(r, m) / square
        return foot, Vector(0) if self.is_one_vector else sympy_vectors.dot(r, m) / square * r


class _OnGraph:
    """Resultant and moment on a graph, in the axes of one frame.

    Each number is multiplied by a symbol, of force or of length, so that no numbers are added to one whose rounding is
    unknown: 0.1 + 0.2 − 0.3 is zero.
    """

    def __init__(self, screw: Screw) -> None:
        g = self._graph = Graph()
        self._read = FromSympy(g, self._leaf)
        self._read.where = "the vectors"
        self._axes: Any = None
        strength, length = g.symbol("strength", PARAMETER), g.symbol("length", PARAMETER)
        self._resultant, self._moment = [0, 0, 0], [0, 0, 0]
        for v in screw.free:
            self._add(self._moment, self._components(v, g.mul(strength, length)))
        for point, v in screw.bound:
            components, arm = self._components(v, strength), [0, 0, 0]
            for step in sympy_vectors.position_steps(point, screw.origin):
                self._add(arm, self._components(step, length))
            self._add(self._resultant, components)
            self._add(self._moment, cross(g, arm, components))

    def _leaf(self, e: Any) -> int:
        """Symbols are numbers, positive if not said to be negative; functions of time may have any sign."""
        g, key = self._graph, sm.srepr(e)
        if e.is_Symbol:
            node = g.symbol(key, TIME if e == sympy_access.time() else PARAMETER)
            return g.neg(node) if e.is_negative else node
        return g.symbol(key, COORDINATE)

    def _components(self, vector: Any, unit: int) -> list[int]:
        """The components in the common axes, times a unit."""
        g, total = self._graph, [0, 0, 0]
        for column, frame in sympy_access.terms(vector):
            self._axes = self._axes or frame
            components = [g.mul(self._read(x), unit) for x in column]
            for matrix in sympy_vectors.rotations(frame, self._axes):
                rows = [[self._read(x) for x in row] for row in matrix.tolist()]
                self._find_quaternion(matrix, [x for row in rows for x in row])
                components = [dot(g, row, components) for row in rows]
            self._add(total, components)
        return total

    def _find_quaternion(self, matrix: Any, entries: Sequence[int]) -> None:
        """Random values are those of a rotation: four numbers that are a quaternion have length one."""
        g, functions = self._graph, matrix.atoms(AppliedUndef)
        names = functions if matrix.free_symbols == {sympy_access.time()} else matrix.free_symbols - functions
        members = tuple(self._read(x) for x in sorted(names, key=sm.default_sort_key))
        if len(members) == 4 and members not in g.unit and quaternion_order(g, entries, members):
            g.unit.append(members)

    def _add(self, total: list[int], summand: Sequence[int]) -> None:
        total[:] = (self._graph.add(a, b) for a, b in zip(total, summand, strict=True))

    def _vanish(self, nodes: Sequence[int]) -> bool:
        """Whether nodes are zero; what branches, such as |x|, is an unknown like any other."""
        g = self._graph
        unknown = {i: g.symbol(("branch", i), COORDINATE) for i in g.below(nodes) if g.nodes[i][0] in BRANCHING}
        return vanish(g, g.substitute(nodes, unknown))

    @property
    def is_couple(self) -> bool:
        return self._vanish(self._resultant)

    @property
    def is_one_vector(self) -> bool:
        return self._vanish([dot(self._graph, self._resultant, self._moment)])
