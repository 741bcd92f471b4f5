# SPDX-License-Identifier: BSD-3-Clause
"""Actuators along straight lines between points: springs, dampers, motors, cables over obstacles.

Let r be the position of each point from the previous one, and e = r/|r|. With

    l = Σ |r|,        dl/dt = Σ e·(dr/dt),

a force F(l, dl/dt, ...), positive if it pushes the points apart, acts by F e on the point and by −F e on the previous
one.  Both are formed on the graph, since SymPy would write out r·r in every direction cosine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Description, Load, Tendon
from kanecore.errors import ModelError
from kanecore.graph.vectors import ZERO, Components, add, cross, dot, neg, scale

__all__ = ["with_tendons"]


def with_tendons(d: Description) -> Description:
    """Description in which tendons are replaced by their loads."""
    if not d.tendons:
        return d
    k = Kinematics(d)
    loads = [*d.loads, *(load for tendon in d.tendons for load in _loads(k, tendon))]
    shown = dict.fromkeys([*d.shown_points, *(point for tendon in d.tendons for point in tendon.points)])
    loads.sort(key=lambda load: load.number)
    return replace(d, loads=tuple(loads), tendons=(), shown_points=tuple(shown))


def _loads(k: Kinematics, tendon: Tendon) -> Iterator[Load]:
    g, length, rate, spans = k.graph, 0, 0, []
    for a, b in zip(tendon.points, tendon.points[1:], strict=False):
        frame, r, change = _span(k, a, b)
        if r == ZERO:
            names = " and ".join(k.description.points[i].name for i in (a, b))
            raise ModelError(
                f"load {tendon.number}: points {names} are the same, and a line between them has no direction"
            )
        size = g.sqrt(dot(g, r, r))
        direction: Components = (g.div(r[0], size), g.div(r[1], size), g.div(r[2], size))
        length = g.add(length, size)
        rate = g.add(rate, dot(g, direction, change) if change is not None else k.rate.of(size))
        spans.append((a, b, frame, direction))
    [force] = g.substitute([tendon.force], {tendon.length: length, tendon.rate: rate})
    for a, b, frame, direction in spans:
        vector = scale(g, force, direction)
        yield Load("force", a, ((frame, neg(g, vector)),), tendon.number)
        yield Load("force", b, ((frame, vector),), tendon.number)


def _span(k: Kinematics, a: int, b: int) -> tuple[int, Components, Components | None]:
    """The position r of b from a in the axes of a frame, and dr/dt.

    dr/dt is None if the ω of a frame on the path does not fit its orientation; then only |r| has the right derivative.
    """
    g, points, (up, down) = k.graph, k.description.points, k.chains(a, b)
    frames = [f for i in (*up, *down) for f, _ in points[i].position]
    home = k.common(frames or [0])
    change = ZERO
    for i, sign in (*((i, -1) for i in up), *((i, 1) for i in down)):
        for (f, v), (_, rate) in zip(points[i].position, k.displacement_rate(i), strict=True):
            local = k.resolve(add(g, rate, cross(g, k.omega[f], v)), f, home)
            change = add(g, change, local if sign > 0 else neg(g, local))
    return home, k.between(a, b, home), change if all(k.omega_fits[f] for f in frames) else None
