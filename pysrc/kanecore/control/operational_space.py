# SPDX-License-Identifier: BSD-3-Clause
"""Operational-space quantities: the inverse of M, the inertia at a point, the momentum matrix.

Let v = J u be the velocity of a point with the `jacobian` J.  A force F on the point changes u̇ by M⁻¹ Jᵀ F, and the
point's acceleration by Λ⁻¹ F, Λ = (J M⁻¹ Jᵀ)⁻¹ (Khatib, *IEEE Journal on Robotics and Automation* 3, 1987).  The speeds
need not be q̇.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.allowed_motions import allowed_motions
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import SingularError
from kanecore.run.call_arguments import leading, real_array
from kanecore.run.momentum import angular_momentum, linear_momentum, mass_centre
from kanecore.run.point_kinematics import jacobian
from kanecore.tolerances import CERTAIN, RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["mass_matrix_inverse", "momentum_matrix", "operational_inertia"]

Array = npt.NDArray[np.float64]


@method("Equations of motion")
def mass_matrix_inverse(dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None) -> Array:
    """The inverse M⁻¹ of `mass_matrix`, for all speeds: constraints are not applied.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.

    Returns
    -------
    ndarray, (..., n_u, n_u)

    Raises
    ------
    SingularError
        M is singular: a combination of the speeds moves no mass.  With constraints `operational_inertia` and `udot` do
        not need M⁻¹.
    """
    try:
        return dyn.kernels.mass_matrix_inverse(t, x, r=r, p=p)
    except SingularError as error:  # or nearly singular, or not positive definite
        out, rows = error.out, error.rows
    x = dyn.names.as_state(x)
    mass = dyn.mass_matrix(t, x, r=r, p=p)
    why = "the mass matrix is singular: some combination of the speeds moves no mass"
    if rows is None:
        return _inverted(dyn, mass, t, x, why).astype(mass.dtype, copy=False)
    left = np.zeros((*mass.shape[:-2], 1, 1), dtype=bool)
    left.flat[rows] = True
    inverse = _inverted(dyn, np.where(left, mass, np.eye(dyn.n_u)), t, x, why)
    return np.where(left, inverse.astype(mass.dtype), out)  # other rows equal single calls to the bit


@method("Points and frames", doubles=True)
def operational_inertia(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    *,
    attached: Any = None,
    frame: Any = None,
    along: npt.ArrayLike | None = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of a point, or a body, against a force on it.

    With constraints P (Pᵀ M P)⁻¹ Pᵀ replaces M⁻¹, where the columns of P are a basis of the motions that G allows.

    Parameters
    ----------
    point, attached, frame
        As for `jacobian`: with ``attached`` Λ is for the velocity of the point, then the angular velocity of this
        frame; ``frame`` gives the axes.
    t, x, r, p
        As for the kernels; leading axes broadcast.
    along : array_like, (k, 3) or with ``attached`` (k, 6), optional
        Directions of the force and of the motion, in rows; ``along @ J`` replaces J in the definition.  They are needed
        if the point cannot move in all directions, as in a plane.

    Returns
    -------
    ndarray, (..., 3, 3), with ``attached`` (..., 6, 6), with ``along`` (..., k, k)
        In kg, kg m and kg m².

    Raises
    ------
    SingularError
        There is a direction without motion: the state is singular, or ``along`` must leave this direction out.
    KeyError
        There is no such point or frame.
    ValueError
        ``along`` has another shape.
    """
    transposed = np.swapaxes(jacobian(dyn, point, t, x, attached=attached, frame=frame, r=r, p=p), -1, -2)
    if along is not None:
        directions = real_array("along", along, (None, transposed.shape[-1]), meaning="a direction in each row")
        transposed = transposed @ directions.T
    at = Constraints(dyn, t, x, r, p)
    mass = at.mass
    if dyn.n_constraints:
        allowed = allowed_motions(at)
        rows = np.swapaxes(allowed, -1, -2)
        mass, transposed = rows @ mass @ allowed, rows @ transposed
    what = "the mass matrix is singular in the motions that the constraints allow"
    inverse = _inverted(dyn, mass, t, x, what)
    mobility = np.swapaxes(transposed, -1, -2) @ inverse @ transposed
    name = getattr(point, "name", point)
    return _inverted(dyn, mobility, t, x, f"point {name!r} cannot move in every direction: give rows of along=")


@method("Energy and momentum")
def momentum_matrix(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, *, about: Any = None, r: Any = None, p: Any = None
) -> Array:
    """The matrix of the momentum map, inertial axes: rows of Σ m v* (3), then of the angular momentum (3).

    Σ m v* = A[:3] u and H = A[3:] u, plus the momentum of prescribed motions at u = 0.  About the mass centre this is
    the centroidal momentum matrix (Orin, Goswami & Lee, *Autonomous Robots* 35, 2013).

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    about : str or array_like, (..., 3), optional
        As for `angular_momentum`; default: the mass centre of all bodies.

    Returns
    -------
    ndarray, (..., 6, n_u)

    Raises
    ------
    ModelError, KeyError
        As for `angular_momentum`.
    """
    x = np.asarray(dyn.names.as_state(x), dtype=np.float64)
    if about is None:
        about = mass_centre(dyn, t, x, r=r, p=p)
    lead = linear_momentum(dyn, t, x, r=r, p=p).shape[:-1]
    if not isinstance(getattr(about, "name", about), str):
        lead = leading(x=lead, about=np.shape(about)[:-1])
        about = np.broadcast_to(about, (*lead, *np.shape(about)[-1:]))
    states = np.broadcast_to(x, (dyn.n_u + 1, *lead, dyn.n_x)).copy()
    states[..., dyn.names.speeds] = 0.0
    states[range(1, dyn.n_u + 1), ..., range(dyn.n_q, dyn.n_q + dyn.n_u)] = 1.0
    momenta = np.concatenate(
        [linear_momentum(dyn, t, states, r=r, p=p), angular_momentum(dyn, t, states, about, r=r, p=p)], axis=-1
    )
    return np.ascontiguousarray(np.moveaxis(momenta[1:] - momenta[:1], 0, -1))


def _inverted(dyn: Evaluator, matrix: Array, t: npt.ArrayLike, x: Values, why: str) -> Array:
    """Inverses of square matrices, with rows and columns first scaled to one size."""
    diagonal = np.abs(np.diagonal(matrix, axis1=-2, axis2=-1))
    units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = matrix * units[..., np.newaxis] * units[..., np.newaxis, :]
    finite = np.asarray(np.isfinite(scaled).all(axis=(-2, -1)))
    if not finite.all():  # LAPACK refuses others
        scaled = np.where(finite[..., np.newaxis, np.newaxis], scaled, np.eye(scaled.shape[-1]))
    certain = _inverse_unless_in_doubt(scaled)
    if certain is None:
        _refuse_singular(dyn, scaled, finite, t, x, why)
    inverse = np.asarray(np.linalg.inv(scaled) if certain is None else certain, dtype=np.float64)
    inverse = np.asarray(inverse * units[..., np.newaxis] * units[..., np.newaxis, :])
    return inverse if finite.all() else np.where(finite[..., np.newaxis, np.newaxis], inverse, np.nan)


def _inverse_unless_in_doubt(matrix: Array) -> Array | None:
    """Inverses of matrices; None if one of the matrices may be singular.

    The ratio of the extreme singular values is at most the product of the Frobenius norms of a matrix and its inverse.
    """
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    squares = (np.square(a).sum(axis=(-2, -1)) for a in (matrix, inverse))
    condition = np.sqrt(np.multiply(*squares))
    return np.asarray(inverse) if (CERTAIN * RANK * condition < 1.0).all() else None


def _refuse_singular(
    dyn: Evaluator, scaled: Array, finite: npt.NDArray[np.bool_], t: npt.ArrayLike, x: Values, why: str
) -> None:
    """Raise SingularError if a finite matrix is singular by its singular values."""
    values = np.asarray(np.linalg.svd(scaled, compute_uv=False))
    singular = np.asarray(finite & ~(values.min(axis=-1, initial=np.inf) > RANK * values.max(axis=-1, initial=0.0)))
    if singular.any():
        lead = scaled.shape[:-2]
        first = np.unravel_index(int(np.argmax(singular)), lead)
        state = np.broadcast_to(np.asarray(dyn.names.as_state(x), dtype=np.float64), (*lead, dyn.n_x))[first]
        time = float(np.broadcast_to(np.asarray(t, dtype=np.float64), lead)[first])
        raise SingularError(
            f"{why}: {dyn.name!r} at t = {time!r}, x = {state.tolist()!r}",
            t=time,
            x=state,
            rows=np.flatnonzero(singular) if lead else None,
        )
