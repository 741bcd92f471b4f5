# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the modes of rigid contacts: which are open, stick or slide.

The laws are those of accelerations w = a + D Λ and of impacts, w = ξ = v⁺ + e v⁻:

    0 ≤ Λ_n ⊥ w_n ≥ 0,        |Λ_t| ≤ μ Λ_n,        Λ_t = −μ Λ_n s with s·w_t ≥ 0 where a slip begins along s

(Glocker & Pfeiffer, *Multibody Dynamics with Unilateral Contacts*, 1996, chapters 6 and 8).  A slip that is not zero
fixes its direction.  Modes that break a law are changed, all at once, later one by one, as in Júdice and Pires' block
pivoting; if that ends nowhere, all modes are tried.  In space forces are found by projections on the cones, row by row
(Jean & Moreau 1992), which also share the load among redundant contacts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import CONTRADICTORY

if TYPE_CHECKING:
    from kanecore import _motion

__all__ = ["BACK", "CLOSED", "FORTH", "HELD", "OPEN", "SIGN", "SLIDE", "SLIDES", "STICK", "Choice", "Modes"]

Array = npt.NDArray[np.float64]
Modes = tuple[str, ...]

OPEN, STICK, FORTH, BACK, SLIDE, CLOSED = "open", "stick", "slide +", "slide -", "slide", "closed"
HELD = "held"
SIGN = {FORTH: 1.0, BACK: -1.0}
SLIDES = (FORTH, BACK, SLIDE)
_NUMBER = {HELD: 3, OPEN: 0, STICK: 1, CLOSED: 1, FORTH: 2, BACK: 2, SLIDE: 2}
_COST = {HELD: 0, STICK: 0, CLOSED: 0, FORTH: 1, BACK: 1, SLIDE: 1, OPEN: 2}
_WEAK = 1e-12  # of the terms of an acceleration or of a force, as OF_FORCES of kc_contacts.c
_AT_ONCE, _ONE_BY_ONE, _FEW, _MOST = 12, 60, 50, 5000  # trials
_SWEEPS, _HALVES = 20_000, 24  # of projections; of the distance to the largest friction
_NO_FORCE, _AT_LIMIT = 1e-10, 1e-9  # of the largest force; of the force at which a contact slips
_MOVES, _TURNED = 1e-9, 1e-6  # of the terms of an acceleration: it gives a slip its direction; it is across the slip
_NO_WAY = np.zeros(2)


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
    mu : ndarray, (n,)
        Friction coefficients at rest.
    guess : ndarray, (m,)
        Forces before.
    impulse : bool
        Whether w are speeds after an impact, and forces impulses.

    Attributes
    ----------
    projected : ndarray, (m,), or None
        Forces that satisfy the laws, as near as projections come; modes for them may not be clear.
    """

    def __init__(
        self,
        contacts: _motion.Contacts,
        lengths: Sequence[int],
        start: Array,
        terms: Array,
        options: Sequence[Modes],
        begins: Sequence[bool],
        mu: Array,
        guess: Array,
        impulse: bool = False,
    ) -> None:
        self._contacts, self._lengths, self._start, self._options, self._begins = (
            contacts,
            lengths,
            start,
            options,
            begins,
        )
        self.projected: Array | None = None
        self._halves = 0 if impulse else _HALVES
        self._mu, self._guess, self._ways = mu, guess, dict[int, Array]()
        contacts.reference[:] = 0.0
        self._rows = len(start) - sum(lengths) + np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int)
        contacts.terms[:] = terms
        self._terms = terms
        self._touching = [i for i, each in enumerate(options) if each != (OPEN,)]

    def solve(self, modes: Modes) -> None:
        """Find forces and w of modes; in space the directions of slips that begin are known."""
        c = self._contacts
        c.mode[:] = [_NUMBER[mode] for mode in modes]
        c.noise[:] = 0.0
        for i in self._touching:
            if modes[i] in SIGN:
                c.directions[i, 0] = SIGN[modes[i]]
            elif self._lengths[i] == 3:
                c.directions[i] = self._ways.get(i, _NO_WAY) if self._begins[i] else _NO_WAY
                c.noise[i] = 1e30 if i in self._ways else 0.0
        c.solve(self._start)

    def _along(self, values: Array, i: int) -> Array:
        row = self._rows[i]
        return values[row + 1 : row + self._lengths[i]]

    def _relaxed(self) -> Modes | None:
        """Modes in space, of forces that satisfy the laws; None if these were not found.

        Projections find one of the distributions of force among redundant contacts, which the others may leave: forces
        stay as near to it as loads allow.
        """
        c, force = self._contacts, self._guess
        parts = [1.0 - 0.5**halves for halves in range(1, self._halves)]
        for part, begin in [
            *((part, None) for part in parts),
            (1.0, None),
            (1.0, self._guess),
            (1.0, 0.0 * self._guess),
        ]:
            self._let_go()
            c.force[:] = force if begin is None else begin
            ends = c.relax(self._start, part, _SWEEPS)
            if not ends and (part < 1.0 or not np.isfinite(c.force).all()):
                continue
            force, w = c.force.copy(), self._start + c.delassus @ c.force
            if part < 1.0 and self._moving(w):  # of all distributions without slip one that is far from slip
                continue
            self.projected, modes = force, self._classified(force, w)
            c.reference[:] = force
            self.solve(modes)
            if self._consistent and not self._broken(modes):
                return modes
        return None

    def _let_go(self) -> None:
        """Let contacts stick or slip, but those whose slip is known."""
        c = self._contacts
        c.reference[:], self._ways = 0.0, {}
        c.mode[:] = [
            0 if each == (OPEN,) else 3 if each[0] == HELD else 2 if each[0] in SLIDES and not begins else 1
            for each, begins in zip(self._options, self._begins, strict=True)
        ]
        c.noise[:], c.directions[:] = 0.0, 0.0
        for i in self._touching:
            if self._options[i][0] in SIGN and not self._begins[i]:
                c.directions[i, 0] = SIGN[self._options[i][0]]

    def _classified(self, force: Array, w: Array) -> Modes:
        """Modes of forces, with the directions of slips that begin."""
        c, modes = self._contacts, [OPEN] * len(self._options)
        largest = np.abs(force).max(initial=0.0)
        for i in self._touching:
            row = self._rows[i]
            normal, along = force[row], self._along(force, i)
            if self._options[i][0] == HELD or len(along) == 0:
                lifts = normal <= _NO_FORCE * largest and w[row] > _WEAK * self._terms[row]
                modes[i] = OPEN if lifts and self._options[i][0] != HELD else self._options[i][0]
                continue
            if normal <= _NO_FORCE * largest and w[row] > _WEAK * self._terms[row]:
                continue
            slides = 2 in c.mode[[i]]
            limit = self._mu[i] * normal * (1 - _AT_LIMIT)
            if slides or len(along) == 0 or (np.isfinite(limit) and np.linalg.norm(along) >= limit):
                if len(along) == 2 and not slides:
                    moves = self._moves(w, i)
                    self._ways[i] = _unit(self._along(w, i) if moves else -along, np.array([1.0, 0.0]))
                    modes[i] = SLIDE
                elif len(along) == 1 and not slides:
                    modes[i] = BACK if along[0] > 0.0 else FORTH
                else:
                    modes[i] = self._options[i][0]
            else:
                modes[i] = STICK
        return tuple(modes)

    def _moves(self, w: Array, i: int) -> bool:
        """Test whether a contact that sticks or begins to slip has an acceleration."""
        c, rows = self._contacts, slice(self._rows[i] + 1, self._rows[i] + self._lengths[i])
        terms = self._terms[rows] + np.abs(c.delassus[rows]) @ np.abs(c.force)
        return bool(np.linalg.norm(self._along(w, i)) > _MOVES * terms.max())

    def _moving(self, w: Array) -> bool:
        return any(self._begins[i] and self._moves(w, i) for i in self._touching)

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
            if mode == HELD:
                continue
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
                w, way = self._along(c.after, i), c.directions[i, : self._lengths[i] - 1]
                across, size = np.linalg.norm(w - (w @ way) * way), self._size(i, 1)
                if w @ way < -_WEAK * size or across > _TURNED * size:
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
        options, self._options = self._options, [(OPEN, STICK, CLOSED, HELD, FORTH, BACK, SLIDE)] * len(modes)
        try:
            return bool(self.changes(modes))
        finally:
            self._options = options

    def first(self) -> Modes | None:
        """Modes that satisfy the laws; None if none do.  The last solution is theirs."""
        if any(self._lengths[i] == 3 for i in self._touching):
            modes = tuple(each[0] for each in self._options)
            if self.holds(modes):
                return modes
            return self._relaxed()
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
        return next(self.all(_FEW), None) or self._relaxed() or next(self.all(), None)

    def all(self, most: int = _MOST) -> Iterator[Modes]:
        """All modes that satisfy the laws, those with most contacts closed and sticking first; none of too many."""
        n = np.prod([len(each) for each in self._options], dtype=float)
        if n <= most:
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
