# SPDX-License-Identifier: BSD-3-Clause
"""The constraints at a state: rank of G, residuals, contradictory rows, and the number of rows that count.

Checks, consistent states and the start of a simulation take these facts from the same object, so that each is computed
once.

A flat row has no rate wherever it is satisfied, and yet does not follow from other rows: x² + y² = 0 requires x = y =
0, but its rate vanishes there.  A redundant row is satisfied wherever the others are, and a flat row is not.  A state
nearby that satisfies the other rows distinguishes them.

The number of rows that count is the rank of G at general states on the constraints.  It depends on the parameters, and
is found when these are prepared (``kc_count`` in ``emit/runtime/projection_and_rank.h``).  If rows are lost at a state,
neighbours on the constraints distinguish a dead point from a part of the manifold on which fewer rows are independent.
The result is used for this call, and is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints, Level, frozen, normalise
from kanecore.errors import ModelError, SingularError, warn
from kanecore.rank import NEAR, equilibrated, extents, independent_rows, null_space, rank_of, size_of
from kanecore.tolerances import CONTRADICTORY, EQUAL, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["RATE", "ConstraintState", "count_near", "flat_row", "refuse_flat_rows", "warn_of_count"]

Array = npt.NDArray[np.float64]

RATE = "rate of "
"""Beginning of the name of a derivative of a configuration constraint."""

_FLAT = 1e-6  # largest residual there of a row that follows from the others
_STEPS = 20  # steps of Newton's method to such a state


def flat_row(state: Constraints, extents: Array) -> str | None:
    """Name of a row that is lost at a state, and violated nearby where the others are satisfied; None without one.

    ``extents``, (n_x,), are the reference magnitudes of the coordinates and speeds.
    """
    for level in state.levels:
        independent = independent_rows(equilibrated(_turning_slopes(level), level.units))
        if len(independent) == len(level.slopes):
            continue
        misses = _misses_where_these_hold(level, independent, extents[level.part])
        worst = int(np.argmax(misses))
        if misses[worst] > _FLAT:
            return level.names[worst]
    return None


def _misses_where_these_hold(level: Level, rows: list[int], far: Array) -> Array:
    """Relative |f| of all rows at a state nearby that satisfies some of them; these count as 0.

    All count as 0 if no such state was found.
    """
    near = _where_these_hold(level, rows, far)
    beside = np.maximum(near.term_sizes, np.max(np.abs(near.slopes) * far, axis=-1, initial=0.0))
    size = np.abs(near.residual)
    misses = np.divide(size, beside, out=np.zeros_like(size), where=size != 0.0)
    if np.max(misses[rows], initial=0.0) > _FLAT:
        return np.zeros_like(misses)
    misses[rows] = 0.0
    return np.asarray(misses)


def _turning_slopes(level: Level) -> Array:
    """∂f/∂y without the directions that change norms of unit quaternions, in which there are no states."""
    slopes, dyn = level.slopes.copy(), level.at.dyn
    for quaternion in dyn.unit if level.part.start == 0 else ():
        places = list(quaternion)
        axis = level.at.x[places]
        slopes[:, places] -= np.outer(slopes[:, places] @ axis, axis)
    return slopes


def _where_these_hold(level: Level, rows: list[int], far: Array) -> Level:
    """State nearby that satisfies some rows; Gauss-Newton steps go along the directions that all rows leave free."""
    dyn, part, units = level.at.dyn, level.part, level.units
    x = level.at.x.copy()
    free = null_space(_turning_slopes(level), units)
    x[part] += NEAR * (free @ (free.T @ np.random.default_rng(2).uniform(-1.0, 1.0, len(far)))) * far
    normalise(dyn, x)
    for _ in range(_STEPS):
        near = level.moved(x)
        scaled = _turning_slopes(near)[rows] * units
        size = size_of(scaled)
        step = units * (np.linalg.pinv(scaled / size[:, np.newaxis], rcond=RANK) @ (near.residual[rows] / size))
        x[part] -= step
        normalise(dyn, x)
        if np.max(np.abs(step) / far, initial=0.0) < NEAR * _FLAT:
            break
    return level.moved(x)


_THIN = 1e-4  # of an entry's values nearby: a flat row has only smaller entries where it is satisfied
_PLACES = 6  # number of states tried around a state
_NEIGHBOURS = 3  # sufficient number of neighbours on the constraints
_PART = 0.03  # least coefficient of a row in the weakest combination, of length 1, for the row to be part of it


class ConstraintState(Constraints):
    """Constraints at a state, (n_x,), of a model with some inputs and parameters.

    Each fact is computed on first use, and kept.  States nearby are separate objects.
    """

    def __init__(self, dyn: Evaluator, t: float, x: npt.ArrayLike, r: Any = None, p: Any = None) -> None:
        super().__init__(dyn, t, np.asarray(x, dtype=np.float64), r, p)

    @cached_property
    def at_rest(self) -> ConstraintState:
        """State with the same coordinates and zero speeds."""
        return self.moved(np.concatenate([self.q, np.zeros(self.dyn.n_u), self.z])) if self.u.any() else self

    @cached_property
    def rates(self) -> tuple[Array, Array]:
        """Y (n_q, n_u) and z (n_q,) of q̇ = Y u + z, which do not depend on speeds."""
        return super().rates if self.at_rest is self else self.at_rest.rates

    @cached_property
    def extents(self) -> Array:
        """Reference magnitude of each coordinate, speed and state, (n_x,); at least 1 for states."""
        of_states = np.maximum(np.abs(self.z), 1.0)
        return frozen(
            np.concatenate([extents(self.q, self.coordinate_units), extents(self.u, self.speed_units), of_states])
        )

    @cached_property
    def projected(self) -> ConstraintState:
        """The state on the constraints of least change; SingularError if no motion leads there."""
        return self.moved(np.asarray(self.dyn.kernels.project(self.t, self.x, **self.values)))

    # --------------------------------------------------------------------------------------------- residuals

    def satisfied(self, limit: float) -> bool:
        """Test whether all constraints are satisfied within a limit."""
        return bool(np.max(self.misses, initial=0.0) <= limit)

    @property
    def residual_names(self) -> list[str]:
        """Names of the entries of `misses`; the derivative of a configuration constraint has its name."""
        coordinates, speeds = (level.names for level in self.levels)
        return [*coordinates, *(f"{RATE}{name}" if name in coordinates else name for name in speeds)]

    def described_misses(self, limit: float) -> str:
        """Text ``'name' (residual), ...`` of the constraints with residuals beyond a limit, the largest first.

        Residuals are in units of the coordinates and of the speeds.  The text also names rows that contradict each
        other.
        """
        residuals = np.concatenate([level.residual_in_units for level in self.levels])
        largest_first = np.argsort(-np.abs(residuals), kind="stable")
        names = self.residual_names
        text = ", ".join(f"{names[i]!r} ({residuals[i]:.3g})" for i in largest_first if not self.misses[i] <= limit)
        opposed = self.contradictory_speed_rows
        if len(opposed) > 1:  # a row that contradicts itself has no coefficients at these speeds
            text += f"; {' and '.join(map(repr, opposed))} contradict each other: no speeds satisfy them together"
        return text

    # ------------------------------------------------------------------------------- neighbours and ranks

    @cached_property
    def nearby(self) -> Constraints:
        """Some states nearby, which need not be on the constraints: (6, n_x)."""
        places = self.x + NEAR * self.extents * np.random.default_rng(0).uniform(-1.0, 1.0, (_PLACES, self.dyn.n_x))
        for x in places:
            normalise(self.dyn, x)
        return Constraints(self.dyn, self.t, places, self.r, self.p)

    @cached_property
    def neighbours(self) -> tuple[ConstraintState, ...]:
        """Some states on the constraints nearby."""
        on_constraints: list[ConstraintState] = []
        for x in self.nearby.x if self.dyn.n_constraints else ():
            try:
                on_constraints.append(self.moved(x).projected)
            except SingularError:
                continue
            if len(on_constraints) == _NEIGHBOURS:
                break
        return tuple(on_constraints)

    @cached_property
    def count(self) -> int:
        """Number of independent rows of G in general, which depends only on the parameters."""
        return self.dyn.kernels.count(self.p)

    @cached_property
    def clear_rows(self) -> Array:
        """G with zeros for rows that are only rounding, tiny relative to their values at neighbours."""
        around = [self, *self.neighbours]
        size = np.max([size_of(other.rows * self.speed_units) for other in around], axis=0)[:, np.newaxis]
        left = size_of(self.rows * self.speed_units)[:, np.newaxis]
        return frozen(np.where(left > RANK * size, self.rows, 0.0))

    @cached_property
    def row_factors(self) -> tuple[Array, Array, Array]:
        """(U, s, Vᵀ), the singular value decomposition U diag(s) Vᵀ of `clear_rows` in the metric of the masses."""
        of_rows, s, of_columns = np.linalg.svd(equilibrated(self.clear_rows, self.speed_units))
        return frozen(of_rows), frozen(s), frozen(of_columns)

    @cached_property
    def rank(self) -> int:
        """Number of independent rows of G at this state."""
        return rank_of(self.clear_rows, self.speed_units, self.count)

    @property
    def full_rank(self) -> bool:
        """Test whether as many rows of G as count are independent at this state, without thin rows."""
        return self._rank_without_thin_rows >= self.count

    @cached_property
    def typical_rank(self) -> int | None:
        """Number of independent rows of G at the neighbours or here, without thin rows; None without neighbours."""
        if not self.neighbours:
            return None
        return max(self._rank_without_thin_rows, *(self._thick_rank(other) for other in self.neighbours))

    @cached_property
    def flat_row(self) -> str | None:
        """Name of a row that constrains no motion wherever it is satisfied, and yet does not follow from the others."""
        if self._rank_without_thin_rows == min(self.dyn.n_constraints, self.dyn.n_u):
            return None  # nothing is lost
        typical = self.typical_rank
        dead_point = typical is not None and self._rank_without_thin_rows < typical
        return None if dead_point else flat_row(self, self.extents)

    @cached_property
    def _rank_without_thin_rows(self) -> int:
        return self._thick_rank(self)

    def _thick_rank(self, other: ConstraintState) -> int:
        """Rank of G at this state or a neighbour, without entries that are tiny relative to their values nearby."""
        thick = np.abs(other.rows) > _THIN * np.max(np.abs(self.nearby.rows), axis=0)
        return rank_of(np.where(thick, other.rows, 0.0), other.speed_units)

    # ----------------------------------------------------------------------------------------- contradictions

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """Names of rows of G u̇ + γ = 0 that no u̇ satisfies together, according to the kernel of u̇."""
        try:
            self.dyn.udot(self.t, self.x, **self.values)
        except SingularError as singular:
            return singular.contradictory or ()
        return ()

    def contradictory_rows(self, row: int = -1) -> tuple[str, ...]:
        """Names of the rows of G u̇ + γ = 0 that contradict each other; at least row ``row`` and the rows it repeats.

        Near a branching point a row nearly repeats others, and is part of the weakest combination of rows.
        """
        opposed = self._opposed(self.rows, self.bias)
        if row >= 0 and row not in opposed:
            opposed = np.flatnonzero(_repetition(self.rows, self.speed_units)[row]).tolist()
        if row >= 0 and not opposed:
            weakest = np.linalg.svd(equilibrated(self.rows, self.speed_units))[0][:, -1]
            opposed = sorted({row, *np.flatnonzero(np.abs(weakest) > _PART).tolist()})
        return self._row_names(opposed)

    @cached_property
    def contradictory_speed_rows(self) -> tuple[str, ...]:
        """Names of the rows c(q, u, t) = 0, linearized, that no u satisfies together at these coordinates."""
        slopes = self.velocity_slopes
        return self._row_names(self._opposed(slopes, self.velocity_residual - slopes @ self.u))

    def _opposed(self, rows: Array, offset: Array) -> list[int]:
        """Rows of A y + b = 0 without a common solution: their residual is large beside its terms."""
        if not rows.size:
            return []
        repetition, b = _repetition(rows, self.speed_units), offset / size_of(rows * self.speed_units)
        remainder, terms = np.abs(repetition @ b), np.abs(repetition) @ np.abs(b)
        return [int(i) for i in np.flatnonzero(remainder > CONTRADICTORY * terms)]

    def _row_names(self, rows: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.dyn.constraint_names[i] for i in rows)


def _repetition(rows: Array, units: Array) -> Array:
    """The projector onto combinations of rows, of equal size, that vanish."""
    equal = equilibrated(rows, units)
    projector = np.eye(len(rows)) - equal @ np.linalg.pinv(equal, rcond=RANK)
    projector[np.abs(projector) < EQUAL] = 0.0
    return np.asarray(projector)


_warned_counts: WeakKeyDictionary[Evaluator, set[int]] = WeakKeyDictionary()  # by model


def count_near(state: ConstraintState) -> int:
    """Number of rows that count at a state: the parameters' number, unless fewer are independent at all neighbours.

    ModelError if the reason is a flat row.
    """
    if state.full_rank:
        return state.count  # without neighbours, which take most of the time
    typical = state.typical_rank
    if typical is None or typical >= state.count:
        return state.count
    refuse_flat_rows(state)
    return typical


def refuse_flat_rows(state: ConstraintState) -> None:
    """Raise ModelError for rows that are lost wherever they are satisfied, and yet do not follow from the others.

    Raises
    ------
    ModelError
        The message names the row.
    """
    if state.dyn.n_constraints and state.flat_row is not None:
        raise ModelError(
            f"{state.flat_row!r} of {state.dyn.name!r} restricts no motion wherever it is satisfied: its coefficients "
            "are zero there, or are those of other rows, and yet it does not follow from the others. This happens with "
            "squares, such as x**2 + y**2 for x = y = 0, and with surfaces that touch: write one row of first powers "
            "for each "
            "component"
        )


def warn_of_count(state: ConstraintState) -> None:
    """Warn, once for a model, if more or fewer speeds are declared dependent than rows of G count."""
    dyn, count = state.dyn, state.count
    dependent, warned = dyn.n_u_dependent, _warned_counts.setdefault(dyn, set())
    if not dependent or count == dependent or count in warned:
        return
    warned.add(count)
    speeds, rows = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((dependent, "speed"), (count, "row")))
    if count < dependent:
        why = f"from the others nothing follows: name {count} in u_dependent"
    else:
        why = (
            "configuration constraints that do not follow from the velocity constraints count as well. kanecore "
            f"satisfies all of them; SymPy's KanesMethod would satisfy only the velocity constraints. Name {count} "
            f"speeds in u_dependent, or leave out redundant rows"
        )
    independent = "is independent" if count == 1 else "are independent"
    warn(f"u_dependent of {dyn.name!r} names {speeds}, and {rows} of its constraints {independent}: {why}")
