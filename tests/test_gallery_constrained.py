# SPDX-License-Identifier: BSD-3-Clause
"""Constrained mechanisms of the gallery against published numbers, closed forms and second formulations.

Where nobody has published numbers the judge is Newton's and Euler's equations of the free bodies: all six accelerations
of every body and the forces of every joint as unknowns, solved by least squares (`Bodies`).
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sweep import part

import kanecore as kc
from kanecore.gallery import hoberman_ring

Array = npt.NDArray[np.float64]

CONSTRAINED = (
    "andrews_squeezer",
    "appell_hamel",
    "ball_turntable",
    "bricard",
    "car",
    "chaplygin_sleigh",
    "constant_speed_particle",
    "five_bar",
    "five_bar_bodies",
    "four_bar",
    "knife_edge",
    "rolling_disc",
    "rrp_redundant",
    "slider_crank",
    "snakeboard",
    "stewart",
    "stewart_platform",
    "whipple_bicycle",
)
#: By default these; the others are long: a constraint nonlinear in the speeds, a loop, rolling.
SMALL = ("appell_hamel", "four_bar", "rolling_disc")
LOOPS = ("andrews_squeezer", "bricard", "five_bar", "four_bar", "slider_crank", "stewart")
NONLINEAR = ("appell_hamel", "constant_speed_particle")
#: Speeds that are rates of no coordinates, of which nobody can say whether they are integrable.
BODIES = ("five_bar_bodies", "rrp_redundant", "stewart_platform")
DEGREES_OF_FREEDOM = {
    "andrews_squeezer": 1,
    "appell_hamel": 2,
    "ball_turntable": 3,
    "bricard": 1,
    "car": 2,
    "chaplygin_sleigh": 2,
    "constant_speed_particle": 2,
    "five_bar": 2,
    "five_bar_bodies": 2,
    "four_bar": 1,
    "knife_edge": 2,
    "rolling_disc": 3,
    "rrp_redundant": 3,
    "slider_crank": 1,
    "snakeboard": 3,
    "stewart": 6,
    "stewart_platform": 6,
    "whipple_bicycle": 3,
}
#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")


@cache
def compiled(name: str) -> kc.CompiledModel:
    return kc.load(name)


def values(name: str) -> SimpleNamespace:
    """The default parameters, ``p.m1``."""
    return SimpleNamespace(**import_module(f"kanecore.gallery.{name}").PARAMETERS)


@cache
def case(name: str) -> dict[str, Any]:
    """Published numbers, with their source and how they were verified."""
    path = Path(__file__).parent / "truth" / "cases" / f"{name}.json"
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def vector(dyn: kc.CompiledModel, state: dict[str, float]) -> Array:
    return np.array([state[name] for name in (*dyn.coordinate_names, *dyn.speed_names)])


def start(name: str, **changes: float) -> Array:
    """The state that the gallery gives."""
    return vector(compiled(name), import_module(f"kanecore.gallery.{name}").STATE | changes)


@cache
def feasible(name: str, n: int = 8) -> Array:
    """States on the constraints near that of the gallery, with any speeds, (n, n_x)."""
    dyn, x = compiled(name), start(name)
    if name == "bricard":  # at its start, the corners of a cube, gravity is all there is
        x = dyn.simulate((0.0, 0.2), x).x[-1]
    rng = np.random.default_rng(list(name.encode()))
    noise = 0.1 * rng.uniform(-1.0, 1.0, (n, dyn.n_x)) * np.where(np.arange(dyn.n_x) < dyn.n_q, 1.0, 1.0 + np.abs(x))
    keep = "independent" if dyn.n_u_dependent else None
    states = np.stack([dyn.consistent(0.0, x + row, keep) for row in noise])
    states.flags.writeable = False
    return states


def inputs(dyn: kc.CompiledModel) -> Array:
    """Some numbers for the inputs."""
    return np.linspace(1.0, -2.0, dyn.n_r)


def check(found: npt.ArrayLike, expected: npt.ArrayLike, limit: float = 1e-10) -> None:
    """max |found − expected| below ``limit`` times the largest of both."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= limit * max(np.abs(found).max(), np.abs(expected).max())


def column(dyn: kc.CompiledModel, x: Array, name: str) -> Array:
    """One coordinate or speed of states (..., n_x)."""
    return np.asarray(x)[..., (*dyn.coordinate_names, *dyn.speed_names).index(name)]


# --------------------------------------------------------------------------------------------- all of the gallery
@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_the_states_of_the_gallery_are_on_the_constraints(name: str) -> None:
    dyn, x = compiled(name), start(name)
    found = np.concatenate([dyn.configuration_residual(0.0, x), dyn.velocity_residual(0.0, x)])
    assert np.abs(found).max() < 1e-14 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_degrees_of_freedom(name: str) -> None:
    """Those of the sources: dof = n_u − rank G; loops are holonomic, what rolls and slides without slip is not."""
    dyn = compiled(name)
    for x in feasible(name)[:3]:
        rows = dyn.constraint_jacobian(0.0, x)
        assert dyn.n_u - np.linalg.matrix_rank(rows, tol=1e-8 * np.linalg.norm(rows, 2)) == DEGREES_OF_FREEDOM[name]
        found = dyn.check(x)
        assert found.dof == DEGREES_OF_FREEDOM[name]
        assert found.integrable is (None if name in (*NONLINEAR, *BODIES) else name in LOOPS)
        assert len(found.redundant) == (1 if name == "bricard" else 0)


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_bodies_and_constraints_are_in_balance(name: str) -> None:
    """M u̇ = f + Gᵀλ and G u̇ + γ = 0: the definition of both forms in the API, by NumPy."""
    dyn, x = compiled(name), feasible(name)
    r = inputs(dyn)
    udot, force = dyn.udot(0.0, x, r=r), dyn.forcing(0.0, x, r=r)
    rows, multipliers = dyn.constraint_jacobian(0.0, x, r=r), dyn.multipliers(0.0, x, r=r)
    inertia = np.einsum("nij,nj->ni", dyn.mass_matrix(0.0, x, r=r), udot)
    reaction = np.einsum("nji,nj->ni", rows, multipliers)
    largest = np.abs([inertia, force, reaction]).max(axis=(0, 2))
    assert (np.abs(inertia - force - reaction).max(axis=1) < 1e-10 * largest).all()

    change = np.einsum("nij,nj->ni", rows, udot) + dyn.constraint_bias(0.0, x, r=r)
    assert (np.abs(change) <= 1e-10 * np.einsum("nij,nj->ni", np.abs(rows), np.abs(udot)).max()).all()


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_speeds_stay_on_the_constraints(name: str) -> None:
    """d/dt of what the constraints say of speeds is zero along the motion, by differences of fourth order."""
    dyn, x = compiled(name), feasible(name)
    r = inputs(dyn)
    rate, h = dyn.rhs(0.0, x, r=r), 1e-3 / max(1.0, np.abs(dyn.rhs(0.0, x, r=r)).max())

    def residual(steps: float) -> Array:
        return np.asarray(dyn.velocity_residual(0.0, x + steps * h * rate, r=r))

    change = (8 * (residual(1) - residual(-1)) - (residual(2) - residual(-2))) / (12 * h)
    size = np.abs(dyn.constraint_jacobian(0.0, x, r=r)).max() * np.abs(rate).max()
    assert np.abs(change).max() < 1e-9 * size


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_least_multipliers(name: str) -> None:
    """λ is in the range of G, which makes it unique and least where rows are redundant (API)."""
    dyn, x = compiled(name), feasible(name)
    for state in x:
        rows, found = dyn.constraint_jacobian(0.0, state), dyn.multipliers(0.0, state)
        in_range = rows @ np.linalg.pinv(rows, rcond=1e-8) @ found
        check(found, in_range, 1e-7)


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_linearization_along_the_motion(name: str) -> None:
    """A ẋ is the rate of ẋ along a motion, by differences of sixth order; a motion stays on the constraints."""
    dyn, r = compiled(name), inputs(compiled(name))
    for x in feasible(name)[:2]:
        A, _ = dyn.linearize(0.0, x, r=r)
        rate = dyn.rhs(0.0, x, r=r)
        h = 1e-2 / max(1.0, np.linalg.norm(rate / (1.0 + np.abs(x)), np.inf))
        ends = []
        for end in (3 * h, -3 * h):
            sol = dyn.simulate((0.0, end), x, inputs=r, rtol=1e-13, atol=1e-13)
            ends.append(dyn.rhs(0.0, sol(np.linspace(0.0, end, 4)[1:]), r=r))
        change = ((ends[0] - ends[1]).T @ [45.0, -9.0, 1.0]) / (60.0 * h)
        check(A @ rate, change, 1e-7)


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_kanes_equations_of_the_independent_speeds(name: str) -> None:
    """F̃ + F̃* = 0, Kane & Levinson 1985, section 6.1, with the dependent speeds that the sources name."""
    dyn, x = compiled(name), feasible(name)
    if dyn.n_u - DEGREES_OF_FREEDOM[name] != dyn.n_u_dependent:
        with pytest.raises(kc.ModelError, match="u_dependent"):
            dyn.generalized_active_forces(0.0, x[0], nonholonomic=True)
        return
    r = inputs(dyn)
    active = dyn.generalized_active_forces(0.0, x, r=r, nonholonomic=True)
    inertia = dyn.generalized_inertia_forces(0.0, x, dyn.udot(0.0, x, r=r), r=r, nonholonomic=True)
    assert active.shape == (len(x), DEGREES_OF_FREEDOM[name])
    full = np.abs(dyn.mass_matrix(0.0, x, r=r) @ dyn.udot(0.0, x, r=r)[..., np.newaxis]).max()
    assert np.abs(active + inertia).max() < 1e-10 * full


#: Ends of runs: Andrews' motor has the crank turn ever faster, Appell's and Hamel's particle falls ever faster.
ENDS = {"andrews_squeezer": 0.03, "appell_hamel": 3.0}


@pytest.mark.parametrize("name", part(CONSTRAINED, SMALL))
def test_long_runs_stay_on_the_constraints_and_keep_energy(name: str) -> None:
    """10 s from the state of the gallery: constraints to 1e-10, energy to the tolerance of the integration.

    The ball takes energy from the table, and the force that keeps a particle at its speed works.
    """
    dyn = compiled(name)
    sol = dyn.simulate((0.0, ENDS.get(name, 10.0)), start(name), inputs=weights(name), rtol=1e-10, atol=1e-10)
    assert sol.success
    assert sol.constraint_drift < 1e-10
    if name not in ("ball_turntable", "constant_speed_particle"):
        assert sol.energy_drift < 1e-6


def weights(name: str) -> Any:
    """No inputs, but a platform whose legs hold it like springs and dampers."""
    if name not in ("stewart", "stewart_platform"):
        return None
    dyn, p = compiled(name), values(name)
    lengths = [dyn.coordinate_names.index(f"d{i}") for i in range(1, 7)]
    names = [f"ud{i}" if name == "stewart" else f"vz{2 * i + 1}" for i in range(1, 7)]  # of the pistons
    rates = [dyn.n_q + dyn.speed_names.index(each) for each in names]
    weight = (p.m + 6 * (p.mc + p.mp)) * p.g / 6
    return lambda t, x: weight - 800.0 * (x[lengths] - 0.62) - 60.0 * x[rates]


# ------------------------------------------------------------------------------------------------- rolling and sliding
def test_rolling_disc_against_the_book() -> None:
    """Kane & Levinson 1985, problem 11.5: u̇1 ... u̇3; pydy's copies of the book's results are in the case."""
    dyn, p = compiled("rolling_disc"), values("rolling_disc")
    x = feasible("rolling_disc", 40)
    q2, u1, u2, u3 = (column(dyn, x, name) for name in ("q2", "u1", "u2", "u3"))
    expected = [
        (u2**2 * np.tan(q2) - 6 * u2 * u3 - 4 * p.g * np.sin(q2) / p.R) / 5,
        2 * u3 * u1 - u1 * u2 * np.tan(q2),
        2 * u1 * u2 / 3,
    ]
    check(dyn.udot(0.0, x)[:, :3], np.stack(expected, axis=-1))
    for sample in case("kane85_rolling_disk")["samples"]:
        if sample["kind"] == "udot":
            state = dyn.consistent(0.0, [*sample["q"], *sample["u"]])
            check(dyn.udot(0.0, state)[:3], sample["expected"])


def test_rolling_disc_goes_round() -> None:
    """A steady circle: with u1 = 0 and u̇1 = 0 in Kane & Levinson 1985, problem 11.5, the lean stays."""
    dyn, p = compiled("rolling_disc"), values("rolling_disc")
    q2, u2 = 0.3, 2.0
    u3 = (u2**2 * np.tan(q2) - 4 * p.g * np.sin(q2) / p.R) / (6 * u2)
    state = {"q1": 0.0, "q2": q2, "q3": 0.0, "q4": 0.0, "q5": 0.0, "u1": 0.0, "u2": u2, "u3": u3, "u5": 0.0}
    state["u4"] = -p.R * (u3 - u2 * np.tan(q2))
    sol = dyn.simulate((0.0, 10.0), vector(dyn, state), rtol=1e-11, atol=1e-11)
    turns = u2 / np.cos(q2) * sol.t
    radius = state["u4"] / (u2 / np.cos(q2))
    assert turns[-1] > 6 * np.pi
    assert np.abs(sol.x[:, 1] - q2).max() < 1e-8
    check(sol.x[:, 3:5], radius * np.stack([np.sin(turns), 1 - np.cos(turns)], axis=-1), 1e-8)


def test_ball_goes_round_at_two_sevenths_of_the_table() -> None:
    """Neimark & Fufaev 1972; Weltner 1979: v̇ = (2/7) W n_z × v wherever it starts, and ω_z is constant."""
    dyn, p = compiled("ball_turntable"), values("ball_turntable")
    x = feasible("ball_turntable")
    rate = 2 / 7 * p.W
    v = np.stack([column(dyn, x, "ux"), column(dyn, x, "uy")], axis=-1)
    udot = dyn.udot(0.0, x)
    check(udot[:, 3:], rate * np.stack([-v[:, 1], v[:, 0]], axis=-1))
    assert np.abs(udot[:, 2]).max() < 1e-12

    x0 = start("ball_turntable")
    sol = dyn.simulate((0.0, 2 * np.pi / rate), x0, rtol=1e-11, atol=1e-11)
    centre = x0[:2] + np.array([-x0[-1], x0[-2]]) / rate
    check(np.linalg.norm(sol.x[:, :2] - centre, axis=1), np.full(len(sol.t), np.hypot(*x0[-2:]) / rate), 1e-9)
    assert np.abs(sol.x[-1, :2] - x0[:2]).max() < 1e-8


def test_sleigh_turns_all_its_motion_forwards() -> None:
    """Neimark & Fufaev 1972; Bloch 2003, section 1.7: the closed form, v ∝ tanh, w ∝ 1/cosh, and dp_x/dt = λ_x."""
    dyn, p = compiled("chaplygin_sleigh"), values("chaplygin_sleigh")
    x0 = start("chaplygin_sleigh")
    v, w = x0[3:5]
    moment = p.I + p.m * p.a**2
    top = np.sqrt(v**2 + moment / p.m * w**2)  # the speed that it ends with
    check(dyn.udot(0.0, x0), [p.a * w**2, -p.m * p.a * v * w / moment, 0.0])
    check(dyn.multipliers(0.0, x0), [p.m * (v * w + p.a * dyn.udot(0.0, x0)[1])])

    sol = dyn.simulate((0.0, 10.0), x0, rtol=1e-11, atol=1e-11)
    phase = np.arctanh(v / top) + p.m * p.a * top / moment * sol.t
    check(sol.x[:, 3], top * np.tanh(phase), 1e-9)
    assert np.abs(sol.x[:, 4] - top * np.sqrt(p.m / moment) / np.cosh(phase)).max() < 1e-9


def test_skate_drifts_across_the_slope() -> None:
    """Neimark & Fufaev 1972; Bloch 2003, section 1.6: a cycloid, through five turns of the heading."""
    dyn, p = compiled("knife_edge"), values("knife_edge")
    x0 = start("knife_edge", w=3.3)
    sol = dyn.simulate((0.0, 10.0), x0, rtol=1e-11, atol=1e-11)
    w, pull = 3.3, p.g * np.sin(p.alpha)
    turned = w * sol.t
    assert turned[-1] > 10 * np.pi
    place = [np.sin(turned) ** 2, turned - np.sin(2 * turned) / 2]
    check(sol.x[:, :2], pull / (2 * w**2) * np.stack(place, axis=-1), 1e-9)
    check(sol.x[:, 2], turned, 1e-9)


def test_skate_in_its_own_axes() -> None:
    """The same body with speeds along and across the blade: closed form v̇ = g sin α cos θ, ẇ = 0."""
    dyn, p = compiled("knife_edge"), values("knife_edge")
    x = feasible("knife_edge")
    theta, w = column(dyn, x, "theta"), column(dyn, x, "w")
    v = column(dyn, x, "ux") * np.cos(theta) + column(dyn, x, "uy") * np.sin(theta)
    ahead, aside = p.g * np.sin(p.alpha) * np.cos(theta), v * w
    found = dyn.udot(0.0, x)
    check(found[:, 0], ahead * np.cos(theta) - aside * np.sin(theta))
    check(found[:, 1], ahead * np.sin(theta) + aside * np.cos(theta))
    assert np.abs(found[:, 2]).max() < 1e-12


def test_snakeboard_against_the_book() -> None:
    """J. K. Moore, *Learn Multibody Dynamics*: accelerations by the book's own code."""
    dyn, published = compiled("snakeboard"), case("lmd_snakeboard")
    for sample in published["samples"]:
        udot = dyn.udot(0.0, [*sample["q"], *sample["u"]])
        check(udot[:3], sample["udot_independent"], published["tolerance"])


def test_snakeboard_goes_straight_on_through_parallel_trucks() -> None:
    """With parallel trucks the dependent u1, u2 cease to follow from u3 (Moore); the motion goes on through it."""
    dyn = compiled("snakeboard")
    x0 = dyn.consistent(0.0, start("snakeboard", q4=0.2, q5=0.1, u3=0.1, u4=-0.3, u5=0.2))
    sol = dyn.simulate((0.0, 1.0), x0, rtol=1e-10, atol=1e-10)
    apart = sol.x[:, 3] - sol.x[:, 4]
    assert apart[0] > 0 > apart[-1]
    assert sol.energy_drift < 1e-8


def test_car_against_momentum() -> None:
    """De Luca, Oriolo & Samson 1998 with masses: Newton's and Euler's equations of both bodies, by hand."""
    dyn, p = compiled("car"), values("car")
    x, r = feasible("car"), np.array([900.0, 40.0])
    phi, v, s = (column(dyn, x, name) for name in ("phi", "v", "s"))
    bend, change = np.tan(phi) / p.l, s / np.cos(phi) ** 2 / p.l
    # along the track: everything that moves with v; about the steering axis: the front axle alone
    turning = p.m * p.b**2 + p.I + p.m_f * p.l**2
    for found, k, dk, speed in zip(dyn.udot(0.0, x, r=r), bend, change, v, strict=True):
        matrix = [[p.m + p.m_f + (turning + p.I_f) * k**2, p.I_f * k], [p.I_f * k, p.I_f]]
        force = [r[0] - (turning + p.I_f) * k * dk * speed, r[1] - p.I_f * dk * speed]
        vdot, sdot = np.linalg.solve(matrix, force)
        check(found, [vdot, sdot, 0.0, k * vdot + dk * speed])


def test_car_drives_in_a_circle() -> None:
    """Ackermann: with the steering held the rear axle goes round at the radius l/tan φ."""
    dyn, p = compiled("car"), values("car")
    x0 = start("car", s=0.0)
    sol = dyn.simulate((0.0, 12.0), x0, rtol=1e-11, atol=1e-11)
    radius = p.l / np.tan(0.3)
    turned = 5.0 * sol.t / radius
    assert turned[-1] > 2 * np.pi
    check(sol.x[:, :2], radius * np.stack([np.sin(turned), 1 - np.cos(turned)], axis=-1), 1e-9)


# ---------------------------------------------------------------------------------------------- nonlinear in the speeds
def test_appell_hamel_falls_on_a_line() -> None:
    """Appell 1911, Hamel 1949, Neimark & Fufaev 1972, chapter IV: z̈ = −g/(1 + c²), the direction stays."""
    dyn, published, p = compiled("appell_hamel"), case("appell_hamel"), values("appell_hamel")
    x0 = np.array([*published["q0"], *published["u0"]])
    check(dyn.udot(0.0, x0), published["expected_udot"], published["tolerance"])
    # the row of the case is half of the derivative of u1² + u2² − c² u3²
    check(2 * dyn.multipliers(0.0, x0), published["expected_multiplier"], published["tolerance"])
    sol = dyn.simulate((0.0, published["t"][-1]), x0, t_eval=published["t"], rtol=1e-12, atol=1e-12)
    check(sol.q, published["expected_q"], 1e-11)

    sol = dyn.simulate((0.0, 3.0), start("appell_hamel"), rtol=1e-11, atol=1e-11)
    speed = -1.0 - p.g / (1 + p.c**2) * sol.t
    check(sol.u, speed[:, None] * [-0.42, -0.56, 1.0], 1e-9)


def test_constant_speed_turns_down() -> None:
    """Evans et al. 1983: u̇ = F/m − (F·u) u/(m V²); in a uniform field u_z = −V tanh(g (t − t0)/V)."""
    dyn, p = compiled("constant_speed_particle"), values("constant_speed_particle")
    x = feasible("constant_speed_particle")
    u = x[:, 3:]
    check(dyn.udot(0.0, x), p.g * u[:, 2:] / p.V**2 * u - [0.0, 0.0, p.g], 1e-11)
    x0 = start("constant_speed_particle")
    sol = dyn.simulate((0.0, 2.0), x0, rtol=1e-11, atol=1e-11)
    phase = p.g * sol.t / p.V - np.arctanh(x0[5] / p.V)
    expected = p.V * np.stack([0.8 / np.cosh(phase), 0.6 / np.cosh(phase), -np.tanh(phase)], axis=-1)
    check(sol.u, expected, 1e-9)


# ------------------------------------------------------------------------------------------------------------ bicycle
def reduced(matrix: Array, rows: Array) -> Array:
    """Kane's [1; A_n]ᵀ M [1; A_n] of the first speeds, the others by the rows."""
    n = matrix.shape[0] - rows.shape[0]
    project = np.vstack([np.eye(n), -np.linalg.solve(rows[:, n:], rows[:, :n])])
    return np.asarray(project.T @ matrix @ project)


def upright(v: float) -> Array:
    """Straight ahead at the speed v."""
    dyn, p = compiled("whipple_bicycle"), values("whipple_bicycle")
    state = dict.fromkeys((*dyn.coordinate_names, *dyn.speed_names), 0.0)
    return vector(dyn, state | {"uthR": -v / p.rR, "uthF": -v / p.rF, "ux": v})


@pytest.mark.long
def test_bicycle_mass_matrix_of_the_benchmark() -> None:
    """Meijaard et al. 2007: the benchmark's M of roll and steer, 14 digits; upright neither is part of driving."""
    dyn, published = compiled("whipple_bicycle"), case("whipple_linear_benchmark")
    x = upright(0.0)
    found = reduced(dyn.mass_matrix(0.0, x), dyn.constraint_jacobian(0.0, x))
    assert np.abs(found[:2, :2] - published["M"]).max() < 1e-10
    assert np.abs(found[:2, 2]).max() < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("v", part([0.0, 1.0, 3.0, 5.0, 7.5, 10.0], [0.0, 5.0]))
def test_bicycle_near_upright(v: float) -> None:
    """Meijaard et al. 2007, (5.3): M q̈ + v C1 q̇ + (g K0 + v² K2) q = f for roll and steer, matrices to 14 digits."""
    dyn, published, p = compiled("whipple_bicycle"), case("whipple_linear_benchmark"), values("whipple_bicycle")
    M, C1, K0, K2 = (np.array(published[name]) for name in ("M", "C1", "K0", "K2"))
    A, B = dyn.linearize(0.0, upright(v), minimal=True)
    names = [*dyn.coordinate_names[:7], *dyn.speed_names[:3]]  # the pitch and five speeds depend on these
    place, rate = ([names.index(name) for name in pair] for pair in (("phi", "delta"), ("uphi", "udelta")))
    mass = np.linalg.inv(B[rate])
    check(mass, M)
    check(-mass @ A[np.ix_(rate, place)], p.g * K0 + v**2 * K2)
    assert np.abs(-mass @ A[np.ix_(rate, rate)] - v * C1).max() < 1e-10 * max(1.0, v * np.abs(C1).max())


@pytest.mark.long
@pytest.mark.parametrize("v", range(11))
def test_bicycle_eigenvalues_of_the_benchmark(v: int) -> None:
    """Meijaard et al. 2007, Table 2: the four eigenvalues of roll and steer at 0 ... 10 m/s; all others are zero."""
    dyn, published = compiled("whipple_bicycle"), case("whipple_linear_benchmark")
    A, _ = dyn.linearize(0.0, upright(float(v)), minimal=True)
    names = [*dyn.coordinate_names[:7], *dyn.speed_names[:3]]
    of_interest = [names.index(name) for name in ("phi", "delta", "uphi", "udelta")]
    rest = [i for i in range(len(names)) if i not in of_interest]
    assert np.abs(A[np.ix_(of_interest, rest)]).max() < 1e-9  # they know nothing of place, yaw and speed
    found = np.linalg.eigvals(A[np.ix_(of_interest, of_interest)])
    expected = [
        value
        for entry in published["eigenvalues"][str(v)]
        for value in ([complex(*entry), complex(*entry).conjugate()] if isinstance(entry, list) else [complex(entry)])
    ]
    assert len(expected) == 4
    for value in expected:
        assert np.abs(found - value).min() < published["tolerance"]["eigenvalues"] * max(1.0, abs(value))


@pytest.mark.long
def test_bicycle_rights_itself() -> None:
    """Meijaard et al. 2007, section 6: between 4.29 and 6.02 m/s it is stable without a hand on it, and not below."""
    dyn = compiled("whipple_bicycle")
    names = (*dyn.coordinate_names, *dyn.speed_names)

    def lean(v: float, t: float) -> float:
        x = upright(v)
        x[names.index("uphi")] = 0.05
        return float(np.abs(column(dyn, dyn.simulate((0.0, t), dyn.consistent(0.0, x)).x[-1], "phi")))

    assert lean(5.0, 10.0) < 2e-3
    assert lean(3.0, 1.5) > 0.03


# ------------------------------------------------------------------------------------------------------- planar loops
@pytest.mark.parametrize(("name", "r"), [("four_bar", {"tau": 2.5}), ("slider_crank", {"tau": 6.0, "F": -40.0})])
def test_loops_of_rods_against_free_bodies(name: str, r: dict[str, float]) -> None:
    """Newton's and Euler's equations of the free rods, by NumPy: accelerations, and the forces at the cut joint."""
    dyn, published = compiled(name), case(f"loop_{name}")
    for sample in published["samples"]:
        x = np.array([*sample["q"], *sample["u"]])
        check(dyn.udot(0.0, x, r=r), sample["udot"], published["tolerance"]["udot"])
        check(dyn.multipliers(0.0, x, r=r), sample["cut_joint_force"], published["tolerance"]["forces"])


@pytest.mark.parametrize(("name", "r"), [("four_bar", {"tau": 2.5}), ("slider_crank", {"tau": 6.0, "F": -40.0})])
def test_forces_in_the_joints_of_loops(name: str, r: dict[str, float]) -> None:
    """Newton's and Euler's equations of the free rods, by NumPy: the forces of all hinges."""
    dyn, published = compiled(name), case(f"loop_{name}")
    hinges = {"rod1": "ground->rod1", "rod2": "rod1->rod2", "rod3": "ground->rod3"}
    for sample in published["samples"]:
        found = dyn.reactions(0.0, [*sample["q"], *sample["u"]], r=r, named=True)
        forces = sample["all_joint_forces"]
        expected = {rod: [forces[f"{hinge}:x"], forces[f"{hinge}:y"]] for rod, hinge in hinges.items() if rod in found}
        assert len(expected) == dyn.n_u
        for rod, force in expected.items():
            check(found[rod][:2], force, published["tolerance"]["forces"])


def test_slider_crank_in_closed_form() -> None:
    """One degree of freedom, Eksergian's equation: J(q) q̈ + ½ J′ q̇² = Q, with J of the textbook's closed forms."""
    dyn, p = compiled("slider_crank"), values("slider_crank")
    x, r = feasible("slider_crank"), np.array([-40.0, 6.0])  # F, tau
    q, u = x[:, 0], x[:, 2]
    sin, cos = np.sin(q), np.cos(q)
    # with sin q2 = −k sin q1: slopes of q2 and of the centres by q1, and their slopes
    k = p.L1 / p.L2
    c2 = np.sqrt(1 - (k * sin) ** 2)
    d2 = -k * cos / c2
    dd2 = (k * sin - k * sin * d2**2) / c2
    s2 = -k * sin

    def centre(part: float) -> tuple[Array, Array, Array, Array]:
        """Slopes (x′, y′) and (x″, y″) of the point of the connecting rod at ``part`` of its length."""
        length = part * p.L2
        first = -p.L1 * sin - length * s2 * d2, p.L1 * cos + length * c2 * d2
        second = (-p.L1 * cos - length * (c2 * d2**2 + s2 * dd2), -p.L1 * sin + length * (-s2 * d2**2 + c2 * dd2))
        return *first, *second

    inertia = p.m1 * p.L1**2 / 3 + p.m2 * p.L2**2 / 12 * d2**2
    half_slope = p.m2 * p.L2**2 / 12 * d2 * dd2
    for mass, (dx, dy, ddx, ddy) in ((p.m2, centre(0.5)), (p.ms, centre(1.0))):
        inertia = inertia + mass * (dx**2 + dy**2)
        half_slope = half_slope + mass * (dx * ddx + dy * ddy)
    force = r[1] + r[0] * centre(1.0)[0] - p.g * (p.m1 * p.L1 / 2 * cos + p.m2 * centre(0.5)[1] + p.ms * centre(1.0)[1])
    expected = (force - half_slope * u**2) / inertia
    named = dict(zip(("F", "tau"), r, strict=True))
    check(dyn.udot(0.0, x, r=named)[:, 0], expected)


def test_four_bar_in_closed_form() -> None:
    """One degree of freedom: the loop's equations by Freudenstein's ratios, and the power of all forces."""
    dyn, p = compiled("four_bar"), values("four_bar")
    x, torque = feasible("four_bar"), 2.5
    for q, u, found in zip(x[:, :3], x[:, 3:], dyn.udot(0.0, x, r=[torque]), strict=True):
        sin, cos = np.sin(q), np.cos(q)
        ratio = np.array(
            [
                1.0,
                p.L1 * np.sin(q[0] - q[2]) / (p.L2 * np.sin(q[2] - q[1])),
                p.L1 * np.sin(q[0] - q[1]) / (p.L3 * np.sin(q[2] - q[1])),
            ]
        )
        check(u, ratio * u[0], 1e-9)
        # q̈ = ratio q̈1 + rest, from the second derivative of the loop
        lengths = np.array([p.L1, p.L2, -p.L3])
        rows = np.stack([-lengths * sin, lengths * cos])
        curved = np.array([-lengths * cos, -lengths * sin]) @ u**2
        rest = np.append(0.0, np.linalg.solve(rows[:, 1:], -curved))
        # centres: slopes by q̈1 and the rest of their accelerations
        inertia, force = 0.0, torque
        halves = np.array([[p.L1 / 2, 0, 0], [p.L1, p.L2 / 2, 0], [0, 0, p.L3 / 2]])
        for i, (mass, length) in enumerate(zip((p.m1, p.m2, p.m3), (p.L1, p.L2, p.L3), strict=True)):
            jacobian = np.stack([-halves[i] * sin, halves[i] * cos])
            slope = jacobian @ ratio
            left = jacobian @ rest - np.stack([halves[i] * cos, halves[i] * sin]) @ u**2
            moment = mass * length**2 / 12
            inertia += mass * slope @ slope + moment * ratio[i] ** 2
            force += slope @ [0.0, -mass * p.g] - mass * slope @ left - moment * ratio[i] * rest[i]
        check(found, ratio * force / inertia + rest, 1e-9)


def test_four_bar_crank_turns_on_and_on() -> None:
    """By Grashof's rule the crank turns fully: driven, it does so many times."""
    dyn = compiled("four_bar")
    x0 = dyn.consistent(0.0, start("four_bar", u1=14.0))
    sol = dyn.simulate((0.0, 10.0), x0, rtol=1e-10, atol=1e-10)
    assert sol.x[-1, 0] > 20 * np.pi
    assert sol.constraint_drift < 1e-10


def test_hoberman_ring_in_closed_form() -> None:
    """It closes by itself, its momenta stay, and its motion is that of one angle and one turning."""
    n, p = 5, SimpleNamespace(**{**hoberman_ring.PARAMETERS, "c": 0.0})
    dyn = kc.compile(hoberman_ring.build(n), parameters=vars(p))
    sol = dyn.simulate((0.0, 1.0), hoberman_ring.closed(0.7, 0.5, n), rtol=1e-10, atol=1e-10)
    names, tangent = dyn.names.x, np.tan(np.pi / n)
    x, y, alpha, beta = (
        sol.x[:, [names.index(f"{q}{i}") for i in range(1, n + 1)]] for q in ("x", "y", "alpha", "beta")
    )
    for one, other in ((alpha, beta), (beta, alpha)):  # the last pair and the first, whose pins nothing joins
        ends = [
            (
                x[:, i] + p.L / 2 * (s * np.cos(q[:, i]) + tangent * np.sin(q[:, i])),
                y[:, i] + p.L / 2 * (s * np.sin(q[:, i]) - tangent * np.cos(q[:, i])),
            )
            for q, i, s in ((one, -1, 1), (other, 0, -1))
        ]
        np.testing.assert_allclose(*ends, atol=1e-9)
    delta, rate = alpha[:, 0] - beta[:, 0], column(dyn, sol.x, "walpha1") - column(dyn, sol.x, "wbeta1")
    assert np.ptp(delta) > 0.5
    sin, cos, turning, moment = np.sin(delta / 2), np.cos(delta / 2), sol.outputs[:, 1], p.m * p.L**2 / 12
    # a middle of a link from the middle of the ring: L/2 (tan sin, cos / tan), and its rate by delta
    square, slope = tangent**2 * sin**2 + cos**2 / tangent**2, tangent**2 * cos**2 + sin**2 / tangent**2
    square, slope = p.L**2 / 4 * square, p.L**2 / 16 * slope
    kinetic = n * (p.m * (slope * rate**2 + square * turning**2) + moment * (turning**2 + rate**2 / 4))
    check(dyn.kinetic_energy(0.0, sol.x), kinetic, 1e-9)
    energy = kinetic - n * p.k * np.log(np.sin(delta))
    check(energy, np.full(len(energy), energy[0]), 1e-8)
    momentum = 2 * n * (p.m * square + moment) * turning
    check(momentum, np.full(len(momentum), momentum[0]), 1e-8)


def test_andrews_squeezer_of_the_test_set() -> None:
    """Hairer & Wanner II, section VII.7: u̇ and λ at t = 0, and at t = 0.03, where a converged state is taken."""
    dyn, published = compiled("andrews_squeezer"), case("andrews_squeezer")
    x0 = np.array([*published["q0"], *published["u0"]])
    tolerance = published["tolerance"]
    check(dyn.udot(0.0, x0), published["expected_udot_t0"], tolerance["udot_t0"])
    check(-dyn.multipliers(0.0, x0), published["expected_multipliers_t0"], tolerance["multipliers_t0"])
    x1 = np.array([*published["converged_q_t1"], *published["converged_u_t1"]])
    check(dyn.udot(0.0, x1), published["converged_udot_t1"])
    check(-dyn.multipliers(0.0, x1), published["converged_multipliers_t1"], 1e-9)
    check(dyn.udot(0.0, x1), published["expected_udot_t1"], tolerance["published_udot_t1_rel"])


def test_andrews_squeezer_runs_as_published() -> None:
    """Test Set for IVP Solvers, "andrews": the state at t = 0.03, after the crank has turned two and a half times."""
    dyn, published = compiled("andrews_squeezer"), case("andrews_squeezer")
    sol = dyn.simulate((0.0, 0.03), start("andrews_squeezer"), rtol=1e-12, atol=1e-12)
    check(sol.q[-1], published["converged_q_t1"], 1e-9)
    check(sol.u[-1], published["converged_u_t1"], 1e-9)
    check(sol.q[-1], published["expected_q_t1"], tolerance := published["tolerance"]["published_state_t1_rel"])
    check(sol.u[-1], published["expected_u_t1"], tolerance)


# ------------------------------------------------------------------------------------ loops by equations of free bodies
class Bodies:
    """Newton's and Euler's equations of free bodies with joints between them, at one instant.

    The unknowns are the accelerations (a, α) of all bodies and a force for every scalar equation of a joint; a body has
    a mass, a place, a rotation, a velocity and an angular velocity, all in inertial axes.  None stands for the ground.
    """

    def __init__(self) -> None:
        self.mass: list[tuple[float, Array]] = []
        self.place: list[Array] = []
        self.turn: list[Array] = []
        self.motion: list[tuple[Array, Array]] = []
        self.load: list[tuple[Array, Array]] = []
        self.rows: list[tuple[dict[int, Array], float]] = []

    def add(self, mass: float, inertia: Array, place: Array, turn: Array, v: Array, w: Array, force: Array) -> int:
        """A body with its central inertia in its own axes and a force at its mass centre; returns its number."""
        self.mass.append((mass, turn @ inertia @ turn.T))
        self.place.append(place)
        self.turn.append(turn)
        self.motion.append((v, w))
        self.load.append((force, np.zeros(3)))
        return len(self.mass) - 1

    def torque(self, body: int | None, torque: Array) -> None:
        if body is not None:
            self.load[body] = self.load[body][0], self.load[body][1] + torque

    def force(self, body: int, force: Array) -> None:
        self.load[body] = self.load[body][0] + force, self.load[body][1]

    def spot(self, body: int | None, point: Array) -> tuple[Array, Array, dict[int, Array], Array]:
        """Place and velocity of a point that is fixed in a body; its acceleration as coefficients and the rest."""
        if body is None:
            return point, np.zeros(3), {}, np.zeros(3)
        (v, w), arm = self.motion[body], point - self.place[body]
        slopes = np.hstack([np.eye(3), -cross(arm)])
        return point, v + np.cross(w, arm), {body: slopes}, np.cross(w, np.cross(w, arm))

    def direction(self, body: int | None, e: Array) -> tuple[Array, Array, dict[int, Array], Array]:
        """The same of a direction that is fixed in a body."""
        if body is None:
            return e, np.zeros(3), {}, np.zeros(3)
        w = self.motion[body][1]
        slopes = np.hstack([np.zeros((3, 3)), -cross(e)])
        return e, np.cross(w, e), {body: slopes}, np.cross(w, np.cross(w, e))

    def product(self, one: Any, other: Any) -> None:
        """The row d²/dt² (one · other) = 0."""
        row: dict[int, Array] = {}
        for (_, _, slopes, _), (value, *_) in ((one, other), (other, one)):
            for body, matrix in slopes.items():
                row[body] = row.get(body, np.zeros(6)) + value @ matrix
        self.rows.append((row, float(one[0] @ other[3] + one[3] @ other[0] + 2 * one[1] @ other[1])))

    def between(self, one: Any, other: Any) -> Any:
        """The vector from the second spot to the first."""
        slopes = dict(one[2])
        for body, matrix in other[2].items():
            slopes[body] = slopes.get(body, np.zeros((3, 6))) - matrix
        return one[0] - other[0], one[1] - other[1], slopes, one[3] - other[3]

    def ball(self, child: int | None, parent: int | None, point: Array, other_point: Array | None = None) -> None:
        """A point of one body is one of the other: three rows along the inertial axes."""
        gap = self.between(self.spot(child, point), self.spot(parent, point if other_point is None else other_point))
        for e in np.eye(3):
            self.product(gap, self.direction(None, e))

    def hinge(self, child: int | None, parent: int | None, point: Array, axis: Array) -> None:
        self.ball(child, parent, point)
        for side in np.linalg.svd(axis[None, :])[2][1:]:
            self.product(self.direction(parent, axis), self.direction(child, side))

    def solve(self) -> tuple[Array, Array]:
        """Accelerations (n, 6) and forces of the rows, least in size where they are not unique."""
        n, m = 6 * len(self.mass), len(self.rows)
        matrix, right = np.zeros((n + m, n + m)), np.zeros(n + m)
        for i, ((mass, inertia), (_, w), (force, torque)) in enumerate(
            zip(self.mass, self.motion, self.load, strict=True)
        ):
            at = 6 * i
            matrix[at : at + 3, at : at + 3] = mass * np.eye(3)
            matrix[at + 3 : at + 6, at + 3 : at + 6] = inertia
            right[at : at + 6] = np.concatenate([force, torque - np.cross(w, inertia @ w)])
        for k, (row, rest) in enumerate(self.rows):
            right[n + k] = -rest
            for body, slopes in row.items():
                matrix[n + k, 6 * body : 6 * body + 6] += slopes
        matrix[:n, n:] = -matrix[n:, :n].T
        found, *_ = np.linalg.lstsq(matrix, right, rcond=1e-12)
        assert np.abs(matrix @ found - right).max() < 1e-10 * np.abs(right).max()
        return found[:n].reshape(-1, 6), found[n:]


def cross(a: Array) -> Array:
    """The matrix of b ↦ a × b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(axis: Array, angle: float) -> Array:
    """Rodrigues' formula."""
    k = cross(axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def hang(
    bodies: Bodies, start_at: Array, links: list[tuple[Array, float, float, Array, float, Array]], g: float
) -> tuple[list[int], list[Array], Array]:
    """A chain of hinged bodies from the ground: (axis, angle, rate, vector to the next hinge, mass, inertia) each.

    The axis is in the parent's axes, the vector in the body's own, the mass centre in its middle; gravity along -y.
    Returns the bodies, the hinges' axes and the end in inertial axes.
    """
    turn, w, point, v, before = np.eye(3), np.zeros(3), start_at, np.zeros(3), None
    numbers, axes = [], []
    for axis, angle, rate, ahead, mass, inertia in links:
        axes.append(turn @ axis)
        turn = turn @ rotation(axis, angle)
        w = w + rate * axes[-1]
        arm = turn @ ahead
        weight = np.array([0.0, -mass * g, 0.0])
        number = bodies.add(mass, inertia, point + arm / 2, turn, v + np.cross(w, arm / 2), w, weight)
        bodies.hinge(number, before, point, axes[-1])
        numbers.append(number)
        point, v, before = point + arm, v + np.cross(w, arm), number
    return numbers, axes, point


def joint_accelerations(found: Array, numbers: list[int], axes: list[Array]) -> list[float]:
    """q̈ of hinges from angular accelerations: α − α_parent = q̈ e + q̇ ω_parent × e."""
    result, before = [], np.zeros(3)
    for number, axis in zip(numbers, axes, strict=True):
        result.append(axis @ (found[number, 3:] - before))
        before = found[number, 3:]
    return result


def test_five_bar_against_free_bodies() -> None:
    """Newton's and Euler's equations of four free rods: accelerations, and the force that closes the loop."""
    dyn, p = compiled("five_bar"), values("five_bar")
    torques = {"tau1": 3.0, "tau3": -2.0}
    names = (*dyn.coordinate_names, *dyn.speed_names)
    z = np.array([0.0, 0.0, 1.0])
    for x in feasible("five_bar"):
        state = dict(zip(names, x, strict=True))
        bodies, expected, ends, last = Bodies(), {}, [], []
        for pivot, pair, driven in ((0.0, (1, 2), "tau1"), (p.d, (3, 4), "tau3")):
            links = []
            for i in pair:
                mass, length = getattr(p, f"m{i}"), getattr(p, f"L{i}")
                across = mass * length**2 / 12
                inertia = np.diag([1e-3 * across, across, across])  # that about the rod has no part in the motion
                links.append((z, state[f"q{i}"], state[f"u{i}"], np.array([length, 0.0, 0.0]), mass, inertia))
            numbers, axes, end = hang(bodies, np.array([pivot, 0.0, 0.0]), links, p.g)
            bodies.torque(numbers[0], torques[driven] * z)
            expected[pair] = (numbers, axes)
            ends.append(end)
            last.append(numbers[-1])
        check(*ends, 1e-12)
        bodies.ball(last[0], last[1], ends[0], ends[1])
        found, forces = bodies.solve()
        accelerations = {
            f"u{i}": value
            for pair, (numbers, axes) in expected.items()
            for i, value in zip(pair, joint_accelerations(found, numbers, axes), strict=True)
        }
        check(dyn.udot(0.0, x, r=torques), [accelerations[name] for name in dyn.speed_names], 1e-9)
        check(dyn.multipliers(0.0, x, r=torques), forces[-3:-1], 1e-9)
        reactions = dyn.reactions(0.0, x, r=torques, named=True)
        for rod, row in (("rod1", 0), ("rod2", 5), ("rod3", 10), ("rod4", 15)):  # five rows a hinge
            check(reactions[rod][:3], forces[row : row + 3], 1e-9)


def test_bricard_against_free_bodies() -> None:
    """Newton's and Euler's equations of five free rods with six hinges, 30 rows of rank 29, by least squares."""
    dyn, p = compiled("bricard"), values("bricard")
    e = np.eye(3)
    # rods along x, y, z, −x, −y at zero angles, hinges about y, z, x, y, z, and the sixth about x (the cube's edges)
    ahead, about = [e[0], e[1], e[2], -e[0], -e[1]], [e[1], e[2], e[0], e[1], e[2]]
    for x in [start("bricard"), *feasible("bricard")]:
        bodies, links = Bodies(), []
        for i in range(5):
            inertia = p.m / 12 * (p.L**2 + p.h**2) * np.eye(3) + p.m / 12 * (p.h**2 - p.L**2) * np.outer(
                ahead[i], ahead[i]
            )
            links.append((about[i], x[i], x[5 + i], p.L * ahead[i], p.m, inertia))
        numbers, axes, end = hang(bodies, np.zeros(3), links, p.g)
        check(end, [0.0, 0.0, p.L], 1e-12)
        check(bodies.turn[-1] @ e[0], e[0], 1e-12)
        bodies.hinge(numbers[-1], None, end, e[0])
        assert len(bodies.rows) == 30
        found, _ = bodies.solve()
        check(dyn.udot(0.0, x), joint_accelerations(found, numbers, axes), 1e-8)


def test_bricard_moves_though_it_should_not() -> None:
    """Bricard 1897: a loop of six hinges has 6·5 − 6·5 = 0 degrees of freedom by count; this one goes to and fro."""
    dyn = compiled("bricard")
    sol = dyn.simulate((0.0, 10.0), start("bricard"), rtol=1e-10, atol=1e-10)
    assert dyn.n_constraints == dyn.n_u == 5
    assert np.ptp(sol.x[:, 0]) > 0.5
    at_rest = np.abs(sol.u).max(axis=1)
    assert at_rest.max() > 1.0


@pytest.mark.long
def test_stewart_against_free_bodies() -> None:
    """Newton's and Euler's equations of 13 free bodies: the plate's and the legs' accelerations, and ball joints."""
    dyn, p = compiled("stewart"), values("stewart")
    names = (*dyn.coordinate_names, *dyn.speed_names)
    push = np.array([20.0, 55.0, 31.0, 42.0, 25.0, 47.0])
    e, down = np.eye(3), np.array([0.0, 0.0, -1.0])
    for x in feasible("stewart"):
        state = dict(zip(names, x, strict=True))
        scalar, *axis = (state[f"e{i}"] for i in range(4))
        axis_ = np.array(axis)
        turn = (scalar**2 - axis_ @ axis_) * e + 2 * np.outer(axis_, axis_) + 2 * scalar * cross(axis_)
        centre = np.array([state[k] for k in "xyz"])
        w = turn @ [state[f"w{k}"] for k in "xyz"]
        v = np.array([state[f"v{k}"] for k in "xyz"])
        bodies = Bodies()
        plate = bodies.add(p.m, np.diag([p.Ixx, p.Iyy, p.Izz]), centre, turn, v, w, p.m * p.g * down)
        legs, feet, balls = [], [], []
        for i in range(6):
            side, third = (-1) ** (i + 1), 2 * np.pi / 3 * (i // 2)
            foot_angle, ball_angle = third + side * (np.pi / 3 - p.beta), third + side * p.gamma
            foot = p.rb * np.array([np.cos(foot_angle), np.sin(foot_angle), 0.0])
            ball = centre + p.rp * turn @ [np.cos(ball_angle), np.sin(ball_angle), 0.0]
            a, b, d, ua, ub, ud = (state[f"{k}{i + 1}"] for k in ("a", "b", "d", "ua", "ub", "ud"))
            cross_turn = rotation(e[0], a)
            leg_turn = cross_turn @ rotation(e[1], b)
            y, along = cross_turn[:, 1], leg_turn[:, 2]
            check(foot + d * along, ball, 1e-12)
            w_leg = ua * e[0] + ub * y
            cylinder = bodies.add(
                p.mc,
                np.diag([p.Jc, p.Jc, p.Jc_axial]),
                foot + p.lc * along,
                leg_turn,
                p.lc * np.cross(w_leg, along),
                w_leg,
                p.mc * p.g * down - push[i] * along,
            )
            piston = bodies.add(
                p.mp,
                np.diag([p.Jp, p.Jp, p.Jp_axial]),
                foot + (d - p.lp) * along,
                leg_turn,
                (d - p.lp) * np.cross(w_leg, along) + ud * along,
                w_leg,
                p.mp * p.g * down + push[i] * along,
            )
            # the universal joint on the base, the sliding joint, the ball joint
            feet.append(len(bodies.rows))
            bodies.ball(cylinder, None, foot)
            bodies.product(bodies.direction(None, e[0]), bodies.direction(cylinder, y))
            sides = leg_turn[:, 0], leg_turn[:, 1]
            gap = bodies.between(bodies.spot(piston, ball), bodies.spot(cylinder, foot))
            for k in range(2):
                bodies.product(gap, bodies.direction(cylinder, sides[k]))
                bodies.product(bodies.direction(piston, along), bodies.direction(cylinder, sides[k]))
            bodies.product(bodies.direction(piston, sides[0]), bodies.direction(cylinder, sides[1]))
            balls.append(len(bodies.rows))
            bodies.ball(plate, piston, ball)
            legs.append((y, along, d, w_leg, piston))
        found, forces = bodies.solve()
        expected = {f"v{k}": found[plate, i] for i, k in enumerate("xyz")}
        expected |= {f"w{k}": turn[:, i] @ found[plate, 3:] for i, k in enumerate("xyz")}
        for i, (y, along, d, w_leg, piston) in enumerate(legs, 1):
            spin = found[piston, 3:]
            expected |= {f"ua{i}": spin @ e[0], f"ub{i}": spin @ y}
            # the piston's mass centre: r = (d − lp) e, so e · r̈ = d̈ + (d − lp) e · ë
            expected[f"ud{i}"] = along @ found[piston, :3] + (d - p.lp) * np.sum(np.cross(w_leg, along) ** 2)
        check(dyn.udot(0.0, x, r=push), [expected[name] for name in dyn.speed_names], 1e-9)
        on_plate = np.concatenate([forces[at : at + 3] for at in balls])
        check(dyn.multipliers(0.0, x, r=push), on_plate, 1e-8)
        reactions = dyn.reactions(0.0, x, r=push, named=True)
        for i, row in enumerate(feet, 1):
            check(reactions[f"cylinder{i}"][:3], forces[row : row + 3], 1e-8)
