# SPDX-License-Identifier: BSD-3-Clause
# Calls of a model's kernels for functions of the package, not for users; included by _native.pyx.

cdef class ModelKernels:
    """Kernels of a model for functions of the package: tests of existence, and fast calls at one state.

    Methods that end in ``_at_once`` take one state in plain arrays.  They return None for other arguments, and if the
    library of the kernel is not open.

    Parameters
    ----------
    model : Model
    """

    cdef readonly Model model

    def __init__(self, Model model not None):
        self.model = model

    def has(self, kernel):
        """Test whether the opened libraries have a kernel."""
        return self.model.kernels[kernel_number(kernel)] != NULL

    def method(self, kernel):
        """The method of a kernel by name: of this object if it is internal, else of the model."""
        kernel_number(kernel)
        return getattr(self, kernel, None) or getattr(self.model, kernel)

    def why_not(self, kernel):
        """Missing part of the description that a kernel needs, from the library of its group; None if no part is
        missing.
        """
        cdef Model m = self.model
        cdef int k = kernel_number(kernel)
        if m.kernels[k] == NULL and kernel not in m.missing:
            m.hooks.find(kernel)
        return m.missing.get(kernel)

    def open(self, library):
        """Add the kernels of another library of the same model.

        Parameters
        ----------
        library : str or Code
            Its path, or its code, like the first library; the table has the names and sizes of the first.

        Returns
        -------
        dict
            Facts of the library about itself: operation counts, package version.

        Raises
        ------
        ImportError
            It cannot be opened, or belongs to another model or another version of kanecore.h.
        """
        return self.model.open_another(library)

    @property
    def table_info(self):
        """Facts of the core library about itself, from its table; `Facts` has the facts of the model."""
        return self.model.core_info()

    @property
    def lanes(self):
        """The kernels for several states in open libraries, and the number of states: ({name, ...}, n)."""
        cdef Model m = self.model
        return ({name for k, name in enumerate(KERNELS) if m.lane_kernels[k] != NULL},
                0 if m.lanes == NULL else m.lanes.n_lanes)

    def values(self, str kind):
        """A copy of the current values of all parameters or inputs.

        Parameters
        ----------
        kind : {"parameter", "input"}

        Returns
        -------
        ndarray, (n_p,) or (n_r,)
            NaN where a value was never given.
        """
        self.model.opened()
        return self.model.current(kind)

    def replace(self, str kind, dict numbered):
        """Set some parameters or inputs to finite numbers, all at once."""
        self.model.replace(kind, numbered)

    def reads(self, Py_ssize_t parameter, int kernel):
        """Test whether a kernel reads a parameter, both by index; -1 means any kernel of the open libraries, -2 none.
        """
        return self.model.wanted(parameter, kernel)

    def count(self, p=None):
        """Number of rows of G that count for some parameters, by default the current ones."""
        return self.model.count(p)

    def evaluate(self, kernel, t, x, beyond, r, p, out, threads=1):
        """The result of a kernel by name; ``beyond`` is the continuation of x, udot for example, or None."""
        return self.model.evaluate(kernel_number(kernel), t, x, beyond, r, p, out, threads)

    def linearize_into(self, t, x, r, p, a, b):
        """Write A and B of one state into plain arrays that do not overlap; False for other arrays, which do not
        change.
        """
        cdef Model m = self.model
        cdef Py_ssize_t n = m.n_x, columns = n + m.n_r
        if m.kernels[K_LINEARIZE] == NULL or m.single or not take_columns(a, b, n, columns):
            return False
        whole = m.evaluate(K_LINEARIZE, t, x, None, r, p, None)
        if cnp.PyArray_NDIM(whole) != 2:
            return False
        copy_columns(data(whole), columns, a, 0)
        copy_columns(data(whole), columns, b, n)
        return True

    def inverse_dynamics_tangent_at_once(self, t, x, udot, dx, dr, dudot, r, p):
        """The change of `inverse_dynamics` along a direction, (n_u,); ``dr`` and ``dudot`` may be None, for zeros."""
        cdef Model m = self.model
        cdef double *to = m.state + m.n_x
        if udot is None or dx is None:
            return None
        if not (put(&to, udot, m.n_u) and put(&to, None, m.n_constraints) and put(&to, dx, m.n_x)
                and put(&to, dr, m.n_r) and put(&to, dudot, m.n_u)):
            return None
        return m.product_at_once(K_INVERSE_DYNAMICS_TANGENT, t, x, r, p)

    def inverse_dynamics_gradient_at_once(self, t, x, udot, weights, r, p):
        """The gradient of weights times `inverse_dynamics`, by x, r, udot, (n_x + n_r + n_u,)."""
        cdef Model m = self.model
        cdef double *to = m.state + m.n_x
        if udot is None or weights is None:
            return None
        if not (put(&to, udot, m.n_u) and put(&to, None, m.n_constraints) and put(&to, weights, m.n_u)):
            return None
        return m.product_at_once(K_INVERSE_DYNAMICS_GRADIENT, t, x, r, p)

    def rhs_tangent_at_once(self, t, x, dx, dr, r, p):
        """The change of `rhs` along a direction of x and r, (n_x,); ``dr`` may be None, for zeros."""
        return self.model.tangent_at_once(K_RHS_TANGENT, t, x, dx, dr, r, p)

    def rhs_gradient_at_once(self, t, x, weights, bint full, r, p):
        """The gradient of weights times `rhs` by x, (n_x,), and if ``full`` by r after that, (n_x + n_r,)."""
        return self.model.gradient_at_once(K_RHS_GRADIENT, t, x, weights, full, r, p)

    def output_tangent_at_once(self, t, x, dx, dr, r, p):
        """The change of `outputs` along a direction of x and r, (n_outputs,); ``dr`` may be None, for zeros."""
        return self.model.tangent_at_once(K_OUTPUT_TANGENT, t, x, dx, dr, r, p)

    def output_gradient_at_once(self, t, x, weights, bint full, r, p):
        """The gradient of weights times `outputs` by x, (n_x,), and if ``full`` by r after that, (n_x + n_r,)."""
        return self.model.gradient_at_once(K_OUTPUT_GRADIENT, t, x, weights, full, r, p)

    def rhs_hessian_at_once(self, t, x, weights, r, p):
        """The second derivatives of weights times `rhs` by x and r, (n_x + n_r, n_x + n_r)."""
        return self.model.gradient_at_once(K_RHS_HESSIAN, t, x, weights, True, r, p)
