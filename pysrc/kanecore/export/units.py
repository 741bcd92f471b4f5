# SPDX-License-Identifier: BSD-3-Clause
"""Units as FMI defines them: powers of the SI base units and of the radian, times a factor."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

__all__ = ["Unit", "rate_of", "unit_of"]

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
"""Factor and powers of each unit that a name may be made of."""

_FACTOR = re.compile(r"(1(?![+\-^\d])|[A-Za-z]+)\^?([+-]?\d+)?")


@dataclass(frozen=True)
class Unit:
    """A unit by name; ``powers`` of base units and ``factor`` where the name could be read, else None."""

    name: str
    factor: float = 1.0
    powers: dict[str, int] | None = None


def unit_of(name: str) -> Unit:
    """The unit of a name as FMI writes it: ``"kg.m2/s2"``, ``"N.m"``, ``"rad/s"``, ``"deg"``; ``*`` and ``^`` as well.

    What stands behind a ``/``, up to the end, divides.  A name that is made of anything else is a unit of its own.
    """
    factor, powers = 1.0, Counter[str]()
    above, slash, below = name.partition("/")
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
    """That of the derivative with respect to time in seconds; None where the unit could not be read."""
    if unit.powers is None:
        return None
    above, slash, below = unit.name.partition("/")
    if not slash:
        return unit_of(f"{above}/s")
    return unit_of(f"{above}/s2" if below == "s" else f"{above}/({below.strip('() ')}.s)")
