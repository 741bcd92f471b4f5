# SPDX-License-Identifier: BSD-3-Clause
"""The SymPy objects that the gallery hands to ``kanecore.Model``, for the oracles to derive as well."""

from importlib import import_module
from typing import Any
from unittest import mock

import sympy as sm
import sympy.physics.mechanics as me
from sympy.core.function import AppliedUndef

#: Motions given from outside; all else that varies and is no state is a force or a torque.
PRESCRIBED = {"rotating_tube": ["theta"]}
#: Parameters of quaternions, by name.
QUATERNION = ("e0", "e1", "e2", "e3")


def gallery_system(name: str) -> dict[str, Any]:
    """A gallery model, newly built.

    ``frame, origin, q, u, kdes, bodies, loads, inputs, prescribed, parameters, unit``, as in ``random_trees``.
    """
    module = import_module(f"kanecore.gallery.{name}")

    def record(frame: Any, q: Any, u: Any, kdes: Any, *, bodies: Any, forcelist: Any = (), **_: Any) -> dict[str, Any]:
        return {"frame": frame, "q": list(q), "u": list(u), "kdes": kdes, "bodies": bodies, "loads": list(forcelist)}

    with mock.patch("kanecore.model.Model", record):
        system = module.build()
    q, prescribed = system["q"], [me.dynamicsymbols(x) for x in PRESCRIBED.get(name, ())]
    forces = {x for _, vector in system["loads"] for part, _ in vector.args for x in part.atoms(AppliedUndef)}
    quaternion = [k for k, x in enumerate(q) if x.func.__name__ in QUATERNION]
    return system | {
        "origin": point_at_rest(system["bodies"][0].masscenter, system["frame"]),
        "inputs": sorted(forces - {*q, *system["u"], *prescribed}, key=str),
        "prescribed": prescribed,
        "parameters": {sm.Symbol(symbol): value for symbol, value in module.PARAMETERS.items()},
        "unit": [quaternion] if quaternion else [],
    }


def point_at_rest(start: me.Point, frame: me.ReferenceFrame) -> me.Point:
    """The nearest point by position whose velocity was set to zero."""
    points = [start]
    for point in points:  # grows while it is read
        if point._vel_dict.get(frame) == 0:
            return point
        points += [other for other in point._pos_dict if other not in points]
    raise ValueError(f"no point at rest in {frame} is joined to {start}")
