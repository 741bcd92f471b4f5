# SPDX-License-Identifier: BSD-3-Clause
"""C for several states at once (SIMD lanes): programs on packs of numbers, their kernels, and the ``kc_lanes`` table.

Each lane has one state.  Its results are bit-identical to the results of a single call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanecore.emit.c_target import C, Singles, part_names
from kanecore.emit.kernel_library import Emitted, Library
from kanecore.emit.library_tables import table
from kanecore.emit.solver_calls import function, room
from kanecore.graph.expression_graph import Op
from kanecore.kernels import KERNELS
from kanecore.program.function_parts import Function, Solved, Straight
from kanecore.program.instructions import Apply, Call
from kanecore.program.way_to_solve import BRIEF

__all__ = ["LaneLibrary", "Lanes", "SingleLanes", "below", "in_lanes", "in_parts", "of_several"]

_OF_PACKS = {Op.ABS: "kc_abs", Op.SQRT: "kc_sqrt"}  # functions of lane_numbers.h; others are called lane by lane


class Lanes(C):
    """Several states at once, by the vector extensions of gcc and clang.

    The function of a program returns the mask ``failed`` of lanes without results; other lanes go on.
    """

    real = "kc_real"
    side_by_side = several = False
    each_lane = " * KC_PACK"
    outcome = "kc_mask"
    headers = (
        "prelude.h",
        "double.h",
        "number_bits.h",
        "sincos.h",
        "large_angles.h",
        "pack.h",
        "sincos.h",
        "lane_numbers.h",
        "lane_rows.h",
    )

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value)})"

    def library(self, op: str) -> str:
        return _OF_PACKS.get(op) or f"kc_each_{super().library(op)}"

    def choice(self, condition: str, if_true: str, if_false: str) -> str:
        return f"kc_pick((kc_mask)({condition}), {if_true}, {if_false})"

    def end_unless(self, condition: str, fault: str) -> str:
        return f"failed |= ~(kc_mask)({condition});"

    def in_turn(self, calls: Sequence[str]) -> list[str]:
        return [f"failed |= {call};" for call in calls]

    def body(self, lines: Sequence[str]) -> list[str]:
        return ["kc_mask failed = {0};", *lines, "return failed;"]


class SingleLanes(Singles, Lanes):
    """Lanes of floats, twice as many as of doubles."""

    headers = ("prelude.h", "single.h", *Lanes.headers[2:])

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value).removesuffix('f')})"  # which puts it there


# ------------------------------------------------------------------------------------------------------- functions
_OTHERS = ("otherwise", "doubt", "residuals")
"""Members for states at which a short method fails; such states are left to the scalar kernel."""

_IN_LANES = (
    *("short_way", "after_motion", "motion", "front_motion", "front_balance", "balance"),
    *("linearization", "free_linearization", "reduced_linearization", "forest", "chain", "state_rows"),
    *("composites", "inverse", "product", "general_product", "free_product", "hessian", "factored_hessian"),
)
"""Solvers that the runtime has for several states."""


def of_several(functions: Mapping[str, Function]) -> dict[str, Function]:
    """Functions in their form for several states."""
    return {name: _without_others(each) if isinstance(each, Solved) else each for name, each in functions.items()}


def _without_others(solved: Solved) -> Solved:
    members = {name: value for name, value in solved.members.items() if name not in _OTHERS}
    if solved.solver == "motion" and "otherwise" in solved.members:
        members["clear"] = 1
    return replace(solved, members=members)


def in_lanes(name: str, functions: Mapping[str, Function]) -> bool:
    """Test whether a function can be written for several states: without given functions, and with a solver in lanes.

    Long programs along directions are left to single states, since their directions fill packs as well: programs of
    several states would outgrow the cache.
    """
    each = functions[name]
    if isinstance(each, Straight):
        if each.directions is not None and sum(map(len, each.parts.parts)) > BRIEF:
            return False
        return not any(isinstance(instruction, (Apply, Call)) for part in each.parts.parts for instruction in part)
    return each.solver in _IN_LANES and all(in_lanes(called, functions) for called in each.calls)


def below(name: str, functions: Mapping[str, Function]) -> Iterator[str]:
    """All functions that a function calls, then the function."""
    for called in functions[name].calls:
        yield from below(called, functions)
    yield name


def in_parts(function: Function, functions: Mapping[str, Function]) -> list[str]:
    """Names of the functions that are called in turn for a function, the parts of its program."""
    if isinstance(function, Solved) and function.solver == "short_way":
        return in_parts(functions[str(function.members["shortly"])], functions)
    if isinstance(function, Straight) and len(function.parts.parts) > 1:
        return part_names(function.name, function.parts)
    return [function.name]


class LaneLibrary(Library):
    """C text with the kernels of a group for several states side by side, as far as lanes allow."""

    in_lanes = True
    target: Lanes

    def emitted(self) -> Emitted:
        of_kernel, operations = self.of_kernel, self.operations
        made = of_several(self.functions.by_name)
        held = {name: each for name, each in of_kernel.items() if in_lanes(each.name, made)}
        needed = dict.fromkeys(name for each in held.values() for name in below(each.name, made))
        if "rhs" in held and self.sizes["n_q"]:
            needed["compute_qdot"] = None
        functions_of_lanes = [made[name] for name in made if name in needed]
        text = [
            self.opening({name: operations[name] for name in held}),
            '#include "kanecore.h"\n\n',
            *self.runtime(functions_of_lanes),
            *(function(self.target, each, made) for each in functions_of_lanes),
            f"enum {{ LANE_WORK = {room(needed, made)} }};\n\n",
            *(self._lanes(name, each) for name, each in held.items()),
            self._lane_prepare() if self._prepares_lanes else "",
            self._lane_table(held),
            table(replace(self.contents("0"), entries=[], prepares=False, lanes=True), self.target),
        ]
        return Emitted("".join(text), {name: operations[name] for name in held})

    @property
    def _prepares_lanes(self) -> bool:
        """Test whether lanes prepare constants; the rank of G, and addresses, are left to kc_model."""
        return self.prepares and not self.d.constraints and not self.d.functions

    def _lanes(self, name: str, function: Function) -> str:
        """A kernel for several states: each part of a program runs for all blocks while it is in the cache."""
        n_q = self.sizes["n_q"] if name == "rhs" else 0
        calls = [(part, n_q) for part in in_parts(function, self.functions.by_name)]
        calls += [("compute_qdot", 0)] if n_q else []
        n, n_x, n_r = self.n_results(name), self._state_length(name), len(self.d.inputs)
        lines = ["kc_mask failed[KC_MOST_BLOCKS] = {{0}};"]
        for part, first in calls:
            out = f"out + b * {n}{f' + {first}' if first else ''}"
            lines.append("for (uint32_t b = 0; b < n_blocks; b++)")
            lines.append(
                f"    failed[b] |= {part}(t[b], x + b * {n_x}, r + b * {n_r}, c, work + b * LANE_WORK, {out});"
            )
        lines.append("for (uint32_t b = 0; b < n_blocks; b++)")
        lines.append(f"    undone[b] = kc_undone(failed[b], {n}, out + b * {n});")
        text = "".join(f"    {line}\n" for line in lines)
        number = self.target.number
        return (
            f"static void of_lanes_{name}(uint32_t n_blocks, const kc_real *t, const kc_real *x, const kc_real *r, "
            f"const kc_real *c, kc_real *work, kc_real *out, uint32_t *undone)\n{{\n{text}}}\n\n"
            f"static void lanes_{name}(uint32_t n_blocks, const {number} *t, const {number} *x, const {number} *r, "
            f"const {number} *c, {number} *work, {number} *out, uint32_t *undone)\n"
            f"{{\n    of_lanes_{name}(n_blocks, KC_ARRAYS(t, x, r, c, work, out), undone);\n}}\n\n"
        )

    def _state_length(self, name: str) -> int:
        """Number of entries of x that a kernel reads."""
        kernel, sizes = next(kernel for kernel in KERNELS if kernel.name == name), self.sizes
        beyond = kernel.reads_udot * sizes["n_u"] + kernel.reads_multipliers * sizes["n_constraints"]
        return sizes["n_x"] + beyond + sum(kernel.further(sizes))

    def _lane_prepare(self) -> str:
        number = self.target.number
        return self.preparation("of_lanes_prepare") + (
            f"static void prepare_lanes(const {number} *p, {number} *c)\n"
            "{\n    of_lanes_prepare((const kc_real *)p, (kc_real *)c);\n}\n\n"
        )

    def _lane_table(self, held: Mapping[str, Function]) -> str:
        target = self.target
        members = {
            "struct_size": "sizeof(kc_lanes)",
            "n_lanes": "KC_PACK",
            "n_prepared": str(self.n_prepared),
            "n_work": "LANE_WORK",
            "gather": target.stored("kc_gather_rows", "kc_gather"),
            "scatter": target.stored("kc_scatter_rows", "kc_scatter"),
            "gather_blocks": target.stored("kc_gather_blocks", "kc_gather_blocks_of_rows"),
            "scatter_blocks": target.stored("kc_scatter_blocks", "kc_scatter_blocks_of_rows"),
            **({"prepare": target.stored("kc_prepare", "prepare_lanes")} if self._prepares_lanes else {}),
            **{name: target.stored("kc_lane_kernel", f"lanes_{name}") for name in held},
        }
        body = "".join(f"    .{member} = {value},\n" for member, value in members.items())
        return f"static const kc_lanes lanes = {{\n{body}}};\n\n"
