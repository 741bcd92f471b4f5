# SPDX-License-Identifier: BSD-3-Clause
"""A mass matrix that is regular but not positive definite is solved as it is given; a lost rank is named.

Negative masses stand for buoyancy and for parts that are cut out; inertias about another point than the one that is
named are in published models.  u̇ is NumPy's solution with the model's own M and f.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, m, particle, rates
from numpy.testing import assert_array_equal
from oracle.lines import accelerations, coordinates, lines
from sweep import part

import kanecore as kc

Array = npt.NDArray[np.float64]
pytestmark = [
    pytest.mark.filterwarnings("ignore:no solid body can have"),
    pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning"),
]


def check(dyn: kc.CompiledModel, rtol: float = 1e-11, independent: int | None = None) -> None:
    """u̇, alone and in a batch, by the same equations in NumPy; the residual through `inverse_dynamics`.

    ``independent``: so many of the first rows of constraints hold the others.
    """
    states = states_of(dyn)
    for state in states:
        mass, force = dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state)
        if dyn.n_constraints:
            rows, bias = dyn.constraint_jacobian(0.0, state), dyn.constraint_bias(0.0, state)
            expected = accelerations(mass, force, rows[:independent], bias[:independent])
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


def derivatives(dyn: kc.CompiledModel) -> None:
    """`linearize` against differences, and products with vectors against it."""
    state, steps = states_of(dyn)[0], 1e-6 * np.eye(dyn.n_x)
    A = dyn.linearize(0.0, state)[0]
    found = (dyn.rhs(0.0, state + steps) - dyn.rhs(0.0, state - steps)).T / 2e-6
    np.testing.assert_allclose(A, found, rtol=0, atol=1e-6 * np.max(np.abs(A)))
    v, size = np.random.default_rng(1).uniform(-1.0, 1.0, dyn.n_x), float(np.max(np.abs(A)))
    np.testing.assert_allclose(dyn.rhs_jvp(0.0, state, v), A @ v, rtol=0, atol=1e-11 * size)
    np.testing.assert_allclose(dyn.rhs_vjp(0.0, state, v), v @ A, rtol=0, atol=1e-11 * size)


def chain(n: int, relative: bool = True, **arguments: Any) -> kc.Model:
    """A pendulum of n rods with unit lengths; the last has another mass and inertia."""
    N, joint = ground()
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    bodies, frame = [], N
    for i in range(n):
        rod = me.ReferenceFrame(f"B{i + 1}")
        rod.orient_axis(frame if relative else N, N.z, q[i])
        rod.set_ang_vel(frame if relative else N, u[i] * N.z)
        centre = joint.locatenew(f"C{i + 1}", rod.x / 2)
        mass, moment = sm.symbols("mass inertia") if i == n - 1 else (sm.Integer(1), sm.Rational(1, 12))
        bodies.append(me.RigidBody(f"rod{i + 1}", centre, rod, mass, (me.inertia(rod, 0, 0, moment), centre)))
        joint, frame = joint.locatenew(f"E{i + 1}", rod.x), rod
    loads = [(body.masscenter, -9 * N.y) for body in bodies]
    return kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads, **arguments)


def states_of(dyn: kc.CompiledModel, count: int = 4) -> Array:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (count, dyn.n_x))


# ------------------------------------------------------------------------------------------ what is computed
@pytest.mark.parametrize("masses", part([[-1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [1e-3, -1e3, 2.0]], [[-1.0, 2.0, 3.0]]))
def test_negative_masses(masses: list[float]) -> None:
    """As numbers and as parameters, in a diagonal M and in one that is filled."""
    symbols = sm.symbols("m0:3")
    for couplings in ((), ((0, 1, sm.Rational(3, 2)), (1, 2, sm.Rational(-5, 7)))):
        for given in (symbols, masses):
            model = lines(3, masses=given, forces=[1.0, 2.0, 4.0], couplings=couplings)
            values = dict(zip(symbols, masses, strict=True)) if given is symbols else {}
            dyn = kc.compile(model, parameters=values)
            check(dyn)
            derivatives(dyn)


def test_an_indefinite_matrix_whose_diagonal_vanishes() -> None:
    """M = [[0, 1], [1, 0]]: condition 1, and no pivot on the diagonal.  Also with three speeds."""
    for n, couplings in ((2, ((0, 1, 1),)), (3, ((0, 1, 1), (1, 2, 1), (0, 2, 1)))):
        masses = [-sum(1 for i, j, _ in couplings if k in (i, j)) for k in range(n)]
        dyn = kc.compile(lines(n, masses=masses, forces=[1.0, 3.0, -2.0][:n], couplings=couplings))
        assert not np.diag(dyn.mass_matrix(0.0, np.zeros(2 * n))).any()
        check(dyn)


CHAINS = [(2, True), (2, False), (5, True), (14, True), (14, False)]


@pytest.mark.parametrize(("n", "relative"), part(CHAINS, [(2, False), (5, True)]))
def test_chains_with_a_negative_last_link(n: int, relative: bool) -> None:
    """Below and above the size from which articulated bodies are used; without any mass its rate is what is lost."""
    dyn = kc.compile(chain(n, relative), parameters={"mass": 1.0, "inertia": 1.0})
    for mass, inertia in ((1.0, -0.4), (1.0, -3.0), (-0.7, 0.1), (-4.0, -1.0), (-0.2, -0.2)):
        dyn.parameters.update({"mass": mass, "inertia": inertia})
        if inertia == -3.0:
            assert min(np.linalg.eigvalsh(dyn.mass_matrix(0.0, states_of(dyn)[0]))) < 0.0
        check(dyn, rtol=1e-10)
    with pytest.raises(kc.SingularError, match=f"mass matrix.*'u{n}'"):
        dyn.udot(0.0, states_of(dyn)[0], p={"mass": 0.0, "inertia": 0.0})


def test_parameters_decide_at_each_call() -> None:
    """The same model with positive, then negative, then positive inertia; both in one batch."""
    dyn = kc.compile(chain(3), parameters={"mass": 1.0, "inertia": 0.1})
    state = states_of(dyn)[0]
    first, negative = dyn.udot(0.0, state), dyn.udot(0.0, state, p={"inertia": -3.0})
    assert dyn.parameter_names == ("inertia", "mass")
    assert_array_equal(dyn.udot(0.0, state, p=[[-3.0, 1.0], [0.1, 1.0]]), [negative, first])
    M, f = (kernel(0.0, state, p={"inertia": -3.0}) for kernel in (dyn.mass_matrix, dyn.forcing))
    np.testing.assert_allclose(negative, np.linalg.solve(M, f), rtol=1e-11)
    assert_array_equal(dyn.udot(0.0, state), first)
    ws = dyn.workspace()
    ws.x, ws.p = state, [-3.0, 1.0]
    assert_array_equal(ws.rhs()[3:], negative)


(x0, x1, x2, x3), (u0, u1, u2, _) = coordinates(4)
ROWS: dict[str, dict[str, Any]] = {
    "velocity": {"velocity_constraints": [u0 + sm.cos(x1) * u1 - u2]},
    "configuration": {"configuration_constraints": [x0**2 + x1**2 + x2 * x3 - 1]},
    "redundant": {"velocity_constraints": [u0 - u1 + u2 * x3, 2 * u0 - 2 * u1 + 2 * u2 * x3]},
}


@pytest.mark.parametrize("kind", part(ROWS, ["redundant"]))
def test_with_constraints(kind: str) -> None:
    """PᵀMP, too, may be indefinite."""
    masses, couplings = [-1.0, 2.0, -3.0, 0.5], ((1, 3, -0.7),)
    dyn = kc.compile(lines(4, masses=masses, forces=[1.0, 2.0, 3.0, 4.0], couplings=couplings, **ROWS[kind]))
    check(dyn, independent=1)
    if kind == "velocity":
        derivatives(dyn)


@pytest.mark.long
@pytest.mark.parametrize("n", [3, 12])
def test_long_chains_that_are_closed(n: int) -> None:
    q = me.dynamicsymbols(f"q1:{n + 1}")
    ends = [sum(f(a) for a in q) for f in (sm.cos, sm.sin)]
    rows = [ends[0] - sm.Rational(n, 2), ends[1]] if n > 3 else [ends[1]]
    model = chain(n, relative=False, configuration_constraints=rows)
    check(kc.compile(model, parameters={"mass": 1.0, "inertia": -3.0}), rtol=1e-10)


def test_energy_is_conserved() -> None:
    """T may be negative; T + U is constant all the same."""
    dyn = kc.compile(chain(2), parameters={"mass": 1.0, "inertia": -3.0})
    x0 = np.array([-1.3, 0.2, 0.1, -0.1])
    end = dyn.simulate((0.0, 1.0), x0, rtol=1e-11, atol=1e-11).x[-1]
    heights = [1.5 * np.sin(x[0]) + 0.5 * np.sin(x[0] + x[1]) for x in (x0, end)]
    energy = [dyn.kinetic_energy(0.0, x) + 9 * height for x, height in zip((x0, end), heights, strict=True)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-9)


def test_kinematics_that_are_implicit() -> None:
    """q̇ implicit in u by a matrix that is not symmetric, so that the definite M is mixed as well."""
    (x, y), (v, w) = coordinates(2)
    N, origin = ground()
    place = origin.locatenew("P", x * N.x + y * N.y)
    kd_eqs = [x.diff() + 2 * y.diff() - v, 3 * y.diff() - x.diff() - w - x * v]
    bodies, loads = [me.Particle("P", place, sm.Integer(-2))], [(place, N.x - 3 * N.y)]
    check(kc.compile(kc.Model(N, [x, y], [v, w], kd_eqs, bodies=bodies, forcelist=loads)))


@pytest.mark.parametrize("scale", part([1e-12, 1e-6, 1e9], [1e-12]))
def test_sizes_of_masses_mean_nothing(scale: float) -> None:
    """A small inertia beside large ones, or all of them small, is no lost rank."""
    for masses in ([-scale, 2 * scale, 3 * scale], [-scale, 2.0, 3.0], [scale, -2.0, 3.0]):
        couplings = ((1, 2, -1.5 * min(map(abs, masses))),)
        check(kc.compile(lines(3, masses=masses, forces=[scale, 2.0, 3.0], couplings=couplings)))


# ------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("masses", "couplings", "names"),
    [
        ([1, 0], (), "u1"),
        ([0, 1], (), "u0"),
        ([0, 0], ((0, 1, 1),), "u[01]"),
        ([-1, -1], ((0, 1, sm.Rational(1, 2)),), "u[01]"),
    ],
)
def test_a_lost_rank_is_named(masses: list[int], couplings: Any, names: str) -> None:
    """Masses that are zero, or cancel: M = [[1, 1], [1, 1]]; the message names a speed that is lost."""
    dyn = kc.compile(lines(2, masses=list(map(sm.Integer, masses)), couplings=couplings))
    for call in (dyn.udot, dyn.rhs, dyn.linearize):
        with pytest.raises(kc.SingularError, match=f"mass matrix.*{names}'"):
            call(0.0, np.zeros(4))


def test_the_warning_stays() -> None:
    """It is said once, where the model is made or compiled."""
    with pytest.warns(UserWarning, match="mass"):
        dyn = compiled(particle(1), {m: -1.0})
    assert dyn.udot(0.0, [0.0, 0.0]) == 0.0
