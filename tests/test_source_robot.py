# SPDX-License-Identifier: BSD-3-Clause
"""The results of the notes "Dinâmica" on mechanisms in redundant coordinates and speeds: expressions of the RRP robot.

Each test names its example.  Where the notes have a misprint, the test says which and holds the right result.  The same
robot as a model in redundant coordinates and speeds, and its motion, are in test_redundant.py.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from source_expressions import agree, by_frame, by_point, inertial, t

import kanecore as kc
from kanecore.gallery import rrp
from kanecore.transforms import Link, angular_velocity_matrix

pytestmark = pytest.mark.long  # what Kane's method gives is claimed by test_truth.py and the random mechanisms

theta1, theta2, d3 = Q = me.dynamicsymbols("theta1 theta2 d3")
omega1, omega2, v3 = U = me.dynamicsymbols("omega1 omega2 v3")
h, l1, l2, l3, l1g, l2g, l3g = sm.symbols("h l1 l2 l3 l1g l2g l3g")
s1, c1, s2, c2 = sm.sin(theta1), sm.cos(theta1), sm.sin(theta2), sm.cos(theta2)
REACH = l2 - l3 + l3g + d3
RATES = dict(zip(U, [x.diff() for x in Q], strict=True))

#: Example 3, as printed: [H]_{B1/can}, [H]_{B2/B1}, [H]_{B3/B2}, and the mass centres in the axes of their bodies.
H1 = sm.Matrix([[c1, -s1, 0, 0], [s1, c1, 0, 0], [0, 0, 1, h], [0, 0, 0, 1]])
H21 = sm.Matrix([[1, 0, 0, 0], [0, c2, -s2, 0], [0, s2, c2, l1], [0, 0, 0, 1]])
H32 = sm.Matrix([[1, 0, 0, 0], [0, 1, 0, l2], [0, 0, 1, 0], [0, 0, 0, 1]])
CENTRES = [sm.Matrix([0, 0, l1g, 1]), sm.Matrix([0, l2g, 0, 1]), sm.Matrix([0, d3 - l3 + l3g, 0, 1])]
H = [H1, H1 * H21, H1 * H21 * H32]
R = [x[:3, :3] for x in H]
PLACES = [(x * centre)[:3, :] for x, centre in zip(H, CENTRES, strict=True)]


@cache
def of_transforms() -> kc.Model:
    """The robot from these matrices; its speeds are named as those of the gallery's."""
    links = [
        Link(f"link{i}", x, mass=sm.Symbol(f"m{i}"), centre=tuple(centre[:3]), inertia=sm.symbols(f"I{i}x I{i}y I{i}z"))
        for i, (x, centre) in enumerate(zip((H1, H21, H32), CENTRES, strict=True), 1)
    ]
    names = ["omega1", "omega2", "v3"]
    return kc.Model.from_transforms(links, gravity=(0, 0, -sm.Symbol("g")), q=Q, u=names, name="rrp of transforms")


def velocities(model: kc.Model) -> tuple[list[sm.Matrix], list[sm.Matrix]]:
    """v of the mass centres and ω of the bodies, in inertial axes and q̇."""
    speeds = sm.Matrix(model.speeds)
    d = model.description
    centres = [d.points[body.point].name for body in d.bodies]
    frames = [d.frames[body.frame].name for body in d.bodies]
    linear = [by_point(model)[name][0] * speeds for name in centres]
    angular = [by_frame(model)[name][0] * speeds for name in frames]
    return [x.xreplace(RATES) for x in linear], [x.xreplace(RATES) for x in angular]


MODELS = {"tree": rrp.build, "transforms": of_transforms}


def test_products_of_transforms() -> None:
    """Example 3: [H]_{B2/can} and [H]_{B3/can}.  Their lower left block is printed 0_{3×1}; it is 1 × 3."""
    second = sm.Matrix([[c1, -c2 * s1, s1 * s2], [s1, c1 * c2, -c1 * s2], [0, s2, c2]])
    for product, place in ((H[1], [0, 0, h + l1]), (H[2], [-c2 * s1 * l2, c1 * c2 * l2, h + l1 + s2 * l2])):
        expected = second.row_join(sm.Matrix(place)).col_join(sm.Matrix([[0, 0, 0, 1]]))
        assert agree(product, expected)
    assert agree(R[0], sm.Matrix([[c1, -s1, 0], [s1, c1, 0], [0, 0, 1]]))
    assert agree(R[2], R[1])


def test_places() -> None:
    """Example 3: the mass centres (x_i, y_i, z_i), which φ(q) sets equal to q°."""
    assert agree(PLACES[0], [0, 0, h + l1g])
    assert agree(PLACES[1], [-c2 * s1 * l2g, c1 * c2 * l2g, h + l1 + s2 * l2g])
    assert agree(PLACES[2], [-c2 * s1 * REACH, c1 * c2 * REACH, h + l1 + s2 * REACH])


@pytest.mark.parametrize("name", MODELS)
def test_places_are_those_of_the_model(name: str) -> None:
    """Example 3: the potential energy of the weights is Σ m_i g z_i."""
    expected = sum(sm.Symbol(f"m{i}") * sm.Symbol("g") * place[2] for i, place in enumerate(PLACES, 1))
    assert agree(MODELS[name]().symbolic("potential_energy", nested=True), expected)


def test_angular_velocities_from_rotations() -> None:
    """Example 5: [S(ω_i)]_{Bi} = R_iᵀ Ṙ_i, and ω_i in the axes of body i."""
    first = sm.Matrix([[0, -theta1.diff(), 0], [theta1.diff(), 0, 0], [0, 0, 0]])
    second = sm.Matrix(
        [
            [0, -c2 * theta1.diff(), s2 * theta1.diff()],
            [c2 * theta1.diff(), 0, -theta2.diff()],
            [-s2 * theta1.diff(), theta2.diff(), 0],
        ]
    )
    for rotation, expected in zip(R, (first, second, second), strict=True):
        assert agree(rotation.T * rotation.diff(t), expected)
        assert agree(angular_velocity_matrix(rotation), expected)


@pytest.mark.parametrize("name", MODELS)
def test_angular_velocities(name: str) -> None:
    """Example 5: ω_1 = (0, 0, θ̇1), ω_2 = ω_3 = (θ̇2, s2 θ̇1, c2 θ̇1), in the axes of the bodies."""
    _, found = velocities(MODELS[name]())
    second = [theta2.diff(), s2 * theta1.diff(), c2 * theta1.diff()]
    for rotation, omega, expected in zip(R, found, ([0, 0, theta1.diff()], second, second), strict=True):
        assert agree(rotation.T * omega, expected)


@pytest.mark.parametrize("name", MODELS)
def test_velocities_in_inertial_axes(name: str) -> None:
    """Example 5: ẋ_i, ẏ_i, ż_i.

    Both ẏ_2 and ẏ_3 are printed with (θ̇1 s1 c2 − θ̇2 c1 s2); it is a plus, since ẏ is the derivative of c1 c2 times a
    length.  With the minus v_y2 would not be zero, which the next line of the notes has right.
    """
    w1, w2, rate = theta1.diff(), theta2.diff(), d3.diff()
    second = [l2g * (w2 * s1 * s2 - w1 * c1 * c2), -l2g * (w1 * s1 * c2 + w2 * c1 * s2), l2g * w2 * c2]
    third = [
        -rate * s1 * c2 - REACH * (w1 * c1 * c2 - w2 * s1 * s2),
        rate * c1 * c2 - REACH * (w1 * s1 * c2 + w2 * c1 * s2),
        w2 * c2 * REACH + rate * s2,
    ]
    found, _ = velocities(MODELS[name]())
    for place, velocity, expected in zip(PLACES, found, ([0, 0, 0], second, third), strict=True):
        assert agree(place.diff(t), expected)
        assert agree(velocity, expected)
    printed = sm.Matrix([second[0], -l2g * (w1 * s1 * c2 - w2 * c1 * s2), second[2]])
    assert sm.simplify((R[1].T * printed)[1]) != 0


@pytest.mark.parametrize("name", MODELS)
def test_velocities_in_the_axes_of_the_bodies(name: str) -> None:
    """Example 5: v_1 = 0, v_2 = (−c2 l2g θ̇1, 0, l2g θ̇2), v_3 = (−c2 reach θ̇1, ḋ3, reach θ̇2).

    v_x2 is printed as c2 l2g θ̇1 where it is found, and as −c2 l2g θ̇1 in p° after it; the minus is right.
    """
    w1, w2, rate = theta1.diff(), theta2.diff(), d3.diff()
    found, _ = velocities(MODELS[name]())
    rows = ([0, 0, 0], [-c2 * l2g * w1, 0, l2g * w2], [-c2 * REACH * w1, rate, REACH * w2])
    for rotation, velocity, expected in zip(R, found, rows, strict=True):
        assert agree(rotation.T * velocity, expected)


def test_psi_upsilon_and_lambda() -> None:
    """Example 5: p# = Ψ q̇#, p° = Υ q̇#, Ψ = 1, Υ of 15 × 3 (printed with a fourth column of zeros), Λ = p° − Υ Ψ⁻¹ p#.

    The definitions call Λ of size m_q, which is 9; it is m_p = 15.  F_q and F_p, said to have n + m_q and n + m_p
    entries, have the n of their indices.
    """
    linear, angular = velocities(rrp.build())
    (wx1, wy1, wz1), (wx2, wy2, wz2), (wx3, wy3, wz3) = (r.T * w for r, w in zip(R, angular, strict=True))
    (vx1, vy1, vz1), (vx2, vy2, vz2), (vx3, vy3, vz3) = (r.T * v for r, v in zip(R, linear, strict=True))
    rates = sm.Matrix([x.diff() for x in Q])
    independent = sm.Matrix([wz1, wx2, vy3])
    dependent = sm.Matrix([wx1, wy1, wy2, wz2, wx3, wy3, wz3, vx1, vy1, vz1, vx2, vy2, vz2, vx3, vz3])
    zero = [0, 0, 0]
    expected = sm.Matrix(
        [
            *(zero, zero, [s2, 0, 0], [c2, 0, 0], [0, 1, 0], [s2, 0, 0], [c2, 0, 0]),
            *(zero, zero, zero, [-l2g * c2, 0, 0], zero, [0, l2g, 0], [-REACH * c2, 0, 0], [0, REACH, 0]),
        ]
    )
    psi, upsilon = independent.jacobian(rates), dependent.jacobian(rates)
    assert agree(psi, sm.eye(3))
    assert agree(upsilon, expected)
    assert upsilon.shape == (15, 3)
    assert agree(dependent - upsilon * psi.inv() * independent, [0] * 15)


# ------------------------------------------------------------------------------------------------------- Gibbs–Appell
def test_energy_of_accelerations_of_particles() -> None:
    """Método de Gibbs–Appell: S of a rigid body, ½ m a_G² + ½ (ω̇·Iω̇ + 2 ω̇·(ω × Iω) + ω² ω·Iω), is Σ ½ m_i a_i².

    Of a body of four masses, which moves anyhow; the notes print the second term without its dot.
    """
    rng = np.random.default_rng(4)
    masses, r = rng.uniform(0.5, 2.0, 4), rng.uniform(-1.0, 1.0, (4, 3))
    r -= masses @ r / masses.sum()
    a, w, alpha = rng.uniform(-2.0, 2.0, (3, 3))
    tensor = sum(mass * (x @ x * np.eye(3) - np.outer(x, x)) for mass, x in zip(masses, r, strict=True))
    accelerations = a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    of_particles = (masses * (accelerations**2).sum(axis=1)).sum() / 2
    turning = alpha @ tensor @ alpha + 2 * alpha @ np.cross(w, tensor @ w) + (w @ w) * (w @ tensor @ w)
    assert masses.sum() * (a @ a) / 2 + turning / 2 == pytest.approx(of_particles, rel=1e-13)


def test_energy_of_accelerations_of_the_robot() -> None:
    """Método de Gibbs–Appell: S of the robot is the sum of the formula over its bodies."""
    model = rrp.build()
    linear, angular = velocities(model)
    expected: Any = 0
    for i, (rotation, v, w) in enumerate(zip(R, linear, angular, strict=True), 1):
        a, omega = v.diff(t), rotation.T * w
        alpha, tensor = omega.diff(t), sm.diag(*sm.symbols(f"I{i}x I{i}y I{i}z"))
        turning = alpha.dot(tensor * alpha) + 2 * alpha.dot(omega.cross(tensor * omega))
        turning += omega.dot(omega) * omega.dot(tensor * omega)
        expected += (sm.Symbol(f"m{i}") * a.dot(a) + turning) / 2
    second = {u.diff(): q.diff(t, 2) for u, q in zip(U, Q, strict=True)}
    assert agree(model.symbolic("gibbs", nested=True).xreplace(second).xreplace(RATES), expected)


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_the_energy_of_accelerations(name: str) -> None:
    """Método de Gibbs–Appell: the equations of motion are derivatives of S, ∂S/∂u̇_r = −F*_r."""
    model = MODELS[name]()
    energy = model.symbolic("gibbs", nested=True)
    assert agree([energy.diff(u.diff()) for u in model.speeds], [-x for x in inertial(model)])
