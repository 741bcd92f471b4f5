# SPDX-License-Identifier: BSD-3-Clause
"""Derivations of the kernels, by subject; importing this package registers them all."""

from kanecore.derive.kernels import (
    constraint_kernels,
    derivative_kernels,
    energy_kernels,
    force_kernels,
    kinematic_kernels,
    motion_kernels,
)

__all__ = [
    "constraint_kernels",
    "derivative_kernels",
    "energy_kernels",
    "force_kernels",
    "kinematic_kernels",
    "motion_kernels",
]
