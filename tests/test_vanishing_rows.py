# SPDX-License-Identifier: BSD-3-Clause
"""Rows that vanish identically keep their number; labels of dependent ones that do not fit are told."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import chain, compiled, l, particle
from oracle.lines import coordinates, lines
from sweep import part

import kanecore as kc

(x, y, z), (u1, u2, u3) = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
X = np.array([0.6, -0.6, 0.5, -0.5])
ANGLES, RATES = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
LOOP = [sum(sm.cos(q) * u for q, u in zip(ANGLES, RATES, strict=True)), sm.S.Zero]


def two_links(axes: int, kind: str) -> kc.Model:
    """Two equal links whose end slides along n_x at y = 0; the loop written in n_y, or in n_y, n_z, or twice over."""
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    row, rates = l * (sm.sin(q[0]) + sm.sin(q[1])), {a.diff(): b for a, b in zip(q, u, strict=True)}
    for _ in range(("configuration", "velocity", "acceleration").index(kind)):
        row = row.diff().subs(rates)
    return chain(absolute=True, **{f"{kind}_constraints": [row, sm.S.Zero, sm.S.Zero][:axes]})


@pytest.mark.parametrize("kind", part(["configuration", "velocity", "acceleration"], ["configuration"]))
@pytest.mark.parametrize("axes", part([2, 3], [3]))
def test_a_planar_loop_in_space(kind: str, axes: int) -> None:
    flat, model = compiled(two_links(1, kind)), two_links(axes, kind)
    spatial = compiled(model)
    assert spatial.n_constraints == axes
    np.testing.assert_allclose(spatial.udot(0.0, X), flat.udot(0.0, X), rtol=1e-14)
    zero = ["constraint_jacobian", "constraint_bias", "multipliers"]
    zero += ["configuration_residual"] * (kind == "configuration") + ["velocity_residual"] * (kind != "acceleration")
    for kernel in zero:
        assert not getattr(spatial, kernel)(0.0, X)[1:].any(), kernel
    np.testing.assert_allclose(spatial.multipliers(0.0, X)[:1], flat.multipliers(0.0, X), rtol=1e-14)
    found = spatial.check(X)
    names = tuple(f"{kind} constraint {i}" for i in range(1, axes))
    assert (found.rank, found.dof, found.undetermined, found.contradictory) == (1, 1, names, ())
    if kind != "acceleration":
        ends = [dyn.simulate((0.0, 1.0), X).x[-1] for dyn in (spatial, flat)]
        np.testing.assert_allclose(*ends, rtol=1e-7, atol=1e-8)
    for mine, theirs in zip(spatial.linearize(0.0, X), flat.linearize(0.0, X), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    report = " ".join(model.report().split())
    assert f"zero at every state, and without effect: {', '.join(names)}" in report


def test_a_row_that_vanishes_before_another() -> None:
    """Slopes at given multipliers take those of the rows that are left."""
    first, last = (compiled(chain(absolute=True, velocity_constraints=rows)) for rows in (LOOP[::-1], LOOP))
    v = np.linspace(-1.0, 1.0, 4)
    for mine, theirs in zip(first.linearize(0.0, X), last.linearize(0.0, X), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(first.rhs_jvp(0.0, X, v), last.rhs_jvp(0.0, X, v), rtol=1e-12)
    np.testing.assert_allclose(first.rhs_vjp(0.0, X, v), last.rhs_vjp(0.0, X, v), rtol=1e-12)


def test_a_label_that_nothing_needs() -> None:
    """A coordinate that is called dependent and stands in no constraint."""
    with pytest.warns(kc.KanecoreWarning, match="z in q_dependent occurs in no constraint.*q_ind"):
        model = particle(dependent=(1, 0), configuration_constraints=[x**2 + y**2 - l**2])
    dyn = compiled(model, {l: 1.0})
    assert dyn.simulate((0.0, 1.0), dyn.consistent(0.0, [0.6, 0.8, 0.0, 0.8, -0.6, 0.1])).success


def test_counts_that_differ_are_told_once() -> None:
    """One speed is called dependent by a rolling row; a place that is kept takes another."""
    rows: dict[str, Any] = {"velocity_constraints": [u3 - u1], "configuration_constraints": [y - x**2]}
    model = particle(dependent=(0, 1), **rows)
    dyn, state = compiled(model), [0.5, 0.25, 0.0, 1.0, 1.0, 1.0]
    with pytest.warns(kc.KanecoreWarning, match=r"u_dependent of 'model' names 1 speed, and 2 rows"):
        dyn.check(state)
    dyn.simulate((0.0, 0.1), dyn.consistent(0.0, state))  # said once
    with pytest.warns(kc.KanecoreWarning, match="2 rows"):
        compiled(model).simulate((0.0, 0.1), dyn.consistent(0.0, state))


@pytest.mark.parametrize(
    "row",
    [
        sm.sin(z) ** 2 + sm.cos(z) ** 2 - 1,
        sm.expand((z + x) ** 3) - (z + x) ** 3,
        sm.sin(z + x) - sm.sin(z) * sm.cos(x) - sm.cos(z) * sm.sin(x),
    ],
)
def test_rows_that_vanish_but_for_rounding_are_zero(row: Any) -> None:
    """Beside x = cos z and y = sin z, a helix, a row that is zero, and that rounding leaves something of."""
    rows = {"X": x - sm.cos(z), "Y": y - sm.sin(z), "Z": row}
    dyn = compiled(particle(loads=lambda P, N: [(P, -9.81 * N.y)], configuration_constraints=rows))
    state = dyn.consistent(0.0, [0.9, 0.3, 0.3, 0.0, 0.0, 0.0], None)
    assert dyn.configuration_residual(0.0, state)[2] == 0.0
    assert not dyn.constraint_jacobian(0.0, state)[2].any()
    assert dyn.simulate((0.0, 1.0), state).constraint_drift < 1e-14


(a, b, _), (U, V, W) = coordinates(3)


@pytest.mark.parametrize(
    ("rows", "state", "expected"),
    [
        ([U - V, U - V + sm.exp(a - 30) * W], [29.0, 0.0], [0.5, 0.5, 0.0]),
        ([U + V, sm.exp(a - 30) * W], [29.0, 0.0], [-0.2, 0.2, 0.0]),
        ([(1 - sm.tanh(20 * (b + 3))) * U], [0.0, -3.0], [0.0, 0.7, -9.8]),
        ([sm.exp(-50 * (a - 3) ** 2) * (W - U)], [3.0, 0.0], [-4.75, 0.7, -4.75]),
    ],
)
def test_rows_that_are_small_at_random_states_stay(rows: list[Any], state: list[float], expected: list[float]) -> None:
    """Coefficients of 1e-13, or that doubles do not see, where the description is read; of size one where it moves."""
    dyn = kc.compile(lines(3, forces=[0.3, 0.7, -9.8], velocity_constraints=rows))
    np.testing.assert_allclose(dyn.udot(0.0, [*state, 0.0, 0.0, 0.0, 0.0]), expected, atol=1e-12)
