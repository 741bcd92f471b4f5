# SPDX-License-Identifier: BSD-3-Clause
"""Results that are written to arrays of the caller, ``out``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["require_fits", "written"]

Array = npt.NDArray[np.float64]


def require_fits(out: Any, result: Array, argument: str = "out") -> None:
    """ValueError unless the result can be written to the array."""
    kind, shape = result.dtype, result.shape
    if not (isinstance(out, np.ndarray) and out.dtype == kind and out.shape == shape and out.flags.writeable):
        raise ValueError(f"{argument} must be a {kind} array of shape {shape} that can be written to")


def written(result: Array, out: Any) -> Array:
    """The result, in the caller's array if there is one."""
    if out is None:
        return result
    require_fits(out, result)
    out[...] = result
    return np.asarray(out)
