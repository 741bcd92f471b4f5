# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as functions of JAX: values, derivatives, batches, and what its caches hold."""

import ctypes
import gc
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import on_a_line
from sweep import part

import kanecore as kc
from kanecore import _motion
from kanecore.build.c_compiler import find_compiler
from kanecore.gallery import cart_pole

jax = pytest.importorskip("jax")

pytestmark = pytest.mark.compiler
jnp = jax.numpy

Array = npt.NDArray[np.float64]

t_ = me.dynamicsymbols._t


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    """In all threads, until the end of each test."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def arm() -> kc.CompiledModel:
    return kc.load("arm7")


@pytest.fixture
def pole() -> kc.CompiledModel:
    return kc.load("cart_pole")


@pytest.fixture(scope="module")
def driven() -> kc.CompiledModel:
    """Particle with a force that depends on t, q, u, an input and two parameters."""
    F, k, c = me.dynamicsymbols("F"), *sm.symbols("k c")
    outputs = {"push": F * me.dynamicsymbols("q") ** 2, "heat": c * me.dynamicsymbols("u") ** 2}
    return on_a_line(
        "driven",
        lambda q, u: -k * q**3 * sm.cos(t_) - c * u**2 + F * q,
        {"k": 3.0, "c": 0.7},
        inputs=[F],
        outputs=outputs,
    )


def differences(f: Callable[..., Any], arguments: tuple[Any, ...], i: int) -> Array:
    """The derivatives of f by its argument i, a number or a vector, as central differences of order 4."""
    given = np.asarray(arguments[i], dtype=float)
    columns = []
    for j in np.ndindex(given.shape):
        h = 1e-3 * max(1e-1, abs(given[j]))

        def at(s: float, j: Any = j, h: float = h) -> Array:
            moved = given.copy()
            moved[j] += s * h
            return np.asarray(f(*arguments[:i], moved, *arguments[i + 1 :]))

        columns.append((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h))
    if not columns:
        return np.zeros((*np.shape(f(*arguments)), 0))
    result = np.moveaxis(np.array(columns), 0, -1)
    return result[..., 0] if given.ndim == 0 else result


def state(dyn: kc.CompiledModel, *leading: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(0.2, 0.9, size=(*leading, dyn.n_x))


def arguments_of(dyn: kc.CompiledModel) -> tuple[Any, ...]:
    return 0.4, state(dyn), np.linspace(0.3, 0.5, dyn.n_r), np.array(list(dyn.parameters.values()))


def test_values_have_the_bits_of_the_kernel(arm: kc.CompiledModel) -> None:
    f = arm.jax()
    x, many = state(arm), state(arm, 300)
    for function in (f, jax.jit(f)):
        np.testing.assert_array_equal(function(0.0, x), arm.rhs(0.0, x))
        np.testing.assert_array_equal(function(0.0, many), arm.rhs(0.0, many))
        assert function(0, x).dtype == np.float64


@pytest.mark.parametrize("kernel", ["rhs", "udot", "qdot", "mass_matrix", "kinetic_energy", "outputs", "positions"])
def test_other_kernels(kernel: str, driven: kc.CompiledModel) -> None:
    x, many = state(driven), state(driven, 5)
    f, expected = driven.jax(kernel), getattr(driven, kernel)
    np.testing.assert_array_equal(f(0.3, x, jnp.ones(1)), expected(0.3, x, r=[1.0]))
    np.testing.assert_array_equal(jax.vmap(f, (None, 0))(0.3, many), expected(0.3, many))


@pytest.mark.parametrize("kernel", part(["rhs", "udot", "qdot"], ["rhs"]))
@pytest.mark.parametrize(
    "name", part(["driven", "cart_pole", "four_bar", "free_body", "chaplygin_sleigh"], ["driven", "four_bar"])
)
def test_derivatives_are_those_of_differences(name: str, kernel: str, driven: kc.CompiledModel) -> None:
    dyn = driven if name == "driven" else kc.load(name)
    f, given = dyn.jax(kernel), arguments_of(dyn)
    forward = jax.jit(jax.jacfwd(f, argnums=(0, 1, 2, 3)))(*given)
    reverse = jax.jit(jax.jacrev(f, argnums=(0, 1, 2, 3)))(*given)
    for i in range(4):
        expected = differences(f, given, i)
        np.testing.assert_allclose(forward[i], expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(reverse[i], forward[i], rtol=1e-13, atol=1e-13)


def test_derivatives_of_outputs(driven: kc.CompiledModel) -> None:
    f, given = driven.jax("outputs"), arguments_of(driven)
    for i in (1, 2):
        np.testing.assert_allclose(jax.jacrev(f, i)(*given), differences(f, given, i), rtol=1e-8, atol=1e-9)
    with pytest.raises(NotImplementedError, match=r"no derivative of 'outputs' of 'driven' by p.*outputs by x and r"):
        jax.jacfwd(f, 3)(*given)


def test_gradient_of_a_rollout_is_that_of_differences(pole: kc.CompiledModel) -> None:
    """By the start, the inputs of all steps and the parameters, through a scan of RK4 steps."""
    f, n, h = pole.jax(), 40, 0.02

    def end(x: Any, forces: Any, p: Any) -> Any:
        def step(x: Any, force: Any) -> tuple[Any, None]:
            k1 = f(0.0, x, force, p)
            k2 = f(0.0, x + h / 2 * k1, force, p)
            k3 = f(0.0, x + h / 2 * k2, force, p)
            k4 = f(0.0, x + h * k3, force, p)
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return jnp.sum(jax.lax.scan(step, x, forces)[0] ** 2)

    given = state(pole), 0.3 * np.sin(np.arange(n))[:, None], np.array(list(pole.parameters.values()))
    gradients = jax.jit(jax.grad(end, argnums=(0, 1, 2)))(*given)
    value = jax.jit(end)
    for i in range(3):
        expected = differences(value, given, i).reshape(given[i].shape)
        np.testing.assert_allclose(gradients[i], expected, rtol=1e-6, atol=1e-8)


def test_second_derivatives_by_state_and_inputs(driven: kc.CompiledModel, pole: kc.CompiledModel) -> None:
    for dyn in (driven, pole):
        f, given = dyn.jax(), arguments_of(dyn)
        found = jax.jit(jax.hessian(f, argnums=(1, 2)))(*given)
        for i in (1, 2):
            for j in (1, 2):
                expected = differences(jax.jacfwd(f, i), given, j)
                np.testing.assert_allclose(found[i - 1][j - 1], expected, rtol=1e-7, atol=1e-7)
        assert np.shape(jax.vmap(jax.hessian(f, 1), (None, 0))(0.0, state(dyn, 3))) == (3, *[dyn.n_x] * 3)


@pytest.mark.parametrize(("i", "j"), [(3, 3), (3, 1), (1, 3), (0, 0)])
def test_other_second_derivatives_say_so(i: int, j: int, driven: kc.CompiledModel) -> None:
    f = driven.jax()
    with pytest.raises(NotImplementedError, match=r"no derivative of .* second ones by x and r"):
        jax.jacfwd(jax.jacrev(f, i), j)(*arguments_of(driven))


def test_third_derivatives_say_so(driven: kc.CompiledModel) -> None:
    f = driven.jax()
    with pytest.raises(NotImplementedError, match="no derivative of 'rhs_hessian' of 'driven' by x"):
        jax.jacfwd(jax.hessian(f, 1), 1)(*arguments_of(driven))


def test_kernels_without_derivatives_say_so(pole: kc.CompiledModel) -> None:
    f = pole.jax("kinetic_energy")
    with pytest.raises(NotImplementedError, match="no derivative of 'kinetic_energy' of 'cart_pole' by x"):
        jax.grad(f, 1)(0.0, state(pole))
    constant = jax.grad(lambda a: a * jax.lax.stop_gradient(f(0.0, state(pole))))(2.0)
    assert constant == pole.kinetic_energy(0.0, state(pole))


@pytest.mark.parametrize(
    "axes",
    [
        (None, 0, None, None),
        (0, None, None, None),
        (None, None, 0, None),
        (None, 0, 1, None),
        (0, 1, 0, 0),
        (None, 0, None, 0),
    ],
)
def test_vmap_over_any_axis_of_any_argument(axes: tuple[Any, ...], pole: kc.CompiledModel) -> None:
    """Values and gradients, in lanes; only what varies has an axis of its own."""
    n = 300
    rng = np.random.default_rng(4)
    rows = [rng.uniform(0.5, 1.5, size=(n, *shape)) for shape in ((), (pole.n_x,), (pole.n_r,), (pole.n_p,))]
    given = [a[0] if axis is None else np.moveaxis(a, 0, axis) for a, axis in zip(rows, axes, strict=True)]
    rows = [a[0] if axis is None else a for a, axis in zip(rows, axes, strict=True)]
    f = pole.jax()
    found = jax.jit(jax.vmap(f, axes))(*given)
    np.testing.assert_array_equal(found, pole.rhs(rows[0], rows[1], r=rows[2], p=rows[3]))
    slopes = jax.vmap(jax.jacrev(f, 1), axes)(*given)
    np.testing.assert_allclose(
        slopes, pole.linearize(rows[0], rows[1], r=rows[2], p=rows[3])[0], rtol=1e-13, atol=1e-13
    )


def test_vmap_of_vmap_and_leading_axes(pole: kc.CompiledModel) -> None:
    f = pole.jax()
    x, r = state(pole, 6, 4), np.linspace(0.0, 1.0, 5)[:, None]
    expected = pole.rhs(0.0, x, r=r[:, None, None, :])
    each = jax.vmap(f, (None, 0, None))
    np.testing.assert_array_equal(jax.vmap(jax.vmap(each, (None, 0, None)), (None, None, 0))(0.0, x, r), expected)
    # leading axes of the call itself, of which those of r meet the last of x
    np.testing.assert_array_equal(jax.vmap(f, (None, None, 0))(0.0, x, r), expected)
    np.testing.assert_array_equal(f(0.0, x, r[:4]), pole.rhs(0.0, x, r=r[:4]))
    tangent = jax.jvp(lambda r: f(0.0, x, r), (r[:4],), (np.ones((4, 1)),))[1]
    np.testing.assert_allclose(tangent, pole.linearize(0.0, x, r=r[:4])[1][..., 0], rtol=1e-13, atol=1e-13)
    gradient = jax.grad(lambda r: f(0.0, x, r).sum())(jnp.asarray(r[:4]))
    np.testing.assert_allclose(gradient, pole.linearize(0.0, x, r=r[:4])[1].sum(axis=(0, 2)), rtol=1e-12)
    assert f(0.0, np.zeros((0, pole.n_x))).shape == (0, pole.n_x)


def test_vmap_of_many_states_takes_the_time_of_a_batch(arm: kc.CompiledModel) -> None:
    """1.1 times, measured alone; here under whatever else runs."""
    many = state(arm, 10_000)
    f = jax.jit(jax.vmap(arm.jax(), (None, 0)))
    on_device = jnp.asarray(many)

    def ours() -> Any:
        return arm.rhs(0.0, many)

    def theirs() -> Any:
        return f(0.0, on_device).block_until_ready()

    np.testing.assert_array_equal(theirs(), ours())
    best = {ours: np.inf, theirs: np.inf}
    for _ in range(40):
        for function in best:
            start = time.perf_counter()
            function()
            best[function] = min(best[function], time.perf_counter() - start)
    assert best[theirs] < 1.5 * best[ours]


def test_threads_change_no_bit(arm: kc.CompiledModel) -> None:
    many = state(arm, 5000)
    np.testing.assert_array_equal(jax.jit(arm.jax(threads=2))(0.0, many), arm.rhs(0.0, many))


def test_values_that_are_not_given_are_the_current_ones(pole: kc.CompiledModel) -> None:
    x, f = state(pole), pole.jax()
    traced = jax.jit(f)
    before = pole.rhs(0.0, x)
    np.testing.assert_array_equal(traced(0.0, x), before)
    pole.inputs["F"], pole.parameters["m"] = 2.0, 0.7
    np.testing.assert_array_equal(f(0.0, x), pole.rhs(0.0, x))
    np.testing.assert_array_equal(traced(0.0, x), before)  # those of the trace
    assert np.any(before != pole.rhs(0.0, x))


def test_values_by_name(pole: kc.CompiledModel) -> None:
    f = pole.jax()
    found = jax.jit(f)(0.0, {"theta": 0.3}, {"F": 1.0}, {"m": 0.2, "l": 0.4})
    np.testing.assert_array_equal(found, pole.rhs(0.0, {"theta": 0.3}, r={"F": 1.0}, p={"m": 0.2, "l": 0.4}))
    gradient = jax.grad(lambda p: f(0.0, {"theta": 0.3}, p=p).sum())({"m": 0.2})["m"]
    place = pole.parameter_names.index("m")
    expected = pole.rhs_parameter_jacobian(0.0, {"theta": 0.3}, p={"m": 0.2})[:, place].sum()
    assert gradient == pytest.approx(expected, rel=1e-12)
    many = jnp.linspace(0.0, 1.0, 7)
    np.testing.assert_array_equal(
        f(0.0, {"theta": many, "v": 1.0}), pole.rhs(0.0, {"theta": np.asarray(many), "v": 1.0})
    )
    np.testing.assert_array_equal(kc.load("free_body").jax()(0.0, {}), kc.load("free_body").rhs(0.0, {}))
    with pytest.raises(KeyError, match="thet"):
        f(0.0, {"thet": 0.3})


def test_values_that_were_never_set_are_named() -> None:
    dyn = kc.compile(cart_pole.build())
    with pytest.raises(ValueError, match=r"parameters .* of 'cart_pole' were never set"):
        dyn.jax()(0.0, np.zeros(4))
    given = dict.fromkeys(dyn.parameter_names, 1.0)
    assert np.isfinite(dyn.jax()(0.0, np.zeros(4), p=given)).all()
    energy = dyn.jax("kinetic_energy")  # which reads two parameters fewer
    dyn.parameters = {name: value for name, value in given.items() if name not in ("b", "g")}
    assert energy(0.0, np.zeros(4)) == 0.0


def test_without_float64_it_says_how_to_enable_it(pole: kc.CompiledModel) -> None:
    f = pole.jax()
    jax.config.update("jax_enable_x64", False)
    for function in (f, jax.jit(f), pole.jax()):
        with pytest.raises(TypeError, match=r"jax.config.update\('jax_enable_x64', True\)"):
            function(0.0, np.zeros(4))


def test_float32_of_a_caller_is_taken_as_float64(pole: kc.CompiledModel) -> None:
    x = jnp.asarray(state(pole), dtype=jnp.float32)
    f = pole.jax()
    np.testing.assert_array_equal(f(jnp.float32(0.0), x), pole.rhs(0.0, np.asarray(x, dtype=float)))
    assert jax.jacfwd(f, 1)(0.0, x).dtype == np.float64


def test_single_precision_needs_no_float64() -> None:
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, real="float")
    x = state(dyn).astype(np.float32)
    f = dyn.jax()
    for enabled in (False, True):
        jax.config.update("jax_enable_x64", enabled)
        found = f(0.0, x)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, dyn.rhs(0.0, x))
        np.testing.assert_allclose(jax.jacrev(f, 1)(0.0, x), dyn.linearize(0.0, x)[0], rtol=1e-6)
        with pytest.raises(NotImplementedError, match=r"by x .*in double precision"):
            jax.hessian(f, 1)(0.0, x)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0.0, np.zeros(3)), ValueError, r"x has shape \(3,\), expected \(..., 4\)"),
        ((0.0, 1.0), ValueError, r"x has shape \(\), expected"),
        ((0.0, np.zeros(4), np.zeros(2)), ValueError, r"r has shape \(2,\), expected \(..., 1\)"),
        ((0.0, np.zeros(4), None, np.zeros((2, 3))), ValueError, r"p has shape \(2, 3\), expected"),
        ((0.0, np.zeros(4) + 1j), TypeError, "x must be real numbers, got dtype complex128"),
        ((0.0, np.zeros((3, 4)), np.zeros((2, 1))), ValueError, "broadcast"),
        ((0.0, None), TypeError, "x must be real numbers, got None"),
        ((0.0, [[0.0], [0.0, 1.0]]), (TypeError, ValueError), "x must be real numbers, got"),
    ],
)
def test_wrong_arguments(arguments: Any, error: Any, message: str, pole: kc.CompiledModel) -> None:
    f = pole.jax()
    for function in (f, jax.jit(f)):
        with pytest.raises(error, match=message):
            function(*arguments)


def test_wrong_kernels(pole: kc.CompiledModel) -> None:
    with pytest.raises(KeyError, match="rhs"):
        pole.jax("rsh")
    with pytest.raises(KeyError, match="inverse_dynamics reads n_u numbers in addition to t, x, r and p"):
        pole.jax("inverse_dynamics")
    with pytest.raises(kc.ModelError, match="'rolling_disc' has no coriolis matrix"):
        kc.load("rolling_disc").jax("coriolis_matrix")
    assert pole.jax("constraint_jacobian")(0.0, np.zeros(4)).shape == (0, 2)


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), (True, TypeError)])
def test_wrong_threads(threads: Any, error: Any, pole: kc.CompiledModel) -> None:
    with pytest.raises(error, match="threads is"):
        pole.jax(threads=threads)


def test_singular_state_raises_and_names_the_speed() -> None:
    """Also in a batch; what is not a number gives none in its row alone."""
    dyn = kc.load("spherical_pendulum")
    x = np.zeros(dyn.n_x)
    with pytest.raises(kc.SingularError) as expected:
        dyn.rhs(0.0, x)
    name = re.search(r"the pivot of speed '\w+' vanished", str(expected.value))
    assert name is not None
    f = dyn.jax()
    for function in (f, jax.jit(f)):
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"SingularError.*{name[0]}"):
            function(0.0, x).block_until_ready()
    many = state(dyn, 300)
    many[17] = 0.0
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"SingularError.*row 17"):
        jax.vmap(f, (None, 0))(0.0, many).block_until_ready()
    many[17] = np.nan
    found = np.asarray(jax.vmap(f, (None, 0))(0.0, many))
    assert np.isnan(found[17]).any()
    assert np.isfinite(np.delete(found, 17, axis=0)).all()


SQUARE = """
double f(double x) { return x * x; }
double df(double x) { return 2 * x; }
double d2f(double x) { return x - x + 2; }
double d3f(double x) { return x - x; }
"""


def test_the_machine_and_functions_in_c(tmp_path: Path) -> None:
    """Models that hold addresses: none of them is in the program."""
    (tmp_path / "f.c").write_text(SQUARE)
    subprocess.run([*find_compiler(), "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "f.so"))
    square = sm.Function("square")
    functions = {square: kc.CFunction(library.f, library.df, library.d2f, library.d3f)}
    called = on_a_line("called", lambda q, u: -square(q) * q - u, {}, functions=functions)
    coded = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
    for dyn in (called, coded):
        f, x = dyn.jax(), state(dyn)
        np.testing.assert_array_equal(jax.jit(f)(0.0, x), dyn.rhs(0.0, x))
        np.testing.assert_allclose(jax.jacrev(f, 1)(0.0, x), dyn.linearize(0.0, x)[0], rtol=1e-13)
        program = jax.jit(f).lower(0.0, x).as_text()
        assert jax.jit(dyn.jax()).lower(0.0, x).as_text() == program
        addresses = [dyn.address("rhs"), *(a for group in dyn.libraries.functions.values() for a in group.addresses)]
        assert not [a for a in addresses if str(a) in program or f"{a:x}" in program]


def test_programs_outlive_whoever_made_them() -> None:
    def program() -> Any:
        dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
        x = np.full(4, 0.3)
        return jax.jit(dyn.jax()).lower(0.0, x).compile(), dyn.rhs(0.0, x), x

    compiled, expected, x = program()
    gc.collect()
    np.testing.assert_array_equal(compiled(0.0, x), expected)


def test_models_of_one_name_are_told_apart() -> None:
    first, second = (on_a_line("same", lambda q, u, k=k: -k * q, {}) for k in (1, 2))
    x = np.array([1.0, 0.0])
    assert [float(dyn.jax()(0.0, x)[1]) for dyn in (first, second)] == [-1.0, -2.0]


def test_compilations_of_one_text_are_told_apart() -> None:
    """With other flags, whose bits may be others; the same library again has the same name."""
    model, x = cart_pole.build(), np.full(4, 0.3)
    programs = []
    for cflags in ("-O0", "-O1", "-O0"):
        dyn = kc.compile(model, parameters=cart_pole.PARAMETERS, cflags=cflags)
        programs.append(re.findall(r'model = "(.*?)"', jax.jit(dyn.jax()).lower(0.0, x).as_text()))
        np.testing.assert_array_equal(dyn.jax()(0.0, x), dyn.rhs(0.0, x))
    assert programs[0] == programs[2]
    assert len(programs[0]) == 1
    assert programs[0] != programs[1]


def test_data_of_splines_tell_models_apart() -> None:
    curve, x = sm.Function("curve"), np.array([0.5, 0.0])
    for slope in (1.0, 2.0):
        knots = np.linspace(0.0, 1.0, 5)
        dyn = on_a_line("spring", lambda q, u: -curve(q), {}, functions={curve: kc.Spline(knots, slope * knots)})
        assert dyn.jax()(0.0, x)[1] == dyn.rhs(0.0, x)[1] == pytest.approx(-0.5 * slope)


def test_threads_of_python_may_call_at_once(arm: kc.CompiledModel) -> None:
    from concurrent.futures import ThreadPoolExecutor

    f = jax.jit(jax.vmap(arm.jax(), (None, 0)))
    batches = [state(arm, 400, seed=seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: np.asarray(f(0.0, x)), batches * 5))
    for x, result in zip(batches * 5, found, strict=True):
        np.testing.assert_array_equal(result, arm.rhs(0.0, x))


INTERRUPTED = """
import os, signal, threading, time
import jax
jax.config.update("jax_enable_x64", True)
import kanecore as kc
from kanecore.gallery import tree30
dyn = kc.compile(tree30.build(), parameters=tree30.PARAMETERS, cc="none")
energy, x, times = dyn.jax("kinetic_energy"), dyn.state() + 0.1, jax.numpy.zeros(5_000_000)
energy(times[:10], x).block_until_ready()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    energy(times, x).block_until_ready()
except KeyboardInterrupt:
    print("stopped", time.perf_counter() - start < 2.0)
"""


@pytest.mark.long
def test_an_interrupt_ends_a_batch() -> None:
    """That of the batch would be a quarter of a minute away."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert done.stdout == "stopped True\n", done.stdout + done.stderr


LEFT = """
import jax
jax.config.update("jax_enable_x64", True)
import kanecore as kc
dyn = kc.load("chain40")
dyn.jax("rhs")(0.0, jax.numpy.full((20_000, dyn.n_x), 0.1))
"""


@pytest.mark.long
def test_a_process_may_end_before_its_results() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=False, timeout=60)
    told = [line for line in done.stderr.splitlines() if not line.startswith("kanecore: compiling")]
    assert (done.returncode, told) == (0, [])


def test_parameters_that_are_not_finite_are_named(pole: kc.CompiledModel) -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match="parameter 'M' is not finite in p"):
        pole.jax()(0.0, state(pole), p={"M": np.nan}).block_until_ready()


ANOTHER = """
import os, sys
import numpy as np
import jax
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
import kanecore as kc
kept = []
jax.monitoring.register_event_listener(lambda event, **_: kept.append(event))
dyn = kc.load("cart_pole")
f = dyn.jax()
x = np.full(4, 0.3)
program = jax.jit(jax.value_and_grad(lambda x: f(0.0, x).sum()))
np.testing.assert_array_equal(program(x)[1], dyn.linearize(0.0, x)[0].sum(axis=0))
print(kept.count("/jax/compilation_cache/cache_hits"), jax.jit(f).lower(0.0, x).as_text().count(" "))
print(jax.jit(f).lower(0.0, x).as_text())
"""


def test_another_process_takes_the_kept_program(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        command = [sys.executable, "-c", ANOTHER, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ.copy())
        assert done.returncode == 0, done.stderr
        first, *text = done.stdout.splitlines()
        runs.append((int(first.split()[0]), text))
    assert runs[0][1] == runs[1][1]
    assert runs[0][0] < runs[1][0]


def test_program_of_a_model_that_is_not_there_says_so() -> None:
    result = jax.ShapeDtypeStruct((4,), np.float64)
    call = jax.ffi.ffi_call("kanecore", result)
    kc.load("cart_pole").jax()
    given = [np.zeros(n) for n in (4, 1, 6)]
    with pytest.raises(jax.errors.JaxRuntimeError, match="compiled for a model 'gone 12', which no one has made"):
        call(np.zeros(()), *given, model="gone 12", kernel="rhs", threads=np.int64(1)).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="needs the attribute 'kernel'"):
        call(np.zeros(()), *given, model="gone 12", threads=np.int64(1)).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="arguments t, x, r, p"):
        call(np.zeros(()), model="gone 12", kernel="rhs", threads=np.int64(1)).block_until_ready()


def test_other_devices_say_so() -> None:
    """The function that is registered for them, called here."""
    jax.ffi.register_ffi_target("kanecore elsewhere", _motion.xla_functions()[1], platform="cpu")
    call = jax.ffi.ffi_call("kanecore elsewhere", jax.ShapeDtypeStruct((1,), np.float64))
    with pytest.raises(jax.errors.JaxRuntimeError, match="kanecore computes on the CPU alone"):
        call(np.zeros(1)).block_until_ready()


def test_without_jax_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['jax'] = None; import kanecore as kc; kc.load('rrp').jax()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ImportError: dyn.jax needs JAX: pip install jax" in done.stderr


LAYOUT = """
#include "xla/ffi/api/c_api.h"
#include "kc_xla.h"
#define SAME(name, a, b) typedef char name[(a) == (b) ? 1 : -1]
typedef __typeof__(*((XLA_FFI_Args *)0)->extension_start) extension; /* versions of XLA name it differently */
"""

# Of each structure its name here and there, the last member that is used, and the members by both names.
STRUCTURES = [
    ("kc_xla_extension", "extension", "type type, next next"),
    ("kc_xla_version", "XLA_FFI_Api_Version", "extensions extension_start, major major_version, minor minor_version"),
    ("kc_xla_metadata", "XLA_FFI_Metadata_Extension", "base extension_base, answer metadata"),
    ("kc_xla_buffer", "XLA_FFI_Buffer", "extensions extension_start, type dtype, data data, rank rank, lengths dims"),
    ("kc_xla_buffers", "XLA_FFI_Args", "extensions extension_start, size size, types types, at args"),
    ("kc_xla_buffers", "XLA_FFI_Rets", "extensions extension_start, size size, types types, at rets"),
    ("kc_xla_text", "XLA_FFI_ByteSpan", "at ptr, length len"),
    ("kc_xla_scalar", "XLA_FFI_Scalar", "type dtype, value value"),
    ("kc_xla_attributes", "XLA_FFI_Attrs", "size size, types types, names names, at attrs"),
    ("kc_xla_error_arguments", "XLA_FFI_Error_Create_Args", "message message, code errc"),
    ("kc_xla_api", "XLA_FFI_Api", "version api_version, internal internal_api, new_error XLA_FFI_Error_Create"),
    (
        "kc_xla_call",
        "XLA_FFI_CallFrame",
        "api api, context ctx, stage stage, arguments args, results rets, attributes attrs",
    ),
]
VALUES = [
    ("KC_XLA_FLOAT", "XLA_FFI_DataType_F32"),
    ("KC_XLA_DOUBLE", "XLA_FFI_DataType_F64"),
    ("KC_XLA_SCALAR", "XLA_FFI_AttrType_SCALAR"),
    ("KC_XLA_STRING", "XLA_FFI_AttrType_STRING"),
    ("KC_XLA_METADATA", "XLA_FFI_Extension_Metadata"),
    ("KC_XLA_CANCELLED", "XLA_FFI_Error_Code_CANCELLED"),
    ("KC_XLA_FAILED_PRECONDITION", "XLA_FFI_Error_Code_FAILED_PRECONDITION"),
    ("KC_XLA_MAJOR", "XLA_FFI_API_MAJOR"),
]


def test_declarations_are_those_of_the_installed_xla(root: Path, tmp_path: Path) -> None:
    lines = [f"SAME(value_{i}, (int){ours}, (int){theirs});" for i, (ours, theirs) in enumerate(VALUES)]
    for n, (ours, theirs, members) in enumerate(STRUCTURES):
        for m, (here, there) in enumerate(pair.split() for pair in members.split(", ")):
            sizes = f"sizeof((({ours} *)0)->{here}), sizeof((({theirs} *)0)->{there})"
            lines.append(f"SAME(size_{n}_{m}, {sizes});")
            lines.append(f"SAME(place_{n}_{m}, offsetof({ours}, {here}), offsetof({theirs}, {there}));")
    (tmp_path / "layout.c").write_text(LAYOUT + "\n".join(lines) + "\n")
    command = [*find_compiler(), "-std=c99", f"-I{jax.ffi.include_dir()}", f"-I{root / 'kanecore/src'}"]
    subprocess.run([*command, "-c", "layout.c", "-o", "layout.o"], cwd=tmp_path, check=True)
