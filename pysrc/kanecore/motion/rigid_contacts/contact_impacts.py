# SPDX-License-Identifier: BSD-3-Clause
"""Impacts of rigid contacts: all that touch take part at once, with friction; slow ones come to rest.

With v⁺ = v⁻ + D Λ of all rows the impulses satisfy the laws of `mode_choice`, by Newton for ξ_n = v_n⁺ + e v_n⁻,
ξ_t = v_t⁺ (Moreau; Glocker & Pfeiffer 1996, chapter 8).  By Poisson they do so with e = 0 in a compression, Λ_C; in the
expansion that follows

    0 ≤ Λ_n − e Λ_nC ⊥ v_n⁺ ≥ 0,        |Λ_t| ≤ μ Λ_n,        Λ_t = −μ Λ_n v_t⁺/|v_t⁺| where it slips.

Both with friction may increase the energy (Kane 1984): then the impulses are those of e = 0, and of the part of the
others that the energy allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.motion.rigid_contacts.contact_impulses import Cone, impulses
from kanecore.motion.rigid_contacts.mode_choice import BACK, CLOSED, FORTH, HELD, OPEN, SLIDE, STICK, Choice

__all__ = ["Impacts"]

Array = npt.NDArray[np.float64]

_RESTS = 1e-6  # of the fastest approach of a contact
_LOW = 1e-10  # of the terms of a gap: bounces are not lower
_SWEEPS = 20_000  # of projections
_SLOW_SLIP = 10.0  # of the approach speed that counts as rest: with friction, a slower slip ends together with it


class Impacts:
    """The impacts of a run.

    Parameters
    ----------
    course : Course
        The run that has them, from `mode_course`.

    Attributes
    ----------
    found : list of (float, ndarray, ndarray)
        Times, states before and after.
    impulses : list of dict of str to ndarray
        Impulses of each contact.
    fastest : ndarray, (n,)
        Fastest approach of each contact.
    scale : ndarray, (n_rows,)
        Sizes of the terms of the speeds of rows in the last impact.
    """

    def __init__(self, course: Any) -> None:
        self._course = course
        self.fastest = np.zeros(len(course.contacts))
        ends = np.cumsum([0, *(len(contact.axes) for contact in course.owner.named)]).tolist()
        self._rows = {c.name: slice(*ends[i : i + 2]) for i, c in enumerate(course.owner.named)}
        self.scale = np.zeros(0)
        self.impulses: list[dict[str, Array]] = []
        self.found: list[tuple[float, Array, Array]] = []

    def rest(self, i: int) -> float:
        """The approach speed of a contact, evaluated at a state, at which it comes to rest."""
        given, c = self._course.owner.rest, self._course.numbers
        if given is not None:
            return float(given)
        row = self._course.n_c + self._course.first[i]
        low = np.sqrt(2.0 * _LOW * c.gap_terms[i] * max(-c.start[row], 0.0))
        return float(max(_RESTS * self.fastest[i], low))

    def after(self, t: float, x: Array, touching: Sequence[int]) -> Array:
        """The state after an impact of contacts that touch, evaluated at x."""
        course = self._course
        v = course.normal_speeds
        for i in touching:
            self.fastest[i] = max(self.fastest[i], abs(v[i]) if course.contacts[i].holds else -v[i])
        slow = all(abs(v[i]) <= self.rest(i) for i in touching)
        u = x[course.problem.dyn.names.speeds] + (self._stop(touching) if slow else self._rebound(t, x, touching))
        self.scale = course.numbers.speed_terms + course.numbers.sizes[course.n_c :]
        after = x.copy()
        after[course.problem.dyn.names.speeds] = u
        self.found.append((t, x.copy(), after))
        found = course.numbers.force[course.n_c :].copy()
        self.impulses.append({name: found[rows] for name, rows in self._rows.items()})
        return after

    def _stop(self, touching: Sequence[int]) -> Array:
        """Change of the speeds by which contacts come to rest, the least one; fast slips go on."""
        course, c = self._course, self._course.numbers
        c.mode[:] = 0
        for i in touching:
            slow = np.linalg.norm(course.slip(i)) <= _SLOW_SLIP * self.rest(i)
            sticks = course.contacts[i].holds or (course.mu[i] > 0.0 and slow)
            c.mode[i] = 1 if sticks or course.lengths[i] == 1 else 2
        c.held(np.concatenate([np.zeros(course.n_c), c.speeds]))
        return np.asarray(c.pushed())

    def _rebound(self, t: float, x: Array, touching: Sequence[int]) -> Array:
        """Change of the speeds by an impact with restitution and friction."""
        course, c = self._course, self._course.numbers
        speeds = np.concatenate([np.zeros(course.n_c), c.speeds])
        poisson, plastic = course.owner.impact == "poisson", None
        if poisson:
            plastic = self._forces(t, x, touching, speeds)
            forces = plastic + self._expansion(t, x, touching, speeds, plastic)
        else:
            bounces = speeds.copy()
            for i in touching:
                row = course.n_c + course.first[i]
                bounces[row] *= 1.0 + (course.contacts[i].e if speeds[row] < -self.rest(i) else 0.0)
            forces = self._forces(t, x, touching, bounces)
        if self._work(forces, speeds) > 0.0:
            plastic = self._forces(t, x, touching, speeds) if plastic is None else plastic
            more = forces - plastic
            forces = plastic + _share(lambda part: self._work(plastic + part * more, speeds)) * more
        c.force[:] = forces
        return np.asarray(c.pushed())

    def _work(self, forces: Array, speeds: Array) -> float:
        """Work of the impulses on the bodies, relative to its terms; 0 if it is rounding."""
        after = speeds + self._course.numbers.delassus @ forces
        terms = 0.5 * forces * (speeds + after)
        work = float(terms.sum())
        return work if work > 1e-12 * float(np.abs(forces * speeds).sum()) else min(work, 0.0)

    def _expansion(self, t: float, x: Array, touching: Sequence[int], speeds: Array, compression: Array) -> Array:
        """Impulses of the expansion that follows a compression."""
        course, c = self._course, self._course.numbers
        least = np.zeros(len(course.contacts))
        for i in touching:
            least[i] = course.contacts[i].e * compression[course.n_c + course.first[i]]
        if not least.any():
            return np.zeros_like(compression)
        c.mode[:], c.least[:], c.force[:] = 0, least, 0.0
        for i in touching:
            c.mode[i] = 3 if course.contacts[i].holds else 1
        found = c.relax(speeds + c.delassus @ compression, 1.0, _SWEEPS)
        c.least[:] = 0.0
        return np.array(c.force) if found else self._by_cones(t, x, touching, speeds + c.delassus @ compression, least)

    def _by_cones(self, t: float, x: Array, touching: Sequence[int], start: Array, least: Array) -> Array:
        """Impulses by convex problems, which take longer."""
        course = self._course
        used = np.arange(len(start)) < course.n_c
        cones = []
        for i in touching:
            row, n = course.n_c + int(course.first[i]), course.lengths[i]
            used[row : row + n] = True
            if not course.contacts[i].holds:
                cones.append(Cone(row, n, float(course.mu_static[i]), float(least[i])))
        found = impulses(np.array(course.numbers.delassus), start, cones, used)
        if found is None:
            raise ModelError(
                f"no impulses of the contacts of {course.owner.dyn.name!r} satisfy the laws at t = {t!r}, "
                f"x = {x.tolist()!r}"
            )
        return found

    def _forces(self, t: float, x: Array, touching: Sequence[int], start: Array) -> Array:
        course, c = self._course, self._course.numbers
        options: list[tuple[str, ...]] = [(OPEN,)] * len(course.contacts)
        for i in touching:
            n = course.lengths[i]
            if course.contacts[i].holds:
                options[i] = (HELD,)
                continue
            ways = (CLOSED,) if n == 1 else (STICK, SLIDE) if n == 3 else (STICK, FORTH, BACK)
            options[i] = (*((STICK,) if n > 1 and np.isinf(course.contacts[i].mu) else ways), OPEN)
        terms = np.concatenate([np.zeros(course.n_c), c.speed_terms])
        choice = Choice(
            c,
            course.lengths,
            start,
            terms,
            options,
            [n > 1 for n in course.lengths],
            course.mu_static,
            np.zeros_like(start),
            impulse=True,
        )
        if choice.first() is None:
            if choice.projected is not None:
                return choice.projected
            return self._by_cones(t, x, touching, start, np.zeros(len(course.contacts)))
        return np.array(c.force)


def _share(work: Any) -> float:
    """The largest part, 0 to 1, at which a convex function that is not positive at 0 is not positive."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if work(middle) <= 0.0 else (low, middle)
    return low
