# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a description: of each piece, and of the whole.

One function holds one rule.  The rules give a mechanism the form that Kane's method needs: constraints must determine
the dependent coordinates and speeds, and every symbol must have a value, since the emitted C reads it.

Each raises ModelError with ``subject`` as the subject of its message.  First come the rules of form, which expect
nothing of the caller; the rules of mechanics rely on them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from fractions import Fraction
from typing import Any

from kanecore.describe.description import Description, Joint
from kanecore.errors import ModelError, warn
from kanecore.graph.calculus import is_affine
from kanecore.graph.expression_graph import ACCELERATION, COORDINATE, PARAMETER, SPEED, STATE, Graph, Op
from kanecore.graph.vectors import Matrix, Vector
from kanecore.graph.zero_tests import equal, is_rotation

__all__ = [
    "check_constant",
    "check_constraint",
    "check_count",
    "check_dependent",
    "check_dissipation",
    "check_energy",
    "check_inertia",
    "check_lagrangian",
    "check_load",
    "check_matrix",
    "check_name",
    "check_nodes",
    "check_number",
    "check_output_names",
    "check_pair",
    "check_place",
    "check_rate",
    "check_ring",
    "check_rotation",
    "check_symbols",
    "check_unused",
    "check_vector",
    "check_velocity",
]


def check_dependent(d: Description) -> None:
    """Raise ModelError for dependent speeds that no constraint determines; warn for coordinates, which little uses."""
    _check_counts(d)
    places = set(d.graph.below(_nodes(d, "configuration")))
    moving = [rate for q, rate in zip(d.coordinates, d.rates, strict=True) if q in places]
    speeds = set(d.graph.below([*_nodes(d, "velocity"), *_nodes(d, "acceleration"), *moving]))
    message = "{0} in {1}_dependent occurs in no constraint, and nothing determines it: list it in {1}_ind"
    if places:
        for name in _missing(d.coordinate_names, [{q} for q in d.coordinates], d.n_q_dependent, places):
            warn(message.format(name, "q") + "; nothing but linearize(minimal=True) looks at this label")
    determined = [{u, du} for u, du in zip(d.speeds, d.accelerations, strict=True)]
    for name in _missing(d.speed_names, determined, d.n_u_dependent, speeds):
        raise ModelError(message.format(name, "u"))


def _check_counts(d: Description) -> None:
    """Check that no more coordinates and speeds are dependent than constraints can determine."""
    rows = len(d.constraints)
    places = len(_nodes(d, "configuration")) or rows  # velocity constraints may be derivatives of some on coordinates
    for letter, what, count, limit in (
        ("q", "coordinates", d.n_q_dependent, places),
        ("u", "speeds", d.n_u_dependent, rows),
    ):
        if count > limit:
            raise ModelError(
                f"{letter}_dependent names {count} {what}, and there are {limit} constraints that may determine "
                f"them: add the others, or list speeds or coordinates that are independent in {letter}_ind"
            )


def _nodes(d: Description, kind: str) -> list[int]:
    return [each.node for each in d.constraints if each.kind == kind]


def _missing(names: tuple[str, ...], nodes: list[set[int]], count: int, present: Set[int]) -> Iterator[str]:
    """Names among the last ``count`` that have no node present."""
    first = len(names) - count
    return (name for name, own in zip(names[first:], nodes[first:], strict=True) if present.isdisjoint(own))


def check_symbols(d: Description, multipliers: Set[int]) -> None:
    """ModelError for symbols that the description does not list.

    Symbols of a line may occur in the force of its tendon, multipliers and reactions in loads and outputs.
    """
    g = d.graph
    states = (*d.x, *d.accelerations, *d.auxiliary)
    known = {d.time, *states, *d.inputs, *d.parameters}
    held = _held(g, {i for i, node in enumerate(g.nodes) if node[0] is Op.SYM and i not in known})
    if not held:
        return
    lines = ((f"load {x.number}, a tendon,", [x.force], {x.length, x.rate}) for x in d.tendons)
    outputs = [(f"output {name}", [node], multipliers) for name, node in d.outputs]
    outputs += [
        (f"the rate of state {name}", [node], multipliers)
        for name, node in zip(d.state_names, d.state_rates, strict=True)
    ]
    everywhere = ((what, nodes, multipliers if what.startswith("load ") else set[int]()) for what, nodes in _pieces(d))
    for what, nodes, allowed in (*everywhere, *lines, *outputs):
        for symbol in sorted(set[int]().union(*(held.get(i, ()) for i in nodes)) - allowed):
            raise ModelError(
                f"{what} holds the symbol {g.nodes[symbol][1]!r}, which has no value there: make symbols with "
                "coordinate(), speed(), parameter() or input(); those of line() stand in the force of its tendon "
                "alone, and multipliers in loads, outputs and rates of states alone"
            )


def _held(g: Graph, symbols: Collection[int]) -> dict[int, set[int]]:
    """Symbols that each node holds, out of some; nodes without any are left out."""
    held = {i: {i} for i in symbols}
    if held:
        for i in range(len(g.nodes)):
            below = [held[k] for k in g.operands(i) if k in held]
            if below:
                held[i] = set().union(*below)
    return held


def _pieces(d: Description) -> Iterator[tuple[str, Sequence[int]]]:
    """Nodes in which symbols of a line may not occur, and multipliers in loads alone, each with its name."""
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
    for force in d.generalized_forces:
        yield force.name, force.components
    for each in d.constraints:
        yield each.name, [each.node]
    for a in d.attachments:
        yield f"attach={{{a.row}: ...}}", _components(a.vector)


def _components(vector: Vector) -> list[int]:
    return [i for _, components in vector for i in components]


# ------------------------------------------------------------------- form
def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _has_length(value: Any, length: int) -> bool:
    return isinstance(value, Sequence) and len(value) == length


def _is_term(value: Any) -> bool:
    """Test whether a value has the form (frame, (x, y, z))."""
    return _has_length(value, 2) and _has_length(value[1], 3)


def check_name(name: Any) -> None:
    """Any name will do that can be a C string in UTF-8."""
    if not isinstance(name, str):
        raise ModelError(f"the name {name!r} is no text: write a str")
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ModelError(f"the name {name!r} holds a NUL or half a surrogate pair: choose another")


def check_unused(name: str, others: Iterable[str], kind: str) -> None:
    """Raise ModelError if a name is taken: things are found by their names."""
    if name in others:
        raise ModelError(f"two {kind} are named {name!r}: give each a name of its own")


def check_constant(value: Any) -> None:
    """C has a double for it."""
    try:
        finite = isinstance(value, (int, float, Fraction)) and math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ModelError(f"the constant {value!r} is no finite number: write a finite int, Fraction or float")


def check_count(number: Any, subject: str) -> None:
    """A place in a list."""
    if not _is_integer(number) or number < 0:
        raise ModelError(f"{subject} is {number!r}: write an int, 0 or greater")


def check_number(number: Any, items: Sequence[object], kind: str, subject: str, least: int = 0) -> None:
    """Check the number of a frame, point or body, which the builder gave."""
    if not _is_integer(number):
        raise ModelError(f"{subject} is {number!r}, which is no int: write the number that {kind}() returned")
    if not least <= number < len(items):
        raise ModelError(f"{subject} is {number}, and there is no {kind} {number}: add it first")


def check_nodes(g: Graph, nodes: Iterable[Any], subject: object) -> None:
    """A scalar is named by its number in the graph."""
    for node in nodes:
        if not _is_integer(node) or not 0 <= node < len(g.nodes):
            raise ModelError(
                f"{subject} holds {node!r}, which is no node of the graph: write a symbol of the builder, "
                "constant(number), or what its graph makes of them"
            )


def check_pair(pair: Any, subject: str, form: str) -> None:
    if not _has_length(pair, 2):
        raise ModelError(f"{subject} is {pair!r}: write {form}")


def check_vector(g: Graph, vector: Any, frames: Sequence[object], subject: str) -> None:
    """Check a vector: a sum of components, each in the axes of an existing frame."""
    if not isinstance(vector, Sequence) or not all(map(_is_term, vector)):
        raise ModelError(f"{subject} is {vector!r}: write a vector as ((frame, (x, y, z)), ...)")
    for frame, components in vector:
        check_number(frame, frames, "frame", f"a frame in {subject}")
        check_nodes(g, components, subject)


def check_matrix(g: Graph, rows: Any, subject: str) -> None:
    """Three rows of three scalars."""
    if not _has_length(rows, 3) or not all(_has_length(row, 3) for row in rows):
        raise ModelError(f"{subject} is {rows!r}: write three rows of three nodes, ((xx, xy, xz), ...)")
    check_nodes(g, [i for row in rows for i in row], subject)


# -------------------------------------------------------------- mechanics
def check_rotation(g: Graph, rows: Matrix, subject: str) -> None:
    """Check R Rᵀ = 1 and det R = 1, if R is constant and has no parameters, to the rounding of its entries."""
    if any(g.depends[i] for row in rows for i in row):
        return
    if not is_rotation(g, rows):
        raise ModelError(
            f"{subject} is no rotation: its rows must be unit vectors, perpendicular to each other and right-handed"
        )


def check_still(g: Graph, nodes: Sequence[int], subject: object) -> None:
    """Check that the expressions that move points and frames hold no first-order state."""
    if not any(g.depends[i] & STATE for i in nodes):
        return
    held = (g.nodes[i] for i in g.below(nodes) if g.nodes[i][0] is Op.SYM and g.depends[i] & STATE)
    names = ", ".join(dict.fromkeys(str(node[1][-1]) for node in held))
    first = names.partition(",")[0]
    raise ModelError(
        f"{subject} holds the state {names}, which then moves points or frames: what moves these is a coordinate; list "
        f"{first} in q_ind, and its equation, {first}.diff() - rate, in kd_eqs, instead of in states"
    )


def check_place(g: Graph, nodes: Sequence[int], subject: str) -> None:
    """Check that positions or orientations hold neither speeds nor states."""
    check_energy(g, nodes, subject)
    check_still(g, nodes, subject)


def check_energy(g: Graph, nodes: Iterable[int], subject: str) -> None:
    """Check that masses or potentials hold no speeds."""
    if any(g.depends[i] & (SPEED | ACCELERATION) for i in nodes):
        raise ModelError(f"{subject} holds speeds: it may hold coordinates, inputs, parameters and time")


def check_velocity(g: Graph, nodes: Sequence[int], subject: str) -> None:
    """Check that a velocity is linear in the speeds, so that partial velocities exist, and holds no state."""
    check_still(g, nodes, subject)
    if not is_affine(g, nodes, lambda i: g.depends[i] & (SPEED | ACCELERATION)):
        raise ModelError(f"{subject} is not linear in the speeds: choose speeds in which it is")


def check_rate(g: Graph, node: int, subject: str) -> None:
    """Check that the rate of a coordinate holds neither derivatives of speeds nor first-order states."""
    check_still(g, [node], subject)
    if g.depends[node] & ACCELERATION:
        raise ModelError(f"{subject} holds derivatives of speeds: it is a function of coordinates, speeds and time")


def check_lagrangian(g: Graph, node: int, speeds: Iterable[int]) -> None:
    """L(q, q̇, t, r) is a function of rates, and of none higher."""
    if g.depends[node] & ACCELERATION:
        raise ModelError("the Lagrangian holds derivatives of speeds, which Lagrange's equations are solved for")
    if set(speeds).isdisjoint(g.below([node])):
        raise ModelError(
            "the Lagrangian holds no derivative of a coordinate, and gives no equation of motion: write L = T - U with "
            "the kinetic energy T in q.diff()"
        )


def check_dissipation(g: Graph, node: int, speeds: Iterable[int]) -> None:
    """R(q, q̇, t, r) is a function of rates, and of none higher."""
    if g.depends[node] & ACCELERATION:
        raise ModelError(
            "the dissipation function holds derivatives of speeds: its force is -dR/dq', and R(q, q', t) that of "
            "coordinates, their first derivatives, inputs and time"
        )
    if set(speeds).isdisjoint(g.below([node])):
        raise ModelError(
            "the dissipation function holds no derivative of a coordinate, and gives no force: write R in q.diff(), "
            "such as c*q.diff()**2/2 for the force -c*q.diff()"
        )


def check_load(g: Graph, nodes: Iterable[int], subject: str) -> None:
    """Raise ModelError unless a load is affine in u̇: linear terms join the mass matrix; nothing else can.

    Multipliers and reactions may stand in it in any way.
    """
    nodes = list(nodes)
    moving: set[int] = set()
    for i in g.below(nodes):
        is_rate = g.nodes[i][0] is Op.SYM and g.depends[i] & ACCELERATION and g.nodes[i][1][0] not in ("λ", "R")
        if is_rate or not moving.isdisjoint(g.operands(i)):
            moving.add(i)
    if not is_affine(g, nodes, moving.__contains__):
        raise ModelError(
            f"{subject} is not affine in the derivatives of the speeds, which are solved from linear equations: write "
            "it as a + b*u1.diff() + ..., a and b without derivatives of speeds, or make it an input"
        )


def check_inertia(g: Graph, tensors: Sequence[tuple[str, Matrix]], subject: str) -> None:
    """Check tensors, each with the name of its frame: symmetric, by structure or by numbers, and constant."""
    for frame, m in tensors:
        pairs = [(m[i][j], m[j][i]) for i, j in ((0, 1), (1, 2), (2, 0))]
        if not equal(g, pairs, [i for row in m for i in row], otherwise=True):
            raise ModelError(
                f"{subject} is not symmetric in frame {frame}: make it with sympy.physics.mechanics.inertia"
            )
    if any(g.depends[i] & ~PARAMETER for _, m in tensors for row in m for i in row):
        raise ModelError(
            f"{subject} must be constant in the axes it is written in, and holds coordinates, speeds, inputs or time: "
            "model what moves within the body as a body of its own"
        )


def check_constraint(g: Graph, kind: str, node: int, subject: object) -> None:
    """Check that a constraint holds the highest derivative of its kind, and no higher one."""
    depends = g.depends[node]
    if node == g.zero:  # a component of a planar loop across its plane: a row of zeros
        return
    if kind == "configuration":
        check_still(g, [node], subject)
        if depends & (SPEED | ACCELERATION):
            raise ModelError(f"{subject} holds speeds: it is a velocity constraint")
        if not depends & COORDINATE:
            raise ModelError(f"{subject} holds no coordinate: nothing that moves can satisfy it")
    elif kind == "velocity":
        if depends & ACCELERATION:
            raise ModelError(f"{subject} holds derivatives of speeds: it is an acceleration constraint")
        if not depends & SPEED:
            where = "it is a configuration constraint" if depends & COORDINATE else "nothing that moves can satisfy it"
            raise ModelError(f"{subject} holds no speed: {where}")
    elif not depends & ACCELERATION:
        raise ModelError(f"{subject} holds no derivative of a speed: it is a velocity constraint")
    elif not is_affine(g, [node], lambda i: g.depends[i] & ACCELERATION):
        raise ModelError(f"{subject} is not linear in the derivatives of the speeds")


def check_ring(joints: Sequence[Joint]) -> None:
    """Check that no joint hangs on itself: the path from its parent to the ground must not lead to its child."""
    parents = {joint.child: joint.parent for joint in joints}
    for joint in joints:
        above, passed = joint.parent, set[int]()
        while above in parents and above != joint.child and above not in passed:
            passed.add(above)
            above = parents[above]
        if above == joint.child:
            raise ModelError(f"joint {joint.name} hangs on itself: its parent is carried by its child")


def check_output_names(d: Description, reactions: Collection[int]) -> None:
    """Raise ModelError for an output with the name of another state or input: runs return all of them by name.

    An output may be the state or input of its name.  Reactions are no inputs in the end.
    """
    kinds = (
        ("coordinate", d.coordinate_names, d.coordinates),
        ("speed", d.speed_names, d.speeds),
        ("state", d.state_names, d.states),
        ("input", d.input_names, d.inputs),
    )
    taken = {name: (kind, node) for kind, names, nodes in kinds for name, node in zip(names, nodes, strict=True)}
    for name, node in d.outputs:
        if name not in taken or taken[name][1] in reactions or taken[name][1] == node:
            continue
        kind = taken[name][0]
        raise ModelError(
            f"an output and the {kind} {name} are both called {name!r}, and sol[{name!r}] could be either: rename the "
            "output"
        )
