# SPDX-License-Identifier: BSD-3-Clause
"""What is true only at an instant: users' models say more, or less, than their positions and orientations do.

Each mechanism is a published one, and SymPy's KanesMethod, which differentiates every vector in the axes in which it
was written, says what must come out.
"""

import random
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import sympy as sm
from oracle.instant_systems import (
    System,
    ball_on_turntable,
    carried_wheels,
    described,
    resting_points_and_loops,
    rolling_disc,
    wheel_without_spin_angle,
)
from oracle.sympy_oracle import KaneOracle
from sweep import every
from sympy.physics.mechanics import inertia

import kanecore as kc

SYSTEMS: dict[str, Callable[[], System]] = {
    "rolling disc": rolling_disc,
    "rolling disc, inertia in the disc": lambda: rolling_disc(lean_inertia=False),
    "ball whose attitude contradicts its angular velocity": lambda: ball_on_turntable(oriented=True),
    "ball without attitude": lambda: ball_on_turntable(oriented=False),
    "wheel": lambda: carried_wheels(where="wheel"),
    "wheel, inertia in its fork": lambda: carried_wheels(where="fork"),
    "wheel, inertia in the cart": lambda: carried_wheels(where="cart"),
    "wheel without an angle of spin": wheel_without_spin_angle,
    "resting points and loops": resting_points_and_loops,
}


def compare(system: System, dyn: kc.CompiledModel, states: int = 2) -> None:
    """M, f and q̇ against SymPy's, at random states, to 1e-11 of their size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SymPy's, of loops of positions and several neighbours
        oracle = KaneOracle(system)
    draw = random.Random(7)
    for _ in range(states):
        q, u = ([draw.uniform(-1.2, 1.2) for _ in system[name]] for name in "qu")
        expected = oracle({"q": q, "u": u, "t": 0.0})
        for kernel, name in (("mass_matrix", "M"), ("forcing", "f"), ("qdot", "qdot")):
            right = np.array(expected[name].tolist(), dtype=float)
            ours = getattr(dyn, kernel)(0.0, [*q, *u]).reshape(right.shape)
            np.testing.assert_allclose(ours, right, rtol=0, atol=1e-11 * (abs(right).max() + 1e-12))


@pytest.mark.parametrize("name", every(8, SYSTEMS))
def test_equations_are_those_of_kanes_method(name: str) -> None:
    system = SYSTEMS[name]()
    dyn = kc.compile(described(system), parameters=system["parameters"])
    compare(system, dyn)


def test_disc_without_orientation_moves_as_with_one() -> None:
    with_spin, without = rolling_disc(), rolling_disc(spun=False)
    a, b = (kc.compile(described(s), parameters=s["parameters"]) for s in (with_spin, without))
    x = [0.3, 0.4, 0.1, 0.5, -2.0, 0.7]
    np.testing.assert_allclose(a.rhs(0.0, x), b.rhs(0.0, x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("oriented", [True, False])
def test_ball_circles_at_two_sevenths_of_the_turntable(oriented: bool) -> None:
    """Weltner: with velocity 2/7 Ω × (r − r_c) the centre moves on a circle, whatever the ball's radius and mass."""
    system = ball_on_turntable(oriented=oriented)
    dyn = kc.compile(described(system), parameters=system["parameters"])
    x0 = np.array([0.4, -0.1, 0.7, -1.1, 0.3])
    velocity = dyn.qdot(0.0, x0)
    rate = 2 / 7 * system["parameters"][sm.Symbol("Omega")]
    centre = x0[:2] - np.array([velocity[1], -velocity[0]]) / rate  # v = rate × (r − centre)
    sol = dyn.simulate((0.0, 5.0), x0, rtol=1e-11, atol=1e-12)
    radius = np.linalg.norm(sol.q - centre, axis=1)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-9)
    angle = np.unwrap(np.arctan2(*(sol.q - centre).T[::-1]))
    np.testing.assert_allclose(angle - angle[0], rate * sol.t, rtol=1e-8, atol=1e-9)


def test_report_tells_what_contradicts_what() -> None:
    text = " ".join(described(ball_on_turntable(oriented=True)).report().split())
    assert "does not turn as its angular velocity says" in text
    assert "G: from O, velocity from its position" in text
    text = " ".join(described(rolling_disc(spun=False)).report().split())
    assert "R: not oriented, written in the axes of L" in text
    assert "Dmc: from C, velocity as set by the user, which is not the derivative of its position" in text


def test_axes_of_a_frame_without_orientation_are_refused() -> None:
    system = rolling_disc(spun=False)
    [body] = system["bodies"]
    body.inertia = (inertia(body.frame, 1, 2, 1), body.masscenter)
    with pytest.raises(kc.ModelError, match=r"frame R in the inertia of body disc is not oriented"):
        described(system)
