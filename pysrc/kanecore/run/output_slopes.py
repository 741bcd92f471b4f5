# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the outputs along directions that stay on the constraints.

They are exact, unless an output holds multipliers.  Those of redundant constraints are defined on the constraints
alone: there differences of high order are taken, each place of which is brought back to the constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, StateError
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.differences import derivative
from kanecore.tolerances import NOISE

__all__ = ["output_slopes"]

Array = npt.NDArray[np.float64]


def output_slopes(state: ConstraintState, dx: Array, dr: Array, dudot: Array, sizes: Array) -> Array:
    """∂y/∂x dx + ∂y/∂r dr + ∂y/∂u̇ du̇ at a state, (n_outputs, n), for n directions dx (n_x, n), dr, du̇ (n_u, n).

    An entry is zero where its terms cancel but for their rounding, as for an accelerometer that is tilted in free fall.
    ``sizes`` (n,) of the directions are large changes.
    """
    dyn = state.dyn
    if not dyn.n_outputs:
        return np.zeros((0, dx.shape[1]))
    udot = dyn.udot(state.t, state.x, r=state.r, p=state.p)
    try:
        slopes = dyn._output_slopes(state.t, state.x, udot, r=state.r, p=state.p)
    except ModelError:  # an output holds multipliers
        return _by_differences(state, dx, dr, sizes)
    directions = np.vstack([dx, dr, dudot])
    total, terms = slopes @ directions, np.abs(slopes) @ np.abs(directions)
    return np.asarray(np.where(np.abs(total) > NOISE * terms, total, 0.0))


def _by_differences(state: ConstraintState, dx: Array, dr: Array, sizes: Array) -> Array:
    dyn = state.dyn
    inputs = np.asarray(dyn._resolved("input", {} if state.r is None else state.r))
    directions = np.vstack([dx, dr]).T

    def along(steps: Array) -> Array:
        moved = steps[..., np.newaxis] * directions
        x, r = state.x + moved[..., : dyn.n_x], inputs + moved[..., dyn.n_x :]
        if dyn.n_constraints:
            x = _where_defined(dyn._project, state.t, x, r, state.p)
        return _where_defined(dyn.outputs, state.t, x, r, state.p)

    return np.ascontiguousarray(derivative(along, sizes).value.T)


def _where_defined(kernel: Any, t: float, x: Array, r: Array, p: Any) -> Array:
    """A kernel at many states, NaN where it is not defined."""
    try:
        return np.asarray(kernel(t, x, r=r, p=p))
    except StateError as error:
        if error.out is None:
            raise
        return np.asarray(error.out)
