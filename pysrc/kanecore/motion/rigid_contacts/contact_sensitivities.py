# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of a run with rigid contacts by its start, the parameters and constants added to the inputs.

Along each variable α the run is followed with the same modes: from a change of modes at the time τ and the state x to
the next one, at which a function h falls to zero,

    dτ = −(h_x S + h_α) / (h_t + h_x ẋ⁻),      dx⁻ = S + ẋ⁻ dτ,      dx⁺ = R_x dx⁻ + R_t dτ + R_α,      S⁺ = dx⁺ − ẋ⁺ dτ

with S = ∂x(t)/∂α at fixed times, and R the change itself: impact, choice of modes, way back to the constraints
(Aizerman & Gantmakher 1958; Leine & Nijmeijer 2004, section 7.2).  Motions between changes, h and R are differentiated
by differences of order four, at nearby states in the same modes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.errors import IntegrationError
from kanecore.motion.derivatives.event_derivatives import EventSlopes
from kanecore.motion.derivatives.sensitivities import Sensitivities
from kanecore.motion.derivatives.step_derivatives import Flow, along, scales_of
from kanecore.motion.events import Events
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.rigid_contacts.contact_results import Change, Leg, ModeRun
from kanecore.motion.rigid_contacts.mode_choice import CLOSED, HELD, OPEN, STICK
from kanecore.motion.simulation_options import MAX_STEPS, recording

__all__ = ["ContactSensitivities", "refuse_functions"]

Array = npt.NDArray[np.float64]

_FAR = 200.0  # times the small changes of states: those of whole motions, which have the error of the integrator
_RTOL, _ATOL = 1e-12, 1e-14  # of these motions; of the largest value of each state
_SHIFT = 0.1  # of the time between two changes: the most by which starts of motions differ
_ZERO = 1e-8  # of the terms of a function: it is zero together with another one
_FLAT = 1e-6  # of the terms of a function over the time of the run, or of a fall: a smaller rate is none
_VANISHED = 1e-7  # of the change of a variable: a smaller change of states counts as one of this size
_ALIKE = 1e-5  # of two derivatives of times


def refuse_functions(problem: InitialValueProblem) -> None:
    """Raise ValueError for inputs without derivatives."""
    if problem.inputs.function is not None:
        raise ValueError(
            "sensitivities need the derivatives of the inputs, and a function gives them: pass a Signal or numbers, or "
            "put the law into the model (feedback of kc.Model)"
        )


class ContactSensitivities:
    """Derivatives of a run along the chain of its motions between changes.

    Parameters
    ----------
    result : ModeRun
        The run, which gets its derivatives.
    wanted : sequence of str
        Kinds of variables: "x0", "p", "r".
    course : Course
        The contacts of the run.
    again : callable
        Makes contacts for a problem nearby.
    watched : Events
        All events of the run.
    shown : int
        Number of the user's events, the first ones.
    method : str
        An adaptive method.
    """

    def __init__(
        self,
        result: ModeRun,
        wanted: Sequence[str],
        course: Any,
        again: Callable[[InitialValueProblem], Any],
        watched: Events,
        shown: int,
        method: str,
    ) -> None:
        problem = self._problem = result.problem
        self._result, self._course, self._again, self._method = result, course, again, method
        self._watched, self._shown = watched, shown
        steps, kept = result.run.steps, result.run.states
        assert steps is not None
        assert kept is not None
        scales = scales_of(problem, steps, kept)
        flow = Flow(problem, scales, True, True)
        self._slopes = EventSlopes(flow, watched)
        self._small = np.concatenate([[scales.t], scales.x, scales.p, scales.r])
        self._fastest = np.abs(kept[:, problem.dyn.names.speeds]).max(axis=0)
        self._span = abs(problem.t1 - problem.t0)
        self._atol = _ATOL * np.maximum(np.abs(kept).max(axis=0), scales.x)
        dyn, n = problem.dyn, problem.dyn.n_x
        ends = np.cumsum([1, n, dyn.n_p, dyn.n_r])
        parts = {"x0": slice(1, ends[1]), "p": slice(ends[1], ends[2]), "r": slice(ends[2], ends[3])}
        self._fixed = np.hstack([np.eye(ends[3])[:, parts[kind]] for kind in wanted])  # columns of (t, x, p, r)
        named = {"x0": dyn.names.x, "p": dyn.parameter_names, "r": dyn.input_names}
        self._names = tuple(name for kind in wanted for name in named[kind])
        self._n, self._m = n, self._fixed.shape[1]
        self._numbers = course.numbers

    # ------------------------------------------------------------------------------------------------- nearby
    def _size(self, direction: Array, j: int, times: float = 1.0) -> float:
        """A small change of variable j; −1: of time.  What is left of a direction that vanished is rounding."""
        own = self._fixed[:, j] if j >= 0 else np.eye(len(self._small))[0]
        largest, least = (float(np.max(np.abs(d) / self._small)) for d in (direction, own))
        return times / max(largest, _VANISHED * least)

    def _nearby(self, direction: Array, tau: float) -> InitialValueProblem:
        """The problem with other parameters and inputs."""
        _, _, of_p, of_r = np.split(tau * direction, np.cumsum([1, self._n, self._problem.dyn.n_p]))
        if not (of_p.any() or of_r.any()):
            return self._problem
        inputs = copy(self._problem.inputs)
        inputs.coefficients = inputs.coefficients.copy()
        inputs.coefficients[..., 0] += of_r
        inputs.last = inputs.last + of_r
        return replace(self._problem, p=self._problem.p + of_p, inputs=inputs)

    def _at(self, problem: InitialValueProblem, leg: Leg, t: float, x: Array) -> _motion.Contacts:
        """Contacts in the modes of a leg, solved at a state."""
        c: _motion.Contacts = (
            self._numbers if problem is self._problem else self._course.owner.numbers(problem, self._numbers.slow)
        )
        leg.set(c)
        c.at(t, x, self._inputs(problem, t, x))
        c.solve(c.start)
        return c

    @staticmethod
    def _inputs(problem: InitialValueProblem, t: float, x: Array) -> Array:
        return np.ascontiguousarray(problem.inputs(t, x), dtype=np.float64)

    def _inputs_before(self, t: float, x: Array) -> Array:
        return self._inputs(self._problem, float(np.nextafter(t, self._problem.t0)), x)

    def _rate(self, leg: Leg, t: float, x: Array) -> Array:
        """ẋ in the modes of a leg."""
        leg.set(self._numbers)
        return np.asarray(self._numbers.rhs(t, np.ascontiguousarray(x), self._inputs(self._problem, t, x)))

    def _slopes_of(
        self, f: Callable[[InitialValueProblem, float, Array], Any], t: float, x: Array, columns: Any
    ) -> Any:
        """Derivatives of f(problem, t, x), (k,), along columns of (t, x, p, r), the last m of variables: (k, ...)."""

        def moved(direction: Array, j: int) -> Array:
            def values(taus: Array) -> Array:
                states = [np.ascontiguousarray(x + tau * direction[1 : 1 + self._n]) for tau in taus]
                return np.array(
                    [
                        f(self._nearby(direction, tau), t + tau * direction[0], y)
                        for tau, y in zip(taus, states, strict=True)
                    ]
                )

            return along(values, self._size(direction, j)) if direction.any() else 0.0 * values(np.zeros(1))[0]

        first = self._m - columns.shape[1]
        return np.column_stack([moved(column, first + j) for j, column in enumerate(columns.T)])

    # ------------------------------------------------------------------------------------------------- the chain
    def add(self) -> None:
        """Give the run its derivatives.

        Raises
        ------
        IntegrationError
            A function has the rate 0 at its zero; two fall to zero at one time, and not for values nearby.
        """
        result, course = self._result, self._course
        path, legs = course.path, course.legs
        times, n = result.run.times, self._n
        self._values = np.empty((len(times), n, self._m))
        zeros = self._watched.zeros
        of_zeros = np.zeros((len(zeros), 1 + 2 * n, self._m))
        changing = {(change.t, change.number): k for k, change in enumerate(path) if change.kind == "event"}
        of_changes = [-1 if z.i >= self._shown else changing.get((z.t, z.i), -1) for z in zeros]
        of_times = {path[0].t: np.zeros(self._m)}
        when = np.zeros(self._m)
        total = self._changed(path[0], legs[0], when, self._fixed[1 : 1 + n])
        owners = self._owners(times)
        for k, leg in enumerate(legs):
            last = k + 1 == len(legs)
            end, x_end = (result.run.t, result.run.x) if last else (path[k + 1].t, path[k + 1].before)
            own, seen, moved = np.flatnonzero(owners == k), list[int](), None
            if end > leg.t:
                seen = [
                    i for i, z in enumerate(zeros) if of_changes[i] < 0 and leg.t < z.t <= end and z.i < self._shown
                ]
                at = np.unique([*times[own], *(zeros[i].t for i in seen), end])
                slows = not last and self._slows(path[k + 1], leg)
                moved = self._until(leg, path[k + 1], path[k].after, when, total) if slows else None
                found = self._through(leg, end, path[k].after, when, total, at, moved)
                self._values[own] = found[np.searchsorted(at, times[own])]
                s = found[-1]
            else:
                s = total - np.outer(self._rate(leg, end, x_end), when)
                self._values[own] = s
            for i in seen:
                of_zeros[i] = self._zero(zeros[i], leg, found[np.searchsorted(at, zeros[i].t)])
            if not last:
                change = path[k + 1]
                if moved is None:
                    moved = self._moved(change, leg, path[k].after, s, when if change.again else None)
                when, states = moved[0], moved[1:]
                total = self._changed(change, legs[k + 1], when, states)
                for i in np.flatnonzero(np.array(of_changes) == k + 1).tolist():
                    of_zeros[i] = np.vstack([when, states, total])
                of_times[change.t] = when
        result.modes_sensitivities = np.array([of_times[t] for t, _ in result.modes])
        groups = [of_zeros[np.array([z.i == i for z in zeros], dtype=bool)] for i in range(self._shown)]
        parts = ([g[:, 0] for g in groups], [g[:, 1 : 1 + n] for g in groups], [g[:, 1 + n :] for g in groups])
        result.with_sensitivities(Sensitivities(self._names, self._values, *parts))

    def _owners(self, times: Array) -> npt.NDArray[np.intp]:
        """The leg of each time of the result; at a change that before it, if the state is."""
        course, starts = self._course, np.array([leg.t for leg in self._course.legs])
        found = np.searchsorted(starts, times, side="right") - 1
        for i in np.flatnonzero(np.isin(times, starts[1:])):
            k = int(np.searchsorted(starts, times[i], side="left"))
            if k > 0 and np.array_equal(self._result.run.sampled[i], course.path[k].before):
                after = course.path[int(found[i])].after
                twice = i + 1 < len(times) and times[i + 1] == times[i]
                if twice or not np.array_equal(self._result.run.sampled[i], after):
                    found[i] = k - 1
        return np.asarray(np.maximum(found, 0))

    def _directions(self, when: Array | float, states: Array) -> Array:
        columns = self._fixed.copy()
        columns[0], columns[1 : 1 + self._n] = when, states
        return columns

    def _far(self, direction: Array, j: int, duration: float) -> float:
        """A change of variable j for whole motions of a leg."""
        size = self._size(direction, j, _FAR)
        return min(size, _SHIFT * duration / abs(direction[0])) if direction[0] else size

    def _through(
        self, leg: Leg, end: float, x: Array, when: Array, total: Array, at: Array, moved: Array | None
    ) -> Array:
        """S at times of a leg, from the derivatives of its start, and of its end if that moves: (len(at), n, m)."""
        share = (end - at) / (end - leg.t)  # of the shift of the start, which is none at the end
        inside = at if moved is None else at[:-1]
        shifts = np.outer(share, when) + (0.0 if moved is None else np.outer(1.0 - share, moved[0]))
        found = np.empty((len(at), self._n, self._m))
        for j, direction in enumerate(self._directions(when, total).T):

            def states(taus: Array, direction: Array = direction, j: int = j) -> Array:
                times = [inside + tau * shifts[: len(inside), j] for tau in taus]
                return np.array(
                    [
                        np.asarray(self._nearby_run(leg, t[-1], x, direction, tau, t).sampled).reshape(-1)
                        for tau, t in zip(taus, times, strict=True)
                    ]
                )

            if len(inside):
                size = self._far(direction, j, end - leg.t)
                found[: len(inside), :, j] = along(states, size).reshape(len(inside), self._n)
        if moved is not None:
            found[-1] = moved[1:]
        if shifts.any():
            middle = self._nearby_run(leg, end, x, np.zeros(len(self._fixed)), 0.0, at)
            rates = [self._rate(leg, t, y) for t, y in zip(at, np.asarray(middle.sampled), strict=True)]
            found -= np.array(rates)[:, :, np.newaxis] * shifts[:, np.newaxis]
        return found

    def _slows(self, change: Change, leg: Leg) -> bool:
        """Test whether a slip in space ends a leg: its direction has no derivative where it is zero."""
        return change.kind == "way" and not leg.directions[change.number // 2].any()

    def _until(self, leg: Leg, change: Change, x: Array, when: Array, total: Array) -> Array:
        """Derivatives of the time at which a slip in space becomes slow, and of the state then: those of its runs."""
        found = np.empty((1 + self._n, self._m))
        late = change.t + 0.5 * (change.t - leg.t)
        for j, direction in enumerate(self._directions(when, total).T):

            def ends(taus: Array, direction: Array = direction) -> Array:
                runs = [self._nearby_run(leg, late, x, direction, tau, None, change.number) for tau in taus]
                return np.array([[run.t, *run.x] for run in runs])

            found[:, j] = along(ends, self._far(direction, j, change.t - leg.t))
        return found

    def _nearby_run(
        self, leg: Leg, end: float, x: Array, direction: Array, tau: float, at: Array | None, law: int | None = None
    ) -> _motion.Run:
        """A motion nearby in the modes of a leg, with states at times; it ends where a law breaks, if one is given."""
        problem = self._nearby(direction, tau)
        c = self._course.owner.numbers(problem, self._numbers.slow)
        leg.set(c)
        begin = leg.t + tau * direction[0]
        kept = recording(None if at is None else np.clip(at, begin, end), False)
        watch = None
        if law is not None:
            watch = _motion.Watch(
                problem.dyn, [("contact", law)], [-1], [True], lambda i, t, y: (True, None), contacts=c
            )
        run = _motion.integrate(
            problem.dyn,
            self._method,
            begin,
            end,
            x + tau * direction[1 : 1 + self._n],
            rtol=_RTOL,
            atol=self._atol,
            step=0.0,
            max_step=np.inf,
            max_steps=MAX_STEPS,
            watch=watch,
            contacts=c,
            **problem.arguments,
            **vars(kept),
        )
        if run.error is not None or run.status != ("success" if law is None else "event"):
            raise run.error or IntegrationError(
                f"sensitivities: a motion nearby from t = {begin!r} failed: {run.status}"
            )
        return run

    # ------------------------------------------------------------------------------------------------- zeros
    def _zero(self, zero: Any, leg: Leg, s: Array) -> Array:
        """Derivatives of the time of an event without effect, and of the state then, twice."""
        rate = self._rate(leg, zero.t, zero.x)
        when = self._time(*self._of_event(zero.i, zero.t, zero.x, rate, s), f"event {zero.i}", zero.t, 0.0)
        states = s + np.outer(rate, when)
        return np.vstack([when, states, states])

    def _of_event(self, i: int, t: float, x: Array, rate: Array, s: Array) -> tuple[float, Array]:
        r, later = (self._inputs(self._problem, time, x) for time in (t, t - self._small[0]))
        flow = np.concatenate([[1.0], rate, np.zeros(self._problem.dyn.n_p), (r - later) / self._small[0]])
        both = np.column_stack([flow, self._directions(0.0, s)])
        slopes = self._slopes.of_event(i, t, x, r, both)
        return float(slopes[0]), slopes[1:]

    def _time(self, rate: float, slopes: Array, called: str, t: float, size: float) -> Array:
        if not abs(rate) * self._span > _FLAT * size:
            raise IntegrationError(
                f"{called} has the rate 0 at its zero, t = {t!r}: it grazes, and its time has no derivative; leave out "
                "sensitivities, or end the run before"
            )
        return np.asarray(-slopes / rate)

    def _moved(self, change: Change, leg: Leg, start: Array, s: Array, same: Array | None) -> Array:
        """Derivatives of the time of a change, (m,), and of the state before it."""
        t, x = change.t, change.before
        rate = self._rate(leg, t, x)
        if change.kind in ("event", "switch"):
            slopes = self._of_event(change.number, t, x, rate, s)
            when = self._time(*slopes, self._event_name(change.number), t, 0.0)
        else:
            when = self._of_law(change, leg, start, rate, s)
        if same is not None:
            self._compare(same, when, change, "another change")
        return np.vstack([when, s + np.outer(rate, when)])

    def _event_name(self, i: int) -> str:
        return f"event {i}" if i < self._shown else "an event of a switch"

    def _of_law(self, change: Change, leg: Leg, start: Array, rate: Array, s: Array) -> Array:
        """The derivative of the time at which a law breaks, in a leg with this start."""
        i, x, course, knots = change.number // 2, change.before, self._course, self._problem.inputs.knots
        if change.t in knots and (self._inputs_before(change.t, x) != self._inputs(self._problem, change.t, x)).any():
            return np.zeros(self._m)  # by a jump of the inputs
        flow = np.column_stack(
            [np.concatenate([[1.0], rate, 0.0 * self._fixed[1 + self._n :, 0]]), self._directions(0.0, s)]
        )

        def slopes(i: int, kind: str) -> tuple[Array, float, float]:
            c = self._at(self._problem, leg, change.t, x)
            value, size, way = self._law(c, i, kind, None)

            def h(problem: InitialValueProblem, t: float, y: Array) -> Array:
                return np.array([self._law(self._at(problem, leg, t, y), i, kind, way)[0]])

            return self._slopes_of(h, change.t, x, flow)[0], value, size

        own = _laws(change.now[i])[change.number % 2]
        found, _, size = slopes(i, own)
        called = f"the {_WORDS[own]} of contact {course.contacts[i].name!r}"
        if own == "gap" and not course.contacts[i].is_rate:
            size = self._span * abs(float(self._at(self._problem, leg, leg.t, start).speeds[course.first[i]]))
        when = self._time(found[0], found[1:], called, change.t, size)
        for j, mode in enumerate(change.now if change.kind == "law" else ()):
            for kind in _laws(mode):
                contact = course.contacts[j]
                if (j, kind) == (i, own) or (kind == "gap" and not contact.watched) or np.isinf(contact.mu):
                    continue
                c = self._at(self._problem, leg, change.t, x)
                value, terms, _ = self._law(c, j, kind, None)
                if abs(value) > _ZERO * terms:
                    continue
                other, _, _ = slopes(j, kind)
                if abs(other[0]) * self._span > _FLAT * terms:
                    name = f"the {_WORDS[kind]} of contact {contact.name!r}"
                    self._compare(when, -other[1:] / other[0], change, f"{called} and {name}")
        return when

    def _law(
        self, c: _motion.Contacts, i: int, kind: str, direction: Array | None
    ) -> tuple[float, float, Array | None]:
        """A function that falls to zero, the size of its terms, and the direction along which it was taken."""
        course, first = self._course, int(self._course.first[i])
        row, n = course.n_c + first, course.lengths[i]
        if kind == "gap":
            travel = float(np.abs(c.matrix[first]) @ self._fastest) * self._span
            return float(c.gaps[i]), max(travel, float(c.gap_terms[i])), None
        if kind == "lift":
            return float(c.force[row]), float(np.abs(c.force).max()), None
        values = c.force[row + 1 : row + n] if kind == "grip" else c.speeds[first + 1 : first + n]
        if direction is None:
            size = np.linalg.norm(values)
            direction = values / size if size > 0.0 else np.eye(n - 1)[0]
            if kind == "slip" and c.directions[i].any():
                direction = c.directions[i, : n - 1].copy()
        along_way = float(direction @ values)
        if kind == "slip":
            return along_way, float(c.speed_terms[first + 1 : first + n].max()), direction
        limit = float(course.mu_static[i] * c.force[row])
        return limit - along_way, abs(limit) + abs(along_way), direction

    def _compare(self, when: Array, other: Array, change: Change, called: str) -> None:
        if np.abs(when - other).max(initial=0.0) > _ALIKE * np.abs([*when, *other]).max(initial=0.0):
            raise IntegrationError(
                f"{called} fall to zero at one time, t = {change.t!r}, and not for values nearby: the "
                "order of changes is not unique, and it has no derivative: leave out sensitivities, or end before"
            )

    def _changed(self, change: Change, leg: Leg, when: Array, states: Array) -> Array:
        """Derivatives of the state after a change to the modes of a leg."""

        def after(problem: InitialValueProblem, t: float, x: Array) -> Array:
            if change.kind == "event":
                x = np.asarray(self._events(problem)[change.number].reset(t, x), dtype=np.float64)
            return np.asarray(self._again(problem).repeated(change, leg, t, x))

        columns = self._directions(when, states)
        return states if change.kind == "way" else np.asarray(self._slopes_of(after, change.t, change.before, columns))

    def _events(self, problem: InitialValueProblem) -> Any:
        """The user's events in a problem nearby."""
        same = problem is self._problem
        return self._watched if same else Events(problem, [e.user_event for e in self._watched][: self._shown])


_WORDS = {"gap": "gap", "lift": "force", "grip": "friction", "slip": "slip"}


def _laws(mode: str) -> tuple[str, ...]:
    """What falls to zero where each law of a contact breaks."""
    if mode == OPEN:
        return ("gap",)
    return {STICK: ("lift", "grip"), CLOSED: ("lift",), HELD: ()}.get(mode, ("lift", "slip"))
