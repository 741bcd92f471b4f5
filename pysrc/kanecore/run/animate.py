# SPDX-License-Identifier: BSD-3-Clause
"""Moving pictures of a trajectory: its states at equal times are handed to `kanecore.show`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from kanecore.run.draw import scene_of

if TYPE_CHECKING:
    from kanecore.show.movies import Animation
    from kanecore.show.scene import Scene

__all__ = ["animate"]

Array = npt.NDArray[np.float64]


class Recorded(Protocol):
    """What is shown: a `kanecore.Trajectory`."""

    _dyn: Any
    _p: Any
    _inputs: Any
    _run: Any
    t: Array
    x: Array

    @property
    def _steps(self) -> Array: ...
    def __call__(self, t: npt.ArrayLike) -> Array: ...


def animate(
    sol: Recorded,
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    trace: Any = (),
    labels: bool = True,
    view: str | Sequence[Any] | None = None,
) -> Animation:
    """The motion as a moving picture, at equal times; a notebook shows it, `save` writes HTML, GIF or MP4.

    Parameters
    ----------
    fps : float
        Frames a second of the picture.
    speed : float
        Seconds of the motion that the picture shows in one of its own; less than 1 is slow motion.
    trace : str or SymPy's object, or a sequence of these
        Points, bodies (their mass centres) or joints whose way is drawn.
    labels : bool
        Whether the page names bodies, points and joints.  A name that would lie over others is left out.
    view : str or (elevation, azimuth) or (elevation, azimuth, up), optional
        As of `CompiledModel.draw`.  The mouse turns the page's picture of a motion in space.

    Returns
    -------
    Animation
        With ``save(path)``.  States come from the interpolants of the steps, or where these were not kept from the
        nearest of ``t_eval``.

    Raises
    ------
    ModelError
        The model has no points; a shape's size has no value.
    ImportError
        matplotlib, which GIF and MP4 need, is not installed.
    KeyError
        There is no point, body or joint of a name in ``trace``.
    ValueError
        The run holds no state; fps or speed is no positive number, the frames are too many, or there is no such view.

    Examples
    --------
    ``sol.animate(trace="tip", speed=0.5).save("arm.html")``
    """
    from kanecore.show.movies import Animation, frame_times
    from kanecore.show.views import around, chosen

    dyn, p, kept = sol._dyn, sol._p, sol._run.dense is not None
    recorded = sol._steps if kept else sol.t
    if not len(recorded):
        raise ValueError("the run holds no state: simulate with dense_output=True, or put times into t_eval")
    times = frame_times(recorded[0], recorded[-1], fps, speed)
    states = sol(times) if kept else _nearest(sol, times)
    inputs = sol._inputs(times, states)

    def scene_at(t: Array, x: Array) -> Scene:
        return scene_of(dyn, t, x, inputs[:1], p, loads=False)

    nearby = around(scene_at, times[0], states[0], dyn.unit)
    scene = scene_of(dyn, times, states, inputs, p, loads=False)
    seen, several = chosen(view, nearby, scene), isinstance(trace, Iterable) and not isinstance(trace, str)
    places = tuple(map(nearby.place, trace if several else [trace]))
    return Animation(scene, times, fps, seen, places, labels)


def _nearest(sol: Recorded, times: Array) -> Array:
    """Of a run that did not keep its steps the states at the nearest times that were asked for."""
    sign = 1.0 if sol.t[-1] >= sol.t[0] else -1.0
    between = (sol.t[1:] + sol.t[:-1]) / 2.0
    return sol.x[np.searchsorted(sign * between, sign * times)]
