# SPDX-License-Identifier: BSD-3-Clause
"""Random samples: values of nodes at random states, and bounds of their rounding errors.

If structure does not decide, numbers do: :mod:`.zero_tests` tests by them whether expressions are equal, and
:mod:`.linear_equations` whether a pivot vanishes.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mpmath

from kanecore.tolerances import EPSILON, ROUNDING

from .evaluation import node_value, real
from .expression_graph import PARAMETER, TIME, Given, Graph, Op
from .operations import OPERATIONS

__all__ = ["Sample", "samples"]

TRIES = 60

HIDING = {op for op, row in OPERATIONS.items() if row.hides}
"""Functions that may be so small, or so near a limit, that doubles at random states cannot decide: 1 − tanh 60."""

PRECISE = mpmath.MPContext()
PRECISE.prec = 300


class Sample:
    """A random state: every symbol gets a number that depends on its key and the seed only.

    Coordinates, speeds and inputs lie in ±(0.2 ... 1.2), parameters and time in 0.3 ... 1.7, away from the zeros and
    the right angles, where different expressions may agree by chance.  Symbols of ``Graph.unit`` are divided by their
    norm. ``values`` gives the values of nodes that are not drawn.

    A function that is given by data is replaced by a random analytic function, so that decisions are valid for any
    data.
    """

    def __init__(self, g: Graph, seed: int = 0, values: Mapping[int, float] | None = None, ctx: Any = math) -> None:
        self.graph = g
        self._seed, self._fixed, self._ctx = seed, values, ctx
        self._unit = EPSILON / 2 if ctx is math else ctx.eps  # rounding of one operation, relative to its result
        self._value: dict[int, Any] = dict(values or {})
        self._error: dict[int, Any] = {}
        self._precise: Sample | None = None
        for group in g.unit:
            if group[0] in self._value:
                continue
            raw = [self._symbol(i) for i in group]
            norm = ctx.sqrt(sum(x * x for x in raw))
            self._value.update((i, x / norm) for i, x in zip(group, raw, strict=True))
            self._error.update(dict.fromkeys(group, self._unit))

    def _symbol(self, i: int) -> Any:
        magnitude, sign = _drawn(self._seed, str(self.graph.nodes[i][1]))
        positive = self.graph.depends[i] & (PARAMETER | TIME)
        return real(self._ctx, magnitude + 0.5 if positive else magnitude * sign)

    def __call__(self, i: int) -> Any:
        """The value of a node; NaN if it has no value at this state."""
        if i not in self._value:
            for k in self.graph.below([i], stop=self._value):
                self._evaluate(k)
        return self._value[i]

    def _evaluate(self, k: int) -> None:
        if k not in self._value:
            try:
                self._value[k] = self._of_node(k)
            except (ArithmeticError, ValueError):
                self._value[k] = math.nan

    def _of_node(self, k: int) -> Any:
        node = self.graph.nodes[k]
        if node[0] is Op.SYM:
            return self._symbol(k)
        if isinstance(node[0], Given):
            return self.stand_in(node[0], [self._value[k] for k in node[1:]])
        return node_value(node, self._value, self._ctx)

    def stand_in(self, function: Given, arguments: Sequence[Any]) -> Any:
        """Derivative of two waves Σ sin(ω·a + φ) for a function; those of one wave are proportional."""
        ctx, draw = self._ctx, random.Random(f"{self._seed}:{function.name}:{len(arguments)}")
        total = 0
        for _ in range(2):
            wave = [real(ctx, draw.uniform(0.3, 0.9)) for _ in arguments]
            angle = real(ctx, draw.uniform(0.0, 3.0)) + sum(w * a for w, a in zip(wave, arguments, strict=True))
            slope = math.prod((w**k for w, k in zip(wave, function.orders, strict=True)), start=real(ctx, 1))
            # each derivative adds a quarter of a turn to the phase
            quarter = sum(function.orders) % 4
            total += slope * (1 - quarter // 2 * 2) * (ctx.cos if quarter % 2 else ctx.sin)(angle)
        return total

    def vanishes(self, i: int) -> bool:
        """Test whether a node is zero to rounding at this state, in any units.

        If doubles cannot decide, 90 digits do: exp(x − 30) is small, and 1 − tanh 60 is lost in doubles.
        """
        if abs(self(i)) > ROUNDING * self.rounding(i):
            return False
        if self._fixed is not None or self._ctx is not math or HIDING.isdisjoint(self._operations(i)):
            return True
        if self._precise is None:
            self._precise = Sample(self.graph, self._seed, ctx=PRECISE)
        return self._precise.vanishes(i)

    def _operations(self, i: int) -> set[str]:
        return {self.graph.nodes[k][0] for k in self.graph.below([i])}

    def rounding(self, i: int) -> Any:
        """A bound, to first order, of the rounding error of a value.

        Running error analysis (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., 2002, section 3.3);
        symbols are exact unless they were divided by a norm. Whole numbers and fractions are exact, too. Other numbers
        of a description count as rounded.
        """
        if i not in self._error:
            self.follow(self.graph.below([i], stop=self._error))
        return self._error[i]

    def follow(self, order: Iterable[int]) -> None:
        """Compute values and bounds of nodes, given in order of evaluation."""
        value, error, nodes, unit = self._value, self._error, self.graph.nodes, self._unit
        for k in order:
            if k in error:
                continue
            op, *args = nodes[k]
            if op is Op.MUL:  # most nodes are products and sums
                i, j = args
                a, b = value[i], value[j]
                v = value[k] = value[k] if k in value else a * b
                error[k] = abs(b) * error[i] + abs(a) * error[j] + unit * abs(v)
            elif op is Op.ADD or op is Op.SUB:
                i, j = args
                a, b = value[i], value[j]
                v = value[k] = value[k] if k in value else a + b if op is Op.ADD else a - b
                error[k] = error[i] + error[j] + unit * abs(v)
            else:
                self._evaluate(k)
                v = abs(value[k])
                if op is Op.SYM:
                    error[k] = 0.0
                elif op is Op.CONST:
                    error[k] = v * max(unit, EPSILON / 2 if isinstance(args[0], float) else 0)
                else:
                    error[k] = self._carried(op, args, [error[a] for a in args], v) + unit * v

    def _carried(self, op: str, args: Sequence[int], e: Sequence[Any], v: Any) -> Any:
        """Error of the result of an operation other than + − ×, due to the errors of its operands."""
        a = [self._value[x] for x in args]
        if op is Op.NEG:
            return e[0]
        if op is Op.DIV:
            return (e[0] + v * e[1]) / abs(a[1]) if a[1] else math.nan
        if op is Op.SQRT:
            return e[0] / (2 * v) if v else self._ctx.sqrt(e[0])
        try:
            if op is Op.POW:
                return v * (abs(a[1] / a[0]) * e[0] + abs(self._ctx.log(abs(a[0]))) * e[1])
            row = OPERATIONS.get(op)
            if row is not None and row.steepness is not None:
                return abs(row.steepness(self._ctx, a[0], v)) * e[0]
        except (ArithmeticError, ValueError):
            return math.nan
        return sum(max(1.0, v) * x for x in e)

    def values(self, nodes: Sequence[int]) -> list[float]:
        return [self(i) for i in nodes]


@functools.lru_cache(maxsize=10_000)
def _drawn(seed: int, key: str) -> tuple[float, float]:
    """Magnitude and sign of a symbol; kept, since many states share a seed, and seeding is slow."""
    draw = random.Random(f"{seed}:{key}")
    return draw.uniform(0.2, 1.2), draw.choice((-1.0, 1.0))


def samples(g: Graph, nodes: Sequence[int], number: int, first: int = 0) -> list[Sample]:
    """Draw ``number`` random states at which all of ``nodes`` are finite; fewer, perhaps none, if few are found."""
    finite = (
        sample
        for sample in (Sample(g, seed) for seed in range(first, first + TRIES))
        if all(math.isfinite(sample(i)) for i in nodes)
    )
    return list(itertools.islice(finite, number))
