# SPDX-License-Identifier: BSD-3-Clause
"""Where the matrices of a model can be other than zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["nonzeros"]

Numbers = npt.NDArray[np.intp]

PATTERNS = (
    *("mass_matrix", "constraint_jacobian", "configuration_jacobian", "coriolis_matrix", "linearize"),
    *("rhs_time_derivative", "rhs_parameter_jacobian", "output_jacobian"),
)
"""The kernels whose patterns a library knows, unless they have no elements."""


def nonzeros(dyn: Kernels, kernel: str, known: Mapping[str, Sequence[str]]) -> tuple[Numbers, Numbers]:
    """The places that the patterns of a model have for a kernel; see `CompiledModel.sparsity`."""
    name = "linearize" if kernel == "rhs" else kernel
    if name not in PATTERNS:
        raise KeyError(f"no pattern of {kernel!r}; there are those of rhs, {', '.join(PATTERNS)}")
    why = dyn._why_not(name) or ("" if known else "it was compiled without: compile it again, with kernels='all'")
    if why:
        raise ModelError(f"{dyn.name!r} has no pattern of its {name.replace('_', ' ')}: {why}")
    pattern = [int(row, 16) for row in known.get(name, [])]
    places = [(i, j) for i, row in enumerate(pattern) for j in range(row.bit_length()) if row >> j & 1]
    rows, columns = np.array(places, dtype=np.intp).reshape(-1, 2).T
    return np.ascontiguousarray(rows), np.ascontiguousarray(columns)
