# SPDX-License-Identifier: BSD-3-Clause
"""Events of a run: closed forms, SciPy's zeros, order, resets, the constraints, and every wrong use."""

import ctypes
import pickle
import subprocess

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point
from scipy.integrate import solve_ivp
from sweep import part

import kanecore as kc
from kanecore.build.c_compiler import find_compiler
from kanecore.gallery import four_bar

GRAVITY = 10.0
METHODS = {"dop853": {}, "dopri5": {}, "rk4": {"dt": 0.1}, "rosenbrock": {}, "auto": {}}


def particle(count: int = 1, unit: float = 1.0):
    """Particles that fall along one line, z1, z2, ... with speeds w1, w2, ...; lengths in some unit."""
    frame, origin = ground()
    z, w = me.dynamicsymbols(f"z1:{count + 1}"), me.dynamicsymbols(f"w1:{count + 1}")
    m, g = sm.symbols("m g")
    bodies, loads = [], []
    for i in range(count):
        point = origin.locatenew(f"P{i + 1}", z[i] * frame.z)
        point.set_vel(frame, w[i] * frame.z)
        bodies.append(me.Particle(f"ball{i + 1}", point, m))
        loads.append((point, -m * g * frame.z))
    model = kc.Model(
        *(frame, z, w, [a.diff() - b for a, b in zip(z, w, strict=True)]),
        bodies=bodies,
        forcelist=loads,
        outputs={"height": z[0]},
    )
    return kc.compile(model, parameters={m: 1.0, g: GRAVITY * unit}, cc="none"), z, w, g


@pytest.fixture(scope="module")
def ball():
    return particle()


@pytest.fixture(scope="module")
def pendulum():
    return kc.load("cart_pole")


def bounces(n: int, height: float, keeps: float) -> np.ndarray:
    """When a ball that is let go meets the ground."""
    first = np.sqrt(2 * height / GRAVITY)
    return first + 2 * first * np.concatenate([[0.0], np.cumsum(keeps ** np.arange(1, n))])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["expression", "output", "number", "function", "both directions"])
def test_a_ball_bounces_as_in_its_closed_form(ball, method, kind):
    dyn, (z,), (w,), _ = ball
    event = {
        "expression": kc.Event(z, direction=-1, reset={w: -sm.Rational(9, 10) * w}),
        "output": kc.Event("height", direction=-1, reset={"w1": -sm.Rational(9, 10) * w}),
        "number": kc.Event("z1", direction=-1, reset=lambda t, x: [x[0], -0.9 * x[1]]),
        "function": kc.Event(lambda t, x: x[0], direction=-1, reset=lambda t, x: [x[0], -0.9 * x[1]]),
        "both directions": kc.Event(z, reset={w: -0.9 * w}),
    }[kind]
    expected = bounces(20, 5.0, 0.9)
    sol = dyn.simulate((0, expected[-1] + 0.1), [5.0, 0.0], events=[event], method=method, **METHODS[method])
    assert sol.success
    assert sol.status == 0
    assert sol.t_events[0] == pytest.approx(expected, abs=1e-10)
    assert np.abs(sol.y_events[0][:, 0]).max() < 1e-11
    assert sol.y_events[0][:, 1] == pytest.approx(-10.0 * 0.9 ** np.arange(20), abs=1e-9)
    assert sol.energy_drift < 1e-10  # what a bounce takes is none
    assert np.sum(np.diff(sol.t) == 0.0) == 20
    assert sol(sol.t_events[0][3])[1] > 0  # the state after the reset
    assert sol.x[:, 0].min() > -1e-11


def test_units_do_not_matter():
    expected = bounces(20, 5.0, 0.9)
    for unit in (1e-9, 1e12):
        dyn, (z,), (w,), _ = particle(unit=unit)
        event = kc.Event(z, direction=-1, reset={w: -sm.Rational(9, 10) * w})
        sol = dyn.simulate((0, expected[-1] + 0.1), [5.0 * unit, 0.0], events=event, atol=1e-9 * unit)
        assert sol.t_events[0] == pytest.approx(expected, abs=1e-10)


def test_a_late_start_keeps_its_bounces(ball):
    dyn, (z,), (w,), _ = ball
    start, expected = 1e6, bounces(10, 5.0, 0.5)
    sol = dyn.simulate((start, start + 2.99), [5.0, 0.0], events=kc.Event(z, direction=-1, reset={w: -w / 2}))
    assert sol.t_events[0][:8] - start == pytest.approx(expected[:8], abs=1e-8)


def test_zeros_are_scipys(pendulum):
    def level(t, x):
        return x[1] - 0.2

    def fast(t, x):
        return x[3]

    def late(t, x):
        return t - 1.234

    fast.direction, late.terminal = -1, False
    events = [level, fast, late]
    x0 = [0.0, 0.9, 0.0, 0.1]  # where a function is zero at the start SciPy counts that
    options = {"rtol": 1e-10, "atol": 1e-10}
    ours = pendulum.simulate((0, 10), x0, events=events, **options)
    theirs = solve_ivp(pendulum.rhs, (0, 10), x0, method="DOP853", events=events, **options)
    for i in range(3):
        assert ours.t_events[i] == pytest.approx(theirs.t_events[i], abs=1e-7)
        assert ours.y_events[i] == pytest.approx(theirs.y_events[i], abs=1e-6)
    back = pendulum.simulate((10, 0), ours.x[-1], events=events, **options)
    assert back.t_events[0][::-1] == pytest.approx(ours.t_events[0], abs=1e-6)
    grows = back.t_events[1]  # it falls backwards
    assert len(grows)
    assert np.abs(grows[:, np.newaxis] - ours.t_events[1]).min() > 0.1


@pytest.mark.parametrize(("terminal", "ends"), [(True, 0), (1, 0), (3, 2), (np.True_, 0)])
def test_a_terminal_event_ends_the_run(pendulum, terminal, ends):
    level = kc.Event("theta", terminal)
    free = pendulum.simulate((0, 10), [0.0, 0.9, 0.0, 0.0], events=kc.Event(level.expr))
    sol = pendulum.simulate((0, 10), [0.0, 0.9, 0.0, 0.0], events=level, t_eval=np.linspace(0, 10, 200))
    assert sol.status == 1
    assert sol.success
    assert "event" in sol.message
    assert len(sol.t_events[0]) == ends + 1
    assert sol.t_events[0][-1] == pytest.approx(free.t_events[0][ends], abs=1e-9)
    assert sol.t[-1] <= sol.t_events[0][-1]
    assert sol(sol.t_events[0][-1]) == pytest.approx(sol.y_events[0][-1])


def test_two_zeros_within_one_step(ball):
    dyn, (z,), (w,), _ = ball
    for gap in (1e-3, 1e-6, 1e-9):
        sol = dyn.simulate((0, 10), [0.0, 7.0], events=[kc.Event(z - 2.45 + gap), kc.Event(w)])
        half = np.sqrt(2 * gap / GRAVITY)
        assert len(sol.t) < 8  # longer steps than between them
        assert sol.t_events[0] == pytest.approx([0.7 - half, 0.7 + half], abs=1e-7)
        assert sol.t_events[1] == pytest.approx([0.7])


def test_a_function_that_touches_zero_or_is_zero_has_no_zeros(ball):
    dyn, (z,), (w,), g = ball
    events = [
        kc.Event(z - sm.Rational(49, 20) - sm.Rational(1, 10**6)),
        kc.Event(z - z),
        kc.Event(z + w**2 / (2 * g) - sm.Rational(49, 20)),  # the energy: rounding alone
    ]
    sol = dyn.simulate((0, 3), [0.0, 7.0], events=events, rtol=1e-12, atol=1e-12)
    assert [len(t) for t in sol.t_events] == [0, 0, 0]


def test_a_zero_at_the_start_is_none_and_one_at_the_end_is(ball):
    dyn, (z,), _, _ = ball
    sol = dyn.simulate((0, 1.4), [0.0, 7.0], events=[kc.Event(z), kc.Event(dynamic_time() - sm.Rational(7, 5))])
    assert len(sol.t_events[0]) <= 1
    assert all(t > 1.39 for t in sol.t_events[0])
    assert sol.t_events[1].tolist() == [1.4]


def dynamic_time():
    return me.dynamicsymbols._t


def test_events_at_one_time_are_served_in_their_order(ball):
    dyn, (z,), (_w,), _ = ball
    served = []

    def reset(name, factor):
        def change(t, x):
            served.append((name, x[1]))
            return [x[0], factor * x[1]]

        return change

    events = [
        kc.Event(z, direction=-1, reset=reset("first", -1.0)),
        kc.Event(2 * z, direction=-1, reset=reset("second", 0.5)),
        kc.Event(z - 1, direction=-1),
    ]
    sol = dyn.simulate((0, 1.5), [5.0, 0.0], events=events)
    assert [name for name, _ in served] == ["first", "second"]
    assert served[0][1] == pytest.approx(-10)
    assert served[1][1] == pytest.approx(10)
    assert sol.t_events[0] == pytest.approx([1.0])
    assert sol.t_events[1] == pytest.approx([1.0])
    assert sol.t_events[2] == pytest.approx([np.sqrt(0.8)])
    assert sol.x[-1] == pytest.approx([5.0 * 0.5 - GRAVITY * 0.125, 0.0], abs=1e-9)


def test_two_balls_that_meet_exchange_their_speeds():
    """Elastic and of equal mass: as if they went through each other."""
    dyn, (a, b), (u, v), _ = particle(2)
    sol = dyn.simulate((0, 1), [0.0, 1.0, 8.0, 2.0], events=kc.Event(b - a, direction=-1, reset={u: v, v: u}))
    assert sol.t_events[0] == pytest.approx([1 / 6])
    free = dyn.simulate((0, 1), [0.0, 1.0, 8.0, 2.0])
    assert sol.x[-1] == pytest.approx(free.x[-1][[1, 0, 3, 2]], abs=1e-9)


def test_a_block_sticks_when_it_comes_to_rest():
    """Coulomb friction: the sliding block stops at u0²/(2 µ g), at u0/(µ g), by a terminal event."""
    q, u, direction = me.dynamicsymbols("q u direction")
    m, g, mu, k = sm.symbols("m g mu k")
    model = mass_point({q: u}, m, [-mu * m * g * direction - k * q])
    dyn = kc.compile(model, parameters={m: 2.0, g: GRAVITY, mu: 0.3, k: 0.0}, cc="none")
    rest = kc.Event(u, terminal=True)
    sol = dyn.simulate((0, 5), [0.0, 3.0], inputs={"direction": 1.0}, events=rest)
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-12)
    assert sol.x[-1, 0] == pytest.approx(1.5, abs=1e-12)
    # with a spring it turns as long as the spring is stronger: each half swing loses 2 µ m g / k (Den Hartog 1931)
    dyn.parameters["k"] = 200.0
    t, x, turns, sign = 0.0, np.array([0.5, 0.0]), [0.5], -1.0
    while 200.0 * abs(x[0]) > 0.3 * 2.0 * GRAVITY:
        sol = dyn.simulate((t, t + 5), x, inputs={"direction": sign}, events=rest)
        t, x, sign = sol.t[-1], np.array([sol.x[-1, 0], 0.0]), -sign
        turns.append(x[0])
    assert turns == pytest.approx([0.5 * (-1) ** i * (1 - 0.12 * i) for i in range(len(turns))], abs=1e-8)
    assert len(turns) == 9
    assert t == pytest.approx(8 * np.pi / 10, abs=1e-8)


def test_expressions_hold_parameters_inputs_time_and_rates(ball):
    dyn, (z,), (w,), g = ball
    t = dynamic_time()
    events = [kc.Event(w - g / 10), kc.Event(sm.sin(t) - sm.Rational(1, 2)), kc.Event(z.diff(t))]
    sol = dyn.simulate((0, 1.5), [0.0, 7.0], events=events)
    assert sol.t_events[0] == pytest.approx([0.6])
    assert sol.t_events[1] == pytest.approx([np.pi / 6])
    assert sol.t_events[2] == pytest.approx([0.7])
    sol = dyn.simulate((0, 1.5), [0.0, 7.0], events=events, parameters={g: 20.0})
    assert sol.t_events[0] == pytest.approx([0.25])
    rrp = kc.load("rrp")
    name = rrp.input_names[0]
    ramp = kc.Signal([0.0, 2.0], [-1.0, 1.0], kind="linear")
    force = kc.Event(me.dynamicsymbols(name) - sm.Rational(1, 4))
    sol = rrp.simulate((0, 2), np.array([0.3, 0.4, 0.5, 1.0, -1.0, 0.2]), inputs={name: ramp}, events=force)
    assert sol.t_events[0] == pytest.approx([1.25])


@pytest.mark.compiler
def test_functions_in_c(ball, tmp_path):
    source, library = tmp_path / "events.c", tmp_path / "events.so"
    source.write_text("double height(double t, const double *x) { return x[0] - 1.0 + 0.0 * t; }\n")
    subprocess.run([*find_compiler(), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    height = ctypes.CDLL(str(library)).height
    height.restype, height.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.POINTER(ctypes.c_double)]
    dyn = ball[0]
    for event in (height, kc.Event(height, terminal=False)):
        sol = dyn.simulate((0, 1), [5.0, 0.0], events=event)
        assert sol.t_events[0] == pytest.approx([np.sqrt(0.8)])
    height.argtypes = [ctypes.c_double]
    with pytest.raises(TypeError, match="event 0 takes 1 arguments"):
        dyn.simulate((0, 1), [5.0, 0.0], events=height)


@pytest.mark.parametrize("e", [0.0, 1e-20, 1e-9, 1e-3, 0.03, 0.3, 0.5])
@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4", "euler", "rosenbrock", "auto"])
def test_no_reset_ends_in_silent_penetration(ball, method, e):
    """A ball that comes to rest on the floor ends the run there, however little it bounces."""
    event = kc.Event("z1", direction=-1, reset=lambda t, x: [x[0], -e * x[1]])
    options = {"dt": 1e-3} if method in ("rk4", "euler") else {}
    with pytest.raises(kc.IntegrationError, match="or the motion rests there") as caught:
        ball[0].simulate((0, 5), [5.0, 0.0], events=event, method=method, **options)
    assert caught.value.trajectory.x[:, 0].min() > -1e-9


def test_a_reset_that_lets_the_motion_go_on(ball):
    """It is no contact: g has one zero, though the state jumps on it."""
    for factor in (0.5, 1.0, 2.0):
        kick = kc.Event(lambda t, x: x[0] - 1.0, reset=lambda t, x, factor=factor: [x[0], factor * x[1]])
        for options in ({}, {"method": "rk4", "dt": 0.01}):
            sol = ball[0].simulate((0, 1.2), [5.0, 0.0], events=kick, **options)
            assert len(sol.t_events[0]) == 1
            assert sol.x[-1, 0] < 1.0


def test_zeros_lie_on_the_constraints():
    dyn = kc.load("four_bar")
    x0 = dyn.consistent(0.0, {**four_bar.STATE, dyn.speed_names[0]: 1.0})
    name = dyn.coordinate_names[0]
    middle = dyn.simulate((0, 0.5), x0)[name]
    level = float(0.5 * (middle[0] + middle[-1]))
    events = [kc.Event(lambda t, x: x[0] - level), kc.Event(me.dynamicsymbols(name) - level, terminal=True)]
    sol = dyn.simulate((0, 0.5), x0, events=events)
    assert sol.status == 1
    assert len(sol.t_events[0]) == 1
    assert sol.t_events[0] == pytest.approx(sol.t_events[1])
    for x in (*sol.y_events[0], *sol.y_events[1]):
        residual = dyn.configuration_residual(0.0, x)
        assert np.abs(residual).max() < 1e-10
    wrong = kc.Event(me.dynamicsymbols(name) - level, reset=lambda t, x: x + 1e-3 * np.arange(dyn.n_x))
    with pytest.raises(ValueError, match=r"event 0: .* does not satisfy the constraints .* dyn\.impact") as caught:
        dyn.simulate((0, 0.5), x0, events=wrong)
    assert caught.value.trajectory.t[-1] == pytest.approx(sol.t[-1])
    stop = kc.Event(me.dynamicsymbols(name) - level, reset=lambda t, x: np.where(np.arange(dyn.n_x) < dyn.n_q, x, 0.0))
    with pytest.raises(kc.IntegrationError, match="or the motion rests there") as caught:
        dyn.simulate((0, 0.5), x0, events=stop)
    assert caught.value.trajectory.constraint_drift < 1e-9


def test_bounces_that_come_ever_faster_are_named(ball):
    dyn, (z,), (w,), _ = ball
    for keeps in (0.9, 0.5, 0.1):
        with pytest.raises(kc.IntegrationError, match="ever faster") as caught:
            dyn.simulate((0, 50), [5.0, 0.0], events=kc.Event(z, direction=-1, reset={w: -keeps * w}))
        assert caught.value.trajectory.t[-1] == pytest.approx((1 + keeps) / (1 - keeps), rel=1e-6)
        assert caught.value.trajectory.x[-1, 0] == pytest.approx(0.0, abs=1e-9)


def test_t_eval_and_dense_output_go_across_resets(ball):
    dyn, (z,), (w,), _ = ball
    event = kc.Event(z, direction=-1, reset={w: -w})
    times = np.linspace(0, 6, 61)
    sol = dyn.simulate((0, 6), [5.0, 0.0], events=event, t_eval=times)
    phase = (times + 1) % 2 - 1
    assert sol.x[:, 0] == pytest.approx(5 - 5 * phase**2, abs=1e-9)
    assert sol(times)[:, 0] == pytest.approx(5 - 5 * phase**2, abs=1e-9)
    copy = pickle.loads(pickle.dumps(dyn.simulate((0, 1), [5.0, 0.0], events=event)))
    assert copy.t_events is not None


def test_what_goes_wrong_is_named(ball):
    dyn, (z,), (w,), _ = ball

    def breaks(t, x):
        if t > 0.5:
            raise RuntimeError("broken")
        return 1.0

    with pytest.raises(RuntimeError, match="broken") as caught:
        dyn.simulate((0, 5), [5.0, 0.0], events=breaks, max_step=0.1)
    assert 0.3 < caught.value.trajectory.t[-1] <= 0.5
    for wrong, error, words in [
        (kc.Event(sm.sqrt(z - 1)), ValueError, "event 0 is nan"),
        (lambda t, x: np.nan, ValueError, "event 0 is nan at t = 0.0"),
        (lambda t, x: "high", (TypeError, ValueError), "real number"),
        (kc.Event(sm.Symbol("missing") + z), kc.ModelError, "missing"),
        (kc.Event("heigth"), KeyError, "height"),
        (z, TypeError, r"write kc\.Event\(z1\(t\)\)"),
        (3.0, TypeError, "events is 3.0"),
        ([3.0], TypeError, "event 0 is 3.0"),
        (kc.Event(z, terminal="yes"), ValueError, "terminal of event 0"),
        (kc.Event(z, terminal=-1), ValueError, "terminal of event 0"),
        (kc.Event(z, direction="up"), TypeError, "direction of event 0"),
        (kc.Event(z, reset={"z2": 0}), KeyError, "z2"),
        (kc.Event(z, direction=-1, reset=lambda t, x: [1.0]), ValueError, r"shape \(1,\), expected \(2,\)"),
        (
            kc.Event(z, direction=-1, reset=lambda t, x: [np.nan, 0.0]),
            ValueError,
            "event 0 is reset to at t = .* finite",
        ),
        (kc.Event(z, direction=-1, reset={w: -w, "w1": 0}), ValueError, "twice"),
    ]:
        with pytest.raises(error, match=words):
            dyn.simulate((0, 5), [5.0, 0.0], events=wrong)
    with pytest.raises(TypeError, match="must be a mapping"):
        kc.Event(z, reset=0.5)
    assert repr(kc.Event(z, direction=-1, reset={w: -w})) == "Event(z1(t), direction=-1, reset={w1(t): -w1(t)})"


def test_no_events_are_an_empty_list(ball):
    assert ball[0].simulate((0, 1), [5.0, 0.0]).t_events is None
    assert ball[0].simulate((0, 1), [5.0, 0.0], events=[]).t_events == []


@pytest.mark.parametrize("apart", part([0.0, 1e-3, 1e-5, 1e-8, 1e-12, 1e-15], [0.0, 1e-5, 1e-12]))
@pytest.mark.parametrize(
    ("method", "options"),
    [("dop853", {}), ("dop853", {"rtol": 1e-3}), ("dopri5", {"rtol": 1e-3}), ("rk4", {"dt": 0.05})],
)
def test_zeros_next_to_one_on_which_a_step_ends_are_all_found(pendulum, method, options, apart):
    """The step to an event has another interpolant than the one in which it was found: their zeros change places."""

    def event(k):
        def g(t, x):
            return x[1] - 0.3 - k * apart

        return g if k % 2 else kc.Event(g, reset=lambda t, x: x)

    sol = pendulum.simulate((0, 6), [0, 0.5, 0, 0], events=[event(k) for k in range(6)], method=method, **options)
    numbers = [len(t) for t in sol.t_events]
    assert numbers == pytest.approx([11] * 6, abs=1 if apart == 1e-15 else 0)  # as far as rounding can tell
    for t in sol.t_events:
        assert np.diff(t).min() > 0.2
        assert ((sol.t[0] <= t) & (t <= sol.t[-1])).all()


def test_the_work_for_events_grows_as_their_number(ball):
    dyn = ball[0]

    def calls(n):
        count = 0

        def event(k):
            def g(t, x):
                nonlocal count
                count += 1
                return x[0] - 4.0 + k / n

            return kc.Event(g, reset=lambda t, x: x)

        dyn.simulate((0, 2), [5.0, 0.0], events=[event(k) for k in range(n)], method="rk4", dt=0.01)
        return count / n**2  # n resets, at each of which n are asked

    assert calls(80) < 1.5 * calls(20)


def test_an_event_that_raised_is_not_asked_again(ball):
    dyn, calls, last = ball[0], 0, np.inf

    def event(t, x):
        nonlocal calls
        calls += 1
        if calls >= last:
            raise KeyboardInterrupt
        return x[0]

    events = [kc.Event(event, terminal=2, reset=lambda t, x: [x[0], -x[1]])]
    dyn.simulate((0, 5), [5.0, 0.0], events=events)
    for last in range(1, calls):
        calls = 0
        with pytest.raises(KeyboardInterrupt):
            dyn.simulate((0, 5), [5.0, 0.0], events=events)
        assert calls == last


def test_an_event_returns_one_number(ball):
    dyn = ball[0]
    sol = dyn.simulate((0, 3), [5.0, 0.0], events=[lambda t, x: x[:1], lambda t, x: x[0]])
    assert sol.t_events[0] == sol.t_events[1]
    for wrong in (None, "1", [1.0], 1j, np.ones(2)):
        with pytest.raises(TypeError, match=r"event 0 returned .* must be one real number"):
            dyn.simulate((0, 3), [5.0, 0.0], events=lambda t, x, wrong=wrong: wrong)
    with pytest.raises(ValueError, match="direction of event 0 is nan"):
        dyn.simulate((0, 3), [5.0, 0.0], events=kc.Event("z1", direction=np.nan))


@pytest.mark.parametrize(("method", "dt"), [("euler", 0.01), ("euler", 0.3), ("rk4", 0.3)])
def test_long_steps_end_on_zeros_of_their_own(ball, method, dt):
    """A step of Euler's that is cut short ends elsewhere than the long one passed: by 9 cm at 0.3 s."""
    sol = ball[0].simulate((0, 3), [5.0, 0.0], events=["z1", kc.Event("z1", terminal=True)], method=method, dt=dt)
    assert sol.status == 1
    assert sol.t_events[0] == sol.t_events[1] == sol.t[-1:]
    assert abs(sol.x[-1, 0]) < 1e-12
    dyn = kc.load("four_bar")
    start = dyn.consistent(0.0, dyn.state(q1=0.5, u1=2.0))
    ends = dyn.simulate(
        (0, 3), start, events=[kc.Event("q1", reset=lambda t, x: x), "q1"], method=method, dt=min(dt, 0.02)
    )
    assert [len(t) for t in ends.t_events] == [3, 3]
    assert np.abs(ends.y_events[0][:, 0]).max() < 1e-12


@pytest.mark.parametrize(("method", "options"), [("dop853", {"max_step": 0.5}), ("rk4", {"dt": 0.1})])
def test_functions_that_jump(ball, method, options):
    """Zeros of a sign are those of what it is the sign of, each time anew."""
    dyn = ball[0]

    def ground(t, x):
        return 1.0 if x[0] > 0.0 else -1.0

    event = kc.Event(ground, direction=-1, reset=lambda t, x: [0.0, -0.9 * x[1]])
    sol = dyn.simulate((0, 5), [5.0, 0.0], events=event, method=method, **options)
    assert sol.t_events[0] == pytest.approx([1.0, 2.8, 4.42], abs=1e-9)
    clock = kc.Event(lambda t, x: np.sign(np.sin(3 * t)), reset=lambda t, x: x)
    sol = dyn.simulate((0, 4), [5.0, 0.0], events=clock, method=method, **options)
    assert sol.t_events[0] == pytest.approx(np.pi / 3 * np.arange(1, 4), abs=1e-9)


def test_what_a_reset_does_to_its_state_stays_there(ball):
    """The zero is reported as it was found."""
    dyn, *_ = ball

    def reset(t, x):
        x[1] *= -0.5
        return x

    run = dyn.simulate((0.0, 1.2), [5.0, 0.0], events=kc.Event("z1", direction=-1, reset=reset))
    np.testing.assert_allclose(run.y_events[0], [[0.0, -10.0]], atol=1e-7)
    np.testing.assert_allclose(run.x[-1], [5.0 * 0.2 - 5.0 * 0.04, 5.0 - 2.0], atol=1e-7)


SEAMS = [  # functions of t, and how many zeros they have between 0 and 10
    (np.sin, 3),
    (lambda t: (t - np.pi) ** 3, 1),
    (lambda t: 1 - np.cos(t), 0),
    (lambda t: t - 2 * np.pi, 1),
]


@pytest.mark.parametrize("method", ["dop853", "euler"])
@pytest.mark.parametrize("off", part([-3, -1, 0, 1, 4], [-1, 0, 1]))
def test_a_chain_of_runs_has_the_events_of_one_run(ball, method, off):
    """Runs end beside zeros, by units in the last place; a zero is rounding in both, and an event of one of them."""
    dyn, (z,), *_ = ball
    events = [*(lambda t, x, g=g: g(t) for g, _ in SEAMS), kc.Event(sm.sin(z))]
    options = {"method": method, **({"dt": 0.01} if method == "euler" else {})}
    start = [0.0, 10.0]
    whole = dyn.simulate((0.0, 10.0), start, parameters={"g": 2.0}, events=events, **options)
    assert [len(times) for times in whole.t_events[:-1]] == [n for _, n in SEAMS]
    zeros = [np.pi, 2 * np.pi, 3 * np.pi, *whole.t_events[-1][2:5]]
    ends = sorted({0.0, 10.0} | {float(t + off * np.spacing(t)) for t in zeros})
    state, found = start, np.zeros(len(events), int)
    for i in range(len(ends) - 1):
        run = dyn.simulate((ends[i], ends[i + 1]), state, parameters={"g": 2.0}, events=events, **options)
        state, found = run.x[-1], found + [len(times) for times in run.t_events]
    assert found.tolist() == [len(times) for times in whole.t_events]


@pytest.mark.parametrize("often", [20, 200])
def test_a_function_that_swings_within_steps(ball, often):
    """All its zeros are found, or a warning says that some may be missing: three steps pass hundreds of zeros."""
    dyn, (z,), *_ = ball
    run = dyn.simulate((0.0, 1.0), [0.0, 1.0], parameters={"g": 0.0}, events=kc.Event(sm.sin(often * z)))
    np.testing.assert_allclose(run.t_events[0], np.arange(1, often / np.pi) * np.pi / often, rtol=1e-9)
    with pytest.warns(kc.KanecoreWarning, match=r"so often in the step from t = .* limit max_step"):
        dyn.simulate((0.0, 1.0), [0.0, 1.0], parameters={"g": 0.0}, events=kc.Event(sm.sin(1e4 * z)))


def test_states_below_the_tolerance_are_named(ball):
    """A run in nanometres, whose steps are as long as if the state did not matter; at rest, nothing is wrong."""
    dyn, *_ = ball
    with pytest.warns(kc.KanecoreWarning, match="all states stay near or below atol = 1e-08, the largest is 1e-09"):
        dyn.simulate((0.0, 1.0), [0.0, 1e-9], parameters={"g": 0.0})
    with pytest.warns(kc.KanecoreWarning, match="all states stay near or below atol = 1e-08, the largest is 2e-09"):
        dyn.simulate((0.0, 1.0), [[0.0, 1e-9], [0.0, 2e-9]], parameters={"g": 0.0})
    with pytest.warns(kc.KanecoreWarning, match="is 1e-07: in each step an error of 0.1 of it is not seen"):
        dyn.simulate((0.0, 1.0), [0.0, 1e-7], parameters={"g": 0.0})
    with pytest.warns(kc.KanecoreWarning, match="all states stay near"):
        dyn.simulate((0.0, 1.0), [0.0, 1e-9], parameters={"g": 0.0}, method="radau")
    dyn.simulate((0.0, 1.0), [[0.0, 1e-9], [0.0, 1.0]], parameters={"g": 0.0})
    for start, options in (
        ([1e-9, 0.0], {}),
        ([0.0, 1e-9], {"atol": 1e-18}),
        ([0.0, 1e-9], {"method": "rk4", "dt": 0.1}),
    ):
        dyn.simulate((0.0, 1.0), start, parameters={"g": 0.0}, **options)


def test_rest_on_a_floor_far_from_the_origin(ball) -> None:
    """What rounds a height of 1e3 keeps the bounces from becoming ever shorter: there would be millions."""
    floor = kc.Event(lambda t, x: x[0] - 1e3, direction=-1, reset=lambda t, x: [x[0], -0.5 * x[1]])
    with pytest.raises(kc.IntegrationError, match=r"changed the state 4096 times .* the motion rests there"):
        ball[0].simulate((0.0, 3.0), [1001.0, 0.0], events=floor)


@pytest.mark.parametrize("value", [np.complex128(1 + 1j), np.array([1 + 1j]), np.complex64(1)])
def test_complex_events_are_refused(value: object) -> None:
    """NumPy would drop the imaginary part, and warn."""
    dyn = kc.load("kepler")
    with pytest.raises(TypeError, match=r"event 0 returned .* one real number"):
        dyn.simulate((0.0, 0.1), dyn.state({dyn.coordinate_names[0]: 1.0}), events=lambda t, x: value)


def test_complex_inputs_are_refused() -> None:
    dyn = kc.load("cart_pole")
    with pytest.raises(TypeError, match=r"must (return|be) real numbers"):
        dyn.simulate((0.0, 0.1), np.zeros(dyn.n_x), inputs=lambda t, x: [1j])


@pytest.mark.parametrize("end", [1e2, 1e5, 1e9])
def test_chatter_is_not_judged_by_the_length_of_the_run(ball, end):
    """A thousand bounces between walls in half a second pass; those that come ever faster end where they did."""
    N, O, (x, v) = me.ReferenceFrame("N"), me.Point("O"), me.dynamicsymbols("x v")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x)
    puck = kc.compile(kc.Model(N, [x], [v], [x.diff() - v], bodies=[me.Particle("P", P, 1)]), cc="none")
    hits = []

    def back(t, state):
        hits.append(t)
        return [state[0], -state[1] if len(hits) < 1000 else state[1]]

    walls = [kc.Event(lambda t, y: y[0], direction=-1, reset=back)]
    walls += [kc.Event(lambda t, y: y[0] - 5e-4, direction=1, reset=back)]
    assert puck.simulate((0.0, end), [2e-4, 1.0], events=walls, max_step=end / 10).success
    assert len(hits) in (1000, 1001)
    dyn, (z,), (w,), _ = ball
    event = kc.Event(z - 1000, direction=-1, reset={w: -0.9 * w})  # height is rounded to 1e-13
    with pytest.raises(kc.IntegrationError, match="ever faster") as caught:
        dyn.simulate((0.0, end), [1005.0, 0.0], events=event)
    assert caught.value.trajectory.t[-1] == pytest.approx(19.0, rel=1e-3)
