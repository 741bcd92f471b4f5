# SPDX-License-Identifier: BSD-3-Clause
# Integration of many starts, row by row, in threads; included by _motion.pyx.  Each row is a run of kc_ode.h.

cdef enum:
    PARTS_OF_RUNS = 16      # of a thread: runs take their own time each


cdef class RowsRun(Shared):
    """Result of `integrate_rows`.

    Attributes
    ----------
    codes : ndarray of uint8, (rows,)
        A kc_status each.
    numbers : ndarray of int32, (rows,)
        Where a model has no solution: the ``row`` of a `SingularError`; else -1.
    ends : ndarray, (rows,)
        The times that were reached.
    counts : ndarray of uint64, (rows, 3)
        Evaluations, accepted steps, rejected ones.
    """

    cdef Model model
    cdef kc_system system
    cdef kc_plan plan
    cdef Inputs inputs
    cdef object x, constants, times, tolerance, out
    cdef readonly object codes, numbers, ends, counts

    cdef int read(self, x, inputs, constants, times, out, atol) except -1:
        n = len(x)
        self.x, self.inputs, self.constants, self.times = x, inputs, constants, times
        self.tolerance, self.out = atol, out
        self.codes, self.numbers = np.zeros(n, dtype=np.uint8), np.full(n, -1, dtype=np.int32)
        self.ends, self.counts = np.full(n, self.plan.t0), np.zeros((n, 3), dtype=np.uint64)
        return 0

    cdef int run_part(self, Py_ssize_t first, Py_ssize_t end) except -1:
        """Some of the rows."""
        cdef Model m = self.model
        cdef Py_ssize_t n_work, i
        cdef Py_ssize_t one_set = 0 if len(self.constants) == 1 else m.n_prepared
        cdef Py_ssize_t n_row = self.inputs.n_row
        cdef Py_ssize_t n_times = len(self.times)
        cdef double *x = data(self.x)
        cdef double *c = data(self.constants)
        cdef double *out = data(self.out)
        cdef unsigned char *codes = <unsigned char *>cnp.PyArray_DATA(self.codes)
        cdef int32_t *numbers = <int32_t *>cnp.PyArray_DATA(self.numbers)
        cdef uint64_t *counts = <uint64_t *>cnp.PyArray_DATA(self.counts)
        cdef double *ends = data(self.ends)
        cdef double *memory
        cdef kc_signal signal
        cdef kc_system system = self.system
        cdef kc_plan plan = self.plan
        cdef kc_stats stats
        cdef Record record
        memset(&record, 0, sizeof(record))
        cdef InputFunction caller = self.inputs.fill(&signal, first)
        system.signal = &signal
        system.interrupted, system.context = told_to_end, &record
        plan.accept, plan.context, plan.interpolate_from = record_step, &record, &record.interpolate_from
        record.n_x, record.direction, record.n_times = m.n_x, 1.0 if plan.t1 >= plan.t0 else -1.0, n_times
        record.times = data(self.times)
        n_work = kc_ode_work(&system, plan.method)
        memory = allocate(m.n_x + 2 * n_work)
        record.work = memory + m.n_x + n_work
        try:
            with nogil:
                for i in range(first, end):
                    system.c = c + i * one_set
                    record.states, record.status = out + i * n_times * m.n_x, KC_OK
                    memcpy(memory, x + i * m.n_x, m.n_x * sizeof(double))
                    sample_start(&record, plan.t0, memory)
                    choose_interpolants(&record)
                    codes[i] = kc_integrate(&system, &plan, memory, memory + m.n_x, &stats)
                    if record.status != KC_OK:      # no state on the constraints at a time that was asked for
                        codes[i], stats.number = record.status, <uint32_t>record.work[1]
                    numbers[i], ends[i] = <int32_t>stats.number, stats.t
                    counts[3 * i], counts[3 * i + 1], counts[3 * i + 2] = stats.evaluations, stats.accepted, stats.rejected
                    fill_nan(record.states + record.reached * m.n_x, (n_times - record.reached) * m.n_x)
                    if record.interruption != NULL or self.stop or codes[i] == KC_STOPPED:
                        break
                    signal.coefficients += n_row
        finally:
            PyMem_Free(memory)
        if record.interruption != NULL:
            raise taken_exception(&record.interruption)
        if caller.error is not None:
            raise caller.error
        return 0


cdef void fill_nan(double *to, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] = NAN


def integrate_rows(Model model, str method, double t0, double t1, x, Inputs inputs not None, *, double rtol, atol,
                   double step, double max_step, uint64_t max_steps, constants, times, out, bint project, baumgarte,
                   threads):
    """The states of many runs at the same times, ``out`` (rows, len(times), n_x); NaN behind the end of one that fails.

    Parameters
    ----------
    x : ndarray, (rows, n_x)
    constants : ndarray, (rows or 1, n_prepared)
    others
        As of `integrate`.

    Returns
    -------
    RowsRun
    """
    cdef RowsRun run = RowsRun.__new__(RowsRun)
    cdef const kc_method *chosen = kc_find_method(method.encode())
    run.model = model
    run.plan.method, run.plan.t0, run.plan.t1, run.plan.step = chosen, t0, t1, step
    run.plan.rtol, run.plan.max_step, run.plan.max_steps, run.plan.atol = rtol, max_step, max_steps, data(atol)
    fill_system(model, &run.system, project)
    fill_equations(model, &run.system, chosen, baumgarte)
    run.read(x, inputs, constants, times, out, atol)
    n, n_threads = len(x), thread_count(threads)
    n_parts = max(1, min(n, n_threads * PARTS_OF_RUNS)) if n_threads > 1 else 1
    bounds = [n * i // n_parts for i in range(n_parts + 1)]
    run.run_parts(bounds, n_threads)
    for i in np.flatnonzero((run.codes != KC_OK) & (run.codes != KC_NONFINITE)).tolist():
        run.numbers[i] = row_of(model, run.codes[i], run.numbers[i])
    return run
