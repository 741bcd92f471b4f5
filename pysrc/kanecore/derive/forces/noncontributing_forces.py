# SPDX-License-Identifier: BSD-3-Clause
"""Noncontributing forces: unknown reactions among the loads, which do no work, are removed from a description.

No generalized active force depends on a noncontributing force.  Reactions on which a generalized active force depends
are found, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from kanecore.derive.forces.generalized_forces import Wrenches, active_forces
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description, duplicate, unlisted
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.expression_graph import Graph, Op
from kanecore.graph.zero_tests import deciding
from kanecore.tolerances import EQUAL

__all__ = ["but_loads", "in_loads_alone", "reactions_with_effect", "without", "without_effect"]


def in_loads_alone(d: Description) -> list[int]:
    """Nodes of symbols that occur in loads only."""
    elsewhere = set(d.graph.below(but_loads(d)))
    in_loads = d.graph.below([i for load in d.loads for _, v in load.vector for i in v])
    return [i for i in in_loads if i not in elsewhere]


def but_loads(d: Description, outputs: bool = True) -> Iterator[int]:
    """The nodes of the description without loads and, on request, without outputs and rates of states."""
    for f in d.frames:
        yield from (i for row in f.rotation for i in row)
        yield from (i for _, v in f.angular_velocity for i in v)
    for p in d.points:
        yield from (i for vector in (p.position, p.velocity or ()) for _, v in vector for i in v)
    for b in d.bodies:
        yield from (b.mass, b.potential)
        yield from (i for _, m in b.inertia for row in m for i in row)
        yield from (i for _, v in b.about for i in v)
    yield from () if d.lagrangian is None else (d.lagrangian,)
    yield from (x for force in d.generalized_forces for x in force.components)
    yield from (*d.rates, *d.potentials, *(each.node for each in d.constraints))
    yield from (*(i for _, i in d.outputs), *d.state_rates) if outputs else ()


def without(d: Description, symbols: Collection[int]) -> Description:
    """The description without some parameters and inputs of its loads."""
    g, zero = d.graph, dict.fromkeys(symbols, 0)
    loads = []
    for load in d.loads:
        vector = tuple((f, (x, y, z)) for f, (x, y, z) in ((f, g.substitute(v, zero)) for f, v in load.vector))
        loads.append(replace(load, vector=tuple((f, v) for f, v in vector if any(v))))
    return unlisted(replace(d, loads=tuple(loads)), symbols)


def without_effect(d: Description, candidates: Sequence[int]) -> list[int]:
    """The candidates that affect no F_r.

    Structure shows this for some candidates.  If loads are affine in a candidate, as in the tension of a string between
    two particles, the terms v_r·∂R/∂T of ∂F_r/∂T must cancel, to rounding relative to their own size, at two random
    states.  A symbol that multiplies masses is a field of gravity and no unknown force, since it affects reactions.
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
    """Forces that stay in the loads, as N in friction μN: (candidate, number of the load, auxiliary speed).

    A force is a reaction if it acts along an auxiliary motion of its point that is normal to all other motions.
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
    """Predicate that tells whether a symbol multiplies masses in the loads, as a field of gravity does."""
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
    """Test whether terms add up to zero; False if nonzero terms vanish, or are undefined, at random states."""
    terms = [i for i in terms if i]
    states = deciding(g, terms, 2)
    return len(states) == 2 and all(
        not terms or abs(sum(values)) <= EQUAL * sum(map(abs, values)) != 0.0
        for values in (s.values(terms) for s in states)
    )
