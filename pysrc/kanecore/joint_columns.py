# SPDX-License-Identifier: BSD-3-Clause
"""Columns of the kernel ``joint_regressor``: viscous friction, dry friction and rotor of each coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from kanecore.errors import unknown_name

__all__ = ["OF_JOINT", "JointColumns", "chosen_columns", "column_name"]

OF_JOINT = ("viscous", "dry", "rotor")

JointColumns: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[Any]]
"""Kinds of columns, for all coordinates, or for those of a mapping."""


def chosen_columns(joints: JointColumns, coordinates: Sequence[str]) -> list[int]:
    """Numbers of the columns that are wanted, in order; KeyError for unknown kinds and coordinates."""
    kinds: Mapping[str, Sequence[Any]]
    if isinstance(joints, Mapping):
        kinds = {kind: [of] if isinstance(of, str) else list(of) for kind, of in joints.items()}
    else:
        kinds = dict.fromkeys([joints] if isinstance(joints, str) else joints, coordinates)
    places = set()
    for kind, names in kinds.items():
        if kind not in OF_JOINT:
            raise unknown_name("column of joints is called", kind, OF_JOINT)
        for coordinate in names:
            name = str(getattr(coordinate, "name", coordinate))
            if name not in coordinates:
                raise unknown_name("coordinate", name, coordinates)
            places.add(len(OF_JOINT) * list(coordinates).index(name) + OF_JOINT.index(kind))
    return sorted(places)


def column_name(column: int, coordinates: Sequence[str]) -> str:
    """The name of a column, such as ``"q1.rotor"``."""
    return f"{coordinates[column // len(OF_JOINT)]}.{OF_JOINT[column % len(OF_JOINT)]}"
