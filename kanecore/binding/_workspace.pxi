# SPDX-License-Identifier: BSD-3-Clause
# Arguments and results bound to fixed arrays; included by _native.pyx.

cdef extern from "Python.h":
    bint PySlice_Check(object key)
    ctypedef struct PyMappingMethods:
        object (*mp_subscript)(object, object)
        int (*mp_ass_subscript)(object, object, object) except -1
    ctypedef struct PyTypeObject:
        PyMappingMethods *tp_as_mapping
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        object (*tp_call)(object callable, object args, object words)

cdef PyMappingMethods *ARRAY = (<PyTypeObject *>np.ndarray).tp_as_mapping


cdef class Entries:
    """Part of `NamedArray` in C: control loops write into a workspace at the cost of a plain array."""

    def __getitem__(self, key):
        if PyLong_CheckExact(key):
            return ARRAY.mp_subscript(self, key)
        if is_name(key) and self._model is not None:
            key = self._model.names.index(self._what, key)
        return ARRAY.mp_subscript(without_names(self), key)

    def __setitem__(self, key, value):
        if PyLong_CheckExact(key):
            ARRAY.mp_ass_subscript(self, key, value)
            return
        if is_name(key) and self._model is not None:
            key, value = self._model.names.entry(self._what, key, value)
        ARRAY.mp_ass_subscript(without_names(self), key, value)


class NamedArray(Entries, np.ndarray):
    """The x, r or p of a workspace: an array whose entries are also read and set by name or symbol.

    Parts of it, and results computed from it, are plain arrays.
    """

    _model, _what, _plain = None, "", None

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array if array is self else np.asarray(array)[()]


cdef inline bint is_name(object key):
    return not PySlice_Check(key) and (
        isinstance(key, str) or hasattr(key, "free_symbols") and not hasattr(key, "__index__"))


cdef inline object without_names(object entries):
    """The same memory as a plain array."""
    array = entries._plain
    return np.asarray(entries) if array is None else array


cdef object named_array(Model model, str kind, object array):
    """The same memory, with the names of the model's parameters, inputs or entries of a state."""
    result = array.view(NamedArray)
    result._model, result._what, result._plain = model, kind, array
    return result


cdef class Buffers:
    """Arguments and results of one model in fixed arrays; one per thread.

    Write into the arrays, also by name or symbol, ``ws.p["m"] = 2.0``, or assign to the attributes, which copies and
    accepts mappings like the kernels.  After a change of ``p`` the next call prepares the constants.  A method returns
    its array, the same in each call; energies and power are floats.  Errors are those of the model's kernel of the same
    name.

    Parameters
    ----------
    model : Model
        t and x start at zero, r and p with the model's current values, whose later changes have no effect.

    Attributes
    ----------
    t : float
        Time, read by every method like x, r and p.
    x : ndarray, (n_x,)
        State [q, u, z].
    r : ndarray, (n_r,)
        Inputs.
    p : ndarray, (n_p,)
        Parameters.
    qdot, udot, zdot : ndarray, (n_q,), (n_u,), (n_z,)
        The parts of ``xdot``, written by `rhs`.  `generalized_inertia_forces`, `inverse_dynamics` and `power` read
        ``udot``, and return NaN until `rhs` has run or ``udot`` was assigned.  `equations_residual` reads the array of
        `multipliers` as well.
    """

    cdef Model model
    cdef kc_kernel *kernels[N_KERNELS]      # NULL until `bind`
    cdef double *results[N_KERNELS]
    cdef list arrays                        # of the results
    cdef list owners                        # of their memory, and of the arguments'
    cdef double *memory                     # c, [q, u, udot, lambda] and work
    cdef double *c
    cdef double *state
    cdef double *work
    cdef bint prepared                      # c belongs to the parameters in it
    cdef bint served[N_KERNELS]             # whether a kernel reads no parameter that is missing in p
    cdef readonly object _x, _r, _p, _udot  # for users to write into
    cdef double *x_data
    cdef double *r_data
    cdef double *p_data
    cdef double *udot_data
    cdef public double t
    cdef readonly object qdot, zdot

    def __cinit__(self, Model model not None):
        model.opened()
        self.model = model
        self.arrays, self.owners = [None] * N_KERNELS, []
        self._x, self._r, self._p = self.values("state"), self.values("input"), self.values("parameter")
        self._x[...], self._r[...], self._p[...] = 0.0, model.names.current("input"), model.names.current("parameter")
        self.x_data, self.r_data, self.p_data = data(self._x), data(self._r), data(self._p)
        xdot = self.array_of(K_RHS)
        self.qdot, self.zdot = xdot[:model.n_q], xdot[model.n_q + model.n_u:]
        self._udot = named_array(model, "udot", xdot[model.n_q:model.n_q + model.n_u])
        self.udot_data = data(self._udot)

    def __dealloc__(self):
        PyMem_Free(self.memory)

    def __repr__(self):
        m = self.model
        return f"<{type(self).__name__} of {m.name!r} at t = {self.t:g}: x ({m.n_x},), r ({m.n_r},), p ({m.n_p},)>"

    @property
    def x(self):
        """The state [q, u, z], (n_x,)."""
        return self._x

    @x.setter
    def x(self, value):
        self._x[...] = self.model.names.rows("state", value)

    @property
    def r(self):
        """The inputs, (n_r,)."""
        return self._r

    @r.setter
    def r(self, value):
        self._r[...] = self.model.names.rows("input", value)

    @property
    def p(self):
        """The parameters, (n_p,)."""
        return self._p

    @p.setter
    def p(self, value):
        self._p[...] = self.model.names.rows("parameter", value, None, NONE if hasattr(value, "keys") else ANY)

    @property
    def udot(self):
        """The derivatives of the speeds, (n_u,): a part of `xdot`, read by kernels that depend on udot."""
        return self._udot

    @udot.setter
    def udot(self, value):
        self._udot[...] = self.model.names.rows("udot", value)

    cdef object values(self, str kind):
        """A new array with named entries for an argument."""
        return named_array(self.model, kind, self.array((len(self.model.names.of(kind)),)))

    cdef object array(self, tuple shape):
        """A new array of NaN. Its memory lives at least as long as this workspace."""
        cdef Py_ssize_t i, size = 1
        for i in range(len(shape)):
            size *= shape[i]
        memory = new_memory(size)
        self.owners.append(memory)
        result = array_over(memory, shape, self.model.single)
        result[...] = np.nan
        return result

    cdef object array_of(self, int k):
        """The array that a kernel writes."""
        if self.kernels[k] == NULL:
            self.bind(k)
        return self.arrays[k]

    cdef int bind(self, int k) except -1:
        """Fetch a kernel, make its array, and grow the work space to the needs of its library."""
        cdef Model m = self.model
        cdef double *memory
        cdef kc_kernel *f = m.kernel(k)
        array = self.array(tuple([m.dims[k][i] for i in range(m.n_dims[k])]))
        cdef Py_ssize_t n_state = m.n_x + m.n_u + m.n_constraints
        memory = allocate(m.n_prepared + n_state + m.n_work)
        PyMem_Free(self.memory)
        self.memory, self.c = memory, memory
        self.state, self.work = memory + m.n_prepared, memory + m.n_prepared + n_state
        self.prepared = False
        self.arrays[k] = array
        self.results[k] = data(array)
        self.kernels[k] = f
        return 0

    cdef int prepare(self) except -1:
        cdef Model m = self.model
        m.prepare_block(self.p_data, self.c)
        memcpy(shifted(self.c, m.first, m.item), self.p_data, m.n_p * m.item)
        p = self._p.astype(DOUBLE) if m.single else self._p
        m.note_served(data(p), self.served)
        self.prepared = True
        return 0

    cdef int refuse(self, int k) except -1:
        """Raise for parameters in p that a kernel reads and that are missing or not finite."""
        cdef Model m = self.model
        unset = np.flatnonzero(np.isnan(self._p) & np.isnan(m.names.current("parameter"))).tolist()
        unset = [i for i in unset if m.wanted(i, k)]
        if unset:
            raise m.names.missing("parameter", unset)
        m.names.rows("parameter", self._p, None, k)
        return 0

    @cython.final
    cdef inline object call(self, int k):
        cdef Model m = self.model
        cdef const double *x = self.x_data
        if self.kernels[k] == NULL:
            self.bind(k)
        if reads_multipliers(k):
            self.array_of(K_MULTIPLIERS)    # before c is prepared: it may move
        # c holds p, so a change of p shows at once.
        if not self.prepared or memcmp(shifted(self.c, m.first, m.item), self.p_data, m.n_p * m.item) != 0:
            self.prepare()
        if not self.served[k]:
            self.refuse(k)
        if reads_udot(k):
            memcpy(self.state, self.x_data, m.n_x * m.item)
            memcpy(shifted(self.state, m.n_x, m.item), self.udot_data, m.n_u * m.item)
            if reads_multipliers(k):
                memcpy(shifted(self.state, m.n_x + m.n_u, m.item), self.results[K_MULTIPLIERS], m.n_constraints * m.item)
            x = self.state
        call_kernel(self.kernels[k], self.t, x, self.r_data, self.c, self.work, self.results[k], m.single)
        if not finite_numbers(self.results[k], m.size[k], m.single):
            self.explain_result(k, x)
        return number_at(self.results[k], 0, m.single) if m.n_dims[k] == 0 else self.arrays[k]

    def evaluate(self, kernel):
        """The result of a kernel by name, as from its method."""
        return self.call(kernel_number(kernel))

    cdef int explain_result(self, int k, const double *x) except -1:
        cdef Model m = self.model
        cdef Arguments at
        unset = np.isnan(self._r) & np.isnan(m.names.current("input"))
        if unset.any():
            raise m.names.missing("input", np.flatnonzero(unset))
        at.t, at.x, at.r, at.c = self.t, x, self.r_data, self.c
        return explain(m, k, &at, self.work, self.results[k])
