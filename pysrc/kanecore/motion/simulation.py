# SPDX-License-Identifier: BSD-3-Clause
"""Integration of a compiled model in time: from the arguments of `simulate` to a trajectory or an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.binding.declared_methods import method
from kanecore.errors import warn
from kanecore.motion.batch_simulation import Control, by_row, simulate_rows
from kanecore.motion.derivatives.sensitivities import find_sensitivities, require_derivatives, wanted_sensitivities
from kanecore.motion.doubtful_runs import warn_of_branches, warn_of_energy
from kanecore.motion.events import Events
from kanecore.motion.external_integration import AnyRun, integrate_outside
from kanecore.motion.initial_value_problem import InitialValueProblem, posed, with_known_derivatives
from kanecore.motion.integration_failures import failure, outcome, refuse_contradictions
from kanecore.motion.prescribed_rates import warn_of_other_rates
from kanecore.motion.progress import reporting_time
from kanecore.motion.scipy_and_sundials import OUTSIDE_METHODS, Steps, require_package
from kanecore.motion.simulation_options import (
    ATOL,
    MAX_STEPS,
    METHOD,
    RTOL,
    gains,
    longest_step,
    one_run_only,
    own_methods_only,
    recording,
    result_times,
    sample_period,
    span,
    spans_of_rows,
    step_length,
    step_limit,
    tolerances,
)
from kanecore.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["simulate"]

Array = npt.NDArray[np.float64]


@method("Motion", doubles=True)
def simulate(
    dyn: Evaluator,
    t_span: Any,
    x0: Values,
    *,
    method: str = METHOD,
    rtol: float = RTOL,
    atol: Values = ATOL,
    dt: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    events: Any = None,
    inputs: Any = None,
    sample_time: float | None = None,
    parameters: Any = None,
    project: bool = True,
    baumgarte: tuple[float, float] | None = None,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = MAX_STEPS,
    dense_output: bool | None = None,
    sensitivities: Any = None,
    threads: int = 1,
    return_status: bool = False,
    progress: Any = False,
) -> Trajectory:
    """Integrate the equations of motion.

    Parameters
    ----------
    t_span : (float, float), or array_like (..., 2)
        Start and end, s; the end may be earlier than the start.  With leading axes each row has its own span, such as
        the intervals between nodes; inputs are functions of the whole time.
    x0 : array_like, (n_x,) or (..., n_x), or mapping by name
        State [q, u, z] at the start.  Each unit quaternion in it (``dyn.unit`` holds their places) must have norm 1
        within 1e-6 and is divided by its norm; so are the quaternions after every step and of interpolated states.  The
        state must satisfy the constraints within 1e-6, in units of the coordinates and of the speeds:
        ``dyn.consistent(t0, x0)``.
    method : {"dop853", "dopri5", "auto", "rosenbrock", "radau", "bdf", "cvode", "rk4", "euler"}
        Adaptive: Dormand and Prince's methods of order 8 and 5, with dense output (Hairer, Nørsett & Wanner, *Solving
        Ordinary Differential Equations I*, 1993, II.5).  With fixed steps: the classical method of order 4, and the
        semi-implicit method of Euler, of order 1, which advances the speeds first and the coordinates by the new ones.

        For stiff systems, in which some deviations decay much faster than the motion, use "rosenbrock": Rodas5P of
        order 5, with the exact Jacobian matrix A of `linearize`, ∂ẋ/∂t + B ṙ, and linear equations in place of Newton's
        method (Steinebach, *BIT* 63, 2023).  If rows of the constraints are redundant, differences of ẋ replace these
        matrices, since off the constraints ẋ depends on the choice of rows.  If a Python function gives the inputs, or
        with `baumgarte`, some derivatives are unknown, and "rosenbrock" means "rosenbrock_w": ROS34PW2, which keeps its
        order 3 with any matrix (Rang & Angermann, *BIT* 45, 2005).

        "auto" starts with "dop853", switches to "rosenbrock" after 15 steps that were as long as stability allows, and
        back.  The stages of a step show this without more evaluations (Hairer & Wanner, *Solving Ordinary Differential
        Equations II*, 1996, IV.2).  ``sol.message`` gives the times. "auto_w" is the same with "rosenbrock_w".

        Other packages (``pip install scipy scikit-sundae``) provide "radau" and "bdf", SciPy's Radau IIA of order 5 and
        differentiation formulas of orders 1 to 5, and "cvode", those of SUNDIALS (Hindmarsh et al., *ACM Transactions
        on Mathematical Software* 31, 2005), by scikit-SUNDAE.  They get the exact Jacobian matrix, unless a Python
        function gives the inputs, or with `baumgarte`, and restart where inputs jump.  They evaluate ẋ at the nearest
        state on the constraints, unless `project` is False.
    rtol : float
    atol : float, array_like (n_x,), or mapping
        The error of each step is kept below atol + rtol |x|. A mapping gives atol by name or symbol, for states of very
        different size; missing names have 1e-8.  If all states stay below 100 atol, there is a KanecoreWarning.
    dt : float
        Step of "rk4" and "euler", which must be large compared with the rounding of t.  Steps end at every knot of the
        inputs, where these may jump, and at the end of the run; these steps may be shorter.
    t_eval : array_like (N,), optional
        Times of the result; default: the ends of the steps.  They bound the memory of a run: see `dense_output`. (...,
        N) if `t_span` is given by row.
    events : callable, Event, or list of these, optional
        Functions g(t, x) with zeros that are found to rounding of t, as in SciPy: ``event(t, x)``, which may have the
        attributes ``terminal``, ``direction`` and ``reset``, or a `kanecore.Event`.  A zero is a change of sign, from
        one step to the next or inside a step.  A function that is zero at the start has no sign before it has left
        zero; a zero at the end counts.  If an event is terminal or resets the state, a step ends at its zero.  After a
        reset, which must satisfy the constraints, the run continues, and t has this time twice.  Events at the same
        time are handled in the order of their zeros, then of the list.
    inputs : array_like (n_r,), mapping, Signal, or callable, optional
        The inputs r; default: the current values.  An array is constant over the run.  A mapping gives some inputs by
        name or symbol, each a number, a Signal of one column, or a function f(t) or f(t, x) that returns a number; the
        others keep their current values.  A Signal gives all inputs: one column for each, or one for each input that is
        not the rate of another (``dyn.input_rates``).  Missing rates of prescribed motions by numbers or Signals are
        their derivatives.  A callable is ``r(t, x) -> (n_r,)``, in the order of ``dyn.input_names``.  Python functions
        are called at every evaluation; a C function for all inputs, from ctypes or numba (``cfunc``), is ``void
        f(double t, const double *x, double *r)``.
    sample_time : float, optional
        Period in seconds at which the function of the inputs is sampled, from the start on, once each, in order; its
        value is constant until the next sample, as for a discrete controller.  Steps end at the samples; ``sol.r`` has
        the sampled values.
    parameters : array_like (n_p,) or mapping, optional
        For this run only.
    project : bool
        Project x0, the state after every step and interpolated states to the constraints, with the least change in the
        mass-weighted norm (Hairer, Lubich & Wanner, *Geometric Numerical Integration*, 2006, IV.4).  Methods of other
        packages continue from their own states, which drift; `constraint_drift` of the result is the drift of their
        states.
    baumgarte : (alpha, beta), optional
        Stabilize the constraints: φ̈ + 2 α φ̇ + β² φ = 0 in place of φ̈ = 0, and ċ + 2 α c = 0 (Baumgarte 1972), 1/s;
        backwards in time with −α, so that constraints attract in the direction of the run.  A configuration constraint
        with a derivative that was filed as a velocity constraint counts as the velocity constraint only.
    max_step : float
        Longest step of adaptive methods.
    first_step : float, optional
        First step that an adaptive method tries; default: automatic.
    max_steps : int, optional
        Largest number of steps that an adaptive method may try, by default ten million; None: any number.  The number
        of fixed steps follows from `dt`.
    dense_output : bool, optional
        Whether the steps are kept with their interpolants, which ``sol(t)`` and the drifts need.  True: up to 1 GiB,
        and more is an error.  False: no interpolant, and with `t_eval` no step; "dop853" then saves three evaluations
        in each step without a time of `t_eval`.  Default: as True; but with `t_eval` and without `sensitivities` steps
        are kept only if they take at most 32 MB.
    sensitivities : list of "x0", "p", "r", optional
        Find the derivatives of the result with respect to the start, the parameters, and constants that are added to
        the inputs: ``sol.sensitivities``, (N, n_x, m).  Its columns are in the order of the list, and
        ``sol.sensitivity_names`` names them.  They are the derivatives of the steps with constant lengths, including
        projections, normalisations and the jumps at events.  The time of a zero varies by ẋ, which has the error of the
        method.  With `project` x0 varies only along the constraints: other changes are projected.  Functions of Python
        or C for events and resets are called again, at states nearby, and count as independent of p.
    threads : int
        Number of threads that share the rows; -1: one for each core.  A single run uses one.
    return_status : bool
        With several runs: return failed runs as well, with ``sol.status``, in place of an error.
    progress : bool or callable
        True: a bar of tqdm.  A callable is called with t, ten times a second at most, and at the end; an exception in
        it ends the run.

    Returns
    -------
    Trajectory
        If x0, parameters, or inputs as numbers have leading axes, which broadcast: `Trajectories`, x (..., N, n_x) at
        the same times t (N,), bit-identical to single runs.  Then `events`, `sample_time`, `progress` and methods of
        other packages are not available, steps are not kept, and without t_eval adaptive methods give the start and the
        end.

    Raises
    ------
    ValueError, TypeError, KeyError
        Sensitivities without known derivatives: inputs by a function, `baumgarte`, another package's method.  Wrong
        shapes, tolerances or times; values that are not finite, or no numbers; an unknown name; a quaternion in x0
        without unit norm; an x0 off the constraints.
    MemoryError
        There is no memory for the steps to keep.
    ModelError
        A stiff method needs derivatives that the model does not have.
    SingularError
        The mass matrix became singular, or a constraint was lost.
    IntegrationError
        The integration could not continue, or took more than `max_steps`, or more than 1 GiB; or it chatters: a
        derivative jumps, and on both sides leads back to the jump, thousands of times; or constraints require a jump of
        the state; or steps shrink so that time does not advance.  With `sensitivities`: the function of an event has
        the rate 0 at its zero, so that the time of the zero has no derivative.
    ImportError
        The package of the method is not installed.
    KeyboardInterrupt
        Ctrl-C was pressed.

    All errors that end a run after its start have ``error.trajectory``, the run up to its end.
    """
    require_package(method)
    own_spans = np.ndim(t_span) > 1
    spans: tuple[Any, Any] = spans_of_rows(t_span) if own_spans else span(t_span)
    t0, t1 = spans
    lengths = [_motion.smallest_step(*each) for each in zip(np.ravel(t0), np.ravel(t1), strict=True)]
    smallest = max(lengths, default=0.0)
    step = step_length(method, dt, first_step, smallest)
    relative, absolute = tolerances(dyn, rtol, atol)
    keeps = True if sensitivities is not None and dense_output is None else dense_output
    records = recording(None if t_eval is None else result_times(t_eval, t0, t1), keeps)
    period = sample_period(sample_time, smallest)
    longest, limit = longest_step(max_step, smallest), step_limit(max_steps)
    wanted = None if sensitivities is None else wanted_sensitivities(sensitivities)
    stabilization = None if baumgarte is None else gains(baumgarte)
    if own_spans or by_row(x0) or by_row(inputs) or by_row(parameters):
        one_run_only(
            method, events=events, sample_time=sample_time, progress=progress or None, sensitivities=sensitivities
        )
        control = Control(method, relative, absolute, step, longest, limit, bool(project), stabilization)
        rows = simulate_rows(dyn, (t0, t1), x0, inputs, parameters, records.times, control, threads, return_status)
        if dt is None:
            _warn_near(relative, absolute, rows.x)
        return rows  # type: ignore[return-value]
    problem = posed(dyn, (t0, t1), x0, inputs, parameters, bool(project), period)
    if wanted is not None:
        require_derivatives(wanted, method, problem, stabilization, dense_output)
    method = with_known_derivatives(method, dyn, problem.inputs, stabilization)
    # the first evaluation finds missing values and singularities early
    dyn.rhs(t0, problem.x0, r=problem.inputs(t0, problem.x0), p=problem.p)
    if method in OUTSIDE_METHODS:
        own_methods_only(method, events=events, sample_time=sample_time, progress=progress or None)
        steps = Steps(relative, absolute, step, longest)
        outside = integrate_outside(problem, method, steps, limit, stabilization, records)
        trajectory = Trajectory(problem, method, outside, outcome(dyn, method, outside, records))
        with _holding(trajectory):
            _warn_near(relative, absolute, trajectory.x)
        return _ended(problem, outside, trajectory, relative)
    watched = None if events is None else Events(problem, events)
    with reporting_time(progress, t0, t1) as report:
        run = _motion.integrate(
            dyn,
            method,
            t0,
            t1,
            problem.x0,
            rtol=relative,
            atol=absolute,
            step=step,
            max_step=longest,
            max_steps=limit,
            baumgarte=stabilization,
            watch=None if watched is None else watched.watch,
            **problem.arguments,
            **vars(records),
            report=report,
        )
        if run.samples is not None:
            problem = replace(problem, inputs=problem.inputs.after(*run.samples))
        trajectory = Trajectory(problem, method, run, outcome(dyn, method, run, records), watched)
        if report is not None and trajectory.success:
            with _holding(trajectory):
                report(run.t)
    with _holding(trajectory):
        if dt is None:
            _warn_near(relative, absolute, trajectory.x)
        if watched is not None:
            watched.warn_where_crowded()
    trajectory = _ended(problem, run, trajectory, relative if dt is None else None)
    if wanted is not None:
        with _holding(trajectory):
            return trajectory.with_sensitivities(find_sensitivities(problem, wanted, method, run, watched))
    return trajectory


_NEAR = 100  # times atol: after some periods errors are a percent of smaller states


def _warn_near(relative: float, absolute: Array, x: Array) -> None:
    """Warn of runs with all states near atol, which then decides; with rtol of a percent or more this is intended."""
    size = np.max(np.abs(x), axis=tuple(range(x.ndim - 1)), initial=0.0)
    if relative < 1.0 / _NEAR and (size < _NEAR * absolute).all() and (x != x[..., :1, :]).any():
        warn(
            f"all states stay near or below atol = {absolute.max():g}, the largest is {size.max():g}: in each step an "
            f"error of {np.max(absolute) / size.max():.2g} of it is not seen; give an atol that is small compared with "
            f"the "
            "states"
        )


@contextmanager
def _holding(trajectory: Trajectory) -> Iterator[None]:
    """Attach the trajectory to errors that are raised in this context; the run itself reached its end."""
    try:
        yield
    except BaseException as error:
        vars(error)["trajectory"] = trajectory
        raise


def _ended(problem: InitialValueProblem, run: AnyRun, trajectory: Trajectory, rtol: float | None) -> Trajectory:
    """Trajectory of a run that reached its end; for other runs raise an error with the trajectory.

    ``rtol`` is None for fixed steps.
    """
    if trajectory.success:
        if not problem.project and problem.dyn.n_constraints > problem.rank:
            refuse_contradictions(problem, trajectory)
        with _holding(trajectory):
            warn_of_other_rates(problem.dyn, problem.inputs, (problem.t0, problem.t1), problem.x0, problem.p)
            warn_of_branches(problem, trajectory)
            if rtol is not None:
                warn_of_energy(problem, trajectory, rtol)
        return trajectory
    if run.error is not None:
        vars(run.error)["trajectory"] = trajectory  # of any class, also of one without settable attributes
        raise run.error
    raise failure(problem, run, trajectory)
