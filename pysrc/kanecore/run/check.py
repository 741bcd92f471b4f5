# SPDX-License-Identifier: BSD-3-Clause
"""Rank, redundancy, consistency and integrability of constraints at numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError
from kanecore.run.consistent import consistent, state_of
from kanecore.run.constraints import misses, normalise, residual_names
from kanecore.run.metric import allowed, coordinate_units, even, extents, rank_of, rates, size_of, speed_units
from kanecore.run.rank import neighbours, refuse_flat_rows, typical_rank, warn_of_count
from kanecore.tolerances import EQUAL, NOISE, RANK, SOLVED

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["Check", "check", "contradictions"]

Array = npt.NDArray[np.float64]

_STEPS = (1e-4, 1e-6)  # of the differences for integrability, of what is large for each coordinate
_NONHOLONOMIC = 1e-4  # of the terms of a Lie bracket: a part outside of the allowed motions


@dataclass(frozen=True)
class Check:
    """What `CompiledModel.check` found at one state on the constraints; ``str()`` says it in words.

    Attributes
    ----------
    t, x : float, ndarray
        Where; ``x`` is on the constraints.
    n_constraints, rank, dof : int
        Rows of G, how many of them are independent at this state, and n_u − rank.
    typical_rank : int
        The rank at states on the constraints nearby; where it is larger this one is singular (a dead point).
    redundant : tuple of str
        Rows that follow from those before them.
    contradictory : tuple of str
        Rows that no u̇ satisfies together: G u̇ + γ = 0 has no solution.
    undetermined : tuple of str
        Rows whose multipliers the motion does not determine, since redundant rows share them: λ of least norm is one of
        many.
    undetermined_reactions : tuple of str
        Joints whose reactions depend on how these are shared.
    residuals : dict of str to float
        By how much the state that was given misses each constraint, beside the terms it is summed from.
    condition : float
        Of the independent part of G, in rows of equal size: largest by smallest singular value.
    mass_condition : float
        Of the mass matrix of the motions that the constraints allow, speeds in units of √M_jj.
    integrable : bool or None
        Whether all constraints on velocities together follow from some on coordinates (Frobenius); None where they are
        not linear in the speeds, where some speed is the rate of no coordinate, or there are none.
    """

    name: str
    t: float
    x: Array
    n_constraints: int
    rank: int
    typical_rank: int
    dof: int
    redundant: tuple[str, ...]
    contradictory: tuple[str, ...]
    undetermined: tuple[str, ...]
    undetermined_reactions: tuple[str, ...]
    residuals: dict[str, float]
    condition: float
    mass_condition: float
    integrable: bool | None

    def __str__(self) -> str:
        dof = "1 degree of freedom" if self.dof == 1 else f"{self.dof} degrees of freedom"
        rows = f"{self.n_constraints} constraint row{'s' * (self.n_constraints != 1)} of rank {self.rank}, {dof}"
        lines = [f"{self.name} at t = {self.t:g}: {rows}"]
        if self.rank < self.typical_rank:
            lines.append(f"singular: the rank is {self.typical_rank} at states nearby")
        if self.redundant:
            lines.append(f"redundant: {', '.join(self.redundant)}")
        if self.contradictory:
            lines.append(f"contradictory: no accelerations satisfy {', '.join(self.contradictory)} together")
        if self.undetermined:
            lines.append(f"undetermined multipliers, which redundant rows share: {', '.join(self.undetermined)}")
        if self.undetermined_reactions:
            lines.append(f"undetermined reactions, which depend on these: {', '.join(self.undetermined_reactions)}")
        worst = max(self.residuals, key=lambda name: abs(self.residuals[name]), default=None)
        if worst is not None and self.residuals[worst] > 0.0:
            lines.append(f"the state given misses {worst} by {self.residuals[worst]:.3g} of its terms")
        if self.n_constraints:
            lines.append(f"condition: constraints {self.condition:.3g}, mass matrix {self.mass_condition:.3g}")
        if self.integrable is not None:
            lines.append(
                "holonomic: together the constraints on velocities are integrable"
                if self.integrable
                else "nonholonomic: together the constraints on velocities are not integrable"
            )
        return "\n".join(lines)


def check(dyn: Kernels, x: npt.ArrayLike | None = None, t: float = 0.0, *, r: Any = None, p: Any = None) -> Check:
    """Rank, redundancy, consistency, condition and integrability of the constraints at a state.

    Parameters
    ----------
    x : array_like, (n_x,), optional
        Default: a state on the constraints near a random one, always the same.
    t : float
    r, p : optional
        Inputs and parameters, as of the kernels.

    Returns
    -------
    Check
        A state that is not on the constraints is brought there first, with the least change.

    Raises
    ------
    ModelError
        No state on the constraints was found; with the residuals by name.
    """
    values = {"r": r, "p": p}
    given = _some_state(dyn, t, values) if x is None else state_of(dyn, t, x)
    left = misses(dyn, t, given, **values)
    near = given if np.max(left, initial=0.0) <= SOLVED else consistent(dyn, t, given, None, **values)
    refuse_flat_rows(dyn, t, near, **values)
    around = [near, *neighbours(dyn, t, near, values)]
    every = [dyn.constraint_jacobian(t, y, **values) for y in around]
    units = speed_units(dyn, t, near, every[0], **values)
    size = np.max([size_of(part * units) for part in every], axis=0)[:, np.newaxis]
    rows = np.where(np.abs(every[0] * units) > RANK * size, every[0], 0.0)  # what rounding leaves of a row is nothing
    rank, nearby = rank_of(rows, units), typical_rank(dyn, t, near, **values)
    warn_of_count(dyn, p)
    redundant, kept = [], 0
    for i, name in enumerate(dyn.constraint_names):
        now = rank_of(rows[: i + 1], units)
        if now == kept:
            redundant.append(name)
        kept = now
    condition, free = 1.0, np.eye(dyn.n_u)
    if rank:
        s = np.linalg.svd(even(rows, units), compute_uv=False)
        condition, free = float(s[0] / s[rank - 1]), allowed(rows, units)
    mass = np.linalg.eigvals(free.T @ (dyn.mass_matrix(t, near, **values) * np.outer(units, units)) @ free)
    mass = np.abs(mass)
    smallest = float(np.min(mass, initial=np.inf))
    shared = _shared(rows, units)
    return Check(
        name=dyn.name,
        t=float(t),
        x=np.array(near),
        n_constraints=dyn.n_constraints,
        rank=rank,
        typical_rank=rank if nearby is None else nearby,
        dof=dyn.n_u - rank,
        redundant=tuple(redundant),
        contradictory=contradictions(dyn, t, near, **values),
        undetermined=tuple(name for name, part in zip(dyn.constraint_names, shared, strict=True) if part.any()),
        undetermined_reactions=_undetermined_reactions(dyn, t, near, shared, values),
        residuals=dict(zip(residual_names(dyn), left.tolist(), strict=True)),
        condition=condition,
        mass_condition=float(np.max(mass, initial=0.0)) / smallest if smallest > 0.0 else float("inf"),
        integrable=_integrable(dyn, t, near, values),
    )


def contradictions(dyn: Kernels, t: float, x: Array, **values: Any) -> tuple[str, ...]:
    """Rows of G u̇ + γ = 0 that no u̇ satisfies together, as the kernel of u̇ finds them."""
    try:
        dyn.udot(t, x, **values)
    except SingularError as singular:
        if singular.contradictory:
            return singular.contradictory
    return ()


def _shared(rows: Array, units: Array) -> Array:
    """Multipliers that move nothing, Gᵀλ = 0: (n_constraints, n_constraints − rank)."""
    if not rows.size:
        return np.zeros((len(rows), 0))
    left, s, _ = np.linalg.svd(even(rows, units))
    null = left[:, int(np.sum(s > RANK * np.max(s, initial=0.0))) :]
    null[np.abs(null) < EQUAL] = 0.0
    return np.asarray(null / size_of(rows * units)[:, np.newaxis])


def _undetermined_reactions(dyn: Kernels, t: float, x: Array, shared: Array, values: dict[str, Any]) -> tuple[str, ...]:
    """Joints whose reactions change with multipliers that move nothing."""
    if not shared.any():
        return ()
    try:
        slopes = dyn._reaction_slopes(t, x, **values)
    except ModelError:  # nobody said where constraints act
        return ()
    change, terms = np.abs(slopes @ shared), np.abs(slopes) @ np.abs(shared)
    found = (change > EQUAL * np.max(terms, axis=(1, 2), keepdims=True)).any(axis=(1, 2))
    return tuple(name for name, is_shared in zip(dyn.joints, found, strict=True) if is_shared)


def _some_state(dyn: Kernels, t: float, values: dict[str, Any]) -> Array:
    rng, guess = np.random.default_rng(0), dyn._table_info.get("guess", {})
    for trial in range(20):
        x = rng.uniform(-1.0, 1.0, dyn.n_x) * (0.1 * trial if guess else 1.0)
        for place, value in guess.items():
            x[int(place)] += value
        normalise(dyn, x)
        try:
            return consistent(dyn, t, x, None, **values)
        except (ModelError, ArithmeticError):
            if trial == 19:
                raise
    raise AssertionError


def _integrable(dyn: Kernels, t: float, x: Array, values: dict[str, Any]) -> bool | None:
    """Frobenius: whether the Lie brackets of motions that the constraints allow are allowed.

    With D(q, t) the orthogonal projector onto the directions of (q, t) that they allow and a, b any two of these,
    [D a, D b] = (∂D/∂a) b − (∂D/∂b) a must have no part outside of them, beside the size of its terms and the error of
    the differences.  Time is a variable as the coordinates are, and inputs are unknown functions of it: they go with
    their rates, and the highest of these at any rate.
    """
    if not dyn.n_velocity:
        return None
    rng = np.random.default_rng(1)
    m, n_q = dyn.n_velocity, dyn.n_q
    units = speed_units(dyn, t, x, dyn.constraint_jacobian(t, x, **values), **values)
    fast = x.copy()
    fast[n_q:] += rng.uniform(-1.0, 1.0, dyn.n_u) * extents(x[n_q:], units)
    at_rest = np.concatenate([x[:n_q], np.zeros(dyn.n_u)])
    rows, others = (dyn.constraint_jacobian(t, y, **values)[:m] * units for y in (at_rest, fast))
    if np.any(np.abs(rows - others) > EQUAL * np.maximum(size_of(rows), size_of(others))[:, np.newaxis]):
        return None
    places = coordinate_units(dyn, t, x, units, **values)
    moves = rates(dyn, t, x[:n_q], **values)[0][places > 0.0]
    if rank_of(moves.T, 1.0 / places[places > 0.0]) < dyn.n_u:
        return None
    far = np.append(extents(x[:n_q], places), _duration(x, n_q, places, units, t))
    inputs = np.asarray(dyn._resolved("input", {} if values["r"] is None else values["r"]))
    for trial, later in enumerate((0.0, 0.0, 0.02, 0.1, -0.3, 1.0, -2.0)):
        time, r = t + far[-1] * later, inputs
        if later:  # what holds at one time only is no constraint on coordinates
            r = inputs + (1.0 + np.abs(inputs)) * rng.uniform(-1.0, 1.0, dyn.n_r)
        here_values = {"r": r, "p": values["p"]}
        change = _input_rates(dyn, r, rng)
        y = x.copy()
        if trial:
            y[:n_q] += 1e-1 * far[:n_q] * rng.uniform(-1.0, 1.0, n_q)
            normalise(dyn, y)
            try:
                y = np.asarray(dyn._project(time, y, **here_values))
            except SingularError:
                continue
        verdict = _involutive(dyn, np.append(y[:n_q], time), far, r, change, units, values["p"])
        if verdict is not True:
            return verdict
    return True


def _duration(x: Array, n_q: int, places: Array, units: Array, t: float) -> float:
    """A time that is long for a motion: as far as its coordinates go at its speeds."""
    moved = places > 0.0
    far = np.max(np.abs(x[:n_q][moved]) / places[moved], initial=0.0)
    fast = np.max(np.abs(x[n_q:]) / units, initial=0.0)
    return float(far / fast if far > 0.0 and fast > 0.0 else abs(t) or 1.0)


def _input_rates(dyn: Kernels, r: Array, rng: np.random.Generator) -> Array:
    """The rates of the inputs, those that are none of the inputs themselves at random."""
    known = np.array(dyn.input_rates, dtype=np.intp)
    any_rate = (1.0 + np.abs(r)) * rng.uniform(-1.0, 1.0, len(r))
    return np.where(known >= 0, r[known], any_rate) if len(r) else r


def _involutive(dyn: Kernels, place: Array, far: Array, r: Array, change: Array, units: Array, p: Any) -> bool | None:
    """Whether the brackets at one place (q, t) stay within what is allowed there; None where that has edges."""
    at_rest = np.concatenate([place[:-1], np.zeros(dyn.n_u)])
    rank = rank_of(dyn.constraint_jacobian(float(place[-1]), at_rest, r=r, p=p)[: dyn.n_velocity], units)

    def at(where: Array) -> Array:
        return _allowed(dyn, where, far, r + change * (where[-1] - place[-1]), units, rank, p)

    here = at(place)
    outside = np.eye(len(place)) - here @ here.T
    for step in _STEPS:  # a short one for what changes fast, such as a heading of t³ after a while
        changes = []  # ∂D/∂a by differences of the step and its half: how far these are apart is their error
        for direction in here.T:
            both = []
            for h in (step, step / 2.0):
                ends = [at(place + sign * h * far * direction) for sign in (1.0, -1.0)]
                if any(end.shape != here.shape for end in ends):
                    return None
                both.append((ends[0] @ ends[0].T - ends[1] @ ends[1].T) / (2.0 * h))
            changes.append(both)
        for i, a in enumerate(here.T):
            for j in range(i):
                b = here[:, j]
                wide, narrow = (outside @ (changes[i][k] @ b - changes[j][k] @ a) for k in (0, 1))
                size = max(_largest(changes[i][1] @ b), _largest(changes[j][1] @ a))
                error = max(10.0 * _largest(wide - narrow), NOISE / step)
                if _largest(narrow) > max(_NONHOLONOMIC * size, error):
                    return False
    return True


def _largest(vector: Array) -> float:
    return float(np.max(np.abs(vector), initial=0.0))


def _allowed(dyn: Kernels, place: Array, far: Array, r: Array, units: Array, rank: int, p: Any) -> Array:
    """Orthonormal directions of (q, t), in units of ``far``, that the constraints on velocities allow, (n_q + 1, n)."""
    q, t, n_q, values = place[:-1], float(place[-1]), dyn.n_q, {"r": r, "p": p}
    moves, drift = rates(dyn, t, q, **values)
    at_rest = np.concatenate([q, np.zeros(dyn.n_u)])
    rows = dyn.constraint_jacobian(t, at_rest, **values)[: dyn.n_velocity]
    size = size_of(rows * units)
    c = dyn.velocity_residual(t, at_rest, **values) / size
    left, s, right = np.linalg.svd(even(rows, units))
    free = units[:, np.newaxis] * right[rank:].T
    forced = -units * (right[:rank].T @ ((left[:, :rank].T @ c) / s[:rank]))
    directions = np.zeros((n_q + 1, free.shape[1] + 1))
    directions[:n_q, :-1] = moves @ free
    directions[:n_q, -1] = moves @ forced + drift
    directions[n_q, -1] = 1.0
    directions /= far[:, np.newaxis]
    directions /= np.where(size_of(directions.T) > 0.0, size_of(directions.T), 1.0)
    u, s, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(u[:, s > RANK * s[0]])
