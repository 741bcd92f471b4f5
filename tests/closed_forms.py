# SPDX-License-Identifier: BSD-3-Clause
"""Motions that are known in closed form, for tests of what integration reaches.

mpmath evaluates them with more digits than a double has, so that all of an error is the integration's.  At the time
zero of the formulas something turns back; runs begin a while later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sm
import sympy.physics.mechanics as me
from mpmath import mp

import kanecore as kc

__all__ = ["MOTIONS", "Motion"]

Array = npt.NDArray[np.float64]
DIGITS = 30


@dataclass(frozen=True, eq=False)
class Motion:
    """A model, its parameters, and its state at any time; ``span`` is that of a run."""

    model: Callable[[], kc.CompiledModel]
    parameters: dict[str, float]
    formula: Callable[[Any, Any], list[Any]]  # of t and the parameters
    span: tuple[float, float]

    def state(self, t: float) -> Array:
        """[q, u] at a time, correct to the last digit."""
        with mp.workdps(DIGITS):
            p = {name: mp.mpf(value) for name, value in self.parameters.items()}
            return np.array([float(x) for x in self.formula(mp.mpf(t), p)])

    def compiled(self) -> kc.CompiledModel:
        """The model with these parameters."""
        dyn = self.model()
        dyn.parameters.update(self.parameters)
        return dyn

    def off(self, x: Array, exact: Array) -> Array:
        """The error of each component of a state; a unit quaternion and its negative are one attitude."""
        exact = exact.copy()
        for group in map(list, self.model().unit):
            exact[group] *= np.sign(exact[group] @ x[group])
        return np.abs(x - exact)


# Integrals of elliptic functions ----------------------------------------------------------------------------
def amplitude(tau: Any, m: Any) -> tuple[int, Any]:
    """(n, φ) with am(τ|m) = n π + φ and |φ| ≤ π/2."""
    n = int(mp.nint(tau / (2 * mp.ellipk(m))))
    return n, mp.asin(mp.ellipfun("sn", tau - 2 * n * mp.ellipk(m), m=m))


def third_kind(n: Any, tau: Any, m: Any) -> Any:
    """∫ dτ / (1 − n sn²τ) from 0."""
    turns, phi = amplitude(tau, m)
    return 2 * turns * mp.ellippi(n, m) + mp.ellippi(n, phi, m)


def nutation(t: Any, c0: Any, alpha: Any, beta: Any, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """c, ċ, ∫ dt/(1 − c), ∫ dt/(1 + c) where ċ² = (1 − c²)(α − β c) − (b − a c)², and c0 is the least c, at t = 0.

    Goldstein, Poole & Safko, *Classical Mechanics*, 3rd edition, section 5.7: c is the cosine of a top's inclination.
    """
    # the cubic is β (c − c0)(c − r2)(c − r3)
    total, product = (alpha + a**2) / beta - c0, -1 + (2 * a * b / beta) + c0 * (c0 - (alpha + a**2) / beta)
    root = mp.sqrt(total**2 - 4 * product)
    r2, r3 = (total - root) / 2, (total + root) / 2
    assert -1 < c0 < r2 < 1 < r3
    rate, m = mp.sqrt(beta * (r3 - c0)) / 2, (r2 - c0) / (r3 - c0)
    sn, cn, dn = (mp.ellipfun(name, rate * t, m=m) for name in ("sn", "cn", "dn"))
    below = third_kind((r2 - c0) / (1 - c0), rate * t, m) / (1 - c0) / rate
    above = third_kind(-(r2 - c0) / (1 + c0), rate * t, m) / (1 + c0) / rate
    return c0 + (r2 - c0) * sn**2, 2 * (r2 - c0) * rate * sn * cn * dn, below, above


# The motions ------------------------------------------------------------------------------------------------
def kepler(t: Any, p: dict[str, Any]) -> list[Any]:
    """An ellipse of semi-axis 1 and eccentricity 0.4, by t √μ = E − e sin E; t = 0 at the pericentre."""
    e, mean = mp.mpf("0.4"), t * mp.sqrt(p["mu"])
    anomaly = mp.findroot(lambda x: x - e * mp.sin(x) - mean, mean)
    r = 1 - e * mp.cos(anomaly)
    # Broucke & Cefola 1973: θ − E without a jump
    beta = e / (1 + mp.sqrt(1 - e**2))
    ahead = 2 * mp.atan(beta * mp.sin(anomaly) / (1 - beta * mp.cos(anomaly)))
    moment = mp.sqrt(p["mu"] * (1 - e**2))
    return [r, anomaly + ahead, mp.sqrt(p["mu"]) * e * mp.sin(anomaly) / r, moment / r**2]


def swing(t: Any, p: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """θ, φ of a spherical pendulum and their rates; Landau & Lifshitz, *Mechanics*, section 14, in terms of −cos θ."""
    theta0, rate0 = mp.mpf("0.7"), mp.mpf("6.0")
    c0, b = -mp.cos(theta0), mp.sin(theta0) ** 2 * rate0
    beta = 2 * p["g"] / p["l"]
    alpha = mp.sin(theta0) ** 2 * rate0**2 + beta * c0
    c, c_rate, below, above = nutation(t, c0, alpha, beta, mp.mpf(0), b)
    return mp.acos(-c), b * (below + above) / 2, c_rate / mp.sqrt(1 - c**2), b / (1 - c**2)


def spherical_pendulum(t: Any, p: dict[str, Any]) -> list[Any]:
    return list(swing(t, p))


def bob_on_a_sphere(t: Any, p: dict[str, Any]) -> list[Any]:
    """The same motion in x, y, z."""
    theta, phi, theta_rate, phi_rate = swing(t, p)
    length, (c, s) = p["l"], (mp.cos(phi), mp.sin(phi))
    out, out_rate = mp.sin(theta), mp.cos(theta) * theta_rate
    place = [out * c, out * s, -mp.cos(theta)]
    rates = [out_rate * c - out * phi_rate * s, out_rate * s + out * phi_rate * c, out * theta_rate]
    return [length * x for x in (*place, *rates)]


def spinning_top(t: Any, p: dict[str, Any]) -> list[Any]:
    """Goldstein, section 5.7: it precesses too fast at its lowest inclination, and so rises from there, and back."""
    theta0, phi_rate0, spin = mp.mpf("1.1"), mp.mpf("5.0"), mp.mpf("40.0")
    c0, inertia = mp.cos(theta0), p["I1"] + p["m"] * p["l"] ** 2
    a = p["I3"] * spin / inertia
    b = mp.sin(theta0) ** 2 * phi_rate0 + a * c0
    beta = 2 * p["m"] * p["g"] * p["l"] / inertia
    alpha = mp.sin(theta0) ** 2 * phi_rate0**2 + beta * c0
    c, c_rate, below, above = nutation(t, c0, alpha, beta, a, b)
    phi = ((b - a) * below + (b + a) * above) / 2
    psi = (spin - a) * t - ((b - a) * below - (b + a) * above) / 2
    s = mp.sqrt(1 - c**2)
    theta_rate, phi_rate = -c_rate / s, (b - a * c) / s**2
    across = [
        phi_rate * s * mp.sin(psi) + theta_rate * mp.cos(psi),
        phi_rate * s * mp.cos(psi) - theta_rate * mp.sin(psi),
    ]
    return [phi, mp.acos(c), psi, *across, spin]


def free_body(t: Any, p: dict[str, Any]) -> list[Any]:
    """Landau & Lifshitz, *Mechanics*, sections 36 and 37; the mass centre falls freely.

    Axes fixed in space that have z along the angular momentum turn to the body's by Euler's angles φ, θ, ψ (3-1-3).
    """
    i1, i2, i3 = p["Ixx"], p["Iyy"], p["Izz"]
    w1, w3 = mp.mpf("1.5"), mp.mpf("2.0")  # where w2 is zero
    w2 = w1 * mp.sqrt(i1 * (i3 - i1) / (i2 * (i3 - i2)))
    rate = w3 * mp.sqrt((i3 - i1) * (i3 - i2) / (i1 * i2))
    m = (i2 - i1) * w1 * w2 / (i3 * w3 * rate)
    assert i1 < i2 < i3
    assert 0 < m < 1
    sn, cn, dn = (mp.ellipfun(name, rate * t, m=m) for name in ("sn", "cn", "dn"))
    w = [w1 * cn, w2 * sn, w3 * dn]
    momentum = mp.sqrt((i1 * w1) ** 2 + (i3 * w3) ** 2)
    twice_energy = i1 * w1**2 + i3 * w3**2
    rest = momentum**2 - (i3 * w3) ** 2
    integral = third_kind(-((i3 * w3) ** 2) * m / rest, rate * t, m) / rate
    phi = momentum / i3 * (t + (twice_energy * i3 - momentum**2) / rest * integral)
    theta, psi = mp.acos(i3 * w[2] / momentum), mp.atan2(i1 * w[0], i2 * w[1])
    half = [mp.cos(theta / 2) * mp.cos((phi + psi) / 2), mp.sin(theta / 2) * mp.cos((phi - psi) / 2)]
    half += [mp.sin(theta / 2) * mp.sin((phi - psi) / 2), mp.cos(theta / 2) * mp.sin((phi + psi) / 2)]
    e0, e1, e2, e3 = half
    velocity = [mp.mpf("0.3"), mp.mpf("-0.2"), mp.mpf("0.5") - p["g"] * t]
    place = [mp.mpf("0.3") * t, mp.mpf("-0.2") * t, mp.mpf("0.5") * t - p["g"] * t**2 / 2]
    turned = [  # columns of the matrix that takes components in the body to those in space
        [1 - 2 * (e2**2 + e3**2), 2 * (e1 * e2 + e0 * e3), 2 * (e1 * e3 - e0 * e2)],
        [2 * (e1 * e2 - e0 * e3), 1 - 2 * (e1**2 + e3**2), 2 * (e2 * e3 + e0 * e1)],
        [2 * (e1 * e3 + e0 * e2), 2 * (e2 * e3 - e0 * e1), 1 - 2 * (e1**2 + e2**2)],
    ]
    return [*place, *half, *w, *(mp.fdot(axis, velocity) for axis in turned)]


def knife_edge(t: Any, p: dict[str, Any]) -> list[Any]:
    """From rest along the line of slope, Bloch, *Nonholonomic Mechanics and Control*, section 1.6."""
    w = mp.mpf("1.7")
    pull, angle = p["g"] * mp.sin(p["alpha"]), w * t
    place = [pull / (2 * w**2) * mp.sin(angle) ** 2, pull / (2 * w**2) * (angle - mp.sin(2 * angle) / 2), angle]
    speed = pull / w * mp.sin(angle)
    return [*place, speed * mp.cos(angle), speed * mp.sin(angle), w]


# The models -------------------------------------------------------------------------------------------------
@cache
def gallery(name: str) -> kc.CompiledModel:
    return kc.load(name)


@cache
def particle_on_a_sphere() -> kc.CompiledModel:
    """A spherical pendulum without a singular place, by a configuration constraint."""
    q, u, (m, length, g) = me.dynamicsymbols("x y z"), me.dynamicsymbols("u v w"), sm.symbols("m l g")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    bob = origin.locatenew("P", q[0] * frame.x + q[1] * frame.y + q[2] * frame.z)
    bob.set_vel(frame, u[0] * frame.x + u[1] * frame.y + u[2] * frame.z)
    model = kc.Model(
        *(frame, q, u, [x.diff() - v for x, v in zip(q, u, strict=True)]),
        configuration_constraints={"rod": (q[0] ** 2 + q[1] ** 2 + q[2] ** 2 - length**2) / 2},
        bodies=[me.Particle("bob", bob, m)],
        forcelist=[(bob, -m * g * frame.z)],
        name="bob on a sphere",
    )
    return kc.compile(model)


PENDULUM = {"m": 0.4, "l": 0.6, "g": 9.81}
#: By name; the parameters that differ from the gallery's make numbers near 1.
MOTIONS = {
    "kepler": Motion(lambda: gallery("kepler"), {"m": 1.0, "mu": 1.0}, kepler, (0.4, 9.0)),
    "spherical pendulum": Motion(lambda: gallery("spherical_pendulum"), PENDULUM, spherical_pendulum, (0.1, 3.0)),
    "bob on a sphere": Motion(particle_on_a_sphere, PENDULUM, bob_on_a_sphere, (0.1, 3.0)),
    "top": Motion(
        lambda: gallery("spinning_top"),
        {"m": 0.5, "l": 0.1, "I1": 0.003, "I3": 0.004, "g": 9.81},
        spinning_top,
        (0.1, 1.5),
    ),
    "free body": Motion(
        lambda: gallery("free_body"),
        {"g": 9.81, "m": 6.0, "Ixx": 0.025, "Iyy": 0.05, "Izz": 0.065, "Ixy": 0.0, "Iyz": 0.0, "Izx": 0.0},
        free_body,
        (0.1, 3.0),
    ),
    "knife edge": Motion(
        lambda: gallery("knife_edge"), {"m": 2.4, "I": 0.35, "g": 9.81, "alpha": 0.25}, knife_edge, (0.1, 3.0)
    ),
}
