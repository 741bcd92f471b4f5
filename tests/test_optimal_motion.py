# SPDX-License-Identifier: BSD-3-Clause
"""Optimal motions: orders of rules, errors, what results can be trusted in; known optima: `test_published_optima`."""

import os
import re
import signal
import threading
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded
from mechanisms import ground, mass_point
from scipy.linalg import solve_continuous_are
from sweep import part

import kanecore as kc

pytest.importorskip("casadi", reason="pip install casadi")

S = me.dynamicsymbols
T = me.dynamicsymbols._t
PI = float(np.pi)


def block(**options: Any) -> kc.CompiledModel:
    """A particle of 1 kg at x, pushed by F."""
    x, v, F = S("x v F")
    return kc.compile(mass_point({x: v}, 1, [F], name="block", **options))


# ----------------------------------------------------------------------------------------------------------- rules
ORDERS = {
    "backward-euler": 1,
    "midpoint": 2,
    "trapezoidal": 2,
    "hermite-simpson": 4,
    **{f"radau-{d}": 2 * d - 1 for d in (1, 2, 3)},
    **{f"legendre-{d}": 2 * d for d in (1, 2, 3)},
}


@pytest.mark.parametrize("method", part(list(ORDERS), ["trapezoidal", "hermite-simpson", "radau-2", "legendre-2"]))
def test_order_of_a_rule(method: str) -> None:
    """Error of a pendulum's angle after a second, with given inputs, on two meshes."""
    dyn = pendulum()
    n = 6 if ORDERS[method] > 3 else 24
    start = dyn.state(q=1.0, u=-0.5)
    exact = dyn.simulate((0, 1), start, inputs={"F": 0.4}, rtol=1e-12, atol=1e-13).x[-1]
    found = [
        dyn.optimize(
            1.0, start=start, known={"F": 0.4}, method=method, intervals=k, refinements=0, options={"tol": 1e-13}
        )
        for k in (n, 2 * n)
    ]
    coarse, fine = (np.abs(sol.x[-1] - exact).max() for sol in found)
    assert np.log2(coarse / fine) == pytest.approx(ORDERS[method], abs=0.35)
    assert found[1].interval_error < found[0].interval_error


def pendulum() -> kc.CompiledModel:
    """A bob on a light rod, with a torque F."""
    q, u, F = S("q u F")
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, u * N.z)
    P = O.locatenew("P", -0.5 * A.y)
    P.v2pt_theory(O, N, A)
    loads = [(P, -9.81 * N.y), (A, F * N.z)]
    outputs = {"height": P.pos_from(O).dot(N.y)}
    return kc.compile(
        kc.Model(
            N, [q], [u], [q.diff() - u], bodies=[me.Particle("P", P, 1)], forcelist=loads, outputs=outputs, name="bob"
        )
    )


# ----------------------------------------------------------------------------------------------------- the result
def swing_up(**changes: Any) -> Any:
    dyn = loaded("cart_pole")
    arguments = {"start": dyn.state(), "end": {"x": 0, "theta": PI, "v": 0, "omega": 0}, "cost": "F**2"}
    return dyn.optimize(2.0, **{**arguments, **changes})


def test_a_result() -> None:
    """It is a trajectory, and tells its error; the mesh is refined where errors are; a warm start takes few steps."""
    rough, sol = swing_up(refinements=0), swing_up()
    dyn = sol.problem.dyn
    assert not rough.success
    assert re.fullmatch(r"IPOPT found an optimum, but the error between t = \S+ and \S+ is 3.7e-05, .*", rough.message)
    assert sol.success
    assert (sol.status, sol.message, sol.refinements) == ("Solve_Succeeded", "IPOPT found an optimum", 2)
    assert rough.interval_error > 1e-5 > sol.interval_error == sol.interval_errors.max()
    assert 50 < len(sol.interval_errors) == len(sol.edges) - 1 < 60
    assert sol.cost == pytest.approx(17.0682, abs=1e-3)
    assert list(sol.seconds) == ["build", "functions", "solver", "check"]
    assert str(sol).startswith("success: IPOPT found an optimum; cost 17.068")
    np.testing.assert_allclose(sol(sol.t), sol.x)
    np.testing.assert_allclose(sol["F"], sol.inputs(sol.t)[:, 0])
    k = 20  # one interval by hand
    t0, t1 = 2.0 * sol.edges[k : k + 2]
    reached = dyn.simulate((t0, t1), sol(t0), inputs=sol.inputs, rtol=1e-11, atol=1e-13).x[-1]
    gap = np.max(np.abs(reached - sol(t1)) / np.abs(sol.x).max(axis=0))
    assert gap == pytest.approx(sol.interval_errors[k], rel=1e-2)
    between = sol(np.array([t0, (t0 + t1) / 2, t1]))
    rates = dyn.rhs(0.0, between, r=sol.inputs([t0, (t0 + t1) / 2, t1]))
    np.testing.assert_allclose(between[2] - between[0], (t1 - t0) / 6 * np.array([1, 4, 1]) @ rates, atol=1e-7)
    again = sol.optimize(tol=1e-7)
    assert again.success
    assert again.iterations < sol.iterations
    assert sol.optimize(bounds={"F": (-9, 9)}).cost > sol.cost
    assert sol.optimize(parameters={"b": 0.5}).cost > sol.cost


def test_the_error_of_the_cost() -> None:
    """It is the sum over the intervals: a cost that is right only in each of many is no success."""
    given = {"start": {"x": 0, "v": 0}, "known": {"F": 0}, "cost": "exp(t)", "intervals": 10}
    rough = block().optimize(5.0, **given, refinements=0)
    tol = (rough.interval_error + rough.cost_error) / 2
    same = block().optimize(5.0, **given, refinements=0, tol=tol)
    assert same.interval_error < tol < same.cost_error
    assert not same.success
    assert re.fullmatch(r"IPOPT found an optimum, but the cost errs by \S+, more than tol = .*", same.message)
    assert same.cost_error == pytest.approx(abs(same.cost / np.expm1(5.0) - 1), rel=1e-3)
    finer = block().optimize(5.0, **given, tol=tol)
    assert finer.success
    assert 10 < len(finer.interval_errors) < 20


def test_feedback() -> None:
    """From a start that is off, the open loop misses by far, and the regulator arrives; gains end as Riccati's."""
    sol = swing_up()
    dyn, start, end = sol.problem.dyn, sol.x[0] + 0.01, sol.x[-1]
    control = sol.feedback()
    missed = dyn.simulate((0, 2), start, inputs=sol.inputs).x[-1] - end
    assert np.abs(missed).max() > 0.05
    closed = dyn.simulate((0, 2), start, inputs=control).x[-1] - end
    assert np.abs(closed).max() < 1e-3
    weights = np.array([1.0, 2.0, 0.3, 0.4])
    A, B = dyn.linearize(0.0, dyn.state())
    exact = solve_continuous_are(A, B, np.diag(weights), [[0.5]])
    rest = dyn.optimize(20.0, start=dyn.state(), end=dyn.state(), cost="F**2", intervals=10)
    steady = rest.feedback(weights, [0.5], final=exact)
    np.testing.assert_allclose(
        steady.gains, np.broadcast_to(2.0 * B.T @ exact, steady.gains.shape), rtol=2e-2, atol=1e-3
    )
    with pytest.raises(ValueError, match=r"Q has shape \(3,\); it must be \(4,\), a diagonal, or \(4, 4\)"):
        sol.feedback(np.ones(3))


def test_costates() -> None:
    """Of the least effort over a unit distance: the force is 6 - 12 t, and twice that the costate of -v."""
    sol = block().optimize(1.0, start={"x": 0, "v": 0}, end={"x": 1, "v": 0}, cost="F**2", intervals=8)
    of_place, of_speed = sol.multipliers["costates"]
    np.testing.assert_allclose(of_place, -24, rtol=1e-6)
    np.testing.assert_allclose(of_speed, -2 * (6 - 12 * sol.edges[:-1]), atol=0.51)
    np.testing.assert_allclose(sol["F"], 6 - 12 * sol.t, atol=1e-6)


def test_rates_in_text() -> None:
    """``theta.diff()`` is omega, in text as with symbols."""
    rates = [swing_up(cost=cost, refinements=0).cost for cost in ("F**2 + theta.diff()**2", "F**2 + omega**2")]
    assert rates[0] == pytest.approx(rates[1], rel=1e-9)


def test_unknown_parameters() -> None:
    """The least damping is best; and a mass without a value is found: so that the force 1 moves it in the time."""
    dyn = loaded("cart_pole")
    end = {"x": 0, "theta": PI, "v": 0, "omega": 0}
    sol = dyn.optimize(2.0, start=dyn.state(), end=end, cost="F**2", unknown={"b": (0.01, 1.0)})
    assert sol.success
    assert sol.parameters == {"b": pytest.approx(0.01, abs=1e-5)}
    assert sol.problem.p[dyn.parameter_names.index("b")] == sol.parameters["b"]
    x, v, F = S("x v F")
    dyn = kc.compile(mass_point({x: v}, sm.Symbol("m"), [F], name="unknown mass"))
    sol = dyn.optimize(2.0, start={"x": 0, "v": 0}, end={"x": 1}, known={"F": 1.0}, unknown={"m": (0.5, 9)})
    assert sol.parameters["m"] == pytest.approx(2.0, rel=1e-8)


def test_a_model_without_inputs() -> None:
    """A parameter that leads a free fall to its end."""
    x, v = S("x v")
    dyn = kc.compile(mass_point({x: v}, 1, [-sm.Symbol("g")], name="falling"), parameters={"g": 1.0})
    sol = dyn.optimize(1.0, start={"x": 0, "v": 1}, end={"x": -1}, unknown={"g": (0, 9)}, cost="(x - 1)**2")
    assert sol.parameters["g"] == pytest.approx(4.0, rel=1e-8)


def test_periodic() -> None:
    """A pendulum driven by cos 2 t; half a swing by symmetry, whose end is the mirror image of its start."""
    dyn = pendulum()
    t = np.linspace(0, PI, 401)
    drive = kc.Signal(t, np.cos(2 * t), kind="cubic")
    sol = dyn.optimize(PI, known={"F": drive}, periodic=True, guess={"q": 0.1})
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.x[0], sol.x[-1], atol=1e-8)
    half = dyn.optimize(PI / 2, known={"F": drive}, periodic={"q": "-q", "u": "-u"}, guess={"q": 0.1})
    np.testing.assert_allclose(half.x[0], sol.x[0], atol=1e-5)


def test_conditions() -> None:
    """Ends and bounds on outputs and expressions, relations along the path, ranges."""
    dyn = pendulum()
    sol = dyn.optimize(
        2.0,
        start={"q": 0, "u": 0},
        end={"height": 0.5, "u": (-1, 1)},
        cost="F**2",
        bounds={"F": (-8, 8), "u**2": (None, 20)},
        path=["F*u <= 9", S("q") >= -2],
    )
    assert sol.success, sol.message
    assert sol["height"][-1] == pytest.approx(0.5, abs=1e-7)
    assert np.max(sol["F"] * sol["u"]) < 9 + 1e-6
    assert np.max(sol["u"] ** 2) < 20 + 1e-6
    assert np.min(sol["q"]) > -2 - 1e-6
    assert -1 - 1e-7 <= sol["u"][-1] <= 1 + 1e-7
    same = sol.optimize(path={"F*u": (None, 9), "q": (-2, None)}, guess=None, intervals=50)
    assert same.cost == pytest.approx(sol.cost, rel=1e-4)
    bound = dyn.optimize(2.0, start={"q": 0, "u": 0}, end={"q": PI, "u": 0}, cost="F**2", path="F == 2*u")
    np.testing.assert_allclose(bound["F"], 2 * bound["u"], atol=1e-6)


def test_tracking() -> None:
    """A signal by another name in the cost: the torque that follows it is that of the inverse problem."""
    dyn = pendulum()
    t = np.linspace(0, 2, 2001)
    wanted = kc.Signal(t, 0.5 * np.sin(2 * t), kind="cubic")
    known = {"measured": wanted}
    sol = dyn.optimize(2.0, start={"q": 0, "u": 1}, cost="(q - measured)**2 + 1e-6*F**2", known=known, tol=1e-4)
    middle = (sol.t > 0.2) & (sol.t < 1.8)
    exact = -0.5 * np.sin(2 * sol.t) * 4 * 0.25 + 9.81 * 0.5 * np.sin(0.5 * np.sin(2 * sol.t))
    np.testing.assert_allclose(sol["F"][middle], exact[middle], atol=2e-2)


def test_guesses() -> None:
    """Another motion, also of `simulate`; arrays; which of two optima is found."""
    dyn = loaded("cart_pole")
    run = dyn.simulate((0, 3), dyn.state(theta=0.2), inputs={"F": 0.3})
    assert swing_up(guess=run).success
    assert swing_up(guess={"t": [0, 0.7, 2], "theta": [0, -1, PI], "F": 1.0}).success
    other = swing_up(end={"x": 0, "theta": -PI, "v": 0, "omega": 0})
    assert other.cost == pytest.approx(swing_up().cost, rel=1e-6)


def test_a_prescribed_motion() -> None:
    """An input whose rates are read: the last rate is the unknown, and the others are tied to it."""
    dyn = loaded("rotating_tube")
    sol = dyn.optimize(
        1.0,
        start={"q1": 0, "q2": 0, "u1": 0, "u2": 0, "theta": 0, "theta_d": 0},
        end={"theta": 1.0, "theta_d": 0},
        cost="theta_dd**2",
        tol=1e-4,
    )
    assert sol.success, sol.message
    assert sol.cost == pytest.approx(12.0, rel=1e-6)
    np.testing.assert_allclose(sol["theta"], 3 * sol.t**2 - 2 * sol.t**3, atol=1e-6)
    np.testing.assert_allclose(sol["theta_d"], 6 * sol.t - 6 * sol.t**2, atol=1e-6)


# ------------------------------------------------------------------------------------------------------ constraints
def effort(dyn: kc.CompiledModel) -> str:
    return " + ".join(f"{name}**2" for name in dyn.input_names)


def five_bar() -> Any:
    dyn = loaded("five_bar")
    start = dyn.consistent(0.0, dyn.state(q1=1.9, q2=1.0, q3=1.2, q4=2.1))
    end = {"q1": 1.7, "q3": 1.7, "u1": 0, "u3": 0}
    return dyn.optimize(1.0, start=start, end=end, cost=effort(dyn), intervals=10, tol=1e-3)


def whole_end_of_a_loop() -> Any:
    """All coordinates of the end: those that follow from the others are left out."""
    sol = five_bar()
    end = dict(zip(sol.problem.dyn.names.x, sol.x[-1].tolist(), strict=True))
    return sol.optimize(end=end, guess=None, intervals=20)


def four_bar() -> Any:
    """Half a turn of the crank, on which the rocker turns back."""
    dyn = loaded("four_bar")
    start = dyn.consistent(0.0, dyn.state(q1=0.9, q2=0.5, q3=1.7), ["q1", "u1"])
    end = {dyn.coordinate_names[0]: start[0] + PI, dyn.speed_names[0]: 0}
    return dyn.optimize(2.0, start=start, end=end, cost=effort(dyn), intervals=40, tol=1e-4)


def turn_of_a_body() -> Any:
    """A free body, of which all four numbers of the quaternion are named."""
    dyn = loaded("free_body")
    axis = np.array([1.0, 2.0, -1.0]) / 6**0.5 * np.sin(1.3)
    end = dict.fromkeys(dyn.speed_names, 0) | {"x": 0.2, "y": 0, "z": 0.1}
    end |= dict(zip(("e0", "e1", "e2", "e3"), (float(np.cos(1.3)), *axis), strict=True))
    return dyn.optimize(1.0, start=dyn.state(), end=end, cost=effort(dyn), intervals=20, tol=1e-4)


def rolling() -> Any:
    """The snakeboard from rest, where its constraints are singular."""
    dyn = loaded("snakeboard")
    start = dyn.consistent(0.0, dyn.state())
    return dyn.optimize(5.0, start=start, end={"q1": 0.5}, cost=effort(dyn), intervals=20, tol=1e-4)


def pumped_swing() -> Any:
    """A bob at x, y on a rope whose length is prescribed, and its second derivative the unknown."""
    x, y, u, v, length = S("x y u v L")
    rows = [x**2 + y**2 - length**2]
    options = {"q_dependent": [y], "u_dependent": [v], "configuration_constraints": rows}
    dyn = kc.compile(mass_point({x: u, y: v}, 1, [0, -9.81], name="pumped", **options))
    sol = dyn.optimize(
        4.0,
        start={"x": np.sin(0.3), "y": -np.cos(0.3), "u": 0, "v": 0, "L": 1, "L_d": 0},
        end={"L": 1, "L_d": 0, "u": 0},
        cost="1e-4*L_dd**2",
        final_cost="-x**2",
        bounds={"L": (0.7, 1.3), "L_dd": (-8, 8)},
        intervals=40,
        tol=1e-4,
    )
    assert sol["x"][-1] > 0.99
    np.testing.assert_allclose(np.hypot(sol["x"], sol["y"])[::2], sol["L"][::2], rtol=1e-7)
    return sol


def crane() -> Any:
    """The place of a hanging load as dependent coordinates, in least time; all rates are zero at both ends."""
    (x, q, a, b), (v, w, c, d), F = S("x q a b"), S("v w c d"), S("F")
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, w * N.z)
    cart = O.locatenew("cart", x * N.x)
    cart.set_vel(N, v * N.x)
    load = cart.locatenew("load", -5 * A.y)
    load.v2pt_theory(cart, N, A)
    dyn = kc.compile(
        kc.Model(
            N,
            [x, q],
            [v, w],
            [x.diff() - v, q.diff() - w, a.diff() - c, b.diff() - d],
            q_dependent=[a, b],
            u_dependent=[c, d],
            configuration_constraints=[a - x - 5 * sm.sin(q), b + 5 * sm.cos(q)],
            bodies=[me.Particle("cart", cart, 1), me.Particle("load", load, 10)],
            forcelist=[(cart, F * N.x), (load, -98.1 * N.y)],
            name="crane",
        )
    )
    rest = dict.fromkeys("qvw", 0)
    bounds = {"F": (-20, 20), "a": (0, 15)}
    return dyn.optimize((1, 20), start={"x": 0, **rest}, end={"x": 15, **rest}, final_cost="t", bounds=bounds)


MECHANISMS = [five_bar, crane, whole_end_of_a_loop, four_bar, turn_of_a_body, rolling, pumped_swing]


@pytest.mark.parametrize("problem", part(MECHANISMS, [five_bar, turn_of_a_body]))
def test_constraints(problem: Any) -> None:
    """Kept at all nodes; a run along one interval after the other confirms them."""
    sol = problem()
    dyn = sol.problem.dyn
    assert sol.success, sol.message
    assert sol.constraint_drift < 1e-7
    for places in dyn.unit:
        np.testing.assert_allclose(np.linalg.norm(sol.x[:, list(places)], axis=1)[::2], 1, atol=1e-7)
    first = dyn.simulate((0, sol.duration), sol.x[0], inputs=sol.inputs, t_eval=[sol.duration * sol.edges[3]])
    np.testing.assert_allclose(first.x[-1], sol(sol.duration * sol.edges[3]), atol=1e-3 * np.abs(sol.x).max())


@pytest.mark.long
def test_a_mesh_that_is_too_coarse() -> None:
    """IPOPT's first optimum jumps across the constraints; the next mesh begins at the first guess, not there."""
    fine = turn_of_a_body()
    coarse = fine.optimize(guess=None, intervals=12)
    assert coarse.success, coarse.message
    assert coarse.cost == pytest.approx(fine.cost, rel=1e-5)


def test_ends_that_contradict_the_constraints() -> None:
    """One coordinate follows from the other two, and is asked to be elsewhere."""
    sol = five_bar()
    places = dict(zip(sol.problem.dyn.names.x, sol.x[-1].tolist(), strict=True))
    end = {"q1": 1.7, "q3": 1.7, "q2": places["q2"] + 0.1}
    other = sol.optimize(end=end, guess=None, intervals=10, refinements=0, tol=1e-2)
    assert not other.success
    assert re.search(r"q2 at the end is \S+, as the constraints want it|constraints is missed", other.message)


@pytest.mark.long
@pytest.mark.compiler
def test_redundant_rows() -> None:
    """One row twice: the same optimum, though without second derivatives."""
    q, u, F = S("q1:3"), S("u1:3"), S("F")
    options = {"q_dependent": [q[1]], "u_dependent": [u[1]]}
    once, twice = (
        kc.compile(
            mass_point(
                dict(zip(q, u, strict=True)), 1, [F], name="on a circle", configuration_constraints=rows, **options
            )
        )
        for rows in ([q[0] ** 2 + q[1] ** 2 - 1], [q[0] ** 2 + q[1] ** 2 - 1, 2 * (q[0] ** 2 + q[1] ** 2 - 1)])
    )
    ends = {"start": [0.0, 1.0, 0.0, 0.0], "end": {"q1": 0.8, "u1": 0}}
    costs = [dyn.optimize(1.0, **ends, cost="F**2", intervals=20, tol=1e-4) for dyn in (once, twice)]
    assert all(sol.success for sol in costs)
    assert costs[0].cost == pytest.approx(costs[1].cost, rel=1e-6)


# ----------------------------------------------------------------------------------------------------------- errors
def test_what_cannot_be() -> None:
    """Conditions that contradict: the message names what is missed."""
    ends = {"start": {"x": 0, "v": 0}, "end": {"x": 1, "v": 0}}
    sol = block().optimize(1.0, **ends, cost="F**2", bounds={"F": (-1, 1)}, intervals=10)
    assert not sol.success
    assert sol.status == "Infeasible_Problem_Detected"
    assert re.match(r"IPOPT found no motion that satisfies all conditions: equations of motion is missed", sol.message)
    sol = block().optimize(1.0, **ends, cost="F**2", path="x + v <= -1", intervals=10)
    assert "x + v <= -1 is missed by" in sol.message


@pytest.mark.long
def test_a_place_out_of_reach() -> None:
    """Where one strategy of the barrier wanders, the other one says what is missed; both keep to the limit."""
    dyn = loaded("planar_2r")
    options = {"bounds": {"tau1": (-40, 40), "tau2": (-20, 20)}, "cost": "tau1**2 + tau2**2"}
    start = [-1.4, 0.3, 0.0, 0.0]
    sol = dyn.optimize(1.5, start=start, end={"tip_x": 0.3, "tip_y": 1.2}, **options)
    assert re.match(
        "IPOPT found no motion that satisfies all conditions: tip_y at the end is missed by 0.3", sol.message
    )
    assert sol.iterations <= 1000
    few = dyn.optimize(1.5, start=start, end={"tip_x": 0.3, "tip_y": 1.2}, **options, options={"max_iter": 7})
    assert few.iterations == 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"end": {"thetta": 1}}, "no symbol of end, 'thetta', is called 'thetta'; did you mean 'theta'?"),
        ({"bounds": {"f": (-1, 1)}}, "no symbol of bounds, 'f', is called 'f'; did you mean 'F'?"),
        ({"cost": "F**2 + tau**2"}, "no symbol of cost, 'F**2 + tau**2', is called 'tau'"),
        ({"unknown": {"mass": (0, 1)}}, "no parameter of 'cart_pole' is called 'mass'"),
        ({"guess": {"Theta": 1.0}}, "no unknown of the problem is called 'Theta'; did you mean 'theta'?"),
        ({"periodic": ["F"]}, "no state of 'cart_pole' is called 'F'"),
        ({"bounds": {"x": (1, -1)}}, "'x' in bounds has the empty range (1, -1): the lower limit comes first"),
        ({"bounds": {"x": (1, 2, 3)}}, "'x' in bounds is (1, 2, 3); it must be a number, or (low, high)"),
        ({"duration": -1.0}, "duration is -1.0; it must be above 0"),
        ({"duration": (2, 1)}, "duration has the empty range (2, 1): the lower limit comes first"),
        ({"bounds": {"x": (1, 2)}}, "start puts 'x' at 0, and bounds keep it within (1, 2)"),
        ({"method": "simpson"}, "method is 'simpson'; it must be one of backward-euler, midpoint, trapezoidal"),
        (
            {"intervals": 2.5},
            "intervals is 2.5; it must be a number of intervals, or their ends, increasing from 0.0 to 1.0",
        ),
        (
            {"intervals": [0, 0.5]},
            "intervals is [0, 0.5]; it must be a number of intervals, or their ends, increasing from 0.0 to 1.0",
        ),
        (
            {"path": "0 <= x <= 1"},
            "path holds '0 <= x <= 1'; it must be one relation, such as",
        ),
        ({"path": "x"}, "path holds 'x'; it must be one relation, such as 'x >= 0', 'x <= y' or 'x == y'"),
        ({"cost": "F**"}, "cost holds 'F**', which is no expression"),
        ({"cost": "gamma(F)"}, "gamma(F) holds gamma, which CasADi has not: write it by other functions"),
        ({"start": [0.0, 1.0]}, "start has shape (2,); it must be a mapping by name, or a state, (4,)"),
        ({"known": {"x": 1.0}}, "known gives 'x', which is no input"),
        ({"cost": abs}, "cost is a function; it must be text or an expression of SymPy"),
        ({"cost": "v.diff()**2"}, "no coordinate, speed or input of 'cart_pole' is called 'v_d'"),
        ({"cost": None, "final_cost": "t"}, "final_cost is t, and duration is 2: give it a range, (low, high)"),
        ({"guess": 3}, "guess is 3; it must be a Trajectory, or a mapping from names to arrays or numbers"),
        ({"periodic": "x"}, "periodic is 'x'; it must be True, or names of states: ['x']"),
    ],
)
def test_errors(changes: dict[str, Any], message: str) -> None:
    dyn = loaded("cart_pole")
    arguments = {"duration": 2.0, "start": dyn.state(), "end": {"theta": PI}, "cost": "F**2", **changes}
    with pytest.raises((KeyError, ValueError, TypeError)) as caught:
        dyn.optimize(arguments.pop("duration"), **arguments)
    assert caught.value.args[0].startswith(message)


def test_a_start_off_the_constraints() -> None:
    dyn = loaded("four_bar")
    with pytest.raises(ValueError, match=r"start does not satisfy the constraints of 'four_bar' at t = 0.0: "):
        dyn.optimize(1.0, start=dyn.state(q1=0.3), cost="tau**2")


def test_an_input_that_nobody_reads() -> None:
    x, v, F, w = S("x v F w")
    dyn = kc.compile(mass_point({x: v}, 1, [F], name="with more", outputs={"load": w + F}))
    with pytest.raises(
        ValueError, match="cost or conditions read the input 'w', which the equations of motion of 'with more"
    ):
        dyn.optimize(1.0, start={"x": 0, "v": 0}, end={"x": 1, "v": 0}, cost="F**2 + w**2")
    with pytest.raises(ValueError, match="cost or conditions read the input 'w'"):
        dyn.optimize(1.0, start={"x": 0, "v": 0}, end={"x": 1, "v": 0}, cost="load**2")
    sol = dyn.optimize(1.0, start={"x": 0, "v": 0}, end={"x": 1, "v": 0}, cost="load**2", known={"w": 2.0})
    assert sol.cost == pytest.approx(16.0, rel=1e-6)


@pytest.mark.long
def test_an_interrupt() -> None:
    """Ctrl-C ends a search that goes on for long, though CasADi keeps it to itself."""
    dyn = pendulum()
    ends = {"start": {"q": 0, "u": 0}, "end": {"q": PI, "u": 0}, "bounds": {"F": (-0.5, 0.5)}}
    options = {"mu_strategy": "monotone", "max_iter": 100000}
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dyn.optimize(30.0, **ends, cost="F**2", intervals=600, options=options)
    timer.cancel()


def test_without_casadi(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("kanecore.optimal.")]:
        if not name.endswith("optimize_method"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match=r"dyn\.optimize needs the package casadi: pip install casadi"):
        loaded("cart_pole").optimize(1.0)
