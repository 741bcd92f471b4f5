# SPDX-License-Identifier: BSD-3-Clause
"""Results of speed_matrices and projected_efforts, of a Model as of a compiled one."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["ProjectedEfforts", "SpeedMatrices"]


class SpeedMatrices(NamedTuple):
    """The matrices of redundant speeds p = [p#; p°] and coordinates q = [q#; q°].

    p# = Ψ q̇#, p° = Υ q̇#, and Λ = A p = 0; A is [−Υ Ψ⁻¹, 1] where each row is solved for one of p°.  What does not
    depend on the speeds, where constraints hold time or prescribed motion, is left out: these are derivatives.

    Attributes
    ----------
    A : (..., n_velocity, n_u)
        ∂Λ/∂p, in the order of the speeds of the model: the rows of G, which are constraints on velocities.
    Psi : (..., dof, number of q#)
    Upsilon : (..., number of p°, number of q#)
    coordinates, independent, dependent : tuples of str
        Names of q#, p#, p°.
    """

    A: Any
    Psi: Any
    Upsilon: Any
    coordinates: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]


class ProjectedEfforts(NamedTuple):
    """Efforts of actuators: along all coordinates, along all speeds, and projected on the independent ones.

    Their power is f_q · q̇ = f_p · p = F_q · q̇# = F_p · p# in every motion that the constraints allow, without
    prescribed motion.

    Attributes
    ----------
    f_q : (..., n_q)
        F_q along q#, and zero along q°.
    f_p : (..., n_u)
        Generalized active forces of the efforts.
    F_q : (..., number of q#)
        Ψᵀ F_p.
    F_p : (..., dof)
        f_p# + (Υ Ψ⁻¹)ᵀ f_p°, along the quasi-velocities p#.
    """

    f_q: Any
    f_p: Any
    F_q: Any
    F_p: Any
