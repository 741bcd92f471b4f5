# SPDX-License-Identifier: BSD-3-Clause
"""The ten inertial parameters of a body, π = (m, m c, I), in the order of regressors."""

from __future__ import annotations

__all__ = ["ENTRIES", "OF_BODY"]

ENTRIES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Of I, about the first point of the body."""

OF_BODY = ("m", *(f"mc{axis}" for axis in "xyz"), *(f"I{'xyz'[i]}{'xyz'[j]}" for i, j in ENTRIES))
"""Their names."""
