# SPDX-License-Identifier: BSD-3-Clause
"""The SymPy objects that the gallery hands to ``kanecore.Model``, for SymPy's KanesMethod to derive as well."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from unittest import mock

import sympy as sm
import sympy.physics.mechanics as me

INPUTS = {
    "arm7": [f"tau{i}" for i in range(1, 8)],
    "cart_pendulum": ["F"],
    "rotating_tube": ["T12", "T13", "T22", "T23"],  # KanesMethod has them in no equation
    "rrp": ["tau1", "tau2", "f3"],
}
PRESCRIBED = {"rotating_tube": ["theta"]}


def gallery_system(name: str) -> dict[str, Any]:
    """``frame, q, u, kdes, bodies, loads, inputs, prescribed, parameters`` of a gallery model, newly built."""
    module = import_module(f"kanecore.gallery.{name}")

    def record(frame: Any, q: Any, u: Any, kdes: Any, *, bodies: Any, forcelist: Any, **_: Any) -> dict[str, Any]:
        return {"frame": frame, "q": list(q), "u": list(u), "kdes": kdes, "bodies": bodies, "loads": forcelist}

    with mock.patch.object(module, "Model", record):
        system = module.build()
    return system | {
        "inputs": [me.dynamicsymbols(x) for x in INPUTS.get(name, ())],
        "prescribed": [me.dynamicsymbols(x) for x in PRESCRIBED.get(name, ())],
        "parameters": {sm.Symbol(symbol): value for symbol, value in module.PARAMETERS.items()},
    }
