# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that switch on and off in a run: ropes, hooks, latches, captures, gaits, against closed forms."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, ground, rates
from numpy.testing import assert_allclose

import kanecore as kc

G = 9.81


def ball(**constraints: Any) -> kc.CompiledModel:
    """A particle of 2 kg under gravity; constraints are functions of x, y, or of u, v as well."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    named = {"configuration_constraints": {n: e(*q) for n, e in constraints.items() if e.__code__.co_argcount == 2}}
    named["velocity_constraints"] = {n: e(*q, *u) for n, e in constraints.items() if e.__code__.co_argcount == 4}
    loads = [(P, -2.0 * G * N.y)]
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=[me.Particle("P", P, 2.0)], forcelist=loads, **named))


def rope(x: Any, y: Any) -> Any:
    return 1 - x**2 - y**2


def test_a_pendulum_whose_rod_breaks_flies() -> None:
    """Off at 0.3 s: a parabola from where it is; before, the motion of the model with the constraint."""
    dyn = ball(rod=rope)
    run = kc.Modes(dyn, switches={"rod": {"off": 0.3}}).simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0])
    assert [modes["rod"] for _, modes in run.modes] == ["held", "open"]
    assert_allclose(run.modes[1][0], 0.3, rtol=1e-14)
    x, y, u, v = dyn.simulate((0.0, 0.3), [1.0, 0.0, 0.0, 0.0]).x[-1]
    assert_allclose(run.x[-1], [x + 0.7 * u, y + 0.7 * v - 0.5 * G * 0.49, u, v - 0.7 * G], atol=1e-8)
    assert run.energy_drift < 1e-8
    assert not run.impacts


def test_a_rope_is_a_constraint_that_is_never_negative() -> None:
    """It is taut at |r| = 1, takes the speed along it, and goes slack where m g cos + m v² falls to zero."""
    run = kc.Modes(ball(rope=rope), switches={"rope": {}}).simulate((0.0, 0.8), [0.6, 0.0, 0.0, 0.0])
    (_, free), (when, taut) = run.modes
    assert (free["rope"], taut["rope"]) == ("open", "closed")
    assert_allclose(when, np.sqrt(1.6 / G), rtol=1e-9)
    _, _, after = run.impacts[0]
    assert_allclose(after[2:], -0.6 * np.sqrt(1.6 * G) * np.array([0.8, 0.6]), rtol=1e-9)
    swing = kc.Modes(ball(rope=rope), switches={"rope": {}}).simulate((0.0, 2.0), [0.0, -1.0, np.sqrt(3.5 * G), 0.0])
    slack = next(t for t, modes in swing.modes if modes["rope"] == "open")
    assert_allclose(swing(slack)[1], 0.5, rtol=1e-7)  # v² = g y, v² = 3.5 g − 2 g (1 + y)


def test_a_stop_bounces_and_a_constraint_that_is_not_zero_is_refused() -> None:
    stop = {"e": 0.5}
    run = kc.Modes(ball(floor=lambda x, y: y), switches={"floor": stop}).simulate((0.0, 0.9), [0.0, 1.0, 0.3, 0.0])
    fall = np.sqrt(2.0 * G)
    assert_allclose([t for t, _, _ in run.impacts], fall / G * np.array([1.0, 2.0])[: len(run.impacts)], rtol=1e-9)
    assert_allclose(run.impacts[0][2], [0.3 * fall / G, 0.0, 0.3, 0.5 * fall], atol=1e-9)
    again = kc.Modes(ball(rod=rope), switches={"rod": {"off": 0.3, "on": 0.4}})
    with pytest.raises(
        kc.ModelError, match=r"'rod' goes on at t = 0.4, and its constraint 'rod' is -0.15.*in_place=True"
    ):
        again.simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0])


def test_a_rod_that_catches_a_ball_where_it_is() -> None:
    """From 0.3 s to 0.4 s the ball is free; then it keeps its distance, and loses the speed along the rod."""
    law = {"off": 0.3, "on": 0.4, "in_place": True}
    run = kc.Modes(ball(rod=rope), switches={"rod": law}).simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0])
    assert [modes["rod"] for _, modes in run.modes] == ["held", "open", "held"]
    [(when, before, after)] = run.impacts
    assert_allclose(when, 0.4, rtol=1e-14)
    along = before[:2] / np.linalg.norm(before[:2])
    assert_allclose(after[2:], before[2:] - along * (along @ before[2:]), rtol=1e-9)
    assert_allclose(np.hypot(*run.x[run.t > when, :2].T), np.linalg.norm(before[:2]), rtol=1e-8)


def test_a_latch_catches_what_falls_and_lets_go() -> None:
    """Thrown up through the latch at 0, the ball is caught as it comes back, and released at 2 s: it falls freely."""
    latch = kc.Modes(ball(latch=lambda x, y: y), switches={"latch": {"on": "gap", "off": 2.0}})
    run = latch.simulate((0.0, 2.5), [0.0, -1.0, 0.0, 6.0])
    assert [modes["latch"] for _, modes in run.modes] == ["open", "held", "open"]
    assert_allclose([t for t, _ in run.modes[1:]], [(6.0 + np.sqrt(36 - 2 * G)) / G, 2.0], rtol=1e-9)
    assert_allclose(run.x[-1], [0.0, -0.125 * G, 0.0, -0.5 * G], atol=1e-9)
    latch = kc.Modes(ball(rod=rope), switches={"rod": {"on": "gap", "off": np.array([0.1])}})
    run = latch.simulate((0.0, 0.5), [1.0, 0.0, 0.0, 0.0])
    assert [modes["rod"] for _, modes in run.modes] == ["held", "open"]  # it leaves to the side of the closed latch


def test_a_latch_holds() -> None:
    latch = kc.Modes(ball(latch=lambda x, y: y), switches={"latch": {"on": "gap", "off": 2.0}})
    run = latch.simulate((0.0, 2.5), [0.0, -1.0, 0.0, 6.0])
    assert_allclose(run.forces["latch"][(run.t > 1.5) & (run.t < 2.0)], 2 * G, rtol=1e-9)


def pulled() -> kc.CompiledModel:
    """A particle of 2 kg on a line, pulled by 10 t N, with the constraint that it rests at 0."""
    N, O = ground()  # noqa: E741
    x, u = me.dynamicsymbols("x u")
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, u * N.x)
    force = 10 * me.dynamicsymbols._t - 12
    named = {"configuration_constraints": {"hook": x}, "bodies": [me.Particle("P", P, 2.0)]}
    return compiled(kc.Model(N, [x], [u], [x.diff() - u], forcelist=[(P, force * N.x)], **named))


def test_a_hook_holds_one_way() -> None:
    """On from an event, it lets go at 1.2 s, where its force would have to pull; then x = 5/6 (t − 1.2)³."""
    law = {"on": kc.Event(lambda t, x: t - 0.5, direction=1), "off": "force"}
    run = kc.Modes(pulled(), switches={"hook": {**law, "starts": "off", "in_place": True}}).simulate((0.0, 2.0), [0, 0])
    assert [modes["hook"] for _, modes in run.modes] == ["open", "closed", "open"]
    assert_allclose([t for t, _ in run.modes[1:]], [0.5, 1.2], rtol=1e-9)
    at_rest = run.x[np.searchsorted(run.t, 1.2), 0]
    assert_allclose(run.x[-1] - [at_rest, 0], [5 / 6 * 0.8**3, 2.5 * 0.8**2], rtol=1e-8)


def test_a_ratchet_stops_within_a_long_step() -> None:
    """u = 3 − 6 t + 2.5 t² falls to zero within one step; the pawl holds until the force turns, at 1.2 s."""
    N, O = ground()  # noqa: E741
    x, u = me.dynamicsymbols("x u")
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, u * N.x)
    more = {"bodies": [me.Particle("P", P, 2.0)], "velocity_constraints": {"pawl": u}}
    force = (10 * me.dynamicsymbols._t - 12) * N.x
    pawl = kc.Modes(
        compiled(kc.Model(N, [x], [u], [x.diff() - u], forcelist=[(P, force)], **more)), switches={"pawl": {}}
    )
    run = pawl.simulate((0.0, 2.0), [0.0, 3.0])
    assert [modes["pawl"] for _, modes in run.modes] == ["open", "closed", "open"]
    assert_allclose([t for t, _ in run.modes[1:]], [(6 - np.sqrt(6)) / 5, 1.2], rtol=1e-9)
    assert_allclose(run.x[-1, 1], 2.5 * 0.8**2, rtol=1e-9)
    with pytest.raises(kc.ModelError, match="'pawl' is -1 at t = 0, and is never negative: change x0"):
        pawl.simulate((0.0, 2.0), [0.0, -1.0])


def test_phases_of_a_gait() -> None:
    """A brake along (1, 1) is on from 0.1 s to 0.2 s, and from 0.3 s to 0.4 s."""
    dyn = ball(brake=lambda x, y, u, v: u + v)
    law = {"on": [0.1, 0.3], "off": [0.2, 0.4], "starts": "off"}
    run = kc.Modes(dyn, switches={"brake": law}).simulate((0.0, 0.5), np.zeros(4), max_step=0.05)
    assert_allclose([t for t, _ in run.modes], [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-14)
    assert [modes["brake"] for _, modes in run.modes] == ["open", "held"] * 2 + ["open"]
    assert_allclose([t for t, _, _ in run.impacts], [0.1, 0.3], rtol=1e-14)
    for start, mode in ((0.1, "held"), (0.25, "open"), (0.3, "held")):  # the phases at the start of another run
        again = kc.Modes(dyn, switches={"brake": {"on": [0.1, 0.3], "off": [0.2, 0.4]}})
        assert again.simulate((start, 0.35), np.zeros(4)).modes[0][1] == {"brake": mode}
    u = v = 0.0  # the brake leaves the motion along (1, −1): half of gravity, and half of u − v at each impact
    for k in range(5):
        u, v = ((u - v) / 2, (v - u) / 2) if k % 2 else (u, v)
        u, v = (u + 0.05 * G, v - 0.05 * G) if k % 2 else (u, v - 0.1 * G)
    assert_allclose(run.x[-1, 2:], [u, v], rtol=1e-9)


def spacecraft() -> kc.CompiledModel:
    """Two bodies in a plane, 3 and 5 kg, and a weld of a point 1 m ahead of the first to the second's centre."""
    N, O = ground()  # noqa: E741
    bodies, q, u, frames, centres = [], [], [], [], []
    for name, mass, inertia in (("a", 3.0, 0.4), ("b", 5.0, 1.1)):
        x, y, h = me.dynamicsymbols(f"x_{name} y_{name} h_{name}")
        vx, vy, w = me.dynamicsymbols(f"v_{name}_x v_{name}_y w_{name}")
        A = N.orientnew(name, "Axis", [h, N.z])
        A.set_ang_vel(N, w * N.z)
        C = O.locatenew(f"c{name}", x * N.x + y * N.y)
        C.set_vel(N, vx * N.x + vy * N.y)
        bodies.append(me.RigidBody(name, C, A, mass, (me.inertia(A, 0, 0, inertia), C)))
        q, u, frames, centres = [*q, x, y, h], [*u, vx, vy, w], [*frames, A], [*centres, C]
    gap = centres[1].pos_from(centres[0]) - frames[0].x
    weld = {"weld, x": gap.dot(frames[0].x), "weld, y": gap.dot(frames[0].y), "weld, turn": q[5] - q[2]}
    return compiled(kc.Model(N, q, u, rates(q, u), bodies=bodies, configuration_constraints=weld, name="pair"))


def test_a_capture_within_bounds_keeps_momentum() -> None:
    """The weld goes on where distance and angle are within bounds, and keeps both; momenta are those before."""
    dyn = spacecraft()
    x_a, x_b, h_a, h_b = (sm.Function(name)(me.dynamicsymbols._t) for name in ("x_a", "x_b", "h_a", "h_b"))
    within = sm.Max(sm.Abs(x_b - x_a - 1) - 0.05, sm.Abs(h_b - h_a) - 0.2)
    capture = {"on": kc.Event(within, direction=-1), "in_place": True}
    start = [0.0, 0.0, 0.0, 1.6, 0.1, 0.1, 0.2, 0.0, 0.0, -0.3, 0.05, -0.1]
    run = kc.Modes(dyn, switches={"weld": capture}).simulate((0.0, 3.0), start)
    [(when, before, after)] = run.impacts
    assert_allclose(when, 0.55 / 0.5, rtol=1e-9)

    def momenta(x: Any) -> Any:
        m, i = np.array([3.0, 5.0]), np.array([0.4, 1.1])
        places, speeds = x[:6].reshape(2, 3), x[6:].reshape(2, 3)
        spin = m * (places[:, 0] * speeds[:, 1] - places[:, 1] * speeds[:, 0]) + i * speeds[:, 2]
        return [m @ speeds[:, 0], m @ speeds[:, 1], spin.sum()]

    assert_allclose(momenta(after), momenta(before), rtol=1e-12)
    assert_allclose(momenta(run.x[-1]), momenta(before), rtol=1e-8)
    assert run.impulses[0]["weld"].shape == (3,)
    assert_allclose(after[11], after[8], rtol=1e-12)  # one rate
    turned = run.x[:, 5] - run.x[:, 2]
    assert_allclose(turned[run.t > when], turned[-1], rtol=1e-9)
    with pytest.raises(ValueError, match="switch 'weld' has 3 rows, and a gap and a force have signs in one alone"):
        kc.Modes(dyn, switches={"weld": {}})


def test_a_robot_opens_a_loop_by_its_name() -> None:
    """A robot's loop is a switch of all its rows; off, the robot moves as the one without the loop."""
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
    link += '<origin xyz=".5 0 0"/></inertial></link>'
    joint = '<joint name="j{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="0 1 0"/>'
    joint += '<origin xyz="{3} 0 0"/></joint>'
    text = '<robot name="arm"><link name="world"/>' + "".join(map(link.format, ("a", "b", "c")))
    for number, (parent, child, place) in enumerate((("world", "a", 0), ("a", "b", 1), ("b", "c", 1))):
        text += joint.format(number, parent, child, place)
    tied = compiled(kc.Model.from_urdf(text + "</robot>", loops=[("c", (1.2, 0, -0.6), "point")]))
    free = compiled(kc.Model.from_urdf(text + "</robot>"))
    start = tied.consistent(0.0, [0.2, 0.5, 0.1, 0.0, 0.0, 0.0], None)
    run = kc.Modes(tied, switches={"c": {"off": 0.3}}).simulate((0.0, 0.6), start)
    assert tied.constraint_names == ("c, x", "c, y", "c, z")
    at_last = tied.simulate((0.0, 0.3), start, rtol=1e-10, atol=1e-12).x[-1]
    assert_allclose(run.x[-1], free.simulate((0.0, 0.3), at_last, rtol=1e-10, atol=1e-12).x[-1], atol=1e-7)
    assert_allclose(run.forces["c"][0], tied.multipliers(0.0, start), rtol=1e-6, atol=1e-8)
    assert run.undetermined  # of the force across the plane of the arm


def test_feet_in_turn() -> None:
    """A rod turns about one end, then about the other: ω becomes −ω/2, since it keeps its momentum about that one."""
    N, O = ground()  # noqa: E741
    (x, y, tilt), (vx, vy, rate) = me.dynamicsymbols("x y tilt"), me.dynamicsymbols("vx vy rate")
    A = N.orientnew("A", "Axis", [tilt, N.z])
    A.set_ang_vel(N, rate * N.z)
    C = O.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, vx * N.x + vy * N.y)
    rows = {}
    for name, side in (("left", -0.5), ("right", 0.5)):
        P = C.locatenew(name, side * A.x)
        P.v2pt_theory(C, N, A)
        rows |= {f"{name}, x": P.vel(N).dot(N.x), f"{name}, y": P.vel(N).dot(N.y)}
    rod = me.RigidBody("rod", C, A, 2.0, (me.inertia(A, 0, 0, 2.0 / 12), C))
    q, u = [x, y, tilt], [vx, vy, rate]
    dyn = compiled(kc.Model(N, q, u, rates(q, u), bodies=[rod], velocity_constraints=rows))
    steps, upright = [0.5, 1.0], kc.Event(tilt - 0.55, direction=1)
    for step in (steps, upright):
        feet = {"left": {"on": step, "off": step}, "right": {"on": step, "off": step, "starts": "off"}}
        run = kc.Modes(dyn, switches=feet).simulate((0.0, 1.2), [0.5, 0.0, 0.0, 0.0, 0.5, 1.0])
        rates_of = [after[5] for _, _, after in run.impacts]
        assert_allclose(rates_of, [-0.5, 0.25][: len(rates_of)], rtol=1e-9)
        assert [m["left"] for _, m in run.modes] == ["held", "open", "held"][: len(run.modes)]
        assert len(run.impacts) == (2 if step is steps else 1)


def test_a_reset_changes_modes() -> None:
    """A kick of a block that sticks makes it slide, at once."""
    dyn = ball()
    kick = kc.Event(lambda t, x: t - 0.5, direction=1, reset=lambda t, x: x + np.array([0, 0, 2.0, 0]))
    run = kc.Modes(dyn, "P", mu=0.5).simulate((0.0, 2.0), np.zeros(4), events=kick)
    assert [modes["P"] for _, modes in run.modes] == ["stick", "slide +", "stick"]
    assert_allclose([t for t, _ in run.modes[1:]], [0.5, 0.5 + 2.0 / (0.5 * G)], rtol=1e-9)
    assert_allclose(run.t_events[0], [0.5], rtol=1e-14)


def test_wrong_switches_are_named() -> None:
    dyn = ball(rod=rope)
    with pytest.raises(KeyError, match=r"no constraint of .* is called 'rope'"):
        kc.Modes(dyn, switches={"rope": {}})
    with pytest.raises(KeyError, match="no law of switch 'rod' is called 'of'"):
        kc.Modes(dyn, switches={"rod": {"of": 1.0}})
    with pytest.raises(TypeError, match=r"switches\['rod'\] is 0.3; write its law by name"):
        kc.Modes(dyn, switches={"rod": 0.3})
    with pytest.raises(TypeError, match="switches is 'rod'; it must be a mapping"):
        kc.Modes(dyn, switches="rod")
    with pytest.raises(ValueError, match="starts of switch 'rod' is 1; it must be 'on' or 'off'"):
        kc.Modes(dyn, switches={"rod": {"off": 1.0, "starts": 1}})
    with pytest.raises(ValueError, match="switch 'rod' switches on where its gap is 0: leave out in_place"):
        kc.Modes(dyn, switches={"rod": {"on": "gap", "in_place": True}})
    with pytest.raises(ValueError, match="switch 'rod' holds, and does not bounce: leave out e"):
        kc.Modes(dyn, switches={"rod": {"off": 1.0, "e": 0.5}})
    with pytest.raises(ValueError, match="switches name constraint 'rod' twice"):
        kc.Modes(dyn, switches={"rod": {}, "again": {"rows": "rod"}})
    with pytest.raises(ValueError, match="a contact and a switch are called 'rod'"):
        kc.Modes(dyn, {"rod": {"point": "P"}}, switches={"rod": {}})
    for law in ({"off": None}, {"off": True}, {"off": "gap"}, {"on": "force"}):
        [(key, event)] = law.items()
        with pytest.raises(ValueError, match=f"{key} of switch 'rod' is {event!r}; it must be an event, a time, or"):
            kc.Modes(dyn, switches={"rod": law})
    with pytest.raises(ValueError, match="off of switch 'rod' is nan, which is no time"):
        kc.Modes(dyn, switches={"rod": {"off": np.nan}})
    event = kc.Event("x", terminal=True)
    with pytest.raises(ValueError, match="an event of switch 'rod' has a reset or is terminal"):
        kc.Modes(dyn, switches={"rod": {"off": event}}).simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0])


def test_outputs_know_the_forces_of_contacts() -> None:
    """An accelerometer on a ball that falls and then lies, and the force of a rod that stays, before a rope is taut."""
    N, O = ground()  # noqa: E741
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y)
    P.set_vel(N, u[0] * N.x + u[1] * N.y)
    model = kc.Model(
        *(N, q, u, rates(q, u)),
        bodies=[me.Particle("P", P, 2.0)],
        forcelist=[(P, -2.0 * G * N.y)],
        velocity_constraints={"rail": u[0] - u[1]},
        outputs={"felt": u[1].diff() + G, "rail": kc.multiplier(0)},
    )
    run = kc.Modes(compiled(model), "P").simulate((0.0, 1.0), [0.0, 1.0, 0.0, 0.0])
    lands = run.modes[1][0]
    falls, lies = run.t < lands - 1e-9, run.t > lands + 1e-9
    assert_allclose(run["felt"][falls], G / 2, rtol=1e-12)  # along the rail half of gravity
    assert_allclose(run["felt"][lies], G, rtol=1e-12)
    assert_allclose(np.abs(run["rail"][falls]), G, rtol=1e-12)
    assert_allclose(run["rail"][lies], 0.0, atol=1e-12)
    with pytest.raises(kc.ModelError, match=r"output 'felt' of .* depends on accelerations or forces, which contacts"):
        kc.Modes(run.problem.dyn, "P").simulate((0.0, 1.0), [0.0, 1.0, 0.0, 0.0], events=kc.Event("felt"))
    assert_allclose(run.at([0.9]).outputs, run.outputs[-1:], rtol=1e-12, atol=1e-12)
