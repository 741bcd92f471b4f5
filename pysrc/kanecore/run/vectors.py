# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that are arrays of vectors: checked, and side by side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["joined", "vectors"]

Array = npt.NDArray[np.float64]


def vectors(name: str, value: npt.ArrayLike, n: int) -> Array:
    """An argument as numbers of shape (..., n); TypeError or ValueError where it is none."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    if array.shape[-1:] != (n,):
        raise ValueError(f"{name} has shape {array.shape}, expected (..., {n})")
    return array.astype(np.float64)


def joined(*parts: Array) -> Array:
    """Vectors side by side; their leading axes broadcast."""
    lead = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts], axis=-1)
