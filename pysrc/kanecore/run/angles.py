# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates are angles, those that turn frames: they are of the size of one, in whatever units of length."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.run.constraints import Constraints
from kanecore.tolerances import RANK

__all__ = ["angles"]

_TURN = 0.3  # rad


def angles(at: Constraints) -> npt.NDArray[np.bool_]:
    """Whether each coordinate turns a frame at one state, (n_q,); of a model without frames none does."""
    dyn = at.dyn
    if not dyn.n_frames:
        return np.zeros(dyn.n_q, dtype=bool)
    moved = np.repeat(at.x[np.newaxis], dyn.n_q, axis=0)
    moved[range(dyn.n_q), range(dyn.n_q)] += _TURN
    values: dict[str, Any] = at.values
    turned = np.asarray(dyn.orientations(at.t, moved, **values)) - np.asarray(dyn.orientations(at.t, at.x, **values))
    return np.asarray(np.max(np.abs(turned).reshape(dyn.n_q, -1), axis=1, initial=0.0) > RANK)
