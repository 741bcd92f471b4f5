# SPDX-License-Identifier: BSD-3-Clause
"""C text of a compiled model as functions that CasADi calls: its kernels, programs of derivatives, sparsities."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kanecore.derive.adjoints import VARIABLES, Adjoints, adjoints
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.sparsity_patterns import patterns, second_pattern
from kanecore.emit.directional_c import DIRECTIONS, Along
from kanecore.emit.kernel_library import Library
from kanecore.emit.library_tables import string
from kanecore.errors import ModelError
from kanecore.program.function_parts import cut
from kanecore.program.instructions import Entry, Operand
from kanecore.program.straight_line import straight_line
from kanecore.statuses import NUMBER_OF

from .c_source import filled
from .casadi_directions import NUMBERS, NUMBERS_OF_CHANGES
from .exported_library import library_of

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["text"]

KERNELS = (
    *("rhs", "udot", "qdot", "mass_matrix", "constraint_jacobian", "multipliers"),
    *("linearize", "rhs_time_derivative", "rhs_parameter_jacobian"),
)
"""Kernels that the functions call."""

PARTS = ("calls", "slopes", "gradient", "hessian", "interface")
"""The files that the functions are written from, in their order."""


def text(dyn: Evaluator, name: str, wrt: Container[str] = VARIABLES) -> str:
    """The C of the functions."""
    library = library_of(dyn, "a function of CasADi", kernels=KERNELS)
    missing = [kernel for kernel in ("linearize", "rhs_time_derivative") if kernel not in library.of_kernel]
    if missing:
        raise ModelError(f"{dyn.name!r} has no {', '.join(missing)}, which derivatives in CasADi are made of")
    if library.derivation.zdot_holds_udot:
        raise ModelError(
            f"{dyn.name!r} has no function of CasADi: rates of its states ({', '.join(dyn.state_names)}) hold "
            "derivatives of speeds or multipliers, which are solved for: write them in coordinates, speeds and states"
        )
    backwards = adjoints(library.derivation, wrt)
    programs = {program: getattr(backwards, program) for program in PROGRAMS}
    library = Library(
        library.derivation, {**library.kernels, **programs}, library.kernels, library.group, library.defaults
    )
    library.also = ("directions.h", "linear_solver.h")
    emitted = library.emitted().text
    functions, width = _programs(library, backwards, programs)
    return emitted + functions + _functions(library, name, wrt, width)


PROGRAMS = ("gradient", "tangent", "change")


def _programs(library: Library, backwards: Adjoints, programs: Mapping[str, Derived]) -> tuple[str, int]:
    """The functions of the programs, and how much scratch they take."""
    beyond = library.sizes["n_x"] + library.sizes["n_u"] + library.sizes["n_constraints"]
    leaves = library.symbols | library.prepared
    leaves |= {node: Operand(Entry("x", i)) for i, node in enumerate(backwards.point, beyond)}
    leaves |= {node: Operand(Entry(DIRECTIONS, i)) for i, node in enumerate(backwards.direction)}
    n_u, texts, width = library.sizes["n_u"], [], 0
    for name, derived in programs.items():
        parts = cut(straight_line(library.g, derived, leaves, n_u), 0, in_core=True)
        texts.append(Along().function(f"along_{name}", parts))
        width = max(width, parts.width)
    return "".join(texts), width


def _functions(library: Library, name: str, wrt: Container[str], width: int) -> str:
    sizes = library.sizes
    constraints = sizes["n_constraints"]
    values = {
        "NQ": str(sizes["n_q"]),
        "NU": str(sizes["n_u"]),
        "NS": str(sizes["n_z"]),
        "NR": str(sizes["n_r"]),
        "NP": str(sizes["n_p"]),
        "NM": str(constraints),
        "NC": str(library.n_prepared),
        "NWORK": library.n_work,
        "WIDTH": str(width),
        "INTEGER": "long long int",
        "SINGULAR": str(NUMBER_OF["singular"]),
        "LOST": str(NUMBER_OF["lost"]),
        "SPEEDS": ", ".join(map(string, library.d.speed_names)) or '""',
        "CONSTRAINTS": ", ".join(string(constraint.name) for constraint in library.d.constraints) or '""',
        **{f"BY_{variable.upper()}": str(int(variable in wrt)) for variable in VARIABLES},
        "KERNEL_BY_P": "kernel_rhs_parameter_jacobian" if "rhs_parameter_jacobian" in library.of_kernel else "NULL",
        "SYMMETRIC": str(int(library.derivation.symmetric)),
        "ROWS": _ROWS if constraints else "    (void)rows;\n",
        "REDUNDANT_ROW": _REDUNDANT_ROW if constraints else "    (void)s, (void)place;\n    return -1;\n",
        "SPARSITY": _sparsity(library, wrt),
        "NAMES": _names(),
        "DIRECTIONS": "".join(f"CA_FULL({n})\nCA_CHANGES({n})\n" for n in NUMBERS_OF_CHANGES)
        + "".join(f"CA_EMPTY({n})\nCA_ALONG({n})\nCA_OF_ADJOINTS({n})\n" for n in NUMBERS),
    }
    return "".join(filled(f"casadi_{part}.c", name, values) for part in PARTS)


_ROWS = """\
    if (ca_ask(s, kernel_multipliers, s->x, at + NX + NU) || ca_ask(s, kernel_constraint_jacobian, s->x, rows))
        return 1;
"""


_REDUNDANT_ROW = """\
    double *const mass = place->inverse + NY * NY, *const rows = mass + NU * NU, *const matrix = rows + NM * NU;
    double scale[NU], peak[NM], peak_at[NM];
    int column[NU], order[NM];
    kc_saddle e = {.n = NU, .m = NM, .count = (int)s->c[NC - 1], .purpose = KC_MOTION, .G = rows, .scale = scale};
    e.column = column, e.order = order, e.peak = peak, e.peak_at = peak_at;
    kc_weigh(&e, mass, NU + 1);
    kc_forget_terms(&e);
    kc_reduce_shared(&e);
    for (int i = e.rank; i < NM; i++)
        if (matrix[(NU + order[i]) * (NY + 1)] == 0.0) /* no row that is zero, which says nothing */
            return order[i];
    return -1;
"""


def _names() -> str:
    by = [*VARIABLES, "out_xdot", "adj_xdot"]
    names = ", ".join(f'"jac_adj_{of}_{wrt}"' for of in VARIABLES for wrt in by)
    return f"static const char *const ca_second_names[] = {{{names}}};\n"


# ----------------------------------------------------------------------------------------------------- sparsity

Rows = Sequence[int]  # of a pattern: bits are columns


def _sparsity(library: Library, wrt: Container[str]) -> str:
    """The patterns of all arguments and results, column by column as CasADi has them."""
    sizes, derivation = library.sizes, library.derivation
    n_x, n_r, n_p = sizes["n_x"], sizes["n_r"], sizes["n_p"]
    lengths = {"t": 1, "x": n_x, "r": n_r, "p": n_p}
    of_kernels = {kernel: [int(row, 16) for row in rows] for kernel, rows in patterns(derivation).items()}
    by_z = of_kernels["linearize"]
    first: dict[str, Rows] = {
        "t": of_kernels["rhs_time_derivative"],
        "x": [row & ((1 << n_x) - 1) for row in by_z],
        "r": [row >> n_x for row in by_z],
        "p": of_kernels.get("rhs_parameter_jacobian", [0] * n_x),
    }
    first = {by: rows if by in wrt else [0] * n_x for by, rows in first.items()}
    lines = [_pattern(f"ca_pattern_xdot_{by}", first[by], lengths[by]) for by in VARIABLES]
    second = _second(first, second_pattern(derivation), lengths)
    second = {(of, by): rows for (of, by), rows in second.items() if of in wrt and (by in wrt or by == "adj_xdot")}
    for of in VARIABLES:
        for by in (*VARIABLES, "out_xdot", "adj_xdot"):
            rows = second.get((of, by), [0] * lengths[of])
            width = lengths.get(by, n_x)
            lines.append(_pattern(f"ca_second_{of}_{by}", rows, width))
    lines += [
        _list("ca_patterns_jac", [f"ca_pattern_xdot_{by}" for by in VARIABLES]),
        _list(
            "ca_patterns_of_second",
            [f"ca_second_{of}_{by}" for of in VARIABLES for by in (*VARIABLES, "out_xdot", "adj_xdot")],
        ),
    ]
    return "".join(lines)


def _second(first: dict[str, Rows], of_z: Rows, lengths: dict[str, int]) -> dict[tuple[str, str], list[int]]:
    """The patterns of the adjoint's derivatives: by x and r as derived, by t and p full where ẋ depends on them."""
    n_x = lengths["x"]
    depends = {by: _union(first[by]) for by in VARIABLES}
    result = {}
    for of in VARIABLES:
        for by in VARIABLES:
            if {of, by} <= {"x", "r"}:
                begin, offset = (0 if of == "x" else n_x), (0 if by == "x" else n_x)
                mask = (1 << lengths[by]) - 1
                result[of, by] = [row >> offset & mask for row in of_z[begin : begin + lengths[of]]]
            else:
                result[of, by] = [depends[by] if depends[of] >> i & 1 else 0 for i in range(lengths[of])]
        result[of, "adj_xdot"] = _transposed(first[of], lengths[of])
    return result


def _union(rows: Iterable[int]) -> int:
    total = 0
    for row in rows:
        total |= row
    return total


def _transposed(rows: Rows, width: int) -> list[int]:
    return [sum(1 << i for i, row in enumerate(rows) if row >> j & 1) for j in range(width)]


def _pattern(name: str, rows: Rows, width: int) -> str:
    """Numbers of rows and columns, where each column begins, and the rows of its entries."""
    columns = [[i for i, row in enumerate(rows) if row >> j & 1] for j in range(width)]
    begins = [sum(map(len, columns[:j])) for j in range(width + 1)]
    numbers = [len(rows), width, *begins, *(i for column in columns for i in column)]
    return f"static const casadi_int {name}[] = {{{', '.join(map(str, numbers))}}};\n"


def _list(name: str, items: Sequence[str]) -> str:
    return f"static const casadi_int *const {name}[] = {{{', '.join(items)}}};\n"
