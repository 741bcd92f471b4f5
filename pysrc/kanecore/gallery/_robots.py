# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions of what `Model.from_urdf` calls the numbers of robots."""

from __future__ import annotations

from collections.abc import Iterable

from ._dimensions import ANGLE, FORCE, INERTIA, LENGTH, MASS, NUMBER, RATE, TORQUE, VELOCITY, Dimension, of

FLOATING_BASE = (
    of("q_base_x q_base_y q_base_z", LENGTH)
    | of("q_base_e0 q_base_e1 q_base_e2 q_base_e3", NUMBER)
    | of("u_base_x u_base_y u_base_z", VELOCITY)
    | of("u_base_rx u_base_ry u_base_rz", RATE)
)


def of_hinges(joints: Iterable[str]) -> dict[str, Dimension]:
    """Of revolute joints."""
    kinds = (("q", ANGLE), ("u", RATE), ("tau", TORQUE))
    return {f"{letter}_{joint}": dimension for joint in joints for letter, dimension in kinds}


def of_sliders(joints: Iterable[str]) -> dict[str, Dimension]:
    """Of prismatic joints."""
    kinds = (("q", LENGTH), ("u", VELOCITY), ("tau", FORCE))
    return {f"{letter}_{joint}": dimension for joint in joints for letter, dimension in kinds}


def of_parameters(names: Iterable[str]) -> dict[str, Dimension]:
    """Of masses, mass centres and inertias of links."""
    kinds = {"m": MASS, "c": LENGTH, "I": INERTIA}
    return {name: kinds[name[0]] for name in names}
