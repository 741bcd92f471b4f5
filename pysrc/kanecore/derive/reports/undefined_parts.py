# SPDX-License-Identifier: BSD-3-Clause
"""The part of a model without a finite value at a state, in words: the load, its expression, and the arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from kanecore.derive.forces.explicit_loads import explicit_loads
from kanecore.describe.description import Description, duplicate
from kanecore.errors import ModelError
from kanecore.graph.evaluation import node_value
from kanecore.graph.expression_graph import Given, Graph, Op
from kanecore.graph.vectors import Vector

__all__ = ["undefined_part"]

LONG = 60  # letters of an expression that is shown
_LARGE = 40  # nodes below it
_MANY = 3  # parts that are named


def undefined_part(d: Description, numbers: Mapping[str, float], outputs: bool) -> str:
    """Words for what has no finite value: "load 2 at P: sqrt(x - 1) where x - 1 = -0.5"; empty if all has.

    Parameters
    ----------
    numbers : mapping
        Values by name: of ``t``, coordinates, speeds, states, inputs and parameters.  What depends on another symbol,
        such as an acceleration, or on a function in C is left out.
    outputs : bool
        Look at the outputs instead of the motion.
    """
    d = explicit_loads(duplicate(d))
    named = dict(_outputs(d)) if outputs else dict(_parts(d))
    g, values = d.graph, _values(d, numbers, [node for nodes in named.values() for node in nodes])
    undefined = {
        name: node for name, nodes in named.items() for node in nodes if not math.isfinite(values.get(node, 0.0))
    }
    if not undefined:
        return ""
    first = next(iter(undefined.values()))
    while inside := [k for k in g.operands(first) if not math.isfinite(values.get(k, 0.0))]:
        first = inside[0]
    where = [name for name, node in undefined.items() if first in g.below([node])]
    more = f" and {len(where) - _MANY} others" if len(where) > _MANY else ""
    return f"{', '.join(where[:_MANY])}{more}: {_cause(g, first, values)}"


def _parts(d: Description) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The parts of the equations of motion with their nodes, the simplest first."""
    for name, node in zip(d.coordinate_names, d.rates, strict=True):
        yield f"the rate of {name}", (node,)
    for frame in d.frames:
        rotation = tuple(x for row in frame.rotation for x in row)
        yield f"the orientation of frame {frame.name}", (*rotation, *_components(frame.angular_velocity))
    for point in d.points:
        yield f"the position of {point.name}", _components(point.position)
        yield f"the velocity of {point.name}", _components(point.velocity or ())
    for load in d.loads:
        place = f"at {d.points[load.at].name}" if load.kind == "force" else f"on {d.frames[load.at].name}"
        yield f"load {load.number} {place}", _components(load.vector)
    for force in d.generalized_forces:
        yield force.title, force.components
    yield "the potential energy", d.potentials
    if d.lagrangian is not None:
        yield "the Lagrangian", (d.lagrangian,)
    if d.first_order is not None:
        yield "the equations of motion", d.first_order.derivatives
    for row in d.constraints:
        yield f"constraint {row.name}", (row.node,)
    for name, node in zip(d.state_names, d.state_rates, strict=True):
        yield f"the rate of {name}", (node,)


def _outputs(d: Description) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, node in d.outputs:
        yield f"output {name}", (node,)


def _components(vector: Vector) -> tuple[int, ...]:
    return tuple(x for _, components in vector for x in components)


def _values(d: Description, numbers: Mapping[str, float], roots: list[int]) -> dict[int, float]:
    """Values of the nodes below the roots: NaN or infinite where doubles are, and none where one is not known."""
    g, values = d.graph, {d.time: numbers["t"]}
    values |= {node: numbers[name] for node, name in zip(d.x, d.x_names, strict=True)}
    for nodes, names in ((d.inputs, d.input_names), (d.parameters, d.parameter_names)):
        values |= {node: numbers[name] for node, name in zip(nodes, names, strict=True) if name in numbers}
    for i in g.below(roots):
        if i not in values and g.nodes[i][0] is not Op.SYM and all(k in values for k in g.operands(i)):
            try:
                values[i] = float(node_value(g.nodes[i], values))
            except ModelError:  # a function in C
                continue
            except (OverflowError, ZeroDivisionError):
                values[i] = math.inf
            except ValueError:
                values[i] = math.nan
    return values


def _cause(g: Graph, i: int, values: Mapping[int, float]) -> str:
    """An expression with its value, and those of its operands."""
    operation, operands = g.nodes[i][0], [k for k in dict.fromkeys(g.operands(i)) if g.depends[k]]
    text = _text(g, i) or f"a {operation.name if isinstance(operation, Given) else operation}"
    arguments = [f"{_text(g, k) or 'its argument'} = {values[k]:.6g}" for k in operands]
    where = f" where {', '.join(arguments)}" if arguments else ""
    if isinstance(operation, Given):
        return f"{text}{where}, a spline beyond its knots"
    large = all(abs(values[k]) > 1.0 for k in operands) and not math.isnan(values[i])
    return f"{text}{where}{', an overflow' if large else ''}"


def _text(g: Graph, i: int) -> str:
    """A short expression as SymPy writes it; empty for a long one."""
    from sympy import Function, Symbol

    from kanecore.graph.sympy_bridge import to_sympy

    below = g.below([i])
    if len(below) > _LARGE:
        return ""
    symbols: dict[Any, Any] = {g.nodes[k][1]: Symbol(str(g.nodes[k][1][-1])) for k in below if g.nodes[k][0] is Op.SYM}
    given = (g.nodes[k][0] for k in below)
    symbols |= {("f", operation.name): Function(operation.name) for operation in given if isinstance(operation, Given)}
    text = str(to_sympy(g, [i], symbols, nested=True)[1][0])
    return text if len(text) <= LONG else ""
