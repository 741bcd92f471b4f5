# SPDX-License-Identifier: BSD-3-Clause
"""UR5e, an arm with six joints, of Universal Robots.

Source: MuJoCo Menagerie, universal_robots_ur5e/ur5e.xml of commit 1b428b0, after the manufacturer's URDF files: joint
places rounded to millimetres, central principal inertias, the last ones turned to the link's axes here.  Without the
inertia of the motors' rotors, which Menagerie puts at the joints.  Licence of the data: BSD-3-Clause, © 2018 ROS
Industrial Consortium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import Link, dimensions, parameters, tree
from ._dimensions import LENGTH, of

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = (
    Link((0, 0, 0.163), "y -x z", "z", 3.7, (0, 0, 0), (0.0102675, 0.0102675, 0.00666, 0, 0, 0)),
    Link((0, 0.138, 0), "-z y x", "y", 8.393, (0, 0, 0.2125), (0.133886, 0.133886, 0.0151074, 0, 0, 0)),
    Link((0, -0.131, 0.425), "x y z", "y", 2.275, (0, 0, 0.196), (0.0311796, 0.0311796, 0.004095, 0, 0, 0)),
    Link((0, 0, 0.392), "-z y x", "y", 1.219, (0, 0.127, 0), (0.0025599, 0.0025599, 0.0021942, 0, 0, 0)),
    Link((0, 0.127, 0), "x y z", "z", 1.219, (0, 0, 0.1), (0.0025599, 0.0025599, 0.0021942, 0, 0, 0)),
    Link((0, 0, 0.1), "x y z", "y", 0.1889, (0, 0.0771683, 0), (9.90863e-5, 0.000132134, 9.90863e-5, 0, 0, 0)),
)
PARAMETERS = parameters(LINKS) | {"flange": 0.1}

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
        outputs=arm.place(sm.Symbol("flange") * arm.frames[-1].y),
        name="ur5e",
    )
