# SPDX-License-Identifier: BSD-3-Clause
# Integration of a Model in time; included by _motion.pyx.  This file records steps; kc_ode.h has the mathematics.

from time import monotonic

from kanecore.statuses import BY_NUMBER

from kanecore cimport KC_OK
from kanecore._ode cimport (
    KC_PATIENCE, KC_SWITCHES, kc_find_method, kc_integrate, kc_interpolate, kc_is_adaptive, kc_method, kc_methods, kc_n_dense,
    kc_ode_work, kc_plan, kc_smallest_step, kc_stats, kc_step, kc_system,
)

cdef dict table_of_methods():
    cdef dict methods = {}
    cdef int i = 0
    while kc_methods[i] != NULL:
        methods[kc_methods[i].name.decode()] = bool(kc_is_adaptive(kc_methods[i]))
        i += 1
    return methods


METHODS = table_of_methods()
"""Methods of `integrate`, and whether each is adaptive."""

cdef struct Record:
    size_t n_x
    # the steps
    bint keeps                  # whether they are kept
    bint drops                  # whether too many steps are dropped; else they end the run
    size_t n_steps              # number of kept steps
    size_t room                 # number of steps with memory
    size_t limit                # largest number of kept steps
    size_t n_dense              # coefficients of an interpolant for each component; 0: none is kept
    double *t                   # the start, and the ends of the steps
    double *x                   # states there
    double *dense               # interpolants
    # the states at chosen times so far
    const double *times
    double *states
    size_t n_times, reached
    double direction
    double interpolate_from     # as in kc_plan
    double *work                # of kc_interpolate
    int status                  # its latest result
    # receives the progress of the run, or NULL: a Reporter, borrowed
    double now
    PyObject *reporter
    # why it stopped the run, if it did
    bint full, no_memory
    PyObject *interruption      # owned


cdef int enlarge(Record *record) noexcept nogil:
    """Double the memory, up to the limit; return 1 if there is none."""
    cdef size_t room = 2 * record.room if record.room else 64, n = record.n_x
    if room > record.limit:
        room = record.limit
    cdef void *t = realloc(record.t, (room + 1) * sizeof(double))
    if t != NULL:
        record.t = <double *>t
    cdef void *x = realloc(record.x, (room + 1) * n * sizeof(double))
    if x != NULL:
        record.x = <double *>x
    cdef void *dense = record.t
    if record.n_dense:
        dense = realloc(record.dense, room * record.n_dense * n * sizeof(double))
        if dense != NULL:
            record.dense = <double *>dense
    if t == NULL or x == NULL or dense == NULL:
        record.no_memory = True
        return 1
    record.room = room
    return 0


cdef void forget(Record *record) noexcept nogil:
    """Free the steps of a record, and keep no further ones."""
    free(record.t)
    free(record.x)
    free(record.dense)
    record.t = record.x = record.dense = NULL
    record.keeps, record.n_steps, record.room = False, 0, 0


cdef int keep(const kc_step *step, Record *record) noexcept nogil:
    """Add a step to the record; 1 if there is no room for it."""
    cdef size_t n = record.n_x, i = record.n_steps
    if i == record.limit:
        record.full = not record.drops
        if record.drops:
            forget(record)
        return record.full
    if i == record.room and enlarge(record):
        return 1
    record.t[i + 1] = step.end
    memcpy(record.x + (i + 1) * n, step.x1, n * sizeof(double))
    if record.n_dense:
        memcpy(record.dense + i * record.n_dense * n, step.dense, record.n_dense * n * sizeof(double))
    record.n_steps += 1
    return 0


cdef inline double place_in(const kc_step *step, double t) noexcept nogil:
    """The place of t in a step, 0 to 1; the end for a change of the state, which takes no time."""
    return (t - step.t) / step.h if step.h != 0.0 else 1.0


cdef void sample_start(Record *record, double t0, const double *x) noexcept nogil:
    """Record the start if it is the first of the chosen times."""
    record.reached = 1 if record.n_times and record.times[0] == t0 else 0
    memcpy(record.states, x, record.reached * record.n_x * sizeof(double))


cdef int sample(const kc_step *step, Record *record) noexcept nogil:
    """Record the states at the chosen times in a step; return 1 if one cannot be computed, or after the last one."""
    cdef size_t n = record.n_x
    cdef double t
    cdef double *x
    while record.reached < record.n_times:
        t, x = record.times[record.reached], record.states + record.reached * n
        if (t - step.end) * record.direction > 0.0:
            return 0
        if t == step.end:       # known exactly
            memcpy(x, step.x1, n * sizeof(double))
        else:
            record.status = kc_interpolate(step, place_in(step, t), x, record.work)
            if record.status != KC_OK:
                return 1
        record.reached += 1
        if record.reached % KC_PATIENCE == 0 and interrupted(&record.interruption):
            return 1
    return 0


cdef void choose_interpolants(Record *record) noexcept nogil:
    """Choose the next steps that need an interpolant: all, those with a chosen time, or none."""
    if record.keeps and record.n_dense:
        record.interpolate_from = -INFINITY * record.direction
    elif record.reached < record.n_times:
        record.interpolate_from = record.times[record.reached]
    else:
        record.interpolate_from = INFINITY * record.direction


cdef int record_step(const kc_step *step, void *context) noexcept nogil:
    """Record an accepted step."""
    cdef Record *record = <Record *>context
    record.now = step.end
    if (record.keeps and keep(step, record)) or sample(step, record):
        return 1
    choose_interpolants(record)
    return 0


cdef object adopted(double **block, tuple shape):
    """An array that takes over memory of the record."""
    cdef Memory memory = Memory.__new__(Memory)
    memory.values, block[0] = block[0], NULL
    return array_over(memory, shape, False)


@cython.final
cdef class Run:
    """Result of `integrate`.

    Attributes
    ----------
    status : str
        The word of a row of `kanecore.statuses`; "full": more steps than may be kept; or "event": an event ended it.
    error : BaseException or None
        The error that ended the run: from the input function, from Ctrl-C, from lack of memory, or because a state at a
        chosen time could not be projected to the constraints.
    t, x : float, ndarray
        Last time and state.
    steps, states, dense : ndarray or None
        Ends of the steps (N + 1,), states there (N + 1, n_x), interpolants (N, kc_n_dense, n_x) for `interpolate`;
        None if they were not kept.
    times, sampled : ndarray, (reached,), (reached, n_x)
        The chosen times so far, and the states there; without chosen times the ends of the steps.
    evaluations, jacobians, factorizations, accepted, rejected : int
    switches, switched : int, tuple of float
        Number of switches between two methods ("auto"), and the times of the first 8.
    samples : (ndarray, ndarray) or None
        Times and inputs of the samples, (n,) and (n, n_r), if a function was sampled.
    row : int
        The speed or the constraint of a model without solution, as in `SingularError`.
    """

    cdef readonly str status
    cdef readonly object error, x, switched, steps, states, dense, times, sampled, samples
    cdef readonly double t
    cdef readonly uint64_t evaluations, jacobians, factorizations, accepted, rejected, switches
    cdef readonly int row

    def __reduce__(self):       # a Trajectory keeps it
        return restored_run, (
            (self.status, self.error, self.x, self.switched, self.steps, self.states, self.dense, self.times, self.sampled,
             self.samples),
            (self.t, self.evaluations, self.jacobians, self.factorizations, self.accepted, self.rejected, self.switches,
             self.row))


def restored_run(tuple objects, tuple numbers):
    """A `Run` from its members, for pickle."""
    cdef Run run = Run.__new__(Run)
    (run.status, run.error, run.x, run.switched, run.steps, run.states, run.dense, run.times, run.sampled,
     run.samples) = objects
    (run.t, run.evaluations, run.jacobians, run.factorizations, run.accepted, run.rejected, run.switches,
     run.row) = numbers
    return run


cdef int take_steps(Run run, Record *record) except -1:
    """Move the steps from the record to the run, with only the necessary memory."""
    cdef size_t n = record.n_steps, n_x = record.n_x, n_dense = record.n_dense
    if not record.keeps:
        return 0
    if n and n < record.room:
        record.t = shrunk(record.t, n + 1)
        record.x = shrunk(record.x, (n + 1) * n_x)
        record.dense = shrunk(record.dense, n * n_dense * n_x)
    run.steps, run.states = adopted(&record.t, (n + 1,)), adopted(&record.x, (n + 1, n_x))
    if n_dense:
        run.dense = adopted(&record.dense, (n, n_dense, n_x))
    run.t, run.x = run.steps[n], run.states[n].copy()
    return 0


cdef double *shrunk(double *block, size_t n) noexcept:
    cdef void *smaller = realloc(block, n * sizeof(double)) if block != NULL else NULL
    return block if smaller == NULL else <double *>smaller


cdef object no_memory_for(const Record *record):
    """The MemoryError for a run without memory for its steps."""
    cdef size_t size = (1 + (1 + record.n_dense) * record.n_x) * sizeof(double)
    return MemoryError(f"no memory for more than {record.n_steps} steps of {size} bytes: split the run, each part from "
                       "the last state of the one before, give t_eval, which keeps little more than those states, or "
                       "take larger steps")


cdef double BETWEEN_REPORTS = 0.1       # s


cdef class Reporter:
    """Caller of a function with the progress of a run; keeps the exception by which the function ends the run."""

    cdef object function, error
    cdef double last

    cdef int tell(self, double t):
        cdef double now = monotonic()
        if now - self.last < BETWEEN_REPORTS:
            return 0
        self.last = now
        try:
            self.function(t)
        except BaseException as error:
            self.error = error
            return 1
        return 0


cdef int run_is_to_end(void *context) noexcept nogil:
    """Test whether a run must end, by Ctrl-C or by the function that receives its progress."""
    cdef Record *record = <Record *>context
    if interrupted(&record.interruption):
        return 1
    if record.reporter == NULL:
        return 0
    with gil:
        return (<Reporter>record.reporter).tell(record.now)


cdef object constants_of(Model model, object p, Py_ssize_t rank):
    """The prepared constants of a run; the last is the number of rows of G that count."""
    cdef Block block = model.resolve_parameters(p, K_RHS)
    constants = np.zeros(model.n_prepared + 1)
    if model.n_prepared:
        memcpy(data(constants), block.values, model.n_prepared * sizeof(double))
    if rank >= 0 and model.n_constraints:
        constants[model.n_prepared - 1] = rank
    return constants


cdef int fill_system(Model model, kc_system *system, bint project) except -1:
    """Fill in the system to integrate, without the right-hand side, the parameters and the inputs."""
    memset(system, 0, sizeof(kc_system))
    system.n_q, system.n_u, system.n_z = <uint32_t>model.n_q, <uint32_t>model.n_u, <uint32_t>model.n_z
    system.n_unit, system.unit = model.table.n_unit, model.table.unit
    system.n_constraints, system.n_prepared = <uint32_t>model.n_constraints, <uint32_t>model.n_prepared
    if project and model.n_configuration + model.n_velocity > 0:
        system.project = model.kernel(K_PROJECT)
    system.n_work = <uint32_t>model.n_work      # of all libraries that are open now
    return 0


def smallest_step(double t0, double t1):
    """The shortest step that exceeds rounding at every t between t0 and t1."""
    return kc_smallest_step(t0, t1)


def integrate(Model model, str method, double t0, double t1, x0, Inputs inputs not None, *, double rtol, atol, double step,
              double max_step, uint64_t max_steps, p=None, Py_ssize_t rank=-1, bint project=True,
              baumgarte=None, Watch watch=None, Contacts contacts=None, times=None, bint interpolants=True, size_t room, bint drop,
              report=None):
    """Integrate xdot = rhs(t, x, r(t)) from t0 to t1 with an integrator of kc_ode.h.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    x0, atol : ndarray, (n_x,)
    step : float
        Length of fixed steps, or of the first adaptive step; 0: automatic.
    p : array_like or mapping, optional
        Parameters of this run.
    rank : int
        Number of rows of G that count in the run; -1: the model's number.
    project : bool
        Project each step to the constraints, if there are any.
    baumgarte : (float, float), optional
        Gains of the stabilization of constraints.
    watch : Watch, optional
        Events.
    contacts : Contacts, optional
        Rigid contacts, in place of the motion of the model alone.
    times : ndarray, optional
        Times of requested states, in the order of the run.
    interpolants : bool
        Keep the interpolants of the steps.
    room : int
        Largest number of bytes of the steps.
    drop : bool
        Drop all steps if they need more; otherwise the run ends.
    report : callable, optional
        ``report(t)``, called at most ten times a second.

    Returns
    -------
    Run
    """
    constants = constants_of(model, p, rank)
    cdef Reporter reporter = Reporter.__new__(Reporter)
    tolerance, x = np.ascontiguousarray(atol, dtype=np.float64), np.array(x0, dtype=np.float64)
    cdef const kc_method *chosen = kc_find_method(method.encode())
    cdef kc_signal signal
    cdef kc_system system
    cdef kc_plan plan
    cdef kc_stats stats
    cdef Record record
    memset(&record, 0, sizeof(record))
    memset(&stats, 0, sizeof(stats))
    memset(&plan, 0, sizeof(plan))
    cdef InputFunction caller = inputs.fill(&signal, 0)
    inputs.hold(&signal, caller, t0)
    fill_system(model, &system, project)
    system.signal = &signal
    if contacts is None:
        fill_equations(model, &system, chosen, baumgarte)
        system.c = data(constants)
    else:
        system.rhs, system.qdot, system.project = kc_contacts_rhs, kc_contacts_qdot, kc_contacts_project
        system.c, system.n_constraints = <const double *>&contacts.k, 0
    system.interrupted, system.context = run_is_to_end, &record
    reporter.function, reporter.last, record.now = report, monotonic(), t0
    record.reporter = NULL if report is None else <PyObject *>reporter
    plan.method, plan.t0, plan.t1, plan.step = chosen, t0, t1, step
    plan.rtol, plan.atol, plan.max_step, plan.max_steps = rtol, data(tolerance), max_step, max_steps
    plan.accept, plan.context = record_step, &record
    if watch is not None:
        plan.events = watch.of(&system)
    work = np.empty((2, kc_ode_work(&system, chosen)))
    wanted = np.array([] if times is None else times, dtype=np.float64)
    sampled = np.empty((wanted.size, model.n_x))
    record.n_x, record.direction, record.work = model.n_x, 1.0 if t1 >= t0 else -1.0, data(work[1])
    record.n_dense = kc_n_dense(chosen) if interpolants else 0
    record.n_times, record.states = wanted.size, data(sampled)
    record.times = data(wanted) if record.n_times else NULL
    sample_start(&record, t0, data(x))
    record.limit = room // (sizeof(double) * (1 + (1 + record.n_dense) * record.n_x))
    record.drops, record.keeps = drop, record.limit > 0 or not drop
    choose_interpolants(&record)
    plan.interpolate_from = &record.interpolate_from
    run = run_through(model, &system, &plan, &record, &stats, x, work[0])
    if caller.error is not None or reporter.error is not None:
        run.error = reporter.error if caller.error is None else caller.error
    elif watch is not None and watch.error is not None:
        run.error = watch.error
    elif watch is not None and watch.ended and run.status == "stopped" and run.error is None:
        run.status = "event"
    elif record.status != KC_OK and run.error is None:
        run.error = interpolation_error(model, record.status, wanted[record.reached], sampled[record.reached], work[1])
    if signal.period:
        kept = caller.kept[:caller.n_kept].copy()
        run.samples = kept[:, 0], kept[:, 1:]
    run.times, run.sampled = wanted[:record.reached], sampled[:record.reached]
    if times is None:
        run.times, run.sampled = run.steps, run.states
    return run


cdef int fill_equations(Model model, kc_system *system, const kc_method *method, object baumgarte) except -1:
    """The kernels to integrate, and the work space of all open libraries."""
    system.rhs = model.kernel(K_RHS)
    if method.uses_qdot:
        system.qdot = model.kernel(K_QDOT)
    if baumgarte is not None and model.n_constraints:
        system.alpha, system.beta = baumgarte
        system.stabilization = model.kernel(K_STABILIZATION)
    if method.rosenbrock != NULL:
        system.linearize = model.kernel(K_LINEARIZE)
        system.rhs_time_derivative = model.kernel(K_RHS_TIME_DERIVATIVE)
    system.n_work = <uint32_t>model.n_work
    return 0


cdef Run run_through(Model model, const kc_system *system, const kc_plan *plan, Record *record, kc_stats *stats,
                     object x, object work):
    """Integrate from x, which becomes the last state, and return the record."""
    cdef Run run = Run.__new__(Run)
    cdef double *reached = data(x)
    cdef double *scratch = data(work)
    cdef int status
    try:
        if record.keeps:
            if enlarge(record):
                raise no_memory_for(record)
            record.t[0] = plan.t0
            memcpy(record.x, reached, record.n_x * sizeof(double))
        with nogil:
            status = kc_integrate(system, plan, reached, scratch, stats)
            if record.interruption == NULL:     # also a Ctrl-C during the last evaluations
                interrupted(&record.interruption)
        run.t, run.x = stats.t, x
        run.error = taken_exception(&record.interruption)
        if record.no_memory:
            run.error = no_memory_for(record)
        take_steps(run, record)
    finally:
        forget(record)
    run.status = "full" if record.full else BY_NUMBER[status].word
    run.evaluations, run.rejected = stats.evaluations, stats.rejected
    run.jacobians, run.factorizations = stats.jacobians, stats.factorizations
    run.switches = stats.switches
    run.switched = tuple([stats.switched[i] for i in range(min(stats.switches, <uint64_t>KC_SWITCHES))])
    run.accepted = len(run.steps) - 1 if record.full or record.no_memory else stats.accepted  # without the failed step
    run.row = row_of(model, status, stats.number)
    return run


cdef object interpolation_error(Model model, int status, double t, object x, object work):
    """The error of kc_interpolate at a time: SingularError where no state on the constraints was found."""
    cdef Arguments at
    cdef Outcome outcome
    at.t, at.x, at.r, at.c = t, data(x), NULL, NULL
    outcome.status, outcome.number = status, <int>data(work)[1]
    return failure(model, K_PROJECT, outcome, &at, None, None)


def interpolate(Model model, str method, t, x, dense, steps, times, Inputs inputs not None, *, p=None,
                Py_ssize_t rank=-1, bint project=True):
    """The states at ``times``, each in the step given in ``steps``: (len(times), n_x).

    ``t``, ``x`` and ``dense`` are as in `Run`: ends of steps, states there, interpolants.

    ``inputs`` to ``project`` are those of the run.

    Raises
    ------
    SingularError
        No state on the constraints was found at a time.
    """
    constants = constants_of(model, p, rank)
    cdef kc_signal signal
    cdef kc_system system
    cdef kc_step step
    cdef Py_ssize_t i = 0, k, n = len(times), n_x = model.n_x, n_dense = dense.shape[1] * n_x
    cdef int status = KC_OK
    cdef PyObject *interruption = NULL
    out = np.empty((n, n_x))
    t, x, dense, times = [np.ascontiguousarray(a, dtype=np.float64) for a in (t, x, dense, times)]
    steps = np.ascontiguousarray(steps, dtype=np.int64)
    cdef double *ends = data(t)
    cdef double *states = data(x)
    cdef double *interpolants = data(dense)
    cdef double *wanted = data(times)
    cdef double *result = data(out)
    cdef int64_t *step_of = <int64_t *>cnp.PyArray_DATA(steps)
    cdef InputFunction caller = inputs.fill(&signal, 0)
    fill_system(model, &system, project)
    system.c, system.signal = data(constants), &signal
    step.method, step.system = kc_find_method(method.encode()), &system
    work = np.zeros(kc_ode_work(&system, step.method))
    cdef double *scratch = data(work)
    with nogil:
        while i < n:
            k = step_of[i]
            step.t, step.h, step.end = ends[k], ends[k + 1] - ends[k], ends[k + 1]
            step.x0, step.x1, step.dense = states + k * n_x, states + (k + 1) * n_x, interpolants + k * n_dense
            status = kc_interpolate(&step, place_in(&step, wanted[i]), result + i * n_x, scratch)
            if status != KC_OK or (i % KC_PATIENCE == KC_PATIENCE - 1 and interrupted(&interruption)):
                break
            i += 1
    if interruption != NULL:
        raise taken_exception(&interruption)
    if caller.error is not None:
        raise caller.error
    if status != KC_OK:
        raise interpolation_error(model, status, times[i], out[i], work)
    return out
