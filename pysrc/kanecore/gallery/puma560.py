# SPDX-License-Identifier: BSD-3-Clause
"""PUMA 560, an arm with six joints, of Unimation.

Source: P. Corke & B. Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560
robot", ICRA 1994, as in the Robotics Toolbox (Puma560.py), without the inertia of the rotors and without friction.  The
published numbers belong to Denavit and Hartenberg's frames, after the fixed twist and offset of each link; here the
axes of a body are those of the joint that carries it, so that components change places, and mass centres are counted
from that joint.  Link 1 has no mass, since nothing but its inertia about its axis is known, and the inertia of link 3
violates the triangle inequality, 0.066 + 0.0125 < 0.086: no solid body has such inertias, and they are kept as they
were published.  Licence of the data: MIT, © 2020 Peter Corke and Jesse Haviland.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import Link, dimensions, parameters, tree

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = (
    Link((0, 0, 0), "x y z", "z", 0, (0, 0, 0), (0, 0, 0.35, 0, 0, 0)),
    Link((0, 0, 0.672), "x z -y", "z", 17.4, (0.068, 0.006, 0.2275), (0.13, 0.524, 0.539, 0, 0, 0)),
    Link((0.4318, 0, 0), "x y z", "z", 4.8, (0, 0.07, 0.16415), (0.066, 0.0125, 0.086, 0, 0, 0)),
    Link((0.0203, 0, 0.15005), "x -z y", "z", 0.82, (0, 0, 0.4508), (1.8e-3, 1.8e-3, 1.3e-3, 0, 0, 0)),
    Link((0, 0, 0.4318), "x z -y", "z", 0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3, 0, 0, 0)),
    Link((0, 0, 0), "x -z y", "z", 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3, 0, 0, 0)),
)
PARAMETERS = parameters(LINKS)

DIMENSIONS = dimensions(LINKS)


def build() -> Model:
    """The arm with joint rates as speeds and joint torques as inputs; outputs: where the middle of the wrist is."""
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
        outputs=arm.place(),
        name="puma560",
    )
