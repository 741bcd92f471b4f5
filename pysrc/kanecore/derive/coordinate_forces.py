# SPDX-License-Identifier: BSD-3-Clause
"""Generalized forces of the coordinates: Q_k = Σ F·∂v/∂q̇_k, from those of the speeds.

With q̇ = Y u + z the powers Q·Y u and F·u are the same for all u, so Yᵀ Q = F.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanecore.describe.description import Description
from kanecore.graph.calculus import Tangent
from kanecore.graph.linear import Singular, solve

__all__ = ["coordinate_forces", "rate_slopes", "unrelated"]


def rate_slopes(d: Description) -> list[list[int]]:
    """Y of q̇ = Y u + z."""
    columns = [Tangent(d.graph, {u: d.graph.one}).of for u in d.speeds]
    return [[of(rate) for of in columns] for rate in d.rates]


def coordinate_forces(d: Description, forces: Sequence[int]) -> list[int]:
    """The solution Q of Yᵀ Q = F; raises `Singular`."""
    return solve(d.graph, list(zip(*rate_slopes(d), strict=True)), forces)


def unrelated(d: Description) -> str:
    """Why the speeds do not follow from q̇; empty where they do."""
    n_q, n_u = len(d.coordinates), len(d.speeds)
    if n_q != n_u:
        return f"it has {n_q} coordinates and {n_u} speeds, and its speeds do not follow from as many derivatives of q"
    try:
        coordinate_forces(d, d.speeds)
    except Singular as error:
        return f"the speed {d.speed_names[error.column]} does not follow from the derivatives of the coordinates"
    return ""
