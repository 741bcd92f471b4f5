# SPDX-License-Identifier: BSD-3-Clause
"""Plots of trajectories over time, with matplotlib (the extra ``plot``), which is imported when a figure is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kanecore.errors import unknown_name
from kanecore.show.contact_marks import STRUCK, mode_colour

__all__ = ["add_bands", "new_figure", "plot_trajectory", "png"]


def new_figure(size: tuple[float, float]) -> Any:
    """An empty figure of some inches, which a notebook shows; ImportError if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from missing

    figure: Any = Figure(figsize=size, layout="constrained")
    figure._repr_png_ = partial(png, figure)  # notebooks show figures by themselves once pyplot is imported
    return figure


def png(figure: Any, dpi: float | str = "figure") -> bytes:
    """The picture as a file."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=dpi)
    return file.getvalue()


Array = npt.NDArray[np.float64]

POINTS = 800  # points of each curve
LEGEND_MAX = 12  # largest number of lines with a legend
PANEL, BALANCE = 3.0, 2.0  # relative heights of panels
BAND, BANDS = 0.04, 0.5  # heights of a band with its name, and of many without, relative to the first panel
UNIT = 0.875  # inches for a height of 1


class Recorded(Protocol):
    """Interface of a `kanecore.Trajectory` for plots."""

    _dyn: Any
    _inputs: Any
    _p: Any

    @property
    def _force_names(self) -> tuple[str, ...]: ...
    @property
    def _steps(self) -> Array: ...
    @property
    def _drift(self) -> tuple[Array, float]: ...
    @property
    def energy_drift(self) -> float: ...
    def _energies(self, t: Array, x: Array, r: Array) -> tuple[Array, ...]: ...
    def _forces(self, t: Array, x: Array, r: Array) -> Array: ...
    def __call__(self, t: npt.ArrayLike) -> Array: ...


class Group(NamedTuple):
    """Curves of one panel: a label, their kind ("state", "input", "output", "energy", "contact"), and their numbers."""

    label: str
    kind: str
    places: list[int]


def plot_trajectory(trajectory: Recorded, patterns: Sequence[Any]) -> Any:
    """The curves that patterns select, or all coordinates and speeds with the error of the energy balance."""
    dyn = trajectory._dyn
    names = _names(trajectory)
    groups = _selected(dyn, names, patterns) if patterns else _groups(dyn)[:-4]
    groups = [group for group in groups if group.places]
    steps = trajectory._steps
    times = np.linspace(steps[0], steps[-1], POINTS)  # otherwise long steps would show as corners
    curves = _curves(trajectory, times, {group.kind for group in groups})
    heights = [PANEL] * len(groups) + [BALANCE] * (not patterns)
    figure = new_figure((8.0, UNIT * max(sum(heights), 2 * PANEL)))
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for ax, group in zip(axes, groups, strict=False):
        _draw(
            ax,
            times,
            curves[group.kind][:, group.places],
            group.label,
            [names[group.kind][i] for i in group.places],
        )
    title = _text(dyn.name)
    if not patterns:
        error, largest = trajectory._drift
        axes[-1].plot(steps, error / (largest or 1.0), color="0.3", linewidth=1.0)
        axes[-1].set_ylabel("energy error / max T")
        title += f": energy drift {trajectory.energy_drift:.1e}"
    for ax in axes:
        ax.grid(color="0.92")
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(x=0.01)
    axes[-1].set_xlabel("t [s]")
    figure.suptitle(title)
    return figure


def add_bands(
    figure: Any, times: Sequence[float], bands: Mapping[str, Sequence[str]], strikes: Mapping[str, Array]
) -> None:
    """Draw the modes of each contact between times as a band above the first panel of a figure, with its impacts."""
    from matplotlib.patches import Patch

    colours = {word: mode_colour(word) for each in bands.values() for word in each}
    axes, high = figure.axes[0], min(BAND, BANDS / (1.5 * len(bands)))
    for row, (name, each) in enumerate(reversed([*bands.items()])):
        low = 1.02 + 1.5 * high * row
        for start, end, word in zip(times[:-1], times[1:], each, strict=True):
            axes.axvspan(start, end, low, low + high, color=colours[word], clip_on=False, linewidth=0)
        style = {"color": STRUCK, "linewidth": 1.2, "transform": axes.get_xaxis_transform(), "clip_on": False}
        axes.vlines(strikes[name], low, low + high, **style)
        if high == BAND:
            axes.text(1.005, low, name, transform=axes.transAxes, fontsize="x-small")
    patches = [Patch(color=each) for each in colours.values()]
    if any(map(len, strikes.values())):
        patches, colours = [*patches, Patch(color=STRUCK)], {**colours, "impact": STRUCK}
    figure.legend(patches, list(colours), loc="outside lower center", ncols=6, frameon=False)


def _names(trajectory: Recorded) -> dict[str, tuple[str, ...]]:
    dyn = trajectory._dyn
    names = {"state": dyn.names.x, "input": dyn.input_names, "output": dyn.output_names}
    return {**names, "contact": trajectory._force_names, "energy": ("energy",)}


def _groups(dyn: Any, n_forces: int = 0) -> list[Group]:
    """All groups of curves: coordinates, each quaternion, speeds; then inputs, outputs, contact forces, the energy."""
    of_quaternions = {place for quaternion in dyn.unit for place in quaternion}
    return [
        Group("coordinates q", "state", [i for i in range(dyn.n_q) if i not in of_quaternions]),
        *(Group("unit quaternion", "state", list(quaternion)) for quaternion in dyn.unit),
        Group("speeds u", "state", list(range(dyn.n_q, dyn.n_q + dyn.n_u))),
        Group("states z", "state", list(range(dyn.n_q + dyn.n_u, dyn.n_x))),
        Group("inputs r", "input", list(range(dyn.n_r))),
        Group("outputs", "output", list(range(dyn.n_outputs))),
        Group("contact forces", "contact", list(range(n_forces))),
        Group("energy T + U", "energy", [0]),
    ]


def _selected(dyn: Any, names: Mapping[str, tuple[str, ...]], patterns: Sequence[Any]) -> list[Group]:
    """Groups with only the selected curves; KeyError for a pattern that selects none."""
    chosen = set[tuple[str, int]]()
    for pattern in patterns:
        if isinstance(pattern, str):
            matches = {
                (what, i)
                for what, listed in names.items()
                for i, name in enumerate(listed)
                if name == pattern or fnmatchcase(name, pattern)
            }
        else:
            matches = {dyn.names.found(("state", "input", "output"), pattern)}
        if not matches:
            known = [name for listed in names.values() for name in listed]
            raise unknown_name(f"coordinate, speed, input or output of {dyn.name!r} matches", pattern, known)
        chosen |= matches
    groups = _groups(dyn, len(names["contact"]))
    return [group._replace(places=[i for i in group.places if (group.kind, i) in chosen]) for group in groups]


def _curves(trajectory: Recorded, times: Array, kinds: set[str]) -> dict[str, Array]:
    """Values over time of the drawn kinds, (POINTS, n)."""
    states = trajectory(times)
    curves = {"state": states}
    if kinds - {"state"}:
        curves["input"] = trajectory._inputs(times, states)
    if "output" in kinds:
        curves["output"] = trajectory._dyn.outputs(times, states, r=curves["input"], p=trajectory._p)
    if "contact" in kinds:
        curves["contact"] = trajectory._forces(times, states, curves["input"])
    if "energy" in kinds:
        curves["energy"] = trajectory._energies(times, states, curves["input"])[0][:, np.newaxis]
    return curves


def _draw(ax: Any, times: Array, values: Array, label: str, names: Sequence[str]) -> None:
    ax.plot(times, values, label=[_text(name) for name in names], linewidth=1.4)
    ax.set_ylabel(label)
    if len(names) <= LEGEND_MAX:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _text(name: str) -> str:
    """Name for matplotlib: no dollar starts a formula, and no leading underscore hides the name."""
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")
