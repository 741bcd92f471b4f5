/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout_v3.c: rollouts with the instructions of x86-64-v3, for which the extension is not compiled.
 * Nothing is fused: the flags of setup.py see to that. */
#include "kc_rollout.h"

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define KC_NUMBER        double
#define KC_TYPED(f)      f##_of_doubles
#define KC_ROLL_OUT      kc_roll_out_doubles_v3
#define KC_ROLLOUT_BYTES 32
#include "kc_rollout_steps.h"

#define KC_NUMBER        float
#define KC_TYPED(f)      f##_of_floats
#define KC_ROLL_OUT      kc_roll_out_floats_v3
#define KC_ROLLOUT_BYTES 32
#include "kc_rollout_steps.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
