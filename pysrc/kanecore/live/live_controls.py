# SPDX-License-Identifier: BSD-3-Clause
"""Controls of a live page: sliders of parameters and inputs, keys, and prescribed motions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.describe.description import Description
from kanecore.describe.inertia import impossible
from kanecore.errors import KanecoreError, unknown_name
from kanecore.run.units import read_unit

__all__ = ["effects_of", "keys_of", "labels_of", "motions_of", "ranges_of", "units_of"]

Array = npt.NDArray[np.float64]
Range = tuple[float, float]

WIDER = 0.2, 3.0  # a slider goes from this share of a value to this multiple
ROUND = (1.0, 2.0, 5.0, 10.0)
ARROWS = (("ArrowLeft", "ArrowRight"), ("ArrowDown", "ArrowUp"))


def units_of(units: Mapping[Any, Any] | None, names: tuple[str, ...]) -> dict[str, str]:
    """Names of units by the names of states, inputs, outputs and parameters."""
    result = {name: read_unit(unit, repr(name)).name for name, unit in _named(units, names).items()}
    return {name: "" if unit == "1" else unit for name, unit in result.items()}


def labels_of(labels: Mapping[Any, str] | None, names: tuple[str, ...]) -> dict[str, str]:
    """Texts that stand for names of states, inputs, outputs and parameters."""
    result = _named(labels, names)
    for name, label in result.items():
        if not isinstance(label, str) or not label.strip():
            raise TypeError(f"labels gives {name!r} the label {label!r}; it must be a text, such as 'λ'")
    return result


def _named(values: Mapping[Any, Any] | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Values by names of symbols, functions of time, or texts; KeyError for one that is none of the names."""
    result = {_name(key, names): value for key, value in (values or {}).items()}
    for name in result:
        if name not in names:
            raise unknown_name("state, input, output or parameter is called", name, names)
    return result


def _name(key: Any, names: tuple[str, ...]) -> str:
    """Name of a symbol or of a function of time, θ for θ(t)."""
    function = getattr(getattr(key, "func", None), "__name__", "")
    return function if not isinstance(key, str) and function in names else str(key)


def ranges_of(dyn: Any, description: Description, sliders: Any, p: Array, effects: Array) -> dict[str, Range]:
    """Ends of the sliders of parameters and inputs, by name.

    Parameters
    ----------
    sliders
        As of `kanecore.live.live_page.play`.
    p : ndarray
        The parameters at the start.
    effects : ndarray, (n_r,)
        Largest magnitude of each input on the page.
    """
    names = (*dyn.parameter_names, *dyn.input_names)
    own = dict(zip(dyn.parameter_names, map(_range, p.tolist()), strict=True))
    own |= {name: (-size, size) for name, size in zip(dyn.input_names, effects.tolist(), strict=True)}
    if sliders is None:
        values = dict(zip(dyn.parameter_names, p.tolist(), strict=True))
        return {name: ends for name, ends in own.items() if _plausible(description, values, name, ends)}
    given = sliders if isinstance(sliders, Mapping) else dict.fromkeys([sliders] if _one(sliders) else sliders)
    result = {}
    for key, ends in given.items():
        name = _name(key, names)
        if name not in names:
            raise unknown_name("parameter or input is called", name, names)
        result[name] = own[name] if ends is None else _checked(name, ends)
    return result


def _one(sliders: Any) -> bool:
    return isinstance(sliders, str) or not hasattr(sliders, "__iter__")


def _range(value: float) -> Range:
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((WIDER[0] * value, WIDER[1] * value))
    return float(f"{low:.2g}"), float(f"{high:.2g}")


def _checked(name: str, ends: Any) -> Range:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"sliders gives {name!r} the range {ends!r}; it must be two numbers, (low, high)")
    return low, high


def _plausible(d: Description, values: Mapping[str, float], name: str, ends: Range) -> bool:
    """Test that both ends of a slider give physical inertias of all bodies."""
    if name not in values:
        return True
    before = {body for body, _ in impossible(d, values)}
    return all({body for body, _ in impossible(d, {**values, name: end})} <= before for end in ends)


def effects_of(dyn: Any, t: float, x: Array, r: Array, p: Array, pace: float) -> Array:
    """Magnitudes of the inputs that change the motion at least as much as all forces at the start."""
    sizes = np.maximum(2.0 * np.abs(r), 1.0)
    try:
        udot = dyn.udot(t, x, r=r, p=p)
        largest = max(float(np.max(np.abs(udot), initial=0.0)), 1.0 / pace**2)
        for i in range(dyn.n_r):
            pushed = r.copy()
            pushed[i] += sizes[i]
            effect = float(np.max(np.abs(dyn.udot(t, x, r=pushed, p=p) - udot), initial=0.0)) / sizes[i]
            if effect > 0.0:
                sizes[i] = max(2.0 * abs(r[i]), largest / effect)
    except KanecoreError:
        pass  # singular near the start: the ranges are a guess
    return np.array([_rounded_up(size) for size in sizes])


def _rounded_up(size: float) -> float:
    power = 10.0 ** math.floor(math.log10(size))
    return power * next(factor for factor in ROUND if factor * power >= size * (1.0 - 1e-9))


def motions_of(dyn: Any, given_by_signals: set[int]) -> list[list[int]]:
    """Prescribed motions with sliders: the indices of an input and of its rates."""
    rates = dyn.input_rates
    result = []
    for i in range(dyn.n_r):
        if rates[i] >= 0 and i not in rates and i not in given_by_signals:
            chain = [i]
            while rates[chain[-1]] >= 0:
                chain.append(rates[chain[-1]])
            result.append(chain)
    return result


def keys_of(dyn: Any, keys: Any, offered: list[int], ranges: Mapping[str, Range]) -> dict[str, tuple[int, float]]:
    """The index of the input of each key, and the value that the key adds while it is down."""
    names = dyn.input_names
    result: dict[str, tuple[int, float]] = {}
    if keys is None:
        for (less, more), i in zip(ARROWS, offered, strict=False):
            size = 0.5 * max(map(abs, ranges.get(names[i], (1.0, 1.0))))
            result |= {less: (i, -size), more: (i, size)}
        return result
    if not isinstance(keys, Mapping):
        raise TypeError(
            f"keys is {keys!r}; it must map keys to inputs and numbers: {{'ArrowLeft': ({_some(names)}, -1.0)}}"
        )
    result = {}
    for key, entry in keys.items():
        pair = isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[1], Real)
        if not (isinstance(key, str) and key and pair and math.isfinite(entry[1])):
            raise ValueError(f"keys[{key!r}] is {entry!r}; it must be an input and a number: ({_some(names)}, -1.0)")
        name = _name(entry[0], names)
        if name not in names:
            raise unknown_name("input is called", name, names)
        if names.index(name) not in offered:
            raise ValueError(f"keys[{key!r}] moves {name!r}, which is given by a signal or a prescribed motion")
        result[key] = (names.index(name), float(entry[1]))
    return result


def _some(names: tuple[str, ...]) -> str:
    return repr(names[0]) if names else "'F'"
