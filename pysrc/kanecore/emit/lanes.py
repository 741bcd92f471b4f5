# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C on packs of numbers: one state in each lane, with the bits that it has alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanecore.graph.scalars import Op
from kanecore.program.instructions import Apply, Call
from kanecore.program.solved import Function, Solved, Straight

from .c import C, Singles, part_names
from .solved import WAYS, own_room, structure

__all__ = ["Lanes", "SingleLanes", "below", "in_lanes", "in_parts", "lane_function"]

_OF_PACKS = {Op.ABS: "kc_abs", Op.SQRT: "kc_sqrt"}  # of wide.h; what is not there is called lane by lane


class Lanes(C):
    """Several states at once, by the vector extensions of gcc and clang.

    The function of a program returns a mask of the lanes that end without results, ``failed``; the others go on.
    """

    real = "kc_real"
    several = False
    each_lane = " * KC_PACK"
    outcome = "kc_mask"
    headers = ("prelude.h", "double.h", "bits.h", "sincos.h", "pack.h", "sincos.h", "wide.h", "rows.h")

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value)})"

    def library(self, op: str) -> str:
        return _OF_PACKS.get(op) or f"kc_each_{super().library(op)}"

    def choice(self, condition: str, one: str, other: str) -> str:
        return f"kc_pick((kc_mask)({condition}), {one}, {other})"

    def end_unless(self, condition: str, fault: str) -> str:
        return f"failed |= ~(kc_mask)({condition});"

    def in_turn(self, names: Sequence[str]) -> list[str]:
        return [f"failed |= {name}(t, x, r, c, w, out);" for name in names]

    def body(self, lines: Sequence[str]) -> list[str]:
        return ["kc_mask failed = {0};", *lines, "return failed;"]


class SingleLanes(Singles, Lanes):
    """The same on floats, twice as many at once."""

    headers = ("prelude.h", "single.h", *Lanes.headers[2:])

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value).removesuffix('f')})"  # which puts it there


# ------------------------------------------------------------------------------------------------------- functions
def in_lanes(name: str, functions: Mapping[str, Function]) -> bool:
    """Whether a function can be written for several states: not what calls given functions, nor every way to solve."""
    each = functions[name]
    if isinstance(each, Straight):
        return not any(isinstance(instruction, (Apply, Call)) for part in each.parts.parts for instruction in part)
    return (each.way in _CALLING or each.way in _SOLVING) and all(
        in_lanes(called, functions) for called in _called(each)
    )


def below(name: str, functions: Mapping[str, Function]) -> Iterator[str]:
    """A function with what it calls in lanes, those first."""
    each = functions[name]
    if isinstance(each, Solved):
        for called in _called(each):
            yield from below(called, functions)
    yield name


def in_parts(function: Function, functions: Mapping[str, Function]) -> list[str]:
    """What is called in turn for a function: the parts of its program, if it is one of several parts."""
    if isinstance(function, Solved) and function.way == "short_way":
        return in_parts(functions[str(function.members["shortly"])], functions)
    if isinstance(function, Straight) and len(function.parts.parts) > 1:
        return part_names(function.name, function.parts)
    return [function.name]


_OTHERS = ("otherwise", "doubt", "residuals")
"""Members that are for states at which a short way does not hold: those are left to the scalar kernel."""


def _called(solved: Solved) -> list[str]:
    """What a function calls in lanes."""
    others = set(map(solved.members.get, _OTHERS))
    return [name for name in solved.calls if name not in others]


def lane_function(target: Lanes, of: Function, functions: Mapping[str, Function]) -> str:
    """The text of a function for several states."""
    if isinstance(of, Straight):
        return target.function(of.name, of.parts)
    lines = _CALLING[of.way](of) if of.way in _CALLING else _solving(target, of)
    body = "".join(f"    {line}\n" for line in lines)
    head = f"static kc_mask {of.name}({target.arguments}, kc_real *w, kc_real *out)"
    return f"{head}\n{{\n{body}}}\n\n{own_room(of, _called(of), functions)}"


def _solving(target: Lanes, solved: Solved) -> list[str]:
    members = {name: value for name, value in solved.members.items() if name not in _OTHERS}
    return [
        *structure(target, replace(solved, members=members)),
        f"return {WAYS[solved.way].function}(&s, t, x, r, c, w, out);",
    ]


def _short_way(solved: Solved) -> list[str]:
    return [f"return {solved.members['shortly']}(t, x, r, c, w, out);"]


def _after_motion(solved: Solved) -> list[str]:
    n, taken = solved.sizes[0], sum(solved.sizes)
    lines = [f"kc_mask failed = {solved.members['udot']}(t, x, r, c, w + {taken}, w);"]
    if "multipliers" in solved.members:
        lines.append(f"failed |= {solved.members['multipliers']}(t, x, r, c, w + {taken}, w + {n});")
    return [*lines, f"return failed | {solved.members['evaluate']}(t, x, r, c, w, out);"]


_CALLING = {"short_way": _short_way, "after_motion": _after_motion}
_SOLVING = ("motion", "balance", "linearization", "free_linearization", "forest", "chain")
