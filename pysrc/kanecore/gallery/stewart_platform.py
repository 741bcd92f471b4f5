# SPDX-License-Identifier: BSD-3-Clause
"""Stewart platform in the redundant speeds of its bodies: 78 speeds, the platform's coordinates as q#.

Source: `stewart`, whose mechanism, numbers and inputs it has; the formulation is that of the lecture notes of `rrp`,
for parallel mechanisms.  q# are the place x, y, z of the plate's mass centre and its angles alpha, theta and psi about
x, y and z in turn, q° the coordinates of the legs; p are all components of the angular velocities and of the velocities
of the mass centres of plate, cylinders and pistons, in their own axes, p# the plate's.  Of 72 constraints 54 are Λ of
the tree and 18 close the loops.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import stewart
from ._dimensions import ANGLE, RATE, VELOCITY, of

if TYPE_CHECKING:
    import sympy as sm

    from kanecore.describe.from_transforms.homogeneous_transforms import Link
    from kanecore.model import Model

PARAMETERS = stewart.PARAMETERS
LEGS = range(1, 7)

SPEEDS = {f"{kind}{a}{i}": kind for i in range(1, 14) for kind in "wv" for a in "xyz"}

STATE = {
    **{name: stewart.STATE[name] for name in ("x", "y", "z")},
    "alpha": 0.11535809275865609,
    "theta": -0.14775461673599702,
    "psi": 0.20788461760737,
    **{name: stewart.STATE[name] for i in LEGS for name in (f"a{i}", f"b{i}", f"d{i}")},
    **dict.fromkeys(SPEEDS, 0.0),
}

DIMENSIONS = (
    {name: stewart.DIMENSIONS[name] for name in (*PARAMETERS, "x", "y", "z")}
    | of("alpha theta psi", ANGLE)
    | {f"{name}{i}": stewart.DIMENSIONS[f"{name}{i}"] for i in LEGS for name in "abdf"}
    | {name: RATE if kind == "w" else VELOCITY for name, kind in SPEEDS.items()}
)


def links() -> list[Link]:
    """The plate, then cylinder and piston of each leg; the axes of a piston are at its ball joint."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.describe.from_transforms.homogeneous_transforms import Link, dh

    x, y, z, alpha, theta, psi = me.dynamicsymbols("x y z alpha theta psi")
    radius, beta = sm.symbols("rb beta")
    mc, lc, jc, jc_axial, mp, lp, jp, jp_axial = sm.symbols("mc lc Jc Jc_axial mp lp Jp Jp_axial")
    plate = _about_y(theta, dh(0, alpha, 0, 0)) * dh(0, 0, 0, psi)
    plate[:3, 3] = sm.Matrix([x, y, z])
    result = [Link("plate", plate, mass=sm.Symbol("m"), inertia=sm.symbols("Ixx Iyy Izz"))]
    for i in LEGS:
        a, b, d = me.dynamicsymbols(f"a{i} b{i} d{i}")
        third, side = _third(i)
        angle = third + side * (sm.pi / 3 - beta)
        on_base = _about_y(b, dh(0, a, 0, 0))
        on_base[:3, 3] = sm.Matrix([radius * cos(angle), radius * sin(angle), 0])
        result += [
            Link(f"cylinder{i}", on_base, "ground", mc, (0, 0, lc), (jc, jc, jc_axial)),
            Link(f"piston{i}", dh(0, 0, d, 0), None, mp, (0, 0, -lp), (jp, jp, jp_axial)),
        ]
    return result


def _third(i: int) -> tuple[sm.Expr, int]:
    """The direction about which the joints of a pair of legs are, and the side of this one."""
    import sympy as sm

    return sm.pi * sm.Rational(2 * ((i - 1) // 2), 3), -1 if i % 2 else 1


def _about_y(angle: sm.Expr, before: sm.Matrix) -> sm.Matrix:
    import sympy as sm
    from sympy import cos, sin

    turn = sm.eye(4)
    turn[0, 0], turn[0, 2], turn[2, 0], turn[2, 2] = cos(angle), sin(angle), -sin(angle), cos(angle)
    return before * turn


def build() -> Model:
    """The platform with the forces f1 ... f6 of its legs as inputs, positive where they push."""
    import sympy as sm
    import sympy.physics.mechanics as me
    from sympy import cos, sin

    from kanecore.describe.from_transforms.homogeneous_transforms import link_pose
    from kanecore.model import Model

    parts = links()
    plate = link_pose(parts, "plate")
    rows: dict[str, sm.Expr] = {}
    for i in LEGS:
        third, side = _third(i)
        angle = third + side * sm.Symbol("gamma")
        ball = plate * sm.Symbol("rp") * sm.Matrix([cos(angle), sin(angle), 0, 0]) + plate[:, 3]
        gap = ball - link_pose(parts, f"piston{i}")[:, 3]
        rows |= {f"ball{i}_{axis}": gap[k] for k, axis in enumerate("xyz")}
    forces = me.dynamicsymbols("f1:7")
    legs = [q for i in LEGS for q in me.dynamicsymbols(f"a{i} b{i} d{i}")]
    return Model.from_transforms(
        parts,
        gravity=(0, 0, -sm.Symbol("g")),
        q_dependent=legs,
        speeds="bodies",
        u="wx1 wy1 wz1 vx1 vy1 vz1",
        configuration_constraints=rows,
        efforts=dict(zip(legs[2::3], forces, strict=True)),
        inputs=forces,
        name="stewart_platform",
    )
