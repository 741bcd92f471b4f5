# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3, embedsignature=True, embedsignature.format=clinic, binding=False, auto_pickle=False
"""Models called from C: integrated by kc_ode.h, or called by other programs.  No mathematics here.

====================  ====================================================================================
`_inputs.pxi`           `Inputs` of a run
`_contacts.pxi`       rigid contacts of a run
`_integration.pxi`      integration in time
`_tableau.pxi`        the numbers of an integration method
`_events.pxi`         `Watch`: the events of a run
`_batch_integration.pxi`           integration of many starts
`_rollout.pxi`        fixed steps of many rows side by side
`_rollout_gradient.pxi`  gradients of costs over these
`_callables.pxi`      kernels as functions of C with other arguments
`_xla.pxi`            kernels as functions of JAX's compiler
====================  ====================================================================================
"""

import numpy as np

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.math cimport INFINITY, NAN, isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from kanecore cimport _numpy as cnp
from kanecore cimport (
    KC_NONFINITE, KC_STOPPED, kc_kernel, kc_lane_kernel, kc_lanes, kc_prepare, kc_single_kernel, kc_single_prepare,
)
from kanecore._library cimport *
from kanecore._native cimport *

from kanecore.binding.given_values import real_numbers
from kanecore.errors import ModelError
from kanecore._native import ARGUMENTS

cnp.import_array()

cdef object DOUBLE = np.dtype(np.float64), SINGLE = np.dtype(np.float32)

include "binding/_inputs.pxi"
include "binding/_contacts.pxi"
include "binding/_integration.pxi"
include "binding/_tableau.pxi"
include "binding/_events.pxi"
include "binding/_batch_integration.pxi"
include "binding/_rollout.pxi"
include "binding/_rollout_gradient.pxi"
include "binding/_callables.pxi"
include "binding/_xla.pxi"
