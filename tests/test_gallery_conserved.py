# SPDX-License-Identifier: BSD-3-Clause
"""Systems of the gallery whose motion follows from what they conserve, against the closed forms of textbooks."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad

import kanecore as kc

Array = npt.NDArray[np.float64]
SHARP = {"rtol": 1e-12, "atol": 1e-12}


def values(name: str) -> SimpleNamespace:
    """The default parameters, ``p.m``."""
    return SimpleNamespace(**import_module(f"kanecore.gallery.{name}").PARAMETERS)


def random_states(n: int, seed: int, low: float, high: float) -> Array:
    return np.random.default_rng(seed).uniform(low, high, (40, n))


def constant(x: Array, limit: float = 1e-10) -> bool:
    return bool(np.ptp(x) < limit * np.abs(x).max())


# --------------------------------------------------------------------------------------------------- spherical pendulum
def test_spherical_pendulum_against_lagrange() -> None:
    """From L = m l²/2 (θ̇² + sin²θ φ̇²) + m g l cos θ, by hand."""
    p, x = values("spherical_pendulum"), random_states(4, 1, 0.3, 2.5)
    theta, _, u1, u2 = x.T
    expected = np.stack(
        [u2**2 * np.sin(theta) * np.cos(theta) - p.g / p.l * np.sin(theta), -2 * u1 * u2 / np.tan(theta)]
    )
    np.testing.assert_allclose(kc.load("spherical_pendulum").udot(0.0, x), expected.T, rtol=0, atol=1e-11)


def test_spherical_pendulum_turns_on_a_cone() -> None:
    """θ stays at θ0 with φ̇² = g/(l cos θ0), the conical pendulum."""
    p, theta = values("spherical_pendulum"), 0.8
    x0 = [theta, 0.0, 0.0, np.sqrt(p.g / (p.l * np.cos(theta)))]
    sol = kc.load("spherical_pendulum").simulate((0.0, 5.0), x0, **SHARP)
    assert np.abs(sol.x[:, 0] - theta).max() < 1e-9


def test_spherical_pendulum_swings_between_the_roots() -> None:
    """Landau & Lifshitz, section 14: E = m l² θ̇²/2 + M_z²/(2 m l² sin²θ) − m g l cos θ, turning where θ̇ = 0."""
    p, dyn, start = values("spherical_pendulum"), kc.load("spherical_pendulum"), np.array([0.9, 0.0, 0.0, 2.0])
    sol = dyn.simulate((0.0, 10.0), start, t_eval=np.linspace(0.0, 10.0, 20001), **SHARP)
    theta, u1, u2 = sol.x[:, 0], sol.x[:, 2], sol.x[:, 3]
    moment = p.m * p.l**2 * np.sin(theta) ** 2 * u2
    effective = moment**2 / (2 * p.m * p.l**2 * np.sin(theta) ** 2) - p.m * p.g * p.l * np.cos(theta)
    energy = p.m * p.l**2 * u1**2 / 2 + effective
    assert constant(moment)
    assert constant(energy)
    a = moment[0] ** 2 / (2 * p.m * p.l**2)
    # (E + m g l c)(1 − c²) = a, c = cos θ
    weight = p.m * p.g * p.l
    turns = np.sort(np.arccos(np.sort(np.roots([-weight, -energy[0], weight, energy[0] - a]))[-2:]))
    np.testing.assert_allclose([theta.min(), theta.max()], turns, atol=1e-6)


# --------------------------------------------------------------------------------------------------------------- Kepler
def orbit(eccentricity: float, nearest: float = 500.0) -> tuple[Array, float]:
    """The state at the pericentre, θ = 0, and the period 2π √(a³/μ)."""
    p = values("kepler")
    speed = np.sqrt(p.mu * (1 + eccentricity) / nearest)
    return np.array([nearest, 0.0, 0.0, speed / nearest]), 2 * np.pi * np.sqrt(
        (nearest / (1 - eccentricity)) ** 3 / p.mu
    )


def test_kepler_against_newton() -> None:
    """r̈ = r θ̇² − μ/r², r θ̈ = −2 ṙ θ̇."""
    p, x = values("kepler"), random_states(4, 2, 0.5, 3.0)
    r, _, v, w = x.T
    found = kc.load("kepler").udot(0.0, x)
    np.testing.assert_allclose(found, np.stack([r * w**2 - p.mu / r**2, -2 * v * w / r]).T, rtol=1e-12)


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.8])
def test_kepler_goes_round_an_ellipse(eccentricity: float) -> None:
    """Goldstein, section 3.7: r = a (1 − e²)/(1 + e cos θ), and the third law."""
    x0, period = orbit(eccentricity)
    sol = kc.load("kepler").simulate((0.0, period), x0, **SHARP)
    r, theta = sol.x[:, 0], sol.x[:, 1]
    np.testing.assert_allclose(r, x0[0] * (1 + eccentricity) / (1 + eccentricity * np.cos(theta)), rtol=1e-9)
    np.testing.assert_allclose(sol.x[-1, :2], [x0[0], 2 * np.pi], rtol=1e-8)


def test_kepler_keeps_energy_moment_and_laplace_vector() -> None:
    """Goldstein, sections 3.2 and 3.9: p_θ = m r² θ̇, E = −μ m/(2a), and A = p × L − m² μ r/|r|."""
    p, dyn = values("kepler"), kc.load("kepler")
    x0, period = orbit(0.6)
    sol = dyn.simulate((0.0, 2 * period), x0, **SHARP)
    r, theta, v, w = sol.x.T
    moment = p.m * r**2 * w
    energy = p.m * (v**2 + r**2 * w**2) / 2 - p.m * p.mu / r
    found = dyn.kinetic_energy(0.0, sol.x) + dyn.potential_energy(0.0, sol.x)
    radial, around = p.m * moment * r * w - p.m**2 * p.mu, -p.m * moment * v
    laplace = (radial + 1j * around) * np.exp(1j * theta)
    assert constant(moment)
    assert constant(energy)
    assert energy[0] == pytest.approx(-p.mu * p.m / (2 * x0[0] / 0.4), rel=1e-13)
    np.testing.assert_allclose(found, energy, rtol=1e-12)
    np.testing.assert_allclose(laplace, p.m**2 * p.mu * 0.6, rtol=1e-8)


# -------------------------------------------------------------------------------------------------------- rotating hoop
def test_hoop_against_lagrange() -> None:
    """Taylor, example 7.6: θ̈ = (W² cos θ − g/R) sin θ, at any time."""
    p, x = values("rotating_hoop"), random_states(2, 3, -3.0, 3.0)
    expected = (p.W**2 * np.cos(x[:, 0]) - p.g / p.R) * np.sin(x[:, 0])
    for t in (0.0, 0.37):
        np.testing.assert_allclose(kc.load("rotating_hoop").udot(t, x)[:, 0], expected, rtol=0, atol=1e-11)


def test_hoop_has_an_equilibrium_beyond_the_critical_rate() -> None:
    """Taylor, example 7.7: about cos θ0 = g/(W² R) the bead oscillates with W sin θ0; below it rests at the bottom."""
    p, dyn = values("rotating_hoop"), kc.load("rotating_hoop")
    theta = np.arccos(p.g / (p.W**2 * p.R))
    assert abs(dyn.udot(0.0, [theta, 0.0])[0]) < 1e-12
    A, _ = dyn.linearize(0.0, [theta, 0.0])
    np.testing.assert_allclose(np.linalg.eigvals(A).imag, [p.W * np.sin(theta), -p.W * np.sin(theta)], rtol=1e-12)
    A, _ = dyn.linearize(0.0, [0.0, 0.0])
    assert np.linalg.eigvals(A).real.max() == pytest.approx(np.sqrt(p.W**2 - p.g / p.R), rel=1e-12)


def test_hoop_keeps_its_hamiltonian_and_not_its_energy() -> None:
    """T₂ − T₀ + U is constant; T + U is larger by 2 T₀, whose rate is the power of the drive."""
    p, dyn = values("rotating_hoop"), kc.load("rotating_hoop")
    sol = dyn.simulate((0.0, 3.0), [0.3, 0.5], **SHARP)
    theta, u = sol.x.T
    turning = p.m * (p.R * p.W * np.sin(theta)) ** 2 / 2
    energy = dyn.kinetic_energy(0.0, sol.x) + dyn.potential_energy(0.0, sol.x)
    assert constant(energy - 2 * turning)
    assert np.ptp(energy) > 0.1 * np.abs(energy).max()
    power = 2 * p.m * (p.R * p.W) ** 2 * np.sin(theta) * np.cos(theta) * u
    np.testing.assert_allclose(dyn.power(sol.t, sol.x, dyn.udot(sol.t, sol.x)), power, rtol=0, atol=1e-12)
    assert sol.energy_drift < 1e-9


def test_hoop_has_the_period_of_its_quadrature() -> None:
    """θ̇² = 2 (H − V)/(m R²) with V = −m g R cos θ − m R² W² sin²θ/2, integrated between the turning points."""
    p, dyn, low = values("rotating_hoop"), kc.load("rotating_hoop"), 0.5
    level = -p.g / p.R * np.cos(low) - p.W**2 * np.sin(low) ** 2 / 2
    # with c = cos θ: level + g/R c + W² (1 − c²)/2 = 0 at both turns
    ends = np.sort(np.arccos(np.roots([-(p.W**2) / 2, p.g / p.R, p.W**2 / 2 + level])))

    def rate(s: float) -> float:
        """θ = middle − half cos s takes the roots at the ends out of 1/θ̇."""
        theta = (ends[0] + ends[1]) / 2 - (ends[1] - ends[0]) / 2 * np.cos(s)
        square = 2 * (level + p.g / p.R * np.cos(theta)) + (p.W * np.sin(theta)) ** 2
        return float((ends[1] - ends[0]) / 2 * np.sin(s) / np.sqrt(square))

    period = 2 * quad(rate, 0.0, np.pi)[0]
    sol = dyn.simulate((0.0, period), [low, 0.0], **SHARP)
    np.testing.assert_allclose(sol.x[-1], [low, 0.0], atol=1e-7)
    assert sol.x[:, 0].max() == pytest.approx(ends[1], abs=1e-3)
