# SPDX-License-Identifier: BSD-3-Clause
# Kernels as C functions with the arguments that SciPy and others need; included by _motion.pyx.

cdef enum:
    ON_STACK = 1024     # numbers; a call that needs more allocates them

cdef struct Place:
    int operand         # OF_T, OF_X, OF_R, OF_P
    Py_ssize_t number   # in it

cdef struct Fixed:      # all that a call does not give
    kc_kernel *kernel
    kc_prepare *prepare
    double t
    const double *x
    const double *r
    const double *p
    const double *c
    Py_ssize_t n_x, n_r, n_p, n_prepared, n_work, size, component
    int n_over
    bint prepares       # each call: it gives a parameter
    Place *over         # the variables of a call


cdef void of_state(double t, double *x, double *out, void *held) noexcept nogil:
    """The result at a time and state."""
    cdef const Fixed *fixed = <const Fixed *>held
    cdef double stack[ON_STACK]
    cdef double *work = &stack[0]
    cdef Py_ssize_t i
    if fixed.n_work > ON_STACK:
        work = <double *>malloc(fixed.n_work * sizeof(double))
    if work == NULL:
        for i in range(fixed.size):
            out[i] = NAN
        return
    work[0] = 0.0
    fixed.kernel(t, x, fixed.r, fixed.c, work, out)
    if work != &stack[0]:
        free(work)


cdef double of_some(int n, double *values, void *held) noexcept nogil:
    """An entry of the result, for given values of some of t, x, r, p."""
    cdef const Fixed *fixed = <const Fixed *>held
    cdef double stack[ON_STACK]
    cdef double *memory = &stack[0]
    cdef Py_ssize_t room = (fixed.n_x + fixed.n_r + fixed.n_p + (fixed.n_prepared if fixed.prepares else 0)
                            + fixed.n_work + fixed.size)
    cdef double result
    if n < fixed.n_over:
        return NAN
    if room > ON_STACK:
        memory = <double *>malloc(room * sizeof(double))
        if memory == NULL:
            return NAN
    result = entry(fixed, values, memory)
    if memory != &stack[0]:
        free(memory)
    return result


cdef double entry(const Fixed *fixed, const double *values, double *memory) noexcept nogil:
    cdef double t = fixed.t
    cdef double *x = memory
    cdef double *r = x + fixed.n_x
    cdef double *p = r + fixed.n_r
    cdef double *work = p + fixed.n_p
    cdef double *out = work + fixed.n_work
    cdef double *own = out + fixed.size
    cdef const double *c = fixed.c
    cdef int i
    memcpy(x, fixed.x, fixed.n_x * sizeof(double))
    memcpy(r, fixed.r, fixed.n_r * sizeof(double))
    memcpy(p, fixed.p, fixed.n_p * sizeof(double))
    for i in range(fixed.n_over):
        if fixed.over[i].operand == OF_T:
            t = values[i]
        elif fixed.over[i].operand == OF_X:
            x[fixed.over[i].number] = values[i]
        elif fixed.over[i].operand == OF_R:
            r[fixed.over[i].number] = values[i]
        else:
            p[fixed.over[i].number] = values[i]
    if fixed.prepares:
        memcpy(own, fixed.c, fixed.n_prepared * sizeof(double))     # the addresses in it
        fixed.prepare(p, own)
        c = own
    work[0] = 0.0
    fixed.kernel(t, x, r, c, work, out)
    return out[fixed.component]


@cython.final
cdef class FixedKernel:
    """A kernel with the fixed arguments: it is immutable, so any number of threads may call.

    Parameters
    ----------
    model : Model
        In double precision.
    kernel : str
    t : float
    x, r, p : ndarray (n_x,), (n_r,), (n_p,)
    over : list of (str, int), optional
        The arguments of a call: "t", "x", "r" or "p", and the number there.  None: t and x.
    component : int
        Entry of the result, if ``over`` is given.
    """

    cdef Fixed fixed
    cdef object model, x, r, p, c   # which live as long as this
    cdef bint is_of_state

    def __init__(self, Model model, str kernel, double t, x, r, p, over, Py_ssize_t component):
        cdef int i, k = kernel_number(kernel)
        self.model, self.is_of_state = model, over is None
        self.x, self.r, self.p, self.c = [np.array(a, dtype=DOUBLE) for a in (x, r, p, np.empty(model.n_prepared))]
        model.prepare_block(data(self.p), data(self.c))
        self.fixed.kernel, self.fixed.prepare, self.fixed.t = model.kernel(k), model.table.prepare, t
        self.fixed.x, self.fixed.r, self.fixed.p, self.fixed.c = data(self.x), data(self.r), data(self.p), data(self.c)
        self.fixed.n_x, self.fixed.n_r, self.fixed.n_p = model.n_x, model.n_r, model.n_p
        self.fixed.n_prepared, self.fixed.n_work, self.fixed.size = model.n_prepared, model.n_work, model.size[k]
        self.fixed.component = component
        over = over or []
        self.fixed.over = <Place *>malloc((len(over) + 1) * sizeof(Place))
        if self.fixed.over == NULL:
            raise MemoryError
        for i, (operand, number) in enumerate(over):
            self.fixed.over[i].operand, self.fixed.over[i].number = ARGUMENTS.index(operand), number
            self.fixed.prepares = self.fixed.prepares or operand == "p"
        self.fixed.n_over = <int>len(over)

    def __dealloc__(self):
        free(self.fixed.over)

    @property
    def address(self):
        """That of ``double f(int n, double *values, void *held)``, or ``void f(double t, double *x, double *out, void *held)``."""
        return <uintptr_t>(<void *>of_state if self.is_of_state else <void *>of_some)

    @property
    def held(self):
        """The last argument of the function, a pointer that is valid while this lives."""
        return <uintptr_t>&self.fixed
