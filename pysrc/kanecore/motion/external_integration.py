# SPDX-License-Identifier: BSD-3-Clause
"""Integration by methods of other packages, with the same results and records as kanecore's own methods.

A multistep method keeps its history, which projection to the constraints would falsify.  So its states drift off the
constraints, within the tolerance.  Results are projected, both states and interpolants.  So are the states at which the
equations are evaluated: ẋ = f(P(x)), with P(x) the state on the constraints of least change.  This equation has the
solutions of ẋ = f(x) on the constraints, and avoids rows that are independent only off them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.errors import NonFiniteError, SingularError
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.scipy_and_sundials import Equations, Stepper, Steps, stepper_of
from kanecore.motion.simulation_options import Recording

__all__ = ["AnyRun", "OutsideRun", "integrate_outside", "interpolate_outside"]

Array = npt.NDArray[np.float64]

_DEGREE = 5  # degree of interpolants: 3 for Radau, the order for differentiation formulas, at most 5
_ROUNDING = 1e-14  # of a sum, beside its terms
_NODES = np.arange(1, _DEGREE + 1) / _DEGREE
_TO_COEFFICIENTS = np.linalg.inv(_NODES[:, np.newaxis] ** np.arange(1, _DEGREE + 1))


@dataclass
class OutsideRun:
    """Record of a run by a method of another package, with the attributes of `_motion.Run`.

    Attributes
    ----------
    advanced : ndarray, (N + 1, n_x), optional
        The method's own states at the ends of the steps; `states` are their projections to the constraints.
    dense : ndarray, (N, 5, n_x), optional
        Interpolants: x(t + θ h) = advanced + Σ_j dense[j] θ^(j + 1).
    rejected : int
        0, since no package reports it.
    """

    status: str
    t: float
    x: Array
    times: Array
    sampled: Array
    error: BaseException | None = None
    steps: Array | None = None
    states: Array | None = None
    advanced: Array | None = None
    dense: Array | None = None
    evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0
    accepted: int = 0
    rejected: int = 0
    switches: int = 0
    switched: tuple[float, ...] = ()
    row: int = -1


AnyRun: TypeAlias = "_motion.Run | OutsideRun"


def integrate_outside(
    problem: InitialValueProblem,
    method: str,
    steps: Steps,
    max_steps: int,
    baumgarte: tuple[float, float] | None,
    asked: Recording,
) -> OutsideRun:
    """Integrate a problem by a method of `OUTSIDE_METHODS`.

    Methods restart at every corner of the inputs, from a state on the constraints.

    Parameters
    ----------
    max_steps : int
        Largest number of steps; 0: any number.
    baumgarte : (float, float), optional
        Gains of the stabilization of the constraints.
    asked : Recording
        Parts of the run to keep.
    """
    run = OutsideRun("success", problem.t0, problem.x0, np.zeros(0), np.zeros((0, problem.dyn.n_x)))
    fields, record = _Fields(problem, baumgarte), _Record(problem, asked)
    forward = problem.t1 >= problem.t0
    corners = problem.inputs.corners
    ends = [float(t) for t in (corners if forward else corners[::-1]) if min(problem.t0, problem.t1) < t]
    try:
        for end in [*ends, problem.t1] if problem.t1 != problem.t0 else []:
            with np.errstate(all="ignore"):
                _stretch(run, method, fields, record, end, steps, max_steps)
            if run.status != "success":
                break
            run.x = _brought_back(problem, np.array([run.t]), run.x[np.newaxis])[0]
    except _Unanswered:
        run.status, run.row = _status(problem, fields.fault), getattr(fields.fault, "row", -1)
    except BaseException as error:  # an exception of the input function, or Ctrl-C
        run.error = error
    record.hand_over(run)
    return run


def interpolate_outside(
    problem: InitialValueProblem, run: OutsideRun, index: npt.NDArray[np.int64], times: Array
) -> Array:
    """The states at times in the steps with these indices, on the constraints: (N, n_x)."""
    assert run.steps is not None
    assert run.advanced is not None
    assert run.dense is not None
    theta = ((times - run.steps[index]) / np.diff(run.steps)[index])[:, np.newaxis]
    return _brought_back(problem, times, _polynomial(run.advanced[index], run.dense[index], theta))


def _polynomial(start: Array, dense: Array, theta: Array) -> Array:
    """The states there; a sum that cancels but for rounding is 0, since a projection compares residuals with terms."""
    result = np.zeros_like(start)
    for j in reversed(range(_DEGREE)):
        result = theta * (result + dense[..., j, :])
    result, size = start + result, np.abs(start) + np.sum(np.abs(dense), axis=-2)
    return np.where(np.abs(result) < _ROUNDING * size, 0.0, result)


def _stretch(
    run: OutsideRun, method: str, fields: _Fields, record: _Record, end: float, steps: Steps, max_steps: int
) -> None:
    """Steps to the end of an interval with smooth inputs."""
    stepper = stepper_of(method, fields.between(run.t, end), (run.t, run.x), end, steps)
    try:
        while stepper.t != end:
            if max_steps and run.accepted >= max_steps:
                run.status = "max_steps"
                return
            fields.fault, start = None, (stepper.t, stepper.x)
            lost = 10.0 * abs(np.nextafter(stepper.t, end) - stepper.t)  # CVODE continues with vanishing steps
            if not stepper.step() or (abs(stepper.t - start[0]) < lost and stepper.t != end):
                run.status, run.row = _status(fields.problem, fields.fault), getattr(fields.fault, "row", -1)
                return
            if not record.keep(start, stepper):
                run.status = "full"
                return
            run.t, run.x = stepper.t, stepper.x
            run.accepted += 1
    finally:
        run.evaluations += stepper.evaluations
        run.jacobians += stepper.jacobians
        run.factorizations += stepper.factorizations


def _status(problem: InitialValueProblem, fault: SingularError | NonFiniteError | None) -> str:
    """Status of a run that cannot continue, from the fault of the equations, if any."""
    if fault is None:
        return "step_size"
    if isinstance(fault, NonFiniteError):
        return "nonfinite"
    if fault.contradictory:
        return "contradictory"
    if fault.status:
        return fault.status
    return "singular" if fault.row < problem.dyn.n_u else "lost"


def _brought_back(problem: InitialValueProblem, times: Array, states: Array) -> Array:
    """States projected to the unit spheres and the constraints, with the least change: (N, n_x)."""
    dyn = problem.dyn

    def normalized(x: Array) -> Array:
        for places in map(list, dyn.unit):
            x[:, places] /= np.linalg.norm(x[:, places], axis=1, keepdims=True)
        return x

    x = normalized(np.array(states))
    if not problem.projects or not len(x):
        return x
    return normalized(np.array(dyn.kernels.project(times, x, r=problem.inputs(times, x), p=problem.p)))


class _Unanswered(Exception):
    """The equations have no value at a state that a method accepted."""


class _Fields:
    """The equations of a problem as functions of t and x."""

    def __init__(self, problem: InitialValueProblem, baumgarte: tuple[float, float] | None) -> None:
        self.problem = problem
        self.fault: SingularError | NonFiniteError | None = None  # the last failure of the equations
        self._gains = baumgarte if problem.dyn.n_constraints else None
        self._projects = problem.projects
        self._direction = 1.0 if problem.t1 >= problem.t0 else -1.0

    def between(self, start: float, end: float) -> Equations:
        """Equations on an interval without corners of the inputs.

        The contribution of a function of the state to ∂ẋ/∂x is unknown, and so is that of stabilization: then the
        method uses differences.
        """
        dyn, p, inputs = self.problem.dyn, self.problem.p, self.problem.inputs.between(start, end)

        def slope(t: float, x: Array) -> Array:
            r = inputs(t, x)
            try:
                return self._slope(t, x, r) + self._attraction(t, x, r)
            except (SingularError, NonFiniteError) as error:  # a shorter step may succeed
                self.fault = error
                return np.full(dyn.n_x, np.nan)

        def jacobian(t: float, x: Array) -> Array:
            r = inputs(t, x)
            try:
                slopes = np.asarray(dyn.kernels.linearize(t, self._projected(t, x, r), r=r, p=p))
            except (SingularError, NonFiniteError) as error:
                self.fault = error
                raise _Unanswered from error
            return np.ascontiguousarray(slopes[:, : dyn.n_x])

        exact = (
            self.problem.inputs.function is None and self._gains is None and dyn.kernels.why_not("linearize") is None
        )
        return Equations(slope, jacobian if exact else None)

    def _slope(self, t: float, x: Array, r: Array) -> Array:
        return np.asarray(self.problem.dyn.rhs(t, self._projected(t, x, r), r=r, p=self.problem.p))

    def _projected(self, t: float, x: Array, r: Array) -> Array:
        dyn = self.problem.dyn
        return np.asarray(dyn.kernels.project(t, x, r=r, p=self.problem.p)) if self._projects else x

    def _attraction(self, t: float, x: Array, r: Array) -> Array:
        """The part of ẋ from stabilization."""
        dyn, result = self.problem.dyn, np.zeros_like(x)
        if self._gains is not None:
            alpha, beta = self._gains
            a, b = np.asarray(dyn.kernels.stabilization(t, x, r=r, p=self.problem.p)).reshape(2, dyn.n_u)
            result[dyn.names.speeds] = 2.0 * self._direction * alpha * a + beta**2 * b
        return result


class _Record:
    """Recorder of a run."""

    def __init__(self, problem: InitialValueProblem, asked: Recording) -> None:
        n = problem.dyn.n_x
        self._problem, self._asked = problem, asked
        self._limit = asked.room // (8 * (1 + (2 + (_DEGREE if asked.interpolants else 0)) * n))
        self._keeps = self._limit > 0 or not asked.drop
        self._forward = 1.0 if problem.t1 >= problem.t0 else -1.0
        self._times, self._at_ends = [problem.t0], [problem.x0]
        self._dense: list[Array] = []
        self._sampled: list[Array] = []
        self._wanted = np.zeros(0) if asked.times is None else asked.times
        if len(self._wanted) and self._wanted[0] == problem.t0:
            self._sampled.append(problem.x0)

    def keep(self, start: tuple[float, Array], stepper: Stepper) -> bool:
        """Record a step, from a start to the stepper's time; False if there is no room for it."""
        if self._keeps and len(self._times) > self._limit:
            if not self._asked.drop:
                return False
            self._keeps = False
            self._times, self._at_ends, self._dense = [], [], []
        first = len(self._sampled)
        passed = self._forward * (self._wanted[first:] - stepper.t) <= 0.0
        times = self._wanted[first : first + int(np.sum(passed))]
        dense = np.zeros((0, 0))
        if len(times) or (self._keeps and self._asked.interpolants):
            h = stepper.t - start[0]
            at_nodes = np.vstack([stepper.within(start[0] + h * _NODES[:-1]), stepper.x])
            dense = _TO_COEFFICIENTS @ (at_nodes - start[1])
            for t in times:
                theta = np.array((t - start[0]) / h)
                self._sampled.append(stepper.x if t == stepper.t else _polynomial(start[1], dense, theta))
        if self._keeps:
            self._times.append(stepper.t)
            self._at_ends.append(stepper.x)
            if self._asked.interpolants:
                self._dense.append(dense)
        return True

    def hand_over(self, run: OutsideRun) -> None:
        """Store the record in a run, with states on the constraints as far as they were found."""
        n = self._problem.dyn.n_x
        if self._keeps:
            states = self._on_constraints(run, np.array(self._times), np.array(self._at_ends))
            m = len(states)
            run.steps, run.states, run.advanced = np.array(self._times[:m]), states, np.array(self._at_ends[:m])
            if self._asked.interpolants:
                run.dense = np.array(self._dense[: m - 1]).reshape(-1, _DEGREE, n)
        if self._asked.times is None:
            assert run.steps is not None
            assert run.states is not None
            run.times, run.sampled = run.steps, run.states
            run.accepted = len(run.steps) - 1
        else:
            reached = self._wanted[: len(self._sampled)]
            run.sampled = self._on_constraints(run, reached, np.array(self._sampled).reshape(-1, n))
            run.times = reached[: len(run.sampled)]

    def _on_constraints(self, run: OutsideRun, times: Array, states: Array) -> Array:
        """States projected to the constraints, up to the first failure, which ends the run."""
        try:
            return _brought_back(self._problem, times, states)
        except SingularError as error:
            run.error = run.error or error
            first = 0 if error.rows is None else int(np.min(error.rows))
            return _brought_back(self._problem, times[:first], states[:first])
