# SPDX-License-Identifier: BSD-3-Clause
# Events of a run; included by _motion.pyx. kc_ode.h defines zeros; this file calls its functions.

from kanecore._ode cimport KC_CHANGED, KC_END, KC_GO_ON, kc_events, kc_events_work

ctypedef double (*state_function)(double t, const double *x) noexcept nogil

cdef enum:      # source of the value of an event
    OF_STATE, OF_OUTPUT, OF_EXPRESSION, OF_ADDRESS, OF_PYTHON, OF_CONTACT

SOURCES = {"state": OF_STATE, "output": OF_OUTPUT, "expression": OF_EXPRESSION, "address": OF_ADDRESS,
           "function": OF_PYTHON, "contact": OF_CONTACT}
"""Sources of the value of an event, and their numbers."""


cdef class Outputs:
    """The outputs of a model, for C."""

    cdef Model model        # lives as long as its kernel
    cdef kc_kernel *kernel
    cdef object arrays      # owner of the memory of the next member
    cdef double *c
    cdef double *work
    cdef double *values

    def __init__(self, Model model, p, Py_ssize_t rank=-1):
        self.model = model
        self.kernel = model.kernel(K_OUTPUTS)
        self.arrays = constants_of(model, p, rank), np.zeros(model.n_work), np.zeros(max(model.n_outputs, 1))
        self.c, self.work, self.values = data(self.arrays[0]), data(self.arrays[1]), data(self.arrays[2])

    cdef void evaluate(self, double t, const double *x, const double *r) noexcept nogil:
        self.work[0] = 0.0
        self.kernel(t, x, r, self.c, self.work, self.values)


cdef class Watch:
    """The events of one run.

    Parameters
    ----------
    model : Model
    sources : sequence of (kind, number or function)
        Source of the value of each event: a kind of `SOURCES`, and the place in x, the index of an output or of an
        expression, an address, or a Python function.
    directions, stops : sequences of int
        As in kc_events.
    found : callable
        ``found(i, t, x)`` returns whether the run ends there, and the new state, or None for no change.
    outputs, expressions : Outputs, optional
        Outputs of the model, and of the model of expressions.
    contacts : Contacts, optional
        Rigid contacts; their functions are never negative while their modes hold.
    """

    cdef kc_events events
    cdef int n_x
    cdef object arrays              # owner of the memory of the next member, and of `events`
    cdef const int *kinds
    cdef const Py_ssize_t *places
    cdef list functions
    cdef object found
    cdef Outputs outputs, expressions
    cdef Contacts contacts
    cdef object laws                # owner of the memory of the next member
    cdef double *of_contacts        # values of `contacts`
    cdef bint calls_python
    cdef object work
    cdef readonly object error      # that ended the run
    cdef readonly bint ended        # an event did

    def __init__(self, Model model, sources, directions, stops, found, outputs=None, expressions=None,
                 contacts=None):
        n = len(sources)
        self.n_x, self.found, self.outputs, self.expressions = model.n_x, found, outputs, expressions
        self.functions = [what if kind == "function" else None for kind, what in sources]
        kinds = np.array([SOURCES[kind] for kind, _ in sources], dtype=np.intc)
        places = np.array([0 if kind == "function" else what for kind, what in sources], dtype=np.intp)
        signs, ends = np.array(directions, dtype=np.intc), np.array(stops, dtype=np.intc)
        self.arrays = kinds, places, signs, ends
        self.kinds, self.places = <const int *>cnp.PyArray_DATA(kinds), <const Py_ssize_t *>cnp.PyArray_DATA(places)
        self.calls_python = any([kind == "function" for kind, _ in sources])
        self.events.n, self.events.values, self.events.found = n, values_of_events, found_event
        self.events.direction, self.events.stops = <const int *>cnp.PyArray_DATA(signs), <const int *>cnp.PyArray_DATA(ends)
        self.events.context = <void *>self
        self.contacts = contacts
        if contacts is not None:
            sides = np.array([kind == "contact" for kind, _ in sources], dtype=np.float64)
            self.laws = np.zeros(2 * contacts.mode.size), sides
            self.events.side, self.of_contacts = data(sides), data(self.laws[0])

    cdef const kc_events *of(self, const kc_system *system) except NULL:
        """The events for the integrators."""
        self.work = np.zeros(kc_events_work(system, self.events.n))
        self.events.work = data(self.work)
        return &self.events

    @property
    def crowded(self):
        """The start of a step in which a function changed its sign too often to be followed, or NaN."""
        return self.events.work[0]

    cdef int fill(self, double t, const double *x, const double *r, double *g) noexcept nogil:
        """Compute the values of events without Python; return 1 if one is not finite."""
        cdef uint32_t i
        cdef int bad = 0
        cdef double *laws = NULL
        if self.contacts is not None:
            laws = self.of_contacts
            self.contacts.values(t, x, r, laws)
        if self.outputs is not None:
            self.outputs.evaluate(t, x, r)
        if self.expressions is not None:
            self.expressions.evaluate(t, x, r)
        for i in range(self.events.n):
            if self.kinds[i] == OF_STATE:
                g[i] = x[self.places[i]]
            elif self.kinds[i] == OF_OUTPUT:
                g[i] = self.outputs.values[self.places[i]]
            elif self.kinds[i] == OF_EXPRESSION:
                g[i] = self.expressions.values[self.places[i]]
            elif self.kinds[i] == OF_CONTACT:
                g[i] = laws[self.places[i]]
            elif self.kinds[i] == OF_ADDRESS:
                g[i] = (<state_function><void *>self.places[i])(t, x)
            else:
                continue
            bad |= not isfinite(g[i])
        return bad

    cdef int call(self, double t, const double *x, double *g, bint bad) noexcept with gil:
        """Compute the values of Python functions; the error if one is not finite."""
        if self.error is not None:      # who called went on without an answer
            return 1
        try:
            for i, function in enumerate(self.functions):
                if function is not None:
                    g[<uint32_t>i] = number_of(i, function(t, vector_of(x, self.n_x)))
                    bad |= not isfinite(g[<uint32_t>i])
            if bad:
                values = [g[i] for i in range(self.events.n)]
                i = [isfinite(value) for value in values].index(False)
                raise ValueError(f"event {i} is {values[i]} at t = {t!r}, x = {vector_of(x, self.n_x).tolist()}: it must "
                                 "be finite wherever the motion leads")
        except BaseException as error:
            self.error = error
            return 1
        return 0

    cdef int report(self, uint32_t i, double t, double *x) noexcept with gil:
        try:
            ends, changed = self.found(i, t, vector_of(x, self.n_x))
            self.ended |= bool(ends)
            if changed is not None:
                memcpy(x, data(changed), self.n_x * sizeof(double))
            return KC_END if ends else KC_GO_ON if changed is None else KC_CHANGED
        except BaseException as error:
            self.error = error
            return KC_END


cdef double number_of(i, value) except? -1.0:
    """Number from the function of an event; as in SciPy it may be an array of one."""
    if PyFloat_Check(value):
        return PyFloat_AS_DOUBLE(value)
    try:
        if getattr(getattr(value, "dtype", None), "kind", "f") in "biufO":  # NumPy drops imaginary parts, and warns
            return value.item() if getattr(value, "size", 0) == 1 else value
    except TypeError:
        pass
    raise TypeError(f"event {i} returned {value!r}; it must be one real number")


cdef int values_of_events(double t, const double *x, const double *r, double *g, void *context) noexcept nogil:
    cdef int bad = (<Watch>context).fill(t, x, r, g)
    if bad or (<Watch>context).calls_python:
        return (<Watch>context).call(t, x, g, bad)
    return 0


cdef int found_event(uint32_t i, double t, double *x, void *context) noexcept nogil:
    return (<Watch>context).report(i, t, x)
