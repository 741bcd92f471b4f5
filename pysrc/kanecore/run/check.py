# SPDX-License-Identifier: BSD-3-Clause
"""Rank, redundancy, consistency and integrability of constraints at numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.run.consistent import consistent, state_of
from kanecore.run.constraints import RANK, SOLVED, even, normalise, rank_of, residual_names, residuals, scaled, size_of
from kanecore.run.rank import neighbours, refuse_flat_rows, settle_rank

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["Check", "check", "contradictory"]

Array = npt.NDArray[np.float64]

_STEP = 1e-4  # of the differences for integrability
_CONTRADICTS = 1e-6  # what is left of γ, beside its largest entry, where no u̇ satisfies G u̇ + γ = 0
_NONHOLONOMIC = 1e-4  # of the terms of a Lie bracket: a part outside of the allowed motions
_ROUNDING = 1e-10  # of the differences


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
    residuals : dict of str to float
        Of the state that was given, in units of coordinates and speeds.
    condition : float
        Of the independent part of G, in rows of equal size: largest by smallest singular value.
    mass_condition : float
        Of the mass matrix of the motions that the constraints allow, in speeds as they are.
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
        worst = max(self.residuals, key=lambda name: abs(self.residuals[name]), default=None)
        if worst is not None:
            lines.append(f"largest residual of the state given: {self.residuals[worst]:.3g}, of {worst}")
        if self.n_constraints:
            lines.append(f"condition: constraints {self.condition:.3g}, mass matrix {self.mass_condition:.3g}")
        if self.integrable is not None:
            lines.append(
                "holonomic: together the constraints on velocities are integrable"
                if self.integrable
                else "nonholonomic: together the constraints on velocities are not integrable"
            )
        return "\n".join(lines)


def check(dyn: CompiledModel, x: npt.ArrayLike | None = None, t: float = 0.0, *, r: Any = None, p: Any = None) -> Check:
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
    left = residuals(dyn, t, given, **values) if dyn.n_constraints or dyn.n_configuration else np.zeros(0)
    near = given if np.max(np.abs(left), initial=0.0) <= SOLVED else consistent(dyn, t, given, None, **values)
    typical = settle_rank(dyn, t, near, **values)
    refuse_flat_rows(dyn, t, near, typical, values)
    around = [dyn.constraint_jacobian(t, y, **values) for y in (near, *neighbours(dyn, t, near, values))]
    size = np.max([size_of(part) for part in around], axis=0)[:, np.newaxis]
    rows = np.where(np.abs(around[0]) > RANK * size, around[0], 0.0)  # what rounding leaves of a row is nothing
    rank = rank_of(rows)
    redundant, kept = [], 0
    for i, name in enumerate(dyn.constraint_names):
        now = rank_of(rows[: i + 1])
        if now == kept:
            redundant.append(name)
        kept = now
    condition, allowed = 1.0, np.eye(dyn.n_u)
    if rank:
        _, s, right = np.linalg.svd(even(rows))
        condition, allowed = float(s[0] / s[rank - 1]), right[rank:].T
    mass = np.linalg.eigvalsh(allowed.T @ dyn.mass_matrix(t, near, **values) @ allowed)
    smallest = float(np.min(mass, initial=np.inf))
    return Check(
        name=dyn.name,
        t=float(t),
        x=np.array(near),
        n_constraints=dyn.n_constraints,
        rank=rank,
        typical_rank=typical,
        dof=dyn.n_u - rank,
        redundant=tuple(redundant),
        contradictory=contradictory(dyn, t, near, typical, **values),
        residuals=dict(zip(residual_names(dyn), left.tolist(), strict=True)),
        condition=condition,
        mass_condition=float(np.max(mass, initial=0.0)) / smallest if smallest > 0.0 else float("inf"),
        integrable=_integrable(dyn, t, near, values),
    )


def contradictory(dyn: CompiledModel, t: float, x: Array, typical: int, **values: Any) -> tuple[str, ...]:
    """Rows of G u̇ + γ = 0 that no u̇ satisfies together, at a state on the constraints with the typical rank.

    Kernels bear more, as the stages of an integrator are off the constraints a little.
    """
    rows, bias = dyn.constraint_jacobian(t, x, **values), dyn.constraint_bias(t, x, **values)
    if not rows.size or rank_of(rows) < typical:
        return ()
    bias, rows = scaled(bias, rows)
    left = bias - rows @ (np.linalg.pinv(rows, rcond=RANK) @ bias)
    speed = np.max(np.abs(x[dyn.n_q :]), initial=0.0)
    limit = _CONTRADICTS * np.max(np.abs(bias)) + 1e-9 * (1.0 + speed**2)  # γ is a sum of squares of speeds
    return tuple(name for name, value in zip(dyn.constraint_names, left, strict=True) if abs(value) > limit)


def _some_state(dyn: CompiledModel, t: float, values: dict[str, Any]) -> Array:
    rng, guess = np.random.default_rng(0), dyn.info.get("guess", {})
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


def _integrable(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> bool | None:
    """Frobenius: whether the Lie brackets of motions that the constraints allow are allowed.

    With D(q, t) the orthogonal projector onto the directions of (q, t) that they allow and a, b any two of these,
    [D a, D b] = (∂D/∂a) b − (∂D/∂b) a must have no part outside of them, beside the size of its terms and the error of
    the differences.
    """
    if not dyn.n_velocity:
        return None
    rng = np.random.default_rng(1)
    m, n_q = dyn.n_velocity, dyn.n_q
    fast = x.copy()
    fast[n_q:] += rng.uniform(-1.0, 1.0, dyn.n_u)
    at_rest = np.concatenate([x[:n_q], np.zeros(dyn.n_u)])
    rows, others = (dyn.constraint_jacobian(t, y, **values)[:m] for y in (at_rest, fast))
    if not np.allclose(rows, others, rtol=1e-9, atol=1e-12 * np.max(np.abs(rows), initial=1.0)):
        return None
    if np.linalg.matrix_rank(_rates(dyn, t, x[:n_q], values)[0]) < dyn.n_u:
        return None
    for y in [x, *neighbours(dyn, t, x, values)[:2]]:
        rank = rank_of(dyn.constraint_jacobian(t, y, **values)[:m])
        place = np.append(y[:n_q], t)
        here = _allowed(dyn, place, rank, values)
        outside = np.eye(n_q + 1) - here @ here.T
        changes = []  # ∂D/∂a by differences, of two steps: how far these are apart is their error
        for direction in here.T:
            both = []
            for step in (_STEP, _STEP / 2.0):
                ends = [_allowed(dyn, place + sign * step * direction, rank, values) for sign in (1.0, -1.0)]
                if any(end.shape != here.shape for end in ends):
                    return None
                both.append((ends[0] @ ends[0].T - ends[1] @ ends[1].T) / (2.0 * step))
            changes.append(both)
        for i, a in enumerate(here.T):
            for j in range(i):
                b = here[:, j]
                wide, narrow = (outside @ (changes[i][k] @ b - changes[j][k] @ a) for k in (0, 1))
                size = max(_largest(changes[i][1] @ b), _largest(changes[j][1] @ a))
                limit = max(_NONHOLONOMIC * size, 10.0 * _largest(wide - narrow), _ROUNDING)
                if _largest(narrow) > limit:
                    return False
    return True


def _largest(vector: Array) -> float:
    return float(np.max(np.abs(vector), initial=0.0))


def _allowed(dyn: CompiledModel, place: Array, rank: int, values: dict[str, Any]) -> Array:
    """Orthonormal directions of (q, t) that the constraints on velocities allow, (n_q + 1, n)."""
    q, t, n_q = place[:-1], float(place[-1]), dyn.n_q
    rates, drift = _rates(dyn, t, q, values)
    at_rest = np.concatenate([q, np.zeros(dyn.n_u)])
    c, rows = scaled(
        dyn.velocity_residual(t, at_rest, **values), dyn.constraint_jacobian(t, at_rest, **values)[: dyn.n_velocity]
    )
    left, s, right = np.linalg.svd(rows)
    free = right[rank:].T
    forced = -right[:rank].T @ ((left[:, :rank].T @ c) / s[:rank])
    directions = np.zeros((n_q + 1, free.shape[1] + 1))
    directions[:n_q, :-1] = rates @ free
    directions[:n_q, -1] = rates @ forced + drift
    directions[n_q, -1] = 1.0
    u, s, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(u[:, s > RANK * s[0]])


def _rates(dyn: CompiledModel, t: float, q: Array, values: dict[str, Any]) -> tuple[Array, Array]:
    """Y (n_q, n_u) and z (n_q,) of q̇ = Y u + z."""
    states = np.zeros((dyn.n_u + 1, dyn.n_x))
    states[:, : dyn.n_q] = q
    states[1:, dyn.n_q :] = np.eye(dyn.n_u)
    qdot = dyn.qdot(t, states, **values)
    return (qdot[1:] - qdot[0]).T, qdot[0]
