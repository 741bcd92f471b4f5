# SPDX-License-Identifier: BSD-3-Clause
"""Options by which a robot becomes a model, and the checks of their numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name

__all__ = ["BEYOND", "SMALLEST", "RobotOptions", "finite", "three_numbers"]

BEYOND = 1e50
"""Largest number of a robot: products of several such numbers, as of a mass and two distances, are numbers."""
SMALLEST = sys.float_info.min
"""Smallest number but zero: nearer to zero numbers lose their digits, and 1 / x overflows."""


@dataclass(frozen=True)
class RobotOptions:
    """Options of a robot, by their names in `kanecore.Model.from_urdf`, where each is explained."""

    floating_base: bool = False
    gravity: Sequence[float] = (0.0, 0.0, -9.81)
    parameters: bool = False
    damping: bool = False
    friction: float | None = None
    free_velocity: str = "link"
    armature: Mapping[str, float] = field(default_factory=dict)
    loops: Sequence[Any] = ()
    contacts: Mapping[str, Mapping[str, float]] | str | None = None
    forces: Sequence[str] | Mapping[str, Any] = ()
    torques: Sequence[str] | Mapping[str, Any] = ()
    velocity_constraints: Sequence[Any] | Mapping[str, Any] = ()

    def checked_gravity(self) -> list[float]:
        """Three numbers, m/s²; ModelError if they are none."""
        given = self.gravity
        try:
            components = [] if isinstance(given, (str, bytes)) else [finite(g) for g in given]
        except TypeError:  # one number, None
            components = []
        gravity = [g for g in components if g is not None]
        if len(components) != 3 or len(gravity) != 3:
            raise ModelError(f"gravity is {given!r}; it must be three finite numbers, such as (0, 0, -9.81)")
        return gravity

    def checked_friction(self) -> float | None:
        """The speed over which dry friction turns, rad/s or m/s, or None; ModelError if it is neither."""
        turning = finite(self.friction)
        if self.friction is not None and (turning is None or turning * BEYOND < 1.0):
            raise ModelError(
                f"friction is {self.friction!r}; it is None, or the speed over which dry friction turns, such as 0.01"
            )
        return turning

    def checked_velocity(self) -> str:
        """Axes of the velocity of links that float; ModelError if they are none."""
        if self.free_velocity not in ("link", "world"):
            raise ModelError(f"free_velocity is {self.free_velocity!r}; it must be 'link' or 'world'")
        return self.free_velocity

    def checked_armature(self, joints: Mapping[str, float]) -> dict[str, float]:
        """Reflected inertias of rotors, in place of those of the joints with one coordinate; ModelError for others."""
        if not isinstance(self.armature, Mapping):
            raise ModelError(f"armature is {self.armature!r}; it must be a mapping, such as {{'elbow': 0.02}}")
        found = {name: inertia for name, inertia in joints.items() if inertia}
        for name, value in self.armature.items():
            if name not in joints:
                raise ModelError(unknown_name("joint with one coordinate is called", str(name), joints).args[0])
            inertia = finite(value)
            if inertia is None or inertia < 0.0:
                raise ModelError(f"armature[{name!r}] is {value!r}; it must be an inertia in kg m², or a mass in kg")
            found[name] = inertia
        return found

    def checked_loops(self) -> Sequence[Any]:
        """The loops, a list; ModelError if they are none."""
        if not isinstance(self.loops, Sequence) or isinstance(self.loops, (str, bytes)):
            raise ModelError(
                f'loops is {self.loops!r}; it must be a list, such as [("left foot", "right foot", "point")], or []'
            )
        return self.loops


def finite(value: Any) -> float | None:
    """A number of an option; None if it is no number, or too large for a robot."""
    try:
        number = None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) <= BEYOND else None


def three_numbers(place: Any) -> npt.NDArray[np.float64] | None:
    """Three finite numbers of an option, (3,); None if it holds something else."""
    try:
        numbers = np.asarray(place)
    except ValueError:  # lists of several lengths
        return None
    is_place = numbers.shape == (3,) and numbers.dtype.kind in "iuf" and bool(np.all(np.abs(numbers) <= BEYOND))
    return numbers.astype(np.float64) if is_place else None
