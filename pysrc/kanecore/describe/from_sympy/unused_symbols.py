# SPDX-License-Identifier: BSD-3-Clause
"""Symbols that only parts without effect on the motion hold, such as the ground: a user may set them all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import ActuatorBase
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame
from sympy.physics.vector import Dyadic
from sympy.physics.vector import Vector as SymVector

from . import vector_internals
from .arguments import ListedArguments
from .contacts import Contact
from .joint_friction import JointFriction
from .read_loads import is_tendon, single_loads
from .symbols import Symbols, function_name, symbol_name

__all__ = ["left_out"]


def left_out(arguments: ListedArguments, symbols: Symbols) -> tuple[Any, ...]:
    """Symbols and functions of time that were not read, sorted by name."""
    taken = {function_name(x) for x in (*symbols.q, *symbols.u, *symbols.z, *symbols.auxiliary)}
    taken |= {str(symbols.t), *map(str, symbols.parameters), *(function_name(x) for x, _ in symbols.inputs)}
    names = {x: symbol_name(x) for x in _mentioned(arguments, symbols)}
    return tuple(sorted({n: s for s, n in names.items() if n not in taken}.values(), key=names.__getitem__))


def _mentioned(arguments: ListedArguments, symbols: Symbols) -> set[Any]:
    """Symbols and functions of time that occur anywhere.

    Frames oriented from the inertial frame count, and all points located from those of bodies and loads, also of bodies
    and loads that were left out.  Expressions that were read are skipped.
    """
    present: set[Any] = set()
    seen: set[Any] = set()
    stack = _listed(arguments)
    while stack:
        e = stack.pop()
        if isinstance(e, (SymPoint, SymFrame, sm.Basic)):
            if e in seen:
                continue
            seen.add(e)
        if isinstance(e, (SymPoint, SymFrame)):
            stack += _near(e)
        elif isinstance(e, SymVector):
            stack += [x for column, _ in vector_internals.terms(e) for x in column]
        elif isinstance(e, Dyadic):
            stack += [x for term in e.args for x in term]
        elif isinstance(e, sm.MatrixBase):
            stack += e.flat()
        elif isinstance(e, AppliedUndef) and e.func in symbols.functions:
            stack += e.args
        elif isinstance(e, sm.Subs):
            stack += [*e.point, *(e.expr.free_symbols - set(e.variables))]
        elif isinstance(e, (sm.Symbol, AppliedUndef)):
            present.add(e)
        elif isinstance(e, sm.Basic) and not symbols.has_read(e):
            stack += e.args
    return present


def _listed(arguments: ListedArguments) -> list[Any]:
    """Frames, points and expressions that the arguments name."""
    items = [arguments.frame, *arguments.points, *arguments.frames]
    for body in arguments.bodies:
        items += [body.masscenter, body.mass, body.potential_energy]
        if hasattr(body, "frame"):
            items += [body.frame, *body.inertia]
    for item in arguments.forcelist:
        if isinstance(item, Contact):  # its numbers were read
            items += item.points()
        elif isinstance(item, JointFriction):
            continue
        elif not isinstance(item, ActuatorBase):
            items += [x for load in single_loads(item) for x in load]
        elif is_tendon(item):  # its force was read, and SymPy would write the rate of its length out
            items += item.pathway.attachments
        elif hasattr(item, "pathway"):  # whose loads would write every direction cosine out
            items += [item.force, *getattr(item.pathway, "attachments", ())]
        else:
            items += [x for load in item.to_loads() for x in load]
    return items


def _near(item: Any) -> Iterator[Any]:
    """Neighbours of a point or frame, and the vectors or rotations between it and them."""
    if isinstance(item, SymPoint):
        links = (vector_internals.positions(item), vector_internals.velocities(item))
    else:
        links = (vector_internals.neighbours(item), vector_internals.angular_velocities(item))
    for link in links:
        for other, value in link.items():
            yield from (other, value)
