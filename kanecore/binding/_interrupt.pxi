# SPDX-License-Identifier: BSD-3-Clause
# Ctrl-C while C runs; included by _library.pyx.  Every loop with a length chosen by the user checks now and then.

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject

cdef int interrupted(void *context) noexcept nogil:
    """Test whether the user pressed Ctrl-C, for C; ``context`` gets the exception of the signal's handler."""
    cdef PyObject **error = <PyObject **>context
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as raised:
            Py_INCREF(raised)
            error[0] = <PyObject *>raised
            return 1
    return 0


cdef int asked_to_end(void *context) noexcept nogil:
    """Test whether a call must end, also by Ctrl-C; for the thread of the call."""
    cdef Ending *ending = <Ending *>context
    if not ending.told and interrupted(&ending.error):
        ending.told = True
    return ending.told


cdef int told_to_end(void *context) noexcept nogil:
    """Test, for the other threads of a call, whether it must end; signals do not reach them, and no GIL is needed."""
    return (<Ending *>context).told


cdef object taken_exception(PyObject **error):
    """The exception that `interrupted` left, or None."""
    if error[0] == NULL:
        return None
    result = <object>error[0]
    Py_DECREF(result)       # the reference that `interrupted` took
    error[0] = NULL
    return result
