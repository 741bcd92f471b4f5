# SPDX-License-Identifier: BSD-3-Clause
# Kernels as methods: Python functions, with usual calls done by C directly; included by _native.pyx.

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object callable, PyObject *const *args, size_t flags, PyObject *words)
    Py_ssize_t PyVectorcall_NARGS(size_t flags)
    object PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t flags, PyObject *words)
    object PyVectorcall_Call(object callable, object args, object words)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *words)
    PyObject *PyTuple_GET_ITEM(PyObject *words, Py_ssize_t i)
    object PyMethod_New(object function, object owner)
    void PyType_Modified(PyTypeObject *type)
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL, Py_TPFLAGS_METHOD_DESCRIPTOR

cdef enum:      # the arguments of a kernel, in the order of `evaluate`
    GIVEN_T, GIVEN_X, GIVEN_UDOT, GIVEN_R, GIVEN_P, GIVEN_OUT, GIVEN_THREADS, N_GIVEN


@cython.final
cdef class KernelMethod:
    """A kernel as a method of a model, of its `ModelKernels`, or of a `Workspace`.

    ``__wrapped__`` is the function: it has the signature and the documentation, and does any call.  Calls with only the
    usual arguments are done here, without the function.
    """

    cdef vectorcallfunc vectorcall
    cdef readonly object __wrapped__
    cdef int k
    cdef int n_positional           # t, x, and udot where the kernel reads it
    cdef bint multipliers           # after them; not needed for models without constraints
    cdef tuple words                # names of the arguments
    cdef PyObject *names[N_GIVEN]   # their values; NULL for an argument that the kernel does not have

    def __get__(self, owner, kind):
        return self if owner is None else PyMethod_New(self, owner)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    @property
    def __doc__(self):
        return self.__wrapped__.__doc__

    @property
    def __module__(self):
        return self.__wrapped__.__module__

    def __repr__(self):
        return f"<kernel {self.__wrapped__.__qualname__}>"

    def __reduce__(self):
        return self.__wrapped__.__qualname__    # a global name, of which pickle knows the module


cdef KernelMethod new_method(object function, vectorcallfunc vectorcall, object kernel):
    cdef KernelMethod method = KernelMethod.__new__(KernelMethod)
    method.__wrapped__, method.vectorcall = function, vectorcall
    method.k = kernel_number(kernel)
    return method


def kernel_method(function):
    """A method of a model for the kernel with its name.

    ``f(self, t, x, *, ...)``, ``f(self, t, x, udot, *, ...)`` or ``f(self, t, x, udot, multipliers=None, *, ...)``.
    """
    return with_arguments(new_method(function, call_kernel_method, function.__name__))


def internal_kernel_method(function):
    """A method of `ModelKernels` for the kernel with its name."""
    return with_arguments(new_method(function, call_internal_kernel_method, function.__name__))


cdef KernelMethod with_arguments(KernelMethod method):
    cdef int i
    function = method.__wrapped__
    code = function.__code__
    method.multipliers = code.co_argcount == 5
    method.n_positional = code.co_argcount - 1 - method.multipliers
    third = code.co_varnames[3] if method.n_positional == 3 else None
    method.words = ("t", "x", third, "r", "p", "out", "threads")
    for i in range(N_GIVEN):
        method.names[i] = NULL if method.words[i] is None else <PyObject *>method.words[i]
    return method


def workspace_method(function):
    """A method ``f(self)`` of `Workspace`, for the kernel with its name."""
    return new_method(function, call_workspace_method, function.__name__)


def forward_dynamics_method(function):
    """A method ``f(self, q, u, tau)`` of a model; its usual calls use the kernel `forward_dynamics` directly."""
    return new_method(function, call_forward_dynamics, "forward_dynamics")


@cython.final
cdef class KernelArray:
    """The array of a `Workspace` that a kernel writes, as an attribute."""

    cdef int k
    cdef readonly str __doc__

    def __init__(self, kernel, str doc):
        self.k, self.__doc__ = kernel_number(kernel), doc

    def __get__(self, Buffers workspace, kind):
        return self if workspace is None else workspace.array_of(self.k)

    def __set__(self, workspace, value):
        raise AttributeError(f"a kernel writes this array, {self.__doc__} Write into it, or copy it")


cdef object call_kernel_method(object callable, PyObject *const *args, size_t flags, PyObject *words):
    cdef KernelMethod method = <KernelMethod>callable
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if (n > 0 and isinstance(<object>args[0], Model) and n - 1 <= method.n_positional
            and not (method.multipliers and (<Model>args[0]).n_constraints)):
        return call_at_once(method, <Model>args[0], args, n, flags, words)
    return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)


cdef object call_internal_kernel_method(object callable, PyObject *const *args, size_t flags, PyObject *words):
    cdef KernelMethod method = <KernelMethod>callable
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if n > 0 and isinstance(<object>args[0], ModelKernels) and n - 1 <= method.n_positional:
        return call_at_once(method, (<ModelKernels>args[0]).model, args, n, flags, words)
    return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)


cdef inline object call_at_once(KernelMethod method, Model model, PyObject *const *args, Py_ssize_t n, size_t flags,
                                PyObject *words):
    """Sort the arguments; names in calls are interned, so that no text is compared."""
    cdef PyObject *given[N_GIVEN]
    cdef PyObject *none = <PyObject *>None
    cdef Py_ssize_t i, place, n_words = 0 if words == NULL else PyTuple_GET_SIZE(words)
    given[GIVEN_T] = given[GIVEN_X] = NULL
    given[GIVEN_UDOT] = NULL if method.n_positional == 3 else none
    given[GIVEN_R] = given[GIVEN_P] = given[GIVEN_OUT] = none
    given[GIVEN_THREADS] = <PyObject *>ONE
    for i in range(n - 1):
        given[i] = args[i + 1]
    for i in range(n_words):
        place = n - 1
        while place < N_GIVEN and method.names[place] != PyTuple_GET_ITEM(words, i):
            place += 1
        if place == N_GIVEN:
            return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)
        given[place] = args[n + i]
    if given[GIVEN_T] == NULL or given[GIVEN_X] == NULL or given[GIVEN_UDOT] == NULL:
        return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)
    return model.evaluate(
        method.k, <object>given[GIVEN_T], <object>given[GIVEN_X], <object>given[GIVEN_UDOT], <object>given[GIVEN_R],
        <object>given[GIVEN_P], <object>given[GIVEN_OUT], <object>given[GIVEN_THREADS])


cdef object call_workspace_method(object callable, PyObject *const *args, size_t flags, PyObject *words):
    cdef KernelMethod method = <KernelMethod>callable
    if PyVectorcall_NARGS(flags) == 1 and words == NULL and isinstance(<object>args[0], Buffers):
        return (<Buffers>args[0]).call(method.k)
    return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)


cdef object call_forward_dynamics(object callable, PyObject *const *args, size_t flags, PyObject *words):
    cdef KernelMethod method = <KernelMethod>callable
    if PyVectorcall_NARGS(flags) == 4 and words == NULL and isinstance(<object>args[0], Model):
        result = (<Model>args[0]).forward_dynamics_at_once(<object>args[1], <object>args[2], <object>args[3])
        if result is not None:
            return result
    return PyObject_Vectorcall(<PyObject *>method.__wrapped__, args, flags, words)


cdef int call_by_vectors() except -1:
    """Let CPython call `KernelMethod` as it calls functions: Cython has no syntax for that."""
    cdef PyTypeObject *kind = <PyTypeObject *>KernelMethod
    cdef KernelMethod method = KernelMethod.__new__(KernelMethod)
    kind.tp_vectorcall_offset = <char *>&method.vectorcall - <char *><PyObject *>method
    kind.tp_call = PyVectorcall_Call
    kind.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    PyType_Modified(kind)
    return 0


call_by_vectors()
