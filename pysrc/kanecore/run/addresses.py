# SPDX-License-Identifier: BSD-3-Clause
"""Functions in C that a run calls by their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["address_of", "event_in_python", "inputs_in_python"]

Array = npt.NDArray[np.float64]

_POINTER = ctypes.POINTER(ctypes.c_double)


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


def event_in_python(address: int) -> Callable[[float, Array], float]:
    """A function ``double g(double t, const double *x)`` as one of Python."""
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, _POINTER)(address)
    return lambda t, x: call(t, np.ascontiguousarray(x, dtype=np.float64).ctypes.data_as(_POINTER))


def inputs_in_python(function: Any, address: int, n_r: int) -> Callable[[float, Array], Array]:
    """A function ``void f(double t, const double *x, double *r)`` as one of Python, which keeps ``function`` alive."""
    call = ctypes.CFUNCTYPE(None, ctypes.c_double, _POINTER, _POINTER)(address)

    def inputs(t: float, x: Array) -> Array:
        state, r = np.ascontiguousarray(x, dtype=np.float64), np.zeros(n_r)
        call(t, state.ctypes.data_as(_POINTER), r.ctypes.data_as(_POINTER))
        return r

    inputs.owner = function  # type: ignore[attr-defined]  # its code lives as long as this
    return inputs
