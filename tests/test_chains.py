# SPDX-License-Identifier: BSD-3-Clause
"""Chains of thousands of points and frames: no recursion limit, and no time that grows with the square."""

from typing import Any

import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground

import kanecore as kc
from kanecore.graph.expression_graph import COORDINATE, Graph
from kanecore.graph.linear_equations import matching, solve

q, u = me.dynamicsymbols("q u")
m, L, g = sm.symbols("m l g")
LENGTH = 3000 if sweep.LONG else 1100  # Python's recursion ends at 1000


def oriented(parent: Any, name: str, axis: str, angle: Any) -> Any:
    """``orient_axis``, which goes through all frames before it."""
    frame = me.ReferenceFrame(name)
    matrix = {"x": sm.rot_axis1, "z": sm.rot_axis3}[axis](angle)
    spin = sm.sympify(angle).diff(me.dynamicsymbols._t) * getattr(parent, axis)
    frame._dcm_dict[parent], parent._dcm_dict[frame] = matrix, matrix.T
    frame._ang_vel_dict[parent], parent._ang_vel_dict[frame] = spin, -spin
    return frame


@pytest.mark.long
@pytest.mark.parametrize("each", [False, True], ids=["one body", "a body at each"])
def test_points(each: bool) -> None:
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, q)
    origin.set_vel(N, 0)
    chain = [origin]
    for i in range(LENGTH):
        chain.append(chain[-1].locatenew(f"P{i}", L * (A.x if i % 3 else N.y)))
    bodies = [me.Particle(p.name, p, m) for p in (chain[1:] if each else chain[-1:])]
    model = kc.Model(
        N, [q], [u], [q.diff() - u], bodies=bodies, forcelist=[(b.masscenter, m * g * N.x) for b in bodies]
    )
    assert f"P{LENGTH - 1}: from P{LENGTH - 2}" in model.report()
    assert len(model.derivation.kernel("reactions").roots) == 6 * len(bodies)


@pytest.mark.long
@pytest.mark.parametrize("turning", sweep.part([False, True], [False]))
def test_frames(turning: bool) -> None:
    N, origin = ground()
    frame, point = oriented(N, "F", "z", q), origin
    for i in range(LENGTH):
        frame = oriented(frame, f"F{i}", "xz"[i % 2], q if turning else sm.Rational(1, 10))
        if i % 100 == 0:
            point = point.locatenew(f"P{i}", L * frame.x)
    body = me.RigidBody("body", point, frame, m, (me.inertia(frame, 1, 2, 3), point))
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[body], forcelist=[(point, m * g * N.x)])
    assert f"F{LENGTH - 1}: from F{LENGTH - 2}" in model.report()


def test_equations_in_a_row() -> None:
    """x_i + a_i x_(i+1) = 1 with coefficients that are no constants: one path, from end to end, and one ring."""
    g = Graph()
    n = 60
    a = [g.symbol(("a", i), COORDINATE) for i in range(n)]
    rows = [[a[i] if j == i else g.one if j == i + 1 else 0 for j in range(n)] for i in range(n)]
    assert len(solve(g, rows, [g.one] * n)) == n
    assert matching({i: [i, i + 1] for i in range(LENGTH)} | {LENGTH: [0]}) == {
        **{i + 1: i for i in range(LENGTH)},
        0: LENGTH,
    }
