# SPDX-License-Identifier: BSD-3-Clause
"""Constraints at numbers: residuals by name, and Kane's nonholonomic quantities.

All of it stands on the kernels φ, ∂φ/∂q, c and G of a compiled model; rows are compared after division by their largest
coefficients, so that residuals are in the units of the coordinates and of the speeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = [
    "FEASIBLE",
    "RANK",
    "SOLVED",
    "allowed_motions",
    "current_rank",
    "dependence",
    "even",
    "named_residuals",
    "nonholonomic",
    "normalise",
    "rank_of",
    "residual_names",
    "residuals",
    "scaled",
    "size_of",
]

Array = npt.NDArray[np.float64]

FEASIBLE = 1e-6  # residual of a state that is taken to be on the constraints
SOLVED = 1e-9  # residual that is left where constraints can be satisfied
RANK = 1e-10  # a singular value this small beside the largest, in rows of equal size, is none: as in constrained.h


# ------------------------------------------------------------------------------------------------ residuals


def residuals(dyn: CompiledModel, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """φ, then c, each divided by the largest coefficient of its row: (..., n_configuration + n_velocity).

    ``values`` are r and p, as of the kernels.
    """
    phi = dyn.configuration_residual(t, x, **values) / size_of(dyn.configuration_jacobian(t, x, **values))
    rows = dyn.constraint_jacobian(t, x, **values)[..., : dyn.n_velocity, :]
    return np.concatenate([phi, dyn.velocity_residual(t, x, **values) / size_of(rows)], axis=-1)


def residual_names(dyn: CompiledModel) -> list[str]:
    """Of the entries of `residuals`; the derivative of a configuration constraint bears its name."""
    names = [f"configuration constraint {i}" for i in range(dyn.n_configuration)]
    for name in dyn.constraint_names[: dyn.n_velocity]:
        names.append(f"rate of {name}" if name.startswith("configuration") else name)
    return names


def named_residuals(dyn: CompiledModel, found: Array, limit: float) -> str:
    """``'name' (value), ...`` of those above a limit, the largest first."""
    order = np.argsort(-np.abs(found), kind="stable")
    names = residual_names(dyn)
    return ", ".join(f"{names[i]!r} ({found[i]:.3g})" for i in order if not abs(found[i]) <= limit)


def scaled(value: Array, rows: Array) -> tuple[Array, Array]:
    """Residuals and their rows, divided by the largest coefficients of the rows."""
    size = size_of(rows)
    return value / size, rows / size[..., np.newaxis]


def even(rows: Array) -> Array:
    """Rows of equal size."""
    return np.asarray(rows / size_of(rows)[..., np.newaxis])


def size_of(rows: Array) -> Array:
    size = np.max(np.abs(rows), axis=-1, initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def normalise(dyn: CompiledModel, x: Array) -> None:
    """Divide the unit quaternions of a state by their norms."""
    for quaternion in dyn.unit:
        places = list(quaternion)
        x[places] /= np.linalg.norm(x[places]) or 1.0


def current_rank(dyn: CompiledModel, p: Any) -> int:
    """How many rows of G kernels count, with the parameters of a call."""
    if not dyn.n_constraints:
        return 0
    return int(np.max((dyn.prepared if p is None else dyn.prepare(p))[..., -1]))


def rank_of(rows: Array) -> int:
    """Of one matrix, in rows of equal size."""
    if not rows.size:
        return 0
    s = np.linalg.svd(even(rows), compute_uv=False)
    return int(np.sum(s > RANK * s[0])) if s[0] > 0.0 else 0


def allowed_motions(dyn: CompiledModel, t: float, x: Array, mass: Array) -> Array:
    """A basis of the u̇ that G u̇ = 0 allows, in columns: (..., n_u, n_u − rank).

    It is orthonormal in units of speed in which the diagonal of M, ``mass``, is one, whatever those of the user.
    """
    unit = np.sqrt(np.abs(np.diagonal(mass, axis1=-2, axis2=-1)))
    unit = np.where(unit > 0.0, unit, 1.0)
    rows = even(dyn.constraint_jacobian(t, x) / unit[..., np.newaxis, :])
    rows[~np.isfinite(rows).all(axis=(-2, -1))] = 0.0  # LAPACK would refuse all states for one that is not finite
    right = np.linalg.svd(rows)[2]
    return np.swapaxes(right[..., current_rank(dyn, None) :, :] / unit[..., np.newaxis, :], -1, -2)


# ------------------------------------------------------------------------------- nonholonomic quantities


def dependence(dyn: CompiledModel, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """A_n of u̇_dep = A_n u̇_ind + ..., (..., n_u_dependent, dof): Kane & Levinson 1985, section 2.13.

    Raises
    ------
    ModelError
        The dependent speeds that the model was described with are not as many as G has independent rows.
    SingularError
        At a state they cannot be told from the independent ones; others can.
    """
    n, rank = dyn.n_u_dependent, current_rank(dyn, values.get("p"))
    if n != rank:
        raise ModelError(
            f"nonholonomic=True needs to know the dependent speeds: {rank} of the {dyn.n_constraints} constraint "
            f"rows of {dyn.name!r} are independent, and its description names {n} in u_dependent; name u_dependent "
            "there, as many as independent rows (dyn.check() lists those that are redundant)"
        )
    rows = dyn.constraint_jacobian(t, x, **values)
    if n == 0:
        return np.zeros((*rows.shape[:-2], 0, dyn.n_u))
    rows = even(rows)
    independent, dependent = rows[..., :-n], rows[..., -n:]
    left, s, right = np.linalg.svd(dependent, full_matrices=False)
    lost = ~(s[..., n - 1] > RANK)  # rows have entries of one
    if lost.any():
        where = np.unravel_index(int(np.argmax(lost)), lost.shape)
        state = np.broadcast_to(np.asarray(x, dtype=np.float64), (*lost.shape, dyn.n_x))[where]
        time = float(np.broadcast_to(np.asarray(t, dtype=np.float64), lost.shape)[where])
        names = ", ".join(dyn.speed_names[-n:])
        raise SingularError(
            f"the dependent speeds {names} of {dyn.name!r} do not follow from the others at t = {time!r}, x = "
            f"{state.tolist()!r} (a dead point): describe it with other dependent speeds; u̇ needs none",
            t=time,
            x=state,
            rows=np.flatnonzero(lost) if lost.ndim else None,
        )
    inverse = np.swapaxes(right, -1, -2) / s[..., np.newaxis, :] @ np.swapaxes(left, -1, -2)
    return np.asarray(-inverse @ independent)


def nonholonomic(
    dyn: CompiledModel, kind: str, t: npt.ArrayLike, x: npt.ArrayLike, udot: Any, remainder: bool, out: Any, values: Any
) -> Array:
    """The nonholonomic counterpart of a kernel, by A_n; for the meaning see the kernels."""
    a = dependence(dyn, t, x, **values)
    dof = dyn.n_u - dyn.n_u_dependent
    kernel = getattr(dyn, kind)
    if remainder:
        if dyn.n_velocity < dyn.n_constraints:
            raise ModelError(f"{dyn.name!r} has constraints on accelerations, which say nothing of velocities")
        # u_dep = A_n u_ind + b with b from c(q, u, t) = 0, linear about u
        rows = dyn.constraint_jacobian(t, x, **values)
        c, rows = scaled(dyn.velocity_residual(t, x, **values), rows)
        u = np.asarray(x, dtype=np.float64)[..., dyn.n_q :]
        b = u[..., dof:] - np.einsum("...ij,...j->...i", a, u[..., :dof])
        b = b - np.einsum("...ij,...j->...i", np.linalg.pinv(rows[..., dof:], rcond=RANK), c)
        full = np.asarray(kernel(t, x, **values))
        result = kernel(t, x, remainder=True, **values) + np.einsum("...pik,...i->...pk", full[..., dof:, :], b)
    elif kind.startswith("partial"):
        full = np.asarray(kernel(t, x, **values))
        result = full[..., :dof, :] + np.einsum("...pik,...ij->...pjk", full[..., dof:, :], a)
    else:
        full = np.asarray(kernel(*((t, x) if udot is None else (t, x, udot)), **values))
        result = full[..., :dof] + np.einsum("...i,...ij->...j", full[..., dof:], a)
    if out is None:
        return np.asarray(result)
    if not (isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == result.shape):
        raise ValueError(f"out must be a float64 array of shape {result.shape}")
    out[...] = result
    return out
