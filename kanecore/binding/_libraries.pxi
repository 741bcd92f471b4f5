# SPDX-License-Identifier: BSD-3-Clause
# The libraries of a model: names, sizes and kernels from their tables; included by _library.pyx.

cdef dict NUMBERS = {name: i for i, name in enumerate(KERNELS)}


cdef int kernel_number(object name) except -1:
    number = NUMBERS.get(name) if isinstance(name, str) else None
    if number is None:
        raise unknown_name("kernel", name, KERNELS)
    return number


cdef enum:
    ROWS_FOR_LANES = 256


cdef void empty_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out) noexcept nogil:
    """Kernel without elements, such as the outputs of a model without outputs."""
    pass


cdef str named(object library):
    """A library in messages."""
    return str(library) if isinstance(library, (str, os.PathLike)) else "the code"


cdef class Libraries:
    """Libraries of a model: sizes, names and kernels.

    Parameters
    ----------
    library : str or Code
        The path of the library with the core kernels, or their code; others are added by `open_another`.

    Raises
    ------
    ImportError
        The library cannot be opened, was compiled against another version of kanecore.h, or has a wrong table.
    """



    def __init__(self, library):
        cdef const kc_model *m
        if self.table != NULL:
            raise TypeError("a model is opened once; make a new one")
        if not isinstance(library, (str, os.PathLike)):
            self.machine, self.first = Machine(), 1
        m = self.open_library(library)
        if m.prepare == NULL:
            raise ImportError(f"{named(library)} holds further kernels of a model; its core library must be opened first")
        self.table = m
        self.take_sizes()
        self.take_names()
        self.reserve_memory()
        self.shape_results()
        self.rows_for_lanes = ROWS_FOR_LANES
        self.missing = {}
        self.install(library)
        self.add_kernels(m)
        self.add_lanes(m.lanes, library)

    def __dealloc__(self):
        PyMem_Free(self.work)
        PyMem_Free(self.state)
        PyMem_Free(self.scratch)
        PyMem_Free(self.reads)

    cdef const kc_model *open_library(self, object library) except NULL:
        """The table of a library, or one made of code."""
        return open_table(library) if self.machine is None else (<Machine>self.machine).open(library)

    cdef int take_sizes(self) except -1:
        cdef const kc_model *m = self.table
        self.n_q, self.n_u, self.n_z, self.n_x = m.n_q, m.n_u, m.n_z, m.n_q + m.n_u + m.n_z
        self.n_p, self.n_r, self.n_prepared, self.n_work = m.n_p, m.n_r, m.n_prepared, max(m.n_work, 2)
        self.n_points, self.n_frames, self.n_outputs, self.n_joints = m.n_points, m.n_frames, m.n_outputs, m.n_joints
        self.n_bodies, self.n_loads, self.n_potentials = m.n_bodies, m.n_loads, m.n_potentials
        self.n_constraints, self.n_auxiliary = m.n_constraints, m.n_auxiliary
        self.n_configuration, self.n_velocity = m.n_configuration, m.n_velocity
        self.n_q_dependent, self.n_u_dependent = m.n_q_dependent, m.n_u_dependent
        self.n_reactions, self.n_shares = m.n_reactions, m.n_shares
        self.qdot_is_u = (m.flags & KC_QDOT_IS_U) != 0
        self.single = (m.flags & KC_SINGLE) != 0
        self.dtype = SINGLE if self.single else DOUBLE
        self.item = sizeof(float) if self.single else sizeof(double)
        self.unit = tuple([tuple([m.unit[4 * i + j] for j in range(4)]) for i in range(m.n_unit)])
        self.input_rates = tuple([m.r_rates[i] if m.r_rates != NULL else -1 for i in range(m.n_r)])
        return 0

    cdef int take_names(self) except -1:
        cdef const kc_model *m = self.table
        self.name = m.name.decode("utf-8")
        self.coordinate_names, self.speed_names = decoded(m.q_names, m.n_q), decoded(m.u_names, m.n_u)
        self.state_names = decoded(m.z_names, m.n_z)
        self.parameter_names, self.input_names = decoded(m.p_names, m.n_p), decoded(m.r_names, m.n_r)
        self.points, self.frames = decoded(m.point_names, m.n_points), decoded(m.frame_names, m.n_frames)
        self.joints, self.output_names = decoded(m.joint_names, m.n_joints), decoded(m.output_names, m.n_outputs)
        self.constraint_names = decoded(m.constraint_names, m.n_constraints)
        self.bodies = decoded(m.body_names, m.n_bodies)
        return 0

    cdef int reserve_memory(self) except -1:
        self.work = allocate(self.n_work)
        self.n_state = self.n_x + max([n_beyond(self, k) for k in range(N_KERNELS)])
        self.state = allocate(self.n_state)
        self.scratch = allocate(self.n_prepared)
        self.reads = <unsigned char *>PyMem_Malloc(N_KERNELS * self.n_p + 1)
        if self.reads == NULL:
            raise MemoryError
        memset(self.reads, 1, N_KERNELS * self.n_p + 1)
        return 0

    cdef const kc_model *opened(self) except NULL:
        if self.table == NULL:
            raise TypeError("this model was never opened: its __init__ did not run")
        return self.table

    cdef int shape_results(self) except -1:
        cdef int k, axis
        for k, shape in enumerate(shapes_of(self)):
            self.n_dims[k] = len(shape)
            self.size[k] = 1
            for axis in range(self.n_dims[k]):
                self.dims[k][axis] = shape[axis]
                self.size[k] *= shape[axis]
        return 0

    cdef int add_kernels(self, const kc_model *m) except -1:
        """Add the kernels that are not open yet, and grow the work space for them."""
        cdef kc_kernel **members = first_kernel(m)
        cdef double *grown
        cdef int k, n_members = count_kernels(m)
        info = table_info(m)
        self.missing.update(info.get("missing", {}))
        if m.n_work > self.n_work:
            grown = allocate(m.n_work)
            PyMem_Free(self.work)
            self.work, self.n_work = grown, m.n_work
        for k in range(N_KERNELS):
            if self.size[k] == 0 and KERNELS[k] not in self.missing:
                self.kernels[k] = empty_kernel
                memset(self.reads + k * self.n_p, 0, self.n_p)
            elif self.kernels[k] == NULL and k < n_members:
                self.kernels[k] = members[k]
        self.note_unread(info.get("unread", {}))
        return 0

    cdef int add_lanes(self, const kc_lanes *lanes, object library) except -1:
        """Take over the kernels for several states."""
        cdef kc_lane_kernel **members
        cdef int k, n_members
        if lanes == NULL:
            return 0
        if not (lanes.struct_size >= sizeof(kc_lanes) - N_KERNELS * sizeof(kc_lane_kernel *)
                and lanes.n_lanes * self.item in (16, 32, 64) and lanes.n_prepared <= self.n_prepared and lanes.n_work <= LARGEST
                and lanes.gather != NULL and lanes.scatter != NULL
                and lanes.gather_blocks != NULL and lanes.scatter_blocks != NULL
                and (self.lanes == NULL or self.lanes.n_lanes == lanes.n_lanes)):
            raise ImportError(f"the compiled model {library} has lanes that cannot be right: compile the model again")
        members = first_lane_kernel(lanes)
        n_members = <int>min((lanes.struct_size - (<const char *>members - <const char *>lanes))
                             // <Py_ssize_t>sizeof(kc_lane_kernel *), N_KERNELS)
        if self.lanes == NULL or (self.lanes.prepare == NULL and lanes.prepare != NULL):
            self.lanes = lanes
        self.n_lane_work = max(self.n_lane_work, lanes.n_work)
        for k in range(n_members):
            if self.lane_kernels[k] == NULL:
                self.lane_kernels[k] = members[k]
        return 0

    cdef int open_lanes(self, int k) except -1:
        """Open the library with kernel ``k`` for several states, unless this was tried before."""
        if not self.lanes_asked[k]:
            self.lanes_asked[k] = True
            if self.lane_kernels[k] == NULL:
                self.hooks.find_lanes(KERNELS[k])
        return 0

    cdef int note_unread(self, dict unread) except -1:
        """Parameters that the kernels of a library do not read: bits of an integer, by the kernels' names."""
        cdef Py_ssize_t i
        for k, name in enumerate(KERNELS):      # a library made by a later kanecore may have others
            if name in unread:
                for i in range(self.n_p):
                    self.reads[<int>k * self.n_p + i] = not unread[name] >> i & 1
        return 0

    cdef dict open_another(self, object library):
        """Add the kernels of another library of the same model; see `ModelKernels.open`."""
        cdef const kc_model *m
        self.opened()
        m = self.open_library(library)
        if not self.fits(m):
            raise ImportError(f"{named(library)} holds another model than {self.name!r}: its names or sizes differ")
        self.install(library)
        self.add_kernels(m)
        self.add_lanes(m.lanes, library)
        return table_info(m)

    cdef int install(self, object code) except -1:
        """Let the interpreter run opened code, after a check of its kernels."""
        if self.machine is not None:
            (<Machine>self.machine).check_kernels(code, self)
            (<Machine>self.machine).install(code)
        return 0

    cdef bint fits(self, const kc_model *m) except -1:
        """Test whether a table has the names and sizes of the first table."""
        cdef const kc_model *core = self.table
        return (m.flags == core.flags and m.n_points == core.n_points and m.n_frames == core.n_frames
                and m.n_outputs == core.n_outputs and m.n_joints == core.n_joints
                and m.n_bodies == core.n_bodies and m.n_loads == core.n_loads
                and m.n_potentials == core.n_potentials and m.n_prepared <= core.n_prepared
                and m.n_configuration == core.n_configuration and m.n_velocity == core.n_velocity
                and m.n_auxiliary == core.n_auxiliary
                and decoded(m.constraint_names, m.n_constraints) == self.constraint_names
                and decoded(m.q_names, m.n_q) == self.coordinate_names
                and decoded(m.u_names, m.n_u) == self.speed_names
                and decoded(m.z_names, m.n_z) == self.state_names
                and decoded(m.p_names, m.n_p) == self.parameter_names
                and decoded(m.r_names, m.n_r) == self.input_names)

    cdef dict core_info(self):
        """Facts of the core library about itself."""
        return table_info(self.opened())

    cdef kc_kernel *kernel(self, int k) except NULL:
        """Kernel number ``k``, from a library that is opened if necessary; ModelError if there is none."""
        self.opened()
        if self.kernels[k] == NULL:
            self.hooks.find(KERNELS[k])
        if self.kernels[k] == NULL:
            what = KERNELS[k].replace("_", " ")
            why = self.missing.get(KERNELS[k]) or ("its description defines none, or it was compiled without, and must be "
                                                "compiled again, with kernels='all'")
            raise ModelError(f"{self.name!r} has no {what}: {why}")
        return self.kernels[k]

    def address(self, kernel):
        """The address of a kernel's C function.

        ``void f(double t, const double *x, const double *r, const double *c, double *work, double *out)``,
        with c = `prepared`, and `n_work` doubles of the caller as work.  In single precision (``real="float"``) all
        except t are floats.

        Parameters
        ----------
        kernel : str
            Name of the kernel; kernels that depend on udot read x = [q, u, udot], or [q, u, udot, multipliers].

        Returns
        -------
        int
            Valid while this model lives.
        """
        return <uintptr_t>self.kernel(kernel_number(kernel))
