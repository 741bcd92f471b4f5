# SPDX-License-Identifier: BSD-3-Clause
"""Units in every notation, as FMI takes them: a factor, and powers of base units."""

import math
from typing import Any

import numpy as np
import pytest
import sympy as sm
from sympy.physics import units

from kanecore.run.units import BASE, rate_of, read_unit, unit_of

FORCE = {"kg": 1, "m": 1, "s": -2}
CASES = {
    "rpm": (2.0 * math.pi / 60.0, {"rad": 1, "s": -1}),
    "kN.m": (1e3, {"kg": 1, "m": 2, "s": -2}),
    "m/s2": (1.0, {"m": 1, "s": -2}),
    "kg.m/s^2": (1.0, FORCE),
    "J/(kg.K)": (1.0, {"m": 2, "s": -2, "K": -1}),
    "furlong": (None, None),
    "mm/min": (1e-3 / 60.0, {"m": 1, "s": -1}),
    "1/s": (1.0, {"s": -1}),
    "kg*m**2/s**2": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "m**(-2)": (1.0, {"m": -2}),
    "W/(m*s)": (1.0, {"kg": 1, "m": 1, "s": -4}),
    "N/m*s": (None, None),  # Python multiplies by s, FMI divides
}


@pytest.mark.parametrize("name", CASES)
def test_units_by_name(name: str) -> None:
    factor, powers = CASES[name]
    unit = unit_of(name)
    assert unit.powers == powers
    if powers is not None:
        assert unit.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize(
    ("unit", "name", "factor", "powers"),
    [
        ("N.m", "N.m", 1.0, {"kg": 1, "m": 2, "s": -2}),
        (units.newton * units.meter, "m.N", 1.0, {"kg": 1, "m": 2, "s": -2}),
        (units.meter / units.second**2, "m/s2", 1.0, {"m": 1, "s": -2}),
        (units.radian / units.second, "rad/s", 1.0, {"s": -1, "rad": 1}),
        (units.degree, "deg", math.pi / 180, {"rad": 1}),
        (units.millimeter, "mm", 1e-3, {"m": 1}),
        (units.gram, "g", 1e-3, {"kg": 1}),
        (units.gravitational_constant, "m3/(kg.s2)", None, {"kg": -1, "m": 3, "s": -2}),
        (2 * units.newton, "2*newton", 2.0, FORCE),
        (units.ampere * units.second, "A.s", 1.0, {"s": 1, "A": 1}),
        ((1, 1, -2), "kg.m/s2", 1.0, FORCE),
        (np.array([0, 0, -1]), "1/s", 1.0, {"s": -1}),
        (1, "1", 1.0, {}),
    ],
)
def test_units_in_every_notation(unit: Any, name: str, factor: float | None, powers: dict[str, int]) -> None:
    read = read_unit(unit, "'x'")
    assert read.powers == powers
    if factor is not None:
        assert (read.name, read.factor) == (name, pytest.approx(factor, rel=1e-14))
    rate = rate_of(read)
    assert rate is not None
    assert rate.powers == {base: n for base in BASE if (n := powers.get(base, 0) - (base == "s"))}


@pytest.mark.parametrize(
    ("unit", "error", "words"),
    [
        (None, TypeError, "the unit of 'x' is None; it must be a text such as 'rad/s'"),
        (sm.Symbol("m"), TypeError, "a text such as 'rad/s'"),
        (" ", ValueError, "a text such as 'rad/s'"),
        ((1, 2), ValueError, "three exponents"),
        (-1, ValueError, "must be positive"),
    ],
)
def test_what_is_no_unit(unit: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read_unit(unit, "'x'")
