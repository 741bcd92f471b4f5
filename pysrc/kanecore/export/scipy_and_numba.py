# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as functions in C for SciPy, and for code that numba compiles."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore._motion import FixedKernel, operand
from kanecore.binding.declared_methods import method
from kanecore.errors import ModelError
from kanecore.run.kernel_facts import kernel_of_state, length_of_x, row_of, shape_of

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["lowlevel_callable", "numba"]

Array = npt.NDArray[np.float64]

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_OF_STATE = ctypes.CFUNCTYPE(None, ctypes.c_double, _DOUBLES, _DOUBLES, ctypes.c_void_p)
_OF_SOME = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, _DOUBLES, ctypes.c_void_p)

# The kinds of variables, with the arguments that hold them, and the kinds of entries of some results.
_ARGUMENTS: dict[Any, str] = {"state": "x", "input": "r", "parameter": "p"}
_ENTRIES: dict[str, Any] = {"rhs": "state", "udot": "speed", "qdot": "coordinate", "outputs": "output"}


class _Held(ctypes.c_void_p):
    """Pointer that keeps its target alive."""

    owner: FixedKernel


@method("Other programs")
def lowlevel_callable(
    dyn: Evaluator,
    kernel: str = "rhs",
    over: Any = None,
    component: Any = None,
    *,
    t: float = 0.0,
    x: Values | None = None,
    r: Values | None = None,
    p: Values | None = None,
) -> Any:
    """A kernel as a ``scipy.LowLevelCallable``: a function in C, which is called without Python.

    With ``over`` it is an integrand for ``scipy.integrate.quad``, ``nquad`` and their like,
    ``double f(int n, double *values, void *user_data)``.  Without, it is the kernel with inputs and parameters put
    in, ``void f(double t, double *x, double *out, void *user_data)``.  No function of SciPy takes this one; it is
    for code in C, and for ctypes: ``c.function(t, x, out, c.user_data)``.

    Parameters
    ----------
    kernel : str
        "rhs", or another kernel of t and x.
    over : name or symbol, or list of them, optional
        Variables of the integrand, in the order of its arguments: coordinates, speeds, inputs, parameters,
        or "t".
    component : int, tuple of int, name or symbol, optional
        Entry of the result, if there are several; for "rhs", "udot", "qdot" and "outputs" also by name.
    t : float
        Time, unless it varies.
    x : array_like (n_x,), or mapping, optional
        The part of the state that does not vary; default, also for names missing in a mapping: rest.
    r, p : array_like, or mapping, optional
        Inputs and parameters; default the current values, which the function keeps.

    Returns
    -------
    scipy.LowLevelCallable
        Any number of threads may call it.  It keeps the model alive.  Where the kernel finds no solution, as at a
        singular mass matrix, or where values are not finite, it gives NaN.

    Raises
    ------
    ImportError
        SciPy is not installed.
    KeyError, ValueError, TypeError
        A name, index or shape is wrong, or a value was never set.
    ModelError
        The model has no such kernel, or is compiled with ``real="float"``.

    Examples
    --------
    ``scipy.integrate.quad(dyn.lowlevel_callable("potential_energy", over="theta"), 0.0, 0.5)``
    """
    try:
        from scipy import LowLevelCallable
    except ImportError as error:
        raise ImportError("dyn.lowlevel_callable needs SciPy: pip install scipy") from error

    if dyn.single:
        raise ModelError(f"SciPy calls functions of doubles, and {dyn.name!r} is compiled with real='float'")
    row = kernel_of_state(kernel)
    dyn.address(kernel)  # compiles its group, or raises the reason why there is none
    if over is None and not (x is None and component is None and t == 0.0):
        raise ValueError("t, x and component belong to an integrand: say with over= what it is a function of")
    places = None if over is None else _places(dyn, over)
    fixed = FixedKernel(
        dyn,
        kernel,
        float(t),
        _fixed(dyn, "state", x, places, kernel),
        _fixed(dyn, "input", r, places, kernel),
        _fixed(dyn, "parameter", p, places, kernel),
        places,
        0 if over is None else _entry(dyn, kernel, shape_of(dyn, row), component),
    )
    held = _Held(fixed.held)
    held.owner = fixed
    return LowLevelCallable((_OF_STATE if over is None else _OF_SOME)(fixed.address), held)


def _places(dyn: Evaluator, over: Any) -> list[tuple[str, int]]:
    """The argument of the kernel, and the number in it, of each variable of an integrand."""
    names = over if isinstance(over, (list, tuple)) else [over]
    if not names:
        raise ValueError("over is empty: name coordinates, speeds, inputs, parameters, or 't'")
    places: list[tuple[str, int]] = []
    for name in names:
        what, number = ("t", 0) if str(name) == "t" else dyn.names.found(tuple(_ARGUMENTS), name)
        place = _ARGUMENTS.get(what, what), number
        if place in places:
            raise ValueError(f"over names {str(name)!r} twice")
        places.append(place)
    return places


def _fixed(dyn: Evaluator, kind: Any, settings: Any, places: Any, kernel: str) -> Array:
    """All numbers of a kind; those that each call gives need no value."""
    argument = _ARGUMENTS[kind]
    names = {
        "state": dyn.names.x,
        "input": dyn.input_names,
        "parameter": dyn.parameter_names,
    }[kind]
    if settings is None or hasattr(settings, "keys"):
        by_name = {names[i]: value for i, value in dyn.names.by_number(kind, settings or {}, argument).items()}
        free = {names[number]: 0.0 for where, number in places or () if where == argument}
        array = operand(dyn, kind, {**free, **by_name}, kernel)
    else:
        array = dyn.names.rows(kind, settings, argument)
    if array.shape != (len(names),):
        raise ValueError(f"{argument} has shape {array.shape}, expected ({len(names)},): one set of values")
    return np.asarray(array, dtype=np.float64)


def _entry(dyn: Evaluator, kernel: str, shape: tuple[int, ...], component: Any) -> int:
    """The number of an entry of a result, row by row."""
    if component is None:
        if np.prod(shape, dtype=int) == 1:
            return 0
        raise ValueError(f"{kernel} has the shape {shape}: say with component= which entry the integrand is")
    if kernel in _ENTRIES and not isinstance(component, (int, np.integer, tuple)):
        component = dyn.names.index(_ENTRIES[kernel], component)
    try:
        return int(np.ravel_multi_index(component if isinstance(component, tuple) else (component,), shape))
    except (TypeError, ValueError):
        raise ValueError(
            f"component is {component!r}, and {kernel} has the shape {shape}: give an index for each axis"
        ) from None


@method("Other programs")
def numba(dyn: Evaluator, kernel: str = "rhs") -> Callable[..., int]:
    """A kernel as a function for code that numba compiles: ``pip install numba``.

    Parameters
    ----------
    kernel : str

    Returns
    -------
    callable
        ``f(t, x, r, c, work, out)`` -> status: 0, or a ``kc_status`` of ``kanecore.h`` where out is NaN.
        All are contiguous arrays of float64 (float32 of ``real="float"``) of the caller's: c (n_prepared,) is
        `prepared` or `prepare`, work (n_work,) any memory, each thread with its own, x as for `address`, out of the
        shape of the result, (1,) for a number.  It allocates nothing and needs no GIL.

    Raises
    ------
    ImportError
        numba is not installed.
    KeyError, ModelError
        There is no such kernel, or the model has none.
    ValueError
        From the callable: an array of another length.

    Notes
    -----
    numba cannot keep code that calls it in a file (``cache=True``): it holds an address of this process.
    """
    try:
        import numba as package
    except ImportError as error:
        raise ImportError("dyn.numba needs numba: pip install numba") from error

    row = row_of(kernel)
    call = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(kernel))
    n_x, n_r, n_c, n_work = length_of_x(dyn, row), dyn.n_r, dyn.n_prepared, dyn.n_work
    shape = shape_of(dyn, row) or (1,)
    size = int(np.prod(shape))
    real = package.float32 if dyn.single else package.float64
    vector, result = real[::1], package.types.Array(real, len(shape), "C")

    def function(t, x, r, c, work, out):  # type: ignore[no-untyped-def]
        if x.size != n_x or r.size != n_r or c.size != n_c or out.size != size:
            raise ValueError("x, r, c or out has another length than the kernel reads or writes")
        if work.size < n_work:
            raise ValueError("work has fewer than n_work numbers")
        work[0] = 0.0
        call(t, x.ctypes, r.ctypes, c.ctypes, work.ctypes, out.ctypes)
        return int(work[0])

    function.__name__ = function.__qualname__ = kernel
    signature = package.int64(package.float64, vector, vector, vector, vector, result)
    compiled: Any = package.njit(signature, nogil=True)(function)
    compiled.model = dyn  # its code lives as long as this
    return compiled  # type: ignore[no-any-return]
