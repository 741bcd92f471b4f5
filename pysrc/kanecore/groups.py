# SPDX-License-Identifier: BSD-3-Clause
"""Which kernels share one C text, one library and one cache entry.

The core group is compiled at once, each other one when a kernel of it is first called.
"""

from __future__ import annotations

__all__ = ["GROUPS", "KERNEL_GROUPS"]

GROUPS: dict[str, tuple[str, ...]] = {
    "core": ("rhs", "udot", "qdot", "mass_matrix", "forcing", "outputs"),
    "forces": (
        "partial_velocities",
        "velocity_remainders",
        "partial_angular_velocities",
        "angular_velocity_remainders",
        "generalized_active_forces",
        "generalized_inertia_forces",
        "inverse_dynamics",
    ),
    "energies": ("kinetic_energy", "potential_energy", "power"),
    "reactions": ("reactions", "reaction_slopes"),
    "constraints": (
        "configuration_residual",
        "configuration_jacobian",
        "velocity_residual",
        "constraint_sizes",
        "constraint_jacobian",
        "constraint_bias",
        "multipliers",
        "stabilization",
        "project",
    ),
    "linearize": ("linearize", "constraint_slopes"),
    "auxiliary": ("auxiliary_forces",),
}
"""Kernels of each group, in the order of the C table."""

KERNEL_GROUPS: dict[str, str] = {kernel: group for group, kernels in GROUPS.items() for kernel in kernels}
"""Group of each kernel."""
