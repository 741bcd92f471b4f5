# SPDX-License-Identifier: BSD-3-Clause
"""A satellite that catches another one: a probe sticks where it touches, then a latch closes, and both are one body.

The chaser and the target float in a plane, with mass centres at x, y and angles θ.  The face of the target has the
normal −x in its axes, at the distance a from its mass centre; the probe is at the distance p before the mass centre of
the chaser, the latch as far and c beside it.  Momentum and angular momentum of both together are constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dimensions import ANGLE, INERTIA, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m_1": 300.0, "J_1": 120.0, "m_2": 800.0, "J_2": 500.0, "p": 0.9, "c": 0.45, "a": 0.8}

DIMENSIONS = (
    of("m_1 m_2", MASS)
    | of("J_1 J_2", INERTIA)
    | of("p c a x_1 y_1 x_2 y_2", LENGTH)
    | of("theta_1 theta_2", ANGLE)
    | of("v_x1 v_y1 v_x2 v_y2", VELOCITY)
    | of("omega_1 omega_2", RATE)
)

CONTACTS: dict[str, Any] = {
    "contacts": {
        "probe": {"origin": "port", "frame": "T", "normal": (-1, 0, 0), "along": (0, 1, 0), "holds": True},
        "latch": {"gap": "gap of the latch", "holds": True},
    }
}
"""Arguments of `kc.Modes`: probe and latch hold once they have touched the face."""


def build() -> Model:
    """Both bodies, without loads."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model
    from kanecore.shapes import Box

    names = [f"{letter}{i}" for i in (1, 2) for letter in ("x_", "y_", "theta_")]
    q = me.dynamicsymbols(" ".join(names))
    u = me.dynamicsymbols("v_x1 v_y1 omega_1 v_x2 v_y2 omega_2")
    probe_at, latch_at, face_at = sm.symbols("p c a")

    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    axes, centres, bodies = [], [], []
    for i, (frame, name) in enumerate((("C", "chaser"), ("T", "target"))):
        mass, inertia = sm.symbols(f"m_{i + 1} J_{i + 1}")
        x, y, angle = q[3 * i : 3 * i + 3]
        v_x, v_y, rate = u[3 * i : 3 * i + 3]
        axes.append(me.ReferenceFrame(frame))
        axes[i].orient_axis(ground, ground.z, angle)
        axes[i].set_ang_vel(ground, rate * ground.z)
        centres.append(origin.locatenew(f"G_{i + 1}", x * ground.x + y * ground.y))
        centres[i].set_vel(ground, v_x * ground.x + v_y * ground.y)
        inertias = (me.inertia(axes[i], 0, 0, inertia), centres[i])
        bodies.append(me.RigidBody(name, centres[i], axes[i], mass, inertias))

    probe = centres[0].locatenew("probe", probe_at * axes[0].x)
    latch = centres[0].locatenew("latch", probe_at * axes[0].x + latch_at * axes[0].y)
    port = centres[1].locatenew("port", -face_at * axes[1].x)
    return Model(
        ground,
        q,
        u,
        [a.diff() - b for a, b in zip(q, u, strict=True)],
        bodies=bodies,
        points=[probe, latch, port],
        outputs={"gap of the latch": -latch.pos_from(port).dot(axes[1].x)},
        shapes={"chaser": Box(1.2, 0.9, 0.9), "target": Box(1.6, 1.4, 1.4)},
        name="capture",
    )
