# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3, embedsignature=True, auto_pickle=False
"""Compiled models, called through the one C table of kanecore.h.  No mathematics here.

This part of the extension runs in every call, so only this part is optimized.  Its parts are:

====================  ====================================================================================
`_kernel_errors.pxi`       why a result is not finite
`_batch_call.pxi`          a call with any number of states
`_single_call.pxi`       `Model`: a call with one state
`_model_kernels.pxi`  `ModelKernels`: what functions of the package ask of kernels
`_workspace.pxi`      `Buffers`: calls without arguments
`_kernel_methods.pxi`  `KernelMethod`: a kernel as a method, of `kanecore.binding.kernel_methods`
====================  ====================================================================================

`Model.work` belongs to calls that keep the GIL; all others have their own work space.
"""

import os

import numpy as np

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport uint32_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

from kanecore cimport _numpy as cnp
from kanecore cimport (
    KC_CHATTER, KC_CONTRADICTORY, KC_JAMMED, KC_LOST, KC_MOST_BLOCKS, KC_NONFINITE, KC_OK, KC_SINGULAR, KC_UNCONVERGED,
    KC_UNSATISFIED_CONFIGURATION, kc_kernel, kc_lane_kernel, kc_lanes, kc_prepare,
)
from kanecore._library cimport *

from kanecore.binding.given_values import broadcast_shapes
from kanecore._library import KERNELS
from kanecore.errors import ModelError

cnp.import_array()

cdef object DOUBLE = np.dtype(np.float64), SINGLE = np.dtype(np.float32)

include "binding/_kernel_errors.pxi"
include "binding/_batch_call.pxi"
include "binding/_single_call.pxi"
include "binding/_model_kernels.pxi"
include "binding/_workspace.pxi"
include "binding/_kernel_methods.pxi"
