# SPDX-License-Identifier: BSD-3-Clause
"""Products of exact derivatives with vectors: J v forwards, wᵀ J backwards.

Those of `inverse_dynamics` are kernels of their own, one pass over its operations each (Griewank & Walther,
*Evaluating Derivatives*, 2nd ed., 2008, chapter 3).  Those of `rhs` multiply the matrices of `linearize`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.run.named import direction_of
from kanecore.run.vectors import joined, leading

if TYPE_CHECKING:
    from kanecore._native import Kernels, _Values

__all__ = ["inverse_dynamics_jvp", "inverse_dynamics_vjp", "rhs_jvp", "rhs_vjp"]

Array = npt.NDArray[np.float64]


def rhs_jvp(
    dyn: Kernels,
    t: npt.ArrayLike,
    x: _Values,
    dx: _Values,
    *,
    dr: _Values | None = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """How xdot changes along a direction, A dx + B dr of `linearize`.

    Parameters
    ----------
    t, x, r, p
        As of the kernels; leading axes broadcast.
    dx : array_like, (..., n_x), or mapping
    dr : array_like, (..., n_r), or mapping, optional
        What a mapping does not name does not change, and what is left out does not either.

    Returns
    -------
    ndarray, (..., n_x)

    Raises
    ------
    ValueError, TypeError, KeyError
        A direction of another shape, no numbers, or no such name; other errors as of `linearize`.
    """
    direction = joined(
        dx=direction_of(dyn, "state", "dx", dx), dr=direction_of(dyn, "input", "dr", {} if dr is None else dr)
    )
    slopes = dyn._linearize(t, x, r=r, p=p)
    leading(x=slopes.shape[:-2], dx=direction.shape[:-1])
    return np.asarray((slopes @ direction[..., np.newaxis])[..., 0])


def rhs_vjp(
    dyn: Kernels,
    t: npt.ArrayLike,
    x: _Values,
    weights: _Values,
    *,
    full: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The gradient of weights · xdot with respect to x, Aᵀ w of `linearize`.

    Parameters
    ----------
    t, x, r, p
        As of the kernels; leading axes broadcast.
    weights : array_like, (..., n_x), or mapping
        By the names of the coordinates and speeds; those that are not named weigh nothing.
    full : bool
        Give the gradient with respect to r as well.

    Returns
    -------
    ndarray, (..., n_x)
        With ``full`` a pair of them: with respect to x, and to r (..., n_r).

    Raises
    ------
    ValueError, TypeError, KeyError
        As of `rhs_jvp`.
    """
    w, slopes = direction_of(dyn, "state", "weights", weights), dyn._linearize(t, x, r=r, p=p)
    leading(x=slopes.shape[:-2], weights=w.shape[:-1])
    gradient = (w[..., np.newaxis, :] @ slopes)[..., 0, :]
    return _parts(gradient, dyn.n_x, full)


def inverse_dynamics_jvp(
    dyn: Kernels,
    t: npt.ArrayLike,
    x: _Values,
    udot: _Values,
    dx: _Values,
    *,
    dudot: _Values | None = None,
    dr: _Values | None = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """How `inverse_dynamics` changes along a direction: ∂τ/∂x dx + M dudot + ∂τ/∂r dr of τ = M udot - f.

    Parameters
    ----------
    t, x, udot, r, p
        As of `inverse_dynamics`; leading axes broadcast.
    dx : array_like, (..., n_x), or mapping
    dudot : array_like, (..., n_u), or mapping, optional
    dr : array_like, (..., n_r), or mapping, optional
        What is not given, or not named, does not change.

    Returns
    -------
    ndarray, (..., n_u)

    Raises
    ------
    ValueError, TypeError, KeyError
        A vector of another shape, no numbers, or no such name.
    """
    beyond = joined(
        udot=dyn._rows("udot", udot, "udot"),
        multipliers=np.zeros(dyn.n_constraints),
        dx=direction_of(dyn, "state", "dx", dx),
        dr=direction_of(dyn, "input", "dr", {} if dr is None else dr),
        dudot=direction_of(dyn, "udot", "dudot", {} if dudot is None else dudot),
    )
    return dyn._inverse_dynamics_tangent(t, x, beyond, r=r, p=p)


def inverse_dynamics_vjp(
    dyn: Kernels,
    t: npt.ArrayLike,
    x: _Values,
    udot: _Values,
    weights: _Values,
    *,
    full: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The gradient of weights · τ with respect to x, τ = M udot - f of `inverse_dynamics`.

    Parameters
    ----------
    t, x, udot, r, p
        As of `inverse_dynamics`; leading axes broadcast.
    weights : array_like, (..., n_u), or mapping
        By the names of the speeds; those that are not named weigh nothing.
    full : bool
        Give the gradients with respect to udot, which is Mᵀ w, and to r as well.

    Returns
    -------
    ndarray, (..., n_x)
        With ``full`` three of them: with respect to x, udot (..., n_u), r (..., n_r).

    Raises
    ------
    ValueError, TypeError, KeyError
        As of `inverse_dynamics_jvp`.
    """
    beyond = joined(
        udot=dyn._rows("udot", udot, "udot"),
        multipliers=np.zeros(dyn.n_constraints),
        weights=direction_of(dyn, "udot", "weights", weights),
    )
    gradient = dyn._inverse_dynamics_gradient(t, x, beyond, r=r, p=p)
    if not full:
        return np.ascontiguousarray(gradient[..., : dyn.n_x])
    by_x, by_r = _parts(gradient[..., : dyn.n_x + dyn.n_r], dyn.n_x, True)
    return by_x, np.ascontiguousarray(gradient[..., dyn.n_x + dyn.n_r :]), by_r


def _parts(gradient: Array, n: int, full: bool) -> Any:
    first = np.ascontiguousarray(gradient[..., :n])
    return (first, np.ascontiguousarray(gradient[..., n:])) if full else first
