# SPDX-License-Identifier: BSD-3-Clause
"""Every "equal to rounding?" about expressions: decided by numbers at random states where structure cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EQUAL

from .sample import Sample, samples
from .scalars import Graph, Op

__all__ = ["deciding", "equal", "span", "vanish"]

BRANCHING = {Op.SELECT, Op.MIN, Op.MAX, Op.FLOOR, Op.LT, Op.LE, Op.EQ, Op.ABS, Op.SIGN}


def deciding(g: Graph, nodes: Sequence[int], number: int) -> list[Sample]:
    """Random states whose values decide whether analytic expressions are equal: none where there are branches.

    Analytic functions that agree at random agree everywhere; what a branch says elsewhere a state does not tell.
    """
    if any(g.nodes[i][0] in BRANCHING for i in g.below(nodes)):
        return []
    return samples(g, nodes, number)


def vanish(g: Graph, nodes: Sequence[int]) -> bool:
    """Whether nothing is left of nodes but rounding, at random states: they are zero everywhere."""
    states = deciding(g, nodes, 2)
    return bool(states) and all(s.vanishes(x) for s in states for x in nodes)


def equal(g: Graph, pairs: Iterable[tuple[int, int]], beside: Sequence[int] = (), *, otherwise: bool) -> bool:
    """Whether the nodes of each pair are equal: at random states they differ by rounding, of what they are made of.

    That is the largest of all pairs and of the nodes ``beside`` them.  ``otherwise`` is the answer where random states
    decide nothing, since there are branches.
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


def span(columns: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], int]:
    """Axes, as rows, of which the first are the directions of some columns, and how many these are.

    Columns of numbers at a random state; their lengths, which need not have one unit, do not matter.
    """
    matrix = np.asarray(columns, dtype=np.float64)
    size = np.max(np.abs(matrix), axis=0, initial=0.0)
    axes, s, _ = np.linalg.svd(matrix / np.where(size > 0.0, size, 1.0))
    return np.asarray(axes.T), int(np.sum(s > EQUAL * np.max(s, initial=0.0)))
