# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a batch of runs: initial states, inputs and parameters, rows to run again, and errors of failed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.consistent_states import normalized, on_constraints
from kanecore.constraints.constraint_state import ConstraintState, count_near, refuse_flat_rows, warn_of_count
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import IntegrationError
from kanecore.tolerances import FEASIBLE, FEASIBLE_IN_FLOATS

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Rows", "count_again", "failed_rows", "named", "starts"]

Array = npt.NDArray[Any]
Place = tuple[Any, ...]  # of the leading axes


@dataclass(frozen=True)
class Rows:
    """Initial states, inputs of each step and parameters, with leading axes that broadcast to ``shape``."""

    dyn: Evaluator
    t0: float | Array  # Array: (...)
    dt: float
    shape: tuple[int, ...]
    x: Array  # (..., n_x)
    r: Array  # (..., steps or 1, n_r)
    p: Array  # (..., n_p)
    c: Array  # (..., n_prepared)

    def wide(self, operand: Array, own: int) -> Array:
        """Broadcast an operand, with some trailing axes, to all rows."""
        return np.broadcast_to(operand, self.shape + operand.shape[operand.ndim - own :])

    def at(self, place: Place) -> Rows:
        """Rows at a place of the leading axes: one row, or the rows of a mask."""
        x, p, c = (self.wide(operand, 1)[place] for operand in (self.x, self.p, self.c))
        t0 = np.broadcast_to(self.t0, self.shape)[place] if np.ndim(self.t0) else self.t0
        return replace(self, t0=t0, shape=x.shape[:-1], x=x, r=self.wide(self.r, 2)[place], p=p, c=c)

    def start(self) -> ConstraintState:
        """Constraints at the start of the single remaining row."""
        return ConstraintState(self.dyn, float(self.t0), self.x, self.r[0], self.p)


def starts(rows: Rows) -> Array:
    """Initial states projected to unit spheres and constraints, (..., n_x); ValueError for the first far state."""
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
    misses = Constraints(dyn, good.t0, good.x, r, p).misses
    limit = FEASIBLE_IN_FLOATS if dyn.single else FEASIBLE
    wrong = np.flatnonzero(~(np.max(misses, axis=-1, initial=0.0) <= limit))
    if len(wrong):
        place = tuple(axis[wrong[0]] for axis in np.nonzero(mask)) if rows.shape else ()
        on_constraints(wide.at(place).start(), named("x0", place))
    x[mask] = dyn.kernels.project(good.t0, good.x, r=r, p=p)
    if not dyn.single:
        one = replace(good, x=x[mask]).at((0,)).start()
        refuse_flat_rows(one)
        warn_of_count(one)
    return x


def _normalized(dyn: Evaluator, x: Array, finite: npt.NDArray[np.bool_]) -> Array:
    """Finite states with unit quaternions of norm 1; a ValueError names the first other row."""
    try:
        return normalized(dyn, x[finite], "x0")
    except ValueError:
        for place in zip(*np.nonzero(finite), strict=True) if finite.ndim else [()]:
            normalized(dyn, x[place], named("x0", place))
        raise


def named(argument: str, place: Place) -> str:
    """Name of a row of an argument."""
    return f"{argument}[{', '.join(str(int(i)) for i in place)}]" if place else argument


def count_again(
    rows: Rows, lost: npt.NDArray[np.intp], again: Callable[[int, Rows], Sequence[Array]], *results: Array
) -> None:
    """Repeat rows in which G lost rank at the start, with the rank there, as `simulate` does.

    Parameters
    ----------
    lost : ndarray of int
        Indices of these rows.
    again : callable
        ``again(number, row)`` runs a row, and returns its results, arrays of one entry.
    *results : ndarray
        Arrays that receive the results.
    """
    for i in lost.tolist():
        one = rows.at(np.unravel_index(i, rows.shape))
        count = count_near(one.start())
        if count == one.c[-1]:
            continue
        c = one.c.copy()
        c[-1] = count
        for result, new in zip(results, again(i, replace(one, c=c)), strict=True):
            result[i] = new[0]


def failed_rows(
    rows: Rows, run: str, codes: npt.NDArray[np.uint8], said: Callable[[Place], str], rest: str, **held: Any
) -> IntegrationError:
    """The error of the first failed row, with the indices of all failed rows.

    Parameters
    ----------
    run : str
        Kind of run, such as "rollout".
    said : callable
        ``said(place)`` says how the row at a place of the leading axes ended.
    rest : str
        Phrase about the other rows and the place of their results.
    **held
        Attributes of the error.
    """
    failed = np.flatnonzero(codes)
    place = np.unravel_index(failed[0], rows.shape)
    which = f"row {', '.join(str(int(i)) for i in place)} of the {run}" if place else f"the {run}"
    others = f"{len(failed)} rows fail in all; " if len(failed) > 1 else ""
    return IntegrationError(
        f"{which} of {rows.dyn.name!r} {said(place)}; {others}{rest}, and return_status=True returns them without an "
        "error",
        rows=failed if rows.shape else None,
        **held,
    )
