# SPDX-License-Identifier: BSD-3-Clause
"""Units as FMI defines them: powers of the SI base units and of the radian times a factor, in several notations."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Unit", "rate_of", "read_unit", "unit_of"]

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""FMI's base units, in the order of its schema."""

_NAMED: dict[str, tuple[float, dict[str, int]]] = {
    **{name: (1.0, {name: 1}) for name in BASE},
    "1": (1.0, {}),
    "g": (1e-3, {"kg": 1}),
    "t": (1e3, {"kg": 1}),
    "mm": (1e-3, {"m": 1}),
    "cm": (1e-2, {"m": 1}),
    "km": (1e3, {"m": 1}),
    "ms": (1e-3, {"s": 1}),
    "min": (60.0, {"s": 1}),
    "h": (3600.0, {"s": 1}),
    "deg": (math.pi / 180.0, {"rad": 1}),
    "rev": (2.0 * math.pi, {"rad": 1}),
    "rpm": (math.pi / 30.0, {"rad": 1, "s": -1}),
    "Hz": (1.0, {"s": -1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "kN": (1e3, {"kg": 1, "m": 1, "s": -2}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "kW": (1e3, {"kg": 1, "m": 2, "s": -3}),
    "V": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "C": (1.0, {"A": 1, "s": 1}),
    "ohm": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -2}),
}
"""Factor and powers of each unit that may occur in a name."""

_FACTOR = re.compile(r"(1(?![+\-^\d])|[A-Za-z]+)\^?([+-]?\d+)?")
_POWER = re.compile(r"\s*(?:\*\*|\^)\s*(?:\(\s*([+-]?\d+)\s*\)|([+-]?\d+))")  # m**2, m^2, m**(-2)

_DIMENSIONS = {
    "length": "m",
    "mass": "kg",
    "time": "s",
    "current": "A",
    "temperature": "K",
    "amount_of_substance": "mol",
    "luminous_intensity": "cd",
    "angle": "rad",
}
"""The base unit of each base dimension of SymPy."""

_NOTATIONS = "a text such as 'rad/s' or 'kg.m2', a unit of SymPy, or exponents of (length, mass, time)"


@dataclass(frozen=True)
class Unit:
    """Unit by name; ``powers`` of base units and ``factor`` are None if the name cannot be read."""

    name: str
    factor: float = 1.0
    powers: Mapping[str, float] | None = None  # whole numbers, except for roots of units of SymPy


def read_unit(unit: Any, owner: str) -> Unit:
    """Read a unit as a user wrote it: a text, a unit of SymPy, a number, or exponents of (length, mass, time).

    SymPy is not imported, since a unit has its system of dimensions.

    Parameters
    ----------
    owner : str
        Owner of the unit, for messages.
    """
    if isinstance(unit, str):
        if not unit.strip():
            raise ValueError(f"the unit of {owner} is {unit!r}; it must be {_NOTATIONS}")
        return unit_of(unit.strip())
    if isinstance(unit, Sequence | np.ndarray):
        given = np.array([float(x) for x in unit])
        if given.shape != (3,) or not np.isfinite(given).all():
            raise ValueError(f"the unit of {owner} is {unit!r}; it must be three exponents, of length, mass and time")
        powers = _plain(dict(zip(("m", "kg", "s"), given.tolist(), strict=True)))
        return Unit(_name(powers), 1.0, powers)
    try:
        factor, found = _of_sympy(unit)
    except (TypeError, AttributeError) as error:
        raise TypeError(f"the unit of {owner} is {unit!r}; it must be {_NOTATIONS}") from error
    if not 0.0 < factor < math.inf:
        raise ValueError(f"the unit of {owner} is {unit}, {factor:g} times the SI unit; it must be positive")
    powers = _plain(found)
    for name in (_written(unit), _name(powers)):
        known = unit_of(name)
        if (
            known.powers is not None
            and _without_angles(known.powers) == _without_angles(powers)
            and math.isclose(known.factor, factor, rel_tol=1e-14)
        ):
            return known
    return Unit(str(unit), factor, powers)


def _of_sympy(unit: Any) -> tuple[float, Counter[str]]:
    """Factor and powers of a unit of SymPy, or of a number."""
    powers: Counter[str] = Counter()
    if hasattr(unit, "dimension"):  # a Quantity
        system = sys.modules["sympy.physics.units.systems.si"].dimsys_SI
        found = {str(key): value for key, value in system.get_dimensional_dependencies(unit.dimension).items()}
        found = {key.removeprefix("Dimension(").split(",")[0].rstrip(")"): value for key, value in found.items()}
        if strange := set(found) - set(_DIMENSIONS):
            raise TypeError(f"{unit} has the dimension of {', '.join(sorted(strange))}")
        powers.update({_DIMENSIONS[key]: float(value) for key, value in found.items()})
        return float(unit.scale_factor) / 1000.0 ** powers["kg"], powers  # SymPy counts masses in grams
    if getattr(unit, "is_Pow", False) and not unit.is_number:
        factor, powers = _of_sympy(unit.args[0])
        exponent = float(unit.args[1])
        return factor**exponent, Counter({base: power * exponent for base, power in powers.items()})
    if getattr(unit, "is_Mul", False):
        total = 1.0
        for part in unit.args:
            factor, found = _of_sympy(part)
            total *= factor
            for base, power in found.items():
                powers[base] += power
        return total, powers
    if isinstance(unit, int | float) or getattr(unit, "is_number", False):
        return float(unit), powers
    raise TypeError(f"{unit!r} is no unit")


def _plain(powers: Mapping[str, float]) -> dict[str, float]:
    """Powers in the order of FMI, as int if they are whole, without zeros."""
    found = {base: float(powers.get(base, 0.0)) for base in BASE}
    return {base: int(power) if power.is_integer() else power for base, power in found.items() if power}


def _without_angles(powers: Mapping[str, float]) -> dict[str, float]:
    """The powers without angles, as SymPy's radian is a number."""
    return {base: power for base, power in powers.items() if base != "rad"}


def _written(unit: Any) -> str:
    """A unit of SymPy by the abbreviations of its factors: ``"N.m/s"``."""
    powers = {}
    for part in unit.args if getattr(unit, "is_Mul", False) else (unit,):
        base, power = part.args if getattr(part, "is_Pow", False) else (part, 1)
        powers[str(getattr(base, "abbrev", base))] = float(power)
    return _name(powers)


def _name(powers: Mapping[str, float]) -> str:
    """Name of a unit as FMI writes it: ``"kg.m2/s2"``, ``"m3/(kg.s2)"``."""
    above = [_factor(base, power) for base, power in powers.items() if power > 0]
    below = [_factor(base, -power) for base, power in powers.items() if power < 0]
    bottom = f"({'.'.join(below)})" if len(below) > 1 else "".join(below)
    return (".".join(above) or "1") + (f"/{bottom}" if bottom else "")


def _factor(base: str, power: float) -> str:
    return base if power == 1 else f"{base}{power:g}"


def unit_of(name: str) -> Unit:
    """The unit of a name in FMI's notation, ``"kg.m2/s2"``, ``"N.m"``, ``"deg"``, or in Python's, ``"kg*m**2"``.

    All factors after a ``/`` divide; since Python reads this otherwise, a ``*`` there needs brackets.  Any other name
    is a separate unit.
    """
    factor, powers = 1.0, Counter[str]()
    plain = _POWER.sub(lambda found: f"^{found[1] or found[2]}", name)
    above, slash, below = plain.partition("/")
    if "*" in below and not re.fullmatch(r"\s*\([^()]*\)\s*", below):
        return Unit(name)
    for part, sign in ((above, 1), (below, -1)) if slash else ((above, 1),):
        for word in re.split(r"[.*/]", part.strip("() ")):
            found = _FACTOR.fullmatch(word.strip())
            if found is None or found[1] not in _NAMED:
                return Unit(name)
            scale, own = _NAMED[found[1]]
            exponent = sign * int(found[2] or 1)
            factor *= scale**exponent
            for base, power in own.items():
                powers[base] += exponent * power
    return Unit(name, factor, {base: powers[base] for base in BASE if powers[base]})


def rate_of(unit: Unit) -> Unit | None:
    """Unit of the derivative with respect to time in seconds; None if the unit could not be read."""
    if unit.powers is None:
        return None
    if unit_of(unit.name).powers is None:  # SymPy's name of a product
        powers = _plain({**unit.powers, "s": unit.powers.get("s", 0) - 1})
        return Unit(f"({unit.name})/s", unit.factor, powers)
    above, slash, below = unit.name.partition("/")
    if not slash:
        return unit_of(f"{above}/s")
    return unit_of(f"{above}/s2" if below == "s" else f"{above}/({below.strip('() ')}.s)")
