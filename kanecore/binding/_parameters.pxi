# SPDX-License-Identifier: BSD-3-Clause
# The current parameters and inputs of a model, and those of one call; included by _library.pyx.

cdef dict ARGUMENT = {"parameter": "p", "input": "r", "state": "x", "udot": "udot", "multiplier": "multipliers"}
"""The argument of a call by the kind of its values."""

cdef dict MEANING = {
    "state": "coordinates, then speeds", "coordinate": "coordinates", "speed": "one for each speed",
    "udot": "derivatives of the speeds", "multiplier": "one for each row of G",
}
"""Meaning of the entries of an array, if their names would not say it."""


cdef class Parametrized(Named):
    """A model with its current parameters and inputs: immutable blocks that are swapped when they are set."""


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
        """Write of each kernel whether it reads no parameter which is not finite."""
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

    cdef object current(self, str what):
        """A copy of the current values, NaN where one was never given; of a state, or a part of one, those at rest."""
        if what == "parameter":
            return vector_of(self.parameter_block.values + self.first, self.n_p)
        if what == "input":
            return vector_of(self.input_block.values, self.n_r)
        return self.at_rest() if what == "state" else np.zeros(len(self.names[what]))

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
        """Values of names that occur only in parts without effect on the motion; NaN if none was given."""
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
        cdef Py_ssize_t i
        cdef dict numbered, others
        self.opened()
        numbered, others = self.by_place(what, values.items(), f"{what}s")
        numbered = {i: finite_number(self.label(what, i), value) for i, value in numbered.items()}
        others = {name: finite_number(f"{what} {name!r}", value) for name, value in others.items()}
        self.left_out[what].update(others)
        # From here on no Python code runs: threads that set different values do not undo each other's.
        merged = self.current(what)
        for i, value in numbered.items():
            data(merged)[i] = value
        if what == "parameter":
            self.set_parameters(self.new_parameters(data(merged)))
        else:
            self.set_inputs(self.new_inputs(data(merged)))

    cdef object missing(self, str what, object indices, str argument=None):
        """The ValueError for values that were never given."""
        names = self.names[what]
        argument = argument or ARGUMENT[what]
        lost = [repr(names[i]) for i in indices]
        plural, were = ("s", "were") if len(lost) > 1 else ("", "was")
        return ValueError(f"{what}{plural} {', '.join(lost)} of {self.name!r} {were} never set: write "
                          f"dyn.{what}s[{lost[0]}] = ..., or {argument}={{{lost[0]}: ...}} in the call")

    cdef object rows(self, str what, object given, str argument=None, int k=ANY):
        """Array (..., n) from an argument of one call: an array, or a mapping that overrides some current values.

        Parameters that kernel ``k`` does not read may be missing.
        """
        argument = argument or ARGUMENT[what]
        names = self.names[what]
        if hasattr(given, "keys"):
            array = numbers(self.overridden(what, [(key, given[key]) for key in given.keys()], argument, k), self.dtype)
        else:
            meaning = MEANING.get(what) or (f"{what}s {', '.join(names)}" if names else f"there are no {what}s")
            if what == "state" and self.n_z:
                meaning += ", then first-order states"
            array = real_vectors(argument, given, len(names), meaning, self.dtype)
        if what == "parameter" and not np.isfinite(array).all():
            for i in np.unique(np.argwhere(~np.isfinite(array))[:, array.ndim - 1]).tolist():
                if self.wanted(i, k):
                    if np.isnan(array[..., i]).all() and isnan(self.parameter_block.values[self.first + <Py_ssize_t>i]):
                        raise self.missing(what, [i], argument)
                    raise ValueError(f"parameter {names[i]!r} is not finite in {argument}")
        return array

    cdef object overridden(self, str what, object items, str argument, int k):
        """The current values with those of pairs of a name or symbol and a value in their places, (..., n)."""
        cdef dict columns
        names = self.names[what]
        numbered, others = self.by_place(what, items, argument)
        columns = {i: self.column(what, names[i], value, argument) for i, value in numbered.items()}
        for name, value in others.items():
            self.column(what, name, value, argument)
        base = self.current(what)
        lost = [i for i in range(len(base)) if isnan(base[i]) and i not in columns
                and (what == "input" or self.wanted(i, k))]
        if lost:
            raise self.missing(what, lost, argument)
        for quaternion in self.unit if what == "state" else ():
            if any([place in columns for place in quaternion]):     # entries that are not named are zero, as elsewhere
                base[quaternion[0]] = 0.0
        array = np.empty(joint_shape(argument, names, columns) + (len(base),))
        array[...] = base
        for i, column in columns.items():
            array[..., i] = column
        return array

    cdef object column(self, str what, str name, object value, str argument):
        """Value of one name in a mapping, of any shape."""
        values = real_values(f"{argument}[{name!r}]", value)
        if what == "parameter" and not np.isfinite(values).all():
            raise ValueError(f"parameter {name!r} is not finite in {argument}")
        return values

    def _rows(self, what, given, argument):
        """Values of a kind, as an array or by name, as an array (..., n) of the type that kernels take."""
        return self.rows(what, given, argument)

    def _as_state(self, x, argument="x"):
        """Array for a mapping by name or symbol; other arguments stay as they are."""
        return self.rows("state", x, argument) if hasattr(x, "keys") else x

    def _state_of(self, items):
        """The state (..., n_x) of pairs of a coordinate or speed, by name or symbol, and a finite value."""
        state = self.overridden("state", items, "state", NONE)
        if not np.isfinite(state).all():
            i = np.argwhere(~np.isfinite(state))[0][state.ndim - 1]
            raise ValueError(f"{self.label('state', i)} is not finite")
        return state

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
            Shares no memory with the argument.  NaN for parameters that `rhs` does not read and that are not set.

        Raises
        ------
        ValueError, TypeError, KeyError
            As the kernels, and for an input that is not finite.
        """
        argument = what + "s"
        values = np.array(self.rows(what, given, argument, K_RHS))
        names = self.names[what]
        if values.shape != (len(names),):
            raise ValueError(f"{argument} has shape {values.shape}, expected ({len(names)},): one set of {what}s")
        if what == "input" and not np.isfinite(values).all():
            name = names[np.flatnonzero(~np.isfinite(values))[0]]
            raise ValueError(f"{what} {name!r} is not finite in {argument}")
        return values

    cdef int take_addresses(self, dict addresses) except -1:
        """Take the addresses of C functions that the libraries call: in c they follow the parameters, as numbers."""
        names = list(self._table_info.get("functions", ()))
        if list(addresses) != names:
            raise ImportError(f"the library of {self.name!r} calls the C functions {', '.join(names) or 'none'}, and was "
                              f"given the addresses of {', '.join(addresses) or 'none'}")
        numbers = np.array([address for group in addresses.values() for address in group], dtype=np.float64)
        self.n_addresses = len(numbers)
        self.address_block = new_block(data(numbers), self.n_addresses, self.n_addresses)
        self.addresses = self.address_block.values
        return 0

    cdef void place_addresses(self, double *c) noexcept nogil:
        """Put the addresses of C functions, and of the machine's code, where kernels and ``prepare`` find them."""
        if self.n_addresses:
            memcpy(c + self.first + self.n_p, self.addresses, self.n_addresses * sizeof(double))
        if self.first:
            c[0] = <double><uintptr_t>(<Machine>self.machine).model

    cdef void prepare_block(self, const double *p, double *c) noexcept nogil:
        """c for parameters p."""
        self.place_addresses(c)
        call_prepare(self.table.prepare, p, c, self.single)

    cdef Block new_parameters(self, const double *p):
        """Parameters with the constants prepared from them."""
        cdef Block block
        if self.single:
            block = in_floats(new_block(p, self.n_p, self.n_p), self.n_p, self.n_prepared + self.n_p)
            self.prepare_block(behind(block.read, self.n_prepared, self.item), block.read)
        else:
            block = new_block(p, self.n_p, self.n_prepared)
            self.prepare_block(p, block.read)
        return block

    cdef Block new_inputs(self, const double *r):
        cdef Block block = new_block(r, self.n_r, self.n_r)
        return in_floats(block, self.n_r, self.n_r) if self.single else block

    def _count(self, p=None):
        """Number of rows of G that count with some parameters, by default the current ones: a fact of these alone."""
        if not self.n_constraints:
            return 0
        return int(number_at(self.resolve_parameters(p, K_UDOT).read, self.n_prepared - 1, self.single))

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
        array = np.ascontiguousarray(self.rows(what, given, None, k), dtype=DOUBLE)
        if array.ndim != 1:
            n = array.shape[array.ndim - 1]
            raise ValueError(f"{ARGUMENT[what]} has shape {array.shape}, expected ({n},): one set of {what}s")
        if parameter:
            return self.new_parameters(data(array))
        return self.new_inputs(data(array))

    @property
    def prepared(self):
        """A copy of the current prepared constants c, (n_prepared,), as C kernels take them.

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
        return self.prepared_rows(self.rows("parameter", p))

    cdef object prepared_rows(self, object p):
        """The constants of parameters (..., n_p)."""
        cdef Py_ssize_t i
        given = np.ascontiguousarray(p, dtype=self.dtype)
        result = np.empty(given.shape[:given.ndim - 1] + (self.n_prepared,), dtype=self.dtype)
        for i in range(result.size // self.n_prepared if self.n_prepared else 0):
            if i % PATIENCE == PATIENCE - 1:
                PyErr_CheckSignals()
            self.prepare_block(behind(data(given), i * self.n_p, self.item),
                               behind(data(result), i * self.n_prepared, self.item))
        return result


cdef tuple joint_shape(str argument, object names, dict columns):
    """The shape to which all values of a mapping broadcast."""
    try:
        return broadcast_shapes(*[column.shape for column in columns.values()])
    except ValueError as error:
        shapes = ", ".join([f"{names[i]} {column.shape}" for i, column in columns.items() if column.ndim])
        raise ValueError(f"values of {argument} do not broadcast: {shapes}: {error}") from None
