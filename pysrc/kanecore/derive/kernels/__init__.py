# SPDX-License-Identifier: BSD-3-Clause
"""How each kernel is derived, by subject; importing this registers them all."""

from kanecore.derive.kernels import (
    bodies,
    constraints,
    energies,
    forces,
    hamilton,
    joints,
    kinematics,
    linearization,
    manipulator,
    motion,
    products,
    regressor,
)

__all__ = [
    "bodies",
    "constraints",
    "energies",
    "forces",
    "hamilton",
    "joints",
    "kinematics",
    "linearization",
    "manipulator",
    "motion",
    "products",
    "regressor",
]
