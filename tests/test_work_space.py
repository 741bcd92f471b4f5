# SPDX-License-Identifier: BSD-3-Clause
"""The scratch of kernels: its size in Python, and that its place in memory does not matter."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from gallery_states import some_state

import kanecore as kc
from kanecore.derive.kernels import motion_kernels
from kanecore.emit.solver_calls import WAYS
from kanecore.emit.work_space import _macros, _value
from kanecore.gallery import tree30


def test_python_reads_every_size() -> None:
    """Sizes grow with what they are of, also where the macro has a comment."""
    for way in WAYS.values():
        n = len(_macros()[way.room][0])
        assert 0 <= _value(way.room, (3,) * n) <= _value(way.room, (50,) * n)


@pytest.mark.parametrize("kernel", ["linearize", "mass_matrix_inverse"])
def test_bits_do_not_depend_on_where_the_scratch_is(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    """Rows in eights begin where vectors are whole; n_work has room for it."""
    monkeypatch.setattr(motion_kernels, "UNROLLED", 0)
    dyn, x = kc.compile(tree30.build(), parameters=tree30.PARAMETERS, cache=False), some_state("tree30")
    (dyn.linearize if kernel == "linearize" else dyn.mass_matrix_inverse)(0.0, x)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(kernel))
    results = []
    for offset in range(8):
        work = np.full(dyn.n_work + 50, 7.0)
        work[offset] = 0.0
        out = np.empty(dyn.n_u * dyn.n_u if kernel == "mass_matrix_inverse" else dyn.n_x * (dyn.n_x + dyn.n_r))
        arrays = (x, np.zeros(dyn.n_r), dyn.prepared, work[offset:], out)
        function(0.0, *(a.ctypes.data for a in arrays))
        assert (work[offset + dyn.n_work :] == 7.0).all()
        results.append(out)
    np.testing.assert_array_equal(results, [results[0]] * 8)
    assert np.isfinite(results[0]).all()
