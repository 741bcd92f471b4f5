# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3, embedsignature=True
# distutils: define_macros=NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION
"""Compiled models, called through the one C table of kanecore.h.  No mathematics here.

For the C that is written against it (`_integrate.pxi`), all with the GIL held:

====================================  ====================================================================
``Model.table``                       ``const kc_model *`` of the core library: sizes, names, ``prepare``
``Model.kernel(k)``                   kernel number ``k`` (``K_RHS``, ...); opens its group first if it must
``Model.resolve_parameters(p, k)``    ``Block`` of one parameter set: ``None`` the current one, array, mapping; for kernel k
``Model.resolve_inputs(r)``           the same of the inputs
``Model.explain(k, t, x, r, ...)``    raises for a result that is not finite (or returns: NaN in, NaN out)
``Model.n_q, n_u, n_x, n_p, n_r``     ``Py_ssize_t``; likewise ``n_prepared, n_work, n_points, n_frames, n_joints``
``Block.values``                      ``const double *``: r, or c, which begins with p
====================================  ====================================================================

A `Block` never changes, so whoever holds a reference to one may read it without the GIL, whatever other
threads set meanwhile.  `Model.work` belongs to calls that hold the GIL throughout; all others bring their
own.  Libraries are never closed.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from kanecore cimport (
    KC_ABI_VERSION, KC_CONTRADICTORY, KC_NONFINITE, KC_QDOT_IS_U, KC_SINGULAR, kc_kernel, kc_model,
)

from kanecore.errors import ModelError, NonFiniteError, SingularError

cdef extern from "kc_cpu.h":
    int kc_cpu_level()

cnp.import_array()

ABI_VERSION = KC_ABI_VERSION
"""Version of the C table that this build of kanecore reads."""


def cpu_level():
    """The x86-64 level of this processor, of those that prebuilt models are compiled for: 4, 3 or 1."""
    return kc_cpu_level()


# ----------------------------------------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------------------------------------

cdef class Model

include "_kernels.pxi"

cdef enum:      # in place of the number of a kernel
    ANY = -1
    NONE = -2

cdef void empty_kernel(double t, const double *x, const double *r, const double *c, double *work,
                       double *out) noexcept nogil:
    """Stands in for a kernel of no elements, such as the outputs of a model without any."""
    pass


include "_interrupt.pxi"
include "_values.pxi"
include "_open.pxi"
include "_batch.pxi"

cdef int kernel_number(object name) except -1:
    if name not in KERNELS:
        raise unknown("kernel", name, KERNELS)
    return KERNELS.index(name)


# ----------------------------------------------------------------------------------------------------------
# Model
# ----------------------------------------------------------------------------------------------------------

cdef class Model:
    """A compiled model: the tables of one or more libraries, and the current parameters and inputs.

    Parameters
    ----------
    path : str
        The library with the core kernels; others are added by `_open`.

    Raises
    ------
    ImportError
        The library cannot be opened, or was compiled against another version of kanecore.h.

    Notes
    -----
    The tables are immutable and shared; parameters and inputs are immutable blocks that are swapped when
    they are set, so that a call in one thread never sees half of what another sets.
    """

    cdef const kc_model *table
    cdef kc_kernel *kernels[N_KERNELS]      # NULL until the library that holds it is open
    cdef Block parameter_block, input_block
    cdef const double *c                    # of the current blocks; r NULL while a value is missing
    cdef const double *r
    cdef uint64_t served                    # bits of the kernels whose parameters have all been given
    cdef unsigned char *reads               # [kernel][parameter]: 0 where the kernel is known not to read it
    cdef dict left_out                      # values of names that no kernel can read, by what they are
    cdef double *work                       # of single calls, with the GIL held
    cdef double *state                      # of single calls: [q, u, udot]
    cdef double *scratch                    # of single calls: c, for p= of one call
    cdef int n_dims[N_KERNELS]
    cdef cnp.npy_intp dims[N_KERNELS][3]
    cdef Py_ssize_t size[N_KERNELS]

    cdef readonly Py_ssize_t n_q, n_u, n_x, n_p, n_r, n_prepared, n_work, n_points, n_frames, n_outputs, n_joints
    cdef readonly Py_ssize_t n_constraints, n_configuration, n_velocity, n_auxiliary, n_q_dependent, n_u_dependent
    cdef readonly str name
    cdef readonly tuple coordinate_names, speed_names, parameter_names, input_names, output_names
    cdef readonly tuple points, frames, joints, unit, constraint_names
    cdef readonly tuple input_rates         # of each input: the number of its derivative, -1 where that is no input
    cdef dict parameter_index, input_index
    cdef readonly bint qdot_is_u

    def __cinit__(self, *args, **kwargs):
        self.parameter_block, self.input_block = Block.__new__(Block), Block.__new__(Block)

    def __init__(self, path):
        cdef const kc_model *m
        if self.table != NULL:
            raise TypeError("a model is opened once; make a new one")
        m = open_table(path)
        if m.prepare == NULL:
            raise ImportError(f"{path} holds further kernels of a model; its core library must be opened first",
                              path=path)
        self.table = m
        self.name = m.name.decode("utf-8")
        self.n_q, self.n_u, self.n_x = m.n_q, m.n_u, m.n_q + m.n_u
        self.n_p, self.n_r, self.n_prepared, self.n_work = m.n_p, m.n_r, m.n_prepared, max(m.n_work, 2)
        self.n_points, self.n_frames, self.n_outputs, self.n_joints = m.n_points, m.n_frames, m.n_outputs, m.n_joints
        self.n_constraints, self.n_auxiliary = m.n_constraints, m.n_auxiliary
        self.n_configuration, self.n_velocity = m.n_configuration, m.n_velocity
        self.n_q_dependent, self.n_u_dependent = m.n_q_dependent, m.n_u_dependent
        self.constraint_names = decoded(m.constraint_names, m.n_constraints)
        self.qdot_is_u = (m.flags & KC_QDOT_IS_U) != 0
        self.coordinate_names = decoded(m.q_names, m.n_q)
        self.speed_names = decoded(m.u_names, m.n_u)
        self.parameter_names = decoded(m.p_names, m.n_p)
        self.input_names = decoded(m.r_names, m.n_r)
        self.input_rates = tuple([m.r_rates[i] if m.r_rates != NULL else -1 for i in range(m.n_r)])
        self.points = decoded(m.point_names, m.n_points)
        self.frames = decoded(m.frame_names, m.n_frames)
        self.joints = decoded(m.joint_names, m.n_joints)
        self.unit = tuple([tuple([m.unit[4 * i + j] for j in range(4)]) for i in range(m.n_unit)])
        self.output_names = decoded(m.output_names, m.n_outputs)
        self.parameter_index = {name: i for i, name in enumerate(self.parameter_names)}
        self.input_index = {name: i for i, name in enumerate(self.input_names)}
        self.work = allocate(self.n_work)
        self.state = allocate(self.n_x + self.n_u)
        self.scratch = allocate(self.n_prepared)
        self.reads = <unsigned char *>PyMem_Malloc(N_KERNELS * self.n_p + 1)
        if self.reads == NULL:
            raise MemoryError
        memset(self.reads, 1, N_KERNELS * self.n_p + 1)
        names = table_info(m).get("left_out", {})
        self.left_out = {what: dict.fromkeys(names.get(what, ()), np.nan) for what in ("parameter", "input")}
        self.shape_results()
        self.add_kernels(m)
        self.set_parameters(new_block(m.p_default, self.n_p, self.n_prepared, self))
        self.set_inputs(new_block(m.r_default, self.n_r, self.n_r, None))

    def __dealloc__(self):
        PyMem_Free(self.work)
        PyMem_Free(self.state)
        PyMem_Free(self.scratch)
        PyMem_Free(self.reads)

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
        """Takes over the kernels that are not there yet, and grows the work space to what they need."""
        cdef kc_kernel **found = first_kernel(m)
        cdef double *grown
        cdef int k, n_found = held_kernels(m)
        cdef Py_ssize_t i
        if m.n_work > self.n_work:
            grown = allocate(m.n_work)
            PyMem_Free(self.work)
            self.work, self.n_work = grown, m.n_work
        for k in range(N_KERNELS):
            if self.size[k] == 0:
                self.kernels[k] = empty_kernel
                memset(self.reads + k * self.n_p, 0, self.n_p)
            elif self.kernels[k] == NULL and k < n_found:
                self.kernels[k] = found[k]
        for name, parameters in table_info(m).get("unread", {}).items():
            if name not in KERNELS:     # of a library that a later kanecore made
                continue
            k = KERNELS.index(name)
            for i in range(self.n_p):
                self.reads[k * self.n_p + i] = not parameters >> i & 1
        if self.parameter_block.values != NULL:
            self.served = self.served_by(self.parameter_block.values)
        return 0

    def _open(self, path):
        """Add the kernels of another library of the same model.

        Parameters
        ----------
        path : str
            A library whose table has the names and sizes of the first.

        Returns
        -------
        dict
            What the library says of itself, as `_table_info`.

        Raises
        ------
        ImportError
            It cannot be opened, or belongs to another model or another version of kanecore.h.
        """
        cdef const kc_model *core = self.opened()
        cdef const kc_model *m = open_table(path)
        if not (m.n_q == core.n_q and m.n_u == core.n_u and m.n_p == core.n_p and m.n_r == core.n_r
                and m.n_points == core.n_points and m.n_frames == core.n_frames
                and m.n_outputs == core.n_outputs and m.n_joints == core.n_joints and m.n_prepared <= core.n_prepared
                and decoded(m.constraint_names, m.n_constraints) == self.constraint_names
                and m.n_configuration == core.n_configuration and m.n_velocity == core.n_velocity
                and m.n_auxiliary == core.n_auxiliary
                and decoded(m.q_names, m.n_q) == self.coordinate_names
                and decoded(m.u_names, m.n_u) == self.speed_names
                and decoded(m.p_names, m.n_p) == self.parameter_names
                and decoded(m.r_names, m.n_r) == self.input_names):
            raise ImportError(f"{path} holds another model than {self.name!r}: its names or sizes differ",
                              path=path)
        self.add_kernels(m)
        return table_info(m)

    def _has(self, kernel):
        """Whether the libraries opened so far hold this kernel."""
        return self.kernels[kernel_number(kernel)] != NULL

    @property
    def _table_info(self):
        """What the core library says of itself: operation counts, source, package version."""
        return table_info(self.opened())

    def _why_not(self, kernel):
        """What the description lacks for a kernel, as far as the libraries know."""
        return self._table_info.get("missing", {}).get(kernel)

    def _find(self, kernel):
        """Called for a kernel that is in no open library: open the one that holds it, or do nothing."""

    cdef kc_kernel *kernel(self, int k) except NULL:
        """Kernel number ``k``, from a library that `_find` opens if it must; ModelError if there is none."""
        self.opened()
        if self.kernels[k] == NULL:
            self._find(KERNELS[k])
        if self.kernels[k] == NULL:
            what = KERNELS[k].replace("_", " ")
            why = self._why_not(KERNELS[k]) or ("its description defines none, or it was compiled without, and must be "
                                                "compiled again, with kernels='all'")
            raise ModelError(f"{self.name!r} has no {what}: {why}")
        return self.kernels[k]

    # ------------------------------------------------------------------------------------------------------
    # Parameters and inputs
    # ------------------------------------------------------------------------------------------------------

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
            self.set_parameters(new_block(data(merged), self.n_p, self.n_prepared, self))
        else:
            self.set_inputs(new_block(data(merged), self.n_r, self.n_r, None))

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
        n = len(names)
        if not hasattr(given, "keys"):
            meaning = f"{what}s {', '.join(names)}" if n else f"there are no {what}s"
            array = real_vectors(argument, given, n, meaning)
        else:
            columns = {}
            for key in given:
                values = real_values(f"{argument}[{symbol_name(key)!r}]", given[key])
                if what == "parameter" and not np.isfinite(values).all():
                    raise ValueError(f"parameter {symbol_name(key)!r} is not finite in {argument}")
                if symbol_name(key) not in self.left_out[what]:
                    columns[self._index(what, key)] = values
            base = self.current(what)
            lost = [i for i in range(n) if isnan(base[i]) and i not in columns
                    and (what == "input" or self.wanted(i, k))]
            if lost:
                raise self.missing(what, lost, argument)
            array = np.empty(broadcast_shapes(*[column.shape for column in columns.values()]) + (n,))
            array[...] = base
            for i, column in columns.items():
                array[..., i] = column
        if what == "parameter" and not np.isfinite(array).all():
            for i in np.unique(np.argwhere(~np.isfinite(array))[:, array.ndim - 1]).tolist():
                if self.wanted(i, k):
                    if np.isnan(array[..., i]).all() and isnan(self.parameter_block.values[<Py_ssize_t>i]):
                        raise self.missing(what, [i], argument)
                    raise ValueError(f"parameter {names[i]!r} is not finite in {argument}")
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

    cdef inline void prepare_block(self, const double *p, double *c) noexcept nogil:
        """c for parameters p."""
        self.table.prepare(p, c)

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
            return new_block(data(array), self.n_p, self.n_prepared, self)
        return new_block(data(array), self.n_r, self.n_r, None)

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

    def address(self, kernel):
        """The address of a kernel's C function.

        ``void f(double t, const double *x, const double *r, const double *c, double *work, double *out)``,
        with c = `prepared`, and `n_work` doubles of the caller's as work.

        Parameters
        ----------
        kernel : str
            Its name; those of udot read x = [q, u, udot].

        Returns
        -------
        int
            Valid while this model lives.
        """
        return <uintptr_t>self.kernel(kernel_number(kernel))

    # ------------------------------------------------------------------------------------------------------
    # Evaluation
    # ------------------------------------------------------------------------------------------------------

    @cython.final
    cdef object evaluate(self, int k, object t, object x, object udot, object r, object p, object out):
        """One state in plain arrays, at once and without allocating; everything else by `evaluate_any`."""
        cdef double time, scalar
        cdef double *result
        cdef const double *xs
        cdef const double *rs
        cdef const double *cs
        cdef Py_ssize_t size = self.size[k]
        cdef kc_kernel *f = self.kernels[k]
        cdef object array = out
        cdef int status, row

        if f == NULL or not is_vector(x, self.n_x):
            return self.evaluate_any(k, t, x, udot, r, p, out)
        if PyFloat_Check(t):
            time = PyFloat_AS_DOUBLE(t)
        elif PyLong_CheckExact(t):
            time = PyLong_AsDouble(t)
        else:
            return self.evaluate_any(k, t, x, udot, r, p, out)
        xs = data(x)

        if r is None:
            rs = self.r
        elif is_vector(r, self.n_r):
            rs = data(r)
        else:
            rs = NULL
        if p is None:
            cs = self.c if (self.served >> k) & 1 else NULL
        elif is_vector(p, self.n_p) and all_finite(data(p), self.n_p):
            self.prepare_block(data(p), self.scratch)
            cs = self.scratch
        else:
            cs = NULL
        if rs == NULL or cs == NULL:
            return self.evaluate_any(k, t, x, udot, r, p, out)

        if out is None:
            if self.n_dims[k] == 0:
                result = &scalar
            else:
                array = cnp.PyArray_EMPTY(self.n_dims[k], self.dims[k], cnp.NPY_DOUBLE, 0)
                result = data(array)
        else:
            if not self.is_result(k, out):
                return self.evaluate_any(k, t, x, udot, r, p, out)
            result = data(out)
            if (overlap(result, size, xs, self.n_x)
                    or (r is not None and overlap(result, size, rs, self.n_r))
                    or (p is not None and overlap(result, size, data(p), self.n_p))):
                return self.evaluate_any(k, t, x, udot, r, p, out)

        if reads_udot(k):
            if (not is_vector(udot, self.n_u)
                    or (out is not None and overlap(result, size, data(udot), self.n_u))):
                return self.evaluate_any(k, t, x, udot, r, p, out)
            memcpy(self.state, xs, self.n_x * sizeof(double))
            memcpy(self.state + self.n_x, data(udot), self.n_u * sizeof(double))
            xs = self.state

        self.work[0] = 0.0
        f(time, xs, rs, cs, self.work, result)
        if not all_finite(result, size):
            status, row = <int>self.work[0], <int>self.work[1]
            if not self.recounted(k, time, xs, rs, cs, result, &status, &row):
                self.explain(k, time, xs, rs, cs, status, row)
        return scalar if array is None else array

    @cython.final
    cdef inline bint is_result(self, int k, object out) noexcept:
        """Whether C may write the result of kernel ``k`` for one state into ``out`` as it is."""
        cdef int axis
        if not (cnp.PyArray_CheckExact(out) and cnp.PyArray_TYPE(out) == cnp.NPY_DOUBLE
                and cnp.PyArray_NDIM(out) == self.n_dims[k] and cnp.PyArray_ISCARRAY(out)):
            return False
        for axis in range(self.n_dims[k]):
            if cnp.PyArray_DIM(out, axis) != self.dims[k][axis]:
                return False
        return True

    cdef int explain(self, int k, double t, const double *x, const double *r, const double *c, int status,
                     int row) except -1:
        """Raise for a result that is not finite, unless t, x or r is not finite either."""
        cdef Py_ssize_t n = self.n_x + (self.n_u if reads_udot(k) else 0)
        if isfinite(t) and all_finite(x, n) and all_finite(r, self.n_r):
            raise self.failure(k, status, t, vector_of(x, self.n_x), vector_of(r, self.n_r), vector_of(c, self.n_p),
                               row, None, None)
        return 0

    cdef bint recounted(self, int k, double t, const double *x, const double *r, const double *c, double *out,
                        int *status, int *row) except -1:
        """Evaluate kernel ``k`` again where rows of G are lost at x but not in number: nor do its neighbours have more.

        Whether that gave a result. Nothing is kept: the count belongs to this call.
        """
        cdef double *memory
        if status[0] != KC_SINGULAR or row[0] < self.n_u or k == K_PROJECT:
            return False
        if not (isfinite(t) and all_finite(x, self.n_x) and all_finite(r, self.n_r)):
            return False
        memory = allocate(self.n_prepared + self.n_work)
        try:
            memcpy(memory, c, self.n_prepared * sizeof(double))  # the calls below use the scratch of this model
            state, inputs = vector_of(x, self.n_x), vector_of(r, self.n_r)
            count = self._count_near(t, state, inputs, vector_of(c, self.n_p))
            if count == memory[self.n_prepared - 1]:
                return False
            memory[self.n_prepared - 1] = count
            memory[self.n_prepared] = 0.0
            self.kernels[k](t, data(state), data(inputs), memory, memory + self.n_prepared, out)
            status[0], row[0] = <int>memory[self.n_prepared], <int>memory[self.n_prepared + 1]
        finally:
            PyMem_Free(memory)
        return all_finite(out, self.size[k])

    def _count_near(self, t, x, r, p):
        """Called where a row of G is lost: how many are independent at states on the constraints around x."""
        return self._count(p)

    def _opposed(self, t, x, r, p, row):
        """Called where a row of G contradicts others at x: their names."""
        return ()

    @property
    def configuration_names(self):
        """Names of the configuration constraints, in the order of `configuration_residual`."""
        names = self._table_info.get("configuration_names")
        return tuple(names or [f"configuration constraint {i}" for i in range(self.n_configuration)])

    def _row_name(self, Py_ssize_t row):
        """The constraint that kernels name by a number from n_u on."""
        row -= self.n_u
        if row < self.n_constraints:
            return self.constraint_names[row]
        return self.configuration_names[row - self.n_constraints]

    cdef object failure(self, int k, int status, double t, object x, object r, object p, int row, object rows,
                        object out):
        """The error of a kernel at a state; of a batch with the rows that failed, and the result."""
        where = f"at t = {t!r}, x = {x.tolist()!r}"
        if rows is not None:
            where += f" and in {len(rows)} rows in all, the first {int(rows[0])}" if len(rows) > 1 \
                else f", row {int(rows[0])}"
        if status == KC_CONTRADICTORY:
            name = self._row_name(row)
            others = [other for other in self._opposed(t, x, r, p, row - self.n_u) if other != name]
            against = " and ".join([repr(other) for other in others]) or "the other constraints"
            return SingularError(
                f"{KERNELS[k]}: {name!r} of {self.name!r} contradicts {against} {where}: no accelerations satisfy them "
                "together; leave out what is too much",
                t=t, x=x, row=row, rows=rows, out=out, contradictory=(*others, name))
        if status == KC_SINGULAR and row >= self.n_u:
            return SingularError(
                f"{KERNELS[k]}: {self._row_name(row)!r} of {self.name!r} is lost {where}: its coefficients, or what the "
                "other constraints leave of them, vanish there, and not nearby: a dead point; dyn.check(x) counts what "
                "is independent",
                t=t, x=x, row=row, rows=rows, out=out)
        if status == KC_SINGULAR:
            speed = self.speed_names[row] if 0 <= row < self.n_u else row
            return SingularError(
                f"{KERNELS[k]}: the mass matrix of {self.name!r} is singular {where}: the pivot of speed "
                f"{speed!r} vanished; give whatever this speed moves mass or inertia, or avoid the state, where the "
                "kinematical equations may be singular (gimbal lock)",
                t=t, x=x, row=row, rows=rows, out=out)
        return NonFiniteError(
            f"{KERNELS[k]} of {self.name!r} is not finite {where}: an overflow, or an expression that is not "
            "defined there (a division by zero, the root of a negative number, the pole of a tangent)",
            t=t, x=x, rows=rows, out=out)

    @cython.final
    cdef object evaluate_any(self, int k, object t, object x, object udot, object r, object p, object out):
        """Whatever NumPy would accept: conversion, broadcasting, errors that name the argument."""
        cdef kc_kernel *f = self.kernel(k)
        cdef Block inputs = None, parameters = None
        cdef Batch batch
        cdef double *memory
        cdef Py_ssize_t i, n_failed
        cdef int n_kc, n_row

        # The operands, in the order of Batch.at; None where one value serves every row.
        states = real_vectors("x", x, self.n_x, "coordinates, then speeds")
        operands = [real_array("t", t), states, None, None, None]
        if reads_udot(k):
            operands[2] = real_vectors("udot", udot, self.n_u, "derivatives of the speeds")
        if p is None:
            parameters = self.resolve_parameters(None, k)
        else:
            operands[4] = self.rows("parameter", p, None, k)
        if r is None:
            inputs = self.resolve_inputs(None)
        else:
            operands[3] = self.rows("input", r)

        leading = [a if a is None else a.shape[:a.ndim - (i > 0)] for i, a in enumerate(operands)]
        try:
            shape = broadcast_shapes(*[s for s in leading if s is not None])
        except ValueError as error:
            shapes = ", ".join(f"{name} {s}" for name, s in zip(ARGUMENTS, leading) if s)
            raise ValueError(f"leading axes do not broadcast: {shapes}: {error}") from None
        core = tuple([self.dims[k][i] for i in range(self.n_dims[k])])
        if out is None:
            result = np.empty(shape + core)
        else:
            check_out(out, shape + core, operands)
            result = out

        n_dims = len(shape)
        n_rows = 1
        for i in shape:
            n_rows *= i
        lengths, index = np.array(shape + (0,), dtype=np.intp), np.zeros(n_dims + 1, dtype=np.intp)
        steps = np.zeros((5, n_dims + 1), dtype=np.intp)
        status, lost = np.zeros(n_rows, dtype=np.uint8), np.zeros(n_rows, dtype=np.intc)
        for i, a in enumerate(operands):
            if a is not None:
                wide = np.broadcast_to(a, shape + a.shape[a.ndim - (i > 0):])
                steps[i, :n_dims] = wide.strides[:n_dims]
        batch.n_rows, batch.n_dims = n_rows, n_dims
        batch.n_x, batch.n_u, batch.n_r, batch.size = self.n_x, self.n_u, self.n_r, self.size[k]
        batch.lengths = <const cnp.npy_intp *>cnp.PyArray_DATA(lengths)
        batch.index = <cnp.npy_intp *>cnp.PyArray_DATA(index)
        batch.steps = <const cnp.npy_intp *>cnp.PyArray_DATA(steps)
        batch.status = <unsigned char *>cnp.PyArray_DATA(status)
        batch.row = <int *>cnp.PyArray_DATA(lost)
        batch.prepare = self.table.prepare
        memory = allocate(self.n_x + self.n_u + self.n_prepared + self.n_work)
        try:
            batch.state, batch.c = memory, memory + self.n_x + self.n_u
            batch.work = batch.c + self.n_prepared
            batch.reads_udot, batch.reads_p = operands[2] is not None, operands[4] is not None
            for i in range(5):
                batch.at[i] = <const char *>memory
                if operands[i] is not None:
                    batch.at[i] = <const char *>cnp.PyArray_DATA(operands[i])
            if inputs is not None:
                batch.at[3] = <const char *>inputs.values
            if parameters is not None:
                memcpy(batch.c, parameters.values, self.n_prepared * sizeof(double))
            batch.out = data(result)
            batch.interruption = NULL
            if n_rows > 1:
                with nogil:
                    n_failed = run_batch(f, &batch)
            else:
                n_failed = run_batch(f, &batch)
        finally:
            PyMem_Free(memory)
        if batch.interruption != NULL:
            raise taken(&batch.interruption)

        if n_failed:
            wide = [a if a is None else np.broadcast_to(a, shape + a.shape[a.ndim - (i > 0):])
                    for i, a in enumerate(operands)]
            # Rows of G that are lost may be counted again, each for itself; then the first that fails is told.
            numbers = [*np.flatnonzero((status == KC_SINGULAR) & (lost >= self.n_u)), None]
            for number in numbers:
                last = number is None
                if last and not status.any():
                    break
                if last:
                    number = np.flatnonzero(status)[0] if not (status == KC_SINGULAR).any() \
                        else np.flatnonzero(status == KC_SINGULAR)[0]
                where = np.unravel_index(number, shape)
                given = [a if a is None else np.ascontiguousarray(a[where]) for a in wide]
                time, state = given[0].item(), given[1]
                inputs, parameters = self.resolve_inputs(given[3]), self.resolve_parameters(given[4], k)
                n_kc, n_row = status[number], lost[number]
                if last:
                    raise self.failure(k, n_kc, time, np.array(state), vector_of(inputs.values, self.n_r),
                                       vector_of(parameters.values, self.n_p), n_row,
                                       np.flatnonzero(status) if n_dims else None, result if n_dims else None)
                if self.recounted(k, time, data(state), inputs.values, parameters.values,
                                  data(result) + <Py_ssize_t>number * self.size[k], &n_kc, &n_row):
                    status[number] = 0
        if out is None and result.ndim == 0:
            return result.item()
        return result

    # ------------------------------------------------------------------------------------------------------
    # Kernels
    # ------------------------------------------------------------------------------------------------------

    def _nonholonomic(self, kind, t, x, udot, remainder, out, values):
        """Called for what kernel ``kind`` becomes where the dependent speeds are put in terms of the others."""
        raise NotImplementedError

    def partial_accelerations(self, t, x, *, r=None, p=None, out=None):
        """The partial accelerations ∂a/∂u̇_r of all points, u̇_r independent, inertial axes, (..., n_points, dof, 3)."""
        return self._nonholonomic("partial_velocities", t, x, None, False, out, {"r": r, "p": p})

    def partial_angular_accelerations(self, t, x, *, r=None, p=None, out=None):
        """The partial angular accelerations ∂α/∂u̇_r of all frames, u̇_r independent, (..., n_frames, dof, 3)."""
        return self._nonholonomic("partial_angular_velocities", t, x, None, False, out, {"r": r, "p": p})

    def workspace(self):
        """Buffers bound once, for calls without arguments: a `Workspace` with the current p and r."""
        return Workspace(self)


cdef object by_name(names, object result, int n_dims):
    """Views of a result by the names of its first axis, of ``n_dims`` that are not leading."""
    return {name: result[(..., i) + (slice(None),) * (n_dims - 1)] for i, name in enumerate(names)}


include "_workspace.pxi"
include "_methods.pxi"
include "_integrate.pxi"
