# SPDX-License-Identifier: BSD-3-Clause
"""What a library of kernels is for the machine of the extension.

`kanecore.emit.bytecode` writes it, ``_interpreter.pxi`` reads it; ``kanecore/src/interpreter/kc_interpreter.h`` says
what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Code", "CodedFunction", "CodedPart", "Numbers"]

Numbers = npt.NDArray[np.generic]


@dataclass(frozen=True)
class CodedPart:
    """A part of a program: ``kc_coded_part`` without its addresses."""

    constants: Numbers
    loads: Numbers
    stores: Numbers
    code: Numbers


@dataclass(frozen=True)
class CodedFunction:
    """A function.

    Attributes
    ----------
    way : str
        How it solves; empty for a program.
    parts : tuple of CodedPart
        Of a program.
    clear, width : int
        Of a program: how many zeros come first, and how many numbers of scratch it writes.
    members : dict
        Of a way: numbers, arrays, and functions by their numbers.
    equations : tuple of int, optional
        Of a way: n, m, k, whether M is symmetric, whether they give a correction.
    sizes : tuple of int
        Of a way: of its arrays.
    instead : tuple of int
        Of a way: those of its functions that take all of its scratch.
    """

    way: str
    parts: tuple[CodedPart, ...] = ()
    clear: int = 0
    width: int = 0
    members: Mapping[str, Any] = field(default_factory=dict)
    equations: tuple[int, int, int, bool, bool] | None = None
    sizes: tuple[int, ...] = ()
    instead: tuple[int, ...] = ()


@dataclass(frozen=True)
class Code:
    """What a library holds, for the machine.

    Attributes
    ----------
    operations : tuple of str
        Those that the numbers in the code mean.
    sizes : dict
        Of the table, by its members.
    names : dict
        The same of its lists of names.
    numbers : dict
        The same of its arrays.
    flags : int
    functions : tuple of CodedFunction
        Each after those that it calls.
    kernels : dict
        Of each kernel its function, the one that fills what stands before in ``out``, or −1, and the offset and the
        length of all.
    prepare, counting : int or None
        The functions that prepare constants, and count rows.
    splines : tuple
        Of each its knots along each argument, what is known at each knot, and what it is outside.
    """

    operations: tuple[str, ...]
    sizes: Mapping[str, int]
    names: Mapping[str, Sequence[str]]
    numbers: Mapping[str, Sequence[float]]
    flags: int
    functions: tuple[CodedFunction, ...]
    kernels: Mapping[str, tuple[int, int, int, int]]
    prepare: int | None
    counting: int | None
    splines: tuple[tuple[tuple[Numbers, ...], Numbers, int], ...]
