# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the sizes of a compiled model's table, and of its facts about itself."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["LARGEST", "check_info", "check_sizes", "read_info"]

LARGEST = 1 << 24  # upper bound of any size in a table

Bounds = list[tuple[int, int]]


def check_sizes(sizes: dict[str, int]) -> None:
    """Raise ValueError for a size that is impossible or inconsistent with the others."""
    for name, size in sizes.items():
        if size > LARGEST:
            raise ValueError(f"{name} is {size}, more than any model has")
    for small, large in (
        ("n_q_dependent", "n_q"),
        ("n_u_dependent", "n_u"),
        ("n_velocity", "n_constraints"),
        ("n_p", "n_prepared"),
    ):
        if sizes[small] > sizes[large]:
            raise ValueError(f"{small} is {sizes[small]} and {large} is {sizes[large]}")
    n_q, n_unit, n_prepared = sizes["n_q"], sizes["n_unit"], sizes["n_prepared"]
    if sizes["n_constraints"] and n_prepared == sizes["n_p"]:
        raise ValueError(f"n_prepared is {n_prepared}, which leaves no place for the number of rows that count")
    if 4 * n_unit > n_q:
        raise ValueError(f"n_unit is {n_unit} and n_q is {n_q}, and a quaternion has four coordinates")


def read_info(texts: list[str]) -> dict[str, Any]:
    """Facts of a library about itself; ValueError if they are no JSON object."""
    if not texts:
        return {}
    try:
        info = json.loads("".join(texts))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"info is no JSON: {error}") from None
    if not isinstance(info, dict):
        raise ValueError("info is no object of JSON")
    return info


def check_info(info: dict[str, Any], sizes: dict[str, int]) -> None:
    """Raise ValueError for a member of ``info`` with a wrong type, if the extension or CompiledModel reads it."""
    n_points, n_frames, n_bodies = sizes["n_points"], sizes["n_frames"], sizes["n_bodies"]
    n_x = sizes["n_q"] + sizes["n_u"] + sizes["n_z"]
    kinds: dict[str, Any] = {"left_out": list, "missing": str, "massless": str, "unread": int, "guess": (int, float)}
    for member, kind in kinds.items():
        values = info.get(member, {})
        if not (isinstance(values, dict) and all(isinstance(value, kind) for value in values.values())):
            raise ValueError(f"{member} in info is of the wrong kind")
    if not all(_is_texts(names) for names in info.get("left_out", {}).values()):
        raise ValueError("left_out in info is of the wrong kind")
    for place, value in info.get("guess", {}).items():
        if not (place.isdecimal() and len(place) < 9 and int(place) < n_x):
            raise ValueError(f"guess in info names the place {place!r}, and a state has {n_x}")
        if not -1e300 < value < 1e300:
            raise ValueError(f"guess in info is {value} at {place}")
    for member in ("inertial", "origin"):
        if not isinstance(info.get(member, ""), str):
            raise ValueError(f"{member} in info is no name")
    for member in ("baked", "generalized", "loads_of_reactions", "reaction_names"):
        if not _is_texts(info.get(member, [])):
            raise ValueError(f"{member} in info is of the wrong kind")
    if len(info.get("reaction_names", [])) not in (0, sizes["n_reactions"]):
        raise ValueError(f"reaction_names in info are not {sizes['n_reactions']} names")
    _check_names(info, "configuration_names", sizes["n_configuration"])
    _check_rows("bodies", info.get("bodies", []), n_bodies, [(0, n_points), (-1, n_frames)])
    _check_loads(info.get("loads", []), sizes)
    _check_rows("joints", info.get("joints", []), sizes["n_joints"], [(-1, n_bodies), (0, n_bodies), (0, 2)])
    rates = info.get("coordinate_rates", [])
    rows = [[x] for x in rates] if isinstance(rates, list) else None
    _check_rows("coordinate_rates", rows, sizes["n_q"], [(-1, sizes["n_u"])])
    _check_places(info, "roots", n_points, (0, n_points))
    for member, n in (
        ("adrift", n_points),
        ("instant", n_points),
        ("unoriented", n_frames),
        ("namesakes", n_frames),
        ("unlocated", sizes["n_r"]),
    ):
        _check_places(info, member, None, (0, n))
    _check_names(info, "origins", n_points)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check_names(info: dict[str, Any], member: str, n: int) -> None:
    names = info.get(member, [])
    if not _is_texts(names) or len(names) not in (0, n):
        raise ValueError(f"{member} in info are not {n} names")


def _check_loads(loads: Any, sizes: dict[str, int]) -> None:
    beside = [(0, 2**31), (-1, sizes["n_bodies"])]
    _check_rows("loads", loads, sizes["n_loads"], [(0, 2), (0, 2**31), *beside])
    kinds = [(0, sizes["n_points"]), (0, sizes["n_frames"])]
    for load in loads:
        _check_rows("loads", [load], 1, [(0, 2), kinds[load[0]], *beside])


def _check_places(info: dict[str, Any], member: str, n: int | None, bounds: tuple[int, int]) -> None:
    """Raise ValueError unless a member is a list of n whole numbers between bounds; n may be None for any length."""
    numbers = info.get(member, [])
    if not isinstance(numbers, list):
        raise ValueError(f"{member} in info is no list")
    _check_rows(member, [[x] for x in numbers], len(numbers) if n is None else n, [bounds])


def _check_rows(member: str, rows: Any, n: int, bounds: Bounds) -> None:
    """Raise ValueError unless ``info`` has n rows, or none, of whole numbers between bounds."""
    if not (isinstance(rows, list) and len(rows) in (0, n) and all(_is_row(row, bounds) for row in rows)):
        raise ValueError(f"{member} in info are not {n} rows of numbers that this model has")


def _is_row(row: Any, bounds: Bounds) -> bool:
    return (
        isinstance(row, list)
        and len(row) == len(bounds)
        and all(type(x) is int and low <= x < high for x, (low, high) in zip(row, bounds, strict=True))
    )
