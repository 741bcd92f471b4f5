# SPDX-License-Identifier: BSD-3-Clause
# Errors of kernels: why a result is not finite, or another attempt; included by _native.pyx.

cdef int explain(Model m, int k, const Arguments *at, const double *work, double *out) except -1:
    """Replace a result that is not finite by one that is, or raise; it stays if t, x or r is not finite either."""
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

    There as many rows count as the neighbours have. Returns whether that gave a result. Nothing is kept: the count
    belongs to this call.
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
        count = m._count_near(at.t, state[:m.n_x], inputs, vector_of(at.c + m.first, m.n_p))
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
    """The error of a kernel at a state; of a batch with the rows that failed, and the result."""
    x = numbers_of(at.x, m.n_x, m.single)
    where = f"at t = {at.t!r}, x = {x.tolist()!r}"
    if rows is not None:
        where += f" and in {len(rows)} rows in all, the first {int(rows[0])}" if len(rows) > 1 \
            else f", row {int(rows[0])}"
    about = {"t": at.t, "x": x, "rows": rows, "out": out}
    row = row_of(m, outcome.status, outcome.number)
    if outcome.status == KC_LOST:       # of which `recounted` knows that it is lost among numbers
        return lost_row(m, k, row, where, about)
    if outcome.status in (KC_JAMMED, KC_UNCONVERGED):
        return no_reactions(m, k, outcome.status, where, at, about)
    if outcome.status == KC_OK or outcome.status == KC_NONFINITE or not has_values(m, at):
        return NonFiniteError(
            f"{KERNELS[k]} of {m.name!r} is not finite {where}: an overflow, or an expression that is not "
            "defined there (a division by zero, the root of a negative number, the pole of a tangent, a spline beyond its "
            "knots)", **about)
    if outcome.status == KC_SINGULAR:
        return lost_pivot(m, k, row, where, about)
    if outcome.status == KC_CONTRADICTORY:
        return contradiction(m, k, row, where, at, about)
    return unsatisfied(m, k, row, where, about)


cdef bint has_values(Model m, const Arguments *at) except -1:
    """Test whether all entries of the mass matrix and of G are finite: else no pivot, and no row, is to blame."""
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
    """The ``row`` of a SingularError: speeds, then rows of G, then constraints on coordinates."""
    if status == KC_UNSATISFIED_CONFIGURATION:
        return m.n_u + m.n_constraints + number
    return number if status in (KC_SINGULAR, KC_CHATTER) else m.n_u + number


cdef object no_reactions(Model m, int k, int status, str where, const Arguments *at, dict about):
    r = numbers_of(at.r, m.n_r, m.single) if at.r != NULL else None
    p = numbers_of(behind(at.c, m.first, m.item), m.n_p, m.single) if at.c != NULL else None
    why, word = m._load_fault(at.t, about["x"], r, p, status == KC_UNCONVERGED), BY_NUMBER[status].word
    return SingularError(f"{KERNELS[k]}: {why} {where}", row=m.n_u + int(m._table_info["loads_of_reactions"][0]),
                         status=word, **about)


cdef object unsatisfied(Model m, int k, int row, str where, dict about):
    return SingularError(
        f"{KERNELS[k]}: no state near x satisfies {m._row_name(row)!r} of {m.name!r} together with the other "
        f"constraints {where}", row=row, **about)


cdef object contradiction(Model m, int k, int row, str where, const Arguments *at, dict about):
    r = numbers_of(at.r, m.n_r, m.single) if at.r != NULL else None
    p = numbers_of(behind(at.c, m.first, m.item), m.n_p, m.single) if at.c != NULL else None
    name = m._row_name(row)
    others = [other for other in m._opposed(at.t, about["x"], r, p, row - m.n_u) if other != name]
    against = " and ".join([repr(other) for other in others]) or "the other constraints"
    return SingularError(
        f"{KERNELS[k]}: {name!r} of {m.name!r} contradicts {against} {where}: no accelerations satisfy them "
        "together; leave out redundant rows", row=row, contradictory=(*others, name), **about)


cdef object lost_row(Model m, int k, int row, str where, dict about):
    return SingularError(
        f"{KERNELS[k]}: {m._row_name(row)!r} of {m.name!r} is lost {where}: its coefficients, or what the "
        "other constraints leave of them, vanish there, and not nearby: a dead point; dyn.check(x) counts what "
        "is independent", row=row, **about)


cdef object lost_pivot(Model m, int k, int row, str where, dict about):
    if k == K_PROJECT_GRADIENT:
        return SingularError(
            f"{KERNELS[k]}: the way back to the constraints of {m.name!r} has no gradient {where}: no motion led back, so "
            "that coordinates were changed directly, or the mass matrix is not positive definite on the way; start "
            "nearer to the constraints, from dyn.consistent(t, x)", row=row, **about)
    return SingularError(
        f"{KERNELS[k]}: the mass matrix of {m.name!r} is singular {where}: {m._pivot(row)}; give whatever this "
        "speed moves mass or inertia, or avoid the state, where the kinematical equations may be singular (gimbal lock)",
        row=row, **about)
