# SPDX-License-Identifier: BSD-3-Clause
"""Declarations that `kanecore._library` shares with the other parts of the extension."""

cimport cython
from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from kanecore cimport _numpy as cnp
from kanecore cimport (
    kc_kernel, kc_lane_kernel, kc_lanes, kc_model, kc_prepare, kc_single_kernel, kc_single_prepare,
)

cdef enum:
    PATIENCE = 16384        # rows between two checks for Ctrl-C

cdef enum:      # in place of the number of a kernel
    ANY = -1
    NONE = -2

cdef class Libraries

include "binding/_kernel_numbers.pxi"

# ----------------------------------------------------------------------------------------------------------
# Numbers.  Of a model in single precision a `double *` that its kernels read or write points at floats.
# ----------------------------------------------------------------------------------------------------------

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    typedef uint64_t bits_of_two __attribute__((vector_size(16), aligned(8), may_alias));

    /* Whether no exponent is all ones: added to one in its last place such an exponent carries into the sign. */
    static inline int all_finite(const double *x, ptrdiff_t n)
    {
        const uint64_t size = UINT64_MAX >> 1, one = (uint64_t)1 << 52;
        const bits_of_two sizes = {size, size}, ones = {one, one};
        bits_of_two first = {0, 0}, second = {0, 0}; /* side by side: most of what a call adds to a long kernel */
        ptrdiff_t i = 0;
        for (; i < n - 3; i += 4) {
            first |= (*(const bits_of_two *)(x + i) & sizes) + ones;
            second |= (*(const bits_of_two *)(x + i + 2) & sizes) + ones;
        }
        uint64_t carried = first[0] | first[1] | second[0] | second[1];
        for (; i < n; i++) {
            uint64_t bits;
            memcpy(&bits, x + i, sizeof(bits));
            carried |= (bits & size) + one;
        }
        return !(carried >> 63);
    }
    """
    bint all_finite(const double *values, Py_ssize_t n) noexcept nogil


cdef inline double *shifted(const double *a, Py_ssize_t n, Py_ssize_t item) noexcept nogil:
    """Address of the number n places after ``a``; each number has ``item`` bytes."""
    return <double *>(<char *>a + n * item)


cdef inline double number_at(const double *a, Py_ssize_t i, bint single) noexcept nogil:
    return (<const float *>a)[i] if single else a[i]


cdef inline void call_kernel(kc_kernel *f, double t, const double *x, const double *r, const double *c, double *work,
                             double *out, bint single) noexcept nogil:
    """``work[0]`` of `kanecore.h` is zero before."""
    if single:
        (<float *>work)[0] = 0.0
        (<kc_single_kernel *>f)(t, <const float *>x, <const float *>r, <const float *>c, <float *>work, <float *>out)
    else:
        work[0] = 0.0
        f(t, x, r, c, work, out)


cdef inline void call_prepare(kc_prepare *f, const double *p, double *c, bint single) noexcept nogil:
    if single:
        (<kc_single_prepare *>f)(<const float *>p, <float *>c)
    else:
        f(p, c)


cdef inline bint finite_numbers(const double *values, Py_ssize_t n, bint single) noexcept nogil:
    """As `all_finite`, of either type."""
    cdef uint32_t bits, carried = 0
    cdef Py_ssize_t i
    if not single:
        return all_finite(values, n)
    for i in range(n):
        memcpy(&bits, <const float *>values + i, sizeof(bits))
        carried |= (bits & <uint32_t>0x7FFFFFFF) + <uint32_t>0x00800000
    return (carried >> 31) == 0


cdef inline double *data(object a) noexcept:
    return <double *>cnp.PyArray_DATA(a)


cdef inline cnp.npy_intp item_size(object array) noexcept:
    """Bytes of a number of an array of doubles, or of floats."""
    return sizeof(float) if cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT else sizeof(double)


cdef inline bint overlap(const double *a, Py_ssize_t n_a, const double *b, Py_ssize_t n_b) noexcept nogil:
    return a < b + n_b and b < a + n_a


cdef double *allocate(Py_ssize_t n) except NULL
cdef Memory new_memory(Py_ssize_t n)
cdef object array_over(Memory memory, tuple shape, bint single)
cdef object new_vector(Py_ssize_t n)
cdef object vector_of(const double *values, Py_ssize_t n)
cdef object numbers_of(const double *values, Py_ssize_t n, bint single)
cpdef object real_array(str name, object value, object dtype=*)
cdef bint is_ready(object array, object dtype) noexcept
cpdef object numbers(object array, object dtype)

cdef struct Ending:         # of a call before it is done
    bint told               # all its threads look at it
    PyObject *error         # of Ctrl-C, owned

cdef int interrupted(void *context) noexcept nogil
cdef int asked_to_end(void *context) noexcept nogil
cdef int told_to_end(void *context) noexcept nogil
cdef object taken_exception(PyObject **error)

# ----------------------------------------------------------------------------------------------------------
# Classes
# ----------------------------------------------------------------------------------------------------------

@cython.final
cdef class Memory:
    cdef double *values


@cython.final
cdef class Block:
    cdef double *values
    cdef double *read
    cdef bint complete


cdef class Libraries:
    cdef object machine                     # a Machine, of a model in code, else None
    cdef Py_ssize_t first                   # the place of p in c: before it stands the address of the machine, if any
    cdef const kc_model *table
    cdef kc_kernel *kernels[N_KERNELS]      # NULL until the library that holds it is open
    cdef const kc_lanes *lanes              # for several states at once; NULL until such a library is open
    cdef kc_lane_kernel *lane_kernels[N_KERNELS]    # NULL if no open library has one
    cdef bint lanes_asked[N_KERNELS]        # whether a library for several states was looked for
    cdef dict missing                       # reasons why there is no kernel, by its name, from the open libraries
    cdef Py_ssize_t n_lane_work
    cdef readonly Py_ssize_t rows_for_lanes     # least number of rows of a batch for which such a library is opened
    cdef unsigned char *reads               # [kernel][parameter]: 0 where the kernel is known not to read it
    cdef double *work                       # of calls with one state, with the GIL held
    cdef double *state                      # of such: [q, u, z, udot, lambda, ...]
    cdef Py_ssize_t n_state
    cdef double *scratch                    # of such: c, for p= of one call
    cdef readonly bint single               # whether kernels take floats
    cdef Py_ssize_t item                    # bytes of one of their numbers
    cdef readonly object dtype              # the type of these
    cdef int n_dims[N_KERNELS]
    cdef cnp.npy_intp dims[N_KERNELS][3]
    cdef Py_ssize_t size[N_KERNELS]
    cdef readonly Py_ssize_t n_q, n_u, n_z, n_x, n_p, n_r, n_prepared, n_work, n_points, n_frames, n_outputs, n_joints
    cdef readonly Py_ssize_t n_bodies, n_loads, n_potentials
    cdef readonly Py_ssize_t n_reactions, n_shares   # that loads depend on, and parts of loads that do
    cdef readonly Py_ssize_t n_constraints, n_configuration, n_velocity, n_auxiliary, n_q_dependent, n_u_dependent
    cdef readonly str name
    cdef readonly tuple coordinate_names, speed_names, state_names, parameter_names, input_names, output_names
    cdef readonly tuple points, frames, joints, bodies, unit, constraint_names
    cdef readonly tuple input_rates         # of each input: the number of its derivative, -1 where that is no input
    cdef readonly bint qdot_is_u

    cdef const kc_model *open_library(self, object library) except NULL
    cdef int install(self, object code) except -1
    cdef int take_sizes(self) except -1
    cdef int take_names(self) except -1
    cdef int reserve_memory(self) except -1
    cdef const kc_model *opened(self) except NULL
    cdef int shape_results(self) except -1
    cdef int add_kernels(self, const kc_model *m) except -1
    cdef int add_lanes(self, const kc_lanes *lanes, object library) except -1
    cdef int open_lanes(self, int k) except -1
    cdef int note_unread(self, dict unread) except -1
    cdef bint fits(self, const kc_model *m) except -1
    cdef kc_kernel *kernel(self, int k) except NULL
    cdef dict open_another(self, object library)
    cdef dict core_info(self)


cdef class Parametrized(Libraries):
    cdef Block parameter_block, input_block
    cdef const double *c                    # of the current blocks; r NULL while a value is missing
    cdef const double *r
    cdef bint served[N_KERNELS]             # whether all parameters that a kernel reads have been given
    cdef Block address_block                # the addresses of C functions, as numbers
    cdef const double *addresses
    cdef Py_ssize_t n_addresses

    cdef int add_kernels(self, const kc_model *m) except -1
    cdef void note_served(self, const double *p, bint *served) noexcept nogil
    cdef bint wanted(self, Py_ssize_t i, int k) noexcept nogil
    cdef object current(self, str kind)
    cdef int replace(self, str kind, dict numbered) except -1
    cdef Py_ssize_t count(self, object p) except -1
    cdef void set_parameters(self, Block block) noexcept
    cdef void set_inputs(self, Block block) noexcept
    cdef int take_addresses(self, dict addresses) except -1
    cdef void place_addresses(self, double *c) noexcept nogil
    cdef void prepare_block(self, const double *p, double *c) noexcept nogil
    cdef Block new_parameters(self, const double *p)
    cdef Block new_inputs(self, const double *r)
    cdef Block resolve_parameters(self, object p, int k=*)
    cdef bint are_current(self, object p)
    cdef Block resolve_inputs(self, object r)
    cdef Block resolve(self, str kind, object settings, int k)
    cdef object prepared_rows(self, object p)


cdef inline Py_ssize_t n_beyond(Libraries m, int k) noexcept nogil:
    """How many numbers x goes on with for kernel ``k``: derivatives of the speeds, multipliers, further vectors."""
    return ((m.n_u if reads_udot(k) else 0) + (m.n_constraints if reads_multipliers(k) else 0) + n_vectors(m, k))


cdef int kernel_number(object name) except -1
cdef str named(object library)
