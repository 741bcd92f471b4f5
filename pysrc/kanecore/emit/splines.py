# SPDX-License-Identifier: BSD-3-Clause
"""Splines in C: a table of each that some programs need, behind the header of the runtime that evaluates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kanecore.program.instructions import Apply, Instruction
from kanecore.splines import Spline

from .c import C

__all__ = ["HEADER", "splines", "table"]

HEADER = "spline.h"

OUTSIDE = {True: "KC_EXTRAPOLATED", False: "KC_NOWHERE", "periodic": "KC_PERIODIC"}
AXES = "xy"
PER_LINE = 4  # numbers


def splines(instructions: Iterable[Instruction]) -> list[Spline]:
    """Those that are applied, each once, in order of appearance."""
    applied = (each.data for each in instructions if isinstance(each, Apply))
    return list(dict.fromkeys(data for data in applied if isinstance(data, Spline)))


def table(target: C, spline: Spline) -> str:
    """The knots along each argument, and what is known at each knot."""
    name = target.table(spline)
    arrays = {f"{name}_{axis}": knots for axis, knots in zip(AXES, spline.knots, strict=False)}
    axes = ", ".join(f"{{{array}, {len(knots)}}}" for array, knots in arrays.items())
    arrays[f"{name}_f"] = spline.hermite
    text = "".join(
        f"static const {target.real} {array}[] = {{\n{''.join(_lines(target, numbers.flat))}}};\n"
        for array, numbers in arrays.items()
    )
    outside = OUTSIDE[spline.extrapolate]
    return f"{text}static const kc_spline {name} = {{{{{axes}}}, {name}_f, {outside}}};\n\n"


def _lines(target: C, numbers: Iterable[float]) -> Iterator[str]:
    values = list(numbers)
    for i in range(0, len(values), PER_LINE):
        yield f"    {target.numbers(values[i : i + PER_LINE])},\n"
