# SPDX-License-Identifier: BSD-3-Clause
"""Linearization of the equations of motion, constrained or not, at any state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["linearize"]

Array = npt.NDArray[np.float64]


def linearize(
    dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike, *, r: Any = None, p: Any = None, minimal: bool = False
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
        The equations of motion are singular at the state, or with ``minimal`` the dependent ones do not follow from
        the others there.
    ModelError
        ``minimal`` with more or fewer dependent coordinates or speeds than the constraints determine.
    """
    whole = dyn._linearize(t, x, r=r, p=p)
    a, b = whole[..., : dyn.n_x], whole[..., dyn.n_x :]
    if not minimal or not (dyn.n_constraints or dyn.n_configuration):
        return np.ascontiguousarray(a), np.ascontiguousarray(b)
    along, across = _dependence(dyn, t, x, dyn._constraint_slopes(t, x, r=r, p=p))
    kept = [*range(dyn.n_q - dyn.n_q_dependent), *range(dyn.n_q, dyn.n_x - dyn.n_u_dependent)]
    a = a[..., kept, :]
    return a @ along, b[..., kept, :] + a @ across


def _singular(rows: Array) -> Array:
    return np.asarray(np.linalg.svd(rows, compute_uv=False))


def _dependence(dyn: Kernels, t: npt.ArrayLike, at: npt.ArrayLike, slopes: Array) -> tuple[Array, Array]:
    """The linearized constraints: δx = T z + T_r δr, z the independent coordinates and speeds."""
    n_q, n_u, n_x = dyn.n_q, dyn.n_u, dyn.n_x
    q_free, u_free = n_q - dyn.n_q_dependent, n_u - dyn.n_u_dependent
    lead = slopes.shape[:-2]
    m = dyn.n_configuration
    time = np.broadcast_to(np.asarray(t, dtype=np.float64), lead)
    x = np.broadcast_to(np.asarray(at, dtype=np.float64), (*lead, n_x))
    # every column: a unit of one of z, then of one of r
    state = np.zeros((*lead, n_x, q_free + u_free + dyn.n_r))
    state[..., range(q_free), range(q_free)] = 1.0
    state[..., range(n_q, n_q + u_free), range(q_free, q_free + u_free)] = 1.0
    inputs = np.zeros((dyn.n_r, q_free + u_free + dyn.n_r))
    inputs[:, q_free + u_free :] = np.eye(dyn.n_r)
    for rows, whole, columns, letter, kind in (
        (slice(0, m), slice(0, n_q), slice(q_free, n_q), "q", "coordinates"),
        (slice(m, None), slice(n_q, n_x), slice(n_q + u_free, n_x), "u", "speeds"),
    ):
        left = slopes[..., rows, :]
        size = np.abs(left[..., whole]).max(axis=-1, keepdims=True, initial=0.0)
        left = left / np.where(size > 0.0, size, 1.0)
        rank, found = (np.sum(_singular(left[..., part]) > RANK, axis=-1) for part in (whole, columns))
        named = columns.stop - columns.start
        if (rank != named).any():
            where = np.unravel_index(int(np.argmax(rank != named)), rank.shape)
            raise ModelError(
                f"minimal=True: the constraints determine {rank[where]} {kind} at this state of {dyn.name!r}, and "
                f"{named} are named in {letter}_dependent (constraints on "
                "accelerations determine none): name as many there as are determined"
            )
        if (found < named).any():
            where = np.unravel_index(int(np.argmax(found < named)), found.shape)
            names = (dyn.coordinate_names + dyn.speed_names)[columns]
            raise SingularError(
                f"minimal=True: the dependent {kind} {', '.join(names)} of {dyn.name!r} do not follow from the "
                f"others at t = {float(time[where])!r}, x = {x[where].tolist()!r} (a dead point): describe it with "
                f"other dependent {kind}",
                t=float(time[where]),
                x=x[where],
                rows=np.flatnonzero(found < named) if found.ndim else None,
            )
        right = left[..., :n_x] @ state + left[..., n_x:] @ inputs
        state[..., columns, :] = -np.linalg.pinv(left[..., columns], rcond=RANK) @ right
    return state[..., : q_free + u_free], state[..., q_free + u_free :]
