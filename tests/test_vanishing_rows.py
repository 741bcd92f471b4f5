# SPDX-License-Identifier: BSD-3-Clause
"""Rows that vanish identically keep their number; labels of dependent ones that do not fit are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part

import kanecore as kc

q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
length, g = sm.symbols("l g")
t = me.dynamicsymbols._t
a, x, y = me.dynamicsymbols("a x y")


def two_links(axes: int, kind: str = "configuration", **options: Any) -> kc.Model:
    """Two equal links whose end slides along n_x at y = 0; the loop written in n_y, or in n_y, n_z, or twice over."""
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    place, bodies = O, []
    for i in range(2):
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(N, N.z, q[i])
        bodies.append(me.Particle(f"P{i}", place.locatenew(f"P{i}", length * frame.x), sm.Integer(1 + i)))
        place = bodies[-1].masscenter
    end = place.pos_from(O)
    rows = [end.dot(N.y), end.dot(N.z), sm.S.Zero][:axes]
    if kind == "velocity":
        rows = [row.diff(t).subs({q[0].diff(t): u[0], q[1].diff(t): u[1]}) for row in rows]
    if kind == "acceleration":
        rates = {q[0].diff(t): u[0], q[1].diff(t): u[1]}
        rows = [row.diff(t).subs(rates).diff(t).subs(rates) for row in rows]
    loads = [(b.masscenter, -b.mass * g * N.y) for b in bodies]
    kd = [a.diff(t) - b for a, b in zip(q, u, strict=True)]
    return kc.Model(N, q, u, kd, bodies=bodies, forcelist=loads, **{f"{kind}_constraints": rows}, **options)


def compiled(model: kc.Model) -> kc.CompiledModel:
    return kc.compile(model, parameters={"l": 0.7, "g": 9.81})


X = np.array([0.6, -0.6, 0.5, -0.5])


@pytest.mark.parametrize("kind", part(["configuration", "velocity", "acceleration"], ["configuration"]))
@pytest.mark.parametrize("axes", part([2, 3], [3]))
def test_a_planar_loop_in_space(kind: str, axes: int) -> None:
    flat, spatial = compiled(two_links(1, kind)), compiled(two_links(axes, kind))
    assert spatial.n_constraints == axes
    np.testing.assert_allclose(spatial.udot(0.0, X), flat.udot(0.0, X), rtol=1e-14)
    assert not spatial.constraint_jacobian(0.0, X)[1:].any()
    assert not spatial.constraint_bias(0.0, X)[1:].any()
    assert not spatial.multipliers(0.0, X)[1:].any()
    np.testing.assert_allclose(spatial.multipliers(0.0, X)[:1], flat.multipliers(0.0, X), rtol=1e-14)
    found = spatial.check(X)
    names = tuple(f"{kind} constraint {i}" for i in range(1, axes))
    assert (found.rank, found.dof, found.undetermined, found.contradictory) == (1, 1, names, ())
    if kind == "configuration":
        assert not spatial.configuration_residual(0.0, X)[1:].any()
    if kind != "acceleration":
        assert not spatial.velocity_residual(0.0, X)[1:].any()
        np.testing.assert_allclose(
            spatial.simulate((0.0, 1.0), X).x[-1], flat.simulate((0.0, 1.0), X).x[-1], rtol=1e-7, atol=1e-8
        )
    for mine, theirs in zip(spatial.linearize(0.0, X), flat.linearize(0.0, X), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    report = " ".join(two_links(axes, kind).report().split())
    assert f"vanish identically, and take no part: {', '.join(names)}" in report


def test_a_label_that_nothing_needs() -> None:
    """A coordinate that is called dependent and stands in no constraint."""
    spare, rate = me.dynamicsymbols("spare rate")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", q[0] * N.x + q[1] * N.y + spare * N.z)
    arguments: dict[str, Any] = {
        "configuration_constraints": [q[0] ** 2 + q[1] ** 2 - length**2],
        "bodies": [me.Particle("P", P, 1)],
        "kd_eqs": [q[0].diff(t) - u[0], q[1].diff(t) - u[1], spare.diff(t) - rate],
    }
    with pytest.warns(kc.KanecoreWarning, match="spare in q_dependent occurs in no constraint.*q_ind"):
        model = kc.Model(N, q, [*u, rate], q_dependent=[spare], **arguments)
    dyn = kc.compile(model, parameters={"l": 1.0})
    assert dyn.simulate((0.0, 1.0), dyn.consistent(0.0, [0.6, 0.8, 0.0, 0.8, -0.6, 0.1])).success


def test_counts_that_differ_are_told_once() -> None:
    """One speed is called dependent by a rolling row; a place that is kept takes another."""
    x, y, v, w = me.dynamicsymbols("x y v w")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y + q[0] * N.z)
    model = kc.Model(
        *(N, [x, y, q[0]], [v, u[0]], [x.diff(t) - v, y.diff(t) - w, q[0].diff(t) - u[0]]),
        u_dependent=[w],
        velocity_constraints=[w - v],
        configuration_constraints=[q[0] - x**2],
        bodies=[me.Particle("P", P, 1)],
    )
    dyn, state = kc.compile(model), [0.5, 0.0, 0.25, 1.0, 1.0, 1.0]
    with pytest.warns(kc.KanecoreWarning, match=r"u_dependent of 'model' names 1 speed, and 2 rows"):
        dyn.check(state)
    dyn.simulate((0.0, 0.1), dyn.consistent(0.0, state))  # said once
    other = kc.compile(model)
    with pytest.warns(kc.KanecoreWarning, match="2 rows"):
        other.simulate((0.0, 0.1), dyn.consistent(0.0, state))


@pytest.mark.parametrize(
    "row",
    [
        sm.sin(a) ** 2 + sm.cos(a) ** 2 - 1,
        sm.expand((a + x) ** 3) - (a + x) ** 3,
        sm.sin(a + x) - sm.sin(a) * sm.cos(x) - sm.cos(a) * sm.sin(x),
    ],
)
def test_rows_that_vanish_but_for_rounding_are_zero(row: Any) -> None:
    """A point on a crank: beside x = cos a and y = sin a a row that is zero, and that rounding leaves something of."""
    N, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(N, 0)
    place = origin.locatenew("P", x * N.x + y * N.y)
    rates = me.dynamicsymbols("u1:4")
    model = kc.Model(
        *(N, [a, x, y], rates, [q.diff() - u for q, u in zip((a, x, y), rates, strict=True)]),
        configuration_constraints={"X": x - sm.cos(a), "Y": y - sm.sin(a), "Z": row},
        bodies=[me.Particle("bob", place, 1)],
        forcelist=[(place, -9.81 * N.y)],
    )
    dyn = kc.compile(model)
    state = dyn.consistent(0.0, [0.3, 0.9, 0.3, 0.0, 0.0, 0.0])
    assert dyn.configuration_residual(0.0, state)[2] == 0.0
    assert not dyn.constraint_jacobian(0.0, state)[2].any()
    assert dyn.simulate((0.0, 1.0), state).constraint_drift < 1e-14


def particle(rows: list[Any]) -> kc.CompiledModel:
    """One that is free in space but for constraints on its velocities; it is pushed along (0.3, 0.7, -9.8)."""
    N, origin, place = me.ReferenceFrame("N"), me.Point("O"), me.dynamicsymbols("x y z")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", sum((q * e for q, e in zip(place, N, strict=True)), me.Vector(0)))
    rates = me.dynamicsymbols("u v w")
    force = 0.3 * N.x + 0.7 * N.y - 9.8 * N.z
    model = kc.Model(
        *(N, place, rates, [q.diff() - u for q, u in zip(place, rates, strict=True)]),
        bodies=[me.Particle("bob", P, 1)],
        forcelist=[(P, force)],
        velocity_constraints=rows,
    )
    return kc.compile(model)


U, V, W = me.dynamicsymbols("u v w")


@pytest.mark.parametrize(
    ("rows", "state", "expected"),
    [
        ([U - V, U - V + sm.exp(x - 30) * W], [29.0, 0.0], [0.5, 0.5, 0.0]),
        ([U + V, sm.exp(x - 30) * W], [29.0, 0.0], [-0.2, 0.2, 0.0]),
        ([(1 - sm.tanh(20 * (y + 3))) * U], [0.0, -3.0], [0.0, 0.7, -9.8]),
        ([sm.exp(-50 * (x - 3) ** 2) * (W - U)], [3.0, 0.0], [-4.75, 0.7, -4.75]),
    ],
)
def test_rows_that_are_small_at_random_states_stay(rows: list[Any], state: list[float], expected: list[float]) -> None:
    """Coefficients of 1e-13, or that doubles do not see, where the description is read; of size one where it moves."""
    found = particle(rows).udot(0.0, [*state, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found, expected, atol=1e-12)
