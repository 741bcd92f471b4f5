# SPDX-License-Identifier: BSD-3-Clause
"""Where expressions have branches, random states decide nothing: what a state does not meet counts as well."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, moving_point

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")


def model(rate: Any, angle: Any, **options: Any) -> kc.Model:
    """A wheel behind a transmission of ratio r(q): its rate is r u, its angle the integral."""
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, angle)
    A.set_ang_vel(N, rate * N.z)
    origin.set_vel(N, 0)
    wheel = me.RigidBody("wheel", origin, A, 1, (me.inertia(A, 1, 1, 2), origin))
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[wheel], **options)


@pytest.mark.parametrize(
    ("ratio", "angle", "expected"),
    [
        (sm.Piecewise((1, q < 3), (2, True)), sm.Piecewise((q, q < 3), (2 * q - 3, True)), {0.5: 1, 4.0: 2}),
        (sm.Max(1, q / 2), sm.Piecewise((q, q < 2), (1 + q**2 / 4, True)), {0.5: 1, 5.0: 2.5}),
        (2 + sm.sign(q - 3), 2 * q + sm.Abs(q - 3), {0.5: 1, 4.0: 3}),
    ],
    ids=["Piecewise", "Max", "sign"],
)
def test_transmission_that_changes(ratio: Any, angle: Any, expected: dict[float, float]) -> None:
    dyn = kc.compile(model(ratio * u, angle))
    for value, r in expected.items():
        assert dyn.mass_matrix(0.0, [value, 0.3]) == pytest.approx(np.array([[2.0 * r**2]]), rel=1e-15)


def test_velocity_that_is_right_on_one_side_only() -> None:
    """A stop: beyond it the point keeps still, whatever its position says (the user's velocity counts)."""
    N, _, P = moving_point({q: sm.Piecewise((u, q < 3), (u / 2, True))})
    dyn = kc.compile(kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("p", P, 4)]))
    assert dyn.mass_matrix(0.0, [0.5, 1.0]) == [[4.0]]
    assert dyn.mass_matrix(0.0, [4.0, 1.0]) == [[1.0]]


def test_load_that_pushes_on_one_side_only() -> None:
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    loads = [(P, T * N.x), (P, -T * sm.Piecewise((1, q < 3), (0, True)) * N.x)]
    described = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("p", P, 2)], forcelist=loads)
    assert described.noncontributing == ()
    dyn = kc.compile(described)
    assert dyn.udot(0.0, [0.5, 0.0], r=[6.0]) == [0.0]
    assert dyn.udot(0.0, [4.0, 0.0], r=[6.0]) == [3.0]
