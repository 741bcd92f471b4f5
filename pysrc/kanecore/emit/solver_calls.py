# SPDX-License-Identifier: BSD-3-Clause
"""Calls of the runtime's solvers in C: a structure of ``runtime/`` with its members, and the solver's function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kanecore.program.function_parts import Equations, Function, Member, Solved, Straight

from .c_target import C
from .directional_c import Along

__all__ = ["HEADERS", "SOLVERS", "Solver", "function", "headers", "room", "structure"]

HEADERS = {
    "directions.h": None,
    "vector_loops.h": None,
    "equations.h": "vector_loops.h",
    "linear_solver.h": "equations.h",
    "constraint_solver.h": "linear_solver.h",
    "fronts.h": "constraint_solver.h",
    "constrained_motion.h": "constraint_solver.h",
    "projection_and_rank.h": "constrained_motion.h",
    "projection_gradient.h": "projection_and_rank.h",
    "linearize.h": "linear_solver.h",
    "reduced_motion.h": "constraint_solver.h",
    "front_balance.h": "reduced_motion.h",
    "reduced_linearization.h": "reduced_motion.h",
    "tree_factors.h": "equations.h",
    "mass_matrix_inverse.h": "tree_factors.h",
    "motion_products.h": "linear_solver.h",
    "factored_products.h": "reduced_motion.h",
    "second_derivatives.h": "equations.h",
    "factored_hessian.h": "second_derivatives.h",
    "state_rows.h": "linear_solver.h",
    "load_faults.h": "equations.h",
    "spatial_vectors.h": "equations.h",
    "composite_bodies.h": "spatial_vectors.h",
    "tree_derivatives.h": "spatial_vectors.h",
}
"""The headers of ``runtime/`` for solvers, in order, each with the header that it builds on."""


@dataclass(frozen=True)
class Solver:
    """A solver of the runtime.

    Attributes
    ----------
    structure : str
        The type with its members.
    function : str
        Function that takes the structure, and solves.
    room : str
        The macro of the size of its arrays.
    headers : tuple of str
        Headers that define structure, function and macro.
    members : mapping of str to str
        Members of the structure for every model that uses this solver.
    attribute : str
        Macro in front of the emitted function.
    """

    structure: str
    function: str
    room: str
    headers: tuple[str, ...]
    members: Mapping[str, str] = field(default_factory=dict)
    attribute: str = ""


SOLVERS = {
    "motion": Solver("kc_motion", "kc_accelerate", "KC_MOTION_ROOM", ("constrained_motion.h",)),
    "general_motion": Solver("kc_motion", "kc_accelerate_all", "KC_MOTION_ROOM", ("constrained_motion.h",)),
    "front_motion": Solver(
        *("kc_front_motion", "kc_accelerate_fronts", "KC_FRONT_MOTION_ROOM", ("fronts.h",)),
        attribute="KC_SHORT_LOOPS",
    ),
    "free_motion": Solver("kc_free_motion", "kc_accelerate_free", "KC_FREE_MOTION_ROOM", ("linear_solver.h",)),
    "balance": Solver("kc_balance", "kc_find_multipliers", "KC_BALANCE_ROOM", ("constrained_motion.h",)),
    "front_balance": Solver(*("kc_front_balance", "kc_balance_fronts", "KC_FRONT_BALANCE_ROOM", ("front_balance.h",))),
    "return": Solver("kc_return", "kc_stabilize", "KC_RETURN_ROOM", ("constrained_motion.h",)),
    "projection": Solver("kc_projection", "kc_project", "KC_PROJECTION_ROOM", ("projection_and_rank.h",)),
    "projection_gradient": Solver(
        *("kc_projection", "kc_project_back", "KC_PROJECTION_GRADIENT_ROOM", ("projection_gradient.h",))
    ),
    "closure": Solver("kc_closure", "kc_count", "KC_COUNT_ROOM", ("projection_and_rank.h",)),
    "linearization": Solver(
        *("kc_linearization", "kc_linearize", "KC_LINEARIZATION_ROOM", ("constraint_solver.h", "linearize.h")),
        {"solve": "kc_solve_equations"},
    ),
    "free_linearization": Solver(
        *("kc_linearization", "kc_linearize", "KC_LINEARIZATION_ROOM", ("linearize.h",)),
        {"solve": "kc_solve_free"},
    ),
    "reduced_linearization": Solver(
        *("kc_reduced_linearization", "kc_linearize_reduced", "KC_REDUCED_LINEARIZATION_ROOM"),
        ("reduced_linearization.h",),
    ),
    "inverse": Solver("kc_inversion", "kc_invert", "KC_INVERSE_ROOM", ("mass_matrix_inverse.h",)),
    "product": Solver(
        *("kc_factored_product", "kc_multiply", "KC_FACTORED_PRODUCT_ROOM"),
        ("factored_products.h",),
    ),
    "hessian": Solver("kc_hessian", "kc_find_hessian", "KC_HESSIAN_ROOM", ("second_derivatives.h",)),
    "factored_hessian": Solver(
        *("kc_factored_hessian", "kc_factor_hessian", "KC_FACTORED_HESSIAN_ROOM"),
        ("factored_products.h", "second_derivatives.h", "factored_hessian.h"),
    ),
    "general_product": Solver(
        *("kc_product", "kc_multiply_generally", "KC_PRODUCT_ROOM", ("constraint_solver.h", "motion_products.h")),
        {"solve": "kc_solve_with_forces"},
    ),
    "free_product": Solver(
        *("kc_product", "kc_multiply_generally", "KC_PRODUCT_ROOM", ("motion_products.h",)),
        {"solve": "kc_solve_without_forces"},
    ),
    "forest": Solver(
        *("kc_forest", "kc_linearize_forest", "KC_FOREST_ROOM"),
        ("linear_solver.h", "tree_factors.h", "tree_derivatives.h"),
    ),
    "composites": Solver("kc_composites", "kc_fill_mass_matrix", "KC_COMPOSITES_ROOM", ("composite_bodies.h",)),
    "chain": Solver("kc_chain", "kc_chain_rule", "KC_CHAIN_ROOM", ("linearize.h",)),
    "asked": Solver("kc_asked", "kc_ask", "KC_ASKED_ROOM", ("load_faults.h",)),
    "matrix_product": Solver(
        *("kc_matrix_product", "kc_multiply_matrix", "KC_MATRIX_PRODUCT_ROOM", ("motion_products.h",))
    ),
    "state_rows": Solver("kc_state_rows", "kc_add_state_rows", "KC_STATE_ROWS_ROOM", ("state_rows.h",)),
}


def headers(target: C, functions: Iterable[Function], also: Iterable[str] = ()) -> list[str]:
    """Headers of the runtime that some functions need, with ``also`` and all headers below, in order."""
    needed: set[str | None] = set()
    for header in (*also, *(header for each in functions for header in _own_headers(target, each))):
        below: str | None = header
        while below is not None:
            needed.add(below)
            below = HEADERS[below]
    return [header for header in HEADERS if header in needed]


def _own_headers(target: C, function: Function) -> tuple[str, ...]:
    """Headers with the runtime functions that a function calls directly."""
    if isinstance(function, Straight):
        packs = ("directions.h",) if target.side_by_side and function.directions is not None else ()
        return (*packs, *(("vector_loops.h",) if function.parts.clear else ()))
    by_fronts = ("fronts.h",) if any(name.endswith("fronts.sizes") for name in function.members) else ()
    return (*by_fronts, *SOLVERS[function.solver].headers) if function.solver in SOLVERS else ()


def function(target: C, function: Function, functions: Mapping[str, Function]) -> str:
    """C text of a function.  The text of a solver ends with the size of its scratch, with that of called functions."""
    if isinstance(function, Straight):
        writer = Along(function.directions) if function.directions is not None and target.side_by_side else target
        return writer.function(function.name, function.parts)
    attribute = SOLVERS[function.solver].attribute if function.solver in SOLVERS else ""
    head = f"static {target.outcome} {function.name}({target.arguments}, {target.real} *w, {target.real} *out)"
    head = f"{attribute} {head}" if attribute else head
    if function.solver in _CALLING:
        lines = _CALLING[function.solver](target, function)
    else:
        lines = [*structure(target, function), f"return {SOLVERS[function.solver].function}(&s, t, x, r, c, w, out);"]
    text = "".join(f"    {line}\n" for line in lines)
    return f"{head}\n{{\n{text}}}\n\n{_own_room(function, functions)}"


def structure(target: C, solved: Solved) -> list[str]:
    """Statements that declare the structure ``s`` of a solver."""
    arrays = {name: value for name, value in solved.members.items() if isinstance(value, tuple) and value}
    types = {"unit": "uint32_t"}  # as in kc_model
    lines = [
        f"static const {types.get(name, 'int')} {_array(name)}[] = {{{', '.join(map(str, values))}}};"
        for name, values in arrays.items()
    ]
    if isinstance(equations := solved.members.get("equations"), Equations):
        n, m = max(equations.n, 1), max(equations.m, 1)
        lines += [
            f"int column[{n}{target.each_lane}], order[{m}], place[{n}], begin[{m}] = {{0}}, end[{m}] = {{0}};",
            f"{target.real} peak[{m}], peak_at[{m}];",
            f"kc_saddle equations = {_equations(equations)};",
        ]
    all_members = {**solved.members, **SOLVERS[solved.solver].members}
    members = [f".{name} = {_member(name, value)}," for name, value in all_members.items() if value != ()]
    return [
        *lines,
        f"{SOLVERS[solved.solver].structure} s = {{",
        *(f"    {member}" for member in members),
        "};",
    ]


def _equations(equations: Equations) -> str:
    purpose = "KC_CORRECTION" if equations.correction else "KC_MOTION"
    arrays = ("column", "order", "place", "begin", "end", "peak", "peak_at")
    return (
        f"{{.n = {equations.n}, .m = {equations.m}, .k = {equations.k}, .purpose = {purpose}, .symmetric = "
        f"{int(equations.symmetric)}, {', '.join(f'.{name} = {name}' for name in arrays)}}}"
    )


def _array(name: str) -> str:
    """Name of the array of a member, which may be that of a structure within."""
    return name.replace(".", "_")


def _member(name: str, value: Member) -> str:
    match value:
        case Equations():
            return "&equations"
        case tuple():
            return _array(name)
        case Mapping():
            return "{" + ", ".join(f".{part} = {function}" for part, function in value.items()) + "}"
    return str(value)


def _after_motion(target: C, solved: Solved) -> list[str]:
    """Statements that compute accelerations and multipliers at the start of the scratch, and then use them."""
    n, taken = solved.sizes[0], sum(solved.sizes)
    calls = [f"{solved.members['udot']}(t, x, r, c, w + {taken}, w)"]
    if "multipliers" in solved.members:
        calls.append(f"{solved.members['multipliers']}(t, x, r, c, w + {taken}, w + {n})")
    return target.body(target.in_turn([*calls, f"{solved.members['evaluate']}(t, x, r, c, w, out)"]))


def _short_way(target: C, solved: Solved) -> list[str]:
    """Statements that try the short method, then the other; without pivots the short one names the speed."""
    shortly = f"{solved.members['shortly']}(t, x, r, c, w, out)"
    if "otherwise" not in solved.members:
        return [f"return {shortly};"]
    return [
        f"const int fault = {shortly};",
        "if (!KC_UNLIKELY(fault)) return 0;",
        f"const int other = {solved.members['otherwise']}(t, x, r, c, w, out);",
        "return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;",
    ]


_CALLING = {"after_motion": _after_motion, "short_way": _short_way}
"""Kinds of functions that call other functions, and solve nothing themselves."""


# ---------------------------------------------------------------------------------------------------- scratch
def room(names: Iterable[str], functions: Mapping[str, Function]) -> str:
    """Size of scratch for any of some functions, a constant expression: the largest of their sizes."""
    widths, rooms = [0], list[str]()
    for name in dict.fromkeys(names):
        each = functions.get(name)
        if isinstance(each, Straight) and each.directions is not None:
            rooms.append(f"KC_COLUMNS({each.parts.width})")
        elif isinstance(each, Straight):
            widths.append(each.parts.width)
        elif each is not None:
            rooms.append(_room_name(name))
    number = max(widths)
    return _most([str(number), *rooms] if number or not rooms else rooms)


def _most(sizes: Sequence[str]) -> str:
    """The largest of some sizes, by halves: the macro repeats its arguments, so a chain would double each time."""
    if len(sizes) == 1:
        return sizes[0]
    half = len(sizes) // 2
    return f"KC_MOST({_most(sizes[:half])}, {_most(sizes[half:])})"


def _room_name(name: str) -> str:
    return f"ROOM_{name}"


def _own_room(solved: Solved, functions: Mapping[str, Function]) -> str:
    """Constant for the scratch of a function: its arrays, then the scratch of the functions that it calls.

    Alternatives to the function use the whole scratch.
    """
    instead = [name for name in map(solved.members.get, ("otherwise", "shortly")) if name is not None]
    called = room((name for name in solved.calls if name not in instead), functions)
    own = f"{_arrays(solved)} + {called}"
    most = f"KC_MOST({own}, {room(sorted(map(str, instead)), functions)})" if instead else own
    return f"enum {{ {_room_name(solved.name)} = {most} }};\n\n"


def _arrays(solved: Solved) -> str:
    if solved.solver in SOLVERS:
        return f"{SOLVERS[solved.solver].room}({', '.join(map(str, solved.sizes))})"
    return str(sum(solved.sizes))
