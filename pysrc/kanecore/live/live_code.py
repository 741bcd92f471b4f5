# SPDX-License-Identifier: BSD-3-Clause
"""Code of a model for the player of a page: the bytecode of some kernels as words, which the player reads once.

``kanecore/player/kc_player.c`` reads the words: 32-bit numbers, and arrays, each after its length.  Arrays of doubles
begin at multiples of eight bytes; words are little-endian.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.description import Description
from kanecore.emit.bytecode import FIRST, OPERATIONS, code
from kanecore.emit.kernel_groups import whole
from kanecore.errors import KanecoreError
from kanecore.program.bytecode_format import Code, CodedFunction
from kanecore.program.garbage_collection import no_collection

__all__ = ["KERNELS", "STIFF", "player", "words_of"]

STIFF = ("linearize", "rhs_time_derivative")
"""Kernels for methods for stiff systems."""

KERNELS = (
    *("rhs", "qdot", "forward_dynamics", "project", "kinetic_energy", "potential_energy", "power", "positions"),
    *("orientations", "joint_positions", "partial_velocities", "partial_angular_velocities"),
    *("configuration_residual", "velocity_residual", "outputs", *STIFF, "zdot"),
)
"""Kernels of a page, in the order of their numbers in the player."""

_SIZES = (
    *("n_q", "n_u", "n_r", "n_p", "n_prepared", "n_points", "n_frames", "n_joints", "n_outputs"),
    *("n_configuration", "n_velocity", "n_z"),
)
_NONE = 0xFFFFFFFF
_PLAYER = Path(__file__).with_name("player.wasm")


def player() -> bytes:
    """The player, in WebAssembly; KanecoreError if it is older than the bytecode."""
    wasm = _PLAYER.read_bytes()
    if _operations().encode() not in wasm:
        raise KanecoreError(
            f"{_PLAYER.name} is older than the bytecode of this kanecore: python -m kanecore.build.web_player compiles "
            "it in a source folder"
        )
    return wasm


@no_collection()
def words_of(description: Description, stiff: bool) -> bytes:
    """Code of a model's kernels for a page, with or without those for stiff systems."""
    wanted = ["udot"]  # rhs = [qdot, this]
    wanted += [name for name in KERNELS if stiff or name not in STIFF]
    return _written(code(whole(description, first=FIRST, kernels=wanted), with_facts=False))


def _operations() -> str:
    return "".join(f"{name} " for name in OPERATIONS)


def _written(code: Code) -> bytes:
    words = _Words()
    words.text(_operations())
    words.numbers(*(code.sizes.get(name, 0) for name in _SIZES))
    words.array(code.numbers["unit"], np.uint32)
    words.numbers(len(code.splines))
    for knots, hermite, outside in code.splines:
        words.numbers(len(knots))
        for axis in knots:
            words.array(axis, np.float64)
        words.array(hermite, np.float64)
        words.numbers(outside)
    words.numbers(len(code.functions))
    for function in code.functions:
        words.text(function.solver)
        (_write_way if function.solver else _write_program)(words, function)
    kernels = {name: row for name, row in code.kernels.items() if name in KERNELS}
    words.numbers(len(kernels))
    for name, (number, before, offset, length) in kernels.items():
        words.numbers(KERNELS.index(name), number, _NONE if before < 0 else before, offset, length)
    for special in (code.prepare, code.counting):
        words.numbers(_NONE if special is None else special)
    return bytes(words.written)


def _write_program(words: _Words, function: CodedFunction) -> None:
    words.numbers(function.clear, function.width, len(function.parts))
    for part in function.parts:
        words.array(part.constants, np.float64)
        words.array(part.loads, np.uint32)
        words.array(part.stores, np.uint32)
        words.array(part.code, np.uint16)


def _write_way(words: _Words, function: CodedFunction) -> None:
    words.numbers(function.equations is not None, *(function.equations or ()))
    words.array(function.sizes, np.int32)
    words.array(function.instead, np.uint32)
    words.numbers(len(function.members))
    for name, value in function.members.items():
        words.text(name)
        if isinstance(value, np.ndarray):
            words.array(value, value.dtype)
        else:
            words.numbers(value)


class _Words:
    """A growing list of 32-bit words."""

    def __init__(self) -> None:
        self.written = bytearray()

    def numbers(self, *values: Any) -> None:
        self.written += np.array([int(value) & _NONE for value in values], dtype="<u4").tobytes()

    def array(self, values: Any, dtype: npt.DTypeLike) -> None:
        array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
        self.numbers(array.size)
        if array.itemsize == 8 and len(self.written) % 8:
            self.numbers(0)
        self.written += array.tobytes()
        self.written += bytes(-len(self.written) % 4)

    def text(self, text: str) -> None:
        self.array(np.frombuffer(text.encode() + b"\0", dtype=np.uint8), np.uint8)
