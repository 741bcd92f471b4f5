# SPDX-License-Identifier: BSD-3-Clause
# The current parameters and inputs of a model, and those of a call; included by _library.pyx.

cdef class Parametrized(Libraries):
    """A model with its current parameters and inputs: immutable blocks that are swapped when they are set.

    `kanecore.binding.names.Names` finds them by name.
    """

    def __cinit__(self, *args, **kwargs):
        self.parameter_block, self.input_block = Block.__new__(Block), Block.__new__(Block)

    def __init__(self, library, addresses=None):
        super().__init__(library)
        self.take_addresses(addresses or {})
        self.set_parameters(self.new_parameters(self.table.p_default))
        self.set_inputs(self.new_inputs(self.table.r_default))

    cdef int add_kernels(self, const kc_model *m) except -1:
        Libraries.add_kernels(self, m)
        if self.parameter_block.values != NULL:
            self.note_served(self.parameter_block.values + self.first, self.served)
        return 0

    cdef void note_served(self, const double *p, bint *served) noexcept nogil:
        """Record for each kernel whether all parameters that it reads are finite."""
        cdef Py_ssize_t i, k
        for k in range(N_KERNELS):
            served[k] = True
        for i in range(self.n_p):
            if not isfinite(p[i]):
                for k in range(N_KERNELS):
                    if self.reads[k * self.n_p + i]:
                        served[k] = False

    cdef bint wanted(self, Py_ssize_t i, int k) noexcept nogil:
        """Test whether kernel ``k`` reads parameter i, or ANY kernel of the open libraries; NONE reads none."""
        cdef Py_ssize_t other
        if k >= 0:
            return self.reads[k * self.n_p + i]
        if k == NONE:
            return False
        for other in range(N_KERNELS):
            if self.kernels[other] != NULL and self.reads[other * self.n_p + i]:
                return True
        return False

    cdef void set_parameters(self, Block block) noexcept:
        self.parameter_block = block
        self.c = block.read
        self.note_served(block.values + self.first, self.served)

    cdef void set_inputs(self, Block block) noexcept:
        self.input_block = block
        self.r = block.read if block.complete else NULL

    cdef object current(self, str kind):
        if kind == "parameter":
            return vector_of(self.parameter_block.values + self.first, self.n_p)
        return vector_of(self.input_block.values, self.n_r)

    cdef int replace(self, str kind, dict numbered) except -1:
        """Set finite numbers in the places of some parameters or inputs.

        No Python code runs meanwhile, so threads that set different values do not undo each other's changes.
        """
        merged = self.current(kind)
        for i, value in numbered.items():
            data(merged)[<Py_ssize_t>i] = value
        if kind == "parameter":
            self.set_parameters(self.new_parameters(data(merged)))
        else:
            self.set_inputs(self.new_inputs(data(merged)))
        return 0

    cdef int take_addresses(self, dict addresses) except -1:
        """Set the addresses of C functions that the libraries call: in c they follow the parameters, as numbers."""
        names = list(self.core_info().get("functions", ()))
        if list(addresses) != names:
            raise ImportError(f"the library of {self.name!r} calls the C functions {', '.join(names) or 'none'}, and was "
                              f"given the addresses of {', '.join(addresses) or 'none'}")
        numbers = np.array([address for group in addresses.values() for address in group], dtype=np.float64)
        self.n_addresses = len(numbers)
        self.address_block = new_block(data(numbers), self.n_addresses, self.n_addresses)
        self.addresses = self.address_block.values
        return 0

    cdef void place_addresses(self, double *c) noexcept nogil:
        """Copy the addresses of C functions, and of the interpreter's code, to their places for kernels and
        ``prepare``.
        """
        if self.n_addresses:
            memcpy(c + self.first + self.n_p, self.addresses, self.n_addresses * sizeof(double))
        if self.first:
            c[0] = <double><uintptr_t>(<Machine>self.machine).model

    cdef void prepare_block(self, const double *p, double *c) noexcept nogil:
        """The constants c for parameters p."""
        self.place_addresses(c)
        call_prepare(self.table.prepare, p, c, self.single)

    cdef Block new_parameters(self, const double *p):
        """Parameters with the constants prepared from them."""
        cdef Block block
        if self.single:
            block = in_floats(new_block(p, self.n_p, self.n_p), self.n_p, self.n_prepared + self.n_p)
            self.prepare_block(shifted(block.read, self.n_prepared, self.item), block.read)
        else:
            block = new_block(p, self.n_p, self.n_prepared)
            self.prepare_block(p, block.read)
        return block

    cdef Block new_inputs(self, const double *r):
        cdef Block block = new_block(r, self.n_r, self.n_r)
        return in_floats(block, self.n_r, self.n_r) if self.single else block

    cdef Py_ssize_t count(self, object p) except -1:
        """Number of rows of G that count for some parameters; None means the current ones."""
        if not self.n_constraints:
            return 0
        return int(number_at(self.resolve_parameters(p, K_UDOT).read, self.n_prepared - 1, self.single))

    cdef Block resolve_parameters(self, object p, int k=ANY):
        """The prepared parameters of a call: the current ones for None, else an array or a mapping.

        Parameters that kernel ``k`` does not read may be missing.
        """
        return self.resolve("parameter", p, k)

    cdef Block resolve_inputs(self, object r):
        """The inputs of a call: the current ones for None, else an array or a mapping."""
        return self.resolve("input", r, ANY)

    cdef Block resolve(self, str kind, object settings, int k):
        cdef Block block
        parameter = kind == "parameter"
        if settings is None:
            block = self.parameter_block if parameter else self.input_block
            if not block.complete:
                lost = np.flatnonzero(np.isnan(self.current(kind))).tolist()
                lost = [i for i in lost if not parameter or self.wanted(i, k)]
                if lost:
                    raise self.names.missing(kind, lost)
            return block
        array = np.ascontiguousarray(self.names.rows(kind, settings, None, k), dtype=DOUBLE)
        if array.ndim != 1:
            n = array.shape[array.ndim - 1]
            raise ValueError(f"{'p' if parameter else 'r'} has shape {array.shape}, expected ({n},): one set of {kind}s")
        if parameter:
            return self.parameter_block if self.are_current(array) else self.new_parameters(data(array))
        return self.new_inputs(data(array))

    cdef bint are_current(self, object p):
        """Test whether p, (n_p,), are the current parameters: their constants need not be prepared again."""
        return (self.parameter_block.complete and cnp.PyArray_NDIM(p) == 1 and is_ready(p, DOUBLE)
                and memcmp(data(p), self.parameter_block.values + self.first, self.n_p * sizeof(double)) == 0)

    @property
    def prepared(self):
        """A copy of the current prepared constants c, (n_prepared,), for C kernels.

        A snapshot: it does not follow later changes of the parameters.
        """
        return numbers_of(self.resolve_parameters(None).read, self.n_prepared, self.single)

    def prepare(self, p):
        """The prepared constants of other parameters.

        Parameters
        ----------
        p : array_like, (..., n_p), or mapping
            A mapping overrides the current values.

        Returns
        -------
        ndarray, (..., n_prepared)
        """
        return self.prepared_rows(self.names.rows("parameter", p))

    cdef object prepared_rows(self, object p):
        """The constants of parameters (..., n_p)."""
        cdef Py_ssize_t i
        values = np.ascontiguousarray(p, dtype=self.dtype)
        result = np.empty(values.shape[:values.ndim - 1] + (self.n_prepared,), dtype=self.dtype)
        for i in range(result.size // self.n_prepared if self.n_prepared else 0):
            if i % PATIENCE == PATIENCE - 1:
                PyErr_CheckSignals()
            self.prepare_block(shifted(data(values), i * self.n_p, self.item),
                               shifted(data(result), i * self.n_prepared, self.item))
        return result
