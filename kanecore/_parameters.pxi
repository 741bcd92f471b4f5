# SPDX-License-Identifier: BSD-3-Clause
# The current parameters and inputs of a model, and those of one call; included by _native.pyx.

cdef enum:      # in place of the number of a kernel
    ANY = -1
    NONE = -2


cdef class Parametrized(Libraries):
    """A model with its current parameters and inputs: immutable blocks that are swapped when they are set."""

    cdef Block parameter_block, input_block
    cdef const double *c                    # of the current blocks; r NULL while a value is missing
    cdef const double *r
    cdef uint64_t served                    # bits of the kernels whose parameters have all been given
    cdef dict left_out                      # values of names that no kernel can read, by what they are
    cdef dict parameter_index, input_index
    cdef Block address_block                # the addresses of C functions, as numbers
    cdef const double *addresses
    cdef Py_ssize_t n_addresses

    def __cinit__(self, *args, **kwargs):
        self.parameter_block, self.input_block = Block.__new__(Block), Block.__new__(Block)

    def __init__(self, path, addresses=None):
        super().__init__(path)
        self.parameter_index = {name: i for i, name in enumerate(self.parameter_names)}
        self.input_index = {name: i for i, name in enumerate(self.input_names)}
        names = self._table_info.get("left_out", {})
        self.left_out = {what: dict.fromkeys(names.get(what, ()), np.nan) for what in ("parameter", "input")}
        self.take_addresses(addresses or {})
        self.set_parameters(self.new_parameters(self.table.p_default))
        self.set_inputs(new_block(self.table.r_default, self.n_r, self.n_r))

    cdef int add_kernels(self, const kc_model *m) except -1:
        Libraries.add_kernels(self, m)
        if self.parameter_block.values != NULL:
            self.served = self.served_by(self.parameter_block.values)
        return 0

    cdef uint64_t served_by(self, const double *p) noexcept nogil:
        """Bits of the kernels that read no parameter which is not finite."""
        cdef uint64_t bits = ~<uint64_t>0
        cdef Py_ssize_t i, k
        for i in range(self.n_p):
            if not isfinite(p[i]):
                for k in range(N_KERNELS):
                    if self.reads[k * self.n_p + i]:
                        bits &= ~(<uint64_t>1 << k)
        return bits

    cdef bint wanted(self, Py_ssize_t i, int k) noexcept nogil:
        """Whether kernel ``k`` reads parameter i, or ANY kernel of the libraries that are open; NONE reads none."""
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
        self.c = block.values
        self.served = self.served_by(block.values)

    cdef void set_inputs(self, Block block) noexcept:
        self.input_block = block
        self.r = block.values if block.complete else NULL

    cpdef Py_ssize_t _index(self, str what, object key) except -1:
        """The number of a parameter or input, by name or symbol; KeyError where the model does not have it."""
        cdef Py_ssize_t i
        names = self.parameter_index if what == "parameter" else self.input_index
        name = symbol_name(key)
        if type(key).__name__ == "Derivative":      # a rate by what it is the rate of: its name may be another's
            i = names.get(symbol_name(key.args[0]), -1) if what == "input" else -1
            for _ in range(int(key.derivative_count)):
                i = self.input_rates[i] if i >= 0 else -1
            if i < 0:
                raise KeyError(f"no {what} of {self.name!r} is {key}: it does not occur in the equations"
                               + (f", and {name!r} is an {what} of its own" if name in names else ""))
            return i
        if name not in names:
            if what == "parameter" and name in self._baked:
                raise KeyError(f"parameter {name!r} of {self.name!r} was baked into its C text: compile the model "
                               "with bake=False, or without this one in parameters=, to set it later")
            raise unknown(f"{what} of {self.name!r} is called", name, tuple(names))
        return names[name]

    @property
    def _baked(self):
        """Names of what were parameters and became constants of the C text, as far as it is known."""
        return ()

    cdef object current(self, str what):
        """A copy of the current values; NaN where one was never given."""
        if what == "parameter":
            return vector_of(self.parameter_block.values, self.n_p)
        return vector_of(self.input_block.values, self.n_r)

    def _values(self, what):
        """A copy of the current values of all parameters or inputs.

        Parameters
        ----------
        what : {"parameter", "input"}

        Returns
        -------
        ndarray, (n_p,) or (n_r,)
            NaN where a value was never given.
        """
        return self.current(what)

    def _value(self, what, key):
        """The current value of one parameter or input, by name or symbol; NaN if it was never given."""
        if symbol_name(key) in self.left_out[what]:
            return self.left_out[what][symbol_name(key)]
        return self.current(what)[self._index(what, key)].item()

    def _left_out(self, what):
        """Values of the names that stand only in what has no part in the motion; NaN where none was given."""
        return dict(self.left_out[what])

    def _set(self, what, values):
        """Set some parameters or inputs, all at once or, where one is wrong, none.

        Parameters
        ----------
        what : {"parameter", "input"}
        values : mapping
            From names or symbols to finite numbers.

        Raises
        ------
        KeyError
            A name that the model does not have.
        ValueError
            A value that is not finite.
        """
        cdef dict checked = {}, kept = {}
        cdef Py_ssize_t i
        self.opened()
        for key, value in values.items():
            name = symbol_name(key)
            i = -1 if name in self.left_out[what] else self._index(what, key)
            number = real_values(f"{what} {name!r}", value)
            if number.ndim != 0 or not np.isfinite(number):
                raise ValueError(f"{what} {name!r} must be one finite number, got {value!r}")
            if i < 0:
                kept[name] = number.item()
            else:
                checked[i] = number.item()
        self.left_out[what].update(kept)
        # From here on no Python code runs: threads that set different values do not undo each other's.
        merged = self.current(what)
        for i, value in checked.items():
            data(merged)[i] = value
        if what == "parameter":
            self.set_parameters(self.new_parameters(data(merged)))
        else:
            self.set_inputs(new_block(data(merged), self.n_r, self.n_r))

    cdef object missing(self, str what, object indices, str argument=None):
        """The ValueError for values that were never given."""
        names = self.parameter_names if what == "parameter" else self.input_names
        argument = argument or ("p" if what == "parameter" else "r")
        lost = [repr(names[i]) for i in indices]
        plural, were = ("s", "were") if len(lost) > 1 else ("", "was")
        return ValueError(f"{what}{plural} {', '.join(lost)} of {self.name!r} {were} never set: write "
                          f"dyn.{what}s[{lost[0]}] = ..., or {argument}={{{lost[0]}: ...}} in the call")

    cdef object rows(self, str what, object given, str argument=None, int k=ANY):
        """What one call was given: an array (..., n), or a mapping that overrides some current values.

        Parameters that kernel ``k`` does not read may be missing.
        """
        argument = argument or ("p" if what == "parameter" else "r")
        names = self.parameter_names if what == "parameter" else self.input_names
        if hasattr(given, "keys"):
            array = self.overridden(what, given, argument, k)
        else:
            meaning = f"{what}s {', '.join(names)}" if names else f"there are no {what}s"
            array = real_vectors(argument, given, len(names), meaning)
        if what == "parameter" and not np.isfinite(array).all():
            for i in np.unique(np.argwhere(~np.isfinite(array))[:, array.ndim - 1]).tolist():
                if self.wanted(i, k):
                    if np.isnan(array[..., i]).all() and isnan(self.parameter_block.values[<Py_ssize_t>i]):
                        raise self.missing(what, [i], argument)
                    raise ValueError(f"parameter {names[i]!r} is not finite in {argument}")
        return array

    cdef object overridden(self, str what, object given, str argument, int k):
        """The current values with those of a mapping in their places, (..., n)."""
        columns = {}
        for key in given:
            values = real_values(f"{argument}[{symbol_name(key)!r}]", given[key])
            if what == "parameter" and not np.isfinite(values).all():
                raise ValueError(f"parameter {symbol_name(key)!r} is not finite in {argument}")
            if symbol_name(key) not in self.left_out[what]:
                columns[self._index(what, key)] = values
        base = self.current(what)
        lost = [i for i in range(len(base)) if isnan(base[i]) and i not in columns
                and (what == "input" or self.wanted(i, k))]
        if lost:
            raise self.missing(what, lost, argument)
        array = np.empty(broadcast_shapes(*[column.shape for column in columns.values()]) + (len(base),))
        array[...] = base
        for i, column in columns.items():
            array[..., i] = column
        return array

    def _resolved(self, what, given):
        """All parameters or inputs of one run: an array, or the current values with those of a mapping.

        Parameters
        ----------
        what : {"parameter", "input"}
        given : array_like (n,), or mapping
            In messages it is ``parameters`` or ``inputs``.

        Returns
        -------
        ndarray, (n,)
            Shares no memory with what was given.  NaN for parameters that `rhs` does not read and nobody gave.

        Raises
        ------
        ValueError, TypeError, KeyError
            As the kernels, and for an input that is not finite.
        """
        argument = what + "s"
        values = np.array(self.rows(what, given, argument, K_RHS))
        names = self.parameter_names if what == "parameter" else self.input_names
        if values.shape != (len(names),):
            raise ValueError(f"{argument} has shape {values.shape}, expected ({len(names)},): one set of {what}s")
        if what == "input" and not np.isfinite(values).all():
            name = names[np.flatnonzero(~np.isfinite(values))[0]]
            raise ValueError(f"{what} {name!r} is not finite in {argument}")
        return values

    cdef int take_addresses(self, dict addresses) except -1:
        """Of the C functions that the libraries call, by name, as the numbers that stand in c behind the parameters."""
        names = list(self._table_info.get("functions", ()))
        if list(addresses) != names:
            raise ImportError(f"the library of {self.name!r} calls the C functions {', '.join(names) or 'none'}, and was "
                              f"given the addresses of {', '.join(addresses) or 'none'}")
        numbers = np.array([address for group in addresses.values() for address in group], dtype=np.float64)
        self.n_addresses = len(numbers)
        self.address_block = new_block(data(numbers), self.n_addresses, self.n_addresses)
        self.addresses = self.address_block.values
        return 0

    cdef inline void place_addresses(self, double *c) noexcept nogil:
        """Put the addresses of C functions where kernels, and ``prepare``, find them."""
        if self.n_addresses:
            memcpy(c + self.n_p, self.addresses, self.n_addresses * sizeof(double))

    cdef inline void prepare_block(self, const double *p, double *c) noexcept nogil:
        """c for parameters p."""
        self.place_addresses(c)
        self.table.prepare(p, c)

    cdef Block new_parameters(self, const double *p):
        """Parameters with the constants prepared from them."""
        cdef Block block = new_block(p, self.n_p, self.n_prepared)
        self.prepare_block(p, block.values)
        return block

    def _count(self, p=None):
        """How many rows of G count with some parameters, by default the current ones: a fact of these alone."""
        return int(self.resolve_parameters(p, K_UDOT).values[self.n_prepared - 1]) if self.n_constraints else 0

    cdef Block resolve_parameters(self, object p, int k=ANY):
        """The parameters of one call, prepared: for None the current ones, else an array or a mapping.

        Those that kernel ``k`` does not read may be missing.
        """
        return self.resolve("parameter", p, k)

    cdef Block resolve_inputs(self, object r):
        """The inputs of one call: for None the current ones, else an array or a mapping."""
        return self.resolve("input", r, ANY)

    cdef Block resolve(self, str what, object given, int k):
        cdef Block block
        parameter = what == "parameter"
        if given is None:
            block = self.parameter_block if parameter else self.input_block
            if not block.complete:
                lost = np.flatnonzero(np.isnan(self.current(what))).tolist()
                lost = [i for i in lost if not parameter or self.wanted(i, k)]
                if lost:
                    raise self.missing(what, lost)
            return block
        array = np.ascontiguousarray(self.rows(what, given, None, k))
        if array.ndim != 1:
            n = array.shape[array.ndim - 1]
            argument = "p" if parameter else "r"
            raise ValueError(f"{argument} has shape {array.shape}, expected ({n},): one set of {what}s")
        if parameter:
            return self.new_parameters(data(array))
        return new_block(data(array), self.n_r, self.n_r)

    @property
    def prepared(self):
        """A copy of the current prepared constants c, (n_prepared,), as C kernels take them.

        A snapshot: it does not follow later changes of the parameters.
        """
        return vector_of(self.resolve_parameters(None).values, self.n_prepared)

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
        cdef Py_ssize_t i
        given = np.ascontiguousarray(self.rows("parameter", p))
        result = np.empty(given.shape[:given.ndim - 1] + (self.n_prepared,))
        for i in range(result.size // self.n_prepared if self.n_prepared else 0):
            if i % PATIENCE == PATIENCE - 1:
                PyErr_CheckSignals()
            self.prepare_block(data(given) + i * self.n_p, data(result) + i * self.n_prepared)
        return result
