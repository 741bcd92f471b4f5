# SPDX-License-Identifier: BSD-3-Clause
"""Forces in place of accelerations, in the equations that steps to an equilibrium solve.

Forces M u̇ are simpler functions of a state than u̇: of a chain that hangs each depends on its own angle, and each u̇ on
all.  Constraints may hold speeds that move no mass, so that M is singular.  Gᵀ G u̇ is added, with rows of equal size;
it vanishes with u̇, and M + Gᵀ G is regular wherever u̇ is determined.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.errors import NonFiniteError
from kanecore.run.constraint_state import ConstraintState
from kanecore.run.metric import equilibrated

__all__ = ["ACCURACY", "changes", "weights"]

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

ACCURACY = 1e-11
"""Of `changes`, which are differences of order four: beside the largest along any direction."""

_LITTLE = 1e-6  # in the metric of the masses
_STEP = 1e-3  # of what is large for a coordinate; what differences of M miss vanishes with u̇
_PLACES, _WEIGHTS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1 / 12, -2 / 3, 2 / 3, -1 / 12])


def weights(state: ConstraintState, speeds: Numbers) -> Array:
    """The matrix by which the u̇ of some speeds become forces: (n, n)."""
    rows = equilibrated(state.rows, state.speed_units) / state.speed_units
    return np.asarray(state.mass + _LITTLE * rows.T @ rows)[np.ix_(speeds, speeds)]


def changes(state: ConstraintState, speeds: Numbers, udot: Array, directions: Array, sizes: Array) -> Array:
    """How these forces change at constant u̇ along directions (n_x, n_directions) of the coordinates: (n, n_directions).

    ``sizes`` (n_directions,) are large steps along them, of angles one radian.  Zeros where M is not defined around
    the state.
    """
    dyn, steps, held = state.dyn, _STEP * sizes, np.zeros(state.dyn.n_u)
    held[speeds] = udot
    moved = np.multiply.outer(_PLACES, steps[:, np.newaxis] * directions.T)
    try:
        masses = dyn.mass_matrix(state.t, state.x + moved, **state.values)
    except NonFiniteError:
        return np.zeros((len(speeds), len(steps)))
    return np.asarray(np.einsum("i,ijk->kj", _WEIGHTS, masses @ held)[speeds] / steps)
