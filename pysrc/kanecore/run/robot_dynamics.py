# SPDX-License-Identifier: BSD-3-Clause
"""Forward and inverse dynamics and the mass matrix with the arguments of robotics: aba, rnea, crba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore._native import forward_dynamics_method
from kanecore.binding.declared_methods import method
from kanecore.binding.given_values import broadcast_shapes
from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["aba", "crba", "rnea"]

Array = npt.NDArray[np.float64]


@method("Equations of motion")
@forward_dynamics_method
def aba(dyn: Evaluator, q: Values, u: Values, tau: Values) -> Array:
    """Forward dynamics M udot = f + tau + Gᵀλ, G udot + γ = 0, at t = 0 and the current inputs.

    Without constraints udot = M⁻¹(f + tau).  With constraints tau changes udot by P (Pᵀ M P)⁻¹ Pᵀ tau, where the
    columns of P are a basis of the motions that G allows.  A kernel computes it in the time of `udot`.

    Parameters
    ----------
    q, u, tau : array_like, (..., n_u), or mapping by name
        Coordinates, speeds, and generalized forces beyond those modelled, by the names of speeds.

    Returns
    -------
    ndarray, (..., n_u)

    Raises
    ------
    ModelError
        qdot is not u.
    SingularError
        M, or its part in the motions that G allows, is singular, or a constraint is lost.
    """
    return dyn.kernels.forward_dynamics(0.0, _state(dyn, "aba", q, u), dyn.names.rows("speed", tau, "tau"))


@method("Equations of motion")
def rnea(dyn: Evaluator, q: Values, u: Values, udot: Values) -> Array:
    """Inverse dynamics M udot - f, at t = 0 and the current inputs, (..., n_u): `inverse_dynamics`.

    These are all generalized forces beyond those modelled.  With constraints Gᵀλ is part of them: for ``udot = aba(q,
    u, tau)`` the result is tau + Gᵀλ. ModelError unless qdot is u.
    """
    return dyn.inverse_dynamics(0.0, _state(dyn, "rnea", q, u), udot)


@method("Equations of motion")
def crba(dyn: Evaluator, q: Values) -> Array:
    """The mass matrix, at t = 0 and the current inputs, (..., n_u, n_u): `mass_matrix`.

    It is the matrix of all speeds, also dependent ones: constraints are not applied.  ModelError unless qdot is u.
    """
    return dyn.mass_matrix(0.0, _state(dyn, "crba", q, np.zeros(dyn.n_u)))


def _state(dyn: Evaluator, name: str, q: Values, u: Values) -> Array:
    if not dyn.qdot_is_u:
        raise ModelError(
            f"{name} is for models with qdot = u, and the kinematical equations of {dyn.name!r} differ: use udot, "
            "inverse_dynamics and mass_matrix, which accept any speeds"
        )
    coordinates, speeds = dyn.names.rows("coordinate", q, "q"), dyn.names.rows("speed", u, "u")
    leading = broadcast_shapes(coordinates.shape[:-1], speeds.shape[:-1])
    x = np.zeros((*leading, dyn.n_x))
    x[..., : dyn.n_q], x[..., dyn.names.speeds] = coordinates, speeds
    return x
