# SPDX-License-Identifier: BSD-3-Clause
"""Still and moving pictures of a compiled model: `kanecore.show` draws states, or a trajectory at equal times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values
    from kanecore.show.movies import Animation
    from kanecore.show.scene import Scene

__all__ = ["animate", "draw", "scene_of"]

Array = npt.NDArray[np.float64]


@method("Points and frames")
def draw(
    dyn: Evaluator,
    x: Values,
    t: npt.ArrayLike = 0.0,
    *,
    r: Any = None,
    p: Any = None,
    ax: Any = None,
    labels: bool = True,
    loads: bool = True,
    view: str | Sequence[Any] | None = None,
) -> Any:
    """A picture of the mechanism at a state, with matplotlib: ``pip install matplotlib``.

    Lines connect each point with the nearest point that it is located from, except bodies that move freely.  Red dots
    are mass centres, with the axes of their bodies (x red, y green, z blue).  White dots are joint points.  The
    triangle is the model's origin.  Forces are arrows where they act, torques arrows or circular ones at the mass
    centres; the longest has a quarter of the picture's size.

    Parameters
    ----------
    x : array_like, (n_x,) or (N, n_x), or mapping
        The state [q, u]; of several states all except the last are pale, and loads and names belong to the last.
    t : float, or array_like (N,)
    r, p : optional
        Inputs and parameters, as for any kernel; default: the current values.
    ax : matplotlib Axes, optional
        Axes to draw in, flat or in space as the picture; default: a new figure.
    labels, loads : bool
        Whether to write the names of bodies, points and joints, and to draw forces and torques.  A name that would
        overlap others is left out.
    view : str or (elevation, azimuth) or (elevation, azimuth, up), optional
        The axes to the right and up, such as ``"xz"`` or ``"y-x"``; or angles in degrees, and the upward axis if it is
        not z, such as ``"-y"``.  Default: the coordinate plane in which all points move and all bodies turn at states
        near x; without such a plane an oblique view.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ModelError
        The model has no points; a shape's size has no value; a quaternion in x has not norm 1.
    ImportError
        matplotlib is not installed.
    ValueError
        x is of another shape or not finite; no such view; ``ax`` is flat and the picture is not, or the reverse.

    Examples
    --------
    ``dyn.draw(x).savefig("four_bar.png")``; ``dyn.draw(sol([0.0, 0.2, 0.4]))`` shows a motion.
    """
    from kanecore.show.drawings import draw as draw_scene
    from kanecore.show.viewpoints import around

    states = np.atleast_2d(np.asarray(dyn.names.as_state(x), dtype=np.float64))
    if states.ndim != 2 or states.shape[1] != dyn.n_x or not len(states):
        raise ValueError(f"x has shape {states.shape}, expected ({dyn.n_x},) or (N, {dyn.n_x})")
    times = np.asarray(t, dtype=np.float64)
    if times.shape not in ((), (len(states),)):
        raise ValueError(f"t has shape {times.shape}, expected () or ({len(states)},), a time for each state")
    times = np.broadcast_to(times, len(states))
    if not (np.isfinite(states).all() and np.isfinite(times).all()):
        raise ValueError("t and x must be finite")

    def scene_at(t: Array, x: Array) -> Scene:
        return scene_of(dyn, t, x, _of_last(r), _of_last(p), loads=False)

    scene = scene_of(dyn, times, states, r, p, loads=loads)
    return draw_scene(
        scene, around(scene_at, times[-1], states[-1], dyn.unit), ax=ax, labels=labels, loads=loads, view=view
    )


def scene_of(dyn: Evaluator, t: npt.ArrayLike, x: npt.ArrayLike, r: Any, p: Any, *, loads: bool) -> Scene:
    """Scene of a compiled model at states (..., n_x)."""
    from kanecore.show.scene import Names, scene

    def number(name: str) -> float:
        last = _of_last(p)
        if isinstance(last, Mapping):
            given = {str(key): value for key, value in last.items()}
            return float(given[name]) if name in given else dyn.names.value("parameter", name)
        return dyn.names.value("parameter", name) if last is None else float(last[dyn.parameter_names.index(name)])

    kernels: dict[str, Callable[..., Any]] = {
        "positions": dyn.positions,
        "orientations": dyn.orientations,
        "joint_positions": dyn.joint_positions,
        "load_vectors": dyn.kernels.load_vectors,
    }

    def values(kernel: str) -> Array:
        return np.asarray(kernels[kernel](t, x, r=r, p=p))

    names = Names(dyn.name, dyn.points, dyn.bodies, dyn.joints)
    folder: str | None = dyn.libraries.info.get("folder")  # folder of a URDF file with meshes
    return scene(vars(dyn.facts), names, values, number, loads, folder)


def _of_last(values: Any) -> Any:
    """Inputs or parameters of the last state, given for all states together or for each state."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {key: value if np.ndim(value) == 0 else value[-1] for key, value in values.items()}
    array = np.asarray(values)
    return array[-1] if array.ndim > 1 else array


class Recorded(Protocol):
    """Interface of a `kanecore.Trajectory` for pictures."""

    _dyn: Any
    _p: Any
    _inputs: Any
    run: Any
    t: Array
    x: Array

    @property
    def _steps(self) -> Array: ...
    def __call__(self, t: npt.ArrayLike) -> Array: ...
    def _contact_marks(self, t: Array, x: Array, r: Array) -> Any: ...


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

    Of a `ModeRun` contacts are dots at their points, hollow if open, green if they stick or hold, orange if they slide,
    with their forces, the longest a quarter of the picture, and red rings after impacts.  The page also has a band of
    modes over time for each contact.

    Parameters
    ----------
    fps : float
        Frames per second.
    speed : float
        Seconds of the motion per second of the picture; less than 1 is slow motion.
    trace : str or SymPy's object, or a sequence of these
        Points, bodies (their mass centres) or joints with a drawn path.
    labels : bool
        Whether the page names bodies, points and joints.  A name that would overlap others is left out.
    view : str or (elevation, azimuth) or (elevation, azimuth, up), optional
        As for `CompiledModel.draw`.  The mouse turns a motion in space on the page.

    Returns
    -------
    Animation
        It has ``save(path)``.  States come from the interpolants of the steps or, if these were not kept, from the
        nearest of ``t_eval``.

    Raises
    ------
    ModelError
        The model has no points; a shape's size has no value.
    ImportError
        matplotlib, which GIF and MP4 need, is not installed.
    KeyError
        There is no point, body or joint with a name in ``trace``.
    ValueError
        The run has no state; fps or speed is no positive number; the frames are too many; or there is no such view.

    Examples
    --------
    ``sol.animate(trace="tip", speed=0.5).save("arm.html")``
    """
    from kanecore.show.movies import Animation, frame_times
    from kanecore.show.viewpoints import around, chosen

    dyn, p, kept = sol._dyn, sol._p, sol.run.dense is not None
    recorded = sol._steps if kept else sol.t
    if not len(recorded):
        raise ValueError("the run has no state: simulate with dense_output=True, or put times into t_eval")
    times = frame_times(recorded[0], recorded[-1], fps, speed)
    states = sol(times) if kept else _nearest(sol, times)
    inputs = sol._inputs(times, states)

    def scene_at(t: Array, x: Array) -> Scene:
        return scene_of(dyn, t, x, inputs[:1], p, loads=False)

    nearby = around(scene_at, times[0], states[0], dyn.unit)
    scene = scene_of(dyn, times, states, inputs, p, loads=False)
    seen, several = chosen(view, nearby, scene), isinstance(trace, Iterable) and not isinstance(trace, str)
    places = tuple(map(nearby.place, trace if several else [trace]))
    marks = sol._contact_marks(times, states, inputs)
    return Animation(scene, times, fps, seen, places, labels, marks)


def _nearest(sol: Recorded, times: Array) -> Array:
    """States at the recorded times nearest to given times, for a run that did not keep its steps."""
    sign = 1.0 if sol.t[-1] >= sol.t[0] else -1.0
    between = (sol.t[1:] + sol.t[:-1]) / 2.0
    return sol.x[np.searchsorted(sign * between, sign * times)]
