# SPDX-License-Identifier: BSD-3-Clause
"""Discrete controllers and inputs in C: asked once a sample, in order, held between, and every wrong use."""

import ctypes
import subprocess

import numpy as np
import pytest

import kanecore as kc
from kanecore.build.c_compiler import find_compiler

X0 = [0.3, 0.1, 0.0, 0.0]


@pytest.fixture(scope="module")
def cart():
    return kc.load("cart_pole")


def law(x):
    return [-5.0 * x[0] - 3.0 * x[2]]


class Controller:
    """A law with a memory: what it was asked, and how often."""

    def __init__(self):
        self.times, self.given = [], []

    def __call__(self, t, x):
        self.times.append(t)
        self.given.append(law(x))
        return self.given[-1]


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4", "rosenbrock", "auto"])
def test_the_controller_is_asked_once_a_sample_and_held(cart, method):
    controller = Controller()
    options = {"dt": 0.01} if method == "rk4" else {"rtol": 1e-10, "atol": 1e-10}
    sol = cart.simulate((0, 1), X0, inputs=controller, sample_time=0.1, method=method, **options)
    assert controller.times == pytest.approx(np.arange(10) * 0.1, abs=1e-15)
    x, t = np.array(X0), 0.0
    for k in range(10):
        assert controller.given[k] == pytest.approx(law(x), abs=1e-7)
        run = cart.simulate((t, t + 0.1), x, inputs=controller.given[k], method=method, **options)
        assert sol(t + 0.05) == pytest.approx(run(t + 0.05), abs=1e-7)
        x, t = run.x[-1], run.t[-1]
    assert sol.x[-1] == pytest.approx(x, abs=1e-7)
    places = np.minimum((sol.t + 1e-12) // 0.1, 9).astype(int)
    assert np.array_equal(sol.r, np.array(controller.given)[places])
    assert sol.energy_drift < 1e-6
    assert sol["F"].shape == sol.t.shape


def test_samples_go_on_from_any_start_in_either_direction(cart):
    for start, end in ((0.0, 0.35), (1e6, 1e6 + 0.35), (3.0, 2.65)):
        controller = Controller()
        sol = cart.simulate((start, end), X0, inputs=controller, sample_time=0.1)
        sign = np.sign(end - start)
        assert np.array(controller.times) == pytest.approx(start + sign * np.array([0.0, 0.1, 0.2, 0.3]), abs=1e-9)
        inside = start + sign * np.array([0.05, 0.15, 0.25, 0.33])
        held = [sol._inputs(t, X0)[0] for t in inside]
        assert held == [given[0] for given in controller.given]


def test_an_event_within_a_sample_does_not_ask_again(cart):
    controller = Controller()
    stop = kc.Event("x", direction=-1, reset=lambda t, x: x * [1, 1, -1, 1])
    sol = cart.simulate((0, 2), X0, inputs=controller, sample_time=0.5, events=stop)
    assert len(controller.times) == 4
    assert len(sol.t_events[0])
    times = []
    sol = cart.simulate((0, 1), X0, inputs=lambda t, x: times.append(t) or [0.0], sample_time=0.25, t_eval=[0.1, 0.9])
    assert times == [0.0, 0.25, 0.5, 0.75]
    assert sol.t.tolist() == [0.1, 0.9]


def test_many_samples(cart):
    count = [0]

    def counted(t, x):
        count[0] += 1
        return np.array(law(x))

    sol = cart.simulate((0, 1), X0, inputs=counted, sample_time=1e-3, t_eval=[1.0])
    assert count[0] == 1000
    smooth = cart.simulate((0, 1), X0, inputs=lambda t, x: law(x))
    assert sol.x[-1] == pytest.approx(smooth.x[-1], abs=2e-2)


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laws")
    source, library = folder / "laws.c", folder / "laws.so"
    source.write_text(
        "#include <math.h>\n"
        "void law(double t, const double *x, double *r) { r[0] = -5.0 * x[0] - 3.0 * x[2] + 0.0 * t; }\n"
        "void broken(double t, const double *x, double *r) { r[0] = t > 0.5 ? NAN : x[0]; }\n"
    )
    subprocess.run([*find_compiler(), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.compiler
def test_functions_in_c_are_those_of_python(cart, in_c):
    for options in ({}, {"sample_time": 0.01}):
        ours = cart.simulate((0, 1), X0, inputs=in_c.law, **options)
        theirs = cart.simulate((0, 1), X0, inputs=lambda t, x: law(x), **options)
        assert np.array_equal(ours.x, theirs.x)
        assert np.array_equal(ours.r, theirs.r)
        assert np.array_equal(ours(0.5), theirs(0.5))

    class Numba:
        address = ctypes.cast(in_c.law, ctypes.c_void_p).value

    assert np.array_equal(cart.simulate((0, 1), X0, inputs=Numba()).x, cart.simulate((0, 1), X0, inputs=in_c.law).x)


@pytest.mark.compiler
def test_what_goes_wrong_is_named(cart, in_c):
    with pytest.raises(ValueError, match="not finite") as caught:
        cart.simulate((0, 1), X0, inputs=in_c.broken)
    assert 0.0 < caught.value.trajectory.t[-1] <= 0.5
    with pytest.raises(ValueError, match="not finite") as caught:
        cart.simulate((0, 1), X0, inputs=in_c.broken, sample_time=0.1)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.6)

    def throws(t, x):
        if t > 0.5:
            raise RuntimeError("no sensor")
        return [0.0]

    with pytest.raises(RuntimeError, match="no sensor") as caught:
        cart.simulate((0, 1), X0, inputs=throws, sample_time=0.1)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.6)
    for options, error, words in [
        ({"sample_time": 0.1}, ValueError, "inputs by a function"),
        ({"sample_time": 0.1, "inputs": throws, "method": "radau"}, ValueError, "sample_time is for kanecore's own"),
        ({"sample_time": 0.1, "inputs": [0.0]}, ValueError, "inputs by a function"),
        ({"sample_time": "fast", "inputs": throws}, TypeError, "sample_time is 'fast'; it must be one number"),
        ({"sample_time": 0.0, "inputs": throws}, ValueError, "must be positive"),
        ({"sample_time": np.nan, "inputs": throws}, ValueError, "must be positive"),
        ({"sample_time": 1e-18, "inputs": throws}, ValueError, "lost in t"),
        ({"sample_time": 0.1, "inputs": lambda t, x: [1.0, 2.0]}, ValueError, r"\(1,\)"),
        ({"sample_time": 0.1, "inputs": lambda t, x: [np.inf]}, ValueError, "not finite"),
        ({"sample_time": 0.1, "inputs": lambda t, x: np.emath.sqrt([0.5 - t])}, TypeError, r"t = 0\.6.* complex128"),
    ]:
        with pytest.raises(error, match=words):
            cart.simulate((0, 1), X0, **options)
    in_c.law.argtypes = [ctypes.c_double]
    with pytest.raises(TypeError, match="inputs takes 1 arguments"):
        cart.simulate((0, 1), X0, inputs=in_c.law)
