# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method for equilibria and steady motions, on the constraints.

The unknowns v are the errors of a state and the free inputs.  N is a basis of the motions that the linearized
constraints allow.  A step v = N w has least norm, in the metric of the masses, and solves J N w = −F or leaves the
smallest residual.  It is damped after Levenberg and Marquardt, or shortened, if the whole step does not reduce F.  Each
step ends on the constraints.

A search may use forces in place of u̇ in F, see `force_rows`; the final test uses u̇. Forces M u̇ are simpler functions
of a state than u̇: in a hanging chain each force depends on its own angle, and each u̇ on all angles.  With constraints
on speeds that move no mass M is singular.  Then Gᵀ G u̇ is added, with rows of equal size: it vanishes with u̇, and M +
Gᵀ G is regular if u̇ is determined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_state import ConstraintState
from kanecore.constraints.constraint_values import normalise
from kanecore.control.error_states import ErrorStates
from kanecore.control.minimal_states import constraint_slopes, error_units
from kanecore.control.modes import balance
from kanecore.errors import NonFiniteError, SingularError
from kanecore.rank import clear, connected, equilibrated, null_space, size_of
from kanecore.run.last_digits import nudged
from kanecore.tolerances import EPSILON, NOISE, RANK, REACHED, SOLVED

__all__ = ["ACCURACY", "Balance", "Iterate", "changes", "feasible", "rate_slopes", "weights"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

ACCURACY = 1e-11
"""Accuracy of `changes`, which are differences of order four, relative to the largest along any direction."""

_LITTLE = 1e-6  # in the metric of the masses
_STEP = 1e-3  # step, relative to a coordinate's magnitude; the error of differences of M vanishes with u̇
_PLACES, _WEIGHTS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1 / 12, -2 / 3, 2 / 3, -1 / 12])


def weights(state: ConstraintState, speeds: Numbers) -> Array:
    """Matrix that turns the u̇ of some speeds into forces: (n, n)."""
    rows = equilibrated(state.rows, state.speed_units) / state.speed_units
    return np.asarray(state.mass + _LITTLE * rows.T @ rows)[np.ix_(speeds, speeds)]


def changes(state: ConstraintState, speeds: Numbers, udot: Array, directions: Array, sizes: Array) -> Array:
    """Changes of these forces at constant u̇ along directions (n_x, n_directions) of q: (n, n_directions).

    ``sizes`` (n_directions,) are large steps along the directions, one radian for angles.  Zeros if M is not defined
    around the state.
    """
    dyn, steps, held = state.dyn, _STEP * sizes, np.zeros(state.dyn.n_u)
    held[speeds] = udot
    moved = np.multiply.outer(_PLACES, steps[:, np.newaxis] * directions.T)
    try:
        masses = dyn.mass_matrix(state.t, state.x + moved, **state.values)
    except NonFiniteError:
        return np.zeros((len(speeds), len(steps)))
    return np.asarray(np.einsum("i,ijk->kj", _WEIGHTS, masses @ held)[speeds] / steps)


_ITERATIONS = 50
_KNOWN = 1e-6  # largest growth of terms from the start: rounding of larger terms hides the residual
_STUCK = 1e-3  # ratio of residuals: a step with a larger ratio makes no progress
_DAMPING = (0.0, *(10.0**k for k in range(-3, 12)))  # damping of steps, relative to the largest singular value squared
_GOOD = 0.9  # ratio of residuals: if a damped step has a larger one, parts of the whole step are tried as well
_PARTS = tuple(0.5**k for k in range(1, 15))
_SETTLED = 1e-4  # relative to the initial state: after a larger whole step the search goes on even if F is small


@dataclass(frozen=True)
class Balance:
    """Conditions of an equilibrium: zero rates, fixed values, inputs that may change.

    Attributes
    ----------
    rates : ndarray of int
        The errors with zero rates.
    held : ndarray of int
        Places in x of coordinates and speeds with given values.
    values : ndarray
        These values.
    inputs : ndarray of int
        Inputs that may change.
    radians : ndarray, (n_x,)
        Change of each coordinate that is one radian; 0 for coordinates that are no angles, and for speeds.
    by_forces : bool
        Whether steps solve for forces in place of u̇.
    together : ndarray of bool, (n_errors + n_inputs, n_errors + n_inputs)
        Which unknowns are connected by rates: only connected unknowns are compared in size.
    """

    rates: Numbers
    held: Numbers
    values: Array
    inputs: Numbers
    radians: Array
    by_forces: bool = False
    together: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    def solve(self, start: ConstraintState) -> tuple[Iterate, Iterate]:
        """Take steps that reduce F, from a state on the constraints; return first and last iterate."""
        first = iterate = Iterate(replace(self, together=_together(start, self.inputs)), start)
        for _ in range(_ITERATIONS):
            scale = iterate.scale
            size = iterate.norm(scale)
            following = _step(iterate, scale, size) if iterate.miss > EPSILON**2 else None
            if following is None:  # rounding, or no progress
                break
            left = following.norm(scale) / size
            if iterate.miss <= SOLVED and left > 0.5:  # rounding errors have no direction
                break
            iterate = following
            if left > 1.0 - _STUCK:
                break
        return first, iterate


class Iterate:
    """State on the constraints with the residual F there, and J = ∂F/∂v in columns of equal units."""

    def __init__(self, sought: Balance, state: ConstraintState, first: Iterate | None = None) -> None:
        self.sought, self.state, self._first = sought, state, first or self
        self.errors = ErrorStates(state.dyn)
        self.columns = self.errors.columns(state.x)

    @cached_property
    def rates(self) -> Array:
        """Rates that must vanish."""
        state = self.state
        rates = self.errors.rows(state.x) @ state.dyn.rhs(state.t, state.x, **state.values)
        return np.asarray(rates[self.sought.rates])

    @cached_property
    def residual(self) -> Array:
        """Rates, then the deviations of fixed coordinates and speeds from their values."""
        return np.concatenate([self.rates, self.state.x[self.sought.held] - self.sought.values])

    @cached_property
    def slopes(self) -> Array:
        """J."""
        return clear(self._as_computed, self._as_computed / self._row_units[:, np.newaxis])

    @cached_property
    def _as_computed(self) -> Array:
        """J with its rounding errors."""
        held = self.columns[self.sought.held]
        held = np.hstack([held, np.zeros((len(held), len(self.sought.inputs)))])
        return np.asarray(np.vstack([self._rate_slopes[self.sought.rates], held]) * self.unknown_units)

    @cached_property
    def sides(self) -> Array:
        """F, or F with forces in place of u̇; steps solve for its zero."""
        if not self.sought.by_forces:
            return self.residual
        forces, rows = self.residual.copy(), self._kinds[1]
        forces[rows] = self._inertia @ forces[rows]
        return forces

    @cached_property
    def _inertia(self) -> Array:
        return weights(self.state, self._speeds)

    @property
    def _speeds(self) -> Numbers:
        """Speeds with zero rates."""
        return np.asarray(self.sought.rates[self._kinds[1]] - self.errors.n_coordinates)

    @cached_property
    def force_slopes(self) -> Array:
        """The slopes of `sides`, in columns of equal units."""
        if not self.sought.by_forces:
            return self.slopes
        n_q, rows, slopes = self.errors.n_coordinates, self._kinds[1], self.slopes.copy()
        directions = self.columns[:, :n_q]
        sizes = np.where(self.sizes > 0.0, self.sizes, self.unknown_units[: len(self.sizes)])[:n_q]
        turned = np.max(np.abs(directions) * self.sought.radians[:, np.newaxis], axis=0, initial=0.0)
        sizes = np.where(turned > 0.0, turned, sizes)
        moved = changes(self.state, self._speeds, self.residual[rows], directions, sizes)
        moved *= self.unknown_units[:n_q]
        changed = self._inertia @ slopes[rows]
        changed[:, :n_q] += moved
        unknown = ACCURACY * np.max(np.abs(moved), axis=1, initial=0.0, keepdims=True)
        slopes[rows] = np.where(np.abs(changed) > unknown, changed, 0.0)
        return clear(slopes, slopes / self._force_units[:, np.newaxis])

    @property
    def _force_units(self) -> Array:
        """Units of `sides`."""
        units = self._row_units
        if self.sought.by_forces:
            units[self._kinds[1]] /= self.state.speed_units[self._speeds] ** 2
        return units

    @cached_property
    def scale(self) -> Array:
        """Scale of each of `sides`: its largest slope, or its unit if all slopes are zero."""
        largest = np.max(np.abs(self.force_slopes), axis=1, initial=0.0)
        return np.where(largest > 0.0, largest, self._force_units)

    @property
    def _row_units(self) -> Array:
        """Units of the equations, from units of the unknowns and their largest rate of mutual change."""
        units = self.unknown_units[: len(self.errors.names)]
        rates = units[self.sought.rates] * (self._fastest if self._fastest > 0.0 else 1.0)
        return np.concatenate([rates, size_of(self.columns[self.sought.held] * units)])

    @cached_property
    def _fastest(self) -> float:
        """The largest rate, in 1/s, at which a unit of an unknown changes an error."""
        units = self.unknown_units[: len(self.errors.names)]
        return float(np.max(np.abs(self._rate_slopes * self.unknown_units) / units[:, np.newaxis], initial=0.0))

    @property
    def _kinds(self) -> tuple[Numbers, ...]:
        """Equations by kind: rates of coordinates, rates of speeds, the rate of each state, and fixed values."""
        rates = self.sought.rates
        of_coordinates, of_states = rates < self.errors.n_coordinates, rates >= self.errors.end_of_speeds
        held = len(rates) + np.arange(len(self.sought.held))
        of_each = (np.array([i]) for i in np.flatnonzero(of_states))
        return np.flatnonzero(of_coordinates), np.flatnonzero(~of_coordinates & ~of_states), *of_each, held

    @cached_property
    def unknown_units(self) -> Array:
        """Units of errors, in the metric of the masses and the motion's time, and of inputs with as much effect."""
        n = len(self.errors.names)
        own = error_units(self.state, self.errors)
        units = balance(self._rate_slopes[:, :n], own, self.errors.n_coordinates, self.state.dyn.n_z)
        slopes = np.abs(self._rate_slopes) / units[:, np.newaxis]
        of_errors = np.max(slopes[:, :n] * units, initial=0.0)
        of_inputs = np.max(slopes[:, n:], axis=0, initial=0.0)
        known = (of_inputs > 0.0) & (of_errors > 0.0)
        return np.concatenate([units, np.where(known, of_errors / np.where(known, of_inputs, 1.0), 1.0)])

    @cached_property
    def allowed(self) -> Array:
        """Basis N, in units, of the motions that the linearized constraints leave free."""
        slopes, n_x = constraint_slopes(self.state), self.state.dyn.n_x
        rows = np.hstack([slopes[:, :n_x] @ self.columns, slopes[:, n_x + self.sought.inputs]])
        return null_space(rows, self.unknown_units) if len(rows) else np.eye(len(self.unknown_units))

    @property
    def misses(self) -> Array:
        """Residual |F| relative to the magnitude of its terms."""
        terms, size = self._terms(self.sizes), np.abs(self.residual)
        return np.asarray(np.divide(size, terms, out=np.where(size > 0.0, np.inf, 0.0), where=terms > 0.0))

    def _terms(self, sizes: Array) -> Array:
        """Magnitude of the terms of F, for errors of the given sizes."""
        terms = np.abs(self._as_computed) @ self._extents(sizes)
        terms[: len(self.sought.rates)] += self._rounded
        return np.asarray(terms)

    @cached_property
    def _rounded(self) -> Array:
        """Magnitude of the terms of rates, from the changes of rates if all numbers change by `NOISE`.

        The terms count with the factor `REACHED` / `SOLVED`: a smaller rate is rounding, and not a sum that nearly
        vanishes.
        """
        state = self.state
        rng = np.random.default_rng(0)
        t, x, r, p = (nudged(a, rng) for a in (state.t, state.x, state.r, state.p))
        rates = np.asarray(state.dyn.rhs(t, x, r=r, p=p)) @ self.errors.rows(state.x)[self.sought.rates].T
        return np.asarray(REACHED / SOLVED / NOISE * np.max(np.abs(rates[1:] - rates[:1]), axis=0))

    def _extents(self, sizes: Array) -> Array:
        """Reference magnitude of each unknown, in its unit, for errors of the given sizes."""
        n = len(self.errors.names)
        of_errors, of_inputs = np.split(self.unknown_units, [n])
        errors = sizes / of_errors
        beside = np.max(np.where(self.sought.together[n:, :n], errors, 0.0), axis=1, initial=0.0)
        return np.concatenate([errors, np.abs(np.asarray(self.state.r)[self.sought.inputs]) / of_inputs + beside])

    def unbalanced(self, first: Iterate) -> npt.NDArray[np.bool_]:
        """Mask of the nonzero entries of F, after steps from the first state."""
        return ~((self.misses <= SOLVED) & ~self._small_only_here(first) | self._vanished(first))

    def _small_only_here(self, first: Iterate) -> npt.NDArray[np.bool_]:
        """Mask of entries of F that are small only relative to grown terms: far away, or near a pole."""
        before, rounding = first._terms(first.sizes), REACHED * self._terms(self.sizes)
        rounding[: len(self.sought.rates)] += SOLVED * self._rounded
        small = SOLVED * np.minimum(before, self._terms(np.minimum(self.sizes, first.sizes)))
        # terms may vanish at first by symmetry: then terms of other equations give their size
        largest = first._row_units * np.max(np.maximum(before, np.abs(first.residual)) / first._row_units, initial=0.0)
        return np.asarray(np.abs(self.residual) > np.maximum(small, np.minimum(rounding, _KNOWN * largest)))

    def _vanished(self, first: Iterate) -> npt.NDArray[np.bool_]:
        """Mask of entries of F that are rounding relative to their first terms, even if a next step would reduce them.

        At a zero of higher order, as of x³, the terms vanish together with F.  Far away they do so as well, but there
        the step is large relative to the first state.
        """
        size, step = np.abs(self.residual), self.step(0.0)
        change = np.abs(step) * self.unknown_units / first.unknown_units
        settled = (change <= _SETTLED * first._extents(first.sizes)).all()
        lessened = np.abs(self.residual - self.slopes @ step) <= size / 2
        return np.asarray(settled & lessened & (size <= REACHED * first._terms(first.sizes)))

    def moving(self, first: Iterate) -> Iterator[tuple[int, float]]:
        """Places in x and rates of the entries that change, relative to the magnitudes at the first state."""
        state, asked, n = self.state, set(self.sought.rates.tolist()), len(self.errors.names)
        xdot = np.asarray(state.dyn.rhs(state.t, state.x, **state.values))
        large = np.abs(self.columns) @ (np.abs(first._rate_slopes[:, :n]) @ first.sizes)
        for place in np.flatnonzero(np.abs(xdot) > SOLVED * large):
            if not asked.issuperset(self.errors.of_places([int(place)]).tolist()):
                yield int(place), float(xdot[place])

    @cached_property
    def sizes(self) -> Array:
        """Reference magnitude of each error, in its unit: its own value plus the largest of the errors coupled with it.

        Speeds count like coordinates, in one unit of time, and a state counts alone.  An angle counts at least as one
        radian.  If all are zero, the search's first step gives their size.
        """
        x = np.maximum(np.abs(self.state.x), self.sought.radians)
        units, values = self.unknown_units[: len(self.errors.names)], self.errors.values(x)
        beside = self._largest(values / units)
        if not beside.all():
            beside = np.where(beside > 0.0, beside, self._largest(self._first._reach / units))
        return np.asarray(values + beside * units)

    @cached_property
    def _reach(self) -> Array:
        """Change of each error in the step of least norm that solves for u̇, (n_errors,)."""
        rows = size_of(self.slopes)
        step = np.linalg.lstsq(self.slopes @ self.allowed / rows[:, np.newaxis], self.residual / rows, rcond=RANK)[0]
        return np.asarray(np.abs(self.unknown_units * (self.allowed @ step))[: len(self.errors.names)])

    def _largest(self, values: Array) -> Array:
        """For each error the largest value among the errors that are coupled with it and have comparable size."""
        n_q, end = self.errors.n_coordinates, self.errors.end_of_speeds
        counts = self.sought.together[: len(values), : len(values)].copy()
        counts[:n_q, n_q:] = counts[:, end:] = counts[end:] = False
        counts[range(len(values)), range(len(values))] = True
        return np.asarray(np.max(np.where(counts, values, 0.0), axis=1, initial=0.0))

    @cached_property
    def miss(self) -> float:
        """The largest relative residual."""
        return float(np.max(self.misses, initial=0.0))

    def norm(self, scale: Array) -> float:
        return float(np.linalg.norm(self.sides / scale))

    def moved(self, change: Array) -> Iterate | None:
        """The iterate after a change of errors and inputs; None if rates are undefined, or constraints violated."""
        state, n = self.state, len(self.errors.names)
        r = np.array(state.r)
        r[self.sought.inputs] += change[n:]
        try:
            following = Iterate(self.sought, feasible(state, state.x + self.columns @ change[:n], r), self._first)
            return following if np.isfinite(following.residual).all() else None
        except (NonFiniteError, SingularError):
            return None

    def step(self, damping: float) -> Array:
        """The step of least norm, damped after Levenberg and Marquardt, in units; it is to be subtracted."""
        of_unknowns, s, along = self._decomposed
        largest = np.max(s, initial=0.0)
        inverse = np.divide(s, s**2 + damping * largest**2, out=np.zeros_like(s), where=s > RANK * largest)
        step = self.allowed @ (of_unknowns @ (inverse * along))
        step[np.abs(step) <= NOISE * np.max(np.abs(step), initial=0.0)] = 0.0  # rounding of errors that need not change
        return np.asarray(step)

    @cached_property
    def _decomposed(self) -> tuple[Array, Array, Array]:
        """Decomposition of J N in rows of equal size: right vectors (columns), singular values, F along left ones."""
        slopes = self.force_slopes @ self.allowed / self.scale[:, np.newaxis]
        of_rows, s, of_columns = np.linalg.svd(slopes, full_matrices=False)
        return of_columns.T, s, of_rows.T @ (self.sides / self.scale)

    @cached_property
    def _rate_slopes(self) -> Array:
        return rate_slopes(self.state, self.sought.inputs)


def _together(start: ConstraintState, inputs: Numbers) -> npt.NDArray[np.bool_]:
    """Test of each pair of errors and inputs: rates connect them at a state nearby, directly or not."""
    n = len(ErrorStates(start.dyn).names)
    links = np.zeros((n + len(inputs), n + len(inputs)), dtype=bool)
    for x in (start.x, *start.nearby.x):
        with suppress(SingularError, FloatingPointError):
            links[:n] |= rate_slopes(start.moved(x), inputs) != 0.0
    return connected(links)


def _step(iterate: Iterate, scale: Array, size: float) -> Iterate | None:
    """The end of a step that reduces the residual; None if none does."""
    damped = _first(iterate, (iterate.step(damping) for damping in _DAMPING), scale, size)
    if damped is not None and damped.norm(scale) < _GOOD * size:
        return damped
    parts = _first(iterate, (part * iterate.step(0.0) for part in _PARTS), scale, size)
    found = [end for end in (damped, parts) if end is not None]
    return min(found, key=lambda end: end.norm(scale), default=None)


def _first(iterate: Iterate, steps: Iterable[Array], scale: Array, size: float) -> Iterate | None:
    """The end of the first of some steps that reduces the residual."""
    for step in steps:
        trial = iterate.moved(-iterate.unknown_units * step)
        if trial is not None and trial.norm(scale) < size:
            return trial
    return None


def feasible(state: ConstraintState, x: Array, r: Array) -> ConstraintState:
    """The state on the constraints nearest to another state; SingularError if there is none, or rates are undefined."""
    x = x.copy()
    normalise(state.dyn, x)
    near = ConstraintState(state.dyn, state.t, x, r, state.p)
    if not (state.dyn.n_constraints or state.dyn.n_configuration):
        return near
    if not near.projected.satisfied(SOLVED):
        raise SingularError("the constraints are not satisfied", t=state.t, x=x)
    return near.projected


def rate_slopes(state: ConstraintState, inputs: Numbers) -> Array:
    """Derivatives of the errors' rates by errors and some inputs; the rate of an attitude is the angular velocity."""
    dyn, errors = state.dyn, ErrorStates(state.dyn)
    slopes = np.asarray(dyn.kernels.linearize(state.t, state.x, **state.values))
    rows, columns = errors.rows(state.x), errors.columns(state.x)
    turning = errors.turning(np.asarray(dyn.rhs(state.t, state.x, **state.values)))
    # in 2 vec(q* ⊗ q̇) both q and q̇ change
    of_errors = (rows @ slopes[:, : dyn.n_x] - turning) @ columns
    return np.hstack([of_errors, rows @ slopes[:, dyn.n_x + inputs]])
