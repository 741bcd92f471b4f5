# SPDX-License-Identifier: BSD-3-Clause
"""Faults of recordings that least squares would accept silently: rows far outside the others, late efforts.

A row is suspect if its residual, or one of its numbers, is far outside the others.  It is reported if a fit without all
suspect rows agrees: the residual of the row is then farther outside, or more base parameters can be distinguished.
Efforts are late or early if shifting their rows reduces the residual much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.control.regression_equations import Equations, Found
from kanecore.errors import warn
from kanecore.tolerances import SOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["robust_weights", "spread", "warn_of_lag", "warn_of_rows"]

Array = npt.NDArray[np.float64]

_SUSPECTED, _FAR = 5.0, 30.0  # times the spread of the others: a row is far outside
_LIKEWISE = 10.0  # times the spread: further rows that are reported if one is far outside
_BEYOND = 1e5  # times the median of the others: relative to such a number the others are within the default tolerance
_MOST = 0.2  # largest share of rows that are exceptions
_NAMED = 3
_ROWS, _FEWEST = 300, 40  # rows of the lag's test, and for it
_SHIFT = 8  # longest lag, as a share of all rows
_MUCH = 0.5  # largest share of the residual that a lag may leave
_STEPS = 50
_SETTLED = 1e-3  # change of weights
_NORMAL = 1.4826  # standard deviation of normal noise by the median of its size


def spread(rests: Array, terms: Array) -> Array:
    """Standard deviation of each equation's residual, (n,), by its median, which few rows do not change.

    The spread is at least `SOLVED` times the median of the terms: residuals of exact data are rounding.
    """
    return np.asarray(_NORMAL * np.median(np.abs(rests), axis=0) + SOLVED * np.median(terms, axis=0))


def _outside(rests: Array, terms: Array, kept: npt.NDArray[np.bool_]) -> Array:
    """Residuals relative to the spread of the kept rows: (N, n_u)."""
    size = np.abs(rests)
    beside = spread(rests[kept], terms[kept]) + np.finfo(np.float64).eps * terms
    return np.asarray(np.divide(size, beside, out=np.zeros_like(size), where=beside > 0.0))


def warn_of_rows(equations: Equations, found: Found, start: Array, tolerance: float) -> None:
    """Warn of rows with equations far outside the others, or rows that hide base parameters.

    If weights make outliers count little, only rows that hide base parameters are reported.
    """
    n, weighted = len(equations.x), equations.weights is not None
    equations = replace(equations, weights=None)
    before = _outside(equations.rests(_full(found)), equations.terms, np.ones(n, dtype=bool))
    beyond = _beyond(equations)
    suspected = (before > _SUSPECTED).any(axis=1) | beyond
    if not 0 < suspected.sum() <= _MOST * n:
        return
    rest = equations.rows(~suspected)
    try:
        other = rest.least_squares(start, tolerance)
    except ValueError:  # too few
        return
    if len(other.independent) < len(found.independent):
        return
    outside = _outside(equations.rests(_full(other)), equations.terms, ~suspected)
    more = len(other.independent) - len(found.independent)
    least = _LIKEWISE if (outside[suspected] > _FAR).any() else np.inf
    far = suspected & ((outside > least).any(axis=1) | (beyond if more else False))
    if weighted and not more:
        return
    rows = np.flatnonzero(far)
    if len(rows):
        listed = ", ".join(map(str, rows[:_NAMED])) + (f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else "")
        worst = int(rows[np.argmax(outside[rows].max(axis=1))])
        k = int(np.argmax(outside[worst]))
        hidden = f", and {len(other.independent)} base parameters can be told without them in place of "
        hidden += str(len(found.independent))
        one = len(rows) == 1
        warn(
            f"row{'' if one else 's'} {listed} of the recording {'lies' if one else 'lie'} far outside the others: the "
            f"equation of {equations.dyn.speed_names[k]} misses by {outside[worst, k]:.2g} times their spread in row "
            f"{worst}{hidden if more else ''}; leave out rows that were not measured"
            + ("" if more else ", or write loss='soft_l1'")
        )


def _full(found: Found) -> Array:
    """The change of all parameters, zero except for the independent ones."""
    change = np.zeros(found.matrix.shape[1])
    change[list(found.independent)] = found.change
    return change


def _beyond(equations: Equations) -> npt.NDArray[np.bool_]:
    """Rows with a number far larger than all others of its column."""
    found = np.zeros(len(equations.x), dtype=bool)
    for numbers in (equations.x, equations.udot, equations.r):
        for column in () if numbers is None else np.abs(numbers.T):
            some = column[column > 0.0]
            found |= column > _BEYOND * (np.median(some) if len(some) else np.inf)
    return found


def warn_of_lag(equations: Equations, independent: Sequence[int]) -> None:
    """Warn if efforts shifted by some rows reduce the residual much."""
    r, n = equations.r, len(equations.x)
    longest = n // _SHIFT
    if r is None or n < _FEWEST or not np.ptp(r, axis=0).any():
        return
    if equations.t.ndim and not (np.diff(equations.t) > 0.0).all():
        return
    places = np.unique(np.linspace(longest, n - 1 - longest, min(_ROWS, n - 2 * longest)).round().astype(np.intp))
    size = equations.sizes
    some = replace(equations.rows(places), deviations=size, weights=None)
    columns = np.concatenate([some.project(part[..., list(independent)], at) for part, _, at in some.parts()])
    columns = (columns / size[:, np.newaxis]).reshape(-1, len(independent))
    if len(columns) <= 2 * len(independent):
        return
    basis = np.linalg.qr(columns)[0]

    def left(lag: int) -> float:
        rest = (some.missing(r[places + lag]) / size).ravel()
        return float(np.linalg.norm(rest - basis @ (basis.T @ rest)))

    steps = np.unique(np.geomspace(1, longest, 24).round().astype(int))
    known = {lag: left(lag) for lag in (0, *steps.tolist(), *(-steps).tolist())}
    best, width = min(known, key=lambda lag: known[lag]), longest
    while width > 1:
        width = (width + 1) // 2
        for lag in (best - width, best + width):
            if abs(lag) <= longest and lag not in known:
                known[lag] = left(lag)
        best = min(known, key=lambda lag: known[lag])
    if not best or known[best] >= _MUCH * known[0] or known[0] <= SOLVED * np.sqrt(len(columns)):
        return
    when = f"{abs(best)} rows"
    if equations.t.ndim:
        when += f" ({abs(best) * float(np.median(np.diff(equations.t))):.3g} in t)"
    warn(
        f"the efforts r seem to be {'late' if best > 0 else 'early'} by {when}: {known[best] / known[0]:.2g} of the "
        f"residual is left with r taken as much {'later' if best > 0 else 'earlier'}; shift r, or identify friction, "
        "joints=('viscous',), which may have the same effect"
    )


def robust_weights(equations: Equations, start: Array, tolerance: float) -> Equations:
    """The equations with the weights of soft_l1, Σ 2 √(1 + (ê/σ)²), where σ is the spread of each equation's residuals.

    Weighted least squares are iterated; a state has the least weight of its equations.
    """
    weights = np.ones(len(equations.x))
    for _ in range(_STEPS):
        found = replace(equations, weights=weights).least_squares(start, tolerance)
        rests = equations.rests(_full(found))
        beside = spread(rests, equations.terms)
        relative = np.divide(rests, beside, out=np.zeros_like(rests), where=beside > 0.0)
        before, weights = weights, (1.0 + np.max(relative**2, axis=1, initial=0.0)) ** -0.25  # √ of ρ' = (1 + z)^(−1/2)
        if np.max(np.abs(weights - before)) <= _SETTLED:
            break
    return replace(equations, weights=weights)
