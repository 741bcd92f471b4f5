# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of SymPy's expressions, however long these are written out: each subexpression is evaluated once."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sm

FUNCTIONS = {sm.sin: math.sin, sm.cos: math.cos, sm.tan: math.tan, sm.atan2: math.atan2, sm.Abs: abs}


def numbers(matrix: Any, values: Mapping[Any, float]) -> Any:
    """A matrix of SymPy as one of NumPy; ``values`` by symbols, functions of time and their derivatives."""
    known: dict[Any, float] = dict(values)

    def value(e: Any) -> float:
        stack = [e]
        while stack:
            x = stack[-1]
            if x in known:
                stack.pop()
            elif not x.args:
                known[x] = float(x)
            elif waiting := [a for a in x.args if a not in known]:
                stack += waiting
            else:
                known[x] = _of(x, [known[a] for a in x.args])
        return known[e]

    return np.array([value(e) for e in matrix]).reshape(matrix.shape)


def _of(e: Any, args: list[float]) -> float:
    if e.is_Add:
        return math.fsum(args)
    if e.is_Mul:
        return math.prod(args)
    if e.is_Pow:
        return float(args[0] ** args[1])
    return float(FUNCTIONS[e.func](*args))
