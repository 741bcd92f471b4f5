# SPDX-License-Identifier: BSD-3-Clause
"""Impulses by convex problems satisfy the laws of contact and friction, also where contacts are redundant."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kanecore.motion.rigid_contacts.contact_impulses import Cone, impulses


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("length", [2, 3])
def test_impulses_satisfy_the_laws(seed: int, length: int) -> None:
    """0 ≤ Λ_n − b ⊥ v_n ≥ 0; sticking within the cone, slip against Λ_t on it; equations hold; open contacts rest."""
    rng = np.random.default_rng(seed)
    n, equations = int(rng.integers(1, 5)), int(rng.integers(0, 3))
    m = equations + n * length + length  # the last contact is open
    rows = rng.normal(size=(m, 6))
    mass = np.diag(np.exp(rng.normal(size=6)))
    d, v = rows @ np.linalg.solve(mass, rows.T), rows @ rng.normal(size=6)
    cones = [
        Cone(equations + i * length, length, float(rng.choice([0.0, 0.3, 1.5])), float(rng.choice([0.0, 0.2])))
        for i in range(n)
    ]
    used = np.arange(m) < m - length
    found = impulses(d, v, cones, used)
    assert found is not None
    after, small = v + d @ found, 1e-9 * np.abs(v).max()
    assert_allclose(found[~used], 0.0)
    assert_allclose(after[:equations], 0.0, atol=small)
    for cone in cones:
        normal, along = found[cone.row], found[cone.row + 1 : cone.row + length]
        slip = after[cone.row + 1 : cone.row + length]
        assert normal >= cone.least
        assert after[cone.row] >= -small
        assert normal == cone.least or after[cone.row] <= small
        limit = cone.mu * normal
        assert np.linalg.norm(along) <= limit * (1 + 1e-9) + 1e-12
        if np.linalg.norm(slip) > 1e3 * small:  # slides: friction is along −slip
            assert_allclose(along, -limit * slip / np.linalg.norm(slip), atol=1e-5 * (1 + limit))


def test_infinite_friction_sticks() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3, 3))
    found = impulses(
        rows @ rows.T, rows @ np.array([0.1, -0.4, 0.3]), [Cone(0, 3, np.inf, 0.0)], np.ones(3, dtype=bool)
    )
    assert found is not None
    after = rows @ np.array([0.1, -0.4, 0.3]) + rows @ rows.T @ found
    assert_allclose(after[1:] if found[0] > 0 else found[0], 0.0, atol=1e-9)
