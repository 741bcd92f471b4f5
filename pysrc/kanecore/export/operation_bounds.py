# SPDX-License-Identifier: BSD-3-Clause
"""Upper bounds of the operations that a function of a model takes, and of its stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanecore.emit.kernel_library import Library
from kanecore.emit.solver_calls import SOLVERS
from kanecore.emit.work_space import arrays, taken
from kanecore.program.function_parts import Equations, Solved, Straight
from kanecore.program.instructions import (
    Apply,
    Call,
    Compute,
    Instruction,
    Limit,
    Pivot,
    SineCosine,
    SineCosines,
    Value,
    operands,
    values,
)

__all__ = ["Bounds"]

SINE_COSINE = 400  # operations, those on integers among them, for any angle: runtime/sincos.h and large_angles.h
CUBIC = 40  # at an interval that takes at most 32 comparisons to find: runtime/spline.h
NEWTON = 64  # steps on each of two ways back to each of two levels: runtime/projection_and_rank.h
COUNT = 4 * 2 * 2 * 200 * 21  # trials, ways, levels, steps, lengths of a step: runtime/projection_and_rank.h
FRAME = 512  # bytes of a function in addition to its numbers: saved registers, arguments, sines of several angles
ALIVE = 2  # times the values that wait to be read: compilers reorder, gcc 12 on x86-64 and ARM up to 1.8
MEMBER = 16  # bytes of a member of a structure, or less


class Bounds:
    """Bounds of operations and stack of the functions of one library.

    Operations are + − × ÷ √, a fused multiply-add as two, comparisons, and calls of the C library.  The bounds hold
    for all states, also at singularities.  Stack holds for compilers that optimize, on processors with registers for
    floating-point numbers.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        counting = library.counting  # which may make functions of its own
        self._functions = {**library.functions.by_name, **({"count": counting} if counting is not None else {})}
        self._size = 4 if library.target.number == "float" else 8
        self._operations: dict[str, int] = {}
        self._stack: dict[str, int] = {}

    def operations(self, name: str) -> int:
        """Operations of a function of the library, such as ``compute_KERNEL``."""
        if name not in self._operations:
            function = self._functions[name]
            if isinstance(function, Straight):
                total = sum(_cost(each) for part in function.parts.parts for each in part)
            else:
                called = sum(self.operations(name) * _each(function, name) for name in self._called(function))
                total = _TIMES.get(function.solver, 1) * (called + _own(function))
            self._operations[name] = total
        return self._operations[name]

    def stack(self, name: str) -> int:
        """Stack, in bytes, of a function and of those that it calls."""
        if name not in self._stack:
            function = self._functions[name]
            if isinstance(function, Straight):
                own = ALIVE * self._size * max(map(_alive, function.parts.parts), default=0) + FRAME
            else:
                own = 4 * FRAME + self._in_structures(function)
            self._stack[name] = own + max(map(self.stack, self._called(function)), default=0)
        return self._stack[name]

    def prepare(self, counting: Solved | None) -> tuple[int, int]:
        """Operations and bytes of stack of ``prepare``, with the function by which it counts the rows of G."""
        library = self._library
        operations = sum(map(_cost, library.preparing.instructions))
        stack = ALIVE * self._size * _alive(library.preparing.instructions) + FRAME
        if counting is None:
            return operations, stack
        room = arrays(counting) + max((taken(self._functions)[name] for name in self._called(counting)), default=0)
        return operations + self.operations("count"), stack + self.stack("count") + self._size * room

    def _called(self, function: Straight | Solved) -> list[str]:
        return [name for name in dict.fromkeys(function.calls) if name in self._functions]

    def _in_structures(self, function: Solved) -> int:
        members = MEMBER * (len(function.members) + len(SOLVERS))
        for equations in (member for member in function.members.values() if isinstance(member, Equations)):
            n, m = max(equations.n, 1), max(equations.m, 1)
            members += 4 * (2 * n + 3 * m) + self._size * 2 * m + 32 * MEMBER
        return members


def _cost(instruction: Instruction) -> int:
    match instruction:
        case Compute():
            return 2 if instruction.operation.startswith("f") else max(1, len(instruction.operands) - 1)
        case SineCosine():
            return SINE_COSINE
        case SineCosines():
            return SINE_COSINE * len(instruction.pairs)
        case Apply():
            return 32 * len(instruction.arguments) + CUBIC * len(instruction.targets) * len(instruction.arguments)
        case Pivot():
            return 2
        case Call() | Limit():
            return 1
    return 0


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


def _own(function: Solved) -> int:
    """Operations of one run of a solver: its linear equations, and passes over its arrays."""
    equations = [member for member in function.members.values() if isinstance(member, Equations)]
    return sum(_solution(e.n, e.m, e.k) for e in equations) + _passes(function)


def _solution(n: int, m: int, k: int) -> int:
    """Operations to solve for n speeds and m rows of G, with k right-hand sides, by complete pivoting."""
    return 8 * (n + m) ** 2 * (n + m + k) + 100


def _passes(function: Solved) -> int:
    members: Mapping[str, Any] = function.members
    if function.solver == "forest":  # every pair of joints, with screws and inertias; then a solution for each column
        n, columns = int(members["n"]), int(members["columns"])
        return 400 * n * n + 400 * n + 8 * n * n * columns
    if function.solver == "composites":  # every pair of rates, and zeros
        return 16 * int(members["n"]) ** 2 + 32 * int(members["n"])
    if function.solver == "inverse":  # factors, then each row from all before it, in eights
        return 4 * int(members["n"]) * (int(members["n"]) + 8) ** 2
    if function.solver == "reduced_linearization":  # two solutions, one of them of k columns
        n, m, k = (function.sizes[i] for i in (0, 1, 5))
        return _solution(n, m, k) + 8 * sum(function.sizes) ** 2 + 100
    if "n_inner" in members:  # entries, and where the equations are solved two more solutions, then two along each unit
        e = members.get("equations")
        return 2 * int(members["n"]) ** 2 + (2 * int(members["n_inner"] + 1) * _solution(e.n, e.m, 1) if e else 0)
    if function.solver == "chain":
        return 2 * int(members["n_y"] * members["n"] * members["k"])
    if function.solver == "state_rows":
        return 2 * int(members["n_z"] * (members["n"] + 1) * members["k"])
    return 8 * sum(function.sizes) ** 2 + 100


_TIMES: Mapping[str, int] = {
    "motion": 2,  # again, where rows contradict each other off the constraints
    "general_motion": 2,
    "projection": 2 * 2 * NEWTON,
    "projection_gradient": 2 * 2 * NEWTON,
    "closure": COUNT,
}
"""The greatest number of runs of a solver; others are run once."""


def _each(function: Solved, called: str) -> int:
    """Number of calls of a function each time that a solver is run."""
    members: Mapping[str, Any] = function.members
    if "n_inner" in members:
        along = {"changes": "n_inner", "column": "n_inner", "curvature": "n_outer"}
        return next((int(members[n]) for member, n in along.items() if members.get(member) == called), 1)
    if called == function.members.get("column"):
        return function.sizes[-1]
    return function.sizes[1] + 1 if called == function.members.get("direction") else 1
