# SPDX-License-Identifier: BSD-3-Clause
"""Random states that satisfy the constraints of a description.

Velocities set by a user may be right only where constraints are satisfied (:mod:`.velocity_contradictions`): they are
compared at such states.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.expression_graph import Graph
from kanecore.graph.random_samples import Sample
from kanecore.tolerances import RANK

from .kinematics import Kinematics

__all__ = ["constrained_states", "moving_states", "states_with"]

STATES, TRIES, STEPS = 2, 12, 30  # states to find, seeds to start from, steps of Newton's method without progress
CLOSED = 1e-11  # limit of Newton's residual, relative to the first-order terms of a row; smaller residuals are rounding


def constrained_states(k: Kinematics, accelerations: bool) -> list[Sample]:
    """States that satisfy the constraints in positions, in velocities and, on request, in accelerations."""
    return list(itertools.islice(_states(k, list(_levels(k, accelerations)), range(TRIES), {}), STATES))


def states_with(k: Kinematics, parameters: Mapping[int, float], seeds: Iterable[int]) -> Iterator[Sample]:
    """States that satisfy the constraints in positions, velocities and accelerations, with given values of parameters.

    Each seed gives at most one state.  Without values the parameters are drawn so that the constraints can be
    satisfied.
    """
    levels = [level.without_choice() if parameters else level for level in _levels(k, True)]
    return _states(k, levels, seeds, parameters)


def moving_states(k: Kinematics) -> list[Sample]:
    """States that satisfy the given constraints on velocities; constraints on positions are ignored."""
    velocities = [constraint.node for constraint in k.description.constraints if constraint.kind == "velocity"]
    levels = [_Level(k.graph, k.description.speeds, velocities)]
    return list(itertools.islice(_states(k, levels, range(TRIES), {}), STATES)) if velocities else []


def _states(
    k: Kinematics, levels: Sequence[_Level], seeds: Iterable[int], parameters: Mapping[int, float]
) -> Iterator[Sample]:
    solutions = ((seed, _solution(levels, seed, parameters)) for seed in seeds)
    return (Sample(k.graph, seed, values) for seed, values in solutions if values is not None)


def _levels(k: Kinematics, accelerations: bool) -> Iterator[_Level]:
    """The nonempty lists of constraints on positions, velocities and accelerations."""
    d, g = k.description, k.graph
    positions, velocities, further = (
        [constraint.node for constraint in d.constraints if constraint.kind == kind]
        for kind in ("configuration", "velocity", "acceleration")
    )
    if positions:
        norms = [g.sub(g.sum(g.square(d.coordinates[i]) for i in group), g.one) for group in d.unit]
        # four bars of random lengths seldom close
        yield _Level(g, d.coordinates, [*positions, *norms], or_else=(*d.coordinates, *d.parameters))
    rates = [*velocities, *(k.rate.of(phi) for phi in positions)]
    if rates:
        yield _Level(g, d.speeds, rates)
    if accelerations and (rates or further):
        along = Tangent(g, {**k.seeds, **dict(zip(d.speeds, d.accelerations, strict=True))}).of
        yield _Level(g, d.accelerations, [*further, *map(along, rates)])


def _solution(levels: Sequence[_Level], seed: int, parameters: Mapping[int, float]) -> dict[int, float] | None:
    """Values of all unknowns, level by level; None if a level has no solution near random values."""
    values = dict(parameters)
    for level in levels:
        solution = level.solution(seed, values)
        if solution is None:
            return None
        values = solution
    return values


class _Level:
    """Equations and the symbols for which they are solved; ``or_else`` are the symbols to try after these."""

    def __init__(self, g: Graph, unknowns: Sequence[int], rows: Sequence[int], or_else: Sequence[int] = ()) -> None:
        self.graph, self.rows = g, rows
        self._choices = [unknowns, or_else] if or_else else [unknowns]

    def without_choice(self) -> _Level:
        return _Level(self.graph, self._choices[0], self.rows)

    def solution(self, seed: int, known_values: Mapping[int, float]) -> dict[int, float] | None:
        """Values of all symbols, given and unknown; None if there is no solution."""
        solutions = (self._newton(seed, known_values, unknowns) for unknowns in self._choices)
        return next((values for values in solutions if values is not None), None)

    def _newton(self, seed: int, known_values: Mapping[int, float], unknowns: Sequence[int]) -> dict[int, float] | None:
        """Values of the unknowns for given values of the other symbols, with the least change from random values."""
        g, rows = self.graph, self.rows
        slopes = [accumulate(g, [(row, g.one)], unknowns) for row in rows]
        x = np.array(Sample(g, seed, known_values).values(unknowns))
        stalled, before = 0, np.full(len(rows), np.inf)
        while stalled < STEPS:
            values = {**known_values, **dict(zip(unknowns, x.tolist(), strict=True))}
            state = Sample(g, seed, values)
            residual = np.array(state.values(rows))
            jacobian = np.array([state.values(row) for row in slopes]).reshape(len(rows), len(unknowns))
            if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
                return None
            small = np.abs(residual) <= CLOSED * (np.abs(jacobian) @ np.abs(x))
            if all(ok or state.vanishes(row) for ok, row in zip(small, rows, strict=True)):
                return values
            # far from a solution each step reduces the residual of a quadratic row to a quarter
            falls = np.abs(residual) <= 0.5 * before
            stalled, before = stalled + (not np.all(small | falls)), np.abs(residual)
            x = x - np.linalg.lstsq(jacobian, residual, rcond=RANK)[0]
        return None
