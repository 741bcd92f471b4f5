# SPDX-License-Identifier: BSD-3-Clause
"""Motions that constraints allow, as columns: the null space of G, or Kane's nonholonomic partial velocities.

States may have any leading axes, as for the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import ModelError, SingularError
from kanecore.rank import equilibrated, size_of
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = [
    "allowed_motions",
    "counted_rows",
    "dependence",
    "forces_of_independent_speeds",
    "partials_of_independent_speeds",
    "remainders_of_independent_speeds",
]

Array = npt.NDArray[np.float64]


def allowed_motions(at: Constraints) -> Array:
    """A basis of the u̇ that G u̇ = 0 allows, in columns: (..., n_u, n_u − rank)."""
    rows = equilibrated(at.rows, at.speed_units)
    rows[~np.isfinite(rows).all(axis=(-2, -1))] = 0.0  # one that is not finite would make LAPACK refuse all
    of_columns = np.linalg.svd(rows)[2]
    return np.swapaxes(of_columns[..., counted_rows(at.dyn, at.p) :, :] * at.speed_units[..., np.newaxis, :], -1, -2)


def dependence(at: Constraints) -> Array:
    """A_n of u̇_dep = A_n u̇_ind + ..., (..., n_u_dependent, dof): Kane & Levinson 1985, section 2.13.

    Raises
    ------
    ModelError
        The number of the model's dependent speeds is not the number of independent rows of G.
    SingularError
        At a state the dependent speeds do not follow from the independent ones; other dependent speeds may.
    """
    dyn = at.dyn
    n, rank = dyn.n_u_dependent, counted_rows(dyn, at.p)
    if n != rank:
        raise ModelError(
            f"nonholonomic=True needs to know the dependent speeds: {rank} of the {dyn.n_constraints} constraint rows "
            f"of {dyn.name!r} are independent, and its description names {n} in u_dependent; name one speed there for "
            f"each independent row (dyn.check() lists redundant rows)"
        )
    if n == 0:
        return np.zeros((*at.rows.shape[:-2], 0, dyn.n_u))
    units = at.speed_units
    rows = equilibrated(at.rows, units)
    independent, dependent = rows[..., :-n], rows[..., -n:]
    of_rows, s, of_columns = np.linalg.svd(dependent, full_matrices=False)
    lost = ~(s[..., n - 1] > RANK)  # rows have entries of one
    if lost.any():
        raise _dead_point(at, lost)
    inverse = np.swapaxes(of_columns, -1, -2) / s[..., np.newaxis, :] @ np.swapaxes(of_rows, -1, -2)
    return np.asarray(-inverse @ independent * units[..., -n:, np.newaxis] / units[..., np.newaxis, :-n])


def _dead_point(at: Constraints, lost: npt.NDArray[np.bool_]) -> SingularError:
    """Error for states at which the dependent speeds do not follow from the other speeds."""
    dyn = at.dyn
    where = np.unravel_index(int(np.argmax(lost)), lost.shape)
    x = np.broadcast_to(np.asarray(at.x, dtype=np.float64), (*lost.shape, dyn.n_x))[where]
    t = float(np.broadcast_to(np.asarray(at.t, dtype=np.float64), lost.shape)[where])
    names = ", ".join(dyn.speed_names[-dyn.n_u_dependent :])
    return SingularError(
        f"the dependent speeds {names} of {dyn.name!r} do not follow from the others at t = {t!r}, x = "
        f"{x.tolist()!r} (a dead point): describe it with other dependent speeds; u̇ needs none",
        t=t,
        x=x,
        rows=np.flatnonzero(lost) if lost.ndim else None,
    )


def counted_rows(dyn: Evaluator, p: Any) -> int:
    """Number of independent rows of G with the parameters of a call; the largest of a batch."""
    several = any(map(np.ndim, p.values())) if hasattr(p, "keys") else np.ndim(p) > 1
    return int(np.max(dyn.prepare(p)[..., -1])) if dyn.n_constraints and several else dyn.kernels.count(p)


def partials_of_independent_speeds(at: Constraints, partials: Array) -> Array:
    """Partial velocities (..., n, dof, 3) of the independent speeds, from those of all speeds, (..., n, n_u, 3)."""
    a, dof = dependence(at), at.dyn.n_u - at.dyn.n_u_dependent
    return np.asarray(partials[..., :dof, :] + np.einsum("...pik,...ij->...pjk", partials[..., dof:, :], a))


def remainders_of_independent_speeds(at: Constraints, partials: Array, remainders: Array) -> Array:
    """Remainders (..., n, 3) of velocities without the independent speeds, from remainders without any speed."""
    b, dof = _rate_offset(at, dependence(at)), at.dyn.n_u - at.dyn.n_u_dependent
    return np.asarray(remainders + np.einsum("...pik,...i->...pk", partials[..., dof:, :], b))


def forces_of_independent_speeds(at: Constraints, forces: Array) -> Array:
    """Generalized forces (..., n_u) of the independent speeds: F_ind + A_nᵀ F_dep, (..., dof)."""
    a, dof = dependence(at), at.dyn.n_u - at.dyn.n_u_dependent
    return np.asarray(forces[..., :dof] + np.einsum("...i,...ij->...j", forces[..., dof:], a))


def _rate_offset(at: Constraints, a: Array) -> Array:
    """The offset b of u_dep = A_n u_ind + b, from c(q, u, t) = 0, linear about u: (..., n_u_dependent)."""
    dyn = at.dyn
    if dyn.n_velocity < dyn.n_constraints:
        raise ModelError(f"{dyn.name!r} has constraints on accelerations, which do not restrict velocities")
    size = size_of(at.rows)
    residual, rows = at.velocity_residual / size, at.rows / size[..., np.newaxis]
    dof = dyn.n_u - dyn.n_u_dependent
    b = at.u[..., dof:] - np.einsum("...ij,...j->...i", a, at.u[..., :dof])
    return np.asarray(b - np.einsum("...ij,...j->...i", np.linalg.pinv(rows[..., dof:], rcond=RANK), residual))
