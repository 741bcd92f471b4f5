# SPDX-License-Identifier: BSD-3-Clause
"""Discrete systems of a step: against gradients of rollouts, differences of steps, and powers of a matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sweep import part

import kanecore as kc

MODELS = ["cart_pole", "free_body", "four_bar", "rolling_disc", "snakeboard", "whipple_bicycle", "stewart_platform"]


def states(dyn: kc.CompiledModel, n: int) -> np.ndarray:
    """States near one on the constraints."""
    rng, middle = np.random.default_rng(3), np.asarray(dyn.consistent(0.0, dyn.state()))
    size = np.repeat([0.05, 1.0], [dyn.n_q, dyn.n_u])
    return np.array([dyn.consistent(0.0, middle + size * rng.normal(size=dyn.n_x), None) for _ in range(n)])


@pytest.mark.parametrize("name", part(MODELS, ["cart_pole", "free_body", "four_bar"]))
def test_matrices_are_those_of_gradients(name: str) -> None:
    """With a unit vector as weights, a row each, `rollout_vjp` gives the rows of A and B."""
    dyn = kc.load(name)
    x, r = states(dyn, 3), np.random.default_rng(1).normal(size=(3, dyn.n_r))
    x1, a, b = dyn.discretize(x, r, 0.02, t=0.3)
    assert_allclose(x1, dyn.step(0.3, x, 0.02, r=r), rtol=0, atol=0)
    n = dyn.n_x
    weights = np.zeros((3, n, 2, n))
    weights[:, :, 1, :] = np.eye(n)
    of_rows = np.repeat(x[:, None], n, 1), np.repeat(r[:, None, None], n, 1)
    found = dyn.rollout_vjp(*of_rows, weights, dt=0.02, t0=0.3, steps=1)
    assert_allclose(a, found.x0, rtol=0, atol=1e-12 * np.max(np.abs(a)))
    assert_allclose(b, found.inputs[..., 0, :], rtol=0, atol=1e-12 * np.max(np.abs(b), initial=1.0))


@pytest.mark.parametrize("name", ["free_body", "four_bar"])
def test_matrices_are_those_of_differences(name: str) -> None:
    """Of steps from changed states, also off the constraints and the unit sphere."""
    dyn = kc.load(name)
    x = states(dyn, 1)[0]
    _, a, _ = dyn.discretize(x, None, -0.05)
    h = 2e-8
    changed = x + h * np.eye(dyn.n_x)[:, None] * np.array([1.0, -1.0])[:, None]
    ends = dyn.step(0.0, changed, -0.05)
    assert_allclose(a, (ends[:, 0] - ends[:, 1]).T / (2 * h), rtol=0, atol=1e-6)


def test_shapes_and_arguments() -> None:
    dyn = kc.load("cart_pole")
    x1, a, b = dyn.discretize({"theta": [0.1, 0.2]}, {"F": 2.0}, 0.02)
    assert x1.shape == (2, 4)
    assert a.shape == (2, 4, 4)
    assert b.shape == (2, 4, 1)
    one = dyn.discretize(dyn.state(theta=0.2), [2.0], 0.02)
    assert isinstance(one, kc.Discretization)
    assert_allclose(one.A, a[1], rtol=0, atol=0)
    heavy = np.array([*dyn.parameters.values()]) * [[1.0], [2.0]]
    assert np.shape(dyn.discretize(dyn.state(theta=0.2), None, 0.02, p=heavy).A) == (2, 4, 4)
    with pytest.raises(ValueError, match=r"dt is 0\.0; it must be finite and not zero"):
        dyn.discretize(dyn.state(), None, 0.0)
    with pytest.raises(kc.IntegrationError, match=r"x0\[1\] = .*, which is not finite"):
        dyn.discretize([dyn.state(), np.full(4, np.nan)], None, 0.02)
