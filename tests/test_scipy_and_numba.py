# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as functions for SciPy and for numba, beside the kernels themselves."""

import ctypes
import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground

import kanecore as kc
from kanecore.gallery import cart_pole

pytestmark = pytest.mark.compiler

Array = npt.NDArray[np.float64]


@pytest.fixture
def pole() -> kc.CompiledModel:
    return kc.load("cart_pole")


def called(function: Any, *values: float) -> float:
    """What an integrand gives, called as SciPy calls it."""
    given = (ctypes.c_double * len(values))(*values)
    return float(function.function(len(values), given, function.user_data))


# SciPy ------------------------------------------------------------------------------------------------------
def test_integrands_of_every_kind_of_variable(pole: kc.CompiledModel) -> None:
    """Coordinate, speed, input, parameter and time, in any order, by names and symbols."""
    theta, m = me.dynamicsymbols("theta"), sm.Symbol("m")
    fixed = {"x": {"omega": 0.7, "v": 0.2}, "r": {"F": 0.4}, "p": {"l": 0.6}}
    function = pole.lowlevel_callable("udot", [m, "v", theta, "t", "F"], "omega", **fixed)
    assert function.signature == "double (int, double *, void *)"
    for mass, v, angle, t, force in np.random.default_rng(0).uniform(0.5, 1.5, size=(20, 5)):
        x = {"omega": 0.7, "v": v, "theta": angle}
        expected = pole.udot(t, x, r={"F": force}, p={"l": 0.6, "m": mass})[1]
        assert called(function, mass, v, angle, t, force) == expected


def test_quad_and_nquad(pole: kc.CompiledModel) -> None:
    """The mean of an energy over angles, and of an acceleration over two parameters and the force."""
    integrate = pytest.importorskip("scipy.integrate")
    value, _ = integrate.quad(pole.lowlevel_callable("potential_energy", "theta"), 0.0, 0.5)
    moment = pole.parameters["m"] * pole.parameters["g"] * pole.parameters["l"]
    assert value == pytest.approx(-moment * np.sin(0.5), rel=1e-12)
    function = pole.lowlevel_callable("rhs", ["theta", "m", "F"], "v", x={"omega": 0.3})

    def in_python(theta: float, m: float, force: float) -> float:
        x = pole.state(theta=theta, omega=0.3)
        return float(pole.rhs(0.0, x, r={"F": force}, p={"m": m})[2])

    ranges, options = [(0.0, 0.5), (0.1, 0.3)], {"epsrel": 1e-6}
    found = integrate.nquad(function, ranges, args=(0.8,), opts=options)
    expected = integrate.nquad(in_python, ranges, args=(0.8,), opts=options)
    assert found == expected


def test_entries_of_matrices_and_numbers(pole: kc.CompiledModel) -> None:
    x = pole.state(theta=0.3)
    M = pole.mass_matrix(0.0, x)
    for i, j in np.ndindex(2, 2):
        assert called(pole.lowlevel_callable("mass_matrix", "theta", (i, j)), 0.3) == M[i, j]
    energy = pole.lowlevel_callable("kinetic_energy", ["theta", "v"])
    assert called(energy, 0.3, 0.5) == pole.kinetic_energy(0.0, {"theta": 0.3, "v": 0.5})
    assert called(pole.lowlevel_callable("rhs", "theta", 3), 0.3) == pole.rhs(0.0, x)[3]


@pytest.mark.long
def test_large_models_and_the_machine() -> None:
    """What does not fit on the stack, and what has addresses among its constants."""
    tree = kc.load("tree30")
    assert tree.n_work > 1024
    x = np.random.default_rng(1).uniform(0.1, 0.5, tree.n_x)
    name = tree.parameter_names[0]
    function = tree.lowlevel_callable("udot", [tree.speed_names[2], name], 5, x=x)
    x[tree.n_q + 2] = 0.8
    assert called(function, 0.8, 1.3) == tree.udot(0.0, x, p={name: 1.3})[5]
    coded = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
    function = coded.lowlevel_callable("udot", ["theta", "m"], 0)
    assert called(function, 0.3, 0.2) == coded.udot(0.0, coded.state(theta=0.3), p={"m": 0.2})[0]


def test_right_hand_side_in_c(pole: kc.CompiledModel) -> None:
    """The kernel of t and x, with what was current; the function lives longer than the model's name."""
    x, out = np.array([0.1, 0.2, 0.3, 0.4]), np.empty(4)
    expected = pole.rhs(0.5, x, r={"F": 0.4}, p={"m": 0.3})
    function = pole.lowlevel_callable("rhs", r={"F": 0.4}, p={"m": 0.3})
    assert function.signature == "void (double, double *, double *, void *)"
    pole.parameters["m"] = 2.0
    del pole
    gc.collect()
    pointer = ctypes.POINTER(ctypes.c_double)
    function.function(0.5, x.ctypes.data_as(pointer), out.ctypes.data_as(pointer), function.user_data)
    np.testing.assert_array_equal(out, expected)


def test_it_keeps_the_model_alive() -> None:
    coded = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")  # code that ends with its model
    function, expected = coded.lowlevel_callable("udot", "theta", 0), coded.udot(0.0, coded.state(theta=0.3))[0]
    del coded
    gc.collect()
    assert called(function, 0.3) == expected


def test_threads_may_call_one_function(pole: kc.CompiledModel) -> None:
    function = pole.lowlevel_callable("udot", ["theta", "m"], 1)
    angles = np.linspace(0.0, 1.0, 2000)
    expected = [called(function, angle, 0.2) for angle in angles]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [called(function, angle, 0.2) for angle in angles], range(4)):
            assert found == expected


def test_singular_states_give_nan() -> None:
    dyn = kc.load("spherical_pendulum")
    name = dyn.coordinate_names[0]
    function = dyn.lowlevel_callable("udot", name, 1)
    with pytest.raises(kc.SingularError):
        dyn.udot(0.0, dyn.state())
    assert np.isnan(called(function, 0.0))
    assert np.isnan(called(function))  # fewer values than it takes
    assert called(function, 0.5) == dyn.udot(0.0, dyn.state({name: 0.5}))[1]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("udot", "thet", 0), {}, KeyError, "theta"),
        (("udot", ["theta", "theta"], 0), {}, ValueError, "over names 'theta' twice"),
        (("udot", [], 0), {}, ValueError, "over is empty"),
        (("udot", "theta"), {}, ValueError, r"udot has the shape \(2,\): say with component="),
        (("udot", "theta", 2), {}, ValueError, r"component is 2, and udot has the shape \(2,\)"),
        (("udot", "theta", (0, 0)), {}, ValueError, r"component is \(0, 0\), and udot"),
        (("udot", "theta", "speed"), {}, KeyError, "speed"),
        (("mass_matrix", "theta", 0), {}, ValueError, "give an index for each axis"),
        (("rsh",), {}, KeyError, "rhs"),
        (("inverse_dynamics", "theta", 0), {}, KeyError, "reads n_u numbers in addition to"),
        (("rhs",), {"x": np.zeros(4)}, ValueError, "t, x and component belong to an integrand"),
        (("rhs",), {"t": 1.0}, ValueError, "t, x and component belong to an integrand"),
        (("udot", "theta", 0), {"x": np.zeros(3)}, ValueError, r"x has shape \(3,\), expected"),
        (("udot", "theta", 0), {"p": np.zeros((2, 6))}, ValueError, r"p has shape \(2, 6\), expected \(6,\)"),
        (("udot", "theta", 0), {"r": {"G": 1.0}}, KeyError, "F"),
    ],
)
def test_wrong_integrands(arguments: Any, options: Any, error: Any, message: str, pole: kc.CompiledModel) -> None:
    with pytest.raises(error, match=message):
        pole.lowlevel_callable(*arguments, **options)


def test_values_that_were_never_set() -> None:
    dyn = kc.compile(cart_pole.build(), parameters={k: v for k, v in cart_pole.PARAMETERS.items() if k != "m"})
    with pytest.raises(ValueError, match="parameter 'm' of 'cart_pole' was never set"):
        dyn.lowlevel_callable("udot", "theta", 0)
    expected = dyn.udot(0.0, dyn.state(), p={"m": 0.2})[0]
    assert called(dyn.lowlevel_callable("udot", "m", 0), 0.2) == expected


def test_floats_are_refused() -> None:
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, real="float")
    with pytest.raises(kc.ModelError, match=r"functions of doubles, and 'cart_pole' is compiled with real='float'"):
        dyn.lowlevel_callable()


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, pole: kc.CompiledModel) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        pole.lowlevel_callable()


# numba ------------------------------------------------------------------------------------------------------
def rows(dyn: kc.CompiledModel, n: int) -> Array:
    return np.random.default_rng(2).uniform(0.1, 0.9, (n, dyn.n_x))


@pytest.mark.long  # ten seconds of numba's compiler
def test_rollouts_in_threads_of_numba(pole: kc.CompiledModel) -> None:
    """RK4 as `rollout` takes it, with the same bits; each thread with its own memory."""
    numba = pytest.importorskip("numba")
    rhs = pole.numba("rhs")

    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def ends(starts: Any, h: float, steps: int, r: Any, c: Any, n_work: int) -> Any:
        result = starts.copy()
        for row in numba.prange(len(starts)):
            work, stage = np.empty(n_work), np.empty(starts.shape[1])
            k = np.empty((4, starts.shape[1]))
            x = result[row]
            for i in range(steps):
                t = i * h
                rhs(t, x, r, c, work, k[0])
                stage[:] = x + 0.5 * h * k[0]
                rhs(t + 0.5 * h, stage, r, c, work, k[1])
                stage[:] = x + 0.5 * h * k[1]
                rhs(t + 0.5 * h, stage, r, c, work, k[2])
                stage[:] = x + h * k[2]
                rhs(t + h, stage, r, c, work, k[3])
                x += h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
        return result

    starts, r = rows(pole, 40), np.array([0.3])
    found = ends(starts, 0.01, 50, r, pole.prepared, pole.n_work)
    expected = pole.rollout(starts, r, dt=0.01, steps=50)
    np.testing.assert_allclose(found, expected[:, -1], rtol=1e-12)


def test_results_and_status_in_numba(pole: kc.CompiledModel) -> None:
    pytest.importorskip("numba")
    x, r, work = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5]), np.full(pole.n_work, np.nan)
    c = pole.prepare({"m": 0.3})
    for kernel in ("rhs", "mass_matrix", "kinetic_energy", "positions"):
        function = pole.numba(kernel)
        expected = np.atleast_1d(getattr(pole, kernel)(0.0, x, r=r, p={"m": 0.3}))
        work, c = np.full(pole.n_work, np.nan), pole.prepare({"m": 0.3})
        out = np.empty_like(expected)
        assert function(0.0, x, r, c, work, out) == 0
        np.testing.assert_array_equal(out, expected)
    beyond, out = np.concatenate([x, [1.0, 2.0]]), np.empty(2)  # udot as well
    assert pole.numba("inverse_dynamics")(0.0, beyond, r, c, np.empty(pole.n_work), out) == 0
    np.testing.assert_array_equal(out, pole.inverse_dynamics(0.0, x, [1.0, 2.0], r=r, p={"m": 0.3}))
    ball = kc.load("spherical_pendulum")
    out = np.zeros(ball.n_x)
    singular = ball.numba()(0.0, np.zeros(ball.n_x), np.zeros(0), ball.prepared, np.empty(ball.n_work), out)
    assert singular == 1  # KC_SINGULAR
    assert np.isnan(out).any()


def test_first_order_states_in_numba() -> None:
    """Called from compiled code: ẋ of a pendulum with a filter of the force in its rubbing pin."""
    numba = pytest.importorskip("numba")
    (q, u, z), (N, O) = me.dynamicsymbols("q u z"), ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    P = O.locatenew("P", -0.4 * A.y)
    rod = me.RigidBody("rod", P, A, 2, (me.inertia(A, 0, 0, 1), P))
    pin = kc.JointFriction("rod", mu=0.2, pin_radius=0.05, transition_velocity=0.1)
    dyn = kc.compile(
        kc.Model(
            *(N, [q], [u], [q.diff() - u]),
            bodies=[rod],
            forcelist=[(P, -20 * N.y), pin],
            states={z: kc.reaction("rod").force.magnitude() - z},
        )
    )
    rhs, zdot = dyn.numba("rhs"), dyn.numba("zdot")

    @numba.njit  # type: ignore[untyped-decorator]
    def both(x: Any, r: Any, c: Any, work: Any, xdot: Any, last: Any) -> Any:
        return rhs(0.0, x, r, c, work, xdot) + zdot(0.0, x, r, c, work, last)

    x, xdot, last = np.array([0.3, -1.2, 4.0]), np.empty(3), np.empty(1)
    assert both(x, np.empty(0), dyn.prepared, np.empty(dyn.n_work), xdot, last) == 0
    np.testing.assert_array_equal(xdot, dyn.rhs(0.0, x))
    np.testing.assert_array_equal(last, xdot[2:])


def test_numba_takes_no_wrong_arrays(pole: kc.CompiledModel) -> None:
    pytest.importorskip("numba")
    rhs = pole.numba()
    x, r, c, work, out = np.zeros(4), np.zeros(1), pole.prepared, np.empty(pole.n_work), np.empty(4)
    for wrong in (
        (x[:3], r, c, work, out),
        (x, r[:0], c, work, out),
        (x, r, c[1:], work, out),
        (x, r, c, work, out[:2]),
    ):
        with pytest.raises(ValueError, match="another length than the kernel"):
            rhs(0.0, *wrong)
    with pytest.raises(ValueError, match="fewer than n_work"):
        rhs(0.0, x, r, c, work[:-1], out)
    for wrong in ((np.zeros(8)[::2], r, c, work, out), (x.astype(np.float32), r, c, work, out)):
        with pytest.raises(TypeError, match="No matching definition"):
            rhs(0.0, *wrong)


def test_numba_in_single_precision() -> None:
    pytest.importorskip("numba")
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, real="float")
    x, r, out = np.full(4, 0.3, np.float32), np.zeros(1, np.float32), np.empty(4, np.float32)
    assert dyn.numba()(0.0, x, r, dyn.prepared, np.empty(dyn.n_work, np.float32), out) == 0
    np.testing.assert_array_equal(out, dyn.rhs(0.0, x))


def test_numba_keeps_the_model_alive_and_no_address_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
    x, r, c, work, out = np.full(4, 0.3), np.zeros(1), dyn.prepared, np.empty(dyn.n_work), np.empty(4)
    expected = dyn.rhs(0.0, x)
    rhs = dyn.numba()
    del dyn
    gc.collect()
    rhs(0.0, x, r, c, work, out)
    np.testing.assert_array_equal(out, expected)
    source = "def call(t, x, r, c, work, out):\n    return rhs(t, x, r, c, work, out)\n"
    (tmp_path / "caller.py").write_text(source)
    namespace: dict[str, Any] = {"rhs": rhs}
    exec(compile(source, str(tmp_path / "caller.py"), "exec"), namespace)
    kept = numba.njit(cache=True)(namespace["call"])
    with pytest.warns(numba.NumbaWarning, match="Cannot cache"):
        kept(0.0, x, r, c, work, out)
    assert not list(tmp_path.rglob("*.nbi"))


def test_without_numba_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, pole: kc.CompiledModel) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match="pip install numba"):
        pole.numba()
