# SPDX-License-Identifier: BSD-3-Clause
# One call of a kernel, with any number of states; included by _native.pyx.

ARGUMENTS = ("t", "x", "udot", "r", "p")
"""The operands of a kernel, in the order of `Batch.at`."""

cdef enum:      # their numbers
    OF_T, OF_X, OF_UDOT, OF_R, OF_P, N_OPERANDS

cdef struct Batch:
    Py_ssize_t n_rows, n_x, n_beyond, n_r, size     # n_beyond: numbers that x goes on with
    int n_dims                          # leading axes
    const cnp.npy_intp *lengths         # of the leading axes
    cnp.npy_intp *index                 # where we are, one number an axis; zeros to begin with
    const char *at[N_OPERANDS]          # the operands of the row
    bint reads_p                        # else at[OF_P] points nowhere, and c holds the parameters
    const cnp.npy_intp *steps           # (N_OPERANDS, n_dims + 1): bytes to the next element of each along each axis
    void (*prepare)(const double *p, double *c) noexcept nogil
    double *state                       # [q, u, udot, lambda, ...]
    double *c
    double *work
    double *out
    unsigned char *status               # a row: a kc_status
    int *number                         # a row: what work[1] says
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
        t, x, r = (<const double *>b.at[OF_T])[0], <const double *>b.at[OF_X], <const double *>b.at[OF_R]
        if b.n_beyond:
            memcpy(b.state, x, b.n_x * sizeof(double))
            memcpy(b.state + b.n_x, b.at[OF_UDOT], b.n_beyond * sizeof(double))
            x = b.state
        if b.reads_p and b.at[OF_P] != prepared:
            b.prepare(<const double *>b.at[OF_P], b.c)
            prepared = b.at[OF_P]

        b.work[0] = 0.0
        f(t, x, r, b.c, b.work, b.out)
        if (not all_finite(b.out, b.size) and isfinite(t) and all_finite(r, b.n_r)
                and all_finite(x, b.n_x + b.n_beyond)):
            b.status[i] = <unsigned char>b.work[0] if b.work[0] != 0.0 else KC_NONFINITE
            b.number[i] = <int>b.work[1]
            n_failed += 1
        b.out += b.size

        # The next row: the last axis runs fastest.
        axis = b.n_dims - 1
        while axis >= 0:
            b.index[axis] += 1
            for operand in range(N_OPERANDS):
                b.at[operand] += b.steps[operand * (b.n_dims + 1) + axis]
            if b.index[axis] < b.lengths[axis]:
                break
            for operand in range(N_OPERANDS):
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


cdef tuple leading_axes(list operands):
    """The shape to which the operands broadcast, but for the last axes of all but t."""
    leading = [a if a is None else a.shape[:a.ndim - (i > 0)] for i, a in enumerate(operands)]
    try:
        return broadcast_shapes(*[axes for axes in leading if axes is not None])
    except ValueError as error:
        shapes = ", ".join(f"{name} {axes}" for name, axes in zip(ARGUMENTS, leading) if axes)
        raise ValueError(f"leading axes do not broadcast: {shapes}: {error}") from None


@cython.final
cdef class Evaluation:
    """A call with any number of states: what it reads, and what came of each."""

    cdef Model model
    cdef int k
    cdef list operands              # in the order of ARGUMENTS; None where one value serves every row
    cdef Block inputs, parameters   # where no operand gives them
    cdef tuple shape                # leading axes
    cdef object result
    cdef object status, numbers     # of each state: what run_batch says of it

    cdef int read(self, object t, object x, object udot, object r, object p) except -1:
        """Convert what was given, and check it."""
        cdef Model m = self.model
        self.operands = [real_array("t", t), m.rows("state", x), None, None, None]
        if reads_udot(self.k):      # those that go on with multipliers are an array already
            self.operands[OF_UDOT] = m.rows("udot", udot) if n_beyond(m, self.k) == m.n_u else udot
        if p is None:
            self.parameters = m.resolve_parameters(None, self.k)
        else:
            self.operands[OF_P] = m.rows("parameter", p, None, self.k)
        if r is None:
            self.inputs = m.resolve_inputs(None)
        else:
            self.operands[OF_R] = m.rows("input", r)
        self.shape = leading_axes(self.operands)
        return 0

    cdef int write_to(self, object out) except -1:
        """Results go to ``out``, after it has been checked, or for None to a new array."""
        cdef Model m = self.model
        cdef int axis
        shape = self.shape + tuple([m.dims[self.k][axis] for axis in range(m.n_dims[self.k])])
        if out is None:
            self.result = np.empty(shape)
        else:
            check_out(out, shape, self.operands)
            self.result = out
        return 0

    cdef object wide(self, int i):
        """Operand i with all the leading axes."""
        a = self.operands[i]
        return np.broadcast_to(a, self.shape + a.shape[a.ndim - (i > 0):])

    cdef Py_ssize_t run(self) except -1:
        """Call the kernel for every state; how many failed."""
        cdef Model m = self.model
        cdef Batch batch
        cdef Py_ssize_t i, n_failed
        cdef kc_kernel *f = m.kernels[self.k]
        cdef int n_dims = len(self.shape)
        lengths, index = np.array(self.shape + (0,), dtype=np.intp), np.zeros(n_dims + 1, dtype=np.intp)
        steps = np.zeros((N_OPERANDS, n_dims + 1), dtype=np.intp)
        for i, a in enumerate(self.operands):
            if a is not None:
                steps[i, :n_dims] = self.wide(i).strides[:n_dims]
        batch.n_dims, batch.n_rows = n_dims, 1
        for i in self.shape:
            batch.n_rows *= i
        self.status, self.numbers = np.zeros(batch.n_rows, dtype=np.uint8), np.zeros(batch.n_rows, dtype=np.intc)
        batch.lengths = <const cnp.npy_intp *>cnp.PyArray_DATA(lengths)
        batch.index = <cnp.npy_intp *>cnp.PyArray_DATA(index)
        batch.steps = <const cnp.npy_intp *>cnp.PyArray_DATA(steps)
        batch.state = allocate(m.n_state + m.n_prepared + m.n_work)
        try:
            self.fill(&batch)
            if batch.n_rows > 1:
                with nogil:
                    n_failed = run_batch(f, &batch)
            else:
                n_failed = run_batch(f, &batch)
        finally:
            PyMem_Free(batch.state)
        if batch.interruption != NULL:
            raise taken_exception(&batch.interruption)
        return n_failed

    cdef int fill(self, Batch *batch) except -1:
        """What the batch reads and writes, but for the lengths and steps of its axes."""
        cdef Model m = self.model
        cdef Py_ssize_t i
        batch.n_x, batch.n_beyond, batch.n_r, batch.size = m.n_x, n_beyond(m, self.k), m.n_r, m.size[self.k]
        batch.c = batch.state + m.n_state
        batch.work = batch.c + m.n_prepared
        batch.prepare = m.table.prepare
        batch.reads_p = self.operands[OF_P] is not None
        for i in range(N_OPERANDS):
            batch.at[i] = <const char *>batch.state
            if self.operands[i] is not None:
                batch.at[i] = <const char *>cnp.PyArray_DATA(self.operands[i])
        if self.inputs is not None:
            batch.at[OF_R] = <const char *>self.inputs.values
        m.place_addresses(batch.c)
        if self.parameters is not None:
            memcpy(batch.c, self.parameters.values, m.n_prepared * sizeof(double))
        batch.out = data(self.result)
        batch.status = <unsigned char *>cnp.PyArray_DATA(self.status)
        batch.number = <int *>cnp.PyArray_DATA(self.numbers)
        batch.interruption = NULL
        return 0

    cdef int settle(self) except -1:
        """Count rows of G that are lost again, each state for itself; raise for the first state that fails still."""
        cdef Model m = self.model
        cdef Arguments at
        cdef Outcome outcome
        for number in np.flatnonzero(self.status == KC_LOST):
            owners = self.arguments(number, &at)
            outcome.status, outcome.number = self.status[number], self.numbers[number]
            if recounted(m, self.k, &at, data(self.result) + <Py_ssize_t>number * m.size[self.k], &outcome):
                outcome.status = KC_OK
            self.status[number] = outcome.status
        failed = np.flatnonzero(self.status)
        singular = np.flatnonzero((self.status == KC_SINGULAR) | (self.status == KC_LOST))
        if len(failed):
            number = singular[0] if len(singular) else failed[0]
            owners = self.arguments(number, &at)
            outcome.status, outcome.number = self.status[number], self.numbers[number]
            single = not self.shape
            raise failure(m, self.k, outcome, &at, None if single else failed, None if single else self.result)
        return 0

    cdef tuple arguments(self, object number, Arguments *at):
        """The arguments of one state, in ``at``, as long as what this returns lives."""
        cdef Block inputs, parameters
        where = np.unravel_index(number, self.shape)
        row = [None if a is None else np.ascontiguousarray(self.wide(i)[where]) for i, a in enumerate(self.operands)]
        inputs = self.model.resolve_inputs(row[OF_R])
        parameters = self.model.resolve_parameters(row[OF_P], self.k)
        at.t, at.x, at.r, at.c = row[OF_T].item(), data(row[OF_X]), inputs.values, parameters.values
        return row[OF_X], inputs, parameters
