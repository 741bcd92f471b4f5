# SPDX-License-Identifier: BSD-3-Clause
"""Constraints at numbers: residuals by name, and Kane's nonholonomic quantities.

All of it stands on the kernels φ, ∂φ/∂q, c and G of a compiled model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, SingularError
from kanecore.run.metric import coordinate_units, even, size_of, speed_units
from kanecore.tolerances import CONTRADICTORY, EQUAL, FEASIBLE, NOISE, RANK

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = [
    "allowed_motions",
    "contradictory",
    "dependence",
    "misses",
    "named",
    "nonholonomic",
    "normalise",
    "opposed_speeds",
    "residual_names",
    "residuals",
]

Array = npt.NDArray[np.float64]


# ------------------------------------------------------------------------------------------------ residuals


def residuals(dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """φ, then c, in units of the coordinates and of the speeds: (..., n_configuration + n_velocity).

    Each is divided by the largest coefficient of its row.  ``values`` are r and p, as of the kernels.
    """
    phi = dyn.configuration_residual(t, x, **values) / size_of(dyn.configuration_jacobian(t, x, **values))
    rows = dyn.constraint_jacobian(t, x, **values)[..., : dyn.n_velocity, :]
    return np.concatenate([phi, dyn.velocity_residual(t, x, **values) / size_of(rows)], axis=-1)


def misses(dyn: Kernels, t: float, x: Array, **values: Any) -> Array:
    """|φ|, then |c|, beside the terms that each is summed from: (n_configuration + n_velocity,).

    What is below `NOISE` of the largest coordinate or speed, in the metric of the masses, is rounding, also where all
    terms of a row are as small.
    """
    if not (dyn.n_constraints or dyn.n_configuration):
        return np.zeros(0)
    phi, c = dyn.configuration_residual(t, x, **values), dyn.velocity_residual(t, x, **values)
    sizes = dyn._constraint_sizes(t, x, **values)
    rows = dyn.constraint_jacobian(t, x, **values)
    units = speed_units(dyn, t, x, rows, **values)
    floor = []
    for slopes, state, scale in (
        (dyn.configuration_jacobian(t, x, **values), x[: dyn.n_q], coordinate_units(dyn, t, x, units, **values)),
        (rows[: dyn.n_velocity], x[dyn.n_q :], units),
    ):
        moved = scale > 0.0
        largest = np.max(np.abs(state[moved]) / scale[moved], initial=0.0)
        floor.append(np.max(np.abs(slopes) * scale, axis=-1, initial=0.0) * largest)
    found = np.abs(np.concatenate([phi, c]))
    beside = sizes + NOISE / FEASIBLE * np.concatenate(floor)
    return np.asarray(np.divide(found, beside, out=np.zeros_like(found), where=found != 0.0))


def residual_names(dyn: Kernels) -> list[str]:
    """Of the entries of `residuals`; the derivative of a configuration constraint bears its name."""
    names = list(dyn.configuration_names)
    for name in dyn.constraint_names[: dyn.n_velocity]:
        names.append(f"rate of {name}" if name in dyn.configuration_names else name)
    return names


def named(dyn: Kernels, t: float, x: Array, limit: float, **values: Any) -> str:
    """``'name' (residual), ...`` of the constraints that a state misses by more than a limit, the largest first.

    Residuals are in units of the coordinates and of the speeds; where rows contradict each other that is said as well.
    """
    missed, left, names = misses(dyn, t, x, **values), residuals(dyn, t, x, **values), residual_names(dyn)
    order = np.argsort(-np.abs(left), kind="stable")
    text = ", ".join(f"{names[i]!r} ({left[i]:.3g})" for i in order if not missed[i] <= limit)
    opposed = opposed_speeds(dyn, t, x, **values)
    if opposed:
        text += f"; {' and '.join(map(repr, opposed))} contradict each other: no speeds satisfy them together"
    return text


def normalise(dyn: Kernels, x: Array) -> None:
    """Divide the unit quaternions of a state by their norms."""
    for quaternion in dyn.unit:
        places = list(quaternion)
        x[places] /= np.linalg.norm(x[places]) or 1.0


# -------------------------------------------------------------------------------------------- contradictions


def contradictory(dyn: Kernels, t: float, x: Array, row: int = -1, **values: Any) -> tuple[str, ...]:
    """The names of the rows of G u̇ + γ = 0 that contradict each other; at least of one, and of those it repeats."""
    rows = dyn.constraint_jacobian(t, x, **values)
    units = speed_units(dyn, t, x, rows, **values)
    found = _opposed(rows, dyn.constraint_bias(t, x, **values), units)
    if row >= 0 and row not in found:
        found = np.flatnonzero(_repeated(rows, units)[row]).tolist()
    return tuple(dyn.constraint_names[i] for i in found)


def opposed_speeds(dyn: Kernels, t: float, x: Array, **values: Any) -> tuple[str, ...]:
    """The names of the rows c(q, u, t) = 0 that no u satisfies together at the coordinates of x, were they linear."""
    every = dyn.constraint_jacobian(t, x, **values)
    rows, units = every[: dyn.n_velocity], speed_units(dyn, t, x, every, **values)
    offset = dyn.velocity_residual(t, x, **values) - rows @ x[dyn.n_q :]
    return tuple(dyn.constraint_names[i] for i in _opposed(rows, offset, units))


def _opposed(rows: Array, right: Array, units: Array) -> list[int]:
    """Which rows of A y + b = 0 have no solution together: what is left of b beside the terms that cancel in it."""
    if not rows.size:
        return []
    over, b = _repeated(rows, units), right / size_of(rows * units)
    left, terms = np.abs(over @ b), np.abs(over) @ np.abs(b)
    return [int(i) for i in np.flatnonzero(left > CONTRADICTORY * terms)]


def _repeated(rows: Array, units: Array) -> Array:
    """The projector onto combinations of rows, of equal size, that vanish."""
    each = even(rows, units)
    over = np.eye(len(rows)) - each @ np.linalg.pinv(each, rcond=RANK)
    over[np.abs(over) < EQUAL] = 0.0
    return np.asarray(over)


def allowed_motions(dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike) -> Array:
    """A basis of the u̇ that G u̇ = 0 allows, in columns: (..., n_u, n_u − rank)."""
    given = dyn.constraint_jacobian(t, x)
    units = speed_units(dyn, t, x, given)
    rows = even(given, units)
    rows[~np.isfinite(rows).all(axis=(-2, -1))] = 0.0  # LAPACK would refuse all states for one that is not finite
    right = np.linalg.svd(rows)[2]
    return np.swapaxes(right[..., dyn._count() :, :] * units[..., np.newaxis, :], -1, -2)


# ------------------------------------------------------------------------------- nonholonomic quantities


def dependence(dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """A_n of u̇_dep = A_n u̇_ind + ..., (..., n_u_dependent, dof): Kane & Levinson 1985, section 2.13.

    Raises
    ------
    ModelError
        The dependent speeds that the model was described with are not as many as G has independent rows.
    SingularError
        At a state they cannot be told from the independent ones; others can.
    """
    n, rank = dyn.n_u_dependent, _count(dyn, values.get("p"))
    if n != rank:
        raise ModelError(
            f"nonholonomic=True needs to know the dependent speeds: {rank} of the {dyn.n_constraints} constraint "
            f"rows of {dyn.name!r} are independent, and its description names {n} in u_dependent; name u_dependent "
            "there, as many as independent rows (dyn.check() lists those that are redundant)"
        )
    rows = dyn.constraint_jacobian(t, x, **values)
    if n == 0:
        return np.zeros((*rows.shape[:-2], 0, dyn.n_u))
    units = speed_units(dyn, t, x, rows, **values)
    rows = even(rows, units)
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
    return np.asarray(-inverse @ independent * units[..., -n:, np.newaxis] / units[..., np.newaxis, :-n])


def _count(dyn: Kernels, p: Any) -> int:
    """How many rows of G count with the parameters of a call, the most of a batch."""
    several = dyn.n_constraints and not (p is None or hasattr(p, "keys")) and np.ndim(p) > 1
    return int(np.max(dyn.prepare(p)[..., -1])) if several else dyn._count(p)


def nonholonomic(
    dyn: Kernels, kind: str, t: npt.ArrayLike, x: npt.ArrayLike, udot: Any, remainder: bool, out: Any, values: Any
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
        size = size_of(rows)
        c, rows = dyn.velocity_residual(t, x, **values) / size, rows / size[..., np.newaxis]
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
