# SPDX-License-Identifier: BSD-3-Clause
"""Equations of motion for solvers: the programs that fill M, f, G and γ, and the programs of residuals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kanecore.derive.constraint_elimination import Solving
from kanecore.derive.derivation import Derivation
from kanecore.derive.elimination_fronts import Front, front_system
from kanecore.derive.kernel_registry import Derived
from kanecore.tolerances import REACHED

from .function_parts import Equations, Member
from .function_store import Functions
from .mass_matrix_functions import mass_matrix
from .way_to_solve import is_written_once_more

__all__ = ["equation_parts", "equations_of_all", "filled", "front_members", "fronted", "n_residuals", "shared_members"]


def equation_parts(f: Functions, *names: str) -> dict[str, str]:
    """The equations of all speeds and rows, part by part, by the functions of their kernels."""
    kernels = {"mass_matrix": "mass_matrix", "forcing": "forcing"}
    if f.m:
        kernels |= {"jacobian": "constraint_jacobian", "bias": "constraint_bias"}
    functions = {
        part: (mass_matrix(f) if part == "mass_matrix" else f.of_kernel(kernel)).name
        for part, kernel in kernels.items()
        if part in names
    }
    if f.m and "sums" in names:
        functions["sums"] = f.once("compute_constraint_sums", Derived(f.derivation.general.sums))
    return functions


def equations_of_all(f: Functions, kernel: str, derivation: Derivation) -> dict[str, str]:
    """The functions that fill the equations of all speeds and rows."""
    own = ("forcing",) if derivation is f.derivation else ()
    equations = equation_parts(f, "mass_matrix", *own, "jacobian", "bias", "sums")
    if not own:
        forcing = Derived(tuple(derivation.forcing))
        equations["forcing"] = f.once(f"forcing_{kernel}", forcing, in_core=True)
    return equations


def filled(f: Functions, kernel: str, derivation: Derivation, solving: Solving) -> dict[str, Member]:
    """Members that fill the equations: a program, or the functions of M, f, G and γ if the program would be long."""
    system = Derived((*solving.system, *solving.known), limits=solving.limits)
    if not is_written_once_more(derivation, solving):
        return {"parts": equations_of_all(f, kernel, derivation)}
    return {"fill": f.once(f"fill_{kernel}", system, in_core=True)}


def fronted(
    f: Functions, kernel: str, solving: Solving, found: Sequence[Front], prefix: str = ""
) -> tuple[dict[str, Member], tuple[int, ...]]:
    """Members that fill the equations by fronts, and sizes of their scratch."""
    n, m = len(solving.speeds), len(solving.rows)
    arrays = front_system(f.g, n, m, solving.system, found)
    filled = Derived((*arrays, *solving.known), limits=solving.limits)
    by_fronts, sizes = front_members(f"{prefix}fronts", found)
    return by_fronts | {f"{prefix}fill": f.once(f"fill_{kernel}", filled, in_core=True)}, (n, *sizes)


def front_members(name: str, found: Sequence[Front]) -> tuple[dict[str, Member], tuple[int, int, int]]:
    """Members of the structure ``name`` of fronts; their number, and that of all numbers in arrays and scratch."""
    sizes, at = list[int](), [0, 0, 0, 0]
    for front in found:
        sizes += [len(front.own), len(front.border), len(front.rows), front.parent, *at]
        lengths = (front.numbers, front.width - 1, len(front.border), len(front.rows))
        at = [x + y for x, y in zip(at, lengths, strict=True)]
    shapes = Counter(tuple(sizes[i : i + 3]) for i in range(0, len(sizes), 8))
    own, border, rows = shapes.most_common(1)[0][0]
    n, widest = (
        sum(len(each.own) for each in found),
        max(each.width + len(each.rows) * (each.width + 2) for each in found),
    )
    members: dict[str, Member] = {
        "n_fronts": len(found),
        "n": n,
        "numbers": at[0],
        "widest": widest,
        "own": own,
        "border": border,
        "rows": rows,
        "sizes": tuple(sizes),
        "held": tuple(x for each in found for x in (*each.own, *each.border)),
        "places": tuple(x for each in found for x in each.places),
        "row_numbers": tuple(x for each in found for x in each.rows),
    }
    return {f"{name}.{member}": value for member, value in members.items()}, (len(found), at[0], widest)


def shared_members(f: Functions, name: str, n: int, doubt: Sequence[int]) -> dict[str, Member]:
    """Members common to both methods for u̇ of constrained models."""
    constraints = f.derivation.constraints
    residuals = Derived((*constraints.configuration, *constraints.values, *constraints.sizes(REACHED)))
    return {
        "equations": Equations(n, len(doubt), symmetric=f.derivation.symmetric),
        "rank": f.rank,
        "doubt": f.once(f"{name}_doubt", Derived(tuple(doubt))),
        "n_residuals": n_residuals(f),
        "residuals": f.once("state_constraints", residuals),
    }


def n_residuals(f: Functions) -> int:
    constraints = f.derivation.constraints
    return len(constraints.configuration) + len(constraints.values)
