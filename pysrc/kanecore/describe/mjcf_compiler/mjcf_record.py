# SPDX-License-Identifier: BSD-3-Clause
"""The record that stands for a `mujoco.MjModel`: the same names, arrays and numbers, of what descriptions read."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from kanecore.describe.robots.xml_reader import Element
from kanecore.errors import unknown_name

from .mjcf_values import fault

__all__ = ["Record"]

_COLUMNS = {
    "body": "parentid mocapid jntnum jntadr geomnum geomadr pos quat ipos iquat mass inertia gravcomp",
    "jnt": (
        "type qposadr dofadr bodyid pos axis stiffness stiffnesspoly limited range actfrclimited actfrcrange "
        "actgravcomp solref solimp margin"
    ),
    "dof": "bodyid jntid parentid armature damping dampingpoly frictionloss invweight0",
    "geom": "type bodyid pos quat size contype conaffinity condim priority friction fluid",
    "site": "bodyid pos quat",
    "tendon": (
        "adr num limited range actfrclimited actfrcrange stiffness stiffnesspoly damping dampingpoly armature "
        "springyield lengthspring length0 solref_lim solimp_lim margin invweight0"
    ),
    "wrap": "type objid prm",
    "eq": "type obj1id obj2id objtype active0 data",
    "actuator": (
        "trntype trnid gear gaintype gainprm biastype biasprm dyntype dynprm ctrllimited ctrlrange forcelimited "
        "forcerange lengthrange acc0 armature damping dampingpoly actearly delay"
    ),
    "sensor": "type objtype objid refid cutoff",
    "key": "time qpos qvel act ctrl",
}
_COUNTS = {"jnt": "njnt", "dof": "nv", "actuator": "nu"}
_WORDS = {"jnt": "joint", "eq": "equality"}


class Record:
    """Columns of numbers by kind, such as ``jnt_type``, and the names of what stands in them.

    Attributes
    ----------
    columns : dict of str to list
    names : dict of str to list of str
    qpos0, qpos_spring : list of float
    """

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {}
        for kind, columns in _COLUMNS.items():
            self.columns |= {f"{kind}_{column}": [] for column in columns.split()}
        self.names: dict[str, list[str]] = {kind: [] for kind in _COLUMNS}
        self.qpos0: list[float] = []
        self.qpos_spring: list[float] = []

    def count(self, kind: str) -> int:
        return len(self.names[kind])

    def add(self, kind: str, element: Element | None, row: Mapping[str, Any]) -> int:
        """Add a row, with the name of an element; its number.  ModelError if another one of its kind has the name."""
        name = "" if element is None else element.attributes.get("name", "")
        if name and element is not None and name in self.names[kind]:
            raise fault(element, f"the name {name!r} is that of another {_WORDS.get(kind, kind)}")
        self.names[kind].append(name)
        for column in _COLUMNS[kind].split():
            self.columns[f"{kind}_{column}"].append(row[column])
        return self.count(kind) - 1

    def find(self, kind: str, name: str, element: Element) -> int:
        """The number of a name; ModelError, with the nearest one, if there is none."""
        if not name or name not in self.names[kind]:
            raise fault(element, unknown_name(f"{_WORDS.get(kind, kind)} is called", name, self.names[kind]).args[0])
        return self.names[kind].index(name)

    def as_model(self, name: str, options: dict[str, Any]) -> SimpleNamespace:
        """The numbers as arrays, by the names of `mujoco.MjModel`."""
        text, addresses = name.encode() + b"\0", dict[str, list[int]]()
        for kind, names in self.names.items():
            for each in names:
                addresses.setdefault(f"name_{kind}adr", []).append(len(text))
                text += each.encode() + b"\0"
        sizes = {"nq": len(self.qpos0), "na": sum(kind > 0 for kind in self.columns["actuator_dyntype"])}
        sizes |= {_COUNTS.get(kind, f"n{kind}"): self.count(kind) for kind in _COLUMNS}
        arrays = self.columns | {"qpos0": self.qpos0, "qpos_spring": self.qpos_spring}
        numbers = {column: np.array(values) for column, values in arrays.items()}
        return SimpleNamespace(
            **numbers, **addresses, **sizes, nflex=0, nplugin=0, names=text, opt=SimpleNamespace(**options)
        )
