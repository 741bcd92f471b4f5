# SPDX-License-Identifier: BSD-3-Clause
"""Random states of an audit: on the constraints, with rates and virtual motions that these allow.

Angles are the coordinates that turn frames; their reference magnitude is one radian.  The reference magnitude of any
other coordinate moves as much mass as one radian does.  So the states of a mechanism of micrometres are, relative to
its size, as far apart as the states of a large mechanism.  The reference magnitude of a first-order state is the value
at which its rate vanishes, but at most one: a bristle of 10⁻⁴ m deflected by one metre would carry ten thousand times
its load.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints, normalise, radians
from kanecore.errors import KanecoreError, KanecoreWarning, ModelError, StateError
from kanecore.rank import equilibrated, size_of
from kanecore.run.call_arguments import state_vector
from kanecore.run.numerical_derivatives import Slope, derivative
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["MOST", "Places", "States", "random_states", "whole_number"]

Array = npt.NDArray[np.float64]

MOST = 100_000
"""Largest number of states, since all are in memory at once, with the scratch of their differences."""

_TRIES = 30  # random states tried for each requested state
_SPREAD = 0.5  # distance of states from a given one, relative to the sizes
_REGULAR = 1e-3  # relative to the largest singular value of G: the smallest that counts must exceed this
_LOST = 1e-8  # relative to the largest singular value of G: others must be below this
_VIRTUAL = 3  # virtual motions at each state


@dataclass(frozen=True)
class Places:
    """Any states of a model, and derivatives there by differences.

    Attributes
    ----------
    dyn : CompiledModel
    t, x, r : ndarray, (...), (..., n_x), (..., n_r)
    sizes : ndarray, (n_x,)
        Reference magnitude of each coordinate, speed and first-order state.
    """

    dyn: Evaluator
    t: Array
    x: Array
    r: Array
    sizes: Array

    def call(self, kernel: str, *udot: Array, t: Any = None, x: Any = None, r: Any = None) -> Array:
        """A kernel at these states, or at others; NaN where it is undefined."""
        function = self.dyn.kernels.method(kernel)
        try:
            values = function(
                self.t if t is None else t, self.x if x is None else x, *udot, r=self.r if r is None else r
            )
        except StateError as error:
            if error.out is None:
                raise
            values = error.out
        return np.asarray(values)

    @property
    def u(self) -> Array:
        return self.x[..., self.dyn.names.speeds]

    @cached_property
    def qdot(self) -> Array:
        return self.call("qdot")

    @cached_property
    def input_rates(self) -> Array:
        """Derivatives of the inputs; zero for inputs without a rate among the inputs."""
        rates = np.zeros_like(self.r)
        for i, rate in enumerate(self.dyn.input_rates):
            if rate >= 0:
                rates[..., i] = self.r[..., rate]
        return rates

    @cached_property
    def at(self) -> Constraints:
        return Constraints(self.dyn, self.t, self.x, self.r)

    # -------------------------------------------------------------------------------------------- derivatives

    def rate(self, kernel: str, udot: Array) -> Slope:
        """The derivative of a kernel along the motion with given u̇: by q, t and r, and by u, with separate steps."""
        return self.along_motion(lambda t, x, r: self.call(kernel, t=t, x=x, r=r), udot)

    def along_motion(self, function: Any, udot: Array) -> Slope:
        """Derivative along the motion of any function of t, x, r."""
        moving = self.motion(np.zeros_like(udot))
        pushed = np.concatenate([np.zeros_like(self.qdot), udot], axis=-1)
        first = self.along(function, moving, 1.0, self.input_rates)
        second = self.along(function, pushed, 0.0, np.zeros_like(self.r))
        return Slope(first.value + second.value, first.uncertainty + second.uncertainty)

    @cached_property
    def zdot(self) -> Array:
        return self.call("zdot")

    def motion(self, udot: Array) -> Array:
        """Direction of x along the motion with given u̇."""
        return np.concatenate([self.qdot, udot, self.zdot], axis=-1)

    def whole(self, direction: Array) -> Array:
        """A direction of x; without entries for first-order states these are constant."""
        missing = self.dyn.n_x - direction.shape[-1]
        return np.concatenate([direction, np.zeros((*direction.shape[:-1], missing))], axis=-1)

    def tangent(self, dx: Array) -> Array:
        """Directions of x, (..., n, n_x), without the components that change the norm of a unit quaternion.

        With another norm a quaternion is no rotation, and equations that are valid for every rotation may fail.
        """
        dx = dx.copy()
        for quaternion in map(list, self.dyn.unit):
            e = self.x[:, quaternion]
            dx[..., quaternion] -= np.sum(e * dx[..., quaternion], axis=-1, keepdims=True) * e
        return dx

    def slope(self, kernel: str, dx: Array, dt: float = 0.0, dr: Array | None = None) -> Slope:
        """The derivative of a kernel in a direction of x, (..., n, n_x), of t and of r."""
        turned = np.zeros_like(self.r) if dr is None else dr
        return self.along(
            lambda t, x, r: self.call(kernel, t=t, x=x, r=r),
            dx,
            dt,
            turned,
        )

    def along(self, function: Any, dx: Array, dt: float, dr: Array) -> Slope:
        """The derivative of any function of t, x, r in a direction."""
        dx = self.whole(dx)
        reach = np.max(np.abs(dx) / self.sizes, axis=-1, initial=abs(dt))
        reach = np.maximum(reach, np.max(np.abs(dr) / (1.0 + np.abs(self.r)), axis=-1, initial=0.0))
        size = 1.0 / np.where(reach > 0.0, reach, 1.0)
        return derivative(
            lambda tau: function(
                self.t + dt * tau,
                self.x + tau[..., np.newaxis] * dx,
                self.r + tau[..., np.newaxis] * dr,
            ),
            size,
        )


@dataclass(frozen=True)
class States(Places):
    """Random states of a model, (n,), with motions.

    Attributes
    ----------
    udot : ndarray, (n, n_u)
        Derivatives of the speeds that satisfy G u̇ + γ = 0; otherwise random.
    virtual : ndarray, (3, n, n_u)
        Changes δu that the constraints allow.
    loose : ndarray, (3, n, n_u)
        Any changes of the speeds.
    rank : int
        Rank of G at all of them.
    allowed : ndarray, (n, n_u, n_u - rank)
        A basis of the allowed motions, in columns.
    """

    udot: Array
    virtual: Array
    loose: Array
    rank: int
    allowed: Array

    def coordinate_change(self, change: Array) -> Array:
        """The change δq = Y δu."""
        return np.asarray(np.einsum("nij,...nj->...ni", self.at.rates[0], change))


# ------------------------------------------------------------------------------------------------------ sampling


def whole_number(n: Any) -> int:
    """Check the number of requested states."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"n is {n!r}; it must be a whole number of states")
    if not 1 <= n <= MOST:
        raise ValueError(f"n is {n}; it must be from 1 to {MOST}")
    return int(n)


def random_states(dyn: Evaluator, n: int, x0: Any, seed: int) -> States:
    """Return n random states, the same for the same seed; ModelError if none was found."""
    rng = np.random.default_rng(seed)
    start = _start(dyn, x0)
    sizes = _sizes(dyn, start)
    centre = _centre(dyn, start)
    by_rank: dict[int, list[tuple[float, Array, Array]]] = {}
    for trial in range(_TRIES * n):
        t, r = float(rng.uniform(0.0, 1.0)), _inputs(dyn, rng, trial)
        near = start is not None or (centre is not None and trial % 2 == 1)
        x = _state(dyn, rng, centre if near else None, sizes, t, r)
        rank = None if x is None else _rank(Constraints(dyn, t, x, r))
        if x is not None and rank is not None:
            alike = by_rank.setdefault(rank, [])
            alike.append((t, x, r))
            if len(alike) == n:
                times, states, inputs = (np.array(part) for part in zip(*alike, strict=True))
                return _with_motions(dyn, times, states, inputs.reshape(n, dyn.n_r), sizes, rng, rank)
    most = max(map(len, by_rank.values()), default=0)
    raise ModelError(
        f"{most} of {n} random states of {dyn.name!r} satisfy its constraints and have accelerations: give a state on "
        "them as x0"
    )


def _start(dyn: Evaluator, x0: Any) -> Array | None:
    """The state around which states are drawn, if one is given or the model has a guess."""
    guess: Mapping[str, float] = dyn.facts.guess
    if x0 is not None:
        return state_vector(dyn, x0, "x0")
    if not guess:
        return None
    start = np.zeros(dyn.n_x)
    for place, value in guess.items():
        start[int(place)] = value
    return start


def _inputs(dyn: Evaluator, rng: np.random.Generator, trial: int) -> Array:
    """Random inputs; in every third state all except prescribed motions are zero, as they could hide other forces."""
    r = rng.uniform(-1.0, 1.0, dyn.n_r)
    if trial % 3 == 2:
        moving = {i for i, rate in enumerate(dyn.input_rates) if rate >= 0} | set(dyn.input_rates)
        r[[i for i in range(dyn.n_r) if i not in moving]] = 0.0
    return r


def _sizes(dyn: Evaluator, start: Array | None) -> Array:
    """Reference magnitudes; for coordinates and speeds they match one radian and one radian per unit of time."""
    x = np.zeros(dyn.n_x) if start is None else start.copy()
    rng = np.random.default_rng(0)
    r = rng.uniform(-1.0, 1.0, dyn.n_r)
    x[: dyn.n_q] += rng.uniform(0.2, 0.8, dyn.n_q)
    normalise(dyn, x)
    sizes = np.ones(dyn.n_x)
    try:
        at = Constraints(dyn, 0.0, x, r)
        radian, far = radians(at), at.coordinate_units
    except KanecoreError:
        return sizes
    moved, angle = far > 0.0, radian > 0.0
    if not (angle & moved).any():
        sizes[: dyn.n_q] = 1.0 if start is None else np.max(np.abs(start[: dyn.n_q]), initial=0.0) or 1.0
    else:
        sizes[: dyn.n_q][angle] = radian[angle]
        typical = np.median(radian[angle & moved] / far[angle & moved])
        sizes[: dyn.n_q][~angle & moved] = far[~angle & moved] * typical
        sizes[dyn.names.speeds] = at.speed_units * typical
    if dyn.n_z:
        x[dyn.names.speeds] += sizes[dyn.names.speeds] * rng.uniform(0.2, 0.8, dyn.n_u)
        sizes[dyn.names.states] = _sizes_of_states(dyn, x, r)
    return sizes


def _sizes_of_states(dyn: Evaluator, x: Array, r: Array) -> Array:
    """Value of each first-order state at which its rate vanishes, if the rate is linear in the state; at most 1."""
    n = dyn.n_z
    places = np.repeat(x[np.newaxis], 1 + n, axis=0)
    places[:, dyn.names.states] = np.eye(1 + n, n, -1)
    alone = Places(dyn, np.zeros(1 + n), places, np.repeat(r[np.newaxis], 1 + n, axis=0), np.ones(dyn.n_x))
    at_zero, *moved = alone.call("zdot")
    changes = np.abs(np.diagonal(np.array(moved) - at_zero))
    with np.errstate(all="ignore"):
        reach = np.abs(at_zero) / changes
    return np.where(reach > 0.0, np.minimum(reach, 1.0), 1.0)  # NaN is not


def _centre(dyn: Evaluator, start: Array | None) -> Array | None:
    """A state on the constraints around which others are looked for; None if they may be anywhere."""
    if start is None and not (dyn.n_constraints or dyn.n_configuration):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KanecoreWarning)
        r = np.zeros(dyn.n_r)
        return np.asarray(dyn.check(start, r=r).x)  # type: ignore[attr-defined]


def _state(
    dyn: Evaluator, rng: np.random.Generator, centre: Array | None, sizes: Array, t: float, r: Array
) -> Array | None:
    """A random state on the constraints with accelerations; None if this trial fails."""
    if centre is None:
        x = sizes * rng.uniform(0.3, 1.2, dyn.n_x) * rng.choice([-1.0, 1.0], dyn.n_x)
        x[dyn.names.states] = np.abs(x[dyn.names.states])  # among them masses and activations
    else:
        x = centre + _SPREAD * sizes * rng.uniform(-1.0, 1.0, dyn.n_x)
    normalise(dyn, x)
    try:
        if dyn.n_constraints or dyn.n_configuration:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KanecoreWarning)
                x = np.asarray(dyn.consistent(t, x, None, r=r))  # type: ignore[attr-defined]
        return x if np.isfinite(dyn.udot(t, x, r=r)).all() else None
    except (KanecoreError, ArithmeticError):
        return None


def _rank(at: Constraints) -> int | None:
    """Number of independent rows of G at a state; None if some are nearly dependent."""
    if not at.dyn.n_constraints:
        return 0
    s = np.linalg.svd(equilibrated(at.rows, at.speed_units), compute_uv=False)
    rank = int(np.sum(s > _REGULAR * s[0]))
    return rank if (s[rank:] <= _LOST * s[0]).all() else None


def _with_motions(
    dyn: Evaluator, t: Array, x: Array, r: Array, sizes: Array, rng: np.random.Generator, rank: int
) -> States:
    """States with random u̇ and virtual motions; their largest entry has the magnitude of the speeds."""
    at, speeds = Constraints(dyn, t, x, r), sizes[dyn.names.speeds]
    loose = speeds * rng.uniform(-1.0, 1.0, (_VIRTUAL, len(t), dyn.n_u))
    if not dyn.n_constraints:
        udot = speeds * rng.uniform(-1.0, 1.0, (len(t), dyn.n_u))
        virtual = speeds * rng.uniform(-1.0, 1.0, (_VIRTUAL, len(t), dyn.n_u))
        return States(
            dyn, t, x, r, sizes, udot, virtual, loose, rank, np.eye(dyn.n_u)[np.newaxis] * at.speed_units[:, np.newaxis]
        )
    rows = equilibrated(at.rows, at.speed_units)
    basis = np.swapaxes(np.linalg.svd(rows)[2][:, rank:] * at.speed_units[:, np.newaxis], 1, 2)
    motions = np.einsum("nij,knj->kni", basis, rng.uniform(-1.0, 1.0, (_VIRTUAL + 1, len(t), basis.shape[-1])))
    largest = np.max(np.abs(motions) / speeds, axis=-1, keepdims=True, initial=0.0)
    motions /= np.where(largest > 0.0, largest, 1.0)
    bias = at.bias / size_of(at.rows * at.speed_units[..., np.newaxis, :])
    least = -np.einsum("nij,nj->ni", np.linalg.pinv(rows, rcond=RANK), bias) * at.speed_units
    return States(dyn, t, x, r, sizes, least + motions[0], motions[1:], loose, rank, basis)
