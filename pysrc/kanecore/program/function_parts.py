# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a library: programs, split into parts for the compiler, and solvers of ``emit/runtime``.

A solver is a structure of the runtime with named members, sizes and arrays, and a function that takes the structure.  A
program is one part, or several if it is long, since the compiler's time grows faster than a function's length.  Parts
pass values to later parts through scratch ``w``, in slots that are used again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanecore.program.instructions import (
    Clear,
    Entry,
    Instruction,
    Load,
    Operand,
    Program,
    Store,
    Value,
    operands,
    values,
)

__all__ = ["SCRATCH", "WHOLE", "Equations", "Function", "Member", "Parts", "Solved", "Straight", "cut"]

# Instructions in one function of the core group.  Integrators call this group all the time, and whole programs save a
# sixth of the time of a humanoid, so programs up to this length stay whole there.
WHOLE = 10_000
# Instructions in each part of a longer program.  Values go through memory in any case.  With parts of 125, gcc takes
# 0.6 of the time with parts of 500, and products of a humanoid take 0.92.
CHUNK = 125
WHOLE_BESIDE = 375  # WHOLE for the other groups, which few integrators call
# CHUNK for several states at once: values of eight states in memory cost more than code that outgrows the instruction
# cache.  A humanoid takes 0.64 of the time with parts of 800.
CHUNK_IN_LANES = 6_000
ZEROS = 32  # largest number of zero results that are stored singly; more are cleared by a loop

OUT, SCRATCH = "out", "w"  # the arrays of results, and of values passed between functions


@dataclass(frozen=True)
class Parts:
    """Instructions with loads and stores.

    Attributes
    ----------
    parts : tuple of tuple of Instruction
        Instructions of each function, in order.
    clear : tuple of Clear
        Instructions before all parts.
    width : int
        Number of used doubles of ``w``.
    """

    parts: tuple[tuple[Instruction, ...], ...]
    clear: tuple[Clear, ...]
    width: int


def cut(program: Program, first: int, in_core: bool, in_lanes: bool = False) -> Parts:
    """The parts of a program that writes its results to ``out``.

    Parameters
    ----------
    first : int
        The first entry of ``w`` that the program may use.
    in_core : bool
        Whether the program serves the core group, in which functions may be longer.
    in_lanes : bool
        Whether the program is for several states at once.
    """
    size = CHUNK_IN_LANES if in_lanes else CHUNK
    longest = size + size // 2 if in_lanes else WHOLE if in_core else min(WHOLE_BESIDE, 3 * size)
    stored = [i for i, result in enumerate(program.results) if result.source != 0.0]
    clear: tuple[Clear, ...] = ()
    if len(program.results) - len(stored) > ZEROS:  # thousands, for the partial velocities of a long tree
        clear = (Clear(OUT, len(program.results)),)
    else:
        stored = list(range(len(program.results)))
    stores = [Store(Entry(OUT, i), program.results[i]) for i in stored]
    if len(program.instructions) <= longest:
        return Parts((_whole(program, stores),), clear, first)
    parts, width = _several(program, stores, first, size)
    return Parts(parts, clear, width)


def _whole(program: Program, stores: Sequence[Store]) -> tuple[Instruction, ...]:
    """Program as one part; results are stored as soon as known, since waiting results would fill the registers."""
    made_by = {value: k for k, each in enumerate(program.instructions, 1) for value in values(each)}
    stores_after: list[list[Instruction]] = [[] for _ in range(len(program.instructions) + 1)]
    for store in stores:
        stores_after[_maker(made_by, store.operand)].append(store)
    lines = list(stores_after[0])
    for instruction, stored in zip(program.instructions, stores_after[1:], strict=True):
        lines += [instruction, *stored]
    return tuple(lines)


def _maker(made_by: dict[Value, int], operand: Operand) -> int:
    """Number of the part that makes an operand: 0 for numbers and entries, which are known from the start."""
    return made_by.get(operand.source, 0) if isinstance(operand.source, Value) else 0


def _several(
    program: Program, stores: Sequence[Store], first: int, size: int
) -> tuple[tuple[tuple[Instruction, ...], ...], int]:
    """Parts of equal length, and the width of ``w``."""
    number = (len(program.instructions) + size - 1) // size
    chunks = [program.instructions[k * size : (k + 1) * size] for k in range(number)]
    read = [list(dict.fromkeys(o.source for each in chunk for o in operands(each))) for chunk in chunks]
    last_use = {source: k for k, sources in enumerate(read) for source in sources if isinstance(source, Value)}
    made = [[value for each in chunk for value in values(each)] for chunk in chunks]
    made_by = {value: k for k, chunk in enumerate(made) for value in chunk}
    results: list[list[Instruction]] = [[] for _ in chunks]
    for store in stores:
        results[_maker(made_by, store.operand)].append(store)
    slots: dict[Value, Entry] = {}
    free: list[Entry] = []
    freed_after: dict[int, list[Entry]] = {}
    width, parts = first, []
    for k, chunk in enumerate(chunks):
        free += freed_after.pop(k - 1, ())
        loads = [Load(value, slots[value]) for value in read[k] if isinstance(value, Value) and value in slots]
        saves = []
        for value in made[k]:
            last = last_use.get(value, k)
            if last > k:
                if not free:
                    free.append(Entry(SCRATCH, width))
                    width += 1
                slots[value] = free.pop()
                freed_after.setdefault(last, []).append(slots[value])
                saves.append(Store(slots[value], Operand(value)))
        parts.append((*loads, *chunk, *saves, *results[k]))
    return tuple(parts), width


@dataclass(frozen=True)
class Equations:
    """M a = f + Gᵀλ, G a + γ = 0 with n speeds, m rows of G, k right-hand sides; see ``runtime/equations.h``.

    Attributes
    ----------
    symmetric : bool
        Whether M is symmetric, so that it may be factored as positive definite.
    correction : bool
        The solution is the least change to the constraints, not accelerations.
    """

    n: int
    m: int
    k: int = 1
    symmetric: bool = True
    correction: bool = False


Member = int | str | tuple[int, ...] | Equations | Mapping[str, str]
"""Members of a structure: a number, the name of a function, an array, the equations, functions by name."""


@dataclass(frozen=True)
class Straight:
    """A function of one program.

    Attributes
    ----------
    name : str
    parts : Parts
    fails : bool
        Whether it may end with a fault, and without results.
    directions : range, optional
        Places in ``w`` of a direction, in which the results are linear; there may be several directions side by side.
    """

    name: str
    parts: Parts
    fails: bool
    directions: range | None = None

    @property
    def calls(self) -> tuple[str, ...]:
        """Names of called functions: none."""
        return ()


@dataclass(frozen=True)
class Solved:
    """A function that calls a solver.

    Attributes
    ----------
    name : str
    solver : str
        ``"motion"``, ``"balance"``, ...: a key of ``SOLVERS`` of `kanecore.emit.solver_calls`; or ``"after_motion"``
        and ``"short_way"``, which call other functions and have no structure.
    members : mapping
        Members of the structure, by name.
    sizes : tuple of int
        Sizes of the solver's arrays, in its order.
    fails : bool
        Whether it may end with a fault, and without results.
    """

    name: str
    solver: str
    members: Mapping[str, Member]
    sizes: tuple[int, ...] = ()
    fails: bool = True

    @property
    def calls(self) -> tuple[str, ...]:
        """Names of the functions that it calls."""
        named = [m for m in self.members.values() if isinstance(m, str)]
        return (*named, *(name for m in self.members.values() if isinstance(m, Mapping) for name in m.values()))


Function = Straight | Solved
