# SPDX-License-Identifier: BSD-3-Clause
"""Published masses and inertias that no solid body can have: computed, with a warning."""

import warnings
from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u = me.dynamicsymbols("q u")


def pendulum(moments: tuple[Any, ...], *, mass: Any = 1, about: Any = 0) -> kc.Model:
    """Turns about z; the inertia is about a point at ``about`` along the rod from the mass centre."""
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, q)
    origin.set_vel(N, 0)
    centre = origin.locatenew("C", A.x)
    point = centre.locatenew("Q", about * A.x) if about else centre
    body = me.RigidBody("rod", centre, A, mass, (me.inertia(A, *moments), point))
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[body])


@pytest.mark.parametrize(
    "moments", [(0, 1, 1), (1, 1, 2), (1, 1, 1.99), (1, 1, 2.0002), (2, 3, 4, 0.1, 0.2, 0.3), (0, 0, 0), (0, 0, 2)]
)
def test_what_a_body_can_have(moments: tuple[float, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pendulum(moments)


@pytest.mark.parametrize(
    ("moments", "options", "words"),
    [
        ((1, 1, 3), {}, "moments of inertia 1, 1, 3 of body rod"),
        ((1, 1, 2.01), {}, "moments of inertia 1, 1, 2.01 of body rod"),
        ((1, 1, -1), {}, "moments of inertia -1, 1, 1 of body rod"),
        ((0.5, 0.5, 0.1, 0.4, 0, 0), {}, "0.1, 0.1, 0.9"),
        ((1, 1, 1), {"mass": -2}, "mass -2 of body rod"),
        ((1, 1, 1), {"about": 2}, "moments of inertia -3, -3, 1"),  # about Q; central: less 4 m² across the rod
    ],
)
def test_what_none_can_have_is_computed_with_a_warning(moments: Any, options: dict[str, Any], words: str) -> None:
    with pytest.warns(kc.KanecoreWarning, match=words) as caught:
        model = pendulum(moments, **options)
    assert caught[0].filename == __file__
    expected = options.get("mass", 1) * (1 - options.get("about", 0) ** 2) + moments[2]
    assert kc.compile(model).mass_matrix(0.0, [0.1, 0.2])[0, 0] == pytest.approx(expected) or expected <= 0


def test_parameters_are_judged_when_they_are_given() -> None:
    moments = sm.symbols("Ix Iy Iz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pendulum(moments)
        kc.compile(model, parameters={"Ix": 1.0, "Iy": 1.0, "Iz": 2.0})
        kc.compile(model, parameters={"Ix": 1.0})
    with pytest.warns(kc.KanecoreWarning, match="1, 1, 3 of body rod"):
        dyn = kc.compile(model, parameters={"Ix": 1.0, "Iy": 1.0, "Iz": 3.0})
    assert dyn.mass_matrix(0.0, [0.1, 0.2])[0, 0] == 4.0
