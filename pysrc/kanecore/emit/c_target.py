# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C99, on doubles or on floats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kanecore.errors import ModelError
from kanecore.graph.expression_graph import Data, Op
from kanecore.graph.operations import OPERATIONS
from kanecore.program.function_parts import Parts
from kanecore.program.instructions import (
    FMA,
    FMS,
    FNMA,
    FNMS,
    HALF_POWER,
    Apply,
    Call,
    Clear,
    Compute,
    Entry,
    Limit,
    Load,
    Operand,
    Pivot,
    SineCosine,
    SineCosines,
    Store,
    Value,
)
from kanecore.tolerances import EPSILON, IN_C, LAST_STEP, LAST_STEP_IN_FLOATS, of_floats

from .target import Target

__all__ = ["C", "Single", "Singles", "part_names"]

_LARGEST_FLOAT = float(np.finfo(np.float32).max)
_SIGNS = {op: row.c for op, row in OPERATIONS.items() if row.c and not row.c.isidentifier()}
_INLINE = {FMA: "KC_FMA", FMS: "KC_FMS", FNMA: "KC_FNMA", FNMS: "KC_FNMS"}  # headers of the runtime for every real type
_INLINE |= {op: row.c for op, row in OPERATIONS.items() if row.c.startswith("kc_")}


class C(Target):
    """C99 on doubles.

    Programs call functions of the :attr:`headers` in ``runtime/``.  The function of a program returns 0, or a fault
    (``arithmetic.h``).
    """

    number = "double"  # type of a number in the arrays of a kernel
    real = "double"  # type in a program: a number of one state, or a number for each of several states
    time = "t"  # a kernel's time, which is a double
    flags: tuple[str, ...] = ()  # of the table
    each_lane = ""  # factor of the length of an array, so that each state has one
    outcome = "int"  # the type that the function of a program returns
    in_c: Mapping[str, float] = IN_C  # tolerances
    side_by_side = True  # whether headers define packs of directions at the same state
    several = True  # whether headers define the sines and cosines of 4 and 8 angles in one call
    epsilon, last_step = EPSILON, LAST_STEP
    headers: tuple[str, ...] = (
        *("prelude.h", "double.h", "number_bits.h", "sincos.h", "large_angles.h"),
        *("pack.h", "sincos.h", "sincos_of_several.h"),
        *("scalar.h", "arithmetic.h"),
    )

    # ---------------------------------------------------------------- operands
    def literal(self, value: float) -> str:
        """Literal that reads back as exactly this finite number."""
        return repr(float(value))

    def operand(self, operand: Operand) -> str:
        source, negative = operand
        if isinstance(source, Value):
            text = self.value(source)
        elif isinstance(source, Entry):
            text = source.array if source.place < 0 else f"{source.array}[{source.place}]"
        else:
            text = self.constant(self.last_step if isinstance(source, str) else source)
        return f"-{text}" if negative else text

    def constant(self, value: float) -> str:
        """Text of a number as an operand."""
        return self.literal(value)

    def value(self, value: Value) -> str:
        """Name of the result of an instruction: z7, or s7 and c7."""
        number, of = value
        return f"{of[0]}{number}" if of else f"z{number}"

    def numbers(self, values: Iterable[float]) -> str:
        """Entries of an array; NaN for missing values."""
        return ", ".join("KC_NAN" if math.isnan(value) else self.literal(value) for value in values)

    def _signed(self, operand: Operand) -> str:
        """Text of an operand that may follow an operator."""
        text = self.operand(operand)
        return f"({text})" if text.startswith("-") else text

    def table(self, data: Data) -> str:
        """The name of the table of a spline (:mod:`.library_tables`), the same for the same data."""
        return f"spline_{data.digest[:16]}"

    def library(self, op: str) -> str:
        """The name of a function of the C library."""
        return OPERATIONS[op].c

    def tolerances(self) -> str:
        """`kanecore.tolerances` as macros, for the runtime."""
        lines = "".join(f"#define KC_{name} {self.literal(value)}\n" for name, value in self.in_c.items())
        return (
            f"/* What counts as equal, relative to what is compared; the reasons: kanecore/tolerances.py. */\n{lines}\n"
        )

    def stored(self, kind: str, function: str) -> str:
        """Function as an entry of the table, in which all are functions of doubles."""
        return function

    # -------------------------------------------------------------- statements
    def compute(self, instruction: Compute) -> str:
        operation, target, operands = instruction
        return f"const {self.real} {self.value(target)} = {self._expression(operation, operands)};"

    def _expression(self, op: str, operands: Sequence[Operand]) -> str:
        a = self.operand(operands[0])
        if op is Op.SELECT:
            return self.choice(f"{a} != {self.constant(0.0)}", *map(self.operand, operands[1:]))
        if op == HALF_POWER:
            factors = " * ".join([self._signed(operands[0])] * round(_number(operands[1])))
            return f"{factors} * {self.library(Op.SQRT)}({a})"
        if op in _SIGNS:
            text = f"{a} {_SIGNS[op]} {self._signed(operands[1])}"
            return self.choice(text, self.constant(1.0), self.constant(0.0)) if OPERATIONS[op].whole else text
        function = _INLINE.get(op) or self.library(op)
        return f"{function}({', '.join(map(self.operand, operands))})"

    def choice(self, condition: str, if_true: str, if_false: str) -> str:
        """Expression that selects one of two numbers by a condition."""
        return f"{condition} ? {if_true} : {if_false}"

    def sine_cosine(self, instruction: SineCosine) -> str:
        sine, cosine = self.value(instruction.sine), self.value(instruction.cosine)
        call = f"kc_sincos({self.operand(instruction.angle)}, &{sine}, &{cosine});"
        return f"{self.real} {sine}, {cosine};\n    {call}"

    def sine_cosines(self, instruction: SineCosines) -> str:
        if not self.several:
            return super().sine_cosines(instruction)
        pairs = instruction.pairs
        number, room = pairs[0].sine.number, next(n for n in (4, 8) if n >= len(pairs))
        angles = [self.operand(pair.angle) for pair in pairs] + [self.literal(0.0)] * (room - len(pairs))
        lines = [
            f"{self.real} sines{number}[{room}], cosines{number}[{room}];",
            f"kc_sincos_{room}({', '.join(angles)}, sines{number}, cosines{number});",
        ]
        for k, pair in enumerate(pairs):
            values = zip(pair[:2], ("sines", "cosines"), strict=True)
            names = [
                f"{self.value(value)} = {array}{number}[{k}]" for value, array in values if value in instruction.read
            ]
            lines.append(f"const {self.real} {', '.join(names)};")
        return "\n    ".join(lines)

    def apply(self, instruction: Apply) -> str:
        spline, number = f"&{self.table(instruction.data)}", instruction.targets[0].number
        places = {
            f"{axis}{number}": f"kc_locate({spline}, {place}, {self.operand(x)})"
            for place, (axis, x) in enumerate(zip("ab", instruction.arguments, strict=False))
        }
        function = ("kc_cubic", "kc_bicubic")[len(places) - 1]
        lines = [f"const kc_segment {place} = {call};" for place, call in places.items()]
        for value, orders in zip(instruction.targets, instruction.orders, strict=True):
            arguments = ", ".join([spline, *places, *map(str, orders)])
            lines.append(f"const {self.real} {self.value(value)} = {function}({arguments});")
        return "\n    ".join(lines)

    def call(self, instruction: Call) -> str:
        function = f"((double (*)(double))(uintptr_t){self.operand(instruction.address)})"
        return f"const {self.real} {self.value(instruction.target)} = {function}({self.operand(instruction.argument)});"

    def pivot(self, instruction: Pivot) -> str:
        bound = self.literal(0.0)
        if instruction.diagonal is not None:
            tolerance = self.literal(self.in_c["PIVOT"] * self.epsilon * instruction.n_speeds)
            bound = f"{tolerance} * {self._signed(instruction.diagonal)}"
        return self.end_unless(
            f"{self.operand(instruction.pivot)} > {bound}", f"KC_FAULT(KC_SINGULAR, {instruction.speed})"
        )

    def limit(self, instruction: Limit) -> str:
        return self.end_unless(f"{self.operand(instruction.excess)} <= {self.literal(0.0)}", "KC_NOT_HERE")

    def end_unless(self, condition: str, fault: str) -> str:
        """End the program with a fault unless the condition is true; it is false for NaN."""
        return f"if (KC_UNLIKELY(!({condition}))) return {fault};"

    def load(self, instruction: Load) -> str:
        return f"const {self.real} {self.value(instruction.target)} = {self.operand(Operand(instruction.entry))};"

    def store(self, instruction: Store) -> str:
        return f"{self.operand(Operand(instruction.entry))} = {self.operand(instruction.operand)};"

    def clear(self, instruction: Clear) -> str:
        return f"kc_clear({instruction.length}, {instruction.array});"

    # --------------------------------------------------------------- functions
    passed = "t, x, r, c, w, out"  # the names of a C function's parameters

    @property
    def arguments(self) -> str:
        """Declared arguments that a kernel reads."""
        return f"{self.real} t, const {self.real} *x, const {self.real} *r, const {self.real} *c"

    @property
    def results(self) -> str:
        """The others."""
        return f"{self.real} *w, {self.real} *out"

    def function(self, name: str, parts: Parts) -> str:
        clear = self.statements(parts.clear)
        if len(parts.parts) == 1:
            return self._function(name, [*clear, *self.statements(parts.parts[0])])
        names = part_names(name, parts)
        statements = list(map(self.statements, parts.parts))
        statements[0] = clear + statements[0]
        texts = [self._function(part, lines, "KC_PART") for part, lines in zip(names, statements, strict=True)]
        calls = [f"{part}({self.passed})" for part in names]
        return "".join(texts) + self._function(name, self.in_turn(calls))

    def in_turn(self, calls: Sequence[str]) -> list[str]:
        """Statements that make some calls, up to the first fault."""
        return ["int fault;", *(f"if (KC_UNLIKELY((fault = {call}) != 0)) return fault;" for call in calls)]

    def _function(self, name: str, lines: Sequence[str], kind: str = "static") -> str:
        body = "".join(f"    {line}\n" for line in self.body(lines))
        return (
            f"{kind} {self.outcome} {name}({self.arguments}, {self.results})\n"
            f"{{\n    (void){', (void)'.join(self.passed.split(', '))};\n{body}}}\n\n"
        )

    def body(self, lines: Sequence[str]) -> list[str]:
        """The statements of a function, up to its end."""
        return [*lines, "return 0;"]


class Singles:
    """Properties of all targets on floats."""

    number = "float"
    flags: tuple[str, ...] = ("KC_SINGLE",)
    epsilon, last_step = 2.0**-23, LAST_STEP_IN_FLOATS
    in_c: Mapping[str, float] = of_floats(epsilon)

    def literal(self, value: float) -> str:
        """Literal of the nearest float, which must be finite."""
        if not abs(value) <= _LARGEST_FLOAT:
            raise ModelError(f"{value!r} is a constant too large for a float: leave out real='float'")
        return f"{float(np.float32(value))!r}f"

    def stored(self, kind: str, function: str) -> str:
        return f"KC_STORED({kind}, {function})"


class Single(Singles, C):
    """C99 on floats; see :file:`runtime/single.h`."""

    real = "float"
    time = "(float)t"
    side_by_side = several = False
    headers = ("prelude.h", "single.h", "number_bits.h", "sincos.h", "large_angles.h", "scalar.h", "arithmetic.h")

    def library(self, op: str) -> str:
        return f"{super().library(op)}f"


def part_names(name: str, parts: Parts) -> list[str]:
    """Names of the functions of a program in several parts."""
    return [f"{name}_{number}" for number in range(1, len(parts.parts) + 1)]


def _number(operand: Operand) -> float:
    assert isinstance(operand.source, float)
    return operand.source
