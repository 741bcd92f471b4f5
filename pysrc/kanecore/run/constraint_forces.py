# SPDX-License-Identifier: BSD-3-Clause
"""What each constraint adds to the generalized forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["constraint_forces"]

Array = npt.NDArray[np.float64]


def constraint_forces(dyn: Kernels, t: npt.ArrayLike, x: _Values, *, r: Any = None, p: Any = None) -> Array:
    """The generalized forces of the constraints one by one, λ_j G_jr, (..., n_constraints, n_u).

    Their sum over the rows is the Gᵀλ of M udot = f + Gᵀλ.  In Lagrange's equations a row is λ_j ∂φ_j/∂q of a
    constraint on coordinates, μ_l ∂c_l/∂qdot of one on their derivatives.  Rows that follow from each other share
    their multipliers, of least norm.

    Parameters
    ----------
    t, x, r, p
        As of the kernels; leading axes broadcast.

    Raises
    ------
    SingularError, ValueError, TypeError, KeyError
        As the kernel `multipliers`.
    """
    slopes = np.asarray(dyn.constraint_jacobian(t, x, r=r, p=p))
    return np.asarray(dyn.multipliers(t, x, r=r, p=p))[..., np.newaxis] * slopes
