# SPDX-License-Identifier: BSD-3-Clause
"""Unilateral impacts with friction: choice of the contacts that close, and of the rows that stick or slide.

With v⁺ = v⁻ + B M⁻¹ (I + BᵀΛ) of the rows B of all contacts, and ξ = v⁺ + e v⁻,

    0 ≤ Λ_n ⊥ ξ_n ≥ 0,        |Λ_t| ≤ μ Λ_n,        Λ_t = −μ Λ_n sign ξ_t where ξ_t is not zero

(Glocker & Pfeiffer, *Multibody Dynamics with Unilateral Contacts*, 1996, chapter 8; Moreau's law of impact).  This is a
linear complementarity problem.  It has few rows, so the modes are tried one by one: each contact is open or closed, and
each friction row of a closed contact sticks or slides in one of two directions.  Modes with most contacts closed and
sticking are tried first, and the first mode that satisfies all laws is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from kanecore.tolerances import EQUAL, RANK

__all__ = ["MOST_ROWS", "Friction", "decided"]

Array = npt.NDArray[np.float64]
Mode = tuple[tuple[bool, tuple[int, ...]], ...]  # for each contact: is it closed, and 0, 1, −1 for its friction rows

MOST_ROWS = 12
"""The most rows that are decided at once: 4 contacts with two directions of friction have 10,000 modes."""


@dataclass(frozen=True)
class Friction:
    """Friction rows of an impact.

    Attributes
    ----------
    normal : mapping of int to int
        Row of the contact with the normal impulse that limits each friction row.
    coefficient : mapping of int to float
        μ of each friction row; infinite if it always sticks.
    """

    normal: Mapping[int, int]
    coefficient: Mapping[int, float]

    def of(self, contact: int) -> list[int]:
        """Friction rows of a contact."""
        return [row for row, normal in self.normal.items() if normal == contact]


@dataclass(frozen=True)
class Decision:
    """Impulses Λ of all rows, (k,), and the indices of rows that are equations; dependent rows share impulses."""

    impulses: Array
    equations: list[int]


def decided(delassus: Array, start: Array, friction: Friction) -> Decision | None:
    """Impulses that satisfy the laws of contact and friction; None if no mode does.

    Parameters
    ----------
    delassus : ndarray, (k, k)
        B M⁻¹ Bᵀ.
    start : ndarray, (k,)
        ξ without impulses at the contacts, (1 + e) v⁻ + B M⁻¹ I.
    """
    contacts = [i for i in range(len(start)) if i not in friction.normal]
    tangents = [friction.of(contact) for contact in contacts]
    problem = _Problem(delassus, start, friction, contacts, tangents)
    return next(filter(None, map(problem.solved, _modes(friction, tangents))), None)


def _modes(friction: Friction, tangents: Sequence[Sequence[int]]) -> Iterator[Mode]:
    """All modes, those with most contacts closed and rows sticking first."""
    of_contacts = []
    for rows in tangents:
        slides = [(0,) if np.isinf(friction.coefficient[row]) else (0, 1, -1) for row in rows]
        of_contacts.append([*((True, signs) for signs in product(*slides)), (False, ())])
    yield from sorted(product(*of_contacts), key=lambda mode: sum(not closed or any(signs) for closed, signs in mode))


@dataclass(frozen=True)
class _Problem:
    delassus: Array
    start: Array
    friction: Friction
    contacts: list[int]
    tangents: list[list[int]]

    def solved(self, mode: Mode) -> Decision | None:
        """Impulses of a mode; None if they violate a law."""
        equations, spread = list[int](), np.zeros((len(self.start), len(self.start)))
        for contact, rows, (closed, signs) in zip(self.contacts, self.tangents, mode, strict=True):
            if not closed:
                continue
            equations.append(contact)
            spread[contact, contact] = 1.0
            for row, sign in zip(rows, signs, strict=True):
                if sign:
                    spread[row, contact] = -sign * self.friction.coefficient[row]
                else:
                    equations.append(row)
                    spread[row, row] = 1.0
        columns = spread[:, equations]
        matrix, right = (self.delassus @ columns)[equations], -self.start[equations]
        impulses = columns @ np.linalg.lstsq(matrix, right, rcond=RANK)[0]
        after = self.start + self.delassus @ impulses
        slow, weak = (EQUAL * np.max(np.abs(x), initial=0.0) for x in (self.start, impulses))
        if (np.abs(after[equations]) > slow).any():
            return None
        for contact, rows, (closed, signs) in zip(self.contacts, self.tangents, mode, strict=True):
            if (impulses[contact] < -weak) if closed else (after[contact] < -slow):
                return None
            for row, sign in zip(rows, signs, strict=False):  # an open contact has no impulse
                limit = self.friction.coefficient[row] * max(impulses[contact], 0.0) if impulses[row] else 0.0
                if sign * after[row] < -slow or (not sign and abs(impulses[row]) > limit + weak):
                    return None
        return Decision(impulses, equations)
