# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a reading by its kinematics: inertias, the origin, set velocities against positions and pathways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kanecore.derive.forces.actuator_powers import WrongPower, wrong_powers
from kanecore.derive.kinematics import Kinematics
from kanecore.derive.position_origin import check_origin
from kanecore.derive.velocity_contradictions import Contradiction, contradictions
from kanecore.describe.inertia import warn_of_impossible
from kanecore.describe.reading import Reading
from kanecore.errors import warn

__all__ = ["checked_reading"]


def checked_reading(
    reading: Reading, kinematics: Callable[[], Kinematics], names: Callable[[], Mapping[Any, Any]]
) -> list[Contradiction | WrongPower]:
    """Warn of impossible inertias, and of motions and loads that contradict positions and pathways.

    Parameters
    ----------
    reading : Reading
        The reading with its contributing loads.
    kinematics : callable
        Function that returns the kinematics of the description, or of its copy.
    names : callable
        Function that returns SymPy's symbols by the keys of the graph, for messages.

    Raises
    ------
    ModelError
        The user's origin is not at rest.
    """
    d = reading.description
    warn_of_impossible(d)
    k = kinematics()
    check_origin(k)
    if reading.read_again is None:
        return []
    actuators = {each.number: each.name for each in reading.actuators}
    result: list[Contradiction | WrongPower] = [*contradictions(reading, k, names), *wrong_powers(reading)]
    for each in result:
        places = d.points if each.kind == "point" else d.frames
        warn(each.message(actuators[each.at] if isinstance(each, WrongPower) else places[each.at].name))
    return result
