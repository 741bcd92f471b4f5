# SPDX-License-Identifier: BSD-3-Clause
"""Other packages beside us: a row each with the areas where it is compared, and a file with a function for each.

A function takes what is measured and returns sides (sides.py); none where the package has no words for the mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple


class Peer(NamedTuple):
    """The distribution, the module that must be there, and the areas."""

    distribution: str
    module: str
    areas: tuple[str, ...]


DERIVATIVES = ("derivatives", "derivatives_in_c", "derivatives_in_batch")

PEERS: Mapping[str, Peer] = {
    "sympy": Peer("sympy", "sympy", ("first", "in_python", "batch")),
    "pydy": Peer("pydy", "pydy", ("first", "in_python", "integrate")),
    "casadi": Peer(
        *("casadi", "casadi"),
        ("derive", "first", "in_c", "in_python", *DERIVATIVES, "batch", "integrate", "control"),
    ),
    "pinocchio": Peer(
        *("pin", "pinocchio"),
        ("in_c", "in_python", *DERIVATIVES, "batch", "integrate", "control"),
    ),
    "mujoco": Peer("mujoco", "mujoco", ("in_c", "in_python", "control", "rollout", "loops")),
    "heyoka": Peer("heyoka", "heyoka", ("in_python", "batch", "integrate")),
    "jax": Peer("jax", "jax", ("derivatives", "derivatives_in_batch")),
    "exudyn": Peer("exudyn", "exudyn", ("loops",)),
    "drake": Peer("drake", "pydrake", ("loops",)),
}


def sides(area: str, work: Any) -> tuple[list[Any], list[str]]:
    """Functions that the peers of an area have for a work, and the names of those that are not installed."""
    offered, missing = [], []
    for name, peer in PEERS.items():
        if area not in peer.areas:
            continue
        if find_spec(peer.module):
            offered += getattr(import_module(f"peers.{name}"), area)(work)
        else:
            missing.append(name)
    return offered, missing


def versions() -> dict[str, str]:
    """Versions of the peers that are installed; other installers than pip do not say which."""
    return {name: _version(peer.distribution) for name, peer in PEERS.items() if find_spec(peer.module)}


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
