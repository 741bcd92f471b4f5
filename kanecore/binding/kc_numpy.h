/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kc_numpy.h: the part of NumPy's C interface that the extension uses.
 *
 * kanecore is built without NumPy, whose installation takes as long as a third of the extension, so these are
 * declarations of our own, by NumPy's names.  An array's fields, the first ones of its dtype, and the places
 * of functions in the table `_ARRAY_API` are the same in NumPy 1.x and 2.x, as extensions that were compiled
 * with other headers rely on them.  tests/test_native.py compares them with the headers of the installed
 * NumPy.
 */
#ifndef KC_NUMPY_H
#define KC_NUMPY_H

#include <Python.h>

typedef Py_intptr_t npy_intp;

enum { NPY_UINT8 = 2, NPY_INT = 5, NPY_FLOAT = 11, NPY_DOUBLE = 12 };

enum { NPY_ARRAY_C_CONTIGUOUS = 0x0001, NPY_ARRAY_ALIGNED = 0x0100, NPY_ARRAY_WRITEABLE = 0x0400 };

typedef struct {
    PyObject head;
    PyTypeObject *typeobj;
    char kind;
    char type;
    char byteorder;
    char flags;
    int type_num;
} kc_dtype;

typedef struct {
    PyObject head;
    char *data;
    int nd;
    npy_intp *dimensions;
    npy_intp *strides;
    PyObject *base;
    kc_dtype *descr;
    int flags;
} kc_ndarray;

/* Functions of the table, by their places in it. */
enum {
    KC_NUMPY_ABI = 0,
    KC_NUMPY_ARRAY = 2,
    KC_NUMPY_DTYPE = 45,
    KC_NUMPY_NEW = 93,
    KC_NUMPY_ZEROS = 183,
    KC_NUMPY_EMPTY = 184,
    KC_NUMPY_SET_BASE = 282
};

static void **kc_numpy;

/* Find the table; -1 with an exception where NumPy is missing or has another ABI than 1.x and 2.x. */
static inline int import_array(void)
{
    PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath"), *capsule;
    unsigned int abi;
    if (module == NULL && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
        PyErr_Clear(); /* before 2.0 */
        module = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    if (module == NULL)
        return -1;
    capsule = PyObject_GetAttrString(module, "_ARRAY_API");
    Py_DECREF(module);
    if (capsule == NULL)
        return -1;
    kc_numpy = (void **)PyCapsule_GetPointer(capsule, NULL);
    Py_DECREF(capsule);
    if (kc_numpy == NULL)
        return -1;
    abi = ((unsigned int (*)(void))kc_numpy[KC_NUMPY_ABI])();
    if (abi == 0x01000009 || abi == 0x02000000)
        return 0;
    PyErr_Format(
        PyExc_ImportError,
        "kanecore reads arrays of NumPy 1.x and 2.x, and this NumPy has the ABI 0x%x: install numpy<3, or a "
        "newer kanecore",
        abi);
    return -1;
}

#define KC_NDARRAY(a) ((kc_ndarray *)(a))

static inline void *PyArray_DATA(const void *a)
{
    return KC_NDARRAY(a)->data;
}
static inline int PyArray_NDIM(const void *a)
{
    return KC_NDARRAY(a)->nd;
}
static inline npy_intp PyArray_DIM(const void *a, int axis)
{
    return KC_NDARRAY(a)->dimensions[axis];
}
static inline npy_intp PyArray_STRIDE(const void *a, int axis)
{
    return KC_NDARRAY(a)->strides[axis];
}
static inline int PyArray_TYPE(const void *a)
{
    return KC_NDARRAY(a)->descr->type_num;
}

static inline int PyArray_CheckExact(const void *a)
{
    return Py_TYPE((PyObject *)a) == (PyTypeObject *)kc_numpy[KC_NUMPY_ARRAY];
}

/* Whether bytes are in the order of this machine: '=', '|', or that order by its own sign. */
static inline int PyArray_ISNOTSWAPPED(const void *a)
{
    return KC_NDARRAY(a)->descr->byteorder != (PY_LITTLE_ENDIAN ? '>' : '<');
}

static inline int kc_has_flags(const void *a, int flags)
{
    return (KC_NDARRAY(a)->flags & flags) == flags;
}

static inline int PyArray_IS_C_CONTIGUOUS(const void *a)
{
    return kc_has_flags(a, NPY_ARRAY_C_CONTIGUOUS);
}
static inline int PyArray_ISALIGNED(const void *a)
{
    return kc_has_flags(a, NPY_ARRAY_ALIGNED);
}
static inline int PyArray_ISWRITEABLE(const void *a)
{
    return kc_has_flags(a, NPY_ARRAY_WRITEABLE);
}
static inline int PyArray_ISBEHAVED_RO(const void *a)
{
    return PyArray_ISALIGNED(a) && PyArray_ISNOTSWAPPED(a);
}
static inline int PyArray_ISBEHAVED(const void *a)
{
    return PyArray_ISBEHAVED_RO(a) && PyArray_ISWRITEABLE(a);
}
static inline int PyArray_ISCARRAY_RO(const void *a)
{
    return PyArray_ISBEHAVED_RO(a) && PyArray_IS_C_CONTIGUOUS(a);
}
static inline int PyArray_ISCARRAY(const void *a)
{
    return PyArray_ISBEHAVED(a) && PyArray_IS_C_CONTIGUOUS(a);
}

static inline PyObject *kc_dtype_of(int type)
{
    return ((PyObject * (*)(int)) kc_numpy[KC_NUMPY_DTYPE])(type);
}

/* New arrays in the order of C; of these functions the dtype is taken over. */
static inline PyObject *PyArray_EMPTY(int nd, const npy_intp *lengths, int type)
{
    typedef PyObject *(*empty)(int, const npy_intp *, PyObject *, int);
    return ((empty)kc_numpy[KC_NUMPY_EMPTY])(nd, lengths, kc_dtype_of(type), 0);
}

static inline PyObject *PyArray_ZEROS(int nd, const npy_intp *lengths, int type)
{
    typedef PyObject *(*zeros)(int, const npy_intp *, PyObject *, int);
    return ((zeros)kc_numpy[KC_NUMPY_ZEROS])(nd, lengths, kc_dtype_of(type), 0);
}

/* An array over memory that is somebody else's. */
static inline PyObject *PyArray_SimpleNewFromData(int nd, const npy_intp *lengths, int type, void *data)
{
    typedef PyObject *(*new_array)(PyTypeObject *, int, const npy_intp *, int, const npy_intp *, void *, int,
                                   int, PyObject *);
    return ((new_array)kc_numpy[KC_NUMPY_NEW])(
        (PyTypeObject *)kc_numpy[KC_NUMPY_ARRAY], nd, lengths, type, NULL, data, 0,
        NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL);
}

/* Let an array keep what its memory belongs to. */
static inline int kc_set_base(PyObject *array, PyObject *base)
{
    typedef int (*set_base)(PyObject *, PyObject *);
    Py_INCREF(base); /* which NumPy takes over, also where it fails */
    return ((set_base)kc_numpy[KC_NUMPY_SET_BASE])(array, base);
}

#endif
