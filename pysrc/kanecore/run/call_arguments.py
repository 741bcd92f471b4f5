# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and results of calls: by name, as checked vectors, and in the caller's arrays ``out``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.binding.given_values import broadcast_shapes, real_numbers

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    "columns_of",
    "direction_of",
    "joined",
    "leading",
    "real_array",
    "real_numbers",
    "require_fits",
    "state_vector",
    "values_of",
    "vectors",
    "written",
]

Array = npt.NDArray[np.float64]

_SHORT = 20  # largest number of values that a message lists


def real_array(
    name: str,
    value: Any,
    *shapes: tuple[int | EllipsisType | None, ...],
    meaning: str = "",
    otherwise: str = "",
    finite: bool = True,
) -> Array:
    """An argument as a new array of doubles, in one of some shapes; all arrays that Python code reads are checked here.

    Parameters
    ----------
    name, meaning, otherwise : str
        Name of the argument, meaning of its numbers, and alternative to it, for messages.
    *shapes : tuple
        Permitted shapes: ``(..., 3)`` with any leading axes, ``(None, 3)`` with any number of rows.  Without shapes any
        shape is permitted.
    finite : bool
        Refuse numbers that are not finite.

    Raises
    ------
    TypeError
        The argument has no real numbers.
    ValueError
        The shape is not permitted, or a number is not finite.
    """
    instead = f"; or give {otherwise}" if otherwise else ""
    try:
        array = real_numbers(name, value)
    except TypeError as error:
        raise TypeError(f"{error}{instead}") from None
    if shapes and not any(_fits(array.shape, shape) for shape in shapes):
        expected = " or ".join(map(_shape_in_words, shapes))
        raise ValueError(
            f"{name} has shape {array.shape}, expected {expected}{f': {meaning}' if meaning else ''}{instead}"
        )
    if finite and not np.isfinite(array).all():
        what = f"is {array.tolist()!r}, which" if array.size <= _SHORT else "holds a number that"
        raise ValueError(f"{name} {what} is not finite")
    return array


def _fits(shape: tuple[int, ...], wanted: tuple[int | EllipsisType | None, ...]) -> bool:
    if wanted[:1] == (...,):
        wanted = wanted[1:]
        shape = shape[max(0, len(shape) - len(wanted)) :]
    return len(shape) == len(wanted) and all(n in (given, None) for given, n in zip(shape, wanted, strict=True))


def _shape_in_words(shape: tuple[int | EllipsisType | None, ...]) -> str:
    axes = ["..." if n is ... else "N" if n is None else str(n) for n in shape]
    return f"({axes[0]},)" if len(axes) == 1 else f"({', '.join(axes)})"


def vectors(name: str, value: npt.ArrayLike, n: int) -> Array:
    """An argument as numbers of shape (..., n), finite or not; TypeError or ValueError for other arguments."""
    return real_array(name, value, (..., n), finite=False)


def state_vector(dyn: Evaluator, x: Values, argument: str = "x") -> Array:
    """A finite state, (n_x,), from an array or by name; TypeError, ValueError or KeyError for other arguments."""
    return real_array(argument, dyn.names.as_state(x, argument), (dyn.n_x,), meaning="one state")


def leading(**axes: tuple[int, ...]) -> tuple[int, ...]:
    """Broadcast the leading axes of arguments; raise ValueError with their names if they do not broadcast."""
    try:
        return tuple(broadcast_shapes(*axes.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in axes.items() if shape)
        raise ValueError(f"leading axes do not broadcast: {shapes}") from None


def joined(**parts: Array) -> Array:
    """Concatenated vectors; their leading axes broadcast."""
    if all(part.ndim == 1 for part in parts.values()):
        return np.concatenate(tuple(parts.values()))
    lead = leading(**{name: part.shape[:-1] for name, part in parts.items()})
    whole, end = np.empty((*lead, sum(part.shape[-1] for part in parts.values()))), 0
    for part in parts.values():  # np.concatenate takes twice as long if axes broadcast
        start, end = end, end + part.shape[-1]
        whole[..., start:end] = part
    return whole


def values_of(
    dyn: Evaluator, argument: str, argument_value: Any, kinds: tuple[Literal["state", "input"], ...]
) -> dict[tuple[str, int], float | None]:
    """Names of some kinds in an argument, with values if it is a mapping: {(kind, index): value or None}.

    Parameters
    ----------
    argument : str
        Name of the argument, for messages.
    argument_value : mapping, iterable of names or symbols, one of these, or None

    Raises
    ------
    KeyError
        No kind has such a name.
    TypeError, ValueError
        A value that is no finite number; a name that occurs twice.
    """
    values: dict[tuple[str, int], float | None] = {}
    for key, value in _items(argument, argument_value):
        entry = dyn.names.found(kinds, key) if len(kinds) > 1 else (kinds[0], dyn.names.index(kinds[0], key))
        if entry in values:
            raise ValueError(f"{argument} gives {key!r} twice")
        number = None if value is None else real_array(f"{argument}[{str(key)!r}]", value)
        if number is not None and number.ndim:
            raise TypeError(f"{argument}[{str(key)!r}] must be one number, not {value!r}")
        values[entry] = None if number is None else float(number)
    return values


def columns_of(dyn: Evaluator, kind: Literal["speed", "udot"], argument: str, values: Any) -> dict[int, Array]:
    """Numbers (...) for some speeds, {index of the speed: values}, from a mapping by name or an array (..., n_u).

    Errors as for `values_of`, and ValueError for an array of another shape.
    """
    if values is None:
        return {}
    if isinstance(values, Mapping):
        named = dyn.names.by_number(kind, values, argument)
        return {i: real_array(f"{argument}[{dyn.speed_names[i]!r}]", value) for i, value in named.items()}
    array = real_array(argument, values, (..., dyn.n_u), meaning="one for each speed", otherwise="a mapping by name")
    return {i: array[..., i] for i in range(dyn.n_u)}


def direction_of(
    dyn: Evaluator, kind: Literal["state", "input", "parameter", "udot", "output"], argument: str, values: Values
) -> Array:
    """Changes or weights of all entries of a kind, (..., n): an array, or a mapping; missing names are zero.

    Errors as for `values_of`, and ValueError for an array of another shape.
    """
    sizes = {"state": dyn.n_x, "input": dyn.n_r, "parameter": dyn.n_p, "udot": dyn.n_u, "output": dyn.n_outputs}
    n: int = sizes[kind]
    if type(values) is np.ndarray and values.dtype == np.float64 and values.shape[-1:] == (n,):
        return values
    if isinstance(values, dict) and not values:
        return np.zeros(n)
    if not isinstance(values, Mapping):
        return vectors(argument, values, n)
    columns = {i: real_array(argument, value) for i, value in dyn.names.by_number(kind, values, argument).items()}
    try:
        lead = np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError as error:
        raise ValueError(f"the values of {argument} do not broadcast: {error}") from None
    direction = np.zeros((*lead, n))
    for i, column in columns.items():
        direction[..., i] = column
    return direction


def _items(argument: str, values: Any) -> Iterable[tuple[Any, Any]]:
    """Names, with their values if there are any."""
    if values is None:
        return ()
    if isinstance(values, Mapping):
        return values.items()
    if isinstance(values, str) or hasattr(values, "free_symbols"):
        return ((values, None),)
    if not isinstance(values, Iterable):
        raise TypeError(f"{argument} must be names, or a mapping of names to numbers, not {values!r}")
    return ((key, None) for key in values)


def require_fits(out: Any, result: Array, argument: str = "out") -> None:
    """ValueError unless the result can be written to the array."""
    kind, shape = result.dtype, result.shape
    if not (isinstance(out, np.ndarray) and out.dtype == kind and out.shape == shape and out.flags.writeable):
        raise ValueError(f"{argument} must be a {kind} array of shape {shape} that can be written to")


def written(result: Array, out: Any) -> Array:
    """The result, in the caller's array if there is one."""
    if out is None:
        return result
    require_fits(out, result)
    out[...] = result
    return np.asarray(out)
