# SPDX-License-Identifier: BSD-3-Clause
"""States that a user gives and that must be on the constraints: starts of runs, of searches, and of linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.rank import refuse_flat_rows, warn_of_count
from kanecore.tolerances import FEASIBLE

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["normalized", "on_constraints"]

Array = npt.NDArray[np.float64]


def normalized(dyn: Kernels, x: Array, argument: str) -> Array:
    """The states with their unit quaternions divided by their norms, which must be 1 but for rounding: (..., n_x)."""
    result = x.copy()
    for quaternion in dyn.unit:
        places = list(quaternion)
        norms = np.linalg.norm(x[..., places], axis=-1, keepdims=True)
        wrong = norms[~(np.abs(norms - 1.0) <= FEASIBLE)].tolist()
        if wrong:
            names = ", ".join(dyn.coordinate_names[i] for i in places)
            hint = "divide by its norm" if wrong[0] else "without rotation it is (1, 0, 0, 0)"
            raise ValueError(f"the unit quaternion ({names}) has norm {wrong[0]!r} in {argument}; it must be 1: {hint}")
        result[..., places] = x[..., places] / norms
    return result


def on_constraints(start: ConstraintState, argument: str) -> ConstraintState:
    """The state on the constraints next to one that must satisfy them; ValueError where it does not."""
    dyn, t, x = start.dyn, start.t, start.x
    if not start.satisfied(FEASIBLE):
        raise ValueError(
            f"{argument} does not satisfy the constraints of {dyn.name!r} at t = {t!r}: "
            f"{start.described_misses(FEASIBLE)}; the residuals must be below {FEASIBLE} of the terms they are summed "
            f"from: start from dyn.consistent({t!r}, {argument})"
        )
    near = start.projected if len(start.misses) else start
    refuse_flat_rows(near)
    if near.contradictions:
        raise ModelError(
            f"{' and '.join(map(repr, near.contradictions))} of {dyn.name!r} contradict each other at t = {t!r}, "
            f"{argument} = {x.tolist()!r}: no accelerations satisfy them together; leave out what is too much"
        )
    warn_of_count(near)
    return near
