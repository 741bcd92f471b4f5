# SPDX-License-Identifier: BSD-3-Clause
"""Industrial arms; their links stand in the case files, with their sources."""

import json
from pathlib import Path
from typing import Any

from oracle.serial_models import arm

from .particles import System

CASES = Path(__file__).parents[1] / "cases"


def robot_2R() -> System:
    return robot("robot_2R")


def robot_iiwa14() -> System:
    return robot("robot_iiwa14")


def robot_puma560() -> System:
    return robot("robot_puma560")


def robot_ur5e() -> System:
    return robot("robot_ur5e")


def robot(name: str) -> System:
    case = json.loads((CASES / f"{name}.json").read_text())
    bodies = [neutral(link, parent) for parent, link in enumerate(case["links"], -1)]
    return arm({"gravity": case["gravity"], "bodies": bodies})


def neutral(link: dict[str, Any], parent: int) -> dict[str, Any]:
    """A link of a case file in the form that ``arm`` reads."""
    xx, yy, zz, xy, xz, yz = link["inertia"]
    kind = {"R": "revolute", "P": "prismatic"}[link["type"]]
    return {
        "parent": parent,
        "joint": {"type": kind, "axis": link["axis"], "xyz": link["p"], "R": link["R"]},
        "mass": link["mass"],
        "com": link["com"],
        "inertia_com": [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
    }
