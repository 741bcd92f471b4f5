# SPDX-License-Identifier: BSD-3-Clause
"""Model-predictive control by real-time iterations: one step of Gauss and Newton a sample, condensed to the inputs.

The cost ½ Σ (|x_k − x̄_k|²_Q + |r_k − r̄|²_R) + ½ |x_N − x̄_N|² of a horizon is expanded about the plan of the sample
before, shifted in time.  `discretize` gives the steps of all nodes with their derivatives at once.  Changes of states
follow from those of inputs, so a quadratic program with bounds on the inputs is left, which PIQP solves (Diehl, Bock &
Schlöder, *SIAM Journal on Control and Optimization* 43, 2005; Schwan, Jiang, Kuhn & Jones, CDC 2023).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.given_values import finite_number
from kanecore.errors import KanecoreError
from kanecore.motion.derivatives.discretization import discretize
from kanecore.motion.rollout import rollout
from kanecore.motion.simulation_options import positive_count
from kanecore.optimal.recordings import bounds as bounds_of
from kanecore.run.call_arguments import real_array, state_vector

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["PredictiveController"]

Array = npt.NDArray[np.float64]


def _weights(dyn: Evaluator, argument: str, kind: str, value: Any) -> Array:
    """Symmetric matrix of weights, of a mapping, a diagonal or a matrix."""
    n = len(dyn.names.of(kind))
    if hasattr(value, "keys"):
        diagonal = np.zeros(n)
        for i, weight in dyn.names.by_number(kind, value, argument).items():
            diagonal[i] = finite_number(f"{argument}[{dyn.names.of(kind)[i]!r}]", weight)
        value = diagonal
    array = real_array(argument, value, (n,), (n, n), meaning=f"weights of {kind}s")
    matrix = np.diag(array) if array.ndim == 1 else array
    if (
        not np.array_equal(matrix, matrix.T)
        or np.linalg.eigvalsh(matrix).min(initial=0.0) < -1e-9 * np.abs(matrix).max()
    ):
        raise ValueError(f"{argument} must be symmetric, and its weights not negative")
    return matrix


class PredictiveController:
    """Controller that `CompiledModel.mpc` returns; ``controller(t, x)`` are the inputs to hold from t on, (n_r,).

    Attributes
    ----------
    x, r : ndarray, (horizon + 1, n_x), (horizon, n_r)
        The plan after the last call: states, of which the first is the measured one, and inputs.
    seconds : dict of str to float
        Of the last call: "model" (steps and derivatives), "condensing", "solver", and "all".
    """

    def __init__(
        self,
        dyn: Evaluator,
        dt: float,
        horizon: int,
        weights: tuple[Any, Any, Any],
        goal: Any,
        bounds: Mapping[Any, Any],
        inputs: Any,
        parameters: Any,
    ) -> None:
        try:
            import piqp
        except ImportError as error:
            raise ImportError("dyn.mpc needs the package piqp: pip install piqp") from error
        self._dyn, self._parameters, self._solver, self._is_set_up = dyn, parameters, piqp.DenseSolver(), False
        self.dt, self.horizon = finite_number("dt", dt), positive_count("horizon", horizon)
        if self.dt <= 0.0:
            raise ValueError(f"dt is {dt!r}; it must be positive")
        Q, R, final = weights
        named = R.keys() if hasattr(R, "keys") else dyn.input_names
        self._moved = moved = [dyn.names.index("input", name) for name in named]
        at_states, self._at_inputs = (
            _weights(dyn, "Q", "state", Q),
            _weights(dyn, "R", "input", R)[np.ix_(moved, moved)],
        )
        if np.linalg.eigvalsh(self._at_inputs).min(initial=math.inf if moved else 0.0) <= 0.0:
            raise ValueError("R must be positive definite, and name an input: each one that is controlled has a weight")
        at_end = at_states if final is None else _weights(dyn, "final", "state", final)
        self._weights = np.stack([at_states] * (self.horizon - 1) + [at_end])
        self._of_inputs = np.kron(np.eye(self.horizon), self._at_inputs)
        ranges = np.tile([[-math.inf], [math.inf]], dyn.n_r)
        for i, value in dyn.names.by_number("input", bounds, "bounds").items():
            if i not in moved:
                raise ValueError(f"bounds holds {dyn.input_names[i]!r}, which is not controlled: R does not name it")
            ranges[:, i] = bounds_of(f"bounds[{dyn.input_names[i]!r}]", value)
        self._low, self._high = (np.tile(bound, self.horizon) for bound in ranges[:, moved])
        self._goal = goal if callable(goal) else state_vector(dyn, goal, "goal")
        self._rest = np.array(dyn.names.resolved("input", {} if inputs is None else inputs))
        self._constrained = bool(dyn.n_constraints or dyn.n_configuration or dyn.unit)
        self.seconds: dict[str, float] = {}
        self.restart()

    def __repr__(self) -> str:
        return f"<PredictiveController of {self._dyn.name!r}: {self.horizon} samples of {self.dt:g} s>"

    def restart(self) -> None:
        """Forget the plan: the next call begins with the inputs that cost nothing."""
        self.r = np.tile(self._rest, (self.horizon, 1))
        self.x = np.empty((0, self._dyn.n_x))
        self._time = math.nan

    def __call__(self, t: float, x: npt.ArrayLike) -> Array:
        clock = [time.perf_counter()]
        dyn, n = self._dyn, self.horizon
        now = state_vector(dyn, x)
        self._shift(float(t), now)
        plan, r, moved, m = self.x, self.r, self._moved, len(self._moved)
        after, a, b = discretize(dyn, plan[:-1], r, self.dt, t=self._time, p=self._parameters)
        clock.append(time.perf_counter())
        slopes, gaps = np.zeros((n, dyn.n_x, n * m)), np.empty((n, dyn.n_x))
        row, gap = np.zeros((dyn.n_x, n * m)), now - plan[0]
        for k in range(n):
            row[:, : k * m] = a[k] @ row[:, : k * m]
            row[:, k * m : (k + 1) * m] = b[k][:, moved]
            gap = a[k] @ gap + after[k] - plan[k + 1]
            slopes[k], gaps[k] = row, gap
        weighed = (self._weights @ slopes).reshape(n * dyn.n_x, n * m)
        hessian = weighed.T @ slopes.reshape(n * dyn.n_x, n * m) + self._of_inputs
        gradient = (gaps + plan[1:] - self._goals(plan)).ravel() @ weighed
        gradient += ((r - self._rest)[:, moved] @ self._at_inputs).ravel()
        clock.append(time.perf_counter())
        change = self._solved(hessian, gradient, r[:, moved].ravel())
        clock.append(time.perf_counter())
        r[:, moved] += change.reshape(n, m)
        self.x = np.vstack([now, plan[1:] + gaps + slopes @ change])
        parts = ("model", "condensing", "solver")
        self.seconds = {part: clock[i + 1] - clock[i] for i, part in enumerate(parts)}
        self.seconds["all"] = clock[-1] - clock[0]
        return np.array(r[0])

    def _shift(self, t: float, now: Array) -> None:
        """Bring the plan to the time of this sample; constraints ask for states that inputs lead to."""
        passed = 0 if math.isnan(self._time) else round((t - self._time) / self.dt)
        if not 0 <= passed < self.horizon:
            self.restart()
            passed = 0
        self._time = t
        self.r = np.vstack([self.r[passed:], *[self.r[-1:]] * passed])
        if self._constrained:
            self.x = rollout(self._dyn, now, self.r, dt=self.dt, t0=t, parameters=self._parameters)
        elif not len(self.x):
            self.x = np.tile(now, (self.horizon + 1, 1))
        else:
            self.x = np.vstack([self.x[passed:], *[self.x[-1:]] * passed])

    def _goals(self, plan: Array) -> Array:
        """Goals at the nodes but the first, of unit quaternions those of the sign that is nearer."""
        n = (self.horizon, self._dyn.n_x)
        if callable(self._goal):
            times = self._time + self.dt * np.arange(1, self.horizon + 1)
            goals = real_array("goal(times)", self._goal(times), n)
        else:
            goals = np.broadcast_to(self._goal, n).copy()
        for places in map(list, self._dyn.unit):
            nearer = np.sum(goals[:, places] * plan[1:, places], axis=1, keepdims=True) >= 0.0
            goals[:, places] *= np.where(nearer, 1.0, -1.0)
        return goals

    def _solved(self, hessian: Array, gradient: Array, r: Array) -> Array:
        """Changes of the inputs, of the quadratic program with bounds."""
        matrix, low, high = np.asfortranarray(hessian), self._low - r, self._high - r
        if self._is_set_up:
            self._solver.update(P=matrix, c=gradient, x_l=low, x_u=high)
        else:
            self._solver.setup(matrix, gradient, x_l=low, x_u=high)
            self._is_set_up = True
        status = self._solver.solve()
        if status.name != "PIQP_SOLVED":
            raise KanecoreError(f"the quadratic program of this sample was not solved: PIQP ended with {status.name}")
        return np.asarray(self._solver.result.x)
