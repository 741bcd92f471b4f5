# SPDX-License-Identifier: BSD-3-Clause
"""Partial velocities and generalized forces: of all speeds, of the independent ones, by load and by body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from kanecore._native import kernel_method
from kanecore.binding.declared_methods import method
from kanecore.binding.kernel_methods import KernelMethods
from kanecore.constraints.allowed_motions import (
    forces_of_independent_speeds,
    partials_of_independent_speeds,
    remainders_of_independent_speeds,
)
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import needs_doubles, unknown_name
from kanecore.run.call_arguments import written
from kanecore.run.load_forces_and_powers import active_forces_by_body, active_forces_by_load, inertia_forces_by_body

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    "generalized_active_forces",
    "generalized_inertia_forces",
    "partial_accelerations",
    "partial_angular_accelerations",
    "partial_angular_velocities",
    "partial_velocities",
]

Array = npt.NDArray[np.float64]


@kernel_method
def partial_velocities(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    nonholonomic: bool = False,
    remainder: bool = False,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> Array:
    """The partial velocities ∂v/∂u_r of all points, inertial axes, (..., n_points, n_u, 3).

    With ``remainder=True`` the remainders v_t = v - Σ v_r u_r of the velocities instead, (..., n_points, 3).  Points in
    the order of `points`.  With ``nonholonomic=True`` the dependent speeds are first expressed by the independent ones,
    (..., n_points, dof, 3): the nonholonomic partial velocities or, for a constraint that is not linear in the speeds,
    those of virtual changes.
    """
    if nonholonomic:
        return _nonholonomic(KernelMethods.partial_velocities, _at(dyn, t, x, r, p), remainder, out)
    return KernelMethods.partial_velocities(dyn, t, x, remainder=remainder, r=r, p=p, out=out, threads=threads)


@kernel_method
def partial_angular_velocities(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    nonholonomic: bool = False,
    remainder: bool = False,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> Array:
    """The partial angular velocities ∂ω/∂u_r of all frames, inertial axes, (..., n_frames, n_u, 3).

    With ``remainder=True`` ω_t = ω - Σ ω_r u_r instead, (..., n_frames, 3).  Frames in the order of `frames`.
    ``nonholonomic=True`` as in `partial_velocities`, (..., n_frames, dof, 3).
    """
    if nonholonomic:
        return _nonholonomic(KernelMethods.partial_angular_velocities, _at(dyn, t, x, r, p), remainder, out)
    return KernelMethods.partial_angular_velocities(dyn, t, x, remainder=remainder, r=r, p=p, out=out, threads=threads)


@method("Generalized forces")
def partial_accelerations(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
) -> Array:
    """The partial accelerations ∂a/∂u̇_r of all points, u̇_r independent, inertial axes, (..., n_points, dof, 3)."""
    return partial_velocities(dyn, t, x, nonholonomic=True, r=r, p=p, out=out)


@method("Generalized forces")
def partial_angular_accelerations(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
) -> Array:
    """The partial angular accelerations ∂α/∂u̇_r of all frames, u̇_r independent, (..., n_frames, dof, 3)."""
    return partial_angular_velocities(dyn, t, x, nonholonomic=True, r=r, p=p, out=out)


@overload
def generalized_active_forces(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    nonholonomic: bool = False,
    by: Literal["body"] | None = None,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> Array: ...
@overload
def generalized_active_forces(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    nonholonomic: bool = False,
    by: Literal["load"],
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> dict[str, Array]: ...
@kernel_method
def generalized_active_forces(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    *,
    nonholonomic: bool = False,
    by: str | None = None,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> Any:
    """The generalized active forces F_r = Σ v_r · R + ω_r · T, (..., n_u).

    With ``nonholonomic=True`` the forces of the independent speeds, F̃ = F_ind + A_nᵀ F_dep, (..., dof).  ``by="load"``
    gives a dict of F_r by the name of the load, such as ``"load 3 at P1, P2"``: its number in forcelist, its points and
    frames; ``"potentials"``, ``"freed constraints"`` and ``"Lagrangian"`` are the rest, so that all entries add up.
    ``by="body"`` gives (..., n_bodies, n_u), in the order of `bodies`: a load acts on the body in which its point or
    frame is fixed; a load on a massless point or frame acts on the body that this carries.  A load that is linear in
    udot counts with its value at udot = 0.
    """
    if by is not None:
        ways = {"load": active_forces_by_load, "body": active_forces_by_body}
        return _split("generalized_active_forces", ways, by, nonholonomic, out)(dyn, t, x, r=r, p=p)
    forces = KernelMethods.generalized_active_forces
    if nonholonomic:
        at = _at(dyn, t, x, r, p)
        return written(forces_of_independent_speeds(at, np.asarray(forces(dyn, at.t, at.x, **at.values))), out)
    return forces(dyn, t, x, r=r, p=p, out=out, threads=threads)


@kernel_method
def generalized_inertia_forces(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    *,
    nonholonomic: bool = False,
    by: Literal["body"] | None = None,
    r: Values | None = None,
    p: Values | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> Array:
    """The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot, (..., n_u).

    With ``nonholonomic=True`` the forces of the independent speeds, (..., dof).  ``by="body"`` gives the forces of each
    body, (..., n_bodies, n_u), in the order of `bodies`, without the part of loads that are linear in udot.
    """
    if by is not None:
        ways = {"body": inertia_forces_by_body}
        return np.asarray(_split("generalized_inertia_forces", ways, by, nonholonomic, out)(dyn, t, x, udot, r=r, p=p))
    forces = KernelMethods.generalized_inertia_forces
    if nonholonomic:
        at = _at(dyn, t, x, r, p)
        return written(forces_of_independent_speeds(at, np.asarray(forces(dyn, at.t, at.x, udot, **at.values))), out)
    return forces(dyn, t, x, udot, r=r, p=p, out=out, threads=threads)


def _at(dyn: Evaluator, t: npt.ArrayLike, x: Values, r: Any, p: Any) -> Constraints:
    if dyn.single:
        raise needs_doubles(dyn, "nonholonomic=True")
    return Constraints(dyn, t, x, r=r, p=p)


def _nonholonomic(kernel: Any, at: Constraints, remainder: bool, out: Array | None) -> Array:
    """Partial velocities of the independent speeds, from a kernel for all speeds; or remainders of velocities."""
    partials = np.asarray(kernel(at.dyn, at.t, at.x, **at.values))
    if not remainder:
        return written(partials_of_independent_speeds(at, partials), out)
    remainders = kernel(at.dyn, at.t, at.x, remainder=True, **at.values)
    return written(remainders_of_independent_speeds(at, partials, remainders), out)


def _split(kernel: str, ways: dict[str, Any], by: str, nonholonomic: bool, out: Array | None) -> Any:
    """The function that gives the result of a kernel by load or by body."""
    if nonholonomic or out is not None:
        raise TypeError(f"{kernel}: by={by!r} returns new arrays, for all speeds: leave out nonholonomic= and out=")
    if by not in ways:
        raise unknown_name(f"way to split {kernel} by", by, ways)
    return ways[by]
