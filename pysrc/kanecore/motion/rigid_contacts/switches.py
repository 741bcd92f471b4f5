# SPDX-License-Identifier: BSD-3-Clause
"""Constraints of a model that switch on and off in a run: by their gap, by the sign of their force, or by events.

Such a constraint leaves the model, and its rows are contacts: one-sided ones, or held ones that pull as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import unknown_name
from kanecore.motion.events import Event
from kanecore.motion.rigid_contacts.contact_laws import Contact, require_laws, restitution

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Switch", "read_switches", "switch_events"]

Array = npt.NDArray[np.float64]

_LAWS = ("rows", "on", "off", "starts", "in_place", "e")


@dataclass(frozen=True)
class Switch:
    """A constraint of one or several rows that switches.

    Attributes
    ----------
    name : str
    rows : tuple of str
        Constraints of the model.
    on, off : tuple
        What switches it on and off, as users write it.
    starts : bool or None
        Whether it is on at the start; None: if it holds there.
    in_place : bool
        Whether it holds its rows where they are as it switches on.
    e : float
        Coefficient of restitution where its gap closes.
    """

    name: str
    rows: tuple[str, ...]
    on: tuple[Any, ...]
    off: tuple[Any, ...]
    starts: bool | None
    in_place: bool
    e: float

    def at_start(self, t: float) -> bool | None:
        """Whether it is on at the start of a run, by its times so far; None: if it holds there."""
        past = [
            (float(event), on)
            for on, events in ((True, self.on), (False, self.off))
            for event in events
            if isinstance(event, Real) and float(event) <= t
        ]
        return max(past)[1] if past and self.starts is None else self.starts

    def contacts(self, kinds: Mapping[str, str]) -> list[Contact]:
        """The contacts of its rows, of constraints with known kinds."""
        none = np.zeros(3)
        return [
            Contact(
                self.name,
                "",
                np.zeros((1, 3)),
                none,
                None,
                None,
                *(0.0, 0.0, self.e),
                is_rate=kinds[row] == "velocity" or self.in_place,
                holds="force" not in self.off,
                constraint=row,
                watched="gap" in self.on,
            )
            for row in self.rows
        ]


def read_switches(dyn: Evaluator, switches: Mapping[str, Mapping[str, Any]], kinds: Mapping[str, str]) -> list[Switch]:
    """The switches of `Modes`, of constraints with known kinds."""
    if not isinstance(switches, Mapping):
        raise TypeError(f"switches is {switches!r}; it must be a mapping of names of constraints to their laws")
    found = [_switch(dyn, name, law, kinds) for name, law in switches.items()]
    names = [row for switch in found for row in switch.rows]
    for row in names:
        if names.count(row) > 1:
            raise ValueError(f"switches name constraint {row!r} twice")
    return found


def _switch(dyn: Evaluator, name: str, law: Any, kinds: Mapping[str, str]) -> Switch:
    require_laws("switch", name, law, _LAWS, "{'on': 1.0}, or {}")
    rows = law.get("rows") or ([name] if name in kinds else [row for row in kinds if row.startswith(f"{name}, ")])
    rows = [rows] if isinstance(rows, str) else rows
    for row in rows or [name]:
        if row not in kinds:
            raise unknown_name(f"constraint of {dyn.name!r} is called", row, kinds)
    on, off = (_listed(name, key, law[key]) if key in law else [] for key in ("on", "off"))
    if "on" not in law and "off" not in law:
        on, off = ["gap"], ["force"]
    if len(rows) > 1 and ("gap" in on or "force" in off):
        raise ValueError(
            f"switch {name!r} has {len(rows)} rows, and a gap and a force have signs in one alone: give events, on and "
            "off"
        )
    if law.get("in_place") and "gap" in on:
        raise ValueError(f"switch {name!r} switches on where its gap is 0: leave out in_place")
    if law.get("starts") not in (None, "on", "off"):
        raise ValueError(f"starts of switch {name!r} is {law['starts']!r}; it must be 'on' or 'off'")
    starts = None if law.get("starts") is None else law["starts"] == "on"
    e = restitution(name, law.get("e", 0.0))
    if e and not ("gap" in on and "force" in off):
        raise ValueError(f"switch {name!r} holds, and does not bounce: leave out e")
    return Switch(name, tuple(rows), tuple(on), tuple(off), starts, bool(law.get("in_place")), e)


def _listed(name: str, key: str, events: Any) -> list[Any]:
    """What switches on or off, in a list."""
    several = isinstance(events, np.ndarray) or (isinstance(events, Sequence) and not isinstance(events, str))
    found = list(np.ravel(events) if isinstance(events, np.ndarray) else events) if several else [events]
    other = "force" if key == "on" else "gap"
    for event in found:
        if isinstance(event, Real) and not np.isfinite(float(event)):
            raise ValueError(f"{key} of switch {name!r} is {event!r}, which is no time")
        if event is None or isinstance(event, bool) or (isinstance(event, str) and event == other):
            raise ValueError(
                f"{key} of switch {name!r} is {event!r}; it must be an event, a time, or "
                f"{'gap' if key == 'on' else 'force'!r}, or a list of these"
            )
    return found


Turns = Sequence[tuple[int, bool]]


def switch_events(switches: Sequence[Switch], turn: Callable[[Turns], bool]) -> list[Event]:
    """Events that call ``turn([(number, on), ...])``, which says whether a switch goes on or off.

    Switches with the same event, or the same time, turn together.
    """
    found: dict[Any, list[tuple[int, bool]]] = {}
    shown: dict[Any, tuple[Switch, Any]] = {}
    for number, switch in enumerate(switches):
        for on, events in ((True, switch.on), (False, switch.off)):
            for event in events:
                if isinstance(event, str) and event in ("gap", "force"):
                    continue
                key = float(event) if isinstance(event, Real) else event
                found.setdefault(key, []).append((number, on))
                shown.setdefault(key, (switch, event))
    return [_event(*shown[key], _reset(turn, turns)) for key, turns in found.items()]


def _reset(turn: Callable[[Turns], bool], turns: Turns) -> Callable[[float, Array], Array]:
    return lambda t, x: x.copy() if turn(turns) else x


def _event(switch: Switch, event: Any, reset: Callable[[float, Array], Array]) -> Event:
    if isinstance(event, Event):
        if event.reset is not None or event.terminal:
            raise ValueError(
                f"an event of switch {switch.name!r} has a reset or is terminal: give that to simulate as an event"
            )
        return Event(event.expr, direction=event.direction, reset=reset)
    if isinstance(event, Real):
        time = float(event)
        return Event(lambda t, x: t - time, direction=1, reset=reset)
    return Event(event, reset=reset)
