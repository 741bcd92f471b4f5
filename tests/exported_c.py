# SPDX-License-Identifier: BSD-3-Clause
"""The interface of exported C: its structure of a run, its methods, and arrays for it."""

import ctypes

import numpy as np
import numpy.typing as npt

__all__ = ["METHODS", "Run", "pointer"]

METHODS = ("euler", "rk4", "dopri5", "dop853", "rosenbrock_w", "auto_w", "rosenbrock", "auto")
"""In the order of the header's enumeration."""


class Run(ctypes.Structure):
    """That of the header."""

    _fields_ = (
        ("method", ctypes.c_int),
        *((name, ctypes.c_double) for name in ("t0", "t1", "step", "rtol", "atol", "max_step")),
        ("max_steps", ctypes.c_long),
        ("accept", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("accepted", "rejected", "evaluations")),
    )


def pointer(values: npt.NDArray[np.float64]) -> ctypes.c_void_p:
    """The address of the first number."""
    return ctypes.c_void_p(values.ctypes.data)
