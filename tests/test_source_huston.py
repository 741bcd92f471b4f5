# SPDX-License-Identifier: BSD-3-Clause
"""The results of page 364 of H. Josephs & R. L. Huston, *Dynamics of Mechanical Systems* (2002), section 11.5.

A rigid body that hangs on a turning arm, with forces at points of it; u = q̇.
"""

from functools import cache
from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from source_expressions import active, agree, by_frame, by_point, equal

import kanecore as kc

m, length = sm.symbols("m l")
q1, q2, q3, u1, u2, u3 = me.dynamicsymbols("q1:4 u1:4")
f1, f2 = me.dynamicsymbols("f1 f2")


class Mechanism:
    """N, an arm along its second axis, a body B on it, of which Q and the P_i are points."""

    def __init__(self) -> None:
        self.ground, self.arm, self.body = (me.ReferenceFrame(name) for name in "NAB")
        self.arm.orient_axis(self.ground, self.ground.z, q1)
        self.body.orient_body_fixed(self.arm, [q2, q3, 0], "123")
        origin = me.Point("O")
        origin.set_vel(self.ground, 0)
        self.centre = origin.locatenew("G", length * self.arm.y)
        B = self.body
        self.q = self.centre.locatenew("Q", sm.Rational(1, 3) * B.x + 2 * B.z)
        self.points = [self.centre.locatenew(f"P{i}", i * B.x - length * B.y + (2 - i) * B.z) for i in (1, 2)]
        self.forces = [f1 * self.ground.x + B.y, -u2 * B.z + f2 * self.arm.x]

    def model(self, forcelist: list[Any]) -> kc.Model:
        body = me.RigidBody("B", self.centre, self.body, m, (me.inertia(self.body, 1, 2, 2), self.centre))
        q, u = [q1, q2, q3], [u1, u2, u3]
        rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
        points = [self.q, *self.points]
        return kc.Model(self.ground, q, u, rates, bodies=[body], forcelist=forcelist, points=points, frames=[self.body])


@cache
def mechanism() -> tuple[Mechanism, kc.Model]:
    found = Mechanism()
    return found, found.model(list(zip(found.points, found.forces, strict=True)))


@pytest.mark.long
def test_sum_over_the_forces() -> None:
    """(11.5.2), (11.5.3): F_r = Σ F_i·v_r^{P_i}, one for each degree of freedom."""
    parts, model = mechanism()
    partials = by_point(model)
    expected = [sm.S.Zero] * 3
    for point, force in zip(parts.points, parts.forces, strict=True):
        column = force.to_matrix(parts.ground)
        expected = [x + column.dot(partials[point.name][0][:, r]) for r, x in enumerate(expected)]
    assert len(active(model)) == 3
    assert agree(active(model), expected)
    alone = [active(parts.model([load])) for load in zip(parts.points, parts.forces, strict=True)]
    assert agree(active(model), [sum(x) for x in zip(*alone, strict=True)])


def test_partial_velocities_of_a_rigid_body() -> None:
    """(11.5.4), (11.5.5): v_r^{P_i} = v_r^Q + ω_r × r_i, r_i from Q to P_i."""
    parts, model = mechanism()
    partials, turning = by_point(model), by_frame(model)["B"][0]
    for point in parts.points:
        r = point.pos_from(parts.q).to_matrix(parts.ground)
        for k in range(3):
            assert agree(partials[point.name][0][:, k], partials["Q"][0][:, k] + turning[:, k].cross(r))


def test_reduction_of_the_forces() -> None:
    """What (11.5.5) is for: Σ F_i·v_r^{P_i} = R·v_r^Q + T·ω_r, R the resultant and T the moment about Q."""
    parts, model = mechanism()
    system = kc.ForceSystem(list(zip(parts.points, parts.forces, strict=True)))
    resultant, torque = system.equivalent(parts.q)
    assert agree(active(model), active(parts.model([(parts.q, resultant), (parts.body, torque)])))
    assert agree(active(model), active(parts.model([(parts.body, system)])))


@pytest.mark.parametrize("what", ["perpendicular", "at rest"])
def test_forces_that_give_nothing(what: str) -> None:
    """F_r is zero where F is perpendicular to v_r, and where v_r is zero."""
    parts, model = mechanism()
    across = by_point(model)["Q"][0]
    if what == "perpendicular":
        direction = across[:, 0].cross(across[:, 1])
        force = sum((x * e for x, e in zip(direction, parts.ground, strict=True)), me.Vector(0))
        found = active(parts.model([(parts.q, force)]))
        assert agree(found[:2], [0, 0])
        assert not agree(found[2], 0)
    else:  # the mass centre is on the arm, which q2 and q3 do not move
        force = f1 * parts.body.x + f2 * parts.body.y + parts.body.z
        found = active(parts.model([(parts.centre, force)]))
        assert found[1:] == [0, 0]
        assert not agree(found[0], 0)


def test_dimensions_follow_the_coordinate() -> None:
    """F_r has the dimension of a force where q_r is a length, and of a moment where it is an angle.

    A force f on a particle in polar coordinates: with lengths multiplied by c, F_r stays and F_θ is multiplied by c.
    """
    N, E = me.ReferenceFrame("N"), me.ReferenceFrame("E")
    r, angle = me.dynamicsymbols("r theta")
    E.orient_axis(N, angle, N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P = origin.locatenew("P", r * E.x)
    rates = [r.diff() - u1, angle.diff() - u2]
    model = kc.Model(
        *(N, [r, angle], [u1, u2], rates), bodies=[me.Particle("P", P, m)], forcelist=[(P, f1 * N.x + f2 * N.y)]
    )
    c = sm.Symbol("c")
    radial, around = active(model)
    assert equal(radial.subs(r, c * r), radial)
    assert equal(around.subs(r, c * r), c * around)
