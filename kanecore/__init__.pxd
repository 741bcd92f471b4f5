# SPDX-License-Identifier: BSD-3-Clause
# Declarations of kanecore.h for Cython: `cimport kanecore`, and compile with kanecore.get_include().
from libc.stdint cimport uint32_t

from kanecore._table cimport (
    KC_MOST_BLOCKS, kc_kernel, kc_lane_kernel, kc_lanes, kc_model, kc_prepare, kc_single_kernel, kc_single_prepare,
)

cdef extern from "kanecore.h" nogil:
    const uint32_t KC_ABI_VERSION

    ctypedef enum kc_status:
        KC_OK
        KC_SINGULAR
        KC_NONFINITE
        KC_STEP_SIZE
        KC_MAX_STEPS
        KC_STOPPED
        KC_CONTRADICTORY
        KC_LOST
        KC_UNSATISFIED_ROW
        KC_UNSATISFIED_CONFIGURATION
        KC_CHATTER
        KC_JUMP
        KC_STALLED

    enum:
        KC_QDOT_IS_U
        KC_SINGLE
