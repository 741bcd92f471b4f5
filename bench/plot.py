# SPDX-License-Identifier: BSD-3-Clause
"""The ratios ours / theirs of a run, as a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from report import Row, Run

TABLES = (("evaluate", "u̇ in C"), ("evaluate", "u̇ from Python"), ("batch", "u̇ per state"))


def draw(run: Run, path: Path) -> None:
    """A panel a table, a line a model, a mark a side: left of 1 we are faster."""
    tables = {(r.name, title): rows for r in run.reports for title, rows in r.tables.items()}
    panels = {key: _marks(tables[key]) for key in TABLES if key in tables}
    heights = [max(1, len({model for model, _, _ in marks})) for marks in panels.values()]
    if not panels:
        return
    size = (7.5, 1.2 * len(panels) + 0.26 * sum(heights))
    figure, axes = plt.subplots(len(panels), 1, figsize=size, squeeze=False, sharex=True, height_ratios=heights)
    for axis, ((_, title), marks) in zip(axes[:, 0], panels.items(), strict=True):
        models = list(dict.fromkeys(model for model, _, _ in marks))
        for side in dict.fromkeys(side for _, side, _ in marks):
            places = [(ratio, models.index(model)) for model, name, ratio in marks if name == side]
            axis.plot(*zip(*places, strict=True), "o", markersize=5, label=side)
        axis.axvline(1.0, color="black", linewidth=0.8)
        axis.set_yticks(range(len(models)), models, fontsize=8)
        axis.invert_yaxis()
        axis.set(xscale="log", title=title)
        axis.grid(axis="x", linewidth=0.3)
        if marks:
            axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1, 0].set_xlabel("time of kanecore / time of the other")
    with plt.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "kanecore"}
    ):  # small, and the same for the same ratios
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _marks(rows: list[Row]) -> list[tuple[str, str, float]]:
    """Model, side and ratio of what was compared."""
    marks = []
    for row in rows:
        model, _, side = row["case"].partition(": ")
        if isinstance(row["ours/it"], float):
            marks.append((model, side, row["ours/it"]))
    return marks
