# SPDX-License-Identifier: BSD-3-Clause
"""Exponents of (length, mass, time), by which the models of the gallery say what their numbers are."""

from __future__ import annotations

from typing import TypeAlias

Dimension: TypeAlias = tuple[int, int, int]

NUMBER = ANGLE = (0, 0, 0)
LENGTH, MASS = (1, 0, 0), (0, 1, 0)
VELOCITY, RATE, ACCELERATION = (1, 0, -1), (0, 0, -1), (1, 0, -2)
FORCE, TORQUE, INERTIA = (1, 1, -2), (2, 1, -2), (2, 1, 0)
STIFFNESS, FRICTION, TORSIONAL_FRICTION = (0, 1, -2), (0, 1, -1), (2, 1, -1)


def of(names: str, dimension: Dimension) -> dict[str, Dimension]:
    """The same dimension for several names."""
    return dict.fromkeys(names.split(), dimension)
