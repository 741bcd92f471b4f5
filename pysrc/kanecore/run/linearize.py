# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of the equations of motion, constrained or not, at any state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["linearize"]

Array = npt.NDArray[np.float64]


def linearize(
    dyn: CompiledModel, t: npt.ArrayLike, x: npt.ArrayLike, *, r: Any = None, p: Any = None, minimal: bool = False
) -> tuple[Array, Array]:
    """A = ∂ẋ/∂x and B = ∂ẋ/∂r of `rhs`, exact.

    With R = f + Gᵀλ − M u̇ and S = G u̇ + γ, the differentials dR and dS at constant u̇ and λ give

        M du̇ − Gᵀ dλ = dR,    G du̇ = −dS.

    Parameters
    ----------
    t, x, r, p
        As of the kernels; leading axes broadcast.
    minimal : bool
        Keep the independent coordinates and speeds alone: the dependent ones follow from the linearized constraints,
        as in SymPy's ``Linearizer`` (Peterson, Gede & Hubbard, *Multibody System Dynamics* 33, 2015).  Without it all
        of x may vary, and rates of prescribed motions are inputs of their own, in both forms.

    Returns
    -------
    A : ndarray, (..., n, n)
        n = n_x, or the number of independent coordinates and speeds, in this order.
    B : ndarray, (..., n, n_r)

    Raises
    ------
    SingularError
        The equations of motion are singular at the state.
    ModelError
        ``minimal`` without the dependent coordinates and speeds that the constraints determine.
    """
    whole = dyn._linearize(t, x, r=r, p=p)
    a, b = whole[..., : dyn.n_x], whole[..., dyn.n_x :]
    if not minimal or not (dyn.n_constraints or dyn.n_configuration):
        return np.ascontiguousarray(a), np.ascontiguousarray(b)
    along, across = _dependence(dyn, dyn._constraint_slopes(t, x, r=r, p=p))
    kept = [*range(dyn.n_q - dyn.n_q_dependent), *range(dyn.n_q, dyn.n_x - dyn.n_u_dependent)]
    a = a[..., kept, :]
    return a @ along, b[..., kept, :] + a @ across


def _dependence(dyn: CompiledModel, slopes: Array) -> tuple[Array, Array]:
    """The linearized constraints: δx = T z + T_r δr, z the independent coordinates and speeds."""
    n_q, n_u, n_x = dyn.n_q, dyn.n_u, dyn.n_x
    q_free, u_free = n_q - dyn.n_q_dependent, n_u - dyn.n_u_dependent
    lead = slopes.shape[:-2]
    m = dyn.n_configuration
    # every column: a unit of one of z, then of one of r
    state = np.zeros((*lead, n_x, q_free + u_free + dyn.n_r))
    state[..., range(q_free), range(q_free)] = 1.0
    state[..., range(n_q, n_q + u_free), range(q_free, q_free + u_free)] = 1.0
    inputs = np.zeros((dyn.n_r, q_free + u_free + dyn.n_r))
    inputs[:, q_free + u_free :] = np.eye(dyn.n_r)
    for rows, columns, kind in (
        (slice(0, m), slice(q_free, n_q), "coordinates"),
        (slice(m, None), slice(n_q + u_free, n_x), "speeds"),
    ):
        left = slopes[..., rows, :]
        block = left[..., columns]
        right = left[..., :n_x] @ state + left[..., n_x:] @ inputs
        if not left.shape[-2]:
            continue
        size = np.abs(block).max(axis=(-2, -1), initial=0.0)
        if block.shape[-1] == 0 or (np.linalg.matrix_rank(block) < block.shape[-1]).any() or not size.all():
            raise ModelError(
                f"minimal=True needs the dependent {kind}, as many as the constraints determine at the state: name "
                f"them in {'q' if kind == 'coordinates' else 'u'}_dependent, or choose others"
            )
        state[..., columns, :] = -np.linalg.pinv(block) @ right
        left_over = left[..., :n_x] @ state + left[..., n_x:] @ inputs
        if (np.abs(left_over).max(axis=(-2, -1), initial=0.0) > 1e-8 * (1.0 + np.abs(right).max(axis=(-2, -1)))).any():
            raise ModelError(f"minimal=True: the dependent {kind} are fewer than the constraints determine")
    return state[..., : q_free + u_free], state[..., q_free + u_free :]
