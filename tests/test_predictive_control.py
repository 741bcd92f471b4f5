# SPDX-License-Identifier: BSD-3-Clause
"""Model-predictive control: gains of LQR, quadratic programs of another solver, bounds, constraints, arguments."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gallery_states import loaded

import kanecore as kc

pytest.importorskip("piqp", reason="pip install piqp")
linalg = pytest.importorskip("scipy.linalg")
optimize = pytest.importorskip("scipy.optimize")

Array = npt.NDArray[np.float64]
WEIGHTS: dict[str, Any] = {"Q": {"x": 1.0, "theta": 20.0, "v": 0.1, "omega": 0.1}, "R": {"F": 0.01}}


def cart_pole(horizon: int = 30, **options: Any) -> tuple[kc.CompiledModel, Any]:
    dyn = loaded("cart_pole")
    return dyn, dyn.mpc(0.02, horizon, goal={"theta": np.pi}, **{**WEIGHTS, **options})


def test_gains_are_those_of_lqr() -> None:
    """Near an equilibrium: with the cost of all that follows at the end those of LQR, else of Riccati's recursion."""
    dyn = loaded("cart_pole")
    Q, R, goal = np.diag([1.0, 20.0, 0.1, 0.1]), np.array([[0.01]]), dyn.state(theta=np.pi)
    _, A, B = dyn.discretize(goal, None, 0.02)
    for final in (linalg.solve_discrete_are(A, B, Q, R), None):
        P = Q if final is None else final
        for _ in range(30):
            gain = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
            P = Q + A.T @ P @ (A - B @ gain)
        _, mpc = cart_pole(30, final=final)
        for change in 1e-4 * np.eye(4):
            mpc.restart()
            assert mpc(0.0, goal + change) == pytest.approx(-gain @ change, rel=1e-3)


def test_bounds_by_another_solver() -> None:
    """One step from rest: the plan minimizes the cost of the linearized horizon, by L-BFGS-B."""
    dyn, mpc = cart_pole(12, bounds={"F": (-3.0, 4.0)}, inputs={"F": 0.5})
    x = dyn.state(theta=2.5, omega=-1.0)
    first = mpc(0.0, x)
    after, A, B = dyn.discretize(x, [0.5], 0.02)

    def states(F: Array) -> Array:
        path = [x]
        for force in F:
            path.append(after + A @ (path[-1] - x) + B[:, 0] * (force - 0.5))
        return np.array(path[1:])

    def cost(F: Array) -> float:
        error = states(F) - dyn.state(theta=np.pi)
        return float(np.sum(error**2 @ [1.0, 20.0, 0.1, 0.1]) + 0.01 * np.sum((F - 0.5) ** 2))

    found = optimize.minimize(cost, np.zeros(12), bounds=[(-3.0, 4.0)] * 12, options={"ftol": 1e-15, "gtol": 1e-9})
    assert {-3.0, 4.0} & {*np.round(found.x, 6)}
    np.testing.assert_allclose(mpc.r[:, 0], found.x, rtol=0, atol=1e-3)
    np.testing.assert_allclose(mpc.x[1:], states(mpc.r[:, 0]), rtol=0, atol=1e-12)
    assert first == mpc.r[0] == pytest.approx(mpc.r[0])


def test_swing_up() -> None:
    """In `simulate`, with another plant; sampled at its period, the plan moves on with time."""
    dyn, mpc = cart_pole(40, R={"F": 1e-3}, final={"x": 50, "theta": 500, "v": 5, "omega": 5}, bounds={"F": (-20, 20)})
    plant = {**dyn.parameters, "m": 1.2 * dyn.parameters["m"]}
    sol = dyn.simulate((0.0, 4.0), dyn.state(), inputs=mpc, sample_time=0.02, parameters=plant)
    assert sol["theta"][-1] == pytest.approx(np.pi, abs=0.02)
    assert np.max(np.abs(sol.r)) == pytest.approx(20.0, abs=1e-6)
    assert {*mpc.seconds} == {"model", "condensing", "solver", "all"}
    again = mpc(mpc._time, sol.x[-1])  # the same sample: nothing moves on
    assert mpc(mpc._time, sol.x[-1]) == pytest.approx(again, abs=0.5)


def test_a_loop_follows_a_motion() -> None:
    """On the constraints, by one input, a recorded motion of a four-bar from beside its start."""
    dyn = loaded("four_bar")
    x0 = dyn.consistent(0.0, dyn.state(q1=0.9, q2=0.5, q3=1.6), None)
    recorded = dyn.simulate((0.0, 0.8), x0, inputs={"tau": 14.0})
    beside = dyn.consistent(0.0, [x0[0] + 0.02, *x0[1:]], ["q1", "u1"])
    options = {"Q": {"q1": 100.0, "u1": 1.0}, "R": {"tau": 1e-3}, "bounds": {"tau": (-30.0, 60.0)}}
    mpc = dyn.mpc(0.02, 10, goal=recorded, **options)
    sol = dyn.simulate((0.0, 0.5), beside, inputs=mpc, sample_time=0.02)
    assert abs(sol["q1"][-1] - recorded(0.5)[0]) < 5e-3
    assert sol.constraint_drift < 1e-8


def test_quaternions_take_the_nearer_sign() -> None:
    dyn = loaded("free_body")
    goal = dyn.state(e0=1.0)
    mpc = dyn.mpc(0.05, 5, Q=np.ones(dyn.n_x), R={"T1": 1.0}, goal=goal)
    x = goal * np.where(np.isin(np.arange(dyn.n_x), range(3, 7)), -1.0, 1.0)
    assert np.max(np.abs(mpc(0.0, x))) < 1e-6


@pytest.mark.long
def test_a_quadrotor_flies_a_circle() -> None:
    dyn = loaded("quadrotor")
    hover = np.full(4, dyn.parameters["m"] * dyn.parameters["g"] / 4)

    def circle(t: Array) -> Array:
        return dyn.state(x=np.cos(t), y=np.sin(t), z=np.full(len(t), 0.5))

    Q, R = np.r_[50.0, 50.0, 50.0, np.full(4, 0.1), np.full(6, 0.05)], np.full(4, 0.01)
    mpc = dyn.mpc(0.02, 25, Q=Q, R=R, goal=circle, inputs=hover)
    sol = dyn.simulate((0.0, 4.0), dyn.state(x=1.0), inputs=mpc, sample_time=0.02)
    np.testing.assert_allclose(sol.x[-1][:3], circle(np.array([4.0]))[0][:3], rtol=0, atol=0.01)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"R": {"G": 1.0}}, KeyError, "no input of 'cart_pole' is called 'G'"),
        ({"R": {}}, ValueError, "R must be positive definite, and name an input"),
        ({"R": {"F": 0.0}}, ValueError, "R must be positive definite"),
        ({"Q": [1.0, -1.0, 0.0, 0.0]}, ValueError, "Q must be symmetric, and its weights not negative"),
        ({"Q": [1.0, 1.0]}, ValueError, "Q has shape (2,)"),
        ({"bounds": {"F": (2.0, 1.0)}}, ValueError, "bounds['F'] is (2.0, 1.0); low must be below high"),
        ({"goal": {"phi": 1.0}}, KeyError, "is called 'phi'"),
        ({"dt": -0.1}, ValueError, "dt is -0.1; it must be positive"),
        ({"horizon": 0}, ValueError, "horizon is 0; it must be at least 1"),
    ],
)
def test_arguments(options: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"dt": 0.02, "horizon": 5, "goal": {"theta": np.pi}, **WEIGHTS, **options}
    with pytest.raises(error, match=re.escape(message)):
        loaded("cart_pole").mpc(**arguments)
