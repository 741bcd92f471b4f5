# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives of ẋ: programs of directional derivatives, and one factorization for all directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanecore.derive.elimination_fronts import Front
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.second_derivatives import SecondDerivatives, second_derivatives

from .fixed_values import fixed_values
from .function_parts import Function, Member
from .function_store import Functions
from .motion_functions import found_motion
from .way_to_solve import Way, way_of_second_derivatives

__all__ = ["second_derivatives_of_rhs"]

KERNEL = "rhs_hessian"


def second_derivatives_of_rhs(f: Functions) -> Function:
    """Second derivatives: a program for all directions, then directional derivatives; no result if it fails.

    Where the expression of u̇ holds at some states only, one factorization gives the result at the others.
    """
    name, derivation = f"compute_{KERNEL}", f.derivation
    if way_of_second_derivatives(derivation) is not Way.PROGRAM:
        return _by_factorization(f, name, KERNEL)
    if not derivation.solution.limits:
        return _by_program(f, name, KERNEL)
    members = {
        "shortly": _by_program(f, f"short_{KERNEL}", KERNEL).name,
        "otherwise": _by_factorization(f, f"general_{KERNEL}", f"general_{KERNEL}").name,
    }
    return f.solved(name, "short_way", members)


def _by_program(f: Functions, name: str, part: str) -> Function:
    """Second derivatives from the expressions of u̇ and all multipliers."""
    found, whole = second_derivatives(f.derivation), f.derivation.kernel(KERNEL)
    size = len(found.order)
    roots = {"column": whole.roots[:size], "curvature": whole.roots[size:]}
    members, n_fixed = _along_directions(f, part, found, roots, whole, [], ())
    return f.solved(name, "hessian", members, n_fixed)


def _by_factorization(f: Functions, name: str, part: str) -> Function:
    """Second derivatives from solutions that share one factorization: by fronts if these help, or at once."""
    found, derivation, m = second_derivatives(f.derivation), f.derivation, f.m
    roots = {"changes": found.sides, "column": found.column, "curvature": found.curvature}
    known = [*f.solution, *found.multipliers]
    along, _ = _along_directions(f, part, found, roots, Derived(()), known, found.changes)
    members = {"changes": along.pop("changes"), **{f"columns.{member}": value for member, value in along.items()}}
    weights = Derived((*found.weights, *[0] * m))
    members["weights"] = f.once(f"weights_{part}", weights, f.solution, 2 * (f.n + m), in_core=True)

    def solved(name: str, fronts: Sequence[Front], end: str, **instead: str) -> Function:
        motion, (n, m, *_) = found_motion(f, derivation.general, fronts, end)
        return f.solved(name, "factored_hessian", {**motion, **members, **instead}, n, m)

    fronts = derivation.general_fronts
    if not fronts:
        return solved(name, (), part)
    at_once = solved(f"{name}_at_once", (), f"{part}_at_once")
    return solved(name, fronts, part, otherwise=at_once.name)


def _along_directions(
    f: Functions,
    part: str,
    found: SecondDerivatives,
    roots: Mapping[str, Sequence[int]],
    whole: Derived,
    known: Sequence[int],
    changes: tuple[int, ...],
) -> tuple[dict[str, Member], int]:
    """Members that compute the changes along directions, and the number of values that all directions share.

    ``part`` is the end of their names; ``whole`` has the pivots and limits of the expressions.
    """
    inner, outer, size = found.inner, found.outer, len(found.order)
    seeds = {"changes": inner, "column": (*inner, *changes) if inner else (), "curvature": outer}
    directions, places = [*inner, *outer, *changes], {**f.leaves, **dict.fromkeys(known)}
    fixed = fixed_values(f.g, [i for each in roots.values() for i in each], directions, places)
    members: dict[str, Member] = {"n": size, "n_fixed": len(fixed), "n_inner": len(inner), "n_outer": len(outer)}
    once = replace(whole, roots=tuple(fixed))
    members |= {"variables": found.order, "fixed": f.once(f"fixed_{part}", once, known, len(fixed), None)}
    most = max(map(len, seeds.values())) + max(map(len, roots.values()))
    for member in roots:
        if seeds[member]:
            given, room = [*known, *fixed], most - len(seeds[member])
            members[member] = f.along(f"{member}_{part}", roots[member], given, seeds[member], room, in_core=None)
    return members, len(fixed)
