# SPDX-License-Identifier: BSD-3-Clause
"""The forces on which no generalized active force depends, and the reactions on which one depends all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kanecore.describe.description import Description, duplicate
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.decide import deciding
from kanecore.graph.scalars import Graph, Op
from kanecore.tolerances import EQUAL

from .kane import Wrenches, active_forces
from .kinematics import Kinematics

__all__ = ["reactions_with_effect", "without_effect"]


def without_effect(d: Description, candidates: Sequence[int]) -> list[int]:
    """The candidates on which no F_r depends.

    Some drop out by structure.  For others that the loads are affine in, such as the tension of a string between two
    particles, the terms v_r·∂R/∂T of ∂F_r/∂T cancel: to rounding, beside their own size, at two random states.  What
    multiplies masses is no unknown force but a field of gravity, which reactions feel.
    """
    d = duplicate(d)
    g, k = d.graph, Kinematics(d)
    reached = set(g.below(active_forces(k, d.loads)))
    weights = [pair for load in d.loads for pair in Wrenches(k, [load]).weights()]
    partial = [Tangent(g, {u: g.one}).of for u in d.speeds]

    def cancels(symbol: int) -> bool:
        if not is_affine(g, [w for _, w in weights], g.above(symbol).__contains__):
            return False
        slope = Tangent(g, {symbol: g.one}).of
        return all(_cancel(g, [g.mul(of(v), slope(w)) for v, w in weights]) for of in partial)

    is_field = _fields(d)
    return [i for i in candidates if (i not in reached or cancels(i)) and not is_field(i)]


def reactions_with_effect(d: Description, candidates: Sequence[int]) -> list[tuple[int, int, int]]:
    """(candidate, number of the load, auxiliary speed) of forces that stay in the loads, as that in friction μN.

    A force is a reaction where it acts along an auxiliary motion of its point that is normal to all others.
    """
    if not candidates or not d.auxiliary:
        return []
    d = duplicate(d)
    g, k = d.graph, Kinematics(d)
    moving = [Tangent(g, {u: g.one}).of for u in d.speeds]
    found: dict[int, tuple[int, int, int]] = {}
    for auxiliary in d.auxiliary:
        away = Tangent(g, {auxiliary: g.one}).of
        for load in d.loads:
            pairs = [(away(v), v, w) for v, w in Wrenches(k, [load]).weights() if away(v)]
            held = set(g.below([w for _, _, w in pairs])).intersection(candidates).difference(found)
            if not held or not all(_cancel(g, [g.mul(a, of(v)) for a, v, _ in pairs]) for of in moving):
                continue
            for symbol in held:
                slope = Tangent(g, {symbol: g.one}).of
                terms = [x for x in (g.mul(a, slope(w)) for a, _, w in pairs) if x]
                if terms and not _cancel(g, terms):
                    found[symbol] = symbol, load.number, auxiliary
    return [found[symbol] for symbol in candidates if symbol in found]


def _fields(d: Description) -> Callable[[int], bool]:
    """Whether a symbol multiplies masses in the loads."""
    g = d.graph
    masses = {i for i in g.below([b.mass for b in d.bodies]) if g.nodes[i][0] is Op.SYM}
    components = [x for load in d.loads for _, v in load.vector for x in v]
    numbers = {(b.point, abs(float(mass))) for b in d.bodies if (mass := g.value(b.mass))}
    weights_of_numbers = [
        (load.at, x) for load in d.loads if load.kind == "force" for _, v in load.vector for x in v if x
    ]

    def is_field(symbol: int) -> bool:
        slope = Tangent(g, {symbol: g.one}).of
        if not masses.isdisjoint(g.below([slope(x) for x in components])):
            return True
        factors = {(at, abs(float(value))) for at, x in weights_of_numbers if (value := g.value(slope(x)))}
        return not numbers.isdisjoint(factors - {(at, 1.0) for at, _ in factors})

    return is_field


def _cancel(g: Graph, terms: Sequence[int]) -> bool:
    """Whether terms add up to zero; False where those that are not zero vanish, or are not defined, at random."""
    terms = [i for i in terms if i]
    states = deciding(g, terms, 2)
    return len(states) == 2 and all(
        not terms or abs(sum(values)) <= EQUAL * sum(map(abs, values)) != 0.0
        for values in (s.values(terms) for s in states)
    )
