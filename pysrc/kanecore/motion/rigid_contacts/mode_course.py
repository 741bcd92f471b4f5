# SPDX-License-Identifier: BSD-3-Clause
"""What rigid contacts do in a run, from change to change: which law broke, an impact, and the modes that follow.

`Modes` of `contact_runs` lets the integrators call a `Course` where an event of the contacts, of a switch or of the
user changes the state.  The modes are those of `mode_choice`, the impacts those of `contact_impacts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import IntegrationError, ModelError, warn
from kanecore.motion.initial_value_problem import InitialValueProblem
from kanecore.motion.rigid_contacts.contact_impacts import Impacts
from kanecore.motion.rigid_contacts.contact_laws import Contact
from kanecore.motion.rigid_contacts.contact_results import Change, Leg
from kanecore.motion.rigid_contacts.mode_choice import (
    BACK,
    CLOSED,
    FORTH,
    HELD,
    OPEN,
    SIGN,
    SLIDE,
    SLIDES,
    STICK,
    Choice,
)

__all__ = ["Course"]

Array = npt.NDArray[np.float64]

_TOUCHES = 1e-9  # of the terms of a gap: a smaller one is closed at the start, or where others close
_BELOW = 1e-13  # of the terms of a gap, OF_PLACES of kc_contacts.c: an open contact below is an event
_STILL = 1e-12  # of the terms of a speed
_BEYOND = 1e3  # times a slip that is zero with rounding: a faster one has its own direction
_SLOW = 1e4  # times atol: a slip that begins or ends in space keeps its direction so long
_ERROR = 1e-2  # of a slow slip: a slower one has the size of errors
_STIFF = 0.1  # of a slow slip: the error of one that begins, which friction turns stiffly
_ENDS_TOO = 1e-5  # of the slip before: a slower one ends together with another one
_HOLDS = 1e-6  # of the terms of a gap or a speed: a smaller one is zero where a switch goes on
_MOST_AT_ONCE = 100  # changes of modes without progress of time


class Course:
    """What the contacts of one run, of ``owner`` with its laws, do: modes, their changes, impacts."""

    def __init__(self, owner: Any, problem: InitialValueProblem, small: float) -> None:
        self.owner, self.problem, self._small = owner, problem, small
        self.contacts: list[Contact] = owner.contacts
        self.numbers = owner.numbers(problem, _SLOW * small)
        self.lengths = [len(contact.axes) for contact in self.contacts]
        self.n_c = problem.dyn.n_constraints
        self.first = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)  # rows of the speeds
        self.mu = np.array([max(contact.mu, contact.mu_static) for contact in self.contacts])
        self.mu_static = np.array([contact.mu_static for contact in self.contacts])
        self.now: tuple[str, ...] = (OPEN,) * len(self.contacts)
        self.modes: list[tuple[float, dict[str, str]]] = []
        self.undetermined: list[tuple[float, tuple[str, ...]]] = []
        self.impacts = Impacts(self)
        self.legs: list[Leg] = []
        self.scale = np.zeros(0)
        self.begins = [False] * len(self.contacts)
        self.path: list[Change] = []
        self._struck: Sequence[int] = ()
        self._guess = np.zeros(self.n_c + sum(self.lengths))
        self._slipped = np.zeros(len(self.contacts))
        self._at_once, self._last, self._now = 0, np.nan, problem.t0
        self._turned: dict[int, bool] = {}

    # ------------------------------------------------------------------------------------------- numbers
    def at(self, t: float, x: Array) -> None:
        """Evaluate the contacts at a state."""
        self.numbers.at(t, np.ascontiguousarray(x), np.ascontiguousarray(self.problem.inputs(t, x), dtype=np.float64))
        self.scale, self._now = self.numbers.speed_terms, t

    @property
    def normal_speeds(self) -> Array:
        return np.asarray(self.numbers.speeds[self.first])

    @property
    def slow(self) -> Array:
        """Normal speeds that are rounding."""
        return np.asarray(_STILL * self.scale[self.first])

    def slip(self, i: int) -> Array:
        row = self.first[i]
        return np.asarray(self.numbers.speeds[row + 1 : row + self.lengths[i]])

    @property
    def slips(self) -> Array:
        """The sizes of all slips."""
        return np.array([np.linalg.norm(self.slip(i)) for i in range(len(self.contacts))])

    def is_slow(self, i: int) -> bool:
        """Test whether the slip of a contact is zero to rounding, beside its terms or what these would make of it.

        A body at rest has speeds that are rounding alone, of terms that are as small.
        """
        c, n = self.numbers, self.lengths[i]
        speeds, pushes = self.first[i], self.n_c + self.first[i]
        rounding = _STILL * np.linalg.norm(self.scale[speeds + 1 : speeds + n])
        terms = np.maximum(c.terms, c.sizes)[pushes + 1 : pushes + n]
        gained = _STILL * np.linalg.norm(terms) * abs(self._now - c.since)
        return bool(np.linalg.norm(self.slip(i)) <= rounding + gained)

    # ------------------------------------------------------------------------------------------- changes
    def begin(self) -> Array:
        """The start, in its modes."""
        t, x = self.problem.t0, self.problem.x0
        self.at(t, x)
        c = self.numbers
        lowest = -(_TOUCHES * c.gap_terms + 10 * self._small)
        for i, contact in enumerate(self.contacts):
            if c.gaps[i] < lowest[i] and contact.watched and not (contact.constraint and contact.holds):
                raise ModelError(
                    f"contact {contact.name!r} is {-c.gaps[i]:.3g} m below the ground at t = {t:g}: lift x0"
                    if contact.point
                    else f"{contact.name!r} is {c.gaps[i]:.3g} at t = {t:g}, and is never negative: change x0"
                )
        touching = [
            i
            for i, contact in enumerate(self.contacts)
            if (not contact.constraint or (contact.watched and not contact.holds))
            and c.gaps[i] <= _TOUCHES * c.gap_terms[i]
        ]
        for switch, rows in zip(self.owner.switches, self.owner.switched, strict=True):
            starts = switch.at_start(t)
            if starts or (starts is None and self._holds(rows)):
                touching += self._zero(t, rows, switch)
            elif starts is False:
                touching = [i for i in touching if i not in rows]
        touching = sorted({*touching})
        known = self._known(t, x, "start")
        return self._noted(known, self._settled(t, x, touching, {}, ()))

    def _known(self, t: float, x: Array, kind: str, number: int = -1) -> dict[str, Any]:
        """What is known before a change."""
        self._struck = ()
        return {
            "t": t,
            "kind": kind,
            "number": number,
            "before": x.copy(),
            "now": self.now,
            "fastest": self.impacts.fastest.copy(),
            "again": self._last == t,
        }

    def _noted(self, known: dict[str, Any], x: Array) -> Array:
        """The state after a change, which is kept for derivatives."""
        self.path.append(Change(**known, after=x.copy(), struck=self._struck))
        return x

    def repeated(self, change: Change, leg: Leg, t: float, x: Array) -> Array:
        """The state after a change of another run to the modes of a leg, from a state that is nearly the one before."""
        if len(change.struck):
            self.impacts.fastest[:] = change.fastest
            self.at(t, x)
            x = self.impacts.after(t, x, change.struck)
        leg.set(self.numbers)
        r = np.ascontiguousarray(self.problem.inputs(t, x), dtype=np.float64)
        return np.asarray(self.numbers.projected(t, np.ascontiguousarray(x), r))

    def changed(self, k: int, t: float, x: Array) -> Array | None:
        """The state after function k of the contacts became negative; None if that was dealt with."""
        i, mode = k // 2, self.now[k // 2]
        what = "gap" if mode == OPEN else "lift" if k % 2 == 0 else "grip" if mode == STICK else "slip"
        self.at(t, x)
        c = self.numbers
        c.solve(c.start)
        self._guess = c.force.copy()
        if self._last == t:
            if c.laws()[i, k % 2] > 0.0 or (what == "gap" and self.normal_speeds[i] >= -self.slow[i]):
                return None  # an earlier change at this time dealt with it
            self._at_once += 1
            if self._at_once > _MOST_AT_ONCE:
                raise IntegrationError(
                    f"the contacts of {self.owner.dyn.name!r} changed {self._at_once} times at t = {t!r}, at last "
                    f"{self.contacts[i].name!r}, from {mode!r}"
                )
        else:
            self._at_once = 0
        if what == "gap" and self._just_left(i, t):
            return None
        if what == "slip" and self.lengths[i] == 3 and (not c.directions[i].any() or self.slips[i] > c.slow):
            known = self._known(t, x, "way", k)
            # a slow slip keeps the direction in which it ends; that of one that has begun is its own
            c.directions[i] = 0.0 if c.directions[i].any() else _unit(self.slip(i))
            self.legs.append(replace(self.legs[-1], t=t, directions=c.directions.copy()))
            return self._noted(known, x)
        near = [j for j in range(len(c.gaps)) if j == i or self.now[j] != OPEN or self._closes(j)]
        against = self.lengths[i] == 2 and c.force[self.n_c + self.first[i] + 1] > 0.0  # of the slip that begins
        slides = (SLIDE,) if self.lengths[i] == 3 else (BACK, FORTH) if against else (FORTH, BACK)
        choices = {"lift": (OPEN,), "grip": (*slides, OPEN), "slip": (STICK, *slides, OPEN), "gap": None}[what]
        if what == "gap" and self.contacts[i].is_rate:  # the speed is zero, with rounding of any sign
            choices = (self._ways(i, False)[0], OPEN)
        ended = [i, *(j for j in near if self._ends(t, j))] if what == "slip" else []
        known = self._known(t, x, "law", k)
        return self._noted(known, self._settled(t, x, near, {} if choices is None else {i: choices}, ended))

    def _just_left(self, i: int, t: float) -> bool:
        """Test whether an open latch leaves the place where it let go, to the side on which it closes."""
        c, contact = self.numbers, self.contacts[i]
        way = abs(self.normal_speeds[i]) * (t - c.since)
        return bool(contact.constraint and contact.holds and way <= _TOUCHES * max(c.gap_terms[i], self._small))

    def _closes(self, i: int) -> bool:
        """Test whether an open contact is about to close."""
        c, contact = self.numbers, self.contacts[i]
        gap = abs(c.gaps[i]) if contact.constraint else c.gaps[i]
        return bool(contact.watched and gap <= _TOUCHES * c.gap_terms[i] and self.normal_speeds[i] < 0.0)

    # ------------------------------------------------------------------------------------------ switches
    def turn(self, turns: Sequence[tuple[int, bool]]) -> bool:
        """Let switches go on or off with the next `chosen_anew`; return whether it is a change."""
        now = [any(self.now[i] != OPEN for i in rows) for rows in self.owner.switched]
        self._turned = {number: on for number, on in turns if on != now[number]}
        return bool(self._turned)

    def chosen_anew(self, event: int, t: float, before: Array, x: Array) -> Array:
        """The state after a reset to x by an event, or after one of a switch, in modes that are chosen anew."""
        known = self._known(t, before, "switch" if self._turned else "event", event)
        self.at(t, x)
        c = self.numbers
        c.solve(c.start)
        self._guess = c.force.copy()
        touching = [i for i in range(len(self.contacts)) if self.now[i] != OPEN or self._closes(i)]
        for number, on in self._turned.items():
            rows = self.owner.switched[number]
            touching = [i for i in touching if i not in rows]
            touching += self._zero(t, rows, self.owner.switches[number]) if on else ()
        self._turned = {}
        self.now = tuple(mode if mode == HELD and i in touching else OPEN for i, mode in enumerate(self.now))
        return self._noted(known, self._settled(t, x, sorted(touching), {}, ()))

    def _holds(self, rows: range) -> bool:
        """Test whether the constraints of a switch hold at the state evaluated last."""
        speeds = np.abs(self.normal_speeds)
        return all(self._is_zero(i) and speeds[i] <= _HOLDS * self.scale[self.first[i]] for i in rows)

    def _is_zero(self, i: int) -> bool:
        c = self.numbers
        return bool(abs(c.gaps[i]) <= _HOLDS * c.gap_terms[i] + 10 * self._small or self.contacts[i].is_rate)

    def _zero(self, t: float, rows: range, switch: Any) -> range:
        """The contacts of a switch that goes on; ModelError if a constraint is not zero, and is to be."""
        for i in rows:
            if not self._is_zero(i):
                raise ModelError(
                    f"switch {switch.name!r} goes on at t = {t!r}, and its constraint {self.contacts[i].constraint!r} "
                    f"is {self.numbers.gaps[i]:.3g}, not 0: give an event where it is, or in_place=True"
                )
        return rows

    def _hits(self, i: int) -> bool:
        """Test whether a contact that touches changes the speeds at once."""
        if not self._pulls(i):
            return bool(self.now[i] == OPEN and self.normal_speeds[i] < -self.slow[i])
        rows = slice(self.first[i], self.first[i] + self.lengths[i])
        small = (_STILL if self.now[i] == OPEN else _TOUCHES) * self.scale[rows]
        return bool((np.abs(self.numbers.speeds[rows]) > small).any())

    def _pulls(self, i: int) -> bool:
        """Test whether a contact that touches is held, whatever its speed is."""
        return self.contacts[i].holds and bool(self.contacts[i].constraint or self.now[i] == HELD)

    def _placed(self, t: float, x: Array) -> Array:
        """The state at which closed contacts are closed, slips that begin are zero, and open contacts are not below."""
        c, modes, r = self.numbers, self.numbers.mode.copy(), self.problem.inputs(t, x)
        r, n_q = np.ascontiguousarray(r, dtype=np.float64), self.problem.dyn.n_q
        c.mode[self.begins] = np.minimum(modes[self.begins], 1)
        x = c.projected(t, x, r)
        self.at(t, x)
        low = c.gaps < -_BELOW * c.gap_terms
        low &= [
            mode == OPEN and each.watched and not each.constraint
            for mode, each in zip(self.now, self.contacts, strict=True)
        ]
        if low.any():  # they touched, and others that closed have moved them
            c.mode[low] = 2
            places = c.projected(t, x, r)[:n_q]
            c.mode[low] = 0
            x = c.projected(t, np.concatenate([places, x[n_q:]]), r)
            self.at(t, x)
        c.mode[:] = modes
        return x

    def _noise(self, i: int) -> float:
        """The size of a slip that begins at zero with rounding; in space friction turns it stiffly, with errors."""
        c = self.numbers
        error = _STIFF * c.slow if self.now[i] == SLIDE else 0.0
        return max(_BEYOND * float(np.linalg.norm(self.slip(i))), error) if self.begins[i] else 0.0

    def _ends(self, t: float, i: int) -> bool:
        """Test whether a slip in space ends with another one: all do as a body comes to rest."""
        if self.now[i] != SLIDE:
            return False
        row, c = self.n_c + self.first[i], self.numbers
        gained = np.linalg.norm(c.after[row + 1 : row + 3]) * (t - c.since)
        return bool(self.slips[i] <= max(_ENDS_TOO * (self._slipped[i] + gained), _ERROR * c.slow))

    def _settled(
        self, t: float, x: Array, touching: Sequence[int], choices: Mapping[int, tuple[str, ...]], ended: Sequence[int]
    ) -> Array:
        """Modes from t on, of contacts that touch, after an impact if they approach; the state in them."""
        hits = any(self._hits(i) for i in touching)
        if hits:
            self._struck = tuple(touching)
            x = self.impacts.after(t, x, touching)
            scale = self.impacts.scale
            self.at(t, x)
            self.scale = np.maximum(scale, self.scale)  # what is left of greater speeds is rounding
            choices, self.begins = {}, [False] * len(self.contacts)
            self._guess[:] = 0.0
        closed = [
            i
            for i in touching
            if (self.now[i] != OPEN and not hits)
            or self.normal_speeds[i] <= self.slow[i]
            or self._pulls(i)
            or (i in choices and self.now[i] == OPEN)
        ]
        self.now, told = self._chosen(t, x, closed, choices, ended)
        self._last, names = t, tuple(contact.name for contact in self.contacts)
        if hits or not self.modes or told != tuple(self.modes[-1][1].values()):
            self.modes.append((t, dict(zip(names, told, strict=True))))
        if self.numbers.dependent and self.now != (OPEN,) * len(self.now):
            free = tuple(name for name, mode in zip(names, self.now, strict=True) if mode != OPEN)
            if free not in (said for _, said in self.undetermined):
                self.undetermined.append((t, free))
        c, x = self.numbers, self._placed(t, x)
        c.since, self._slipped = t, self.slips
        c.noise[:] = [self._noise(i) for i in range(len(self.contacts))]
        kept = (values.copy() for values in (c.directions, c.noise, c.reference))
        self.legs.append(Leg(t, c.mode.copy(), *kept))
        return x

    def _chosen(
        self, t: float, x: Array, closed: Sequence[int], choices: Mapping[int, tuple[str, ...]], ended: Sequence[int]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Modes that satisfy the laws, and their names for users."""
        options: list[tuple[str, ...]] = [(OPEN,)] * len(self.contacts)
        begun = self.begins if t == self._last else [False] * len(self.contacts)  # at this time, and nothing moved
        self.begins = begins = [False] * len(self.contacts)
        for i in closed:
            begins[i] = self.lengths[i] > 1 and (i in ended or begun[i] or self.is_slow(i) or self.now[i] == STICK)
            ways = self._ways(i, begins[i])
            if i in choices and begins[i]:
                ways = tuple(mode for mode in choices[i] if mode != OPEN)
            options[i] = ways if choices.get(i) != (OPEN,) else ()
            options[i] = (*options[i], OPEN) if options[i] != (HELD,) else (HELD,)
        c = self.numbers
        choice = Choice(c, self.lengths, c.start.copy(), c.terms.copy(), options, begins, self.mu_static, self._guess)
        modes = choice.first()
        if modes is None and choices:  # the mode that ends may hold, at the limit of its law
            return self._chosen(t, x, closed, {}, ended)
        if modes is None:
            raise ModelError(
                f"no modes of the contacts of {self.owner.dyn.name!r} satisfy the laws at t = {t!r}, "
                f"x = {x.tolist()!r}: with so much friction rigid bodies may have no motion (Painlevé); use less mu, "
                "or compliant contacts, kc.Contact"
            )
        if choice.may_be_several(self.mu):
            modes = self._of_several(t, choice, modes)
        return modes, choice.settled(modes)

    def _ways(self, i: int, begins: bool) -> tuple[str, ...]:
        """Modes of a closed contact, by its slip."""
        n = self.lengths[i]
        if self.contacts[i].holds:
            return (HELD,)
        if n == 1:
            return (CLOSED,)
        if np.isinf(self.contacts[i].mu):
            return (STICK,)
        if begins:
            return (STICK, SLIDE) if n == 3 else (STICK, FORTH, BACK)
        if n == 3:
            return (SLIDE,)
        return (FORTH,) if self.slip(i)[0] > 0.0 else (BACK,)

    def _of_several(self, t: float, choice: Choice, first: tuple[str, ...]) -> tuple[str, ...]:
        """The modes to take where several satisfy the laws, after a warning."""
        c, known = self.numbers, list[tuple[tuple[str, ...], Array, bool]]()
        for modes in choice.all():
            motion = c.pushed() + c.free
            small = 1e-7 * (np.abs(c.free) + np.abs(motion) + np.abs(motion - c.free)).max()
            if not any(np.abs(motion - other).max() <= small for _, other, _ in known):
                known.append((modes, motion, self._is_stable(modes)))
        if len(known) > 1:
            taken = next((modes for modes, _, stable in known if stable), first)
            names = [contact.name for contact in self.contacts]
            said = [", ".join(f"{n}: {m}" for n, m in zip(names, modes, strict=True)) for modes, _, _ in known]
            warn(
                f"several motions of {self.owner.dyn.name!r} satisfy the laws at t = {t!r} (Painlevé): "
                f"{' | '.join(said)}; taken: {said[[modes for modes, _, _ in known].index(taken)]}"
            )
            first = taken
        choice.solve(first)
        return first

    def _is_stable(self, modes: tuple[str, ...]) -> bool:
        """Test whether a larger force of each sliding contact would separate it, as in compliant contacts."""
        d, c = self.numbers.delassus, self.numbers
        for i, mode in enumerate(modes):
            if mode in SLIDES:
                row = self.n_c + self.first[i]
                way = np.array([SIGN[mode]]) if mode in SIGN else c.directions[i]
                if d[row, row] <= self.contacts[i].mu * float(way @ d[row, row + 1 : row + self.lengths[i]]):
                    return False
        return True


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))
