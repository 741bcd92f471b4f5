# SPDX-License-Identifier: BSD-3-Clause
"""Declarations that `kanecore._native` shares with the other parts of the extension."""

from kanecore._library cimport Ending, Libraries, Parametrized

cdef enum:      # the operands of a kernel
    OF_T, OF_X, OF_UDOT, OF_R, OF_P, N_OPERANDS

cdef enum:
    MOST_AXES = 64          # of any array of NumPy
    ALIGNMENT = 64          # bytes: for the widest lanes
    PARTS_OF_A_THREAD = 4   # so that a late or slow thread does less
    ROWS_OF_A_PART = 512    # at least; fewer take little more time than the start of a part

cdef struct Arguments:      # of a kernel, for one state
    double t
    const double *x         # [q, u], and udot and lambda where the kernel reads them
    const double *r         # NULL in a failure: the current ones
    const double *c

cdef struct Outcome:        # meaning of work[0] and work[1]
    int status, number

ctypedef void (*part_function)(void *work, int thread, int part) noexcept nogil


cdef class Model(Parametrized):
    cdef object evaluate(self, int k, object t, object x, object udot, object r, object p, object out, object threads=*)
    cdef object product_at_once(self, int k, object t, object x, object r, object p)
    cdef object tangent_at_once(self, int k, object t, object x, object dx, object dr, object r, object p)
    cdef object gradient_at_once(self, int k, object t, object x, object weights, bint full, object r, object p)
    cdef object forward_dynamics_at_once(self, object q, object u, object tau)
    cdef object evaluate_any(self, int k, object t, object x, object udot, object r, object p, object out, object threads)


cdef object failure(Model m, int k, Outcome outcome, const Arguments *at, object rows, object out)
cdef Py_ssize_t row_of(Libraries m, int status, Py_ssize_t number)
cdef bint takes_plain(Model m, int k, object t, object x, object r, object p, Arguments *at) except -1
cdef bint is_plain_vector(object a, Py_ssize_t n) noexcept
cdef int check_out(object out, tuple shape, list operands, object dtype) except -1
cdef int thread_count(object threads) except -1
cdef int share_parts(part_function run, void *work, int n_parts, int threads, Ending *ending) except -1
cdef Py_ssize_t blocks_of(Model m, int k) noexcept
