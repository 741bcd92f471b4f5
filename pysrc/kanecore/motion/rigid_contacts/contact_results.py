# SPDX-License-Identifier: BSD-3-Clause
"""Results of a run with rigid contacts: modes, impacts, impulses and forces by contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore import _motion
from kanecore.motion.trajectory import Trajectory

__all__ = ["Leg", "ModeRun"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Leg:
    """The modes from a time on, as the extension has them."""

    t: float
    mode: npt.NDArray[np.int32]
    directions: Array
    noise: Array
    slipped: Array
    reference: Array


class ModeRun(Trajectory):
    """A motion through several modes of contact: a `Trajectory`, with what its contacts did.

    Attributes
    ----------
    modes : list of (float, dict of str to str)
        Start times of modes, with the mode of each contact: ``"open"``, ``"stick"``, ``"slide +"`` or ``"slide -"``; in
        space ``"slide"``; of gaps and rates ``"closed"``, and ``"held"``.
    impacts : list of (float, ndarray, ndarray)
        Times of impacts, with the states before and after them.
    impulses : list of dict of str to ndarray, (1,) to (3,)
        Impulses of these impacts by contact, N s: along the normal, then along the ground.
    forces : dict of str to ndarray, (N, 1) to (N, 3)
        Forces on the points of the contacts at the times t, N: along the normal, then along the ground.
    undetermined : list of (float, tuple of str)
        Times from which forces were not unique, since contacts are redundant; of all that fit the least were taken.
    """

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    modes: list[tuple[float, dict[str, str]]]
    impacts: list[tuple[float, Array, Array]]
    impulses: list[dict[str, Array]]
    undetermined: list[tuple[float, tuple[str, ...]]]
    legs: list[Leg]
    numbers: Callable[[], _motion.Contacts]

    def __getstate__(self) -> dict[str, Any]:
        _ = self.forces  # which need the model
        return {name: value for name, value in super().__getstate__().items() if name != "numbers"}

    @cached_property
    def forces(self) -> dict[str, Array]:
        jumps = np.append(np.diff(self.t) == 0.0, False)
        rows = [c.force[c.force.size - c.speeds.size :].copy() for c in self._each(self.t, self.x, self.r, jumps)]
        found = np.array(rows).reshape(len(self.t), -1)
        parts = np.split(found, np.cumsum(self.lengths)[:-1], axis=1)
        return dict(zip(self.names, parts, strict=True))

    def _power(self, t: Array, x: Array, r: Array) -> Array:
        flat = t.reshape(-1), x.reshape(t.size, x.shape[-1]), r.reshape(t.size, r.shape[-1])
        of_contacts, u = np.empty(t.size), flat[1][:, self.problem.dyn.names.speeds]
        for i, c in enumerate(self._each(*flat, np.zeros(t.size, dtype=bool))):
            of_contacts[i] = c.force[c.force.size - c.speeds.size :] @ (c.matrix @ u[i])
        return super()._power(t, x, r) + of_contacts.reshape(t.shape)

    def _each(self, t: Array, x: Array, r: Array, ends: npt.NDArray[np.bool_]) -> Iterator[_motion.Contacts]:
        """The contacts at times and states; ``ends`` are those at the end of modes, before a change."""
        c, starts = self.numbers(), np.array([leg.t for leg in self.legs])
        legs = np.searchsorted(starts, t, side="right") - 1
        legs = np.maximum(np.where(ends, np.searchsorted(starts, t, side="left") - 1, legs), 0)
        for i, k in enumerate(legs):
            leg = self.legs[k]
            c.mode[:], c.directions[:], c.noise[:] = leg.mode, leg.directions, leg.noise
            c.slipped[:], c.reference[:], c.since = leg.slipped, leg.reference, leg.t
            c.at(float(t[i]), np.ascontiguousarray(x[i]), np.ascontiguousarray(r[i]))
            c.solve(c.start)
            yield c

    def plot(self, *names: Any) -> Any:
        """Plot as `Trajectory.plot` does, with the modes of the contacts as bands above the curves."""
        from kanecore.show.plots import add_bands

        figure = super().plot(*names)
        times = [t for t, _ in self.modes] + [float(self.t[-1])]
        bands = {name: [modes[name] for _, modes in self.modes] for name in self.names}
        add_bands(figure, times, bands)
        return figure
