# SPDX-License-Identifier: BSD-3-Clause
"""Tests of expressions on the graph: zero or equal to rounding, rank, rotation matrices.

Numbers at random states decide if structure does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EPSILON, EQUAL, ROUNDING, TYPED

from .expression_graph import Graph, Op
from .magnitudes import Bounds
from .operations import OPERATIONS
from .random_samples import Sample, samples

__all__ = [
    "adds_up",
    "combinations",
    "deciding",
    "equal",
    "first_independent",
    "is_combination",
    "is_regular",
    "is_rotation",
    "negligible",
    "same_sum",
    "span",
    "vanish",
]

Array = npt.NDArray[np.float64]

_OF_COSINES = 4 * EPSILON
"""Rounding error of the product of two orthogonal unit vectors after several rotations."""

_SMALL = 1e-6  # share of the largest length; rows of lengths are larger
_LARGE = 1e6  # largest length, in the smallest unit of descriptions

BRANCHING = {op for op, row in OPERATIONS.items() if row.branching}


def deciding(g: Graph, nodes: Sequence[int], number: int) -> list[Sample]:
    """Random states at which values decide whether analytic expressions are equal; none if there are branches.

    Analytic functions that agree at random agree everywhere; for a branch, one state says nothing about others.
    """
    if any(g.nodes[i][0] in BRANCHING for i in g.below(nodes)):
        return []
    return samples(g, nodes, number)


def vanish(g: Graph, nodes: Sequence[int]) -> bool:
    """Test whether nodes are zero everywhere: at random states their values are rounding errors."""
    states = deciding(g, nodes, 2)
    return bool(states) and all(s.vanishes(x) for s in states for x in nodes)


def negligible(g: Graph, node: int, lengths: Collection[int]) -> bool:
    """Test by its coefficients whether a node is no larger than the rounding of direction cosines, or of lengths.

    Coefficients are compared with all symbols equal to 1. The unit of the node is unknown: if the node is a length, it
    is not much smaller than the largest of ``lengths``.
    """
    bounds = Bounds(g, symbols=1.0)
    bound = bounds(node)
    if bound > _OF_COSINES * _LARGE:
        return False
    length = max(map(bounds, lengths), default=0.0) or 1.0
    return bound <= _OF_COSINES * min(max(length, 1.0), _LARGE) and bound <= _SMALL * length


def equal(g: Graph, pairs: Iterable[tuple[int, int]], beside: Sequence[int] = (), *, otherwise: bool) -> bool:
    """Test whether the nodes of each pair are equal: at random states they differ by no more than rounding.

    Rounding is relative to the largest of all pairs and of the nodes ``beside`` them.  ``otherwise`` is the answer if
    random states decide nothing, because there are branches.
    """
    pairs = [(a, b) for a, b in pairs if a != b]
    nodes = [x for pair in pairs for x in pair]
    if not pairs:
        return True
    states = deciding(g, nodes, 2)
    for s in states:
        size = max(abs(s(x)) for x in (*nodes, *beside))
        if not all(abs(s(a) - s(b)) <= EQUAL * size for a, b in pairs):
            return False
    return bool(states) or otherwise


def adds_up(terms: Sequence[float], total: float = 0.0) -> bool:
    """Test whether numbers add up to a total, to rounding of the largest of all."""
    return abs(sum(terms) - total) <= EQUAL * max(map(abs, (*terms, total)))


def same_sum(g: Graph, a: Sequence[int], b: Sequence[int]) -> bool:
    """Test at random states whether two lists of nodes have the same sum."""
    states = deciding(g, [*a, *b], 2)
    return bool(states) and all(adds_up([*s.values(a), *(-x for x in s.values(b))]) for s in states)


def is_combination(g: Graph, row: Sequence[int], rows: Sequence[Sequence[int]]) -> bool:
    """Test at random states whether a row is a linear combination of some rows."""
    if not rows:
        return False
    states = deciding(g, [x for r in (row, *rows) for x in r], 2)
    return bool(states) and all(_follows(len(rows), *_numbers(s, (*rows, row))) for s in states)


def combinations(g: Graph, rows: Sequence[Sequence[int]]) -> list[int]:
    """Indices of the rows that are linear combinations of all other rows, at random states."""
    states = [_numbers(s, rows) for s in deciding(g, [x for row in rows for x in row], 2)]
    if not states or any(_rank(*state) == len(rows) for state in states):
        return []
    return [i for i in range(len(rows)) if all(_follows(i, *state) for state in states)]


def _numbers(state: Sample, rows: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """Rows at a state, and bounds of their rounding errors."""
    errors = [[state.rounding(x) for x in row] for row in rows]
    return np.array([state.values(row) for row in rows], dtype=np.float64), np.array(errors, dtype=np.float64)


def _follows(i: int, values: Array, errors: Array) -> bool:
    """Test whether the rows without row i have the rank of all."""
    return _rank(values, errors) == _rank(np.delete(values, i, axis=0), np.delete(errors, i, axis=0))


def _rank(values: Array, errors: Array) -> int:
    """Rank of rows, by elimination with the largest pivots; rounding errors count as zero."""
    size = np.max(np.abs(values), axis=1, keepdims=True, initial=0.0)
    size[size == 0.0] = 1.0
    rank = 0
    while True:
        pivots = np.where(np.abs(values) > ROUNDING * errors, np.abs(values) / size, 0.0)
        if not pivots.any():
            return rank
        rank += 1
        i, j = np.unravel_index(np.argmax(pivots), pivots.shape)
        row, error = values[i], errors[i]
        values, errors, size = (np.delete(each, i, axis=0) for each in (values, errors, size))
        with np.errstate(over="ignore", invalid="ignore"):  # numbers without a bound are no pivots
            factor = values[:, [j]] / row[j]
            doubt = (errors[:, [j]] + np.abs(factor) * error[j]) / np.abs(row[j])
            rounded = EPSILON * (np.abs(values) + np.abs(factor * row))
            errors += np.abs(factor) * error + doubt * np.abs(row) + rounded
            values -= factor * row
        values[:, j] = 0.0


def first_independent(g: Graph, rows: Sequence[Sequence[int]]) -> list[int]:
    """Indices of the rows that are no combination of earlier rows, at a random state, in any units."""
    states = deciding(g, [x for row in rows for x in row], 1)
    if not states:
        return []
    matrix = np.array([states[0].values(row) for row in rows], dtype=np.float64)
    matrix /= np.max(np.abs(matrix), axis=0, keepdims=True, initial=0.0) + (matrix == 0.0).all(axis=0)
    found: list[int] = []
    axes = np.zeros((0, matrix.shape[1]))
    for i, row in enumerate(matrix):
        rest = row - axes.T @ (axes @ row)
        rest -= axes.T @ (axes @ rest)  # repeated, against rounding errors
        if np.linalg.norm(rest) > EQUAL * np.linalg.norm(row):
            found.append(i)
            axes = np.vstack([axes, rest / np.linalg.norm(rest)])
    return found


def is_regular(g: Graph, matrix: Sequence[Sequence[int]]) -> bool:
    """Test whether a square matrix is regular at a random state, whatever the units of its rows and columns."""
    n, states = len(matrix), deciding(g, [x for row in matrix for x in row], 1)
    if not states:
        return False
    rows = np.array([states[0].values(row) for row in matrix]).reshape(n, n)
    size = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    return span(rows / np.where(size > 0.0, size, 1.0))[1] == n


def is_rotation(g: Graph, rows: Sequence[Sequence[int]]) -> bool:
    """Test at random states whether R Rᵀ = 1 and det R = 1, to the rounding of numbers in R.

    True if random states decide nothing, because there are branches.
    """
    nodes = [i for row in rows for i in row]
    operations = [g.nodes[i] for i in g.below(nodes)]
    typed = any(op is Op.CONST and isinstance(operands[0], float) for op, *operands in operations)
    tolerance = TYPED if typed else EQUAL
    varies = any(op is Op.SYM for op, *_ in operations)
    states = deciding(g, nodes, 2 if varies else 1)
    matrices = [np.array([s.values(row) for row in rows], dtype=np.float64) for s in states]
    return all(np.max(np.abs(r @ r.T - np.eye(3))) <= tolerance and np.linalg.det(r) > 0.0 for r in matrices)


def span(columns: npt.ArrayLike) -> tuple[Array, int]:
    """Orthonormal axes as rows, and n: the first n axes span the directions of some columns.

    The columns are numbers at a random state. Their lengths, in any units, do not matter.
    """
    matrix = np.asarray(columns, dtype=np.float64)
    size = np.max(np.abs(matrix), axis=0, initial=0.0)
    axes, s, _ = np.linalg.svd(matrix / np.where(size > 0.0, size, 1.0))
    return np.asarray(axes.T), int(np.sum(s > EQUAL * np.max(s, initial=0.0)))
