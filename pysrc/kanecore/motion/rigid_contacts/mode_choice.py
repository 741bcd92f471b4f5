# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the modes of rigid contacts: which are open, stick or slide.

The laws are those of accelerations w = a + D Λ and of impacts, w = ξ = v⁺ + e v⁻:

    0 ≤ Λ_n ⊥ w_n ≥ 0,        |Λ_t| ≤ μ Λ_n,        Λ_t = −μ Λ_n s with s·w_t ≥ 0 where a slip begins along s

(Glocker & Pfeiffer, *Multibody Dynamics with Unilateral Contacts*, 1996, chapters 6 and 8).  A slip that is not zero
fixes its direction.  Modes that break a law are changed, all at once, later one by one, as in Júdice and Pires' block
pivoting; if that ends nowhere, all modes are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import CONTRADICTORY, EQUAL

if TYPE_CHECKING:
    from kanecore import _motion

__all__ = ["BACK", "CLOSED", "FORTH", "OPEN", "SIGN", "SLIDE", "SLIDES", "STICK", "Choice", "Modes"]

Array = npt.NDArray[np.float64]
Modes = tuple[str, ...]

OPEN, STICK, FORTH, BACK, SLIDE, CLOSED = "open", "stick", "slide +", "slide -", "slide", "closed"
SIGN = {FORTH: 1.0, BACK: -1.0}
SLIDES = (FORTH, BACK, SLIDE)
_NUMBER = {OPEN: 0, STICK: 1, CLOSED: 1, FORTH: 2, BACK: 2, SLIDE: 2}
_COST = {STICK: 0, CLOSED: 0, FORTH: 1, BACK: 1, SLIDE: 1, OPEN: 2}
_WEAK = 1e-12  # of the terms of an acceleration or of a force, as OF_FORCES of kc_contacts.c
_AT_ONCE, _ONE_BY_ONE, _MOST = 12, 60, 5000  # trials
_TURNS = 200  # iterations for the direction of a slip that begins


class Choice:
    """Modes that satisfy the laws, for one right side.

    Parameters
    ----------
    contacts : Contacts
        Of the extension, evaluated at a state.
    lengths : sequence of int
        Rows of each contact.
    start, terms : ndarray, (m,)
        Right side, w without forces, and the sizes of its terms.
    options : sequence of tuple of str
        Possible modes of each contact.
    begins : sequence of bool
        Contacts without slip, and all in impacts: slides must agree with w.
    """

    def __init__(
        self,
        contacts: _motion.Contacts,
        lengths: Sequence[int],
        start: Array,
        terms: Array,
        options: Sequence[Modes],
        begins: Sequence[bool],
    ) -> None:
        self._contacts, self._lengths, self._start, self._options, self._begins = (
            contacts,
            lengths,
            start,
            options,
            begins,
        )
        self._rows = len(start) - sum(lengths) + np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int)
        contacts.terms[:] = terms
        self._terms = terms
        self._touching = [i for i, each in enumerate(options) if each != (OPEN,)]

    def solve(self, modes: Modes, ways: Mapping[int, Array] | None = None) -> None:
        """Find forces and w of modes; in space the directions of slips that begin follow from w."""
        c = self._contacts
        c.mode[:] = [_NUMBER[mode] for mode in modes]
        turning = []
        c.noise[:] = 0.0
        for i in self._touching:
            if modes[i] in SIGN:
                c.directions[i, 0] = SIGN[modes[i]]
            elif modes[i] == SLIDE and self._begins[i]:
                turning.append(i)
                c.noise[i] = 1e30
            elif self._lengths[i] == 3:
                c.directions[i] = 0.0
        if turning:
            c.mode[turning] = 1
            c.solve(self._start)
            for i in turning:
                c.directions[i] = _unit(-self._along(c.force, i), np.array([1.0, 0.0]))
            c.mode[turning] = 2
        c.solve(self._start)
        for _ in range(_TURNS if turning else 0):
            turned = 0.0
            for i in turning:
                way = self._turned(i)
                turned = max(turned, float(np.abs(way - c.directions[i]).max()))
                c.directions[i] = way
            c.solve(self._start)
            if turned <= EQUAL:
                break

    def _along(self, values: Array, i: int) -> Array:
        row = self._rows[i]
        return values[row + 1 : row + self._lengths[i]]

    def _turned(self, i: int) -> Array:
        """The direction of a beginning slip after a step against w on the circle of friction, by projection."""
        c, row = self._contacts, self._rows[i]
        stiffness = np.trace(c.delassus[row + 1 : row + 3, row + 1 : row + 3])
        return _unit(self._along(c.after, i) / stiffness - self._along(c.force, i), c.directions[i].copy())

    def _size(self, i: int, j: int) -> float:
        """Size of the terms of w in row j of a contact."""
        row = self._rows[i] + j
        return float(self._terms[row] + self._contacts.sizes[row])

    def changes(self, modes: Modes) -> list[tuple[int, str]]:
        """Contacts whose modes break a law, by the last solution, and what they should be."""
        c, found = self._contacts, list[tuple[int, str]]()
        laws = c.laws()
        for i in self._touching:
            row, mode = self._rows[i], modes[i]
            if mode == OPEN:
                if c.after[row] < -_WEAK * self._size(i, 0):
                    found.append((i, self._options[i][0]))
                continue
            if laws[i, 0] < 0.0:
                found.append((i, OPEN))
            elif mode == STICK and laws[i, 1] < 0.0:
                force = self._along(c.force, i)
                found.append((i, SLIDE if len(force) == 2 else BACK if force[0] > 0.0 else FORTH))
            elif mode in SLIDES and self._begins[i]:
                w = float(self._along(c.after, i) @ c.directions[i, : self._lengths[i] - 1])
                if w < -_WEAK * self._size(i, 1):
                    found.append((i, STICK))
        return [(i, mode) for i, mode in found if mode in self._options[i]] if self._consistent else []

    def settled(self, modes: Modes) -> Modes:
        """The modes of the last solution by name: a slip that is zero, and stays zero, is none."""
        c, found = self._contacts, list(modes)
        for i in self._touching if any(self._begins) else ():
            still = self._lengths[i] > 1 and np.linalg.norm(self._along(c.after, i)) <= _WEAK * self._size(i, 1)
            if modes[i] in SLIDES and self._begins[i] and still:
                found[i] = STICK
        return tuple(found)

    @property
    def _consistent(self) -> bool:
        return self._contacts.spread < CONTRADICTORY

    def holds(self, modes: Modes) -> bool:
        """Test whether modes satisfy the laws."""
        self.solve(modes)
        return self._consistent and not self._broken(modes)

    def _broken(self, modes: Modes) -> bool:
        options, self._options = self._options, [(OPEN, STICK, CLOSED, FORTH, BACK, SLIDE)] * len(modes)
        try:
            return bool(self.changes(modes))
        finally:
            self._options = options

    def first(self) -> Modes | None:
        """Modes that satisfy the laws; None if none do.  The last solution is theirs."""
        modes, seen = tuple(each[0] for each in self._options), set[Modes]()
        for trial in range(_AT_ONCE + _ONE_BY_ONE):
            self.solve(modes)
            if self._consistent and not self._broken(modes):
                return modes
            changes = self.changes(modes)
            if not changes:
                break
            if trial >= _AT_ONCE or modes in seen:
                changes = changes[-1:]
            seen.add(modes)
            changed = dict(changes)
            modes = tuple(changed.get(i, mode) for i, mode in enumerate(modes))
        return next(self.all(), None)

    def all(self) -> Iterator[Modes]:
        """All modes that satisfy the laws, those with most contacts closed and sticking first."""
        n = np.prod([len(each) for each in self._options], dtype=float)
        if n <= _MOST:
            for modes in sorted(product(*self._options), key=lambda modes: sum(_COST[mode] for mode in modes)):
                if self.holds(modes):
                    yield modes

    def may_be_several(self, mu: Array) -> list[int]:
        """Contacts whose friction changes the normal acceleration as much as their normal force does (Painlevé)."""
        d, found = self._contacts.delassus, []
        for i in self._touching:
            row, n = self._rows[i], self._lengths[i]
            if n > 1 and np.isfinite(mu[i]) and d[row, row] <= mu[i] * np.linalg.norm(d[row, row + 1 : row + n]):
                found.append(i)
        return found


def _unit(v: Array, otherwise: Array) -> Array:
    """The unit vector along v; any unit vector if v is zero."""
    size = np.linalg.norm(v)
    return np.asarray(v / size) if size > 0.0 else otherwise
