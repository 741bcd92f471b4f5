# SPDX-License-Identifier: BSD-3-Clause
# Integration of many starts, row by row, in threads; included by _motion.pyx.  Each row is a run of kc_ode.h.

cdef enum:
    PARTS_OF_RUNS = 16      # of a thread: runs have different durations

cdef struct RowsCall:       # data common to the threads of a call
    kc_system system
    kc_plan plan
    Ending *ending
    Py_ssize_t n_rows, n_parts, n_x, n_work, n_times
    Py_ssize_t n_row, one_set           # numbers to the coefficients, and to the constants, of the next row
    Py_ssize_t next_span, next_times    # the same to the start and end, and to the times
    bint in_python                      # whether Python gives the inputs
    const double *starts                # of the runs, and their ends
    const double *stops
    const double *times
    const double *x
    const double *c
    double *out
    unsigned char *codes
    int32_t *numbers
    uint64_t *counts
    double *ends
    kc_signal *signals                  # of each thread
    double *memory                      # of each thread: n_numbers
    Py_ssize_t n_numbers


cdef void integrate_part(void *work, int thread, int part) noexcept nogil:
    """Integrate the rows of a part."""
    cdef RowsCall *call = <RowsCall *>work
    if call.ending.told:
        return
    if thread and call.in_python:   # a thread keeps its state in the Python interpreter from here on, for all calls
        with gil:
            with nogil:
                integrate_some(call, thread, part)
    else:
        integrate_some(call, thread, part)


cdef void integrate_some(RowsCall *call, int thread, Py_ssize_t part) noexcept nogil:
    """Integrate the rows one after the other, in the memory of the thread."""
    cdef Py_ssize_t i, n_x = call.n_x, first = call.n_rows * part // call.n_parts
    cdef double *memory = call.memory + thread * call.n_numbers
    cdef kc_signal signal = call.signals[thread]
    cdef kc_system system = call.system
    cdef kc_plan plan = call.plan
    cdef Record record
    memset(&record, 0, sizeof(record))
    system.signal = &signal
    system.interrupted = asked_to_end if thread == 0 else told_to_end
    plan.accept, plan.context, plan.interpolate_from = record_step, &record, &record.interpolate_from
    record.n_x, record.n_times, record.work = n_x, call.n_times, memory + n_x + call.n_work
    for i in range(first, call.n_rows * (part + 1) // call.n_parts):
        system.c = call.c + i * call.one_set
        if signal.coefficients != NULL:
            signal.coefficients = call.signals[thread].coefficients + i * call.n_row
        memcpy(memory, call.x + i * n_x, n_x * sizeof(double))
        integrate_row(call, i, &system, &plan, memory, &record)
        if record.interruption != NULL or call.codes[i] == KC_STOPPED:
            call.ending.told = True
        if call.ending.told:
            break
    if record.interruption != NULL and call.ending.error == NULL:   # of the main thread, the caller
        call.ending.error = record.interruption


cdef void integrate_row(RowsCall *call, Py_ssize_t i, kc_system *system, kc_plan *plan, double *x,
                        Record *record) noexcept nogil:
    cdef kc_stats stats
    plan.t0, plan.t1 = call.starts[i * call.next_span], call.stops[i * call.next_span]
    record.direction = 1.0 if plan.t1 >= plan.t0 else -1.0
    record.times = call.times + i * call.next_times
    record.states, record.status = call.out + i * call.n_times * call.n_x, KC_OK
    sample_start(record, plan.t0, x)
    choose_interpolants(record)
    call.codes[i] = kc_integrate(system, plan, x, x + call.n_x, &stats)
    if record.status != KC_OK:      # no state on the constraints at a requested time
        call.codes[i], stats.number = record.status, <uint32_t>record.work[1]
    call.numbers[i], call.ends[i] = <int32_t>stats.number, stats.t
    call.counts[3 * i], call.counts[3 * i + 1], call.counts[3 * i + 2] = stats.evaluations, stats.accepted, stats.rejected
    fill_nan(record.states + record.reached * call.n_x, (call.n_times - record.reached) * call.n_x)


cdef class RowsRun:
    """Result of `integrate_rows`.

    Attributes
    ----------
    codes : ndarray of uint8, (rows,)
        A kc_status each.
    numbers : ndarray of int32, (rows,)
        The ``row`` of a `SingularError` if a model has no solution; else -1.
    ends : ndarray, (rows,)
        The last times of the runs.
    counts : ndarray of uint64, (rows, 3)
        Evaluations, accepted steps, rejected ones.
    """

    cdef Model model
    cdef kc_system system
    cdef kc_plan plan
    cdef Inputs inputs
    cdef object x, constants, t0, t1, times, tolerance, out
    cdef readonly object codes, numbers, ends, counts

    cdef int read(self, x, inputs, constants, t0, t1, times, out, atol) except -1:
        n = len(x)
        self.x, self.inputs, self.constants, self.t0, self.t1, self.times = x, inputs, constants, t0, t1, times
        self.tolerance, self.out = atol, out
        self.codes, self.numbers = np.zeros(n, dtype=np.uint8), np.full(n, -1, dtype=np.int32)
        self.ends, self.counts = np.broadcast_to(t0, n).copy(), np.zeros((n, 3), dtype=np.uint64)
        return 0

    cdef int run(self, int threads) except -1:
        """All rows, shared among threads."""
        cdef RowsCall call
        cdef Ending ending
        cdef Py_ssize_t n = len(self.x)
        cdef Py_ssize_t n_parts = max(1, min(n, threads * PARTS_OF_RUNS)) if threads > 1 else 1
        cdef int n_threads = min(threads, n_parts), thread
        ending.told, ending.error = False, NULL
        call.n_rows, call.n_parts, call.memory = n, n_parts, NULL
        call.signals = <kc_signal *>allocate(n_threads * sizeof(kc_signal) // sizeof(double))
        try:
            callers = [self.inputs.fill(call.signals + thread, 0) for thread in range(n_threads)]
            self.fill(&call, &ending)
            call.memory = allocate(n_threads * call.n_numbers)
            share_parts(integrate_part, &call, <int>n_parts, n_threads, &ending)
        finally:
            PyMem_Free(call.signals)
            PyMem_Free(call.memory)
        for caller in callers:
            if (<InputFunction>caller).error is not None:
                raise (<InputFunction>caller).error
        return 0

    cdef int fill(self, RowsCall *call, Ending *ending) except -1:
        """Fill in the data common to all rows."""
        cdef Model m = self.model
        call.system, call.plan, call.ending = self.system, self.plan, ending
        call.system.context, call.system.signal = ending, call.signals
        call.n_x, call.n_work = m.n_x, kc_ode_work(&call.system, call.plan.method)
        call.n_numbers = call.n_x + 2 * call.n_work
        call.n_times, call.times = self.times.shape[1], data(self.times)
        call.starts, call.stops = data(self.t0), data(self.t1)
        call.next_span, call.next_times = len(self.t0) > 1, call.n_times if len(self.times) > 1 else 0
        call.x, call.c, call.out = data(self.x), data(self.constants), data(self.out)
        call.n_row, call.one_set = self.inputs.n_row, 0 if len(self.constants) == 1 else m.n_prepared
        call.in_python = self.inputs.function is not None and self.inputs.in_c == NULL
        call.codes = <unsigned char *>cnp.PyArray_DATA(self.codes)
        call.numbers = <int32_t *>cnp.PyArray_DATA(self.numbers)
        call.counts, call.ends = <uint64_t *>cnp.PyArray_DATA(self.counts), data(self.ends)
        return 0


cdef void fill_nan(double *to, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] = NAN


def integrate_rows(Model model, str method, t0, t1, x, Inputs inputs not None, *, double rtol, atol,
                   double step, double max_step, uint64_t max_steps, constants, times, out, bint project, baumgarte,
                   threads):
    """The states of several runs at chosen times, ``out`` (rows, n_times, n_x); NaN after the end of a failed run.

    Parameters
    ----------
    t0, t1 : ndarray, (rows or 1,)
    times : ndarray, (rows or 1, n_times)
    x : ndarray, (rows, n_x)
    constants : ndarray, (rows or 1, n_prepared)
    others
        As for `integrate`.

    Returns
    -------
    RowsRun
    """
    cdef RowsRun run = RowsRun.__new__(RowsRun)
    cdef const kc_method *chosen = kc_find_method(method.encode())
    run.model = model
    run.plan.method, run.plan.step = chosen, step
    run.plan.rtol, run.plan.max_step, run.plan.max_steps, run.plan.atol = rtol, max_step, max_steps, data(atol)
    fill_system(model, &run.system, project)
    fill_equations(model, &run.system, chosen, baumgarte)
    run.read(x, inputs, constants, t0, t1, times, out, atol)
    run.run(thread_count(threads))
    for i in np.flatnonzero((run.codes != KC_OK) & (run.codes != KC_NONFINITE)).tolist():
        run.numbers[i] = row_of(model, run.codes[i], run.numbers[i])
    return run
