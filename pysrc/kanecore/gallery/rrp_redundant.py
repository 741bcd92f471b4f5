# SPDX-License-Identifier: BSD-3-Clause
"""RRP robot in redundant coordinates and speeds: 12 coordinates with 9 rows φ, 18 speeds with 15 rows Λ.

Source: lecture notes on dynamics of multibody systems with redundant coordinates, examples 1, 3 and 5.  q# = (theta1,
theta2, d3) and q° the coordinates of the three mass centres; p# = (wz1, wx2, vy3) and p° the other components of
the angular velocities and of the velocities of the mass centres, in the axes of the bodies, in the order of the source.
The mechanism, its numbers and its inputs are those of `rrp`.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import rrp
from ._dimensions import LENGTH, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.describe.from_transforms.homogeneous_transforms import Link
    from kanecore.model import Model

SPEEDS = "wz1 wx2 vy3 wx1 wy1 wy2 wz2 wx3 wy3 wz3 vx1 vy1 vz1 vx2 vy2 vz2 vx3 vz3"
PARAMETERS = rrp.PARAMETERS

STATE = {
    "theta1": 0.0,
    "theta2": 0.0,
    "d3": 0.3,
    "x1": 0.0,
    "y1": 0.0,
    "z1": 0.45,
    "x2": 0.0,
    "y2": 0.3,
    "z2": 0.7,
    "x3": 0.0,
    "y3": 0.65,
    "z3": 0.7,
    **dict.fromkeys(SPEEDS.split(), 0.0),
}

DIMENSIONS = (
    {name: rrp.DIMENSIONS[name] for name in (*PARAMETERS, "theta1", "theta2", "d3", "tau1", "tau2", "f3")}
    | of("x1 y1 z1 x2 y2 z2 x3 y3 z3", LENGTH)
    | {name: RATE if name[0] == "w" else VELOCITY for name in SPEEDS.split()}
)


def links() -> list[Link]:
    """Column, arm and bar, by the transforms of the source; the bar slides in axes of its own."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.describe.from_transforms.homogeneous_transforms import Link, dh

    theta1, theta2, d3 = me.dynamicsymbols("theta1 theta2 d3")
    h, l1, l2, l3, l1g, l2g, l3g = sm.symbols("h l1 l2 l3 l1g l2g l3g")
    onto_arm = sm.eye(4)
    onto_arm[1, 3] = l2
    m1, m2, m3 = sm.symbols("m1:4")
    return [
        Link("column", dh(0, 0, h, theta1), mass=m1, centre=(0, 0, l1g), inertia=_moments(1)),
        Link("arm", dh(0, 0, l1, 0) * dh(0, theta2, 0, 0), mass=m2, centre=(0, l2g, 0), inertia=_moments(2)),
        Link("bar", onto_arm, mass=m3, centre=(0, d3 - l3 + l3g, 0), inertia=_moments(3)),
    ]


def _moments(i: int) -> tuple[Any, ...]:
    import sympy as sm

    return tuple(sm.symbols(f"I{i}x I{i}y I{i}z"))


def build() -> Model:
    """The robot with the efforts tau1, tau2, f3 of its joints as inputs; M is diagonal."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q = me.dynamicsymbols("theta1 theta2 d3")
    efforts = me.dynamicsymbols("tau1 tau2 f3")
    return Model.from_transforms(
        links(),
        gravity=(0, 0, -sm.Symbol("g")),
        q=q,
        speeds="bodies",
        u=SPEEDS,
        places="centres",
        efforts=dict(zip(q, efforts, strict=True)),
        inputs=efforts,
        name="rrp_redundant",
    )
