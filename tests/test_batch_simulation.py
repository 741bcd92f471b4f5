# SPDX-License-Identifier: BSD-3-Clause
"""Many runs by one call: each row has the bits of its run alone; what fails leaves its neighbours alone."""

import pickle

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from sweep import every

import kanecore as kc
from kanecore.gallery import four_bar

N = 7
ADAPTIVE = {"rtol": 1e-7, "atol": 1e-7}
METHODS = {
    "dop853": ADAPTIVE,
    "dopri5": ADAPTIVE,
    "rosenbrock": ADAPTIVE,
    "auto": ADAPTIVE,
    "rk4": {"dt": 0.013},
    "euler": {"dt": 0.01},
}
TIMES = np.linspace(0.0, 1.0, 6)


@pytest.fixture(scope="module")
def cart():
    return kc.load("cart_pole")


def starts(n=N):
    return np.random.default_rng(3).uniform(-0.5, 0.5, (n, 4))


@pytest.mark.parametrize("threads", [1, 2, -1])
@pytest.mark.parametrize("method", METHODS)
def test_rows_have_the_bits_of_runs_alone(cart, method, threads):
    x0, forces = starts(), np.linspace(-1, 1, N)[:, np.newaxis]
    p = np.stack([cart.names.resolved("parameter", {}) * (1 + 0.1 * i) for i in range(N)])
    options = METHODS[method]
    many = cart.simulate(
        (0, 1), x0, inputs=forces, parameters=p, t_eval=TIMES, method=method, threads=threads, **options
    )
    assert many.x.shape == (N, len(TIMES), 4)
    assert many.success
    for i in range(N):
        one = cart.simulate((0, 1), x0[i], inputs=forces[i], parameters=p[i], t_eval=TIMES, method=method, **options)
        assert np.array_equal(many.x[i], one.x)
        assert np.array_equal(many.r[i], one.r)
        assert np.array_equal(many.energy[i], one.energy)
        assert np.array_equal(many["theta"][i], one["theta"])
        assert (many.n_steps[i], many.n_rejected[i]) == (one.n_steps, one.n_rejected)
        assert many.nfev[i] <= one.nfev  # one run keeps an interpolant of every step, rows of those that serve
        assert np.array_equal(many.row(i).x, one.x)


@pytest.mark.parametrize("interval", [(0.0, 1.0), (1.0, 0.0), (5.0, 5.0)])
@pytest.mark.parametrize("method", METHODS)
def test_without_t_eval(cart, method, interval):
    x0, options = starts(), METHODS[method]
    push = kc.Signal([-10.0, 0.3, 0.61, 10.0], [0.0, 1.0, -1.0, 0.0])
    many = cart.simulate(interval, x0, inputs={"F": push}, method=method, **options)
    one = cart.simulate(interval, x0[2], inputs={"F": push}, method=method, **options)
    if "dt" in options or interval[0] == interval[1]:
        assert np.array_equal(many.t, one.t)
        assert np.array_equal(many.x[2], one.x)
    else:
        assert many.t.tolist() == list(interval)
        assert np.array_equal(many.x[2], one.x[[0, -1]])
    assert np.array_equal(many.r[2], one.r[[0, -1]] if len(many.t) == 2 else one.r)


def test_leading_axes_broadcast(cart):
    x0 = starts(6).reshape(2, 3, 4)
    many = cart.simulate((0, 0.5), x0, inputs=np.ones((3, 1)), t_eval=[0.0, 0.5])
    assert many.x.shape == (2, 3, 2, 4)
    assert many.status.shape == (2, 3)
    assert np.array_equal(many.x[1, 2], cart.simulate((0, 0.5), x0[1, 2], inputs=[1.0], t_eval=[0.0, 0.5]).x)
    named = cart.simulate((0, 0.5), {"theta": [0.1, 0.2]}, parameters={"m": [1.0, 2.0]} if 0 else None)
    assert named.x.shape == (2, 2, 4)
    swept = cart.simulate((0, 0.5), [0.1, 0.2, 0, 0], parameters={cart.parameter_names[0]: [1.0, 1.5, 2.0]})
    assert swept.x.shape == (3, 2, 4)
    function = cart.simulate((0, 0.5), x0[0], inputs=lambda t, x: [-x[0]], threads=2)
    assert np.array_equal(function.x[1, -1], cart.simulate((0, 0.5), x0[0, 1], inputs=lambda t, x: [-x[0]]).x[-1])
    copy = pickle.loads(pickle.dumps(swept))
    assert np.array_equal(copy.x, swept.x)
    assert np.array_equal(copy["theta"], swept["theta"])
    assert "3 trajectories" in repr(swept)


@pytest.mark.parametrize("name", every(2, ["four_bar", "bricard", "free_body", "whipple_bicycle"]))
def test_constraints_and_quaternions(name):
    dyn = kc.load(name)
    x = one_state(dyn, name)
    x0 = np.stack([x] * 3)
    if name == "four_bar":
        x0 = np.stack([dyn.consistent(0.0, {**four_bar.STATE, dyn.speed_names[0]: u}) for u in (0.5, 1.0, 2.0)])
    many = dyn.simulate((0, 0.1), x0, t_eval=[0.05, 0.1], **ADAPTIVE)
    for i in range(3):
        assert np.array_equal(many.x[i], dyn.simulate((0, 0.1), x0[i], t_eval=[0.05, 0.1], **ADAPTIVE).x)
    if dyn.n_configuration:
        with pytest.raises(ValueError, match=r"x0\[1\] does not satisfy the constraints"):
            dyn.simulate((0, 0.1), x0 + np.array([[0.0], [1e-2], [0.0]]))


def one_state(dyn, name):
    from importlib import import_module

    state = getattr(import_module(f"kanecore.gallery.{name}"), "STATE", {})
    x = dyn.names.as_state(dict(state), "x0") if state else np.zeros(dyn.n_x)
    for quaternion in dyn.unit:
        x[list(quaternion)] = [1.0, 0.0, 0.0, 0.0]
    return dyn.consistent(0.0, x) if dyn.n_constraints else x + (0.1 if not dyn.unit else 0.0)


def test_a_row_that_fails_leaves_its_neighbours_alone(cart):
    x0 = starts(3)
    x0[1] = [0.0, 0.0, 1e200, 1e200]
    good = cart.simulate((0, 1), x0[[0, 2]], t_eval=TIMES)
    many = cart.simulate((0, 1), x0, t_eval=TIMES, return_status=True)
    assert many.status[1] != 0
    assert many.status[[0, 2]].tolist() == [0, 0]
    assert np.array_equal(many.x[[0, 2]], good.x)
    assert np.isnan(many.x[1, -1]).all()
    with pytest.raises(kc.IntegrationError, match="row 1 of the runs of 'cart_pole' ends at t = ") as caught:
        cart.simulate((0, 1), x0, t_eval=TIMES)
    assert caught.value.rows.tolist() == [1]
    assert np.array_equal(caught.value.out[[0, 2]], good.x)
    assert np.array_equal(caught.value.trajectory.status, many.status)
    few = cart.simulate((0, 1), starts(3), max_steps=2, return_status=True)
    assert few.status.tolist() == [4, 4, 4]


def test_what_goes_wrong_is_named(cart, tmp_path):
    x0 = starts()
    for options, error, words in [
        ({"inputs": np.ones((3, 1))}, ValueError, "leading axes do not broadcast"),
        ({"inputs": np.ones((N, 2))}, ValueError, "inputs"),
        ({"events": kc.Event("x")}, ValueError, "events is for one run"),
        ({"sample_time": 0.1, "inputs": lambda t, x: [0.0]}, ValueError, "sample_time is for one run"),
        ({"method": "radau"}, ValueError, "one of kanecore's own"),
        ({"threads": 0}, ValueError, "threads"),
        ({"threads": "two"}, TypeError, "threads"),
    ]:
        with pytest.raises(error, match=words):
            cart.simulate((0, 1), x0, **options)
    x0[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"x0\[3\] is .* not finite"):
        cart.simulate((0, 1), x0)
    with pytest.raises(RuntimeError, match="no sensor"):
        cart.simulate((0, 1), starts(), inputs=throws)
    with pytest.raises(RuntimeError, match="no sensor"):  # of whichever thread meets it
        cart.simulate((0, 1), starts(), inputs=throws, threads=3)
    with pytest.raises(ValueError, match=r"sol\.row"):
        cart.simulate((0, 1), starts()).to_csv(tmp_path / "rows.csv")


def throws(t, x):
    raise RuntimeError("no sensor")


def test_a_span_of_its_own_for_each_row(cart):
    """Runs over the intervals between nodes of a motion end at the next ones, forwards and backwards."""
    dyn = cart
    times = np.linspace(0.0, 2.0, 9)
    force = {"F": kc.Signal(np.linspace(0.0, 2.0, 21), np.sin(np.linspace(0.0, 6.0, 21))[:, None], kind="cubic")}
    options = {"inputs": force, "rtol": 1e-10, "atol": 1e-12}
    nodes = dyn.simulate((0.0, 2.0), dyn.state(theta=0.1), t_eval=times, **options).x
    spans = np.stack([times[:-1], times[1:]], axis=-1)
    ends = dyn.simulate(spans, nodes[:-1], **options)
    assert ends.x.shape == (8, 2, 4)
    np.testing.assert_array_equal(ends.t, spans)
    np.testing.assert_allclose(ends.x[:, 1], nodes[1:], rtol=0, atol=1e-8)
    within = np.linspace(spans[:, 1], spans[:, 0], 5, axis=-1)
    back = dyn.simulate(spans[:, ::-1], nodes[1:], t_eval=within, threads=2, **options)
    np.testing.assert_allclose(back.x[:, -1], nodes[:-1], rtol=0, atol=1e-8)
    assert back.r.shape == (8, 5, 1)
    one = dyn.simulate((times[4], times[3]), nodes[4], t_eval=within[3], **options)
    np.testing.assert_allclose(back.row(3).x, one.x, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(back.row(3).t, within[3])
    np.testing.assert_allclose(back.energy[3], one.energy, rtol=1e-12)
    by_function = dyn.simulate(spans, nodes[:-1], inputs=lambda t, x: [np.sin(3.0 * t)], method="rk4", dt=0.05)
    np.testing.assert_allclose(by_function.x[:, 1], nodes[1:], rtol=0, atol=1e-3)


def test_spans_by_row_of_constraints_that_move():
    """Each start is brought to the constraints at its own time."""
    q, u, w = me.dynamicsymbols("q u w")
    t, (N, O) = me.dynamicsymbols._t, ground()  # noqa: E741
    P = O.locatenew("P", q * N.x + w * N.y)
    v = me.dynamicsymbols("v")
    rows = {"wall": q - sm.sin(t)}
    rates, body = [w.diff() - v, q.diff() - u], me.Particle("P", P, 1)
    dyn = kc.compile(kc.Model(N, [w, q], [v, u], rates, bodies=[body], configuration_constraints=rows))
    begin = np.array([0.2, 0.7])
    x = np.stack([0 * begin, np.sin(begin), 1 + 0 * begin, np.cos(begin)], axis=-1)
    sol = dyn.simulate(np.stack([begin, begin + 1.0], axis=-1), x)
    np.testing.assert_allclose(sol.x[:, 1, 1], np.sin(begin + 1.0), rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match=r"x0\[1\] does not satisfy the constraints .* at t = 0.7"):
        dyn.simulate(np.stack([begin, begin + 1.0], axis=-1), x[[0, 0]])


@pytest.mark.parametrize(
    ("spans", "times", "says"),
    [
        ([[0.0, 1.0, 2.0]], None, r"t_span has shape \(1, 3\)"),
        ([[0.0, np.nan]], None, "t_span"),
        ([[0.0, 1.0], [1.0, 2.0]], [0.5], r"every row of it lie within that of t_span"),
        ([[0.0, 1.0], [1.0, 2.0]], [[0.5, 0.2], [1.1, 1.2]], "sorted in the direction of t_span"),
        ([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]], None, r"leading axes do not broadcast: t_span \(3,\), x0 \(2,\)"),
    ],
)
def test_spans_by_row_that_make_no_sense(cart, spans, times, says):
    with pytest.raises(ValueError, match=says):
        cart.simulate(spans, np.zeros((2, 4)), t_eval=times)
