# SPDX-License-Identifier: BSD-3-Clause
"""Friction μN whose N the auxiliary equations determine, against equations with N eliminated by hand."""

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, w, N = me.dynamicsymbols("q u w N")
x, theta, v, omega = me.dynamicsymbols("x theta v omega")
m, g, mu, alpha, M, length = sm.symbols("m g mu alpha M l")


def block(friction: sm.Expr, **options: object) -> kc.Model:
    """A block that slides down a slope; w moves it away from the slope, along its normal."""
    ground, slope = me.ReferenceFrame("G"), me.ReferenceFrame("S")
    slope.orient_axis(ground, ground.z, -alpha)
    origin, B = me.Point("O"), me.Point("B")
    origin.set_vel(ground, 0)
    B.set_pos(origin, q * slope.x)
    B.set_vel(ground, u * slope.x + w * slope.y)
    loads = [(B, -m * g * ground.y), (B, N * slope.y - friction * slope.x)]
    return kc.Model(
        *(ground, [q], [u], [q.diff() - u]),
        **{"u_auxiliary": [w], "bodies": [me.Particle("B", B, m)], "forcelist": loads, "reactions": [N], **options},
    )


def cart_and_pendulum(friction: sm.Expr) -> kc.Model:
    """A pendulum on a cart that rubs on its rail; w lifts both off it, and N depends on their accelerations."""
    frame, rod = me.ReferenceFrame("F"), me.ReferenceFrame("R")
    rod.orient_axis(frame, frame.z, theta)
    rod.set_ang_vel(frame, omega * frame.z)
    origin, cart = me.Point("O"), me.Point("C")
    origin.set_vel(frame, 0)
    cart.set_pos(origin, x * frame.x)
    cart.set_vel(frame, v * frame.x + w * frame.y)
    bob = cart.locatenew("P", -length * rod.y)
    bob.v2pt_theory(cart, frame, rod)
    loads = [(cart, -M * g * frame.y), (bob, -m * g * frame.y), (cart, N * frame.y - friction * frame.x)]
    return kc.Model(
        *(frame, [x, theta], [v, omega], [x.diff() - v, theta.diff() - omega]),
        bodies=[me.Particle("cart", cart, M), me.Particle("bob", bob, m)],
        u_auxiliary=[w],
        forcelist=loads,
        reactions=[N],
        inputs=[],
        outputs={"N": N},
    )


def test_block_on_a_slope() -> None:
    """u̇ = g (sin α − μ cos α) and N = m g cos α (Kane & Levinson 1985, section 4.10 has its like)."""
    model = block(mu * N, outputs={"normal force": N})
    values = {m: 2.0, g: 9.81, mu: 0.3, alpha: 0.7}
    dyn = kc.compile(model, parameters=values)
    x = np.array([0.1, 0.4])
    assert model.inputs == ()
    assert dyn.udot(0.0, x)[0] == pytest.approx(9.81 * (np.sin(0.7) - 0.3 * np.cos(0.7)), rel=1e-14)
    assert dyn.outputs(0.0, x)[0] == pytest.approx(2 * 9.81 * np.cos(0.7), rel=1e-14)
    assert dyn.auxiliary_forces(0.0, x)[0] == pytest.approx(0.0, abs=1e-13)


def test_cart_with_a_pendulum_on_a_rubbing_rail() -> None:
    """The equations with N eliminated are Newton's for cart and bob."""
    model = cart_and_pendulum(mu * N * sm.tanh(v / 0.01))
    dyn = kc.compile(model, parameters={M: 3.0, m: 1.2, length: 0.8, g: 9.81, mu: 0.25})
    state = np.array([0.0, 0.9, 0.3, 2.5])
    a, b = dyn.udot(0.0, state)
    sine, cosine, rubbing = np.sin(0.9), np.cos(0.9), 0.25 * np.tanh(0.3 / 0.01)
    # of the bob, whose place is (x + l sin θ, −l cos θ)
    bob_x = a + 0.8 * (b * cosine - 2.5**2 * sine)
    bob_y = 0.8 * (b * sine + 2.5**2 * cosine)
    normal = 4.2 * 9.81 + 1.2 * bob_y
    assert dyn.outputs(0.0, state)[0] == pytest.approx(normal, rel=1e-13)
    assert 3.0 * a + 1.2 * bob_x == pytest.approx(-rubbing * normal, rel=1e-13)
    assert bob_x * cosine + (bob_y + 9.81) * sine == pytest.approx(0.0, abs=1e-12)
    A, _ = dyn.linearize(0.0, state)
    step = 1e-6 * np.eye(4)
    slopes = np.array([(dyn.rhs(0.0, state + e) - dyn.rhs(0.0, state - e)) / 2e-6 for e in step]).T
    assert np.allclose(A, slopes, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reactions": []}, r"reactions=\[N, ...\], one for each auxiliary speed"),
        ({"reactions": [N, me.dynamicsymbols("T")]}, "reactions holds T, which stands in no load"),
        ({"u_auxiliary": []}, "auxiliary"),
        ({"inputs": [N]}, "listed in reactions and in inputs"),
        ({"feedback": {N: m}}, "listed in reactions and in feedback"),
        ({"reactions": [u]}, "u is a coordinate or speed"),
        ({"reactions": [m]}, "reactions"),
        ({"potentials": [N * q]}, "reactions may occur in loads and outputs only"),
    ],
)
def test_wrong_use(options: dict[str, object], words: str) -> None:
    with pytest.raises(kc.ModelError, match=words):
        block(mu * N, **options)


@pytest.mark.parametrize("friction", [mu * sm.Abs(N), mu * sm.sqrt(N**2 + 1)])
def test_loads_that_are_not_linear_in_a_reaction(friction: sm.Expr) -> None:
    """Reactions N that do not depend on u̇ are loads as any others."""
    dyn = kc.compile(block(friction), parameters={m: 2.0, g: 9.81, mu: 0.3, alpha: 0.7})
    expected = float(friction.subs({N: 2 * 9.81 * sm.cos(0.7), mu: 0.3}))
    assert 2 * dyn.udot(0.0, [0.1, 0.4])[0] == pytest.approx(2 * 9.81 * np.sin(0.7) - expected, rel=1e-13)


def test_the_size_of_a_reaction_is_the_reaction_where_it_is_positive() -> None:
    values = {M: 3.0, m: 1.2, length: 0.8, g: 9.81, mu: 0.25}
    state = np.array([0.0, 0.9, 0.3, 2.5])
    sliding = mu * sm.tanh(v / 0.01)
    linear, size = (kc.compile(cart_and_pendulum(sliding * part), parameters=values) for part in (N, sm.Abs(N)))
    assert np.allclose(size.udot(0.0, state), linear.udot(0.0, state), rtol=1e-13)
    assert np.allclose(size.outputs(0.0, state), linear.outputs(0.0, state), rtol=1e-13)
    assert np.allclose(size.linearize(0.0, state)[0], linear.linearize(0.0, state)[0], rtol=1e-9, atol=1e-9)
    with pytest.raises(kc.ModelError, match=r"depend on reactions.*write the force into forcelist, as an input"):
        size.inverse_dynamics(0.0, state, [0.0, 0.0])
