# SPDX-License-Identifier: BSD-3-Clause
# Errors of kernels: reasons why a result is not finite, and repeated evaluations; included by _native.pyx.

cdef int explain(Model m, int k, const Arguments *at, const double *work, double *out) except -1:
    """Replace a result that is not finite by a finite one, or raise; it is kept if t, x or r is not finite."""
    cdef Outcome outcome
    outcome.status, outcome.number = <int>number_at(work, 0, m.single), <int>number_at(work, 1, m.single)
    if recounted(m, k, at, out, &outcome):
        return 0
    if is_finite(m, k, at):
        raise failure(m, k, outcome, at, None, None)
    return 0


cdef bint is_finite(Model m, int k, const Arguments *at) noexcept nogil:
    return (isfinite(at.t) and finite_numbers(at.x, m.n_x + n_beyond(m, k), m.single)
            and finite_numbers(at.r, m.n_r, m.single))


cdef bint recounted(Model m, int k, const Arguments *at, double *out, Outcome *outcome) except -1:
    """Evaluate kernel ``k`` again where rows of G are lost at x, and at its neighbours on the constraints as well.

    The number of rows that count is that of the neighbours.  Return whether there is a result.  The count is used for
    this call only.
    """
    cdef double *memory
    cdef double *work
    if outcome.status != KC_LOST or m.single:   # floats are too coarse to find the neighbours
        return False
    if not (isfinite(at.t) and all_finite(at.x, m.n_x) and all_finite(at.r, m.n_r)):
        return False
    if not has_values(m, at):
        outcome.status = KC_NONFINITE
        return False
    memory = allocate(m.n_prepared + m.n_work)
    work = memory + m.n_prepared
    try:
        memcpy(memory, at.c, m.n_prepared * sizeof(double))     # the calls below use the scratch of this model
        state, inputs = vector_of(at.x, m.n_x + n_beyond(m, k)), vector_of(at.r, m.n_r)
        count = m.hooks.count_near(at.t, state[:m.n_x], inputs, vector_of(at.c + m.first, m.n_p))
        if count == memory[m.n_prepared - 1]:
            return False
        memory[m.n_prepared - 1] = count
        work[0] = 0.0
        m.kernels[k](at.t, data(state), data(inputs), memory, work, out)
        outcome.status, outcome.number = <int>work[0], <int>work[1]
    finally:
        PyMem_Free(memory)
    return all_finite(out, m.size[k])


cdef object failure(Model m, int k, Outcome outcome, const Arguments *at, object rows, object out):
    """The error of a kernel at a state; for a batch with the failed rows, and the result."""
    cdef int status = outcome.status
    x = numbers_of(at.x, m.n_x, m.single)
    told = status == KC_JAMMED or status == KC_UNCONVERGED or status == KC_LOST    # of the last, `recounted` knows it
    if not told and (status == KC_OK or status == KC_NONFINITE or not has_values(m, at)):
        status = KC_NONFINITE
    r = numbers_of(at.r, m.n_r, m.single) if at.r != NULL else None
    p = numbers_of(shifted(at.c, m.first, m.item), m.n_p, m.single) if at.c != NULL else None
    return m.hooks.failure(KERNELS[k], status, row_of(m, status, outcome.number), at.t, x, r, p, rows, out)


cdef bint has_values(Model m, const Arguments *at) except -1:
    """Test whether all entries of the mass matrix and of G are finite; otherwise no pivot or row is the reason."""
    cdef kc_kernel *kernel
    cdef int k
    for k in [K_MASS_MATRIX] + [K_CONSTRAINT_JACOBIAN] * (m.n_constraints > 0):
        try:
            kernel = m.kernel(k)
        except ModelError:      # it was compiled without
            continue
        memory = new_vector(m.size[k] + m.n_work)
        call_kernel(kernel, at.t, at.x, m.r if at.r == NULL else at.r, m.c if at.c == NULL else at.c,
                    data(memory) + m.size[k], data(memory), m.single)
        if not finite_numbers(data(memory), m.size[k], m.single):
            return False
    return True


cdef Py_ssize_t row_of(Libraries m, int status, Py_ssize_t number):
    """The ``row`` of a SingularError: an index among speeds, then rows of G, then constraints on coordinates."""
    if status == KC_UNSATISFIED_CONFIGURATION:
        return m.n_u + m.n_constraints + number
    return number if status == KC_SINGULAR or status == KC_CHATTER else m.n_u + number
