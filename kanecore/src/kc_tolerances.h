/* Generated from tolerances.py by kanecore.build.generated_sources. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/* What counts as equal, for the machine. */
#define KC_RANK 1e-10
#define KC_CERTAIN 100.0
#define KC_INDEPENDENT 0.001
#define KC_PIVOT 64.0
#define KC_STEEPEST 10.0
#define KC_SOLVED 1e-09
#define KC_REACHED 1e-12
#define KC_CONTRADICTORY_REST 1e-06
#define KC_EXPLAINED 10.0
