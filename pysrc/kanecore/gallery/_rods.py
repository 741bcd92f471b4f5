# SPDX-License-Identifier: BSD-3-Clause
"""Chains of uniform slender rods in a vertical plane, of which the gallery's planar loops are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanecore.shapes import Rod, Shape

if TYPE_CHECKING:
    import sympy as sm
    import sympy.physics.mechanics as me


@dataclass(frozen=True)
class Chain:
    """Bodies, weights and shapes of rods in series, the last point, and the frames of the rods."""

    bodies: list[me.RigidBody]
    loads: list[tuple[Any, me.Vector]]
    end: me.Point
    frames: list[me.ReferenceFrame]
    shapes: dict[str, Shape]


def chain(
    ground: me.ReferenceFrame,
    pivot: me.Point,
    numbers: Sequence[int],
    angles: Sequence[sm.Expr],
    rates: Sequence[sm.Expr],
    relative: bool = False,
) -> Chain:
    """Rods of lengths Li and masses mi, i in ``numbers``; gravity g along -n_y.

    Angles and their rates are from n_x, or (``relative``) from the rod before.
    """
    import sympy as sm
    import sympy.physics.mechanics as me

    g = sm.Symbol("g")
    result = Chain([], [], pivot, [], {})
    start, before = pivot, ground
    for i, angle, rate in zip(numbers, angles, rates, strict=True):
        length, mass = sm.symbols(f"L{i} m{i}")
        rod = me.ReferenceFrame(f"A{i}")
        rod.orient_axis(before, before.z, angle)
        rod.set_ang_vel(before, rate * before.z)
        centre = start.locatenew(f"C{i}", length / 2 * rod.x)
        inertia = me.inertia(rod, 0, 0, mass * length**2 / 12)
        result.bodies.append(me.RigidBody(f"rod{i}", centre, rod, mass, (inertia, centre)))
        result.loads.append((centre, -mass * g * ground.y))
        result.frames.append(rod)
        result.shapes[f"rod{i}"] = Rod(length)
        start = start.locatenew(f"E{i}", length * rod.x)
        before = rod if relative else ground
    return Chain(result.bodies, result.loads, start, result.frames, result.shapes)
