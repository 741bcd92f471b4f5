# SPDX-License-Identifier: BSD-3-Clause
"""Optimal motions: the result of `optimize`, a trajectory that says how far it can be trusted."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from kanecore.binding.evaluator import Evaluator
from kanecore.motion.external_integration import OutsideRun
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.run_inputs import RunInputs
from kanecore.motion.trajectory import Trajectory
from kanecore.optimal.collocated_motion import CollocatedMotion, without_rounding
from kanecore.optimal.collocation_rules import Mesh
from kanecore.optimal.initial_guess import first_guess, resampled
from kanecore.optimal.interval_errors import errors_of_cost, errors_of_states
from kanecore.optimal.ipopt import Solved, solve
from kanecore.optimal.motion_problem import MotionProblem, read
from kanecore.optimal.tracking_feedback import TrackingFeedback
from kanecore.optimal.transcription import EQUATIONS, Program, joined, program_of_phases

__all__ = ["OptimalMotion", "optimal_motion"]

Array = npt.NDArray[np.float64]

_COLD = {"mu_strategy": "adaptive"}  # ends where the other strategy of the barrier may wander along a valley
_AGAIN = {"mu_strategy": "monotone"}  # soon says what contradicts, and finds some motions that the other one does not
_ITERATIONS, _SOON = 1000, 300  # of both strategies, and of the first
_WARM = {"mu_init": 1e-3}  # of a start near a solution
_FIRST_ORDER = {"hessian_approximation": "limited-memory"}
_FALSE = 0.1  # an error above which a solution is none of the motion: the next mesh begins at the first guess
_LEAST = 1e-300
_MOST = 2000  # intervals, beyond which a mesh is not refined
_MISSED = 1e-6  # of a condition: IPOPT's own tolerance is for scaled ones


class OptimalMotion(Trajectory):
    """A motion that `CompiledModel.optimize` found: a `Trajectory` between the nodes, by the polynomials of the rule.

    Attributes
    ----------
    success : bool
        IPOPT converged, and neither an interval error nor that of the cost exceeds ``tol``.
    status, message : str
        IPOPT's word, and what it means; of a motion that was not found, the conditions that are missed most.
    cost : float
    duration : float
        s.
    parameters : dict of str to float
        Those that were sought.
    inputs : Signal or None
        All inputs, for ``simulate(inputs=...)``.
    edges : ndarray, (N + 1,)
        Ends of the intervals, from 0 to 1, for ``optimize(intervals=...)``.
    interval_errors : ndarray, (N,)
        Of each interval the larger of two.  One is the distance of its end from where `simulate` comes to from its
        start, the largest over all states, each relative to its largest magnitude in the motion (at least a thousandth
        of that of all coordinates, speeds or first-order states).  The other is the error of its part of ``cost``,
        relative to all of it.
    interval_error : float
        The largest of them.
    cost_error : float
        Sum of the errors of the parts of ``cost``, relative to it.
    iterations, refinements : int
        Of IPOPT in all, and of the mesh.
    impulses : dict of str to float
        Of a phase that follows another, along its constraints, by their names, at its start: `kanecore.Phase`.
    multipliers : dict of str to ndarray
        "costates", the derivatives of the cost that is still to come by the states at the start of each interval, but
        for an error that falls with its length (n, N); of bounds on "states" and "inputs" (times, n); and of all other
        conditions by what they say (n, times).
    seconds : dict of str to float
        "build", "functions", "solver", "check".
    """

    def __init__(
        self, arguments: dict[str, Any], motion: CollocatedMotion, program: Program, solved: Solved, build: float
    ) -> None:
        begin, problem, mesh, duration = time.perf_counter(), motion.problem, motion.mesh, motion.duration
        dyn, x, times, s = problem.dyn, motion.y[:, : problem.dyn.n_x].copy(), duration * mesh.nodes, mesh.stages
        self.cost, self.duration, self.edges, self.inputs = solved.cost, duration, mesh.edges, motion.inputs
        self.parameters = dict(zip(problem.unknown, motion.parameters.tolist(), strict=True))
        impulses = program.unpacked(solved.z)[-1].ravel().tolist()
        self.impulses = dict(zip(dyn.constraint_names, impulses, strict=False))  # none where no phase went before
        self.multipliers, self._arguments = _multipliers(mesh, program, solved), arguments
        self._limits = problem.limits(problem.bounds, dyn.input_names)
        run = OutsideRun("success", duration, x[-1], times, x)
        run.steps, run.states, run.advanced = times[::s].copy(), x[::s].copy(), x[::s].copy()
        run.dense = motion.between
        r = RunInputs(dyn, self.inputs, 0.0, duration)
        start = InitialValueProblem(dyn, 0.0, duration, x[0], motion.p, r, solved.converged, 0)
        super().__init__(start, mesh.rule.name, run, "")
        errors = errors_of_states(motion)
        found = np.isfinite(errors).all()
        of_cost = errors_of_cost(motion, self, solved.cost) if found else np.zeros(mesh.n)
        self.cost_error = float(np.sum(of_cost))
        scale = self.cost_error / max(np.max(of_cost), _LEAST)  # after which the largest is their sum
        self._to_refine = np.maximum(errors, of_cost * scale)
        self.interval_errors = np.maximum(errors, of_cost)
        self.interval_error = float(np.max(self.interval_errors))
        self.status = solved.status  # type: ignore[assignment]  # a word in place of SciPy's number
        self.message = _message(problem, program, solved, self)
        self.success = self.message == solved.sentence and solved.converged
        self.iterations, self.refinements, check = solved.iterations, 0, time.perf_counter() - begin
        self.seconds = {"build": build, "functions": solved.functions, "solver": solved.solver, "check": check}

    def __repr__(self) -> str:
        return f"<OptimalMotion of {self.problem.dyn.name!r}: {self}>"

    def __str__(self) -> str:
        return (
            f"{'success' if self.success else 'no success'}: {self.message}; cost {self.cost:.9g}, "
            f"{self.duration:.6g} s in {len(self.edges) - 1} intervals, interval error {self.interval_error:.1e}, "
            f"{self.iterations} iterations, {sum(self.seconds.values()):.2f} s"
        )

    def optimize(self, **changes: Any) -> OptimalMotion:
        """Solve the problem again from this motion, on its mesh, with other arguments of `CompiledModel.optimize`.

        Examples
        --------
        ``sol.optimize(bounds={"F": (-5, 5)})``, ``sol.optimize(tol=1e-8)``, ``sol.optimize(intervals=200)``
        """
        again = {**self._arguments, "guess": self, "intervals": self.edges, **changes}
        return optimal_motion(self.problem.dyn, again)

    def feedback(self, Q: Any = None, R: Any = None, final: Any = None) -> TrackingFeedback:
        """Time-varying linear quadratic regulator along the motion, which makes it stand in `simulate`.

        It minimizes ∫ (δxᵀ Q δx + δrᵀ R δr) dt + δxᵀ S δx at the end, for small deviations δ from the motion:

            −Ṡ = Q + Aᵀ S + S A − S B R⁻¹ Bᵀ S,    r = r*(t) − R⁻¹ Bᵀ S (x − x*(t))

        and keeps inputs within their bounds.

        Parameters
        ----------
        Q, R, final : array_like, optional
            Weights as matrices, or diagonals (n_x,), (n_r,) and (n_x,).  Default: each state and input counts by its
            own range in the motion, and ``final`` is 100 times Q.

        Returns
        -------
        TrackingFeedback
            For ``dyn.simulate((0, sol.duration), x0, inputs=sol.feedback())``.
        """
        return TrackingFeedback(self, len(self.edges) - 1, self._limits, Q, R, final)


def optimal_motion(dyn: Evaluator, arguments: dict[str, Any]) -> OptimalMotion:
    """Optimal motion of `optimize`."""
    begin = time.perf_counter()
    return optimal_motions([read(dyn, arguments)], [arguments], False, begin)[0]


def optimal_motions(
    problems: list[MotionProblem], arguments: list[dict[str, Any]], cyclic: bool, begin: float
) -> list[OptimalMotion]:
    """Optimal motions of phases that follow each other: solves on finer meshes until interval errors are small.

    ``cyclic`` says that the first phase follows the last one.
    """
    first, guesses, earlier = problems[0], [first_guess(problem) for problem in problems], list[OptimalMotion]()
    warm = all(isinstance(problem.guess, OptimalMotion) and problem.guess.success for problem in problems)
    while True:
        programs = program_of_phases(guesses, not warm, cyclic)
        program = joined(programs)
        build = time.perf_counter() - begin
        solved = _solved(program, _WARM if warm else _COLD, first.options)
        found = []
        for each, guess, part, own in zip(arguments, guesses, programs, _parts(programs, solved), strict=True):
            y, v, parameters, length, *_ = part.unpacked(own.z)
            duration = float(length[0, 0]) if length.size else guess.problem.duration[0]
            numbers = CollocatedMotion(guess.problem, guess.mesh, without_rounding(y, y), v, parameters[0], duration)
            found.append(OptimalMotion(each, numbers, part, own, build + solved.build))
        for motion, before in zip(found, earlier, strict=False):
            motion.iterations, motion.refinements = motion.iterations + before.iterations, before.refinements + 1
            motion.seconds = {name: value + before.seconds[name] for name, value in motion.seconds.items()}
        fine = all(motion.success for motion in found) or sum(guess.mesh.n for guess in guesses) > _MOST
        if not solved.converged or fine or found[0].refinements == first.refinements:
            return found
        begin, earlier, warm = time.perf_counter(), found, all(motion.interval_error < _FALSE for motion in found)
        for i, (problem, motion) in enumerate(zip(problems, found, strict=True)):
            mesh = guesses[i].mesh.refined(motion._to_refine / first.tol)
            guesses[i] = resampled(problem, mesh, motion) if warm else first_guess(replace(problem, mesh=mesh))


def _solved(program: Program, strategy: dict[str, Any], asked: dict[str, Any]) -> Solved:
    """Solution of a program, by another strategy of the barrier if the first one finds none soon."""
    options = {"max_iter": _ITERATIONS} | ({} if program.exact else _FIRST_ORDER) | asked
    arguments = (ca, program.terms, program.z0, program.bounds, program.rows)
    if {"mu_strategy", "mu_init"} & {*asked}:
        return solve(*arguments, options)
    once = solve(*arguments, options | strategy | {"max_iter": min(options["max_iter"], _SOON)})
    left = options["max_iter"] - once.iterations
    if once.converged or left <= 0 or once.status in ("Maximum_CpuTime_Exceeded", "Maximum_WallTime_Exceeded"):
        return once
    again = solve(*arguments, options | (_AGAIN if strategy is _COLD else _COLD) | {"max_iter": left})
    sums = {name: getattr(once, name) + getattr(again, name) for name in ("iterations", "build", "functions", "solver")}
    return replace(again, **sums)


def _parts(programs: list[Program], solved: Solved) -> list[Solved]:
    """The solution of each phase."""
    z, of_bounds = (np.split(a, np.cumsum([len(each.z0) for each in programs])) for a in (solved.z, solved.of_bounds))
    g, of_rows = (np.split(a, np.cumsum([len(each.rows[0]) for each in programs])) for a in (solved.g, solved.of_rows))
    found = []
    for k, program in enumerate(programs):
        cost = float(ca.Function("cost", [program.terms["x"]], [program.terms["f"]])(z[k]))
        found.append(replace(solved, z=z[k], g=g[k], cost=cost, of_bounds=of_bounds[k], of_rows=of_rows[k]))
    return found


def _multipliers(mesh: Mesh, program: Program, solved: Solved) -> dict[str, Array]:
    states, inputs, *_ = program.unpacked(solved.of_bounds)
    costates = np.zeros((states.shape[1], mesh.n))
    found = {"costates": costates, "states": states, "inputs": inputs}
    begin = 0
    for label, times in program.labels:
        rows = solved.of_rows[begin : begin + len(times)].reshape(len(np.unique(times)), -1).T
        if label == EQUATIONS:
            costates -= rows.reshape(len(rows), mesh.n, -1).sum(axis=2)
        else:
            found[label] = np.hstack([found[label], rows]) if label in found else rows
        begin += len(times)
    return found


def _message(problem: MotionProblem, program: Program, solved: Solved, motion: OptimalMotion) -> str:
    if missed := _missed(problem, program, solved, motion):
        return f"{solved.sentence}{', but ' if solved.converged else ': '}{'; '.join(missed)}"
    if not solved.converged or max(motion.interval_error, motion.cost_error) <= problem.tol:
        return solved.sentence
    if motion.interval_error <= problem.tol:
        words = f"{motion.cost_error:.1e}, more than tol = {problem.tol:.1e}: take more intervals, or refinements"
        return f"{solved.sentence}, but the cost errs by {words}"
    worst = int(np.argmax(motion.interval_errors))
    begin, end = motion.duration * motion.edges[worst : worst + 2]
    return (
        f"{solved.sentence}, but the error between t = {begin:.6g} and {end:.6g} is {motion.interval_error:.1e}, "
        f"more than tol = {problem.tol:.1e}: take more intervals, or refinements"
    )


def _missed(problem: MotionProblem, program: Program, solved: Solved, motion: OptimalMotion) -> list[str]:
    """The three conditions that are missed most, in words; those on ends also where they were left out."""
    low, high = program.rows
    found = [
        (float(gap), label, f"is missed by {gap:.2g} at t = {time * motion.duration:.4g}")
        for gap, (label, time) in zip(
            np.maximum(low - solved.g, solved.g - high),
            ((label, time) for label, times in program.labels for time in times),
            strict=True,
        )
        if gap > _MISSED
    ]
    for word, conditions, x in (("start", problem.start, motion.x[0]), ("end", problem.end, motion.x[-1])):
        for each in conditions:
            if each.name in problem.dyn.names.x:
                value = x[problem.dyn.names.x.index(each.name)]
                gap = max(each.low - value, value - each.high)
                if gap > _MISSED * (1.0 + abs(value)):
                    found.append((gap, f"{each.name} at the {word}", f"is {value:.6g}, as the constraints want it"))
    lines: dict[str, str] = {}
    for _, label, words in sorted(found, reverse=True):
        lines.setdefault(label, words)
    return [f"{label} {words}" for label, words in lines.items()][:3]
