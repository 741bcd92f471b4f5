# SPDX-License-Identifier: BSD-3-Clause
"""Rollouts: against closed forms and `simulate`, bit by bit, alone and among others; rows that fail; wrong calls."""

import pickle
import signal
import subprocess
import threading
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from mechanisms import mass_point, moving_point
from sweep import part

import kanecore as kc
from kanecore.build.c_compiler import find_compiler
from kanecore.gallery import cart_pole, four_bar

Array = npt.NDArray[Any]
pytestmark = pytest.mark.filterwarnings("ignore:no solid body")
T0 = 0.3  # when `some_state` is on the constraints
N = 19  # rows: two full groups of lanes and some left over
ENOUGH = 16 * N  # states of a batch for which lanes are opened
CLASSICAL, SEMI_IMPLICIT = "rk4", "euler"
METHODS = (CLASSICAL, SEMI_IMPLICIT)


@cache
def particle() -> kc.CompiledModel:
    """m u̇ = F + A cos(w t) + k x³."""
    x, u, force = me.dynamicsymbols("x u F")
    m, k, a, w = sm.symbols("m k A w")
    driven = force + a * sm.cos(w * me.dynamicsymbols._t) + k * x**3
    model = mass_point({x: u}, m, [driven])
    return kc.compile(model, parameters={m: 1.0, k: 0.0, a: 0.0, w: 1.0})


def starts(name: str, n: int = N) -> Array:
    """On the constraints, near each other: (n, n_x)."""
    dyn, noise = loaded(name), np.random.default_rng(7).uniform(-1e-3, 1e-3, (n, loaded(name).n_x))
    r = inputs(dyn)
    x = some_state(name, r) + noise
    for quaternion in dyn.unit:
        x[:, list(quaternion)] /= np.linalg.norm(x[:, list(quaternion)], axis=-1, keepdims=True)
    return np.asarray(dyn.kernels.project(T0, x, r=r)) if dyn.n_constraints else x


def inputs(dyn: kc.CompiledModel) -> Array:
    return np.linspace(-0.2, 0.2, dyn.n_r)


# One step after the other ----------------------------------------------------------------------------------
@pytest.mark.compiler
@pytest.mark.parametrize("name", part(kc.models(), ["free_body"]))
def test_a_row_has_the_bits_of_simulate_and_of_itself_alone(name: str) -> None:
    """In lanes and without, on one thread and on two, in any company."""
    dyn, x, steps = loaded(name), starts(name), 4
    dt = 1e-9 if name == "rod_gravity" else 1e-3  # whose masses nearly touch
    options = {"dt": dt, "steps": steps, "t0": T0}
    dyn.rhs(T0, np.tile(x, (ENOUGH // N, 1)), r=inputs(dyn))  # from now on there are lanes
    assert "rhs" in dyn.kernels.lanes[0] or name == "rod_gravity"
    for method in METHODS:
        states = dyn.rollout(x, inputs(dyn), method=method, **options)
        assert states.shape == (N, steps + 1, dyn.n_x)
        assert np.isfinite(states).all()
        for i in (0, N - 1):
            run = dyn.simulate((T0, T0 + steps * dt), x[i], method=method, dt=dt, inputs=inputs(dyn))
            assert np.array_equal(states[i], run.x)
            assert np.array_equal(states[i], dyn.rollout(x[i], inputs(dyn), method=method, **options))
        turned = dyn.rollout(x[::-2], inputs(dyn), method=method, threads=2, **options)
        assert np.array_equal(turned, states[::-2])
        assert np.array_equal(dyn.rollout(x, inputs(dyn), method=method, threads=-1, **options), states)


@pytest.mark.compiler
def test_lanes_are_opened_where_there_is_work_for_them() -> None:
    """A few rows of many steps are as much as many rows of a few."""
    for n, steps, opened in ((3, 20, False), (3, 100, True), (300, 1, True), (1, 1000, False)):
        dyn = kc.load("double_pendulum")
        dyn.rollout(np.tile(some_state("double_pendulum"), (n, 1)), dt=1e-4, steps=steps)
        kernels, n_lanes = dyn.kernels.lanes
        assert ({"rhs", "qdot"} <= kernels and n_lanes in (2, 4, 8)) is opened


@pytest.mark.parametrize(("method", "order"), [(CLASSICAL, 4), (SEMI_IMPLICIT, 1)])
def test_order_on_a_kepler_orbit(method: str, order: int) -> None:
    """From periapsis to apoapsis, where r = a (1 + e), θ = π."""
    dyn, eccentricities = loaded("kepler"), np.array([0.1, 0.2, 0.3])
    mu, a = dyn.parameters["mu"], 1.0
    r = a * (1 - eccentricities)
    h = np.sqrt(mu * a * (1 - eccentricities**2))
    x0 = np.stack([r, 0 * r, 0 * r, h / r**2], axis=-1)
    half = np.pi * np.sqrt(a**3 / mu)
    truth = np.stack([a * (1 + eccentricities), np.pi + 0 * r], axis=-1)
    errors = []
    for steps in (400, 800):
        end = dyn.rollout(x0, dt=half / steps, steps=steps, method=method)[:, -1, :2]
        errors.append(np.abs(end - truth).max(axis=-1))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_time_is_that_of_the_row() -> None:
    """u̇ = cos t: u = sin t − sin t0, a step of Simpson's rule each; backwards as well."""
    dyn = particle()
    for dt in (0.05, -0.05):
        states = dyn.rollout(np.zeros((9, 2)), dt=dt, steps=40, t0=1.5, parameters={"A": 1.0})
        t = 1.5 + dt * np.arange(41)
        assert states[:, :, 1] == pytest.approx(np.broadcast_to(np.sin(t) - np.sin(1.5), (9, 41)), abs=1e-8)
        assert np.array_equal(states[0], states[8])
    run = dyn.simulate((1.5, 1.5 - 40 * 0.05), [0.0, 0.0], method="rk4", dt=0.05, parameters={"A": 1.0})
    assert np.array_equal(run.x, states[0])


# Inputs and parameters --------------------------------------------------------------------------------------
def test_inputs_are_held_over_their_steps() -> None:
    """Constant accelerations, which RK4 integrates exactly, row by row and step by step."""
    dyn, steps, dt = particle(), 6, 0.25
    x0 = np.random.default_rng(0).uniform(-1, 1, (N, 2))
    forces = np.random.default_rng(1).uniform(-1, 1, (N, steps))

    def truth(f: Array) -> Array:
        x = [np.broadcast_to(x0, (N, 2))]
        for k in range(steps):
            place, speed = x[-1].T
            x.append(np.stack([place + dt * speed + dt**2 / 2 * f[:, k], speed + dt * f[:, k]], axis=-1))
        return np.stack(x, axis=1)

    ones = np.ones((N, steps))
    given = {
        "one": ([0.5], 0.5 * ones),
        "by row": (forces[:, :1, None], forces[:, :1] * ones),
        "by step": (forces[0, :, None], forces[0] * ones),
        "by both": (forces[..., None], forces),
        "one by name": ({"F": 0.5}, 0.5 * ones),
        "by step by name": ({"F": forces[0]}, forces[0] * ones),
        "by row by name": ({"F": forces[:, :1]}, forces[:, :1] * ones),
        "not contiguous": (np.asfortranarray(forces[..., None]), forces),
    }
    for what, (r, f) in given.items():
        assert dyn.rollout(x0, r, dt=dt, steps=steps) == pytest.approx(truth(f), abs=1e-13), what
    dyn.inputs["F"] = 0.5
    try:
        assert dyn.rollout(x0, dt=dt, steps=steps) == pytest.approx(truth(0.5 * ones), abs=1e-13)
    finally:
        dyn.inputs["F"] = 0.0


def test_parameters_by_row() -> None:
    dyn, masses = particle(), np.linspace(1.0, 4.0, N)
    by_name = dyn.rollout([0.0, 0.0], [2.0], dt=0.5, steps=4, parameters={"m": masses})
    assert by_name[:, -1, 1] == pytest.approx(4.0 / masses, rel=1e-14)
    p = np.tile(dyn.kernels.values("parameter"), (N, 1))
    p[:, dyn.parameter_names.index("m")] = masses
    assert np.array_equal(dyn.rollout(np.zeros((N, 2)), [2.0], dt=0.5, steps=4, parameters=p), by_name)
    for i in (0, 7):
        assert np.array_equal(dyn.rollout([0.0, 0.0], [2.0], dt=0.5, steps=4, parameters=p[i]), by_name[i])
    assert dyn.parameters["m"] == 1.0


def test_leading_axes_broadcast() -> None:
    dyn, x0 = particle(), np.random.default_rng(2).uniform(-1, 1, (3, 1, 2))
    forces, masses = np.array([1.0, 2.0])[:, None, None] * np.ones((5, 1)), np.array([[1.0], [2.0], [4.0]])
    states = dyn.rollout(x0, forces, dt=0.1, steps=5, parameters={"m": masses})
    assert states.shape == (3, 2, 6, 2)
    for i, j in np.ndindex(3, 2):
        alone = dyn.rollout(x0[i, 0], forces[j], dt=0.1, steps=5, parameters={"m": masses[i, 0]})
        assert np.array_equal(states[i, j], alone)
    named = dyn.rollout({"x": np.arange(4.0)}, dt=0.1, steps=1)
    assert named.shape == (4, 2, 2)
    assert np.array_equal(named[:, 0, 0], np.arange(4.0))
    assert dyn.rollout(np.zeros((0, 2)), dt=0.1, steps=3).shape == (0, 4, 2)


@pytest.mark.filterwarnings("ignore:input .theta_d. is the derivative")
def test_prescribed_motion_by_row() -> None:
    """Rates are inputs of their own, and stay as they are given."""
    dyn, x = loaded("rotating_tube"), starts("rotating_tube")
    rates = np.linspace(0.0, 1.0, N)[:, None]
    states = dyn.rollout(x, {"theta": 0.2, "theta_d": rates, "theta_dd": 0.0}, dt=1e-2, steps=5)
    for i in (0, N - 1):
        given = np.array([0.2, rates[i, 0], 0.0])
        run = dyn.simulate((0.0, 5e-2), x[i], method="rk4", dt=1e-2, inputs=given)
        assert np.array_equal(run.x, states[i])
    with pytest.raises(ValueError, match=r"inputs\['theta'\]|never set"):
        kc.load("rotating_tube").rollout(x, {"theta": 0.2}, dt=1e-2, steps=5)


# Rows that fail ---------------------------------------------------------------------------------------------
def test_rows_that_fail_leave_their_neighbours_alone() -> None:
    dyn, x0 = particle(), np.tile([1.0, 0.0], (N, 1))
    parameters = {"k": np.zeros(N)}
    fine = dyn.rollout(x0, [1.0], dt=0.1, steps=50, parameters=parameters)
    x0[3, 1], x0[5, 0] = np.nan, np.inf
    parameters["k"][[8, 17]] = 1e6, 1e3  # u̇ = k x³: infinite after a finite time
    for threads in (1, 2):
        states, status = dyn.rollout(
            x0, [1.0], dt=0.1, steps=50, parameters=parameters, threads=threads, return_status=True
        )
        codes, last = status
        failed = np.flatnonzero(codes)
        assert failed.tolist() == [3, 5, 8, 17]
        assert set(codes[failed]) == {2}
        assert (np.delete(last, failed) == 50).all()
        assert last[3] == last[5] == -1
        assert 0 < last[8] < last[17] < 50
        assert np.array_equal(np.delete(states, failed, axis=0), np.delete(fine, failed, axis=0))
        for i in failed:
            assert np.isfinite(states[i, : last[i] + 1]).all()
            assert np.isnan(states[i, last[i] + 1 :]).all()
    with pytest.raises(
        kc.IntegrationError, match=r"row 3 of the rollout .* starts from x0\[3\].* 4 rows fail"
    ) as caught:
        dyn.rollout(x0, [1.0], dt=0.1, steps=50, parameters=parameters)
    assert np.array_equal(caught.value.out, states, equal_nan=True)
    assert caught.value.rows.tolist() == [3, 5, 8, 17]
    assert np.array_equal(caught.value.status.last_good_step, last)


def test_a_row_that_fails_alone_is_the_same() -> None:
    dyn, options = particle(), {"dt": 0.1, "steps": 20, "parameters": {"k": 1e6}}
    states, status = dyn.rollout([1.0, 0.0], return_status=True, **options)
    many, statuses = dyn.rollout(np.tile([1.0, 0.0], (N, 1)), return_status=True, **options)
    assert np.array_equal(many, np.broadcast_to(states, many.shape), equal_nan=True)
    assert status.codes.shape == ()
    assert (statuses.last_good_step == status.last_good_step).all()
    with pytest.raises(
        kc.IntegrationError, match=rf"the rollout of .* step {status.last_good_step}, .* not finite"
    ) as it:
        dyn.rollout([1.0, 0.0], **options)
    assert it.value.rows is None


def test_an_input_that_is_not_finite_ends_its_row() -> None:
    dyn, forces = particle(), np.ones((N, 5, 1))
    forces[4, 3] = np.nan
    states, (codes, last) = dyn.rollout(np.zeros((N, 2)), forces, dt=0.1, steps=5, return_status=True)
    assert np.flatnonzero(codes).tolist() == [4]
    assert last[4] == 3
    assert np.isfinite(states[4, :4]).all()


def test_a_singular_state_is_named() -> None:
    """At θ = 0 the azimuth of a spherical pendulum has no inertia."""
    dyn = loaded("spherical_pendulum")
    x0 = np.tile(some_state("spherical_pendulum"), (N, 1))
    x0[6] = 0.0
    _, (codes, last) = dyn.rollout(x0, dt=1e-3, steps=3, return_status=True)
    assert np.flatnonzero(codes).tolist() == [6]
    assert (codes[6], last[6]) == (1, 0)
    with pytest.raises(kc.IntegrationError, match=r"row 6 .* step 0, t = 0\.5, .* mass matrix .* 'u2'"):
        dyn.rollout(x0, dt=1e-3, steps=3, t0=0.5)


def test_constraints_that_cannot_be_kept_end_a_row() -> None:
    """Prescribed inputs apart, a step of a second leads a four-bar where its loop does not close."""
    dyn, x = loaded("four_bar"), starts("four_bar")
    fast = x.copy()
    fast[2, dyn.n_q :] *= 1e4
    states, (codes, last) = dyn.rollout(fast, dt=0.05, steps=10, t0=T0, return_status=True)
    assert np.flatnonzero(codes).tolist() == [2]
    assert last[2] < 10
    assert np.array_equal(np.delete(states, 2, 0), np.delete(dyn.rollout(x, dt=0.05, steps=10, t0=T0), 2, 0))
    with pytest.raises(kc.IntegrationError, match="row 2 "):
        dyn.rollout(fast, dt=0.05, steps=10, t0=T0)


def test_states_stay_on_spheres_and_constraints() -> None:
    dyn = loaded("four_bar")
    states = dyn.rollout(starts("four_bar"), dt=1e-2, steps=50, t0=T0)
    assert np.abs(dyn.configuration_residual(0.0, states)).max() < 1e-12
    assert np.abs(dyn.velocity_residual(0.0, states)).max() < 1e-11
    dyn = loaded("quadrotor")
    states = dyn.rollout(starts("quadrotor"), [0.1, 0.0, 0.0, 0.1], dt=1e-2, steps=50)
    (places,) = dyn.unit
    assert np.abs(np.linalg.norm(states[..., list(places)], axis=-1) - 1).max() < 4e-16


# Starts ------------------------------------------------------------------------------------------------------
def test_starts_that_miss_the_constraints_are_named() -> None:
    dyn, x = loaded("four_bar"), starts("four_bar")
    x[4, 0] += 0.1
    with pytest.raises(ValueError, match=r"x0\[4\] does not satisfy the constraints of 'four_bar'.*consistent"):
        dyn.rollout(x, dt=1e-3, steps=2, t0=T0)
    grid = starts("four_bar", 6).reshape(2, 3, -1)
    grid[1, 2, 0] += 0.1
    grid[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"x0\[1, 2\] does not"):
        dyn.rollout(grid, dt=1e-3, steps=2, t0=T0)
    with pytest.raises(ValueError, match=r"x0 does not satisfy"):
        dyn.rollout(x[4], dt=1e-3, steps=2, t0=T0)
    x[4] = np.nan
    _, (codes, last) = dyn.rollout(x, dt=1e-3, steps=2, t0=T0, return_status=True)
    assert (codes[4], last[4]) == (2, -1)


def test_quaternions_without_norm_1_are_named() -> None:
    dyn, x = loaded("free_body"), starts("free_body")
    x[5, 3:7] *= 1.1
    with pytest.raises(ValueError, match=r"norm 1\.1\d* in x0\[5\]; it must be 1"):
        dyn.rollout(x, dt=1e-3, steps=2)
    x[5, 3:7] /= 1.1 * (1 + 1e-9)
    x[6] = np.nan
    states, _ = dyn.rollout(x, dt=1e-3, steps=2, return_status=True)
    assert np.linalg.norm(states[5, 0, 3:7]) == pytest.approx(1.0, abs=4e-16)


def test_fewer_rows_of_constraints_may_count_at_a_start() -> None:
    """x z = y z = 0 is a plane, where one row counts, and a line, where two do: as in `simulate`, row by row."""
    (x, y, z), u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    frame, _, point = moving_point({x: u[0], y: u[1], z: u[2]})
    rates = [q.diff() - v for q, v in zip((x, y, z), u, strict=True)]
    bodies, forces = [me.Particle("P", point, sm.Integer(1))], [(point, frame.x - frame.z)]
    constraints = {"configuration_constraints": [x * z, y * z]}
    dyn = kc.compile(kc.Model(frame, [x, y, z], u, rates, bodies=bodies, forcelist=forces, **constraints))
    on_plane, on_line = [1.0, 0.5, 0.0, 0.3, 0.2, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.5]
    states = dyn.rollout([on_plane, on_line, on_plane], dt=0.01, steps=5)
    for row, x0, end in zip(states, (on_plane, on_line), ([1.01625, 0.51, 0.0], [0.0, 0.0, 1.02375]), strict=False):
        assert np.array_equal(row, dyn.simulate((0.0, 0.05), x0, method="rk4", dt=0.01).x)
        assert row[-1, :3] == pytest.approx(end, abs=1e-14)
    assert np.array_equal(states[2], states[0])


# Results -----------------------------------------------------------------------------------------------------
def test_results_go_into_out() -> None:
    dyn, x0 = particle(), np.zeros((4, 2))
    out = np.empty((4, 3, 2))
    assert dyn.rollout(x0, [1.0], dt=0.1, steps=2, out=out) is out
    assert np.array_equal(out, dyn.rollout(x0, [1.0], dt=0.1, steps=2))
    forces = np.ones(24)
    wrong = {
        "shape": (np.empty((4, 2, 2)), ValueError, r"out has shape \(4, 2, 2\), expected \(4, 3, 2\)"),
        "type": (np.empty((4, 3, 2), dtype=np.float32), TypeError, "out must be of dtype float64"),
        "order": (np.empty((2, 3, 4)).T, ValueError, "out must be C-contiguous"),
        "inputs": (forces.reshape(4, 3, 2), ValueError, "out may not overlap inputs"),
    }
    for what, (array, kind, words) in wrong.items():
        with pytest.raises(kind, match=words):
            dyn.rollout(x0, forces[:2].reshape(2, 1), dt=0.1, steps=2, out=array)
        assert what


def test_starts_may_lie_in_out() -> None:
    """A rollout goes on where the last one ended."""
    dyn, out = particle(), np.zeros((3, 4, 2))
    dyn.rollout(np.ones((3, 2)), [1.0], dt=0.1, steps=3, out=out)
    further = dyn.rollout(out[:, -1].copy(), [1.0], dt=0.1, steps=3)
    assert np.array_equal(dyn.rollout(out[:, -1], [1.0], dt=0.1, steps=3, out=out), further)


@pytest.mark.long
def test_memory_does_not_grow_with_steps() -> None:
    dyn, x0, peaks = loaded("arm7"), starts("arm7"), []
    for steps in (500, 500, 2000):  # the first opens what serves lanes
        out = np.empty((N, steps + 1, dyn.n_x))
        tracemalloc.start()
        dyn.rollout(x0, inputs(dyn), dt=1e-4, steps=steps, out=out)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] + 1000


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_rollout(threads: int) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    dyn, x0, steps = loaded("four_bar"), starts("four_bar"), 100_000
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    timer = threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,))
    out = np.zeros((N, steps + 1, dyn.n_x))  # for some seconds
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            dyn.rollout(x0, inputs(dyn), dt=1e-9, steps=steps, t0=T0, threads=threads, out=out)
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert not out[:, -1].any()


# Other models ------------------------------------------------------------------------------------------------
@pytest.mark.compiler
@pytest.mark.parametrize(
    "module", part([cart_pole, four_bar], [cart_pole]), ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_single_precision(module: Any) -> None:
    """float32 in and out; lanes and rows alone have the same bits, near those of doubles."""
    name = module.__name__.rpartition(".")[2]
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS, real="float")
    x, r = starts(name), inputs(dyn)
    for method in METHODS:
        states = dyn.rollout(x, r, dt=1e-3, steps=20, t0=T0, method=method)
        assert states.dtype == np.float32
        assert states == pytest.approx(
            loaded(name).rollout(x, r, dt=1e-3, steps=20, t0=T0, method=method), rel=1e-4, abs=1e-4
        )
        assert np.array_equal(states[7], dyn.rollout(x[7], r, dt=1e-3, steps=20, t0=T0, method=method))
        out = np.empty_like(states)
        assert np.array_equal(dyn.rollout(x, r, dt=1e-3, steps=20, t0=T0, method=method, out=out, threads=2), states)
    assert dyn.kernels.lanes[1] > 2
    bad = x.copy()
    bad[2] = np.nan
    _, (codes, _) = dyn.rollout(bad, r, dt=1e-3, steps=2, t0=T0, return_status=True)
    assert np.flatnonzero(codes).tolist() == [2]


def test_models_without_a_compiler_and_pickled_ones() -> None:
    coded = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
    x = starts("cart_pole")
    states = coded.rollout(x, [0.3], dt=1e-2, steps=10)
    run = coded.simulate((0.0, 0.1), x[3], inputs=[0.3], method="rk4", dt=1e-2)
    assert np.array_equal(states[3], run.x)
    masses = np.linspace(0.1, 0.4, N)
    by_row = coded.rollout(x, [0.3], dt=1e-2, steps=10, parameters={"m": masses})
    assert np.array_equal(by_row[5], coded.rollout(x[5], [0.3], dt=1e-2, steps=10, parameters={"m": masses[5]}))
    original = particle()
    copy = pickle.loads(pickle.dumps(original))
    y = np.random.default_rng(4).uniform(-1, 1, (N, 2))
    options = {"dt": 0.1, "steps": 9, "parameters": {"k": -1.0}}
    assert np.array_equal(copy.rollout(y, **options), original.rollout(y, **options))


@pytest.mark.long
@pytest.mark.compiler
@pytest.mark.parametrize("flags", [["-O1"], ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"]])
def test_all_kinds_of_processors_give_the_same_bits(flags: list[str], root: Path, tmp_path: Path) -> None:
    """As far as this one has their instructions; in lanes and row by row, doubles and floats, sanitized as well."""
    program, native = tmp_path / "rollout", root / "kanecore"
    files = [root / "tests/c/rollout.c", native / "src/kc_cpu.c", *sorted((native / "src/rollout").glob("*.c"))]
    strict = ["-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = [*find_compiler(), *strict, *flags, f"-I{native / 'include'}", f"-I{native / 'src'}", *map(str, files)]
    built = subprocess.run([*command, "-lm", "-o", str(program)], capture_output=True, text=True, check=False)
    if built.returncode and "sanitize" in built.stderr:
        pytest.skip(f"this compiler has no sanitizers: {built.stderr.splitlines()[0]}")
    assert not built.returncode, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all checks passed\n"), ran.stdout + ran.stderr


# Wrong calls -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"steps": 0}, ValueError, "steps is 0; it must be at least 1"),
        ({"steps": 2.5}, TypeError, "steps is 2.5; it must be a whole number"),
        ({"dt": 0.0}, ValueError, "dt is 0.0; it must be finite and not zero"),
        ({"dt": np.inf}, ValueError, "dt is inf"),
        ({"dt": None}, TypeError, "dt is None; it must be one number"),
        ({"t0": np.nan}, ValueError, "t0 is nan, which is not finite"),
        ({"t0": 1e9, "dt": 1e-9}, ValueError, "dt is 1e-09, which is lost in t: it must be at least"),
        ({"method": "dop853"}, ValueError, "'dop853'; it must be 'rk4' or 'euler': for other methods use simulate"),
        ({"method": "RK4"}, ValueError, "method is 'RK4'; it must be 'rk4' or 'euler'"),
        ({"x0": np.zeros((3, 3))}, ValueError, r"x0 has shape \(3, 3\), expected \(..., 2\)"),
        ({"x0": {"y": 1.0}}, KeyError, "no coordinate or speed of .* is called 'y'"),
        ({"x0": ["a", "b"]}, TypeError, "x0 must be real numbers"),
        (
            {"inputs": np.zeros((3, 1))},
            ValueError,
            r"inputs has shape \(3, 1\), expected \(..., 5, 1\): one set for each",
        ),
        ({"inputs": np.zeros(2)}, ValueError, r"inputs has shape \(2,\), expected \(..., 1\): inputs F"),
        ({"inputs": lambda t, x: [0.0]}, TypeError, "constant over each step"),
        ({"inputs": kc.Signal([0.0, 1.0], [0.0, 1.0])}, TypeError, r"give \(5, 1\)"),
        ({"inputs": {"F": kc.Signal([0.0, 1.0], [0.0, 1.0])}}, TypeError, "constant over each step"),
        ({"parameters": {"m": np.ones(4)}}, ValueError, r"leading axes do not broadcast: x0 \(3,\), parameters \(4,\)"),
        ({"parameters": {"m": np.nan}}, ValueError, "parameter 'm' is not finite in parameters"),
        ({"parameters": {"mass": 1.0}}, KeyError, "no parameter of .* is called 'mass'"),
        ({"threads": 0}, ValueError, "threads is 0"),
    ],
    ids=lambda value: "",
)
def test_wrong_calls_say_what_to_write(change: dict[str, Any], kind: type[Exception], words: str) -> None:
    arguments: dict[str, Any] = {"x0": np.zeros((3, 2)), "dt": 0.1, "steps": 5} | change
    with pytest.raises(kind, match=words):
        particle().rollout(**arguments)


def test_steps_are_those_of_the_inputs() -> None:
    dyn, forces = particle(), np.linspace(0.0, 1.0, 5)
    expected = dyn.rollout([0.0, 0.0], forces[:, np.newaxis], dt=0.1, steps=5)
    np.testing.assert_array_equal(dyn.rollout([0.0, 0.0], forces[:, np.newaxis], dt=0.1), expected)
    np.testing.assert_array_equal(dyn.rollout([0.0, 0.0], {"F": forces}, dt=0.1), expected)
    rows = dyn.step(0.0, np.zeros((5, 2)), 0.1, r=forces[:, np.newaxis])
    np.testing.assert_array_equal(rows, [dyn.step(0.0, [0.0, 0.0], 0.1, r=[force]) for force in forces])
    for nothing in (None, [0.0], np.zeros((3, 1, 1)), {"F": 1.0}):
        with pytest.raises(TypeError, match=r"steps is missing, .* inputs of shape \(\.\.\., steps, 1\)"):
            dyn.rollout([0.0, 0.0], nothing, dt=0.1)


@pytest.mark.parametrize("name", ["arm7", "four_bar", "free_body"])
def test_a_step_is_a_rollout_of_one(name: str) -> None:
    dyn = loaded(name)
    x, r = starts(name), inputs(dyn)
    held = r[:, 0] if r.ndim == 3 else r
    rolled = dyn.rollout(x, held[..., np.newaxis, :], dt=1e-3, steps=1, t0=0.5)
    assert np.array_equal(dyn.step(0.5, x, 1e-3, r=held), rolled[:, 1])
    one = held[0] if held.ndim > 1 else held
    assert np.array_equal(dyn.step(0.5, x[0], 1e-3, r=one), rolled[0, 1])
    named = dict(zip(dyn.input_names, np.moveaxis(np.broadcast_to(held, (len(x), dyn.n_r)), -1, 0), strict=True))
    assert np.array_equal(dyn.step(0.5, x, 1e-3, r=named), rolled[:, 1])
    back = dyn.step(0.501, rolled[0, 1], -1e-3, r=one)
    assert back == pytest.approx(rolled[0, 0], abs=1e-6)


def test_a_step_that_is_lost_in_time_is_an_error() -> None:
    with pytest.raises(ValueError, match="lost in t"):
        particle().step(1e9, [0.0, 0.0], 1e-9)
