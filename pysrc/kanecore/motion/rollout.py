# SPDX-License-Identifier: BSD-3-Clause
"""Rollouts: fixed steps from many initial states at once, from the arguments of `rollout` to the states of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.binding.declared_methods import method
from kanecore.errors import IntegrationError
from kanecore.motion.batch_rows import Rows, count_again, failed_rows, named, starts
from kanecore.motion.integration_failures import reason, undefined_after
from kanecore.motion.prescribed_rates import warn_of_other_rates_in_rows
from kanecore.motion.signals import Signal
from kanecore.motion.simulation_options import positive_count
from kanecore.run.call_arguments import leading
from kanecore.statuses import BY_NUMBER, NUMBER_OF

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["RolloutStatus", "held_over_step", "read", "rollout", "step", "steps_of", "times"]

Array = npt.NDArray[Any]


class RolloutStatus(NamedTuple):
    """Outcome of each row of a rollout.

    Attributes
    ----------
    codes : ndarray of uint8, (...)
        0: all steps were taken.  1: the mass matrix became singular.  2: a start, a slope or a state is not finite.  6:
        constraints contradict each other.  7: a constraint is lost.  8, 9: no state on the constraints was found.
        These are the numbers of ``kc_status`` in kanecore.h.
    last_good_step : ndarray of int64, (...)
        Index of the last state that is not NaN; -1 if the start is not finite.
    """

    codes: npt.NDArray[np.uint8]
    last_good_step: npt.NDArray[np.int64]


@method("Motion")
def rollout(
    dyn: Evaluator,
    x0: Values,
    inputs: Values | None = None,
    *,
    dt: float,
    steps: int | None = None,
    t0: float = 0.0,
    method: str = "rk4",
    parameters: Values | None = None,
    threads: int | None = None,
    out: Array | None = None,
    return_status: bool = False,
) -> Any:
    """Simulate many motions by fixed steps, as many at once as fit in a vector register, on any number of cores.

    Parameters
    ----------
    x0 : array_like, (..., n_x), or mapping by name
        Initial states [q, u], one in each row.  As in `simulate`, every row must satisfy unit quaternions and
        constraints within 1e-6, and is projected to them.
    inputs : array_like, (..., steps, n_r), or mapping by name, optional
        The inputs r, constant over each step; default: the current values. (n_r,), and (..., 1, n_r) by row, are
        constant over all steps.  Values of a mapping are (..., steps), numbers, or (..., 1).  Rates of prescribed
        motions are separate inputs, 0 unless given.  A KanecoreWarning tells if they contradict the motions over
        several steps.
    dt : float
        The step; below zero backwards in time.
    steps : int, optional
        Number of steps; default: the number of sets of inputs in each row, if more than one.
    t0 : float
        Time at the start.
    method : {"rk4", "euler"}
        As for `simulate`: the classical method of order 4, or the semi-implicit method of Euler, of order 1.
    parameters : array_like, (n_p,) or (..., n_p), or mapping by name, optional
        For this call only; default: the current values.
    threads : int, optional
        Number of threads that share the rows; -1: one for each core.  Default: one, as for the kernels.
    out : ndarray, (..., steps + 1, n_x), optional
        Array for the result: C-contiguous, of the type of the model.
    return_status : bool
        Return a `RolloutStatus` as well, and raise no error for rows that fail.

    Returns
    -------
    X : ndarray, (..., steps + 1, n_x)
        ``out`` if given, else a new array.  Leading axes of x0, inputs and parameters broadcast.  After every step unit
        quaternions have norm 1, and states are on the constraints.  A row that starts non-finite, diverges, or reaches
        a singular state is NaN from there on.  Results are bit-identical to those of single calls, and to `simulate`
        with the same steps and constant inputs.
    status : RolloutStatus
        With ``return_status=True``.

    Raises
    ------
    IntegrationError
        Rows failed: ``error.rows`` has their indices, ``error.out`` is the result, ``error.status`` the outcome of each
        row.
    ValueError, TypeError, KeyError
        Wrong shapes, names or numbers; initial states off the constraints.
    ModelError
        A row of the constraints restricts no motion.
    KeyboardInterrupt
        Ctrl-C was pressed; ``out`` has the finished rows.
    """
    first, step, count = times(t0, dt, steps_of(dyn, inputs) if steps is None else steps)
    if method not in _motion.FIXED_STEP_METHODS:
        known = " or ".join(map(repr, _motion.FIXED_STEP_METHODS))
        hint = ": for other methods use simulate" if method in _motion.METHODS else ""
        raise ValueError(f"method is {method!r}; it must be {known}{hint}")
    rows = read(dyn, x0, inputs, parameters, (first, step, count))
    operands = {"inputs": rows.r}
    rows = replace(rows, x=starts(rows))
    if count > 1:
        warn_of_other_rates_in_rows(rows, count)
    result = _motion.result_for(dyn, out, (*rows.shape, count + 1, dyn.n_x), operands)
    run = _motion.roll_out(dyn, method, first, step, count, rows.shape, rows.x, rows.r, rows.c, result, threads)
    if dyn.n_constraints and not dyn.single:

        def again(i: int, case: Rows) -> tuple[Array, ...]:
            to = result[np.unravel_index(i, rows.shape)]
            return _results(_motion.roll_out(dyn, method, first, step, count, (), case.x, case.r, case.c, to))

        lost = np.flatnonzero((run.codes == NUMBER_OF["lost"]) & (run.last == 0))
        count_again(rows, lost, again, *_results(run))
    status = RolloutStatus(run.codes.reshape(rows.shape), run.last.reshape(rows.shape))
    if return_status:
        return result, status
    if run.codes.any():
        raise _failure(rows, run, result, status)
    return result


def _results(run: _motion.Rollout) -> tuple[Array, ...]:
    return run.codes, run.numbers, run.last


@method("Motion")
def step(
    dyn: Evaluator,
    t: float,
    x: Values,
    dt: float,
    *,
    method: str = "rk4",
    r: Values | None = None,
    p: Values | None = None,
    threads: int | None = None,
) -> Array:
    """The state one fixed step later, for a user's loop: x(t + dt), (..., n_x).

    A rollout of one step: unit quaternions and constraints, `method` and errors are those of `rollout`.

    Parameters
    ----------
    x : array_like, (..., n_x), or mapping by name
    dt : float
        The step; below zero backwards in time.
    r : array_like, (..., n_r), or mapping by name, optional
        The inputs, constant over the step; default: the current values.
    p : array_like, (..., n_p), or mapping by name, optional
        For this call only; default: the current values.
    """
    if method in _motion.FIXED_STEP_METHODS and isinstance(dt, float):
        stepped = _motion.one_step(dyn, method == "euler", t, x, dt, r, p)
        if stepped is not None:
            return stepped
    inputs = held_over_step(r)
    states = rollout(dyn, x, inputs, dt=dt, steps=1, t0=t, method=method, parameters=p, threads=threads)
    return np.ascontiguousarray(states[..., 1, :])


def held_over_step(r: Any) -> Any:
    """Inputs of rows, (..., n_r) or by name, in the form for a rollout of one step, (..., 1, n_r)."""
    if isinstance(r, Mapping):
        return {name: np.asarray(value)[..., np.newaxis] if np.ndim(value) else value for name, value in r.items()}
    return np.asarray(r)[..., np.newaxis, :] if r is not None and np.ndim(r) > 1 else r


# -------------------------------------------------------------------------------------------------- arguments


def steps_of(dyn: Evaluator, inputs: Any) -> int:
    """Number of sets of inputs; TypeError if the inputs do not determine the number of steps."""
    if isinstance(inputs, Mapping):
        lengths = {np.shape(value)[-1] for value in inputs.values() if np.ndim(value)}
    else:
        lengths = {np.shape(inputs)[-2]} if inputs is not None and np.ndim(inputs) > 1 else set()
    lengths -= {1}
    if not lengths:
        raise TypeError(
            "steps is missing, and inputs do not determine it: give steps, the number of steps, or inputs of shape "
            f"(..., steps, {dyn.n_r})"
        )
    if len(lengths) > 1:
        raise ValueError(f"inputs has values for {' and for '.join(map(str, sorted(lengths)))} steps: give one number")
    return int(lengths.pop())


def times(t0: float, dt: float, steps: int) -> tuple[float, float, int]:
    """Start, step and number of steps."""
    n = positive_count("steps", steps)
    numbers = []
    for name, value in (("t0", t0), ("dt", dt)):
        try:
            numbers.append(float(value))
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} is {value!r}; it must be one number") from None
    first, step = numbers
    if not np.isfinite(first):
        raise ValueError(f"t0 is {t0!r}, which is not finite")
    if not (np.isfinite(step) and step != 0.0 and np.isfinite(first + n * step)):
        raise ValueError(f"dt is {dt!r}; it must be finite and not zero")
    smallest = _motion.smallest_step(first, first + n * step)
    if abs(step) < smallest:
        raise ValueError(f"dt is {dt!r}, which is lost in t: it must be at least {smallest!r}")
    return first, step, n


def read(dyn: Evaluator, x0: Any, inputs: Any, parameters: Any, times: tuple[float, float, int]) -> Rows:
    """Arguments as arrays of the model's type, with consistent shapes."""
    first, step, count = times
    x = dyn.names.rows("state", x0, "x0")
    r = _held(dyn, inputs, count)
    p, c = _motion.parameters_of_rows(dyn, {} if parameters is None else parameters)
    shape = leading(x0=x.shape[:-1], inputs=r.shape[:-2], parameters=p.shape[:-1])
    return Rows(dyn, first, step, shape, x, r, p, c)


def _held(dyn: Evaluator, inputs: Any, steps: int) -> Array:
    """The inputs of each step, (..., steps or 1, n_r)."""
    values = list(inputs.values()) if isinstance(inputs, Mapping) else [inputs]
    if any(callable(value) or isinstance(value, Signal) for value in values):
        raise TypeError(
            "inputs of a rollout are numbers, constant over each step: evaluate a function or Signal at the starts of "
            f"steps, and give ({steps}, {dyn.n_r}); simulate accepts functions and Signals"
        )
    r = dyn.names.rows("input", {} if inputs is None else inputs, "inputs")
    if r.ndim == 1:
        return r[np.newaxis]
    if r.shape[-2] not in (1, steps):
        raise ValueError(
            f"inputs has shape {r.shape}, expected (..., {steps}, {dyn.n_r}): one set for each step; constant inputs "
            f"are ({dyn.n_r},), or by row (..., 1, {dyn.n_r})"
        )
    return r


# ----------------------------------------------------------------------------------------------------- failures


def _failure(rows: Rows, run: _motion.Rollout, result: Array, status: RolloutStatus) -> IntegrationError:
    """The error of the first failed row, with all failed rows."""

    def said(place: tuple[Any, ...]) -> str:
        last = int(status.last_good_step[place])
        if last < 0:
            return f"starts from {named('x0', place)} = {rows.wide(rows.x, 1)[place].tolist()}, which is not finite"
        t, x = rows.t0 + last * rows.dt, result[place][last].tolist()
        number = int(run.numbers.reshape(rows.shape)[place])
        outcome = BY_NUMBER[int(status.codes[place])]
        why = reason(rows.dyn, outcome, number)
        if outcome.name == "NONFINITE":
            one = rows.at(place)
            r = one.r[min(last, len(one.r) - 1)]
            undefined = undefined_after(rows.dyn, float(t), result[place][last], r, one.p, rows.dt)
            why += f": {undefined.cause}" if undefined else ""
        return f"ends with step {last}, t = {t!r}, x = {x}: {why}"

    rest = "states from there on are NaN, error.out has the others"
    return failed_rows(rows, "rollout", run.codes, said, rest, out=result, status=status)
