# SPDX-License-Identifier: BSD-3-Clause
"""Runs from random states on the constraints end where they should: default options, no inputs, none aborts.

The robot in redundant coordinates and body-fixed speeds passes through states where its coordinates can move along
fewer directions than φ has rows; drift along the others must be removed or named.  Twenty seconds each are long runs.
"""

import re
import warnings
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy.physics.mechanics as me
from sweep import constrained, every, part
from test_pivots import chain
from test_redundant import compiled, lifted, tree
from test_redundant import states as tree_states

import kanecore as kc

Array = npt.NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
N_STARTS = 50
CONSTRAINED = constrained()


@cache
def robot_starts() -> Array:
    """Of the robot, by its own equations, the second half by `consistent` from rough guesses."""
    dyn = compiled()
    found = [lifted(z) for z in tree_states(N_STARTS // 2)]
    rng = np.random.default_rng(11)
    while len(found) < N_STARTS:
        guess = lifted(rng.uniform([-3.0, -1.4, 0.1, -2.0, -2.0, -1.0], [3.0, 1.4, 0.8, 2.0, 2.0, 1.0]))
        guess[3:12] += 0.1 * rng.uniform(-1.0, 1.0, 9)
        guess[15:] += 0.3 * rng.uniform(-1.0, 1.0, 15)
        found.append(dyn.consistent(0.0, guess))
    return np.array(found)


def run(start: Array, end: float) -> None:
    """No abort, on the constraints, and the motion is that of the tree."""
    dyn = compiled()
    zero = dict.fromkeys(dyn.input_names, 0.0)
    sol = dyn.simulate((0.0, end), start, inputs=list(zero.values()))
    assert sol.success
    assert sol.t[-1] == end
    assert sol.constraint_drift < 1e-8
    theta = np.abs(np.cos(sol.x[:, 1]))
    if end <= 2.0 and np.min(theta) > 0.05:
        z0 = np.concatenate([start[:3], start[12:15]])
        expected = tree().simulate((0.0, end), z0, inputs=[0.0, 0.0, 0.0], rtol=1e-10, atol=1e-10).x[-1]
        size = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(sol.x[-1, [0, 1, 2, 12, 13, 14]], expected, rtol=0, atol=1e-3 * size)


@pytest.mark.long
@pytest.mark.parametrize("tenth", every(5, range(5)))
def test_redundant_robot(tenth: int) -> None:
    for start in robot_starts()[tenth::5]:
        run(start, 2.0)


@pytest.mark.long
@pytest.mark.parametrize("tenth", range(5))
def test_redundant_robot_for_long(tenth: int) -> None:
    for start in robot_starts()[tenth::5]:
        run(start, 20.0)


def test_a_robot_where_a_direction_is_lost() -> None:
    """Upright, where θ1 turns without moving the mass centres: what q can do has rank 8, φ_q has rank 9.

    The projection succeeds from states that are off along the other eight.
    """
    dyn, rng = compiled(), np.random.default_rng(2)
    for lean in (np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-6, -np.pi / 2):
        exact = lifted(np.array([0.3, lean, 0.4, 0.5, 0.2, -0.1]))
        assert np.isfinite(dyn.udot(0.0, exact)).all()
        assert dyn.check(exact).dof == 3
        off = exact.copy()
        off[:12] += 1e-7 * rng.uniform(-1.0, 1.0, 12)
        off[12:] += 1e-7 * rng.uniform(-1.0, 1.0, 18)
        for keep in ({}, {"keep": None}):
            near = dyn.consistent(0.0, off, **keep)  # type: ignore[arg-type]
            assert np.max(np.abs(near - exact)) < 1e-4
        sol = dyn.simulate((0.0, 0.5), exact, inputs=[0.0, 0.0, 0.0])
        assert sol.success
        assert sol.constraint_drift < 1e-8


@pytest.mark.long
@pytest.mark.parametrize("kind", ["rates", "body"])
def test_massless_speeds(kind: str) -> None:
    """Joint rates beside the rods' own speeds have no mass but by the rows that join them.

    `consistent` finds the closed chain all the same, and a run stays on it.
    """
    n = 6 if kind == "rates" else 3
    dyn = kc.compile(chain(n, kind), parameters={"g": 9.81, "l": 1.0})
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = np.diff(np.linspace(1.2, -1.2, n) + 0.2 * rng.uniform(-1.0, 1.0, n), prepend=0.0)
        state = dyn.consistent(0.0, np.concatenate([angles, 0.5 * rng.uniform(-1.0, 1.0, dyn.n_u)]), None)
        sol = dyn.simulate((0.0, 0.3), state)
        assert sol.success
        assert sol.constraint_drift < 1e-9


@pytest.mark.parametrize("name", part(CONSTRAINED, ["four_bar", "rrp_redundant", "rolling_disc"]))
def test_gallery(name: str) -> None:
    """From states around STATE, brought to the constraints with and without the dependent ones."""
    starts_of_gallery(name, 12, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("name", CONSTRAINED)
def test_gallery_for_long(name: str) -> None:
    starts_of_gallery(name, 50, 20.0)


def starts_of_gallery(name: str, count: int, seconds: float) -> None:
    dyn, module = kc.load(name), import_module(f"kanecore.gallery.{name}")
    start = np.array([module.STATE[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
    longest = max((abs(v) for k, v in module.PARAMETERS.items() if module.DIMENSIONS[k] == (1, 0, 0)), default=1.0)
    # the squeezer's motor has turned it a hundred times in a tenth of a second
    end = seconds * {"andrews_squeezer": 0.02, "stewart": 0.3}.get(name, 1.0)
    inputs: dict[str, Any] = {"inputs": [0.0] * dyn.n_r} if dyn.n_r else {}
    rng = np.random.default_rng(5)
    for trial in range(count):
        guess = start.copy()
        for i, key in enumerate((*dyn.coordinate_names, *dyn.speed_names)):
            size = longest if module.DIMENSIONS[key][0] else 1.0
            guess[i] += (0.1 if i < dyn.n_q else 0.5) * size * rng.uniform(-1.0, 1.0)
        for places in dyn.unit:
            guess[list(places)] /= np.linalg.norm(guess[list(places)])
        state = dyn.consistent(0.0, guess, **({"keep": None} if trial % 2 else {}))  # type: ignore[arg-type]
        try:
            sol = dyn.simulate((0.0, end), state, **inputs)
        except kc.SingularError as singular:  # both trucks across the board: there its two rows are one
            q4, q5 = singular.x[dyn.coordinate_names.index("q4")], singular.x[dyn.coordinate_names.index("q5")]
            assert name == "snakeboard"
            assert np.hypot(np.cos(q4), np.cos(q5)) < 1e-6
            continue
        assert sol.success
        assert sol.t[-1] == end
        assert np.isfinite(sol.x).all()
        assert sol.constraint_drift < 1e-7


def test_states_of_many_rows() -> None:
    """Each as in a call of its own, with times and inputs of its own; an error names the row."""
    dyn = kc.load("four_bar")
    middle = dyn.consistent(0.0, [0.8, 1.0, 1.2, 0.3, 0.0, 0.0])
    rows = middle + 0.1 * np.random.default_rng(2).normal(size=(2, 3, dyn.n_x))
    for keep in ("independent", None, [dyn.coordinate_names[0]]):
        found = dyn.consistent(0.0, rows, keep)
        assert found.shape == rows.shape
        for place in np.ndindex(2, 3):
            np.testing.assert_array_equal(found[place], dyn.consistent(0.0, rows[place], keep))
    r = np.ones((3, dyn.n_r))
    assert dyn.consistent([0.0, 1.0, 2.0], middle, r=r).shape == (3, dyn.n_x)
    with pytest.raises(ValueError, match="leading axes do not broadcast"):
        dyn.consistent([0.0, 1.0], rows)
    with pytest.raises(kc.ModelError, match=r"^x\[0, 0\]: .* cannot all stay at t = 0"):
        dyn.consistent(0.0, rows[:1, 1:], dyn.coordinate_names)


def test_values_that_cannot_stay_name_the_rows_that_they_violate() -> None:
    """The rate of a configuration constraint counts beside a velocity constraint that says nothing of it."""
    N, origin, t = me.ReferenceFrame("N"), me.Point("O"), me.dynamicsymbols._t
    x, y, z, vx, vy, vz = me.dynamicsymbols("x y z v_x v_y v_z")
    P = origin.locatenew("P", x * N.x + y * N.y + z * N.z)
    origin.set_vel(N, 0)
    P.set_vel(N, vx * N.x + vy * N.y + vz * N.z)
    model = kc.Model(
        *(N, [x, y, z], [vx, vy, vz], [x.diff(t) - vx, y.diff(t) - vy, z.diff(t) - vz]),
        bodies=[me.Particle("bob", P, 1)],
        configuration_constraints={"rod": x**2 + y**2 - 1},
        velocity_constraints={"skate": vz - vx / 2},
    )
    dyn, state = kc.compile(model), [0.6, -0.8, 0.0, 1.0, 0.2, 0.0]
    counts = "the rate of rod does not follow from the velocity constraints, so that it counts as well"
    with pytest.raises(kc.ModelError, match=rf"no others satisfy 'rate of rod' of 'model'; .*; {counts}"):
        dyn.consistent(0.0, state, keep=["x", "v_x", "v_y"])
    with pytest.raises(kc.ModelError, match=r"satisfy 'rod' of 'model'; keep fewer of them, or others$"):
        dyn.consistent(0.0, [0.6, -0.7, 0.0, 1.0, 0.2, 0.0], keep=["x", "y"])
    with pytest.raises(kc.ModelError, match="satisfy 'skate' of"):
        dyn.consistent(0.0, state, keep=["x", "v_x", "v_z"])
    assert "misses skate by" in str(dyn.check(state))
    assert "misses" not in str(dyn.check([0.6, -0.8, 0.0, 1.0, 0.75, 0.5]))  # by rounding alone


def test_another_closure_than_the_one_nearby() -> None:
    """From some guesses Newton's method goes around: the warning says how far; from those nearby there is none."""
    dyn, guess = kc.load("four_bar"), [0.9, 1.37, 1.374, 0.0, 0.0, 0.0]
    with pytest.warns(
        kc.KanecoreWarning, match=r"'four_bar' went far at t = 0.0: q2 from 1.37 to .* turns, q3"
    ) as said:
        x = dyn.consistent(0.0, guess)
    turns = [float(n) for n in re.findall(r", ([\d.]+) turns", str(said[0].message))]
    assert np.allclose(turns, np.abs(x[1:3] - guess[1:3]) / (2 * np.pi), rtol=5e-3)
    assert min(turns) > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dyn.consistent(0.0, [0.9, 0.5, 1.5, 8.0, 0.0, 0.0])
        dyn.consistent(0.0, [0.9, -0.5, 1.0, 8.0, 0.0, 0.0])
