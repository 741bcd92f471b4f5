# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.program.way_to_solve: what is chosen for mechanisms of each kind, and which functions that makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates

import kanecore as kc
from kanecore.emit.kernel_groups import Groups
from kanecore.gallery import cart_pendulum, four_bar, rolling_disc
from kanecore.program.way_to_solve import (
    Way,
    way_of_accelerations,
    way_of_product,
    way_of_second_derivatives,
    way_of_slopes,
)


def slider_with_inertial_load() -> kc.Model:
    """Two sliders, of which one is pushed by a force that holds the acceleration of the other: M is not symmetric."""
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    (N, origin), (m, k) = ground(), sm.symbols("m k")
    a, b = origin.locatenew("A", x * N.x), origin.locatenew("B", y * N.x)
    bodies = [me.Particle("A", a, m), me.Particle("B", b, m)]
    return kc.Model(N, [x, y], [u, v], rates([x, y], [u, v]), bodies=bodies, forcelist=[(a, -k * v.diff() * N.x)])


@pytest.mark.parametrize(
    ("model", "accelerations", "slopes", "product", "second", "solver"),
    [
        (lambda: cart_pendulum.build(1), Way.PROGRAM, Way.PROGRAM, Way.PROGRAM, Way.PROGRAM, "short_way"),
        (rolling_disc.build, Way.PROGRAM, Way.PROGRAM, Way.PROGRAM, Way.PROGRAM, "short_way"),
        (four_bar.build, Way.REDUCED, Way.REDUCED, Way.REDUCED, Way.GENERAL, "motion"),
        (slider_with_inertial_load, Way.GENERAL, Way.GENERAL, Way.GENERAL, Way.GENERAL, "free_motion"),
    ],
)
def test_ways(
    model: Callable[[], kc.Model], accelerations: Way, slopes: Way, product: Way, second: Way, solver: str
) -> None:
    described = model()
    derivation = described.derivation
    assert way_of_accelerations(derivation) is accelerations
    assert way_of_slopes(derivation.linearization("linearize")) is slopes
    assert way_of_product(derivation) is product
    assert way_of_second_derivatives(derivation) is second
    library = Groups(described.description).library("core")
    library.of_kernel  # noqa: B018 (which makes the functions)
    assert library.functions.by_name["compute_udot"].solver == solver
