# SPDX-License-Identifier: BSD-3-Clause
"""The declaration of a kernel by name, with its sizes in one model: for what hands kernels to other code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kanecore.errors import unknown_name
from kanecore.kernels import KERNELS, Kernel

if TYPE_CHECKING:
    from kanecore._native import Model

__all__ = ["kernel_of_state", "length_of_x", "row_of", "shape_of"]

_ROWS = {row.name: row for row in KERNELS}


def row_of(kernel: str) -> Kernel:
    """Its declaration; KeyError where there is no such kernel."""
    if kernel not in _ROWS:
        raise unknown_name("kernel is called", kernel, [name for name, row in _ROWS.items() if not row.internal])
    return _ROWS[kernel]


def kernel_of_state(kernel: str) -> Kernel:
    """The same of one that reads t, x, r and p, and nothing else; KeyError for others."""
    row = row_of(kernel)
    if row.beyond:
        raise KeyError(
            f"{kernel} reads {' and '.join(row.beyond)} numbers beside t, x, r and p: call its C function by "
            f"dyn.address({kernel!r})"
        )
    return row


def shape_of(dyn: Model, row: Kernel) -> tuple[int, ...]:
    """The shape of its result for one state."""
    return row.lengths(_sizes(dyn, row))


def length_of_x(dyn: Model, row: Kernel) -> int:
    """How many numbers its x has: the state, and what goes on with it."""
    beyond = replace(row, shape=row.beyond)
    return dyn.n_x + sum(shape_of(dyn, beyond))


def _sizes(dyn: Model, row: Kernel) -> dict[str, int]:
    """The sizes of the model that the lengths of its axes name."""
    words = {word for axis in row.shape for word in axis.replace("*", " ").replace("+", " ").split()}
    return {word: getattr(dyn, word) for word in words if not word.isdigit()}
