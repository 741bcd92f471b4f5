# SPDX-License-Identifier: BSD-3-Clause
"""Periodic motions by shooting, and their stability: Floquet multipliers.

A motion from x0 ends at x(x0, T).  It is periodic if x(x0, T) = x0.  Newton's method solves that with the derivatives
of the computed motion, ∂x(x0, T)/∂x0 = Φ and ẋ(T), along directions that the constraints allow:

    (Φ − 1) δx0 + ẋ(T) δT = x0 − x(x0, T)

The smallest change is taken, because an undriven motion may start anywhere on its orbit, and because its neighbours are
periodic, too, if energy is conserved.  With an event that ends a period, T follows from x0, and Φ is the derivative of
the return map (Guckenheimer & Holmes, *Nonlinear Oscillations*, 1983, section 1.5).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import normalized
from kanecore.constraints.constraint_values import normalise
from kanecore.errors import IntegrationError, KanecoreWarning, ModelError, SingularError
from kanecore.motion.events import as_list
from kanecore.motion.simulation import simulate
from kanecore.motion.trajectory import Trajectory
from kanecore.run.call_arguments import state_vector
from kanecore.run.printed_results import PrintedResult

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["PeriodicMotion", "periodic"]

Array = npt.NDArray[np.float64]

_ITERATIONS = 40
_SHARES = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.003)  # shares of a step of Newton's method, if the whole step is too long
_DECIDES = 1e-7  # relative to the largest singular value: neighbours along others are periodic as well
_AT_ONCE = 1e-2  # share of a period: an earlier zero of the event belongs to the start, which has small errors
_FACTOR = 10.0  # largest ratio of the period to the first guess, or its inverse
_PATIENCE = 3.0  # periods within which the event must occur
_OWN_OPTIONS = frozenset({"sensitivities", "t_eval", "dense_output", "threads", "return_status", "progress", "project"})
_STILL = 1e-9  # relative to a number's magnitude: a smaller range is rounding
_SAME = 1e-6  # relative to the largest ẋ: largest difference of ẋ at the same state from period to period
_COMPARED = 50  # number of number of states of a period at which ẋ is compared
_LIMIT = 1e3  # times the tolerances of a step: Newton's method has not failed with a smaller residual


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicMotion(PrintedResult):
    """A periodic motion.

    Attributes
    ----------
    name : str
        Name of the model.
    x0 : ndarray, (n_x,)
        A state of the motion.
    period : float
        s.
    monodromy : ndarray, (n_x, n_x)
        ∂x/∂x0 after a period, on the constraints.
    multipliers : ndarray of complex, (n_x − constraints,)
        Eigenvalues of the monodromy along the constraints, the largest first: the growth of deviations in a period.  If
        the period may vary, 1 is an eigenvalue: a deviation along the motion neither grows nor decays.
    residual : float
        max |x after a period − x0|, each relative to its range in the first trial motion.
    trajectory : Trajectory
        One period; without its first hundredth if a zero of the event came that early.
    """

    name: str
    x0: Array
    period: float
    monodromy: Array
    multipliers: npt.NDArray[np.complex128]
    residual: float
    trajectory: Trajectory

    def __str__(self) -> str:
        sizes = ", ".join(f"{abs(multiplier):.6g}" for multiplier in self.multipliers)
        return f"{self.name}: a motion of period {self.period:.9g} s, whose deviations grow by {sizes} in it"


@method("Motion", doubles=True)
def periodic(
    dyn: Evaluator,
    x0: Values,
    period: float,
    *,
    event: Any = None,
    fixed_period: bool = False,
    advancing: Iterable[Any] = (),
    t0: float = 0.0,
    events: Any = (),
    tolerance: float = 1e-9,
    rtol: float = 1e-10,
    atol: npt.ArrayLike | None = None,
    **options: Any,
) -> PeriodicMotion:
    """Find a periodic motion near the motion from x0, and its Floquet multipliers.

    Rest is periodic, too, with any period: start near the desired motion.  A unit quaternion may end as its negative,
    which is the same attitude.

    Parameters
    ----------
    x0 : array_like, (n_x,), or mapping by name
        Initial guess of a state of the motion.  With `event`, the state right after the event.
    period : float
        Guess of the period, s: the result lies between a tenth of it and ten times it.  An `event` must occur within
        three times the guess.  With `fixed_period` it is the period itself.
    event : Event or callable, optional
        Event that ends a period, such as the landing of a foot, with its reset; with ``terminal=2`` the second zero
        ends the period.  A zero in the first hundredth of a period does not count.
    fixed_period : bool
        The period is fixed, as for a drive by t or a Signal.
    advancing : list of str or symbol
        Coordinates that advance from period to period, such as the distance of a walker; no rate may depend on them.
    t0 : float
        Start time of a period.
    events : Event, callable, or list of these
        Other events, with their resets; none may be terminal.
    tolerance : float
        Tolerance of the residual, see `PeriodicMotion`.
    rtol, atol, **options
        As for `simulate`: ``method``, ``dt``, ``inputs``, ``parameters``, ``max_step``.  Default of atol: rtol times
        the range of each number in the first trial motion, so that the result does not depend on units.

    Returns
    -------
    PeriodicMotion

    Raises
    ------
    ModelError
        Newton's method found no periodic motion from x0; the event did not occur; the drive is not the same after the
        period; rates depend on a coordinate that is declared to advance.
    ValueError, TypeError, KeyError
        As for `simulate` with sensitivities.
    """
    for name in _OWN_OPTIONS.intersection(options):
        raise TypeError(f"{name} is no option of periodic(): simulate one period from the x0 that it finds")
    for name, value in (("period", period), ("tolerance", tolerance)):
        if not isinstance(value, int | float | np.number) or not (np.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} is {value!r}; it must be a positive number")
    control = {**options, "rtol": rtol, "atol": rtol if atol is None else atol}
    shooting = _Shooting(dyn, float(period), event, bool(fixed_period), advancing, float(t0), events, control)
    x = normalized(dyn, state_vector(dyn, x0, "x0"), "x0")
    shot = shooting.shoot(x, float(period))
    if atol is None:
        shot = shooting.with_tolerances_of(shot)
    for _ in range(_ITERATIONS):
        better = shooting.improved(shot)
        last = shot.residual <= tolerance  # the last step squared the residual
        shot = better or shot
        if last or better is None:
            break
    if not shot.residual <= tolerance:
        raise ModelError(
            f"no periodic motion of {dyn.name!r} was found near this one: after {shot.period:.6g} s "
            f"{shooting.described(shot)}; {shooting.advice(shot)}"
        )
    shooting.require_repetition(shot)
    return shooting.motion(shot)


@dataclass(frozen=True, eq=False)
class _Shot:
    """Motion from x to ``end`` in a given time, its derivative, and the deviation from its start."""

    x: Array
    period: float
    end: Array
    monodromy: Array
    feasible: Array  # a projector to the allowed changes of x
    misses: Array
    trajectory: Trajectory

    @property
    def residual(self) -> float:
        return float(np.max(np.abs(self.misses), initial=0.0))


class _Section:
    """The event that ends a period, as given and as a terminal event."""

    def __init__(self, event: Any) -> None:
        function = callable(event) or hasattr(event, "argtypes") or hasattr(event, "address")
        if not (isinstance(event, str) or function or hasattr(event, "compiled")):
            hint = f": write kc.Event({event})" if hasattr(event, "free_symbols") else ""
            raise TypeError(f"event is {event!r}; it must be a function event(t, x), a name, or a kc.Event{hint}")
        self.expr = event.expr if hasattr(event, "compiled") else event
        self.compiled = getattr(event, "compiled", None)
        self.differentiated = getattr(event, "differentiated", None)
        self.direction, self.reset = getattr(event, "direction", 0), getattr(event, "reset", None)
        self.terminal = max(1, int(getattr(event, "terminal", 1)))


class _Shooting:
    """Trial motions of one period."""

    def __init__(
        self,
        dyn: Evaluator,
        guess: float,
        event: Any,
        fixed: bool,
        advancing: Iterable[Any],
        t0: float,
        events: Any,
        options: dict[str, Any],
    ) -> None:
        self._dyn, self._t0, self._options, self._fixed = dyn, t0, options, fixed
        self._guess, self._shortest, self._longest = guess, guess / _FACTOR, guess * _FACTOR
        self._section = None if event is None else _Section(event)
        self._others = as_list(events)
        for i, other in enumerate(self._others):
            if getattr(other, "terminal", False):
                raise ValueError(f"events[{i}] is terminal; in periodic() only event ends a period")
        self._events = self._others if self._section is None else [self._section, *self._others]
        if isinstance(advancing, str):
            raise TypeError(f"advancing is {advancing!r}; it must be a list of coordinates: [{advancing!r}]")
        self._advancing = [dyn.names.index("state", name) for name in advancing]
        self._scale: Array | None = None
        self._returning = np.setdiff1d(np.arange(dyn.n_x), self._advancing)
        if event is not None and fixed:
            raise ValueError("fixed_period is for motions without event: an event decides when a period ends")

    # ---------------------------------------------------------------------------------------------- one motion

    def shoot(self, x: Array, period: float) -> _Shot:
        """The motion from x.

        Raises
        ------
        ModelError
            The event did not occur.
        """
        if self._section is None:
            run = self._run(x, self._t0, self._t0 + period, self._events)
            assert run.sensitivities is not None
            return self._shot(x, period, run.x[-1], run.sensitivities[-1], run)
        end = self._t0 + _PATIENCE * period
        run = self._run(x, self._t0, end, self._events)
        first, begun = np.eye(self._dyn.n_x), run
        assert run.t_events is not None
        if len(run.t_events[0]) and run.t_events[0][0] - self._t0 < _AT_ONCE * period:
            begun = self._run(x, self._t0, self._t0 + _AT_ONCE * period, self._others)
            assert begun.sensitivities is not None
            first = begun.sensitivities[-1]
            run = self._run(begun.x[-1], begun.t[-1], end, self._events)
        if run.status != 1:
            raise ModelError(
                f"the event of {self._dyn.name!r} did not occur within {_PATIENCE * period:g} s of t0, {_PATIENCE:g} "
                "times the expected period: give a longer period, or a start from which the event occurs"
            )
        found = run.found_sensitivities
        assert found is not None
        assert found.after is not None
        return self._shot(x, run.t[-1] - self._t0, run.x[-1], found.after[0][-1] @ first, run, begun)

    def _run(self, x: Array, t0: float, t1: float, events: list[Any]) -> Trajectory:
        options = {**self._options, "sensitivities": ["x0"], "events": events or None}
        with warnings.catch_warnings():  # trial motions may come to rest
            warnings.filterwarnings("ignore", "all states stay near or below atol", KanecoreWarning)
            return simulate(self._dyn, (t0, t1), x, **options)

    def _shot(
        self, x: Array, period: float, end: Array, monodromy: Array, run: Trajectory, begun: Trajectory | None = None
    ) -> _Shot:
        start = run if begun is None else begun
        assert start.sensitivities is not None
        if self._scale is None:
            self._scale = _scale(run.problem.state(self._t0, x).extents, run.x)
        signs = self._signs(x, end, run)
        end, monodromy = signs * end, signs[:, np.newaxis] * monodromy
        misses = (end - x) / self._scale
        return _Shot(x, period, end, monodromy, start.sensitivities[0], misses[self._returning], run)

    def _signs(self, x: Array, end: Array, run: Trajectory) -> Array:
        """Sign −1 for unit quaternions that end near their negative, if the motion continues equally from both."""
        signs = np.ones(len(x))
        for quaternion in self._dyn.unit:
            places = list(quaternion)
            if x[places] @ end[places] < 0.0:
                signs[places] = -1.0
        if (signs > 0.0).all():
            return signs
        t, problem = float(run.t[-1]), run.problem
        r = problem.inputs(t, end)
        one, other = (self._dyn.rhs(t, y, r=r, p=problem.p) for y in (end, signs * end))
        return signs if self._close(signs * one, other) else np.ones(len(x))

    def _close(self, first: Array, second: Array) -> bool:
        """Test whether rates are the same, within a tolerance."""
        assert self._scale is not None
        largest = float(np.max(np.abs(first) / self._scale, initial=0.0))
        return bool((np.abs(first - second) / self._scale <= _SAME * largest).all())

    def with_tolerances_of(self, shot: _Shot) -> _Shot:
        """Copy with tolerances of each step of rtol times the range of each number."""
        self._options["atol"] = self._options["rtol"] * self._scale
        self._scale = None  # which is better known with tolerances
        return self.shoot(shot.x, shot.period if self._section is None else self._guess)

    # ------------------------------------------------------------------------------------------------- Newton

    def improved(self, shot: _Shot) -> _Shot | None:
        """Next trial motion, with a smaller deviation from its start; None if there is none."""
        basis, scale = self._basis(shot)
        columns = (shot.monodromy - shot.feasible) @ (scale[:, np.newaxis] * basis)
        if self._section is None and not self._fixed:
            columns = np.column_stack([columns, shot.period * self._rate(shot)])
        rows = (columns / scale[:, np.newaxis])[self._returning]
        step = -np.linalg.lstsq(rows, shot.misses, rcond=_DECIDES)[0]
        k = basis.shape[1]
        for share in _SHARES:
            x = shot.x + share * scale * (basis @ step[:k])
            period = shot.period * (1.0 + share * float(step[k]) if len(step) > k else 1.0)
            # in zero time any motion returns to its start
            if self._section is None and not self._shortest < period < self._longest:
                continue
            try:
                trial = self.shoot(self._feasible(shot, x), period)
            except (IntegrationError, SingularError, ModelError):
                continue
            if trial.residual < shot.residual * (1.0 - 0.1 * share):
                return trial
        return None

    def _rate(self, shot: _Shot) -> Array:
        """ẋ at the end."""
        t, problem = self._t0 + shot.period, shot.trajectory.problem
        return np.asarray(self._dyn.rhs(t, shot.end, r=problem.inputs(t, shot.end), p=problem.p))

    def _basis(self, shot: _Shot) -> tuple[Array, Array]:
        """Directions that the constraints allow, as columns relative to a scale, and the scale."""
        scale = self._scale
        assert scale is not None
        of_columns, _, _ = np.linalg.svd(shot.feasible * scale / scale[:, np.newaxis])
        return of_columns[:, : round(np.trace(shot.feasible))], scale

    def _feasible(self, shot: _Shot, x: Array) -> Array:
        """The state on the constraints nearest to x."""
        x = x.copy()
        normalise(self._dyn, x)
        return shot.trajectory.problem.state(self._t0, x).projected.x.copy() if self._constrained else x

    @property
    def _constrained(self) -> bool:
        return self._dyn.n_configuration + self._dyn.n_velocity > 0

    # ---------------------------------------------------------------------------------------------- the result

    def require_repetition(self, shot: _Shot) -> None:
        """Raise ModelError if ẋ differs a period later, at advanced time and coordinates."""
        run, dyn = shot.trajectory, self._dyn
        problem, chosen = run.problem, np.unique(np.linspace(0, len(run.t) - 1, _COMPARED).astype(int))
        t, x, r = run.t[chosen], run.x[chosen], run.r[chosen]
        ahead = x.copy()
        ahead[:, self._advancing] += (shot.end - shot.x)[self._advancing]
        now, moved, later = (
            np.asarray(dyn.rhs(time, state, r=r, p=problem.p))
            for time, state in ((t, x), (t, ahead), (t + shot.period, x))
        )
        if not self._close(now, moved):
            names = ", ".join(repr(dyn.names.x[i]) for i in self._advancing)
            raise ModelError(
                f"the motion of {dyn.name!r} changes as {names} advance, because some rates depend on them: leave them "
                "out of advancing"
            )
        same = self._close(now, later)
        if same and not self._fixed:
            inputs = (problem.inputs(time, shot.x) for time in (self._t0, self._t0 + shot.period))
            same = self._close(*(np.asarray(dyn.rhs(self._t0, shot.x, r=at, p=problem.p)) for at in inputs))
        if not same:
            event = "" if self._section is None else ", and the event among events"
            its = (
                "give its own period"
                if self._fixed
                else f"give its period, or a multiple of it, with fixed_period=True{event}"
            )
            raise ModelError(
                f"the drive of {dyn.name!r} is not the same {shot.period:.6g} s later, so that the motion is not "
                f"periodic: {its}"
            )

    def advice(self, shot: _Shot) -> str:
        """Advice for a motion that does not return to its start."""
        assert self._scale is not None
        errors = self._options["atol"] + self._options["rtol"] * np.abs(shot.x)
        if (np.abs(shot.misses) <= (_LIMIT * errors / self._scale)[self._returning]).all():
            return "rtol and atol allow errors of this size: make them smaller, or tolerance larger"
        return "start nearer to one, or name advancing coordinates by advancing="

    def described(self, shot: _Shot) -> str:
        """Text about the coordinate or speed with the largest deviation."""
        worst = int(np.argmax(np.abs(shot.misses)))
        place = self._returning[worst]
        name = self._dyn.names.x[place]
        return f"{name!r} is {shot.end[place]:.9g}, and was {shot.x[place]:.9g}"

    def motion(self, shot: _Shot) -> PeriodicMotion:
        basis, scale = self._basis(shot)
        reduced = basis.T @ ((shot.monodromy @ (scale[:, np.newaxis] * basis)) / scale[:, np.newaxis])
        multipliers = np.linalg.eigvals(reduced).astype(np.complex128)
        multipliers = multipliers[np.argsort(-np.abs(multipliers), kind="stable")]
        return PeriodicMotion(
            self._dyn.name, shot.x, shot.period, shot.monodromy, multipliers, shot.residual, shot.trajectory
        )


def _scale(extents: Array, states: Array) -> Array:
    """Reference magnitude of each number of a state, its range in the first trial motion."""
    ranges = np.ptp(states, axis=0)
    return np.where(ranges > _STILL * extents, ranges, extents)
