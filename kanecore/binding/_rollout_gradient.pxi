# SPDX-License-Identifier: BSD-3-Clause
# Gradients of costs over rollouts, in lanes and threads; included by _motion.pyx.  The steps are kc_rollout_gradient.h's.

cdef extern from "rollout/kc_rollout_gradient.h" nogil:
    ctypedef struct kc_pair_of_kernels:
        kc_kernel *one
        kc_lane_kernel *in_lanes
    ctypedef struct kc_rollout_gradient:
        kc_pair_of_kernels rhs, qdot, gradient
        kc_kernel *project_gradient
        uint32_t n_q, n_u, n_z, n_r, n_p, n_solution, n_work, n_unit
        const uint32_t *unit
        const kc_lanes *lanes
        uint32_t n_prepared, n_lane_work
        int single
        int semi_implicit
        double t0, dt
        uint64_t steps
        const void *states
        const void *weights
        const char *r
        const char *c
        const int64_t *r_at
        const int64_t *c_at
        int64_t r_step
        void *by_start
        void *by_inputs
        void *by_parameters
        int (*interrupted)(void *context) noexcept
        void *context

    size_t kc_roll_back_work(const kc_rollout_gradient *plan)
    void kc_roll_back(const kc_rollout_gradient *plan, size_t first, size_t end, void *work)

cdef struct RolloutGradientCall:
    kc_rollout_gradient plan
    PartsOfRows parts


cdef void roll_part_back(void *work, int thread, int part) noexcept nogil:
    """Propagate the gradients of a part's rows back to their starts."""
    cdef RolloutGradientCall *call = <RolloutGradientCall *>work
    cdef kc_rollout_gradient plan = call.plan
    if told_to_end(plan.context):
        return
    plan.interrupted = asked_to_end if thread == 0 else told_to_end
    kc_roll_back(&plan, first_row(&call.parts, part), first_row(&call.parts, part + 1), memory_of(&call.parts, thread))


@cython.final
cdef class RolloutGradient:
    """Rows of a rollout, with gradients found from the last step to the first.

    Attributes
    ----------
    by_start, by_inputs : ndarray, (..., n_x), (..., steps, n_r)
    by_parameters : ndarray, (..., n_p), or None
    """

    cdef Model model
    cdef kc_rollout_gradient plan
    cdef list owners                    # owners of all memory in the plan
    cdef Py_ssize_t n_rows
    cdef readonly object by_start, by_inputs, by_parameters

    def __init__(self, Model model not None, str method, double t0, double dt, uint64_t steps, tuple shape, states, weights,
                 r, c, bint parameters):
        """Operands as for `roll_back`."""
        cdef kc_rollout_gradient *plan = &self.plan
        memset(plan, 0, sizeof(kc_rollout_gradient))
        self.model, self.n_rows = model, 1
        for length in shape:
            self.n_rows *= length
        self.by_start = np.zeros((*shape, model.n_x), dtype=model.dtype)
        self.by_inputs = np.zeros((*shape, steps, model.n_r), dtype=model.dtype)
        self.by_parameters = np.zeros((*shape, model.n_p), dtype=model.dtype) if parameters else None
        places = [row_offsets(r, shape, 2), row_offsets(c, shape, 1)]
        self.owners = [states, weights, r, c, *places]
        plan.semi_implicit, plan.t0, plan.dt, plan.steps = method == "euler", t0, dt, steps
        plan.states, plan.weights = data(states), data(weights)
        plan.r, plan.c, plan.r_at = <char *>data(r), <char *>data(c), <int64_t *>data(places[0])
        plan.c_at = <int64_t *>data(places[1]) if c.ndim > 1 and places[1].any() else NULL
        plan.r_step = r.strides[r.ndim - 2] if r.shape[r.ndim - 2] > 1 else 0
        plan.by_start, plan.by_inputs = data(self.by_start), data(self.by_inputs)
        if parameters:
            plan.by_parameters = data(self.by_parameters)
        self.take_kernels(steps, parameters and model.n_p > 0)

    cdef int take_kernels(self, uint64_t steps, bint parameters) except -1:
        cdef Model m = self.model
        cdef kc_rollout_gradient *plan = &self.plan
        cdef bint in_lanes = self.n_rows > 1
        cdef int k, gradient = K_RHS_PARAMETER_GRADIENT if parameters else K_RHS_GRADIENT
        for k in (K_RHS, K_QDOT, gradient):
            m.kernel(k)
            if self.n_rows > 1 and self.n_rows >= m.rows_for_lanes // <Py_ssize_t>min(steps, <uint64_t>m.rows_for_lanes):
                m.open_lanes(k)
            in_lanes = in_lanes and m.lane_kernels[k] != NULL
        plan.rhs.one, plan.qdot.one, plan.gradient.one = m.kernels[K_RHS], m.kernels[K_QDOT], m.kernels[gradient]
        if m.n_configuration + m.n_velocity:
            plan.project_gradient = m.kernel(K_PROJECT_GRADIENT)
        plan.n_q, plan.n_u, plan.n_z = <uint32_t>m.n_q, <uint32_t>m.n_u, <uint32_t>m.n_z
        plan.n_r, plan.n_p, plan.single = <uint32_t>m.n_r, <uint32_t>m.n_p, m.single
        plan.n_solution, plan.n_unit, plan.unit = <uint32_t>(m.n_u + m.n_constraints), m.table.n_unit, m.table.unit
        plan.n_prepared, plan.n_work = <uint32_t>m.n_prepared, <uint32_t>m.n_work
        if in_lanes:
            plan.lanes, plan.n_lane_work = m.lanes, <uint32_t>m.n_lane_work
            plan.rhs.in_lanes, plan.qdot.in_lanes = m.lane_kernels[K_RHS], m.lane_kernels[K_QDOT]
            plan.gradient.in_lanes = m.lane_kernels[gradient]
        return 0

    cdef int run(self, int threads) except -1:
        """All rows, shared among threads."""
        cdef RolloutGradientCall call
        cdef Ending ending
        cdef Py_ssize_t enough = 8 * self.n_rows * <Py_ssize_t>self.plan.steps // ROWS_OF_A_PART
        cdef int n_threads = split(&call.parts, self.n_rows, self.plan.lanes, enough, threads)
        ending.told, ending.error = False, NULL
        call.plan = self.plan
        call.plan.context = &ending
        bring_memory(&call.parts, kc_roll_back_work(&call.plan), n_threads)
        try:
            share_parts(roll_part_back, &call, <int>call.parts.n_parts, n_threads, &ending)
        finally:
            PyMem_Free(call.parts.memory)
        return 0


def roll_back(Model model, str method, double t0, double dt, uint64_t steps, tuple shape, states, weights, r, c,
              bint parameters, threads=None):
    """Gradients of costs over rollouts, from the gradients by the states.

    Parameters
    ----------
    states, weights : ndarray, shape + (steps + 1, n_x)
        The result of `roll_out`, and the gradient of the cost by it; contiguous.
    parameters : bool
        Whether gradients by parameters are requested.

    Returns
    -------
    RolloutGradient
    """
    run = RolloutGradient(model, method, t0, dt, steps, shape, states, weights, r, c, parameters)
    run.run(1 if threads is None else thread_count(threads))
    return run
