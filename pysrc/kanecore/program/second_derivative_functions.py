# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives of ẋ: programs of directional derivatives, and one factorization for all directions."""

from __future__ import annotations

from dataclasses import replace

from kanecore.derive.kernel_registry import Derived
from kanecore.derive.second_derivatives import second_derivatives

from .fixed_values import fixed_values
from .function_parts import Equations, Function, Member
from .function_store import Functions
from .motion_equations import filled
from .way_to_solve import Way, way_of_second_derivatives

__all__ = ["second_derivatives_of_rhs"]


def second_derivatives_of_rhs(f: Functions) -> Function:
    """Second derivatives: a program for all directions, then directional derivatives; no result if it fails."""
    name, kernel, derivation = "compute_rhs_hessian", "rhs_hessian", f.derivation
    found, n, m = second_derivatives(derivation), f.n, f.m
    inner, outer, size = found.inner, found.outer, len(found.order)
    known, changes = list[int](), tuple[int, ...]()
    by_program = way_of_second_derivatives(derivation) is Way.PROGRAM
    if by_program:
        whole = derivation.kernel(kernel)
        roots = {"column": whole.roots[:size], "curvature": whole.roots[size:]}
    else:
        whole, known, changes = Derived(()), [*f.solution, *found.multipliers], found.changes
        roots = {"changes": found.sides, "column": found.column, "curvature": found.curvature}
    seeds = {"changes": inner, "column": (*inner, *changes) if inner else (), "curvature": outer}
    directions, places = [*inner, *outer, *changes], {**f.leaves, **dict.fromkeys(known)}
    fixed = fixed_values(f.g, [i for each in roots.values() for i in each], directions, places)
    members: dict[str, Member] = {"n": size, "n_fixed": len(fixed), "n_inner": len(inner), "n_outer": len(outer)}
    once = replace(whole, roots=tuple(fixed))
    members |= {"variables": found.order, "fixed": f.once(f"fixed_{kernel}", once, known, len(fixed), None)}
    most = max(map(len, seeds.values())) + max(map(len, roots.values()))
    for member in roots:
        if seeds[member]:
            given, room = [*known, *fixed], most - len(seeds[member])
            function = f.along(f"{member}_{kernel}", roots[member], given, seeds[member], room, in_core=None)
            members[member] = function
    if by_program:
        return f.solved(name, "hessian", members, len(fixed))
    weights = Derived((*found.weights, *[0] * m))
    members |= {
        "equations": Equations(n, m),
        "rank": f.rank,
        **filled(f, kernel, derivation, derivation.general),
        "weights": f.once(f"weights_{kernel}", weights, f.solution, 2 * (n + m), in_core=True),
    }
    return f.solved(name, "factored_hessian", members, n, m)
