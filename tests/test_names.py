# SPDX-License-Identifier: BSD-3-Clause
"""Values by name or symbol, in every call that takes arrays."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from numpy.testing import assert_array_equal
from sympy.physics.mechanics import dynamicsymbols

import kanecore as kc
from kanecore._native import NamedArray
from kanecore.build import compile_library
from kanecore.errors import unknown_name
from kanecore.gallery import rrp as source

THETA1, THETA2, D3, OMEGA1, OMEGA2, TAU1 = dynamicsymbols("theta1 theta2 d3 omega1 omega2 tau1")
BY_NAME = {"theta1": 0.3, THETA2: 0.4, "d3": 0.5, OMEGA1: 1.0, "v3": -0.2}
X = np.array([0.3, 0.4, 0.5, 1.0, 0.0, -0.2])
CALLS: dict[str, Callable[[kc.CompiledModel, Any], Any]] = {
    "rhs": lambda d, x: d.rhs(0.0, x),
    "outputs": lambda d, x: d.outputs(0.0, x),
    "kinetic_energy": lambda d, x: d.kinetic_energy(0.0, x),
    "inverse_dynamics": lambda d, x: d.inverse_dynamics(0.0, x, [1.0, 2.0, 3.0]),
    "partial_velocities": lambda d, x: d.partial_velocities(0.0, x, remainder=True),
    "nonholonomic": lambda d, x: d.partial_velocities(0.0, x, nonholonomic=True),
    "reactions": lambda d, x: d.reactions(0.0, x),
    "linearize": lambda d, x: d.linearize(0.0, x)[0],
    "position": lambda d, x: d.position("slide", 0.0, x, frame="B2"),
    "jacobian": lambda d, x: d.jacobian("slide", 0.0, x),
    "mass_matrix_inverse": lambda d, x: d.mass_matrix_inverse(0.0, x),
    "operational_inertia": lambda d, x: d.operational_inertia("G3", 0.0, x, along=[[0, 0, 1]]),
    "momentum_matrix": lambda d, x: d.momentum_matrix(0.0, x),
    "inverse_dynamics_jvp": lambda d, x: d.jvp("inverse_dynamics", 0.0, x, {"omega1": 1.0}, np.ones(6)),
    "rhs_vjp": lambda d, x: d.rhs_vjp(0.0, x, np.ones(6)),
    "linear_system": lambda d, x: d.linear_system(0.0, x).A,
    "linear_momentum": lambda d, x: d.linear_momentum(0.0, x),
    "load_powers": lambda d, x: sum(d.load_powers(0.0, x).values()),
    "inertia_forces_by_body": lambda d, x: d.generalized_inertia_forces(0.0, x, np.ones(3), by="body"),
    "speed_matrices": lambda d, x: d.speed_matrices(0.0, x).Psi,
    "projected_efforts": lambda d, x: d.projected_efforts(0.0, x).F_p,
    "consistent": lambda d, x: d.consistent(0.0, x),
    "impact": lambda d, x: d.impact(0.0, x, np.ones(3), 0.5),
    "check": lambda d, x: d.check(x).x,
    "simulate": lambda d, x: d.simulate((0, 0.1), x).x,
    "audit": lambda d, x: d.audit(2, x0=x).x,
}


@pytest.fixture(scope="module")
def rrp() -> kc.CompiledModel:
    return kc.load("rrp")


@pytest.fixture
def tumbler(root: Path) -> kc.CompiledModel:
    """A body on a quaternion, e0 last, and a count n of its turns."""
    library = compile_library((root / "tests/cmodels/tumbler.c").read_text(encoding="utf-8"), name="tumbler")
    return kc.CompiledModel({"all": library.path}, source={})


# --------------------------------------------------------------------------------------------------- x of a call
@pytest.mark.parametrize("call", CALLS)
def test_state_by_name(rrp: kc.CompiledModel, call: str) -> None:
    assert_array_equal(CALLS[call](rrp, BY_NAME), CALLS[call](rrp, X))
    nothing = CALLS[call](rrp, {})
    assert_array_equal(nothing, CALLS[call](rrp, np.zeros(6)))


def test_what_constraints_have_by_name() -> None:
    dyn = kc.load("four_bar")
    guess = dyn.check().x
    by_name = dict(zip((*dyn.coordinate_names, *dyn.speed_names), guess, strict=True))
    assert_array_equal(dyn.constraint_forces(0.0, by_name), dyn.constraint_forces(0.0, guess))
    assert_array_equal(dyn.consistent(0.0, by_name, None), dyn.consistent(0.0, guess, None))
    a, b = (dyn.linearize(0.0, x, minimal=True)[0] for x in (by_name, guess))
    assert_array_equal(a, b)
    found = dyn.equations_residual(0.0, guess, {}, {dyn.constraint_names[0]: 2.0})
    assert_array_equal(found, dyn.equations_residual(0.0, guess, np.zeros(dyn.n_u), [2.0, 0.0]))
    udot, multipliers = np.eye(dyn.n_u)[0], np.ones(dyn.n_constraints)
    found = dyn.equations_residual(0.0, guess, {dyn.speed_names[0]: 1.0}, multipliers)
    assert_array_equal(found, dyn.equations_residual(0.0, guess, udot, multipliers))
    with pytest.raises(KeyError, match="no constraint of 'four_bar' is called 'wire'; there are 'configuration"):
        dyn.equations_residual(0.0, guess, {}, {"wire": 2.0})


def test_arrays_in_a_mapping_broadcast(rrp: kc.CompiledModel) -> None:
    theta, omega = np.linspace(0.0, 1.0, 4), np.linspace(-1.0, 1.0, 3)[:, np.newaxis]
    x = np.zeros((3, 4, 6))
    x[..., 0], x[..., 4] = theta, omega
    given = {"theta1": theta, "omega2": omega}
    assert_array_equal(rrp.rhs(0.0, given), rrp.rhs(0.0, x))
    assert_array_equal(rrp.state(given), x)
    out = np.empty((3, 4, 6))
    assert rrp.rhs(0.0, given, r={"tau1": 0.3}, out=out) is out
    assert_array_equal(out, rrp.rhs(0.0, x, r=[0.3, 0.0, 0.0]))


def test_accelerations_by_name(rrp: kc.CompiledModel) -> None:
    udot = np.array([0.0, 2.0, 0.0])
    of_theta = {THETA2.diff(): 2.0}, {THETA2.diff().diff(): 2.0}
    for given in ({"omega2": 2.0}, {OMEGA2: 2.0}, {OMEGA2.diff(): 2.0}, *of_theta):
        assert_array_equal(rrp.inverse_dynamics(0.0, X, given), rrp.inverse_dynamics(0.0, X, udot))
    with pytest.raises(KeyError, match="no speed of 'rrp' is called 'theta1'"):
        rrp.inverse_dynamics(0.0, X, {"theta1": 2.0})
    for key in (OMEGA2.diff().diff(), THETA2.diff().diff().diff(), TAU1.diff()):
        with pytest.raises(KeyError, match=r"no speed of 'rrp' is Deriv.*: name one of the speeds omega1, omega2, v3"):
            rrp.inverse_dynamics(0.0, X, {key: 2.0})
    with pytest.raises(ValueError, match="udot gives 'omega2' twice"):
        rrp.inverse_dynamics(0.0, X, {"omega2": 2.0, THETA2.diff().diff(): 2.0})


def test_directions_and_weights_by_name() -> None:
    """What is not named of them is zero, of a unit quaternion as well, and whatever the current inputs are."""
    dyn = kc.load("quadrotor")
    x, udot = dyn.state({dyn.speed_names[0]: 0.4}), np.linspace(-1.0, 1.0, dyn.n_u)
    dyn.inputs = dict.fromkeys(dyn.input_names, 0.7)
    dx, dr, du = np.zeros(dyn.n_x), np.zeros(dyn.n_r), np.zeros(dyn.n_u)
    dx[dyn.n_q + 3], dr[1], du[2] = 2.0, 1.0, -3.0
    state, change, speeds = {dyn.speed_names[3]: 2.0}, {dyn.input_names[1]: 1.0}, {dyn.speed_names[2]: -3.0}
    for by_name, arrays in (
        (dyn.rhs_jvp(0.0, x, state, dr=change), dyn.rhs_jvp(0.0, x, dx, dr=dr)),
        (dyn.rhs_jvp(0.0, x, {}), np.zeros(dyn.n_x)),
        (dyn.rhs_vjp(0.0, x, state), dyn.rhs_vjp(0.0, x, dx)),
        (dyn.rhs_hessian(0.0, x, state), dyn.rhs_hessian(0.0, x, dx)),
        (
            dyn.jvp("inverse_dynamics", 0.0, x, udot, state, dudot=speeds, dr=change),
            dyn.jvp("inverse_dynamics", 0.0, x, udot, dx, dudot=du, dr=dr),
        ),
        (dyn.vjp("inverse_dynamics", 0.0, x, udot, speeds), dyn.vjp("inverse_dynamics", 0.0, x, udot, du)),
    ):
        assert_array_equal(by_name, arrays)
    several = dyn.rhs_jvp(0.0, x, {dyn.speed_names[3]: [2.0, 0.0], dyn.speed_names[4]: [[0.0]]})
    assert several.shape == (1, 2, dyn.n_x)
    assert_array_equal(several[0], [dyn.rhs_jvp(0.0, x, dx), np.zeros(dyn.n_x)])


@pytest.mark.compiler
def test_derivatives_are_speeds_where_they_are(rrp: kc.CompiledModel, tumbler: kc.CompiledModel) -> None:
    assert rrp.qdot_is_u
    assert_array_equal(rrp.state({THETA1.diff(): 2.0, "theta2": 1.0}), [0, 1, 0, 2, 0, 0])
    with pytest.raises(ValueError, match="state gives 'omega1' twice, as 'omega1' and as Derivative"):
        rrp.state({"omega1": 1.0, THETA1.diff(): 2.0})
    for key in (THETA1.diff().diff(), OMEGA1.diff()):
        with pytest.raises(KeyError, match="no coordinate or speed of 'rrp' is Derivative"):
            rrp.state({key: 1.0})
    with pytest.raises(KeyError, match="name one of the speeds w1, w2, w3"):
        tumbler.state({dynamicsymbols("n").diff(): 1.0})


def test_derivatives_of_some_coordinates() -> None:
    """q̇1 is the second speed and q̇2 none, in any order of the lists."""
    (q1, q2), (u1, u2) = dynamicsymbols("q1 q2"), dynamicsymbols("u1 u2")
    frame, origin = ground()
    bob = me.Particle("bob", origin.locatenew("P", q1 * frame.x + q2 * frame.y), sm.Integer(1))
    dyn = kc.compile(kc.Model(frame, [q1, q2], [u1, u2], [q1.diff() - u2, q2.diff() - u1 - u2], bodies=[bob]))
    assert not dyn.qdot_is_u
    assert_array_equal(dyn.state({q1.diff(): 3.0}), [0, 0, 0, 3.0])
    assert_array_equal(dyn.inverse_dynamics(0.0, {}, {q1.diff().diff(): 3.0}), dyn.inverse_dynamics(0.0, {}, [0, 3.0]))
    with pytest.raises(KeyError, match="name one of the speeds u1, u2"):
        dyn.inverse_dynamics(0.0, {}, {q2.diff().diff(): 3.0})
    assert dyn.simulate((0, 1), {q1.diff(): 3.0})[q1.diff()][-1] == 3.0
    with pytest.raises(KeyError, match="name one of the speeds u1, u2"):
        dyn.state({q2.diff(): 3.0})


def test_rates_of_a_lagrangian() -> None:
    """Its speeds have no other symbols."""
    q = dynamicsymbols("q")
    dyn = kc.compile(kc.Model.from_lagrangian(q.diff() ** 2 - q**2, [q]))
    for rate in (q.diff(), q.diff().diff(), "q_d"):
        assert_array_equal(dyn.inverse_dynamics(0.0, {q.diff(): 0.3}, {rate: 1.5}), [3.0])


def test_robotics_by_name(rrp: kc.CompiledModel) -> None:
    q, u, tau = {"theta2": 0.4}, {OMEGA1: 1.0}, {"v3": [1.0, 2.0]}
    arrays = [0, 0.4, 0], [1, 0, 0], [[0, 0, 1.0], [0, 0, 2.0]]
    assert_array_equal(rrp.aba(q, u, tau), rrp.aba(*arrays))
    assert_array_equal(rrp.rnea(q, u, {"v3": 1.0}), rrp.rnea(*arrays[:2], [0, 0, 1.0]))
    assert_array_equal(rrp.crba(q), rrp.crba(arrays[0]))
    with pytest.raises(KeyError, match="no coordinate of 'rrp' is called 'omega1'"):
        rrp.aba({"omega1": 1.0}, u, tau)
    with pytest.raises(KeyError, match="no speed of 'rrp' is called 'theta1'"):
        rrp.aba(q, u, {"theta1": 1.0})


def test_a_name_decides_nothing_about_derivatives() -> None:
    """A speed that is called q_d and is no derivative of q."""
    q, u = dynamicsymbols("q q_d")
    frame, origin = ground()
    bob = me.Particle("bob", origin.locatenew("P", q * frame.x), sm.Integer(1))
    dyn = kc.compile(kc.Model(frame, [q], [u], [2 * q.diff() - u], bodies=[bob]))
    assert_array_equal(dyn.state({"q_d": 1.0}), [0.0, 1.0])
    with pytest.raises(KeyError, match=r"no coordinate or speed of .* is Derivative"):
        dyn.state({q.diff(): 1.0})


# ----------------------------------------------------------------------------------------------------- dyn.state
def test_states(rrp: kc.CompiledModel) -> None:
    x = rrp.state({THETA1: sm.Rational(1, 2)}, omega1=2)
    assert_array_equal(x, [0.5, 0, 0, 2, 0, 0])
    assert x.dtype == np.float64
    assert_array_equal(rrp.state(), np.zeros(6))
    x[:] = 7.0
    assert_array_equal(rrp.state(), np.zeros(6))


@pytest.mark.compiler
def test_quaternions_that_are_not_named_turn_nothing(tumbler: kc.CompiledModel) -> None:
    assert tumbler.unit == ((4, 1, 2, 3),)
    assert_array_equal(tumbler.state(w1=2.0), [0, 0, 0, 0, 1, 2, 0, 0])
    assert_array_equal(tumbler.state(e1=1.0), [0, 1, 0, 0, 0, 0, 0, 0])
    assert tumbler.simulate((0, 1), {"w1": 2.0}).success
    with pytest.raises(ValueError, match=r"has norm 0\.5 in x0"):
        tumbler.simulate((0, 1), {"e1": 0.5})


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        ({"thet1": 1.0}, {}, KeyError, "no coordinate or speed of 'rrp' is called 'thet1'; did you mean 'theta1' or"),
        ({}, {"tau1": 1.0}, KeyError, "is called 'tau1'"),
        ({"zzz": 1.0}, {}, KeyError, "is called 'zzz'; there are 'theta1', 'theta2', 'd3', 'omega1'"),
        ({sm.Symbol("g"): 1.0}, {}, KeyError, "is called 'g'"),
        ({"theta1": 1.0, THETA1: 1.0}, {}, ValueError, r"state gives 'theta1' twice, as 'theta1' and as theta1\(t\)"),
        ({THETA1: 1.0}, {"theta1": 1.0}, ValueError, "'theta1' twice"),
        ({"theta1": 1.0}, {"theta1": 1.0}, ValueError, "'theta1' twice"),
        ({"theta1": np.nan}, {}, ValueError, "coordinate 'theta1' is not finite"),
        ({"omega1": [0.0, np.inf]}, {}, ValueError, "speed 'omega1' is not finite"),
        ({"theta1": 1j}, {}, TypeError, r"state\['theta1'\] must be a real number, got 1j"),
        ({"theta1": "1"}, {}, TypeError, r"state\['theta1'\] must be a real number"),
        ({"theta1": None}, {}, TypeError, r"state\['theta1'\] must be a real number"),
        ({"theta1": sm.Symbol("a")}, {}, TypeError, "must be a real number"),
        ({"theta1": [0, 1], "theta2": [0, 1, 2]}, {}, ValueError, r"not broadcast: theta1 \(2,\), theta2"),
        ({3: 1.0}, {}, KeyError, "3 is neither a name nor a symbol"),
        ({sm.Function("theta1"): 1.0}, {}, KeyError, "is neither a name nor a symbol"),
        ([0.0] * 6, {}, TypeError, "state takes a mapping by name, and keywords"),
        ("theta1", {}, TypeError, "state takes a mapping by name, and keywords"),
    ],
)
def test_wrong_states(
    rrp: kc.CompiledModel, given: Any, named: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rrp.state(given, **named)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.rhs(0.0, {"thet1": 1.0}), KeyError, "did you mean 'theta1' or 'theta2'"),
        (lambda d: d.rhs(0.0, {"theta1": "a"}), TypeError, r"x\['theta1'\] must be a real number"),
        (lambda d: d.rhs(0.0, {"theta1": 1.0, THETA1: 2.0}), ValueError, "x gives 'theta1' twice"),
        (lambda d: d.rhs(0.0, X, r={"tau1": 1.0, TAU1: 2.0}), ValueError, "r gives 'tau1' twice"),
        (lambda d: d.rhs(0.0, X, p={"m1": 1.0, sm.Symbol("m1"): 2.0}), ValueError, "p gives 'm1' twice"),
        (lambda d: d.rhs(0.0, X, p={"m9": 1.0}), KeyError, "no parameter of 'rrp' is called 'm9'"),
        (lambda d: d.rhs(0.0, {"theta1": np.zeros(2)}, r={"tau1": np.zeros(3)}), ValueError, "axes do not broadcast"),
        (lambda d: d.parameters.update({"m1": 1.0, sm.Symbol("m1"): 2.0}), ValueError, "parameters gives 'm1' twice"),
        (lambda d: d.inputs.update({"tau1": 1.0, TAU1: 2.0}), ValueError, "inputs gives 'tau1' twice"),
        (lambda d: d.simulate((0, 1), {"theta": 1.0}), KeyError, "did you mean 'theta2' or 'theta1'"),
        (lambda d: d.simulate((0, 1), {"theta1": [1.0, 2.0], "theta2": [1.0] * 3}), ValueError, "theta2|broadcast"),
        (lambda d: d.simulate((0, 1), {"theta1": np.nan}), ValueError, "x0 is .* which is not finite"),
        (lambda d: d.simulate((0, 1), X, inputs={"tau1": 1.0, TAU1: 2.0}), ValueError, "inputs gives 'tau1' twice"),
        (lambda d: d.check({"theta1": [1.0, 2.0]}), ValueError, r"x has shape \(2, 6\), expected \(6,\): one state"),
        (lambda d: d.consistent(0.0, {"theta1": np.inf}), ValueError, "x is .* which is not finite"),
        (lambda d: d.audit(1, x0={"theta1": 1.0, THETA1: 2.0}), ValueError, "x0 gives 'theta1' twice"),
        (lambda d: d.audit(1, units={"theta1": 1, THETA1: 1}), ValueError, "units gives a name twice"),
        (lambda d: d.rhs_jvp(0.0, X, {"thet1": 1.0}), KeyError, "did you mean 'theta1' or 'theta2'"),
        (lambda d: d.rhs_jvp(0.0, X, {}, dr={"theta1": 1.0}), KeyError, "no input of 'rrp' is called 'theta1'"),
        (lambda d: d.rhs_vjp(0.0, X, {"theta1": "a"}), TypeError, "weights must be real numbers, got dtype"),
        (lambda d: d.rhs_vjp(0.0, X, {"theta1": [1, 2], "d3": [1, 2, 3]}), ValueError, "weights do not broadcast"),
        (lambda d: d.speed_matrices(0.0, X, coordinates=["thet1"]), KeyError, "did you mean 'theta1'"),
        (lambda d: d.angular_momentum(0.0, X, "tipp"), KeyError, "no point of 'rrp' .* is called 'tipp'"),
    ],
)
def test_wrong_names_in_calls(
    rrp: kc.CompiledModel, call: Callable[[kc.CompiledModel], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(rrp)


def test_values_that_are_not_finite_give_nan_as_in_arrays(rrp: kc.CompiledModel) -> None:
    """And a mapping changes no later call."""
    before = rrp.rhs(0.0, X)
    assert np.isnan(rrp.rhs(0.0, {"theta2": np.nan})).any()
    rrp.rhs(0.0, {"theta1": 9.0}, r={"tau1": 3.0}, p={"m1": 5.0})
    assert_array_equal(rrp.rhs(0.0, X), before)


# ---------------------------------------------------------------------------------------------------- workspaces
def test_workspace_by_name(rrp: kc.CompiledModel) -> None:
    ws = rrp.workspace()
    ws.x["theta1"], ws.x[THETA2], ws.x[THETA1.diff()] = 0.3, 0.4, 1.0
    ws.x["d3"], ws.x["v3"] = 0.5, -0.2
    ws.r[TAU1], ws.p["m1"] = 0.7, 2.5
    assert_array_equal(ws.x, X)
    assert (ws.x["d3"], ws.r["tau1"], ws.p[sm.Symbol("m1")]) == (0.5, 0.7, 2.5)
    assert_array_equal(ws.rhs(), rrp.rhs(0.0, X, r={"tau1": 0.7}, p={"m1": 2.5}))
    ws.udot["omega2"] = 3.0
    assert ws.udot[1] == 3.0
    assert rrp.inputs["tau1"] == 0.0


def test_workspace_arrays_go_on_as_they_are(rrp: kc.CompiledModel) -> None:
    ws = rrp.workspace()
    ws.x[:] = X
    ws.x[0] += 1.0
    ws.x *= 2.0
    assert_array_equal(ws.x, 2.0 * (X + np.eye(6)[0]))
    ws.x = X
    assert_array_equal(ws.x[[0, 1]], X[:2])
    assert ws.x[sm.Integer(1)] == X[1]
    assert_array_equal(pickle.loads(pickle.dumps(ws.x)), X)
    ws.x = {"theta1": 0.3}
    assert_array_equal(ws.x, 0.3 * np.eye(6)[0])
    ws.r, ws.p = {"tau1": 1.0}, {"m1": 3.0}
    assert (ws.r[0], ws.p["m1"]) == (1.0, 3.0)
    for plain in (ws.x[1:], ws.x + 1.0, np.sin(ws.x), ws.x @ np.eye(6)):
        assert type(plain) is np.ndarray
    assert type(ws.x.sum()) is np.float64
    assert isinstance(ws.x, np.ndarray)
    assert np.shares_memory(ws.x, np.asarray(ws.x))
    assert_array_equal(rrp.rhs(0.0, ws.x), rrp.rhs(0.0, np.array(ws.x)))


@pytest.mark.parametrize(
    ("array", "key", "value", "error", "message"),
    [
        ("x", "thet1", 1.0, KeyError, "no coordinate or speed of 'rrp' is called 'thet1'; did you mean 'theta1'"),
        ("r", "theta1", 1.0, KeyError, "no input of 'rrp' is called 'theta1'"),
        ("p", "m9", 1.0, KeyError, "no parameter of 'rrp' is called 'm9'"),
        ("x", "theta1", np.nan, ValueError, "coordinate 'theta1' must be one finite number"),
        ("x", "omega1", [1.0, 2.0], ValueError, "speed 'omega1' must be one finite number"),
        ("p", "m1", "a", TypeError, "parameter 'm1' must be a real number"),
        ("x", 6, 1.0, IndexError, "out of bounds"),
    ],
)
def test_wrong_entries_of_workspaces(
    rrp: kc.CompiledModel, array: str, key: Any, value: Any, error: type[Exception], message: str
) -> None:
    values = getattr(rrp.workspace(), array)
    before = values.copy()
    with pytest.raises(error, match=message):
        values[key] = value
    assert_array_equal(values, before)


def test_parts_of_workspace_arrays_have_no_names(rrp: kc.CompiledModel) -> None:
    ws = rrp.workspace()
    assert type(ws.x) is NamedArray
    for part in (ws.x[1:], ws.x.reshape(2, 3), ws.x.copy()):
        with pytest.raises(IndexError):
            part["theta1"]


# --------------------------------------------------------------------------------------------------- trajectories
def test_trajectory_by_name(rrp: kc.CompiledModel) -> None:
    sol = rrp.simulate((0, 1), BY_NAME, inputs={"tau1": kc.Signal([0, 1], [0.0, 2.0], "linear")})
    for key, values in (
        ("theta1", sol.q[:, 0]),
        (THETA1, sol.q[:, 0]),
        (THETA1.diff(), sol.u[:, 0]),
        ("omega2", sol.u[:, 1]),
        ("tau1", sol.r[:, 0]),
        (TAU1, 2.0 * sol.t),
        ("tip_x", sol.outputs[:, 0]),
    ):
        np.testing.assert_allclose(sol[key], values, rtol=0, atol=1e-14)
    with pytest.raises(KeyError, match="no coordinate, speed, input or output of 'rrp' is called 'tip_w'; did"):
        sol["tip_w"]
    with pytest.raises(KeyError, match="0 is neither a name nor a symbol"):
        sol[0]


# ------------------------------------------------------------------------------------------------ nearest names
def test_names_outside_of_calls() -> None:
    model = source.build()
    with pytest.raises(KeyError, match="no model of the gallery is called 'rpr'; did you mean 'rrp'"):
        kc.load("rpr")
    with pytest.raises(KeyError, match="no kernel 'mass_matrx'; did you mean 'mass_matrix'"):
        model.symbolic("mass_matrx")
    with pytest.raises(ValueError, match="parameters gives 'm1' twice"):
        kc.compile(model, parameters={"m1": 1.0, sm.Symbol("m1"): 2.0})


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["mass", "length"], "; did you mean 'mass'?"),
        (["length"], "; there are 'length'"),
        ([], "; there are none"),
        ([f"q{i:02}" for i in range(20)], "; there are 'q00', .*, 'q11', ..."),
    ],
)
def test_nearest_names(names: list[str], hint: str) -> None:
    with pytest.raises(KeyError, match=f"no parameter 'masss'{hint}"):
        raise unknown_name("parameter", "masss", names)


@pytest.mark.parametrize(("name", "meant"), [("L1", "l1"), ("OMEGA1", "omega_1"), ("Theta1", "theta_{1}")])
def test_names_that_are_the_same_but_for_capitals_and_underscores(name: str, meant: str) -> None:
    names = [f"p{i}" for i in range(20)] + ["l1", "omega_1", "theta_{1}"]
    assert f"no parameter {name!r}; did you mean {meant!r}" in unknown_name("parameter", name, names).args[0]
