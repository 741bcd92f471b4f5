# SPDX-License-Identifier: BSD-3-Clause
"""Five-bar linkage in the redundant speeds of its bodies: of its six coordinates the tool's are independent.

Source: `five_bar`, whose mechanism, numbers and inputs it has; the formulation is that of the lecture notes of `rrp`,
for parallel mechanisms.  q# are the tool's coordinates x and y, q° the angles q1 ... q4 of the joints; p are all
components of the angular velocities and of the velocities of the mass centres of the four rods, in their own axes, p#
those of the driven rods, wz1 and wz3.  φ has two rows for the tool and two that close the loop.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import five_bar
from ._dimensions import LENGTH, RATE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.describe.from_transforms.homogeneous_transforms import Link
    from kanecore.model import Model

PARAMETERS = five_bar.PARAMETERS

SPEEDS = {f"{kind}{a}{i}": kind for i in range(1, 5) for kind in "wv" for a in "xyz"}

STATE = {
    "x": 0.160837310645445,
    "y": 0.6927888726859641,
    **{name: five_bar.STATE[name] for name in ("q1", "q2", "q3", "q4")},
    **dict.fromkeys(SPEEDS, 0.0),
}

DIMENSIONS = (
    {name: five_bar.DIMENSIONS[name] for name in (*PARAMETERS, "q1", "q2", "q3", "q4", "tau1", "tau3")}
    | of("x y", LENGTH)
    | {name: RATE if kind == "w" else VELOCITY for name, kind in SPEEDS.items()}
)


def links() -> list[Link]:
    """Rods 1 and 2 from the origin, rods 3 and 4 from (d, 0); the axes of a rod are at its far end."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.describe.from_transforms.homogeneous_transforms import Link, dh

    result = []
    for i, q in enumerate(me.dynamicsymbols("q1:5"), 1):
        length, mass = sm.symbols(f"L{i} m{i}")
        moment = mass * length**2 / 12
        transform = dh(length, 0, 0, q)
        if i == 3:
            transform = dh(sm.Symbol("d"), 0, 0, 0) * transform
        parent = "ground" if i in (1, 3) else None
        result.append(Link(f"rod{i}", transform, parent, mass, (-length / 2, 0, 0), (0, 0, moment)))
    return result


def build() -> Model:
    """The robot with the torques tau1 and tau3 at its two driven rods as inputs."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.describe.from_transforms.homogeneous_transforms import link_pose
    from kanecore.model import Model

    x, y = me.dynamicsymbols("x y")
    q = me.dynamicsymbols("q1:5")
    torques = me.dynamicsymbols("tau1 tau3")
    rods = links()
    gap = link_pose(rods, "rod2")[:2, 3] - link_pose(rods, "rod4")[:2, 3]
    return Model.from_transforms(
        rods,
        gravity=(0, -sm.Symbol("g"), 0),
        q=q,
        q_dependent=q,
        speeds="bodies",
        u="wz1 wz3",
        places=[("rod2", (x, y, None), (0, 0, 0))],
        configuration_constraints={"loop_x": gap[0], "loop_y": gap[1]},
        efforts={q[0]: torques[0], q[2]: torques[1]},
        inputs=torques,
        name="five_bar_bodies",
    )
