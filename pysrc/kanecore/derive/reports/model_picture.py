# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a description, without compiling it: its kernels are evaluated on the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.derive.derivation import Derivation
from kanecore.derive.model_facts import places, sizes_of
from kanecore.describe.description import Description
from kanecore.describe.from_sympy.symbols import function_name
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.evaluation import evaluate
from kanecore.graph.expression_graph import Op
from kanecore.kernels import KERNELS

from .described_model import Described

if TYPE_CHECKING:
    from kanecore.show.scene import Scene

__all__ = ["draw"]

Array = npt.NDArray[np.float64]
ROWS = {kernel.name: kernel for kernel in KERNELS}


def draw(model: Described, x: Any, parameters: Any, t: float, r: Any, *, loads: bool, **options: Any) -> Any:
    """See :meth:`kanecore.Model.draw`."""
    from kanecore.show.drawings import draw as draw_scene
    from kanecore.show.viewpoints import around

    d = model.description
    state = _values(x, _rest(d), d.x_names, "x", "coordinate or speed")
    numbers = _values(parameters, np.ones(len(d.parameters)), d.parameter_names, "parameters", "parameter")
    inputs = _values(r, np.zeros(len(d.inputs)), d.input_names, "r", "input")

    def scene_at(times: Array, states: Array, loads: bool = False) -> Scene:
        return _scene(model.derivation, (times, states, numbers, inputs), loads, model.reading.folder)

    if not np.isfinite(float(t)):
        raise ValueError(f"t is {t}: it must be finite")
    scene = scene_at(np.array([t], dtype=np.float64), state[np.newaxis], loads)
    return draw_scene(scene, around(scene_at, float(t), state, d.unit), loads=loads, **options)


def _rest(d: Description) -> Array:
    """State for a picture: the model's guess, or else zero, with identity quaternions."""
    state = np.zeros(d.n_x)
    for e0, *_ in d.unit:
        state[e0] = 1.0
    for place, value in d.guess:
        state[place] = value
    return state


def _values(settings: Any, default: Array, names: Sequence[str], argument: str, kind: str) -> Array:
    """The default array with the user's values, an array or numbers by name or symbol."""
    if settings is None:
        return default
    if not isinstance(settings, Mapping):
        values = np.array(settings, dtype=np.float64)
        if values.shape != default.shape:
            raise ValueError(f"{argument} has shape {values.shape}, expected {default.shape}")
    else:
        values = default.copy()
        for key, value in settings.items():
            name = function_name(key) if getattr(key, "is_Function", False) else str(key)
            if name not in names:
                raise unknown_name(f"{kind} of the model is called", name, names)
            try:
                values[names.index(name)] = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{argument}[{name!r}] is {value!r}: it must be a number") from None
    if not np.isfinite(values).all():
        raise ValueError(f"{argument} must be finite")
    return values


def _scene(derivation: Derivation, at: tuple[Array, Array, Array, Array], loads: bool, folder: str | None) -> Scene:
    """The scene at times and states, with parameters and inputs."""
    from kanecore.show.scene import Names, scene

    times, states, parameters, inputs = at
    d, g, sizes = derivation.description, derivation.graph, sizes_of(derivation)
    nodes = (d.time, *d.x, *d.parameters, *d.inputs)
    keys = [g.nodes[i][1] if g.nodes[i][0] is Op.SYM else None for i in nodes]
    rows = [
        dict(zip(keys, (time, *state, *parameters, *inputs), strict=True))
        for time, state in zip(times, states, strict=True)
    ]

    def values(kernel: str) -> Array:
        roots = derivation.kernel(kernel).roots
        try:
            results = [evaluate(g, roots, row) for row in rows]
        except (ArithmeticError, ValueError) as error:
            raise ModelError(
                f"{d.name!r} has no {kernel.replace('_', ' ')} at this state ({error}): give others in x and parameters"
            ) from None
        return np.array(results, dtype=np.float64).reshape(len(rows), *ROWS[kernel].lengths(sizes))

    names = Names(
        d.name, [d.points[i].name for i in d.shown_points], [b.name for b in d.bodies], [j.name for j in d.joints]
    )
    number = dict(zip(d.parameter_names, parameters, strict=True)).__getitem__
    return scene(places(derivation), names, values, number, loads, folder)
