# SPDX-License-Identifier: BSD-3-Clause
"""Integration of a compiled model in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore import _native
from kanecore.errors import IntegrationError, SingularError
from kanecore.run.signals import Signal, evaluate
from kanecore.run.trajectory import Trajectory

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["simulate"]

Array = npt.NDArray[np.float64]

_SMALLEST_RTOL = 100 * np.finfo(np.float64).eps
_MESSAGES = {
    "success": "The integration reached the end of the interval.",
    "step_size": "the error tolerance asks for steps smaller than rounding allows: loosen rtol and atol, or look for a "
    "discontinuity or singularity there",
    "max_steps": "max_steps was reached",
    "nonfinite": "the equations of motion gave a result that is not finite",
}


def simulate(
    dyn: CompiledModel,
    t_span: tuple[float, float],
    x0: npt.ArrayLike,
    *,
    method: str = "dop853",
    rtol: float = 1e-8,
    atol: npt.ArrayLike = 1e-8,
    dt: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    inputs: Any = None,
    parameters: Any = None,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
) -> Trajectory:
    """Integrate the equations of motion.

    Parameters
    ----------
    t_span : (float, float)
        Start and end, s; the end may come first.
    x0 : array_like, (n_x,)
        State [q, u] at the start.
    method : {"dop853", "rk4"}
        Adaptive, of order 8, with dense output (Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*,
        1993, II.5); or the classical method of order 4 with fixed steps.
    rtol, atol : float, array_like (n_x,)
        The error of each step is kept below atol + rtol |x|.
    dt : float
        Step of "rk4"; the last one may be shorter.
    t_eval : array_like, optional
        Times of the result; default: the ends of the steps.
    inputs : array_like (n_r,), mapping, Signal, or callable, optional
        r, constant, or as a table in time, or ``r(t, x) -> (n_r,)``, which runs Python at every evaluation.  A Signal
        has one column for each input, or one for each that is not the rate of another: rates of prescribed motions
        are then its derivatives.  Default: the current values.
    parameters : array_like (n_p,) or mapping, optional
        For this run only.
    max_step, first_step, max_steps :
        Limits of the adaptive method.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        Shapes, tolerances, times that make no sense; anything not finite.
    SingularError
        The mass matrix became singular.
    IntegrationError
        The integration could not go on.  ``error.trajectory`` of both holds what was reached.
    """
    t0, t1 = _span(t_span)
    x = _vector("x0", x0, dyn.n_x)
    tolerance = _vector("atol", np.full(dyn.n_x, atol) if np.ndim(atol) == 0 else atol, dyn.n_x)
    step = _step(method, dt, first_step)
    if not (np.isfinite(rtol) and rtol > 0 and (tolerance >= 0).all()):
        raise ValueError(f"rtol must be positive and atol not negative; they are {rtol!r} and {atol!r}")
    if not max_step > 0:
        raise ValueError(f"max_step is {max_step!r}; it must be positive")
    if max_steps is not None and max_steps < 1:
        raise ValueError(f"max_steps is {max_steps!r}; it must be at least 1")
    times = None if t_eval is None else _times(t_eval, t0, t1)
    p = _overridden(dyn, "parameter", parameters)
    source = _Source(dyn, inputs, t0, t1)
    # the first evaluation finds what is missing or singular, before any work is lost
    dyn.rhs(t0, x, r=source(t0, x), p=p)

    status, t, states, dense, counts = _native.integrate(
        dyn,
        method,
        t0,
        t1,
        x,
        rtol=max(float(rtol), _SMALLEST_RTOL),
        atol=tolerance,
        step=step,
        max_step=min(float(max_step), max(abs(t1 - t0), 1e-300)),
        max_steps=0 if max_steps is None else max_steps,
        knots=source.knots,
        coefficients=source.coefficients,
        function=source.function,
        p=p,
    )
    result = Trajectory(dyn, method, t, states, dense, source, p, times, counts, _MESSAGES.get(status, status))
    if status == "success":
        return result
    result.status, result.success = -1, False
    reached, x = float(t[-1]), states[-1]
    where = f"t = {reached!r}, x = {x.tolist()!r}"
    if status == "singular":
        row = counts["row"]
        raise SingularError(
            f"the mass matrix of {dyn.name!r} became singular just after {where}: the pivot of speed "
            f"{dyn.speed_names[row]!r} vanished",
            t=reached,
            x=x,
            row=row,
            trajectory=result,
        )
    raise IntegrationError(f"{result.message} at {where}", trajectory=result)


def _span(t_span: tuple[float, float]) -> tuple[float, float]:
    try:
        t0, t1 = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise ValueError(f"t_span is {t_span!r}; it must be (start, end)") from None
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise ValueError(f"t_span is {t_span!r}, which is not finite")
    return t0, t1


def _step(method: str, dt: float | None, first_step: float | None) -> float:
    """The step of rk4, or the first of dop853, 0 where it is to be chosen."""
    if method not in _native.METHODS:
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(map(repr, sorted(_native.METHODS)))}")
    fixed = method == "rk4"
    if fixed and first_step is not None:
        raise ValueError("first_step is for adaptive methods: give the step of 'rk4' as dt")
    if not fixed and dt is not None:
        raise ValueError(f"dt is for fixed steps: method='rk4', dt={dt!r}; for {method!r} use rtol, atol or max_step")
    value = dt if fixed else first_step
    if value is None:
        if fixed:
            raise ValueError("method 'rk4' needs its step: dt=...")
        return 0.0
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{'dt' if fixed else 'first_step'} is {value!r}; it must be positive, also backwards in time")
    return float(value)


def _vector(name: str, value: npt.ArrayLike, n: int) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; it must hold real numbers")
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; it must be ({n},)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is {array.tolist()}, which is not finite")
    return np.array(array, dtype=np.float64)


def _times(t_eval: npt.ArrayLike, t0: float, t1: float) -> Array:
    times = np.array(t_eval, dtype=np.float64)
    low, high = min(t0, t1), max(t0, t1)
    if times.ndim != 1 or not ((times >= low) & (times <= high)).all():
        raise ValueError(f"t_eval must be one-dimensional and lie within t_span, {low} to {high}")
    if not (np.diff(times) * (1.0 if t1 >= t0 else -1.0) > 0).all():
        raise ValueError("t_eval must be sorted in the direction of t_span, without repetitions")
    return times


def _overridden(dyn: CompiledModel, what: Literal["parameter", "input"], given: Any) -> Array:
    """Current values of all parameters or inputs, with those of an array or mapping in their place."""
    names = dyn.parameter_names if what == "parameter" else dyn.input_names
    if given is None or isinstance(given, Mapping):
        values = np.array(dyn.values(what))
        for key, value in (given or {}).items():
            name = _native.symbol_name(key)
            if name not in names:
                raise KeyError(f"{name!r} is no {what} of {dyn.name!r}; there are {', '.join(names) or 'none'}")
            values[names.index(name)] = value
    else:
        values = _vector(f"{what}s", given, len(names))
    missing = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
    if missing:
        raise ValueError(f"{what}s never given: {', '.join(missing)}; set dyn.{what}s[{missing[0]!r}] = ...")
    if not np.isfinite(values).all():
        raise ValueError(f"{what}s must be finite: {values.tolist()}")
    return values


class _Source:
    """r(t, x) of one run, in the form that the integrators take and as a function for what comes after."""

    def __init__(self, dyn: CompiledModel, inputs: Any, t0: float, t1: float) -> None:
        self.n_r = dyn.n_r
        self.function: Callable[[float, Array], npt.ArrayLike] | None = None
        self.knots: Array = np.array([t0, t0 + 1.0])
        self.coefficients: Array = np.zeros((1, dyn.n_r, 4))
        if isinstance(inputs, Signal):
            self._take(dyn, inputs, min(t0, t1), max(t0, t1))
        elif callable(inputs):
            self.function = inputs
        else:
            self.coefficients[0, :, 0] = _overridden(dyn, "input", inputs)

    def _take(self, dyn: CompiledModel, signal: Signal, low: float, high: float) -> None:
        if low < signal.start or high > signal.stop:
            raise ValueError(
                f"the signal holds t = {signal.start} to {signal.stop}, and the run needs {low} to {high}: extend it"
            )
        orders = _orders(dyn.input_names)
        base = [i for i, order in enumerate(orders) if order == 0]
        if signal.n == dyn.n_r:
            self.coefficients = signal.coefficients
        elif signal.n == len(base):
            highest = max(orders)
            if highest > signal.smooth_rates:
                name = dyn.input_names[orders.index(highest)]
                raise ValueError(
                    f"a signal of kind {signal.kind!r} is too rough for {name}: use kind='cubic', or give all "
                    f"{dyn.n_r} inputs with their rates as columns"
                )
            columns = []
            for i, order in enumerate(orders):
                column = base.index(i - order)
                columns.append(signal.rate(order)[:, column : column + 1])
            self.coefficients = np.concatenate(columns, axis=1)
        else:
            raise ValueError(
                f"the signal has {signal.n} columns; the model has {dyn.n_r} inputs ({', '.join(dyn.input_names)}), "
                f"{len(base)} without the rates of others"
            )
        self.knots = signal.knots

    def __call__(self, t: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """R at times (...) and states (..., n_x): (..., n_r)."""
        if self.function is None:
            return evaluate(self.knots, np.ascontiguousarray(self.coefficients), t)
        times, states = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
        result = np.empty((*times.shape, self.n_r))
        for i in np.ndindex(times.shape):
            result[i] = self.function(float(times[i]), states[i])
        return result


def _orders(names: tuple[str, ...]) -> list[int]:
    """For each input, the derivative of which order of an earlier one it is: theta, theta_d, theta_dd give 0, 1, 2."""
    orders: list[int] = []
    for i, name in enumerate(names):
        order = orders[-1] + 1 if i else 0
        orders.append(order if i and name == names[i - order] + "_" + "d" * order else 0)
    return orders
