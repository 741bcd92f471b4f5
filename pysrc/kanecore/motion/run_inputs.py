# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of a run, in any form: numbers, signals, functions of time and state, functions in C by address."""

from __future__ import annotations

import ctypes
import inspect
import math
import pickle
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.motion.signals import Signal, cubic_values, evaluate, piece
from kanecore.run.call_arguments import real_numbers

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["RunInputs", "address_of", "event_in_python", "inputs_in_python"]

Array = npt.NDArray[np.float64]

_POINTER = ctypes.POINTER(ctypes.c_double)


def address_of(function: Any, n: int, argument: str, written: str) -> int:
    """The address of a function of ctypes, or of an object with the member ``address``, as of numba's ``cfunc``.

    Parameters
    ----------
    n : int
        Number of its arguments.
    argument, written : str
        Name of the argument, and its required form, for messages.
    """
    if hasattr(function, "argtypes"):
        if function.argtypes is not None and len(function.argtypes) != n:
            raise TypeError(f"{argument} takes {len(function.argtypes)} arguments; it must be {written}")
        function = ctypes.cast(function, ctypes.c_void_p).value
    else:
        function = function.address
    if isinstance(function, bool) or not hasattr(function, "__index__") or function <= 0:
        raise ValueError(f"{argument} has the address {function!r}, which is no address of a function: give {written}")
    return int(function)


def event_in_python(address: int) -> Callable[[float, Array], float]:
    """A function ``double g(double t, const double *x)`` as a Python function."""
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, _POINTER)(address)
    return lambda t, x: call(t, np.ascontiguousarray(x, dtype=np.float64).ctypes.data_as(_POINTER))


def inputs_in_python(function: Any, address: int, n_r: int) -> Callable[[float, Array], Array]:
    """A function ``void f(double t, const double *x, double *r)`` as a Python function that keeps ``function``."""
    call = ctypes.CFUNCTYPE(None, ctypes.c_double, _POINTER, _POINTER)(address)

    def inputs(t: float, x: Array) -> Array:
        state, r = np.ascontiguousarray(x, dtype=np.float64), np.zeros(n_r)
        call(t, state.ctypes.data_as(_POINTER), r.ctypes.data_as(_POINTER))
        return r

    inputs.owner = function  # type: ignore[attr-defined]  # its code lives as long as this
    return inputs


_Rate = tuple[Signal, int, int]  # a signal, its column, and the order of a derivative

_SEEN = 64  # pairs of calls of a function; beyond, half of them are dropped
_SMOOTH = 1e-9  # relative to the largest value of an input, or of its derivative: a smaller jump is rounding


class RunInputs:
    """Inputs r(t, x) of a run, in the form for the integrators and as a function for later use.

    Parameters
    ----------
    inputs
        As for `simulate`.
    t0, t1 : float
        Start and end of the run, in any order.
    period : float
        Sampling period of a function, over which its value is constant; 0: it is called whenever needed.

    Attributes
    ----------
    knots, coefficients : ndarray
        The inputs as cubics between knots, like those of a `Signal`; zeros for inputs by a function.
    last : ndarray
        The inputs at the last knot, at which a constant value may begin.
    function : callable, optional
        ``r(t, x)``, if a function was given.
    address : int, optional
        Address of the same function in C.
    period : float
        The sampling period.
    held : ndarray, (n_r,), optional
        The last sample of the function, once there is one.
    seen : list of (t, r, t, r)
        Values of a function, in a model with prescribed rates, at some calls and at the next calls at another time.
    """

    def __init__(self, dyn: Evaluator, inputs: Any, t0: float, t1: float, period: float = 0.0) -> None:
        self._dyn = dyn
        self.function: Callable[[float, Array], npt.ArrayLike] | None = None
        self.address: int | None = None
        self.held: Array | None = None
        self.period = period
        self.seen: list[tuple[float, Array, float, Array]] = []
        self._witnessed: _Witnessed | None = None
        self._first: tuple[float, Array, Array] | None = None  # the first value of a function, and its arguments
        self._doubted = False
        signals: dict[int, _Rate] = {}
        constants = np.zeros(dyn.n_r)
        if isinstance(inputs, Signal):
            signals = _with_rates(dyn, _columns(dyn, inputs))[1]
        elif hasattr(inputs, "argtypes") or hasattr(inputs, "address"):
            self.address = address_of(inputs, 3, "inputs", "void f(double t, const double *x, double *r)")
            self.function = inputs_in_python(inputs, self.address, dyn.n_r)
        elif callable(inputs):
            self.function = inputs
        elif isinstance(inputs, Mapping):
            entries = _entries(dyn, inputs)
            functions = {i: _Entry.of(dyn.input_names[i], value) for i, value in entries.items() if callable(value)}
            numbers, signals = _with_rates(dyn, entries)
            constants = dyn.names.resolved("input", numbers)
            if functions:
                self.function = _OfEach(np.asarray(constants), dict(signals), functions)
        else:
            constants = dyn.names.resolved("input", {} if inputs is None else inputs)
        if period and self.function is None:
            raise ValueError("sample_time is for inputs by a function: pass inputs=controller, r(t, x) -> (n_r,)")
        low, high = min(t0, t1), max(t0, t1)
        for i, (signal, _, _) in signals.items():
            signal.require(low, high, f"input {dyn.input_names[i]!r}: ")
        self.knots = _knots(low, high, signals)
        self.coefficients: Array = np.zeros((len(self.knots) - 1, dyn.n_r, 4))
        self.coefficients[..., 0] = constants
        self.last = self.coefficients[-1, :, 0].copy()
        for i, (signal, column, order) in signals.items():
            cubics = signal.cubics_about(self.knots, column, order)
            self.coefficients[:, i], self.last[i] = cubics[:-1], cubics[-1, 0]

    @property
    def asked(self) -> Callable[[float, Array], npt.ArrayLike] | None:
        """The function as a run calls it; some values are kept if it gives rates of motions as well."""
        if (
            self.function is None
            or self.address is not None
            or self.period
            or max(self._dyn.input_rates, default=-1) < 0
        ):
            return self.function
        if self._witnessed is None:
            self._witnessed = _Witnessed(self.function, self._dyn.n_r, self.seen)
        return self._witnessed

    def in_c(self, coefficients: Array | None = None) -> _motion.Inputs:
        """The inputs for the integrators; optionally with other coefficients, such as those of a row of a batch."""
        cubics = self.coefficients if coefficients is None else coefficients
        return _motion.Inputs(self._dyn, self.knots, cubics, self.asked, self.address, self.period, self.held)

    def after(self, times: Array, values: Array) -> RunInputs:
        """Inputs of a finished run, from samples of its function; each sample applies until the next one."""
        order = np.argsort(times)
        knots = times[order]
        if times[-1] < times[0]:  # backwards in time a sample applies until the previous one
            knots = np.append(self.knots[0], knots[:-1])
        result = copy(self)
        result.function = result.address = result.held = None
        result.period = 0.0
        result.knots = np.append(knots, max(self.knots[-1], np.nextafter(knots[-1], np.inf)))
        result.coefficients = np.zeros((len(times), self._dyn.n_r, 4))
        result.coefficients[..., 0] = values[order]
        result.last = result.coefficients[-1, :, 0]
        return result

    def applied(self) -> RunInputs:
        """The applied inputs, after the run; ValueError if their function has an internal state.

        Such a function returns another value at the time and state of its first call.
        """
        result = RunInputs.__new__(RunInputs)  # copy() would call __getstate__, which may drop the function
        vars(result).update(vars(self), _doubted=self.function is not None)
        return result

    def _require_memoryless(self) -> None:
        if not self._doubted or self.function is None or self._first is None:
            return
        t, x, first = self._first
        again = _motion.checked_inputs(self._dyn, self.function(t, x.copy()), t)
        if not np.array_equal(again, first):
            raise ValueError(
                f"inputs(t, x) gave {first.tolist()} at t = {t!r} when the run began, and gives {again.tolist()} for "
                "the same t and x now: it has an internal state, so its values during the run are lost; with "
                "sample_time=... it is called once a period, and its values are kept"
            )
        self._doubted = False

    def __getstate__(self) -> dict[str, Any]:
        """Drop a function that cannot be pickled, such as a lambda, to keep the rest of a run."""
        state = dict(vars(self))
        try:
            pickle.dumps(self.function)
        except Exception:
            state["function"] = _left_behind
        state["address"] = state["_witnessed"] = None  # the address belongs to this process
        return state

    def __call__(self, t: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """The inputs r at times (...) and states (..., n_x): (..., n_r)."""
        if self._dyn.n_r == 0:
            return np.empty((*np.shape(t), 0))
        asked = self.asked
        times, states = np.asarray(t, dtype=np.float64), np.asarray(x, dtype=np.float64)
        if asked is None:
            values = evaluate(self.knots, self.coefficients, times)
            return np.where(times[..., np.newaxis] == self.knots[-1], self.last, values)
        result = np.empty((*times.shape, self._dyn.n_r))
        if self.held is not None:  # the sample of the current period
            result[...] = self.held
            return result
        self._require_memoryless()
        for i in np.ndindex(times.shape):
            time, state = float(times[i]), states[i].copy()  # a copy, as the function may change it
            result[i] = _motion.checked_inputs(self._dyn, asked(time, state), time)
            if self._first is None:
                self._first = time, states[i].copy(), result[i].copy()
        if self.period:
            self.held = result.reshape(-1).copy()  # the first sample, for which there is only one state
        return result

    @cached_property
    def corners(self) -> Array:
        """The knots inside the run at which a value, or one of its first two derivatives, jumps."""
        h, c = np.diff(self.knots)[:, np.newaxis], self.coefficients
        corners = np.zeros(len(self.knots) - 2, dtype=bool)
        for order in range(3):
            factors = [math.perm(j, order) * h ** max(j - order, 0) for j in range(4)]
            terms = np.stack([c[..., j] * factors[j] for j in range(4)], axis=-1)
            jumps = np.abs(np.sum(terms[:-1], axis=-1) - math.factorial(order) * c[1:, :, order])
            corners |= (jumps > _SMOOTH * np.max(np.sum(np.abs(terms), axis=-1), axis=0, initial=0.0)).any(axis=-1)
        return self.knots[1:-1][corners]

    def between(self, start: float, end: float) -> Callable[[float, Array], Array]:
        """r(t, x) on an interval without corners, continued smoothly at its ends and beyond."""
        if self.function is not None:
            return self
        low, high = min(start, end), max(start, end)
        first = int(piece(self.knots, np.asarray(low)))
        last = max(first, int(np.searchsorted(self.knots, high, side="left")) - 1)

        def inputs(t: float, x: Array) -> Array:
            k = first + int(np.searchsorted(self.knots[first + 1 : last + 1], t, side="right"))
            return cubic_values(self.coefficients[k], t - self.knots[k])

        return inputs


@dataclass(frozen=True)
class _Entry:
    """A function that gives one input, f(t) or f(t, x)."""

    name: str
    function: Callable[..., Any]
    of_state: bool

    @classmethod
    def of(cls, name: str, function: Callable[..., Any]) -> _Entry:
        """TypeError for a function of more than t and x."""
        if isinstance(function, np.ufunc):
            n = function.nin
        else:
            try:
                parameters = inspect.signature(function).parameters.values()
            except ValueError:  # a C function has no signature
                return cls(name, function, False)
            by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            n = sum(each.kind in by_place and each.default is inspect.Parameter.empty for each in parameters)
        if n > 2:
            raise TypeError(f"the function of input {name!r} takes {n} arguments; it must be f(t) or f(t, x)")
        return cls(name, function, n == 2)

    def __call__(self, t: float, x: Array) -> float:
        returned = self.function(t, x) if self.of_state else self.function(t)
        value = real_numbers(f"what the function of input {self.name!r} returned at t = {t!r}", returned)
        if value.size != 1:
            raise ValueError(
                f"the function of input {self.name!r} returned shape {value.shape} at t = {t!r}; it must be one number"
            )
        return float(value.reshape(()))


@dataclass(frozen=True)
class _OfEach:
    """Inputs r(t, x) from a mapping of functions, signals and numbers."""

    constants: Array
    signals: dict[int, _Rate]
    functions: dict[int, _Entry]

    def __call__(self, t: float, x: Array) -> Array:
        r = self.constants.copy()
        for i, (signal, column, order) in self.signals.items():
            r[i] = signal.cubics_about(np.array([t]), column, order)[0, 0]
        for i, function in self.functions.items():
            r[i] = function(t, x)
        return r


class _Witnessed:
    """A function r(t, x) that records some of its calls, evenly over the times of a run."""

    def __init__(self, function: Callable[[float, Array], npt.ArrayLike], n: int, seen: list[Any]) -> None:
        self._function, self._n, self._seen = function, n, seen
        self._calls = self._next = 0
        self._stride, self._last = 1, (math.nan, np.empty(0))

    def __call__(self, t: float, x: Array) -> Any:
        returned = self._function(t, x)
        self._calls += 1
        if self._calls > self._next:
            self._note(t, returned)
        return returned

    def _note(self, t: float, returned: Any) -> None:
        """Record the first or second call of a pair; other values than vectors of numbers are refused elsewhere."""
        r = np.array(returned) if type(returned) in (list, tuple, np.ndarray) else np.empty(0)
        if r.shape != (self._n,) or r.dtype.kind not in "fiu":
            return
        before, first = self._last
        if math.isnan(before):
            self._last = t, r
        elif t != before:
            self._seen.append((before, first, t, r))
            self._last = math.nan, first
            self._next = self._calls + self._stride
            if len(self._seen) == _SEEN:
                del self._seen[1::2]
                self._stride *= 2


def _left_behind(t: float, x: Array) -> Array:
    """Raise the error for inputs with a function that stayed in another process."""
    raise ValueError(
        f"the inputs of this run were a function that cannot be pickled, so that they are unknown at t = {t!r}; sol.r "
        f"has them at sol.t; a function at the top of a module can be pickled"
    )


def _knots(low: float, high: float, signals: Mapping[int, _Rate]) -> Array:
    """The ends of a run and the knots of all signals inside it."""
    last = high if high > low else float(np.nextafter(low, np.inf))
    knots = np.concatenate([[low, last], *(signal.knots[:-1] for signal, _, _ in signals.values())])
    return np.asarray(np.unique(knots[(knots >= low) & (knots <= last)]))


def _columns(dyn: Evaluator, signal: Signal) -> dict[int, tuple[Signal, int]]:
    """Inputs for the columns of a signal: all, or all except the rates of others."""
    base = [i for i in range(dyn.n_r) if i not in dyn.input_rates]
    if signal.n not in (dyn.n_r, len(base)):
        raise ValueError(
            f"the signal has {signal.n} columns; the model has {dyn.n_r} inputs ({', '.join(dyn.input_names)}), "
            f"{len(base)} without the rates of others"
        )
    inputs = range(dyn.n_r) if signal.n == dyn.n_r else base
    return {i: (signal, column) for column, i in enumerate(inputs)}


def _entries(dyn: Evaluator, inputs: Mapping[Any, Any]) -> dict[int, Any]:
    """Entries of a mapping, by the index of the input: signals of one column, functions, unchecked numbers."""
    entries: dict[int, Any] = {}
    for i, value in dyn.names.by_number("input", inputs, "inputs").items():
        name = dyn.input_names[i]
        if isinstance(value, Signal) and value.n != 1:
            raise ValueError(f"the signal of input {name!r} has {value.n} columns; in a mapping it must have one")
        entries[i] = (value, 0) if isinstance(value, Signal) else value
    return entries


def _with_rates(dyn: Evaluator, entries: Mapping[int, Any]) -> tuple[dict[str, Any], dict[int, _Rate]]:
    """Numbers by name and signals by the index of the input, with the rates of given inputs; 0 in place of a signal."""
    names = dyn.input_names
    numbers: dict[str, Any] = {}
    signals: dict[int, _Rate] = {}
    derivative_of = {rate: i for i, rate in enumerate(dyn.input_rates) if rate >= 0}
    for i in range(dyn.n_r):
        source, order = i, 0
        while source not in entries and source in derivative_of:
            source, order = derivative_of[source], order + 1
        if source not in entries:
            continue
        value = entries[source]
        if callable(value):
            if order:
                raise ValueError(
                    f"inputs gives {names[source]!r} by a function, and {names[i]!r} is its derivative: give the "
                    "derivative as well, by another function, or a Signal of kind 'cubic' for both"
                )
            numbers[names[i]] = 0.0
        elif isinstance(value, tuple):
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
