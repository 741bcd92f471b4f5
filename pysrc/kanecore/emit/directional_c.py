# SPDX-License-Identifier: BSD-3-Clause
"""C for directional derivatives along several directions at one state: numbers at the state, packs for directions.

A directional derivative is linear in its direction: packs are added, multiplied with numbers, and compared with zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.graph.expression_graph import Op
from kanecore.graph.operations import OPERATIONS
from kanecore.program.function_parts import OUT, SCRATCH, Parts
from kanecore.program.instructions import (
    FMA,
    FMS,
    FNMA,
    FNMS,
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
    operands,
)

from .c_target import C

__all__ = ["DIRECTIONS", "Along"]

DIRECTIONS = "d"
"""The array of packs of directions."""

_OF_PACKS = {FMA: "KC_FMA_ALONG", FMS: "KC_FMS_ALONG", FNMA: "KC_FNMA_ALONG", FNMS: "KC_FNMS_ALONG"}
_OF_PLACE = (SineCosine, SineCosines, Apply, Call, Pivot, Limit)


class Along(C):
    """C with the functions of ``directions.h``, in addition to the headers of `C`.

    An object writes one function, as it remembers which values are packs.

    Parameters
    ----------
    directions : range, optional
        Places in the scratch that correspond to the entries of ``d``.
    """

    passed = "t, x, r, c, d, w, out"

    def __init__(self, directions: range = range(0)) -> None:
        self._packs: set[Value | Entry] = set()
        self._directions = directions

    @property
    def arguments(self) -> str:
        return f"{super().arguments}, const kc_loose_pack *{DIRECTIONS}"

    @property
    def results(self) -> str:
        return "double *w, kc_loose_pack *out"

    def function(self, name: str, parts: Parts) -> str:
        assert all(
            not self._is_pack(operand)
            for part in parts.parts
            for each in part
            if isinstance(each, _OF_PLACE)
            for operand in operands(each)
        )
        return super().function(name, parts)

    def operand(self, operand: Operand) -> str:
        return super().operand(operand._replace(source=self._placed(operand.source)))

    def _placed(self, source: Value | Entry | float | str) -> Value | Entry | float | str:
        if isinstance(source, Entry) and source.array == SCRATCH and source.place in self._directions:
            return Entry(DIRECTIONS, source.place - self._directions.start)
        return source

    def _is_pack(self, operand: Operand) -> bool:
        source = self._placed(operand.source)
        return source in self._packs or (isinstance(source, Entry) and source.array == DIRECTIONS)

    def _as_pack(self, operand: Operand) -> str:
        text = self.operand(operand)
        return text if self._is_pack(operand) else f"KC_ALONG({text})"

    def _of_one_type(self, operand: Operand) -> str:
        """Pack for a choice: both alternatives need the same type, and directions may be unaligned in memory."""
        text = self._as_pack(operand)
        return f"(kc_pack)({text})" if isinstance(operand.source, Entry) and self._is_pack(operand) else text

    def compute(self, instruction: Compute) -> str:
        operation, target, given = instruction
        if not any(map(self._is_pack, given)):
            return super().compute(instruction)
        self._packs.add(target)
        return f"const kc_pack {self.value(target)} = {self._of_packs(operation, given)};"

    def _of_packs(self, operation: str, operands: Sequence[Operand]) -> str:
        if operation in _OF_PACKS:
            return f"{_OF_PACKS[operation]}({', '.join(map(self._as_pack, operands))})"
        if operation is Op.SELECT:
            condition, one, other = map(self._of_one_type, operands)
            if self._is_pack(operands[0]):
                return f"KC_PICK_ALONG({condition} != KC_ALONG(0.0), {one}, {other})"
            return self.choice(f"{self.operand(operands[0])} != 0.0", one, other)
        one, other = map(self._as_pack, operands)
        text = f"{one} {OPERATIONS[operation].c} {f'({other})' if other.startswith('-') else other}"
        # comparison with 0; directions have no infinities
        return text if operation is not Op.EQ else f"KC_PICK_ALONG({text}, KC_ALONG(1.0), KC_ALONG(0.0))"

    def load(self, instruction: Load) -> str:
        """A slot of the scratch has room for a pack."""
        value, entry = instruction
        if entry in self._packs:
            self._packs.add(value)
            return f"const kc_pack {self.value(value)} = *(const kc_loose_pack *)({self._slot(entry)});"
        return f"const double {self.value(value)} = *({self._slot(entry)});"

    def clear(self, instruction: Clear) -> str:
        return f"kc_clear({instruction.length} * KC_PACK, (double *){instruction.array});"

    def store(self, instruction: Store) -> str:
        entry, operand = instruction
        if entry.array == OUT:
            return f"out[{entry.place}] = {self._as_pack(operand)};"
        if self._is_pack(operand):
            self._packs.add(entry)
            return f"*(kc_loose_pack *)({self._slot(entry)}) = {self.operand(operand)};"
        self._packs.discard(entry)
        return f"*({self._slot(entry)}) = {self.operand(operand)};"

    def _slot(self, entry: Entry) -> str:
        assert entry.array == SCRATCH
        return f"w + {entry.place} * KC_PACK"
