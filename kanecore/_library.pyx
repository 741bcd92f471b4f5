# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3, embedsignature=True, embedsignature.format=clinic, binding=False, auto_pickle=False
"""The libraries of compiled models: opened, checked, and with their current values.  No mathematics here.

The parts, each built on those above it:

====================  ====================================================================================
`_kernels.pxi`        the names of the kernels and the shapes of their results; generated
`_interrupt.pxi`      Ctrl-C while C runs
`_array_conversion.pxi`         numbers and arrays between Python and C; `Block`
`_table_validation.pxi`           the table of a library, checked
`_interpreter.pxi`        `Machine`: a table made of code, where there is no library
`_libraries.pxi`      `Libraries`: sizes, names and kernels of one model
`_parameters.pxi`     `Parametrized`: its current parameters and inputs, and those of one call
====================  ====================================================================================

A `Block` is immutable, so any owner of a reference may read it without the GIL, even if other threads set values.
Libraries are never closed; code lives as long as its model.
"""

import numpy as np

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport isfinite, isnan
from libc.stdint cimport int32_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from kanecore cimport _numpy as cnp
from kanecore cimport KC_ABI_VERSION, KC_QDOT_IS_U, KC_SINGLE

from kanecore.binding.given_values import as_array, require_real
from kanecore.errors import ModelError, unknown_name

cdef extern from "kc_cpu.h":
    int kc_cpu_level()

cnp.import_array()

ABI_VERSION = KC_ABI_VERSION
"""Version of the C table that this build of kanecore reads."""


def cpu_level():
    """The x86-64 level of this processor, among the levels of prebuilt models: 4, 3 or 1."""
    return kc_cpu_level()


include "binding/_kernels.pxi"
include "binding/_interrupt.pxi"
include "binding/_array_conversion.pxi"
include "binding/_table_validation.pxi"
include "binding/_interpreter.pxi"
include "binding/_libraries.pxi"
include "binding/_parameters.pxi"
