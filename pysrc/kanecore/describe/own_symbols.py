# SPDX-License-Identifier: BSD-3-Clause
"""Whether every symbol of a description has a value where it stands; else C would be written that reads nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set

from kanecore.errors import ModelError
from kanecore.graph.scalars import Graph, Op

from .description import Description, Vector

__all__ = ["check_symbols"]


def check_symbols(d: Description, multipliers: Set[int]) -> None:
    """ModelError for symbols that the description does not list.

    Those of a line may stand in the force of its tendon, and multipliers in outputs.
    """
    g = d.graph
    states = (*d.coordinates, *d.speeds, *d.accelerations, *d.auxiliary)
    known = {d.time, *states, *d.inputs, *d.parameters}
    held = _held(g, {i for i, node in enumerate(g.nodes) if node[0] is Op.SYM and i not in known})
    if not held:
        return
    lines = ((f"load {x.number}, a tendon,", [x.force], {x.length, x.rate}) for x in d.tendons)
    outputs = ((f"output {name}", [node], multipliers) for name, node in d.outputs)
    everywhere = ((what, nodes, set[int]()) for what, nodes in _pieces(d))
    for what, nodes, allowed in (*everywhere, *lines, *outputs):
        for symbol in sorted(set[int]().union(*(held.get(i, ()) for i in nodes)) - allowed):
            raise ModelError(
                f"{what} holds the symbol {g.nodes[symbol][1]!r}, which has no value there: make symbols with "
                "coordinate(), speed(), parameter() or input(); those of line() stand in the force of its tendon "
                "alone, and multipliers in outputs alone"
            )


def _held(g: Graph, symbols: Collection[int]) -> dict[int, set[int]]:
    """Of each node which of some symbols it holds, if any."""
    held = {i: {i} for i in symbols}
    if held:
        for i in range(len(g.nodes)):
            below = [held[k] for k in g.operands(i) if k in held]
            if below:
                held[i] = set().union(*below)
    return held


def _pieces(d: Description) -> Iterator[tuple[str, Sequence[int]]]:
    """The nodes of all that symbols of a line and multipliers have no place in, each with its name."""
    for name, rate in zip(d.coordinate_names, d.rates, strict=True):
        yield f"the rate of coordinate {name}", [rate]
    for f in d.frames:
        yield f"the orientation of frame {f.name}", [i for row in f.rotation for i in row]
        yield f"the angular velocity of frame {f.name}", _components(f.angular_velocity)
    for p in d.points:
        yield f"the position of point {p.name}", _components(p.position)
        yield f"the velocity of point {p.name}", _components(p.velocity or ())
    for b in d.bodies:
        yield f"the mass of body {b.name}", [b.mass]
        yield f"the inertia of body {b.name}", [i for _, m in b.inertia for row in m for i in row]
        yield f"the inertia point of body {b.name}", _components(b.about)
        yield f"the potential energy of body {b.name}", [b.potential]
    for load in d.loads:
        places = d.points if load.kind == "force" else d.frames
        at = "point" if load.kind == "force" else "frame"
        yield f"load {load.number} on {at} {places[load.at].name}", _components(load.vector)
    for number, energy in enumerate(d.potentials):
        yield f"potential {number}", [energy]
    if d.lagrangian is not None:
        yield "the Lagrangian", [d.lagrangian]
    for each in d.constraints:
        yield each.name, [each.node]
    for a in d.attachments:
        yield f"attach={{{a.row}: ...}}", _components(a.vector)


def _components(vector: Vector) -> list[int]:
    return [i for _, components in vector for i in components]
