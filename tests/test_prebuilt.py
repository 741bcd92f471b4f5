# SPDX-License-Identifier: BSD-3-Clause
"""The gallery as a wheel brings it: the file needs pytest and NumPy, no SymPy, no compiler, no other test file."""

import pickle

import numpy as np
import pytest

import kanecore as kc
from kanecore.gallery import is_prebuilt

PREBUILT = [name for name in kc.models() if is_prebuilt(name)]
pytestmark = pytest.mark.skipif(not PREBUILT, reason="no model is prebuilt: wheels are, by KANECORE_PREBUILD=all")


@pytest.mark.parametrize("name", PREBUILT)
def test_prebuilt_model(name: str) -> None:
    """M is symmetric, and M u̇ = f where nothing is constrained; a batch and a pickled copy have the same bits."""
    dyn = kc.load(name)
    x, r = np.linspace(0.3, 0.9, dyn.n_x), np.zeros(dyn.n_r)
    mass = dyn.mass_matrix(0.0, x, r=r)
    np.testing.assert_allclose(mass, mass.T, rtol=1e-12, atol=1e-12)
    if dyn.n_constraints:
        return
    udot = dyn.rhs(0.0, x, r=r)[dyn.n_q :]
    forcing = dyn.forcing(0.0, x, r=r)
    np.testing.assert_allclose(mass @ udot, forcing, rtol=1e-7, atol=1e-9 * (1.0 + abs(forcing).max()))
    rows = dyn.rhs(np.zeros(9), np.tile(x, (9, 1)), r=r)
    assert {row.tobytes() for row in rows} == {dyn.rhs(0.0, x, r=r).tobytes()}
    assert pickle.loads(pickle.dumps(dyn)).rhs(0.0, x, r=r).tobytes() == rows[0].tobytes()
