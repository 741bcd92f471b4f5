# SPDX-License-Identifier: BSD-3-Clause
"""Runs of contacts that open, close, stick and slide, against closed forms: blocks on a slope, a ball, Housner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, rates
from numpy.testing import assert_allclose

import kanecore as kc

pytest.importorskip("scipy")
G = 9.81


def falling(angle: float = 0.0, pull: Any = 0, **options: Any) -> kc.CompiledModel:
    """A particle of 2 kg over a ground along x; gravity leans by an angle."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    force = 2.0 * G * (np.sin(angle) * N.x - np.cos(angle) * N.y) + pull
    model = kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=[(P, force)], **options)
    return compiled(model)


def test_a_block_slides_up_a_slope_and_sticks_or_comes_back() -> None:
    angle = 0.4
    for mu in (0.5, 0.3):
        run = kc.Modes(falling(angle), ["P"], mu=mu).simulate((0.0, 2.0), [0.0, 0.0, -3.0, 0.0])
        up, down = G * (np.sin(angle) + mu * np.cos(angle)), G * (np.sin(angle) - mu * np.cos(angle))
        (start, first), (turn, second) = run.modes
        assert (start, first["P"], second["P"]) == (0.0, "slide -", "stick" if mu > np.tan(angle) else "slide +")
        assert_allclose(turn, 3.0 / up, rtol=1e-9)
        back = 0.0 if mu > np.tan(angle) else 0.5 * down * (2.0 - turn) ** 2
        assert_allclose(run.x[-1], [back - 4.5 / up, 0.0, 2 * back / (2.0 - turn), 0.0], atol=1e-8)
        assert not run.impacts


def test_a_block_breaks_loose_and_lifts() -> None:
    """Pulled by F = 4 t along and up it slides when F = μ (m g − F), and lifts when F = m g."""
    N, O = ground()  # noqa: E741
    t = me.dynamicsymbols._t
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    load = (P, (4 * t) * N.x + (4 * t - 2.0 * G) * N.y)
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=[load]))
    run = kc.Modes(dyn, "P", mu=0.5).simulate((0.0, 6.0), np.zeros(4))
    assert [mode["P"] for _, mode in run.modes] == ["stick", "slide +", "open"]
    assert_allclose([time for time, _ in run.modes[1:]], [0.5 * 2.0 * G / (4 * 1.5), 2.0 * G / 4], rtol=1e-9)
    left = 6.0 - 2.0 * G / 4
    assert_allclose(run.x[-1, [1, 3]], [left**3 / 3, left**2], rtol=1e-8)


def test_a_ball_bounces_until_it_lies() -> None:
    run = kc.Modes(falling(), {"P": {"e": 0.6}}, rest=1e-3).simulate((0.0, 4.0), [0.0, 1.0, 0.5, 0.0])
    first, n = np.sqrt(2 / G), len(run.impacts)
    times = [first + 2 * first * sum(0.6**k for k in range(1, i + 1)) for i in range(n)]
    assert_allclose([time for time, _, _ in run.impacts], times, rtol=1e-8)
    assert [mode["P"] for _, mode in run.modes[-2:]] == ["open", "slide +"]
    assert_allclose(run.modes[-1][0], times[-1])
    assert_allclose(run.x[-1], [2.0, 0.0, 0.5, 0.0], atol=1e-7)


def rocking(alpha: float) -> kc.CompiledModel:
    """A block of half diagonal 1 m, of which alpha is the angle between its side and its diagonal."""
    N, O = ground()  # noqa: E741
    (x, y, tilt), (vx, vy, rate) = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    A = N.orientnew("A", "Axis", [tilt, N.z])
    A.set_ang_vel(N, rate * N.z)
    C = O.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    corners = [
        C.locatenew(name, side * np.sin(alpha) * A.x - np.cos(alpha) * A.y)
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    body = me.RigidBody("block", C, A, 3.0, (me.inertia(A, 0, 0, sm.Rational(1)), C))
    q, u = [x, y, tilt], [vx, vy, rate]
    loads = [(C, -3.0 * G * N.y)]
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=[body], forcelist=loads, points=corners, name="block"))


def test_a_rocking_block_keeps_what_housner_found() -> None:
    """1 − 1.5 sin²α of the rate at each impact; from −cos(α − θ₀) the energy tells the rate; at last it stands."""
    alpha, tilt = 0.3, 0.15
    c, s, w, h = np.cos(tilt), np.sin(tilt), np.sin(alpha), np.cos(alpha)
    start = [c * w - s * h, s * w + c * h, tilt, 0.0, 0.0, 0.0]
    run = kc.Modes(rocking(alpha), ["left", "right"], mu=2.0).simulate((0.0, 8.0), start)
    assert [mode for _, mode in run.modes[:3]] == [
        {"left": "stick", "right": "open"},
        {"left": "open", "right": "stick"},
        {"left": "stick", "right": "open"},
    ]
    kept = [after[5] / before[5] for _, before, after in run.impacts[:10]]
    assert_allclose(kept, 1 - 1.5 * np.sin(alpha) ** 2, rtol=1e-7)
    landing = -np.sqrt(1.5 * G * (np.cos(alpha - tilt) - np.cos(alpha)))  # ½ (4/3) m ω² = m g Δh
    assert_allclose(run.impacts[0][1][5], landing, rtol=1e-7)
    assert run.modes[-1][1] == {"left": "stick", "right": "stick"}
    assert_allclose(run.x[-1, 1:], [h, 0.0, 0.0, 0.0, 0.0], atol=1e-5)


def test_a_smooth_block_slides_off_its_corner() -> None:
    """Without friction nothing pushes sideways: the mass centre falls straight down."""
    alpha, tilt = 0.3, 0.15
    c, s, w, h = np.cos(tilt), np.sin(tilt), np.sin(alpha), np.cos(alpha)
    start = [c * w - s * h, s * w + c * h, tilt, 0.0, 0.0, 0.0]
    run = kc.Modes(rocking(alpha), ["left", "right"]).simulate((0.0, 0.3), start)
    assert_allclose(run.x[:, 0], start[0], atol=1e-9)
    assert run.modes[0][1]["left"].startswith("slide")


def test_wrong_arguments_are_named() -> None:
    dyn = falling()
    with pytest.raises(KeyError, match="'Q'"):
        kc.Modes(dyn, ["Q"])
    with pytest.raises(KeyError, match="no number of contact 'P' is called 'mi'"):
        kc.Modes(dyn, {"P": {"mi": 0.3}})
    with pytest.raises(ValueError, match=r"mu of P is -1; it must be a number, not negative"):
        kc.Modes(dyn, "P", mu=-1)
    with pytest.raises(ValueError, match="normal and along must be two unit vectors"):
        kc.Modes(dyn, "P", normal=(0, 2, 0))
    with pytest.raises(kc.ModelError, match=r"contact 'P' is 0.1 m below the ground at t = 0: lift x0"):
        kc.Modes(dyn, "P").simulate((0.0, 1.0), [0.0, -0.1, 0.0, 0.0])
    held = falling(velocity_constraints=[me.dynamicsymbols("u")])
    with pytest.raises(kc.ModelError, match="has constraints, and Modes adds those of contacts itself"):
        kc.Modes(held, "P")
