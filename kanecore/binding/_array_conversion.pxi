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
    """An array of up to three axes on a memory, from its beginning."""
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
    """A copy, in the type that they have."""
    cdef cnp.npy_intp shape = n
    if not single:
        return vector_of(values, n)
    result = cnp.PyArray_EMPTY(1, &shape, cnp.NPY_FLOAT)
    memcpy(cnp.PyArray_DATA(result), values, n * sizeof(float))
    return result


cdef object as_array(str name, object value):
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None


cdef object real_array(str name, object value, object dtype=DOUBLE):
    """``value`` as an array of a type whose last axis is contiguous; a copy only if there is no other way.

    For kernels, whose callers have arrays of doubles, and their numbers as fast as that goes; else `real_numbers`.
    """
    if cnp.PyArray_CheckExact(value) and is_ready(value, dtype):
        return value
    array = as_array(name, value)
    require_real(name, array)
    return numbers(array, dtype)


cdef bint is_ready(object array, object dtype) noexcept:
    """Test whether C reads an array as it is: of this type, aligned, its last axis contiguous."""
    cdef int last = cnp.PyArray_NDIM(array) - 1, number = cnp.NPY_FLOAT if dtype is SINGLE else cnp.NPY_DOUBLE
    return (cnp.PyArray_TYPE(array) == number
            and cnp.PyArray_ISBEHAVED_RO(array)
            and (last < 0 or cnp.PyArray_STRIDE(array, last) == item_size(array)))


cdef int require_real(str name, object array) except -1:
    """TypeError for an array of a type that holds no real numbers."""
    hint = {"O": "; convert SymPy numbers with float() first", "c": "; where the imaginary parts are rounding, take .real"}
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}{hint.get(array.dtype.kind, '')}")
    return 0


cdef object numbers(object array, object dtype):
    if is_ready(array, dtype):
        return np.asarray(array)
    if dtype is SINGLE:
        with np.errstate(over="ignore"):    # a double that no float holds is infinite
            return np.array(array, dtype=dtype, order="C", subok=False)
    return np.array(array, dtype=dtype, order="C", subok=False)


cdef object real_values(str name, object value):
    """As `real_array`, for the values of one name: also numbers of SymPy and others, by their __float__."""
    array = as_array(name, value)
    if array.dtype.kind == "O" and all([hasattr(type(number), "__float__") for number in array.flat]):
        try:
            return np.array([float(number) for number in array.flat]).reshape(array.shape)
        except (TypeError, OverflowError):      # a symbol, a complex number; one beyond doubles
            pass
    elif array.dtype.kind in "fiub":
        return numbers(array, DOUBLE)
    raise TypeError(f"{name} must be a real number, got {value!r}")


cdef object real_vectors(str name, object value, Py_ssize_t n, str meaning, object dtype):
    """``value`` as an array of a type, of shape (..., n)."""
    array = real_array(name, value, dtype)
    if array.ndim == 0 or array.shape[array.ndim - 1] != n:
        raise ValueError(f"{name} has shape {array.shape}, expected (..., {n}): {meaning}")
    return array


def broadcast_shapes(*shapes):
    """Broadcast shapes; ValueError if they do not broadcast, or to more axes than NumPy takes."""
    try:
        return np.broadcast_shapes(*shapes)
    except RuntimeError as error:       # of NumPy 2 from 33 axes on
        raise ValueError(str(error)) from None


def real_numbers(str name, value):
    """An argument, or what a function returned, as an array of doubles; TypeError where it is none of real numbers.

    NumPy drops imaginary parts with no more than a warning, and reads text as numbers, also where they are objects.
    """
    array = as_array(name, value)
    if array.dtype.kind == "O":         # numbers of SymPy and others, which tell by themselves whether they are real
        for x in array.flat:            # these become numbers without a word
            if x is None or isinstance(x, (str, bytes, np.datetime64, np.timedelta64)):
                raise TypeError(f"{name} must be real numbers, got {x!r} among them")
        try:
            return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be real numbers: {error}") from None
        except OverflowError as error:
            raise ValueError(f"{name} must be real numbers: {error}") from None
    require_real(name, array)
    return np.array(array, dtype=np.float64, order="C")


# ----------------------------------------------------------------------------------------------------------
# Names
# ----------------------------------------------------------------------------------------------------------

def symbol_name(key):
    """The name under which a model knows ``key``: a string, a symbol, F(t), or a rate of F(t) (``F_d``)."""
    if isinstance(key, str):
        return key
    kind = type(key).__name__
    if kind == "Derivative":
        return symbol_name(key.args[0]) + "_" + "d" * int(key.derivative_count)
    if hasattr(key, "free_symbols") and not isinstance(key, type):     # F(t), and not the class F
        if getattr(key, "is_Symbol", False):
            return key.name
        if getattr(key, "is_Function", False):
            return key.func.__name__
    raise KeyError(f"{key!r} is neither a name nor a symbol")


# ----------------------------------------------------------------------------------------------------------
# Values that never change
# ----------------------------------------------------------------------------------------------------------

cdef class Block:
    """The values of all parameters, with the constants prepared from them, or of all inputs; immutable.

    ``values``: p or r, NaN where a value was not given. ``read``: what kernels read, c or r; NaN where that follows from a
    value that was not given. In double precision c, which begins with p, is both.
    ``complete``: every value has been given.
    """

    def __dealloc__(self):
        if self.read != self.values:
            PyMem_Free(self.read)
        PyMem_Free(self.values)


cdef Block new_block(const double *given, Py_ssize_t n, Py_ssize_t n_values):
    """``n`` values in room for ``n_values``."""
    cdef Block block = Block.__new__(Block)
    cdef Py_ssize_t i
    block.values = block.read = allocate(n_values)
    if n:       # else the table may give no address
        memcpy(block.values, given, n * sizeof(double))
    block.complete = True
    for i in range(n):
        if isnan(given[i]):
            block.complete = False
    return block


cdef Block in_floats(Block block, Py_ssize_t n, Py_ssize_t n_values):
    """The same block, of which kernels read ``n_values`` floats, the last ``n`` of which are its values."""
    cdef float *floats
    cdef Py_ssize_t i
    block.read = allocate(n_values)
    floats = <float *>block.read + n_values - n
    for i in range(n):
        floats[i] = <float>block.values[i]
    return block
