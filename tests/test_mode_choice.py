# SPDX-License-Identifier: BSD-3-Clause
"""Modes of contacts that are found at the right times, in any unit, and satisfy the laws; closed forms."""

import math
import pickle
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, mass_point, plane_body, rates
from numpy.testing import assert_allclose

import kanecore as kc
from kanecore.motion.initial_value_problem import posed
from kanecore.motion.rigid_contacts.mode_choice import BACK, FORTH, OPEN, SLIDE, STICK, Choice

G = 9.81
TIME = me.dynamicsymbols._t


def particle(along: Any, up: Any, mass: float = 2.0) -> kc.CompiledModel:
    """A particle over the ground, with two forces."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    return compiled(mass_point(dict(zip(q, u, strict=True)), mass, [along, up]))


def body(*corners: tuple[float, float], mass: float = 1.0, inertia: float = 1.0, weight: float = G) -> kc.CompiledModel:
    """A body in a plane, with points in its axes: "c0", "c1", ..."""
    return compiled(plane_body(corners, mass, inertia, weight))


# ------------------------------------------------------------------------------------------------ resting, then not
def slides_first(mu: float, push: float, rate: float) -> float:
    """Time at which push μ m g sin(rate t) exceeds the friction."""
    return math.asin(1.0 / push) / rate


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "dopri5"},
        {"method": "rk4", "dt": 0.01},
        {"method": "rosenbrock", "rtol": 1e-6},
        {"max_step": 0.05},
    ],
)
def test_a_block_that_rests_slips_when_its_force_grows(options: dict[str, Any]) -> None:
    """By a force that grows while all is at rest, so that steps are long; its way is that of Den Hartog's block."""
    f = me.dynamicsymbols("f")
    dyn, mu, push, rate = particle(f, -2 * G), 0.3, 1.5, 5.0

    def force(t: float) -> float:
        return push * mu * 2 * G * math.sin(rate * t)

    run = kc.Modes(dyn, "P", mu=mu).simulate((0.0, 10.0), np.zeros(4), inputs={"f": force}, **options)
    assert_allclose(run.modes[1][0], slides_first(mu, push, rate), rtol=1e-10)
    assert_allclose(run.x[-1, 0], 0.0123335, atol=2e-7)
    assert len(run.modes) == 32
    words = [modes["P"] for _, modes in run.modes]
    assert words[:5] == ["stick", "slide +", "stick", "slide -", "stick"] or words[:4] == ["stick", "slide +"] * 2


def test_inputs_by_signals_and_at_chosen_times() -> None:
    """Signals jump: friction holds 2 N, not 8 N, and the block comes to rest in between."""
    dyn, mu = particle(me.dynamicsymbols("f"), -2 * G), 0.2
    steps = kc.Signal([0.0, 1.0, 2.0, 4.0], [2.0, 8.0, 0.0, 0.0])
    run = kc.Modes(dyn, "P", mu=mu).simulate((0.0, 4.0), np.zeros(4), inputs=steps, t_eval=[1.0, 2.0, 4.0])
    fast = (8.0 - mu * 2 * G) / 2
    assert [modes["P"] for _, modes in run.modes] == ["stick", "slide +", "stick"]
    assert_allclose([t for t, _ in run.modes], [0.0, 1.0, 2.0 + fast / (mu * G)], rtol=1e-9)
    assert_allclose(run.x[:, 2], [0.0, fast, 0.0], atol=1e-9)
    assert_allclose(run.x[-1, 0], fast / 2 + fast**2 / (2 * mu * G), rtol=1e-9)
    assert_allclose(run.r[:, 0], [8.0, 0.0, 0.0])


def test_samples_of_a_controller() -> None:
    """A force that is held for a tenth of a second is that of the last sample when modes change."""
    dyn = particle(me.dynamicsymbols("f"), -2 * G)
    asked: list[float] = []

    def control(t: float, x: Any) -> list[float]:
        asked.append(t)
        return [30.0 * (0.5 - x[0])]

    run = kc.Modes(dyn, "P", mu=0.3).simulate((0.0, 1.0), np.zeros(4), inputs=control, sample_time=0.1)
    assert_allclose(asked, 0.1 * np.arange(10), atol=1e-12)
    assert run.modes[0][1] == {"P": "slide +"}
    assert_allclose(run(0.1)[2], 0.1 * (15.0 / 2 - 0.3 * G), rtol=1e-9)


@pytest.mark.parametrize("rate", [3.0, 7.0, 29.0, 31.0])
def test_a_block_lifts_each_time(rate: float) -> None:
    dyn = particle(0, 2 * G * (1.3 * sm.sin(rate * TIME) ** 2 - 1))
    run = kc.Modes(dyn, "P", mu=0.3).simulate((0.0, 10.0), np.zeros(4))
    lifts = [t for t, modes in run.modes if modes["P"] == "open"]
    first = math.asin(math.sqrt(1 / 1.3)) / rate
    assert_allclose(lifts[0], first, rtol=1e-12)
    assert len(lifts) in (int(10.0 * rate / np.pi), int(10.0 * rate / np.pi) + 1)
    assert run.x[:, 1].min() > -1e-13


@pytest.mark.parametrize("start", [(0.3, 0.0, 9.0, 1.0), (0.1, 1.0, -14.0, 2.0), (1.0, -0.5, 20.0, 1.2)])
def test_a_spinning_stick_falls_on_its_ends(start: tuple[float, ...]) -> None:
    """The first impact is the first zero of y − |sin θ|/2 of the free flight; no end is ever below the ground."""
    tilt, up, rate, height = start
    dyn = body((0.5, 0.0), (-0.5, 0.0), inertia=1 / 12)
    run = kc.Modes(dyn, ["c0", "c1"], mu=0.3, e=0.5).simulate((0.0, 1.5), [0.0, height, tilt, 0.0, up, rate])
    t = np.linspace(0.0, 1.5, 3_000_001)
    gap = height + up * t - G * t**2 / 2 - np.abs(np.sin(tilt + rate * t)) / 2
    assert_allclose(run.impacts[0][0], t[np.argmax(gap < 0.0)], atol=1e-6)
    assert (run.x[:, 1] - np.abs(np.sin(run.x[:, 2])) / 2).min() > -1e-12
    energies = [dyn.kinetic_energy(0.0, x) for _, *both in run.impacts for x in both]
    assert all(after <= before * (1 + 1e-12) for before, after in zip(energies[::2], energies[1::2], strict=True))


# --------------------------------------------------------------------------------------------------------- units
@pytest.mark.parametrize(("length", "time"), [(1.0, 1.0), (1.0, 1e6), (1e-3, 1e3), (1e9, 1.0), (1e-6, 1e-3)])
def test_a_ball_bounces_alike_in_all_units(length: float, time: float) -> None:
    """At 1.5 mm/s; it rests after v₀ (2/g) Σ eᵏ."""
    g, v, e = G * length / time**2, 0.0015 * length / time, 0.5
    dyn = particle(0, -2.0 * g)
    run = kc.Modes(dyn, "P", e=e).simulate((0.0, 0.002 * time), [0.0, 0.0, 0.0, -v], atol=1e-14 * length)
    whole = 2 * v / g * e / (1 - e)
    assert_allclose(run.modes[-1][0], whole, rtol=2e-6)
    times = [t for t, _, _ in run.impacts[:6]]
    assert_allclose(times, [2 * v / g * e * (1 - e**k) / (1 - e) for k in range(6)], rtol=1e-9)
    assert [modes["P"] for _, modes in run.modes] == [*["open"] * (len(run.modes) - 1), "stick"]


@pytest.mark.parametrize(
    ("length", "mass", "press"), [(1.0, 1.0, 0.0), (1e9, 1.0, 0.0), (1.0, 1e-6, 13e3), (1e-4, 1e6, 0)]
)
def test_a_block_rests_on_two_corners_in_all_units(length: float, mass: float, press: float) -> None:
    corners = [(side * 0.5 * length, -0.3 * length) for side in (1, -1)]
    dyn = body(*corners, mass=mass, inertia=mass * length**2 / 12, weight=mass * G * length + press)
    run = kc.Modes(dyn, ["c0", "c1"], mu=0.5).simulate((0.0, 1.0), [0.0, 0.3 * length, 0.0, 0.0, 0.0, 0.0])
    assert [modes for _, modes in run.modes] == [{"c0": "stick", "c1": "stick"}]
    assert_allclose(run.x[-1], run.x[0], atol=1e-12 * length)
    assert [t for t, _ in run.undetermined] == [0.0]  # how both corners share the friction


# ---------------------------------------------------------------------------------------------- degenerate states
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_a_smooth_ball_comes_to_rest(e: float) -> None:
    run = kc.Modes(particle(0, -2 * G), "P", e=e).simulate((0.0, 8.0), [0.0, 1.0, 0.0, 0.0])
    assert run.modes[-1][1] == {"P": "stick"}
    assert_allclose(run.modes[-1][0], math.sqrt(2 / G) * (1 + e) / (1 - e), rtol=2e-6)
    assert_allclose(run.x[-1], 0.0, atol=1e-9)


@pytest.mark.parametrize("tilt", [1.1, 1.3, 1.4])
@pytest.mark.parametrize("mu", [0.15, 0.2, 0.3])
def test_a_ladder_stands_or_slips(tilt: float, mu: float) -> None:
    """It stands where tan θ > (1 − μ²)/2μ, with more friction than it needs."""
    half = 1.5
    dyn = body((half, 0.0), (-half, 0.0), mass=7.0, inertia=7 * (2 * half) ** 2 / 12, weight=7 * G)
    wall = {"normal": (1, 0, 0), "along": (0, 1, 0), "origin": (0.2, 0, 0)}
    start = [0.2 + half * math.cos(tilt), half * math.sin(tilt), -tilt, 0.0, 0.0, 0.0]
    run = kc.Modes(dyn, {"c0": {}, "c1": wall}, mu=mu).simulate((0.0, 0.4), start)
    if math.tan(tilt) > (1 - mu**2) / (2 * mu):
        assert [modes for _, modes in run.modes] == [{"c0": "stick", "c1": "stick"}]
        assert_allclose(run.x[-1], start, atol=1e-12)
    else:
        assert run.modes[0] == (0.0, {"c0": "slide +", "c1": "slide -"})


def test_a_force_of_zero_that_turns_to_a_pull() -> None:
    """Without weight the particle touches the ground, and leaves it at once when it is pulled."""
    run = kc.Modes(particle(0, 3 * TIME), "P", mu=0.3).simulate((0.0, 1.0), np.zeros(4))
    assert run.modes[-1][1] == {"P": "open"}
    assert run.modes[-1][0] < 1e-9
    assert_allclose(run.x[-1, [1, 3]], [1 / 4, 3 / 4], rtol=1e-8)
    pushed = kc.Modes(particle(0, -3 * TIME), "P", mu=0.3).simulate((0.0, 1.0), np.zeros(4))
    assert_allclose(pushed.x, 0.0, atol=1e-15)


def test_infinite_friction_holds_what_slides() -> None:
    run = kc.Modes(particle(0, -2 * G), "P", mu=math.inf).simulate((0.0, 1.0), [0.0, 0.0, 3.0, 0.0])
    assert run.modes == [(0.0, {"P": "stick"})]
    assert_allclose(run.x[-1], 0.0, atol=1e-15)


@pytest.mark.parametrize("mu", [1.4, 2.2])
def test_the_branches_of_painleves_rod_are_named(mu: float) -> None:
    """1 + 3 cos θ (cos θ − μ sin θ) < 0 where it slides to the left and turns: both motions have λ ≥ 0, a ≥ 0."""
    dyn, tilt, rate = body((-0.5, 0.0), inertia=1 / 12), 1.1, 8.0
    c, s = math.cos(tilt), math.sin(tilt)
    start = [0.5 * c, 0.5 * s, tilt, -2.0 - 0.5 * s * rate, 0.5 * c * rate, rate]
    assert 1 + 3 * c * (c - mu * s) < 0.0 < s * rate**2 / 2 - G
    with pytest.warns(
        kc.KanecoreWarning, match=r"several motions .*\(Painlevé\): c0: slide - \| c0: open; taken: c0: open"
    ):
        run = kc.Modes(dyn, "c0", mu=mu).simulate((0.0, 1e-3), start)
    assert run.modes[0][1] == {"c0": "open"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forth = [0.5 * c, 0.5 * s, tilt, 2.0 - 0.5 * s * rate, 0.5 * c * rate, rate]
        kc.Modes(dyn, "c0", mu=mu).simulate((0.0, 1e-3), forth)


# ------------------------------------------------------------------------------------------ grounds and two bodies
def test_a_block_on_a_belt_sticks_and_slips() -> None:
    """It slips when the spring pulls as hard as friction at rest, and swings about μ_k m g/k until it has v again."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    m, k, speed, mu, mu_static = 2.0, 50.0, 0.2, 0.3, 0.5
    belt = O.locatenew("belt", speed * TIME * N.x)
    belt.set_vel(N, speed * N.x)
    loads = [(P, -m * G * N.y - k * q[0] * N.x)]
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, m)], forcelist=loads, points=[P, belt]))
    contact = {"P": {"origin": "belt", "mu": mu, "mu_static": mu_static}}
    run = kc.Modes(dyn, contact).simulate((0.0, 8.0), [0.0, 0.0, speed, 0.0])
    slips = [t for t, modes in run.modes if modes["P"] == "slide -"]
    rate, away = math.sqrt(k / m), (mu_static - mu) * m * G / k
    angle = math.atan2(speed, away * rate)
    slip, stick = (np.pi + 2 * angle) / rate, 2 * away / speed
    assert_allclose(slips[0], mu_static * m * G / k / speed, rtol=1e-9)
    assert_allclose(np.diff(slips), slip + stick, rtol=1e-8)


def test_a_block_slides_down_a_wedge_that_slides() -> None:
    """Smooth both: the wedge has −m g sin α cos α/(M + m sin²α)."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("X x y"), me.dynamicsymbols("U u v")
    tilt, M, m = 0.5, 3.0, 1.0
    W = O.locatenew("W", q[0] * N.x)
    W.set_vel(N, u[0] * N.x)
    A = N.orientnew("A", "Axis", [-tilt, N.z])
    A.set_ang_vel(N, 0 * N.z)
    P = O.locatenew("P", q[1] * N.x + q[2] * N.y)
    P.set_vel(N, u[1] * N.x + u[2] * N.y)
    bodies = [me.Particle("wedge", W, M), me.Particle("block", P, m)]
    loads = [(W, -M * G * N.y), (P, -m * G * N.y)]
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, points=[W, P], frames=[A]))
    run = kc.Modes(dyn, {"P": {"origin": "W", "frame": "A"}}).simulate((0.0, 1.0), np.zeros(6))
    s, c = math.sin(tilt), math.cos(tilt)
    assert run.modes == [(0.0, {"P": "slide +"})]
    assert_allclose(run.x[-1, 3], -m * G * s * c / (M + m * s * s), rtol=1e-9)
    held = kc.Modes(dyn, {"P": {"origin": "W", "frame": "A", "mu": 0.6}}).simulate((0.0, 1.0), np.zeros(6))
    assert held.modes == [(0.0, {"P": "stick"})]
    assert_allclose(held.x[-1], 0.0, atol=1e-12)


def test_a_block_is_thrown_by_a_shaking_table() -> None:
    """It leaves when the table falls with g."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    away, rate = 0.01, 40.0
    table = O.locatenew("table", away * sm.sin(rate * TIME) * N.y)
    table.set_vel(N, away * rate * sm.cos(rate * TIME) * N.y)
    loads = [(P, -2.0 * G * N.y)]
    dyn = compiled(
        kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=loads, points=[P, table])
    )
    run = kc.Modes(dyn, {"P": {"origin": "table", "mu": 0.3}}).simulate((0.0, 1.0), [0.0, 0.0, 0.0, away * rate])
    assert [modes["P"] for _, modes in run.modes[:2]] == ["stick", "open"]
    assert_allclose(run.modes[1][0], math.asin(G / (away * rate**2)) / rate, rtol=1e-10)
    assert (run.x[:, 1] - away * np.sin(rate * run.t)).min() > -1e-13


def test_a_dumbbell_tips_over_beside_its_rod() -> None:
    """Two masses that a rod holds, a constraint: the lower end sticks until μ N is reached; then both lie."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x1 y1 x2 y2"), me.dynamicsymbols("u1 v1 u2 v2")
    ends = [O.locatenew(name, q[i] * N.x + q[i + 1] * N.y) for name, i in (("a", 0), ("b", 2))]
    for i, end in enumerate(ends):
        end.set_vel(N, u[2 * i] * N.x + u[2 * i + 1] * N.y)
    rod = ends[1].pos_from(ends[0])
    bodies, loads = [me.Particle(end.name, end, 1.0) for end in ends], [(end, -G * N.y) for end in ends]
    model = kc.Model(
        *(N, q, u, rates(q, u)),
        configuration_constraints={"rod": rod.dot(rod) - 1},
        bodies=bodies,
        forcelist=loads,
        points=ends,
    )
    run = kc.Modes(compiled(model), ["a", "b"], mu=0.4).simulate(
        (0.0, 2.0), [0, 0, math.cos(0.9), math.sin(0.9), *[0] * 4]
    )
    words = [tuple(modes.values()) for _, modes in run.modes]
    assert words == [("stick", "open"), ("slide +", "open"), ("stick", "stick")]
    assert run.constraint_drift < 1e-9
    assert run.x[:, [1, 3]].min() > -1e-12
    slope = np.arcsin(run(run.modes[1][0])[3])
    # at rest θ̇² = 2 g (sin θ₀ − sin θ): |T| = μ N of the mass at the foot and the pendulum's force
    force = 2 * G * (np.sin(0.9) - np.sin(slope)) - G * np.sin(slope)
    assert_allclose(abs(force * np.cos(slope)), 0.4 * (G - force * np.sin(slope)), rtol=1e-8)


# -------------------------------------------------------------------------------------------------------- in space
SPACE: dict[str, Any] = {"normal": (0, 0, 1), "along": ((1, 0, 0), (0, 1, 0))}


def free_in_space(corners: dict[str, Any], mass: float, inertia: tuple[float, ...]) -> kc.CompiledModel:
    """A body in space with named corners, pulled along x by an input at its mass centre."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y z roll pitch yaw"), me.dynamicsymbols("vx vy vz p1 p2 p3")
    f = me.dynamicsymbols("f")
    B = N.orientnew("B", "Body", q[3:], "XYZ")
    turning = B.ang_vel_in(N)
    kinematic = [qdot.diff() - speed for qdot, speed in zip(q[:3], u[:3], strict=True)]
    kinematic += [turning.dot(axis) - speed for axis, speed in zip(B, u[3:], strict=True)]
    B.set_ang_vel(N, sum((speed * axis for axis, speed in zip(B, u[3:], strict=True)), me.Vector(0)))
    C = O.locatenew("C", sum((a * axis for a, axis in zip(q[:3], N, strict=True)), me.Vector(0)))
    C.set_vel(N, sum((a * axis for a, axis in zip(u[:3], N, strict=True)), me.Vector(0)))
    points = [C.locatenew(name, r[0] * B.x + r[1] * B.y + r[2] * B.z) for name, r in corners.items()]
    body = me.RigidBody("body", C, B, mass, (me.inertia(B, *inertia), C))
    loads = [(C, -mass * G * N.z + f * N.x)]
    return compiled(kc.Model(N, q, u, kinematic, bodies=[body], forcelist=loads, points=points, name="table"))


def table(height: float = 0.7) -> kc.CompiledModel:
    """A table of 10 kg on four legs."""
    legs = {f"leg{i}{j}": (0.5 * i, 0.4 * j, -height) for i in (-1, 1) for j in (-1, 1)}
    return free_in_space(legs, 10.0, (1.0, 1.2, 1.5))


@pytest.mark.long
def test_a_table_on_four_legs_slides_as_a_whole() -> None:
    """How legs share the load is not unique, the motion is: it begins at F = μ m g."""
    dyn, mu = table(), 0.4
    start = np.zeros(12)
    start[2] = 0.7
    modes = kc.Modes(dyn, [name for name in dyn.points if name.startswith("leg")], mu=mu, **SPACE)
    run = modes.simulate((0.0, 1.0), start, inputs={"f": lambda t: 60 * t})
    begins = mu * 10 * G / 60
    assert set(run.modes[0][1].values()) == {"stick"}
    assert set(run.modes[-1][1].values()) == {"slide"}
    assert_allclose([t for t, _ in run.modes[1:]], begins, rtol=1e-5)
    assert_allclose(run.x[-1, 6], 3 * (1 - begins) ** 2, rtol=1e-4)
    assert_allclose(run.x[-1, 0], (1 - begins) ** 3, rtol=1e-4)
    assert run.undetermined[0][0] == 0.0


def test_a_sledge_on_three_runners() -> None:
    """A particle with three points that touch: they slip together, by a force that turns."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u v w")
    f = me.dynamicsymbols("f1 f2")
    P = O.locatenew("P", sum((a * axis for a, axis in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((a * axis for a, axis in zip(u, N, strict=True)), me.Vector(0)))
    runners = [P.locatenew(f"runner{i}", side * N.x + side**2 * N.y) for i, side in enumerate((-1, 0, 1))]
    for runner in runners:
        runner.set_vel(N, P.vel(N))
    loads = [(P, f[0] * N.x + f[1] * N.y - 2 * G * N.z)]
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=loads, points=runners))
    mu = 0.3
    modes = kc.Modes(dyn, [runner.name for runner in runners], mu=mu, **SPACE)
    pull = {"f1": lambda t: 8 * t * math.cos(0.7), "f2": lambda t: 8 * t * math.sin(0.7)}
    run = modes.simulate((0.0, 1.0), np.zeros(6), inputs=pull)
    begins = mu * 2 * G / 8
    assert [set(words.values()) for _, words in run.modes] == [{"stick"}, {"slide"}]
    assert_allclose(run.modes[1][0], begins, rtol=1e-9)
    assert_allclose(run.x[-1, 3:5], 2 * (1 - begins) ** 2 * np.array([math.cos(0.7), math.sin(0.7)]), rtol=3e-6)


# --------------------------------------------------------------------------------------------------------- results
def test_forces_impulses_and_the_energy_of_a_run() -> None:
    """A block falls, slides and stops: its forces, the impulse m (1 + e) v, and work that friction takes."""
    mu, m = 0.4, 2.0
    run = kc.Modes(particle(0, -m * G), "P", mu=mu).simulate((0.0, 2.0), [0.0, 0.2, 3.0, 0.0])
    v = math.sqrt(2 * 0.2 * G)
    assert_allclose(run.impulses[0]["P"], [m * v, -mu * m * v], rtol=1e-10)
    force = run.forces["P"]
    assert force.shape == (len(run.t), 2)
    words = [next(modes["P"] for t0, modes in reversed(run.modes) if t0 <= t) for t in run.t]
    starts = [t for t, _ in run.modes]
    for t, word, each in zip(run.t, words, force, strict=True):
        if t not in starts:
            expected = {"open": [0.0, 0.0], "slide +": [m * G, -mu * m * G], "stick": [m * G, 0.0]}[word]
            assert_allclose(each, expected, atol=1e-9)
    assert run.energy_drift < 1e-8
    again = pickle.loads(pickle.dumps(run))
    assert_allclose(again.forces["P"], force)
    assert again.modes == run.modes


def test_modes_are_bands_of_a_plot() -> None:
    pytest.importorskip("matplotlib")
    run = kc.Modes(particle(0, -2 * G), "P", mu=0.4).simulate((0.0, 2.0), [0.0, 0.2, 3.0, 0.0])
    figure = run.plot("x")
    bands = [patch for patch in figure.axes[0].patches if not patch.get_clip_on()]
    assert len(bands) == len(run.modes) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["open", "slide +", "stick", "impact"]


def _by_enumeration(d: Any, w0: Any, slips: Any, mu: float) -> list[Any]:
    """Accelerations that satisfy the laws of contacts in a plane, all modes by least squares."""
    found = []
    for modes in product(*(["s+-o", "+o", "-o"][int(np.sign(slip))] for slip in slips)):
        equations, columns = list[int](), np.zeros((len(w0), len(w0)))
        for i, mode in enumerate(modes):
            if mode != "o":
                equations += [2 * i, 2 * i + 1] if mode == "s" else [2 * i]
                columns[2 * i, 2 * i] = 1.0
                columns[2 * i + 1, 2 * i + 1 if mode == "s" else 2 * i] = {"s": 1.0, "+": -mu, "-": mu}[mode]
        right = columns[:, equations]
        forces = right @ np.linalg.lstsq((d @ right)[equations], -w0[equations], rcond=1e-11)[0]
        w, small, weak = w0 + d @ forces, 1e-7 * np.abs(w0).max(), 1e-7 * np.abs(forces).max(initial=0.0)
        holds = np.abs(w[equations]).max(initial=0.0) <= small
        for i, mode in enumerate(modes):
            n, t, force = w[2 * i], w[2 * i + 1], forces[2 * i]
            if mode == "o":
                holds = holds and n >= -small
                continue
            holds = holds and force >= -weak
            if mode == "s":
                holds = holds and abs(forces[2 * i + 1]) <= mu * force + weak
            elif slips[i] == 0.0:
                holds = holds and (t if mode == "+" else -t) >= -small
        if holds:
            found.append(w)
    return found


def _touching(dyn: kc.CompiledModel, n: int, mu: float, x: Any, rng: Any, flat: bool) -> Any:
    """The contacts of n corners at x, each on a plane of its own, or all on parallel ones."""
    places, laws = dyn.positions(0.0, x, named=True), {}
    for name in [f"c{i}" for i in range(n)]:
        if dyn.n_q == 3:
            angle = 0.0 if flat else rng.normal()
            normal, along = (np.sin(angle), np.cos(angle), 0.0), (np.cos(angle), -np.sin(angle), 0.0)
        else:
            axes = np.linalg.qr(np.array([[0.0, 0.0, 1.0], *rng.normal(size=(2, 3))]).T)[0].T
            axes = axes if flat else np.linalg.qr(rng.normal(size=(3, 3)))[0]
            normal, along = axes[0], axes[1:]
        laws[name] = {"normal": normal, "along": along, "origin": places[name]}
    c = kc.Modes(dyn, laws, mu=mu).numbers(posed(dyn, (0.0, 1.0), x, None, None, True))
    c.at(0.0, x, np.zeros(dyn.n_r))
    return c


def _chosen(c: Any, n: int, w0: Any, mu: float) -> Any:
    """The modes of n contacts, or None."""
    slips = c.speeds.reshape(n, -1)[:, 1:]
    begins = [not slip.any() for slip in slips]
    ways = {True: (SLIDE, SLIDE), False: (FORTH, BACK)}[slips.shape[1] == 2]
    options = [
        (STICK, *dict.fromkeys(ways), OPEN) if begun else (ways[int(slip[0] < 0.0)], OPEN)
        for slip, begun in zip(slips, begins, strict=True)
    ]
    return Choice(c, [len(slips[0]) + 1] * n, w0, np.abs(w0) + 1e-9, options, begins, np.full(n, mu), 0.0 * w0).first()


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(("n", "seed"), [(2, 0), (3, 1), *(pytest.param(6, i, marks=pytest.mark.long) for i in (2, 3))])
def test_modes_of_random_bodies_solve_the_complementarity_problem(n: int, seed: int, flat: bool) -> None:
    """Each acceleration that is chosen is one of those that a search through all modes finds."""
    rng = np.random.default_rng(seed)
    height = rng.uniform(0.05, 0.8)
    dyn = body(*((place, -height) for place in rng.uniform(-1, 1, n)), inertia=rng.uniform(0.1, 1.0))
    for _ in range(8):
        mu, speed = rng.uniform(0.0, 0.9), rng.choice([0.0, 1.0, -0.7])
        c = _touching(dyn, n, mu, np.array([0.0, height, 0.0, speed, 0.0, 0.0]), rng, flat)
        w0 = c.start + c.matrix @ rng.normal(size=3) * 9.0
        found, chosen = _by_enumeration(c.delassus, w0, c.speeds[1::2].copy(), mu), _chosen(c, n, w0, mu)
        assert (chosen is None) == (not found)
        assert chosen is None or min(np.abs(c.after - w).max() for w in found) < 1e-6 * np.abs(w0).max()


def _by_iteration(d: Any, w0: Any, mu: float) -> Any:
    """Accelerations of bodies at rest by a fixed point on the cones, f = P(f − w/ρ); None if it does not end.

    Jean & Moreau 1992; forces change all at once, not one by one.
    """
    n, f, largest = len(w0) // 3, np.zeros(len(w0)), np.linalg.eigvalsh(d)[-1]
    for _ in range(20_000):
        forces = (f - (w0 + d @ f) / largest).reshape(n, 3)
        normal = np.maximum(forces[:, 0], 0.0)
        size = np.maximum(np.linalg.norm(forces[:, 1:], axis=1), 1e-300)
        along = forces[:, 1:] * np.minimum(1.0, mu * normal / size)[:, None]
        f, before = np.column_stack([normal, along]).ravel(), f
        if np.abs(f - before).max() <= 1e-14 * np.abs(f).max():
            return w0 + d @ f
    return None


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(
    ("n", "seed"), [(2, 0), *(pytest.param(n, n, marks=pytest.mark.long) for n in (1, 3, 4, 5, 6))]
)
def test_random_bodies_in_space_obey_the_laws_of_friction(n: int, seed: int, flat: bool) -> None:
    """0 ≤ N ⊥ w_n ≥ 0 and T = −μ N w_t/|w_t|, or |T| ≤ μ N; up to three contacts have one acceleration."""
    rng = np.random.default_rng(seed)
    dyn = free_in_space({f"c{i}": rng.uniform(-1, 1, 3) for i in range(n)}, 1.0, (0.3, 0.4, 0.5))
    for _ in range(8):
        mu = rng.uniform(0.0, 0.8)
        c = _touching(dyn, n, mu, np.zeros(12), rng, flat)
        w0 = c.start + c.matrix @ rng.normal(size=6) * 9.0
        assert _chosen(c, n, w0, mu) is not None
        w, f = (w0 + c.delassus @ c.force).reshape(n, 3) / np.abs(w0).max(), c.force.reshape(n, 3)
        f = f / max(np.abs(f).max(), 1e-30)
        speed, friction = (np.linalg.norm(each[:, 1:], axis=1) for each in (w, f))
        assert min(f[:, 0].min(), w[:, 0].min(), (mu * f[:, 0] - friction).min()) > -1e-9
        assert np.abs(f[:, 0] * w[:, 0]).max() < 1e-9
        assert_allclose(speed[:, None] * f[:, 1:], -mu * f[:, :1] * w[:, 1:], atol=1e-8)
        same = _by_iteration(c.delassus, w0, mu)
        assert n > 3 or same is None or np.abs(c.after - same).max() < 1e-6 * np.abs(w0).max()


@pytest.mark.parametrize(("n", "seed"), [(3, 0), *(pytest.param(6, n, marks=pytest.mark.long) for n in range(4))])
def test_random_bodies_that_slide_in_space_solve_a_linear_complementarity_problem(n: int, seed: int) -> None:
    """Directions of friction are known, so that each contact is open or slides: all are tried."""
    rng = np.random.default_rng(seed)
    dyn = free_in_space({f"c{i}": rng.uniform(-1, 1, 3) for i in range(n)}, 1.0, (0.3, 0.4, 0.5))
    for _ in range(8):
        mu, x = rng.uniform(0.0, 0.8), np.concatenate([np.zeros(6), rng.normal(size=6)])
        c = _touching(dyn, n, mu, x, rng, bool(rng.integers(2)))
        w0 = c.start + c.matrix @ rng.normal(size=6) * 9.0
        slips, forces = c.speeds.reshape(n, 3)[:, 1:], np.zeros((n, 3, n))
        forces[range(n), 0, range(n)] = 1.0
        forces[range(n), 1:, range(n)] = -mu * slips / np.linalg.norm(slips, axis=1)[:, None]
        pushed, found = c.delassus @ forces.reshape(3 * n, n), []
        for closed in product((True, False), repeat=n):
            on, normal = np.flatnonzero(closed), np.zeros(n)
            normal[on] = np.linalg.lstsq(pushed[3 * on][:, on], -w0[3 * on], rcond=1e-11)[0]
            w = w0 + pushed @ normal
            small = 1e-8 * np.abs(w0).max()
            holds = np.abs(w[3 * on]).max(initial=0.0) <= small and w[::3].min() >= -small
            if holds and normal.min() >= -1e-8 * np.abs(normal).max():
                found.append(w)
        chosen = _chosen(c, n, w0, mu)
        assert (chosen is None) == (not found)
        assert chosen is None or min(np.abs(c.after - w).max() for w in found) < 1e-6 * np.abs(w0).max()


# --------------------------------------------------------------------------------- constraints that go on and off
def test_a_rope_is_taut_and_slack() -> None:
    """A ball falls beside its pivot until the rope is taut; the speed along the rope is lost, the rest a pendulum's."""
    dyn, length, aside = particle(0, -2 * G), 1.0, 0.6
    x, y = me.dynamicsymbols("x y")
    rope = {"rope": {"gap": length - sm.sqrt(x**2 + y**2)}}
    run = kc.Modes(dyn, rope).simulate((0.0, 0.8), [aside, 0.0, 0.0, 0.0])
    fall = math.sqrt(length**2 - aside**2)
    assert [modes["rope"] for _, modes in run.modes] == ["open", "closed"]
    assert_allclose(run.modes[1][0], math.sqrt(2 * fall / G), rtol=1e-10)
    _, before, after = run.impacts[0]
    assert_allclose(np.hypot(*after[2:]), abs(before[3]) * aside / length, rtol=1e-9)
    taut = np.flatnonzero(run.t > run.modes[1][0])
    assert_allclose(np.hypot(*run.x[taut, :2].T), length, rtol=1e-9)
    energy, start = run.energy[taut], float(dyn.kinetic_energy(0.0, after) + dyn.potential_energy(0.0, after))
    assert_allclose(energy, start, rtol=1e-7, atol=1e-7)
    speed, down = np.hypot(*run.x[taut, 2:].T), -run.x[taut, 1]
    assert_allclose(run.forces["rope"][taut, 0], 2 * (speed**2 / length + G * down / length), rtol=1e-6)


def test_a_ball_on_a_rope_goes_slack() -> None:
    """Swung up with v² < 5 g l, it leaves the circle where v² = g y: y/l = (v₀²/g l − 2)/3."""
    x, y = me.dynamicsymbols("x y")
    modes = kc.Modes(particle(0, -2 * G), {"rope": {"gap": 1 - sm.sqrt(x**2 + y**2)}})
    run = modes.simulate((0.0, 1.0), [0.0, -1.0, math.sqrt(3.5 * G), 0.0])
    assert [words["rope"] for _, words in run.modes[:2]] == ["closed", "open"]
    assert_allclose(run(run.modes[1][0])[1], (3.5 - 2) / 3, rtol=1e-8)


def test_a_capture_keeps_momentum() -> None:
    """Two particles meet, and stay together: m₁ v₁ + m₂ v₂ is kept, and the latch carries what pulls them apart."""
    (a, b), (u, v) = me.dynamicsymbols("a b"), me.dynamicsymbols("u v")
    N, O = ground()  # noqa: E741
    points = [O.locatenew(name, place * N.x) for name, place in (("A", a), ("B", b))]
    for point, speed in zip(points, (u, v), strict=True):
        point.set_vel(N, speed * N.x)
    bodies = [me.Particle(point.name, point, mass) for point, mass in zip(points, (3.0, 1.0), strict=True)]
    options: dict[str, Any] = {"bodies": bodies, "forcelist": [(points[1], 2.0 * N.x)], "outputs": {"way": b - a}}
    dyn = compiled(kc.Model(N, [a, b], [u, v], rates([a, b], [u, v]), **options))
    start = [0.0, 1.0, 2.5, 0.0]  # 1 + t² = 2.5 t at 0.5 and 2
    run = kc.Modes(dyn, {"latch": {"gap": "way", "holds": True}}).simulate((0.0, 3.0), start)
    (_, first), (met, last) = run.modes
    assert (first["latch"], last["latch"]) == ("open", "held")
    assert_allclose(met, 0.5, rtol=1e-10)
    _, before, after = run.impacts[0]
    assert_allclose(after[2:], (3 * before[2] + before[3]) / 4, rtol=1e-10)
    assert_allclose(run.forces["latch"][-1], [-1.5], rtol=1e-9)
    free = kc.Modes(dyn, {"stop": {"gap": "way", "e": 0.3}}).simulate((0.0, 3.0), start)
    assert free.modes[-1][1] == {"stop": "open"}
    _, before, after = free.impacts[0]
    assert_allclose(after[3] - after[2], 0.3 * (before[2] - before[3]), rtol=1e-10)


def test_a_ratchet_turns_one_way() -> None:
    """Under a force sin t it moves until 2π, where it stops; under the opposite one it is held until π."""
    q, u = me.dynamicsymbols("x"), me.dynamicsymbols("u")
    run = kc.Modes(compiled(mass_point({q: u}, 2.0, [sm.sin(TIME)])), {"ratchet": {"rate": u}}).simulate(
        (0.0, 9.0), [0.0, 0.0]
    )
    assert run.modes[-1][1] == {"ratchet": "open"}
    assert run.x[:, 1].min() > -1e-12
    assert_allclose(run.x[-1, 1], (1 - math.cos(9.0 - 2 * np.pi)) / 2, rtol=1e-8)
    pulled = kc.Modes(compiled(mass_point({q: u}, 2.0, [-sm.sin(TIME)])), {"ratchet": {"rate": u}})
    held = pulled.simulate((0.0, 6.0), [0.0, 0.0])
    assert [modes["ratchet"] for _, modes in held.modes] == ["closed", "open"]
    assert_allclose(held.modes[1][0], np.pi, rtol=1e-9)
    assert_allclose(held.x[-1, 1], (1 + math.cos(6.0)) / 2, rtol=1e-8)


@pytest.mark.parametrize("seed", [14, *(pytest.param(n, marks=pytest.mark.long) for n in (6, 10, 22, 24, 33, 39, 44))])
def test_a_table_that_is_thrown_obeys_the_laws(seed: int) -> None:
    """At every output: no leg is below the ground, N ≥ 0, |T| ≤ μ N, N g = 0; the energy never grows."""
    rng, dyn = np.random.default_rng(seed), table()
    legs = [name for name in dyn.points if name.startswith("leg")]
    x = np.concatenate([[0, 0, 1.0], 0.15 * rng.normal(size=3), rng.normal(size=6)])
    mu, e = rng.uniform(0.1, 0.8), rng.choice([0.0, 0.3])
    run = kc.Modes(dyn, legs, mu=mu, e=e, **SPACE).simulate((0.0, 1.0), x)
    places = dyn.positions(run.t, run.x, named=True)
    for name in legs:
        normal, gap = run.forces[name][:, 0], places[name][:, 2]
        along, largest = np.linalg.norm(run.forces[name][:, 1:], axis=1), np.abs(normal).max() + 1.0
        assert gap.min() > -1e-12
        assert normal.min() > -1e-9 * largest
        assert (along - mu * normal).max() < 1e-9 * largest
        assert np.abs(normal * gap).max() < 1e-9 * largest
    assert np.diff(run.energy).max() < 1e-7
    assert len(run.impacts) > 0
    assert len({names for _, names in run.undetermined}) == len(run.undetermined)


def test_a_block_that_slides_to_and_fro_turns_back_each_time() -> None:
    """m v̇ = F sin ωt ∓ R; in the end v is zero at cos ωt = ± π R/(2 F), and again half a period on."""
    F, R, rate, periods = 30.0, 0.5 * 2.0 * G, 5.0, 20
    dyn = particle(F * sm.sin(rate * TIME), -2.0 * G)
    run = kc.Modes(dyn, "P", mu=0.5).simulate((0.0, 2 * np.pi * periods / rate), np.zeros(4))
    turns = np.array([time for time, _ in run.modes[2:]])
    assert len(turns) == 2 * periods - 1
    assert_allclose(np.abs(np.cos(rate * turns[-4:])), np.pi * R / (2 * F), rtol=1e-6)
    slip = [-1.0 if mode["P"] == "slide -" else 1.0 for _, mode in run.modes]
    ways = np.array(slip)[np.searchsorted([time for time, _ in run.modes], run.t, side="right") - 1]
    assert (ways * run.x[:, 2]).min() > -1e-9
