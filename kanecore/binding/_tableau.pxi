# SPDX-License-Identifier: BSD-3-Clause
# The numbers of the integration methods, for derivatives of steps; included by _motion.pyx.

from kanecore._ode cimport kc_interpolant, kc_rosenbrock


cdef object copied(const double *numbers, tuple shape):
    """Numbers of C as an array; None if there are none."""
    if numbers == NULL:
        return None
    array = np.empty(shape)
    memcpy(cnp.PyArray_DATA(array), numbers, array.nbytes)
    return array


@cython.final
cdef class Tableau:
    """The coefficients of a method, with the letters of kc_method.h and kc_rosenbrock.h.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    stiff : bool
        The stiff method of "auto" and "auto_w".

    Attributes
    ----------
    stages, extended : int
    a, c : ndarray or None
        Butcher's, (extended, extended) and (extended,); None if there is no tableau.
    implicit : tuple of ndarray, or None
        a, c, alpha, gamma and m of a linearly implicit method.
    adaptive : bool
    """

    cdef const kc_method *method
    cdef readonly int stages, extended
    cdef readonly object a, c, implicit
    cdef readonly bint adaptive

    def __init__(self, str method, bint stiff=False):
        cdef const kc_method *m = kc_find_method(method.encode())
        if stiff:
            m = m.stiff
        self.method, self.stages, self.extended = m, m.stages, m.extended
        self.adaptive = kc_is_adaptive(m)
        self.a, self.c = copied(m.a, (m.extended, m.extended)), copied(m.c, (m.extended,))
        cdef const kc_rosenbrock *b = m.rosenbrock
        if b != NULL and m.a == NULL:
            n = b.stages
            self.implicit = (copied(b.a, (n, n)), copied(b.c, (n, n)), copied(b.alpha, (n,)), copied(b.gamma, (n,)),
                             copied(b.m, (n,)))

    def interpolant(self, theta):
        """The weights of `kc_interpolant` at places in a step, 0 to 1: (N, 3 + extended)."""
        cdef Py_ssize_t i, n = len(theta)
        weights = np.empty((n, 3 + self.extended))
        for i in range(n):
            kc_interpolant(self.method, theta[i], data(weights[i]))
        return weights
