# SPDX-License-Identifier: BSD-3-Clause
"""Interface of a target language of programs: its real numbers, operations and functions.

A program is the same for all targets.  Solvers, the table and the prelude are C's
(:mod:`kanecore.emit.solver_calls`, :mod:`kanecore.emit.kernel_library`), and take any real type that C has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from kanecore.program.function_parts import Parts
from kanecore.program.instructions import (
    Apply,
    Call,
    Clear,
    Compute,
    Instruction,
    Limit,
    Load,
    Operand,
    Pivot,
    SineCosine,
    SineCosines,
    Store,
)

__all__ = ["Target"]


class Target(ABC):
    """A language with a type of real numbers.

    For each instruction there is a method that writes it as a statement.

    Attributes
    ----------
    real : str
        The name of the type.
    epsilon : float
        The distance from 1 to the next number of the type.
    """

    real: str
    epsilon: float

    @abstractmethod
    def literal(self, value: float) -> str:
        """Literal of the number of the type nearest to a double."""

    @abstractmethod
    def operand(self, operand: Operand) -> str:
        """A value, an entry or a number, with its sign."""

    @abstractmethod
    def compute(self, instruction: Compute) -> str: ...

    @abstractmethod
    def sine_cosine(self, instruction: SineCosine) -> str: ...

    def sine_cosines(self, instruction: SineCosines) -> str:
        """Sines and cosines, one after the other unless the language has several in one call."""
        return "\n    ".join(map(self.sine_cosine, instruction.pairs))

    @abstractmethod
    def apply(self, instruction: Apply) -> str: ...

    @abstractmethod
    def call(self, instruction: Call) -> str: ...

    @abstractmethod
    def pivot(self, instruction: Pivot) -> str: ...

    @abstractmethod
    def limit(self, instruction: Limit) -> str: ...

    @abstractmethod
    def load(self, instruction: Load) -> str: ...

    @abstractmethod
    def store(self, instruction: Store) -> str: ...

    @abstractmethod
    def clear(self, instruction: Clear) -> str: ...

    @abstractmethod
    def function(self, name: str, parts: Parts) -> str:
        """The functions of a program."""

    def statements(self, instructions: Sequence[Instruction]) -> list[str]:
        writers: dict[type, Callable[[Any], str]] = {
            Compute: self.compute,
            SineCosine: self.sine_cosine,
            SineCosines: self.sine_cosines,
            Apply: self.apply,
            Call: self.call,
            Pivot: self.pivot,
            Limit: self.limit,
            Load: self.load,
            Store: self.store,
            Clear: self.clear,
        }
        return [writers[type(each)](each) for each in instructions]
