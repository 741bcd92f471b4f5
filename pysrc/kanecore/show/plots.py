# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trajectories, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["plot_trajectory"]

POINTS = 800  # on each curve
LEGEND_MAX = 12  # more lines than this are told by colour alone


class Recorded(Protocol):
    """What is plotted: a `kanecore.Trajectory`."""

    _dyn: Any

    @property
    def _steps(self) -> npt.NDArray[np.float64]: ...
    @property
    def _drift(self) -> tuple[npt.NDArray[np.float64], float]: ...
    @property
    def energy_drift(self) -> float: ...
    def __call__(self, t: npt.ArrayLike) -> npt.NDArray[np.float64]: ...


def plot_trajectory(trajectory: Recorded) -> Any:
    """Coordinates, speeds, and the error of the energy balance over time."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ImportError('plots need matplotlib: pip install "kanecore[plot]"') from missing

    dyn, n_q = trajectory._dyn, trajectory._dyn.n_q
    error, largest = trajectory._drift
    steps = trajectory._steps
    times = np.linspace(steps[0], steps[-1], POINTS)  # long steps would show as corners
    states = trajectory(times)
    figure = Figure(figsize=(8.0, 7.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
    for ax, values, names, label in (
        (axes[0], states[:, :n_q], dyn.coordinate_names, "coordinates q"),
        (axes[1], states[:, n_q:], dyn.speed_names, "speeds u"),
    ):
        ax.plot(times, values, label=names, linewidth=1.4)
        ax.set_ylabel(label)
        if len(names) <= LEGEND_MAX:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes[2].plot(steps, error / (largest or 1.0), color="0.3", linewidth=1.0)
    axes[2].set_ylabel("energy error / max T")
    axes[2].set_xlabel("t [s]")
    for ax in axes:
        ax.grid(color="0.92")
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(x=0.01)
    figure.suptitle(f"{dyn.name}: energy drift {trajectory.energy_drift:.1e}")
    return figure
