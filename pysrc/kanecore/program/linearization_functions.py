# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of ẋ and of outputs: by programs, by recursions over joints, or by solving equations."""

from __future__ import annotations

from kanecore.derive.kernel_registry import Derived
from kanecore.derive.linearized_equations import VARIABLES, ReducedSlopes
from kanecore.derive.recursions.joint_tree_derivatives import Forest

from .function_parts import Equations, Function, Member, Solved
from .function_store import Functions
from .motion_equations import equation_parts
from .motion_functions import accelerations, at_solution, found_motion
from .straight_line import straight_line
from .way_to_solve import Way, always_holds, is_brief, way_of_slopes

__all__ = ["joint_trees", "linearization", "output_jacobian", "slopes_of_rhs"]


def slopes_of_rhs(f: Functions, kernel: str) -> Function:
    """A derivative of ẋ: the derivative of q̇ and u̇, then the rows of ż."""
    name = f"compute_{kernel}"
    if name in f.by_name or not f.n_z:
        return linearization(f, kernel)
    if f.derivation.linearization(kernel).vanishes and not any(f.derivation.state_slopes(kernel)):
        return f.straight(name, f.derivation.kernel(kernel))
    sizes = {"n_z": f.n_z, "n_q": f.n_q, "n": f.n, "k": len(VARIABLES[kernel](f.d))}
    members: dict[str, Member] = {**sizes, "motion": linearization(f, kernel).name}
    if f.derivation.zdot_holds_udot:
        members["udot"] = accelerations(f).name
    slopes, room = Derived(f.derivation.state_slopes(kernel)), f.n_z * (sizes["k"] + f.n)
    members["slopes"] = f.once(f"state_slopes_{kernel}", slopes, f.d.accelerations, room)
    return f.solved(name, "state_rows", members, f.n_z, f.n, sizes["k"])


def linearization(f: Functions, kernel: str = "linearize") -> Function:
    """A derivative of q̇ and u̇: by a program, by recursions over joints, or by solving equations."""
    name = f"{'motion' if f.n_z else 'compute'}_{kernel}"
    if name in f.by_name:
        return f.by_name[name]
    slopes = f.derivation.linearization(kernel)
    if slopes.vanishes:
        return f.straight(name, Derived((0,) * ((f.n_q + f.n) * len(VARIABLES[kernel](f.d)))))
    method = way_of_slopes(slopes)
    if method is Way.RECURSION:
        assert slopes.forest is not None
        return joint_trees(f, name, slopes.forest)
    if method is Way.PROGRAM:
        assert slopes.solution is not None
        return _by_program(f, name, kernel, slopes.solution)
    if method is Way.REDUCED:
        assert slopes.reduced is not None
        return _reduced_slopes(f, name, kernel, slopes.reduced)
    return _solved_slopes(f, name, kernel)


def _by_program(f: Functions, name: str, kernel: str, derived: Derived) -> Function:
    """A derivative by a program, with the general method as an alternative if a pivot may be small."""
    program = straight_line(f.g, derived, f.leaves, f.n)
    if always_holds(program, f.derivation):
        return f.of_program(name, program, 0, is_brief(program))
    members = {
        "otherwise": _solved_slopes(f, f"general_{kernel}", kernel).name,
        "shortly": f.of_program(f"short_{kernel}", program, 0, is_brief(program)).name,
    }
    return f.solved(name, "short_way", members)


def _reduced_slopes(f: Functions, name: str, kernel: str, slopes: ReducedSlopes) -> Solved:
    """A derivative of q̇ and u̇ from the reduced equations."""
    solving, columns = f.derivation.solving, len(VARIABLES[kernel](f.d))
    assert solving is not None
    motion, sizes = found_motion(f, solving, f.derivation.fronts)
    members: dict[str, Member] = {
        **motion,
        "k": columns,
        "n_q": f.n_q,
        "slopes": f.once(f"slopes_{kernel}", Derived(slopes.roots), f.solution, 0, None),
        "otherwise": _solved_slopes(f, f"general_{kernel}", kernel).name,
    }
    if len(solving.speeds) < f.n:
        members["speeds"] = solving.speeds
        members["followers"] = tuple(i for i in range(f.n) if i not in solving.speeds)
    return f.solved(name, "reduced_linearization", members, *sizes, columns, f.n_q)


def _solved_slopes(f: Functions, name: str, kernel: str) -> Solved:
    """A derivative of q̇ and u̇ that solves equations, all columns of the result at once."""
    slopes, columns, n, m = f.derivation.linearization(kernel), len(VARIABLES[kernel](f.d)), f.n, f.m
    members: dict[str, Member] = {
        "equations": Equations(n, m, columns, symmetric=f.derivation.symmetric),
        "n_q": f.n_q,
        **at_solution(f),
    }
    if slopes.seeds:
        members["parts"] = equation_parts(f, "mass_matrix", "jacobian", "sums")
        roots, room = slopes.column, f.n_q + n + m
        members["column"] = f.along(f"column_{kernel}", roots, f.solution, slopes.seeds, room, in_core=False)
    else:
        members["fill"] = f.once(f"fill_{kernel}", Derived((*slopes.equations, *slopes.rates)), f.solution)
    solver = "linearization" if m else "free_linearization"
    return f.solved(name, solver, members, f.n_q, n, m, columns)


def joint_trees(f: Functions, name: str, forest: Forest, in_core: bool = True) -> Solved:
    """The linearization of trees of joints; in shorter functions if it is rarely called."""
    trees, largest = forest.trees, max(len(tree.speed) for tree in forest.trees)
    loads, columns, one = forest.loads, f.d.n_x + f.n_r, f.g.one
    at = [i for i, x in enumerate(loads) if x]
    places = {i * columns + j: x for (i, j), x in forest.rates.items()}
    ones = tuple(place for place, x in places.items() if x == one)
    others = {place: x for place, x in places.items() if x != one}
    numbers = 3 * len(trees) + sum(len(tree.turned) for tree in trees)
    members: dict[str, Member] = {
        "equations": Equations(largest, 0),
        "n_q": f.n_q,
        "n": f.n,
        "columns": columns,
        "trees": len(trees),
        "size": tuple(len(tree.speed) for tree in trees),
        "n_free": tuple(tree.free for tree in trees),
        "width": tuple(len(tree.columns) for tree in trees),
        "parent": tuple(x for tree in trees for x in tree.parent),
        "first": tuple(x for tree in trees for x in tree.first),
        "limb_end": tuple(x for tree in trees for x in tree.limb_ends),
        "speed": tuple(x for tree in trees for x in tree.speed),
        "runs": tuple(len(tree.runs) for tree in trees),
        "run": tuple(x for tree in trees for run in tree.runs for x in run),
        "turns": tuple(len(tree.turned) for tree in trees),
        "turn": tuple(x for tree in trees for pair in tree.turned for x in pair),
        "joints": f.once("fill_joints", Derived(forest.joints), in_core=in_core),
        "loads": f.once("fill_loads", Derived(tuple(loads[i] for i in at))),
        "loaded": len(at),
        "at": tuple(at),
        "n_ones": len(ones),
        "ones": ones,
        "n_others": len(others),
        "others_at": tuple(others),
        "numbers": numbers,
        "room": len(loads),
    }
    if others:
        members["others"] = f.once("fill_others", Derived(tuple(others.values())))
    filled = max(len(at), len(others))
    return f.solved(name, "forest", members, f.n, largest, numbers, len(loads), filled)


def output_jacobian(f: Functions, derived: Derived) -> Function:
    """Jacobian of outputs in u̇, by the chain rule, from the derivatives of u̇."""
    n_y, columns = len(f.d.outputs), f.d.n_x + f.n_r
    sizes = (n_y, f.n_q, f.n, columns)
    members: dict[str, Member] = {
        **dict(zip(("n_y", "n_q", "n", "k"), sizes, strict=True)),
        "udot": accelerations(f).name,
        "linearize": linearization(f).name,
    }
    between = (f.n_q + f.n) * columns + len(derived.roots)
    members["slopes"] = f.once("slopes_of_outputs", Derived(derived.roots), f.d.accelerations, between)
    return f.solved("compute_output_jacobian", "chain", members, *sizes)
