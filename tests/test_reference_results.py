# SPDX-License-Identifier: BSD-3-Clause
"""References for tests of exported C: at states and in steps that any arithmetic follows."""

import numpy as np
import pytest
from mechanisms import stiff
from sweep import part

from kanecore.audit.audit_states import random_states
from kanecore.export.reference_results import Vectors

EPSILON = {"double": 2.0**-52, "float": 2.0**-23}
STIFF = {"soft": (10.0, 100.0, 1.0), "wall": (1e9, 1e3, 0.1), "bristles": (1e3, 1e6, 0.1), "lag": (1e3, 1e3, 1e-6)}


@pytest.mark.parametrize("what", part(STIFF, ["wall", "bristles"]))
@pytest.mark.parametrize("real", part(EPSILON, ["float"]))
def test_steps_are_stable(what: str, real: str) -> None:
    """A change of 2⁻²⁴ in all that a step depends on changes its end by some thousand times that at most."""
    vectors = Vectors(stiff(*STIFF[what]), EPSILON[real])
    states = vectors.states()
    assert len(states) == 3
    for place in states:
        step = vectors.step(False, *place)
        assert step is not None
        changes = step.near / (1000 * EPSILON[real]) * 2.0**-24
        assert np.max(changes) < 1e-4 * np.max(np.abs(step.expected))
    assert vectors.step_length == 2.0**-10 or what != "soft"


def test_states_have_the_size_at_which_their_rates_vanish() -> None:
    """A bristle of stiffness σ₀ holds at 1/σ₀, not at a metre; what moves by more than one moves by one."""
    found = random_states(stiff(10.0, 1e4, 0.1), 40, None, 0).x
    bristle, lag = np.abs(found[:, 3]), np.abs(found[:, 2])
    assert 0.2e-4 < bristle.min() < bristle.max() < 1.3e-4
    assert 0.05 < lag.min() < lag.max() < 1.3
