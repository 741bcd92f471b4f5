# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C on packs of numbers: one state in each lane, with the bits that it has alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanecore.graph.scalars import Op
from kanecore.program.instructions import Apply, Call
from kanecore.program.solved import Function, Solved, Straight

from .c import C, Singles, part_names

__all__ = ["Lanes", "SingleLanes", "below", "in_lanes", "in_parts", "of_several"]

_OF_PACKS = {Op.ABS: "kc_abs", Op.SQRT: "kc_sqrt"}  # of wide.h; what is not there is called lane by lane


class Lanes(C):
    """Several states at once, by the vector extensions of gcc and clang.

    The function of a program returns a mask of the lanes that end without results, ``failed``; the others go on.
    """

    real = "kc_real"
    several = False
    each_lane = " * KC_PACK"
    outcome = "kc_mask"
    headers = ("prelude.h", "double.h", "bits.h", "sincos.h", "far.h", "pack.h", "sincos.h", "wide.h", "rows.h")

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value)})"

    def library(self, op: str) -> str:
        return _OF_PACKS.get(op) or f"kc_each_{super().library(op)}"

    def choice(self, condition: str, one: str, other: str) -> str:
        return f"kc_pick((kc_mask)({condition}), {one}, {other})"

    def end_unless(self, condition: str, fault: str) -> str:
        return f"failed |= ~(kc_mask)({condition});"

    def in_turn(self, calls: Sequence[str]) -> list[str]:
        return [f"failed |= {call};" for call in calls]

    def body(self, lines: Sequence[str]) -> list[str]:
        return ["kc_mask failed = {0};", *lines, "return failed;"]


class SingleLanes(Singles, Lanes):
    """The same on floats, twice as many at once."""

    headers = ("prelude.h", "single.h", *Lanes.headers[2:])

    def constant(self, value: float) -> str:
        return f"KC_REAL({self.literal(value).removesuffix('f')})"  # which puts it there


# ------------------------------------------------------------------------------------------------------- functions
_OTHERS = ("otherwise", "doubt", "residuals")
"""Members that are for states at which a short way does not hold: those are left to the scalar kernel."""

_WAYS = (
    *("short_way", "after_motion", "motion", "balance"),
    *("linearization", "free_linearization", "forest", "chain"),
)
"""Those that the runtime has for several states."""


def of_several(functions: Mapping[str, Function]) -> dict[str, Function]:
    """The functions as they serve several states."""
    return {name: _without_others(each) if isinstance(each, Solved) else each for name, each in functions.items()}


def _without_others(solved: Solved) -> Solved:
    return replace(solved, members={name: value for name, value in solved.members.items() if name not in _OTHERS})


def in_lanes(name: str, functions: Mapping[str, Function]) -> bool:
    """Whether a function can be written for several states: not what calls given functions, nor every way to solve."""
    each = functions[name]
    if isinstance(each, Straight):
        return not any(isinstance(instruction, (Apply, Call)) for part in each.parts.parts for instruction in part)
    return each.way in _WAYS and all(in_lanes(called, functions) for called in each.calls)


def below(name: str, functions: Mapping[str, Function]) -> Iterator[str]:
    """A function with what it calls, those first."""
    for called in functions[name].calls:
        yield from below(called, functions)
    yield name


def in_parts(function: Function, functions: Mapping[str, Function]) -> list[str]:
    """What is called in turn for a function: the parts of its program, if it is one of several parts."""
    if isinstance(function, Solved) and function.way == "short_way":
        return in_parts(functions[str(function.members["shortly"])], functions)
    if isinstance(function, Straight) and len(function.parts.parts) > 1:
        return part_names(function.name, function.parts)
    return [function.name]
