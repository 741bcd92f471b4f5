# SPDX-License-Identifier: BSD-3-Clause
# Batches of states; included by _native.pyx.

ARGUMENTS = ("t", "x", "udot", "r", "p")
"""The operands of a kernel, in the order of `Batch.at`."""

cdef struct Batch:
    Py_ssize_t n_rows, n_x, n_u, n_r, size
    int n_dims                          # leading axes
    const cnp.npy_intp *lengths         # of the leading axes
    cnp.npy_intp *index                 # where we are, one number an axis; zeros to begin with
    const char *at[5]                   # t, x, udot, r, p of the row
    bint reads_udot, reads_p            # else at[2], at[4] point nowhere; without p, c holds the parameters
    const cnp.npy_intp *steps           # (5, n_dims + 1): bytes to the next element of each along each axis
    void (*prepare)(const double *p, double *c) noexcept nogil
    double *state                       # [q, u, udot]
    double *c
    double *work
    double *out
    unsigned char *status               # a row: a kc_status
    int *row                            # a row: what work[1] says
    PyObject *interruption              # by Ctrl-C: the exception, owned; the rows after it are not done


cdef Py_ssize_t run_batch(kc_kernel *f, Batch *b) noexcept nogil:
    """Calls ``f`` for every row and returns how many failed. The rows' arguments lie anywhere."""
    cdef Py_ssize_t i, n_failed = 0
    cdef int axis, operand
    cdef double t
    cdef const double *x
    cdef const double *r
    cdef const char *prepared = NULL
    for i in range(b.n_rows):
        if i % PATIENCE == PATIENCE - 1 and interrupted(&b.interruption):
            return n_failed
        t, x, r = (<const double *>b.at[0])[0], <const double *>b.at[1], <const double *>b.at[3]
        if b.reads_udot:
            memcpy(b.state, x, b.n_x * sizeof(double))
            memcpy(b.state + b.n_x, b.at[2], b.n_u * sizeof(double))
            x = b.state
        if b.reads_p and b.at[4] != prepared:
            b.prepare(<const double *>b.at[4], b.c)
            prepared = b.at[4]

        b.work[0] = 0.0
        f(t, x, r, b.c, b.work, b.out)
        if (not all_finite(b.out, b.size) and isfinite(t) and all_finite(r, b.n_r)
                and all_finite(x, b.n_x + (b.n_u if b.reads_udot else 0))):
            b.status[i] = <unsigned char>b.work[0] if b.work[0] != 0.0 else KC_NONFINITE
            b.row[i] = <int>b.work[1]
            n_failed += 1
        b.out += b.size

        # The next row: the last axis runs fastest.
        axis = b.n_dims - 1
        while axis >= 0:
            b.index[axis] += 1
            for operand in range(5):
                b.at[operand] += b.steps[operand * (b.n_dims + 1) + axis]
            if b.index[axis] < b.lengths[axis]:
                break
            for operand in range(5):
                b.at[operand] -= b.lengths[axis] * b.steps[operand * (b.n_dims + 1) + axis]
            b.index[axis] = 0
            axis -= 1
    return n_failed


cdef int check_out(object out, tuple shape, list operands) except -1:
    """Raise unless C may write a result of this shape into ``out``; ``operands`` is what it reads meanwhile."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, got {type(out).__name__}")
    if out.dtype != np.float64 or not out.dtype.isnative:
        raise TypeError(f"out must be of dtype float64, got {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, expected {shape}")
    if not (out.flags.c_contiguous and out.flags.aligned):
        raise ValueError("out must be C-contiguous and aligned")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    for name, operand in zip(ARGUMENTS, operands):
        if operand is not None and np.may_share_memory(out, operand):
            raise ValueError(f"out may not overlap {name}")
    return 0
