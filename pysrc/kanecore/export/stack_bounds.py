# SPDX-License-Identifier: BSD-3-Clause
"""Upper bounds of the stack that functions of a model take, in bytes.

A function of a program keeps values that wait to be read, a solver its structures.  What functions of ``emit/runtime``
take below it was measured, with gcc 12 and clang 14 on x86-64, from ``-O1`` to ``-O3`` and with ``-Os``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kanecore.emit.kernel_library import Library
from kanecore.emit.work_space import arrays, taken
from kanecore.program.function_parts import Equations, Function, Solved, Straight
from kanecore.program.instructions import Instruction, SineCosine, SineCosines, Value, operands, values

__all__ = ["FRAME", "Stack"]

FRAME = 128  # of any function: saved registers, arguments, where it returns to, alignment
ALIVE = 2  # times the values that wait to be read: compilers reorder, and keep what they read again
BESIDE = 2  # directions side by side, without AVX
SINES = 256  # of runtime/large_angles.h, below a function with sines
SEVERAL = 192  # of sines of 4 or 8 angles, in the function and below it
CALLING = ("short_way", "after_motion")  # these call functions, and have no structures

_OF_SOLVERS: Mapping[str, tuple[int, int, int]] = {
    "free_motion": (192, 256, 448),
    "free_linearization": (192, 512, 640),
    "free_product": (448, 192, 384),
    "general_motion": (192, 448, 960),
    "linearization": (192, 512, 1024),
    "general_product": (448, 512, 1280),
    "motion": (448, 320, 640),
    "balance": (256, 256, 640),
    "return": (256, 192, 768),
    "projection": (448, 384, 832),
    "projection_gradient": (1024, 384, 832),
    "closure": (1024, 768, 1024),
    "reduced_linearization": (576, 512, 640),
    "product": (576, 448, 704),
    "factored_hessian": (448, 768, 960),
}
"""Stack of a solver beside arrays: its structures; below it down to functions of the model; below it without them."""

_OF_ANY = (512, 512, 1024)


class Stack:
    """Bounds of the functions of one library, with what they call, on processors with registers for its numbers.

    Parameters
    ----------
    library : Library
    functions : mapping
        Its functions by name.
    """

    def __init__(self, library: Library, functions: Mapping[str, Function]) -> None:
        self._library, self._functions = library, functions
        self._size = 4 if library.target.number == "float" else 8
        self._stack: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Stack of a function, such as ``compute_KERNEL``."""
        if name not in self._stack:
            function = self._functions[name]
            self._stack[name] = self._frame(function) + self._below(function)
        return self._stack[name]

    def of_prepare(self, counting: Solved | None) -> int:
        """Stack of ``prepare``, with the function by which it counts the rows of G, and its scratch."""
        constants = FRAME + self._of_values(part := self._library.preparing.instructions) + _of_sines(part)
        if counting is None:
            return constants
        widths = taken(self._functions)
        room = arrays(counting) + max((widths[name] for name in counting.calls if name in self._functions), default=0)
        return constants + self.of(counting.name) + self._size * room

    def _frame(self, function: Function) -> int:
        """Bytes of a function alone; programs that a solver calls may be compiled into it."""
        if isinstance(function, Straight):
            return FRAME + self._of_program(function)
        called = (self._functions.get(name) for name in function.calls)
        inlined = max((self._of_program(each) for each in called if isinstance(each, Straight)), default=0)
        return FRAME + inlined + _of_solver(function)[0] + self._of_arrays(function)

    def _below(self, function: Function) -> int:
        """Bytes of the deepest call of a function."""
        if isinstance(function, Straight):
            return max(map(_of_sines, function.parts.parts), default=0)
        _, above, alone = _of_solver(function)
        called = max((self.of(name) for name in function.calls if name in self._functions), default=0)
        return max(alone, above + called)

    def _of_program(self, function: Straight) -> int:
        beside = 1 if function.directions is None else BESIDE
        return max((self._of_values(part) * beside for part in function.parts.parts), default=0)

    def _of_values(self, part: Sequence[Instruction]) -> int:
        several = any(isinstance(each, SineCosines) for each in part)
        return ALIVE * self._size * _alive(part) + SEVERAL * several

    def _of_arrays(self, function: Solved) -> int:
        equations = [member for member in function.members.values() if isinstance(member, Equations)]
        sizes = [(max(each.n, 1), max(each.m, 1)) for each in equations]
        return sum(4 * (2 * n + 3 * m) + self._size * 2 * m for n, m in sizes)


def _of_solver(function: Solved) -> tuple[int, int, int]:
    return (0, 0, 0) if function.solver in CALLING else _OF_SOLVERS.get(function.solver, _OF_ANY)


def _of_sines(part: Iterable[Instruction]) -> int:
    """Bytes of sines of large angles below a function, by way of packs."""
    if any(isinstance(each, SineCosines) for each in part):
        return SINES + SEVERAL
    return SINES * any(isinstance(each, SineCosine) for each in part)


def _alive(part: Sequence[Instruction]) -> int:
    """Largest number of values of a part of a program that wait to be read."""
    last = {o.source: k for k, each in enumerate(part) for o in operands(each) if isinstance(o.source, Value)}
    alive: set[Value] = set()
    most = 0
    for k, each in enumerate(part):
        alive.update(value for value in values(each) if value in last)
        most = max(most, len(alive))
        alive.difference_update(o.source for o in operands(each) if isinstance(o.source, Value) and last[o.source] == k)
    return most
