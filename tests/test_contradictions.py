# SPDX-License-Identifier: BSD-3-Clause
"""Rows that ask for different accelerations are refused by name; rows that say the same twice never are.

Between the two lies rounding: what is left of G u̇ + γ = 0 beside the terms that cancel in it, and, at a state off the
constraints, what its own residual explains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.lines import coordinates, lines
from sweep import every, part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
(x, y, z), (u, v, w) = coordinates(3)
a, b, c = u.diff(t), v.diff(t), w.diff(t)
e = sm.Symbol("e")
REFUSED = (kc.SingularError, kc.ModelError)
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")


def compiled(value: float | None = None, **arguments: Any) -> kc.CompiledModel:
    model = lines(3, forces=[0.3, -1.1, 2.0], **arguments)
    return kc.compile(model, parameters={} if value is None else {e: value})


def naming(*rows: str) -> str:
    """A pattern for messages with all of the names, in any order."""
    return "(?s)" + "".join(f"(?=.*{re.escape(row)})" for row in rows)


# ------------------------------------------------------------------------------- rows that contradict each other

#: What is asked for, up to e, and the names of rows that contradict each other where e is not zero.
PAIRS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "accelerations": (
        {"acceleration_constraints": [a - 1, a - 1 - e]},
        ("acceleration constraint 0", "acceleration constraint 1"),
    ),
    "one row larger": (
        {"acceleration_constraints": [1e6 * a - 1e6, a - 1 - e]},
        ("acceleration constraint 0", "acceleration constraint 1"),
    ),
    "one row smaller": (
        {"acceleration_constraints": [1e-6 * (a - 1), a - 1 - e]},
        ("acceleration constraint 0", "acceleration constraint 1"),
    ),
    "sums": (
        {"acceleration_constraints": [a + b - 1, a - b - sm.cos(x), 2 * a - 1 - e - sm.cos(x)]},
        ("acceleration constraint 2",),
    ),
    "with a speed": (
        {"velocity_constraints": [u - t], "acceleration_constraints": [a - 1 - e]},
        ("velocity constraint 0", "acceleration constraint 0"),
    ),
    "two speeds that agree now": (
        {"velocity_constraints": [u - sm.sin(t), u - sm.sin(t) - e * sm.sin(t) * sm.cos(t)]},
        ("velocity constraint 0", "velocity constraint 1"),
    ),
    "with a place": (
        {"configuration_constraints": [x - t**2 / 2], "acceleration_constraints": [a - 1 - e * sm.cos(y)]},
        ("configuration constraint 0", "acceleration constraint 0"),
    ),
    "rows that turn": (
        {
            "acceleration_constraints": [
                sm.cos(x) * a + sm.sin(x) * b - 1,
                sm.cos(x) ** 2 * a + sm.sin(x) * sm.cos(x) * b - (1 + e) * sm.cos(x),
            ]
        },
        ("acceleration constraint 0", "acceleration constraint 1"),
    ),
}
REST = np.zeros(6)


@cache
def pair(name: str) -> kc.CompiledModel:
    return compiled(0.0, **PAIRS[name][0])


@pytest.mark.parametrize("leftover", part([1.0, 0.02, 1e-3, 1e-4, -1e-5, 1e-5], [0.02, 1e-5]))
@pytest.mark.parametrize("name", every(2, PAIRS))
def test_different_accelerations(name: str, leftover: float) -> None:
    """By every kernel that solves for u̇, in runs of all kinds; both rows are named."""
    dyn, names = pair(name), PAIRS[name][1]
    p = {"e": leftover}
    for call in (dyn.udot, dyn.rhs, dyn.multipliers, dyn.linearize):
        with pytest.raises(kc.SingularError, match=naming(*names)):
            call(0.0, REST, p=p)
    assert set(names) <= set(dyn.check(REST, p=p).contradictory)
    assert "contradictory" in str(dyn.check(REST, p=p))
    for options in (
        *({}, {"project": False}, {"baumgarte": (3.0, 3.0)}),
        *({"method": "rk4", "dt": 0.01}, {"method": "rk4", "dt": 0.01, "project": False}),
    ):
        with pytest.raises(REFUSED, match=naming(*names)):
            dyn.simulate((0.0, 0.1), REST, parameters={e: leftover}, **options)


@pytest.mark.parametrize("leftover", [0.0, 1e-7, -1e-8, 1e-12])
@pytest.mark.parametrize("name", PAIRS)
def test_what_is_left_by_rounding_is_borne(name: str, leftover: float) -> None:
    dyn, p = pair(name), {"e": leftover}
    udot = dyn.udot(0.0, REST, p=p)
    assert udot[0] == pytest.approx(1.0, rel=1e-6)
    assert dyn.check(REST, p=p).contradictory == ()
    np.testing.assert_allclose(dyn.rhs(0.0, REST, p=p)[3:], udot)
    force = dyn.multipliers(0.0, REST, p=p)
    held = dyn.mass_matrix(0.0, REST) @ udot - dyn.forcing(0.0, REST)
    np.testing.assert_allclose(dyn.constraint_jacobian(0.0, REST, p=p).T @ force, held, rtol=1e-6, atol=1e-9)


def test_a_batch_names_its_rows() -> None:
    dyn = pair("accelerations")
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, REST, p=[[0.0], [1e-4], [1e-9], [-3e-2]])
    assert caught.value.rows.tolist() == [1, 3]
    np.testing.assert_allclose(caught.value.out[[0, 2], 0], 1.0, rtol=1e-6)
    assert np.isnan(caught.value.out[[1, 3]]).all()


@pytest.mark.parametrize("options", [{}, {"project": False}, {"method": "rk4", "dt": 0.01}])
def test_a_contradiction_that_comes_later(options: dict[str, Any]) -> None:
    """u = 1 beside u̇ = e x⁴ from x = 0: each accepted state is tested, and the error has time and trajectory."""
    dyn = compiled(1e-3, velocity_constraints=[u - 1], acceleration_constraints=[a - e * x**4])
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    with pytest.raises(kc.SingularError, match=naming("velocity constraint 0", "acceleration constraint 0")) as caught:
        dyn.simulate((0.0, 2.0), start, **options)
    assert 0.0 <= caught.value.t < 1.0
    assert caught.value.trajectory.t[-1] <= caught.value.t


def test_no_drift_as_success() -> None:
    """u̇ = 1 and u̇ = 1 + 3.2e-4, no projection: half a unit of time later either row is off by 1.6e-4."""
    dyn = compiled(3.2e-4, velocity_constraints=[u - t], acceleration_constraints=[a - 1 - e])
    for rtol in (1e-4, 1e-8):
        with pytest.raises(REFUSED, match=naming("velocity constraint 0", "acceleration constraint 0")):
            dyn.simulate((0.0, 1.0), REST, project=False, rtol=rtol)


def test_a_state_slightly_off_excuses_little() -> None:
    """Its residual of 1e-6 explains as much, and not one per cent, be it of the same rows or of others."""
    rows = {"configuration_constraints": [y**2 + z**2 - 1], "acceleration_constraints": [a - 1, a - 1 - e]}
    dyn = compiled(0.0, **rows)
    for off in (0.0, 1e-6, 1e-4):
        state = np.array([0.0, 0.8 + off, 0.6, 0.0, off - 0.18, 0.24])
        assert dyn.udot(0.0, state)[0] == pytest.approx(1.0)
        with pytest.raises(kc.SingularError, match=naming("acceleration constraint 0", "acceleration constraint 1")):
            dyn.udot(0.0, state, p={"e": 1e-2})


# --------------------------------------------------------------------------- rows that contradict as velocities

APART: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "plain": ([u + v, u + v - 1], ("velocity constraint 0", "velocity constraint 1")),
    "scaled": ([u + v, 1e6 * (u + v) - 1e6], ("velocity constraint 0", "velocity constraint 1")),
    "of three": ([u + v, v - w, u + w - 1], ("velocity constraint 2",)),
    "turned": (
        [sm.cos(x) * u + sm.sin(x) * v, sm.cos(x) ** 2 * u + sm.sin(x) * sm.cos(x) * v - sm.cos(x) / 2],
        ("velocity constraint 0", "velocity constraint 1"),
    ),
}


@pytest.mark.parametrize("name", APART)
def test_different_velocities(name: str) -> None:
    """`check`, `consistent` and `simulate` name them, whichever row holds; u̇ is computed."""
    rows, names = APART[name]
    dyn = compiled(velocity_constraints=rows)
    for state in (REST, np.array([0.0, 0.1, 0.2, 0.5, 0.5, 0.5]), np.array([0.0, 0.0, 0.0, 3.0, -2.0, 0.0])):
        for call in (
            lambda s=state: dyn.check(s),
            lambda s=state: dyn.consistent(0.0, s),
            lambda s=state: dyn.consistent(0.0, s, None),
        ):
            with pytest.raises(kc.ModelError, match=naming(*names)):
                call()
        for options in ({}, {"project": False}):
            with pytest.raises((kc.ModelError, ValueError), match=naming(*names)):
                dyn.simulate((0.0, 1.0), state, **options)  # type: ignore[arg-type]
    with pytest.raises(kc.ModelError, match=naming(*names)):
        dyn.check()
    if name == "turned":
        return
    G, f = dyn.constraint_jacobian(0.0, REST), dyn.forcing(0.0, REST)
    found = dyn.udot(0.0, np.array([0.0, 0.1, 0.2, 0.5, 0.5, 0.5]))
    np.testing.assert_allclose(found, f - np.linalg.pinv(G) @ G @ f, atol=1e-12)


def test_the_report_sees_what_needs_no_numbers() -> None:
    for rows in ([u + v, u + v - 1], [u + v, 2 * u + 2 * v - 3], [u - 1, u - 2]):
        text = lines(3, velocity_constraints=rows).report()
        said = [line for line in text.splitlines() if "contradict" in line and "velocity constraint 0" in line]
        assert any("velocity constraint 1" in line for line in said)
    fine = lines(3, velocity_constraints=[u + v, 2 * u + 2 * v, u - v - x]).report()
    assert not [line for line in fine.splitlines() if "contradict" in line and "velocity constraint" in line]


# ------------------------------------------------------------------------------- redundant rows are never refused

CIRCLE = x**2 + y**2 - 1
#: Each twice or more; on the constraints, where the others hold.
TWICE: dict[str, dict[str, Any]] = {
    "scaled": {"configuration_constraints": [CIRCLE, 1e6 * CIRCLE, 1e-6 * CIRCLE]},
    "scaled, the small one first": {"configuration_constraints": [1e-6 * CIRCLE, CIRCLE]},
    "squared": {"configuration_constraints": [CIRCLE, (x**2 + y**2) ** 2 - 1]},
    "root": {"configuration_constraints": [sm.sqrt(x**2 + y**2) - 1, CIRCLE, 1e6 * sm.log(x**2 + y**2)]},
    "three in a plane": {"configuration_constraints": [CIRCLE, x + z, x**3 + x * y**2 + z]},
    "as velocities": {"velocity_constraints": [x * u + y * v, 1e6 * (x * u + y * v), (x**2 + 2) * (x * u + y * v)]},
    "filed with its rate": {
        "configuration_constraints": [CIRCLE],
        "velocity_constraints": [x * u + y * v],
        "acceleration_constraints": [x * a + y * b + u**2 + v**2],
    },
    "with another's rate": {
        "configuration_constraints": [CIRCLE, z - x],
        "velocity_constraints": [w - u, z * u + y * v],
    },
    "in time": {
        "configuration_constraints": [x - sm.sin(t), sm.sin(x) - sm.sin(sm.sin(t)), 1e6 * (x - sm.sin(t)) ** 3]
    },
}
TWICE["in time"]["configuration_constraints"].pop()  # a cube is lost wherever it holds


@cache
def twice(name: str) -> kc.CompiledModel:
    return compiled(**TWICE[name])


def on_the_circle(speed: float, seed: int = 0) -> Array:
    """A state on all of them, but those in time."""
    angle = np.random.default_rng(seed).uniform(0.3, 1.2)
    place, along = np.array([np.cos(angle), np.sin(angle)]), speed * np.array([-np.sin(angle), np.cos(angle)])
    return np.array([*place, 0.0, *along, 0.0])


def agreeing(name: str, speed: float, seed: int) -> Array:
    state = on_the_circle(speed, seed)
    if name in ("three in a plane", "with another's rate"):
        sign = -1.0 if name == "three in a plane" else 1.0
        state[2], state[5] = sign * state[0], sign * state[3]
    if name == "in time":
        state[:] = [0.0, 0.2, 0.3, 1.0, speed, 0.0]
    return state


@pytest.mark.parametrize("speed", part([0.0, 1e-8, 1.0, 1e3], [1e-8]))
@pytest.mark.parametrize("name", every(2, TWICE))
def test_rows_that_agree(name: str, speed: float) -> None:
    """At states on the constraints, and at those of differences and of an integrator's stages around them."""
    dyn = twice(name)
    for seed in range(3):
        state = agreeing(name, speed, seed)
        first = dyn.udot(0.0, state)
        around = [state]
        for h in (1e-6, 1e-7):
            around += [state + sign * h * step for sign in (1, -1) for step in np.eye(6)]
            around += [state + h * np.random.default_rng(k).uniform(-1.0, 1.0, 6) for k in range(5)]
        found = dyn.udot(0.0, np.array(around))  # SingularError if any is refused
        size = max(1.0, speed**2)
        np.testing.assert_allclose(found, np.tile(first, (len(around), 1)), rtol=0, atol=1e-4 * size)
        dyn.multipliers(0.0, np.array(around))
        dyn.linearize(0.0, state)
        assert dyn.check(state).contradictory == ()
        assert "contradict" not in str(dyn.check(state))


@pytest.mark.parametrize("speed", part([1e-8, 1.0, 1e3], [1.0]))
@pytest.mark.parametrize("name", TWICE)
def test_runs_with_rows_that_agree(name: str, speed: float) -> None:
    dyn, state = twice(name), agreeing(name, speed, 1)
    length = 0.5 / max(1.0, speed)
    for options in (
        *({}, {"project": False}, {"rtol": 1e-3, "atol": 1e-3 * speed}, {"baumgarte": (5.0, 5.0)}),
        *({"method": "rk4", "dt": length / 20}, {"method": "rk4", "dt": length / 5, "project": False}),
    ):
        sol = dyn.simulate((0.0, length), state, **options)  # type: ignore[arg-type]
        assert sol.success


def gallery_states(name: str, speed: float) -> Iterator[tuple[kc.CompiledModel, Array]]:
    dyn, module = kc.load(name), import_module(f"kanecore.gallery.{name}")
    start = np.array([module.STATE[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = start.copy()
        state[: dyn.n_q] += 0.05 * rng.uniform(-1.0, 1.0, dyn.n_q)
        state = dyn.consistent(0.0, state, None)
        rows = dyn.constraint_jacobian(0.0, state)
        if np.max(np.abs(dyn.velocity_residual(0.0, np.append(state[: dyn.n_q], np.zeros(dyn.n_u))))) > 1e-12:
            continue  # speeds are prescribed
        along = rng.uniform(-1.0, 1.0, dyn.n_u)
        along -= np.linalg.pinv(rows, rcond=1e-9) @ (rows @ along)
        state[dyn.n_q :] = speed * along
        yield dyn, state


@pytest.mark.parametrize("speed", part([0.0, 1e-8, 1.0, 1e3], [0.0, 1.0]))
@pytest.mark.parametrize(
    "name", part(["bricard", "stewart", "four_bar", "andrews_squeezer", "whipple_bicycle"], ["bricard", "four_bar"])
)
def test_loops_of_the_gallery(name: str, speed: float) -> None:
    """Bricard's fifth row is redundant on the loop, and contradicts the others a little off it."""
    for dyn, state in gallery_states(name, speed):
        around = [state]
        for h in (1e-6, 1e-8):
            around += [state + sign * h * step for sign in (1, -1) for step in np.eye(dyn.n_x)]
        assert np.isfinite(dyn.udot(0.0, np.array(around))).all()
        assert dyn.check(state).contradictory == ()
        length = 0.02 / max(1.0, speed)
        for options in ({}, {"project": False}):
            assert dyn.simulate((0.0, length), state, **options).success  # type: ignore[arg-type]


@cache
def planar_loop(scale: float) -> kc.CompiledModel:
    """A four-bar linkage whose gap is written in three components, along axes that are tilted: rank two of three."""
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    q, rates = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    joint, bodies = origin, []
    for i, length in enumerate((0.4, 1.0, 0.8)):
        rod = me.ReferenceFrame(f"A{i}")
        rod.orient_axis(ground, ground.z, q[i])
        centre = joint.locatenew(f"C{i}", length / 2 * rod.x)
        bodies.append(
            me.RigidBody(f"rod{i}", centre, rod, sm.Integer(1), (me.inertia(rod, 0, 0, length**2 / 12), centre))
        )
        joint = joint.locatenew(f"E{i}", length * rod.x)
    gap = joint.pos_from(origin) - 1.2 * ground.x
    axes = [ground.x + 0.3 * ground.z, ground.y - 0.7 * ground.z, scale * (ground.x + ground.y + ground.z)]
    model = kc.Model(
        *(ground, list(q), list(rates), [s.diff(t) - r for s, r in zip(q, rates, strict=True)]),
        configuration_constraints=[gap.dot(axis) for axis in axes],
        bodies=bodies,
        forcelist=[(body.masscenter, -9 * ground.y) for body in bodies],
        name="loop in three components",
    )
    return kc.compile(model)


@pytest.mark.parametrize("scale", part([1.0, 1e6, 1e-6], [1e6]))
@pytest.mark.parametrize("speed", part([1e-8, 1.0, 1e3], [1.0]))
def test_planar_loops_in_three_components(scale: float, speed: float) -> None:
    dyn = planar_loop(scale)
    guess = np.array([0.9, 0.5, -1.5, 0.0, 0.0, 0.0])
    state = dyn.consistent(0.0, guess, None)
    along = np.linalg.svd(dyn.constraint_jacobian(0.0, state)[:2])[2][2]
    state[3:] = speed * along
    around = [state] + [state + sign * 1e-6 * step for sign in (1, -1) for step in np.eye(6)]
    assert np.isfinite(dyn.udot(0.0, np.array(around))).all()
    found = dyn.check(state)
    assert (found.rank, found.contradictory, len(found.redundant)) == (2, (), 1)
    calls: list[Callable[[], Any]] = [
        lambda: dyn.simulate((0.0, 1.0 / max(1.0, speed)), state),
        lambda: dyn.simulate((0.0, 1.0 / max(1.0, speed)), state, project=False),
    ]
    for call in calls:
        assert call().success


def test_the_report_counts_rows_that_contradict_whatever_the_numbers_are() -> None:
    _, (u, v) = coordinates(2)
    first = "0 contradictions between what was set and what follows"
    assert lines(2, velocity_constraints=[u + v, u + v - sm.Symbol("k")]).report().startswith(first)
    report = lines(2, velocity_constraints=[u + v, 2 * u + 2 * v - 1]).report()
    assert report.startswith(first.replace("0 contradictions", "1 contradiction"))
    assert "velocity constraint 0 and velocity constraint 1 contradict each other" in report
