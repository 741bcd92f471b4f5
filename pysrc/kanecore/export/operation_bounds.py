# SPDX-License-Identifier: BSD-3-Clause
"""Upper bounds of the operations that a function of a model takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanecore.emit.kernel_library import Library
from kanecore.graph.operations import Op
from kanecore.program.function_parts import Equations, Function, Solved, Straight
from kanecore.program.instructions import (
    FMA,
    FMS,
    FNMA,
    FNMS,
    HALF_POWER,
    Apply,
    Call,
    Compute,
    Instruction,
    Limit,
    Pivot,
    SineCosine,
    SineCosines,
)

from .solver_operations import free_solution, front, inverse, motion, multipliers, solution

__all__ = ["Operations"]

SINE_COSINE = 66  # operations, those on the bits of numbers among them: runtime/sincos.h
LARGE_ANGLE = 400  # more, those on integers among them, for an angle beyond its range: runtime/large_angles.h
CUBIC = 40  # at an interval that takes at most 32 comparisons to find: runtime/spline.h
NEWTON = 64  # steps on each of two ways back to each of two levels: runtime/projection_and_rank.h
COUNT = 4 * 2 * 2 * 200 * 21  # trials, ways, levels, steps, lengths of a step: runtime/projection_and_rank.h


class Operations:
    """Bounds of the operations of the functions of one library.

    Operations are + − × ÷ √, a fused multiply-add as two, comparisons, and calls of the C library.  The bounds hold
    for all states, also at singularities.

    Parameters
    ----------
    library : Library
    functions : mapping
        Its functions by name.
    any_angle : bool
        Whether angles may be larger than ``KC_ANGLE_MAX``.
    """

    def __init__(self, library: Library, functions: Mapping[str, Function], any_angle: bool = False) -> None:
        self._library, self._functions = library, functions
        self._angle = SINE_COSINE + LARGE_ANGLE * any_angle
        self._operations: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Operations of a function of the library, such as ``compute_KERNEL``."""
        if name not in self._operations:
            function = self._functions[name]
            if isinstance(function, Straight):
                total = sum(self._cost(each) for part in function.parts.parts for each in part)
            else:
                last = function.members.get("otherwise")  # a function that takes its place, at the end
                calls = {name: self.of(name) for name in dict.fromkeys(function.calls) if name in self._functions}
                called = sum(n * _each(function, name) for name, n in calls.items() if name != last)
                total = _TIMES.get(function.solver, 1) * (called + _own(function)) + calls.get(str(last), 0)
            self._operations[name] = total
        return self._operations[name]

    def of_prepare(self, counting: Solved | None) -> int:
        """Operations of ``prepare``, with the function by which it counts the rows of G."""
        constants = sum(map(self._cost, self._library.preparing.instructions))
        return constants + (self.of(counting.name) if counting else 0)

    def _cost(self, instruction: Instruction) -> int:
        match instruction:
            case Compute(operation=operation, operands=read):
                if operation == HALF_POWER:
                    return 1 + round(float(read[1].source))  # type: ignore[arg-type]
                return _SEVERAL.get(operation, max(1, len(read) - 1))
            case SineCosine():
                return self._angle
            case SineCosines():
                return self._angle * len(instruction.pairs)
            case Apply():
                return 32 * len(instruction.arguments) + CUBIC * len(instruction.targets) * len(instruction.arguments)
            case Pivot():
                return 2
            case Call() | Limit():
                return 1
        return 0


_SEVERAL = {FMA: 2, FMS: 2, FNMA: 2, FNMS: 2, Op.SIGN: 3, Op.MIN: 2, Op.MAX: 2}
"""Operations that are several in C: runtime/arithmetic.h."""


def _own(function: Solved) -> int:
    """Operations of one run of a solver: its linear equations, and passes over its arrays."""
    members: Mapping[str, Any] = function.members
    equations = [member for member in members.values() if isinstance(member, Equations)]
    sizes = function.sizes
    if "front_room" in members:
        sizes = sizes[: sizes.index(int(members["front_room"]))]
    passes = 8 * sum(sizes) ** 2 + 100 + 2 * _of_fronts(members)  # of what has no line below
    match function.solver:
        case "short_way" | "after_motion":
            return 2
        case "free_motion" | "free_linearization" | "linearization":
            passes = 0
        case "motion" | "general_motion":
            passes = motion(equations[0].m, int(members["n_residuals"]))
        case "front_motion" | "front_balance":
            return _of_fronts(members)
        case "balance":
            return multipliers(equations[0].n, equations[0].m)
        case "inverse":
            return inverse(int(members["n"]))
        case "forest":  # every pair of joints, with screws and inertias; then a solution for each column
            n, columns = int(members["n"]), int(members["columns"])
            return 400 * n * n + 400 * n + 8 * n * n * columns
        case "composites":  # every pair of rates, and zeros
            return 16 * int(members["n"]) ** 2 + 32 * int(members["n"])
        case "reduced_linearization":  # again with k columns, by the same factors
            n, m, k = (function.sizes[i] for i in (0, 1, 5))
            passes += 8 * (n + m) ** 2 * k
        case "hessian" | "factored_hessian":  # entries; where equations are solved two more, then two along each unit
            n, n_inner = (int(_of_columns(members, name)) for name in ("n", "n_inner"))
            again = 2 * (n_inner + 1) * sum(solution(e.n, e.m, 1, False, True) for e in equations)
            passes = 2 * n**2 + again
        case "chain":
            return 2 * int(members["n_y"] * members["n"] * members["k"])
        case "state_rows":
            return 2 * int(members["n_z"] * (members["n"] + 1) * members["k"])
    return passes + sum(_solution(e, function.solver) for e in equations)


def _of_columns(members: Mapping[str, Any], name: str) -> Any:
    """A member of the columns of second derivatives, which may be a structure within."""
    return members.get(f"columns.{name}", members.get(name))


def _of_fronts(members: Mapping[str, Any]) -> int:
    """Operations of all fronts of a solver, of which there may be none."""
    found = [sizes for name, sizes in members.items() if name.endswith("fronts.sizes")]
    return sum(front(*sizes[i : i + 3]) for sizes in found for i in range(0, len(sizes), 8))


def _solution(e: Equations, solver: str) -> int:
    """Operations of linear equations; a symmetric matrix may be factored before it is found not to be definite."""
    if solver.startswith("free_"):
        return free_solution(e.n, e.k, e.symmetric)
    return solution(e.n, e.m, e.k, e.symmetric, combined=not solver.endswith("motion"))


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
    for member, n in (("changes", "n_inner"), ("column", "n_inner"), ("curvature", "n_outer")):
        if called == _of_columns(members, member) and function.solver.endswith("hessian"):
            return int(_of_columns(members, n))
    if called == function.members.get("column"):
        return function.sizes[-1]
    return function.sizes[1] + 1 if called == function.members.get("direction") else 1
