# SPDX-License-Identifier: BSD-3-Clause
"""The laws of rigid contacts at every output of runs: gaps, forces, cones, directions of friction, energy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, rates
from numpy.testing import assert_allclose

import kanecore as kc

G = 9.81
TIME = me.dynamicsymbols._t
LONG = pytest.mark.long
BOX = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))


def box(width: float, height: float) -> list[tuple[float, float]]:
    """Corners: below left, below right, above right, above left."""
    return [(width * a, height * b) for a, b in BOX]


def bodies(shapes: Mapping[str, tuple[float, float, Sequence[tuple[float, float]]]], table: Any = None) -> Any:
    """Bodies in a plane: mass, moment of inertia, corners; A has points "A0", "A1", ..., coordinates "xA", "yA", "aA".

    ``table``: way along x, way along y, and angle of a table with the point "table" in the frame "table".
    """
    N, O = ground()  # noqa: E741
    q, u, given, loads, points, frames = [], [], [], [], [], []
    for name, (mass, inertia, corners) in shapes.items():
        (x, y, angle), (vx, vy, rate) = (
            me.dynamicsymbols(f"x{name} y{name} a{name}"),
            me.dynamicsymbols(f"vx{name} vy{name} w{name}"),
        )
        A, C = me.ReferenceFrame(name), O.locatenew(f"C{name}", x * N.x + y * N.y)
        A.orient_axis(N, N.z, angle)
        A.set_ang_vel(N, rate * N.z)
        C.set_vel(N, vx * N.x + vy * N.y)
        points += [C.locatenew(f"{name}{i}", a * A.x + b * A.y) for i, (a, b) in enumerate(corners)]
        given.append(me.RigidBody(f"body{name}", C, A, mass, (me.inertia(A, 0, 0, inertia), C)))
        loads.append((C, -mass * G * N.y))
        frames.append(A)
        q, u = [*q, x, y, angle], [*u, vx, vy, rate]
    if table is not None:
        S, P = me.ReferenceFrame("table"), O.locatenew("table", table[0] * N.x + table[1] * N.y)
        S.orient_axis(N, N.z, table[2])
        P.set_vel(N, sm.diff(table[0], TIME) * N.x + sm.diff(table[1], TIME) * N.y)
        points, frames = [*points, P], [*frames, S]
    shown = {"bodies": given, "forcelist": loads, "points": points, "frames": frames, "name": "bodies"}
    return compiled(kc.Model(N, q, u, rates(q, u), **shown))


def obeys_the_laws(modes: kc.Modes, run: Any) -> None:
    """gap ≥ 0, N ≥ 0, N gap = 0, |T| ≤ μ N, T = −μ N v/|v| where it slips; the power of all forces changes T + U."""
    c, most = run.numbers(), max(1e-6, *(np.abs(force).max() for force in run.forces.values()))
    for k, (t, x, r) in enumerate(zip(run.t, run.x, run.r, strict=True)):
        c.at(float(t), np.ascontiguousarray(x), np.ascontiguousarray(r))
        row = 0
        for i, contact in enumerate(modes.contacts):
            gap, (normal, *along) = c.gaps[i] / max(c.gap_terms[i], 1e-3), run.forces[contact.name][k]
            slip = c.speeds[row + 1 : row + len(contact.axes)]
            speed, friction, row = np.linalg.norm(slip), np.linalg.norm(along), row + len(contact.axes)
            assert gap > -1e-11, contact.name
            assert normal > -1e-10 * most, contact.name
            assert abs(normal * gap) < 1e-10 * most, contact.name
            assert friction < contact.mu * normal + 1e-10 * most, contact.name
            if speed > 1e-5:
                assert along @ slip < -(contact.mu * normal - 1e-9 * most) * speed, contact.name
    if np.abs(run.x[:, len(run.x[0]) // 2 :]).max() > 1e-9:
        assert run.energy_drift < 1e-6


@pytest.mark.parametrize(
    ("mu", "e"),
    [(0.3, 0.3), *(pytest.param(*laws, marks=LONG) for laws in ((0.1, 0.0), (0.6, 0.5), (1.0, 0.2), (0.3, 0.0)))],
)
def test_a_box_tumbles_to_rest(mu: float, e: float) -> None:
    dyn, rng = bodies({"A": (2.0, 0.23, box(1.0, 0.6))}), np.random.default_rng(1)
    modes = kc.Modes(dyn, ["A0", "A1", "A2", "A3"], mu=mu, e=e)
    run = modes.simulate((0, 4), {"yA": 1.2, "aA": 3 * rng.normal(), "vxA": rng.normal(), "wA": 5 * rng.normal()})
    obeys_the_laws(modes, run)
    assert np.diff(run.energy).max() < 1e-8
    assert_allclose(run.x[-1, 3:], 0.0, atol=1e-9)  # it rests


@pytest.mark.parametrize(
    "table",
    [
        (0.1 * sm.sin(8 * TIME), 0.0, 0.0),
        pytest.param((0.0, 0.05 * sm.sin(18 * TIME), 0.0), marks=LONG),
        pytest.param((0.2 * sm.sin(11 * TIME), 0.1 * sm.sin(11 * TIME), 0.0), marks=LONG),
        pytest.param((0.0, 0.0, 0.3 * sm.sin(3 * TIME)), marks=LONG),
        pytest.param((0.0, 0.0, 0.8 * sm.sin(2 * TIME)), marks=LONG),
    ],
)
def test_a_box_on_a_table_that_shakes_or_turns(table: Any) -> None:
    dyn = bodies({"A": (2.0, 0.2, box(1.0, 0.6))}, table)
    modes = kc.Modes(dyn, {f"A{i}": {"origin": "table", "frame": "table"} for i in (0, 1)}, mu=0.4, e=0.3)
    run = modes.simulate((0.0, 3.0), {"yA": 0.31})
    obeys_the_laws(modes, run)
    assert len(run.modes) > 2


@LONG
@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_a_stack_of_three_blocks_falls_and_rests(tilt: float) -> None:
    dyn = bodies({"A": (3.0, 0.3, box(1.0, 0.4)), "B": (2.0, 0.2, box(0.9, 0.4)), "C": (1.0, 0.1, box(0.8, 0.4))})
    on = {"A": {}, "B": {"origin": "A3", "frame": "A"}, "C": {"origin": "B3", "frame": "B"}}
    modes = kc.Modes(dyn, {f"{name}{i}": law for name, law in on.items() for i in (0, 1)}, mu=0.4, e=0.2)
    start = {"yA": 0.25, "yB": 0.75, "yC": 1.3, "aA": tilt, "aB": -tilt, "aC": tilt / 2}
    if tilt:
        start |= {"yA": 0.35, "yB": 0.95, "yC": 1.6}
    run = modes.simulate((0.0, 1.5), start)
    obeys_the_laws(modes, run)
    assert np.diff(run.energy).max() < 1e-8
    if not tilt:
        assert_allclose(run.x[-1, [1, 4, 7]], [0.2, 0.6, 1.0], atol=1e-9)
        assert set(run.modes[-1][1].values()) == {"stick"}


@LONG
@pytest.mark.parametrize(("mu", "e"), [(0.5, 0.0), (0.3, 0.2)])
def test_five_dominoes_fall(mu: float, e: float) -> None:
    width, height, apart = 0.15, 1.0, 0.5
    dyn = bodies({f"D{i}": (1.0, (height**2 + width**2) / 12, box(width, height)) for i in range(5)})
    contacts: dict[str, dict[str, Any]] = {f"D{i}{corner}": {} for i in range(5) for corner in (0, 1)}
    for i in range(4):
        contacts[f"D{i}2"] = {"origin": f"D{i + 1}3", "frame": f"D{i + 1}", "normal": (-1, 0, 0), "along": (0, 1, 0)}
    start = {f"xD{i}": apart * i for i in range(5)} | {f"yD{i}": height / 2 for i in range(5)}
    push = 2.5  # the first one turns about its corner
    start |= {"wD0": -push, "vxD0": push * height / 2, "vyD0": push * width / 2}
    modes = kc.Modes(dyn, contacts, mu=mu, e=e)
    run = modes.simulate((0.0, 1.2), start)
    obeys_the_laws(modes, run)
    assert np.diff(run.energy).max() < 1e-8
    assert run.x[-1, 2:15:3].max() < -0.2  # all lean


@LONG
def test_a_wheel_with_flats_rolls_down() -> None:
    corners = [(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.arange(7) * np.pi / 4]
    dyn = bodies({"W": (2.0, 0.3, corners)})
    slope = {"normal": (np.sin(0.2), np.cos(0.2), 0), "along": (np.cos(0.2), -np.sin(0.2), 0)}
    for common, start in (({}, {"yW": 0.52, "vxW": 3.0, "wW": -6.0}), (slope, {"yW": 0.6, "wW": -9.0, "vxW": 4.0})):
        modes = kc.Modes(dyn, [f"W{i}" for i in range(7)], mu=0.6, e=0.1, **common)
        run = modes.simulate((0.0, 3.0), start)
        obeys_the_laws(modes, run)
        assert np.diff(run.energy).max() < 1e-8


@pytest.mark.parametrize("k", [1, *(pytest.param(k, marks=LONG) for k in (0, 2, 3))])
def test_a_beam_between_walls(k: int) -> None:
    dyn = bodies({"L": (3.0, 1.0, [(-1.0, 0.0), (1.0, 0.0)])})
    left = {"point": "L0", "normal": (1, 0, 0), "along": (0, 1, 0), "origin": (-1.5, 0, 0)}
    right = {"point": "L1", "normal": (-1, 0, 0), "along": (0, 1, 0), "origin": (1.5, 0, 0)}
    modes = kc.Modes(dyn, {"L0": {}, "L1": {}, "left": left, "right": right}, mu=0.1 + 0.15 * k, e=0.25 * (k % 3))
    run = modes.simulate((0.0, 3.0), {"yL": 1.2, "aL": 0.3 + 0.5 * k, "vxL": 2.0 - k, "wL": 3.0 * k - 2})
    obeys_the_laws(modes, run)
    assert np.diff(run.energy).max() < 1e-8


@pytest.mark.parametrize("mu", [0.0, 0.2, 0.3, 0.7])
def test_a_block_on_a_wedge(mu: float) -> None:
    """It rests where μ > tan 0.5; the wedge rests as well where friction holds it."""
    angle, foot = 0.5, np.array([1.0, 0.0])
    dyn = bodies({"W": (4.0, 1.0, [(-1, -0.3), (1, -0.3)]), "K": (1.0, 0.05, [(-0.1, -0.1), (0.1, -0.1)])})
    normal, along = np.array([np.sin(angle), np.cos(angle), 0.0]), np.array([np.cos(angle), -np.sin(angle), 0.0])
    face = {"origin": "W1", "frame": "W", "normal": normal, "along": along}
    modes = kc.Modes(dyn, {"W0": {}, "W1": {}, "K0": face, "K1": face}, mu=mu)
    x, y = foot - 0.9 * along[:2] + 0.1 * normal[:2]
    run = modes.simulate((0.0, 0.5), {"yW": 0.3, "xK": x, "yK": y, "aK": -angle})
    obeys_the_laws(modes, run)
    assert (set(run.modes[-1][1].values()) == {"stick"}) == (mu > np.tan(angle))


def test_discs_between_four_cushions() -> None:
    """Smooth discs of 5 cm in a square of 1 m; with e = 1 the energy stays, and momentum between two."""
    n = 3
    N, O = ground()  # noqa: E741
    x, y = (me.dynamicsymbols(f"{name}0:{n}") for name in "xy")
    u, v = (me.dynamicsymbols(f"{name}0:{n}") for name in "uv")
    discs = [O.locatenew(f"P{i}", x[i] * N.x + y[i] * N.y) for i in range(n)]
    for i, disc in enumerate(discs):
        disc.set_vel(N, u[i] * N.x + v[i] * N.y)
    q, speeds = [*x, *y], [*u, *v]
    balls = [me.Particle(f"b{i}", disc, 0.2) for i, disc in enumerate(discs)]
    dyn = compiled(kc.Model(N, q, speeds, rates(q, speeds), bodies=balls, points=discs, name="discs"))
    gaps = {f"{i}{j}": sm.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) - 0.1 for j in range(n) for i in range(j)}
    gaps |= {f"{a}{side}": 0.45 - side * a for a in q for side in (-1, 1)}
    modes = kc.Modes(dyn, {name: {"gap": gap} for name, gap in gaps.items()}, e=1.0)
    run = modes.simulate((0.0, 4.0), [-0.3, 0.1, 0.2, 0.01, 0.0, 0.1, 2.0, 0, 0, 0.1, 0, 0])
    obeys_the_laws(modes, run)
    assert len(run.impacts) > 15
    assert_allclose(run.energy, run.energy[0], rtol=1e-12)


@LONG
@pytest.mark.parametrize("lifted", [True, False])
def test_a_chain_is_lifted_from_a_table_or_falls_on_it(lifted: bool) -> None:
    n, length, mass = 8, 0.25, 0.5
    N, O = ground()  # noqa: E741
    q, u, f = me.dynamicsymbols(f"q0:{n + 2}"), me.dynamicsymbols(f"u0:{n + 2}"), me.dynamicsymbols("f")
    tips = [O.locatenew("E", q[0] * N.x + q[1] * N.y)]
    tips[0].set_vel(N, u[0] * N.x + u[1] * N.y)
    links, loads = [], []
    for i in range(n):
        A = me.ReferenceFrame(f"A{i}")
        A.orient_axis(N, N.z, q[i + 2])
        A.set_ang_vel(N, u[i + 2] * N.z)
        C, tip = (tips[-1].locatenew(f"{name}{i}", part * length * A.x) for name, part in (("C", 0.5), ("E", 1.0)))
        for point in (C, tip):
            point.v2pt_theory(tips[-1], N, A)
        links.append(me.RigidBody(f"link{i}", C, A, mass, (me.inertia(A, 0, 0, mass * length**2 / 12), C)))
        loads.append((C, -mass * G * N.y))
        tips.append(tip)
    given = {"bodies": links, "forcelist": [*loads, (tips[-1], f * N.y)], "points": tips, "name": "chain"}
    modes = kc.Modes(compiled(kc.Model(N, q, u, rates(q, u), **given)), [tip.name for tip in tips], mu=0.3)
    start = np.zeros(2 * (n + 2))
    if not lifted:
        start[1], start[2 : n + 2] = 0.5, 0.3 * np.sin(np.arange(n))
    run = modes.simulate((0.0, 1.0), start, inputs={"f": lambda t: 30.0 * t if lifted else 0.0})
    obeys_the_laws(modes, run)
    if lifted:  # the last link lifts where its weight's moment is held, the others one by one
        assert_allclose(run.modes[1][0], mass * G / 2 / 30.0, rtol=1e-9)
        lifts = [next(t for t, mode in run.modes if mode[f"E{i}"] == "open") for i in range(n - 1, n - 5, -1)]
        assert (np.diff(lifts) > 0).all()
    else:
        assert set(run.modes[-1][1].values()) == {"stick"}
