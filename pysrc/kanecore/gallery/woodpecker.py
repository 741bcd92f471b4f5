# SPDX-License-Identifier: BSD-3-Clause
"""A toy woodpecker that hacks its way down a pole: the sleeve jams, slides and falls, the beak strikes the pole.

Source: R. I. Leine, Ch. Glocker, D. H. van Campen, *Nonlinear Dynamics of the Woodpecker Toy*, ASME DETC 2001, with the
data of Ch. Glocker, *Dynamik von Starrkörpersystemen mit Reibung und Stößen*, 1995.  The sleeve M moves along the pole
by y and tilts by φ_M in its play; the bird S turns by φ_S on a spring at the side of the sleeve.  As in the source
angles count as small: places are linear in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dimensions import ACCELERATION, ANGLE, INERTIA, LENGTH, MASS, RATE, TORQUE, VELOCITY, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "m_M": 0.0003,
    "J_M": 5e-9,
    "m_S": 0.0045,
    "J_S": 7e-7,
    "c": 0.0056,
    "r_0": 0.0025,
    "r_M": 0.0031,
    "h_M": 0.0058,
    "l_M": 0.010,
    "l_G": 0.015,
    "l_S": 0.0201,
    "h_S": 0.020,
    "g": 9.81,
}

DIMENSIONS = (
    of("m_M m_S", MASS)
    | of("J_M J_S", INERTIA)
    | of("c", TORQUE)
    | of("r_0 r_M h_M l_M l_G l_S h_S y", LENGTH)
    | of("g", ACCELERATION)
    | of("phi_M phi_S", ANGLE)
    | of("v", VELOCITY)
    | of("omega_M omega_S", RATE)
)

CONTACTS: dict[str, Any] = {
    "contacts": {"beak": {"e": 0.5}, "lower": {}, "upper": {}},
    "origin": "pole",
    "normal": (1, 0, 0),
    "along": (0, 1, 0),
    "mu": 0.3,
    "impact": "poisson",
}
"""Arguments of `kc.Modes`: beak, lower and upper edge of the sleeve may touch the pole."""


def build() -> Model:
    """Sleeve and bird with their weights, and the spring between them."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model
    from kanecore.shapes import Box, Cylinder

    y, phi_m, phi_s, v, omega_m, omega_s = me.dynamicsymbols("y phi_M phi_S v omega_M omega_S")
    p = {name: sm.Symbol(name) for name in PARAMETERS}

    ground, sleeve, bird = (me.ReferenceFrame(name) for name in "NMS")
    sleeve.orient_axis(ground, ground.z, phi_m)
    sleeve.set_ang_vel(ground, omega_m * ground.z)
    bird.orient_axis(ground, ground.z, phi_s)
    bird.set_ang_vel(ground, omega_s * ground.z)

    def moved(start: me.Point, name: str, x: Any, height: Any, angle: Any) -> me.Point:
        """A point at (x, height) in axes turned by a small angle."""
        return start.locatenew(name, (x - height * angle) * ground.x + (height + x * angle) * ground.y)

    origin = me.Point("O")
    origin.set_vel(ground, 0)
    middle = origin.locatenew("C_M", y * ground.y)
    hinge = moved(middle, "hinge", p["l_M"], 0, phi_m)
    centre = moved(hinge, "C_S", p["l_G"], 0, phi_s)
    edges = [moved(middle, name, p["r_M"], side * p["h_M"], phi_m) for name, side in (("lower", -1), ("upper", 1))]
    beak = moved(centre, "beak", -p["l_S"], p["h_S"], phi_s)
    pole = origin.locatenew("pole", p["r_0"] * ground.x)

    torque = p["c"] * (phi_s - phi_m) * ground.z
    bodies = [
        me.RigidBody("sleeve", middle, sleeve, p["m_M"], (me.inertia(sleeve, 0, 0, p["J_M"]), middle)),
        me.RigidBody("bird", centre, bird, p["m_S"], (me.inertia(bird, 0, 0, p["J_S"]), centre)),
    ]
    weights = [(body.masscenter, -body.mass * p["g"] * ground.y) for body in bodies]
    return Model(
        ground,
        [y, phi_m, phi_s],
        [v, omega_m, omega_s],
        [y.diff() - v, phi_m.diff() - omega_m, phi_s.diff() - omega_s],
        bodies=bodies,
        forcelist=[*weights, (sleeve, torque), (bird, -torque)],
        points=[hinge, beak, *edges, pole],
        shapes={"sleeve": Box(0.0062, 0.0116, 0.0062), "bird": Cylinder(0.006, 0.024, "y")},
        name="woodpecker",
    )
