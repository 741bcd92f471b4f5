# SPDX-License-Identifier: BSD-3-Clause
"""The result of an integration: states, and results that are computed from them on first use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.constraints.constraint_values import residuals
from kanecore.errors import KanecoreError
from kanecore.motion.external_integration import AnyRun, OutsideRun, interpolate_outside
from kanecore.motion.samples import Samples, names_of
from kanecore.run.numerical_derivatives import derivative
from kanecore.run.state_pictures import animate

if TYPE_CHECKING:
    from kanecore.motion.derivatives.sensitivities import Sensitivities
    from kanecore.motion.events import Events
    from kanecore.motion.initial_value_problem import InitialValueProblem

__all__ = ["Trajectory"]

Array = npt.NDArray[np.float64]

# Gauss-Legendre nodes and weights on 0 ... 1, exact to order 10, which exceeds the interpolant's
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_NODES, _WEIGHTS = (_NODES + 1.0) / 2.0, _WEIGHTS / 2.0

# Matrices that map values at the nodes to the polynomial at both ends of a step, and to its derivatives at the nodes.
_POWERS = np.arange(len(_NODES))
_COEFFICIENTS = np.linalg.inv(np.vander(_NODES, increasing=True))
_ENDS = np.vander([0.0, 1.0], len(_NODES), increasing=True) @ _COEFFICIENTS
_RATES = (_POWERS * _NODES[:, np.newaxis] ** np.maximum(_POWERS - 1, 0)) @ _COEFFICIENTS

# Number of steps with energies and work computed at once, which bounds the extra memory of a long run.
_CHUNK = 20_000


class Trajectory:
    """States over time, with derived results.

    Attributes
    ----------
    t : ndarray, (N,)
        Times, s: ``t_eval``, or the ends of the steps.
    x, q, u, z : ndarray, (N, n_x), (N, n_q), (N, n_u), (N, n_z)
        States, coordinates, speeds; ``y`` is x transposed, as in ``scipy.integrate.solve_ivp``.
    r : ndarray, (N, n_r)
        Inputs.  A function of the inputs is called again.  If the function has an internal state, so that its values
        differ now, there is a ValueError here and in results that follow from the inputs: see ``sample_time`` of
        `simulate`.
    outputs : ndarray, (N, n_outputs)
    energy : ndarray, (N,)
        T + U.
    energy_drift : float
        max |T + U − (T + U)(0) − W| / max T over the steps, where W is the work of all loads without a potential, of
        inputs and drives.
    constraint_drift : float
        The largest residual of a constraint over the steps, in units of the coordinates and of the speeds; for a method
        of another package the residual of its own states, before projection to the constraints.  Like `energy_drift`,
        it is a ValueError if the steps were not kept (`dense_output` of `simulate`).
    nfev, njev, nlu, status, message, success
        As in ``solve_ivp``: status is 1 if an event ended the run.
    t_events, y_events : list of ndarray, (n,), (n, n_x); or None
        For each event the times of its zeros, and the states there before a reset.
    sensitivities : ndarray, (N, n_x, m); or None
        Derivatives of x by each of ``sensitivity_names``, at constant times t; where x jumps, before and after the
        jump.
    t_events_sensitivities, y_events_sensitivities : list of ndarray, (n, m), (n, n_x, m); or None
        Derivatives of t_events, and of y_events at varying times.
    """

    def __init__(
        self, problem: InitialValueProblem, method: str, run: AnyRun, message: str, events: Events | None = None
    ) -> None:
        self.problem, self._method, self.run = problem, method, run
        self._dyn, self._inputs, self._p = problem.dyn, problem.inputs.applied(), problem.p
        self.nfev, self.njev, self.nlu = run.evaluations, run.jacobians, run.factorizations
        self.n_steps, self.n_rejected = run.accepted, run.rejected
        self.success, self.message = run.status in ("success", "event") and run.error is None, message
        self.status = int(run.status == "event") if self.success else -1
        self.t_events = None if events is None else events.times
        self.y_events = None if events is None else events.states
        # As with SciPy the user may change these, for example to convert angles or shift time: interpolants keep
        # copies.
        self.t, self.x = (
            values.copy() if np.shares_memory(values, kept) else values
            for values, kept in ((run.times, run.steps), (run.sampled, run.states))
        )
        self.found_sensitivities: Sensitivities | None = None

    def with_sensitivities(self, found: Sensitivities) -> Trajectory:
        """The trajectory itself, after adding its derivatives."""
        self.found_sensitivities = found
        return self

    @property
    def sensitivities(self) -> Array | None:
        return None if self.found_sensitivities is None else self.found_sensitivities.values

    @property
    def sensitivity_names(self) -> tuple[str, ...] | None:
        return None if self.found_sensitivities is None else self.found_sensitivities.names

    @property
    def t_events_sensitivities(self) -> list[Array] | None:
        return None if self.found_sensitivities is None else self.found_sensitivities.of_times

    @property
    def y_events_sensitivities(self) -> list[Array] | None:
        return None if self.found_sensitivities is None else self.found_sensitivities.of_states

    def __getstate__(self) -> dict[str, Any]:
        if self._inputs.function is not None:
            with contextlib.suppress(ValueError):  # the function has an internal state
                _ = self.r  # an input function may be dropped, and its values are kept
        return vars(self)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} ... {self.t[-1]:g}" if len(self.t) else "empty"
        steps = f"{self.n_steps} steps of {self._method}, {self.nfev} evaluations"
        return f"<Trajectory of {self._dyn.name!r}: {span}, {steps}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: facts of the run, a small table, and `plot` if matplotlib is installed."""
        from kanecore.show.notebook_pages import trajectory_page

        return trajectory_page(self)

    def __call__(self, t: npt.ArrayLike) -> Array:
        """The state at times of any shape within the run, from the interpolant of each step: (..., n_x).

        Raises
        ------
        ValueError
            A time outside the run; a run that did not keep its steps (`dense_output` of `simulate`).
        """
        times = np.asarray(t, dtype=np.float64)
        start, end = self._steps[0], self._steps[-1]
        if not ((times >= min(start, end)) & (times <= max(start, end))).all():
            raise ValueError(f"the run goes from {start} to {end}, and t has times outside")
        if len(self._steps) < 2:
            return np.broadcast_to(self._states[0], (*times.shape, self._dyn.n_x)).copy()
        sign = 1.0 if end >= start else -1.0
        flat = np.ascontiguousarray(times.reshape(-1))
        index = np.searchsorted(sign * self._steps, sign * flat, side="right") - 1
        index = np.clip(index, 0, len(self._steps) - 2).astype(np.int64)
        states = self._interpolated(index, flat)
        # the ends of steps are known exactly
        for ends in (index, index + 1):
            at = flat == self._steps[ends]
            states[at] = self._states[ends[at]]
        return np.asarray(states).reshape(*times.shape, self._dyn.n_x)

    def __getitem__(self, name: Any) -> Any:
        """A coordinate, speed, input or output over time, by name or symbol, (N,): ``sol["theta"]``; or fewer times.

        With a slice, a list of indices or a mask it gives the `Samples` at these times: ``sol[::10]``, ``sol[sol.t >
        2]``.  Samples at any other times are ``sol.at(t)``.

        Raises
        ------
        KeyError
            The model has no such name; the message shows the nearest names.
        """
        if isinstance(name, slice | list | np.ndarray):
            return self.samples[name]
        what, i = self._dyn.names.found(("state", "input", "output"), name)
        values = self.x if what == "state" else self.r if what == "input" else self.outputs
        return np.asarray(values[..., i])

    @property
    def _recorded(self) -> tuple[Array, Array, Array]:
        """The start and the ends of the steps, the states there, and the interpolants; ValueError without these."""
        run = self.run
        if run.steps is None or run.states is None or run.dense is None:
            raise ValueError(
                "this run did not keep its steps, which sol(t), energy_drift and constraint_drift need: simulate with "
                "dense_output=True; if you need only states, put their times into t_eval and read sol.x"
            )
        return run.steps, run.states, run.dense

    @property
    def _steps(self) -> Array:
        return self._recorded[0]

    @property
    def _states(self) -> Array:
        return self._recorded[1]

    def _interpolated(self, steps: npt.NDArray[np.int64], times: Array) -> Array:
        """State at each time, (N,), from the interpolant of the given step: (N, n_x)."""
        if isinstance(self.run, OutsideRun):
            return interpolate_outside(self.problem, self.run, steps, times)
        arguments = self._dyn, self._method, *self._recorded, steps, times
        return _motion.interpolate(*arguments, **self.problem.arguments)

    @property
    def sol(self) -> Callable[[npt.ArrayLike], Array]:
        """``sol(t)``: the state as a continuous function, (..., n_x)."""
        return self

    @property
    def y(self) -> Array:
        return self.x.T

    @property
    def q(self) -> Array:
        return self.x[:, : self._dyn.n_q]

    @property
    def u(self) -> Array:
        return self.x[:, self._dyn.names.speeds]

    @property
    def z(self) -> Array:
        return self.x[:, self._dyn.names.states]

    @cached_property
    def r(self) -> Array:
        return self._inputs(self.t, self.x)

    @cached_property
    def outputs(self) -> Array:
        return self._dyn.outputs(self.t, self.x, r=self.r, p=self._p)

    @cached_property
    def energy(self) -> Array:
        return self._energies(self.t, self.x, self.r)[0]

    @cached_property
    def energy_drift(self) -> float:
        error, largest = self._drift
        return float(np.max(np.abs(error)) / largest) if largest > 0 else float(np.max(np.abs(error)))

    @cached_property
    def constraint_drift(self) -> float:
        times, states, _ = self._recorded
        if isinstance(self.run, OutsideRun) and self.run.advanced is not None:
            states = self.run.advanced
        largest = 0.0
        if self._dyn.n_constraints or self._dyn.n_configuration:
            for first in range(0, len(times), _CHUNK):
                t, x = times[first : first + _CHUNK], states[first : first + _CHUNK]
                missed = residuals(self._dyn, t, x, r=self._inputs(t, x), p=self._p)
                largest = max(largest, float(np.max(np.abs(missed), initial=0.0)))
        return largest

    @cached_property
    def _drift(self) -> tuple[Array, float]:
        """T + U − (T + U)(0) − W at the ends of the steps, without changes by events, and max T."""
        n = len(self._steps)
        total, work, largest = np.empty(n), np.zeros(n), 0.0
        for first in range(0, n, _CHUNK):
            last = min(first + _CHUNK, n)
            t, x = self._steps[first:last], self._states[first:last]
            total[first:last], kinetic = self._energies(t, x, self._inputs(t, x))
            largest = max(largest, float(np.max(kinetic)))
            work[first + 1 : last + 1] = self._work(first, min(last, n - 1))
        jumps = np.flatnonzero(np.diff(self._steps) == 0.0)  # a change by an event is no error
        work[jumps + 1] = total[jumps + 1] - total[jumps]
        return total - total[0] - np.cumsum(work), largest

    def _energies(self, t: Array, x: Array, r: Array) -> tuple[Array, Array]:
        kinetic = np.asarray(self._dyn.kinetic_energy(t, x, r=r, p=self._p))
        return kinetic + self._dyn.potential_energy(t, x, r=r, p=self._p), kinetic

    def _work(self, first: int, last: int) -> Array:
        """The work done in each of some steps, the power integrated along the interpolants."""
        start, length = self._steps[first:last], np.diff(self._steps[first : last + 1])
        t = start[:, np.newaxis] + length[:, np.newaxis] * _NODES
        steps = np.repeat(np.arange(first, last, dtype=np.int64), len(_NODES))
        x = self._interpolated(steps, t.reshape(-1)).reshape(*t.shape, self._dyn.n_x)
        r = self._inputs(t, x)
        power = self._power(t, x, r)
        return np.asarray(length * (power @ _WEIGHTS)) + self._work_of_inputs(first, last, t, x, r)

    def _power(self, t: Array, x: Array, r: Array) -> Array:
        """Power of what changes T + U at times and states of the run."""
        udot = self._dyn.udot(t, x, r=r, p=self._p)
        return np.asarray(self._dyn.power(t, x, udot, r=r, p=self._p))

    @property
    def _force_names(self) -> tuple[str, ...]:
        return ()

    def _forces(self, t: Array, x: Array, r: Array) -> Array:
        """Forces by contact at times and states, (N, n)."""
        return np.empty((len(t), 0))

    def _contact_marks(self, t: Array, x: Array, r: Array) -> Any:
        """Marks of contacts in a film, for frames at times and states; None without contacts."""
        return None

    def _work_of_inputs(self, first: int, last: int, t: Array, x: Array, r: Array) -> Array | float:
        """∫ ∂(T + U)/∂r · dr in each of some steps, for inputs without rates, which are constant in `power`.

        Between the nodes of a step r is a polynomial, which jumps to r at the ends of the step.
        """
        held = np.array([i for i, rate in enumerate(self._dyn.input_rates) if rate < 0], dtype=np.intp)
        if not len(held):
            return 0.0
        ends = np.stack([np.arange(first, last), np.arange(first + 1, last + 1)], axis=-1)
        at, states = self._steps[ends], self._states[ends]
        given = self._inputs(at, states)
        met, changes = given.copy(), np.zeros_like(r)
        met[..., held], changes[..., held] = _ENDS @ r[..., held], _RATES @ r[..., held]
        jumps = self._energies(at, states, given)[0] - self._energies(at, states, met)[0]
        work = jumps[:, 1] - jumps[:, 0]

        def along(part: Array) -> Array:
            """T + U with inputs after a part of their change in the step."""
            return self._energies(t, x, r + part[..., np.newaxis] * changes)[0]

        whole = np.ones(t.shape)
        if (along(whole) != along(0.0 * whole)).any():
            work += derivative(along, whole).value @ _WEIGHTS
        return np.asarray(work)

    # ------------------------------------------------------------------ outlets
    animate = animate

    def plot(self, *names: Any) -> Any:
        """Plot coordinates, speeds and the energy error over time, or curves selected by names or patterns.

        Coordinates, each unit quaternion, speeds, inputs and outputs have separate panels.

        Parameters
        ----------
        *names : str or symbol
            Names of coordinates, speeds, inputs and outputs, and ``"energy"``, T + U; in a str ``*``, ``?`` and
            ``[...]`` match several, as in names of files: ``sol.plot("theta*", "F", "energy")``.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        KeyError
            A pattern selects nothing; the message lists all names.
        ValueError
            The run did not keep its steps (`dense_output` of `simulate`).
        ImportError
            matplotlib is not installed.
        """
        from kanecore.show.plots import plot_trajectory

        return plot_trajectory(self, names)

    @property
    def samples(self) -> Samples:
        """All data at the times of the result, for `save`."""
        values = {"r": lambda: self.r, "outputs": lambda: self.outputs, "energy": lambda: self.energy}
        return self._samples(self.t, self.x, values)

    def at(self, t: npt.ArrayLike) -> Samples:
        """The `Samples` at any times inside the run, (N,), from the interpolant of each step.

        Raises
        ------
        ValueError
            As for ``sol(t)``.
        """
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        if times.ndim != 1:
            raise ValueError(f"t has shape {times.shape}; it must be (N,), times in a row")
        states = self(times)
        inputs = self._inputs(times, states)
        values = {
            "r": lambda: inputs,
            "outputs": lambda: self._dyn.outputs(times, states, r=inputs, p=self._p),
            "energy": lambda: self._energies(times, states, inputs)[0],
        }
        return self._samples(times, states, values)

    def _samples(self, t: Array, x: Array, values: dict[str, Callable[[], Any]]) -> Samples:
        return Samples(self._dyn.name, names_of(self._dyn), t, x, {**values, "facts": self._facts})

    def _facts(self) -> dict[str, Any]:
        """Facts of the run, in numbers and words."""
        facts: dict[str, Any] = {"method": self._method}
        for what in (
            "n_steps",
            "n_rejected",
            "nfev",
            "success",
            "status",
            "message",
            "energy_drift",
            "constraint_drift",
        ):
            try:
                facts[what] = getattr(self, what)
            except (ValueError, KanecoreError):  # steps were not kept, or there are no energies
                continue
        if self.t_events is not None and self.y_events is not None:
            facts["t_events"] = [times.tolist() for times in self.t_events]
            facts["y_events"] = [states.tolist() for states in self.y_events]
        return facts

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write t, q, u, inputs, outputs, and modes and forces of contacts, as comma-separated values.

        The first line holds their names; every number reads back exactly.
        """
        self.samples.to_csv(path)

    def to_dataframe(self) -> Any:
        """The columns of `to_csv` as a ``pandas.DataFrame``, with the index t.

        Raises
        ------
        ModuleNotFoundError
            pandas is not installed.
        """
        return self.samples.to_dataframe()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all data at the times of the result to a file, in NumPy's format npz.

        The file has times, states, inputs, outputs, energies, names, events, and facts of the run, but no model and no
        pickled objects. ``sol.at(t).save(path)`` writes other times.  To keep interpolants and model as well, pickle
        the trajectory.
        """
        self.samples.save(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Samples:
        """The `Samples` that `save` wrote; they need no model.

        Raises
        ------
        ValueError, OSError
            As for `Samples.load`.
        """
        return Samples.load(path)
