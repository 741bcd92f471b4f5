/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_rollout_v4.c: rollouts with the instructions of x86-64-v4, for which the extension is not compiled.
 * Nothing is fused: the flags of setup.py see to that. */
#include "kc_rollout.h"

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))),                  \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw")
#endif
#define KC_NUMBER        double
#define KC_TYPED(f)      f##_of_doubles
#define KC_ROLL_OUT      kc_roll_out_doubles_v4
#define KC_ROLLOUT_BYTES 64
#include "kc_rollout_steps.h"

#define KC_NUMBER        float
#define KC_TYPED(f)      f##_of_floats
#define KC_ROLL_OUT      kc_roll_out_floats_v4
#define KC_ROLLOUT_BYTES 64
#include "kc_rollout_steps.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
