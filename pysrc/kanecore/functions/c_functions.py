# SPDX-License-Identifier: BSD-3-Clause
"""Functions in C that a model calls by their addresses.

An address belongs to a process, so the graph and the C text have only the existence of the function (`External`).  The
address is one of the prepared constants of a compiled model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from kanecore.errors import ModelError

__all__ = ["N_ADDRESSES", "CFunction", "External"]

DERIVATIVES = ("f", "df", "d2f", "d3f")
N_ADDRESSES = len(DERIVATIVES)  # addresses of one function, zeros for missing derivatives
EXACT = 2**53  # a double represents every whole number below this


class CFunction:
    """A function ``double f(double)`` in machine code, with its derivatives, for ``functions=`` of `kanecore.Model`.

    Parameters
    ----------
    f, df, d2f : int or ctypes function
        The addresses of f, f' and f''; for numba's ``cfunc`` the member ``address``, for cffi
        ``int(ffi.cast("uintptr_t", ffi.addressof(lib, "f")))``.
    d3f : int or ctypes function, optional
        Function f''', which `linearize` needs if accelerations depend on f'', as for a point at f(x).

    Raises
    ------
    TypeError
        No address, or a ctypes function with other arguments.
    ValueError
        An address that no function can have.

    Notes
    -----
    The code is called directly, from any thread, so it must be thread-safe; an exception of Python cannot leave it.  A
    CFunction keeps its ctypes objects alive; for a number, the caller must keep the code.  A model with such a function
    cannot be pickled.

    Examples
    --------
    ``kc.CFunction(curve.address, slope.address, bend.address)`` of three ``numba.cfunc("float64(float64)")``.
    """

    __slots__ = ("_owners", "addresses")

    addresses: tuple[int, ...]

    def __init__(self, f: Any, df: Any, d2f: Any, d3f: Any = None) -> None:
        given = dict(zip(DERIVATIVES, (f, df, d2f, d3f), strict=True))
        addresses = tuple(0 if name == "d3f" and x is None else _address(name, x) for name, x in given.items())
        object.__setattr__(self, "addresses", addresses)
        object.__setattr__(self, "_owners", (f, df, d2f, d3f))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a CFunction is immutable: make another one to change its {name}")

    def __reduce__(self) -> NoReturn:
        raise ModelError(
            "a function by its address, kc.CFunction, cannot be pickled: the address belongs to this process"
        )

    def __repr__(self) -> str:
        return f"<CFunction: {self.extent}>"

    @property
    def extent(self) -> str:
        """The given derivatives, in words."""
        return "C functions f, f', f'', f'''" if self.addresses[-1] else "C functions f, f', f''"

    @property
    def highest(self) -> int:
        """Order of the highest given derivative."""
        return sum(map(bool, self.addresses)) - 1


def _address(name: str, function: Any) -> int:
    if hasattr(function, "argtypes"):  # a ctypes function
        if function.argtypes is not None and tuple(function.argtypes) != (ctypes.c_double,):
            raise TypeError(f"{name} takes {function.argtypes}; it must be a function double f(double)")
        function = ctypes.cast(function, ctypes.c_void_p).value or 0
    if isinstance(function, bool) or not hasattr(function, "__index__"):
        raise TypeError(f"{name} is {function!r}; it must be the address of a function double f(double), an int")
    address = int(function.__index__())
    if not 0 < address < EXACT:
        raise ValueError(f"{name} is {address}, which is no address of a function")
    return address


@dataclass(frozen=True)
class External:
    """Facts of a C function while a model is derived: derivatives exist up to some order.

    Functions are distinguished by their names.
    """

    highest: int
    n_arguments: int = 1
    known: bool = False

    @property
    def digest(self) -> str:
        return f"external {self.highest}"

    @property
    def extent(self) -> str:
        return f"C function with derivatives to order {self.highest}"

    def lacks(self, name: str, orders: Sequence[int]) -> str:
        """Reason why a derivative of the function cannot be computed; empty if it can be."""
        if max(orders) <= self.highest:
            return ""
        advice = "d3f, kc.CFunction(f, df, d2f, d3f)"
        if max(orders) >= N_ADDRESSES:
            advice = "the data, kc.Spline, whose fourth derivative is zero; a kc.CFunction has none beyond d3f"
        return (
            f"it holds the derivative of order {max(orders)} of {name}, and functions gives those to order "
            f"{self.highest}: give {advice}"
        )

    def vanishes(self, orders: Sequence[int]) -> bool:
        """Test whether a derivative is zero everywhere, which is unknown for a C function."""
        return False

    def value(self, orders: Sequence[int], arguments: Sequence[Any], real: Callable[[Any], Any]) -> NoReturn:
        raise ModelError("a C function has no value before the model is compiled: ask the compiled model")
