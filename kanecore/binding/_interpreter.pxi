# SPDX-License-Identifier: BSD-3-Clause
# Models in code, for the interpreter of src/interpreter/kc_interpreter.h; included by _library.pyx.

from kanecore.binding.code_checks import check_kernel, check_operations, check_preparing, check_solver, reach_of_program

cdef extern from "interpreter/kc_interpreter.h" nogil:
    ctypedef struct kc_operation:
        const char *name
        int operands

    ctypedef struct kc_coded_part:
        const double *constants
        const uint32_t *loads
        const uint32_t *stores
        const uint16_t *code
        uint32_t n_constants

    ctypedef struct kc_coded_function:
        int way, n_parts
        const kc_coded_part *parts
        uint32_t clear, width
        const void *structure
        const void *equations
        const void *splines

    ctypedef struct kc_coded_kernel:
        const kc_coded_function *function
        const kc_coded_function *before
        uint32_t offset, n

    ctypedef struct kc_machine:
        kc_coded_kernel *kernels
        const kc_coded_function **functions
        const kc_coded_function *prepare
        const kc_coded_function *counting
        uint32_t prepare_room, n_prepared

    ctypedef struct kc_coded_member:
        const char *name
        int kind
        size_t offset

    ctypedef struct kc_coded_way:
        const char *name
        size_t size
        const kc_coded_member *members
        int n_sizes
        int (*room)(const int *sizes)

    ctypedef struct kc_machine_kind:
        const kc_coded_way *ways
        size_t equations, spline
        void (*fill_equations)(void *equations, int n, int m, int k, int symmetric, int correction)
        void (*fill_axis)(void *spline, int axis, const double *knots, int n)
        void (*fill_spline)(void *spline, const double *hermite, int outside)
        void (*prepare)(const double *p, double *c) noexcept nogil
        kc_kernel **kernels
        void **functions      # kc_coded_call, of which only the addresses are needed

    int KC_PROGRAM, KC_CODED_KERNELS, KC_CODED_FUNCTIONS, KC_ARRAYS, KC_IN_X, KC_IN_R, KC_IN_C, KC_IN_W, KC_IN_OUT
    int KC_NUMBER, KC_INTEGERS, KC_REALS, KC_FUNCTION, KC_EQUATIONS
    uint32_t KC_NEGATIVE
    const kc_operation *kc_operations
    const kc_machine_kind *kc_this_machine()
    uint32_t kc_check_code(const kc_coded_part *part, uint32_t n_loads, size_t n, uint32_t n_splines)


cdef class Machine:
    """Code of a model for the interpreter, made from the output of `kanecore.emit.bytecode`, and checked.

    Its memory belongs to NumPy arrays and bytes objects, which live as long as the object.
    """

    cdef kc_machine *model
    cdef kc_machine_kind *kind
    cdef list owned
    cdef int n_functions                # functions that other functions call
    cdef bint calls                     # whether the code calls functions in C by their addresses
    cdef object named                   # splines of the first group
    cdef kc_coded_function *functions   # of the group to open
    cdef list rooms, reaches            # size of each function's scratch, and its reach

    def __cinit__(self):
        self.owned, self.n_functions, self.kind = [], 0, <kc_machine_kind *>kc_this_machine()
        self.model = <kc_machine *>self.room(sizeof(kc_machine))

    cdef void *room(self, Py_ssize_t n_bytes):
        """Zeros that live as long as this object."""
        array = np.zeros((n_bytes + 7) // 8 + 1)
        self.owned.append(array)
        return cnp.PyArray_DATA(array)

    cdef const void *array(self, object values, object dtype):
        array = np.ascontiguousarray(values, dtype=dtype)
        self.owned.append(array)
        return cnp.PyArray_DATA(array)

    cdef const kc_model *open(self, object code) except NULL:
        """Add a group of kernels; its table."""
        try:
            return self.table(code)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
            raise ImportError(f"the code of a model cannot be right: {error}: compile the model again") from error

    cdef const kc_model *table(self, object code) except NULL:
        cdef kc_model *m = <kc_model *>self.room(sizeof(kc_model))
        cdef kc_kernel **members = first_kernel(m)
        cdef int k
        if code.operations != tuple(operations()):
            raise ValueError("it is for another version of kanecore")
        self.fill_functions(code)
        fill_sizes(m, code.sizes)
        m.n_work = 2 + max(self.rooms, default=0)
        m.flags = code.flags
        self.fill_names(m, code.names)
        self.fill_numbers(m, code.numbers)
        if code.prepare is not None:
            self.function(code.prepare)
            check_preparing(code, self.reaches, max(self.rooms[code.prepare], self.rooms[code.counting or 0]))
            m.prepare = self.kind.prepare
        for name, (function, before, offset, length) in code.kernels.items():
            k = kernel_number(name)
            self.function(function)
            self.function(max(before, 0))
            members[k] = self.kind.kernels[k]
        check_table(m)
        if self.named is None:
            self.named = table_info(m).get("functions", ())
        if self.calls and not self.named:
            raise ValueError("it calls functions of C, and names none")
        return m

    cdef int check_kernels(self, object code, Libraries libraries) except -1:
        """Raise ImportError for a kernel that would exceed its arguments or its result."""
        cdef int k
        try:
            for name, kernel in code.kernels.items():
                k = kernel_number(name)
                n_x = libraries.n_x + n_beyond(libraries, k)
                check_kernel(name, self.reaches, kernel, libraries.size[k], n_x, libraries.n_r)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ImportError(f"the code of a model cannot be right: {error}: compile the model again") from error
        return 0

    cdef int install(self, object code) except -1:
        """Let the interpreter run the last opened group, after a check that it belongs to this model."""
        cdef int k
        if code.prepare is not None:
            self.fill_preparing(code)
        for name, (function, before, offset, length) in code.kernels.items():
            k = kernel_number(name)
            self.model.kernels[k].function = self.function(function)
            self.model.kernels[k].before = self.function(before) if before >= 0 else NULL
            self.model.kernels[k].offset, self.model.kernels[k].n = offset, length
        return 0

    cdef int fill_preparing(self, object code) except -1:
        self.model.prepare = self.function(code.prepare)
        self.model.prepare_room = max(self.rooms[code.prepare], 1)
        if code.counting is not None:
            self.model.counting = self.function(code.counting)
            self.model.prepare_room = max(self.model.prepare_room, self.rooms[code.counting])
        self.model.n_prepared = code.sizes["n_prepared"]
        return 0

    cdef int fill_numbers(self, kc_model *m, object numbers) except -1:
        for member, n in (("p_default", m.n_p), ("r_default", m.n_r), ("r_rates", m.n_r), ("unit", 4 * m.n_unit)):
            if len(numbers[member]) != n:
                raise ValueError(f"{member} has {len(numbers[member])} numbers, and not {n}")
        m.p_default = <const double *>self.array(numbers["p_default"], np.float64)
        m.r_default = <const double *>self.array(numbers["r_default"], np.float64)
        m.r_rates = <const int32_t *>self.array(numbers["r_rates"], np.int32)
        m.unit = <const uint32_t *>self.array(numbers["unit"], np.uint32)
        return 0

    cdef int fill_names(self, kc_model *m, object names) except -1:
        (text,) = names["name"]
        self.owned.append(text.encode())
        m.name = self.owned[len(self.owned) - 1]
        m.info, m.n_info = self.texts(names["info"]), len(names["info"])
        m.q_names, m.u_names = self.texts(names["q_names"]), self.texts(names["u_names"])
        m.z_names = self.texts(names.get("z_names", ()))
        m.p_names, m.r_names = self.texts(names["p_names"]), self.texts(names["r_names"])
        m.point_names, m.frame_names = self.texts(names["point_names"]), self.texts(names["frame_names"])
        m.output_names, m.joint_names = self.texts(names["output_names"]), self.texts(names["joint_names"])
        m.body_names, m.constraint_names = self.texts(names["body_names"]), self.texts(names["constraint_names"])
        return 0

    cdef const char *const *texts(self, object texts) except NULL:
        cdef const char **result = <const char **>self.room((len(texts) + 1) * sizeof(char *))
        for i, text in enumerate(texts):
            encoded = text.encode()
            self.owned.append(encoded)
            result[<Py_ssize_t>i] = encoded
        return <const char *const *>result

    # ------------------------------------------------------------------------------------------ functions
    cdef const kc_coded_function *function(self, Py_ssize_t i) except NULL:
        if not 0 <= i < len(self.rooms):
            raise ValueError(f"function {i} is called before it is there")
        return self.functions + i

    cdef int fill_functions(self, object code) except -1:
        """Fill all functions, each after the functions that it calls, and record the size of their scratch."""
        cdef const void *splines = self.splines(code.splines)
        cdef kc_coded_function *f
        self.functions = <kc_coded_function *>self.room(len(code.functions) * sizeof(kc_coded_function))
        self.rooms, self.reaches = [], []
        n_axes = [len(knots) for knots, _, _ in code.splines]
        for i, function in enumerate(code.functions):
            f = self.functions + <Py_ssize_t>i
            f.splines = splines
            if function.solver:
                room, reach = self.fill_way(f, function, code.sizes)
            else:
                room, reach = self.fill_program(f, function, code.sizes, n_axes), reach_of_program(function)
            self.rooms.append(room)
            self.reaches.append(reach)
        return 0

    cdef const void *splines(self, object splines) except? NULL:
        cdef char *result = <char *>self.room(len(splines) * self.kind.spline)
        cdef char *to
        for i, (knots, hermite, outside) in enumerate(splines):
            if len(knots) not in (1, 2):
                raise ValueError(f"spline {i} has {len(knots)} arguments")
            if len(hermite) != (2, 4)[len(knots) - 1] * np.prod([len(axis) for axis in knots]):
                raise ValueError(f"spline {i} has {len(hermite)} numbers")
            to = result + <Py_ssize_t>i * <Py_ssize_t>self.kind.spline
            for axis, places in enumerate(knots):
                if len(places) < 2:
                    raise ValueError(f"spline {i} has one knot")
                self.kind.fill_axis(to, axis, <const double *>self.array(places, np.float64), len(places))
            self.kind.fill_spline(to, <const double *>self.array(hermite, np.float64), outside)
        return result

    cdef object fill_program(self, kc_coded_function *f, object function, object sizes, list n_axes):
        """Fill a program; return the size of its scratch."""
        cdef kc_coded_part *parts = <kc_coded_part *>self.room(len(function.parts) * sizeof(kc_coded_part))
        cdef kc_coded_part *part
        cdef uint32_t n, widest = 0
        f.way, f.n_parts, f.parts = KC_PROGRAM, len(function.parts), parts
        f.clear, f.width = function.clear, function.width
        first_address = 1 + sizes["n_p"]     # in c, where the addresses of C functions may stand
        bounds = {KC_IN_R: sizes["n_r"], KC_IN_C: sizes["n_prepared"], KC_IN_W: function.width}
        for i, given in enumerate(function.parts):
            part = parts + <Py_ssize_t>i
            part.constants, part.n_constants = <const double *>self.array(given.constants, np.float64), len(given.constants)
            part.loads, part.stores = <const uint32_t *>self.array(given.loads, np.uint32), <const uint32_t *>self.array(
                given.stores, np.uint32)
            part.code = <const uint16_t *>self.array(given.code, np.uint16)
            n = kc_check_code(part, check_loads(given.loads, bounds), len(given.code), len(n_axes))
            if n == 0:
                raise ValueError("a program is no code")
            self.calls |= check_operations(given, operations(), n_axes, first_address)
            check_stores(given.stores, n, function.width)
            widest = max(widest, n)
        return function.width + widest

    cdef tuple fill_way(self, kc_coded_function *f, object function, object model):
        """Fill a function with a solver; return the size of its scratch, and its reach."""
        cdef const kc_coded_way *solver = self.kind.ways
        cdef void *equations
        cdef int sizes[8]
        f.way = 0
        while solver.name != NULL and solver.name.decode() != function.solver:
            solver, f.way = solver + 1, f.way + 1
        if solver.name == NULL:
            raise ValueError(f"no machine solves by {function.solver!r}")
        if function.equations is not None:
            equations = self.room(self.kind.equations)
            n, m, k, symmetric, correction = function.equations
            self.kind.fill_equations(equations, n, m, k, symmetric, correction)
            f.equations = equations
        called = self.fill_members(f, solver, function.members)
        if len(function.sizes) < solver.n_sizes or solver.n_sizes > 8:
            raise ValueError(f"{function.solver} has {len(function.sizes)} sizes")
        reach, beside = check_solver(function, self.reaches, model)
        for i in range(solver.n_sizes):
            sizes[<int>i] = function.sizes[i]
        called_rooms = [self.rooms[i] for i in called if i not in function.instead]
        instead = [self.rooms[i] for i in called if i in function.instead]
        return max([solver.room(sizes) + max(called_rooms + [beside])] + instead), reach

    cdef list fill_members(self, kc_coded_function *f, const kc_coded_way *solver, object values):
        """The structure of a solver; the functions that it calls."""
        cdef const kc_coded_member *member = solver.members
        cdef char *at
        cdef const void *address
        cdef char *structure = <char *>self.room(solver.size)
        f.structure = structure
        unknown, called = dict(values), []
        while member.name != NULL:
            name, at = member.name.decode(), structure + member.offset
            if name in unknown:
                value = unknown.pop(name)
                if member.kind == KC_NUMBER:
                    (<int *>at)[0] = value
                else:
                    if member.kind == KC_FUNCTION:
                        called.append(value)
                        address = self.callable(value)
                    else:
                        address = self.array(value, np.float64 if member.kind == KC_REALS else np.int32)
                    memcpy(at, &address, sizeof(address))
            elif member.kind == KC_EQUATIONS and f.equations == NULL:
                raise ValueError(f"{solver.name.decode()} has no equations")
            member += 1
        if unknown:
            raise ValueError(f"{solver.name.decode()} has no member {next(iter(unknown))!r}")
        return called

    cdef const void *callable(self, Py_ssize_t i) except NULL:
        """The C function that calls function i of the group."""
        cdef int n = self.n_functions
        if n == KC_CODED_FUNCTIONS:
            raise ValueError(f"it has more than {n} functions")
        self.model.functions[n] = self.function(i)
        self.n_functions += 1
        return self.kind.functions[n]


cdef dict operations():
    """Number of operands of each operation, by name, in the order of the numbers in code."""
    cdef const kc_operation *operation = kc_operations
    result = {}
    while operation.name != NULL:
        result[operation.name.decode()] = operation.operands
        operation += 1
    return result


cdef uint32_t check_loads(object words, dict bounds) except? 0:
    """Count of the numbers in a list of loads; ValueError for a place beyond its array, or a list without end."""
    cdef uint32_t n = 0
    words, i = words.tolist(), 0
    while words[i] != KC_ARRAYS:
        array, places = words[i], words[i + 2:i + 2 + words[i + 1]]
        if array > KC_IN_W or len(places) != words[i + 1] or (array == 0 and any(places)) or any(
                [place >= bounds.get(array, LARGEST) for place in places]):
            raise ValueError("a program reads what is not there")
        n, i = n + <uint32_t>len(places), i + 2 + len(places)
    return n


cdef int check_stores(object words, uint32_t n, Py_ssize_t width) except -1:
    """ValueError if a list stores a register that is not among n, or beyond the scratch."""
    words, i = words.tolist(), 0
    while words[i] != KC_ARRAYS:
        end = i + 2 + 2 * words[i + 1]
        places, registers = words[i + 2:end:2], words[i + 3:end:2]
        bound = {KC_IN_W: width, KC_IN_OUT: LARGEST}[words[i]]
        if len(registers) != words[i + 1] or max(places) >= bound or any([x & ~KC_NEGATIVE >= n for x in registers]):
            raise ValueError("a program writes what is not there")
        i += 2 + 2 * len(registers)
    return 0


cdef int fill_sizes(kc_model *m, object sizes) except -1:
    m.abi_version, m.struct_size = KC_ABI_VERSION, sizeof(kc_model)
    m.n_q, m.n_u, m.n_p, m.n_r, m.n_prepared = sizes["n_q"], sizes["n_u"], sizes["n_p"], sizes["n_r"], sizes["n_prepared"]
    m.n_points, m.n_frames, m.n_outputs = sizes["n_points"], sizes["n_frames"], sizes["n_outputs"]
    m.n_joints, m.n_bodies, m.n_loads = sizes["n_joints"], sizes["n_bodies"], sizes["n_loads"]
    m.n_potentials, m.n_unit, m.n_constraints = sizes["n_potentials"], sizes["n_unit"], sizes["n_constraints"]
    m.n_configuration, m.n_velocity = sizes["n_configuration"], sizes["n_velocity"]
    m.n_auxiliary, m.n_q_dependent, m.n_u_dependent = sizes["n_auxiliary"], sizes["n_q_dependent"], sizes["n_u_dependent"]
    m.n_z, m.n_reactions, m.n_shares = sizes.get("n_z", 0), sizes.get("n_reactions", 0), sizes.get("n_shares", 0)
    return 0
