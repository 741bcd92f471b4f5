# SPDX-License-Identifier: BSD-3-Clause
"""Products of derivatives of ẋ with a vector: by a program, or by solving equations."""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.derive.kernel_registry import Derived
from kanecore.derive.motion_products import Product, general_product, holds_udot, is_tangent, leaves_fewer, product

from .fixed_values import fixed_values
from .function_parts import Equations, Function, Member, Solved
from .function_store import Functions
from .linearization_functions import joint_trees
from .mass_matrix_functions import mass_matrix
from .motion_equations import equation_parts
from .motion_functions import at_solution, found_motion, general_motion
from .straight_line import straight_line
from .way_to_solve import Way, always_holds, is_brief, way_of_product

__all__ = ["product_of_derivatives"]


def product_of_derivatives(f: Functions, kernel: str) -> Function:
    """Product of derivatives with a vector: by a program if u̇ has an expression and no pivot is small."""
    name, derivation = f"compute_{kernel}", f.derivation
    if not holds_udot(derivation, kernel):
        return f.straight(name, derivation.kernel(kernel), in_core=True)
    method = way_of_product(derivation)
    if method is Way.GENERAL:
        return _general_product(f, name, kernel)
    if method is Way.REDUCED:
        return _factored_product(f, name, kernel)
    program = straight_line(f.g, derivation.kernel(kernel), f.leaves, f.n)
    if always_holds(program, derivation):
        return f.of_program(name, program, 0, in_core=True)
    otherwise = None if is_brief(program) else _by_recursion(f, kernel)
    members = {
        "otherwise": (otherwise or _general_product(f, f"general_{kernel}", kernel)).name,
        "shortly": f.of_program(f"short_{kernel}", program, 0, in_core=True).name,
    }
    return f.solved(name, "short_way", members)


def _by_recursion(f: Functions, kernel: str) -> Solved | None:
    """Product with the derivatives by x and r of trees of joints; used for rare calls, as its text is short."""
    forest = f.derivation.joint_trees
    if forest is None or kernel not in ("rhs_tangent", "rhs_gradient"):
        return None
    rows, columns = f.n_q + f.n, f.d.n_x + f.n_r
    members: dict[str, Member] = {
        "rows": rows,
        "columns": columns,
        "behind": rows + f.n + f.m,
        "gradient": int(not is_tangent(kernel)),
        "matrix": joint_trees(f, "compute_linearize", forest, in_core=False).name,
    }
    return f.solved(f"general_{kernel}", "matrix_product", members, rows, columns)


def _factored_product(f: Functions, name: str, kernel: str) -> Solved:
    """Product with one factorization of the reduced equations of u̇."""
    d = f.derivation
    motion, sizes = found_motion(f, d.solving or d.general, d.fronts)
    found = product(d, kernel)
    kept = _kept(f, found)
    members: dict[str, Member] = {
        **motion,
        **_sides(f, kernel, found, kept),
        "otherwise": _general_product(f, f"general_{kernel}", kernel).name,
    }
    return f.solved(name, "product", members, *sizes, len(kept))


def _general_product(f: Functions, name: str, kernel: str) -> Solved:
    """Product by separate equations, at given u̇ and λ, which need no positive definite M."""
    derivation, found = f.derivation, general_product(f.derivation, kernel)
    kept = _kept(f, found)
    in_core = name == f"compute_{kernel}"  # else a rarely called alternative, with its own M and f
    if not in_core and not f.m:
        mass_matrix(f, rarely=True), f.of_kernel("forcing", rarely=True)
    members: dict[str, Member] = {
        "equations": Equations(f.n, f.m, symmetric=derivation.symmetric),
        "parts": equation_parts(f, "mass_matrix", "jacobian", "sums"),
        **_sides(f, kernel, found, kept, in_core, "general_" if leaves_fewer(derivation) else ""),
    }
    if derivation.symmetric and not f.m:  # for M that is not positive definite
        members["udot"] = general_motion(f, "udot", derivation).name
    else:
        members |= at_solution(f)
    solver = "general_product" if f.m else "free_product"
    return f.solved(name, solver, members, f.n, f.m, len(kept))


def _sides(
    f: Functions, kernel: str, found: Product, kept: Sequence[int], in_core: bool = True, prefix: str = ""
) -> dict[str, Member]:
    """Members of both methods: the ``kept`` nodes, then the right-hand sides at given u̇ and λ; and the product."""
    reserved = 2 * len(found.solution) + len(kept)  # the second solution, and the results themselves
    sides = Derived((*kept, *found.sides))
    given = [*f.solution, *found.solution, *kept]
    return {
        "n_kept": len(kept),
        "adjoint": int(not is_tangent(kernel)),
        "sides": f.once(f"{prefix}sides_{kernel}", sides, f.solution, reserved, in_core),
        "finish": f.once(f"{prefix}finish_{kernel}", Derived(found.result), given, in_core=in_core),
    }


def _kept(f: Functions, found: Product) -> list[int]:
    """Nodes of t, x, r, u̇, λ that the product reads with its solution; right-hand sides include them."""
    places = {**f.leaves, **dict.fromkeys(f.solution)}
    return fixed_values(f.g, found.by_solution, found.solution, places)
