# SPDX-License-Identifier: BSD-3-Clause
"""The function by which ``prepare`` counts the generically independent rows of G."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.derive.kernel_registry import Derived

from .function_parts import Equations, Member, Solved
from .function_store import Functions
from .projection_functions import quaternions

__all__ = ["counting"]


_GENERIC = 0.6180339887498949  # entries of the states at which rows of G are counted: no terms vanish at such numbers


def counting(f: Functions) -> Solved | None:
    """Function by which ``prepare`` counts the independent rows of G; None if all are eliminated on the graph."""
    derivation = f.derivation
    if not (f.d.constraints and derivation.counted):
        return None
    constraints = derivation.constraints
    kernels = {"configuration": "configuration_residual", "slopes": "configuration_jacobian"}
    kernels |= {"velocity": "velocity_residual", "jacobian": "constraint_jacobian", "sizes": "constraint_sizes"}
    m_q, m_u = len(constraints.configuration), len(constraints.values)
    members: dict[str, Member] = {
        "equations": Equations(max(f.n, f.n_q), max(f.m, m_q)),
        "n_q": f.n_q,
        "n_u": f.n,
        "n_r": f.n_r,
        "m_q": m_q,
        "m_u": m_u,
        "m": f.m,
        "linear": int(constraints.linear),
        **quaternions(f),
        "weights": _counted_at(f, "compute_weights", tuple(derivation.weights)),
    }
    for member, kernel in kernels.items():
        if roots := derivation.kernel(kernel).roots:
            members[member] = _counted_at(f, f"count_{kernel}", roots) if f.n_z else f.of_kernel(kernel).name
    return Solved("count", "closure", members, (f.n_q, f.n, f.n_r, m_q, f.m))


def _counted_at(f: Functions, name: str, roots: Sequence[int]) -> str:
    """Name of a function for counting, at a fixed value of first-order states, which are no part of its states."""
    at = dict.fromkeys(f.d.states, f.g.constant(_GENERIC))
    return f.once(name, Derived(tuple(f.g.substitute(list(roots), at)) if at else tuple(roots)))
