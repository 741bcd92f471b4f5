# SPDX-License-Identifier: BSD-3-Clause
"""Events of a run: functions of the state with zeros that are found, and may end the run or change the state.

Users write them as `Event`; expressions become code when a run begins (`kanecore.emit.expression_code`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.constraints.consistent_states import normalized, on_constraints
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.errors import IntegrationError, warn
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.run_inputs import address_of
from kanecore.run.call_arguments import state_vector

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Event", "Events", "Zero", "as_list"]


class Event:
    """A function g of time and state; `CompiledModel.simulate` looks for its zeros.

    Parameters
    ----------
    expr : expression, str, or function
        A SymPy expression of coordinates, speeds, parameters, inputs and time, which becomes code; the name of a
        coordinate, a speed or an output of the model; a Python function ``g(t, x)``; or a C function ``double g(double
        t, const double *x)``, from ctypes or numba (``cfunc``).
    terminal : bool or int
        Whether a zero ends the run, or the number of zeros that end it.
    direction : {-1, 0, 1}
        Look for zeros at which g decreases (-1) along the run, for all (0), or for those at which g increases (1).
    reset : mapping or callable, optional
        The state after a zero: expressions in the state before, or numbers, for some coordinates and speeds, by name or
        symbol; or a function ``reset(t, x) -> x``.  The new state must satisfy the constraints: see
        `CompiledModel.impact`.

    Examples
    --------
    A ball at height z that bounces with 0.8 of its speed w: ``kc.Event(z, direction=-1, reset={w: -0.8*w})``.
    """

    def __init__(self, expr: Any, terminal: bool | int = False, direction: int = 0, reset: Any = None) -> None:
        if reset is not None and not callable(reset) and not isinstance(reset, Mapping):
            raise TypeError(
                f"reset is {reset!r}; it must be a mapping such as {{u: -0.8*u}}, or a function reset(t, x)"
            )
        self.expr, self.terminal, self.direction, self.reset = expr, terminal, direction, reset

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if name != "expr" and value]
        return f"Event({', '.join([str(self.expr), *given])})"

    @staticmethod
    def compiled(dyn: Evaluator, expressions: Sequence[Any]) -> Evaluator:
        """Make a model with the x, r and p of another, and expressions as outputs.

        The model has no motion.  It is code for the interpreter of the extension, and needs no compiler and no time.
        """
        from kanecore.emit.expression_code import compiled

        return compiled(dyn, expressions)

    @staticmethod
    def differentiated(dyn: Evaluator, expressions: Sequence[Any]) -> Evaluator:
        """Make a model of the derivatives of each expression with respect to t, x, p, then r."""
        from kanecore.emit.expression_code import differentiated

        return differentiated(dyn, expressions)


Array = npt.NDArray[np.float64]

_Reset = Callable[[float, Array], npt.ArrayLike]

# This many changes of the state by an event, within this many units in the last place of t, are chatter, or bounces
# that follow each other ever faster.  Zeros that are less than 1e4 units apart may count as one.
_CHANGES, _UNITS = 4, 1e5
# Pairs (n, part): n changes within this part of the longest time between two changes are chatter as well.  The event
# then changes only by rounding, for example if coordinates of 1e3 round a small gap.  An interval that is _AT_ONCE
# times shorter than the previous one restarts the search for the longest: it belongs to impulses after a time without
# impulses.
_OF_LONGEST = ((64, 1e-6), (4096, 1e-2))
_AT_ONCE = 1e4

_SINGLE = ("compiled", "address", "free_symbols")  # attributes of single events, not of lists


@dataclass(frozen=True)
class WatchedEvent:
    """An event: the user's object, the source of its value, and the effect of its zeros."""

    user_event: Any
    source: tuple[str, Any]
    terminal: int  # number of zeros that end the run; 0: never
    direction: int
    reset: _Reset | None


@dataclass(frozen=True)
class Zero:
    """A zero of event i: its time, the state there, and the state after a reset, if any."""

    i: int
    t: float
    x: Array
    after: Array | None


class Events:
    """The events of a run, and the zeros found.

    Parameters
    ----------
    problem : InitialValueProblem
    events
        As for `simulate`.
    contacts : Contacts, optional
        Rigid contacts of the run, of the extension.
    broken : callable, optional
        ``broken(i, t, x)`` returns the state after function i of the contacts became negative.
    chosen : callable, optional
        ``chosen(i, t, before, x)`` returns the state after a reset to x by event i, where the modes of contacts are
        chosen anew.

    Attributes
    ----------
    watch : Watch
        Object that the integrators call.
    zeros : list of Zero
        Zeros of all events, in the order of the run.
    """

    def __init__(
        self,
        problem: InitialValueProblem,
        events: Any,
        contacts: _motion.Contacts | None = None,
        broken: Callable[[int, float, Array], Array | None] | None = None,
        chosen: Callable[[int, float, Array, Array], Array] | None = None,
    ) -> None:
        self._problem, self._broken, self._chosen = problem, broken, chosen
        listed = as_list(events)
        self._changes = [_Changes(problem.t0) for _ in listed]
        expressions: list[Any] = []
        self._events = [_read(problem, i, event, expressions) for i, event in enumerate(listed)]
        self._counts = [0] * len(listed)
        self.zeros: list[Zero] = []
        dyn, p = problem.dyn, problem.p
        kinds = {event.source[0] for event in self._events}
        laws = range(0 if contacts is None else 2 * contacts.mode.size)
        self.watch = _motion.Watch(
            dyn,
            [*(event.source for event in self._events), *(("contact", i) for i in laws)],
            [*(event.direction for event in self._events), *(-1 for _ in laws)],
            [*(bool(event.terminal or event.reset) for event in self._events), *(True for _ in laws)],
            self._found,
            outputs=_motion.Outputs(dyn, p, problem.rank) if "output" in kinds else None,
            expressions=_motion.Outputs(_compiler(listed)(dyn, expressions), p) if expressions else None,
            contacts=contacts,
        )

    def of_each(self) -> list[list[Zero]]:
        """The zeros of each event."""
        found: list[list[Zero]] = [[] for _ in self._events]
        for zero in self.zeros:
            found[zero.i].append(zero)
        return found

    @property
    def times(self) -> list[Array]:
        return [np.array([zero.t for zero in zeros], dtype=np.float64) for zeros in self.of_each()]

    @property
    def states(self) -> list[Array]:
        n_x = self._problem.dyn.n_x
        return [np.array([zero.x for zero in zeros], dtype=np.float64).reshape(-1, n_x) for zeros in self.of_each()]

    def warn_where_crowded(self) -> None:
        """Warn if a function oscillated too fast within a step to find all its zeros."""
        if not np.isnan(self.watch.crowded):
            warn(
                f"an event changes its sign so often in the step from t = {self.watch.crowded!r} that zeros may have "
                "been missed: limit max_step to a few of its periods, or use a slower function of the state"
            )

    def stops(self, i: int) -> bool:
        """Test whether steps end at the zeros of an event."""
        return bool(self._events[i].terminal or self._events[i].reset)

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, i: int) -> WatchedEvent:
        return self._events[i]

    def __iter__(self) -> Iterator[WatchedEvent]:
        return iter(self._events)

    def _found(self, i: int, t: float, x: Array) -> Any:
        """Handle a zero, as `Watch` reports it."""
        if i >= len(self._events):
            assert self._broken is not None
            return False, self._broken(i - len(self._events), t, x)
        event = self._events[i]
        self._counts[i] += 1
        self.zeros.append(Zero(i, t, x.copy(), None))
        ends = 0 < event.terminal <= self._counts[i]
        if event.reset is None:
            return ends, None
        after = event.reset(t, x)
        if after is x and self._chosen is not None:  # nothing changed
            return ends, None
        changed = self._checked(i, t, after)
        if self._chosen is not None:
            changed = self._chosen(i, t, x, changed)
        self.zeros[-1] = Zero(i, t, self.zeros[-1].x, changed)
        if not ends:
            self._see_chatter(i, t)
        return ends, changed

    def _checked(self, i: int, t: float, x: npt.ArrayLike) -> Array:
        """The state after a reset, which must be a state of the model."""
        problem = self._problem
        name = f"the state that event {i} is reset to at t = {t!r}"
        state = normalized(problem.dyn, state_vector(problem.dyn, x, name), name)
        if not (problem.dyn.n_constraints or problem.dyn.n_configuration):
            return state
        try:
            start = on_constraints(
                ConstraintState(problem.dyn, t, state, problem.inputs(t, state), problem.p), "the state after a reset"
            )
        except ValueError as error:
            raise ValueError(
                f"event {i}: {error}; an impact changes the speeds along the constraints: dyn.impact(t, x, rows, e)"
            ) from None
        return start.x if problem.project else state

    def _see_chatter(self, i: int, t: float) -> None:
        """Raise IntegrationError if changes of the state follow each other ever faster."""
        self._changes[i].add(t)
        for n, first in self._changes[i].chatter():
            raise IntegrationError(
                f"event {i} changed the state {n} times between t = {first!r} and {t!r}: it chatters, bounces follow "
                "each other ever faster, or the motion rests there; make an event of a slow approach terminal, and "
                "continue with a model that rests there"
            )


class _Changes:
    """Times at which an event changed the state; only these decide whether it chatters, in runs of any length."""

    def __init__(self, start: float) -> None:
        self._times = deque([start], maxlen=_OF_LONGEST[-1][0] + 1)
        self._longest = 0.0

    def add(self, t: float) -> None:
        last, times = abs(t - self._times[-1]), self._times
        before = abs(times[-1] - times[-2]) if len(times) > 1 else last
        self._longest = max(self._longest, last) if before <= _AT_ONCE * last else last
        times.append(t)

    def chatter(self) -> Iterator[tuple[int, float]]:
        """Number of changes that were too fast, and the time of the first of them."""
        t, count = self._times[-1], len(self._times) - 1
        limits = ((_CHANGES, _UNITS * float(np.spacing(abs(t)))), *((n, a * self._longest) for n, a in _OF_LONGEST))
        for n, short in limits:
            if n <= count and abs(t - self._times[-n]) <= short:
                yield n, self._times[-n]


def as_list(events: Any) -> list[Any]:
    """List of the user's events, one or several."""
    if isinstance(events, str) or callable(events) or any(hasattr(events, name) for name in _SINGLE):
        return [events]
    if not isinstance(events, Iterable):
        raise TypeError(f"events is {events!r}; it must be a function event(t, x), a kc.Event, or a list of these")
    return list(events)


def _compiler(events: list[Any]) -> Callable[[Evaluator, list[Any]], Evaluator]:
    """Function that makes a model with expressions as outputs, from an event with an expression."""
    return next(event.compiled for event in events if getattr(event, "compiled", None))  # type: ignore[no-any-return]


def _read(problem: InitialValueProblem, i: int, event: Any, expressions: list[Any]) -> WatchedEvent:
    """Read one event; add it to ``expressions`` if it is an expression."""
    what = event.expr if hasattr(event, "compiled") else event
    source: tuple[str, Any]
    if isinstance(what, str):
        kind, number = problem.dyn.names.found(("state", "output"), what)
        source = kind, number
    elif hasattr(what, "argtypes") or hasattr(what, "address"):
        source = "address", address_of(what, 2, f"event {i}", "double g(double t, const double *x)")
    elif callable(what) and not hasattr(what, "free_symbols"):
        source = "function", what
    elif what is event:
        hint = f": write kc.Event({what})" if hasattr(what, "free_symbols") else ""
        raise TypeError(f"event {i} is {what!r}; it must be a function event(t, x), a name, or a kc.Event{hint}")
    else:
        source = "expression", len(expressions)
        expressions.append(what)
    return WatchedEvent(
        event,
        source,
        _terminal(i, getattr(event, "terminal", False)),
        _direction(i, getattr(event, "direction", 0)),
        _reset(problem, event, getattr(event, "reset", None)),
    )


def _terminal(i: int, terminal: Any) -> int:
    """Number of zeros after which an event ends the run, from a truth value or a count, as in SciPy."""
    if isinstance(terminal, bool | np.bool_) or terminal is None:
        return int(bool(terminal))
    if not hasattr(terminal, "__index__") or terminal.__index__() < 0:
        raise ValueError(
            f"terminal of event {i} is {terminal!r}; it must be True, False, or the number of zeros that end the run"
        )
    return int(terminal.__index__())


def _direction(i: int, direction: Any) -> int:
    try:
        value = float(direction)
    except (TypeError, ValueError):
        raise TypeError(f"direction of event {i} is {direction!r}; it must be 1, -1, or 0 for both") from None
    if np.isnan(value):
        raise ValueError(f"direction of event {i} is {direction!r}; it must be 1, -1, or 0 for both")
    return int(np.sign(value))


def _reset(problem: InitialValueProblem, event: Any, new_state: Any) -> _Reset | None:
    """The state after a reset, as a function of t and x."""
    if new_state is None or callable(new_state):
        return new_state  # type: ignore[no-any-return]
    if not isinstance(new_state, Mapping):
        raise TypeError(
            f"reset is {new_state!r}; it must be a function reset(t, x), or a mapping of names to expressions"
        )
    dyn = problem.dyn
    places = [dyn.names.index("state", key) for key in new_state]
    if len(set(places)) != len(places):
        raise ValueError(f"reset names one entry of x twice: {', '.join(map(str, new_state))}")
    if not hasattr(event, "compiled"):
        raise TypeError(f"reset of a function is {new_state!r}; put both into one kc.Event(function, reset=...)")
    values = event.compiled(dyn, list(new_state.values()))

    def reset(t: float, x: Array) -> Array:
        changed = x.copy()
        changed[places] = values.outputs(t, x, r=problem.inputs(t, x), p=problem.p)
        return changed

    return reset
