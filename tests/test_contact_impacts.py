# SPDX-License-Identifier: BSD-3-Clause
"""Impacts with restitution by Newton and by Poisson, simultaneous and with friction: laws, energy, closed forms."""

from typing import Any

import numpy as np
import pytest
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, plane_body, rates
from numpy.testing import assert_allclose

import kanecore as kc

LAWS = ["newton", "poisson"]


def balls() -> kc.CompiledModel:
    """Three balls of 1 kg on a line, without their sizes."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("a b c"), me.dynamicsymbols("va vb vc")
    bodies = []
    for name, x, v in zip("abc", q, u, strict=True):
        P = O.locatenew(name, x * N.x)
        P.set_vel(N, v * N.x)
        bodies.append(me.Particle(name, P, 1.0))
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies))


@pytest.mark.parametrize(
    ("first", "second", "newton", "poisson"),
    [
        (1.0, 1.0, [-1 / 3, 2 / 3, 2 / 3], [-1 / 3, 2 / 3, 2 / 3]),
        (0.0, 1.0, [1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 2 / 3]),
        (1.0, 0.0, [-1 / 3, 2 / 3, 2 / 3], [-1 / 3, 2 / 3, 2 / 3]),
    ],
)
def test_a_ball_hits_two_that_touch(first: float, second: float, newton: Any, poisson: Any) -> None:
    """Compressions 2/3 and 1/3 of m v; at the second contact Newton has no speed to give back, Poisson has 1/3."""
    a, b, c = me.dynamicsymbols("a b c")
    gaps = {"left": {"gap": b - a, "e": first}, "right": {"gap": c - b, "e": second}}
    for law, after in (("newton", newton), ("poisson", poisson)):
        run = kc.Modes(balls(), gaps, impact=law).simulate((0.0, 1e-3), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        assert_allclose(run.impacts[0][2][3:], after, atol=1e-12)


def test_the_end_of_a_rod_that_sticks_in_compression() -> None:
    """Λ = (1 + e) Λ_C of a rod that falls without spin at 30°, which sticks; Newton keeps v⁺ = −e v of its end."""
    c, s, e, mass, inertia = np.cos(0.5), np.sin(0.5), 0.6, 1.3, 0.2
    dyn = compiled(plane_body([(-1.0, 0.0)], mass, inertia, 0.0))
    start = [c, s, 0.5, 0.0, -2.0, 0.0]
    rows = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])
    d = rows @ np.diag([1 / mass, 1 / mass, 1 / inertia]) @ rows.T
    compression = np.linalg.solve(d, [2.0, 0.0])
    assert abs(compression[1]) < 1.3 * compression[0]
    for law in LAWS:
        run = kc.Modes(dyn, "c0", mu=1.3, e=e, impact=law).simulate((0.0, 1e-6), start)
        [(_, _, after)] = run.impacts
        assert_allclose(rows @ after[3:], [2.0 * e, 0.0], atol=1e-11)
        assert_allclose(run.impulses[0]["c0"], (1 + e) * compression, rtol=1e-10)
    # with a slip that ends in the compression the two laws differ: Poisson's has the compression's share alone
    slips = [c, s, 0.5, 0.8, -2.0, 0.0]
    compression = -np.linalg.solve(d, rows @ slips[3:])
    expansion = e * compression[0] * np.array([1.0, -d[1, 0] / d[1, 1]])
    assert abs(compression[1]) < 1.3 * compression[0]
    run = kc.Modes(dyn, "c0", mu=1.3, e=e, impact="poisson").simulate((0.0, 1e-6), slips)
    assert_allclose(run.impulses[0]["c0"], compression + expansion, rtol=1e-10)


def double_pendulum() -> kc.CompiledModel:
    """Two rods of 1 kg and 1 m; angles from the vertical; no gravity."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    joint, bodies = O, []
    for i, (angle, rate) in enumerate(zip(q, u, strict=True)):
        A = N.orientnew(f"A{i}", "Axis", [angle, N.z])
        A.set_ang_vel(N, rate * N.z)
        centre, end = joint.locatenew(f"C{i}", -0.5 * A.y), joint.locatenew(f"P{i}", -1.0 * A.y)
        for point in (centre, end):
            point.v2pt_theory(joint, N, A)
        bodies.append(me.RigidBody(f"rod {i}", centre, A, 1.0, (me.inertia(A, 0, 0, 1 / 12), centre)))
        joint = end
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies, points=[joint]))


@pytest.mark.parametrize("law", LAWS)
def test_a_double_pendulum_that_strikes_gains_no_energy(law: str) -> None:
    """As Kane's (1984): with e = 0.8 and μ = 1 Newton's speeds have 1.79 of the energy before; these runs have not."""
    mu, e, (a, b), u = 1.0, 0.8, np.deg2rad([40, 60]), np.array([-0.2, -1.8])
    dyn = double_pendulum()
    mass, rows = dyn.mass_matrix(0.0, [a, b, *u]), np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)]])
    v = rows @ u
    push = -np.linalg.solve(rows @ np.linalg.solve(mass, rows.T), v * [1 + e, 1])
    assert abs(push[1]) < mu * push[0]  # the end would stick
    gained = u + np.linalg.solve(mass, rows.T @ push)
    assert gained @ mass @ gained > 1.7 * (u @ mass @ u)
    low = -np.cos(a) - np.cos(b)
    run = kc.Modes(dyn, "P1", origin=(0.0, low, 0.0), mu=mu, e=e, impact=law).simulate((0.0, 1e-6), [a, b, *u])
    after = run.impacts[0][2][2:]
    assert after @ mass @ after <= (u @ mass @ u) * (1 + 1e-11)
    assert (rows @ after)[0] > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_random_impacts_obey_the_laws(seed: int) -> None:
    """Bodies that fall on one to four points: none approaches, friction is in its cone, and energy does not grow."""
    rng = np.random.default_rng(seed)
    mass, inertia = np.exp(rng.normal(size=2))
    h, corners = rng.uniform(0.1, 2.0), np.sort(rng.uniform(-2.0, 2.0, rng.integers(1, 5)))
    dyn = compiled(plane_body([(x, -h) for x in corners], mass, inertia, 9.81))
    start = np.array([0.0, h, 0.0, *rng.normal(size=3)])
    laws = {f"c{i}": {"mu": rng.choice([0.0, 0.3, 0.8, 2.0]), "e": rng.uniform()} for i in range(len(corners))}
    for law in LAWS:
        run = kc.Modes(dyn, laws, impact=law).simulate((0.0, 1e-9), start)
        for (_, before, after), pushes in zip(run.impacts[:1], run.impulses, strict=False):
            weights = np.array([mass, mass, inertia])
            assert weights @ after[3:] ** 2 <= weights @ before[3:] ** 2 * (1 + 1e-10)
            assert (after[4] + corners * after[5] >= -1e-10).all()
            for name, push in pushes.items():
                assert abs(push[1]) <= laws[name]["mu"] * push[0] * (1 + 1e-9) + 1e-12


def test_the_law_of_impacts_is_named() -> None:
    with pytest.raises(ValueError, match="impact is 'moreau'; it must be 'newton' or 'poisson'"):
        kc.Modes(balls(), (), impact="moreau")
