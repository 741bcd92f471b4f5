# SPDX-License-Identifier: BSD-3-Clause
"""Classical systems of the gallery against equations and closed forms written by hand, each with its source."""

from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ellipk

import kanecore as kc

Array = npt.NDArray[np.float64]
STATES = 40


@cache
def compiled(name: str) -> kc.CompiledModel:
    return kc.load(name)


def values(name: str) -> SimpleNamespace:
    """The default parameters, ``p.m1``."""
    return SimpleNamespace(**import_module(f"kanecore.gallery.{name}").PARAMETERS)


def random_states(n: int, seed: int, low: float = -2.0, high: float = 2.0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, (STATES, n))


def check(found: npt.ArrayLike, expected: npt.ArrayLike, limit: float = 1e-12) -> None:
    """max |found − expected| below ``limit`` times the largest of both."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= limit * max(np.abs(found).max(), np.abs(expected).max())


def jacobian(f: Any, x: Array) -> Array:
    """∂f/∂x by central differences."""
    h = 1e-5
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=-1)


# ----------------------------------------------------------------------------------------------- rod in a gravity field
def orbiting_rod(n: float) -> Array:
    """Along the radial line, on the circular orbit that a particle of angular rate n would have."""
    p = values("rod_gravity")
    radius = (p.G * p.m / n**2) ** (1 / 3)
    return np.array([0.0, radius, 0.0, n, 0.0, 0.0])


def test_rod_against_newton_and_euler() -> None:
    """Polar components of M a = R and J (u̇1 + u̇3) = T, with R and T of Kane & Levinson, corrected sign of T."""
    p = values("rod_gravity")
    x = random_states(6, 1, 0.5, 2.0) * [1, 7e6, 1, 1e-3, 10, 1e-3]
    q2, q3, u1, u2 = x[:, 1], x[:, 2], x[:, 3], x[:, 4]
    small = p.L**2 / (8 * q2**2)
    radial = -p.G * p.m / q2**2 * (1 + small * (2 - 3 * np.sin(q3) ** 2)) + q2 * u1**2
    torque = -p.G * p.M * p.m * p.L**2 / (8 * q2**3) * np.sin(2 * q3)
    spin = torque / (p.M * p.L**2 / 12)
    turn = (-torque / (p.M * q2) - 2 * u1 * u2) / q2
    udot = compiled("rod_gravity").udot(0.0, x)
    for found, expected in zip(udot.T, (turn, radial, spin - turn), strict=True):
        check(found, expected, 1e-9)


def test_rod_librates_with_the_root_of_three() -> None:
    """A thin satellite on a circular orbit of rate n librates in its plane with √3 n.

    P. C. Hughes, *Spacecraft Attitude Dynamics*, 1986, gravity-gradient stabilization: pitch √(3 (I1 − I3)/I2) n.
    """
    n = 1e-3
    dyn, x = compiled("rod_gravity"), orbiting_rod(n)
    tilted = x + np.array([0, 0, 1e-4, 0, 0, 0])
    assert dyn.udot(0.0, tilted)[2] == pytest.approx(-3 * n**2 * 1e-4, rel=1e-7)


def test_rod_keeps_energy_and_angular_momentum() -> None:
    """The attraction is conservative and central, and two orbits of a tumbling rod show it."""
    p, n = values("rod_gravity"), 1e-3
    x0 = orbiting_rod(n) + np.array([0, 0, 0.5, 1e-4, 10.0, 2e-3])
    x = compiled("rod_gravity").simulate((0.0, 4 * np.pi / n), x0, rtol=1e-13, atol=1e-13).x
    _, q2, q3, u1, u2, u3 = x.T
    inertia = p.M * p.L**2 / 12
    momentum = p.M * q2**2 * u1 + inertia * (u1 + u3)
    potential = -p.G * p.M * p.m / q2 * (1 + p.L**2 / (24 * q2**2) * (2 - 3 * np.sin(q3) ** 2))
    energy = p.M * (u2**2 + q2**2 * u1**2) / 2 + inertia * (u1 + u3) ** 2 / 2 + potential
    assert np.ptp(momentum) < 1e-11 * abs(momentum[0])
    assert np.ptp(energy) < 1e-11 * abs(energy[0])
    assert np.ptp(q3) > 6, "it tumbles"


# ------------------------------------------------------------------------------------------------------------- two rods
def test_two_rods_against_lagrange() -> None:
    """T = ½ (m l²/4 + m l² + I + I cos² q2) u1² + ½ I u2², U = −3/2 m g l cos q1 + ½ k (q1² + q2²), by hand."""
    p, x = values("two_rods"), random_states(4, 2)
    q1, q2, u1, u2 = x.T
    inertia, s, c = p.m * p.l**2 / 12, np.sin(q2), np.cos(q2)
    about_pivot = 5 / 4 * p.m * p.l**2 + inertia * (1 + c**2)
    first = (2 * inertia * s * c * u1 * u2 - 1.5 * p.m * p.g * p.l * np.sin(q1) - p.k * q1) / about_pivot
    second = -s * c * u1**2 - p.k / inertia * q2
    check(compiled("two_rods").udot(0.0, x), np.stack([first, second], axis=-1))


# -------------------------------------------------------------------------------------------------------- wire particle
def test_wire_particle_is_a_pendulum() -> None:
    """Slides on analytical dynamics, principle of liberation: θ̈ = −(g/R) sin θ."""
    p, x = values("wire_particle"), random_states(2, 3)
    check(compiled("wire_particle").udot(0.0, x)[:, 0], -p.g / p.R * np.sin(x[:, 0]))


@pytest.mark.parametrize("amplitude", [0.3, 1.5, 3.0])
def test_wire_particle_has_the_period_of_a_pendulum(amplitude: float) -> None:
    """4 √(R/g) K(sin² θ0/2), by the complete elliptic integral."""
    p = values("wire_particle")
    period = 4 * np.sqrt(p.R / p.g) * ellipk(np.sin(amplitude / 2) ** 2)
    sol = compiled("wire_particle").simulate((0.0, period), [amplitude, 0.0], rtol=1e-12, atol=1e-12)
    assert np.abs(sol.x[-1] - [amplitude, 0.0]).max() < 1e-9
    assert np.abs(sol(period / 4)[0]) < 1e-8


# ------------------------------------------------------------------------------------------------------------ cart-pole
def test_cart_pole_against_the_published_equations() -> None:
    """Control Tutorials for MATLAB and Simulink, "Inverted Pendulum: System Modeling", the two nonlinear equations."""
    p, x = values("cart_pole"), random_states(4, 4)
    _, theta, v, omega = x.T
    force = np.linspace(-3, 3, STATES)
    a, alpha = compiled("cart_pole").udot(0.0, x, r=force[:, np.newaxis]).T
    s, c = np.sin(theta), np.cos(theta)
    check((p.M + p.m) * a + p.b * v + p.m * p.l * alpha * c - p.m * p.l * omega**2 * s, force)
    check((p.I + p.m * p.l**2) * alpha + p.m * p.g * p.l * s, -p.m * p.l * a * c)


def test_cart_pole_against_the_published_linear_model() -> None:
    """The same tutorial, "State-Space": A and B about the upright position, x = [x, ẋ, φ, φ̇], printed with 4 digits."""
    dyn, upright = compiled("cart_pole"), np.array([0.0, np.pi, 0.0, 0.0])
    order = [0, 2, 1, 3]  # theirs, in our [x, θ, v, ω]
    A = jacobian(lambda x: dyn.rhs(0.0, x, r=[0.0]), upright)[np.ix_(order, order)]
    B = jacobian(lambda r: dyn.rhs(0.0, upright, r=r), np.zeros(1))[order, 0]
    published = [[0, 1, 0, 0], [0, -0.1818, 2.6727, 0], [0, 0, 0, 1], [0, -0.4545, 31.1818, 0]]
    assert np.abs(A - published).max() < 1e-4
    assert np.abs(B - [0, 1.8182, 0, 4.5455]).max() < 1e-4


# ------------------------------------------------------------------------------------------------------ Furuta pendulum
def test_furuta_pendulum_against_the_published_equations() -> None:
    """Cazzolato & Prime 2011, the equations of motion with full inertia tensors, τ2 = 0."""
    p, x = values("furuta_pendulum"), random_states(4, 5, -4, 4)
    _, theta2, omega1, omega2 = x.T
    torque = np.linspace(-0.1, 0.1, STATES)
    across = {"J1xx": 3e-5, "J2xx": 2e-5, "J2yy": 4e-5, "J2zz": 5e-5}  # no two alike, so that none hides another
    names, dyn = vars(p) | across, compiled("furuta_pendulum")
    p = SimpleNamespace(**names)
    alpha1, alpha2 = dyn.udot(0.0, x, r=torque[:, np.newaxis], p=names).T
    s, c, s2 = np.sin(theta2), np.cos(theta2), np.sin(2 * theta2)
    coupling = p.m2 * p.L1 * p.l2
    swept = p.m2 * p.l2**2 + p.J2yy - p.J2xx
    base = p.J1zz + p.m1 * p.l1**2 + p.m2 * p.L1**2 + (p.J2yy + p.m2 * p.l2**2) * s**2 + p.J2xx * c**2
    first = alpha1 * base + alpha2 * coupling * c - coupling * s * omega2**2 + omega1 * omega2 * s2 * swept
    second = alpha1 * coupling * c + alpha2 * (p.m2 * p.l2**2 + p.J2zz) - omega1**2 * s2 * swept / 2
    check(first + p.b1 * omega1, torque, 1e-11)
    check(second + p.b2 * omega2, -p.g * p.m2 * p.l2 * s, 1e-11)


def test_furuta_pendulum_against_the_solved_equations() -> None:
    """Cazzolato & Prime 2011, (33) and (34): slender links, J2xx = 0, J2yy = J2zz = J2, solved for θ̈1 and θ̈2.

    (34) is handed down with a minus on its term in θ̇1².  It is a plus in the equations that it is solved from, those of
    the test above: turning of the arm throws the pendulum outwards.
    """
    p, x = values("furuta_pendulum"), random_states(4, 6, -4, 4)
    _, theta2, d1, d2 = x.T
    tau = np.linspace(-0.1, 0.1, STATES)
    names = vars(p) | {"J1xx": 0.0, "J2xx": 0.0, "J2zz": p.J2yy}
    J2 = p.J2yy + p.m2 * p.l2**2
    J0 = p.J1zz + p.m1 * p.l1**2 + p.m2 * p.L1**2
    s, c, s2, ml = np.sin(theta2), np.cos(theta2), np.sin(2 * theta2), p.m2 * p.l2
    reach = ml * p.L1
    below = J0 * J2 + J2**2 * s**2 - reach**2 * c**2
    first = (
        -J2 * p.b1 * d1
        + reach * c * p.b2 * d2
        - J2**2 * s2 * d1 * d2
        - J2 * reach * c * s2 * d1**2 / 2
        + J2 * reach * s * d2**2
        + J2 * tau
        + ml**2 * p.L1 * s2 * p.g / 2
    )
    second = (
        reach * c * p.b1 * d1
        - p.b2 * (J0 + J2 * s**2) * d2
        + reach * J2 * c * s2 * d1 * d2
        + s2 * (J0 * J2 + J2**2 * s**2) * d1**2 / 2
        - reach**2 * s2 * d2**2 / 2
        - reach * c * tau
        - ml * s * (J0 + J2 * s**2) * p.g
    )
    found = compiled("furuta_pendulum").udot(0.0, x, r=tau[:, np.newaxis], p=names)
    check(found, np.stack([first / below, second / below], axis=-1))


def test_furuta_pendulum_against_the_published_linear_model() -> None:
    """Cazzolato & Prime 2011, (35) and (36): A and B about the upright position of slender links."""
    p, dyn, upright = values("furuta_pendulum"), compiled("furuta_pendulum"), np.array([0.0, np.pi, 0.0, 0.0])
    names = vars(p) | {"J1xx": 0.0, "J2xx": 0.0, "J2zz": p.J2yy}
    J2 = p.J2yy + p.m2 * p.l2**2
    J0 = p.J1zz + p.m1 * p.l1**2 + p.m2 * p.L1**2
    ml = p.m2 * p.l2
    below = J0 * J2 - (ml * p.L1) ** 2
    rows = [[0, p.g * ml**2 * p.L1, -p.b1 * J2, -p.b2 * ml * p.L1], [0, p.g * ml * J0, -p.b1 * ml * p.L1, -p.b2 * J0]]
    A = jacobian(lambda x: dyn.udot(0.0, x, r=[0.0], p=names), upright)
    B = jacobian(lambda r: dyn.udot(0.0, upright, r=r, p=names), np.zeros(1))[:, 0]
    check(A, np.array(rows) / below, 1e-7)
    check(B, np.array([J2, ml * p.L1]) / below, 1e-7)


# --------------------------------------------------------------------------------------------------------- spinning top
def top_state(theta: float, precession: float, spin: float, nutation: float = 0.0) -> Array:
    """[φ, θ, ψ, u] at φ = 0, ψ = 0.3 from φ̇, θ̇ and the axial component ω3 of the angular velocity."""
    psi = 0.3
    s, c, across = np.sin(psi), np.cos(psi), precession * np.sin(theta)
    return np.array([0.0, theta, psi, across * s + nutation * c, across * c - nutation * s, spin])


def top_rates(x: Array) -> tuple[Array, Array]:
    """φ̇ and θ̇ at states (..., 6)."""
    theta, psi, u1, u2 = (x[..., i] for i in (1, 2, 3, 4))
    return (u1 * np.sin(psi) + u2 * np.cos(psi)) / np.sin(theta), u1 * np.cos(psi) - u2 * np.sin(psi)


@pytest.mark.parametrize("root", [0, 1], ids=["slow", "fast"])
def test_top_precesses_steadily(root: int) -> None:
    """Goldstein, section 5.7: m g l = φ̇ (I3 ω3 − I1 φ̇ cos θ), I1 about the fixed point; both roots."""
    p, theta, spin = values("spinning_top"), 0.7, 250.0
    about_tip = p.I1 + p.m * p.l**2
    rates = np.roots([about_tip * np.cos(theta), -p.I3 * spin, p.m * p.g * p.l])
    precession = float(np.sort(rates)[root])
    x = compiled("spinning_top").simulate((0.0, 1.0), top_state(theta, precession, spin), rtol=1e-12, atol=1e-12).x
    assert np.abs(x[:, 1] - theta).max() < 1e-8
    assert x[-1, 0] == pytest.approx(precession, rel=1e-8)


def test_top_keeps_its_momenta_and_energy() -> None:
    """Goldstein, section 5.7: φ and ψ are cyclic, p_ψ = I3 ω3, p_φ = I1 sin² θ φ̇ + p_ψ cos θ; and the energy."""
    p = values("spinning_top")
    about_tip = p.I1 + p.m * p.l**2
    sol = compiled("spinning_top").simulate((0.0, 2.0), top_state(0.9, 4.0, 150.0, 2.0), rtol=1e-12, atol=1e-12)
    theta, spin = sol.x[:, 1], sol.x[:, 5]
    precession, nutation = top_rates(sol.x)
    about_vertical = about_tip * np.sin(theta) ** 2 * precession + p.I3 * spin * np.cos(theta)
    energy = about_tip * (nutation**2 + (np.sin(theta) * precession) ** 2) / 2 + p.I3 * spin**2 / 2
    energy += p.m * p.g * p.l * np.cos(theta)
    for kept in (p.I3 * spin, about_vertical, energy):
        assert np.ptp(kept) < 1e-9 * abs(kept[0])
    assert sol.energy_drift < 1e-9
    assert np.ptp(theta) > 0.05, "it nutates"


def test_top_nutates_between_the_roots_of_the_cubic() -> None:
    """Goldstein, section 5.7: let go at x0 = cos θ0 with φ̇ = 0 it falls to the x of (1 − x²) β = a² (x0 − x).

    a = p_ψ/I1 and β = 2 m g l/I1, with I1 about the fixed point.
    """
    p, theta0, spin = values("spinning_top"), 0.8, 120.0
    about_tip = p.I1 + p.m * p.l**2
    a, beta = p.I3 * spin / about_tip, 2 * p.m * p.g * p.l / about_tip
    lowest = min(np.roots([-beta, a**2, beta - a**2 * np.cos(theta0)]), key=abs)
    times = np.linspace(0.0, 0.5, 20001)
    sol = compiled("spinning_top").simulate(
        (0.0, 0.5), top_state(theta0, 0.0, spin), rtol=1e-12, atol=1e-12, t_eval=times
    )
    theta = sol.x[:, 1]
    assert theta.min() == pytest.approx(theta0, abs=1e-8)
    assert np.cos(theta.max()) == pytest.approx(lowest, abs=1e-6)


# ------------------------------------------------------------------------------------------------------------ gyroscope
def test_gyroscope_against_lagrange() -> None:
    """By hand from T = ½ [A_z + B_y s² + (B_z + C) c²] ψ̇² + ½ (B_x + C) θ̇² + ½ C3 (φ̇ + ψ̇ s)²; C across, C3 axial."""
    p, x = values("gyroscope"), random_states(6, 7, -3, 3)
    torques = random_states(3, 8, -0.1, 0.1)
    _, theta, _, u1, u2, u3 = x.T
    a1, a2, a3 = compiled("gyroscope").udot(0.0, x, r=torques).T
    s, c = np.sin(theta), np.cos(theta)
    across_z, across_x = p.B_z + p.C_across, p.B_x + p.C_across
    momentum = p.C_axial * (u3 + u1 * s)
    growth = p.C_axial * (a3 + a1 * s + u1 * u2 * c)
    outer = (p.A_z + p.B_y * s**2 + across_z * c**2) * a1 + 2 * (p.B_y - across_z) * s * c * u1 * u2
    check(outer + growth * s + momentum * u2 * c, torques[:, 0])
    check(across_x * a2 - (p.B_y - across_z) * s * c * u1**2 - momentum * u1 * c, torques[:, 1])
    check(growth, torques[:, 2])


def test_gyroscope_precesses_steadily() -> None:
    """At θ = 0 a torque τ about the inner axis turns the outer gimbal with Ω = −τ/(J ω), without acceleration."""
    p, spin, torque = values("gyroscope"), 400.0, 0.05
    x = [0.3, 0.0, 0.1, -torque / (p.C_axial * spin), 0.0, spin]
    assert np.abs(compiled("gyroscope").udot(0.0, x, r=[0.0, torque, 0.0])).max() < 1e-12


def test_gyroscope_let_go_precesses_in_the_mean() -> None:
    """From rest it nutates with J ω/√(I_outer I_inner) and precesses with −τ/(J ω), to second order in the nutation."""
    p, spin, torque = values("gyroscope"), 400.0, 0.05
    angular_momentum = p.C_axial * spin
    outer, inner = p.A_z + p.B_z + p.C_across, p.B_x + p.C_across
    nutation = angular_momentum / np.sqrt(outer * inner)
    cycles = 20
    end = cycles * 2 * np.pi / nutation
    sol = compiled("gyroscope").simulate(
        (0.0, end), [0, 0, 0, 0, 0, spin], inputs=[0.0, torque, 0.0], rtol=1e-12, atol=1e-12
    )
    amplitude = torque * outer / angular_momentum**2  # of theta; the mean of theta too
    assert sol.x[-1, 0] == pytest.approx(-torque / angular_momentum * end, rel=amplitude**2 * 10)
    assert np.abs(sol.x[-1, 1:5:2]).max() < 1e-3 * torque / angular_momentum
    assert sol(end / cycles / 2)[1] == pytest.approx(2 * amplitude, rel=1e-3)


def test_gyroscope_keeps_its_energy() -> None:
    """Without torques; and the work of a constant torque on the inner gimbal is τ θ."""
    dyn, x0 = compiled("gyroscope"), np.array([0.1, 0.4, 0.0, 1.0, -2.0, 300.0])
    for torque in (0.0, 0.05):
        x = dyn.simulate((0.0, 1.0), x0, inputs=[0.0, torque, 0.0], rtol=1e-12, atol=1e-12).x
        energy = dyn.kinetic_energy(0.0, x) - torque * x[:, 1]
        assert np.ptp(energy) < 1e-10 * energy[0]
