# SPDX-License-Identifier: BSD-3-Clause
# Fixed steps of many rows at once, in lanes and threads; included by _motion.pyx. kc_rollout.h takes the steps.

cdef extern from "rollout/kc_rollout.h" nogil:
    ctypedef struct kc_rollout:
        kc_kernel *rhs
        kc_kernel *qdot
        kc_kernel *project
        uint32_t n_q, n_u, n_z, n_r, n_work, n_unit
        const uint32_t *unit
        int single
        const kc_lanes *lanes
        kc_lane_kernel *rhs_of_lanes
        kc_lane_kernel *qdot_of_lanes
        uint32_t n_prepared, n_lane_work, n_blocks
        int semi_implicit
        double t0, dt
        uint64_t steps
        const char *x0
        const char *r
        const char *c
        const int64_t *x0_at
        const int64_t *r_at
        const int64_t *c_at
        int64_t r_step
        char *out
        unsigned char *code
        int32_t *number
        int64_t *last
        int (*interrupted)(void *context) noexcept
        void *context

    size_t kc_rollout_work(const kc_rollout *plan)
    void kc_roll_out(const kc_rollout *plan, size_t first, size_t end, void *work)

cdef enum:
    BLOCKS_OF_A_ROLLOUT = 3     # at most; with more the states between steps exceed the first cache

FIXED_STEP_METHODS = ("rk4", "euler")
"""Methods of rollouts, with the same names as in simulations."""

cdef struct PartsOfRows:    # rows in groups that start together, distributed over threads
    Py_ssize_t n_rows, n_groups, rows_of_a_group, n_parts
    char *memory
    size_t bytes_of_a_thread


cdef int split(PartsOfRows *parts, Py_ssize_t n_rows, const kc_lanes *lanes, Py_ssize_t most, int threads) noexcept:
    """Set parts of whole lanes, at most ``most``; return the number of threads that they can use."""
    parts.n_rows, parts.rows_of_a_group = n_rows, 1 if lanes == NULL else lanes.n_lanes
    parts.n_groups = (n_rows + parts.rows_of_a_group - 1) // parts.rows_of_a_group
    parts.n_parts = 1 if threads == 1 else max(1, min(threads * PARTS_OF_A_THREAD, parts.n_groups, most))
    return min(threads, parts.n_parts)


cdef int bring_memory(PartsOfRows *parts, size_t n_bytes, int n_threads) except -1:
    """Memory of the given bytes for each thread, in whole cache lines."""
    parts.bytes_of_a_thread = (n_bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    parts.memory = <char *>PyMem_Malloc(n_threads * parts.bytes_of_a_thread + ALIGNMENT)
    if parts.memory == NULL:
        raise MemoryError
    return 0


cdef inline Py_ssize_t first_row(const PartsOfRows *parts, Py_ssize_t part) noexcept nogil:
    """The row that a part begins with."""
    return min(parts.n_rows, parts.n_groups * part // parts.n_parts * parts.rows_of_a_group)


cdef inline void *memory_of(const PartsOfRows *parts, int thread) noexcept nogil:
    cdef uintptr_t begin = (<uintptr_t>parts.memory + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return <char *>begin + thread * parts.bytes_of_a_thread


cdef struct RolloutCall:
    kc_rollout plan
    PartsOfRows parts


cdef void roll_part(void *work, int thread, int part) noexcept nogil:
    """Advance the rows of a part."""
    cdef RolloutCall *call = <RolloutCall *>work
    cdef kc_rollout plan = call.plan
    if told_to_end(plan.context):
        return
    plan.interrupted = asked_to_end if thread == 0 else told_to_end
    kc_roll_out(&plan, first_row(&call.parts, part), first_row(&call.parts, part + 1), memory_of(&call.parts, thread))


cdef object row_offsets(object array, tuple shape, int n_own):
    """Offset in bytes of each row's operand from the first row's; the last ``n_own`` axes are a row's own."""
    offsets = np.zeros((), dtype=np.int64)
    for length, stride in zip(array.shape[:array.ndim - n_own], array.strides):
        offsets = offsets[..., np.newaxis] + np.arange(length, dtype=np.int64) * stride
    return np.ascontiguousarray(np.broadcast_to(offsets, shape)).reshape(-1)


@cython.final
cdef class Rollout:
    """Rows that advance by fixed steps: operands and outcomes.

    Attributes
    ----------
    codes : ndarray of uint8, (rows,)
        A kc_status each.
    numbers : ndarray of int32, (rows,)
        Where a model has no solution: the ``row`` of a `SingularError`; else -1.
    last : ndarray of int64, (rows,)
        Number of steps to the last good state; -1 if the start is not good.
    """

    cdef Model model
    cdef kc_rollout plan
    cdef list owners                    # owners of all memory in the plan
    cdef Py_ssize_t n_rows
    cdef readonly object codes, numbers, last

    def __init__(self, Model model not None, str method, double t0, double dt, uint64_t steps, tuple shape, x0, r, c, out):
        """Operands as for `roll_out`."""
        cdef kc_rollout *plan = &self.plan
        memset(plan, 0, sizeof(kc_rollout))
        self.model, self.n_rows = model, 1
        for length in shape:
            self.n_rows *= length
        self.codes, self.numbers = np.zeros(self.n_rows, dtype=np.uint8), np.full(self.n_rows, -1, dtype=np.int32)
        self.last = np.zeros(self.n_rows, dtype=np.int64)
        places = [row_offsets(x0, shape, 1), row_offsets(r, shape, 2), row_offsets(c, shape, 1)]
        self.owners = [x0, r, c, out, *places]
        plan.semi_implicit, plan.t0, plan.dt, plan.steps = method == "euler", t0, dt, steps
        plan.x0, plan.r, plan.c = <char *>data(x0), <char *>data(r), <char *>data(c)
        plan.x0_at, plan.r_at = <int64_t *>data(places[0]), <int64_t *>data(places[1])
        plan.c_at = <int64_t *>data(places[2]) if c.ndim > 1 and places[2].any() else NULL
        plan.r_step = r.strides[r.ndim - 2] if r.shape[r.ndim - 2] > 1 else 0
        plan.out, plan.code = <char *>data(out), <unsigned char *>data(self.codes)
        plan.number, plan.last = <int32_t *>data(self.numbers), <int64_t *>data(self.last)
        self.take_kernels(steps)

    cdef int take_kernels(self, uint64_t steps) except -1:
        cdef Model m = self.model
        cdef kc_rollout *plan = &self.plan
        plan.rhs = m.kernel(K_RHS)
        if plan.semi_implicit:
            plan.qdot = m.kernel(K_QDOT)
        if m.n_configuration + m.n_velocity > 0:
            plan.project = m.kernel(K_PROJECT)
        plan.n_q, plan.n_u, plan.n_z = <uint32_t>m.n_q, <uint32_t>m.n_u, <uint32_t>m.n_z
        plan.n_r, plan.single = <uint32_t>m.n_r, m.single
        plan.n_unit, plan.unit = m.table.n_unit, m.table.unit
        plan.n_prepared, plan.n_work, plan.n_blocks = <uint32_t>m.n_prepared, <uint32_t>m.n_work, 1
        if self.n_rows > 1 and self.n_rows >= m.rows_for_lanes // <Py_ssize_t>min(steps, <uint64_t>m.rows_for_lanes):
            m.open_lanes(K_RHS)
        if self.n_rows > 1 and m.lane_kernels[K_RHS] != NULL and (not plan.semi_implicit or m.lane_kernels[K_QDOT] != NULL):
            plan.lanes, plan.rhs_of_lanes, plan.qdot_of_lanes = m.lanes, m.lane_kernels[K_RHS], m.lane_kernels[K_QDOT]
            plan.n_lane_work = <uint32_t>m.n_lane_work
            if plan.c_at == NULL:
                plan.n_blocks = <uint32_t>min(blocks_of(m, K_RHS), BLOCKS_OF_A_ROLLOUT)
        return 0

    cdef int run(self, int threads) except -1:
        """All rows, shared among threads."""
        cdef RolloutCall call
        cdef Ending ending
        cdef Py_ssize_t enough = self.n_rows * <Py_ssize_t>self.plan.steps // ROWS_OF_A_PART
        cdef int n_threads = split(&call.parts, self.n_rows, self.plan.lanes, enough, threads)
        ending.told, ending.error = False, NULL
        call.plan = self.plan
        call.plan.context = &ending
        bring_memory(&call.parts, kc_rollout_work(&call.plan), n_threads)
        try:
            share_parts(roll_part, &call, <int>call.parts.n_parts, n_threads, &ending)
        finally:
            PyMem_Free(call.parts.memory)
        self.number_rows()
        return 0

    cdef int number_rows(self) except -1:
        """Convert the places of kernels' failures to the ``row`` of a `SingularError`."""
        for i in np.flatnonzero((self.codes != KC_OK) & (self.codes != KC_NONFINITE)).tolist():
            self.numbers[i] = row_of(self.model, self.codes[i], self.numbers[i])
        return 0


def roll_out(Model model, str method, double t0, double dt, uint64_t steps, tuple shape, x0, r, c, out, threads=None):
    """Fixed steps from t0, t0 + dt, ... of rows with leading axes ``shape``.

    Parameters
    ----------
    method : str
        One of `FIXED_STEP_METHODS`.
    x0, r, c : ndarray, (..., n_x), (..., steps or 1, n_r), (..., n_prepared)
        Initial states, inputs that are constant over each step, prepared constants, in the model's type, contiguous
        along their last axes; leading axes broadcast to ``shape``.
    out : ndarray, shape + (steps + 1, n_x)
        The states; a row that fails is NaN from there on.
    threads : int, optional
        As for the kernels.

    Returns
    -------
    Rollout
    """
    run = Rollout(model, method, t0, dt, steps, shape, x0, r, c, out)
    run.run(1 if threads is None else thread_count(threads))
    return run


def parameters_of_rows(Model model, parameters):
    """Parameters (..., n_p), with the constants of each row; parameters that `rhs` does not read may be missing."""
    p = model.names.rows("parameter", parameters, "parameters", K_RHS)
    return p, model.prepared_rows(p)


def result_for(Model model, out, tuple shape, operands):
    """``out`` if C may write a result of this shape into it while it reads operands, by name; for None a new array."""
    if out is None:
        return np.empty(shape, dtype=model.dtype)
    check_out(out, shape, [], model.dtype)
    for name, operand in operands.items():
        if np.may_share_memory(out, operand):
            raise ValueError(f"out may not overlap {name}")
    return out


def one_step(Model model, bint semi_implicit, t, x, double dt, r, p):
    """x(t + dt), or None if arguments must first be read, checked or explained, as by `roll_out`.

    For loops in Python: without constraints and unit quaternions a step takes little more than its evaluations.
    """
    cdef Arguments at
    cdef kc_rollout plan
    cdef Ending ending
    cdef int64_t nothing = 0, last = 0
    cdef int32_t number = -1
    cdef unsigned char code = 0
    cdef char *memory
    cdef double *states
    if (model.single or model.n_configuration + model.n_velocity or model.table.n_unit or not dt
            or model.kernels[K_RHS] == NULL or (semi_implicit and model.kernels[K_QDOT] == NULL)
            or not takes_plain(model, K_RHS, t, x, r, p, &at) or not isfinite(at.t + dt)
            or abs(dt) < kc_smallest_step(at.t, at.t + dt)):
        return None
    memset(&plan, 0, sizeof(plan))
    plan.semi_implicit, plan.t0, plan.dt, plan.steps = semi_implicit, at.t, dt, 1
    plan.rhs, plan.qdot = model.kernels[K_RHS], model.kernels[K_QDOT]
    plan.n_q, plan.n_u, plan.n_z = <uint32_t>model.n_q, <uint32_t>model.n_u, <uint32_t>model.n_z
    plan.n_r = <uint32_t>model.n_r
    plan.n_prepared, plan.n_work, plan.n_blocks = <uint32_t>model.n_prepared, <uint32_t>model.n_work, 1
    plan.x0, plan.r, plan.c = <char *>at.x, <char *>at.r, <char *>at.c
    plan.x0_at = plan.r_at = &nothing
    plan.code, plan.number, plan.last = &code, &number, &last
    ending.told, ending.error = False, NULL
    plan.interrupted, plan.context = asked_to_end, &ending
    result = new_vector(model.n_x)
    memory = <char *>PyMem_Malloc(kc_rollout_work(&plan) + ALIGNMENT + 2 * model.n_x * sizeof(double))
    if memory == NULL:
        raise MemoryError
    states = <double *>memory
    plan.out = memory
    kc_roll_out(&plan, 0, 1, <char *>((<uintptr_t>(states + 2 * model.n_x) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT))
    memcpy(data(result), states + model.n_x, model.n_x * sizeof(double))
    PyMem_Free(memory)
    if ending.error != NULL:
        raise taken_exception(&ending.error)
    return result if code == 0 else None
