# SPDX-License-Identifier: BSD-3-Clause
"""Unit quaternions among the coordinates, found from the user's words or rotation matrices; integration keeps |e| = 1.

Of e = (e0, e1, e2, e3), e0 the cosine of half the angle, the rotation matrix is (Kane, Likins & Levinson, *Spacecraft
Dynamics*, 1983, section 1.3)

    R_ii = e0² + e_i² − e_j² − e_k²,        R_ij = 2 (e_i e_j ∓ e0 e_k),

which SymPy's ``orient_quaternion`` writes; others write R_ii = 1 − 2 (e_j² + e_k²).  Both are rotations where |e| = 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Function
from sympy.core.function import AppliedUndef

from kanecore.errors import ModelError
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import Graph
from kanecore.tolerances import EQUAL

from . import vector_internals
from .symbols import Symbols, function_name

__all__ = ["Quaternion", "find_quaternions", "quaternion_order"]

Places = tuple[int, int, int, int]

PROBE = (2 / 9, 4 / 9, -5 / 9, 6 / 9)  # a unit quaternion without any symmetry


@dataclass(frozen=True)
class Quaternion:
    """Four coordinates.

    Attributes
    ----------
    places : tuple of int
        Their places in q.
    frame : ReferenceFrame or None
        The frame whose orientation shows it; None if the user declared it.
    """

    places: Places
    frame: Any = None


def find_quaternions(symbols: Symbols, frames: Iterable[tuple[Any, Any]], named: Sequence[Any]) -> list[Quaternion]:
    """The quaternions among the coordinates.

    Parameters
    ----------
    frames : iterable of (frame, frame it is oriented from)
    named : sequence of (e0, e1, e2, e3)
        Quaternions that the user gave as ``unit``.
    """
    quaternions = [Quaternion(_named(symbols, group)) for group in named]
    for frame, parent in frames:
        matrix = vector_internals.neighbours(parent)[frame]
        members = matrix.atoms(AppliedUndef)
        if len(members) != 4 or matrix.free_symbols != {symbols.t} or not members.issubset(symbols.q):
            continue
        if matrix.atoms(Function) != members:
            continue  # functions of them
        places = _recognised(symbols, matrix, [x for x in symbols.q if x in members])
        if places is not None and not any(set(places) == set(other.places) for other in quaternions):
            quaternions.append(Quaternion(places, frame))
    everywhere = [i for quaternion in quaternions for i in quaternion.places]
    for i in everywhere:
        if everywhere.count(i) > 1:
            raise ModelError(
                f"{function_name(symbols.q[i])} belongs to two quaternions: name those that are meant in unit=[...]"
            )
    return quaternions


def _named(symbols: Symbols, group: Any) -> Places:
    members = list(group) if isinstance(group, Iterable) else [group]
    if len(members) != 4 or len(set(members)) != 4:
        raise ModelError(f"unit holds {group!r}: a quaternion is four coordinates, unit=[(e0, e1, e2, e3)]")
    for x in members:
        if x not in symbols.q:
            raise ModelError(f"unit holds {x}, which is no coordinate: list it in q_ind")
    e0, e1, e2, e3 = (symbols.q.index(x) for x in members)
    return e0, e1, e2, e3


def _recognised(symbols: Symbols, matrix: Any, members: Sequence[Any]) -> Places | None:
    entries = [symbols.node(e, "the orientation by a quaternion") for e in matrix]
    order = quaternion_order(symbols.graph, entries, [symbols.node(x) for x in members])
    if order is None:
        return None
    e0, e1, e2, e3 = (symbols.q.index(members[i]) for i in order)
    return e0, e1, e2, e3


def quaternion_order(g: Graph, entries: Sequence[int], members: Sequence[int]) -> tuple[int, ...] | None:
    """Places of e0, e1, e2, e3 among the four symbols of a rotation matrix; None for other matrices."""
    keys = [g.nodes[i][1] for i in members]
    try:
        values = evaluate(g, entries, dict(zip(keys, PROBE, strict=True)))
    except (ArithmeticError, ValueError):
        return None
    for order in itertools.permutations(range(4)):
        expected = _rotation(*(PROBE[i] for i in order))
        for candidate in (expected, [expected[3 * j + i] for i in range(3) for j in range(3)]):
            if all(math.isclose(a, b, abs_tol=EQUAL) for a, b in zip(values, candidate, strict=True)):
                return order
    return None


def _rotation(e0: float, e1: float, e2: float, e3: float) -> list[float]:
    return [
        *(e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)),
        *(2 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2 * (e2 * e3 - e0 * e1)),
        *(2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3),
    ]
