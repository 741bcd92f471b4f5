# SPDX-License-Identifier: BSD-3-Clause
"""A mass matrix that is regular but not positive definite is solved as it is given; a lost rank is named.

Negative masses stand for buoyancy and for parts that are cut out; inertias about another point than the one that is
named are in published models.  u̇ is NumPy's solution with the model's own M and f.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from numpy.testing import assert_array_equal
from oracle.lines import accelerations, coordinates, lines
from sweep import part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
pytestmark = [
    pytest.mark.filterwarnings("ignore:no solid body can have"),
    pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning"),
]


def check(dyn: kc.CompiledModel, states: Array, rtol: float = 1e-11) -> None:
    """u̇, alone and in a batch, by the same equations in NumPy; the residual through `inverse_dynamics`."""
    for state in states:
        mass, force = dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state)
        if dyn.n_constraints:
            rows, bias = dyn.constraint_jacobian(0.0, state), dyn.constraint_bias(0.0, state)
            expected = accelerations(mass, force, rows, bias)
        else:
            expected = np.linalg.solve(mass, force)
        found = dyn.udot(0.0, state)
        np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * np.max(np.abs(expected)))
        left = dyn.inverse_dynamics(0.0, state, found)
        if dyn.n_constraints:
            left = left - rows.T @ dyn.multipliers(0.0, state)
        assert np.max(np.abs(left)) <= 100 * rtol * np.max(np.abs(np.append(force, np.abs(mass) @ np.abs(found))))
        assert_array_equal(dyn.rhs(0.0, state)[dyn.n_q :], found)
    assert_array_equal(dyn.udot(0.0, states), [dyn.udot(0.0, state) for state in states])


def derivatives(dyn: kc.CompiledModel, state: Array) -> None:
    """`linearize` against differences."""
    A = dyn.linearize(0.0, state)[0]
    h = 1e-6
    steps = h * np.eye(dyn.n_x)
    found = (dyn.rhs(0.0, state + steps) - dyn.rhs(0.0, state - steps)).T / (2 * h)
    np.testing.assert_allclose(A, found, rtol=0, atol=1e-6 * np.max(np.abs(A)))


def chain(n: int, relative: bool = True, **arguments: Any) -> kc.Model:
    """A pendulum of n links with unit lengths; the last has another mass and inertia."""
    ground, joint = me.ReferenceFrame("N"), me.Point("O")
    joint.set_vel(ground, 0)
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    last_mass, last_inertia = sm.symbols("mass inertia")
    bodies, loads, frame = [], [], ground
    for i in range(n):
        link = me.ReferenceFrame(f"B{i + 1}")
        link.orient_axis(frame if relative else ground, ground.z, q[i])
        link.set_ang_vel(frame if relative else ground, u[i] * ground.z)
        centre = joint.locatenew(f"C{i + 1}", link.x / 2)
        m, moment = (last_mass, last_inertia) if i == n - 1 else (sm.Integer(1), sm.Rational(1, 12))
        bodies.append(me.RigidBody(f"link{i + 1}", centre, link, m, (me.inertia(link, 0, 0, moment), centre)))
        loads.append((centre, -9 * ground.y))
        joint, frame = joint.locatenew(f"E{i + 1}", link.x), link
    return kc.Model(
        *(ground, list(q), list(u), [a.diff(t) - b for a, b in zip(q, u, strict=True)]),
        bodies=bodies,
        forcelist=loads,
        name=f"chain of {n}",
        **arguments,
    )


def states_of(dyn: kc.CompiledModel, count: int = 4) -> Array:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (count, dyn.n_x))


# ------------------------------------------------------------------------------------------ what is computed


@pytest.mark.parametrize("masses", [(-1.0, 2.0, 3.0), (-1.0, -2.0, -3.0), (1e-3, -1e3, 2.0)])
def test_negative_masses(masses: tuple[float, ...]) -> None:
    """As numbers and as parameters, in a diagonal M and in one that is filled."""
    symbols = sm.symbols("m0:3")
    for couplings in ((), ((0, 1, sm.Rational(3, 2)), (1, 2, sm.Rational(-5, 7)))):
        for given in (symbols, masses):
            model = lines(3, masses=list(given), forces=[1.0, 2.0, 4.0], couplings=couplings)
            dyn = kc.compile(model, parameters={s: v for s, v in zip(symbols, masses, strict=True) if given is symbols})
            check(dyn, states_of(dyn))
            derivatives(dyn, states_of(dyn)[0])


def test_an_indefinite_matrix_whose_diagonal_vanishes() -> None:
    """M = [[0, 1], [1, 0]]: condition 1, and no pivot on the diagonal.  Also with three speeds."""
    for n, couplings in ((2, ((0, 1, 1),)), (3, ((0, 1, 1), (1, 2, 1), (0, 2, 1)))):
        masses = [-sum(1 for i, j, _ in couplings if k in (i, j)) for k in range(n)]
        model = lines(n, masses=masses, forces=[1.0, 3.0, -2.0][:n], couplings=couplings)
        dyn = kc.compile(model)
        assert not np.diag(dyn.mass_matrix(0.0, np.zeros(2 * n))).any()
        check(dyn, states_of(dyn))


@pytest.mark.parametrize(
    ("n", "relative"), part([(2, True), (2, False), (5, True), (14, True), (14, False)], [(2, False), (14, True)])
)
def test_chains_with_a_negative_last_link(n: int, relative: bool) -> None:
    """Below and above the size from which articulated bodies are used."""
    dyn = kc.compile(chain(n, relative), parameters={"mass": 1.0, "inertia": 1.0})
    for mass, inertia in ((1.0, -0.4), (1.0, -3.0), (-0.7, 0.1), (-4.0, -1.0), (-4.0, 1.0)):
        dyn.parameters.update({"mass": mass, "inertia": inertia})
        if inertia == -3.0:
            assert min(np.linalg.eigvalsh(dyn.mass_matrix(0.0, states_of(dyn)[0]))) < 0.0
        check(dyn, states_of(dyn), rtol=1e-10)


def test_parameters_decide_at_each_call() -> None:
    """The same model with positive, then negative, then positive inertia; both in one batch."""
    dyn = kc.compile(chain(3), parameters={"mass": 1.0, "inertia": 0.1})
    state = states_of(dyn)[0]
    first = dyn.udot(0.0, state)
    p = [[-3.0, 1.0], [0.1, 1.0]] if dyn.parameter_names == ("inertia", "mass") else [[1.0, -3.0], [1.0, 0.1]]
    negative, again = dyn.udot(0.0, state, p=p)
    assert_array_equal(again, first)
    given = {"inertia": -3.0}
    M, f = dyn.mass_matrix(0.0, state, p=given), dyn.forcing(0.0, state, p=given)
    np.testing.assert_allclose(negative, np.linalg.solve(M, f), rtol=1e-11)
    assert_array_equal(dyn.udot(0.0, state), first)
    ws = dyn.workspace()
    ws.x, ws.p = state, p[0]
    assert_array_equal(ws.rhs()[3:], negative)


@pytest.mark.parametrize("kind", part(["velocity", "configuration", "redundant"], ["redundant"]))
def test_with_constraints(kind: str) -> None:
    """PᵀMP, too, may be indefinite."""
    (x0, x1, x2, x3), (u0, u1, u2, _) = coordinates(4)
    rows: dict[str, Any] = {
        "velocity": {"velocity_constraints": [u0 + sm.cos(x1) * u1 - u2]},
        "configuration": {"configuration_constraints": [x0**2 + x1**2 + x2 * x3 - 1]},
        "redundant": {"velocity_constraints": [u0 - u1 + u2 * x3, 2 * u0 - 2 * u1 + 2 * u2 * x3]},
    }
    model = lines(
        4, masses=[-1.0, 2.0, -3.0, 0.5], forces=[1.0, 2.0, 3.0, 4.0], couplings=((1, 3, -0.7),), **rows[kind]
    )
    dyn = kc.compile(model)
    for state in states_of(dyn):
        if kind == "redundant":
            M, f = dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state)
            G, gamma = dyn.constraint_jacobian(0.0, state)[:1], dyn.constraint_bias(0.0, state)[:1]
            expected = accelerations(M, f, G, gamma)
            np.testing.assert_allclose(dyn.udot(0.0, state), expected, rtol=1e-11, atol=1e-12)
            push = M @ expected - f
            np.testing.assert_allclose(
                dyn.constraint_jacobian(0.0, state).T @ dyn.multipliers(0.0, state), push, rtol=1e-9, atol=1e-11
            )
        else:
            check(dyn, state[np.newaxis])
    derivatives(dyn, states_of(dyn)[1]) if kind == "velocity" else None


@pytest.mark.parametrize("n", [3, 12])
def test_long_chains_that_are_closed(n: int) -> None:
    q = me.dynamicsymbols(f"q1:{n + 1}")
    ends = [sum(f(a) for a in q) for f in (sm.cos, sm.sin)]
    rows = [ends[0] - sm.Rational(n, 2), ends[1]] if n > 3 else [ends[1]]
    model = chain(n, relative=False, configuration_constraints=rows)
    dyn = kc.compile(model, parameters={"mass": 1.0, "inertia": -3.0})
    check(dyn, states_of(dyn), rtol=1e-10)


def test_energy_is_conserved() -> None:
    """T may be negative; T + U is constant all the same."""
    dyn = kc.compile(chain(2), parameters={"mass": 1.0, "inertia": -3.0})
    x0 = np.array([-1.3, 0.2, 0.1, -0.1])
    sol = dyn.simulate((0.0, 1.0), x0, rtol=1e-11, atol=1e-11)
    energy = [dyn.kinetic_energy(0.0, x) + 9 * _height(x) for x in (x0, sol.x[-1])]
    assert energy[1] == pytest.approx(energy[0], rel=1e-9)


def _height(x: Array) -> float:
    first, second = x[0], x[0] + x[1]
    return float(0.5 * np.sin(first) + np.sin(first) + 0.5 * np.sin(second))


def test_kinematics_that_are_implicit() -> None:
    """SymPy's test_implicit_kinematics: a body, its quaternion and speeds that are mixed; u̇ is SymPy's own solution.

    Here in the small: q̇ implicit in u by a matrix that is not symmetric, so that the definite M is mixed as well.
    """
    (x, y), (v, w) = coordinates(2)
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    place = origin.locatenew("P", x * ground.x + y * ground.y)
    model = kc.Model(
        *(ground, [x, y], [v, w], [x.diff(t) + 2 * y.diff(t) - v, 3 * y.diff(t) - x.diff(t) - w - x * v]),
        bodies=[me.Particle("P", place, sm.Integer(-2))],
        forcelist=[(place, ground.x - 3 * ground.y)],
        name="implicit",
    )
    dyn = kc.compile(model)
    check(dyn, states_of(dyn))


# ------------------------------------------------------------------------------------------- what is refused


def test_a_lost_rank_is_named() -> None:
    """Masses that cancel: M = [[1, 1], [1, 1]], or zero; the message names a speed that is lost."""
    for masses, couplings, names in (
        ([0, 0], ((0, 1, 1),), "u[01]"),
        ([1, 0], (), "u1"),
        ([0, 1], (), "u0"),
        ([-1, -1], ((0, 1, sm.Rational(1, 2)),), "u[01]"),
        ([0, 0, 1], ((0, 1, -1), (1, 2, 3)), None),
    ):
        dyn = kc.compile(lines(len(masses), masses=[sm.Integer(m) for m in masses], forces=None, couplings=couplings))
        mass = dyn.mass_matrix(0.0, np.zeros(dyn.n_x))
        if names is None or np.linalg.matrix_rank(mass) == len(mass):
            np.testing.assert_allclose(dyn.udot(0.0, np.zeros(dyn.n_x)), 0.0)
            continue
        for call in (dyn.udot, dyn.rhs, dyn.linearize):
            with pytest.raises(kc.SingularError, match=f"mass matrix.*{names}'"):
                call(0.0, np.zeros(dyn.n_x))


@pytest.mark.parametrize("n", [2, 12])
def test_a_rank_that_is_lost_at_one_set_of_parameters(n: int) -> None:
    """The last link without mass and inertia: its rate is what is lost; also in long chains."""
    dyn = kc.compile(chain(n), parameters={"mass": 0.0, "inertia": 0.0})
    state = states_of(dyn)[0]
    with pytest.raises(kc.SingularError, match=f"mass matrix.*'u{n}'"):
        dyn.udot(0.0, state)
    p = dict.fromkeys(("mass", "inertia"), -0.2)
    M, f = dyn.mass_matrix(0.0, state, p=p), dyn.forcing(0.0, state, p=p)
    np.testing.assert_allclose(dyn.udot(0.0, state, p=p), np.linalg.solve(M, f), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e9])
def test_sizes_of_masses_mean_nothing(scale: float) -> None:
    """A small inertia beside large ones, or all of them small, is no lost rank."""
    for masses in ([-scale, 2 * scale, 3 * scale], [-scale, 2.0, 3.0], [scale, -2.0, 3.0]):
        model = lines(
            3, masses=masses, forces=[scale, 2.0, 3.0], couplings=((1, 2, -1.5 * min(abs(m) for m in masses)),)
        )
        dyn = kc.compile(model)
        check(dyn, states_of(dyn))


def test_the_warning_stays() -> None:
    """It is said once, where the model is made or compiled."""
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    (x,), (u,) = coordinates(1)
    place = origin.locatenew("P", x * ground.x)
    place.set_vel(ground, u * ground.x)
    body = me.Particle("P", place, sm.Integer(-1))

    def made() -> kc.CompiledModel:
        return kc.compile(kc.Model(ground, [x], [u], [x.diff(t) - u], bodies=[body], name="one"))

    with pytest.warns(UserWarning, match="mass"):
        dyn = made()
    assert dyn.udot(0.0, [0.0, 0.0]) == 0.0
