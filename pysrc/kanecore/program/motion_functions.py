# SPDX-License-Identifier: BSD-3-Clause
"""u̇ and the multipliers, and the kernels that need them, each by the method that `way_to_solve` chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanecore.derive.constraint_elimination import Solving
from kanecore.derive.derivation import Derivation
from kanecore.derive.elimination_fronts import Front
from kanecore.derive.formulations.formulation import ARTICULATED
from kanecore.derive.kernel_registry import Derived
from kanecore.graph.expression_graph import Graph, Op

from .function_parts import Equations, Function, Member, Solved, Straight
from .function_store import Functions
from .instructions import Operand
from .motion_equations import equations_of_all, filled, fronted, n_residuals, shared_members
from .straight_line import straight_line
from .sum_order import associated
from .way_to_solve import Way, always_holds, way_of_accelerations

__all__ = [
    "accelerations",
    "after_motion",
    "asked",
    "at_solution",
    "forward_dynamics",
    "found_motion",
    "general_motion",
    "motion",
    "multipliers",
]


def accelerations(f: Functions) -> Function:
    """``compute_udot``, by the short method if there is one."""
    return _accelerations_of(f, "udot", f.derivation)


def motion(f: Functions) -> Function:
    """Function of u̇ and then ż, which ``rhs`` computes after q̇."""
    if not f.n_z:
        return accelerations(f)
    udot, zdot = accelerations(f), f.derivation.kernel("zdot")
    if isinstance(udot, Straight) and not zdot.with_multipliers:
        program = straight_line(*_motion_on_the_graph(f), f.n)
        return f.of_program("compute_motion", program, 0, in_core=True)
    roots = Derived((*f.d.accelerations, *zdot.roots), with_multipliers=zdot.with_multipliers)
    return after_motion(f, "motion", roots, in_core=True)


def _motion_on_the_graph(f: Functions) -> tuple[Graph, Derived, Mapping[int, Operand]]:
    """Program of both u̇ and ż, which share expressions."""
    udot, g = f.derivation.kernel("udot"), f.g
    at_udot = dict(zip(f.d.accelerations, udot.roots, strict=True))
    zdot = g.substitute(list(f.d.state_rates), at_udot)
    return associated(g, replace(udot, roots=(*udot.roots, *zdot)), f.leaves)


def forward_dynamics(f: Functions) -> Function:
    """Function of u̇ with generalized forces added to f."""
    return _accelerations_of(f, "forward_dynamics", f.derivation.pushed)


def _accelerations_of(f: Functions, kernel: str, derivation: Derivation) -> Function:
    name = f"compute_{kernel}"
    if name in f.by_name:
        return f.by_name[name]
    method = way_of_accelerations(derivation)
    if method is Way.REDUCED:
        return _reduced_motion(f, kernel, derivation)
    if method is Way.GENERAL:
        return general_motion(f, kernel, derivation, name)
    source = (f.g, derivation.kernel("udot"), f.leaves)
    if derivation.method != ARTICULATED:  # articulated bodies wait for the previous link in any order
        source = associated(*source)
    program = straight_line(*source, f.n)
    if always_holds(program, derivation):
        return f.of_program(name, program, 0, in_core=True)
    members = {
        "otherwise": general_motion(f, kernel, derivation).name,
        "shortly": f.of_program(f"short_{kernel}", program, 0, in_core=True).name,
    }
    return f.solved(name, "short_way", members)


def _reduced_motion(f: Functions, kernel: str, derivation: Derivation) -> Solved:
    """u̇ from the reduced equations, after elimination of speeds and rows on the graph."""
    solving = derivation.solving
    assert solving is not None
    solution = [*solving.known, *solving.unknowns]
    n, n_known, name = len(solving.speeds), len(solving.known), f"compute_{kernel}"
    if derivation.fronts:
        by_fronts, sizes = fronted(f, kernel, solving, derivation.fronts)
        by_fronts |= {"rank": f.rank, "eliminated": f.n - n, "n_known": n_known}
        if n < f.n:
            by_fronts["result"] = f.once("result_udot", Derived(solving.result), solution, in_core=True)
        by_fronts["otherwise"] = general_motion(f, kernel, derivation).name
        return f.solved(name, "front_motion", by_fronts, *sizes, n_known)
    members = shared_members(f, "udot", n, solving.doubt) | {
        "eliminated": f.n - n,
        "speeds": solving.speeds,
        "rows": solving.rows,
        "n_known": n_known,
        **filled(f, kernel, derivation, solving),
        "result": f.once("result_udot", Derived(solving.result), solution, in_core=True),
        "otherwise": general_motion(f, kernel, derivation).name,
    }
    return f.solved(name, "motion", members, n, len(solving.rows), n_known, n_residuals(f))


def general_motion(f: Functions, kernel: str, derivation: Derivation, name: str = "") -> Function:
    """``general_KERNEL``: from M, f, G and γ of all speeds and rows.

    If M is positive definite, the short method applies; so the general method does not try its factorization.
    """
    name = name or f"general_{kernel}"
    if name in f.by_name:
        return f.by_name[name]
    equations = equations_of_all(f, kernel, derivation)
    if not f.m:
        free: dict[str, Member] = {"equations": Equations(f.n, 0, symmetric=False), "parts": equations}
        return f.solved(name, "free_motion", free, f.n)
    members = shared_members(f, "general", f.n, derivation.general.doubt) | {"parts": equations}
    members["equations"] = Equations(f.n, f.m, symmetric=False)
    return f.solved(name, "general_motion", members, f.n, f.m, 0, n_residuals(f))


def found_motion(
    f: Functions, solving: Solving, found: Sequence[Front], name: str = "udot"
) -> tuple[dict[str, Member], tuple[int, ...]]:
    """Members of `kc_reduced_motion`, which finds u̇ and λ and keeps the factors, and sizes of its scratch.

    ``found`` are the fronts of the equations, if there are any; ``name`` is the end of that of their program.
    """
    derivation, n, m, n_known = f.derivation, len(solving.speeds), len(solving.rows), len(solving.known)
    members: dict[str, Member] = {
        "equations": Equations(n, m),
        "motion.n_all": f.n,
        "motion.m_all": f.m,
        "motion.rank": f.rank,
        "motion.eliminated": f.n - n,
        "motion.n_known": n_known,
    }
    if found:
        members |= fronted(f, name, solving, found, "motion.")[0]
    else:
        members |= {f"motion.{part}": value for part, value in filled(f, name, derivation, solving).items()}
    if n < f.n:
        given = [*solving.known, *solving.unknowns]
        members["motion.result"] = f.once("result_udot", Derived(solving.result), given, in_core=True)
    if m < f.m:
        udot, left = f.d.accelerations, [derivation.multiplier_symbols[i] for i in solving.rows]
        forces = Derived(derivation.all_forces(derivation.residual(udot), left))
        members["motion.forces"] = f.once("forces_of_rows", forces, [*left, *udot], f.m, in_core=True)
    return members, (n, m, n_known, f.n, f.m)


def multipliers(f: Functions, *, equal: bool = False) -> Function:
    """λ of least norm; for derivatives the forces of redundant rows scaled to ``equal`` size."""
    name = "forces_of_equal_rows" if equal else "compute_multipliers"
    if name in f.by_name:
        return f.by_name[name]
    solving = f.derivation.solving
    if solving is None or not f.derivation.fronts:
        return _balance(f, name, equal)
    found, sizes = found_motion(f, solving, f.derivation.fronts)
    found |= {"motion.sharing": int(not equal), "otherwise": _balance(f, f"general_{name}", equal).name}
    return f.solved(name, "front_balance", found, *sizes)


def _balance(f: Functions, name: str, equal: bool) -> Solved:
    """λ of all rows at once."""
    members: dict[str, Member] = {
        "equations": Equations(f.n, f.m, 0),
        "rank": f.rank,
        "equal": int(equal),
        "udot": accelerations(f).name,
        "fill": f.once("fill_multipliers", f.derivation.kernel("multipliers"), f.d.accelerations),
    }
    return f.solved(name, "balance", members, f.n, f.m)


def at_solution(f: Functions) -> dict[str, Member]:
    """Members of methods that solve for derivatives at the u̇ and λ of a state."""
    members: dict[str, Member] = {"udot": accelerations(f).name}
    return members | ({"rank": f.rank, "multipliers": multipliers(f, equal=True).name} if f.m else {})


def after_motion(f: Functions, kernel: str, derived: Derived, in_core: bool) -> Function:
    """Kernel that uses the accelerations, and the multipliers, of the model."""
    name, m = f"compute_{kernel}", f.m if derived.with_multipliers else 0
    solution = [*f.d.accelerations, *(f.derivation.multiplier_symbols if m else ())]
    members: dict[str, Member] = {"udot": accelerations(f).name, "n": f.n, "m": m}
    if m:
        members["multipliers"] = multipliers(f).name
    members["evaluate"] = f.once(f"part_{kernel}", Derived(derived.roots), solution, in_core=in_core)
    function = Solved(name, "after_motion", members, (f.n, m), bool(m) or accelerations(f).fails)
    f.by_name[name] = function
    return function


def asked(f: Functions, function: Function, n: int) -> Function:
    """A function of n numbers; where these are not finite, it asks the loads of reactions for their fault."""
    name, g, terms = f"{function.name}_asked", f.g, f.d.reaction_terms
    if name in f.by_name:
        return f.by_name[name]
    assert terms is not None
    load = g.select(g.binary(Op.LT, 0, terms.fault), g.constant(f.d.loads_of_reactions[0]), 0)
    reason = f.once("load_fault", Derived((terms.fault, load)))
    return f.solved(name, "asked", {"n": n, "result": function.name, "reason": reason}, 2)
