# SPDX-License-Identifier: BSD-3-Clause
"""Gradients over rollouts: of an oscillator, whose steps are powers of a matrix, and by differences of rollouts."""

from importlib import import_module
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point, moving_point

import kanecore as kc
from kanecore.gallery import free_body

Array = npt.NDArray[Any]
STEPS, H = 7, 0.3


def spring() -> kc.Model:
    """m q̈ = F − k q − c q̇."""
    q, u, F = me.dynamicsymbols("q u F")
    k, c = sm.symbols("k c")
    return mass_point({q: u}, 1, [F - k * q - c * u])


@pytest.fixture(scope="module")
def oscillator() -> kc.CompiledModel:
    return kc.compile(spring(), parameters={"k": 2.0, "c": 0.4})


def step_matrices(method: str, k: complex, c: complex) -> tuple[Array, Array]:
    """R and S of x⁺ = R x + S F: of order 4 the Taylor polynomial of exp(H A); of Euler u⁺ first, then q + H u⁺."""
    a, b = np.array([[0, 1], [-k, -c]]), np.array([0, 1])
    if method == "euler":
        row, push = np.array([-H * k, 1 - H * c]), H
        return np.array([[1, 0] + H * row, row]), np.array([H * push, push])
    powers = [np.linalg.matrix_power(H * a, i) for i in range(5)]
    whole = sum(power / factorial(i) for i, power in enumerate(powers))
    return np.asarray(whole), H * sum(power / factorial(i + 1) for i, power in enumerate(powers[:4])) @ b


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_first_order_states(method: str) -> None:
    """A force z that follows F, T ż = F − z: by powers of a matrix, differentiated by complex steps, as above."""
    q, u, F, z = me.dynamicsymbols("q u F z")
    k, T = sm.symbols("k T")
    N, _, P = moving_point({q: u})
    load = (P, (z - k * q) * N.x)
    parts = {"bodies": [me.Particle("P", P, 1)], "forcelist": [load], "states": {z: (F - z) / T}}
    dyn = kc.compile(kc.Model(N, [q], [u], kd_eqs=[q.diff() - u], **parts), parameters={"k": 2.0, "T": 0.7})
    rng = np.random.default_rng(4)
    x0, inputs, weights = rng.normal(size=3), rng.normal(size=(STEPS, 1)), rng.normal(size=(STEPS + 1, 3))

    def value(x: Array, inputs: Array, k: complex, T: complex) -> Any:
        a, b = np.array([[0, 1, 0], [-k, 0, 1], [0, 0, -1 / T]]), np.array([0, 0, 1 / T])
        total = weights[0] @ x
        for force, w in zip(inputs[:, 0], weights[1:], strict=True):
            if method == "euler":
                x = x + H * np.array([0, 1, 1]) * (a @ x + b * force)
                x = x + H * np.array([x[1], 0, 0])
            else:
                powers = [np.linalg.matrix_power(H * a, i) for i in range(5)]
                of_force = sum(power / factorial(i + 1) for i, power in enumerate(powers[:4]))
                x = sum(power / factorial(i) for i, power in enumerate(powers)) @ x + H * of_force @ b * force
            total = total + w @ x
        return total

    found = dyn.rollout_vjp(x0, inputs, weights, dt=H, method=method, by_parameters=True)
    tiny = 1e-30j
    by_x = [value(x0 + tiny * unit, inputs, 2.0, 0.7).imag / 1e-30 for unit in np.eye(3)]
    by_r = [value(x0, inputs + tiny * unit[:, np.newaxis], 2.0, 0.7).imag / 1e-30 for unit in np.eye(STEPS)]
    by_p = {"k": value(x0, inputs, 2.0 + tiny, 0.7).imag / 1e-30, "T": value(x0, inputs, 2.0, 0.7 + tiny).imag / 1e-30}
    np.testing.assert_allclose(found.x0, by_x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.inputs[:, 0], by_r, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.parameters, [by_p[name] for name in dyn.parameter_names], rtol=1e-12)


@pytest.mark.compiler
def test_single_precision(oscillator: kc.CompiledModel) -> None:
    """The gradients of doubles, to the digits of floats; rows in lanes have the bits of rows alone."""
    x0, inputs = np.random.default_rng(5).normal(size=(40, 2)), np.ones((40, STEPS, 1))
    floats = kc.compile(spring(), parameters={"k": 2.0, "c": 0.4}, real="float")
    weights = np.cos(np.arange(2.0 * STEPS + 2.0)).reshape(STEPS + 1, 2)
    expected = oscillator.rollout_vjp(x0, inputs, weights, dt=H, by_parameters=True)
    found = floats.rollout_vjp(x0, inputs, weights, dt=H, by_parameters=True)
    one = floats.rollout_vjp(x0[9], inputs[9], weights, dt=H, by_parameters=True)
    for name in ("x0", "inputs", "parameters", "states"):
        array = getattr(found, name)
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, getattr(expected, name), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(array[9], getattr(one, name))


def cost(method: str, x0: Array, inputs: Array, weights: Array, k: complex = 2.0, c: complex = 0.4) -> Any:
    """Weights · X."""
    R, S = step_matrices(method, k, c)
    total, x = weights[0] @ x0, x0
    for force, w in zip(inputs[:, 0], weights[1:], strict=True):
        x = R @ x + S * force
        total = total + w @ x
    return total


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_powers_of_a_matrix(oscillator: kc.CompiledModel, method: str) -> None:
    """The oracle is differentiated by complex steps, exactly to rounding."""
    rng = np.random.default_rng(1)
    x0, inputs, weights = rng.normal(size=2), rng.normal(size=(STEPS, 1)), rng.normal(size=(STEPS + 1, 2))
    found = oscillator.rollout_vjp(x0, inputs, weights, dt=H, method=method, by_parameters=True)
    tiny = 1e-30j
    by_x = [cost(method, x0 + tiny * unit, inputs, weights).imag / 1e-30 for unit in np.eye(2)]
    by_r = [cost(method, x0, inputs + tiny * unit[:, np.newaxis], weights).imag / 1e-30 for unit in np.eye(STEPS)]
    by_k = cost(method, x0, inputs, weights, k=2.0 + tiny).imag / 1e-30
    by_c = cost(method, x0, inputs, weights, c=0.4 + tiny).imag / 1e-30
    np.testing.assert_allclose(found.x0, by_x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.inputs[:, 0], by_r, rtol=1e-12, atol=1e-12)
    assert found.parameters is not None
    names = oscillator.parameter_names
    np.testing.assert_allclose(found.parameters[[names.index("k"), names.index("c")]], [by_k, by_c], rtol=1e-12)
    np.testing.assert_array_equal(found.states, oscillator.rollout(x0, inputs, dt=H, method=method))


@pytest.mark.compiler
def test_rows(oscillator: kc.CompiledModel) -> None:
    """Rows in lanes and threads have the bits of rows alone; a function gives the weights; inputs may be held."""
    rng = np.random.default_rng(2)
    x0, inputs = rng.normal(size=(300, 2)), rng.normal(size=(300, STEPS, 1))
    p = np.column_stack([np.linspace(1.0, 3.0, 300)] * 2)

    def weights(states: Array) -> Array:
        return np.asarray(np.cos(states))

    many = oscillator.rollout_vjp(x0, inputs, weights, dt=H, parameters=p, by_parameters=True, threads=2)
    assert many.parameters is not None
    for i in (0, 7, 299):
        one = oscillator.rollout_vjp(x0[i], inputs[i], weights, dt=H, parameters=p[i], by_parameters=True)
        for name in ("x0", "inputs", "parameters"):
            np.testing.assert_array_equal(getattr(many, name)[i], getattr(one, name))
    held = oscillator.rollout_vjp(x0[0], [0.5], np.ones(2), dt=H, steps=STEPS)
    each = oscillator.rollout_vjp(x0[0], np.full((STEPS, 1), 0.5), np.ones((STEPS + 1, 2)), dt=H)
    np.testing.assert_array_equal(held.inputs, each.inputs)
    assert held.parameters is None


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_unit_quaternions(method: str) -> None:
    """Along changes of a start that is brought back to unit length, by differences of order four."""
    dyn = kc.compile(free_body.build(), parameters=free_body.PARAMETERS)
    rng, e = np.random.default_rng(3), list(dyn.unit[0])
    x, d, r = rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, (20, dyn.n_r))
    target = rng.uniform(-1, 1, (21, dyn.n_x))

    def start(s: float) -> Array:
        y = x + s * d
        y[e] /= np.linalg.norm(y[e])
        return y

    def value(s: float) -> float:
        return float(np.sum((dyn.rollout(start(s), r, dt=0.02, method=method) - target) ** 2))

    x = start(0.0)
    d[e] -= x[e] * (x[e] @ d[e])
    h = 1e-3
    expected = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
    found = dyn.rollout_vjp(x, r, lambda states: 2 * (states - target), dt=0.02, method=method)
    np.testing.assert_allclose(found.x0 @ d, expected, rtol=1e-9)
    assert abs(found.x0[e] @ x[e]) < 1e-12 * np.linalg.norm(found.x0)


def test_the_way_back_to_a_circle() -> None:
    """The nearest state is l q/|q|, and u without its part along q, in closed form; l is a parameter."""
    x, y, u, v = sm.symbols("x y u v", real=True)
    length = sm.Symbol("l", real=True)
    q, w = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    model = mass_point(
        dict(zip(q, w, strict=True)), 2, configuration_constraints={"wire": q[0] ** 2 + q[1] ** 2 - length**2}
    )
    dyn = kc.compile(model, parameters={"l": 1.5})
    place, speed = sm.Matrix([x, y]), sm.Matrix([u, v])
    nearest = length * place / place.norm()
    after = sm.Matrix([*nearest, *(speed - nearest * nearest.dot(speed) / length**2)])
    slopes = sm.lambdify((x, y, u, v, length), after.jacobian([x, y, u, v, length]), "numpy")
    weights = np.array([0.4, -1.1, 0.7, 0.2])
    for state in ([0.9, -1.1, 0.5, 0.8], [0.0, -1.5, 0.3, 0.0], [0.0, -1.5, 0.0, 0.0]):
        vectors = np.concatenate([np.zeros(dyn.n_u + dyn.n_constraints), weights])
        found = dyn.kernels.project_gradient(0.0, state, vectors)
        np.testing.assert_allclose(found, weights @ slopes(*state, 1.5), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize(
    "name",
    [
        "slider_crank",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("four_bar", "rolling_disc", "snakeboard")),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("ball_turntable", "appell_hamel")),
    ],
)
def test_constraints(name: str, method: str) -> None:
    """Along changes of start, inputs and parameters, by differences of order four; rows have the bits of one row."""
    module = import_module(f"kanecore.gallery.{name}")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    rng = np.random.default_rng(6)
    start = getattr(module, "STATE", {})
    x = np.array([start.get(k, 0.4) for k in (*dyn.coordinate_names, *dyn.speed_names)])
    x = dyn.consistent(0.0, x + 0.1 * rng.uniform(-1, 1, dyn.n_x), None)
    r, p = np.full((STEPS, dyn.n_r), 0.3), np.array([dyn.parameters[k] for k in dyn.parameter_names])
    dx, dr, dp = rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, r.shape), p * rng.uniform(-1, 1, len(p))
    weights = rng.uniform(-1, 1, (STEPS + 1, dyn.n_x))
    found = dyn.rollout_vjp(x, r, weights, dt=0.02, method=method, by_parameters=True)
    assert found.parameters is not None

    def value(s: float, of_x: int, of_r: int, of_p: int) -> Any:
        inputs, values = r + s * of_r * dr, p + s * of_p * dp
        begin = dyn.kernels.project(0.0, x + s * of_x * dx, r=inputs[0], p=values)
        return np.sum(weights * dyn.rollout(begin, inputs, dt=0.02, method=method, parameters=values))

    gradients = (found.x0 @ dx, np.sum(found.inputs * dr), found.parameters @ dp)
    for k, gradient in enumerate(gradients):
        along, h = np.eye(3, dtype=int)[k], 2e-4
        nearer, farther = (value(s, *along) - value(-s, *along) for s in (h, 2 * h))
        np.testing.assert_allclose(gradient, (8 * nearer - farther) / (12 * h), rtol=1e-8, atol=1e-8)
    many = dyn.rollout_vjp(np.tile(x, (40, 1)), r, weights, dt=0.02, method=method, by_parameters=True)
    np.testing.assert_array_equal(many.x0[17], found.x0)
    np.testing.assert_array_equal(many.parameters[17], found.parameters)


@pytest.mark.long
def test_redundant_rows() -> None:
    """Bricard's mechanism, which four of its five rows close: rollouts jump by 1e-9 with the rows that a step takes.

    So differences of near parameters are noise, and those of far ones agree.
    """
    module = import_module("kanecore.gallery.bricard")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    x = np.array([module.STATE[k] for k in (*dyn.coordinate_names, *dyn.speed_names)])
    weights, p = np.linspace(-1.0, 1.0, dyn.n_x), np.array([dyn.parameters[k] for k in dyn.parameter_names])
    found = dyn.rollout_vjp(x, None, weights, dt=0.01, steps=20, by_parameters=True)
    assert found.parameters is not None
    h = 5e-3
    for gradient, unit in zip(found.parameters, np.eye(len(p)), strict=True):
        ends = [dyn.rollout(x, dt=0.01, steps=20, parameters=p + k * h * unit) @ weights for k in (-2, -1, 1, 2)]
        two_back, back, on, two_on = map(np.sum, ends)
        np.testing.assert_allclose(gradient, (8 * (on - back) - two_on + two_back) / (12 * h), rtol=2e-6, atol=2e-6)


def test_ways_back_without_gradient() -> None:
    """No motion leads from there to the constraints: coordinates are changed directly."""
    module = import_module("kanecore.gallery.slider_crank")
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS)
    vectors = np.ones(dyn.n_u + dyn.n_constraints + dyn.n_x)
    with pytest.raises(kc.SingularError, match=r"has no gradient at .*: no motion led back.*start nearer"):
        dyn.kernels.project_gradient(0.0, [2.77, 1.35, 0.25, -1.34], vectors)


def test_errors(oscillator: kc.CompiledModel) -> None:
    with pytest.raises(ValueError, match=r"weights has shape \(3,\), expected \(8, 2\)"):
        oscillator.rollout_vjp([1.0, 0.0], None, np.ones(3), dt=H, steps=STEPS)
    for weights in (None, lambda states: None, np.ones(2) * 1j, lambda states: "1"):  # not one NaN, nor the real part
        with pytest.raises(TypeError, match="weights must be real numbers"):
            oscillator.rollout_vjp([1.0, 0.0], None, weights, dt=H, steps=STEPS)
    with pytest.raises(kc.IntegrationError, match="rollout"):
        oscillator.rollout_vjp([np.nan, 0.0], None, np.ones(2), dt=H, steps=STEPS)


def test_derivatives_that_do_not_exist() -> None:
    """A force √x at x = 0."""
    x, v = me.dynamicsymbols("x v")
    model = mass_point({x: v}, 1, [sm.sqrt(x)])
    dyn = kc.compile(model)
    with pytest.raises(kc.NonFiniteError, match=r"the gradient is not finite: .*root at 0"):
        dyn.rollout_vjp(np.zeros(2), None, np.ones(2), dt=H, steps=3)
    with pytest.raises(kc.NonFiniteError, match="of row 1 and 0 others") as caught:
        dyn.rollout_vjp([[1.0, 0.0], [0.0, 0.0]], None, np.ones(2), dt=H, steps=3)
    assert caught.value.rows.tolist() == [1]
