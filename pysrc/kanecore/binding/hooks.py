# SPDX-License-Identifier: BSD-3-Clause
"""Questions of the extension to Python: where a library is, and why a kernel failed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Hooks"]

Array = npt.NDArray[np.float64]


class Hooks(ABC):
    """Functions that the extension calls if open libraries do not suffice, ``hooks`` of a model.

    Kernels that succeed do not call them.
    """

    @abstractmethod
    def find(self, kernel: str) -> None:
        """Open the library of a kernel that no open library has, or do nothing; called before an error."""

    @abstractmethod
    def find_lanes(self, kernel: str) -> None:
        """Open the library with a kernel for several states; called once for a kernel, before a large batch."""

    @abstractmethod
    def count_near(self, t: float, x: Array, r: Array, p: Array) -> int:
        """Number of independent rows of G at states on the constraints around x; called if a row is lost."""

    @abstractmethod
    def failure(
        self,
        kernel: str,
        status: int,
        row: int,
        t: float,
        x: Array,
        r: Array | None,
        p: Array | None,
        rows: Array | None,
        out: Any,
    ) -> Exception:
        """The error of a kernel, in words.

        Parameters
        ----------
        kernel : str
        status : int
            A ``kc_status``.
        row : int
            Index among the speeds, then rows of G, then constraints on coordinates.
        t, x, r, p
            Arguments of the state that failed; r and p are None for the current values.
        rows, out
            For a batch the rows that failed, and the result; otherwise None.
        """
