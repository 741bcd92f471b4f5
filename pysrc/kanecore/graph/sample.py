# SPDX-License-Identifier: BSD-3-Clause
"""Values of nodes at random states, to decide by numbers what structure cannot tell."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from kanecore.tolerances import EPSILON, ROUNDING

from .evaluate import node_value
from .scalars import PARAMETER, TIME, Graph, Op

__all__ = ["Sample", "deciding", "samples", "vanish"]

BRANCHING = {Op.SELECT, Op.MIN, Op.MAX, Op.FLOOR, Op.LT, Op.LE, Op.EQ, Op.ABS, Op.SIGN}
TRIES = 60


class Sample:
    """One random state: every symbol gets a number that depends on its key and the seed only.

    Coordinates, speeds and inputs lie in ±(0.2 ... 1.2), parameters and time in 0.3 ... 1.7, away from the zeros and
    the right angles at which expressions that differ happen to agree.  Symbols of ``Graph.unit`` are divided by their
    norm.  ``given`` are the values of some nodes.
    """

    def __init__(self, g: Graph, seed: int = 0, given: Mapping[int, float] | None = None) -> None:
        self.graph = g
        self._seed = seed
        self._value: dict[int, float] = dict(given or {})
        self._error: dict[int, float] = {}
        for group in g.unit:
            if group[0] in self._value:
                continue
            raw = [self._symbol(i) for i in group]
            norm = math.hypot(*raw)
            self._value.update((i, x / norm) for i, x in zip(group, raw, strict=True))
            self._error.update(dict.fromkeys(group, EPSILON / 2))

    def _symbol(self, i: int) -> float:
        draw = random.Random(f"{self._seed}:{self.graph.nodes[i][1]}")
        magnitude = draw.uniform(0.2, 1.2)
        return magnitude + 0.5 if self.graph.depends[i] & (PARAMETER | TIME) else magnitude * draw.choice((-1.0, 1.0))

    def __call__(self, i: int) -> float:
        """The value of a node; NaN where it has none at this state."""
        value, g = self._value, self.graph
        if i in value:
            return value[i]
        for k in g.below([i], stop=value):
            if k in value:
                continue
            node = g.nodes[k]
            try:
                value[k] = self._symbol(k) if node[0] is Op.SYM else node_value(node, value)
            except (ArithmeticError, ValueError):
                value[k] = math.nan
        return value[i]

    def vanishes(self, i: int) -> bool:
        """Whether a node is zero here but for rounding, in whatever units."""
        return not abs(self(i)) > ROUNDING * self.rounding(i)

    def rounding(self, i: int) -> float:
        """A bound, to first order, of the rounding error of a value.

        Running error analysis (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., 2002, section 3.3);
        symbols are exact, but for those that were divided by a norm.
        """
        value, error, g = self._value, self._error, self.graph
        self(i)
        for k in g.below([i], stop=error):
            if k in error:
                continue
            op, *args = g.nodes[k]
            v = abs(value[k])
            if op is Op.SYM:
                error[k] = 0.0
                continue
            if op is Op.CONST:
                args = []
            e = [error[a] for a in args]
            if op is Op.MUL:
                e = [abs(value[args[1]]) * e[0], abs(value[args[0]]) * e[1]]
            elif op is Op.DIV:
                b = abs(value[args[1]])
                e = [e[0] / b, v * e[1] / b] if b else [math.nan]
            elif op is Op.SQRT:
                e = [0.5 * e[0] / v] if v else [math.sqrt(e[0])]
            elif op not in (Op.ADD, Op.SUB, Op.NEG):
                e = [max(1.0, v) * x for x in e]
            error[k] = sum(e) + EPSILON / 2 * v
        return error[i]

    def all(self, nodes: Sequence[int]) -> list[float]:
        return [self(i) for i in nodes]


def samples(g: Graph, nodes: Sequence[int], number: int, first: int = 0) -> list[Sample]:
    """``number`` random states at which all of ``nodes`` are finite; fewer, perhaps none, where few are found."""
    found: list[Sample] = []
    for seed in range(first, first + TRIES):
        sample = Sample(g, seed)
        if all(math.isfinite(sample(i)) for i in nodes):
            found.append(sample)
            if len(found) == number:
                break
    return found


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
