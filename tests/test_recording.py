# SPDX-License-Identifier: BSD-3-Clause
"""What a run keeps, when it gives up, and what is left when it is stopped."""

import linecache
import signal
import sys
import threading
import traceback
from contextlib import contextmanager

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point

import kanecore as kc

X0 = np.array([0.3, 0.4, 0.5, 1.0, -1.0, 0.2])
RK4 = {"method": "rk4", "dt": 1e-2}
STEP = {"dop853": 8 * (1 + 8 * 6), "rk4": 8 * (1 + 3 * 6)}  # bytes of t, state and interpolant


@pytest.fixture(scope="module")
def rrp():
    return kc.load("rrp")


def line(force, *parameters):
    """A particle on a line, r and v, with a force."""
    r, v = me.dynamicsymbols("r v")
    return mass_point({r: v}, sm.Integer(1), [force(r)])


def silent(t, x):
    return np.zeros(3)


@contextmanager
def ctrl_c_during(call):
    """Ctrl-C, again and again, until it comes while the line that holds ``call`` runs; that one counts."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")

    def handler(number, frame):
        while frame is not None:
            if call in linecache.getline(frame.f_code.co_filename, frame.f_lineno):
                raise KeyboardInterrupt
            frame = frame.f_back

    def press():
        while not done.wait(0.02):
            signal.raise_signal(signal.SIGINT)

    done, fingers = threading.Event(), threading.Thread(target=press)
    before = signal.signal(signal.SIGINT, handler)
    fingers.start()
    try:
        yield
    finally:
        done.set()
        fingers.join()
        signal.signal(signal.SIGINT, before)


def in_c(error):
    """Whether the loop itself noticed, rather than Python after it."""
    return any(frame.filename.endswith("_interrupt.pxi") for frame in traceback.extract_tb(error.__traceback__))


# What is kept -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, RK4], ids=["dop853", "rk4"])
@pytest.mark.parametrize("span", [(0.0, 3.0), (3.0, -1.0)])
def test_states_at_t_eval_do_not_depend_on_what_is_kept(rrp, options, span):
    times = np.linspace(*span, 301)
    whole = rrp.simulate(span, X0, **options)
    expected = whole(times)
    for dense_output in (None, True, False):
        sol = rrp.simulate(span, X0, t_eval=times, dense_output=dense_output, **options)
        assert np.array_equal(sol.t, times)
        assert np.array_equal(sol.x, expected)
        assert (sol.nfev, sol.n_steps) == (whole.nfev, whole.n_steps)
    assert whole.t[-1] == span[1]


def test_t_eval_on_the_ends_of_steps(rrp):
    whole = rrp.simulate((0, 2), X0)
    for chosen in (whole.t, whole.t[1:], whole.t[:-1], whole.t[3:4], np.array([])):
        sol = rrp.simulate((0, 2), X0, t_eval=chosen, dense_output=False)
        assert np.array_equal(sol.t, chosen)
        assert np.array_equal(sol.x, whole.x[np.isin(whole.t, chosen)])
    still = rrp.simulate((1, 1), X0, t_eval=[1.0], dense_output=False)
    assert still.x.tolist() == [X0.tolist()]


def test_steps_are_dropped_beside_t_eval(rrp, monkeypatch):
    times, n = np.linspace(0, 3, 31), rrp.simulate((0, 3), X0).n_steps
    monkeypatch.setattr("kanecore.motion.simulation_options._ROOM_BESIDE_TIMES", n * STEP["dop853"])
    kept = rrp.simulate((0, 3), X0, t_eval=times)
    assert kept.energy_drift < 1e-7
    monkeypatch.setattr("kanecore.motion.simulation_options._ROOM_BESIDE_TIMES", n * STEP["dop853"] - 1)
    dropped = rrp.simulate((0, 3), X0, t_eval=times)
    assert dropped.success
    assert np.array_equal(dropped.x, kept.x)
    assert dropped.n_steps == n
    assert repr(dropped) == repr(kept)
    assert np.array_equal(dropped.energy, kept.energy)
    for ask in (
        lambda: dropped.sol(0.5),
        lambda: dropped(times),
        lambda: dropped.energy_drift,
        lambda: dropped.constraint_drift,
        lambda: dropped.plot(),
    ):
        with pytest.raises(ValueError, match="dense_output=True"):
            ask()
    again = rrp.simulate((0, 3), X0, t_eval=times, dense_output=True)
    assert np.array_equal(again(times), kept.x)
    assert again.energy_drift == kept.energy_drift


def test_constraint_drift_of_a_run_without_steps():
    dyn = kc.load("four_bar")
    x0 = dyn.consistent(0.0, [0.3, 0.4, 0.5, 1.0, 0.0, 0.0], keep=None)
    with pytest.raises(ValueError, match="dense_output=True"):
        _ = dyn.simulate((0, 0.1), x0, t_eval=[0.0, 0.1], dense_output=False).constraint_drift
    assert dyn.simulate((0, 0.1), x0, t_eval=[0.0, 0.1]).constraint_drift < 1e-9


def test_interpolants_alone_may_be_left_out(rrp):
    sol, whole = rrp.simulate((0, 1), X0, dense_output=False), rrp.simulate((0, 1), X0)
    assert np.array_equal(sol.t, whole.t)
    assert np.array_equal(sol.x, whole.x)
    with pytest.raises(ValueError, match="dense_output=True"):
        sol(0.5)


@pytest.mark.parametrize("options", [{}, RK4], ids=["dop853", "rk4"])
@pytest.mark.parametrize("n", [0, 1, 7, 64, 65])
def test_a_run_keeps_no_more_than_it_may(rrp, monkeypatch, options, n):
    monkeypatch.setattr("kanecore.motion.simulation_options._ROOM", n * STEP[options.get("method", "dop853")] + 7)
    with pytest.raises(kc.IntegrationError, match=rf"^{n} steps take \d+ bytes.* t_eval.* at t = ") as caught:
        rrp.simulate((0, 1000), X0, max_step=0.5, **options)
    sol = caught.value.trajectory
    assert not sol.success
    assert sol.n_steps == n
    assert len(sol.t) == n + 1
    assert f"t = {float(sol.t[-1])!r}" in str(caught.value)
    np.testing.assert_array_equal(sol(sol.t), sol.x)
    with pytest.raises(kc.IntegrationError, match="leave out dense_output=True"):
        rrp.simulate((0, 1000), X0, t_eval=[0.0, 1000.0], dense_output=True, max_step=0.5, **options)


def test_a_limit_that_is_just_enough(rrp, monkeypatch):
    monkeypatch.setattr("kanecore.motion.simulation_options._ROOM", 100 * STEP["rk4"])
    assert rrp.simulate((0, 1), X0, **RK4).n_steps == 100


def test_results_outlive_each_other(rrp):
    x = rrp.simulate((0, 1), X0).x
    expected = x.copy()
    for _ in range(20):
        rrp.simulate((0, 1), X0[::-1].copy())
    assert np.array_equal(x, expected)


# What ends a run --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"t_eval": [0.0, 0.5, 4.0]}, {"t_eval": [4.0], "dense_output": False}])
@pytest.mark.parametrize("force", [lambda r: -1 / r**2, lambda r: -1 / r**3, lambda r: r**2])
def test_a_singularity_ends_a_run(force, options):
    dyn = kc.compile(line(force))
    with pytest.raises(kc.IntegrationError, match=r"smaller than rounding allows.* at t = ") as caught:
        dyn.simulate((0, 5), [1.0, 0.0], **options)
    sol = caught.value.trajectory
    assert sol.n_steps < 2000
    times = [time for time in options.get("t_eval", []) if time < 1.0]
    assert "t_eval" not in options or sol.t.tolist() == times
    assert sol.x.shape == (len(sol.t), 2)


def test_tries_are_limited_by_default(rrp):
    import inspect

    assert inspect.signature(rrp.simulate).parameters["max_steps"].default == 10_000_000
    with pytest.raises(kc.IntegrationError, match="max_steps was reached") as caught:
        rrp.simulate((0, 100), X0, max_steps=40, t_eval=np.linspace(0, 100, 1001), dense_output=False)
    sol = caught.value.trajectory
    assert sol.n_steps + sol.n_rejected == 40
    assert 0 < len(sol.t) == len(sol.x) < 1001
    assert rrp.simulate((0, 1), X0, max_steps=None).success


@pytest.mark.parametrize("span", [(0, 1), (1e6, 1e6 + 1), (-1e6, 0), (1, 0), (5e5, -1e6)])
def test_a_step_that_is_lost_in_t(rrp, span):
    smallest = 4 * sys.float_info.epsilon * max(map(abs, span))
    for dt in (1e-300, 5e-324, 0.9 * smallest):
        with pytest.raises(ValueError, match=f"dt is {dt!r}, .* at least {smallest!r}"):
            rrp.simulate(span, X0, method="rk4", dt=dt)
        with pytest.raises(ValueError, match=f"max_step is {dt!r}; .*{smallest!r} at least"):
            rrp.simulate(span, X0, max_step=dt)
    held = kc.Signal([-2e6, 0.1, 0.7], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="dt is 1e-300"):
        rrp.simulate(span, X0, method="rk4", dt=1e-300, inputs=held)
    end = span[0] + np.sign(span[1] - span[0]) * 40 * smallest
    sol = rrp.simulate((span[0], end), X0, method="rk4", dt=4 * smallest)
    assert (np.diff(sol.t) * np.sign(end - span[0]) > 0).all()
    assert rrp.simulate((span[0], end), X0, first_step=1e-300).success


def test_first_steps_below_rounding_are_lengthened(rrp):
    assert rrp.simulate((100.0, 101.0), X0, first_step=1e-300).n_steps < 60


# Ctrl-C -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        {"method": "rk4", "dt": 1e-3},
        {"method": "rk4", "dt": 1e-3, "t_eval": np.linspace(0, 1e6, 1001)},
        {"method": "rk4", "dt": 1e-9, "dense_output": False},
        {"max_step": 1e-3, "max_steps": None, "t_eval": [0.0, 1e6], "dense_output": False},
        {"max_step": 1e-2, "inputs": silent},
        {"rtol": 1e-3, "t_eval": np.linspace(0, 1, 3_000_000) ** 3 * 1e6},
    ],
    ids=["rk4", "t_eval", "tiny", "dropped", "function", "many times"],
)
def test_ctrl_c_leaves_the_trajectory(rrp, options):
    with pytest.raises(KeyboardInterrupt) as caught, ctrl_c_during("_motion.integrate("):
        rrp.simulate((0, 1e6), X0, **options)
    sol = caught.value.trajectory
    assert not sol.success
    assert sol.status == -1
    assert sol.message.startswith("KeyboardInterrupt")
    assert len(sol.t) == len(sol.x)
    assert sol.n_steps > 0
    if len(sol.t):
        assert np.array_equal(sol.x[0], X0)
        assert sol.t[-1] < 1e6


def test_the_error_of_an_input_function_has_the_trajectory_as_well(rrp):
    class Broken(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    def inputs(t, x):
        if t > 0.5:
            raise Broken
        return np.zeros(3)

    with pytest.raises(Broken) as caught:
        rrp.simulate((0, 1), X0, inputs=inputs, **RK4)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.5)


def test_ctrl_c_while_interpolating():
    dyn = kc.load("four_bar")
    sol = dyn.simulate((0, 5), dyn.consistent(0.0, [0.3, 0.4, 0.5, 1.0, 0.0, 0.0], keep=None))
    times = np.broadcast_to(2.5, 1_500_000)
    with pytest.raises(KeyboardInterrupt) as caught, ctrl_c_during("_motion.interpolate("):
        sol(times)
    assert in_c(caught.value)


@pytest.mark.compiler
def test_ctrl_c_in_a_batch():
    dyn = kc.load("four_bar")
    dyn.kinetic_energy(0.0, np.zeros((300, dyn.n_x)))  # is compiled, in lanes as well
    x = np.broadcast_to(np.zeros(dyn.n_x), (4000, 1000, dyn.n_x))
    with pytest.raises(KeyboardInterrupt) as caught, ctrl_c_during("dyn.kinetic_energy("):
        dyn.kinetic_energy(0.0, x)
    assert in_c(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGALRM")
def test_other_handlers_end_a_run_too(rrp):
    def late(number, frame):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(TimeoutError) as caught:
            rrp.simulate((0, 1e6), X0, method="rk4", dt=1e-3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value.trajectory.n_steps > 0


# Units of time ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("start", [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1e-9, 0.3]])
@pytest.mark.parametrize("unit", [1e-9, 1e9, 3e4])
@pytest.mark.parametrize("span", [(0.0, 7.0), (2.0, -3.0)])
def test_steps_do_not_depend_on_the_unit_of_time(start, unit, span):
    k, force = sm.symbols("k force")
    dyn = kc.compile(line(lambda r: force - k * r), parameters={k: 2.0, force: 0.5})
    units = np.array([1.0, 1.0 / unit])
    sol = dyn.simulate(span, start)
    scaled = dyn.simulate(
        np.multiply(span, unit), start * units, atol=1e-8 * units, parameters={k: 2.0 / unit**2, force: 0.5 / unit**2}
    )
    np.testing.assert_allclose(scaled.t / unit, sol.t, rtol=0, atol=1e-5)  # rounding, magnified by the error estimate
    np.testing.assert_allclose(scaled.x[-1] / units, sol.x[-1], rtol=0, atol=1e-9)
    assert scaled.nfev == sol.nfev


def test_a_span_of_no_length_far_away(rrp):
    assert rrp.simulate((1e17, 1e17), X0).x.tolist() == [X0.tolist()]
    held = kc.Signal([0.0, 1e17], np.ones((2, 3)))
    assert (held([1e17, 1e18]) == 1.0).all()
    assert (rrp.simulate((1e17, 1e17), X0, inputs=held).r == 1.0).all()
