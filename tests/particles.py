# SPDX-License-Identifier: BSD-3-Clause
"""The smallest mechanisms, for tests of what is done with them."""

from __future__ import annotations

from typing import Any

import sympy.physics.mechanics as me

import kanecore as kc

__all__ = ["on_a_line", "plane"]


def plane() -> tuple[Any, Any]:
    """An inertial frame, and a point at rest in it."""
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    return frame, origin


def on_a_line(name: str, force: Any, parameters: dict[Any, float], **options: Any) -> kc.CompiledModel:
    """A particle of 1 kg at q with speed u, and a force of q, u and t on it."""
    q, u = me.dynamicsymbols("q u")
    frame, origin = plane()
    point = origin.locatenew("P", q * frame.x)
    point.set_vel(frame, u * frame.x)
    bodies, loads = [me.Particle("P", point, 1)], [(point, force(q, u) * frame.x)]
    model = kc.Model(frame, [q], [u], [q.diff() - u], bodies=bodies, forcelist=loads, name=name, **options)
    return kc.compile(model, parameters=parameters)
