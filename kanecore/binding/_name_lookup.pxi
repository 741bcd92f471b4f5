# SPDX-License-Identifier: BSD-3-Clause
# Parameters, inputs, coordinates and speeds by name or symbol; included by _library.pyx.

cdef dict CALLED = {
    "parameter": "parameter", "input": "input", "output": "output", "state": "coordinate or speed",
    "coordinate": "coordinate", "speed": "speed", "udot": "speed", "multiplier": "constraint",
}
"""Owners of the names of each kind, in messages."""


cdef class Named(Libraries):
    """A model that finds by name or symbol the numbers of its parameters, inputs, outputs, and of entries of x and udot."""


    def __init__(self, path):
        super().__init__(path)
        self.names = {"parameter": self.parameter_names, "input": self.input_names, "output": self.output_names,
                      "state": self.coordinate_names + self.speed_names + self.state_names, "coordinate": self.coordinate_names,
                      "speed": self.speed_names, "udot": self.speed_names, "multiplier": self.constraint_names}
        self.places = {what: {name: i for i, name in enumerate(names)} for what, names in self.names.items()}
        info = self._table_info
        rates = range(self.n_u) if self.qdot_is_u else info.get("coordinate_rates") or [-1] * self.n_q
        self.coordinate_rates = tuple(rates)
        left_out = info.get("left_out", {})
        self.left_out = {what: dict.fromkeys(left_out.get(what, ()), np.nan) for what in self.names}

    @property
    def _x_names(self):
        """Names of all entries of x = [q, u, z]."""
        return self.names["state"]

    @property
    def _speeds(self):
        """Places of the speeds in x, and of u̇ in ẋ."""
        return slice(self.n_q, self.n_q + self.n_u)

    @property
    def _states(self):
        """Places of the first-order states in x."""
        return slice(self.n_q + self.n_u, self.n_x)

    cpdef Py_ssize_t _index(self, str what, object key) except -1:
        """The number of a parameter, an input, ..., by name or symbol; KeyError where the model does not have it.

        Of the kind "udot" a derivative is that of a speed, or the speed itself where that is the rate of a coordinate.
        """
        name = symbol_name(key)
        if type(key).__name__ == "Derivative":
            return self.index_of_rate(what, key, name)
        if name not in self.places[what]:
            if what == "parameter" and name in self._baked:
                raise KeyError(f"parameter {name!r} of {self.name!r} was baked into its C text: compile the model "
                               "with bake=False, or without this one in parameters=, to set it later")
            raise unknown_name(f"{self.called(what)} of {self.name!r} is called", name, self.names[what])
        return self.places[what][name]

    def _found(self, kinds, key):
        """The first of some kinds that has a name or symbol, and its number there; KeyError where none has it."""
        for what in kinds:
            try:
                return what, self._index(what, key)
            except KeyError:
                pass
        *called, last = [word for what in kinds for word in self.called(what).replace(" or ", ", ").split(", ")]
        names = [name for what in kinds for name in self.names[what]]
        raise unknown_name(f"{', '.join(called)} or {last} of {self.name!r} is called", symbol_name(key), names)

    cdef Py_ssize_t index_of_rate(self, str what, object key, str name) except -1:
        """Name of a derivative, by the variable whose rate it is: its name may be another's."""
        cdef str base = symbol_name(key.args[0])
        cdef Py_ssize_t i = self.places[what].get(base, -1)
        cdef int order = int(key.derivative_count)
        cdef bint is_speed = what == "speed" or what == "udot"
        if is_speed and i < 0 and base in self.places["coordinate"]:
            i, order = self.coordinate_rates[self.places["coordinate"][base]], order - 1
        if what == "udot" and order > 0:
            order -= 1
        for _ in range(order):
            i = self.rate_of(what, i) if i >= 0 else -1
        if i >= 0:
            return i
        if is_speed or what == "state":
            raise KeyError(f"no {self.called(what)} of {self.name!r} is {key}: name one of the speeds "
                           f"{', '.join(self.speed_names)}")
        raise KeyError(f"no {self.called(what)} of {self.name!r} is {key}: it does not occur in the equations"
                       + (f", and {name!r} is an {what} of its own" if name in self.places[what] else ""))

    cdef Py_ssize_t rate_of(self, str what, Py_ssize_t i) except -2:
        """The number of the derivative of an input, or of a coordinate where that is a speed; else -1."""
        if what == "input":
            return self.input_rates[i]
        if what == "state" and i < self.n_q and self.coordinate_rates[i] >= 0:
            return self.n_q + self.coordinate_rates[i]
        return -1

    cdef tuple by_place(self, str what, object items, str argument):
        """Values by number, and those of names that no kernel can read, by name; each of them once.

        ``items`` are pairs of a name or symbol and a value; in messages they stand in ``argument``.
        """
        cdef dict numbered = {}, others = {}, given = {}
        for key, value in items:
            name = symbol_name(key)
            where = name if name in self.left_out[what] else self._index(what, key)
            if where in given:
                name = name if where == name else self.names[what][where]
                raise ValueError(f"{argument} gives {name!r} twice, as {given[where]!r} and as {key!r}")
            given[where] = key
            if where == name:
                others[name] = value
            else:
                numbered[where] = value
        return numbered, others

    def _by_number(self, what, given, argument):
        """The values of a mapping by the numbers of their entries, without those that no kernel can read."""
        return self.by_place(what, [(key, given[key]) for key in given.keys()], argument)[0]

    cdef str called(self, str what):
        """Owner of the names of a kind, in messages."""
        return "coordinate, speed or state" if what == "state" and self.n_z else CALLED[what]

    cdef str label(self, str what, Py_ssize_t i):
        """Name of a value in messages."""
        kind = what
        if what == "state" and i < self.n_q + self.n_u:
            kind = "coordinate" if i < self.n_q else "speed"
        return f"{kind} {self.names[what][i]!r}"

    def _entry(self, what, key, value):
        """The number of an entry of x, r or p, by name or symbol, and the finite number that it is set to."""
        i = self._index(what, key)
        return i, finite_number(self.label(what, i), value)

    cdef object at_rest(self):
        """The state in which all is zero, but unit quaternions turn nothing: (1, 0, 0, 0)."""
        state = np.zeros(self.n_x)
        for quaternion in self.unit:
            state[quaternion[0]] = 1.0
        return state


cdef object finite_number(str label, object value):
    number = real_values(label, value)
    if number.ndim != 0 or not np.isfinite(number):
        raise ValueError(f"{label} must be one finite number, got {value!r}")
    return number.item()
