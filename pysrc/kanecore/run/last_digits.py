# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with changed last digits: the change of a result shows the size of its rounding, in any unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import NOISE

__all__ = ["nudged"]

_COPIES = 6


def nudged(values: Any, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """The values, then copies changed by up to `NOISE` relative to each value: (1 + 6, ...)."""
    array = np.asarray(values, dtype=np.float64)
    factors = 1.0 + NOISE * rng.uniform(-1.0, 1.0, (1 + _COPIES, *array.shape))
    factors[0] = 1.0
    return np.asarray(array * factors)
