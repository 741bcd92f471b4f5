# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.control.physical_inertia: inertial parameters of solid bodies, nearest to others under linear equations."""

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_allclose

from kanecore.control.physical_inertia import nearest_physical, pseudo_inertia

Array = npt.NDArray[np.float64]


def test_the_nearest_is_a_minimum() -> None:
    """Every change that keeps the equations makes tr(P P0^-1) - log det(P P0^-1) larger."""
    rng = np.random.default_rng(6)
    prior = solids(rng, 3)
    truth = solids(rng, 3)
    matrix = rng.standard_normal((12, 30))
    values = matrix @ truth.ravel()
    solution = nearest_physical(prior, np.zeros(3, dtype=bool), np.zeros(0), matrix, values)
    assert solution is not None
    found = solution[0]
    assert_allclose(matrix @ found.ravel(), values, rtol=1e-12)
    free = np.linalg.svd(matrix)[2][12:]

    def distance(parameters: Array) -> float:
        total = 0.0
        for p, p0 in zip(pseudo_inertia(parameters), pseudo_inertia(prior), strict=True):
            ratio = np.linalg.solve(p0, p)
            total += np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0
        return total

    least = distance(found)
    assert 0.0 < least < distance(truth)
    for direction in free:
        for sign in (-1e-4, 1e-4):
            assert distance(found + sign * direction.reshape(3, 10)) > least
    same = nearest_physical(prior, np.zeros(3, dtype=bool), np.zeros(0), matrix, matrix @ prior.ravel())
    assert same is not None
    assert_allclose(same[0], prior, rtol=1e-12)


def solids(rng: np.random.Generator, n: int) -> Array:
    """Inertial parameters of clouds of points, (n, 10)."""
    result = []
    for _ in range(n):
        masses, places = rng.uniform(0.1, 1.0, 8), rng.standard_normal((8, 3))
        inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
        result.append([masses.sum(), *(masses @ places), *inertia[np.triu_indices(3)]])
    return np.array(result)


def test_pseudo_inertia_is_the_second_moment() -> None:
    """Of points: the sum of m [r; 1] [r; 1]'."""
    rng = np.random.default_rng(8)
    masses, places = rng.uniform(0.1, 1.0, 8), rng.standard_normal((8, 3))
    extended = np.column_stack([places, np.ones(8)])
    expected = np.einsum("k,ki,kj->ij", masses, extended, extended)
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
    body = np.array([masses.sum(), *(masses @ places), *inertia[np.triu_indices(3)]])
    assert_allclose(pseudo_inertia(body), expected, rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_what_solids_have_is_found(seed: int) -> None:
    """From other solids of other masses and sizes, in any number of equations, up to those that leave nothing open."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    prior, truth = solids(rng, n), solids(rng, n)
    mass, length = 10.0 ** rng.uniform(-0.3, 0.3, n), 10.0 ** rng.uniform(-0.2, 0.2, n)
    prior *= np.transpose([mass, *[mass * length] * 3, *[mass * length**2] * 6])
    matrix = rng.standard_normal((int(rng.integers(1, 10 * n + 1)), 10 * n))
    values = matrix @ truth.ravel()
    solution = nearest_physical(prior, np.zeros(n, dtype=bool), np.zeros(0), matrix, values)
    assert solution is not None
    assert_allclose(matrix @ solution[0].ravel(), values, rtol=0, atol=1e-11 * np.max(np.abs(truth)) * 10 * n)
    assert (np.linalg.eigvalsh(pseudo_inertia(solution[0])) > 0.0).all()


def test_what_no_solid_has_is_not_found() -> None:
    """Ixx + Iyy below Izz, and a mass below zero."""
    prior = solids(np.random.default_rng(0), 1)
    nobody = np.zeros(1, dtype=bool)
    triangle = np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0]])
    assert nearest_physical(prior, nobody, np.zeros(0), triangle, np.array([-0.1])) is None
    assert nearest_physical(prior, nobody, np.zeros(0), np.eye(10)[:1], np.array([-1.0])) is None
    assert nearest_physical(prior, nobody, np.zeros(0), triangle, np.array([0.1])) is not None
