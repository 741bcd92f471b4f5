# SPDX-License-Identifier: BSD-3-Clause
"""Which speeds depend on which is decided by numbers, anew at every state, with any parameters.

What is eliminated beforehand may not lose digits: a pivot that is large beside its row at some numbers is small at
others.  Answers are compared with the same equations in 50 digits.
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import g, ground, l, rates
from oracle.lines import DIGITS, accelerations, coordinates, lines
from sweep import every, part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

(x0, x1, x2), (u0, u1, u2) = coordinates(3)
p, s = sm.symbols("p s")
FORCES = [0.37, -1.21, 2.13]
PLACE = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
VALUES = (1.0, 1e3, 1e6, 1e7, 1e9, 1e12, -1e8, 1e-6, 1e-12)


# -------------------------------------------------------------------------------- rows with a parameter in them
def check(dyn: kc.CompiledModel, state: Array, value: float, rtol: float = 1e-13, **given: Any) -> None:
    """u̇ and λ at a state against M, f, G and γ as they are, each exact to rounding here."""
    found = dyn.udot(0.0, state, **given)
    mass, force = dyn.mass_matrix(0.0, state, **given), dyn.forcing(0.0, state, **given)
    rows, bias = dyn.constraint_jacobian(0.0, state, **given), dyn.constraint_bias(0.0, state, **given)
    expected = accelerations(mass, force, rows, bias)
    size = np.max(np.abs(expected))
    assert np.max(np.abs(found - expected)) <= rtol * size, (value, (found - expected) / size)
    np.testing.assert_array_equal(dyn.rhs(0.0, state, **given)[dyn.n_q :], found)
    push = mass @ found - force - rows.T @ dyn.multipliers(0.0, state, **given)
    assert np.max(np.abs(push)) <= 100 * rtol * np.max(np.abs(np.append(force, mass @ found))), (value, push)


#: Rows in u0, u1, u2 and p: where p is large the first unit pivot is small beside its row.
ROWS: dict[str, list[Any]] = {
    "as in the issue": [u0 + p * u1 + p * u2],
    "one large": [u0 + p * u1 + u2],
    "square": [u0 + p**2 * u1 - p**2 * u2],
    "small one first": [u0 / p + u1 + u2],
    "two rows": [u0 + p * u1 + p * u2, u1 - u2],
    "two rows crossed": [u0 + p * u1 + u2, p * u0 + u1 - u2],
    "sum of parameters": [u0 + (p - s) * u1 + (p + s) * u2],
}


@pytest.mark.parametrize("u_dependent", every(3, [[], [0], [2]], first=1))
@pytest.mark.parametrize("name", ROWS)
def test_a_parameter_may_take_any_size(name: str, u_dependent: list[int]) -> None:
    """As velocity constraints."""
    dependent = u_dependent if len(ROWS[name]) == 1 else u_dependent and [0, 2]
    model = lines(3, forces=FORCES, velocity_constraints=ROWS[name], u_dependent=dependent)
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
    for value in VALUES:
        if name != "square" or abs(value) <= 1e6:
            check(dyn, PLACE, value, p={"p": value})


def test_parameters_that_are_baked_in_give_the_same() -> None:
    """Here by hand as well, and in runs: linear in time, so that every method and every step keeps the digits."""
    model = lines(3, forces=FORCES, velocity_constraints=ROWS["as in the issue"])
    free = kc.compile(model, parameters={p: 1.0})
    for value in (1e6, 1e8, 1e12):
        row = np.array([1.0, value, value])
        expected = FORCES - row * (row @ FORCES) / (row @ row)
        tolerance = 1e-13 * np.max(np.abs(expected))
        baked = kc.compile(model, parameters={p: value}, bake=True)
        check(baked, PLACE, value)
        for found in (baked.udot(0.0, PLACE), free.udot(0.0, PLACE, p=[value])):
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
        for options in ({}, {"project": False}, {"method": "rk4", "dt": 0.1}):
            sol = baked.simulate((0.0, 1.0), np.zeros(6), **options)  # type: ignore[arg-type]
            np.testing.assert_allclose(sol.x[-1], [*(expected / 2), *expected], rtol=0, atol=1e-11)


#: The same with a coordinate in the place of p, and as configuration constraints.
PLACES: dict[str, dict[str, Any]] = {
    "coordinate": {"velocity_constraints": [u0 + x0 * u1 + x0 * u2]},
    "coordinate, other speeds": {"velocity_constraints": [u0 + x1 * u1 - x1 * u2]},
    "exponential": {"velocity_constraints": [u0 + sm.exp(x0) * u1 + u2]},
    "configuration": {"configuration_constraints": [x0 + p * x1 + p * x2]},
    "configuration, bent": {"configuration_constraints": [x0 + p * (x1 + x2**2)]},
    "acceleration": {"acceleration_constraints": [u0.diff(t) + p * u1.diff(t) + p * u2.diff(t) - p * u0]},
}


@pytest.mark.parametrize("name", every(2, PLACES))
def test_a_coordinate_may_take_any_size(name: str) -> None:
    model = lines(3, forces=FORCES, **PLACES[name])
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
    for value in VALUES:
        state, given = PLACE.copy(), {"p": {"p": value}} if p in model.parameters else {}
        if not given:
            state[1 if "other" in name else 0] = np.log(abs(value)) if name == "exponential" else value
        check(dyn, state, value, **given)


# ------------------------------------------------------------------------------------- kinematical equations
@pytest.mark.parametrize("names", ["u as given", "exchanged", "three"])
def test_rates_of_coordinates(names: str) -> None:
    """q̇ by kd_eqs with a parameter that is large, small or one; q̇ itself, a quotient of determinants, may be large."""
    (x, y), (v, w), (N, origin) = *coordinates(2), ground()
    x_d, y_d = x.diff(t), y.diff(t)
    kd_eqs = {
        "u as given": [x_d + p * y_d - v, p * x_d - y_d - w],
        "exchanged": [y_d + p * x_d - v, y_d - p * x_d - p * w],
        "three": [x_d + p * y_d + s * v - w, x_d - (p + s) * y_d - v],
    }[names]
    place = origin.locatenew("P", x * N.x + y * N.y)
    model = kc.Model(N, [x, y], [v, w], kd_eqs, bodies=[me.Particle("P", place, sm.Integer(1))])
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
    for value in VALUES:
        if not 1e-9 < abs(value) <= 1e9:
            continue
        found = dyn.qdot(0.0, [0.3, -0.4, 0.7, 0.9], p={"p": value})
        with mpmath.workdps(DIGITS):
            symbols = {p: sm.Float(value, DIGITS), s: 1, v: sm.Float(0.7, DIGITS), w: sm.Float(0.9, DIGITS)}
            coefficients = sm.Matrix(kd_eqs).jacobian([x_d, y_d]).subs(symbols)
            rest = sm.Matrix(kd_eqs).subs({x_d: 0, y_d: 0}).subs(symbols)
            expected = np.array([float(e) for e in coefficients.LUsolve(-rest)])
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14 * np.max(np.abs(expected)))


# ---------------------------------------------------------------------------------------------- closed chains
def chain(n: int, kind: str) -> kc.Model:
    """Rods of length l and unit mass in a plane, closed at the end by two rows.

    ``absolute``, ``relative``: angles from n_x or from the rod before.  ``rates``: relative angles, with speeds ω_i of
    the rods beside those of the joints, ω_i − ω_{i−1} − ν_i = 0.  ``body``: the same with (v_x, v_y, ω) of each rod in
    its own axes, joined by rows with unit columns.
    """
    N, origin = ground()
    q, nu = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"nu1:{n + 1}")
    omega, vx, vy = (me.dynamicsymbols(f"{name}1:{n + 1}") for name in ("omega", "vx", "vy"))
    joint, before, end_velocity = origin, N, me.Vector(0)
    bodies, rows, speeds = [], [], []
    for i in range(n):
        frame, parent = me.ReferenceFrame(f"A{i}"), N if kind == "absolute" else before
        frame.orient_axis(parent, N.z, q[i])
        centre = joint.locatenew(f"C{i}", l / 2 * frame.x)
        if kind in ("absolute", "relative"):
            frame.set_ang_vel(parent, nu[i] * N.z)
        else:
            frame.set_ang_vel(N, omega[i] * N.z)
            rows.append(omega[i] - (omega[i - 1] if i else 0) - nu[i])
            speeds += [vx[i], vy[i], omega[i]] if kind == "body" else [omega[i]]
        if kind == "body":
            velocity, half = vx[i] * frame.x + vy[i] * frame.y, omega[i] * l / 2 * frame.y
            centre.set_vel(N, velocity)
            rows += [(velocity - half - end_velocity).dot(e) for e in (frame.x, frame.y)]
            end_velocity = velocity + half
        bodies.append(
            me.RigidBody(f"rod{i}", centre, frame, sm.Integer(1), (me.inertia(frame, 0, 0, l**2 / 12), centre))
        )
        joint, before = joint.locatenew(f"E{i}", l * frame.x), frame
    gap = joint.pos_from(origin) - sm.Rational(3 * n, 5) * l * N.x
    return kc.Model(
        *(N, q, [*nu, *speeds], rates(q, nu)),
        configuration_constraints=[gap.dot(N.x), gap.dot(N.y)],
        velocity_constraints=rows or None,
        bodies=bodies,
        forcelist=[(body.masscenter, -g * N.y) for body in bodies],
        name=f"chain of {n}, {kind}",
    )


CHAINS = [
    (n, kind, length)
    for n, kind in ((30, "absolute"), (8, "relative"), (6, "rates"), (3, "body"))
    for length in (1.0, 155.0)
]


def start(dyn: kc.CompiledModel, n: int, kind: str, length: float, seed: int) -> Array:
    """A bent chain, closed by steps of least norm; speeds that are random but for what the rows take."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(1.2, -1.2, n) + 0.4 * rng.uniform(-1.0, 1.0, n)
    for _ in range(50):
        gap = [np.sum(np.cos(angles)) - 0.6 * n, np.sum(np.sin(angles))]
        angles -= np.linalg.pinv([-np.sin(angles), np.cos(angles)]) @ gap
    if kind != "absolute":
        angles = np.diff(angles, prepend=0.0)
    state, speeds = np.append(angles, np.zeros(dyn.n_u)), rng.uniform(-2.0, 2.0, dyn.n_u)
    rows = dyn.constraint_jacobian(0.0, state, p={"l": length})
    rows /= np.max(np.abs(rows), axis=1)[:, np.newaxis]
    state[n:] = speeds - np.linalg.pinv(rows) @ (rows @ speeds)
    return state


@pytest.mark.parametrize(("n", "kind", "length"), part(CHAINS, [(3, "body", 155.0)]))
def test_closed_chains(n: int, kind: str, length: float) -> None:
    """u̇ by a dense solution in 50 digits of the same M, f, G, γ; no worse than the numbers themselves allow.

    Entries of M, f, G and γ are known to rounding of the sums they are; a backward stable solution is off by the
    condition of the equations, in rows and columns of equal size, times that.
    """
    dyn = kc.compile(chain(n, kind), parameters={"g": 9.81 * length, "l": length})
    for seed in range(3 if sweep.LONG else 1):
        state = start(dyn, n, kind, length, seed)
        mass, force = dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state)
        rows, bias = dyn.constraint_jacobian(0.0, state), dyn.constraint_bias(0.0, state)
        found, exact = dyn.udot(0.0, state), accelerations(mass, force, rows, bias)
        size = np.sqrt(np.diag(mass) + 1e-3 * np.max(np.diag(mass)))  # speeds of several units
        error = np.max(np.abs(found - exact) * size) / np.max(np.abs(exact) * size)
        limit = max(1e-12, 2e-16 * n * dense_condition(mass, rows))
        assert error <= limit, (error, limit)


def dense_condition(mass: Array, rows: Array) -> float:
    """Of [M −Gᵀ; G 0] in the metric of the diagonal of M."""
    d = np.sqrt(np.diag(mass) + (np.diag(mass) == 0.0))
    scaled = rows / d
    scaled /= np.linalg.norm(scaled, axis=1)[:, np.newaxis]
    zero = np.zeros((len(rows), len(rows)))
    return float(np.linalg.cond(np.block([[mass / np.outer(d, d), -scaled.T], [scaled, zero]])))


@pytest.mark.parametrize("offset", part([100.0, 155.0, 1e4, 1e8], [155.0]))
def test_unit_columns_beside_large_entries(offset: float) -> None:
    """Rows that were solved for unit columns u_i beside entries of `offset` must pivot on these instead.

    Six rows u_i + a cos(x_i) u_{i+1} = 0, whose unit pivots, one after the other, multiply to offset⁶.
    """
    n, a, rng = 7, sm.Symbol("a"), np.random.default_rng(0)
    x, u = coordinates(n)
    for entry, given in ((a, {"p": [offset]}), (offset, {})):
        rows = [u[i] + entry * sm.cos(x[i]) * u[i + 1] for i in range(n - 1)]
        model = lines(n, forces=[0.3 * i - 1 for i in range(n)], velocity_constraints=rows)
        dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
        for _ in range(3):
            state = np.append(rng.uniform(-1.0, 1.0, n), np.zeros(n))
            check(dyn, state, offset, rtol=1e-12, **given)
            state[:n] *= 1e-3  # pivots on a cos(x) are good at states where they are large
            state[0] = np.pi / 2  # u_0 = 0, by the unit
            check(dyn, state, offset, rtol=1e-12, **given)


@pytest.mark.parametrize("pivot", [lambda x: sm.cos(x), lambda x: 1 + sm.cos(x), lambda x: sm.sin(x) ** 2 + x])
def test_pivots_that_vanish_along_the_motion(pivot: Callable[[Any], Any]) -> None:
    """Large at a random state, small or nothing at others, beside a constant unit in the same row or another."""
    row = pivot(x0) * u0 + u1 + 50 * sm.sin(x1) * u2
    dyn = kc.compile(lines(3, forces=FORCES, velocity_constraints=[row]))
    for first in (0.0, 1e-9, np.pi / 2, np.pi, np.pi - 1e-7, 1.3):
        for second in (0.0, 1e-8, 0.9, np.pi):
            check(dyn, np.array([first, second, 0.2, 0.0, 0.0, 0.0]), first, rtol=1e-12)
