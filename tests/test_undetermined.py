# SPDX-License-Identifier: BSD-3-Clause
"""Multipliers and reactions that redundant rows share: `check` says which the motion does not determine."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

t = me.dynamicsymbols._t
g, h, b = sm.symbols("g h b")


def door(hinges: int, free: bool = False) -> kc.CompiledModel:
    """A door on its first hinge, a revolute joint or a point that is held; each other hinge holds three components."""
    N, A, O = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    angles, rates = me.dynamicsymbols("a1:4"), me.dynamicsymbols("w1:4")
    if free:  # turns about the first hinge as about a ball
        A.orient_body_fixed(N, angles, "XYZ")
        spin = A.ang_vel_in(N)
        kd = [spin.dot(e) - w for e, w in zip(A, rates, strict=True)]
        q, u = angles, rates
    else:
        A.orient_axis(N, N.z, angles[0])
        q, u, kd = [angles[0]], [rates[0]], [angles[0].diff(t) - rates[0]]
    centre = O.locatenew("C", b / 2 * A.x + h / 2 * A.z)
    body = me.RigidBody("door", centre, A, sm.Integer(12), (me.inertia(A, 1, 2, 3), centre))
    rows: list[Any] = []
    attach = {}
    for i in range(1, hinges):
        height = h * i / (hinges - 1)
        top, frame = O.locatenew(f"T{i}", height * A.z), O.locatenew(f"F{i}", height * N.z)
        for e in N:
            attach[len(rows)] = body, top, N, frame, e
            rows.append((top.pos_from(O) - frame.pos_from(O)).dot(e))
    model = kc.Model(
        *(N, q, u, kd),
        configuration_constraints=rows,
        bodies=[body],
        forcelist=[(centre, -12 * g * N.z)],
        joints={"bottom": (N, body, O)},
        attach=attach,
        name="door",
    )
    return kc.compile(model, parameters={g: 9.81, h: 2.0, b: 0.9})


@pytest.mark.parametrize("free", [False, True])
def test_a_door_on_two_hinges(free: bool) -> None:
    """Nobody knows how they share the weight; a door whose top is only guided knows."""
    dyn = door(2, free)
    state = np.zeros(dyn.n_x)
    state[0 if not free else 2], state[-1] = 0.4, 0.7
    found = dyn.check(state)
    assert found.dof == 1
    axial = "configuration constraint 2"
    assert axial in found.undetermined
    assert ("configuration constraint 0" in found.undetermined) == (not free)
    assert found.undetermined_reactions == ("bottom",)
    assert "undetermined" in str(found)
    assert axial in str(found)
    total = dyn.reactions(0.0, state)[0, 2] + dyn.multipliers(0.0, state)[2]
    assert total == pytest.approx(12 * 9.81, rel=1e-12), "whatever each of them carries"


def test_three_hinges() -> None:
    found = door(3, True).check(np.array([0.0, 0.0, 0.4, 0.0, 0.0, 0.7]))
    assert len(found.undetermined) == 6
    assert (found.rank, found.dof) == (2, 1)


def test_what_is_determined() -> None:
    """A slider-crank in its plane: nothing is shared."""
    dyn = kc.load("slider_crank")
    found = dyn.check()
    assert (found.undetermined, found.undetermined_reactions) == ((), ())
    assert "undetermined" not in str(found)


@pytest.mark.parametrize("follow", [{}, {4: {0: 1, 2: -2}}, {1: {0: 3}, 5: {2: 1, 3: 1, 4: -1}}])
def test_the_report_names_what_is_shared(follow: dict[int, dict[int, int]]) -> None:
    """Rows in units of their own, at any state: a row is shared if SymPy finds the same rank without it."""
    numbers = sm.Matrix(np.random.default_rng(0).integers(-3, 4, (6, 8)))
    for i, others in follow.items():
        numbers[i, :] = sum((factor * numbers[k, :] for k, factor in others.items()), sm.zeros(1, 8))
    q = me.dynamicsymbols("q:8")
    rows = {
        f"row {i}": (h**i + sm.cos(q[0]) / 10**i) * sum(a * x.diff() for a, x in zip(numbers[i, :], q, strict=True))
        for i in range(6)
    }
    model = kc.Model.from_lagrangian(sum(x.diff() ** 2 for x in q), q, nonholonomic_constraints=rows)
    report = model.report().replace("\n      ", " ").splitlines()
    rank = numbers.rank()
    others = [sm.Matrix.vstack(numbers[:i, :], numbers[i + 1 :, :]) for i in range(6)]
    shared = [name for name, without in zip(rows, others, strict=True) if without.rank() == rank]
    said = [line.split("computed): ")[1].split(", ") for line in report if "least norm" in line]
    assert said == ([shared] if shared else [])
