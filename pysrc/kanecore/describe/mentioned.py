# SPDX-License-Identifier: BSD-3-Clause
"""Symbols that stand anywhere in what a user wrote, also where the reader has no need to look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import ActuatorBase
from sympy.physics.mechanics import Point as SymPoint
from sympy.physics.mechanics import ReferenceFrame as SymFrame
from sympy.physics.vector import Dyadic
from sympy.physics.vector import Vector as SymVector

from . import sympy_access

__all__ = ["mentioned"]


def mentioned(
    frame: Any, bodies: Sequence[Any], forcelist: Sequence[Any], more: Iterable[Any], known: Callable[[Any], bool]
) -> set[Any]:
    """Symbols and functions of time of a description.

    Parameters
    ----------
    frame : ReferenceFrame
        The inertial one: all that is oriented from it counts.
    bodies, forcelist : sequences
        Those that were left out included; all points that are located from theirs count.
    more : iterable
        Further frames, points and expressions.
    known : callable
        Whether the symbols of an expression need not be looked for.
    """
    found: set[Any] = set()
    seen: set[Any] = set()
    stack: list[Any] = [frame, *more]
    for body in bodies:
        stack += [body.masscenter, body.mass, body.potential_energy]
        if hasattr(body, "frame"):
            stack += [body.frame, *body.inertia]
    for item in forcelist:
        if not isinstance(item, ActuatorBase):
            stack.extend(item)
        elif hasattr(item, "pathway"):  # whose loads would write every direction cosine out
            stack += [item.force, *getattr(item.pathway, "attachments", ())]
        else:
            stack += [x for load in item.to_loads() for x in load]
    while stack:
        e = stack.pop()
        if isinstance(e, (SymPoint, SymFrame, sm.Basic)):
            if e in seen:
                continue
            seen.add(e)
        if isinstance(e, (SymPoint, SymFrame)):
            stack += _near(e)
        elif isinstance(e, SymVector):
            stack += [x for column, _ in sympy_access.terms(e) for x in column]
        elif isinstance(e, Dyadic):
            stack += [x for term in e.args for x in term]
        elif isinstance(e, sm.MatrixBase):
            stack += e.flat()
        elif isinstance(e, (sm.Symbol, AppliedUndef)):
            found.add(e)
        elif isinstance(e, sm.Basic) and not known(e):
            stack += e.args
    return found


def _near(item: Any) -> Iterator[Any]:
    """What stands at a point or frame, and those beside it."""
    if isinstance(item, SymPoint):
        links = (sympy_access.positions(item), sympy_access.velocities(item))
    else:
        links = (sympy_access.neighbours(item), sympy_access.angular_velocities(item))
    for link in links:
        for other, value in link.items():
            yield from (other, value)
