# SPDX-License-Identifier: BSD-3-Clause
"""Optimal control problems as nonlinear programs, by direct collocation on a mesh.

Mechanisms with constraints F(t, x, r) = 0, and unit quaternions, take projected collocation (Bordalba, Schoels, Ros,
Porta & Diehl, *IEEE Transactions on Robotics* 39, 2023).  States inside an interval follow the rule; its end also moves
along the rows of F, by multipliers μ that are unknowns, onto F = 0:

    X_s − X_0 − h Σ_j b_j f_j + F_xᵀ μ = 0,    F(X_s) = 0,    |μ| ≤ μ_max

The limit keeps the end from jumping across the manifold, and is dropped once a solution is known.  Rows of F that
follow from others are left out, as are conditions on the ends that follow from F.

A phase that follows another begins at the states x⁻ that the reset map makes of the end of the other one, but for an
impact, with impulses Λ along the rows of G that are unknowns as well:

    q⁺ = q⁻,    M (u⁺ − u⁻) = GᵀΛ,    F(q⁺, u⁺) = 0
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt
import sympy as sm

from kanecore.errors import ModelError
from kanecore.export.export_methods import casadi
from kanecore.optimal.collocated_motion import CollocatedMotion
from kanecore.optimal.collocation_rules import Triplets, lagrange
from kanecore.optimal.equations_of_motion import constraint_rows, multipliers
from kanecore.optimal.expressions_by_name import as_casadi
from kanecore.optimal.motion_problem import Condition, MotionProblem
from kanecore.rank import independent_columns

__all__ = ["EQUATIONS", "Formulas", "Program", "Transcription", "constraints", "joined", "program_of_phases"]

Array = npt.NDArray[np.float64]

EQUATIONS = "equations of motion"  # label of their rows
_LIMIT = 0.05  # of μ
_FOLLOWS = 1e-6  # the part of a condition that is independent of others, if it follows from them


@dataclass(frozen=True, eq=False)
class Program:
    """Nonlinear program: terms "x", "f", "g" of CasADi, a guess z0, ranges of the unknowns and of the rows g.

    Each block of rows has a label, and the time of each row relative to the duration; each block of unknowns, y, v,
    parameters, duration, μ, changes of speeds by an impact, and its impulses, a shape.  ``exact`` says that there are
    second derivatives.
    """

    terms: dict[str, Any]
    z0: Array
    bounds: tuple[Array, Array]
    rows: tuple[Array, Array]
    labels: list[tuple[str, Array]]
    shapes: list[tuple[int, int]]
    exact: bool

    def unpacked(self, z: Array) -> list[Array]:
        """The blocks of unknowns, or of multipliers of their bounds."""
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(z, ends[:-1]), self.shapes, strict=True)]


def constraints(problem: MotionProblem) -> tuple[Any, Any]:
    """F(t, x, r, p) and F_x as functions of CasADi: constraints on coordinates and on speeds, and unit quaternions."""
    f = constraint_rows(problem.dyn)
    arguments = f.sx_in()
    rows = ca.vertcat(*f(*arguments))
    slopes = ca.densify(ca.jacobian(rows, arguments[1]))
    return ca.Function("rows", arguments, [rows]), ca.Function("slopes", arguments, [slopes])


class Formulas:
    """Expressions of a problem as functions of t, y, v, p, known numbers k, and multipliers l if they hold any."""

    def __init__(self, problem: MotionProblem) -> None:
        dyn, (of_y, of_v, _, _) = problem.dyn, problem.selections
        sizes = (1, len(problem.states), len(problem.controls), dyn.n_p, len(problem.numbers), problem.n_multipliers)
        self.arguments = t, y, v, p, k, forces = [ca.SX.sym(name, n) for name, n in zip("tyvpkl", sizes, strict=True)]
        r = ca.mtimes(ca.DM(of_y), y) + ca.mtimes(ca.DM(of_v), v) + k[: dyn.n_r, :]
        groups = [(("t",), t), (problem.numbers[dyn.n_r :], k[dyn.n_r :]), (dyn.parameter_names, p)]
        self._values: dict[str, Any] = {}
        for names, values in (*groups, (dyn.input_names, r), (problem.states, y)):
            self._values |= zip(names, ca.vertsplit(values) if names else (), strict=True)
        if problem.names & {*dyn.output_names} - {*self._values}:
            outputs = ca.vertsplit(casadi(dyn, "outputs")(t, y[: dyn.n_x], r, p))
            self._values = dict(zip(dyn.output_names, outputs, strict=True)) | self._values
        if problem.n_multipliers:
            self._values = dict(zip(dyn.constraint_names, ca.vertsplit(forces), strict=True)) | self._values

    def function(self, *groups: Iterable[Any]) -> Any:
        """Function that returns a column of expressions for each group."""
        columns = [[as_casadi(ca, formula, self._values) for formula in group] for group in groups]
        results = [ca.vertcat(*column) if column else ca.SX(0, 1) for column in columns]
        return ca.Function("formulas", self.arguments, results)


class Transcription:
    """Unknowns of the program of a guess, and its rows as far as they are written."""

    def __init__(self, guess: CollocatedMotion) -> None:
        self.problem, self.mesh, self.guess, self.exact = guess.problem, guess.mesh, guess, True
        problem, mesh = self.problem, self.mesh
        self.rows: list[tuple[str, Array, Any, float, float]] = []
        count, free = len(mesh.points), problem.free_duration
        self.Y = ca.MX.sym("Y", len(problem.states), len(mesh.nodes))
        self.V = ca.MX.sym("V", len(problem.controls), count)
        self.U, self.T = ca.MX.sym("U", len(problem.unknown)), ca.MX.sym("T", int(free))
        self.M = ca.MX.sym("M", 0, mesh.n)  # the multipliers μ
        self.W, self.L = ca.MX.sym("W", 0), ca.MX.sym("L", 0)  # changes of speeds at the start, and impulses Λ
        self.duration = self.T if free else ca.MX(problem.duration[0])
        self.p = ca.MX(ca.DM(problem.p))
        for i, name in enumerate(problem.unknown):
            self.p[problem.dyn.parameter_names.index(name)] = self.U[i]
        # inputs at ends of intervals, by the polynomials through those at the points
        at_start, at_end = (np.array([np.polyval(c, side) for c in lagrange(mesh.rule.points)]) for side in (0.0, 1.0))
        across = mesh.blocks(at_end[np.newaxis], 1, mesh.stride, np.ones(mesh.n), count)
        begin = ca.mtimes(self.V[:, : len(at_start)], ca.DM(at_start))
        ends = self.Y[:, :: mesh.stages], ca.horzcat(begin, ca.mtimes(self.V, _matrix(across).T))
        self.edges = self._at(mesh.edges, *ends)
        y = self.Y if mesh.rule.shared else ca.mtimes(self.Y, _matrix(mesh.of_nodes).T)
        self.points = self._at(mesh.points, y, self.V)

    def _at(self, times: Array, y: Any, v: Any) -> tuple[Any, ...]:
        """t, y, v, p, known numbers k and multipliers l at times, as `Formulas` take them."""
        problem, n = self.problem, len(times)
        k = ca.MX(ca.DM(problem.known_values(self.guess.duration * times)))
        at: tuple[Any, ...] = (self.duration * ca.DM(times).T, y, v, ca.repmat(self.p, 1, n), k)
        if not problem.n_multipliers:
            return *at, ca.MX(0, n)
        dyn, state = problem.dyn, self._states_and_inputs(*at)
        return *at, multipliers(dyn).map(n)(*state, problem.f.map(n)(*state)[dyn.n_q : dyn.n_q + dyn.n_u, :])

    def _states_and_inputs(self, t: Any, y: Any, v: Any, p: Any, k: Any, *beyond: Any) -> tuple[Any, ...]:
        """t, x, r, p, as kernels take them."""
        of_y, of_v, _, _ = map(ca.DM, self.problem.selections)
        n_x, n_r = self.problem.dyn.n_x, self.problem.dyn.n_r
        return t, y[:n_x, :], ca.mtimes(of_y, y) + ca.mtimes(of_v, v) + k[:n_r, :], p

    def _add(self, label: str, times: Array, term: Any, low: float = 0.0, high: float = 0.0) -> None:
        if term.numel():
            self.rows.append((label, times, term, low, high))

    @cached_property
    def formulas(self) -> Formulas:
        return Formulas(self.problem)

    def program(self, boxed: bool, before: Transcription | None = None) -> Program:
        """The nonlinear program; ``boxed`` limits μ, and ``before`` is the phase at whose end this one begins."""
        problem, mesh = self.problem, self.mesh
        dropped, periodic = self._motion(before)
        formulas, variables = self.formulas, (*problem.states, *problem.controls)
        path = [*(row for row in problem.bounds if row.name not in variables), *problem.path]
        costs = [[] if formula is None else [formula] for formula in (problem.cost, problem.final_cost)]
        along = formulas.function(costs[0], [row.expression for row in path]).map(len(mesh.points))
        integrand, values = along(*self.points)
        for i, row in enumerate(path):
            self._add(row.label, mesh.points, values[i, :], row.low, row.high)
        cost = ca.sum1(self._ends(costs[1], periodic))
        if costs[0]:
            cost += self.duration * ca.mtimes(integrand, ca.DM(mesh.weights))
        z0, low, high = self._ranges(dropped, boxed)
        terms = [row[2] for row in self.rows]
        sides = (_joined(np.full(row[2].numel(), row[side]) for row in self.rows) for side in (3, 4))
        blocks = (self.Y, self.V, self.U, self.T, self.M, self.W, self.L)
        labels = [(label, np.repeat(times, term.numel() // len(times))) for label, times, term, _, _ in self.rows]
        shapes = [block.T.shape for block in blocks]
        functions = {"x": ca.veccat(*blocks), "f": ca.densify(cost), "g": ca.veccat(*terms)}
        return Program(functions, z0, (low, high), (next(sides), next(sides)), labels, shapes, self.exact)

    def _motion(self, before: Transcription | None) -> tuple[set[tuple[int, int]], list[str]]:
        """Write equations of motion and constraints; fixed ends that follow, and periodic states that do not."""
        problem, mesh = self.problem, self.mesh
        n_x, s, (_, _, of_y, of_v) = problem.dyn.n_x, mesh.stages, map(ca.DM, problem.selections)
        rates = problem.f.map(len(mesh.points))(*self._states_and_inputs(*self.points))
        rates = ca.vertcat(rates, ca.mtimes(of_y, self.points[1]) + ca.mtimes(of_v, self.V))
        integrals = ca.mtimes(rates, _matrix(mesh.integrals).T)
        defects = ca.mtimes(self.Y, _matrix(mesh.differences).T) - self.duration * integrals
        fixed = {key for key, (low, high) in _fixable(problem).items() if low == high}
        F, slopes = constraints(problem)
        if not F.numel_out(0):
            self._add(EQUATIONS, mesh.nodes[1:], defects)
            if before is not None:
                self._after(before, fixed)
            return _following(problem, [], fixed)
        numbers = [np.array(slopes(*state)) for state in self._guessed_edges()]
        kept = max((independent_columns(rows.T, _FOLLOWS).tolist() for rows in numbers), key=len)
        self.exact = len(kept) == F.numel_out(0)
        if not self.exact and problem.f.is_a("SXFunction"):
            raise ModelError(
                f"rows of the constraints of {problem.dyn.name!r} follow from others, which takes a C compiler in "
                "optimize: pip install ziglang, or leave out those that dyn.check() calls redundant"
            )
        self.M = ca.MX.sym("M", len(kept), mesh.n)
        at_edges = self._states_and_inputs(*self.edges)
        rows = F.map(mesh.n + 1)(*at_edges)[kept, :]
        normals = ca.horzsplit(slopes.map(mesh.n + 1)(*at_edges)[kept, :], n_x)[1:]
        pushes = ca.horzcat(*(ca.mtimes(normal.T, self.M[:, k]) for k, normal in enumerate(normals)))
        inside = [k * s + i for k in range(mesh.n) for i in range(s - 1)]
        self._add(EQUATIONS, mesh.nodes[1:][inside], defects[:, inside])
        ends = defects[:, s - 1 :: s] + ca.vertcat(pushes, ca.MX(len(problem.states) - n_x, mesh.n))
        self._add(EQUATIONS, mesh.edges[1:], ends)
        first = int(all((0, i) in fixed for i in range(n_x)))  # a whole state satisfies them
        begin = first if before is None else 1
        self._add("constraints", mesh.edges[begin:], rows[:, begin:])
        if before is not None:
            self._after(before, fixed)
        return _following(problem, [(1, numbers[-1][kept]), (0, numbers[0][kept])][: 2 - first], fixed)

    def _after(self, before: Transcription, fixed: set[tuple[int, int]]) -> None:
        """Write the reset map from the end of the phase before, the impact, and constraints at the first node."""
        problem, dyn, earlier = self.problem, self.problem.dyn, Formulas(before.problem)
        old, new, m = earlier.arguments, self.formulas.arguments, dyn.n_constraints
        state, shared = self._states_and_inputs(*new), {*problem.states[dyn.n_x :]} & {*before.problem.states}
        reset = before.problem.reset | {name: sm.Symbol(name) for name in sorted(shared)}
        change, impulses = ca.SX.sym("w", dyn.n_u if m else 0), ca.SX.sym("L", m)
        begun, impact = ca.SX(new[1]), ca.SX(0, 1)
        if m:
            begun[dyn.names.speeds] -= change
            mass, G = (casadi(dyn, name)(*state) for name in ("mass_matrix", "constraint_jacobian"))
            impact = ca.mtimes(mass, change) - ca.mtimes(G.T, impulses)
        rows = begun[[problem.states.index(name) for name in reset]] - earlier.function(reset.values())(*old)
        rows_of_F = constraints(problem)[0](*state)
        # rows of F that follow from the constraints of the phase before, at its end, are left out
        sure = ca.vertcat(constraints(before.problem)[0](*before._states_and_inputs(*old)), rows, impact)
        slopes = ca.jacobian(ca.vertcat(sure, rows_of_F), ca.veccat(old[1], new[1], change, impulses))
        arguments = [*old, *new, change, impulses]
        numbers = np.array(ca.Function("slopes", arguments, [slopes])(*before._guessed(-1), *self._guessed(0), 0, 0))
        width = len(before.problem.states)
        held = [i for (end, i), (low, high) in _fixable(before.problem).items() if end and low == high]
        held += [width + i for end, i in fixed if not end]
        columns = np.vstack([np.eye(numbers.shape[1])[held], numbers]).T
        first = len(held) + sure.numel()
        kept = [int(i) - first for i in independent_columns(columns, _FOLLOWS, first) if i >= first]
        self.W, self.L = ca.MX.sym("W", *change.shape), ca.MX.sym("L", *impulses.shape)
        at = [each[:, -1] for each in before.edges] + [each[:, 0] for each in self.edges]
        terms = ca.Function("reset", arguments, [rows, impact, rows_of_F[kept]])(*at, self.W, self.L)
        for i, name in enumerate(reset):
            self._add(f"reset {name}", self.mesh.edges[[0]], terms[0][i])
        self._add("impact", self.mesh.edges[[0]], terms[1])
        self._add("constraints at the start", self.mesh.edges[[0]], terms[2])

    def _guessed(self, edge: int) -> list[Any]:
        """t, y, v, p, k of the guess at its first or last edge, and no multipliers."""
        guess, time = self.guess, self.guess.times[[edge]]
        return [time, guess.ends[edge], guess.v[edge], self.problem.p, self.problem.known_values(time), 0]

    def _guessed_edges(self) -> list[tuple[Any, ...]]:
        """t, x, r, p at the ends of intervals of the guess."""
        problem, times, y = self.problem, self.guess.times, self.guess.ends
        r = y @ problem.selections[0].T + problem.known_values(times)[: problem.dyn.n_r].T
        return [(t, y[k, : problem.dyn.n_x], r[k], problem.p) for k, t in enumerate(times)]

    def _ends(self, final: list[Any], periodic: list[str]) -> Any:
        """Write conditions on the ends; the final cost."""
        problem, found = self.problem, []
        begun = [problem.periodic[name] for name in periodic]
        for word, conditions, more, i in (("start", problem.start, begun, 0), ("end", problem.end, final, self.mesh.n)):
            rows = [row for row in conditions if row.name not in problem.states]
            values, others = self.formulas.function([row.expression for row in rows], more)(
                *(each[:, i] for each in self.edges)
            )
            found.append(others)
            for j, row in enumerate(rows):
                self._add(f"{row.label} at the {word}", self.mesh.edges[[i]], values[j], row.low, row.high)
        for i, name in enumerate(periodic):
            change = self.Y[problem.states.index(name), -1] - found[0][i]
            self._add(f"periodic {name}", self.mesh.edges[-1:], change)
        return found[1]

    def _ranges(self, dropped: set[tuple[int, int]], boxed: bool) -> tuple[Array, Array, Array]:
        """The guess of all unknowns, and their lowest and highest values."""
        problem, guess = self.problem, self.guess
        of_y = np.tile(problem.limits(problem.bounds, problem.states), (self.Y.shape[1], 1, 1))
        of_v = np.tile(problem.limits(problem.bounds, problem.controls), (self.V.shape[1], 1, 1))
        for (end, i), (low, high) in _fixable(problem).items():
            if (end, i) not in dropped:
                of_y[-end, i] = max(of_y[-end, i, 0], low), min(of_y[-end, i, 1], high)
        single = np.array([*problem.unknown.values(), *([problem.duration] if problem.free_duration else [])])
        limit = np.full(self.M.numel(), _LIMIT if boxed else np.inf)
        limit = np.append(limit, np.full(self.W.numel() + self.L.numel(), np.inf))
        duration = [guess.duration] if problem.free_duration else []
        ranges = [_joined([of_y[..., side], of_v[..., side], single.reshape(-1, 2)[:, side]]) for side in (0, 1)]
        z0 = _joined([guess.y, guess.v, guess.parameters, duration, np.zeros(limit.size)])
        return z0, np.append(ranges[0], -limit), np.append(ranges[1], limit)


def program_of_phases(guesses: Iterable[CollocatedMotion], boxed: bool, cyclic: bool) -> list[Program]:
    """The programs of phases that follow each other; if cyclic, the first one follows the last."""
    phases, sought, programs = [Transcription(guess) for guess in guesses], dict[str, Any](), list[Program]()
    for i, phase in enumerate(phases):
        for j, name in enumerate(phase.problem.unknown):  # one parameter, one value
            if name in sought:
                phase._add(f"unknown {name}", np.zeros(1), phase.U[j] - sought[name])
            sought.setdefault(name, phase.U[j])
        programs.append(phase.program(boxed, phases[i - 1] if i or cyclic else None))
    return programs


def joined(programs: list[Program]) -> Program:
    """One program of several, with the sum of their costs."""
    columns = {name: [program.terms[name] for program in programs] for name in "xfg"}
    terms = {"x": ca.veccat(*columns["x"]), "f": sum(columns["f"]), "g": ca.veccat(*columns["g"])}
    z0 = _joined(program.z0 for program in programs)
    bounds, rows = (
        (_joined(pair[0] for pair in pairs), _joined(pair[1] for pair in pairs))
        for pairs in ([program.bounds for program in programs], [program.rows for program in programs])
    )
    labels = [label for program in programs for label in program.labels]
    shapes = [shape for program in programs for shape in program.shapes]
    return Program(terms, z0, bounds, rows, labels, shapes, all(program.exact for program in programs))


def _matrix(triplets: Triplets) -> Any:
    rows, columns, values, shape = triplets
    return ca.DM.triplet(rows.tolist(), columns.tolist(), ca.DM(values), *shape)


def _joined(parts: Iterable[Any]) -> Array:
    return np.concatenate([np.zeros(0), *(np.ravel(part) for part in parts)])


def _fixable(problem: MotionProblem) -> dict[tuple[int, int], tuple[float, float]]:
    """Ranges of states at the start, 0, and at the end, 1, by number."""
    ends: list[tuple[int, Condition]] = [(0, each) for each in problem.start] + [(1, each) for each in problem.end]
    return {
        (end, problem.states.index(each.name)): (each.low, each.high)
        for end, each in ends
        if each.name in problem.states
    }


def _following(
    problem: MotionProblem, slopes: list[tuple[int, Array]], fixed: set[tuple[int, int]]
) -> tuple[set[tuple[int, int]], list[str]]:
    """Fixed states that follow from rows of F at the ends and from others, and periodic states that do not."""
    n, known, periodic = len(problem.states), sorted(fixed), list(problem.periodic)
    base = np.zeros((sum(len(rows) for _, rows in slopes), 2 * n))
    for k, (end, rows) in enumerate(slopes):
        base[k * len(rows) : (k + 1) * len(rows), end * n : end * n + rows.shape[1]] = rows
    rows = np.zeros((len(known) + len(periodic), 2 * n))
    for row, (end, i) in enumerate(known):
        rows[row, end * n + i] = 1.0
    for row, name in enumerate(periodic, len(known)):
        rows[row, n + problem.states.index(name)] = 1.0
        for symbol in problem.periodic[name].free_symbols & {*map(sm.Symbol, problem.states)}:
            rows[row, problem.states.index(symbol.name)] = -1.0
    columns = np.vstack([base, rows]).T
    stays = {number - len(base) for number in independent_columns(columns, _FOLLOWS, len(base))}
    dropped = {key for row, key in enumerate(known) if row not in stays}
    return dropped, [name for row, name in enumerate(periodic, len(known)) if row in stays]
