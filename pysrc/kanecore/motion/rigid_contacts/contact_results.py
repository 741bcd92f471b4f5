# SPDX-License-Identifier: BSD-3-Clause
"""Results of a run with rigid contacts: modes, impacts, impulses and forces by contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.motion.rigid_contacts.contact_laws import Contact
from kanecore.motion.samples import Samples
from kanecore.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from kanecore.show.contact_marks import ContactMarks

__all__ = ["Leg", "ModeRun"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Leg:
    """The modes from a time on, as the extension has them."""

    t: float
    mode: npt.NDArray[np.int32]
    directions: Array
    noise: Array
    reference: Array

    def set(self, c: _motion.Contacts) -> None:
        """Let contacts have these modes."""
        c.mode[:], c.directions[:], c.noise[:] = self.mode, self.directions, self.noise
        c.reference[:], c.since = self.reference, self.t


@dataclass(frozen=True)
class Change:
    """A change of modes, and what was known before it, so that it can be repeated from states nearby.

    Attributes
    ----------
    t : float
    kind : {"start", "law", "event", "switch", "way"}
        The start of the run; a law that breaks; an event that changes the state, or a switch; a slip that has begun,
        and turns.
    number : int
        Of the law, or of the event.
    before, after : ndarray, (n_x,)
        The states.
    now : tuple of str
        The modes before.
    fastest : ndarray, (n,)
        Fastest approaches of contacts before.
    struck : sequence of int
        Contacts of an impact.
    again : bool
        Whether another change was at the same time.
    """

    t: float
    kind: str
    number: int
    before: Array
    after: Array
    now: tuple[str, ...]
    fastest: Array
    struck: Sequence[int]
    again: bool


class ModeRun(Trajectory):
    """A motion through several modes of contact: a `Trajectory`, with what its contacts did.

    ``run["left_mode"]``, ``run["left_normal"]``, ``run["left_along"]`` are mode and force of a contact at the times t;
    in space there are ``left_along_1`` and ``left_along_2``; a gap or a rate has ``rope_mode`` and ``rope_force``, a
    switch of several rows ``weld_force_1`` and so on.  ``left_impulse_normal`` and so on are sums of the impulses since
    the start: each impact is a step.  `to_csv`, `to_dataframe`, `save` and ``run.at(t)`` have all of these; `plot`
    draws forces by name.  `animate` shows contacts as open, sticking or sliding, with their forces.

    Attributes
    ----------
    modes : list of (float, dict of str to str)
        Start times of modes, with the mode of each contact: ``"open"``, ``"stick"``, ``"slide +"`` or ``"slide -"``; in
        space ``"slide"``; of gaps, rates and switches ``"closed"``, and ``"held"``.
    impacts : list of (float, ndarray, ndarray)
        Times of impacts, with the states before and after them.
    impulses : list of dict of str to ndarray, (1,) to (3,)
        Impulses of these impacts by contact, N s: along the normal, then along the ground.
    forces : dict of str to ndarray, (N, 1) to (N, 3)
        Forces on the points of the contacts at the times t, N: along the normal, then along the ground.
    modes_sensitivities : ndarray, (n, m); or None
        Derivatives of the start times of ``modes`` by each of ``sensitivity_names``.
    undetermined : list of (float, tuple of str)
        Times from which forces were not unique, since contacts are redundant; of all that fit the least were taken.
    """

    contacts: list[Contact]
    modes: list[tuple[float, dict[str, str]]]
    impacts: list[tuple[float, Array, Array]]
    impulses: list[dict[str, Array]]
    undetermined: list[tuple[float, tuple[str, ...]]]
    modes_sensitivities: Array | None = None
    legs: list[Leg]
    numbers: Callable[[], _motion.Contacts]

    def __getitem__(self, name: Any) -> Any:
        """As of a `Trajectory`; also mode, force and impulse of a contact, such as ``run["left_normal"]``."""
        known = isinstance(name, str) and name in self._of_contacts
        return self._of_contacts[name] if known else super().__getitem__(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the contacts."""
        return tuple(contact.name for contact in self.contacts)

    @cached_property
    def forces(self) -> dict[str, Array]:
        return self._by_contact(self._forces(self.t, self.x, self.r))

    @cached_property
    def _of_contacts(self) -> dict[str, Any]:
        return self._columns(self.t, self.x, self.r, np.hstack(list(self.forces.values())))

    @property
    def _force_names(self) -> tuple[str, ...]:
        return tuple(name for contact in self.contacts for name in _names(contact, ""))

    def _by_contact(self, rows: Array) -> dict[str, Array]:
        lengths = [len(contact.axes) for contact in self.contacts]
        return dict(zip(self.names, np.split(rows, np.cumsum(lengths)[:-1], axis=-1), strict=True))

    def _forces(self, t: Array, x: Array, r: Array) -> Array:
        """Forces of all rows at times and states, (N, n_rows); of two equal times the first is before a change."""
        found = [c.force[c.force.size - c.speeds.size :].copy() for c in self._each(t, x, r, _ends(t))]
        return np.array(found).reshape(len(t), -1)

    @cached_property
    def outputs(self) -> Array:
        return self._outputs(self.t, self.x, self.r)

    def _outputs(self, t: Array, x: Array, r: Array) -> Array:
        """Outputs with the accelerations and multipliers that contacts bring about."""
        from kanecore.emit.contact_rows import contact_outputs

        dyn = self.problem.dyn
        model = contact_outputs(dyn)
        if model is None:
            return np.asarray(dyn.outputs(t, x, r=r, p=self.problem.p))
        n_c, speeds = dyn.n_constraints, dyn.names.speeds
        each = zip(t.tolist(), x, r, self._each(t, x, r, _ends(t)), strict=True)
        known = np.array([[*c.rhs(s, y.copy(), v.copy())[speeds], *c.force[:n_c]] for s, y, v, c in each])
        return np.asarray(model.outputs(t, x, r=np.hstack([r, known.reshape(len(t), -1)]), p=self.problem.p))

    def _power(self, t: Array, x: Array, r: Array) -> Array:
        flat = t.reshape(-1), x.reshape(t.size, x.shape[-1]), r.reshape(t.size, r.shape[-1])
        of_contacts, u = np.empty(t.size), flat[1][:, self.problem.dyn.names.speeds]
        for i, c in enumerate(self._each(*flat, np.zeros(t.size, dtype=bool))):
            of_contacts[i] = c.force[c.force.size - c.speeds.size :] @ (c.matrix @ u[i])
        return super()._power(t, x, r) + of_contacts.reshape(t.shape)

    def _each(self, t: Array, x: Array, r: Array, ends: npt.NDArray[np.bool_]) -> Iterator[_motion.Contacts]:
        """The contacts at times and states; ``ends`` are those at the end of modes, before a change."""
        c = self.numbers()
        for i, k in enumerate(_since([leg.t for leg in self.legs], t, ends)):
            self.legs[k].set(c)
            c.at(float(t[i]), np.ascontiguousarray(x[i]), np.ascontiguousarray(r[i]))
            c.solve(c.start)
            yield c

    # ------------------------------------------------------------------ outlets
    def _samples(self, t: Array, x: Array, values: dict[str, Callable[[], Any]]) -> Samples:
        def columns() -> dict[str, Any]:
            return self._of_contacts if t is self.t else self._columns(t, x, values["r"]())

        def outputs() -> Array:
            return self.outputs if t is self.t else self._outputs(t, x, values["r"]())

        return super()._samples(t, x, {**values, "outputs": outputs, "contacts": columns})

    def _columns(self, t: Array, x: Array, r: Array, forces: Array | None = None) -> dict[str, Any]:
        """Mode, forces, and impulses since the start, of each contact at times t."""
        rows = self._forces(t, x, r) if forces is None else forces
        struck = [np.zeros(rows.shape[1]), *(np.hstack(list(each.values())) for each in self.impulses)]
        sums = np.cumsum(struck, axis=0)[1 + _since([at[0] for at in self.impacts], t, _ends(t), before=-1)]
        pushes, impulses, columns = self._by_contact(rows), self._by_contact(sums), dict[str, Any]()
        for contact, mode in zip(self.contacts, self._words(t).T, strict=True):
            columns[f"{contact.name}_mode"] = mode
            columns |= zip(_names(contact, ""), pushes[contact.name].T, strict=True)
            columns |= zip(_names(contact, "impulse"), impulses[contact.name].T, strict=True)
        return columns

    def _words(self, t: Array) -> npt.NDArray[np.str_]:
        """The mode of each contact at times t, (N, n)."""
        words = np.array([[modes[name] for name in self.names] for _, modes in self.modes])
        return words[_since([time for time, _ in self.modes], t, _ends(t))]

    def _contact_marks(self, t: Array, x: Array, r: Array) -> ContactMarks:
        from kanecore.show.contact_marks import ContactMarks

        dyn, n = self.problem.dyn, len(self.contacts)
        found = [(c.force[c.force.size - c.speeds.size :].copy(), c.gaps.copy()) for c in self._each(t, x, r, _ends(t))]
        forces, gaps = self._by_contact(np.array([row for row, _ in found])), np.array([gap for _, gap in found])
        turned = np.asarray(dyn.orientations(t, x, r=r, p=self.problem.p))
        axes, vectors = np.zeros((len(t), n, 3, 3)), np.zeros((len(t), n, 3))
        for i, contact in enumerate(self.contacts):
            if not contact.point:
                continue  # a gap, a rate or a constraint has no place
            rows = np.broadcast_to(contact.axes, (len(t), *contact.axes.shape))
            if contact.frame is not None:
                rows = np.einsum("nij,nkj->nki", turned[:, dyn.frames.index(contact.frame)], rows)
            axes[:, i, : rows.shape[1]] = rows
            vectors[:, i] = np.einsum("nk,nki->ni", forces[contact.name], rows)
        points = [contact.point or None for contact in self.contacts]
        resting = [contact.frame is None for contact in self.contacts]
        return ContactMarks(points, self._words(t), vectors, gaps, axes, resting, *self._bands())

    def _bands(self) -> tuple[list[float], dict[str, list[str]], dict[str, Array]]:
        """Start times of modes and the end, the modes between them, and times of impacts, by contact."""
        times = [t for t, _ in self.modes] + [float(self.t[-1])]
        modes = {name: [each[name] for _, each in self.modes] for name in self.names}
        struck = list(zip(self.impacts, self.impulses, strict=True))
        strikes = {name: np.array([at[0] for at, each in struck if each[name].any()]) for name in self.names}
        return times, modes, strikes

    def plot(self, *names: Any) -> Any:
        """Plot as `Trajectory.plot` does, with the modes of the contacts as bands above the curves.

        Names may be those of contact forces, such as ``"left_normal"`` or ``"*_normal"``.
        """
        from kanecore.show.plots import add_bands

        figure = super().plot(*names)
        add_bands(figure, *self._bands())
        return figure


def _names(contact: Contact, quantity: str) -> list[str]:
    """Names of the numbers of a contact along its axes: forces, or with ``quantity`` impulses."""
    if contact.constraint and len(contact.axes) > 1:
        return [f"{contact.name}_{quantity or 'force'}_{i + 1}" for i in range(len(contact.axes))]
    axes = {1: [quantity or "force"], 2: ["normal", "along"], 3: ["normal", "along_1", "along_2"]}[len(contact.axes)]
    return ["_".join(filter(None, (contact.name, quantity if axis != quantity else "", axis))) for axis in axes]


def _ends(t: Array) -> npt.NDArray[np.bool_]:
    """Which times are followed by themselves: there something jumps, and the first is before that."""
    return np.append(np.diff(t) == 0.0, False)


def _since(starts: Sequence[float], t: Array, ends: npt.NDArray[np.bool_], before: int = 0) -> npt.NDArray[np.intp]:
    """Which of several starts was the last at each time, or ``before``."""
    after, until = np.searchsorted(starts, t, side="right"), np.searchsorted(starts, t, side="left")
    return np.asarray(np.maximum(np.where(ends, until, after) - 1, before))
