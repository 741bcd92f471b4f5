# SPDX-License-Identifier: BSD-3-Clause
"""Given impulses: generalized impulses I_r = Σ v_r·∫R dt + Σ ω_r·∫T dt of the speeds.

Forces act in so short a time that the configuration, and with it the partial velocities, stay constant
(Kane & Levinson, *Dynamics: Theory and Applications*, 1985, chapter 7, on generalized impulse and momentum).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from kanecore.constraints.constraint_state import ConstraintState
from kanecore.errors import unknown_name
from kanecore.run.points_and_frames import inertial_or_number, number_of

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["generalized_impulses"]

Array = npt.NDArray[np.float64]
Kind = Literal["point", "frame", "speed"]


def generalized_impulses(state: ConstraintState, impulses: Mapping[Any, Any] | None) -> Array:
    """Generalized impulses I at a state, (n_u,); zeros without given impulses.

    Parameters
    ----------
    impulses : mapping
        Impulses ∫R dt by point, angular impulses ∫T dt by frame, and generalized impulses by speed.
    """
    dyn, total = state.dyn, np.zeros(state.dyn.n_u)
    if impulses is None:
        return total
    if not isinstance(impulses, Mapping):
        raise TypeError(
            f"impulses is {impulses!r}; it must be a mapping, such as {{point: (x, y, z)}} in N s along inertial axes"
        )
    for key, value in impulses.items():
        kind = _kind(dyn, key)
        if kind == "speed":
            total[dyn.names.index("speed", key)] += _number(key, value)
            continue
        kernel = dyn.partial_velocities if kind == "point" else dyn.partial_angular_velocities
        partials = np.asarray(kernel(state.t, state.x, **state.values))[number_of(dyn, kind, key)]
        total += partials @ _inertial(state, key, value)
    return total


def _kind(dyn: Evaluator, key: Any) -> Kind:
    """The kind of a key: a point, a frame, or a speed."""
    if not isinstance(key, str):
        kinds: dict[str, Kind] = {"locatenew": "point", "orient_axis": "frame"}  # SymPy's objects, without SymPy
        return next((kind for method, kind in kinds.items() if hasattr(key, method)), "speed")
    named: dict[Kind, tuple[str, ...]] = {"point": dyn.points, "frame": dyn.frames, "speed": dyn.speed_names}
    found = [kind for kind, names in named.items() if key in names]
    if not found:
        what = f"point, frame or speed of {dyn.name!r} is called"
        raise unknown_name(what, key, [name for names in named.values() for name in names])
    if len(found) > 1:
        all_of_them = " and a ".join(found)
        raise KeyError(f"{key!r} is a {all_of_them} of {dyn.name!r}: give SymPy's object in place of the name")
    return found[0]


def _number(key: Any, value: Any) -> float:
    number = np.asarray(value)
    if number.dtype.kind not in "fiub" or number.shape:
        raise TypeError(f"the generalized impulse of the speed {key} is {value!r}; it must be a number")
    return float(_finite(key, number))


def _inertial(state: ConstraintState, key: Any, value: Any) -> Array:
    """Components of an impulse in inertial axes, from numbers or from a vector of SymPy."""
    name = getattr(key, "name", key)
    if not hasattr(value, "args"):
        vector = np.asarray(value)
        if vector.dtype.kind not in "fiub":
            raise TypeError(f"the impulse of {name} is {value!r}; it must be 3 numbers, or a Vector of SymPy")
        if vector.shape != (3,):
            raise ValueError(f"the impulse of {name} has shape {vector.shape}; it must be (3,), in inertial axes")
        return _finite(name, vector.astype(np.float64))
    total = np.zeros(3)
    for measure, frame in value.args:
        try:
            components = np.array([float(x) for x in measure])
        except TypeError:
            raise TypeError(
                f"the impulse of {name}, {value}, has symbols: substitute numbers, value.subs({{symbol: number}})"
            ) from None
        place = inertial_or_number(state.dyn, frame)
        if place is None:
            total += components
        else:
            total += np.asarray(state.dyn.orientations(state.t, state.x, **state.values))[place] @ components
    return _finite(name, total)


def _finite(name: Any, values: Array) -> Array:
    if not np.isfinite(values).all():
        raise ValueError(f"the impulse of {name} is not finite")
    return values
