# SPDX-License-Identifier: BSD-3-Clause
# One call of a kernel, with one state; included by _native.pyx.

cdef object ONE = 1

# Functions and not methods, since a compiler does not inline methods.

cdef inline bint is_vector(object a, Py_ssize_t n) noexcept:
    """Test whether ``a`` is a float64 array of shape (n,) that C may read directly."""
    return ((cnp.PyArray_CheckExact(a) or type(a) is NamedArray) and cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE
            and cnp.PyArray_NDIM(a) == 1 and cnp.PyArray_DIM(a, 0) == n and cnp.PyArray_ISCARRAY_RO(a))


cdef inline bint plain(Model m, int k, object t, object x, object r, object p, Arguments *at) except -1:
    """Test whether C may read all arguments of kernel ``k`` directly; ``at`` then has their addresses."""
    if not is_vector(x, m.n_x):
        return False
    if PyFloat_Check(t):
        at.t = PyFloat_AS_DOUBLE(t)
    elif PyLong_CheckExact(t):
        at.t = PyLong_AsDouble(t)
    else:
        return False
    at.x = data(x)
    if r is None:
        at.r = m.r
    elif is_vector(r, m.n_r):
        at.r = data(r)
    else:
        at.r = NULL
    if p is None:
        at.c = m.c if m.served[k] else NULL
    elif is_vector(p, m.n_p) and all_finite(data(p), m.n_p):
        at.c = m.c
        if not m.served[k] or memcmp(data(p), m.c + m.first, m.n_p * sizeof(double)) != 0:
            m.prepare_block(data(p), m.scratch)
            at.c = m.scratch
    else:
        at.c = NULL
    return at.r != NULL and at.c != NULL


cdef bint takes_plain(Model m, int k, object t, object x, object r, object p, Arguments *at) except -1:
    """`plain`, for the other parts of the extension."""
    return plain(m, k, t, x, r, p, at)


cdef bint is_plain_vector(object a, Py_ssize_t n) noexcept:
    """`is_vector`, for the other parts of the extension."""
    return is_vector(a, n)


cdef inline bint overlapped(Model m, int k, const double *result, const Arguments *at, object r, object p) noexcept:
    """Test whether the result would overwrite x, or given r and p."""
    cdef Py_ssize_t size = m.size[k]
    return (overlap(result, size, at.x, m.n_x)
            or (r is not None and overlap(result, size, at.r, m.n_r))
            or (p is not None and overlap(result, size, data(p), m.n_p)))


cdef inline bint is_result(Model m, int k, object out) noexcept:
    """Test whether C may write the result of kernel ``k`` for one state directly into ``out``."""
    cdef int axis
    if not (cnp.PyArray_CheckExact(out) and cnp.PyArray_TYPE(out) == cnp.NPY_DOUBLE
            and cnp.PyArray_NDIM(out) == m.n_dims[k] and cnp.PyArray_ISCARRAY(out)):
        return False
    for axis in range(m.n_dims[k]):
        if cnp.PyArray_DIM(out, axis) != m.dims[k][axis]:
            return False
    return True


cdef inline bint put(double **to, object vector, Py_ssize_t n) noexcept:
    """Copy a plain vector of ``n`` numbers, None for zeros, and move ``to`` past it; False for another vector."""
    if vector is None:
        memset(to[0], 0, n * sizeof(double))
    elif is_vector(vector, n):
        memcpy(to[0], data(vector), n * sizeof(double))
    else:
        return False
    to[0] += n
    return True


cdef class Model(Parametrized):
    """A compiled model: the tables of one or more libraries, and the current parameters and inputs.

    Parameters
    ----------
    path : str
        The library with the core kernels; others are added by `open_another`.

    Raises
    ------
    ImportError
        The library cannot be opened, was compiled against another version of kanecore.h, or its table cannot be right.

    Notes
    -----
    The tables are immutable and shared.  Parameters and inputs are immutable blocks that are swapped when they are set,
    so that a call in one thread never sees half of another thread's change.
    """

    @cython.final
    cdef object evaluate(self, int k, object t, object x, object udot, object r, object p, object out,
                         object threads=ONE):
        """Evaluate one state in plain arrays directly and without allocation; other arguments go to `evaluate_any`."""
        cdef Arguments at, failed       # two variables, so that the first may stay in registers
        cdef double scalar
        cdef double *result
        cdef object array = out
        if (self.kernels[k] == NULL or threads is not ONE or self.single
                or not plain(self, k, t, x, r, p, &at)):
            return self.evaluate_any(k, t, x, udot, r, p, out, threads)
        if out is None:
            if self.n_dims[k] == 0:
                result = &scalar
            else:
                array = cnp.PyArray_EMPTY(self.n_dims[k], self.dims[k], cnp.NPY_DOUBLE)
                result = data(array)
        elif is_result(self, k, out) and not overlapped(self, k, data(out), &at, r, p):
            result = data(out)
        else:
            return self.evaluate_any(k, t, x, udot, r, p, out, threads)
        if reads_udot(k):
            if (not is_vector(udot, n_beyond(self, k))
                    or (out is not None and overlap(result, self.size[k], data(udot), n_beyond(self, k)))):
                return self.evaluate_any(k, t, x, udot, r, p, out, threads)
            memcpy(self.state, at.x, self.n_x * sizeof(double))
            memcpy(self.state + self.n_x, data(udot), n_beyond(self, k) * sizeof(double))
            at.x = self.state
        self.work[0] = 0.0
        self.kernels[k](at.t, at.x, at.r, at.c, self.work, result)
        if not all_finite(result, self.size[k]):
            failed = at
            explain(self, k, &failed, self.work, result)
        return scalar if array is None else array

    cdef object evaluate_any(self, int k, object t, object x, object udot, object r, object p, object out,
                             object threads):
        """Evaluate for all arguments that NumPy accepts: conversion, broadcasting, errors that name the argument."""
        cdef Evaluation states = Evaluation.__new__(Evaluation)
        states.threads = thread_count(threads)
        self.kernel(k)
        states.model, states.k = self, k
        states.read(t, x, udot, r, p)
        states.write_to(out)
        if states.run():
            states.settle()
        if out is None and states.result.ndim == 0:
            return states.result.item()
        return states.result

    cdef object tangent_at_once(self, int k, object t, object x, object dx, object dr, object r, object p):
        cdef double *to = self.state + self.n_x
        if dx is None:
            return None
        if not (put(&to, None, self.n_u + self.n_constraints) and put(&to, dx, self.n_x) and put(&to, dr, self.n_r)):
            return None
        return self.product_at_once(k, t, x, r, p)

    cdef object gradient_at_once(self, int k, object t, object x, object weights, bint full, object r, object p):
        cdef double *to = self.state + self.n_x
        cdef Py_ssize_t n = self.n_u + self.n_constraints
        if weights is None:
            return None
        if not (put(&to, None, n) and put(&to, weights, n_beyond(self, k) - n)):
            return None
        gradient = self.product_at_once(k, t, x, r, p)
        if full or not self.n_r or gradient is None:
            return gradient
        by_x = new_vector(self.n_x)
        memcpy(data(by_x), data(gradient), self.n_x * sizeof(double))
        return by_x

    cdef object product_at_once(self, int k, object t, object x, object r, object p):
        """Kernel ``k`` with the vectors that follow x in `state`; None if the arguments are not plain."""
        cdef Arguments at
        if self.kernels[k] == NULL or self.single or not plain(self, k, t, x, r, p, &at):
            return None
        memcpy(self.state, at.x, self.n_x * sizeof(double))
        at.x = self.state
        result = cnp.PyArray_EMPTY(self.n_dims[k], self.dims[k], cnp.NPY_DOUBLE)
        self.work[0] = 0.0
        self.kernels[k](at.t, at.x, at.r, at.c, self.work, data(result))
        if not all_finite(data(result), self.size[k]):
            explain(self, k, &at, self.work, data(result))
        return result

    @cython.final
    cdef object forward_dynamics_at_once(self, object q, object u, object tau):
        """`aba` of one state in plain arrays; None for other arguments."""
        cdef Arguments at
        cdef Py_ssize_t n = self.n_u
        if (not self.qdot_is_u or self.single or self.kernels[K_FORWARD_DYNAMICS] == NULL or not self.served[K_FORWARD_DYNAMICS]
                or not is_vector(q, self.n_q) or not is_vector(u, n) or not is_vector(tau, n)):
            return None
        memcpy(self.state, data(q), self.n_q * sizeof(double))
        memcpy(self.state + self.n_q, data(u), n * sizeof(double))
        memset(self.state + self.n_q + n, 0, self.n_z * sizeof(double))
        memcpy(self.state + self.n_x, data(tau), n * sizeof(double))
        at.t, at.x, at.r, at.c = 0.0, self.state, self.r, self.c
        result = new_vector(n)
        self.work[0] = 0.0
        self.kernels[K_FORWARD_DYNAMICS](at.t, at.x, at.r, at.c, self.work, data(result))
        if not all_finite(data(result), n):
            explain(self, K_FORWARD_DYNAMICS, &at, self.work, data(result))
        return result


cdef inline bint is_block(object a, cnp.npy_intp rows) noexcept:
    """Test whether ``a`` is a float64 matrix with the given number of contiguous rows, or without columns."""
    return (cnp.PyArray_CheckExact(a) and cnp.PyArray_TYPE(a) == cnp.NPY_DOUBLE and cnp.PyArray_NDIM(a) == 2
            and cnp.PyArray_DIM(a, 0) == rows
            and (cnp.PyArray_STRIDE(a, 1) == sizeof(double) or cnp.PyArray_DIM(a, 1) == 0)
            and cnp.PyArray_STRIDE(a, 0) >= cnp.PyArray_DIM(a, 1) * <cnp.npy_intp>sizeof(double)
            and cnp.PyArray_ISBEHAVED(a))


cdef bint take_columns(object a, object b, cnp.npy_intp rows, cnp.npy_intp columns) noexcept:
    """Test whether a square a and b are plain arrays: adjacent columns of a matrix, or separate in memory."""
    cdef cnp.npy_intp left, right, from_a_to_b
    if not (is_block(a, rows) and is_block(b, rows)):
        return False
    left, right = cnp.PyArray_DIM(a, 1), cnp.PyArray_DIM(b, 1)
    if left != rows or left + right != columns:
        return False
    from_a_to_b = <char *>cnp.PyArray_DATA(b) - <char *>cnp.PyArray_DATA(a)
    return (right == 0
            or from_a_to_b >= rows * cnp.PyArray_STRIDE(a, 0) or -from_a_to_b >= rows * cnp.PyArray_STRIDE(b, 0)
            or (cnp.PyArray_STRIDE(a, 0) == cnp.PyArray_STRIDE(b, 0) and from_a_to_b >= left * <cnp.npy_intp>sizeof(double)
                and from_a_to_b + right * <cnp.npy_intp>sizeof(double) <= cnp.PyArray_STRIDE(a, 0)))


cdef void copy_columns(const double *whole, cnp.npy_intp columns, object to, cnp.npy_intp first) noexcept:
    """Copy columns of a matrix from ``first`` on to a plain array, which has their number."""
    cdef char *row = <char *>cnp.PyArray_DATA(to)
    cdef cnp.npy_intp i, width = cnp.PyArray_DIM(to, 1) * <cnp.npy_intp>sizeof(double)
    for i in range(cnp.PyArray_DIM(to, 0) if width else 0):
        memcpy(row, whole + i * columns + first, width)
        row += cnp.PyArray_STRIDE(to, 0)
