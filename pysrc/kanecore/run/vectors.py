# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that are arrays of vectors: checked, beside others, and side by side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore import _library
from kanecore._library import real_numbers

__all__ = ["joined", "leading", "real_numbers", "vectors"]

Array = npt.NDArray[np.float64]


def vectors(name: str, value: npt.ArrayLike, n: int) -> Array:
    """An argument as numbers of shape (..., n); TypeError or ValueError where it is none."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    if array.shape[-1:] != (n,):
        raise ValueError(f"{name} has shape {array.shape}, expected (..., {n})")
    return array.astype(np.float64)


def leading(**axes: tuple[int, ...]) -> tuple[int, ...]:
    """What the leading axes of arguments broadcast to; ValueError with their names where they do not."""
    try:
        return tuple(_library.broadcast_shapes(*axes.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in axes.items() if shape)
        raise ValueError(f"leading axes do not broadcast: {shapes}") from None


def joined(**parts: Array) -> Array:
    """Vectors side by side; their leading axes broadcast."""
    lead = leading(**{name: part.shape[:-1] for name, part in parts.items()})
    return np.concatenate([np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts.values()], axis=-1)
