# SPDX-License-Identifier: BSD-3-Clause
"""States relative to a reference: differences, and for a unit quaternion three angles about the axes of the body.

With the reference q̄ the quaternion is q = q̄ ⊗ (1, δθ/2), so that δθ = 2 vec(q̄* ⊗ q) has as many numbers as the
attitude has degrees of freedom (Markley & Crassidis, *Fundamentals of Spacecraft Attitude Determination and Control*,
2014, section 3.7.4).  The functions depend on numbers only, and on no state of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["ErrorStates"]

Array = npt.NDArray[np.float64]


class ErrorStates:
    """Errors of a model's x, in the order coordinates, with three angles for a quaternion, then speeds, then states.

    Attributes
    ----------
    names : tuple of str
        The names in x; ``theta_x(e0)``, ``theta_y(e0)``, ``theta_z(e0)`` for the quaternion with the cosine e0, at the
        place of its first member.
    n_coordinates : int
        Number of errors of coordinates, n_q − n_unit.
    end_of_speeds : int
        Number of errors of coordinates and speeds.
    """

    def __init__(self, dyn: Evaluator) -> None:
        self.n_x = dyn.n_x
        self._angles = list[slice]()  # places of each quaternion among the errors
        self._quaternions = [list(places) for places in dyn.unit]
        first = {min(places): places for places in self._quaternions}
        others = {place for places in self._quaternions for place in places}
        in_state = [*dyn.names.x]
        names, plain = list[str](), list[tuple[int, int]]()
        quaternions = list[list[int]]()
        for place, name in enumerate(in_state):
            if place in first:
                self._angles.append(slice(len(names), len(names) + 3))
                quaternions.append(first[place])
                names += [f"theta_{axis}({in_state[first[place][0]]})" for axis in "xyz"]
            elif place not in others:
                plain.append((len(names), place))
                names.append(name)
        self._quaternions = quaternions
        self._errors, self._places = np.array(plain, dtype=np.intp).reshape(-1, 2).T
        self.names = tuple(names)
        self.n_coordinates = dyn.n_q - len(dyn.unit)
        self.end_of_speeds = self.n_coordinates + dyn.n_u

    def of_places(self, places: Iterable[int]) -> npt.NDArray[np.intp]:
        """Errors of some places in x; all three angles for a part of a quaternion."""
        named, wanted = set(places), set[int]()
        wanted.update(int(i) for i, place in zip(self._errors, self._places, strict=True) if place in named)
        for angles, quaternion in zip(self._angles, self._quaternions, strict=True):
            if named.intersection(quaternion):
                wanted.update(range(angles.start, angles.stop))
        return np.array(sorted(wanted), dtype=np.intp)

    def between(self, x: Array, reference: Array) -> Array:
        """Errors of states relative to references, (..., n_x) both, with the nearer sign of each quaternion."""
        lead = np.broadcast_shapes(x.shape[:-1], reference.shape[:-1])
        errors = np.empty((*lead, len(self.names)))
        errors[..., self._errors] = x[..., self._places] - reference[..., self._places]
        for angles, places in zip(self._angles, self._quaternions, strict=True):
            q, mean = x[..., places], reference[..., places]
            sign = np.where(np.sum(q * mean, axis=-1) < 0.0, -1.0, 1.0)[..., np.newaxis]
            errors[..., angles] = sign * (_angles_of(mean) @ q[..., np.newaxis])[..., 0]
        return errors

    def values(self, x: Array) -> Array:
        """Magnitudes of the coordinates and speeds of one state; one radian for the angles of a quaternion."""
        values = np.ones(len(self.names))
        values[self._errors] = np.abs(x[self._places])
        return values

    def rows(self, reference: Array) -> Array:
        """S of δz = S δx at one state: (n_errors, n_x)."""
        result = self.turning(reference)
        result[self._errors, self._places] = 1.0
        return result

    def turning(self, reference: Array) -> Array:
        """The part of S that changes with the reference; it is linear in the reference."""
        result = np.zeros((len(self.names), self.n_x))
        for angles, places in zip(self._angles, self._quaternions, strict=True):
            result[angles, places] = _angles_of(reference[places])
        return result

    def columns(self, reference: Array) -> Array:
        """E of δx = E δz at one state with unit quaternions: (n_x, n_errors)."""
        result = self.rows(reference).T
        for angles in self._angles:
            result[:, angles] /= 4.0
        return result


def _angles_of(mean: Array) -> Array:
    """Matrix that maps q to the angles 2 vec(q̄* ⊗ q): (..., 3, 4)."""
    w, x, y, z = np.moveaxis(2.0 * mean, -1, 0)
    rows = ((-x, w, z, -y), (-y, -z, w, x), (-z, y, -x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
