# SPDX-License-Identifier: BSD-3-Clause
"""Diagnosis of constraints at a state, `CompiledModel.check`: rank, redundancy, consistency, integrability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import consistent_state, state_of
from kanecore.constraints.constraint_state import ConstraintState, refuse_flat_rows, warn_of_count
from kanecore.constraints.constraint_values import normalise
from kanecore.constraints.integrability import integrable
from kanecore.constraints.load_solutions import LoadSolution, described, load_solutions, signs_taken
from kanecore.errors import ModelError
from kanecore.rank import rank_of, size_of
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import EQUAL, SOLVED

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["Check", "check"]

Array = npt.NDArray[np.float64]

_TRIALS = 20  # number of random states near which a state on the constraints is looked for


@dataclass(frozen=True, repr=False)
class Check(PrintedResult):
    """Result of `CompiledModel.check` at a state on the constraints; ``str()`` gives it in words.

    Attributes
    ----------
    name : str
        Name of the model.
    t, x : float, ndarray
        The state; ``x`` is on the constraints.
    n_constraints, rank, dof : int
        Number of rows of G, number of independent rows at this state, and n_u − rank.
    typical_rank : int
        The rank at states on the constraints nearby; if it is larger than ``rank``, the state is singular (a dead
        point).
    redundant : tuple of str
        Rows that follow from earlier rows.
    contradictory : tuple of str
        Rows that no u̇ satisfies together, so that G u̇ + γ = 0 has no solution.
    undetermined : tuple of str
        Rows with multipliers that the motion does not determine, because rows are redundant: λ of least norm is one of
        many.
    undetermined_reactions : tuple of str
        Joints with reactions that depend on these multipliers.
    residuals : dict of str to float
        Residual of each constraint at the given state, relative to the terms of the constraint.
    condition : float
        Condition number of the independent part of G, in rows of equal size: largest by smallest singular value.
    mass_condition : float
        Condition number of the mass matrix of the motions that the constraints allow, speeds in units of √M_jj.
    integrable : bool or None
        Whether all constraints on velocities together follow from constraints on coordinates (Frobenius).  None if they
        are not linear in the speeds, if a speed is the rate of no coordinate, or if there are no such constraints.
    solutions : tuple of LoadSolution or None
        Solutions for loads that depend on reactions; the kernels' solution is first.  Each has ``reactions`` by name, a
        ``determinant`` relative to that without friction, and ``connected``: whether it is connected with zero
        friction.  Empty without a solution; None for a model without such loads.
    signs_taken : tuple of str
        Reactions with a sign opposite to the one that such a load assumes, so that the load drives.
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
    solutions: tuple[LoadSolution, ...] | None = None
    signs_taken: tuple[str, ...] = ()

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
        if worst is not None and self.residuals[worst] > SOLVED:
            lines.append(f"the state given misses {worst} by {self.residuals[worst]:.3g} of its terms")
        if self.n_constraints:
            lines.append(f"condition: constraints {self.condition:.3g}, mass matrix {self.mass_condition:.3g}")
        if self.integrable is not None:
            lines.append(
                "holonomic: together the constraints on velocities are integrable"
                if self.integrable
                else "nonholonomic: together the constraints on velocities are not integrable"
            )
        if self.solutions is not None:
            lines.append(described(self.solutions))
        if self.signs_taken:
            lines.append(
                f"signs taken for granted: a load is linear in {', '.join(self.signs_taken)}, and drives here what it "
                "should brake: write the size of the reaction, or let an event end the contact"
            )
        return "\n".join(lines)


@method("Constraints", doubles=True)
def check(dyn: Evaluator, x: Values | None = None, t: float = 0.0, *, r: Any = None, p: Any = None) -> Check:
    """Rank, redundancy, consistency, condition and integrability of the constraints at a state.

    Parameters
    ----------
    x : array_like, (n_x,), or mapping by name, optional
        Default: a state on the constraints near a fixed random state.
    t : float
    r, p : optional
        Inputs and parameters, as for the kernels.

    Returns
    -------
    Check
        A state off the constraints is first projected to them, with the least change.

    Raises
    ------
    ModelError
        No state on the constraints was found; the message has the residuals by name.
    """
    start = _default_state(dyn, t, r, p) if x is None else state_of(dyn, t, x, r, p)
    state = start if start.satisfied(SOLVED) else consistent_state(start, None)
    refuse_flat_rows(state)
    warn_of_count(state)
    free_multipliers = _free_multipliers(state)
    names = dyn.constraint_names
    solutions = load_solutions(dyn, float(t), state.x, r, p)
    connected = next((each for each in solutions or () if each.connected), None)
    return Check(
        name=dyn.name,
        t=float(t),
        x=state.x.copy(),
        n_constraints=dyn.n_constraints,
        rank=state.rank,
        typical_rank=state.rank if state.typical_rank is None else state.typical_rank,
        dof=dyn.n_u - state.rank,
        redundant=_redundant(state),
        contradictory=state.contradictions,
        undetermined=tuple(name for name, part in zip(names, free_multipliers, strict=True) if part.any()),
        undetermined_reactions=_undetermined_reactions(state, free_multipliers),
        residuals=dict(zip(start.residual_names, start.misses.tolist(), strict=True)),
        condition=_condition(state),
        mass_condition=_mass_condition(state),
        integrable=integrable(state),
        solutions=solutions,
        signs_taken=signs_taken(dyn, float(t), state.x, connected, r, p) if connected else (),
    )


def _default_state(dyn: Evaluator, t: float, r: Any, p: Any) -> ConstraintState:
    """A state on the constraints near the guess of the model and fixed random numbers."""
    rng, guess = np.random.default_rng(0), dyn.facts.guess
    for trial in range(_TRIALS):
        x = rng.uniform(-1.0, 1.0, dyn.n_x) * (0.1 * trial if guess else 1.0)
        for place, value in guess.items():
            x[int(place)] += value
        normalise(dyn, x)
        try:
            return consistent_state(state_of(dyn, t, x, r, p), None)
        except (ModelError, ArithmeticError):
            if trial == _TRIALS - 1:
                raise
    raise AssertionError


def _redundant(state: ConstraintState) -> tuple[str, ...]:
    """Redundant rows, which follow from earlier rows."""
    if rank_of(state.clear_rows, state.speed_units) == len(state.clear_rows):
        return ()
    ranks = [rank_of(state.clear_rows[:n], state.speed_units) for n in range(len(state.clear_rows) + 1)]
    return tuple(name for i, name in enumerate(state.dyn.constraint_names) if ranks[i + 1] == ranks[i])


def _condition(state: ConstraintState) -> float:
    """Condition number of the independent part of G, in rows of equal size."""
    s = state.row_factors[1]
    return float(s[0] / s[state.rank - 1]) if state.rank else 1.0


def _mass_condition(state: ConstraintState) -> float:
    """Condition number of the mass matrix of the motions that G allows."""
    units, allowed = state.speed_units, state.row_factors[2][state.rank :].T
    masses = np.abs(np.linalg.eigvals(allowed.T @ (state.mass * np.outer(units, units)) @ allowed))
    smallest = float(np.min(masses, initial=np.inf))
    return float(np.max(masses, initial=0.0)) / smallest if smallest > 0.0 else float("inf")


def _free_multipliers(state: ConstraintState) -> Array:
    """Multipliers without effect on the motion, Gᵀλ = 0: (n_constraints, n_constraints − rank)."""
    null = state.row_factors[0][:, state.rank :].copy()
    null[np.abs(null) < EQUAL] = 0.0
    return np.asarray(null / size_of(state.clear_rows * state.speed_units)[:, np.newaxis])


def _undetermined_reactions(state: ConstraintState, free_multipliers: Array) -> tuple[str, ...]:
    """Joints with reactions that depend on multipliers without effect on the motion."""
    if not free_multipliers.any():
        return ()
    try:
        slopes = state.dyn.kernels.reaction_slopes(state.t, state.x, **state.values)
    except ModelError:  # the places of constraint forces are unknown
        return ()
    change, terms = np.abs(slopes @ free_multipliers), np.abs(slopes) @ np.abs(free_multipliers)
    changes = (change > EQUAL * np.max(terms, axis=(1, 2), keepdims=True)).any(axis=(1, 2))
    return tuple(name for name, is_changed in zip(state.dyn.joints, changes, strict=True) if is_changed)
