# SPDX-License-Identifier: BSD-3-Clause
"""How each kernel is derived, by subject; importing this registers them all."""

from kanecore.derive.kernels import constraints, energies, forces, joints, linearization, motion

__all__ = ["constraints", "energies", "forces", "joints", "linearization", "motion"]
