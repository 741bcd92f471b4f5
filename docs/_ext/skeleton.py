# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of mechanisms, drawn from their descriptions: lines along the tree of points, dots for mass centres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

import kanecore as kc
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import duplicate
from kanecore.graph.evaluate import evaluate
from kanecore.graph.scalars import Op


def draw(
    model: kc.Model,
    parameters: Mapping[str, float],
    state: Mapping[str, float],
    view: tuple[float, float] | None = None,
    down: str = "-y",
) -> Figure:
    """The mechanism at a state.

    In the x-y plane, with -y or x (``down``) downwards; or in space, from ``view``: elevation and azimuth in degrees.
    """
    places, lines, masses = _places(model, {**parameters, **state})
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    if view is None:
        axes = figure.add_subplot()
        places = places[:, :2] if down == "-y" else np.stack([places[:, 1], -places[:, 0]], axis=-1)
        axes.margins(0.15)
    else:
        axes = figure.add_subplot(projection="3d", elev=view[0], azim=view[1])
    for line in lines:
        axes.plot(*places[list(line)].T, color="#4c72b0", linewidth=2.5, solid_capstyle="round")
    axes.plot(*places[:1].T, "^", color="0.25", markersize=9)
    axes.plot(*places[masses].T, "o", color="#c44e52", markersize=6)
    for i in masses:
        axes.text(*places[i], f"  {model.description.points[i].name}", fontsize=8, color="0.25")
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _places(model: kc.Model, values: Mapping[str, float]) -> tuple[np.ndarray, Sequence[tuple[int, int]], list[int]]:
    """Positions of all points in inertial axes, the pairs that are joined, and the points that are mass centres."""
    kinematics = Kinematics(duplicate(model.description))
    d, g = kinematics.description, kinematics.graph
    positions = [kinematics.position(i) for i in range(len(d.points))]
    keys = [g.nodes[i][1] for i in g.below(x for p in positions for x in p) if g.nodes[i][0] is Op.SYM]
    numbers = {key: values[key[-1]] for key in keys}
    places = np.array([evaluate(g, p, numbers) for p in positions], dtype=float)
    lines = [(point.parent, i) for i, point in enumerate(d.points) if point.parent >= 0]
    return places, lines, [body.point for body in d.bodies]
