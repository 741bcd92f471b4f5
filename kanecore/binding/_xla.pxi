# SPDX-License-Identifier: BSD-3-Clause
# Kernels as foreign functions of XLA, which JAX calls; included by _motion.pyx.

from cpython.exc cimport PyErr_SetInterrupt
from cpython.pycapsule cimport PyCapsule_New

cdef extern from "kc_xla.h" nogil:
    enum:
        KC_XLA_FLOAT, KC_XLA_DOUBLE, KC_XLA_SCALAR, KC_XLA_STRING, KC_XLA_CANCELLED, KC_XLA_FAILED_PRECONDITION

    ctypedef struct kc_xla_buffer:
        int type
        void *data
        int64_t rank
        int64_t *lengths

    ctypedef struct kc_xla_buffers:
        int64_t size
        kc_xla_buffer **at

    ctypedef struct kc_xla_text:
        const char *at
        size_t length

    ctypedef struct kc_xla_scalar:
        void *value

    ctypedef struct kc_xla_call:
        kc_xla_buffers arguments, results

    bint kc_xla_asks(kc_xla_call *call)
    void *kc_xla_error(const kc_xla_call *call, int code, const char *message)
    const void *kc_xla_attribute(const kc_xla_call *call, const char *name, int type)


cdef dict _shared = {}


def share(str identity, Model model, str kernel):
    """Let XLA call a kernel under a name, until the end of this process.

    Programs compiled by JAX have only the name, and may outlive their maker.

    Parameters
    ----------
    identity : str
        Text that is equal for equal C text, or code.
    kernel : str
        Name of the kernel, or "rhs_hessian".

    Returns
    -------
    str
        The name: ``identity``, with a number if it belongs to another compilation of the same text with other flags.
    """
    cdef int k = K_LINEARIZE if kernel == "rhs_hessian" else kernel_number(kernel)
    cdef int count = 1
    cdef kc_kernel *own = model.kernel(k)
    cdef Model other
    name = identity
    while True:
        other = _shared.setdefault(name, model)
        if other is model or model.first or other.kernel(k) == own:     # the machine has no flags
            return name
        count += 1
        name = f"{identity} {count}"


def xla_functions():
    """Two functions for XLA: the call on the CPU, and for other devices a function that reports an error."""
    return PyCapsule_New(<void *>call_of_xla, NULL, NULL), PyCapsule_New(<void *>call_elsewhere, NULL, NULL)


def xla_threads(threads):
    """Largest number of threads of a call, -1 for one on each core, as a number that XLA passes on."""
    thread_count(threads)
    return np.int64(threads)


cdef void *call_of_xla(kc_xla_call *call) noexcept nogil:
    """A call by one of XLA's threads; the error, or NULL."""
    if kc_xla_asks(call):
        return NULL
    with gil:
        return call_with_gil(call)


cdef void *call_elsewhere(kc_xla_call *call) noexcept nogil:
    if kc_xla_asks(call):
        return NULL
    return kc_xla_error(call, KC_XLA_FAILED_PRECONDITION, b"kanecore computes on the CPU alone, and this is another device: "
                        b"put the arguments on jax.devices('cpu')[0], or compute under jax.default_device(...) of it")


cdef void *call_with_gil(kc_xla_call *call) noexcept:
    try:
        call_kernel_of(call)
    except KeyboardInterrupt:
        PyErr_SetInterrupt()    # XLA has no such error, so Python raises it again later
        return kc_xla_error(call, KC_XLA_CANCELLED, b"KeyboardInterrupt")
    except BaseException as error:
        return kc_xla_error(call, KC_XLA_FAILED_PRECONDITION, f"{type(error).__name__}: {error}".encode())
    return NULL


cdef int call_kernel_of(kc_xla_call *call) except -1:
    """Write the result of the kernel in the attributes, for the arguments t, x, r, p, to XLA's memory."""
    cdef const kc_xla_scalar *threads = <const kc_xla_scalar *>kc_xla_attribute(call, "threads", KC_XLA_SCALAR)
    cdef Model model
    if call.arguments.size != 4 or call.results.size != 1 or threads == NULL:
        raise TypeError("kanecore takes the arguments t, x, r, p and gives one result")
    identity, kernel = attribute_of(call, "model"), attribute_of(call, "kernel")
    if identity not in _shared:
        raise LookupError(f"this program was compiled for a model {identity!r}, which no one has made in this process: make "
                          f"it with the same version of kanecore, and take {kernel!r} of it by dyn.jax(...), before")
    model = _shared[identity]
    t, x, r, p = [array_of_xla(call.arguments.at[i], i > 0) for i in range(4)]
    if kernel == "rhs_hessian":     # a method: of each entry of xdot
        out = array_of_xla(call.results.at[0], 3)
        t, x, r, p = t[..., None], x[..., None, :], r[..., None, :], p[..., None, :]
        out[...] = model.rhs_hessian(t, x, np.eye(model.n_x), r=r, p=p)
    else:
        k = kernel_number(kernel)
        out = array_of_xla(call.results.at[0], model.n_dims[k])
        model.evaluate(k, t if t.ndim else t.item(), x, None, r, p, out, (<const int64_t *>threads.value)[0])
    return 0


cdef str attribute_of(kc_xla_call *call, const char *name):
    cdef const kc_xla_text *text = <const kc_xla_text *>kc_xla_attribute(call, name, KC_XLA_STRING)
    if text == NULL:
        raise TypeError(f"kanecore needs the attribute {name.decode()!r}")
    return text.at[:text.length].decode()


cdef object array_of_xla(kc_xla_buffer *buffer, int n_own):
    """The memory of XLA as an array; leading axes that all have length 1 are removed."""
    cdef cnp.npy_intp lengths[MOST_AXES]
    cdef Py_ssize_t axis, size = 1, leading = 1
    cdef int n = <int>buffer.rank
    if buffer.rank > MOST_AXES or (buffer.type != KC_XLA_DOUBLE and buffer.type != KC_XLA_FLOAT):
        raise TypeError(f"kanecore takes float64 and float32, of {MOST_AXES} axes at most")
    for axis in range(n):
        size *= buffer.lengths[axis]
        if axis < n - n_own:
            leading *= buffer.lengths[axis]
    if leading == 1:
        n = min(n, n_own)
    for axis in range(n):
        lengths[axis] = buffer.lengths[buffer.rank - n + axis]
    kind = cnp.NPY_DOUBLE if buffer.type == KC_XLA_DOUBLE else cnp.NPY_FLOAT
    if size == 0:       # has no memory
        return cnp.PyArray_EMPTY(n, lengths, kind)
    return cnp.PyArray_SimpleNewFromData(n, lengths, kind, buffer.data)


def operand(Model model, str kind, settings, str kernel):
    """Operand of a kernel for parameters, inputs or a state given by name; for None, the current ones.

    Parameters
    ----------
    kind : {"parameter", "input", "state"}
    settings : mapping or None

    Returns
    -------
    ndarray, (..., n)
        NaN for parameters that the kernel does not read, and that have no value.

    Raises
    ------
    KeyError, ValueError, TypeError
        Errors of the kernels.
    """
    return model.names.rows(kind, {} if settings is None else settings, None, kernel_number(kernel))
