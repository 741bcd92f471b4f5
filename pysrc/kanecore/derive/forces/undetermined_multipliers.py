# SPDX-License-Identifier: BSD-3-Clause
"""Rows of G with undetermined multipliers, because the rows follow from other rows."""

from __future__ import annotations

import numpy as np

from kanecore.derive.constrained_states import constrained_states
from kanecore.derive.derivation import Derivation
from kanecore.tolerances import EQUAL

__all__ = ["redundant_rows"]


def redundant_rows(derivation: Derivation) -> list[str]:
    """Names of the nonzero rows of G that are combinations of other rows, at random states on the constraints.

    For a given Gᵀλ, the components of λ in the null space of Gᵀ may have any value.
    """
    rows = derivation.rows
    if not rows:
        return []
    for state in constrained_states(derivation.kinematics, accelerations=False):
        matrix = np.array([state.values(row.jacobian) for row in rows])
        sizes = np.linalg.norm(matrix, axis=1)
        if not np.all(np.isfinite(sizes)) or not np.all(sizes):
            continue
        left, values, _ = np.linalg.svd(matrix / sizes[:, np.newaxis])
        rank = int(np.sum(values > EQUAL * values[0]))
        held = np.linalg.norm(left[:, rank:], axis=1) > EQUAL
        if held.any():
            return [row.name for row, is_held in zip(rows, held, strict=True) if is_held]
    return []
