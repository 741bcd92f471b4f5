# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the steps of a run: of the state at their ends by the state at their starts, p and r.

A step is taken again, stage by stage, with the derivative of each stage, for a constant length of the step.  So the
result is the derivative of the computed motion, and no separate approximation of the exact one.  All steps of a run are
known in advance, so that many are taken at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import normalise
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.signals import cubic_rates, cubic_values, piece
from kanecore.rank import extents

if TYPE_CHECKING:
    from kanecore._motion import Tableau
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Flow", "Scales", "StepSlopes", "along", "scales_of", "slopes_of_unit"]

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

# A central difference of order four.
_PLACES = np.array([-2.0, -1.0, 1.0, 2.0])

_OF_STEP = 1e-2  # share of a state's change in a mean step, over which the equations are nearly polynomials
_OF_NUMBER = 5e-6  # share of a coordinate, if less, and of a parameter, an input, or a speed: projections are nonlinear
_OF_DIGITS = 5e-7  # share of a coordinate: a smaller change leaves too few digits of the difference
_OF_ROUNDING = 1e-8  # _OF_DIGITS for an input that is large relative to its effect
_OF_LIGHT = 1e-3  # share of a coordinate's magnitude by mass: smaller terms of constraints are small by chance
_OF_STAGE = 1e-3  # share of the stage values of a linearly implicit method, which replace slopes


def along(f: Callable[[Array], Array], step: npt.ArrayLike) -> Array:
    """The derivatives of a function of τ, (4, ...) -> (4, ..., k), at τ = 0, by differences: (..., k)."""
    size = np.asarray(step, dtype=np.float64)
    values = f(_PLACES.reshape(-1, *(1 for _ in range(size.ndim))) * size)
    # differences first: constant values have the derivative 0, without rounding
    change = (values[0] - values[3]) + 8.0 * (values[2] - values[1])
    return np.asarray(change / (12.0 * size[..., np.newaxis]))


@dataclass(frozen=True)
class Scales:
    """Small changes of the numbers of a run, for differences."""

    t: float
    x: Array
    p: Array
    r: Array


def scales_of(problem: InitialValueProblem, steps: Array, states: Array) -> Scales:
    """Small changes: of coordinates relative to their change in a step, of others relative to values in the run."""
    start = problem.state(problem.t0, problem.x0)
    lengths = np.abs(np.diff(steps))
    h = float(np.mean(lengths[lengths > 0.0])) if (lengths > 0.0).any() else 1.0
    n_q = problem.dyn.n_q
    speeds = extents(np.max(np.abs(states[:, problem.dyn.names.speeds]), axis=0, initial=0.0), start.speed_units)
    units, pace = start.coordinate_units, _largest(speeds, start.speed_units)
    own = np.max(np.abs(states[:, :n_q]), axis=0, initial=0.0)
    still = extents(own, units)
    # at rest speeds are rounding, and give no small change: then use speeds that cover the coordinates in the run
    duration = abs(problem.t1 - problem.t0) or 1.0
    speeds = np.maximum(speeds, _largest(still, units) / duration * start.speed_units)
    still = np.clip(_reach(problem, steps, states), _OF_LIGHT * still, still)
    coordinates = _OF_NUMBER * still
    moved = (units > 0.0) & (pace > 0.0)  # an angle may be large, and so may a small share of it
    coordinates[moved] = np.clip(_OF_STEP * h * pace * units, _OF_DIGITS * still, coordinates)[moved]
    coordinates = np.maximum(coordinates, _OF_ROUNDING * own)
    first_order = _or_one(np.max(np.abs(states[:, problem.dyn.names.states]), axis=0, initial=0.0))
    inputs = np.max(np.abs(problem.inputs(steps, states)), axis=0, initial=0.0)
    return Scales(
        _OF_STEP * h,
        np.concatenate([coordinates, _OF_NUMBER * speeds, _OF_NUMBER * first_order]),
        _OF_NUMBER * _or_one(np.abs(problem.p)),
        _OF_NUMBER * _or_one(inputs),
    )


def _reach(problem: InitialValueProblem, steps: Array, states: Array) -> Array:
    """Changes of coordinates that change a configuration constraint by as much as its terms, in any units: (n_q,)."""
    result = np.full(problem.dyn.n_q, np.inf)
    if problem.dyn.n_configuration:
        for k in {0, len(steps) // 2, len(steps) - 1}:
            at = problem.state(float(steps[k]), states[k])
            slopes = np.abs(at.configuration_jacobian)
            terms = np.broadcast_to(at.term_sizes[: len(slopes), np.newaxis], slopes.shape)
            reach = np.divide(terms, slopes, out=np.full(slopes.shape, np.inf), where=(slopes > 0.0) & (terms > 0.0))
            result = np.minimum(result, np.min(reach, axis=0))
    return result


def _largest(values: Array, units: Array) -> float:
    return float(np.max(values / np.where(units > 0.0, units, np.inf), initial=0.0))


def _or_one(values: Array) -> Array:
    return np.where(values > 0.0, values, 1.0)


@dataclass(frozen=True)
class Flow:
    """ẋ and its derivatives at many times and states at once, with the parameters and the inputs of a run.

    Attributes
    ----------
    problem : InitialValueProblem
    scales : Scales
    by_p, by_r : bool
        Whether derivatives by the parameters, and by the inputs, are requested, as columns after those of x.
    """

    problem: InitialValueProblem
    scales: Scales
    by_p: bool
    by_r: bool

    @property
    def n(self) -> int:
        return self.problem.dyn.n_x

    @property
    def n_direct(self) -> int:
        """Number of columns after those of x."""
        dyn = self.problem.dyn
        return self.by_p * dyn.n_p + self.by_r * dyn.n_r

    def pieces(self, times: Array) -> Integers:
        """Index of the piece between knots of the inputs for each time: (N,)."""
        return piece(self.problem.inputs.knots, times)

    def inputs(self, pieces: Integers, t: Array) -> tuple[Array, Array]:
        """Inputs r and ṙ, each (N, n_r), at times; a time belongs to the given piece, and may be its end."""
        given = self.problem.inputs
        s, cubics = (t - given.knots[pieces])[:, np.newaxis], given.coefficients[pieces]
        return cubic_values(cubics, s), cubic_rates(cubics, s)

    def value(self, t: Array, x: Array, r: Array) -> Array:
        """ẋ: (N, n)."""
        return np.asarray(self.problem.dyn.rhs(t, x, r=r, p=self.problem.p))

    def slopes(self, t: Array, x: Array, r: Array) -> Array:
        """∂ẋ/∂(x, p, r): (..., N, n, n + n_direct)."""
        dyn, p = self.problem.dyn, self.problem.p
        of_states = np.asarray(dyn.kernels.linearize(t, x, r=r, p=p))
        columns = [of_states[..., : self.n]]
        if self.by_p and dyn.n_p:
            columns.append(np.asarray(dyn.rhs_parameter_jacobian(t, x, r=r, p=p)))
        if self.by_r:
            columns.append(of_states[..., self.n :])
        return np.concatenate(columns, axis=-1)

    def direct(self, slopes: Array, columns: Array) -> Array:
        """Derivative ∂f along columns of (x, p, r): given directions of x, unit directions of p and r."""
        n = self.n
        result = slopes[..., :n] @ columns
        result[..., n:] += slopes[..., n:]
        return np.asarray(result)

    # ------------------------------------------------------------------------------ the way back to constraints

    @property
    def returns(self) -> bool:
        """Test whether states are projected to unit spheres or constraints."""
        return len(self.problem.dyn.unit) > 0 or self._projects

    @property
    def _projects(self) -> bool:
        dyn = self.problem.dyn
        return self.problem.project and dyn.n_configuration + dyn.n_velocity > 0

    def returned(self, t: Array, x: Array, r: Array, p: Array) -> Array:
        """The states of least change on the unit spheres and the constraints, as the integrators find them."""
        dyn = self.problem.dyn
        x = _normalized(dyn, x)
        return _normalized(dyn, np.asarray(dyn.kernels.project(t, x, r=r, p=p))) if self._projects else x

    def slopes_of_return(self, t: Array, x: Array, r: Array) -> Array:
        """Derivative of `returned` by (x, p, r): (N, n, n + n_direct)."""
        unit = self.problem.dyn.unit
        result = np.zeros((len(x), self.n, self.n + self.n_direct))
        result[..., : self.n] = slopes_of_unit(unit, x)
        if self._projects:
            x = _normalized(self.problem.dyn, x)
            result = self.direct(self._slopes_of_projection(t, x, r), result)
            x = np.asarray(self.problem.dyn.kernels.project(t, x, r=r, p=self.problem.p))
            result = slopes_of_unit(unit, x) @ result
        return result

    def _slopes_of_projection(self, t: Array, x: Array, r: Array) -> Array:
        """Derivative of the projection by (x, p, r), by differences: (N, n, n + n_direct)."""
        dyn, n, p, scales = self.problem.dyn, self.n, self.problem.p, self.scales
        result = np.zeros((len(x), n, n + self.n_direct))

        def by(first: int, step: Array, projected: Callable[[Array], Any]) -> None:
            if len(step):
                derivative = along(projected, np.broadcast_to(step[:, np.newaxis], (len(step), len(x))))
                result[:, :, first : first + len(step)] = np.moveaxis(derivative, 0, -1)

        def directions(tau: Array) -> Array:  # (4, k, N) -> (4, k, N, k): along one number each
            return tau[..., np.newaxis] * np.eye(tau.shape[1])[:, np.newaxis]

        by(0, scales.x, lambda tau: dyn.kernels.project(t, x + directions(tau), r=r, p=p))
        if self.by_p:
            by(n, scales.p, lambda tau: dyn.kernels.project(t, x, r=r, p=p + directions(tau)))
        if self.by_r:
            by(result.shape[2] - dyn.n_r, scales.r, lambda tau: dyn.kernels.project(t, x, r=r + directions(tau), p=p))
        return result

    def rate_of_return(self, t: float, x: Array, r: Array, rdot: Array) -> Array:
        """Velocity of a state under `returned`, as constraints change with t and inputs: (n,)."""
        if not self._projects:
            return np.zeros(self.n)

        def returned(tau: Array) -> Array:
            return self.returned(t + tau, np.tile(x, (len(tau), 1)), r + tau[:, np.newaxis] * rdot, self.problem.p)

        return along(returned, self.scales.t)

    def brought_back(self, columns: Array, t: Array, x: Array, r: Array) -> Array:
        """Columns of (x, p, r) after the projection of x to the constraints."""
        return self.direct(self.slopes_of_return(t, x, r), columns) if self.returns else columns


def _normalized(dyn: Evaluator, x: Array) -> Array:
    x = x.copy()
    normalise(dyn, x)
    return x


def slopes_of_unit(unit: tuple[tuple[int, ...], ...], x: Array) -> Array:
    """Derivative of normalized states by states with quaternions of any norm, (..., n, n)."""
    result = np.zeros((*x.shape, x.shape[-1]), x.dtype)
    result[...] = np.eye(x.shape[-1])
    for quaternion in unit:
        places = list(quaternion)
        size = np.linalg.norm(x[..., places], axis=-1)[..., np.newaxis, np.newaxis]
        e = x[..., places, np.newaxis] / size
        result[..., np.array(places)[:, np.newaxis], places] = (np.eye(4) - e * np.swapaxes(e, -1, -2)) / size
    return result


class StepSlopes:
    """Steps of a method, taken again with their derivatives.

    Parameters
    ----------
    flow : Flow
    tableau : Tableau
        The method.
    t, h, x, end : ndarray, (N,), (N,), (N, n), (N, n)
        Starts and lengths of the steps, s, and the states at both ends.
    interpolate : bool
        Whether `between` will be called.

    Attributes
    ----------
    slopes : ndarray, (N, n, n + n_direct)
        Derivatives of the states at the ends, on the constraints, by the states at the starts, p and r.
    """

    def __init__(self, flow: Flow, tableau: Tableau, t: Array, h: Array, x: Array, end: Array, interpolate: bool):
        self._flow, self._tableau = flow, tableau
        self._begin, self._h, self._x, self._end = t, h, x, end
        self._pieces = flow.pieces(t + 0.5 * h)
        start = np.zeros((len(t), flow.n, flow.n + flow.n_direct))
        start[:, range(flow.n), range(flow.n)] = 1.0
        self._start = start
        # the stage values, which replace h k_j, and their slopes
        self._increments, self._increment_slopes = list[Array](), list[Array]()
        if tableau.implicit is not None:
            self._raw = self._on_unit_spheres(*self._implicit())
        elif tableau.a is None:
            self._raw = self._semi_implicit()
        else:
            last = tableau.extended if interpolate and tableau.adaptive else tableau.stages
            self._raw = self._explicit(last)
        after = t + h
        self.slopes = flow.brought_back(self._raw[1], after, self._raw[0], self._inputs(after)[0])
        if interpolate and not tableau.adaptive:  # interpolants use the slopes at both ends
            self._evaluate(after, end, self.slopes)

    def between(self, steps: Integers, times: Array) -> Array:
        """The slopes at times inside some of the steps: (len(times), n, n + n_direct)."""
        theta = (times - self._begin[steps]) / self._h[steps]
        weights = self._tableau.interpolant(np.ascontiguousarray(theta))
        missing = self._tableau.extended - len(self._increments)
        zero, none = np.zeros_like(self._x), np.zeros_like(self._start)
        values = [self._x, self._end, self._raw[0], *self._increments, *[zero] * missing]
        slopes = [self._start, self.slopes, self._raw[1], *self._increment_slopes, *[none] * missing]
        x = sum(w[:, np.newaxis] * v[steps] for w, v in zip(weights.T, values, strict=True))
        columns = sum(w[:, np.newaxis, np.newaxis] * s[steps] for w, s in zip(weights.T, slopes, strict=True))
        r = self._flow.inputs(self._pieces[steps], times)[0]
        return self._flow.brought_back(np.asarray(columns), times, np.asarray(x), r)

    def _inputs(self, t: Array) -> tuple[Array, Array]:
        return self._flow.inputs(self._pieces, t)

    def _evaluate(self, t: Array, x: Array, columns: Array) -> None:
        """Evaluate one more stage."""
        flow, r = self._flow, self._inputs(t)[0]
        self._increments.append(self._h[:, np.newaxis] * flow.value(t, x, r))
        slopes = flow.direct(flow.slopes(t, x, r), columns)
        self._increment_slopes.append(self._h[:, np.newaxis, np.newaxis] * slopes)

    def _advanced(self, weights: Array) -> tuple[Array, Array]:
        """The states x + Σ a_j K_j, and their slopes."""
        x, columns = self._x.copy(), self._start.copy()
        for weight, k, slopes in zip(weights, self._increments, self._increment_slopes, strict=False):
            if weight != 0.0:
                x += weight * k
                columns += weight * slopes
        return x, columns

    def _explicit(self, last: int) -> tuple[Array, Array]:
        """Differentiate by the tableau, to the end and, for the interpolant, to stage number ``last``."""
        tableau = self._tableau
        a, c = tableau.a, tableau.c
        assert a is not None
        assert c is not None
        for i in range(tableau.stages):
            self._evaluate(self._begin + c[i] * self._h, *self._advanced(a[i]))
        raw = self._advanced(a[tableau.stages])
        if tableau.adaptive:
            raw = self._on_unit_spheres(*raw)
        for i in range(tableau.stages, last):
            self._evaluate(self._begin + c[i] * self._h, *(raw if i == tableau.stages else self._advanced(a[i])))
        return raw

    def _on_unit_spheres(self, x: Array, columns: Array) -> tuple[Array, Array]:
        """End of a step with normalized unit quaternions, as adaptive methods do first."""
        dyn = self._flow.problem.dyn
        return (_normalized(dyn, x), slopes_of_unit(dyn.unit, x) @ columns) if dyn.unit else (x, columns)

    def _semi_implicit(self) -> tuple[Array, Array]:
        """Differentiate Euler's method that advances the speeds first, and the coordinates by the new speeds."""
        n_q = self._flow.problem.dyn.n_q
        self._evaluate(self._begin, self._x, self._start)
        x, columns = self._x.copy(), self._start.copy()
        x[:, n_q:] += self._increments[0][:, n_q:]
        columns[:, n_q:] += self._increment_slopes[0][:, n_q:]
        self._evaluate(self._begin, x, columns)  # for the rates of the coordinates
        x[:, :n_q] += self._increments.pop()[:, :n_q]
        columns[:, :n_q] += self._increment_slopes.pop()[:, :n_q]
        return x, columns

    def _implicit(self) -> tuple[Array, Array]:
        """Differentiate the method of kc_rosenbrock.h, with its matrix J and ∂f/∂t; the method is linear in these."""
        flow, t, h = self._flow, self._begin, self._h[:, np.newaxis]
        implicit = self._tableau.implicit
        assert implicit is not None
        a, c, alpha, gamma, m = implicit
        n, length = flow.n, self._h[:, np.newaxis, np.newaxis]
        r, rdot = self._inputs(t)
        jacobian = flow.slopes(t, self._x, r)
        dyn, p = flow.problem.dyn, flow.problem.p
        rate = np.asarray(dyn.rhs_time_derivative(t, self._x, r=r, p=p))
        if rdot.any():
            by_inputs = np.asarray(dyn.kernels.linearize(t, self._x, r=r, p=p))[..., n:]
            rate = rate + (by_inputs @ rdot[..., np.newaxis])[..., 0]
        matrix = np.eye(n) / (length * gamma[0]) - jacobian[..., :n]
        increments, slopes = list[Array](), list[Array]()
        for i in range(len(m)):
            x, columns = self._x.copy(), self._start.copy()
            for j in range(i):
                x += a[i, j] * increments[j]
                columns += a[i, j] * slopes[j]
            at = t + alpha[i] * self._h
            r_at = self._inputs(at)[0]
            right = flow.value(at, x, r_at) + h * gamma[i] * rate
            turned = flow.direct(flow.slopes(at, x, r_at), columns)
            for j in range(i):
                right += c[i, j] / h * increments[j]
                turned += c[i, j] / length * slopes[j]
            increments.append(np.linalg.solve(matrix, right[..., np.newaxis])[..., 0])
            # ∂(J u + h γ ∂f/∂t) is the derivative of all slopes of f along (h γ, u, h γ ṙ)
            turned += self._curvature(h * gamma[i], increments[i], rdot)
            slopes.append(np.linalg.solve(matrix, turned))
        self._increments, self._increment_slopes = (
            [np.zeros_like(self._x), *increments],
            [np.zeros_like(self._start), *slopes],
        )
        return (
            self._x + sum(m[j] * increments[j] for j in range(len(m))),
            self._start + sum(m[j] * slopes[j] for j in range(len(m))),
        )

    def _curvature(self, time: Array, u: Array, rdot: Array) -> Array:
        """The derivative of ∂ẋ/∂(x, p, r) at the starts along (time, u, time ṙ): (N, n, n + n_direct)."""
        r = self._inputs(self._begin)[0]

        def slopes(tau: Array) -> Array:
            share = tau[:, np.newaxis, np.newaxis]
            moved = self._flow.slopes(
                self._begin + (share * time)[..., 0], self._x + share * u, r + share * time * rdot
            )
            return moved.reshape(len(tau), -1)

        return along(slopes, _OF_STAGE).reshape(self._start.shape)
