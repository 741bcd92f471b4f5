# SPDX-License-Identifier: BSD-3-Clause
"""Bytecode of a model, for the interpreter in the extension, which replaces C if there is no compiler.

The code has the same operations as the C text, with the same multiply-adds, the same solvers and the same table.  So
its results are bit-identical to the results of the C.  ``kanecore/src/interpreter/kc_interpreter.h`` defines the
numbers.

Each value has its own register.  Negations cost nothing: products, sums and multiply-adds are all ±a b ± c, with 1 and
−0 in place of a missing factor or summand.  The interpreter loses time whenever the operation changes, so equal
operations are gathered: the operation with most computable steps comes next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from kanecore.errors import ModelError
from kanecore.functions.splines import Spline
from kanecore.graph.expression_graph import Op
from kanecore.graph.operations import OPERATIONS as rows
from kanecore.program.bytecode_format import Code, CodedFunction, CodedPart, Numbers
from kanecore.program.function_parts import Equations, Function, Parts, Solved, Straight, cut
from kanecore.program.instructions import (
    FMA,
    FMS,
    FNMA,
    FNMS,
    HALF_POWER,
    Apply,
    Call,
    Compute,
    Entry,
    Instruction,
    Limit,
    Load,
    Operand,
    Pivot,
    Program,
    SineCosine,
    SineCosines,
    Store,
    Value,
)
from kanecore.tolerances import EPSILON, LAST_STEP, PIVOT

from .kernel_library import Library
from .library_tables import OUTSIDE, names, numbers, sizes, splines

__all__ = ["FIRST", "OPERATIONS", "code"]

FIRST = 1
"""The place in c of the first parameter, after the address of the code."""

OPERATIONS = (
    *("fma", "fms", "fnma", "fnms", "sincos", "half_power"),
    *(op for op, row in rows.items() if row.coded),
    *("call", "apply", "pivot", "limit", "end"),
)
"""The operations of the interpreter, in the order of their numbers in code."""

_NUMBER = {name: number for number, name in enumerate(OPERATIONS)}
_READ = {"t": 0, "x": 1, "p": 1, "r": 2, "c": 3, "w": 4}  # arrays; `prepare` reads p in place of x
_WRITTEN = {"w": 4, "out": 5}
_NO_ARRAY = 6
_NEGATIVE = 1 << 31
_MINUS_ZERO, _ONE = Operand(-0.0), Operand(1.0)
# by (product is negative, summand is negative) of ±a b ± c
_FUSED = {FMA: (False, False), FMS: (False, True), FNMA: (True, False), FNMS: (True, True)}
_OUTSIDE = ("KC_EXTRAPOLATED", "KC_NOWHERE", "KC_PERIODIC")  # as in spline.h
_LONGEST = 0xFFFF  # longest run of one operation, and limit of the number of registers


def code(library: Library, *, with_facts: bool = True) -> Code:
    """The code of a group of kernels, with or without names and facts of the model."""
    of_kernel, made = library.of_kernel, list(library.functions.by_name.values())
    if library.counting is not None:
        made = [*library.functions.by_name.values(), library.counting]
    if library.prepares:
        made.append(_preparing(library))
    place = {each.name: i for i, each in enumerate(made)}
    instructions = [x for each in made if isinstance(each, Straight) for part in each.parts.parts for x in part]
    tables = splines(instructions)
    write = _Writer({spline: i for i, spline in enumerate(tables)}, place, library)
    n_q = library.sizes["n_q"]
    before = place.get("compute_qdot", -1) if n_q else -1
    contents = library.contents("0")  # the extension knows the scratch of solvers
    return Code(
        operations=OPERATIONS,
        sizes={name: int(x) for name, x in sizes(contents).items()},
        names={"name": [library.d.name], **(names(contents) if with_facts else {})},
        numbers=numbers(contents),
        flags=int(contents.qdot_is_u),
        functions=tuple(map(write.function, made)),
        kernels={
            name: (place[each.name], *((before, n_q) if name == "rhs" else (-1, 0)), library.n_results(name))
            for name, each in of_kernel.items()
        },
        prepare=place.get("prepare"),
        counting=place.get("count"),
        splines=tuple((each.knots, each.hermite.ravel(), _OUTSIDE.index(OUTSIDE[each.extrapolate])) for each in tables),
    )


def _preparing(library: Library) -> Straight:
    """Program that writes all of c: addresses, parameters, prepared constants, the rank of G."""
    program = library.preparing
    n_p, first = len(library.d.parameters), FIRST + len(library.d.parameters)
    there = [Operand(Entry("c", i)) for i in range(FIRST)]
    parameters = [Operand(Entry("p", i)) for i in range(n_p)]
    n_addresses = library.n_prepared - bool(library.d.constraints) - len(program.results) - first
    addresses = [Operand(Entry("c", i)) for i in range(first, first + n_addresses)]
    rows = [Operand(float(library.derivation.eliminated))] if library.d.constraints else []
    whole = Program(program.instructions, (*there, *parameters, *addresses, *program.results, *rows))
    return Straight("prepare", cut(whole, 0, in_core=True), False)


class _Writer:
    """Writer of functions.

    Parameters
    ----------
    splines : mapping of Spline to int
        Their numbers.
    functions : mapping of str to int
        The numbers of functions, by their names.
    library : Library
    """

    def __init__(self, splines: Mapping[Spline, int], functions: Mapping[str, int], library: Library) -> None:
        self.splines, self.functions, self.library = splines, functions, library

    def function(self, function: Function) -> CodedFunction:
        return self._program(function.parts) if isinstance(function, Straight) else self._solved(function)

    def _program(self, parts: Parts) -> CodedFunction:
        coded = tuple(_Part(part, self.splines).coded() for part in parts.parts)
        return CodedFunction("", coded, sum(each.length for each in parts.clear), parts.width)

    def _solved(self, solved: Solved) -> CodedFunction:
        members: dict[str, Any] = {}
        equations = None
        for name, member in solved.members.items():
            if isinstance(member, Equations):
                e = member
                equations = (e.n, e.m, e.k, e.symmetric, e.correction)
            elif isinstance(member, Mapping):
                members.update((f"{name}.{part}", self.functions[function]) for part, function in member.items())
            elif isinstance(member, str):
                members[name] = self.functions[member]
            elif member != ():
                members[name] = np.array(member, dtype=np.int32) if isinstance(member, tuple) else member
        if solved.solver == "closure":
            members["guess"] = np.array(self.library.guess, dtype=np.float64)
        instead = [solved.members[name] for name in ("otherwise", "shortly") if name in solved.members]
        return CodedFunction(
            solver=solved.solver,
            members=members,
            equations=equations,
            sizes=solved.sizes,
            instead=tuple(self.functions[str(name)] for name in instead),
        )


@dataclass
class _Step:
    """One operation: its number, the registers that it reads, further entries of its code, and its results."""

    operation: int
    reads: tuple[Any, ...]
    targets: tuple[Any, ...] = ()
    before: tuple[int, ...] = ()  # entries of the code between number and registers
    after: tuple[int, ...] = ()


class _Part:
    """A part of a program, in the order of the interpreter.

    Parameters
    ----------
    instructions : sequence of Instruction
    splines : mapping of Spline to int
        Their numbers.
    """

    def __init__(self, instructions: Sequence[Instruction], splines: Mapping[Spline, int]) -> None:
        self.splines = splines
        self.constants: dict[str, float] = {}
        self.loads: dict[str, list[Entry]] = {}
        self.sources: dict[Any, Any] = {}  # key of each loaded value or number
        self.steps: list[_Step] = []
        self.guards: list[_Step] = []
        self.stores: list[Store] = []
        self._constant(-0.0), self._constant(1.0)
        read: dict[type, Callable[[Any], None]] = {
            Compute: self._compute,
            SineCosine: self._sine_cosine,
            SineCosines: self._sine_cosines,
            Apply: self._apply,
            Call: self._call,
            Pivot: self._pivot,
            Limit: self._limit,
            Load: self._load,
            Store: self.stores.append,
        }
        for each in instructions:
            read[type(each)](each)

    # ------------------------------------------------------------------ operands
    def _constant(self, value: float) -> str:
        text = repr(value)
        self.constants[text] = value
        return text

    def _source(self, source: Value | Entry | float | str) -> Any:
        """The key of the register of a source, which is loaded if necessary."""
        if isinstance(source, Value):
            return self.sources.get(source, source)
        if isinstance(source, Entry):
            if source not in self.sources:
                self.sources[source] = source
                self.loads.setdefault(source.array, []).append(source)
            return source
        return self._constant(LAST_STEP if isinstance(source, str) else source)

    def _positive(self, operand: Operand) -> Any:
        """Key of an operand; a negated operand takes a separate operation."""
        if not operand.negative:
            return self._source(operand.source)
        key = ("-", self._source(operand.source))
        if key not in self.sources:
            self.sources[key] = key
            self.steps.append(_Step(_NUMBER["fnma"], (key[1], "1.0", "-0.0"), (key,)))
        return key

    # ---------------------------------------------------------------- operations
    def _fused(self, target: Any, signs: tuple[bool, bool], operands: Sequence[Operand]) -> None:
        """Write ±a b ± c of three operands; ``signs``: whether the product and the summand are negative."""
        a, b, c = operands
        product, summand = signs[0] ^ a.negative ^ b.negative, signs[1] ^ c.negative
        reads = (self._source(a.source), self._source(b.source), self._source(c.source))
        self.steps.append(_Step(2 * product + summand, reads, (target,)))

    def _compute(self, instruction: Compute) -> None:
        operation, target, operands = instruction
        if operation in _FUSED:
            self._fused(target, _FUSED[operation], operands)
        elif operation is Op.MUL:
            self._fused(target, _FUSED[FMA], (*operands, _MINUS_ZERO))
        elif operation is Op.ADD:
            self._fused(target, _FUSED[FMA], (operands[0], _ONE, operands[1]))
        elif operation is Op.SUB:
            self._fused(target, _FUSED[FMS], (operands[0], _ONE, operands[1]))
        elif operation == HALF_POWER:
            base, k = operands
            assert isinstance(k.source, float)
            self.steps.append(
                _Step(_NUMBER["half_power"], (self._positive(base),), (target,), after=(round(k.source),))
            )
        else:
            self.steps.append(_Step(_NUMBER[operation], tuple(map(self._positive, operands)), (target,)))

    def _sine_cosine(self, instruction: SineCosine) -> None:
        targets = (instruction.sine, instruction.cosine)
        self.steps.append(_Step(_NUMBER["sincos"], (self._positive(instruction.angle),), targets))

    def _sine_cosines(self, instruction: SineCosines) -> None:
        for pair in instruction.pairs:
            self._sine_cosine(pair)

    def _apply(self, instruction: Apply) -> None:
        orders = [order for each in instruction.orders for order in each]
        assert isinstance(instruction.data, Spline)
        before = (self.splines[instruction.data], len(instruction.arguments), len(instruction.targets), *orders)
        places = tuple(map(self._positive, instruction.arguments))
        self.steps.append(_Step(_NUMBER["apply"], places, instruction.targets, before))

    def _call(self, instruction: Call) -> None:
        reads = (self._positive(instruction.address), self._positive(instruction.argument))
        self.steps.append(_Step(_NUMBER["call"], reads, (instruction.target,)))

    def _pivot(self, instruction: Pivot) -> None:
        bound: Any = self._constant(0.0)
        if instruction.diagonal is not None:
            bound = ("bound", len(self.guards))
            tolerance = Operand(PIVOT * EPSILON * instruction.n_speeds)
            self._fused(bound, _FUSED[FMA], (tolerance, instruction.diagonal, _MINUS_ZERO))
        reads = (self._positive(instruction.pivot), bound)
        self.guards.append(_Step(_NUMBER["pivot"], reads, after=(instruction.speed,)))

    def _limit(self, instruction: Limit) -> None:
        self.guards.append(_Step(_NUMBER["limit"], (self._positive(instruction.excess),)))

    def _load(self, instruction: Load) -> None:
        self.sources[instruction.target] = self._source(instruction.entry)

    # ----------------------------------------------------------------------- code
    def coded(self) -> CodedPart:
        stored = [(store.entry, self._source(store.operand.source), store.operand.negative) for store in self.stores]
        loads = [entry for entries in self.loads.values() for entry in entries]
        registers: dict[Any, int] = {}
        for key in (*self.constants, *loads):
            registers[key] = len(registers)
        words: list[int] = []
        for run in self._runs(registers):
            self._write(run, words, registers)
        for _, guards in groupby(self.guards, key=lambda guard: guard.operation):
            self._write(list(guards), words, registers)
        words += (_NUMBER["end"], 0)
        if len(registers) > _LONGEST:
            raise ModelError(f"a part of a program takes {len(registers)} registers, and the machine has {_LONGEST}")
        return CodedPart(
            constants=np.array(list(self.constants.values()), dtype=np.float64),
            loads=_words(self._list_of_loads()),
            stores=_words(_list_of_stores(stored, registers)),
            code=np.array(words, dtype=np.uint16),
        )

    def _runs(self, there: Mapping[Any, int]) -> Iterable[list[_Step]]:
        """Steps in runs of equal operations; each step follows the steps with the results that it reads."""
        ready: dict[int, deque[_Step]] = {}
        waiting: list[int] = []
        readers: dict[Any, list[int]] = {}
        for i, step in enumerate(self.steps):
            missing = 0
            for key in set(step.reads):
                if key not in there:
                    readers.setdefault(key, []).append(i)
                    missing += 1
            waiting.append(missing)
            if not missing:
                ready.setdefault(step.operation, deque()).append(step)
        while ready:
            operation = max(ready, key=lambda operation: len(ready[operation]))
            run: list[_Step] = []
            able = ready[operation]
            while able and len(run) < _LONGEST:
                step = able.popleft()
                run.append(step)
                for target in step.targets:
                    for i in readers.get(target, ()):
                        waiting[i] -= 1
                        if not waiting[i]:
                            ready.setdefault(self.steps[i].operation, deque()).append(self.steps[i])
            if not able:
                del ready[operation]
            yield run

    def _write(self, run: Sequence[_Step], words: list[int], registers: dict[Any, int]) -> None:
        words += (run[0].operation, len(run))
        for step in run:
            words += step.before
            words += [registers[key] for key in step.reads]
            words += step.after
            for target in step.targets:
                registers[target] = len(registers)

    def _list_of_loads(self) -> list[int]:
        words = []
        for array, entries in self.loads.items():
            words += [_READ[array], len(entries), *(max(entry.place, 0) for entry in entries)]
        return [*words, _NO_ARRAY]


def _list_of_stores(stored: Sequence[tuple[Entry, Any, bool]], registers: Mapping[Any, int]) -> list[int]:
    words = []
    for array, number in _WRITTEN.items():
        pairs = [
            (entry.place, registers[key] | _NEGATIVE * negative)
            for entry, key, negative in stored
            if entry.array == array
        ]
        if pairs:
            words += [number, len(pairs), *(x for pair in pairs for x in pair)]
    return [*words, _NO_ARRAY]


def _words(values: Sequence[int]) -> Numbers:
    return np.array(values, dtype=np.uint32)
