# SPDX-License-Identifier: BSD-3-Clause
"""A program as one part, or as several where one would outgrow the compiler; with its loads and stores.

The time of compilers grows faster than a function's length.  What a later part needs of an earlier one goes through
scratch ``w``, in slots that are used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .instructions import Clear, Entry, Instruction, Load, Operand, Program, Store, Value, operands, values

__all__ = ["CHUNK", "CHUNK_BESIDE", "Parts", "cut"]

# Instructions in one function.  Integrators live on the core group: a tenth of its time is worth a longer compilation.
# The other groups compile in two thirds of it.
CHUNK = 3000
CHUNK_BESIDE = 250
ZEROS = 32  # results that are zero: more are cleared by a loop

OUT, SCRATCH = "out", "w"


@dataclass(frozen=True)
class Parts:
    """Instructions with loads and stores, part by part; ``clear`` comes first; ``width`` doubles of ``w`` are used."""

    parts: tuple[tuple[Instruction, ...], ...]
    clear: tuple[Clear, ...]
    width: int


def cut(program: Program, first: int, size: int) -> Parts:
    """The parts of a program that writes its results to ``out``, in ``w`` from ``first`` on."""
    stores = {i: Store(Entry(OUT, i), result) for i, result in enumerate(program.results)}
    clear: tuple[Clear, ...] = ()
    zeros = [i for i, result in enumerate(program.results) if result.source == 0.0]
    if len(zeros) > ZEROS:  # thousands of them, among the partial velocities of a long tree
        clear = (Clear(OUT, len(program.results)),)
        for i in zeros:
            del stores[i]
    if len(program.instructions) <= size + size // 2:
        return Parts((_whole(program, list(stores.values())),), clear, first)
    parts, width = _several(program, list(stores.values()), first, size)
    return Parts(parts, clear, width)


def _whole(program: Program, stores: Sequence[Store]) -> tuple[Instruction, ...]:
    """A result is stored where it is defined: those that are kept to the end fill the registers."""
    owner = {value: k for k, each in enumerate(program.instructions, 1) for value in values(each)}
    places: list[list[Instruction]] = [[] for _ in range(len(program.instructions) + 1)]
    for store in stores:
        places[_place(owner, store.operand, 0)].append(store)
    lines = list(places[0])
    for stored, instruction in zip(places[1:], program.instructions, strict=True):
        lines += [instruction, *stored]
    return tuple(lines)


def _place(owner: dict[Value, int], operand: Operand, otherwise: int) -> int:
    return owner.get(operand.source, otherwise) if isinstance(operand.source, Value) else otherwise


def _several(
    program: Program, stores: Sequence[Store], first: int, size: int
) -> tuple[tuple[tuple[Instruction, ...], ...], int]:
    """Parts of equal length, and the width of ``w``."""
    number = (len(program.instructions) + size - 1) // size
    chunks = [program.instructions[k * size : (k + 1) * size] for k in range(number)]
    read = [list(dict.fromkeys(o.source for each in chunk for o in operands(each))) for chunk in chunks]
    last_use = {source: k for k, sources in enumerate(read) for source in sources if isinstance(source, Value)}
    made = [[value for each in chunk for value in values(each)] for chunk in chunks]
    owner = {value: k for k, chunk in enumerate(made) for value in chunk}
    stored: list[list[Instruction]] = [[] for _ in chunks]
    for store in stores:
        stored[_place(owner, store.operand, 0)].append(store)
    slots: dict[Value, Entry] = {}
    free: list[Entry] = []
    expiry: dict[int, list[Entry]] = {}
    width, parts = first, []
    for k, chunk in enumerate(chunks):
        free += expiry.pop(k - 1, ())
        loads = [Load(value, slots[value]) for value in read[k] if isinstance(value, Value) and value in slots]
        keeps = []
        for value in made[k]:
            last = last_use.get(value, k)
            if last > k:
                if not free:
                    free.append(Entry(SCRATCH, width))
                    width += 1
                slots[value] = free.pop()
                expiry.setdefault(last, []).append(slots[value])
                keeps.append(Store(slots[value], Operand(value)))
        parts.append((*loads, *chunk, *keeps, *stored[k]))
    return tuple(parts), width
