# SPDX-License-Identifier: BSD-3-Clause
"""The instructions of a kernel, without syntax; targets write them (:mod:`kanecore.emit.target`).

An operand is the result of an earlier instruction, an entry of a named array, or a number.  Operands may be negated at
no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kanecore.graph.expression_graph import Data
from kanecore.graph.operations import OPERATIONS

__all__ = [
    "FMA",
    "FMS",
    "FNMA",
    "FNMS",
    "HALF_POWER",
    "TOGETHER",
    "Apply",
    "Call",
    "Clear",
    "Compute",
    "Entry",
    "Instruction",
    "Limit",
    "Load",
    "Operand",
    "Pivot",
    "Program",
    "SineCosine",
    "SineCosines",
    "Store",
    "Value",
    "operands",
    "values",
]

# Operations in addition to those of the graph: a b + c, a b - c, c - a b, -a b - c, each rounded once; and x^k sqrt(x).
FMA, FMS, FNMA, FNMS = "fma", "fms", "fnma", "fnms"
HALF_POWER = "half power"

TOGETHER = 8  # largest number of angles in one call: the length of the widest vectors


class Value(NamedTuple):
    """Result of the instruction with this ``number``; an instruction may make both a sine and a cosine."""

    number: int
    function: str = ""  # which of two results: Op.SIN, Op.COS


class Entry(NamedTuple):
    """Entry of an array of real numbers; with ``place`` −1, a single number of that name, such as the time t."""

    array: str
    place: int = -1


class Operand(NamedTuple):
    """Operand of an instruction; the source `Op.LAST_STEP`, a text, is a number of the real type."""

    source: Value | Entry | float | str
    negative: bool = False

    def negated(self) -> Operand:
        return Operand(self.source, not self.negative)


class Compute(NamedTuple):
    """Instruction ``target = operation(operands)``, with an operation of the graph or of this module."""

    operation: str
    target: Value
    operands: tuple[Operand, ...]


class SineCosine(NamedTuple):
    """Sine and cosine of one angle [rad], by one call."""

    sine: Value
    cosine: Value
    angle: Operand


class SineCosines(NamedTuple):
    """Sines and cosines of several angles by one call, at most :data:`TOGETHER`."""

    pairs: tuple[SineCosine, ...]
    read: tuple[Value, ...]  # the results that further instructions read


class Apply(NamedTuple):
    """Derivatives of a function given by data, at the same arguments: ``targets[i]`` has the order ``orders[i]``."""

    data: Data
    orders: tuple[tuple[int, ...], ...]
    targets: tuple[Value, ...]
    arguments: tuple[Operand, ...]


class Call(NamedTuple):
    """The value of a C function at an argument; the address of the function is a number, too."""

    target: Value
    address: Operand
    argument: Operand


class Pivot(NamedTuple):
    """Instruction that ends the program, and reports a speed, unless ``pivot > PIVOT n ε diagonal`` (or ``> 0``)."""

    pivot: Operand
    diagonal: Operand | None
    n_speeds: int
    speed: int


class Limit(NamedTuple):
    """Instruction that ends the program unless ``excess <= 0``."""

    excess: Operand


class Load(NamedTuple):
    """Load a value that an earlier part of the program stored."""

    target: Value
    entry: Entry


class Store(NamedTuple):
    """Store a value in an array."""

    entry: Entry
    operand: Operand


class Clear(NamedTuple):
    """Set the first ``length`` entries of an array to zero."""

    array: str
    length: int


Instruction = Compute | SineCosine | SineCosines | Apply | Call | Pivot | Limit | Load | Store | Clear


@dataclass(frozen=True)
class Program:
    """Straight-line program of a kernel; :mod:`.function_parts` adds loads and stores.

    Attributes
    ----------
    instructions : tuple of Instruction
        In order.
    results : tuple of Operand
        In the order of ``out``.
    """

    instructions: tuple[Instruction, ...]
    results: tuple[Operand, ...]

    @property
    def fails(self) -> bool:
        """Test whether the program may end without results."""
        return any(isinstance(each, (Pivot, Limit)) for each in self.instructions)


def operands(instruction: Instruction) -> tuple[Operand, ...]:
    """Operands of an instruction."""
    match instruction:
        case Compute():
            return instruction.operands
        case SineCosine():
            return (instruction.angle,)
        case SineCosines(pairs, _):
            return tuple(pair.angle for pair in pairs)
        case Apply():
            return instruction.arguments
        case Call(_, address, argument):
            return address, argument
        case Pivot(pivot, diagonal):
            return (pivot,) if diagonal is None else (pivot, diagonal)
        case Limit(operand) | Store(_, operand):
            return (operand,)
    return ()


def values(instruction: Instruction) -> tuple[Value, ...]:
    """Results of an instruction."""
    match instruction:
        case Compute(_, target) | Load(target) | Call(target):
            return (target,)
        case SineCosine(sine, cosine):
            return sine, cosine
        case SineCosines(pairs, _):
            return tuple(value for pair in pairs for value in (pair.sine, pair.cosine))
        case Apply():
            return instruction.targets
    return ()


assert {FMA, FMS, FNMA, FNMS, HALF_POWER}.isdisjoint(OPERATIONS)
