# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms of the gallery that touch, stick, slide and lift, against published numbers and closed forms."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

import kanecore as kc
from kanecore.gallery._motions import MOTIONS


def values(name: str) -> SimpleNamespace:
    """The default parameters, ``p.m``."""
    return SimpleNamespace(**import_module(f"kanecore.gallery.{name}").PARAMETERS)


def touching(name: str, **changed: Any) -> kc.Modes:
    return kc.Modes(kc.load(name), **{**import_module(f"kanecore.gallery.{name}").CONTACTS, **changed})


# ---------------------------------------------------------------------------------------------------------- woodpecker
def test_woodpecker_has_the_matrices_of_the_source() -> None:
    """Leine, Glocker & van Campen (2001), equations 6 and 7, and the eigenfrequency 72.91 Hz in free fall."""
    p, dyn = values("woodpecker"), kc.load("woodpecker")
    M = [
        [p.m_S + p.m_M, p.m_S * p.l_M, p.m_S * p.l_G],
        [p.m_S * p.l_M, p.J_M + p.m_S * p.l_M**2, p.m_S * p.l_M * p.l_G],
        [p.m_S * p.l_G, p.m_S * p.l_M * p.l_G, p.J_S + p.m_S * p.l_G**2],
    ]
    x = np.array([0.1, 0.05, -0.3, 0.2, 3.0, -4.0])
    spring = p.c * (x[1] - x[2])
    h = [-(p.m_S + p.m_M) * p.g, -spring - p.m_S * p.g * p.l_M, spring - p.m_S * p.g * p.l_G]
    assert_allclose(dyn.mass_matrix(0.0, x), M, rtol=1e-13)
    assert_allclose(dyn.forcing(0.0, x), h, rtol=1e-12)
    K = p.c * np.array([[0, 0, 0], [0, 1, -1], [0, -1, 1]])
    assert_allclose(np.sqrt(max(np.linalg.eigvals(np.linalg.solve(M, K)))) / (2 * np.pi), 72.91, atol=0.005)


def test_woodpecker_comes_down_in_the_published_rhythm() -> None:
    """The order of the events of figure 7, φ_S down to -0.53; the period is 0.1452 s there.

    Moreau's time stepping of the equations of the source has 0.1461 s, with steps of 4e-5 s.
    """
    run = touching("woodpecker").simulate((0.0, 2.0), MOTIONS["woodpecker"].start)
    jams = [t for t, modes in run.modes if modes["lower"] == "stick"]
    assert_allclose(np.diff(jams)[-4:], 0.1460, atol=1e-4)
    assert_allclose(np.diff(jams)[-4:], 0.1452, rtol=0.006)
    late = run(np.linspace(1.0, 2.0, 5001))[:, 2]
    assert_allclose([late.min(), late.max()], [-0.53, 0.12], atol=0.005)
    last = [i for i, (t, _, _) in enumerate(run.impacts) if jams[-2] < t < jams[-1]]
    struck = [name for i in last for name, impulse in run.impulses[i].items() if impulse.any()]
    assert [name for i, name in enumerate(struck) if struck[i - 1 : i] != [name]] == ["upper", "beak", "upper", "lower"]
    assert run.energy_drift < 1e-6


@pytest.mark.parametrize(("mu", "mode"), [(0.286, "stick"), (0.284, "slide -")])
def test_woodpecker_hangs_with_enough_friction(mu: float, mode: str) -> None:
    """It rests at φ_S = -0.2216 if μ >= 0.285."""
    p = values("woodpecker")
    phi = -(p.r_M - p.r_0) / p.h_M
    hangs = phi - p.m_S * p.g * p.l_G / p.c
    assert_allclose(hangs, -0.2216, atol=1e-4)
    run = touching("woodpecker", mu=mu).simulate((0.0, 0.01), {"phi_M": phi, "phi_S": hangs})
    assert run.modes[0][1]["lower"] == mode


# ------------------------------------------------------------------------------------------------------- rocking block
def test_rocking_block_loses_rate_by_housner() -> None:
    """1 − (3/2) sin²α in each impact; the first one at the time of the fall about a corner."""
    p, dyn = values("rocking_block"), kc.load("rocking_block")
    alpha, R, lean = np.arctan(p.b / p.h), np.hypot(p.b, p.h), 0.1
    c, s = np.cos(lean), np.sin(lean)
    start = {"theta": lean, "x": p.b * (c - 1) - p.h * s, "y": p.h * c + p.b * s}
    run = touching("rocking_block").simulate((0.0, 3.0), start, inputs={"s": 0.0})
    kept = [after[5] / before[5] for _, before, after in run.impacts[:3]]
    assert_allclose(kept, 1 - 1.5 * np.sin(alpha) ** 2, rtol=1e-8)

    def slowness(part: float) -> float:  # θ = lean (1 − part²), without the pole at rest
        angle = lean * (1 - part**2)
        fallen = np.cos(alpha - lean) - np.cos(alpha - angle)
        return float(2 * lean * part / np.sqrt(1.5 * p.g / R * fallen)) if part else 0.0

    assert_allclose(run.impacts[0][0], quad(slowness, 0, 1, epsabs=1e-10)[0], rtol=1e-6)
    assert dyn.input_names == ("s", "s_d", "s_dd")


def test_rocking_block_lifts_above_g_tan_alpha() -> None:
    p = values("rocking_block")
    for factor, modes in ((0.999, ["stick", "stick"]), (1.001, ["stick", "open"])):
        pulled = kc.Signal([0.0, 1.0, 2.0], [factor * p.g * p.b / p.h * t**2 / 2 for t in (0, 1, 2)], kind="cubic")
        run = touching("rocking_block").simulate((0.0, 0.1), {"y": p.h}, inputs={"s": pulled})
        assert list(run.modes[-1][1].values()) == modes


# ------------------------------------------------------------------------------------------------------------- capture
def test_capture_keeps_both_momenta() -> None:
    p = values("capture")
    run = touching("capture").simulate((0.0, 8.0), MOTIONS["capture"].start)
    assert [list(modes.values()) for _, modes in run.modes] == [["open", "open"], ["held", "open"], ["held", "held"]]
    m, J = np.array([p.m_1, p.m_2]), np.array([p.J_1, p.J_2])
    r, v, rates = run.x[:, [[0, 1], [3, 4]]], run.x[:, [[6, 7], [9, 10]]], run.x[:, [8, 11]]
    momentum = np.einsum("i,nij->nj", m, v)
    angular = rates @ J + (r[..., 0] * v[..., 1] - r[..., 1] * v[..., 0]) @ m
    assert_allclose(momentum, np.tile([p.m_1 * 0.25, 0.0], (len(run.t), 1)), atol=1e-9)
    assert_allclose(angular, angular[0], rtol=1e-9)
    assert_allclose(rates[-1, 0], rates[-1, 1], rtol=1e-9)
    first, second = (t for t, _ in run.modes[1:])
    apart = run([0.0, first, second - 1e-6, second + 1e-6, 8.0])
    turned = apart[:, 2] - apart[:, 5]
    assert turned[1] > 0.1 > 1e-5 > abs(turned[2])
    assert_allclose(turned[3:], 0.0, atol=1e-8)  # the face of the target and the front of the chaser
