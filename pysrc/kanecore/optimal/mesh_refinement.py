# SPDX-License-Identifier: BSD-3-Clause
"""Meshes that are finer where a motion has large errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.optimal.collocation_rules import Mesh

__all__ = ["refined"]

Array = npt.NDArray[np.float64]

_PIECES = 4  # of an interval at most: a rough solution does not tell more


def refined(mesh: Mesh, excess: Array) -> Mesh:
    """Mesh whose intervals are split where their error is too large.

    An error falls with the length of its interval to the power of order + 1.  So an interval whose error is ``excess``
    times what is allowed becomes as many pieces as leave half of that, and at most four.
    """
    pieces = np.clip(np.ceil((2.0 * excess) ** (1.0 / (mesh.rule.order + 1))), 1, _PIECES)
    pieces = np.where(excess > 1.0, np.maximum(pieces, 2), 1).astype(int)
    parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(mesh.edges, mesh.edges[1:], pieces, strict=False)]
    return Mesh(mesh.rule, np.append(np.concatenate(parts), 1.0))
