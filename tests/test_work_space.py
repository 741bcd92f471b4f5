# SPDX-License-Identifier: BSD-3-Clause
"""The scratch of kernels: its size in Python, and that its place in memory does not matter."""

import ctypes

import numpy as np
import pytest

import kanecore as kc
from kanecore.derive.kernels import motion_kernels
from kanecore.emit.solver_calls import SOLVERS
from kanecore.emit.work_space import _macros, _value
from kanecore.gallery import tree30


def test_python_reads_every_size() -> None:
    """Sizes grow with what they are of, also where the macro has a comment."""
    for solver in SOLVERS.values():
        n = len(_macros()[solver.room][0])
        assert 0 <= _value(solver.room, (3,) * n) <= _value(solver.room, (50,) * n)


def test_bits_do_not_depend_on_where_the_scratch_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in eights begin where vectors are whole; n_work has room for it."""
    monkeypatch.setattr(motion_kernels, "UNROLLED", 0)
    for lines in ("BODIES", "INERTIAS"):
        monkeypatch.setattr(tree30, lines, "\n".join(getattr(tree30, lines).strip().splitlines()[:12]))
    dyn, x = kc.compile(tree30.build(), parameters=tree30.PARAMETERS, cache=False), np.linspace(-1.0, 1.0, 24)
    dyn.build("linearize", "inverse")
    for kernel, size in {"linearize": dyn.n_x * (dyn.n_x + dyn.n_r), "mass_matrix_inverse": dyn.n_u * dyn.n_u}.items():
        function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(kernel))
        results = []
        for offset in range(8):
            work, out = np.full(dyn.n_work + 50, 7.0), np.empty(size)
            work[offset] = 0.0
            arrays = (x, np.zeros(dyn.n_r), dyn.prepared, work[offset:], out)
            function(0.0, *(a.ctypes.data for a in arrays))
            assert (work[offset + dyn.n_work :] == 7.0).all()
            results.append(out)
        np.testing.assert_array_equal(results, [results[0]] * 8)
        assert np.isfinite(results[0]).all()
