# SPDX-License-Identifier: BSD-3-Clause
"""The regressor Y of M u̇ − f = Y π, and π; the columns of friction and rotors."""

from __future__ import annotations

from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived, derives
from kanecore.derive.regressor import (
    inertial_parameters,
    joint_regressor,
    regressor,
    why_no_joint_regressor,
    why_no_regressor,
)

__all__: list[str] = []


@derives("regressor", missing=why_no_regressor)
def _regressor(d: Derivation) -> Derived:
    return Derived(tuple(x for row in regressor(d) for x in row))


@derives("inertial_parameters", missing=why_no_regressor)
def _inertial_parameters(d: Derivation) -> Derived:
    return Derived(tuple(x for body in inertial_parameters(d.kinematics) for x in body))


@derives("joint_regressor", missing=why_no_joint_regressor)
def _joint_regressor(d: Derivation) -> Derived:
    return Derived(tuple(x for row in joint_regressor(d) for x in row))
