# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3
"""A loop of one's own over a kernel, at the speed of C and without the GIL."""

import numpy as np

from kanecore cimport kc_kernel


def fall(dyn, double[::1] x, double dt, int steps):
    """Semi-implicit Euler steps, in x; the status of the last call."""
    cdef kc_kernel *rhs = <kc_kernel *><size_t>dyn.address("rhs")  # while dyn lives
    cdef const double[::1] c = dyn.prepared
    cdef double[::1] r = np.zeros(dyn.n_r + 1), xdot = np.zeros(dyn.n_x)
    cdef double[::1] work = np.zeros(dyn.sizes["work"])
    cdef int i, step, n_q = dyn.n_q, n_u = dyn.n_u
    with nogil:
        for step in range(steps):
            work[0] = 0.0
            rhs(step * dt, &x[0], &r[0], &c[0], &work[0], &xdot[0])
            if work[0] != 0.0:  # a kc_status; xdot is NaN
                break
            for i in range(n_u):
                x[n_q + i] += dt * xdot[n_q + i]
            for i in range(n_q):
                x[i] += dt * x[n_q + i]
    return int(work[0])
