# SPDX-License-Identifier: BSD-3-Clause
"""Which inputs are rates of a prescribed motion: the description says so, and names never do."""

import pickle
import warnings

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from sweep import part

import kanecore as kc

t = me.dynamicsymbols._t
q, p, u, F = me.dynamicsymbols("q p u F")


def carriage(*, inputs=None, names=("v", "v_d"), moved=None):
    """A particle on a line; a controller pulls it to the position and speed of two inputs, a base may carry it."""
    x, u = me.dynamicsymbols("x u")
    wanted, rate = me.dynamicsymbols(" ".join(names))
    N, origin = ground()
    P = origin.locatenew("P", (x + (0 if moved is None else me.dynamicsymbols(moved))) * N.x)
    options = {"forcelist": [(P, (9 * (wanted - x) + 2 * (rate - u)) * N.x)], "inputs": inputs, "name": "carriage"}
    return kc.Model(N, [x], [u], [x.diff() - u], bodies=[me.Particle("P", P, 1)], **options)


@pytest.fixture(scope="module")
def dyn():
    return kc.compile(carriage())


@pytest.mark.parametrize("names", [("v", "v_d"), ("F", "F_d"), ("v_d", "v"), ("v", "v_dd")])
def test_inputs_named_like_rates_are_their_own(names):
    dyn = kc.compile(carriage(names=names))
    wanted, rate = names
    assert dyn.input_rates == (-1, -1)
    dyn.inputs[rate] = 0.7
    given = dyn.simulate((0, 1), [0.0, 0.0], inputs={wanted: 1.0})
    assert (given.r[:, dyn.input_names.index(rate)] == 0.7).all()
    assert (given.r[:, dyn.input_names.index(wanted)] == 1.0).all()
    table = np.column_stack([np.full(5, 1.0 if name == wanted else 0.7) for name in dyn.input_names])
    signal = kc.Signal(np.linspace(0, 1, 5), table, kind="cubic")
    np.testing.assert_allclose(dyn.simulate((0, 1), [0.0, 0.0], inputs=signal).x[-1], given.x[-1], atol=1e-7)
    ramp = {wanted: kc.Signal([0, 1], [0.0, 1.0], kind="linear")}
    assert (dyn.simulate((0, 1), [0.0, 0.0], inputs=ramp).r[:, dyn.input_names.index(rate)] == 0.7).all()
    with pytest.raises(ValueError, match=r"has 1 columns; the model has 2 inputs .*, 2 without the rates"):
        dyn.simulate((0, 1), [0.0, 0.0], inputs=kc.Signal([0, 1], [0.0, 1.0]))


def test_rough_signals_are_no_matter_where_nothing_is_a_rate(dyn):
    held = kc.Signal([0.0, 0.5], [0.0, 1.0])
    sol = dyn.simulate((0, 1), [0.0, 0.0], inputs={"v": held, "v_d": 0.0})
    assert set(sol.r[:, 0]) == {0.0, 1.0}


@pytest.mark.parametrize("inputs", [None, ["v_d", "theta", "v"], ["theta", "v_d", "v"]])
def test_rates_of_a_prescribed_motion_beside_them(inputs):
    symbols = None if inputs is None else [me.dynamicsymbols(name) for name in inputs]
    dyn = kc.compile(carriage(inputs=symbols, moved="theta"))
    place = dyn.input_names.index
    rates = [-1] * 5
    rates[place("theta")], rates[place("theta_d")] = place("theta_d"), place("theta_dd")
    assert dyn.input_rates == tuple(rates)
    times = np.linspace(0, 1, 41)
    motion = kc.Signal(times, np.sin(times), kind="cubic")
    sol = dyn.simulate((0, 1), [0.0, 0.0], inputs={"theta": motion, "v": 0.3})
    np.testing.assert_allclose(sol.r[:, place("theta_d")], np.cos(sol.t), atol=1e-5)
    np.testing.assert_allclose(sol.r[:, place("theta_dd")], -np.sin(sol.t), atol=1e-3)
    assert (sol.r[:, place("v_d")] == 0.0).all()
    assert (sol.r[:, place("v")] == 0.3).all()
    base = [name for name in dyn.input_names if name not in ("theta_d", "theta_dd")]
    columns = {"theta": np.sin(times), "v": np.full(41, 0.3), "v_d": np.zeros(41)}
    table = kc.Signal(times, np.column_stack([columns[name] for name in base]), kind="cubic")
    np.testing.assert_allclose(dyn.simulate((0, 1), [0.0, 0.0], inputs=table).x[-1], sol.x[-1], atol=1e-7)
    assert pickle.loads(pickle.dumps(dyn)).input_rates == dyn.input_rates


def test_derivatives_are_looked_up_by_what_they_are_of(dyn):
    v, v_d = me.dynamicsymbols("v v_d")
    dyn.inputs[v_d] = 0.25
    assert dyn.inputs["v_d"] == 0.25
    for wrong in (v.diff(t), v_d.diff(t), v.diff(t, 2)):
        with pytest.raises(KeyError, match="does not occur in the equations"):
            dyn.inputs[wrong] = 1.0
    with pytest.raises(KeyError, match="'v_d' is a separate input"):
        dyn.simulate((0, 1), [0.0, 0.0], inputs={v.diff(t): 1.0})
    tube, theta = kc.load("rotating_tube"), me.dynamicsymbols("theta")
    tube.inputs.update({theta: 0.1, theta.diff(t): 0.2, theta.diff(t, 2): 0.3})
    assert dict(tube.inputs) == {"theta": 0.1, "theta_d": 0.2, "theta_dd": 0.3}
    with pytest.raises(KeyError, match="no input of 'rotating_tube' is"):
        tube.inputs[theta.diff(t, 3)] = 0.0


def test_a_rate_and_an_input_of_one_name():
    with pytest.raises(kc.ModelError, match="theta_d"):
        carriage(names=("v", "theta_d"), moved="theta")


def table(kind, motion=np.sin, rate=np.cos):
    times = np.linspace(0.0, 5.0, 11)
    return {"theta": kc.Signal(times, motion(times), kind=kind), "theta_d": kc.Signal(times, rate(times), kind=kind)}


def held(function):
    return lambda t: function(0.1 * np.floor(t / 0.1))


@pytest.mark.parametrize(
    ("inputs", "contradict"),
    [
        ({"theta": 0.0, "theta_d": 3.0}, True),
        ({"theta": 3.0, "theta_d": 0.0}, False),
        (lambda t, x: [t**2, 0.0, 0.0], True),
        ({"theta": np.sin, "theta_d": lambda t: -np.cos(t)}, True),
        ({"theta": np.sin, "theta_d": np.cos}, False),
        ({"theta": held(np.sin), "theta_d": held(np.cos)}, False),
        ({"theta": lambda t: 0.01 * np.sin(40 * t), "theta_d": lambda t: 0.4 * np.cos(40 * t)}, False),
        *((table(kind), False) for kind in ("zoh", "linear", "cubic")),
        (table("cubic", rate=lambda t: np.degrees(np.cos(t))), True),
    ],
)
def test_rates_that_are_no_derivatives(inputs, contradict):
    """Samples that are held or interpolated, and what swings fast, are left alone."""
    given = inputs if callable(inputs) else {"theta_dd": 0.0, **inputs}
    tube, x0 = kc.load("rotating_tube"), [0.05, 0.1, 0.0, 0.0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tube.simulate((0.0, 5.0), x0, inputs=given)
        tube.simulate((5.0, 0.0), x0, inputs=given, method="rk4", dt=0.1)
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2 * contradict
    assert all("'theta_d' is the derivative of 'theta'" in message for message in messages)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau"])
def test_functions_are_asked_by_the_run_alone(method):
    """One with a state of its own is not called once the run is over, and what it raises is raised."""
    tube, times = kc.load("rotating_tube"), []

    def motion(t, x):
        times.append(t)
        return [t**2, 0.0, 0.0]

    options = {"dt": 0.01} if method == "rk4" else {}
    with pytest.warns(kc.KanecoreWarning, match="'theta_d' is the derivative of 'theta'"):
        sol = tube.simulate((0.0, 1.0), [0.05, 0.1, 0.0, 0.0], inputs=motion, method=method, **options)
    assert len(times) <= sol.nfev + 20  # what looks for a first step, and slopes by differences
    assert times[-1] == 1.0
    alone = []

    def steady(t, x):
        alone.append(t)
        return [t, 1.0, 0.0]

    tube.simulate((0.0, 1.0), [0.05, 0.1, 0.0, 0.0], inputs=steady, method=method, **options)
    assert max(alone) == alone[-1] == 1.0


def test_prescribed_rates_of_rollouts():
    tube, x0 = kc.load("rotating_tube"), [0.05, 0.1, 0.0, 0.0]
    times = 0.01 * np.arange(100)
    moved, still = np.stack([np.sin(times), np.cos(times), 0 * times], -1), np.zeros((100, 3))
    wrong = moved * [1.0, -1.0, 1.0]
    np.testing.assert_array_equal(tube.rollout(x0, [still, moved], dt=0.01).shape, (2, 101, 4))
    said = {"match": "'theta_d' is the derivative of 'theta'"}
    rest = {"theta": 0.0, "theta_d": 0.0, "theta_dd": 0.0}
    for inputs in ([0.0, 3.0, 0.0], wrong, [moved, wrong], rest | {"theta": np.sin(times)}, rest | {"theta_d": 1.0}):
        with pytest.warns(kc.KanecoreWarning, **said):
            tube.rollout(x0, inputs, dt=0.01, steps=100)
    tube.rollout(x0, wrong[:1], dt=0.01, steps=1)
    tube.step(0.0, x0, 0.01, r=[0.0, 3.0, 0.0])  # one step tells nothing
    with pytest.warns(kc.KanecoreWarning, **said):
        tube.simulate((0.0, 1.0), [x0, x0], inputs=[[0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    with pytest.warns(kc.KanecoreWarning, **said):
        tube.simulate((0.0, 1.0), [x0, x0], inputs=lambda t, x: [t**2, 0.0, 0.0])
    tube.simulate((0.0, 1.0), [x0, [0.2, 0.3, 0.0, 0.0]], inputs=lambda t, x: [x[0], x[2], 0.0], threads=2)
    tube.inputs.update(rest | {"theta_d": 3.0})
    for run in (
        lambda: tube.simulate((0.0, 1.0), x0),
        lambda: tube.simulate((0.0, 1.0), [x0, x0]),
        lambda: tube.rollout(x0, dt=0.01, steps=100),
    ):
        with pytest.warns(kc.KanecoreWarning, **said):
            run()


def test_prescribed_rates_of_rows_of_a_model_without_parameters():
    s, (N, origin) = me.dynamicsymbols("s"), ground()
    P = origin.locatenew("P", (q + s) * N.x)
    bodies, drag = [me.Particle("P", P, 2)], [(P, -(s + s.diff()) * N.x)]
    dyn = kc.compile(kc.Model(N, [q], [u], [q.diff() - u], bodies=bodies, forcelist=drag))
    assert dyn.n_p == 0
    for inputs in ([0.0, 1.0, 0.0], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]):
        with pytest.warns(kc.KanecoreWarning, match="'s_d' is the derivative of 's'"):
            assert dyn.simulate((0.0, 1.0), np.ones((2, 2)), inputs=inputs).x.shape == (2, 2, 2)
    assert dyn.simulate((0.0, 1.0), np.ones((0, 2)), inputs=[0.0, 0.0, 0.0]).x.shape == (0, 2, 2)


def test_rates_of_what_moves_nothing():
    """A turntable may have any angle: nothing depends on it."""
    phi = me.dynamicsymbols("phi")
    model = kc.Model.from_lagrangian(q.diff() ** 2 / 2 + phi.diff() ** 2 * q**2 / 2, [q])
    kc.compile(model).simulate((0.0, 1.0), [0.1, 0.0], inputs={"phi": 0.0, "phi_d": 3.0})


def pushed(*, rate=u, place=q, **options):
    """A particle on a line, and p, a state of first order."""
    N, origin = ground()
    P = origin.locatenew("P", place * N.x)
    given = {"forcelist": [(P, p * N.x)], **options}
    return kc.Model(N, [q, p], [u], [q.diff() - rate, p.diff() + 2 * p - F], bodies=[me.Particle("P", P, 1)], **given)


HELD = {
    "Lagrangian": lambda: kc.Model.from_lagrangian(q.diff() ** 2 / 2 + q * F, [q]),
    "potential": lambda: pushed(potentials=[-q * F]),
    "first-order state": pushed,
}


@pytest.mark.parametrize(
    ("model", "names"),
    [
        *((model, ["F"]) for model in HELD.values()),
        (lambda: kc.Model.from_lagrangian((1 + F**2) * q.diff() ** 2 + F * q, [q]), ["F", "F_d"]),
        (lambda: kc.Model.from_lagrangian(q.diff() ** 2 + F.diff() ** 2 * q, [q]), ["F", "F_d"]),
        (lambda: pushed(rate=u + F), ["F", "F_d"]),  # F is a velocity
        (lambda: pushed(place=q + p), ["F", "F_d"]),  # by p it is one, too
        (lambda: pushed(place=q + F, potentials=[-q * F]), ["F", "F_d", "F_dd"]),
    ],
)
def test_rates_are_inputs_where_equations_hold_them(model, names):
    dyn = kc.compile(model())
    assert dyn.input_names == tuple(names)


@pytest.mark.parametrize("model", HELD.values(), ids=HELD)
def test_inputs_without_rates_may_do_anything(model):
    """They jump, have one column, or are asked of a function; their work is found all the same."""
    dyn = kc.compile(model())
    x0, exact = np.array([0.3, 0.1, 0.2][: dyn.n_x]), {"rtol": 1e-10, "atol": 1e-10}
    times, values = np.linspace(0.0, 2.0, 9), np.cos(np.arange(9.0))
    held = kc.Signal(times, values)
    ends = [dyn.simulate((0.0, 2.0), x0, inputs=i, **exact) for i in (held, lambda t, x: [held(t)[0]], {"F": held})]
    assert ends[0].energy_drift < 1e-8
    np.testing.assert_allclose(ends[2].x[-1], ends[0].x[-1])
    np.testing.assert_allclose(dyn.rollout(x0, values[:8, np.newaxis], dt=0.25)[-1], ends[0].x[-1], atol=1e-3)
    for smooth in (kc.Signal(times, values, kind="cubic"), lambda t, x: [np.sin(3 * t) + 0.1 * x[0]]):
        assert dyn.simulate((0.0, 2.0), x0, inputs=smooth, **exact).energy_drift < 1e-8
    assert dyn.linear_system(0.0, x0).B.shape == (dyn.n_x, 1)
    assert dyn.equilibrium(x0, fixed={"q": 0.3}, inputs={"F": 1.0}).inputs["F"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", part(kc.models(), ["rotating_tube", "rrp"]))
def test_gallery_says_which_inputs_are_rates(name):
    dyn = kc.load(name)
    assert len(dyn.input_rates) == dyn.n_r
    for i, rate in enumerate(dyn.input_rates):
        assert rate == -1 or dyn.input_names[rate].startswith(dyn.input_names[i] + "_d" * (i == 0))
    assert name != "rotating_tube" or dyn.input_rates == (1, 2, -1)


def steered(velocity_set, beside=False):
    """A particle on a line, ẋ = v cos a, with the heading a as an input; another one may stand beside it."""
    x, v, a = me.dynamicsymbols("x v a")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", x * N.x)
    if velocity_set:
        P.set_vel(N, v * N.x)
    points = [P.locatenew("Q", N.y)] + ([O.locatenew("R", x * N.x + N.y)] if beside else [])
    body = me.Particle("P", P, 1)
    return kc.Model(N, [x], [v], [x.diff() - v * sm.cos(a)], bodies=[body], points=points)


def test_rates_of_inputs_in_kinematical_equations_are_listed_where_they_are_read():
    """ẍ = v̇ cos a − v ȧ sin a, unless the velocity of all that x moves was set: then nothing reads ȧ."""
    names = ("a", "a_d")
    assert kc.compile(steered(velocity_set=False)).input_names == names
    with pytest.warns(kc.KanecoreWarning, match="is not the derivative of its"):
        dyn = kc.compile(steered(velocity_set=True))
    assert dyn.input_names == ("a",)
    assert dyn.udot(0.0, [0.0, 2.0], r=[0.3]) == 0.0
    np.testing.assert_allclose(dyn.accelerations(0.0, [0.0, 2.0], [0.7], r=[0.3])[:, 0], 0.7)
    with pytest.warns(kc.KanecoreWarning, match="is not the derivative of its"):
        assert kc.compile(steered(velocity_set=True, beside=True)).input_names == names
