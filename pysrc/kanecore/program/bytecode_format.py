# SPDX-License-Identifier: BSD-3-Clause
"""Format of a library of kernels as bytecode, for the interpreter of the extension.

`kanecore.emit.bytecode` writes it, and ``_interpreter.pxi`` reads it; ``kanecore/src/interpreter/kc_interpreter.h``
defines the numbers.
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
    """A part of a program, ``kc_coded_part`` without its addresses."""

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
        Name of the solver; empty for a program.
    parts : tuple of CodedPart
        Parts of a program.
    clear, width : int
        For a program: the number of zeros first in ``out``, and the number of scratch entries that it writes.
    members : dict
        Members of a solver: numbers, arrays, and functions by their numbers.
    equations : tuple of int, optional
        For a solver: n, m, k, whether M is symmetric, whether the solution is a correction.
    sizes : tuple of int
        Sizes of a solver's arrays.
    instead : tuple of int
        Functions of a solver that use the whole scratch in place of the solver.
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
    """Content of a library, for the interpreter.

    Attributes
    ----------
    operations : tuple of str
        Operations, by their numbers in the code.
    sizes : dict
        Sizes in the table, by its members.
    names : dict
        Lists of names in the table, by its members.
    numbers : dict
        Arrays in the table, by its members.
    flags : int
    functions : tuple of CodedFunction
        The functions; each follows those that it calls.
    kernels : dict
        For each kernel its function; the function that fills the entries of ``out`` before, or −1; the offset of the
        kernel's entries, and the length of ``out``.
    prepare, counting : int or None
        The functions that prepare constants, and count rows.
    splines : tuple
        For each spline its knots along each argument, the data at each knot, and its continuation outside.
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
