# SPDX-License-Identifier: BSD-3-Clause
"""Velocities and accelerations that contradict positions, orientations and velocities: told, unless on purpose."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import Pieces, ground, rates

import kanecore as kc

q, u, x, y, v, w = me.dynamicsymbols("q u x y v w")
m, LENGTH, g, r = sm.symbols("m l g r")
t = me.dynamicsymbols._t


def pendulum(change: Callable[[Pieces], None], **options: Any) -> kc.Model:
    p = Pieces()
    change(p)
    return p.model(**options)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda p: p.P.set_vel(p.N, 2 * LENGTH * u * p.A.y),
            r"velocity of point P is not .* position: 2\*l\*u\*A\.y was set, and l\*u\*A\.y follows; the for",
        ),
        (lambda p: p.P.set_vel(p.N, LENGTH * u * p.A.x), r"velocity of point P is not .*: l\*u\*A\.x was set"),
        (
            lambda p: p.A.set_ang_vel(p.N, -u * p.N.z),
            r"angular velocity of frame A .* orientation: -u\*A\.z was set, and u\*A\.z",
        ),
        (
            lambda p: p.P.set_acc(p.N, -LENGTH * u**2 * p.A.x),
            r"acceleration of point P is not .* velocity: .* was set, and .*u'.* follows; the latter is used",
        ),
        (lambda p: p.P.set_acc(p.N, sm.Symbol("a") * p.A.x), r"acceleration of point P is not .*: a\*A\.x was set"),
    ],
)
def test_slips_are_told(given: Callable[[Pieces], None], message: str) -> None:
    with pytest.warns(kc.KanecoreWarning, match=message):
        model = pendulum(given)
    first, *rest = model.report().splitlines()
    assert first.startswith("1 contradiction ")
    assert any("contradiction: " in line for line in rest)
    assert sm.Symbol("a") not in model.parameters


@pytest.mark.parametrize(
    "given",
    [
        lambda p: p.P.set_vel(p.N, LENGTH * u * p.A.y),
        lambda p: p.P.set_vel(p.N, LENGTH * q.diff() * p.A.y),
        lambda p: p.P.set_vel(p.N, 0),
        lambda p: p.A.set_ang_vel(p.N, u * p.N.z),
        lambda p: p.P.set_acc(p.N, -LENGTH * u**2 * p.A.x + LENGTH * u.diff() * p.A.y),
        lambda p: p.P.set_acc(p.N, -LENGTH * q.diff() ** 2 * p.A.x + LENGTH * q.diff(t, 2) * p.A.y),
    ],
)
def test_what_is_right_or_meant_is_not(given: Callable[[Pieces], None]) -> None:
    assert pendulum(given).report().startswith("0 contradictions")
    auxiliary = pendulum(lambda p: p.P.set_vel(p.N, LENGTH * (u + w) * p.A.y), u_auxiliary=[w])
    assert auxiliary.report().startswith("0 contradictions")


def sleigh(side: Any) -> kc.Model:
    """A skate at x, y with heading q whose speeds are v, along it, and w, across; w = 0 by a constraint."""
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, q)
    origin.set_vel(N, 0)
    P = origin.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, v * A.x + side * A.y)
    body = me.RigidBody("sleigh", P, A, m, (me.inertia(A, 0, 0, 1), P))
    kdes = [q.diff() - u]
    for rate, axis in ((x, (sm.cos(q), -sm.sin(q))), (y, (sm.sin(q), sm.cos(q)))):
        kdes.append(rate.diff() - v * axis[0] - w * axis[1])
    return kc.Model(N, [q, x, y], [u, v], kdes, u_dependent=[w], velocity_constraints=[w], bodies=[body])


def test_what_holds_on_the_constraints() -> None:
    assert sleigh(w).report().startswith("0 contradictions")
    assert sleigh(0).report().startswith("0 contradictions")
    with pytest.warns(kc.KanecoreWarning, match="velocity of point P is not"):
        sleigh(u)


def disc(factor: int = 1) -> kc.Model:
    """A disc at x, y that rolls by velocities that were set: the contact is at rest."""
    lean, spin = me.dynamicsymbols("lean spin")
    u1, u2, u3 = me.dynamicsymbols("u1:4")
    N, Y, L, R = (me.ReferenceFrame(name) for name in "NYLR")
    Y.orient_axis(N, N.z, q)
    L.orient_axis(Y, Y.x, lean)
    R.orient_axis(L, L.y, spin)
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    origin, C = me.Point("O"), me.Point("C")
    origin.set_vel(N, 0)
    C.set_pos(origin, x * N.x + y * N.y)
    G = C.locatenew("G", r * L.z)
    rolling = me.cross(R.ang_vel_in(N), r * L.z)
    C.set_vel(N, 0)
    G.set_vel(N, factor * rolling)
    top = G.locatenew("top", r * L.z)
    top.set_vel(N, G.vel(N) + me.cross(R.ang_vel_in(N), r * L.z))
    body = me.RigidBody("disc", G, R, m, (me.inertia(L, 1, 2, 1), G))
    kdes = [(R.ang_vel_in(N) - turning).dot(axis) for axis in L]
    rates = [rolling.dot(N.x), rolling.dot(N.y)]
    kdes += [x.diff() - rates[0], y.diff() - rates[1]]
    loads = [(G, -m * g * N.z), (top, g * N.y)]
    return kc.Model(N, [q, lean, spin, x, y], [u1, u2, u3], kdes, bodies=[body], forcelist=loads)


@pytest.mark.parametrize("length", [1e-9, 1e9])
@pytest.mark.parametrize("slip", [False, True])
def test_lengths_that_are_numbers_decide_nothing(length: float, slip: bool) -> None:
    """x² + y² = L²: the position x (x² + y²)/L² is x there, whatever number L is."""
    N, origin = ground()
    P = origin.locatenew("P", x * (x**2 + y**2) / length**2 * N.x + y * N.y)
    P.set_vel(N, (1 + slip) * v * N.x + w * N.y)
    constraints = {
        "configuration_constraints": [x**2 + y**2 - length**2],
        "velocity_constraints": [x * v + y * w],
        "q_dependent": [y],
        "u_dependent": [w],
    }
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kc.Model(N, [x], [v], rates([x, y], [v, w]), bodies=[me.Particle("bob", P, m)], **constraints)
    assert len(told) == slip, [str(each.message) for each in told]


def test_rolling() -> None:
    """The contact at rest, the centre and the top from it: nothing is told; twice the velocity is."""
    model = disc()
    assert model.report().startswith("0 contradictions")
    assert "disc: disc at O on N, free" in model.report()
    assert (kc.compile(model, parameters={m: 1.0, g: 9.81, r: 0.3}).reactions(0.0, 0.1 * np.arange(8)) == 0).all()
    with pytest.warns(kc.KanecoreWarning, match="velocity of point G is not"):
        disc(factor=2)


def test_a_ball_that_slides() -> None:
    """Friction acts at the ball's point that touches, whose velocity is not that of the place of contact."""
    N, B, origin = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    B.orient_axis(N, N.z, q)
    origin.set_vel(N, 0)
    G = origin.locatenew("G", x * N.x + r * N.y)
    C = G.locatenew("C", -r * N.y)
    C.set_vel(N, v * N.x + me.cross(u * N.z, -r * N.y))
    body = me.RigidBody("ball", G, B, m, (me.inertia(B, 1, 1, 1), G))
    model = kc.Model(N, [q, x], [u, v], rates([q, x], [u, v]), bodies=[body], forcelist=[(C, -g * N.x)])
    assert model.report().startswith("0 contradictions")


def test_a_speed_of_another_link_is_no_contact() -> None:
    """l u2 in place of l u1 is ω of the other rod times the arm: a slip all the same."""
    (q1, q2), (u1, u2) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, A, B, origin = *(me.ReferenceFrame(n) for n in "NAB"), me.Point("O")
    A.orient_axis(N, N.z, q1)
    B.orient_axis(N, N.z, q2)
    origin.set_vel(N, 0)
    P = origin.locatenew("P", LENGTH * A.x)
    P.set_vel(N, LENGTH * u2 * A.y)
    Q = P.locatenew("Q", LENGTH * B.x)
    rod = me.RigidBody("rod", Q, B, m, (me.inertia(B, 0, 0, 1), Q))
    bodies = [me.Particle("bob", P, m), rod]
    with pytest.warns(kc.KanecoreWarning, match=r"velocity of point P is not .*: l\*u2\*A\.y was set"):
        kc.Model(N, [q1, q2], [u1, u2], rates([q1, q2], [u1, u2]), bodies=bodies)


def test_long_vectors_are_told_by_their_numbers() -> None:
    terms = sum(sm.sin(k * q) for k in range(1, 40))
    with pytest.warns(kc.KanecoreWarning, match=r"operations, \(.*\) in the axes of N at a random state"):
        pendulum(lambda p: p.P.set_vel(p.N, terms * u * p.A.y))


def test_branches_decide_nothing_but_differences() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pendulum(lambda p: p.P.set_vel(p.N, LENGTH * sm.Piecewise((u, q > 0), (u, True)) * p.A.y))
    with pytest.warns(kc.KanecoreWarning, match="point P"):
        pendulum(lambda p: p.P.set_vel(p.N, LENGTH * sm.Abs(q) * u * p.A.y))
