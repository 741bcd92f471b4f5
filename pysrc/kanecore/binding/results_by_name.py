# SPDX-License-Identifier: BSD-3-Clause
"""Results of kernels by the names of points, frames, joints or bodies: ``named=True``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kanecore.errors import unknown_name

__all__ = ["ResultsByName", "by_name"]


class ResultsByName(dict[str, Any]):
    """Results by name; the KeyError for an unknown name suggests similar names."""

    def __missing__(self, name: str) -> NoReturn:
        raise unknown_name("result is called", name, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def by_name(names: Sequence[str], result: npt.NDArray[np.float64], n_dims: int) -> ResultsByName:
    """Views of a result by the names along its first axis after the leading ones.

    ``result`` is (..., len(names), ...), with ``n_dims`` axes after the leading ones; the views lack the axis of names.
    KeyError if two names are equal.
    """
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise KeyError(f"named=True: {names.count(twice)} are called {twice!r}: rename them, or use the array")
    rows = result if result.ndim == n_dims else np.moveaxis(result, -n_dims, 0)
    return ResultsByName(zip(names, rows, strict=False))  # strict=True would check for another row, in twice the time
