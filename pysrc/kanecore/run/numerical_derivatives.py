# SPDX-License-Identifier: BSD-3-Clause
"""Numerical derivatives, to some eleven digits: central differences of order eight, with steps of several sizes.

Two neighbouring steps have different errors: the larger step truncates more of the series, the smaller step has more
rounding.  Each entry is taken from the steps that agree best (after Ridders, *Advances in Engineering Software* 4,
1982).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Slope", "derivative"]

Array = npt.NDArray[np.float64]

_PLACES = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
_WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_ROUNDING = 2.0**-53
_STEPS = 0.1 / 8.0 ** np.arange(5)  # steps as shares of a large change


@dataclass(frozen=True)
class Slope:
    """Derivative, and its uncertainty by two steps and the rounding of values; infinite without two numbers."""

    value: Array
    uncertainty: Array


def derivative(along: Callable[[Array], Array], size: Array) -> Slope:
    """The derivatives d/dτ of functions of τ at τ = 0.

    Parameters
    ----------
    along : callable
        The values at τ (5, 8, ...): (5, 8, ..., *shape).
    size : ndarray, (...)
        Large changes τ of the function's argument.
    """
    steps = _STEPS.reshape(-1, *(1 for _ in range(1 + size.ndim))) * size
    values = along(_PLACES.reshape(-1, *(1 for _ in range(size.ndim))) * steps)
    slopes = np.einsum("j,ij...->i...", _WEIGHTS, values)
    lengths = steps[:, 0].reshape(*slopes.shape[: 1 + size.ndim], *(1 for _ in range(slopes.ndim - 1 - size.ndim)))
    slopes /= lengths
    rounding = _ROUNDING * np.max(np.abs(values), axis=1) / lengths  # steps too short to change a value agree on zero
    gaps = np.maximum(np.abs(np.diff(slopes, axis=0)), rounding[:-1])
    gaps = np.where(np.isfinite(gaps), gaps, np.inf)
    best = np.argmin(gaps, axis=0)[np.newaxis]
    value, gap = (np.take_along_axis(a, best, axis=0)[0] for a in (slopes[:-1], gaps))
    return Slope(np.where(np.isfinite(gap), value, 0.0), gap)
