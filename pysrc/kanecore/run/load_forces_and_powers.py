# SPDX-License-Identifier: BSD-3-Clause
"""Generalized forces and powers of single loads, bodies and constraints.

They are products of partial velocities with acting forces and torques, the values of the expressions that
`kanecore.Model.explain` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.run.points_and_frames import Acting, Numbers, bodies_of, loads_of, require_bodies

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    "active_forces_by_body",
    "active_forces_by_load",
    "constraint_forces",
    "inertia_forces_by_body",
    "load_powers",
]

Array = npt.NDArray[np.float64]


def active_forces_by_load(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None
) -> dict[str, Array]:
    """The generalized active forces F_r = Σ v_r · R + ω_r · T, for each load.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.

    Returns
    -------
    dict of str to ndarray, (..., n_u)
        By names such as ``"load 3 at P1, P2"``: the load's number in forcelist, its points and frames.  The parts of a
        load are summed, noncontributing loads are left out, and a load that is linear in udot counts with its value at
        udot = 0.  ``"potentials"``, ``"freed constraints"`` that were not attached, and ``"Lagrangian"``, if there are
        any, give the rest: all entries add up to `generalized_active_forces`.
    """
    loads = loads_of(dyn)
    forces = _forces(dyn, t, x, loads.acting, dyn.kernels.load_vectors(t, x, r=r, p=p), r, p)
    each = _summed(forces, loads.load, len(loads.names))
    result = {name: each[..., i, :].copy() for i, name in enumerate(loads.names)}
    if beside := _beside_loads(dyn):
        result[beside] = dyn.generalized_active_forces(t, x, r=r, p=p) - each.sum(axis=-2)
    return result


def _beside_loads(dyn: Evaluator) -> str:
    """Names of forces other than loads, in words; empty if there are none."""
    acting = {
        "potentials": dyn.n_potentials,
        "freed constraints": dyn.facts.unlocated,
        "Lagrangian": not dyn.n_bodies,
    }
    return " and ".join(name for name, acts in acting.items() if acts)


def active_forces_by_body(dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None) -> Array:
    """The generalized active forces F_r of the loads on each body, in the order of `bodies`.

    A load acts on the body in which its point or frame is fixed.  A load on a massless point or frame acts on the body
    that this carries, as in `reactions`.  ``potentials=[...]``, and freed constraints that were not attached, act on no
    body; with these the sum over all bodies is not `generalized_active_forces`.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.

    Returns
    -------
    ndarray, (..., n_bodies, n_u)
    """
    require_bodies(dyn)
    loads = loads_of(dyn)
    forces = _forces(dyn, t, x, loads.acting, dyn.kernels.load_vectors(t, x, r=r, p=p), r, p)
    moved = loads.body >= 0
    return _summed(forces[..., moved, :], loads.body[moved], dyn.n_bodies)


def inertia_forces_by_body(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, udot: Values, *, r: Any = None, p: Any = None
) -> Array:
    """The generalized inertia forces F*_r = v_r · R* + ω_r · T* of each body at udot, in the order of `bodies`.

    Their sum is `generalized_inertia_forces` without the part of loads that is linear in udot.

    Parameters
    ----------
    t, x, udot, r, p
        As for the kernels; leading axes broadcast.

    Returns
    -------
    ndarray, (..., n_bodies, n_u)
    """
    wrenches, bodies = dyn.inertia_forces(t, x, udot, r=r, p=p), bodies_of(dyn)
    vectors = np.concatenate([wrenches[..., :3], wrenches[..., 3:]], axis=-2)
    rigid = bodies.on_frames
    acting = Acting(bodies.at_points, bodies.points, rigid + dyn.n_bodies, bodies.frames)
    forces = _forces(dyn, t, x, acting, vectors, r, p)
    return np.asarray(forces[..., : dyn.n_bodies, :] + forces[..., dyn.n_bodies :, :])


@method("Generalized forces")
def load_powers(dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None) -> dict[str, Array]:
    """Power R · v + T · ω of each load, including the velocities of prescribed motion.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.

    Returns
    -------
    dict of str to ndarray, (...)
        In W, by the names of ``generalized_active_forces(t, x, by="load")``, without potentials; a load that is linear
        in udot counts with its power at udot = 0.
    """
    loads, x = loads_of(dyn), dyn.names.as_state(x)
    acting, vectors = loads.acting, dyn.kernels.load_vectors(t, x, r=r, p=p)
    speeds = np.asarray(x, dtype=np.float64)[..., dyn.names.speeds]
    drift = np.zeros(vectors.shape)
    values = {"r": r, "p": p}
    for rows, places, remainders in (
        (acting.at_points, acting.points, dyn.partial_velocities(t, x, remainder=True, **values)),
        (acting.on_frames, acting.frames, dyn.partial_angular_velocities(t, x, remainder=True, **values)),
    ):
        drift[..., rows, :] = remainders[..., places, :]
    forces = _forces(dyn, t, x, acting, vectors, r, p)
    power = np.einsum("...lr,...r->...l", forces, speeds) + np.einsum("...lk,...lk->...l", drift, vectors)
    each = _summed(power[..., np.newaxis], loads.load, len(loads.names))[..., 0]
    return {name: each[..., i].copy() for i, name in enumerate(loads.names)}


def _forces(dyn: Evaluator, t: Any, x: Any, acting: Acting, vectors: Array, r: Any, p: Any) -> Array:
    """Generalized forces v_r · R of forces at points, ω_r · T of torques on frames: (..., rows, n_u)."""
    result = np.zeros((*vectors.shape[:-1], dyn.n_u))
    for rows, places, partials in (
        (acting.at_points, acting.points, dyn.partial_velocities(t, x, r=r, p=p)),
        (acting.on_frames, acting.frames, dyn.partial_angular_velocities(t, x, r=r, p=p)),
    ):
        result[..., rows, :] = np.einsum("...lrk,...lk->...lr", partials[..., places, :, :], vectors[..., rows, :])
    return result


def _summed(rows: Array, owners: Numbers, n: int) -> Array:
    """Sums of rows by their owners: (..., n, columns)."""
    result = np.zeros((*rows.shape[:-2], n, rows.shape[-1]))
    for i, k in enumerate(owners):
        result[..., k, :] += rows[..., i, :]
    return result


@method("Generalized forces", doubles=True)
def constraint_forces(dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None) -> Array:
    """The generalized forces λ_j G_jr of each constraint, (..., n_constraints, n_u).

    Their sum over the rows is Gᵀλ in M udot = f + Gᵀλ.  In Lagrange's equations a row is λ_j ∂φ_j/∂q for a constraint
    on coordinates, and μ_l ∂c_l/∂qdot for a constraint on their derivatives.  The multipliers of redundant rows are
    those of least norm.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.

    Raises
    ------
    SingularError, ValueError, TypeError, KeyError
        Errors of the kernel `multipliers`.
    """
    slopes = np.asarray(dyn.constraint_jacobian(t, x, r=r, p=p))
    return np.asarray(dyn.multipliers(t, x, r=r, p=p))[..., np.newaxis] * slopes
