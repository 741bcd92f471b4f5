# SPDX-License-Identifier: BSD-3-Clause
"""Size of the functions' scratch, as a number: the values of the macros of the runtime."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from kanecore.program.function_parts import Function, Solved, Straight

from .solver_calls import SOLVERS

__all__ = ["arrays", "taken", "widest"]

_RUNTIME = Path(__file__).with_name("runtime")
_MACRO = re.compile(r"#define (KC_\w+_ROOM)\(([^)]*)\)((?:.*\\\n)*.*)")
_STRUCTURE = re.compile(r"typedef struct (kc_\w+) \{([^}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MEMBERS = re.compile(r"(kc_\w+) ([^;(*]*);")


MOST_LANES = 8  # largest number of directions side by side


def widest(functions: Mapping[str, Function]) -> int:
    """Size of scratch for any of some functions, which call each other; in numbers."""
    return max(taken(functions).values(), default=0)


def taken(functions: Mapping[str, Function]) -> dict[str, int]:
    """Size of each function's scratch, in numbers, with that of the functions it calls."""
    result: dict[str, int] = {}
    for name, function in functions.items():
        if isinstance(function, Straight):
            result[name] = function.parts.width * (MOST_LANES if function.directions is not None else 1)
            continue
        instead = [str(other) for other in map(function.members.get, ("otherwise", "shortly")) if other is not None]
        called = max((result.get(call, 0) for call in function.calls if call not in instead), default=0)
        result[name] = max(arrays(function) + called, *(result.get(other, 0) for other in instead), 0)
    return result


def arrays(function: Solved) -> int:
    """Size of a function's own arrays, in numbers."""
    return _value(SOLVERS[function.solver].room, function.sizes) if function.solver in SOLVERS else sum(function.sizes)


def _value(macro: str, sizes: tuple[int, ...]) -> int:
    parameters, body = _macros()[macro]
    names: dict[str, Any] = dict(zip(parameters, sizes, strict=True))
    for name in _macros():
        names[name] = partial(_called, name)
    names |= {"KC_EIGHTS": _eights, "KC_MOST": max, "KC_NUMBERS": _numbers_of, **{name: name for name in _structures()}}
    return int(eval(body, {"__builtins__": {}}, names))


def _called(macro: str, *sizes: int) -> int:
    return _value(macro, sizes)


def _eights(n: int) -> int:
    return (n + 7) // 8 * 8


def _numbers_of(structure: str) -> int:
    """Size of a structure with numbers only."""
    if structure == "kc_real":
        return 1
    n = 0
    for kind, members in _structures()[structure]:
        for member in members.split(","):
            times = re.search(r"\[(\d+)\]", member)
            n += _numbers_of(kind) * (int(times[1]) if times else 1)
    return n


@cache
def _structures() -> dict[str, list[tuple[str, str]]]:
    """The members of each structure, by type."""
    text = "".join(
        (_RUNTIME / name).read_text(encoding="utf-8") for name in ("spatial_vectors.h", "tree_derivatives.h")
    )
    return {name: _MEMBERS.findall(body) for name, body in _STRUCTURE.findall(_COMMENT.sub("", text))}


@cache
def _macros() -> dict[str, tuple[tuple[str, ...], str]]:
    """Parameters and body of each macro; sums and products of integers, which Python reads as C does."""
    found = {}
    for header in sorted(_RUNTIME.glob("*.h")):
        for name, parameters, body in _MACRO.findall(_COMMENT.sub("", header.read_text(encoding="utf-8"))):
            found[name] = (tuple(p.strip() for p in parameters.split(",")), " ".join(body.replace("\\\n", " ").split()))
    return found
