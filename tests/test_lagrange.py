# SPDX-License-Identifier: BSD-3-Clause
"""Lagrange's equations: kanecore.Model.from_lagrangian, the residual of all equations, constraint forces row by row.

Against Kane's method on random mechanisms, closed forms, and every LagrangesMethod of SymPy's own tests.
"""

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
import sympy.physics.mechanics.tests
from mechanisms import ground
from oracle.on_graph import OnGraph
from oracle.random_holonomic import random_holonomic
from sweep import every

import kanecore as kc

t = me.dynamicsymbols._t
m, g, length, c, k = sm.symbols("m g l c k", positive=True)
x, y, z, theta, phi, psi, r = me.dynamicsymbols("x y z theta phi psi r")
N = me.ReferenceFrame("N")
FREE = m * (x.diff() ** 2 + y.diff() ** 2) / 2


def compiled(model: kc.Model, **parameters: float) -> kc.CompiledModel:
    return kc.compile(model, parameters=parameters)


def wire(**options: Any) -> kc.Model:
    """A particle on a circle, in Cartesian coordinates."""
    return kc.Model.from_lagrangian(
        *(FREE - m * g * y, [x, y]),
        holonomic_constraints={"wire": x**2 + y**2 - length**2},
        guess={x: 0.3, y: -0.9},
        **options,
    )


def place(position: Any) -> Any:
    """A point there from a fixed one."""
    origin = me.Point("O")
    origin.set_vel(N, 0)
    return origin.locatenew("P", position)


# ------------------------------------------------------------------------------------------------------ against Kane
@pytest.mark.parametrize("seed", every(100, range(100)))
def test_random_mechanisms_have_the_accelerations_of_kane(seed: int) -> None:
    mechanism = random_holonomic(seed)
    n, rng = len(mechanism.q), np.random.default_rng(seed)
    both = [OnGraph(model, {}) for model in (mechanism.lagrange(), mechanism.kane())]
    for _ in range(2):
        at = rng.uniform(0.0, 1.0), rng.uniform(-1.0, 1.0, 2 * n)
        udot, close = rng.uniform(-1.0, 1.0, n), {"rtol": 1e-10, "atol": 1e-10}
        np.testing.assert_allclose(*(each.udot(*at, r={}) for each in both), **close)
        np.testing.assert_allclose(*(each.mass_matrix(*at, r={}) for each in both), atol=1e-11)
        residuals = [each.inverse_dynamics(*at, udot, r={}) for each in both]
        np.testing.assert_allclose(*residuals, **close)
        forces, moved = both[0].coordinate_forces(*at, r={}), both[0].generalized_inertia_forces(*at, udot, r={})
        # rheonomic: what T has at rest counts as potential; else F and F* are Kane's one by one
        np.testing.assert_allclose(forces + moved, -residuals[0], **close)


# ------------------------------------------------------------------------------------------------------ closed forms
def test_spherical_pendulum() -> None:
    L = m * length**2 / 2 * (theta.diff() ** 2 + phi.diff() ** 2 * sm.sin(theta) ** 2) + m * g * length * sm.cos(theta)
    model = kc.Model.from_lagrangian(L, [theta, phi], name="spherical")
    assert [str(u) for u in model.speeds] == ["theta_d(t)", "phi_d(t)"]
    dyn, (th, w, v) = compiled(model, m=2.0, l=0.5, g=9.81), (0.7, 0.3, 1.4)
    state = [th, 0.2, w, v]
    expected = [v**2 * np.sin(th) * np.cos(th) - 9.81 / 0.5 * np.sin(th), -2 * w * v / np.tan(th)]
    np.testing.assert_allclose(dyn.udot(0.0, state), expected, rtol=1e-14)
    np.testing.assert_allclose(dyn.potential_energy(0.0, state), -2 * 9.81 * 0.5 * np.cos(th))
    np.testing.assert_allclose(dyn.kinetic_energy(0.0, state), 0.25 * (w**2 + (v * np.sin(th)) ** 2))
    assert dyn.qdot_is_u


def hoop() -> kc.Model:
    """A bead on a hoop that turns about the vertical as ``turn`` says, an input."""
    turn = me.dynamicsymbols("turn")
    T = m * length**2 / 2 * (theta.diff() ** 2 + sm.sin(theta) ** 2 * turn.diff() ** 2)
    return kc.Model.from_lagrangian(T + m * g * length * sm.cos(theta), [theta], name="hoop")


def test_bead_on_a_rotating_hoop() -> None:
    """θ̈ = sin θ (ω² cos θ − g/l); T + U is Jacobi's function, which is conserved, and not the energy."""
    w = 6.0
    dyn = compiled(hoop(), m=0.4, l=0.7, g=9.81)
    assert dyn.input_names == ("turn", "turn_d")
    state, inputs = np.array([0.9, 0.5]), [0.1, w]
    expected = np.sin(0.9) * (w**2 * np.cos(0.9) - 9.81 / 0.7)
    np.testing.assert_allclose(dyn.udot(0.0, state, r=inputs), [expected], rtol=1e-14)
    h = dyn.kinetic_energy(0.0, state, r=inputs) + dyn.potential_energy(0.0, state, r=inputs)
    by_hand = 0.4 * 0.49 / 2 * (0.25 - (np.sin(0.9) * w) ** 2) - 0.4 * 9.81 * 0.7 * np.cos(0.9)
    np.testing.assert_allclose(h, by_hand, rtol=1e-13)
    assert dyn.power(0.0, state, dyn.udot(0.0, state, r=inputs), r=inputs) == pytest.approx(0.0, abs=1e-12)


def test_energy_drift_of_driven_systems() -> None:
    """The power holds what inputs, drives, forces and time do to Jacobi's function."""
    turn = kc.Signal([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 4.0], kind="cubic")
    exact: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
    dyn = compiled(hoop(), m=0.4, l=0.7, g=9.81)
    assert dyn.simulate((0.0, 3.0), [0.9, 0.5], inputs={"turn": turn}, **exact).energy_drift < 1e-7
    point, F = place(x * N.x + y * N.y), me.dynamicsymbols("F")
    loads = [(point, F * N.x - c * (x.diff() * N.x + y.diff() * N.y))]
    L = FREE - k * (x - sm.sin(t)) ** 2 / 2 - m * g * y
    for constraints in ({}, {"blade": x.diff() * sm.sin(t) - y.diff() * sm.cos(t) + sm.cos(3 * t)}):
        model = kc.Model.from_lagrangian(L, [x, y], forcelist=loads, frame=N, nonholonomic_constraints=constraints)
        driven = compiled(model, m=1.2, k=3.0, g=9.81, c=0.3)
        start = driven.consistent(0.0, [0.3, 0.1, 0.4, -0.2], None)
        assert driven.simulate((0.0, 4.0), start, inputs={"F": 0.8}, **exact).energy_drift < 1e-7


def test_relativistic_particle() -> None:
    """L = −m c² √(1 − v²/c²) − m g y: p = γ m v grows by the force; T has no parts of degree two, one and zero."""
    L = -m * c**2 * sm.sqrt(1 - (x.diff() ** 2 + y.diff() ** 2) / c**2) - m * g * y
    model = kc.Model.from_lagrangian(L, [x, y])
    at_rest = dict.fromkeys([*model.speeds, y], 0)
    assert model.symbolic("hamiltonian", nested=True).subs(at_rest) == m * c**2
    with pytest.raises(kc.ModelError, match="not of degree two in the speeds"):
        model.symbolic("kinetic_energy_parts")
    dyn, start = compiled(model, m=1.5, c=2.0, g=3.0), np.array([0.0, 0.0, 1.2, 0.4])
    run = dyn.simulate((0.0, 2.0), start, rtol=1e-11, atol=1e-11)
    momenta = [1.5 * v / np.sqrt(1 - v @ v / 4.0) for v in (run.x[0, 2:], run.x[-1, 2:])]
    np.testing.assert_allclose(momenta[1] - momenta[0], [0.0, -1.5 * 3.0 * 2.0], atol=1e-9)
    assert run.energy_drift < 1e-9
    energy = dyn.kinetic_energy(0.0, start) + dyn.potential_energy(0.0, start)
    np.testing.assert_allclose(energy, 1.5 * 4.0 / np.sqrt(1 - 1.6 / 4.0), rtol=1e-13)


def test_singular_where_no_rate_is_squared() -> None:
    dyn = compiled(kc.Model.from_lagrangian(FREE + z.diff() * x, [x, y, z]), m=1.0)
    with pytest.raises(kc.SingularError):
        dyn.udot(0.0, np.ones(6))
    indefinite = compiled(kc.Model.from_lagrangian(m * x.diff() * y.diff() - k * x * y, [x, y]), m=2.0, k=3.0)
    np.testing.assert_allclose(indefinite.udot(0.0, [1.0, 2.0, 0.0, 0.0]), [-1.5, -3.0])


# ------------------------------------------------------------------------------------------------------ constraints
def test_wire_by_a_multiplier() -> None:
    """Seeds 002: N_r = −m (R θ̇² + g cos θ), of φ = r − R; here λ ∂φ/∂q is the force of the wire."""
    dyn = compiled(wire(outputs={"tension": kc.multiplier(0)}), m=2.0, g=9.81, l=0.5)
    th, w = 0.8, 1.7
    state = 0.5 * np.array([np.sin(th), -np.cos(th), w * np.cos(th), w * np.sin(th)])
    force = -2.0 * (0.5 * w**2 + 9.81 * np.cos(th))
    radial = np.array([np.sin(th), -np.cos(th)])
    np.testing.assert_allclose(dyn.constraint_forces(0.0, state), [force * radial], rtol=1e-12)
    np.testing.assert_allclose(dyn.outputs(0.0, state), dyn.multipliers(0.0, state), rtol=1e-14)
    assert dyn.constraint_names == ("wire",)
    run = dyn.simulate((0.0, 5.0), state, rtol=1e-10, atol=1e-10)
    assert run.constraint_drift < 1e-12
    assert run.energy_drift < 1e-7
    assert dyn.check().dof == 1
    A, _ = dyn.linearize(0.0, [0.0, -0.5, 0.0, 0.0])
    frequencies = np.linalg.eigvals(A).imag
    np.testing.assert_allclose([min(frequencies), max(frequencies)], [-np.sqrt(19.62), np.sqrt(19.62)], rtol=1e-9)


def test_wire_by_liberation() -> None:
    """Seeds 002 in q = (r, θ, z): N_r = −m (R θ̇² + g cos θ), N_z = 0, as multipliers and as forces of a freed wire."""
    values, (th, w) = {"m": 2.0, "g": 9.81}, (0.8, 1.7)
    L = m * (r.diff() ** 2 + r**2 * theta.diff() ** 2 + z.diff() ** 2) / 2 + m * g * r * sm.cos(theta)
    rows = {"ring": r - sm.Symbol("R"), "plane": z}
    model = kc.Model.from_lagrangian(L, [r, theta, z], holonomic_constraints=rows, guess={r: 0.5})
    dyn, state = compiled(model, R=0.5, **values), np.array([0.5, th, 0.0, 0.0, w, 0.0])
    reaction = [-2.0 * (0.5 * w**2 + 9.81 * np.cos(th)), 0.0]
    np.testing.assert_allclose(dyn.multipliers(0.0, state), reaction, rtol=1e-12, atol=1e-12)
    freed = model.free("ring").free("plane")
    loose, moved = (compiled(each, **values) for each in (freed, freed.canonical()))
    forces = dict(zip(("lambda_ring", "lambda_plane"), reaction, strict=True))
    udot = np.array([0.0, -9.81 / 0.5 * np.sin(th), 0.0])
    np.testing.assert_allclose([dyn.udot(0.0, state), loose.udot(0.0, state, r=forces)], [udot, udot], atol=1e-12)
    momentum = np.array([*state[:3], 0.0, 2.0 * 0.25 * w, 0.0])
    np.testing.assert_allclose(moved.udot(0.0, momentum, r=forces), 2.0 * 0.25 * udot, atol=1e-12)


def test_rolling_by_kinematic_constraints() -> None:
    """A vertical disc on a plane, geometric and kinematic rows at once: Goldstein, Poole & Safko, section 2.4."""
    R = sm.Symbol("R")
    disc = m * (x.diff() ** 2 + y.diff() ** 2 + z.diff() ** 2) / 2 - m * g * z
    disc += m * R**2 / 4 * psi.diff() ** 2 + m * R**2 / 8 * theta.diff() ** 2
    no_slip = [x.diff() - R * psi.diff() * sm.cos(theta), y.diff() - R * psi.diff() * sm.sin(theta)]
    rows: dict[str, Any] = {"holonomic_constraints": {"floor": z - R}, "nonholonomic_constraints": no_slip}
    dyn = compiled(kc.Model.from_lagrangian(disc, [x, y, z, theta, psi], **rows), m=1.5, R=0.4, g=9.81)
    state = dyn.consistent(0.0, [0.0, 0.0, 0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 0.9, 2.0], keep=None)
    run = dyn.simulate((0.0, 3.0), state, rtol=1e-11, atol=1e-11)
    turn, spin = state[8:]
    angles = 0.3 + turn * run.t
    np.testing.assert_allclose(run.q[:, 0], 0.4 * spin / turn * (np.sin(angles) - np.sin(0.3)) + state[0], atol=1e-8)
    forces = dyn.constraint_forces(0.0, state)
    np.testing.assert_allclose(forces[dyn.constraint_names.index("floor")], [0, 0, 1.5 * 9.81, 0, 0], atol=1e-12)
    total = dyn.mass_matrix(0.0, state) @ dyn.udot(0.0, state) - dyn.forcing(0.0, state)
    np.testing.assert_allclose(forces.sum(axis=0), total, atol=1e-12)
    assert dyn.constraint_forces([0.0, 1.0], np.stack([state, state])).shape == (2, 3, 5)


# ------------------------------------------------------------------------------------------------------ the residual
def test_residual_of_all_equations() -> None:
    """[f + Gᵀλ − M u̇, φ, c] at any u̇ and λ, alone, in batches, from the workspace; zero at those of the model."""
    dyn = compiled(wire(), m=2.0, g=9.81, l=0.5)
    rng = np.random.default_rng(3)
    state, udot, force = rng.normal(size=4), rng.normal(size=2), rng.normal(size=1)
    G, residual = dyn.constraint_jacobian(0.0, state), dyn.equations_residual
    balance = dyn.forcing(0.0, state) + G.T @ force - dyn.mass_matrix(0.0, state) @ udot
    expected = [*balance, *dyn.configuration_residual(0.0, state), *dyn.velocity_residual(0.0, state)]
    np.testing.assert_allclose(residual(0.0, state, udot, force), expected, rtol=1e-13)
    batch = residual([0.0, 1.0], state, [udot, 2 * udot], np.zeros((2, 1)))
    np.testing.assert_allclose(batch[0], residual(0.0, state, udot, [0.0]))
    out = np.empty((3, 4))
    assert residual(0.0, state, udot, rng.normal(size=(3, 1)), out=out) is out
    ws = dyn.workspace()
    ws.x = on = dyn.consistent(0.0, [0.3, -0.4, 0.1, 0.2], None)
    ws.rhs()
    ws.multipliers()
    for found in (residual(0.0, on, dyn.udot(0.0, on), dyn.multipliers(0.0, on)), ws.equations_residual()):
        np.testing.assert_allclose(found, 0.0, atol=1e-12)
    dyn, state, udot = kc.load("cart_pole"), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, -0.6])
    residual, ws = dyn.equations_residual, dyn.workspace()  # without constraints
    ws.x, ws.udot = state, udot
    for found in (residual(0.0, state, udot), residual(0.0, state, udot, []), ws.equations_residual()):
        np.testing.assert_allclose(found, -dyn.inverse_dynamics(0.0, state, udot), rtol=1e-14)


@pytest.mark.parametrize(
    ("udot", "multipliers", "error", "message"),
    [
        (np.zeros(3), (), TypeError, "multipliers is missing"),
        (np.zeros(3), (np.zeros(3),), ValueError, "multipliers has shape"),
        (np.zeros(3), (1.0,), ValueError, "multipliers has shape"),
        (np.zeros(3), (np.zeros((2, 3)),), ValueError, "multipliers has shape"),
        (np.zeros(4), (np.zeros(2),), ValueError, "udot has shape"),
        (np.zeros((2, 3)), (np.zeros((3, 2)),), ValueError, "broadcast"),
        (np.zeros(3), (["a"] * 2,), TypeError, "multipliers"),
    ],
)
def test_residual_with_wrong_multipliers(udot: Any, multipliers: Any, error: type[Exception], message: str) -> None:
    dyn, state = kc.load("four_bar"), np.full(6, 0.1)
    with pytest.raises(error, match=message):
        dyn.equations_residual(0.0, state, udot, *multipliers)
    assert np.isnan(dyn.equations_residual(0.0, state, np.zeros(3), np.full(2, np.nan))[:3]).any()


def test_coordinate_forces_in_other_speeds() -> None:
    """Q = Σ F·∂v/∂q̇, by SymPy; a quaternion's rates are no independent ones."""
    u, U = me.dynamicsymbols("u1:3"), r**2 * sm.cos(phi)
    point, force = place(r * sm.cos(phi) * N.x + r * sm.sin(phi) * N.y), 2 * r * N.x + phi.diff() * N.y
    model = kc.Model(
        *(N, [r, phi], u, [u[0] - r.diff() - r * phi.diff(), u[1] - r * phi.diff()]),
        bodies=[me.Particle("P", point, 1)],
        forcelist=[(point, force)],
        potentials=[U],
    )
    dyn, at = compiled(model), {r.diff(): 0.7, phi.diff(): -0.5, r: 0.8, phi: 0.5}
    velocity = (r * sm.cos(phi) * N.x + r * sm.sin(phi) * N.y).dt(N)
    expected = [float((velocity.diff(q.diff(), N).dot(force) - U.diff(q)).xreplace(at)) for q in (r, phi)]
    np.testing.assert_allclose(dyn.coordinate_forces(0.0, [0.8, 0.5, 0.3, -0.4]), expected, rtol=1e-13)
    with pytest.raises(kc.ModelError, match="7 coordinates and 6 speeds"):
        kc.load("free_body").coordinate_forces(0.0, np.ones(13))


# ------------------------------------------------------------------------------------------------ the whole pipeline
def test_expressions_and_reports() -> None:
    model = wire(name="wired")
    assert "Lagrangian: " in model.report()
    assert "second derivatives of the Lagrangian" in model.report()
    assert "F_y_d = -g*m" in model.explain()
    assert "F*_x_d = -m*x_d'" in model.explain()
    assert model.symbolic("mass_matrix", nested=True) == m * sm.eye(2)
    assert "m" in model.latex("mass_matrix")
    assert model.symbolic("equations_residual", nested=True)[0].has(kc.multiplier(0))
    assert repr(model) == "<Model 'wired': n_q=2, n_u=2, n_p=3, n_r=0>"


def test_what_bodies_would_have() -> None:
    """No momentum is said to be zero that is not known; F_r is that of the Lagrangian."""
    model, state = wire(), np.array([0.6, 0.8, 0.8, -0.6])
    dyn = compiled(model, m=1.0, g=9.81, l=1.0)
    ours = r"has no bodies: it is made of a Lagrangian, whose momenta are dyn\."
    for ask, message in (
        (lambda: model.symbolic("reactions"), "it has no bodies"),
        (lambda: dyn.reactions(0.0, state), "it has no bodies"),
        (lambda: dyn.linear_momentum(0.0, state), ours),
        (lambda: dyn.angular_momentum(0.0, state, (0.0, 0.0, 0.0)), ours),
        (lambda: dyn.generalized_active_forces(0.0, state, by="body"), ours),
        (lambda: dyn.generalized_inertia_forces(0.0, state, np.zeros(2), by="body"), ours),
    ):
        with pytest.raises(kc.ModelError, match=message):
            ask()
    assert dyn.partial_velocities(0.0, state).shape == (0, 2, 3)
    np.testing.assert_array_equal(
        dyn.generalized_active_forces(0.0, state, by="load")["Lagrangian"], dyn.generalized_active_forces(0.0, state)
    )


def test_forces_at_points_and_torques() -> None:
    """A pendulum with a force at its tip, a torque, and an actuator: their generalized forces are Kane's."""
    (T, F), (N, origin) = me.dynamicsymbols("T F"), ground()
    A = N.orientnew("A", "Axis", [theta, N.z])
    tip = origin.locatenew("P", length * A.x)
    spring = me.LinearSpring(k, me.LinearPathway(origin.locatenew("wall", 3 * length * N.x), tip))
    loads, L = [(tip, F * N.y), (A, T * N.z), spring], m * length**2 / 2 * theta.diff() ** 2
    model = kc.Model.from_lagrangian(L, [theta], forcelist=loads, frame=N, feedback={T: -c * theta.diff()})
    dyn, (th, w) = compiled(model, m=2.0, l=0.5, k=3.0, c=0.1), (0.4, 0.7)
    reach = np.array([0.5 * np.cos(th) - 1.5, 0.5 * np.sin(th)])
    moment = 0.5 * (np.cos(th) * -3.0 * reach[1] - np.sin(th) * -3.0 * reach[0])
    expected = moment + 0.5 * 0.8 * np.cos(th) - 0.1 * w
    for kernel in (dyn.forcing, dyn.coordinate_forces):
        np.testing.assert_allclose(kernel(0.0, [th, w], r={"F": 0.8}), [expected], rtol=1e-13)


def test_a_weight_and_an_added_mass_beside_the_lagrangian() -> None:
    """A constant force has a potential energy; what a load has before ẍ joins M, and its work the power."""
    point = place(x * N.x + y * N.y)
    loads = [(point, -m * g * N.y), (point, -k * me.dynamicsymbols("y_d").diff() * N.y)]
    dyn = compiled(kc.Model.from_lagrangian(FREE, [x, y], forcelist=loads, frame=N), m=2.0, g=9.81, k=1.0)
    np.testing.assert_allclose(dyn.mass_matrix(0.0, np.zeros(4)), np.diag([2.0, 3.0]))
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(4)), [0.0, -2.0 * 9.81 / 3.0])
    assert dyn.potential_energy(0.0, [0.0, 1.0, 0.0, 0.0]) == pytest.approx(2.0 * 9.81)
    assert dyn.simulate((0.0, 2.0), [0.0, 0.0, 1.0, 2.0]).energy_drift < 1e-10
    assert dyn.constraint_forces(0.0, np.ones(4)).shape == (0, 2)  # of no constraint


# ------------------------------------------------------------------------------------------------------ hostile input
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "second derivative": ({"L": FREE + x * x.diff(t, 2)}, r"Derivative\(x\(t\), \(t, 2\)\) in the Lagrangian"),
    "derivative of a speed": ({"L": FREE * me.dynamicsymbols("x_d").diff()}, r"Derivative\(x_d\(t\), t\)"),
    "no rates": ({"L": -m * g * y}, "holds no derivative of a coordinate"),
    "a number": ({"L": 3}, "holds no derivative of a coordinate"),
    "nothing": ({"L": None}, "L is None"),
    "a vector": ({"L": N.x}, "no expression of a scalar"),
    "a matrix": ({"L": sm.Matrix([FREE])}, "no expression of a scalar"),
    "an equation": ({"L": sm.Eq(FREE, 0)}, "no expression of a scalar"),
    "text": ({"L": "m*x"}, "no expression of a scalar"),
    "complex": ({"L": sm.I * FREE}, "finite real number"),
    "a function of q": ({"L": FREE + sm.Function("f")(x)}, "unknown function"),
    "twice": ({"q": [x, x]}, "x is listed twice in q"),
    "a symbol": ({"q": [m]}, "q holds m, which is no function of time"),
    "a rate": ({"q": [x.diff()]}, "q holds the derivative"),
    "none": ({"q": []}, "q is empty"),
    "a set": ({"q": {x, y}}, "q is a set"),
    "name of a rate": ({"q": [x, y, me.dynamicsymbols("x_d")]}, "x_d, which is the name of the derivative of x"),
    "parameter of that name": ({"L": FREE * sm.Symbol("y_d")}, "two different symbols are named 'y_d'"),
    "second derivative in a row": ({"nonholonomic_constraints": [x.diff(t, 2)]}, "nonholonomic constraint 0"),
    "rates in a configuration": ({"holonomic_constraints": [x.diff()]}, "it is a velocity constraint"),
    "positions in a velocity": ({"nonholonomic_constraints": [x - y]}, "it is a configuration constraint"),
    "forces in no frame": ({"forcelist": [(me.Point("P"), N.x)]}, "write frame=N"),
    "feedback in L": ({"L": FREE + z * x, "feedback": {z: x}}, "given by feedback"),
    "an input that is a rate": ({"inputs": [me.dynamicsymbols("x_d")]}, "cannot be an input"),
    "undeclared": ({"L": FREE + z * x, "inputs": []}, "z"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str) -> None:
    wrong, message = WRONG[case]
    given: dict[str, Any] = {"L": FREE, "q": [x, y], **wrong}
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_lagrangian(given.pop("L"), **given)


def test_bodies_beside_a_lagrangian() -> None:
    with pytest.raises(TypeError, match="bodies"):
        kc.Model.from_lagrangian(FREE, [x, y], bodies=[])  # type: ignore[call-arg]
    lagranges_method = me.LagrangesMethod(FREE, [x, y])
    with pytest.raises(TypeError, match="takes q from the LagrangesMethod"):
        kc.Model.from_lagrangian(lagranges_method, [x, y])


# ------------------------------------------------------------------------------------------------------ SymPy's own
def sympy_tests() -> Iterator[tuple[str, str]]:
    """Modules and functions of SymPy's mechanics tests that name LagrangesMethod."""
    for info in pkgutil.iter_modules(sympy.physics.mechanics.tests.__path__):
        text = Path(sympy.physics.mechanics.tests.__path__[0], f"{info.name}.py").read_text(encoding="utf-8")
        for function in text.split("\ndef ")[1:]:
            if re.match("test.*LagrangesMethod", function, re.DOTALL):
                yield info.name, function.partition("(")[0]


SYMPY_TESTS = list(sympy_tests())
WITHOUT_EQUATIONS = ("test_lagrange", "test_invalid_coordinates")  # that a Symbol is refused
assert len(SYMPY_TESTS) >= 8  # they are found
assert WITHOUT_EQUATIONS in SYMPY_TESTS


class Formed(Exception):
    """Thrown where a test of SymPy's has formed its equations: the rest of it is about SymPy."""


class Recorded(me.LagrangesMethod):  # type: ignore[misc]
    def form_lagranges_equations(self) -> Any:
        super().form_lagranges_equations()
        raise Formed(self)


@pytest.mark.long
@pytest.mark.parametrize(("module", "name"), every(2, [x for x in SYMPY_TESTS if x != WITHOUT_EQUATIONS]))
def test_lagranges_methods_of_sympy(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """eom = M q̈ − f + Jᵀλ: the residual with the opposite sign, and so are SymPy's multipliers."""
    tests = importlib.import_module(f"sympy.physics.mechanics.tests.{module}")
    monkeypatch.setattr(tests, "LagrangesMethod", Recorded)
    with pytest.raises(Formed) as formed:
        getattr(tests, name)()
    lm = formed.value.args[0]
    model, rng = kc.Model.from_lagrangian(lm), np.random.default_rng(1)
    values = {s: rng.uniform(0.5, 1.5) for s in model.parameters}
    dyn = kc.compile(model, parameters=values)
    n = dyn.n_u
    state, udot, force = rng.uniform(0.2, 1.0, 2 * n), rng.normal(size=n), rng.normal(size=dyn.n_constraints)
    rates = [q.diff(t) for q in model.coordinates]
    n_later = len(lm.coneqs) - len(lm._hol_coneqs)  # SymPy's come after those on coordinates
    symbols = [*(rate.diff(t) for rate in rates), *rates, *model.coordinates, *lm.lam_vec]
    numbers = [*udot, *state[n:], *state[:n], *-force[n_later:], *-force[:n_later]]
    at = dict(zip(symbols, numbers, strict=True)) | values
    expected = np.array(lm.eom.subs(at).evalf(), dtype=float).ravel()
    found = dyn.equations_residual(0.3, state, udot, force)[:n]
    np.testing.assert_allclose(found, -expected, rtol=1e-11, atol=1e-11)


# ------------------------------------------------------------------------------------------------------- dissipation
def test_a_damped_oscillator_decays_as_rayleigh_says() -> None:
    """m ẍ + c ẋ + k x = 0: x = e^(−δt) (cos ωt + δ/ω sin ωt); 2 R is the power that is lost (Goldstein, 1.5)."""
    model = kc.Model.from_lagrangian(m * x.diff() ** 2 / 2 - k * x**2 / 2, [x], dissipation=c * x.diff() ** 2 / 2)
    assert model.symbolic("generalized_active_forces", nested=True)[0].equals(-k * x - c * model.speeds[0])
    dyn = compiled(model, m=2.0, k=18.0, c=1.2)
    delta, end = 0.3, 5.0
    omega = np.sqrt(9.0 - delta**2)
    run = dyn.simulate((0.0, end), [1.0, 0.0], rtol=1e-12, atol=1e-12)
    expected = np.exp(-delta * end) * (np.cos(omega * end) + delta / omega * np.sin(omega * end))
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-10)
    assert run.energy_drift < 1e-9
    assert dyn.power(0.0, [0.3, 0.7], [0.0]) == pytest.approx(-1.2 * 0.7**2)


def test_a_dissipation_function_is_a_force_beside_the_lagrangian() -> None:
    """Any R(q, q̇, r): the same motion as with the force −∂R/∂q̇ in forcelist, also in canonical equations."""
    mu = me.dynamicsymbols("mu")
    L, R = FREE - m * g * y, mu * sm.sqrt(x.diff() ** 2 + y.diff() ** 2 + c**2) * (1 + y**2)
    point = place(x * N.x + y * N.y)
    pull = [(point, -R.diff(x.diff()) * N.x - R.diff(y.diff()) * N.y)]
    dissipated = kc.Model.from_lagrangian(L, [x, y], dissipation=R, name="R")
    values = {"m": 1.3, "g": 9.81, "c": 0.4}
    pulled = kc.Model.from_lagrangian(L, [x, y], forcelist=pull, frame=N)
    one, other = (compiled(model, **values) for model in (dissipated, pulled))
    state = np.array([0.2, -0.5, 1.1, -0.7])
    np.testing.assert_allclose(one.udot(0.0, state, r=[0.8]), other.udot(0.0, state, r=[0.8]), rtol=1e-14)
    assert one.input_names == ("mu",)
    assert one.audit(10).passed
    assert "the dissipation function" in dissipated.report()
    canonical = compiled(dissipated.canonical(), **values)
    momenta = np.r_[state[:2], 1.3 * state[2:]]
    np.testing.assert_allclose(canonical.udot(0.0, momenta, r=[0.8]) / 1.3, one.udot(0.0, state, r=[0.8]), rtol=1e-13)
    free = wire(dissipation=c * x.diff() ** 2 / 2).free("wire")
    assert "the dissipation function" in free.explain()
    assert "lambda_wire of a freed constraint" in free.explain()


@pytest.mark.parametrize(
    ("dissipation", "message"),
    [
        (c * x**2, "holds no derivative of a coordinate, and gives no force"),
        (5, "holds no derivative"),
        (c * x.diff() * x.diff(t, 2), "the derivative of a speed is what is solved for"),
        ("c*v**2", "no expression of a scalar"),
    ],
)
def test_a_dissipation_function_that_is_none(dissipation: Any, message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_lagrangian(FREE, [x, y], dissipation=dissipation)
    F = me.dynamicsymbols("F")
    with pytest.raises(kc.ModelError, match="differentiated by speeds"):
        kc.Model.from_lagrangian(FREE, [x, y], dissipation=F * x.diff(), feedback={F: -x.diff()})
