# SPDX-License-Identifier: BSD-3-Clause
"""Units by name, as FMI takes them: a factor, and powers of base units."""

from __future__ import annotations

import math

import pytest

from kanecore.export.units import unit_of

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
}


@pytest.mark.parametrize("name", CASES)
def test_units_by_name(name: str) -> None:
    factor, powers = CASES[name]
    unit = unit_of(name)
    assert unit.powers == powers
    if powers is not None:
        assert unit.factor == pytest.approx(factor, rel=1e-15)
