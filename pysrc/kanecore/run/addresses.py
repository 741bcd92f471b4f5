# SPDX-License-Identifier: BSD-3-Clause
"""Functions in C that a run calls by their addresses."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["address_of"]


def address_of(function: Any, n: int, argument: str, written: str) -> int:
    """The address of a function of ctypes, or of an object with the member ``address``, as of numba's ``cfunc``.

    Parameters
    ----------
    n : int
        How many arguments it takes.
    argument, written : str
        What it is given as, and what it must be, in messages.
    """
    if hasattr(function, "argtypes"):
        if function.argtypes is not None and len(function.argtypes) != n:
            raise TypeError(f"{argument} takes {len(function.argtypes)} arguments; it must be {written}")
        function = ctypes.cast(function, ctypes.c_void_p).value
    else:
        function = function.address
    if isinstance(function, bool) or not hasattr(function, "__index__") or function <= 0:
        raise ValueError(f"{argument} has the address {function!r}, which is that of no function: give {written}")
    return int(function)
