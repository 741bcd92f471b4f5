# SPDX-License-Identifier: BSD-3-Clause
"""Integrability of velocity constraints: whether they follow from constraints on coordinates, by Frobenius' theorem.

D(q, t) is the orthogonal projector onto the directions of (q, t) that the constraints allow, and a, b are any two of
these directions.  Then [D a, D b] = (∂D/∂a) b − (∂D/∂b) a must have no component outside of them, relative to the size
of its terms and the error of the differences.  Time is a variable like the coordinates.  Inputs are unknown functions
of time: the rate of an input is another input, or any number if there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_state import ConstraintState
from kanecore.constraints.constraint_values import Constraints, normalise
from kanecore.errors import SingularError
from kanecore.rank import equilibrated, extents, rank_of, size_of
from kanecore.tolerances import EQUAL, NOISE, RANK

__all__ = ["integrable"]

Array = npt.NDArray[np.float64]

_STEPS = (1e-4, 1e-6)  # steps of differences, by the coordinates' magnitudes; the shorter one is for fast changes
_NONHOLONOMIC = 1e-4  # least component outside of the allowed motions, relative to the terms of a Lie bracket
_TIMES = (0.0, 0.0, 0.02, 0.1, -0.3, 1.0, -2.0)  # times of the places, relative to the duration of the motion
_AWAY = 1e-1  # distance of the places from the state, by the coordinates' magnitudes


def integrable(state: ConstraintState) -> bool | None:
    """Test whether Lie brackets of allowed motions are allowed, at this state and around it.

    None if constraints are not linear in the speeds or depend on first-order states, if a speed is the rate of no
    coordinate, if the allowed directions have edges, or without constraints on velocities.  Rates of constraints on
    coordinates need no test.
    """
    dyn = state.dyn
    if not dyn.n_velocity:
        return None
    rng = np.random.default_rng(1)
    if not _is_linear(state, rng) or not _has_all_rates(state) or _follows_states(state):
        return None
    if set(dyn.constraint_names[: dyn.n_velocity]) <= set(dyn.configuration_names):
        return True
    scale = np.append(extents(state.q, state.coordinate_units), _duration(state))
    for place in _places(state, scale, rng):
        verdict = place.is_involutive()
        if verdict is not True:
            return verdict
    return True


def _is_linear(state: ConstraintState, rng: np.random.Generator) -> bool:
    """Test whether the rows are the same at rest and at other speeds."""
    m, units = state.dyn.n_velocity, state.speed_units
    x = state.x.copy()
    x[state.dyn.names.speeds] += rng.uniform(-1.0, 1.0, state.dyn.n_u) * extents(state.u, units)
    rest, fast = (at.rows[:m] * units for at in (state.at_rest, state.moved(x)))
    return not np.any(np.abs(rest - fast) > EQUAL * np.maximum(size_of(rest), size_of(fast))[:, np.newaxis])


def _follows_states(state: ConstraintState) -> bool:
    """Test whether the rows change with first-order states, which are no coordinates."""
    if not state.dyn.n_z:
        return False
    moved = state.x.copy()
    moved[state.dyn.names.states] += state.extents[state.dyn.names.states]
    m = state.dyn.n_velocity
    return bool((state.rows[:m] != state.moved(moved).rows[:m]).any())


def _has_all_rates(state: ConstraintState) -> bool:
    """Test whether all speeds follow from the rates of the coordinates."""
    units = state.coordinate_units
    slopes = state.rates[0][units > 0.0]
    return rank_of(slopes.T, 1.0 / units[units > 0.0]) >= state.dyn.n_u


def _duration(state: ConstraintState) -> float:
    """A long time for a motion: its coordinates divided by its speeds."""
    moved = state.coordinate_units > 0.0
    far = np.max(np.abs(state.q[moved]) / state.coordinate_units[moved], initial=0.0)
    fast = np.max(np.abs(state.u) / state.speed_units, initial=0.0)
    return float(far / fast if far > 0.0 and fast > 0.0 else abs(state.t) or 1.0)


def _places(state: ConstraintState, scale: Array, rng: np.random.Generator) -> Iterator[_Place]:
    """Places at and around the state, at other times and inputs, since a condition at one place is no constraint."""
    dyn = state.dyn
    inputs = np.asarray(dyn.names.resolved("input", {} if state.r is None else state.r))
    for trial, later in enumerate(_TIMES):
        t, r = state.t + scale[-1] * later, inputs
        if later:
            r = inputs + (1.0 + np.abs(inputs)) * rng.uniform(-1.0, 1.0, dyn.n_r)
        input_rates = _input_rates(state, r, rng)
        at_rest = state.at_rest
        if trial:
            x = state.x.copy()
            x[: dyn.n_q] += _AWAY * scale[: dyn.n_q] * rng.uniform(-1.0, 1.0, dyn.n_q)
            normalise(dyn, x)
            try:
                at_rest = ConstraintState(dyn, t, x, r, state.p).projected.at_rest
            except SingularError:
                continue
        yield _Place(at_rest, r, input_rates, scale, state.speed_units)


def _input_rates(state: ConstraintState, r: Array, rng: np.random.Generator) -> Array:
    """Rates of the inputs; random numbers if the rates are no inputs."""
    rates = np.array(state.dyn.input_rates, dtype=np.intp)
    any_rate = (1.0 + np.abs(r)) * rng.uniform(-1.0, 1.0, len(r))
    return np.where(rates >= 0, r[rates], any_rate) if len(r) else r


@dataclass(frozen=True)
class _Place:
    """A configuration at some time and inputs, the centre of differences.

    Attributes
    ----------
    at : ConstraintState
        The configuration, at rest.
    r, input_rates : ndarray, (n_r,)
        The inputs there, and their rates.
    scale : ndarray, (n_q + 1,)
        Units of coordinates and time.
    units : ndarray, (n_u,)
        Units of the speeds.
    """

    at: ConstraintState
    r: Array
    input_rates: Array
    scale: Array
    units: Array

    def is_involutive(self) -> bool | None:
        """Test whether the brackets stay within the allowed directions; None if these have edges."""
        rank = rank_of(self.at.velocity_slopes, self.units)
        basis, is_allowed = self._directions(self.at, rank)
        allowed = basis[:, is_allowed]
        outside = np.eye(len(allowed)) - allowed @ allowed.T
        for step in _STEPS:
            slopes = self._slopes(allowed, step, rank)
            if slopes is None:
                return None
            for i, a in enumerate(allowed.T):
                for j in range(i):
                    if _leaves(outside, slopes[i] @ allowed[:, j], slopes[j] @ a, NOISE / step):
                        return False
        return True

    def _slopes(self, allowed: Array, step: float, rank: int) -> Array | None:
        """∂D/∂a along each allowed direction, by differences with the step and with its half; None across an edge.

        Their distance is the error: (n, 2, n_q + 1, n_q + 1).
        """
        h = np.array([step, step / 2.0])
        ends = np.array([1.0, -1.0]) * h[:, np.newaxis]
        offsets = ends[..., np.newaxis] * self.scale * allowed.T[:, np.newaxis, np.newaxis]
        basis, is_allowed = self._directions(self._at_rest(np.append(self.at.q, self.at.t) + offsets), rank)
        n = allowed.shape[1]
        if (np.sum(is_allowed, axis=-1) != n).any():
            return None
        projectors = basis[..., :n] @ np.swapaxes(basis[..., :n], -1, -2)
        return np.asarray((projectors[:, :, 0] - projectors[:, :, 1]) / (2.0 * h)[:, np.newaxis, np.newaxis])

    def _at_rest(self, places: Array) -> Constraints:
        """State at rest at other (q, t), (..., n_q + 1), with the inputs of that time."""
        lead, at = places.shape[:-1], self.at
        z = np.broadcast_to(at.z, (*lead, at.dyn.n_z))
        x = np.concatenate([places[..., :-1], np.zeros((*lead, at.dyn.n_u)), z], axis=-1)
        t = places[..., -1]
        r = self.r + self.input_rates * (t - self.at.t)[..., np.newaxis]
        return Constraints(self.at.dyn, t, x, r, self.at.p)

    def _directions(self, at: Constraints, rank: int) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Orthonormal directions of (q, t), (..., n_q + 1, n), in units of the scale; mask of the allowed, (..., n)."""
        slopes, drift = at.rates
        free, forced = self._motions(at, rank)
        directions = np.zeros((*at.x.shape[:-1], at.dyn.n_q + 1, free.shape[-1] + 1))
        directions[..., :-1, :-1] = slopes @ free
        directions[..., :-1, -1] = np.einsum("...ij,...j->...i", slopes, forced) + drift
        directions[..., -1, -1] = 1.0
        directions /= self.scale[:, np.newaxis]
        directions /= size_of(np.swapaxes(directions, -1, -2))[..., np.newaxis, :]
        basis, s, _ = np.linalg.svd(directions, full_matrices=False)
        return basis, s > RANK * s[..., :1]

    def _motions(self, at: Constraints, rank: int) -> tuple[Array, Array]:
        """Directions of speeds that constraints leave free, (..., n_u, n); the least speeds that they force, (...,
        n_u).
        """
        of_rows, s, of_columns = np.linalg.svd(equilibrated(at.velocity_slopes, self.units))
        of_columns = np.swapaxes(of_columns, -1, -2)
        residual = at.velocity_residual / size_of(at.velocity_slopes * self.units)
        along = np.einsum("...ij,...i->...j", of_rows[..., :rank], residual) / s[..., :rank]
        free = self.units[:, np.newaxis] * of_columns[..., rank:]
        return free, -self.units * np.einsum("...ij,...j->...i", of_columns[..., :rank], along)


def _leaves(outside: Array, first: Array, second: Array, rounding: float) -> bool:
    """Test whether the bracket of two directions leaves the allowed ones, from terms with a step and with its half."""
    wide, narrow = (outside @ (first[k] - second[k]) for k in (0, 1))
    size = max(_largest(first[1]), _largest(second[1]))
    error = max(10.0 * _largest(wide - narrow), rounding)
    return _largest(narrow) > max(_NONHOLONOMIC * size, error)


def _largest(vector: Array) -> float:
    return float(np.max(np.abs(vector), initial=0.0))
