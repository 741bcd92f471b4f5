# SPDX-License-Identifier: BSD-3-Clause
"""Facts of kernels by name: their declaration with its sizes in a model, and the sparsity of their matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.errors import ModelError, unknown_name
from kanecore.kernels import KERNELS, Kernel

if TYPE_CHECKING:
    from kanecore._native import Model
    from kanecore.binding.evaluator import Evaluator

__all__ = ["kernel_of_state", "length_of_x", "row_of", "shape_of", "sparsity"]

_ROWS = {row.name: row for row in KERNELS}


def row_of(kernel: str) -> Kernel:
    """Declaration of a kernel; KeyError if there is no such kernel."""
    if kernel not in _ROWS:
        raise unknown_name("kernel is called", kernel, [name for name, row in _ROWS.items() if not row.internal])
    return _ROWS[kernel]


def kernel_of_state(kernel: str) -> Kernel:
    """Declaration of a kernel that reads only t, x, r and p; KeyError for other kernels."""
    row = row_of(kernel)
    if row.beyond:
        raise KeyError(
            f"{kernel} reads {' and '.join(row.beyond)} numbers in addition to t, x, r and p: call its C function by "
            f"dyn.address({kernel!r})"
        )
    return row


def shape_of(dyn: Model, row: Kernel) -> tuple[int, ...]:
    """The shape of a kernel's result for one state."""
    return row.lengths(_sizes(dyn, row))


def length_of_x(dyn: Model, row: Kernel) -> int:
    """Length of the vector x of a kernel: the state, then u̇, λ and the vectors that it reads."""
    beyond = replace(row, shape=row.beyond)
    return dyn.n_x + sum(shape_of(dyn, beyond))


def _sizes(dyn: Model, row: Kernel) -> dict[str, int]:
    """The sizes of the model that occur in the lengths of axes."""
    words = {word for axis in row.shape for word in axis.replace("*", " ").replace("+", " ").split()}
    return {word: getattr(dyn, word) for word in words if not word.isdigit()}


Numbers = npt.NDArray[np.intp]

PATTERNS = (
    *("mass_matrix", "constraint_jacobian", "configuration_jacobian", "coriolis_matrix", "linearize"),
    *("rhs_time_derivative", "rhs_parameter_jacobian", "output_jacobian"),
)
"""The nonempty kernels with patterns in a library."""


@method("Control and derivatives")
def sparsity(dyn: Evaluator, kernel: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Places of entries that can be nonzero at some state, as pairs of indices.

    Parameters
    ----------
    kernel : str
        "mass_matrix", "constraint_jacobian", "configuration_jacobian", "coriolis_matrix", "output_jacobian",
        "rhs_time_derivative", "rhs_parameter_jacobian", or "linearize": [A B]; "rhs" means "linearize".

    Returns
    -------
    rows, columns : ndarray of int
        Row by row, for ``scipy.sparse.coo_array((values[rows, columns], (rows, columns)))``.  Solutions at run time
        count as full in the speeds that the mass matrix or constraints connect.

    Raises
    ------
    KeyError
        The kernel has no pattern.
    ModelError
        The model has no such kernel.
    """
    dyn.build("derivatives")
    known: Mapping[str, Sequence[str]] = dyn.libraries.info.get("sparsity", {})
    name = "linearize" if kernel == "rhs" else kernel
    if name not in PATTERNS:
        raise KeyError(f"no pattern of {kernel!r}; there are patterns of rhs, {', '.join(PATTERNS)}")
    why = dyn.kernels.why_not(name) or (
        "" if known else "it was compiled without: compile it again, with kernels='all'"
    )
    if why:
        raise ModelError(f"{dyn.name!r} has no pattern of its {name.replace('_', ' ')}: {why}")
    pattern = [int(row, 16) for row in known.get(name, [])]
    places = [(i, j) for i, row in enumerate(pattern) for j in range(row.bit_length()) if row >> j & 1]
    rows, columns = np.array(places, dtype=np.intp).reshape(-1, 2).T
    return np.ascontiguousarray(rows), np.ascontiguousarray(columns)
