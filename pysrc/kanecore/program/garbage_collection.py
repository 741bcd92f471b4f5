# SPDX-License-Identifier: BSD-3-Clause
"""Switch for garbage collection, which is off while a model is described and derived."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["no_collection"]


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Switch garbage collection off: derivations make no cycles, and scans of all of SymPy would take longer."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
