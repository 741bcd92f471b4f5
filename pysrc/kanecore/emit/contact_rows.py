# SPDX-License-Identifier: BSD-3-Clause
"""Code for the rows of rigid contacts: gaps, velocities, their partial velocities and biases, as outputs of a model.

A contact holds a point P over a plane, which contains a point B and is fixed in the axes of a frame F with unit
vectors n, t:

    g = n·r,        v = [n, t]·(v_P − v_B − ω_F × r) = A u + v_t,        dv/dt = A u̇ + b,        r from B to P
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kanecore.derive.kinematics import Kinematics
from kanecore.derive.position_origin import Whereabouts
from kanecore.describe.description import Description, FirstOrder, Image, without_auxiliary, without_bodies
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups
from kanecore.errors import ModelError
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import ACCELERATION, INPUT, Graph, Op
from kanecore.graph.magnitudes import terms
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.graph.vectors import Components, cross, dot, sub

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["contact_outputs", "contact_rows", "forced_outputs"]

_OF_PLACES = 1e-13  # as in kc_contacts.c: of the terms of a gap, a smaller one is zero


def contact_rows(dyn: Evaluator, contacts: Sequence[Any]) -> Evaluator:
    """A model whose outputs are the numbers of contacts that kc_contacts.h calls ``values``.

    Parameters
    ----------
    contacts : sequence
        Objects with ``point``, ``axes`` (1 to 3, 3), and ``origin``, three numbers, or ``base``, a point, and
        ``frame``, in whose axes ``axes`` are; or ``gap``, an expression or the name of an output, which ``is_rate`` if
        it is a velocity; or ``constraint``, the name of one of the model.
    """
    if dyn.libraries.describe is None:
        raise ModelError(f"{dyn.name!r} was compiled elsewhere, and its description is not here: use kc.compile(model)")
    d = dyn.libraries.describe()
    freed, d = d, without_auxiliary(d)
    k = Kinematics(d)
    places, g = Whereabouts(freed, k), d.graph
    points = dict(zip(dyn.points, d.shown_points, strict=True))
    frames = dict(zip(dyn.frames, d.shown_frames, strict=True))
    gaps, speeds = list[int](), list[int]()
    reader = FromSympy(g, lambda symbol: _node(dyn, d, symbol))
    for each in contacts:
        if each.constraint is not None:
            row = next(constraint for constraint in d.constraints if constraint.name == each.constraint)
            gaps.append(row.node)
            speeds.append(row.node if row.kind == "velocity" else k.rate.of(row.node))
            continue
        if each.gap is not None:
            with reader.at(f"the gap of {each.name!r}"):
                gap = dict(d.outputs)[each.gap] if isinstance(each.gap, str) else reader(each.gap)
            gaps.append(gap)
            speeds.append(gap if each.is_rate else k.rate.of(gap))
            continue
        p, f = points[each.point], frames[each.frame] if each.frame else 0
        velocity = k.resolve(k.velocity[p], k.home[p], f)
        if each.base:
            b = points[each.base]
            r = k.resolve(sub(g, places.position(p), places.position(b)), 0, f)
            velocity = sub(g, velocity, k.resolve(k.velocity[b], k.home[b], f))
            velocity = sub(g, velocity, cross(g, k.omega[f], r))
        else:
            r = sub(g, places.position(p), _constants(g, each.origin))
        axes = [_constants(g, axis) for axis in each.axes]
        gaps.append(dot(g, axes[0], r))
        speeds += [dot(g, axis, velocity) for axis in axes]
    partials = [accumulate(g, [(v, g.one)], d.speeds) for v in speeds]
    values = [*gaps, *(terms(g, gap, _OF_PLACES) for gap in gaps)]
    values += [*speeds, *(_size(g, v, row, d.speeds) for v, row in zip(speeds, partials, strict=True))]
    values += [*(k.rate.of(v) for v in speeds), *(entry for row in partials for entry in row)]
    return dyn.another({"core": code(Groups(_outputs_alone(d, values), first=FIRST).library("core"))})


def forced_outputs(dyn: Evaluator) -> list[str]:
    """Names of the outputs that depend on accelerations, multipliers or reactions, which contacts change."""
    if dyn.libraries.describe is None:
        return []
    d = dyn.libraries.describe()
    return [name for name, node in d.outputs if d.graph.depends[node] & ACCELERATION]


def contact_outputs(dyn: Evaluator) -> Evaluator | None:
    """A model of the outputs, of which u̇ and the multipliers λ are inputs, after the model's own.

    None if no output depends on these, or if the description of the model is not here.

    Raises
    ------
    ModelError
        An output depends on a reaction of a joint.
    """
    if dyn.libraries.describe is None:
        return None
    d = without_auxiliary(dyn.libraries.describe())
    g, nodes = d.graph, [node for _, node in d.outputs]
    found = {i: g.nodes[i][1] for i in g.below(nodes) if g.nodes[i][0] is Op.SYM and g.depends[i] & ACCELERATION}
    if not found:
        return None
    if others := {i for i, key in found.items() if key[0] not in ("a", "λ")}:
        name = next(name for name, node in d.outputs if not others.isdisjoint(g.below([node])))
        raise ModelError(
            f"output {name!r} of {dyn.name!r} depends on reactions of joints, which contacts change: leave it out"
        )
    known = [g.symbol(("r", f"force {i}"), INPUT) for i in range(dyn.n_u + dyn.n_constraints)]
    rows = [g.symbol(("λ", i), ACCELERATION) for i in range(dyn.n_constraints)]
    image = Image(g, g, dict(zip((*d.accelerations, *rows), known, strict=True)))
    names = tuple(f"force {i}" for i in range(len(known)))
    more = replace(
        d,
        inputs=(*d.inputs, *known),
        input_names=(*d.input_names, *names),
        input_rates=(*d.input_rates, *(-1 for _ in known)),
    )
    return dyn.another({"core": code(Groups(_outputs_alone(more, image.nodes(nodes)), first=FIRST).library("core"))})


def _outputs_alone(d: Description, values: Sequence[int]) -> Description:
    """A description with outputs, and without a motion."""
    still = [0] * len(d.speeds)
    return replace(
        without_bodies(d),
        first_order=FirstOrder(tuple(still), 0, 0, 0, 0, ()),
        rates=(0,) * len(d.rates),
        state_rates=(0,) * len(d.state_rates),
        outputs=tuple((f"row {i}", node) for i, node in enumerate(values)),
        constraints=(),
        n_q_dependent=0,
        n_u_dependent=0,
        auxiliary=(),
        tendons=(),
        contacts=(),
        lagrangian=None,
        functions=(),
        loads_of_reactions=(),
        frictions=(),
        ranges=(),
    )


def _node(dyn: Evaluator, d: Description, symbol: Any) -> int:
    """The node of a symbol of a gap."""
    if str(symbol) == "t":
        return d.time
    try:
        kind, number = dyn.names.found(("state", "parameter", "input"), symbol)
    except KeyError as error:
        raise ModelError(f"a gap of {dyn.name!r}: {error.args[0]}") from None
    return {"state": d.x, "parameter": d.parameters, "input": d.inputs}[kind][number]


def _size(g: Graph, v: int, row: Sequence[int], u: Sequence[int]) -> int:
    """Sum of the sizes of the terms of a velocity v = Σ A_r u_r + v_t."""
    products = [g.mul(a, speed) for a, speed in zip(row, u, strict=True)]
    remainder = v
    for product in products:
        remainder = g.sub(remainder, product)
    total = g.call(Op.ABS, remainder)
    for product in products:
        total = g.add(total, g.call(Op.ABS, product))
    return total


def _constants(g: Graph, vector: Sequence[float]) -> Components:
    x, y, z = (g.constant(float(number)) for number in vector)
    return x, y, z
