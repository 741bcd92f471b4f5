# SPDX-License-Identifier: BSD-3-Clause
"""Noncontributing forces: unknown reactions among the loads, which do no work, are taken out of a description."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from .description import Description

__all__ = ["but_loads", "in_loads_alone", "without"]


def in_loads_alone(d: Description) -> list[int]:
    """Nodes of what stands in loads and nowhere else."""
    elsewhere = set(d.graph.below(but_loads(d)))
    in_loads = d.graph.below([i for load in d.loads for _, v in load.vector for i in v])
    return [i for i in in_loads if i not in elsewhere]


def but_loads(d: Description) -> Iterator[int]:
    """The nodes of all but loads."""
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
    yield from (*d.rates, *d.potentials, *(i for _, i in d.outputs), *(each.node for each in d.constraints))


def without(d: Description, symbols: Collection[int]) -> Description:
    """The description without some parameters and inputs of its loads."""
    g, zero = d.graph, dict.fromkeys(symbols, 0)
    loads = []
    for load in d.loads:
        vector = tuple((f, (x, y, z)) for f, (x, y, z) in ((f, g.substitute(v, zero)) for f, v in load.vector))
        loads.append(replace(load, vector=tuple((f, v) for f, v in vector if any(v))))
    inputs = [n for n, i in enumerate(d.inputs) if i not in zero]
    parameters = [n for n, i in enumerate(d.parameters) if i not in zero]
    place = {n: k for k, n in enumerate(inputs)}
    return replace(
        d,
        loads=tuple(loads),
        inputs=tuple(d.inputs[n] for n in inputs),
        input_names=tuple(d.input_names[n] for n in inputs),
        input_rates=tuple(place.get(d.input_rates[n], -1) for n in inputs),
        prescribed=frozenset(place[n] for n in d.prescribed if n in place),
        parameters=tuple(d.parameters[n] for n in parameters),
        parameter_names=tuple(d.parameter_names[n] for n in parameters),
    )
