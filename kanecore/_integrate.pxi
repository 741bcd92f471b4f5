# SPDX-License-Identifier: BSD-3-Clause
# Integration of a Model in time; included by _native.pyx.  Steps are recorded here; the mathematics is kc_ode.h's.

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdlib cimport free, realloc

from kanecore._ode cimport (
    KC_DENSE, KC_DOP853, KC_RK4, KC_RK4_DENSE, kc_dop853, kc_interpolate, kc_ode_work, kc_options, kc_rk4, kc_signal,
    kc_stats, kc_step, kc_system,
)

METHODS = {"rk4": KC_RK4, "dop853": KC_DOP853}
"""Methods of `integrate` by name."""

STATUS = {0: "success", 1: "singular", 2: "nonfinite", 3: "step_size", 4: "max_steps", 5: "stopped"}
"""kc_status by number."""

cdef struct Record:
    size_t n_x, n_dense, n_steps, room
    double *t      # ends of the steps
    double *x      # states there
    double *dense  # interpolants
    bint no_memory
    PyObject *interruption  # the exception of a signal handler, owned


cdef int record_step(const kc_step *step, void *context) noexcept nogil:
    """Keep a step; from time to time see whether the user pressed Ctrl-C."""
    cdef Record *record = <Record *>context
    cdef size_t n = record.n_x, room
    cdef void *t
    cdef void *x
    cdef void *dense
    if record.n_steps == record.room:
        room = 2 * record.room if record.room else 64
        t = realloc(record.t, room * sizeof(double))
        if t != NULL:
            record.t = <double *>t
        x = realloc(record.x, room * n * sizeof(double))
        if x != NULL:
            record.x = <double *>x
        dense = realloc(record.dense, room * record.n_dense * n * sizeof(double))
        if dense != NULL:
            record.dense = <double *>dense
        if t == NULL or x == NULL or dense == NULL:
            record.no_memory = True
            return 1
        record.room = room
    record.t[record.n_steps] = step.t + step.h
    memcpy(record.x + record.n_steps * n, step.x1, n * sizeof(double))
    memcpy(record.dense + record.n_steps * record.n_dense * n, step.dense, record.n_dense * n * sizeof(double))
    record.n_steps += 1
    if record.n_steps % 256 == 0:
        with gil:
            try:
                PyErr_CheckSignals()
            except BaseException as error:
                record.interruption = <PyObject *>error
                Py_INCREF(error)
                return 1
    return 0


cdef object no_memory_for(const Record *record):
    """The MemoryError for a run that cannot be kept."""
    cdef size_t size = (1 + (1 + record.n_dense) * record.n_x) * sizeof(double)
    return MemoryError(f"no memory for more than {record.n_steps} steps of {size} bytes: split the run, each part from "
                       "the last state of the one before, or take larger steps")


def checked_inputs(Model model, returned, double t):
    """What a function r(t, x) returned at ``t`` as an array, (n_r,); ValueError where it is something else."""
    mapping = hasattr(returned, "keys")
    values = None if mapping else np.asarray(returned, dtype=np.float64)
    if mapping or values.shape != (model.n_r,):
        raise ValueError(f"inputs(t, x) returned {'a mapping' if mapping else f'shape {values.shape}'}; it must return "
                         f"({model.n_r},), the values of {', '.join(model.input_names)} in this order")
    if not np.isfinite(values).all():
        raise ValueError(f"inputs(t, x) returned {values.tolist()} at t = {t!r}, which is not finite")
    return values


cdef class InputFunction:
    """A Python function r(t, x) as the integrators call it; keeps the exception that ends a run."""

    cdef object function, error
    cdef Model model

    cdef int call(self, double t, const double *x, double *r):
        try:
            values = checked_inputs(self.model, self.function(t, vector_of(x, self.model.n_x)), t)
            for i in range(self.model.n_r):
                r[i] = values[i]
        except BaseException as error:
            self.error = error
            return 1
        return 0


cdef int call_python(double t, const double *x, double *r, void *context) noexcept with gil:
    return (<InputFunction>context).call(t, x, r)


cdef int fill_signal(Model model, kc_signal *signal, double[::1] knots, double[::1] coefficients, function,
                     InputFunction held) except -1:
    """The inputs of a run; ``held`` keeps the function that gives them, if one does."""
    memset(signal, 0, sizeof(kc_signal))
    signal.n_r = <uint32_t>model.n_r
    signal.n_knots = <uint32_t>knots.shape[0]
    signal.knots = &knots[0] if knots.shape[0] else NULL
    signal.coefficients = &coefficients[0] if coefficients.shape[0] else NULL
    if function is not None:
        held.function, held.model = function, model
        signal.call = call_python
        signal.context = <void *>held
    return 0


cdef object constants_of(Model model, object p, Py_ssize_t rank):
    """The prepared constants of a run, of which the last says how many rows of G count."""
    cdef Block block = model.resolve_parameters(p, K_RHS)
    constants = np.zeros(model.n_prepared + 1)
    if model.n_prepared:
        memcpy(data(constants), block.values, model.n_prepared * sizeof(double))
    if rank >= 0 and model.n_constraints:
        constants[model.n_prepared - 1] = rank
    return constants


cdef int fill_system(Model model, kc_system *system, bint project) except -1:
    """What is integrated, but for the right-hand side, the parameters and the inputs."""
    memset(system, 0, sizeof(kc_system))
    system.n_q, system.n_u = <uint32_t>model.n_q, <uint32_t>model.n_u
    system.n_unit, system.unit = model.table.n_unit, model.table.unit
    if project and model.n_configuration + model.n_velocity > 0:
        system.project = model.kernel(K_PROJECT)
    system.n_work = <uint32_t>model.n_work      # of all libraries that are open now
    return 0


def integrate(Model model, str method, double t0, double t1, x0, *, double rtol, atol, double step, double max_step,
              uint64_t max_steps, knots, coefficients, function=None, p=None, Py_ssize_t rank=-1, bint project=True,
              baumgarte=None):
    """Integrate xdot = rhs(t, x, r(t)) from t0 to t1 with an integrator of kc_ode.h.

    Parameters
    ----------
    method : {"rk4", "dop853"}
    x0, atol : ndarray, (n_x,)
    step : float
        Length of the steps of rk4; first step of dop853, 0 to have it chosen.
    knots, coefficients : ndarray
        The inputs as in kc_signal: (n_knots,) and (n_knots - 1, n_r, 4).
    function : callable, optional
        ``r(t, x)`` in their place; it is called with the GIL held.
    p : array_like or mapping, optional
        Parameters of this run.
    rank : int
        How many rows of G count in it; -1: as the model says.
    project : bool
        Bring each step back to the constraints, if there are any.
    baumgarte : (float, float), optional
        Gains of their stabilization.

    Returns
    -------
    status : str
        A value of `STATUS`.
    t, x, dense : ndarray
        Ends of the steps (N + 1,), states there (N + 1, n_x), interpolants (N, 2 or 7, n_x) for `interpolate`.
    counts : dict
        "evaluations", "accepted", "rejected"; "row", and "projecting", where the status is "singular": what work[1] says, and
        whether of `project`.
    """
    cdef double[::1] constants = constants_of(model, p, rank)
    cdef kc_kernel *rhs = model.kernel(K_RHS)
    cdef InputFunction held = InputFunction.__new__(InputFunction)
    cdef double[::1] start = np.ascontiguousarray(x0, dtype=np.float64)
    cdef double[::1] tolerance = np.ascontiguousarray(atol, dtype=np.float64)
    cdef double[::1] knot = np.ascontiguousarray(knots, dtype=np.float64)
    cdef double[::1] polynomial = np.ascontiguousarray(coefficients, dtype=np.float64).reshape(-1)
    cdef size_t n = model.n_x
    cdef double[::1] x = np.array(start)
    cdef kc_signal signal
    cdef kc_system system
    cdef kc_options options
    cdef kc_stats stats
    cdef Record record
    cdef int status, number = METHODS[method]
    memset(&record, 0, sizeof(record))
    memset(&stats, 0, sizeof(stats))
    fill_signal(model, &signal, knot, polynomial, function, held)
    fill_system(model, &system, project)
    system.rhs, system.c, system.signal = rhs, &constants[0], &signal
    if baumgarte is not None and model.n_constraints:
        system.alpha, system.beta = baumgarte
        system.stabilization = model.kernel(K_STABILIZATION)
    system.n_work = <uint32_t>model.n_work
    options.rtol, options.atol = rtol, &tolerance[0]
    options.first_step, options.max_step, options.max_steps = step, max_step, max_steps
    record.n_x, record.n_dense = n, KC_RK4_DENSE if number == KC_RK4 else KC_DENSE
    cdef double[::1] work = np.empty(kc_ode_work(&system))
    try:
        with nogil:
            if number == KC_RK4:
                status = kc_rk4(&system, t0, t1, step, &x[0], record_step, &record, &work[0], &stats)
            else:
                status = kc_dop853(&system, t0, t1, &x[0], &options, record_step, &record, &work[0], &stats)
        if held.error is not None:
            raise held.error
        if record.interruption != NULL:
            raise <object>record.interruption
        if record.no_memory:
            raise no_memory_for(&record)
        steps = record.n_steps
        try:
            t = np.empty(steps + 1)
            states = np.empty((steps + 1, n))
            dense = np.empty((steps, record.n_dense, n))
        except MemoryError:
            raise no_memory_for(&record) from None
        t[0], states[0] = t0, start
        if steps:
            t[1:] = np.asarray(<double[:steps]>record.t)
            states[1:] = np.asarray(<double[:steps, :n]>record.x)
            dense[...] = np.asarray(<double[:steps, :record.n_dense, :n]>record.dense)
    finally:
        Py_XDECREF(record.interruption)
        free(record.t)
        free(record.x)
        free(record.dense)
    counts = {"evaluations": stats.evaluations, "accepted": stats.accepted, "rejected": stats.rejected,
              "row": stats.row, "projecting": stats.projecting}
    return STATUS[status], t, states, dense, counts


def interpolate(Model model, str method, double[::1] t, double[:, ::1] x, double[:, :, ::1] dense,
                cnp.int64_t[::1] steps, double[::1] times, *, knots, coefficients, function=None, p=None,
                Py_ssize_t rank=-1, bint project=True):
    """The states at ``times``, each in the step that ``steps`` names: (len(times), n_x).

    ``knots`` to ``project`` are those of the run.

    Raises
    ------
    SingularError
        No state on the constraints was found at a time.
    """
    cdef double[::1] constants = constants_of(model, p, rank)
    cdef InputFunction held = InputFunction.__new__(InputFunction)
    cdef double[::1] knot = np.ascontiguousarray(knots, dtype=np.float64)
    cdef double[::1] polynomial = np.ascontiguousarray(coefficients, dtype=np.float64).reshape(-1)
    cdef kc_signal signal
    cdef kc_system system
    cdef kc_step step
    cdef Py_ssize_t i, k
    cdef int status
    out = np.empty((times.shape[0], x.shape[1]))
    cdef double[:, ::1] result = out
    fill_signal(model, &signal, knot, polynomial, function, held)
    fill_system(model, &system, project)
    system.c, system.signal = &constants[0], &signal
    cdef double[::1] work = np.zeros(kc_ode_work(&system))
    step.method, step.system = METHODS[method], &system
    for i in range(times.shape[0]):
        k = steps[i]
        step.t, step.h = t[k], t[k + 1] - t[k]
        step.x0, step.x1, step.dense = &x[k, 0], &x[k + 1, 0], &dense[k, 0, 0]
        status = kc_interpolate(&step, (times[i] - step.t) / step.h, &result[i, 0], &work[0])
        if held.error is not None:
            raise held.error
        if status == KC_SINGULAR:
            raise model.failure(K_PROJECT, True, times[i], np.array(out[i]), <int>work[1], None, None)
    return out
