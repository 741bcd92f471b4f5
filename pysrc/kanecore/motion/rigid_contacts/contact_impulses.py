# SPDX-License-Identifier: BSD-3-Clause
"""Impulses with friction by a sequence of convex problems, where faster ways find none.

With s = |v_t⁺| known, impulses Λ of all contacts are the solution of

    minimize ½ Λ·D Λ + Λ·(v + μ s n)    over    Λ_n ≥ b,  |Λ_t| ≤ μ Λ_n,

and those with the s that they bring about satisfy the laws of contact and friction (De Saxcé; Acary, Cadoux, Lemaréchal
& Malick, ZAMM 91, 2011, who prove that there are some).  Projected gradients with momentum solve each problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Cone", "impulses"]

Array = npt.NDArray[np.float64]

_PROBLEMS, _STEPS = 400, 4000
_EXACT = 1e-12  # of the speeds without impulses


@dataclass(frozen=True)
class Cone:
    """Where the impulse of a contact is: its normal row, the number of its rows, friction, and the least one."""

    row: int
    length: int
    mu: float
    least: float

    def nearest(self, force: Array) -> Array:
        """The nearest impulse."""
        normal, along = force[0], force[1:]
        size = float(np.linalg.norm(along))
        if np.isinf(self.mu):
            return np.array([max(normal, self.least), *along])
        if size > self.mu * normal:
            normal = max((normal + self.mu * size) / (1.0 + self.mu**2), 0.0)
        normal = max(normal, self.least)
        return np.array([normal, *(along * (min(size, self.mu * normal) / size) if size > 0.0 else along)])


def impulses(delassus: Array, start: Array, cones: Sequence[Cone], used: npt.NDArray[np.bool_]) -> Array | None:
    """Impulses of all rows that are used, for speeds without them; None if none were found.

    Rows that are of no cone are equations.
    """
    d, v = delassus * np.outer(used, used), np.where(used, start, 0.0)
    largest = float(np.linalg.eigvalsh(d)[-1])
    small = _EXACT * float(np.abs(v).max(initial=0.0))
    force, slips = np.zeros(len(v)), np.zeros(len(cones))
    for _ in range(_PROBLEMS):
        shifted = v.copy()
        for cone, slip in zip(cones, slips, strict=True):
            shifted[cone.row] += 0.0 if np.isinf(cone.mu) else cone.mu * slip
        force = _least(d, shifted, cones, force, largest, small)
        after = v + d @ force
        found = np.array([np.linalg.norm(after[cone.row + 1 : cone.row + cone.length]) for cone in cones])
        if np.abs(found - slips).max(initial=0.0) <= 10.0 * small:
            return force
        slips = found
    return None


def _least(d: Array, v: Array, cones: Sequence[Cone], force: Array, largest: float, small: float) -> Array:
    """The solution of one problem, from one that is near."""
    ahead, weight = force, 1.0
    for _ in range(_STEPS):
        moved = ahead - (v + d @ ahead) / largest
        for cone in cones:
            rows = slice(cone.row, cone.row + cone.length)
            moved[rows] = cone.nearest(moved[rows])
        if largest * np.abs(moved - ahead).max(initial=0.0) <= small:
            return moved
        if (ahead - moved) @ (moved - force) > 0.0:
            weight = 1.0  # momentum leads away
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * weight**2))
        ahead, force, weight = moved + (weight - 1.0) / following * (moved - force), moved, following
    return force
