# SPDX-License-Identifier: BSD-3-Clause
"""Motions that chatter are named early; stiff, long and jumping motions that do not are left alone."""

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, moving_point

import kanecore as kc

(X, U, R), (M, G, K, MU, V) = me.dynamicsymbols("x u r"), sm.symbols("m g k mu v")
NUMBERS = {M: 2.0, G: 9.81, K: 50.0, MU: 0.3, V: 0.4}


def on_a_line(force: sm.Expr, name: str = "block") -> kc.CompiledModel:
    frame, _, point = moving_point({X: U})
    body = {"bodies": [me.Particle("body", point, M)], "forcelist": [(point, force * frame.x)]}
    model = kc.Model(frame, [X], [U], [X.diff() - U], **body, name=name)
    return kc.compile(model, parameters={s: v for s, v in NUMBERS.items() if s in model.parameters}, cc="none")


@pytest.fixture(scope="module")
def block() -> kc.CompiledModel:
    return on_a_line(-K * X - MU * M * G * sm.sign(U - V))


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rosenbrock_w"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_sign_friction_is_named_once_the_block_sticks(block: kc.CompiledModel, method: str, tolerance: float) -> None:
    with pytest.raises(kc.IntegrationError, match=r"speed 'u': the motion chatters.* at t = 1\.") as caught:
        block.simulate((0, 5), [0.7, 0.0], parameters={V: 0}, method=method, rtol=tolerance, atol=tolerance)
    sol = caught.value.trajectory
    assert sol.nfev < 1e5
    assert 1.884 < sol.t[-1] < 1.92
    assert sol.x[-1] == pytest.approx([0.00632, 0.0], abs=20 * tolerance)


def test_the_joint_that_sticks_is_named() -> None:
    """Friction in the second joint of an arm, of which the first feels the jumps too."""
    (q1, q2), (u1, u2) = me.dynamicsymbols("q1 q2"), me.dynamicsymbols("u1 u2")
    frame, origin = ground()
    first, second = frame.orientnew("A", "Axis", [q1, frame.z]), frame.orientnew("B", "Axis", [q1 + q2, frame.z])
    first.set_ang_vel(frame, u1 * frame.z)
    second.set_ang_vel(frame, (u1 + u2) * frame.z)
    elbow = origin.locatenew("elbow", -first.y)
    hand = elbow.locatenew("hand", -second.y)
    elbow.v2pt_theory(origin, frame, first)
    hand.v2pt_theory(elbow, frame, second)
    bodies = [me.Particle(f"at {point.name}", point, M) for point in (elbow, hand)]
    loads = [(point, -M * G * frame.y) for point in (elbow, hand)]
    torque = -4 * M * sm.sign(u2) * frame.z
    model = kc.Model(
        *(frame, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2]),
        bodies=bodies,
        forcelist=[*loads, (second, torque), (first, -torque)],
    )
    arm = kc.compile(model, parameters={M: 2.0, G: 9.81}, cc="none")
    with pytest.raises(kc.IntegrationError, match="speed 'u2': the motion chatters"):
        arm.simulate((0, 100), [0.8, 0.1, 0.3, 0.5], rtol=1e-6, atol=1e-6)


def test_units_backwards_and_belts(block: kc.CompiledModel) -> None:
    """In other units of length and time; on a belt that moves; and the way back in time of what ran forwards."""
    for length, time in ((1e-9, 1.0), (1e6, 1.0), (1.0, 1e8)):
        p = {G: 9.81 * length / time**2, K: 50.0 / time**2, V: 0.0}
        with pytest.raises(kc.IntegrationError, match="the motion chatters"):
            block.simulate(
                (0, 5 * time), [0.7 * length, 0.0], parameters=p, rtol=1e-6, atol=[1e-6 * length, 1e-6 * length / time]
            )
    with pytest.raises(kc.IntegrationError, match="the motion chatters"):
        block.simulate((0, 50), [0.0, 0.4], rtol=1e-7, atol=1e-7)
    mirrored = on_a_line(-K * X + MU * M * G * sm.sign(U))  # in reversed time friction drives
    with pytest.raises(kc.IntegrationError, match="the motion chatters"):
        mirrored.simulate((0, -5), [0.7, 0.0], rtol=1e-6, atol=1e-6)


def test_short_stays_are_left_alone(block: kc.CompiledModel) -> None:
    """As far as the rest of the run needs few steps, it goes on to its end."""
    sol = block.simulate((0, 1.92), [0.7, 0.0], parameters={V: 0}, rtol=1e-6, atol=1e-6)
    assert sol.success
    assert sol.n_steps > 5000


def test_stiff_and_long_runs_are_left_alone() -> None:
    oscillator = on_a_line(M * (MU * (1 - X**2) * U - X))
    p = {MU: 1e3}
    with pytest.raises(kc.IntegrationError, match="max_steps was reached"):  # as any explicit method
        oscillator.simulate(
            (0, 2000), [2.0, 0.0], parameters=p, rtol=1e-6, atol=1e-6, max_steps=60_000, t_eval=[2000.0]
        )
    damped = on_a_line(-K * X - MU * U)
    sol = damped.simulate((0, 0.5), [0.1, 0.0], parameters={MU: 1e5}, rtol=1e-6, atol=1e-6)
    assert sol.success
    with pytest.raises(kc.IntegrationError, match="max_steps was reached"):
        damped.simulate(
            (0, 5e4), [0.1, 0.0], parameters={MU: 1e5}, rtol=1e-6, atol=1e-6, max_steps=60_000, t_eval=[5e4]
        )
    smooth = on_a_line(-K * X - MU * M * G * sm.tanh(U / 1e-6))
    with pytest.raises(kc.IntegrationError, match="max_steps was reached"):
        smooth.simulate((0, 100), [0.7, 0.0], rtol=1e-6, atol=1e-6, max_steps=60_000, t_eval=[100.0])


def test_jumps_that_are_only_crossed_are_left_alone() -> None:
    """A body that a constant force always drives to the middle, for a hundred thousand of its periods."""
    driven = on_a_line(-K * sm.sign(X) * M)
    with pytest.raises(kc.IntegrationError, match="max_steps was reached"):
        driven.simulate((0, 1e6), [1.0, 0.0], rtol=1e-3, atol=1e-3, max_steps=60_000, t_eval=[1e6])
    turning = on_a_line(-M * K * X)  # its slope turns in each of its steps, two a period
    period = 2 * np.pi / np.sqrt(50.0)
    with pytest.raises(kc.IntegrationError, match="max_steps was reached"):
        turning.simulate((0, 1e6), [1.0, 0.0], rtol=1.0, atol=1.0, max_step=period / 2, max_steps=60_000, t_eval=[1e6])


def test_bang_bang_inputs_and_bounces_are_left_alone() -> None:
    driven = on_a_line(R)
    knots = np.linspace(0.0, 1.0, 1001)
    values = np.where(np.arange(1001) % 2, 1.0, -1.0)[:, None]
    sol = driven.simulate((0, 1), [0.0, 0.0], inputs=kc.Signal(knots, values, kind="zoh"))
    assert sol.success
    assert sol.n_steps < 3000
    ball = on_a_line(-M * G)
    bounce = kc.Event(X, direction=-1, reset={U: -U})
    assert ball.simulate((0, 3000), [1.0, 0.0], events=bounce, t_eval=[3000.0]).success
