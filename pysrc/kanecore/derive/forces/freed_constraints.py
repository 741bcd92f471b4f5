# SPDX-License-Identifier: BSD-3-Clause
"""Principle of liberation: a constraint is dropped, and an input takes the place of its force.

With inputs r = λ of the constrained mechanism, the freed mechanism moves in the same way:

    M u̇ = f + Gᵀ λ,        F_r += λ ∂φ̇/∂u_r,   λ ∂c/∂u_r,   λ ∂c/∂u̇_r

for constraints on coordinates, on speeds and on accelerations.  If a row of G was attached, the force is λ·vector on
the child and its opposite on the parent, which have the same generalized forces.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanecore.derive.constraint_rows import Constraints, Row
from kanecore.derive.forces.noncontributing_forces import but_loads
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import (
    Attachment,
    Constraint,
    Description,
    GeneralizedForce,
    Image,
    Load,
    duplicate,
    without_auxiliary,
)
from kanecore.errors import ModelError, warn
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import ACCELERATION, INPUT, SPEED, Graph
from kanecore.graph.zero_tests import is_combination, vanish

from .joint_reactions import attached_loads, misattached, numbered, unknown_rows

__all__ = ["Freed", "freed", "without"]


@dataclass(frozen=True)
class Freed:
    """A mechanism without some of its constraints.

    Attributes
    ----------
    description : Description
        The new description; its last inputs are the forces.
    inputs : tuple of str
        Their names.
    multipliers : tuple of (name of an input, number of a row)
        Source of each λ of the constrained mechanism: an input, or, if its name is empty, a row of the new G.
    n_loads : int
        Number of attached constraints, which became loads.
    """

    description: Description
    inputs: tuple[str, ...]
    multipliers: tuple[tuple[str, int], ...]
    n_loads: int


def freed(d: Description, chosen: Sequence[Any], first_load: int, reserved: Collection[str]) -> Freed:
    """Free some constraints, each given by its name or by the number of its row in G.

    Parameters
    ----------
    first_load : int
        The number of the next load in the user's list.
    reserved : collection of str
        Further names that inputs may not have.
    """
    d = duplicate(d)
    k = Kinematics(without_auxiliary(d))
    before = Constraints(k)
    if message := unknown_rows(d.attachments, before.rows):
        raise ModelError(message)
    names = _names(d, before.rows, chosen)
    after = Constraints(k, [constraint for constraint in k.description.constraints if constraint.name not in names])
    places = {row.name: i for i, row in enumerate(after.rows)}
    inputs = tuple(map(_input, names))
    d = _with_inputs(d, inputs, reserved)
    forces = dict(zip(names, d.inputs[-len(names) :], strict=True))
    loads, generalized = _forces(d, before, forces, first_load)
    _warn_of_held(before, after, names)
    description = replace(
        _left(d, before, after, names, forces),
        loads=(*d.loads, *loads),
        shown_points=_shown(d.shown_points, loads, "force"),
        shown_frames=_shown(d.shown_frames, loads, "torque"),
        generalized_forces=(*d.generalized_forces, *generalized),
    )
    return Freed(
        description=replace(description, prescribed=_prescribed(description)),
        inputs=inputs,
        multipliers=tuple(
            (_input(row.name), -1) if row.name in names else ("", places[row.name]) for row in before.rows
        ),
        n_loads=len({load.number for load in loads}),
    )


def without(d: Description, names: Collection[str]) -> Description:
    """The description without some constraints, by name, and without their forces.

    Raises
    ------
    ModelError
        An output depends on the force of such a constraint.
    """
    d = duplicate(d)
    k = Kinematics(without_auxiliary(d))
    before = Constraints(k)
    after = Constraints(k, [constraint for constraint in k.description.constraints if constraint.name not in names])
    _warn_of_held(before, after, names)
    forces = {
        row.name: d.graph.symbol(("λ", i), ACCELERATION) for i, row in enumerate(before.rows) if row.name in names
    }
    for output, node in d.outputs:
        if lost := [name for name, force in forces.items() if force in d.graph.below([node])]:
            raise ModelError(f"output {output!r} of {d.name!r} depends on the force of {lost[0]!r}: leave it out")
    description = _left(d, before, after, names, forces)
    return replace(description, prescribed=_prescribed(description))


def _left(
    d: Description, before: Constraints, after: Constraints, names: Collection[str], forces: Mapping[str, int]
) -> Description:
    """The description without some constraints; the nodes ``forces`` by name take the places of their λ."""
    places = {row.name: i for i, row in enumerate(after.rows)}
    image = _renumbered(d, before.rows, forces, places)
    return replace(
        d,
        constraints=tuple(each for each in d.constraints if each.name not in names),
        attachments=_attachments(d, before.rows, places),
        outputs=tuple((name, image.node(node)) for name, node in d.outputs),
        state_rates=image.nodes(d.state_rates),
        n_q_dependent=_dependent_coordinates(d, after),
        n_u_dependent=_dependent_speeds(d, after),
    )


# ---------------------------------------------------------------------- names
def _names(d: Description, rows: Sequence[Row], chosen: Sequence[Any]) -> list[str]:
    """The names of the constraints to be freed."""
    if not chosen:
        raise ModelError(f"free() has no constraint to free: name {_choice(d)}")
    names = [_name(d, rows, key) for key in chosen]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"free() names {name!r} twice")
    return names


def _name(d: Description, rows: Sequence[Row], key: Any) -> str:
    if isinstance(key, str):
        if key not in (each.name for each in d.constraints):
            raise ModelError(f"{d.name!r} has no constraint {key!r} to be freed: name {_choice(d)}")
        return key
    try:
        number = -1 if isinstance(key, bool) else operator.index(key)
    except TypeError:
        number = -1
    if not 0 <= number < len(rows):
        raise ModelError(f"{key!r} is no row of G of {d.name!r}, which has {len(rows)}: name {_choice(d)}")
    return rows[number].name


def _choice(d: Description) -> str:
    if not d.constraints:
        return "one of its constraints; it has none"
    return f"one of its constraints, {', '.join(repr(each.name) for each in d.constraints)}"


def _input(constraint: str) -> str:
    return f"lambda_{constraint}"


def _with_inputs(d: Description, names: Sequence[str], reserved: Collection[str]) -> Description:
    """The description with more inputs, its last ones."""
    taken = {*reserved, *d.coordinate_names, *d.speed_names, *d.auxiliary_names, *d.input_names, *d.parameter_names}
    taken |= {*d.left_out_parameters, *d.left_out_inputs}
    for name in names:
        if name in taken:
            raise ModelError(
                f"the force of the constraint would be named {name!r}, and the model has a symbol of that name: rename "
                "the symbol, or the constraint"
            )
    return replace(
        d,
        inputs=(*d.inputs, *(d.graph.symbol(("r", name), INPUT) for name in names)),
        input_names=(*d.input_names, *names),
        input_rates=(*d.input_rates, *(-1 for _ in names)),
    )


# --------------------------------------------------------------------- forces
def _forces(
    d: Description, before: Constraints, forces: Mapping[str, int], first_load: int
) -> tuple[list[Load], list[GeneralizedForce]]:
    """Forces of the freed constraints: loads if they are attached, else generalized forces."""
    k, numbers = before.kinematics, {row.name: i for i, row in enumerate(before.rows)}
    loads: list[Load] = []
    generalized = []
    for constraint, at_rest in zip(d.constraints, k.description.constraints, strict=True):
        if constraint.name not in forces:
            continue
        row, number, force = before.row_of(at_rest), numbers.get(constraint.name, -1), forces[constraint.name]
        acting = [a for a in numbered(d.attachments, before.rows) if a.row == number]
        if not acting:
            generalized.append(_generalized(d, constraint, row, force))
            continue
        if message := misattached(k, number, row, acting):
            raise ModelError(message)
        loads += attached_loads(k.graph, acting, force, first_load)
        first_load += 1
    return loads, generalized


def _shown(shown: Sequence[int], loads: Sequence[Load], kind: str) -> tuple[int, ...]:
    """Numbers of shown points or frames, and of those on which loads act: forces on points, torques on frames."""
    return tuple(dict.fromkeys([*shown, *(load.at for load in loads if load.kind == kind)]))


def _generalized(d: Description, constraint: Constraint, row: Row, force: int) -> GeneralizedForce:
    """Generalized force, with components along the speeds, then along the auxiliary speeds."""
    g, slopes = d.graph, [0] * len(d.auxiliary)
    if constraint.kind == "velocity":
        slopes = accumulate(g, [(constraint.node, g.one)], d.auxiliary, SPEED)
    components = tuple(g.mul(force, x) for x in (*row.jacobian, *slopes))
    return GeneralizedForce(_input(constraint.name), components, constraint.kind)


def _warn_of_held(before: Constraints, after: Constraints, names: Collection[str]) -> None:
    """Warn of freed constraints that follow from the remaining constraints."""
    g, others = before.kinematics.graph, [[*row.jacobian, row.bias] for row in after.rows]
    for constraint in before.kinematics.description.constraints:
        row = before.row_of(constraint)
        own = [*row.jacobian, row.bias]
        if row.name not in names or not any(own) or not is_combination(g, own, others):
            continue
        same = [after.rows[i].name for i, other in enumerate(others) if is_combination(g, own, [other])]
        warn(
            f"freeing {row.name} allows no further motion: it follows from "
            f"{' and '.join(same) or 'the other constraints'}, which still apply; free them as well"
        )


# ---------------------------------------------------------------------- states
def _dependent_coordinates(d: Description, after: Constraints) -> int:
    """Number of dependent coordinates, the last ones, after freeing."""
    if not any(each.kind == "configuration" for each in d.constraints):
        return min(d.n_q_dependent, len(after.rows))  # these may be derivatives of constraints on coordinates
    slopes, n = after.configuration_jacobian, len(d.coordinates)
    return _dependent(d.graph, [slopes[i : i + n] for i in range(0, len(slopes), n)], d.n_q_dependent)


def _dependent_speeds(d: Description, after: Constraints) -> int:
    """Number of dependent speeds, the last ones, after freeing."""
    return _dependent(d.graph, [row.jacobian for row in after.rows], d.n_u_dependent)


def _dependent(g: Graph, rows: Sequence[Sequence[int]], limit: int) -> int:
    """Number of dependent columns at the end: one for each independent row; 0 if the rows do not determine them."""
    count = min(limit, _rank(g, rows))
    columns = [list(column) for column in zip(*rows, strict=True)][-count:] if count else []
    return count if _rank(g, columns) == count else 0


def _rank(g: Graph, vectors: Sequence[Sequence[int]]) -> int:
    """Number of independent vectors, at random states."""
    basis: list[Sequence[int]] = []
    for v in vectors:
        if not vanish(g, v) and not is_combination(g, v, basis):
            basis.append(v)
    return len(basis)


def _prescribed(d: Description) -> frozenset[int]:
    """Inputs that prescribe motions, without inputs that occur in freed constraints only."""
    moving = set(d.graph.below(list(but_loads(d))))
    before = {rate: n for n, rate in enumerate(d.input_rates) if rate >= 0}

    def first(n: int) -> int:
        while n in before:
            n = before[n]
        return n

    chains = {first(n) for n in d.prescribed if d.inputs[n] in moving}
    return frozenset(n for n in d.prescribed if first(n) in chains)


def _attachments(d: Description, rows: Sequence[Row], places: Mapping[str, int]) -> tuple[Attachment, ...]:
    """Attachments of rows that remain, with their new numbers."""
    acting = ((a, rows[int(a.row)].name) for a in numbered(d.attachments, rows))
    return tuple(replace(a, row=places[name]) for a, name in acting if name in places)


def _renumbered(d: Description, rows: Sequence[Row], forces: Mapping[str, int], places: Mapping[str, int]) -> Image:
    """Nodes with inputs in place of λ of freed rows, and with new numbers of the other λ."""
    g = d.graph

    def multiplier(number: int) -> int:
        return g.symbol(("λ", number), ACCELERATION)

    swap = {
        multiplier(i): forces[row.name] if row.name in forces else multiplier(places[row.name])
        for i, row in enumerate(rows)
    }
    return Image(g, g, swap)
