# SPDX-License-Identifier: BSD-3-Clause
# Numbers, arrays and names between Python and C; included by _library.pyx.

# ----------------------------------------------------------------------------------------------------------
# Numbers and arrays
# ----------------------------------------------------------------------------------------------------------

cdef object DOUBLE = np.dtype(np.float64), SINGLE = np.dtype(np.float32)

cdef double *allocate(Py_ssize_t n) except NULL:
    cdef double *memory = <double *>PyMem_Malloc((n if n > 0 else 1) * sizeof(double))
    if memory == NULL:
        raise MemoryError
    return memory


cdef class Memory:
    """Memory of arrays: it stays in place as long as an array, or C, uses it.

    No array owns them, so none can be resized.
    """

    def __dealloc__(self):
        free(self.values)


cdef Memory new_memory(Py_ssize_t n):
    cdef Memory memory = Memory.__new__(Memory)
    memory.values = <double *>malloc((n if n > 0 else 1) * sizeof(double))
    if memory.values == NULL:
        raise MemoryError
    return memory


cdef object array_over(Memory memory, tuple shape, bint single):
    """An array of up to three axes on a memory, from its start."""
    cdef cnp.npy_intp lengths[3]
    cdef int i, n = len(shape)
    for i in range(n):
        lengths[i] = shape[i]
    array = cnp.PyArray_SimpleNewFromData(n, lengths, cnp.NPY_FLOAT if single else cnp.NPY_DOUBLE, memory.values)
    cnp.kc_set_base(array, memory)
    return array


cdef object new_vector(Py_ssize_t n):
    cdef cnp.npy_intp shape = n
    return cnp.PyArray_EMPTY(1, &shape, cnp.NPY_DOUBLE)


cdef object vector_of(const double *values, Py_ssize_t n):
    cdef object result = new_vector(n)
    memcpy(data(result), values, n * sizeof(double))
    return result


cdef object numbers_of(const double *values, Py_ssize_t n, bint single):
    """A copy, in the type of the numbers."""
    cdef cnp.npy_intp shape = n
    if not single:
        return vector_of(values, n)
    result = cnp.PyArray_EMPTY(1, &shape, cnp.NPY_FLOAT)
    memcpy(cnp.PyArray_DATA(result), values, n * sizeof(float))
    return result


cpdef object real_array(str name, object value, object dtype=DOUBLE):
    """``value`` as an array of a type with contiguous last axis; a copy only if necessary.

    For kernels, called with arrays of doubles, as fast as possible; other values go through `real_numbers`.
    """
    if cnp.PyArray_CheckExact(value) and is_ready(value, dtype):
        return value
    array = as_array(name, value)
    if is_ready(array, dtype):
        return array
    require_real(name, array)
    return numbers(array, dtype)


cdef bint is_ready(object array, object dtype) noexcept:
    """Test whether C reads an array as it is: of this type, aligned, its last axis contiguous."""
    cdef int last = cnp.PyArray_NDIM(array) - 1, number = cnp.NPY_FLOAT if dtype is SINGLE else cnp.NPY_DOUBLE
    return (cnp.PyArray_TYPE(array) == number
            and cnp.PyArray_ISBEHAVED_RO(array)
            and (last < 0 or cnp.PyArray_STRIDE(array, last) == item_size(array)))


cpdef object numbers(object array, object dtype):
    if is_ready(array, dtype):
        return np.asarray(array)
    if dtype is SINGLE:
        with np.errstate(over="ignore"):    # a double too large for a float is infinite
            return np.array(array, dtype=dtype, order="C", subok=False)
    return np.array(array, dtype=dtype, order="C", subok=False)


# ----------------------------------------------------------------------------------------------------------
# Immutable values
# ----------------------------------------------------------------------------------------------------------

cdef class Block:
    """The values of all parameters, with the constants prepared from them, or of all inputs; immutable.

    ``values``: p or r, NaN for missing values.  ``read``: the numbers that kernels read, c or r; NaN if they depend on
    a missing value.  In double precision c, which begins with p, is both. ``complete``: every value has been given.
    """

    def __dealloc__(self):
        if self.read != self.values:
            PyMem_Free(self.read)
        PyMem_Free(self.values)


cdef Block new_block(const double *numbers, Py_ssize_t n, Py_ssize_t n_values):
    """``n`` values in room for ``n_values``."""
    cdef Block block = Block.__new__(Block)
    cdef Py_ssize_t i
    block.values = block.read = allocate(n_values)
    if n:       # otherwise the table may have no address
        memcpy(block.values, numbers, n * sizeof(double))
    block.complete = True
    for i in range(n):
        if isnan(numbers[i]):
            block.complete = False
    return block


cdef Block in_floats(Block block, Py_ssize_t n, Py_ssize_t n_values):
    """A block in single precision: kernels read ``n_values`` floats, of which the last ``n`` are its values."""
    cdef float *floats
    cdef Py_ssize_t i
    block.read = allocate(n_values)
    floats = <float *>block.read + n_values - n
    for i in range(n):
        floats[i] = <float>block.values[i]
    return block
