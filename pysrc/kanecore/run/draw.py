# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a compiled model: what its kernels say of a state is handed to `kanecore.show`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kanecore._native import Kernels
    from kanecore.show.scene import Scene

__all__ = ["draw", "scene_of"]


def draw(
    dyn: Kernels,
    x: npt.ArrayLike,
    t: float = 0.0,
    *,
    r: Any = None,
    p: Any = None,
    ax: Any = None,
    labels: bool = True,
    loads: bool = True,
    view: str | tuple[float, float] | None = None,
) -> Any:
    """A picture of the mechanism at a state, with matplotlib: ``pip install kanecore[plot]``.

    Lines lead from each point to the nearest one that it is located from.  Red dots are mass centres, with the axes of
    their bodies (x red, y green, z blue); white dots joint points; the triangle is the origin of positions.  Forces are
    arrows where they act, torques arrows or circular ones at the mass centres; the longest has a quarter of the
    picture's size.

    Parameters
    ----------
    x : array_like, (n_x,)
        The state [q, u].
    t : float
    r, p : optional
        Inputs and parameters, as of any kernel; default: the current ones.
    ax : matplotlib Axes, optional
        Where to draw, flat or in space as the picture is; default: a new figure.
    labels, loads : bool
        Whether to write the names of bodies, points and joints, and to draw forces and torques.  A name that would lie
        over others is left out.
    view : str or (elevation, azimuth), optional
        The axes to the right and up, such as ``"xz"`` or ``"y-x"``, or degrees in space.  Default: the coordinate plane
        that all points keep at states near x, if there is one, in which all bodies turn; else an oblique view.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ModelError
        The model has no points; a shape's size has no value.
    ImportError
        matplotlib is not installed.
    ValueError
        x is not (n_x,) or not finite; no such view; ``ax`` is flat and the picture is not, or the other way round.

    Examples
    --------
    ``kc.load("four_bar").draw(x).savefig("four_bar.png")``
    """
    from kanecore.show.drawings import draw as draw_scene

    state, time = np.asarray(x, dtype=np.float64), float(t)
    if state.shape != (dyn.n_x,):
        raise ValueError(f"x has shape {state.shape}; a picture shows one state, ({dyn.n_x},)")
    if not (np.isfinite(state).all() and np.isfinite(time)):
        raise ValueError("t and x must be finite")

    def scene_at(times: npt.NDArray[np.float64], states: npt.NDArray[np.float64]) -> Scene:
        return scene_of(dyn, times, states, r, p)

    return draw_scene(scene_at, time, state, dyn.unit, ax=ax, labels=labels, loads=loads, view=view)


def scene_of(dyn: Kernels, t: npt.ArrayLike, x: npt.ArrayLike, r: Any, p: Any) -> Scene:
    """What is shown of a compiled model at states (..., n_x)."""
    from kanecore.show.scene import Names, scene

    def number(name: str) -> float:
        if isinstance(p, Mapping):
            given = {str(key): value for key, value in p.items()}
            return float(given[name]) if name in given else dyn._value("parameter", name)
        return dyn._value("parameter", name) if p is None else float(np.asarray(p)[dyn.parameter_names.index(name)])

    def values(kernel: str) -> npt.NDArray[np.float64]:
        return np.asarray(getattr(dyn, f"_{kernel}")(t, x, r=r, p=p))

    names = Names(dyn.name, dyn.points, dyn.bodies, dyn.joints)
    return scene(dyn._table_info, names, values, number)
