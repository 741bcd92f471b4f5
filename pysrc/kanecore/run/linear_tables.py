# SPDX-License-Identifier: BSD-3-Clause
"""How a linear system reads: matrices with names, and its modes, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

from kanecore.run.modes import Mode

__all__ = ["Matrix", "html", "mode_lines", "text"]

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
        for name, row in zip(matrix.rows, matrix.entries[:, part], strict=True):
            yield f"{name:<{width}}" + "".join(f"{_number(value):>{column}}" for value in row)


def html(matrix: Matrix) -> str:
    """A table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *matrix.columns))
    lines = [
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{_number(value)}</td>' for value in row)}</tr>"
        for name, row in zip(matrix.rows, matrix.entries, strict=True)
    ]
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def mode_lines(modes: Sequence[Mode]) -> Iterator[str]:
    """A table of modes, a line each."""
    yield f"{'eigenvalue':>24} {'frequency':>11} {'damping':>9}  states"
    for mode in modes:
        yield f"{mode.value:>24} {mode.frequency:>11.5g} {mode.damping:>9.4g}  {', '.join(mode.states)}"


def _number(value: float) -> str:
    return f"{value:.4g}" if value else "."
