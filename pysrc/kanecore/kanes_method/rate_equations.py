# SPDX-License-Identifier: BSD-3-Clause
"""Kinematical equations and constraints in the layout of SymPy's KanesMethod, with or without bodies.

    k_kq̇ q̇ + k_ku u + f_k = 0,    k_nh u + f_nh = 0,    k_dnh u̇ + f_dnh = 0,    ∂u_dependent/∂u_independent = A_rs.

Each of the user's equations has a row; derivatives of configuration constraints have rows only if the user gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from sympy import Matrix
from sympy.solvers.solveset import NonlinearError

from kanecore.describe.builder import Builder
from kanecore.describe.from_sympy.arguments import ListedArguments
from kanecore.describe.from_sympy.symbols import Symbols, function_name
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import ACCELERATION, SPEED, Graph
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.sympy_bridge import to_sympy

__all__ = ["RateEquations", "Rows", "Solver"]

Solver = Callable[[Any, Any], Any]
"""Solver x = solver(A, b) of A x = b with SymPy's matrices; None for the graph."""

Rows = list[list[int]]


class RateEquations:
    """Equations that are linear in q̇, u and u̇, on a separate graph.

    Attributes
    ----------
    graph : Graph
    n_independent : int
        Number of independent speeds.
    k_kqdot, k_ku, f_k
        As written: the coefficients of q̇ and u, and the remaining terms.
    rates : list of nodes
        q̇ in q, u and t.
    velocity, acceleration : list of (coefficients, remainder)
        Rows (k_nh, f_nh) with auxiliary speeds, and (k_dnh, f_dnh) with zero in place of these.

    Raises
    ------
    ValueError
        The kinematical equations are not linear in q̇ and u; NonlinearError, the velocity constraints in u.
    """

    def __init__(self, arguments: ListedArguments, kinematical: Solver | None, constraint: Solver | None) -> None:
        builder = Builder("rates")
        self.graph: Graph = builder.graph
        self._symbols = symbols = Symbols(builder, arguments)
        self._constraint_solver = constraint
        self._qdot = [self.graph.symbol(("q̇", function_name(x)), SPEED) for x in symbols.q]
        self._auxiliary = [symbols.node(x) for x in symbols.auxiliary]
        self.n_independent = len(arguments.u_ind)
        self._read_kinematics(arguments.kd_eqs, kinematical)
        symbols.know_rates(self.rates)
        self.velocity = self._read_velocity(arguments.constraints["velocity"])
        self._given_acceleration = arguments.constraints["acceleration"]

    # -------------------------------------------------------------- kinematics
    def _read_kinematics(self, kd_eqs: Sequence[Any], solver: Solver | None) -> None:
        g, symbols, n = self.graph, self._symbols, len(self._qdot)
        symbols.know_rates(self._qdot)
        equations = [symbols.node(e, f"kinematical equation {i}") for i, e in enumerate(kd_eqs)]
        slopes = [accumulate(g, [(e, g.one)], [*self._qdot, *symbols.speeds], SPEED) for e in equations]
        if any(g.depends[a] & SPEED for row in slopes for a in row):
            raise ValueError(
                "the kinematical equations are not linear: they must be linear in the derivatives of the coordinates "
                "and in the speeds"
            )
        self.k_kqdot, self.k_ku = [row[:n] for row in slopes], [row[n:] for row in slopes]
        without_rates = g.substitute(equations, dict.fromkeys(self._qdot, 0))
        self.f_k = g.substitute(without_rates, dict.fromkeys(symbols.speeds, 0))
        right = [[g.neg(e)] for e in without_rates]
        names = [f"the derivative of {function_name(x)}" for x in symbols.q]
        self.rates = [x for [x] in self._solution(self.k_kqdot, right, solver, names)] if equations else self._qdot

    def _solution(self, matrix: Rows, right: Rows, solver: Solver | None, unknowns: Sequence[str]) -> Rows:
        """The solution x of matrix @ x = right, by rows; names of unknowns are for messages."""
        if solver is not None:
            answer = Matrix(solver(self.written(matrix), self.written(right)))
            answer = answer.reshape(len(right), len(right[0]))
            return [[self._symbols.node(e, "what the linear solver returned") for e in row] for row in answer.tolist()]
        try:
            columns = [solve(self.graph, matrix, column) for column in zip(*right, strict=True)]
        except Singular as error:
            raise ModelError(
                f"the equations that give {', '.join(unknowns)} are singular: they do not determine "
                f"{unknowns[error.column]}"
            ) from None
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def rate_slopes(self) -> Rows:
        """The coefficients of u in q̇."""
        g = self.graph
        return [accumulate(g, [(rate, g.one)], self._symbols.speeds, SPEED) for rate in self.rates]

    @property
    def rate_remainders(self) -> list[int]:
        """Remainder of q̇ at u = 0."""
        return self.graph.substitute(self.rates, dict.fromkeys(self._symbols.speeds, 0))

    # -------------------------------------------------------------- constraints
    def _read_velocity(self, constraints: dict[str, Any]) -> list[tuple[list[int], int]]:
        g, speeds = self.graph, self._symbols.speeds
        rows = []
        for name, e in constraints.items():
            node = self._symbols.node(e, name)
            slopes = accumulate(g, [(node, g.one)], speeds, SPEED)
            if any(g.depends[a] & SPEED for a in slopes):
                raise NonlinearError(
                    f"{name} is not linear in the speeds, as KanesMethod needs: kanecore.Model accepts it"
                )
            rows.append((slopes, g.substitute([node], dict.fromkeys(speeds, 0))[0]))
        return rows

    @cached_property
    def acceleration(self) -> list[tuple[list[int], int]]:
        """The user's rows, or the derivatives of the rows on velocities."""
        g, symbols = self.graph, self._symbols
        without_auxiliary = dict.fromkeys(self._auxiliary, 0)
        if self._given_acceleration:
            nodes = [symbols.node(e, name, "acceleration") for name, e in self._given_acceleration.items()]
            nodes = g.substitute(nodes, without_auxiliary)
            slopes = [accumulate(g, [(e, g.one)], symbols.accelerations, ACCELERATION) for e in nodes]
            rest = g.substitute(nodes, dict.fromkeys(symbols.accelerations, 0))
            return list(zip(slopes, rest, strict=True))
        for x, order in list(symbols.inputs):
            symbols.input(x, order + 1)
        seeds = dict(zip(symbols.coordinates, g.substitute(self.rates, without_auxiliary), strict=True))
        for (x, order), node in symbols.inputs.items():
            if (x, order + 1) in symbols.inputs:
                seeds[node] = symbols.inputs[x, order + 1]
        rate = Tangent(g, seeds | {symbols.time: g.one}).of
        values = [g.sum([f, *(g.mul(x, u) for x, u in zip(k, symbols.speeds, strict=True))]) for k, f in self.velocity]
        values = g.substitute(values, without_auxiliary)
        return [(k, rate(value)) for (k, _), value in zip(self.velocity, values, strict=True)]

    @cached_property
    def dependence(self) -> Rows:
        """A_rs, the derivatives of the dependent speeds by the independent ones, then by the auxiliary ones."""
        p, g = self.n_independent, self.graph
        by_auxiliary = [accumulate(g, [(f, g.one)], self._auxiliary, SPEED) for _, f in self.velocity]
        right = [[g.neg(a) for a in (*k[:p], *b)] for (k, _), b in zip(self.velocity, by_auxiliary, strict=True)]
        if not right:
            return []
        matrix, names = [k[p:] for k, _ in self.velocity], [function_name(u) for u in self._symbols.u[p:]]
        return self._solution(matrix, right, self._constraint_solver, names)

    # ------------------------------------------------------------------- SymPy
    @property
    def names(self) -> dict[Any, Any]:
        """SymPy's symbols by the keys of the graph; keys are the same in every description."""
        s, keys = self._symbols, self.graph.nodes
        symbols = {keys[s.time][1]: s.t}
        for nodes, names in (
            (s.coordinates, s.q),
            (self._qdot, [x.diff(s.t) for x in s.q]),
            (s.speeds, s.u),
            (s.accelerations, [x.diff(s.t) for x in s.u]),
            (self._auxiliary, s.auxiliary),
            (s.parameters.values(), s.parameters),
            (s.inputs.values(), [s.rate(*key) for key in s.inputs]),
        ):
            symbols.update((keys[i][1], name) for i, name in zip(nodes, names, strict=True))
        symbols.update((("f", f.__name__), f) for f in s.functions)
        return symbols

    def written(self, rows: Rows) -> Any:
        """SymPy's Matrix of some nodes; empty without rows."""
        _, flat = to_sympy(self.graph, [x for row in rows for x in row], self.names, nested=True)
        return Matrix(len(rows), len(rows[0]), flat) if rows else Matrix()

    def without_auxiliary(self, rows: Rows) -> Rows:
        """Expressions with the auxiliary speeds set to zero."""
        return [self.graph.substitute(row, dict.fromkeys(self._auxiliary, 0)) for row in rows]

    def partial(self, components: Sequence[Any], speeds: Sequence[Any]) -> list[Any]:
        """The derivatives of a column of SymPy's expressions by some speeds, with q̇ replaced by its solution."""
        g = self.graph
        nodes = [self._symbols.node(e, "a vector") for e in components]
        by = [Tangent(g, {self._symbols.node(u): g.one}).of for u in speeds]
        slopes = [[[slope(x)] for x in nodes] for slope in by]
        if any(g.depends[x] & SPEED for column in slopes for [x] in column):
            raise ValueError(f"{list(components)} is not linear in the speeds, and has no partial velocities")
        return [self.written(column) for column in slopes]
