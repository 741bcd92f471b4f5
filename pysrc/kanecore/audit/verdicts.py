# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit and their verdicts: two derivations of a quantity, the digits that agree, and their meaning."""

from __future__ import annotations

import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "BY_DIFFERENCES",
    "BY_FORMULA",
    "BY_SOLUTION",
    "DOES_NOT_APPLY",
    "FAILS",
    "PASSES",
    "SUSPICIOUS",
    "NotApplicable",
    "Row",
    "Verdicts",
    "absent",
    "blame",
    "found",
    "judged",
    "table",
    "verdict",
]

Array = npt.NDArray[np.float64]

PASSES, FAILS, DOES_NOT_APPLY, SUSPICIOUS = "passes", "fails", "does not apply", "suspicious"

BY_DIFFERENCES = 6.0
"""Digits that must agree if a derivation uses differences, which have nine to eleven."""

BY_FORMULA = 8.0
"""Digits that must agree if both derivations are formulas: rounding leaves eleven or more."""

BY_SOLUTION = 6.0
"""Digits that must agree for solutions of linear equations, which lose digits near dead points."""

_SETTLED = 1e-7  # largest difference of two steps for a derivative to count, relative to the terms
_DIGITS = 16.0
_SPARSE = 1e-3  # largest unexplained part, relative to a difference, if one term is to explain it


class NotApplicable(Exception):
    """A row does not apply, with the reason."""


@dataclass(frozen=True)
class Row:
    """Verdict of an audit on one quantity.

    Attributes
    ----------
    name : str
        The quantity, and the quantity with which it was compared.
    verdict : {"passes", "fails", "does not apply", "suspicious"}
    digits : float
        Number of digits that agree at the worst state, relative to the terms of the quantity; NaN if nothing was
        compared.
    needed : float
        Number of digits that must agree.
    reason : str
        Reason why it does not apply, or the fault.
    worst : str
        The body, load, point or constraint with the least agreement.
    state : int
        The index of the worst state, -1 if nothing was compared.
    """

    name: str
    verdict: str
    digits: float = float("nan")
    needed: float = float("nan")
    reason: str = ""
    worst: str = ""
    state: int = -1


Check: TypeAlias = Callable[[str, Any], Row]


@dataclass(frozen=True)
class Verdicts(ABC):
    """Rows of an audit, and its random states; true if no row fails.

    Attributes
    ----------
    rows : tuple
        A row for each quantity: ``name, verdict, digits, needed, reason, worst, state``.
    t, x, r : ndarray, (n,), (n, n_x), (n, n_r)
        The states of the audit; ``row.state`` is the index of one.
    """

    rows: tuple[Row, ...]
    t: Array
    x: Array
    r: Array

    @property
    def passed(self) -> bool:
        """Test whether no row fails.  Suspicious rows are reported, but do not fail, as they may be intended."""
        return not self.failures

    @property
    def failures(self) -> tuple[Row, ...]:
        return self._of(FAILS)

    @property
    def suspicious(self) -> tuple[Row, ...]:
        return self._of(SUSPICIOUS)

    def _of(self, verdict: str) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == verdict)

    def __bool__(self) -> bool:
        return self.passed

    @property
    @abstractmethod
    def _title(self) -> str:
        """Title of the table: the models, the number of states and the verdict."""

    def __str__(self) -> str:
        return table(self._title, self.rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Table as HTML, for notebooks."""
        from kanecore.show.notebook_pages import verdicts_page

        return verdicts_page(self._title, [(row.name, *cells(row)) for row in self.rows])


def found(
    checks: Iterable[tuple[str, Check]], subject: Any, excused: tuple[type[Exception], ...] = (NotApplicable,)
) -> list[Row]:
    """Rows of some checks; a check that raises an excused error does not apply."""
    rows = []
    for name, check in checks:
        try:
            rows.append(check(name, subject))
        except excused as reason:
            rows.append(absent(name, " ".join(str(reason).split())))
    return rows


def absent(name: str, reason: str) -> Row:
    return Row(name, DOES_NOT_APPLY, reason=reason)


def verdict(name: str, good: bool, reason: str) -> Row:
    """Row for a fact, without digits."""
    return Row(name, PASSES if good else FAILS, reason=reason)


def judged(
    name: str,
    difference: Array,
    terms: Array,
    needed: float,
    *,
    uncertainty: Array | float = 0.0,
    labels: Sequence[str] = (),
    reason: str = "",
) -> Row:
    """The row of a difference between two ways.

    Parameters
    ----------
    difference : ndarray, (n_states, ...)
    terms : ndarray, broadcastable
        Magnitude of the terms of the quantity.
    uncertainty : ndarray or float, broadcastable
        Uncertainty of derivatives by differences; uncertain entries are not judged.
    labels : sequence of str
        Labels of the axis after that of the states.
    reason : str
        Reason to report if the row fails.
    """
    difference, terms = np.abs(difference), np.broadcast_to(terms, difference.shape)
    judges = np.broadcast_to(uncertainty, difference.shape) <= _SETTLED * terms
    judges |= (difference == 0.0) & (terms == 0.0)
    judges |= ~np.isfinite(difference) & np.isfinite(uncertainty)
    if not difference.size:
        return absent(name, "there is nothing of the kind")
    if not judges.any():
        return absent(name, "differences with steps of several sizes agree about no derivative here")
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(difference == 0.0, 0.0, difference / terms)
    relative = np.where(judges, np.where(np.isnan(relative), np.inf, relative), -1.0)
    place = np.unravel_index(int(np.argmax(relative)), relative.shape)
    largest = float(relative[place])
    digits = max(0.0, min(_DIGITS, -np.log10(largest))) if largest > 0.0 else _DIGITS
    good = digits >= needed
    worst = labels[int(place[1])] if labels else ""
    return Row(name, PASSES if good else FAILS, float(digits), needed, "" if good else reason, worst, int(place[0]))


def blame(difference: Array, terms: Array, features: Array, names: Sequence[str]) -> str:
    """Phrase that names the terms that explain a difference of sums; empty if none do.

    Parameters
    ----------
    difference, terms : ndarray, (n,)
        Kernel minus sum, and the magnitude of the terms of the sum.
    features : ndarray, (n, n_features)
        The terms of the sum.
    """
    heavy = terms > 0.0
    d, a = difference[heavy] / terms[heavy], features[heavy] / terms[heavy, np.newaxis]
    if not d.size or not a.size or not np.isfinite(d).all():
        return ""
    a, names = np.column_stack([a, np.sum(a, axis=1)]), [*names, "each of them"]
    squares = np.sum(a * a, axis=0)
    factors = np.divide(a.T @ d, squares, out=np.zeros_like(squares), where=squares > 0.0)
    left = np.linalg.norm(d[:, np.newaxis] - a * factors, axis=0)
    best, limit = int(np.argmin(left)), _SPARSE * float(np.linalg.norm(d))
    if left[best] <= limit:
        largest = [best]
    else:
        several = a[:, :-1] / np.sqrt(np.where(squares[:-1] > 0.0, squares[:-1], 1.0))
        shares, _, rank, _ = np.linalg.lstsq(several, d, rcond=_SPARSE)
        if rank < np.sum(squares[:-1] > 0.0) or np.linalg.norm(d - several @ shares) > limit:
            return ""
        factors = shares / np.sqrt(np.where(squares[:-1] > 0.0, squares[:-1], 1.0))
        order = np.argsort(-np.abs(shares))[:3]
        largest = [int(i) for i in order if abs(shares[i]) > _SPARSE * np.max(np.abs(shares))]
    return ", ".join(f"{names[i]} counts {1.0 + factors[i]:.5g} times" for i in largest)


def table(title: str, rows: Sequence[Row]) -> str:
    """Table of rows; the verdict is followed by the fault, or by the reason why a row does not apply."""
    width = max(_width(row.name) for row in rows)
    lines = [title, f"{'':{width}}  digits  needed  verdict"]
    for row in rows:
        digits, needed, found, said = cells(row)
        text = f"{row.name}{' ' * (width - _width(row.name))}  {digits:>6}  {needed:>6}  {found}"
        lines.append(f"{text}: {said}" if said else text)
    return "\n".join(lines)


def cells(row: Row) -> tuple[str, str, str, str]:
    """Cells of a row: digits, needed digits, verdict, and the fault or the reason why it does not apply."""
    digits, needed = ("" if math.isnan(x) else f"{x:.1f}" for x in (row.digits, row.needed))
    said = " ".join(filter(None, [row.worst if row.verdict in (FAILS, SUSPICIOUS) else "", row.reason]))
    return digits, needed, row.verdict, said


def _width(text: str) -> int:
    """Number of columns of a text, without combining dots above letters."""
    return sum(not unicodedata.combining(letter) for letter in text)
