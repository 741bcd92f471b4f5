# SPDX-License-Identifier: BSD-3-Clause
# Inputs of runs for C: cubics between knots, or a function; included by _motion.pyx.

from kanecore._ode cimport kc_signal

def checked_inputs(Model model, returned, double t):
    """The inputs from a function r(t, x) at ``t`` as an array, (n_r,); an error for other values."""
    mapping = hasattr(returned, "keys")
    values = None if mapping else real_numbers(f"what inputs(t, x) returned at t = {t!r}", returned)
    if mapping or values.shape != (model.n_r,):
        raise ValueError(f"inputs(t, x) returned {'a mapping' if mapping else f'shape {values.shape}'}; it must return "
                         f"({model.n_r},), the values of {', '.join(model.input_names)} in this order")
    if not np.isfinite(values).all():
        raise ValueError(f"inputs(t, x) returned {values.tolist()} at t = {t!r}, which is not finite")
    return values


cdef bint are_numbers(returned, Py_ssize_t n, double *r):
    """Test whether a list or tuple of n floats was returned, which is copied to r in a tenth of an array's time."""
    cdef Py_ssize_t i
    if (type(returned) is not list and type(returned) is not tuple) or len(returned) != n:
        return False
    for i in range(n):
        if type(returned[i]) is not float and type(returned[i]) is not np.float64:
            return False
        r[i] = returned[i]
    return True


ctypedef void (*input_function)(double t, const double *x, double *r) noexcept nogil


cdef class InputFunction:
    """A function r(t, x) for the integrators; it keeps the exception that ends a run, and the values of samples."""

    cdef object function, error
    cdef Model model
    cdef input_function in_c        # NULL: Python gives the inputs
    cdef object held                # of the samples; else None
    cdef object kept                # (room, 1 + n_r), of which n_kept: their times and values
    cdef double *rows               # of that; NULL: nothing is kept
    cdef Py_ssize_t n_kept, room

    cdef int call(self, double t, const double *x, double *r) noexcept:
        try:
            returned = self.function(t, vector_of(x, self.model.n_x))
            if not are_numbers(returned, self.model.n_r, r):
                if not is_plain_vector(returned, self.model.n_r):
                    returned = checked_inputs(self.model, returned, t)
                memcpy(r, data(returned), self.model.n_r * sizeof(double))
            if not finite_numbers(r, self.model.n_r, False):
                checked_inputs(self.model, returned, t)
            self.keep(t, r)
        except BaseException as error:
            self.error = error
            return 1
        return 0

    cdef int call_in_c(self, double t, const double *x, double *r) noexcept nogil:
        self.in_c(t, x, r)
        if finite_numbers(r, self.model.n_r, False) and (self.rows == NULL or self.n_kept < self.room):
            self.put(t, r)
            return 0
        with gil:
            try:
                checked_inputs(self.model, vector_of(r, self.model.n_r), t)
                self.keep(t, r)
            except BaseException as error:
                self.error = error
                return 1
        return 0

    cdef void put(self, double t, const double *r) noexcept nogil:
        cdef double *row
        if self.rows != NULL:
            row = self.rows + self.n_kept * (1 + self.model.n_r)
            row[0] = t
            memcpy(row + 1, r, self.model.n_r * sizeof(double))
            self.n_kept += 1

    cdef int keep(self, double t, const double *r) except -1:
        """Record the value of a sample."""
        if self.rows != NULL and self.n_kept == self.room:
            self.room = 2 * self.room
            self.kept = np.resize(self.kept, (self.room, 1 + self.model.n_r))
            self.rows = data(self.kept)
        self.put(t, r)
        return 0


cdef int call_python(double t, const double *x, double *r, void *context) noexcept with gil:
    return (<InputFunction>context).call(t, x, r)


cdef int call_in_c(double t, const double *x, double *r, void *context) noexcept nogil:
    return (<InputFunction>context).call_in_c(t, x, r)


@cython.final
cdef class Inputs:
    """Inputs of a run, or of the rows of a batch, for integrators; several runs may share an object.

    Parameters
    ----------
    model : Model
    knots, coefficients : ndarray
        As in kc_signal, (n_knots,) and (n_knots - 1, n_r, 4); the coefficients of a batch may be (rows, ...).
    function : callable, optional
        ``r(t, x)`` in their place; it is called with the GIL held.
    address : int, optional
        That of the same in C, ``void f(double t, const double *x, double *r)``, which is called instead.
    period : float
        How long each answer of the function is held; 0: it is asked at every evaluation.
    held : ndarray, (n_r,), optional
        Its answer at the start, where it is held; becomes that of the period that runs.
    """

    cdef Model model
    cdef object knots, coefficients, function, held
    cdef input_function in_c
    cdef double period
    cdef Py_ssize_t n_row       # numbers from the coefficients of one row to those of the next; 0: all have the same

    def __init__(self, Model model not None, knots, coefficients, function=None, address=None, double period=0.0, held=None):
        self.model, self.function, self.period, self.held = model, function, period, held
        self.knots = np.ascontiguousarray(knots, dtype=np.float64)
        self.coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        self.in_c = <input_function><uintptr_t>(address or 0)
        if self.coefficients.ndim == 4:
            self.n_row = self.coefficients[0].size

    cdef InputFunction fill(self, kc_signal *signal, Py_ssize_t row):
        """Fill in the signal of a row; returns what calls the function, and keeps its errors, as long as the run."""
        cdef InputFunction caller = InputFunction.__new__(InputFunction)
        memset(signal, 0, sizeof(kc_signal))
        signal.n_r = <uint32_t>self.model.n_r
        signal.n_knots = <uint32_t>self.knots.size
        signal.knots = data(self.knots) if self.knots.size else NULL
        signal.coefficients = data(self.coefficients) + row * self.n_row if self.coefficients.size else NULL
        if self.function is not None:
            caller.function, caller.model, caller.in_c = self.function, self.model, self.in_c
            signal.call = call_in_c if self.in_c != NULL else call_python
            signal.context = <void *>caller
        return caller

    cdef int hold(self, kc_signal *signal, InputFunction caller, double t0) except -1:
        """Call the function once a period, if there is one."""
        if self.period:
            caller.held, caller.room = self.held, 64
            caller.kept = np.empty((caller.room, 1 + signal.n_r))
            caller.rows = data(caller.kept)
            signal.held, signal.period = data(self.held), self.period
            caller.keep(t0, signal.held)
        return 0
