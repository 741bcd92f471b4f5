# SPDX-License-Identifier: BSD-3-Clause
"""The parts C and g of the manipulator form M u̇ + C u + g = τ + other loads."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.manipulator import (
    coriolis_matrix,
    gravity_forces,
    why_no_coriolis_matrix,
    why_no_gravity_forces,
)
from kanecore.derive.registry import Derived, derives

__all__: list[str] = []


@derives("coriolis_matrix", missing=why_no_coriolis_matrix)
def _coriolis_matrix(d: Derivation) -> Derived:
    return Derived(tuple(x for row in coriolis_matrix(d) for x in row))


@derives("gravity_forces", missing=why_no_gravity_forces)
def _gravity_forces(d: Derivation) -> Derived:
    return Derived(tuple(gravity_forces(d)))
