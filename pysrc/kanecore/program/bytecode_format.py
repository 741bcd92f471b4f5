# SPDX-License-Identifier: BSD-3-Clause
"""Format of a library of kernels as bytecode, for the machine of the extension.

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
    solver : str
        How it solves; empty for a program.
    parts : tuple of CodedPart
        Parts of a program.
    clear, width : int
        In a program: how many zeros come first, and how many numbers of scratch it writes.
    members : dict
        Members of a solver: numbers, arrays, and functions by their numbers.
    equations : tuple of int, optional
        For a solver: n, m, k, whether M is symmetric, whether they give a correction.
    sizes : tuple of int
        Sizes of a solver's arrays.
    instead : tuple of int
        Functions of a solver that take all of its scratch.
    """

    solver: str
    parts: tuple[CodedPart, ...] = ()
    clear: int = 0
    width: int = 0
    members: Mapping[str, Any] = field(default_factory=dict)
    equations: tuple[int, int, int, bool, bool] | None = None
    sizes: tuple[int, ...] = ()
    instead: tuple[int, ...] = ()


@dataclass(frozen=True)
class Code:
    """Content of a library, for the machine.

    Attributes
    ----------
    operations : tuple of str
        Operations that the numbers in the code mean.
    sizes : dict
        Sizes in the table, by its members.
    names : dict
        Lists of names in the table, by its members.
    numbers : dict
        Arrays in the table, by its members.
    flags : int
    functions : tuple of CodedFunction
        The functions, each after those that it calls.
    kernels : dict
        For each kernel its function, the function that fills the entries before in ``out``, or −1, and the offset
        and the length of all.
    prepare, counting : int or None
        The functions that prepare constants, and count rows.
    splines : tuple
        For each spline its knots along each argument, the data at each knot, and how it continues outside.
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
