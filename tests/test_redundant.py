# SPDX-License-Identifier: BSD-3-Clause
"""The RRP robot in redundant coordinates and speeds: lecture notes on multibody dynamics, examples 1 to 5.

It is the gallery's, by `Model.from_transforms`; its matrices are those that the source prints.

q# = (θ1, θ2, d3) and q° = (x_i, y_i, z_i), the mass centres in inertial axes, with nine rows φ; p# = (ω_z1, ω_x2, v_y3)
and p°, fifteen more components of ω_i and v_Gi in the axes of the bodies, with fifteen rows Λ.  M is block-diagonal and
the kinematics carries the problem; the motion is that of the tree of the gallery.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.constraints.constraint_values import residuals
from kanecore.gallery import rrp, rrp_redundant

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
P = rrp.PARAMETERS
INPUTS = {"tau1": 0.7, "tau2": 21.0, "f3": 12.0}
#: The first three are p#; then p°, in the order of the source.
SPEEDS = "wz1 wx2 vy3 wx1 wy1 wy2 wz2 wx3 wy3 wz3 vx1 vy1 vz1 vx2 vy2 vz2 vx3 vz3"
theta1, theta2, d3 = me.dynamicsymbols("theta1 theta2 d3")
h, l1, l2, l3, l1g, l2g, l3g = sm.symbols("h l1 l2 l3 l1g l2g l3g")
s1, c1, s2, c2 = sm.sin(theta1), sm.cos(theta1), sm.sin(theta2), sm.cos(theta2)
REACH = l2 - l3 + l3g + d3


def phi() -> list[sm.Expr]:
    """Example 3."""
    x1, y1, z1, x2, y2, z2, x3, y3, z3 = me.dynamicsymbols("x1 y1 z1 x2 y2 z2 x3 y3 z3")
    return [
        *(x1, y1, z1 - h - l1g),
        *(x2 + c2 * s1 * l2g, y2 - c1 * c2 * l2g, z2 - h - l1 - s2 * l2g),
        *(x3 + c2 * s1 * REACH, y3 - c1 * c2 * REACH, z3 - h - l1 - s2 * REACH),
    ]


def upsilon() -> sm.Matrix:
    """Example 5, without the stray fourth column of the print."""
    zero = [0, 0, 0]
    return sm.Matrix(
        [
            *(zero, zero, [s2, 0, 0], [c2, 0, 0], [0, 1, 0], [s2, 0, 0], [c2, 0, 0]),
            *(zero, zero, zero),
            *([-l2g * c2, 0, 0], zero, [0, l2g, 0]),
            *([-REACH * c2, 0, 0], [0, REACH, 0]),
        ]
    )


def numeric_upsilon(x: Array) -> Array:
    return np.array(upsilon().subs(P).subs({theta2: x[1], d3: x[2]}), float)


@cache
def compiled() -> kc.CompiledModel:
    dyn = kc.load("rrp_redundant")
    dyn.inputs = INPUTS
    return dyn


@cache
def tree() -> kc.CompiledModel:
    dyn = kc.load("rrp")
    dyn.inputs = INPUTS
    return dyn


def states(n: int) -> Array:
    """Of the tree."""
    rng = np.random.default_rng(7)
    return rng.uniform([-3.0, -1.2, 0.1, -2.0, -2.0, -1.0], [3.0, 1.2, 0.8, 2.0, 2.0, 1.0], (n, 6))


def lifted(z: Array) -> Array:
    """A state of the tree in redundant coordinates and speeds, by the equations of the source."""
    th1, th2, d3 = z[:3]
    s1, c1, s2, c2 = np.sin(th1), np.cos(th1), np.sin(th2), np.cos(th2)
    reach = P["l2"] - P["l3"] + P["l3g"] + d3
    top = P["h"] + P["l1"]
    places = [0.0, 0.0, P["h"] + P["l1g"]]
    for length in (P["l2g"], reach):
        places += [-c2 * s1 * length, c1 * c2 * length, top + s2 * length]
    return np.concatenate([z[:3], places, z[3:], numeric_upsilon(z) @ z[3:]])


# ------------------------------------------------------------------------------------------------ what is printed
def zero(matrix: sm.Matrix) -> bool:
    """Whether nothing is left of a matrix once it is multiplied out."""
    return not any(matrix.applyfunc(lambda e: sm.trigsimp(sm.expand(e))))


def test_poses_are_the_printed_ones() -> None:
    """Example 3: H_B2/can, H_B3/can."""
    turned = [[c1, -c2 * s1, s1 * s2], [s1, c1 * c2, -c1 * s2], [0, s2, c2]]
    for name, place in (("arm", [0, 0, h + l1]), ("bar", [-c2 * s1 * l2, c1 * c2 * l2, h + l1 + s2 * l2])):
        printed = sm.Matrix(turned).row_join(sm.Matrix(place)).col_join(sm.Matrix([[0, 0, 0, 1]]))
        assert zero(kc.transforms.link_pose(rrp_redundant.links(), name) - printed)


def test_angular_velocities_are_the_printed_ones() -> None:
    """Example 5: S(ω) = Rᵀ Ṙ, entry by entry."""
    w1, w2, links = theta1.diff(t), theta2.diff(t), rrp_redundant.links()
    column = sm.Matrix([[0, -w1, 0], [w1, 0, 0], [0, 0, 0]])
    tilted = sm.Matrix([[0, -c2 * w1, s2 * w1], [c2 * w1, 0, -w2], [-s2 * w1, w2, 0]])
    for name, printed in (("column", column), ("arm", tilted), ("bar", tilted)):
        assert kc.transforms.angular_velocity_matrix(kc.transforms.link_pose(links, name)) == printed


def test_phi_lambda_psi_upsilon_are_the_printed_ones() -> None:
    """Examples 3 and 5, in the order of the source; v_x2 = −c2 l2g θ̇1, which is printed once with the other sign."""
    model = rrp_redundant.build()
    matrices = model.speed_matrices()
    assert matrices.coordinates == ("theta1", "theta2", "d3")
    assert (*matrices.independent, *matrices.dependent) == tuple(SPEEDS.split())
    assert matrices.Psi == sm.eye(3)
    assert matrices.Upsilon.shape == (15, 3)
    assert zero(matrices.Upsilon - upsilon())
    p = sm.Matrix(me.dynamicsymbols(SPEEDS))
    printed = sm.Matrix(p[3:]) - upsilon() * sm.Matrix(p[:3])
    assert zero(matrices.A * p - printed)
    assert zero(model.symbolic("velocity_residual", nested=True) - printed)
    assert zero(model.symbolic("configuration_residual", nested=True) - sm.Matrix(phi()))


# ------------------------------------------------------------------------------------------------ as numbers
def test_sizes_are_those_of_the_source() -> None:
    """The dynamics is trivial, masses and principal moments of inertia on the diagonal; the rates of φ follow from Λ.

    Every row of Λ has a constant pivot, so that three accelerations are left to solve for; M and G are sparse: the
    tree takes 93 operations, a dense solution of the 33 equations 33³/3 = 12,000.
    """
    dyn = compiled()
    assert (dyn.n_q, dyn.n_u, dyn.n_configuration, dyn.n_velocity) == (12, 18, 9, 15)
    found = dyn.check(lifted(states(1)[0]))
    assert (found.rank, found.dof, found.redundant) == (15, 3, ())
    mass = {f"v{k}{i}": P[f"m{i}"] for i in (1, 2, 3) for k in "xyz"}
    mass |= {f"w{k}{i}": P[f"I{i}{k}"] for i in (1, 2, 3) for k in "xyz"}
    expected = np.diag([mass[name] for name in SPEEDS.split()])
    np.testing.assert_allclose(dyn.mass_matrix(0.0, lifted(states(1)[0])), expected, rtol=1e-15, atol=0)
    assert dyn.info["operations"]["rhs"] <= 230
    assert tree().info["operations"]["rhs"] <= 100


def test_matrices() -> None:
    """Ψ = 1, so that p° = Υ p#: Υ, of 15 × 3, is A_n, found from the rows of G or from the partial velocities."""
    dyn = compiled()
    for z in states(5):
        x, expected = lifted(z), numeric_upsilon(z)
        G = dyn.constraint_jacobian(0.0, x)
        np.testing.assert_allclose(-np.linalg.solve(G[:, 3:], G[:, :3]), expected, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(dyn.qdot(0.0, x)[:3], x[12:15])
        matrices = dyn.speed_matrices(0.0, x)
        np.testing.assert_allclose(matrices.Psi, np.eye(3), rtol=0, atol=1e-15)
        np.testing.assert_allclose(matrices.Upsilon, expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(matrices.A, np.hstack([-expected, np.eye(15)]), rtol=0, atol=1e-14)


def test_states_of_the_tree_are_consistent() -> None:
    """q° from φ and p° from Λ, from a rough guess."""
    dyn = compiled()
    for z in states(5):
        expected, guess = lifted(z), np.zeros(30)
        assert np.max(np.abs(residuals(dyn, 0.0, expected))) < 1e-14
        guess[[0, 1, 2, 12, 13, 14]] = z
        np.testing.assert_allclose(dyn.consistent(0.0, guess), expected, rtol=0, atol=1e-12)


def test_same_accelerations_energies_and_forces_as_the_tree() -> None:
    """u̇, T, U from the same origin, and F̃ and F̃* in p# = q̇#, which are the tree's F and F*."""
    dyn = compiled()
    for z in states(10):
        x, expected = lifted(z), tree().udot(0.0, z)
        udot = dyn.udot(0.0, x)
        np.testing.assert_allclose(udot[:3], expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))
        assert dyn.kinetic_energy(0.0, x) == pytest.approx(tree().kinetic_energy(0.0, z), rel=1e-13)
        assert dyn.potential_energy(0.0, x) == pytest.approx(tree().potential_energy(0.0, z), rel=1e-13)
        active = dyn.generalized_active_forces(0.0, x, nonholonomic=True)
        np.testing.assert_allclose(active, tree().generalized_active_forces(0.0, z), rtol=0, atol=1e-12)
        inertia = dyn.generalized_inertia_forces(0.0, x, udot, nonholonomic=True)
        expected = tree().generalized_inertia_forces(0.0, z, expected)
        np.testing.assert_allclose(inertia, expected, rtol=0, atol=1e-11)


@pytest.mark.long
@pytest.mark.parametrize(("method", "options"), [("dop853", {"rtol": 1e-12, "atol": 1e-12}), ("rk4", {"dt": 5e-4})])
def test_same_motion_as_the_tree(method: str, options: dict[str, Any]) -> None:
    z0, times = np.array([0.2, 0.4, 0.3, 0.8, -0.3, 0.1]), np.linspace(0.0, 1.0, 11)
    expected = tree().simulate((0.0, 1.0), z0, t_eval=times, rtol=1e-12, atol=1e-12).x
    sol = compiled().simulate((0.0, 1.0), lifted(z0), t_eval=times, method=method, **options)
    np.testing.assert_allclose(sol.x, [lifted(z) for z in expected], rtol=0, atol=1e-8)
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-8


def test_multipliers_of_the_free_bodies() -> None:
    """M u̇ = f + Gᵀλ: λ of a row of Λ is the force or torque on its body along the axis of the speed that it decides."""
    dyn = compiled()
    for z in states(3):
        x = lifted(z)
        multipliers, G = dyn.multipliers(0.0, x), dyn.constraint_jacobian(0.0, x)
        held = dyn.mass_matrix(0.0, x) @ dyn.udot(0.0, x) - dyn.forcing(0.0, x)
        np.testing.assert_allclose(G.T @ multipliers, held, rtol=0, atol=1e-12 * np.max(np.abs(held)))
        np.testing.assert_allclose(multipliers, held[3:], rtol=0, atol=1e-12 * np.max(np.abs(held)))


def test_efforts_along_q_and_p() -> None:
    """f_q = (τ1, τ2, f3, 0 ...), F_q = F_p = (τ1, τ2, f3) since Ψ = 1; each has the power of the actuators."""
    dyn, efforts = compiled(), list(INPUTS.values())
    names, places = ["wz3", "wx3", "vy3"], ["x3", "y3", "z3"]
    for z in states(5):
        x = lifted(z)
        found, qdot, p = dyn.projected_efforts(0.0, x), dyn.qdot(0.0, x), x[12:]
        np.testing.assert_allclose(found.f_q, [*efforts, *[0.0] * 9], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.F_q, efforts, rtol=1e-12)
        np.testing.assert_allclose(found.F_p, efforts, rtol=1e-12)
        powers = [found.f_q @ qdot, found.f_p @ p, found.F_q @ qdot[:3], found.F_p @ p[:3]]
        other = dyn.projected_efforts(0.0, x, independent=names, coordinates=places)
        powers += [other.F_p @ p[[dyn.speed_names.index(name) for name in names]], other.F_q @ qdot[9:]]
        np.testing.assert_allclose(powers, efforts @ z[3:], rtol=1e-9)
