# SPDX-License-Identifier: BSD-3-Clause
"""Values of the constraints of a model at one or several states; each kernel is called once.

All numerical checks of constraints use this module.  `kanecore.constraints.constraint_state` adds facts that need
neighbours of a state, `kanecore.constraints.allowed_motions` Kane's nonholonomic quantities.  This module also decides
which coordinates are angles, namely those that turn frames.  Their reference magnitude is one radian, in all units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from kanecore.rank import cancelled, connected, coordinate_units, size_of, speed_units
from kanecore.run.points_and_frames import bodies_of
from kanecore.tolerances import EQUAL, NOISE, RANK, SOLVED

if TYPE_CHECKING:
    from typing_extensions import Self

    from kanecore.binding.evaluator import Evaluator

__all__ = ["Constraints", "Level", "normalise", "radians", "residuals"]

Array = npt.NDArray[np.float64]
_Frozen = TypeVar("_Frozen", bound=npt.NDArray[Any])


class Constraints:
    """G, γ, φ, c, their slopes, the masses and units at states of any leading axes, evaluated when first asked for.

    An object owns its states and returns read-only arrays.  The model keeps no reference to the object.

    Parameters
    ----------
    t, x, r, p
        As for the kernels.  If r or p is None, inputs or parameters are the current values at the first evaluation.
    """

    def __init__(self, dyn: Evaluator, t: Any, x: Any, r: Any = None, p: Any = None) -> None:
        self.dyn, self.t, self.r, self.p = dyn, t, r, p
        self.x: Array = frozen(np.array(dyn.names.as_state(x)))

    def moved(self, x: Array) -> Self:
        """Other states, at the same time, inputs and parameters."""
        return type(self)(self.dyn, self.t, x, self.r, self.p)

    @property
    def values(self) -> dict[str, Any]:
        """The keyword arguments of kernels."""
        return {"r": self.r, "p": self.p}

    @property
    def q(self) -> Array:
        return self.x[..., : self.dyn.n_q]

    @property
    def u(self) -> Array:
        return self.x[..., self.dyn.names.speeds]

    @property
    def z(self) -> Array:
        return self.x[..., self.dyn.names.states]

    # ------------------------------------------------------------------------------------------------ kernels

    @cached_property
    def rows(self) -> Array:
        """G of G u̇ + γ = 0, with zeros for rows that are only rounding: (..., n_constraints, n_u)."""
        rows = np.array(self.dyn.constraint_jacobian(self.t, self.x, **self.values))
        if self.dyn.n_constraints:
            terms = self.dyn.kernels.jacobian_terms(self.t, self.x, **self.values)
            rows[cancelled(rows, terms, speed_units(self.mass, rows))] = 0.0
        return frozen(rows)

    @cached_property
    def bias(self) -> Array:
        """γ of G u̇ + γ = 0: (..., n_constraints)."""
        return frozen(self.dyn.constraint_bias(self.t, self.x, **self.values))

    @cached_property
    def configuration_residual(self) -> Array:
        """φ(q, t): (..., n_configuration)."""
        return frozen(self.dyn.configuration_residual(self.t, self.x, **self.values))

    @cached_property
    def configuration_jacobian(self) -> Array:
        """∂φ/∂q: (..., n_configuration, n_q)."""
        return frozen(self.dyn.configuration_jacobian(self.t, self.x, **self.values))

    @cached_property
    def velocity_residual(self) -> Array:
        """c(q, u, t): (..., n_velocity)."""
        return frozen(self.dyn.velocity_residual(self.t, self.x, **self.values))

    @property
    def velocity_slopes(self) -> Array:
        """∂c/∂u, the first rows of G: (..., n_velocity, n_u)."""
        return self.rows[..., : self.dyn.n_velocity, :]

    @cached_property
    def term_sizes(self) -> Array:
        """Magnitude of the terms of each φ, then of each c: (..., n_configuration + n_velocity)."""
        return frozen(self.dyn.kernels.constraint_sizes(self.t, self.x, **self.values))

    @cached_property
    def mass(self) -> Array:
        """M: (..., n_u, n_u)."""
        return frozen(self.dyn.mass_matrix(self.t, self.x, **self.values))

    @cached_property
    def rates(self) -> tuple[Array, Array]:
        """Y (..., n_q, n_u) and z (..., n_q) of q̇ = Y u + z."""
        states = np.zeros((self.dyn.n_u + 1, *self.x.shape))
        states[..., : self.dyn.n_q] = self.q
        states[..., self.dyn.names.states] = self.z
        for j in range(self.dyn.n_u):
            states[j + 1, ..., self.dyn.n_q + j] = 1.0
        qdot = self.dyn.qdot(self.t, states, **self.values)
        return frozen(np.moveaxis(qdot[1:] - qdot[0], 0, -1)), frozen(qdot[0])

    # -------------------------------------------------------------------------------------- units and residuals

    @cached_property
    def speed_units(self) -> Array:
        """Units of the speeds: (..., n_u)."""
        return frozen(speed_units(self.mass, self.rows))

    @cached_property
    def coordinate_units(self) -> Array:
        """Units of the coordinates, from units of the speeds; 0 for a coordinate that no speed moves: (..., n_q)."""
        return frozen(coordinate_units(self.rates[0], self.speed_units))

    @cached_property
    def connected_speeds(self) -> npt.NDArray[np.bool_]:
        """Test of each pair of speeds, (n_u, n_u): bodies, rows of G or entries of M connect them, directly or not.

        For a Lagrangian, without known bodies, all speeds count as connected.
        """
        n, dyn = self.dyn.n_u, self.dyn
        if not dyn.n_bodies:
            return frozen(np.ones((n, n), dtype=bool))
        bodies = bodies_of(dyn)
        velocities = dyn.partial_velocities(self.t, self.x, **self.values)[..., bodies.points, :, :]
        moved = np.zeros((dyn.n_bodies, n), dtype=bool)
        moved[bodies.at_points] = _anywhere(velocities, 3).any(axis=-1)
        if len(bodies.frames):
            turning = dyn.partial_angular_velocities(self.t, self.x, **self.values)[..., bodies.frames, :, :]
            moved[bodies.on_frames] |= _anywhere(turning, 3).any(axis=-1)
        together = np.concatenate([moved, _anywhere(self.rows, 2), _anywhere(self.mass, 2)]).astype(np.float64)
        return frozen(connected(together.T @ together > 0.0))

    def level(self, kind: Literal["coordinates", "speeds"]) -> Level:
        """Constraints on coordinates, φ = 0, or on speeds, c = 0."""
        return CoordinateLevel(self) if kind == "coordinates" else SpeedLevel(self)

    @property
    def levels(self) -> tuple[Level, Level]:
        """Constraints on coordinates, then constraints on speeds."""
        return CoordinateLevel(self), SpeedLevel(self)

    @cached_property
    def misses(self) -> Array:
        """Residuals |φ|, then |c|, relative to the magnitude of their terms: (..., n_configuration + n_velocity)."""
        if not (self.dyn.n_constraints or self.dyn.n_configuration):
            return np.zeros((*self.x.shape[:-1], 0))
        return frozen(np.concatenate([level.misses for level in self.levels], axis=-1))


@dataclass(frozen=True)
class Level(ABC):
    """The equations f(y) = 0 of a part y of a state: φ(q, t) = 0, or c(q, u, t) = 0.

    Attributes
    ----------
    at : Constraints
        The state or states.
    """

    at: Constraints

    def moved(self, x: Array) -> Self:
        """Equations at another state."""
        return type(self)(self.at.moved(x))

    @property
    @abstractmethod
    def part(self) -> slice:
        """Place of y in a state."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the equations."""

    @property
    @abstractmethod
    def residual(self) -> Array:
        """Residual f, zero where the equations are satisfied."""

    @property
    @abstractmethod
    def slopes(self) -> Array:
        """∂f/∂y."""

    @property
    @abstractmethod
    def term_sizes(self) -> Array:
        """Magnitude of the terms of each entry of f."""

    @property
    @abstractmethod
    def units(self) -> Array:
        """Units of y, in the metric of the masses; 0 for a coordinate that no speed moves."""

    @property
    def residual_in_units(self) -> Array:
        """Residual f relative to the largest coefficient of its row: in units of the coordinates, or of the speeds."""
        return np.asarray(self.residual / size_of(self.slopes))

    @property
    @abstractmethod
    def connected(self) -> npt.NDArray[np.bool_]:
        """Test of each pair of entries of y, (n, n): bodies, masses or rows connect them, directly or not."""

    @property
    def misses(self) -> Array:
        """Residuals |f| relative to the magnitude of their terms: (..., number of equations).

        Values below `NOISE` times the largest connected coordinate or speed, in the metric of the masses, count as
        zero, and so do coefficients that small, since all terms of a row may be that small.
        """
        size, terms = np.abs(self.residual), self.term_sizes
        if not (size > SOLVED * terms).any():
            return np.asarray(np.divide(size, terms, out=np.zeros_like(size), where=size != 0.0))
        y, units = np.abs(self.at.x[..., self.part]), self.units
        far = np.divide(y, units, out=np.zeros(y.shape), where=units > 0.0)
        slopes = np.abs(self.slopes) * units[..., np.newaxis, :]
        beside = (slopes > 0.0).astype(np.float64) @ self.connected > 0.0
        largest = np.max(np.where(beside, far[..., np.newaxis, :], 0.0), axis=-1, initial=0.0)
        terms = terms + NOISE / SOLVED * np.max(slopes, axis=-1, initial=0.0) * largest
        return np.asarray(np.divide(size, terms, out=np.zeros_like(size), where=size != 0.0))


class CoordinateLevel(Level):
    """φ(q, t) = 0."""

    @property
    def part(self) -> slice:
        return slice(0, self.at.dyn.n_q)

    @property
    def names(self) -> tuple[str, ...]:
        return self.at.dyn.configuration_names

    @property
    def residual(self) -> Array:
        return self.at.configuration_residual

    @property
    def slopes(self) -> Array:
        return self.at.configuration_jacobian

    @property
    def term_sizes(self) -> Array:
        return self.at.term_sizes[..., : self.at.dyn.n_configuration]

    @property
    def units(self) -> Array:
        return self.at.coordinate_units

    @property
    def connected(self) -> npt.NDArray[np.bool_]:
        moving = _anywhere(self.at.rates[0], 2).astype(np.float64)
        own = np.eye(len(moving), dtype=bool)
        return np.asarray((moving @ self.at.connected_speeds @ moving.T > 0.0) | own)


class SpeedLevel(Level):
    """c(q, u, t) = 0."""

    @property
    def part(self) -> slice:
        return self.at.dyn.names.speeds

    @property
    def names(self) -> tuple[str, ...]:
        return self.at.dyn.constraint_names[: self.at.dyn.n_velocity]

    @property
    def residual(self) -> Array:
        return self.at.velocity_residual

    @property
    def slopes(self) -> Array:
        return self.at.velocity_slopes

    @property
    def term_sizes(self) -> Array:
        return self.at.term_sizes[..., self.at.dyn.n_configuration :]

    @property
    def units(self) -> Array:
        return self.at.speed_units

    @property
    def connected(self) -> npt.NDArray[np.bool_]:
        return self.at.connected_speeds


def residuals(dyn: Evaluator, t: npt.ArrayLike, x: npt.ArrayLike, r: Any = None, p: Any = None) -> Array:
    """φ, then c, in units of the coordinates and of the speeds: (..., n_configuration + n_velocity)."""
    return np.concatenate([level.residual_in_units for level in Constraints(dyn, t, x, r, p).levels], axis=-1)


def _anywhere(values: Array, axes: int) -> npt.NDArray[np.bool_]:
    """Test which entries, along the last ``axes``, are not zero at some state."""
    return np.asarray((values != 0.0).any(axis=tuple(range(values.ndim - axes))))


def normalise(dyn: Evaluator, x: Array) -> None:
    """Divide the unit quaternions of states, (..., n_x), by their norms; a zero quaternion stays."""
    for quaternion in dyn.unit:
        places = list(quaternion)
        size = np.linalg.norm(x[..., places], axis=-1, keepdims=True)
        x[..., places] /= np.where(size > 0.0, size, 1.0)


def frozen(array: _Frozen) -> _Frozen:
    """The array, made read-only."""
    array.setflags(write=False)
    return array


def radians(at: Constraints) -> Array:
    """Change of each coordinate that turns a frame by one radian at a state, (n_q,); 0 if the coordinate turns none.

    So a coordinate may be an angle in any unit.
    """
    dyn = at.dyn
    if not dyn.n_frames or not dyn.n_u:
        return np.zeros(dyn.n_q)
    values: dict[str, Any] = at.values
    turning = np.asarray(dyn.partial_angular_velocities(at.t, at.x, **values))  # (n_frames, n_u, 3)
    units, far = at.speed_units, at.coordinate_units
    far = np.where(far > 0.0, far, 1.0)
    speeds = np.linalg.pinv(at.rates[0] * units / far[:, np.newaxis], rcond=RANK)  # in units of each coordinate's rate
    largest = np.max(np.abs(speeds), axis=0, initial=0.0)
    speeds = np.where(np.abs(speeds) > EQUAL * largest, speeds, 0.0)  # without rounding errors of the others
    turning = np.moveaxis(turning, -1, 1) * units
    turned, terms = turning @ speeds / far, np.abs(turning) @ np.abs(speeds) / far
    turned = np.where(np.abs(turned) > NOISE * terms, turned, 0.0)
    fastest = np.max(np.linalg.norm(turned, axis=1), axis=0, initial=0.0)
    return np.asarray(np.divide(1.0, fastest, out=np.zeros_like(fastest), where=fastest > 0.0))
