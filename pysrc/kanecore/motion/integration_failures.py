# SPDX-License-Identifier: BSD-3-Clause
"""Errors of runs that did not reach their end, or have contradictory constraints there: event, place, and cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.constraints.kernel_failures import vanished_pivot
from kanecore.errors import IntegrationError, NonFiniteError, SingularError
from kanecore.motion.external_integration import AnyRun
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.simulation_options import Recording
from kanecore.motion.trajectory import Trajectory
from kanecore.rank import equilibrated
from kanecore.statuses import BY_WORD, OF_LOADS, Status

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["failure", "outcome", "reason", "refuse_contradictions", "undefined_after"]

Array = npt.NDArray[np.float64]

# Limits relative to a row of G at the start, for steps that shrank to rounding, shrink, or would jump, and for rows
# that contradict each other.
_LOST = {"step_size": 1e-4, "stalled": 0.03, "jump": 0.1, "contradictory": 0.03}
_RIGHT_BEHIND = 1e-6  # part of a mean step after the end
_HALVES = {"auto": ("dop853", "rosenbrock"), "auto_w": ("dop853", "rosenbrock_w")}


def reason(dyn: Evaluator, status: Status, row: int) -> str:
    """Reason why a run ended, with advice; ``row`` as in `SingularError`: the index of a speed or of a constraint."""
    said = status.reason
    if status.word in OF_LOADS:
        said = said.format(subject=f"{row - dyn.n_u} of {dyn.name!r}")
    elif "{subject}" in said:
        said = said.format(subject=repr(dyn.speed_names[row] if row < dyn.n_u else dyn.names.row_name(row)))
    return f"{said}; {status.advice}" if status.advice else said


def outcome(dyn: Evaluator, method: str, run: AnyRun, recording: Recording) -> str:
    """Outcome of a run, in a sentence."""
    if run.error is not None:
        return f"{type(run.error).__name__}: {run.error}"
    if run.status == "full":
        hint = "give t_eval, the times at which states are needed"
        if recording.times is not None:
            hint = "leave out dense_output=True"
        return f"{run.accepted} steps take {recording.room} bytes, all that a run may keep: {hint}, or split the run"
    event = "A termination event occurred"
    said = event if run.status == "event" else reason(dyn, BY_WORD[run.status], run.row)
    return said + _hand_overs(method, run)


def _hand_overs(method: str, run: AnyRun) -> str:
    """Methods chosen by "auto", and their times, in words."""
    if method not in _HALVES:
        return ""
    words = [f"{_HALVES[method][(i + 1) % 2]} from t = {t:.6g}" for i, t in enumerate(run.switched)]
    more = run.switches - len(words)
    said = ", then ".join(["dop853", *words]) + (f", and {more} changes more" if more else "")
    return f" (by {said})" if words else " (by dop853, which found nothing stiff)"


def refuse_contradictions(problem: InitialValueProblem, trajectory: Trajectory) -> None:
    """Raise SingularError if redundant rows contradict each other at the projections of a run's states.

    At a state that has drifted off the constraints, kernels tolerate contradictions due to the drift; at its projection
    to the constraints they tolerate none.
    """
    for t, x in zip(trajectory.t, trajectory.x, strict=True):
        state = problem.state(t, x)
        try:
            names = state.projected.contradictions
        except SingularError:
            names = state.contradictory_rows()
        if names:
            raise SingularError(
                f"{' and '.join(map(repr, names))} of {problem.dyn.name!r} contradict each other at t = {float(t)!r}, "
                f"x = {x.tolist()!r}: no accelerations satisfy them together; do prescribed motions allow it?",
                t=float(t),
                x=x,
                contradictory=names,
                trajectory=trajectory,
            )


def failure(problem: InitialValueProblem, run: AnyRun, trajectory: Trajectory) -> IntegrationError | SingularError:
    """The error of a run that did not reach its end."""
    if run.status == "contradictory":
        return _contradiction(problem, run, trajectory)
    if run.status in ("singular", "lost", "unsatisfied"):
        if undefined := _undefined_after(problem, run):
            return IntegrationError(
                f"{BY_WORD['nonfinite'].reason} just after {_where(run)}: {undefined.cause}", trajectory=trajectory
            )
        return SingularError(_singularity(problem, run), t=run.t, x=run.x, row=run.row, trajectory=trajectory)
    if run.status in OF_LOADS:
        return SingularError(
            f"{reason(problem.dyn, BY_WORD[run.status], run.row)}; just after {_where(run)}",
            t=run.t,
            x=run.x,
            row=run.row,
            status=run.status,
            trajectory=trajectory,
        )
    lost = _lost_row(problem, run, _LOST[run.status]) if run.status in _LOST else None
    if run.status == "jump" and lost is None:
        return IntegrationError(
            f"the constraints of {problem.dyn.name!r} ask for a jump of the state just after {_where(run)}: "
            f"the motion does not satisfy {_missed(problem, run)!r} there, for example because a row starts to apply; "
            f"{BY_WORD['jump'].advice}",
            trajectory=trajectory,
        )
    if lost is None:
        undefined = _undefined_after(problem, run) if run.status in ("nonfinite", "step_size") else None
        cause = f": {undefined.cause}" if undefined else ""
        return IntegrationError(f"{trajectory.message}; the run ends at {_where(run)}{cause}", trajectory=trajectory)
    row = problem.dyn.n_u + lost
    return SingularError(
        f"{problem.dyn.names.row_name(row)!r} of {problem.dyn.name!r} is lost just after {_where(run)}: its "
        "coefficients are zero there, also if only after elimination of the other rows; the motion comes to a dead "
        "point, or to the end of the motions that the constraints allow",
        t=run.t,
        x=run.x,
        row=row,
        trajectory=trajectory,
    )


def _where(run: AnyRun) -> str:
    return f"t = {run.t!r}, x = {run.x.tolist()!r}"


def _contradiction(problem: InitialValueProblem, run: AnyRun, trajectory: Trajectory) -> SingularError:
    """Error for rows that no accelerations satisfy together, everywhere or near a branching point."""
    dyn = problem.dyn
    names = problem.state(run.t, run.x).contradictory_rows(run.row - dyn.n_u)
    why = "do prescribed motions allow it?"
    if _lost_row(problem, run, _LOST[run.status]) is not None:
        why = (
            "they are nearly equal there, and were not at the start. Where motions branch, as in the flat pose of a "
            "parallelogram, errors of the speeds decide which one follows: replace one of these rows by a row that is "
            "true for the intended motion only"
        )
    return SingularError(
        f"{' and '.join(map(repr, names))} of {dyn.name!r} contradict each other just after {_where(run)}: no "
        f"accelerations satisfy them together; {why}",
        t=run.t,
        x=run.x,
        row=run.row,
        contradictory=names,
        trajectory=trajectory,
    )


def undefined_after(dyn: Evaluator, t: float, x: Array, r: Array, p: Array, step: float) -> NonFiniteError | None:
    """The error of the equations if they have no values after the end of a run; pivots and rows give no reason then.

    The equations are evaluated right after the end, as by small adaptive steps, and a step later, as by fixed steps.
    """
    try:
        xdot = dyn.rhs(t, x, r=r, p=p)
        for h in (_RIGHT_BEHIND * step, step):
            dyn.rhs(t + h, x + h * xdot, r=r, p=p)
    except NonFiniteError as error:
        return error
    except SingularError:
        pass
    return None


def _undefined_after(problem: InitialValueProblem, run: AnyRun) -> NonFiniteError | None:
    """The same after a run, a mean step later."""
    step = (run.t - problem.t0) / run.accepted if run.accepted else problem.t1 - problem.t0
    return undefined_after(problem.dyn, run.t, run.x, problem.inputs(run.t, run.x), problem.p, step)


def _singularity(problem: InitialValueProblem, run: AnyRun) -> str:
    """Error message for a singular mass matrix, projection to the constraints, or row of G."""
    dyn, where = problem.dyn, _where(run)
    if run.status == "singular":
        return (
            f"the mass matrix of {dyn.name!r} became singular just after {where}: {vanished_pivot(dyn, run.row)}; the "
            "kinematical equations may be singular there (gimbal lock)"
        )
    row = dyn.names.row_name(run.row)
    if run.status == "unsatisfied":
        return (
            f"no state of {dyn.name!r} on its constraints was found just after {where}: {row!r} "
            "cannot be satisfied with the others; the constraints may not allow the motion to continue"
        )
    return f"{row!r} of {dyn.name!r} is lost just after {where}: a dead point of all constraints"


def _missed(problem: InitialValueProblem, run: AnyRun) -> str:
    """Constraint with the largest residual if the motion went on at the last speeds beyond the end of a run."""
    step = (run.t - problem.t0) / run.accepted if run.accepted else problem.t1 - problem.t0
    x = run.x.copy()
    qdot = problem.dyn.qdot(run.t, run.x, r=problem.inputs(run.t, run.x), p=problem.p)
    x[: problem.dyn.n_q] += _RIGHT_BEHIND * step * qdot
    state = problem.state(run.t + _RIGHT_BEHIND * step, x)
    return state.residual_names[int(np.argmax(state.misses))]


def _lost_row(problem: InitialValueProblem, run: AnyRun, limit: float) -> int | None:
    """The row of G that nearly vanishes, or nearly depends on others, at the end of a run but not at its start."""
    if not problem.dyn.n_constraints:
        return None
    start, end = problem.state(problem.t0, problem.x0), problem.state(run.t, run.x)
    first, last = start.rows * start.speed_units, end.rows * end.speed_units
    of_first, of_last = (np.max(np.abs(rows), axis=1) for rows in (first, last))
    lost = np.flatnonzero(of_last < limit * of_first)
    if len(lost):
        return int(lost[np.argmin(of_last[lost] / of_first[lost])])
    same = np.ones(problem.dyn.n_u)
    of_rows, s, _ = np.linalg.svd(equilibrated(last, same))
    s_first = np.linalg.svd(equilibrated(first, same), compute_uv=False)
    lost = np.flatnonzero((s < limit * s[0]) & (s_first > limit * s_first[0]))
    return int(np.argmax(np.abs(of_rows[:, lost[0]]))) if len(lost) else None
