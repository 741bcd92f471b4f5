# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions of the gallery's parameters, coordinates, speeds and inputs: exponents of (length, mass, time).

Those of robots have the names that `Model.from_urdf` gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Dimension: TypeAlias = tuple[int, int, int]

NUMBER = ANGLE = (0, 0, 0)
LENGTH, MASS = (1, 0, 0), (0, 1, 0)
VELOCITY, RATE, ACCELERATION = (1, 0, -1), (0, 0, -1), (1, 0, -2)
FORCE, TORQUE, INERTIA = (1, 1, -2), (2, 1, -2), (2, 1, 0)
STIFFNESS, FRICTION, TORSIONAL_FRICTION = (0, 1, -2), (0, 1, -1), (2, 1, -1)


def of(names: str, dimension: Dimension) -> dict[str, Dimension]:
    """Mapping of several names to one dimension."""
    return dict.fromkeys(names.split(), dimension)


FLOATING_BASE = (
    of("q_base_x q_base_y q_base_z", LENGTH)
    | of("q_base_e0 q_base_e1 q_base_e2 q_base_e3", NUMBER)
    | of("u_base_x u_base_y u_base_z", VELOCITY)
    | of("u_base_rx u_base_ry u_base_rz", RATE)
)


def of_hinges(joints: Iterable[str]) -> dict[str, Dimension]:
    """Dimensions of the coordinates, speeds and torques of revolute joints."""
    kinds = (("q", ANGLE), ("u", RATE), ("tau", TORQUE))
    return {f"{letter}_{joint}": dimension for joint in joints for letter, dimension in kinds}


def of_sliders(joints: Iterable[str]) -> dict[str, Dimension]:
    """Dimensions of the coordinates, speeds and forces of prismatic joints."""
    kinds = (("q", LENGTH), ("u", VELOCITY), ("tau", FORCE))
    return {f"{letter}_{joint}": dimension for joint in joints for letter, dimension in kinds}


def of_parameters(names: Iterable[str]) -> dict[str, Dimension]:
    """Dimensions of masses, mass centres and inertias of links."""
    kinds = {"m": MASS, "c": LENGTH, "I": INERTIA}
    return {name: kinds[name[0]] for name in names}
