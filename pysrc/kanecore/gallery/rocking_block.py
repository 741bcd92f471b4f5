# SPDX-License-Identifier: BSD-3-Clause
"""A block that rocks on a shaking table, from corner to corner.

Source: G. W. Housner, *The Behavior of Inverted Pendulum Structures during Earthquakes*, Bull. Seism. Soc. Am. 53
(1963).  The block is 2 b wide and 2 h high; its mass centre is at x, y, and it leans by θ to the left.  The table is
moved along x by s, which is given.  Each impact leaves 1 − (3/2) sin²α of the rate of the block, with tan α = b/h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dimensions import ACCELERATION, ANGLE, LENGTH, MASS, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {"m": 120.0, "b": 0.25, "h": 0.9, "g": 9.81}

DIMENSIONS = (
    of("m", MASS)
    | of("b h x y s", LENGTH)
    | of("g s_dd", ACCELERATION)
    | of("theta", ANGLE)
    | of("v_x v_y s_d", VELOCITY)
    | of("omega", RATE)
)

CONTACTS: dict[str, Any] = {"contacts": ["left", "right"], "origin": "table", "mu": 0.8}
"""Arguments of `kc.Modes`: the lower corners may touch the table."""


def build() -> Model:
    """The block with its weight, above the table."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model
    from kanecore.shapes import Box

    x, y, theta, v_x, v_y, omega, s = me.dynamicsymbols("x y theta v_x v_y omega s")
    m, b, h, g = sm.symbols("m b h g")

    ground, axes = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    axes.orient_axis(ground, ground.z, theta)
    axes.set_ang_vel(ground, omega * ground.z)
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    table = origin.locatenew("table", s * ground.x)
    centre = origin.locatenew("C", x * ground.x + y * ground.y)
    centre.set_vel(ground, v_x * ground.x + v_y * ground.y)
    inertia = me.inertia(axes, 0, 0, m * (b**2 + h**2) / 3)
    return Model(
        ground,
        [x, y, theta],
        [v_x, v_y, omega],
        [x.diff() - v_x, y.diff() - v_y, theta.diff() - omega],
        bodies=[me.RigidBody("block", centre, axes, m, (inertia, centre))],
        forcelist=[(centre, -m * g * ground.y)],
        points=[
            table,
            centre.locatenew("left", -b * axes.x - h * axes.y),
            centre.locatenew("right", b * axes.x - h * axes.y),
        ],
        shapes={"block": Box(0.5, 1.8, 0.5)},
        name="rocking_block",
    )
