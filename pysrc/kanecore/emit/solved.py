# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that solve, in C: a structure of ``runtime/`` with its members, and the function that takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanecore.program.solved import Body, Equations, Member, Solved, Straight

from .c import C

__all__ = ["HEADERS", "Way", "function", "headers", "numbers", "room", "structure"]

HEADERS = ("equations.h", "eliminate.h", "saddle.h", "motion.h", "closure.h", "linearize.h")
"""Of the ways, in the order in which they build on each other."""

_FREE = HEADERS[:2]  # without constraints


@dataclass(frozen=True)
class Way:
    """A way to solve: its structure, the function that takes it, the size of its scratch, what it needs."""

    structure: str
    function: str
    room: str
    headers: tuple[str, ...]


WAYS = {
    "motion": Way("kc_motion", "kc_accelerate", "KC_MOTION_ROOM", HEADERS[:4]),
    "general_motion": Way("kc_motion", "kc_accelerate_all", "KC_MOTION_ROOM", HEADERS[:4]),
    "free_motion": Way("kc_free_motion", "kc_accelerate_free", "KC_FREE_MOTION_ROOM", _FREE),
    "balance": Way("kc_balance", "kc_find_multipliers", "KC_BALANCE_ROOM", HEADERS[:4]),
    "return": Way("kc_return", "kc_stabilize", "KC_RETURN_ROOM", HEADERS[:4]),
    "projection": Way("kc_projection", "kc_project", "KC_PROJECTION_ROOM", HEADERS[:5]),
    "closure": Way("kc_closure", "kc_count", "KC_COUNT_ROOM", HEADERS[:5]),
    "linearization": Way("kc_linearization", "kc_linearize", "KC_LINEARIZATION_ROOM", (*_FREE, "linearize.h")),
}


def headers(bodies: Iterable[Body]) -> list[str]:
    """What some functions need of the runtime, in order."""
    needed = {
        header for body in bodies if isinstance(body, Solved) and body.way in WAYS for header in WAYS[body.way].headers
    }
    return [header for header in HEADERS if header in needed]


def function(target: C, body: Body, bodies: Mapping[str, Body]) -> str:
    """The function of a body, after those that it calls; of one that solves with the size of its scratch."""
    if isinstance(body, Straight):
        return target.function(body.name, body.parts)
    head = f"static int {body.name}({target.arguments}, {target.real} *w, {target.real} *out)"
    if body.way == "after_motion":
        lines = _after_motion(body)
    elif body.way == "short_way":
        lines = _short_way(body)
    else:
        lines = [*structure(target, body), f"return {WAYS[body.way].function}(&s, t, x, r, c, w, out);"]
    text = "".join(f"    {line}\n" for line in lines)
    return f"{head}\n{{\n{text}}}\n\nenum {{ {_room_name(body.name)} = {_own_room(body, bodies)} }};\n\n"


def structure(target: C, body: Solved) -> list[str]:
    """Statements that declare the structure ``s`` of a way."""
    arrays = {name: value for name, value in body.members.items() if isinstance(value, tuple) and value}
    types = {"unit": "uint32_t"}
    lines = [
        f"static const {types.get(name, 'int')} {name}[] = {{{', '.join(map(str, values))}}};"
        for name, values in arrays.items()
    ]
    equations = body.members["equations"]
    assert isinstance(equations, Equations)
    n, m = max(equations.n, 1), max(equations.m, 1)
    members = [f".{name} = {_member(name, value)}," for name, value in body.members.items() if value != ()]
    return [
        *lines,
        f"int column[{n}], order[{m}], place[{n}];",
        f"kc_saddle equations = {_equations(equations)};",
        f"{WAYS[body.way].structure} s = {{",
        *(f"    {member}" for member in members),
        "};",
    ]


def _equations(equations: Equations) -> str:
    purpose = "KC_CORRECTION" if equations.correction else "KC_MOTION"
    return (
        f"{{.n = {equations.n}, .m = {equations.m}, .k = {equations.k}, .purpose = {purpose}, .symmetric = "
        f"{int(equations.symmetric)}, .column = column, .order = order, .place = place}}"
    )


def _member(name: str, value: Member) -> str:
    match value:
        case Equations():
            return "&equations"
        case tuple():
            return name
        case Mapping():
            return "{" + ", ".join(f".{part} = {function}" for part, function in value.items()) + "}"
    return str(value)


def _after_motion(body: Solved) -> list[str]:
    """The accelerations, and the multipliers behind them, at the beginning of the scratch; then what they are for."""
    n, taken = body.sizes[0], sum(body.sizes)
    lines = [f"int fault = {body.members['udot']}(t, x, r, c, w + {taken}, w);"]
    if "multipliers" in body.members:
        lines.append(f"if (!fault) fault = {body.members['multipliers']}(t, x, r, c, w + {taken}, w + {n});")
    return [*lines, f"return fault ? fault : {body.members['evaluate']}(t, x, r, c, w, out);"]


def _short_way(body: Solved) -> list[str]:
    """The short way, else the other; where both lack a pivot the short way names the speed."""
    return [
        f"const int fault = {body.members['shortly']}(t, x, r, c, w, out);",
        "if (!KC_UNLIKELY(fault)) return 0;",
        f"const int other = {body.members['otherwise']}(t, x, r, c, w, out);",
        "return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;",
    ]


# ---------------------------------------------------------------------------------------------------- scratch
def room(names: Iterable[str], bodies: Mapping[str, Body]) -> str:
    """The scratch that the hungriest of some functions takes: a constant expression."""
    widths, expression = [0], ""
    for name in dict.fromkeys(names):
        body = bodies.get(name)
        if isinstance(body, Straight):
            widths.append(body.parts.width)
        elif body is not None:
            expression = f"KC_MOST({expression}, {_room_name(name)})" if expression else _room_name(name)
    number = str(max(widths))
    return number if not expression else expression if number == "0" else f"KC_MOST({number}, {expression})"


def _room_name(name: str) -> str:
    return f"ROOM_{name}"


def _own_room(body: Solved, bodies: Mapping[str, Body]) -> str:
    instead = {body.members.get("otherwise"), body.members.get("shortly")}  # they take the place of the way
    beyond = room((name for name in body.calls if name not in instead), bodies)
    own = f"{_arrays(body)} + {beyond}"
    others = [name for name in instead if isinstance(name, str)]
    return f"KC_MOST({own}, {room(sorted(others), bodies)})" if others else own


def _arrays(body: Solved) -> str:
    if body.way in WAYS:
        return f"{WAYS[body.way].room}({', '.join(map(str, body.sizes))})"
    return str(sum(body.sizes))


def numbers(values: Sequence[float], target: C) -> str:
    """The entries of an array; NaN for what is not given."""
    return ", ".join("NAN" if value != value else target.literal(value) for value in values)
