# SPDX-License-Identifier: BSD-3-Clause
"""Which columns of a matrix are independent, of sets that serve as well the first ones.

A QR factorization that takes each column that some part is left of would take one of which a millionth is left, as of
an axis that a file gives with seven digits, and after it columns of which nothing is left but what rounding makes of
that part.  With the largest column first this cannot be, but then the columns are any.  In between, the next pivot is
the first column that is not much smaller than the largest (Golub & Van Loan, *Matrix Computations*, 4th ed., 2013,
section 5.4).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EPSILON

__all__ = ["independent_columns"]

_MUCH = 1e-3  # of the largest that is left: a column that is smaller waits
_ROUNDING = 1e2  # times ε beside the smallest pivot before: what is smaller is rounding of what that pivot scaled up


def independent_columns(
    columns: npt.NDArray[np.float64], tolerance: float, n: int | None = None
) -> npt.NDArray[np.intp]:
    """Numbers of independent columns from which the others follow, in rising order.

    Parameters
    ----------
    tolerance : float
        Of a column: where less is left of it by the others, it follows from them.
    n : int, optional
        As many as can be are taken from the first n columns, before others are looked at.
    """
    sizes = np.linalg.norm(columns, axis=0)
    rest = columns / np.where(sizes > 0.0, sizes, 1.0)
    found, least = list[int](), 1.0
    for group in (slice(0, n), slice(n, None)) if n is not None else (slice(None),):
        first = group.start or 0
        while True:
            sizes = np.linalg.norm(rest[:, group], axis=0)
            largest = float(np.max(sizes, initial=0.0))
            if largest <= max(tolerance, _ROUNDING * EPSILON / least):
                break
            j = first + int(np.flatnonzero(sizes >= _MUCH * largest)[0])
            axis = rest[:, j] / sizes[j - first]
            rest -= np.outer(axis, axis @ rest)
            rest -= np.outer(axis, axis @ rest)  # once more: what rounding put back
            rest[:, found] = rest[:, [j]] = 0.0
            found.append(j)
            least = min(least, largest)
    return np.array(sorted(found), dtype=np.intp)
