# SPDX-License-Identifier: BSD-3-Clause
"""Optimal motions: the result of `optimize`, a trajectory that says how far it can be trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.motion.external_integration import OutsideRun
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.run_inputs import RunInputs
from kanecore.motion.trajectory import Trajectory
from kanecore.optimal.collocation_polynomials import inputs_between, parameters_of, states_between
from kanecore.optimal.collocation_rules import Mesh
from kanecore.optimal.interval_errors import errors_of_cost, errors_of_states
from kanecore.optimal.ipopt import Solved
from kanecore.optimal.motion_problem import MotionProblem
from kanecore.optimal.tracking_feedback import TrackingFeedback
from kanecore.optimal.transcription import EQUATIONS, Program, Unknowns

__all__ = ["OptimalMotion"]

Array = npt.NDArray[np.float64]

_MISSED = 1e-6  # of a condition: IPOPT's own tolerance is for scaled ones


class OptimalMotion(Trajectory):
    """A motion that `CompiledModel.optimize` found: a `Trajectory` between the nodes, by the polynomials of the rule.

    Attributes
    ----------
    success : bool
        IPOPT converged, and no interval error exceeds ``tol``.
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
    iterations, refinements : int
        Of IPOPT in all, and of the mesh.
    multipliers : dict of str to ndarray
        "costates", the derivatives of the cost that is still to come by the states at the start of each interval, but
        for an error that falls with its length (n, N); of bounds on "states" and "inputs" (times, n); and of all other
        conditions by what they say (n, times).
    seconds : dict of str to float
        "build", "functions", "solver", "check".
    """

    def __init__(
        self,
        problem: MotionProblem,
        mesh: Mesh,
        program: Program,
        solved: Solved,
        counts: Mapping[str, Any],
        again: Callable[..., OptimalMotion],
    ) -> None:
        begin, dyn = time.perf_counter(), problem.dyn
        y, v, parameters, length = program.unpacked(solved.z)
        motion = Unknowns(y, v, parameters[0], float(length[0, 0]) if length.size else problem.duration[0])
        self.cost, self.duration, self.edges = solved.cost, motion.duration, mesh.edges
        self.parameters = dict(zip(problem.unknown, motion.parameters.tolist(), strict=True))
        self.inputs, p = inputs_between(problem, mesh, motion), parameters_of(problem, motion)
        self.multipliers, self._again = _multipliers(mesh, program, solved), again
        self._limits = problem.limits(problem.bounds, dyn.input_names)
        times, x, s = motion.duration * mesh.nodes, motion.y[:, : dyn.n_x].copy(), mesh.stages
        run = OutsideRun("success", motion.duration, x[-1], times, x)
        run.steps, run.states, run.advanced = times[::s].copy(), x[::s].copy(), x[::s].copy()
        run.dense = states_between(problem, mesh, motion)
        r = RunInputs(dyn, self.inputs, 0.0, motion.duration)
        super().__init__(
            InitialValueProblem(dyn, 0.0, motion.duration, x[0], p, r, solved.converged, 0), mesh.rule.name, run, ""
        )
        errors = errors_of_states(problem, mesh, motion, self.inputs, p)
        if np.isfinite(errors).all():
            errors = np.maximum(errors, errors_of_cost(problem, mesh, motion, self, p, solved.cost))
        self.interval_errors, self.interval_error = errors, float(np.max(errors))
        self.status = solved.status  # type: ignore[assignment]  # a word in place of SciPy's number
        self.message = _message(problem, program, solved, self)
        self.success = self.message == solved.sentence and solved.converged
        seconds = {"functions": solved.functions, "solver": solved.solver, "check": time.perf_counter() - begin}
        self.seconds = {name: counts[name] + seconds.get(name, 0.0) for name in ("build", *seconds)}
        self.iterations, self.refinements = counts["iterations"] + solved.iterations, counts["refinements"]

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
        return self._again(**{"guess": self, "intervals": self.edges, **changes})

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
    if not solved.converged or motion.interval_error <= problem.tol:
        return solved.sentence
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
