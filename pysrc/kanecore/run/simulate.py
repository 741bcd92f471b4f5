# SPDX-License-Identifier: BSD-3-Clause
"""Integration of a compiled model in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _native
from kanecore.errors import IntegrationError, ModelError, SingularError
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.metric import equilibrated
from kanecore.run.rank import count_near, refuse_flat_rows, warn_of_count
from kanecore.run.signals import Signal, evaluate
from kanecore.run.trajectory import Trajectory
from kanecore.tolerances import FEASIBLE

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["simulate"]

Array = npt.NDArray[np.float64]

_Rate = tuple[Signal, int, int]  # a signal, its column, the order of its derivative

_SMALLEST_RTOL = 100 * np.finfo(np.float64).eps
_LOST = 1e-4  # of what a row of G was at the start
_KEPT = 1 << 30  # bytes of steps that a run keeps
_KEPT_BESIDE = 32_000_000  # those that it keeps beside the states at t_eval
_MESSAGES = {
    "success": "The integration reached the end of the interval.",
    "step_size": "the error tolerance asks for steps smaller than rounding allows: loosen rtol and atol, or look for a "
    "discontinuity or singularity there",
    "max_steps": "max_steps was reached: the run is longer than that, or too stiff for this method, or comes to a "
    "singularity, where steps shrink",
    "nonfinite": "the equations of motion gave a result that is not finite",
}


def simulate(
    dyn: Kernels,
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
    project: bool = True,
    baumgarte: tuple[float, float] | None = None,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = 10_000_000,
    dense_output: bool | None = None,
) -> Trajectory:
    """Integrate the equations of motion.

    Parameters
    ----------
    t_span : (float, float)
        Start and end, s; the end may come first.
    x0 : array_like, (n_x,)
        State [q, u] at the start.  Each unit quaternion in it (``dyn.unit`` holds their places) must have norm 1 within
        1e-6 and is divided by it; so is that of the state after every step, and of what the interpolant gives.  It must
        satisfy the constraints within 1e-6, in units of the coordinates and of the speeds: ``dyn.consistent(t0, x0)``.
    method : {"dop853", "dopri5", "rk4", "euler"}
        Adaptive: Dormand and Prince's methods of order 8 and 5, with dense output (Hairer, Nørsett & Wanner, *Solving
        Ordinary Differential Equations I*, 1993, II.5).  With fixed steps: the classical method of order 4, and the
        semi-implicit method of Euler, of order 1, which advances the speeds first and the coordinates by the new ones.
    rtol, atol : float, array_like (n_x,)
        The error of each step is kept below atol + rtol |x|.
    dt : float
        Step of "rk4" and "euler", longer than rounding of t.  Steps end on every knot of the inputs, where these may
        jump, and on the end of the run; those that do may be shorter.
    t_eval : array_like, optional
        Times of the result; default: the ends of the steps.  It bounds the memory that a run takes: see `dense_output`.
    inputs : array_like (n_r,), mapping, Signal, or callable, optional
        The inputs r; default: the current values.  An array holds for the whole run.  A mapping gives some of them by
        name or symbol, each a number or a Signal of one column; the others keep their current values.  A Signal gives
        all: one column for each input, or one for each that is not the rate of another (``dyn.input_rates``).  Rates of
        prescribed motions that a mapping or Signal does not give are the derivatives of what it gives.  A callable is
        ``r(t, x) -> (n_r,)``, in the order of ``dyn.input_names``, and runs Python at every evaluation.
    parameters : array_like (n_p,) or mapping, optional
        For this run only.
    project : bool
        Bring x0, the state after every step and what the interpolant gives back to the constraints, with the least
        change weighted by mass (Hairer, Lubich & Wanner, *Geometric Numerical Integration*, 2006, IV.4).
    baumgarte : (alpha, beta), optional
        Stabilize the constraints: φ̈ + 2 α φ̇ + β² φ = 0 in place of φ̈ = 0, and ċ + 2 α c = 0 (Baumgarte 1972), 1/s;
        backwards in time with −α, so that constraints attract in the direction of the run.
        A configuration constraint whose derivative was filed as a velocity constraint is that constraint only.
    max_step : float
        Longest step of adaptive methods.
    first_step : float, optional
        First step that an adaptive method tries; default: chosen.
    max_steps : int, optional
        How many steps an adaptive method may try; None: any number.
    dense_output : bool, optional
        Whether the steps are kept with their interpolants, which ``sol(t)`` and the drifts need.  True: up to 1 GiB,
        and more is an error.  False: no interpolant, and with `t_eval` no step.  Default: as True, but with `t_eval` up
        to 32 MB, and none at all beyond.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError, TypeError, KeyError
        Shapes, tolerances, times that make no sense; anything not finite, or no number; an unknown name; a quaternion
        in x0 that is not of unit norm; an x0 that is not on the constraints.
    MemoryError
        The steps that are to be kept found no memory.
    SingularError
        The mass matrix became singular, or a constraint was lost.
    IntegrationError
        The integration could not go on, or took more than `max_steps`, or more than 1 GiB.
    KeyboardInterrupt
        Ctrl-C was pressed.

    All that end a run after its start have ``error.trajectory``, which holds what was reached.
    """
    t0, t1 = _span(t_span)
    smallest = _native.smallest_step(t0, t1)
    x = _normalized(dyn, _vector("x0", x0, dyn.n_x))
    tolerance = _vector("atol", np.full(dyn.n_x, atol) if np.ndim(atol) == 0 else atol, dyn.n_x)
    step = _step(method, dt, first_step, smallest)
    if not (np.isfinite(rtol) and rtol > 0 and (tolerance >= 0).all()):
        raise ValueError(f"rtol must be positive and atol not negative; they are {rtol!r} and {atol!r}")
    if not (max_step > 0 and max_step >= smallest):
        raise ValueError(f"max_step is {max_step!r}; it must be positive, and {smallest!r} at least: less is lost in t")
    limit = _limit(max_steps)
    times = None if t_eval is None else _times(t_eval, t0, t1)
    p = dyn._resolved("parameter", {} if parameters is None else parameters)
    source = _Source(dyn, inputs, t0, t1)
    gains = None if baumgarte is None else _gains(baumgarte)
    x, rank = _on_constraints(dyn, t0, x, project, r=source(t0, x), p=p)
    # the first evaluation finds what is missing or singular, before any work is lost
    dyn.rhs(t0, x, r=source(t0, x), p=p)

    keeps_all = times is None or bool(dense_output)
    run = _native.integrate(
        dyn,
        method,
        t0,
        t1,
        x,
        rtol=max(float(rtol), _SMALLEST_RTOL),
        atol=tolerance,
        step=step,
        max_step=float(max_step),
        max_steps=limit,
        knots=source.knots,
        coefficients=source.coefficients,
        function=source.function,
        p=p,
        rank=rank,
        project=bool(project),
        baumgarte=gains,
        times=times,
        interpolants=dense_output is None or bool(dense_output),
        room=_KEPT if keeps_all else _KEPT_BESIDE if dense_output is None else 0,
        drop=not keeps_all,
    )
    result = Trajectory(dyn, method, run, source, p, _message(run, times), bool(project), rank)
    if result.success:
        if not project and dyn.n_constraints > rank:
            _agree(dyn, result, source, p)
        return result
    if run.error is not None:
        vars(run.error)["trajectory"] = result  # of any class, also of one that lets nothing be set
        raise run.error
    raise _failure(dyn, run, result, (t0, x), source, p)


def _agree(dyn: Kernels, result: Trajectory, source: _Source, p: Array) -> None:
    """See that redundant rows of a run off the constraints do not contradict each other, at the states next to its own.

    At a state that has drifted off, kernels bear as much as the drift explains; beside it, on the constraints, nothing.
    """
    for t, x in zip(result.t, result.x, strict=True):
        state = ConstraintState(dyn, t, x, source(t, x), p)
        try:
            names = state.projected.contradictions
        except SingularError:
            names = state.contradictory_rows()
        if names:
            raise SingularError(
                f"{' and '.join(map(repr, names))} of {dyn.name!r} contradict each other at t = {float(t)!r}, x = "
                f"{x.tolist()!r}: no accelerations satisfy them together; do prescribed motions allow it?",
                t=float(t),
                x=x,
                contradictory=names,
                trajectory=result,
            )


def _message(run: _native.Run, times: Array | None) -> str:
    if run.error is not None:
        return f"{type(run.error).__name__}: {run.error}"
    if run.status != "full":
        return _MESSAGES.get(run.status, run.status)
    hint = "leave out dense_output=True" if times is not None else "give t_eval, the times at which states are needed"
    return f"{run.accepted} steps take {_KEPT} bytes, all that a run may keep: {hint}, or split the run"


def _failure(
    dyn: Kernels, run: _native.Run, result: Trajectory, start: tuple[float, Array], source: _Source, p: Array
) -> IntegrationError | SingularError:
    """The error of a run that did not reach its end."""
    reached, x = run.t, run.x
    where = f"t = {reached!r}, x = {x.tolist()!r}"
    if run.status == "contradictory":
        names = ConstraintState(dyn, reached, x, source(reached, x), p).contradictory_rows(run.row - dyn.n_u)
        return SingularError(
            f"{' and '.join(map(repr, names))} of {dyn.name!r} contradict each other just after {where}: no "
            "accelerations satisfy them together; do prescribed motions allow it?",
            t=reached,
            x=x,
            row=run.row,
            contradictory=names,
            trajectory=result,
        )
    if run.status == "singular":
        row = run.row
        if row < dyn.n_u:
            what = (
                f"the mass matrix of {dyn.name!r} became singular just after {where}: the pivot of speed "
                f"{dyn.speed_names[row]!r} vanished; the kinematical equations may be singular there (gimbal lock)"
            )
        elif run.projecting:
            what = (
                f"no state of {dyn.name!r} on its constraints was found just after {where}: {dyn._row_name(row)!r} "
                "cannot be satisfied with the others; the motion may have come to the end of what they allow"
            )
        else:
            what = f"{dyn._row_name(row)!r} of {dyn.name!r} is lost just after {where}: a dead point of all constraints"
        return SingularError(what, t=reached, x=x, row=row, trajectory=result)
    lost = _lost_row(dyn, start, (reached, x), source, p) if run.status == "step_size" else None
    if lost is not None:
        return SingularError(
            f"{dyn._row_name(dyn.n_u + lost)!r} of {dyn.name!r} is lost just after {where}: its coefficients, or what "
            "the other rows leave of them, vanish there; the motion comes to a dead point, or to the end of what the "
            "constraints allow",
            t=reached,
            x=x,
            row=dyn.n_u + lost,
            trajectory=result,
        )
    return IntegrationError(f"{result.message} at {where}", trajectory=result)


def _lost_row(
    dyn: Kernels, start: tuple[float, Array], end: tuple[float, Array], source: _Source, p: Array
) -> int | None:
    """The row of G that nearly vanishes, or nearly depends on others, at the end of a run and not at its start."""
    if not dyn.n_constraints:
        return None
    (t0, x0), (t1, x1) = start, end

    def rows(t: float, x: Array) -> Array:
        at = ConstraintState(dyn, t, x, source(t, x), p)
        return at.rows * at.speed_units

    first, last = rows(t0, x0), rows(t1, x1)
    sizes = np.max(np.abs(last), axis=1) / np.maximum(np.max(np.abs(first), axis=1), np.finfo(np.float64).tiny)
    if np.min(sizes) < _LOST:
        return int(np.argmin(sizes))
    same = np.ones(dyn.n_u)
    left, s, _ = np.linalg.svd(equilibrated(last, same))
    before = np.linalg.svd(equilibrated(first, same), compute_uv=False)
    gone = np.flatnonzero((s < _LOST * s[0]) & (before > _LOST * before[0]))
    return int(np.argmax(np.abs(left[:, gone[0]]))) if len(gone) else None


def _span(t_span: tuple[float, float]) -> tuple[float, float]:
    try:
        t0, t1 = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise ValueError(f"t_span is {t_span!r}; it must be (start, end)") from None
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise ValueError(f"t_span is {t_span!r}, which is not finite")
    return t0, t1


def _step(method: str, dt: float | None, first_step: float | None, smallest: float) -> float:
    """The length of fixed steps, or of the first of an adaptive method, 0 where it is to be chosen."""
    if method not in _native.METHODS:
        near = str(method).lower()
        known = ", ".join(map(repr, sorted(_native.METHODS)))
        hint = f": write {near!r}" if near in _native.METHODS else ""
        raise ValueError(f"method is {method!r}; it must be one of {known}{hint}")
    fixed = not _native.METHODS[method]
    if fixed and first_step is not None:
        raise ValueError(f"first_step is for adaptive methods: give the step of {method!r} as dt")
    if not fixed and dt is not None:
        raise ValueError(f"dt is for fixed steps: method='rk4', dt={dt!r}; for {method!r} use rtol, atol or max_step")
    value = dt if fixed else first_step
    if value is None:
        if fixed:
            raise ValueError(f"method {method!r} needs its step: dt=...")
        return 0.0
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{'dt' if fixed else 'first_step'} is {value!r}; it must be positive, also backwards in time")
    if fixed and value < smallest:
        raise ValueError(f"dt is {value!r}, which is lost in t at the ends of t_span: it must be at least {smallest!r}")
    return float(value)


def _limit(max_steps: int | None) -> int:
    """How many steps may be tried, 0 for any number."""
    if max_steps is None:
        return 0
    try:
        limit = index(max_steps)
    except TypeError:
        raise TypeError(f"max_steps is {max_steps!r}; it must be a whole number") from None
    if limit < 1:
        raise ValueError(f"max_steps is {max_steps!r}; it must be at least 1")
    return limit


def _vector(name: str, value: npt.ArrayLike, n: int) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; it must hold real numbers")
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; it must be ({n},)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is {array.tolist()}, which is not finite")
    return np.array(array, dtype=np.float64)


def _normalized(dyn: Kernels, x: Array) -> Array:
    """The state with its unit quaternions divided by their norms, which must be 1 but for rounding."""
    result = x.copy()
    for quaternion in dyn.unit:
        places = list(quaternion)
        norm = float(np.linalg.norm(x[places]))
        if not abs(norm - 1.0) <= FEASIBLE:
            names = ", ".join(dyn.coordinate_names[i] for i in places)
            hint = "divide by its norm" if norm else "without rotation it is (1, 0, 0, 0)"
            raise ValueError(f"the unit quaternion ({names}) has norm {norm!r} in x0; it must be 1: {hint}")
        result[places] = x[places] / norm
    return result


def _on_constraints(dyn: Kernels, t: float, x: Array, project: bool, **values: Any) -> tuple[Array, int]:
    """The start, on the constraints, and how many rows of G count there; ValueError where it is not near them."""
    if not (dyn.n_constraints or dyn.n_configuration):
        return x, 0
    start = ConstraintState(dyn, t, x, **values)
    if not start.misses_less_than(FEASIBLE):
        raise ValueError(
            f"x0 does not satisfy the constraints of {dyn.name!r} at t = {t!r}: {start.described_misses(FEASIBLE)}; "
            f"the residuals must be below {FEASIBLE} of the terms they are summed from: start from "
            f"dyn.consistent({t!r}, x0)"
        )
    near = start.projected if len(start.misses) else start
    refuse_flat_rows(near)
    if near.contradictions:
        raise ModelError(
            f"{' and '.join(map(repr, near.contradictions))} of {dyn.name!r} contradict each other at t = {t!r}, x0 = "
            f"{x.tolist()!r}: no accelerations satisfy them together; leave out what is too much"
        )
    warn_of_count(near)
    return (near.x.copy() if project else x), count_near(near)


def _gains(baumgarte: tuple[float, float]) -> tuple[float, float]:
    try:
        alpha, beta = (float(gain) for gain in baumgarte)
    except (TypeError, ValueError):
        raise ValueError(f"baumgarte is {baumgarte!r}; it must be (alpha, beta)") from None
    if not (0.0 <= alpha < np.inf and 0.0 <= beta < np.inf):
        raise ValueError(f"baumgarte is {baumgarte!r}; the gains must be finite and not negative")
    return alpha, beta


def _times(t_eval: npt.ArrayLike, t0: float, t1: float) -> Array:
    times = np.array(t_eval, dtype=np.float64)
    low, high = min(t0, t1), max(t0, t1)
    if times.ndim != 1 or not ((times >= low) & (times <= high)).all():
        raise ValueError(f"t_eval must be one-dimensional and lie within t_span, {low} to {high}")
    if not (np.diff(times) * (1.0 if t1 >= t0 else -1.0) > 0).all():
        raise ValueError("t_eval must be sorted in the direction of t_span, without repetitions")
    return times


class _Source:
    """r(t, x) of one run, in the form that the integrators take and as a function for what comes after."""

    def __init__(self, dyn: Kernels, inputs: Any, t0: float, t1: float) -> None:
        self._dyn = dyn
        self.function: Callable[[float, Array], npt.ArrayLike] | None = None
        low, high = min(t0, t1), max(t0, t1)
        ends = [low, high if high > low else float(np.nextafter(low, np.inf))]
        signals: dict[int, _Rate] = {}
        constants = np.zeros(dyn.n_r)
        if isinstance(inputs, Signal):
            signals = _with_rates(dyn, _columns(dyn, inputs))[1]
        elif callable(inputs):
            self.function = inputs
        elif isinstance(inputs, Mapping):
            numbers, signals = _with_rates(dyn, _entries(dyn, inputs))
            constants = dyn._resolved("input", numbers)
        else:
            constants = dyn._resolved("input", {} if inputs is None else inputs)
        for i, (signal, _, _) in signals.items():
            signal._require(low, high, f"input {dyn.input_names[i]!r}: ")
        # cubics on the union of all knots within the run
        knots = np.concatenate([ends, *(signal.knots[:-1] for signal, _, _ in signals.values())])
        self.knots: Array = np.unique(knots[(knots >= ends[0]) & (knots <= ends[1])])
        self.coefficients: Array = np.zeros((len(self.knots) - 1, dyn.n_r, 4))
        self.coefficients[..., 0] = constants
        for i, (signal, column, order) in signals.items():
            self.coefficients[:, i] = signal._about(self.knots[:-1], column, order)

    def __call__(self, t: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """R at times (...) and states (..., n_x): (..., n_r)."""
        if self.function is None:
            return evaluate(self.knots, self.coefficients, t)
        times, states = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
        result = np.empty((*times.shape, self._dyn.n_r))
        for i in np.ndindex(times.shape):
            time = float(times[i])
            result[i] = _native.checked_inputs(self._dyn, self.function(time, states[i]), time)
        return result


def _columns(dyn: Kernels, signal: Signal) -> dict[int, tuple[Signal, int]]:
    """Which inputs the columns of a signal are: all, or all but the rates of others."""
    base = [i for i in range(dyn.n_r) if i not in dyn.input_rates]
    if signal.n not in (dyn.n_r, len(base)):
        raise ValueError(
            f"the signal has {signal.n} columns; the model has {dyn.n_r} inputs ({', '.join(dyn.input_names)}), "
            f"{len(base)} without the rates of others"
        )
    inputs = range(dyn.n_r) if signal.n == dyn.n_r else base
    return {i: (signal, column) for column, i in enumerate(inputs)}


def _entries(dyn: Kernels, inputs: Mapping[Any, Any]) -> dict[int, Any]:
    """What a mapping gives, by the number of the input: signals of one column, and numbers, not yet checked."""
    given: dict[int, Any] = {}
    for key, value in inputs.items():
        i = dyn._index("input", key)
        name = dyn.input_names[i]
        if isinstance(value, Signal) and value.n != 1:
            raise ValueError(f"the signal of input {name!r} has {value.n} columns; in a mapping it has one")
        if callable(value) and not isinstance(value, Signal):
            raise TypeError(
                f"input {name!r} is a function, and a mapping holds numbers and Signals: pass one function for all "
                f"inputs, r(t, x) that returns the values of {', '.join(dyn.input_names)}"
            )
        given[i] = (value, 0) if isinstance(value, Signal) else value
    return given


def _with_rates(dyn: Kernels, given: Mapping[int, Any]) -> tuple[dict[str, Any], dict[int, _Rate]]:
    """Numbers by name and signals by the number of the input, with the rates of what is given; 0 where a signal is."""
    names = dyn.input_names
    numbers: dict[str, Any] = {}
    signals: dict[int, _Rate] = {}
    derivative_of = {rate: i for i, rate in enumerate(dyn.input_rates) if rate >= 0}
    for i in range(dyn.n_r):
        source, order = i, 0
        while source not in given and source in derivative_of:
            source, order = derivative_of[source], order + 1
        if source not in given:
            continue
        value = given[source]
        if isinstance(value, tuple):
            signal, column = value
            if order > signal.smooth_rates:
                raise ValueError(
                    f"a signal of kind {signal.kind!r} is too rough for {names[i]}: use kind='cubic', or give "
                    "the rates as well"
                )
            signals[i], numbers[names[i]] = (signal, column, order), 0.0
        else:
            numbers[names[i]] = 0.0 if order else value
    return numbers, signals
