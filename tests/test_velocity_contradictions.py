# SPDX-License-Identifier: BSD-3-Clause
"""Rows that ask for different accelerations are refused by name; rows that say the same twice never are.

Between the two lies rounding: what is left of G u̇ + γ = 0 beside the terms that cancel in it, and, at a state off the
constraints, what its own residual explains.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import mechanisms
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import l
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


def compiled(value: float | None = None, **rows: Any) -> kc.CompiledModel:
    """Three particles with constraints by their kind, ``velocity``, ..."""
    arguments = {f"{kind}_constraints": some for kind, some in rows.items()}
    model = lines(3, forces=[0.3, -1.1, 2.0], **arguments)
    return kc.compile(model, parameters={} if value is None else {e: value})


def naming(*rows: str) -> str:
    """A pattern for messages with all of the names, in any order; of rows as "velocity 0"."""
    return "(?s)" + "".join(f"(?=.*{re.escape(row.replace(' ', ' constraint '))})" for row in rows)


# ------------------------------------------------------------------------------- rows that contradict each other

#: What is asked for, up to e, and the rows that contradict each other where e is not zero.
PAIRS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "accelerations": ({"acceleration": [a - 1, a - 1 - e]}, ("acceleration 0", "acceleration 1")),
    "one row larger": ({"acceleration": [1e6 * a - 1e6, a - 1 - e]}, ("acceleration 0", "acceleration 1")),
    "one row smaller": ({"acceleration": [1e-6 * (a - 1), a - 1 - e]}, ("acceleration 0", "acceleration 1")),
    "sums": ({"acceleration": [a + b - 1, a - b - sm.cos(x), 2 * a - 1 - e - sm.cos(x)]}, ("acceleration 2",)),
    "with a speed": ({"velocity": [u - t], "acceleration": [a - 1 - e]}, ("velocity 0", "acceleration 0")),
    "two speeds that agree now": (
        {"velocity": [u - sm.sin(t), u - sm.sin(t) - e * sm.sin(t) * sm.cos(t)]},
        ("velocity 0", "velocity 1"),
    ),
    "with a place": (
        {"configuration": [x - t**2 / 2], "acceleration": [a - 1 - e * sm.cos(y)]},
        ("configuration 0", "acceleration 0"),
    ),
    "rows that turn": (
        {"acceleration": [sm.cos(x) * a + sm.sin(x) * b - 1, sm.cos(x) * (sm.cos(x) * a + sm.sin(x) * b - 1 - e)]},
        ("acceleration 0", "acceleration 1"),
    ),
}
REST = np.zeros(6)


@pytest.mark.parametrize("leftover", part([1.0, 0.02, 1e-3, 1e-4, -1e-5, 1e-5], [1e-5]))
@pytest.mark.parametrize("name", every(2, PAIRS, first=1))
def test_different_accelerations(name: str, leftover: float) -> None:
    """Every kernel that solves for u̇, at rest and moving, and runs of all kinds name both rows; rounding is borne."""
    dyn, names, p = compiled(0.0, **PAIRS[name][0]), PAIRS[name][1], {"e": leftover}
    for state in (REST, np.array([0.0, 0.0, 0.0, 0.0, 100.0, 100.0])):
        for call in (dyn.udot, dyn.rhs, dyn.multipliers, dyn.linearize):
            with pytest.raises(kc.SingularError, match=naming(*names)):
                call(0.0, state, p=p)
        found = dyn.check(state, p=p)
        assert {row.replace(" ", " constraint ") for row in names} <= set(found.contradictory)
        assert "contradictory: no accelerations satisfy" in str(found)
        with pytest.raises(kc.ModelError, match=r"contradict each other at t = 0\.0"):
            dyn.simulate((0.0, 0.1), state, parameters={e: leftover})
    for options in (
        *({"project": False}, {"project": False, "rtol": 1e-4}, {"baumgarte": (3.0, 3.0)}),
        *({"method": "rk4", "dt": 0.01}, {"method": "rk4", "dt": 0.01, "project": False}),
    ):
        with pytest.raises(REFUSED, match=naming(*names)):
            dyn.simulate((0.0, 0.1), REST, parameters={e: leftover}, **options)
    for rounding in (0.0, 1e-7, -1e-8, 1e-12):
        p = {"e": rounding}
        udot, force = dyn.udot(0.0, REST, p=p), dyn.multipliers(0.0, REST, p=p)
        assert udot[0] == pytest.approx(1.0, rel=1e-6)
        assert dyn.check(REST, p=p).contradictory == ()
        np.testing.assert_allclose(dyn.rhs(0.0, REST, p=p)[3:], udot)
        held = dyn.mass_matrix(0.0, REST) @ udot - dyn.forcing(0.0, REST)
        np.testing.assert_allclose(dyn.constraint_jacobian(0.0, REST, p=p).T @ force, held, rtol=1e-6, atol=1e-9)


def test_a_batch_names_its_rows() -> None:
    dyn = compiled(0.0, **PAIRS["accelerations"][0])
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, REST, p=[[0.0], [1e-4], [1e-9], [-3e-2]])
    assert caught.value.rows.tolist() == [1, 3]
    np.testing.assert_allclose(caught.value.out[[0, 2], 0], 1.0, rtol=1e-6)
    assert np.isnan(caught.value.out[[1, 3]]).all()


@pytest.mark.parametrize("options", [{}, {"project": False}, {"method": "rk4", "dt": 0.01}])
def test_a_contradiction_that_comes_later(options: dict[str, Any]) -> None:
    """u = 1 beside u̇ = e x⁴ from x = 0: each accepted state is tested, and the error has time and trajectory."""
    dyn = compiled(1e-3, velocity=[u - 1], acceleration=[a - e * x**4])
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    with pytest.raises(kc.SingularError, match=naming("velocity 0", "acceleration 0")) as caught:
        dyn.simulate((0.0, 2.0), start, **options)
    assert 0.0 <= caught.value.t < 1.0
    assert caught.value.trajectory.t[-1] <= caught.value.t


def test_a_state_slightly_off_excuses_little() -> None:
    """Its residual of 1e-6 explains as much, and not one per cent, be it of the same rows or of others."""
    dyn = compiled(0.0, configuration=[y**2 + z**2 - 1], acceleration=[a - 1, a - 1 - e])
    for off in (0.0, 1e-6, 1e-4):
        state = np.array([0.0, 0.8 + off, 0.6, 0.0, off - 0.18, 0.24])
        assert dyn.udot(0.0, state)[0] == pytest.approx(1.0)
        with pytest.raises(kc.SingularError, match=naming("acceleration 0", "acceleration 1")):
            dyn.udot(0.0, state, p={"e": 1e-2})


# --------------------------------------------------------------------------- rows that contradict as velocities
APART: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "plain": ([u + v, u + v - 1], ("velocity 0", "velocity 1")),
    "scaled": ([u + v, 1e6 * (u + v) - 1e6], ("velocity 0", "velocity 1")),
    "of three": ([u + v, v - w, u + w - 1], ("velocity 2",)),
    "turned": (
        [sm.cos(x) * u + sm.sin(x) * v, sm.cos(x) * (sm.cos(x) * u + sm.sin(x) * v - 0.5)],
        ("velocity 0", "velocity 1"),
    ),
}


@pytest.mark.parametrize("name", APART)
def test_different_velocities(name: str) -> None:
    """`check`, `consistent` and `simulate` name them, whichever row holds; u̇ is computed."""
    rows, names = APART[name]
    dyn, beside = compiled(velocity=rows), np.array([0.0, 0.1, 0.2, 0.5, 0.5, 0.5])
    calls: list[Callable[[], Any]] = [dyn.check]
    for state in (REST, beside, np.array([0.0, 0.0, 0.0, 3.0, -2.0, 0.0])):
        calls += [
            lambda s=state: dyn.check(s),
            lambda s=state: dyn.consistent(0.0, s),
            lambda s=state: dyn.consistent(0.0, s, None),
            lambda s=state: dyn.simulate((0.0, 1.0), s),
            lambda s=state: dyn.simulate((0.0, 1.0), s, project=False),
        ]
    for call in calls:
        with pytest.raises((kc.ModelError, ValueError), match=naming(*names)):
            call()
    if name != "turned":
        G, f = dyn.constraint_jacobian(0.0, REST), dyn.forcing(0.0, REST)
        np.testing.assert_allclose(dyn.udot(0.0, beside), f - np.linalg.pinv(G) @ G @ f, atol=1e-12)


def test_the_report_sees_what_needs_no_numbers() -> None:
    k = sm.Symbol("k")
    for rows, contradict in (
        ([u + v, u + v - 1], True),
        ([u + v, 2 * u + 2 * v - 3], True),
        ([u - 1, u - 2], True),
        ([u + v, 2 * u + 2 * v, u - v - x], False),
        ([u + v, u + v - k], False),  # k may be zero
    ):
        report = lines(3, velocity_constraints=rows).report()
        count = "1 contradiction" if contradict else "0 contradictions"
        assert report.startswith(f"{count} in the description")
        assert ("velocity constraint 0 and velocity constraint 1 contradict each other" in report) is contradict


# ------------------------------------------------------------------------------- redundant rows are never refused
CIRCLE = x**2 + y**2 - 1
#: Each twice or more; on the constraints, where the others hold.
TWICE: dict[str, dict[str, Any]] = {
    "scaled": {"configuration": [CIRCLE, 1e6 * CIRCLE, 1e-6 * CIRCLE]},
    "scaled, the small one first": {"configuration": [1e-6 * CIRCLE, CIRCLE]},
    "squared": {"configuration": [CIRCLE, (x**2 + y**2) ** 2 - 1]},
    "root": {"configuration": [sm.sqrt(x**2 + y**2) - 1, CIRCLE, 1e6 * sm.log(x**2 + y**2)]},
    "three in a plane": {"configuration": [CIRCLE, x + z, x**3 + x * y**2 + z]},
    "as velocities": {"velocity": [x * u + y * v, 1e6 * (x * u + y * v), (x**2 + 2) * (x * u + y * v)]},
    "filed with its rate": {
        "configuration": [CIRCLE],
        "velocity": [x * u + y * v],
        "acceleration": [x * a + y * b + u**2 + v**2],
    },
    "with another's rate": {"configuration": [CIRCLE, z - x], "velocity": [w - u, z * u + y * v]},
    "in time": {"configuration": [x - sm.sin(t), sm.sin(x) - sm.sin(sm.sin(t))]},
}


def agreeing(name: str, speed: float, seed: int) -> Array:
    """A state on the constraints."""
    if name == "in time":
        return np.array([0.0, 0.2, 0.3, 1.0, speed, 0.0])
    angle = np.random.default_rng(seed).uniform(0.3, 1.2)
    s, c = np.sin(angle), np.cos(angle)
    slope = {"three in a plane": -1.0, "with another's rate": 1.0}.get(name, 0.0)
    return np.array([c, s, slope * c, -speed * s, speed * c, -slope * speed * s])


@pytest.mark.parametrize("speed", part([0.0, 1e-8, 1.0, 1e3], [1e-8]))
@pytest.mark.parametrize("name", every(2, TWICE))
def test_rows_that_agree(name: str, speed: float) -> None:
    """At states on the constraints, at those of differences and of an integrator's stages around them, and in runs."""
    dyn = compiled(**TWICE[name])
    for seed in range(2):
        state = agreeing(name, speed, seed)
        around = [state]
        for h in (1e-6, 1e-7):
            around += [state + sign * h * step for sign in (1, -1) for step in np.eye(6)]
            around += [state + h * np.random.default_rng(k).uniform(-1.0, 1.0, 6) for k in range(5)]
        found = dyn.udot(0.0, np.array(around))  # SingularError if any is refused
        np.testing.assert_allclose(found, np.tile(found[0], (len(around), 1)), atol=1e-4 * max(1.0, speed**2))
        dyn.multipliers(0.0, np.array(around))
        dyn.linearize(0.0, state)
        assert dyn.check(state).contradictory == ()
        assert "contradict" not in str(dyn.check(state))
    length = 0.5 / max(1.0, speed)
    for options in (
        *({}, {"project": False}, {"rtol": 1e-3, "atol": 1e-3 * max(speed, 1e-8)}, {"baumgarte": (5.0, 5.0)}),
        *({"method": "rk4", "dt": length / 20}, {"method": "rk4", "dt": length / 5, "project": False}),
    ):
        assert dyn.simulate((0.0, length), agreeing(name, speed, 1), **options).success  # type: ignore[arg-type]


def bears(dyn: kc.CompiledModel, state: Array, length: float) -> None:
    """At a state, close to it, and in runs from it nothing is refused."""
    around = [state] + [state + sign * h * step for h in (1e-6, 1e-8) for sign in (1, -1) for step in np.eye(dyn.n_x)]
    assert np.isfinite(dyn.udot(0.0, np.array(around))).all()
    assert dyn.check(state).contradictory == ()
    for project in (True, False):
        assert dyn.simulate((0.0, length), state, project=project).success


LOOPS = ["bricard", "stewart", "four_bar", "andrews_squeezer", "whipple_bicycle"]


@pytest.mark.parametrize("name", part(LOOPS, ["four_bar"]))
def test_loops_of_the_gallery(name: str) -> None:
    """Bricard's fifth row is redundant on the loop, and contradicts the others a little off it."""
    dyn, start = kc.load(name), np.array(list(import_module(f"kanecore.gallery.{name}").STATE.values()))
    rng = np.random.default_rng(0)
    for speed in (0.0, 1e-8, 1e3):
        state = dyn.consistent(
            0.0, start + 0.05 * rng.uniform(-1.0, 1.0, dyn.n_x) * (np.arange(dyn.n_x) < dyn.n_q), None
        )
        rows, along = dyn.constraint_jacobian(0.0, state), rng.uniform(-1.0, 1.0, dyn.n_u)
        state[dyn.n_q :] = speed * (along - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ along))
        bears(dyn, state, 0.02 / max(1.0, speed))


@pytest.mark.parametrize("scale", part([1.0, 1e6, 1e-6], [1e6]))
@pytest.mark.parametrize("speed", part([1e-8, 1.0, 1e3], [1.0]))
def test_planar_loops_in_three_components(scale: float, speed: float) -> None:
    """A linkage whose gap is written along three axes that are tilted: rank two of three."""
    q = me.dynamicsymbols("q1:4")
    gap = [l * sum(map(sm.cos, q)) - 3 * l / 2, l * sum(map(sm.sin, q))]
    rows = [*gap, scale * (gap[0] + gap[1])]
    dyn = mechanisms.compiled(mechanisms.chain(3, absolute=True, configuration_constraints=rows))
    state = dyn.consistent(0.0, [0.9, 0.5, -1.5, 0.0, 0.0, 0.0], None)
    state[3:] = speed * np.linalg.svd(dyn.constraint_jacobian(0.0, state)[:2])[2][2]
    found = dyn.check(state)
    assert (found.rank, len(found.redundant)) == (2, 1)
    bears(dyn, state, 1.0 / max(1.0, speed))
