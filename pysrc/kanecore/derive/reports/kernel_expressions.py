# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of a description as SymPy expressions, as attributes with the names of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kanecore.kernels import KERNELS

__all__ = ["Expressions"]

_NAMES = frozenset(kernel.name for kernel in KERNELS if not kernel.internal)


class Expressions(ABC):
    """Expressions of kernels as attributes: ``model.forcing`` is ``model.symbolic("forcing")``."""

    @abstractmethod
    def symbolic(self, kernel: str, *, nested: bool = False) -> Any:
        """The SymPy expressions of a kernel."""

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES:
            return self.symbolic(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
