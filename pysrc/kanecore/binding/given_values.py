# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, arrays and names as users give them."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "as_array",
    "broadcast_shapes",
    "finite_number",
    "real_numbers",
    "real_values",
    "require_real",
    "symbol_name",
]

Array = npt.NDArray[np.float64]

_REAL = "fiub"  # kinds of NumPy's types
_HINTS = {
    "O": "; convert SymPy numbers with float() first",
    "c": "; where the imaginary parts are rounding, take .real",
}


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """An argument as an array; ValueError if it is no array, or if a mask hides some of its numbers."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    mask = getattr(value, "mask", None)
    if isinstance(mask, np.ndarray) and mask.any():
        first = tuple(map(int, np.argwhere(mask)[0]))
        raise ValueError(
            f"{name} is a masked array that hides {int(mask.sum())} of its numbers, the first at {list(first)}: "
            "leave out their rows, or fill them in"
        )
    return array


def require_real(name: str, array: npt.NDArray[Any]) -> None:
    """TypeError for an array of another type than real numbers."""
    if array.dtype.kind not in _REAL:
        hint = _HINTS.get(array.dtype.kind, "")
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}{hint}")


def real_values(name: str, value: Any) -> Array:
    """The values of a name, of any shape; numbers of SymPy and others are converted by their __float__."""
    array = as_array(name, value)
    if array.dtype.kind == "O" and all(hasattr(type(number), "__float__") for number in array.flat):
        try:
            return np.array([float(number) for number in array.flat]).reshape(array.shape)
        except (TypeError, OverflowError):  # a symbol, a complex number; a number too large for a double
            pass
    elif array.dtype.kind in _REAL:
        return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    raise TypeError(f"{name} must be a real number, got {value!r}")


def finite_number(name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, float) and isfinite(value):
        return float(value)
    number = real_values(name, value)
    if number.ndim != 0 or not np.isfinite(number):
        raise ValueError(f"{name} must be one finite number, got {value!r}")
    return float(number)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Broadcast shapes; ValueError if they do not broadcast, or to more axes than NumPy takes."""
    try:
        return np.broadcast_shapes(*shapes)
    except RuntimeError as error:  # NumPy 2 raises it for 33 axes or more
        raise ValueError(str(error)) from None


def real_numbers(name: str, value: Any) -> Array:
    """Array of doubles from an argument or from a function's result; TypeError for values that are no real numbers.

    NumPy drops imaginary parts with only a warning, and reads text as numbers, also in arrays of objects.
    """
    array = as_array(name, value)
    if array.dtype.kind == "O":  # numbers of SymPy and others, which decide by themselves whether they are real
        for x in array.flat:  # NumPy converts these to numbers silently
            if x is None or isinstance(x, (str, bytes, np.datetime64, np.timedelta64)):
                raise TypeError(f"{name} must be real numbers, got {x!r} among them")
        try:
            return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be real numbers: {error}") from None
        except OverflowError as error:
            raise ValueError(f"{name} must be real numbers: {error}") from None
    require_real(name, array)
    return np.array(array, dtype=np.float64, order="C")


def symbol_name(key: Any) -> str:
    """The name under which a model knows ``key``: a string, a symbol, F(t), or a rate of F(t) (``F_d``)."""
    if isinstance(key, str):
        return key
    kind = type(key).__name__
    if kind == "Derivative":
        return symbol_name(key.args[0]) + "_" + "d" * int(key.derivative_count)
    if hasattr(key, "free_symbols") and not isinstance(key, type):  # F(t), and not the class F
        if getattr(key, "is_Symbol", False):
            return str(key.name)
        if getattr(key, "is_Function", False):
            return str(key.func.__name__)
    raise KeyError(f"{key!r} is neither a name nor a symbol")
