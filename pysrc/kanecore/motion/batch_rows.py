# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a batch of runs: their starts, inputs and parameters, and the reasons for failures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.constraints.consistent_states import normalized, on_constraints
from kanecore.constraints.constraint_state import ConstraintState, refuse_flat_rows, warn_of_count
from kanecore.constraints.constraint_values import Constraints
from kanecore.tolerances import FEASIBLE, FEASIBLE_IN_FLOATS

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["Rows", "named", "reason", "starts"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """Starts, inputs of each step and parameters, whose leading axes broadcast to ``shape``."""

    dyn: Kernels
    t0: float
    dt: float
    shape: tuple[int, ...]
    x: Array  # (..., n_x)
    r: Array  # (..., steps or 1, n_r)
    p: Array  # (..., n_p)
    c: Array  # (..., n_prepared)

    def wide(self, operand: Array, own: int) -> Array:
        """Broadcast an operand with some axes of its own to all rows."""
        return np.broadcast_to(operand, self.shape + operand.shape[operand.ndim - own :])

    def at(self, place: tuple[Any, ...]) -> Rows:
        """Rows at a place of the leading axes: one, or those of a mask."""
        x, p, c = (self.wide(operand, 1)[place] for operand in (self.x, self.p, self.c))
        return replace(self, shape=x.shape[:-1], x=x, r=self.wide(self.r, 2)[place], p=p, c=c)

    def start(self) -> ConstraintState:
        """Constraints at the start of the one row that is left."""
        return ConstraintState(self.dyn, self.t0, self.x, self.r[0], self.p)


def starts(rows: Rows) -> Array:
    """Starts on unit spheres and constraints, (..., n_x); ValueError for the first one that is not near them."""
    dyn, finite = rows.dyn, np.asarray(np.isfinite(rows.x).all(axis=-1))
    x = rows.x.copy()
    x[finite] = _normalized(dyn, rows.x, finite)
    if not (dyn.n_constraints or dyn.n_configuration):
        return x
    wide = replace(rows, x=rows.wide(x, 1), r=rows.r[..., :1, :])
    mask = np.broadcast_to(finite, rows.shape)
    x = wide.x.copy()
    if not mask.any():
        return x
    good = wide.at((mask,))
    r, p = good.r[:, 0], good.p
    misses = Constraints(dyn, rows.t0, good.x, r, p).misses
    limit = FEASIBLE_IN_FLOATS if dyn.single else FEASIBLE
    wrong = np.flatnonzero(~(np.max(misses, axis=-1, initial=0.0) <= limit))
    if len(wrong):
        place = tuple(axis[wrong[0]] for axis in np.nonzero(mask)) if rows.shape else ()
        on_constraints(wide.at(place).start(), named("x0", place))
    x[mask] = dyn._project(rows.t0, good.x, r=r, p=p)
    if not dyn.single:
        one = replace(good, x=x[mask]).at((0,)).start()
        refuse_flat_rows(one)
        warn_of_count(one)
    return x


def _normalized(dyn: Kernels, x: Array, finite: npt.NDArray[np.bool_]) -> Array:
    """Finite states with unit quaternions of norm 1; ValueError that names a row if one is not."""
    try:
        return normalized(dyn, x[finite], "x0")
    except ValueError:
        for place in zip(*np.nonzero(finite), strict=True) if finite.ndim else [()]:
            normalized(dyn, x[place], named("x0", place))
        raise


def named(argument: str, place: tuple[Any, ...]) -> str:
    return f"{argument}[{', '.join(str(int(i)) for i in place)}]" if place else argument


def reason(dyn: Kernels, code: int, number: int) -> str:
    """Reason behind a status code, in words."""
    word = _motion.STATUS[code]
    if word == "nonfinite":
        return (
            "what follows is not finite: the motion diverges, which a smaller dt may prevent, or is not defined there"
        )
    if word == "chatter":
        return (
            f"speed {dyn.speed_names[number]!r} chatters: its derivative jumps, and leads back to that from both sides"
        )
    if word == "jump":
        return "the constraints ask for a jump of the state, as a row does that begins to hold"
    if word == "stalled":
        return "steps shrink so that the run comes to an end on the way: the motion speeds up without bound"
    if word == "singular":
        return (
            f"the mass matrix is singular, the pivot of speed {dyn.speed_names[number]!r} vanished; the kinematical "
            "equations may be singular there (gimbal lock)"
        )
    row = dyn._row_name(number)
    return {
        "contradictory": f"{row!r} contradicts other constraints; do prescribed motions allow it?",
        "lost": f"{row!r} is lost: a dead point of all constraints",
    }.get(word, f"no state on the constraints was found, {row!r} cannot be satisfied with the others")
