# SPDX-License-Identifier: BSD-3-Clause
"""Arm with 7 revolute joints in space, each body with a full inertia tensor.

Source: masses, mass centres, principal moments and joint placement like those of the KUKA LBR iiwa 14 as it circulates
in public URDF files, rounded, the inertia tensors turned a little so that no product of inertia vanishes; its dynamics
was computed independently with Pinocchio 4.1.0 (tests/truth).  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._building_blocks import Link, dimensions, parameters, tree

if TYPE_CHECKING:
    from kanecore.model import Model

LINKS = (
    Link(
        (0, 0, 0.1575),
        "x y z",
        "z",
        5.76,
        (0.002, -0.03, 0.12),
        (0.032717432, 0.033287244, 0.012595324, 8.577e-05, -0.000393638, 0.002423038),
    ),
    Link(
        (0, 0, 0.2025),
        "-x z y",
        "z",
        6.35,
        (0.0003, 0.059, 0.042),
        (0.030403956, 0.029616103, 0.011879941, -0.000291098, -0.003828687, -0.001279791),
    ),
    Link(
        (0, 0.2045, 0),
        "-x z y",
        "z",
        3.5,
        (0.001, 0.03, 0.13),
        (0.024437428, 0.023604284, 0.008358288, -0.000442947, 0.001771232, 0.003026712),
    ),
    Link(
        (0, 0, 0.2155),
        "x z -y",
        "z",
        3.5,
        (0.0012, 0.067, 0.034),
        (0.016993285, 0.015788003, 0.006618712, -6.3153e-05, -0.002446683, -0.000264005),
    ),
    Link(
        (0, 0.1845, 0),
        "-x z y",
        "z",
        3.5,
        (0.0001, 0.021, 0.076),
        (0.009978808, 0.008370503, 0.004840689, 0.000162311, 0.001137227, -0.000261381),
    ),
    Link(
        (0, 0, 0.2155),
        "x z -y",
        "z",
        1.8,
        (0.0015, 0.0006, 0.0004),
        (0.004871682, 0.004697294, 0.003631024, 2.7116e-05, 0.000116768, 0.000156634),
    ),
    Link(
        (0, 0.081, 0),
        "-x z y",
        "z",
        1.2,
        (0.003, 0.002, 0.02),
        (0.001187715, 0.001104854, 0.001007431, 2.0675e-05, 7.307e-06, 3.7093e-05),
    ),
)
PARAMETERS = parameters(LINKS)

DIMENSIONS = dimensions(LINKS)


def build() -> Model:
    """The arm with joint rates as speeds and joint torques tau1 ... tau7 as inputs; every number is a parameter."""
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
        name="arm7",
    )
