# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's C interface from kc_numpy.h.  Except for `PyArray_CheckExact`, arguments must be arrays."""

cdef extern from "kc_numpy.h" nogil:
    ctypedef Py_ssize_t npy_intp
    enum:
        NPY_UINT8, NPY_INT, NPY_FLOAT, NPY_DOUBLE
    int import_array() except -1
    bint PyArray_CheckExact(object a)
    void *PyArray_DATA(object a)
    int PyArray_NDIM(object a)
    npy_intp PyArray_DIM(object a, int axis)
    npy_intp PyArray_STRIDE(object a, int axis)
    int PyArray_TYPE(object a)
    bint PyArray_ISNOTSWAPPED(object a)
    bint PyArray_IS_C_CONTIGUOUS(object a)
    bint PyArray_ISALIGNED(object a)
    bint PyArray_ISWRITEABLE(object a)
    bint PyArray_ISBEHAVED_RO(object a)
    bint PyArray_ISBEHAVED(object a)
    bint PyArray_ISCARRAY_RO(object a)
    bint PyArray_ISCARRAY(object a)

cdef extern from "kc_numpy.h":
    object PyArray_EMPTY(int nd, const npy_intp *lengths, int type)
    object PyArray_ZEROS(int nd, const npy_intp *lengths, int type)
    object PyArray_SimpleNewFromData(int nd, const npy_intp *lengths, int type, void *data)
    int kc_set_base(object array, object base) except -1
