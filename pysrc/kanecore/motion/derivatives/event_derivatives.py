# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the events of a run and of their resets, along directions of (t, x, p, r).

Derivatives of names and expressions are exact.  For functions of Python or C they are differences between states
nearby.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.motion.derivatives.step_derivatives import Flow, along
from kanecore.motion.events import Events
from kanecore.motion.run_inputs import event_in_python

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["EventSlopes"]

Array = npt.NDArray[np.float64]


class EventSlopes:
    """Derivatives of the zeros of events, and of the states after them.

    Parameters
    ----------
    flow : Flow
        Flow of the run.
    events : Events
        Events of the run.
    """

    def __init__(self, flow: Flow, events: Events) -> None:
        self._flow, self._events, problem = flow, events, flow.problem
        dyn, scales = problem.dyn, flow.scales
        self._parts = np.cumsum([1, dyn.n_x, dyn.n_p])  # ends of t, x, p and r in a direction
        self._small = np.concatenate([[scales.t], scales.x, scales.p, scales.r])

    def of_event(self, i: int, t: float, x: Array, r: Array, directions: Array) -> Array:
        """ġ along directions, the columns of (1 + n_x + n_p + n_r, m): (m,)."""
        kind, what = self._events[i].source
        if kind == "state":
            return np.asarray(directions[1 + what])
        if kind == "expression":
            return np.asarray(self._gradients(t, x, r)[what] @ directions)
        dyn = self._flow.problem.dyn
        if kind == "output":
            values = self._differences(lambda t, x, p, r: dyn.outputs(t, x, r=r, p=p)[what], t, x, r, directions)
        else:
            g = what if kind == "function" else event_in_python(what)
            values = self._differences(lambda t, x, p, r: np.asarray(g(t, x)).reshape(()), t, x, r, directions)
        return np.asarray(values[:, 0])

    def of_reset(self, i: int, t: float, x: Array, r: Array, directions: Array) -> Array:
        """The derivative of the state after the reset along directions: (n_x, m)."""
        reset, n_x = self._events[i].reset, self._flow.n
        reset_rows = getattr(self._events[i].user_event, "reset", None)
        if isinstance(reset_rows, Mapping):
            result = directions[1 : 1 + n_x].copy()
            places = [self._flow.problem.dyn.names.index("state", key) for key in reset_rows]
            first = self._first_of_reset[i]
            result[places] = self._gradients(t, x, r)[first : first + len(places)] @ directions
            return result
        assert reset is not None
        return self._differences(lambda t, x, p, r: np.asarray(reset(t, x), dtype=np.float64), t, x, r, directions).T

    # --------------------------------------------------------------------------------------------- expressions

    @cached_property
    def _first_of_reset(self) -> dict[int, int]:
        """Index of the first expression of each reset, in the order of `_compiled`."""
        first, following = {}, sum(event.source[0] == "expression" for event in self._events)
        for i, event in enumerate(self._events):
            reset = getattr(event.user_event, "reset", None)
            if isinstance(reset, Mapping):
                first[i] = following
                following += len(reset)
        return first

    @cached_property
    def _compiled(self) -> Evaluator:
        """Model for the derivatives of all expressions: first those of events, then those of resets."""
        expressions = [event.user_event.expr for event in self._events if event.source[0] == "expression"]
        for i in self._first_of_reset:
            expressions += self._events[i].user_event.reset.values()
        objects = (event.user_event for event in self._events)
        differentiated = next(event.differentiated for event in objects if getattr(event, "compiled", None))
        return differentiated(self._flow.problem.dyn, expressions)  # type: ignore[no-any-return]

    def _gradients(self, t: float, x: Array, r: Array) -> Array:
        """Gradients with respect to t, x, p and r: (number of expressions, 1 + n_x + n_p + n_r)."""
        return np.asarray(self._compiled.outputs(t, x, r=r, p=self._flow.problem.p)).reshape(-1, len(self._small))

    # ---------------------------------------------------------------------------------------------- differences

    def _differences(
        self, f: Callable[[float, Array, Array, Array], Any], t: float, x: Array, r: Array, directions: Array
    ) -> Array:
        """The derivative of the values f(t, x, p, r), (k,) or a scalar, along each direction: (m, k)."""
        columns = []
        for direction in directions.T:
            size = float(np.max(np.abs(direction) / self._small, initial=0.0))
            moved = partial(self._values, f, t, x, r, direction)
            columns.append(along(moved, 1.0 / size if size > 0.0 else 1.0))
        return np.asarray(columns)

    def _values(
        self,
        f: Callable[[float, Array, Array, Array], Any],
        t: float,
        x: Array,
        r: Array,
        direction: Array,
        tau: Array,
    ) -> Array:
        """Values of f at states nearby, on the constraints: (4, k)."""
        moved = tau[:, np.newaxis] * direction
        of_x, of_p, of_r = (part for part in np.split(moved[:, 1:], self._parts[1:] - 1, axis=1))
        times, inputs, p = t + moved[:, 0], r + of_r, self._flow.problem.p + of_p
        states = self._flow.returned(times, x + of_x, inputs, p)
        return np.array(
            [np.atleast_1d(f(float(times[i]), states[i].copy(), p[i], inputs[i])) for i in range(len(times))]
        )
