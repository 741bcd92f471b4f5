# SPDX-License-Identifier: BSD-3-Clause
"""Operations that solvers of ``emit/runtime`` take at most, each counted as its loops stand there.

n speeds, m rows of G, k right-hand sides; r pivots of rows leave n - r speeds.
"""

from __future__ import annotations

__all__ = ["free_solution", "front", "inverse", "motion", "multipliers", "solution"]


def solution(n: int, m: int, k: int, symmetric: bool, combined: bool = False) -> int:
    """``kc_weigh``, ``kc_cancel`` and ``kc_solve``, for whichever rank of G takes the most."""
    scaled = n * (2 * n + k) + _weigh(n, m) + m * (7 * n + 4)
    return scaled + _reduce(n, m, k, combined) + max(_reduced(n, r, k, symmetric) for r in range(min(n, m) + 1))


def free_solution(n: int, k: int, symmetric: bool) -> int:
    """``kc_solve_free``: factors that fail, then complete pivoting."""
    return symmetric * (_factor(n) + _substitute(n, k)) + _eliminate(n, k)


def front(own: int, border: int, rows: int) -> int:
    """``kc_eliminate_front``, ``kc_follow_front`` and forces, for whichever number of pivots takes the most."""
    w, r = own + border + 1, min(own, rows)
    reduced = rows * (5 * w + 3) + r * (4 * rows * own + w + 4 + rows * (2 * w + 4)) + rows * (4 * w + 4)
    projected = r * w * (2 * r + 2) + 4 * r * w * w
    forces = 4 * rows * rows * (r + 4) + 2 * r * (w + rows) + rows * (rows * (8 * rows + 10) + 4 * rows)
    again = own * (5 + w * (2 * w + 2)) + border * (2 * border + 3) + 2 * own * w + own
    return own + reduced + projected + forces + again


def motion(m: int, n_residuals: int) -> int:
    """Operations of ``kc_accelerate_by`` without the solution: sizes of rows, distance from the constraints."""
    return m + 8 * n_residuals + 16


def multipliers(n: int, m: int) -> int:
    """``kc_find_multipliers``: a reduction with its combination, forces of all rows, and those of least norm."""
    least_norm = m * (2 * (4 * m * m + 3 * m + 2) + 4 * m)
    sizes = m * (3 * n + 1) + 2 * m + m * m
    return _weigh(n, m) + m * (7 * n + 4) + n + _reduce(n, m, 0, True) + 2 * m * m + least_norm + sizes


def inverse(n: int) -> int:
    """``kc_invert``: a factorization, then each row from those before it, in eights."""
    return n * n * (2 * n + 20) + 10 * n + 8


def _weigh(n: int, m: int) -> int:
    """Factors of columns, all of which may belong to speeds without mass."""
    return n * (7 + m * (4 * n + 8)) + 2 * m * n


def _reduce(n: int, m: int, k: int, combined: bool) -> int:
    """Pivots of rows, the largest entry first; with its ``combine``, or without."""
    across = k + combined * m
    pivots = sum(m + 7 + (n - r) + across + (m - 1) * (6 + 4 * (n - r) + 2 * across) for r in range(min(n, m)))
    return m * (3 * n + across + 9) + pivots


def _reduced(n: int, r: int, k: int, symmetric: bool) -> int:
    """The equations of n - r speeds: their sides and matrix, the solution, and that of all speeds."""
    free = n - r
    sides = r * (free * (4 + 2 * n + 4 * k) + 2 * n * k + 2 * k) + n * k
    return sides + 2 * r * free * (1 + 2 * free) + free_solution(free, k, symmetric)


def _factor(n: int) -> int:
    """``kc_factor``."""
    return 2 + n * 3 + sum(d * (d + 4) for d in range(n))


def _substitute(n: int, k: int) -> int:
    """``kc_substitute``."""
    return n * (n - 1) * (1 + 2 * k) + n * k


def _eliminate(n: int, k: int) -> int:
    """``kc_eliminate``: two scalings, n searches for the largest entry, the elimination and the way back."""
    below = sum(d * (2 + 2 * d + 2 * k) for d in range(n))
    return 2 * n * (4 * n + 1) + 3 * sum(d * d for d in range(n + 1)) + 5 * n + below + n * k * (n + 2)
