# SPDX-License-Identifier: BSD-3-Clause
"""Sensitivities: derivatives of a trajectory by its start, the parameters and the inputs, ∂x(t)/∂(x0, p, r).

    S(0) = ∂x(0)/∂(x0, p, r),    S after a step = ∂x1/∂x S + ∂x1/∂(p, r)

x1 is the end of a step of the method with the length that it had, projected to the constraints
(:mod:`.step_derivatives`).  At a zero g = 0 at which steps end, the time τ of the zero varies, and so does x after a
reset R (Aizerman & Gantmakher 1958; Leine & Nijmeijer, *Dynamics and Bifurcations of Non-Smooth Mechanical Systems*,
2004, section 7.2):

    dτ = −(g_x S + g_p) / (g_t + g_x ẋ),    S after = R_x (S + ẋ dτ) + R_t dτ + R_p − ẋ_after dτ
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.errors import IntegrationError, ModelError
from kanecore.motion.derivatives.event_derivatives import EventSlopes
from kanecore.motion.derivatives.step_derivatives import Flow, StepSlopes, scales_of
from kanecore.motion.events import Events, Zero
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.scipy_and_sundials import OUTSIDE_METHODS

__all__ = ["Sensitivities", "find_sensitivities", "require_derivatives", "wanted_sensitivities"]

Array = npt.NDArray[np.float64]

_KINDS = ("x0", "p", "r")
_ROOM = 64_000_000  # bytes for the slopes of steps that are processed at once


@dataclass(frozen=True)
class Sensitivities:
    """Derivatives of a trajectory, in columns.

    Attributes
    ----------
    names : tuple of str
        Names of the m columns.
    values : ndarray, (N, n_x, m)
        Derivatives of x by each variable, at fixed times of the trajectory.
    of_times : list of ndarray, (n, m); or None
        Sensitivities of the times of each event's zeros.
    of_states : list of ndarray, (n, n_x, m); or None
        Sensitivities of the states at the varying times of the zeros, before a reset.
    after : list of ndarray, (n, n_x, m); or None
        Sensitivities of the states after a reset; without a reset those of ``of_states``.
    """

    names: tuple[str, ...]
    values: Array
    of_times: list[Array] | None
    of_states: list[Array] | None
    after: list[Array] | None


def wanted_sensitivities(sensitivities: Any) -> tuple[str, ...]:
    """Check the variables of requested sensitivities; their order is kept."""
    if isinstance(sensitivities, str) or not isinstance(sensitivities, Sequence):
        raise TypeError(f"sensitivities is {sensitivities!r}; it must be a list of {', '.join(map(repr, _KINDS))}")
    for kind in sensitivities:
        if kind not in _KINDS:
            raise ValueError(f"sensitivities has {kind!r}; it must have only {', '.join(map(repr, _KINDS))}")
    if not sensitivities or len(set(sensitivities)) != len(sensitivities):
        raise ValueError(
            f"sensitivities is {sensitivities!r}; name each of {', '.join(map(repr, _KINDS))} at most once"
        )
    return tuple(sensitivities)


def require_derivatives(
    wanted: tuple[str, ...], method: str, problem: InitialValueProblem, baumgarte: object, dense_output: bool | None
) -> None:
    """Raise an error, before the run, if its derivatives are unknown."""
    if method in OUTSIDE_METHODS:
        raise ValueError(
            f"sensitivities are for kanecore's own methods, and {method!r} is another package's: use "
            "method='rosenbrock', which is for stiff systems too"
        )
    if problem.inputs.function is not None:
        raise ValueError(
            "sensitivities need the derivatives of the inputs, and a function gives them: pass a Signal or numbers, or "
            "put the law into the model (feedback of kc.Model)"
        )
    if baumgarte is not None and problem.dyn.n_constraints:
        raise ValueError("sensitivities need project=True in place of baumgarte, whose terms have no derivatives here")
    if dense_output is not None and not dense_output:
        raise ValueError("sensitivities need the steps of the run: leave out dense_output=False")
    for kernel in ("linearize", *(("rhs_parameter_jacobian",) if "p" in wanted and problem.dyn.n_p else ())):
        try:
            problem.dyn.address(kernel)
        except ModelError as error:
            raise ModelError(f"sensitivities need derivatives of the equations of motion, and {error}") from None


def find_sensitivities(
    problem: InitialValueProblem,
    wanted: tuple[str, ...],
    method: str,
    run: _motion.Run,
    events: Events | None,
) -> Sensitivities:
    """The sensitivities of a run that reached its end.

    Raises
    ------
    ValueError
        It is unknown which of two methods took the steps of the run.
    IntegrationError
        The time of a zero has no derivative.
    """
    return _Chain(problem, wanted, method, run, events).sensitivities()


class _Chain:
    """The chain of the steps of a run."""

    def __init__(
        self, problem: InitialValueProblem, wanted: tuple[str, ...], method: str, run: Any, events: Events | None
    ) -> None:
        dyn = problem.dyn
        self._problem, self._wanted, self._events = problem, wanted, events
        self._ends, self._x = run.steps, run.states
        self._times = run.times
        by_start = "x0" in wanted
        self._flow = Flow(problem, scales_of(problem, self._ends, self._x), "p" in wanted, "r" in wanted)
        self._slopes = None if events is None else EventSlopes(self._flow, events)
        self._zeros = list[Zero]() if events is None else events.zeros
        # S has columns of x0, if requested, p and r, in this order
        self._first = dyn.n_x if by_start else 0
        self._m = self._first + self._flow.n_direct
        self._tableau = _methods_of_steps(method, run)
        self._forward = 1.0 if problem.t1 >= problem.t0 else -1.0
        # index of each end of a step among the times of the result
        at, ends = self._forward * self._times, self._forward * self._ends
        self._same = np.searchsorted(at, ends, side="left"), np.searchsorted(at, ends, side="right")

    def sensitivities(self) -> Sensitivities:
        self._values = np.empty((len(self._times), self._flow.n, self._m))
        self._of_zeros = [np.empty((1 + 2 * self._flow.n, self._m)) for _ in self._zeros]
        self._served = 0
        s, k = self._start(), 0
        self._put(0, s)
        while k < len(self._ends) - 1:
            last = self._alike(k)
            s = self._through(k, last, s)
            k = last
        self._serve(s, self._ends[-1], None)
        return self._ordered()

    # -------------------------------------------------------------------------------------------------- steps

    def _start(self) -> Array:
        """S at the start, which is projected to the constraints."""
        flow, n = self._flow, self._flow.n
        columns = np.zeros((1, n, n + flow.n_direct))
        columns[0, :, :n] = np.eye(n)
        t, x = self._ends[:1], self._problem.x0[np.newaxis]
        columns = flow.brought_back(columns, t, x, flow.inputs(flow.pieces(t), t)[0])
        return np.asarray(columns[0, :, n - self._first :])

    def _alike(self, first: int) -> int:
        """End of a series of steps that are processed at once: steps of one method without a jump, or a single jump."""
        t, room = self._ends, max(1, _ROOM // (8 * self._flow.n * (self._flow.n + self._flow.n_direct) * 24))
        if t[first + 1] == t[first]:
            return first + 1
        last = first + 1
        most, method = min(first + room, len(t) - 1), self._tableau(t[first])
        while last < most and t[last + 1] != t[last] and self._tableau(t[last]) is method:
            last += 1
        return last

    def _through(self, first: int, last: int, s: Array) -> Array:
        """S after some steps."""
        t = self._ends
        if t[last] == t[first]:  # x jumped
            s = self._serve(s, t[first], self._x[last])
            self._put_steps(last, s)
            return s
        inside = self._inside(first, last)
        zeros = [i for i in range(self._served, len(self._zeros)) if self._within(self._zeros[i], first, last)]
        steps = StepSlopes(
            self._flow,
            self._tableau(t[first]),
            t[first:last],
            np.diff(t[first : last + 1]),
            self._x[first:last],
            self._x[first + 1 : last + 1],
            interpolate=bool(len(inside) or zeros),
        )
        at = np.concatenate([self._times[inside], [self._zeros[i].t for i in zeros]])
        places = np.searchsorted(self._forward * t[first : last + 1], self._forward * at, side="left") - 1
        between = steps.between(places, at) if len(at) else None
        in_order = np.argsort(places, kind="stable")
        of_step = np.searchsorted(places[in_order], np.arange(last - first + 1))
        for k in range(last - first):
            s = self._serve(s, t[first + k], None)
            for j in in_order[of_step[k] : of_step[k + 1]]:
                assert between is not None
                here = self._following(between[j], s)
                if j < len(inside):
                    self._values[inside[j]] = here
                else:
                    self._observe(zeros[j - len(inside)], here)
            s = self._following(steps.slopes[k], s)
            self._put_steps(first + k + 1, s)
        return s

    def _following(self, slopes: Array, s: Array) -> Array:
        n = self._flow.n
        result = slopes[:, :n] @ s
        result[:, self._first :] += slopes[:, n:]
        return np.asarray(result)

    def _inside(self, first: int, last: int) -> npt.NDArray[np.intp]:
        """Indices of the result's times inside some steps, without their ends."""
        low, high = sorted((self._ends[first], self._ends[last]))
        found = np.flatnonzero((self._times > low) & (self._times < high))
        return found[~np.isin(self._times[found], self._ends[first : last + 1])]

    def _put_steps(self, k: int, s: Array) -> None:
        """Record S at the end of a step, if requested."""
        if self._times is self._ends:
            self._values[k] = s
        elif self._ends[k] != self._ends[k - 1]:  # at chosen times before a jump
            self._put(k, s)

    def _put(self, k: int, s: Array) -> None:
        self._values[self._same[0][k] : self._same[1][k]] = s

    # -------------------------------------------------------------------------------------------------- zeros

    def _within(self, zero: Zero, first: int, last: int) -> bool:
        assert self._events is not None
        if self._events.stops(zero.i):
            return False
        return bool(
            0.0 < (zero.t - self._ends[first]) * self._forward <= (self._ends[last] - self._ends[first]) * self._forward
        )

    def _observe(self, number: int, s: Array) -> None:
        """Handle a zero without effect on the motion."""
        zero = self._zeros[number]
        directions, flow_of = self._directions(zero, s)
        self._of_zeros[number] = self._total(zero, directions, flow_of)

    def _serve(self, s: Array, t: float, jumped: Array | None) -> Array:
        """S after zeros at the same time: after all remaining zeros, or after the first ones up to a jump of x."""
        while self._served < len(self._zeros):
            zero = self._zeros[self._served]
            assert self._events is not None
            if not self._events.stops(zero.i):
                self._served += 1
                continue
            if zero.t != t:
                break
            self._served += 1
            s = self._behind(self._served - 1, s)
            if jumped is not None and zero.after is not None and np.array_equal(zero.after, jumped):
                break
        return s

    def _behind(self, number: int, s: Array) -> Array:
        """S after a zero where a step ended."""
        zero, n = self._zeros[number], self._flow.n
        directions, flow_of = self._directions(zero, s)
        found = self._of_zeros[number] = self._total(zero, directions, flow_of)
        if zero.after is None:
            return s
        assert self._slopes is not None
        flow, t = self._flow, np.array([zero.t])
        r, rdot = self._inputs(zero.t, before=True)
        total = directions + np.outer(flow_of, found[0])
        after = self._slopes.of_reset(zero.i, zero.t, zero.x, r, total)
        if flow.returns:
            back = flow.slopes_of_return(t, zero.after[np.newaxis], r[np.newaxis])[0]
            after = self._following(back, after) + np.outer(flow.rate_of_return(zero.t, zero.after, r, rdot), found[0])
        found[1 + n :] = after
        r, _ = self._inputs(zero.t, before=False)
        return np.asarray(after - np.outer(flow.value(t, zero.after[np.newaxis], r[np.newaxis])[0], found[0]))

    def _total(self, zero: Zero, directions: Array, flow_of: Array) -> Array:
        """dτ, then the derivatives of x at τ, twice."""
        n = self._flow.n
        assert self._slopes is not None
        r, _ = self._inputs(zero.t, before=True)
        both = np.column_stack([flow_of, directions])
        rates = self._slopes.of_event(zero.i, zero.t, zero.x, r, both)
        if not abs(rates[0]) > 0.0:
            raise IntegrationError(
                f"the function of event {zero.i} has the rate 0 at its zero, t = {zero.t!r}, so that the time of this "
                "zero has no derivative: use a function that crosses zero, or leave out sensitivities"
            )
        dtau = -rates[1:] / rates[0]
        states = directions[1 : 1 + n] + np.outer(flow_of[1 : 1 + n], dtau)
        return np.concatenate([dtau[np.newaxis], states, states])

    def _directions(self, zero: Zero, s: Array) -> tuple[Array, Array]:
        """Changes of t, x, p and r by each column at constant time, (1 + n_x + n_p + n_r, m), and by time only."""
        dyn, n = self._problem.dyn, self._flow.n
        directions = np.zeros((1 + n + dyn.n_p + dyn.n_r, self._m))
        directions[1 : 1 + n] = s
        column = self._first
        if self._flow.by_p:
            directions[range(1 + n, 1 + n + dyn.n_p), range(column, column + dyn.n_p)] = 1.0
            column += dyn.n_p
        if self._flow.by_r:
            directions[range(1 + n + dyn.n_p, len(directions)), range(column, column + dyn.n_r)] = 1.0
        r, rdot = self._inputs(zero.t, before=True)
        xdot = self._flow.value(np.array([zero.t]), zero.x[np.newaxis], r[np.newaxis])[0]
        return directions, np.concatenate([[1.0], xdot, np.zeros(dyn.n_p), rdot])

    def _inputs(self, t: float, before: bool) -> tuple[Array, Array]:
        """Inputs and their rates at a time, as limits from before or after."""
        steps = self._ends[self._ends != t]
        ahead = (steps - t) * self._forward > 0.0
        side = steps[~ahead] if before else steps[ahead]
        if not len(side):
            side = steps
        near = side[np.argmin(np.abs(side - t))] if len(side) else t
        r, rdot = self._flow.inputs(self._flow.pieces(np.array([0.5 * (near + t)])), np.array([t]))
        return r[0], rdot[0]

    # ------------------------------------------------------------------------------------------------ the end

    def _ordered(self) -> Sensitivities:
        """Columns in the order of the request."""
        dyn, n = self._problem.dyn, self._flow.n
        places, names, first = dict[str, list[int]](), dict[str, Sequence[str]](), 0
        names = {"x0": dyn.names.x, "p": dyn.parameter_names, "r": dyn.input_names}
        for kind in _KINDS:
            if kind in self._wanted:
                places[kind] = [*range(first, first + len(names[kind]))]
                first += len(names[kind])
        order = [i for kind in self._wanted for i in places[kind]]
        named = tuple(name for kind in self._wanted for name in names[kind])
        if self._events is None:
            return Sensitivities(named, self._values[..., order], None, None, None)
        blocks = [
            np.array([found[:, order] for found, zero in zip(self._of_zeros, self._zeros, strict=True) if zero.i == i])
            for i in range(len(self._events))
        ]
        blocks = [block.reshape(len(block), 1 + 2 * n, len(order)) for block in blocks]
        return Sensitivities(
            named,
            self._values[..., order],
            [block[:, 0] for block in blocks],
            [block[:, 1 : 1 + n] for block in blocks],
            [block[:, 1 + n :] for block in blocks],
        )


def _methods_of_steps(method: str, run: Any) -> Any:
    """The tableau of the step that begins at a time."""
    first = _motion.Tableau(method)
    if not run.switches:
        return lambda t: first
    if run.switches > len(run.switched):
        raise ValueError(
            f"{method!r} changed its method {run.switches} times, and only the first {len(run.switched)} changes are "
            "known: sensitivities need method='rosenbrock', or 'dop853'"
        )
    second = _motion.Tableau(method, stiff=True)
    forward = 1.0 if run.steps[-1] >= run.steps[0] else -1.0
    return lambda t: second if sum((t - change) * forward >= 0.0 for change in run.switched) % 2 else first
