# SPDX-License-Identifier: BSD-3-Clause
"""A kernel by cffi, which keeps its arguments' types in one line of C."""

import numpy as np
from cffi import FFI

import kanecore as kc

ffi = FFI()
ffi.cdef(
    "typedef void kc_kernel(double, const double *, const double *, const double *, "
    "double *, double *);"
)

dyn = kc.load("rrp")
rhs = ffi.cast("kc_kernel *", dyn.address("rhs"))  # valid while dyn lives
x, r, c, work, xdot = (
    np.full(dyn.n_x, 0.1),
    np.zeros(dyn.n_r),
    dyn.prepared,
    np.zeros(dyn.sizes["work"]),
    np.empty(dyn.n_x),
)
rhs(0.0, *(ffi.from_buffer("double[]", a) for a in (x, r, c, work, xdot)))
print(xdot, (xdot == dyn.rhs(0.0, x)).all())
