# SPDX-License-Identifier: BSD-3-Clause
"""Solutions of loads that depend on reactions, at a state: s = h(N), N = α + β s.

Kernels follow the solution that is connected with zero friction, or none.  Here all solutions are looked for, by
Newton's method from each pattern of signs of N: between two changes of sign friction μ|N| is linear, and one step finds
the solution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import KanecoreError
from kanecore.run.printed_results import PrintedResult

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["LoadSolution", "described", "fault_of", "load_solutions", "signs_taken"]

Array = npt.NDArray[np.float64]

_PATTERNS = 8  # most reactions for which all patterns of signs are tried; for more, as many random patterns
_STEPS = 60
_LENGTHS = 0.5 ** np.arange(10)[:, np.newaxis]  # lengths of parts of a step
_CLOSE = 1e-9  # largest residual, relative to the terms of s − h(N); for floats the same share of the digits
_SAME = 1e-6  # relative distance of equal solutions


@dataclass(frozen=True, repr=False)
class LoadSolution(PrintedResult):
    """Reactions that satisfy the equations of motion with the loads that depend on them.

    Attributes
    ----------
    reactions : dict of str to float
        Reactions in loads; components of a joint's reaction are in inertial axes.
    determinant : float
        Det(1 − ∂h/∂N β), relative to its value without friction; it vanishes where solutions meet or part.
    connected : bool
        Whether kernels find this solution: the determinant is positive on the path from zero friction.
    """

    reactions: Mapping[str, float]
    determinant: float
    connected: bool

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.reactions.items())
        return f"{values} (determinant {self.determinant:.3g}{', connected' * self.connected})"


class _Terms:
    """The terms α, β and h at a state."""

    def __init__(self, dyn: Evaluator, t: float, x: Array, r: Any, p: Any) -> None:
        table = np.asarray(dyn.kernels.reaction_shares(t, x, r=r, p=p), dtype=np.float64)
        self.close, self.same = (each ** (23 / 52) if dyn.single else each for each in (_CLOSE, _SAME))
        self.start, self.slopes = table[:, 0], table[:, 1:]
        self.names = tuple(dyn.facts.reaction_names)
        self._call = partial(dyn.kernels.share_laws, t, x, r=r, p=p)
        self._before = dyn.n_u + dyn.n_constraints

    def laws(self, reactions: Array) -> tuple[Array, Array, Array]:
        """Parts h (..., k), their derivatives (..., k, n), and their powers h F·u (..., k), at N (..., n)."""
        beyond = np.zeros((*reactions.shape[:-1], self._before + reactions.shape[-1]))
        beyond[..., self._before :] = reactions
        table = np.asarray(self._call(beyond), dtype=np.float64)
        return table[..., 0], table[..., 1:-1], table[..., 0] * table[..., -1]

    def jacobian(self, slopes: Array) -> Array:
        return np.asarray(np.eye(self.slopes.shape[1]) - slopes @ self.slopes)

    def step(self, reactions: Array) -> tuple[Array, float]:
        """N after a step of Newton's method from any N, and det J before it; NaN where J is singular."""
        h, slopes, _ = self.laws(reactions)
        jacobian = self.jacobian(slopes)
        try:
            s = np.linalg.solve(jacobian, h + slopes @ (self.start - reactions))
        except np.linalg.LinAlgError:
            s = np.full_like(h, np.nan)
        return self.start + self.slopes @ s, float(np.linalg.det(jacobian))

    def shortened(self, reactions: Array, following: Array) -> Array:
        """N after the longest part of a step that reduces N − α − β h; after the whole step if none does."""
        tried = np.vstack([reactions, reactions + _LENGTHS * (following - reactions)])
        left = np.linalg.norm(tried - self.start - self.laws(tried)[0] @ self.slopes.T, axis=1)
        better = np.flatnonzero(left[1:] < left[0])
        return np.asarray(tried[1 + better[0]] if len(better) else following)

    def solved(self, reactions: Array) -> tuple[Array | None, bool]:
        """The limit of steps from N, None if they do not converge, and whether det J was positive at all steps."""
        positive = True
        for _ in range(_STEPS):
            following, determinant = self.step(reactions)
            positive = positive and determinant > 0
            if not np.isfinite(following).all():
                return None, False
            following = self.shortened(reactions, following)
            small = np.abs(following - reactions) <= self.close * np.max(np.abs(following), initial=1e-300)
            reactions = following
            if small.all():
                return reactions, positive
        return None, False

    def equal(self, a: Array, b: Array) -> bool:
        """Test whether two solutions are equal."""
        return bool(np.max(np.abs(a - b)) <= self.same * np.max(np.abs(a) + np.abs(b), initial=1e-300))

    @property
    def starts(self) -> Array:
        """N for each pattern of signs, with the magnitudes of the terms of N."""
        n = len(self.start)
        size = np.abs(self.start) + np.abs(self.slopes) @ np.abs(self.laws(self.start)[0])
        size[size == 0] = np.max(size, initial=0.0) or 1.0
        if n <= _PATTERNS:
            signs = np.array(list(product((1.0, -1.0), repeat=n)))
        else:
            signs = np.random.default_rng(0).choice((1.0, -1.0), (2**_PATTERNS, n))
        return np.asarray(signs * size)


def load_solutions(dyn: Evaluator, t: float, x: Array, r: Any = None, p: Any = None) -> tuple[LoadSolution, ...] | None:
    """All solutions at a state, the connected one first; None for a model without loads of reactions."""
    if not dyn.facts.reaction_names:
        return None
    terms = _Terms(dyn, t, x, r, p)
    with np.errstate(all="ignore"):
        first, positive = terms.solved(terms.start)
        found = [] if first is None else [first]
        for start in terms.starts:
            other = terms.solved(start)[0]
            if other is not None and not any(terms.equal(other, each) for each in found):
                found.append(other)
        determinants = [float(np.linalg.det(terms.jacobian(terms.laws(each)[1]))) for each in found]
    connected = [i == 0 and first is not None and positive and d > 0 for i, d in enumerate(determinants)]
    named = [dict(zip(terms.names, map(float, each), strict=True)) for each in found]
    return tuple(LoadSolution(*each) for each in zip(named, determinants, connected, strict=True))


def signs_taken(
    dyn: Evaluator, t: float, x: Array, solution: LoadSolution, r: Any = None, p: Any = None
) -> tuple[str, ...]:
    """Reactions with a sign that a load does not expect: it is linear in them, and drives where friction brakes.

    A load μN acts against the motion while N presses; if N pulls, the load has positive power.
    """
    terms, reactions = _Terms(dyn, t, x, r, p), np.array(list(solution.reactions.values()))
    h, slopes, powers = terms.laws(reactions)
    driving = np.flatnonzero(powers > 0)
    taken = []
    for i, name in enumerate(terms.names):
        turned = reactions.copy()
        turned[i] *= -1.0
        odd = np.abs(terms.laws(turned)[0] - h + 2.0 * slopes[:, i] * reactions[i]) <= terms.close * np.abs(h)
        if any(odd[j] and slopes[j, i] and h[j] for j in driving):
            taken.append(name)
    return tuple(taken)


def described(solutions: tuple[LoadSolution, ...]) -> str:
    """Line of a report that lists solutions."""
    if len(solutions) == 1 and solutions[0].connected:
        return f"loads of reactions: unique, {solutions[0]}"
    if not solutions:
        return "loads of reactions: no solution; speeds jump without impact (Painlevé)"
    return f"loads of reactions: {_number(solutions)}: {'; '.join(map(str, solutions))}"


def _number(solutions: tuple[LoadSolution, ...]) -> str:
    return f"{len(solutions)} solution{'s' * (len(solutions) != 1)}"


def fault_of(dyn: Evaluator, t: float, x: Array, r: Any, p: Any, unended: bool) -> str:
    """Reason why kernels found no solution at a state, in words."""
    numbers = ", ".join(dyn.facts.loads_of_reactions)
    where = f"load {numbers} of {dyn.name!r} depends on reactions, and"
    try:
        solutions = load_solutions(dyn, t, x, r, p) or ()
    except KanecoreError:  # the library lacks these kernels
        return f"{where} no solution is connected with the frictionless one: it jams, or hits without impact (Painlevé)"
    said = "; ".join(map(str, solutions))
    if unended and len(solutions) == 1:
        return (
            f"{where} Newton's steps did not reach its solution {said}: the law is too steep, use a larger transition"
        )
    if not solutions:
        return (
            f"{where} no accelerations satisfy both: it hits without impact (Painlevé), and speeds jump; use less "
            "friction, or end the run by an event before,"
        )
    if len(solutions) == 1:
        return (
            f"{where} its only solution is not connected with the frictionless one: it jams (Painlevé), {said}; use "
            "less friction, or avoid the state,"
        )
    return (
        f"{where} {_number(solutions)} exist, none connected with the frictionless one, so that the motion is "
        f"ambiguous (Painlevé): {said}; use less friction, or avoid the state,"
    )
