# SPDX-License-Identifier: BSD-3-Clause
"""No search for garbage while a model is described and derived."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["no_collection"]


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """No search: deriving makes no garbage that needs one, and looking through all of SymPy takes longer."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
