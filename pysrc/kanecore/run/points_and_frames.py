# SPDX-License-Identifier: BSD-3-Clause
"""Points and frames by name, and the points and frames of a model's bodies and loads, from its library.

Kernels give vectors of bodies and loads, and partial velocities of points and frames; a product of both needs to know
which rows belong together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = [
    "Acting",
    "about_point",
    "bodies_of",
    "inertial_or_number",
    "loads_of",
    "number_of",
    "require_bodies",
    "same_tree",
]

Numbers = npt.NDArray[np.intp]
FORCE, TORQUE = 0, 1


@dataclass(frozen=True)
class Acting:
    """Rows of a kernel's result: forces at points, then torques on frames.

    Attributes
    ----------
    at_points, on_frames : ndarray
        The rows.
    points, frames : ndarray
        The point or frame of each row.
    """

    at_points: Numbers
    points: Numbers
    on_frames: Numbers
    frames: Numbers


@dataclass(frozen=True)
class Loads:
    """The rows of ``load_vectors``, by the user's list.

    Attributes
    ----------
    acting : Acting
    names : tuple of str
        Names of the acting loads.
    load : ndarray
        Number of the load to which each row belongs.
    body : ndarray
        Body on which each row acts, −1 for the ground.
    """

    acting: Acting
    names: tuple[str, ...]
    load: Numbers
    body: Numbers


def require_bodies(dyn: Evaluator) -> None:
    """Raise ModelError if the equations are those of a Lagrangian: its bodies are not known."""
    if not dyn.n_bodies:
        raise ModelError(
            f"{dyn.name!r} has no bodies: it is made of a Lagrangian, whose momenta are dyn.generalized_momenta"
        )


def bodies_of(dyn: Evaluator) -> Acting:
    """Mass centres of all bodies, and frames of rigid bodies."""
    require_bodies(dyn)
    rows = numbers(dyn.facts.bodies, 2)
    rigid = np.flatnonzero(rows[:, 1] >= 0)
    return Acting(np.arange(len(rows)), rows[:, 0], rigid, rows[rigid, 1])


def loads_of(dyn: Evaluator) -> Loads:
    rows = numbers(dyn.facts.loads, 4)
    kinds = [np.flatnonzero(rows[:, 0] == kind) for kind in (FORCE, TORQUE)]
    acting = Acting(kinds[0], rows[kinds[0], 1], kinds[1], rows[kinds[1], 1])
    user, load = np.unique(rows[:, 2], return_inverse=True)
    names = []
    for number in user:
        places = dict.fromkeys(
            f"at {dyn.points[place]}" if kind == FORCE else f"on {dyn.frames[place]}"
            for kind, place in rows[rows[:, 2] == number, :2]
        )
        names.append(f"load {number} {', '.join(places)}")
    return Loads(acting, tuple(names), np.asarray(load, dtype=np.intp).reshape(-1), rows[:, 3])


def numbers(rows: Iterable[Iterable[int]], width: int) -> Numbers:
    return np.array([list(row) for row in rows], dtype=np.intp).reshape(-1, width)


def number_of(dyn: Evaluator, kind: Literal["point", "frame"], key: Any) -> int:
    """The index of a point or frame by its name, or by SymPy's object of this name; KeyError shows near names."""
    name, names = _name(kind, key), dyn.points if kind == "point" else dyn.frames
    if name not in names:
        raise unknown_name(f"{kind} of {dyn.name!r} (Model({kind}s=[...]) adds others) is called", name, names)
    called = [i for i, each in enumerate(names) if each == name]
    if len(called) > 1 or (kind == "frame" and called[0] in dyn.facts.namesakes):
        raise KeyError(f"{max(len(called), 2)} {kind}s of {dyn.name!r} are called {name!r}: rename all but one")
    return called[0]


def inertial_or_number(dyn: Evaluator, key: Any) -> int | None:
    """The index of a frame; None for the inertial frame."""
    name = _name("frame", key)
    is_inertial = name == dyn.facts.inertial and name not in dyn.frames
    return None if is_inertial else number_of(dyn, "frame", key)


def _name(kind: str, key: Any) -> str:
    name = getattr(key, "name", key)
    if not isinstance(name, str):
        raise TypeError(f"{key!r} is no {kind}: give its name, or SymPy's object")
    return name


def about_point(dyn: Evaluator, name: str, points: Numbers) -> int:
    """Index of a point from which the positions of others are known; errors name an unknown position."""
    place = number_of(dyn, "point", name)
    same_tree(dyn, np.append(points, place))
    return place


def same_tree(dyn: Evaluator, points: Numbers) -> None:
    """Raise ModelError unless some points are located from the same root."""
    roots = np.array(dyn.facts.roots or [0] * dyn.n_points, dtype=np.intp)
    other = points[roots[points] != roots[points[-1]]] if len(points) else points
    if len(other):
        raise ModelError(
            f"{dyn.name!r}: the position of point {dyn.points[other[0]]} from point {dyn.points[points[-1]]} is not "
            "known: locate both from the same origin"
        )
