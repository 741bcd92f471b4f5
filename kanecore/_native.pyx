# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3, embedsignature=True, auto_pickle=False
# distutils: define_macros=NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION
"""Compiled models, called through the one C table of kanecore.h.  No mathematics here.

The parts, each built on those above it:

====================  ====================================================================================
`_kernels.pxi`        what is known of each kernel; generated, as `_methods.pxi` is
`_interrupt.pxi`      Ctrl-C while C runs
`_values.pxi`         numbers, arrays and names between Python and C; `Block`
`_open.pxi`           the table of a library, checked
`_machine.pxi`        `Machine`: a table made of code, where there is no library
`_libraries.pxi`      `Libraries`: sizes, names and kernels of one model
`_names.pxi`          `Named`: values by name or symbol, as arrays
`_parameters.pxi`     `Parametrized`: its current parameters and inputs, and those of one call
`_failures.pxi`       why a result is not finite
`_batch.pxi`          a call with any number of states
`_evaluate.pxi`       `Model`: a call with one state
`_workspace.pxi`      `Buffers`: calls without arguments
`_methods.pxi`        `Kernels`, `Workspace`: the kernels as methods
`_integrate.pxi`      integration in time
`_events.pxi`         `Watch`: the events of a run
`_rows.pxi`           integration of many starts
`_rollout.pxi`        fixed steps of many rows side by side
`_callables.pxi`      kernels as functions of C with other arguments
`_xla.pxi`            kernels as functions of JAX's compiler
====================  ====================================================================================

A `Block` never changes, so whoever holds a reference to one may read it without the GIL, whatever other
threads set meanwhile.  `Model.work` belongs to calls that hold the GIL throughout; all others bring their
own.  Libraries are never closed; code lives as long as its model.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport INFINITY, NAN, isfinite, isnan
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from kanecore cimport (
    KC_ABI_VERSION, KC_CHATTER, KC_CONTRADICTORY, KC_LOST, KC_MOST_BLOCKS, KC_NONFINITE, KC_QDOT_IS_U, KC_SINGLE, KC_STOPPED,
    KC_SINGULAR, KC_UNSATISFIED_CONFIGURATION, KC_UNSATISFIED_ROW, kc_kernel, kc_lane_kernel, kc_lanes, kc_model, kc_prepare,
    kc_single_kernel, kc_single_prepare,
)

from kanecore.errors import ModelError, NonFiniteError, SingularError, unknown_name

cdef extern from "kc_cpu.h":
    int kc_cpu_level()

cnp.import_array()

ABI_VERSION = KC_ABI_VERSION
"""Version of the C table that this build of kanecore reads."""


def cpu_level():
    """The x86-64 level of this processor, of those that prebuilt models are compiled for: 4, 3 or 1."""
    return kc_cpu_level()


cdef class Libraries
cdef class Model

include "_kernels.pxi"
include "_interrupt.pxi"
include "_values.pxi"
include "_open.pxi"
include "_machine.pxi"
include "_libraries.pxi"
include "_names.pxi"
include "_parameters.pxi"
include "_failures.pxi"
include "_batch.pxi"
include "_evaluate.pxi"
include "_workspace.pxi"
include "_methods.pxi"
include "_integrate.pxi"
include "_tableau.pxi"
include "_events.pxi"
include "_rows.pxi"
include "_rollout.pxi"
include "_callables.pxi"
include "_xla.pxi"
