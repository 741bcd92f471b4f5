# SPDX-License-Identifier: BSD-3-Clause
"""What a model conserves, decided at random states on its constraints.

    dp_k/dt = ∂L/∂q_k + Q_k + (Aᵀλ)_k,    dH/dt = −∂L/∂t + Q·q̇ + λ·(A q̇),    dE/dt = the power of loads and drives,
    dP/dt = −Σ R*,    dL_O/dt = −Σ (r − r_O) × R* + T*

(Goldstein, *Classical Mechanics*, 3rd ed., 2002, sections 1.2, 2.6 and 2.7.)  A quantity is conserved where its rate
vanishes along the motion at every state.  A rate vanishes that is nothing beside the terms that it is summed from, in
whatever units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.run.consistent import consistent_state, state_of
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.constraints import normalise
from kanecore.run.metric import null_space
from kanecore.tolerances import CONSERVED, EQUAL, NOISE

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["Conserved", "conserved"]

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

_STATES = 8  # that decide
_FEWEST = 3  # with fewer nothing is said
_TRIALS = 60  # of states near which one on the constraints is looked for
_SPEEDS = (1.0, 30.0, 0.03, 1.0)  # of the states in turn: what damps shows at high speeds, what holds at low ones
_SPREADS = (0.1, 0.3, 0.05, 1.0)  # of what is large for each coordinate: how far from the guess
_CLEAR = 1e-3  # of the largest share that a rate is of its size: states that tell directions
_TIMES = (0.0, 0.37, -1.3, 2.9, 0.0, 7.1, 13.0, 41.0)


@dataclass(frozen=True)
class Conserved:
    """What `CompiledModel.conserved` found; ``str()`` says it in words.

    Attributes
    ----------
    name : str
        Of the model.
    momenta : tuple of str
        Coordinates whose generalized momentum p_k = ∂L/∂q̇_k is conserved.
    cyclic : tuple of str
        Coordinates that L does not hold, ∂L/∂q_k = 0 at constant q̇.
    hamiltonian, energy : bool
        Whether H = Σ p_k q̇_k − L, and T + U.
    linear_momentum : tuple of (float, float, float)
        Unit vectors, in inertial axes, along which the momentum of all bodies is.
    angular_momentum : tuple of (str, (float, float, float))
        Fixed points, and unit vectors in inertial axes: the angular momentum of all bodies about this axis through
        this point. Where all of `linear_momentum` is conserved any other fixed point does as well.
    not_conserved : dict of str to str
        Why the momentum of a cyclic coordinate is not; why ``"momenta"``, ``"hamiltonian"`` or ``"angular_momentum"``
        cannot be said of this model.
    """

    name: str
    momenta: tuple[str, ...]
    cyclic: tuple[str, ...]
    hamiltonian: bool
    energy: bool
    linear_momentum: tuple[Vector, ...]
    angular_momentum: tuple[tuple[str, Vector], ...]
    not_conserved: dict[str, str]

    def __str__(self) -> str:
        parts = [f"generalized momentum of {name}" for name in self.momenta]
        parts += ["Hamiltonian"] * self.hamiltonian + ["energy T + U"] * self.energy
        parts += [f"momentum along {_written(axis)}" for axis in self.linear_momentum]
        parts += [f"angular momentum about {_written(axis)} through {at}" for at, axis in self.angular_momentum]
        lines = [f"{self.name} conserves {'; '.join(parts) or 'nothing of what was tested'}"]
        lines += [f"{name}: {why}" for name, why in self.not_conserved.items()]
        return "\n".join(lines)


def conserved(dyn: Kernels, *, r: Any = None, p: Any = None) -> Conserved:
    """Which momenta and energies the motion conserves, with some inputs and parameters.

    Parameters
    ----------
    r, p : optional
        Inputs and parameters, as of the kernels.

    Returns
    -------
    Conserved
        Of every motion on the constraints. Inputs stay as they are, but for those whose rates are inputs as well: these
        move with them. So what is conserved at a force of zero need not be at another one.

    Raises
    ------
    ModelError
        States on the constraints were not found, or too few.
    """
    motion = _Motion(dyn, _places(dyn, r, p))
    reasons = dict[str, str]()
    momenta, cyclic = _momenta(motion, reasons)
    return Conserved(
        name=dyn.name,
        momenta=momenta,
        cyclic=cyclic,
        hamiltonian=_hamiltonian(motion, reasons),
        energy=_vanishes(motion.of("energy")).all().item(),
        linear_momentum=_axes(motion.of("momentum")) if motion.heavy.any() else (),
        angular_momentum=_angular_momentum(motion, reasons),
        not_conserved=reasons,
    )


# ------------------------------------------------------------------------------------------- random states


def _places(dyn: Kernels, r: Any, p: Any) -> list[_Place]:
    """Places of the motion that decide, always the same; ModelError where there are too few."""
    inputs = np.asarray(dyn._resolved("input", {} if r is None else r))
    rng, places, error = np.random.default_rng(0), list[_Place](), None
    for trial in range(_TRIALS):
        t = _TIMES[trial % len(_TIMES)]
        x = _start(dyn, t, inputs, p, trial, rng)
        try:
            state = consistent_state(state_of(dyn, t, x, _inputs_at(dyn, inputs, t), p), None)
            place = _Place(state.projected if dyn.n_constraints or dyn.n_configuration else state)
        except (ModelError, ArithmeticError) as missed:
            error = missed
            continue
        places += [place] * place.is_regular
        if len(places) == _STATES:
            break
    if len(places) < _FEWEST:
        raise error or ModelError(f"only {len(places)} states of {dyn.name!r} were found that decide what it conserves")
    return places


def _start(dyn: Kernels, t: float, inputs: Array, p: Any, trial: int, rng: np.random.Generator) -> Array:
    """A state that need not be on the constraints: numbers of size 1, or in turn what is one unit of each by mass."""
    guess = dyn._table_info.get("guess", {})
    center = np.zeros(dyn.n_x)
    for place, value in guess.items():
        center[int(place)] = value
    x = rng.uniform(-1.0, 1.0, dyn.n_x)
    normalise(dyn, x)
    at = ConstraintState(dyn, t, center if guess else x, _inputs_at(dyn, inputs, t), p)
    far, fast = at.coordinate_units.copy(), at.speed_units.copy()
    largest = float(np.max(far, initial=0.0)) or 1.0
    far, fast = np.where(far > 0.0, far / largest, 1.0), fast / largest
    if trial % 2 and not guess:
        far, fast = np.ones(dyn.n_q), np.ones(dyn.n_u)
    spread = _SPREADS[trial // 2 % len(_SPREADS)] if guess else 1.0
    x *= np.concatenate([spread * far, _SPEEDS[trial // 2 % len(_SPEEDS)] * fast])
    x += center
    normalise(dyn, x)
    return x


def _inputs_at(dyn: Kernels, inputs: Array, t: float) -> Array:
    """Inputs at a time: those whose rates are inputs have moved with these."""
    moved = inputs.copy()
    for i in range(len(inputs)):
        order, power, rate = 1, t, dyn.input_rates[i]
        while rate >= 0:
            moved[i] += power * inputs[rate]
            order, rate = order + 1, dyn.input_rates[rate]
            power *= t / order
    return moved


class _Place:
    """One place of the motion: rates there, each with its size, shapes (2, ...)."""

    def __init__(self, state: ConstraintState) -> None:
        dyn = state.dyn
        self._at, self._arguments = state, (state.t, state.x)
        self.udot = np.asarray(dyn.udot(*self._arguments, **state.values))
        self.energy = np.stack([self._call(dyn.power), self._size(dyn._power_size)])
        self.inertia_forces = np.stack([self._call(dyn.inertia_forces), self._size(dyn._inertia_force_sizes)])
        self.positions = np.asarray(dyn._positions(*self._arguments, **state.values))
        self.momentum = np.sum(self.inertia_forces[..., :3], axis=1)

    @cached_property
    def is_regular(self) -> bool:
        """Whether no row of G is lost here."""
        typical = self._at.typical_rank if self._at.dyn.n_constraints else None
        return typical is None or self._at.rank >= typical

    def _call(self, kernel: Any) -> Array:
        return np.asarray(kernel(*self._arguments, self.udot, **self._at.values))

    def _size(self, kernel: Any) -> Array:
        return np.asarray(kernel(*self._arguments, self._largest_udot, **self._at.values))

    @cached_property
    def _forces(self) -> Array:
        """What M u̇ and f are summed from: (n_u,)."""
        sizes = self._at.dyn._force_sizes(*self._arguments, **self._at.values)
        return np.asarray(sizes + np.abs(self._at.mass) @ np.abs(self.udot))

    @cached_property
    def _largest_udot(self) -> Array:
        """What bounds u̇, and in units of rounding its error: |u̇| + |K| forces, u̇ = K f + … on the constraints."""
        units = self._at.speed_units
        free = null_space(self._at.clear_rows, units) if self._at.dyn.n_constraints else np.eye(len(units))
        mass = self._at.mass * np.outer(units, units)
        compliance = free @ np.linalg.pinv(free.T @ mass @ free) @ free.T * np.outer(units, units)
        return np.asarray(np.abs(self.udot) + np.abs(compliance) @ self._forces)

    @cached_property
    def momenta(self) -> Array:
        """dp/dt."""
        return np.stack([self._momentum_rates[0][0], self._momentum_rates[1][2]])

    @cached_property
    def slopes(self) -> Array:
        """∂L/∂q at constant q̇."""
        return np.stack([self._momentum_rates[0][1], self._momentum_rates[1][3]])

    @cached_property
    def _momentum_rates(self) -> tuple[Array, Array]:
        kernel = self._at.dyn._momentum_rates
        return self._call(kernel), self._size(kernel)

    @cached_property
    def constraint_forces(self) -> Array:
        """(Aᵀλ)_k = (Y⁻ᵀ Gᵀλ)_k, from Gᵀλ = M u̇ − f."""
        inverse = np.linalg.pinv(self._at.rates[0]).T
        forces = self._call(self._at.dyn.inverse_dynamics)
        return np.stack([inverse @ forces, np.abs(inverse) @ self._forces])

    @cached_property
    def hamiltonian(self) -> Array:
        """dH/dt."""
        kernel = self._at.dyn._hamiltonian_rate
        return np.stack([self._call(kernel)[0], self._size(kernel)[1]])

    def angular_momentum(self, about: Array) -> Array:
        """−dL/dt of all bodies about a fixed point."""
        bodies = [point for point, _ in self._at.dyn._table_info["bodies"]]
        arms, sizes = self.positions[bodies] - about, np.abs(self.positions[bodies]) + np.abs(about)
        moments = np.cross(arms, self.inertia_forces[0, :, :3]) + self.inertia_forces[0, :, 3:]
        terms = _product_sizes(sizes, self.inertia_forces[1, :, :3]) + self.inertia_forces[1, :, 3:]
        return np.stack([np.sum(moments, axis=0), np.sum(terms, axis=0)])


def _product_sizes(a: Array, b: Array) -> Array:
    """What the components of a × b are summed from, for magnitudes."""
    return np.stack([a[:, i] * b[:, j] + a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)


# ------------------------------------------------------------------------------------------- what vanishes


@dataclass(frozen=True)
class _Motion:
    """All places of the motion."""

    dyn: Kernels
    places: list[_Place]

    def of(self, quantity: str) -> Array:
        """A rate and its size at each place: (2, places, ...)."""
        return np.stack([getattr(place, quantity) for place in self.places], axis=1)

    @property
    def heavy(self) -> npt.NDArray[np.bool_]:
        """Which bodies have inertia."""
        return np.any(self.of("inertia_forces")[1], axis=(0, 2))


def _vanishes(rates: Array) -> npt.NDArray[np.bool_]:
    """Where a rate is nothing beside its size, at all places."""
    return np.all(np.abs(rates[0]) <= CONSERVED * rates[1], axis=0)


def _momenta(motion: _Motion, reasons: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates whose generalized momentum is conserved, and those that are cyclic; and why these differ."""
    names = motion.dyn.coordinate_names
    try:
        is_conserved, is_cyclic = _vanishes(motion.of("momenta")), _vanishes(motion.of("slopes"))
    except ModelError:
        reasons["momenta"] = motion.dyn._why_not("generalized_momenta") or ""
        return (), ()
    rates, slopes, shares = (motion.of(x) for x in ("momenta", "slopes", "constraint_forces"))
    others = np.stack([rates[0] - slopes[0] - shares[0], rates[1] + slopes[1] + shares[1]])
    of_constraints, of_others = ~_vanishes(shares), ~_vanishes(others)
    for i in np.flatnonzero(is_cyclic & ~is_conserved):
        forces = ["forces of constraint"] * bool(of_constraints[i]) + ["forces without a potential"] * bool(of_others[i])
        reasons[names[i]] = f"it is cyclic, and {' and '.join(forces)} act along it"
    momenta, cyclic = (tuple(names[i] for i in np.flatnonzero(which)) for which in (is_conserved, is_cyclic))
    return momenta, cyclic


def _hamiltonian(motion: _Motion, reasons: dict[str, str]) -> bool:
    try:
        return bool(_vanishes(motion.of("hamiltonian")))
    except ModelError:
        reasons["hamiltonian"] = motion.dyn._why_not("hamiltonian") or ""
        return False


# -------------------------------------------------------------------------------------- along fixed axes


def _angular_momentum(motion: _Motion, reasons: dict[str, str]) -> tuple[tuple[str, Vector], ...]:
    """Fixed points, and the axes through them about which the angular momentum is conserved."""
    info, names = motion.dyn._table_info, motion.dyn.points
    origins = info.get("origins") or [0] * len(names)
    used = {origins[point] for (point, _), is_heavy in zip(info["bodies"], motion.heavy, strict=True) if is_heavy}
    if len(used) != 1 or -1 in used:
        if used:
            reasons["angular_momentum"] = "the positions of the bodies are not known from one fixed point"
        return ()
    positions = np.stack([place.positions for place in motion.places])
    moved = np.max(np.abs(positions - positions[0]), axis=(0, 2))
    is_fixed = (moved <= NOISE * np.max(np.abs(positions), initial=0.0)) & (np.array(origins) == used.pop())
    fixed = sorted(np.flatnonzero(is_fixed).tolist(), key=lambda i: float(np.linalg.norm(positions[0, i])))
    if len(_axes(motion.of("momentum"))) == 3:
        fixed = fixed[:1]
    axes = list[tuple[int, Vector]]()
    for i in fixed:
        about = positions[0, i]
        rates = np.stack([place.angular_momentum(about) for place in motion.places], axis=1)
        axes += [(i, axis) for axis in _axes(rates) if not any(_same_axis(positions[0], i, axis, other) for other in axes)]
    return tuple((names[i], axis) for i, axis in axes)


def _same_axis(positions: Array, point: int, axis: Vector, other: tuple[int, Vector]) -> bool:
    """Whether an axis through a point is another one, through another point."""
    place, direction = other
    apart = positions[point] - positions[place]
    beside = float(np.linalg.norm(np.cross(apart, direction)))
    parallel = float(np.linalg.norm(np.cross(axis, direction))) <= EQUAL
    return parallel and beside <= EQUAL * float(np.linalg.norm(apart))


def _axes(rates: Array) -> tuple[Vector, ...]:
    """Unit vectors along which vector rates, (2, places, 3), vanish at all places: coordinate axes, then others."""
    zero = _vanishes(rates)
    directions = [row for row, is_zero in zip(np.eye(3), zero, strict=True) if is_zero]
    rest = np.flatnonzero(~zero)
    if len(rest) > 1:
        values, sizes = rates[:, :, rest]
        share = np.max(np.abs(values) / np.where(sizes > 0.0, sizes, 1.0), axis=1)
        clear = share >= _CLEAR * np.max(share)
        units = np.max(np.abs(values), axis=0)
        basis = null_space(values[clear], 1.0 / units) / units[:, np.newaxis]
        for column in np.linalg.qr(basis)[0].T:
            terms = CONSERVED * sizes + EQUAL * np.abs(values)
            if np.all(np.abs(values @ column) <= terms @ np.abs(column)):
                directions.append(np.zeros(3))
                directions[-1][rest] = column
    return tuple(_readable(direction) for direction in directions)


def _readable(direction: Array) -> Vector:
    """The direction or its opposite, whichever has the largest component positive; no negative zeros."""
    sign = 1.0 if direction[np.argmax(np.abs(direction))] > 0.0 else -1.0
    x, y, z = (float(sign * c) if abs(c) > EQUAL else 0.0 for c in direction)
    return x, y, z


def _written(axis: Vector) -> str:
    return f"({', '.join(f'{x:.4g}' for x in axis)})"
