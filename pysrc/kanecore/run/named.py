# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that name coordinates, speeds or inputs: some of them, or values for some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore._native import symbol_name

__all__ = ["columns_of", "places_of", "values_of"]

Array = npt.NDArray[np.float64]


def values_of(argument: str, given: Any, names: Sequence[str], what: str) -> dict[int, float | None]:
    """Places among names of what an argument names, with its value if it is a mapping: {place: value or None}.

    Parameters
    ----------
    argument : str
        In messages.
    given : mapping, iterable of names, or None
    names : sequence of str
    what : str
        These are, as "coordinate or speed".

    Raises
    ------
    KeyError
        A name that is not there.
    TypeError, ValueError
        A value that is no finite number; two keys for one name.
    """
    if given is None:
        return {}
    values: dict[int, float | None] = {}
    entries = given.items() if isinstance(given, Mapping) else ((key, None) for key in _keys(given))
    for key, value in entries:
        place = _place(argument, key, names, what)
        if place in values:
            raise ValueError(f"{argument} names {names[place]!r} twice")
        values[place] = None if value is None else _number(argument, names[place], value)
    return values


def places_of(argument: str, given: Any, names: Sequence[str], what: str) -> list[int]:
    """Places among names of what an argument names, in the order of the names; errors as of `values_of`."""
    return sorted(values_of(argument, _keys(given), names, what))


def columns_of(argument: str, given: Any, names: Sequence[str]) -> dict[int, Array]:
    """Numbers (...) for some speeds: {place: values}, of a mapping by name, or of an array (..., n) for all.

    Errors as of `values_of`, and ValueError for an array of another shape.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        places = [_place(argument, key, names, "speed") for key in given]
        columns = [
            _numbers(f"{argument}[{names[i]!r}]", value) for i, value in zip(places, given.values(), strict=True)
        ]
        if len(set(places)) < len(places):
            raise ValueError(f"{argument} names a speed twice")
        return dict(zip(places, columns, strict=True))
    array = _numbers(argument, given)
    if array.ndim == 0 or array.shape[-1] != len(names):
        raise ValueError(f"{argument} has shape {array.shape}, expected (..., {len(names)}), or a mapping by name")
    return {i: array[..., i] for i in range(len(names))}


def _numbers(argument: str, value: Any) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be real numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{argument} is not finite")
    return array


def _keys(given: Any) -> Iterable[Any]:
    """One name, or several."""
    if isinstance(given, str) or hasattr(given, "free_symbols"):
        return (given,)
    if not isinstance(given, Iterable):
        raise TypeError(f"{given!r} is neither a name nor several")
    return given


def _place(argument: str, key: Any, names: Sequence[str], what: str) -> int:
    name = symbol_name(key)
    if name not in names:
        near = get_close_matches(name, names, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names) or 'none'}"
        raise KeyError(f"{argument} names {name!r}, which is no {what}; {hint}")
    return list(names).index(name)


def _number(argument: str, name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument}[{name!r}] must be a real number, not {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{argument}[{name!r}] is {number!r}, which is not finite")
    return number
