# SPDX-License-Identifier: BSD-3-Clause
"""Private attributes of SymPy's frames, points and pathways: no other module touches them.

The public methods ``vel``, ``acc`` and ``dcm`` compute, and store their results.  Afterwards the values that a user set
can no longer be told from derived ones; and these methods multiply the model out.  Here nothing is computed, and
nothing is stored but the orientations of frames of our own.  ``tests/test_sympy_internals.py`` fails if a new SymPy has
renamed an attribute, and names it.
"""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

from sympy.physics.mechanics import dynamicsymbols

__all__ = [
    "accelerations",
    "angular_accelerations",
    "angular_velocities",
    "force_along",
    "neighbours",
    "orient",
    "positions",
    "terms",
    "time",
    "velocities",
]


def neighbours(frame: Any) -> dict[Any, Any]:
    """``{adjacent frame: C}`` with components ``v_frame = C v_adjacent``, as the ``orient_*`` methods stored them."""
    return frame._dcm_dict  # type: ignore[no-any-return]


def orient(frame: Any, parent: Any, rotation: Any) -> None:
    """Orient a frame, ``v_parent = rotation v_frame``, without the slow simplification of ``orient_explicit``."""
    frame._dcm(parent, rotation)


def angular_velocities(frame: Any) -> dict[Any, Any]:
    """``{other frame: angular velocity of frame in it}``, set by ``orient_*`` or ``set_ang_vel``."""
    return frame._ang_vel_dict  # type: ignore[no-any-return]


def positions(point: Any) -> dict[Any, Any]:
    """``{other point: position of point from it}``."""
    return point._pos_dict  # type: ignore[no-any-return]


def velocities(point: Any) -> dict[Any, Any]:
    """``{frame: velocity of point in it}``, set by ``set_vel``, ``v1pt_theory``, ``v2pt_theory`` or ``vel``."""
    return point._vel_dict  # type: ignore[no-any-return]


def accelerations(point: Any) -> dict[Any, Any]:
    """``{frame: acceleration of point in it}``, set by ``set_acc``, ``a1pt_theory`` or ``a2pt_theory``."""
    return point._acc_dict  # type: ignore[no-any-return]


def angular_accelerations(frame: Any) -> dict[Any, Any]:
    """``{other frame: angular acceleration of frame in it}``, set by ``set_ang_acc``."""
    return frame._ang_acc_dict  # type: ignore[no-any-return]


def terms(vector: Any) -> list[tuple[Any, Any]]:
    """Terms ``[(3×1 matrix, frame), ...]`` whose sum is the vector."""
    return vector.args  # type: ignore[no-any-return]


def force_along(actuator: Any, length: Any, rate: Any) -> Any:
    """The force of an actuator in symbols of the length of its pathway and of its extension velocity."""
    stand_in = copy.copy(actuator)
    points = actuator.pathway.attachments
    stand_in._pathway = SimpleNamespace(length=length, extension_velocity=rate, attachments=points)
    return stand_in.force


def time() -> Any:
    """The symbol of time."""
    return dynamicsymbols._t
