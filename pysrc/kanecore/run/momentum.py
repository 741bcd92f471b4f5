# SPDX-License-Identifier: BSD-3-Clause
"""Momentum and angular momentum, of the whole system and of each body, about any point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.run.call_arguments import real_array
from kanecore.run.points_and_frames import about_point, bodies_of, require_bodies, same_tree

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["angular_momentum", "linear_momentum", "mass_centre"]

Array = npt.NDArray[np.float64]


@method("Energy and momentum")
def linear_momentum(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, *, by_body: bool = False, r: Any = None, p: Any = None
) -> Array:
    """The momentum Σ m v* of all bodies, in inertial axes (Kane & Levinson 1985, section 3.5).

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    by_body : bool
        Return the momentum of each body, in the order of `bodies`.

    Returns
    -------
    ndarray, (..., 3) or (..., n_bodies, 3)
        In N s.

    Raises
    ------
    ModelError
        There are no bodies, but a Lagrangian.
    """
    require_bodies(dyn)
    each = dyn.body_momenta(t, x, r=r, p=p)[..., :3]
    return np.ascontiguousarray(each) if by_body else np.asarray(each.sum(axis=-2))


@method("Energy and momentum")
def angular_momentum(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    about: Any,
    *,
    by_body: bool = False,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The angular momentum of all bodies about a point Q, in inertial axes,

        H_Q = Σ (r* − r_Q) × m v* + I·ω.

    Velocities are relative to the inertial frame, even if Q moves: dH_Q/dt is the moment of all forces about Q minus
    v_Q × Σ m v*.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    about : str or array_like, (..., 3)
        The name of one of `points`, or coordinates in inertial axes from the model's origin, see `positions`.
    by_body : bool
        Return the angular momentum of each body, in the order of `bodies`.

    Returns
    -------
    ndarray, (..., 3) or (..., n_bodies, 3)
        In N m s.

    Raises
    ------
    KeyError
        There is no such point.
    ModelError
        The points are not all located from the same origin, or there are no bodies, but a Lagrangian.
    """
    places = bodies_of(dyn).points
    if isinstance(about := getattr(about, "name", about), str):
        place = about_point(dyn, about, places)
        positions = dyn.positions(t, x, r=r, p=p)
        origin = positions[..., place, :]
    else:
        origin = real_array(
            "about", about, (..., 3), meaning="coordinates", otherwise="the name of a point", finite=False
        )
        same_tree(dyn, places)
        positions = dyn.positions(t, x, r=r, p=p)
    momenta = dyn.body_momenta(t, x, r=r, p=p)
    arms = positions[..., places, :] - origin[..., np.newaxis, :]
    each = np.cross(arms, momenta[..., :3]) + momenta[..., 3:]
    return np.asarray(each if by_body else each.sum(axis=-2))


def mass_centre(dyn: Evaluator, t: npt.ArrayLike, x: Values, *, r: Any = None, p: Any = None) -> Array:
    """The mass centre of all bodies, (..., 3), in inertial axes from the reference point of positions."""
    places = bodies_of(dyn).points
    same_tree(dyn, places)
    masses = dyn.kernels.masses(t, x, r=r, p=p)[..., :1]
    moments = masses * dyn.positions(t, x, r=r, p=p)[..., places, :]
    return np.asarray(moments.sum(axis=-2) / masses.sum(axis=-2))
