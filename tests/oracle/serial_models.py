# SPDX-License-Identifier: BSD-3-Clause
"""Arms and trees of arms from a neutral description, as a SymPy user would write them down."""

from collections.abc import Sequence
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

TENSOR = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("yz", 1, 2), ("zx", 2, 0))


def arm(description: dict[str, Any]) -> dict[str, Any]:
    """``frame, q, u, kdes, bodies, loads, inputs, parameters`` of a tree of bodies in joint rates.

    ``description`` has ``gravity`` (3 components) and ``bodies``; a body has its ``parent`` (number, or -1), its
    ``mass``, mass centre ``com`` and central inertia ``inertia_com`` (3 × 3) in its own axes, and a ``joint``: origin
    ``xyz`` and rotation ``R`` of the joint's axes in the parent's, ``axis`` in the joint's, ``type`` revolute or
    prismatic.  Masses, mass centres, inertias, offsets and g are symbols, with values in ``parameters``; joint forces
    tau1, tau2, ... are inputs and act on the parents as well.
    """
    parameters: dict[sm.Symbol, float] = {}

    def number(name: str, value: float) -> sm.Symbol:
        symbol = sm.Symbol(name)
        parameters[symbol] = float(value)
        return symbol

    def vector(name: str, values: Sequence[float], frame: me.ReferenceFrame) -> me.Vector:
        return sum((number(name + k, v) * e for k, v, e in zip("xyz", values, frame, strict=True)), me.Vector(0))

    n = len(description["bodies"])
    q, u, tau = (me.dynamicsymbols(f"{name}1:{n + 1}") for name in ("q", "u", "tau"))
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    links = {-1: (ground, origin)}
    bodies, loads = [], []
    strength = sum(g * g for g in description["gravity"]) ** 0.5
    down = plain_vector([g / strength for g in description["gravity"]], ground)
    gravity = number("g", strength)

    for i, body in enumerate(description["bodies"]):
        k, joint = i + 1, body["joint"]
        parent, start = links[body["parent"]]
        seat, frame = me.ReferenceFrame(f"J{k}"), me.ReferenceFrame(f"B{k}")
        seat.orient_explicit(parent, sm.Matrix(3, 3, [plain(x) for row in joint["R"] for x in row]))
        axis = plain_vector(joint["axis"], seat)
        point = start.locatenew(f"P{k}", vector(f"d{k}", joint["xyz"], parent))
        if joint["type"] == "revolute":
            frame.orient_axis(seat, axis, q[i])
            loads += [(frame, tau[i] * axis), (parent, -tau[i] * axis)]
        else:
            frame.orient_explicit(seat, sm.eye(3))
            seat_point, point = point, point.locatenew(f"Q{k}", q[i] * axis)
            loads += [(point, tau[i] * axis), (seat_point, -tau[i] * axis)]
        centre = point.locatenew(f"C{k}", vector(f"c{k}", body["com"], frame))
        mass = number(f"m{k}", body["mass"])
        inertia = me.inertia(frame, *(number(f"I{k}{name}", body["inertia_com"][a][b]) for name, a, b in TENSOR))
        bodies.append(me.RigidBody(f"body{k}", centre, frame, mass, (inertia, centre)))
        loads.append((centre, mass * gravity * down))
        links[i] = frame, point
    return {
        "frame": ground,
        "q": list(q),
        "u": list(u),
        "kdes": [coordinate.diff() - speed for coordinate, speed in zip(q, u, strict=True)],
        "bodies": bodies,
        "loads": loads,
        "inputs": list(tau),
        "parameters": parameters,
    }


def plain(x: float) -> sm.Expr:
    """A whole number where it is one."""
    return sm.Integer(round(x)) if x == round(x) else sm.Float(x, 17)


def plain_vector(components: Sequence[float], frame: me.ReferenceFrame) -> me.Vector:
    return sum((plain(x) * e for x, e in zip(components, frame, strict=True)), me.Vector(0))
