# SPDX-License-Identifier: BSD-3-Clause
# Declarations of kanecore.h for Cython: `cimport kanecore`, and compile with kanecore.get_include().
from libc.stdint cimport uint32_t

from kanecore._table cimport *

cdef extern from "kanecore.h" nogil:
    const uint32_t KC_ABI_VERSION

    enum:
        KC_QDOT_IS_U
        KC_SINGLE
