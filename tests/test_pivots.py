# SPDX-License-Identifier: BSD-3-Clause
"""Which speeds depend on which is decided by numbers, anew at every state, with any parameters.

What is eliminated beforehand may not lose digits: a pivot that is large beside its row at some numbers is small at
others.  Answers are compared with the same equations in 50 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.lines import DIGITS, accelerations, coordinates, lines
from sweep import every, part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

(x0, x1, x2), (u0, u1, u2) = coordinates(3)
p, s = sm.symbols("p s")
FORCES = [0.37, -1.21, 2.13]
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
def test_a_parameter_may_take_any_size(name: str, u_dependent: Sequence[int]) -> None:
    """As velocity constraints."""
    dependent = u_dependent if len(ROWS[name]) == 1 else u_dependent and [0, 2]
    model = lines(3, forces=FORCES, velocity_constraints=ROWS[name], u_dependent=dependent)
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
    for value in VALUES:
        if "square" in name and abs(value) > 1e6:
            continue
        state = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
        check(dyn, state, value, p={"p": value})


@pytest.mark.parametrize("value", [1e6, 1e7, 1e12])
def test_parameters_that_are_baked_in_give_the_same(value: float) -> None:
    model = lines(3, forces=FORCES, velocity_constraints=ROWS["as in the issue"])
    baked = kc.compile(model, parameters={p: value}, bake=True)
    free = kc.compile(model, parameters={p: 1.0})
    state = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
    check(baked, state, value)
    found, other = baked.udot(0.0, state), free.udot(0.0, state, p=[value])
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-13 * np.max(np.abs(other)))
    by_hand = -np.array([1.0, value, value]) * np.dot([1.0, value, value], FORCES) / (1.0 + 2.0 * value**2) + FORCES
    np.testing.assert_allclose(other, by_hand, rtol=0, atol=1e-13 * np.max(np.abs(by_hand)))


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
        state = np.array([0.0, 0.2, 0.3, 0.7, 0.0, 0.0])
        if p in model.parameters:
            state[3:] = 0.0
            check(dyn, state, value, p={"p": value})
            continue
        place = np.log(abs(value)) if name == "exponential" else value
        state[1 if "other" in name else 0] = place
        state[3] = 0.0
        check(dyn, state, value)


def test_a_run_with_a_large_parameter() -> None:
    """Linear in time: every method and every step keeps the digits."""
    model = lines(3, forces=FORCES, velocity_constraints=ROWS["as in the issue"])
    dyn = kc.compile(model, parameters={p: 1e8})
    rows = np.array([1.0, 1e8, 1e8])
    a = FORCES - rows * (rows @ FORCES) / (rows @ rows)
    for options in ({}, {"project": False}, {"method": "rk4", "dt": 0.1}):
        sol = dyn.simulate((0.0, 1.0), np.zeros(6), **options)  # type: ignore[arg-type]
        np.testing.assert_allclose(sol.x[-1], [*(a / 2), *a], rtol=0, atol=1e-11)


# ------------------------------------------------------------------------------------- kinematical equations


@pytest.mark.parametrize("names", ["u as given", "exchanged", "three"])
def test_rates_of_coordinates(names: str) -> None:
    """q̇ by kd_eqs with a parameter that is large, small or one."""
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    (x, y), (v, w) = coordinates(2)
    x_d, y_d = x.diff(t), y.diff(t)
    kd_eqs = {
        "u as given": [x_d + p * y_d - v, p * x_d - y_d - w],
        "exchanged": [y_d + p * x_d - v, y_d - p * x_d - p * w],
        "three": [x_d + p * y_d + s * v - w, x_d - (p + s) * y_d - v],
    }[names]
    place = origin.locatenew("P", x * ground.x + y * ground.y)
    model = kc.Model(ground, [x, y], [v, w], kd_eqs, bodies=[me.Particle("P", place, sm.Integer(1))], name="kinds")
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
    for value in VALUES:
        if abs(value) > 1e9 or abs(value) < 1e-9:
            continue  # q̇ itself, a quotient of determinants, is as large as it gets
        state = np.array([0.3, -0.4, 0.7, 0.9])
        found = dyn.qdot(0.0, state, p={"p": value})
        with mpmath.workdps(DIGITS):
            symbols = {p: sm.Float(value, DIGITS), s: 1, v: sm.Float(0.7, DIGITS), w: sm.Float(0.9, DIGITS)}
            rates = sm.Matrix(kd_eqs)
            coefficients = rates.jacobian([x_d, y_d]).subs(symbols)
            rest = rates.subs({x_d: 0, y_d: 0}).subs(symbols)
            solution = coefficients.LUsolve(-rest)
            expected = np.array([float(e) for e in solution])
        np.testing.assert_allclose(
            found, expected, rtol=1e-13, atol=1e-14 * np.max(np.abs(expected)), err_msg=str(value)
        )


# ---------------------------------------------------------------------------------------------- closed chains


def chain(n: int, kind: str) -> kc.Model:
    """Rods of unit length and mass in a plane, closed at the end by two rows.

    ``absolute``, ``relative``: angles from n_x or from the rod before.  ``rates``: relative angles, with speeds ω_i of
    the rods beside those of the joints, ω_i − ω_{i−1} − ν_i = 0.  ``body``: the same with (v_x, v_y, ω) of each rod in
    its own axes, joined by rows with unit columns.  ``joints``: the
    same as ``rates`` with absolute angles.  ``carried``: absolute angles, and every fifth joint carries a
    particle with coordinates of its own: unit columns beside lengths.
    """
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    q = me.dynamicsymbols(f"q1:{n + 1}")
    g, length = sm.symbols("g l")
    joint_rates = me.dynamicsymbols(f"nu1:{n + 1}")
    omega = me.dynamicsymbols(f"omega1:{n + 1}") if kind in ("rates", "body", "joints") else None
    vx, vy = me.dynamicsymbols(f"vx1:{n + 1}"), me.dynamicsymbols(f"vy1:{n + 1}")
    absolute = kind in ("absolute", "carried", "joints")
    bodies, loads, rows, places, rates, holds = [], [], [], [], [], []
    joint, before, held, joints = origin, ground, origin, [origin]
    end_velocity = me.Vector(0)
    for i in range(n):
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(ground if absolute else before, ground.z, q[i])
        if omega is None:
            frame.set_ang_vel(ground if absolute else before, joint_rates[i] * ground.z)
            spin = None
        else:
            frame.set_ang_vel(ground, omega[i] * ground.z)
            spin = omega[i] * ground.z
            rows.append(omega[i] - (omega[i - 1] if i else 0) - joint_rates[i])
        centre = joint.locatenew(f"C{i}", length / 2 * frame.x)
        if kind == "body":
            velocity = vx[i] * frame.x + vy[i] * frame.y
            start = velocity + spin.cross(-length / 2 * frame.x)
            rows += [(start - end_velocity).dot(e) for e in (frame.x, frame.y)]
            centre.set_vel(ground, velocity)
            end_velocity = velocity + spin.cross(length / 2 * frame.x)
        inertia = me.inertia(frame, 0, 0, length**2 / 12)
        bodies.append(me.RigidBody(f"rod{i}", centre, frame, sm.Integer(1), (inertia, centre)))
        loads.append((centre, -g * ground.y))
        joint, before = joint.locatenew(f"E{i}", length * frame.x), frame
        if kind == "carried" and i % 5 == 4:
            (x, y), (v, w) = me.dynamicsymbols(f"X{i} Y{i}"), me.dynamicsymbols(f"U{i} W{i}")
            places, rates = [*places, x, y], [*rates, v, w]
            carried = origin.locatenew(f"Q{i}", x * ground.x + y * ground.y)
            carried.set_vel(ground, v * ground.x + w * ground.y)
            bodies.append(me.Particle(f"bob{i}", carried, sm.Rational(3, 2)))
            apart = carried.pos_from(held) - joint.pos_from(joints[-1])
            holds += [apart.dot(ground.x), apart.dot(ground.y)]
            held = carried
            joints.append(joint)
    if places:
        joint = held
    gap = joint.pos_from(origin) - sm.Rational(3 * n, 5) * length * ground.x
    speeds = list(joint_rates)
    if omega is not None:
        speeds += (
            [*omega]
            if kind in ("rates", "joints")
            else [e for triple in zip(vx, vy, omega, strict=True) for e in triple]
        )
    return kc.Model(
        ground,
        [*q, *places],
        [*speeds, *rates],
        [
            q_i.diff(t) - u_i
            for q_i, u_i in zip([*q, *places], [*(omega if absolute and omega else joint_rates), *rates], strict=True)
        ],
        configuration_constraints=[*holds, gap.dot(ground.x), gap.dot(ground.y)],
        velocity_constraints=rows or None,
        bodies=bodies,
        forcelist=loads,
        name=f"chain of {n}, {kind}",
    )


@cache
def closed(n: int, kind: str) -> kc.CompiledModel:
    return kc.compile(chain(n, kind), parameters={"g": 9.81, "l": 1.0})


CHAINS = [
    *((30, "absolute", 1.0), (15, "joints", 155.0), (15, "carried", 155.0), (8, "relative", 1.0)),
    *((n, kind, length) for n, kind in ((6, "rates"), (3, "body")) for length in (1.0, 155.0)),
]


def start(dyn: kc.CompiledModel, n: int, kind: str, given: dict[str, Any], seed: int) -> Array:
    """A bent chain, closed by steps of least norm; speeds that are random but for what the rows take."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(1.2, -1.2, n) + 0.4 * rng.uniform(-1.0, 1.0, n)
    for _ in range(50):
        gap = [np.sum(np.cos(angles)) - 0.6 * n, np.sum(np.sin(angles))]
        angles -= np.linalg.pinv([-np.sin(angles), np.cos(angles)]) @ gap
    joints = given["l"] * np.cumsum([np.cos(angles), np.sin(angles)], axis=1)
    places = joints[:, 4::5].T.ravel() if kind == "carried" else np.zeros(0)
    if kind not in ("absolute", "carried", "joints"):
        angles = np.diff(angles, prepend=0.0)
    state = np.concatenate([angles, places, np.zeros(dyn.n_u)])
    speeds = rng.uniform(-2.0, 2.0, dyn.n_u)
    rows = dyn.constraint_jacobian(0.0, state, p=given)
    rows /= np.max(np.abs(rows), axis=1)[:, np.newaxis]
    state[dyn.n_q :] = speeds - np.linalg.pinv(rows) @ (rows @ speeds)
    return state


@pytest.mark.parametrize(("n", "kind", "length"), part(CHAINS, CHAINS[3::3]))
def test_closed_chains(n: int, kind: str, length: float) -> None:
    """u̇ by a dense solution in 50 digits of the same M, f, G, γ; no worse than the numbers themselves allow.

    Entries of M, f, G and γ are known to rounding of the sums they are; a backward stable solution is off by the
    condition of the equations, in rows and columns of equal size, times that.
    """
    dyn = closed(n, kind)
    for seed in range(3):
        given: dict[str, Any] = {"p": {"l": length, "g": 9.81 * length}}
        state = start(dyn, n, kind, given["p"], seed)
        mass, force = dyn.mass_matrix(0.0, state, **given), dyn.forcing(0.0, state, **given)
        rows, bias = dyn.constraint_jacobian(0.0, state, **given), dyn.constraint_bias(0.0, state, **given)
        found, exact = dyn.udot(0.0, state, **given), accelerations(mass, force, rows, bias)
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

    Nine rows u_i + a cos(x_i) u_{i+1} = 0, whose unit pivots, one after the other, multiply to offset⁹.
    """
    n = 10
    x, u = coordinates(n)
    a = sm.Symbol("a")
    rows = [u[i] + a * sm.cos(x[i]) * u[i + 1] for i in range(n - 1)]
    for constant in (False, True):
        given = [row.subs(a, offset) if constant else row for row in rows]
        model = lines(n, forces=[0.3 * i - 1 for i in range(n)], velocity_constraints=given)
        dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 1.0))
        rng = np.random.default_rng(0)
        for _ in range(5):
            state = np.concatenate([rng.uniform(-1.0, 1.0, n), np.zeros(n)])
            check(dyn, state, offset, rtol=1e-12, **({} if constant else {"p": [offset]}))
            state[:n] *= 1e-3  # pivots on a cos(x) are good at states where they are large
            state[0] = np.pi / 2  # u_0 = 0, by the unit
            check(dyn, state, offset, rtol=1e-12, **({} if constant else {"p": [offset]}))


@pytest.mark.parametrize("pivot", [lambda x: sm.cos(x), lambda x: 1 + sm.cos(x), lambda x: sm.sin(x) ** 2 + x])
def test_pivots_that_vanish_along_the_motion(pivot: Callable[[Any], Any]) -> None:
    """Large at a random state, small or nothing at others, beside a constant unit in the same row or another."""
    x, u = coordinates(3)
    filed = [pivot(x[0]) * u[0] + u[1] + 50 * sm.sin(x[1]) * u[2]]
    dyn = kc.compile(lines(3, forces=FORCES, velocity_constraints=filed), parameters={})
    for first in (0.0, 1e-9, np.pi / 2, np.pi, np.pi - 1e-7, 1.3):
        for second in (0.0, 1e-8, 0.9, np.pi):
            check(dyn, np.array([first, second, 0.2, 0.0, 0.0, 0.0]), first, rtol=1e-12)
