# SPDX-License-Identifier: BSD-3-Clause
"""Constrained models at run time: u̇, multipliers, Kane's nonholonomic quantities, consistent states, motions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from scipy.integrate import solve_ivp
from sweep import part
from test_truth import CASES, CONSTRAINED, error
from test_truth import compiled as truth
from truth.models import truth_system

import kanecore as kc
from kanecore.gallery import bricard
from kanecore.run.constraints import residuals

#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
PENDULUM = {"m": 2.0, "g": 9.81, "l": 1.5}


# ------------------------------------------------------------------------------------------------- models


def particle(dimension: int, loads: Callable[..., list[Any]], **arguments: Any) -> kc.CompiledModel:
    """A particle of mass m in Cartesian coordinates x, y, z, its speeds their rates u1, u2, u3."""
    q, u = me.dynamicsymbols("x y z")[:dimension], me.dynamicsymbols("u1:4")[:dimension]
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", sum((x * e for x, e in zip(q, N, strict=False)), me.Vector(0)))
    P.set_vel(N, sum((v * e for v, e in zip(u, N, strict=False)), me.Vector(0)))
    values = arguments.pop("values")
    n_q, n_u = arguments.pop("dependent", (0, 0))
    model = kc.Model(
        *(N, q[: dimension - n_q], u[: dimension - n_u]),
        kd_eqs=[x.diff(t) - v for x, v in zip(q, u, strict=True)],
        q_dependent=q[dimension - n_q :],
        u_dependent=u[dimension - n_u :],
        bodies=[me.Particle("P", P, sm.Symbol("m"))],
        forcelist=loads(P, N),
        **arguments,
    )
    return kc.compile(model, parameters=values)


def weight(P: me.Point, N: me.ReferenceFrame) -> list[Any]:
    return [(P, -sm.Symbol("m") * sm.Symbol("g") * N.y)]


def pendulum(form: str = "plain", **arguments: Any) -> kc.CompiledModel:
    """A particle held at the distance l from the origin, in x and y."""
    (x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
    circle = x**2 + y**2 - sm.Symbol("l") ** 2
    rows: dict[str, Any] = {"configuration_constraints": [circle]}
    if form == "filed":  # SymPy's users give the derivative as well
        rows["velocity_constraints"] = [2 * x * u1 + 2 * y * u2]
    if form == "twice":
        rows["configuration_constraints"] = [circle, circle]
    return particle(2, weight, values=PENDULUM, dependent=(1, 1), name="pendulum", **(rows | arguments))


def swinging(angle: float, rate: float) -> Array:
    """The state of `pendulum` at an angle from straight down."""
    length, s, c = PENDULUM["l"], np.sin(angle), np.cos(angle)
    return np.array([length * s, -length * c, length * rate * c, length * rate * s])


@cache
def four_bar(dependent: str = "rocker") -> kc.CompiledModel:
    """The four-bar linkage of Learn Multibody Dynamics, closed by configuration constraints.

    Relative angles q1 of the crank, q2, q3; given the rocker's, the crank's is lost where the rocker turns back.
    """
    system = truth_system("lmd_four_bar")
    q, u = system["q"], system["u"]
    la, lb, lc, ln = sm.symbols("la lb lc ln")
    angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
    closed = [
        sum(length * f(angle) for length, angle in zip((la, lb, lc), angles, strict=True)) - end
        for f, end in ((sm.cos, ln), (sm.sin, 0))
    ]
    order = [0, 1, 2] if dependent == "rocker" else [2, 0, 1]
    model = kc.Model(
        *(system["frame"], [q[order[0]]], [u[order[0]]]),
        kd_eqs=system["kdes"],
        q_dependent=[q[i] for i in order[1:]],
        u_dependent=[u[i] for i in order[1:]],
        configuration_constraints=closed,
        bodies=system["bodies"],
        forcelist=system["loads"],
        name=f"four-bar, dependent {dependent}",
    )
    return kc.compile(model, parameters={symbol: system["parameters"][symbol] for symbol in model.parameters})


def disc_system() -> dict[str, Any]:
    """SymPy's documentation, "Rolling disc, with Kane's method and constraint forces", without auxiliary speeds."""
    q1, q2, q3 = q = me.dynamicsymbols("q1:4")
    u = me.dynamicsymbols("u1:7")
    r, m, g = sm.symbols("r m g")
    N, C = me.ReferenceFrame("N"), me.Point("C")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    rates = R.ang_vel_in(N)
    R.set_ang_vel(N, sum((s * e for s, e in zip(u[:3], L, strict=True)), me.Vector(0)))
    C.set_vel(N, u[3] * L.x + u[4] * Y.z.cross(L.x) + u[5] * Y.z)
    centre = C.locatenew("Dmc", r * L.z)
    centre.v2pt_theory(C, N, R)
    tensor = me.inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    return {
        "frame": N,
        "q": list(q),
        "u": list(u),
        "kdes": [(R.ang_vel_in(N) - rates).dot(e) for e in L],
        "velocity": [C.vel(N).dot(e) for e in (L.x, Y.z.cross(L.x), Y.z)],
        "bodies": [me.RigidBody("disc", centre, R, m, (tensor, centre))],
        "loads": [(centre, -m * g * Y.z)],
        "parameters": {r: 0.4, m: 1.7, g: 9.81},
    }


@cache
def disc() -> kc.CompiledModel:
    s = disc_system()
    model = kc.Model(
        *(s["frame"], s["q"], s["u"][:3]),
        kd_eqs=s["kdes"],
        u_dependent=s["u"][3:],
        velocity_constraints=s["velocity"],
        bodies=s["bodies"],
        forcelist=s["loads"],
        points=[s["bodies"][0].masscenter],
        frames=[s["bodies"][0].frame],
        name="disc",
    )
    return kc.compile(model, parameters=s["parameters"])


@cache
def sleigh() -> kc.CompiledModel:
    """Chaplygin's sleigh: a knife edge at the distance a behind the mass centre; x, y of the mass centre."""
    x, y, th, u1, u2, w = me.dynamicsymbols("x y th u1 u2 w")
    m, moment, a = sm.symbols("m I a")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [th, N.z])
    B.set_ang_vel(N, w * N.z)
    G = O.locatenew("G", x * N.x + y * N.y)
    G.set_vel(N, u1 * N.x + u2 * N.y)
    edge = G.locatenew("A", -a * B.x)
    edge.v2pt_theory(G, N, B)
    model = kc.Model(
        *(N, [x, y, th], [u1, w]),
        kd_eqs=[x.diff(t) - u1, y.diff(t) - u2, th.diff(t) - w],
        u_dependent=[u2],
        velocity_constraints=[edge.vel(N).dot(B.y)],
        bodies=[me.RigidBody("sleigh", G, B, m, (me.inertia(B, 0, 0, moment), G))],
        name="sleigh",
    )
    return kc.compile(model, parameters={"m": 2.0, "I": 0.3, "a": 0.4})


def cranks() -> kc.CompiledModel:
    """A coupler on three equal parallel cranks: off its constraints six rows of rank 6, on them of rank 5.

    The third has a length of its own, so that the numbers alone tell.
    """
    x, y, th, *turns = q = me.dynamicsymbols("x y th a b c")
    u = me.dynamicsymbols("u1:7")
    m, g, d, *lengths = sm.symbols("m g d l1:4")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [th, N.z])
    B.set_ang_vel(N, u[2] * N.z)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    bodies = [me.RigidBody("coupler", P, B, m, (me.inertia(B, 0, 0, m * d**2 / 3), P))]
    closed = []
    for i, (angle, rate, length) in enumerate(zip(turns, u[3:], lengths, strict=True)):
        A = N.orientnew(f"A{i}", "Axis", [angle, N.z])
        A.set_ang_vel(N, rate * N.z)
        pivot = O.locatenew(f"V{i}", (i - 1) * d * N.x)
        pivot.set_vel(N, 0)
        centre = pivot.locatenew(f"C{i}", length / 2 * A.x)
        centre.v2pt_theory(pivot, N, A)
        bodies.append(me.RigidBody(f"crank {i}", centre, A, m, (me.inertia(A, 0, 0, m * length**2 / 12), centre)))
        gap = (i - 1) * d * N.x + length * A.x - (x * N.x + y * N.y + (i - 1) * d * B.x)
        closed += [gap.dot(N.x), gap.dot(N.y)]
    model = kc.Model(
        *(N, q, u),
        kd_eqs=[a.diff(t) - b for a, b in zip(q, u, strict=True)],
        configuration_constraints=closed,
        bodies=bodies,
        forcelist=[(body.masscenter, -m * g * N.y) for body in bodies],
        name="cranks",
    )
    return kc.compile(model, parameters={"m": 1.0, "g": 9.81, "d": 0.5} | dict.fromkeys(["l1", "l2", "l3"], 0.8))


def feasible(dyn: kc.CompiledModel, seed: int, keep: str | None = "independent") -> Array:
    rng = np.random.default_rng(seed)
    return dyn.consistent(0.0, rng.uniform(-1.0, 1.0, dyn.n_x), keep)


# -------------------------------------------------------------------------------- u̇, multipliers, forces


@pytest.mark.parametrize("form", ["plain", "filed", "twice"])
def test_pendulum_in_two_coordinates(form: str) -> None:
    """θ̈ = −g/l sin θ in x and y, and the tension m (g cos θ + l θ̇²): 2 l λ with the row 2x u̇1 + 2y u̇2."""
    dyn, (m, g, length) = pendulum(form), PENDULUM.values()
    for angle, rate in ((0.7, 1.3), (np.pi / 2, -2.0), (-3.0, 0.1), (0.0, 4.0)):
        x, turn = swinging(angle, rate), -g / length * np.sin(angle)
        s, c = np.sin(angle), np.cos(angle)
        udot = [length * (turn * c - rate**2 * s), length * (turn * s + rate**2 * c)]
        np.testing.assert_allclose(dyn.udot(0.0, x), udot, rtol=0, atol=1e-13 * (g + length * rate**2))
        tension = -2 * length * np.sum(dyn.multipliers(0.0, x))
        assert tension == pytest.approx(m * (g * c + length * rate**2), rel=1e-12)
    assert dyn.n_constraints == (2 if form == "twice" else 1)
    assert len(dyn.constraint_names) == dyn.n_constraints


def test_multipliers_of_repeated_rows_are_of_least_norm() -> None:
    x = swinging(0.7, 1.3)
    [one], two = pendulum().multipliers(0.0, x), pendulum("twice").multipliers(0.0, x)
    np.testing.assert_allclose(two, [one / 2, one / 2], rtol=1e-13)


def test_rolling_disc_agrees_with_kanes_method() -> None:
    """SymPy's KanesMethod with the velocity constraints, evaluated in 50 digits."""
    s, dyn = disc_system(), disc()
    kane = me.KanesMethod(
        *(s["frame"], s["q"], s["u"][:3]),
        kd_eqs=s["kdes"],
        u_dependent=s["u"][3:],
        velocity_constraints=s["velocity"],
    )
    kane.kanes_equations(s["bodies"], s["loads"])
    names = [*s["q"], *s["u"], *s["parameters"]]
    plain = [sm.Dummy() for _ in names]
    table = dict(zip(names, plain, strict=True))
    evaluate = sm.lambdify(plain, [me.msubs(e, table) for e in (kane.mass_matrix, kane.forcing)], "mpmath", cse=True)
    for seed in range(5):
        x = feasible(dyn, seed)
        with mpmath.workdps(50):
            M, f = evaluate(*map(mpmath.mpf, [*x, *s["parameters"].values()]))
            expected = np.array([float(value) for value in mpmath.lu_solve(M, f)])
        assert error(dyn.udot(0.0, x), expected) < 1e-12


@pytest.mark.parametrize(
    "name",
    part(
        [*CONSTRAINED, "disc", "sleigh", "cranks", "four-bar"],
        ["appell_hamel", "iftomm_a01_pendulum", "lmd_four_bar", "sphere_incline", "cranks"],
    ),
)
def test_both_forms_of_the_equations(name: str) -> None:
    """M u̇ = f + Gᵀλ, G u̇ + γ = 0, and F̃ + F̃* = 0 where the dependent speeds are known, at random states."""
    made = {"disc": disc, "sleigh": sleigh, "cranks": cranks, "four-bar": four_bar}
    dyn = made[name]() if name in made else truth(name)
    rng = np.random.default_rng(3)
    for _ in range(4):
        x = rng.uniform(-1.0, 1.0, dyn.n_x)
        if name == "andrews_squeezer":
            x[: dyn.n_q] = CASES[name]["converged_q_t1"]
        elif name == "cranks":
            x[:6] = np.array([0.8 * np.cos(0.4), 0.8 * np.sin(0.4), 0.0, 0.4, 0.4, 0.4]) + 1e-3 * x[:6]
        elif name == "four-bar":
            x[:3] = np.array(CASES["lmd_four_bar"]["samples"][0]["q"]) + 0.1 * x[:3]
        x = dyn.consistent(0.0, x, None)
        udot, multipliers = dyn.udot(0.0, x), dyn.multipliers(0.0, x)
        M, f, G = dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x), dyn.constraint_jacobian(0.0, x)
        size = np.max(np.abs(M @ udot)) + np.max(np.abs(f))
        assert np.max(np.abs(M @ udot - f - G.T @ multipliers)) < 1e-10 * size
        rows = np.max(np.abs(G), axis=1)
        assert np.max(np.abs(G @ udot + dyn.constraint_bias(0.0, x)) / rows) < 1e-10 * (1 + np.max(np.abs(udot)))
        if dyn.n_u_dependent:
            active = dyn.generalized_active_forces(0.0, x, nonholonomic=True)
            inertia = dyn.generalized_inertia_forces(0.0, x, udot, nonholonomic=True)
            assert np.max(np.abs(active + inertia)) < 1e-10 * size


def test_sleigh_moves_as_chaplygin_says() -> None:
    """v̇ = a ω², ω̇ = −m a v ω / (I + m a²) of the blade (Bloch, Nonholonomic Mechanics and Control, 2015, 1.7)."""
    dyn, (m, moment, a) = sleigh(), (2.0, 0.3, 0.4)
    x0 = dyn.consistent(0.0, [0.1, 0.2, 0.3, 0.7, 1.1, 0.0])
    s, c = np.sin(0.3), np.cos(0.3)
    v0 = float(x0[3] * c + x0[5] * s)

    def exact(_: float, z: Array) -> list[float]:
        v, w = z
        return [a * w**2, -m * a * v * w / (moment + m * a**2)]

    reference = solve_ivp(exact, (0.0, 10.0), [v0, x0[4]], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=[3.0, 10.0])
    sol = dyn.simulate((0.0, 10.0), x0, rtol=1e-11, atol=1e-12, t_eval=[3.0, 10.0])
    forward = sol.x[:, 3] * np.cos(sol.x[:, 2]) + sol.x[:, 5] * np.sin(sol.x[:, 2])
    np.testing.assert_allclose(forward, reference.y[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol.x[:, 4], reference.y[1], rtol=0, atol=1e-9)


def test_nonholonomic_partial_velocities_of_the_disc() -> None:
    """v = Σ ṽ_r u_r + ṽ_t of independent speeds; the centre of a rolling disc has ω × r L.z (Kane & Levinson, 2.14)."""
    dyn = disc()
    x = np.array([feasible(dyn, seed) for seed in range(6)]).reshape(2, 3, -1)
    u = x[..., 3:6]
    partials = dyn.partial_velocities(0.0, x, nonholonomic=True)
    remainder = dyn.partial_velocities(0.0, x, nonholonomic=True, remainder=True)
    assert partials.shape == (2, 3, 1, 3, 3)
    assert remainder.shape == (2, 3, 1, 3)
    full = np.einsum("...prk,...r->...pk", dyn.partial_velocities(0.0, x), x[..., 3:])
    np.testing.assert_allclose(np.einsum("...prk,...r->...pk", partials, u) + remainder, full, atol=1e-13)
    angular = dyn.partial_angular_velocities(0.0, x, nonholonomic=True)
    omega = np.einsum("...frk,...r->...fk", angular, u)
    yaw, lean = x[..., 0], x[..., 1]
    up = np.stack([np.sin(yaw) * np.sin(lean), -np.cos(yaw) * np.sin(lean), np.cos(lean)], axis=-1)
    np.testing.assert_allclose(full[..., 0, :], np.cross(omega[..., 0, :], 0.4 * up), atol=1e-13)
    assert np.array_equal(dyn.partial_accelerations(0.0, x), partials)
    assert np.array_equal(dyn.partial_angular_accelerations(0.0, x), angular)
    out = np.empty((2, 3, 3))
    assert dyn.generalized_active_forces(0.0, x, nonholonomic=True, out=out) is out
    for i in np.ndindex(2, 3):
        np.testing.assert_allclose(out[i], dyn.generalized_active_forces(0.0, x[i], nonholonomic=True), atol=1e-13)


def test_partial_accelerations_of_a_constraint_that_is_not_linear_in_the_speeds() -> None:
    """A particle at constant speed, u1² + u2² = s²: ã_1 = (1, −u1/u2)."""
    u1, u2 = me.dynamicsymbols("u1:3")
    row = [u1**2 + u2**2 - sm.Symbol("s") ** 2]
    values = {"m": 2.0, "g": 9.81, "s": 5.0}
    dyn = particle(2, weight, values=values, dependent=(0, 1), velocity_constraints=row)
    x = [0.0, 0.0, 3.0, 4.0]
    np.testing.assert_allclose(dyn.partial_accelerations(0.0, x), [[[1.0, -0.75, 0.0]]], atol=1e-15)
    [force] = dyn.generalized_active_forces(0.0, x, nonholonomic=True)
    assert force == pytest.approx(2.0 * 9.81 * 0.75, rel=1e-14)
    # only the part of gravity across the motion is felt: u̇ = −g (−u2 u1, u1²)/s²
    np.testing.assert_allclose(dyn.udot(0.0, x), [9.81 * 12 / 25, -9.81 * 9 / 25], rtol=1e-13)
    assert dyn.check(x).integrable is None


# ------------------------------------------------------------------------------------- consistent states


def test_consistent_keeps_what_is_independent() -> None:
    dyn, guess = pendulum(), swinging(0.7, 1.3) + np.array([0.1, 0.2, -0.1, 0.3])
    x = dyn.consistent(0.0, guess)
    assert x[0] == guess[0]
    assert x[2] == guess[2]
    assert x[1] == pytest.approx(-np.sqrt(1.5**2 - guess[0] ** 2), abs=1e-14)  # the root on the side of the guess
    assert x[3] == pytest.approx(-x[0] * x[2] / x[1], abs=1e-13)


def test_consistent_makes_the_least_change() -> None:
    """The projection of a point on a circle, and of its velocity on the tangent: one mass, so lengths as they are."""
    dyn, guess = pendulum(), np.array([1.2, -1.6, 0.5, 0.1])
    x = dyn.consistent(0.0, guess, keep=None)
    direction = np.array([0.6, -0.8])
    np.testing.assert_allclose(x[:2], 1.5 * direction, atol=1e-12)
    np.testing.assert_allclose(x[2:], guess[2:] - direction * (direction @ guess[2:]), atol=1e-12)


def test_projection_weighs_speeds_by_mass() -> None:
    """min ½ δuᵀ M δu with G (u + δu) = 0: M δu = Gᵀ μ."""
    dyn = four_bar()
    x = dyn.consistent(0.0, [*CASES["lmd_four_bar"]["samples"][0]["q"], 1.0, 0.0, 0.0])
    x[3:] += [0.3, -0.2, 0.1]
    M, G = dyn.mass_matrix(0.0, x), dyn.constraint_jacobian(0.0, x)
    n, m = dyn.n_u, dyn.n_constraints  # M of two particles and three speeds is singular
    system = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    change = np.linalg.solve(system, np.concatenate([np.zeros(n), -G @ x[3:]]))[:n]
    np.testing.assert_allclose(dyn.consistent(0.0, x, None)[3:] - x[3:], change, atol=1e-12)


def test_consistent_at_a_dead_point() -> None:
    """At the end of the circle y says nothing of x, and the speeds are those nearest to the ones given."""
    x = pendulum().consistent(0.0, [1.5, 0.1, 0.3, 0.4])
    np.testing.assert_allclose(residuals(pendulum(), 0.0, x), 0.0, atol=1e-12)
    assert np.max(np.abs(x)) < 2.0


def test_closed_loop_from_a_rough_guess() -> None:
    dyn = four_bar()
    x = dyn.consistent(0.0, [0.5, 0.0, -2.0, 1.0, 0.0, 0.0])
    assert np.max(np.abs(residuals(dyn, 0.0, x))) < 1e-12
    assert tuple(x[[0, 3]]) == (0.5, 1.0)


def test_consistent_from_rough_guesses_of_speeds() -> None:
    """|v|² = V² and u1 u2 + sin(x) u3 = 0: not linear in the speeds."""
    x, (u1, u2, u3) = me.dynamicsymbols("x"), me.dynamicsymbols("u1:4")
    rows = [u1**2 + u2**2 + u3**2 - sm.Symbol("V") ** 2, u1 * u2 + sm.sin(x) * u3]
    dyn = particle(3, weight, values={"m": 1.0, "V": 1.7, "g": 9.81}, velocity_constraints=rows)
    rng = np.random.default_rng(5)
    for _ in range(100):
        found = dyn.consistent(0.0, rng.uniform(-3.0, 3.0, dyn.n_x), None)
        assert np.max(np.abs(dyn.velocity_residual(0.0, found))) < 1e-12


def test_consistent_of_a_free_model_changes_nothing() -> None:
    dyn = kc.load("double_pendulum")
    x = np.arange(dyn.n_x) / 10
    assert np.array_equal(dyn.consistent(0.0, x), x)
    assert dyn.n_constraints == 0
    assert dyn.constraint_jacobian(0.0, x).shape == (0, dyn.n_u)
    assert dyn.check(x).dof == dyn.n_u


def test_no_state_satisfies_the_constraints() -> None:
    """Bars of 0.8, 2 and 1 do not reach over 9."""
    dyn = pickle.loads(pickle.dumps(four_bar()))
    dyn.parameters["ln"] = 9.0
    guess = [0.5, 0.0, -2.0, 1.0, 0.0, 0.0]
    with pytest.raises(kc.ModelError, match=r"no state .* near t = 0.0.*'configuration constraint [01]' \("):
        dyn.consistent(0.0, guess, None)
    with pytest.raises(kc.ModelError, match=r"no q2, q3 .* for q1 = 0.5: what is left: 'conf.*keep=None"):
        dyn.consistent(0.0, guess)
    with pytest.raises(ValueError, match=r"keep is 'all'"):
        dyn.consistent(0.0, np.zeros(6), "all")
    with pytest.raises(ValueError, match=r"shape \(5,\)"):
        dyn.consistent(0.0, np.zeros(5))


# -------------------------------------------------------------------------------------------------- check


@pytest.mark.parametrize(("name", "dof"), [("unicycle", 2), ("sphere_incline", 3), ("lmd_snakeboard", 3)])
def test_rolling_is_not_integrable(name: str, dof: int) -> None:
    """Kane & Levinson 1985, section 2.9; Bloch, Nonholonomic Mechanics and Control, 2015, section 1.4."""
    found = truth(name).check()
    assert (found.rank, found.n_constraints, found.dof, found.redundant) == (2, 2, dof, ())
    assert found.integrable is False
    assert "nonholonomic" in str(found)
    assert np.max(np.abs(list(found.residuals.values()))) < 1e-9
    assert sleigh().check().integrable is False


def test_integrability_needs_all_coordinates() -> None:
    """Without coordinates of the contact nobody can say whether the disc's place follows from its attitude."""
    found = disc().check()
    assert (found.rank, found.dof, found.integrable) == (3, 3, None)


def test_check_names_redundant_rows() -> None:
    found = pendulum("twice").check(swinging(0.3, 1.0))
    assert (found.rank, found.n_constraints, found.dof) == (1, 2, 1)
    assert found.redundant == ("configuration constraint 1",)
    assert "redundant: configuration constraint 1" in str(found)


def test_derivatives_of_configuration_constraints_are_integrable() -> None:
    """SymPy's users file them as velocity constraints."""
    assert pendulum("filed").check(swinging(0.3, 1.0)).integrable is True
    assert truth("loop_slider_crank").check().integrable is True


@pytest.mark.parametrize("held", [False, True])
def test_integrability_is_of_all_rows_together(held: bool) -> None:
    """Frobenius: dz − y dx is not integrable, with dy = 0 it is."""
    y = me.dynamicsymbols("y")
    u1, u2, u3 = me.dynamicsymbols("u1:4")
    rows = [u3 - y * u1, *([u2] if held else [])]
    dyn = particle(3, weight, values={"m": 1.0, "g": 9.81}, velocity_constraints=rows)
    assert dyn.check().integrable is held


def test_integrability_of_a_moving_constraint() -> None:
    """u2 = x t is no total derivative, u2 = x u1 + t is."""
    x, (u1, u2) = me.dynamicsymbols("x"), me.dynamicsymbols("u1:3")
    for row, integrable in ((u2 - x * t, False), (u2 - x * u1 - t, True)):
        dyn = particle(2, weight, values={"m": 1.0, "g": 9.81}, velocity_constraints=[row])
        assert dyn.check(t=0.7).integrable is integrable


def test_a_loop_that_closes_redundantly() -> None:
    """Three equal cranks: (3 m l²/3 + m l²) ä = −(3/2 + 1) m g l cos a, found once the rank at a closed loop is."""
    dyn = pickle.loads(pickle.dumps(cranks()))
    angle, rate, length = -0.9, 0.5, 0.8
    s, c = np.sin(angle), np.cos(angle)
    x = [length * c, length * s, 0, *[angle] * 3, -length * rate * s, length * rate * c, 0, *[rate] * 3]
    sol = dyn.simulate((0.0, 10.0), x, rtol=1e-10, atol=1e-10)
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-8
    assert dyn.udot(0.0, x)[3] == pytest.approx(-9.81 * 2.5 * c / (2 * length), rel=1e-12)
    assert np.array_equal(pickle.loads(pickle.dumps(dyn)).udot(0.0, x), dyn.udot(0.0, x))
    values = np.array([list(dyn.parameters.values())] * 2)
    assert np.array_equal(dyn.udot(0.0, [x, x], p=values), dyn.udot(0.0, [x, x]))
    found = dyn.check(x)
    assert (found.rank, found.typical_rank, found.dof, len(found.redundant)) == (5, 5, 1, 1)
    rk4 = dyn.simulate((0.0, 2.0), x, method="rk4", dt=0.01)
    assert rk4.constraint_drift < 1e-10
    np.testing.assert_allclose(rk4.x[-1], sol(2.0), atol=1e-7)


def test_rows_are_counted_where_too_few_are_found() -> None:
    """u̇ before any check, of one state, of several, with parameters of the call; far states say what is wrong."""
    angle, length = -0.9, 0.8
    s, c = np.sin(angle), np.cos(angle)
    x = np.array([length * c, length * s, 0, *[angle] * 3, -length * 0.5 * s, length * 0.5 * c, 0, *[0.5] * 3])
    expected = pytest.approx(-9.81 * 2.5 * c / (2 * length), rel=1e-12)
    assert cranks().udot(0.0, x)[3] == expected
    assert cranks().rhs([0.0, 1.0], [x, x])[1, 9] == expected
    dyn = cranks()
    assert dyn.udot(0.0, x, p=list(dyn.parameters.values()))[3] == expected
    ws = cranks().workspace()
    ws.x = x
    assert ws.rhs()[9] == expected
    assert np.isnan(cranks().udot(0.0, np.full(12, np.nan))).all()


def test_prebuilt_bricard_knows_its_rank() -> None:
    """At states on the constraints to 1e-8 only, at which five rows are independent by numbers."""
    dyn = kc.load("bricard")
    x = np.array(list(bricard.STATE.values()))
    x[: dyn.n_q] += 1e-8
    np.testing.assert_allclose(dyn.udot(0.0, x), dyn.udot(0.0, list(bricard.STATE.values())), rtol=1e-5)


# ------------------------------------------------------------------------------------- multipliers in outputs


def test_multipliers_in_outputs() -> None:
    """The tension −2 l λ of the pendulum in x and y; u̇ and λ together."""
    u1 = me.dynamicsymbols("u1")
    outputs = {"tension": -2 * sm.Symbol("l") * kc.multiplier(0), "push": u1.diff() + kc.multiplier(0)}
    dyn = pendulum(outputs=outputs)
    x, (m, g, length) = swinging(0.7, 1.3), PENDULUM.values()
    tension, push = dyn.outputs(0.0, x)
    assert tension == pytest.approx(m * (g * np.cos(0.7) + length * 1.3**2), rel=1e-12)
    assert push == pytest.approx(dyn.udot(0.0, x)[0] + dyn.multipliers(0.0, x)[0], rel=1e-12)
    sol = dyn.simulate((0.0, 1.0), x)
    np.testing.assert_allclose(sol.outputs, dyn.outputs(0.0, sol.x), rtol=1e-12)


def test_multipliers_that_are_not_there() -> None:
    with pytest.raises(kc.ModelError, match=r"multiplier\(1\), and the rows of G .*: configuration constraint 0"):
        pendulum(outputs={"force": kc.multiplier(1)})
    with pytest.raises(kc.ModelError, match=r"multiplier\(0\) in acceleration constraint 0: .* outputs alone"):
        pendulum(acceleration_constraints=[me.dynamicsymbols("u1").diff(t) - kc.multiplier(0)])
    for row in (-1, 0.5, "first", True):
        with pytest.raises(ValueError, match="number of a row of G"):
            kc.multiplier(row)


# -------------------------------------------------------------------------------------------------- motion


def test_pendulum_swings_as_in_its_angle() -> None:
    _, g, length = PENDULUM.values()
    x0 = swinging(0.7, 1.3)

    def exact(_: float, z: Array) -> list[float]:
        return [z[1], -g / length * np.sin(z[0])]

    times = np.linspace(0.0, 10.0, 41)
    angle = solve_ivp(exact, (0.0, 10.0), [0.7, 1.3], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y
    expected = np.array([swinging(*z) for z in angle.T])
    for form in ("plain", "filed", "twice"):
        sol = pendulum(form).simulate((0.0, 10.0), x0, rtol=1e-11, atol=1e-12, t_eval=times)
        np.testing.assert_allclose(sol.x, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", ["dop853", "rk4"])
@pytest.mark.parametrize("name", ["pendulum", "disc", "sleigh", "four-bar"])
def test_projection_keeps_the_constraints_and_the_energy(name: str, method: str) -> None:
    """Residuals below 1e-10 along 10 s, between the steps too; the energy drifts no more than without projection."""
    if name == "pendulum":
        dyn, x0 = pendulum(), swinging(2.0, 1.0)
    elif name == "disc":
        dyn = disc()
        x0 = dyn.consistent(0.0, [0.1, 0.3, 0.0, 0.2, 6.0, 0.4, 0.0, 0.0, 0.0])
    elif name == "sleigh":
        dyn = sleigh()
        x0 = dyn.consistent(0.0, [0.0, 0.0, 0.3, 1.0, 2.0, 0.0])
    else:
        dyn = four_bar()
        x0 = dyn.consistent(0.0, [*CASES["lmd_four_bar"]["samples"][0]["q"], 8.0, 0.0, 0.0])
    step: dict[str, Any] = {"dt": 0.002} if method == "rk4" else {}
    sol = dyn.simulate((0.0, 10.0), x0, method=method, **step)
    free = dyn.simulate((0.0, 10.0), x0, method=method, project=False, **step)
    assert sol.constraint_drift < 1e-10
    between = np.linspace(0.0, 10.0, 333)
    assert np.max(np.abs(residuals(dyn, between, sol(between)))) < 1e-10
    assert sol.energy_drift < 1.2 * free.energy_drift + 1e-12


def test_constraint_that_follows_a_signal() -> None:
    """A particle on a vertical line that is moved along x as a cubic spline says: y falls freely."""
    x, d = me.dynamicsymbols("x d")
    dyn = particle(2, weight, values={"m": 2.0, "g": 9.81}, configuration_constraints=[x - d])
    assert dyn.input_names == ("d", "d_d", "d_dd")
    knots = np.linspace(0.0, 2.0, 9)
    moved = kc.Signal(knots, np.sin(2.0 * knots), kind="cubic")
    start = {"d": float(moved(0.0)[0]), "d_d": float((moved(1e-7) - moved(0.0))[0] / 1e-7), "d_dd": 0.0}
    x0 = dyn.consistent(0.0, np.zeros(4), None, r=start)
    times = np.linspace(0.0, 2.0, 29)
    for options in ({}, {"method": "rk4", "dt": 0.01}):
        sol = dyn.simulate((0.0, 2.0), x0, inputs={"d": moved}, t_eval=times, **options)
        np.testing.assert_allclose(sol.x[:, 0], moved(times)[:, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(sol.x[:, 1], -9.81 / 2 * times**2, rtol=0, atol=1e-6)
        assert sol.constraint_drift < 1e-12
    by_function = dyn.simulate((0.0, 2.0), np.zeros(4), inputs=lambda t, x: [t**2, 2.0 * t, 2.0], t_eval=times)
    np.testing.assert_allclose(by_function.x[:, 0], times**2, rtol=0, atol=1e-14)


def test_without_projection_the_constraints_drift() -> None:
    x0 = swinging(2.0, 1.0)
    free = pendulum().simulate((0.0, 10.0), x0, project=False)
    assert 1e-10 < free.constraint_drift < 1e-5
    assert np.max(np.abs(residuals(pendulum(), 9.87, free(9.87)))) > 1e-12


def test_baumgarte() -> None:
    """φ̈ + 2 α φ̇ + β² φ = 0 from a start off the circle: φ = φ₀ (1 + α t) exp(−α t) for α = β."""
    dyn, gain = pendulum(), 3.0
    x0 = swinging(0.7, 1.3)
    x0[:2] *= 1.0 + 3e-7
    start = dyn.configuration_residual(0.0, x0).item()
    times = np.linspace(0.0, 3.0, 7)
    options: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-14, "project": False, "baumgarte": (gain, gain)}
    sol = dyn.simulate((0.0, 3.0), x0, t_eval=times, **options)
    expected = start * (1.0 + gain * times) * np.exp(-gain * times)
    np.testing.assert_allclose(dyn.configuration_residual(times, sol.x)[:, 0], expected, rtol=0, atol=1e-3 * start)
    with pytest.raises(ValueError, match=r"baumgarte is \(1, -1\)"):
        dyn.simulate((0.0, 1.0), x0, baumgarte=(1, -1))
    with pytest.raises(ValueError, match=r"must be \(alpha, beta\)"):
        dyn.simulate((0.0, 1.0), x0, baumgarte=3.0)


def test_baumgarte_holds_velocity_constraints() -> None:
    """ċ + 2 α c = 0 of a knife edge that starts with a sideways speed below what is refused."""
    dyn, x0 = sleigh(), sleigh().consistent(0.0, [0.0, 0.0, 0.3, 1.0, 2.0, 0.0])
    x0[5] += 5e-7
    start = dyn.velocity_residual(0.0, x0).item()
    sol = dyn.simulate((0.0, 1.0), x0, rtol=1e-13, atol=1e-14, project=False, baumgarte=(2.0, 0.0))
    assert dyn.velocity_residual(1.0, sol.x[-1]).item() == pytest.approx(start * np.exp(-4.0), rel=1e-3)


def pivoted_set(G: Array) -> tuple[int, ...]:
    """The columns that elimination with full pivots takes first, in rows of equal size."""
    rows, found = G / np.max(np.abs(G), axis=1)[:, np.newaxis], []
    for k in range(len(rows)):
        i, j = np.unravel_index(np.argmax(np.abs(rows[k:])), rows[k:].shape)
        rows[[k, k + i]] = rows[[k + i, k]]
        found.append(int(j))
        for row in rows[k + 1 :]:
            row -= row[j] / rows[k, j] * rows[k]
    return tuple(sorted(found))


@pytest.mark.long
def test_four_bar_through_the_dead_points_of_its_dependent_set() -> None:
    """The crank turns round while the rocker's angle, which was called independent, turns back: as if it were not."""
    crank, rocker = four_bar("rocker"), four_bar("crank")
    x0 = crank.consistent(0.0, [*CASES["lmd_four_bar"]["samples"][0]["q"], 8.0, 0.0, 0.0])
    other = x0[[2, 0, 1, 5, 3, 4]]
    times = np.linspace(0.0, 3.0, 301)
    one = crank.simulate((0.0, 3.0), x0, rtol=1e-11, atol=1e-12, t_eval=times)
    two = rocker.simulate((0.0, 3.0), other, rtol=1e-11, atol=1e-12, t_eval=times)
    np.testing.assert_allclose(two.x[:, [1, 2, 0, 4, 5, 3]], one.x, atol=1e-7)
    assert np.ptp(one.x[:, 0]) > 2 * np.pi
    assert np.any(np.diff(np.sign(two.x[:, 3])) != 0), "the rocker must turn back"
    sets = [pivoted_set(G) for G in rocker.constraint_jacobian(times, two.x)]
    assert sum(a != b for a, b in pairwise(sets)) >= 2
    assert two.energy_drift < 1e-8

    # the same with u̇ from the frozen set: dependent speeds from the rocker's alone
    def frozen(time: float, z: Array) -> Array:
        x = rocker.consistent(time, np.concatenate([z[:3], z[3:], rocker_speeds(z)]))
        return np.concatenate([rocker.qdot(time, x), rocker.udot(time, x)[:1]])

    def rocker_speeds(z: Array) -> Array:
        G = rocker.constraint_jacobian(0.0, np.concatenate([z, [0.0, 0.0]]))
        return np.linalg.solve(G[:, 1:], -G[:, 0] * z[3])

    try:
        run = solve_ivp(frozen, (0.0, 3.0), other[:4], method="DOP853", rtol=1e-9, atol=1e-9, t_eval=times)
        same = run.y.shape[1] == len(times) and np.max(np.abs(run.y[:3].T - two.x[:, :3])) < 1e-3
    except (kc.ModelError, kc.SingularError):  # no way on from the dead point
        same = False
    assert not same


def test_dead_point_of_the_named_set() -> None:
    """u̇ needs no dependent set; Kane's nonholonomic quantities do, and say which speeds were lost."""
    dyn, x = pendulum(), swinging(np.pi / 2, 1.0)
    x[1] = x[2] = 0.0
    assert np.isfinite(dyn.udot(0.0, x)).all()
    with pytest.raises(kc.SingularError, match=r"dependent speeds u2 of 'pendulum'.*dead point"):
        dyn.generalized_active_forces(0.0, x, nonholonomic=True)
    with pytest.raises(kc.SingularError) as caught:
        dyn.generalized_active_forces(0.0, [swinging(0.1, 1.0), x], nonholonomic=True)
    assert caught.value.rows.tolist() == [1]


# -------------------------------------------------------------------------------------------------- errors


def test_start_off_the_constraints() -> None:
    x0 = swinging(0.7, 1.3)
    message = r"x0 .* at t = 0.5: .*'configuration constraint 0' \(0\.\d+\); .*dyn.consistent\(0.5, x0\)"
    with pytest.raises(ValueError, match=message):
        pendulum().simulate((0.5, 1.0), x0 + np.array([0.2, 0.0, 0.0, 0.0]))
    sol = pendulum().simulate((0.0, 1.0), x0 * (1 + 1e-7))
    assert np.max(np.abs(residuals(pendulum(), 0.0, sol.x[0]))) < 1e-14


def test_nonholonomic_needs_named_dependent_speeds() -> None:
    with pytest.raises(kc.ModelError, match=r"[56] of the 6 .*name u_dependent"):
        cranks().partial_velocities(0.0, np.zeros(12), nonholonomic=True)


def test_a_lost_row_is_named() -> None:
    dyn, centre = pendulum(), [0.0, 0.0, 1.0, 0.0]
    with pytest.raises(kc.SingularError, match=r"udot: 'configuration constraint 0' of 'pendulum' is lost") as caught:
        dyn.udot(0.3, centre)
    assert (caught.value.t, caught.value.x.tolist()) == (0.3, centre)
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, [swinging(0.1, 0.2), centre])
    assert caught.value.rows.tolist() == [1]
    np.testing.assert_array_equal(caught.value.out[0], dyn.udot(0.0, swinging(0.1, 0.2)))


def test_contradictory_rows_are_named() -> None:
    """ẍ = 1 and ẍ = 2 at once."""
    rate = me.dynamicsymbols("u1").diff(t)
    rows = [rate - 1, rate - 2]
    dyn = particle(2, weight, values={"m": 1.0, "g": 9.81}, acceleration_constraints=rows)
    with pytest.raises(kc.SingularError, match=r"'acceleration constraint [01]'.*contradicts"):
        dyn.udot(0.0, np.zeros(4))


def test_a_motion_that_comes_to_the_end_of_its_constraints() -> None:
    """A pendulum whose x is moved at unit speed: at t = l it can go no further."""
    x, y = me.dynamicsymbols("x y")
    rows = [x**2 + y**2 - sm.Symbol("l") ** 2, x - t]
    dyn = pendulum(configuration_constraints=rows)
    with pytest.warns(kc.KanecoreWarning, match="names 1 speed, and 2 rows"):
        x0 = dyn.consistent(0.0, [0.0, -1.5, 1.0, 0.0], None)
    with pytest.raises((kc.SingularError, kc.IntegrationError)) as caught:
        dyn.simulate((0.0, 2.0), x0)
    reached = caught.value.trajectory
    assert 1.4 < reached.t[-1] < 1.5
    assert reached.constraint_drift < 1e-10
    if isinstance(caught.value, kc.SingularError):
        assert "configuration constraint" in str(caught.value)


def test_workspace_evaluates_constraints() -> None:
    dyn, x = pendulum(), swinging(0.7, 1.3)
    ws = dyn.workspace()
    ws.x = x
    assert np.array_equal(ws.rhs(), dyn.rhs(0.0, x))
    assert np.array_equal(ws.multipliers(), dyn.multipliers(0.0, x))
    assert np.array_equal(ws.constraint_jacobian(), dyn.constraint_jacobian(0.0, x))
    assert np.array_equal(ws.configuration_residual(), dyn.configuration_residual(0.0, x))
    assert np.array_equal(ws.velocity_residual(), dyn.velocity_residual(0.0, x))


def test_configuration_jacobian_against_differences() -> None:
    dyn, h = four_bar(), 1e-6
    x = np.array([0.3, 0.2, -2.1, 0.0, 0.0, 0.0])
    ends = [dyn.configuration_residual(0.0, x + sign * h * np.eye(6)[:3]) for sign in (1, -1)]
    np.testing.assert_allclose(dyn.configuration_jacobian(0.0, x), (ends[0] - ends[1]).T / (2 * h), atol=1e-9)
