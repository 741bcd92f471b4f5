# SPDX-License-Identifier: BSD-3-Clause
"""Conserved quantities of a model, decided at random states on its constraints.

    dp_k/dt = ∂L/∂q_k + Q_k + (Aᵀλ)_k,    dH/dt = −∂L/∂t + Q·q̇ + λ·(A q̇),    dE/dt = the power of loads and drives,
    dP/dt = −Σ R*,    dL_O/dt = −Σ (r − r_O) × R* + T*

(Goldstein, *Classical Mechanics*, 3rd ed., 2002, sections 1.2, 2.6 and 2.7.)  A quantity is conserved if its rate
vanishes along the motion at every state.  A rate counts as zero if it is as small as its change by rounding: each state
is evaluated again with all numbers changed in their last digits.  This test works in all units, and for cancelling
terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import consistent_state
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.constraints.constraint_values import Constraints, normalise, radians
from kanecore.errors import ModelError, StateError
from kanecore.rank import null_space, pivots
from kanecore.run.last_digits import nudged
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import CONSERVED, EPSILON, EQUAL, NOISE

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Conserved", "conserved"]

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

_STATES = 8  # that decide
_FEWEST = 3  # least number of states for a verdict
_TRIALS = 60  # number of random states near which a state on the constraints is looked for
_SPEEDS = (1.0, 30.0, 0.03, 1.0)  # in turn: damping shows at high speeds, stiction at low ones
_SPREADS = (0.1, 0.3, 0.05, 1.0)  # distances from the guess, relative to the coordinates' magnitudes
_FACTORS = 4.0 ** np.arange(-32, 33)  # factors of sizes in any unit
_CLEAR = 1e3  # times the limit for zero: rates at states that decide directions
_TIMES = (0.0, 0.37, -1.3, 2.9, 0.0, 7.1, 13.0, 41.0)


@dataclass(frozen=True, repr=False)
class Conserved(PrintedResult):
    """Result of `CompiledModel.conserved`; ``str()`` lists the quantities in words.

    Attributes
    ----------
    name : str
        Name of the model.
    momenta : tuple of str
        Coordinates with conserved generalized momentum p_k = ∂L/∂q̇_k.
    cyclic : tuple of str
        Coordinates that L does not depend on, ∂L/∂q_k = 0 at constant q̇.
    hamiltonian, energy : bool
        Whether H = Σ p_k q̇_k − L is conserved, and whether T + U is.
    linear_momentum : tuple of (float, float, float)
        Unit vectors, in inertial axes, along which the momentum of all bodies is conserved.
    angular_momentum : tuple of (str, (float, float, float))
        Fixed points, and unit vectors in inertial axes: the angular momentum of all bodies about the axis through the
        point is conserved.  If the whole linear momentum is conserved, any other fixed point may be used.
    not_conserved : dict of str to str
        Reasons why the momentum of a cyclic coordinate is not conserved, and why ``"momenta"``, ``"hamiltonian"`` or
        ``"angular_momentum"`` are undefined for this model.
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


@method("Energy and momentum", doubles=True)
def conserved(dyn: Evaluator, *, r: Any = None, p: Any = None) -> Conserved:
    """Find the momenta and energies that the motion conserves, for given inputs and parameters.

    Parameters
    ----------
    r, p : optional
        Inputs and parameters, as for the kernels.

    Returns
    -------
    Conserved
        Quantities conserved in every motion on the constraints.  Inputs are constant, except inputs with rates among
        the inputs, which change at these rates.  So a quantity that is conserved with zero force may not be conserved
        with another force.

    Raises
    ------
    ModelError
        No states on the constraints were found, or too few.
    """
    dyn.libraries.find("hamiltonian")
    motion = _Motion(dyn, _places(dyn, r, p))
    reasons = dict[str, str]()
    momenta, cyclic = _momenta(motion, reasons)
    return Conserved(
        name=dyn.name,
        momenta=momenta,
        cyclic=cyclic,
        hamiltonian=_hamiltonian(motion, reasons),
        energy=bool(_vanishes(motion.rates(dyn.power))),
        linear_momentum=_linear_momentum(motion),
        angular_momentum=_angular_momentum(motion, reasons),
        not_conserved=reasons,
    )


# ------------------------------------------------------------------------------------------- random states


def _places(dyn: Evaluator, r: Any, p: Any) -> list[_Place]:
    """Places of the motion that decide, the same in every call; ModelError if there are too few."""
    inputs = np.asarray(dyn.names.resolved("input", {} if r is None else r))
    parameters = np.asarray(dyn.names.resolved("parameter", {} if p is None else p))
    rng, places, error = np.random.default_rng(0), list[_Place](), None
    for trial in range(_TRIALS):
        t = _TIMES[trial % len(_TIMES)]
        at = ConstraintState(dyn, t, rng.uniform(-1.0, 1.0, dyn.n_x), _inputs_at(dyn, inputs, t), parameters)
        try:
            state = consistent_state(_start(at, trial), None)
            state = state.projected if dyn.n_constraints else state  # repeated, to the last digits
            if state.typical_rank is None or state.rank >= state.typical_rank:  # at other states rows of G are lost
                dyn.udot(t, state.x, r=state.r, p=state.p)  # SingularError at a dead point
                places.append(_Place(state, rng))
        except (ModelError, StateError, ArithmeticError) as missed:
            error = missed
        if len(places) == _STATES:
            break
    if len(places) < _FEWEST:
        raise error or ModelError(f"only {len(places)} states of {dyn.name!r} were found that decide what it conserves")
    return places


def _start(at: ConstraintState, trial: int) -> ConstraintState:
    """Start of the search for a state: entries of equal size in the metric of the masses.

    The size comes from the guess, or from angles of one radian.  Without both, coordinates are so large that forces
    that depend on them equal other forces.  So are speeds.
    """
    dyn, guess = at.dyn, at.dyn.facts.guess
    center, numbers, turn = np.zeros(dyn.n_x), at.x.copy(), trial // 2
    for place, value in guess.items():
        center[int(place)] = value
    normalise(dyn, numbers)
    normal = at.moved(center if guess else numbers)
    far, q = normal.coordinate_units, np.abs(center[: dyn.n_q])
    moved, radian = far > 0.0, radians(normal)
    turns = radian > 0.0
    size = np.concatenate([np.where(moved, far, 1.0), normal.speed_units, np.ones(dyn.n_z)])
    if guess:
        largest = np.max(q[moved] / far[moved], initial=0.0) or 1.0 / (np.max(far, initial=0.0) or 1.0)
        size[: dyn.n_q] = _SPREADS[turn % len(_SPREADS)] * np.where(moved, q + largest * far, 1.0)
    else:
        largest = np.min(radian[turns & moved] / far[turns & moved], initial=np.inf)
        if not np.isfinite(largest):
            largest = 1.0 / (np.max(far, initial=0.0) or 1.0)
        size[: dyn.n_q] *= np.where(moved, largest, 1.0)
        if trial % 2:
            size[: dyn.n_q][turns] = radian[turns]
        if not turns.any():
            far_away = size * numbers
            far_away[dyn.n_q :] = 0.0
            size[: dyn.n_q] *= _balanced(normal, center, center + far_away)
    x = center + size * numbers
    x[dyn.names.states] = np.abs(x[dyn.names.states])
    normalise(dyn, x)
    still = x.copy()
    still[dyn.names.speeds] = 0.0
    x[dyn.names.speeds] *= _SPEEDS[turn % len(_SPEEDS)] * _balanced(normal, still, x)
    return at.moved(x)


def _balanced(at: ConstraintState, start: Array, x: Array) -> float:
    """Factor of the distance from a start to a state at which accelerations change by their size at the start."""
    states = start + np.multiply.outer(np.append(0.0, _FACTORS), x - start)
    try:
        udot = np.asarray(at.dyn.udot(at.t, states, r=at.r, p=at.p))
    except StateError as error:
        udot = np.asarray(error.out if error.out is not None else np.full((len(states), at.dyn.n_u), np.nan))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        size, change = (np.max(np.abs(a) / at.speed_units, axis=-1) for a in (udot[:1], udot[1:] - udot[0]))
        apart = np.abs(np.log(change / size))
    known = np.isfinite(apart)
    return float(_FACTORS[np.argmin(np.where(known, apart, np.inf))]) if known.any() else 1.0


def _inputs_at(dyn: Evaluator, inputs: Array, t: float) -> Array:
    """Inputs at a time; inputs with rates among the inputs have changed at these rates."""
    moved = inputs.copy()
    for i in range(len(inputs)):
        order, power, rate = 1, t, dyn.input_rates[i]
        while rate >= 0:
            moved[i] += power * inputs[rate]
            order, rate = order + 1, dyn.input_rates[rate]
            power *= t / order
    return moved


class _Place:
    """A state with copies in which all numbers change in their last digits: kernels return (1 + 6, ...) results."""

    def __init__(self, state: ConstraintState, rng: np.random.Generator) -> None:
        self.dyn = state.dyn
        self._state = nudged(state.t, rng), nudged(state.x, rng)
        self._values: dict[str, Any] = {"r": nudged(state.r, rng), "p": nudged(state.p, rng)}
        udot = np.asarray(state.dyn.udot(*self._state, **self._values))
        self._udot = udot + (nudged(udot[0], rng) - udot[0])  # evaluated also if it is constant

    def __call__(self, kernel: Callable[..., Any], *after: Array) -> Array:
        """The results of a kernel."""
        return np.asarray(kernel(*self._state, *after, **self._values))

    def at_udot(self, kernel: Callable[..., Any]) -> Array:
        """Results of a kernel that reads u̇."""
        return self(kernel, self._udot)

    def constraint_forces(self) -> Array:
        """(Aᵀλ)_k = (Y⁻ᵀ Gᵀλ)_k, from Gᵀλ = M u̇ − f."""
        t, x = self._state
        at = Constraints(self.dyn, t, x, **self._values)
        far, fast = at.coordinate_units[..., np.newaxis], at.speed_units[..., np.newaxis, :]
        far = np.where(far > 0.0, far, 1.0)
        inverse = np.linalg.pinv(at.rates[0] * fast / far) * np.swapaxes(fast, -1, -2) / np.swapaxes(far, -1, -2)
        return np.asarray(np.einsum("...ji,...j->...i", inverse, self.at_udot(self.dyn.inverse_dynamics)))


@dataclass(frozen=True)
class _Motion:
    """Rates at all places of the motion: arrays (places, 1 + 6, ...)."""

    dyn: Evaluator
    places: list[_Place]

    def rates(self, kernel: Callable[..., Any]) -> Array:
        """Results of a kernel that reads u̇, at all places."""
        return np.stack([place.at_udot(kernel) for place in self.places])

    @cached_property
    def inertia_forces(self) -> Array:
        """R*, T* of each body: (..., n_bodies, 6)."""
        return self.rates(self.dyn.inertia_forces)

    @cached_property
    def is_heavy(self) -> npt.NDArray[np.bool_]:
        """Mask of the bodies that have inertia: (n_bodies,)."""
        if not self.dyn.n_bodies:  # the equations come from a Lagrangian
            return np.zeros(0, dtype=np.bool_)
        momenta = np.stack([place(self.dyn.body_momenta) for place in self.places])
        return np.asarray(momenta.any(axis=(0, 1, 3)))

    @property
    def momentum(self) -> Array:
        """−dP/dt."""
        return np.asarray(np.sum(self.inertia_forces[..., :3], axis=-2))

    @cached_property
    def positions(self) -> Array:
        """Positions of all points, each from the root of its tree: (..., n_points, 3)."""
        return np.stack([place(self.dyn.positions) for place in self.places])

    def angular_momentum(self, about: Array) -> Array:
        """Rate −dL/dt of all bodies about a fixed point, (..., 3)."""
        bodies = [point for point, _ in self.dyn.facts.bodies]
        arms = self.positions[..., bodies, :] - about[..., np.newaxis, :]
        moments = np.cross(arms, self.inertia_forces[..., :3]) + self.inertia_forces[..., 3:]
        return np.asarray(np.sum(moments, axis=-2))


# ------------------------------------------------------------------------------------------- rates of zero


def _vanishes(rates: Array, terms: Sequence[Array] = ()) -> npt.NDArray[np.bool_]:
    """Mask of the rates that are zero at all places, to changes of the last digits of all numbers and of the terms.

    Terms of a rate may be rounded even if the changes do not affect them.
    """
    rounding = _rounding(rates) + EPSILON * sum(np.abs(term[:, 0]) for term in terms)
    return np.asarray(np.all(np.abs(rates[:, 0]) <= CONSERVED * rounding, axis=0))


def _rounding(rates: Array) -> Array:
    """Largest change of the rates at each place when all numbers change in their last digits."""
    return np.asarray(np.max(np.abs(rates[:, 1:] - rates[:, :1]), axis=1))


def _momenta(motion: _Motion, reasons: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates with conserved generalized momenta, and cyclic coordinates; with reasons for the difference."""
    dyn = motion.dyn
    if (why := dyn.kernels.why_not("generalized_momenta")) is not None:
        reasons["momenta"] = why
        return (), ()
    rates, slopes = np.moveaxis(motion.rates(dyn.kernels.momentum_rates), -2, 0)
    of_constraints = np.stack([place.constraint_forces() for place in motion.places])
    is_conserved, is_cyclic = _vanishes(rates), _vanishes(slopes)
    forces = {
        "forces of constraint": ~_vanishes(of_constraints),
        "forces without a potential": ~_vanishes(rates - slopes - of_constraints, (rates, slopes, of_constraints)),
    }
    for i in np.flatnonzero(is_cyclic & ~is_conserved):
        acting = " and ".join(name for name, acts in forces.items() if acts[i])
        reasons[dyn.coordinate_names[i]] = f"it is cyclic, and {acting} act along it"
    momenta, cyclic = (
        tuple(dyn.coordinate_names[i] for i in np.flatnonzero(which)) for which in (is_conserved, is_cyclic)
    )
    return momenta, cyclic


def _hamiltonian(motion: _Motion, reasons: dict[str, str]) -> bool:
    if (why := motion.dyn.kernels.why_not("hamiltonian")) is not None:
        reasons["hamiltonian"] = why
        return False
    return bool(_vanishes(motion.rates(motion.dyn.kernels.hamiltonian_rate)))


# -------------------------------------------------------------------------------------- along fixed axes


def _linear_momentum(motion: _Motion) -> tuple[Vector, ...]:
    return _axes(motion.momentum) if motion.is_heavy.any() else ()


def _angular_momentum(motion: _Motion, reasons: dict[str, str]) -> tuple[tuple[str, Vector], ...]:
    """Fixed points, and the axes through them about which the angular momentum is conserved."""
    facts, names = motion.dyn.facts, motion.dyn.points
    trees, bodies = facts.roots or [0] * len(names), facts.bodies
    start = list(zip(trees, facts.origins, strict=True))  # points may share a name
    used = {start[place] for (place, _), heavy in zip(bodies, motion.is_heavy.tolist(), strict=True) if heavy}
    if len(used) != 1 or not all(origin for _, origin in used):
        if used:
            reasons["angular_momentum"] = "the positions of the bodies are not known from one fixed point"
        return ()
    [(tree, origin)], positions = used, motion.positions
    is_fixed = _vanishes(positions - positions[0], (positions,)).all(axis=-1)
    is_fixed &= np.array([place == (tree, origin) for place in start])
    fixed = [(origin, np.zeros_like(motion.positions[..., 0, :]))]
    fixed += [(names[i], motion.positions[..., i, :]) for i in np.flatnonzero(is_fixed)]
    if len(_axes(motion.momentum)) == 3:
        fixed = fixed[:1]
    about = [(name, place[0, 0], _axes(motion.angular_momentum(place))) for name, place in fixed]
    about.sort(key=lambda entry: -len(entry[2]))
    return tuple(
        (name, axis)
        for i, (name, place, axes) in enumerate(about)
        for axis in axes
        if not any(_is_axis_of(axis, place - other, others) for _, other, others in about[:i])
    )


def _is_axis_of(axis: Vector, apart: Array, others: Sequence[Vector]) -> bool:
    """Test whether an axis passes through another point, at distance ``apart``, and is spanned by the axes there."""
    beside, components = np.linalg.norm(np.cross(apart, axis)), np.asarray(axis)
    if not others or beside > EQUAL * np.linalg.norm(apart):
        return False
    basis = np.linalg.qr(np.transpose(others))[0]
    return bool(np.linalg.norm(components - basis @ (basis.T @ components)) <= EQUAL)


def _axes(rates: Array) -> tuple[Vector, ...]:
    """Unit vectors along which vector rates vanish at all places: coordinate axes, then others."""
    zero = _vanishes(rates)
    directions = [row for row, is_zero in zip(np.eye(3), zero, strict=True) if is_zero]
    rest = np.flatnonzero(~zero)
    if len(rest) > 1:
        values, rounding = rates[:, 0, rest], _rounding(rates[..., rest])
        clear = np.any(np.abs(values) > _CLEAR * CONSERVED * rounding, axis=1)
        basis = null_space(values[clear], np.ones(len(rest)))
        for column in np.linalg.qr(_simplest(basis))[0].T:
            limit = CONSERVED * rounding + EQUAL * np.abs(values)
            if np.all(np.abs(values @ column) <= limit @ np.abs(column)):
                directions.append(np.zeros(3))
                directions[-1][rest] = column
    return tuple(_readable(direction) for direction in directions)


def _simplest(basis: Array) -> Array:
    """Basis of the same space, with vectors of few components."""
    return np.asarray(basis @ np.linalg.inv(basis[pivots(basis.T, basis.shape[1])]))


def _readable(direction: Array) -> Vector:
    """Direction or its opposite, so that the first of the largest components is positive; without negative zeros."""
    size = np.abs(direction)
    sign = 1.0 if direction[np.argmax(size >= (1.0 - EQUAL) * np.max(size))] > 0.0 else -1.0
    x, y, z = (float(sign * c) if abs(c) > NOISE else 0.0 for c in direction)
    return x, y, z


def _written(axis: Vector) -> str:
    return f"({', '.join(f'{x:.4g}' for x in axis)})"
