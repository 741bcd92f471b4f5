# SPDX-License-Identifier: BSD-3-Clause
"""LBR iiwa 14 R820, an arm with seven joints, of KUKA.

Source: MuJoCo Menagerie, kuka_iiwa_14/iiwa14.xml of commit 28ffb48, after the URDF file of Drake: joint places,
masses, mass centres and principal inertias in the links' axes.  Licence of the data: BSD-3-Clause, © 2012-2022 Robot
Locomotion Group @ CSAIL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import Link, dimensions, parameters, tree
from ._dimensions import LENGTH, of

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = (
    Link((0, 0, 0.1575), "x y z", "z", 5.76, (0, -0.03, 0.12), (0.0333, 0.033, 0.0123, 0, 0, 0)),
    Link((0, 0, 0.2025), "-x z y", "z", 6.35, (0.0003, 0.059, 0.042), (0.0305, 0.0304, 0.011, 0, 0, 0)),
    Link((0, 0.2045, 0), "-x z y", "z", 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076, 0, 0, 0)),
    Link((0, 0, 0.2155), "x z -y", "z", 3.5, (0, 0.067, 0.034), (0.017, 0.0164, 0.006, 0, 0, 0)),
    Link((0, 0.1845, 0), "-x z y", "z", 3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449, 0, 0, 0)),
    Link((0, 0, 0.2155), "x z -y", "z", 1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036, 0, 0, 0)),
    Link((0, 0.081, 0), "-x z y", "z", 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001, 0, 0, 0)),
)
PARAMETERS = parameters(LINKS) | {"flange": 0.045}

DIMENSIONS = dimensions(LINKS) | of("flange", LENGTH)


def build() -> Model:
    """The arm with joint rates as speeds and joint torques as inputs; outputs: where the middle of the flange is."""
    import sympy as sm

    from kanecore.model import Model

    arm = tree(LINKS)
    return Model(
        arm.frame,
        arm.q,
        arm.u,
        arm.kd_eqs,
        bodies=arm.bodies,
        forcelist=arm.loads,
        inputs=arm.torques,
        joints=arm.joints,
        outputs=arm.place(sm.Symbol("flange") * arm.frames[-1].z),
        name="iiwa14",
    )
