# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of ẋ and of the outputs: against differences at 50 digits, which solve the equations in another way."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, mass_point, particle
from oracle.precise import Precise, curvature, jacobian
from sweep import part

import kanecore as kc
from kanecore.control import derivative_products
from kanecore.gallery import MODELS

Array = npt.NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
t = me.dynamicsymbols._t

#: λ, and off the constraints u̇, of redundant rows are not defined: the oracle solves regular equations alone.
REDUNDANT = ("bricard", "stewart_platform", "five_bar_bodies", "rrp_redundant")
#: Trees, outputs, a prescribed motion, a quaternion; a loop, rolling, a constraint that is not linear in the speeds.
SHOWN = ("rotating_tube", "appell_hamel", "slider_crank")


@cache
def case(name: str) -> tuple[kc.CompiledModel, Precise, tuple[Any, ...]]:
    """A model of the gallery, the oracle, and (t, x, r, p) on the constraints, in motion."""
    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    dyn = kc.compile(model, parameters=module.PARAMETERS)
    rng = np.random.default_rng(list(name.encode()))
    x, given = rng.uniform(-1.0, 1.0, dyn.n_x), getattr(module, "STATE", None)
    if given is not None:
        x = 0.1 * x + np.array([given[k] for k in (*dyn.coordinate_names, *dyn.speed_names)])
    r = np.linspace(1.0, -0.6, dyn.n_r)
    p = np.array([dyn.parameters[k] for k in dyn.parameter_names])
    return dyn, Precise(model), (0.3, dyn.consistent(0.3, x, None, r=r), r, p)


def close(found: Array, expected: Array, allowed: float = 1e-10) -> None:
    """To a share of the largest number of the same row."""
    assert found.shape == expected.shape
    size = np.maximum(1.0, np.max(np.abs(expected), axis=-1, initial=0.0, keepdims=True))
    assert np.max(np.abs(found - expected) / size, initial=0.0) < allowed


def check(dyn: kc.CompiledModel, precise: Precise, at: tuple[Any, ...]) -> None:
    """All derivatives at (t, x, r, p)."""
    time, x, r, p = at
    mass = dyn.mass_matrix(time, x, r=r, p=p)
    units = np.sqrt(np.maximum(np.diagonal(mass), np.finfo(float).tiny))
    condition = np.linalg.cond(mass / units / units[:, np.newaxis]) if not dyn.n_constraints else 1.0
    allowed = max(1e-10, np.finfo(float).eps * condition)  # of the chain of 40 links 6e-10
    close(dyn.rhs_time_derivative(time, x, r=r, p=p)[:, np.newaxis], jacobian(precise.rhs, at, 0), allowed)
    close(dyn.rhs_parameter_jacobian(time, x, r=r, p=p), jacobian(precise.rhs, at, 3), allowed)
    expected = np.concatenate([jacobian(precise.outputs, at, k) for k in (1, 2)], axis=1)
    close(dyn.output_jacobian(time, x, r=r, p=p), expected)


def check_products_of_outputs(dyn: kc.CompiledModel, precise: Precise, at: tuple[Any, ...]) -> None:
    """Forwards and backwards, one state and three, against the same Jacobian at 50 digits."""
    time, x, r, p = at
    rng = np.random.default_rng(8)
    dx, dr, w = (rng.uniform(-1.0, 1.0, n) for n in (dyn.n_x, dyn.n_r, dyn.n_outputs))
    dx = keeping_units(dyn, x) @ dx
    by_x, by_r = (jacobian(precise.outputs, at, k) for k in (1, 2))
    found = dyn.jvp("outputs", time, x, dx, dr=dr, r=r, p=p)
    close(found, by_x @ dx + by_r @ dr)
    of_x, of_r = dyn.vjp("outputs", time, x, w, full=True, r=r, p=p)
    close(np.append(of_x @ dx, of_r), np.append(w @ by_x @ dx, w @ by_r))
    np.testing.assert_array_equal(dyn.jvp("outputs", time, [x, x, x], [dx, 2 * dx, 0 * dx], dr=dr, r=r, p=p)[0], found)
    np.testing.assert_array_equal(dyn.vjp("outputs", time, [x, x, x], [w, 2 * w, 0 * w], r=r, p=p)[0], of_x)
    named = dict(zip(dyn.output_names, w, strict=True))
    np.testing.assert_array_equal(dyn.vjp("outputs", time, x, named, r=r, p=p), of_x)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in MODELS if name not in REDUNDANT])
def test_products_of_outputs(name: str) -> None:
    check_products_of_outputs(*case(name))


@pytest.mark.parametrize("name", part([name for name in MODELS if name not in REDUNDANT], SHOWN))
def test_gallery(name: str) -> None:
    check(*case(name))


# ------------------------------------------------------------------------------------ what the gallery lacks
def driven(**options: Any) -> kc.Model:
    """A pendulum whose support is shaken as a function of t, with u̇ in the outputs."""
    theta, u, tau = me.dynamicsymbols("theta u tau")
    m, length, g, a, w, k = sm.symbols("m l g a w k", positive=True)
    N = me.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [theta, N.z])
    origin, P = me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    S = origin.locatenew("S", a * sm.sin(w * t) * N.x)
    P.set_pos(S, -length * A.y)
    P.set_vel(N, P.pos_from(origin).dt(N).subs(theta.diff(t), u))
    load = (P, -m * g * N.y - k * t * N.x + tau * A.x)
    outputs = {"angle": sm.sin(theta) * t, "alpha": u.diff(t), "mixed": (u.diff(t) + tau) ** 2 * theta, "rate": k * u}
    return kc.Model(
        *(N, [theta], [u]),
        kd_eqs=[theta.diff(t) - u],
        bodies=[me.Particle("P", P, m)],
        forcelist=[load],
        outputs=outputs,
        **options,
    )


VALUES = {"m": 1.3, "l": 0.8, "g": 9.81, "a": 0.2, "w": 3.0, "k": 0.7}


def test_time_and_outputs_of_accelerations() -> None:
    model = driven()
    dyn = kc.compile(model, parameters=VALUES)
    p = [VALUES[name] for name in dyn.parameter_names]
    at = (0.4, np.array([0.6, -1.1]), np.array([0.5]), np.array(p))
    check(dyn, Precise(model), at)
    check_products_of_outputs(dyn, Precise(model), at)
    assert dyn.rhs_time_derivative(*at[:2])[1] != 0.0
    assert dyn.output_jacobian(*at[:2]).shape == (4, 3)


def circle(outputs: dict[str, Any] | None = None) -> kc.Model:
    """A particle on a circle that grows with t: pivots chosen at run time, and rows that hold t and a parameter."""
    (x, y), (ux, uy), F = me.dynamicsymbols("x y"), me.dynamicsymbols("ux uy"), me.dynamicsymbols("F")
    m, g, radius, b = sm.symbols("m g l b", positive=True)
    N = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, ux * N.x + uy * N.y)
    return kc.Model(
        *(N, [x, y], [ux, uy]),
        kd_eqs=[x.diff(t) - ux, y.diff(t) - uy],
        configuration_constraints=[x**2 + y**2 - (radius + b * sm.sin(t)) ** 2],
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, F * N.x - m * g * N.y)],
        outputs=outputs or {"ax": ux.diff(t) * x, "sum": ux.diff(t) + uy.diff(t) * F},
    )


def test_constraints_that_hold_time() -> None:
    model = circle()
    dyn = kc.compile(model, parameters={"m": 2.0, "g": 9.81, "l": 1.5, "b": 0.3})
    p = np.array([dyn.parameters[name] for name in dyn.parameter_names])
    x = dyn.consistent(0.4, [1.0, -1.0, 0.3, 0.2], None)
    check(dyn, Precise(model), (0.4, x, np.array([0.7]), p))
    check_products_of_outputs(dyn, Precise(model), (0.4, x, np.array([0.7]), p))


def test_outputs_with_multipliers_have_no_jacobian() -> None:
    dyn = kc.compile(circle({"wire": kc.multiplier(0)}), parameters={"m": 2.0, "g": 9.81, "l": 1.5, "b": 0.3})
    with pytest.raises(kc.ModelError, match="has no output jacobian: its outputs hold multipliers"):
        dyn.output_jacobian(0.0, [1.5, 0.0, 0.0, 0.0])
    with pytest.raises(kc.ModelError, match="its outputs hold multipliers"):
        dyn.jvp("outputs", 0.0, [1.5, 0.0, 0.0, 0.0], np.zeros(4))


def test_expressions() -> None:
    """What is solved at run time has none; what needs no solution has."""
    model = driven()
    with pytest.raises(kc.ModelError, match=r"output_jacobian of .* has no expression"):
        model.output_jacobian  # noqa: B018
    assert model.symbolic("rhs_parameter_jacobian")[1].shape == (model.n_x, model.n_p)  # in closed form
    plain = import_module("kanecore.gallery.rrp").build()
    assert plain.symbolic("output_jacobian", nested=True).shape[1] == plain.n_x + plain.n_r


def test_nothing_to_differentiate() -> None:
    """No parameters, no outputs, no t: arrays without elements, and zeros."""
    q, u = me.dynamicsymbols("q u")
    model = mass_point({q: u}, 2, [-q])
    dyn = kc.compile(model)
    assert dyn.rhs_parameter_jacobian(0.0, [1.0, 0.0]).shape == (2, 0)
    assert dyn.output_jacobian(0.0, [1.0, 0.0]).shape == (0, 2)
    assert dyn.jvp("outputs", 0.0, [1.0, 0.0], [1.0, 1.0]).shape == (0,)
    np.testing.assert_array_equal(dyn.vjp("outputs", 0.0, [1.0, 0.0], []), [0.0, 0.0])
    np.testing.assert_array_equal(dyn.rhs_time_derivative(0.0, [1.0, 0.0]), [0.0, 0.0])


# ------------------------------------------------------------------------------------------------ products
def keeping_units(dyn: kc.CompiledModel, x: Array) -> Array:
    """The projection on directions that keep quaternions at length 1: along others ẋ depends on how it is written."""
    projection = np.eye(dyn.n_x)
    for unit in dyn.unit:
        projection[np.ix_(unit, unit)] -= np.outer(x[list(unit)], x[list(unit)])
    return projection


def along(precise: Precise, at: tuple[Any, ...], dx: Array, dr: Array, dp: Array) -> Array:
    """The change of ẋ along a direction at 50 digits."""
    time, x, r, p = at

    def rhs(step: Any) -> list[Any]:
        return precise.rhs(
            time, *([v + step * float(d) for v, d in zip(z, dz, strict=True)] for z, dz in ((x, dx), (r, dr), (p, dp)))
        )

    return jacobian(rhs, (0.0,), 0)[:, 0]


@pytest.mark.parametrize("name", part([name for name in MODELS if name not in REDUNDANT], SHOWN))
def test_products_of_rhs(name: str) -> None:
    """Against differences at 50 digits; plain arrays, lists and batches go different ways to the same bits."""
    dyn, precise, at = case(name)
    time, x, r, _ = at
    rng, keeping = np.random.default_rng(3), keeping_units(dyn, x)
    dx, dr, dp, w = (rng.uniform(-1.0, 1.0, n) for n in (dyn.n_x, dyn.n_r, dyn.n_p, dyn.n_x))
    dx = keeping @ dx
    by_state, by_all = along(precise, at, dx, dr, 0 * dp), along(precise, at, dx, dr, dp)
    A, B = dyn.linearize(time, x, r=r)
    size = float(np.max(np.abs(A)) + np.max(np.abs(B), initial=1.0)) * dyn.n_x
    allowed = 1e-11 if name in ("chain40", "tree30") else 1e-13
    found = dyn.rhs_jvp(time, x, dx, dr=dr, r=r)
    np.testing.assert_allclose(found, by_state, rtol=0, atol=allowed * size)
    np.testing.assert_allclose(A @ dx + B @ dr, by_state, rtol=0, atol=allowed * size)
    of_parameters = float(np.max(np.abs(by_all), initial=size))
    np.testing.assert_allclose(dyn.rhs_jvp(time, x, dx, dr=dr, dp=dp, r=r), by_all, atol=100 * allowed * of_parameters)
    by_x, by_r, by_p = dyn.rhs_vjp(time, x, w, full=True, parameters=True, r=r)
    np.testing.assert_allclose(by_x @ dx + by_r @ dr, w @ by_state, rtol=0, atol=allowed * size * dyn.n_x)
    np.testing.assert_allclose(by_x @ keeping, w @ A @ keeping, rtol=0, atol=allowed * size)
    np.testing.assert_allclose(by_r, w @ B, rtol=0, atol=allowed * size)
    close(by_p, w @ dyn.rhs_parameter_jacobian(time, x, r=r), max(1e-10, 10 * allowed))
    several, weights = np.array([dx, -dx, 2 * dx]), np.array([w, 0.5 * w, -w])
    np.testing.assert_array_equal(dyn.rhs_jvp(time, x, list(dx), dr=list(dr), r=list(r)), found)
    np.testing.assert_array_equal(dyn.rhs_jvp(time, x, several, dr=[dr, -dr, 2 * dr], r=r)[0], found)
    alone = dyn.rhs_vjp(time, x, w, r=r)  # by a program of its own: with parameters the last digits may be others
    np.testing.assert_allclose(by_x, alone, rtol=0, atol=allowed * size)
    np.testing.assert_array_equal(dyn.rhs_vjp(time, x, list(w), r=list(r)), alone)
    np.testing.assert_array_equal(dyn.rhs_vjp(time, x, weights, r=r)[0], alone)


def on_a_ring() -> tuple[kc.CompiledModel, list[float]]:
    """A particle on the ring φ = 0, which a second row tells as φ (φ + 2) = 0, and a state."""
    x, y = me.dynamicsymbols("x y")
    ring = x**2 + y**2 - 1
    rows = {"configuration_constraints": [ring, ring * (ring + 2)], "dependent": (1, 1)}
    return compiled(particle(2, lambda P, N: [(P, -3 * N.y)], **rows)), [0.6, 0.8, -0.8, 0.6]


@pytest.mark.parametrize("name", part(["ring", *REDUNDANT], ["ring"]))
def test_products_with_redundant_rows(name: str) -> None:
    """By the matrices, which take the same rows; off the constraints as well, where redundant rows contradict."""
    if name == "ring":
        dyn, x = on_a_ring()
    else:
        module = import_module(f"kanecore.gallery.{name}")
        dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
        x = [module.STATE[k] for k in (*dyn.coordinate_names, *dyn.speed_names)]
    rng = np.random.default_rng(4)
    for state in (dyn.consistent(0.0, x, None), x + 1e-9 * rng.uniform(-1.0, 1.0, dyn.n_x)):
        A = dyn.linearize(0.0, state)[0]
        dx, w = rng.uniform(-1.0, 1.0, (2, dyn.n_x))
        size = float(np.max(np.abs(A))) * dyn.n_x
        np.testing.assert_allclose(dyn.rhs_jvp(0.0, state, dx), A @ dx, rtol=0, atol=1e-11 * size)
        np.testing.assert_allclose(dyn.rhs_vjp(0.0, state, w), w @ A, rtol=0, atol=1e-11 * size)


def test_rows_that_the_graph_eliminates() -> None:
    """One of two rows, whose multiplier the other's enters, at 50 digits."""
    (x, y, z), (u1, u2, u3) = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    rows = [u3 - sm.sin(x) * u1, x * u1 + y * u2 + sm.cos(z) * u3]
    model = particle(loads=lambda P, N: [(P, -y * N.x - x * u1 * N.z)], velocity_constraints=rows)
    dyn = compiled(model)
    p = np.array([dyn.parameters[k] for k in dyn.parameter_names])
    at = 0.3, dyn.consistent(0.3, [0.6, 0.8, 0.3, 0.8, -0.6, 0.8], None), np.zeros(0), p
    A, v = jacobian(Precise(model).rhs, at, 1), np.linspace(-1.0, 1.0, 6)
    close(dyn.linearize(*at[:2])[0], A, 1e-13)
    close(dyn.rhs_jvp(*at[:2], v), A @ v, 1e-13)
    close(dyn.rhs_vjp(*at[:2], v), v @ A, 1e-13)


@pytest.mark.parametrize("name", part([name for name in MODELS if name not in REDUNDANT], SHOWN))
def test_products_of_inverse_dynamics(name: str) -> None:
    """Against differences at 50 digits of M u̇ − f."""
    dyn, precise, (time, x, r, p) = case(name)
    rng = np.random.default_rng(3)
    udot, dx, dudot, dr, w = (rng.uniform(-1.0, 1.0, n) for n in (dyn.n_u, dyn.n_x, dyn.n_u, dyn.n_r, dyn.n_u))

    def forces(t: Any, x: Any, r: Any, udot: Any) -> list[Any]:
        known = precise.known(t, x, r, p)
        known |= {precise.graph.nodes[i][1]: a for i, a in zip(precise.d.accelerations, udot, strict=True)}
        return precise._kernel("inverse_dynamics", known)

    by_x, by_r, by_udot = (jacobian(forces, (time, x, r, udot), k) for k in (1, 2, 3))
    found = dyn.jvp("inverse_dynamics", time, x, udot, dx, dudot=dudot, dr=dr, r=r)
    close(found, by_x @ dx + by_r @ dr + by_udot @ dudot)
    close(dyn.jvp("inverse_dynamics", time, x, udot, dx, r=r), by_x @ dx)
    gradients = dyn.vjp("inverse_dynamics", time, x, udot, w, full=True, r=r)
    for gradient, slopes in zip(gradients, (by_x, by_udot, by_r), strict=True):
        close(gradient, w @ slopes)
    batch = dyn.vjp("inverse_dynamics", time, [x, x], udot, [w, 2 * w], r=r)
    np.testing.assert_array_equal(batch[0], gradients[0])
    in_lists = dyn.jvp(
        "inverse_dynamics", time, list(x), list(udot), list(dx), dudot=list(dudot), dr=list(dr), r=list(r)
    )
    np.testing.assert_array_equal(in_lists, found)  # plain arrays go another way
    close(batch[1], 2 * (w @ by_x))


# ------------------------------------------------------------------------------------- second derivatives, zeros
@pytest.mark.parametrize("name", part([name for name in MODELS if name not in (*REDUNDANT, "anymal_c", "g1")], SHOWN))
def test_second_derivatives(name: str) -> None:
    """Against second differences of w · ẋ at 50 digits, on the diagonal and along random directions.

    Those of ANYmal and G1 leave the unit quaternions, where u̇ and what is differentiated are written in different ways.
    """
    dyn, precise, (time, x, r, p) = case(name)
    rng, n = np.random.default_rng(6), dyn.n_x + dyn.n_r
    w, directions = rng.uniform(-1.0, 1.0, dyn.n_x), rng.uniform(-1.0, 1.0, (3, n))
    found = dyn.rhs_hessian(time, x, w, r=r)
    assert found.shape == (n, n)
    np.testing.assert_array_equal(found, found.T)
    size = max(1.0, np.max(np.abs(found)))
    for direction in directions:
        expected = curvature(lambda z: precise.rhs(time, z[: dyn.n_x], z[dyn.n_x :], p), w, np.append(x, r), direction)
        assert abs(direction @ found @ direction - expected) < 1e-10 * n * size
    np.testing.assert_array_equal(found, dyn.rhs_hessian(time, x, w, r=r))  # now of plain arrays, at once
    batch = dyn.rhs_hessian(time, [x, x], [w, -w], r=[r, r])
    np.testing.assert_allclose(batch, [found, -found], rtol=0, atol=1e-13 * size)
    several = dyn.rhs_hessian(time, x, [w, 2 * w, -w], r=r, p=[p, p, p])
    np.testing.assert_allclose(several, [found, 2 * found, -found], rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(dyn.rhs_hessian(time, x, [w, -w], r=r), several[::2], rtol=0, atol=1e-13 * size)


@pytest.mark.parametrize("name", part([name for name in MODELS if name not in REDUNDANT], SHOWN))
def test_sparsity(name: str) -> None:
    """Nothing is outside the pattern; what is inside is other than zero at some state, but for what is solved."""
    dyn, _, (time, x, r, _) = case(name)
    matrices = {"mass_matrix": dyn.mass_matrix, "coriolis_matrix": dyn.coriolis_matrix, "rhs": dyn.kernels.linearize}
    matrices |= {kernel: getattr(dyn, kernel) for kernel in ("rhs_parameter_jacobian", "output_jacobian")}
    matrices |= {kernel: getattr(dyn, kernel) for kernel in ("constraint_jacobian", "configuration_jacobian")}
    for kernel, function in matrices.items():
        if kernel != "rhs" and dyn.kernels.why_not(kernel):
            with pytest.raises(kc.ModelError, match=kernel.replace("_", " ")):
                dyn.sparsity(kernel)
            continue
        rows, columns = dyn.sparsity(kernel)
        value = function(time, x + 0.01, r=r)
        outside = np.ones(value.shape, dtype=bool)
        outside[rows, columns] = False
        assert not value[outside].any(), kernel
        assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows)


@pytest.mark.parametrize("name", ["free_body", pytest.param("anymal_c", marks=pytest.mark.long)])
def test_all_derivatives_along_the_unit_sphere_agree(name: str) -> None:
    """[A, B], products with vectors, and differences of rhs at 50 digits along a curve of unit quaternions."""
    dyn, precise, (time, x, r, p) = case(name)
    rng, unit = np.random.default_rng(7), list(dyn.unit[0])
    w, d, dr = rng.uniform(-1.0, 1.0, dyn.n_x), rng.uniform(-1.0, 1.0, dyn.n_x), rng.uniform(-1.0, 1.0, dyn.n_r)
    d[unit] -= x[unit] * (x[unit] @ d[unit])

    def rhs(time: Any, state: list[Any], inputs: list[Any], p: Any) -> list[Any]:
        norm = sum(state[i] ** 2 for i in unit) ** 0.5
        return precise.rhs(time, [value / norm if i in unit else value for i, value in enumerate(state)], inputs, p)

    slopes = np.concatenate([jacobian(rhs, (time, x, r, p), k) for k in (1, 2)], axis=1)
    expected = slopes @ np.append(d, dr)
    A, B = dyn.linearize(time, x, r=r)
    close(A @ d + B @ dr, expected)
    close(dyn.rhs_jvp(time, x, d, dr=dr, r=r), expected)
    by_x, by_r = dyn.rhs_vjp(time, x, w, full=True, r=r)
    np.testing.assert_allclose(by_x @ d + by_r @ dr, w @ expected, rtol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("name", ["anymal_c", "g1"])
def test_second_derivatives_of_floating_bases(name: str) -> None:
    """Along a curve on which the quaternion keeps length one: d² along it is dᵀ H d − |δe|² e · ∇, as e″ = −|δe|² e."""
    dyn, precise, (time, x, r, p) = case(name)
    rng, unit = np.random.default_rng(6), list(dyn.unit[0])
    w, d = rng.uniform(-1.0, 1.0, dyn.n_x), rng.uniform(-1.0, 1.0, dyn.n_x + dyn.n_r)
    d[unit] -= x[unit] * (x[unit] @ d[unit])

    def rhs(z: list[Any]) -> list[Any]:
        norm = sum(z[i] ** 2 for i in unit) ** 0.5
        state = [value / norm if i in unit else value for i, value in enumerate(z)]
        return precise.rhs(time, state[: dyn.n_x], state[dyn.n_x :], p)

    hessian, gradient = dyn.rhs_hessian(time, x, w, r=r), dyn.rhs_vjp(time, x, w, r=r)
    found = d @ hessian @ d - d[unit] @ d[unit] * (x[unit] @ gradient[unit])
    assert abs(found - curvature(rhs, w, np.append(x, r), d)) < 1e-10 * np.max(np.abs(hessian)) * len(d)


@pytest.mark.parametrize("name", ["rrp", "slider_crank"])
def test_second_derivatives_from_matrices(name: str) -> None:
    """The way of models that have no kernel of second derivatives, or for which it has no result."""
    dyn, _, (time, x, r, _) = case(name)
    w = np.linspace(-1.0, 1.0, dyn.n_x)
    found, other = dyn.rhs_hessian(time, x, w, r=r), derivative_products._from_matrices(dyn, time, x, w, r, None)
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-12 * np.max(np.abs(other)))
    assert np.isnan(dyn.rhs_hessian(time, np.append(x[1:], np.nan), w, r=r)).any()


@pytest.mark.long
def test_second_derivatives_where_a_pivot_is_small() -> None:
    """Far out, rows that elimination has solved have small pivots, and the factorization of all rows takes over."""
    dyn = kc.load("rrp_redundant")
    w = np.linspace(-1.0, 1.0, dyn.n_x)
    for seed in range(4):
        x = dyn.consistent(0.0, np.random.default_rng(seed).uniform(-30.0, 30.0, dyn.n_x))
        found, other = dyn.rhs_hessian(0.0, x, w), derivative_products._from_matrices(dyn, 0.0, x, w, None, None)
        np.testing.assert_allclose(found, other, rtol=0, atol=1e-10 * np.max(np.abs(other)))


def test_second_derivatives_from_matrices_in_batches_of_a_quaternion() -> None:
    """Times, inputs or parameters alone may be many; a singular row has its number."""
    dyn, _, (time, x, r, p) = case("free_body")
    w, several = np.linspace(-1.0, 1.0, dyn.n_x), np.array([[1.0], [1.1], [1.2]])
    matrices = derivative_products._from_matrices
    for t_, r_, p_ in ((time * several[:, 0], r, p), (time, r * several, p), (time, r, p * several)):
        found = matrices(dyn, t_, x, w, r_, p_)
        last = (t_ if np.ndim(t_) == 0 else t_[2], *(a if a.ndim == 1 else a[2] for a in (r_, p_)))
        np.testing.assert_array_equal(found[2], matrices(dyn, last[0], x, w, *last[1:]))
    for masses, rows in ((p * np.array([[1.0], [0.0], [2.0]]), [1]), (0.0 * p, None)):
        with pytest.raises(kc.SingularError, match="the mass matrix of 'free_body' is singular") as caught:
            dyn.rhs_hessian(time, x, w, p=masses)
        assert caught.value.out is None
        assert (caught.value.rows if rows is None else caught.value.rows.tolist()) == rows


@pytest.mark.long
def test_redundant_rows_have_no_second_derivatives() -> None:
    dyn = case("bricard")[0]
    x = case("bricard")[2][1]
    with pytest.raises(kc.ModelError, match=r"rhs_hessian: \d of \d rows of G of 'bricard' are independent"):
        dyn.rhs_hessian(0.3, x, np.ones(dyn.n_x))


def test_patterns_that_are_known() -> None:
    """Two masses that nothing connects; a force on one of them."""
    (q1, q2), (u1, u2), F = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3"), me.dynamicsymbols("F")
    N, origin, P, Q = me.ReferenceFrame("N"), *map(me.Point, "OPQ")
    k, m = sm.symbols("k m")
    origin.set_vel(N, 0)
    for point, q, u in ((P, q1, u1), (Q, q2, u2)):
        point.set_pos(origin, q * N.x)
        point.set_vel(N, u * N.x)
    bodies = [me.Particle("P", P, m), me.Particle("Q", Q, 2)]
    loads = [(P, (F - k * q1**2) * N.x), (Q, -(u2**3) * N.x)]
    kdes = [q1.diff(t) - u1, q2.diff(t) - u2]
    dyn = kc.compile(kc.Model(N, [q1, q2], [u1, u2], kd_eqs=kdes, bodies=bodies, forcelist=loads))
    assert [a.tolist() for a in dyn.sparsity("rhs")] == [[0, 1, 2, 2, 3], [2, 3, 0, 4, 3]]
    assert [a.tolist() for a in dyn.sparsity("mass_matrix")] == [[0, 1], [0, 1]]
    assert [a.tolist() for a in dyn.sparsity("rhs_parameter_jacobian")] == [[2, 2], [0, 1]]
    assert [a.tolist() for a in dyn.sparsity("rhs_time_derivative")] == [[], []]
    with pytest.raises(KeyError, match="no pattern of 'udot'; there are patterns of rhs, mass_matrix"):
        dyn.sparsity("udot")
    assert [a.tolist() for a in dyn.sparsity("output_jacobian")] == [[], []]
    dyn.parameters.update({"k": 2.0, "m": 3.0})
    expected = np.zeros((5, 5))
    expected[0, 0], expected[3, 3] = -2 * 2.0 / 3.0 * 0.5, -6 * 0.4 / 2 * 0.25
    found = dyn.rhs_hessian(0.0, [0.1, 0.2, 0.3, 0.4], [7.0, 7.0, 0.5, 0.25])
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_second_derivatives_beside_an_indefinite_mass_matrix() -> None:
    """A row that is found from matrices, with its time, leaves the others their bits; a singular one is named."""
    (q1, q2), c = me.dynamicsymbols("q1 q2"), sm.Symbol("c")
    kinetic = (q1.diff(t) ** 2 + 2 * c * sm.cos(q1) * q1.diff(t) * q2.diff(t) + q2.diff(t) ** 2) / 2
    model = kc.Model.from_lagrangian(kinetic - sm.sin(q1 * q2) * t, [q1, q2])
    dyn, x, w = kc.compile(model), np.array([0.3, 0.8, -0.4, 0.6]), np.linspace(-1.0, 1.0, 4)
    times, p = np.arange(6.0).reshape(2, 3), np.array([0.3, 2.5, 0.7, 0.1, 0.9, 4.0]).reshape(2, 3, 1)
    found = dyn.rhs_hessian(times, x, w, p=p)
    for k in np.ndindex(times.shape):
        np.testing.assert_array_equal(found[k], dyn.rhs_hessian(times[k], x, w, p=p[k]))
    expected = curvature(lambda z: Precise(model).rhs(times[0, 1], z, [], p[0, 1]), w, x, w)
    assert abs(w @ found[0, 1][:4, :4] @ w - expected) < 1e-10 * np.max(np.abs(found[0, 1]))
    x[0] = 0.0
    with pytest.raises(kc.SingularError, match=r"the mass matrix of .* is singular") as caught:
        dyn.rhs_hessian(0.0, x, w, p=[[0.3], [2.5], [1.0]])
    assert (caught.value.rows.tolist(), caught.value.out) == ([2], None)


def test_vectors_of_other_shapes() -> None:
    dyn, _, (time, x, _, _) = case("cart_pole")
    with pytest.raises(ValueError, match=r"dx has shape \(3,\), expected \(..., 4\)"):
        dyn.rhs_jvp(time, x, np.zeros(3))
    with pytest.raises(TypeError, match="weights must be real numbers"):
        dyn.rhs_vjp(time, x, ["a"] * 4)
    with pytest.raises(ValueError, match=r"udot has shape \(3,\), expected \(..., 2\)"):
        dyn.jvp("inverse_dynamics", time, x, np.zeros(3), x)
    with pytest.raises(ValueError, match=r"dr has shape \(\), expected \(..., 1\)"):
        dyn.jvp("inverse_dynamics", time, x, np.zeros(2), x, dr=1.0)
    with pytest.raises(ValueError, match=r"weights has shape \(4,\), expected \(..., 2\)"):
        dyn.vjp("inverse_dynamics", time, x, np.zeros(2), x)
    for product in (dyn.rhs_jvp, dyn.rhs_vjp, dyn.rhs_hessian):
        with pytest.raises(ValueError, match=r"leading axes do not broadcast: x \(2,\), \w+ \(3,\)$"):
            product(time, [x, x], [x, x, x])
        with pytest.raises(ValueError, match=r"do not broadcast: t \(2,\), direction or weights \(3,\)"):
            product([time, time], x, [x, x, x])
    with pytest.raises(ValueError, match=r"leading axes do not broadcast: udot \(2,\), dx \(3,\)$"):
        dyn.jvp("inverse_dynamics", time, x, np.zeros((2, 2)), [x, x, x])
    with pytest.raises(kc.ModelError, match="has no expression: it multiplies by vectors"):
        import_module("kanecore.gallery.cart_pole").build().symbolic("inverse_dynamics_tangent")


def test_calls() -> None:
    """Leading axes, parameters of the call, workspaces, errors as of every kernel."""
    dyn, _, (time, x, r, p) = case("four_bar")
    batch = dyn.rhs_parameter_jacobian([time, 2.0], x, r=r, p=np.array([p, 1.01 * p]))
    np.testing.assert_array_equal(batch[0], dyn.rhs_parameter_jacobian(time, x, r=r))
    assert np.max(np.abs(batch[1] - batch[0])) > 1e-6
    ws = dyn.workspace()
    ws.t, ws.x, ws.r = time, x, r
    np.testing.assert_array_equal(ws.rhs_parameter_jacobian(), batch[0])
    with pytest.raises(ValueError, match="x has shape"):
        dyn.rhs_parameter_jacobian(0.0, x[1:])
