# SPDX-License-Identifier: BSD-3-Clause
"""Private attributes of SymPy's KanesMethod and LagrangesMethod: no other module touches them.

``tests/test_sympy_internals.py`` fails, naming the attribute, if a new SymPy has renamed one.
"""

from __future__ import annotations

from typing import Any

from .vector_internals import time

__all__ = ["constraints", "inertial_frame", "kinematical_equations", "lagrangian"]


def inertial_frame(kanes_method: Any) -> Any:
    """The inertial frame of a KanesMethod."""
    return kanes_method._inertial


def constraints(kanes_method: Any) -> dict[str, list[Any]]:
    """Dependent coordinates and speeds, auxiliary speeds and constraints, by the names of Model's arguments.

    Acceleration constraints are left out where they are the derivatives that SymPy formed itself.
    """
    km = kanes_method
    velocity = list(km._k_nh * km.u + km._f_nh) if km._k_nh else []
    acceleration = list(km._k_dnh * km.u.diff(time()) + km._f_dnh) if km._k_dnh else []
    return {
        "q_dependent": list(km._qdep),
        "configuration_constraints": list(km._f_h),
        "u_dependent": list(km._udep),
        "velocity_constraints": velocity,
        "acceleration_constraints": [] if km._k_dnh == km._k_nh else acceleration,
        "u_auxiliary": list(km._uaux),
    }


def kinematical_equations(kanes_method: Any) -> list[Any]:
    """The kinematical differential equations as expressions equal to zero, as the user wrote them.

    With auxiliary speeds as SymPy solved them: it takes these out of the equations that it keeps.
    """
    km = kanes_method
    if km._uaux:
        return [rate - value for rate, value in km.kindiffdict().items()]
    k, f, ku = km._k_kqdot_implicit, km._f_k_implicit, km._k_ku_implicit
    return list(k * km.q.diff(time()) + ku * km.u + f) if k else []


def lagrangian(lagranges_method: Any) -> dict[str, Any]:
    """Arguments of a LagrangesMethod, by the names of those of Model.from_lagrangian.

    SymPy keeps the derivatives of holonomic constraints before the nonholonomic ones.
    """
    lm = lagranges_method
    holonomic = list(lm._hol_coneqs)
    return {
        "L": lm._L[0],
        "q": list(lm.q),
        "forcelist": list(lm.forcelist),
        "frame": lm.inertial,
        "holonomic_constraints": holonomic,
        "nonholonomic_constraints": list(lm.coneqs)[len(holonomic) :],
    }
