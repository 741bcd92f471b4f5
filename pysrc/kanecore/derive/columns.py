# SPDX-License-Identifier: BSD-3-Clause
"""The mass matrix column by column, for velocities that follow no joint tree.

M_rs = Σ m v_r·v_s + ω_r·I·ω_s: the partial velocities of speed s by a forward tangent, their momenta as weights, and
one reverse accumulation for all r.
"""

from __future__ import annotations

from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.scalars import SPEED

from .kane import central_inertia
from .kinematics import Kinematics
from .vectors import matvec, scale

__all__ = ["column_mass_matrix"]


def column_mass_matrix(k: Kinematics) -> list[list[int]]:
    """The mass matrix in the user's speeds."""
    g, d = k.graph, k.description
    n = len(d.speeds)
    inertias = [central_inertia(k, i) if b.frame >= 0 else None for i, b in enumerate(d.bodies)]
    matrix = [[0] * n for _ in range(n)]
    for s, speed in enumerate(d.speeds):
        partial = Tangent(g, {speed: g.one}).of
        weights: list[tuple[int, int]] = []
        for body, inertia in zip(d.bodies, inertias, strict=True):
            v = k.velocity[body.point]
            momentum = scale(g, body.mass, (partial(v[0]), partial(v[1]), partial(v[2])))
            weights += zip(v, momentum, strict=True)
            if inertia is not None:
                w = k.omega[body.frame]
                weights += zip(w, matvec(g, inertia, (partial(w[0]), partial(w[1]), partial(w[2]))), strict=True)
        for r, entry in enumerate(accumulate(g, weights, d.speeds[: s + 1], SPEED)):
            matrix[r][s] = matrix[s][r] = entry
    return matrix
