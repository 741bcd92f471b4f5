# SPDX-License-Identifier: BSD-3-Clause
"""How a linear system reads: matrices with names, and its modes, as text and in cells of a table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanecore.run.modes import Mode

__all__ = ["Matrix", "cells", "listed", "mode_lines", "text"]

Array = npt.NDArray[np.float64]

_WIDTH = 80  # of a line
_COLUMN = 11  # of a number, at least


@dataclass(frozen=True)
class Matrix:
    """A matrix with the names of its rows and columns; entries that are no more than rounding are zero."""

    rows: Sequence[str]
    columns: Sequence[str]
    entries: Array


def text(matrix: Matrix) -> Iterator[str]:
    """Lines, zeros as points, in blocks of columns that fit a line."""
    width = max(map(len, matrix.rows), default=0)
    column = max(_COLUMN, *(len(name) + 2 for name in matrix.columns), 0)
    step = max(1, (_WIDTH - width) // column)
    for first in range(0, len(matrix.columns), step):
        part = slice(first, first + step)
        yield " " * width + "".join(f"{name:>{column}}" for name in matrix.columns[part])
        for name, *numbers in cells(Matrix(matrix.rows, matrix.columns, matrix.entries[:, part])):
            yield f"{name:<{width}}" + "".join(f"{number:>{column}}" for number in numbers)


def cells(matrix: Matrix) -> list[list[str]]:
    """The name and the numbers of each row."""
    return [[name, *map(_number, row)] for name, row in zip(matrix.rows, matrix.entries, strict=True)]


def listed(what: str, names: Sequence[str]) -> list[str]:
    """Lines of names, whole; none without names."""
    text = f"{what}: {', '.join(names)}" if names else ""
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def mode_lines(modes: Sequence[Mode]) -> Iterator[str]:
    """A table of modes, a line each."""
    yield f"{'eigenvalue':>24} {'frequency':>11} {'damping':>9}  states"
    for mode in modes:
        yield f"{mode.value:>24} {mode.frequency:>11.5g} {mode.damping:>9.4g}  {', '.join(mode.states)}"


def _number(value: float) -> str:
    return f"{value:.4g}" if value else "."
